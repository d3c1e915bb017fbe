//! What holds one motion in several places shares its load within all bounds: friction in joints, limits, contacts.

use fourbar::events::Kind;
use fourbar::random::Random;
use fourbar::study::{self, Report, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::parse;

fn run_with(model: &Model, formulation: &str, what: &str) -> (Report, Trajectory) {
    let mut rows = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), tol: Some(1e-8), ..Study::of(model) };
    let report = study::run(model, &study, &mut rows).unwrap_or_else(|f| panic!("{what}, {formulation}: {}", f.diagnostic));
    (report, rows)
}

fn column<'r>(rows: &'r Trajectory, name: &str) -> &'r [f64] {
    rows.column(name).unwrap_or_else(|| panic!("{name}"))
}

fn last(rows: &Trajectory, name: &str) -> f64 {
    *column(rows, name).last().expect("rows")
}

/// Total energy with what was lost at events, less work, stays.
fn balances(rows: &Trajectory, what: &str) {
    let [total, lost, work] = ["energy.total", "energy.lost", "energy.work"].map(|c| column(rows, c).to_vec());
    let size = total.iter().chain(&work).fold(1e-3_f64, |m, x| m.max(x.abs()));
    for k in 0..total.len() {
        let off = total[k] + lost[k] - work[k] - (total[0] + lost[0] - work[0]);
        assert!(off.abs() < 1e-4 * size, "{what}: row {k}: {off:.1e} J of {size:.1e} J");
    }
}

/// Newton's and Euler's equations of a planar mechanism of revolute and prismatic joints in all rows, from what the results report: accelerations,
/// reactions, and efforts of friction, limits and the actuator `d` on joint `j1`.
fn newton_and_euler(model: &Model, rows: &Trajectory, what: &str) {
    let value = |name: &str, k: usize| rows.column(name).map_or(0.0, |c| c[k]);
    for k in 0..column(rows, "t").len() {
        let bodies: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
        let place = |b: usize| ["x", "y"].map(|c| if b == 0 { 0.0 } else { value(&format!("{}.r.{c}", bodies[b]), k) });
        let mut sums: Vec<[f64; 3]> = vec![[0.0; 3]; bodies.len()];
        let mut size = 1e-3_f64;
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let a = |c: &str| value(&format!("{}.{c}", bodies[b]), k);
            sums[b] =
                [-body.mass * (a("a.x") - model.gravity.x), -body.mass * (a("a.y") - model.gravity.y), -body.J_bar[(2, 2)] * a("alpha.z")];
        }
        for j in &model.joints {
            let [base, moving] = j.bodies.map(|b| b.index());
            let name = &j.name;
            let own = |c: &str| value(&format!("{name}.{c}"), k);
            let effort =
                value(&format!("f{}.effort", &name[1..]), k) + own("limit.effort") + if name == "j1" { value("d.effort", k) } else { 0.0 };
            let slides = rows.column(&format!("{name}.distance")).is_some();
            let [mut x, y, mut torque] = ["force.x", "force.y", "torque.z"].map(own);
            if slides {
                x += effort
            } else {
                torque += effort
            };
            // The joint-frame origin on the moving body.
            let [half, turn] = ["p.0", "p.3"].map(|c| value(&format!("{}.{c}", bodies[moving]), k));
            let (cos, sin) = (half * half - turn * turn, 2.0 * half * turn);
            let [rx, ry] = place(moving);
            let at = [rx + cos * j.M.s.x - sin * j.M.s.y, ry + sin * j.M.s.x + cos * j.M.s.y];
            for (b, side) in [(moving, 1.0), (base, -1.0)] {
                let r = place(b);
                let about = torque + (at[0] - r[0]) * y - (at[1] - r[1]) * x;
                sums[b].iter_mut().zip([x, y, about]).for_each(|(s, f)| *s += side * f);
            }
            size = size.max(x.abs()).max(y.abs()).max(torque.abs());
        }
        for (b, sum) in sums.iter().enumerate().skip(1) {
            let off = sum.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(off < 1e-5 * size, "{what}: row {k}: the loads on {} are off by {off:.1e} of {size:.1e}", bodies[b]);
        }
    }
}

