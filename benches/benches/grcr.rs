//! Speed of recursive coordinate reduction. Every figure is the shortest of several runs; compare figures of one run only.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::grcr::Mechanism;
use fourbar::study::{Analysis, Study};
use fourbar_bench::*;

/// Microseconds per acceleration at states that change from call to call, loops closed in every call, and operations inward.
fn acceleration(model: &Model, calls: usize, runs: usize) -> (f64, f64) {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut m = Mechanism::new(model, &start);
    let (q0, u0) = (m.q.clone(), m.u.clone());
    let small = if m.closings.is_empty() { 0.3 } else { 1e-5 / q0.len() as f64 };
    let mut states: Vec<(Vec<f64>, Vec<f64>)> = (0..8)
        .map(|k| {
            let wave = |i: usize, a: f64, b: f64| (a + i as f64 + b * k as f64).sin();
            let q = q0.iter().enumerate().map(|(i, q)| q + small * wave(i, 1.0, 0.37)).collect();
            let u = u0.iter().enumerate().map(|(i, u)| u + 0.5 * wave(i, 2.0, 0.53)).collect();
            (q, u)
        })
        .collect();
    for (q, u) in &mut states {
        // Closed states, then moved by what an integrator's prediction is off.
        m.close(0.0, q, u).unwrap_or_else(|d| panic!("{d}"));
        q.iter_mut().zip(&m.q).for_each(|(q, c)| *q = c + 1e-9);
        u.copy_from_slice(&m.u);
    }
    let t = shortest(runs, || {
        for k in 0..calls {
            let (q, u) = &states[k % 8];
            m.close(0.0, q, u).unwrap_or_else(|d| panic!("{d}"));
            m.accelerate(0.0);
            std::hint::black_box(&m.udot);
        }
    });
    (1e6 * t / calls as f64, m.schedule.cost(&m.tree))
}

/// Seconds of a run with few outputs, largest change of the energy, evaluations.
fn timed(name: &str, integrator: &str, step: Option<f64>, tol: Option<f64>, runs: usize) -> (f64, f64, f64) {
    let model = shipped(name);
    let own = Study::of(&model);
    let t_end = if name == "grcr_five_bar" { own.t_end } else { 10.0 };
    let study = Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some(integrator.into()),
        step,
        tol,
        t_end,
        output_step: t_end / 10.0,
        ..own
    };
    let (mut drift, mut evaluations) = (0.0, 0.0);
    let t = shortest(runs, || {
        let mut trajectory = fourbar::Trajectory::default();
        let report = fourbar::study::run(&model, &study, &mut trajectory).unwrap_or_else(|f| panic!("{name}: {}", f.diagnostic));
        let energy = trajectory.column("energy.total").unwrap_or_default();
        drift = energy.iter().map(|e| (e - energy[0]).abs()).fold(0.0, f64::max);
        evaluations = report.work.iter().find(|w| w.0 == "evaluations").map_or(0.0, |w| w.1);
    });
    (t, drift, evaluations)
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let peak = peak();
    println!("peak of one core: {:.2} G multiply-adds per second (scalar and vectorised as the compiler does it)", peak / 1e9);

    println!("\nserial chain of hinges, us per acceleration");
    for &n in if quick { &[8, 32][..] } else { &[8, 32, 128, 512, 2048, 100_000] } {
        let model = chain(n, false);
        let (t, operations) = acceleration(&model, if quick { 4 } else { (400_000 / n).max(8) }, if quick { 1 } else { 9 });
        println!(
            "  {n:>7} links {t:>10.2}   {:.1} ns per link   inward pass at peak {:.2} us",
            1e3 * t / n as f64,
            0.5e6 * operations / peak
        );
    }
    println!("\nloops, us per acceleration, closure of positions and velocities included");
    for &n in if quick { &[10][..] } else { &[10, 100, 1000] } {
        for (what, model) in [("closed ring", ring(n)), ("ladder", ladder(n / 2))] {
            let (t, operations) = acceleration(&model, if quick { 4 } else { (20_000 / n).max(8) }, if quick { 1 } else { 9 });
            let per = 1e3 * t / model.moving() as f64;
            println!(
                "  {what:<12} {n:>6} bodies {t:>10.2}   {per:.1} ns per body   inward pass at peak {:.2} us",
                0.5e6 * operations / peak
            );
        }
    }
    println!("\nruns of 10 s, s");
    let runs = if quick { 1 } else { 5 };
    for (name, integrator, step, tol) in [
        ("a02_n_fourbar_N2", "rk4", Some(0.01), None),
        ("a02_n_fourbar_N2", "rk4", Some(0.005), None),
        ("a02_n_fourbar_N40", "dopri5", None, Some(1e-7)),
        ("a02_n_fourbar_N40", "dopri5", None, Some(1e-8)),
        ("a04_bricard", "dopri5", None, Some(1e-7)),
        ("a04_bricard", "dop853", None, Some(1e-7)),
        ("a04_bricard", "dop853", None, Some(1e-8)),
    ] {
        let (t, drift, evaluations) = timed(name, integrator, step, tol, runs);
        println!("  {name:<20} {integrator:<7} {step:?} {tol:?}: {t:.4} s, {evaluations} evaluations, energy {drift:.1e} J");
    }
}
