//! `cargo xtask fuzz`: the fuzz tests with more cases and other seeds in each round: texts for the readers, bolero's harnesses with random
//! inputs, and files, results and checkpoints for every verb of the command.

use crate::root;
use std::process::Command;
use std::time::{Duration, Instant};

/// Number of cases per round of each test of the readers.
const CASES: u64 = 20_000;
/// Number of cases per round of each of the four tests of the verbs.
const COMMANDS: u64 = 25_000;

/// Runs rounds until the time is over; a failing case is saved and reported by the test.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let usage = "usage: cargo xtask fuzz [--minutes N] [--seed N]";
    let (mut minutes, mut seed) = (5.0, 2u64);
    let mut it = arguments.iter();
    while let Some(key) = it.next() {
        let value = it.next().ok_or(usage)?;
        match key.as_str() {
            "--minutes" => minutes = value.parse().map_err(|_| usage)?,
            "--seed" => seed = value.parse().map_err(|_| usage)?,
            _ => return Err(usage.into()),
        }
    }
    if !(f64::is_finite(minutes) && minutes > 0.0 && minutes < 1e6) {
        return Err(usage.into());
    }
    let (start, limit) = (Instant::now(), Duration::from_secs_f64(60.0 * minutes));
    let mut rounds = 0;
    // At least one round, as the time may be over before the tests are built.
    while rounds == 0 || start.elapsed() < limit {
        for (package, test, cases) in [("fourbar-io", "fuzz", CASES), ("fourbar-cli", "verbs", COMMANDS)] {
            let status = Command::new("cargo")
                // Each process runs one case of the verbs at a time, because they share the flag that interrupts a run.
                .args(["test", "--quiet", "-p", package, "--test", test, "--", "--nocapture", "--test-threads", "1"])
                .env("FOURBAR_FUZZ_CASES", cases.to_string())
                .env("FOURBAR_FUZZ_SEED", seed.to_string())
                .env("BOLERO_RANDOM_ITERATIONS", (CASES / 10).to_string())
                .current_dir(root())
                .status()
                .map_err(|e| format!("cargo cannot be started: {e}"))?;
            if !status.success() {
                return Err(format!("a case failed with seed {seed}; shrink it by hand and keep it in crates/{package}/tests/data"));
            }
        }
        (rounds, seed) = (rounds + 1, seed + 1);
    }
    println!("{rounds} rounds of {CASES} texts and of {COMMANDS} commands for each of the tests, nothing found");
    Ok(())
}
