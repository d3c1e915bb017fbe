//! Dependencies of crates are linear and those of modules acyclic: every `use` is followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The crates, each of which may depend only on those before it.
const LINE: [&str; 13] = [
    "fourbar-math",
    "fourbar-dae",
    "fourbar-model",
    "fourbar",
    "fourbar-batch",
    "fourbar-design",
    "fourbar-check",
    "fourbar-io",
    "fourbar-wasm",
    "fourbar-fmi",
    "fourbar-cli",
    "fourbar-py",
    "fourbar-testing",
];

/// Accepted cycles between the top modules of a crate. No other module may join one.
const KNOWN: [(&str, &[&str], &str); 4] = [
    (
        "fourbar-model",
        &[
            "auxiliary",
            "build",
            "constraint",
            "contact",
            "coordinate",
            "event",
            "force",
            "joint",
            "model",
            "rolling",
            "spec",
            "state",
            "switching",
            "topology",
        ],
        "the file of a joint or force has all of it: what a specification says, how a model is built from that, how it is evaluated on poses",
    ),
    (
        "fourbar-io",
        &["file", "import", "keys", "mechspec", "places", "reader", "tree", "writer"],
        "the tables of keys name the functions of the reader that read them; files of other programs are kept as this program writes them",
    ),
    (
        "fourbar-design",
        &["equilibrium", "linear", "modes", "tangent"],
        "the verdict on a rest asks how it vibrates, and what vibrates at a rest on limits asks the rest which of them push",
    ),
    ("fourbar-cli", &["run", "view"], "a run may end with its page, and a page may be asked of a run"),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Sources below a folder, as path and text without comments and test modules at the end.
fn sources(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let shipped = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let code: Vec<&str> = shipped.lines().map(|l| l.split("//").next().unwrap_or_default()).collect();
            out.push((path, code.join("\n")));
        }
    }
}

/// Words that follow a path such as `crate::`, groups in braces included.
fn after(code: &str, path: &str) -> BTreeSet<String> {
    let word = |s: &str| s.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for rest in code.split(path).skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            found.insert(word(rest));
            continue;
        };
        // First words at the level of the group.
        let (mut depth, mut fresh) = (1, true);
        for (k, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => fresh = true,
                c if fresh && (c.is_alphanumeric() || c == '_') => {
                    found.insert(word(&group[k..]));
                    fresh = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    found
}

#[test]
fn words_after_a_path_are_found() {
    let code = "use crate::a::b; use crate::{c, d::{e, f}, g::h}; crate::i::j()";
    assert_eq!(after(code, "crate::").into_iter().collect::<Vec<_>>(), ["a", "c", "d", "g", "i"]);
}

#[test]
fn crates_see_only_those_before_them() {
    for (place, name) in LINE.iter().enumerate() {
        let manifest = std::fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("a manifest");
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        let mut seen: BTreeSet<String> = dependencies.lines().filter_map(|l| l.split(['.', ' ', '=']).next()).map(String::from).collect();
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        for (_, code) in &files {
            let used = LINE.iter().filter(|c| code.contains(&format!("{}::", c.replace('-', "_"))));
            seen.extend(used.map(|c| c.to_string()));
        }
        let upwards: Vec<&&str> = LINE[place + 1..].iter().filter(|o| seen.contains(**o)).collect();
        assert!(upwards.is_empty(), "`{name}` uses {upwards:?}, which stand after it");
    }
    let there = std::fs::read_dir(crates()).expect("crates").flatten().map(|e| e.file_name().to_string_lossy().into());
    assert_eq!(there.collect::<BTreeSet<String>>(), LINE.iter().map(|c| c.to_string()).collect(), "a crate is missing in the line");
}

/// Groups of modules that can reach each other.
fn circles(edges: &BTreeMap<String, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reach = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from.clone()];
        while let Some(m) = next.pop() {
            next.extend(edges.get(&m).into_iter().flatten().filter(|n| seen.insert((*n).clone())).cloned());
        }
        seen
    };
    let all: BTreeMap<&String, BTreeSet<String>> = edges.keys().map(|m| (m, reach(m))).collect();
    let mut groups = BTreeSet::new();
    for (m, there) in &all {
        let group: BTreeSet<String> = there.iter().filter(|n| all.get(n).is_some_and(|back| back.contains(*m))).cloned().collect();
        if group.len() > 1 {
            groups.insert(group);
        }
    }
    groups.into_iter().collect()
}

#[test]
fn circles_are_found() {
    let edge = |a: &str, b: &[&str]| (a.to_string(), b.iter().map(|b| b.to_string()).collect());
    let found = circles(&BTreeMap::from([edge("a", &["b"]), edge("b", &["c"]), edge("c", &["a", "d"]), edge("d", &[])]));
    assert_eq!(found, [BTreeSet::from(["a", "b", "c"].map(String::from))]);
}

#[test]
fn modules_go_round_in_no_other_circles_than_those_known() {
    let mut used = BTreeSet::new();
    for name in LINE {
        let folder = crates().join(name).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, code) in &files {
            let first = path.strip_prefix(&folder).expect("below").components().next().expect("a name").as_os_str().to_string_lossy();
            let module = first.trim_end_matches(".rs").to_string();
            if !["lib", "main"].contains(&module.as_str()) {
                edges.entry(module.clone()).or_default().extend(after(code, "crate::").into_iter().filter(|m| *m != module));
            }
        }
        let modules: BTreeSet<String> = edges.keys().cloned().collect();
        edges.values_mut().for_each(|e| e.retain(|m| modules.contains(m)));
        for circle in circles(&edges) {
            let known = KNOWN.iter().position(|(c, list, _)| *c == name && circle.iter().all(|m| list.contains(&m.as_str())));
            let Some(known) = known else { panic!("`{name}` has a new circle of modules: {circle:?}") };
            used.insert(known);
        }
    }
    let gone: Vec<_> = (0..KNOWN.len()).filter(|k| !used.contains(k)).map(|k| KNOWN[k]).collect();
    assert!(gone.is_empty(), "cut, and to be taken from the list: {gone:?}");
}

#[test]
fn every_file_of_tests_is_part_of_a_program() {
    let mut lost = Vec::new();
    for package in LINE.map(|name| crates().join(name)).into_iter().chain([crates().join("../benches")]) {
        let manifest = std::fs::read_to_string(package.join("Cargo.toml")).expect("a manifest");
        let Ok(all) = std::fs::read_to_string(package.join("tests/all.rs")) else {
            assert!(!manifest.contains("autotests = false"), "{}: no program of tests", package.display());
            continue;
        };
        for entry in std::fs::read_dir(package.join("tests")).expect("tests").flatten() {
            let path = entry.path();
            let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or_default().to_string();
            let source = path.extension().is_some_and(|e| e == "rs") || path.join("mod.rs").exists() || path.join("main.rs").exists();
            let known =
                all.lines().any(|line| line == format!("mod {name};")) || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            if source && !known {
                lost.push(path);
            }
        }
    }
    assert!(lost.is_empty(), "neither in `tests/all.rs` nor a program of their own: {lost:?}");
}
