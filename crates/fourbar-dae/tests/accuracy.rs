//! Errors against tolerances, and the order of convergence.

#[path = "problems/local.rs"]
mod local;
use crate::problems;

use fourbar_dae::{Integrator, Options, Problem, Scalar, State, diff};
use local::{local_errors, median};
use problems::*;
use std::sync::Arc;

fn cases() -> Vec<(&'static str, Arc<Problem>, State, f64, bool)> {
    let pendulum = Arc::new(Problem::record(&["u", "v", "lambda"], pendulum).unwrap());
    let p_start = pendulum.start(0.0).hold("u", 0, 6.0).guess("v", 0, 8.0).solve().unwrap();
    let kepler = Arc::new(Problem::record(&["x", "y"], kepler).unwrap());
    let k_start = kepler_start(&kepler, 0.5);
    let (andrews, a_start) = andrews_problem(true);
    vec![("pendulum", pendulum, p_start, 20.0, false), ("kepler", kepler, k_start, 12.0, false), ("andrews", andrews, a_start, 0.03, true)]
}

#[test]
fn local_errors_are_within_a_factor_of_ten_of_the_tolerance() {
    for (name, problem, start, end, angles) in cases() {
        for exponent in [4, 6, 8, 10, 12, 14] {
            let tol = 10f64.powi(-exponent);
            let options = if angles { andrews_options(tol) } else { Options::new(tol) };
            let ratios = local_errors(&problem, &start, &options, end);
            let largest = ratios.iter().fold(0.0f64, |m, x| m.max(*x));
            let middle = median(&ratios);
            println!("{name:9} {tol:.0e}: median {middle:.3}, largest {largest:.3} of {} steps", ratios.len());
            assert!(largest < 10.0, "{name} {tol:e}: {largest}");
            assert!((0.05..10.0).contains(&middle), "{name} {tol:e}: {middle}");
        }
    }
}

