//! The engine that pages carry is fresh: it moves shipped models as the native engine does.

use fourbar_io::examples::example;
use fourbar_wasm::Live;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Kinematics and dynamics, explicit and implicit methods, Taylor series, forces, inputs.
const MODELS: [&str; 20] = [
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
];
/// Rows that are compared.
const ROWS: usize = 40;

/// Rows of all models from the engine in node.
fn in_node() -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/tests/rows.mjs");
    let mut node =
        Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node runs the engine of pages");
    let texts: Vec<&str> = MODELS.iter().map(|m| example(m).expect("shipped").text).collect();
    let request = json!({"most": ROWS, "texts": texts}).to_string();
    node.stdin.take().expect("a pipe").write_all(request.as_bytes()).expect("node reads");
    let out = node.wait_with_output().expect("node ends");
    assert!(out.status.success(), "node failed: the engine may be missing; `cargo xtask wasm` builds it");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn natively(name: &str) -> Value {
    let mut live = Live::new();
    let text = example(name).expect("shipped").text;
    live.answer(&json!({"do": "load", "text": text}).to_string());
    serde_json::from_str(&live.answer(&json!({"do": "rows", "most": ROWS}).to_string())).expect("JSON")
}

/// The largest difference of two tables, each column by its own size, and whether all bits are equal.
fn apart(a: &Value, b: &Value) -> (f64, bool) {
    let rows = |v: &Value| -> Vec<Vec<f64>> { serde_json::from_value(v["rows"].clone()).unwrap_or_default() };
    let (a, b) = (rows(a), rows(b));
    assert_eq!(a.len(), b.len());
    assert!(!a.is_empty());
    let same = a.iter().flatten().zip(b.iter().flatten()).all(|(x, y)| x.to_bits() == y.to_bits());
    let size = |k: usize| a.iter().map(|r| r[k].abs()).fold(1.0, f64::max);
    let worst =
        (0..a[0].len()).map(|k| a.iter().zip(&b).map(|(p, q)| (p[k] - q[k]).abs()).fold(0.0, f64::max) / size(k)).fold(0.0, f64::max);
    (worst, same)
}

#[test]
fn the_engine_of_pages_moves_as_the_native_one() {
    let there = in_node();
    let mut different = Vec::new();
    for (name, there) in MODELS.iter().zip(&there) {
        let here = natively(name);
        assert_eq!(there["ok"], true, "{name}: {there}");
        let (worst, same) = apart(&here, there);
        println!("{name}: {}", if same { "the same bits".into() } else { format!("{worst:.1e} apart") });
        // Elementary functions may differ in their last digit; everything else must be the same.
        assert!(worst < 1e-6, "{name}: {worst:e} apart: the engine is stale, run `cargo xtask wasm`");
        if !same {
            different.push(*name);
        }
    }
    println!("{} of {} models have the same bits", MODELS.len() - different.len(), MODELS.len());
}
