//! The pendulum of the literature: three equations of index 3, written as published.

use fourbar_dae::{Direction, Equations, Integrator, Options, Problem, Scalar, diff};
use std::sync::Arc;

fn pendulum<S: Scalar>(_t: S, x: &[S], eq: &mut Equations<S>) {
    let (g, length) = (9.81, 10.0);
    let (u, v, lambda) = (x[0], x[1], x[2]);
    eq.equation("horizontal", diff(u, 2) + lambda * u);
    eq.equation("vertical", diff(v, 2) + lambda * v - g);
    eq.equation("length", u.sqr() + v.sqr() - length * length);
    eq.output("energy", (diff(u, 1).sqr() + diff(v, 1).sqr()) * 0.5 - v * g);
    eq.event("bottom", u, Direction::Any);
}

fn main() -> Result<(), fourbar_dae::Error> {
    let problem = Arc::new(Problem::record(&["u", "v", "lambda"], pendulum)?);
    println!("{}", problem.structure());
    // Only u is known; v is a guess, the velocities follow.
    let start = problem.start(0.0).hold("u", 0, 6.0).guess("v", 0, 7.0).solve()?;
    println!("start: u = {}, v = {}", start.value(&problem, "u", 0)?, start.value(&problem, "v", 0)?);
    let mut run = Integrator::new(&problem, &start, Options::new(1e-13))?;
    let mut energy = (f64::INFINITY, f64::NEG_INFINITY);
    run.run(20.0, |r| {
        for event in r.events() {
            println!("through the bottom at t = {:.14}", event.t);
        }
        let e = r.value("energy", 0).unwrap_or(f64::NAN);
        energy = (energy.0.min(e), energy.1.max(e));
    })?;
    println!("{} steps of order {}, energy kept to {:.1e}", run.work().steps, run.order(), energy.1 - energy.0);
    Ok(())
}
