//! The Python package: its wheel, tests and notebooks, in a separate environment.

use crate::browser::{run, scratch};
use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Tools that build wheels, and the program that simulates functional mock-up units.
const TOOLS: [&str; 4] = ["maturin>=1.9,<2", "wheel>=0.40", "numpy>=1.24", "fmpy>=0.3.20"];

fn package() -> PathBuf {
    root().join("crates/fourbar-py")
}

/// A program of the environment.
pub fn program(name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    scratch("python").join(folder).join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// The Python that creates the environment: `PYTHON`, or `python3`.
fn host() -> Result<String, String> {
    let named = std::env::var("PYTHON").ok();
    let candidates = named.iter().map(String::as_str).chain(["python3", "python"]);
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
    let good =
        |p: &&str| Command::new(p).args(["-c", new_enough]).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    candidates.into_iter().find(good).map(String::from).ok_or_else(|| "there is no Python 3.10 or newer; set PYTHON to one".into())
}

/// Requirements of the tests and the notebooks: the tools, and the list `test` in `pyproject.toml`.
fn needed() -> Result<Vec<String>, String> {
    let path = package().join("pyproject.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let list = text.split_once("\ntest = [").and_then(|(_, rest)| rest.split_once(']')).map(|(list, _)| list);
    let list = list.ok_or_else(|| format!("{} has no list `test`", path.display()))?;
    let quoted = list.split('"').skip(1).step_by(2).map(String::from);
    Ok(TOOLS.map(String::from).into_iter().chain(quoted).collect())
}

/// Creates the environment shared by all tests in Python, and installs missing requirements.
pub fn environment() -> Result<(), String> {
    let folder = scratch("python");
    if !program("python").exists() {
        run(Command::new(host()?).args(["-m", "venv"]).arg(&folder))?;
    }
    let needed = needed()?;
    let list = needed.join("\n");
    let stamp = folder.join("installed.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|s| s == list) {
        return Ok(());
    }
    // pip takes a minute and a half, uv ten seconds.
    run(Command::new(program("python")).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]))?;
    run(Command::new(program("python")).args(["-m", "uv", "pip", "install", "--quiet", "--python"]).arg(program("python")).args(&needed))?;
    std::fs::write(stamp, list).map_err(|e| e.to_string())
}

fn wheel_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    entries.filter(|p| p.extension().is_some_and(|e| e == "whl")).collect()
}

/// Builds a release wheel in `target/wheels`.
pub fn wheel() -> Result<(), String> {
    environment()?;
    let folder = scratch("wheels");
    for old in wheel_in(&folder) {
        std::fs::remove_file(&old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    let mut command = Command::new(program("maturin"));
    command
        .args(["build", "--quiet", "--profile", "release", "--out"])
        .arg(&folder)
        .arg("--manifest-path")
        .arg(package().join("Cargo.toml"));
    // Outside the environment maturin may find another Python.
    run(command.arg("--interpreter").arg(program("python")).current_dir(root()))?;
    let wheel = wheel_in(&folder).pop().ok_or_else(|| format!("maturin left no wheel in {}", folder.display()))?;
    println!("{}", wheel.display());
    Ok(())
}

/// Builds the libraries, the command and the examples with the features used by the tests of the workspace, so that nothing is compiled
/// twice: a single package would choose other features of its dependencies.
pub fn build() -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    run(Command::new(cargo).args(["build", "--workspace", "--lib", "--bin", "fourbar", "--examples", "--quiet"]).current_dir(root()))
}

/// Packs a wheel with the library built by the workspace, and installs it in the environment.
fn install() -> Result<(), String> {
    environment()?;
    build()?;
    let (folder, wheels) = (scratch("python").join("unpacked"), scratch("python").join("wheels"));
    for old in [&folder, &wheels] {
        if old.exists() {
            std::fs::remove_dir_all(old).map_err(|e| format!("{}: {e}", old.display()))?;
        }
        std::fs::create_dir_all(old).map_err(|e| format!("{}: {e}", old.display()))?;
    }
    let mut described = Command::new(program("maturin"));
    described.args(["pep517", "write-dist-info", "--metadata-directory"]).arg(&folder).arg("--interpreter").arg(program("python"));
    run(described.current_dir(package()).stdout(Stdio::null()))?;
    copy(&package().join("python/fourbar"), &folder.join("fourbar"))?;
    let built = scratch("debug").join(format!("{}_fourbar{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let module = folder.join("fourbar").join(if cfg!(windows) { "_fourbar.pyd" } else { "_fourbar.abi3.so" });
    std::fs::copy(&built, module).map_err(|e| format!("{}: {e}", built.display()))?;
    run(Command::new(program("python")).args(["-m", "wheel", "pack", "--dest-dir"]).arg(&wheels).arg(&folder).stdout(Stdio::null()))?;
    let wheel = wheel_in(&wheels).pop().ok_or_else(|| format!("there is no wheel in {}", wheels.display()))?;
    let uv = ["-m", "uv", "pip", "install", "--quiet", "--reinstall", "--no-deps", "--python"];
    run(Command::new(program("python")).args(uv).arg(program("python")).arg(wheel))
}

/// Copies a folder of sources, without compiled Python files.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if name != "__pycache__" {
                copy(&path, &to.join(name))?;
            }
        } else {
            std::fs::copy(&path, to.join(name)).map_err(failed)?;
        }
    }
    Ok(())
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
