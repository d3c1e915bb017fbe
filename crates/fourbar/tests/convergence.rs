//! Measured order of every integrator at constant step: positions, velocities, and multipliers by the reactions.

use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;

/// Largest difference at common output times over the columns that `choose` takes, from `from` on.
fn difference(a: &Trajectory, b: &Trajectory, from: f64, choose: impl Fn(&str) -> bool) -> f64 {
    let columns: Vec<usize> = (0..a.columns.len()).filter(|&k| choose(&a.columns[k].name)).collect();
    assert!(!columns.is_empty());
    (0..a.len())
        .filter(|&i| a.row(i)[0] >= from)
        .flat_map(|i| columns.iter().map(move |&k| (i, k)))
        .map(|(i, k)| (a.row(i)[k] - b.row(i)[k]).abs())
        .fold(0.0, f64::max)
}

fn steps(model: &Model, integrator: &str, h: f64, t_end: f64) -> Vec<Trajectory> {
    [1.0, 0.5, 0.25]
        .iter()
        .map(|k| {
            run(
                model,
                &Study { integrator: Some(integrator.into()), step: Some(h * k), t_end, output_step: t_end / 10.0, ..Study::of(model) },
            )
            .0
        })
        .collect()
}

/// Observed order from three steps: log2 of the ratio of successive differences.
fn order(t: &[Trajectory], from: f64, choose: impl Fn(&str) -> bool + Copy) -> f64 {
    (difference(&t[0], &t[1], from, choose) / difference(&t[1], &t[2], from, choose)).log2()
}

fn is_position(c: &str) -> bool {
    c.contains(".r.") || c.contains(".p.")
}
fn is_velocity(c: &str) -> bool {
    c.contains(".v.") || c.contains(".omega.")
}
fn is_reaction(c: &str) -> bool {
    c.contains(".force.") || c.contains(".torque.")
}

/// A closed spatial loop with a spring, a damper and a driven actuator beside gravity.
fn loop_with_forces() -> Model {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/nc_rscr.yaml")).expect("shipped");
    let forces = "forces:\n  pull: {type: spring, between: [{body: part2}, {body: ground, at: [0.3, 0.4, 0.5]}], stiffness: 40, length: 0.5, damping: 0.8}\n  motor_torque: {type: actuator, joint: J1, effort: 2*sin(5*t) - 0.05*J1.speed}\n";
    parse(&format!("{text}\n{forces}"))
}

#[test]
fn integrators_show_their_order_on_the_double_pendulum_and_on_a_loop_with_forces() {
    let cases = [("double pendulum", model("ra_double_pendulum"), 2e-3, 1.0), ("loop with forces", loop_with_forces(), 1e-3, 0.5)];
    for (what, model, h, t_end) in cases {
        for (integrator, expected) in [("gen-alpha", 2.0), ("bdf2", 2.0), ("backward-euler", 1.0)] {
            // First order shows its asymptote only at smaller steps.
            let t = steps(&model, integrator, if expected == 1.0 { 0.1 * h } else { h }, t_end);
            for (quantity, observed) in [
                ("positions", order(&t, 0.0, is_position)),
                ("velocities", order(&t, 0.0, is_velocity)),
                ("reactions", order(&t, 0.2 * t_end, is_reaction)),
            ] {
                assert!((observed - expected).abs() <= 0.1, "{what}, {integrator}, {quantity}: order {observed:.3}");
            }
        }
    }
}

