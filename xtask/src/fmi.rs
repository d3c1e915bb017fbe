//! `cargo xtask fmi`: units are validated and simulated by another program.

use crate::browser::{run, scratch};
use crate::{python, root};
use std::path::PathBuf;
use std::process::Command;

/// Builds command and library, and runs the tests.
pub fn test() -> Result<(), String> {
    python::environment()?;
    python::build()?;
    let built = |name: &str| -> PathBuf { scratch("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX)) };
    let tests = root().join("crates/fourbar-fmi/tests/python");
    let mut command = Command::new(python::program("python"));
    command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&tests).current_dir(&tests);
    command.env("FOURBAR", built("fourbar")).env("FOURBAR_POINTS", built("examples/points")).env("PYTHONDONTWRITEBYTECODE", "1");
    run(&mut command)
}
