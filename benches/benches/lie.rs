//! Speed of the formulations on Lie groups, compared at equal error with figures of other engines. Every time is the shortest CPU time of
//! several runs, including the set-up of the solver; compare figures of one run only.

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::motion::{Instant, Motion};
use fourbar::study::Study;
use fourbar_bench::*;

/// A run: shortest time in seconds, final instant, largest energy drift at the outputs, evaluations.
struct Timed {
    seconds: f64,
    last: Instant,
    drift: f64,
    work: Vec<(&'static str, f64)>,
}

/// CPU time of this thread if the system provides it, otherwise wall time; the machine may be shared.
fn cpu() -> f64 {
    // The kernel updates the count when the thread is rescheduled.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split_whitespace().next().and_then(|x| x.parse::<f64>().ok()) {
        Some(nanoseconds) => 1e-9 * nanoseconds,
        None => std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64()),
    }
}

fn energy(model: &Model, x: &Instant) -> f64 {
    let kinetic: f64 = (1..model.bodies.len())
        .map(|b| {
            let (body, v) = (&model.bodies[b], &x.v[b]);
            0.5 * (body.mass * v.v.norm_squared() + v.w.dot(&(body.J_bar * v.w))) - body.mass * model.gravity.dot(&x.q[b].r)
        })
        .sum();
    kinetic
}

/// Runs a study; timed runs have no outputs, so that only stepping is measured.
fn timed(model: &Model, study: &Study, outputs: usize, runs: usize) -> Timed {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let (formulation, integrator) = study.method(model).unwrap_or_else(|d| panic!("{d}"));
    let begin =
        || (formulation.start)(&fourbar::Structure::new(model, &start), study, integrator, &start).unwrap_or_else(|d| panic!("{d}"));
    let go = |m: &mut dyn Motion, t: f64| {
        if let Err(d) = m.advance(t, &mut |_| true) {
            panic!("{d}");
        }
    };
    let seconds = (0..runs)
        .map(|_| {
            let clock = cpu();
            let mut m = begin();
            go(m.as_mut(), study.t_end);
            cpu() - clock
        })
        .fold(f64::INFINITY, f64::min);
    let mut m = begin();
    let mut last = Instant::new(model, &start);
    let (e0, mut drift) = (energy(model, &last), 0.0_f64);
    for k in 1..=outputs {
        let t = study.t_end * k as f64 / outputs as f64;
        go(m.as_mut(), t);
        m.instant(t, &mut last).unwrap_or_else(|d| panic!("{d}"));
        drift = drift.max((energy(model, &last) - e0).abs());
    }
    let mut outcome = fourbar::motion::Outcome::default();
    m.report(&mut outcome);
    Timed { seconds, last, drift, work: outcome.work }
}

fn study(formulation: &str, integrator: &str, t_end: f64, step: Option<f64>, tol: Option<f64>) -> Study {
    Study {
        analysis: None,
        formulation: Some(formulation.into()),
        integrator: Some(integrator.into()),
        t_end,
        // The timed run has the same steps as the run with outputs.
        output_step: 0.01 * t_end,
        step,
        tol,
        options: Vec::new(),
        mode: None,
        inputs: Vec::new(),
    }
}

/// The spatial slider-crank with balls at both ends of the rod, started at 6 rad/s without a motor.
const SLIDER_CRANK: &str = "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {mass: 0.12, inertia: [1e-4, 1e-4, 1e-5], at: [0, 0.1, 0.16], velocity: [0, -0.24, 0], omega: [6, 0, 0]}
  rod: {mass: 0.5, inertia: [1e-5, 0.00375, 0.00375], at: [0.1, 0.05, 0.1], orientation: {x: [0.2, -0.1, -0.2], y: [0, 1, 0]}, velocity: [0.12, -0.24, 0], omega: [16/15, -8/15, 4/3]}
  slider: {mass: 2, inertia: [1e-4, 1e-4, 1e-4], at: [0.2, 0, 0], velocity: [0.24, 0, 0]}
