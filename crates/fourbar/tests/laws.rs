//! Laws of mechanics that every run must satisfy.

#![allow(non_snake_case)]

use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use nalgebra::Vector3;

fn vector(t: &Trajectory, row: usize, name: &str) -> Vector3<f64> {
    let k = t.find(&format!("{name}.x")).unwrap_or_else(|| panic!("no column {name}.x"));
    Vector3::from_column_slice(&t.row(row)[k..k + 3])
}

fn rotation(t: &Trajectory, row: usize, body: &str) -> nalgebra::Matrix3<f64> {
    let k = t.find(&format!("{body}.p.0")).expect("quaternion");
    let p = t.row(row);
    fourbar_math::so3::from_quaternion(&[p[k], p[k + 1], p[k + 2], p[k + 3]])
}

#[test]
fn conservative_models_keep_their_energy() {
    // Energy drift of a second-order method over the span; the double pendulum exchanges 2 kJ, the others a few joules.
    for (name, h, t_end, limit) in [
        ("ra_double_pendulum", 5e-4, 2.0, 2e-2),
        ("a04_bricard", 1e-3, 10.0, 1e-5),
        ("dca_double_loop", 1e-3, 3.0, 5e-5),
        ("lie_closed_3bar", 2.5e-4, 1.0, 1e-4),
    ] {
        let model = model(name);
        let (t, _) = run(&model, &Study { step: Some(h), t_end, ..Study::of(&model) });
        let e = t.column("energy.total").expect("energy");
        let drift = e.iter().map(|x| (x - e[0]).abs()).fold(0.0, f64::max);
        assert!(drift < limit, "{name}: {drift:.2e} J");
        // Outputs are projected and solved to rounding, regardless of the step error: a few hundred units in the last place.
        for (column, limit) in [("error.position", 1e-13), ("error.velocity", 1e-13), ("error.acceleration", 1e-12)] {
            let worst = t.column(column).expect("errors").iter().copied().fold(0.0, f64::max);
            assert!(worst < limit, "{name} {column}: {worst:.2e}");
        }
    }
}

#[test]
fn free_bodies_keep_their_momentum() {
    let model = model("lie_two_floating_bodies");
    let (t, _) = run(&model, &Study { step: Some(5e-4), t_end: 2.0, ..Study::of(&model) });
    let momenta = |row: usize| {
        let (mut p, mut l) = (Vector3::zeros(), Vector3::zeros());
        for b in model.bodies.iter().skip(1) {
            let (r, v, w, A) = (
                vector(&t, row, &format!("{}.r", b.name)),
                vector(&t, row, &format!("{}.v", b.name)),
                vector(&t, row, &format!("{}.omega", b.name)),
                rotation(&t, row, &b.name),
            );
            p += v * b.mass;
            l += r.cross(&v) * b.mass + A * b.J_bar * A.transpose() * w;
        }
        (p, l)
    };
    let (p0, l0) = momenta(0);
    let (p1, l1) = momenta(t.len() - 1);
    assert!((p1 - p0).norm() < 1e-9, "linear {:.2e}", (p1 - p0).norm());
    // Angular momentum is conserved to the second order of the method.
    assert!((l1 - l0).norm() < 1e-4 * l0.norm(), "angular {:.2e} of {:.2e}", (l1 - l0).norm(), l0.norm());
}

/// Newton-Euler per body from the reported columns alone: m a = forces, dL/dt = torques.
fn newton_euler(model: &Model, t: &Trajectory, row: usize) -> f64 {
    let n = model.bodies.len();
    let mut force: Vec<Vector3<f64>> = model.bodies.iter().map(|b| model.gravity * b.mass).collect();
    let mut torque = vec![Vector3::zeros(); n];
    let place = |b: usize| if b == 0 { Vector3::zeros() } else { vector(t, row, &format!("{}.r", model.bodies[b].name)) };
    for j in &model.joints {
        let (f, m) = (vector(t, row, &format!("{}.force", j.name)), vector(t, row, &format!("{}.torque", j.name)));
        let [i, k] = j.bodies.map(|b| b.index());
        let A = if k == 0 { nalgebra::Matrix3::identity() } else { rotation(t, row, &model.bodies[k].name) };
        let p = place(k) + A * j.M.s;
        force[k] += f;
        torque[k] += m + (p - place(k)).cross(&f);
        force[i] -= f;
        torque[i] -= m + (p - place(i)).cross(&f);
    }
    for d in &model.drives {
        let effort = t.row(row)[t.find(&format!("{}.effort", d.name)).expect("effort")];
        let j = &model.joints[d.joint];
        let [i, k] = j.bodies.map(|b| b.index());
        let A = if i == 0 { nalgebra::Matrix3::identity() } else { rotation(t, row, &model.bodies[i].name) };
        let z = A * j.F.axis(2);
        match d.coordinate {
            fourbar::model::JointCoordinate::Angle => {
                torque[k] += z * effort;
                torque[i] -= z * effort;
            }
            fourbar::model::JointCoordinate::Distance => {
                let Ak = if k == 0 { nalgebra::Matrix3::identity() } else { rotation(t, row, &model.bodies[k].name) };
                let p = place(k) + Ak * j.M.s;
                force[k] += z * effort;
                torque[k] += (p - place(k)).cross(&(z * effort));
                force[i] -= z * effort;
                torque[i] -= (p - place(i)).cross(&(z * effort));
            }
        }
    }
    let mut worst = 0.0_f64;
    for b in 1..n {
        let body = &model.bodies[b];
        let (a, w, alpha, A) = (
            vector(t, row, &format!("{}.a", body.name)),
            vector(t, row, &format!("{}.omega", body.name)),
            vector(t, row, &format!("{}.alpha", body.name)),
            rotation(t, row, &body.name),
        );
        let J = A * body.J_bar * A.transpose();
        let size = 1.0 + body.mass * model.gravity.norm() + force[b].norm() + a.norm() * body.mass;
        worst = worst.max((a * body.mass - force[b]).norm() / size);
        worst = worst.max((J * alpha + w.cross(&(J * w)) - torque[b]).norm() / (size * model.length.max(0.1)));
    }
    worst
}

