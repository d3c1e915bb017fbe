//! Problems that any part of the reader may report.

use super::Reader;
use super::words::TYPES;
use crate::keys::Table;
use crate::places::Span;
use crate::tree::{Content, Node, SHORT, Text, is_null, shorten};
use fourbar::Diagnostic;
use fourbar::diagnostic::nearest;
use std::fmt;

/// A path such as `joints.pin.axis`, kept as a linked list so that it costs nothing until it is printed.
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
            // Nearly all keys are short enough.
            Step::Key(key) if key.len() <= SHORT => f.write_str(key),
            Step::Key(key) => f.write_str(&shorten(key)),
            Step::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A suggestion, or the list of known words.
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

/// Examples of the values of keys that are often given in another form.
const EXAMPLES: &[(&str, &str)] = &[
    ("gravity", "gravity: [0, 0, -9.81]"),
    ("axis", "axis: [0, 0, 1]"),
    ("normal", "normal: [0, 0, 1]"),
    ("at", "at: [0.1, 0, 0]"),
    ("world", "world: [0.1, 0, 0]"),
    ("com", "com: [0.1, 0, 0]"),
    ("size", "size: [40 mm, 20 mm, 5 mm]"),
    ("force", "force: [0, 0, -10 N]"),
    ("torque", "torque: [0, 0, 2 N*m]"),
    ("velocity", "velocity: [0.5, 0, 0]"),
    ("omega", "omega: [0, 0, 2*pi]"),
    ("bodies", "bodies: [ground, crank]"),
    ("between", "between: [{body: ground, at: [0, 0, 0]}, {body: crank, at: [0.1, 0, 0]}]"),
    ("axes", "axes: [[1, 0, 0], [0, 1, 0]]"),
    ("joints", "joints: [first, second]"),
    ("limits", "limits: {min: -90 deg, max: 90 deg}"),
    ("trace", "trace: [tip]"),
    ("hold", "hold: [pin]"),
    ("quaternion", "quaternion: [1, 0, 0, 0]"),
    ("orientation", "orientation: {axis: [0, 0, 1], angle: 30 deg}"),
    ("frames", "frames: {crank: {at: [0.1, 0, 0], axis: [0, 0, 1]}, rod: {at: [0, 0, 0], axis: [0, 0, 1]}}"),
    ("shape", "shape: [{type: rod, from: [0, 0, 0], to: [0.1, 0, 0], radius: 5 mm}]"),
    ("solid", "solid: {type: box, size: [40 mm, 20 mm, 5 mm], density: 7850}"),
    ("study", "study: {t_end: 2 s, output_step: 10 ms}"),
    ("results", "results: {columns: [motor.effort, tip, '*.angle']}"),
    ("view", "view: {plots: [[tip.x, tip.y]], trace: [tip]}"),
    ("start", "start: {pin.angle: 30 deg}"),
    ("inertia", "inertia: [1e-4, 1e-5, 1e-4]"),
];

/// An example of the value of a key; a word for an axis becomes its vector.
pub(super) fn example(key: &str, node: &Node, source: &str) -> Option<String> {
    if let Content::Scalar(text) = &node.content {
        let vector = match text.get(source).trim().to_ascii_lowercase().as_str() {
            "x" => Some("[1, 0, 0]"),
            "y" => Some("[0, 1, 0]"),
            "z" => Some("[0, 0, 1]"),
            "-x" => Some("[-1, 0, 0]"),
            "-y" => Some("[0, -1, 0]"),
            "-z" => Some("[0, 0, -1]"),
            _ => None,
        };
        if let (Some(vector), "axis" | "normal" | "across" | "x" | "y") = (vector, key) {
            return Some(format!("a direction is a list of three numbers: write `{key}: {vector}`"));
        }
    }
    EXAMPLES.iter().find(|(k, _)| *k == key).map(|(_, text)| format!("for example `{text}`"))
}

/// Number of opened minus closed brackets.
fn open_brackets(text: &str) -> i32 {
    text.chars().map(|c| i32::from(c == '(') - i32::from(c == ')')).sum()
}

/// Help for a list that is split into too many entries by a comma inside an expression.
pub(super) fn comma_inside(items: &[Node], source: &str) -> Option<String> {
    let texts: Vec<&str> = items
        .iter()
        .map(|n| match &n.content {
            Content::Scalar(text) => text.get(source).trim(),
            _ => "",
        })
        .collect();
    let first = texts.iter().position(|t| open_brackets(t) > 0)?;
    let mut whole = texts[first].to_string();
    for text in &texts[first + 1..] {
        if open_brackets(&whole) <= 0 {
            break;
        }
        whole += &format!(", {text}");
    }
    Some(format!("an expression with a comma must be quoted inside brackets: `'{}'`", shorten(&whole)))
}

/// The section that contains elements of a type.
fn section_of(kind: &str) -> Option<&'static str> {
    let typed = |t: &&'static Table| t.kind == Some(kind) && ["joints", "forces", "constraints"].contains(&t.section);
    crate::keys::keys().into_iter().find(typed).map(|t| t.section)
}

