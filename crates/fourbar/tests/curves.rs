//! Points on curves: closed forms, rounds, rollers, forces and drives along the curve, agreement of all formulations, invalid curves.

use fourbar::study::{Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;

/// Formulations that support a curve, each with an integrator.
const CARRY: &[(&str, &str)] = &[
    ("ra", "gen-alpha"),
    ("rp", "gen-alpha"),
    ("reps", "gen-alpha"),
    ("so3xr3", "dop853"),
    ("se3", "dop853"),
    ("lie", "dop853"),
    ("dca", "dop853"),
    ("grcr", "dop853"),
];

fn points(n: usize, place: impl Fn(f64) -> [f64; 2]) -> String {
    let mut text = String::from("[");
    for k in 0..n {
        let [x, y] = place(k as f64);
        let _ = write!(text, "{}[{x:.17}, {y:.17}]", if k == 0 { "" } else { ", " });
    }
    text + "]"
}

fn circle(n: usize, radius: f64) -> String {
    points(n, |k| {
        let a = TAU * k / n as f64;
        [radius * a.cos(), radius * a.sin()]
    })
}

/// A bead whose centre follows a curve of the ground.
fn bead(curve: &str, at: [f64; 2], velocity: [f64; 2], gravity: f64, more: &str) -> Model {
    parse(&format!(
        "fourbar: 1\ngravity: [0, {gravity}, 0]\ncurves:\n  track: {curve}\nbodies:\n  ball: {{mass: 2, inertia: [0.01, 0.01, 0.01], at: [{:.17}, {:.17}, 0], velocity: [{:.17}, {:.17}, 0]}}\njoints:\n  bead: {{type: point-on-curve, bodies: [ground, ball], curve: track, at: {{at: [0, 0, 0]}}}}\n{more}\n",
        at[0], at[1], velocity[0], velocity[1]
    ))
}

fn study(model: &Model, formulation: &str, integrator: &str, t_end: f64, output: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        step: None,
        tol: Some(if integrator == "gen-alpha" { 1e-7 } else { 1e-9 }),
        t_end,
        output_step: output,
        ..Study::of(model)
    }
}

/// Runs a study; a failure names the formulation.
fn moved(model: &Model, study: &Study) -> Trajectory {
    let mut t = Trajectory::default();
    fourbar::study::run(model, study, &mut t).unwrap_or_else(|f| panic!("{:?}: {}", study.formulation, f.diagnostic));
    t
}

fn last(t: &Trajectory, column: &str) -> f64 {
    *t.column(column).unwrap_or_else(|| panic!("no column {column}")).last().unwrap()
}

/// On a cycloid the arc length swings harmonically at every amplitude.
#[test]
fn a_bead_on_a_cycloid_swings_harmonically_in_its_arc_length() {
    let (a, g, n) = (0.1, 9.81, 301);
    let phi = |k: f64| -2.4 + 4.8 * k / 300.0;
    let place = |phi: f64| [a * (phi + phi.sin()), a * (1.0 - phi.cos())];
    let curve = format!("{{points: {}}}", points(n, |k| place(phi(k))));
    let start = 1.9_f64;
    let model = bead(&curve, place(start), [0.0, 0.0], -g, "");
    let arc = |phi: f64| 4.0 * a * (phi / 2.0).sin();
    let omega = (g / (4.0 * a)).sqrt();
    for (formulation, integrator) in CARRY {
        let t = moved(&model, &study(&model, formulation, integrator, 1.0, 0.05));
        let (time, s) = (t.column("t").unwrap(), t.column("bead.distance").unwrap());
        // Measured from the first point of the curve.
        let exact = |t: f64| arc(2.4) + arc(start) * (omega * t).cos();
        let worst = time.iter().zip(s).map(|(t, s)| (s - exact(*t)).abs()).fold(0.0, f64::max);
        // Errors: three hundred points give 1e-9 of the curve, a few hundred steps of tolerance 1e-9 some 1e-8; more for the second-order
        // gen-alpha.
        let limit = if *integrator == "gen-alpha" { 2e-4 } else { 1e-7 };
        assert!(worst < limit, "{formulation}: {worst:.2e}");
        let energy = t.column("energy.total").unwrap();
        let drift = energy.iter().map(|e| (e - energy[0]).abs()).fold(0.0, f64::max);
        assert!(drift < if *integrator == "gen-alpha" { 2e-3 } else { 2e-6 }, "{formulation}: energy {drift:.2e}");
    }
}

