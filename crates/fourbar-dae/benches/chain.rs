//! Chains of pendula: cost per variable and step from 300 to 10,000 variables.

#[path = "../tests/problems/mod.rs"]
mod problems;
mod support;

use fourbar_dae::{Error, Integrator, Options};
use problems::*;
use std::sync::Arc;
use support::best;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut costs = Vec::new();
    for n in [10, 33, 100, 333, 1000, 3334] {
        let (record, problem) = best(2, || chain(n));
        let problem = Arc::new(problem?);
        let start = chain_start(&problem, n);
        let variables = problem.variables().len();
        let set_up = || -> Result<Integrator, Error> {
            let mut run = Integrator::new(&problem, &start, Options::new(1e-8).order(14))?;
            run.step(1e6)?;
            Ok(run)
        };
        let (setup, run) = best(2, set_up);
        let mut run = run?;
        let (least, step) = best(5, || run.step(1e6));
        step?;
        let cost = least * 1e6 / variables as f64;
        costs.push((variables, cost));
        println!(
            "{variables:6} variables: recording and analysis {:8.2} ms, set-up with first step {:7.2} ms, step {:8.3} ms = {cost:.3} us per variable",
            record * 1e3,
            setup * 1e3,
            least * 1e3
        );
    }
    let at = |n: usize| costs.iter().find(|c| c.0 >= n).map_or(f64::NAN, |c| c.1);
    println!("cost per variable at 10,000 over that at 300: {:.2}", at(10_000) / at(300));
    println!("\nwhere dense and sparse factorisation cost the same, microseconds per step:");
    for n in [4, 6, 8, 10, 12, 14, 17, 20, 30] {
        let problem = Arc::new(chain(n)?);
        let mut cost = [0.0; 2];
        for (cost, limit) in cost.iter_mut().zip([usize::MAX, 0]) {
            let mut options = Options::new(1e-8).order(14);
            options.dense_limit = limit;
            let mut run = Integrator::new(&problem, &chain_start(&problem, n), options)?;
            *cost = best(3, || run.step(1e6)).0 * 1e6;
        }
        println!("{:4} unknowns: dense {:7.2}, sparse {:7.2}", 3 * n, cost[0], cost[1]);
    }
    Ok(())
}