/// Help for a contact.
fn contact_help() -> String {
    match crate::keys::TOP.keys.iter().any(|k| k.name == "contacts") {
        true => "contacts have a separate section, `contacts:`".into(),
        false => "there are no contacts; a `force` with `if(...)` makes a floor or a stop, see the cookbook".into(),
    }
}

impl Reader<'_> {
    pub(crate) fn wrong_kind(&mut self, node: &Node, expected: &str, path: &Path<'_>) {
        let help = example(&path.last(), node, self.source).unwrap_or_default();
        self.wrong_kind_with(node, expected, &help, path);
    }

    /// Whether a comma inside braces has split an expression, so that keys without values follow. Reports it and returns their number.
    pub(crate) fn comma_in_braces(&mut self, node: &Node, after: &[(Text, Node)], path: &Path<'_>) -> Option<usize> {
        let Content::Scalar(text) = &node.content else { return None };
        let mut whole = text.get(self.source).to_string();
        let mut parts = 0;
        while open_brackets(&whole) > 0 {
            let (key, Node { content: Content::Scalar(value), .. }) = after.get(parts)? else { return None };
            if !is_null(value, self.source) {
                return None;
            }
            whole += &format!(", {}", key.get(self.source));
            parts += 1;
        }
        if parts == 0 {
            return None;
        }
        let d = Diagnostic::new("M020", format!("a comma ends `{}`", path.last())).help(format!(
            "an expression with a comma must be quoted inside braces: `{}: '{}'`",
            path.last(),
            shorten(&whole)
        ));
        let span = self.one_line(node);
        self.problem(d.at(path.to_string()), span);
        Some(parts)
    }

    /// As above, with a specific help text.
    pub(crate) fn wrong_kind_with(&mut self, node: &Node, expected: &str, help: &str, path: &Path<'_>) {
        let found = node.what(self.source);
        let d = Diagnostic::new("M011", format!("`{}` must be {expected}, not {found}", path.last())).help(help).at(path.to_string());
        let span = self.one_line(node);
        self.problem(d, span);
    }

    /// The location of a node, cut to its first line.
    pub(crate) fn one_line(&self, node: &Node) -> Span {
        let text = self.source.get(node.span.range()).unwrap_or("");
        Span::new(node.span.start(), node.span.start() + text.lines().next().map_or(0, str::len))
    }

    pub(crate) fn unknown_key(&mut self, table: &Table, key: &str, span: Span, path: &Path<'_>) {
        let words = table.kind.map(|_| "type").into_iter().chain(table.keys.iter().map(|k| k.name));
        let help = match (key.parse::<f64>(), key) {
            (Ok(_), _) => "decimals are written with a point: `1.5`, not `1,5`".into(),
            (_, "limits") if table.section == "joints" => {
                "this joint takes no limits; a `torsion` or `actuator` force with `if(...)` makes a stop, see the cookbook".into()
            }
            (_, "bodies" | "body") if table.section == "contacts" => {
                "give the two sides under `between`, such as `between: [{body: ball, radius: 20 mm}, {plane: {}}]`".into()
            }
            (_, "bodies" | "body") if table.keys.iter().any(|k| k.name == "on") => {
                "give one body and a place: `on: {body: NAME, at: [x, y, z]}`".into()
            }
            _ => match key.split_once(':') {
                Some((word, value)) if words.clone().any(|w| w == word) => {
                    format!("a space must follow the colon: `{word}: {}`", shorten(value))
                }
                _ => {
                    let known: Vec<&str> = words.clone().collect();
                    super::words::instead(key, table.section, &known).unwrap_or_else(|| suggest(key, words, "known keys:"))
                }
            },
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
        if table.section.is_empty() && missing.contains(&"fourbar") {
            let d =
                Diagnostic::new("M013", "the file does not state the version of its format").help("write `fourbar: 1` as its first line");
            return self.problem(d.at("fourbar"), span);
        }
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
        let meant = TYPES.iter().filter(|(other, _)| word.eq_ignore_ascii_case(other)).map(|(_, ours)| *ours);
        let ours = meant.clone().find(|m| known.clone().any(|k| k == *m)).or_else(|| meant.clone().next());
        let elsewhere = section_of(ours.unwrap_or(word)).filter(|_| what.ends_with(" type"));
        let help = match (ours, elsewhere) {
            (Some("spring"), _) if word.eq_ignore_ascii_case("damper") && known.clone().any(|k| k == "spring") => {
                "a damper is a `spring` that has only `damping`".into()
            }
            (Some(ours), _) if known.clone().any(|k| k == ours) => format!("it is called `{ours}` here"),
            (_, Some(section)) => format!("`{}` belongs under `{section}:`", ours.unwrap_or(word)),
            _ if word.eq_ignore_ascii_case("contact") => contact_help(),
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
                "a name starts with a letter or underscore, continues with letters, digits, `_` or `-`, and has at most {LONGEST} characters"
            ))
        } else if TAKEN.contains(&name) {
            Diagnostic::new("M016", format!("the name `{name}` is taken"))
                .help("`t`, `ground`, `energy` and `error` are reserved: choose another name")
        } else {
            return true;
        };
        self.problem(d.at(path.to_string()), span);
        false
    }
}
