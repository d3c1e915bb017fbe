//! The summary of a run: a few lines for the user, an object for programs.

use super::{Done, Task};
use crate::screen::{Facts, Screen, names, number};
use fourbar::events::Kind;
use fourbar::study::{Analysis, Report, count};
use fourbar_io::disk::part;
use fourbar_io::results::{EVENTS, Kept, RunFacts, SUMMARY, TRAJECTORY, Totals, summary, work_words};
use serde_json::Value;

/// Largest number of notes on the screen; the summary file has all.
const MOST_NOTES: usize = 6;
/// Largest number of lines of events on the screen.
const MOST_EVENTS: usize = 12;

/// Selection of pictures in a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pictures {
    /// None.
    None,
    /// The most informative one.
    One,
    /// The path of a point and the history of a coordinate.
    Both,
}

/// The summary as text.
pub fn words(task: &Task, done: &Done, kept: Option<Kept>, screen: &Screen) -> String {
    let model = &task.input.model;
    let mut facts = Facts::new(12);
    let title = if model.title.is_empty() { &task.input.name } else { &model.title };
    facts.text = format!("{}\n\n", screen.bold(title));
    let n = &done.totals;
    if let Some(r) = &done.report {
        let how = match (r.analysis, task.study.step) {
            (Analysis::Kinematics, _) => "position by Newton, then velocity and acceleration".to_string(),
            (Analysis::Dynamics, Some(h)) => format!("{} with {}, step {} s", r.formulation, r.integrator, number(h)),
            (Analysis::Dynamics, None) => format!("{} with {}, adaptive", r.formulation, r.integrator),
        };
        facts.add(if r.analysis == Analysis::Kinematics { "kinematics" } else { "dynamics" }, &how);
        let ended = if r.t < task.study.t_end * (1.0 - 1e-12) { format!(" of {}", number(task.study.t_end)) } else { String::new() };
        if let Some(k) = task.study.mode {
            facts.add("mode", &format!("assembly mode {k}, as `fourbar check` counts them"));
        }
        match n.rows {
            0 => facts.add("time", &format!("ended at t = {} s, before the first output row", number(r.t))),
            rows => facts.add("time", &format!("0 to {}{ended} s, {}", number(r.t), count(rows, "output row"))),
        }
        if !r.work.is_empty() {
            facts.add("work", &work_words(r.work.iter().map(|(name, n)| (name.as_ref(), *n))));
        }
        facts.add("wall time", &format!("{:.2} s", done.wall_time));
        if n.rows > 0 {
            facts.add(
                "errors",
                &format!(
                    "of the constraints at most {} m, {} m/s, {} m/s^2",
                    number(n.errors[0]),
                    number(n.errors[1]),
                    number(n.errors[2])
                ),
            );
            facts.add("energy", &energy(done, r.analysis));
        }
        if let Some(moved) = r.warnings.iter().find(|w| w.code.0 == "W201") {
            facts.add("start", &format!("assembled from the drawing; {}", moved.help));
        }
        for (k, line) in events(r, rounding(&done.totals)).iter().enumerate() {
            facts.add(if k == 0 { "events" } else { "" }, line);
        }
        for (k, note) in r.notes.iter().take(MOST_NOTES).enumerate() {
            facts.add(if k == 0 { "notes" } else { "" }, note);
        }
        if r.notes.len() > MOST_NOTES {
            facts.add("", &format!("and {} more in {SUMMARY}", r.notes.len() - MOST_NOTES));
        }
        if r.redundant > 0 {
            facts.add("redundancy", &format!("{} of {} constraint rows are redundant at the start", r.redundant, r.rows));
        }
        if !r.not_unique.is_empty() {
            let joints: Vec<&str> = r.not_unique.iter().map(|(j, _)| j.as_str()).collect();
            facts.add("reactions", &format!("not unique at {}: the values of least norm are shown", names(&joints)));
        }
        for (k, s) in r.singular.iter().take(5).enumerate() {
            facts.add(if k == 0 { "singular" } else { "" }, &format!("position at t = {:.6} s: {}", s.time, names(&s.joints)));
        }
        if r.singular.len() > 5 {
            facts.add("", &format!("and {} more", r.singular.len() - 5));
        }
    }
    if let (Some(folder), Some(kept)) = (&task.folder, kept) {
        let rows = folder.join(TRAJECTORY);
        let rows = if kept == Kept::Beside { part(&rows) } else { rows };
        let older = if kept == Kept::Replaced { ", in place of an older result" } else { "" };
        facts.add("written", &format!("{} ({} rows, {} columns), {SUMMARY}{older}", rows.display(), n.rows, done.columns.len()));
    }
    if done.interrupted {
        let next = match (&task.folder, kept) {
            (Some(f), Some(_)) => format!("continue with `--resume {}`", f.display()),
            (Some(_), None) => "nothing was written: there was no row yet".to_string(),
            (None, _) => "nothing was written: there was no `--out`".to_string(),
        };
        facts.add("interrupted", &next);
    }
    let mut text = facts.text;
    for picture in pictures(task, done) {
        text += &format!("\n{picture}");
    }
    text
}

