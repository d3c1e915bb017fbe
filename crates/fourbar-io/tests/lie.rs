mod common;
use common::*;
use fourbar::study::Study;

#[test]
fn explore() {
    let opts = |s: &str| vec![("constraints".to_string(), s.to_string())];
    for name in [
        "lie_heavy_top",
        "lie_spherical_double_pendulum",
        "lie_two_floating_bodies",
        "lie_closed_3bar",
        "a04_bricard",
        "dca_five_bar",
        "nc_rscr",
    ] {
        let m = model(name);
        for f in ["se3", "so3xr3", "lie"] {
            for c in ["none", "baumgarte", "project"] {
                let study = Study {
                    formulation: Some(f.into()),
                    integrator: Some("rk4".into()),
                    step: Some(1e-3),
                    t_end: 1.0,
                    output_step: 0.01,
                    options: opts(c),
                    ..Study::of(&m)
                };
                let (tr, report) = run(&m, &study);
                let e = tr.column("energy.total").unwrap();
                let drift = e.iter().fold(0.0_f64, |s, x| s.max((x - e[0]).abs()));
                let g = tr.column("error.position").unwrap().iter().fold(0.0_f64, |s, x| s.max(*x));
                let gv = tr.column("error.velocity").unwrap().iter().fold(0.0_f64, |s, x| s.max(*x));
                println!(
                    "{name:30} {f:7} {c:10} E0 {:.5e} dE {drift:.2e} g {g:.2e} gv {gv:.2e} {:?} {:?}",
                    e[0],
                    report.notes,
                    report.work.iter().map(|w| w.1).collect::<Vec<_>>()
                );
            }
        }
    }
}
