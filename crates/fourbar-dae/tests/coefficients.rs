//! Taylor coefficients: the paper's pendulum term by term, and the tape against plain series arithmetic.

use crate::problems;

use fourbar_dae::{Equations, Integrator, Options, Piecewise, Problem, Scalar, Taylor, diff};
use problems::{pendulum, two_pendula};
use proptest::prelude::*;
use std::sync::Arc;

#[test]
fn pendulum_coefficients_satisfy_equations_20_to_22_of_the_paper() {
    let problem = Arc::new(Problem::record(&["u", "v", "lambda"], pendulum).unwrap());
    let mut state = problem.zero_state(0.0);
    for (j, p, x) in [(0, 0, 6.0), (1, 0, 8.0), (0, 1, 4.0), (1, 1, -3.0)] {
        state.set(j, p, x);
    }
    let mut run = Integrator::new(&problem, &state, Options::new(1e-10)).unwrap();
    run.step(0.1).unwrap();
    let plain = |j: usize| -> Vec<f64> {
        let (a, scale) = run.coefficients(j).unwrap();
        a.iter().enumerate().map(|(m, x)| x / scale.powi(m as i32)).collect()
    };
    let (u, v, l) = (plain(0), plain(1), plain(2));
    let g = 9.81;
    // (22) is printed with 24 in place of 12: the coefficient of t^2 in the second derivative is 4 * 3 u_4.
    let residuals = [
        2.0 * u[2] + l[0] * u[0],
        2.0 * v[2] + l[0] * v[0] - g,
        u[0] * u[0] + v[0] * v[0] - 100.0,
        6.0 * u[3] + l[0] * u[1] + l[1] * u[0],
        6.0 * v[3] + l[0] * v[1] + l[1] * v[0],
        2.0 * (u[0] * u[1] + v[0] * v[1]),
        12.0 * u[4] + l[0] * u[2] + l[1] * u[1] + l[2] * u[0],
        12.0 * v[4] + l[0] * v[2] + l[1] * v[1] + l[2] * v[0],
        2.0 * u[0] * u[2] + u[1] * u[1] + 2.0 * v[0] * v[2] + v[1] * v[1],
    ];
    // Sums of a few terms of size up to 100: a few units in the last place.
    for (n, r) in residuals.iter().enumerate() {
        assert!(r.abs() < 4e-14, "residual {n}: {r:e}");
    }
    // The solution of (26) by hand: the length equation twice differentiated gives lambda.
    let lambda = (g * 8.0 + 25.0) / 100.0;
    assert!((l[0] - lambda).abs() < 1e-15 * 4.0, "{} {lambda}", l[0]);
}

/// x1 satisfies an ordinary equation, x2 is an explicit function of x1, its rate and time: its series must equal the series of the function
/// by plain series arithmetic.
fn check(f: impl Fn(Taylor<12>, Taylor<12>) -> Taylor<12>, tape: &Problem, start: f64, slope: f64) {
    let problem = Arc::new(tape.clone());
    let mut state = problem.zero_state(0.3);
    state.set(0, 0, start);
    state.set(0, 1, slope);
    let mut run = Integrator::new(&problem, &state, Options::new(1e-8).order(14)).unwrap();
    run.step(0.3 + 1e-3).unwrap();
    let (a, scale) = run.coefficients(0).unwrap();
    let x = Taylor::<12> { c: std::array::from_fn(|m| a[m] / scale.powi(m as i32)) };
    let expected = f(Taylor::variable(0.3), x);
    let (b, _) = run.coefficients(1).unwrap();
    // diff(x, 1) loses the last coefficient of the plain series.
    for m in 0..11 {
        let got = b[m] / scale.powi(m as i32);
        let size = expected.c[..=m].iter().fold(1.0f64, |s, x| s.max(x.abs()));
        assert!((got - expected.c[m]).abs() < 1e-11 * size, "coefficient {m}: {got:e} {:e}", expected.c[m]);
    }
}

macro_rules! function {
    ($name:ident, $f:expr) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(12))]
            #[test]
            fn $name(start in 0.2..0.8f64, slope in -1.0..1.0f64) {
                fn function<S: Scalar>(t: S, x: S) -> S {
                    let f: fn(S, S) -> S = $f;
                    f(t, x)
                }
                fn equations<S: Scalar>(t: S, x: &[S], e: &mut Equations<S>) {
                    e.equation("oscillator", diff(x[0], 2) + x[0] * 2.0 - t.sin());
                    e.equation("function", x[1] - function(t, x[0]));
                }
                let problem = Problem::record(&["x", "y"], |t, x, e| equations(t, x, e)).unwrap();
                check(function, &problem, start, slope);
            }
        }
    };
}

