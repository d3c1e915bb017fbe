//! Numbers of about 106 bits, as the sum of two doubles: for references more accurate than double precision.
//!
//! Sums and products follow Dekker and Knuth: the rounding error of an operation on doubles is itself a double.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// The numbers used to compute a solution.
pub trait Number:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Spacing of the numbers at one, approximately.
    const ROUNDING: f64;
    /// Sine and cosine.
    fn sin_cos(self) -> (Self, Self);
    /// Rounded to double precision.
    fn value(self) -> f64;
}

impl Number for f64 {
    const ROUNDING: f64 = f64::EPSILON;
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
    fn value(self) -> f64 {
        self
    }
}

/// The sum of two doubles, of which the second is at most half a unit in the last place of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dd {
    high: f64,
    low: f64,
}

/// Half of pi as two doubles, and the remainder.
const HALF_PI: [f64; 3] = [std::f64::consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591833e-33];

/// `a + b` and its rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// `a b` and its rounding error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, a.mul_add(b, -p))
}

impl Dd {
    fn renewed(high: f64, low: f64) -> Self {
        let s = high + low;
        Self { high: s, low: low - (s - high) }
    }
}

impl From<f64> for Dd {
    fn from(x: f64) -> Self {
        Self { high: x, low: 0.0 }
    }
}

impl Neg for Dd {
    type Output = Self;
    fn neg(self) -> Self {
        Self { high: -self.high, low: -self.low }
    }
}

impl Add for Dd {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (s, e) = two_sum(self.high, o.high);
        let (t, f) = two_sum(self.low, o.low);
        let x = Self::renewed(s, e + t);
        Self::renewed(x.high, x.low + f)
    }
}

impl Sub for Dd {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Dd {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (p, e) = two_product(self.high, o.high);
        Self::renewed(p, e + (self.high * o.low + self.low * o.high))
    }
}

impl Div for Dd {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        // Three partial quotients, each a double.
        let mut rest = self;
        let mut out = Self::from(0.0);
        for _ in 0..3 {
            let q = Self::from(rest.high / o.high);
            out = out + q;
            rest = rest - q * o;
        }
        out
    }
}

impl Number for Dd {
    const ROUNDING: f64 = f64::EPSILON * f64::EPSILON;
    fn sin_cos(self) -> (Self, Self) {
        let quarters = (self.high / HALF_PI[0]).round();
        let k = Self::from(quarters);
        let mut x = self;
        for part in HALF_PI {
            x = x - k * Self::from(part);
        }
        // Series up to the thirty-first power: the remainder is below 1e-33 for an eighth of a turn.
        let square = x * x;
        let (mut sine, mut cosine) = (Self::from(0.0), Self::from(0.0));
        for n in (0..16).rev() {
            let n = f64::from(n);
            cosine = Self::from(1.0) - square * cosine / Self::from((2.0 * n + 1.0) * (2.0 * n + 2.0));
            sine = Self::from(1.0) - square * sine / Self::from((2.0 * n + 2.0) * (2.0 * n + 3.0));
        }
        let (s, c) = (x * sine, cosine);
        match quarters.rem_euclid(4.0) as u8 {
            0 => (s, c),
            1 => (c, -s),
            2 => (-s, -c),
            _ => (-c, s),
        }
    }

    fn value(self) -> f64 {
        self.high + self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_have_more_than_a_hundred_bits() {
        let third = Dd::from(1.0) / Dd::from(3.0);
        assert!((third * Dd::from(3.0) - Dd::from(1.0)).value().abs() < 2e-32);
        let x = Dd::from(0.7) + Dd::from(1e-20);
        assert!(((x - Dd::from(0.7)).value() - 1e-20).abs() < 1e-31);
        for angle in [0.1, 0.8, 1.7, -2.9, 5.0, 31.4] {
            // The addition theorem relates arguments of different quadrants.
            let (a, b) = (Dd::from(angle), Dd::from(0.375));
            let ((sa, ca), (sb, cb), (s, c)) = (a.sin_cos(), b.sin_cos(), (a + b).sin_cos());
            assert!((sa * sa + ca * ca - Dd::from(1.0)).value().abs() < 1e-31, "{angle}");
            assert!((sa * cb + ca * sb - s).value().abs() < 1e-30, "{angle}");
            assert!((ca * cb - sa * sb - c).value().abs() < 1e-30, "{angle}");
            assert!((sa.value() - angle.sin()).abs() < 2e-16, "{angle}");
        }
        // The error of the double nearest to sin 1, by rational arithmetic.
        let s = Dd::from(1.0).sin_cos().0;
        let rest = s - Dd::from(0.8414709848078965);
        assert!((rest.value() - 1.776845092935536e-18).abs() < 1e-31, "{:e}", rest.value());
    }
}
