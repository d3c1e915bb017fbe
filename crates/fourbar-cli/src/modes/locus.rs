//! `fourbar modes --against`: roots as a function of a parameter, and where the stability changes.

use super::title;
use crate::about::of_model;
use crate::args::ModesArgs;
use crate::input::Input;
use crate::range::Range;
use crate::reply::{Reply, Stop};
use crate::screen::{Screen, number, table};
use fourbar::study::count;
use fourbar::{Diagnostic, Error};
use fourbar_design::linear::{Request, linearize};
use fourbar_design::modes::{Mode, modes};
use fourbar_io::disk::{Kind, write_kind};
use serde_json::json;
use std::borrow::Cow;

/// Largest number of printed values.
const PRINTED: usize = 21;
/// Largest number of bisections of an interval with a change of stability.
const HALVINGS: usize = 60;

/// Final length of a bisected interval, relative to the distance of two values.
const CLOSE: f64 = 1e-12;
/// Distance to both sides at which a root is examined, relative to that of two values.
const NEAR: f64 = 1e-6;
/// A root does not grow if its real part is below this fraction of its magnitude, or below the effect of rounding errors of the matrix.
const STILL: f64 = 1e-11;
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// Modes at a value.
#[derive(Clone)]
struct At {
    value: f64,
    list: Vec<Mode>,
    rigid: usize,
}

impl At {
    /// Modes that grow by more than rounding explains; rounding has a larger effect near double roots.
    fn growing(&self) -> Vec<&Mode> {
        let top = self.list.iter().fold(0.0_f64, |m, x| m.max(x.omega));
        self.list.iter().filter(|m| m.s.re > STILL * m.omega + ROUNDING * m.condition * top).collect()
    }
}

/// A change from stable to unstable or back.
struct Change {
    value: f64,
    words: String,
    becomes: &'static str,
    frequency: f64,
}

fn modes_at(args: &ModesArgs, range: &Range, value: f64) -> Result<At, Error> {
    let model = range.model(&args.model.file, &args.model.set, args.model.large, value)?;
    let state = of_model(&model, &args.about)?.state;
    let request = Request { inputs: Some(Vec::new()), outputs: Some(Vec::new()), frozen: args.about.frozen };
    let found = modes(&model, linearize(&model, &state, &request)?)?;
    Ok(At { value, rigid: found.rigid, list: found.list })
}

/// Runs the analysis.
pub fn locus(args: &ModesArgs, input: &Input, against: &(String, String), screen: &Screen) -> Result<Reply, Stop> {
    let range = Range::new(against)?;
    range.check(input, &args.model.file)?;
    let points = usize::from(args.points);
    let mut list: Vec<At> = Vec::new();
    let mut changes: Vec<Change> = Vec::new();
    let mut warnings: Vec<Diagnostic> = input.loaded.warnings.clone();
    for k in 0..points {
        let share = k as f64 / (points - 1) as f64;
        let value = range.ends[0] + share * (range.ends[1] - range.ends[0]);
        match modes_at(args, &range, value) {
            Ok(at) => {
                if let Some(last) = list.last() {
                    changes.extend(changed(args, &range, last, &at));
                }
                list.push(at);
            }
            Err(e) if list.is_empty() && k + 1 == points => return Err(input.stop(e.cause())),
            Err(e) => {
                let d = e.cause();
                let message = format!("no roots at {} = {}: {}", range.name, range.text(value), d.message);
                warnings.push(Diagnostic { message, ..Diagnostic::new("W413", "") });
            }
        }
    }
    let unit = if range.unit.is_empty() { String::new() } else { format!(" [{}]", range.unit) };
    let mut text = format!("{}\n\nroots over `{}`{unit}: {}\n", screen.bold(title(input)), range.name, count(list.len(), "value"));
    for c in &changes {
        let how = if c.frequency > 0.0 { format!(", {} Hz", number(c.frequency)) } else { String::new() };
        text += &format!("{} becomes {} at {} = {:.8}{how}\n", c.words, c.becomes, range.name, c.value);
    }
    let most = list.iter().map(|a| a.list.len()).max().unwrap_or(0).min(args.count.into()).min(6);
    let mut head = vec![format!("{}{unit}", range.name)];
    head.extend((1..=most).map(|k| format!("root {k}")));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let step = list.len().div_ceil(PRINTED).max(1);
    let rows: Vec<Vec<String>> = list
        .iter()
        .step_by(step)
        .map(|a| {
            let mut row = vec![number(a.value)];
            row.extend((0..most).map(|k| a.list.get(k).map_or(String::new(), root)));
            row
        })
        .collect();
    text += &format!("\n{}", table(&head, &rows, &(0..head.len()).collect::<Vec<_>>()));
    if let Some(file) = &args.output {
        let mut csv = format!("{},mode,re,im,frequency,damping,condition\n", range.name);
        for a in &list {
            for (k, m) in a.list.iter().enumerate() {
                csv += &format!("{:?},{},{:?},{:?},{:?},{:?},{:?}\n", a.value, k + 1, m.s.re, m.s.im, m.frequency, m.damping, m.condition);
            }
        }
        write_kind(file, csv.as_bytes(), Kind::Other, args.force)?;
        text += &format!("\nthe roots are written to {}\n", file.display());
    }
    let values: Vec<_> = list.iter().map(|a| json!({"value": a.value, "rigid": a.rigid, "modes": a.list})).collect();
    let critical: Vec<_> =
        changes.iter().map(|c| json!({"value": c.value, "becomes": c.becomes, "frequency": c.frequency, "words": c.words})).collect();
    let mut reply = Reply::new(
        text,
        json!({
            "file": input.name, "title": input.model.title, "hash": input.loaded.hash, "parameter": range.name, "unit": range.unit,
            "values": values, "critical": critical,
        }),
    );
    reply.notes = input.notes(&warnings);
    Ok(reply)
}

