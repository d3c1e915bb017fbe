//! Mechanisms written as MJCF and URDF and read again have the same motion.

use super::*;
use fourbar::spec::*;
use fourbar_io::{write_mjcf, write_urdf};

/// A tree with every joint of the formats, away from zero, and a gear.
fn tree(loops: bool) -> ModelSpec {
    let body = |at: [f64; 3], q: [f64; 4]| BodySpec {
        mass: 1.5,
        inertia: Inertia::Tensor([0.2, 0.3, 0.35, 0.01, -0.02, 0.03]),
        at,
        orientation: Orientation::Quaternion(q),
        com: [0.1, -0.2, 0.05],
        ..BodySpec::default()
    };
    let pair = |kind: PairKind, a: &str, b: &str, at: [f64; 3], axis: [f64; 3]| JointSpec::Pair {
        kind,
        bodies: [a.into(), b.into()],
        placement: Placement::World { at, axis, axis_moving: None },
    };
    let mut spec = ModelSpec {
        gravity: Some([0.0, 0.0, -9.81]),
        bodies: vec![
            ("a".into(), body([1.0, 0.0, 0.0], [1.0, 0.2, 0.0, -0.4])),
            ("b".into(), body([2.0, 0.5, 0.0], [0.7, 0.0, 0.3, 0.1])),
            ("c".into(), body([2.0, 1.5, 0.2], [0.1, 0.9, 0.3, 0.1])),
            ("d".into(), body([0.0, -1.0, 0.2], [0.5, -0.5, 0.5, 0.1])),
        ],
        joints: vec![
            ("ja".into(), pair(PairKind::Revolute, "ground", "a", [0.5, 0.0, 0.0], [0.0, 1.0, 0.3])),
            // Reversed: the base is the child of the moving body.
            ("jb".into(), pair(PairKind::Revolute, "b", "a", [1.5, 0.2, 0.0], [1.0, 0.1, 0.3])),
            ("jc".into(), pair(PairKind::Prismatic, "b", "c", [2.0, 1.0, 0.0], [0.0, 1.0, 1.0])),
            ("jd".into(), pair(PairKind::Revolute, "ground", "d", [0.0, -1.0, 0.0], [1.0, 0.0, 0.0])),
            ("gear".into(), JointSpec::Gear { joints: ["ja".into(), "jd".into()], ratio: -0.5, carrier: None }),
        ],
        ..ModelSpec::default()
    };
    if loops {
        spec.joints.push(("ball".into(), pair(PairKind::Spherical, "c", "d", [1.0, 0.5, 0.2], [0.0, 0.0, 1.0])));
        spec.joints.remove(4);
    }
    spec
}

fn alike(spec: &ModelSpec, text: &str) {
    let (before, after) = (spec.build().expect("good"), model(&read(text)));
    assert_eq!(mobility(&before).0, mobility(&after).0);
    let (a, b) = (motion(&before, 0.3), motion(&after, 0.3));
    for name in ["a", "b", "c", "d"] {
        for axis in ["x", "y", "z"] {
            let column = format!("{name}.r.{axis}");
            let (x, y) = (last(&a, &column), last(&b, &column));
            assert!((x - y).abs() < 1e-7, "{column}: {x} {y}\n{text}");
        }
    }
}

#[test]
fn a_tree_written_as_mjcf_or_urdf_moves_as_before() {
    let spec = tree(false);
    let m = spec.build().expect("good");
    let (text, notes) = write_mjcf(&spec, &m).expect("written");
    assert!(notes.is_empty(), "{notes:?}");
    alike(&spec, &text);
    let (text, notes) = write_urdf(&spec, &m).expect("written");
    assert!(notes.is_empty(), "{notes:?}");
    alike(&spec, &text);
}

#[test]
fn loops_are_kept_in_mjcf_and_listed_for_urdf() {
    let spec = tree(true);
    let m = spec.build().expect("good");
    let (text, notes) = write_mjcf(&spec, &m).expect("written");
    assert!(notes.is_empty(), "{notes:?}");
    alike(&spec, &text);
    let (_, notes) = write_urdf(&spec, &m).expect("written");
    assert_eq!(notes.iter().map(|d| (d.code.0, d.at.as_deref())).collect::<Vec<_>>(), [("W459", Some("joints.ball"))]);
}

