//! `inverse`, `report` and `sensitivities`: output, files and errors.

use crate::common;

use common::{folder, fourbar, json};
use serde_json::Value;

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or_else(|| panic!("no number: {v}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn motors_of_the_five_bar_robot() {
    let f = folder("inverse");
    let o = json(&fourbar(&f, &["inverse", "five_bar_robot", "--out", "out", "--json"]));
    // The peaks of the project's reference case.
    let peaks: Vec<f64> = o["motors"].as_array().into_iter().flatten().map(|m| number(&m["sizing"]["peak"])).collect();
    assert!((peaks[0] - 12.736744366619408).abs() < 1e-6 && (peaks[1] - 10.970302722229226).abs() < 1e-6, "{peaks:?}");
    assert!(number(&o["error"]) < 1e-9);
    // The result is a usual one: columns to plot, a page to view, a report.
    let csv = std::fs::read_to_string(f.join("out/trajectory.csv")).expect("rows");
    let head = csv.lines().next().expect("a head");
    for column in ["left.angle", "left.speed", "left.effort", "left.power", "T.x", "elbow_l.force.x"] {
        assert!(head.split(',').any(|c| c == column), "{column}");
    }
    assert_eq!(csv.lines().count(), 242);
    let plot = fourbar(&f, &["plot", "out", "left.effort"]);
    assert!(plot.status.success() && text(&plot.stdout).contains("left.effort [N*m]"), "{}", text(&plot.stderr));
    let view = fourbar(&f, &["view", "out", "--no-open"]);
    assert!(view.status.success(), "{}", text(&view.stderr));
    let r = json(&fourbar(&f, &["report", "out", "--window", "0.2", "--json"]));
    let left = &r["motors"][0];
    assert_eq!(left["name"], "left");
    assert!((number(&left["sizing"]["rms"]) - 5.626334028918701).abs() < 1e-6);
    assert!(number(&left["sizing"]["window_rms"]) > number(&left["sizing"]["rms"]));
    let reflected = number(&left["sizing"]["rotor"]["reflected"]);
    assert!((reflected - 0.04).abs() < 1e-12, "{reflected}");
    let page = std::fs::read_to_string(f.join("out/report.html")).expect("a page");
    assert!(page.contains("<svg") && page.contains("Bearing loads") && !page.contains("http://localhost") && !page.contains("<script"));
    // It may be written again, and does not replace other files.
    assert!(fourbar(&f, &["report", "out"]).status.success());
    std::fs::write(f.join("mine.html"), "mine").expect("a file");
    assert_eq!(fourbar(&f, &["report", "out", "-o", "mine.html"]).status.code(), Some(2));
}

#[test]
fn other_motors_other_paths_and_refusals() {
    let f = folder("inverse_more");
    let o = json(&fourbar(
        &f,
        &["inverse", "five_bar_robot", "--path", "pick", "--motors", "left,right,middle", "--output-step", "0.05", "--json"],
    ));
    let unique: Vec<bool> = o["motors"].as_array().into_iter().flatten().map(|m| m["unique"] == true).collect();
    assert_eq!(unique, [false; 3], "{o:#}");
    let forward = fourbar(&f, &["inverse", "five_bar_robot", "--t-end", "0.3", "--forward"]);
    assert!(forward.status.success() && text(&forward.stdout).contains("forward"), "{}", text(&forward.stderr));
    for (words, code, exit) in [
        (&["inverse", "five_bar_robot", "--path", "circel"][..], "U411", 2),
        (&["inverse", "five_bar_robot", "--motors", "nobody"], "U411", 2),
        (&["inverse", "ra_double_pendulum"], "U411", 2),
        (&["inverse", "five_bar_robot", "--set", "height=3"], "S420", 1),
        (&["inverse", "five_bar_robot", "--motors", "left"], "S421", 1),
        (&["sensitivities", "fourbar", "--of", "max(motor.efort)", "--to", "crank_length"], "U410", 2),
        (&["sensitivities", "fourbar", "--of", "motor.effort", "--to", "crank_length"], "U410", 2),
        (&["sensitivities", "fourbar", "--of", "last(t)", "--to", "crnk"], "U412", 2),
        (&["sensitivities", "fourbar", "--of", "modes.1.colour"], "U412", 2),
        (&["report", "nowhere"], "U007", 2),
    ] {
        let output = fourbar(&f, words);
        let said = text(&output.stderr);
        assert!(said.contains(code) && output.status.code() == Some(exit), "{words:?}: {:?}\n{said}", output.status.code());
    }
}

#[test]
fn a_drive_without_a_path() {
    let f = folder("inverse_drive");
    assert!(fourbar(&f, &["run", "fourbar", "--out", "run"]).status.success());
    let o = json(&fourbar(&f, &["inverse", "fourbar", "--json"]));
    let r = json(&fourbar(&f, &["report", "run", "--text", "--json"]));
    let (a, b) = (number(&o["motors"][0]["sizing"]["peak"]), number(&r["motors"][0]["sizing"]["peak"]));
    assert!((a - b).abs() < 1e-7 * b, "{a} {b}");
    assert!(!f.join("run/report.html").exists());
}

#[test]
fn what_matters_is_ranked() {
    let f = folder("sensitivities");
    let o = json(&fourbar(
        &f,
        &[
            "sensitivities",
            "five_bar_robot",
            "--of",
            "max(abs(swing_l.effort)),start.T.z,T.x@0.3",
            "--to",
            "arm,rod,load,base",
            "--check",
            "--output-step",
            "0.05",
            "--json",
            "-o",
            "rank.csv",
        ],
    ));
    let outputs = o["outputs"].as_array().expect("outputs");
    assert_eq!(outputs.len(), 3, "{o:#}");
    for k in [0, 2] {
        let rows = outputs[k]["parameters"].as_array().expect("rows");
        assert_eq!(rows.len(), 4);
        let size = number(&outputs[k]["value"]).abs();
        let mut last = f64::INFINITY;
        for row in rows {
            let effect = number(&row["per_cent"]).abs();
            assert!(effect <= last);
            last = effect;
            let gap = (number(&row["derivative"]) - number(&row["by_differences"])).abs() * number(&row["value"]);
            assert!(gap < 1e-4 * size.max(100.0 * effect), "{row}");
        }
    }
    let csv = std::fs::read_to_string(f.join("rank.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 1 + 3 * 4);
    let picture =
        fourbar(&f, &["sensitivities", "five_bar_robot", "--of", "rms(swing_l.effort)", "--output-step", "0.1", "-o", "rank.svg"]);
    assert!(picture.status.success(), "{}", text(&picture.stderr));
    let words = text(&picture.stdout);
    assert!(words.contains("matters most") && words.contains("cost"), "{words}");
    assert!(std::fs::read_to_string(f.join("rank.svg")).expect("a picture").contains("<rect"));
}

#[test]
fn drives_and_columns_in_a_linear_model() {
    let f = folder("linear_drive");
    // A crank at rest: the coupler and rocker follow it.
    std::fs::write(
        f.join("arm.yaml"),
        "fourbar: 1\nbodies: {arm: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}}\njoints: {pin: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, 0, 1]}}\ndrives: {motor: {joint: pin, angle: 0}}\npoints: {tip: {body: arm, at: [0.5, 0, 0]}}\n",
    )
    .expect("the file");
    let o = json(&fourbar(
        &f,
        &[
            "linearize",
            "arm.yaml",
            "--about",
            "start",
            "--inputs",
            "motor",
            "--outputs",
            "pin.angle,tip.y,motor.effort",
            "--out",
            "l",
            "--format",
            "mat",
            "--json",
        ],
    ));
    let l = &o["linear"];
    assert_eq!((l["states"].as_array().map(Vec::len), l["inputs"][0].as_str()), (Some(2), Some("motor''")), "{o:#}");
    let entry = |m: &str, i: usize, j: usize| number(&l[m][i][j]);
    assert_eq!((entry("A", 0, 1), entry("B", 1, 0)), (1.0, 1.0));
    // The tip is at one metre, and the effort is the moment of inertia about the pin times the acceleration.
    assert!((entry("C", 0, 0) - 1.0).abs() < 1e-12 && (entry("C", 1, 0) - 1.0).abs() < 1e-12, "{l:#}");
    assert!((entry("D", 2, 0) - (0.1 + 2.0 * 0.25)).abs() < 1e-6, "{l:#}");
    let bytes = std::fs::read(f.join("l/linear.mat")).expect("a file");
    assert_eq!(&bytes[..12], [0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]);
}

/// A chain of hinged rods with enough parameters for the adjoint method; its derivatives are compared with those of the forward method.
#[test]
fn many_parameters_are_gone_back_for() {
    let f = folder("gone_back");
    let rods = 9;
    let mut text = String::from("fourbar: 1\nparameters: {");
    for k in 1..=rods {
        text += &format!("m{k}: {}, J{k}: 0.02, c{k}: 0.0{k}, ", 1.0 + 0.1 * k as f64);
    }
    text += "g: 9.81}\ngravity: [0, 0, -g]\nbodies:\n";
    let (mut joints, mut forces) = (String::from("joints:\n"), String::from("forces:\n"));
    for k in 1..=rods {
        let x = 0.3 * (k as f64 - 1.0);
        text += &format!("  rod{k}: {{mass: m{k}, inertia: [1e-3, J{k}, J{k}], at: [{}, 0, 0]}}\n", x + 0.15);
        let on = if k == 1 { "ground".into() } else { format!("rod{}", k - 1) };
        joints += &format!("  P{k}: {{type: revolute, bodies: [{on}, rod{k}], at: [{x}, 0, 0], axis: [0, 1, {}]}}\n", 0.1 * k as f64);
        forces += &format!("  d{k}: {{type: torsion, joint: P{k}, stiffness: 1, damping: c{k}}}\n");
    }
    text += &format!("{joints}{forces}points: {{tip: {{body: rod{rods}, at: [0.15, 0, 0]}}}}\nstudy: {{t_end: 0.3, output_step: 20 ms}}\n");
    std::fs::write(f.join("chain.yaml"), text).expect("a file");
    let of = "min(tip.z)";
    let all = json(&fourbar(&f, &["sensitivities", "chain.yaml", "--of", of, "--json"]));
    let many = &all["outputs"][0];
    assert!(many["method"].as_str().is_some_and(|m| m.contains("gone back once") && m.contains("MB")), "{}", many["method"]);
    let some = json(&fourbar(&f, &["sensitivities", "chain.yaml", "--of", of, "--to", "m3,J9,c2,g", "--json"]));
    let few = &some["outputs"][0];
    assert!(few["method"].as_str().is_some_and(|m| m.contains("along the same steps")), "{}", few["method"]);
    let largest = few["parameters"].as_array().into_iter().flatten().fold(0.0_f64, |m, p| m.max(number(&p["per_cent"]).abs()));
    for p in few["parameters"].as_array().into_iter().flatten() {
        let same = many["parameters"].as_array().into_iter().flatten().find(|q| q["parameter"] == p["parameter"]).expect("the parameter");
        let gap = (number(&same["per_cent"]) - number(&p["per_cent"])).abs();
        assert!(gap < 1e-7 * largest, "{p} {same}");
    }
    // Reactions do not depend on poses and velocities only: the forward method is used.
    let force = json(&fourbar(&f, &["sensitivities", "chain.yaml", "--of", "last(P1.force.z)", "--json"]));
    assert!(force["outputs"][0]["method"].as_str().is_some_and(|m| m.contains("along the same steps")));
}

/// `--check` compares all kinds of quantities.
#[test]
fn a_check_compares_all_that_can_be_asked_for() {
    let f = folder("sensitivities_check");
    let text = "
fourbar: 1
gravity: [0, 0, -9.81]
parameters: {l: 0.5, k: 3}
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [l, 0, 0]}}
joints: {p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
forces: {s: {type: torsion, joint: p, stiffness: k}}
points: {tip: {body: a, at: [0, 0, 0]}}
study: {t_end: 0.5, output_step: 0.01}
";
    std::fs::write(f.join("rod.yaml"), text).expect("the file");
    let of = "start.tip.x, rest.p.angle, modes.1.omega, last(p.angle)";
    let output = fourbar(&f, &["sensitivities", "rod.yaml", "--of", of, "--check", "--json"]);
    let o = json(&output);
    for answer in o["outputs"].as_array().expect("answers") {
        for p in answer["parameters"].as_array().expect("parameters") {
            let [d, by] = [&p["derivative"], &p["by_differences"]].map(number);
            assert!((d - by).abs() < 1e-5 * d.abs().max(1.0), "{answer:#}");
        }
    }
    assert!(!text_of(&output).contains("W428"), "{}", text_of(&output));
}

/// A measure may use parameters, including computed ones, and curves that depend on them.
#[test]
fn what_a_measure_owes_to_parameters_by_itself() {
    let f = folder("sensitivities_own");
    let text = "
fourbar: 1
gravity: [0, 0, -9.81]
parameters: {l: 0.5, twice: 2*l, r: 0.45, bound: 0.1}
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [l, 0, 0]}}
joints: {p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
points: {tip: {body: a, at: [0, 0, 0]}}
curves: {ring: {points: [[r, 0], [0.7071067811865476*r, 0.7071067811865476*r], [0, r], [-0.7071067811865476*r, 0.7071067811865476*r], [-r, 0],
  [-0.7071067811865476*r, -0.7071067811865476*r], [0, -r], [0.7071067811865476*r, -0.7071067811865476*r]], closed: true, plane: {normal: [0, -1, 0], x: [1, 0, 0]}}}
study: {t_end: 0.5, output_step: 0.01}
";
    std::fs::write(f.join("rod.yaml"), text).expect("the file");
    let of = "at(tip.x, 0.2)/twice, first(t, tip.z < -bound), max(distance(tip, ring))";
    let output = fourbar(&f, &["sensitivities", "rod.yaml", "--of", of, "--check", "--json"]);
    let o = json(&output);
    let (names, values) = (["l", "r", "bound"], [0.5, 0.45, 0.1]);
    let measures = ["m=at(tip.x, 0.2)/twice", "m=first(t, tip.z < -bound)", "m=max(distance(tip, ring))"];
    // By runs with other values, evaluating the measures for each.
    let value = |measure: usize, k: usize, share: f64| {
        let vary: Vec<String> =
            (0..3).map(|i| format!("{}={}", names[i], if i == k { values[i] * (1.0 + share) } else { values[i] })).collect();
        let mut words = vec!["sweep", "rod.yaml", "--tol", "1e-12", "--out", "t", "--force", "--measure", measures[measure]];
        vary.iter().for_each(|v| words.extend(["--vary", v]));
        let o = fourbar(&f, &words);
        assert!(o.status.success(), "{}", text_of(&o));
        let csv = std::fs::read_to_string(f.join("t/cases.csv")).expect("the table");
        let column = csv.lines().next().expect("a head").split(',').position(|c| c == "m").expect("the measure");
        csv.lines().nth(1).expect("a row").split(',').nth(column).and_then(|x| x.parse::<f64>().ok()).expect("a number")
    };
    for (measure, answer) in o["outputs"].as_array().expect("answers").iter().enumerate() {
        let list = answer["parameters"].as_array().expect("parameters");
        assert_eq!(list.len(), 3, "{answer:#}");
        for p in list {
            let name = p["parameter"].as_str().expect("a name");
            let k = names.iter().position(|n| *n == name).expect("a parameter");
            let [d, by] = [&p["derivative"], &p["by_differences"]].map(number);
            let exact = (value(measure, k, 1e-4) - value(measure, k, -1e-4)) / (2e-4 * values[k]);
            assert!((d - exact).abs() < 1e-5 && (by - exact).abs() < 1e-4, "{} by {name}: {d}, {by}, {exact}", answer["of"]);
        }
    }
    assert!(!text_of(&output).contains("W428"), "{}", text_of(&output));
}

fn text_of(output: &std::process::Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}
