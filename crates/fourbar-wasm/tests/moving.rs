//! Mechanisms simulated in the page: states, events, motors, hands and their energy.

use crate::common::{Page, text};
use fourbar::study::{self, Study};
use fourbar::trajectory::Trajectory;
use serde_json::{Value, json};

/// A rotating mass with a torque that a state ramps up, and an input.
const RAMP: &str = "fourbar: 1
inputs: {u: {default: 0, range: [-5, 5]}}
bodies: {bob: {mass: 1, inertia: [1, 1, 1]}}
joints: {O: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}}
forces: {act: {type: actuator, joint: O, effort: 's + u'}}
states: {s: {rate: '1', start: 0}}
study: {t_end: 2, output_step: 10 ms}
";

/// A pendulum whose pin is removed after 0.3 s, and a weight in a guide.
const CUT: &str = "fourbar: 1
gravity: [0, -9.81, 0]
bodies:
  bob: {mass: 1, inertia: [0.01, 0.01, 0.01], com: [1, 0, 0]}
  weight: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [5, 0, 0]}
joints:
  O: {type: revolute, bodies: [ground, bob], at: [0, 0, 0], axis: [0, 0, 1]}
  W: {type: prismatic, bodies: [ground, weight], at: [5, 0, 0], axis: [0, 1, 0]}
events:
  cut: {when: 't - 0.3', direction: rising, once: true, do: [{remove: O}]}
study: {t_end: 1, output_step: 10 ms}
";

/// A mass on a spring, without gravity.
const SPRING: &str = "fourbar: 1
gravity: [0, -9.81, 0]
bodies: {a: {mass: 2, inertia: [1, 1, 1]}}
joints: {G: {type: prismatic, bodies: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}}
forces: {s: {type: spring, between: [{body: ground, at: [0, 1, 0]}, {body: a, at: [0, 0, 0]}], stiffness: 50, length: 1}}
study: {t_end: 1, output_step: 10 ms}
";

fn start(gravity: bool, motors: bool) -> Value {
    json!({"do": "start", "gravity": gravity, "motors": motors})
}

fn hand(by: f64, body: &str, to: [f64; 3]) -> Value {
    json!({"do": "advance", "by": by, "hand": {"body": body, "at": [0, 0, 0], "to": to}})
}

#[test]
fn states_move_beside_inputs_and_hands() {
    let mut page = Page::of(RAMP);
    page.good(start(true, true));
    for _ in 0..5 {
        page.good(json!({"do": "advance", "by": 0.1}));
    }
    // The torque is s = t: the speed is t^2/2.
    assert!((page.at("s") - 0.5).abs() < 1e-9 && (page.at("act.effort") - 0.5).abs() < 1e-9, "s = {}", page.at("s"));
    assert!((page.at("O.speed") - 0.125).abs() < 1e-6, "{}", page.at("O.speed"));
    // The inputs of a hand precede the states, which must keep their values.
    page.good(hand(0.1, "bob", [0.0, 0.0, 0.0]));
    assert!((page.at("s") - 0.6).abs() < 1e-9, "s = {}", page.at("s"));
    page.good(json!({"do": "set", "input": "u", "value": 2.0}));
    page.good(json!({"do": "advance", "by": 0.1}));
    assert!((page.at("s") - 0.7).abs() < 1e-9 && (page.at("act.effort") - 2.7).abs() < 1e-9, "effort = {}", page.at("act.effort"));
}

