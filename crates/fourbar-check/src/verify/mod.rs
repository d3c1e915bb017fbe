//! Verification: one mechanism, every formulation that applies, and whether they agree.
//!
//! Each formulation runs with its own integrator. Adaptive methods of high order run at two tolerances, second-order ones at
//! three or more fixed steps with extrapolation; either way a formulation brings its own expected error, measured, not
//! assumed. The consensus is the mean of those that agree with the one nearest to all; who differs from it by more than the
//! expected errors allow is named, with the first time, body and quantity. Equations of Newton and Euler are evaluated at the
//! results without any formulation's help. Agreement needs two families of formulations over the whole time; a run that ended
//! early is a witness for as far as it came.

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

/// Output times where the study does not ask for fewer.
const GRID: usize = 100;
/// States of bodies that one result may hold, bodies times output times: all results are in memory together. Large mechanisms are compared at
/// fewer times, down to [`FEWEST`] steps.
const STATES: usize = 200_000;
const FEWEST: usize = 10;
/// Bodies that are in work at the same time, over all formulations that run beside each other: a body takes up to 50 kB of workspace.
const AT_WORK: usize = 20_000;
/// Tolerances of the two runs of an adaptive method differ by this factor.
const LOOSER: f64 = 100.0;
/// And this share of their difference is the expected error of the tighter one: with an error proportional to the tolerance
/// it would be a hundredth; methods that are slightly less accurate are allowed more, and one pair of runs gives only an estimate.
const SHARE: f64 = 0.3;
/// Second-order methods are refined until their expected error is below this share of the length.
const WANTED: f64 = 1e-7;
/// What extrapolation is trusted to leave of the error of the finest run, at best.
const EXTRAPOLATED: f64 = 0.02;
/// Poses along the motion at which uniqueness of reactions is examined.
const POSES: usize = 6;
/// Largest number of halvings of the step.
const HALVINGS: usize = 6;

/// What to verify with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The study: end, output step.
    pub study: Study,
    /// Tolerance of adaptive methods, relative to the characteristic length.
    pub tol: f64,
    /// Formulations by name; all where empty.
    pub formulations: Vec<String>,
    /// Threads.
    pub threads: usize,
    /// Time for each formulation: for the first run of a high-order one, for the refinement of a second-order one.
    pub patience: Duration,
}

impl Settings {
    /// For a model as its author wants it, on a grid of at most a hundred times. Formulation, integrator, step and options of the author
    /// belong to one formulation and are omitted.
    pub fn of(model: &Model) -> Self {
        let mut study = Study::of(model);
        study.output_step = study.output_step.max(study.t_end / GRID as f64);
        (study.formulation, study.integrator, study.step) = (None, None, None);
        study.options.clear();
        Self { study, tol: 1e-10, formulations: Vec::new(), threads: 1, patience: Duration::from_secs(20) }
    }
}

/// One formulation's part in the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Whether it is of second order, extrapolated.
    pub second_order: bool,
    /// Tolerance of the tighter run, or the smallest step.
    pub setting: f64,
    /// Worst difference from the consensus: position, angle, velocity, reaction.
    pub difference: [f64; 5],
    /// Expected errors of the same.
    pub expected: [f64; 5],
    /// Largest residuals of position, velocity and acceleration constraints.
    pub constraints: [f64; 3],
    /// Largest error of energy minus work, relative to the energy that moves; zero at rounding.
    pub energy: f64,
    /// Largest residual of Newton's and Euler's equations, relative to the largest force.
    pub newton_euler: f64,
    /// Work counts of the last run.
    pub work: Vec<(&'static str, f64)>,
    /// Wall time of the most accurate run, seconds.
    pub seconds: f64,
    /// Last time of its result; `None` if it has none.
    pub until: Option<f64>,
    /// Why it has no result, or none until the end.
    pub failure: Option<Diagnostic>,
}

/// The outcome.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// End of the comparison.
    pub t_end: f64,
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Largest length, angle, speed, reaction: what differences are small against.
    pub scales: [f64; 5],
    /// Verdict.
    pub verdict: Verdict,
}

/// A result on the grid with what is expected of it.
struct Member {
    info: &'static FormulationInfo,
    integrator: &'static str,
    second_order: bool,
    setting: f64,
    sample: Vec<Instant>,
    /// The states as computed, where the sample is extrapolated from them: the laws hold for these.
    computed: Option<Vec<Instant>>,
    /// Expected errors by time, never falling.
    expected: Vec<[f64; 5]>,
    outcome: Outcome,
    seconds: f64,
    /// Why the sample ends before the study does, where it does.
    stopped: Option<Diagnostic>,
    /// What happened on the way.
    events: Vec<Happened>,
}

