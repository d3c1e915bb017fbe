//! Verification: one mechanism, all applicable formulations, and their agreement.
//!
//! Each formulation runs with a suitable integrator. Adaptive methods of high order run at two tolerances, second-order ones at three or
//! more fixed steps with extrapolation; either way the expected error of each formulation is measured, not assumed. The consensus is the
//! mean of the results that agree with the most central one; a formulation that differs from it by more than the expected errors allow is
//! named, with the first time, body and quantity. The Newton-Euler equations are evaluated from the results without any formulation's
//! matrices. Agreement needs two families of formulations over the whole time; a run that ended early counts up to its end.

mod events;
mod family;
mod newton_euler;
mod rounding;
mod sample;
mod table;
#[cfg(test)]
mod tests;
mod twin;
mod verdict;
mod words;

pub use family::Family;
pub use newton_euler::NewtonEuler;
pub use sample::{QUANTITIES, Quantity, apart};
pub use twin::Twin;
pub use verdict::{Outlier, Unsound, Verdict, Word};

use fourbar::Structure;
use fourbar::analysis::assembly::Assembled;

use fourbar::analysis::{jumps, uniqueness};
use fourbar::diagnostic::Diagnostic;
use fourbar::events::Happened;
use fourbar::inputs::Plan;
use fourbar::model::Model;
use fourbar::motion::{Event, Instant, Outcome, drive_planned};
use fourbar::state::Configuration;
use fourbar::stop;
use fourbar::study::{Analysis, FORMULATIONS, FormulationInfo, Study, check, check_tolerance, formulation};
use fourbar::trajectory::energies;
use sample::{Unique, difference, extrapolate};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant as Clock};

/// Maximum number of output times, unless the study requests fewer.
const GRID: usize = 100;
/// Maximum number of body states in one result, bodies times output times: all results are in memory together. Large mechanisms are
/// compared at fewer times, at least [`FEWEST`].
const STATES: usize = 200_000;
const FEWEST: usize = 10;
/// Maximum number of bodies processed at the same time, over all formulations running in parallel: a body takes up to 50 kB of workspace.
const AT_WORK: usize = 20_000;
/// Factor between the tolerances of the two runs of an adaptive method.
const LOOSER: f64 = 100.0;
/// Share of their difference that is the expected error of the tighter run. With an error proportional to the tolerance it would be a
/// hundredth; slightly less accurate methods are allowed more, and one pair of runs gives only an estimate.
const SHARE: f64 = 0.3;
/// Expected error, as a share of the length, down to which second-order methods are refined.
const WANTED: f64 = 1e-7;
/// Least expected error after extrapolation, as a share of that of the finest run.
const EXTRAPOLATED: f64 = 0.02;
/// Number of poses along the motion at which uniqueness of reactions is examined.
const POSES: usize = 6;
/// Maximum number of halvings of the step.
const HALVINGS: usize = 6;

/// Settings of a verification.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The study: end, output step.
    pub study: Study,
    /// Tolerance of adaptive methods, relative to the characteristic length.
    pub tol: f64,
    /// Formulations by name; if empty, all.
    pub formulations: Vec<String>,
    /// Number of threads.
    pub threads: usize,
    /// Time limit for each formulation: for the first run of a high-order one, for the refinement of a second-order one.
    pub patience: Duration,
}

impl Settings {
    /// Settings for the study of a model, on a grid of at most a hundred times. Formulation, integrator, step and options of the study
    /// apply to a single formulation and are omitted.
    pub fn of(model: &Model) -> Self {
        let mut study = Study::of(model);
        study.output_step = study.output_step.max(study.t_end / GRID as f64);
        (study.formulation, study.integrator, study.step) = (None, None, None);
        study.options.clear();
        Self { study, tol: 1e-10, formulations: Vec::new(), threads: 1, patience: Duration::from_secs(20) }
    }
}

