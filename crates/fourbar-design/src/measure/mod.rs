//! Measures of a run: one number from the columns of a result, such as `max(abs(motor.effort))` or `range(tip.x)/range(tip.y)`.
//!
//! A measure is an expression of the file's language whose names are *reductions* of columns over time: [`REDUCTIONS`] lists them. Inside a
//! reduction stands an expression of columns, evaluated row by row; outside stands an expression of the resulting numbers. `min` and `max`
//! are reductions if they have one argument, and functions of the language if they have several.
//!
//! ```
//! use fourbar::trajectory::{Column, Trajectory};
//! use fourbar_design::measure::Measure;
//!
//! let column = |name: &str, unit: &'static str| Column { name: name.into(), unit: unit.into() };
//! let mut run = Trajectory::new(vec![column("t", "s"), column("motor.effort", "N*m")]);
//! for k in 0..=100 {
//!     let t = f64::from(k) / 100.0;
//!     run.push(&[t, 3.0 * t * t - 2.0]);
//! }
//! let peak = Measure::new("max(abs(motor.effort))", &run.columns)?;
//! assert_eq!((peak.of(&run)?.value, peak.unit().as_str()), (2.0, "N*m"));
//! let mean = Measure::new("mean(motor.effort) + 1", &run.columns)?;
//! assert!(mean.of(&run)?.value.abs() < 1e-4);
//! # Ok::<(), fourbar::Diagnostic>(())
//! ```
//!
//! Everything is evaluated over any [`Scalar`]: with dual numbers for samples, [`Measure::along`] gives the derivative along a change of
//! the run. The derivative of an extremum is that at the instant of the extremum, and the derivative of a time follows from the slope of
//! the crossing quantity.

mod parse;
mod reduce;
#[cfg(test)]
mod tests;

pub use parse::kind_of_unit;
pub use reduce::Extreme;

use fourbar::expr::{Expr, Kind};
use fourbar::model::CurveOn;
use fourbar::trajectory::{Column, Trajectory};
use fourbar::{Diagnostic, expr};
use fourbar_dae::{Node, Tape};
use fourbar_math::{Dual, Scalar, Taylor};
use std::collections::HashMap;

/// A reduction of a column over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The smallest value at an output time.
    Min,
    /// The largest value at an output time.
    Max,
    /// The largest less the smallest.
    Range,
    /// The mean over time, by the trapezoidal rule.
    Mean,
    /// The root of the mean square over time.
    Rms,
    /// The integral over time.
    Integral,
    /// The value at the end.
    Last,
    /// The value at a time, by cubic interpolation of the four nearest rows.
    At,
    /// The value where a condition first holds.
    First,
    /// The length of the path of a point.
    Length,
}

/// Names of the reductions, their number of arguments, and their meaning.
pub const REDUCTIONS: &[(&str, Reduction, usize, &str)] = &[
    ("min", Reduction::Min, 1, "smallest value at an output time: min(tip.x)"),
    ("max", Reduction::Max, 1, "largest value at an output time: max(abs(motor.effort))"),
    ("range", Reduction::Range, 1, "largest less smallest: range(tip.x)"),
    ("mean", Reduction::Mean, 1, "mean over time: mean(motor.power)"),
    ("rms", Reduction::Rms, 1, "root of the mean square over time: rms(motor.effort)"),
    ("integral", Reduction::Integral, 1, "integral over time: integral(abs(motor.power))"),
    ("last", Reduction::Last, 1, "value at the end: last(pin.angle)"),
    ("at", Reduction::At, 2, "value at a time: at(pin.angle, 0.5 s)"),
    ("first", Reduction::First, 2, "value where a condition first holds: first(t, tip.x > 20 mm)"),
    ("length", Reduction::Length, 1, "length of the path of a point: length(tip)"),
];

/// Read in addition to columns: the distance of a point from a curve, in the plane of the curve.
pub const DISTANCE: (&str, &str) = ("distance", "distance of a point from a curve of the file: max(distance(tip, track))");

/// The distance of a point from a curve, row by row.
#[derive(Clone, Debug)]
struct Gap {
    /// Coordinates of the point, as expressions of columns.
    point: [Expr; 3],
    curve: CurveOn,
}

impl Gap {
    fn eval<S: Scalar>(&self, columns: &[S]) -> S {
        let from_origin: [S; 3] = std::array::from_fn(|k| self.point[k].eval(columns) - self.curve.at[k]);
        let along = |axis: usize| (0..3).fold(S::zero(), |sum, k| sum + from_origin[k] * self.curve.R[(k, axis)]);
        let [u, v] = [along(0), along(1)];
        // The nearest point moves along the curve, at a right angle to the distance: to first order the distance to the fixed point
        // suffices.
        let near = self.curve.curve.nearest_point(&nalgebra::Vector2::new(u.value(), v.value()));
        let d2 = (u - near.x).sqr() + (v - near.y).sqr();
        if d2.value() > 0.0 { d2.sqrt() } else { S::zero() }
    }
}

/// One reduction inside a measure.
#[derive(Clone, Debug)]
struct Part {
    reduction: Reduction,
    /// Its text.
    text: String,
    /// The reduced expression of columns; for a path, its three coordinates.
    inner: Vec<Expr>,
    /// The expression that must become positive, for `first`; and whether it is a difference whose zero can be located between rows.
    condition: Option<(Expr, bool)>,
    /// The time argument of `at`.
    time: f64,
}

