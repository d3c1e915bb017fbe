//! Tools for testing pages: a browser and node, installed if missing; tests of pages in that browser.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Models whose pages are tested: planar, spatial and overconstrained, parallel, many loops, coupled loops, events.
const MODELS: [&str; 6] = ["fourbar", "a04_bricard", "stewart_platform", "jansen_leg", "dca_double_loop", "event_catapult"];
const BROWSERS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// Folder for temporary pages and results.
pub fn scratch(name: &str) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from).join(name)
}

/// Runs a command to its end; its output is shown.
pub fn run(command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    match command.status() {
        Ok(s) if s.success() => Ok(()),
        Ok(s) => Err(format!("{shown}: {s}")),
        Err(e) => Err(format!("{shown}: {e}")),
    }
}

/// The `fourbar` program as built by the tests: `cargo build` would choose other features of its dependencies and compile the engine again.
pub fn program() -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    run(Command::new(cargo).args(["test", "--quiet", "--workspace", "--no-run"]).current_dir(root()))?;
    Ok(scratch("debug").join(format!("fourbar{}", std::env::consts::EXE_SUFFIX)))
}

/// The browser: `CHROMIUM`, or that of Debian, which is installed if missing.
pub fn chromium() -> Result<PathBuf, String> {
    let there = || std::env::var_os("CHROMIUM").map(PathBuf::from).into_iter().chain(BROWSERS.map(PathBuf::from)).find(|p| p.exists());
    if there().is_none() {
        install(&["chromium"])?;
    }
    there().ok_or_else(|| "there is no chromium, and installing it did not help; set CHROMIUM to its path".into())
}

fn starts(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

fn install(packages: &[&str]) -> Result<(), String> {
    println!("installing {}", packages.join(", "));
    let apt = |arguments: &[&str]| run(Command::new("apt-get").args(arguments).args(packages).env("DEBIAN_FRONTEND", "noninteractive"));
    // Package lists may be outdated or missing; they are updated if the installation fails.
    apt(&["install", "-y", "--no-install-recommends"]).or_else(|_| {
        run(Command::new("apt-get").arg("update"))?;
        apt(&["install", "-y", "--no-install-recommends"])
    })
}

/// Tests pages in the browser: pages made from formulas, then those of the program. Fails without a browser.
pub fn test() -> Result<(), String> {
    let browser = chromium()?;
    if !starts("node") || !starts("npm") {
        install(&["nodejs", "npm"])?;
    }
    let viewer = root().join("viewer");
    if !viewer.join("node_modules/playwright-core").exists() {
        run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&viewer))?;
    }
    let node = |arguments: &[String]| {
        run(Command::new("node").arg("tests/run.mjs").args(arguments).current_dir(&viewer).env("CHROMIUM", &browser))
    };
    node(&[])?;
    node(&pages()?)
}

/// Pages of the program with their trajectories, a comparison, and live pages.
fn pages() -> Result<Vec<String>, String> {
    let (fourbar, folder) = (program()?, scratch("browser"));
    let view = |results: &[&Path], page: &Path| {
        run(Command::new(&fourbar).args(["view", "--no-open", "--quiet", "--output"]).arg(page).args(results))
    };
    let mut list = Vec::new();
    for model in MODELS {
        let (result, page) = (folder.join(model), folder.join(format!("{model}.html")));
        run(Command::new(&fourbar).args(["run", model, "--quiet", "--out"]).arg(&result))?;
        view(&[&result], &page)?;
        list.push(format!("{}={}", page.display(), result.join("trajectory.csv").display()));
    }
    let (other, page) = (folder.join("dca_double_loop_bdf2"), folder.join("comparison.html"));
    run(Command::new(&fourbar).args(["run", "dca_double_loop", "--integrator", "bdf2", "--quiet", "--out"]).arg(&other))?;
    view(&[&folder.join("dca_double_loop"), &other], &page)?;
    list.push(page.display().to_string());
    let (live, playground) = (folder.join("live.html"), folder.join("playground.html"));
    run(Command::new(&fourbar).args(["view", "--live", "fourbar", "--no-open", "--quiet", "--output"]).arg(&live))?;
    run(Command::new(&fourbar).args(["playground", "--no-open", "--quiet", "--output"]).arg(&playground))?;
    let (cases, sweep, history) = (folder.join("cases"), folder.join("sweep.html"), folder.join("history.html"));
    let vary = ["--vary", "crank_length=60..90mm:4", "--vary", "rocker_length=150,170mm"];
    run(Command::new(&fourbar)
        .args(["sweep", "fourbar", "--quiet", "--force", "--measure", "rise=range(P.y)", "--out"])
        .arg(&cases)
        .args(vary))?;
    view(&[&cases], &sweep)?;
    let search = ["--fit", "high=max(P.y) - 200 mm", "--vary", "crank_length=60..90mm", "--starts", "2"];
    run(Command::new(&fourbar).args(["optimize", "fourbar", "--quiet", "--force", "--history"]).arg(&history).args(search))?;
    list.extend([live, playground, sweep, history].map(|p| p.display().to_string()));
    Ok(list)
}
