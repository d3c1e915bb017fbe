//! Settings of a study: every option is used, and meaningless values are rejected.

use fourbar::study::{Analysis, FORMULATIONS, Study};
use fourbar::{Diagnostic, Model, Trajectory};
use fourbar_check::verify::{Settings, verify};
use fourbar_testing::common;
use fourbar_testing::common::{WITHOUT_ESTIMATE, integrators_of, model, parse, run};

fn with(model: &Model, formulation: &str, options: &[(&str, &str)]) -> Study {
    let options = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let own = Study::of(model);
    Study { formulation: Some(formulation.into()), integrator: None, options, t_end: 2.0 * own.output_step, ..own }
}

fn refused(model: &Model, study: &Study) -> Diagnostic {
    match fourbar::study::run(model, study, &mut Trajectory::default()) {
        Err(failed) => *failed.diagnostic,
        Ok(_) => panic!("{:?} {:?} was taken", study.formulation, study.options),
    }
}

#[test]
fn every_option_that_a_formulation_lists_is_read() {
    let model = model("dca_five_bar");
    for f in FORMULATIONS {
        for integrator in integrators_of(f) {
            let step = WITHOUT_ESTIMATE.contains(&integrator).then_some(1e-3);
            let taken = f.options_with(integrator);
            for option in f.options {
                // Neither a number nor a word of any option.
                let study = with(&model, f.name, &[(option.key, "x")]);
                let study = Study { integrator: Some(integrator.to_string()), step, ..study };
                let who = format!("{} {integrator} {}", f.name, option.key);
                if taken.contains(&option.key) {
                    assert_eq!(refused(&model, &study).code.0, "U304", "{who}");
                } else {
                    let report = fourbar::study::run(&model, &study, &mut Trajectory::default()).unwrap_or_else(|e| panic!("{who}: {e}"));
                    assert!(
                        report.warnings.iter().any(|w| w.code.0 == "W302" && w.message.contains(integrator)),
                        "{who}: {:?}",
                        report.warnings
                    );
                }
            }
        }
    }
}

#[test]
fn options_that_nobody_has_are_refused_and_those_of_others_noted() {
    let model = model("dca_five_bar");
    let d = refused(&model, &with(&model, "ra", &[("rhoo", "0.5")]));
    assert_eq!((d.code.0, d.help.as_str()), ("U306", "did you mean `rho`?"), "{d}");
    let warnings = run(&model, &with(&model, "se3", &[("rho", "0.5"), ("tau", "0.1")])).1.warnings;
    let told: Vec<&str> = warnings.iter().filter(|w| w.code.0 == "W302").map(|w| w.message.as_str()).collect();
    assert_eq!(told, ["`rho` has no effect on `se3`"]);
}

/// A step of zero or backwards would never end.
#[test]
fn times_and_sizes_that_lead_nowhere_are_refused() {
    let model = model("dca_five_bar");
    for (formulation, key) in [
        ("ra", "tau"),
        ("rp", "theta"),
        ("reps", "iterations"),
        ("lie", "tau"),
        ("lie", "first-step"),
        ("grcr", "first-step"),
        ("dca", "first-step"),
        ("dca", "tau"),
    ] {
        for value in ["0", "-1"] {
            let d = refused(&model, &with(&model, formulation, &[(key, value)]));
            assert_eq!(d.code.0, "U304", "{formulation} {key}={value}");
            assert!(d.message.contains("must be positive"), "{d}");
        }
    }
    for formulation in ["ra", "lie"] {
        for step in [1e-300, 1e-16] {
            let d = refused(&model, &Study { step: Some(step), ..with(&model, formulation, &[]) });
            assert_eq!(d.code.0, "U303", "{formulation} {step}");
        }
    }
    let driven = common::model("ra_four_link");
    let study = Study { step: Some(1e-300), analysis: Some(Analysis::Kinematics), ..Study::of(&driven) };
    assert_eq!(refused(&driven, &study).code.0, "U303");
}

#[test]
fn verification_checks_its_times_and_leaves_the_options_of_one_formulation_out() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {bob: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints: {pin: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}}
study: {formulation: dca, t_end: 0.1, output_step: 0.05, options: {coordinates: 7}}
",
    );
    let mut settings = Settings::of(&model);
    settings.formulations = vec!["natural".into(), "dca".into()];
    let done = verify(&model, &settings, &|_| ()).unwrap_or_else(|d| panic!("{d}"));
    assert!(done.verdict.agree && done.rows.iter().all(|r| r.failure.is_none()), "{:?}", done.verdict);
    for t_end in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        settings.study.t_end = t_end;
        let d = verify(&model, &settings, &|_| ()).expect_err("no such end");
        assert_eq!(d.code.0, "U303", "{t_end}");
    }
}
