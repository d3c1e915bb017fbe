//! The Python package: its wheel, its tests and its notebooks, in an environment of their own.

use crate::browser::{run, scratch};
use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the tests and notebooks need; `pyproject.toml` names the same under `test`.
const NEEDED: &[&str] = &[
    "maturin>=1.9,<2",
    "numpy>=1.24",
    "pytest>=8",
    "pandas>=2.0",
    "polars>=1.0",
    "xarray>=2023.1",
    "pyarrow>=14",
    "matplotlib>=3.6",
    "scipy>=1.10",
    "gymnasium>=1.0",
    "ipykernel>=6",
    "jupytext>=1.16",
    "nbconvert>=7",
    "mypy>=1.8",
];

fn package() -> PathBuf {
    root().join("crates/fourbar-py")
}

/// A program of the environment.
fn program(name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    scratch("python").join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The Python that makes the environment: `PYTHON`, or whatever `python3` is.
pub fn host() -> Result<String, String> {
    let named = std::env::var("PYTHON").ok();
    let candidates = named.iter().map(String::as_str).chain(["python3", "python"]);
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
    let good =
        |p: &&str| Command::new(p).args(["-c", new_enough]).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    candidates.into_iter().find(good).map(String::from).ok_or_else(|| "there is no Python 3.10 or newer; set PYTHON to one".into())
}

/// Makes the environment, and installs what is missing in it.
fn environment() -> Result<(), String> {
    let folder = scratch("python");
    if !program("python").exists() {
        run(Command::new(host()?).args(["-m", "venv"]).arg(&folder))?;
    }
    let list = NEEDED.join("\n");
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|s| s == list) {
        return Ok(());
    }
    run(Command::new(program("python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--prefer-binary"])
        .args(NEEDED))?;
    std::fs::write(stamp, list).map_err(|e| e.to_string())
}

/// Builds a wheel with a profile of cargo and gives its path.
fn build(profile: &str, folder: &Path) -> Result<PathBuf, String> {
    let wheels = || {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
        entries.filter(|p| p.extension().is_some_and(|e| e == "whl")).collect::<Vec<_>>()
    };
    for old in wheels() {
        std::fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    let mut command = Command::new(program("maturin"));
    command.args(["build", "--quiet", "--profile", profile, "--out"]).arg(folder).arg("--manifest-path").arg(package().join("Cargo.toml"));
    // Without the environment maturin may find another Python.
    run(command.arg("--interpreter").arg(program("python")).current_dir(root()))?;
    wheels().pop().ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))
}

/// Leaves a release wheel in `target/wheels`.
pub fn wheel() -> Result<(), String> {
    environment()?;
    let wheel = build("release", &scratch("wheels"))?;
    println!("{}", wheel.display());
    Ok(())
}

/// Builds the wheel as the tests do and installs it in the environment.
fn install() -> Result<(), String> {
    environment()?;
    let wheel = build("dev", &scratch("python").join("wheels"))?;
    run(Command::new(program("python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall", "--no-deps"])
        .arg(wheel))
}

/// Builds the wheel, installs it and runs the tests: those of the package, its doc tests, its notebooks.
pub fn test() -> Result<(), String> {
    install()?;
    let tests = package().join("tests");
    let mut command = Command::new(program("python"));
    command.args(["-m", "pytest", "--doctest-modules", "--pyargs", "fourbar"]).arg(&tests).arg("--rootdir").arg(package());
    run(command.arg("-c").arg(package().join("pyproject.toml")).current_dir(&tests))
}

/// Executes the notebooks and writes them as HTML into `target/notebooks`.
pub fn notebooks() -> Result<(), String> {
    install()?;
    let folder = scratch("notebooks");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let mut command = Command::new(program("python"));
    run(command.arg(package().join("notebooks/render.py")).arg(&folder).current_dir(package().join("notebooks")))
}
