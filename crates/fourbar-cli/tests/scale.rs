//! Large mechanisms in the command: verbs whose cost does not grow excessively, and files beyond the usual limits.

use crate::common;

use common::{folder, fourbar, json, whole};
use std::fmt::Write;

/// A ladder of `n` four-bars: 2 n + 1 links, three redundant rows per cell.
fn ladder(n: usize) -> String {
    let (mut bodies, mut joints) = (String::new(), String::new());
    for k in 0..=n {
        let _ = writeln!(
            bodies,
            "  crank{k}: {{mass: 1, inertia: [1e-3, 0.1, 0.1], at: [{k}, 0.5, 0], orientation: {{axis: [0, 0, 1], angle: 90 deg}}}}"
        );
        let _ = writeln!(joints, "  A{k}: {{type: revolute, bodies: [ground, crank{k}], at: [{k}, 0, 0], axis: [0, 0, 1]}}");
    }
    for k in 1..=n {
        let before = k - 1;
        let _ = writeln!(bodies, "  coupler{k}: {{mass: 1, inertia: [1e-3, 0.1, 0.1], at: [{before}.5, 1, 0]}}");
        let _ = writeln!(joints, "  B{k}: {{type: revolute, bodies: [crank{before}, coupler{k}], at: [{before}, 1, 0], axis: [0, 0, 1]}}");
        let _ = writeln!(joints, "  C{k}: {{type: revolute, bodies: [crank{k}, coupler{k}], at: [{k}, 1, 0], axis: [0, 0, 1]}}");
    }
    format!("fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n{bodies}joints:\n{joints}")
}

#[test]
fn a_ladder_of_four_thousand_links_is_judged_in_full() {
    let f = folder("scale_ladder");
    std::fs::write(f.join("ladder.yaml"), ladder(2000)).expect("the file");
    let output = fourbar(&f, &["check", "ladder.yaml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    let object = json(&output);
    assert_eq!(object["mobility"]["by_rank"], 1, "{}", object["mobility"]);
}

/// A run without selected reactions writes the same values as with them.
#[test]
fn columns_that_are_left_out_change_no_others() {
    let f = folder("scale_columns");
    std::fs::write(f.join("ladder.yaml"), ladder(60)).expect("the file");
    let run = |out: &str, columns: &[&str]| {
        let mut arguments = vec!["run", "ladder.yaml", "--t-end", "0.02", "--output-step", "0.01", "--out", out];
        columns.iter().for_each(|c| arguments.extend(["--columns", c]));
        let output = fourbar(&f, &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
        std::fs::read_to_string(f.join(out).join("trajectory.csv")).expect("rows")
    };
    let few = run("few", &["energy.*", "crank0.*"]);
    let with_loads = run("with", &["energy.*", "crank0.*", "A0.force.x"]);
    let cut = |text: &str, name: &str| -> Vec<Vec<String>> {
        let mut lines = text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(',').map(String::from).collect::<Vec<_>>());
        let head = lines.next().expect("names");
        let gone = head.iter().position(|h| h.starts_with(name));
        lines.map(|l| l.into_iter().enumerate().filter(|(k, _)| Some(*k) != gone).map(|(_, x)| x).collect()).collect()
    };
    assert_eq!(cut(&few, "A0.force.x"), cut(&with_loads, "A0.force.x"));
    let forces = with_loads.lines().filter(|l| !l.starts_with('#')).count();
    assert!(forces >= 3, "{with_loads}");
}

#[test]
fn files_beyond_the_usual_limits_are_read_where_they_are_asked_for() {
    let f = folder("scale_large");
    // A comment makes the file larger than 16 MB.
    let text = format!("{}#{}\n", ladder(2), "x".repeat(17 << 20));
    std::fs::write(f.join("large.yaml"), text).expect("the file");
    let refused = fourbar(&f, &["check", "large.yaml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", whole(&refused));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--large"), "{}", whole(&refused));
    let read = fourbar(&f, &["check", "large.yaml", "--large"]);
    assert_eq!(read.status.code(), Some(0), "{}", whole(&read));
    // More values than the usual limit.
    let many = format!("{}start_of_nothing: [{}]\n", ladder(2), "1, ".repeat(3_000_001));
    std::fs::write(f.join("many.yaml"), many).expect("the file");
    let codes = |arguments: &[&str]| -> Vec<String> {
        let object = json(&fourbar(&f, arguments));
        object["diagnostics"].as_array().into_iter().flatten().filter_map(|d| d["code"].as_str().map(String::from)).collect()
    };
    assert!(codes(&["check", "many.yaml", "--json"]).contains(&"M007".into()));
    let large = codes(&["check", "many.yaml", "--large", "--json"]);
    assert!(!large.contains(&"M007".into()) && !large.is_empty(), "{large:?}");
}
