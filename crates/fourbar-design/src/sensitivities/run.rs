//! Derivatives of whole runs.
//!
//! A driven mechanism is solved for at every output time. In dynamics the tangent `(q_p, v_p)` obeys a linear differential equation along the
//! motion, whose coefficients are exact and whose right-hand sides are one for each parameter; all parameters share one factor. It is
//! integrated by the trapezoidal rule with several step sizes, extrapolated, so that stiff forces do no harm and the error is known.
//! Columns follow from evaluations of the mechanisms around, at the states they are in.
//!
//! Where the equations have kinks, dry friction or numbers of their own that are integrated, runs themselves are compared instead
//! ([`Method::Differences`]).

use super::adjoint::{self, Measures};
use super::around::{Around, around};
use super::columns::Row;
use super::loops;
use super::quick::Quick;
use super::state::{Spaces, Tangent, Varied, start_tangents};
use super::trees::{self, Way as TreeWay};
use super::{Derivative, Parameters};
use crate::manifold::Manifold;
use crate::measure::Measure;
use crate::operator::{lengths, without_dry_friction};
use crate::tangent::{Coefficients, Passes, coefficients};
use crate::tree::Tree;
use fourbar::force::Force;
use fourbar::state::{Configuration, Twist};
use fourbar::study::{self, Analysis, Study};
use fourbar::trajectory::{Trajectory, columns};
use fourbar::{Diagnostic, Error, Model, Simulation, Structure, stop};
use nalgebra::DMatrix;
use std::sync::Arc;
use std::time::Instant;

/// Parts of an output step at which the coefficients of the tangent are taken, powers of two: more where fewer do not suffice.
const PARTS: [usize; 5] = [4, 16, 64, 256, 1024];
/// Differences of the last two extrapolations, as a share of the largest increment, that suffice, and beyond which runs are compared
/// instead.
const ENOUGH: f64 = 1e-7;
const TOO_MUCH: f64 = 1e-2;
/// Share of the largest effect of a parameter below which another's counts as small.
const LITTLE: f64 = 1e-3;
/// Most evaluations times the cube of their size.
const WORK: f64 = 2e9;
/// Loosest tolerance of a run that is differentiated.
const TIGHT: f64 = 1e-9;
/// Change of a parameter as a share of it where runs are compared.
const APART: f64 = 1e-4;
/// Difference of two motions at the end, in characteristic lengths, up to which they are the same.
const SAME: f64 = 1e-5;
/// Growth of a tangent beyond which a derivative says nothing about changes of practical size.
pub(super) const USELESS: f64 = 1e8;
/// Error of derivatives as a share of themselves, and of the size of what they are formed from.
const DIGITS: f64 = 1e-8;
const CANCELLED: f64 = 1e-11;

/// How derivatives of a run were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Solved for at every output time: the drives prescribe everything.
    Kinematics,
    /// The motion of a tree with tangents beside it, along the same steps.
    Jets,
    /// The motion of a mechanism with loops by its series, with those of its derivatives, along the same steps.
    Series,
    /// The motion of a tree, gone back once for all parameters.
    Adjoint,
    /// The tangent of the motion, integrated with it.
    Tangent,
    /// Differences of runs.
    Differences,
}

impl Method {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Kinematics => "solved for at every output time",
            Self::Jets => "the motion in joint coordinates, with its derivatives along the same steps",
            Self::Series => "the motion in natural coordinates, with the series of its derivatives along the same steps",
            Self::Adjoint => "the motion in joint coordinates, gone back once for all parameters",
            Self::Tangent => "the tangent of the motion, integrated along it",
            Self::Differences => "differences of runs",
        }
    }
}

/// A run and its derivatives.
#[derive(Clone, Debug)]
pub struct OfRun {
    /// The run.
    pub run: Trajectory,
    /// Derivatives of all its columns, by parameter asked for.
    pub slopes: Vec<Trajectory>,
    /// The same found with less effort; the difference tells the error.
    pub rough: Vec<Trajectory>,
    /// How they were found.
    pub method: Method,
    /// Sizes of the parameters; one where a parameter is zero.
    pub sizes: Vec<f64>,
    /// Seconds that the run alone took, and the run with its derivatives.
    pub seconds: [f64; 2],
    /// What the reader should know.
    pub warnings: Vec<Diagnostic>,
}

