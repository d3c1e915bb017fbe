//! Derivatives of measures by many parameters at once.

use super::followed::{of_engine, same};
use super::own::{Measures, add_own};
use super::run::{begin, kinks, tight};
use super::trees::Way;
use super::{Derivative, Method, Parameters, adjoint, closed};
use crate::operator::without_dry_friction;
use fourbar::study::{Analysis, Study};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error, Structure};
use std::sync::Arc;
use std::time::Instant;

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
    /// How they were found.
    pub method: Method,
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
/// what each state matters to the measures, in joint coordinates for trees of hinges, slides and welds, in absolute coordinates for
/// mechanisms with loops. `None` where that is not possible: for drives, for constraints other than points and directions (gears, screws,
/// curves, rolling), for bodies without inertia about an axis, for equations with kinks, for implicit methods, for measures that read more than
/// poses and velocities, and for extremes that are reached at several instants. [`of_rows`](super::of_rows) knows a way then.
pub fn of_many(parameters: &Parameters<'_>, study: &Study, which: &[usize], measures: &Measures<'_>) -> Result<Option<OfMany>, Error> {
    let clock = Instant::now();
    let model = Arc::new(parameters.model()?);
    let study = tight(study);
    let start = begin(&study)(&model)?;
    let smooth = without_dry_friction(&model).0;
    let dynamics = study.analysis_of(&Structure::new(&model, &start)) == Analysis::Dynamics;
    if !dynamics || kinks(&model, study.t_end).is_some() {
        return Ok(None);
    }
    let (tree, loops) = (Way::new(&smooth, &start, &study), closed::Way::new(&smooth, &start, &study));
    if tree.is_none() && loops.is_none() {
        return Ok(None);
    }
    let states = of_engine(&model, &study)?;
    let plain = clock.elapsed().as_secs_f64();
    let begin = begin(&study);
    let found = match (&tree, &loops) {
        (Some(way), _) => adjoint::of_measures(way, parameters, which, &begin, measures)?,
        (None, Some(way)) => closed::of_measures(way, parameters, which, &begin, measures)?,
        (None, None) => None,
    };
    let Some(found) = found else { return Ok(None) };
    let method = if tree.is_some() { Method::Adjoint } else { Method::ClosedAdjoint };
    if !states.last().is_some_and(|end| same(&model, end, &found.end)) {
        return Ok(None);
    }
    let mut derivatives = Vec::new();
    for (m, slopes) in found.measures.iter().zip(&found.slopes) {
        let value = m.of(&found.run)?;
        if value.extremes.iter().any(|e| !e.ties.is_empty()) {
            return Ok(None);
        }
        derivatives.push(Derivative::solved(m, &found.run, value.value, slopes.clone(), &parameters.values_of(which))?);
    }
    add_own(parameters, which, &found.run, measures, &mut derivatives)?;
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    let warnings = found.useless.map(|t| {
        let message =
            format!("deviations at t = {} s grow so much until the end that derivatives are of no use", fourbar::diagnostic::number(t));
        Diagnostic::new("W425", message).time(t).help("ask for them at an earlier time")
    });
    Ok(Some(OfMany { run: found.run, derivatives, seconds, method, kept: found.kept, warnings: warnings.into_iter().collect() }))
}
