//! Events between two samples or exactly at the ends of steps: limits exceeded for an instant, events in pairs, switches in time, stops
//! with friction; random cases against closed forms.

use fourbar::events::Kind;
use fourbar::random::Random;
use fourbar::study::Report;
use fourbar::study::{self, Study};
use fourbar::{Diagnostic, Model, Trajectory};
use fourbar_testing::common::parse;
use std::f64::consts::PI;

/// Formulations whose steps are chosen by the error.
const EXPLICIT: [&str; 5] = ["natural", "grcr", "lie", "dca", "auto"];

fn try_run(model: &Model, formulation: &str, tol: f64) -> Result<(Report, Trajectory), Diagnostic> {
    let mut rows = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), tol: Some(tol), ..Study::of(model) };
    let report = study::run(model, &study, &mut rows).map_err(|f| *f.diagnostic)?;
    Ok((report, rows))
}

fn run(model: &Model, formulation: &str, tol: f64) -> (Report, Trajectory) {
    try_run(model, formulation, tol).unwrap_or_else(|d| panic!("{formulation} at {tol:e}: {d}"))
}

fn last(rows: &Trajectory, column: &str) -> f64 {
    *rows.column(column).unwrap_or_else(|| panic!("{column}")).last().expect("rows")
}

fn source(seed: u64) -> impl FnMut(f64, f64) -> f64 {
    println!("seed {seed}");
    let mut random = Random(seed);
    move |low, high| low + (high - low) * 0.5 * (1.0 + random.number())
}

/// A mass on a spring that swings with an amplitude of one metre: `extra` is added to its joint, `rest` to the file.
fn swinging(w: f64, extra: &str, rest: &str, t_end: f64) -> Model {
    let k = w * w;
    parse(&format!(
        "
fourbar: 1
bodies: {{b: {{mass: 1, inertia: [1, 1, 1], velocity: [{w:?}, 0, 0]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]{extra}}}}}
forces: {{spring: {{type: actuator, joint: s, effort: '-{k:?}*s.distance'}}}}
study: {{t_end: {t_end:?}, output_step: {:?}}}
{rest}",
        t_end / 7.0
    ))
}

/// An elastic limit just inside the amplitude is hit once in every swing, however short the motion beyond it would be.
#[test]
fn limits_that_are_passed_for_an_instant_are_hit() {
    let mut draw = source(20_261_119);
    for _ in 0..12 {
        let (w, depth) = (draw(3.0, 25.0), 10_f64.powf(draw(-4.5, -1.0)));
        let first = (1.0 - depth).asin() / w;
        let period = (PI + 2.0 * (1.0 - depth).asin()) / w;
        let t_end = first + 6.5 * period;
        let model = swinging(w, &format!(", limits: {{max: {:?}, restitution: 1}}", 1.0 - depth), "", t_end);
        for f in EXPLICIT {
            for tol in [1e-6, 1e-9] {
                // The error of the amplitude must not decide.
                if 30.0 * tol * t_end * w > depth {
                    continue;
                }
                let (report, rows) = run(&model, f, tol);
                assert_eq!(report.events.len(), 7, "{f} at {tol:e}: w = {w}, depth {depth}");
                let most = rows.column("s.distance").expect("there").iter().fold(0.0_f64, |m, x| m.max(*x));
                assert!(most < 1.0 - 0.5 * depth, "{f}: {most}");
            }
        }
    }
}

/// Events whose expression crosses zero and returns immediately happen twice in every swing.
#[test]
fn events_that_come_in_pairs_happen() {
    let mut draw = source(20_261_120);
    for _ in 0..8 {
        let (w, depth) = (draw(2.0, 9.0), 10_f64.powf(draw(-3.0, -1.0)));
        let t_end = 3.0 * 2.0 * PI / w;
        let rest = format!(
            "inputs: {{u: {{}}}}\nevents: {{e: {{when: s.distance - {:?}, once: false, do: [{{set: {{u: u + 1}}}}]}}}}",
            1.0 - depth
        );
        let model = swinging(w, "", &rest, t_end);
        for f in EXPLICIT {
            let (report, _) = run(&model, f, 1e-8);
            assert_eq!(report.events.len(), 6, "{f}: w = {w}, depth {depth}");
        }
    }
}

