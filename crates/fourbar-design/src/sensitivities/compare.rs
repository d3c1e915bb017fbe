//! Derivatives beside central differences of the whole computation, as a check.

use super::run::differences;
use super::{Derivative, OfRun, Parameters};
use crate::measure::Measure;
use fourbar::Error;
use fourbar::study::Study;

/// A derivative beside what differences of runs say.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The derivative by differences.
    pub by_runs: Vec<f64>,
    /// The largest difference, as a share of the largest derivative.
    pub worst: f64,
}

/// Compares the derivatives of measures with central differences of runs.
pub fn compared(
    parameters: &Parameters<'_>,
    study: &Study,
    which: &[usize],
    measures: &[Measure],
    found: &[Derivative],
) -> Result<Vec<Against>, Error> {
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(1e-10).min(1e-10));
    }
    let by: OfRun = differences(parameters, &study, which, Vec::new())?;
    let mut list = Vec::new();
    for (m, d) in measures.iter().zip(found) {
        let other = super::of_measure(m, &by)?;
        let largest = d.slopes.iter().zip(&parameters.values_of(which)).fold(f64::MIN_POSITIVE, |s, (x, p)| s.max((x * p).abs()));
        let gap =
            d.slopes.iter().zip(&other.slopes).zip(&parameters.values_of(which)).fold(0.0_f64, |s, ((a, b), p)| s.max(((a - b) * p).abs()));
        list.push(Against { by_runs: other.slopes, worst: gap / largest });
    }
    Ok(list)
}

impl Parameters<'_> {
    /// Sizes of some parameters; one where a parameter is zero.
    pub(crate) fn values_of(&self, which: &[usize]) -> Vec<f64> {
        which.iter().map(|&k| if self.values[k] == 0.0 { 1.0 } else { self.values[k].abs() }).collect()
    }
}
