//! Valid files: the starter, the shipped models, every section and type, JSON, overrides.

use fourbar::spec::*;
use fourbar_io::{Loaded, ReadOptions, read_model, read_model_file, render, starter};
use std::path::Path;

fn read(text: &str) -> Loaded {
    read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{}", render(&e, "test.yaml", false)))
}

/// A file with one body and whatever follows.
fn with(rest: &str) -> String {
    format!("fourbar: 1\nbodies:\n  a: {{mass: 1, inertia: [1, 1, 1]}}\n  b: {{mass: 1, inertia: 0}}\n{rest}")
}

#[test]
fn the_files_to_start_from_read_without_a_warning() {
    for s in fourbar_io::STARTERS {
        let loaded = read(s.text);
        assert!(loaded.warnings.is_empty(), "{}: {:?}", s.kind, loaded.warnings);
        loaded.spec.build().unwrap_or_else(|e| panic!("{}: {e}", s.kind));
        assert!(s.text.lines().all(|l| l.chars().count() <= 200) && s.text.starts_with("# "), "{}", s.kind);
    }
    // The lengths of the links are those of the starter file.
    let coupler = read(starter()).spec.bodies[1].1.clone();
    let radius = 8e-3_f64;
    let length = 260e-3_f64.hypot(80e-3);
    let volume = std::f64::consts::PI * radius * radius * (length + 4.0 / 3.0 * radius);
    assert!((coupler.mass - 7850.0 * volume).abs() < 1e-12, "{}", coupler.mass);
}

#[test]
fn every_shipped_model_reads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "yaml") {
            if let Err(errors) = read_model_file(&path, &[]) {
                panic!("{}", render(&errors, &path.display().to_string(), false));
            }
            count += 1;
        }
    }
    assert!(count > 20, "only {count} models found");
}

#[test]
fn the_example_of_the_manual_gives_what_it_says() {
    let text = "
fourbar: 1
title: Slider-crank with a spring
parameters: {r: 80 mm, speed: 2*pi}
gravity: [0, 0, -9.81]
bodies:
  crank:
    mass: 0.12
    inertia: [1e-4, 1e-5, 1e-4]
    at: [0, 0.1, 0.12]
    orientation: {axis: [1, 0, 0], angle: 90 deg}
    omega: [-speed, 0, 0]
    shape: [{type: rod, from: [0, 0, 0], to: [0, 0, r], radius: 8 mm}]
  slider: {mass: 2, inertia: [1e-4, 1e-4, 1e-4], at: [0.2, 0, 0]}
joints:
  pin: {type: revolute, bodies: [ground, crank], at: [0, 0.1, 0.12], axis: [1, 0, 0]}
  cross: {type: universal, bodies: [crank, slider], at: [0.2, 0, 0], axes: [[0, 0.894427, -0.447214], [1, 0, 0]]}
constraints: {}
drives:
  motor: {joint: pin, angle: -speed*t}
forces:
  spring: {type: spring, between: [{body: slider}, {body: ground, at: [0.5, 0, 0]}], stiffness: 200, length: 0.3, damping: 2}
points: {tip: {body: crank, at: [0, 0.1, 0]}}
hold: [pin]
study: {analysis: dynamics, formulation: auto, t_end: 5, output_step: 10 ms, tol: 1e-8, options: {rho: 0.8}}
view: {trace: [tip]}
";
    let spec = read(text).spec;
    let crank = &spec.bodies[0].1;
    assert_eq!(crank.shapes, [Shape::Rod { from: [0.0; 3], to: [0.0, 0.0, 0.08], radius: 0.008 }]);
    assert_eq!(crank.omega[0], -2.0 * std::f64::consts::PI);
    assert_eq!(crank.orientation, Orientation::AxisAngle { axis: [1.0, 0.0, 0.0], angle: std::f64::consts::FRAC_PI_2 });
    assert_eq!(spec.drives[0].1.value.time_derivatives(2.0)[1], -2.0 * std::f64::consts::PI);
    assert_eq!(spec.study.options, [("rho".to_string(), "0.8".to_string())]);
    assert_eq!(spec.study.output_step, Some(0.01));
    let JointSpec::Pair { kind: PairKind::Universal, placement: Placement::World { axis_moving, .. }, .. } = &spec.joints[1].1 else {
        panic!()
    };
    assert_eq!(*axis_moving, Some([1.0, 0.0, 0.0]));
    let ForceSpec::Spring(SpringSpec { between, law: SpringLaw::Linear { stiffness, rest, damping }, .. }) = &spec.forces[0].1 else {
        panic!()
    };
    assert_eq!((between[0].at, *stiffness, *rest, *damping), (At::Body([0.0; 3]), 200.0, 0.3, 2.0));
    assert_eq!((spec.hold, spec.trace), (vec!["pin".to_string()], vec!["tip".to_string()]));
}

