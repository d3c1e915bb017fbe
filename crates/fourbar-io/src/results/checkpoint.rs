//! Checkpoints: the state from which a stopped run continues with the same result.

use super::{MAX_JSON, write_json};
use crate::disk::read_text_bounded;
use crate::file::text_hash;
use fourbar::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// Name of the checkpoint in a result folder.
pub const CHECKPOINT: &str = "checkpoint.json";

/// The state of a run between two rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Version of the program that wrote it.
    pub version: String,
    /// Name of the mechanism file as given.
    pub file: String,
    /// Hash of the mechanism file.
    pub model: String,
    /// Data files of tables, with their hashes.
    #[serde(default)]
    pub data: Vec<(String, String)>,
    /// Parameters changed on the command line.
    pub set: Vec<(String, String)>,
    /// The settings of the run.
    pub study: serde_json::Value,
    /// Names of the columns in the file.
    pub columns: Vec<String>,
    /// Rows written when the state was taken.
    pub rows: usize,
    /// Time of the last row.
    pub t: f64,
    /// Computing time so far, seconds.
    pub wall_time: f64,
    /// Minima, maxima and sums for the summary, by name.
    pub totals: serde_json::Value,
    /// The state of the analysis, in a format of the analysis; `None` if it starts again from the beginning.
    pub state: Option<String>,
}

/// Key of the hash of all other entries.
const CHECKSUM: &str = "checksum";

/// Writes a checkpoint as one file replacement.
pub fn write_checkpoint(folder: &Path, checkpoint: &Checkpoint) -> Result<(), Diagnostic> {
    let mut value =
        serde_json::to_value(checkpoint).map_err(|e| Diagnostic::new("U003", format!("the checkpoint cannot be written: {e}")))?;
    value[CHECKSUM] = text_hash(&value.to_string()).into();
    write_json(&folder.join(CHECKPOINT), &value)
}

/// Reads the checkpoint of a result folder; rejected if it was changed after writing, by hand or by a disk error.
pub fn read_checkpoint(folder: &Path) -> Result<Checkpoint, Diagnostic> {
    let path = folder.join(CHECKPOINT);
    let text = read_text_bounded(&path, MAX_JSON).map_err(|e| {
        Diagnostic::new("U009", format!("there is no checkpoint in `{}`: {e}", folder.display()))
            .help("only a run that was stopped leaves one; a finished run has nothing to continue")
    })?;
    let refused = |why: String| {
        Diagnostic::new("U009", format!("`{}` is not a checkpoint: {why}", path.display())).help("run again without `--resume`")
    };
    let mut value: Value = serde_json::from_str(&text).map_err(|e| refused(e.to_string()))?;
    let sum = value.as_object_mut().and_then(|o| o.shift_remove(CHECKSUM));
    if sum.as_ref().and_then(Value::as_str) != Some(text_hash(&value.to_string()).as_str()) {
        return Err(refused("it was changed since it was written, or another version of the program wrote it".into()));
    }
    let c: Checkpoint = serde_json::from_value(value).map_err(|e| refused(e.to_string()))?;
    let sound = |x: f64| x.is_finite() && x >= 0.0;
    if c.state.is_some() && (c.rows == 0 || c.columns.is_empty() || !sound(c.t) || !sound(c.wall_time)) {
        return Err(refused("its counts or times are out of range".into()));
    }
    Ok(c)
}
