//! Checks derivatives against central differences of the whole computation.

use super::by_runs::differences;
use super::measured::of_measure;
use super::own::{Measures, add_own};
use super::{Derivative, OfRun, Parameters};
use fourbar::study::Study;
use fourbar::{Diagnostic, Error};

/// Step of differences as a share of a parameter, and their error as a share of the largest effect.
const STEP: f64 = 1e-4;
const LEFT: f64 = 1e-5;

/// Derivatives beside differences of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Against {
    /// The derivative by differences.
    pub by_runs: Vec<f64>,
    /// Errors of the differences: their change with the step size, and the integration error of runs.
    pub errors: Vec<f64>,
    /// The largest difference, as a share of the largest derivative.
    pub worst: f64,
}

/// Compares the derivatives of measures with central differences of runs.
pub fn compared(
    parameters: &Parameters<'_>,
    study: &Study,
    which: &[usize],
    measures: &Measures<'_>,
    found: &[Derivative],
) -> Result<Vec<Against>, Error> {
    let mut study = study.clone();
    if study.step.is_none() {
        study.tol = Some(study.tol.unwrap_or(1e-10).min(1e-10));
    }
    let by: OfRun = differences(parameters, &study, which, Vec::new())?;
    let list = measures(&by.run.columns, &parameters.values)?;
    let mut others = list.iter().map(|m| of_measure(m, &by)).collect::<Result<Vec<_>, Diagnostic>>()?;
    add_own(parameters, which, &by.run, measures, &mut others)?;
    let sizes = parameters.values_of(which);
    Ok(found.iter().zip(others).map(|(d, other)| Against::new(d, other.slopes, other.errors, &sizes)).collect())
}

/// Compares derivatives with central differences of a quantity recomputed for other parameter values, such as an equilibrium.
pub fn compared_at(
    parameters: &Parameters<'_>,
    which: &[usize],
    found: &Derivative,
    value: &dyn Fn(&Parameters<'_>) -> Result<f64, Error>,
) -> Result<Against, Error> {
    let (mut slopes, mut errors) = (Vec::new(), Vec::new());
    for &k in which {
        let by = |share: f64| -> Result<f64, Error> {
            let h = parameters.step(k, share);
            Ok((value(&parameters.beside(k, h))? - value(&parameters.beside(k, -h))?) / (2.0 * h))
        };
        let (fine, rough) = (by(STEP)?, by(2.0 * STEP)?);
        slopes.push(fine);
        errors.push((fine - rough).abs());
    }
    Ok(Against::new(found, slopes, errors, &parameters.values_of(which)))
}

impl Against {
    fn new(found: &Derivative, by_runs: Vec<f64>, errors: Vec<f64>, sizes: &[f64]) -> Self {
        let largest = found.slopes.iter().zip(sizes).fold(f64::MIN_POSITIVE, |s, (x, p)| s.max((x * p).abs()));
        let all = found.slopes.iter().zip(&by_runs).zip(sizes);
        let gap = all.fold(0.0_f64, |s, ((a, b), p)| s.max(((a - b) * p).abs()));
        // Two step sizes show truncation errors, but may agree by chance in spite of integration errors.
        let effect = by_runs.iter().zip(sizes).fold(largest.max(found.value.abs()), |s, (x, p)| s.max((x * p).abs()));
        let errors = errors.iter().zip(sizes).map(|(e, p)| 3.0 * e + LEFT * effect / p).collect();
        Self { by_runs, errors, worst: gap / largest }
    }

    /// Indices of parameters whose derivatives differ by more than the errors of both.
    pub fn disagree(&self, found: &Derivative) -> Vec<usize> {
        let apart = |k: usize| (found.slopes[k] - self.by_runs[k]).abs() - found.errors[k] - self.errors[k];
        // NaN agrees with nothing.
        (0..found.slopes.len()).filter(|&k| apart(k).is_nan() || apart(k) > 0.0).collect()
    }
}

impl Parameters<'_> {
    /// Sizes of some parameters; one where a parameter is zero.
    pub(crate) fn values_of(&self, which: &[usize]) -> Vec<f64> {
        which.iter().map(|&k| if self.values[k] == 0.0 { 1.0 } else { self.values[k].abs() }).collect()
    }
}
