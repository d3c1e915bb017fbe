//! Forces that act only for a moment, and expressions with roots and non-integer powers.

use crate::common::Random;
use fourbar::Trajectory;
use fourbar::study::{self, Study};
use fourbar_testing::common::*;

/// Formulations that move a single slide.
const FORMULATIONS: [&str; 5] = ["grcr", "lie", "dca", "ra", "natural"];

fn with(formulation: &str, text: &str) -> Result<Trajectory, String> {
    let model = parse(text);
    let mut t = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), ..Study::of(&model) };
    study::run(&model, &study, &mut t).map(|_| t).map_err(|e| format!("{}: {}", e.diagnostic.code.0, e.diagnostic.message))
}

fn last(t: &Trajectory, column: &str) -> f64 {
    *t.column(column).and_then(|c| c.last()).unwrap_or_else(|| panic!("no column {column}"))
}

/// A sled of `mass` that slides with `speed` under an effort.
fn sled(mass: f64, speed: f64, effort: &str, rest: &str) -> String {
    format!(
        "fourbar: 1\nbodies: {{b: {{mass: {mass}, inertia: [1, 1, 1], velocity: [{speed}, 0, 0]}}}}\n\
         joints: {{j: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}\n\
         forces: {{f: {{type: actuator, joint: j, effort: '{effort}'}}}}\n{rest}\n"
    )
}

#[test]
fn peaks_of_position_give_all_their_work() {
    let mut r = Random(11);
    for round in 0..15 {
        let mut between = |a: f64, b: f64| a + (b - a) * 0.5 * (1.0 + r.number());
        let (mass, speed, centre) = (between(0.5, 3.0), between(0.5, 2.0), between(2.0, 4.0));
        let width = 10.0_f64.powf(between(-3.0, -0.4));
        let work = between(0.2, 1.5) * mass * speed * speed;
        let peak = work / (width * std::f64::consts::PI.sqrt());
        let shape =
            [format!("exp(-((j.distance - {centre})/{width})^2)"), format!("1/cosh(1.1283791670955126*(j.distance - {centre})/{width})^2")];
        let text = sled(mass, speed, &format!("{peak}*{}", shape[round % 2]), "study: {t_end: 10, output_step: 0.1}");
        let right = (speed * speed + 2.0 * work / mass).sqrt();
        // In natural coordinates the series of `cosh` overflows far from the peak, which ends the run with S284.
        for f in FORMULATIONS.into_iter().filter(|f| round % 2 == 0 || *f != "natural") {
            let t = match with(f, &text) {
                Ok(t) => t,
                // Steps of generalized-alpha that end inside a peak may add energy; such a run is rejected.
                Err(e) if f == "ra" && e.starts_with("S242") => continue,
                Err(e) => panic!("{f} {text}: {e}"),
            };
            let found = last(&t, "j.speed");
            // The generalized-alpha method of `ra` has a larger tolerance.
            let limit = if f == "ra" { 2e-2 } else { 1e-4 };
            assert!((found - right).abs() < limit * right, "{f} with width {width:.1e}: {found} for {right}\n{text}");
        }
    }
}

#[test]
fn peaks_of_time_and_of_states_give_all_their_impulse() {
    for width in [1e-2, 1e-3, 1e-4] {
        let peak = 1.0 / (width * std::f64::consts::PI.sqrt());
        let end = "study: {t_end: 10, output_step: 0.1}";
        let of_time = sled(1.0, 0.0, &format!("{peak}*exp(-((t - 5.03)/{width})^2)"), end);
        let of_state = sled(1.0, 0.0, &format!("{peak}*exp(-((x - 5.0371)/{width})^2)"), &format!("states: {{x: {{rate: 1}}}}\n{end}"));
        for (text, f) in [&of_time, &of_state].into_iter().flat_map(|text| FORMULATIONS.map(|f| (text, f))) {
            let found = with(f, text).map(|t| last(&t, "j.speed")).unwrap_or_else(|e| panic!("{f} {text}: {e}"));
            assert!((found - 1.0).abs() < if f == "ra" { 2e-2 } else { 1e-4 }, "{f} with width {width:.0e}: {found}\n{text}");
        }
    }
}