/// Why the equations of a mechanism are not differentiated, if they are not.
fn kinks(model: &Model) -> Option<String> {
    if !model.states.is_empty() {
        return Some("it has states of its own".into());
    }
    if !model.events.is_empty() || !model.limits.is_empty() || !model.contacts.is_empty() {
        return Some("it has events, limits or contacts, where velocities jump".into());
    }
    for (name, f) in &model.forces {
        match f {
            Force::Friction(f) if f.coulomb != 0.0 => return Some(format!("`{name}` is dry friction")),
            Force::Rope(_) => return Some(format!("`{name}` is a rope, which goes slack")),
            Force::Contact(_) | Force::Stop(_) => return Some(format!("`{name}` acts only while it touches")),
            _ => {}
        }
        if f.touches().laws.iter().any(|law| law.expr.has_pieces()) {
            return Some(format!("the law of `{name}` has pieces"));
        }
    }
    None
}

/// Rows of a run at which derivatives are wanted.
pub type Needed<'a> = dyn Fn(&Trajectory) -> Result<Vec<bool>, Error> + 'a;

/// Derivatives of a run by some parameters.
pub fn of_run(parameters: &Parameters<'_>, study: &Study, which: &[usize]) -> Result<OfRun, Error> {
    of_rows(parameters, study, which, &|run| Ok(vec![true; run.len()]))
}

/// The same at some rows; at others derivatives are not numbers. An extreme needs that of its instant, and nothing else.
pub fn of_rows(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Needed<'_>) -> Result<OfRun, Error> {
    of_asked(parameters, study, which, &Asked { rows: needed, columns: None })
}

/// The same of what some measures read, rows and columns; the rest are not numbers. Where they read no reactions, or only such that are
/// unique, this takes a small part of the time.
pub fn of_measures(parameters: &Parameters<'_>, study: &Study, which: &[usize], measures: &Measures<'_>) -> Result<OfRun, Error> {
    let empty = Trajectory::new(columns(&parameters.model()?));
    let list = measures(&empty)?;
    let mut read = vec![false; empty.columns.len()];
    list.iter().flat_map(Measure::reads).for_each(|c| read[c] = true);
    let rows = |run: &Trajectory| -> Result<Vec<bool>, Error> {
        let mut rows = vec![false; run.len()];
        for m in &list {
            rows.iter_mut().zip(m.rows(run)?).for_each(|(r, own)| *r |= own);
        }
        Ok(rows)
    };
    of_asked(parameters, study, which, &Asked { rows: &rows, columns: Some(&read) })
}

/// What of a run is asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    rows: &'a Needed<'a>,
    /// Columns that are read; all where it is not said.
    columns: Option<&'a [bool]>,
}

fn of_asked(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
    let model = parameters.model()?;
    let study = tight(study);
    let fits = crate::operator::fits(&model).is_ok();
    let why = if fits { kinks(&model) } else { Some("it is too large for dense matrices".into()) };
    let start = study.assemble(&model)?.configuration;
    let analysis = study.analysis_of(&Structure::new(&model, &start));
    match (analysis, why) {
        (_, Some(why)) => {
            let message = format!("derivatives are differences of runs, because {why}");
            let warning = Diagnostic::new("W424", message).help("the error that is given comes from two sizes of the change");
            differences(parameters, &study, which, vec![warning])
        }
        (Analysis::Kinematics, None) => driven(parameters, &study, which, needed),
        (Analysis::Dynamics, None) => {
            if let Some(run) = along_tree(parameters, &study, which, needed)? {
                return Ok(run);
            }
            if let Some(run) = along_loops(parameters, &study, which, needed)? {
                return Ok(run);
            }
            let evaluations = |parts: usize| parts as f64 * study.t_end / study.output_step * (6.0 * model.moving() as f64).powi(3);
            let mut best: Option<Carried> = None;
            for parts in PARTS {
                if best.is_some() && evaluations(parts) > WORK {
                    break;
                }
                let now = carried(parameters, &study, which, parts)?;
                let enough = now.apart <= ENOUGH;
                best = Some(now);
                if enough {
                    break;
                }
            }
            match best {
                Some(c) if c.apart <= TOO_MUCH => c.run(parameters, which, needed),
                _ => {
                    let message = "derivatives are differences of runs, because the tangent of the motion would need very small steps";
                    let warning = Diagnostic::new("W424", message).help("the error that is given comes from two sizes of the change");
                    differences(parameters, &study, which, vec![warning])
                }
            }
        }
    }
}

