//! Sections of a run with one formulation. A run with a named formulation has one section; if the choice of `auto` cannot continue, the
//! next candidate continues from the last good state, in the same trajectory.

use crate::diagnostic::Diagnostic;
use crate::formulation::Chosen;
use crate::formulation::lie;
use crate::model::Model;
use crate::motion::Instant;
use crate::state::Configuration;
use serde_json::{Value, json};

/// The diagnostic of an explicit method that is replaced by an implicit one because forces are stiff.
pub const STIFF: &str = "S235";

/// The start of the present formulation.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Its consistent start.
    pub start: Configuration,
    /// Work done before it, J.
    pub work: f64,
    /// Changes of formulation before it.
    pub changes: Vec<Change>,
}

/// A change from one formulation to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time of the last good state.
    pub t: f64,
    /// Formulation that continues.
    pub to: String,
    /// Formulations that could not continue, each with its reason.
    pub failed: Vec<(String, String)>,
}

/// A candidate that made no progress from the last good state.
pub struct Fallen {
    /// Which.
    pub chosen: Chosen,
    /// The time it reached.
    pub t: f64,
    /// Its work counts.
    pub work: Vec<(&'static str, f64)>,
    /// Why.
    pub diagnostic: Diagnostic,
}

impl Fallen {
    fn reason(&self) -> (String, String) {
        (self.chosen.formulation.name.to_string(), format!("{}: {}", self.diagnostic.code.0, self.diagnostic.message))
    }
}

/// Reasons of the other candidates, if none of them got further than the first.
pub fn no_other(failed: &[Fallen]) -> Option<String> {
    let others: Vec<String> = failed.iter().skip(1).map(Fallen::reason).map(|(name, why)| format!("`{name}`: {why}")).collect();
    (!others.is_empty()).then(|| format!("no other formulation can continue from there: {}", others.join("; ")))
}

impl Change {
    /// Change to `to`, after others failed at a time.
    pub fn new(t: f64, to: &Chosen, failed: &[Fallen]) -> Self {
        Self { t, to: to.formulation.name.to_string(), failed: failed.iter().map(Fallen::reason).collect() }
    }

    /// Whether the only reason is stiffness: then the previous results are as good as the following ones.
    fn is_for_speed(&self) -> bool {
        matches!(&self.failed[..], [(_, why)] if why.starts_with(STIFF))
    }

    /// A note on the change, if a warning is unnecessary.
    pub fn note(&self) -> Option<String> {
        let [(name, why)] = &self.failed[..] else { return None };
        let why = why.strip_prefix(STIFF)?.trim_start_matches([':', ' ']);
        Some(format!("{why}: from t = {} s on `{}` with radau moves the mechanism instead of `{name}`", self.t, self.to))
    }

    /// A warning about the change, if necessary.
    pub fn warning(&self) -> Option<Diagnostic> {
        (!self.is_for_speed()).then(|| self.could_not_go_on())
    }

    fn could_not_go_on(&self) -> Diagnostic {
        let names: Vec<String> = self.failed.iter().map(|(name, _)| format!("`{name}`")).collect();
        let why: Vec<String> = self.failed.iter().map(|(name, why)| format!("`{name}`: {why}")).collect();
        Diagnostic::new("W290", format!("from t = {} s on the run continues with `{}`, because {} failed", self.t, self.to, listed(&names)))
            .time(self.t)
            .help(format!("rows until then stay as they are; {}; name a formulation to have one for the whole run", why.join("; ")))
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// Whether another formulation may continue after this error: wrong settings and checkpoints remain wrong.
pub fn another_may_pass(d: &Diagnostic) -> bool {
    d.code.0.starts_with('S') && d.code.0 != "S240"
}

impl Leg {
    /// The first section.
    pub fn first(start: &Configuration) -> Self {
        Self { start: start.clone(), work: 0.0, changes: Vec::new() }
    }

    /// The next section, from the last good instant projected onto the constraints to rounding.
    pub fn next(&mut self, model: &Model, good: &Instant) -> Result<(), Diagnostic> {
        self.start = lie::closed(model, &good.configuration()).map_err(|d| *d)?;
        self.work = good.work;
        Ok(())
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        let changes: Vec<Value> = self.changes.iter().map(|c| json!({ "t": c.t, "to": c.to, "failed": c.failed })).collect();
        json!({ "start": self.start.save(), "work": self.work, "changes": changes })
    }

    /// From a checkpoint; `None` if its sizes do not fit.
    pub fn restored(model: &Model, saved: &Value) -> Option<Self> {
        let pair = |v: &Value| Some((v[0].as_str()?.to_string(), v[1].as_str()?.to_string()));
        let changes = saved["changes"].as_array()?.iter().map(|c| {
            let failed = c["failed"].as_array()?.iter().map(pair).collect::<Option<Vec<_>>>()?;
            Some(Change { t: c["t"].as_f64()?, to: c["to"].as_str()?.to_string(), failed })
        });
        let changes = changes.collect::<Option<Vec<_>>>()?;
        Some(Self { changes, start: Configuration::restored(model, &saved["start"])?, work: saved["work"].as_f64()? })
    }
}
