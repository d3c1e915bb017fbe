//! Every reference trajectory, reached by the shipped model of the same name.

use fourbar::study::Study;
use fourbar_testing::common::*;

/// Driven mechanisms follow their closed forms to rounding: positions, velocities, accelerations, drive torque.
#[test]
fn kinematics_of_the_driven_mechanisms() {
    for name in ["ra_single_pendulum", "ra_four_link", "ra_slider_crank"] {
        let model = model(name);
        let (trajectory, report) = run(&model, &Study::of(&model));
        let (d, count) = worst(&trajectory, &reference(name), 3.0, |c| c != "tau_driver");
        assert!(count > 300 && d < 1e-9, "{name}: {d:.2e} over {count} values");
        // The torque of the reference is accurate to its linear algebra, about 1e-12 of its size (1e3 N m).
        let (d, count) = worst(&trajectory, &reference(name), 3.0, |c| c == "tau_driver");
        assert!(count > 30 && d < 1e-8, "{name} torque: {d:.2e}");
        let mean = report.work.iter().find(|w| w.0 == "mean_newton_iterations").expect("counted").1;
        assert!(mean < 4.0, "{name}: {mean} iterations");
    }
}

/// Name, step, end of the comparison, and the tolerance that the extrapolated result must meet.
///
/// A second-order method with step h and h/2 gives by extrapolation an error of order h^3 to h^4; the steps are chosen so that it is below
/// 1e-6. Chaotic and fast-spinning models are compared over the span in which that is meaningful.
const DYNAMICS: &[(&str, f64, f64, f64)] = &[
    ("ra_double_pendulum", 5e-4, 5.0, 1e-6),
    ("ra_double_pendulum_exact_inertia", 5e-4, 5.0, 1e-6),
    ("a01_simple_pendulum", 1e-3, 10.0, 1e-6),
    ("a02_n_fourbar_N2", 5e-4, 10.0, 1e-6),
    ("a03_andrews_beta0_m0p0620", 1e-5, 0.05, 1e-6),
    ("andrews", 1e-5, 0.05, 1e-6),
    ("a04_bricard", 1.25e-3, 10.0, 1e-6),
    ("a04_bricard_thin", 1.25e-3, 10.0, 1e-6),
    ("dca_five_bar", 2.5e-3, 10.0, 1e-6),
    ("dca_double_loop", 1.25e-3, 10.0, 1e-6),
    ("grcr_five_bar", 5e-4, 2.0, 1e-6),
    ("lie_heavy_top", 1e-4, 1.0, 1e-6),
    ("lie_spherical_double_pendulum", 5e-5, 0.3, 1e-6),
    ("lie_two_floating_bodies", 1e-4, 5.0, 1e-6),
    ("lie_closed_3bar", 1e-4, 2.0, 1e-6),
    ("nc_free_top", 2.5e-4, 10.0, 1e-6),
    ("nc_rscr", 1e-3, 3.0, 1e-6),
    ("nc_closed_chain_robot", 1e-3, 0.6, 1e-6),
];

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

#[test]
fn dynamics_reach_the_references_by_refining() {
    let mut lines = Vec::new();
    let mut bad = Vec::new();
    for &(name, h, until, tolerance) in DYNAMICS {
        let model = model(name);
        let mut study = Study { t_end: until, step: Some(h), ..Study::of(&model) };
        let (coarse, _) = run(&model, &study);
        study.step = Some(0.5 * h);
        let (fine, _) = run(&model, &study);
        let r = reference(name);
        let (e1, count) = worst(&coarse, &r, until, positions);
        let (e2, _) = worst(&fine, &r, until, positions);
        let (e, _) = worst(&extrapolate(&coarse, &fine), &r, until, positions);
        let line = format!("{name}: h {e1:.2e}, h/2 {e2:.2e}, extrapolated {e:.2e} over {count} values");
        if count < 40 || e.is_nan() || e > tolerance || e2 > 0.35 * e1.max(1e-9) {
            bad.push(line.clone());
        }
        lines.push(line);
    }
    assert!(bad.is_empty(), "{}\nall:\n{}", bad.join("\n"), lines.join("\n"));
}

/// The stiff governor: with the exact matrix, steps are far larger than the damper time constants of 1e-4 s.
#[test]
fn the_stiff_governor_reaches_its_reference() {
    let name = "a05_flyball_governor";
    let model = model(name);
    let mut study = Study { t_end: 10.0, step: Some(1.25e-3), ..Study::of(&model) };
    let (coarse, _) = run(&model, &study);
    study.step = Some(6.25e-4);
    let (fine, report) = run(&model, &study);
    assert!(report.work.iter().any(|w| w.0 == "steps_with_exact_matrix" && w.1 > 0.0));
    let (e, count) = worst(&extrapolate(&coarse, &fine), &reference(name), 10.0, |c| c == "s");
    assert!(count > 30 && e < 1e-6, "slider height: {e:.2e}");
}

/// The official size of the N-four-bar: 81 bodies, 605 rows of rank 485, passing rank-deficient positions.
#[test]
fn the_ladder_of_forty_cells_stays_on_its_branch() {
    let name = "a02_n_fourbar_N40";
    let model = model(name);
    let mut study = Study { t_end: 5.0, step: Some(2.5e-3), output_step: 0.025, ..Study::of(&model) };
    let (coarse, report) = run(&model, &study);
    assert_eq!((report.rows, report.redundant), (605, 120));
    assert!(!report.singular.is_empty());
    study.step = Some(1.25e-3);
    let (fine, _) = run(&model, &study);
    let (e, count) = worst(&extrapolate(&coarse, &fine), &reference(name), 5.0, |c| c.starts_with("B0.") && positions(c));
    assert!(count >= 20 && e < 1e-5, "tip: {e:.2e} over {count}");
}
