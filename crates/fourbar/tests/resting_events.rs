//! Events whose expressions stay at zero for a while, that wait for each other, or whose actions are impossible; bodies that slide and
//! rotate until they stop. Against closed forms and laws.

use crate::contact::codes;
use fourbar::events::Kind;
use fourbar::random::Random;
use fourbar::study::{self, Report, Study};
use fourbar::{Model, Trajectory};
use fourbar_testing::common::parse;

const ALL: [&str; 5] = ["natural", "grcr", "lie", "dca", "ra"];

fn run(model: &Model, formulation: &str) -> (Report, Trajectory) {
    let mut rows = Trajectory::default();
    let study = Study { formulation: Some(formulation.into()), ..Study::of(model) };
    let report = study::run(model, &study, &mut rows).unwrap_or_else(|f| panic!("{formulation}: {}", f.diagnostic));
    (report, rows)
}

fn last(rows: &Trajectory, column: &str) -> f64 {
    *rows.column(column).unwrap_or_else(|| panic!("{column}")).last().expect("rows")
}

/// A cart of two kilograms that starts with 1 m/s; `joint` is added to its joint.
fn cart(joint: &str, sections: &str) -> String {
    format!(
        "
fourbar: 1
bodies: {{c: {{mass: 2, inertia: [0.01, 0.01, 0.01], velocity: [1, 0, 0]}}}}
joints: {{j: {{type: prismatic, bodies: [ground, c], at: [0, 0, 0], axis: [1, 0, 0]{joint}}}}}
{sections}
study: {{analysis: dynamics, t_end: 3, output_step: 0.1}}"
    )
}

fn times(report: &Report, name: &str) -> Vec<f64> {
    report.events.iter().filter(|e| e.kind == Kind::Event && e.name == name).map(|e| e.t).collect()
}

#[test]
fn an_expression_that_rests_at_zero_does_not_pass_it() {
    let pushed = "forces: {p: {type: actuator, joint: j, effort: 'if(t < 2, 1, -1)'}}";
    // It rests on its limit and returns: its speed falls to zero, stays there, and becomes negative.
    for (direction, expected) in [("rising", 0), ("falling", 1), ("any", 1)] {
        let events =
            format!("inputs: {{u: {{default: 0}}}}\nevents: {{e: {{when: j.speed, direction: {direction}, do: [{{set: {{u: u + 1}}}}]}}}}");
        let model = parse(&cart(", limits: {max: 1}", &format!("{pushed}\n{events}")));
        for f in ALL {
            let (report, rows) = run(&model, f);
            let found = times(&report, "e");
            assert_eq!(found.len(), expected, "{f}, {direction}: {found:?}");
            // It arrives at t + t^2/4 = 1, and returns with half a metre per second squared from t = 2 on.
            let arrives = 8.0_f64.sqrt() - 2.0;
            assert!(found.iter().all(|t| (t - arrives).abs() < 1e-4), "{f}, {direction}: {found:?}");
            assert!((last(&rows, "j.distance") - 0.75).abs() < 1e-4, "{f}: {}", last(&rows, "j.distance"));
        }
    }
    // A pendulum hangs at rest until it is pushed to the other side; a state that never changes.
    let hangs = parse(
        "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {a: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, -1, 0]}}
joints: {p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}}
forces: {m: {type: actuator, joint: p, effort: 'if(t < 0.5, 0, -1)'}}
events: {x: {when: p.angle, direction: rising, do: [{stop: true}]}}
study: {analysis: dynamics, t_end: 1, output_step: 0.1}",
    );
    let constant = parse(&cart("", "states: {n: {rate: '0*t', start: 0}}\nevents: {e: {when: n, direction: any, do: [{lock: j}]}}"));
    for f in ALL {
        assert!((last(&run(&hangs, f).1, "t") - 1.0).abs() < 1e-12, "{f}");
        assert!((last(&run(&constant, f).1, "j.distance") - 3.0).abs() < 1e-6, "{f}");
    }
}

#[test]
fn an_expression_that_jumps_onto_zero_has_reached_it() {
    let model = parse(&cart(
        "",
        "
states: {n: {rate: '0*t', start: 0}}
events:
  tick: {when: 'sin(2*pi*t)', direction: rising, do: [{set: {n: n + 1}}]}
  second: {when: n - 2, direction: rising, do: [{lock: j}]}",
    ));
    for f in ALL {
        let (report, rows) = run(&model, f);
        assert!(times(&report, "second").iter().all(|t| (t - 2.0).abs() < 1e-9), "{f}: {:?}", times(&report, "second"));
        assert!((last(&rows, "j.distance") - 2.0).abs() < 1e-6, "{f}: {}", last(&rows, "j.distance"));
    }
}

#[test]
fn an_event_may_wait_for_one_of_the_same_instant() {
    let model = parse(&cart(
        "",
        "
inputs: {u: {default: 0}}
events:
  a: {when: t - 1, do: [{set: {u: 1}}]}
  b: {when: t - 1, after: a, do: [{lock: j}]}",
    ));
    for f in ALL {
        let (report, rows) = run(&model, f);
        assert_eq!((times(&report, "a").len(), times(&report, "b").len()), (1, 1), "{f}");
        assert!((last(&rows, "j.distance") - 1.0).abs() < 1e-6, "{f}: {}", last(&rows, "j.distance"));
    }
}

