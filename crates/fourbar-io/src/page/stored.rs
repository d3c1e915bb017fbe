//! Results read back for a page: the trajectory, the summary, and the mechanism.

use super::summary::RunSummary;
use crate::disk::{PART, part, read_bounded};
use crate::results::{CHECKPOINT, MAX_JSON, MODEL, SUMMARY, Table, read_table, trajectory_of};
use fourbar::Diagnostic;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A result on disk.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name of its folder, used as label.
    pub label: String,
    /// Rows.
    pub table: Table,
    /// Summary of the run.
    pub summary: RunSummary,
    /// The mechanism file that was run.
    pub model: PathBuf,
    /// Parameters changed on the command line.
    pub set: Vec<(String, String)>,
}

/// Reads a result: its folder, or the trajectory in it.
pub fn read_stored(path: &Path) -> Result<Stored, Diagnostic> {
    let rows = trajectory_of(path);
    let folder = rows.parent().unwrap_or(Path::new(""));
    let table = read_table(path)?;
    let object = |path: PathBuf| read_bounded(&path, MAX_JSON).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    // Files of rows that are stored beside an older result have temporary names as well.
    let beside = rows.extension().is_some_and(|e| e == PART);
    let own = |name: &str| if beside { part(&folder.join(name)) } else { folder.join(name) };
    let summary = object(own(SUMMARY));
    // A killed run leaves no summary, but perhaps a checkpoint.
    let set = summary
        .as_ref()
        .map(|s| &s["set"])
        .and_then(pairs)
        .or_else(|| object(folder.join(CHECKPOINT)).as_ref().map(|c| &c["set"]).and_then(pairs))
        .unwrap_or_default();
    let model = Some(own(MODEL)).filter(|m| m.is_file()).unwrap_or_else(|| folder.join(MODEL));
    if !model.is_file() {
        let message = format!("`{}` does not contain the mechanism of the result ({MODEL})", folder.display());
        return Err(Diagnostic::new("U012", message).help("run the mechanism again with `--out`, or view the mechanism file itself"));
    }
    let label =
        folder.canonicalize().ok().and_then(|f| f.file_name().map(|n| n.to_string_lossy().into_owned())).unwrap_or_else(|| "result".into());
    Ok(Stored { label, table, summary: summary.as_ref().map(RunSummary::from_summary).unwrap_or_default(), model, set })
}

/// Pairs of names and texts, from an object or a list.
fn pairs(v: &Value) -> Option<Vec<(String, String)>> {
    match v {
        Value::Object(o) => Some(o.iter().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_string()))).collect()),
        Value::Array(_) => serde_json::from_value(v.clone()).ok(),
        _ => None,
    }
}
