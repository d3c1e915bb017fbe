//! Reductions of samples over time, for plain numbers and for numbers with a derivative.

use super::{Measure, Part, Reduction};
use fourbar::Diagnostic;
use fourbar::diagnostic::number;
use fourbar::expr::Expr;
use fourbar_math::Scalar;
use serde::Serialize;

/// Maximum number of columns that one measure reads.
pub(super) const MOST: usize = 64;
/// Maximum number of distances that one measure reads.
pub(super) const GAPS: usize = 8;

/// Tolerance for ties: difference of an extremum at another instant, as a share of the range.
const TIE: f64 = 1e-6;
/// Tolerance for a time to coincide with an event, as a share of the run.
const AT_EVENT: f64 = 1e-12;
/// Maximum number of ties listed.
const TIES: usize = 8;

/// The instant of an extremum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extreme {
    /// The reduced expression.
    pub of: String,
    /// Its time, s.
    pub t: f64,
    /// Its row.
    pub row: usize,
    /// Rows of other, equal extrema, up to a maximum number: the derivative may differ there.
    pub ties: Vec<usize>,
}

/// Samples and the measure that reads them.
pub(super) struct Data<'a, S> {
    pub measure: &'a Measure,
    pub rows: usize,
    pub sample: &'a dyn Fn(usize, usize) -> S,
}

