//! Laws for the columns of results: powers balance the energy, tensions are gradients, speeds are rates, reactions balance bodies; in every
//! formulation that supports the mechanism.
#![allow(non_snake_case)]

use fourbar::force::eval::Plain;
use fourbar::integrator::least_tolerance;
use fourbar::random::Random;
use fourbar::spec::*;
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::study::{self, Analysis, FORMULATIONS, FormulationInfo, Observer, Study};
use fourbar::topology;
use fourbar::trajectory::{Column, WantedColumns};
use fourbar::{Model, Simulation, Trajectory};
use fourbar_testing::common::*;
use fourbar_testing::families;
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Two bodies in general position on hinges, the type of the second joint given, with one force `f`.
fn pair(joint: &str, force: &str) -> Model {
    parse(&format!(
        "
fourbar: 1
gravity: [1, -2, -9.81]
bodies:
  a: {{mass: 2, inertia: [0.03, 0.05, 0.06], at: [0.3, 0.1, -0.1], orientation: {{axis: [1, 2, 3], angle: 0.7}}}}
  b: {{mass: 1.5, inertia: [0.02, 0.03, 0.04], at: [0.9, 0.2, -0.3], orientation: {{axis: [-1, 1, 2], angle: 0.4}}}}
joints:
  base: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0.3, 1, 0.2]}}
  J: {{{joint}, bodies: [a, b], at: [0.6, 0.1, -0.2], axis: [1, 0.2, 0.5]}}
points: {{tip: {{body: b, at: [0.1, 0.2, 0.1]}}}}
forces: {{f: {force}}}
study: {{analysis: dynamics, t_end: 0.4, output_step: 0.002}}
"
    ))
}

const HINGE: &str = "type: revolute";
const SLIDE: &str = "type: prismatic";

/// Every force element with its joint: one row each, and another for another form.
const ELEMENTS: &[(&str, &str)] = &[
    (HINGE, "{type: spring, between: [{body: ground, at: [0, 1, 0]}, {body: b, at: [0.1, 0, 0]}], stiffness: 50, length: 0.8, damping: 2}"),
    (HINGE, "{type: spring, between: [{body: a}, {body: b}], tension: '20*(length - 0.5) + 3*rate + 5*sin(7*t)'}"),
    (HINGE, "{type: torsion, joint: J, stiffness: 4, angle: 0.2, damping: 0.1}"),
    (HINGE, "{type: force, on: {body: b, at: [0.1, 0, 0]}, force: [t, -3*tip.vx, J.angle], frame: body}"),
    (HINGE, "{type: torque, body: b, torque: [0.2, t, -0.1*J.speed]}"),
    (HINGE, "{type: actuator, joint: J, effort: 2*sin(5*t) - 0.2*J.speed}"),
    (SLIDE, "{type: actuator, joint: J, effort: -30*J.distance - 2*J.speed}"),
    (
        HINGE,
        "{type: bushing, between: [{body: ground, at: [0.8, 0.3, -0.2]}, {body: b}], stiffness: [10, 20, 30, 4, 5, 6], damping: [1, 0.5, 0, 0.1, 0.2, 0.3]}",
    ),
    (HINGE, "{type: friction, joint: J, coulomb: 0.2, viscous: 0.1, radius: 0.05, speed: 0.05}"),
    (SLIDE, "{type: friction, joint: J, coulomb: 0, viscous: 3}"),
    // Becomes taut, then slack again.
    (HINGE, "{type: rope, between: [{body: ground, at: [0, 1, 0]}, {body: b, at: [0.1, 0, 0]}], length: 1.3, stiffness: 400, damping: 3}"),
];

fn by(model: &Model, f: &FormulationInfo, tol: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some(f.name.into()),
        integrator: None,
        step: None,
        // If none of its integrators attains the tolerance, the smallest one that is attainable.
        tol: Some(f.integrators.iter().map(|i| least_tolerance(i)).fold(f64::INFINITY, f64::min).max(tol)),
        ..Study::of(model)
    }
}

