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

/// Numbers of intervals per output step for the coefficients of the tangent, powers of two: larger ones are tried until the error is small.
const PARTS: [usize; 5] = [4, 16, 64, 256, 1024];
/// Difference of the last two extrapolations, as a share of the largest increment: sufficient below the first, runs are compared instead
/// above the second.
const ENOUGH: f64 = 1e-7;
const TOO_MUCH: f64 = 1e-2;
/// Maximum number of evaluations times the cube of their size.
const WORK: f64 = 2e9;
/// Loosest tolerance of a run whose derivatives are computed.
const TIGHT: f64 = 1e-9;
/// Growth of a tangent beyond which a derivative does not predict the effect of changes of practical size.
pub(super) const USELESS: f64 = 1e8;

/// Method by which derivatives of a run were computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Solved at every output time: the drives prescribe all motion.
    Kinematics,
    /// The motion of a tree with tangents integrated beside it, along the same steps.
    Jets,
    /// The motion of a mechanism with loops by Taylor series, with series of its derivatives along the same steps.
    Series,
    /// The motion of a tree with one adjoint (backward) integration for all parameters.
    Adjoint,
    /// The motion of a mechanism with loops with one adjoint (backward) integration for all parameters.
    ClosedAdjoint,
    /// The tangent of the motion, integrated with it.
    Tangent,
    /// Finite differences of runs.
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
    /// Derivatives of all its columns, by parameter.
    pub slopes: Vec<Trajectory>,
    /// The same by a less accurate formula; the difference estimates the error.
    pub rough: Vec<Trajectory>,
    /// The runs compared, by parameter, if derivatives are differences of runs; empty otherwise.
    pub beside: Vec<Beside>,
    /// Method by which they were computed.
    pub method: Method,
    /// Sizes of the parameters; one where a parameter is zero.
    pub sizes: Vec<f64>,
    /// Seconds taken by the run alone, and by the run with its derivatives.
    pub seconds: [f64; 2],
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The reason why the equations of a mechanism cannot be differentiated, if there is one.
pub(super) fn kinks(model: &Model, t_end: f64) -> Option<String> {
    if !model.states.is_empty() {
        return Some("it has states of its own".into());
    }
    if !model.events.is_empty() || !model.limits.is_empty() || !model.contacts.is_empty() {
        return Some("it has events, limits or contacts, where velocities jump".into());
    }
    // At a seam between pieces accelerations or velocities jump, possibly at a time that depends on a parameter.
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

/// Selects the rows of a run at which derivatives are needed.
pub type Needed<'a> = dyn Fn(&Trajectory) -> Result<Vec<bool>, Error> + 'a;

/// Derivatives of a run with respect to some parameters.
pub fn of_run(parameters: &Parameters<'_>, study: &Study, which: &[usize]) -> Result<OfRun, Error> {
    of_rows(parameters, study, which, &|run| Ok(vec![true; run.len()]))
}

/// The same at some rows; at others derivatives are NaN. An extremum needs only the row at which it occurs.
pub fn of_rows(parameters: &Parameters<'_>, study: &Study, which: &[usize], needed: &Needed<'_>) -> Result<OfRun, Error> {
    of_asked(parameters, study, which, &Asked { rows: needed, columns: None })
}

/// Derivatives of some measures of a run.
#[derive(Clone, Debug)]
pub struct OfMeasures {
    /// The run with the derivatives of the rows and columns that the measures read; the rest are NaN.
    pub run: OfRun,
    /// The derivatives, by measure, including the direct dependence of measures on parameters.
    pub derivatives: Vec<Derivative>,
}

/// Derivatives of some measures from those of the rows and columns that they read. If these include no reactions, or only unique ones, this
/// is much faster. Extrema reached at several instants with different derivatives cause a warning.
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

/// The study with a tolerance tight enough for derivatives.
pub(super) fn tight(study: &Study) -> Study {
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(TIGHT).min(TIGHT));
    }
    study
}
