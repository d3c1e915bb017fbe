//! Natural coordinates.
mod common;
use common::*;
use fourbar::study::{Analysis, Study};

#[test]
fn explore_references() {
    for (name, until) in [("ra_double_pendulum",5.0),("ra_double_pendulum_exact_inertia",5.0),("a01_simple_pendulum",10.0),("a02_n_fourbar_N2",10.0),("a03_andrews_beta0_m0p0620",0.05),("andrews",0.05),("a04_bricard",10.0),("a04_bricard_thin",10.0),("dca_five_bar",10.0),("dca_double_loop",10.0),("grcr_five_bar",2.0),("lie_heavy_top",1.0),("lie_spherical_double_pendulum",0.8),("lie_two_floating_bodies",5.0),("lie_closed_3bar",2.0),("nc_free_top",10.0),("nc_rscr",3.0),("nc_closed_chain_robot",0.6),("ra_single_pendulum",3.0),("ra_four_link",3.0),("ra_slider_crank",3.0),("a05_flyball_governor",10.0),("a02_n_fourbar_N40",10.0)] {
        let m = common::model(name);
        for tol in [1e-13, 1e-12] {
        let r = std::panic::catch_unwind(|| {
        let mut study = Study { formulation: Some("natural".into()), integrator: None, analysis: Some(Analysis::Dynamics), t_end: until, tol: Some(tol), step: None, ..Study::of(&m) };
        let reference = common::reference(name);
        study.output_step = (reference.rows[1][0] - reference.rows[0][0]).min(study.output_step);
        let clock = std::time::Instant::now();
        let (t, rep) = common::run(&m, &study);
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        let kind = |c: &str| match c.rsplit_once('.').map(|x| x.1) { Some("x" | "y" | "z") => 0, Some("e0" | "e1" | "e2" | "e3") => 1, Some("vx"|"vy"|"vz") => 2, Some("wx"|"wy"|"wz") => 3, _ => 4 };
        let d: Vec<_> = (0..5).map(|k| common::worst(&t, &reference, until, |c| kind(c) == k)).map(|d| format!("{:.0e}({})", d.0, d.1)).collect();
        println!("{name} {tol:.0e}: {}  {ms:.0} ms  {:?} sing {:?}", d.join(" "), rep.work.iter().take(3).map(|w| w.1).collect::<Vec<_>>(), rep.singular.iter().map(|s| (s.time, s.joints.len())).collect::<Vec<_>>());
        });
        if r.is_err() { println!("{name} FAILED"); }
        }
    }
}
