//! Derivatives of measures with respect to many parameters at once.

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

/// Number of parameters, per measure, above which the adjoint method is used.
const MANY: usize = 24;

/// Derivatives of measures of a run with respect to many parameters.
#[derive(Clone, Debug)]
pub struct OfMany {
    /// The run: columns that follow from poses and velocities; others are NaN.
    pub run: Trajectory,
    /// The derivatives, by measure.
    pub derivatives: Vec<Derivative>,
    /// Seconds taken by the run alone, and by the run with its derivatives.
    pub seconds: [f64; 2],
    /// Method by which they were computed.
    pub method: Method,
    /// Bytes of the states stored on the way.
    pub kept: usize,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Whether [`of_many`] is faster for these numbers of parameters and measures.
pub fn are_many(parameters: usize, measures: usize) -> bool {
    measures > 0 && parameters >= MANY * measures
}

/// Derivatives of measures of a run with respect to many parameters at once, at a cost that hardly depends on their number: the adjoint of
/// the motion is integrated backwards, in joint coordinates for trees of revolute, prismatic and fixed joints, in absolute coordinates for
/// mechanisms with loops. `None` if that is not possible: for drives, for constraints other than points and directions (gears, screws,
/// curves, rolling), for bodies without inertia about an axis, for equations with kinks, for implicit methods, for measures that read more
/// than poses and velocities, and for extrema that are reached at several instants. [`of_rows`](super::of_rows) handles these cases.
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
