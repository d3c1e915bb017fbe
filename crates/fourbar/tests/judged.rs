//! Results are checked before they are returned: open joints, a wrong energy or a jump of a drive are not accepted as a motion.

use fourbar::integrator::least_tolerance;
use fourbar::random::Random;
use fourbar::study::{self, Analysis, FORMULATIONS, Observer, Study};
use fourbar::trajectory::Column;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::*;
use std::time::{Duration, Instant};

/// Energy minus work: its largest change, and the energy that the motion carried.
fn balance(t: &Trajectory) -> (f64, f64) {
    let column = |name: &str| t.column(name).expect("an energy");
    let (kinetic, potential, work) = (column("energy.kinetic"), column("energy.potential"), column("energy.work"));
    let rest = |k: usize| kinetic[k] + potential[k] - work[k];
    let drift = (0..t.len()).map(|k| (rest(k) - rest(0)).abs()).fold(0.0, f64::max);
    let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let range = potential.iter().fold(f64::MIN, |m, x| m.max(*x)) - potential.iter().fold(f64::MAX, |m, x| m.min(*x));
    (drift, largest(kinetic) + range + largest(work))
}

/// Stores the rows of a run that must end in time.
struct Watched {
    rows: Trajectory,
    until: Instant,
    late: bool,
}

impl Observer for Watched {
    fn begin(&mut self, columns: &[Column]) {
        Observer::begin(&mut self.rows, columns);
    }
    fn row(&mut self, row: &[f64]) {
        Observer::row(&mut self.rows, row);
    }
    fn go_on(&mut self, _: f64, _: f64) -> bool {
        self.late |= Instant::now() > self.until;
        !self.late
    }
}

/// Runs with one formulation; if it reports success, joints must be closed and energy balanced. Returns whether it succeeded.
fn honest(model: &Model, formulation: &str, step: Option<f64>, what: &str) -> bool {
    let study = Study { analysis: Some(Analysis::Dynamics), formulation: Some(formulation.into()), step, ..Study::of(model) };
    let mut watched = Watched { rows: Trajectory::default(), until: Instant::now() + Duration::from_secs(120), late: false };
    let outcome = study::run(model, &study, &mut watched);
    assert!(!watched.late, "{what} {formulation} {step:?}: no end");
    let t = watched.rows;
    // Rows output before a failure must be correct as well.
    let gap = t.column("error.position").into_iter().flatten().copied().fold(0.0, f64::max);
    assert!(gap <= 1e-3 * model.length * 3.0_f64.sqrt(), "{what} {formulation}: a gap of {gap} m was given");
    let Ok(report) = outcome else { return false };
    let (drift, carried) = balance(&t);
    let still = 1e-5 * model.bodies.iter().skip(1).map(|b| b.mass).sum::<f64>() * 9.81 * model.length;
    assert!(drift <= 0.1 * carried + still, "{what} {formulation}: energy is off by {drift} J of {carried} J");
    assert!(report.t == study.t_end, "{what} {formulation}");
    true
}

#[test]
fn dead_points_of_drives_do_not_pass() {
    for (name, text) in [
        ("a pushed slider-crank", include_str!("data/found/dead_point_min.yaml")),
        ("the same with friction", include_str!("data/found/dead_point_auto_friction.yaml")),
        ("a loop in space", include_str!("data/found/ra_silent_past_dead_point.yaml")),
    ] {
        let m = parse(text);
        for f in FORMULATIONS.iter().map(|f| f.name).chain(["auto"]) {
            let mut t = Trajectory::default();
            let failed = study::run(&m, &Study { formulation: Some(f.into()), ..Study::of(&m) }, &mut t).expect_err("no way past it");
            assert!(!failed.diagnostic.is_warning(), "{name} {f}: {}", failed.diagnostic);
            let d = &failed.diagnostic;
            if d.code.0 == "S241" {
                // The message has the time, and a joint of the mechanism.
                let report = failed.report.as_ref().expect("what there was until then");
                assert!(d.time.is_some_and(|t| t > 0.0 && t <= report.t * (1.0 + 1e-12)), "{name} {f}: {d}");
            } else if d.time.is_some() {
                // Small steps are not the cause: the message names the cause.
                assert!(d.message.contains("it is at a dead point of"), "{name} {f}: {d}");
                assert!(m.drives.iter().any(|drive| d.names.contains(&drive.name)), "{name} {f}: {d}");
            }
            let known = |n: &String| m.joints.iter().map(|j| &j.name).chain(m.drives.iter().map(|d| &d.name)).any(|k| k == n);
            assert!(d.time.is_none() || (!d.names.is_empty() && d.names.iter().all(known)), "{name} {f}: {d}");
        }
        let failed = |f: &str| {
            let study = Study { formulation: Some(f.into()), ..Study::of(&m) };
            study::run(&m, &study, &mut Trajectory::default()).expect_err("no way past it").diagnostic.code.0
        };
        assert_eq!(["ra", "rp", "reps"].map(failed), ["S241"; 3], "{name}");
    }
}

