//! Paints diagnostics for a terminal: code, message, place, the line with the offending text underlined, the cure.

use crate::places::FileDiagnostic;
use crate::terminal::{Style, paint, visible};
use std::fmt::Write;

/// Longest piece of a source line that is shown.
const WIDTH: usize = 100;

/// Diagnostics as text, in the look of a compiler; `source` is the text of the file, `name` how it is called.
pub fn render(diagnostics: &[FileDiagnostic], source: &str, name: &str, colour: bool) -> String {
    paint(&marked(diagnostics, source, name), colour)
}

/// The same with marks of styles, to be painted where it is printed. Without a name there is no line that points to a file.
pub fn marked(diagnostics: &[FileDiagnostic], source: &str, name: &str) -> String {
    let mut out = String::new();
    for d in diagnostics {
        one(&mut out, d, source, name);
    }
    out
}

// Writing to a `String` cannot fail, so the results of `write!` carry nothing.
fn one(out: &mut String, d: &FileDiagnostic, source: &str, name: &str) {
    let warning = d.diagnostic.is_warning();
    let main = if warning { Style::Warning } else { Style::Error }.mark();
    let [quiet, bold, off] = [Style::Quiet, Style::Bold, Style::Off].map(Style::mark);
    let word = if warning { "warning" } else { "error" };
    let name = visible(name);
    let _ = writeln!(out, "{main}{word}[{}]{off}{bold}: {}{off}", d.diagnostic.code, visible(&d.diagnostic.message));
    let mut margin = 1;
    if d.line > 0 {
        let number = d.line.to_string();
        margin = number.len();
        let (text, before, length) = excerpt(source, d);
        let _ = writeln!(out, "{:margin$}{quiet}-->{off} {name}:{}:{}", "", d.line, d.column);
        let _ = writeln!(out, "{:margin$} {quiet}|{off}", "");
        let _ = writeln!(out, "{quiet}{number} |{off} {}", text.trim_end());
        let _ = writeln!(out, "{:margin$} {quiet}|{off} {:before$}{main}{}{off}", "", "", "^".repeat(length));
    } else if !name.is_empty() {
        let _ = writeln!(out, " {quiet}-->{off} {name}");
    }
    if !d.diagnostic.help.is_empty() {
        let _ = writeln!(out, "{:margin$} {quiet}={off} help: {}", "", visible(&d.diagnostic.help));
    }
    out.push('\n');
}

/// The line, cut to a window around the place, with the number of characters before the mark and the length of the mark.
fn excerpt(source: &str, d: &FileDiagnostic) -> (String, usize, usize) {
    let at = d.span.start.min(source.len());
    let start = source.as_bytes()[..at].iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    let line = source.get(start..).unwrap_or("").split('\n').next().unwrap_or("");
    let before = d.column.saturating_sub(1);
    let marked = source.get(d.span.clone()).map_or(0, |s| s.split('\n').next().unwrap_or("").chars().count());
    // A line that fits is shown whole.
    let cut_left = if line.chars().nth(WIDTH).is_none() { 0 } else { before.saturating_sub(WIDTH / 2) };
    let lead = if cut_left > 0 { "..." } else { "" };
    let mut shown: String = visible(&line.chars().skip(cut_left).take(WIDTH).collect::<String>());
    if line.chars().nth(cut_left + WIDTH).is_some() {
        shown += "...";
    }
    let left = lead.len() + before - cut_left;
    let room = (WIDTH - (before - cut_left)).max(1);
    (format!("{lead}{shown}"), left, marked.clamp(1, room))
}
