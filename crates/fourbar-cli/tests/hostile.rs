//! Hostile files: each ends quickly with exit code 2 and a diagnostic, without a panic.

use crate::common;

use common::{folder, fourbar, whole};

/// Checks a file and returns the codes of its errors.
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

/// Texts that would control a terminal or mislead its user: escape sequences, window title, clipboard, C1 controls, bidirectional marks,
/// zero-width characters.
const TRICKS: &str = "A\\e[31mRED\\e]0;pwn\\a \\u202eabc\\u200b\\u2066 \\x9b31m\\u00ad\\ufeff\\U000e0041";

fn is_plain(output: &std::process::Output) -> bool {
    let text = whole(output);
    !text.chars().any(|c| c != '\n' && fourbar_io::terminal::is_hidden(c))
}

#[test]
fn nothing_that_is_printed_can_trick_a_terminal() {
    let f = folder("hostile_terminal");
    let text = format!(
        "fourbar: 1\ntitle: \"{TRICKS}\"\ngravity: [0, 0, -9.81]\nbodies: {{rod: {{mass: 1, inertia: [0, 0.1, 0.1], at: [0.5, 0, 0]}}}}\njoints: {{pin: {{type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}}}\nstudy: {{t_end: 0.1}}\n"
    );
    let name = "a\u{1b}[31m\u{202e}b.yaml";
    std::fs::write(f.join(name), text).expect("the file");
    let out = "o\u{1b}]0;x\u{7}\u{200b}";
    let csv = "x\u{9b}2J\u{202e}.csv";
    std::fs::write(f.join(csv), "t,\u{1b}[31mred\u{1b}]52;c;aGVsbG8=\u{7}.x,a\u{202e}b\n0,1,2\n1,2,3\n").expect("the file");
    for arguments in [
        &["check", name][..],
        &["check", name, "--all"],
        &["assemble", name],
        &["run", name, "--out", out],
        &["run", name, "--out", out, "--view", "--no-open"],
        &["verify", name, "--t-end", "0.05"],
        &["view", out, "--no-open"],
        &["plot", csv],
        &["plot", csv, "*"],
        &["plot", csv, "nothing\u{1b}[2J"],
        &["plot", csv, "*", "-o", "p\u{1b}[31m.svg"],
        &["convert", name, "-", "--to", "fourbar"],
        &["convert", name, "c\u{1b}c.yaml", "--to", "fourbar"],
        &["new", "n\u{1b}[2J.yaml"],
        &["examples", "four\u{1b}[2Jbar"],
        &["explain", "U0\u{1b}[2J"],
        &["check", "no\u{1b}[2J\u{202e}.yaml"],
        &["run", name, "--formulation", "\u{1b}[2J"],
        &["run", name, "--set", "\u{1b}[2J=1"],
        &["run", name, "--t-end", "\u{1b}[2J"],
        &["run", name, "--\u{1b}[2J"],
        &["\u{1b}[2J"],
    ] {
        for json in [&[][..], &["--json"]] {
            let all = [arguments, json].concat();
            let output = fourbar(&f, &all);
            assert!(is_plain(&output), "{all:?}: {:?}", whole(&output));
        }
    }
    // Strings in JSON read back unchanged, and a converted file keeps its title.
    let title = common::json(&fourbar(&f, &["check", name, "--json"]))["title"].as_str().map(String::from).expect("a title");
    assert!(title.contains('\u{1b}') && title.contains('\u{202e}') && title.contains('\u{e0041}'), "{title:?}");
    let again = common::json(&fourbar(&f, &["check", "c\u{1b}c.yaml", "--json"]))["title"].as_str().map(String::from);
    assert_eq!(again, Some(title));
}

#[test]
fn errors_without_number_are_counted_after_fifty() {
    let f = folder("hostile_many");
    let lines: String = (0..3000).map(|k| format!("  b{k}: {{mass: -1, inertia: 0}}\n")).collect();
    std::fs::write(f.join("many.yaml"), format!("fourbar: 1\nbodies:\n{lines}")).expect("the file");
    let output = fourbar(&f, &["check", "many.yaml"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), told.matches("error[").count()), (Some(2), 50), "{}", told.len());
    assert!(told.contains("and 2950 more like these"), "{told}");
    let object = common::json(&fourbar(&f, &["check", "many.yaml", "--json"]));
    assert_eq!((object["diagnostics"].as_array().map(Vec::len), object["diagnostics_left_out"].as_u64()), (Some(50), Some(2950)));
}

#[test]
fn results_without_orientations_are_refused_by_name() {
    let f = folder("hostile_quaternion");
    assert_eq!(fourbar(&f, &["run", "fourbar", "--out", "r"]).status.code(), Some(0));
    let good = std::fs::read_to_string(f.join("r/trajectory.csv")).expect("rows");
    let names: Vec<&str> = good.lines().next().expect("a header").split(',').collect();
    let places: Vec<usize> = (0..4).filter_map(|k| names.iter().position(|n| *n == format!("coupler.p.{k}"))).collect();
    assert_eq!(places.len(), 4);
    for (value, from, code) in
        [("0", 1, 2), ("NaN", 1, 2), ("1e300", 1, 2), ("inf", 1, 2), ("0", 100, 0), ("-1e-200", 100, 0), ("nan", 2, 0)]
    {
        let spoilt = |(k, line): (usize, &str)| {
            let mut words: Vec<&str> = line.split(',').collect();
            if k >= from {
                places.iter().for_each(|&p| words[p] = value);
            }
            format!("{}\n", words.join(","))
        };
        std::fs::write(f.join("r/trajectory.csv"), good.lines().enumerate().map(spoilt).collect::<String>()).expect("written");
        let output = fourbar(&f, &["view", "r", "--no-open"]);
        assert_eq!(output.status.code(), Some(code), "{value} from {from}: {}", whole(&output));
        assert_eq!(code == 2, whole(&output).contains("no pose of `coupler`"), "{}", whole(&output));
    }
}

#[test]
fn a_plot_of_many_columns_is_soon_done_and_a_picture_without_columns_is_refused() {
    let f = folder("hostile_columns");
    let names: String = (0..40_000).map(|k| format!(",c{k}.x")).collect();
    std::fs::write(f.join("wide.csv"), format!("t{names}\n0{}\n1{}\n", ",1".repeat(40_000), ",2".repeat(40_000))).expect("the file");
    let start = std::time::Instant::now();
    assert!(whole(&fourbar(&f, &["plot", "wide.csv"])).contains("40001 columns, 2 rows"));
    assert_eq!(fourbar(&f, &["plot", "wide.csv", "*"]).status.code(), Some(2));
    // Takes a second on an idle machine and far longer on a busy one; quadratic time in the columns would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    let output = fourbar(&f, &["plot", "wide.csv", "-o", "x.svg"]);
    assert!(output.status.code() == Some(2) && whole(&output).contains("U334") && !f.join("x.svg").exists(), "{}", whole(&output));
}

#[test]
fn messages_are_short_whatever_the_numbers() {
    let f = folder("hostile_digits");
    std::fs::write(f.join("huge.yaml"), "fourbar: 1\nbodies: {a: {mass: 1e300, inertia: 0}}\nstudy: {t_end: -1e300}\n").expect("the file");
    let output = fourbar(&f, &["check", "huge.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(whole(&output).lines().all(|l| l.len() < 200), "{}", whole(&output));
}
