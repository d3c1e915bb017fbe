//! What derivatives of a run cost: the motion of a chain of eight rods with derivatives by eight parameters against the run alone, both in
//! joint coordinates by the classical method with the same steps. Central differences take sixteen runs.

use fourbar::spec::{Inertia, ModelSpec};
use fourbar::study::Study;
use fourbar::{Error, Model, Simulation};
use fourbar_bench::*;
use fourbar_design::sensitivities::{Parameters, of_rows};
use std::sync::Arc;

/// A chain whose rods have masses of their own.
fn build(spec: &ModelSpec, masses: &[f64]) -> Result<Model, Error> {
    let mut spec = spec.clone();
    for ((_, body), m) in spec.bodies.iter_mut().zip(masses) {
        body.mass = *m;
        body.inertia = Inertia::Principal([1e-3 * m, m / 12.0, m / 12.0]);
    }
    spec.build()
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (t_end, runs) = if quick { (0.01, 1) } else { (5.0, 5) };
    let n = 8;
    let spec = chain_spec(n, false);
    let make = |masses: &[f64]| build(&spec, masses);
    let names: Vec<String> = (1..=n).map(|k| format!("m{k}")).collect();
    let parameters = Parameters::new(names, vec![1.0; n], &make);
    let model = Arc::new(parameters.model().unwrap_or_else(|e| panic!("{e}")));
    let study = Study {
        formulation: Some("grcr".into()),
        integrator: Some("rk4".into()),
        step: Some(1e-3),
        t_end,
        output_step: t_end,
        ..Study::of(&model)
    };
    let plain = shortest(runs, || {
        let mut s = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{d}"));
        s.advance(t_end).unwrap_or_else(|d| panic!("{d}"));
    });
    println!("chain of {n} rods, {} steps of rk4 in joint coordinates: {:.1} ms", t_end / 1e-3, 1e3 * plain);
    for count in [1, 2, 4, 8] {
        let which: Vec<usize> = (0..count).collect();
        let last = |run: &fourbar::Trajectory| Ok((0..run.len()).map(|k| k + 1 == run.len()).collect());
        let whole = shortest(runs, || {
            let run = of_rows(&parameters, &study, &which, &last).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(run.slopes.len(), count);
        });
        println!(
            "  derivatives by {count} of its parameters: {:.1} ms, {:.2} runs (differences: {})",
            1e3 * whole,
            whole / plain,
            2 * count
        );
    }
}
