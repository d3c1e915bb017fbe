//! A four-bar linkage whose crank is turned by a torque that a loop in this program sets: it holds the mean speed of the crank, whatever
//! the linkage asks for. Prints speed and torque over the second turn.

use fourbar::expr::{Expr, Symbol};
use fourbar::spec::{
    BodySpec, ForceSpec, Inertia, InputSpec, JointSpec, ModelSpec, Orientation, PairKind, Placement, StateExpr, StateVariable,
};
use fourbar::study::Study;
use fourbar::{Diagnostic, Simulation};
use std::sync::Arc;

/// Period of the loop, s.
pub const PERIOD: f64 = 2e-3;

/// A slender bar between two points of the plane, its x axis along it.
fn bar(from: [f64; 2], to: [f64; 2]) -> BodySpec {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (length, mass) = (dx.hypot(dy), dx.hypot(dy));
    let inertia = mass * length * length / 12.0;
    BodySpec {
        mass,
        inertia: Inertia::Principal([1e-3 * inertia, inertia, inertia]),
        at: [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.0],
        orientation: Orientation::AxisAngle { axis: [0.0, 0.0, 1.0], angle: dy.atan2(dx) },
        ..BodySpec::default()
    }
}

/// The linkage with its torque as an input.
pub fn linkage() -> Result<ModelSpec, Diagnostic> {
    let (o, a, b, c) = ([0.0, 0.0], [0.0, 0.1], [0.3, 0.2], [0.4, 0.0]);
    let hinge = |base: &str, moving: &str, at: [f64; 2]| JointSpec::Pair {
        kind: PairKind::Revolute,
        bodies: [base.into(), moving.into()],
        placement: Placement::World { at: [at[0], at[1], 0.0], axis: [0.0, 0.0, 1.0], axis_moving: None },
    };
    let torque = Expr::parse("torque", &mut |name| (name == "torque").then_some(Symbol::Variable(0)));
    let effort = StateExpr {
        expr: torque.map_err(|e| Diagnostic::new("M020", e.to_string()))?,
        variables: vec![StateVariable::Auxiliary("torque".into())],
    };
    Ok(ModelSpec {
        gravity: Some([0.0, -9.81, 0.0]),
        bodies: vec![("crank".into(), bar(o, a)), ("coupler".into(), bar(a, b)), ("rocker".into(), bar(c, b))],
        joints: vec![
            ("O".into(), hinge("ground", "crank", o)),
            ("A".into(), hinge("crank", "coupler", a)),
            ("B".into(), hinge("coupler", "rocker", b)),
            ("C".into(), hinge("ground", "rocker", c)),
        ],
        inputs: vec![("torque".into(), InputSpec { unit: "N*m".into(), default: 0.0, range: [-3.0, 3.0] })],
        forces: vec![("motor".into(), ForceSpec::Actuator { joint: "O".into(), effort })],
        ..ModelSpec::default()
    })
}

/// One reading: crank angle, crank speed, torque held from here on, and the energy of the linkage.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Angle of the crank, rad.
    pub angle: f64,
    /// Its speed, rad/s.
    pub speed: f64,
    /// The torque that is held until the next reading, N m.
    pub torque: f64,
    /// Kinetic and potential energy, J.
    pub energy: f64,
}

/// Holds the crank at a speed.
pub fn turn(speed: f64, readings: usize, study: impl Fn(Study) -> Study) -> Result<Vec<Reading>, Diagnostic> {
    let model = Arc::new(linkage()?.build().map_err(|mut list| list.remove(0))?);
    let mut linkage = Simulation::new(&model, &study(Study::of(&model)))?;
    let torque = linkage.input("torque")?;
    let (mut integral, mut log) = (0.0, Vec::new());
    for k in 0..readings {
        let now = linkage.snapshot();
        let (joint, energy) = (now.joint("O")?, now.energy());
        let error = speed - joint.speed;
        let u = (0.05 * error + 0.2 * integral).clamp(-3.0, 3.0);
        integral += error * PERIOD;
        log.push(Reading { angle: joint.angle, speed: joint.speed, torque: u, energy: energy.kinetic + energy.potential });
        linkage.set_input(torque, u)?;
        linkage.advance((k + 1) as f64 * PERIOD)?;
    }
    Ok(log)
}

#[allow(dead_code, reason = "tests take the rest of this file")]
fn main() -> Result<(), Diagnostic> {
    let log = turn(10.0, 1500, |study| study)?;
    for r in log.iter().filter(|r| (6.3..12.6).contains(&r.angle)).step_by(20) {
        println!("crank {:6.1} deg   speed {:6.3} rad/s   torque {:6.3} N m", r.angle.to_degrees(), r.speed, r.torque);
    }
    Ok(())
}
