//! Exact messages for typical mistakes.

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
  = help: give one of them a value that does not depend on the others",
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
    use fourbar::singular::{Singular, warning};
    let at = |time: f64| Singular { time, pivot: 1e-9, joints: vec!["pin".into()] };
    let told = |times: &[f64]| warning(&times.iter().map(|t| at(*t)).collect::<Vec<_>>()).map(|d| d.message).unwrap_or_default();
    assert!(told(&[0.25; 6]).starts_with("at t = 0.25000 s the mechanism passes a singular position"), "{}", told(&[0.25; 6]));
    let two = told(&[0.25, 0.25, 0.250_000_1, 1.5]);
    assert!(two.contains("passes 2 singular positions, at t = 0.25000, 1.50000 s:"), "{two}");
    let many: Vec<f64> = (0..9).map(f64::from).collect();
    assert!(told(&many).contains("5.00000 s and 3 more"), "{}", told(&many));
}

const PIN: &str = "fourbar: 1\nbodies:\n  crank: {mass: 1, inertia: 0}\njoints:\n  pin: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}\n  guide: {type: prismatic, bodies: [ground, crank], at: [0, 0, 0], axis: [1, 0, 0]}\n";

/// Message and help of the only problem of a text.
fn only(text: &str) -> (String, String) {
    let errors = read_model(text, &ReadOptions::default()).expect_err(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    (format!("{}: {}", errors[0].code, errors[0].message), errors[0].help.clone())
}

#[test]
fn a_comma_inside_brackets() {
    let text = format!("{PIN}forces:\n  f: {{type: force, on: {{body: crank}}, force: [max(0,t), 0, 0]}}\n");
    let (message, help) = only(&text);
    assert_eq!(message, "M017: `force` needs 3 entries, not 4");
    assert_eq!(help, "an expression with a comma must be quoted inside brackets: `'max(0, t)'`");
    // The text proposed by the help is valid.
    let cured = text.replace("max(0,t)", "'max(0, t)'");
    assert!(read_model(&cured, &ReadOptions::default()).is_ok());
    // Nested calls are quoted as a whole.
    let (_, help) = only(&text.replace("max(0,t)", "if(t > 1, min(1, 2), 3)"));
    assert!(help.contains("`'if(t > 1, min(1, 2), 3)'`"), "{help}");
    let text = format!("{PIN}forces: {{s: {{type: actuator, effort: if(t > 1, max(0, t), 0), joint: pin}}}}\n");
    let (message, help) = only(&text);
    assert_eq!(message, "M020: a comma ends `effort`");
    assert_eq!(help, "an expression with a comma must be quoted inside braces: `effort: 'if(t > 1, max(0, t), 0)'`");
    assert!(read_model(&text.replace("if(t > 1, max(0, t), 0)", "'if(t > 1, max(0, t), 0)'"), &ReadOptions::default()).is_ok());
}

#[test]
fn a_coordinate_in_a_drive() {
    let (message, help) = only(&format!("{PIN}drives: {{m: {{joint: guide, distance: '10 mm*(1 - cos(pin.angle))'}}}}\n"));
    assert_eq!(message, "M021: `distance`: unknown name `pin.angle`");
    assert!(help.starts_with("this must be a function of the time `t` alone; an `actuator` may use `pin.angle`"), "{help}");
    let (_, help) = only(&format!("{PIN}drives: {{m: {{joint: pin, angle: 'cos(shaft.angle)'}}}}\n"));
    assert_eq!(help, "no joint or point is called `shaft`, and this must be a function of the time `t` alone");
    let (_, help) = only(&format!("{PIN}parameters: {{a: 2*pin.angle}}\npoints: {{p: {{body: crank, at: [a, 0, 0]}}}}\n"));
    assert!(help.contains("here a constant is needed"), "{help}");
}

#[test]
fn units_by_the_words_of_others() {
    for (word, unit) in [("sec", "s"), ("seconds", "s"), ("degrees", "deg"), ("inches", "in"), ("KG", "kg"), ("metres", "m")] {
        let (message, help) = only(&format!("{PIN}study: {{t_end: 10 {word}}}\n"));
        assert_eq!(message, format!("M030: `t_end`: unknown unit `{word}`"));
        assert_eq!(help, format!("did you mean `{unit}`?"));
    }
}

#[test]
fn a_file_without_its_version() {
    let (message, help) = only(PIN.trim_start_matches("fourbar: 1\n"));
    assert_eq!(message, "M013: the file does not state the version of its format");
    assert_eq!(help, "write `fourbar: 1` as its first line");
}

#[test]
fn contacts_and_limits() {
    let (message, help) = only(&format!("{PIN}forces: {{f: {{type: contact}}}}\n"));
    assert_eq!(message, "M015: unknown force type `contact`");
    assert!(help.contains("contact"), "{help}");
    let text =
        "fourbar: 1\nbodies: {b: {mass: 1, inertia: 0}}\njoints: {j: {type: fixed, bodies: [ground, b], at: [0, 0, 0], limits: [-1, 1]}}\n";
    let (message, help) = only(text);
    assert_eq!(message, "M012: unknown key `limits` in a fixed joint");
    assert!(help.starts_with("this joint takes no limits"), "{help}");
    let (message, help) = only(&text.replace("type: fixed", "type: revolute").replace("limits:", "axis: [0, 0, 1], limits:"));
    assert_eq!(
        (message.as_str(), help.as_str()),
        ("M011: `limits` must be a group of keys, not a list", "for example `limits: {min: -90 deg, max: 90 deg}`")
    );
}

#[test]
fn types_and_keys_in_the_wrong_place() {
    for (section, cure) in [
        ("forces: {f: {type: gear, joints: [pin, guide], ratio: 1}}", "`gear` belongs under `joints:`"),
        ("forces: {f: {type: rolling-disk}}", "`rolling-disk` belongs under `constraints:`"),
        ("constraints: {c: {type: damper}}", "`spring` belongs under `forces:`"),
        ("drives: {m: {joint: pin, velocity: 2}}", "it is called `speed` here"),
        ("study: {t_end:1}", "a space must follow the colon: `t_end: 1`"),
        (
            "contacts: {c: {bodies: [ground, crank]}}",
            "give the two sides under `between`, such as `between: [{body: ball, radius: 20 mm}, {plane: {}}]`",
        ),
    ] {
        assert_eq!(only(&format!("{PIN}{section}\n")).1, cure, "{section}");
    }
}

#[test]
fn a_disk_that_lies_flat() {
    let text = "fourbar: 1\nbodies: {b: {mass: 1, inertia: [1, 1, 2]}}\nconstraints: {f: {type: rolling-disk, place: {body: b}, axis: [0, 0, 1], radius: 0.2}}\n";
    let refused = read_model(text, &ReadOptions::default()).expect("it is read").spec.build().map(|_| ()).expect_err("it cannot roll");
    let help = &refused[0].help;
    assert!(refused[0].code.0 == "M115" && help.contains("the axis that the disk turns about, in the frame of its body"), "{help}");
}

#[test]
fn single_values_and_lists_where_something_else_must_stand() {
    for (text, message, help) in [
        (
            format!("{PIN}gravity: -9.81\n"),
            "M011: `gravity` must be a list of 3, not a single value",
            "for example `gravity: [0, 0, -9.81]`",
        ),
        (
            PIN.replace("axis: [0, 0, 1]", "axis: z"),
            "M011: `axis` must be a list of 3, not a single value",
            "a direction is a list of three numbers: write `axis: [0, 0, 1]`",
        ),
        (
            format!("{PIN}points: {{P: [1, 0, 0]}}\n"),
            "M011: `P` must be a place on a body, not a list",
            "a place names its body: `{body: NAME, at: [1, 0, 0]}` in the body frame, or `world:` as drawn",
        ),
        (
            format!("{PIN}forces: {{s: {{type: spring, between: [{{body: ground}}, crank], stiffness: 3, length: 1}}}}\n"),
            "M011: `between[1]` must be a place on a body, not a single value",
            "a place names its body: `{body: crank, at: [x, y, z]}` in the body frame, or `world:` as drawn",
        ),
        (
            format!("{PIN}forces: {{s: {{type: spring, between: crank, stiffness: 3, length: 1}}}}\n"),
            "M011: `between` must be a list of 2, not a single value",
            "for example `between: [{body: ground, at: [0, 0, 0]}, {body: crank, at: [0.1, 0, 0]}]`",
        ),
    ] {
        assert_eq!(only(&text), (message.to_string(), help.to_string()));
    }
}

#[test]
fn drives_in_the_units_of_something_else() {
    let of = |drive: &str| only(&format!("{PIN}drives: {{m: {{{drive}}}}}\n")).0;
    assert_eq!(of("joint: pin, angle: 20 mm"), "M031: `angle` must be an angle or number, but `20 mm` is a length");
    assert_eq!(of("joint: pin, angle: 3 mm/s*t"), "M031: `angle` must be an angle or number, but `3 mm/s*t` is a length");
    assert_eq!(
        of("joint: pin, angle: '20 mm*sin(2*pi*t)'"),
        "M031: `angle` must be an angle or number, but `20 mm*sin(2*pi*t)` is a length"
    );
    assert_eq!(of("joint: guide, distance: 3 N*t"), "M031: `distance` must be a length, but `3 N*t` is a force");
    assert_eq!(of("joint: pin, speed: 3 mm/s"), "M031: `speed` must be an angular speed, but `3 mm/s` is a speed");
    assert_eq!(of("joint: guide, speed: 60 rpm"), "M031: `speed` must be a speed, but `60 rpm` is an angular speed");
    assert_eq!(
        of("joint: guide, acceleration: 1 rad/s^2"),
        "M031: `acceleration` must be an acceleration, but `1 rad/s^2` is an angular acceleration"
    );
    // Valid expressions, with units of all factors or of some.
    for good in [
        "joint: pin, angle: 10 deg/s*t",
        "joint: pin, angle: 10 deg + 3*t",
        "joint: pin, angle: '20 deg*sin(2*pi*t)'",
        "joint: pin, speed: 60 rpm",
        "joint: pin, speed: 2*t",
        "joint: guide, distance: 3 mm*t",
        "joint: guide, distance: '0.1*t + 5 mm*sin(t)'",
        "joint: guide, speed: 3 mm/s",
        "joint: guide, acceleration: 2",
    ] {
        let text = format!("{PIN}drives: {{m: {{{good}}}}}\n");
        assert!(read_model(&text, &ReadOptions::default()).is_ok_and(|l| l.warnings.is_empty()), "{good}");
    }
}

#[test]
fn angles_that_look_like_degrees_are_hinted_at() {
    let warnings = |text: &str| read_model(text, &ReadOptions::default()).expect(text).warnings;
    for (drive, hint) in [
        ("360*t", true),
        ("90*sin(t)", true),
        ("2*pi*t", false),
        ("360 deg*t", false),
        ("360*t*pi/180", false),
        ("100*t", false),
        ("90 rad*t", false),
        ("t/360", false),
        ("45", true),
        ("3.1", false),
    ] {
        let got = warnings(&format!("{PIN}drives: {{m: {{joint: pin, angle: '{drive}'}}}}\n"));
        assert_eq!(got.iter().any(|w| w.code.0 == "W480"), hint, "{drive}: {got:?}");
    }
    let got = warnings(&PIN.replace("inertia: 0", "inertia: 0, orientation: {axis: [0, 0, 1], angle: 90}"));
    assert_eq!(got[0].message, "`angle: 90`: 90 without a unit is radians, 14.3 turns");
    assert_eq!(got[0].help, "for degrees write `90 deg`; for radians write `90 rad`");
    assert!(warnings(&format!("{PIN}start: {{pin.angle: 60}}\n")).iter().any(|w| w.code.0 == "W480"));
}

#[test]
fn files_of_other_programs_that_hold_no_mechanism_say_so() {
    for (text, code) in [("<html></html>\n", "M659"), ("<mujoco model=\"arm\">\n", "M650"), ("<robot", "M650")] {
        let (message, _) = only(text);
        assert!(message.starts_with(code), "{message}");
    }
}

#[test]
fn gaps_are_shown_without_rounding_beside_them() {
    use fourbar::analysis::assembly::Gap;
    let shown = |distance: f64, angle: f64| Gap { name: "pin".into(), distance, angle }.to_string();
    assert_eq!(shown(1.5e-8, 7.84e-29), "`pin` (1.50e-8 m)");
    assert_eq!(shown(1e-17, 0.25), "`pin` (0.25 rad)");
    assert_eq!(shown(0.01, 0.02), "`pin` (0.01 m, 0.02 rad)");
}

#[test]
fn words_and_habits_of_other_programs() {
    for (section, cure) in [
        ("joints: {j: {type: revolute, body1: ground, body2: crank, at: [0, 0, 0], axis: [0, 0, 1]}}", "`bodies: [base, moving]`"),
        (
            "joints: {j: {type: revolute, parent: ground, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}}",
            "`bodies: [base, moving]`",
        ),
        (
            "joints: {j: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], min: -1}}",
            "`limits: {min: -90 deg, max: 90 deg}`",
        ),
        (
            "joints: {j: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], damping: 0.1}}",
            "type: torsion, joint: JOINT",
        ),
        (
            "joints: {j: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], friction: 0.1}}",
            "type: friction, joint: JOINT",
        ),
        ("joints: {j: {type: revolute, bodies: [crank], at: [0, 0, 0], axis: [0, 0, 1]}}", "for example `bodies: [ground, crank]`"),
        ("joints: {j: {type: revolute, bodies: [ground, crank], at: [0, 1], axis: [0, 0, 1]}}", "for example `at: [0.1, 0, 0]`"),
        ("drives: {m: {joint: pin, torque: 5 N*m}}", "`forces: {NAME: {type: actuator, joint: JOINT, effort: ...}}`"),
        ("motors: {m: {joint: pin, angle: 2*t}}", "`drives: {NAME: {joint: JOINT, angle: ...}}`"),
        ("forces: {f: {type: force, on: {body: crank}, at: [0, 0, 1], force: [1, 0, 0]}}", "`on: {body: NAME, at: [x, y, z]}`"),
        ("forces: {f: {type: spring, between: [{body: ground}, {body: crank}], k: 5}}", "it is called `stiffness` here"),
        (
            "forces: {f: {type: damper, between: [{body: ground}, {body: crank}], damping: 5}}",
            "a damper is a `spring` that has only `damping`",
        ),
        ("study: {duration: 5}", "it is called `t_end` here"),
        ("study: {t_end: 5, dt: 1 ms}", "it is called `output_step` here"),
        ("study: {t_end: 5, fps: 50}", "`output_step: 10 ms`"),
        ("params: {a: 1}", "it is called `parameters` here"),
        ("initial: {pin.angle: 1}", "it is called `start` here"),
        ("actuators: {a: {type: actuator}}", "springs, dampers, actuators and loads are `forces:`"),
        ("simulation: {t_end: 1}", "it is called `study` here"),
        ("points: {p: {body: crank, at: [0, 0, 0], frame: world}}", "`world:` for the place as drawn"),
        ("results: [tip]", "for example `results: {columns: "),
        ("drives: {m: {joint: pin, angle: 2*time}}", "the time is called `t`"),
        ("drives: {m: {joint: pin, angle: 2*math.pi*t}}", "it is called `pi` here"),
        ("drives: {m: {joint: pin, angle: 2*\u{3c0}*t}}", "it is called `pi` here"),
        ("drives: {m: {joint: Pin, angle: 2*t}}", "did you mean `pin`?"),
    ] {
        let text = format!("{PIN}{section}\n");
        // A section that `PIN` already has is replaced.
        let text = if section.starts_with("joints") { text.replacen(&PIN[PIN.find("joints").expect("joints")..], "", 1) } else { text };
        let errors = read_model(&text, &ReadOptions::default())
            .map_or_else(|e| e.to_vec(), |l| l.spec.build().err().map_or(Vec::new(), |e| e.to_vec()));
        assert!(errors.iter().any(|e| e.help.contains(cure)), "{section}: {errors:?}");
        assert!(errors.len() <= 3, "{section}: {errors:?}");
    }
    for (density, cure) in
        [("steel", "give the density in kg/m^3, about 7850"), ("7.85 g/cm3", "powers of units are written with `^`: `cm^3`")]
    {
        let text = format!("fourbar: 1\nbodies: {{b: {{solid: {{type: sphere, radius: 1 cm, density: {density}}}}}}}\n");
        assert!(only(&text).1.contains(cure), "{}", only(&text).1);
    }
    let text = "fourbar: 1\nbodies: {b: {solid: {type: sphere, radius: 1 cm, material: steel}}}\n";
    let errors = read_model(text, &ReadOptions::default()).expect_err(text);
    assert!(errors.iter().any(|e| e.help.contains("`density: 7850` (kg/m^3) for steel")), "{errors:?}");
}

#[test]
fn text_that_is_not_yaml() {
    for (text, cure) in [
        ("fourbar: 1\ntitle:A\nbodies: {}\n", "a space must follow the colon: `title: A`"),
        ("fourbar: 1\nbodies\n  crank: {mass: 1}\n", "a key ends with a colon: `bodies:`"),
        ("fourbar: 1\ntitle: a: b\n", "a value that contains a colon must be quoted: `title: 'a: b'`"),
        ("fourbar: 1\nbodies:\n\tcrank: {mass: 1}\n", "indent with spaces: there is a tab"),
        ("fourbar: 1\nbodies: {b: {mass: 1, com: [0, 0, 100] mm, inertia: 0}}\n", "units stand at each number: `[0, 0, 100 mm]`"),
    ] {
        let (message, help) = only(text);
        assert!(message.starts_with("M001: this is not YAML"), "{message}");
        assert!(help.contains(cure), "{text}: {message}: {help}");
    }
}

/// A joint that cannot be built is reported once, without errors for references to it.
#[test]
fn a_mistake_in_a_joint_is_told_once() {
    let text = PIN.replacen("[ground, crank]", "[ground, crnak]", 1) + "drives: {m: {joint: pin, angle: 2*t}}\n";
    let refused = read_model(&text, &ReadOptions::default()).expect("it is read").spec.build().map(|_| ()).expect_err("no such body");
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!((refused[0].code.0, refused[0].help.as_str()), ("M106", "did you mean `crank`?"));
}
