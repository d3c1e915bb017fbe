//! `cargo xtask site`: the pages of `docs` as a web site, made by mdBook, which is installed apart.

use crate::browser::{run, scratch};
use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Copies the pages, completes their table of contents, and builds the site.
pub fn build() -> Result<(), String> {
    let (source, site) = (scratch("site-source"), scratch("site"));
    let _ = std::fs::remove_dir_all(&source);
    copy(&root().join("docs"), &source)?;
    let contents = source.join("SUMMARY.md");
    let mut summary = std::fs::read_to_string(&contents).map_err(|e| format!("{}: {e}", contents.display()))?;
    let missing = unlisted(&source, &summary)?;
    if !missing.is_empty() {
        summary += "\n# More\n\n";
        for page in &missing {
            summary += &format!("- [{}]({})\n", title(&source.join(page)), page.display());
        }
    }
    std::fs::write(&contents, summary).map_err(|e| format!("{}: {e}", contents.display()))?;
    let known = Command::new("mdbook").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !known.is_ok_and(|s| s.success()) {
        return Err(format!("mdBook is not there: `cargo install mdbook` installs it; the pages are in {}", source.display()));
    }
    run(Command::new("mdbook").arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    println!("the site is in {}", site.join("index.html").display());
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    std::fs::create_dir_all(to).map_err(|e| format!("{}: {e}", to.display()))?;
    for entry in std::fs::read_dir(from).map_err(|e| format!("{}: {e}", from.display()))? {
        let path = entry.map_err(|e| e.to_string())?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy(&path, &target)?,
            false => std::fs::copy(&path, &target).map(|_| ()).map_err(|e| format!("{}: {e}", path.display()))?,
        }
    }
    Ok(())
}

/// Pages that the table of contents does not name.
fn unlisted(folder: &Path, summary: &str) -> Result<Vec<PathBuf>, String> {
    fn pages(folder: &Path, list: &mut Vec<PathBuf>) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                pages(&path, list)?;
            } else if path.extension().is_some_and(|e| e == "md") {
                list.push(path);
            }
        }
        Ok(())
    }
    let mut list = Vec::new();
    pages(folder, &mut list).map_err(|e| e.to_string())?;
    let mut missing: Vec<PathBuf> = list.iter().filter_map(|p| p.strip_prefix(folder).ok().map(PathBuf::from)).collect();
    missing.retain(|p| p != Path::new("SUMMARY.md") && !summary.contains(&format!("({})", p.display())));
    missing.sort();
    Ok(missing)
}

/// The first heading of a page.
fn title(page: &Path) -> String {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let heading = text.lines().find_map(|l| l.strip_prefix("# ")).unwrap_or_default();
    heading.replace(['[', ']'], "")
}
