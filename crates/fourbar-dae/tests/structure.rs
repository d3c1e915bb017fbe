//! Structural analysis: published offsets and indices, and the names in error messages.

use crate::problems;

use fourbar_dae::{Error, Integrator, Options, Problem, Scalar, diff};
use problems::*;
use std::sync::Arc;

#[test]
fn pendulum_has_index_three() {
    let p = Problem::record(&["u", "v", "lambda"], pendulum).unwrap();
    let s = p.structure();
    assert_eq!((s.c(), s.d()), (&[0, 0, 2][..], &[2, 2, 0][..]));
    assert_eq!((s.index(), s.degrees_of_freedom(), s.blocks()), (3, 2, 1));
    assert!(s.is_quasilinear());
}

#[test]
fn two_pendula_have_index_five() {
    // Nedialkov and Pryce 2005, in their order of equations.
    let p = Problem::record(&["x", "y", "lambda", "u", "v", "mu"], two_pendula).unwrap();
    let s = p.structure();
    assert_eq!(s.c(), [2, 2, 4, 0, 0, 2]);
    assert_eq!(s.d(), [4, 4, 2, 2, 2, 0]);
    assert_eq!((s.index(), s.degrees_of_freedom()), (5, 4));
    assert_eq!(s.blocks(), 2, "the first pendulum is solved before the second");
    let block = s.block_of_equation();
    assert!(block[..3].iter().all(|&b| b == 0) && block[3..].iter().all(|&b| b == 1));
}

#[test]
fn lagrangian_mechanisms_have_index_three() {
    for n in [1, 2, 5, 20] {
        let p = chain(n).unwrap();
        assert_eq!((p.structure().index(), p.structure().degrees_of_freedom()), (3, 2 * n));
    }
    let (p, _) = andrews_problem(true);
    assert_eq!((p.structure().index(), p.structure().degrees_of_freedom()), (3, 2));
    assert!(p.structure().is_quasilinear());
    let (p, _) = andrews_points_problem(false);
    assert_eq!((p.variables().len(), p.structure().index(), p.structure().degrees_of_freedom()), (15, 3, 2));
}

#[test]
fn ordinary_and_algebraic_systems_are_special_cases() {
    let ode = Problem::record(&["x", "y"], kepler).unwrap();
    assert_eq!((ode.structure().index(), ode.structure().degrees_of_freedom()), (0, 4));
    let algebraic = Problem::record(&["x"], |t, x, e| e.equation("root", x[0].powi(3) + x[0] - t)).unwrap();
    assert_eq!((algebraic.structure().index(), algebraic.structure().degrees_of_freedom()), (1, 0));
    assert!(!algebraic.structure().is_quasilinear());
}

#[test]
fn a_singular_structure_is_reported_by_name() {
    let error = Problem::record(&["flow", "pressure", "level"], |t, x, e| {
        e.equation("pump", x[0] - t);
        e.equation("valve", x[0].sqr() - 2.0);
        e.equation("tank", diff(x[2], 1) - x[0] + x[1]);
    })
    .unwrap_err();
    let Error::StructurallySingular { mut equations, variables } = error.clone() else { panic!("{error}") };
    equations.sort();
    assert_eq!((equations, variables), (vec!["pump".to_string(), "valve".into()], vec!["flow".to_string()]));
    assert!(error.to_string().contains("`pump`") && error.to_string().contains("`flow`"), "{error}");
}

#[test]
fn mistakes_in_a_problem_are_reported_by_name() {
    let record = |names: &[&str], n: usize| {
        Problem::record(names, |t, x, e| match n {
            0 => e.equation("a", x[0] - t),
            1 => {
                e.equation("a", x[0] - t);
                e.equation("nothing", x[1] - x[1] + 2.0);
            }
            2 => {
                e.equation("a", x[0] - t);
                e.equation("b", x[0] + t);
            }
            3 => {
                e.equation("a", x[0] - t);
                e.equation("a", x[1] + t);
            }
            _ => {
                e.equation("a", x[0] / 0.0);
                e.equation("b", x[1] + t);
            }
        })
        .unwrap_err()
    };
    assert_eq!(record(&["x", "y"], 0), Error::NotSquare { equations: 1, variables: 2 });
    assert_eq!(record(&["x", "y"], 1), Error::ConstantEquation { equation: "nothing".into(), value: 2.0 });
    assert_eq!(record(&["x", "y"], 2), Error::UnusedVariable("y".into()));
    assert_eq!(record(&["x", "y"], 3), Error::DuplicateName("a".into()));
    assert_eq!(Problem::record(&[] as &[&str], |_, _, _| {}).unwrap_err(), Error::Empty);
    assert_eq!(record(&["x", "x"], 0), Error::DuplicateName("x".into()));
    assert!(matches!(record(&["x", "y"], 4), Error::NonFiniteConstant { place } if place == "a"));
}