#[test]
fn every_joint_type_reads_in_both_forms() {
    for kind in ["revolute", "prismatic", "cylindrical", "planar", "point-on-line", "point-on-plane"] {
        read(&with(&format!("joints:\n  j: {{type: {kind}, bodies: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}}\n")));
        read(&with(&format!(
            "joints:\n  j: {{type: {kind}, bodies: [a, b], frames: {{b: {{at: [0, 0, 0], axis: [0, 0, 1], x: [1, 0, 0]}}, a: {{at: [1 m, 0, 0], axis: [0, 0, 1]}}}}}}\n"
        )));
    }
    let text = with(
        "joints:
  screw: {type: screw, bodies: [a, b], at: [0, 0, 0], axis: [0, 0, 1], lead: 2 mm}
  ball: {type: spherical, bodies: [a, b], at: [0, 0, 0]}
  weld: {type: fixed, bodies: [a, b], frames: {a: {at: [0, 0, 0]}, b: {at: [0, 1, 0]}}}
  cross: {type: universal, bodies: [a, b], frames: {a: {at: [0, 0, 0], axis: [1, 0, 0]}, b: {at: [0, 1, 0], axis: [0, 1, 0]}}}
  rod: {type: distance, from: {body: a}, to: {body: b, world: [1, 0, 0]}, length: 1}
  rod2: {type: distance, bodies: [a, b], from: [0, 0, 0], to: [1, 0, 0]}
  lean: {type: angle, bodies: [a, b], axes: [{world: [1, 0, 0]}, [0, 1, 0]], angle: 90 deg}
  pair: {type: gear, joints: [screw, cross], ratio: -2}
  rack: {type: rack, joints: [screw, cross], radius: 20 mm}
",
    );
    let joints = read(&text).spec.joints;
    assert_eq!(joints.len(), 9);
    assert!(matches!(&joints[0].1, JointSpec::Pair { kind: PairKind::Screw { lead }, .. } if *lead == 0.002));
    assert!(matches!(&joints[5].1, JointSpec::Distance { from, length: None, .. } if from.body == "a" && from.at == At::World([0.0; 3])));
    assert!(matches!(&joints[6].1, JointSpec::Angle { axes: [At::World(_), At::Body(_)], .. }));
}

