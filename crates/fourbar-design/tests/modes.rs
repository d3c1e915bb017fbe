//! Modes with known values: closed forms, and the tables of the benchmark bicycle [Meijaard07].
#![allow(non_snake_case)]

mod common;

use common::{model, model_with, near};
use fourbar::analysis::assembly::assemble;
use fourbar::{Diagnostic, Model};
use fourbar_design::linear::{Linearized, Request, linearize};
use fourbar_design::modes::{Modes, modes};
use nalgebra::{Complex, DMatrix};

type C = Complex<f64>;

fn linear(model: &Model) -> Linearized {
    let state = assemble(model).expect("it closes").configuration;
    linearize(model, &state, &Request::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn found(model: &Model) -> Modes {
    modes(model, linear(model)).unwrap_or_else(|e| panic!("{e}"))
}

/// Distance to the nearest eigenvalue, of either sign of the imaginary part.
fn missed(m: &Modes, s: C) -> f64 {
    m.list.iter().fold(f64::INFINITY, |d, x| d.min((x.s - s).norm()).min((x.s.conj() - s).norm()))
}

#[test]
fn the_bicycle_has_its_published_eigenvalues() {
    let table = include_str!("data/bicycle.csv");
    let mut worst: f64 = 0.0;
    for line in table.lines().skip(1) {
        let x: Vec<f64> = line.split(',').map(|x| x.parse().expect("a number")).collect();
        let m = found(&model_with("bicycle", &[("v", &format!("{}", x[0]))]));
        assert_eq!(m.rigid + 4, m.states, "v = {}", x[0]);
        // Rear and front contact in the plane, the heading, the roll of the wheels; the speed itself.
        assert_eq!(m.states, 10);
        for k in 0..4 {
            let s = C::new(x[1 + 2 * k], x[2 + 2 * k]);
            let error = missed(&m, s) / s.norm().max(1.0);
            // Beside the capsize speed the eigenvalue is a small difference.
            let allowed = if x[0] == 6.0 { 1e-9 } else { 1e-11 };
            assert!(error < allowed, "v = {}: {s} is off by {error:.1e}", x[0]);
            if x[0] != 6.0 {
                worst = worst.max(error);
            }
        }
    }
    println!("worst {worst:.1e}");
}

#[test]
fn the_bicycle_says_what_moves() {
    let m = found(&model("bicycle"));
    let weave = m.list.iter().find(|x| x.s.im > 1.0).expect("the weave");
    near(weave.s.re, -0.77534188219585, 1e-11);
    near(weave.s.im, 4.46486771378823, 1e-11);
    assert!(weave.words.contains("steer.angle"), "{}", weave.words);
    assert!(m.rigid_motions.iter().any(|w| w.contains("hub_r")), "{:?}", m.rigid_motions);
}

#[test]
fn masses_on_a_hanging_chain_swing_as_laguerres_polynomials_say() {
    let m = found(&model("laguerre5"));
    let omega = [2.9357149818712323, 6.798402755999611, 10.844497347181733, 15.221891708706378, 20.331113781783284];
    assert_eq!(m.list.len(), 5);
    for (x, y) in m.list.iter().zip(omega) {
        near(x.omega, y, 1e-11);
    }
}

#[test]
fn damped_rods() {
    let m = found(&model("damped_rods4"));
    let known = [
        [-0.00293747365577509, 2.6678357843642746],
        [-0.15865839401482096, 6.439884189048745],
        [-1.0997638544757542, 11.275643244017674],
        [-2.460289762389732, 18.34905116679807],
    ];
    assert_eq!(m.list.len(), 4);
    for [re, im] in known {
        assert!(missed(&m, C::new(re, im)) < 1e-11);
    }
    near(m.list[0].damping, 0.00293747365577509 / m.list[0].omega, 1e-10);
}

#[test]
fn a_top_nutates_in_its_carrier() {
    let slow = found(&model("top"));
    assert!(missed(&slow, C::new(0.0, 10.91291665781007)) < 1e-9, "{:?}", slow.list.iter().map(|m| m.s).collect::<Vec<_>>());
    let plus = "(C*n + sqrt((C*n)^2 - 4*A*cos(tilt)*m*g*l))/(2*A*cos(tilt))";
    let fast = found(&model_with("top", &[("W", plus)]));
    assert!(missed(&fast, C::new(0.0, 13.96590936617081)) < 1e-9);
    // Sleeping: upright, with a spin above and below the border of stability.
    for (n, known) in [
        ("80", [C::new(0.0, 10.093683509993301), C::new(0.0, 3.2396498233400326)]),
        ("60", [C::new(-2.7748873851023226, 5.0), C::new(2.7748873851023226, 5.0)]),
    ] {
        let m = found(&model_with("top", &[("tilt", "0"), ("n", n), ("W", "0")]));
        for s in known {
            assert!(missed(&m, s) < 1e-8, "n = {n}: {s} in {:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
        }
        assert_eq!(m.growing().is_some(), n == "60");
    }
}

#[test]
fn a_disk_rolls_upright_above_its_critical_speed() {
    let m = found(&model("rolling_disk"));
    assert!(missed(&m, C::new(0.0, 6.354525946126902)) < 1e-10);
    let m = found(&model_with("rolling_disk", &[("v", "0.5")]));
    assert!(missed(&m, C::new(3.983716857408418, 0.0)) < 1e-10);
}

#[test]
fn a_rotor_whirls_forwards_and_backwards() {
    for (W, known) in [
        ("0", [288.6751345948129, 200.0, 200.0]),
        ("300", [631.8813079129867, 131.88130791298667, 200.0]),
        ("600", [1077.3502691896258, 77.35026918962575, 200.0]),
    ] {
        let m = found(&model_with("rotor", &[("W", W)]));
        for w in known {
            assert!(missed(&m, C::new(0.0, w)) < 1e-9 * w, "W = {W}: {w} in {:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_pendulum_on_a_driven_shaft() {
    let m = found(&model("governor"));
    assert_eq!(m.states, 2);
    assert!(missed(&m, C::new(0.0, 5.030616264435204)) < 1e-9, "{:?}", m.list.iter().map(|m| m.s).collect::<Vec<_>>());
}

#[test]
fn a_hung_plate_swings_by_tension_alone() {
    let m = found(&model("hung_plate"));
    let omega = [3.3015148038438356, 3.3015148038438356, 4.6690470119715, 20.0, 28.284271247461902, 28.284271247461902];
    assert_eq!(m.list.len(), 6);
    for (x, y) in m.list.iter().zip(omega) {
        near(x.omega, y, 1e-11);
    }
}

#[test]
fn the_transfer_function_of_a_cart_with_a_pole() {
    let model = model("cart_pole");
    let l = linear(&model);
    assert_eq!(
        (l.inputs.as_slice(), l.outputs.as_slice()),
        (&["u".to_string()][..], &["rail.distance".to_string(), "pin.angle".to_string()][..])
    );
    let n = l.A.nrows();
    let s = C::new(0.0, 1.0);
    let to = |M: &DMatrix<f64>| M.map(|x| C::new(x, 0.0));
    let X = (DMatrix::identity(n, n) * s - to(&l.A)).lu().solve(&to(&l.B)).expect("regular");
    let G = to(&l.C) * X + to(&l.D);
    assert!((G[(0, 0)] - C::new(-0.8374343832020997, 0.0)).norm() < 1e-11, "{}", G[(0, 0)]);
    assert!((G[(1, 0)] - C::new(0.08202099737532809, 0.0)).norm() < 1e-11, "{}", G[(1, 0)]);
    let m = modes(&model, l).expect("modes");
    assert!(missed(&m, C::new(5.2942016800053455, 0.0)) < 1e-10);
    assert_eq!(m.rigid, 2);
}

#[test]
fn what_is_neither_at_rest_nor_steady_is_refused() {
    let model = fourbar_testing::common::model("fourbar_3d");
    let state = assemble(&model).expect("it closes").configuration;
    let refused = |e: fourbar::Error| -> Diagnostic { e.cause().clone() };
    let d = refused(linearize(&model, &state, &Request::default()).expect_err("not steady"));
    assert_eq!(d.code.0, "S410");
    linearize(&model, &state, &Request { frozen: true, ..Request::default() }).expect("frozen");
}
