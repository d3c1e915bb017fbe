//! The engine of live pages, run natively: dragging compared with kinematics, requests compared with the library, hostile requests.
#![allow(non_snake_case)]

use crate::common;

use common::text;
use fourbar::constraint::ConstraintSet;
use fourbar::model::Model;
use fourbar::random::Random;
use fourbar::state::{Configuration, Pose};
use fourbar::study::{self, Study};
use fourbar::trajectory::{Trajectory, columns};
use fourbar_wasm::Live;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde_json::{Value, json};

/// Driven mechanisms with one degree of freedom: planar and spatial, with sliders, gears and redundant loops.
const DRIVEN: [&str; 10] = [
    "fourbar",
    "jansen_leg",
    "klann",
    "hoeken",
    "watt_six_bar",
    "slider_crank_engine",
    "quick_return",
    "pumpjack",
    "bennett",
    "dwell_linkage",
];
/// Mechanisms that are dragged randomly.
const DRAGGED: [&str; 20] = [
    "fourbar",
    "jansen_leg",
    "klann",
    "hoeken",
    "watt_six_bar",
    "slider_crank_engine",
    "quick_return",
    "pumpjack",
    "bennett",
    "dwell_linkage",
    "stewart_platform",
    "a04_bricard",
    "delta_robot",
    "excavator_arm",
    "scissor_lift",
    "pantograph",
    "peaucellier",
    "sarrus",
    "grcr_five_bar",
    "watt_governor",
];

fn ask(live: &mut Live, request: Value) -> Value {
    serde_json::from_str(&live.answer(&request.to_string())).expect("replies are JSON")
}

fn loaded(live: &mut Live, name: &str) -> Value {
    let reply = ask(live, json!({"do": "load", "text": text(name)}));
    assert_eq!(reply["ok"], true, "{name}: {reply}");
    assert_eq!(reply["assembled"], true, "{name}");
    reply
}

/// Poses of a row, ground first.
fn poses(model: &Model, names: &[String], row: &[f64]) -> Vec<Pose> {
    let at = |name: String| row[names.iter().position(|n| *n == name).expect("a column of every body")];
    let mut list = vec![Pose::identity()];
    for b in model.bodies.iter().skip(1) {
        let v = |k: &str| at(format!("{}.{k}", b.name));
        let p = Quaternion::new(v("p.0"), v("p.1"), v("p.2"), v("p.3"));
        let A = UnitQuaternion::from_quaternion(p).to_rotation_matrix().into_inner();
        list.push(Pose { r: Vector3::new(v("r.x"), v("r.y"), v("r.z")), A });
    }
    list
}

/// Largest gap of the joints, without the drives.
fn open(model: &Model, q: &[Pose]) -> f64 {
    let mut set = ConstraintSet::new(model.constraints(false), |_| false);
    set.choose(0.0);
    let mut turns = Configuration::start(model).turns;
    fourbar::analysis::assembly::update_turns(model, q, &mut turns);
    let mut Phi = vec![0.0; set.rows()];
    set.residual(q, &turns, 0.0, &mut Phi);
    Phi.iter().fold(0.0, |s, x| s.max(x.abs()))
}

/// Joint positions of a body: relative to its centre of mass, in body axes.
fn ends(model: &Model, body: usize) -> impl Iterator<Item = Vector3<f64>> {
    let joints = model.joints.iter().flat_map(|j| [(j.bodies[0].index(), j.F.s), (j.bodies[1].index(), j.M.s)]);
    joints.filter(move |(b, _)| *b == body).map(|(_, s)| s)
}

/// The joint of a body that is farthest from a given point. Dragged at its pivot a crank would not turn, so the dragged point must be far
/// from the pivot, not from the centre of mass, which may be nearer to the other end.
fn far_from(model: &Model, body: usize, place: &Vector3<f64>) -> Vector3<f64> {
    let far = ends(model, body).max_by(|a, b| (a - place).norm().total_cmp(&(b - place).norm()));
    far.unwrap_or_else(|| Vector3::new(0.3 * model.length, 0.1 * model.length, 0.0))
}

