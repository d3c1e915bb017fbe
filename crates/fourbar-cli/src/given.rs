//! Mechanisms in memory: texts that commands use in place of files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The text of a mechanism.
#[derive(Clone, Debug)]
pub struct Given {
    /// How messages call it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Where tables and meshes of it are searched for: the place of its file.
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

    /// The word that represents the file in a command line.
    pub fn word(&self) -> &str {
        &self.word
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).remove(&self.word);
    }
}

/// The text that a word represents.
pub fn given(word: &str) -> Option<Given> {
    GIVEN.read().unwrap_or_else(PoisonError::into_inner).get(word).cloned()
}
