//! Divide and conquer against the dense solution of the same equations, on every shipped model and on large mechanisms.
#![allow(non_snake_case)]

use fourbar::analysis::assembly::assemble;
use fourbar::constraint::ConstraintSet;
use fourbar::force::eval;
use fourbar::formulation::dca::{Settings, Solver, State};
use fourbar::random::Random;
use fourbar::{Configuration, Model, Twist, Wrench};
use fourbar_testing::common::*;
use nalgebra::{DMatrix, DVector};

/// A consistent state near the assembled one: poses disturbed and projected, random velocities projected. If nothing can move, the start is
/// the only choice.
fn random_state(model: &Model, seed: u64) -> Configuration {
    let mut c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut random = Random(seed);
    let mut solver = Solver::<6>::new(model, &c.q, Settings::default());
    random.disturb(&mut c.q, &vec![false; model.bodies.len()], 1e-4 * model.length, 1e-4);
    assert!(solver.project_position(0.0, &c.turns, &mut c.q).is_some(), "positions project");
    for v in &mut c.v[1..] {
        *v = v.plus(&Twist { v: random.vector() * model.length, w: random.vector() });
    }
    solver.project_velocity(0.0, &c.q, &c.turns, false, &mut c.v);
    c
}

struct Dense {
    a: Vec<Twist>,
    /// Multipliers that minimise the sum of lambda^2 / alpha.
    lambda: DVector<f64>,
    /// Largest residuals of position and velocity.
    errors: [f64; 2],
}

/// Accelerations from the null space of the Jacobian, multipliers by a pseudo-inverse: independent of the tree.
fn dense(model: &Model, set: &ConstraintSet, alpha: &[f64], loads: &[f64], c: &Configuration) -> Dense {
    let (m, n) = (set.rows(), 6 * model.moving());
    let mut G = vec![0.0; set.values];
    set.jacobian(&c.q, &mut G);
    let mut J = DMatrix::zeros(m, n);
    for k in 0..set.list.len() {
        let first = set.row_start[k];
        for b in set.blocks_of(k) {
            for i in 0..set.row_start[k + 1] - first {
                for l in 0..6 {
                    J[(first + i, 6 * (b.body - 1) + l)] = G[b.start + 6 * i + l];
                }
            }
        }
    }
    let mut f = vec![Wrench::zero(); model.bodies.len()];
    eval::applied(model, &eval::Plain { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, loads, z: &c.z }, &mut f);
    let mut M = DMatrix::zeros(n, n);
    let mut Q = DVector::zeros(n);
    for b in 1..model.bodies.len() {
        let body = &model.bodies[b];
        let torque = f[b].T - c.v[b].w.cross(&(body.J_bar * c.v[b].w));
        for k in 0..3 {
            M[(6 * (b - 1) + k, 6 * (b - 1) + k)] = body.mass;
            Q[6 * (b - 1) + k] = f[b].F[k];
            Q[6 * (b - 1) + 3 + k] = torque[k];
            for l in 0..3 {
                M[(6 * (b - 1) + 3 + k, 6 * (b - 1) + 3 + l)] = body.J_bar[(k, l)];
            }
        }
    }
    let mut gamma = vec![0.0; m];
    set.gamma(&c.q, &c.v, 0.0, &mut gamma);
    // Rows scaled by the root of their penalty: the same scale for the rank decision and the metric.
    let root = DVector::from_iterator(m, alpha.iter().map(|a| a.sqrt()));
    let largest = root.iter().copied().fold(0.0, f64::max);
    let scaled = DMatrix::from_fn(m, n, |i, j| J[(i, j)] * root[i] / largest);
    // Bodies without joints have no rows, and an empty matrix has no decomposition.
    let (U, Vt, s) = if m == 0 {
        (DMatrix::zeros(n, 0), DMatrix::zeros(0, 0), DVector::zeros(0))
    } else {
        let svd = scaled.clone().transpose().svd(true, true);
        (svd.u.expect("asked for"), svd.v_t.expect("asked for"), svd.singular_values)
    };
    let rank = s.iter().filter(|x| **x > 1e-9 * s.amax()).count();
    let range = U.columns(0, rank).into_owned();
    // The null space as the complement of the range.
    let full = DMatrix::identity(n, n) - &range * range.transpose();
    let e = full.symmetric_eigen();
    let columns: Vec<_> = (0..n).filter(|&k| e.eigenvalues[k] > 0.5).map(|k| e.eigenvectors.column(k).into_owned()).collect();
    let N = if columns.is_empty() { DMatrix::zeros(n, 0) } else { DMatrix::from_columns(&columns) };
    let reduced = (!columns.is_empty()).then(|| (N.transpose() * &M * &N).svd(true, true));
    let heaviest = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    let divided = |mut y: DVector<f64>| {
        y.iter_mut().zip(s.iter()).for_each(|(y, s)| *y /= s);
        y
    };
    let solve = |Q: &DVector<f64>, gamma: &DVector<f64>| {
        let scaled = DVector::from_fn(m, |i, _| gamma[i] * root[i] / largest);
        let mut a = &range * divided(Vt.rows(0, rank) * scaled);
        if let Some(reduced) = &reduced {
            // Directions without inertia stay at rest.
            let z = reduced.solve(&(N.transpose() * (Q - &M * &a)), 1e-12 * heaviest).expect("solves");
            a += &N * z;
        }
        let mu = Vt.rows(0, rank).transpose() * divided(range.transpose() * (Q - &M * &a));
        (a, DVector::from_fn(m, |i, _| mu[i] * root[i] / largest))
    };
    // On some models the singular value decomposition is accurate only to 1e-6: its solution is refined.
    let gamma = DVector::from_vec(gamma);
    let (mut a, mut lambda) = (DVector::zeros(n), DVector::zeros(m));
    for _ in 0..4 {
        let (da, dl) = solve(&(&Q - &M * &a - J.transpose() * &lambda), &(&gamma - &J * &a));
        a += da;
        lambda += dl;
    }
    let mut Phi = vec![0.0; m];
    set.residual(&c.q, &c.turns, 0.0, &mut Phi);
    let mut nu = vec![0.0; m];
    set.nu(0.0, &mut nu);
    let mut rate = vec![0.0; m];
    set.multiply(&G, &c.v, &mut rate);
    let position = Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let velocity = rate.iter().zip(&nu).fold(0.0_f64, |s, (x, y)| s.max((x - y).abs()));
    let mut out = vec![Twist::zero(); model.bodies.len()];
    for b in 1..out.len() {
        for k in 0..3 {
            out[b].v[k] = a[6 * (b - 1) + k];
            out[b].w[k] = a[6 * (b - 1) + 3 + k];
        }
    }
    Dense { a: out, lambda, errors: [position, velocity] }
}

