//! The contents of `summary.json`.

use fourbar::Diagnostic;
use fourbar::inputs::Course;
use fourbar::study::{Report, Study};
use fourbar::trajectory::Column;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The part of the summary that describes the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Rows so far.
    pub rows: usize,
    /// Largest constraint errors: position, velocity, acceleration.
    pub errors: [f64; 3],
    /// Total energy at the first row.
    pub energy_first: f64,
    /// Total energy at the last row.
    pub energy_last: f64,
    /// Smallest total energy.
    pub energy_min: f64,
    /// Largest total energy.
    pub energy_max: f64,
    /// Work at the last row, and the largest amount of work of any row.
    #[serde(default)]
    pub work: [f64; 2],
    /// Largest change of energy minus work since the first row, without the energy removed by events.
    #[serde(default)]
    pub imbalance: f64,
    /// Energy that events have removed by the last row.
    #[serde(default)]
    pub lost: f64,
}

/// Indices of the columns that enter the totals.
#[derive(Clone, Copy, Debug)]
pub struct Watched {
    energy: usize,
    work: usize,
    /// Energy removed by events, if there are events.
    lost: Option<usize>,
    /// The first of the three constraint errors.
    error: usize,
}

impl Watched {
    /// Finds them among the columns of a run.
    pub fn of(columns: &[Column]) -> Self {
        let find = |name: &str| columns.iter().position(|c| c.name == name).unwrap_or(0);
        let lost = columns.iter().position(|c| c.name == "energy.lost");
        Self { energy: find("energy.total"), work: find("energy.work"), lost, error: find("error.position") }
    }
}

impl Totals {
    /// Adds a row to the totals.
    pub fn add(&mut self, at: &Watched, row: &[f64]) {
        let (e, work) = (row[at.energy], row[at.work]);
        if self.rows == 0 {
            (self.energy_first, self.energy_min, self.energy_max) = (e, e, e);
        }
        (self.energy_last, self.energy_min, self.energy_max) = (e, self.energy_min.min(e), self.energy_max.max(e));
        self.work = [work, self.work[1].max(work.abs())];
        self.lost = at.lost.map_or(0.0, |k| row[k]);
        self.imbalance = self.imbalance.max((e + self.lost - work - self.energy_first).abs());
        for k in 0..3 {
            self.errors[k] = self.errors[k].max(row[at.error + k]);
        }
        self.rows += 1;
    }
}

/// A run that has ended, with its mechanism and study.
#[derive(Clone, Debug)]
pub struct RunFacts<'a> {
    /// Displayed name of the mechanism file.
    pub file: &'a str,
    /// Title of the mechanism.
    pub title: &'a str,
    /// Whether it has events, limits or sticking friction.
    pub has_events: bool,
    /// Hash of the text of the file.
    pub hash: &'a str,
    /// Data files of tables, with their hashes.
    pub data: &'a [(String, String)],
    /// Names and SI values of its parameters.
    pub parameters: &'a [(String, f64)],
    /// Parameters that were given other values.
    pub set: &'a [(String, String)],
    /// Settings.
    pub study: &'a Study,
    /// Whether it reached its end.
    pub complete: bool,
    /// Whether it was interrupted by the user.
    pub interrupted: bool,
    /// Totals over the rows.
    pub totals: &'a Totals,
    /// Computing time, seconds.
    pub wall_time: f64,
    /// Report of the run, if it got that far.
    pub report: Option<&'a Report>,
    /// Warnings, and the reason for an early end.
    pub diagnostics: Vec<&'a Diagnostic>,
    /// Columns of its rows.
    pub columns: &'a [Column],
}

/// The summary as an object: what `summary.json` holds.
pub fn summary(run: &RunFacts<'_>) -> Value {
    let (study, n) = (run.study, run.totals);
    let units: Map<String, Value> = run.columns.iter().map(|c| (c.name.clone(), json!(c.unit))).collect();
    let parameters: Map<String, Value> = run.parameters.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
    let pairs = |list: &[(String, String)]| Value::Object(list.iter().map(|(k, v)| (k.clone(), json!(v))).collect());
    let mut summary = json!({
        "fourbar": env!("CARGO_PKG_VERSION"),
        "file": run.file,
        "title": run.title,
        "hash": run.hash,
        "tables": pairs(run.data),
        "parameters": parameters,
        "set": pairs(run.set),
        "complete": run.complete,
        "interrupted": run.interrupted,
        "t_end": study.t_end,
        "output_step": study.output_step,
        "step": study.step,
        "tol": study.tol,
        "options": pairs(&study.options),
        "inputs": inputs(study),
        "mode": study.mode,
        "rows": n.rows,
        "wall_time": run.wall_time,
        "largest_errors": {"position": n.errors[0], "velocity": n.errors[1], "acceleration": n.errors[2]},
        "energy": {"first": n.energy_first, "last": n.energy_last, "min": n.energy_min, "max": n.energy_max, "work": n.work[0], "imbalance": n.imbalance},
    });
    if let (Value::Object(all), Some(r)) = (&mut summary, run.report) {
        let reactions: Vec<Value> = r.not_unique.iter().map(|(joint, parts)| json!({"joint": joint, "components": parts})).collect();
        let work: Map<String, Value> = r.work.iter().map(|(k, v)| ((*k).to_string(), json!(v))).collect();
        let more = json!({
            "analysis": r.analysis, "formulation": r.formulation, "integrator": r.integrator, "t": r.t, "work": work,
            "constraint_rows": r.rows, "redundant_rows": r.redundant, "reactions_not_unique": reactions, "singular": r.singular,
            "characteristic_length": r.length, "notes": r.notes,
        });
        if run.has_events {
            all.insert("events".into(), json!(r.events));
            all["energy"]["lost"] = json!(n.lost);
        }
        if let Value::Object(more) = more {
            all.extend(more);
        }
    }
    if let Value::Object(all) = &mut summary {
        all.insert("diagnostics".into(), json!(run.diagnostics));
        all.insert("units".into(), Value::Object(units));
    }
    summary
}

/// The given inputs: values, or the properties of their tables.
fn inputs(study: &Study) -> Value {
    let summary = |course: &Course| match course {
        Course::Value(x) => json!(x),
        Course::Table { t, value, between } => {
            let (least, largest) = value.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
            json!({"points": t.len(), "from": t.first(), "to": t.last(), "least": least, "largest": largest, "between": between})
        }
    };
    Value::Object(study.inputs.iter().map(|(name, course)| (name.clone(), summary(course))).collect())
}
