//! Andrews' squeezing mechanism: seven bodies, three loops, from its Lagrangian alone.

#[path = "../tests/problems/mod.rs"]
mod problems;

use fourbar_dae::Integrator;
use problems::{ANDREWS, andrews_options, andrews_problem};

fn main() -> Result<(), fourbar_dae::Error> {
    let (problem, start) = andrews_problem(true);
    let (rows, products, terms) = problem.size();
    println!("tape: {rows} rows, {products} products, {terms} linear terms\n{}", problem.structure());
    for tol in [1e-6, 1e-9, 1e-12] {
        let mut run = Integrator::new(&problem, &start, andrews_options(tol))?;
        let clock = std::time::Instant::now();
        let mut first = None;
        run.run(0.03, |r| {
            first.get_or_insert(r.value("balance", 0));
        })?;
        println!("tolerance {tol:.0e}: {} steps of order {}, {:.2?}", run.work().steps, run.order(), clock.elapsed());
        for name in ANDREWS {
            print!("  {name} {:.12}", run.value(name, 0)?);
        }
        let drift = run.value("balance", 0)? - first.unwrap_or(Ok(0.0))?;
        println!("\n  energy less work of the motor has changed by {drift:.1e} J");
    }
    Ok(())
}
