//! Reading mechanism files from text and from disk.

use crate::examples::{example, examples};
use crate::import;
use crate::places::Places;
use crate::reader;
use crate::studies::Studies;
use crate::tree::empty;
use fourbar::diagnostic::nearest;
use fourbar::spec::ModelSpec;
use fourbar::{Diagnostic, Error, Model};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Limits on the size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of bytes.
    pub bytes: u64,
    /// Largest number of keys and values.
    pub values: usize,
}

impl Limits {
    /// Sufficient for usual mechanism files; keeps the cost of a hostile file small.
    pub const USUAL: Self = Self { bytes: 16 * 1024 * 1024, values: 3_000_000 };
    /// For files with hundreds of thousands of bodies, on request.
    pub const LARGE: Self = Self { bytes: 200 * 1024 * 1024, values: 40_000_000 };

    /// The large or the usual limits.
    pub fn of(large: bool) -> Self {
        if large { Self::LARGE } else { Self::USUAL }
    }
}

/// Help for a file beyond the limits, the usual ones or the large ones.
pub(crate) fn larger(usual: bool) -> &'static str {
    if usual { "`--large` reads files of up to 200 MB and 40 million values" } else { "build larger models with the library" }
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'a> {
    /// Path of the file; mesh and table files must be in its folder. Without it meshes are only checked by name, and tables cannot be read
    /// from files.
    pub path: Option<&'a Path>,
    /// Parameters to be set to other values, given as expressions.
    pub set: &'a [(String, String)],
    /// Whether [`Limits::LARGE`] applies.
    pub large: bool,
    /// Folders to search for the meshes of robot files, in addition to the folder of the file.
    pub mesh_path: &'a [PathBuf],
}

/// A file that was read without errors.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The mechanism, to be checked and built by the engine.
    pub spec: ModelSpec,
    /// Locations of the elements in the file.
    pub places: Places,
    /// Additional information.
    pub warnings: Vec<Diagnostic>,
    /// SHA-256 of the text, 64 hexadecimal digits.
    pub hash: String,
    /// Names and SI values of the parameters.
    pub parameters: Vec<(String, f64)>,
    /// Parameters that are not used.
    pub unused_parameters: Vec<String>,
    /// Parameters whose expressions depend on other parameters.
    pub computed_parameters: Vec<String>,
    /// Whether the file is a MechSpec.
    pub mechspec: bool,
    /// The format if it is that of another program, such as `urdf`; `None` for the formats of this program.
    pub imported: Option<&'static str>,
    /// Names of the functions, which are expanded wherever they are used.
    pub functions: Vec<String>,
    /// Data files of tables, with the SHA-256 of each, sorted by name.
    pub data: Vec<(String, String)>,
    /// Settings of sweeps, tolerances and optimisations in the file.
    pub studies: Studies,
}

/// Reads a mechanism from text: YAML or JSON, or a format of another program, recognised by its content.
pub fn read_model(text: &str, options: &ReadOptions<'_>) -> Result<Loaded, Error> {
    let limits = Limits::of(options.large);
    if text.len() as u64 > limits.bytes {
        return Err(too_large(text.len() as u64, limits).into());
    }
    read_source(&source(text), options)
}

/// The same for the formats of this program only, without importers, which keeps pages small.
pub fn read_own_model(text: &str, options: &ReadOptions<'_>) -> Result<Loaded, Error> {
    let limits = Limits::of(options.large);
    if text.len() as u64 > limits.bytes {
        return Err(too_large(text.len() as u64, limits).into());
    }
    let source = checked(&source(text))?;
    reader::read(source.clone(), options, text_hash(&source))
}

