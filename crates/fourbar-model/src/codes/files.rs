//! Pages of the codes about reading and writing files.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U330",
        "The existing file was not written by this program",
        "Files that this program did not write are not replaced without confirmation. A page is recognised by its data block, a plot by its comment line, poses by their structure, and the model.yaml of a result by the hash in its summary: an edited copy counts as yours. Choose another name, or add `--force`.\n\n  fourbar view results -o page.html\n  fourbar plot results 'crank.*' -o crank.svg --force",
    ),
    page(
        "U331",
        "The folder holds the result of another mechanism",
        "A result folder belongs to one mechanism file. Runs of the same file, changed or not, replace the older result when they are complete; a run of another file needs another folder, or `--force`. Files are considered the same if they have the same name on the command line or the same text.",
    ),
    page(
        "U332",
        "Another run is writing into the folder",
        "A run holds a lock on its folder, the file run.lock, which names the process and the machine. Two runs in one folder would mix their rows. The lock is released when its process ends for any reason: a remaining file does not block another run, and `--force` does not override an active lock.",
    ),
    page(
        "U333",
        "The end of a resumed run lies before its checkpoint",
        "`--resume` continues after the last row of the checkpoint, so its end cannot be earlier. Omit `--t-end` to continue to the original end, or give a later time. For a shorter run, run again without `--resume`.",
    ),
    page(
        "U334",
        "A picture needs columns",
        "`plot RESULT -o FILE` draws the columns that are named after the result:\n\n  fourbar plot results crank.r.x 'rod.*' -o crank.svg\n\n`--path tracer` draws the path of a point. Without a file and without columns it lists the available columns.",
    ),
    page(
        "W330",
        "An older result is kept; the new rows are in separate files",
        "The folder contains a complete result, and this run did not reach its end: it failed, or it was stopped. The older files are unchanged; the rows of this run are in trajectory.csv.part, its summary in summary.json.part. `fourbar view DIR/trajectory.csv.part` and `fourbar plot DIR/trajectory.csv.part` show them, and `--resume DIR` continues a run that was stopped: when it is complete it replaces the older one.",
    ),
];
