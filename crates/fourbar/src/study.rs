//! Studies: their settings, and the function that runs them.
//!
//! [`run`] assembles the mechanism, computes its motion, and passes every output row to an [`Observer`], which may stop it.

pub use crate::formulation::{Chosen, FORMULATIONS, FormulationInfo, Start, formulation};
pub use crate::report::{ListedName, Report};
pub use crate::settings::{Analysis, Changes, FIRST_STEP, OptionInfo, Study, TAU, count};

use crate::analysis::jumps;
use crate::diagnostic::{Diagnostic, number};
use crate::engine::Engine;
use crate::error::Error;
use crate::events::{Advanced, Eventful};
use crate::formulation::did_you_mean;
use crate::inputs::Plan;
use crate::model::Model;
use crate::motion::{Instant, bad_checkpoint, numbers};
use crate::settings::LEAST_TOL;
use crate::structure::Structure;
use crate::trajectory::outputs::Watch;
use crate::trajectory::{Column, Recorder, WantedColumns, columns};
use serde_json::{Value, json};
use std::sync::Arc;

/// Receives the rows of a run.
pub trait Observer {
    /// The columns, once, before the first row.
    fn begin(&mut self, columns: &[Column]);
    /// Columns that are needed; the others are zero.
    fn wants(&self) -> WantedColumns {
        WantedColumns::ALL
    }
    /// A row at an output time.
    fn row(&mut self, row: &[f64]);
    /// Called at least at every output time; returning `false` stops the run cleanly.
    fn go_on(&mut self, _t: f64, _t_end: f64) -> bool {
        true
    }
    /// A state from which the run can be continued, provided at output times; the text is JSON.
    fn checkpoint(&mut self, _state: &dyn Fn() -> String) {}
}

impl Observer for crate::Trajectory {
    fn begin(&mut self, columns: &[Column]) {
        *self = Self::new(columns.to_vec());
    }
    fn row(&mut self, row: &[f64]) {
        self.push(row);
    }
}

/// A run that ended early: the reason, and the results until then.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The reason.
    pub diagnostic: Box<Diagnostic>,
    /// Results until then, if there are any.
    pub report: Option<Box<Report>>,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl std::error::Error for Failed {}

/// Keeps the reason and drops the results.
impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        failed.diagnostic.into()
    }
}

impl From<Diagnostic> for Failed {
    fn from(d: Diagnostic) -> Self {
        Self { diagnostic: Box::new(d), report: None }
    }
}

/// Assembles and runs a study.
pub fn run(model: &Model, study: &Study, observer: &mut dyn Observer) -> Result<Report, Failed> {
    run_from(model, study, None, observer)
}