fn is_implicit(f: &FormulationInfo) -> bool {
    ["ra", "rp", "reps"].contains(&f.name)
}

fn at(t: &Trajectory, row: usize, name: &str) -> f64 {
    t.row(row)[t.find(name).unwrap_or_else(|| panic!("no column {name}"))]
}

fn vector(t: &Trajectory, row: usize, name: &str) -> Vector3<f64> {
    let k = t.find(&format!("{name}.x")).unwrap_or_else(|| panic!("no column {name}.x"));
    Vector3::from_column_slice(&t.row(row)[k..k + 3])
}

fn rotation(t: &Trajectory, row: usize, body: &str) -> Matrix3<f64> {
    let k = t.find(&format!("{body}.p.0")).expect("a quaternion");
    let p = &t.row(row)[k..k + 4];
    fourbar_math::so3::from_quaternion(&[p[0], p[1], p[2], p[3]])
}

/// Reported power of forces and drives, minus the rates of kinetic and gravitational energy and the power of reactions on the joint errors
/// in the reported `error.velocity`; and the size of the terms.
fn imbalance(model: &Model, t: &Trajectory, row: usize) -> (f64, f64) {
    let (mut sum, mut size) = (0.0, 1e-9_f64);
    let mut add = |x: f64| {
        sum += x;
        size += x.abs();
    };
    let mut fastest = 0.0_f64;
    for b in model.bodies.iter().skip(1) {
        let of = |key: &str| vector(t, row, &format!("{}.{key}", b.name));
        let (v, w, a, alpha, A) = (of("v"), of("omega"), of("a"), of("alpha"), rotation(t, row, &b.name));
        add(-b.mass * (a - model.gravity).dot(&v) - w.dot(&(A * b.J_bar * A.transpose() * alpha)));
        fastest = fastest.max(v.norm()).max(w.norm() * model.length);
    }
    model.forces.iter().map(|f| &f.0).chain(model.drives.iter().map(|d| &d.name)).for_each(|n| add(at(t, row, &format!("{n}.power"))));
    let reaction = |j: &fourbar::model::Joint, key: &str| vector(t, row, &format!("{}.{key}", j.name)).norm();
    let reactions: Vec<f64> = model.joints.iter().map(|j| reaction(j, "force") + reaction(j, "torque") / model.length).collect();
    let parting = reactions.iter().sum::<f64>() * at(t, row, "error.velocity");
    let held = reactions.iter().copied().fold(0.0, f64::max);
    // The speeds of a mechanism at rest are rounding: speeds of a millionth of a fall over its length are neglected.
    ((sum.abs() - parting).max(0.0), size + held * (fastest + 1e-6 * model.length.sqrt()))
}

/// Potential energy of the forces alone.
fn stored(model: &Model, t: &Trajectory, row: usize) -> f64 {
    let lifted: f64 = model.bodies.iter().skip(1).map(|b| b.mass * model.gravity.dot(&vector(t, row, &format!("{}.r", b.name)))).sum();
    at(t, row, "energy.potential") + lifted
}

