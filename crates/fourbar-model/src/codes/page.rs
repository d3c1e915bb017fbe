//! Pages of the codes that writing a page can give.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "M080",
        "A mesh of an unknown kind",
        "Meshes are read from STL (binary or text), OBJ, glTF and GLB files; the ending of the file name says which. Only triangles count: colours, textures and normals are left out. In glTF files compressed meshes, sparse accessors and strips are not read: export plain triangles.",
    ),
    page(
        "M081",
        "A mesh that cannot be read",
        "The file is not what its ending says, or it is cut off, or it refers to vertices that it does not have. The message says where. Export it again from the program it came from.",
    ),
    page(
        "M082",
        "A mesh that is too large",
        "A mesh file may have 64 MB, and all meshes of a page together 400,000 triangles, so that the page can be mailed and plays smoothly. Simplify the mesh; for a drawing of a mechanism a few thousand triangles a body are plenty.",
    ),
    page(
        "U012",
        "The result does not say which mechanism it belongs to",
        "`--out` puts a copy of the mechanism file, model.yaml, beside the trajectory, and `view` draws from it. Older results, or CSV files that were moved elsewhere, do not have it. View the mechanism file itself, or run it again with `--out`.",
    ),
    page(
        "U013",
        "The result lacks what a page needs",
        "A page needs the time and the positions and quaternions of all bodies. A run with `--columns` may have left them out; run it again without. Several results on one page must belong to the same mechanism, that is, have the same bodies.",
    ),
    page(
        "W080",
        "A mesh is not shown",
        "The mechanism came from standard input and has no folder, so its mesh files cannot be found. Save it to a file beside its meshes.",
    ),
    page(
        "W081",
        "A result holds poses that are not numbers",
        "Something went wrong in the run that nothing noticed. The page shows the motion up to there. Run with a smaller tolerance or step; if it stays, it is a fault of the program and worth a report with the mechanism file.",
    ),
    page(
        "W470",
        "A plot of the file has no column",
        "`view: {plots: ...}` names columns of the result: `pin.angle`, `motor.effort`, `tip.x`, or `tip` for its x, y and z. The page leaves out what the result does not have. `fourbar plot RESULT` lists the columns; a run with `--columns` may have left some out.",
    ),
    page(
        "U470",
        "A live page has nothing to move",
        "The engine of a live page was asked to move a mechanism before one was loaded, or before it was started. Load a file that is good, or press `Let go`.",
    ),
    page(
        "U471",
        "A live page asked its engine for something unknown",
        "Page and engine do not fit each other, which is a fault of the program: a page carries the engine it was made with. Write the page again; if it stays, report it with the file.",
    ),
    page(
        "U472",
        "What a live page asked for cannot be done",
        "The body, input or assembly mode is not there, the mechanism is not assembled, or the pose that the page shows cannot be closed. Go back to the start with `Reset`.",
    ),
    page(
        "U473",
        "The engine of a live page broke down",
        "A fault of the program, not of the file. The page starts a new engine and goes on. Please report it with the file and with what was done last.",
    ),
    page(
        "U474",
        "The program was built without the engine of live pages",
        "Live pages carry the engine as WebAssembly, which is kept in the source tree, built by `cargo xtask wasm`, and put into the program when that is built. Pages without `--live` do not need it.",
    ),
];