#[test]
fn constraints_and_forces_read() {
    let text = with(
        "joints: {pin: {type: revolute, bodies: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}}
points: {tip: {body: b}}
constraints:
  one: {type: dp1, axes: [{body: a, at: [1, 0, 0]}, {body: ground, world: [0, 1, 0]}], value: cos(t)}
  two: {type: dp2, axis: {at: [1, 0, 0]}, from: {body: a}, to: {body: b}, value: 5 mm*t}
  three: {type: d, from: {body: a}, to: {body: b}, value: (1 m + 2*t)^2}
  four: {type: cd, axis: [0, 0, 1], from: {body: a}, to: {body: b}, value: 0}
forces:
  s: {type: spring, between: [{body: a}, {body: b}], tension: '100*(length - 0.1) + if(rate > 0, 3*rate, 0)'}
  w: {type: torsion, joint: pin, stiffness: 5 N*m/rad, damping: 0.1}
  w2: {type: torsion, joint: pin, torque: 2*sin(angle) + rate*t}
  f: {type: force, on: {body: a, at: [1, 0, 0]}, force: [0, -3*tip.vy, 2 N], frame: body}
  g: {type: force, body: a, force: [0, 0, 1]}
  q: {type: torque, body: b, torque: [0, 0, pin.speed*pin.angle]}
  m: {type: actuator, joint: pin, effort: 10*smoothstep(t, 0, 1)}
  e: {type: bushing, between: [{body: a}, {body: b}], stiffness: [1 kN/m, 1, 1, 2 N*m, 2, 2], frame: {zxz: [0, 0, 0]}}
  r: {type: friction, joint: pin, coulomb: 0.2, radius: 5 mm}
"
        .replace("smoothstep(t, 0, 1)", "t")
        .as_str(),
    );
    let spec = read(&text).spec;
    assert_eq!((spec.constraints.len(), spec.forces.len()), (4, 9));
    let ForceSpec::Spring(SpringSpec { law: SpringLaw::Expression(tension), .. }) = &spec.forces[0].1 else { panic!() };
    assert_eq!(tension.variables, [StateVariable::Length, StateVariable::Rate]);
    assert_eq!(tension.expr.eval(&[0.2, 2.0]), 16.0);
    let ForceSpec::Torque(TorqueSpec { torque, .. }) = &spec.forces[5].1 else { panic!() };
    assert_eq!(torque[2].variables, [StateVariable::JointSpeed("pin".into()), StateVariable::JointAngle("pin".into())]);
    let ForceSpec::Force(PointForceSpec { force, frame: ForceFrame::Body, .. }) = &spec.forces[3].1 else { panic!() };
    assert_eq!(force[1].variables, [StateVariable::PointVelocity("tip".into(), 1)]);
    assert!(
        matches!(&spec.forces[1].1, ForceSpec::Torsion(TorsionSpec { law: SpringLaw::Linear { stiffness, rest, .. }, .. }) if *stiffness == 5.0 && *rest == 0.0)
    );
}

#[test]
fn json_is_read_like_yaml() {
    let yaml = read(&with("gravity: [0, 0, -9.81]\n")).spec;
    let json = read(
        r#"{"fourbar": 1, "gravity": [0, 0, -9.81], "bodies": {"a": {"mass": 1, "inertia": [1, 1, 1]}, "b": {"mass": 1, "inertia": 0}}}"#,
    )
    .spec;
    assert_eq!(format!("{yaml:?}"), format!("{json:?}"));
}

#[test]
fn parameters_stand_in_any_order_and_can_be_set() {
    let text = "fourbar: 1\nparameters: {c: a + b, a: 2*b, b: 10 mm, spare: 1}\nbodies: {x: {mass: 1, inertia: 0, at: [c, 0, 0]}}\n";
    let loaded = read(text);
    assert!((loaded.spec.bodies[0].1.at[0] - 0.03).abs() < 1e-17);
    assert_eq!(loaded.unused_parameters, ["spare"]);
    assert_eq!(loaded.warnings[0].code.0, "W050");
    let set = [("b".to_string(), "1 in".to_string())];
    let loaded = read_model(text, &ReadOptions { set: &set, ..Default::default() }).unwrap();
    assert!((loaded.spec.bodies[0].1.at[0] - 0.0762).abs() < 1e-15);
    let set = [("bb".to_string(), "1".to_string())];
    let errors = read_model(text, &ReadOptions { set: &set, ..Default::default() }).unwrap_err();
    assert_eq!(errors[0].code.0, "M034");
}