/// A drawn text of a planar mechanism with friction in one to four of its joints, whose bounds come by their names.
struct Drawn {
    text: String,
    bounds: Vec<(String, f64)>,
}

fn between(r: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * 0.5 * (1.0 + r.number())
}

impl Drawn {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(7919).wrapping_add(13));
        let r = &mut random;
        let (mut bodies, mut joints, mut forces) = (String::new(), String::new(), String::new());
        let kind = seed % 3;
        let link = |bodies: &mut String, r: &mut Random, name: &str, p: [f64; 2], q: [f64; 2]| {
            let m = between(r, 0.3, 2.0);
            let i = m * ((q[0] - p[0]).powi(2) + (q[1] - p[1]).powi(2)) / 12.0 + 1e-4;
            let angle = (q[1] - p[1]).atan2(q[0] - p[0]);
            let at = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])];
            bodies.push_str(&format!(
                "  {name}: {{mass: {m:?}, inertia: [{:?}, {i:?}, {:?}], at: [{:?}, {:?}, 0], orientation: {{axis: [0, 0, 1], angle: {angle:?}}}}}\n",
                0.2 * i,
                1.01 * i,
                at[0],
                at[1]
            ));
        };
        let revolute = |name: &str, a: &str, b: &str, p: [f64; 2], extra: &str| {
            format!("  {name}: {{type: revolute, bodies: [{a}, {b}], at: [{:?}, {:?}, 0], axis: [0, 0, 1]{extra}}}\n", p[0], p[1])
        };
        let limits = |r: &mut Random| match r.number() > 0.4 {
            true => format!(", limits: {{min: {:?}, max: {:?}, restitution: 0.3}}", -between(r, 0.05, 0.6), between(r, 0.05, 0.6)),
            false => String::new(),
        };
        let mut slides = false;
        let count = match kind {
            0 => {
                // A slider-crank.
                let (a, b, turn) = (between(r, 0.15, 0.35), between(r, 0.5, 1.0), between(r, 0.3, 2.8));
                let p = [a * turn.cos(), a * turn.sin()];
                let c = [p[0] + (b * b - p[1] * p[1]).sqrt(), 0.0];
                link(&mut bodies, r, "a", [0.0; 2], p);
                link(&mut bodies, r, "b", p, c);
                link(&mut bodies, r, "c", [c[0] - 0.05, 0.0], [c[0] + 0.05, 0.0]);
                let stops = limits(r);
                joints.push_str(&revolute("j1", "ground", "a", [0.0; 2], &stops));
                joints.push_str(&revolute("j2", "a", "b", p, ""));
                joints.push_str(&revolute("j3", "b", "c", c, ""));
                joints.push_str(&format!("  j4: {{type: prismatic, bodies: [ground, c], at: [{:?}, 0, 0], axis: [1, 0, 0]}}\n", c[0]));
                slides = true;
                4
            }
            1 => {
                // A four-bar.
                let (a, b, c, d, turn) =
                    (between(r, 0.2, 0.4), between(r, 0.6, 0.8), between(r, 0.5, 0.7), between(r, 0.6, 0.8), between(r, 0.4, 2.6));
                let p = [a * turn.cos(), a * turn.sin()];
                let far = (d - p[0]).hypot(p[1]);
                let k = (b * b - c * c + far * far) / (2.0 * far);
                let h = (b * b - k * k).sqrt();
                let e = [(d - p[0]) / far, -p[1] / far];
                let q = [p[0] + k * e[0] - h * e[1], p[1] + k * e[1] + h * e[0]];
                link(&mut bodies, r, "a", [0.0; 2], p);
                link(&mut bodies, r, "b", p, q);
                link(&mut bodies, r, "c", q, [d, 0.0]);
                let stops = limits(r);
                joints.push_str(&revolute("j1", "ground", "a", [0.0; 2], &stops));
                joints.push_str(&revolute("j2", "a", "b", p, ""));
                joints.push_str(&revolute("j3", "b", "c", q, ""));
                joints.push_str(&revolute("j4", "ground", "c", [d, 0.0], ""));
                4
            }
            _ => {
                // Geared disks.
                for k in 0..3 {
                    let i = between(r, 0.005, 0.03);
                    let x = 0.3 * k as f64;
                    bodies.push_str(&format!("  b{k}: {{mass: 1, inertia: [{i:?}, {i:?}, {i:?}], at: [{x:?}, 0, 0]}}\n"));
                    let stops = if k == 1 { limits(r) } else { String::new() };
                    joints.push_str(&revolute(&format!("j{}", k + 1), "ground", &format!("b{k}"), [x, 0.0], &stops));
                }
                for k in 2..4 {
                    let ratio = between(r, 0.4, 2.5) * if r.number() > 0.0 { 1.0 } else { -1.0 };
                    joints.push_str(&format!("  g{k}: {{type: gear, joints: [j1, j{k}], ratio: {ratio:?}}}\n"));
                }
                3
            }
        };
        let mut bounds = Vec::new();
        let most = 1 + (between(r, 0.0, 0.999) * count as f64) as usize;
        let first = (between(r, 0.0, 0.999) * count as f64) as usize;
        for k in 0..most {
            let j = 1 + (first + k) % count;
            let bound = between(r, 0.05, 1.0) * if slides && j == 4 { 4.0 } else { 1.0 };
            forces.push_str(&format!("  f{j}: {{type: friction, joint: j{j}, stick: true, preload: {bound:?}}}\n"));
            bounds.push((format!("f{j}.effort"), bound));
        }
        let (mean, swing, pace, phase) = (between(r, -0.5, 0.5), between(r, 0.5, 3.0), between(r, 1.0, 9.0), between(r, 0.0, 6.0));
        forces.push_str(&format!(
            "  d: {{type: actuator, joint: j1, effort: '{mean:?} + {swing:?}*cos({pace:?}*t + {phase:?}) - 0.2*j1.speed'}}\n"
        ));
        let gravity = if r.number() > 0.0 { "[0, -9.81, 0]" } else { "[0, 0, 0]" };
        let text = format!(
            "\nfourbar: 1\ngravity: {gravity}\nbodies:\n{bodies}joints:\n{joints}forces:\n{forces}study: {{t_end: 1.2, output_step: 0.03}}\n"
        );
        Self { text, bounds }
    }
}

