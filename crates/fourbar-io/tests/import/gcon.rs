//! Lists of bodies and geometric constraints in JSON, in both dialects.

use super::read;
use fourbar::analysis::assembly::assemble;
use fourbar::kinematics::Kinematics;
use fourbar_io::{ReadOptions, read_model};

/// A rod of four metres on a hinge along x, turned by a drive: numbers as ids, keys with underscores.
const DRIVEN: &str = r#"{
  "name": "swing",
  "bodies": [
    {"name": "ground", "id": 0},
    {"name": "rod", "id": 1, "r": [0, 1.4142135623730951, -1.4142135623730951], "r_dot": [0, 0, 0],
     "p": [0.6532814824381883, 0.2705980500730985, 0.6532814824381883, 0.2705980500730985], "p_dot": [0, 0, 0, 0]}
  ],
  "constraints": [
    {"name": "x", "type": "CD", "body_i": 1, "body_j": 0, "c": [1, 0, 0], "s_bar_p_i": [-2, 0, 0], "s_bar_q_j": [0, 0, 0], "f": "0", "f_dot": "0", "f_ddot": "0"},
    {"name": "y", "type": "CD", "body_i": 1, "body_j": 0, "c": [0, 1, 0], "s_bar_p_i": [-2, 0, 0], "s_bar_q_j": [0, 0, 0], "f": "0", "f_dot": "0", "f_ddot": "0"},
    {"name": "z", "type": "CD", "body_i": 1, "body_j": 0, "c": [0, 0, 1], "s_bar_p_i": [-2, 0, 0], "s_bar_q_j": [0, 0, 0], "f": "0", "f_dot": "0", "f_ddot": "0"},
    {"name": "level_1", "type": "DP1", "body_i": 1, "body_j": 0, "a_bar_i": [0, 0, 1], "a_bar_j": [0, 1, 0], "f": "0", "f_dot": "0", "f_ddot": "0"},
    {"name": "level_2", "type": "DP1", "body_i": 1, "body_j": 0, "a_bar_i": [0, 0, 1], "a_bar_j": [0, 0, 1], "f": "0", "f_dot": "0", "f_ddot": "0"},
    {"name": "drive", "type": "DP1", "body_i": 1, "body_j": 0, "a_bar_i": [0, 1, 0], "a_bar_j": [0, 0, -1],
     "f": "cos(pi/2 + (pi/4)*cos(2*t))", "f_dot": "sin(pi/2 + (pi/4)*cos(2*t))*(pi/2)*sin(2*t)", "f_ddot": "pi**2*t"}
  ]
}"#;

#[test]
fn a_driven_rod_moves_as_its_function_says() {
    let loaded = read(DRIVEN);
    assert_eq!(loaded.imported, Some("gcons"));
    let codes: Vec<&str> = loaded.warnings.iter().map(|w| w.code.0).collect();
    // Gravity, the missing mass, and a wrong second derivative.
    assert_eq!(codes, ["W451", "W453", "W457"], "{:?}", loaded.warnings);
    assert!(loaded.warnings[2].message.contains("`f_ddot` of `drive`"), "{}", loaded.warnings[2]);
    let model = loaded.spec.build().unwrap_or_else(|e| panic!("{e}"));
    let start = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut k = Kinematics::new(&model, &start).unwrap_or_else(|d| panic!("{d}"));
    for t in (1..=250).map(|k| 0.01 * k as f64) {
        k.step_to(t).unwrap_or_else(|d| panic!("{d}"));
        // The angle of y from -z is pi/2 + pi/4 cos 2t: the rod is inclined to the vertical by pi/4 cos 2t.
        let a = std::f64::consts::FRAC_PI_4 * (2.0 * t).cos();
        let r = k.state.q[1].r;
        assert!((r.y - 2.0 * a.sin()).abs() < 1e-9 && (r.z + 2.0 * a.cos()).abs() < 1e-9 && r.x.abs() < 1e-9, "{t}: {r}");
    }
}

/// The other dialect: `ground` by name, bodies from zero, short keys, numbers for functions, parameters of any norm.
#[test]
fn the_other_words_are_read_too() {
    let text = r#"{"name": "pair", "bodies": [
      {"name": "First pendulum", "id": 0, "r": [2, 0, 0], "dr": [0, 0, 0], "p": [2, 0, 0, 0], "dp": [0, 0, 0.5, 0], "m": 3, "J": [1, 2, 2]},
      {"id": 1, "r": [5, 0, 0], "A": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "omega": [0, 1, 0], "mass": 1, "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "colour": "red"}
    ], "constraints": [
      {"name": "CDi", "type": "CD", "body_i": 0, "body_j": "ground", "si": [-2, 0, 0], "sj": [0, 0, 0], "c": [1, 0, 0], "f": 0, "df": 0, "ddf": 0},
      {"name": "gap", "type": "D", "body_i": 0, "body_j": 1, "si": [0, 0, 0], "sj": [0, 0, 0], "f": 9, "df": 0, "ddf": 0},
      {"name": "side", "type": "DP2", "body_i": 0, "body_j": 1, "ai": [0, 1, 0], "si": [0, 0, 0], "sj": [0, 0, 0], "f": 0}
    ]}"#;
    let loaded = read(text);
    let spec = &loaded.spec;
    assert_eq!(spec.bodies.iter().map(|b| b.0.as_str()).collect::<Vec<_>>(), ["First_pendulum", "body_2"]);
    let (first, second) = (&spec.bodies[0].1, &spec.bodies[1].1);
    assert_eq!((first.mass, second.mass), (3.0, 1.0));
    // omega = 2 E p_dot, both divided by the norm of p.
    assert_eq!((first.omega, second.omega), ([0.0, 0.5, 0.0], [0.0, 1.0, 0.0]));
    let told: Vec<&str> = loaded.warnings.iter().map(|w| w.message.as_str()).collect();
    assert!(told.iter().any(|m| m.contains("length 2.000")) && told.iter().any(|m| m.contains("`colour`")), "{told:?}");
    assert_eq!(spec.constraints.len(), 3);
    let model = spec.clone().build().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(model.bare.iter().map(|b| b.kind).collect::<Vec<_>>(), ["cd", "d", "dp2"]);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let with = |from: &str, to: &str| {
        let text = DRIVEN.replacen(from, to, 1);
        let e = read_model(&text, &ReadOptions::default()).map(|_| ()).expect_err(to);
        assert_eq!(e.code().0, "M669", "{to}: {e}");
        assert!(e.iter().all(|d| d.line() > 0), "{e}");
        e.to_string()
    };
    assert!(with("\"type\": \"DP1\"", "\"type\": \"DP9\"").contains("DP9"));
    assert!(with("\"body_j\": 0", "\"body_j\": 7").contains("there is no body `7`"));
    assert!(with("\"id\": 1,", "").contains("no `id`"));
    assert!(with("[-2, 0, 0]", "[-2, 0]").contains("three numbers"));
    assert!(with("[-2, 0, 0]", "[-2, 0, NaN]").contains("three numbers"));
    assert!(with("cos(pi/2 + (pi/4)*cos(2*t))", "import os").contains("not understood"));
    assert!(with("\"p\": [0.6532814824381883", "\"p\": [0, 0, 0, 0], \"q\": [0.65").contains("Euler parameters"));
    // A mechanism of this program in JSON is not one of these files.
    let own = r#"{"fourbar": 1, "bodies": {"a": {"mass": 1, "inertia": [1, 1, 1]}}, "joints": {"j": {"type": "revolute", "bodies": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 0, 1]}}}"#;
    let loaded = read_model(own, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(loaded.imported, None);
}
