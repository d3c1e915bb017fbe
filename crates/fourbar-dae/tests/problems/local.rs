//! Local errors: each step repeated at the smallest tolerance from the same values.

use fourbar_dae::{Integrator, Options, Problem, State};
use std::sync::Arc;

/// Local errors of all steps, in units of the tolerance, and the global error at the end in units of the sizes. The first step and the last
/// two, which are shortened by the end, are omitted.
pub fn local_errors(problem: &Arc<Problem>, start: &State, options: &Options, end: f64) -> Vec<f64> {
    let d = problem.structure().d().to_vec();
    let mut run = Integrator::new(problem, start, options.clone()).expect("options");
    let fixed: Vec<Option<f64>> = (problem.variables().iter()).map(|n| options.sizes.iter().find(|s| s.0 == *n).map(|s| s.1)).collect();
    let mut size: Vec<f64> = vec![options.abs / options.rel; d.len()];
    let mut ratios = Vec::new();
    let mut from = start.clone();
    while run.t() != end {
        for j in 0..d.len() {
            size[j] = fixed[j].unwrap_or(size[j].max(from.get(j, 0).unwrap_or(0.0).abs()));
        }
        run.step(end).expect("a step");
        let to = run.state();
        let mut fine = options.clone();
        fine.rel = 1e-16;
        fine.order = None;
        fine.sizes = problem.variables().iter().cloned().zip(size.iter().copied()).filter(|s| s.1 > 0.0).collect();
        let mut exact = Integrator::new(problem, &from, fine).expect("options");
        exact.run_to(run.t()).expect("a fine step");
        let exact = exact.state();
        let (h, mut error) = (run.last_step().abs(), 0.0f64);
        for j in 0..d.len() {
            let mut unit = 1.0;
            for p in 0..d[j] {
                let difference = to.get(j, p).unwrap_or(0.0) - exact.get(j, p).unwrap_or(0.0);
                error = error.max(difference.abs() * unit / size[j]);
                unit *= h / (p + 1) as f64;
            }
        }
        ratios.push(error / options.rel);
        from = to;
    }
    let n = ratios.len();
    ratios.drain(..).skip(1).take(n.saturating_sub(3)).collect()
}

/// Median.
pub fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    v[v.len() / 2]
}
