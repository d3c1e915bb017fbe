//! Meshes to draw: triangles from STL, OBJ and glTF files inside the model's folder.
//!
//! Files are untrusted: sizes are checked before memory is allocated, and every index before it is used.

mod gltf;
mod obj;
mod stl;

use fourbar::Diagnostic;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// Largest file, in bytes.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Largest number of triangles of a page.
pub const MAX_TRIANGLES: usize = 400_000;
/// Largest number of vertices of a mesh: three per triangle.
pub const MAX_VERTICES: usize = 3 * MAX_TRIANGLES;

/// Vertices and triangles of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Positions of the vertices.
    pub vertices: Vec<[f64; 3]>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// What is wrong with a file, to be reported with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Flaw {
    /// An unsupported kind of file.
    Kind(String),
    /// Damaged, or of another kind than declared.
    Broken(String),
    /// Too many bytes or triangles.
    Large(String),
    /// A diagnostic about another file that is needed.
    Other(Box<Diagnostic>),
}

impl Flaw {
    fn broken(why: impl Into<String>) -> Self {
        Self::Broken(why.into())
    }

    fn too_many() -> Self {
        Self::Large(format!("it has more than {MAX_TRIANGLES} triangles"))
    }

    fn too_many_vertices() -> Self {
        Self::Large(format!("it has more than {MAX_VERTICES} vertices"))
    }

    fn of(self, file: &str) -> Diagnostic {
        match self {
            Self::Kind(why) => Diagnostic::new("M080", format!("the mesh `{file}` cannot be read: {why}"))
                .help("use STL, OBJ, glTF or GLB with plain triangles"),
            Self::Broken(why) => Diagnostic::new("M081", format!("the mesh `{file}` cannot be read: {why}")).help("export it again"),
            Self::Large(why) => Diagnostic::new("M082", format!("the mesh `{file}` is too large: {why}"))
                .help("simplify it; a few thousand triangles suffice for a drawing"),
            Self::Other(d) => *d,
        }
    }
}

/// The path of a file below `folder`; links that lead elsewhere are rejected.
pub fn inside(folder: &Path, file: &str) -> Result<PathBuf, Diagnostic> {
    let relative = Path::new(file);
    let plain = !file.is_empty()
        && relative.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
        && !file.contains(['\\', ':', '\0']);
    let outside = || {
        Diagnostic::new("M040", format!("the path `{file}` leaves the folder of the model"))
            .help("keep the file in the folder of the model or below it")
    };
    if !plain {
        return Err(outside());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), folder.join(relative).canonicalize()) {
        (Ok(folder), Ok(target)) if !target.starts_with(&folder) => Err(outside()),
        (Ok(_), Ok(target)) if target.is_file() => Ok(target),
        _ => Err(missing(file)),
    }
}

fn missing(file: &str) -> Diagnostic {
    Diagnostic::new("M041", format!("there is no file `{file}` in the folder of the model"))
}

/// The bytes of a file below `folder`, within the limits.
pub fn bytes(folder: &Path, file: &str) -> Result<Vec<u8>, Diagnostic> {
    if cfg!(target_family = "wasm") {
        return Err(missing(file));
    }
    let path = inside(folder, file)?;
    let unreadable = |e: std::io::Error| Flaw::broken(e.to_string()).of(file);
    let mut bytes = Vec::new();
    File::open(&path).and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Flaw::Large(format!("it has more than {} MB", MAX_BYTES >> 20)).of(file));
    }
    Ok(bytes)
}

/// Reads a mesh below `folder`. The engine of live pages has no file system, and is smaller without the readers.
pub fn read(folder: &Path, file: &str) -> Result<Mesh, Diagnostic> {
    if cfg!(target_family = "wasm") {
        return Err(missing(file));
    }
    let data = bytes(folder, file)?;
    let beside = |name: &str| bytes(folder, &neighbour(file, name)).map_err(|d| Flaw::Other(Box::new(d)));
    parse(file, &data, &beside).map_err(|flaw| flaw.of(file))
}

/// The path of a file `name` relative to `file`.
fn neighbour(file: &str, name: &str) -> String {
    file.rsplit_once('/').map_or(name.to_string(), |(folder, _)| format!("{folder}/{name}"))
}

/// The files of a mesh: the mesh file and the buffers that a glTF file names.
pub fn files(folder: &Path, file: &str) -> Result<Vec<String>, Diagnostic> {
    let mut list = vec![file.to_string()];
    if ending(file) == "gltf" {
        let data = bytes(folder, file)?;
        list.extend(gltf::buffer_files(&data).iter().map(|name| neighbour(file, name)));
    }
    Ok(list)
}

fn ending(file: &str) -> String {
    file.rsplit_once('.').map_or(String::new(), |(_, e)| e.to_ascii_lowercase())
}

/// Reads the bytes of a mesh; `beside` reads files that a glTF file refers to.
pub(crate) fn parse(file: &str, data: &[u8], beside: &dyn Fn(&str) -> Result<Vec<u8>, Flaw>) -> Result<Mesh, Flaw> {
    let mesh = match ending(file).as_str() {
        "stl" => stl::parse(data),
        "obj" => obj::parse(data),
        "gltf" | "glb" => gltf::parse(data, beside),
        other => Err(Flaw::Kind(format!("files that end in `.{other}` are not supported"))),
    }?;
    if mesh.triangles.is_empty() {
        return Err(Flaw::broken("it has no triangles"));
    }
    let count = mesh.vertices.len();
    if mesh.triangles.iter().flatten().any(|&k| k as usize >= count) {
        return Err(Flaw::broken("a triangle refers to a missing vertex"));
    }
    if mesh.vertices.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Flaw::broken("a vertex is not a finite number"));
    }
    Ok(mesh)
}

/// Collects triangles given by their corners; equal corners become one vertex.
#[derive(Default)]
struct Corners {
    mesh: Mesh,
    known: HashMap<[u64; 3], u32>,
}

impl Corners {
    fn triangle(&mut self, corners: [[f64; 3]; 3]) -> Result<(), Flaw> {
        if self.mesh.triangles.len() >= MAX_TRIANGLES {
            return Err(Flaw::too_many());
        }
        let triangle = corners.map(|p| {
            let vertices = &mut self.mesh.vertices;
            // Adding zero makes minus zero equal to zero.
            *self.known.entry(p.map(|x| (x + 0.0).to_bits())).or_insert_with(|| {
                vertices.push(p);
                vertices.len() as u32 - 1
            })
        });
        self.mesh.triangles.push(triangle);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