/// The results of one formulation in the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Whether it is a second-order method with extrapolation.
    pub second_order: bool,
    /// Tolerance of the tighter run, or the smallest step.
    pub setting: f64,
    /// Largest difference from the consensus: position, angle, velocity, reaction, state.
    pub difference: [f64; 5],
    /// Expected errors of the same.
    pub expected: [f64; 5],
    /// Largest residuals of position, velocity and acceleration constraints.
    pub constraints: [f64; 3],
    /// Largest error of energy minus work, relative to the energy exchanged; zero if it is rounding.
    pub energy: f64,
    /// Largest residual of Newton's and Euler's equations, relative to the largest force.
    pub newton_euler: f64,
    /// Work counts of the last run.
    pub work: Vec<(&'static str, f64)>,
    /// Wall time of the most accurate run, seconds.
    pub seconds: f64,
    /// Last time of its result; `None` without a result.
    pub until: Option<f64>,
    /// The reason for a missing or incomplete result.
    pub failure: Option<Diagnostic>,
}

/// The outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// End of the comparison.
    pub t_end: f64,
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Scales of the differences: length, angle, speed, reaction, state.
    pub scales: [f64; 5],
    /// Verdict.
    pub verdict: Verdict,
}

/// A result on the grid with its expected errors.
struct Member {
    info: &'static FormulationInfo,
    integrator: &'static str,
    second_order: bool,
    setting: f64,
    sample: Vec<Instant>,
    /// The computed states, if the sample is extrapolated from them: these satisfy the equations of motion.
    computed: Option<Vec<Instant>>,
    /// Expected errors by time, non-decreasing.
    expected: Vec<[f64; 5]>,
    outcome: Outcome,
    seconds: f64,
    /// The reason for an end before that of the study.
    stopped: Option<Diagnostic>,
    /// Events of the run.
    events: Vec<Happened>,
}

/// A run up to its end, which may be early.
pub struct Ran {
    /// Instants at the output times.
    pub sample: Vec<Instant>,
    /// Work counts and messages.
    pub outcome: Outcome,
    /// Wall time, seconds.
    pub seconds: f64,
    /// The reason for an early end.
    pub stopped: Option<Diagnostic>,
    /// Events of the run.
    pub events: Vec<Happened>,
}

impl Ran {
    /// The run itself if it reached the end of the study, otherwise the reason.
    pub fn complete(self) -> Result<Self, Diagnostic> {
        match self.stopped {
            None => Ok(self),
            Some(d) => Err(d),
        }
    }
}

/// Runs all formulations and compares. `progress` receives the name of each formulation when it has ended.
pub fn verify(model: &Model, settings: &Settings, progress: &(dyn Fn(&str) + Sync)) -> Result<Verification, Diagnostic> {
    check(&settings.study)?;
    check_tolerance(settings.tol)?;
    let own = Plan::new(model, &settings.study.inputs)?.prepared(model);
    let model = own.as_ref();
    let asked = settings.study.output_step;
    let settings = &Settings { study: thinned(&settings.study, model.bodies.len()), ..settings.clone() };
    let assembled = settings.study.assemble(model)?;
    let settings = &Settings { study: events::until_the_end(model, &settings.study, &assembled)?, ..settings.clone() };
    jumps::check(model, Analysis::Dynamics, settings.study.t_end)?;
    let chosen = choose(&settings.formulations)?;
    let mut unique = sample::unique(model, &uniqueness::not_unique(model, &assembled.configuration));
    let next = AtomicUsize::new(0);
    let threads = settings.threads.min(AT_WORK / model.bodies.len()).clamp(1, chosen.len().max(1));
    let mut results: Vec<Option<Result<Member, Diagnostic>>> = (0..chosen.len()).map(|_| None).collect();
    let heeded = stop::flag();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut done = Vec::new();
                    loop {
                        let k = next.fetch_add(1, Ordering::Relaxed);
                        let Some(info) = chosen.get(k) else { return done };
                        let result = stop::heeding(heeded, || one(model, settings, info, &assembled, &unique));
                        progress(info.name);
                        done.push((k, result));
                    }
                })
            })
            .collect();
        for w in workers {
            // A worker should not panic; if it does, its formulations have no result.
            for (k, r) in w.join().unwrap_or_default() {
                results[k] = Some(r);
            }
        }
    });
    stop::check()?;
    let lost = || Diagnostic::new("S252", "the run broke off").help("this is a bug; please report it with the file");
    let results: Vec<Result<Member, Diagnostic>> = results.into_iter().map(|r| r.unwrap_or_else(|| Err(lost()))).collect();
    narrow(model, &results, &mut unique);
    let disturbed = twin::disturbed(model, settings, &assembled, &results, &unique);
    let mut done = verdict::compare(model, settings, &assembled.configuration, &chosen, &results, disturbed.as_ref(), &unique);
    events::compare(model, &results, &mut done.verdict);
    if settings.study.output_step > asked {
        let (step, bodies) = (words::time(settings.study.output_step), model.moving());
        done.verdict.words.push(format!("Results of {bodies} bodies are compared every {step} s, so that all of them fit into memory."));
    }
    Ok(done)
}