#[test]
fn the_method_s_own_multipliers_are_second_order_from_the_first_step() {
    use fourbar::analysis::assembly::assemble;
    use fourbar::integrator::Method;
    use fourbar::integrator::index3::{Stepper, index1};
    let model = model("lie_closed_3bar");
    let start = assemble(&model).expect("assembles").configuration;
    let mut errors = Vec::new();
    for h in [1e-3, 5e-4, 2.5e-4] {
        let mut s = Stepper::new(&model, &start, Method::GenAlpha { rho: 0.8 });
        s.start(h);
        s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
        let own = s.memory.lambda.clone();
        let mut exact = s.memory.clone();
        let (t, mut v) = (exact.t, exact.v.clone());
        s.equations.jacobian(&exact.q);
        s.equations.factor(1.0);
        s.equations.project_velocity(t, &mut v);
        exact.v = v;
        index1(&mut s.equations, &mut exact);
        errors.push(own.iter().zip(&exact.lambda).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
    }
    let order = (errors[1] / errors[2]).log2();
    assert!((order - 2.0).abs() < 0.2, "{errors:?}: order {order:.2}");
}

#[test]
fn tighter_tolerances_give_smaller_errors_as_the_order_says() {
    let model = model("ra_double_pendulum");
    let r = reference("ra_double_pendulum");
    let errors: Vec<f64> = [1e-5, 1e-6, 1e-7, 1e-8]
        .iter()
        .map(|tol| {
            let (t, _) =
                run(&model, &Study { formulation: Some("ra".into()), step: None, tol: Some(*tol), t_end: 2.0, ..Study::of(&model) });
            worst(&t, &r, 2.0, |c| c.ends_with(".x") || c.ends_with(".y") || c.ends_with(".z")).0
        })
        .collect();
    // The global error of a second-order method follows tol^(2/3): a factor 4.6 per decade.
    for pair in errors.windows(2) {
        assert!(pair[0] / pair[1] > 2.0, "{errors:?}");
    }
    assert!(errors[3] < 3e-5, "{errors:?}");
}

#[test]
fn the_stabilised_form_keeps_its_order_under_any_sequence_of_steps() {
    use fourbar::analysis::assembly::assemble;
    use fourbar::integrator::Method;
    use fourbar::integrator::index3::Stepper;
    let model = model("lie_closed_3bar");
    let start = assemble(&model).expect("assembles").configuration;
    // Steps of alternating size, halved twice; final positions, velocities and multipliers of the method.
    let end = |n: usize| {
        let h = 0.1 / n as f64;
        let mut s = Stepper::new(&model, &start, Method::GenAlpha { rho: 0.8 });
        s.index2 = true;
        s.start(h);
        for k in 0..n {
            let h = if k % 2 == 0 { 1.4 * h } else { 0.6 * h };
            s.change_step(h);
            s.attempt(h).and_then(|()| s.accept(h)).expect("steps");
        }
        let m = &s.memory;
        let q: Vec<f64> = m.q.iter().flat_map(|q| q.r.iter().chain(q.A.iter()).copied().collect::<Vec<_>>()).collect();
        let v: Vec<f64> = m.v.iter().flat_map(|v| v.v.iter().chain(v.w.iter()).copied().collect::<Vec<_>>()).collect();
        let mut slip = vec![0.0; s.equations.set.rows()];
        s.equations.jacobian(&m.q);
        s.equations.set.multiply(&s.equations.G, &m.v, &mut slip);
        // Up to the Newton tolerance: a correction of 1e-11 L in the step is 1e-11 L b_v / h in the velocity.
        assert!(slip.iter().all(|x| x.abs() < 1e-7), "velocities satisfy their constraints: {slip:?}");
        (q, v, m.lambda.clone())
    };
    let runs = [100, 200, 400].map(end);
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    for (what, pick) in [
        ("positions", (|r: &(Vec<f64>, Vec<f64>, Vec<f64>)| r.0.clone()) as fn(&(Vec<f64>, Vec<f64>, Vec<f64>)) -> Vec<f64>),
        ("velocities", |r| r.1.clone()),
        ("multipliers", |r| r.2.clone()),
    ] {
        let [a, b, c] = [0, 1, 2].map(|k| pick(&runs[k]));
        let order = (distance(&a, &b) / distance(&b, &c)).log2();
        assert!((order - 2.0).abs() < 0.15, "{what}: order {order:.3}");
    }
}
