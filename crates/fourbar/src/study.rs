//! A study: what to compute, and the one entrance that computes it.
//!
//! [`run`] assembles the mechanism, moves it, and hands every output row to an [`Observer`], which may stop it.

mod changes;
mod formulations;

pub use changes::Changes;
pub use formulations::{FIRST_STEP, FORMULATIONS, FormulationInfo, OptionInfo, Start, TAU, formulation};

use crate::analysis::kinematics::KINEMATICS;
use crate::analysis::singular::Singular;
use crate::analysis::{assembly, jumps};
use crate::auto;
use crate::diagnostic::{Diagnostic, number};
use crate::error::Error;
use crate::events::{Advanced, Eventful, Happened};
use crate::inputs::{Course, Plan};
use crate::integrator::{LEAST_TOL, least_tolerance};
use crate::model::Model;
use crate::motion::{Instant, bad_checkpoint, numbers};
use crate::simulation::engine::Engine;
use crate::structure::Structure;
use crate::trajectory::outputs::Watch;
use crate::trajectory::{Column, Recorder, WantedColumns, columns};
use formulations::{did_you_mean, named_integrator};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// Which analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analysis {
    /// The drives prescribe everything.
    Kinematics,
    /// Forces and inertia decide.
    Dynamics,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Analysis; `None` takes kinematics where the drives leave no freedom, else dynamics.
    pub analysis: Option<Analysis>,
    /// Formulation; `None` or `auto` chooses.
    pub formulation: Option<String>,
    /// Integrator; `None` takes the formulation's default.
    pub integrator: Option<String>,
    /// End of the run.
    pub t_end: f64,
    /// Distance of output times.
    pub output_step: f64,
    /// Fixed step; `None` means adaptive.
    pub step: Option<f64>,
    /// Tolerance of adaptive runs.
    pub tol: Option<f64>,
    /// Options of formulation and integrator.
    pub options: Vec<(String, String)>,
    /// Inputs by name, where they are not at their defaults all the time.
    pub inputs: Vec<(String, Course)>,
    /// Assembly mode to start in, counted from 1 as `fourbar check` lists them; `None` is the drawn one.
    pub mode: Option<u16>,
}

impl Study {
    /// The study of the model's author.
    pub fn of(model: &Model) -> Self {
        let s = &model.study;
        let analysis = match s.analysis.as_deref() {
            Some("kinematics") => Some(Analysis::Kinematics),
            Some("dynamics") => Some(Analysis::Dynamics),
            _ => None,
        };
        Self {
            analysis,
            formulation: s.formulation.clone(),
            integrator: s.integrator.clone(),
            t_end: s.t_end,
            output_step: s.output_step.unwrap_or(s.t_end / 200.0),
            step: s.step,
            tol: s.tol,
            options: s.options.clone(),
            inputs: Vec::new(),
            mode: None,
        }
    }

    /// The consistent start of the study: the drawn one, or that of another assembly mode.
    pub fn assemble(&self, model: &Model) -> Result<assembly::Assembled, Diagnostic> {
        if model.settle {
            let d = Diagnostic::new("U403", "the mechanism starts from its equilibrium and has not been settled").at("start");
            return Err(d.help("settle it first: `start_settled` of the crate fourbar-design gives the mechanism where it rests"));
        }
        let mut assembled = assembly::modes::assemble_in(model, self.mode)?;
        Plan::new(model, &self.inputs)?.begin(&mut assembled.configuration.z);
        Ok(assembled)
    }

    /// The analysis that is named; else kinematics where the drives leave no freedom.
    pub fn analysis_of(&self, structure: &Structure<'_>) -> Analysis {
        self.analysis.unwrap_or_else(|| if structure.is_prescribed() { Analysis::Kinematics } else { Analysis::Dynamics })
    }

    /// Formulation and integrator by name, checked against the list, or chosen.
    pub fn method(&self, model: &Model) -> Result<(&'static FormulationInfo, &'static str), Diagnostic> {
        self.chosen(model).map(|c| (c.formulation, c.integrator))
    }

    /// Whether the formulation is to be chosen.
    pub fn is_auto(&self) -> bool {
        self.formulation.as_deref().is_none_or(|f| f.eq_ignore_ascii_case("auto"))
    }

    /// The same with the reason of a choice.
    pub fn chosen(&self, model: &Model) -> Result<Chosen, Diagnostic> {
        let Some(named) = self.formulation.as_deref().filter(|_| !self.is_auto()) else {
            if let Some(integrator) = &self.integrator {
                named_integrator(integrator)?;
            }
            let choice = auto::choose(model, self);
            return self.of_choice(choice);
        };
        let f = formulation(named)?;
        let wanted = self.integrator.as_deref().unwrap_or_else(|| self.fitting(f, f.integrators[0]));
        match f.integrators.iter().find(|i| i.eq_ignore_ascii_case(wanted)) {
            Some(i) => Ok(Chosen { formulation: f, integrator: i, why: None }),
            None => Err(Diagnostic::new("U302", format!("formulation `{}` has no integrator `{wanted}`", f.name))
                .help(format!("it goes with {}", f.integrators.join(", ")))),
        }
    }