/// A slider-crank driven at its slider, or a four-bar whose crank cannot rotate fully; random links, speeds and friction.
fn drawn(draw: &mut Random, n: usize) -> String {
    let mut between = |a: f64, b: f64| a + (b - a) * 0.5 * (draw.number() + 1.0);
    let (crank, speed, mass) = (between(0.05, 0.3), between(0.5, 4.0), between(0.2, 3.0));
    let friction = if n % 2 == 1 { "forces:\n  rub: {type: friction, joint: B, coulomb: 0.1, radius: 0.01}\n" } else { "" };
    let body = |name: &str, a: [f64; 2], b: [f64; 2]| {
        let (x, y) = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]));
        let i = mass * ((b[0] - a[0]).powi(2) + (b[1] - a[1]).powi(2)) / 12.0 + 1e-4;
        format!("  {name}: {{mass: {mass}, inertia: [{i}, {i}, {i}], at: [{x}, {y}, 0]}}\n")
    };
    let pin = |name: &str, bodies: &str, at: [f64; 2]| {
        format!("  {name}: {{type: revolute, bodies: [{bodies}], at: [{}, {}, 0], axis: [0, 0, 1]}}\n", at[0], at[1])
    };
    let angle = between(0.3, 1.2);
    let (o, b) = ([0.0, 0.0], [crank * angle.cos(), crank * angle.sin()]);
    if n % 4 < 2 {
        let c = [b[0] + between(1.5, 3.0) * crank, 0.0];
        format!(
            "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n{}{}{}joints:\n{}{}{}  D: {{type: prismatic, bodies: [ground, slider], at: [{}, 0, 0], axis: [1, 0, 0]}}\n\
             drives:\n  push: {{joint: D, distance: '{}*t'}}\n{friction}study: {{analysis: dynamics, t_end: {}, output_step: 0.02}}\n",
            body("crank", o, b),
            body("rod", b, c),
            body("slider", [c[0] - 0.05, 0.0], [c[0] + 0.05, 0.0]),
            pin("A", "ground, crank", o),
            pin("B", "crank, rod", b),
            pin("C", "rod, slider", c),
            c[0],
            speed * crank,
            2.0 / speed,
        )
    } else {
        // The crank and the base are longer than the coupler and the rocker together allow.
        let (p, c) = ([between(1.2, 1.6) * crank, 0.0], [between(1.0, 1.3) * crank, between(0.8, 1.1) * crank]);
        format!(
            "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n{}{}{}joints:\n{}{}{}{}drives:\n  turn: {{joint: A, angle: '{}*t'}}\n{friction}\
             study: {{analysis: dynamics, t_end: {}, output_step: 0.02}}\n",
            body("crank", o, b),
            body("coupler", b, c),
            body("rocker", c, p),
            pin("A", "ground, crank", o),
            pin("B", "crank, coupler", b),
            pin("C", "coupler, rocker", c),
            pin("D", "rocker, ground", p),
            -speed,
            4.0 / speed,
        )
    }
}

#[test]
fn drawn_mechanisms_that_are_driven_into_dead_points_are_honest() {
    let seed = 77_161_926;
    let mut draw = Random(seed);
    let (mut passed, mut failed) = (0, 0);
    for n in 0..8 {
        let text = drawn(&mut draw, n);
        let m = parse(&text);
        for f in FORMULATIONS {
            for step in [None, Some(2e-3)] {
                let done = honest(&m, f.name, step.filter(|_| f.name != "natural"), &format!("seed {seed}, case {n}\n{text}\n"));
                (passed, failed) = if done { (passed + 1, failed) } else { (passed, failed + 1) };
            }
        }
    }
    // Some of the random mechanisms reach no dead point; most do.
    assert!(failed > 50 && passed + failed == 8 * 2 * FORMULATIONS.len(), "{passed} passed, {failed} failed");
}