/// The start of a study.
fn begin(study: &Study) -> impl Fn(&Model) -> Result<Configuration, Error> + '_ {
    |m: &Model| Ok(study.assemble(m)?.configuration)
}

/// A run at its output times, with what its derivatives are formed from.
struct Way<'a> {
    parameters: &'a Parameters<'a>,
    which: &'a [usize],
    /// Without dry friction.
    model: &'a Model,
    around: &'a [Around],
    needed: &'a Asked<'a>,
}

/// Tangents at an output time, by parameter, one or two sets of them.
type Tangents<'a> = dyn FnMut(&Varied<'_>, usize, &Spaces) -> Vec<Vec<Tangent>> + 'a;

/// Where tangents come from: known for every row, or solved for where they are needed.
enum Source<'a> {
    Known(&'a [Vec<Tangent>]),
    Solved(&'a mut Tangents<'a>),
}

impl Way<'_> {
    /// The rows of a run, and their derivatives where they are needed, for each set of tangents.
    fn rows(&self, states: &[Configuration], mut source: Source<'_>) -> Result<(Trajectory, Vec<Vec<Trajectory>>), Error> {
        let Self { parameters, which, model, around, needed } = *self;
        let mut row = Row::new(model, parameters, which, around);
        let mut quick = needed.columns.and_then(|read| Quick::new(model, around, states, read));
        let run = match &mut quick {
            Some(quick) => quick.run(states),
            None => {
                let mut run = row.empty();
                for state in states {
                    run.push(&row.value(state)?);
                }
                run
            }
        };
        let needed = (needed.rows)(&run)?;
        let sizes = parameters.values_of(which);
        let mut varied: Option<Varied<'_>> = None;
        let mut sets: Vec<Vec<Trajectory>> = Vec::new();
        let none = vec![f64::NAN; run.columns.len()];
        for (i, state) in states.iter().enumerate() {
            stop::check()?;
            let wanted = needed.get(i).copied().unwrap_or(true);
            if let Some(quick) = &mut quick {
                quick.at(state);
            }
            if i > 0 && !wanted {
                sets.iter_mut().flatten().for_each(|t| t.push(&none));
                continue;
            }
            let mut spaces = None;
            let mut look = || -> Result<(), Error> {
                let varied = varied.get_or_insert_with(|| Varied::new(model, around, &states[0]));
                varied.choose(state.t);
                super::alone::check(parameters, varied, state, which)?;
                spaces = Some(varied.spaces(state));
                Ok(())
            };
            let solved: Vec<Vec<Tangent>>;
            let tangents: &[Vec<Tangent>] = match (&mut source, &mut quick) {
                (Source::Known(list), Some(quick)) => {
                    // A tangent that closes all joints shows that the parameter can change alone.
                    if !(0..which.len()).all(|k| quick.closes(k, state, &list[i][k], sizes[k])) {
                        look()?;
                    }
                    &list[i..=i]
                }
                (Source::Known(list), None) => {
                    look()?;
                    &list[i..=i]
                }
                (Source::Solved(solve), _) => {
                    look()?;
                    solved = match (&varied, &spaces) {
                        (Some(varied), Some(spaces)) => solve(varied, i, spaces),
                        _ => Vec::new(),
                    };
                    &solved
                }
            };
            for (s, set) in tangents.iter().enumerate() {
                if s == sets.len() {
                    sets.push(vec![Trajectory::new(run.columns.clone()); which.len()]);
                }
                for (k, x) in set.iter().enumerate() {
                    match (&mut quick, &spaces) {
                        _ if !wanted => sets[s][k].push(&none),
                        (Some(quick), _) => sets[s][k].push(&quick.slope(k, state, x)),
                        (None, Some(spaces)) => sets[s][k].push(&row.slope(k, state, spaces, x)?),
                        (None, None) => sets[s][k].push(&none),
                    }
                }
            }
        }
        Ok((run, sets))
    }
}