fn pictures(task: &Task, done: &Done) -> Vec<String> {
    let analysis = done.report.as_ref().map(|r| r.analysis);
    let (Some(analysis), true) = (analysis, done.totals.rows > 2) else { return Vec::new() };
    let path = || done.preview.path(&task.input.model);
    let history = || done.preview.history(&task.input.model, analysis);
    match task.pictures {
        Pictures::None => Vec::new(),
        Pictures::One => history().or_else(path).into_iter().collect(),
        Pictures::Both => path().into_iter().chain(history()).collect(),
    }
}

/// Energy below which a loss is rounding, J.
fn rounding(n: &Totals) -> f64 {
    1e-12 * n.energy_max.abs().max(n.energy_min.abs()).max(n.work[1].abs())
}

/// A line for each event; successive impacts on one limit are combined. Losses up to `least`, J, are omitted.
fn events(r: &Report, least: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut k = 0;
    while k < r.events.len() && lines.len() < MOST_EVENTS {
        let h = &r.events[k];
        let series = r.events[k..].iter().take_while(|o| o.name == h.name && o.kind == Kind::Impact).count();
        let lost = |from: usize, to: usize| {
            let sum: f64 = r.events[from..to].iter().map(|h| h.lost).sum();
            if sum.abs() > least { format!(", {} J lost", number(sum)) } else { String::new() }
        };
        let rests = r.events.get(k + series).is_some_and(|o| o.name == h.name && o.kind == Kind::Rest);
        if series > 2 || series > 0 && rests {
            let to = k + series + usize::from(rests);
            let end = if rests {
                format!("at rest from {} s", time(r.events[to - 1].t))
            } else {
                format!("the last at {} s", time(r.events[to - 1].t))
            };
            lines.push(format!("{}: {series} impacts from {} s, {end}{}", h.name, time(h.t), lost(k, to)));
            k = to;
            continue;
        }
        let word = if h.kind == Kind::Event { String::new() } else { format!(": {}", h.kind.word()) };
        lines.push(format!("{}{word} at {} s{}", h.name, time(h.t), lost(k, k + 1)));
        k += 1;
    }
    if k < r.events.len() {
        lines.push(format!("and {} more in {EVENTS}", r.events.len() - k));
    }
    lines
}

fn time(t: f64) -> String {
    format!("{t:.9}").trim_end_matches('0').trim_end_matches('.').to_string()
}

fn energy(done: &Done, analysis: Analysis) -> String {
    let n = &done.totals;
    let (lo, hi) = (n.energy_min, n.energy_max);
    match analysis {
        // Drives do work, so the energy of a driven mechanism need not be constant.
        Analysis::Kinematics => format!("between {} and {} J", number(lo), number(hi)),
        Analysis::Dynamics if n.lost.abs() > rounding(n) => format!(
            "{} J at the start, {} J at the end, work done on it {} J, lost at events {} J; the balance closes to {} J",
            number(n.energy_first),
            number(n.energy_last),
            number(n.work[0]),
            number(n.lost),
            number(n.imbalance)
        ),
        Analysis::Dynamics if n.work[1] > 0.0 => format!(
            "{} J at the start, {} J at the end, work done on it {} J; energy minus work changes by at most {} J",
            number(n.energy_first),
            number(n.energy_last),
            number(n.work[0]),
            number(n.imbalance)
        ),
        Analysis::Dynamics => {
            let most = (hi - n.energy_first).max(n.energy_first - lo);
            format!(
                "{} J at the start; changes by at most {} J, at the end by {} J",
                number(n.energy_first),
                number(most),
                number(n.energy_last - n.energy_first)
            )
        }
    }
}

/// The summary as an object: what `summary.json` holds.
pub fn fields(task: &Task, done: &Done) -> Value {
    let input = &task.input;
    let warnings = input.loaded.warnings.iter().chain(&task.warnings).chain(done.report.iter().flat_map(|r| &r.warnings));
    summary(&RunFacts {
        file: &input.name,
        title: &input.model.title,
        has_events: input.model.has_events(),
        hash: &input.loaded.hash,
        data: &input.loaded.data,
        parameters: &input.loaded.parameters,
        set: &task.set,
        study: &task.study,
        complete: done.error.is_none() && !done.interrupted,
        interrupted: done.interrupted,
        totals: &done.totals,
        wall_time: done.wall_time,
        report: done.report.as_ref(),
        diagnostics: warnings.chain(&done.error).collect(),
        columns: &done.columns,
    })
}