    /// Whether rigid contacts are stepped through in fixed steps, instead of met as events.
    pub fn steps_through(&self, model: &Model) -> Result<bool, Diagnostic> {
        Ok(!model.contacts.is_empty() && self.chosen(model)?.integrator == "moreau")
    }

    /// Whether events are looked for: where anything may change a mechanism on its way and steps do not pass through it.
    pub fn is_eventful(&self, model: &Model) -> Result<bool, Diagnostic> {
        let by_author = || !model.events.is_empty() || !model.limits.is_empty() || model.forces.iter().any(|(_, f)| f.sticks().is_some());
        Ok(if self.steps_through(model)? { by_author() } else { model.has_modes() })
    }

    fn of_choice(&self, choice: auto::Choice) -> Result<Chosen, Diagnostic> {
        let f = formulation(choice.formulation)?;
        let integrator = if self.integrator.is_some() { choice.integrator } else { self.fitting(f, choice.integrator) };
        Ok(Chosen { formulation: f, integrator, why: Some(choice.why) })
    }

    /// An integrator that nobody named, or, where it cannot keep the tolerance, the first one of the formulation that can.
    fn fitting(&self, f: &'static FormulationInfo, integrator: &'static str) -> &'static str {
        let keeps = |i: &str| self.step.is_some() || self.tol.is_none_or(|tol| tol >= least_tolerance(i));
        if keeps(integrator) { integrator } else { f.integrators.iter().copied().find(|i| keeps(i)).unwrap_or(integrator) }
    }

    /// What a run may move with: the formulation that is named, or the choice and after it what is tried where that cannot go on.
    pub fn candidates(&self, model: &Model) -> Result<Vec<Chosen>, Diagnostic> {
        let first = self.chosen(model)?;
        let mut list = vec![first];
        // Many rigid contacts have one method.
        if self.is_auto() && list[0].integrator != "moreau" {
            for choice in auto::others(model, self, (list[0].formulation.name, list[0].integrator)) {
                let next = self.of_choice(choice)?;
                let known = |c: &Chosen| (c.formulation.name, c.integrator) == (next.formulation.name, next.integrator);
                if !list.iter().any(known) {
                    list.push(next);
                }
            }
        }
        Ok(list)
    }

    /// Fixed steps between two output times: as many as are needed for steps of at most the size asked for.
    pub fn steps_per_output(&self) -> Option<f64> {
        self.step.map(|h| (self.output_step / h - 1e-9).ceil().max(1.0))
    }

    /// The fixed step that lands on output times.
    pub fn fixed_step(&self) -> Option<f64> {
        self.steps_per_output().map(|n| self.output_step / n)
    }

    /// A warning where options are given that mean nothing to `who`, who takes those of `taken`.
    pub fn idle_options(&self, who: &str, taken: &[&str]) -> Option<Diagnostic> {
        let idle: Vec<String> = self.options.iter().filter(|(k, _)| !taken.contains(&k.as_str())).map(|(k, _)| format!("`{k}`")).collect();
        let has = if idle.len() == 1 { "has" } else { "have" };
        let help = match taken {
            [] => "leave it out, or let a formulation move the mechanism: `--analysis dynamics`".to_string(),
            _ => format!("it takes {}", taken.iter().map(|o| format!("`{o}`")).collect::<Vec<_>>().join(", ")),
        };
        (!idle.is_empty()).then(|| Diagnostic::new("W302", format!("{} {has} no effect on {who}", idle.join(", "))).help(help))
    }

    /// Output times, from zero to the end, which is `t_end` to the bit; none lies beyond it.
    pub fn output_times(&self) -> impl Iterator<Item = f64> + '_ {
        let multiple = Multiples::of(self.output_step);
        // Output times nearer to the end than this share of the output step give way to the end itself.
        let near = 1e-9 * self.output_step;
        let n = (self.t_end / self.output_step * (1.0 + 1e-12)).floor() as usize;
        (0..=n).map(move |k| multiple.at(k)).filter(move |t| *t == 0.0 || *t < self.t_end - near).chain(std::iter::once(self.t_end))
    }
}

/// Multiples of a step. Steps that are short decimal numbers keep their multiples so: 3 x 0.1 is 0.3, not 0.30000000000000004.
#[derive(Clone, Copy, Debug)]
struct Multiples {
    /// The step is `part / whole`.
    part: f64,
    whole: f64,
}

impl Multiples {
    fn of(step: f64) -> Self {
        (0..=15)
            .map(|digits| {
                let whole = 10f64.powi(digits);
                Self { part: (step * whole).round(), whole }
            })
            .find(|m| m.part / m.whole == step && m.part < 1e6)
            .unwrap_or(Self { part: step, whole: 1.0 })
    }

