//! `verify` for more random mechanisms of every family than in the tests: `tests/verify.rs` with a larger count.

use crate::root;
use std::process::Command;

/// Verifies `--count` mechanisms from `--seed` on, in release mode, with all formulations.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut count, mut seed) = (300_u64, 0_u64);
    let mut rest = arguments.iter();
    while let Some(key) = rest.next() {
        let value = rest.next().and_then(|n| n.parse().ok());
        match (key.as_str(), value) {
            ("--count", Some(n)) if n > 0 => count = n,
            ("--seed", Some(n)) => seed = n,
            _ => return Err("usage: cargo xtask study verify [--count N] [--seed S]".into()),
        }
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let status = Command::new(cargo)
        .args([
            "test",
            "--release",
            "--package",
            "fourbar-check",
            "--test",
            "all",
            "verify::formulations_agree_on_random_mechanisms",
            "--",
            "--nocapture",
        ])
        .env("FOURBAR_VERIFY", count.to_string())
        .env("FOURBAR_SEED", seed.to_string())
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot start the tests: {e}"))?;
    if status.success() { Ok(()) } else { Err("formulations disagree; the mechanisms are saved as model files".into()) }
}