/// A bead on a circle through many points is a pendulum: after its period it has returned.
#[test]
fn a_bead_on_a_circle_is_a_pendulum() {
    let (radius, g, amplitude) = (0.3, 9.81, 2.0_f64);
    let curve = format!("{{points: {}, closed: true}}", circle(400, radius));
    let at = [radius * (amplitude - PI / 2.0).cos(), radius * (amplitude - PI / 2.0).sin()];
    let model = bead(&curve, at, [0.0, 0.0], -g, "");
    // The period by the arithmetic-geometric mean.
    let (mut x, mut y) = (1.0, (amplitude / 2.0).cos());
    for _ in 0..20 {
        (x, y) = (0.5 * (x + y), (x * y).sqrt());
    }
    let period = TAU * (radius / g).sqrt() / x;
    for (formulation, integrator) in CARRY.iter().filter(|c| c.1 != "gen-alpha") {
        let t = moved(&model, &study(&model, formulation, integrator, period, period / 64.0));
        let s = t.column("bead.distance").unwrap();
        assert!((s[s.len() - 1] - s[0]).abs() < 1e-7, "{formulation}: {:.2e}", s[s.len() - 1] - s[0]);
        // After half the period it is on the other side; at the bottom the curve carries weight and centrifugal force.
        assert!((s[32] - (s[0] - 2.0 * amplitude * radius)).abs() < 1e-6, "{formulation}: {} {}", s[32], s[0]);
        let (v2, fy) = (t.column("ball.v.x").unwrap()[16].powi(2), t.column("bead.force.y").unwrap()[16]);
        let (ry, exact) = (t.column("ball.r.y").unwrap()[16], 2.0 * (g + v2 / radius));
        // The curvature of the spline, a second derivative, has an error of the squared distance of its points: (2 pi / 400)^2 / 12.
        assert!((ry + radius).abs() < 1e-6 && (fy - exact).abs() < 3e-5 * exact, "{formulation}: {fy} {exact}");
    }
}

fn lobe() -> String {
    let place = |k: f64| {
        let x = TAU * k / 16.0;
        let r = 0.2 + 0.05 * x.cos() + 0.02 * (2.0 * x).sin();
        [r * x.cos(), r * x.sin()]
    };
    format!("{{points: {}, closed: true}}", points(16, place))
}

/// Without tangential forces a bead keeps its speed, so its distance grows linearly across the seam, round after round.
#[test]
fn rounds_are_counted_over_the_seam() {
    let model = bead(&lobe(), [0.25, 0.0], [0.0, 1.0], 0.0, "");
    for (formulation, integrator) in CARRY {
        let t = moved(&model, &study(&model, formulation, integrator, 5.0, 0.05));
        let (time, s) = (t.column("t").unwrap(), t.column("bead.distance").unwrap());
        let speed = t.column("energy.kinetic").unwrap()[0].sqrt();
        let worst = time.iter().zip(s).map(|(t, x)| (x - s[0] - speed * t).abs()).fold(0.0, f64::max);
        assert!(s[s.len() - 1] > 3.0, "{formulation}: it went {} m", s[s.len() - 1]);
        assert!(worst < if *integrator == "gen-alpha" { 1e-3 } else { 1e-6 }, "{formulation}: {worst:.2e}");
    }
}

/// A force along the coordinate accelerates the bead as on a straight line.
#[test]
fn an_actuator_pushes_along_the_curve() {
    let model = bead(&lobe(), [0.25, 0.0], [0.0, 0.0], 0.0, "forces:\n  push: {type: actuator, joint: bead, effort: 3 - 0.5*bead.speed}");
    for (formulation, integrator) in CARRY {
        let t = moved(&model, &study(&model, formulation, integrator, 2.0, 0.1));
        // 2 s'' = 3 - 0.5 s'.
        let exact = |t: f64| 6.0 * t - 24.0 * (1.0 - (-0.25 * t).exp());
        let s = t.column("bead.distance").unwrap();
        let worst = t.column("t").unwrap().iter().zip(s).map(|(t, x)| (x - s[0] - exact(*t)).abs()).fold(0.0, f64::max);
        assert!(worst < if *integrator == "gen-alpha" { 1e-3 } else { 1e-6 }, "{formulation}: {worst:.2e}");
    }
}

