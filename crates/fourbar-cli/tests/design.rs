//! `equilibrium`, `modes` and `linearize`: output, files and errors.

use crate::common;

use common::{folder, fourbar, json, whole};
use insta::assert_snapshot;
use serde_json::Value;

const TRUSS: &str = include_str!("../../fourbar-design/tests/models/von_mises.yaml");
const CART: &str = include_str!("../../fourbar-design/tests/models/cart_pole.yaml");
const ROD: &str = include_str!("../../fourbar-design/tests/models/inverted_pendulum.yaml");
const ZIEGLER: &str = include_str!("../../fourbar-design/tests/models/ziegler.yaml");
const DISK: &str = include_str!("../../fourbar-design/tests/models/rolling_disk.yaml");
const CHAIN: &str = include_str!("../../fourbar-design/tests/models/chain10.yaml");

#[test]
fn a_suspension_at_rest() {
    assert_snapshot!(whole(&fourbar(&folder("rest"), &["equilibrium", "double_wishbone"])));
}

#[test]
fn modes_of_the_bicycle() {
    assert_snapshot!(whole(&fourbar(&folder("bicycle"), &["modes", "bicycle"])));
}

#[test]
fn refusals_say_what_drives_and_what_moves() {
    let f = folder("design_refusals");
    std::fs::write(f.join("free.yaml"), "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {plate: {mass: 2, inertia: [1, 1, 1]}}\n")
        .expect("the file");
    let mut text = String::new();
    for words in [
        &["static", "free.yaml"][..],
        &["modes", "fourbar_3d", "--about", "start"],
        &["modes", "double_wishbone", "--about", "never"],
        &["linearize", "pid_pendulum", "--outputs", "O.angl"],
        &["equilibrium", "double_wishbone", "--along", "lod=0..1"],
        &["equilibrium", "double_wishbone", "--along", "load=1"],
    ] {
        let output = fourbar(&f, words);
        assert_ne!(output.status.code(), Some(0), "{words:?}");
        text += &format!("$ fourbar {}\n{}\n", words.join(" "), whole(&output));
    }
    assert_snapshot!(text);
}

#[test]
fn load_paths_and_roots_are_written() {
    let f = folder("design_paths");
    std::fs::write(f.join("truss.yaml"), TRUSS).expect("the file");
    let o = json(&fourbar(&f, &["equilibrium", "truss.yaml", "--along", "load=0..40", "-o", "path.csv", "--json"]));
    let turning = o["turning_points"].as_array().expect("points");
    assert_eq!(turning.len(), 2, "{o:#}");
    assert!((turning[0]["value"].as_f64().expect("a load") - 22.843766344633917).abs() < 1e-9);
    let csv = std::fs::read_to_string(f.join("path.csv")).expect("the path");
    assert!(
        csv.starts_with("load,stability,guide.distance\n0.0,stable,")
            && csv.lines().count() == o["points"].as_array().map_or(0, Vec::len) + 1
    );
    // An existing file is kept unless forced.
    assert_eq!(fourbar(&f, &["equilibrium", "truss.yaml", "--along", "load=0..40", "-o", "path.csv"]).status.code(), Some(2));
    let o = json(&fourbar(&f, &["modes", "bicycle", "--against", "v=4..7", "--points", "4", "--json"]));
    let critical: Vec<f64> = o["critical"].as_array().into_iter().flatten().filter_map(|c| c["value"].as_f64()).collect();
    // The weave and the capsize speed of the published benchmark.
    assert!(
        critical.len() == 2 && (critical[0] - 4.29238253634111).abs() < 1e-8 && (critical[1] - 6.02426201538837).abs() < 1e-8,
        "{critical:?}"
    );
}