function!(rational_functions_agree, |t, x| (x * t + 1.0) / (x.sqr() + 2.0) - x.powi(-3));
function!(roots_and_powers_agree, |t, x| (x + 1.0).sqrt() * x.powf(1.7) + (x.sqr() + t).powf(-0.3));
function!(exponentials_agree, |t, x| (x * t).exp() + (x + 2.0).ln() + x.pow(t));
function!(trigonometric_functions_agree, |t, x| x.sin() * (x * 3.0).cos() + (t + x).tan());
function!(hyperbolic_functions_agree, |t, x| x.sinh() - (x * t).cosh() + (x * 2.0).tanh());
function!(inverse_functions_agree, |t, x| x.atan() + (x + t).atan2(x.sqr() - 2.0) + (x * 0.5).asin() + (x * 0.3).acos());
function!(inverse_hyperbolic_functions_agree, |_, x| x.asinh() + (x + 1.5).acosh() + (x * 0.6).atanh());
function!(derivatives_inside_functions_agree, |t, x| (diff(x, 1) * t).sin() * diff(x, 1).sqr());
function!(switches_take_the_right_branch, |t, x| (x - 5.0).abs() + x.max(t - 9.0) + (x + t).min(x * 7.0 + 1.0));

#[test]
fn tables_take_the_right_piece() {
    let table = Piecewise::cubic(&[0.0, 0.25, 0.6, 1.0, 2.0], &[1.0, 0.0, 2.0, 1.5, 1.0]).unwrap();
    let problem = Problem::record(&["x", "y"], |t, x, e| {
        e.equation("oscillator", diff(x[0], 2) + x[0] * 2.0 - t.sin());
        e.equation("table", x[1] - x[0].piecewise(&table) * t);
    })
    .unwrap();
    check(|t, x| x.piecewise(&table) * t, &problem, 0.7, 0.3);
}

#[test]
fn common_parts_are_recorded_once_and_dead_ones_not_at_all() {
    let problem = Problem::record(&["x"], |t, x, e| {
        let _unused = (x[0] * 3.0).exp().sin();
        let twice = (x[0] * t).sin() + (t * x[0]).sin();
        e.equation("x", diff(x[0], 1) - twice);
    })
    .unwrap();
    // Rows: t, x, product, sine with its cosine, derivative, sum.
    assert_eq!(problem.size().0, 7);
}

#[test]
fn the_series_of_an_index_five_problem_satisfy_its_equations_to_high_order() {
    let names = ["x", "y", "lambda", "u", "v", "mu"];
    let problem = Arc::new(Problem::record(&names, two_pendula).unwrap());
    let start = problem.start(0.0).hold("x", 0, 0.6).hold("u", 0, 0.7).guess("v", 0, 0.5).guess("y", 0, 1.0).hold("u", 1, 0.2);
    let mut run = Integrator::new(&problem, &start.solve().unwrap(), Options::new(1e-10).order(14)).unwrap();
    run.step(1.0).unwrap();
    // The same generic function, evaluated with plain series in scaled time: derivatives must be rescaled.
    let scale = run.coefficients(0).unwrap().1;
    let x: Vec<Taylor<15>> = (0..6)
        .map(|j| Taylor { c: std::array::from_fn(|m| run.coefficients(j).unwrap().0.get(m).map_or(0.0, |a| a / scale.powi(m as i32))) })
        .collect();
    let mut equations = Equations::new();
    two_pendula(Taylor::variable(0.0), &x, &mut equations);
    for (name, residual) in equations.residuals() {
        for m in 0..12 {
            let terms = x.iter().map(|x| (0..=m + 2).map(|l| x.c[l].abs() * (l * l) as f64).fold(1.0, f64::max)).fold(1.0, f64::max);
            assert!(residual.c[m].abs() < 1e-12 * terms * 10.0, "{name}, coefficient {m}: {:e}", residual.c[m]);
        }
    }
}

#[test]
fn numbers_out_of_range_are_errors_not_panics() {
    let problem = Arc::new(Problem::record(&["u", "v", "lambda"], pendulum).unwrap());
    let start = problem.start(0.0).hold("u", 0, 6.0).guess("v", 0, 8.0).solve().unwrap();
    let mut run = Integrator::new(&problem, &start, Options::default()).unwrap();
    assert!(run.value("u", 0).is_err(), "before the first step");
    run.step(1.0).unwrap();
    assert!(run.at(run.t(), 9, 0).is_err() && run.output_at(run.t(), 0, 0).is_err() && run.coefficients(3).is_err());
    assert!(run.value("w", 0).is_err());
    assert_eq!((start.get(7, 0), start.get(0, 9), start.stored(7)), (None, None, 0));
    assert_eq!(problem.structure().sigma(5, 5), None);
}
