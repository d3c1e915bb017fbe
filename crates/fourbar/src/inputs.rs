//! Inputs of a study: constant values, or tables over time.
//!
//! A table is held constant from point to point, or interpolated linearly. Before its first point it has the first value, after the last
//! one the last. Changes are exact at their times: runs end a step there.

use crate::diagnostic::{Diagnostic, nearest, number};
use crate::model::Model;
use crate::state::Configuration;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Interpolation of a table between its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Between {
    /// The value of the last point.
    Hold,
    /// A straight line.
    Linear,
}

/// An input over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Course {
    /// A constant value.
    Value(f64),
    /// A table.
    Table {
        /// Times, s, ascending.
        t: Vec<f64>,
        /// Values, one per time.
        value: Vec<f64>,
        /// Interpolation.
        between: Between,
    },
}

impl Course {
    /// Checks a table.
    pub fn table(t: Vec<f64>, value: Vec<f64>, between: Between) -> Result<Self, Diagnostic> {
        let refuse = |what: String| {
            Err(Diagnostic::new("U321", what).help("a table has two columns, time in seconds and value, with times that grow"))
        };
        if t.len() != value.len() {
            return refuse(format!("the table of an input has {} times and {} values", t.len(), value.len()));
        }
        let least = if between == Between::Linear { 2 } else { 1 };
        if t.len() < least {
            return refuse(format!("the table of an input has {} of at least {least} points", t.len()));
        }
        if let Some(k) = (0..t.len()).find(|k| !(t[*k].is_finite() && value[*k].is_finite())) {
            return refuse(format!("point {} of the table of an input is not finite: {}, {}", k + 1, number(t[k]), number(value[k])));
        }
        if let Some(k) = (1..t.len()).find(|k| t[*k] <= t[*k - 1]) {
            let (before, now) = (number(t[k - 1]), number(t[k]));
            return refuse(format!(
                "the times of the table of an input do not grow: point {k} is at {before} s, point {} at {now} s",
                k + 1
            ));
        }
        Ok(Self::Table { t, value, between })
    }

    fn values(&self) -> &[f64] {
        match self {
            Self::Value(x) => std::slice::from_ref(x),
            Self::Table { value, .. } => value,
        }
    }

    /// Value and slope at time zero.
    fn first(&self) -> [f64; 2] {
        match self {
            Self::Value(x) => [*x, 0.0],
            Self::Table { t, value, between } => {
                let k = t.iter().rposition(|t| *t <= 0.0);
                match (k, between) {
                    (None, _) => [value[0], 0.0],
                    (Some(k), Between::Linear) if k + 1 < t.len() => {
                        let slope = (value[k + 1] - value[k]) / (t[k + 1] - t[k]);
                        [value[k] - slope * t[k], slope]
                    }
                    (Some(k), _) => [value[k], 0.0],
                }
            }
        }
    }

    /// Times after zero with values and slopes from there on.
    fn later(&self) -> Vec<(f64, [f64; 2])> {
        let Self::Table { t, value, between } = self else { return Vec::new() };
        let slope = |k: usize| match between {
            Between::Linear if k + 1 < t.len() => (value[k + 1] - value[k]) / (t[k + 1] - t[k]),
            _ => 0.0,
        };
        (0..t.len()).filter(|k| t[*k] > 0.0).map(|k| (t[k], [value[k], slope(k)])).collect()
    }
}

/// One input that changes at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Time, s.
    pub t: f64,
    /// The input, by its place in the model.
    pub input: usize,
    /// Value and slope from there on.
    pub held: [f64; 2],
}

/// The inputs of a study for a model: initial values and changes.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    first: Vec<[f64; 2]>,
    /// Changes after time zero, in order of time.
    changes: Vec<Change>,
    next: usize,
}

impl Plan {
    /// Checks names, values and tables against the inputs of a model.
    pub fn new(model: &Model, given: &[(String, Course)]) -> Result<Self, Diagnostic> {
        let mut plan = Self { first: model.inputs.iter().map(|i| [i.default, 0.0]).collect(), ..Self::default() };
        for (name, course) in given {
            let k = find(model, name)?;
            for value in course.values() {
                allowed(model, k, *value)?;
            }
            let later = course.later();
            if !later.is_empty() || course.first()[1] != 0.0 {
                no_impact(model, k)?;
            }
            plan.first[k] = course.first();
            // The last specification of an input applies.
            plan.changes.retain(|c| c.input != k);
            plan.changes.extend(later.into_iter().map(|(t, held)| Change { t, input: k, held }));
        }
        plan.changes.sort_by(|a, b| a.t.total_cmp(&b.t));
        Ok(plan)
    }

