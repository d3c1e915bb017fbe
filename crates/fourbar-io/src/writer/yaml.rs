//! Pieces of YAML: numbers, texts, and lists and groups on one line.

use crate::terminal::is_hidden;
use fourbar::expr::number;

/// A text in double quotes; JSON escapes are valid in YAML, except for characters beyond 16 bits. Hidden characters are escaped.
pub(super) fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_else(|_| "\"\"".into());
    json.chars()
        .map(|c| match u32::from(c) {
            code if is_hidden(c) && code > 0xffff => format!("\\U{code:08x}"),
            code if is_hidden(c) => format!("\\u{code:04x}"),
            _ => c.to_string(),
        })
        .collect()
}

/// A list of numbers on one line.
pub(super) fn list(x: &[f64]) -> String {
    let items: Vec<String> = x.iter().map(|x| number(*x)).collect();
    format!("[{}]", items.join(", "))
}

/// A list of texts on one line.
pub(super) fn items(x: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", x.into_iter().collect::<Vec<_>>().join(", "))
}

/// A group of keys, written on one line.
#[derive(Default)]
pub(super) struct Group(Vec<String>);

impl Group {
    pub fn new(kind: &str) -> Self {
        Self(vec![format!("type: {kind}")])
    }
    pub fn put(&mut self, key: &str, value: impl AsRef<str>) -> &mut Self {
        self.0.push(format!("{key}: {}", value.as_ref()));
        self
    }
    pub fn number(&mut self, key: &str, x: f64) -> &mut Self {
        self.put(key, number(x))
    }
    pub fn list(&mut self, key: &str, x: &[f64]) -> &mut Self {
        self.put(key, list(x))
    }
    /// Omits the key if all values are zero.
    pub fn unless_zero(&mut self, key: &str, x: &[f64]) -> &mut Self {
        if x.iter().any(|x| *x != 0.0) { if let [x] = x { self.number(key, *x) } else { self.list(key, x) } } else { self }
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn line(&self) -> String {
        format!("{{{}}}", self.0.join(", "))
    }
    /// One key per line, indented.
    pub fn lines(&self, indent: &str) -> String {
        self.0.iter().map(|x| format!("{indent}{x}\n")).collect()
    }
}
