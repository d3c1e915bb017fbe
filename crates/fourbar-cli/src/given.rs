//! Mechanisms in memory: texts used by commands in place of files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The text of a mechanism.
#[derive(Clone, Debug)]
pub struct Given {
    /// Name in messages.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Path of the file, relative to which tables and meshes are searched for.
    pub path: Option<PathBuf>,
}

static GIVEN: LazyLock<RwLock<HashMap<String, Given>>> = LazyLock::new(RwLock::default);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A text that verbs use in place of a file as long as this value lives.
#[derive(Debug)]
pub struct Handed {
    word: String,
}

impl Handed {
    /// Registers a mechanism: its name in messages, its text, and its path if it is a file.
    pub fn new(name: &str, text: &str, path: Option<PathBuf>) -> Self {
        // Not a valid file name.
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
pub fn given(word: &str) -> Option<Given> {
    GIVEN.read().unwrap_or_else(PoisonError::into_inner).get(word).cloned()
}