/// Drawn slider-cranks, four-bars and geared disks, with and without gravity and limits: every run comes to its end, friction keeps its bounds
/// and its sense, the energy balances, and the formulations agree.
#[test]
fn drawn_mechanisms_with_several_frictions_run_to_their_ends() {
    for seed in 0..36 {
        let drawn = Drawn::new(seed);
        let model = parse(&drawn.text);
        let mut ends: Option<Vec<f64>> = None;
        for f in [["lie", "grcr"], ["lie", "dca"], ["auto", "grcr"]][seed as usize % 3] {
            let what = format!("seed {seed}, {f}");
            let (_, rows) = run_with(&model, f, &what);
            balances(&rows, &what);
            if seed % 3 != 2 {
                newton_and_euler(&model, &rows, &what);
            }
            for (name, bound) in &drawn.bounds {
                let most = column(&rows, name).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                assert!(most <= bound * (1.0 + 1e-6), "{what}: {name} {most} of {bound}");
            }
            let places: Vec<f64> = model.bodies.iter().skip(1).map(|b| last(&rows, &format!("{}.r.y", b.name))).collect();
            match &ends {
                Some(first) => {
                    assert!(places.iter().zip(first).all(|(a, b)| (a - b).abs() < 5e-5), "{what}: {places:?} {first:?}\n{}", drawn.text)
                }
                None => ends = Some(places),
            }
        }
    }
}

