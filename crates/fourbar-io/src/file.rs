//! Reading mechanism files from texts and from disk.

use crate::places::{FileDiagnostic, Places};
use crate::reader;
use crate::tree::empty;
use fourbar::Diagnostic;
use fourbar::spec::ModelSpec;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// How much of a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub bytes: u64,
    /// Keys and values.
    pub values: usize,
}

impl Limits {
    /// What mechanism files need, and what keeps a hostile one small.
    pub const USUAL: Self = Self { bytes: 16 * 1024 * 1024, values: 3_000_000 };
    /// For files of hundreds of thousands of bodies, where their reader asks for it.
    pub const LARGE: Self = Self { bytes: 200 * 1024 * 1024, values: 40_000_000 };

    /// Those of a reader who asks for large files, or does not.
    pub fn of(large: bool) -> Self {
        if large { Self::LARGE } else { Self::USUAL }
    }
}

/// What helps with a file beyond the limits, the usual ones or the large ones.
pub(crate) fn larger(usual: bool) -> &'static str {
    if usual { "`--large` reads files of up to 200 MB and 40 million values" } else { "larger models come through the library" }
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions<'a> {
    /// Where the text comes from; mesh files and table files must stand in its folder. Without it meshes are only checked by name, and
    /// tables cannot be read from files.
    pub path: Option<&'a Path>,
    /// Parameters that get another value, as expressions.
    pub set: &'a [(String, String)],
    /// Whether the file may be a large one, [`Limits::LARGE`].
    pub large: bool,
}

/// A file that was read without errors.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The mechanism, to be checked and built by the engine.
    pub spec: ModelSpec,
    /// Where its elements stand in the file.
    pub places: Places,
    /// Things worth knowing.
    pub warnings: Vec<Diagnostic>,
    /// SHA-256 of the text, 64 hexadecimal digits.
    pub hash: String,
    /// Names and SI values of the parameters.
    pub parameters: Vec<(String, f64)>,
    /// Parameters that nothing uses.
    pub unused_parameters: Vec<String>,
    /// Whether the file is a MechSpec.
    pub mechspec: bool,
    /// Names of its functions, which are written out wherever they are used.
    pub functions: Vec<String>,
    /// Files beside it whose numbers it uses (of tables), with the SHA-256 of each, sorted by name.
    pub data: Vec<(String, String)>,
}

/// Reads a mechanism from text (YAML or JSON).
pub fn read_model(text: &str, options: &ReadOptions<'_>) -> Result<Loaded, Vec<FileDiagnostic>> {
    let limits = Limits::of(options.large);
    if text.len() as u64 > limits.bytes {
        return Err(vec![too_large(text.len() as u64, limits)]);
    }
    if text.contains('\0') {
        return Err(vec![not_text()]);
    }
    // A byte-order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(vec![FileDiagnostic::of_file(empty())]);
    }
    reader::read(Arc::from(text), options, text_hash(text))
}

/// SHA-256 of a text, 64 hexadecimal digits.
pub(crate) fn text_hash(text: &str) -> String {
    let mut hash = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a `String` cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}

/// Reads a mechanism file; the errors come with the text that was read, empty where there was none.
pub fn read_model_file(path: &Path, set: &[(String, String)]) -> Result<Loaded, (Vec<FileDiagnostic>, String)> {
    read_model_file_with(path, &ReadOptions { path: Some(path), set, large: false })
}

/// The same with all options; that of the path is not used.
pub fn read_model_file_with(path: &Path, options: &ReadOptions<'_>) -> Result<Loaded, (Vec<FileDiagnostic>, String)> {
    let text = read_text(path, Limits::of(options.large)).map_err(|d| (vec![*d], String::new()))?;
    read_model(&text, &ReadOptions { path: Some(path), ..*options })
        .map_err(|errors| (errors, text.strip_prefix('\u{feff}').unwrap_or(&text).to_string()))
}

/// The text of a file, its size and kind checked before it is read.
fn read_text(path: &Path, limits: Limits) -> Result<String, Box<FileDiagnostic>> {
    let unreadable = |why: String| {
        let message = format!("`{}` cannot be read: {why}", path.display());
        let d = Diagnostic::new("M010", message).help("check the name; `fourbar examples` lists the shipped models");
        Box::new(FileDiagnostic::of_file(d))
    };
    let metadata = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("it is not a file".into()));
    }
    if metadata.len() > limits.bytes {
        return Err(Box::new(too_large(metadata.len(), limits)));
    }
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    File::open(path).and_then(|f| f.take(limits.bytes + 1).read_to_end(&mut bytes)).map_err(|e| unreadable(e.to_string()))?;
    if bytes.len() as u64 > limits.bytes {
        return Err(Box::new(too_large(bytes.len() as u64, limits)));
    }
    String::from_utf8(bytes).map_err(|_| Box::new(not_text()))
}

fn too_large(bytes: u64, limits: Limits) -> FileDiagnostic {
    let message = format!("the file has {:.0} MB; at most {} MB are read", bytes as f64 / 1048576.0, limits.bytes >> 20);
    FileDiagnostic::of_file(Diagnostic::new("M003", message).help(larger(limits == Limits::USUAL)))
}

fn not_text() -> FileDiagnostic {
    FileDiagnostic::of_file(
        Diagnostic::new("M004", "the file is not a text in UTF-8")
            .help("save it as plain text; results and meshes are not mechanism files"),
    )
}
