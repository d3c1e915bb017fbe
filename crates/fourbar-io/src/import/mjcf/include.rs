//! Puts the content of included files in the place of `<include file="..."/>`.

use super::super::reading::Reading;
use super::super::xml::{self, Element};
use fourbar::Diagnostic;

/// Expands all includes of a file.
pub(super) fn expand(reading: &Reading<'_>, root: &mut Element) {
    let mut open: Vec<String> =
        reading.options.path.and_then(|p| p.file_name()).and_then(|n| n.to_str()).map(String::from).into_iter().collect();
    inside(reading, root, "", &mut open, 0);
}

/// `depth` counts elements through all files, since each of them may be as deep as one alone may be.
fn inside(reading: &Reading<'_>, e: &mut Element, folder: &str, open: &mut Vec<String>, depth: usize) {
    if depth > xml::MAX_DEPTH {
        return reading.problem(xml::too_deep(), e.spot);
    }
    let children = std::mem::take(&mut e.children);
    for mut c in children {
        if c.tag != "include" {
            inside(reading, &mut c, folder, open, depth + 1);
            e.children.push(c);
            if !reading.good() {
                return;
            }
            continue;
        }
        let Some(a) = reading.need(&c, "file") else { continue };
        let wanted = a.value.replace('\\', "/");
        // Names count from the file that includes, or from the first one.
        let near = format!("{folder}{wanted}");
        let there = |n: &str| reading.folder.as_ref().is_some_and(|f| f.join(n).is_file());
        let name = if there(&near) { near } else { wanted };
        if open.contains(&name) {
            let ring: Vec<String> = open.iter().chain([&name]).map(|n| format!("`{n}`")).collect();
            let message = match open.last() {
                Some(last) if *last == name => format!("`{name}` includes itself"),
                _ => format!("files include each other in a ring: {}", ring.join(", ")),
            };
            let d = Diagnostic::new("M657", message).names(open.iter().cloned());
            reading.problem(d.help("remove one of the includes"), a.spot);
            continue;
        }
        let Some((file, text)) = reading.beside(&name, a.spot) else { continue };
        match xml::parse(reading, file, &text) {
            Ok(mut root) => {
                let below = name.rsplit_once('/').map_or(String::new(), |(f, _)| format!("{f}/"));
                open.push(name);
                inside(reading, &mut root, &below, open, depth);
                open.pop();
                e.children.append(&mut root.children);
            }
            Err(d) => reading.refuse(d),
        }
        if !reading.good() {
            return;
        }
    }
}