#[test]
fn a_dragged_crank_leads_the_mechanism_where_kinematics_leads_it() {
    for name in DRIVEN {
        let model = fourbar_io::load(name).expect(name);
        let mut rows = Trajectory::default();
        study::run(&model, &Study::of(&model), &mut rows).unwrap_or_else(|f| panic!("{name}: {}", f.diagnostic));
        let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
        let joint = &model.joints[model.drives[0].joint];
        let crank = joint.bodies.iter().map(|b| b.index()).max().expect("two bodies");
        let pivot = if joint.bodies[0].index() == crank { joint.F.s } else { joint.M.s };
        let (s, body) = (far_from(&model, crank, &pivot), &model.bodies[crank]);
        let mut live = Live::new();
        loaded(&mut live, name);
        for k in 0..rows.len() {
            let want = poses(&model, &names, &rows.row(k));
            let to = want[crank].point(&s);
            let reply = ask(&mut live, json!({"do": "drag", "body": body.name, "at": (s + body.com).as_slice(), "to": to.as_slice()}));
            assert_eq!(reply["ok"], true, "{name}: {reply}");
            let got = poses(&model, &names, live.row());
            assert!(open(&model, &got) < 1e-10, "{name}, row {k}: open by {}", open(&model, &got));
            for (b, (p, q)) in want.iter().zip(&got).enumerate() {
                let d = p.increment_to(q);
                // The length of the crank times the accuracy of row and drag; another branch would differ by the size of a link.
                assert!(
                    d.v.norm() < 1e-6 * model.length && d.w.norm() < 1e-6,
                    "{name}, row {k}: `{}` is {} m and {} rad away",
                    model.bodies[b].name,
                    d.v.norm(),
                    d.w.norm()
                );
            }
        }
    }
}

#[test]
fn joints_stay_closed_on_paths_drawn_at_random() {
    for (k, name) in DRAGGED.into_iter().enumerate() {
        let model = fourbar_io::load(name).expect(name);
        let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
        for path in 0..3_u64 {
            let seed = 0x9e37_79b9_0000_0001 + 1000 * k as u64 + path;
            let mut random = Random(seed);
            let mut live = Live::new();
            loaded(&mut live, name);
            let body = 1 + ((random.number().abs() * 1e6) as usize) % model.moving();
            let s = far_from(&model, body, &Vector3::zeros());
            let mut last = poses(&model, &names, live.row());
            let mut to = last[body].point(&s);
            for step in 0..12 {
                to += Vector3::new(random.number(), random.number(), random.number()) * (0.12 * model.length);
                let b = &model.bodies[body];
                let reply = ask(&mut live, json!({"do": "drag", "body": b.name, "at": (s + b.com).as_slice(), "to": to.as_slice()}));
                assert_eq!(reply["ok"], true, "{name}: {reply}");
                let now = poses(&model, &names, live.row());
                let gap = open(&model, &now);
                assert!(gap < 1e-10, "{name}, seed {seed:#x}, step {step}: open by {gap} m");
                // The point never moves away from the pointer.
                let far = |q: &[Pose]| (q[body].point(&s) - to).norm();
                assert!(
                    far(&now) <= far(&last) * (1.0 + 1e-9) + 1e-12,
                    "{name}, seed {seed:#x}, step {step}: {} from {}",
                    far(&now),
                    far(&last)
                );
                last = now;
            }
        }
    }
}

#[test]
fn a_rocker_stops_at_its_dead_point_and_says_why() {
    let model = fourbar_io::load("fourbar").expect("shipped");
    let mut live = Live::new();
    loaded(&mut live, "fourbar");
    let rocker = model.bodies.iter().position(|b| b.name == "rocker").expect("a rocker");
    let end = Vector3::new(0.16, 0.0, 0.0);
    // Far beyond the position where coupler and crank are aligned.
    let mut reply = json!(null);
    for k in 0..60 {
        let a = 1.6 + 0.03 * f64::from(k);
        let to = [0.2 + 0.16 * a.cos(), 0.16 * a.sin(), 0.0];
        reply = ask(&mut live, json!({"do": "drag", "body": "rocker", "at": end.as_slice(), "to": to}));
    }
    assert!(reply["stopped"]["text"].as_str().is_some_and(|t| t.contains("dead point")), "{reply}");
    let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
    let q = poses(&model, &names, live.row());
    // There the distance from the pin of the crank to the end of the rocker is the difference of coupler and crank: 200 mm - 80 mm.
    let tip = q[rocker].point(&(end - model.bodies[rocker].com));
    assert!((tip.norm() - 0.12).abs() < 1e-4, "{}", tip.norm());
}