#[test]
fn the_power_of_every_element_balances_the_bodies_and_sums_up_to_the_work() {
    for &(joint, force) in ELEMENTS {
        let model = pair(joint, force);
        for f in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
            let (t, _) = run(&model, &by(&model, f, if is_implicit(f) { 1e-8 } else { 1e-9 }));
            for row in 0..t.len() {
                let (x, size) = imbalance(&model, &t, row);
                assert!(x.abs() < 1e-9 * size, "{force}, {}: {x:.1e} W of {size:.1e} at row {row}", f.name);
            }
            // Simpson's rule over 2 ms is accurate to nine digits, except where a rope becomes taut; second-order runs at their tolerance
            // to five.
            let power = t.column("f.power").expect("a column");
            let around: f64 = power.iter().map(|p| 0.002 * p.abs()).sum();
            let share = if force.contains("rope") { 5e-3 } else { 1e-6 };
            let limit = if is_implicit(f) { 2e-5_f64.max(share) } else { share } * around;
            let mut work = 0.0;
            for row in (2..t.len()).step_by(2) {
                work += (at(&t, row, "t") - at(&t, row - 2, "t")) / 6.0 * (power[row - 2] + 4.0 * power[row - 1] + power[row]);
                let told = at(&t, row, "energy.work") - (stored(&model, &t, row) - stored(&model, &t, 0));
                assert!((work - told).abs() < limit, "{force}, {}: {work} J and {told} J at row {row}", f.name);
            }
            assert!(around > 5e-3, "{force}, {}: nothing was exchanged", f.name);
        }
    }
}

#[test]
fn what_has_a_potential_pulls_along_its_gradient() {
    let mut seen = 0;
    for &(joint, force) in ELEMENTS {
        let model = pair(joint, force);
        let element = &model.forces[0].1;
        let still = vec![Twist::zero(); model.bodies.len()];
        let mut random = Random(77);
        for _ in 0..5 {
            let mut q = Configuration::start(&model).q;
            random.disturb(&mut q, &[true, false, false], 0.4, 0.3);
            let turns = vec![0.0; model.angles.len()];
            let potential =
                |q: &[fourbar::state::Pose]| element.potential(&model, &Plain { t: 0.0, q, v: &still, turns: &turns, loads: &[], z: &[] });
            if potential(&q) == 0.0 {
                continue;
            }
            seen += 1;
            let mut wrench = [Wrench::zero(); 3];
            element.wrench(&model, &Plain { t: 0.0, q: &q, v: &still, turns: &turns, loads: &[], z: &[] }, &mut |b, F, T| {
                wrench[b] = wrench[b].plus(&Wrench { F, T });
            });
            for body in 1..3 {
                for k in 0..6 {
                    let moved = |h: f64| {
                        let mut d = Twist::zero();
                        if k < 3 {
                            d.v[k] = h
                        } else {
                            d.w[k - 3] = h
                        }
                        let mut q = q.clone();
                        q[body] = q[body].moved(&d);
                        potential(&q)
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let own = if k < 3 { wrench[body].F[k] } else { wrench[body].T[k - 3] };
                    // Central differences of some tens of joules: the square of the step, and rounding over it.
                    assert!((slope + own).abs() < 1e-6, "{force}, body {body}, {k}: {own} and {slope}");
                }
            }
        }
    }
    assert!(seen >= 15, "only {seen} states had a potential");
}

#[test]
fn speeds_and_accelerations_are_the_rates_of_joint_coordinates() {
    let model = pair("type: cylindrical", "{type: torque, body: b, torque: [0.2, 0.1, 0.3]}");
    let rates = [
        ("J.angle", "J.angle.speed", "J.angle.acceleration"),
        ("J.distance", "J.distance.speed", "J.distance.acceleration"),
        ("base.angle", "base.speed", "base.acceleration"),
    ];
    for f in FORMULATIONS {
        let (t, _) = run(&model, &by(&model, f, if is_implicit(f) { 1e-7 } else { 1e-9 }));
        assert!(t.find("J.speed").is_none() && t.find("base.angle.speed").is_none());
        for (y, speed, acceleration) in rates {
            let (y, v, a) = (t.column(y).expect("y"), t.column(speed).expect("v"), t.column(acceleration).expect("a"));
            let size = a.iter().fold(1.0_f64, |s, a| s.max(a.abs()));
            for i in 2..t.len() - 2 {
                let slope = |y: &[f64]| (8.0 * (y[i + 1] - y[i - 1]) - (y[i + 2] - y[i - 2])) / 0.024;
                let off = [slope(y) - v[i], slope(v) - a[i]].map(|x| x.abs() / size);
                // Differences of fourth order; positions of implicit runs are accurate to six digits, and are divided by 2 ms.
                let limit = if is_implicit(f) { [1e-4, 1e-3] } else { [1e-5, 1e-4] };
                assert!(off[0] < limit[0] && off[1] < limit[1], "{}, {speed}, row {i}: {off:?}", f.name);
            }
        }
    }
}

#[test]
fn a_drive_reports_effort_times_speed() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  arm: {mass: 2, inertia: [0.01, 0.2, 0.2], at: [0.5, 0, 0]}
  bob: {mass: 1, inertia: [0.02, 0.02, 0.02], at: [1, 0, -0.4]}
joints:
  pin: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, -1, 0]}
  hinge: {type: revolute, bodies: [arm, bob], at: [1, 0, 0], axis: [0, -1, 0]}
