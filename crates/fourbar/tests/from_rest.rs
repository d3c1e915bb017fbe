//! Limits that touch at rest without force: the direction of motion follows from the derivatives of the forces, not from their values.

use fourbar::events::{Happened, Kind};
use fourbar::study::{self, Study};
use fourbar::{Model, Trajectory};
use fourbar_io::{ReadOptions, read_model};
use std::f64::consts::PI;

fn model_of(text: &str) -> Model {
    let read = read_model(text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    read.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

const HIGH: [(&str, &str); 6] =
    [("grcr", "dop853"), ("so3xr3", "dop853"), ("se3", "dop853"), ("lie", "dop853"), ("dca", "dop853"), ("natural", "taylor")];

fn run(model: &Model, formulation: &str, integrator: &str, t_end: f64) -> (Trajectory, Vec<Happened>, f64) {
    let mut s = Study::of(model);
    (s.formulation, s.integrator, s.t_end, s.tol) = (Some(formulation.into()), Some(integrator.into()), t_end, Some(1e-10));
    let mut trajectory = Trajectory::default();
    let report = study::run(model, &s, &mut trajectory).unwrap_or_else(|f| panic!("{formulation}: {}", f.diagnostic));
    let steps = report.work.iter().find(|(name, _)| name == "steps").map_or(0.0, |(_, n)| *n);
    (trajectory, report.events, steps)
}

/// The zero of a function between two times at which its sign differs.
fn zero(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let sign = f(a).signum();
    for _ in 0..200 {
        let m = 0.5 * (a + b);
        if f(m).signum() == sign { a = m } else { b = m }
    }
    0.5 * (a + b)
}

/// A hub drives a wheel through a one-way joint. The torque on the hub, which is zero at first, is `2 sin(2 pi t)`, with viscous drag.
#[test]
fn a_freewheel_engages_where_the_torque_begins() {
    let (hub, wheel, drag, torque) = (0.004, 0.1, 0.05, 2.0);
    let model = model_of(&format!(
        "fourbar: 1
bodies:
  hub:   {{mass: 1, inertia: [0.002, {hub}, 0.002]}}
  wheel: {{mass: 3, inertia: [0.05, {wheel}, 0.05]}}
joints:
  axle:   {{type: revolute, bodies: [ground, hub], at: [0, 0, 0], axis: [0, 1, 0]}}
  clutch: {{type: revolute, bodies: [hub, wheel], at: [0, 0, 0], axis: [0, 1, 0], limits: {{speed_min: 0}}}}
forces:
  pedal: {{type: actuator, joint: axle, effort: '{torque}*sin(2*pi*t)'}}
  drag:  {{type: torsion, joint: axle, torque: '{drag}*rate'}}
study: {{t_end: 0.9, output_step: 0.05}}
"
    ));
    // Together: J w' = torque - drag w from rest. They separate when the wheel is no longer pushed, w' = 0; it keeps its speed.
    let (a, w) = (drag / (hub + wheel), 2.0 * PI);
    let amplitude = torque / (hub + wheel) / (a * a + w * w);
    let speed = |t: f64| amplitude * (a * (w * t).sin() - w * (w * t).cos() + w * (-a * t).exp());
    let pushed = |t: f64| a * w * (w * t).cos() + w * w * (w * t).sin() - a * w * (-a * t).exp();
    let parts = zero(pushed, 0.2, 0.7);
    for (f, integrator) in HIGH {
        let (t, events, steps) = run(&model, f, integrator, 0.9);
        let kinds: Vec<Kind> = events.iter().map(|h| h.kind).collect();
        assert_eq!(kinds, [Kind::Engage, Kind::Release], "{f}: {events:?}");
        assert!(events[0].t <= 1e-12 && (events[1].t - parts).abs() < 1e-8, "{f}: {events:?} {parts}");
        assert!(steps < 1000.0, "{f}: {steps} steps");
        let column = |name: &str| t.column(name).unwrap_or_else(|| panic!("{name}"));
        for (k, at) in column("t").iter().enumerate() {
            let expected = speed(at.min(parts));
            let own = column("wheel.omega.y")[k];
            assert!((own - expected).abs() < 1e-7, "{f} at {at}: {own} {expected}");
        }
    }
}

/// A block at its stop. The force that presses it there grows from zero, reverses after a second, and moves the block away.
#[test]
fn a_block_at_its_stop_stays_while_it_is_pushed_there() {
    let model = model_of(
        "fourbar: 1
bodies:
  block: {mass: 2, inertia: [0.1, 0.1, 0.1]}
joints:
  guide: {type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0], limits: {min: 0}}
forces:
  push: {type: actuator, joint: guide, effort: '-3*sin(pi*t)'}
study: {t_end: 1.8, output_step: 0.05}
",
    );
    for (f, integrator) in HIGH {
        let (t, events, steps) = run(&model, f, integrator, 1.8);
        let lifts: Vec<&Happened> = events.iter().filter(|h| h.kind == Kind::Lift).collect();
        assert!(lifts.len() == 1 && (lifts[0].t - 1.0).abs() < 1e-9, "{f}: {events:?}");
        assert!(steps < 1000.0, "{f}: {steps} steps");
        let column = |name: &str| t.column(name).unwrap_or_else(|| panic!("{name}"));
        for (k, at) in column("t").iter().enumerate() {
            // 2 x'' = -3 sin(pi t) from t = 1 on, at rest there.
            let s = (at - 1.0).max(0.0);
            let expected = 1.5 / PI * (s - (PI * s).sin() / PI);
            let own = column("block.r.x")[k];
            assert!((own - expected).abs() < 1e-8, "{f} at {at}: {own} {expected}");
        }
    }
}