/// A run as far as it came.
pub struct Ran {
    /// Instants at the output times.
    pub sample: Vec<Instant>,
    /// What it has to say.
    pub outcome: Outcome,
    /// How long it took.
    pub seconds: f64,
    /// Why it ended early, where it did.
    pub stopped: Option<Diagnostic>,
    /// What happened on the way.
    pub events: Vec<Happened>,
}

impl Ran {
    /// The run itself where it came to the end of the study, or why it did not.
    pub fn complete(self) -> Result<Self, Diagnostic> {
        match self.stopped {
            None => Ok(self),
            Some(d) => Err(d),
        }
    }
}

/// Runs everything and compares. `progress` receives the name of each formulation that has ended.
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
            // A worker has nothing that can panic on purpose; if it does, its formulations stay without a result.
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

/// The study with as many output times as fit in memory for this number of bodies.
fn thinned(study: &Study, bodies: usize) -> Study {
    let times = study.t_end / study.output_step;
    let room = (STATES / bodies).max(FEWEST) as f64;
    // Every second, third and so on of the output times that were requested.
    Study { output_step: study.output_step * (times / room * (1.0 - 1e-9)).ceil().max(1.0), ..study.clone() }
}

/// Keeps as unique what is so all along the motion: at the start a self-stress may leave a component alone by symmetry.
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

/// One run at the output times, as far as it goes, given up after a while; an error where it has nothing but the start.
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

/// As above, with a structure at hand, which the runs of one formulation share.
fn sampled_in(
    patience: Duration,
    structure: &Structure<'_>,
    study: &Study,
    info: &FormulationInfo,
    integrator: &'static str,
) -> Result<Ran, Diagnostic> {
    let Structure { model, start, .. } = structure;
    let clock = Clock::now();
    // Drives that follow inputs are those of this run alone.
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

/// Patience ended.
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

/// Two tolerances; the tighter result, and a share of the difference as its expected error.
fn high_order(
    structure: &Structure<'_>,
    settings: &Settings,
    info: &'static FormulationInfo,
    unique: &Unique,
) -> Result<Member, Diagnostic> {
    let (model, integrator) = (structure.model, info.integrators[0]);
    let mut study = settings.study.clone();
    // The most accurate explicit method there is pays at these tolerances.
    // Where forces are stiff from the start an explicit method would come to no end.
    let stiff = settings.study.chosen(model).is_ok_and(|c| c.integrator == "radau");
    // With a dense matrix of all bodies it is no help on groups.
    let implicit = stiff && matches!(info.name, "ra" | "grcr");
    let wanted = |i: &&'static str| if implicit { *i == "radau" } else { *i == "dop853" };
    let integrator = info.integrators.iter().copied().find(wanted).unwrap_or(integrator);
    study.tol = Some(settings.tol * LOOSER);
    let loose = sampled_in(settings.patience, structure, &study, info, integrator)?;
    if let Some(d) = loose.stopped.as_ref().filter(|d| d.code.0 == IMPATIENT) {
        // The tighter run would not come even as far.
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

/// Fixed steps halved until two extrapolations agree.
fn second_order(
    structure: &Structure<'_>,
    settings: &Settings,
    info: &'static FormulationInfo,
    unique: &Unique,
) -> Result<Member, Diagnostic> {
    let (model, integrator) = (structure.model, info.integrators[0]);
    let clock = Clock::now();
    let mut study = settings.study.clone();
    // An adaptive run of moderate accuracy, which every second-order method achieves, gives the time scale.
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
        // The next halving costs twice the last.
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
    // Two extrapolations may be nearer to each other than to the truth while the error is not yet one of order four.
    for (e, least) in expected.iter_mut().zip(running(model, unique, &raw, &result, EXTRAPOLATED)) {
        for k in 0..5 {
            e[k] = e[k].max(least[k]);
        }
    }
    // Residuals belong to the computed states, not to extrapolated ones.
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

/// A share of the difference of two samples by time, never falling.
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

/// Error of energy minus work by time, relative to the largest energy that moves and never falling; what rounding of the
/// energies themselves can make of it, or of a body at rest by moving at `speed`, counts as zero.
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
        // What is not a number is as wrong as can be.
        let x = if e.is_nan() { f64::INFINITY } else { *e };
        worst = worst.max(if x <= rounding { 0.0 } else { x / moving.max(rounding) });
        *e = worst;
    }
    errors
}
