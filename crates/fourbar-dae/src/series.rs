//! Truncated Taylor series as a plain value: the slow, obvious arithmetic against which the tape is checked.

use crate::scalar::{Scalar, Table};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// First `N` Taylor coefficients in time. Products and functions are exact up to the truncation;
/// [`diff`](Scalar::diff) loses the last coefficients and puts zeros there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Series<const N: usize>(
    /// Coefficient of `t^m` at index `m`.
    pub [f64; N],
);

impl<const N: usize> Series<N> {
    /// The series of the independent variable at `t0`.
    pub fn time(t0: f64) -> Self {
        let mut a = [0.0; N];
        a[0] = t0;
        if N > 1 {
            a[1] = 1.0;
        }
        Self(a)
    }

    /// Antiderivative of `self`, with value `start`.
    fn integral(self, start: f64) -> Self {
        let mut w = [0.0; N];
        w[0] = start;
        for m in 1..N {
            w[m] = self.0[m - 1] / m as f64;
        }
        Self(w)
    }

    /// Two functions that are each other's derivative up to `sign`: (sin, cos) or (sinh, cosh).
    fn pair(self, sign: f64, s0: f64, c0: f64) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; N], [0.0; N]);
        (s[0], c[0]) = (s0, c0);
        for m in 1..N {
            for i in 1..=m {
                let a = i as f64 / m as f64 * self.0[i];
                s[m] += a * c[m - i];
                c[m] += sign * a * s[m - i];
            }
        }
        (Self(s), Self(c))
    }
}

impl<const N: usize> Add for Series<N> {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self(std::array::from_fn(|m| self.0[m] + b.0[m]))
    }
}
impl<const N: usize> Sub for Series<N> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self(std::array::from_fn(|m| self.0[m] - b.0[m]))
    }
}
impl<const N: usize> Neg for Series<N> {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }
}
impl<const N: usize> Mul for Series<N> {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self(std::array::from_fn(|m| (0..=m).map(|i| self.0[i] * b.0[m - i]).sum()))
    }
}
impl<const N: usize> Div for Series<N> {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let mut w = [0.0; N];
        for m in 0..N {
            let known: f64 = (0..m).map(|i| w[i] * b.0[m - i]).sum();
            w[m] = (self.0[m] - known) / b.0[0];
        }
        Self(w)
    }
}
impl<const N: usize> Add<f64> for Series<N> {
    type Output = Self;
    fn add(mut self, b: f64) -> Self {
        self.0[0] += b;
        self
    }
}
impl<const N: usize> Sub<f64> for Series<N> {
    type Output = Self;
    fn sub(self, b: f64) -> Self {
        self + -b
    }
}
impl<const N: usize> Mul<f64> for Series<N> {
    type Output = Self;
    fn mul(self, b: f64) -> Self {
        Self(self.0.map(|a| a * b))
    }
}
impl<const N: usize> Div<f64> for Series<N> {
    type Output = Self;
    fn div(self, b: f64) -> Self {
        Self(self.0.map(|a| a / b))
    }
}

impl<const N: usize> Scalar for Series<N> {
    fn constant(value: f64) -> Self {
        Self([0.0; N]) + value
    }
    fn sqrt(self) -> Self {
        self.powf(0.5)
    }
    fn exp(self) -> Self {
        let mut w = [0.0; N];
        w[0] = self.0[0].exp();
        for m in 1..N {
            w[m] = (1..=m).map(|i| i as f64 * self.0[i] * w[m - i]).sum::<f64>() / m as f64;
        }
        Self(w)
    }
    fn ln(self) -> Self {
        (self.diff(1) / self).integral(self.0[0].ln())
    }
    fn sin(self) -> Self {
        self.pair(-1.0, self.0[0].sin(), self.0[0].cos()).0
    }
    fn cos(self) -> Self {
        self.pair(-1.0, self.0[0].sin(), self.0[0].cos()).1
    }
    fn sinh(self) -> Self {
        self.pair(1.0, self.0[0].sinh(), self.0[0].cosh()).0
    }
    fn cosh(self) -> Self {
        self.pair(1.0, self.0[0].sinh(), self.0[0].cosh()).1
    }
    fn tanh(self) -> Self {
        self.sinh() / self.cosh()
    }
    fn atan(self) -> Self {
        (self.diff(1) / (self * self + 1.0)).integral(self.0[0].atan())
    }
    fn atan2(self, x: Self) -> Self {
        let slope = (x * self.diff(1) - self * x.diff(1)) / (x * x + self * self);
        slope.integral(self.0[0].atan2(x.0[0]))
    }
    fn powf(self, c: f64) -> Self {
        let mut w = [0.0; N];
        w[0] = self.0[0].powf(c);
        for m in 1..N {
            let sum: f64 = (1..=m).map(|i| (i as f64 * c - (m - i) as f64) * self.0[i] * w[m - i]).sum();
            w[m] = sum / (m as f64 * self.0[0]);
        }
        Self(w)
    }
    fn diff(self, p: u32) -> Self {
        let mut a = self.0;
        for _ in 0..p {
            for m in 0..N {
                a[m] = if m + 1 < N { (m + 1) as f64 * a[m + 1] } else { 0.0 };
            }
        }
        Self(a)
    }
    fn switch(self, a: Self, b: Self) -> Self {
        if self.0[0] >= 0.0 { a } else { b }
    }
    fn table(self, table: &Table) -> Self {
        table.on_piece(table.piece(self.0[0]), self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_of_time_has_the_textbook_coefficients() {
        let s = Series::<8>::time(0.0).sin();
        assert_eq!(s.0[..4], [0.0, 1.0, 0.0, -1.0 / 6.0]);
    }

    #[test]
    fn inverse_functions_undo_each_other() {
        let t = Series::<12>::time(0.4);
        for w in [t.exp().ln(), t.sin().asin(), t.tan().atan(), t.sinh().asinh(), t.tanh().atanh(), t.sqr().sqrt()] {
            for m in 0..10 {
                assert!((w.0[m] - t.0[m]).abs() < 1e-12, "{m}: {w:?}");
            }
        }
    }
}