#[test]
fn a_unit_that_hides_a_parameter_is_a_warning_unless_the_dimension_is_right() {
    let read = |parameters: &str, mass: &str| {
        read(&format!("fourbar: 1\nparameters: {{{parameters}}}\nbodies: {{x: {{mass: {mass}, inertia: 0, at: [d, 0, h*0 m/s]}}}}\n"))
    };
    let loaded = read("h: 0.1 s, d: 2 m/s*h", "1");
    assert_eq!(loaded.warnings.iter().map(|w| w.code.0).collect::<Vec<_>>(), ["W051"]);
    assert_eq!(loaded.spec.bodies[0].1.at[0], 7200.0);
    let loaded = read("h: 0.1 s, d: 2 m/s * h", "1");
    assert!(loaded.warnings.is_empty());
    assert!((loaded.spec.bodies[0].1.at[0] - 0.2).abs() < 1e-16);
    let loaded = read("h: 0.1 s, d: 1 m, m: 2", "3 kg/m*1 m + m*0");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn anchors_aliases_and_merged_keys_work() {
    let text = "fourbar: 1\nbodies:\n  a: &link {mass: 1, inertia: 0, at: [1, 2, 3]}\n  b: *link\n  c: {<<: *link, mass: 5}\n";
    let spec = read(text).spec;
    assert_eq!(spec.bodies[1].1.at, [1.0, 2.0, 3.0]);
    assert_eq!((spec.bodies[2].1.mass, spec.bodies[2].1.at), (5.0, [1.0, 2.0, 3.0]));
}

#[test]
fn the_starter_builds_and_mistakes_of_the_model_are_located() {
    read(starter()).spec.build().unwrap();
    let text = starter().replace("bodies: [ground, crank],", "bodies: [ground, crnk],");
    let loaded = read(&text);
    let errors = loaded.spec.build().expect_err("the body does not exist");
    let located = loaded.places.locate(&errors[0]);
    assert_eq!(located.place.as_ref().expect("it stands in the file").snippet, "[ground, crnk]");
    let shown = render(&[located], "starter.yaml", false);
    assert!(shown.contains("error[M106]") && shown.contains("did you mean"), "{shown}");
}

#[test]
fn solids_weigh_what_geometry_says() {
    let body = |solid: &str| read(&format!("fourbar: 1\nbodies: {{a: {{solid: {solid}}}}}\n")).spec.bodies.remove(0).1;
    // A box of 1 x 2 x 3 m at 2 kg/m^3.
    let b = body("{type: box, size: [1, 2, 3], density: 2}");
    assert_eq!((b.mass, b.inertia), (12.0, Inertia::Principal([13.0, 10.0, 5.0])));
    // Two halves of a cylinder make the whole one; oblique axes give a full tensor with the same trace.
    let whole = body("{type: cylinder, from: [0, 0, 0], to: [0, 0, 2], radius: 0.5, density: 3}");
    let halves = body(
        "[{type: cylinder, from: [0, 0, 0], to: [0, 0, 1], radius: 0.5, density: 3}, {type: cylinder, from: [0, 0, 1], to: [0, 0, 2], radius: 0.5, density: 3}]",
    );
    let (Inertia::Principal(w), Inertia::Principal(h)) = (whole.inertia, halves.inertia) else { panic!() };
    assert!((whole.mass - halves.mass).abs() < 1e-14 && whole.com == halves.com);
    assert!(w.iter().zip(h).all(|(a, b)| (a - b).abs() < 1e-14 * a), "{w:?} {h:?}");
    let oblique = body("{type: cylinder, from: [0, 0, 0], to: [0, sqrt(2), sqrt(2)], radius: 0.5, density: 3}");
    let Inertia::Tensor(t) = oblique.inertia else { panic!() };
    assert!((t[0] + t[1] + t[2] - w.iter().sum::<f64>()).abs() < 1e-12);
    // A rod of no length is a ball.
    let rod = body("{type: rod, from: [0, 0, 0], to: [0, 0, 0], radius: 2, density: 1}");
    let ball = body("{type: sphere, radius: 2, density: 1}");
    assert_eq!(format!("{:?}", rod.inertia), format!("{:?}", ball.inertia));
    assert_eq!(ball.shapes, [Shape::Sphere { at: [0.0; 3], radius: 2.0 }]);
    // A rod is a cylinder and two half balls, here summed numerically over thin slices.
    let rod = body("{type: rod, from: [0, 0, -1], to: [0, 0, 1], radius: 0.5, density: 1}");
    let (mut mass, mut across) = (0.0, 0.0);
    let n = 200_000;
    for i in 0..n {
        let z = -1.5 + 3.0 * (i as f64 + 0.5) / n as f64;
        let over = (z.abs() - 1.0_f64).max(0.0);
        let r2 = 0.25 - over * over;
        let slice = std::f64::consts::PI * r2 * 3.0 / n as f64;
        mass += slice;
        across += slice * (r2 / 4.0 + z * z);
    }
    let Inertia::Principal(p) = rod.inertia else { panic!() };
    // The midpoint rule with 2e5 slices is good to about 1e-9.
    assert!((rod.mass - mass).abs() < 1e-8 && (p[0] - across).abs() < 1e-8, "{} {mass} {} {across}", rod.mass, p[0]);
}

#[test]
fn places_lead_back_to_the_file() {
    let text = with("joints:\n  pin: {type: revolute, bodies: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}\nhold: [pin]\n");
    let loaded = read(&text);
    let at = |path: &str| {
        let (line, column, range) = loaded.places.find(path).unwrap();
        (line, column, &text[range])
    };
    assert_eq!(at("joints.pin.bodies"), (6, 33, "[a, b]"));
    assert_eq!(at("joints.pin.bodies.1"), (6, 37, "b"));
    assert_eq!(at("hold[0]"), (7, 8, "pin"));
    assert_eq!(at("bodies"), (2, 1, "bodies"));
    assert_eq!(at("bodies.a.com"), (3, 3, "a"));
    assert!(loaded.places.find("nothing").is_none());
    assert_eq!(loaded.hash.len(), 64);
}

/// Bodies in a rotated initial orientation, with every element that has a direction on a body.
fn turned(axis: &str, on: &str) -> String {
    format!(
        "fourbar: 1
bodies:
  a: {{mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.3*cos(30 deg)], orientation: {{axis: [1, 0, 0], angle: 30 deg}}}}
  b: {{mass: 1, inertia: [1, 1, 1], orientation: {{axis: [0, 1, 1], angle: 50 deg}}}}
joints: {{lean: {{type: angle, bodies: [a, b], axes: [{axis}, {axis}]}}}}
constraints:
  disk: {{type: rolling-disk, {on}: {{body: a}}, axis: {axis}, radius: 0.3}}
  tyre: {{type: wheel, {on}: {{body: a}}, axis: {axis}, radius: 0.3}}
  blade: {{type: knife-edge, {on}: {{body: b, at: [1, 0, 0]}}, across: {axis}}}
  two: {{type: dp2, axis: {axis}, from: {{body: a}}, to: {{body: b}}, value: 0}}
  ball: {{type: rolling-sphere, {on}: {{body: b}}, radius: 0.1}}
forces:
  push: {{type: force, {on}: {{body: a, at: [1, 0, 0]}}, force: [1, 0, 0]}}
  twist: {{type: torque, {on}: {{body: a}}, torque: [1, 0, 0]}}
"
    )
}

