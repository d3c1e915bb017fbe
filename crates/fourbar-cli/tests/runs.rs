//! Stopped, killed and continued runs, and their results.

use crate::common;

use common::{folder, fourbar, interrupt, json, start, wait_for_rows, whole};

#[test]
fn a_killed_run_leaves_a_readable_prefix() {
    let f = folder("killed");
    let mut child = start(&f, &["kinematics", "fourbar", "--t-end", "10000", "--output-step", "1 ms", "--out", "r"]);
    wait_for_rows(&f.join("r"));
    child.kill().expect("killed");
    let _ = child.wait();
    let table = fourbar_io::results::read_table(&f.join("r")).expect("readable");
    let t = table.column("t").expect("the time");
    assert!(t.len() > 18 && t.windows(2).all(|w| w[1] > w[0]));
    assert!(!f.join("r/summary.json").exists());
}

#[test]
fn ctrl_c_ends_cleanly_with_exit_code_130() {
    let f = folder("interrupted");
    let child = start(&f, &["kinematics", "fourbar", "--t-end", "10000", "--output-step", "1 ms", "--out", "r", "--columns", "P"]);
    wait_for_rows(&f.join("r"));
    interrupt(&child);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", whole(&output));
    let text = std::fs::read_to_string(f.join("r/trajectory.csv")).expect("the trajectory");
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(f.join("r/summary.json")).expect("the summary")).expect("JSON");
    assert!(text.ends_with('\n'));
    assert_eq!(summary["rows"].as_u64(), Some(text.lines().count() as u64 - 1));
    assert_eq!((summary["interrupted"].as_bool(), summary["complete"].as_bool()), (Some(true), Some(false)));
    // A kinematic run continues with the settings of its folder to another end time.
    let end = format!("{} ms", text.lines().count() + 500);
    let resumed = fourbar(&f, &["run", "fourbar", "--resume", "r", "--t-end", &end]);
    assert_eq!(resumed.status.code(), Some(0), "{}", whole(&resumed));
    let direct = fourbar(&f, &["kinematics", "fourbar", "--t-end", &end, "--output-step", "1 ms", "--out", "d", "--columns", "P"]);
    assert_eq!(direct.status.code(), Some(0));
    assert_eq!(std::fs::read(f.join("r/trajectory.csv")).ok(), std::fs::read(f.join("d/trajectory.csv")).ok());
}

/// Stops a dynamic run, continues it, and compares the file byte by byte with that of an uninterrupted run.
fn resumed_equals_uninterrupted(name: &str, model: &str, more: &[&str]) {
    let f = folder(name);
    let mut arguments = vec!["run", model, "--t-end", "60", "--output-step", "1 ms"];
    arguments.extend(more);
    let child = start(&f, &[&arguments[..], &["--out", "stopped"]].concat());
    wait_for_rows(&f.join("stopped"));
    interrupt(&child);
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(130), "{}", whole(&output));
    let resumed = fourbar(&f, &["run", model, "--resume", "stopped"]);
    assert_eq!(resumed.status.code(), Some(0), "{}", whole(&resumed));
    let direct = fourbar(&f, &[&arguments[..], &["--out", "direct"]].concat());
    assert_eq!(direct.status.code(), Some(0), "{}", whole(&direct));
    let read = |folder: &str| std::fs::read(f.join(folder).join("trajectory.csv")).expect("the trajectory");
    assert!(read("stopped") == read("direct"), "the trajectories differ");
    let summary = |folder: &str| {
        let text = std::fs::read_to_string(f.join(folder).join("summary.json")).expect("the summary");
        let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        value["wall_time"] = 0.into();
        value
    };
    assert_eq!(summary("stopped"), summary("direct"));
    assert!(!f.join("stopped/checkpoint.json").exists());
}

#[test]
fn a_resumed_adaptive_run_equals_an_uninterrupted_one() {
    resumed_equals_uninterrupted("resumed", "ra_double_pendulum", &["--columns", "*.r.*", "energy"]);
}

#[test]
fn a_resumed_run_with_fixed_steps_equals_an_uninterrupted_one() {
    resumed_equals_uninterrupted("resumed_fixed", "a04_bricard", &["--step", "1 ms", "--columns", "*.angle", "energy"]);
}

/// Notes from before the interruption, about singular positions and row selections, stay in the summary.
#[test]
fn a_resumed_run_keeps_the_notes_of_its_first_part() {
    resumed_equals_uninterrupted("resumed_notes", "a02_n_fourbar_N2", &["--formulation", "natural", "--columns", "energy"]);
}

#[test]
fn a_changed_file_is_not_resumed() {
    let f = folder("changed");
    let child = start(&f, &["kinematics", "fourbar", "--t-end", "10000", "--output-step", "1 ms", "--out", "r"]);
    wait_for_rows(&f.join("r"));
    interrupt(&child);
    let _ = child.wait_with_output();
    let output = fourbar(&f, &["run", "hoeken", "--resume", "r"]);
    assert_eq!(output.status.code(), Some(2), "{}", whole(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("U009"));
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let f = folder("same");
    for out in ["a", "b"] {
        assert_eq!(fourbar(&f, &["run", "a04_bricard", "--t-end", "0.5", "--out", out]).status.code(), Some(0));
    }
    assert_eq!(std::fs::read(f.join("a/trajectory.csv")).ok(), std::fs::read(f.join("b/trajectory.csv")).ok());
}

#[test]
fn every_shipped_model_passes_check() {
    let f = folder("shipped");
    for e in fourbar_io::examples::examples() {
        let output = fourbar(&f, &["check", e.name, "--json"]);
        let object = json(&output);
        assert_eq!(output.status.code(), Some(0), "{}: {object:#}", e.name);
        assert_eq!(
            (object["start"]["assembles"].as_bool(), object["redundancy"]["unexplained"].as_u64()),
            (Some(true), Some(0)),
            "{}: {object:#}",
            e.name
        );
        let words = fourbar(&f, &["check", e.name]);
        assert!(String::from_utf8_lossy(&words.stdout).lines().all(|l| l.chars().count() <= 100), "{}", whole(&words));
    }
}

#[test]
fn threads_that_are_not_used_are_told() {
    let f = folder("threads");
    for (model, formulation, threads, why) in [
        ("ra_double_pendulum", "ra", "2", Some("`ra` uses one")),
        ("dca_five_bar", "dca", "2", Some("below 512 bodies")),
        ("dca_five_bar", "dca", "1", None),
    ] {
        let output = fourbar(&f, &["run", model, "--formulation", formulation, "--threads", threads, "--t-end", "0.1"]);
        assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
        let text = whole(&output);
        assert_eq!(text.contains("W301"), why.is_some(), "{text}");
        assert!(why.is_none_or(|w| text.contains(w)), "{text}");
    }
}
