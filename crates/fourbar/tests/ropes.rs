//! Ropes over pulleys and belts against closed forms, in every formulation; contacts at tight tolerances.

use fourbar::random::Random;
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

/// Belts turn wheels in the ratio of their radii, crossed belts in the opposite direction.
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
        // The inertia of the driven wheel reflected to the first one is a ninth.
        let angle = 0.5 * 2.0 / (0.1 + 0.4 / 9.0);
        assert!((last(&t, "a.angle") - angle).abs() < 1e-9 && (last(&t, "b.angle") - sign * angle / 3.0).abs() < 1e-9);
    }
}

/// Steps end at contacts: the swing on a rope remains accurate at tight tolerances with every kind of method.
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

/// A number in a range.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * 0.5 * (1.0 + random.number())
}

/// Ropes over pulleys drawn at random, on the ground and on bodies that swing: formulations agree, energy is kept, and the tension follows
/// from the path length over the pulleys.
#[test]
fn ropes_over_pulleys_drawn_at_random() {
    for seed in 1..=8_u64 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed) | 1);
        (0..20).for_each(|_| {
            random.number();
        });
        let mut place =
            |x: f64, y: f64| [x + between(&mut random, -0.2, 0.2), y + between(&mut random, -0.2, 0.2), between(&mut random, -0.1, 0.1)];
        let (a, b, c, eye) = (place(-0.6, -1.0), place(0.7, -1.2), place(0.0, -0.3), place(0.1, 0.4));
        // From a weight over an eye on an arm that swings, an eye on the ground, and perhaps the arm once more, to another weight.
        let more = if seed % 2 == 0 { format!(", {{body: arm, at: {:?}}}", place(0.2, 0.0)) } else { String::new() };
        let (slack, stiffness, damping) =
            (between(&mut random, -0.1, 0.1), between(&mut random, 100.0, 800.0), between(&mut random, 0.0, 4.0));
        let text = |length: f64| {
            format!(
                "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  left: {{mass: 2, inertia: [0.01, 0.02, 0.015], at: {a:?}}}
  right: {{mass: 3, inertia: [0.03, 0.02, 0.01], at: {b:?}, velocity: [0.3, 0, 0.1]}}
  arm: {{mass: 1.5, inertia: [0.05, 0.02, 0.04], at: {c:?}}}
joints:
  ball: {{type: spherical, bodies: [ground, arm], at: [0, 0, 0]}}
forces:
  rope: {{type: rope, between: [{{body: left, at: [0, 0.05, 0.02]}}, {{body: right, at: [0.03, 0.05, 0]}}], via: [{{body: arm, at: [-0.1, 0.05, 0.1]}}, {{body: ground, at: {eye:?}}}{more}], length: {length}, stiffness: {stiffness}, damping: {damping}}}
study: {{t_end: 0.4, output_step: 0.02}}
"
            )
        };
        // The path length over the pulleys at the start.
        let first = parse(&text(1.0));
        let (t, _) = run(&first, &Study { t_end: 1e-6, output_step: 1e-6, ..with(&first, "lie", None, 1e-8) });
        let way = t.column("rope.length").expect("there")[0];
        let point = |body: [f64; 3], at: [f64; 3]| [0, 1, 2].map(|k| body[k] + at[k]);
        let apart = |p: [f64; 3], q: [f64; 3]| ((p[0] - q[0]).powi(2) + (p[1] - q[1]).powi(2) + (p[2] - q[2]).powi(2)).sqrt();
        let (start, over, end) = (point(a, [0.0, 0.05, 0.02]), point(c, [-0.1, 0.05, 0.1]), point(b, [0.03, 0.05, 0.0]));
        if more.is_empty() {
            assert!((way - apart(start, over) - apart(over, eye) - apart(eye, end)).abs() < 1e-12, "seed {seed}: {way}");
        }
        let model = parse(&text(way + slack));
        let mut results: Vec<(&str, Trajectory)> = Vec::new();
        for (f, i, tol) in [
            ("grcr", "dop853", 1e-10),
            ("lie", "dop853", 1e-10),
            ("dca", "dop853", 1e-10),
            ("natural", "taylor", 1e-10),
            ("ra", "radau", 1e-9),
        ] {
            results.push((f, run(&model, &with(&model, f, Some(i), tol)).0));
        }
        for (f, t) in &results {
            let column = |name: &str| t.column(name).unwrap_or_else(|| panic!("{name}"));
            for c in ["left.r.y", "right.r.x", "arm.r.z", "rope.tension"] {
                let size = column(c).iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                let off = column(c).iter().zip(results[0].1.column(c).expect("there")).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                assert!(off < 1e-5 * size, "seed {seed} {f} {c}: {off:.1e}");
            }
            let (total, work, kinetic) = (column("energy.total"), column("energy.work"), column("energy.kinetic"));
            let most = kinetic.iter().fold(1e-3_f64, |m, x| m.max(*x));
            let off = total.iter().zip(work).map(|(e, w)| (e - w - total[0]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6 * most, "seed {seed} {f}: energy is off by {off:.1e} of {most:.1e}");
            let taut = column("rope.length").iter().zip(column("rope.tension")).all(|(l, x)| *x >= 0.0 && (*l > way + slack || *x == 0.0));
            assert!(taut, "seed {seed} {f}: a slack rope pulls");
        }
        assert!(results[0].1.column("rope.tension").expect("there").iter().any(|x| *x > 0.0), "seed {seed}: it is never taut");
    }
}
