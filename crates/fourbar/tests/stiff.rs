//! The shipped stiff models by Radau IIA: against independent methods over a short time, and against itself at tighter tolerances over a longer one.

use fourbar::analysis::assembly::assemble;
use fourbar::motion::Instant;
use fourbar::study::{Study, formulation};
use fourbar::{Configuration, Model};
use fourbar_check::verify::{Ran, Twin, apart, sampled};
use fourbar_io::{ReadOptions, read_model};
use fourbar_testing::common::*;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(100);

/// A run at a tolerance, ten outputs.
fn ran(model: &Model, method: (&str, &'static str), t_end: f64, tol: f64) -> Ran {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    ran_from(model, method, t_end, tol, &start)
}

fn ran_from(model: &Model, (name, integrator): (&str, &'static str), t_end: f64, tol: f64, start: &Configuration) -> Ran {
    let study = Study { t_end, output_step: t_end / 10.0, tol: Some(tol), ..Study::of(model) };
    let info = formulation(name).expect("known");
    let what = format!("{name} {integrator} {tol:e}");
    sampled(PATIENCE, model, &study, info, integrator, start).and_then(Ran::complete).unwrap_or_else(|d| panic!("{what}: {d}"))
}

fn radau(model: &Model, t_end: f64, tol: f64) -> Vec<Instant> {
    let ran = ran(model, ("ra", "radau"), t_end, tol);
    let count = |name: &str| ran.outcome.work.iter().find(|w| w.0 == name).map_or(0.0, |w| w.1);
    println!(
        "  {tol:e}: {} steps, {} rejected, {} failed, {:.2} s",
        count("steps"),
        count("rejected_steps"),
        count("failed_steps"),
        ran.seconds
    );
    ran.sample
}

fn with(name: &str, parameter: &str, value: f64) -> Model {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models").join(format!("{name}.yaml"));
    let text = std::fs::read_to_string(path).expect("shipped");
    let set = [(parameter.to_string(), value.to_string())];
    let loaded = read_model(&text, &ReadOptions { set: &set, ..ReadOptions::default() }).unwrap_or_else(|e| panic!("{e}"));
    loaded.spec.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Factor by which a disturbance of the start grows along a motion, at least one.
fn growth(model: &Model, t_end: f64, tol: f64, truth: &[Instant]) -> f64 {
    let start = assemble(model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let Some(twin) = Twin::of(model, &start, truth) else { return 1.0 };
    let beside = ran_from(model, ("ra", "radau"), t_end, tol, &twin.start).sample;
    (apart(model, truth, &beside) / twin.size).max(1.0)
}

/// Checks errors at several tolerances against an exact solution: within a hundred tolerances, and falling.
fn within(what: &str, model: &Model, t_end: f64, tolerances: &[f64], truth: &[Instant], growth: f64) {
    let mut last = f64::INFINITY;
    for &tol in tolerances {
        let error = apart(model, &radau(model, t_end, tol), truth);
        println!("{what} at {tol:e}: {error:.1e}");
        assert!(error < 100.0 * tol * growth, "{what} at {tol:e}: {error:.1e}");
        assert!(error < last || error < tol, "{what} at {tol:e}: {error:.1e} after {last:.1e}");
        last = error;
    }
}

#[test]
fn the_engine_on_mounts_of_any_stiffness_agrees_with_an_explicit_method() {
    for k in [1e5, 1e7, 1e9] {
        let model = with("stiff_engine_mounts", "k", k);
        let t_end = 0.05;
        let truth = ran(&model, ("lie", "dop853"), t_end, 1e-12).sample;
        let second = ran(&model, ("grcr", "dop853"), t_end, 1e-12).sample;
        assert!(apart(&model, &truth, &second) < 1e-9, "k = {k:e}: the truth is doubtful by {:.1e}", apart(&model, &truth, &second));
        within(&format!("k = {k:e}"), &model, t_end, &[1e-4, 1e-6, 1e-8, 1e-9], &truth, 1.0);
    }
}

#[test]
fn the_light_pin_agrees_with_an_explicit_method_at_first_and_with_itself_later() {
    let model = model("stiff_light_pin");
    let truth = ran(&model, ("lie", "dop853"), 1e-3, 1e-12).sample;
    within("pin, 1 ms", &model, 1e-3, &[1e-4, 1e-6, 1e-8], &truth, 1.0);
    let truth = radau(&model, 0.5, 1e-12);
    within("pin, 0.5 s", &model, 0.5, &[1e-4, 1e-6, 1e-8, 1e-9], &truth, 1.0);
}

#[test]
fn steep_friction_agrees_with_an_explicit_method_where_friction_is_less_steep() {
    let model = with("stiff_friction", "steep", 1e-2);
    let truth = ran(&model, ("grcr", "dop853"), 0.5, 1e-12).sample;
    within("friction, 1e-2 rad/s", &model, 0.5, &[1e-4, 1e-6, 1e-8], &truth, 1.0);
    let model = with("stiff_friction", "steep", 1e-5);
    let truth = radau(&model, 1.0, 1e-11);
    let growth = growth(&model, 1.0, 1e-11, &truth);
    println!("a disturbance grows {growth:.2} times");
    within("friction, 1e-5 rad/s", &model, 1.0, &[1e-4, 1e-6, 1e-8], &truth, growth);
}

#[test]
fn the_strip_of_fifty_links_agrees_with_joint_coordinates_and_with_itself() {
    let model = model("stiff_beam");
    let truth = ran(&model, ("grcr", "dop853"), 2e-3, 1e-12).sample;
    within("strip, 2 ms", &model, 2e-3, &[1e-4, 1e-6, 1e-8], &truth, 1.0);
    let truth = radau(&model, 0.1, 1e-10);
    within("strip, 0.1 s", &model, 0.1, &[1e-4, 1e-6, 1e-8], &truth, 1.0);
}

#[test]
fn the_rope_of_two_hundred_links_agrees_with_an_explicit_method_and_with_itself() {
    let model = model("stiff_cable");
    let truth = ran(&model, ("so3xr3", "dop853"), 1e-4, 1e-12).sample;
    within("rope, 0.1 ms", &model, 1e-4, &[1e-4, 1e-6], &truth, 1.0);
    let truth = radau(&model, 0.05, 1e-9);
    within("rope, 50 ms", &model, 0.05, &[1e-4, 1e-6], &truth, 1.0);
}

#[test]
fn stiff_models_are_built_without_doubt_and_run_as_their_files_say() {
    assert_eq!(stiff().len(), 5);
    for name in stiff() {
        let model = model(&name);
        let study = Study { t_end: 0.02, output_step: 0.01, ..Study::of(&model) };
        let (t, report) = run(&model, &study);
        assert!(t.len() == 3 && report.t == 0.02, "{name}");
    }
}
