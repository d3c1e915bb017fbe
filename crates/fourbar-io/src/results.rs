//! Results on disk: `trajectory.csv`, written line by line beside its place, `summary.json` at the end, `checkpoint.json` in between.
//!
//! A run that is killed leaves a readable prefix: lines go out whole, at least every second. Files are written beside their
//! place and renamed, so a reader sees the old one or the new one, never half of one.

mod checkpoint;
mod folder;
mod read;
mod write;

pub use checkpoint::{CHECKPOINT, Checkpoint, read_checkpoint, write_checkpoint};
pub(crate) use folder::MAX_JSON;
pub use folder::{Claim, Kept, LOCK, PAGE, ResultFolder, Standing, inspect};
pub use read::{Table, read_table, trajectory_of};
pub use write::{CsvWriter, SUMMARY, TRAJECTORY, number, prefix, write_json};

use fourbar::Diagnostic;
use std::path::Path;

/// The diagnostic of a file that cannot be written.
pub fn unwritable(path: &Path, why: &std::io::Error) -> Diagnostic {
    use std::io::ErrorKind;
    let help = match why.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or choose a folder on another disk",
        ErrorKind::FileTooLarge => "files may not grow further here: raise the limit (`ulimit -f`), or write fewer `--columns` or rows",
        ErrorKind::IsADirectory => "it is a folder: give the name of a file",
        ErrorKind::NotADirectory => "it is a file, or stands below one: give the name of a folder",
        _ => "choose a folder that exists and that you may write to",
    };
    Diagnostic::new("U003", format!("`{}` cannot be written: {why}", path.display())).help(help)
}
