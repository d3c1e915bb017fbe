//! What `auto` picks, on every shipped model: it runs, says why, and moves as another formulation does.

mod common;

use common::{model, run, shipped};
use fourbar::Trajectory;
use fourbar::study::{Analysis, Study};

/// Largest distance of two trajectories in positions of bodies, and the column.
fn apart(a: &Trajectory, b: &Trajectory, bodies: &[String]) -> f64 {
    let mut worst = 0.0_f64;
    for body in bodies {
        for axis in ["x", "y", "z"] {
            let name = format!("{body}.r.{axis}");
            let (x, y) = (a.column(&name).expect("a body"), b.column(&name).expect("a body"));
            assert_eq!(x.len(), y.len());
            worst = x.iter().zip(y).fold(worst, |m, (x, y)| if (x - y).is_nan() { f64::INFINITY } else { m.max((x - y).abs()) });
        }
    }
    worst
}

#[test]
fn every_shipped_model_runs_with_its_choice_and_says_why() {
    let mut taken = std::collections::BTreeSet::new();
    for name in shipped() {
        let model = model(&name);
        let own = Study::of(&model);
        let t_end = own.t_end.min(0.5);
        let study = Study {
            analysis: Some(Analysis::Dynamics),
            formulation: Some("auto".into()),
            step: None,
            tol: Some(1e-9),
            t_end,
            output_step: t_end / 5.0,
            ..own
        };
        let (chosen, report) = run(&model, &study);
        let said = format!("{} with {} was chosen: ", report.formulation, report.integrator);
        assert!(report.notes.iter().any(|n| n.starts_with(&said) && n.len() > said.len() + 10), "{name}: {:?}", report.notes);
        taken.insert(report.formulation);
        let other = if report.formulation == "lie" { "grcr" } else { "lie" };
        let (second, _) = run(&model, &Study { formulation: Some(other.into()), integrator: Some("dop853".into()), ..study });
        let bodies: Vec<String> = model.bodies[1..].iter().map(|b| b.name.clone()).collect();
        let d = apart(&chosen, &second, &bodies);
        // A tolerance of 1e-9 per step, over tens of steps.
        assert!(d < 1e-6 * model.length, "{name}: {} and {other} differ by {d:.1e} m", report.formulation);
    }
    assert!(["grcr", "natural", "lie"].iter().all(|f| taken.contains(f)), "{taken:?}");
}

#[test]
fn an_integrator_that_nobody_has_is_refused_with_the_nearest_name() {
    let model = model("fourbar");
    let study = Study { integrator: Some("eulr".into()), ..Study::of(&model) };
    let refused = study.method(&model).expect_err("no such integrator");
    assert_eq!(refused.code.0, "U302");
    assert_eq!(refused.help, "did you mean `euler`?");
}

/// A block on a slide that rubs, with the speed at which friction is smoothed.
fn rubbing(speed: f64) -> fourbar::Model {
    common::parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{block: {{mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [2, 0, 0]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, block], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{rub: {{type: friction, joint: slide, coulomb: 0.3, speed: {speed:e}}}}}
study: {{t_end: 2, output_step: 0.1}}
"
    ))
}

#[test]
fn friction_calls_for_an_implicit_method_only_where_it_is_stiff() {
    let pick = |model: &fourbar::Model, tol: f64| {
        let study = Study { tol: Some(tol), ..Study::of(model) };
        study.method(model).expect("a choice").0.name
    };
    assert_eq!(pick(&rubbing(1e-2), 1e-6), "grcr");
    assert_eq!(pick(&rubbing(1e-4), 1e-6), "ra");
    // The tighter the tolerance, the stiffer it must be.
    assert_eq!(pick(&rubbing(1e-4), 1e-10), "grcr");
}

#[test]
fn loops_in_space_that_move_but_a_little_do_without_a_series() {
    let model = model("nc_rscr");
    let pick = |t_end: f64| {
        let study = Study { analysis: Some(Analysis::Dynamics), formulation: None, integrator: None, t_end, ..Study::of(&model) };
        study.method(&model).expect("a choice").0.name
    };
    assert_eq!(pick(3.0), "natural");
    assert_eq!(pick(0.5), "lie");
}
