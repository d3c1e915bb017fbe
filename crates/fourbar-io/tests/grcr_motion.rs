//! Motions in joint coordinates: references, laws, agreement of the treatments of loops, singular passages, resumed runs.

mod common;

use common::*;
use fourbar::study::{Analysis, Report, Study};
use fourbar::{Model, Trajectory};

fn study(model: &Model, until: f64, tol: f64) -> Study {
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: Some("grcr".into()),
        integrator: Some("dop853".into()),
        step: None,
        tol: Some(tol),
        t_end: until,
        ..Study::of(model)
    }
}

fn positions(c: &str) -> bool {
    matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"))
}

fn moved(name: &str, until: f64, tol: f64) -> (Trajectory, Report, f64) {
    let model = model(name);
    let (t, r) = run(&model, &study(&model, until, tol));
    let (e, count) = worst(&t, &reference(name), until, positions);
    assert!(count > 20, "{name}: {count}");
    (t, r, e)
}

/// Name, end of the comparison, tolerance of the run, and the difference from the reference that it must stay below.
///
/// The tolerance is per step and in units of the characteristic length; a hundred to a thousand steps and the growth of errors in the mechanism
/// itself lie between it and the result.
const REFERENCES: &[(&str, f64, f64, f64)] = &[
    ("ra_double_pendulum", 5.0, 1e-10, 1e-6),
    ("ra_double_pendulum_exact_inertia", 5.0, 1e-10, 1e-6),
    ("a01_simple_pendulum", 10.0, 1e-10, 1e-7),
    ("a02_n_fourbar_N2", 10.0, 1e-10, 1e-6),
    ("a03_andrews_beta0_m0p0620", 0.05, 1e-10, 1e-6),
    ("andrews", 0.05, 1e-10, 1e-6),
    ("a04_bricard", 10.0, 1e-10, 1e-6),
    ("a04_bricard_thin", 10.0, 1e-10, 1e-6),
    ("dca_five_bar", 10.0, 1e-10, 1e-6),
    ("dca_double_loop", 10.0, 1e-10, 1e-6),
    ("grcr_five_bar", 2.0, 1e-10, 1e-6),
    ("lie_heavy_top", 1.0, 1e-10, 1e-6),
    ("lie_spherical_double_pendulum", 0.3, 1e-10, 1e-6),
    ("lie_two_floating_bodies", 5.0, 1e-10, 1e-6),
    ("lie_closed_3bar", 2.0, 1e-10, 1e-6),
    ("nc_free_top", 10.0, 1e-10, 1e-6),
    ("nc_rscr", 3.0, 1e-10, 1e-6),
    ("nc_closed_chain_robot", 0.6, 1e-10, 1e-6),
];

#[test]
fn motions_reach_the_references() {
    let mut bad = Vec::new();
    for &(name, until, tol, limit) in REFERENCES {
        let clock = std::time::Instant::now();
        let (t, r, e) = moved(name, until, tol);
        let column = |c: &str| t.column(c).expect("a column").iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let energy = t.column("energy.total").expect("energy");
        let drift = energy.iter().map(|x| (x - energy[0]).abs()).fold(0.0, f64::max);
        let line = format!(
            "{name}: {e:.1e}, energy {drift:.1e}, closure {:.1e} {:.1e} {:.1e}, {:?} {:?} {:.2} s",
            column("error.position"),
            column("error.velocity"),
            column("error.acceleration"),
            r.work.iter().map(|w| format!("{} {}", w.0, w.1)).collect::<Vec<_>>(),
            r.singular.len(),
            clock.elapsed().as_secs_f64()
        );
        println!("{line}");
        if !(e < limit) {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
