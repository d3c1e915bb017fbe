//! Pages of the diagnostic codes of writing a page.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M080",
        "A mesh of an unknown kind",
        "Meshes are read from STL (binary or text), OBJ, glTF and GLB files; the extension determines the format. Only triangles are used: colours, textures and normals are ignored. In glTF files compressed meshes, sparse accessors and strips are not read: export plain triangles.",
    ),
    page(
        "M081",
        "A mesh that cannot be read",
        "The contents of the file do not match its extension, the file is truncated, or it refers to missing vertices. The message gives the location. Export it again from the original program.",
    ),
    page(
        "M082",
        "A mesh that is too large",
        "A mesh file may have up to 64 MB, and all meshes of a page together 400,000 triangles, so that the page can be sent by mail and plays smoothly. Simplify the mesh; a few thousand triangles per body are sufficient for a drawing.",
    ),
    page(
        "U012",
        "The mechanism of the result is missing",
        "`--out` writes a copy of the mechanism file, model.yaml, next to the trajectory, and `view` uses it for drawing. Older results, or CSV files that were moved elsewhere, do not have it. View the mechanism file itself, or run it again with `--out`.",
    ),
    page(
        "U013",
        "The result lacks columns that a page needs",
        "A page needs the time and the positions and quaternions of all bodies. A run with `--columns` may have omitted them; run it again without this option. Several results on one page must belong to the same mechanism, that is, have the same bodies.",
    ),
    page(
        "W080",
        "A mesh is not shown",
        "The mechanism was read from standard input and has no folder, so its mesh files cannot be found. Save it to a file in the folder of its meshes.",
    ),
    page(
        "W081",
        "A result contains poses that are not finite",
        "The run produced an error that was not detected. The page shows the motion up to that time. Run with a smaller tolerance or step; if the problem persists, it is a bug: please report it with the mechanism file.",
    ),
    page(
        "W470",
        "A plot of the file has no column",
        "`view: {plots: ...}` names columns of the result: `pin.angle`, `motor.effort`, `tip.x`, or `tip` for its x, y and z. The page omits columns that the result does not have. `fourbar plot RESULT` lists the columns; a run with `--columns` may have omitted some.",
    ),
    page(
        "U470",
        "A live page has no running mechanism",
        "The engine of a live page was asked to advance a mechanism before one was loaded, or before it was started. Load a valid file, or press `Let go`.",
    ),
    page(
        "U471",
        "A live page sent an unknown request to its engine",
        "Page and engine do not match, which is a bug: a page contains the engine it was made with. Write the page again; if the problem persists, report it with the file.",
    ),
    page(
        "U472",
        "A request of a live page cannot be executed",
        "The body, input or assembly mode does not exist, the mechanism is not assembled, the displayed pose cannot be closed, or an event has changed the mechanism and the request would undo it. Return to the start with `Reset`.",
    ),
    page(
        "U473",
        "The engine of a live page failed",
        "This is a bug in the program, not in the file. The page starts a new engine and continues. Please report it with the file and your last action.",
    ),
    page(
        "U474",
        "The program was built without the engine of live pages",
        "Live pages contain the engine as WebAssembly, which is stored in the source tree, built by `cargo xtask wasm`, and embedded when the program is built. Pages without `--live` do not need it.",
    ),
];
