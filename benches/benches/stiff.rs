//! Stiff mechanisms: Radau IIA against the quickest explicit method at about the same error (the governor), an engine on bushings that grow
//! stiffer, and cables of many links per step.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::motion::{Instant, Outcome};
use fourbar::study::Study;
use fourbar_bench::*;
use fourbar_io::{ReadOptions, read_model};

/// A run without outputs: time, evaluations, steps, and the state at its end.
struct Timed {
    seconds: f64,
    evaluations: f64,
    steps: f64,
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
    Ok(Timed { seconds, evaluations: count("evaluations"), steps: count("steps"), end })
}

/// Largest distance of bodies at the end.
fn apart(a: &Timed, b: &Timed) -> f64 {
    a.end.q.iter().zip(&b.end.q).fold(0.0, |m, (a, b)| f64::max(m, (a.r - b.r).norm()))
}

/// An engine block on four bushings of stiffness `k`, with a damping ratio of 0.05, shaken by a force that turns.
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
    println!("the stiff governor, {t_end} s: time, error at the end, evaluations, steps");
    let cases = [
        ("ra", "radau", 1e-6),
        ("grcr", "radau", 1e-6),
        ("grcr", "dop853", 1e-6),
        ("grcr", "dopri5", 1e-6),
        ("lie", "dopri5", 1e-6),
        ("ra", "gen-alpha", 1e-6),
    ];
    let mut first = None;
    for (formulation, integrator, tol) in cases {
        match timed(&governor, formulation, integrator, tol, t_end, runs) {
            Ok(t) => {
                let error = truth.as_ref().map_or(f64::NAN, |truth| apart(&t, truth));
                let ratio = t.seconds / *first.get_or_insert(t.seconds);
                println!(
                    "  {formulation:8} {integrator:10} {:8.2} ms  {error:.1e} m  {:7.0}  {:6.0}   {ratio:.2} times the first",
                    1e3 * t.seconds,
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
    println!("chains, us per step and body");
    for n in if quick { vec![20] } else { vec![500, 2000, 8000] } {
        match timed(&chain(n, false), "ra", "radau", 1e-6, if quick { 1e-3 } else { 0.05 }, 1) {
            Ok(t) => println!("  {n}: {:.0} steps, {:.2}", t.steps, 1e6 * t.seconds / t.steps / n as f64),
            Err(d) => println!("  {n}: {d}"),
        }
    }
}
