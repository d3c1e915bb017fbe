//! Inputs of a run as they are given on the command line: a value, or a table in a file.

use crate::disk::read_text_bounded;
use crate::units::dimension_of;
use fourbar::inputs::{Between, Course, find};
use fourbar::{Diagnostic, Model};
use std::path::Path;

/// Largest table, in bytes.
const MOST: u64 = 64 << 20;

/// Reads `NAME=VALUE` and `NAME=FILE.csv` (or `FILE.csv:hold`, `FILE.csv:linear`) for the inputs of a model.
pub fn read_inputs(model: &Model, given: &[(String, String)]) -> Result<Vec<(String, Course)>, Diagnostic> {
    for (k, (name, _)) in given.iter().enumerate() {
        if given[..k].iter().any(|(before, _)| before == name) {
            let d = Diagnostic::new("U325", format!("input `{name}` is given twice: the first value would be without effect")).name(name);
            return Err(d.help("keep one of them; a table `NAME=FILE.csv` gives values that change with time"));
        }
    }
    given.iter().map(|(name, text)| Ok((name.clone(), course(model, name, text)?))).collect()
}

fn course(model: &Model, name: &str, text: &str) -> Result<Course, Diagnostic> {
    let input = &model.inputs[find(model, name)?];
    let (file, between) = match text.rsplit_once(':') {
        Some((file, "linear")) => (file, Between::Linear),
        Some((file, "hold")) => (file, Between::Hold),
        _ => (text, Between::Hold),
    };
    if file.to_ascii_lowercase().ends_with(".csv") {
        return table(name, file, between);
    }
    let refuse = |what: String| {
        Diagnostic::new("U325", what)
            .name(name)
            .help(format!("write `{name}=0.5`, `{name}=FILE.csv` or `{name}=FILE.csv:linear`; plain numbers are in {}", input.unit))
    };
    let (value, found) = crate::units::quantity(text).ok_or_else(|| refuse(format!("input `{name}`: `{text}` is not a number")))?;
    match (found, dimension_of(input.unit)) {
        (Some(found), Some(wanted)) if found != wanted => {
            Err(refuse(format!("input `{name}` must be {}, but `{text}` is {}", wanted.a(), found.a())))
        }
        _ => Ok(Course::Value(value)),
    }
}

/// A table of two columns; a first line without numbers is a heading.
fn table(name: &str, file: &str, between: Between) -> Result<Course, Diagnostic> {
    let refuse = |what: String| {
        Diagnostic::new("U321", format!("the table `{file}` of input `{name}` {what}"))
            .name(name)
            .help("write lines with two numbers, time in seconds and value in SI units, with increasing times")
    };
    let text = read_text_bounded(Path::new(file), MOST).map_err(|e| refuse(format!("cannot be read: {e}")))?;
    let (mut t, mut value) = (Vec::new(), Vec::new());
    // Spreadsheets begin their files with a byte-order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut headed = false;
    for (k, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let words: Vec<&str> = line.split([',', ';', '\t']).map(str::trim).collect();
        let numbers: Vec<f64> = words.iter().filter_map(|w| w.parse().ok()).collect();
        match numbers[..] {
            [a, b] if words.len() == 2 => {
                let at = k + 1;
                if !(a.is_finite() && b.is_finite()) {
                    return Err(refuse(format!("has a number that is not finite in line {at}")));
                }
                if t.last().is_some_and(|last| a <= *last) {
                    return Err(refuse(format!("goes back in time: line {at} is at {a} s")));
                }
                t.push(a);
                value.push(b);
            }
            // A heading consists of names; a word that begins like a number is a value, with a unit or a mistake.
            [] if t.is_empty() && !headed && !words.iter().any(|w| w.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))) => {
                headed = true;
            }
            [] if t.is_empty() => return Err(refuse(format!("has no plain numbers in line {}: `{line}`", k + 1))),
            _ => return Err(refuse(format!("does not have two numbers in line {}", k + 1))),
        }
    }
    Course::table(t, value, between).map_err(|d| refuse(format!("cannot be used: {}", d.message)))
}
