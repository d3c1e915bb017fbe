//! Exact derivatives compared with central differences, at random states of shipped models and of random mechanisms of every family.
#![allow(non_snake_case)]

use fourbar::evaluate::{Evaluation, by_body, stacked};
use fourbar::random::Random;
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::{Model, analysis::assembly};
use fourbar_design::manifold::stepped;
use fourbar_design::operator::{Operator, Space, lengths, plain, without_dry_friction};
use fourbar_testing::common::{model, shipped};
use fourbar_testing::families;
use nalgebra::{DMatrix, DVector};

const STEP: f64 = 1e-5;

/// Central differences of a function along every component of poses or velocities.
fn differences(c: &Configuration, velocities: bool, f: &dyn Fn(&Configuration) -> DVector<f64>) -> DMatrix<f64> {
    let n = 6 * (c.q.len() - 1);
    let columns: Vec<DVector<f64>> = (0..n)
        .map(|k| {
            let mut d = DVector::zeros(n);
            d[k] = STEP;
            let at = |d: DVector<f64>| {
                if velocities {
                    let v = by_body(&(stacked(&c.v) + d));
                    f(&Configuration { v, ..c.clone() })
                } else {
                    f(&stepped(c, &d))
                }
            };
            (at(d.clone()) - at(-d)) / (2.0 * STEP)
        })
        .collect();
    DMatrix::from_columns(&columns)
}

#[track_caller]
fn agree(name: &str, what: &str, exact: &DMatrix<f64>, differences: &DMatrix<f64>) {
    let size = exact.amax().max(differences.amax()).max(1.0);
    let worst = (exact - differences).amax() / size;
    assert!(worst < 2e-6, "{name}: {what} is off by {worst:.1e} of {size:.1e}");
}

fn check(name: &str, model: &Model, seed: u64) {
    let Ok(assembled) = assembly::assemble(model) else { return };
    let (model, _) = without_dry_friction(model);
    let mut c = assembled.configuration;
    let mut random = Random(seed);
    let L = model.length;
    // Any velocities and positions, consistent or not: the derivatives are valid everywhere.
    for v in c.v.iter_mut().skip(1) {
        *v = Twist { v: random.vector() * L, w: random.vector() };
    }
    random.disturb(&mut c.q, &vec![false; model.bodies.len()], 0.02 * L, 0.02);
    let mut op = Operator::new(&model, &c);
    let rows = op.set().rows();
    let lambda = DVector::from_fn(rows, |_, _| random.number());
    let mut a: Vec<Twist> = c.q.iter().map(|_| Twist { v: random.vector(), w: random.vector() }).collect();
    a[0] = Twist::zero();
    let (K, D) = op.stiffness(&c, &lambda);
    let force = |x: &Configuration| op.applied(x);
    let pulled = |x: &Configuration| op.jacobian(x).tr_mul(&lambda) - force(x);
    agree(name, "K", &K, &differences(&c, false, &pulled));
    let gyro = |x: &Configuration| {
        let torque = model.bodies.iter().zip(&x.v).map(|(b, v)| Wrench { F: Default::default(), T: v.w.cross(&(b.J_bar * v.w)) });
        stacked(&torque.collect::<Vec<_>>()) - force(x)
    };
    agree(name, "D", &D, &differences(&c, true, &gyro));
    let d = op.row_derivatives(&c, &a);
    let gamma = |x: &Configuration| {
        let mut g = DVector::zeros(rows);
        op.set().gamma(&x.q, &x.v, x.t, g.as_mut_slice());
        g
    };
    agree(name, "d(G v)/dq", &d.rates, &differences(&c, false, &|x| op.jacobian(x) * stacked(&c.v)));
    agree(name, "d(G a)/dq", &d.accelerations, &differences(&c, false, &|x| op.jacobian(x) * stacked(&a)));
    agree(name, "d gamma/dq", &d.gamma_q, &differences(&c, false, &gamma));
    agree(name, "d gamma/dv", &d.gamma_v, &differences(&c, true, &gamma));
    assert!(plain(&c).t == c.t);
}