/// Events and switches that depend on time alone are found, however many of them a step would pass.
#[test]
fn waves_of_time_are_followed() {
    let mut draw = source(20_261_121);
    for _ in 0..4 {
        let (w, level) = (draw(20.0, 150.0), draw(0.5, 0.95));
        let t_end = 1.5;
        let counted = (0..).map(|n| [level.asin() + 2.0 * PI * n as f64, PI - level.asin() + 2.0 * PI * n as f64]);
        let times: Vec<f64> = counted.flatten().map(|x| x / w).take_while(|t| *t < t_end).collect();
        let rest =
            format!("inputs: {{u: {{}}}}\nevents: {{e: {{when: 'sin({w:?}*t) - {level:?}', once: false, do: [{{set: {{u: u + 1}}}}]}}}}");
        let model = swinging(2.0, "", &rest, t_end);
        let pulses = parse(&format!(
            "
fourbar: 1
bodies: {{b: {{mass: 1, inertia: [1, 1, 1]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{push: {{type: actuator, joint: s, effort: 'if(sin({w:?}*t) > {level:?}, 1, 0)'}}}}
study: {{t_end: {t_end}, output_step: 0.1}}
"
        ));
        let on = times.chunks(2).map(|p| p.get(1).copied().unwrap_or(t_end) - p[0]).sum::<f64>();
        for f in EXPLICIT {
            let (report, _) = run(&model, f, 1e-7);
            assert_eq!(report.events.len(), times.len(), "{f}: w = {w}, level {level}");
            for (e, t) in report.events.iter().zip(&times) {
                assert!((e.t - t).abs() < 1e-9, "{f}: {} and {t}", e.t);
            }
            let (_, rows) = run(&pulses, f, 1e-8);
            assert!((last(&rows, "s.speed") - on).abs() < 1e-9, "{f}: {} and {on}", last(&rows, "s.speed"));
        }
    }
}

/// A law with the absolute value of a speed continues with the right piece after an impact that ends at rest: the next motion is a fall
/// assisted by the drag.
#[test]
fn after_an_impact_laws_take_the_piece_that_follows() {
    let mut draw = source(20_261_122);
    for _ in 0..10 {
        let (m, v, g, max, c) = (draw(0.5, 3.0), draw(2.5, 5.0), draw(1.0, 4.0), draw(0.1, 0.4), draw(0.5, 2.0));
        let model = |law: &str| {
            parse(&format!(
                "
fourbar: 1
gravity: [-{g:?}, 0, 0]
bodies: {{b: {{mass: {m:?}, inertia: [1, 1, 1], velocity: [{v:?}, 0, 0]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0], limits: {{max: {max:?}}}}}}}
forces: {{a: {{type: actuator, joint: s, effort: '-{c:?}*{law}'}}}}
study: {{t_end: 0.6, output_step: 0.1}}
"
            ))
        };
        for law in ["abs(s.speed)", "if(s.speed > 0, s.speed, -s.speed)", "s.speed*sign(s.speed)"] {
            let model = model(law);
            for f in ["natural", "grcr", "dca", "lie", "ra"] {
                let (report, rows) = run(&model, f, if f == "ra" { 1e-6 } else { 1e-9 });
                let hit = report.events.iter().find(|e| e.kind == Kind::Impact).unwrap_or_else(|| panic!("{f}: no impact"));
                // v' = -g - k |v| with v < 0 from rest: v = -g/k (e^(k t) - 1).
                let k = c / m;
                let fallen = -g / k * ((k * (0.6 - hit.t)).exp() - 1.0);
                let off = (last(&rows, "s.speed") - fallen).abs();
                assert!(
                    off < if f == "ra" { 1e-3 } else { 1e-6 } * fallen.abs(),
                    "{f}, {law}: {} instead of {fallen}",
                    last(&rows, "s.speed")
                );
            }
        }
    }
}

/// Forces with a corner or a jump exactly at the start.
#[test]
fn corners_at_the_start_hinder_nobody() {
    for (law, speed) in [
        ("ramp(t, 0, 0.1)", 0.45),
        ("max(0, t)", 0.125),
        ("if(t > 0, 1, 0)", 0.5),
        ("if(t >= 0, 1, 0)", 0.5),
        ("max(0, sin(pi*t))", (1.0 - (0.5 * PI).cos()) / PI),
        ("abs(t)", 0.125),
    ] {
        let model = parse(&format!(
            "
fourbar: 1
bodies: {{b: {{mass: 1, inertia: [1, 1, 1]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{a: {{type: actuator, joint: s, effort: '{law}'}}}}
study: {{t_end: 0.5, output_step: 0.1}}
"
        ));
        for f in ["ra", "rp", "reps", "grcr", "lie", "dca", "natural", "auto"] {
            let (_, rows) = run(&model, f, if ["ra", "rp", "reps"].contains(&f) { 1e-6 } else { 1e-9 });
            let off = (last(&rows, "s.speed") - speed).abs();
            assert!(off < if ["ra", "rp", "reps"].contains(&f) { 1e-4 } else { 1e-8 }, "{f}, {law}: off by {off:.1e}");
        }
    }
}

/// A block slides onto its stop, with friction that sticks: it rests there, pressed by the force minus the friction.
#[test]
fn blocks_rest_on_their_stops_with_friction() {
    let mut draw = source(20_261_123);
    for _ in 0..6 {
        let (g, m, max, preload, e) = (draw(0.5, 10.0), draw(0.5, 3.0), draw(0.05, 0.2), draw(0.05, 0.9), draw(0.0, 0.4));
        let preload = preload * m * g;
        let model = parse(&format!(
            "
fourbar: 1
gravity: [{g:?}, 0, 0]
bodies: {{b: {{mass: {m:?}, inertia: [0.1, 0.1, 0.1]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0], limits: {{max: {max:?}, restitution: {e:?}}}}}}}
forces: {{f: {{type: friction, joint: s, preload: {preload:?}, stick: true}}}}
study: {{t_end: 3, output_step: 0.1}}
"
        ));
        for f in ["grcr", "lie", "dca", "natural", "auto"] {
            let (_, rows) = run(&model, f, 1e-8);
            let (at, speed) = (last(&rows, "s.distance"), last(&rows, "s.speed"));
            assert!((at - max).abs() < 1e-6 && speed.abs() < 1e-8, "{f}: {at} of {max}, {speed}");
        }
    }
}

/// A joint that rests on its limit can be locked there and released again.
#[test]
fn joints_at_their_limits_can_be_locked() {
    let model = parse(
        "
fourbar: 1
gravity: [9.81, 0, 0]
bodies: {a: {mass: 0.4, inertia: [0.1, 0.1, 0.1]}, b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}}
joints:
  p: {type: prismatic, bodies: [ground, a], at: [0, 0, 0], axis: [1, 0, 0], limits: {max: 0.27}}
  q: {type: prismatic, bodies: [a, b], at: [1, 0, 0], axis: [1, 0, 0], limits: {max: 0.6, restitution: 0.5}}
events:
  hold: {when: t - 0.73, do: [{lock: p}]}
  free: {when: t - 1.4, do: [{release: p}]}
study: {t_end: 2, output_step: 0.02}
",
    );
    for f in ["grcr", "lie", "dca", "natural", "ra"] {
        let (report, rows) = run(&model, f, if f == "ra" { 1e-6 } else { 1e-9 });
        let locked = report.events.iter().filter(|e| e.t > 0.731 && e.t < 1.399 && e.name.starts_with("p."));
        assert_eq!(locked.count(), 0, "{f}: {:?}", report.events);
        assert!((last(&rows, "p.distance") - 0.27).abs() < 1e-6, "{f}: {}", last(&rows, "p.distance"));
    }
}

/// Actions at one instant are executed in sequence.
#[test]
fn what_was_set_before_is_seen() {
    let rest = "inputs: {u: {}}
events: {e: {when: t - 0.5, do: [{set: {u: 2*u + 1}}, {set: {u: 3*u}}]}}
outputs: {shown: u}";
    let model = swinging(2.0, "", rest, 1.0);
    for f in ["grcr", "natural", "ra"] {
        assert_eq!(last(&run(&model, f, 1e-6).1, "shown"), 3.0, "{f}");
    }
}

/// Impacts at output times, and at the end of the run.
#[test]
fn impacts_at_the_times_of_rows() {
    for (v, t_end) in [(-1.0, 1.0), (-1.0, 2.0), (-0.5, 1.0)] {
        let model = parse(&format!(
            "
fourbar: 1
bodies: {{b: {{mass: 1, inertia: [1, 1, 1], velocity: [{v:?}, 0, 0]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0], limits: {{max: 0, restitution: 0.5}}}}}}
forces: {{a: {{type: actuator, joint: s, effort: '2'}}}}
study: {{t_end: {t_end:?}, output_step: 0.1}}
"
        ));
        for f in ["grcr", "lie", "dca", "natural", "ra", "auto"] {
            for tol in [1e-6, 1e-7, 1e-8, 1e-9] {
                if f == "ra" && tol < 1e-7 {
                    continue;
                }
                let (_, rows) = run(&model, f, tol);
                assert_eq!(last(&rows, "t"), t_end, "{f} at {tol:e}");
            }
        }
    }
}

/// For a body that rests on its stop under a force, the energy balance contains only rounding.
#[test]
fn what_is_pressed_at_rest_balances() {
    let model = parse(
        "
fourbar: 1
bodies: {b: {mass: 1, inertia: [1, 1, 1]}}
joints: {s: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0], limits: {max: 0, restitution: 0.5}}}
forces: {a: {type: actuator, joint: s, effort: '2'}}
study: {t_end: 1, output_step: 0.1}
",
    );
    for f in ["grcr", "lie", "dca", "natural", "ra", "auto"] {
        for tol in [1e-6, 1e-7, 1e-8, 1e-9] {
            if f != "ra" || tol >= 1e-7 {
                run(&model, f, tol);
            }
        }
    }
}