#[test]
fn three_numbers_of_a_direction_are_in_the_frame_of_its_body() {
    let spec = |axis: &str, on: &str| read(&turned(axis, on)).spec;
    let bare = spec("[0, 1, 0]", "on");
    assert_eq!(bare, spec("{at: [0, 1, 0]}", "on"));
    assert_ne!(bare, spec("{world: [0, 1, 0]}", "on"));
    // A key that older YAML readers take for a truth value has a synonym, and may be quoted.
    assert_eq!(bare, spec("[0, 1, 0]", "place"));
    assert_eq!(bare, spec("[0, 1, 0]", "'on'"));
    for (text, code) in [
        (turned("[0, 1, 0]", "on").replace("on: {body: b}, radius", "on: {body: b}, place: {body: b}, radius"), "M014"),
        (turned("[0, 1, 0]", "on").replace("on: {body: b}, radius", "radius"), "M013"),
        (turned("[0, 1, 0]", "on").replace("on: {body: a}, torque", "body: a, place: {body: a}, torque"), "M014"),
    ] {
        let errors = read_model(&text, &ReadOptions::default()).unwrap_err();
        assert_eq!(errors.iter().map(|e| e.code.0).collect::<Vec<_>>(), [code], "{text}");
    }
    // A disk that is drawn leaning and in contact with its plane stays in place.
    let disk = "fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  d: {mass: 1, inertia: [0.01, 0.02, 0.01], at: [0, 0, 0.3*cos(30 deg)], orientation: {axis: [1, 0, 0], angle: 30 deg}}
constraints: {roll: {type: rolling-disk, on: {body: d}, axis: [0, 1, 0], radius: 0.3}}
";
    let model = read(disk).spec.build().expect("a model");
    let moved = fourbar::analysis::assembly::assemble(&model).expect("assembles").moved;
    assert!(moved.iter().all(|m| m.distance < 1e-12 && m.angle < 1e-12), "{moved:?}");
}

