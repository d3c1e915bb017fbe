//! The key tables, the schema, the manual and the pages of the codes are consistent.

use fourbar_io::{ReadOptions, UNITS, keys, read_model, schema};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_code_of_the_reader_has_a_page() {
    let mut codes = BTreeSet::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            if path.extension().is_none_or(|e| e != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (at, _) in text.match_indices("\"M0").chain(text.match_indices("\"W0")) {
                let code = &text[at + 1..at + 5];
                if text[at + 5..].starts_with('"') {
                    codes.insert(code.to_string());
                }
            }
        }
    }
    assert!(codes.len() > 35, "{codes:?}");
    for code in &codes {
        let page = fourbar::codes::page(code).unwrap_or_else(|| panic!("{code} has no page"));
        assert!(page.text.len() > 60, "the page of {code} says too little");
    }
}

/// The units, by dimension.
fn unit_table() -> String {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for unit in UNITS {
        let dimension = unit.dimension.to_string();
        let name = format!("`{}`", unit.name);
        match rows.iter_mut().find(|(d, _)| *d == dimension) {
            Some((_, names)) => names.push(name),
            None => rows.push((dimension, vec![name])),
        }
    }
    let rows: String = rows.iter().map(|(d, names)| format!("| {d} | {} |\n", names.join(" "))).collect();
    format!("| dimension | units |\n|---|---|\n{rows}")
}

fn function_table() -> String {
    let rows: String = fourbar::expr::FUNCTIONS.iter().map(|f| format!("| `{}` | {} |\n", f.name, f.doc)).collect();
    format!("| function | gives |\n|---|---|\n{rows}")
}

/// All key tables; types with the same keys share one.
fn key_tables() -> String {
    let mut out = String::new();
    let tables = keys();
    let mut section = "";
    let mut done = BTreeSet::new();
    for (i, table) in tables.iter().enumerate() {
        if table.section != section || i == 0 {
            section = table.section;
            out += &match section {
                "" => "### Top of the file\n\n".to_string(),
                _ => format!("### {section}\n\n"),
            };
        }
        if !done.insert(i) {
            continue;
        }
        out += &line(table);
        for (j, other) in tables.iter().enumerate().skip(i + 1) {
            if other.section == table.section && other.keys == table.keys {
                done.insert(j);
                out += &line(other);
            }
        }
        out += "\n| key | takes | |\n|---|---|---|\n";
        for key in table.keys {
            let needed = if key.required { " needed;" } else { "" };
            out += &format!("| `{}` | {} |{needed} {} |\n", key.name, key.expect.words().replace('|', "\\|"), key.doc);
        }
        out.push('\n');
    }
    out.trim_end().to_string() + "\n"
}

fn line(table: &fourbar_io::Table) -> String {
    match table.kind {
        Some(kind) => format!("- `{kind}`: {}\n", table.doc),
        None => format!("{}\n", table.doc),
    }
}

/// Inserts a text between two marks.
fn put(manual: &str, name: &str, text: &str) -> String {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let from = manual.find(&start).unwrap() + start.len();
    let to = manual.find(&end).unwrap();
    format!("{}{text}{}", &manual[..from], &manual[to..])
}

#[test]
fn the_manual_shows_every_key_unit_and_function() {
    let path = root().join("docs/file-format.md");
    let manual = std::fs::read_to_string(&path).unwrap();
    let mut current = manual.clone();
    for (name, text) in [("units", unit_table()), ("functions", function_table()), ("keys", key_tables())] {
        current = put(&current, name, &text);
    }
    if std::env::var_os("FOURBAR_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    } else {
        assert!(manual == current, "docs/file-format.md is not current: run this test with FOURBAR_UPDATE=1");
    }
    for key in keys().iter().flat_map(|t| t.keys) {
        assert!(current.contains(&format!("| `{}` |", key.name)), "key {} is missing", key.name);
    }
}

#[test]
fn the_examples_of_the_manual_read() {
    let manual = std::fs::read_to_string(root().join("docs/file-format.md")).unwrap();
    let example = manual.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let loaded = read_model(example, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.spec.bodies.len(), 1);
    assert!(loaded.warnings.is_empty());
}

#[test]
fn keys_are_unique_and_documented() {
    for table in keys() {
        let names: BTreeSet<_> = table.keys.iter().map(|k| k.name).collect();
        assert_eq!(names.len(), table.keys.len(), "{}", table.title);
        assert!(!names.contains("type"), "{}: `type` comes by itself", table.title);
        assert!(table.keys.iter().all(|k| !k.doc.is_empty() && !k.expect.words().is_empty()));
    }
}

#[test]
fn the_schema_in_the_docs_is_current() {
    let path = root().join("docs/mechanism.schema.json");
    let current = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("FOURBAR_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap();
    assert!(stored == current, "docs/mechanism.schema.json is not current: run this test with FOURBAR_UPDATE=1");
}