#[test]
fn powers_that_are_not_whole_act_on_one_side() {
    for law in ["1e4*max(0, -p.z)^1.5", "if(p.z < 0, 1e4*(-p.z)^1.5, 0)", "1e4*sqrt(max(0, -p.z))^3", "1e4*abs(min(p.z, 0))^1.5"] {
        let text = format!(
            "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {{b: {{mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.1]}}}}\n\
             joints: {{j: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}}}\npoints: {{p: {{body: b}}}}\n\
             forces: {{f: {{type: actuator, joint: j, effort: '{law}'}}}}\nstudy: {{t_end: 1, output_step: 0.01}}\n"
        );
        for f in ["grcr", "lie", "dca", "ra"] {
            let t = with(f, &text).unwrap_or_else(|e| panic!("{f} {law}: {e}"));
            let (z, v) = (t.column("p.z").expect("height"), t.column("j.speed").expect("speed"));
            let (mut touched, start) = (false, 9.81 * z[0]);
            for (z, v) in z.iter().zip(v) {
                let energy = 9.81 * z + 0.5 * v * v + 0.4 * 1e4 * (-z).max(0.0).powf(2.5);
                touched |= *z < -1e-3;
                assert!((energy - start).abs() < 1e-3 * start, "{f} {law}: {energy} J of {start} J at height {z}");
            }
            assert!(touched, "{f} {law}");
        }
    }
}

#[test]
fn drag_by_a_power_of_the_speed_starts_from_rest() {
    for law in ["1 - sign(j.speed)*abs(j.speed)^1.7", "1 - j.speed*sqrt(abs(j.speed))"] {
        let text = sled(1.0, 0.0, law, "study: {t_end: 20, output_step: 0.5}");
        for f in ["grcr", "lie", "dca", "ra"] {
            let t = with(f, &text).unwrap_or_else(|e| panic!("{f} {law}: {e}"));
            assert!((last(&t, "j.speed") - 1.0).abs() < 1e-3, "{f} {law}: {}", last(&t, "j.speed"));
        }
    }
}

/// A wheel with a drive.
fn driven(angle: &str) -> String {
    format!(
        "fourbar: 1\nbodies: {{b: {{mass: 1, inertia: [0.1, 0.1, 0.1]}}}}\n\
         joints: {{j: {{type: revolute, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}}}\n\
         drives: {{d: {{joint: j, angle: '{angle}'}}}}\nstudy: {{t_end: 1, output_step: 0.01}}\n"
    )
}

#[test]
fn a_pole_of_a_drive_ends_the_run() {
    for angle in ["tan(2*t)", "1/(0.7831 - t)"] {
        let e = with("ra", &driven(angle)).expect_err("a pole");
        assert!(e.starts_with("S224"), "{angle}: {e}");
    }
}

#[test]
fn drives_may_begin_with_a_power_that_is_not_whole() {
    let t = with("ra", &driven("t^2.5")).unwrap_or_else(|e| panic!("{e}"));
    assert!((last(&t, "j.angle") - 1.0).abs() < 1e-9 && (last(&t, "j.speed") - 2.5).abs() < 1e-9);
}

#[test]
fn means_are_not_summed_over_the_pieces_between_events() {
    let model = parse(
        "fourbar: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.1]}}\n\
         joints: {j: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: -0.1, restitution: 0.8}}}\n\
         study: {t_end: 2, output_step: 0.01}\n",
    );
    let report =
        study::run(&model, &Study { formulation: Some("ra".into()), ..Study::of(&model) }, &mut Trajectory::default()).expect("a run");
    let of = |name: &str| report.work.iter().find(|(n, _)| n == name).map_or(f64::NAN, |(_, x)| *x);
    let mean = of("newton_iterations") / of("steps");
    assert!((of("mean_newton_iterations") - mean).abs() < 1e-9 * mean, "{} for {mean}", of("mean_newton_iterations"));
}

