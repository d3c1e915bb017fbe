//! Assembly modes as files: a page that shows them superimposed, or their poses.

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

/// Largest number of modes on one page: more superimposed modes cannot be distinguished.
const SHOWN: usize = 6;
/// Number of rows of a moving mode on the page, and the duration, s.
const ROWS: usize = 161;
const SECONDS: f64 = 4.0;

/// A written file.
pub struct Written {
    /// Path of the file.
    pub path: String,
    /// A line for the user.
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
        text += &format!("it shows the first {SHOWN} of {} assembly modes; a .json file contains all of them\n", e.modes.len());
    }
    Ok(Written { path: w.path, text, warnings: w.warnings })
}

/// The poses of a mode: its motion if it has one degree of freedom, otherwise the pose alone.
fn table(input: &Input, f: &Findings, m: &Mode) -> Table {
    let model = &input.model;
    let e = &f.explanation;
    let swept = match e.coordinates.as_slice() {
        [_] if !e.sweeps.is_empty() => sweep::sweep(model, &m.configuration, &f.free, &e.coordinates, 0, 400),
        _ => None,
    };
    let Some(s) = &swept else { return moving_table(model, std::iter::once((0.0, m.configuration.q.as_slice()))) };
    // Forwards from the mode; a motion that is not closed goes there and back.
    let start = s.points.iter().position(|p: &Point| p.s == 0.0).unwrap_or(0);
    let (ahead, behind) = (&s.points[start..], &s.points[..start]);
    let mut path: Vec<&Point> = ahead.iter().collect();
    if !s.closed {
        path.extend(ahead.iter().rev().chain(behind.iter().rev()).chain(behind));
    }
    let rows = evenly(&path, ROWS).into_iter().enumerate();
    moving_table(model, rows.map(|(k, q)| (SECONDS * k as f64 / (ROWS - 1) as f64, q)))
}

/// Poses at equal arc lengths along a curve, whose points are closer where it bends; poses between points are interpolated.
fn evenly(path: &[&Point], rows: usize) -> Vec<Vec<Pose>> {
    let ways = path.windows(2).map(|w| (w[1].s - w[0].s).abs());
    let ends: Vec<f64> = ways.scan(0.0, |way, step| Some(std::mem::replace(way, *way + step) + step)).collect();
    let whole = ends.last().copied().unwrap_or(0.0);
    let row = |k: usize| {
        let way = whole * k as f64 / (rows - 1) as f64;
        // The first segment that ends there or later.
        let n = ends.partition_point(|end| *end < way).min(ends.len().saturating_sub(1));
        let [Some(from), Some(to)] = [path.get(n), path.get(n + 1)] else { return path[0].q.clone() };
        let step = (to.s - from.s).abs();
        let share = if step > 0.0 { 1.0 - (ends[n] - way) / step } else { 0.0 };
        from.q.iter().zip(&to.q).map(|(a, b)| a.moved(&a.increment_to(b).scaled(share))).collect()
    };
    (0..rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_that_are_not_even_are_passed_evenly() {
        // A body that moves along x by the arc length, there and back.
        let pose = |x: f64| Pose { r: [x, 0.0, 0.0].into(), ..Pose::identity() };
        let point = |s: f64| Point { q: vec![pose(s)], turns: Vec::new(), tangent: Vec::new(), sigma: 1.0, s };
        let points = [0.0, 0.5, 2.0, 2.5].map(point);
        let path: Vec<&Point> = points.iter().chain(points.iter().rev()).collect();
        let x: Vec<f64> = evenly(&path, 11).iter().map(|q| q[0].r.x).collect();
        for (x, want) in x.iter().zip([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0]) {
            assert!((x - want).abs() < 1e-12, "{x} instead of {want}");
        }
        assert_eq!(evenly(&path[..1], 3).len(), 3);
    }
}
