//! Motions in joint coordinates: references, laws, agreement of the loop treatments, passages of singular positions, resumed runs.

use fourbar::study::{Analysis, Report, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;

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
    ("dca_five_bar", 10.0, 1e-12, 1e-6),
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
        let (t, _, e) = moved(name, until, tol);
        let column = |c: &str| t.column(c).expect("a column").iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let line = format!("{name}: {e:.1e}, closure {:.1e} {:.1e}", column("error.position"), column("error.velocity"));
        // Loops are closed in every evaluation: to rounding, however the motion is integrated.
        if !(e < limit && column("error.position") < 1e-11 && column("error.velocity") < 1e-9) {
            bad.push(line);
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Columns of the last row that differ most between two runs, by kind of column; quaternions up to sign.
fn last_difference(a: &Trajectory, b: &Trajectory, choose: impl Fn(&str) -> bool) -> (f64, String) {
    assert_eq!(a.len(), b.len());
    let (x, y) = (a.row(a.len() - 1), b.row(b.len() - 1));
    let mut worst = (0.0, String::new());
    for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| choose(&c.name)) {
        let sign = match c.name.rsplit_once(".p.") {
            Some((body, _)) => {
                let first = a.find(&format!("{body}.p.0")).expect("a quaternion");
                (0..4).map(|i| x[first + i] * y[first + i]).sum::<f64>().signum()
            }
            None => 1.0,
        };
        let d = (x[k] - sign * y[k]).abs() / (1.0 + y[k].abs());
        assert!(d.is_finite(), "{}", c.name);
        if d > worst.0 {
            worst = (d, c.name.clone());
        }
    }
    worst
}

fn motion(c: &str) -> bool {
    [".r.", ".p.", ".v.", ".omega."].iter().any(|k| c.contains(k))
}

fn loads(c: &str) -> bool {
    [".a.", ".alpha.", ".force.", ".torque.", ".effort"].iter().any(|k| c.contains(k))
}

/// Accelerations, unique reactions and efforts at the start are those of absolute coordinates; reactions that are not unique are the smallest.
#[test]
fn the_first_instant_equals_that_of_absolute_coordinates() {
    let mut bad = Vec::new();
    for name in shipped() {
        let model = model(&name);
        let short = |formulation: &str, integrator: &str| {
            let s = Study { t_end: 1e-6, output_step: 1e-6, step: Some(1e-6), ..study(&model, 1e-6, 1e-6) };
            Study { formulation: Some(formulation.into()), integrator: Some(integrator.into()), ..s }
        };
        let (t, _) = run(&model, &short("grcr", "rk4"));
        let (r, report) = run(&model, &short("ra", "gen-alpha"));
        let open = |c: &str| report.not_unique.iter().any(|(j, list)| list.iter().any(|x| *c == format!("{j}.{x}")));
        let first = |t: &Trajectory| {
            let mut start = Trajectory::new(t.columns.clone());
            start.push(&t.row(0));
            start
        };
        let size = r.columns.iter().zip(r.row(0)).filter(|(c, _)| loads(&c.name)).map(|(_, x)| x.abs()).fold(1.0, f64::max);
        let (d, column) = last_difference(&first(&t), &first(&r), |c| (loads(c) || motion(c)) && !open(c));
        // Multipliers of redundant sets in absolute coordinates carry a compliance of 1e-9.
        if d.is_nan() || d >= 1e-7 * size {
            bad.push(format!("{name}: {column} {d:.1e} of {size:.1e}"));
        }
        let norm = |t: &Trajectory| -> f64 {
            let part = |(c, x): (&fourbar::trajectory::Column, f64)| {
                if c.name.contains(".force.") {
                    x * x
                } else if c.name.contains(".torque.") {
                    (x / model.length).powi(2)
                } else {
                    0.0
                }
            };
            t.columns.iter().zip(t.row(0)).map(part).sum::<f64>().sqrt()
        };
        let (ours, theirs) = (norm(&t), norm(&r));
        if ours > theirs * (1.0 + 1e-6) + 1e-9 {
            bad.push(format!("{name}: reactions of norm {ours} where {theirs} will do"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Every shipped model moves as in absolute coordinates on the group.
#[test]
fn every_shipped_model_moves_as_in_absolute_coordinates() {
    let mut bad = Vec::new();
    for name in shipped() {
        // Stiff dampers make the explicit methods slow; the forty-cell ladder has a test of its own.
        if ["a05_flyball_governor", "a02_n_fourbar_N40"].contains(&name.as_str()) {
            continue;
        }
        let model = model(&name);
        let end = Study::of(&model).t_end.min(0.2);
        let s = Study { output_step: end / 4.0, ..study(&model, end, 1e-9) };
        let (t, _) = run(&model, &s);
        let (r, _) = run(&model, &Study { formulation: Some("so3xr3".into()), ..s });
        let (d, column) = last_difference(&t, &r, motion);
        // Two runs at 1e-9 per step of the characteristic length; fast mechanisms take a hundred steps.
        if d.is_nan() || d >= 2e-6 {
            bad.push(format!("{name}: {column} {d:.1e}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Recursion, cut joints and fictitious joints give the same accelerations.
#[test]
fn all_treatments_of_loops_agree() {
    for name in
        ["grcr_five_bar", "dca_double_loop", "a04_bricard", "nc_closed_chain_robot", "stewart_platform", "excavator_arm", "planetary_gear"]
    {
        let model = model(name);
        let end = Study::of(&model).t_end.min(0.5);
        let with = |options: &[(&str, &str)]| {
            let options = options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
            run(&model, &Study { options, output_step: end / 4.0, ..study(&model, end, 1e-11) }).0
        };
        let plain = with(&[("coupling", "acs")]);
        for options in [&[("coupling", "gcl")][..], &[("loops", "cut")], &[("loops", "cut"), ("coupling", "gcl")]] {
            let (d, column) = last_difference(&plain, &with(options), |c| motion(c) || c.contains(".a."));
            // The same equations solved in another order, over some tens of steps at 1e-11.
            assert!(d < 1e-8, "{name} {options:?}: {column} {d:.1e}");
        }
    }
}

/// Elements outside the tree, and velocity constraints, are satisfied by their rows.
#[test]
fn elements_without_a_tree_joint_are_carried_by_their_rows() {
    let rod = "mass: 1, inertia: [0.01, 0.09, 0.08]";
    let texts = [
        // A rod between two distance rods and a point on a plane.
        format!(
            "bodies: {{a: {{{rod}, at: [0.5, 0, -1]}}}}
joints:
  left: {{type: distance, bodies: [ground, a], from: [0, 0, 0], to: [0, 0, -1]}}
  right: {{type: distance, bodies: [ground, a], from: [1, 0.1, 0], to: [1, 0, -1]}}
  table: {{type: point-on-plane, bodies: [ground, a], at: [0.5, 0, -1], axis: [0, 1, 0.2]}}"
        ),
        // A pin in a slot of a pendulum, and a constant angle.
        format!(
            "bodies: {{a: {{{rod}, at: [0.5, 0, 0], omega: [0, 1, 0]}}, b: {{{rod}, at: [1, 0, 0.5]}}}}
joints:
  pin: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
  slot: {{type: point-on-line, bodies: [a, b], at: [1, 0, 0], axis: [1, 0, 0]}}
  level: {{type: angle, bodies: [a, b], axes: [[0, 1, 0], [1, 0, 1]]}}"
        ),
        // Bare primitives, one of them moving in time.
        format!(
            "bodies: {{a: {{{rod}, at: [0.5, 0, 0]}}, b: {{{rod}, at: [1.5, 0, 0]}}}}
joints: {{ball: {{type: spherical, bodies: [ground, a], at: [0, 0, 0]}}, elbow: {{type: universal, bodies: [a, b], at: [1, 0, 0], axes: [[0, 1, 0], [0, 0, 1]]}}}}
constraints: {{lift: {{type: cd, from: {{body: ground}}, to: {{body: b}}, axis: [0, 0, 1], value: 0.1*sin(2*t)}}}}"
        ),
        // A ball rolls down a slope.
        "bodies: {ball: {mass: 3, inertia: [0.05, 0.05, 0.05], at: [0, 0, 0.2], omega: [0, 0, 1]}}
constraints: {roll: {type: rolling-sphere, on: {body: ball}, radius: 0.2}}"
            .to_string(),
        // A blade on a table.
        "bodies: {sleigh: {mass: 2, inertia: [0.1, 0.1, 0.2], at: [0, 0, 0], omega: [0, 0, 3]}}
joints: {table: {type: planar, bodies: [ground, sleigh], at: [0, 0, 0], axis: [0, 0, 1]}}
constraints: {blade: {type: knife-edge, on: {body: sleigh}, across: {at: [0, 1, 0]}}}"
            .to_string(),
        // A rack whose slide closes a loop, a screw and a drive on it, friction in the pin.
        format!(
            "bodies: {{a: {{{rod}, at: [0.5, 0, 0]}}, b: {{{rod}, at: [1, 0, -0.5]}}, c: {{{rod}, at: [1, 0.3, -1]}}}}
joints:
  pin: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
  knee: {{type: revolute, bodies: [a, b], at: [1, 0, 0], axis: [0, 1, 0]}}
  thread: {{type: screw, bodies: [b, c], at: [1, 0, -1], axis: [0, 1, 0], lead: 0.2}}
drives: {{motor: {{joint: thread, distance: 0.05*sin(3*t)}}}}
forces: {{rub: {{type: friction, joint: pin, coulomb: 0.3, viscous: 0.1, radius: 0.05, speed: 0.5}}}}"
        ),
    ];
    for (k, text) in texts.iter().enumerate() {
        let model =
            parse(&format!("fourbar: 1\ngravity: [1, 0.3, -9.81]\n{text}\nstudy: {{analysis: dynamics, t_end: 0.4, output_step: 0.1}}\n"));
        let s = study(&model, 0.4, 1e-10);
        let (t, _) = run(&model, &s);
        let (r, _) = run(&model, &Study { formulation: Some("so3xr3".into()), ..s });
        let (d, column) = last_difference(&t, &r, |c| motion(c) || loads(c) || c == "energy.work");
        // Runs at 1e-10 per step; reactions of the absolute form contain its compliance.
        assert!(d < 1e-6, "text {k}: {column} {d:.1e}");
    }
}

/// Energy minus the work of drives, dampers and actuators is constant.
#[test]
fn the_power_of_drives_and_dampers_balances_the_energy() {
    for (name, until) in
        [("watt_governor", 0.5), ("nc_closed_chain_robot", 0.6), ("ra_slider_crank", 0.5), ("excavator_arm", 0.3), ("planetary_gear", 0.3)]
    {
        let model = model(name);
        let (t, _) = run(&model, &study(&model, until, 1e-10));
        let (e, w) = (t.column("energy.total").expect("energy"), t.column("energy.work").expect("work"));
        let top = e.iter().chain(w).fold(1.0_f64, |m, x| m.max(x.abs()));
        for k in 0..e.len() {
            let d = e[k] - e[0] - w[k];
            // The work is integrated with the motion; steps at 1e-10 of the length.
            assert!(d.abs() < 1e-6 * top, "{name}: {d:.1e} of {top:.1e} at row {k}");
        }
    }
}

/// The official ladder passes its singular positions on the parallelogram branch, with fixed and with adaptive steps, and reports their
/// times.
#[test]
fn the_ladder_of_forty_cells_stays_on_its_branch() {
    let name = "a02_n_fourbar_N40";
    let model = model(name);
    // Two singular positions lie before 1.5 s.
    for (integrator, step, tol, until) in [
        ("rk4", Some(0.005), None, 5.0),
        ("dopri5", None, Some(1e-8), 5.0),
        ("dopri5", None, Some(1e-11), 1.5),
        ("dop853", None, Some(1e-12), 1.5),
    ] {
        let s = Study { integrator: Some(integrator.into()), step, tol, output_step: 0.1, ..study(&model, until, 1e-8) };
        let (t, report) = run(&model, &s);
        let (e, _) = worst_thinned(&t, name, until);
        // Rank loss amplifies rounding; the limit for the other formulations is 5e-5.
        assert!(e < 1e-5, "{integrator} {tol:?}: tip {e:.1e}");
        // The step size does not collapse at the singular positions.
        let steps = report.work.iter().find(|w| w.0 == "steps").map_or(f64::INFINITY, |w| w.1);
        assert!(steps < 1500.0, "{integrator} {tol:?}: {steps} steps");
        let times: Vec<f64> = report.singular.iter().map(|s| s.time).collect();
        assert!(times.len() >= if until > 2.0 { 4 } else { 2 } && (times[0] - 0.7216).abs() < 0.01, "{integrator}: {times:?}");
    }
}

fn worst_thinned(t: &Trajectory, name: &str, until: f64) -> (f64, usize) {
    let mut r = reference(name);
    r.rows.retain(|row| (row[0] / 0.1 - (row[0] / 0.1).round()).abs() < 1e-6);
    worst(t, &r, until, |c| c.starts_with("B0.") && positions(c))
}

/// A run continued from a checkpoint is the same run to the bit, dependents and counted turns included.
#[test]
fn resuming_continues_the_same_run() {
    for (name, integrator, step) in
        [("grcr_five_bar", "dopri5", None), ("lie_closed_3bar", "dop853", None), ("a02_n_fourbar_N2", "rk4", Some(5e-3))]
    {
        let model = model(name);
        let s = Study { integrator: Some(integrator.into()), step, output_step: 0.1, ..study(&model, 2.0, 1e-6) };
        assert_resumes(&model, &s, 12, name);
    }
}