#[test]
fn a_settled_mechanism_is_written_and_rests_there() {
    let f = folder("design_settled");
    std::fs::write(f.join("chain.yaml"), CHAIN).expect("the file");
    for model in ["double_wishbone", "chain.yaml", "fourbar_3d", "ra_double_pendulum"] {
        let first = json(&fourbar(&f, &["equilibrium", model, "-o", "settled.yaml", "--force", "--json"]));
        let again = json(&fourbar(&f, &["equilibrium", "settled.yaml", "--json"]));
        assert_eq!(again["equilibria"][0]["iterations"], 0, "{model}: {again:#}");
        let value = |o: &Value, key: &str| o["equilibria"][0][key].as_f64().unwrap_or(f64::NAN);
        assert!((value(&first, "energy") - value(&again, "energy")).abs() < 1e-9, "{model}");
        let [a, b] = [&first, &again].map(|o| o["equilibria"][0]["omega2"][0].as_f64().unwrap_or(f64::NAN));
        assert!((a / b - 1.0).abs() < 1e-9, "{model}: {a} {b}");
        let angles = |o: &Value| o["equilibria"][0]["coordinates"].clone();
        for (name, x) in angles(&first).as_object().expect("coordinates") {
            let y = angles(&again)[name].as_f64().unwrap_or(f64::NAN);
            assert!((x.as_f64().unwrap_or(f64::NAN) - y).abs() < 1e-9, "{model}: {name} {x} {y}");
        }
    }
}