/// The study with as many output times as fit into memory for this number of bodies.
fn thinned(study: &Study, bodies: usize) -> Study {
    let times = study.t_end / study.output_step;
    let room = (STATES / bodies).max(FEWEST) as f64;
    // Every second, third and so on of the requested output times.
    Study { output_step: study.output_step * (times / room * (1.0 - 1e-9)).ceil().max(1.0), ..study.clone() }
}

/// Keeps only components that are unique all along the motion: at the start a self-stress may leave one unchanged by symmetry.
fn narrow(model: &Model, results: &[Result<Member, Diagnostic>], unique: &mut Unique) {
    let Some(r) = results.iter().flatten().min_by_key(|r| r.second_order) else { return };
    let step = (r.sample.len() / POSES).max(1);
    for s in r.sample.iter().skip(step / 2).step_by(step) {
        let at = Configuration { t: s.t, q: s.q.clone(), v: s.v.clone(), turns: s.turns.clone(), z: s.z.clone() };
        for (u, now) in unique.iter_mut().zip(sample::unique(model, &uniqueness::not_unique(model, &at))) {
            for k in 0..6 {
                u[k] &= now[k];
            }
        }
    }
}

fn choose(names: &[String]) -> Result<Vec<&'static FormulationInfo>, Diagnostic> {
    if names.is_empty() {
        return Ok(FORMULATIONS.iter().collect());
    }
    names.iter().map(|n| formulation(n)).collect()
}

/// One run at the output times, as far as it gets within the time limit; an error if it yields only the start.
pub fn sampled(
    patience: Duration,
    model: &Model,
    study: &Study,
    info: &FormulationInfo,
    integrator: &'static str,
    start: &Configuration,
) -> Result<Ran, Diagnostic> {
    sampled_in(patience, &Structure::new(model, start), study, info, integrator)
}

/// The same with a given structure, which is shared by the runs of one formulation.
fn sampled_in(
    patience: Duration,
    structure: &Structure<'_>,
    study: &Study,
    info: &FormulationInfo,
    integrator: &'static str,
) -> Result<Ran, Diagnostic> {
    let Structure { model, start, .. } = structure;
    let clock = Clock::now();
    // Drives that follow inputs belong to this run only.
    let mut plan = Plan::new(model, &study.inputs)?;
    let own = plan.prepared(model);
    let model = own.as_ref();
    if model.has_modes() {
        let study = Study { formulation: Some(info.name.into()), integrator: Some(integrator.into()), ..study.clone() };
        return events::sampled(patience, model, &study, &mut plan, start);
    }
    let mut motion = match &own {
        Cow::Borrowed(_) => (info.start)(structure, study, integrator, start)?,
        Cow::Owned(model) => (info.start)(&Structure::new(model, start), study, integrator, start)?,
    };
    let mut now = Instant::new(model, start);
    let mut sample = Vec::new();
    let done = drive_planned(model, motion.as_mut(), study, &mut plan, &mut now, &mut |event| {
        if let Event::At(_, now, _) = event {
            sample.push(now.clone());
        }
        clock.elapsed() < patience
    });
    let short = sample.last().is_none_or(|s| s.t < study.t_end * (1.0 - 1e-9));
    let stopped = match done {
        Err(d) => Some(d),
        Ok(false) if short => Some(impatient(sample.last().map_or(0.0, |s| s.t))),
        Ok(_) => None,
    };
    if sample.len() < 2
        && let Some(d) = stopped
    {
        return Err(d);
    }
    let mut outcome = Outcome::default();
    motion.report(&mut outcome);
    Ok(Ran { sample, outcome, seconds: clock.elapsed().as_secs_f64(), stopped, events: Vec::new() })
}

