//! The same motion from equations written by hand, a Lagrangian, its momentum form and a Hamiltonian.

use crate::problems;

use fourbar_dae::{Equations, Error, Integrator, Mechanics, Options, Problem, Scalar, diff};
use problems::*;
use std::sync::Arc;

/// Bead on a wire y = x^2/2 with friction and a force, mass 2.
fn bead<S: Scalar>(t: S, q: &[S], v: &[S], m: &mut Mechanics<S>) {
    m.lagrangian(v[0].sqr() + v[1].sqr() - q[1] * (2.0 * 9.81));
    m.constraint("wire", q[1] - q[0].sqr() * 0.5);
    m.dissipation((v[0].sqr() + v[1].sqr()) * 0.05);
    m.force(0, t.sin());
    m.load(v[0] - v[1], t.cos() * 0.3);
}

fn bead_by_hand<S: Scalar>(t: S, x: &[S], e: &mut Equations<S>) {
    let (x, y, l) = (x[0], x[1], x[2]);
    let push = t.cos() * 0.3;
    e.equation("x", diff(x, 2) * 2.0 - l * x + diff(x, 1) * 0.1 - t.sin() - push);
    e.equation("y", diff(y, 2) * 2.0 + l + diff(y, 1) * 0.1 + 2.0 * 9.81 + push);
    e.equation("wire", y - x.sqr() * 0.5);
}

fn bead_hamiltonian<S: Scalar>(t: S, q: &[S], p: &[S], m: &mut Mechanics<S>) {
    m.hamiltonian((p[0].sqr() + p[1].sqr()) * 0.25 + q[1] * (2.0 * 9.81));
    m.constraint("wire", q[1] - q[0].sqr() * 0.5);
    // Damping 0.1 v with v = p/2, and the same forces.
    m.force(0, t.sin() + t.cos() * 0.3 - p[0] * 0.05);
    m.force(1, -t.cos() * 0.3 - p[1] * 0.05);
}

fn run(problem: Problem, first: &str) -> Vec<f64> {
    let problem = Arc::new(problem);
    let mut start = problem.start(0.0).hold(first, 0, 1.0).guess("y", 0, 0.5);
    // Velocity 1 along the wire: as momentum in forms with momenta.
    start = if problem.variable("p(x)").is_ok() && problem.structure().d()[0] < 2 {
        start.hold("p(x)", 0, 2.0).guess("p(y)", 0, 2.0)
    } else {
        start.hold("x", 1, 1.0)
    };
    let state = start.solve().unwrap();
    let mut run = Integrator::new(&problem, &state, Options::new(1e-13)).unwrap();
    run.run_to(4.0).unwrap();
    let lambda = if problem.variable("l").is_ok() { "l" } else { "lambda(wire)" };
    vec![run.value("x", 0).unwrap(), run.value("y", 0).unwrap(), run.value("x", 1).unwrap(), run.value(lambda, 0).unwrap()]
}

#[test]
fn a_constrained_bead_moves_alike_in_all_forms() {
    let hand = run(Problem::record(&["x", "y", "l"], bead_by_hand).unwrap(), "x");
    let lagrangian = run(Problem::lagrangian(&["x", "y"], bead).unwrap(), "x");
    let momentum = run(Problem::momentum(&["x", "y"], bead).unwrap(), "x");
    let hamiltonian = run(Problem::hamiltonian(&["x", "y"], bead_hamiltonian).unwrap(), "x");
    for (name, other) in [("lagrangian", lagrangian), ("momentum", momentum), ("hamiltonian", hamiltonian)] {
        for (a, b) in hand.iter().zip(&other) {
            assert!((a - b).abs() < 1e-10, "{name}: {hand:?} {other:?}");
        }
    }
}

#[test]
fn andrews_mechanism_moves_alike_in_momentum_form() {
    let (lagrangian, start) = andrews_problem(true);
    let momentum = Arc::new(Problem::momentum(&ANDREWS, |_, q, v, m| andrews(q, v, false, m)).unwrap());
    assert_eq!((momentum.structure().index(), momentum.variables().len()), (3, 20));
    let mut again = momentum.zero_state(0.0);
    (0..7).for_each(|j| assert!(again.set(j, 0, start.get(j, 0).unwrap())));
    let mut a = Integrator::new(&lagrangian, &start, andrews_options(1e-13)).unwrap();
    let mut b = Integrator::new(&momentum, &again, andrews_options(1e-13)).unwrap();
    a.run_to(0.02).unwrap();
    b.run_to(0.02).unwrap();
    for name in ANDREWS {
        let (x, y) = (a.value(name, 0).unwrap(), b.value(name, 0).unwrap());
        assert!((x - y).abs() < 1e-9, "{name}: {x} {y}");
    }
}

