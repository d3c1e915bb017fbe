//! Assembly modes as files: a page that shows them over each other, or their poses.

use crate::input::Input;
use crate::poses::moving_table;
use crate::reply::Stop;
use crate::screen::Screen;
use crate::view::{self, Live, Wanted};
use fourbar::Diagnostic;
use fourbar::analysis::assembly::modes::Mode;
use fourbar::state::Pose;
use fourbar::study::count;
use fourbar_check::explain::curve::Point;
use fourbar_check::explain::sweep;
use fourbar_check::report::{Findings, mode_lines, pose};
use fourbar_io::disk::{Kind, write_kind};
use fourbar_io::page::{RunSummary, Shown};
use fourbar_io::results::Table;
use serde_json::{Value, json};
use std::path::Path;

/// Modes on one page: more of them over each other show nothing.
const SHOWN: usize = 6;
/// Rows of a mode that moves on the page, and the time it takes.
const ROWS: usize = 161;
const SECONDS: f64 = 4.0;

/// What was written.
pub struct Written {
    /// The file.
    pub path: String,
    /// A line for the reader.
    pub text: String,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Writes the modes to a file, by its ending.
pub fn write(input: &Input, f: &Findings, path: &Path, force: bool, screen: &Screen) -> Result<Written, Stop> {
    let modes = &f.explanation.modes;
    if modes.is_empty() {
        let why = f.explanation.skipped.iter().find(|s| s.what == "other assembly modes").map(|s| s.why.clone());
        let why = why.unwrap_or_else(|| if f.assembled.is_err() { "it cannot be assembled".into() } else { "it has no loops".into() });
        let d = Diagnostic::new("U014", format!("this mechanism has no assembly modes to write: {why}"));
        return Err(input.stop(&d.help("assembly modes are ways to close the loops of a mechanism")));
    }
    let ending = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "json" => {
            let list: Vec<Value> = modes.iter().map(|m| pose(&input.model, &m.configuration.q)).collect();
            write_kind(path, format!("{:#}\n", json!({"modes": list})).as_bytes(), Kind::Poses, force)?;
            let text = format!("{} written to {}\n", count(modes.len(), "assembly mode"), path.display());
            Ok(Written { path: path.display().to_string(), text, warnings: Vec::new() })
        }
        "html" => page(input, f, path, force, screen).map_err(|d| input.stop(&d)),
        _ => {
            let d = Diagnostic::new("U014", format!("assembly modes cannot be written to `{}`", path.display()));
            Err(input.stop(&d.help("choose a name that ends in .html or .json")))
        }
    }
}

fn page(input: &Input, f: &Findings, path: &Path, force: bool, screen: &Screen) -> Result<Written, Diagnostic> {
    let e = &f.explanation;
    let lines = mode_lines(&input.model, f, SHOWN - 1);
    let summary = |k: usize| RunSummary { modes: lines.iter().filter(|_| k == 0).cloned().collect(), ..RunSummary::default() };
    let label = |k: usize| if k == 0 { "as drawn".to_string() } else { format!("assembly mode {}", k + 1) };
    let drawn = e.modes.iter().take(SHOWN).enumerate();
    let shown: Vec<(String, Table, RunSummary)> = drawn.map(|(k, m)| (label(k), table(input, f, m), summary(k))).collect();
    let shown: Vec<Shown<'_>> = shown.iter().map(|(label, table, summary)| Shown { label: label.clone(), table, summary }).collect();
    let w = view::write(input, &shown, &Wanted { path: path.into(), force, open: false, live: Live::No }, screen)?;
    let mut text = w.text;
    if e.modes.len() > SHOWN {
        text += &format!("it shows the first {SHOWN} of {} assembly modes; a file that ends in .json holds all of them\n", e.modes.len());
    }
    Ok(Written { path: w.path, text, warnings: w.warnings })
}

/// The poses of a mode: its motion where one coordinate moves it, else the pose alone.
fn table(input: &Input, f: &Findings, m: &Mode) -> Table {
    let model = &input.model;
    let e = &f.explanation;
    let swept = match e.coordinates.as_slice() {
        [_] if !e.sweeps.is_empty() => sweep::sweep(model, &m.configuration, &f.free, &e.coordinates, 0, 400),
        _ => None,
    };
    let poses: Vec<&[Pose]> = match &swept {
        Some(s) => {
            // From the mode on, forwards; a motion that does not close goes there and back.
            let start = s.points.iter().position(|p: &Point| p.s == 0.0).unwrap_or(0);
            let ahead: Vec<&[Pose]> = s.points[start..].iter().map(|p| p.q.as_slice()).collect();
            let behind = s.points[..start].iter().map(|p| p.q.as_slice());
            let there_and_back = ahead.iter().copied().chain(ahead.iter().rev().copied()).chain(behind.clone().rev()).chain(behind);
            if s.closed { ahead } else { there_and_back.collect() }
        }
        None => vec![&m.configuration.q],
    };
    // A pose that does not move is one row.
    let rows = if poses.len() > 1 { ROWS } else { 1 };
    moving_table(model, (0..rows).map(|k| (SECONDS * k as f64 / (ROWS - 1) as f64, poses[k * (poses.len() - 1) / (ROWS - 1)])))
}
