//! A four-bar linkage whose crank is turned by a torque that a loop in this program sets: it holds the mean speed of the crank, whatever
//! the linkage asks for. Prints speed and torque over the second turn.

use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::spec::InputSpec;
use fourbar::study::Study;
use fourbar::{Error, Model, Simulation};
use std::sync::Arc;

/// Period of the loop, s.
pub const PERIOD: f64 = 2e-3;

/// A slender bar between two points of the plane, its x axis along it.
fn bar(from: [f64; 3], to: [f64; 3]) -> Body {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    let (length, mass) = (dx.hypot(dy), dx.hypot(dy));
    let inertia = mass * length * length / 12.0;
    let middle = [0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1]), 0.0];
    Body::new().mass(mass).inertia([1e-3 * inertia, inertia, inertia]).at(middle).turned([0.0, 0.0, 1.0], dy.atan2(dx))
}

/// The linkage with its torque as an input.
pub fn linkage() -> Result<Model, Error> {
    let (o, a, b, c) = ([0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [0.3, 0.2, 0.0], [0.4, 0.0, 0.0]);
    let z = [0.0, 0.0, 1.0];
    Mechanism::new()
        .gravity([0.0, -9.81, 0.0])
        .body("crank", bar(o, a))
        .body("coupler", bar(a, b))
        .body("rocker", bar(c, b))
        .revolute("O", GROUND, "crank")
        .at(o)
        .axis(z)
        .revolute("A", "crank", "coupler")
        .at(a)
        .axis(z)
        .revolute("B", "coupler", "rocker")
        .at(b)
        .axis(z)
        .revolute("C", GROUND, "rocker")
        .at(c)
        .axis(z)
        .input("torque", InputSpec { unit: "N*m".into(), default: 0.0, range: [-3.0, 3.0] })
        .actuator("motor", "O", "torque")
        .build()
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
pub fn turn(speed: f64, readings: usize, study: impl Fn(Study) -> Study) -> Result<Vec<Reading>, Error> {
    let model = Arc::new(linkage()?);
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
fn main() -> Result<(), Error> {
    let log = turn(10.0, 1500, |study| study)?;
    for r in log.iter().filter(|r| (6.3..12.6).contains(&r.angle)).step_by(20) {
        println!("crank {:6.1} deg   speed {:6.3} rad/s   torque {:6.3} N m", r.angle.to_degrees(), r.speed, r.torque);
    }
    Ok(())
}