fn driven(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let mut study = study.clone();
    study.analysis = Some(Analysis::Kinematics);
    let mut simulation = Simulation::new(&model, &study)?;
    let mut states = Vec::new();
    for t in study.output_times() {
        simulation.advance(t)?;
        states.push(simulation.state());
    }
    let plain = clock.elapsed().as_secs_f64();
    let around = around(parameters, &model, which)?;
    let still = vec![Twist::zero(); model.bodies.len()];
    let way = Way { parameters, which, model: &model, around: &around, needed };
    let mut solve = |varied: &Varied<'_>, i: usize, spaces: &Spaces| {
        let rates = varied.op.row_derivatives(&states[i], &still).rates;
        vec![(0..which.len()).map(|k| varied.corrected(k, &states[i], spaces, &Tangent::none(&model), &rates)).collect()]
    };
    let (run, mut sets) = way.rows(&states, Source::Solved(&mut solve))?;
    let slopes = sets.pop().unwrap_or_default();
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun {
        run,
        rough: slopes.clone(),
        slopes,
        sizes: parameters.values_of(which),
        method: Method::Kinematics,
        seconds,
        warnings: Vec::new(),
    })
}

/// From how many parameters on, for each measure, a motion is gone back.
const MANY: usize = 24;

/// Derivatives of measures of a run by many parameters.
#[derive(Clone, Debug)]
pub struct OfMany {
    /// The run: columns that follow from poses and velocities; others are not numbers.
    pub run: Trajectory,
    /// The derivatives, by measure.
    pub derivatives: Vec<Derivative>,
    /// Seconds that the run alone took, and the run with its derivatives.
    pub seconds: [f64; 2],
    /// Bytes of the states that were kept on the way.
    pub kept: usize,
    /// What the reader should know.
    pub warnings: Vec<Diagnostic>,
}

/// Whether so many parameters and measures are many: [`of_many`] is the quicker way.
pub fn are_many(parameters: usize, measures: usize) -> bool {
    measures > 0 && parameters >= MANY * measures
}

/// Derivatives of measures of a run by many parameters at once, at a cost that hardly depends on their number: the motion is gone back with
/// what each state matters to the measures. `None` where that is not possible: for mechanisms with loops, drives, other joints than hinges,
/// slides and welds or equations with kinks, for measures that read more than poses and velocities, and for extremes that are reached at
/// several instants. [`of_rows`] knows a way then.
pub fn of_many(parameters: &Parameters<'_>, study: &Study, which: &[usize], measures: &Measures<'_>) -> Result<Option<OfMany>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let study = tight(study);
    let start = begin(&study)(&model)?;
    let smooth = without_dry_friction(&model).0;
    let dynamics = study.analysis_of(&Structure::new(&model, &start)) == Analysis::Dynamics;
    if !dynamics || kinks(&model).is_some() {
        return Ok(None);
    }
    let Some(way) = TreeWay::new(&smooth, &start, &study) else { return Ok(None) };
    let states = of_engine(&model, &study)?;
    let plain = clock.elapsed().as_secs_f64();
    let Some(found) = adjoint::of_measures(&way, parameters, which, &begin(&study), measures)? else { return Ok(None) };
    if !states.last().is_some_and(|end| same(&model, end, &found.end)) {
        return Ok(None);
    }
    let mut derivatives = Vec::new();
    for (m, slopes) in found.measures.iter().zip(found.slopes) {
        let value = m.of(&found.run)?;
        if value.extremes.iter().any(|e| !e.ties.is_empty()) {
            return Ok(None);
        }
        derivatives.push(Derivative::solved(m, &found.run, value.value, slopes, &parameters.values_of(which))?);
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    let warnings = found.useless.map(|t| {
        let message =
            format!("deviations at t = {} s grow so much until the end that derivatives are of no use", fourbar::diagnostic::number(t));
        Diagnostic::new("W425", message).time(t).help("ask for them at an earlier time")
    });
    Ok(Some(OfMany { run: found.run, derivatives, seconds, kept: found.kept, warnings: warnings.into_iter().collect() }))
}

