//! Paints diagnostics for a terminal: code, message, place, the line with the offending text underlined, the cure.

use crate::places::FileDiagnostic;
use std::fmt::Write;

/// Longest piece of a source line that is shown.
const WIDTH: usize = 100;

/// Diagnostics as text, in the look of a compiler; `source` is the text of the file, `name` how it is called.
pub fn render(diagnostics: &[FileDiagnostic], source: &str, name: &str, colour: bool) -> String {
    let mut out = String::new();
    for d in diagnostics {
        one(&mut out, d, source, name, colour);
    }
    out
}

struct Paint {
    main: &'static str,
    quiet: &'static str,
    bold: &'static str,
    off: &'static str,
}

// Writing to a `String` cannot fail, so the results of `write!` carry nothing.
fn one(out: &mut String, d: &FileDiagnostic, source: &str, name: &str, colour: bool) {
    let warning = d.diagnostic.is_warning();
    let p = match (colour, warning) {
        (false, _) => Paint { main: "", quiet: "", bold: "", off: "" },
        (true, false) => Paint { main: "\x1b[1;31m", quiet: "\x1b[34m", bold: "\x1b[1m", off: "\x1b[0m" },
        (true, true) => Paint { main: "\x1b[1;33m", quiet: "\x1b[34m", bold: "\x1b[1m", off: "\x1b[0m" },
    };
    let word = if warning { "warning" } else { "error" };
    let _ = writeln!(out, "{}{word}[{}]{}{}: {}{}", p.main, d.diagnostic.code, p.off, p.bold, visible(&d.diagnostic.message), p.off);
    let mut margin = 1;
    if d.line == 0 {
        let _ = writeln!(out, " {}-->{} {name}", p.quiet, p.off);
    } else {
        let number = d.line.to_string();
        margin = number.len();
        let (text, before, length) = excerpt(source, d);
        let _ = writeln!(out, "{:margin$}{}-->{} {name}:{}:{}", "", p.quiet, p.off, d.line, d.column);
        let _ = writeln!(out, "{:margin$} {}|{}", "", p.quiet, p.off);
        let _ = writeln!(out, "{}{number} |{} {}", p.quiet, p.off, text.trim_end());
        let _ = writeln!(out, "{:margin$} {}|{} {:before$}{}{}{}", "", p.quiet, p.off, "", p.main, "^".repeat(length), p.off);
    }
    if !d.diagnostic.help.is_empty() {
        let _ = writeln!(out, "{:margin$} {}={} help: {}", "", p.quiet, p.off, visible(&d.diagnostic.help));
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

/// Control characters could move the cursor or hide text: each becomes one visible character.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}
