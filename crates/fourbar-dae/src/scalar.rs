//! The scalar a problem is written in: plain numbers, Taylor series, or nodes of a tape.

use crate::Error;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

/// Number type of a problem. Write the problem once as a function generic in `S: Scalar`; the crate
/// calls it with [`Node`](crate::Node) to record it, tests may call it with [`f64`] or [`Series`](crate::Series).
pub trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// The constant `value`.
    fn constant(value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential function.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine.
    fn sin(self) -> Self;
    /// Cosine.
    fn cos(self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Arc tangent.
    fn atan(self) -> Self;
    /// Angle of the point (`x`, `self`), between minus pi and pi at the expansion point and smooth from there.
    fn atan2(self, x: Self) -> Self;
    /// Constant real power.
    fn powf(self, c: f64) -> Self;
    /// `p`-th derivative with respect to time. A plain number is a constant: its derivatives vanish.
    fn diff(self, p: u32) -> Self;
    /// First derivative with respect to time, expanded by the chain rule down to the variables.
    fn rate(self) -> Self {
        self.diff(1)
    }
    /// `a` where `self >= 0`, else `b`. On a tape this is a kink: integration restarts where `self` changes sign.
    fn switch(self, a: Self, b: Self) -> Self;
    /// Piecewise polynomial in `self`; every breakpoint is a kink.
    fn table(self, table: &Table) -> Self;

    /// Tangent.
    fn tan(self) -> Self {
        self.sin() / self.cos()
    }
    /// Arc sine.
    fn asin(self) -> Self {
        self.atan2((-self.sqr() + 1.0).sqrt())
    }
    /// Arc cosine.
    fn acos(self) -> Self {
        (-self.sqr() + 1.0).sqrt().atan2(self)
    }
    /// Inverse hyperbolic sine.
    fn asinh(self) -> Self {
        (self + (self.sqr() + 1.0).sqrt()).ln()
    }
    /// Inverse hyperbolic cosine.
    fn acosh(self) -> Self {
        (self + (self.sqr() - 1.0).sqrt()).ln()
    }
    /// Inverse hyperbolic tangent.
    fn atanh(self) -> Self {
        ((self + 1.0) / (-self + 1.0)).ln() * 0.5
    }
    /// Square.
    fn sqr(self) -> Self {
        self * self
    }
    /// Integer power, by products (defined at zero, unlike [`powf`](Scalar::powf)).
    fn powi(self, n: i32) -> Self {
        let mut result = Self::constant(1.0);
        let (mut base, mut left) = (self, n.unsigned_abs());
        while left > 0 {
            if left & 1 == 1 {
                result = result * base;
            }
            left >>= 1;
            if left > 0 {
                base = base * base;
            }
        }
        if n < 0 { Self::constant(1.0) / result } else { result }
    }
    /// Power with an exponent that varies; the base must be positive.
    fn pow(self, exponent: Self) -> Self {
        (exponent * self.ln()).exp()
    }
    /// Absolute value, with a kink at zero.
    fn abs(self) -> Self {
        self.switch(self, -self)
    }
    /// The larger of two values, with a kink where they are equal.
    fn max(self, other: Self) -> Self {
        (self - other).switch(self, other)
    }
    /// The smaller of two values, with a kink where they are equal.
    fn min(self, other: Self) -> Self {
        (self - other).switch(other, self)
    }
}

/// `diff(x, p)`: the `p`-th time derivative, in the notation of the literature.
pub fn diff<S: Scalar>(x: S, p: u32) -> S {
    x.diff(p)
}

/// A function given by values at breakpoints: piecewise linear, or piecewise cubic with continuous slope.
/// Outside the breakpoints the first or last piece goes on, unless the function repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    x: Arc<[f64]>,
    /// Coefficients of each piece in powers of `x - x[k]`.
    pieces: Arc<[[f64; 4]]>,
    /// Whether it repeats after its last breakpoint; pieces are then counted on and on in both directions.
    periodic: bool,
}

impl Table {
    fn checked(x: &[f64], y: &[f64]) -> Result<(), Error> {
        let rising = x.windows(2).all(|w| w[0] < w[1]);
        let finite = x.iter().chain(y).all(|v| v.is_finite());
        if x.len() < 2 || x.len() != y.len() || !rising || !finite {
            return Err(Error::BadTable);
        }
        Ok(())
    }

    /// Straight lines between the points.
    pub fn linear(x: &[f64], y: &[f64]) -> Result<Self, Error> {
        Self::checked(x, y)?;
        let pieces = (0..x.len() - 1).map(|k| [y[k], (y[k + 1] - y[k]) / (x[k + 1] - x[k]), 0.0, 0.0]).collect();
        Ok(Self { x: x.into(), pieces, periodic: false })
    }

