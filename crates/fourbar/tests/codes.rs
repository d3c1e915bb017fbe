//! Every diagnostic code of the engine has a page, and no page is duplicated.

use std::collections::BTreeSet;

fn sources(folder: &std::path::Path, out: &mut String) {
    for entry in std::fs::read_dir(folder).expect("sources are there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push_str(&std::fs::read_to_string(&path).expect("readable"));
        }
    }
}

#[test]
fn every_code_has_a_page() {
    let mut text = String::new();
    for krate in ["fourbar-model", "fourbar", "fourbar-design", "fourbar-check"] {
        sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(krate).join("src"), &mut text);
    }
    let mut codes = BTreeSet::new();
    for part in text.split("Diagnostic::new(").skip(1) {
        let code: String = part.trim_start().trim_start_matches('"').chars().take(4).collect();
        if code.len() == 4 && code.starts_with(['M', 'S', 'U', 'W']) && code[1..].bytes().all(|b| b.is_ascii_digit()) {
            codes.insert(code);
        }
    }
    assert!(codes.len() > 20, "{codes:?}");
    let missing: Vec<&String> = codes.iter().filter(|c| fourbar::codes::page(c).is_none()).collect();
    assert!(missing.is_empty(), "without a page: {missing:?}");
}

#[test]
fn pages_are_unique_and_say_something() {
    let mut seen = BTreeSet::new();
    for p in fourbar::codes::pages() {
        assert!(seen.insert(p.code), "{} twice", p.code);
        assert!(p.text.len() > 40 && !p.title.is_empty(), "{}", p.code);
    }
}
