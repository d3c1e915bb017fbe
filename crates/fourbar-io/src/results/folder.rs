//! A result folder: its owner, its lock, and how a new result replaces an older one.
//!
//! A folder belongs to one mechanism file. While a run lasts, its files have temporary names (`trajectory.csv.part`), under a lock; at the
//! end they are renamed together. An incomplete run never replaces a complete result.

use super::beside::{MODEL, side_files};
use super::{CHECKPOINT, EVENTS, SUMMARY, TRAJECTORY, parquet, read_table, write_json};
use crate::disk::{Kind, is_ours, may_replace, part, read_bounded, read_text_bounded, unwritable};
use crate::file::text_hash;
use fourbar::Diagnostic;
use fourbar::events::Happened;
use fourbar::model::Model;
use serde_json::Value;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Name of the page in a result folder.
pub const PAGE: &str = "page.html";
/// Name of the rows as Parquet.
pub const TRAJECTORY_PARQUET: &str = "trajectory.parquet";
/// Name of the lock of a result folder.
pub const LOCK: &str = "run.lock";
/// Largest summary or checkpoint that is read.
pub(crate) const MAX_JSON: u64 = 1 << 30;
/// Largest copy of a mechanism file that is compared.
const MAX_MODEL: u64 = 1 << 30;

/// A request to write into a folder.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// Name of the mechanism file as given.
    pub file: &'a str,
    /// Hash of its text.
    pub hash: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The mechanism, which may refer to mesh files.
    pub model: &'a Model,
    /// Data files of tables, with their hashes.
    pub data: &'a [(String, String)],
    /// The folder of the mechanism file, if it has one.
    pub folder: Option<&'a Path>,
    /// Whether a page will be written.
    pub page: bool,
    /// Whether anything may be replaced.
    pub force: bool,
}

/// State of a folder that may be written to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Contains files that an incomplete run must not replace: a complete result, or files of other origin.
    pub precious: bool,
}

/// The owner named by a summary or checkpoint.
struct Owner {
    file: String,
    hash: String,
    complete: bool,
}

impl Owner {
    /// From a summary of this program.
    fn of_summary(v: &Value) -> Option<Self> {
        v["fourbar"].as_str()?;
        v["units"].as_object()?;
        Some(Self { file: v["file"].as_str()?.into(), hash: v["hash"].as_str()?.into(), complete: v["complete"] == true })
    }

    /// From a checkpoint of this program.
    fn of_checkpoint(v: &Value) -> Option<Self> {
        v["version"].as_str()?;
        v["study"].as_object()?;
        Some(Self { file: v["file"].as_str().unwrap_or("").into(), hash: v["model"].as_str()?.into(), complete: false })
    }

    fn is(&self, claim: &Claim<'_>) -> bool {
        let plain = |name: &str| name.trim_start_matches("./").to_string();
        // Standard input has no file name to compare.
        self.hash == claim.hash || (!claim.file.starts_with('<') && plain(&self.file) == plain(claim.file))
    }
}

fn json_of(path: &Path) -> Option<Value> {
    read_bounded(path, MAX_JSON).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok())
}

/// Checks whether a claim may be written into a folder; changes nothing.
pub fn inspect(folder: &Path, claim: &Claim<'_>) -> Result<Standing, Diagnostic> {
    match std::fs::metadata(folder) {
        Ok(kind) if kind.is_dir() => {}
        Ok(_) => return Err(unwritable(folder, &std::io::Error::from(std::io::ErrorKind::NotADirectory))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Standing::default()),
        Err(e) => return Err(unwritable(folder, &e)),
    }
    held(folder)?;
    look(folder, claim)
}

/// The same without the test of the lock, for its holder.
fn look(folder: &Path, claim: &Claim<'_>) -> Result<Standing, Diagnostic> {
    let there = |name: &str| std::fs::symlink_metadata(folder.join(name)).is_ok();
    // Another run may be writing its files at this moment: an existing file that cannot be read is read again.
    let read = |name: &str, of: fn(&Value) -> Option<Owner>| {
        (0..3).find_map(|_| {
            let found = json_of(&folder.join(name)).as_ref().and_then(of);
            (found.is_some() || !there(name)).then_some(found)
        })
    };
    let (summary, checkpoint) = (read(SUMMARY, Owner::of_summary), read(CHECKPOINT, Owner::of_checkpoint));
    let mut foreign = Vec::new();
    if summary.is_none() {
        foreign.push(SUMMARY.to_string());
    }
    if checkpoint.is_none() {
        foreign.push(CHECKPOINT.to_string());
    }
    let (summary, checkpoint) = (summary.flatten(), checkpoint.flatten());
    let copy = read_text_bounded(&folder.join(MODEL), MAX_MODEL).ok();
    let owners: Vec<&Owner> = summary.iter().chain(&checkpoint).collect();
    if there(TRAJECTORY) && owners.is_empty() {
        foreign.push(TRAJECTORY.to_string());
    }
    if there(MODEL) {
        // The copy written by a run is recognised by its hash; an edited copy belongs to the user.
        let known = copy.as_deref().is_some_and(|t| plain(t) == claim.text || owners.iter().any(|o| o.hash == text_hash(plain(t))));
        if !known {
            foreign.push(MODEL.to_string());
        }
    }
    if owners.is_empty() {
        for file in side_files(claim.model, claim.data, claim.folder)? {
            let target = folder.join(&file.name);
            if target.exists() && !file.same_as(&target) {
                foreign.push(file.name);
            }
        }
    }
    let other = owners.iter().find(|o| !o.is(claim));
    if !claim.force {
        if let Some(name) = foreign.first() {
            let message = format!("`{}` was not written by a run, or was changed since", folder.join(name).display());
            return Err(Diagnostic::new("U330", message).help("choose another folder, or add `--force` to replace it"));
        }
        if let Some(o) = other {
            let message = format!("`{}` contains the result of another mechanism, `{}`", folder.display(), o.file);
            return Err(Diagnostic::new("U331", message).help("choose another folder, or add `--force` to replace it"));
        }
    }
    if claim.page {
        may_replace(&folder.join(PAGE), Kind::Page, claim.force)?;
    }
    Ok(Standing { precious: summary.as_ref().is_some_and(|s| s.complete) || other.is_some() || !foreign.is_empty() })
}

