//! Discontinuous data: piecewise drives and forces against closed forms, in every formulation.

use fourbar::events::{Happened, Kind};
use fourbar::study::{self, Analysis, FORMULATIONS, Study};
use fourbar::{Model, Simulation, Trajectory};
use fourbar_testing::common::parse;

struct Ran {
    rows: Trajectory,
    events: Vec<Happened>,
    warnings: Vec<String>,
}

fn run(model: &Model, formulation: &str, tol: f64) -> Ran {
    let mut rows = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), tol: Some(tol), ..Study::of(model) };
    let report = study::run(model, &study, &mut rows).unwrap_or_else(|f| panic!("{formulation}: {}", f.diagnostic));
    Ran { rows, events: report.events, warnings: report.warnings.iter().map(|w| w.code.0.to_string()).collect() }
}

/// Second-order methods have a larger tolerance.
fn tolerance(formulation: &str) -> f64 {
    if ["ra", "rp", "reps"].contains(&formulation) { 1e-6 } else { 1e-10 }
}

fn last(r: &Ran, column: &str) -> f64 {
    *r.rows.column(column).unwrap_or_else(|| panic!("{column}")).last().expect("rows")
}

/// Energy plus losses minus work is constant.
fn balanced(what: &str, r: &Ran, allowed: f64) {
    let column = |name: &str| r.rows.column(name).map(<[f64]>::to_vec);
    let (total, work) = (column("energy.total").expect("there"), column("energy.work").expect("there"));
    let lost = column("energy.lost").unwrap_or_else(|| vec![0.0; total.len()]);
    let first = total[0] + lost[0] - work[0];
    let worst = (0..total.len()).fold(0.0_f64, |m, k| m.max((total[k] + lost[k] - work[k] - first).abs()));
    assert!(worst < allowed, "{what}: energy is off by {worst:.1e} J");
}

fn names() -> impl Iterator<Item = &'static str> {
    FORMULATIONS.iter().map(|f| f.name).chain(["auto"])
}

/// A drive whose acceleration jumps, and one whose speed jumps: all formulations agree, steps end there, and the energy loss of the impact
/// is reported.
#[test]
fn drives_with_corners_agree_in_every_formulation() {
    for (text, kind, speed) in [
        (include_str!("data/found/drive_if.yaml"), Kind::Jump, [0.0, 0.0]),
        (include_str!("data/found/drive_ramp.yaml"), Kind::Impact, [0.0, 2.0]),
    ] {
        let model = parse(text);
        let mut first: Option<Ran> = None;
        for f in names() {
            let r = run(&model, f, tolerance(f));
            let loose = ["ra", "rp", "reps"].contains(&f);
            assert!(r.warnings.iter().all(|w| w != "W244"), "{f}: {:?}", r.warnings);
            let e: Vec<&Happened> = r.events.iter().filter(|h| h.t < 0.9).collect();
            assert!(e.len() == 1 && e[0].name == "d" && e[0].kind == kind && e[0].t == 0.5 && e[0].speed == speed, "{f}: {e:?}");
            balanced(f, &r, if loose { 1e-3 } else { 1e-7 });
            // Rows on either side of the jump have the accelerations of their side.
            let [t, a] = ["t", "a.alpha.y"].map(|c| r.rows.column(c).expect("there"));
            let at: Vec<f64> = t.iter().zip(a).filter(|(t, _)| **t == 0.5).map(|(_, a)| *a).collect();
            if kind == Kind::Jump {
                assert!(at[0].abs() < 1e-6 && (at[1] - 2.0).abs() < 1e-6, "{f}: {at:?}");
            }
            if let Some(first) = &first {
                assert!((e[0].lost - first.events[0].lost).abs() < if loose { 1e-4 } else { 1e-9 }, "{f}: {} J", e[0].lost);
                for c in ["b.r.x", "b.r.z", "b.v.x", "b.omega.y"] {
                    let off = (last(&r, c) - last(first, c)).abs();
                    assert!(off < if loose { 1e-4 } else { 1e-8 }, "{f} {c}: {off:.1e}");
                }
            } else if f == "grcr" || kind == Kind::Jump || !loose {
                first = (!loose).then_some(r);
            }
        }
        assert!(first.is_some());
    }
}

