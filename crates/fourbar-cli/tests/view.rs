//! Pages of the command: of mechanisms, of results, of several results, and errors.

use crate::common;

use common::{folder, fourbar, fourbar_with, json};
use serde_json::Value;
use std::path::Path;

/// The data inside a page.
fn data(page: &Path) -> Value {
    let html = std::fs::read_to_string(page).expect("the page");
    let head = "id=\"fourbar-data\">";
    let from = html.find(head).expect("a data block") + head.len();
    let to = from + html[from..].find("</script>").expect("its end");
    serde_json::from_str(&html[from..to]).expect("one object")
}

/// Number of times of a result: equidistant ones have a count, others are in base64 with eight bytes each.
fn samples(data: &Value, result: usize) -> u64 {
    let times = &data["results"][result]["times"][0];
    let letters = || times["data"].as_str().map_or(0, |t| t.trim_end_matches('=').len() as u64);
    times["count"].as_u64().or(times.as_array().map(|t| t.len() as u64)).unwrap_or_else(|| letters() * 6 / 64)
}

#[test]
fn a_mechanism_is_run_for_its_page() {
    let f = folder("view-model");
    let out = fourbar(&f, &["view", "jansen_leg", "--no-open", "--json", "--t-end", "0.5", "--output-step", "10 ms"]);
    assert_eq!(out.status.code(), Some(0));
    let told = json(&out);
    assert_eq!(
        (told["page"].as_str(), told["t_end"].as_f64(), told["opened"].as_bool()),
        (Some("jansen_leg.html"), Some(0.5), Some(false))
    );
    let page = data(&f.join("jansen_leg.html"));
    assert_eq!(samples(&page, 0), 51);
    assert_eq!(page["model"]["drives"][0]["joint"], "axle");
}

#[test]
fn results_are_shown_from_their_folders_with_their_parameters() {
    let f = folder("view-results");
    let model = "fourbar: 1\ntitle: swing\nparameters: {L: 1}\ngravity: [0, -9.81, 0]\nbodies:\n  bar: {mass: 1, inertia: [0, L^2/12, L^2/12], at: [L, 0, 0], com: [-L/2, 0, 0]}\njoints:\n  pin: {type: revolute, bodies: [ground, bar], at: [0, 0, 0], axis: [0, 0, 1]}\nstudy: {t_end: 0.5, output_step: 0.01}\n";
    std::fs::write(f.join("swing.yaml"), model).expect("written");
    let run = |arguments: &[&str]| assert_eq!(fourbar(&f, arguments).status.code(), Some(0), "{arguments:?}");
    run(&["run", "swing.yaml", "--out", "a", "--set", "L=2", "--view"]);
    run(&["run", "swing.yaml", "--out", "b", "--set", "L=2", "--integrator", "bdf2"]);
    let alone = data(&f.join("a/page.html"));
    // The mechanism file may be missing: the result has a copy.
    std::fs::remove_file(f.join("swing.yaml")).expect("removed");
    run(&["view", "a", "--no-open", "-o", "again.html"]);
    let again = data(&f.join("again.html"));
    assert_eq!(again["model"]["bodies"][0]["com"], serde_json::json!([-1.0, 0.0, 0.0]));
    assert_eq!(again["model"], alone["model"]);
    assert_eq!(again["results"][0]["poses"], alone["results"][0]["poses"]);
    // Settings cannot change existing results.
    for settings in [&["--mode", "2"][..], &["--tol", "1e-4"], &["--set", "L=3"], &["--t-end", "0.1"]] {
        let output = fourbar(&f, &[&["view", "a", "--no-open", "-o", "other.html"], settings].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("error[U001]: settings of a run have no effect on results"), "{said}");
        assert!(!f.join("other.html").exists());
    }
    run(&["view", "a", "b/trajectory.csv", "--no-open"]);
    let both = data(&f.join("comparison.html"));
    assert_eq!((both["results"][0]["label"].as_str(), both["results"][1]["integrator"].as_str()), (Some("a"), Some("bdf2")));
    let names: Vec<&str> =
        both["results"][1]["difference"].as_array().expect("differences").iter().filter_map(|c| c["name"].as_str()).collect();
    assert!(names.contains(&"position") && names.contains(&"pin.angle") && names.contains(&"bar.r.x"), "{names:?}");
}

