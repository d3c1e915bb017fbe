//! The problems every part of the reader can meet, worded once.

use super::Reader;
use crate::keys::Table;
use crate::places::Span;
use crate::tree::{Node, SHORT, shorten};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use std::fmt;

/// A path such as `joints.pin.axis`, kept as links so that it costs nothing until it is printed.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    up: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Key(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub fn top(key: &'p str) -> Self {
        Self { up: None, step: Step::Key(key) }
    }
    pub fn key<'q>(&'q self, key: &'q str) -> Path<'q> {
        Path { up: Some(self), step: Step::Key(key) }
    }
    pub fn index(&self, index: usize) -> Path<'_> {
        Path { up: Some(self), step: Step::Index(index) }
    }
    /// The last part, for messages.
    pub fn last(&self) -> String {
        match self.step {
            Step::Key(key) => shorten(key),
            Step::Index(index) => match self.up {
                Some(up) => format!("{}[{index}]", up.last()),
                None => index.to_string(),
            },
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(up) = self.up {
            write!(f, "{up}.")?;
        }
        match self.step {
            // Nearly all words are short enough as they are.
            Step::Key(key) if key.len() <= SHORT => f.write_str(key),
            Step::Key(key) => f.write_str(&shorten(key)),
            Step::Index(index) => write!(f, "{index}"),
        }
    }
}

/// What others call the types of joints and forces.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("hinge", "revolute"),
    ("pin", "revolute"),
    ("pivot", "revolute"),
    ("slider", "prismatic"),
    ("slide", "prismatic"),
    ("translational", "prismatic"),
    ("ball", "spherical"),
    ("socket", "spherical"),
    ("weld", "fixed"),
    ("rigid", "fixed"),
    ("hooke", "universal"),
    ("cardan", "universal"),
    ("helical", "screw"),
    ("link", "distance"),
    ("damper", "spring"),
    ("motor", "actuator"),
    ("cable", "rope"),
    ("tendon", "rope"),
];

/// A suggestion, or the list of what is known.
pub(crate) fn suggest<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone, list: &str) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let mut words: Vec<String> = known.take(40).map(|k| format!("`{k}`")).collect();
            words.dedup();
            if words.is_empty() { String::new() } else { format!("{list} {}", words.join(", ")) }
        }
    }
}

impl Reader<'_> {
    pub(crate) fn wrong_kind(&mut self, node: &Node, expected: &str, path: &Path<'_>) {
        let found = node.what(self.source);
        let d = Diagnostic::new("M011", format!("`{}` must be {expected}, not {found}", path.last())).at(path.to_string());
        let span = self.one_line(node);
        self.problem(d, span);
    }

    /// The node's place, cut to its first line.
    pub(crate) fn one_line(&self, node: &Node) -> Span {
        let text = self.source.get(node.span.range()).unwrap_or("");
        Span::new(node.span.start(), node.span.start() + text.lines().next().map_or(0, str::len))
    }

    pub(crate) fn unknown_key(&mut self, table: &Table, key: &str, span: Span, path: &Path<'_>) {
        let words = table.kind.map(|_| "type").into_iter().chain(table.keys.iter().map(|k| k.name));
        let help = match key.parse::<f64>() {
            Ok(_) => "decimals are written with a point: `1.5`, not `1,5`".into(),
            Err(_) => suggest(key, words, "known keys:"),
        };
        let d = Diagnostic::new("M012", format!("unknown key `{}` in {}", shorten(key), table.title)).help(help).at(path.to_string());
        self.problem(d, span);
    }

    pub(crate) fn missing_keys(&mut self, table: &Table, missing: &[&str], span: Span, path: &Path<'_>) {
        let words: Vec<String> = missing.iter().map(|k| format!("`{k}`")).collect();
        let subject = match table.section {
            "" => "the file".to_string(),
            _ => format!("`{}`, {},", path.last(), table.title),
        };
        let docs: Vec<String> =
            table.keys.iter().filter(|k| missing.contains(&k.name)).map(|k| format!("`{}`: {}", k.name, k.doc)).collect();
        let d = Diagnostic::new("M013", format!("{subject} lacks {}", words.join(" and "))).help(docs.join("; ")).at(path.to_string());
        self.problem(d, span);
    }

    pub(crate) fn unknown_type<'k>(
        &mut self,
        what: &str,
        word: &str,
        known: impl Iterator<Item = &'k str> + Clone,
        span: Span,
        path: &Path<'_>,
    ) {
        let help = match OTHER_WORDS.iter().find(|(other, _)| word.eq_ignore_ascii_case(other)) {
            Some((_, ours)) if known.clone().any(|k| k == *ours) => format!("it is called `{ours}` here"),
            _ => suggest(word, known, "known:"),
        };
        let d = Diagnostic::new("M015", format!("unknown {what} `{}`", shorten(word))).help(help).at(path.to_string());
        self.problem(d, span);
    }

    pub(crate) fn conflict(&mut self, message: String, help: &str, span: Span, path: &Path<'_>) {
        self.problem(Diagnostic::new("M014", message).help(help).at(path.to_string()), span);
    }

    /// Checks the spelling of the name of an element.
    pub(crate) fn good_name(&mut self, name: &str, span: Span, path: &Path<'_>) -> bool {
        const TAKEN: &[&str] = &["t", "ground", "energy", "error"];
        const LONGEST: usize = 100;
        let mut chars = name.chars();
        let spelled = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
            && name.len() <= LONGEST;
        let d = if !spelled {
            Diagnostic::new("M016", format!("`{}` cannot be a name", shorten(name))).help(format!(
                "a name starts with a letter or underscore, goes on with letters, digits, `_` or `-`, and has at most {LONGEST} characters"
            ))
        } else if TAKEN.contains(&name) {
            Diagnostic::new("M016", format!("the name `{name}` is taken"))
                .help("`t`, `ground`, `energy` and `error` have a meaning of their own: choose another name")
        } else {
            return true;
        };
        self.problem(d.at(path.to_string()), span);
        false
    }
}
