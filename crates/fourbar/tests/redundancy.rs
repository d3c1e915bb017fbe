//! Redundant constraints and singular positions.
#![allow(non_snake_case)]

use fourbar::Model;
use fourbar::analysis::assembly::assemble;
use fourbar::analysis::rank::{dense_jacobian, mobility, rank};
use fourbar::analysis::uniqueness::not_unique;
use fourbar::constraint::ConstraintSet;
use fourbar::motion::{Loads, Reaction};
use fourbar::study::Study;
use fourbar_testing::common;
use fourbar_testing::common::*;

#[test]
fn mobility_and_rank_of_known_mechanisms() {
    // Rows, rank and mobility from the sources of the models.
    for (name, rows, rank_, free) in [
        ("a02_n_fourbar_N2", 35, 29, 1),
        ("a04_bricard", 30, 29, 1),
        ("dca_five_bar", 25, 22, 2),
        ("dca_double_loop", 50, 44, 4),
        ("nc_closed_chain_robot", 45, 42, 6),
        ("andrews", 50, 41, 1),
        ("nc_rscr", 17, 17, 1),
        ("lie_closed_3bar", 9, 9, 3),
    ] {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let m = mobility(&model, &start, false);
        assert_eq!((m.generic.rows, m.generic.rank, m.generic.mobility()), (rows, rank_, free), "{name}");
        assert_eq!(m.by_count, (6 * model.moving()) as i64 - rows as i64);
    }
}

#[test]
fn a_singular_start_does_not_mislead() {
    // The ladder drawn flat: two more instantaneous motions at that pose than nearby.
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/a02_n_fourbar_N2.yaml")).expect("shipped");
    let upright = parse(&text);
    let mut start = assemble(&upright).expect("assembles").configuration;
    // Turn every crank by a quarter and lower the couplers.
    for (b, body) in upright.bodies.iter().enumerate().skip(1) {
        let q = &mut start.q[b];
        if body.name.starts_with("crank") {
            let foot = q.r - nalgebra::Vector3::new(0.0, 0.5, 0.0);
            q.A = fourbar_math::so3::exp(&(nalgebra::Vector3::z() * -std::f64::consts::FRAC_PI_2)) * q.A;
            q.r = foot + nalgebra::Vector3::new(0.5, 0.0, 0.0);
        } else {
            q.r += nalgebra::Vector3::new(1.0, -1.0, 0.0);
        }
    }
    let m = mobility(&upright, &start, false);
    assert_eq!(m.start.mobility(), 3);
    assert!(m.singular_start && m.generic.mobility() == 1, "generic mobility {}", m.generic.mobility());
}

#[test]
fn sparse_probing_finds_the_same_mobility_as_singular_values() {
    let model = model("a02_n_fourbar_N40");
    let start = assemble(&model).expect("assembles").configuration;
    let set = ConstraintSet::new(model.constraints(false), |_| false);
    let r = rank(&model, &set, &start.q);
    assert_eq!((r.rows, r.rank, r.mobility()), (605, 485, 1));
    assert!(r.smallest.is_none());
}