    /// Cubics through the points whose slope at a point is the parabola's through it and its neighbours.
    pub fn cubic(x: &[f64], y: &[f64]) -> Result<Self, Error> {
        Self::checked(x, y)?;
        let n = x.len();
        let secant = |k: usize| (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
        let inner = |k: usize| {
            let (a, b) = (x[k] - x[k - 1], x[k + 1] - x[k]);
            (secant(k - 1) * b + secant(k) * a) / (a + b)
        };
        let slope = |k: usize| match k {
            _ if n == 2 => secant(0),
            0 => 2.0 * secant(0) - inner(1),
            _ if k == n - 1 => 2.0 * secant(n - 2) - inner(n - 2),
            _ => inner(k),
        };
        let pieces = (0..n - 1)
            .map(|k| {
                let (h, s, a, b) = (x[k + 1] - x[k], secant(k), slope(k), slope(k + 1));
                [y[k], a, (3.0 * s - 2.0 * a - b) / h, (a + b - 2.0 * s) / (h * h)]
            })
            .collect();
        Ok(Self { x: x.into(), pieces, periodic: false })
    }

    /// Given cubics: coefficients of each piece in powers of the distance from its left breakpoint. A periodic function repeats
    /// after its last breakpoint.
    pub fn pieces(x: &[f64], pieces: &[[f64; 4]], periodic: bool) -> Result<Self, Error> {
        let finite = pieces.as_flattened().iter().all(|c| c.is_finite());
        if pieces.len() + 1 != x.len() || !finite {
            return Err(Error::BadTable);
        }
        Self::checked(x, x)?;
        Ok(Self { x: x.into(), pieces: pieces.into(), periodic })
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Never true: a table has at least one piece.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Number of the piece that holds `x`; a breakpoint belongs to the piece on its right.
    pub(crate) fn piece(&self, x: f64) -> i64 {
        let n = self.x.len();
        let period = self.x[n - 1] - self.x[0];
        let turns = if self.periodic { ((x - self.x[0]) / period).floor() } else { 0.0 };
        let local = x - turns * period;
        let k = self.x[1..n - 1].partition_point(|b| *b <= local);
        turns as i64 * self.pieces.len() as i64 + k as i64
    }

    /// Coefficients and left breakpoint of a piece.
    pub(crate) fn of_piece(&self, piece: i64) -> (f64, &[f64; 4]) {
        let n = self.pieces.len();
        let (turns, k) = match self.periodic {
            true => (piece.div_euclid(n as i64), piece.rem_euclid(n as i64) as usize),
            false => (0, piece.clamp(0, n as i64 - 1) as usize),
        };
        (self.x[k] + turns as f64 * (self.x[n] - self.x[0]), &self.pieces[k])
    }

    /// Breakpoints on the left and on the right of a piece, where it ends there.
    pub(crate) fn limits(&self, piece: i64) -> [Option<f64>; 2] {
        let n = self.pieces.len() as i64;
        let there = |k: i64| (self.periodic || (1..n).contains(&k)).then(|| self.of_piece(k).0);
        [there(piece), there(piece + 1)]
    }

    /// Length of a piece between its breakpoints.
    pub(crate) fn width(&self, piece: i64) -> f64 {
        let n = self.pieces.len() as i64;
        let k = if self.periodic { piece.rem_euclid(n) } else { piece.clamp(0, n - 1) } as usize;
        self.x[k + 1] - self.x[k]
    }

    pub(crate) fn on_piece<S: Scalar>(&self, piece: i64, x: S) -> S {
        let (from, &[a, b, c, d]) = self.of_piece(piece);
        let z = x - from;
        ((z * d + c) * z + b) * z + a
    }
}

impl Scalar for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn sin(self) -> Self {
        f64::sin(self)
    }
    fn cos(self) -> Self {
        f64::cos(self)
    }
    fn sinh(self) -> Self {
        f64::sinh(self)
    }
    fn cosh(self) -> Self {
        f64::cosh(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    fn atan(self) -> Self {
        f64::atan(self)
    }
    fn atan2(self, x: Self) -> Self {
        f64::atan2(self, x)
    }
    fn powf(self, c: f64) -> Self {
        f64::powf(self, c)
    }
    fn diff(self, p: u32) -> Self {
        if p == 0 { self } else { 0.0 }
    }
    fn switch(self, a: Self, b: Self) -> Self {
        if self >= 0.0 { a } else { b }
    }
    fn table(self, table: &Table) -> Self {
        table.on_piece(table.piece(self), self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubic_table_reproduces_a_parabola() {
        let x = [0.0, 1.0, 2.5, 4.0];
        let y: Vec<f64> = x.iter().map(|x| x * x - 3.0 * x).collect();
        let table = Table::cubic(&x, &y).unwrap();
        for s in [-0.5, 0.3, 1.7, 3.9, 4.5] {
            assert!((Scalar::table(s, &table) - (s * s - 3.0 * s)).abs() < 1e-13);
        }
    }

    #[test]
    fn a_periodic_table_repeats_in_both_directions() {
        // Two arcs, x (1 - x) up and down again.
        let table = Table::pieces(&[0.5, 1.5, 2.5], &[[0.0, 1.0, -1.0, 0.0], [0.0, -1.0, 1.0, 0.0]], true).unwrap();
        for turns in [-3.0, 0.0, 1.0, 40.0] {
            for (x, y) in [(0.75, 0.1875), (1.0, 0.25), (1.5, 0.0), (2.0, -0.25)] {
                assert_eq!(Scalar::table(x + 2.0 * turns, &table), y);
            }
        }
        assert_eq!([table.piece(-0.25), table.piece(0.5), table.piece(2.5)], [-1, 0, 2]);
        assert_eq!(table.limits(-1), [Some(-0.5), Some(0.5)]);
        assert_eq!(Table::pieces(&[0.0, 1.0], &[[f64::NAN; 4]], false), Err(Error::BadTable));
        assert_eq!(Table::pieces(&[0.0, 1.0], &[], false), Err(Error::BadTable));
    }

    #[test]
    fn tables_that_do_not_rise_are_refused() {
        assert_eq!(Table::linear(&[0.0, 0.0], &[1.0, 2.0]), Err(Error::BadTable));
        assert_eq!(Table::linear(&[0.0], &[1.0]), Err(Error::BadTable));
    }

    #[test]
    fn integer_powers_work_at_zero_and_below() {
        assert_eq!(Scalar::powi(0.0, 3), 0.0);
        assert_eq!(Scalar::powi(-2.0, 5), -32.0);
        assert_eq!(Scalar::powi(2.0, -2), 0.25);
    }
}
