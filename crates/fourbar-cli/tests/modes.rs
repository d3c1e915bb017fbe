//! Assembly modes by number: every verb that assembles a mechanism has the same modes, reports them, and rejects others with a list.

use crate::common;

use common::{command, folder, fourbar, interrupt, json, wait_for_rows, whole};
use insta::assert_snapshot;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// The first row of a run: values of all columns by name.
fn first_row(folder: &Path) -> impl Fn(&str) -> f64 + use<> {
    let table = fourbar_io::results::read_table(folder).expect("a result");
    move |name| table.column(name).unwrap_or_else(|| panic!("no column {name}"))[0]
}

fn summary(folder: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join("summary.json")).expect("the summary")).expect("JSON")
}

#[test]
fn run_and_kinematics_start_in_the_mode_that_assemble_shows() {
    let f = folder("mode-runs");
    for (verb, model, modes) in [("kinematics", "fourbar", 2), ("run", "dca_five_bar", 2), ("run", "fourbar_3d", 2)] {
        for k in 1..=modes {
            let k = k.to_string();
            let start = json(&fourbar(&f, &["assemble", model, "--mode", &k, "--json"]));
            assert_eq!(start["mode"].to_string(), k, "{start:#}");
            let arguments = [verb, model, "--mode", &k, "--t-end", "0.02", "--output-step", "0.01", "--out", &format!("{model}-{k}")];
            let output = fourbar(&f, &arguments);
            assert_eq!(output.status.code(), Some(0), "{model} {}", whole(&output));
            assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("assembly mode {k}")), "{}", whole(&output));
            assert_eq!(summary(&f.join(format!("{model}-{k}")))["mode"].to_string(), k);
            let row = first_row(&f.join(format!("{model}-{k}")));
            for (body, pose) in start["start"].as_object().expect("bodies") {
                for (axis, x) in ["x", "y", "z"].iter().zip(pose["r"].as_array().expect("a place")) {
                    let (run, shown) = (row(&format!("{body}.r.{axis}")), x.as_f64().expect("a number"));
                    assert!((run - shown).abs() < 1e-9, "{model}, mode {k}, {body}.r.{axis}: {run} for {shown}");
                }
            }
        }
    }
    // The modes differ, and a run without a number reports no mode.
    let [a, b] = ["fourbar-1", "fourbar-2"].map(|d| first_row(&f.join(d)));
    assert!((a("rocker.r.y") - b("rocker.r.y")).abs() > 1e-2);
    let plain = json(&fourbar(&f, &["run", "fourbar", "--t-end", "0.02", "--json"]));
    assert_eq!(plain["mode"], Value::Null);
}

#[test]
fn a_mode_is_told_and_one_that_is_not_there_is_refused_with_the_list() {
    let f = folder("mode-told");
    let told = fourbar(&f, &["kinematics", "fourbar", "--mode", "2", "--t-end", "0.5"]);
    assert_snapshot!("kinematics_in_mode_2", whole(&told));
    for verb in ["assemble", "run", "kinematics", "verify", "view"] {
        let output = fourbar(&f, &[verb, "fourbar", "--mode", "3"]);
        assert_eq!(output.status.code(), Some(2), "{verb}: {}", whole(&output));
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("error[U014]: there is no assembly mode 3: 2 were found: 1: as drawn; 2:")
        );
    }
    assert_snapshot!("a_mode_that_is_not_there", whole(&fourbar(&f, &["run", "fourbar", "--mode", "3"])));
    let tree = fourbar(&f, &["run", "ra_double_pendulum", "--mode", "2"]);
    assert!(String::from_utf8_lossy(&tree.stderr).contains("no loops"), "{}", whole(&tree));
    assert_eq!(fourbar(&f, &["run", "fourbar", "--mode", "0"]).status.code(), Some(2));
}

#[test]
fn verify_and_view_take_a_mode() {
    let f = folder("mode-verify");
    let object = json(&fourbar(&f, &["verify", "fourbar_3d", "--mode", "2", "--t-end", "0.05", "--formulations", "ra,lie,dca", "--json"]));
    assert_eq!((object["mode"].as_u64(), object["agree"].as_bool()), (Some(2), Some(true)), "{object:#}");
    let mut starts = Vec::new();
    for k in ["1", "2"] {
        let page = format!("{k}.html");
        let output = fourbar(&f, &["view", "fourbar", "--mode", k, "--t-end", "0.1", "--no-open", "-o", &page, "--json"]);
        let object = json(&output);
        assert_eq!(object["results"][0]["mode"].to_string(), k, "{object:#}");
        assert_eq!(object["results"][0]["label"], format!("fourbar, mode {k}"));
        starts.push(std::fs::read_to_string(f.join(&page)).expect("the page"));
    }
    assert!(starts[0] != starts[1]);
}

#[test]
fn a_resumed_run_keeps_its_mode() {
    let f = folder("mode-resumed");
    let settings = ["kinematics", "fourbar", "--mode", "2", "--output-step", "1 ms", "--columns", "rocker"];
    let mut child = command(&f, &[&settings[..], &["--t-end", "10000", "--out", "r"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    wait_for_rows(&f.join("r"));
    interrupt(&child);
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    // A little beyond the end of the stopped run.
    let checkpoint = std::fs::read_to_string(f.join("r/checkpoint.json")).expect("a checkpoint");
    let checkpoint: Value = serde_json::from_str(&checkpoint).expect("one object");
    let t_end = format!("{:.1}", checkpoint["t"].as_f64().expect("its time") + 0.3);
    let resumed = fourbar(&f, &["run", "fourbar", "--resume", "r", "--t-end", &t_end]);
    assert_eq!(resumed.status.code(), Some(0), "{}", whole(&resumed));
    assert_eq!(summary(&f.join("r"))["mode"], 2);
    let direct = fourbar(&f, &[&settings[..], &["--t-end", &t_end, "--out", "d"]].concat());
    assert_eq!(direct.status.code(), Some(0), "{}", whole(&direct));
    assert_eq!(std::fs::read(f.join("r/trajectory.csv")).ok(), std::fs::read(f.join("d/trajectory.csv")).ok());
    // The mode is part of the stored settings.
    assert_eq!(fourbar(&f, &["run", "fourbar", "--resume", "r", "--mode", "1"]).status.code(), Some(2));
}