#[test]
fn a_slider_is_a_set_parameter_to_the_bit() {
    let set = vec![("crank_length".to_string(), "0.0731".to_string())];
    let mut live = Live::new();
    let reply = ask(&mut live, json!({"do": "load", "text": text("fourbar"), "set": set}));
    assert_eq!(reply["ok"], true);
    let reply = ask(&mut live, json!({"do": "still"}));
    assert_eq!(reply["page"]["model"]["title"], "Four-bar linkage with its coupler curve");
    let read = fourbar_io::read_model(text("fourbar"), &fourbar_io::ReadOptions { set: &set, ..fourbar_io::ReadOptions::default() })
        .expect("good");
    let model = read.spec.build().expect("good");
    let start = fourbar::analysis::assembly::assemble(&model).expect("closes").configuration;
    let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
    for (b, q) in start.q.iter().enumerate().skip(1) {
        let k = names.iter().position(|n| *n == format!("{}.r.x", model.bodies[b].name)).expect("there");
        assert_eq!(live.row()[k..k + 3], [q.r.x, q.r.y, q.r.z]);
    }
}

#[test]
fn dynamics_in_the_page_is_the_simulation_of_the_library_to_the_bit() {
    for name in ["ra_double_pendulum", "a04_bricard", "dca_five_bar"] {
        let model = std::sync::Arc::new(fourbar_io::load(name).expect(name));
        let mut own = fourbar::simulation::Simulation::new(&model, &Study::of(&model)).expect(name);
        let mut live = Live::new();
        loaded(&mut live, name);
        assert_eq!(ask(&mut live, json!({"do": "start", "gravity": true, "motors": true}))["ok"], true);
        for k in 0..20 {
            let reply = ask(&mut live, json!({"do": "advance", "by": 0.01}));
            assert_eq!(reply["ok"], true, "{name}: {reply}");
            own.advance(own.t() + 0.01).expect(name);
            let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
            for (b, q) in own.state().q.iter().enumerate().skip(1) {
                let at = names.iter().position(|n| *n == format!("{}.r.x", model.bodies[b].name)).expect("there");
                assert_eq!(live.row()[at..at + 3], [q.r.x, q.r.y, q.r.z], "{name}, step {k}");
            }
        }
    }
}

#[test]
fn frames_of_fixed_steps_are_the_rows_of_the_run() {
    // Times that are sums of powers of two, so that frames end exactly at rows.
    let file = text("ra_double_pendulum");
    let study = file.find("\nstudy:").expect("a study");
    let file = format!(
        "{}\nstudy: {{formulation: lie, integrator: rk4, step: 0.0009765625, output_step: 0.015625, t_end: 0.5}}\n",
        &file[..study]
    );
    let model = fourbar_io::read_model(&file, &fourbar_io::ReadOptions::default()).expect("good").spec.build().expect("good");
    let mut rows = Trajectory::default();
    study::run(&model, &Study::of(&model), &mut rows).expect("runs");
    assert_eq!(rows.len(), 33);
    let mut live = Live::new();
    assert_eq!(ask(&mut live, json!({"do": "load", "text": file}))["ok"], true);
    assert_eq!(ask(&mut live, json!({"do": "start", "gravity": true, "motors": true}))["ok"], true);
    for k in 1..rows.len() {
        assert_eq!(ask(&mut live, json!({"do": "advance", "by": 0.015625}))["ok"], true);
        assert_eq!(live.row(), rows.row(k), "row {k}");
    }
}