fn difference(model: &Model, a: &[Twist], b: &[Twist]) -> f64 {
    let L = model.length;
    let size = |a: &Twist| a.v.amax().max(L * a.w.amax());
    // Some mechanisms are at rest at the start: then their weight is the reference.
    let largest = b.iter().map(size).fold(1e-3 * model.gravity.norm(), f64::max).max(1e-300);
    a.iter().zip(b).map(|(a, b)| size(&a.plus(&b.scaled(-1.0)))).fold(0.0, f64::max) / largest
}

#[test]
fn accelerations_and_multipliers_equal_the_dense_solve_on_every_model() {
    for name in shipped() {
        let mut model = model(&name);
        // Load-dependent friction needs a separate iteration and is omitted here.
        model
            .forces
            .retain(|(_, f)| !matches!(f, fourbar::force::Force::Friction(fourbar::force::Friction { coulomb, .. }) if *coulomb > 0.0));
        let c = random_state(&model, 11);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Twist::zero(); model.bodies.len()];
        let state = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z };
        let ended = s.accelerate(&state, false, &mut a);
        s.refine(&state, &mut a);
        let d = dense(&model, &s.set, &s.alpha, &vec![0.0; model.joints.len()], &c);
        let e_a = difference(&model, &a, &d.a);
        let metric = |x: &DVector<f64>| x.iter().zip(&s.alpha).map(|(x, a)| x * x / a).sum::<f64>().sqrt();
        let ours = DVector::from_column_slice(&s.lambda);
        let e_l = metric(&(&ours - &d.lambda)) / metric(&d.lambda).max(1e-300);
        println!(
            "{name:<34} {:>2} iterations  Phi {:.0e} {:.0e}  a {e_a:.1e}  lambda {e_l:.1e}",
            ended.iterations, d.errors[0], d.errors[1]
        );
        assert!(e_a < 1e-8 && e_l < 1e-8, "{name}: accelerations {e_a:.1e}, multipliers {e_l:.1e}");
        // Rounding of coordinates of a few metres, and of speeds of a few metres per second.
        assert!(d.errors[0] < 1e-13 && d.errors[1] < 1e-11, "{name}: {:?} after projection", d.errors);
        assert!(ended.iterations <= 6, "{name}: {} iterations", ended.iterations);
    }
}

