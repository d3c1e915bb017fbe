//! Commands for mechanisms in memory: texts replace files, nothing is printed, and the answer is returned.

use crate::args::Args;
pub use crate::given::Handed;
use crate::reply::Reply;
use crate::screen::Screen;
use clap::Parser;
use fourbar::Diagnostic;
use serde_json::{Map, Value};
use std::sync::atomic::AtomicBool;

/// The answer of a verb.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Text for the user.
    pub text: String,
    /// Fields for a program: the output of `--json`.
    pub fields: Map<String, Value>,
    /// Warnings and errors.
    pub diagnostics: Vec<Diagnostic>,
    /// Name of the file in the diagnostics.
    pub name: String,
    /// The exit code of the command.
    pub exit: u8,
}

impl Answer {
    /// Whether it was ended by the flag.
    pub fn interrupted(&self) -> bool {
        self.exit == Reply::INTERRUPTED
    }
}

/// Runs a command line, whose first word is the verb; the flag ends the run. An invalid command line is rejected with the message of the
/// command.
pub fn answer(words: &[String], stop: &'static AtomicBool) -> Result<Answer, String> {
    let args = parsed(words)?;
    let Reply { text, fields, notes, exit } = crate::reply(&args, &Screen::silent(stop));
    Ok(Answer { text, fields, diagnostics: notes.list, name: notes.name, exit })
}

/// The arguments of a command line.
pub(crate) fn parsed(words: &[String]) -> Result<Args, String> {
    let program = std::iter::once("fourbar").chain(words.iter().map(String::as_str));
    Args::try_parse_from(program).map_err(|e| {
        let text = e.to_string();
        // Only the first paragraph is used; the rest is for a terminal.
        let words: Vec<&str> = text.lines().map(str::trim).take_while(|l| !l.is_empty()).collect();
        words.join(" ").trim_start_matches("error: ").to_string()
    })
}