#[test]
fn a_dragged_part_feels_limits_and_goes_along_them() {
    // Two links in a plane; the second may turn by half a radian in both directions, the first is free.
    let file = "fourbar: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0], com: [0.5, 0, 0]}\n  b: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0], com: [0.5, 0, 0]}\njoints:\n  p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], limits: {min: -1.2, max: 1}}\n  q: {type: revolute, bodies: [a, b], at: [1, 0, 0], axis: [0, 0, 1], limits: {min: -0.5, max: 0.5}}\n";
    let mut live = Live::new();
    let reply = ask(&mut live, json!({"do": "load", "text": file}));
    assert_eq!(reply["ok"], true, "{reply}");
    let columns: Vec<String> = reply["columns"].as_array().expect("names").iter().map(|c| c.as_str().expect("text").into()).collect();
    let angle = |live: &Live, joint: &str| live.row()[columns.iter().position(|c| *c == format!("{joint}.angle")).expect("a column")];
    let drag = |live: &mut Live, to: [f64; 3]| ask(live, json!({"do": "drag", "body": "b", "at": [1, 0, 0], "to": to}));
    // A target that needs an angle of 1.3: it stops at half a radian, and the first link turns until the tip is as near as possible.
    let reply = drag(&mut live, [1.2, 0.9, 0.0]);
    let (p, q) = (angle(&live, "p"), angle(&live, "q"));
    assert!((q.abs() - 0.5).abs() < 1e-7, "{q}");
    let tip = [p.cos() + (p + q).cos(), p.sin() + (p + q).sin()];
    let cross = tip[0] * 0.9 - tip[1] * 1.2;
    assert!(cross.abs() < 1e-4, "the tip is on the ray to the hand: {cross}, {reply}");
    assert!(reply["stopped"]["text"].as_str().is_some_and(|t| t.contains("`q.m")), "{reply}");
    assert_eq!(reply["stopped"]["names"], json!(["q"]));
    // Both limits, and free again.
    let reply = drag(&mut live, [-1.0, 1.0, 0.0]);
    assert!((angle(&live, "p") - 1.0).abs() < 1e-6 && (angle(&live, "q") - 0.5).abs() < 1e-6, "{reply}");
    let replies: Vec<Value> = (0..3).map(|_| drag(&mut live, [1.96, 0.0, 0.0])).collect();
    let reply = &replies[2];
    assert!(reply["stopped"].is_null() && reply["left"].as_f64().is_some_and(|x| x < 1e-6), "{reply}");
    // Random paths never exceed the limits.
    let seed = 0x1234_5678_9abc;
    let mut random = Random(seed);
    for step in 0..200 {
        let reply = drag(&mut live, [2.0 * random.number(), 2.0 * random.number(), 0.0]);
        assert_eq!(reply["ok"], true);
        let (p, q) = (angle(&live, "p"), angle(&live, "q"));
        assert!((-1.2 - 1e-6..=1.0 + 1e-6).contains(&p) && q.abs() <= 0.5 + 1e-6, "seed {seed:#x}, step {step}: {p} {q}");
    }
}

#[test]
fn a_hand_pulls_its_point_by_a_spring() {
    let mut live = Live::new();
    loaded(&mut live, "ra_double_pendulum");
    let model = fourbar_io::load("ra_double_pendulum").expect("shipped");
    assert_eq!(ask(&mut live, json!({"do": "start", "gravity": false, "motors": true}))["ok"], true);
    let names: Vec<String> = columns(&model).into_iter().map(|c| c.name).collect();
    let body = &model.bodies[2];
    let first = poses(&model, &names, live.row())[2].r;
    let to = first + Vector3::new(0.05, -0.1, 0.08) * model.length;
    for _ in 0..400 {
        let reply = ask(
            &mut live,
            json!({"do": "advance", "by": 0.02, "hand": {"body": body.name, "at": body.com.as_slice(), "to": to.as_slice()}}),
        );
        assert_eq!(reply["ok"], true, "{reply}");
    }
    // Without gravity it comes to rest where the point is nearest to the hand: the direction to it is normal to the motion.
    let now = poses(&model, &names, live.row())[2].r;
    assert!((to - now).norm() < 0.9 * (to - first).norm(), "{now} is no nearer to {to} than {first}");
    assert_eq!(ask(&mut live, json!({"do": "advance", "by": 0.02}))["ok"], true, "the hand lets go");
}