#[test]
fn unique_components_are_those_orthogonal_to_all_self_stresses() {
    for name in
        ["a02_n_fourbar_N2", "a04_bricard", "dca_five_bar", "dca_double_loop", "nc_closed_chain_robot", "nc_rscr", "andrews", "fourbar_3d"]
    {
        let model = model(name);
        let start = assemble(&model).expect("assembles").configuration;
        let found = not_unique(&model, &start);
        // Brute force: the null space of the transposed Jacobian by singular values, rows unscaled again.
        let set = ConstraintSet::new(model.constraints(true), |_| false);
        let mut G = vec![0.0; set.values];
        set.jacobian(&start.q, &mut G);
        let mut norms = vec![0.0; set.rows()];
        for c in 0..set.list.len() {
            for b in set.blocks_of(c) {
                for r in 0..set.row_start[c + 1] - set.row_start[c] {
                    norms[set.row_start[c] + r] +=
                        (0..6).map(|k| (G[b.start + 6 * r + k] / if k < 3 { 1.0 } else { model.length }).powi(2)).sum::<f64>();
                }
            }
        }
        let null = fourbar_math::dense::rank(&dense_jacobian(&model, &set, &start.q).transpose(), 1e-8).null;
        let loads = Loads::new(&model, &set);
        for (k, joint) in model.joints.iter().enumerate() {
            let mut touched = [false; 6];
            for z in null.column_iter() {
                let lambda: Vec<f64> = z.iter().zip(&norms).map(|(z, n)| z / n.sqrt()).collect();
                let size = lambda.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
                let Reaction { force, torque } = loads.reaction(&model, &set, k, &start.q, &lambda);
                for i in 0..3 {
                    touched[i] |= force[i].abs() > 1e-6 * size;
                    touched[3 + i] |= torque[i].abs() > 1e-6 * size * model.length;
                }
            }
            let names = ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"];
            let expected: Vec<&str> = (0..6).filter(|&i| touched[i]).map(|i| names[i]).collect();
            let got: Vec<&str> =
                found.iter().find(|(n, _)| *n == joint.name).map(|(_, c)| c.iter().map(String::as_str).collect()).unwrap_or_default();
            assert_eq!(got, expected, "{name} {}", joint.name);
        }
    }
}

#[test]
fn the_ladder_passes_its_singular_positions_on_the_right_branch_at_every_step_size() {
    let name = "a02_n_fourbar_N2";
    let model = model(name);
    let r = reference(name);
    let tip = |c: &str| c == "B0.x" || c == "B0.y";
    // Tip errors after ten passages; a wrong branch would show as an error of the size of a link.
    for (h, limit) in [(1e-2, 2.5e-2), (5e-3, 6e-3), (1e-3, 2.5e-4)] {
        let (t, report) = run(&model, &Study { step: Some(h), ..Study::of(&model) });
        let (e, _) = worst(&t, &r, 10.0, tip);
        assert!(e < limit, "h = {h}: {e:.2e}");
        assert_eq!(report.singular.len(), 10, "h = {h}");
        // First passage from the closed form.
        assert!((report.singular[0].time - 0.714355529293).abs() < 0.02 * h.max(1e-3), "h = {h}: {}", report.singular[0].time);
        assert!(report.singular[0].joints.len() >= 4);
    }
    // Adaptive runs take steps near 1e-2, 5e-3 and 7e-4.
    for (tol, limit) in [(1e-5, 0.3), (1e-6, 5e-2), (1e-8, 3e-3)] {
        let (t, report) = run(&model, &Study { formulation: Some("ra".into()), step: None, tol: Some(tol), ..Study::of(&model) });
        let (e, _) = worst(&t, &r, 10.0, tip);
        assert!(e < limit && report.singular.len() == 10, "tol = {tol}: {e:.2e}, {} found", report.singular.len());
    }
    // Steps accepted above the tolerance are counted and reported; a run without singular positions has none.
    let said = |name: &str| {
        let model = common::model(name);
        run(&model, &Study { formulation: Some("ra".into()), step: None, tol: Some(1e-6), ..Study::of(&model) })
            .1
            .warnings
            .iter()
            .any(|w| w.code.0 == "W232")
    };
    assert!(said(name) && !said("ra_double_pendulum"));
    // Backward Euler loses energy and would not pass the top again: only its first passages count.
    for (integrator, t_end) in [("bdf2", 3.0), ("backward-euler", 1.5)] {
        let (t, _) = run(&model, &Study { step: Some(2.5e-4), t_end, integrator: Some(integrator.into()), ..Study::of(&model) });
        let (e, _) = worst(&t, &r, t_end, tip);
        assert!(e < 0.1, "{integrator}: {e:.2e}");
    }
}

