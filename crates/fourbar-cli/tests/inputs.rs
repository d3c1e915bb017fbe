//! Inputs on the command line: values, tables, and their errors.

use crate::common;

use common::{folder, fourbar, interrupt, json, start, wait_for_rows, whole};

const MODEL: &str = "dc_motor_slider_crank";

fn column(csv: &str, name: &str) -> Vec<f64> {
    let mut lines = csv.lines();
    let k = lines.next().and_then(|head| head.split(',').position(|c| c == name)).expect("the column");
    lines.map(|l| l.split(',').nth(k).and_then(|x| x.parse().ok()).expect("a number")).collect()
}

#[test]
fn values_and_tables_reach_the_run_and_its_summary() {
    let f = folder("inputs_run");
    std::fs::write(f.join("volts.csv"), "t, voltage\n0, 6\n0.0512, -6\n0.1, 9\n").expect("the file");
    let run = |input: &str, out: &str| {
        let output = fourbar(&f, &["run", MODEL, "--t-end", "0.2", "--input", input, "--out", out]);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let summary = std::fs::read_to_string(f.join(out).join("summary.json")).expect("the summary");
        let rows = std::fs::read_to_string(f.join(out).join("trajectory.csv")).expect("the rows");
        (serde_json::from_str::<serde_json::Value>(&summary).expect("JSON"), rows)
    };
    let (summary, rows) = run("voltage=24 V", "value");
    assert_eq!(summary["inputs"]["voltage"], 24.0);
    assert_eq!(summary["units"]["current"], "A");
    assert!(column(&rows, "voltage").iter().all(|v| *v == 24.0));
    assert!(column(&rows, "current").iter().any(|i| *i > 5.0));
    let (summary, rows) = run("voltage=volts.csv", "held");
    assert_eq!((&summary["inputs"]["voltage"]["points"], &summary["inputs"]["voltage"]["between"]), (&3.into(), &"hold".into()));
    let (t, v) = (column(&rows, "t"), column(&rows, "voltage"));
    for (t, v) in t.iter().zip(&v) {
        assert_eq!(
            *v,
            if *t < 0.0512 {
                6.0
            } else if *t < 0.1 {
                -6.0
            } else {
                9.0
            },
            "t = {t}"
        );
    }
    let (summary, rows) = run("voltage=volts.csv:linear", "line");
    assert_eq!(summary["inputs"]["voltage"]["between"], "linear");
    let (t, v) = (column(&rows, "t"), column(&rows, "voltage"));
    let middle = t.iter().position(|t| *t == 0.025).expect("an output time");
    assert!((v[middle] - (6.0 - 12.0 * 0.025 / 0.0512)).abs() < 1e-9, "{}", v[middle]);
    assert_eq!(v.last(), Some(&9.0));
}

#[test]
fn wrong_inputs_are_refused_by_name() {
    let f = folder("inputs_wrong");
    for (file, text) in [
        ("back.csv", "0, 1\n0.2, 2\n0.1, 3\n"),
        ("nan.csv", "0, 1\n0.1, nan\n"),
        ("one.csv", "0, 1\n"),
        ("words.csv", "0, 1\n0.1, high\n"),
        ("empty.csv", ""),
        ("large.csv", "0, 1\n0.1, 30\n"),
        ("units.csv", "0 s, 1 V\n0.1, 3\n"),
    ] {
        std::fs::write(f.join(file), text).expect("the file");
    }
    for (input, code, word) in [
        ("voltge=3", "U322", "voltage"),
        ("voltage=25", "U320", "range"),
        ("voltage=inf", "U325", "number"),
        ("voltage=3 kg", "U325", "mass"),
        ("voltage=high", "U325", "number"),
        ("voltage=back.csv", "U321", "line 3"),
        ("voltage=nan.csv", "U321", "line 2"),
        ("voltage=one.csv:linear", "U321", "2 points"),
        ("voltage=words.csv", "U321", "line 2"),
        ("voltage=empty.csv", "U321", "1 points"),
        ("voltage=none.csv", "U321", "none.csv"),
        ("voltage=large.csv", "U320", "range"),
        ("voltage=units.csv", "U321", "0 s, 1 V"),
        ("voltage=24.00000001", "U320", "24.00000001"),
    ] {
        for verb in ["run", "verify", "view"] {
            let output = fourbar(&f, &[verb, MODEL, "--t-end", "0.01", "--input", input, "--json"]);
            let said = json(&output);
            let all = said.to_string();
            assert_ne!(output.status.code(), Some(0), "{verb} {input}");
            assert!(all.contains(code) && all.contains(word), "{verb} {input}: {all}");
        }
    }
}