#[test]
fn what_an_event_took_out_stays_out_when_a_hand_takes_hold() {
    let mut page = Page::of(CUT);
    page.good(start(true, true));
    for _ in 0..5 {
        page.good(json!({"do": "advance", "by": 0.1}));
    }
    let (before, work) = (page.at("bob.r.y"), page.at("bob.v.y"));
    for k in 1..=3 {
        page.good(hand(0.1, "weight", [5.0, 0.2, 0.0]));
        // Bob falls freely.
        let t = 0.1 * f64::from(k);
        let fallen = before + work * t - 0.5 * 9.81 * t * t;
        assert!((page.at("bob.r.y") - fallen).abs() < 1e-6, "{} instead of {fallen}", page.at("bob.r.y"));
        assert!((page.at("bob.a.y") + 9.81).abs() < 1e-9 && page.at("O.force.y") == 0.0);
    }
    page.good(json!({"do": "advance", "by": 0.1}));
    assert!((page.at("weight.a.y") + 9.81).abs() < 1e-6, "the hand has let go");
    // Requests that would restore the pin are rejected, with the event and a help text.
    for request in [start(false, true), json!({"do": "drag", "body": "bob", "at": [1, 0, 0], "to": [1, 1, 0]})] {
        let reply = page.ask(&request);
        assert_eq!(reply["ok"], false, "{request}");
        let d = &reply["diagnostics"][0];
        assert!(
            d["message"].as_str().is_some_and(|m| m.contains("`cut`")) && d["help"].as_str().is_some_and(|h| h.contains("Reset")),
            "{d}"
        );
    }
    page.good(json!({"do": "advance", "by": 0.1}));
    assert!(page.at("O.force.y") == 0.0, "it goes on as it was");
    page.good(json!({"do": "reset"}));
    page.good(start(false, true));
}

#[test]
fn the_reply_says_what_an_event_changes() {
    let mut page = Page::of(CUT);
    page.good(start(true, true));
    let events: Vec<Value> = (0..2).map(|_| page.good(json!({"do": "advance", "by": 0.2}))["events"].clone()).collect();
    assert_eq!(events[0], json!([]));
    assert_eq!((&events[1][0]["name"], &events[1][0]["off"]), (&json!("cut"), &json!(["O"])), "{events:?}");
    let run = page.good(json!({"do": "run"}));
    assert_eq!(run["page"]["results"][0]["events"][0]["off"], json!(["O"]));
}

#[test]
fn motors_begin_where_a_drag_has_left_the_crank() {
    for name in ["fourbar", "screw_jack"] {
        let model = fourbar_io::load(name).expect(name);
        let drive = &model.drives[0];
        let column = format!("{}.angle", model.joints[drive.joint].name);
        let mut page = Page::of(text(name));
        let first = page.at(&column);
        // Along the motion of the drive, so that every mechanism can follow: to its position at a fraction of the duration.
        let mut rows = Trajectory::default();
        study::run(&model, &Study::of(&model), &mut rows).unwrap_or_else(|f| panic!("{name}: {}", f.diagnostic));
        let k = rows.len() / 3;
        let joint = &model.joints[drive.joint];
        let crank = joint.bodies.iter().map(|b| b.index()).max().expect("two bodies");
        let (com, axis) = (model.bodies[crank].com, joint.M.axis(2));
        let arm = joint.M.s
            + axis.cross(&if axis.x.abs() < 0.9 { nalgebra::Vector3::x() } else { nalgebra::Vector3::y() }).normalize() * model.length;
        for row in (0..=k).map(|k| rows.row(k)) {
            let names = rows.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
            let at = |key: &str| row[names.iter().position(|n| *n == format!("{}.{key}", model.bodies[crank].name)).expect("a column")];
            let q = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(at("p.0"), at("p.1"), at("p.2"), at("p.3")));
            let to = nalgebra::Vector3::new(at("r.x"), at("r.y"), at("r.z")) + q * arm;
            page.good(json!({"do": "drag", "body": model.bodies[crank].name, "at": (arm + com).as_slice(), "to": to.as_slice()}));
        }
        let dragged = page.at(&column);
        assert!((dragged - first).abs() > 0.1, "{name}: {first} to {dragged}");
        page.good(start(true, true));
        assert!((page.at(&column) - dragged).abs() < 1e-9, "{name}: {dragged} became {}", page.at(&column));
        page.good(json!({"do": "advance", "by": 1e-3}));
        let law = drive.value.at(1e-3)[0] - drive.value.at(0.0)[0];
        assert!((page.at(&column) - dragged - law).abs() < 1e-8, "{name}: moved by {} instead of {law}", page.at(&column) - dragged);
    }
}

