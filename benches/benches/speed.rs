//! Speed of the rA formulation. Every figure is the shortest of several runs; compare figures of one run only.

use fourbar::Model;
use fourbar::analysis::assembly::{Options, assemble, assemble_from};
use fourbar::integrator::Method;
use fourbar::integrator::index3::Stepper;
use fourbar::kinematics::Kinematics;
use fourbar::random::Random;
use fourbar_bench::*;

/// Microseconds per step of generalised-alpha, and mean number of iterations.
fn step_time(model: &Model, h: f64, steps: usize, runs: usize) -> (f64, f64) {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut best = (f64::INFINITY, 0.0);
    for _ in 0..runs {
        let mut s = Stepper::new(model, &start, Method::GenAlpha { rho: 0.8 });
        s.start(h);
        let t = shortest(1, || {
            for _ in 0..steps {
                if let Err(t) = s.attempt(h).and_then(|()| s.accept(h)) {
                    panic!("{t:?}");
                }
            }
        });
        if t < best.0 {
            best = (t, s.work.iterations as f64 / s.work.steps as f64);
        }
    }
    (1e6 * best.0 / steps as f64, best.1)
}

fn main() {
    // `cargo test --benches` only checks that benchmarks start.
    let quick = std::env::args().any(|a| a == "--test");
    let peak = peak();
    println!("peak of one core: {:.2} G multiply-adds per second (scalar and vectorised as the compiler does it)", peak / 1e9);

    println!("\nkinematics, us per time step (limit 6 for the slider-crank)");
    for name in ["ra_single_pendulum", "ra_slider_crank", "ra_four_link", "stewart_platform", "jansen_leg"] {
        let model = shipped(name);
        let start = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
        let steps = if quick { 50 } else { 2000 };
        let mut iterations = 0.0;
        let t = shortest(if quick { 1 } else { 15 }, || {
            let mut k = Kinematics::new(&model, &start).unwrap_or_else(|d| panic!("{d}"));
            for i in 1..=steps {
                k.step_to(5e-4 * i as f64).unwrap_or_else(|d| panic!("{d}"));
            }
            iterations = k.work.iterations as f64 / k.work.steps as f64;
        });
        println!("  {name:<28} {:>8.2}   {iterations:.2} iterations", 1e6 * t / steps as f64);
    }

    println!("\ndynamics, generalized-alpha, us per step");
    for (name, h) in [
        ("ra_slider_crank", 1e-3),
        ("ra_double_pendulum", 1e-3),
        ("a02_n_fourbar_N2", 1e-3),
        ("a04_bricard", 1e-3),
        ("andrews", 1e-6),
        ("a05_flyball_governor", 1e-3),
        ("a02_n_fourbar_N40", 1e-3),
        ("nc_closed_chain_robot", 1e-4),
    ] {
        let mut model = shipped(name);
        // The free slider-crank: no motor.
        model.drives.clear();
        let (t, iterations) = step_time(&model, h, if quick { 20 } else { 1000 }, if quick { 1 } else { 9 });
        println!("  {name:<28} {t:>8.2}   {iterations:.2} iterations");
    }

    println!("\ncost per body and step against size, ns");
    for (what, make) in [("chain", (|n| chain(n, false)) as fn(usize) -> Model), ("ladder", |n| ladder(n / 2))] {
        let sizes: &[usize] = if quick { &[10, 100] } else { &[10, 100, 1000, 10_000, 100_000] };
        let mut at_thousand = 0.0;
        for &n in sizes {
            let model = make(n);
            let steps = (200_000 / n).clamp(4, 500);
            let (t, iterations) = step_time(&model, 1e-3, steps, if n >= 10_000 { 2 } else { 5 });
            let per_body = 1e3 * t / model.moving() as f64;
            if n == 1000 {
                at_thousand = per_body;
            }
            let ratio = if n > 1000 { format!("   {:.2} of the value at 1000 (limit 1.5)", per_body / at_thousand) } else { String::new() };
            let mut e =
                Stepper::new(&model, &assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration, Method::GenAlpha { rho: 0.8 })
                    .equations;
            let floor = 1e9 * e.p.schur.factor_flops() as f64 / peak / model.moving() as f64;
            println!("  {what:<8} {n:>7} bodies  {per_body:>8.1}   {iterations:.2} iterations   factor alone at peak {floor:.1}{ratio}");
        }
    }

    println!("\nassembly of a redundant ladder of 1001 bodies from a rough start (limit 0.5 s)");
    let model = ladder(if quick { 20 } else { 500 });
    let mut rough = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
    Random(3).disturb(&mut rough.q, &vec![false; model.bodies.len()], 0.05, 0.1);
    let mut iterations = 0;
    let t = shortest(if quick { 1 } else { 3 }, || {
        iterations = assemble_from(&model, &rough, Options::default()).unwrap_or_else(|d| panic!("{d}")).iterations;
    });
    println!("  {:.3} s, {iterations} iterations", t);

    println!("\nclosed redundant 3D ring, us per step");
    for n in if quick { vec![10] } else { vec![100, 1000] } {
        let (t, iterations) = step_time(&ring(n), 1e-3, if quick { 5 } else { 100 }, 3);
        println!("  {n:>5} links {t:>10.1}   {iterations:.2} iterations");
    }
}
