//! The hand in the model: a spring between a point of a body and a position in space, both given by inputs, so that a mechanism with hands
//! need not be rebuilt when one of them takes hold.

use crate::requests::Hand;
use fourbar::mechanism::{Mechanism, on};
use fourbar::model::Model;
use fourbar::spec::{InputSpec, ModelSpec};

/// Inputs: position of the hand, m, and of the held point, relative to the centre of mass in body axes, m.
const TO: [&str; 3] = ["fourbar_hand_x", "fourbar_hand_y", "fourbar_hand_z"];
const GRIP: [&str; 3] = ["fourbar_grip_x", "fourbar_grip_y", "fourbar_grip_z"];
/// Circular frequency of the total mass on the spring of the hand, rad/s, and its damping ratio.
const FREQUENCY: f64 = 16.0;
const DAMPING: f64 = 0.8;

/// Name of the input that makes the hand pull at a body: 1 or 0.
fn pull(body: usize) -> String {
    format!("fourbar_pull_{body}")
}

/// Bodies that get a hand, by index in the model: all bodies of the file if events may change the mechanism, because a rebuilt mechanism
/// would be as in its file; otherwise the held one.
pub fn bodies(spec: &ModelSpec, model: &Model, held: Option<&Hand>) -> Vec<usize> {
    let wanted = |name: &str| !spec.events.is_empty() || held.is_some_and(|h| h.body == name);
    let named = spec.bodies.iter().filter(|(name, _)| wanted(name));
    named.filter_map(|(name, _)| model.bodies.iter().position(|b| b.name == *name)).collect()
}

/// The mechanism with hands at some bodies, none of which is pulling yet.
pub fn with_hands(mut made: Mechanism, model: &Model, bodies: &[usize]) -> Mechanism {
    if bodies.is_empty() {
        return made;
    }
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    let (k, c) = (mass * FREQUENCY * FREQUENCY, 2.0 * DAMPING * mass * FREQUENCY);
    let pulls = bodies.iter().map(|b| pull(*b));
    let names: Vec<String> = TO.into_iter().chain(GRIP).map(String::from).chain(pulls).collect();
    made = made.with(|s| s.inputs.extend(names.into_iter().map(|n| (n, InputSpec::default()))));
    for &b in bodies {
        let body = &model.bodies[b];
        let com = body.com;
        // The centre of mass and the ends of the body axes, which represent any point of the body.
        let point = |n: usize| format!("fourbar_hand_{b}_{n}");
        let mut place: [f64; 3] = com.into();
        made = made.point(point(0), on(&body.name, place));
        for n in 0..3 {
            place[n] += 1.0;
            made = made.point(point(n + 1), on(&body.name, place));
            place[n] = com[n];
        }
        let arm = |what: &str| {
            (0..3).map(|n| format!("{}*({}.{what} - {}.{what})", GRIP[n], point(n + 1), point(0))).collect::<Vec<_>>().join(" + ")
        };
        let axes = ["x", "y", "z"];
        let arms = axes.map(arm);
        let force: [String; 3] = std::array::from_fn(|n| {
            let (x, v, to) = (axes[n], format!("v{}", axes[n]), TO[n]);
            format!("{}*({k:?}*({to} - {o}.{x} - ({})) - {c:?}*({o}.{v} + {}))", pull(b), arms[n], arm(&v), o = point(0))
        });
        let torque: [String; 3] = std::array::from_fn(|n| {
            let (i, j) = ((n + 1) % 3, (n + 2) % 3);
            format!("({})*{} - ({})*{}", arms[i], force[j], arms[j], force[i])
        });
        made = made.force(format!("fourbar_hand_{b}_force"), on(&body.name, com.into()), force).end();
        made = made.torque(format!("fourbar_hand_{b}_torque"), &body.name, torque).end();
    }
    made
}

/// Values of the inputs of a hand that holds a body or has released it.
pub fn inputs(model: &Model, held: usize, hand: Option<&Hand>) -> Vec<(String, f64)> {
    let Some(h) = hand else { return vec![(pull(held), 0.0)] };
    let place = TO.iter().zip(h.to).map(|(n, x)| ((*n).to_string(), x));
    let com = model.bodies[held].com;
    let grip = GRIP.iter().zip(h.at.iter().zip(com.iter())).map(|(n, (x, c))| ((*n).to_string(), x - c));
    place.chain(grip).chain([(pull(held), 1.0)]).collect()
}
