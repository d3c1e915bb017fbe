//! `ra` in state space: independent velocities by a null-space basis of the constraint Jacobian, against references, against other
//! formulations, and by its own promises.

use fourbar::study::{Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::{assert_resumes, model, parse, reference, run, worst};

fn study(model: &Model, integrator: &str, tol: f64, t_end: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("ra".into()),
        integrator: Some(integrator.into()),
        step: None,
        tol: Some(tol),
        t_end,
        options: Vec::new(),
        ..Study::of(model)
    }
}

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

/// Open, closed, over-constrained and spatial mechanisms against their independent references; errors fall with the tolerance.
#[test]
fn references_are_reached() {
    for (name, until) in [
        ("ra_double_pendulum", 2.0),
        ("a01_simple_pendulum", 10.0),
        ("a02_n_fourbar_N2", 4.0),
        ("dca_five_bar", 5.0),
        ("grcr_five_bar", 2.0),
        ("nc_rscr", 2.0),
        ("lie_closed_3bar", 1.0),
        ("nc_free_top", 2.0),
        ("lie_two_floating_bodies", 2.0),
        ("a04_bricard", 3.0),
    ] {
        let model = model(name);
        let error = |integrator: &str, tol: f64| {
            let (t, report) = run(&model, &study(&model, integrator, tol, until));
            assert!(report.notes.iter().any(|n| n.starts_with("state space: ")), "{name}: {:?}", report.notes);
            let (d, count) = worst(&t, &reference(name), until, positions);
            assert!(count > 10, "{name}: {count}");
            d
        };
        let (coarse, fine) = (error("dopri5", 1e-6), error("dop853", 1e-10));
        assert!(coarse < 2e-4 && fine < 2e-7, "{name}: {coarse:.1e} {fine:.1e}");
        assert!(fine < coarse, "{name}");
    }
}

/// Positions, velocities and accelerations satisfy the constraints at every output: there is nothing to drift.
#[test]
fn constraints_hold_to_rounding_over_a_long_run() {
    let model = model("dca_five_bar");
    let (t, _) = run(&model, &study(&model, "dopri5", 1e-5, 30.0));
    for (column, most) in [("error.position", 1e-12), ("error.velocity", 1e-11), ("error.acceleration", 1e-9)] {
        let worst = t.column(column).unwrap_or_else(|| panic!("{column}")).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(worst < most, "{column}: {worst:e}");
    }
}

/// Drives: a motor on one of two freedoms, and one that leaves none; work and efforts as in the index-3 form.
#[test]
fn driven_mechanisms_agree_with_the_index_3_form() {
    let double = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  a: {mass: 2, inertia: [0.2, 0.2, 0.02], at: [0.5, 0, 0]}
  b: {mass: 1, inertia: [0.1, 0.1, 0.01], at: [1.5, 0, 0]}
joints:
  p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}
  q: {type: spherical, bodies: [a, b], at: [1, 0, 0]}
drives: {m: {joint: p, angle: 0.5*sin(3*t)}}
study: {t_end: 1, output_step: 0.1, analysis: dynamics}
",
    );
    for model in [double, model("ra_slider_crank")] {
        let (a, _) = run(&model, &study(&model, "dop853", 1e-10, 1.0));
        let fine = Study { integrator: Some("radau".into()), ..study(&model, "radau", 1e-10, 1.0) };
        let (b, _) = run(&model, &fine);
        for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| !c.name.starts_with("error.")) {
            let size = b.values[k].iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            let d = a.values[k].iter().zip(&b.values[k]).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
            assert!(d < 2e-6 * size, "{} {}: {d:e} of {size:e}", model.title, c.name);
        }
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_bit() {
    for name in ["dca_five_bar", "lie_closed_3bar"] {
        let model = model(name);
        let s = Study { output_step: 0.02, ..study(&model, "dopri5", 1e-7, 1.0) };
        assert_resumes(&model, &s, 17, name);
    }
}

/// Rolling leaves more positions than velocities: refused with a way out.
#[test]
fn constraints_on_velocities_are_refused() {
    let model = model("bicycle");
    let failed = fourbar::study::run(&model, &study(&model, "dopri5", 1e-6, 0.1), &mut Trajectory::default());
    let d = failed.map(|_| ()).expect_err("rolling is not carried").diagnostic;
    assert!(d.code.0 == "U302" && d.message.contains("`road_"), "{d}");
}
