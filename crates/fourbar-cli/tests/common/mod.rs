//! Runs the command and normalises its output for snapshots.

#![allow(dead_code)] // each test file uses its own part

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A separate folder for a test, initially empty.
pub fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("the folder of the test");
    path
}

/// The command, in a folder, without colours.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_fourbar"));
    c.args(arguments).current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    c
}

/// Runs the command.
pub fn fourbar(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the command runs")
}

/// Starts a long run.
pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    command(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs")
}

/// Waits until a run has written some rows to a folder.
pub fn wait_for_rows(result: &Path) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if std::fs::read_to_string(result.join("trajectory.csv.part")).is_ok_and(|t| t.lines().count() > 20) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no rows after a minute");
}

/// Sends Ctrl-C.
pub fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|s| s.success()));
}

/// Runs the command with a text on its standard input.
pub fn fourbar_with(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child =
        command(folder, arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs");
    // A command that exits early closes the pipe.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("the command ends")
}

/// Exit code, standard output and standard error as one text, without wall times and rounding errors.
pub fn whole(output: &Output) -> String {
    let text = |bytes: &[u8]| tidy(&String::from_utf8_lossy(bytes));
    format!("exit code {}\n-- stdout\n{}-- stderr\n{}", output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn tidy(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let line = match line.split_whitespace().next() {
            Some("wall") => "wall time     [time]".to_string(),
            Some("errors") => "errors        [rounding]".to_string(),
            _ if line.contains(" MB) ") => line.split_inclusive(' ').map(|w| if w.starts_with('(') { "([size] " } else { w }).collect(),
            _ => line.split_inclusive(' ').map(rounding).collect(),
        };
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// Rounding errors differ between machines.
fn rounding(word: &str) -> String {
    match word.trim().parse::<f64>() {
        Ok(x) if x != 0.0 && x.abs() < 1e-11 => word.replace(word.trim(), "[tiny]"),
        _ => word.to_string(),
    }
}

/// The object that `--json` prints.
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("not one JSON object: {e}\n{}", String::from_utf8_lossy(&output.stdout)))
}
