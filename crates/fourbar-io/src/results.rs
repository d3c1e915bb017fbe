//! Results on disk: `trajectory.csv`, written line by line, `summary.json` at the end, `checkpoint.json` in between.
//!
//! A run that is killed leaves a readable prefix: lines go out whole, at least every second. Small files are written
//! beside their place and renamed, so a reader sees the old one or the new one, never half of one.

mod checkpoint;
mod read;
mod write;

pub use checkpoint::{CHECKPOINT, Checkpoint, read_checkpoint, write_checkpoint};
pub use read::{Table, read_table};
pub use write::{CsvWriter, SUMMARY, TRAJECTORY, number, write_json};

use fourbar::Diagnostic;
use std::path::Path;

/// The diagnostic of a file that cannot be written.
pub fn unwritable(path: &Path, why: &std::io::Error) -> Diagnostic {
    Diagnostic::new("U003", format!("`{}` cannot be written: {why}", path.display()))
        .help("choose a folder that exists and that you may write to")
}