/// A study whose tolerance is tight enough to be differentiated.
fn tight(study: &Study) -> Study {
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(TIGHT).min(TIGHT));
    }
    study
}

/// Where the engine takes a mechanism to, at the output times.
fn of_engine(model: &Arc<Model>, study: &Study) -> Result<Vec<Configuration>, Error> {
    let mut simulation = Simulation::new(model, study)?;
    simulation.run_ahead(study.t_end);
    let mut states = Vec::new();
    for t in study.output_times() {
        simulation.advance(t)?;
        states.push(simulation.state());
    }
    Ok(states)
}

/// Whether two states are the same but for errors of integration.
fn same(model: &Model, a: &Configuration, b: &Configuration) -> bool {
    Manifold::between(a, b).component_mul(&lengths(model)).amax() <= SAME * model.length
}

/// Derivatives along the motion of a tree; `None` where the mechanism is none, or the engine says that it moves otherwise.
fn along_tree(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<Option<OfRun>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let start = begin(study)(&model)?;
    if Tree::new(&smooth, &start).is_none() {
        return Ok(None);
    }
    let states = of_engine(&model, study)?;
    let plain = clock.elapsed().as_secs_f64();
    let around = around(parameters, &smooth, which)?;
    let Some(samples) = trees::samples(&smooth, &around, &start, study, &begin(study)) else { return Ok(None) };
    if !samples.last().zip(states.last()).is_some_and(|(s, end)| same(&model, end, &s.state)) {
        return Ok(None);
    }
    let followed = Followed { parameters, which, needed, model: smooth, around, samples };
    followed.run(Method::Jets, clock, plain).map(Some)
}

/// Derivatives along the motion of a mechanism with loops; `None` where natural coordinates do not take it the way the engine does.
fn along_loops(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<Option<OfRun>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let start = begin(study)(&model)?;
    let states = of_engine(&model, study)?;
    let plain = clock.elapsed().as_secs_f64();
    let Some(mut samples) = loops::samples(parameters, &smooth, which, &start, study, &begin(study)) else { return Ok(None) };
    if samples.len() != states.len() {
        return Ok(None);
    }
    for (sample, state) in samples.iter_mut().zip(states) {
        if !same(&model, &state, &sample.state) {
            return Ok(None);
        }
        // Angles that are counted, and work done, are those of the engine.
        sample.state = state;
    }
    let around = around(parameters, &smooth, which)?;
    let followed = Followed { parameters, which, needed, model: smooth, around, samples };
    followed.run(Method::Series, clock, plain).map(Some)
}

/// A motion that was followed with its derivatives.
struct Followed<'a> {
    parameters: &'a Parameters<'a>,
    which: &'a [usize],
    needed: &'a Asked<'a>,
    model: Model,
    around: Vec<Around>,
    samples: Vec<trees::Sample>,
}

impl Followed<'_> {
    /// The run with its derivatives.
    fn run(self, method: Method, clock: Instant, plain: f64) -> Result<OfRun, Error> {
        let Self { parameters, which, needed, model, around, samples } = self;
        let mut growth = Growth::default();
        for s in &samples {
            growth.look(s.state.t, s.tangents.iter().fold(0.0_f64, |m, x| m.max(x.q.amax()).max(x.v.amax())));
        }
        let (states, tangents): (Vec<Configuration>, Vec<Vec<Tangent>>) = samples.into_iter().map(|s| (s.state, s.tangents)).unzip();
        let way = Way { parameters, which, model: &model, around: &around, needed };
        let (run, mut sets) = way.rows(&states, Source::Known(&tangents))?;
        let slopes = sets.pop().unwrap_or_default();
        let seconds = [plain, clock.elapsed().as_secs_f64()];
        Ok(OfRun { run, rough: slopes.clone(), slopes, sizes: parameters.values_of(which), method, seconds, warnings: growth.warnings })
    }
}

/// How deviations grow, and from when on that says nothing about changes of practical size.
#[derive(Default)]
struct Growth {
    begun: Option<f64>,
    warnings: Vec<Diagnostic>,
}

