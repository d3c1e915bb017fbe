//! Motions by divide and conquer: references, agreement with rA, drift, singular positions, resuming.

use fourbar::study::Study;
use fourbar_testing::common::*;

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

fn largest(t: &fourbar::Trajectory, column: &str) -> f64 {
    let k = t.find(column).unwrap_or_else(|| panic!("no column {column}"));
    (0..t.len()).map(|i| t.row(i)[k].abs()).fold(0.0, f64::max)
}

/// Every shipped model over a short span against rA by extrapolation: gears, rolling, screws, friction, springs, drives.
#[test]
fn every_shipped_model_moves_as_in_ra() {
    let mut bad = Vec::new();
    for name in shipped() {
        let model = model(&name);
        // Large models are compared over a shorter span: their steps cost more.
        let span = Study::of(&model).t_end * if model.moving() > 30 { 2e-3 } else { 1e-2 };
        let at = |formulation: &str, step: Option<f64>| Study {
            formulation: Some(formulation.into()),
            step,
            output_step: span,
            ..study(&model, span, 1e-10, &[])
        };
        let (ours, report) = run(&model, &at("dca", None));
        let (coarse, _) = run(&model, &at("ra", Some(span / 40.0)));
        let (fine, _) = run(&model, &at("ra", Some(span / 80.0)));
        let exact = extrapolate(&coarse, &fine);
        let last = ours.len() - 1;
        let (mut moved, mut d, mut r, mut force) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for (k, c) in ours.columns.iter().enumerate() {
            let (x, y) = (ours.row(last)[k], exact.row(last)[k]);
            if c.name.contains(".r.") {
                moved = moved.max((x - ours.row(0)[k]).abs());
                d = d.max((x - y).abs());
            }
            if c.name.contains(".force.") || c.name.ends_with(".effort") {
                force = force.max(y.abs());
                r = r.max((x - y).abs());
            }
        }
        let line = format!("{name}: moved {moved:.1e}, positions {d:.1e}, forces {:.1e} of {force:.1e}", r / force.max(1e-300));
        println!("{line}");
        // Extrapolation leaves errors of h^3 to h^4 in the motion, and more in the forces; forces that are not unique have another metric.
        if d.is_nan() || d > 1e-6 * moved + 1e-10 || (report.redundant == 0 && r > 1e-4 * force) {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Projection satisfies the constraints to rounding; stabilisation keeps the errors small; without either they drift.
#[test]
fn drift_without_stabilised_and_projected() {
    for name in ["dca_five_bar", "dca_double_loop"] {
        let model = model(name);
        let drift = |options: &[(&str, &str)]| {
            let (t, _) = run(&model, &study(&model, 10.0, 1e-6, options));
            ["error.position", "error.velocity"].map(|c| largest(&t, c))
        };
        let projected = drift(&[]);
        let stabilised = drift(&[("projection", "stabilised"), ("Omega", "10")]);
        let none = drift(&[("projection", "none")]);
        println!("{name}: {projected:?} {stabilised:?} {none:?}");
        assert!(projected[0] < 1e-14 && projected[1] < 1e-13, "{name}: {projected:?}");
        assert!(stabilised[0] < 0.3 * none[0] && none[0] > 1e-8, "{name}: {stabilised:?} {none:?}");
    }
}

#[test]
fn rk4_with_projection_has_fourth_order() {
    let name = "dca_five_bar";
    let model = model(name);
    let error = |h: f64| {
        let s = Study { integrator: Some("rk4".into()), step: Some(h), tol: None, ..study(&model, 2.0, 1e-6, &[]) };
        worst(&run(&model, &s).0, &reference(name), 2.0, positions).0
    };
    let (coarse, fine) = (error(0.025), error(0.0125));
    let order = (coarse / fine).log2();
    assert!((3.6..5.0).contains(&order), "order {order:.2}: {coarse:.1e}, {fine:.1e}");
}

#[test]
fn the_penalty_of_the_paper_and_seven_coordinates_reach_the_reference() {
    let name = "dca_five_bar";
    let model = model(name);
    for options in [vec![("alpha", "1e6")], vec![("alpha", "1e5")], vec![("alpha", "1e7")], vec![("coordinates", "7")]] {
        let (t, report) = run(&model, &study(&model, 10.0, 1e-9, &options));
        let (e, _) = worst(&t, &reference(name), 10.0, positions);
        let mean = report.work.iter().find(|w| w.0 == "mean_iterations").expect("counted").1;
        assert!(e < 1e-7 && mean < 5.0, "{options:?}: {e:.1e}, {mean:.2} iterations");
    }
}

/// All ten passages of the two-cell ladder through its stretched positions are reported, and the motion continues.
#[test]
fn singular_positions_are_told_and_passed() {
    let name = "a02_n_fourbar_N2";
    let model = model(name);
    for tol in [1e-6, 1e-9] {
        let (t, report) = run(&model, &study(&model, 10.0, tol, &[]));
        assert_eq!(report.singular.len(), 10, "{:?}", report.singular);
        assert!(report.singular.iter().all(|s| s.joints.len() >= 4));
        // From the closed form; states between steps are cubics.
        assert!((report.singular[0].time - 0.714355529293).abs() < 1e-4, "{}", report.singular[0].time);
        let e = t.find("energy.total").expect("energy");
        let drift = (0..t.len()).map(|k| (t.row(k)[e] - t.row(0)[e]).abs()).fold(0.0, f64::max);
        assert!(drift < 1e4 * tol, "energy drifts by {drift:.1e} J");
    }
}

/// Forty cells have 600 rows: size does not hide singular positions. Mechanisms of constant rank report none.
#[test]
fn singular_positions_are_told_at_any_size_and_only_there() {
    let large = model("a02_n_fourbar_N40");
    let (_, report) = run(&large, &study(&large, 2.0, 1e-7, &[]));
    let times: Vec<f64> = report.singular.iter().map(|s| s.time).collect();
    assert!(!times.is_empty() && times.windows(2).all(|w| w[1] > w[0] + 0.1), "{times:?}");
    for (name, end) in [("dca_five_bar", 10.0), ("dca_double_loop", 5.0), ("a04_bricard", 3.0), ("andrews", 0.05)] {
        let model = model(name);
        let (_, report) = run(&model, &study(&model, end, 1e-7, &[]));
        assert!(report.singular.is_empty(), "{name}: {:?}", report.singular);
    }
}

/// A run continued from a checkpoint is the same run to the bit, and finds the same singular positions.
#[test]
fn resuming_continues_the_same_run() {
    for (name, integrator, step) in [
        ("dca_five_bar", "dopri5", None),
        ("a02_n_fourbar_N2", "rk4", Some(5e-3)),
        ("a04_bricard", "dop853", None),
        ("ra_four_link_primitives", "dopri5", None),
    ] {
        let model = model(name);
        let s = Study { integrator: Some(integrator.into()), step, output_step: 0.1, ..study(&model, 2.0, 1e-6, &[]) };
        assert_resumes(&model, &s, 12, name);
    }
}

#[test]
fn the_ladder_of_forty_cells_reaches_its_reference() {
    let name = "a02_n_fourbar_N40";
    let model = model(name);
    let (t, _) = run(&model, &Study { output_step: 0.025, ..study(&model, 2.0, 1e-8, &[]) });
    let (e, count) = worst(&t, &reference(name), 2.0, |c| c.starts_with("B0.") && positions(c));
    assert!(count >= 8 && e < 1e-6, "tip: {e:.2e} over {count}");
}

#[test]
fn options_out_of_range_are_refused() {
    let model = model("dca_five_bar");
    for options in [[("projection", "sometimes")], [("alpha", "-1")], [("iterations", "0")], [("coordinates", "8")], [("stages", "x")]] {
        let mut t = fourbar::Trajectory::default();
        let failed = fourbar::study::run(&model, &study(&model, 1.0, 1e-6, &options), &mut t).expect_err("refused");
        assert_eq!(failed.diagnostic.code.0, "U304", "{options:?}");
    }
}
