//! Tables, functions and outputs in motion: a table as a drive and as a force in every formulation, against the tabulated function and
//! against each other.

use fourbar::study::{self, Analysis, FORMULATIONS, Study};
use fourbar::time::TimeFunction;
use fourbar::{Model, Trajectory};
use fourbar_testing::common::{parse, run};
use std::f64::consts::TAU;

/// Points of a function as in a file, with all digits.
fn points(f: impl Fn(f64) -> f64, from: f64, to: f64, intervals: usize) -> String {
    let point = |k: usize| {
        let x = from + (to - from) * k as f64 / intervals as f64;
        format!("[{x:?}, {:?}]", f(x))
    };
    format!("[{}]", (0..=intervals).map(point).collect::<Vec<_>>().join(", "))
}

/// A sine over a full period whose last value equals the first to the bit.
fn sine(intervals: usize) -> String {
    points(|x| if x == TAU { 0.0 } else { x.sin() }, 0.0, TAU, intervals)
}

/// A driven crank, a rod that swings on it, and a weight that slides on the rod against a spring.
fn swing(drive: &str, torque: &str, tables: &str) -> Model {
    parse(&format!(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies:
  crank: {{mass: 1, inertia: [0, 0.02, 0.02], at: [0.2, 0, 0]}}
  rod: {{mass: 0.6, inertia: [1e-4, 0.01, 0.01], at: [0.6, 0, 0]}}
  weight: {{mass: 0.3, inertia: [1e-3, 1e-3, 1e-3], at: [0.6, 0, 0]}}
joints:
  O: {{type: revolute, bodies: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}}
  A: {{type: revolute, bodies: [crank, rod], at: [0.4, 0, 0], axis: [0, 1, 0]}}
  S: {{type: prismatic, bodies: [rod, weight], at: [0.6, 0, 0], axis: [1, 0, 0]}}
drives:
  motor: {{joint: O, {drive}}}
forces:
  bend: {{type: torsion, joint: A, torque: '{torque}'}}
  hold: {{type: spring, between: [{{body: rod}}, {{body: weight, at: [0, 0, 0.05]}}], stiffness: 120, length: 0.05, damping: 1}}
points: {{tip: {{body: rod, at: [0.2, 0, 0]}}}}
tables: {{{tables}}}
outputs:
  reach: {{value: 'hypot(tip.x, tip.z)', unit: mm}}
  bent: {{value: A.angle, unit: deg}}
  sway: tip.vx + A.speed
  late: '2*t'
study: {{analysis: dynamics, t_end: 1.5, output_step: 0.1}}
"
    ))
}

/// The default second-order integrators need small fixed steps for such accuracy; all others satisfy the tolerance.
fn studies(model: &Model, tol: f64) -> Vec<Study> {
    let mut list = Vec::new();
    for f in FORMULATIONS {
        let implicit = f.integrators.contains(&"gen-alpha");
        list.push(Study {
            formulation: Some(f.name.into()),
            analysis: Some(Analysis::Dynamics),
            tol: (!implicit).then_some(tol),
            step: implicit.then_some(2e-4),
            ..Study::of(model)
        });
    }
    list
}

/// Largest difference in positions.
fn apart(a: &Trajectory, b: &Trajectory) -> f64 {
    let mut worst = 0.0_f64;
    for (k, c) in a.columns.iter().enumerate().filter(|(_, c)| c.name.contains(".r.") || c.name == "A.angle" || c.name == "S.distance") {
        assert_eq!(c.name, b.columns[k].name);
        for i in 0..a.len() {
            let d = (a.row(i)[k] - b.row(i)[k]).abs();
            worst = if d.is_nan() { f64::INFINITY } else { worst.max(d) };
        }
    }
    worst
}

#[test]
fn a_table_of_a_sine_drives_as_the_sine_does_in_every_formulation() {
    let exact = swing("angle: 0.8*sin(3*t)", "0.5*sin(angle) + 0.05*rate", "");
    let (truth, _) = run(&exact, &Study { formulation: Some("natural".into()), tol: Some(1e-12), ..Study::of(&exact) });
    let text = format!("wave: {{ends: periodic, points: {}}}", sine(100));
    let tabled = swing("angle: 0.8*wave(3*t)", "0.5*wave(angle) + 0.05*rate", &text);
    let (reference, _) = run(&tabled, &Study { formulation: Some("natural".into()), tol: Some(1e-12), ..Study::of(&tabled) });
    for study in studies(&tabled, 1e-9) {
        let name = study.formulation.clone().unwrap_or_default();
        let (rows, report) = run(&tabled, &study);
        assert!(report.warnings.is_empty(), "{name}: {:?}", report.warnings);
        // Second derivatives of the spline have an error of h^2/12 = 3e-4, times amplitudes and times.
        let off = apart(&rows, &truth);
        assert!(off < 2e-4, "{name} is {off:.1e} from the sine");
        // Second-order steps of 0.2 ms give an error of 6e-6; the others 1e-9 per step.
        let d = apart(&rows, &reference);
        assert!(d < if study.step.is_some() { 2e-5 } else { 1e-7 }, "{name} is {d:.1e} from natural coordinates");
    }
}

