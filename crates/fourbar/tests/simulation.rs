//! Interactive simulations: advanced to any later time by every formulation, evaluated, set to another state, saved and restored.

use fourbar::random::Random;
use fourbar::study::{Analysis, FORMULATIONS, Study};
use fourbar::{Configuration, Diagnostic, Model, Simulation};
use fourbar_testing::common::*;
use std::sync::Arc;

/// A study of dynamics by one formulation.
fn by(model: &Model, formulation: &str, integrator: &str, tol: f64) -> Study {
    let named = |s: &str| Some(s.to_string());
    Study {
        analysis: Some(Analysis::Dynamics),
        formulation: named(formulation),
        integrator: named(integrator),
        tol: Some(tol),
        step: None,
        ..Study::of(model)
    }
}

/// Largest distance of two states in characteristic lengths, and radians.
fn apart(model: &Model, a: &Configuration, b: &Configuration) -> f64 {
    let poses = a.q.iter().zip(&b.q).map(|(a, b)| {
        let d = a.increment_to(b);
        (d.v.norm() / model.length).max(d.w.norm())
    });
    poses.fold(0.0, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x) })
}

fn code(d: Diagnostic) -> String {
    d.code.to_string()
}

/// Methods of every formulation with step size control.
fn methods() -> Vec<(&'static str, &'static str)> {
    let all = FORMULATIONS.iter().flat_map(|f| integrators_of(f).into_iter().map(|i| (f.name, i)));
    all.filter(|(_, i)| !WITHOUT_ESTIMATE.contains(i) && !["heun", "backward-euler", "moreau"].contains(i)).collect()
}

#[test]
fn a_simulation_moves_as_a_run_does_with_every_method() {
    let model = Arc::new(model("fourbar_3d"));
    for (formulation, integrator) in methods() {
        let study = Study { t_end: 1.0, output_step: 0.1, ..by(&model, formulation, integrator, 1e-7) };
        let (rows, _) = run(&model, &study);
        let mut simulation = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        for t in [0.07, 0.1, 0.34, 0.35, 1.0] {
            simulation.advance(t).unwrap_or_else(|d| panic!("{formulation} {integrator}: {d}"));
            assert_eq!(simulation.t(), t, "{formulation} {integrator}");
        }
        let name = &model.joints[0].name;
        let column = rows.columns.iter().position(|c| c.name == format!("{name}.angle")).expect("there is the angle");
        let (last, angle) = (rows.row(rows.len() - 1)[column], simulation.snapshot().joint(name).expect("there").angle);
        // Other step ends give other errors, each of the size of the tolerance and amplified by the motion.
        let allowed = if ["ra", "rp", "reps"].contains(&formulation) { 2e-3 } else { 5e-5 };
        assert!((last - angle).abs() < allowed, "{formulation} {integrator}: {last} and {angle}");
    }
}

#[test]
fn there_is_no_end_with_any_method_and_any_step() {
    let model = Arc::new(model("a01_simple_pendulum"));
    for f in FORMULATIONS {
        for integrator in integrators_of(f) {
            for step in [None, Some(1e-3)] {
                if step.is_none() && WITHOUT_ESTIMATE.contains(&integrator) {
                    continue;
                }
                let what = format!("{} {integrator} {step:?}", f.name);
                // The end of the study, a hundredth of a second, is far exceeded.
                let study = Study { t_end: 0.01, output_step: 0.01, step, ..by(&model, f.name, integrator, 1e-4) };
                let mut s = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{what}: {d}"));
                s.advance(2.0).unwrap_or_else(|d| panic!("{what}: {d}"));
                assert_eq!(s.t(), 2.0, "{what}");
            }
        }
    }
}

#[test]
fn after_a_stop_it_goes_on_from_the_present() {
    let model = Arc::new(model("fourbar_3d"));
    for formulation in ["grcr", "lie", "dca", "ra", "natural"] {
        let study = Study { formulation: Some(formulation.into()), tol: Some(1e-7), ..Study::of(&model) };
        let mut straight = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        let mut stopped = Simulation::new(&model, &study).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        for s in [&mut straight, &mut stopped] {
            s.advance(0.1).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        }
        // Stopped after steps far beyond the time that is requested next.
        let on = stopped.advance_while(5.0, &mut |t| t < 2.0).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        assert!(!on && stopped.t() == 0.1, "{formulation}: {on} at {}", stopped.t());
        for s in [&mut straight, &mut stopped] {
            s.advance(0.3).unwrap_or_else(|d| panic!("{formulation}: {d}"));
        }
        let gap = apart(&model, &straight.state(), &stopped.state());
        assert!(stopped.t() == 0.3 && gap < 1e-4, "{formulation}: {gap:e}");
    }
}