/// A driven bead is at the prescribed arc length of its curve, forwards and backwards across the seam.
#[test]
fn a_drive_moves_the_bead_by_arc_length() {
    // Kinematics needs a mechanism without freedom: the rotation of the ball is locked.
    let kept = |name: &str, a: &str, b: &str| {
        format!("  {name}: {{type: dp1, axes: [{{body: ground, at: {a}}}, {{body: ball, at: {b}}}], value: 0}}\n")
    };
    let (x, y, z) = ("[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]");
    let kept = kept("k1", x, y) + &kept("k2", y, z) + &kept("k3", z, x);
    let more = format!("constraints:\n{kept}drives:\n  motor: {{joint: bead, distance: 1.2*sin(3*t)}}\n");
    let model = bead(&lobe(), [0.25, 0.0], [0.0, 0.0], -9.81, &more);
    let fourbar::joint::JointKind::PointOnCurve(c) = &model.joints[0].kind else { panic!("a curve") };
    let mut kinematics = study(&model, "ra", "gen-alpha", 2.0, 0.02);
    (kinematics.analysis, kinematics.formulation, kinematics.integrator) = (Some(Analysis::Kinematics), None, None);
    let runs = [kinematics, study(&model, "grcr", "dop853", 2.0, 0.02), study(&model, "lie", "dop853", 2.0, 0.02)];
    for (k, study) in runs.iter().enumerate() {
        let t = moved(&model, study);
        for i in 0..t.len() {
            let time = t.row(i)[0];
            let at = |name: &str| t.row(i)[t.find(name).unwrap()];
            let s = 1.2 * (3.0 * time).sin();
            let (p, tangent) = c.path.at(s);
            assert!((at("bead.distance") - s).abs() < 1e-9, "run {k} at {time}: {} {s}", at("bead.distance"));
            assert!((at("ball.r.x") - p.x).abs() < 1e-9 && (at("ball.r.y") - p.y).abs() < 1e-9, "run {k} at {time}");
            let speed = 3.6 * (3.0 * time).cos();
            assert!((at("ball.v.x") - speed * tangent.x).abs() < 1e-7, "run {k} at {time}");
            // Only the drive does work along the curve.
            let effort = 2.0 * (-9.0 * s + 9.81 * tangent.y);
            assert!(
                (at("motor.effort") - effort).abs() < 1e-5 * (1.0 + effort.abs()),
                "run {k} at {time}: {} {effort}",
                at("motor.effort")
            );
        }
    }
}

/// A cam on a shaft lifts a roller: all formulations agree, the roller keeps its distance.
#[test]
fn a_roller_follows_a_cam_in_every_formulation() {
    let model = model("cam_roller");
    let c = model.joints.iter().find_map(|j| match &j.kind {
        fourbar::joint::JointKind::PointOnCurve(c) => Some(c.clone()),
        _ => None,
    });
    let c = c.unwrap();
    assert!(c.path.offset < 0.0);
    let mut lift: Option<Vec<f64>> = None;
    for (formulation, integrator) in CARRY {
        let mut s = study(&model, formulation, integrator, 0.3, 0.005);
        if *integrator == "gen-alpha" {
            (s.step, s.tol) = (Some(5e-4), None);
        }
        let t = moved(&model, &s);
        let y = t.column("follower.r.y").unwrap();
        assert!(last(&t, "error.position") < 1e-8, "{formulation}: {}", last(&t, "error.position"));
        match &lift {
            None => lift = Some(y.to_vec()),
            Some(first) => {
                let worst = first.iter().zip(y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 2e-7, "{formulation}: {worst:.2e}");
            }
        }
    }
}

/// Random curves on a moving base.
#[test]
fn formulations_agree_on_drawn_curves() {
    let mut seed = 7_u64;
    let mut random = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64
    };
    for case in 0..6 {
        let closed = case % 2 == 0;
        let n = 7 + case;
        let radii: Vec<f64> = (0..n).map(|_| 0.3 + 0.08 * random()).collect();
        let reach = if closed { TAU / n as f64 } else { 0.8 * TAU / n as f64 };
        let place = |k: f64| [radii[k as usize] * (reach * k).cos(), radii[k as usize] * (reach * k).sin()];
        let curve = format!("{{points: {}, closed: {closed}, plane: {{normal: [0.2, 0.1, 1]}}}}", points(n, place));
        let text = format!(
            "fourbar: 1\ngravity: [0, -9.81, 0]\ncurves:\n  track: {curve}\nbodies:\n  plate: {{mass: 3, inertia: [0.2, 0.25, 0.3], at: [0, 0, 0]}}\n  ball: {{mass: 1, inertia: [0.02, 0.03, 0.03], at: [{:.4}, {:.4}, 0.05]}}\njoints:\n  pin: {{type: revolute, bodies: [ground, plate], at: [0, 0.1, 0], axis: [0, 0, 1]}}\n  bead: {{type: point-on-curve, bodies: [plate, ball], curve: track, at: {{at: [0.05, 0.02, 0]}}}}\n  flat: {{type: angle, bodies: [plate, ball], axes: [[0.2, 0.1, 1], [0, 1, 0]]}}\n",
            0.9 * place(2.0)[0],
            0.9 * place(2.0)[1]
        );
        let model = parse(&text);
        let mut first: Option<Trajectory> = None;
        for (formulation, integrator) in CARRY.iter().filter(|c| c.1 != "gen-alpha") {
            let t = moved(&model, &study(&model, formulation, integrator, if closed { 0.6 } else { 0.25 }, 0.02));
            let energy = t.column("energy.total").unwrap();
            let drift = energy.iter().map(|e| (e - energy[0]).abs()).fold(0.0, f64::max);
            assert!(drift < 1e-5, "{case} {formulation}: energy {drift:.2e}");
            match &first {
                None => first = Some(t),
                Some(first) => {
                    for column in ["ball.r.x", "ball.r.y", "ball.r.z", "bead.distance", "pin.angle"] {
                        let (a, b) = (first.column(column).unwrap(), t.column(column).unwrap());
                        let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                        assert!(worst < 1e-5, "{case} {formulation} {column}: {worst:.2e}");
                    }
                }
            }
        }
    }
}

