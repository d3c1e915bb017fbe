//! Prints diagnostics for a terminal: code, message, place, source line with the marked text, help.

use crate::terminal::{Style, paint, visible};
use fourbar::Diagnostic;
use fourbar::diagnostic::Excerpt;
use std::fmt::Write;

/// Diagnostics as text in the style of a compiler; `name` is the displayed name of the file.
pub fn render(diagnostics: &[Diagnostic], name: &str, colour: bool) -> String {
    paint(&marked(diagnostics, name), colour)
}

/// As above, with style marks that become colours when printed. Without a name the line with the place in the file is omitted.
pub fn marked(diagnostics: &[Diagnostic], name: &str) -> String {
    let mut out = String::new();
    for d in diagnostics {
        one(&mut out, d, name);
    }
    out
}

// Writing to a `String` cannot fail, so the results of `write!` are ignored.
fn one(out: &mut String, d: &Diagnostic, name: &str) {
    let warning = d.is_warning();
    let main = if warning { Style::Warning } else { Style::Error }.mark();
    let [quiet, bold, off] = [Style::Quiet, Style::Bold, Style::Off].map(Style::mark);
    let word = if warning { "warning" } else { "error" };
    let name = visible(name);
    let _ = writeln!(out, "{main}{word}[{}]{off}{bold}: {}{off}", d.code, visible(&d.message));
    let mut margin = 1;
    if let Some(place) = &d.place {
        let number = place.line.to_string();
        margin = number.len();
        let Excerpt { text, before, length } = &place.excerpt;
        let (before, length) = (*before, *length);
        // An element may be in an included file.
        let name = place.file.as_deref().map_or(name, visible);
        let _ = writeln!(out, "{:margin$}{quiet}-->{off} {name}:{}:{}", "", place.line, place.column);
        let _ = writeln!(out, "{:margin$} {quiet}|{off}", "");
        let _ = writeln!(out, "{quiet}{number} |{off} {}", text.trim_end());
        let _ = writeln!(out, "{:margin$} {quiet}|{off} {:before$}{main}{}{off}", "", "", "^".repeat(length));
    } else if !name.is_empty() {
        let _ = writeln!(out, " {quiet}-->{off} {name}");
    }
    if !d.help.is_empty() {
        let _ = writeln!(out, "{:margin$} {quiet}={off} help: {}", "", visible(&d.help));
    }
    out.push('\n');
}