/// Friction that depends on the load of its joint: loads from the dense solution, iterated to convergence.
#[test]
fn friction_by_load_equals_the_dense_solve() {
    // Two links that swing on rough hinges, the upper one in a loop of four-bar kind with redundant rows.
    let model = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  crank: {mass: 1, inertia: [0.01, 0.02, 0.02], at: [0, 0.25, 0], orientation: {axis: [0, 0, 1], angle: 1.5707963267948966}, omega: [0, 0, -2], velocity: [0.5, 0, 0]}
  coupler: {mass: 2, inertia: [0.02, 0.1, 0.1], at: [0.5, 0.5, 0], velocity: [1, 0, 0]}
  rocker: {mass: 1, inertia: [0.01, 0.02, 0.02], at: [1, 0.25, 0], orientation: {axis: [0, 0, 1], angle: 1.5707963267948966}, omega: [0, 0, -2], velocity: [0.5, 0, 0]}
  tail: {mass: 0.5, inertia: [0.01, 0.02, 0.02], at: [1.2, 0.5, 0], velocity: [1, 0, 0]}
joints:
  A: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  B: {type: revolute, bodies: [crank, coupler], at: [0, 0.5, 0], axis: [0, 0, 1]}
  C: {type: revolute, bodies: [rocker, coupler], at: [1, 0.5, 0], axis: [0, 0, 1]}
  D: {type: revolute, bodies: [ground, rocker], at: [1, 0, 0], axis: [0, 0, 1]}
  E: {type: revolute, bodies: [coupler, tail], at: [1, 0.5, 0], axis: [0, 0, 1]}
forces:
  fB: {type: friction, joint: B, coulomb: 0.2, radius: 0.05}
  fE: {type: friction, joint: E, coulomb: 0.3, radius: 0.05}
",
    );
    let c = random_state(&model, 3);
    let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
    let mut a = vec![Twist::zero(); model.bodies.len()];
    s.accelerate(&State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
    let mut loads = vec![0.0; model.joints.len()];
    let without = dense(&model, &s.set, &s.alpha, &loads, &c);
    let mut d = dense(&model, &s.set, &s.alpha, &loads, &c);
    for _ in 0..30 {
        for (joint, name) in [(1, "B"), (4, "E")] {
            let k = s.set.list.iter().position(|c| c.name == name).expect("joint");
            let rows = s.set.row_start[k]..s.set.row_start[k + 1];
            let force = s.set.generalized(k, 1, &c.q, d.lambda.rows(rows.start, rows.len()).as_slice()).F;
            // Hinges along z: the load is perpendicular to z.
            loads[joint] = force.xy().norm();
        }
        d = dense(&model, &s.set, &s.alpha, &loads, &c);
    }
    let (with, effect) = (difference(&model, &a, &d.a), difference(&model, &without.a, &d.a));
    assert!(with < 1e-8 && effect > 1e-3, "differs by {with:.1e}; friction does {effect:.1e}");
    for joint in [1, 4] {
        assert!((s.loads()[joint] - loads[joint]).abs() < 1e-8 * loads[joint], "{:?} against {loads:?}", s.loads());
    }
}

/// Bodies whose rotational inertia is almost zero beside their mass.
#[test]
fn next_to_no_rotational_inertia_equals_the_dense_solve() {
    for name in ["dca_five_bar", "dca_double_loop", "a02_n_fourbar_N2", "a04_bricard", "ra_slider_crank"] {
        let mut model = model(name);
        for b in &mut model.bodies {
            b.J_bar *= 1e-9;
        }
        let c = random_state(&model, 7);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Twist::zero(); model.bodies.len()];
        let state = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z };
        s.accelerate(&state, false, &mut a);
        let d = dense(&model, &s.set, &s.alpha, &vec![0.0; model.joints.len()], &c);
        let e = difference(&model, &a, &d.a);
        assert!(e < 1e-8, "{name}: {e:.1e}");
    }
}

/// A row that changes with time at an unchanged pose: factors with the other row must not be reused.
#[test]
fn factors_of_another_row_are_not_used() {
    let mut changed = 0;
    for name in ["ra_single_pendulum_primitives", "ra_four_link_primitives", "ra_slider_crank_primitives"] {
        let model = model(name);
        let c = random_state(&model, 5);
        let at = |t: f64, s: &mut Solver<'_, 6>| {
            let mut a = vec![Twist::zero(); model.bodies.len()];
            s.choose(t);
            s.accelerate(&State { t, q: &c.q, v: &c.v, turns: &c.turns, z: &c.z }, false, &mut a);
            a
        };
        let mut used = Solver::<6>::new(&model, &c.q, Settings::default());
        let first = used.set.clone();
        at(0.0, &mut used);
        for t in (1..30).map(|k| 0.1 * k as f64) {
            let a = at(t, &mut used);
            let fresh = at(t, &mut Solver::<6>::new(&model, &c.q, Settings::default()));
            assert!(a == fresh, "{name} at t = {t}");
            changed += usize::from(format!("{:?}", used.set.list) != format!("{:?}", first.list));
        }
    }
    assert!(changed > 0, "no row changed");
}
