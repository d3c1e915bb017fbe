//! Bodies with very many joints: their factor stays small, and solutions and motions are as accurate as for other mechanisms.
#![allow(non_snake_case)]

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::constraint::ConstraintSet;
use fourbar::random::Random;
use fourbar::schur::{Schur, inverse_masses, unit_weights};
use fourbar::study::Study;
use fourbar_testing::common::{parse, run};
use nalgebra::{DMatrix, DVector};
use std::fmt::Write;

/// A trunk on a ball joint with a number of branches of two links, the outer ones with dampers; some pairs of branches are joined by a
/// third link to a planar loop, with three redundant rows each. One leg supports the trunk on the ground.
fn tree(branches: usize, loops: usize, damping: f64) -> Model {
    let (mut bodies, mut joints, mut forces) = (String::new(), String::new(), String::new());
    let link = |at: [f64; 3]| format!("{{mass: 1, inertia: [0.01, 0.09, 0.08], at: [{}, {}, {}]}}", at[0], at[1], at[2]);
    let hinge = |a: &str, b: &str, at: [f64; 3], axis: [f64; 3]| {
        format!(
            "{{type: revolute, bodies: [{a}, {b}], at: [{}, {}, {}], axis: [{}, {}, {}]}}",
            at[0], at[1], at[2], axis[0], axis[1], axis[2]
        )
    };
    for b in 0..branches {
        let angle = 0.1 + b as f64;
        let (x, y) = (angle.cos(), angle.sin());
        let across = [-y, x, 0.0];
        for k in 0..2 {
            let (near, middle) = (1.0 + k as f64, 1.5 + k as f64);
            let before = if k == 0 { "trunk".to_string() } else { format!("b{b}_0") };
            writeln!(bodies, "  b{b}_{k}: {}", link([middle * x, middle * y, 0.0])).unwrap();
            writeln!(joints, "  J{b}_{k}: {}", hinge(&before, &format!("b{b}_{k}"), [near * x, near * y, 0.0], across)).unwrap();
        }
        if damping > 0.0 {
            writeln!(forces, "  damper{b}: {{type: torsion, joint: J{b}_1, stiffness: 0, angle: 0, damping: {damping}}}").unwrap();
        }
    }
    for k in 0..loops {
        // A four-bar above the trunk: two cranks on it and a coupler.
        let x = 1.0 + 2.0 * k as f64;
        let z = [0.0, 1.0, 0.0];
        for (n, at) in [("c", [x, 0.0, 1.5]), ("d", [x + 1.0, 0.0, 1.5]), ("e", [x + 0.5, 0.0, 2.0])] {
            writeln!(bodies, "  {n}{k}: {}", link(at)).unwrap();
        }
        for (n, a, b, at) in [
            ("P", "trunk".to_string(), format!("c{k}"), [x, 0.0, 1.0]),
            ("Q", "trunk".to_string(), format!("d{k}"), [x + 1.0, 0.0, 1.0]),
            ("R", format!("c{k}"), format!("e{k}"), [x, 0.0, 2.0]),
            ("S", format!("d{k}"), format!("e{k}"), [x + 1.0, 0.0, 2.0]),
        ] {
            writeln!(joints, "  {n}{k}: {}", hinge(&a, &b, at, z)).unwrap();
        }
    }
    let forces = if forces.is_empty() { String::new() } else { format!("forces:\n{forces}") };
    parse(&format!(
        "fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  trunk: {{mass: 10, inertia: [10, 11, 12]}}
  leg: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [1.5, 0.5, -0.5]}}
{bodies}joints:
  root: {{type: spherical, bodies: [ground, trunk], at: [0, 0, 0]}}
  knee: {{type: spherical, bodies: [trunk, leg], at: [1, 0, 0]}}
  foot: {{type: spherical, bodies: [ground, leg], at: [2, 1, -1]}}
{joints}{forces}study: {{analysis: dynamics, t_end: 0.2, output_step: 0.02}}
"
    ))
}

