//! Documents generated from the code: the index of diagnostics.

use crate::root;
use fourbar::codes::pages;
use std::path::PathBuf;

fn diagnostics_path() -> PathBuf {
    root().join("docs/diagnostics.md")
}

/// Writes the documents.
pub fn write() -> Result<(), String> {
    let path = diagnostics_path();
    std::fs::write(&path, diagnostics()).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("docs/diagnostics.md is written");
    Ok(())
}

/// The index of diagnostics: a table of all codes, then their pages.
fn diagnostics() -> String {
    let mut all: Vec<_> = pages().collect();
    // By letter in the order of the kinds, then by number.
    let rank = |code: &str| "MSUW".find(&code[..1]).unwrap_or(4);
    all.sort_by_key(|p| (rank(p.code), p.code));
    let mut text = String::from(
        "# Diagnostics\n\n\
         Every error and warning has a stable code: `M` the mechanism and its file, `S` solving, `U` usage, `W` warnings.\n\
         `fourbar explain CODE` prints the same pages. This file is made from the code by `cargo xtask docs`.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for p in &all {
        text += &format!("| [{}](#{}) | {} |\n", p.code, p.code.to_lowercase(), p.title.replace('|', "\\|"));
    }
    for p in &all {
        let body: Vec<String> = p.text.split("\n\n").map(block).collect();
        text += &format!("\n## {}\n\n**{}.** {}\n", p.code, p.title, body.join("\n\n"));
    }
    text
}

/// Indented paragraphs are examples.
fn block(paragraph: &str) -> String {
    if paragraph.lines().all(|l| l.starts_with("  ")) {
        let lines: Vec<&str> = paragraph.lines().map(|l| &l[2..]).collect();
        return format!("```\n{}\n```", lines.join("\n"));
    }
    paragraph.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_diagnostics_is_current() {
        let written = std::fs::read_to_string(diagnostics_path()).unwrap_or_default();
        assert!(written == diagnostics(), "docs/diagnostics.md is out of date: run `cargo xtask docs`");
    }

    #[test]
    fn codes_are_unique_and_have_the_usual_form() {
        let mut codes: Vec<&str> = pages().map(|p| p.code).collect();
        let count = codes.len();
        assert!(codes.iter().all(|c| c.len() == 4 && "MSUW".contains(&c[..1]) && c[1..].bytes().all(|b| b.is_ascii_digit())), "{codes:?}");
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count, "two pages have the same code");
    }

    #[test]
    fn every_code_in_the_sources_has_its_page() {
        let mut missing = Vec::new();
        for folder in [
            "crates/fourbar-model/src",
            "crates/fourbar/src",
            "crates/fourbar-check/src",
            "crates/fourbar-io/src",
            "crates/fourbar-cli/src",
        ] {
            visit(&root().join(folder), &mut |text| {
                for part in text.split("Diagnostic::new(\"").skip(1) {
                    let code: String = part.chars().take_while(|c| *c != '"').collect();
                    if fourbar::codes::page(&code).is_none() && !missing.contains(&code) {
                        missing.push(code);
                    }
                }
            });
        }
        missing.sort();
        assert!(missing.is_empty(), "codes without a page: {missing:?}");
    }

    fn visit(folder: &std::path::Path, look: &mut dyn FnMut(&str)) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, look);
            } else if path.extension().is_some_and(|e| e == "rs") {
                look(&std::fs::read_to_string(&path).unwrap_or_default());
            }
        }
    }
}
