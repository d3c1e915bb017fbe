//! Radau IIA: its order, its errors against references and against Taylor series, stiff forces, redundant rows, states, rolling, and runs in
//! two parts.

use fourbar::study::Study;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use fourbar_testing::families;

fn by(model: &Model, formulation: &str, integrator: &str) -> Study {
    Study { formulation: Some(formulation.into()), integrator: Some(integrator.into()), ..Study::of(model) }
}

/// What a column shows, and whether it does.
type Kind = (&'static str, fn(&str) -> bool);

fn is_position(c: &str) -> bool {
    c.contains(".r.")
}

/// Largest difference in the columns that `choose` takes, at all output times.
fn difference(a: &Trajectory, b: &Trajectory, choose: impl Fn(&str) -> bool) -> f64 {
    let columns = a.columns.iter().map(|c| c.name.as_str()).filter(|c| choose(c));
    let pairs = columns.map(|c| (a.find(c).expect("its own"), b.find(c).expect("the same model")));
    let (mut most, mut compared) = (0.0_f64, 0);
    for (j, k) in pairs {
        assert_eq!(a.values[j].len(), b.values[k].len());
        for (x, y) in a.values[j].iter().zip(&b.values[k]) {
            most = most.max((x - y).abs());
            compared += 1;
        }
    }
    assert!(compared > 0);
    most
}

/// Errors at some tolerances against a run of Taylor series, metres; output times lie inside steps.
fn errors(model: &Model, t_end: f64, tolerances: &[f64]) -> Vec<f64> {
    let outputs = Study { t_end, output_step: t_end / 40.0, ..by(model, "natural", "taylor") };
    let (truth, _) = run(model, &Study { tol: Some(1e-12), ..outputs.clone() });
    let at = |tol: &f64| {
        let study = Study { formulation: Some("ra".into()), integrator: Some("radau".into()), tol: Some(*tol), ..outputs.clone() };
        difference(&run(model, &study).0, &truth, is_position)
    };
    tolerances.iter().map(at).collect()
}

#[test]
fn fixed_steps_show_the_fifth_order_in_positions_velocities_and_reactions() {
    let spring = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/nc_rscr.yaml")).expect("shipped")
        + "\nforces:\n  pull: {type: spring, between: [{body: part2}, {body: ground, at: [0.3, 0.4, 0.5]}], stiffness: 40, length: 0.5, damping: 0.8}\n  motor_torque: {type: actuator, joint: J1, effort: 2*sin(5*t) - 0.05*J1.speed}\n";
    for (what, model, h, t_end) in [("double pendulum", model("ra_double_pendulum"), 0.01, 1.0), ("loop", parse(&spring), 0.0125, 0.25)] {
        let runs: Vec<Trajectory> = [1.0, 0.5, 0.25]
            .map(|k| run(&model, &Study { step: Some(k * h), t_end, output_step: t_end / 10.0, ..by(&model, "ra", "radau") }).0)
            .into();
        let kinds: [Kind; 3] =
            [("positions", is_position), ("velocities", |c| c.contains(".v.")), ("reactions", |c| c.contains(".force."))];
        for (kind, choose) in kinds {
            let [coarse, fine] = [0, 1].map(|k| difference(&runs[k], &runs[k + 1], choose));
            let order = (coarse / fine).log2();
            println!("{what}, {kind}: {order:.2}, {coarse:.1e} and {fine:.1e}");
            assert!(order > 4.5 && order < 6.5, "{what}, {kind}: order {order:.2}");
        }
    }
}

#[test]
fn errors_follow_the_tolerance() {
    // Stiff; redundant; redundant rows that change as it turns; unstable; states and inputs; a fast spin; a motor that prescribes.
    let cases = [
        ("a05_flyball_governor", 2.0),
        ("a04_bricard", 2.0),
        ("watt_governor", 5.0),
        ("lie_two_floating_bodies", 1.0),
        ("pid_pendulum", 2.0),
        ("dc_motor_slider_crank", 0.5),
        ("lie_heavy_top", 1.0),
        ("double_wishbone", 1.0),
        ("a03_andrews_beta0_m0p0620", 0.03),
    ];
    let tolerances = [1e-4, 1e-6, 1e-8, 1e-10];
    for (name, t_end) in cases {
        let model = model(name);
        let errors = errors(&model, t_end, &tolerances);
        println!("{name}: {}", errors.iter().map(|e| format!("{e:.1e}")).collect::<Vec<_>>().join(" "));
        for (tol, e) in tolerances.iter().zip(&errors) {
            assert!(*e < 100.0 * tol * model.length, "{name} at {tol:e}: {e:.1e} m, length {}", model.length);
        }
        assert!(errors.windows(2).all(|w| w[1] < 0.2 * w[0]), "{name}: {errors:?}");
    }
}

#[test]
fn tolerances_are_kept_at_which_other_implicit_methods_give_up() {
    let pendulum = model("a01_simple_pendulum");
    let study = Study { tol: Some(1e-9), ..by(&pendulum, "ra", "radau") };
    let (t, report) = run(&pendulum, &study);
    let (truth, _) = run(&pendulum, &Study { tol: Some(1e-13), ..by(&pendulum, "natural", "taylor") });
    assert!(difference(&t, &truth, is_position) < 1e-7 && report.work.iter().any(|(n, x)| n == "steps" && *x < 3000.0));
    let bodies = model("lie_two_floating_bodies");
    let (_, report) = run(&bodies, &Study { tol: Some(1e-10), ..by(&bodies, "ra", "radau") });
    assert!(!report.stopped);
}

#[test]
fn the_stiff_governor_takes_far_fewer_evaluations_than_an_explicit_method() {
    let governor = model("a05_flyball_governor");
    let count = |study: &Study| {
        let work = run(&governor, study).1.work;
        work.iter().find(|(n, _)| n == "evaluations").map(|(_, x)| *x).expect("counted")
    };
    let outputs = Study { t_end: 5.0, tol: Some(1e-6), ..by(&governor, "ra", "radau") };
    let implicit = count(&outputs);
    let explicit = count(&Study { formulation: Some("lie".into()), integrator: Some("dopri5".into()), ..outputs.clone() });
    println!("{implicit} and {explicit}");
    assert!(implicit < 0.5 * explicit);
}

#[test]
fn singular_positions_of_the_ladder_are_passed_on_the_right_branch() {
    let ladder = model("a02_n_fourbar_N2");
    let errors = errors(&ladder, 10.0, &[1e-4, 1e-6, 1e-8, 1e-9]);
    println!("{errors:?}");
    // The motion is sensitive at the passages: a disturbance grows by some hundred.
    assert!(errors[0] < 0.05 && errors[1] < 5e-4 && errors[2] < 5e-6 && errors[3] < 1e-6, "{errors:?}");
}

#[test]
fn rolling_and_load_dependent_friction_agree_with_an_explicit_method() {
    let ball = "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {ball: {mass: 2, inertia: [0.03, 0.032, 0.034], at: [0, 0, 0.2], velocity: [0.4, 0, 0], omega: [0, 2, 1]}}\nconstraints: {roll: {type: rolling-sphere, on: {body: ball}, radius: 0.2}}\nforces: {push: {type: force, on: {body: ball, at: [0.05, 0, 0.05]}, force: ['2*sin(3*t)', '1', '0']}}\n";
    let rubbing = "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies:\n  a: {mass: 2, inertia: [0.05, 0.06, 0.02], at: [0.3, 0, 0]}\n  b: {mass: 1, inertia: [0.02, 0.03, 0.01], at: [0.8, 0, 0]}\njoints:\n  O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n  P: {type: revolute, bodies: [a, b], at: [0.6, 0, 0], axis: [0, 1, 0]}\nforces:\n  rub: {type: friction, joint: O, coulomb: 0.2, radius: 0.05, speed: 0.05}\n";
    for (what, text) in [("ball", ball), ("friction", rubbing)] {
        let model = parse(text);
        let outputs = Study { t_end: 1.0, output_step: 0.05, tol: Some(1e-9), ..by(&model, "lie", "dop853") };
        let (truth, _) = run(&model, &Study { tol: Some(1e-12), ..outputs.clone() });
        let (t, _) = run(&model, &Study { formulation: Some("ra".into()), integrator: Some("radau".into()), ..outputs });
        let d = difference(&t, &truth, |c| is_position(c) || c.contains(".v.") || c.contains("energy"));
        println!("{what}: {d:.1e}");
        assert!(d < 1e-6, "{what}: {d:.1e}");
    }
}

#[test]
fn drawn_mechanisms_move_as_with_an_explicit_method() {
    let mut compared = 0;
    for seed in 5000..5060 {
        let Ok(model) = families::mechanism(seed).build() else { continue };
        let outputs = Study { t_end: 0.1, output_step: 0.01, tol: Some(1e-8), ..by(&model, "lie", "dop853") };
        let mut truth = Trajectory::default();
        if fourbar::study::run(&model, &Study { tol: Some(1e-11), ..outputs.clone() }, &mut truth).is_err() {
            continue;
        }
        let mut t = Trajectory::default();
        let study = Study { formulation: Some("ra".into()), integrator: Some("radau".into()), ..outputs };
        if let Err(f) = fourbar::study::run(&model, &study, &mut t) {
            panic!("seed {seed}: {}", f.diagnostic);
        }
        let d = difference(&t, &truth, is_position) / model.length;
        assert!(d < 1e-5, "seed {seed}: {d:.1e} L");
        compared += 1;
    }
    println!("{compared} compared");
    assert!(compared > 30);
}

#[test]
fn runs_in_two_parts_are_the_same_to_the_bit() {
    for (name, t_end) in [("a05_flyball_governor", 0.5), ("watt_governor", 1.0), ("dc_motor_slider_crank", 0.2), ("a04_bricard", 1.0)] {
        let model = model(name);
        for (tol, step) in [(Some(1e-6), None), (None, Some(t_end / 100.0))] {
            let study = Study { t_end, output_step: t_end / 23.0, tol, step, ..by(&model, "ra", "radau") };
            assert_resumes(&model, &study, 9, name);
        }
    }
}
