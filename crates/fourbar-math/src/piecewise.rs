//! Functions of one variable given piece by piece as cubics, and the C2 splines through given points.

use crate::Scalar;
use std::sync::Arc;

/// A piecewise cubic function between breakpoints. The first and the last piece continue beyond the ends, unless it is periodic.
#[derive(Clone, Debug, PartialEq)]
pub struct Piecewise {
    /// Breakpoints, rising; one more than there are pieces.
    x: Arc<[f64]>,
    /// Coefficients of each piece in powers of the distance from its left breakpoint, lowest first.
    pieces: Arc<[[f64; 4]]>,
    /// Distance after which it repeats; the length of all pieces together.
    period: Option<f64>,
}

/// Boundary conditions of a spline at its two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ends {
    /// The second derivative vanishes.
    Natural,
    /// The first derivative has these values.
    Slopes(f64, f64),
    /// It repeats: the last point is the first one again.
    Periodic,
}

/// How a function continues beyond its first and last point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Along the tangent at the end.
    Linear,
    /// With the value at the end.
    Hold,
}

/// The reason for which there is no spline through some points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplineError {
    /// There are fewer points than this.
    TooFew(usize),
    /// The abscissa of this point (counted from zero) is not beyond the one before it.
    NotRising(usize),
    /// This point is not finite, or the adjacent pieces are so steep that coefficients overflow.
    NotFinite(usize),
    /// The last value of a periodic function is not the first one.
    NotClosed,
}

/// Values of a periodic function at its two ends may differ by this fraction of its range, because of rounded input.
const CLOSED: f64 = 1e-9;