/// Runs a study, from a checkpoint if one is given.
pub fn run_from(model: &Model, study: &Study, checkpoint: Option<&str>, observer: &mut dyn Observer) -> Result<Report, Failed> {
    let saved = checkpoint.map(|text| serde_json::from_str::<Value>(text).map_err(|_| bad_checkpoint("it is not complete"))).transpose()?;
    let mut plan = Plan::new(model, &study.inputs)?;
    let prepared = plan.prepared(model);
    let model = prepared.as_ref();
    if study.is_eventful(model)? {
        return run_eventful(model, study, &mut plan, saved.as_ref(), observer);
    }
    let mut candidates = study.candidates(model)?;
    if let Some(v) = saved.as_ref().filter(|_| study.is_auto()) {
        keep_choice(model, study, &v["engine"], &mut candidates)?;
    }
    check(study)?;
    let assembled = study.assemble(model)?;
    let mut engine = Engine::new(Structure::new(model, &assembled.configuration), study, candidates, &assembled);
    let jumps = jumps::check_where(model, engine.analysis(), study.t_end, model.contacts.is_empty())?;
    let names = columns(model);
    observer.begin(&names);
    let mut recorder = Recorder::new(model, observer.wants());
    engine.want_loads(observer.wants().loads);
    let mut first = 0;
    if let Some(v) = &saved {
        engine.restore(&v["engine"])?;
        recorder.restore_from(&numbers(&v["p"])).ok_or_else(|| bad_checkpoint("its sizes do not match"))?;
        first = v["index"].as_u64().unwrap_or(0) as usize + 1;
        plan.skip_to(engine.now().t);
    }
    engine.run_ahead(plan.next_until(study.t_end).unwrap_or(study.t_end));
    let mut row = Vec::new();
    let (mut watch, mut beyond) = (Watch::new(model), Vec::new());
    let (mut on, mut failure) = (true, None);
    for (index, t) in study.output_times().enumerate().skip(first) {
        let mut go_on = |t: f64| observer.go_on(t, study.t_end);
        let reached = if index == 0 { engine.begin().map(|()| true) } else { engine.follow(t, study.t_end, &mut plan, &mut go_on) };
        match reached {
            Ok(true) => {}
            Ok(false) => on = false,
            Err(d) => failure = Some(d),
        }
        if !on || failure.is_some() {
            break;
        }
        if let Err(d) = watch.look(model, engine.now(), &mut beyond) {
            failure = Some(d);
            break;
        }
        row.clear();
        recorder.row(model, engine.now(), &mut row);
        if let Some(k) = row.iter().position(|x| !x.is_finite()) {
            failure = Some(not_finite(model, &names[k].name, t));
            break;
        }
        observer.row(&row);
        if index > 0 {
            observer.checkpoint(&|| json!({ "index": index, "p": recorder.memory().as_flattened(), "engine": engine.save() }).to_string());
            if !observer.go_on(t, study.t_end) {
                on = false;
                break;
            }
        }
    }
    let (mut report, failure) = engine.finish(!on, failure);
    report.warnings.extend(jumps);
    report.warnings.extend(beyond);
    match failure {
        Some(d) => Err(Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        None => Ok(report),
    }
}

/// The same for a mechanism with events: at every event there are two rows, before and after it.
fn run_eventful(
    model: &Model,
    study: &Study,
    plan: &mut Plan,
    saved: Option<&Value>,
    observer: &mut dyn Observer,
) -> Result<Report, Failed> {
    check(study)?;
    let base = Arc::new(model.with_own_drives());
    let model = &*base;
    for (_, i) in model.held_drives() {
        plan.begin_drive(i);
    }
    let assembled = study.assemble(model)?;
    let mut moving = Eventful::new(&base, study, &assembled)?;
    let jumps = jumps::check_where(model, moving.analysis(), study.t_end, !moving.is_stepped())?;
    moving.warn(jumps);
    let names = columns(model);
    observer.begin(&names);
    let mut recorder = Recorder::new(model, observer.wants());
    let mut first = 0;
    if let Some(v) = saved {
        moving.restore(&v["engine"])?;
        recorder.restore_from(&numbers(&v["p"])).ok_or_else(|| bad_checkpoint("its sizes do not match"))?;
        first = v["index"].as_u64().unwrap_or(0) as usize + 1;
        plan.skip_to(moving.now().t);
    }
    moving.run_ahead(plan.next_until(study.t_end).unwrap_or(study.t_end));
    moving.want_loads(observer.wants().loads);
    let mut row = Vec::new();
    let (mut watch, mut beyond) = (Watch::new(model), Vec::new());
    let (mut on, mut failure) = (true, None);
    let mut put = |now: &Instant, recorder: &mut Recorder, observer: &mut dyn Observer| -> Result<(), Diagnostic> {
        watch.look(model, now, &mut beyond)?;
        row.clear();
        recorder.row(model, now, &mut row);
        if let Some(k) = row.iter().position(|x| !x.is_finite()) {
            return Err(not_finite(model, &names[k].name, now.t));
        }
        observer.row(&row);
        Ok(())
    };
    'times: for (index, t) in study.output_times().enumerate().skip(first) {
        loop {
            let mut go_on = |t: f64| observer.go_on(t, study.t_end);
            let step = match index {
                0 => Ok(Advanced::There),
                _ => moving.follow(t, study.t_end, plan, &mut go_on),
            };
            let done = match step {
                Ok(Advanced::There) => put(moving.now(), &mut recorder, observer).map(|()| true),
                // A run that ends has a single last row.
                Ok(Advanced::Event(sides)) => {
                    sides[usize::from(moving.ended())..].iter().try_for_each(|s| put(s, &mut recorder, observer)).map(|()| false)
                }
                Ok(Advanced::Ended) => break 'times,
                Ok(Advanced::Stopped) => {
                    on = false;
                    break 'times;
                }
                Err(d) => Err(d),
            };
            match done {
                Ok(true) => break,
                Ok(false) => {}
                Err(d) => {
                    failure = Some(d);
                    break 'times;
                }
            }
        }
        if index > 0 {
            observer.checkpoint(&|| json!({ "index": index, "p": recorder.memory().as_flattened(), "engine": moving.save() }).to_string());
            if !observer.go_on(t, study.t_end) {
                on = false;
                break;
            }
        }
    }
    let (mut report, failure) = moving.finish(!on, failure);
    report.warnings.extend(beyond);
    match failure {
        Some(d) => Err(Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        None => Ok(report),
    }
}

/// A continued run keeps the formulation in use when it was saved, though a different end time may lead to another choice.
fn keep_choice(model: &Model, study: &Study, saved: &Value, candidates: &mut Vec<Chosen>) -> Result<(), Diagnostic> {
    let word = |key: &str| saved[key].as_str().map(String::from);
    let (Some(name), Some(integrator), Some(why)) = (word("formulation"), word("integrator"), word("why")) else { return Ok(()) };
    match candidates.iter().position(|c| c.formulation.name == name && c.integrator == integrator) {
        Some(k) => candidates.rotate_left(k),
        None => {
            let named = Study { formulation: Some(name), integrator: Some(integrator), ..study.clone() };
            candidates.insert(0, named.chosen(model)?);
        }
    }
    candidates[0].why = Some(why);
    Ok(())
}

/// Error for a non-finite value in a row.
fn not_finite(model: &Model, column: &str, t: f64) -> Diagnostic {
    let own = model.outputs.iter().any(|o| o.name == column);
    let help = if own {
        "the rows before are good; the expression of this output is not defined there: guard it with `if(condition, a, b)`, `max` or `abs`"
    } else {
        "the rows before are good; try a smaller step or tolerance, and please report the mechanism"
    };
    Diagnostic::new("S250", format!("at t = {t:.6} s `{column}` is not a finite number")).time(t).name(column).help(help)
}

/// Refuses invalid settings, regardless of the mechanism.
pub fn check(study: &Study) -> Result<(), Diagnostic> {
    for (name, x) in [("t-end", Some(study.t_end)), ("output step", Some(study.output_step)), ("step", study.step)] {
        if let Some(x) = x.filter(|x| !(x.is_finite() && *x > 0.0)) {
            return Err(Diagnostic::new("U303", format!("{name} is {}; it must be positive", number(x))).help("times are in seconds"));
        }
    }
    study.tol.map_or(Ok(()), check_tolerance)?;
    let rows = study.t_end / study.output_step;
    if rows > 1e8 {
        return Err(
            Diagnostic::new("U303", format!("{rows:.1e} output rows are too many")).help("choose a larger output step or an earlier end")
        );
    }
    // Smaller steps would be lost in the rounding of time.
    let steps = study.step.map_or(0.0, |h| study.t_end.max(study.output_step) / h);
    if steps > 1e12 {
        return Err(Diagnostic::new("U303", format!("{steps:.1e} steps are too many")).help("choose a larger step, or leave it out"));
    }
    let mut all: Vec<&str> = FORMULATIONS.iter().flat_map(|f| f.options.iter().map(|o| o.key)).collect();
    all.sort_unstable();
    all.dedup();
    for (key, _) in &study.options {
        if !all.contains(&key.as_str()) {
            return Err(Diagnostic::new("U306", format!("there is no option `{key}`")).help(did_you_mean(key, &all)));
        }
    }
    Ok(())
}

/// Refuses tolerances that no step can satisfy.
pub fn check_tolerance(tol: f64) -> Result<(), Diagnostic> {
    if tol.is_finite() && tol >= LEAST_TOL {
        return Ok(());
    }
    Err(Diagnostic::new("U303", format!("tol is {tol:e}; the least that rounding allows is {LEAST_TOL:e}"))
        .help("it is the error of a step relative to the size of the mechanism; 1e-6 is usual, 1e-10 is fine"))
}