/// `G W^-1 G^T + mu` of a model at the start, and its sparse factor.
fn both(model: &Model, masses: bool, mu: f64) -> (DMatrix<f64>, Schur) {
    let at = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let inverse = if masses { inverse_masses(model, 1e-4) } else { unit_weights(model) };
    let mut schur = Schur::new(&set, model.bodies.len());
    set.jacobian(&at.q, &mut schur.G);
    let (m, n) = (set.rows(), 6 * model.bodies.len());
    let (mut G, mut W) = (DMatrix::zeros(m, n), DMatrix::zeros(n, n));
    for c in 0..set.list.len() {
        for b in set.blocks_of(c) {
            for k in 0..set.row_start[c + 1] - set.row_start[c] {
                (0..6).for_each(|l| G[(set.row_start[c] + k, 6 * b.body + l)] = schur.G[b.start + 6 * k + l]);
            }
        }
    }
    for (b, w) in inverse.iter().enumerate() {
        (0..3).for_each(|i| W[(6 * b + i, 6 * b + i)] = w.m);
        W.view_mut((6 * b + 3, 6 * b + 3), (3, 3)).copy_from(&w.J);
    }
    schur.factor(&inverse, 1.0, mu);
    let S = &G * W * G.transpose();
    let n = S.nrows();
    (S + DMatrix::identity(n, n) * mu, schur)
}

#[test]
fn a_hub_is_solved_like_a_dense_matrix() {
    let mut random = Random(5);
    for (loops, masses, mu) in [(0, true, 1e-9), (0, false, 1e-9), (20, true, 1e-9), (20, false, 1e-9)] {
        let model = tree(100, loops, 0.0);
        let (S, mut schur) = both(&model, masses, mu);
        let b = DVector::from_fn(S.nrows(), |_, _| random.number());
        let mut x = b.as_slice().to_vec();
        schur.solve(&mut x);
        let x = DVector::from_vec(x);
        let left = (&S * &x - &b).amax() / (b.amax() + S.amax() * x.amax());
        assert!(left < 1e-13, "{loops} loops: {left:e}");
        // Pivots are relative to the whole diagonal; those of redundant rows are small, those of others are not.
        let mut diagonal = vec![0.0; S.nrows()];
        schur.form(&if masses { inverse_masses(&model, 1e-4) } else { unit_weights(&model) }, 1.0);
        schur.diagonal(&mut diagonal);
        assert!(diagonal.iter().zip(S.diagonal().iter()).all(|(a, b)| (a + mu - b).abs() <= 1e-12 * b));
        schur.shift_rows(&vec![1.0; S.nrows()], mu);
        schur.factor_formed();
        assert!(schur.pivots().iter().all(|p| *p > 0.0 && *p <= 1.0 + 1e-12));
        assert_eq!(schur.pivots().len(), S.nrows());
        let dependent = schur.pivots().iter().filter(|p| **p < 1e-6).count();
        assert_eq!(dependent, 3 * loops, "{loops} loops");
    }
}

#[test]
fn work_and_memory_grow_with_the_branches_and_no_faster() {
    let flops = |n: usize| {
        let model = tree(n, 0, 0.0);
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        Schur::new(&set, model.bodies.len()).factor_flops() as f64
    };
    assert!(flops(400) < 4.5 * flops(100));
}

#[test]
fn formulations_agree_about_a_hub() {
    // Dampers so strong that the implicit formulation needs its exact matrix.
    for damping in [0.0, 300.0] {
        let model = tree(100, 2, damping);
        let end = |formulation: &str, step: Option<f64>| {
            let study = Study { formulation: Some(formulation.into()), step, tol: step.is_none().then_some(1e-9), ..Study::of(&model) };
            let (trajectory, report) = run(&model, &study);
            let last = |v: &Vec<f64>| v.last().copied().expect("rows");
            (trajectory.columns.iter().map(|c| c.name.clone()).zip(trajectory.values.iter().map(last)).collect::<Vec<_>>(), report)
        };
        let (implicit, report) = end("ra", Some(1e-3));
        let exact = report.work.iter().find(|(name, _)| name == "steps_with_exact_matrix").map_or(0.0, |(_, n)| *n);
        assert_eq!(exact > 0.0, damping > 0.0, "{:?}", report.work);
        let (explicit, _) = end(if damping > 0.0 { "grcr" } else { "lie" }, None);
        for ((name, x), (_, y)) in implicit.iter().zip(&explicit).filter(|(a, _)| a.0.contains(".r.")) {
            assert!((x - y).abs() < 1e-4, "{name}: {x} {y}");
        }
    }
}