#[test]
fn kinematics_is_held_in_the_same_way() {
    let model = Arc::new(model("ra_slider_crank"));
    for formulation in ["ra", "rp", "reps"] {
        let study = Study { analysis: Some(Analysis::Kinematics), formulation: Some(formulation.into()), ..Study::of(&model) };
        let mut s = Simulation::new(&model, &study).expect("it starts");
        s.advance(0.5).expect("it moves");
        s.advance(0.73).expect("it moves");
        let inside = s.snapshot_at(0.61).expect("inside the last step").instant().clone();
        let mut other = Simulation::new(&model, &study).expect("it starts");
        other.advance(0.61).expect("it moves");
        assert!(apart(&model, &inside.configuration(), &other.state()) < 1e-12, "{formulation}");
        // Saved, and continued to the bit.
        let kept = s.save();
        s.advance(1.9).expect("it moves");
        other.restore(&kept).expect("it fits");
        assert_eq!(other.t(), 0.73);
        other.advance(1.9).expect("it moves");
        assert_eq!(s.snapshot().instant(), other.snapshot().instant(), "{formulation}");
    }
}

#[test]
fn what_is_kept_before_the_first_step_goes_on_to_the_bit_with_every_method() {
    let (driven, held) = (Arc::new(model("fourbar_3d")), Arc::new(model("pid_pendulum")));
    for (formulation, integrator) in methods() {
        for (model, input) in [(&driven, None), (&held, Some("target"))] {
            let what = format!("{formulation} {integrator} {}", model.title);
            let study = by(model, formulation, integrator, 1e-6);
            // Some formulations do not support user-defined states.
            let Ok(mut first) = Simulation::new(model, &study) else { continue };
            if let Some(name) = input {
                let id = first.input(name).expect("there");
                first.set_input(id, 0.25).unwrap_or_else(|d| panic!("{what}: {d}"));
            }
            let kept = first.save();
            let mut second = Simulation::new(model, &study).unwrap_or_else(|d| panic!("{what}: {d}"));
            second.advance(0.3).unwrap_or_else(|d| panic!("{what}: {d}"));
            second.restore(&kept).unwrap_or_else(|d| panic!("{what}: {d}"));
            assert_eq!((second.t(), first.snapshot().instant()), (0.0, second.snapshot().instant()), "{what}");
            for s in [&mut first, &mut second] {
                s.advance(0.11).unwrap_or_else(|d| panic!("{what}: {d}"));
            }
            assert_eq!(first.snapshot().instant(), second.snapshot().instant(), "{what}");
        }
    }
}

#[test]
fn time_passes_forwards_and_names_are_known() {
    let model = Arc::new(model("fourbar"));
    let mut s = Simulation::new(&model, &Study::of(&model)).expect("it starts");
    s.advance(0.2).expect("it moves");
    assert_eq!(s.advance(0.1).map_err(code), Err("U310".into()));
    assert_eq!(s.advance(f64::NAN).map_err(code), Err("U303".into()));
    assert_eq!(s.t(), 0.2);
    assert_eq!(s.snapshot_at(0.7).map(|_| ()).map_err(code), Err("U311".into()));
    let d = s.snapshot().joint("Q").expect_err("there is none");
    assert_eq!(d.code.to_string(), "U314");
}

#[test]
fn a_state_can_be_set_at_any_time_and_must_be_consistent() {
    // A driven mechanism, so that consistency depends on time, by dynamics and kinematics.
    let model = Arc::new(model("ra_slider_crank"));
    for analysis in [Analysis::Dynamics, Analysis::Kinematics] {
        let study = Study { analysis: Some(analysis), ..Study::of(&model) };
        let mut s = Simulation::new(&model, &study).expect("it starts");
        s.advance(0.4).expect("it moves");
        let there = s.state();
        s.advance(0.9).expect("it moves");
        let later = s.state();
        s.set_state(&there).expect("it is consistent");
        assert_eq!(s.t(), 0.4);
        s.advance(0.9).expect("it moves");
        assert!(apart(&model, &s.state(), &later) < 1e-6, "{analysis:?}: {:.1e}", apart(&model, &s.state(), &later));
        // The drive is elsewhere at another time.
        let wrong = Configuration { t: 0.5, ..there.clone() };
        assert_eq!(s.set_state(&wrong).map_err(code), Err("U313".into()));
        s.assemble_state(&wrong).expect("there is a state nearby");
        let mut moved = Simulation::new(&model, &study).expect("it starts");
        moved.advance(0.5).expect("it moves");
        assert!(apart(&model, &s.state(), &moved.state()) < 1e-6);
        assert!(s.snapshot().instant().errors[1] < 1e-9);
        // Wrong velocities are wrong as well.
        let mut fast = there.clone();
        fast.v[1].w *= 1.1;
        assert_eq!(s.set_state(&fast).map_err(code), Err("U313".into()));
        let mut short = there.clone();
        short.q.pop();
        assert_eq!(s.set_state(&short).map_err(code), Err("U312".into()));
        let mut lost = there.clone();
        lost.q[1].r.x = f64::NAN;
        assert_eq!(s.set_state(&lost).map_err(code), Err("U312".into()));
    }
}

