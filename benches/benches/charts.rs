//! Speed of the charts: rA compared with Euler parameters (rp) and ZXZ Euler angles (reps), with the same step and the same stopping rule.
//! Times are the shortest of several alternating runs; compare figures of one run only.

use fourbar::Model;
use fourbar::absolute::chart::{Chart, Ra};
use fourbar::absolute::reps::Reps;
use fourbar::absolute::rp::Rp;
use fourbar::analysis::assembly::assemble;
use fourbar::integrator::Method;
use fourbar::integrator::index3::Stepper;
use fourbar::kinematics::Kinematics;
use fourbar_bench::{shipped, shortest};

/// Microseconds per step and mean iterations.
fn dynamics<C: Chart>(model: &Model, method: Method, h: f64, steps: usize) -> (f64, f64) {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut s = Stepper::<C>::in_chart(model, &start, method);
    s.start(h);
    let t = shortest(1, || {
        for _ in 0..steps {
            if let Err(t) = s.attempt(h).and_then(|()| s.accept(h)) {
                panic!("{t:?}");
            }
        }
    });
    (1e6 * t / steps as f64, s.work.iterations as f64 / s.work.steps as f64)
}

fn kinematics<C: Chart>(model: &Model, h: f64, steps: usize) -> (f64, f64) {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut k = Kinematics::<C>::in_chart(model, &start).unwrap_or_else(|d| panic!("{d}"));
    let t = shortest(1, || {
        for i in 1..=steps {
            k.step_to(h * i as f64).unwrap_or_else(|d| panic!("{d}"));
        }
    });
    (1e6 * t / steps as f64, k.work.iterations as f64 / k.work.steps as f64)
}

/// The best of several alternating rounds for each of the three.
fn table(name: &str, rounds: usize, mut run: [&mut dyn FnMut() -> (f64, f64); 3]) {
    let mut best = [(f64::INFINITY, 0.0); 3];
    for _ in 0..rounds {
        for (b, f) in best.iter_mut().zip(&mut run) {
            let x = f();
            if x.0 < b.0 {
                *b = x;
            }
        }
    }
    let [ra, rp, reps] = best;
    println!(
        "  {name:<28} {:>8.2} {:>8.2} {:>8.2}   {:>5.2} {:>5.2}   {:.2} {:.2} {:.2}",
        ra.0,
        rp.0,
        reps.0,
        rp.0 / ra.0,
        reps.0 / ra.0,
        ra.1,
        rp.1,
        reps.1
    );
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let (rounds, steps) = if quick { (1, 20) } else { (25, 1000) };
    let head = "us per step: ra, rp, reps; rp / ra, reps / ra; iterations";
    for (what, method) in [("generalized-alpha", Method::GenAlpha { rho: 0.8 }), ("backward Euler", Method::BackwardEuler)] {
        println!("\ndynamics, {what}, h = 1e-3, {head}");
        for name in ["ra_single_pendulum", "ra_double_pendulum", "ra_four_link", "ra_slider_crank", "a04_bricard", "a02_n_fourbar_N40"] {
            let m = shipped(name);
            let steps = if name.ends_with("N40") { steps / 10 } else { steps };
            table(
                name,
                rounds,
                [&mut || dynamics::<Ra>(&m, method, 1e-3, steps), &mut || dynamics::<Rp>(&m, method, 1e-3, steps), &mut || {
                    dynamics::<Reps>(&m, method, 1e-3, steps)
                }],
            );
        }
    }
    println!("\nkinematics, h = 1e-3, {head}");
    for name in ["ra_single_pendulum", "ra_four_link", "ra_slider_crank"] {
        let m = shipped(name);
        table(
            name,
            rounds,
            [&mut || kinematics::<Ra>(&m, 1e-3, steps), &mut || kinematics::<Rp>(&m, 1e-3, steps), &mut || {
                kinematics::<Reps>(&m, 1e-3, steps)
            }],
        );
    }
}