/// Code for an exceeded time limit.
const IMPATIENT: &str = "S251";

fn impatient(reached: f64) -> Diagnostic {
    Diagnostic::new(IMPATIENT, format!("it had reached only t = {} s when patience ended", words::time(reached)))
        .help("the mechanism is stiff for this formulation, or the tolerance too tight; give `--patience` more seconds, or leave it out")
}

/// Whether an integrator is one of the implicit second-order ones.
fn is_second_order(integrator: &str) -> bool {
    matches!(integrator, "gen-alpha" | "bdf2")
}

fn one(
    model: &Model,
    settings: &Settings,
    info: &'static FormulationInfo,
    assembled: &Assembled,
    unique: &Unique,
) -> Result<Member, Diagnostic> {
    let integrator = info.integrators[0];
    let structure = Structure::new(model, &assembled.configuration);
    if is_second_order(integrator) {
        second_order(&structure, settings, info, unique)
    } else {
        high_order(&structure, settings, info, unique)
    }
}

/// Runs with two tolerances; returns the tighter result, with a share of the difference as its expected error.
fn high_order(
    structure: &Structure<'_>,
    settings: &Settings,
    info: &'static FormulationInfo,
    unique: &Unique,
) -> Result<Member, Diagnostic> {
    let (model, integrator) = (structure.model, info.integrators[0]);
    let mut study = settings.study.clone();
    // At these tolerances the most accurate explicit method is the fastest. If forces are stiff from the start, an explicit method would
    // not finish.
    let stiff = settings.study.chosen(model).is_ok_and(|c| c.integrator == "radau");
    // An implicit method with a dense matrix of all bodies does not pay for formulations on Lie groups.
    let implicit = stiff && matches!(info.name, "ra" | "grcr");
    let wanted = |i: &&'static str| if implicit { *i == "radau" } else { *i == "dop853" };
    let integrator = info.integrators.iter().copied().find(wanted).unwrap_or(integrator);
    study.tol = Some(settings.tol * LOOSER);
    let loose = sampled_in(settings.patience, structure, &study, info, integrator)?;
    if let Some(d) = loose.stopped.as_ref().filter(|d| d.code.0 == IMPATIENT) {
        // The tighter run would not get even as far.
        return Err(d.clone());
    }
    study.tol = Some(settings.tol);
    let tight = sampled_in(settings.patience * 2, structure, &study, info, integrator)?;
    let expected = running(model, unique, &loose.sample, &tight.sample, SHARE);
    let Ran { mut sample, outcome, seconds, stopped, events } = tight;
    sample.truncate(expected.len());
    let stopped = stopped.or(loose.stopped);
    Ok(Member {
        info,
        integrator,
        second_order: false,
        setting: settings.tol,
        sample,
        computed: None,
        expected,
        outcome,
        seconds,
        stopped,
        events,
    })
}