#[test]
fn what_is_let_go_at_a_time_of_the_recording_has_its_velocities_and_states() {
    let mut page = Page::of(RAMP);
    page.good(start(true, true));
    for _ in 0..8 {
        page.good(json!({"do": "advance", "by": 0.1}));
    }
    let origin = [0.0; 3];
    let half = 0.5 * page.at("O.angle");
    let (s, speed, angle, t) = (page.at("s"), page.at("O.speed"), page.at("O.angle"), page.at("t"));
    let values: Vec<(String, f64)> = ["bob.v.x", "bob.v.y", "bob.v.z", "bob.omega.x", "bob.omega.y", "bob.omega.z", "O.angle", "s"]
        .map(|n| (n.to_string(), page.at(n)))
        .to_vec();
    page.good(json!({"do": "reset"}));
    let pose = |values: Value| json!({"do": "pose", "t": t, "origins": [origin], "quaternions": [[half.cos(), 0, 0, half.sin()]], "values": values});
    page.good(pose(json!(values)));
    page.good(start(true, true));
    assert!((page.at("s") - s).abs() < 1e-12 && (page.at("O.speed") - speed).abs() < 1e-9 && (page.at("O.angle") - angle).abs() < 1e-9);
    page.good(json!({"do": "advance", "by": 0.1}));
    // Continues from s = 0.8 and speed 0.32.
    assert!((page.at("O.speed") - 0.405).abs() < 1e-6, "{}", page.at("O.speed"));
    // Without these values it is at rest, with the start values of the states.
    page.good(pose(json!([])));
    assert!(page.at("O.speed") == 0.0 && page.at("s") == 0.0);
}

#[test]
fn energy_without_gravity_has_none_of_it_and_hands_do_work() {
    let mut page = Page::of(SPRING);
    page.good(json!({"do": "drag", "body": "a", "at": [0, 0, 0], "to": [0, 0.2, 0]}));
    page.good(start(false, true));
    let total = page.at("energy.total");
    for _ in 0..20 {
        page.good(json!({"do": "advance", "by": 0.05}));
        assert!((page.at("energy.total") - total).abs() < 1e-4 * total.abs().max(1.0), "{} J of {total} J", page.at("energy.total"));
    }
    // A hand pulls and releases twice: the energy gained equals the work done.
    for to in [1.0, -1.0] {
        for _ in 0..10 {
            page.good(hand(0.02, "a", [0.0, to, 0.0]));
        }
        let (gain, work) = (page.at("energy.total") - total, page.at("energy.work"));
        assert!(work.abs() > 1e-3 && (gain - work).abs() < 1e-4 * (1.0 + work.abs()), "{gain} J more by {work} J of work");
        page.good(json!({"do": "advance", "by": 0.05}));
        let (gain, work) = (page.at("energy.total") - total, page.at("energy.work"));
        assert!((gain - work).abs() < 1e-4 * (1.0 + work.abs()), "after letting go: {gain} J more by {work} J of work");
    }
}

#[test]
fn the_work_of_a_hand_is_the_energy_of_a_linkage_without_its_motor() {
    let mut page = Page::of(text("fourbar"));
    page.good(start(true, false));
    let total = page.at("energy.total");
    for k in 0..30 {
        let held = (10..20).contains(&k);
        let request = json!({"do": "advance", "by": 1.0 / 60.0, "hand": {"body": "coupler", "at": [0.06, 0.06, 0], "to": [0.2, 0.2, 0]}});
        let reply = page.good(if held { request } else { json!({"do": "advance", "by": 1.0 / 60.0}) });
        let (gain, work) = (page.at("energy.total") - total, page.at("energy.work"));
        assert!((gain - work).abs() < 1e-4 * (1.0 + work.abs()), "frame {k}, {}: {gain} J more by {work} J of work", reply["how"]);
        assert!(k < 12 || work.abs() > 1e-3, "frame {k}: the hand has done {work} J");
    }
}