drives: {motor: {joint: pin, angle: 0.3*sin(2*t)^2}}
study: {analysis: dynamics, t_end: 1, output_step: 0.05}
",
    );
    for f in FORMULATIONS {
        let (t, _) = run(&model, &by(&model, f, 1e-7));
        for row in 0..t.len() {
            let time = at(&t, row, "t");
            let power = at(&t, row, "motor.effort") * 0.6 * (4.0 * time).sin();
            assert!((power - at(&t, row, "motor.power")).abs() < 1e-6 * (1.0 + power.abs()), "{}, t = {time}", f.name);
            let (x, size) = imbalance(&model, &t, row);
            assert!(x.abs() < 1e-9 * size, "{}: {x:.1e} W of {size:.1e}", f.name);
        }
    }
}

#[test]
fn reactions_of_bare_constraints_and_rolling_hold_the_bodies() {
    let rolling = "
fourbar: 1
parameters: {R: 0.1, lean: 20 deg, spin: 25}
gravity: [0, 0, -9.81]
bodies:
  coin: {mass: 0.5, inertia: [0.25*0.5*R^2, 0.5*0.5*R^2, 0.25*0.5*R^2], at: [0, 0, R*cos(lean)], orientation: {axis: [1, 0, 0], angle: lean}, omega: [0, spin*cos(lean), spin*sin(lean)], velocity: [spin*R, 0, 0]}
constraints: {roll: {type: rolling-disk, on: {body: coin}, axis: {at: [0, 1, 0]}, radius: R}}
study: {analysis: dynamics, t_end: 0.3, output_step: 0.05}
";
    let model = parse(rolling);
    for f in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
        let (t, _) = run(&model, &by(&model, f, 1e-8));
        for row in 0..t.len() {
            let of = |key: &str| vector(&t, row, &format!("coin.{key}"));
            let (F, A) = (vector(&t, row, "roll.force"), rotation(&t, row, "coin"));
            let short = of("a") * 0.5 - model.gravity * 0.5 - F;
            let e: Vector3<f64> = A.column(1).into();
            let low = (Vector3::z() - e * e.z).normalize() * -0.1;
            let (J, w) = (A * model.bodies[1].J_bar * A.transpose(), of("omega"));
            let twisted = J * of("alpha") + w.cross(&(J * w)) - low.cross(&F);
            assert!(short.norm() < 1e-8 && twisted.norm() < 1e-9, "{}: {short} {twisted}", f.name);
            assert!(F.z > 1.0);
        }
    }
    // The pendulum is held only by bare constraints: three at its pivot, three between directions.
    let model = fourbar_testing::common::model("ra_single_pendulum_primitives");
    for f in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
        let (t, _) = run(&model, &Study { t_end: 0.5, output_step: 0.1, ..by(&model, f, 1e-8) });
        for row in 0..t.len() {
            let of = |key: &str| vector(&t, row, &format!("pendulum.{key}"));
            let (A, w) = (rotation(&t, row, "pendulum"), of("omega"));
            let held: Vector3<f64> = ["pivot_x", "pivot_y", "pivot_z"].map(|n| vector(&t, row, &format!("{n}.force"))).iter().sum();
            let turned: Vector3<f64> = ["plane_y", "plane_z", "motor"].map(|n| vector(&t, row, &format!("{n}.torque"))).iter().sum();
            let short = of("a") * 78.0 - model.gravity * 78.0 - held;
            let J = A * model.bodies[1].J_bar * A.transpose();
            let twisted = J * of("alpha") + w.cross(&(J * w)) - turned - (A * Vector3::new(-2.0, 0.0, 0.0)).cross(&held);
            // Relative to some thousand newtons.
            assert!(short.norm() < 1e-6 && twisted.norm() < 1e-6, "{}: {short} {twisted}", f.name);
        }
    }
}

