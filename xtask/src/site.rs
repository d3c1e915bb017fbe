//! `cargo xtask site`: the pages of `docs` and the rendered notebooks as a web site, built by mdBook, which is installed separately.

use crate::browser::{run, scratch};
use crate::root;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Copies the pages, redirects their links to files of the site, completes the table of contents, and builds the site.
pub fn build() -> Result<(), String> {
    let (source, site) = (scratch("site-source"), scratch("site"));
    let _ = std::fs::remove_dir_all(&source);
    copy(&root().join("docs"), &source)?;
    let known = Command::new("mdbook").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let known = known.is_ok_and(|s| s.success());
    notebooks(&source, known)?;
    lead(&root(), &source)?;
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
    if !known {
        return Err(format!("mdBook is not there: `cargo install mdbook` installs it; the pages are in {}", source.display()));
    }
    run(Command::new("mdbook").arg("build").arg(&source).arg("--dest-dir").arg(&site))?;
    println!("the site is in {}", site.join("index.html").display());
    Ok(())
}

/// Folder of the site for linked files of the project outside `docs`.
const BESIDE: &str = "project";

/// Rewrites the links of all pages of a site: `README.md` of a folder becomes `index.md`, and linked files of the project outside `docs`
/// are copied, with the files they link to in turn.
fn lead(root: &Path, source: &Path) -> Result<(), String> {
    let failed = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    let mut pages = Vec::new();
    gather(source, &mut pages).map_err(|e| failed(source, e))?;
    // The table of contents keeps its names: mdBook makes an index of every README in it.
    pages.retain(|p| p != &source.join("SUMMARY.md"));
    while let Some(page) = pages.pop() {
        let text = std::fs::read_to_string(&page).map_err(|e| failed(&page, e))?;
        let place = page.strip_prefix(source).unwrap_or(&page).to_path_buf();
        // Path of the page in the project.
        let written = place.strip_prefix(BESIDE).map_or_else(|_| Path::new("docs").join(&place), Path::to_path_buf);
        let mut error = None;
        let text = relink(&text, |link| {
            let (file, anchor) = link.split_once('#').map_or((link, String::new()), |(f, a)| (f, format!("#{a}")));
            if file.is_empty() || file.contains(':') {
                return None;
            }
            let target = plain(&written.parent().unwrap_or(Path::new("")).join(file))?;
            if !root.join(&target).is_file() {
                return None;
            }
            let there = target.strip_prefix("docs").map_or_else(|_| Path::new(BESIDE).join(&target), Path::to_path_buf);
            let copied = source.join(&there);
            if !copied.exists() {
                let folder = copied.parent().unwrap_or(source);
                if let Err(e) = std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(root.join(&target), &copied)) {
                    error = Some(failed(&copied, e));
                }
                if there.extension().is_some_and(|e| e == "md") {
                    pages.push(copied);
                }
            }
            let there = if there.file_name().is_some_and(|n| n == "README.md") { there.with_file_name("index.md") } else { there };
            Some(format!("{}{anchor}", towards(place.parent().unwrap_or(Path::new("")), &there)))
        });
        if let Some(error) = error {
            return Err(error);
        }
        std::fs::write(&page, text).map_err(|e| failed(&page, e))?;
    }
    Ok(())
}

/// A text with new targets of its links and pictures, if `other` returns one; code is unchanged.
fn relink(text: &str, mut other: impl FnMut(&str) -> Option<String>) -> String {
    let mut open = false;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            open = !open;
        }
        if open {
            out += line;
            continue;
        }
        for (k, piece) in line.split('`').enumerate() {
            out += if k > 0 { "`" } else { "" };
            let mut rest = piece;
            while let Some((before, link)) = rest.split_once("](").filter(|_| k % 2 == 0) {
                let end = link.find(')').unwrap_or(link.len());
                out += &format!("{before}]({}", other(&link[..end]).unwrap_or_else(|| link[..end].into()));
                rest = &link[end..];
            }
            out += rest;
        }
    }
    out
}

/// A relative path without `.` and `..`; `None` if it leaves its base folder.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => out.push(name),
            Component::CurDir => {}
            Component::ParentDir if out.pop() => {}
            _ => return None,
        }
    }
    Some(out)
}

/// The relative path from a folder to a file, both below one folder, with slashes.
fn towards(folder: &Path, file: &Path) -> String {
    let (from, to): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_string(), from.len() - same);
    up.chain(to[same..].iter().map(|c| c.as_os_str().to_string_lossy().into_owned())).collect::<Vec<_>>().join("/")
}

/// All pages of a folder and its subfolders.
fn gather(folder: &Path, list: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, list)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            list.push(path);
        }
    }
    Ok(())
}

/// Folder of the notebooks in links of the pages of `docs`.
const NOTEBOOKS: &str = "../crates/fourbar-py/notebooks/";

/// Copies the notebooks beside the pages and redirects the links of the page on Python to them: rendered if they are in `target/notebooks`
/// or can be rendered now, otherwise as Python files.
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

/// The page with links to the copied notebooks.
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

/// Pages that are not in the table of contents.
fn unlisted(folder: &Path, summary: &str) -> Result<Vec<PathBuf>, String> {
    let mut list = Vec::new();
    gather(folder, &mut list).map_err(|e| e.to_string())?;
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
    fn links_of_the_site_lead_somewhere() {
        let source = scratch("site-links");
        let _ = std::fs::remove_dir_all(&source);
        copy(&root().join("docs"), &source).expect("a copy");
        lead(&root(), &source).expect("links");
        let mut pages = Vec::new();
        gather(&source, &mut pages).expect("pages");
        assert!(pages.iter().any(|p| p.ends_with("project/README.md")), "the README is not on the site");
        let mut wrong = Vec::new();
        for page in pages.iter().filter(|p| !p.ends_with("SUMMARY.md")) {
            relink(&std::fs::read_to_string(page).expect("a page"), |link| {
                let file = link.split('#').next().unwrap_or_default();
                let target = page.parent().expect("a folder").join(file);
                // mdBook makes an index of every README.
                let there = if file.ends_with("index.md") { target.with_file_name("README.md").exists() } else { target.exists() };
                // Folders are not pages, and nothing above the site is part of it.
                if !file.is_empty() && !file.contains(':') && (!there || file.ends_with("README.md")) {
                    wrong.push(format!("{}: {link}", page.display()));
                }
                None
            });
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn links_are_rewritten_outside_of_code() {
        let other = |link: &str| (link == "a.md").then(|| "b.md".to_string());
        let text = "[x](a.md) `[y](a.md)` [`z`](a.md) [w](c.md#d)\n```\n[v](a.md)\n```\n![u](a.md)";
        assert_eq!(relink(text, other), "[x](b.md) `[y](a.md)` [`z`](b.md) [w](c.md#d)\n```\n[v](a.md)\n```\n![u](b.md)");
        assert_eq!(towards(Path::new("studies/one"), Path::new("studies/two/index.md")), "../two/index.md");
        assert_eq!(plain(Path::new("docs/a/../../README.md")), Some("README.md".into()));
        assert_eq!(plain(Path::new("docs/../../x")), None);
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
