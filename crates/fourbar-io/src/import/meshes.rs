//! Finds the mesh files of robot files: in the folder of the file, in a package, or in a folder of `--mesh-path`.

use super::draft::{Body, Pose};
use super::lower::orientation;
use super::reading::{Reading, Spot};
use crate::mesh;
use crate::solid::of_mesh;
use fourbar::Diagnostic;
use fourbar::spec::Shape;
use nalgebra::Vector3;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Largest number of names in a note.
const LISTED: usize = 6;

/// A mesh file: the folder where it was found, and its path below that.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    folder: PathBuf,
    file: String,
    /// Whether this is the folder of the model, the only one from which meshes are drawn.
    own: bool,
}

/// Meshes of a file, with a list of missing ones.
#[derive(Default)]
pub(crate) struct Meshes {
    missing: RefCell<Vec<(String, &'static str, Spot)>>,
    /// Names of the missing meshes.
    listed: RefCell<HashSet<String>>,
    solids: RefCell<HashMap<String, Option<Body>>>,
}

impl Meshes {
    /// Finds a file by its address: `package://NAME/PATH`, `model://NAME/PATH`, `file://PATH` or a plain path below `below`.
    pub fn find(&self, reading: &Reading<'_>, uri: &str, below: &str) -> Option<Found> {
        let uri = uri.replace('\\', "/");
        let packaged = ["package://", "model://"].iter().find_map(|p| uri.strip_prefix(p));
        let plain = uri.strip_prefix("file://").unwrap_or(&uri);
        let mut names: Vec<String> = Vec::new();
        match packaged {
            Some(path) => {
                names.push(path.trim_start_matches('/').into());
                names.extend(path.split_once('/').map(|(_, rest)| rest.to_string()).filter(|r| !r.is_empty()));
            }
            None if below.is_empty() => names.push(plain.into()),
            None => names.extend([format!("{}/{plain}", below.trim_end_matches('/')), plain.to_string()]),
        }
        let own = reading.folder.iter().map(|f| (f.clone(), true));
        let others = reading.options.mesh_path.iter().map(|f| (f.clone(), false));
        for (folder, own) in own.chain(others) {
            for file in &names {
                if mesh::inside(&folder, file).is_ok() {
                    return Some(Found { folder, file: file.clone(), own });
                }
            }
        }
        None
    }

    /// Records a mesh that cannot be drawn.
    fn not_drawn(&self, uri: &str, why: &'static str, spot: Spot) {
        if self.listed.borrow_mut().insert(uri.into()) {
            self.missing.borrow_mut().push((uri.into(), why, spot));
        }
    }

    /// The shape of a mesh at `pose`; `None` if it cannot be drawn.
    pub fn shape(&self, reading: &Reading<'_>, uri: &str, below: &str, scale: &Vector3<f64>, pose: &Pose, spot: Spot) -> Option<Shape> {
        let why = match self.find(reading, uri, below) {
            None => "does not exist",
            Some(f) if !f.own => "is not in the folder of the model",
            Some(f) if !["stl", "obj", "gltf", "glb"].contains(&f.file.rsplit('.').next().unwrap_or("").to_ascii_lowercase().as_str()) => {
                "is not STL, OBJ or glTF"
            }
            Some(_) if scale.x != scale.y || scale.y != scale.z || scale.x <= 0.0 => "is stretched or mirrored",
            Some(f) => {
                let orientation = orientation(&pose.R);
                return Some(Shape::Mesh { file: f.file, scale: scale.x, at: pose.p.into(), orientation });
            }
        };
        self.not_drawn(uri, why, spot);
        None
    }

    /// Volume, centre and inertia of a mesh with the density 1 kg/m^3; `None`, with a note, if they cannot be computed.
    pub fn solid(&self, reading: &Reading<'_>, uri: &str, below: &str, scale: &Vector3<f64>, spot: Spot) -> Option<Body> {
        let key = format!("{uri}|{scale:?}");
        if let Some(known) = self.solids.borrow().get(&key) {
            return *known;
        }
        let found = self.find(reading, uri, below);
        let read = match &found {
            None => Err("there is no such file".to_string()),
            Some(f) => {
                mesh::read(&f.folder, &f.file).map_err(|d| d.message).and_then(|m| of_mesh(&m, scale).map_err(|leak| leak.to_string()))
            }
        };
        let body = match read {
            Ok(body) => Some(body),
            Err(why) => {
                let d = Diagnostic::new("W456", format!("mass and inertia of the mesh `{uri}` are not known: {why}")).name(uri);
                reading.note(d.help("`--mesh-path FOLDER` adds a folder of meshes; or give the body an `inertial`"), spot);
                None
            }
        };
        self.solids.borrow_mut().insert(key, body);
        body
    }

    /// Adds one note about all meshes that are not drawn.
    pub fn say_missing(&self, reading: &Reading<'_>) {
        let list = self.missing.borrow();
        let Some((_, why, spot)) = list.first() else { return };
        let words: Vec<String> = list.iter().take(LISTED).map(|(u, ..)| format!("`{u}`")).collect();
        let more = list.len().saturating_sub(LISTED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let message = if list.len() == 1 {
            format!("the mesh {} is not drawn: it {why}", words.join(", "))
        } else {
            format!("the meshes {}{more} are not drawn: the first of them {why}", words.join(", "))
        };
        let d = Diagnostic::new("W456", message).names(list.iter().map(|(u, ..)| u.clone()));
        reading.note(d.help("put them where the file refers to them; mass and motion do not depend on drawings"), *spot);
    }
}