#[test]
fn reported_reactions_satisfy_newton_and_euler_for_every_body() {
    // Models without applied forces besides gravity, so that only reactions and drives act.
    let mut checked = 0;
    for name in shipped() {
        let model = model(&name);
        let besides = !model.forces.is_empty() || !model.couplings.is_empty() || !model.bare.is_empty() || !model.rolling.is_empty();
        if besides || name.contains("N40") {
            continue;
        }
        let mut study = Study::of(&model);
        study.t_end = study.t_end.min(0.2);
        study.output_step = study.t_end / 4.0;
        study.step = Some(study.t_end / 200.0);
        let (t, _) = run(&model, &study);
        for row in 0..t.len() {
            let r = newton_euler(&model, &t, row);
            assert!(r < 1e-9, "{name}: {r:.2e} at row {row}");
        }
        checked += 1;
    }
    assert!(checked > 25, "only {checked} models were checked");
}

#[test]
fn power_of_dampers_and_drives_balances_the_energy() {
    // A driven pendulum with a damper: the drive's work minus the dissipation is the change of energy.
    let text = "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  arm: {mass: 2, inertia: [0.01, 0.2, 0.2], at: [0.5, 0, 0]}
  bob: {mass: 1, inertia: [0.02, 0.02, 0.02], at: [1, 0, -0.4]}
joints:
  pin: {type: revolute, bodies: [ground, arm], at: [0, 0, 0], axis: [0, -1, 0]}
  hinge: {type: revolute, bodies: [arm, bob], at: [1, 0, 0], axis: [0, -1, 0]}
drives:
  motor: {joint: pin, angle: 0.3*sin(2*t)^2}
forces:
  damper: {type: torsion, joint: hinge, stiffness: 0, angle: 0, damping: 0.4}
study: {analysis: dynamics, t_end: 2, output_step: 1 ms, step: 1 ms}
";
    let model = parse(text);
    for study in [Study::of(&model), Study { formulation: Some("ra".into()), step: None, tol: Some(1e-8), ..Study::of(&model) }] {
        let (t, _) = run(&model, &study);
        let column = |n: &str| t.column(n).unwrap_or_else(|| panic!("{n}"));
        let (time, e, work, effort, hinge) =
            (column("t"), column("energy.total"), column("energy.work"), column("motor.effort"), column("hinge.angle"));
        let rate = |i: usize| 0.3 * 2.0 * (2.0 * time[i]).sin() * (2.0 * time[i]).cos() * 2.0;
        let (mut sum, mut worst, mut apart) = (0.0, 0.0_f64, 0.0_f64);
        for i in 1..t.len() {
            let h = time[i] - time[i - 1];
            let slip = (hinge[i] - hinge[i - 1]) / h;
            sum += 0.5 * h * (effort[i] * rate(i) + effort[i - 1] * rate(i - 1)) - h * 0.4 * slip * slip;
            worst = worst.max((e[i] - e[0] - work[i]).abs());
            apart = apart.max((work[i] - sum).abs());
        }
        // Trapezoidal sums with 1 ms: second order, about 1e-5 of the exchanged 5 J; the column and the sum computed here agree equally
        // well.
        assert!(worst < 1e-4 && apart < 1e-4, "{worst:.2e} J, {apart:.2e} J");
        assert!(work.iter().fold(0.0_f64, |s, w| s.max(w.abs())) > 0.5);
    }
}

#[test]
fn coulomb_friction_dissipates_what_the_load_says() {
    // A block pushed by gravity along a slope: acceleration g (sin a - mu cos a), the load being m g cos a.
    let text = "
fourbar: 1
parameters: {slope: 40 deg}
gravity: [9.81*sin(slope), 0, -9.81*cos(slope)]
bodies:
  block: {mass: 3, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0], velocity: [1, 0, 0]}
joints:
  guide: {type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}
forces:
  rub: {type: friction, joint: guide, coulomb: 0.2, viscous: 0, radius: 0, speed: 1e-3}
study: {analysis: dynamics, t_end: 1, output_step: 0.1, step: 1 ms}
";
    let model = parse(text);
    let (t, _) = run(&model, &Study::of(&model));
    let a = 9.81 * (40f64.to_radians().sin() - 0.2 * 40f64.to_radians().cos());
    let x = t.column("guide.distance").expect("distance");
    let exact = 1.0 + 0.5 * a;
    assert!((x[t.len() - 1] - exact).abs() < 1e-6, "{} against {exact}", x[t.len() - 1]);
}