    fn at(&self, k: usize) -> f64 {
        k as f64 * self.part / self.whole
    }
}

/// With what a study runs.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// Formulation.
    pub formulation: &'static FormulationInfo,
    /// Integrator.
    pub integrator: &'static str,
    /// Why, where the study named no formulation.
    pub why: Option<String>,
}

/// Receives the rows of a run.
pub trait Observer {
    /// The columns, once, before the first row.
    fn begin(&mut self, columns: &[Column]);
    /// Which columns anybody looks at; the others are zero.
    fn wants(&self) -> WantedColumns {
        WantedColumns::ALL
    }
    /// A row at an output time.
    fn row(&mut self, row: &[f64]);
    /// Called at least at every output time; returning `false` stops the run cleanly.
    fn go_on(&mut self, _t: f64, _t_end: f64) -> bool {
        true
    }
    /// A state from which the run can be continued, offered at output times; the text is JSON.
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

/// A name from one of the lists of the program. It has a name of its own so that serde does not take it for borrowed text.
pub type ListedName = &'static str;

/// What a run has to say besides its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was done.
    pub analysis: Analysis,
    /// Formulation used.
    #[serde(deserialize_with = "known_formulation")]
    pub formulation: ListedName,
    /// Integrator used.
    #[serde(deserialize_with = "known_integrator")]
    pub integrator: ListedName,
    /// Last time reached.
    pub t: f64,
    /// Whether the observer stopped it.
    pub stopped: bool,
    /// Work counts by name.
    pub work: Vec<(Cow<'static, str>, f64)>,
    /// Rows of constraints, and how many of them are redundant.
    pub rows: usize,
    /// Redundant rows at the start.
    pub redundant: usize,
    /// Reaction components that are not unique: joint, then `force.x` and so on.
    pub not_unique: Vec<(String, Vec<String>)>,
    /// Singular positions met.
    pub singular: Vec<Singular>,
    /// What was chosen or happened, in words.
    pub notes: Vec<String>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Characteristic length, which scales torques in minimum-norm reactions.
    pub length: f64,
    /// What happened on the way.
    #[serde(default)]
    pub events: Vec<Happened>,
}

/// A formulation by its name in a stored report.
fn known_formulation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    formulation(&name).map(|f| f.name).map_err(serde::de::Error::custom)
}

/// An integrator by its name in a stored report.
fn known_integrator<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut all = FORMULATIONS.iter().chain(KINEMATICS).flat_map(|f| f.integrators.iter().copied());
    all.find(|i| *i == name).ok_or_else(|| serde::de::Error::custom(format!("there is no integrator `{name}`")))
}

/// A run that ended early: why, and what there was until then.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Why.
    pub diagnostic: Box<Diagnostic>,
    /// What was done until then, where anything was.
    pub report: Option<Box<Report>>,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.diagnostic.fmt(f)
    }
}

impl std::error::Error for Failed {}

/// Keeps why it ended and drops what there was until then.
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

/// Runs a study, from a checkpoint where one is given.
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
        recorder.restore_from(&numbers(&v["p"])).ok_or_else(|| bad_checkpoint("its sizes do not fit"))?;
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

/// The same for a mechanism that changes on its way: at every event there are two rows, before and after it.
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
        recorder.restore_from(&numbers(&v["p"])).ok_or_else(|| bad_checkpoint("its sizes do not fit"))?;
        first = v["index"].as_u64().unwrap_or(0) as usize + 1;
        plan.skip_to(moving.now().t);
    }
    moving.run_ahead(plan.next_until(study.t_end).unwrap_or(study.t_end));
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
                // A run that ends has one last row.
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

/// A run that goes on keeps what was in force when it was saved, though with another end the choice may be another one.
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

/// A row that nobody can use.
fn not_finite(model: &Model, column: &str, t: f64) -> Diagnostic {
    let own = model.outputs.iter().any(|o| o.name == column);
    let help = if own {
        "the rows before are good; the expression of this output is not defined there: guard it with `if(condition, a, b)`, `max` or `abs`"
    } else {
        "the rows before are good; try a smaller step or tolerance, and please report the mechanism"
    };
    Diagnostic::new("S250", format!("at t = {t:.6} s `{column}` is not a finite number")).time(t).name(column).help(help)
}

/// Refuses settings that make no sense, whatever the mechanism.
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

/// Refuses tolerances that no step can meet.
pub fn check_tolerance(tol: f64) -> Result<(), Diagnostic> {
    if tol.is_finite() && tol >= LEAST_TOL {
        return Ok(());
    }
    Err(Diagnostic::new("U303", format!("tol is {tol:e}; the least that rounding allows is {LEAST_TOL:e}"))
        .help("it is the error of a step relative to the size of the mechanism; 1e-6 is usual, 1e-10 is fine"))
}

/// `1 motion`, `2 motions`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}