/// A rope is slack until the distance of its ends reaches its length, and pulls beyond; it never pushes.
#[test]
fn a_rope_pulls_where_it_is_taut_and_nowhere_else() {
    // A ball thrown away from its post and back again by the rope: a half period of the spring, then the same speed backwards.
    let text = "
fourbar: 1
gravity: [0, 0, 0]
bodies: {ball: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0], velocity: [1, 0, 0]}}
forces: {line: {type: rope, between: [{body: ground}, {body: ball}], length: 1, stiffness: 200}}
study: {analysis: dynamics, t_end: 1.5, output_step: 0.01}
";
    let model = parse(text);
    for f in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
        let (t, _) = run(&model, &by(&model, f, if is_implicit(f) { 1e-6 } else { 1e-10 }));
        let w = 10.0;
        let limit = if is_implicit(f) { 1e-3 } else { 1e-6 };
        for row in 0..t.len() {
            let time = at(&t, row, "t");
            let taut = (time - 0.5) * w;
            let x = match taut {
                _ if taut < 0.0 => 0.5 + time,
                _ if taut < std::f64::consts::PI => 1.0 + taut.sin() / w,
                _ => 1.0 - (taut / w - std::f64::consts::PI / w),
            };
            let (length, tension) = (at(&t, row, "line.length"), at(&t, row, "line.tension"));
            assert!((length - x).abs() < limit, "{}, t = {time}: {length} instead of {x}", f.name);
            assert!((tension - 200.0 * (length - 1.0).max(0.0)).abs() < 1e-9, "{}", f.name);
        }
    }
    // With damping the tension vanishes before it is slack, and it returns less energy than it absorbed.
    let damped = parse(&text.replace("stiffness: 200", "stiffness: 200, damping: 6"));
    for f in FORMULATIONS.iter().filter(|f| (f.applies)(&damped).is_ok()) {
        let (t, _) = run(&damped, &by(&damped, f, if is_implicit(f) { 1e-6 } else { 1e-9 }));
        let tension = t.column("line.tension").expect("a column");
        assert!(tension.iter().all(|x| *x >= 0.0) && tension.iter().any(|x| *x > 5.0), "{}", f.name);
        let last = t.len() - 1;
        let (v, lost) = (at(&t, last, "ball.v.x"), -at(&t, last, "energy.work"));
        // Damped by 0.15 of critical: x = exp(-d t) sin(w' t)/w' until k x + c x' = 0.
        let (d, k) = (1.5_f64, 100.0_f64);
        let own = (k - d * d).sqrt();
        let end = (std::f64::consts::PI - (2.0 * d * own).atan2(2.0 * d * d - k).abs()).abs();
        let candidates = [end / own, (std::f64::consts::PI + (2.0 * d * own / (2.0 * d * d - k)).atan()) / own];
        let speed = |s: f64| (-d * s).exp() * ((own * s).cos() - d / own * (own * s).sin());
        let force = |s: f64| 100.0 * (-d * s).exp() * (own * s).sin() / own + 2.0 * d * speed(s);
        let release = candidates.into_iter().find(|s| force(*s).abs() < 1e-9).expect("it lets go");
        let limit = if is_implicit(f) { 5e-3 } else { 1e-5 };
        assert!((v - speed(release)).abs() < limit, "{}: {v} instead of {}", f.name, speed(release));
        assert!((lost - (1.0 - v * v)).abs() < limit, "{}: {lost} J lost at {v} m/s", f.name);
    }
}

