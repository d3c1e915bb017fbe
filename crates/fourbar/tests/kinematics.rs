//! Kinematics depends on the drive positions, not on the number of evaluations.

#![allow(non_snake_case)]

use fourbar::study::{Analysis, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::{model, parse, run, shipped};

/// Class of a column and the unit in which it is compared: lengths, speeds, accelerations, forces, energies. Work is omitted because it is
/// summed over the steps, and quaternions because the angles represent them.
fn class(name: &str, L: f64) -> Option<(&'static str, f64)> {
    let stem = name.trim_end_matches(".x").trim_end_matches(".y").trim_end_matches(".z");
    Some(match stem.rsplit('.').next()? {
        "v" | "rate" => ("velocity", 1.0),
        "omega" => ("velocity", L),
        "a" => ("acceleration", 1.0),
        "alpha" => ("acceleration", L),
        "force" | "tension" => ("load", 1.0),
        "torque" | "effort" => ("load", 1.0 / L),
        "angle" => ("position", L),
        _ if name.starts_with("error.") || name.contains(".p.") || name == "energy.work" || name == "t" => return None,
        _ if name.starts_with("energy.") => ("energy", 1.0),
        _ => ("position", 1.0),
    })
}

/// Differences of two runs at common times by class, relative to the largest value in it.
fn differences(a: &Trajectory, b: &Trajectory, L: f64) -> Vec<(&'static str, f64)> {
    let mut list: Vec<(&'static str, f64, f64)> = Vec::new();
    for (c, column) in a.columns.iter().enumerate() {
        let Some((class, unit)) = class(&column.name, L) else { continue };
        let (mut size, mut worst) = (0.0_f64, 0.0_f64);
        for k in 0..a.len() {
            size = size.max(unit * a.row(k)[c].abs());
            worst = worst.max(unit * (a.row(k)[c] - b.row(k)[c]).abs());
        }
        match list.iter_mut().find(|(n, ..)| *n == class) {
            Some(e) => (e.1, e.2) = (e.1.max(size), e.2.max(worst)),
            None => list.push((class, size, worst)),
        }
    }
    list.into_iter().map(|(n, size, worst)| (n, if size > 0.0 { worst / size } else { worst })).collect()
}

fn driven() -> impl Iterator<Item = (String, Model)> {
    shipped()
        .into_iter()
        .map(|n| (n.clone(), model(&n)))
        .filter(|(_, m)| !m.drives.is_empty() && Study::of(m).analysis == Some(Analysis::Kinematics))
}

#[test]
fn coarse_and_fine_output_give_the_same_motion_and_reactions() {
    let (mut count, mut bad) = (0, Vec::new());
    for (name, model) in driven() {
        let of_file = Study::of(&model);
        let (t_end, coarse) = (of_file.t_end.min(2.0), 8.0 * of_file.output_step);
        let study = Study { t_end: (t_end / coarse).floor().max(2.0) * coarse, output_step: coarse, step: None, ..of_file };
        let (rough, report) = run(&model, &study);
        let (exact, _) = run(&model, &Study { step: Some(coarse / 16.0), ..study.clone() });
        // Near a singular position reactions grow like the inverse of the distance, and rounding with them.
        let near = report.singular.len() as f64;
        for (class, difference) in differences(&rough, &exact, model.length) {
            // Positions converge to 2e-13 of the reach; nearly dependent constraints amplify this for the other columns.
            if difference > 1e-9 * (1.0 + 1e3 * near) {
                bad.push(format!("{name}: {class} differs by {difference:.1e} with steps of {coarse} s"));
            }
        }
        count += 1;
    }
    assert!(count > 20, "{count} driven models");
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// Energy balances with the work of the drives and forces, to a hundredth of the energy of the motion, for any output times.
#[test]
fn work_does_not_depend_on_the_output_step() {
    const SEED: u64 = 242;
    let mut draw = fourbar::random::Random(SEED);
    let mut bad = Vec::new();
    for (name, model) in driven() {
        let of_file = Study::of(&model);
        for _ in 0..3 {
            let t_end = of_file.t_end.min(2.0) * (0.3 + 0.7 * draw.number().abs());
            let output_step = t_end * (0.03 + 0.97 * draw.number().abs());
            let (_, report) = run(&model, &Study { t_end, output_step, step: None, ..of_file.clone() });
            let off = report.warnings.iter().find(|w| w.code == fourbar::Code("W242"));
            bad.extend(off.map(|w| format!("{name} until {t_end} s by {output_step} s: {w}")));
        }
    }
    assert!(bad.is_empty(), "seed {SEED}:\n{}", bad.join("\n"));
}

#[test]
fn a_drive_that_stands_still_at_an_output_is_followed() {
    // The speed of the crank is zero to the last bit but one at t = 0.5 s.
    let model = model("peaucellier");
    let study = Study { output_step: 0.1, t_end: 2.0, ..Study::of(&model) };
    let (trajectory, report) = run(&model, &study);
    assert_eq!(trajectory.len(), 21);
    assert!(report.singular.is_empty());
    let (x, w) = (trajectory.find("P.x").unwrap(), trajectory.find("crank.omega.z").unwrap());
    assert!(trajectory.row(5)[w].abs() < 1e-12, "{}", trajectory.row(5)[w]);
    for k in 0..trajectory.len() {
        assert!((trajectory.row(k)[x] - trajectory.row(0)[x]).abs() < 1e-12, "the line is straight");
    }
}

/// A slider-crank in space without redundant constraints, driven at the crank, with dry friction in the pin and on the guide.
fn rubbing(coulomb: f64) -> Model {
    parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {{mass: 0.12, inertia: [1e-4, 1e-5, 1e-4], at: [0, 0.1, 0.12]}}
  rod: {{mass: 0.5, inertia: [4e-3, 4e-4, 4e-3], at: [0.1, 0.05, 0.1]}}
  slider: {{mass: 2, inertia: [1e-4, 1e-4, 1e-4], at: [0.2, 0, 0]}}
joints:
  pin: {{type: revolute, bodies: [ground, crank], at: [0, 0.1, 0.12], axis: [1, 0, 0]}}
  ball: {{type: spherical, bodies: [crank, rod], at: [0, 0.1, 0.2]}}
  cross: {{type: universal, bodies: [rod, slider], at: [0.2, 0, 0], axes: [[0, 0.894427191, -0.447213595], [1, 0, 0]]}}
  guide: {{type: prismatic, bodies: [ground, slider], at: [0.2, 0, 0], axis: [1, 0, 0]}}
drives: {{motor: {{joint: pin, angle: -6*t}}}}
forces:
  turn: {{type: friction, joint: pin, coulomb: 0.2, viscous: 0, radius: 0.01, speed: 0.1}}
  slide: {{type: friction, joint: guide, coulomb: {coulomb}, viscous: 0.1, radius: 0, speed: 0.1}}
study: {{t_end: 1, output_step: 0.05}}
"
    ))
}

#[test]
fn dry_friction_takes_part_in_the_efforts() {
    // On a level guide the drive pulls against coulomb times the weight.
    let cart = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {cart: {mass: 2, inertia: [1, 1, 1]}}
joints: {guide: {type: prismatic, bodies: [ground, cart], at: [0, 0, 0], axis: [1, 0, 0]}}
drives: {pull: {joint: guide, distance: 0.5*t}}
forces: {rub: {type: friction, joint: guide, coulomb: 0.2, viscous: 0, radius: 0, speed: 1e-3}}
study: {analysis: kinematics, t_end: 1, output_step: 0.1}
",
    );
    let (t, _) = run(&cart, &Study::of(&cart));
    let (effort, work) = (t.find("pull.effort").unwrap(), t.find("energy.work").unwrap());
    for k in 0..t.len() {
        // The regularised friction is saturated to the last bit, and friction dissipates the power of the drive.
        assert!((t.row(k)[effort] - 0.2 * 2.0 * 9.81).abs() < 1e-12, "{}", t.row(k)[effort]);
        assert!(t.row(k)[work].abs() < 1e-12, "{}", t.row(k)[work]);
    }
    // If friction contributes to its own load, dynamics gives the same loads.
    let (with, without) = (rubbing(0.3), rubbing(0.0));
    let of = |m: &Model, analysis: Analysis| {
        let formulation = Some("ra".into());
        run(m, &Study { analysis: Some(analysis), formulation, step: Some(0.01), ..Study::of(m) }).0
    };
    let (a, b, dry) = (of(&with, Analysis::Kinematics), of(&with, Analysis::Dynamics), of(&without, Analysis::Kinematics));
    let load = |name: &str| name == "motor.effort" || name.contains(".force.") || name.contains(".torque.");
    let (mut size, mut worst, mut effect) = (0.0_f64, 0.0_f64, 0.0_f64);
    for c in (0..a.columns.len()).filter(|&c| load(&a.columns[c].name)) {
        for k in 0..a.len() {
            size = size.max(a.row(k)[c].abs());
            worst = worst.max((a.row(k)[c] - b.row(k)[c]).abs());
            effect = effect.max((a.row(k)[c] - dry.row(k)[c]).abs());
        }
    }
    assert!(effect > 0.1 * size, "friction does {effect:.1e} of {size:.1e}");
    assert!(worst < 1e-9 * size, "{worst:.1e} of {size:.1e}");
}