fn root(m: &Mode) -> String {
    let re = if m.s.re.abs() < 1e-12 * m.omega { 0.0 } else { m.s.re };
    if m.s.im > 0.0 { format!("{re:.3} ± {:.3}i", m.s.im) } else { format!("{re:.3}") }
}

/// Where the number of growing roots changes between two values, each found by bisection.
fn changed(args: &ModesArgs, range: &Range, a: &At, b: &At) -> Vec<Change> {
    let mut list: Vec<Change> = Vec::new();
    let close = CLOSE * (b.value - a.value).abs();
    let (mut from, last) = (Cow::Borrowed(a), b.growing().len());
    while from.growing().len() != last && list.len() < b.list.len() + a.list.len() {
        let count = from.growing().len();
        let (mut low, mut high) = (from.clone(), Cow::Borrowed(b));
        for _ in 0..HALVINGS {
            if (high.value - low.value).abs() <= close {
                break;
            }
            let Ok(middle) = modes_at(args, range, 0.5 * (low.value + high.value)) else { break };
            if middle.growing().len() == count {
                low = Cow::Owned(middle);
            } else {
                high = Cow::Owned(middle);
            }
        }
        let more = high.growing().len() > count;
        // Of the growing roots on the unstable side, the one with the smallest rate.
        let side = if more { &high } else { &low };
        if let Some(m) = side.growing().into_iter().min_by(|x, y| x.s.re.total_cmp(&y.s.re)) {
            let becomes = if more { "unstable" } else { "stable" };
            let value = 0.5 * (low.value + high.value);
            let value = refined(args, range, value, NEAR * (b.value - a.value), m).unwrap_or(value);
            list.push(Change { value, words: m.words.clone(), becomes, frequency: m.frequency });
        }
        from = high;
    }
    list
}

/// Where the real part of a root is zero, if it changes sign at a finite rate, by interpolation between two points at some distance: near
/// zero the real part is lost in rounding.
fn refined(args: &ModesArgs, range: &Range, value: f64, distance: f64, mode: &Mode) -> Option<f64> {
    let real = |value: f64| {
        let at = modes_at(args, range, value).ok()?;
        at.list.iter().min_by(|x, y| (x.s - mode.s).norm().total_cmp(&(y.s - mode.s).norm())).map(|m| m.s.re)
    };
    let (a, b) = (real(value - distance)?, real(value + distance)?);
    let transversal = a * b < 0.0 && a.abs() < 3.0 * b.abs() && b.abs() < 3.0 * a.abs();
    transversal.then(|| value - distance + 2.0 * distance * a / (a - b))
}