#[test]
fn ten_thousand_variables_are_analysed() {
    let p = chain(3334).unwrap();
    assert_eq!(p.structure().index(), 3);
    assert_eq!(p.structure().jacobian_pattern().len(), 6668 + 2 * (2 + 4 * 3333));
}

/// Amplifier with two transistors of the public test set; `pairs` rewrites each capacitor's voltage as a variable.
fn amplifier<S: Scalar>(t: S, x: &[S], pairs: bool, e: &mut fourbar_dae::Equations<S>) {
    let (ub, uf, alpha, beta, r0, r) = (6.0, 0.026, 0.99, 1e-6, 1000.0, 9000.0);
    let source = (t * (200.0 * std::f64::consts::PI)).sin() * 0.1;
    let current = |v: S| ((v / uf).exp() - 1.0) * beta;
    // Voltages of the nodes; for each pair the first is given by the difference.
    let y: Vec<S> = (0..8).map(|k| if pairs && [0, 3, 6].contains(&k) { x[k] + x[k + 1] } else { x[k] }).collect();
    let over = |k: usize| if pairs { diff(x[k], 1) } else { diff(x[k], 1) - diff(x[k + 1], 1) };
    let (q1, q2) = (current(y[1] - y[2]), current(y[4] - y[5]));
    e.equation("node 1", (y[0] - source) / r0 + over(0) * 1e-6);
    e.equation("node 2", y[1] * (2.0 / r) - ub / r - q1 * (alpha - 1.0) - over(0) * 1e-6);
    e.equation("node 3", y[2] / r - q1 + diff(y[2], 1) * 2e-6);
    e.equation("node 4", y[3] / r - ub / r + q1 * alpha + over(3) * 3e-6);
    e.equation("node 5", y[4] * (2.0 / r) - ub / r - q2 * (alpha - 1.0) - over(3) * 3e-6);
    e.equation("node 6", y[5] / r - q2 + diff(y[5], 1) * 4e-6);
    e.equation("node 7", y[6] / r - ub / r + q2 * alpha + over(6) * 5e-6);
    e.equation("node 8", y[7] / r - over(6) * 5e-6);
}

const NODES: [&str; 8] = ["U1", "U2", "U3", "U4", "U5", "U6", "U7", "U8"];

#[test]
fn failure_of_structural_analysis_is_detected_and_named() {
    let problem = Arc::new(Problem::record(&NODES, |t, x, e| amplifier(t, x, false, e)).unwrap());
    let mut state = problem.zero_state(0.0);
    for (j, v) in [0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0].into_iter().enumerate() {
        state.set(j, 0, v);
    }
    let error = Integrator::new(&problem, &state, Options::new(1e-8)).unwrap().run_to(0.1).unwrap_err();
    let Error::SingularJacobian { equations, variables, redundant, .. } = &error else { panic!("{error}") };
    // One of the three pairs, or a mixture of them, never the nodes without a floating capacitor.
    assert!(!redundant && !equations.is_empty() && !variables.is_empty());
    assert!(equations.iter().all(|n| n != "node 3" && n != "node 6"), "{error}");
    assert!(variables.iter().all(|n| n != "U3" && n != "U6"), "{error}");
}

#[test]
fn the_amplifier_is_solved_after_its_pairs_are_rewritten() {
    let problem = Arc::new(Problem::record(&NODES, |t, x, e| amplifier(t, x, true, e)).unwrap());
    assert_eq!(problem.structure().index(), 1);
    assert!(!problem.structure().is_quasilinear());
    let mut start = problem.start(0.0);
    for (j, v) in [-3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 6.0, 0.0].into_iter().enumerate() {
        start = start.guess(NODES[j], 0, v);
    }
    let mut run = Integrator::new(&problem, &start.solve().unwrap(), Options::new(1e-10)).unwrap();
    run.run_to(0.2).unwrap();
    let x: Vec<f64> = NODES.iter().map(|n| run.value(n, 0).unwrap()).collect();
    let y = [x[0] + x[1], x[1], x[2], x[3] + x[4], x[4], x[5], x[6] + x[7], x[7]];
    // Published end state of the test set for Solving IVPs, release 2.4.
    let published = [
        -0.005562145012262709,
        3.006522471903042,
        2.849958788608128,
        2.926422536206241,
        2.704617865010554,
        2.761837778393145,
        4.770927631616772,
        1.236995868091548,
    ];
    for (a, b) in y.iter().zip(published) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

#[test]
fn redundant_constraints_are_called_so() {
    let problem = Problem::lagrangian(&["x", "y"], |_, q, v, m| {
        m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5 + q[1] * 9.81);
        m.constraint("length", q[0].sqr() + q[1].sqr() - 1.0);
        m.constraint("length again", q[0].sqr() * 2.0 + q[1].sqr() * 2.0 - 2.0);
    })
    .map(Arc::new)
    .unwrap();
    let start = problem.start(0.0).guess("x", 0, 1.0).solve().unwrap();
    let error = Integrator::new(&problem, &start, Options::default()).unwrap().run_to(1.0).unwrap_err();
    let Error::SingularJacobian { mut equations, redundant, .. } = error.clone() else { panic!("{error}") };
    equations.sort();
    assert!(redundant);
    assert_eq!(equations, ["length", "length again"]);
}