#[test]
fn friction_that_locks_is_told() {
    let model = rubbing(3.0);
    let failed = fourbar::study::run(&model, &Study::of(&model), &mut Trajectory::default()).expect_err("wedges");
    assert_eq!(failed.diagnostic.code.0, "S223", "{}", failed.diagnostic);
    assert!(failed.diagnostic.message.contains("`turn`, `slide`"), "{}", failed.diagnostic);
}

#[test]
fn a_formulation_that_kinematics_does_not_have_is_told() {
    let model = model("ra_four_link");
    let told = |formulation: &str| {
        let study = Study { formulation: Some(formulation.into()), t_end: 0.1, ..Study::of(&model) };
        let warnings = run(&model, &study).1.warnings;
        warnings.into_iter().filter(|w| w.code.0 == "W302").map(|w| w.message).collect::<Vec<_>>()
    };
    assert_eq!(told("dca"), ["formulation `dca` does not apply to kinematics"]);
    assert!(told("reps").is_empty() && told("auto").is_empty());
}

/// The message names the drive, not the mechanism, in every analysis.
#[test]
fn a_drive_that_ends_is_named() {
    for motor in ["angle: 'sin(t) + 0*sqrt(0.5 - t)'", "speed: '1 + 0*sqrt(0.5 - t)'"] {
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {{bob: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}}}
joints: {{pin: {{type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 1, 0]}}}}
drives: {{motor: {{joint: pin, {motor}}}}}
study: {{t_end: 1, output_step: 0.05}}
"
        ));
        for (analysis, formulation) in [
            (Analysis::Kinematics, "ra"),
            (Analysis::Kinematics, "reps"),
            (Analysis::Dynamics, "ra"),
            (Analysis::Dynamics, "se3"),
            (Analysis::Dynamics, "dca"),
        ] {
            let study = Study { analysis: Some(analysis), formulation: Some(formulation.into()), ..Study::of(&model) };
            let failed = fourbar::study::run(&model, &study, &mut Trajectory::default()).expect_err("it ends");
            let (d, report) = (failed.diagnostic, failed.report.expect("half of it ran"));
            assert_eq!((d.code.0, d.names.as_slice()), ("S224", &["motor".to_string()][..]), "{formulation}: {d}");
            assert!(d.time.is_some_and(|t| (t - 0.5).abs() < 1e-3), "{formulation}: {d}");
            assert!((report.t - 0.5).abs() < 0.051, "{formulation}: {}", report.t);
        }
    }
}

