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