#[test]
fn global_errors_follow_the_tolerance_on_a_well_conditioned_problem() {
    // A damped oscillator, in which errors decay.
    let problem = Problem::record(&["x", "lambda"], |t, x, e| {
        e.equation("motion", diff(x[0], 2) + diff(x[0], 1) * 2.0 + x[0] * 2.0 - x[1]);
        e.equation("drive", x[1] - (t * 3.0).sin());
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).hold("x", 0, 0.0).hold("x", 1, 0.0).solve().unwrap();
    // Steady part of the response to sin 3t: (-7 sin 3t - 6 cos 3t)/85, and the transient that starts at rest.
    let exact = |t: f64| {
        let (a, b) = (6.0 / 85.0, (6.0 / 85.0) + 21.0 / 85.0);
        (-7.0 * (3.0 * t).sin() - 6.0 * (3.0 * t).cos()) / 85.0 + (-t).exp() * (a * t.cos() + b * t.sin())
    };
    for exponent in [4, 6, 8, 10, 12] {
        let tol = 10f64.powi(-exponent);
        let mut run = Integrator::new(&problem, &start, Options::new(tol).abs(0.1 * tol)).unwrap();
        let mut worst = 0.0f64;
        run.run(10.0, |r| worst = worst.max((r.value("x", 0).unwrap() - exact(r.t())).abs())).unwrap();
        let ratio = worst / (0.14 * tol);
        println!("tolerance {tol:e}: global error {ratio:.3} of it");
        assert!(ratio < 10.0, "{tol:e}: {ratio}");
    }
}

#[test]
fn the_order_of_convergence_is_one_above_the_last_stage() {
    // With d = 2 the velocity is a polynomial of degree K + 1.
    let problem = Problem::record(&["x"], |_, x, e| e.equation("oscillator", diff(x[0], 2) + x[0].sin())).map(Arc::new).unwrap();
    let start = problem.start(0.0).hold("x", 0, 1.0).hold("x", 1, 0.5).solve().unwrap();
    let mut fine = Integrator::new(&problem, &start, Options::new(1e-15)).unwrap();
    fine.run_to(4.0).unwrap();
    let exact = fine.value("x", 1).unwrap();
    for order in [4, 6, 9] {
        let error = |h: f64| {
            let mut options = Options::new(0.1).order(order);
            options.max_step = h;
            options.abs = 1e3;
            let mut run = Integrator::new(&problem, &start, options).unwrap();
            run.run_to(4.0).unwrap();
            (run.value("x", 1).unwrap() - exact).abs()
        };
        let observed = (error(0.25) / error(0.125)).log2();
        println!("last stage {order}: observed order {observed:.2}");
        assert!((observed - (order + 1) as f64).abs() < 0.7, "{order}: {observed}");
    }
}

#[test]
fn variable_order_gives_the_same_motion() {
    let (problem, start) = andrews_problem(true);
    let (_, rows) = read_table(include_str!("data/andrews.csv"));
    for first in [10, 20, 34] {
        let mut options = andrews_options(1e-10).order(first);
        options.variable_order = true;
        let mut run = Integrator::new(&problem, &start, options).unwrap();
        run.run_to(0.03).unwrap();
        let error = (0..7).map(|j| (run.at(0.03, j, 0).unwrap() - rows[30][1 + j]).abs()).fold(0.0, f64::max);
        println!("from order {first} to {}: {} steps, error {error:e}", run.order(), run.work().steps);
        assert!(error < 1e-6, "{error:e}");
        assert!((12..=30).contains(&run.order()), "{}", run.order());
    }
}

#[test]
fn a_passage_near_a_singular_configuration_is_survived() {
    // Parallelogram without the condition that keeps it one: rank is lost when all bars are aligned.
    let problem = Problem::lagrangian(&["ax", "ay", "bx", "by"], |_, q, v, m| {
        for k in 0..4 {
            m.lagrangian(v[k].sqr() * 0.5);
        }
        m.lagrangian(-(q[1] + q[3]) * 9.81);
        m.constraint("left", q[0].sqr() + q[1].sqr() - 1.0);
        m.constraint("right", (q[2] - 1.0).sqr() + q[3].sqr() - 1.0);
        m.constraint("coupler", (q[2] - q[0]).sqr() + (q[3] - q[1]).sqr() - 1.0);
    })
    .map(Arc::new)
    .unwrap();
    // Bars upright, falling to the right; on the parallelogram branch it is a simple pendulum.
    let state = problem
        .start(0.0)
        .hold("ax", 0, 0.0)
        .guess("ay", 0, 1.0)
        .guess("bx", 0, 1.0)
        .guess("by", 0, 1.0)
        .hold("ax", 1, 1.0)
        .guess("bx", 1, 1.0)
        .solve()
        .unwrap();
    let mut run = Integrator::new(&problem, &state, Options::new(1e-10)).unwrap();
    let mut worst = 0.0f64;
    run.run(4.0, |r| {
        let v = |n: &str, p| r.value(n, p).unwrap();
        let energy: f64 = ["ax", "ay", "bx", "by"].iter().map(|n| 0.5 * v(n, 1).powi(2)).sum::<f64>() + 9.81 * (v("ay", 0) + v("by", 0));
        worst = worst.max((energy - (1.0 + 2.0 * 9.81)).abs()).max((v("bx", 0) - v("ax", 0) - 1.0).abs());
    })
    .unwrap();
    println!("after {:?}: largest deviation {worst:e}", run.work());
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn orders_up_to_sixty_work() {
    let problem = Arc::new(Problem::record(&["x", "y"], kepler).unwrap());
    let start = kepler_start(&problem, 0.5);
    for order in [4, 20, 40, 60] {
        let mut run = Integrator::new(&problem, &start, Options::new(1e-12).order(order)).unwrap();
        run.run_to(std::f64::consts::TAU).unwrap();
        let error = (run.value("x", 0).unwrap() - 0.5).abs().max(run.value("y", 0).unwrap().abs());
        println!("order {order}: {} steps, error {error:e}", run.work().steps);
        // Local errors equal to the tolerance, all in the same direction and growing along the orbit.
        assert!(error < 2e-11 * run.work().steps as f64, "{order}: {error:e}");
    }
    assert!(Integrator::new(&problem, &start, Options::new(1e-12).order(61)).is_err());
    assert!(Integrator::new(&problem, &start, Options::new(f64::NAN)).is_err());
    assert!(Integrator::new(&problem, &start, Options::new(1e-9)).unwrap().run_to(f64::NAN).is_err());
}

#[test]
fn a_ladder_of_parallelograms_passes_its_dead_points() {
    // Uniform bars of unit mass and length: n + 1 upright, n across. On its parallelogram branch it is one pendulum; rank is lost at every
    // horizontal position.
    for n in [2usize, 12] {
        let names: Vec<String> = (0..=n).flat_map(|i| [format!("x{i}"), format!("y{i}")]).collect();
        let ladder = Problem::lagrangian(&names, |_, q, v, m| {
            for i in 0..=n {
                let (x, y) = (q[2 * i] - i as f64, q[2 * i + 1]);
                m.lagrangian((v[2 * i].sqr() + v[2 * i + 1].sqr()) * (1.0 / 6.0) - y * (0.5 * 9.81));
                m.constraint(format!("upright {i}"), x.sqr() + y.sqr() - 1.0);
            }
            for i in 0..n {
                let (a, b) = (2 * i, 2 * i + 2);
                for k in 0..2 {
                    m.lagrangian((v[a + k].sqr() + v[a + k] * v[b + k] + v[b + k].sqr()) * (1.0 / 6.0));
                }
                m.lagrangian((q[a + 1] + q[b + 1]) * (-0.5 * 9.81));
                m.constraint(format!("across {i}"), (q[b] - q[a]).sqr() + (q[b + 1] - q[a + 1]).sqr() - 1.0);
            }
        })
        .map(Arc::new)
        .unwrap();
        let mut state = ladder.zero_state(0.0);
        for i in 0..=n {
            state.set(2 * i, 0, i as f64);
            state.set(2 * i + 1, 0, 1.0);
            state.set(2 * i, 1, 1.0);
        }
        let nf = n as f64;
        let rate = 9.81 * (0.5 * (nf + 1.0) + nf) / ((nf + 1.0) / 3.0 + nf);
        let swing = Problem::record(&["theta"], |_, x, e| e.equation("swing", diff(x[0], 2) + x[0].cos() * rate)).map(Arc::new).unwrap();
        let start = swing.start(0.0).hold("theta", 0, std::f64::consts::FRAC_PI_2).hold("theta", 1, -1.0).solve().unwrap();
        let mut exact = Integrator::new(&swing, &start, Options::new(1e-15)).unwrap();
        exact.run_to(10.0).unwrap();
        let theta = exact.value("theta", 0).unwrap();
        let mut run = Integrator::new(&ladder, &state, Options::new(1e-12)).unwrap();
        run.run_to(10.0).unwrap();
        let error = (run.value("x0", 0).unwrap() - theta.cos()).hypot(run.value("y0", 0).unwrap() - theta.sin());
        println!("{n} cells: {:?}, tip error {error:e}", run.work());
        // Each passage costs digits: a nearly singular matrix, ten times.
        assert!(error < 1e-7, "{n}: {error:e}");
    }
}
