//! zz Tables, functions and outputs in motion: a table as a drive and as a force in every formulation, against the function it was
//! drawn from and against each other.

use fourbar::study::{self, Analysis, FORMULATIONS, Study};
use fourbar::time::TimeFunction;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::{parse, run};
use std::f64::consts::TAU;

/// Points of a function, as they are written in a file: all digits.
fn points(f: impl Fn(f64) -> f64, from: f64, to: f64, intervals: usize) -> String {
    let point = |k: usize| {
        let x = from + (to - from) * k as f64 / intervals as f64;
        format!("[{x:?}, {:?}]", f(x))
    };
    format!("[{}]", (0..=intervals).map(point).collect::<Vec<_>>().join(", "))
}

/// A sine over a whole turn that ends with its first value to the bit.
fn sine(intervals: usize) -> String {
    points(|x| if x == TAU { 0.0 } else { x.sin() }, 0.0, TAU, intervals)
}

/// A crank that is driven, a rod that swings from it, and a weight that slides on the rod against a spring.
fn swing(drive: &str, torque: &str, tables: &str) -> Model {
    parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {{mass: 1, inertia: [0, 0.02, 0.02], at: [0.2, 0, 0]}}
  rod: {{mass: 0.6, inertia: [1e-4, 0.01, 0.01], at: [0.6, 0, 0]}}
  weight: {{mass: 0.3, inertia: [1e-3, 1e-3, 1e-3], at: [0.6, 0, 0]}}
joints:
  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}}
  A: {{type: revolute, bodies: [crank, rod], at: [0.4, 0, 0], axis: [0, 1, 0]}}
  S: {{type: prismatic, bodies: [rod, weight], at: [0.6, 0, 0], axis: [1, 0, 0]}}
drives:
  motor: {{joint: O, {drive}}}
forces:
  bend: {{type: torsion, joint: A, torque: '{torque}'}}
  hold: {{type: spring, between: [{{body: rod}}, {{body: weight, at: [0, 0, 0.05]}}], stiffness: 120, length: 0.05, damping: 1}}
points: {{tip: {{body: rod, at: [0.2, 0, 0]}}}}
tables: {{{tables}}}
outputs:
  reach: {{value: 'hypot(tip.x, tip.z)', unit: mm}}
  bent: {{value: A.angle, unit: deg}}
  sway: tip.vx + A.speed
  late: '2*t'
study: {{analysis: dynamics, t_end: 1.5, output_step: 0.1}}
"
    ))
}

/// The default integrators of order two need fixed small steps for such accuracy; all others keep the tolerance.
fn studies(model: &Model, tol: f64) -> Vec<Study> {
    let mut list = Vec::new();
    for f in FORMULATIONS {
        let implicit = f.integrators.contains(&"gen-alpha");
        list.push(Study {
            formulation: Some(f.name.into()),
            analysis: Some(Analysis::Dynamics),
            tol: (!implicit).then_some(tol),
            step: implicit.then_some(2e-4),
            ..Study::of(model)
        });
    }
    list
}

/// Largest difference in positions.
fn apart(a: &Trajectory, b: &Trajectory) -> f64 {
    let mut worst = 0.0_f64;
    for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| c.name.contains(".r.") || c.name == "A.angle" || c.name == "S.distance") {
        assert_eq!(c.name, b.columns[k].name);
        for i in 0..a.len() {
            let d = (a.row(i)[k] - b.row(i)[k]).abs();
            worst = if d.is_nan() { f64::INFINITY } else { worst.max(d) };
        }
    }
    worst
}


#[test]
fn measure() {
    let text = format!("wave: {{ends: periodic, points: {}}}", sine(24));
    let tabled = swing("angle: 0.8*wave(3*t)", "0.5*wave(angle) + 0.05*rate", &text);
    let smooth = swing("angle: 0.8*sin(3*t)", "0.5*sin(angle) + 0.05*rate", "");
    let step = swing("angle: '0.8*smoothstep(t, 0.2, 0.9)'", "0.5*sin(angle) + 0.05*rate", "");
    let _ = study::check;
    let _ = studies(&smooth, 1.0);
    let _ = TimeFunction::Value;
    for (what, model) in [("table", &tabled), ("sine", &smooth), ("step", &step)] {
        let with = |name: &str, integrator: &str, tol: f64| {
            let study = Study { formulation: Some(name.into()), integrator: Some(integrator.into()), analysis: Some(Analysis::Dynamics), tol: Some(tol), ..Study::of(model) };
            run(model, &study)
        };
        let truth = with("natural", "taylor", 1e-13).0;
        let t2 = with("natural", "taylor", 1e-11).0;
        println!("{what} taylor {:.1e}", apart(&t2, &truth));
        for (name, integrator) in [("grcr", "dopri5"), ("grcr", "dop853"), ("so3xr3", "dop853"), ("so3xr3", "dopri5"), ("dca", "dopri5"), ("ra", "gen-alpha")] {
            for tol in [1e-6, 1e-8, 1e-10] {
                if name == "ra" && tol < 1e-9 { continue; }
                let (r, rep) = with(name, integrator, tol);
                println!("{what} {name} {integrator} {tol:e}: {:.1e} steps {:?}", apart(&r, &truth), rep.work.iter().find(|w| w.0 == "steps"));
            }
        }
    }
}
