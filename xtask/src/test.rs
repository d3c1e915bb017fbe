//! Runs every test of the workspace, one stage after the other, and reports the result of each.

use crate::browser::{self, scratch};
use crate::{fmi, python, root};
use std::process::{Command, Stdio};
use std::time::Instant;

/// A stage: its name and the command.
struct Stage {
    name: &'static str,
    program: String,
    arguments: Vec<&'static str>,
}

/// A stage that sets up its requirements.
type Test = fn() -> Result<(), String>;

/// Runs all stages; fails if one fails, after the others have run.
pub fn run() -> Result<(), String> {
    let mut lines = Vec::new();
    let mut failed = Vec::new();
    for stage in stages() {
        println!("== {}: {} {}", stage.name, stage.program, stage.arguments.join(" "));
        let start = Instant::now();
        let status = Command::new(&stage.program).args(&stage.arguments).current_dir(root()).status();
        let ok = status.as_ref().is_ok_and(|s| s.success());
        let word = match &status {
            Ok(_) if ok => "passed".to_string(),
            Ok(s) => format!("FAILED ({s})"),
            Err(e) => format!("FAILED (cannot start: {e})"),
        };
        lines.push(format!("{:<16} {word:<24} {:.0} s", stage.name, start.elapsed().as_secs_f64()));
        if !ok {
            failed.push(stage.name);
        }
    }
    // Each of these sets up its requirements.
    let others: [(&str, &str, Test); 3] = [
        ("pages", "in a browser", browser::test),
        ("python", "the package in an environment of its own", python::test),
        ("units", "functional mock-up units in another program", fmi::test),
    ];
    for (name, what, test) in others {
        println!("== {name}: {what}");
        let start = Instant::now();
        let word = match test() {
            Ok(()) => "passed".to_string(),
            Err(why) => {
                failed.push(name);
                format!("FAILED ({why})")
            }
        };
        lines.push(format!("{name:<16} {word:<24} {:.0} s", start.elapsed().as_secs_f64()));
    }
    println!("\n{}", lines.join("\n"));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

fn stages() -> Vec<Stage> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let stage = |name, arguments: &[&'static str]| Stage { name, program: cargo.clone(), arguments: arguments.to_vec() };
    // Built with the tests; `cargo run` of one package would choose other features of its dependencies and compile the engine again.
    let example = |name: &'static str, file: &str| {
        let program = scratch("debug").join("examples").join(format!("{file}{}", std::env::consts::EXE_SUFFIX));
        Stage { name, program: program.display().to_string(), arguments: Vec::new() }
    };
    let tests: &[&str] = if has_nextest(&cargo) { &["nextest", "run", "--workspace"] } else { &["test", "--workspace", "--all-targets"] };
    vec![
        stage("tests", tests),
        stage("doc tests", &["test", "--workspace", "--doc"]),
        example("pendulum.rs", "pendulum"),
        example("fourbar.rs", "fourbar"),
    ]
}

fn has_nextest(cargo: &str) -> bool {
    Command::new(cargo).args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}