/// A text without its byte-order mark.
fn plain(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A lock on a folder; the system releases it when the process ends for any reason.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    file: File,
}

/// The error for a folder that another run writes to.
fn taken(folder: &Path, who: &str) -> Diagnostic {
    let who = if who.trim().is_empty() { "another run".into() } else { who.trim().replace('\n', " ") };
    Diagnostic::new("U332", format!("`{}` is in use: {who} writes there", folder.display()))
        .help("wait until it has ended, or choose another folder")
}

/// Refuses a folder whose lock is held by a living process.
fn held(folder: &Path) -> Result<(), Diagnostic> {
    let path = folder.join(LOCK);
    if !std::fs::metadata(&path).is_ok_and(|m| m.is_file()) {
        return Ok(());
    }
    let Ok(file) = File::open(&path) else { return Ok(()) };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Err(taken(folder, &read_text_bounded(&path, 4096).unwrap_or_default())),
        _ => Ok(()),
    }
}

impl Lock {
    fn take(folder: &Path) -> Result<Self, Diagnostic> {
        let path = folder.join(LOCK);
        let failed = |e: std::io::Error| unwritable(&path, &e);
        if std::fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            return Err(unwritable(&path, &std::io::Error::other("it is not a regular file")));
        }
        // The previous holder removes the lock file at its end: the lock may then be on a deleted file, and is tried again.
        for _ in 0..20 {
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
            let mut who = String::new();
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let _ = file.take(4096).read_to_string(&mut who);
                    return Err(taken(folder, &who));
                }
                // Some file systems do not support locks: then the folder is written without one.
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            if !same_file(&file, &path) {
                continue;
            }
            let host = ["/proc/sys/kernel/hostname", "/etc/hostname"].iter().find_map(|p| std::fs::read_to_string(p).ok());
            let host = host.or_else(|| std::env::var("COMPUTERNAME").ok()).map_or("this machine".into(), |h| h.trim().to_string());
            let text = format!("process {} on {host}\n", std::process::id());
            let written = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| file.write_all(text.as_bytes()));
            // Created before anything can fail, so that dropping it removes the file.
            let lock = Self { path: path.clone(), file };
            written.map_err(failed)?;
            return Ok(lock);
        }
        Err(taken(folder, ""))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed before the lock is released, so that no other process can take it in between.
        let _ = std::fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

#[cfg(unix)]
fn same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: std::fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata().map(id), std::fs::metadata(path).map(id)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn same_file(_: &File, _: &Path) -> bool {
    true
}

/// A result folder open for writing.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    precious: bool,
    /// Whether the folder was created for this run.
    made: bool,
    /// Files, besides the trajectory, that are renamed at the end of the run.
    staged: Vec<PathBuf>,
    _lock: Lock,
}

/// Where the results of a run were stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Under their final names.
    InPlace,
    /// Under their final names, where they replaced an older complete result or files of other origin.
    Replaced,
    /// Under temporary names, because an older result must not be replaced.
    Beside,
}

impl ResultFolder {
    /// Creates the folder, takes its lock, and writes the copy of the mechanism under a temporary name.
    pub fn open(path: &Path, claim: &Claim<'_>) -> Result<Self, Diagnostic> {
        inspect(path, claim)?;
        let made = !path.exists();
        std::fs::create_dir_all(path).map_err(|e| unwritable(path, &e))?;
        let lock = Lock::take(path).inspect_err(|_| {
            if made {
                let _ = std::fs::remove_dir(path);
            }
        })?;
        // The folder may have changed before the lock was taken.
        let precious = look(path, claim)?.precious;
        let mut folder = Self { path: path.into(), precious, made, staged: Vec::new(), _lock: lock };
        match folder.stage(claim) {
            Ok(()) => Ok(folder),
            Err(d) => {
                folder.abandon();
                Err(d)
            }
        }
    }