#[test]
fn a_bad_file_is_refused_in_the_words_of_the_command_line_and_the_scene_stays() {
    let mut live = Live::new();
    loaded(&mut live, "fourbar");
    let row = live.row().to_vec();
    let bad = text("fourbar").replace("mass: plate_mass", "mas: plate_mass");
    let reply = ask(&mut live, json!({"do": "load", "text": bad}));
    assert_eq!(reply["ok"], false);
    let first = &reply["diagnostics"][0];
    assert_eq!(first["code"], "M012");
    assert!(first["message"].as_str().is_some_and(|m| m.contains("unknown key `mas`")), "{first}");
    let (start, end) = (first["start"].as_u64().expect("a place") as usize, first["end"].as_u64().expect("a place") as usize);
    assert_eq!(&bad[start..end], "mas");
    assert_eq!(live.row(), row);
}

#[test]
fn what_cannot_be_assembled_is_shown_as_drawn_and_names_its_joints() {
    let mut live = Live::new();
    let reply = ask(&mut live, json!({"do": "load", "text": text("ra_four_link").to_string()}));
    assert_eq!(reply["ok"], true, "{reply}");
    // A coupler that is far too short, with bodies as drawn.
    let file = "fourbar: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1]}\n  b: {mass: 1, inertia: [1, 1, 1], at: [5, 0, 0]}\njoints:\n  p: {type: revolute, bodies: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n  q: {type: revolute, bodies: [ground, b], at: [5, 0, 0], axis: [0, 0, 1]}\n  r: {type: revolute, bodies: [a, b], frames: {a: {at: [1, 0, 0], axis: [0, 0, 1]}, b: {at: [1, 0, 0], axis: [0, 0, 1]}}}\n";
    let reply = ask(&mut live, json!({"do": "load", "text": file}));
    assert_eq!((&reply["ok"], &reply["assembled"]), (&json!(true), &json!(false)), "{reply}");
    let list = reply["diagnostics"].as_array().expect("complaints");
    assert!(list.iter().any(|d| d["names"].as_array().is_some_and(|n| n.iter().any(|x| x == "r"))), "{reply}");
    assert_eq!(ask(&mut live, json!({"do": "still"}))["ok"], true);
    assert_eq!(ask(&mut live, json!({"do": "drag", "body": "a", "at": [0, 0, 0], "to": [1, 1, 0]}))["ok"], false);
}

#[test]
fn hostile_requests_are_answered() {
    let mut live = Live::new();
    for request in [
        "",
        "{",
        "null",
        "[]",
        "{\"do\": \"fly\"}",
        "{\"do\": \"drag\"}",
        "{\"do\": \"advance\", \"by\": 1e999}",
        "{\"do\": \"check\"}",
        "{\"do\": \"load\", \"text\": \"\"}",
    ] {
        let reply: Value = serde_json::from_str(&live.answer(request)).expect("JSON");
        assert_eq!(reply["ok"], false, "{request}");
        assert!(reply["diagnostics"][0]["message"].as_str().is_some_and(|m| !m.is_empty()));
    }
    loaded(&mut live, "fourbar");
    for request in [
        json!({"do": "drag", "body": "nobody", "at": [0, 0, 0], "to": [0, 0, 0]}),
        json!({"do": "drag", "body": "crank", "at": [0, 0, 0], "to": [1e308, 1e308, 1e308]}),
        json!({"do": "drag", "body": "crank", "at": [1e300, 0, 0], "to": [0, 0, 0]}),
        json!({"do": "mode", "number": 99}),
        json!({"do": "set", "input": "none", "value": 1}),
        json!({"do": "pose", "t": 0, "origins": [], "quaternions": []}),
        json!({"do": "advance", "by": -1}),
    ] {
        let reply = ask(&mut live, request.clone());
        assert!(reply["ok"].is_boolean(), "{request}");
    }
    assert_eq!(ask(&mut live, json!({"do": "reset"}))["ok"], true);
    assert!(live.row().iter().all(|x| x.is_finite()));
}
