//! Safe reading and writing of files: every read is bounded, only files of this program are overwritten, and a file is replaced as a whole
//! or not at all.

use fourbar::Diagnostic;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Ending of files that are not finished yet.
pub const PART: &str = "part";

/// The diagnostic of a file that cannot be written.
pub fn unwritable(path: &Path, why: &std::io::Error) -> Diagnostic {
    use std::io::ErrorKind;
    let help = match why.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or choose a folder on another disk",
        ErrorKind::FileTooLarge => "files must not grow any larger here: raise the limit (`ulimit -f`), or write fewer `--columns` or rows",
        ErrorKind::IsADirectory => "it is a folder: give the name of a file",
        ErrorKind::NotADirectory => "it is a file, or inside one: give the name of a folder",
        _ => "choose an existing folder to which you may write",
    };
    Diagnostic::new("U003", format!("`{}` cannot be written: {why}", path.display())).help(help)
}

/// The bytes of a regular file of at most `most` bytes. Devices and pipes, which may have no end, are rejected before they are opened.
pub fn read_bounded(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    // The file may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it has more than {} MB", most >> 20));
    }
    Ok(bytes)
}

/// The same for a text file.
pub fn read_text_bounded(path: &Path, most: u64) -> Result<String, String> {
    String::from_utf8(read_bounded(path, most)?).map_err(|_| "it is not UTF-8 text".into())
}

/// Opens a regular file; anything else could block or have no end.
pub fn open_regular(path: &Path) -> Result<File, String> {
    let kind = std::fs::metadata(path).map_err(|e| e.to_string())?;
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    if !kind.is_file() {
        return Err("it is not a regular file".into());
    }
    File::open(path).map_err(|e| e.to_string())
}

/// The name of a file while it is being written: `trajectory.csv` becomes `trajectory.csv.part`.
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().map(std::ffi::OsString::from).unwrap_or_default();
    name.push(format!(".{PART}"));
    path.with_file_name(name)
}

/// Writes a file under a temporary name, then renames it; a failure leaves no file behind and an older file unchanged. Devices
/// and pipes are written to directly.
pub fn write_beside(path: &Path, bytes: &[u8]) -> Result<(), Diagnostic> {
    // A symbolic link is kept: the file it points to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    let failed = |e: std::io::Error| unwritable(path, &e);
    match std::fs::metadata(&target) {
        Ok(kind) if kind.is_dir() => return Err(failed(std::io::Error::from(std::io::ErrorKind::IsADirectory))),
        Ok(kind) if !kind.is_file() => return std::fs::write(&target, bytes).map_err(failed),
        // Renaming needs no write permission on the file itself, so a read-only file has to be rejected here.
        Ok(kind) if kind.permissions().readonly() => return Err(failed(std::io::Error::from(std::io::ErrorKind::PermissionDenied))),
        _ => {}
    }
    let name = target.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = target.with_file_name(format!(".{name}.{}.{PART}", std::process::id()));
    let written = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, &target));
    written.map_err(|e| {
        let _ = std::fs::remove_file(&beside);
        failed(e)
    })
}

/// Kinds of files that this program writes and can recognise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A page, recognised by the data block of the viewer.
    Page,
    /// A plot as SVG or PNG, recognised by the name of this program in it.
    Picture,
    /// A table as Parquet, recognised by the name of this program in it.
    Parquet,
    /// Poses as JSON: of one start, or of assembly modes.
    Poses,
    /// Anything else, which belongs to the user.
    Other,
}

/// Text contained in every plot of this program.
pub const MARK: &str = "made by fourbar";
/// Text contained in every Parquet file of this program, before the version.
pub const PARQUET_MARK: &str = "fourbar version ";
/// Text contained in every page of this program.
const DATA_BLOCK: &str = "id=\"fourbar-data\"";
/// Largest file that is examined for its origin.
const LOOKED_AT: u64 = 256 << 20;

/// Whether a file was written by this program as a file of this kind.
pub fn is_ours(path: &Path, kind: Kind) -> bool {
    let Ok(bytes) = read_bounded(path, LOOKED_AT) else { return false };
    let holds = |what: &str| bytes.windows(what.len()).any(|w| w == what.as_bytes());
    match kind {
        Kind::Page => holds(DATA_BLOCK),
        Kind::Picture => holds(MARK),
        Kind::Parquet => bytes.starts_with(b"PAR1") && holds(PARQUET_MARK),
        Kind::Poses => {
            let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let pose = |v: &serde_json::Value| v["r"].is_array() && v["p"].is_array();
            let start = |v: &serde_json::Value| v.as_object().is_some_and(|o| !o.is_empty() && o.values().all(pose));
            start(&value) || value["modes"].as_array().is_some_and(|m| !m.is_empty() && m.iter().all(start))
        }
        Kind::Other => false,
    }
}

/// Refuses to replace a file that this program did not write as a file of this kind, unless forced.
pub fn may_replace(path: &Path, kind: Kind, force: bool) -> Result<(), Diagnostic> {
    let Ok(there) = std::fs::symlink_metadata(path) else { return Ok(()) };
    // Folders cannot be replaced, devices and pipes have nothing to lose.
    let regular = there.is_file() || (there.is_symlink() && std::fs::metadata(path).is_ok_and(|m| m.is_file()));
    let empty = kind != Kind::Other && there.is_file() && there.len() == 0;
    if !regular || force || empty || is_ours(path, kind) {
        return Ok(());
    }
    let what = match kind {
        Kind::Page => "is not a page of this program",
        Kind::Picture => "is not a plot of this program",
        Kind::Parquet => "is not a table of this program",
        Kind::Poses => "does not contain poses written by this program",
        Kind::Other => "exists already",
    };
    let code = if kind == Kind::Other { "U004" } else { "U330" };
    Err(Diagnostic::new(code, format!("`{}` {what}", path.display())).help("choose another name, or add `--force` to replace it"))
}

/// Writes a file of a kind, unless a file of another origin is there.
pub fn write_kind(path: &Path, bytes: &[u8], kind: Kind, force: bool) -> Result<(), Diagnostic> {
    may_replace(path, kind, force)?;
    write_beside(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_beside_their_files() {
        assert_eq!(part(Path::new("a/trajectory.csv")), Path::new("a/trajectory.csv.part"));
        assert_eq!(part(Path::new("x")), Path::new("x.part"));
    }

    #[test]
    fn only_poses_are_taken_for_poses() {
        let folder = std::env::temp_dir().join(format!("fourbar-disk-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        let file = folder.join("f.json");
        for (text, ours) in [
            (r#"{"a": {"r": [0, 0, 0], "p": [1, 0, 0, 0]}}"#, true),
            (r#"{"modes": [{"a": {"r": [0], "p": [1]}}]}"#, true),
            (r#"{"fourbar": 1, "bodies": {"a": {"mass": 1}}}"#, false),
            ("{}", false),
            ("[]", false),
            ("r: 1", false),
        ] {
            std::fs::write(&file, text).expect("written");
            assert_eq!(is_ours(&file, Kind::Poses), ours, "{text}");
        }
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