impl Growth {
    fn look(&mut self, t: f64, size: f64) {
        let begun = *self.begun.get_or_insert(size.max(1e-6));
        if self.warnings.is_empty() && size > USELESS * begun {
            let message =
                format!("from t = {} s on the motion is so sensitive that derivatives are of no use", fourbar::diagnostic::number(t));
            self.warnings.push(Diagnostic::new("W425", message).time(t).help("ask for them at an earlier time"));
        }
    }
}

/// The coefficients of the tangent at a state, a disturbance for each parameter.
fn coefficients_of(varied: &mut Varied<'_>, state: &Configuration, count: usize) -> Result<Coefficients, Error> {
    stop::check()?;
    varied.choose(state.t);
    let all = varied.spaces(state).all;
    let (op, disturbed) = varied.by_parameters(state, count);
    coefficients(op, state, &all, &disturbed)
}

/// A motion with the tangents along it.
struct Carried {
    smooth: Model,
    around: Vec<Around>,
    /// At the output times.
    states: Vec<Configuration>,
    /// The limit of small steps and that of one extrapolation less, a column for each parameter.
    tangents: Vec<[DMatrix<f64>; 2]>,
    /// By which share of the largest increments of poses, or of velocities, by the same parameter the two differ.
    apart: f64,
    growth: Growth,
    clock: Instant,
    plain: f64,
}

/// The tangents along a motion, from coefficients at so many parts of each output step.
fn carried(parameters: &Parameters<'_>, study: &Study, which: &[usize], parts: usize) -> Result<Carried, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let smooth = without_dry_friction(&model).0;
    let around = around(parameters, &smooth, which)?;
    let times: Vec<f64> = study.output_times().collect();
    let mut simulation = Simulation::new(&model, study)?;
    simulation.run_ahead(study.t_end);
    // States between the output times as well, where the coefficients of the tangent are taken.
    let mut states = vec![simulation.state()];
    for w in times.windows(2) {
        for part in 1..=parts {
            let t = if part == parts { w[1] } else { w[0] + (w[1] - w[0]) * part as f64 / parts as f64 };
            simulation.advance(t)?;
            states.push(simulation.state());
        }
    }
    let plain = clock.elapsed().as_secs_f64();
    let (n, count) = (6 * model.moving(), which.len());
    let mut tangents = Vec::new();
    let mut growth = Growth::default();
    // Of poses and of velocities, by parameter.
    let (mut largest, mut apart) = (vec![[0.0_f64; 2]; count], vec![[0.0_f64; 2]; count]);
    {
        let mut varied = Varied::new(&smooth, &around, &states[0]);
        let first = start_tangents(parameters, &mut varied, &states[0], which, &begin(study))?;
        let mut x0 = DMatrix::zeros(2 * n, count);
        for (k, x) in first.iter().enumerate() {
            x0.view_mut((0, k), (n, 1)).copy_from(&x.q);
            x0.view_mut((n, k), (n, 1)).copy_from(&x.v);
        }
        let mut passes = Passes::new(&x0, parts);
        let mut window: Vec<Coefficients> = vec![coefficients_of(&mut varied, &states[0], count)?];
        for (i, t) in times.iter().enumerate() {
            if i > 0 {
                for k in 1..=parts {
                    window.push(coefficients_of(&mut varied, &states[(i - 1) * parts + k], count)?);
                }
                let ends: Vec<f64> = states[(i - 1) * parts..=i * parts].iter().map(|s| s.t).collect();
                passes.advance(&ends, &window).ok_or_else(|| {
                    let message = format!("at t = {} s the tangent of the motion cannot be solved for", fourbar::diagnostic::number(*t));
                    Diagnostic::new("S432", message).time(*t).help("the mechanism may be at a singular position there")
                })?;
                window.drain(..parts);
            }
            let both = passes.limit();
            let differ = &both[0] - &both[1];
            for (k, part) in (0..count).flat_map(|k| [(k, 0), (k, 1)]) {
                largest[k][part] = largest[k][part].max(both[0].view((part * n, k), (n, 1)).amax());
                apart[k][part] = apart[k][part].max(differ.view((part * n, k), (n, 1)).amax());
            }
            growth.look(*t, both[0].amax());
            tangents.push(both);
        }
    }
    let states = states.into_iter().step_by(parts).collect();
    // What a parameter hardly matters to is compared with what the others do.
    let sizes = parameters.values_of(which);
    let effect = |part: usize| (0..count).fold(f64::MIN_POSITIVE, |m, k| m.max(largest[k][part] * sizes[k]));
    let effects = [effect(0), effect(1)];
    let share = |k: usize, part: usize| apart[k][part] * sizes[k] / (largest[k][part] * sizes[k]).max(LITTLE * effects[part]);
    let apart = (0..count).fold(0.0_f64, |m, k| m.max(share(k, 0)).max(share(k, 1)));
    Ok(Carried { smooth, around, states, tangents, apart, growth, clock, plain })
}