#[test]
fn verification_compares_states_under_an_input_that_changes() {
    let f = folder("inputs_verify");
    std::fs::write(f.join("volts.csv"), "0, 6\n0.0123, -6\n0.03, 9\n").expect("the file");
    let words = ["verify", MODEL, "--t-end", "0.05", "--input", "voltage=volts.csv", "--patience", "60", "--json"];
    let output = fourbar(&f, &words);
    let said = json(&output);
    assert_eq!(said["word"], "AGREED", "{said:#}");
    assert_eq!(said["rows"][0]["difference"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_run_with_a_table_is_resumed_as_if_nothing_had_happened() {
    let f = folder("inputs_resume");
    // A change every 7.3 ms during the whole run.
    let points: Vec<String> = (0..10_000).map(|k| format!("{:.4}, {}", 0.0073 * f64::from(k), f64::from(k % 7) - 3.0)).collect();
    std::fs::write(f.join("volts.csv"), points.join("\n")).expect("the file");
    let words = ["run", MODEL, "--t-end", "60", "--output-step", "1 ms", "--input", "voltage=volts.csv"];
    let child = start(&f, &[&words[..], &["--out", "stopped"]].concat());
    wait_for_rows(&f.join("stopped"));
    interrupt(&child);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", whole(&output));
    // The table is stored in the checkpoint: the file is not read again.
    std::fs::remove_file(f.join("volts.csv")).expect("it was there");
    let rows = std::fs::read_to_string(f.join("stopped/trajectory.csv")).expect("rows").lines().count();
    let end = format!("{}", (rows + 100) as f64 * 1e-3);
    let resumed = fourbar(&f, &["run", MODEL, "--resume", "stopped", "--t-end", &end]);
    assert_eq!(resumed.status.code(), Some(0), "{}", whole(&resumed));
    std::fs::write(f.join("volts.csv"), points.join("\n")).expect("the file");
    let direct = fourbar(&f, &["run", MODEL, "--t-end", &end, "--output-step", "1 ms", "--input", "voltage=volts.csv", "--out", "direct"]);
    assert_eq!(direct.status.code(), Some(0), "{}", whole(&direct));
    let read = |folder: &str| std::fs::read_to_string(f.join(folder).join("trajectory.csv")).expect("the trajectory");
    let (a, b) = (column(&read("stopped"), "voltage"), column(&read("direct"), "voltage"));
    assert!(a.len() == b.len() && a == b, "the inputs differ");
}

#[test]
fn tables_of_spreadsheets_are_read_and_inputs_are_given_once() {
    let f = folder("inputs_marked");
    std::fs::write(f.join("marked.csv"), "\u{feff}time;voltage\n0;12\n0.005;6\n").expect("the file");
    let output = fourbar(&f, &["run", MODEL, "--t-end", "0.01", "--input", "voltage=marked.csv", "--out", "marked"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = std::fs::read_to_string(f.join("marked/trajectory.csv")).expect("the rows");
    let v = column(&rows, "voltage");
    assert_eq!((v.first(), v.last()), (Some(&12.0), Some(&6.0)));
    let output = fourbar(&f, &["run", MODEL, "--t-end", "0.01", "--input", "voltage=3", "--input", "voltage=4", "--json"]);
    assert!(output.status.code() == Some(2) && json(&output).to_string().contains("given twice"), "{output:?}");
}