/// A cart that rests on the floor with friction and on its rail with friction: both together hold it, break loose in one instant and come to
/// rest in one.
#[test]
fn contacts_and_joints_hold_one_motion_together() {
    let (mass, mu, preload) = (1.3, 0.3, 2.0);
    let most = mu * mass * 9.81 + preload;
    for (swing, pace) in [(0.99, 5.0), (1.4, 3.0), (2.0, 6.0)] {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  box: {{mass: {mass}, inertia: [0.02, 0.02, 0.02], at: [0, 0.1, 0]}}
  slider: {{mass: 1e-3, inertia: [1e-5, 1e-5, 1e-5], at: [0, 0.1, 0]}}
joints:
  rail: {{type: prismatic, bodies: [ground, slider], at: [0, 0.1, 0], axis: [1, 0, 0]}}
  lift: {{type: prismatic, bodies: [slider, box], at: [0, 0.1, 0], axis: [0, 1, 0]}}
contacts: {{floor: {{between: [{{body: box, at: [0, -0.1, 0], radius: 0}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu}}}}}
forces:
  push: {{type: actuator, joint: rail, effort: '{swing:?}*{most:?}*sin({pace:?}*t)'}}
  rub: {{type: friction, joint: rail, stick: true, preload: {preload:?}}}
study: {{t_end: 2, output_step: 0.01}}"
        ));
        // The same by short steps, with one friction of both bounds.
        let (h, mass) = (1e-5, mass + 1e-3);
        let most_held = mu * mass * 9.81 - mu * 1e-3 * 9.81 + preload;
        let (mut x, mut v) = (0.0_f64, 0.0_f64);
        for k in 0..200_000 {
            let force = swing * most * (pace * (f64::from(k) + 0.5) * h).sin();
            let way = if v == 0.0 { force.signum() } else { v.signum() };
            if v == 0.0 && force.abs() <= most_held {
                continue;
            }
            let next = v + h * (force - way * most_held) / mass;
            let next = if next * way < 0.0 { 0.0 } else { next };
            x += 0.5 * h * (v + next);
            v = next;
        }
        for f in ["lie", "grcr", "dca"] {
            let what = format!("{swing} of what holds, {f}");
            let (report, rows) = run_with(&model, f, &what);
            balances(&rows, &what);
            // All that acts along the rail; the force of the contact is that on the floor.
            let [push, rub, floor] = ["push.effort", "rub.effort", "floor.tangential.x"].map(|c| column(&rows, c));
            for (k, a) in column(&rows, "box.a.x").iter().enumerate() {
                let sum = push[k] + rub[k] - floor[k];
                assert!((sum - mass * a).abs() < 1e-5 * most, "{what}: row {k}: {sum} of {}", mass * a);
            }
            let found = last(&rows, "rail.distance");
            assert!((found - x).abs() < 1e-3 * x.abs() + 1e-5, "{what}: {found} instead of {x}");
            let slides =
                |name: &str| report.events.iter().filter(|e| e.name == name && e.kind == Kind::Slide).map(|e| e.t).collect::<Vec<_>>();
            if swing < 1.0 {
                assert!(report.events.is_empty(), "{what}: {:?}", report.events);
            } else {
                assert!(!slides("rub").is_empty() && slides("rub") == slides("floor"), "{what}: {:?}", report.events);
            }
        }
    }
}

/// Friction beside a limit takes no more of the load than the limit leaves: the limit is left where the load turns, and the joint slides where the
/// load passes the bound.
#[test]
fn friction_beside_a_limit_takes_what_the_limit_leaves() {
    let model = parse(
        "
fourbar: 1
bodies: {b: {mass: 1, inertia: [0.01, 0.01, 0.01]}}
joints: {s: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0], limits: {min: 0}}}
forces:
  push: {type: actuator, joint: s, effort: '-8 + 10*t'}
  rub: {type: friction, joint: s, stick: true, preload: 1.5}