#[test]
fn good_runs_are_not_refused_at_any_tolerance() {
    for name in
        ["a01_simple_pendulum", "lie_heavy_top", "nc_free_top", "fourbar_3d", "nc_rscr", "grcr_five_bar", "andrews", "ra_slider_crank"]
    {
        let m = model(name);
        for f in FORMULATIONS {
            for tol in [1e-4, 1e-6, 1e-7, 1e-8, 1e-10] {
                // Without a named integrator `ra` uses one that attains the tolerance; `rp` and `reps` have none for tight tolerances.
                if f.integrators.iter().all(|i| tol < least_tolerance(i)) {
                    continue;
                }
                let t_end = Study::of(&m).t_end.min(0.5);
                let study = Study {
                    analysis: Some(Analysis::Dynamics),
                    formulation: Some(f.name.into()),
                    tol: Some(tol),
                    t_end,
                    output_step: t_end / 10.0,
                    ..Study::of(&m)
                };
                if let Err(failed) = study::run(&m, &study, &mut Trajectory::default()) {
                    panic!("{name} {} at {tol:e}: {}", f.name, failed.diagnostic);
                }
            }
        }
    }
}

/// If drives leave no freedom, positions and speeds are prescribed and need few steps; the work of the drives is a separate integral of the
/// multipliers, which must be accurate inside the steps as well, with or without redundancy.
#[test]
fn work_of_drives_that_leave_no_freedom_is_right() {
    for name in ["ra_single_pendulum", "bennett", "excavator_arm", "klann"] {
        let m = model(name);
        for f in ["natural", "lie", "se3", "so3xr3", "dca", "grcr"] {
            for tol in [1e-5, 1e-8] {
                let study =
                    Study { analysis: Some(Analysis::Dynamics), formulation: Some(f.into()), tol: Some(tol), step: None, ..Study::of(&m) };
                let mut t = Trajectory::default();
                let report = study::run(&m, &study, &mut t).unwrap_or_else(|e| panic!("{name} {f} {tol:e}: {}", e.diagnostic));
                assert!(report.warnings.iter().all(|w| w.code.0 != "W242"), "{name} {f} {tol:e}");
                let (drift, carried) = balance(&t);
                assert!(drift <= 1e3 * tol * carried, "{name} {f} {tol:e}: {drift} J of {carried} J");
            }
        }
    }
}

#[test]
fn control_that_is_switched_off_is_a_warning() {
    let m = parse(include_str!("data/found/dead_point_min.yaml").replace("0.2*t", "0.02*t").as_str());
    // Without stabilisation a swinging loop drifts open; a coarse fixed step shortens the test.
    let swing = model("grcr_five_bar");
    for (model, formulation, option) in
        [(&swing, "lie", ("constraints", "none")), (&swing, "dca", ("projection", "none")), (&m, "lie", ("constraints", "none"))]
    {
        let study = Study {
            analysis: Some(Analysis::Dynamics),
            formulation: Some(formulation.into()),
            integrator: Some("rk4".into()),
            step: Some(0.05),
            t_end: 3.0,
            output_step: 0.1,
            options: vec![(option.0.into(), option.1.into())],
            ..Study::of(model)
        };
        match study::run(model, &study, &mut Trajectory::default()) {
            Ok(report) if std::ptr::eq(model, &swing) => {
                assert!(report.warnings.iter().any(|w| w.code.0 == "W241"), "{formulation}: {:?}", report.warnings);
            }
            Ok(_) => {}
            Err(f) => assert!(!["S241", "S242"].contains(&f.diagnostic.code.0), "{formulation}: {}", f.diagnostic),
        }
    }
}

#[test]
fn coarse_fixed_steps_are_warned_of_and_refused() {
    let m = model("a01_simple_pendulum");
    let run = |step: f64| {
        let study = Study {
            formulation: Some("ra".into()),
            integrator: Some("backward-euler".into()),
            step: Some(step),
            t_end: 2.0,
            output_step: 0.1,
            ..Study::of(&m)
        };
        study::run(&m, &study, &mut Trajectory::default())
    };
    assert_eq!(run(0.02).expect_err("backward Euler eats the swing").diagnostic.code.0, "S242");
    assert!(run(1e-3).expect("ends").warnings.iter().any(|w| w.code.0 == "W242"));
    assert!(run(5e-5).expect("ends").warnings.iter().all(|w| w.code.0 != "W242"));
}

