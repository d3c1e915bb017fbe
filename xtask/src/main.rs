//! Tasks around the workspace: `cargo xtask test` sets up what the tests need and runs them, `cargo xtask docs` writes the
//! documents that are made from the code, `cargo xtask gallery` pages and pictures of the shipped models.

mod browser;
mod docs;
mod fuzz;
mod gallery;
mod peers;
mod study;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test    set up what the tests need, run all of them, print a summary
cargo xtask pages   only the tests of pages in a browser, with what they need
cargo xtask docs    write the documents that are made from the code
cargo xtask fuzz [--minutes N] [--seed N]   hostile input, longer than with the tests
cargo xtask gallery [MODEL...]   render the shipped models to pages and pictures, write docs/gallery.md
cargo xtask peers   times of the engine beside those of others at equal error
cargo xtask study NAME   figures of the papers, and questions too long for tests:
";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let done = match task.as_deref() {
        Some("test") => test::run(),
        Some("pages") => browser::test(),
        Some("docs") => docs::write(),
        Some("fuzz") => fuzz::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("gallery") => gallery::write(&std::env::args().skip(2).collect::<Vec<_>>()),
        Some("peers") => peers::run(),
        Some("study") => study::run(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprint!("{USAGE}{}", study::list());
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

/// The root of the workspace.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