#[test]
fn a_simulation_goes_to_another_thread_and_steps_as_it_likes() {
    let model = Arc::new(model("fourbar"));
    let mut s = Simulation::new(&model, &by(&model, "lie", "dopri5", 1e-8)).expect("it starts");
    let t = std::thread::spawn(move || {
        let mut sizes = Vec::new();
        for _ in 0..20 {
            sizes.push(s.step().expect("it steps"));
        }
        let (t, h) = (s.t(), sizes[19]);
        // Dense output inside the last step is as accurate as the step.
        let inside = s.snapshot_at(t - 0.3 * h).expect("inside").instant().configuration();
        (t, sizes, inside)
    });
    let (t, sizes, inside) = t.join().expect("it ends");
    assert!(sizes.iter().all(|h| *h > 0.0) && (sizes.iter().sum::<f64>() - t).abs() < 1e-12);
    let mut other = Simulation::new(&model, &by(&model, "lie", "dopri5", 1e-10)).expect("it starts");
    other.advance(inside.t).expect("it moves");
    assert!(apart(&model, &inside, &other.state()) < 1e-6);
}

/// Draws a sequence of operations and runs it twice, the second time from a saved intermediate state: identical to the bit.
#[test]
fn drawn_courses_are_kept_and_restored_to_the_bit() {
    let seed = 41_700_001;
    let models =
        ["fourbar", "a04_bricard", "stewart_platform", "watt_governor", "lie_heavy_top", "a02_n_fourbar_N2"].map(|n| Arc::new(model(n)));
    let methods = methods();
    let mut draw = Random(seed);
    let mut unit = move || 0.5 * (draw.number() + 1.0);
    for n in 0..60 {
        let model = &models[n % models.len()];
        let (formulation, integrator) = methods[(unit() * methods.len() as f64) as usize % methods.len()];
        let step = (unit() < 0.2).then_some(2e-3);
        let what = format!("seed {seed}, case {n}: `{}` by {formulation} with {integrator}, step {step:?}", model.title);
        let study = Study { step, ..by(model, formulation, integrator, 10f64.powf(-3.0 - 4.0 * unit())) };
        let good = |done: Result<(), Diagnostic>| done.unwrap_or_else(|d| panic!("{what}: {d}"));
        let mut a = match Simulation::new(model, &study) {
            Ok(a) => a,
            Err(d) if d.code.to_string() == "S284" => continue,
            Err(d) => panic!("{what}: {d}"),
        };
        let (mut kept, mut b) = (a.save(), None);
        for _ in 0..8 {
            match (unit() * 4.0) as usize {
                0 => good(a.step().map(|_| ())),
                1 => a.run_ahead(if unit() < 0.5 { f64::NEG_INFINITY } else { a.t() + 0.1 }),
                2 => good(a.advance(a.t() + 10f64.powf(-5.0 + 4.0 * unit()))),
                _ => {
                    let t = a.t() + 0.02 * unit();
                    good(a.advance(t));
                    kept = a.save();
                    b = Some(t);
                }
            }
        }
        if let Some(t) = b {
            let mut again = Simulation::new(model, &study).unwrap_or_else(|d| panic!("{what}: {d}"));
            good(again.restore(&kept));
            assert_eq!(again.t(), t, "{what}");
            good(a.restore(&kept));
            for s in [&mut a, &mut again] {
                s.run_ahead(f64::NEG_INFINITY);
                good(s.advance(t + 0.013));
                good(s.step().map(|_| ()));
                good(s.advance(s.t() + 0.03));
            }
            assert!(a.snapshot().instant() == again.snapshot().instant(), "{what}: it goes another way");
        }
    }
}