impl Carried {
    /// The run with its derivatives.
    fn run(self, parameters: &Parameters<'_>, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
        let Self { smooth, around, states, tangents, growth, clock, plain, .. } = self;
        let n = 6 * smooth.moving();
        let still = vec![Twist::zero(); smooth.bodies.len()];
        let way = Way { parameters, which, model: &smooth, around: &around, needed };
        let mut solve = |varied: &Varied<'_>, i: usize, spaces: &Spaces| {
            let rates = varied.op.row_derivatives(&states[i], &still).rates;
            let corrected = |x: &DMatrix<f64>, k: usize| {
                let own = Tangent { q: x.view((0, k), (n, 1)).column(0).into_owned(), v: x.view((n, k), (n, 1)).column(0).into_owned() };
                varied.corrected(k, &states[i], spaces, &own, &rates)
            };
            tangents[i].iter().map(|x| (0..which.len()).map(|k| corrected(x, k)).collect()).collect()
        };
        let (run, mut sets) = way.rows(&states, Source::Solved(&mut solve))?;
        let rough = sets.pop().unwrap_or_default();
        let slopes = sets.pop().unwrap_or_default();
        let seconds = [plain, clock.elapsed().as_secs_f64()];
        Ok(OfRun { run, slopes, rough, sizes: parameters.values_of(which), method: Method::Tangent, seconds, warnings: growth.warnings })
    }
}

/// Derivatives as differences of runs, with two sizes of the change.
pub(super) fn differences(parameters: &Parameters<'_>, study: &Study, which: &[usize], warnings: Vec<Diagnostic>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let run_of = |m: &Model| -> Result<Trajectory, Error> {
        let mut out = Trajectory::default();
        study::run(m, study, &mut out)?;
        Ok(out)
    };
    let run = run_of(&parameters.model()?)?;
    let plain = clock.elapsed().as_secs_f64();
    let (mut slopes, mut rough) = (Vec::new(), Vec::new());
    for &k in which {
        let by = |share: f64| -> Result<Trajectory, Error> {
            let h = parameters.step(k, share);
            let run = |h: f64| {
                parameters.varied(k, h).and_then(|m| run_of(&m)).map_err(|e| {
                    let name = &parameters.names[k];
                    let message = format!("`{name}` cannot be varied: the run for a value near by fails: {}", e.cause().message);
                    Error::from(Diagnostic::new("S432", message).name(name).help("ask for other parameters with `--to`"))
                })
            };
            let (less, more) = (run(-h)?, run(h)?);
            let mut out = less.clone();
            for (c, column) in out.values.iter_mut().enumerate() {
                column.iter_mut().zip(&more.values[c]).for_each(|(a, b)| *a = (b - *a) / (2.0 * h));
            }
            Ok(out)
        };
        slopes.push(by(APART)?);
        rough.push(by(2.0 * APART)?);
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun { run, slopes, rough, sizes: parameters.values_of(which), method: Method::Differences, seconds, warnings })
}