#[test]
fn parameters_are_found_where_they_stand() {
    let written = |file: &str| -> Vec<(String, String)> {
        let page = Page::of(file);
        let units: Vec<u16> = file.encode_utf16().collect();
        let list = page.described["written"].as_array().expect("a list").clone();
        let at = |x: &Value| x.as_u64().expect("a place") as usize;
        list.iter().map(|w| (w[0].as_str().expect("a name").into(), String::from_utf16_lossy(&units[at(&w[1])..at(&w[2])]))).collect()
    };
    let rest = "bodies: {b: {mass: m, inertia: [1, 1, 1], com: [L, 0, 0]}}\n";
    let own = |l: &str, m: &str| vec![("L".to_string(), l.to_string()), ("m".to_string(), m.to_string())];
    // A comment like a value, a trailing one, umlauts before, a computed parameter, and a unit with the name of a parameter.
    let file = format!("fourbar: 1\ntitle: Länge größer\nparameters:\n  # L: 0.5 m\n  L: 300 mm   # L: long\n  m: 2\n  k: 2*L + m\n{rest}");
    assert_eq!(written(&file), own("300 mm", "2"));
    assert_eq!(written(&format!("fourbar: 1\nparameters: {{L: 0.3 m, m: 1 kg}}\n{rest}")), own("0.3 m", "1 kg"));
    let json = r#"{"fourbar": 1, "parameters": {"L": "300 mm", "m": 2}, "bodies": {"b": {"mass": "m", "inertia": [1, 1, 1], "com": ["L", 0, 0]}}}"#;
    let found = written(json);
    assert_eq!(found.iter().map(|(n, v)| (n.as_str(), v.trim_matches('"'))).collect::<Vec<_>>(), [("L", "300 mm"), ("m", "2")]);
}

#[test]
fn settings_that_were_given_beside_the_file_stay_in_force() {
    let mut page = Page::new();
    page.described = page.good(json!({"do": "load", "text": RAMP, "study": {"t_end": 0.5, "inputs": [["u", {"value": 3.0}]]}}));
    assert_eq!(page.described["inputs"][0]["value"], 3.0);
    assert_eq!(page.at("u"), 3.0);
    let rows = page.good(json!({"do": "rows", "most": 1000}))["rows"].clone();
    let last = rows.as_array().and_then(|r| r.last()).expect("rows").clone();
    assert_eq!(last[0], 0.5);
    let speed = page.column("O.speed");
    assert!((last[speed].as_f64().expect("a number") - (3.0 * 0.5 + 0.125)).abs() < 1e-6, "{}", last[speed]);
    page.good(json!({"do": "set", "input": "u", "value": 1.0}));
    let rows = page.good(json!({"do": "rows", "most": 1000}))["rows"].clone();
    assert!((rows[50][speed].as_f64().expect("a number") - 0.625).abs() < 1e-6);
    // An assembly mode.
    let model = fourbar_io::load("fourbar").expect("shipped");
    let other = Study { mode: Some(2), ..Study::of(&model) }.assemble(&model).expect("a second mode").configuration;
    page.described = page.good(json!({"do": "load", "text": text("fourbar"), "study": {"mode": 2}}));
    let rocker = model.bodies.iter().position(|b| b.name == "rocker").expect("a rocker");
    assert!((page.at("rocker.r.y") - other.q[rocker].r.y).abs() < 1e-12);
    // An invalid setting is answered with an error.
    let reply = page.ask(&json!({"do": "load", "text": RAMP, "study": {"t_end": "long"}}));
    assert_eq!((&reply["ok"], &reply["diagnostics"][0]["code"]), (&json!(false), &json!("U471")), "{reply}");
}