/// Curves of both kinds and the joints on them are unchanged after writing and reading.
#[test]
fn curves_and_points_on_them_survive_writing() {
    let text = "fourbar: 1\ncurves:\n  lobe: {points: [[40 mm, 0], [0, 35 mm], [-30 mm, 0], [0, -31 mm]], closed: true, plane: {at: [0, 0, 1 mm], normal: [0, 0.6, 0.8], x: [1, 0, 0]}}\n  track: {points: [[0, 0, 0.1], [1, 0.2, 0.1], [2, 0, 0.1], [2.5, 0.4, 0.1]]}\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n  b: {mass: 1, inertia: [1, 1, 1], at: [0.1, 0, 0]}\njoints:\n  j: {type: point-on-curve, bodies: [ground, a], curve: lobe, at: {at: [1, 2, 3]}, radius: 2 mm, side: right}\n  k: {type: point-on-curve, bodies: [ground, b], curve: track, at: [0.1, 0.2, 0.3]}\n";
    let spec = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).unwrap().spec;
    assert_eq!((spec.curves.len(), spec.joints.len()), (2, 2));
    let model = spec.build().unwrap();
    let distances = model.joints.iter().filter(|j| j.kind.has_distance()).count();
    // The coordinate along the closed curve counts turns.
    assert_eq!((distances, model.angles.len()), (2, 1));
    let written = fourbar_io::write_model(&spec);
    assert_eq!(fourbar_io::read_model(&written, &fourbar_io::ReadOptions::default()).unwrap().spec, spec, "{written}");
}

#[test]
fn computed_parameters_are_those_that_follow_others() {
    let loaded = read(&with("parameters: {a: 2 m, c: 3 m + b/2, b: a*2, d: 5, e: sin(pi)}\n"));
    assert_eq!(loaded.computed_parameters, ["c", "b"]);
    // A value from outside replaces an expression, and an expression replaces a value.
    let set = [("b".to_string(), "1 m".to_string()), ("d".to_string(), "2*e".to_string())];
    let text = with("parameters: {a: 2 m, c: 3 m + b/2, b: a*2, d: 5, e: sin(pi)}\n");
    let other = read_model(&text, &ReadOptions { set: &set, ..ReadOptions::default() }).expect("readable");
    assert_eq!(other.computed_parameters, ["c", "d"]);
    // In shipped models every parameter that changes with others is in the list.
    for e in fourbar_io::examples::examples() {
        let loaded = read(e.text);
        for (name, x) in &loaded.parameters {
            let set = [(name.clone(), format!("{:e}", if *x == 0.0 { 1e-3 } else { 1.001 * x }))];
            let Ok(changed) = read_model(e.text, &ReadOptions { set: &set, ..ReadOptions::default() }) else { continue };
            for (was, is) in loaded.parameters.iter().zip(&changed.parameters).filter(|(was, is)| was.0 != *name && was.1 != is.1) {
                assert!(loaded.computed_parameters.contains(&is.0), "{}: `{}` follows `{name}`, {}", e.name, is.0, was.1);
            }
        }
    }
}
