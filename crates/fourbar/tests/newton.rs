//! Newton's iteration of the implicit formulations: the requested matrix and stopping rule.

use fourbar::analysis::assembly::assemble;
use fourbar::integrator::Method;
use fourbar::integrator::index3::{IterationMatrix, Norm, Stepper};
use fourbar::study::{Analysis, Study};
use fourbar::{Diagnostic, Model, Trajectory};
use fourbar_testing::common::{model, parse, run};

fn with(model: &Model, integrator: &str, step: f64, t_end: f64, options: &[(&str, &str)]) -> Study {
    let options = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("ra".into()),
        integrator: Some(integrator.into()),
        step: Some(step),
        t_end,
        output_step: t_end / 5.0,
        options,
        ..Study::of(model)
    }
}

fn work(report: &fourbar::study::Report, key: &str) -> f64 {
    report.work.iter().find(|(k, _)| k == key).map_or(f64::NAN, |(_, x)| *x)
}

fn refused(model: &Model, study: &Study) -> Diagnostic {
    match fourbar::study::run(model, study, &mut Trajectory::default()) {
        Err(failed) => *failed.diagnostic,
        Ok(_) => panic!("{:?} was taken", study.options),
    }
}

/// Largest difference of two runs in positions of bodies.
fn apart(a: &Trajectory, b: &Trajectory) -> f64 {
    let places = a.columns.iter().enumerate().filter(|(_, c)| c.name.contains(".r."));
    places.flat_map(|(k, _)| a.values[k].iter().zip(&b.values[k]).map(|(x, y)| (x - y).abs()).collect::<Vec<_>>()).fold(0.0, f64::max)
}

/// The same motion with every matrix; the exact one is used in every step if requested, and never if only the other is allowed.
#[test]
fn the_matrix_is_the_one_asked_for_and_the_motion_the_same() {
    for name in ["ra_double_pendulum", "dca_five_bar", "ra_four_link"] {
        let model = model(name);
        let go = |matrix: &str| run(&model, &with(&model, "gen-alpha", 1e-3, 0.5, &[("matrix", matrix)]));
        let ((auto, _), (schur, by_schur), (exact, by_exact)) = (go("auto"), go("schur"), go("exact"));
        assert!(apart(&auto, &schur) == 0.0, "{name}");
        assert!(apart(&auto, &exact) < 1e-9, "{name}: {:e}", apart(&auto, &exact));
        assert_eq!(work(&by_schur, "steps_with_exact_matrix"), 0.0, "{name}");
        assert_eq!(work(&by_exact, "steps_with_exact_matrix"), work(&by_exact, "steps"), "{name}");
        assert!(work(&by_exact, "newton_iterations") <= work(&by_schur, "newton_iterations"), "{name}");
    }
}

/// A stiff damper: without its derivative in the matrix Newton needs far shorter steps, with it two or three iterations do.
#[test]
fn stiff_forces_need_the_exact_matrix() {
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {bob: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints: {pin: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}}
forces: {brake: {type: torsion, joint: pin, stiffness: 0, damping: 2000}}
study: {t_end: 0.1}
",
    );
    let iterations = |matrix: &str| {
        let (_, report) = run(&model, &with(&model, "backward-euler", 1e-2, 0.1, &[("matrix", matrix)]));
        work(&report, "newton_iterations")
    };
    // The step is divided until the other matrix converges.
    let (schur, exact) = (iterations("schur"), iterations("exact"));
    assert!(exact < 50.0 && schur > 5.0 * exact, "{schur} {exact}");
    assert!(iterations("auto") < 5.0 * exact);
}

/// [Kissel21, Eq. (46)]: corrections of accelerations and multipliers below Theta leave positions within Theta h^2 and velocities within
/// Theta h; smaller Theta takes more iterations.
#[test]
fn the_norm_of_the_paper_bounds_accelerations() {
    let model = model("ra_four_link");
    let start = assemble(&model).unwrap_or_else(|d| panic!("{d}")).configuration;
    let h = 5e-3;
    let step = |norm: Norm, correction: f64| {
        let mut s = Stepper::new(&model, &start, Method::BackwardEuler);
        (s.norm, s.correction, s.matrix) = (norm, correction, IterationMatrix::Schur);
        s.start(h);
        s.attempt(h).unwrap_or_else(|t| panic!("{t:?}"));
        s.accept(h).unwrap_or_else(|t| panic!("{t:?}"));
        s
    };
    let truth = step(Norm::Length, 1e-15);
    let mut last = 0;
    for theta in [1e2, 1e-1, 1e-4, 1e-7] {
        let s = step(Norm::Acceleration(Some(theta)), 0.0);
        let error = |a: &[fourbar::Pose], b: &[fourbar::Pose]| a.iter().zip(b).fold(0.0_f64, |m, (a, b)| m.max((a.r - b.r).amax()));
        let wrong = error(&s.memory.q, &truth.memory.q);
        // The correction below Theta has been applied: the remaining error is smaller by the rate of convergence.
        assert!(wrong <= theta * h * h, "{theta}: {wrong:e}");
        let speed = s.memory.velocities().iter().zip(truth.memory.velocities()).fold(0.0_f64, |m, (a, b)| m.max((a.v - b.v).amax()));
        assert!(speed <= theta * h, "{theta}: {speed:e}");
        assert!(s.work.iterations >= last, "{theta}");
        last = s.work.iterations;
    }
    assert!(last >= 3, "{last}");
    // Without a number the bound is that of the paper's figures, 1e-11 in positions.
    let usual = step(Norm::Acceleration(None), 0.0);
    let given = step(Norm::Acceleration(Some(1e-11 / (h * h))), 0.0);
    assert_eq!(usual.work, given.work);
}

#[test]
fn the_options_are_taken_by_name() {
    let model = model("dca_five_bar");
    let iterations =
        |options: &[(&str, &str)]| work(&run(&model, &with(&model, "backward-euler", 1e-3, 0.05, options)).1, "newton_iterations");
    let coarse = iterations(&[("norm", "acceleration"), ("theta", "1000")]);
    let fine = iterations(&[("norm", "acceleration"), ("theta", "1e-6")]);
    assert!(coarse < fine, "{coarse} {fine}");
    for (key, value) in [("matrix", "full"), ("norm", "2")] {
        assert_eq!(refused(&model, &with(&model, "gen-alpha", 1e-3, 0.05, &[(key, value)])).code.0, "U304");
    }
    for other in [("matrix", "exact"), ("norm", "acceleration")] {
        let d = refused(&model, &with(&model, "gen-alpha", 1e-3, 0.05, &[("index", "2"), other]));
        assert_eq!(d.code.0, "U304", "{d}");
    }
}