/// The derivatives of a measure of a run: at the instants of its extremes, and by the slopes of what crosses where it asks for a time.
pub fn of_measure(measure: &Measure, of: &OfRun) -> Result<Derivative, Diagnostic> {
    let work = of.run.find("energy.work");
    if of.method != Method::Differences && measure.reads().any(|c| Some(c) == work) {
        let d = Diagnostic::new("U412", format!("`{}` reads `energy.work`, whose derivative is not computed", measure.text));
        return Err(d.help("integrate the power instead: `integral(motor.power)`"));
    }
    let value = measure.of(&of.run)?;
    let along =
        |list: &[Trajectory]| -> Result<Vec<f64>, Diagnostic> { list.iter().map(|s| Ok(measure.along(&of.run, s)?.value.c[1])).collect() };
    let (slopes, rough) = (along(&of.slopes)?, along(&of.rough)?);
    let mut d = Derivative::solved(measure, &of.run, value.value, slopes, &of.sizes)?;
    d.errors.iter_mut().zip(d.slopes.iter().zip(rough)).for_each(|(e, (s, r))| *e += (s - r).abs());
    Ok(d)
}

/// The size of what a measure is formed from: by how much it would change if every number it reads changed by the largest of its unit.
fn size(measure: &Measure, run: &Trajectory) -> Result<f64, Diagnostic> {
    let largest = |column: usize| {
        let alike = run.columns.iter().zip(&run.values).filter(|(c, _)| c.unit == run.columns[column].unit);
        alike.flat_map(|(_, values)| values).fold(0.0_f64, |m, x| m.max(x.abs()))
    };
    let sizes: Vec<(usize, f64)> = measure.reads().map(|c| (c, largest(c))).collect();
    let of = |column: usize| sizes.iter().find(|s| s.0 == column).map_or(0.0, |s| s.1);
    Ok(measure.gradient(run)?.iter().map(|(_, column, d)| d.abs() * of(*column)).sum())
}

impl Derivative {
    /// Of a measure, by equations that were solved: evaluations of the mechanisms around are good to some nine digits, and where what is summed
    /// up cancels, to a share of its size.
    pub fn solved(measure: &Measure, run: &Trajectory, value: f64, slopes: Vec<f64>, parameters: &[f64]) -> Result<Self, Diagnostic> {
        let size = size(measure, run)?;
        let errors = slopes.iter().zip(parameters).map(|(s, p)| DIGITS * s.abs() + CANCELLED * size / p).collect();
        Ok(Self { of: measure.text.clone(), value, unit: measure.unit(), slopes, errors })
    }
}

/// Share of the size of a measure, per change of a parameter by its own size, up to which two derivatives are the same.
const EQUAL: f64 = 1e-8;

/// Extremes of a measure that are reached at several instants with derivatives that differ.
pub fn ties(measure: &Measure, of: &OfRun) -> Option<Diagnostic> {
    let value = measure.of(&of.run).ok()?;
    let tied = value.extremes.iter().find(|e| !e.ties.is_empty())?;
    // Where the other instants have the same derivative it does not matter which is taken.
    let t = of.run.column("t")?;
    let size = size(measure, &of.run).unwrap_or(value.value.abs());
    let differs = of.slopes.iter().zip(&of.sizes).any(|(s, parameter)| {
        // Derivatives that change nothing when the parameter changes by its own size differ by rounding alone.
        let rounding = EQUAL * size / parameter;
        let at = |row: usize| -> Option<f64> {
            let one =
                |tr: &Trajectory| Trajectory { columns: tr.columns.clone(), values: tr.values.iter().map(|c| vec![c[row]]).collect() };
            Some(measure.along(&one(&of.run), &one(s)).ok()?.value.c[1])
        };
        let first = at(tied.row);
        tied.ties.iter().any(|row| match (first, at(*row)) {
            (Some(a), Some(b)) => (a - b).abs() > 1e-3 * a.abs().max(b.abs()) + rounding,
            _ => true,
        })
    });
    let times: Vec<String> = tied.ties.iter().take(4).map(|k| fourbar::diagnostic::number(t[*k])).collect();
    let message = format!(
        "`{}` is reached at t = {} s and as well at {} s, with other derivatives",
        tied.of,
        fourbar::diagnostic::number(tied.t),
        times.join(", ")
    );
    differs.then(|| {
        Diagnostic::new("W423", message)
            .time(tied.t)
            .help("the derivative is that of the first; on one side of the value another instant decides")
    })
}
