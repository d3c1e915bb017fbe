//! A planet over a thousand orbits, as a plain ordinary differential equation: energy to rounding.

use fourbar_dae::{Integrator, Options, Problem, Scalar, diff};
use std::f64::consts::TAU;
use std::sync::Arc;

fn main() -> Result<(), fourbar_dae::Error> {
    let problem = Arc::new(Problem::record(&["x", "y"], |_, x, eq| {
        let r2 = x[0].sqr() + x[1].sqr();
        eq.equation("x", diff(x[0], 2) + x[0] * r2.powf(-1.5));
        eq.equation("y", diff(x[1], 2) + x[1] * r2.powf(-1.5));
        eq.output("energy", (diff(x[0], 1).sqr() + diff(x[1], 1).sqr()) * 0.5 - r2.powf(-0.5));
    })?);
    for e in [0.0, 0.5] {
        let start = problem
            .start(0.0)
            .hold("x", 0, 1.0 - e)
            .hold("y", 0, 0.0)
            .hold("x", 1, 0.0)
            .hold("y", 1, ((1.0 + e) / (1.0 - e)).sqrt())
            .solve()?;
        let mut run = Integrator::new(&problem, &start, Options::new(1e-15))?;
        let mut worst = 0.0f64;
        run.run(1000.0 * TAU, |r| worst = worst.max((2.0 * r.value("energy", 0).unwrap_or(f64::NAN) + 1.0).abs()))?;
        println!("eccentricity {e}: {} steps, energy kept to {worst:.1e} (relative)", run.work().steps);
    }
    Ok(())
}