/// Table points do not reduce high order: every method satisfies the tolerance. Without steps that end at the points of a driving table,
/// the error of `grcr` was 600 tolerances.
#[test]
fn tolerances_are_kept_across_the_points_of_a_table() {
    let text = format!("wave: {{ends: periodic, points: {}}}", sine(24));
    let model = swing("angle: 0.8*wave(3*t)", "0.5*wave(angle) + 0.05*rate", &text);
    let with = |name: &str, integrator: &str, tol: f64| {
        let study = Study {
            formulation: Some(name.into()),
            integrator: Some(integrator.into()),
            analysis: Some(Analysis::Dynamics),
            tol: Some(tol),
            ..Study::of(&model)
        };
        run(&model, &study).0
    };
    // The Taylor series restarts at every point.
    let truth = with("natural", "taylor", 1e-13);
    assert!(apart(&with("natural", "taylor", 1e-11), &truth) < 1e-10);
    for (name, integrator) in [("grcr", "dopri5"), ("grcr", "dop853"), ("so3xr3", "dop853"), ("lie", "dopri5"), ("dca", "dopri5")] {
        for tol in [1e-6, 1e-8, 1e-10] {
            let d = apart(&with(name, integrator, tol), &truth);
            // As with the smooth function: a few times the tolerance, since steps end at the points.
            assert!(d < 10.0 * tol, "{name} with {integrator} at {tol:e}: {d:.1e}");
        }
    }
}

#[test]
fn a_speed_by_table_is_integrated_exactly() {
    // The spline of a cubic with its slopes is the cubic.
    let text = format!("v: {{slopes: [0.3, -0.4475], points: {}}}", points(|x| 0.3 * x - 0.05 * x * x * x, 0.0, 2.2, 9));
    let slope = 0.3 - 0.15 * 2.2 * 2.2;
    let text = text.replace("-0.4475", &format!("{slope:?}"));
    let model = swing("speed: v(t)", "0", &text);
    let exact = swing("angle: 0.15*t^2 - 0.0125*t^4", "0", "");
    for name in ["grcr", "natural", "lie"] {
        let study = |m: &Model| Study { formulation: Some(name.into()), tol: Some(1e-11), ..Study::of(m) };
        let d = apart(&run(&model, &study(&model)).0, &run(&exact, &study(&exact)).0);
        assert!(d < 1e-9, "{name}: {d:.1e}");
    }
    // Dense tables as well: ten thousand points in a second.
    let dense = format!("wave: {{points: {}}}", points(f64::sin, 0.0, 1.0, 10_000));
    let model = swing("speed: wave(t)", "0", &dense);
    let TimeFunction::Integral(f) = &model.drives[0].value else { panic!("a speed") };
    for t in [0.1_f64, 0.5, 0.93] {
        assert!((f.at(t)[0] - (1.0 - t.cos())).abs() < 1e-12, "{t}: {:e}", f.at(t)[0] - (1.0 - t.cos()));
    }
}