/// The text of a file without its byte-order mark.
fn source(text: &str) -> Arc<str> {
    Arc::from(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Rejects texts that cannot hold a mechanism.
fn checked(source: &Arc<str>) -> Result<Arc<str>, Error> {
    if source.contains('\0') {
        return Err(not_text().into());
    }
    if source.trim().is_empty() {
        return Err(empty().into());
    }
    Ok(source.clone())
}

fn read_source(source: &Arc<str>, options: &ReadOptions<'_>) -> Result<Loaded, Error> {
    let source = &checked(source)?;
    match import::recognised(source, options.path) {
        Some(importer) => import::read(importer, source.clone(), options),
        None => reader::read(source.clone(), options, text_hash(source)),
    }
}

/// A mechanism by the name of a shipped model or by the path of its file, read, checked and built.
///
/// ```
/// let model = fourbar_io::load("fourbar")?;
/// assert_eq!(model.bodies.len(), 4);
/// let error = fourbar_io::load("fuorbar").unwrap_err();
/// assert_eq!(error.code().0, "M010");
/// assert!(error.to_string().contains("did you mean the shipped model `fourbar`?"));
/// # Ok::<(), fourbar::Error>(())
/// ```
pub fn load(name: impl AsRef<Path>) -> Result<Model, Error> {
    let path = name.as_ref();
    let word = path.to_str().unwrap_or_default();
    let (file, read) = match example(word).filter(|_| !path.is_file()) {
        Some(shipped) => (format!("{}.yaml", shipped.name), read_model(shipped.text, &ReadOptions::default())),
        None => (path.display().to_string(), read_model_file(path, &[]).map_err(|e| did_you_mean(e, path))),
    };
    let named = |errors: Error| {
        let list = errors.into_iter().map(|mut d| {
            if let Some(place) = &mut d.place
                && place.file.is_none()
            {
                place.file = Some(file.clone());
            }
            d
        });
        // The list is as long as it was, so not empty.
        Error::of(list.collect()).unwrap_or_else(|| empty().into())
    };
    let loaded = read.map_err(named)?;
    loaded.spec.build().map_err(|errors| {
        let list = errors.iter().map(|d| loaded.places.locate(d)).collect();
        named(Error::of(list).unwrap_or(errors))
    })
}

/// Adds a suggestion to the error of a missing file whose name resembles that of a shipped model.
pub fn did_you_mean(error: Error, path: &Path) -> Error {
    let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let near = nearest(stem, examples().map(|e| e.name));
    let (Some(near), "M010") = (near, error.code().0) else { return error };
    error.cause().clone().help(format!("did you mean the shipped model `{near}`? `fourbar examples` lists them")).into()
}

/// SHA-256 of a text, 64 hexadecimal digits.
pub(crate) fn text_hash(text: &str) -> String {
    fingerprint(text.as_bytes())
}

/// SHA-256 of bytes, 64 hexadecimal digits.
pub fn fingerprint(bytes: &[u8]) -> String {
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        // Writing to a `String` cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// Reads a mechanism file.
pub fn read_model_file(path: &Path, set: &[(String, String)]) -> Result<Loaded, Error> {
    read_model_file_with(path, &ReadOptions { path: Some(path), set, ..ReadOptions::default() })
}

/// As above, with all options; `path` of the options is ignored.
pub fn read_model_file_with(path: &Path, options: &ReadOptions<'_>) -> Result<Loaded, Error> {
    // The text may be large: only one copy is kept.
    let source = source(&read_text(path, Limits::of(options.large))?);
    read_source(&source, &ReadOptions { path: Some(path), ..*options })
}

/// Why a file cannot be read; the text for a missing file is the same on all systems.
pub(crate) fn reason(e: &std::io::Error) -> String {
    match e.kind() {
        std::io::ErrorKind::NotFound => "it does not exist".into(),
        _ => e.to_string(),
    }
}

/// The text of a file; its size and kind are checked before it is read.
fn read_text(path: &Path, limits: Limits) -> Result<String, Diagnostic> {
    let unreadable = |why: String| {
        let message = format!("`{}` cannot be read: {why}", path.display());
        Diagnostic::new("M010", message).help("check the name; `fourbar examples` lists the shipped models")
    };
    let metadata = std::fs::metadata(path).map_err(|e| unreadable(reason(&e)))?;
    if !metadata.is_file() {
        return Err(unreadable("it is not a file".into()));
    }
    if metadata.len() > limits.bytes {
        return Err(too_large(metadata.len(), limits));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    File::open(path).and_then(|f| f.take(limits.bytes + 1).read_to_end(&mut bytes)).map_err(|e| unreadable(e.to_string()))?;
    if bytes.len() as u64 > limits.bytes {
        return Err(too_large(bytes.len() as u64, limits));
    }
    String::from_utf8(bytes).map_err(|_| not_text())
}

fn too_large(bytes: u64, limits: Limits) -> Diagnostic {
    let message = format!("the file has {:.0} MB; at most {} MB are read", bytes as f64 / 1048576.0, limits.bytes >> 20);
    Diagnostic::new("M003", message).help(larger(limits == Limits::USUAL))
}

fn not_text() -> Diagnostic {
    Diagnostic::new("M004", "the file is not UTF-8 text").help("save it as plain text; results and meshes are not mechanism files")
}