impl Piecewise {
    /// The spline through the points `(x[k], y[k])`: first and second derivatives are continuous. A periodic one repeats, and `beyond` does
    /// not matter.
    pub fn spline(x: &[f64], y: &[f64], ends: Ends, beyond: Beyond) -> Result<Self, SplineError> {
        let n = checked(x, y, if ends == Ends::Periodic { 4 } else { 3 })?;
        let mut y = y[..n].to_vec();
        if ends == Ends::Periodic {
            let range = y.iter().fold(f64::MIN, |m, v| m.max(*v)) - y.iter().fold(f64::MAX, |m, v| m.min(*v));
            if (y[n - 1] - y[0]).abs() > CLOSED * range {
                return Err(SplineError::NotClosed);
            }
            y[n - 1] = y[0];
        }
        let h: Vec<f64> = x[..n].windows(2).map(|w| w[1] - w[0]).collect();
        let secant: Vec<f64> = (0..n - 1).map(|k| (y[k + 1] - y[k]) / h[k]).collect();
        let m = second_derivatives(&h, &secant, ends);
        let piece = |k: usize| {
            let slope = secant[k] - h[k] * (2.0 * m[k] + m[k + 1]) / 6.0;
            [y[k], slope, 0.5 * m[k], (m[k + 1] - m[k]) / (6.0 * h[k])]
        };
        let mut pieces: Vec<[f64; 4]> = (0..n - 1).map(piece).collect();
        let sound = |pieces: &[[f64; 4]]| match pieces.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
            Some(k) => Err(SplineError::NotFinite(k.min(n - 1))),
            None => Ok(()),
        };
        sound(&pieces)?;
        if ends == Ends::Periodic {
            return Ok(Self { x: x[..n].into(), pieces: pieces.into(), period: Some(x[n - 1] - x[0]) });
        }
        // Two more pieces continue the function beyond its ends.
        let [first, last] = [pieces[0][1], pieces[n - 2][1] + h[n - 2] * (2.0 * pieces[n - 2][2] + 3.0 * h[n - 2] * pieces[n - 2][3])];
        let [left, right] = if beyond == Beyond::Hold { [0.0; 2] } else { [first, last] };
        // Far enough to differ in floating point, however close together the points are.
        let reach = |x: f64| (x.abs() * 1e-6).max(h.iter().sum());
        let mut breaks = Vec::with_capacity(n + 2);
        breaks.push(x[0] - reach(x[0]));
        breaks.extend_from_slice(&x[..n]);
        breaks.push(x[n - 1] + reach(x[n - 1]));
        pieces.insert(0, [y[0] - left * (x[0] - breaks[0]), left, 0.0, 0.0]);
        pieces.push([y[n - 1], right, 0.0, 0.0]);
        sound(&pieces)?;
        if breaks.iter().any(|b| !b.is_finite()) {
            return Err(SplineError::NotFinite(0));
        }
        Ok(Self { x: breaks.into(), pieces: pieces.into(), period: None })
    }

    /// Straight lines between the points; the first and the last one continue beyond them.
    pub fn linear(x: &[f64], y: &[f64]) -> Result<Self, SplineError> {
        let n = checked(x, y, 2)?;
        let pieces = (0..n - 1).map(|k| [y[k], (y[k + 1] - y[k]) / (x[k + 1] - x[k]), 0.0, 0.0]).collect();
        Self::of_points(&x[..n], pieces)
    }

    /// Cubics through the points; the slope at a point is that of the parabola through it and its neighbours. The first and the last piece
    /// continue beyond the points.
    pub fn cubic(x: &[f64], y: &[f64]) -> Result<Self, SplineError> {
        let n = checked(x, y, 2)?;
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
        Self::of_points(&x[..n], pieces)
    }

    /// Pieces between points, if all coefficients are finite.
    fn of_points(x: &[f64], pieces: Vec<[f64; 4]>) -> Result<Self, SplineError> {
        match pieces.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
            Some(k) => Err(SplineError::NotFinite(k)),
            None => Ok(Self { x: x.into(), pieces: pieces.into(), period: None }),
        }
    }

    /// A function from its parts, as returned by [`Piecewise::breakpoints`], [`Piecewise::pieces`] and [`Piecewise::period`]; `None` if
    /// they are inconsistent.
    pub fn from_pieces(x: &[f64], pieces: &[[f64; 4]], period: Option<f64>) -> Option<Self> {
        let rising = x.windows(2).all(|w| w[0] < w[1]);
        let finite = x.iter().chain(pieces.iter().flatten()).chain(&period).all(|x| x.is_finite());
        let fits = x.len() == pieces.len() + 1 && !pieces.is_empty() && period.is_none_or(|p| p > 0.0);
        (rising && finite && fits).then(|| Self { x: x.into(), pieces: pieces.into(), period })
    }

    /// Breakpoints, rising; one more than there are pieces.
    pub fn breakpoints(&self) -> &[f64] {
        &self.x
    }

    /// Coefficients of each piece in powers of the distance from its left breakpoint, lowest first.
    pub fn pieces(&self) -> &[[f64; 4]] {
        &self.pieces
    }

    /// Distance after which it repeats.
    pub fn period(&self) -> Option<f64> {
        self.period
    }

    /// First and last given abscissa; beyond them a function that does not repeat is continued as specified.
    pub fn range(&self) -> [f64; 2] {
        let n = self.x.len();
        if self.period.is_some() { [self.x[0], self.x[n - 1]] } else { [self.x[1], self.x[n - 2]] }
    }

    /// The piece that contains `x`, and the number of periods before it; a breakpoint belongs to the piece on its right.
    fn locate(&self, x: f64) -> (usize, f64) {
        let (turns, shift) = self.period.map_or((0.0, 0.0), |p| {
            let turns = ((x - self.x[0]) / p).floor();
            (turns, p * turns)
        });
        let n = self.x.len();
        let local = x - shift;
        (self.x[1..n - 1].partition_point(|b| *b <= local), turns)
    }

    /// The piece that contains `x`, and its left breakpoint in that period.
    fn find(&self, x: f64) -> (usize, f64) {
        let (k, turns) = self.locate(x);
        (k, self.x[k] + self.period.map_or(0.0, |p| p * turns))
    }

    /// Number of the piece that contains `x`; a breakpoint belongs to the piece on its right. Pieces of a periodic function are numbered
    /// without limit in both directions.
    pub fn piece(&self, x: f64) -> i64 {
        let (k, turns) = self.locate(x);
        (turns as i64).saturating_mul(self.pieces.len() as i64).saturating_add(k as i64)
    }

    /// Left breakpoint and coefficients of a piece, by its number.
    pub fn of_piece(&self, piece: i64) -> (f64, &[f64; 4]) {
        let n = self.pieces.len() as i64;
        match self.period {
            Some(p) => {
                let k = piece.rem_euclid(n) as usize;
                (self.x[k] + piece.div_euclid(n) as f64 * p, &self.pieces[k])
            }
            None => {
                let k = piece.clamp(0, n - 1) as usize;
                (self.x[k], &self.pieces[k])
            }
        }
    }

    /// Breakpoints on the left and on the right of a piece, if it ends there.
    pub fn limits(&self, piece: i64) -> [Option<f64>; 2] {
        let n = self.pieces.len() as i64;
        let there = |k: i64| (self.period.is_some() || (1..n).contains(&k)).then(|| self.of_piece(k).0);
        [there(piece), there(piece.saturating_add(1))]
    }

    /// Length of a piece between its breakpoints.
    pub fn width(&self, piece: i64) -> f64 {
        let n = self.pieces.len() as i64;
        let k = if self.period.is_some() { piece.rem_euclid(n) } else { piece.clamp(0, n - 1) } as usize;
        self.x[k + 1] - self.x[k]
    }

    /// The value; the piece is chosen by the value of `x`.
    pub fn eval<S: Scalar>(&self, x: S) -> S {
        let (k, from) = self.find(x.value());
        let [a, b, c, d] = self.pieces[k];
        let z = x - S::of(from);
        S::of(a) + z * (S::of(b) + z * (S::of(c) + z * S::of(d)))
    }

    /// Its derivative at `x`.
    pub fn slope(&self, x: f64) -> f64 {
        let (k, from) = self.find(x);
        let [_, b, c, d] = self.pieces[k];
        let z = x - from;
        b + z * (2.0 * c + z * 3.0 * d)
    }

    /// The next breakpoint above or below `x` at which one piece ends and another begins.
    pub fn next_seam(&self, x: f64, up: bool) -> Option<f64> {
        let (k, from) = self.find(x);
        let shift = from - self.x[k];
        let n = self.pieces.len();
        let place = if up {
            k + 1
        } else if x > from {
            k
        } else {
            k.wrapping_sub(1)
        };
        match self.period {
            // Below the first breakpoint comes the last but one of the previous period.
            Some(p) if place == usize::MAX => Some(self.x[n - 1] + shift - p),
            Some(_) => Some(self.x[place] + shift),
            None => (1..n).contains(&place).then(|| self.x[place]),
        }
    }

    /// The part that contains `x`: 0 before the first point, 1 between the points, 2 beyond the last; parts may join with kinks. `None` if
    /// it is periodic.
    pub fn part(&self, x: f64) -> Option<i64> {
        let [first, last] = self.range();
        self.period.is_none().then(|| i64::from(x >= first) + i64::from(x >= last))
    }
}