    /// Writes the first values and slopes.
    pub fn begin(&self, z: &mut [f64]) {
        let n = self.first.len();
        for (k, [value, slope]) in self.first.iter().enumerate() {
            (z[k], z[n + k]) = (*value, *slope);
        }
    }

    /// Skips changes up to a time, which have already been made.
    pub fn skip_to(&mut self, t: f64) {
        self.next = self.changes.partition_point(|c| c.t <= t);
    }

    /// Time of the next change, if it is not after `until`.
    pub fn next_until(&self, until: f64) -> Option<f64> {
        self.changes.get(self.next).map(|c| c.t).filter(|t| *t <= until)
    }

    /// The changes at a time, which come next.
    pub fn take(&mut self, t: f64) -> &[Change] {
        let from = self.next;
        while self.changes.get(self.next).is_some_and(|c| c.t <= t) {
            self.next += 1;
        }
        &self.changes[from..self.next]
    }

    /// Whether there is any change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Writes the first values into a drive that is integrated from its inputs.
    pub(crate) fn begin_drive(&self, drive: &crate::time::Integral) {
        drive.change(0.0, |k| self.first[k]);
    }

    /// The model for the study: a copy with the first values if drives are integrated from inputs.
    pub fn prepared<'m>(&self, model: &'m Model) -> Cow<'m, Model> {
        if model.held_drives().next().is_none() {
            return Cow::Borrowed(model);
        }
        let own = model.with_own_drives();
        for (_, i) in own.held_drives() {
            i.change(0.0, |k| self.first[k]);
        }
        Cow::Owned(own)
    }
}

/// An input by its name.
pub fn find(model: &Model, name: &str) -> Result<usize, Diagnostic> {
    model.inputs.iter().position(|i| i.name == name).ok_or_else(|| {
        let help = match nearest(name, model.inputs.iter().map(|i| i.name.as_str())) {
            Some(near) => format!("did you mean `{near}`?"),
            None if model.inputs.is_empty() => "the mechanism has no inputs; they are declared under `inputs:`".to_string(),
            None => format!("inputs are {}", model.inputs.iter().map(|i| format!("`{}`", i.name)).collect::<Vec<_>>().join(", ")),
        };
        Diagnostic::new("U322", format!("there is no input `{name}`")).name(name).help(help)
    })
}

/// Refuses a value outside the range of an input.
pub fn allowed(model: &Model, input: usize, value: f64) -> Result<(), Diagnostic> {
    let i = &model.inputs[input];
    if i.allows(value) {
        return Ok(());
    }
    let [low, high] = i.range.map(number);
    let what = if value.is_finite() { format!("outside its range from {low} to {high}") } else { "not a finite number".to_string() };
    // All digits if fewer would display the limit itself.
    let shown = Some(number(value)).filter(|shown| *shown != low && *shown != high).unwrap_or_else(|| value.to_string());
    Err(Diagnostic::new("U320", format!("input `{}` cannot be {shown}, which is {what}", i.name))
        .name(&i.name)
        .help("give a value inside the `range` that the mechanism states"))
}

/// Refuses changes of an input of a drive by speed.
pub fn no_impact(model: &Model, input: usize) -> Result<(), Diagnostic> {
    let by_speed = model.held_drives().find(|(_, i)| !i.is_twice() && i.inputs().contains(&input));
    by_speed.map_or(Ok(()), |(drive, _)| {
        let name = &model.inputs[input].name;
        Err(Diagnostic::new(
            "U323",
            format!("input `{name}` cannot change while the mechanism moves: drive `{}` would change its speed instantly", drive.name),
        )
        .names([name.clone(), drive.name.clone()])
        .help("set it before the start, or drive by `acceleration:`"))
    })
}

/// Sets the inputs of the drives of a model from a time on; `z` are all inputs, their slopes and states.
pub(crate) fn change_drives(model: &Model, t: f64, z: &[f64]) {
    let n = model.inputs.len();
    for (_, i) in model.held_drives() {
        i.change(t, |k| [z[k], z[n + k]]);
    }
}

/// Lets drives by acceleration continue from the coordinates of a state.
pub(crate) fn place_drives(model: &Model, at: &Configuration) {
    let x = crate::force::eval::Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
    for (d, i) in model.held_drives().filter(|(_, i)| i.is_twice()) {
        let (position, speed) = crate::force::eval::coordinate_of(model, d.joint, Some(d.coordinate), &x);
        i.place(at.t, position, speed);
    }
}
