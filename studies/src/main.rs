//! Programs that need the engine but are not tests: studies, comparisons of times with other programs, generated documents. `cargo xtask`
//! starts it in release mode, so that tests never wait for a second build of the engine.

#![allow(non_snake_case)]

mod docs;
mod double_double;
mod enclosure;
mod gauss;
mod interval;
mod peers;
mod study;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.first().map(String::as_str) {
        Some("docs") => docs::write(),
        Some("peers") => peers::run(),
        Some("study") => study::run(&arguments[1..]),
        _ => Err(format!("usage: docs | peers | study NAME\n{}", study::list())),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
