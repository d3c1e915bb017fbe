//! Stiff mechanisms: Radau IIA compared with the fastest explicit method at the same error (the governor), an engine on increasingly stiff
//! bushings, and cables of many links per step.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::motion::{Instant, Outcome};
use fourbar::study::Study;
use fourbar_bench::*;
use fourbar_io::{ReadOptions, read_model};

/// Error of the comparison, metres.
const ERROR: f64 = 1e-6;

/// A run without outputs: time, evaluations, steps, iterations, and the final state.
struct Timed {
    seconds: f64,
    evaluations: f64,
    steps: f64,
    iterations: f64,
    end: Instant,
}

fn timed(model: &Model, formulation: &str, integrator: &str, tol: f64, t_end: f64, runs: usize) -> Result<Timed, String> {
    let start = assemble(model).map_err(|d| d.to_string())?.configuration;
    let structure = fourbar::Structure::new(model, &start);
    let study = Study {
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        tol: Some(tol),
        t_end,
        output_step: t_end,
        ..Study::of(model)
    };
    let (info, integrator) = study.method(model).map_err(|d| d.to_string())?;
    let mut outcome = Outcome::default();
    let mut end = Instant::new(model, &start);
    let mut failed = None;
    let seconds = shortest_cpu(runs, || {
        let done = (info.start)(&structure, &study, integrator, &start).and_then(|mut m| {
            m.advance(t_end, &mut |_| true)?;
            m.instant(t_end, &mut end)?;
            outcome = Outcome::default();
            m.report(&mut outcome);
            Ok(())
        });
        failed = done.err();
    });
    if let Some(d) = failed {
        return Err(d.to_string());
    }
    let count = |name: &str| outcome.work.iter().find(|w| w.0 == name).map_or(0.0, |w| w.1);
    Ok(Timed { seconds, evaluations: count("evaluations"), steps: count("steps"), iterations: count("newton_iterations"), end })
}

/// Largest distance between bodies at the end.
fn apart(a: &Timed, b: &Timed) -> f64 {
    a.end.q.iter().zip(&b.end.q).fold(0.0, |m, (a, b)| f64::max(m, (a.r - b.r).norm()))
}

/// The time of a method for a final error of `ERROR`: interpolated between tolerances with errors on both sides, or, if stability limits
/// the steps, the shortest with a smaller error. Also the run of the nearest tolerance, that tolerance and its error.
fn at_error(
    model: &Model,
    (formulation, integrator): (&str, &str),
    truth: &Timed,
    t_end: f64,
    runs: usize,
) -> Result<(f64, Timed, f64, f64), String> {
    let mut last: Option<(f64, f64)> = None;
    let mut told = None;
    for tol in [1e-4, 1e-5, 1e-6, 1e-7] {
        match timed(model, formulation, integrator, tol, t_end, runs) {
            Ok(t) => {
                let (error, seconds) = (apart(&t, truth).max(1e-16), t.seconds);
                if error <= ERROR {
                    let between = last.map(|(worse, faster): (f64, f64)| {
                        let share = (worse / ERROR).ln() / (worse / error).ln();
                        faster * (seconds / faster).powf(share)
                    });
                    return Ok((between.unwrap_or(seconds), t, tol, error));
                }
                last = Some((error, seconds));
            }
            Err(d) => told = Some(d),
        }
    }
    Err(told.unwrap_or_else(|| format!("an error of {ERROR:.0e} m is not reached at 1e-7")))
}

/// An engine block on four bushings of stiffness `k` with a damping ratio of 0.05, excited by a rotating force.
fn engine(k: f64) -> Model {
    let damping = 2.0 * 0.05 * (k * 120.0 / 4.0).sqrt();
    let mut text = String::from(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {block: {mass: 120, inertia: [3, 5, 4.5]}}\nforces:\n  shake: {type: force, on: {body: block, at: [0.1, 0, 0.1]}, force: ['0', '300*sin(80*t)', '300*cos(80*t)']}\n",
    );
    for (i, [x, y]) in [[0.3, 0.25], [0.3, -0.25], [-0.3, 0.25], [-0.3, -0.25]].iter().enumerate() {
        text += &format!(
            "  mount{i}: {{type: bushing, between: [{{body: ground, at: [{x}, {y}, -0.2]}}, {{body: block, at: [{x}, {y}, -0.2]}}], stiffness: [{k}, {k}, {k}, 0, 0, 0], damping: [{damping}, {damping}, {damping}, 0, 0, 0]}}\n"
        );
    }
    let loaded = read_model(&text, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    loaded.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (runs, t_end) = if quick { (1, 0.05) } else { (5, 10.0) };
    let governor = shipped("a05_flyball_governor");
    let truth = timed(&governor, "natural", "taylor", 1e-12, t_end, 1);
    println!("the stiff governor, {t_end} s: time at an end error of {ERROR:.0e} m, with evaluations and steps at the nearest tolerance");
    let cases = [
        ("grcr", "dop853"),
        ("grcr", "dopri5"),
        ("lie", "dopri5"),
        ("lie", "dop853"),
        ("grcr", "radau"),
        ("ra", "radau"),
        ("ra", "gen-alpha"),
    ];
    let mut explicit = f64::INFINITY;
    for (formulation, integrator) in cases {
        match truth.as_ref().map_err(Clone::clone).and_then(|truth| at_error(&governor, (formulation, integrator), truth, t_end, runs)) {
            Ok((seconds, t, tol, error)) => {
                if integrator.starts_with("dop") {
                    explicit = explicit.min(seconds);
                }
                println!(
                    "  {formulation:8} {integrator:10} {:8.2} ms, {:.3} of the best explicit one; at {tol:.0e}: {error:.1e} m, {:.0} evaluations, {:.0} steps",
                    1e3 * seconds,
                    seconds / explicit,
                    t.evaluations,
                    t.steps
                );
            }
            Err(d) => println!("  {formulation:8} {integrator:10} {d}"),
        }
    }
    println!("an engine on bushings, 1 s at 1e-6: time against that at 1e5 N/m (limit 3)");
    let mut soft = None;
    for k in [1e5, 1e6, 1e7, 1e8, 1e9] {
        match timed(&engine(k), "ra", "radau", 1e-6, if quick { 0.01 } else { 1.0 }, runs) {
            Ok(t) => {
                println!("  {k:.0e}: {:8.2} ms  {:6.0} steps  {:.2}", 1e3 * t.seconds, t.steps, t.seconds / *soft.get_or_insert(t.seconds))
            }
            Err(d) => println!("  {k:.0e}: {d}"),
        }
    }
    println!("chains, us per body and step, and per body and Newton iteration: long chains take more iterations a step");
    for n in if quick { vec![20] } else { vec![500, 2000, 8000] } {
        match timed(&chain(n, false), "ra", "radau", 1e-6, if quick { 1e-3 } else { 0.05 }, 1) {
            Ok(t) => {
                let each = 1e6 * t.seconds / n as f64;
                println!("  {n}: {:.0} steps, {:.2}; {:.0} iterations, {:.2}", t.steps, each / t.steps, t.iterations, each / t.iterations);
            }
            Err(d) => println!("  {n}: {d}"),
        }
    }
}
