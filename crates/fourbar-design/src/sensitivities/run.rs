//! Derivatives of whole runs.
//!
//! A driven mechanism is solved at every output time. In dynamics the tangent `(q_p, v_p)` satisfies a linear differential equation along
//! the motion, with exact coefficients and one right-hand side for each parameter; all parameters share one factorisation. It is integrated
//! by the trapezoidal rule with several step sizes and extrapolation, which suits stiff forces and gives an error estimate. Columns follow
//! from evaluations of perturbed mechanisms at the corresponding states.
//!
//! If the equations have kinks, dry friction or user-defined states, runs themselves are compared instead ([`Method::Differences`]).

use super::by_runs::{Beside, differences};
use super::carried::{Carried, carried};
use super::followed::{along_loops, along_tree, driven};
use super::measured::{of_measure, ties};
use super::own::{Measures, add_own};
use super::rows::Asked;
use super::{Derivative, Parameters};
use crate::measure::Measure;
use fourbar::force::Force;
use fourbar::state::Configuration;
use fourbar::study::{Analysis, Study};
use fourbar::trajectory::{Trajectory, columns};
use fourbar::{Diagnostic, Error, Model, Structure};

/// Parts of an output step at which the coefficients of the tangent are taken, powers of two: more where fewer do not suffice.
const PARTS: [usize; 5] = [4, 16, 64, 256, 1024];
/// Differences of the last two extrapolations, as a share of the largest increment, that suffice, and beyond which runs are compared
/// instead.
const ENOUGH: f64 = 1e-7;
const TOO_MUCH: f64 = 1e-2;
/// Most evaluations times the cube of their size.
const WORK: f64 = 2e9;
/// Loosest tolerance of a run that is differentiated.
const TIGHT: f64 = 1e-9;
/// Growth of a tangent beyond which a derivative says nothing about changes of practical size.
pub(super) const USELESS: f64 = 1e8;

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
    /// The motion of a mechanism with loops, gone back once for all parameters.
    ClosedAdjoint,
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
            Self::ClosedAdjoint => "the motion in absolute coordinates, gone back once for all parameters",
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
    /// The runs that were compared, by parameter, where derivatives are differences of runs; empty otherwise.
    pub beside: Vec<Beside>,
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
pub(super) fn kinks(model: &Model, t_end: f64) -> Option<String> {
    if !model.states.is_empty() {
        return Some("it has states of its own".into());
    }
    if !model.events.is_empty() || !model.limits.is_empty() || !model.contacts.is_empty() {
        return Some("it has events, limits or contacts, where velocities jump".into());
    }
    // At a seam accelerations jump, or more, and with a parameter it may come at another time.
    let prescribed = model.drives.iter().map(|d| (&d.name, &d.value)).chain(model.bare.iter().map(|b| (&b.name, &b.value)));
    for (name, value) in prescribed {
        if !value.seams(t_end).is_empty() {
            return Some(format!("the function of `{name}` has pieces"));
        }
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

/// Derivatives of some measures of a run.
#[derive(Clone, Debug)]
pub struct OfMeasures {
    /// The run with the derivatives of what the measures read, rows and columns; the rest are not numbers.
    pub run: OfRun,
    /// The derivatives, by measure, with what a measure owes to parameters by itself.
    pub derivatives: Vec<Derivative>,
}

/// The derivatives of some measures, from those of the rows and columns that they read. Where these are no reactions, or only such that are
/// unique, this takes a small part of the time. Extremes that are reached at several instants with other derivatives are among the warnings.
pub fn of_measures(parameters: &Parameters<'_>, study: &Study, which: &[usize], measures: &Measures<'_>) -> Result<OfMeasures, Error> {
    let empty = Trajectory::new(columns(&parameters.model()?));
    let list = measures(&empty.columns, &parameters.values)?;
    let mut read = vec![false; empty.columns.len()];
    list.iter().flat_map(Measure::reads).for_each(|c| read[c] = true);
    let rows = |run: &Trajectory| -> Result<Vec<bool>, Error> {
        let mut rows = vec![false; run.len()];
        for m in &list {
            rows.iter_mut().zip(m.rows(run)?).for_each(|(r, own)| *r |= own);
        }
        Ok(rows)
    };
    let mut run = of_asked(parameters, study, which, &Asked { rows: &rows, columns: Some(&read) })?;
    let mut derivatives = list.iter().map(|m| of_measure(m, &run)).collect::<Result<Vec<_>, Diagnostic>>()?;
    let tied: Vec<Diagnostic> = list.iter().filter_map(|m| ties(m, &run)).collect();
    run.warnings.extend(tied);
    add_own(parameters, which, &run.run, measures, &mut derivatives)?;
    Ok(OfMeasures { run, derivatives })
}

fn of_asked(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Asked<'_>) -> Result<OfRun, Error> {
    let model = parameters.model()?;
    let study = tight(study);
    let fits = crate::operator::fits(&model).is_ok();
    let why = if fits { kinks(&model, study.t_end) } else { Some("it is too large for dense matrices".into()) };
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
pub(super) fn begin(study: &Study) -> impl Fn(&Model) -> Result<Configuration, Error> + '_ {
    |m: &Model| Ok(study.assemble(m)?.configuration)
}

/// A study whose tolerance is tight enough to be differentiated.
pub(super) fn tight(study: &Study) -> Study {
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(TIGHT).min(TIGHT));
    }
    study
}
