//! An interrupt ends every command within a second, at any stage of the computation.

#![cfg(unix)]

use crate::common;

use common::{command, folder};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts a command, sends it TERM or INT after a delay, and returns the exit code and the time it took to end. `None` if it had already
/// ended.
fn interrupted(folder: &Path, arguments: &[&str], after: u64, signal: &str) -> Option<(Option<i32>, f64)> {
    let mut child = command(folder, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command runs");
    std::thread::sleep(Duration::from_millis(after));
    if child.try_wait().expect("a state").is_some() {
        return None;
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill runs").success());
    let sent = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a state") {
            return Some((status.code(), sent.elapsed().as_secs_f64()));
        }
        if sent.elapsed() > Duration::from_secs(10) {
            let _ = child.kill();
            let _ = child.wait();
            return Some((None, f64::INFINITY));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A chain of hinges as a file.
fn chain(n: usize) -> String {
    let mut text = "fourbar: 1\ngravity: [0, -9.81, 0]\nbodies:\n".to_string();
    for k in 0..n {
        let _ = writeln!(text, "  b{k}: {{mass: 1, inertia: [0.1, 0.1, 0.1], at: [{}, 0, 0]}}", k as f64 + 0.5);
    }
    text += "joints:\n";
    for k in 0..n {
        let from = if k == 0 { "ground".to_string() } else { format!("b{}", k - 1) };
        let _ = writeln!(text, "  j{k}: {{type: revolute, bodies: [{from}, b{k}], at: [{k}, 0, 0], axis: [0, 0, 1]}}");
    }
    text + "study: {analysis: dynamics, t_end: 1000, output_step: 100}\n"
}

#[test]
fn an_interrupt_ends_every_command_within_a_second() {
    let f = folder("interrupt");
    std::fs::write(f.join("chain.yaml"), chain(1500)).expect("the file");
    let long = ["--t-end", "1e7", "--output-step", "1e6"];
    let mut caught = 0;
    let mut check = |arguments: &[&str], after: u64, signal: &str| {
        let Some((code, seconds)) = interrupted(&f, arguments, after, signal) else { return };
        caught += 1;
        // A command without a handler is ended by the signal.
        assert!(seconds < 1.0 && code.is_none_or(|c| c == 130), "{arguments:?} took {seconds} s to end after {signal}, exit code {code:?}");
    };
    for formulation in ["ra", "lie", "dca", "grcr", "natural"] {
        check(&[&["run", "a01_simple_pendulum", "--formulation", formulation, "--out", formulation], &long[..]].concat(), 250, "-TERM");
        check(&["run", "chain.yaml", "--formulation", formulation], 600, "-INT");
    }
    check(&[&["kinematics", "fourbar"], &long[..]].concat(), 250, "-INT");
    check(&["check", "chain.yaml", "--all"], 150, "-TERM");
    check(&[&["verify", "a02_n_fourbar_N40", "--patience", "60"], &long[..2]].concat(), 300, "-TERM");
    assert!(caught >= 10, "only {caught} commands were still at work");
    // Unfinished parts are shown or omitted, and the exit code indicates that the result is incomplete.
    for arguments in [
        &["view", "jansen_leg", "--t-end", "5000", "--no-open", "-o", "page.html"][..],
        &["optimize", "fourbar", "--vary", "crank_length=60..90mm", "--minimize", "max(abs(motor.effort))", "--t-end", "500"],
        &["tolerance", "fourbar", "--vary", "crank_length=60..90mm", "--measure", "m=max(abs(motor.effort))", "--t-end", "500"],
    ] {
        if let Some((code, _)) = interrupted(&f, arguments, 500, "-INT") {
            assert!(code.is_none_or(|c| c == 130), "{arguments:?}: exit code {code:?}");
        }
    }
}
