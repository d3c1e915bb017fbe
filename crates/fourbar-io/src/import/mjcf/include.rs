//! Replaces `<include file="..."/>` by the content of the included files.

use super::super::reading::Reading;
use super::super::xml::{self, Tree};
use fourbar::Diagnostic;

/// Expands all includes of a file.
pub(in super::super) fn expand(reading: &Reading<'_>, tree: &mut Tree) {
    if tree.knows("include") {
        let name = reading.options.path.and_then(|p| p.file_name()).and_then(|n| n.to_str());
        let mut open: Vec<String> = name.map(String::from).into_iter().collect();
        inside(reading, tree, 0, "", &mut open, 0);
    }
}

/// Expands the includes inside an element. `depth` counts elements across all files, since each file may have the full depth.
fn inside(reading: &Reading<'_>, tree: &mut Tree, at: u32, folder: &str, open: &mut Vec<String>, depth: usize) {
    if depth > xml::MAX_DEPTH {
        return reading.problem(xml::too_deep(), tree.element(at).spot());
    }
    let mut list = Vec::new();
    for c in tree.inside(at) {
        if tree.element(c).tag() == "include" {
            list.extend(included(reading, tree, c, folder, open, depth));
        } else {
            inside(reading, tree, c, folder, open, depth + 1);
            list.push(c);
        }
        // The rest is skipped after an error.
        if !reading.good() {
            break;
        }
    }
    tree.put_inside(at, &list);
}

/// The elements that replace an include.
fn included(reading: &Reading<'_>, tree: &mut Tree, at: u32, folder: &str, open: &mut Vec<String>, depth: usize) -> Vec<u32> {
    let Some(a) = reading.need(tree.element(at), "file") else { return Vec::new() };
    let wanted = a.value.replace('\\', "/");
    // Names are relative to the including file or to the first file.
    let near = format!("{folder}{wanted}");
    let there = |n: &str| reading.folder.as_ref().is_some_and(|f| f.join(n).is_file());
    let name = if there(&near) { near } else { wanted };
    if open.contains(&name) {
        let ring: Vec<String> = open.iter().chain([&name]).map(|n| format!("`{n}`")).collect();
        let message = match open.last() {
            Some(last) if *last == name => format!("`{name}` includes itself"),
            _ => format!("files include each other in a circle: {}", ring.join(", ")),
        };
        let d = Diagnostic::new("M657", message).names(open.iter().cloned());
        reading.problem(d.help("remove one of the includes"), a.spot);
        return Vec::new();
    }
    let Some((file, text)) = reading.beside(&name, a.spot) else { return Vec::new() };
    match tree.add(reading, file, &text) {
        Ok(root) => {
            let below = name.rsplit_once('/').map_or(String::new(), |(f, _)| format!("{f}/"));
            open.push(name);
            inside(reading, tree, root, &below, open, depth);
            open.pop();
            tree.inside(root)
        }
        Err(d) => {
            reading.refuse(d);
            Vec::new()
        }
    }
}