/// A smooth pulse in a long rest is found for any function.
#[test]
fn pulses_of_any_shape_are_met() {
    let mut draw = source(20_261_124);
    for k in 0..6 {
        let (at, width, t_end) = (draw(1.0, 8.0), draw(0.02, 0.2), 10.0);
        let (law, impulse) = match k % 3 {
            0 => (format!("exp(-((t - {at:?})/{width:?})^2)"), width * PI.sqrt()),
            1 => (format!("1/cosh((t - {at:?})/{width:?})^2"), 2.0 * width),
            _ => (format!("tanh((t - {at:?})/{width:?}) - tanh((t - {at:?})/{width:?} - 1)"), 2.0 * width),
        };
        let model = parse(&format!(
            "
fourbar: 1
bodies: {{b: {{mass: 1, inertia: [1, 1, 1]}}}}
joints: {{s: {{type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{a: {{type: actuator, joint: s, effort: '{law}'}}}}
study: {{t_end: {t_end:?}, output_step: 0.5}}
"
        ));
        for f in ["grcr", "lie", "dca", "natural", "auto", "ra"] {
            let (_, rows) = run(&model, f, if f == "ra" { 1e-6 } else { 1e-9 });
            let off = (last(&rows, "s.speed") - impulse).abs() / impulse;
            assert!(off < if f == "ra" { 1e-3 } else { 1e-6 }, "{f}, {law}: off by {off:.1e}");
        }
    }
}
