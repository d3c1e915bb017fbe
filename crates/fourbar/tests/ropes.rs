//! Ropes over pulleys and belts against closed forms, in every formulation; touches at tight tolerances.

use fourbar::study::{FORMULATIONS, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::{model, parse, run};

fn last(t: &Trajectory, name: &str) -> f64 {
    *t.column(name).unwrap_or_else(|| panic!("no column {name}")).last().expect("rows")
}

fn with(model: &Model, formulation: &str, integrator: Option<&str>, tol: f64) -> Study {
    Study { formulation: Some(formulation.into()), integrator: integrator.map(String::from), tol: Some(tol), ..Study::of(model) }
}

/// Two weights on a springy rope over a fixed eye: their sum is an oscillation, their difference falls freely.
#[test]
fn two_weights_on_a_rope_over_a_pulley() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  heavy: {mass: 3, inertia: [0.01, 0.01, 0.01], at: [-0.2, -1, 0]}
  light: {mass: 2, inertia: [0.01, 0.01, 0.01], at: [0.2, -1, 0]}
joints:
  left: {type: prismatic, bodies: [ground, heavy], at: [-0.2, -1, 0], axis: [0, -1, 0]}
  right: {type: prismatic, bodies: [ground, light], at: [0.2, -1, 0], axis: [0, -1, 0]}
forces:
  rope: {type: rope, between: [{body: heavy}, {body: light}], via: [{body: ground, at: [-0.2, 0, 0]}, {body: ground, at: [0.2, 0, 0]}], length: 2.4, stiffness: 500}
study: {t_end: 0.5, output_step: 0.01}
",
    );
    let (g, k, m1, m2) = (9.81, 500.0, 3.0, 2.0);
    let square: f64 = k * (1.0 / m1 + 1.0 / m2);
    let (omega, most) = (square.sqrt(), 2.0 * g / square);
    let exact = |m: f64, t: f64| 0.5 * g * t * t - k * most / m * (0.5 * t * t + ((omega * t).cos() - 1.0) / square);
    for f in FORMULATIONS.iter().map(|f| f.name).chain(["auto"]) {
        let loose = ["ra", "rp", "reps"].contains(&f);
        let (t, _) = run(&model, &with(&model, f, None, if loose { 1e-6 } else { 1e-10 }));
        let times = t.column("t").expect("there");
        for (column, m) in [("left.distance", m1), ("right.distance", m2)] {
            let x = t.column(column).expect("there");
            let off = times.iter().zip(x).map(|(t, x)| (x - exact(m, *t)).abs()).fold(0.0, f64::max);
            assert!(off < if loose { 1e-4 } else { 1e-9 }, "{f} {column}: {off:.1e}");
        }
        let tension = t.column("rope.tension").expect("there");
        let off = times.iter().zip(tension).map(|(t, x)| (x - k * most * (1.0 - (omega * t).cos())).abs()).fold(0.0, f64::max);
        assert!(off < if loose { 1e-1 } else { 1e-6 }, "{f}: tension off by {off:.1e}");
    }
}

/// Belts turn wheels by their radii, crossed ones the other way round.
#[test]
fn belts_turn_wheels_by_their_radii() {
    for (crossed, sign) in [("", 1.0), (", crossed: true", -1.0)] {
        let model = parse(&format!(
            "
fourbar: 1
bodies:
  small: {{mass: 1, inertia: [0.1, 0.1, 0.1]}}
  large: {{mass: 1, inertia: [0.4, 0.4, 0.4], at: [1, 0, 0]}}
joints:
  a: {{type: revolute, bodies: [ground, small], at: [0, 0, 0], axis: [0, 0, 1]}}
  b: {{type: revolute, bodies: [ground, large], at: [1, 0, 0], axis: [0, 0, 1]}}
  belt: {{type: belt, joints: [a, b], radii: [50 mm, 150 mm]{crossed}}}
forces: {{motor: {{type: actuator, joint: a, effort: 2}}}}
study: {{t_end: 1, output_step: 0.1}}
"
        ));
        let (t, _) = run(&model, &with(&model, "grcr", None, 1e-10));
        // The wheel that follows weighs on the first one by its inertia over nine.
        let angle = 0.5 * 2.0 / (0.1 + 0.4 / 9.0);
        assert!((last(&t, "a.angle") - angle).abs() < 1e-9 && (last(&t, "b.angle") - sign * angle / 3.0).abs() < 1e-9);
    }
}

/// Touches end steps: the swing on a rope keeps its digits at tight tolerances, in every kind of method.
#[test]
fn the_rope_swing_keeps_its_digits() {
    let model = model("rope_swing");
    let best = run(&model, &with(&model, "grcr", Some("dop853"), 1e-12)).0;
    let body = &model.bodies.last().expect("bodies").name;
    for (f, i, tol, allowed) in [
        ("ra", Some("radau"), 1e-9, 3e-6),
        ("grcr", Some("radau"), 1e-9, 3e-6),
        ("so3xr3", Some("dop853"), 1e-9, 3e-6),
        ("dca", Some("dop853"), 1e-9, 3e-6),
        ("natural", None, 1e-9, 3e-6),
        ("grcr", Some("dop853"), 1e-10, 3e-7),
    ] {
        let t = run(&model, &with(&model, f, i, tol)).0;
        for c in ["x", "y", "z"].map(|x| format!("{body}.r.{x}")) {
            let off =
                t.column(&c).expect("there").iter().zip(best.column(&c).expect("there")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < allowed, "{f} {tol:.0e} {c}: {off:.1e}");
        }
    }
}