#[test]
fn a_snapshot_reads_forces_drives_joints_and_constraints_by_name() {
    let model = Arc::new(pair(HINGE, ELEMENTS[0].1));
    let mut simulation = Simulation::new(&model, &Study::of(&model)).expect("a simulation");
    simulation.advance(0.1).expect("moves");
    let now = simulation.snapshot();
    let spring = now.force("f").expect("there");
    let (length, rate) = (spring.get("length").expect("length"), spring.get("rate").expect("rate"));
    let tension = spring.get("tension").expect("tension");
    assert!((tension - 50.0 * (length - 0.8) - 2.0 * rate).abs() < 1e-9);
    assert!((spring.power() + tension * rate).abs() < 1e-12 && spring.get("torque").is_none());
    assert!(now.joint("J").expect("there").acceleration != 0.0);
    assert_eq!(now.force("g").expect_err("no such").code.to_string(), "U314");
}

/// Observes only some columns.
struct Selective {
    wanted: WantedColumns,
    rows: Vec<Vec<f64>>,
}

impl Observer for Selective {
    fn begin(&mut self, _: &[Column]) {}
    fn wants(&self) -> WantedColumns {
        self.wanted
    }
    fn row(&mut self, row: &[f64]) {
        self.rows.push(row.to_vec());
    }
}

#[test]
fn columns_that_nobody_wants_are_left_out_and_change_nothing_else() {
    let model = pair(HINGE, ELEMENTS[0].1);
    let all = fourbar::trajectory::columns(&model);
    let (whole, _) = run(&model, &Study::of(&model));
    let names = ["t", "a.r.x", "energy.total"];
    let wanted = WantedColumns::of(all.iter().filter(|c| names.contains(&c.name.as_str())));
    assert_eq!(wanted, WantedColumns { loads: false, rates: false, elements: false, reactions: false, errors: false });
    assert_eq!(WantedColumns::of(&all), WantedColumns::ALL);
    let mut some = Selective { wanted, rows: Vec::new() };
    study::run(&model, &Study::of(&model), &mut some).unwrap_or_else(|f| panic!("{}", f.diagnostic));
    for (k, c) in all.iter().enumerate() {
        let skipped = c.is_load()
            || (["f.length", "f.rate"].contains(&c.name.as_str()))
            || ([".speed", ".acceleration"].iter().any(|e| c.name.ends_with(e)) && !c.name.starts_with("error."));
        for (row, x) in some.rows.iter().enumerate() {
            assert_eq!(x[k], if skipped { 0.0 } else { whole.row(row)[k] }, "{} at row {row}", c.name);
        }
    }
}

