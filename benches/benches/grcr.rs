//! Speed of recursive coordinate reduction. Every figure is the shortest of several runs; compare figures of one run only.

use fourbar::study::{Analysis, Study};
use fourbar_bench::*;

/// Operations per hinge outside the inward pass, counted in the kernels: frame and column 93, sine and cosine 30, twist and bias 48, inertia and
/// force 215, and 24 outward again.
const OUTSIDE: f64 = 410.0;
/// Inward, for a plain front: 15 + 6 to add the body, 66 for `I s`, 22 for two products, 12 for columns without inertia, 62 to eliminate.
const PLAIN: f64 = 183.0;

/// Seconds of a run with few outputs, largest change of the energy, number of evaluations.
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
    println!("peak of one core: {:.2} G multiply-adds per second (as the compiler vectorises for the processor it builds for)", peak / 1e9);

    println!("\nserial chain of hinges, us per acceleration");
    for &n in if quick { &[8, 32][..] } else { &[8, 32, 128, 512, 2048, 100_000] } {
        let model = chain(n, false);
        let (t, _, _) = acceleration(&model, if quick { 4 } else { (400_000 / n).max(8) }, if quick { 1 } else { 9 });
        let floor = 0.5e6 * n as f64 * (OUTSIDE + PLAIN) / peak;
        println!("  {n:>7} links {t:>10.2}   {:.1} ns per link   floor at peak {floor:.2} us, {:.1} times", 1e3 * t / n as f64, t / floor);
    }
    println!("\nloops, us per acceleration, closure of positions and velocities included");
    for &n in if quick { &[10][..] } else { &[10, 100, 1000] } {
        for (what, model) in [("closed ring", ring(n)), ("ladder", ladder(n / 2))] {
            let (t, operations, _) = acceleration(&model, if quick { 4 } else { (20_000 / n).max(8) }, if quick { 1 } else { 9 });
            let per = 1e3 * t / model.moving() as f64;
            // Without the operations of loop closure.
            let floor = 0.5e6 * (operations + OUTSIDE * model.moving() as f64) / peak;
            println!("  {what:<12} {n:>6} bodies {t:>10.2}   {per:.1} ns per body   floor at peak {floor:.2} us, {:.1} times", t / floor);
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