/// Kinematics, drawn tables, all kinds of ends: speeds and accelerations are the derivatives of the positions.
#[test]
fn drawn_tables_drive_with_exact_derivatives() {
    let mut random = fourbar::random::Random(5);
    let mut between = |a: f64, b: f64| a + (b - a) * 0.5 * (1.0 + random.number());
    for round in 0..12 {
        let n = 5 + round;
        let mut x = -0.1;
        let mut list: Vec<[f64; 2]> = Vec::new();
        for _ in 0..n {
            list.push([x, between(-0.6, 0.6)]);
            x += between(0.1, 0.4);
        }
        let ends = ["natural", "flat", "periodic"][round % 3];
        if ends == "periodic" {
            list[n - 1][1] = list[0][1];
        }
        let written: Vec<String> = list.iter().map(|p| format!("[{:?}, {:?}]", p[0], p[1])).collect();
        let text = format!("path: {{ends: {ends}, points: [{}]}}", written.join(", "));
        let model = swing("angle: path(t + 0.02)", "0.3*angle", &text);
        let f = &model.drives[0].value;
        for k in 0..40 {
            let t = 0.011 + 0.01 * f64::from(k);
            let near = list.iter().map(|p| p[0] - 0.02 - t).fold(1.0_f64, |m, d| if d.abs() < m.abs() { d } else { m });
            if near.abs() < 2e-5 {
                continue;
            }
            let h = 1e-5;
            let [a, b, c] = [f.at(t - h), f.at(t), f.at(t + h)];
            assert!((b[1] - (c[0] - a[0]) / (2.0 * h)).abs() < 1e-6, "{ends}: speed at {t}");
            assert!((b[2] - (c[1] - a[1]) / (2.0 * h)).abs() < 1e-4, "{ends}: acceleration at {t}: {} {}", b[2], (c[1] - a[1]) / (2.0 * h));
        }
        if ends == "flat" {
            continue;
        }
        let study = |name: &str| Study { formulation: Some(name.into()), tol: Some(1e-10), t_end: 0.4, ..Study::of(&model) };
        let d = apart(&run(&model, &study("grcr")).0, &run(&model, &study("natural")).0);
        assert!(d < 1e-7, "round {round}, {ends}: {d:.1e}");
    }
}

#[test]
fn a_start_at_rest_on_a_point_of_a_table_moves_off() {
    // The joint starts at angle 0, a point of the table, and at rest.
    let text = "stiff: {points: [[-1, -2], [-0.5, -0.6], [0, 0], [0.5, 0.7], [1, 2]], outside: linear}";
    let model = swing("angle: 0", "stiff(angle)", text);
    let study = |name: &str| Study { formulation: Some(name.into()), tol: Some(1e-10), ..Study::of(&model) };
    let (a, _) = run(&model, &study("natural"));
    let d = apart(&a, &run(&model, &study("grcr")).0);
    assert!(d < 1e-7, "{d:.1e}");
    let angle = a.column("A.angle").expect("there");
    assert!(angle.iter().any(|x| x.abs() > 0.3), "it does move: {angle:?}");
}

#[test]
fn outputs_are_columns_in_their_units() {
    let model = swing("angle: 0.8*sin(3*t)", "0.5*angle", "");
    let (rows, _) = run(&model, &Study { formulation: Some("grcr".into()), tol: Some(1e-9), ..Study::of(&model) });
    let unit = |name: &str| rows.columns[rows.find(name).expect(name)].unit.to_string();
    assert_eq!([unit("reach"), unit("bent"), unit("sway"), unit("late")], ["mm", "deg", "", ""]);
    let column = |name: &str| rows.column(name).expect("there");
    for i in 0..rows.len() {
        let (x, z) = (column("tip.x")[i], column("tip.z")[i]);
        assert!((column("reach")[i] - 1e3 * x.hypot(z)).abs() < 1e-9);
        assert!((column("bent")[i] - column("A.angle")[i].to_degrees()).abs() < 1e-10);
        assert!((column("late")[i] - 2.0 * column("t")[i]).abs() < 1e-15);
        // v + omega x r of the tip, and the rate of the joint: omega of the rod minus that of the crank, about y.
        let (vx, w) = (column("rod.v.x")[i], column("rod.omega.y")[i]);
        let sway = vx + w * (z - column("rod.r.z")[i]) + w - column("crank.omega.y")[i];
        assert!((column("sway")[i] - sway).abs() < 1e-10, "{} {sway}", column("sway")[i]);
    }
    // The same by kinematics.
    let kinematics = parse(
        "
fourbar: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
drives: {m: {joint: O, angle: ph}}
functions: {ph: '2*pi*smoothstep(t, 0, 1.2)', double: 2*ph}
outputs: {d: 'double - 2*O.angle'}
study: {analysis: kinematics, t_end: 1, output_step: 0.1}
",
    );
    let (rows, _) = run(&kinematics, &Study::of(&kinematics));
    assert!(rows.column("d").expect("there").iter().all(|d| d.abs() < 1e-12));
    assert!(rows.column("O.angle").expect("there")[10] > 6.0);
}