/// Number of points, if there are enough, all are finite, and x is rising.
fn checked(x: &[f64], y: &[f64], least: usize) -> Result<usize, SplineError> {
    let n = x.len().min(y.len());
    if n < least {
        return Err(SplineError::TooFew(least));
    }
    if let Some(k) = (0..n).find(|&k| !(x[k].is_finite() && y[k].is_finite())) {
        return Err(SplineError::NotFinite(k));
    }
    if let Some(k) = (1..n).find(|&k| x[k] <= x[k - 1]) {
        return Err(SplineError::NotRising(k));
    }
    Ok(n)
}

/// Second derivatives of a spline at its points, from the lengths of its pieces and their mean slopes.
fn second_derivatives(h: &[f64], secant: &[f64], ends: Ends) -> Vec<f64> {
    let n = h.len() + 1;
    // Row k: lower m[k-1] + diagonal m[k] + upper m[k+1] = right; diagonally dominant, so no pivoting is needed.
    let inner = |k: usize| (h[k - 1], 2.0 * (h[k - 1] + h[k]), h[k], 6.0 * (secant[k] - secant[k - 1]));
    let mut rows: Vec<(f64, f64, f64, f64)> = Vec::with_capacity(n);
    match ends {
        Ends::Periodic => {
            let last = n - 2;
            let (a, b) = (h[last], h[0]);
            // The unknowns are those of all points but the last; the first and the last row are coupled. This cyclic coupling is a matrix
            // of rank one, u v^T, which is treated by the Sherman-Morrison formula.
            let corner = a;
            let gamma = -2.0 * (a + b);
            rows.push((0.0, 2.0 * (a + b) - gamma, b, 6.0 * (secant[0] - secant[last])));
            rows.extend((1..=last).map(inner));
            rows[last].1 -= corner * corner / gamma;
            rows[last].2 = 0.0;
            let mut m = tridiagonal(&rows, rows.iter().map(|r| r.3).collect());
            let mut u = vec![0.0; last + 1];
            (u[0], u[last]) = (gamma, corner);
            let z = tridiagonal(&rows, u);
            let v = corner / gamma;
            let factor = (m[0] + v * m[last]) / (1.0 + z[0] + v * z[last]);
            m.iter_mut().zip(&z).for_each(|(m, z)| *m -= factor * z);
            m.push(m[0]);
            m
        }
        Ends::Natural => {
            rows.push((0.0, 1.0, 0.0, 0.0));
            rows.extend((1..n - 1).map(inner));
            rows.push((0.0, 1.0, 0.0, 0.0));
            tridiagonal(&rows, rows.iter().map(|r| r.3).collect())
        }
        Ends::Slopes(first, last) => {
            rows.push((0.0, 2.0 * h[0], h[0], 6.0 * (secant[0] - first)));
            rows.extend((1..n - 1).map(inner));
            rows.push((h[n - 2], 2.0 * h[n - 2], 0.0, 6.0 * (last - secant[n - 2])));
            tridiagonal(&rows, rows.iter().map(|r| r.3).collect())
        }
    }
}

/// Solves a tridiagonal system; the first row has no lower, the last no upper neighbour.
fn tridiagonal(rows: &[(f64, f64, f64, f64)], mut right: Vec<f64>) -> Vec<f64> {
    let n = rows.len();
    let mut upper = vec![0.0; n];
    for k in 0..n {
        let (lower, diagonal, above, _) = rows[k];
        let (before, known) = if k > 0 { (upper[k - 1], right[k - 1]) } else { (0.0, 0.0) };
        let pivot = diagonal - lower * before;
        upper[k] = above / pivot;
        right[k] = (right[k] - lower * known) / pivot;
    }
    for k in (0..n - 1).rev() {
        right[k] -= upper[k] * right[k + 1];
    }
    right
}

#[cfg(test)]
mod tests;
