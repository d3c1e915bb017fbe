//! Divide and conquer against the dense solution of the same equations, on every shipped model and on large mechanisms.
#![allow(non_snake_case)]

mod common;

use common::*;
use fourbar::analysis::assembly::assemble;
use fourbar::constraint::ConstraintSet;
use fourbar::force::eval;
use fourbar::formulation::dca::{Settings, Solver, State};
use fourbar::random::Random;
use fourbar::{Configuration, Model, Velocity};
use nalgebra::{DMatrix, DVector};

/// A consistent state beside the assembled one: poses disturbed and projected, random velocities projected. The start
/// itself is the right choice only where nothing moves.
fn random_state(model: &Model, seed: u64) -> Configuration {
    let mut c = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let mut random = Random(seed);
    let mut solver = Solver::<6>::new(model, &c.q, Settings::default());
    random.disturb(&mut c.q, &vec![false; model.bodies.len()], 1e-4 * model.length, 1e-4);
    assert!(solver.project_position(0.0, &c.turns, &mut c.q).is_some(), "positions project");
    for v in &mut c.v[1..] {
        *v = v.plus(&Velocity { v: random.vector() * model.length, w: random.vector() });
    }
    solver.project_velocity(0.0, &c.q, &c.turns, false, &mut c.v);
    c
}

struct Dense {
    a: Vec<Velocity>,
    /// Multipliers that minimise the sum of lambda^2 / alpha.
    lambda: DVector<f64>,
    /// Largest residuals of position and velocity.
    errors: [f64; 2],
}

/// Accelerations from the null space of the Jacobian, multipliers by a pseudo-inverse: nothing in common with the tree.
fn dense(model: &Model, set: &ConstraintSet, alpha: &[f64], c: &Configuration) -> Dense {
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
    let mut f = vec![Velocity::zero(); model.bodies.len()];
    let loads = vec![0.0; model.joints.len()];
    eval::applied(model, &eval::Plain { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns, loads: &loads }, &mut f);
    let mut M = DMatrix::zeros(n, n);
    let mut Q = DVector::zeros(n);
    for b in 1..model.bodies.len() {
        let body = &model.bodies[b];
        let torque = f[b].w - c.v[b].w.cross(&(body.J_bar * c.v[b].w));
        for k in 0..3 {
            M[(6 * (b - 1) + k, 6 * (b - 1) + k)] = body.mass;
            Q[6 * (b - 1) + k] = f[b].v[k];
            Q[6 * (b - 1) + 3 + k] = torque[k];
            for l in 0..3 {
                M[(6 * (b - 1) + 3 + k, 6 * (b - 1) + 3 + l)] = body.J_bar[(k, l)];
            }
        }
    }
    let mut gamma = vec![0.0; m];
    set.gamma(&c.q, &c.v, 0.0, &mut gamma);
    // Rows by the root of their penalty: one scale for the rank decision and the metric.
    let root = DVector::from_iterator(m, alpha.iter().map(|a| a.sqrt()));
    let largest = root.max();
    let scaled = DMatrix::from_fn(m, n, |i, j| J[(i, j)] * root[i] / largest);
    let svd = scaled.clone().transpose().svd(true, true);
    let (U, Vt) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let s = &svd.singular_values;
    let rank = s.iter().filter(|x| **x > 1e-9 * s.max()).count();
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
    // The singular value decomposition is good to 1e-6 only on some models: its solution is refined.
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
    let mut out = vec![Velocity::zero(); model.bodies.len()];
    for b in 1..out.len() {
        for k in 0..3 {
            out[b].v[k] = a[6 * (b - 1) + k];
            out[b].w[k] = a[6 * (b - 1) + 3 + k];
        }
    }
    Dense { a: out, lambda, errors: [position, velocity] }
}

fn difference(model: &Model, a: &[Velocity], b: &[Velocity]) -> f64 {
    let L = model.length;
    let size = |a: &Velocity| a.v.amax().max(L * a.w.amax());
    // Some mechanisms stand still at the start: their weight is the measure then.
    let largest = b.iter().map(size).fold(1e-3 * model.gravity.norm(), f64::max).max(1e-300);
    a.iter().zip(b).map(|(a, b)| size(&a.plus(&b.scaled(-1.0)))).fold(0.0, f64::max) / largest
}

#[test]
fn accelerations_and_multipliers_equal_the_dense_solve_on_every_model() {
    for name in shipped() {
        let mut model = model(&name);
        // Load-dependent friction is an iteration of its own and left out here.
        model.forces.retain(|(_, f)| !matches!(f, fourbar::force::Force::Friction { coulomb, .. } if *coulomb > 0.0));
        let c = random_state(&model, 11);
        let mut s = Solver::<6>::new(&model, &c.q, Settings::default());
        let mut a = vec![Velocity::zero(); model.bodies.len()];
        let state = State { t: 0.0, q: &c.q, v: &c.v, turns: &c.turns };
        let ended = s.accelerate(&state, false, &mut a);
        s.clean(&state);
        let d = dense(&model, &s.set, &s.alpha, &c);
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
