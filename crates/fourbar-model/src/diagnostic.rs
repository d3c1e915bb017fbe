//! Diagnostics: errors and warnings as data, independent of their presentation.
//!
//! A diagnostic has a stable code, the path of the element concerned (`joints.pin.axis`), the message and a remedy. Each code has a page in
//! [`crate::codes`].

use fourbar_math::elementary;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A stable code such as `M012`: `M` model, `S` solving, `U` usage, `W` warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A position in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    /// Name of the file, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line, counted from one.
    pub line: usize,
    /// Column in characters, counted from one.
    pub column: usize,
    /// The bytes concerned.
    pub span: Range<usize>,
    /// The bytes concerned, as text, cut to the first line and to 120 characters.
    pub snippet: String,
    /// The line around the position, for messages.
    #[serde(skip)]
    pub excerpt: Excerpt,
}

/// A piece of a line with a part of it marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, or a window of it.
    pub text: String,
    /// Characters before the mark.
    pub before: usize,
    /// Characters that are marked.
    pub length: usize,
}

/// A message about a model, a file or a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Stable code.
    pub code: Code,
    /// One sentence that states the error.
    pub message: String,
    /// Path of the element in the mechanism, `section.name.key`, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A remedy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub help: String,
    /// Names of bodies, joints and other elements involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Time of a failure during a run, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// The largest remaining gap of joints that cannot be closed, in metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// Position of the element in its file, if it was read from one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<FilePlace>>,
}

impl Diagnostic {
    /// A diagnostic with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code: Code(code),
            message: message.into(),
            at: None,
            help: String::new(),
            names: Vec::new(),
            time: None,
            gap: None,
            place: None,
        }
    }
    /// The path of the element.
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.at = Some(path.into());
        self
    }
    /// The remedy.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }
    /// A name involved.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }
    /// Several names involved.
    pub fn names<I: IntoIterator<Item = String>>(mut self, names: I) -> Self {
        self.names.extend(names);
        self
    }
    /// The time of a failure.
    pub fn time(mut self, t: f64) -> Self {
        self.time = Some(t);
        self
    }
    /// The largest gap that remains, in metres.
    pub fn gap(mut self, gap: f64) -> Self {
        self.gap = Some(gap);
        self
    }
    /// Line in its file, counted from one; zero if unknown.
    pub fn line(&self) -> usize {
        self.place.as_ref().map_or(0, |p| p.line)
    }
    /// Whether it is a warning, which does not stop the run.
    pub fn is_warning(&self) -> bool {
        self.code.0.starts_with('W')
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(p) = &self.place {
            match &p.file {
                Some(file) => write!(f, "{file}:{}:{}: ", p.line, p.column)?,
                None => write!(f, "line {}: ", p.line)?,
            }
        }
        write!(f, "[{}] {}", self.code, self.message)?;
        if let Some(at) = &self.at {
            write!(f, " (at {at})")?;
        }
        if !self.help.is_empty() {
            write!(f, "; {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// The known word nearest to `word`, if it is similar enough. Words without a common letter are never similar.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let limit = 1 + length / 3;
    let near = |d: usize, k: &str| d <= limit && d < length.max(k.chars().count());
    known.into_iter().map(|k| (distance(word, k), k)).filter(|(d, k)| *d == 0 || near(*d, k)).min().map(|(_, k)| k)
}

/// A number with its significant digits, for messages.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{x:.2e}")
    } else {
        let digits = (3 - elementary::log10(size).floor() as i32).clamp(0, 6) as usize;
        let text = format!("{x:.digits$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
    }
}

/// Edit distance with transposition of neighbours, letters compared without case.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut two_back = vec![0; b.len() + 1];
    let mut back: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (back[j] + 1).min(row[j - 1] + 1).min(back[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(two_back[j - 2] + 1);
            }
        }
        two_back = std::mem::replace(&mut back, row);
    }
    back[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 1.0, 0.25, 1234.6, 2e-9].map(number), ["0", "1", "0.25", "1235", "2.00e-9"]);
    }

    #[test]
    fn the_nearest_word_is_found_and_far_ones_are_not() {
        let known = ["revolute", "prismatic", "spherical"];
        assert_eq!(nearest("revolut", known), Some("revolute"));
        assert_eq!(nearest("Prismtaic", known), Some("prismatic"));
        assert_eq!(nearest("gearbox", known), None);
    }
}
