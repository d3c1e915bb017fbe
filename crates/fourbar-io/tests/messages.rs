//! How typical mistakes are shown, word for word.

use fourbar_io::{ReadOptions, read_model, render};

fn shown(text: &str) -> String {
    let errors = read_model(text, &ReadOptions::default()).expect_err(text);
    render(&errors, "arm.yaml", false)
}

fn check(text: &str, expected: &str) {
    let got = shown(text);
    assert_eq!(got.trim_end(), expected.trim(), "\n--- got ---\n{got}");
}

const BODY: &str = "fourbar: 1\nbodies:\n  crank: {mass: 1, inertia: 0}\n";

#[test]
fn a_misspelled_key() {
    check(
        "fourbar: 1\nbodies:\n  crank: {masss: 0.12, inertia: [1e-4, 1e-5, 1e-4]}\n",
        "
error[M012]: unknown key `masss` in a body
 --> arm.yaml:3:11
  |
3 |   crank: {masss: 0.12, inertia: [1e-4, 1e-5, 1e-4]}
  |           ^^^^^
  = help: did you mean `mass`?",
    );
}

#[test]
fn a_misspelled_type() {
    check(
        &format!("{BODY}joints:\n  pin: {{type: revolut, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}}\n"),
        "
error[M015]: unknown joint type `revolut`
 --> arm.yaml:5:15
  |
5 |   pin: {type: revolut, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  |               ^^^^^^^
  = help: did you mean `revolute`?",
    );
}

#[test]
fn a_missing_key_points_at_the_element() {
    check(
        &format!("{BODY}joints:\n  pin:\n    type: revolute\n    bodies: [ground, crank]\n    at: [0, 0, 0]\n"),
        "
error[M013]: `pin`, a revolute joint, lacks `axis`
 --> arm.yaml:5:3
  |
5 |   pin:
  |   ^^^
  = help: give place and axis in the world as drawn, or `frames` in the bodies",
    );
}

#[test]
fn a_length_where_a_mass_must_stand() {
    check(
        "fourbar: 1\nbodies:\n  crank:\n    mass: 40 mm\n    inertia: 0\n",
        "
error[M031]: `mass` must be a mass, but `40 mm` is a length
 --> arm.yaml:4:11
  |
4 |     mass: 40 mm
  |           ^^^^^
  = help: give it in `kg` or the like, or as a plain SI number",
    );
}

#[test]
fn a_factor_without_its_unit() {
    check(
        "fourbar: 1\nbodies:\n  crank: {mass: 1, inertia: [0, 0.5*(40 mm)^2, 1]}\n",
        "
error[M031]: `inertia[1]` must be a moment of inertia, but `0.5*(40 mm)^2` is an area
 --> arm.yaml:3:33
  |
3 |   crank: {mass: 1, inertia: [0, 0.5*(40 mm)^2, 1]}
  |                                 ^^^^^^^^^^^^^
  = help: where units are used every factor needs its own, here in all `kg*m^2` or the like; plain numbers are SI",
    );
}

#[test]
fn a_misspelled_parameter() {
    check(
        "fourbar: 1\nparameters: {length: 2 m}\nbodies:\n  crank:\n    mass: 1\n    inertia: 0\n    at: [lenght/2, 0, 0]\n",
        "
error[M021]: `at[0]`: unknown name `lenght`
 --> arm.yaml:7:10
  |
7 |     at: [lenght/2, 0, 0]
  |          ^^^^^^
  = help: did you mean `length`?",
    );
}

#[test]
fn a_misspelled_unit() {
    check(
        "fourbar: 1\nbodies:\n  crank: {mass: 3 KG, inertia: 0}\n",
        "
error[M030]: `mass`: unknown unit `KG`
 --> arm.yaml:3:19
  |
3 |   crank: {mass: 3 KG, inertia: 0}
  |                   ^^
  = help: did you mean `kg`?",
    );
}

#[test]
fn a_missing_operator() {
    check(
        &format!("{BODY}drives:\n  motor: {{joint: pin, angle: 2 pi*t}}\n"),
        "
error[M030]: `angle`: unknown unit `pi`
 --> arm.yaml:5:32
  |
5 |   motor: {joint: pin, angle: 2 pi*t}
  |                                ^^
  = help: to multiply, write `*` between the number and `pi`",
    );
}

#[test]
fn a_circle_of_parameters() {
    check(
        "fourbar: 1\nparameters:\n  a: 2*b\n  b: a/2\nbodies:\n  crank: {mass: a, inertia: 0}\n",
        "
error[M033]: parameters depend on each other in a circle: a -> b -> a
 --> arm.yaml:3:6
  |
3 |   a: 2*b
  |      ^^^
  = help: give one of them a value of its own",
    );
}

#[test]
fn a_division_by_zero() {
    check(
        "fourbar: 1\nbodies:\n  crank: {mass: 1, inertia: [1, 1/(2 - 2), 1]}\n",
        "
error[M024]: `inertia[1]`: division by zero in `1/(2 - 2)`
 --> arm.yaml:3:33
  |
3 |   crank: {mass: 1, inertia: [1, 1/(2 - 2), 1]}
  |                                 ^^^^^^^^^
  = help: change the parameters, or guard the division with `if(condition, a, b)`",
    );
}

#[test]
fn a_body_without_inertia() {
    check(
        "fourbar: 1\nbodies:\n  crank: {mass: 1}\n",
        "
error[M044]: body `crank` has no inertia
 --> arm.yaml:3:3
  |
3 |   crank: {mass: 1}
  |   ^^^^^
  = help: give principal values `[xx, yy, zz]` about the centre of mass, `0` for a point mass, or a `solid` with density",
    );
}

#[test]
fn an_empty_file() {
    check(
        "\n",
        "
error[M002]: the file is empty
 --> arm.yaml
  = help: `fourbar new FILE` writes a commented file to start from",
    );
}

#[test]
fn long_lines_and_control_characters_are_tamed() {
    let text = format!(
        "fourbar: 1\nbodies: {{a: {{mass: 1, inertia: 0}}}}\ntitle: {}\npoints: {{{} p: {{body: 1, \"col\\u001b[31m\": 2}}}}\n",
        "x".repeat(300),
        " ".repeat(300)
    );
    let got = shown(&text);
    assert!(got.contains("error[M012]") && got.contains(":4:"), "{got}");
    assert!(!got.contains('\u{1b}') && got.lines().all(|l| l.chars().count() < 130), "{got}");
    let painted = render(&read_model(&text, &ReadOptions::default()).unwrap_err(), "arm.yaml", true);
    assert!(painted.starts_with("\u{1b}[1;31merror[M012]"));
}

#[test]
fn singular_positions_that_look_alike_are_told_once() {
    use fourbar::analysis::singular::{Singular, warning};
    let at = |time: f64| Singular { time, pivot: 1e-9, joints: vec!["pin".into()] };
    let told = |times: &[f64]| warning(&times.iter().map(|t| at(*t)).collect::<Vec<_>>()).map(|d| d.message).unwrap_or_default();
    assert!(told(&[0.25; 6]).starts_with("at t = 0.25000 s the mechanism passes a singular position"), "{}", told(&[0.25; 6]));
    let two = told(&[0.25, 0.25, 0.250_000_1, 1.5]);
    assert!(two.contains("passes 2 singular positions, at t = 0.25000, 1.50000 s:"), "{two}");
    let many: Vec<f64> = (0..9).map(f64::from).collect();
    assert!(told(&many).contains("5.00000 s and 3 more"), "{}", told(&many));
}
