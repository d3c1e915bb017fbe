//! Complete commands with their output and exit code.

use crate::common;

use common::{folder, fourbar, fourbar_with, json, whole};
use insta::assert_snapshot;

#[test]
fn check_of_the_four_bar() {
    assert_snapshot!(whole(&fourbar(&folder("check"), &["check", "fourbar"])));
}

#[test]
fn check_of_bricards_linkage() {
    assert_snapshot!(whole(&fourbar(&folder("check_bricard"), &["check", "a04_bricard"])));
}

#[test]
fn check_says_everything_where_it_is_asked() {
    assert_snapshot!(whole(&fourbar(&folder("check_all"), &["check", "a02_n_fourbar_N2", "--all"])));
}

#[test]
fn check_of_a_slider_that_pulls_its_crank_tells_the_dead_points() {
    let f = folder("check_dead");
    std::fs::write(f.join("pulled.yaml"), include_str!("data/pulled.yaml")).expect("the file");
    assert_snapshot!(whole(&fourbar(&f, &["check", "pulled.yaml"])));
}

#[test]
fn doubtful_numbers_and_contradictions_are_told() {
    let f = folder("check_doubts");
    let text = include_str!("data/pulled.yaml").replace("mass: 0.1,", "mass: 100,").replace("{pull", "{turn: {joint: pin, angle: t}, pull");
    std::fs::write(f.join("doubtful.yaml"), text).expect("the file");
    let output = fourbar(&f, &["check", "doubtful.yaml"]);
    assert_snapshot!(whole(&output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn assembly_modes_are_written_and_chosen() {
    let f = folder("modes");
    let output = fourbar(&f, &["check", "fourbar", "--modes", "modes.html", "--json"]);
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object:#}");
    assert_eq!(object["modes"].as_array().map(Vec::len), Some(2));
    let page = std::fs::read_to_string(f.join("modes.html")).expect("the page");
    assert!(page.contains("as drawn") && page.contains("mode 2") && page.len() > 100_000);
    assert_eq!(fourbar(&f, &["check", "fourbar", "--modes", "modes.json"]).status.code(), Some(0));
    let modes: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(f.join("modes.json")).expect("the poses")).expect("JSON");
    // The list of moved bodies refers to the poses of the file.
    let moved = json(&fourbar(&f, &["assemble", "fourbar", "--mode", "2", "--json"]))["moved"].clone();
    let rocker = moved.as_array().into_iter().flatten().find(|m| m["body"] == "rocker").and_then(|m| m["angle"].as_f64());
    assert!((rocker.expect("the rocker") - 146.67_f64.to_radians()).abs() < 1e-4, "{moved:#}");
    // `assemble` uses the pose that `check` reports.
    let start = json(&fourbar(&f, &["assemble", "fourbar", "--mode", "2", "--json"]));
    for k in 0..3 {
        let (a, b) = (start["start"]["rocker"]["r"][k].as_f64(), modes["modes"][1]["rocker"]["r"][k].as_f64());
        assert!((a.expect("a number") - b.expect("a number")).abs() < 1e-12);
    }
    for arguments in [
        &["check", "fourbar", "--modes", "modes.txt"][..],
        &["check", "a01_simple_pendulum", "--modes", "m.html"],
        &["assemble", "fourbar", "--mode", "3"],
    ] {
        let output = fourbar(&f, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("U014"), "{}", whole(&output));
    }
}

#[test]
fn demo_shows_the_four_bar_and_writes_its_trajectory() {
    let f = folder("demo");
    assert_snapshot!(whole(&fourbar(&f, &["demo"])));
    let text = std::fs::read_to_string(f.join("out/fourbar/trajectory.csv")).expect("the trajectory");
    assert_eq!(text.lines().count(), 202);
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(f.join("out/fourbar/summary.json")).expect("the summary")).expect("JSON");
    assert_eq!(summary["units"].as_object().map(|u| u.len()), text.lines().next().map(|l| l.split(',').count()));
    assert_eq!(
        (summary["complete"].as_bool(), summary["redundant_rows"].as_u64(), summary["rows"].as_u64()),
        (Some(true), Some(3), Some(201))
    );
    assert!(!f.join("out/fourbar/checkpoint.json").exists());
}

#[test]
fn a_rough_start_is_assembled_and_told() {
    let f = folder("assemble");
    std::fs::write(f.join("rough.yaml"), include_str!("data/rough.yaml")).expect("the file");
    assert_snapshot!(whole(&fourbar(&f, &["assemble", "rough.yaml"])));
}

#[test]
fn a_mechanism_that_cannot_close_fails_with_the_joints() {
    let f = folder("impossible");
    let text = include_str!("data/rough.yaml").replace("length: 0.3", "length: 3");
    std::fs::write(f.join("impossible.yaml"), text).expect("the file");
    let output = fourbar(&f, &["assemble", "impossible.yaml"]);
    assert_eq!(output.status.code(), Some(1), "{}", whole(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[S211]"), "{}", whole(&output));
}

#[test]
fn errors_of_a_file_are_shown_with_their_places() {
    let f = folder("errors");
    std::fs::write(f.join("bad.yaml"), include_str!("data/bad.yaml")).expect("the file");
    assert_snapshot!(whole(&fourbar(&f, &["check", "bad.yaml"])));
}

#[test]
fn a_free_mechanism_is_told_what_kinematics_lacks() {
    let output = fourbar(&folder("free"), &["kinematics", "a04_bricard"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("S221"), "{}", whole(&output));
}

#[test]
fn usage_is_refused_with_a_cure() {
    let f = folder("usage");
    let mut all = String::new();
    for arguments in [
        &["check", "fourbr"][..],
        &["demo", "forbar"],
        &["explain", "X1"],
        &["plot", "nowhere", "t"],
        &["run", "fourbar", "--formulation", "rb"],
        &["run", "fourbar", "--integrator", "eulr"],
        &["run", "fourbar", "--columns", "crnk.r.x"],
        &["run", "fourbar", "--resume", "nowhere"],
        &["run", "fourbar", "--t-end", "1", "--output-step", "1e-9"],
        &["run", "fourbar", "--out", "/dev/null/x"],
        &["run", "fourbar", "--option", "rh=0.5"],
        &["run", "fourbar", "--tol", "1e-30"],
        &["run", "fourbar_3d", "--integrator", "bdf2", "--tol", "1e-9"],
        &["run", "fourbar_3d", "--formulation", "rp", "--tol", "1e-8"],
        &["run", "fourbar", "--set", "crank=1"],
        &["run", "fourbar", "--set", "crank_length=nan"],
        &["run", "fourbar", "--t-end", "soon"],
        &["verify", "fourbar", "--patience", "-1"],
        &["kinematics", "fourbar", "--analysis", "dynamics"],
        &["plot", ".", "t"],
    ] {
        let output = fourbar(&f, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", whole(&output));
        all += &format!("$ fourbar {}\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    assert_snapshot!(all);
}

#[test]
fn verify_exits_by_its_verdict() {
    let f = folder("verdicts");
    std::fs::write(f.join("pulled_too_far.yaml"), include_str!("data/pulled_too_far.yaml")).expect("the file");
    let cases = [
        // Agreement over the whole time.
        ("AGREED", "0.5", "lie,dca,natural", [0, 0]),
        // The slider reaches its limit before the end of the study.
        ("PARTLY", "1", "lie,dca,natural", [1, 0]),
        // One family cannot be verified against itself, neither over the whole time nor over a part.
        ("NOT SHOWN", "0.5", "lie,se3", [1, 1]),
        ("NOT SHOWN", "1", "lie,se3", [1, 1]),
    ];
    for (word, t_end, formulations, codes) in cases {
        let plain = ["verify", "pulled_too_far.yaml", "--t-end", t_end, "--formulations", formulations, "--json"];
        let partial = [&plain[..], &["--allow-partial"]].concat();
        for (arguments, code) in [&plain[..], &partial[..]].into_iter().zip(codes) {
            let output = fourbar(&f, arguments);
            assert_eq!(json(&output)["word"], word, "{arguments:?}: {}", whole(&output));
            assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", whole(&output));
        }
    }
}

#[test]
fn settings_that_a_run_does_not_use_are_told() {
    let f = folder("idle");
    let told = |arguments: &[&str]| {
        let output = fourbar(&f, arguments);
        assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
        let list = json(&output)["diagnostics"].as_array().cloned().unwrap_or_default();
        list.iter().filter(|d| d["code"] == "W302").count()
    };
    assert_eq!(told(&["run", "fourbar", "--json"]), 0);
    assert_eq!(told(&["run", "fourbar", "--json", "--option", "rho=0.5"]), 1);
    assert_eq!(told(&["run", "fourbar", "--json", "--formulation", "natural"]), 1);
    assert_eq!(told(&["run", "fourbar", "--json", "--formulation", "reps"]), 0);
    // In dynamics the same settings are valid for some formulations.
    assert_eq!(told(&["run", "fourbar", "--json", "--analysis", "dynamics", "--formulation", "ra", "--option", "rho=0.5"]), 0);
    assert_eq!(told(&["run", "fourbar", "--json", "--analysis", "dynamics", "--formulation", "natural", "--option", "rho=0.5"]), 1);
    let moved = json(&fourbar(&f, &["run", "fourbar", "--json", "--analysis", "dynamics", "--formulation", "natural"]));
    assert_eq!((&moved["analysis"], &moved["formulation"]), (&"dynamics".into(), &"natural".into()));
}

#[test]
fn the_words_of_others_and_their_commas_are_understood() {
    let f = folder("words");
    let text = "fourbar: 1\nbodies: {rod: {mass: 1,5, inertia: 0}}\njoints: {pin: {type: Hinge, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}\n";
    let output = fourbar_with(&f, &["check", "-"], text.as_bytes());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("it is called `revolute` here") && told.contains("decimals are written with a point"), "{told}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_a_failure_and_a_reader_who_left_is_none() {
    let f = folder("full");
    let full = std::fs::File::options().write(true).open("/dev/full").expect("the full device");
    let output = common::command(&f, &["list"]).stdout(full).output().expect("the command runs");
    assert_eq!(output.status.code(), Some(2), "{}", whole(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output cannot be written"));
    let mut child = common::command(&f, &["list"]).stdout(std::process::Stdio::piped()).spawn().expect("the command runs");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the command ends").code(), Some(0));
}

#[test]
fn the_parser_of_the_command_line_answers_with_exit_code_2() {
    let f = folder("parser");
    for arguments in [
        &["chek", "fourbar"][..],
        &["run", "fourbar", "--step", "-1"],
        &["run", "fourbar", "--set", "x"],
        &["run"],
        &["run", "fourbar", "--threads", "0"],
    ] {
        assert_eq!(fourbar(&f, arguments).status.code(), Some(2), "{arguments:?}");
    }
    for arguments in [&["--version"][..], &["--help"], &["help", "run"], &["run", "--help"]] {
        assert_eq!(fourbar(&f, arguments).status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn every_verb_prints_one_object_with_json() {
    let f = folder("json");
    for (arguments, exit) in [
        (&["check", "fourbar"][..], 0),
        (&["assemble", "fourbar"], 0),
        (&["kinematics", "fourbar"], 0),
        (&["run", "fourbar", "--out", "r"], 0),
        (&["plot", "r", "P.x"], 0),
        (&["demo"], 0),
        (&["list"], 0),
        (&["examples"], 0),
        (&["examples", "fourbar", "-o", "copy.yaml"], 0),
        (&["examples", "fourbar", "-o", "copy.yaml"], 2),
        (&["new", "new.yaml"], 0),
        (&["explain"], 0),
        (&["explain", "u001"], 0),
        (&["schema"], 0),
        (&["completions", "bash"], 0),
        (&["check", "nowhere.yaml"], 2),
        (&["kinematics", "a01_simple_pendulum"], 1),
        (&["run", "fourbar", "--bogus"], 2),
    ] {
        let mut all = arguments.to_vec();
        all.push("--json");
        let output = fourbar(&f, &all);
        let object = json(&output);
        assert_eq!((output.status.code(), object["exit_code"].as_i64()), (Some(exit), Some(i64::from(exit))), "{arguments:?}\n{object:#}");
        assert!(object["diagnostics"].is_array() && output.stderr.is_empty(), "{arguments:?}");
        assert_eq!(
            exit == 0,
            object["diagnostics"].as_array().is_some_and(|d| d.iter().all(|d| d["code"].as_str().is_some_and(|c| c.starts_with('W')))),
            "{arguments:?}"
        );
    }
}

#[test]
fn quiet_runs_say_nothing() {
    let output = fourbar(&folder("quiet"), &["run", "fourbar", "--quiet"]);
    assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(0), 0, 0));
}

#[test]
fn parameters_and_standard_input_are_read() {
    let f = folder("stdin");
    let text = fourbar(&f, &["examples", "fourbar"]).stdout;
    let output = fourbar_with(&f, &["run", "-", "--set", "crank_length=60 mm", "--t-end", "500 ms", "--json"], &text);
    let object = json(&output);
    assert_eq!(output.status.code(), Some(0), "{object:#}");
    assert_eq!(
        (object["parameters"]["crank_length"].as_f64(), object["t"].as_f64(), object["set"]["crank_length"].as_str()),
        (Some(0.06), Some(0.5), Some("60 mm"))
    );
    assert_eq!(fourbar_with(&f, &["check", "-"], &[0xff, 0xfe, 0, 1]).status.code(), Some(2));
    let unknown = fourbar(&f, &["check", "fourbar", "--set", "crank_lenght=1"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", whole(&unknown));
}

#[test]
fn new_writes_a_file_that_passes_and_is_not_overwritten() {
    let f = folder("new");
    assert_eq!(fourbar(&f, &["new", "my.yaml"]).status.code(), Some(0));
    let output = fourbar(&f, &["check", "my.yaml"]);
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{}", whole(&output));
    std::fs::write(f.join("my.yaml"), "mine").expect("writable");
    assert_eq!(fourbar(&f, &["new", "my.yaml"]).status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(f.join("my.yaml")).ok().as_deref(), Some("mine"));
    assert_eq!(fourbar(&f, &["new", "my.yaml", "--force"]).status.code(), Some(0));
}

#[test]
fn the_file_of_the_readme_runs() {
    let readme = include_str!("../../../README.md");
    let text = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("the README shows a file");
    let f = folder("readme");
    std::fs::write(f.join("readme.yaml"), text).expect("the file");
    let output = fourbar(&f, &["run", "readme.yaml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    assert_eq!(json(&output)["analysis"], "kinematics");
}

#[test]
fn every_page_of_a_code_can_be_printed() {
    let f = folder("explain");
    let output = fourbar(&f, &["explain"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.lines().count() > 20 && text.lines().all(|l| l.chars().count() <= 100), "{text}");
    for line in text.lines().filter(|l| !l.starts_with(' ')) {
        let code = line.split_whitespace().next().unwrap_or("");
        assert_eq!(fourbar(&f, &["explain", code]).status.code(), Some(0), "{code}");
    }
}

#[test]
fn plots_on_the_terminal_and_as_svg() {
    let f = folder("plot");
    assert_eq!(fourbar(&f, &["run", "fourbar", "--out", "r", "--columns", "P.*", "C.angle"]).status.code(), Some(0));
    assert_snapshot!(whole(&fourbar(&f, &["plot", "r", "C.angle"])));
    // Without columns the available ones are listed; the name of an element selects all its columns, and a part of a name finds them.
    let list = whole(&fourbar(&f, &["plot", "r"]));
    assert!(list.contains("5 columns, 201 rows") && list.contains("P [m]") && list.contains(".x .y .z"), "{list}");
    let group = whole(&fourbar(&f, &["plot", "r", "P"]));
    assert!(["P.x [m]", "P.y [m]", "P.z [m]"].iter().all(|c| group.contains(c)), "{group}");
    let near = whole(&fourbar(&f, &["plot", "r", "angle"]));
    assert!(near.contains("there are `C.angle`"), "{near}");
    assert_eq!(fourbar(&f, &["plot", "r/trajectory.csv", "P.*", "-x", "t", "-o", "p.svg"]).status.code(), Some(0));
    let svg = std::fs::read_to_string(f.join("p.svg")).expect("the picture");
    assert!(svg.starts_with("<svg") && svg.contains("P.z [m]") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(fourbar(&f, &["plot", "r", "P.q"]).status.code(), Some(2));
    assert_eq!(fourbar(&f, &["plot", "r", "P.x", "-o", "p.png"]).status.code(), Some(0));
    assert!(std::fs::read(f.join("p.png")).expect("the picture").starts_with(b"\x89PNG"));
    assert_eq!(fourbar(&f, &["plot", "r", "P.x", "-o", "p.gif"]).status.code(), Some(2));
}

#[test]
fn a_mechspec_is_checked_and_converted_there_and_back() {
    let f = folder("mechspec");
    std::fs::write(f.join("rscr.yaml"), include_str!("../../../models/mechspec/rscr.yaml")).expect("the file");
    assert_snapshot!("mechspec_check", whole(&fourbar(&f, &["check", "rscr.yaml"])));
    // The last digits of poses differ between machines, those of joints do not.
    let printed = fourbar(&f, &["convert", "rscr.yaml", "-"]);
    let text = String::from_utf8_lossy(&printed.stdout).to_string();
    for line in [
        "fourbar: 1\n",
        "  J_B: {type: spherical, bodies: [ABu, CBv], frames: {ABu: {at: [0.3, 0, 0],",
        "  J_C1vC: {type: cylindrical, bodies: [DC1wv, CBv],",
    ] {
        assert!(text.contains(line), "{line}\n{}", whole(&printed));
    }
    let output = fourbar(&f, &["convert", "rscr.yaml", "joints.yaml"]);
    assert!(output.status.success(), "{}", whole(&output));
    // The written file is in the other format, so converting it back needs no format.
    let output = fourbar(&f, &["convert", "joints.yaml", "points.yaml", "--json"]);
    assert_eq!((json(&output)["format"].as_str(), output.status.code()), (Some("mechspec"), Some(0)), "{}", whole(&output));
    assert!(std::fs::read_to_string(f.join("points.yaml")).expect("the file").contains("Collinears: {C1"));
    // Files are not overwritten unless forced.
    assert_eq!(fourbar(&f, &["convert", "joints.yaml", "points.yaml"]).status.code(), Some(2));
    assert!(fourbar(&f, &["convert", "joints.yaml", "points.yaml", "--force"]).status.success());
}

#[test]
fn what_the_other_format_cannot_say_is_refused() {
    assert_snapshot!(whole(&fourbar(&folder("convert_refused"), &["convert", "rack_and_pinion", "-"])));
}

#[test]
fn mistakes_in_a_mechspec_are_shown_with_their_places() {
    let f = folder("mechspec_errors");
    let text = "Dimension: 2\nPhysicalParams: {L: 1}\nPartData:\n  Fixed: {O: [0, 0], Q: [1, 0]}\n  Rigids:\n    OA: {Geom: [[L]], Dyna: [[L/2], 1, 0.1]}\n    OAB: {Geom: [[L], [0, LL]], Dyna: [[L/2], 1, 0.1]}\n    A-B: {Geom: [], Dyna: [[0], 1, 1]}\n  Colinears: {OuA}\nAppliedForces: {Gravity: }\n";
    std::fs::write(f.join("bad.yaml"), text).expect("the file");
    assert_snapshot!(whole(&fourbar(&f, &["check", "bad.yaml"])));
}

/// The binary tree of the divide-and-conquer algorithm with its boundary cases: a free pair, a chain on the ground, a loop.
#[test]
fn check_shows_the_tree_of_divide_and_conquer() {
    let f = folder("check_dca");
    let told = whole(&fourbar(&f, &["check", "dca_double_loop", "--formulation", "dca"]));
    for line in ["body3 (root)", "join (one handle)  | keeps body3", "body2 (two handles)  | keeps body1, body3  | rows of J2, J3"] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let case = |model: &str| {
        let lines = json(&fourbar(&f, &["check", model, "--formulation", "dca", "--json"]))["described"]["lines"].clone();
        lines
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|l| l.as_str())
            .find(|l| l.contains(": case "))
            .map(String::from)
            .unwrap_or_default()
    };
    assert!(case("lie_two_floating_bodies").contains("case 1"), "{}", case("lie_two_floating_bodies"));
    assert!(case("ra_double_pendulum").contains("case 2"), "{}", case("ra_double_pendulum"));
    assert!(case("dca_five_bar").contains("case 3"), "{}", case("dca_five_bar"));
}
