//! Local and global errors against tolerances, as tables that plot directly.

#[path = "../tests/problems/local.rs"]
mod local;
#[path = "../tests/problems/mod.rs"]
mod problems;

use fourbar_dae::{Integrator, Options, Problem, State};
use local::{local_errors, median};
use problems::*;
use std::sync::Arc;

struct Case {
    name: &'static str,
    problem: Arc<Problem>,
    start: State,
    end: f64,
    options: fn(f64) -> Options,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pendulum_problem = Arc::new(Problem::record(&["u", "v", "lambda"], |t, x, e| pendulum(t, x, e))?);
    let kepler_problem = Arc::new(Problem::record(&["x", "y"], |t, x, e| kepler(t, x, e))?);
    let pendula = Arc::new(Problem::record(&["x", "y", "lambda", "u", "v", "mu"], |t, x, e| two_pendula(t, x, e))?);
    let (andrews, andrews_start) = andrews_problem(false);
    let cases = [
        Case {
            name: "pendulum, index 3",
            start: pendulum_problem.start(0.0).hold("u", 0, 6.0).guess("v", 0, 8.0).solve()?,
            problem: pendulum_problem,
            end: 20.0,
            options: Options::new,
        },
        Case {
            name: "Kepler, eccentricity 0.5",
            start: kepler_start(&kepler_problem, 0.5),
            problem: kepler_problem,
            end: 12.0,
            options: Options::new,
        },
        Case {
            name: "two pendula, index 5",
            start: pendula.start(0.0).hold("x", 0, 1.0).hold("u", 0, 0.8).guess("v", 0, 0.5).hold("u", 1, 0.0).solve()?,
            problem: pendula,
            end: 5.0,
            options: Options::new,
        },
        Case { name: "Andrews' mechanism", problem: andrews, start: andrews_start, end: 0.03, options: andrews_options },
    ];
    for case in cases {
        println!("{} to t = {}", case.name, case.end);
        println!("  tolerance  steps  local error/tolerance: median, largest   global error/tolerance");
        let finish = |tol: f64| -> Result<State, fourbar_dae::Error> {
            let mut run = Integrator::new(&case.problem, &case.start, (case.options)(tol))?;
            run.run_to(case.end)?;
            Ok(run.state())
        };
        let exact = finish(1e-16)?;
        for exponent in 4..=14 {
            let tol = 10f64.powi(-exponent);
            let ratios = local_errors(&case.problem, &case.start, &(case.options)(tol), case.end);
            let end = finish(tol)?;
            let differs = |j: usize| (end.get(j, 0).unwrap_or(0.0) - exact.get(j, 0).unwrap_or(0.0)).abs();
            let carried = (0..case.problem.variables().len()).filter(|&j| case.problem.structure().d()[j] > 0);
            let global = carried.map(differs).fold(0.0, f64::max);
            let largest = ratios.iter().fold(0.0f64, |m, x| m.max(*x));
            println!("  {tol:.0e}      {:5}  {:6.3} {largest:6.3}  {:10.2}", ratios.len() + 3, median(&ratios), global / tol);
        }
    }
    Ok(())
}
