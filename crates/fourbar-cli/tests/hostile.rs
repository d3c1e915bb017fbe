//! Files that want to do harm: each ends with exit code 2 and a diagnostic, soon, without a panic.

mod common;

use common::{folder, fourbar, whole};

/// Checks a file and gives the codes of its errors.
fn codes(name: &str, text: &[u8]) -> Vec<String> {
    let f = folder(&format!("hostile_{name}"));
    std::fs::write(f.join("file.yaml"), text).expect("the file");
    let output = fourbar(&f, &["check", "file.yaml", "--json"]);
    assert_eq!(output.status.code(), Some(2), "{name}: {}", whole(&output));
    assert!(output.stderr.is_empty(), "{name}: {}", whole(&output));
    let object = common::json(&output);
    let list = object["diagnostics"].as_array().cloned().unwrap_or_default();
    list.iter().filter_map(|d| d["code"].as_str().map(String::from)).filter(|c| c.starts_with(['M', 'U'])).collect()
}

#[test]
fn hostile_files_end_with_a_code() {
    let mut bomb = String::from("fourbar: 1\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for k in 1..12 {
        bomb += &format!("a{k}: &a{k} [{}]\n", vec![format!("*a{}", k - 1); 9].join(", "));
    }
    let nested = format!("fourbar: 1\nbodies: {}", "[".repeat(1_000_000));
    let maps = format!("fourbar: 1\nbodies: {}", "{a: ".repeat(300_000));
    let deep = format!(
        "fourbar: 1\nparameters: {{x: \"{}1{}\"}}\nbodies: {{a: {{mass: x, inertia: 0}}}}\n",
        "(".repeat(200_000),
        ")".repeat(200_000)
    );
    let sum = format!("fourbar: 1\nparameters: {{x: 1{}}}\nbodies: {{a: {{mass: x, inertia: 0}}}}\n", "+1".repeat(500_000));
    let cycle = "fourbar: 1\nparameters: {a: b, b: c, c: a}\nbodies: {m: {mass: a, inertia: 0}}\n".to_string();
    let escape = "fourbar: 1\nbodies: {m: {mass: 1, inertia: 0, shape: [{type: mesh, file: ../../etc/passwd}]}}\n".to_string();
    let infinite = "fourbar: 1\nbodies: {m: {mass: .inf, inertia: 0}}\n".to_string();
    let zero = "fourbar: 1\nbodies: {m: {mass: 1/0, inertia: 0}}\n".to_string();
    for (name, text) in [
        ("bomb", bomb),
        ("nested", nested),
        ("maps", maps),
        ("deep", deep),
        ("sum", sum),
        ("cycle", cycle),
        ("escape", escape),
        ("infinite", infinite),
        ("zero", zero),
        ("empty", String::new()),
        ("control", "fourbar: 1\ntitle: \"\\e[2J\"\nbodies: {\u{1b}[31m: 1}\n".into()),
    ] {
        assert!(!codes(name, text.as_bytes()).is_empty(), "{name}");
    }
}

#[test]
fn binary_and_large_files_are_refused() {
    assert!(!codes("binary", &[0, 159, 146, 150, 255, 0, 1]).is_empty());
    assert!(!codes("large", &vec![b'#'; 50_000_000]).is_empty());
}

#[test]
fn a_folder_is_not_a_file() {
    let f = folder("hostile_folder");
    let output = fourbar(&f, &["check", "."]);
    assert_eq!(output.status.code(), Some(2), "{}", whole(&output));
}
