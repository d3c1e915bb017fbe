//! Natural coordinates.
mod common;
use fourbar::analysis::assembly::assemble;
use fourbar::formulation::natural::{Choice, System};

#[test]
fn explore() {
    let mut names: Vec<String> = std::fs::read_dir("../../models")
        .unwrap()
        .filter_map(|e| e.unwrap().file_name().into_string().ok()?.strip_suffix(".yaml").map(String::from))
        .collect();
    names.sort();
    for name in names {
        let m = common::model(&name);
        let a = assemble(&m).expect("assembles");
        for (w, c) in [
            ("", Choice::default()),
            ("par", Choice { parallelograms: true, ..Choice::default() }),
            ("unassigned", Choice { assign: false, ..Choice::default() }),
            ("twelve", Choice { twelve: true, ..Choice::default() }),
        ] {
            match System::new(&m, &a.configuration, c) {
                Ok(s) => {
                    let (q, n) = s.size();
                    println!(
                        "{name} {w}: {q}/{n}/{} rows {} dropped {:?} planar {} sing {}",
                        q + n,
                        s.rows.len(),
                        s.dropped().count(),
                        s.planar,
                        s.singular_start
                    );
                    if std::env::var("SHOW").is_ok_and(|x| x == name) {
                        for l in s.describe() {
                            println!("   {l}");
                        }
                    }
                    match s.record() {
                        Ok(_) => {}
                        Err(e) => println!("   RECORD {e}"),
                    }
                }
                Err(d) => println!("{name} {w}: {d}"),
            }
        }
    }
}

#[test]
fn explore_references() {
    for (name, until) in [
        ("ra_double_pendulum", 5.0),
        ("a01_simple_pendulum", 10.0),
        ("a02_n_fourbar_N2", 10.0),
        ("a03_andrews_beta0_m0p0620", 0.05),
        ("andrews", 0.05),
        ("a04_bricard", 10.0),
        ("a04_bricard_thin", 10.0),
        ("dca_five_bar", 10.0),
        ("dca_double_loop", 10.0),
        ("grcr_five_bar", 2.0),
        ("lie_heavy_top", 1.0),
        ("lie_spherical_double_pendulum", 0.8),
        ("lie_two_floating_bodies", 5.0),
        ("lie_closed_3bar", 2.0),
        ("nc_free_top", 10.0),
        ("nc_rscr", 3.0),
        ("nc_closed_chain_robot", 0.6),
        ("ra_single_pendulum", 3.0),
        ("ra_four_link", 3.0),
        ("ra_slider_crank", 3.0),
        ("a05_flyball_governor", 10.0),
        ("a02_n_fourbar_N40", 10.0),
    ] {
        let m = common::model(name);
        let r = std::panic::catch_unwind(|| {
            let mut study = fourbar::study::Study {
                formulation: Some("natural".into()),
                integrator: None,
                analysis: Some(fourbar::study::Analysis::Dynamics),
                t_end: until,
                tol: Some(1e-11),
                step: None,
                ..fourbar::study::Study::of(&m)
            };
            let reference = common::reference(name);
            study.output_step = (reference.rows[1][0] - reference.rows[0][0]).min(study.output_step);
            let clock = std::time::Instant::now();
            let (t, rep) = common::run(&m, &study);
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            let pos = |c: &str| matches!(c.rsplit_once('.').map(|x| x.1), Some("x" | "y" | "z" | "e0" | "e1" | "e2" | "e3"));
            let (d, n) = common::worst(&t, &reference, until, pos);
            let (dv, _) = common::worst(&t, &reference, until, |c| !pos(c));
            println!(
                "{name}: pos {d:.1e} ({n}) other {dv:.1e}  {ms:.0} ms  {:?} {:?} sing {:?}",
                rep.work.iter().take(3).map(|w| w.1).collect::<Vec<_>>(),
                rep.notes,
                rep.singular.len()
            );
        });
        if r.is_err() {
            println!("{name} FAILED");
        }
    }
}