/// Adds random force elements of every kind that the joints and bodies of a mechanism allow.
fn draw(spec: &mut ModelSpec, model: &Model, r: &mut Random) {
    let mass = model.bodies.iter().map(|b| b.mass).sum::<f64>() / model.moving() as f64;
    let (L, F) = (model.length, mass * model.gravity.norm().max(1.0));
    let body = |r: &mut Random| model.bodies[1 + (r.number().abs() * model.moving() as f64) as usize % model.moving()].name.clone();
    let place = |r: &mut Random| {
        let v = r.vector() * (0.5 * L);
        Place { body: body(r), at: At::Body([v.x, v.y, v.z]) }
    };
    let ends = |r: &mut Random| {
        let v = r.vector() * 3.0 * L;
        [Place { body: "ground".into(), at: At::Body([v.x, v.y, v.z]) }, place(r)]
    };
    let mut add = |name: &str, f: ForceSpec| spec.forces.push((format!("{name}{}", spec.forces.len()), f));
    let k = F / L;
    let damping = 0.1 * (mass * k).sqrt();
    let law = SpringLaw::Linear { stiffness: k, rest: 0.5 * L, damping };
    add("spring", SpringSpec { between: ends(r), law, mass: 0.0 }.into());
    let at = ends(r);
    add(
        "rope",
        RopeSpec { between: at, via: Vec::new(), length: (1.0 + r.number()) * 2.0 * L + 1e-3 * L, stiffness: 5.0 * k, damping }.into(),
    );
    let some = |r: &mut Random, size: f64| [0; 3].map(|_| StateExpr::constant(r.number() * size));
    add("force", PointForceSpec { on: place(r), force: some(r, F), frame: ForceFrame::Body }.into());
    add("torque", TorqueSpec { body: body(r), torque: some(r, 0.2 * F * L), frame: ForceFrame::World }.into());
    let stiffness = [0, 1, 2, 3, 4, 5].map(|i| k * (1.5 + r.number()) * if i < 3 { 1.0 } else { L * L });
    add("bushing", BushingSpec { between: ends(r), frame: Orientation::World, stiffness, damping: stiffness.map(|k| 0.02 * k) }.into());
    let forest = topology::is_forest(model) && model.rolling.is_empty();
    for (n, j) in model.joints.iter().enumerate().filter(|(_, j)| j.coordinates().next().is_some()).take(3) {
        let joint = j.name.clone();
        let effort = if j.kind.has_angle() { F * L } else { F };
        match n % 3 {
            0 if j.kind.has_angle() => {
                let law = SpringLaw::Linear { stiffness: effort, rest: 0.3, damping: 0.05 * effort };
                add("torsion", TorsionSpec { joint, law }.into());
            }
            1 => {
                let coulomb = if forest { 0.2 } else { 0.0 };
                add(
                    "friction",
                    FrictionSpec { joint, coulomb, viscous: 0.05 * effort, radius: 0.1 * L, speed: 0.5, ..Default::default() }.into(),
                );
            }
            _ => add("actuator", ActuatorSpec { joint, effort: StateExpr::constant(0.3 * effort * r.number()) }.into()),
        }
    }
}

#[test]
fn powers_balance_in_drawn_mechanisms_with_drawn_forces_in_every_formulation() {
    let (mut checked, mut kinds) = (0, std::collections::BTreeSet::new());
    for seed in 0..58u64 {
        let mut spec = families::mechanism(seed);
        spec.forces.clear();
        let Ok(bare) = spec.build() else { continue };
        // Skips mechanisms that are too large for some formulation.
        if bare.bodies.len() > 14 {
            continue;
        }
        draw(&mut spec, &bare, &mut Random(0x9e37_79b9 + seed));
        let model = spec.build().unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        kinds.extend(model.forces.iter().map(|(_, f)| f.words().kind));
        let period = (model.length / model.gravity.norm().max(1.0)).sqrt();
        for f in FORMULATIONS.iter().filter(|f| (f.applies)(&model).is_ok()) {
            let study =
                Study { t_end: 0.1 * period, output_step: 0.02 * period, ..by(&model, f, if is_implicit(f) { 1e-6 } else { 1e-9 }) };
            let mut t = Trajectory::default();
            let Ok(report) = study::run(&model, &study, &mut t) else { continue };
            assert!(report.t > 0.0);
            for row in 0..t.len() {
                let (x, size) = imbalance(&model, &t, row);
                assert!(
                    x.abs() < 1e-8 * size,
                    "seed {seed} ({}), {}: {x:.1e} W of {size:.1e} at row {row}",
                    families::family_of(seed).name,
                    f.name
                );
            }
            checked += 1;
        }
    }
    assert!(checked > 250 && kinds.len() == 8, "{checked} runs, {kinds:?}");
}