/// Evaluations at the present time are those of the mechanism in its present mode, and agree with the simulation under the names of the
/// file.
#[test]
fn evaluations_know_what_events_limits_and_friction_have_done() {
    let box_on_a_rail = "
fourbar: 1
bodies: {box: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
joints: {rail: {type: prismatic, bodies: [ground, box], at: [0, 0, 0], axis: [1, 0, 0]}}
inputs: {f: {unit: N, default: 4}}
forces:
  push: {type: actuator, joint: rail, effort: f}
  rub: {type: friction, joint: rail, coulomb: 1, static: 1, preload: 5, stick: true}
study: {t_end: 1}
";
    let ball_on_the_floor = "
fourbar: 1
gravity: [0, 0, -10]
bodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0, 0, 0]}}
joints: {rail: {type: prismatic, bodies: [ground, ball], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: 0}}}
study: {t_end: 1}
";
    let catapult = || model("event_catapult");
    for (what, model, t) in [
        ("the latch holds the arm", catapult(), 0.5),
        ("the cup has let go", catapult(), 2.0),
        ("friction sticks", parse(box_on_a_rail), 0.2),
        ("the floor carries", parse(ball_on_the_floor), 0.5),
    ] {
        let model = Arc::new(model);
        let mut s = Simulation::new(&model, &Study::of(&model)).unwrap_or_else(|d| panic!("{what}: {d}"));
        s.advance(t).unwrap_or_else(|d| panic!("{what}: {d}"));
        let now = s.evaluate().unwrap_or_else(|d| panic!("{what}: {d}"));
        let mode = s.in_mode();
        let (seen, known) = (mode.snapshot(&now), s.snapshot());
        let near = |a: f64, b: f64, name: &str| assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{what}: {name} is {a}, not {b}");
        for j in &model.joints {
            let (a, b) = (seen.joint(&j.name).expect("there"), known.joint(&j.name).expect("there"));
            near(a.acceleration, b.acceleration, &j.name);
            (a.force - b.force).iter().chain((a.torque - b.torque).iter()).for_each(|x| near(*x, 0.0, &j.name));
        }
        for (name, _) in &model.forces {
            let (a, b) = (seen.force(name).expect("there"), known.force(name).expect("there"));
            a.iter().zip(b.iter()).for_each(|((key, x), (_, y))| near(x, y, &format!("{name}.{key}")));
        }
        let again = fourbar::simulation::InMode::restored(mode.file(), &mode.save()).expect("it fits");
        assert_eq!(again.save(), mode.save(), "{what}");
    }
    let model = Arc::new(parse(box_on_a_rail));
    let mut s = Simulation::new(&model, &Study::of(&model)).expect("it assembles");
    s.advance(0.2).expect("it rests");
    assert!((s.snapshot().force("rub").expect("there").get("effort").expect("there") + 4.0).abs() < 1e-9);
}

#[test]
fn an_event_that_ends_the_motion_is_named() {
    let model = Arc::new(model("event_catapult"));
    let mut s = Simulation::new(&model, &Study::of(&model)).expect("it assembles");
    s.advance(1.0).expect("it winds");
    assert_eq!((s.ended(), s.ended_by()), (false, None));
    s.advance(4.0).expect("it throws");
    assert!(s.t() < 4.0);
    assert_eq!((s.ended(), s.ended_by()), (true, Some("landed")));
}

#[test]
fn times_that_are_none_are_refused() {
    for name in ["ra_double_pendulum", "event_catapult"] {
        let model = Arc::new(model(name));
        let mut s = Simulation::new(&model, &Study::of(&model)).expect("it assembles");
        for t in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(code(s.advance(t).expect_err("no time")), "U303", "{name}");
        }
        assert_eq!(s.t(), 0.0);
    }
}

/// An interactive simulation advances in small intervals, and still changes its method if forces turn out to be stiff.
#[test]
fn stiff_forces_are_found_in_the_hand() {
    let model = Arc::new(model("stiff_beam"));
    let mut s = Simulation::new(&model, &Study::of(&model)).expect("it assembles");
    assert_ne!(s.chosen().integrator, "radau");
    for k in 1..=4 {
        s.advance(2e-3 * f64::from(k)).expect("it moves");
    }
    assert_eq!(s.chosen().integrator, "radau");
}

/// The iteration between friction and loads continues where it stopped.
#[test]
fn friction_that_follows_loads_goes_on_to_the_bit() {
    let model = Arc::new(model("stiff_friction"));
    for (formulation, integrator) in [("grcr", "radau"), ("grcr", "dopri5"), ("lie", "dopri5"), ("dca", "dopri5"), ("ra", "radau")] {
        let mut s = Simulation::new(&model, &by(&model, formulation, integrator, 1e-6)).expect("it assembles");
        s.advance(0.1).expect("it moves");
        let kept = s.save();
        let mut ends = Vec::new();
        for _ in 0..2 {
            s.advance(0.11).expect("it moves");
            s.advance(0.12).expect("it moves");
            ends.push(s.instant().clone());
            s.restore(&kept).expect("it was kept");
        }
        assert!(ends[0] == ends[1], "{formulation} with {integrator} goes another way");
    }
}