#[test]
fn a_file_that_starts_from_its_equilibrium_stays_there() {
    let f = folder("design_start");
    let text = CHAIN.replace("study:", "start: {from: equilibrium}\nstudy:");
    std::fs::write(f.join("still.yaml"), text).expect("the file");
    let output = fourbar(&f, &["run", "still.yaml", "--t-end", "0.5", "--out", "out", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    let table = fourbar_io::results::read_table(&f.join("out")).expect("a result");
    for name in ["r1.r.z", "r5.r.x", "r9.r.z"] {
        let x = table.column(name).expect("a column");
        assert!(x.iter().all(|y| (y - x[0]).abs() < 1e-7), "{name}");
    }
    let bad = CHAIN.replace("study:", "start: {from: somewhere}\nstudy:");
    std::fs::write(f.join("bad.yaml"), bad).expect("the file");
    assert_eq!(fourbar(&f, &["check", "bad.yaml"]).status.code(), Some(2));
}

#[test]
fn linear_models_are_written_in_every_format() {
    let f = folder("design_linear");
    std::fs::write(f.join("cart.yaml"), CART).expect("the file");
    let o = json(&fourbar(&f, &["linearize", "cart.yaml", "--json"]));
    assert_eq!((o["linear"]["A"].as_array().map(Vec::len), o["linear"]["inputs"][0].as_str()), (Some(4), Some("u")));
    for format in ["json", "csv", "npz"] {
        let output = fourbar(&f, &["linearize", "cart.yaml", "--out", "l", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    }
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(f.join("l/linear.json")).expect("JSON")).expect("JSON");
    assert_eq!(stored, o["linear"]);
    let csv = std::fs::read_to_string(f.join("l/A.csv")).expect("A");
    let first: f64 = csv.lines().nth(3).and_then(|l| l.split(',').next()).and_then(|x| x.parse().ok()).expect("a number");
    assert_eq!(Some(first), stored["A"][3][0].as_f64());
    let npz = std::fs::read(f.join("l/linear.npz")).expect("the archive");
    assert!(npz.starts_with(b"PK\x03\x04") && npz.windows(6).filter(|w| *w == b"\x93NUMPY").count() == 4);
    assert_eq!(fourbar(&f, &["linearize", "cart.yaml", "--out", "l"]).status.code(), Some(2));
}

#[test]
fn modes_move_on_a_page() {
    let f = folder("design_page");
    let output = fourbar(&f, &["modes", "fourbar_3d", "-o", "modes.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    let page = std::fs::read_to_string(f.join("modes.html")).expect("the page");
    assert!(page.contains("mode 1: ") && page.contains("Hz"));
}

/// Growth without decay on the other side, and critical values that are grid values: compared with closed forms.
#[test]
fn borders_of_undamped_mechanisms_are_found() {
    let f = folder("design_borders");
    for (name, text) in [("rod.yaml", ROD), ("ziegler.yaml", ZIEGLER), ("disk.yaml", DISK)] {
        std::fs::write(f.join(name), text).expect("the file");
    }
    let cases: [(&[&str], f64, &str); 5] = [
        (&["rod.yaml", "--about", "start", "--against", "k=0..9.81", "--points", "3"], 4.905, "stable"),
        (&["rod.yaml", "--about", "start", "--against", "k=8..1.3", "--points", "4"], 4.905, "unstable"),
        (&["ziegler.yaml", "--against", "P=2..2.2", "--points", "4"], 3.5 - std::f64::consts::SQRT_2, "unstable"),
        (&["disk.yaml", "--against", "v=0.5..2", "--points", "7"], 1.1436782764396638, "stable"),
        (&["disk.yaml", "--against", "v=2..0.5", "--points", "2"], 1.1436782764396638, "unstable"),
    ];
    for (words, value, becomes) in cases {
        let o = json(&fourbar(&f, &[&["modes"], words, &["--json"]].concat()));
        let critical = o["critical"].as_array().expect("a list");
        assert_eq!(critical.len(), 1, "{words:?}: {critical:?}");
        assert!((critical[0]["value"].as_f64().expect("a value") - value).abs() < 1e-7 * value, "{words:?}: {critical:?}");
        assert_eq!(critical[0]["becomes"], becomes, "{words:?}");
    }
}

/// A mass on a spring with a varying drawn position: coordinates are measured from the drawn position for each value.
#[test]
fn a_path_counts_from_where_each_value_is_drawn() {
    let f = folder("design_drawn");
    let text = "
fourbar: 1
parameters: {h: 0.5}
gravity: [0, 0, -10]
bodies: {b: {mass: 1, inertia: 0, at: [0, 0, -h]}}
joints: {g: {type: prismatic, bodies: [ground, b], at: [0, 0, -h], axis: [0, 0, 1]}}
forces: {s: {type: spring, between: [{body: ground}, {body: b}], stiffness: 100, length: 0.3}}
";
    std::fs::write(f.join("hook.yaml"), text).expect("the file");
    let o = json(&fourbar(&f, &["equilibrium", "hook.yaml", "--along", "h=0.3..0.6", "--json"]));
    let points = o["points"].as_array().expect("points");
    assert!(points.len() > 3);
    for p in points {
        let [h, y] = [&p["value"], &p["coordinates"]["g.distance"]].map(|x| x.as_f64().expect("a number"));
        assert!((y - (h - 0.4)).abs() < 1e-9, "{h}: {y}");
    }
}

/// A rod that falls on its stop: equilibrium, vibrations about it and a run from it take the stop into account.
#[test]
fn a_rest_on_a_stop_is_told() {
    let f = folder("design_stop");
    let o = json(&fourbar(&f, &["equilibrium", "fourbar_end_stop", "--json"]));
    let e = &o["equilibria"][0];
    assert_eq!((e["limits"][0]["name"].as_str(), e["stability"].as_str()), (Some("D.max"), Some("held")), "{e:#}");
    let bound = e["limits"][0]["value"].as_f64().expect("a value");
    assert!(
        (e["coordinates"]["D.angle"].as_f64().expect("an angle") - bound).abs() < 1e-9 && e["limits"][0]["effort"].as_f64() > Some(0.0)
    );
    let text = whole(&fourbar(&f, &["modes", "fourbar_end_stop"]));
    assert!(text.contains("with `D.max` closed") && text.contains("nothing vibrates"), "{text}");
    let rod = "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {a: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}}
joints: {p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], limits: {min: -0.5, max: 0.5, restitution: 0}}}
start: {from: equilibrium}
study: {t_end: 0.5, output_step: 0.1}
";
    std::fs::write(f.join("rod.yaml"), rod).expect("the file");
    let output = fourbar(&f, &["run", "rod.yaml", "--out", "out", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", whole(&output));
    let table = fourbar_io::results::read_table(&f.join("out")).expect("a result");
    let angle = table.column("p.angle").expect("a column");
    assert!(angle.iter().all(|a| (a - 0.5).abs() < 1e-9), "{angle:?}");
}
