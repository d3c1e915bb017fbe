//! Checkpoints: what a stopped run needs to go on as if it had never stopped.

use super::write_json;
use fourbar::Diagnostic;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Name of the checkpoint in a result folder.
pub const CHECKPOINT: &str = "checkpoint.json";

/// The state of a run between two rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Version of the program that wrote it.
    pub version: String,
    /// Hash of the mechanism file.
    pub model: String,
    /// Parameters changed on the command line.
    pub set: Vec<(String, String)>,
    /// The settings of the run.
    pub study: serde_json::Value,
    /// Names of the columns in the file.
    pub columns: Vec<String>,
    /// Rows written when the state was taken.
    pub rows: usize,
    /// Time of the last of them.
    pub t: f64,
    /// Computing time so far, seconds.
    pub wall_time: f64,
    /// Smallest and largest values and sums the summary needs, by name.
    pub totals: serde_json::Value,
    /// The state of the analysis, in its own words; none where it starts again from the beginning.
    pub state: Option<String>,
}

/// Writes a checkpoint in one go.
pub fn write_checkpoint(folder: &Path, checkpoint: &Checkpoint) -> Result<(), Diagnostic> {
    let value = serde_json::to_value(checkpoint).map_err(|e| Diagnostic::new("U003", format!("the checkpoint cannot be written: {e}")))?;
    write_json(&folder.join(CHECKPOINT), &value)
}

/// Reads the checkpoint of a result folder.
pub fn read_checkpoint(folder: &Path) -> Result<Checkpoint, Diagnostic> {
    let path = folder.join(CHECKPOINT);
    let text = std::fs::read_to_string(&path).map_err(|e| {
        Diagnostic::new("U009", format!("there is no checkpoint in `{}`: {e}", folder.display()))
            .help("only a run that was stopped leaves one; a finished run has nothing to continue")
    })?;
    serde_json::from_str(&text)
        .map_err(|e| Diagnostic::new("U009", format!("`{}` is not a checkpoint: {e}", path.display())).help("run again without `--resume`"))
}
