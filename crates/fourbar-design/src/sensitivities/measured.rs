//! Derivatives of measures from those of the columns that they read.

use super::{Derivative, Method, OfRun};
use crate::measure::Measure;
use fourbar::Diagnostic;
use fourbar::trajectory::Trajectory;

/// Error of derivatives relative to their values, and relative to the size of the terms they are formed from.
const DIGITS: f64 = 1e-8;
const CANCELLED: f64 = 1e-11;

/// The derivatives of a measure of a run: at the instants of its extrema, and from the slopes at crossings where it is a time. Parameters
/// named in the measure stay fixed; [`of_measures`](super::of_measures) adds its direct dependence on them.
pub fn of_measure(measure: &Measure, of: &OfRun) -> Result<Derivative, Diagnostic> {
    let work = of.run.find("energy.work");
    if of.method != Method::Differences && measure.reads().any(|c| Some(c) == work) {
        let d = Diagnostic::new("U412", format!("`{}` reads `energy.work`, whose derivative is not computed", measure.text));
        return Err(d.help("integrate the power instead: `integral(motor.power)`"));
    }
    let value = measure.of(&of.run)?;
    if !of.beside.is_empty() {
        return by_differences(measure, of, value.value);
    }
    let along =
        |list: &[Trajectory]| -> Result<Vec<f64>, Diagnostic> { list.iter().map(|s| Ok(measure.along(&of.run, s)?.value.c[1])).collect() };
    let (slopes, rough) = (along(&of.slopes)?, along(&of.rough)?);
    let mut d = Derivative::solved(measure, &of.run, value.value, slopes, &of.sizes)?;
    d.errors.iter_mut().zip(d.slopes.iter().zip(rough)).for_each(|(e, (s, r))| *e += (s - r).abs());
    Ok(d)
}

/// For runs that are compared: differences of the measure itself, since events and extrema are at different times in each run.
fn by_differences(measure: &Measure, of: &OfRun, value: f64) -> Result<Derivative, Diagnostic> {
    let of_runs = |run: &Trajectory| Ok(measure.of(run)?.value);
    let both = of.beside.iter().map(|b| b.slopes(of_runs)).collect::<Result<Vec<_>, Diagnostic>>()?;
    let errors = both.iter().map(|[fine, rough]| DIGITS * fine.abs() + (fine - rough).abs()).collect();
    let slopes = both.iter().map(|b| b[0]).collect();
    Ok(Derivative { of: measure.text.clone(), value, unit: measure.unit(), slopes, errors })
}

/// The size of the terms of a measure: its change if every number it reads changed by the largest value with the same unit.
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
    /// Derivatives of a measure from solved equations, with error estimates: evaluations of perturbed mechanisms are accurate to some nine
    /// digits, or, if terms cancel, to a share of their size.
    pub fn solved(measure: &Measure, run: &Trajectory, value: f64, slopes: Vec<f64>, parameters: &[f64]) -> Result<Self, Diagnostic> {
        let size = size(measure, run)?;
        let errors = slopes.iter().zip(parameters).map(|(s, p)| DIGITS * s.abs() + CANCELLED * size / p).collect();
        Ok(Self { of: measure.text.clone(), value, unit: measure.unit(), slopes, errors })
    }
}

/// Share of the size of a measure, for a change of a parameter by its whole value, below which two derivatives are equal.
const EQUAL: f64 = 1e-8;

/// Differences of one-sided derivatives that are discretisation errors, as a share of the derivatives and of the value over the size of a
/// parameter; and the share that remains at half the step if there is a kink (a half for a smooth function).
const SIDES: f64 = 1e-2;
const NOISE: f64 = 1e-4;
const KEPT: f64 = 0.75;

/// A parameter for which the one-sided derivatives of a measure differ, as when an event lies at the end of the run.
fn kink(measure: &Measure, of: &OfRun) -> Option<Diagnostic> {
    let of_runs = |run: &Trajectory| Ok::<f64, Diagnostic>(measure.of(run)?.value);
    let here = of_runs(&of.run).ok()?;
    of.beside.iter().zip(&of.sizes).find_map(|(b, size)| {
        let [[less, more], [far_less, far_more]] = b.sides(here, of_runs).ok()?;
        let apart = (more - less).abs();
        let told = SIDES * less.abs().max(more.abs()) + NOISE * here.abs() / size;
        (apart > told && apart > KEPT * (far_more - far_less).abs()).then(|| {
            let number = fourbar::diagnostic::number;
            let message = format!(
                "`{}` has a kink or a jump here: towards smaller values of `{}` its derivative is {}, towards larger ones {}",
                measure.text,
                b.parameter,
                number(less),
                number(more)
            );
            let d = Diagnostic::new("W423", message).name(&b.parameter);
            d.help("the derivative that is given is the mean of both; look at it with `fourbar sweep`")
        })
    })
}

/// Extrema of a measure that are reached at several instants with different derivatives.
pub fn ties(measure: &Measure, of: &OfRun) -> Option<Diagnostic> {
    if !of.beside.is_empty() {
        return kink(measure, of);
    }
    let value = measure.of(&of.run).ok()?;
    let tied = value.extremes.iter().find(|e| !e.ties.is_empty())?;
    // If the derivatives at the other instants are the same, the choice of instant does not matter.
    let t = of.run.column("t")?;
    let size = size(measure, &of.run).unwrap_or(value.value.abs());
    let differs = of.slopes.iter().zip(&of.sizes).any(|(s, parameter)| {
        // Derivatives without effect for a change by the whole parameter differ only by rounding.
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