/// Two gears at constant speeds need no small steps for accuracy, but their turns must still be counted.
#[test]
fn turns_are_counted_in_long_steps_of_every_formulation() {
    let model = parse(
        "
fourbar: 1
bodies:
  left: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [-1, 0, 0]}
  right: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}
  rod: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}
joints:
  frame: {type: revolute, bodies: [ground, rod], at: [0, 0, 0], axis: [0, 0, 1]}
  a: {type: revolute, bodies: [rod, left], at: [-1, 0, 0], axis: [0, 0, 1]}
  b: {type: revolute, bodies: [rod, right], at: [1, 0, 0], axis: [0, 0, 1]}
  mesh: {type: gear, joints: [a, b], ratio: -1}
drives:
  hold: {joint: frame, angle: -1*t}
  motor: {joint: a, angle: 3*t}
study: {analysis: dynamics, t_end: 10, output_step: 0.5}
",
    );
    for formulation in fourbar::study::FORMULATIONS {
        let (t, _) = run(&model, &Study { formulation: Some(formulation.name.into()), tol: Some(1e-6), ..Study::of(&model) });
        for (column, rate) in [("a.angle", 3.0), ("b.angle", -3.0), ("frame.angle", -1.0)] {
            let c = t.find(column).unwrap();
            for k in 0..t.len() {
                let (time, angle) = (t.row(k)[0], t.row(k)[c]);
                assert!((angle - rate * time).abs() < 1e-6, "{} {column}: {angle} at {time} s", formulation.name);
            }
        }
        let gap = t.find("error.position").unwrap();
        assert!((0..t.len()).all(|k| t.row(k)[gap] < 1e-6), "{}", formulation.name);
    }
}