/// A function may read inputs; where inputs are not allowed it is rejected by name.
#[test]
fn functions_read_inputs() {
    let text = |function: &str, drive: &str| {
        format!(
            "
fourbar: 1
gravity: [0, 0, 0]
bodies: {{a: {{mass: 1, inertia: [1, 1, 2]}}}}
joints: {{O: {{type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}}}
inputs: {{u: {{unit: N*m, default: 3}}}}
functions: {{{function}}}
{drive}
study: {{analysis: dynamics, t_end: 1, output_step: 0.1}}
"
        )
    };
    let model = parse(&text("push: '2*u*t + half', half: u/2", "forces: {m: {type: actuator, joint: O, effort: push}}"));
    for f in ["ra", "lie", "dca", "grcr", "natural"] {
        let study = Study { formulation: Some(f.into()), tol: Some(1e-10), ..Study::of(&model) };
        let (rows, _) = run(&model, &study);
        // Two times the acceleration is 6 t + 1.5.
        let (t, angle) = (rows.column("t").expect("t"), rows.column("O.angle").expect("angle"));
        for (t, angle) in t.iter().zip(angle) {
            let exact = t.powi(3) / 2.0 + 0.375 * t * t;
            assert!((angle - exact).abs() < 1e-9, "{f}, t = {t}: {angle} instead of {exact}");
        }
    }
    for (drive, refused) in [("angle: push", true), ("speed: push", false)] {
        let read = fourbar_io::read_model(
            &text("push: 2*u*t", &format!("drives: {{m: {{joint: O, {drive}}}}}")),
            &fourbar_io::ReadOptions::default(),
        );
        match read {
            Ok(_) => assert!(!refused, "{drive}"),
            Err(e) => {
                let (code, message) = e.iter().next().map(|d| (d.code.0, d.message.clone())).expect("a reason");
                assert!(refused && code == "M602", "{drive}: {message}");
                assert!(message.contains("function `push`") && message.contains("input `u`"), "{message}");
            }
        }
    }
}

#[test]
fn tables_read_beyond_their_points_are_told_or_stop_the_run() {
    let points = "points: [[0, 0], [0.3, 0.1], [0.6, 0.3], [1, 0.4]]";
    let run_with = |outside: &str| {
        let model = swing("angle: rise(t)", "0", &format!("rise: {{{points}{outside}}}"));
        let mut rows = Trajectory::default();
        let study = Study { formulation: Some("grcr".into()), tol: Some(1e-9), ..Study::of(&model) };
        (study::run(&model, &study, &mut rows), rows)
    };
    let (report, _) = run_with("");
    let warnings = report.expect("it runs").warnings;
    assert_eq!(warnings.iter().map(|w| w.code.0).collect::<Vec<_>>(), ["W621"]);
    assert!(warnings[0].message.contains("`motor` reads the table `rise` at 1.1"), "{}", warnings[0].message);
    assert!(run_with(", outside: linear").0.expect("it runs").warnings.is_empty());
    let (stopped, rows) = run_with(", outside: error");
    let failed = stopped.expect_err("it stops");
    assert_eq!((failed.diagnostic.code.0, rows.len()), ("S620", 11));
    // A constant value after a slope causes an impact.
    let (report, _) = run_with(", outside: hold");
    let events = report.expect("it runs").events;
    assert!(events.iter().any(|h| h.name == "motor" && h.kind == fourbar::events::Kind::Impact && h.speed[1] == 0.0), "{events:?}");
    // The length of the spring is checked as well.
    let spring = parse(
        "
fourbar: 1
gravity: [0, 0, -9.81]
bodies: {a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, -1]}}
joints: {G: {type: prismatic, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
forces: {s: {type: spring, between: [{body: ground}, {body: a}], tension: pull(length)}}
tables: {pull: {points: [[0.9, 0], [1, 1], [1.2, 3], [1.4, 5]]}}
study: {t_end: 1, output_step: 0.1}
",
    );
    let (_, report) = run(&spring, &Study::of(&spring));
    assert!(report.warnings.iter().any(|w| w.code.0 == "W621" && w.message.contains("`pull`")), "{:?}", report.warnings);
}

#[test]
fn an_output_without_a_value_stops_the_run_by_name() {
    let model = parse(
        "
fourbar: 1
bodies: {a: {mass: 1, inertia: [1, 1, 1]}}
joints: {O: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
outputs: {root: sqrt(0.45 - t)}
study: {t_end: 1, output_step: 0.1}
",
    );
    let mut rows = Trajectory::default();
    let failed = study::run(&model, &Study::of(&model), &mut rows).expect_err("no root");
    assert_eq!((failed.diagnostic.code.0, rows.len()), ("S250", 5));
    assert!(failed.diagnostic.message.contains("`root`") && failed.diagnostic.help.contains("if("), "{}", failed.diagnostic);
}