    /// The file of rows while the run lasts.
    pub fn rows(&self) -> PathBuf {
        part(&self.path.join(TRAJECTORY))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the mechanism, its meshes and its tables under temporary names.
    fn stage(&mut self, claim: &Claim<'_>) -> Result<(), Diagnostic> {
        let mut put = |target: PathBuf, bytes: &[u8]| {
            let beside = part(&target);
            self.staged.push(target);
            std::fs::write(&beside, bytes).map_err(|e| unwritable(&beside, &e))
        };
        let copy = self.path.join(MODEL);
        // A run of the copy itself does not replace it.
        if !read_text_bounded(&copy, MAX_MODEL).is_ok_and(|old| plain(&old) == claim.text) {
            put(copy, claim.text.as_bytes())?;
        }
        for file in side_files(claim.model, claim.data, claim.folder)? {
            let target = self.path.join(&file.name);
            if target.exists() && file.same_as(&target) {
                continue;
            }
            if let Some(parent) = target.parent() {
                std::fs::create_dir_all(parent).map_err(|e| unwritable(parent, &e))?;
            }
            put(target, &file.bytes()?)?;
        }
        Ok(())
    }

    /// Writes the list of events under a temporary name, one line per event.
    pub fn put_events(&mut self, events: &[Happened]) -> Result<(), Diagnostic> {
        let mut text = String::from("t,name,kind,impulse,lost,speed_before,speed_after\n");
        for h in events {
            let [before, after] = h.speed;
            text += &format!("{},{},{},{},{},{before},{after}\n", h.t, h.name, h.kind.word(), h.impulse, h.lost);
        }
        let target = self.path.join(EVENTS);
        let beside = part(&target);
        if !self.staged.contains(&target) {
            self.staged.push(target);
        }
        std::fs::write(&beside, text).map_err(|e| unwritable(&beside, &e))
    }

    /// Also writes the rows as Parquet; `facts` are stored as metadata.
    pub fn put_parquet(&mut self, units: impl Fn(&str) -> String, facts: Value) -> Result<(), Diagnostic> {
        let mut table = read_table(&self.rows())?;
        table.units = table.names.iter().map(|n| units(n)).collect();
        let target = self.path.join(TRAJECTORY_PARQUET);
        let beside = part(&target);
        if !self.staged.contains(&target) {
            self.staged.push(target);
        }
        std::fs::write(&beside, parquet::write_table(&table, facts)?).map_err(|e| unwritable(&beside, &e))
    }

    /// Gives the rows of an incomplete result their temporary name again, so that they can be continued.
    pub fn take_back(&self) -> Result<(), Diagnostic> {
        let (rows, old) = (self.rows(), self.path.join(TRAJECTORY));
        if rows.exists() {
            return Ok(());
        }
        std::fs::rename(&old, &rows).map_err(|e| unwritable(&rows, &e))
    }

    /// Ends the run: its files get their final names, unless the run is incomplete and existing files must be kept.
    pub fn finish(&mut self, summary: &Value, complete: bool, resumable: bool) -> Result<Kept, Diagnostic> {
        if !complete && self.precious {
            write_json(&part(&self.path.join(SUMMARY)), summary)?;
            return Ok(Kept::Beside);
        }
        // The summary is removed first and written last, so that a summary is never beside rows that it does not describe.
        let text = self.path.join(SUMMARY);
        let beside = part(&text);
        write_json(&beside, summary)?;
        let _ = std::fs::remove_file(&text);
        let mut moves: Vec<PathBuf> = std::mem::take(&mut self.staged);
        // The Parquet file of an older run would not match the new rows.
        let old = self.path.join(TRAJECTORY_PARQUET);
        if !moves.contains(&old) && is_ours(&old, Kind::Parquet) {
            let _ = std::fs::remove_file(old);
        }
        moves.extend([self.path.join(TRAJECTORY), text]);
        for target in moves {
            std::fs::rename(part(&target), &target).map_err(|e| unwritable(&target, &e))?;
        }
        let _ = std::fs::remove_file(part(&self.path.join(MODEL)));
        // The page of an older run would not match the new rows.
        let page = self.path.join(PAGE);
        if is_ours(&page, Kind::Page) {
            let _ = std::fs::remove_file(page);
        }
        if !resumable {
            let _ = std::fs::remove_file(self.path.join(CHECKPOINT));
        }
        let replaced = std::mem::replace(&mut self.precious, complete);
        Ok(if replaced { Kept::Replaced } else { Kept::InPlace })
    }

    /// Removes the files of a run that has no result worth keeping.
    pub fn abandon(&mut self) {
        for target in std::mem::take(&mut self.staged) {
            let _ = std::fs::remove_file(part(&target));
        }
        let _ = std::fs::remove_file(self.rows());
        let _ = std::fs::remove_file(self.path.join(CHECKPOINT));
        if self.made {
            let _ = std::fs::remove_file(self.path.join(LOCK));
            // Removes the folder only if it is empty.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}