/// The impact of a drive that starts instantly, in closed form: a rod on a driven crank at rest.
#[test]
fn the_blow_of_a_drive_is_that_of_its_masses() {
    let model = parse(
        "
fourbar: 1
bodies:
  crank: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, 0]}
  rod: {mass: 2, inertia: [0.3, 0.3, 0.3], at: [1.4, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1]}
  A: {type: revolute, bodies: [crank, rod], at: [1, 0, 0], axis: [0, 0, 1]}
drives: {motor: {joint: O, speed: 'step(t, 0.2)*3'}}
study: {t_end: 0.4, output_step: 0.01}
",
    );
    // The end of the crank moves with 3 m/s; the rod takes J w = - m c (v + c w) about its centre, c = 0.4.
    let (v, m, inertia, c) = (3.0, 2.0, 0.3, 0.4);
    let w = -m * c * v / (inertia + m * c * c);
    let gained = 0.5 * (0.1 + 0.25) * 9.0 + 0.5 * m * (v + c * w) * (v + c * w) + 0.5 * inertia * w * w;
    for f in names() {
        let r = run(&model, f, tolerance(f));
        let e = &r.events[0];
        assert!(r.events.len() == 1 && e.kind == Kind::Impact && (e.t - 0.2).abs() < 1e-15, "{f}: {:?}", r.events);
        assert!((e.lost + gained).abs() < 1e-9, "{f}: {} {gained}", e.lost);
        let t = r.rows.column("t").expect("there");
        let after = t.iter().rposition(|t| *t == 0.2).expect("a row");
        assert!((r.rows.column("rod.omega.z").expect("there")[after] - w).abs() < 1e-9, "{f}");
        assert!((last(&r, "O.angle") - 0.6).abs() < 1e-9, "{f}: {}", last(&r, "O.angle"));
    }
}