#[test]
fn kepler_moves_alike_as_ordinary_equation_and_from_its_hamiltonian() {
    let ode = Arc::new(Problem::record(&["x", "y"], kepler).unwrap());
    let hamiltonian = Problem::hamiltonian(&["x", "y"], |_, q, p, m| {
        m.hamiltonian((p[0].sqr() + p[1].sqr()) * 0.5 - (q[0].sqr() + q[1].sqr()).powf(-0.5));
    })
    .map(Arc::new)
    .unwrap();
    assert_eq!(hamiltonian.structure().degrees_of_freedom(), 4);
    let start = kepler_start(&ode, 0.3);
    let mut again = hamiltonian.zero_state(0.0);
    for (j, p, k) in [(0, 0, 0), (1, 0, 1), (0, 1, 2), (1, 1, 3)] {
        again.set(k, 0, start.get(j, p).unwrap());
    }
    let mut a = Integrator::new(&ode, &start, Options::new(1e-13)).unwrap();
    let mut b = Integrator::new(&hamiltonian, &again, Options::new(1e-13)).unwrap();
    a.run_to(20.0).unwrap();
    b.run_to(20.0).unwrap();
    assert!((a.value("x", 0).unwrap() - b.value("x", 0).unwrap()).abs() < 1e-10);
    assert!((a.value("y", 1).unwrap() - b.value("p(y)", 0).unwrap()).abs() < 1e-10);
}

#[test]
fn a_chain_conserves_energy_dense_and_sparse() {
    // 5 bodies: dense factorisation; 30: sparse.
    for n in [5usize, 30] {
        let problem = Arc::new(chain(n).unwrap());
        let start = chain_start(&problem, n);
        let energy = |r: &dyn Fn(usize, usize) -> f64| -> f64 {
            (0..n).map(|i| 0.5 * (r(2 * i, 1).powi(2) + r(2 * i + 1, 1).powi(2)) - 9.81 * r(2 * i + 1, 0)).sum()
        };
        let before = energy(&|j, p| start.get(j, p).unwrap());
        let mut run = Integrator::new(&problem, &start, Options::new(1e-12)).unwrap();
        run.run_to(2.0).unwrap();
        let after = energy(&|j, p| run.at(2.0, j, p).unwrap());
        assert!((after - before).abs() < 1e-9 * before.abs(), "{n}: {before} {after}");
    }
}

#[test]
fn misuse_of_the_facility_is_reported() {
    let record = |n: usize| {
        Problem::lagrangian(&["x"], |_, q, v, m| match n {
            0 => m.lagrangian(v[0].sqr() * 0.5 + (q[0] * q[0]).diff(1)),
            1 => {
                m.lagrangian(v[0].sqr() * 0.5);
                m.constraint("speed", v[0] - 1.0);
            }
            _ => {
                m.lagrangian(v[0].sqr() * 0.5);
                m.force(3, q[0]);
            }
        })
        .unwrap_err()
    };
    assert!(matches!(record(0), Error::DiffInEnergy { .. }));
    assert!(matches!(record(1), Error::DiffInEnergy { place } if place.contains("speed")));
    assert!(matches!(record(2), Error::UnknownName(_)));
}

#[test]
fn ten_thousand_variables_are_integrated() {
    let n = 3334;
    let problem = Arc::new(chain(n).unwrap());
    let mut run = Integrator::new(&problem, &chain_start(&problem, n), Options::new(1e-10)).unwrap();
    (0..4).for_each(|_| assert_eq!(run.step(1.0), Ok(None)));
    let at = |j: usize, p: usize| run.at(run.t(), j, p).unwrap();
    for i in 1..n {
        let (dx, dy) = (at(2 * i, 0) - at(2 * i - 2, 0), at(2 * i + 1, 0) - at(2 * i - 1, 0));
        let (vx, vy) = (at(2 * i, 1) - at(2 * i - 2, 1), at(2 * i + 1, 1) - at(2 * i - 1, 1));
        // Before the next projection: the local error, relative to coordinates of size 3,000.
        assert!((dx.hypot(dy) - 1.0).abs() < 1e-6 && (dx * vx + dy * vy).abs() < 1e-4, "rod {i}");
    }
}
