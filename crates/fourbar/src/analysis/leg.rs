//! Legs of a run: stretches over which one formulation moves the mechanism. A run with a named formulation has one; where `auto` has
//! chosen and its choice cannot go on, the next candidate goes on from the last good state, over one and the same trajectory.

use crate::diagnostic::Diagnostic;
use crate::formulation::lie;
use crate::model::Model;
use crate::motion::{Instant, numbers};
use crate::state::{Configuration, Pose, Velocity};
use crate::study::Chosen;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// Numbers of a body in a saved configuration: position, rotation matrix by columns, velocity, angular velocity.
const SAVED: usize = 18;

/// Where the formulation in force started.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Its consistent start.
    pub start: Configuration,
    /// Work done before it, J.
    pub work: f64,
    /// Changes of formulation until then.
    pub changes: Vec<Change>,
}

/// A change from one formulation to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Time of the last good state.
    pub t: f64,
    /// Formulation that goes on.
    pub to: String,
    /// Formulations that could not go on, each with its reason.
    pub failed: Vec<(String, String)>,
}

/// A candidate that got no further from the last good state.
pub struct Fallen<'c> {
    /// Which.
    pub chosen: &'c Chosen,
    /// The time it reached.
    pub t: f64,
    /// Its work counts.
    pub work: Vec<(&'static str, f64)>,
    /// Why.
    pub diagnostic: Diagnostic,
}

impl Fallen<'_> {
    fn reason(&self) -> (String, String) {
        (self.chosen.formulation.name.to_string(), format!("{}: {}", self.diagnostic.code.0, self.diagnostic.message))
    }
}

/// What the others said where none of them got any further than the first.
pub fn no_other(failed: &[Fallen<'_>]) -> Option<String> {
    let others: Vec<String> = failed.iter().skip(1).map(Fallen::reason).map(|(name, why)| format!("{name} says {why}")).collect();
    (!others.is_empty()).then(|| format!("no other formulation goes on from there: {}", others.join("; ")))
}

impl Change {
    /// To `to`, after others failed at a time.
    pub fn new(t: f64, to: &Chosen, failed: &[Fallen<'_>]) -> Self {
        Self { t, to: to.formulation.name.to_string(), failed: failed.iter().map(Fallen::reason).collect() }
    }

    /// The warning it deserves.
    pub fn warning(&self) -> Diagnostic {
        let names: Vec<String> = self.failed.iter().map(|(name, _)| format!("`{name}`")).collect();
        let why: Vec<String> = self.failed.iter().map(|(name, why)| format!("{name} says {why}")).collect();
        Diagnostic::new(
            "W290",
            format!("from t = {} s on `{}` moves the mechanism, because {} could not go on", self.t, self.to, listed(&names)),
        )
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

/// Whether another formulation may go on where one ended with this: settings that are wrong stay wrong, and so do checkpoints.
pub fn another_may_pass(d: &Diagnostic) -> bool {
    d.code.0.starts_with('S') && d.code.0 != "S240"
}

impl Leg {
    /// The first one.
    pub fn first(start: &Configuration) -> Self {
        Self { start: start.clone(), work: 0.0, changes: Vec::new() }
    }

    /// The next one starts from the last good instant, brought back to the constraints to rounding.
    pub fn next(&mut self, model: &Model, good: &Instant) -> Result<(), Diagnostic> {
        let at = Configuration { t: good.t, q: good.q.clone(), v: good.v.clone(), turns: good.turns.clone() };
        self.start = lie::closed(model, &at).map_err(|d| *d)?;
        self.work = good.work;
        Ok(())
    }

    /// For a checkpoint; nothing for the first one, which starts where the mechanism was assembled.
    pub fn save(&self) -> Value {
        if self.changes.is_empty() {
            return Value::Null;
        }
        let changes: Vec<Value> = self.changes.iter().map(|c| json!({ "t": c.t, "to": c.to, "failed": c.failed })).collect();
        json!({ "start": save(&self.start), "work": self.work, "changes": changes })
    }

    /// From a checkpoint; `None` where its sizes do not fit.
    pub fn restored(model: &Model, first: &Configuration, saved: &Value) -> Option<Self> {
        if saved.is_null() {
            return Some(Self::first(first));
        }
        let pair = |v: &Value| Some((v[0].as_str()?.to_string(), v[1].as_str()?.to_string()));
        let changes = saved["changes"].as_array()?.iter().map(|c| {
            let failed = c["failed"].as_array()?.iter().map(pair).collect::<Option<Vec<_>>>()?;
            Some(Change { t: c["t"].as_f64()?, to: c["to"].as_str()?.to_string(), failed })
        });
        let changes = changes.collect::<Option<Vec<_>>>()?;
        Some(Self { changes, start: restored(model, first.turns.len(), &saved["start"])?, work: saved["work"].as_f64()? })
    }
}

/// A configuration as a list of numbers: time, bodies, counted angles.
fn save(at: &Configuration) -> Value {
    let body = |(q, v): (&Pose, &Velocity)| q.r.iter().chain(q.A.iter()).chain(v.v.iter()).chain(v.w.iter()).copied().collect::<Vec<f64>>();
    let bodies = at.q.iter().zip(&at.v).flat_map(body);
    std::iter::once(at.t).chain(bodies).chain(at.turns.iter().copied()).collect::<Vec<f64>>().into()
}

fn restored(model: &Model, turns: usize, saved: &Value) -> Option<Configuration> {
    let x = numbers(saved);
    if x.len() != 1 + SAVED * model.bodies.len() + turns || !x.iter().all(|x| x.is_finite()) {
        return None;
    }
    let (bodies, turns) = x[1..].split_at(SAVED * model.bodies.len());
    let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
    Some(Configuration {
        t: x[0],
        q: bodies.chunks_exact(SAVED).map(|x| Pose { r: three(x), A: Matrix3::from_column_slice(&x[3..12]) }).collect(),
        v: bodies.chunks_exact(SAVED).map(|x| Velocity { v: three(&x[12..]), w: three(&x[15..]) }).collect(),
        turns: turns.to_vec(),
    })
}

/// The last good state for a checkpoint, from which another candidate may have to go on.
pub fn save_good(good: &Instant) -> Value {
    let at = Configuration { t: good.t, q: good.q.clone(), v: good.v.clone(), turns: good.turns.clone() };
    json!({ "state": save(&at), "work": good.work })
}

/// Takes back what [`save_good`] gave; `None` where its sizes do not fit.
pub fn restore_good(model: &Model, saved: &Value, good: &mut Instant) -> Option<()> {
    let at = restored(model, good.turns.len(), &saved["state"])?;
    good.work = saved["work"].as_f64()?;
    (good.t, good.q, good.v, good.turns) = (at.t, at.q, at.v, at.turns);
    Some(())
}
