//! A control loop around a pendulum: every millisecond the angle is read, a PID law in this program computes a torque, and the torque is
//! held until the next reading. Prints how the pendulum settles at its target.

use fourbar::mechanism::{Body, GROUND, Mechanism};
use fourbar::spec::InputSpec;
use fourbar::study::Study;
use fourbar::{Error, Model, Simulation};
use std::sync::Arc;

/// Mass, kg.
pub const MASS: f64 = 0.8;
/// Distance of the centre of mass from the hinge, m.
pub const ARM: f64 = 0.4;
/// Inertia about the hinge, kg m^2.
/// Inertia about the hinge, kg m^2.
pub const INERTIA: f64 = 0.01 + MASS * ARM * ARM;
/// Weight, N.
/// Weight, N.
pub const WEIGHT: f64 = MASS * 9.81;

/// Gains of the controller.
pub const GAINS: [f64; 3] = [6.0, 18.0, 1.2];
/// Its period, s.
/// Its period, s.
pub const PERIOD: f64 = 1e-3;

/// The controller: what it remembers from reading to reading.
#[derive(Default)]
pub struct Pid {
    integral: f64,
}

impl Pid {
    /// Torque for an error and the speed of the pendulum.
    pub fn torque(&mut self, error: f64, speed: f64) -> f64 {
        self.integral += error * PERIOD;
        (GAINS[0] * error + GAINS[1] * self.integral - GAINS[2] * speed).clamp(-10.0, 10.0)
    }
}

/// A pendulum that hangs from a hinge, with a torque as an input.
pub fn pendulum() -> Result<Model, Error> {
    Mechanism::new()
        .gravity([0.0, -9.81, 0.0])
        .body("bob", Body::new().mass(MASS).inertia([0.01; 3]).at([0.0, -ARM, 0.0]))
        .revolute("O", GROUND, "bob")
        .at([0.0; 3])
        .axis([0.0, 0.0, 1.0])
        .input("torque", InputSpec { unit: "N*m".into(), default: 0.0, range: [-10.0, 10.0] })
        .actuator("motor", "O", "torque")
        .build()
}

/// Runs the loop; angle and torque at every reading.
pub fn settle(target: f64, readings: usize, study: impl Fn(Study) -> Study) -> Result<Vec<[f64; 2]>, Error> {
    let model = Arc::new(pendulum()?);
    let mut pendulum = Simulation::new(&model, &study(Study::of(&model)))?;
    let torque = pendulum.input("torque")?;
    let mut controller = Pid::default();
    let mut log = Vec::new();
    for k in 0..readings {
        let joint = pendulum.snapshot().joint("O")?;
        let u = controller.torque(target - joint.angle, joint.speed);
        log.push([joint.angle, u]);
        pendulum.set_input(torque, u)?;
        pendulum.advance((k + 1) as f64 * PERIOD)?;
    }
    Ok(log)
}

#[allow(dead_code, reason = "tests take the rest of this file")]
fn main() -> Result<(), Error> {
    let log = settle(1.0, 4000, |study| study)?;
    for (k, [angle, torque]) in log.iter().enumerate().step_by(250) {
        println!("t = {:.2} s   angle {angle:.4} rad   torque {torque:.4} N m", k as f64 * PERIOD);
    }
    let last = log[log.len() - 1];
    println!("at the target gravity asks for {:.4} N m", WEIGHT * ARM * last[0].sin());
    Ok(())
}