#[test]
fn what_cannot_be_shown_is_refused_with_its_code() {
    let f = folder("view-refused");
    let code = |arguments: &[&str]| {
        let out = fourbar(&f, arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        json(&out)["diagnostics"][0]["code"].as_str().map(String::from)
    };
    assert_eq!(fourbar(&f, &["run", "fourbar", "--out", "few", "--columns", "P.*"]).status.code(), Some(0));
    assert_eq!(code(&["view", "few", "--json"]).as_deref(), Some("U013"));
    std::fs::remove_file(f.join("few/model.yaml")).expect("removed");
    assert_eq!(code(&["view", "few", "--json"]).as_deref(), Some("U012"));
    assert_eq!(code(&["view", "fourbar", "jansen_leg", "--json"]).as_deref(), Some("U013"));
    assert_eq!(code(&["view", "nothing.yaml", "--json"]).as_deref(), Some("M010"));
    assert_eq!(code(&["view", "fourbar", "-o", "few", "--json"]).as_deref(), Some("U003"));
    assert!(!f.join("comparison.html").exists());
}

#[test]
fn meshes_follow_the_result_and_standard_input_has_none() {
    let f = folder("view-mesh");
    std::fs::create_dir(f.join("parts")).expect("made");
    std::fs::write(f.join("parts/bar.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("written");
    let model = "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n  bar: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0], shape: [{type: mesh, file: parts/bar.obj}]}\njoints:\n  pin: {type: revolute, bodies: [ground, bar], at: [0, 0, 0], axis: [0, 0, 1]}\nstudy: {t_end: 0.1, output_step: 0.01}\n";
    std::fs::write(f.join("m.yaml"), model).expect("written");
    assert_eq!(fourbar(&f, &["run", "m.yaml", "--out", "r"]).status.code(), Some(0));
    std::fs::remove_dir_all(f.join("parts")).expect("removed");
    assert_eq!(fourbar(&f, &["view", "r", "--no-open"]).status.code(), Some(0));
    assert_eq!(data(&f.join("r/page.html"))["model"]["bodies"][0]["shapes"][0]["type"], "mesh");
    let out = fourbar_with(&f, &["view", "-", "--no-open", "--json"], model.as_bytes());
    assert_eq!((out.status.code(), json(&out)["diagnostics"][0]["code"].as_str()), (Some(0), Some("W080")));
}

/// A live page contains its file and the engine, and its policy permits compiling it; other pages have neither.
#[test]
fn live_pages_carry_file_and_engine() {
    let f = folder("view-live");
    let model = "fourbar: 1\ntitle: '<b>swing</b>'\nparameters: {L: 1}\ngravity: [0, -9.81, 0]\nbodies:\n  bar: {mass: 1, inertia: [0, L^2/12, L^2/12], at: [L, 0, 0], com: [-L/2, 0, 0]}\njoints:\n  pin: {type: revolute, bodies: [ground, bar], at: [0, 0, 0], axis: [0, 0, 1]}\nstudy: {t_end: 0.2, output_step: 0.01}\n";
    std::fs::write(f.join("swing.yaml"), model).expect("written");
    let run = |arguments: &[&str], code: i32| {
        let output = fourbar(&f, arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        said
    };
    run(&["view", "swing.yaml", "--live", "--no-open", "--set", "L=2", "-o", "live.html"], 0);
    run(&["view", "swing.yaml", "--no-open", "-o", "plain.html"], 0);
    let live = data(&f.join("live.html"));
    assert_eq!(live["live"]["text"], model);
    assert_eq!((&live["live"]["file"], &live["live"]["set"]), (&Value::from("swing.yaml"), &serde_json::json!([["L", "2"]])));
    assert!(live["live"]["gallery"].is_null());
    assert_eq!(live["live"]["study"], serde_json::json!({}));
    // Settings of the run stay in force in the page.
    run(&["view", "swing.yaml", "--live", "--no-open", "--t-end", "0.4", "--tol", "1e-8", "-o", "long.html"], 0);
    assert_eq!(data(&f.join("long.html"))["live"]["study"], serde_json::json!({"t_end": 0.4, "tol": 1e-8}));
    let text = |name: &str| std::fs::read_to_string(f.join(name)).expect("a page");
    let block = |html: &str| {
        let from = html.find("id=\"fourbar-engine\">").expect("its block") + 20;
        html[from..].find("</script>").expect("its end")
    };
    let (live, plain) = (text("live.html"), text("plain.html"));
    assert!(block(&live) > 500_000 && block(&plain) == 0);
    assert!(live.contains("worker-src blob:; script-src 'wasm-unsafe-eval' 'sha256-") && !plain.contains("wasm-unsafe-eval"));
    assert!(!live.contains("<b>swing") && live.len() < 5_000_000);
    // Results have no file to edit, and a live page holds one mechanism.
    run(&["run", "swing.yaml", "--out", "a"], 0);
    assert!(
        run(&["view", "a", "--live", "--no-open", "-o", "other.html"], 2).contains("error[U001]: a live page shows one mechanism file")
    );
    run(&["playground", "--no-open", "-o", "play.html"], 0);
    let play = data(&f.join("play.html"));
    let gallery = play["live"]["gallery"].as_array().expect("models");
    assert_eq!(gallery.len(), fourbar_io::examples::examples().len());
    assert!(gallery[0]["name"] == "fourbar" && gallery[0]["group"] == "First steps");
    assert!(gallery.iter().any(|g| g["name"] == "stewart_platform" && g["text"].as_str().is_some_and(|t| t.starts_with('#'))));
    std::fs::write(f.join("mine.html"), "mine").expect("written");
    assert!(run(&["playground", "--no-open", "-o", "mine.html"], 2).contains("U330"));
}
