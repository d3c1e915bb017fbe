//! Diagnostics as a page shows them: the words of the command line, with places counted as the page counts them.

use fourbar::Diagnostic;
use serde_json::{Value, json};

/// An answer that states what is wrong.
pub fn refused(list: &[Diagnostic]) -> Value {
    refused_in(list, "")
}

/// The same about a text.
pub fn refused_in(list: &[Diagnostic], text: &str) -> Value {
    json!({"ok": false, "diagnostics": diagnostics(list, text)})
}

/// Diagnostics with their places in a text, where they have one: line and column from 1, start and end in UTF-16 units.
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

/// A byte of a text counted in UTF-16 units, as pages count.
pub fn units(text: &str, byte: usize) -> Option<usize> {
    text.get(..byte).map(|t| t.encode_utf16().count())
}