study: {t_end: 1.2, output_step: 0.01}",
    );
    for f in ["lie", "grcr", "dca", "natural"] {
        let (report, rows) = run_with(&model, f, f);
        let told: Vec<(Kind, f64)> = report.events.iter().map(|e| (e.kind, e.t)).collect();
        assert!(
            matches!(told.as_slice(), [(Kind::Lift, a), (Kind::Slide, b)] if (a - 0.8).abs() < 1e-9 && (b - 0.95).abs() < 1e-9),
            "{f}: {told:?}"
        );
        for ((t, x), [rub, stop]) in column(&rows, "t")
            .iter()
            .zip(column(&rows, "s.distance"))
            .zip(column(&rows, "rub.effort").iter().zip(column(&rows, "s.limit.effort")).map(|(a, b)| [*a, *b]))
        {
            let exact = if *t > 0.95 { 10.0 / 6.0 * (t - 0.95).powi(3) } else { 0.0 };
            assert!((x - exact).abs() < 1e-8, "{f} at {t}: {x} instead of {exact}");
            assert!(rub.abs() <= 1.5 + 1e-9 && stop >= -1e-9, "{f} at {t}: {rub} {stop}");
            if *t < 0.94 {
                assert!((rub + stop - (8.0 - 10.0 * t)).abs() < 1e-6, "{f} at {t}: {rub} {stop}");
            }
        }
    }
}

/// Frictions that nothing can move, because the constraints hold their joints, share no load: a pinned truss beside a pendulum.
#[test]
fn frictions_of_joints_that_cannot_move_are_no_part() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  a: {mass: 1, inertia: [0.01, 0.01, 0.02], at: [0.25, 0.4, 0]}
  b: {mass: 1, inertia: [0.01, 0.01, 0.02], at: [0.75, 0.4, 0]}
  p: {mass: 1, inertia: [0.01, 0.01, 0.02], at: [2.5, 0, 0]}
joints:
  A: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [ground, b], at: [1, 0, 0], axis: [0, 0, 1]}
  C: {type: revolute, bodies: [a, b], at: [0.5, 0.8, 0], axis: [0, 0, 1]}
  P: {type: revolute, bodies: [ground, p], at: [2, 0, 0], axis: [0, 0, 1]}
forces:
  one: {type: friction, joint: A, stick: true, preload: 0.5}
  two: {type: friction, joint: C, stick: true, preload: 0.5}
study: {t_end: 1, output_step: 0.05}",
    );
    for f in ["lie", "grcr", "dca"] {
        let (_, rows) = run_with(&model, f, f);
        balances(&rows, f);
        assert!(last(&rows, "a.omega.z").abs() < 1e-9 && column(&rows, "P.angle").iter().any(|x| *x < -1.0), "{f}");
    }
}

/// The same where drives hold the joints at rest: a crank and its rod beside a pendulum.
#[test]
fn frictions_of_driven_joints_at_rest_stay_within_their_bounds() {
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  a: {mass: 1, inertia: [0.001, 0.01, 0.01], at: [0.1, 0, 0]}
  b: {mass: 1, inertia: [0.001, 0.01, 0.01], at: [0.3, 0, 0]}
  p: {mass: 1, inertia: [0.01, 0.01, 0.02], at: [2.5, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}
  P: {type: revolute, bodies: [a, b], at: [0.2, 0, 0], axis: [0, 0, 1]}
  Q: {type: revolute, bodies: [ground, p], at: [2, 0, 0], axis: [0, 0, 1]}
drives: {first: {joint: O, angle: 0}, second: {joint: P, angle: 0}}
forces:
  one: {type: friction, joint: O, stick: true, preload: 0.5}
  two: {type: friction, joint: P, stick: true, preload: 0.5}
study: {t_end: 1, output_step: 0.05}",
    );
    // Torques of the weight about both hinges.
    let weight = 9.81 * 0.4;
    for f in ["lie", "grcr", "dca"] {
        let (_, rows) = run_with(&model, f, f);
        for (drive, friction, torque) in [("first.effort", "one.effort", weight), ("second.effort", "two.effort", 0.1 * 9.81)] {
            for (motor, rub) in column(&rows, drive).iter().zip(column(&rows, friction)) {
                assert!(rub.abs() <= 0.5 + 1e-9 && (motor + rub - torque).abs() < 1e-8, "{f}: {drive} {motor}, {friction} {rub}");
            }
        }
    }
}