/// Halves fixed steps until two extrapolations agree.
fn second_order(
    structure: &Structure<'_>,
    settings: &Settings,
    info: &'static FormulationInfo,
    unique: &Unique,
) -> Result<Member, Diagnostic> {
    let (model, integrator) = (structure.model, info.integrators[0]);
    let clock = Clock::now();
    let mut study = settings.study.clone();
    // An adaptive run of moderate accuracy, within reach of every second-order method, gives the time scale.
    study.tol = Some(1e-4);
    let steps = sampled_in(settings.patience * 2, structure, &study, info, integrator)
        .and_then(Ran::complete)
        .ok()
        .and_then(|ran| ran.outcome.work.iter().find(|(k, _)| *k == "steps").map(|(_, n)| *n))
        .unwrap_or(1000.0);
    let mut h = study.output_step / (study.output_step * steps / study.t_end).ceil().max(1.0);
    study.tol = None;
    let mut at = |h: f64| {
        study.step = Some(h);
        sampled_in(settings.patience * 2, structure, &study, info, integrator)
    };
    let pair = |a: &[Instant], b: &[Instant]| -> Vec<Instant> { a.iter().zip(b).map(|(a, b)| extrapolate(a, b, 1.0 / 3.0)).collect() };
    let mut last = at(h)?;
    h *= 0.5;
    let mut fine = at(h)?;
    let mut result = pair(&last.sample, &fine.sample);
    let mut expected = running(model, unique, &fine.sample, &result, 1.0);
    for _ in 0..HALVINGS {
        // The next halving costs twice as much as the last one.
        if clock.elapsed() + Duration::from_secs_f64(2.5 * fine.seconds) > settings.patience {
            break;
        }
        let Ok(finer) = at(0.5 * h) else { break };
        if finer.stopped.as_ref().is_some_and(|d| d.code.0 == IMPATIENT) {
            break;
        }
        last = std::mem::replace(&mut fine, finer);
        h *= 0.5;
        let better = pair(&last.sample, &fine.sample);
        expected = running(model, unique, &result, &better, 1.0);
        result = better;
        let worst = expected.last().map_or(0.0, |e| (e[0] / model.length).max(e[1]));
        if worst < WANTED {
            break;
        }
    }
    let Ran { sample: raw, outcome, seconds, stopped, events } = fine;
    result.truncate(expected.len());
    // Two extrapolations may be closer to each other than to the exact solution while the error is not yet of order four.
    for (e, least) in expected.iter_mut().zip(running(model, unique, &raw, &result, EXTRAPOLATED)) {
        for k in 0..5 {
            e[k] = e[k].max(least[k]);
        }
    }
    // Residuals are those of the computed states, not of extrapolated ones.
    for (r, s) in result.iter_mut().zip(&raw) {
        r.errors = s.errors;
    }
    let stopped = stopped.or(last.stopped);
    Ok(Member {
        info,
        integrator,
        second_order: true,
        setting: h,
        sample: result,
        computed: Some(raw),
        expected,
        outcome,
        seconds,
        stopped,
        events,
    })
}

/// A share of the difference of two samples by time, non-decreasing.
fn running(model: &Model, unique: &Unique, a: &[Instant], b: &[Instant], share: f64) -> Vec<[f64; 5]> {
    let mut worst = [0.0_f64; 5];
    let states = sample::state_sizes(model, b.iter());
    a.iter()
        .zip(b)
        .map(|(a, b)| {
            let d = difference(model, unique, &states, a, b);
            for k in 0..5 {
                worst[k] = worst[k].max(share * d.size[k]);
            }
            worst
        })
        .collect()
}

/// Error of energy minus work by time, relative to the largest energy exchanged and non-decreasing; errors within rounding of the energies,
/// or of a body at rest moving at `speed`, count as zero.
fn energy_errors(model: &Model, sample: &[Instant], speed: f64) -> Vec<f64> {
    let Some(first) = sample.first() else { return Vec::new() };
    let (t0, v0) = energies(model, first);
    let (mut moving, mut size) = (t0.abs(), 0.0_f64);
    let g = model.gravity.norm();
    let mut errors = Vec::with_capacity(sample.len());
    for s in sample {
        let (t, v) = energies(model, s);
        moving = moving.max(t).max((v - v0).abs());
        let weights = model.bodies.iter().zip(&s.q).skip(1).map(|(b, q)| b.mass * g * (q.r.norm() + model.length)).sum::<f64>();
        size = size.max(weights).max(t.abs()).max(v.abs()).max(s.work.abs());
        let lost = |s: &Instant| s.switched.as_ref().map_or(0.0, |x| x.lost);
        errors.push((t + v + lost(s) - s.work - (t0 + v0 + lost(first) - first.work)).abs());
    }
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    let rounding = 1e-12 * size + mass * speed * speed;
    let mut worst = 0.0_f64;
    for e in &mut errors {
        // NaN counts as an infinite error.
        let x = if e.is_nan() { f64::INFINITY } else { *e };
        worst = worst.max(if x <= rounding { 0.0 } else { x / moving.max(rounding) });
        *e = worst;
    }
    errors
}
