//! Verbs for a program that has mechanisms in the hand: texts stand for files, nothing is printed, and the answer is a value.

use crate::args::Args;
use crate::reply::Reply;
use crate::screen::Screen;
use clap::Parser;
use fourbar::Diagnostic;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The text of a mechanism.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// How messages call it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Where tables and meshes of it are looked for: the place of its file.
    pub path: Option<PathBuf>,
}

static GIVEN: LazyLock<RwLock<HashMap<String, Given>>> = LazyLock::new(RwLock::default);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A text that verbs take for a file as long as this value lives.
#[derive(Debug)]
pub struct Handed {
    word: String,
}

impl Handed {
    /// Hands a mechanism over: what messages call it, its text, and its place where it is a file.
    pub fn new(name: &str, text: &str, path: Option<PathBuf>) -> Self {
        // No file can be called so.
        let word = format!("\u{1}{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let given = Given { name: name.into(), text: text.into(), path };
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).insert(word.clone(), given);
        Self { word }
    }

    /// The word that stands for the file in a command line.
    pub fn word(&self) -> &str {
        &self.word
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).remove(&self.word);
    }
}

/// The text that a word stands for.
pub(crate) fn given(word: &str) -> Option<Given> {
    GIVEN.read().unwrap_or_else(PoisonError::into_inner).get(word).cloned()
}

/// What a verb answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// For a person.
    pub text: String,
    /// For a program: what `--json` prints.
    pub fields: Map<String, Value>,
    /// Warnings and errors.
    pub diagnostics: Vec<Diagnostic>,
    /// What the file is called in them.
    pub name: String,
    /// The exit code of the command.
    pub exit: u8,
}

impl Answer {
    /// Whether it was ended by its flag.
    pub fn interrupted(&self) -> bool {
        self.exit == Reply::INTERRUPTED
    }
}

/// Answers a command line, whose first word is the verb; the flag ends what runs. A command line that cannot be understood is refused with
/// the words of the command.
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
        // What follows the first paragraph is for a person at a terminal.
        let words: Vec<&str> = text.lines().map(str::trim).take_while(|l| !l.is_empty()).collect();
        words.join(" ").trim_start_matches("error: ").to_string()
    })
}