/// Far from rest smoothed friction is constant in a Taylor series, which does not show the coming reversal.
#[test]
fn smoothed_friction_turns_round_with_its_joint() {
    let mut r = Random(5);
    for round in 0..12 {
        let mut between = |a: f64, b: f64| a + (b - a) * 0.5 * (1.0 + r.number());
        let (inertia, speed, friction) = (between(0.2, 2.0), between(1.0, 5.0), between(0.1, 1.0));
        let (load, smooth) = (friction * between(1.3, 3.0), 10.0_f64.powf(between(-4.5, -2.0)));
        // It comes to rest after a third of the time, and turns back.
        let stop = speed * inertia / (load + friction);
        let text = format!(
            "fourbar: 1\nbodies: {{b: {{mass: 1, inertia: [1, 1, {inertia}], omega: [0, 0, {speed}]}}}}\n\
             joints: {{j: {{type: revolute, bodies: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}}}\n\
             forces: {{rub: {{type: friction, joint: j, preload: {friction}, speed: {smooth}}}, pull: {{type: actuator, joint: j, effort: {}}}}}\n\
             study: {{t_end: {}, output_step: {}}}\n",
            -load,
            3.0 * stop,
            0.3 * stop
        );
        let right = -2.0 * stop * (load - friction) / inertia;
        for f in FORMULATIONS {
            let t = with(f, &text).unwrap_or_else(|e| panic!("{f} {text}: {e}"));
            let found = last(&t, "j.speed");
            let limit = 1e-3 * speed + 10.0 * smooth;
            assert!((found - right).abs() < limit, "{f} in round {round}: {found} for {right}\n{text}");
        }
    }
}

/// The same in a loop: a slider-crank that reverses, with friction in one of its hinges.
#[test]
fn smoothed_friction_in_a_loop_turns_round() {
    for (joint, smooth) in [("O", 1e-3), ("A", 1e-3), ("B", 1e-3), ("A", 1e-5)] {
        let text = format!(
            "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n  crank: {{mass: 1, inertia: [0.01, 0.01, 0.01], at: [0.1, 0.1, 0], omega: [0, 0, 4]}}\n  \
             rod: {{mass: 1, inertia: [0.02, 0.02, 0.02], at: [0.5, 0.1, 0]}}\n  slider: {{mass: 2, inertia: [0.01, 0.01, 0.01], at: [0.8, 0, 0]}}\n\
             joints:\n  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}}\n  \
             A: {{type: revolute, bodies: [crank, rod], at: [0.2, 0.2, 0], axis: [0, 0, 1]}}\n  \
             B: {{type: revolute, bodies: [rod, slider], at: [0.8, 0, 0], axis: [0, 0, 1]}}\n  \
             guide: {{type: prismatic, bodies: [ground, slider], at: [0.8, 0, 0], axis: [1, 0, 0]}}\n\
             forces: {{rub: {{type: friction, joint: {joint}, preload: 0.5, speed: {smooth}}}}}\nstudy: {{t_end: 1, output_step: 0.05, tol: 1e-8}}\n"
        );
        let right = last(&with("lie", &text).unwrap_or_else(|e| panic!("lie: {e}")), "O.angle");
        for f in ["natural", "auto", "grcr"] {
            let found = last(&with(f, &text).unwrap_or_else(|e| panic!("{f} {joint} {smooth}: {e}")), "O.angle");
            // If a reversal takes only a millionth of the characteristic time, a series resolves only its two ends.
            let limit = if smooth < 1e-4 { 1e-4 } else { 1e-5 };
            assert!((found - right).abs() < limit, "{f} with friction in {joint} below {smooth}: {found} for {right}");
        }
    }
}