joints:
  A: {type: revolute, bodies: [ground, crank], at: [0, 0.1, 0.12], axis: [1, 0, 0]}
  B: {type: spherical, bodies: [crank, rod], at: [0, 0.1, 0.2]}
  C: {type: spherical, bodies: [rod, slider], at: [0.2, 0, 0]}
  D: {type: prismatic, bodies: [ground, slider], at: [0.2, 0, 0], axis: [1, 0, 0]}
";

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let runs = if quick { 1 } else { 15 };
    // An argument selects cases whose name contains it.
    let word = std::env::args().skip(1).find(|a| !a.starts_with('-')).unwrap_or_default();
    let wanted = |name: &str| name.contains(&word);

    println!("Bricard's linkage, redundant, 10 s, fixed steps: largest energy drift at 100 outputs");
    println!("  figures of others: Simbody 0.040 s at 1.2e-5 J; Pinocchio RK4 0.041 s at 5.7e-5 J and 0.398 s at 1.0e-8 J");
    let bricard = shipped("a04_bricard");
    for formulation in ["so3xr3", "se3", "lie"] {
        for (method, h) in [("rk4", 5e-2), ("rk4", 2.5e-2), ("rk4", 1e-2), ("rk4", 1e-3), ("dopri5", 0.0), ("dop853", 0.0)] {
            if !wanted(&format!("bricard {formulation} {method} {h:.0e}")) {
                continue;
            }
            let s =
                if h > 0.0 { study(formulation, method, 10.0, Some(h), None) } else { study(formulation, method, 10.0, None, Some(1e-7)) };
            let o = timed(&bricard, &s, 100, runs);
            println!(
                "  {formulation:<7} {method:<7} h {h:<8.2e} {:>9.5} s   drift {:.2e} J   {}",
                o.seconds,
                o.drift,
                o.work.iter().map(|(k, v)| format!("{k} {v}")).collect::<Vec<_>>().join(", ")
            );
        }
    }

    println!("spatial slider-crank, 5 s: error of the slider's place");
    println!("  figures of others: Exudyn 2.25 s at 1.3e-6; Pinocchio 1.12 s at 5.3e-7");
    let loaded = fourbar_io::read_model(SLIDER_CRANK, &fourbar_io::ReadOptions::default())
        .unwrap_or_else(|_| panic!("the slider-crank does not read"));
    let crank = loaded.spec.build().unwrap_or_else(|e| panic!("{}", e[0]));
    let exact = timed(&crank, &study("so3xr3", "dop853", 5.0, None, Some(1e-12)), 1, 1).last.q[3].r.x;
    println!("  slider at {exact:.12} m");
    for formulation in ["so3xr3", "se3", "lie"] {
        for (method, h, tol) in [
            ("rk4", 2e-3, 0.0),
            ("rk4", 1e-3, 0.0),
            ("dopri5", 0.0, 1e-7),
            ("dopri5", 0.0, 1e-8),
            ("dop853", 0.0, 1e-7),
            ("dop853", 0.0, 1e-8),
        ] {
            if !wanted(&format!("crank {formulation} {method}")) {
                continue;
            }
            let s = if h > 0.0 { study(formulation, method, 5.0, Some(h), None) } else { study(formulation, method, 5.0, None, Some(tol)) };
            let o = timed(&crank, &s, 1, runs);
            println!(
                "  {formulation:<7} {method:<7} {:<10} {:>9.5} s   error {:.2e} m   {}",
                if h > 0.0 { format!("h {h:.0e}") } else { format!("tol {tol:.0e}") },
                o.seconds,
                (o.last.q[3].r.x - exact).abs(),
                o.work.iter().map(|(k, v)| format!("{k} {v}")).collect::<Vec<_>>().join(", ")
            );
        }
    }
}
