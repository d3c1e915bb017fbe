//! The lowest modes of large mechanisms compared with dense ones and with a closed form.

use crate::common;

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar_design::linear::{Request, linearize};
use fourbar_design::modes::{lowest, modes};
use fourbar_testing::common::parse;

const LINK: f64 = 0.3;

/// A hanging chain with the inertia of its links as file text.
fn chain(n: usize, inertia: &str) -> Model {
    let mut text = String::from("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
    for k in 1..=n {
        text += &format!("  r{k}: {{mass: 0.7, inertia: {inertia}, at: [0, 0, {}]}}\n", -LINK * k as f64);
    }
    text += "joints:\n";
    for k in 1..=n {
        let base = if k == 1 { "ground".to_string() } else { format!("r{}", k - 1) };
        text += &format!("  h{k}: {{type: revolute, bodies: [{base}, r{k}], at: [0, 0, {}], axis: [0, 1, 0]}}\n", -LINK * (k - 1) as f64);
    }
    parse(&text)
}

/// Zeros of Laguerre's polynomial, smallest first, by Newton's method with deflation of those found.
fn laguerre(n: usize, count: usize) -> Vec<f64> {
    let value = |x: f64| {
        let (mut a, mut b) = (1.0, 1.0 - x);
        for k in 1..n {
            let k = k as f64;
            (a, b) = (b, ((2.0 * k + 1.0 - x) * b - k * a) / (k + 1.0));
        }
        (b, n as f64 * (b - a) / x)
    };
    let mut zeros: Vec<f64> = Vec::new();
    for k in 0..count {
        // Near zero the polynomial is a Bessel function of 2 sqrt(n x).
        let j = (k as f64 + 0.75) * std::f64::consts::PI;
        let mut x = j * j / (4.0 * (n as f64 + 0.5));
        for _ in 0..200 {
            let (f, d) = value(x);
            let pull: f64 = zeros.iter().map(|z| 1.0 / (x - z)).sum();
            let step = 1.0 / (d / f - pull);
            x -= step;
            if step.abs() < 1e-15 * x {
                break;
            }
        }
        zeros.push(x);
    }
    zeros.sort_by(f64::total_cmp);
    zeros
}

#[test]
fn the_lowest_modes_are_those_of_dense_matrices() {
    for (name, model, tolerance) in [
        ("rods", chain(12, "[0.006, 0.006, 0.0001]"), 1e-9),
        ("points", chain(12, "0"), 1e-9),
        ("chain10", common::model("chain10"), 1e-8),
        ("hung plate", common::model("hung_plate"), 1e-9),
        ("door", common::model("two_hinge_door"), 1e-8),
        ("bricard", fourbar_testing::common::model("a04_bricard"), 1e-7),
    ] {
        let rest = fourbar_design::equilibrium::settle(&model, &Default::default()).unwrap_or_else(|d| panic!("{name}: {d}"));
        let mut state = rest.state;
        state.v.iter_mut().for_each(|v| *v = Default::default());
        let dense = modes(&model, linearize(&model, &state, &Request::default()).unwrap_or_else(|e| panic!("{name}: {e}")))
            .unwrap_or_else(|d| panic!("{name}: {d}"));
        let count = dense.list.len().min(6);
        let few = lowest(&model, &state, count).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(few.list.len(), count, "{name}");
        for (a, b) in few.list.iter().zip(&dense.list) {
            assert!((a.omega / b.omega - 1.0).abs() < tolerance, "{name}: {} {}", a.omega, b.omega);
        }
    }
}

#[test]
fn the_lowest_twenty_modes_of_a_thousand_links() {
    let model = chain(1000, "0");
    let state = assemble(&model).expect("it closes").configuration;
    let start = std::time::Instant::now();
    let found = lowest(&model, &state, 20).unwrap_or_else(|e| panic!("{e}"));
    println!("{:.2} s", start.elapsed().as_secs_f64());
    let known = laguerre(1000, 20);
    assert_eq!(found.list.len(), 20);
    for (m, x) in found.list.iter().zip(known) {
        let omega = (9.81 / LINK * x).sqrt();
        assert!((m.omega / omega - 1.0).abs() < 1e-7, "{} {omega}", m.omega);
    }
}

#[test]
fn large_mechanisms_that_are_damped_or_move_are_refused() {
    let damped = common::model("damped_rods4");
    let state = assemble(&damped).expect("it closes").configuration;
    let e = lowest(&damped, &state, 3).expect_err("damped");
    assert_eq!(e.code().0, "U400");
    let bicycle = common::model("bicycle");
    let state = assemble(&bicycle).expect("it closes").configuration;
    assert_eq!(lowest(&bicycle, &state, 3).expect_err("it moves").code().0, "U400");
}