#[test]
fn a_dead_point_is_reported_with_time_and_joints() {
    // A slider-crank driven by its slider: the crank cannot be pulled beyond the stretched position at 0.3 m.
    let model = parse(
        "
fourbar: 1
gravity: [0, 0, 0]
bodies:
  crank: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0.05, 0]}
  rod: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.08660254037844387, 0.05, 0]}
  slider: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.17320508075688773, 0, 0]}
joints:
  pin: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  big: {type: revolute, bodies: [crank, rod], at: [0, 0.1, 0], axis: [0, 0, 1]}
  small: {type: revolute, bodies: [rod, slider], at: [0.17320508075688773, 0, 0], axis: [0, 0, 1]}
  guide: {type: prismatic, bodies: [ground, slider], at: [0.17320508075688773, 0, 0], axis: [1, 0, 0]}
drives: {pull: {joint: guide, distance: 0.1*t}}
study: {analysis: kinematics, t_end: 2, output_step: 0.01}
",
    );
    let mut t = fourbar::Trajectory::default();
    let f = fourbar::study::run(&model, &Study::of(&model), &mut t).expect_err("cannot stretch beyond 0.3 m");
    assert_eq!(f.diagnostic.code.0, "S220");
    // Stretched when 0.17320508 + 0.1 t = 0.3.
    let time = f.diagnostic.time.expect("a time");
    assert!((time - 1.2679491924).abs() < 1e-3, "{time}");
    assert!(f.diagnostic.names.iter().any(|n| n == "pull"), "{:?}", f.diagnostic.names);
    assert!(t.len() > 120);
}

#[test]
fn free_motions_are_named() {
    let model = model("dca_five_bar");
    let mut t = fourbar::Trajectory::default();
    let study = Study { analysis: Some(fourbar::study::Analysis::Kinematics), ..Study::of(&model) };
    let f = fourbar::study::run(&model, &study, &mut t).expect_err("nothing drives it");
    assert_eq!(f.diagnostic.code.0, "S221");
    assert!(f.diagnostic.message.contains("2 motions"), "{}", f.diagnostic);
    assert_eq!(f.diagnostic.names.len(), 2);
}

/// Explicit methods step over the singular positions of the ladder, and find all of them at any step.
#[test]
fn long_steps_do_not_hide_singular_positions() {
    let model = model("a02_n_fourbar_N2");
    let of_file = Study::of(&model);
    let (_, exact) =
        run(&model, &Study { formulation: Some("ra".into()), integrator: None, step: Some(1e-3), tol: None, ..of_file.clone() });
    assert_eq!(exact.singular.len(), 10);
    for (formulation, integrator, tol) in
        [("lie", "dopri5", 1e-8), ("lie", "dop853", 1e-6), ("lie", "dop853", 1e-10), ("se3", "dopri5", 1e-6), ("so3xr3", "dopri5", 1e-7)]
    {
        let study = Study {
            formulation: Some(formulation.into()),
            integrator: Some(integrator.into()),
            step: None,
            tol: Some(tol),
            ..of_file.clone()
        };
        let (_, report) = run(&model, &study);
        let times: Vec<f64> = report.singular.iter().map(|s| s.time).collect();
        assert_eq!(times.len(), 10, "{formulation} {integrator} {tol:.0e}: {times:?}");
        for (found, exact) in report.singular.iter().zip(&exact.singular) {
            // rA with this step is late by a thousandth at the end.
            assert!((found.time - exact.time).abs() < 5e-3 && found.joints.len() >= 4, "{formulation} {integrator} {tol:.0e}: {times:?}");
        }
    }
    // A mechanism without singular positions reports none.
    let model = common::model("fourbar_3d");
    let study =
        Study { formulation: Some("lie".into()), integrator: Some("dop853".into()), step: None, tol: Some(1e-6), ..Study::of(&model) };
    assert!(run(&model, &study).1.singular.is_empty());
}

