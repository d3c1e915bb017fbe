//! Diagnostics for pages: the texts of the command line, with locations counted as in pages.

use fourbar::Diagnostic;
use serde_json::{Value, json};

/// A reply with errors.
pub fn refused(list: &[Diagnostic]) -> Value {
    refused_in(list, "")
}

/// The same for a text.
pub fn refused_in(list: &[Diagnostic], text: &str) -> Value {
    json!({"ok": false, "diagnostics": diagnostics(list, text)})
}

/// Diagnostics with their locations in a text, if any: line and column from 1, start and end in UTF-16 units.
pub fn diagnostics(list: &[Diagnostic], text: &str) -> Vec<Value> {
    list.iter().map(|d| diagnostic(d, text)).collect()
}

fn diagnostic(d: &Diagnostic, text: &str) -> Value {
    let mut out = json!({
        "code": d.code.0, "message": d.message, "help": d.help, "names": d.names,
        "warning": d.code.0.starts_with('W'), "shown": fourbar_io::render(std::slice::from_ref(d), "file", false),
    });
    if let Some(p) = &d.place {
        out["line"] = json!(p.line);
        out["column"] = json!(p.column);
        if let (Some(start), Some(end)) = (units(text, p.span.start), units(text, p.span.end)) {
            out["start"] = json!(start);
            out["end"] = json!(end);
        }
    }
    out
}

/// Converts a byte offset of a text to UTF-16 units.
pub fn units(text: &str, byte: usize) -> Option<usize> {
    text.get(..byte).map(|t| t.encode_utf16().count())
}
