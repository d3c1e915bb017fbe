//! Pages of the codes about files: what may be written where, and what is read.

use super::Page;

const fn page(code: &'static str, title: &'static str, text: &'static str) -> Page {
    Page { code, title, text }
}

pub(crate) const PAGES: &[Page] = &[
    page(
        "U330",
        "The existing file was not written by this program",
        "Nothing that somebody else wrote is replaced without being asked. A page is known by its data block, a plot by the line that says who made it, poses by their form, and the model.yaml of a result by the hash in its summary: a copy that was edited since counts as yours. Choose another name, or add `--force`.\n\n  fourbar view results -o page.html\n  fourbar plot results 'crank.*' -o crank.svg --force",
    ),
    page(
        "U331",
        "The folder holds the result of another mechanism",
        "A result folder belongs to one mechanism file. Runs of the same file, changed or not, replace the older result when they reach their end; a run of another file needs another folder, or `--force`. Files are the same if they were named the same way or have the same text.",
    ),
    page(
        "U332",
        "Another run writes into the folder",
        "While a run lasts it holds a lock on its folder, the file run.lock, which names the process and the machine. Two runs in one folder would mix their rows. The lock ends with its process, however that ends: a file that was left behind is no obstacle, and `--force` does not pass a living one.",
    ),
    page(
        "U333",
        "A run cannot end before it was stopped",
        "`--resume` continues behind the last row of the checkpoint, so that its end cannot lie before it. Leave `--t-end` out to go on to the end that was meant first, or give a later time. For a shorter run, run again without `--resume`.",
    ),
    page(
        "U334",
        "A picture needs columns",
        "`plot RESULT -o FILE` draws the columns that are named after the result:\n\n  fourbar plot results crank.r.x 'rod.*' -o crank.svg\n\n`--path tracer` draws the path of a point. Without a file and without columns it lists the columns there are.",
    ),
    page(
        "W330",
        "An older result stays, the new rows stand beside it",
        "The folder holds a complete result, and this run did not reach its end: it failed, or it was stopped. The older files stay as they are; the rows of this run are in trajectory.csv.part beside them, its summary in summary.json.part. `fourbar view DIR/trajectory.csv.part` and `fourbar plot DIR/trajectory.csv.part` show them, and a run that was stopped goes on with `--resume DIR`: when it is complete it takes the place of the older one.",
    ),
];