#[test]
fn drives_that_jump_are_refused_alike() {
    let step = parse(include_str!("data/found/drive_step.yaml"));
    for f in FORMULATIONS.iter().map(|f| f.name).chain(["auto"]) {
        let study = Study { formulation: Some(f.into()), ..Study::of(&step) };
        let d = study::run(&step, &study, &mut Trajectory::default()).expect_err("a jump").diagnostic;
        let what = "the value that `d` prescribes jumps at t = 0.500000 s, from 0 to 1 rad";
        assert!(d.code.0 == "S244" && d.message.contains(what) && d.names == ["d"], "{f}: {d}");
    }
}

#[test]
fn jumps_of_drawn_functions_are_found_where_they_are() {
    let seed = 4_200_613;
    let mut draw = Random(seed);
    let text = include_str!("data/found/drive_step.yaml");
    let judged = |function: &str, analysis: Analysis| {
        let m = parse(&text.replace("step(t, 0.5)", function));
        fourbar::analysis::jumps::check(&m, analysis, 1.0)
    };
    for n in 0..40 {
        let t0 = 0.05 + 0.9 * 0.5 * (draw.number() + 1.0);
        let size = 10f64.powf(3.0 * draw.number());
        // A jump of the value, of the speed, of the acceleration, and none, each written in several ways.
        for (order, functions) in [
            (
                0,
                [
                    format!("{size}*step(t, {t0})"),
                    format!("if(t < {t0}, 0, {size})"),
                    format!("{size}*sign(t - {t0})"),
                    format!("{size}*floor(t/{t0})"),
                ],
            ),
            (
                1,
                [
                    format!("{size}*abs(t - {t0})"),
                    format!("{size}*max(t, {t0})"),
                    format!("{size}*ramp(t, {t0}, 2)"),
                    format!("{size}*abs(sin(t - {t0}))"),
                ],
            ),
            (
                2,
                [
                    format!("{size}*if(t < {t0}, 0, (t - {t0})^2)"),
                    format!("{size}*max(t - {t0}, 0)^2"),
                    format!("{size}*abs(t - {t0})*(t - {t0})"),
                    format!("{size}*ramp(t, {t0}, 2)^2"),
                ],
            ),
            (
                3,
                [
                    format!("{size}*smoothstep(t, {t0}, 2)"),
                    format!("{size}*sin(t*{t0})"),
                    format!("{size}*abs(t + {t0})"),
                    format!("{size}*max(t - {t0}, 0)^4"),
                ],
            ),
        ] {
            for f in functions {
                let what = format!("seed {seed}, case {n}: {f}");
                let near = |t: Option<f64>| t.is_some_and(|t| (t - t0).abs() < 1e-9);
                match (order, judged(&f, Analysis::Dynamics)) {
                    (0, Err(d)) => assert!(d.code.0 == "S244" && near(d.time) && d.message.contains("the value"), "{what}: {d}"),
                    // Speeds and accelerations that jump are events.
                    (1..=3, Ok(w)) => assert!(w.is_empty(), "{what}: {w:?}"),
                    (_, other) => panic!("{what}: {other:?}"),
                }
                // Kinematics follows a speed that jumps.
                match (order, judged(&f, Analysis::Kinematics)) {
                    (0, Err(_)) => {}
                    (1, Ok(w)) => assert!(w.len() == 1 && w[0].code.0 == "W244" && near(w[0].time), "{what}: {w:?}"),
                    (2 | 3, Ok(w)) => assert!(w.is_empty(), "{what}: {w:?}"),
                    (_, other) => panic!("{what}: {other:?}"),
                }
            }
        }
    }
    // A short piece between two written numbers is not overlooked, nor is a rate that jumps.
    assert!(judged("step(t, 0.3) - step(t, 0.3 + 1e-5)", Analysis::Dynamics).is_err());
    let speed = parse(&text.replace("angle: 'step(t, 0.5)'", "speed: 'step(t, 0.5)'"));
    assert_eq!(fourbar::analysis::jumps::check(&speed, Analysis::Kinematics, 1.0).expect("a speed")[0].code.0, "W244");
}

/// Residual motion within the tolerance at rest does not count as an energy error.
#[test]
fn a_rest_is_balanced() {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/found/damped_at_rest.yaml");
    let model = parse(&std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    for formulation in ["lie", "grcr", "dca", "natural", "so3xr3"] {
        let study = Study { formulation: Some(formulation.into()), ..Study::of(&model) };
        study::run(&model, &study, &mut Trajectory::default()).unwrap_or_else(|e| panic!("{formulation}: {}", e.diagnostic));
    }
}
