//! `cargo xtask fmi`: units in the hands of another program, which validates and simulates them, in an environment of its own.

use crate::browser::{run, scratch};
use crate::{python, root};
use std::path::PathBuf;
use std::process::Command;

/// What the tests need.
const NEEDED: [&str; 3] = ["fmpy>=0.3.20", "numpy>=1.24", "pytest>=8"];

/// Builds command and library, and runs the tests.
pub fn test() -> Result<(), String> {
    let folder = scratch("fmi-python");
    let interpreter = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = folder.join("installed.txt");
    if !std::fs::read_to_string(&stamp).is_ok_and(|s| s == NEEDED.join("\n")) {
        run(Command::new(python::host()?).args(["-m", "venv"]).arg(&folder))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary"];
        run(Command::new(&interpreter).args(pip).args(NEEDED))?;
        std::fs::write(&stamp, NEEDED.join("\n")).map_err(|e| e.to_string())?;
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // The whole workspace, as the tests build it: one package alone would choose other features of its dependencies.
    run(Command::new(cargo).args(["build", "--workspace", "--bins", "--examples", "--quiet"]).current_dir(root()))?;
    let built = |name: &str| -> PathBuf { scratch("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)) };
    let tests = root().join("crates/fourbar-fmi/tests/python");
    let mut command = Command::new(&interpreter);
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&tests).current_dir(&tests);
    command.env("FOURBAR", built("fourbar")).env("FOURBAR_POINTS", built("examples/points")).env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut command)
}
