//! Motions by divide and conquer: references, agreement with rA, drift, singular positions, resuming.

mod common;

use common::*;
use fourbar::study::Study;

fn study(model: &fourbar::Model, t_end: f64, tol: f64, options: &[(&str, &str)]) -> Study {
    Study {
        formulation: Some("dca".into()),
        integrator: None,
        analysis: Some(fourbar::study::Analysis::Dynamics),
        t_end,
        step: None,
        tol: Some(tol),
        options: options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        ..Study::of(model)
    }
}

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

/// Name, end of the comparison, tolerance of the run, largest difference of positions.
const REFERENCES: &[(&str, f64, f64, f64)] = &[
    ("ra_single_pendulum", 3.0, 1e-9, 1e-7),
    ("ra_four_link", 3.0, 1e-9, 1e-7),
    ("ra_slider_crank", 3.0, 1e-9, 1e-7),
    ("ra_double_pendulum", 5.0, 1e-9, 1e-6),
    ("ra_double_pendulum_exact_inertia", 5.0, 1e-9, 1e-6),
    ("a01_simple_pendulum", 10.0, 1e-9, 1e-6),
    ("a02_n_fourbar_N2", 10.0, 1e-9, 2e-6),
    ("a03_andrews_beta0_m0p0620", 0.05, 1e-9, 1e-6),
    ("andrews", 0.05, 1e-9, 1e-6),
    ("a04_bricard", 10.0, 1e-9, 1e-6),
    ("a04_bricard_thin", 10.0, 1e-9, 1e-6),
    ("dca_five_bar", 10.0, 1e-9, 1e-6),
    ("dca_double_loop", 10.0, 1e-9, 1e-6),
    ("grcr_five_bar", 2.0, 1e-9, 1e-6),
    ("lie_heavy_top", 1.0, 1e-9, 1e-6),
    ("lie_spherical_double_pendulum", 0.3, 1e-9, 1e-6),
    ("lie_two_floating_bodies", 5.0, 1e-10, 1e-6),
    ("lie_closed_3bar", 2.0, 1e-9, 1e-6),
    ("nc_free_top", 10.0, 1e-9, 1e-6),
    ("nc_rscr", 3.0, 1e-9, 1e-6),
    ("nc_closed_chain_robot", 0.6, 1e-9, 1e-6),
];

#[test]
fn references_are_reached() {
    let mut bad = Vec::new();
    for &(name, until, tol, limit) in REFERENCES {
        let model = model(name);
        let clock = std::time::Instant::now();
        let (trajectory, report) = run(&model, &study(&model, until, tol, &[]));
        let (e, count) = worst(&trajectory, &reference(name), until, positions);
        let work = |k: &str| report.work.iter().find(|w| w.0 == k).map_or(f64::NAN, |w| w.1);
        let errors = ["error.position", "error.velocity"]
            .map(|c| trajectory.find(c).map_or(f64::NAN, |k| (0..trajectory.len()).map(|i| trajectory.row(i)[k]).fold(0.0, f64::max)));
        let line = format!(
            "{name:<34} {e:.1e} over {count}  {} steps {} rejected {} failed  iterations {:.2} most {}  factors/step {:.2} passes {:.1} {:.1}  drift {:.0e} {:.0e}  singular {} near {}  {:.2} s  {:?}",
            work("steps"),
            work("rejected_steps"),
            work("failed_steps"),
            work("mean_iterations"),
            work("most_iterations"),
            work("factorisations") / work("steps"),
            work("mean_position_passes"),
            work("mean_velocity_passes"),
            errors[0],
            errors[1],
            report.singular.len(),
            work("near_singular_evaluations"),
            clock.elapsed().as_secs_f64(),
            report.notes
        );
        println!("{line}");
        if count < 30 || e.is_nan() || e > limit {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