/// A run that is interrupted and resumed gives the same bits as one that is not.
#[test]
fn resuming_continues_the_same_run() {
    for (name, step, integrator) in [
        ("a02_n_fourbar_N2", Some(5e-3), "gen-alpha"),
        ("a04_bricard", None, "gen-alpha"),
        ("a05_flyball_governor", Some(2e-3), "gen-alpha"),
        ("ra_double_pendulum", Some(1e-3), "bdf2"),
    ] {
        let model = model(name);
        let study = Study { step, tol: Some(1e-5), t_end: 2.0, output_step: 0.1, integrator: Some(integrator.into()), ..Study::of(&model) };
        assert_resumes(&model, &study, 9, name);
    }
}

/// The choice depends on the end time of a run, which may differ in the resumed run.
#[test]
fn a_resumed_run_keeps_what_was_chosen() {
    let model = parse(
        "
fourbar: 1
bodies: {ball: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 1.01]}}
forces: {spring: {type: spring, between: [{body: ground}, {body: ball}], stiffness: 1e8, length: 1}}
study: {t_end: 10, output_step: 1 ms, tol: 1e-4}
",
    );
    let go = |t_end: f64, checkpoint: Option<&str>| {
        let mut r = Stopping::after(3);
        let study = Study { t_end, ..Study::of(&model) };
        let report = fourbar::study::run_from(&model, &study, checkpoint, &mut r).unwrap_or_else(|f| panic!("{}", f.diagnostic));
        (r, report)
    };
    let (first, before) = go(10.0, None);
    let (_, afresh) = go(1000.0, None);
    assert_ne!(before.formulation, afresh.formulation);
    let (rest, after) = go(1000.0, Some(&first.checkpoint));
    assert_eq!((after.formulation, after.integrator, &after.notes[0]), (before.formulation, before.integrator, &before.notes[0]));
    assert_eq!(rest.rows[0][0], 3e-3);
}

/// Checkpoints of another mechanism, of another formulation with the same state size, or without a step size.
#[test]
fn a_checkpoint_that_does_not_fit_is_refused() {
    let (bricard, five_bar) = (model("a04_bricard"), model("dca_five_bar"));
    let with = |m: &Model, formulation: &str| Study {
        formulation: Some(formulation.into()),
        integrator: None,
        step: None,
        t_end: 0.5,
        output_step: 0.1,
        ..Study::of(m)
    };
    let refused = |m: &Model, formulation: &str, checkpoint: &str| {
        fourbar::study::run_from(m, &with(m, formulation), Some(checkpoint), &mut fourbar::Trajectory::default())
            .expect_err("it does not fit")
            .diagnostic
    };
    for formulation in ["ra", "se3"] {
        let mut r = Stopping::after(3);
        fourbar::study::run_from(&bricard, &with(&bricard, formulation), None, &mut r).unwrap_or_else(|f| panic!("{}", f.diagnostic));
        let mut damaged: serde_json::Value = serde_json::from_str(&r.checkpoint).expect("JSON");
        // Methods for first-order systems store it in their track.
        let motion = &mut damaged["engine"]["motion"];
        let of = if motion["track"].is_object() { &mut motion["track"] } else { motion };
        of["h"] = serde_json::Value::Null;
        for (m, formulation, checkpoint, why) in [
            (&five_bar, formulation, &r.checkpoint, "another mechanism"),
            (&bricard, "so3xr3", &r.checkpoint, "another formulation"),
            (&bricard, formulation, &damaged.to_string(), "steps are missing"),
            (&bricard, formulation, &r.checkpoint[..1000].to_string(), "not complete"),
        ] {
            let d = refused(m, formulation, checkpoint);
            assert!(d.code.0 == "S240" && d.message.contains(why), "{formulation}: {d}");
        }
    }
}
