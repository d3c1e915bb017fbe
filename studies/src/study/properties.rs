//! The properties of random mechanisms, for more of them than in the tests: `tests/property` with a larger count and seeds that depend on
//! the week, so that new mechanisms are tested.

use crate::root;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Number of mechanisms of a study, and seconds in a week.
const COUNT: u64 = 1_000;
const WEEK: u64 = 7 * 24 * 3600;

/// The first seed of this week.
fn seed_of_the_week() -> u64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    1 + 10 * COUNT * (seconds / WEEK)
}

/// Tests the properties on `--count` mechanisms from `--seed` on, in release mode.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut count, mut seed) = (COUNT, seed_of_the_week());
    let mut rest = arguments.iter();
    while let Some(key) = rest.next() {
        let value = rest.next().and_then(|n| n.parse().ok());
        match (key.as_str(), value) {
            ("--count", Some(n)) if n > 0 => count = n,
            ("--seed", Some(n)) if n > 0 => seed = n,
            _ => return Err("usage: cargo xtask study properties [--count N] [--seed S]".into()),
        }
    }
    println!("laws on {count} mechanisms; the same again: cargo xtask study properties --count {count} --seed {seed}");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--release", "--package", "fourbar", "--test", "property", "every_law", "--", "--nocapture"])
        .env("FOURBAR_PROPERTIES", count.to_string())
        .env("FOURBAR_SEED", seed.to_string())
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot start the tests: {e}"))?;
    if status.success() { Ok(()) } else { Err("a law is broken; the mechanisms are saved as model files".into()) }
}