/// A parsed measure for results with certain columns.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its text.
    pub text: String,
    outer: Expr,
    parts: Vec<Part>,
    /// Distances that are read; their variables start at [`reduce::MOST`].
    gaps: Vec<Gap>,
    /// Indices of the columns that are read, by variable.
    reads: Vec<usize>,
    /// Index of the time column.
    time: Option<usize>,
    kind: Kind,
    /// Whether energies or powers are read: a result in N*m is then an energy.
    energy: bool,
}

/// A measure of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured<S = f64> {
    /// Its value.
    pub value: S,
    /// Instants of its extrema, in the order of the text.
    pub extremes: Vec<Extreme>,
}

impl Measure {
    /// Parses a measure whose names are columns.
    pub fn new(text: &str, columns: &[Column]) -> Result<Self, Diagnostic> {
        Self::with(text, columns, &[], &mut parse::Nothing)
    }

    /// Parses a measure with curves, further names, such as parameters, and units.
    pub fn with(text: &str, columns: &[Column], curves: &[CurveOn], names: &mut dyn expr::Names) -> Result<Self, Diagnostic> {
        parse::parse(text, columns, curves, names)
    }

    /// Its unit; empty if unknown.
    pub fn unit(&self) -> String {
        match self.kind {
            Kind::Quantity(d) if d == expr::Dimension::NONE => "1".into(),
            Kind::Quantity(d) if d == expr::Dimension::TORQUE && self.energy => "J".into(),
            Kind::Quantity(d) => d.unit(),
            Kind::Number => "1".into(),
            Kind::Unknown => String::new(),
        }
    }

    /// Indices of the columns that it reads, including the time if needed.
    pub fn reads(&self) -> impl Iterator<Item = usize> + '_ {
        let time = self.time.filter(|t| !self.reads.contains(t));
        self.reads.iter().copied().chain(time)
    }

    /// Its value for a run with the columns for which it was parsed.
    pub fn of(&self, run: &Trajectory) -> Result<Measured, Diagnostic> {
        self.eval(run.len(), &|row, column| run.values[column][row])
    }

    /// Rows of a run whose derivatives it reads.
    pub fn rows(&self, run: &Trajectory) -> Result<Vec<bool>, Diagnostic> {
        let sample = |row: usize, column: usize| run.values[column][row];
        let data = reduce::Data { measure: self, rows: run.len(), sample: &sample };
        let mut out = vec![false; run.len()];
        if !run.is_empty() {
            self.parts.iter().try_for_each(|p| data.reads(p, &mut out))?;
        }
        Ok(out)
    }

    /// Its value and derivative, for a run and the derivatives of its columns. Output times are fixed.
    pub fn along(&self, run: &Trajectory, slopes: &Trajectory) -> Result<Measured<Dual>, Diagnostic> {
        let sample = |row: usize, column: usize| {
            let slope = if Some(column) == self.time { 0.0 } else { slopes.values[column][row] };
            Taylor::with_slope(run.values[column][row], slope)
        };
        self.eval(run.len(), &sample)
    }

    /// Its derivatives with respect to the values of a run that it reads: row, column and derivative, without zeros.
    pub fn gradient(&self, run: &Trajectory) -> Result<Vec<(usize, usize, f64)>, Diagnostic> {
        let needed = self.rows(run)?;
        let rows = (0..run.len()).filter(|&r| needed[r]);
        let list: Vec<(usize, usize)> =
            rows.flat_map(|r| self.reads.iter().map(move |&c| (r, c))).filter(|x| Some(x.1) != self.time).collect();
        let (tape, result) = Tape::record_around(0.0, || {
            let variables: HashMap<(usize, usize), Node> =
                list.iter().map(|&(r, c)| ((r, c), Node::variable(run.values[c][r], 0.0))).collect();
            let sample =
                |row: usize, column: usize| variables.get(&(row, column)).copied().unwrap_or_else(|| Node::of(run.values[column][row]));
            self.eval(run.len(), &sample)
        });
        let value = result?.value;
        let mut known = vec![0.0; tape.len()];
        let x: Vec<f64> = list.iter().map(|&(r, c)| run.values[c][r]).collect();
        tape.eval(&tape.needed(std::iter::once(value)), 0.0, &x, &mut known);
        let slopes = tape.gradient(value, &known, &mut vec![0.0; tape.len()]);
        Ok(slopes.into_iter().filter(|(_, d)| *d != 0.0).map(|(k, d)| (list[k].0, list[k].1, d)).collect())
    }

    /// Its value for samples by row and column.
    pub fn eval<S: Scalar>(&self, rows: usize, sample: &dyn Fn(usize, usize) -> S) -> Result<Measured<S>, Diagnostic> {
        let mut extremes = Vec::new();
        let data = reduce::Data { measure: self, rows, sample };
        let mut values = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            values.push(data.reduce(part, &mut extremes)?);
        }
        let value = self.outer.eval(&values);
        if !value.value().is_finite() {
            let message = format!("`{}` has no finite value", self.text);
            return Err(Diagnostic::new("S431", message).help("look for a division by zero or the root of a negative number"));
        }
        Ok(Measured { value, extremes })
    }
}
