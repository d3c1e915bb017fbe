//! The laws of random mechanisms, for more of them than the tests take: `tests/property` with another count.

use crate::root;
use std::process::Command;

/// Runs the laws on `--count` mechanisms from `--seed` on, in release mode.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut count, mut seed) = (300_u64, 1_u64);
    let mut rest = arguments.iter();
    while let Some(key) = rest.next() {
        let value = rest.next().and_then(|n| n.parse().ok());
        match (key.as_str(), value) {
            ("--count", Some(n)) if n > 0 => count = n,
            ("--seed", Some(n)) if n > 0 => seed = n,
            _ => return Err("usage: cargo xtask study properties [--count N] [--seed S]".into()),
        }
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--release", "--package", "fourbar-io", "--test", "property", "every_law", "--", "--nocapture"])
        .env("FOURBAR_PROPERTIES", count.to_string())
        .env("FOURBAR_SEED", seed.to_string())
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot start the tests: {e}"))?;
    if status.success() { Ok(()) } else { Err("a law is broken; the mechanisms are saved as model files".into()) }
}