/// A force that starts instantly, one switched by position, and one switched repeatedly by time: closed forms to the tolerance.
#[test]
fn forces_that_jump_are_met_to_rounding() {
    let text = |effort: &str| {
        format!(
            "
fourbar: 1
bodies: {{mass: {{mass: 2, inertia: [0.1, 0.1, 0.1], velocity: [1, 0, 0]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{push: {{type: actuator, joint: slide, effort: '{effort}'}}}}
study: {{t_end: 1, output_step: 0.1}}
"
        )
    };
    // x at the end for each; unit speed, mass 2.
    let brake = |x0: f64, f: f64| {
        let t = 1.0 - x0;
        x0 + t - 0.25 * f * t * t
    };
    for (effort, x, switches) in [
        ("if(t < 0.3, 0, 4)", 1.0 + 0.7 * 0.7, 1),
        ("-3*step(slide.distance, 0.25)", brake(0.25, 3.0), 1),
        // Square waves of 4 N for the first half of each tenth of a second.
        ("if(mod(t, 0.1) < 0.05, 4, 0)", 1.0 + (0..10).map(|k| 0.00125 * 2.0 + 0.1 * (1.0 - 0.05 - 0.1 * f64::from(k))).sum::<f64>(), 19),
        // A spring on one side only, which has no jump: half an oscillation with 5 rad/s after 0.1 s.
        ("-50*max(slide.distance - 0.1, 0)", 0.1 - (0.9 - std::f64::consts::PI / 5.0), 0),
    ] {
        let model = parse(&text(effort));
        for f in names() {
            let r = run(&model, f, tolerance(f));
            let off = (last(&r, "slide.distance") - x).abs();
            assert!(off < if tolerance(f) > 1e-7 { 1e-4 } else { 1e-9 }, "{f}, {effort}: off by {off:.1e}");
            let jumps = r.events.iter().filter(|h| h.kind == Kind::Jump && h.name == "push").count();
            assert!(jumps == switches, "{f}, {effort}: {:?}", r.events);
        }
    }
}

/// A smooth pulse within a long rest is not stepped over by any step size control: the speed after it is that of its impulse.
#[test]
fn a_pulse_that_finds_everything_at_rest_is_met() {
    let seed = 20_261_118;
    println!("seed {seed}");
    let mut random = fourbar::random::Random(seed);
    for k in 0..4 {
        let mut draw = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + random.number());
        let a = draw(0.05, 60.0);
        let b = a + draw(0.01, 0.1);
        let (c, function) = (b + draw(0.0, 0.1), if k % 2 == 0 { "smoothstep" } else { "smootherstep" });
        let d = c + draw(0.01, 0.1);
        let text = format!(
            "
fourbar: 1
parameters: {{from: {a:?}, wide: {:?}}}
bodies: {{mass: {{mass: 2, inertia: [0.1, 0.1, 0.1]}}}}
joints: {{slide: {{type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}}}
forces: {{push: {{type: actuator, joint: slide, effort: '4*{function}(2*(t - from)/wide, 0, 2)*{function}(-t, -{d:?}, -{c:?})'}}}}
study: {{t_end: 100, output_step: 10}}
",
            b - a
        );
        let model = parse(&text);
        let speed = 2.0 * (0.5 * (b - a) + (c - b) + 0.5 * (d - c));
        for f in names() {
            let r = run(&model, f, tolerance(f));
            let off = (last(&r, "slide.speed") - speed).abs();
            assert!(off < if tolerance(f) > 1e-7 { 1e-3 } else { 1e-7 } * speed, "seed {seed}, {f}: off by {off:.1e} of {speed}");
        }
        for integrator in ["radau", "dopri5"] {
            let study =
                Study { formulation: Some("grcr".into()), integrator: Some(integrator.into()), tol: Some(1e-9), ..Study::of(&model) };
            let mut rows = Trajectory::default();
            study::run(&model, &study, &mut rows).unwrap_or_else(|f| panic!("{integrator}: {}", f.diagnostic));
            let off = (rows.column("slide.speed").expect("there").last().expect("rows") - speed).abs();
            assert!(off < 1e-5 * speed, "seed {seed}, {integrator}: off by {off:.1e} of {speed}");
        }
    }
}

/// Positions that jump are rejected however the jump is written.
#[test]
fn positions_that_jump_are_refused_by_name() {
    let text = include_str!("data/found/drive_step.yaml");
    for (function, from, to) in
        [("step(t, 0.5)", 0.0, 1.0), ("if(t < 0.5, t, 2)", 0.5, 2.0), ("floor(2*t)*0.1", 0.0, 0.1), ("mod(t, 0.5)", 0.5, 0.0)]
    {
        let model = parse(&text.replace("step(t, 0.5)", function));
        for f in names() {
            let study = Study { formulation: Some(f.into()), ..Study::of(&model) };
            let d = study::run(&model, &study, &mut Trajectory::default()).expect_err("a jump").diagnostic;
            assert!(d.code.0 == "S244" && d.names == ["d"] && d.message.contains("the value that `d` prescribes jumps"), "{f}: {d}");
            let there = if to == 0.0 { String::new() } else { format!(" to {to} rad") };
            assert!(d.message.contains(&format!("from {from}{there}")), "{f}: {d}");
        }
        // Also beyond the end of the study, when a simulation continues.
        let s = Study { t_end: 0.3, formulation: Some("grcr".into()), ..Study::of(&model) };
        let mut held = Simulation::new(&std::sync::Arc::new(model), &s).expect("starts");
        held.advance(0.4).expect("moves");
        assert_eq!(held.advance(0.6).expect_err("a jump").code.0, "S244", "{function}");
    }
}

/// Kinematics follows a speed that jumps.
#[test]
fn kinematics_passes_corners() {
    let model = parse(&include_str!("data/found/drive_ramp.yaml").replace("drives:", "drives:\n  e: {joint: j2, angle: 't'}"));
    let mut rows = Trajectory::default();
    let report = study::run(&model, &Study::of(&model), &mut rows).unwrap_or_else(|f| panic!("{}", f.diagnostic));
    assert_eq!(report.analysis, Analysis::Kinematics);
    assert!(report.warnings.iter().any(|w| w.code.0 == "W244"));
    assert!((rows.column("j1.angle").expect("there").last().expect("rows") - 1.0).abs() < 1e-12);
    let [t, w] = ["t", "a.omega.y"].map(|c| rows.column(c).expect("there"));
    // The ramp begins and ends with a corner.
    for (t, w) in t.iter().zip(w).filter(|(t, _)| (**t - 0.5).abs() > 1e-9 && (**t - 1.0).abs() > 1e-9) {
        assert!((w.abs() - if *t < 0.5 { 0.0 } else { 2.0 }).abs() < 1e-9, "{w} at {t}");
    }
}

/// A force against the sign of a speed switches without end: this is reported, and the run continues.
#[test]
fn a_relay_that_never_settles_is_told() {
    let model = parse(
        "
fourbar: 1
bodies: {mass: {mass: 1, inertia: [0.1, 0.1, 0.1], velocity: [1, 0, 0]}}
joints: {slide: {type: prismatic, bodies: [ground, mass], at: [0, 0, 0], axis: [1, 0, 0]}}
forces: {rub: {type: actuator, joint: slide, effort: '-4*sign(slide.speed)'}}
study: {t_end: 0.3, output_step: 0.01}
",
    );
    let study = Study { formulation: Some("grcr".into()), tol: Some(1e-6), ..Study::of(&model) };
    let mut rows = Trajectory::default();
    match study::run(&model, &study, &mut rows) {
        Ok(report) => {
            assert!(report.warnings.iter().any(|w| w.code.0 == "W303" && w.names == ["rub"]), "{:?}", report.warnings);
            assert!((rows.column("slide.distance").expect("there").last().expect("rows") - 0.125).abs() < 1e-4);
        }
        Err(failed) => {
            let report = failed.report.expect("there");
            assert!(report.warnings.iter().any(|w| w.code.0 == "W303"), "{} {:?}", failed.diagnostic, report.warnings);
        }
    }
}

/// A run saved between events continues to the bit.
#[test]
fn what_is_saved_after_an_event_goes_on_to_the_bit() {
    let texts = [
        include_str!("data/found/drive_ramp.yaml").to_string(),
        include_str!("data/found/drive_ramp.yaml").replace("angle: 'ramp(t, 0.5, 1)'", "speed: '2*step(t, 0.5)'"),
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/event_ratchet.yaml")).expect("shipped"),
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/rope_swing.yaml")).expect("shipped"),
    ];
    for text in &texts {
        let model = std::sync::Arc::new(parse(text));
        let end = Study::of(&model).t_end.min(2.0);
        for f in ["grcr", "ra", "so3xr3", "dca"] {
            let s = Study { formulation: Some(f.into()), tol: Some(1e-6), ..Study::of(&model) };
            let mut one = match Simulation::new(&model, &s) {
                Ok(one) => one,
                Err(d) => panic!("{} {f}: {d}", model.title),
            };
            one.run_ahead(end);
            let times = [0.31, 0.62, 0.8].map(|x| x * end);
            let mut kept = Vec::new();
            for t in times {
                one.advance(t).unwrap_or_else(|d| panic!("{} {f}: {d}", model.title));
                kept.push(one.save());
            }
            one.advance(end).expect("moves");
            for saved in kept {
                let mut again = Simulation::new(&model, &s).expect("starts");
                again.restore(&saved).unwrap_or_else(|d| panic!("{} {f}: {d}", model.title));
                again.run_ahead(end);
                for t in times.into_iter().filter(|t| *t > again.t()).collect::<Vec<_>>() {
                    again.advance(t).expect("moves");
                }
                again.advance(end).expect("moves");
                assert_eq!(again.state(), one.state(), "{} {f}", model.title);
                assert_eq!(again.events(), one.events(), "{} {f}", model.title);
            }
        }
    }
}