impl<S: Scalar> Data<'_, S> {
    fn t(&self, row: usize) -> f64 {
        self.measure.time.map_or(row as f64, |c| (self.sample)(row, c).value())
    }

    fn at(&self, expr: &Expr, row: usize) -> S {
        let mut x = [S::zero(); MOST + GAPS];
        let reads = self.measure.reads.len();
        for (x, &column) in x.iter_mut().zip(&self.measure.reads) {
            *x = (self.sample)(row, column);
        }
        if self.measure.gaps.is_empty() {
            return expr.eval(&x[..reads]);
        }
        for (k, gap) in self.measure.gaps.iter().enumerate().filter(|(k, _)| expr.uses((MOST + k) as u32)) {
            x[MOST + k] = gap.eval(&x[..reads]);
        }
        expr.eval(&x)
    }

    fn series(&self, expr: &Expr) -> Vec<S> {
        (0..self.rows).map(|k| self.at(expr, k)).collect()
    }

    /// Evaluates one reduction.
    pub fn reduce(&self, part: &Part, extremes: &mut Vec<Extreme>) -> Result<S, Diagnostic> {
        if self.rows == 0 {
            return Err(Diagnostic::new("S431", format!("`{}` has no value: the result has no rows", part.text)));
        }
        let y = self.series(&part.inner[0]);
        if let Some(k) = y.iter().position(|y| !y.value().is_finite()) {
            let message = format!("`{}` has no value: at t = {} s what it reads is not a finite number", part.text, number(self.t(k)));
            return Err(Diagnostic::new("S431", message).time(self.t(k)).help("check it for a division by zero"));
        }
        Ok(match part.reduction {
            Reduction::Max => self.extreme(part, &y, 1.0, extremes),
            Reduction::Min => self.extreme(part, &y, -1.0, extremes),
            Reduction::Range => self.extreme(part, &y, 1.0, extremes) - self.extreme(part, &y, -1.0, extremes),
            Reduction::Mean => self.mean(&y),
            Reduction::Rms => {
                let squares: Vec<S> = y.iter().map(|y| y.sqr()).collect();
                let mean = self.mean(&squares);
                // The root has no derivative at zero; the smallest number replaces it.
                if mean.value() > 0.0 { mean.sqrt() } else { S::zero() }
            }
            Reduction::Integral => self.integral(&y),
            Reduction::Last => y[self.rows - 1],
            Reduction::At => self.at_time(part, &y)?,
            Reduction::First => self.first(part, &y)?,
            Reduction::Length => {
                let [a, b] = [1, 2].map(|k| self.series(&part.inner[k]));
                (1..self.rows).fold(S::zero(), |sum, k| {
                    let d2 = [&y, &a, &b].iter().fold(S::zero(), |s, c| s + (c[k] - c[k - 1]).sqr());
                    if d2.value() > 0.0 { sum + d2.sqrt() } else { sum }
                })
            }
        })
    }

    /// Rows whose derivatives a reduction reads: those of extrema and ties, those around a time, or all.
    pub fn reads(&self, part: &Part, out: &mut [bool]) -> Result<(), Diagnostic> {
        let around = |row: usize, out: &mut [bool]| self.window(row).for_each(|k| out[k] = true);
        match part.reduction {
            Reduction::Max | Reduction::Min | Reduction::Range => {
                let mut extremes = Vec::new();
                self.reduce(part, &mut extremes)?;
                extremes.iter().for_each(|e| out[e.row] = true);
                extremes.iter().flat_map(|e| &e.ties).for_each(|&k| out[k] = true);
            }
            Reduction::Last => out[self.rows - 1] = true,
            Reduction::At => around(self.place(part.time).0, out),
            Reduction::First => match &part.condition {
                Some((condition, _)) => {
                    let row = (0..self.rows).find(|&k| self.at(condition, k).value() > 0.0);
                    row.into_iter().for_each(|row| around(row, out));
                }
                None => out[0] = true,
            },
            Reduction::Mean | Reduction::Rms | Reduction::Integral | Reduction::Length => out.fill(true),
        }
        Ok(())
    }

    fn extreme(&self, part: &Part, y: &[S], sign: f64, extremes: &mut Vec<Extreme>) -> S {
        let size = |k: usize| sign * y[k].value();
        let (mut best, mut least) = (0, 0);
        for k in 1..y.len() {
            if size(k) > size(best) {
                best = k;
            }
            if size(k) < size(least) {
                least = k;
            }
        }
        let close = TIE * (size(best) - size(least));
        // Another local extremum, not a neighbouring row of this one.
        let peak = |k: usize| (k == 0 || size(k) >= size(k - 1)) && (k + 1 == y.len() || size(k) >= size(k + 1));
        let ties = if close > 0.0 {
            (0..y.len())
                .filter(|&k| k.abs_diff(best) > 1 && self.t(k) != self.t(best) && size(k) >= size(best) - close && peak(k))
                .take(TIES)
                .collect()
        } else {
            Vec::new()
        };
        extremes.push(Extreme { of: part.text.clone(), t: self.t(best), row: best, ties });
        y[best]
    }

    fn integral(&self, y: &[S]) -> S {
        (1..y.len()).fold(S::zero(), |sum, k| sum + (y[k] + y[k - 1]) * (0.5 * (self.t(k) - self.t(k - 1))))
    }

    fn mean(&self, y: &[S]) -> S {
        let time = self.t(y.len() - 1) - self.t(0);
        if time > 0.0 { self.integral(y) / time } else { y[0] }
    }

    fn at_time(&self, part: &Part, y: &[S]) -> Result<S, Diagnostic> {
        let (first, last) = (self.t(0), self.t(self.rows - 1));
        let slack = 1e-9 * (last - first);
        let t = part.time;
        if !(t >= first - slack && t <= last + slack) {
            let message = format!("`{}` has no value: the run goes from {} s to {} s", part.text, number(first), number(last));
            return Err(Diagnostic::new("S431", message).time(t).help("take a time inside the run, or run longer"));
        }
        let (row, t) = self.place(t);
        Ok(self.interpolate(y, row, S::of(t)))
    }

    /// The row at the end of the interval that contains a time, and the time; at an event its last row, with the values after it.
    fn place(&self, t: f64) -> (usize, f64) {
        let last = self.rows - 1;
        let slack = AT_EVENT * (self.t(last) - self.t(0));
        let double = |k: usize| k > 0 && self.t(k) == self.t(k - 1);
        if let Some(k) = (1..self.rows).rev().find(|&k| double(k) && (self.t(k) - t).abs() <= slack) {
            return (k, self.t(k));
        }
        ((1..self.rows).find(|&k| self.t(k) > t).unwrap_or(last), t)
    }

    /// The time at which the condition first holds, between the neighbouring rows.
    fn first(&self, part: &Part, y: &[S]) -> Result<S, Diagnostic> {
        let Some((condition, smooth)) = &part.condition else { return Ok(y[0]) };
        let g = self.series(condition);
        let Some(row) = g.iter().position(|g| g.value() > 0.0) else {
            let message = format!("`{}` has no value: its condition is never true", part.text);
            return Err(Diagnostic::new("S431", message).help("run longer, or take another condition"));
        };
        // If the condition becomes true in the jump of an event, it holds from the row after it.
        if row == 0 || !smooth || self.t(row) == self.t(row - 1) {
            return Ok(y[row]);
        }
        // Bisection on the values; a final Newton step provides the derivative and removes the remaining error.
        let (mut a, mut b) = (self.t(row - 1), self.t(row));
        let value = |t: f64| self.interpolate(&g, row, S::of(t));
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            if value(middle).value() > 0.0 { b = middle } else { a = middle }
        }
        let t = 0.5 * (a + b);
        let h = 1e-3 * (self.t(row) - self.t(row - 1));
        let slope = (value(t + h).value() - value(t - h).value()) / (2.0 * h);
        if slope == 0.0 {
            return Ok(y[row]);
        }
        let crossing = S::of(t) - value(t) / slope;
        Ok(self.interpolate(y, row, crossing))
    }

    /// The four rows nearest to the interval before a row; fewer if there are fewer. An event has two or more rows with the same time; rows
    /// beyond it are not used. If the interval is that of an event, the row alone.
    fn window(&self, row: usize) -> std::ops::Range<usize> {
        let jump = |k: usize| self.t(k) == self.t(k - 1);
        if row == 0 || jump(row) {
            return row..row + 1;
        }
        let low = (row.saturating_sub(3).max(1)..row).rev().find(|&k| jump(k)).unwrap_or(row.saturating_sub(4));
        let high = (row + 1..self.rows.min(row + 4)).find(|&k| jump(k)).unwrap_or(self.rows);
        let count = (high - low).min(4);
        let first = row.saturating_sub(2).max(low).min(high - count);
        first..first + count
    }

    /// The value at a time between `row - 1` and `row`, by cubic interpolation of the four nearest rows; by fewer if there are fewer.
    fn interpolate(&self, y: &[S], row: usize, t: S) -> S {
        let window = self.window(row);
        let (first, count) = (window.start, window.len());
        let nodes: Vec<f64> = window.map(|k| self.t(k)).collect();
        let mut sum = S::zero();
        for i in 0..count {
            let mut weight = S::one();
            for j in (0..count).filter(|&j| j != i) {
                weight *= (t - nodes[j]) / (nodes[i] - nodes[j]);
            }
            sum += weight * y[first + i];
        }
        sum
    }
}