#[test]
fn a_removed_joint_has_no_limits() {
    let model = parse(&cart(", limits: {max: 1.5, restitution: 0.5}", "events: {drop: {when: t - 0.5, do: [{remove: j}]}}"));
    for f in ALL {
        let (report, rows) = run(&model, f);
        assert_eq!(report.events.len(), 1, "{f}: {:?}", report.events);
        assert!((last(&rows, "c.r.x") - 3.0).abs() < 1e-6, "{f}");
    }
}

#[test]
fn a_drive_by_acceleration_goes_on_from_where_its_joint_is() {
    let model = parse(
        &cart("", "drives: {d: {joint: j, acceleration: 1}}\nevents: {off: {when: t - 1, do: [{disable: d}]}, on: {when: t - 2, do: [{enable: d}]}}")
            .replace(", velocity: [1, 0, 0]", ""),
    );
    for f in ["auto", "grcr", "lie", "dca", "ra"] {
        let (_, rows) = run(&model, f);
        let [x, v] = ["j.distance", "j.speed"].map(|c| last(&rows, c));
        assert!((x - 3.0).abs() < 1e-5 && (v - 2.0).abs() < 1e-5, "{f}: {x} {v}");
    }
}

#[test]
fn what_cannot_be_switched_is_refused_by_name() {
    let locked = parse(&cart("", "drives: {d: {joint: j, distance: t}}\nevents: {e: {when: t - 1, do: [{lock: j}]}}"));
    let failed = study::run(&locked, &Study::of(&locked), &mut Trajectory::default()).expect_err("a drive moves it");
    assert_eq!((failed.diagnostic.code.0, failed.diagnostic.names.join(" ")), ("S304", "e j d".to_string()));
    let refused = |text: &str, code: &str| {
        assert_eq!(codes(text).first().map(String::as_str), Some(code), "{text}");
    };
    let forces = "forces: {p: {type: actuator, joint: j, effort: 1}}";
    refused(
        &cart("", &format!("{forces}\nevents: {{a: {{when: t - 1, do: [{{remove: p}}]}}, b: {{when: t - 2, do: [{{enable: p}}]}}}}")),
        "M134",
    );
    let floor = "{plane: {normal: [0, 1, 0]}}";
    refused(
        &cart("", &format!("contacts: {{f: {{between: [{{body: c, radius: 0.1}}, {floor}], friction: {{coulomb: 0.2, speed: 0.01}}}}}}")),
        "M154",
    );
    let curve = "curves: {lobe: {points: [[0.04, 0], [0, 0.03], [-0.04, 0], [0, -0.03]], closed: true, plane: {normal: [0, 0, 1]}}}";
    let square = "polygon: [[-0.1, 0.1, 0], [0.1, 0.1, 0], [0.1, 0.2, 0], [-0.1, 0.2, 0]]";
    refused(
        &cart(
            "",
            &format!("{curve}\ncontacts: {{f: {{between: [{{body: c, {square}}}, {{body: ground, curve: lobe}}], stiffness: 1e5}}}}"),
        ),
        "M150",
    );
}

/// A box that slides and turns on a rough plane stops as a whole, even if it rotates about one of its corners before, and friction never
/// accelerates it.
#[test]
fn boxes_that_slide_and_turn_come_to_rest() {
    let mut random = Random(20_261_118);
    for case in 0..6 {
        let mut draw = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + random.number());
        let [a, b, mass] = [draw(0.15, 0.4), draw(0.15, 0.4), draw(0.5, 3.0)];
        let [vx, vz, turn, mu] = [draw(0.2, 1.0), draw(-0.5, 0.5), draw(2.0, 8.0), draw(0.1, 0.5)];
        let h = 0.12;
        let inertia = [b * b + h * h, a * a + b * b, a * a + h * h].map(|x| mass * x / 12.0);
        let model = parse(&format!(
            "
fourbar: 1
gravity: [0, -9.81, 0]
bodies: {{b: {{mass: {mass:?}, inertia: {inertia:?}, at: [0, 0.06, 0], velocity: [{vx:?}, 0, {vz:?}], omega: [0, {turn:?}, 0]}}}}
contacts: {{f: {{between: [{{body: b, box: [{a:?}, {h:?}, {b:?}]}}, {{plane: {{normal: [0, 1, 0]}}}}], friction: {mu:?}}}}}
study: {{analysis: dynamics, t_end: 2, output_step: 0.01, tol: 1e-8}}"
        ));
        let mut ends: Vec<[f64; 3]> = Vec::new();
        for f in ["auto", "grcr", "dca", "lie", "so3xr3"] {
            let mut rows = Trajectory::default();
            let study = Study { formulation: Some(f.into()), ..Study::of(&model) };
            study::run(&model, &study, &mut rows).unwrap_or_else(|e| panic!("{case}, {f}: {}", e.diagnostic));
            let kinetic = rows.column("energy.kinetic").expect("a column");
            let grown = kinetic.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
            assert!(grown <= 1e-6 * kinetic[0], "{case}, {f}: kinetic energy grows by {grown}");
            assert!(last(&rows, "energy.kinetic") < 1e-9 * kinetic[0], "{case}, {f}: {}", last(&rows, "energy.kinetic"));
            ends.push(["b.r.x", "b.r.z", "b.p.2"].map(|c| last(&rows, c)));
        }
        // Normal forces at four corners are not unique, but every formulation distributes them equally.
        for end in &ends {
            let apart = end.iter().zip(&ends[0]).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-6, "{case}: {ends:?}");
        }
    }
}