#[test]
fn limits_are_written_and_read_again() {
    let mut spec = tree(false);
    let limit = |min: Option<f64>, max: Option<f64>| LimitSpec { min, max, ..LimitSpec::default() };
    spec.limits =
        vec![("ja".into(), limit(Some(-0.1), Some(0.25))), ("jb".into(), limit(None, Some(1.0))), ("jc".into(), limit(Some(-0.5), None))];
    let m = spec.build().expect("good");
    for (text, notes) in [write_mjcf(&spec, &m).expect("written"), write_urdf(&spec, &m).expect("written")] {
        assert!(notes.is_empty(), "{notes:?}");
        let again = read(&text);
        assert!(!codes(&again).contains(&"W452"), "{:?}", again.warnings);
        for (name, l) in &spec.limits {
            let (_, r) = again.spec.limits.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("{name}\n{text}"));
            for (a, b) in [(l.min, r.min), (l.max, r.max)] {
                assert!(a.is_some() == b.is_some() && (a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-12, "{l:?} {r:?}");
            }
        }
    }
    // Properties that the formats cannot express are listed.
    spec.limits[0].1.restitution = Some(0.5);
    spec.limits[1].1.speed_max = Some(3.0);
    let m = spec.build().expect("good");
    for (_, notes) in [write_mjcf(&spec, &m).expect("written"), write_urdf(&spec, &m).expect("written")] {
        let list: Vec<_> = notes.iter().map(|d| (d.code.0, d.at.as_deref())).collect();
        assert_eq!(list, [("W459", Some("joints.ja")), ("W459", Some("joints.jb"))]);
    }
}

/// Inputs, actuators, points and loops are read again as written; lost properties are listed.
#[test]
fn inputs_points_and_loops_are_written_or_listed() {
    let text = "fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [2, 0, 0]}
joints:
  ja: {type: revolute, bodies: [ground, a], at: [0.5, 0, 0], axis: [0, 1, 0]}
  jb: {type: prismatic, bodies: [a, b], at: [1.5, 0, 0], axis: [1, 0, 0]}
  close: {type: spherical, bodies: [ground, b], at: [2.5, 0.25, 0.125]}
inputs:
  u: {unit: N, default: 2}
  w: {unit: 'N*m', range: [-3, 3]}
  idle: {unit: N}
forces:
  fa: {type: actuator, joint: ja, effort: 2*w}
  fb: {type: actuator, joint: jb, effort: u}
  fc: {type: actuator, joint: jb, effort: 3*u}
points:
  tip: {body: b, at: [0.25, 0.5, 0.75]}
  post: {body: ground, at: [0.125, 0, 1]}
study: {t_end: 3}
view: {trace: [tip]}
";
    let loaded = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let m = loaded.spec.build().expect("good");
    let place = |m: &Model, name: &str| {
        let (_, p) = m.points.iter().find(|(n, _)| n.as_str() == name).unwrap_or_else(|| panic!("no point {name}"));
        let start = assembly::assemble(m).expect("it closes").configuration;
        let q = &start.q[p.body.index()];
        q.r + q.A * p.s
    };
    for (format, written) in [("MJCF", write_mjcf(&loaded.spec, &m)), ("URDF", write_urdf(&loaded.spec, &m))] {
        let (text, notes) = written.unwrap_or_else(|e| panic!("{e:?}"));
        let has =
            |at: &str, words: &str| notes.iter().any(|d| d.code.0 == "W459" && d.at.as_deref() == Some(at) && d.message.contains(words));
        for (at, words) in [
            ("inputs.u", "the default 2 of the input `u` is not written"),
            ("inputs.u", "the input `u` becomes 2"),
            ("inputs.idle", "no actuator that it moves is written"),
            ("study", "the settings of the run are not written"),
            ("view", "not written"),
        ] {
            assert!(has(at, words), "{format}: {words}: {notes:?}");
        }
        assert!(!notes.iter().any(|d| d.at.as_deref() == Some("inputs.w")), "{notes:?}");
        let again = read(&text);
        let after = model(&again);
        for name in ["tip", "post"] {
            assert!((place(&m, name) - place(&after, name)).norm() < 1e-12, "{format}: {name}\n{text}");
        }
        let ranges: Vec<[f64; 2]> = again.spec.inputs.iter().map(|(_, i)| i.range).filter(|r| r[1].is_finite()).collect();
        assert_eq!(ranges, [[-3.0, 3.0]], "{format}: only `w` is bounded\n{text}");
        if format == "MJCF" {
            assert!(again.spec.joints.iter().any(|(n, _)| n == "close"), "the joint of the loop keeps its name\n{text}");
        }
    }
}