#[test]
fn a_singular_configuration_is_told_from_faulty_equations() {
    // Four equal bars folded onto one line: the parallelogram may become an antiparallelogram there.
    let problem = Problem::lagrangian(&["ax", "ay", "bx", "by"], |_, q, v, m| {
        (0..4).for_each(|k| m.lagrangian(v[k].sqr() * 0.5));
        m.constraint("left", q[0].sqr() + q[1].sqr() - 1.0);
        m.constraint("right", (q[2] - 1.0).sqr() + q[3].sqr() - 1.0);
        m.constraint("coupler", (q[2] - q[0]).sqr() + (q[3] - q[1]).sqr() - 1.0);
    })
    .map(Arc::new)
    .unwrap();
    let mut state = problem.zero_state(0.0);
    for (j, p, x) in [(0, 0, 1.0), (2, 0, 2.0), (1, 1, 1.0), (3, 1, 1.0)] {
        state.set(j, p, x);
    }
    let error = Integrator::new(&problem, &state, Options::default()).unwrap().run_to(1.0).unwrap_err();
    assert!(matches!(error, Error::SingularJacobian { isolated: true, redundant: false, .. }), "{error}");
    assert!(error.to_string().contains("coupler"), "{error}");
}

#[test]
fn a_constraint_on_velocities_is_named() {
    let error = Problem::lagrangian(&["x", "y"], |_, q, v, m| {
        m.lagrangian((v[0].sqr() + v[1].sqr()) * 0.5);
        m.constraint("length", q[0].sqr() + q[1].sqr() - 1.0);
        m.constraint("edge", v[0] * q[1] - v[1]);
    })
    .unwrap_err();
    assert!(error.to_string().contains("`edge`"), "{error}");
}

#[test]
fn problems_and_integrations_may_cross_threads() {
    fn check<T: Send>() {}
    check::<Arc<Problem>>();
    check::<Integrator>();
}

#[test]
fn a_difference_that_hides_a_variable_is_cured_by_a_new_one() {
    let hidden = Problem::record(&["x1", "x2"], |_, x, e| {
        let rate = diff(x[0], 1) - diff(x[1], 1);
        e.equation("first", rate + x[0]);
        e.equation("second", rate + x[1] * 2.0);
    })
    .map(Arc::new)
    .unwrap();
    let start = hidden.start(0.0).guess("x1", 0, 1.0).solve().unwrap();
    let error = Integrator::new(&hidden, &start, Options::default()).unwrap().run_to(1.0).unwrap_err();
    let Error::SingularJacobian { mut equations, mut variables, redundant, isolated, .. } = error.clone() else { panic!("{error}") };
    equations.sort();
    variables.sort();
    assert_eq!((equations, variables), (vec!["first".to_string(), "second".into()], vec!["x1".to_string(), "x2".into()]));
    assert!(!redundant && !isolated);
    // z = x1 - x2: then x1 = 2 x2, z = x2, z' = -2 z.
    let cured = Problem::record(&["z", "x2"], |_, x, e| {
        e.equation("first", diff(x[0], 1) + x[0] + x[1]);
        e.equation("second", diff(x[0], 1) + x[1] * 2.0);
    })
    .map(Arc::new)
    .unwrap();
    let start = cured.start(0.0).hold("z", 0, 1.0).solve().unwrap();
    let mut run = Integrator::new(&cured, &start, Options::new(1e-12)).unwrap();
    run.run_to(1.0).unwrap();
    assert!((run.value("z", 0).unwrap() - (-2.0f64).exp()).abs() < 1e-12);
}
