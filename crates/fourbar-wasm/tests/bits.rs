//! The engine stored for pages is up to date: it is bit-identical to the native engine, in studies and interactive use.

use crate::common;

use common::text;
use fourbar_wasm::Live;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Kinematics and dynamics, explicit and implicit methods, Taylor series, forces, inputs, events, limits, contacts.
const MODELS: [&str; 24] = [
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
    "ra_double_pendulum",
    "watt_governor",
    "event_trebuchet",
    "event_ratchet",
    "stiff_engine_mounts",
    "contact_gripper",
];
/// Number of compared rows.
const ROWS: usize = 40;

/// Answers of node, with a new engine for each list of requests.
fn in_node(scripts: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/tests/rows.mjs");
    let mut node =
        Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node runs the engine of pages");
    node.stdin.take().expect("a pipe").write_all(json!(scripts).to_string().as_bytes()).expect("node reads");
    let out = node.wait_with_output().expect("node ends");
    assert!(out.status.success(), "node failed: the engine may be missing; `cargo xtask wasm` builds it");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

/// The same natively.
fn natively(requests: &[Value]) -> Vec<Value> {
    let mut live = Live::new();
    let answer = |request: &Value| {
        let reply: Value = serde_json::from_str(&live.answer(&request.to_string())).expect("JSON");
        let rows = if reply["rows"].is_null() { json!([live.row()]) } else { reply["rows"].clone() };
        json!({"ok": reply["ok"], "rows": rows})
    };
    requests.iter().map(answer).collect()
}

/// The largest difference between two tables, each column relative to its magnitude; `None` if all bits are equal.
fn apart(a: &Value, b: &Value) -> Option<f64> {
    // JSON has no NaN, for which both have `null`, and JavaScript writes no negative zero.
    let number = |v: &Value| v.as_f64().or_else(|| v.as_str()?.parse().ok()).unwrap_or(f64::NAN);
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let rows = |v: &Value| -> Vec<Vec<f64>> { list(&v["rows"]).iter().map(|r| list(r).iter().map(number).collect()).collect() };
    let (a, b) = (rows(a), rows(b));
    if a.len() != b.len() || a.is_empty() {
        return Some(f64::INFINITY);
    }
    let same = |x: f64, y: f64| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan();
    if a.iter().flatten().zip(b.iter().flatten()).all(|(x, y)| same(*x, *y)) {
        return None;
    }
    let size = |k: usize| a.iter().map(|r| r[k].abs()).fold(1.0, f64::max);
    Some((0..a[0].len()).map(|k| a.iter().zip(&b).map(|(p, q)| (p[k] - q[k]).abs()).fold(0.0, f64::max) / size(k)).fold(0.0, f64::max))
}

/// Compares native answers with those of node, script by script.
fn compare(names: &[&str], scripts: &[Vec<Value>]) {
    let there = in_node(scripts);
    let mut different = Vec::new();
    for ((name, requests), there) in names.iter().zip(scripts).zip(&there) {
        for (k, (here, there)) in natively(requests).iter().zip(there).enumerate() {
            let request = &requests[k]["do"];
            if here["ok"] != there["ok"] {
                different.push(format!("{name}, request {k} ({request}): {} here, {} there: {}", here["ok"], there["ok"], there["said"]));
            } else if let Some(far) = apart(here, there) {
                different.push(format!("{name}, request {k} ({request}): {far:.1e} apart"));
            }
        }
    }
    assert!(
        different.is_empty(),
        "the engine of pages is older than the sources, or gives other bits: run `cargo xtask wasm` (see docs/live.md)\n{}",
        different.join("\n")
    );
}

#[test]
fn the_engine_of_pages_gives_the_bits_of_the_native_one() {
    let scripts: Vec<Vec<Value>> =
        MODELS.iter().map(|m| vec![json!({"do": "load", "text": text(m)}), json!({"do": "rows", "most": ROWS})]).collect();
    compare(&MODELS, &scripts);
}

#[test]
fn the_hand_leads_it_by_the_same_bits() {
    let fourbar = [
        json!({"do": "load", "text": text("fourbar"), "set": [["crank_length", "73.1 mm"]]}),
        json!({"do": "drag", "body": "crank", "at": [0.07, 0, 0], "to": [0.01, 0.09, 0]}),
        json!({"do": "drag", "body": "crank", "at": [0.07, 0, 0], "to": [-0.04, 0.05, 0]}),
        json!({"do": "start", "gravity": true, "motors": false}),
        json!({"do": "advance", "by": 0.02}),
        json!({"do": "advance", "by": 0.02, "hand": {"body": "rocker", "at": [0.1, 0, 0], "to": [0.2, 0.2, 0]}}),
        json!({"do": "advance", "by": 0.05, "hand": {"body": "rocker", "at": [0.1, 0, 0], "to": [0.3, 0.1, 0]}}),
        json!({"do": "mode", "number": 1}),
    ];
    let stewart = [
        json!({"do": "load", "text": text("stewart_platform")}),
        json!({"do": "drag", "body": "platform", "at": [0.2, 0, 0], "to": [0.25, 0.05, 0.7]}),
        json!({"do": "start", "gravity": true, "motors": true}),
        json!({"do": "advance", "by": 0.03}),
    ];
    compare(&["fourbar", "stewart_platform"], &[fourbar.to_vec(), stewart.to_vec()]);
}
