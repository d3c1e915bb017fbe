//! `cargo xtask site`: the pages of `docs` and the rendered notebooks as a web site, made by mdBook, which is installed apart.

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
    let known = known.is_ok_and(|s| s.success());
    notebooks(&source, known)?;
    if !known {
        return Err(format!("mdBook is not there: `cargo install mdbook` installs it; the pages are in {}", source.display()));
    }
    run(Command::new("mdbook").arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    println!("the site is in {}", site.join("index.html").display());
    Ok(())
}

/// Folder of the notebooks as the pages of `docs` link to it.
const NOTEBOOKS: &str = "../crates/fourbar-py/notebooks/";

/// Puts the notebooks beside the pages and lets the links of the page on Python lead to them: rendered where `target/notebooks` has them,
/// or where they can be rendered now, and else as the Python files that they are.
fn notebooks(source: &Path, may_render: bool) -> Result<(), String> {
    let (written, rendered, beside) = (root().join("crates/fourbar-py/notebooks"), scratch("notebooks"), source.join("notebooks"));
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let page = source.join("python.md");
    let text = std::fs::read_to_string(&page).map_err(|e| failed(&page, e))?;
    let names = linked(&text);
    let html = |name: &str| rendered.join(format!("{name}.html"));
    let changed = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    let current = |name: &str| {
        let (notebook, page) = (changed(&written.join(format!("{name}.py"))), changed(&html(name)));
        page.is_some() && page >= notebook
    };
    if may_render
        && !names.iter().all(|name| current(name))
        && let Err(why) = crate::python::notebooks()
    {
        eprintln!("xtask: not all notebooks are rendered: {why}");
    }
    std::fs::create_dir_all(&beside).map_err(|e| failed(&beside, e))?;
    for name in &names {
        let from = if current(name) { html(name) } else { written.join(format!("{name}.py")) };
        std::fs::copy(&from, beside.join(from.file_name().unwrap_or_default())).map_err(|e| failed(&from, e))?;
    }
    std::fs::write(&page, relinked(&text, current)).map_err(|e| failed(&page, e))
}

/// Names of the notebooks that a page links to.
fn linked(text: &str) -> Vec<String> {
    let link = format!("]({NOTEBOOKS}");
    text.split(&link).skip(1).filter_map(|rest| rest.split_once(".py)").map(|(name, _)| name.to_string())).collect()
}

/// The page with links to the notebooks beside it.
fn relinked(text: &str, rendered: impl Fn(&str) -> bool) -> String {
    linked(text).iter().fold(text.to_string(), |text, name| {
        let ending = if rendered(name) { "html" } else { "py" };
        text.replace(&format!("]({NOTEBOOKS}{name}.py)"), &format!("](notebooks/{name}.{ending})"))
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_notebooks_lead_to_what_is_beside_the_page() {
        let text = format!("see [one]({NOTEBOOKS}1_one.py), [two]({NOTEBOOKS}2_two.py) and [files](file-format.md)");
        assert_eq!(linked(&text), ["1_one", "2_two"]);
        let page = relinked(&text, |name| name == "1_one");
        assert_eq!(page, "see [one](notebooks/1_one.html), [two](notebooks/2_two.py) and [files](file-format.md)");
    }

    #[test]
    fn the_page_on_python_links_to_every_notebook() {
        let page = std::fs::read_to_string(root().join("docs/python.md")).expect("the page");
        let mut listed = linked(&page);
        listed.sort();
        let folder = std::fs::read_dir(root().join("crates/fourbar-py/notebooks")).expect("the folder");
        let names = folder.filter_map(|e| e.ok()?.path().file_stem()?.to_str().map(String::from));
        let mut there: Vec<String> = names.filter(|n| n.starts_with(|c: char| c.is_ascii_digit())).collect();
        there.sort();
        assert_eq!(listed, there);
    }
}
