//! Cost of a changed input: a millisecond of `advance` after `set_input` compared with one without, at most twice as much. Changes of 1e-9
//! do not affect the steps, so they show the cost of the change itself.

use fourbar::Simulation;
use fourbar::study::{FORMULATIONS, Study};
use fourbar_bench::*;
use std::sync::Arc;

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (steps, runs) = if quick { (3, 1) } else { (200, 9) };
    println!("us per millisecond of motion without and with a changed input (limit: twice as much)");
    let model = Arc::new(shipped("dc_motor_slider_crank"));
    let name = model.inputs[0].name.clone();
    for change in [1e-9, 0.1] {
        for f in FORMULATIONS {
            for step in [None, Some(1e-3)] {
                // Taylor series choose their own step sizes.
                if step.is_some() && f.name == "natural" {
                    continue;
                }
                let study = Study { formulation: Some(f.name.into()), integrator: None, step, output_step: 1e-3, ..Study::of(&model) };
                let time = |by: f64| {
                    let mut best = f64::INFINITY;
                    for _ in 0..runs {
                        let mut s = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{d}"));
                        let input = s.input(&name).unwrap_or_else(|d| panic!("{d}"));
                        let t = shortest(1, || {
                            for k in 1..=steps {
                                let value = model.inputs[0].default + f64::from(k % 2) * by;
                                s.set_input(input, value).and_then(|()| s.advance(1e-3 * f64::from(k))).unwrap_or_else(|d| panic!("{d}"));
                            }
                        });
                        best = best.min(t);
                    }
                    1e6 * best / f64::from(steps)
                };
                let (without, with) = (time(0.0), time(change));
                let kind = if step.is_some() { "fixed" } else { "adaptive" };
                println!("  {:8} {kind:8} change {change:<5}: {without:8.1} {with:8.1}   {:.2}", f.name, with / without);
            }
        }
    }
}
