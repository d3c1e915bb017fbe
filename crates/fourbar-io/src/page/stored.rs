//! Results read back for a page: the trajectory, what the summary tells, and which mechanism it was.

use super::told::Told;
use crate::results::{CHECKPOINT, SUMMARY, Table, read_table};
use fourbar::Diagnostic;
use fourbar::model::Model;
use fourbar::spec::Shape;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Name of the copy of the mechanism file in a result folder.
pub const MODEL: &str = "model.yaml";

/// A result on disk.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Name of its folder, to call it by.
    pub label: String,
    /// Rows.
    pub table: Table,
    /// What the run said.
    pub told: Told,
    /// The mechanism file that was run.
    pub model: PathBuf,
    /// Parameters changed on the command line.
    pub set: Vec<(String, String)>,
}

/// Reads a result: its folder, or the trajectory in it.
pub fn read_stored(path: &Path) -> Result<Stored, Diagnostic> {
    let folder = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new("")) };
    let table = read_table(path)?;
    let object = |name: &str| std::fs::read_to_string(folder.join(name)).ok().and_then(|t| serde_json::from_str::<Value>(&t).ok());
    let summary = object(SUMMARY);
    // A run that was killed leaves no summary, but perhaps a checkpoint.
    let set = summary
        .as_ref()
        .map(|s| &s["set"])
        .and_then(pairs)
        .or_else(|| object(CHECKPOINT).as_ref().map(|c| &c["set"]).and_then(pairs))
        .unwrap_or_default();
    let model = folder.join(MODEL);
    if !model.is_file() {
        let message = format!("`{}` does not hold the mechanism of the result ({MODEL})", folder.display());
        return Err(Diagnostic::new("U012", message).help("run the mechanism again with `--out`, or view the mechanism file itself"));
    }
    let label =
        folder.canonicalize().ok().and_then(|f| f.file_name().map(|n| n.to_string_lossy().into_owned())).unwrap_or_else(|| "result".into());
    Ok(Stored { label, table, told: summary.as_ref().map(Told::from_summary).unwrap_or_default(), model, set })
}

/// Pairs of names and texts, from an object or a list.
fn pairs(v: &Value) -> Option<Vec<(String, String)>> {
    match v {
        Value::Object(o) => Some(o.iter().filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_string()))).collect()),
        Value::Array(_) => serde_json::from_value(v.clone()).ok(),
        _ => None,
    }
}

/// Puts the mechanism beside its result: the text of its file, and the meshes it draws from `meshes`, its own folder.
pub fn keep_model(folder: &Path, text: &str, model: &Model, meshes: Option<&Path>) -> Result<(), Diagnostic> {
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).map_err(|e| crate::results::unwritable(path, &e));
    let path = folder.join(MODEL);
    // A run of the copy itself must not truncate what it reads.
    if std::fs::read(&path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    write(&path, text.as_bytes())?;
    let Some(from) = meshes else { return Ok(()) };
    for shape in model.bodies.iter().flat_map(|b| &b.shapes) {
        let Shape::Mesh { file, .. } = shape else { continue };
        for file in super::mesh::files(from, file)? {
            let (source, target) = (super::mesh::inside(from, &file)?, folder.join(&file));
            if target.canonicalize().is_ok_and(|t| source.canonicalize().is_ok_and(|s| s == t)) {
                continue;
            }
            if let Some(parent) = target.parent() {
                std::fs::create_dir_all(parent).map_err(|e| crate::results::unwritable(parent, &e))?;
            }
            std::fs::copy(&source, &target).map_err(|e| crate::results::unwritable(&target, &e))?;
        }
    }
    Ok(())
}
