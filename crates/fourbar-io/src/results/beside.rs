//! The files stored with a result so that it can be run again: the mechanism file and the files it refers to.

use crate::disk::read_bounded;
use crate::mesh;
use fourbar::Diagnostic;
use fourbar::model::Model;
use fourbar::spec::Shape;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Name of the copy of the mechanism file in a result folder.
pub const MODEL: &str = "model.yaml";

/// A file that a mechanism refers to: a mesh, or the data of a table.
#[derive(Clone, Debug)]
pub(crate) struct SideFile {
    /// Path relative to the folder of the model.
    pub name: String,
    /// Location of the file.
    source: PathBuf,
}

impl SideFile {
    /// The bytes of the file.
    pub fn bytes(&self) -> Result<Vec<u8>, Diagnostic> {
        read_bounded(&self.source, mesh::MAX_BYTES).map_err(|why| {
            Diagnostic::new("M081", format!("the file `{}` in the folder of the model cannot be read: {why}", self.name))
                .help("export it again")
        })
    }

    /// Whether another file is the same file or a copy of it.
    pub fn same_as(&self, target: &Path) -> bool {
        let itself = target.canonicalize().is_ok_and(|t| self.source.canonicalize().is_ok_and(|s| s == t));
        itself || read_bounded(target, mesh::MAX_BYTES).is_ok_and(|t| self.bytes().is_ok_and(|s| s == t))
    }
}

/// The files that a mechanism in `folder` refers to, each once: its meshes, and the files `data` of its tables.
pub(crate) fn side_files(model: &Model, data: &[(String, String)], folder: Option<&Path>) -> Result<Vec<SideFile>, Diagnostic> {
    let mut list: Vec<SideFile> = Vec::new();
    let mut seen = HashSet::new();
    let Some(from) = folder else { return Ok(list) };
    for shape in model.bodies.iter().flat_map(|b| &b.shapes) {
        let Shape::Mesh { file, .. } = shape else { continue };
        if seen.contains(file) {
            continue;
        }
        for name in mesh::files(from, file)? {
            if seen.insert(name.clone()) {
                list.push(SideFile { source: mesh::inside(from, &name)?, name });
            }
        }
    }
    for (name, _) in data {
        if seen.insert(name.clone()) {
            list.push(SideFile { source: mesh::inside(from, name)?, name: name.clone() });
        }
    }
    Ok(list)
}
