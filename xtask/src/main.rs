//! Tasks of the workspace: `cargo xtask test` sets up the requirements of the tests and runs them, `cargo xtask gallery` makes pages and
//! pictures of the shipped models; studies and generated documents are made by a separate package.

mod browser;
mod fmi;
mod fuzz;
mod gallery;
mod python;
mod site;
mod test;
mod wasm;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask test    set up what the tests need, run all of them, print a summary
cargo xtask pages   only the tests of pages in a browser, with what they need
cargo xtask python  only the tests of the Python package, with what they need
cargo xtask fmi     only the tests of functional mock-up units in another program, with what they need
cargo xtask wheel   leave a release wheel of the Python package in target/wheels
cargo xtask notebooks   execute the notebooks and render them to target/notebooks
cargo xtask wasm    build the engine of live pages, see docs/live.md
cargo xtask docs    write the documents that are made from the code
cargo xtask fuzz [--minutes N] [--seed N]   hostile input, longer than with the tests
cargo xtask gallery [MODEL...]   render the shipped models to pages and pictures, write docs/gallery.md
cargo xtask site    the pages of docs as a web site in target/site; needs mdBook
cargo xtask peers   times of the engine beside those of others at equal error
cargo xtask study [NAME]   figures of the papers, and questions too long for tests; without a name, the list of them
";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => test::run(),
        Some("pages") => browser::test(),
        Some("python") => python::test(),
        Some("fmi") => fmi::test(),
        Some("wheel") => python::wheel(),
        Some("notebooks") => python::notebooks(),
        Some("wasm") => wasm::build(),
        Some("fuzz") => fuzz::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("gallery") => gallery::write(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("site") => site::build(),
        // Tasks that need the engine are in a separate package, so that tests do not wait for it.
        Some("docs" | "peers" | "study") => studies(&std::env::args().skip(1).collect::<Vec<_>>()),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the package of the studies in release mode.
fn studies(arguments: &[String]) -> Result<(), String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", "fourbar-studies", "--"]).args(arguments);
    browser::run(command.current_dir(root())).map_err(|_| format!("`{}` failed", arguments.join(" ")))
}

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