#[test]
fn derivatives_of_shipped_models_are_those_of_differences() {
    for (k, name) in shipped().iter().enumerate() {
        let model = model(name);
        if model.moving() <= 14 {
            check(name, &model, 17 + k as u64);
        }
    }
}

#[test]
fn derivatives_of_random_mechanisms_are_those_of_differences() {
    for seed in 1..=58 {
        let spec = families::mechanism(seed);
        let name = format!("family {:?} with seed {seed}", families::family_of(seed));
        let Ok(model) = spec.build() else { continue };
        if model.moving() <= 12 {
            check(&name, &model, 900 + seed);
        }
    }
}

#[test]
fn rolling_rows_of_the_bicycle_are_differentiated() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/bicycle.yaml");
    let model = fourbar_io::load(path).expect("the bicycle");
    check("bicycle", &model, 5);
    let state = assembly::assemble(&model).expect("it closes").configuration;
    // In straight motion only the spokes accelerate.
    let now = Evaluation::new(&model, &state).expect("an evaluation");
    assert!(stacked(now.accelerations()).amax() < 1e-9);
}

#[test]
fn forces_that_read_very_many_bodies_are_differentiated_whole() {
    let mut text = String::from("fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
    let n = 11;
    for k in 1..=n {
        text += &format!("  r{k}: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, {}]}}\n", 0.5 - f64::from(k));
    }
    text += "joints:\n";
    for k in 1..=n {
        let base = if k == 1 { "ground".to_string() } else { format!("r{}", k - 1) };
        text += &format!("  h{k}: {{type: revolute, bodies: [{base}, r{k}], at: [0, 0, {}], axis: [0, 1, 0]}}\n", 1 - k);
    }
    let sum: Vec<String> = (1..=n).map(|k| format!("{k}*h{k}.angle + 0.1*h{k}.speed")).collect();
    text += &format!("forces:\n  law: {{type: force, on: {{body: r{n}}}, force: ['{}', 0, 0]}}\n", sum.join(" + "));
    check("a law of eleven joints", &fourbar_testing::common::parse(&text), 3);
}

/// Free motions and least-squares solutions with many equal singular values: accurate to rounding, not to five digits.
#[test]
fn free_motions_are_free_to_rounding() {
    let mut regular = 0;
    for name in shipped() {
        let m = model(&name);
        if 6 * m.moving() > 240 {
            continue;
        }
        let Ok(assembled) = assembly::assemble(&m) else { continue };
        let c = assembled.configuration;
        let op = Operator::new(&m, &c);
        let G = op.jacobian(&c);
        let space = Space::new(&m, &G);
        if space.smallest < 1e-4 {
            continue;
        }
        regular += 1;
        let size = G.row_iter().map(|r| r.norm()).fold(1e-300, f64::max);
        let left = (&G * &space.N).amax() / (size * space.N.amax().max(1e-300));
        assert!(left < 1e-13, "{name}: rows see {left:.1e} of the free motions");
        let weights = lengths(&m);
        let W = DMatrix::from_fn(space.N.nrows(), space.N.ncols(), |i, j| space.N[(i, j)] * weights[i]);
        let unit = W.tr_mul(&W) - DMatrix::identity(W.ncols(), W.ncols());
        assert!(unit.is_empty() || unit.amax() < 1e-13, "{name}: not orthonormal by {:.1e}", unit.amax());
        let b = &G * DVector::from_fn(G.ncols(), |k, _| (1.0 + k as f64).sin());
        let open = (&G * space.increment(&b) - &b).amax() / b.amax().max(1e-300);
        assert!(open < 1e-12 / space.smallest, "{name}: an increment misses {open:.1e}");
        let f = G.tr_mul(&DVector::from_fn(G.nrows(), |k, _| (2.0 + k as f64).cos()));
        let rest = (G.tr_mul(&space.multipliers(&f)) - &f).amax() / f.amax().max(1e-300);
        assert!(rest < 1e-12 / space.smallest, "{name}: multipliers miss {rest:.1e}");
    }
    assert!(regular > 30, "{regular}");
}