#[test]
fn the_four_bar_runs_for_ten_hours() {
    let m = model("fourbar");
    // One turn per second: after whole seconds the position is that of the start, for any output step.
    let mut draw = fourbar::random::Random(36_000);
    for case in 0..3 {
        let output_step = if case == 0 { 900.0 } else { (60.0 * (1.0 + draw.number().abs())).round() };
        let t_end = if case == 0 { 36_000.0 } else { 10.0 * output_step };
        let study = Study { analysis: Some(Analysis::Kinematics), t_end, output_step, ..Study::of(&m) };
        let (t, report) = run(&m, &study);
        assert!(report.t == t_end && t.len() == (t_end / output_step).round() as usize + 1, "seed 36000, case {case}");
        let angle = t.column(&format!("{}.angle", m.joints[m.drives[0].joint].name)).expect("the angle");
        let poses: Vec<usize> = ["r.x", "r.y", "v.x", "v.y"].iter().filter_map(|k| t.find(&format!("{}.{k}", m.bodies[3].name))).collect();
        assert_eq!(poses.len(), 4);
        for row in 0..t.len() {
            let turned = std::f64::consts::TAU * t.row(row)[0];
            assert!((angle[row] - angle[0] - turned).abs() <= 1e-15 * turned + 1e-12, "{} for {turned}", angle[row] - angle[0]);
            for &k in &poses {
                // Rounding of an angle of 2e5 rad is 3e-11 rad; speeds of 1 m/s follow it.
                assert!((t.row(row)[k] - t.row(0)[k]).abs() < 1e-9, "case {case} row {row}: {} {}", t.row(row)[k], t.row(0)[k]);
            }
        }
    }
}

#[test]
fn a_mechanism_that_has_come_to_rest_stays_there() {
    let text = "fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  upper: {mass: 2, inertia: [1e-3, 0.02, 0.02], at: [0.2, 0, 0]}
  lower: {mass: 1, inertia: [1e-3, 0.01, 0.01], at: [0.55, 0, 0]}
joints:
  shoulder: {type: revolute, bodies: [ground, upper], at: [0, 0, 0], axis: [0, -1, 0]}
  elbow: {type: revolute, bodies: [upper, lower], at: [0.4, 0, 0], axis: [0, -1, 0]}
drives:
  one: {joint: shoulder, angle: '60 deg*smoothstep(t, 0, 0.1)'}
  two: {joint: elbow, angle: '-30 deg*smoothstep(t, 0, 0.1)'}
study: {analysis: kinematics, t_end: 20, output_step: 10 ms}
";
    let model = parse(text);
    let (rows, report) = run(&model, &Study::of(&model));
    assert_eq!((rows.len(), report.t), (2001, 20.0));
    // At rest the motors balance the weight: m g times the horizontal distance from the joint.
    let horizontal = |a: f64| a.to_radians().cos();
    let lower = 9.81 * 0.15 * horizontal(30.0);
    let upper = 2.0 * 9.81 * 0.2 * horizontal(60.0) + 9.81 * 0.4 * horizontal(60.0) + lower;
    for (name, effort) in [("one.effort", upper), ("two.effort", lower)] {
        let last = rows.column(name).and_then(|c| c.last().copied()).expect(name);
        assert!((last - effort).abs() < 1e-9, "{name}: {last} {effort}");
    }
    assert!(rows.column("lower.v.z").and_then(|c| c.last().copied()).is_some_and(|v| v.abs() < 1e-30));
}