/// A run ends beyond the end of an open curve.
#[test]
fn a_bead_that_runs_off_its_curve_ends_the_run() {
    let model = bead("{points: [[0, 0], [0.5, 0.05], [1, 0]]}", [0.5, 0.05], [1.0, 0.0], 0.0, "");
    let mut rows = Trajectory::default();
    let failed = fourbar::study::run(&model, &study(&model, "lie", "dop853", 2.0, 0.1), &mut rows).unwrap_err();
    assert_eq!((failed.diagnostic.code.to_string().as_str(), failed.diagnostic.names.as_slice()), ("S246", &["bead".to_string()][..]));
    assert!((4..=6).contains(&rows.len()), "{}", rows.len());
}

#[test]
fn natural_coordinates_say_why_they_do_not_apply() {
    let model = bead(&lobe(), [0.25, 0.0], [0.0, 1.0], 0.0, "");
    let natural = fourbar::study::FORMULATIONS.iter().find(|f| f.name == "natural").unwrap();
    let why = (natural.applies)(&model).unwrap_err();
    assert_eq!((why.code.to_string().as_str(), why.names.as_slice()), ("S291", &["bead".to_string()][..]));
}

#[test]
fn hostile_curves_are_refused_by_name() {
    let codes = |curve: &str, joint: &str| {
        let text = format!(
            "fourbar: 1\ngravity: [0, 0, 0]\ncurves:\n  track: {curve}\nbodies:\n  ball: {{mass: 1, inertia: [1, 1, 1], at: [0.4, 0, 0]}}\njoints:\n  bead: {{type: point-on-curve, bodies: [ground, ball], curve: track, at: [0.4, 0, 0]{joint}}}\n"
        );
        match fourbar_io::read_model(&text, &fourbar_io::ReadOptions::default()) {
            Err(list) => list.iter().map(|d| d.code.to_string()).collect::<Vec<_>>(),
            Ok(loaded) => loaded.spec.build().err().map_or_else(Vec::new, |e| e.iter().map(|d| d.code.to_string()).collect()),
        }
    };
    let good = format!("{{points: {}, closed: true}}", circle(12, 0.3));
    assert_eq!(codes(&good, ""), [""; 0]);
    assert_eq!(codes(&good, ", radius: 0.1"), [""; 0]);
    assert_eq!(codes(&good.replace("track", "trick"), ", radius: -0.1"), ["M116"]);
    assert_eq!(codes("{points: [[0, 0], [1, 0]]}", ""), ["M641"]);
    assert_eq!(codes("{points: [[0, 0], [1, 0], [1, 0], [2, 1]]}", ""), ["M642"]);
    assert_eq!(codes("{points: [[0, 0, 0], [1, 0, 0.1], [1, 1, 0], [0, 1, 0.2]]}", ""), ["M643"]);
    assert_eq!(codes("{points: [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}", ""), ["M643"]);
    assert_eq!(codes("{points: [[0, 0], [1, 1], [1, 0], [0, 1]], closed: true}", ""), ["M644"]);
    assert_eq!(codes(&good, ", radius: 0.4, side: left"), ["M645"]);
    assert_eq!(codes(&format!("{{points: {}, closed: true}}", circle(12, 0.4)), ", radius: 0.1"), ["M646"]);
    assert_eq!(codes("{points: [[0, 0], [1, 0, 3], [2, 1]]}", ""), ["M017"]);
    assert_eq!(codes("{points: [[0, 0], [1, 1], [2, 1]], closed: maybe}", "").len(), 1);
    assert_eq!(codes("{points: [[0, 0], [1, .inf], [2, 1]]}", "").len(), 1);
    assert_eq!(codes("{points: [[0, 0, 0], [1, 0, 0], [1, 1, 0]], plane: {normal: [0, 0, 1]}}", "").len(), 1);
}
