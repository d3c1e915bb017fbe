//! Intervals: a scalar that encloses all values of an expression whose variables vary within bounds.
//!
//! Bounds are not rounded outwards: they serve searches, not proofs.

use crate::elementary;
use crate::piecewise::Piecewise;
use crate::scalar::Scalar;
use num_traits::{One, Zero};
use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// Tables are evaluated over at most this many pieces; for more, the range is unbounded.
const PIECES: i64 = 512;

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Range {
    /// All numbers.
    pub const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// From `low` to `high`; unbounded if a bound is NaN.
    pub fn new(low: f64, high: f64) -> Self {
        if low.is_nan() || high.is_nan() { Self::ALL } else { Self { low, high } }
    }

    /// The smallest range around some values.
    pub fn around(values: &[f64]) -> Self {
        let mut r = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for x in values {
            if x.is_nan() {
                return Self::ALL;
            }
            r = Self { low: r.low.min(*x), high: r.high.max(*x) };
        }
        r
    }

    /// The smallest range around two ranges.
    pub fn with(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Difference of the bounds.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    fn rising(self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(f(self.low), f(self.high))
    }

    fn falling(self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(f(self.high), f(self.low))
    }

    /// The cosine, whose maxima are at whole turns.
    fn cosine(self) -> Self {
        if self.width().is_nan() || self.width() >= 2.0 * PI {
            return Self { low: -1.0, high: 1.0 };
        }
        let ends = [elementary::cos(self.low), elementary::cos(self.high)];
        // Whether `from` plus a whole number of turns lies inside.
        let inside = |from: f64| ((self.high - from) / (2.0 * PI)).floor() >= ((self.low - from) / (2.0 * PI)).ceil();
        let range = Self::around(&ends);
        Self { low: if inside(PI) { -1.0 } else { range.low }, high: if inside(0.0) { 1.0 } else { range.high } }
    }
}

/// A product in which zero times infinity is zero.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

impl Neg for Range {
    type Output = Self;
    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl Add for Range {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self::new(self.low + b.low, self.high + b.high)
    }
}

impl Sub for Range {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self::new(self.low - b.high, self.high - b.low)
    }
}

impl Mul for Range {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self::around(&[times(self.low, b.low), times(self.low, b.high), times(self.high, b.low), times(self.high, b.high)])
    }
}

impl Div for Range {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        if b.contains(0.0) { Self::ALL } else { self * Self::new(1.0 / b.high, 1.0 / b.low) }
    }
}

macro_rules! with_numbers {
    ($($trait:ident $method:ident, $assign:ident $assigned:ident;)*) => {$(
        impl $trait<f64> for Range {
            type Output = Self;
            fn $method(self, b: f64) -> Self {
                self.$method(Self::of(b))
            }
        }
        impl $assign for Range {
            fn $assigned(&mut self, b: Self) {
                *self = (*self).$method(b);
            }
        }
    )*};
}

with_numbers! {
    Add add, AddAssign add_assign;
    Sub sub, SubAssign sub_assign;
    Mul mul, MulAssign mul_assign;
    Div div, DivAssign div_assign;
}

impl Zero for Range {
    fn zero() -> Self {
        Self::of(0.0)
    }
    fn is_zero(&self) -> bool {
        *self == Self::zero()
    }
}

impl One for Range {
    fn one() -> Self {
        Self::of(1.0)
    }
}

impl Scalar for Range {
    fn of(x: f64) -> Self {
        Self::new(x, x)
    }
    fn value(self) -> f64 {
        0.5 * (self.low + self.high)
    }
    fn sqrt(self) -> Self {
        self.rising(|x| x.max(0.0).sqrt())
    }
    fn exp(self) -> Self {
        self.rising(elementary::exp)
    }
    fn ln(self) -> Self {
        self.rising(|x| if x > 0.0 { elementary::ln(x) } else { f64::NEG_INFINITY })
    }
    fn sin_cos(self) -> (Self, Self) {
        ((self - FRAC_PI_2).cosine(), self.cosine())
    }
    fn tan(self) -> Self {
        let branch = |x: f64| (x / PI + 0.5).floor();
        if branch(self.low) == branch(self.high) { self.rising(<f64 as Scalar>::tan) } else { Self::ALL }
    }
    fn asin(self) -> Self {
        self.rising(|x| elementary::asin(x.clamp(-1.0, 1.0)))
    }
    fn acos(self) -> Self {
        self.falling(|x| elementary::acos(x.clamp(-1.0, 1.0)))
    }
    fn atan(self) -> Self {
        self.rising(elementary::atan)
    }
    fn atan2(self, other: Self) -> Self {
        if other.low <= 0.0 && self.contains(0.0) {
            return Self { low: -PI, high: PI };
        }
        let at = elementary::atan2;
        Self::around(&[at(self.low, other.low), at(self.low, other.high), at(self.high, other.low), at(self.high, other.high)])
    }
    fn pow(self, exponent: Self) -> Self {
        let e = exponent.low;
        if exponent.width() != 0.0 {
            return (exponent * self.ln()).exp();
        }
        if e == e.round() && e.abs() < 1e9 {
            return self.powi(e as i32);
        }
        let power = |x: f64| elementary::powf(x.max(0.0), e);
        if e > 0.0 { self.rising(power) } else { self.falling(power) }
    }
    fn powi(self, n: i32) -> Self {
        if n < 0 {
            return Self::one() / self.powi(n.checked_neg().unwrap_or(i32::MAX));
        }
        let power = |x: f64| f64::powi(x, n);
        match (n % 2 == 0, self.low >= 0.0, self.high <= 0.0) {
            (false, _, _) | (true, true, _) => self.rising(power),
            (true, false, true) => self.falling(power),
            (true, false, false) => Self::new(if n == 0 { 1.0 } else { 0.0 }, power(self.low).max(power(self.high))),
        }
    }
    fn sqr(self) -> Self {
        self.powi(2)
    }
    fn diff(self, p: u32) -> Self {
        if p == 0 { self } else { Self::zero() }
    }
    fn sinh(self) -> Self {
        self.rising(elementary::sinh)
    }
    fn cosh(self) -> Self {
        self.abs().rising(elementary::cosh)
    }
    fn tanh(self) -> Self {
        self.rising(elementary::tanh)
    }
    fn abs(self) -> Self {
        match (self.low >= 0.0, self.high <= 0.0) {
            (true, _) => self,
            (_, true) => -self,
            _ => Self { low: 0.0, high: self.high.max(-self.low) },
        }
    }
    fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }
    fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }
    fn select(self, a: Self, b: Self) -> Self {
        match () {
            _ if self.low >= 0.0 => a,
            _ if self.high < 0.0 => b,
            _ => a.with(b),
        }
    }
    fn choose(self, a: Self, b: Self) -> Self {
        match () {
            _ if !self.contains(0.0) => a,
            _ if self.width() == 0.0 => b,
            _ => a.with(b),
        }
    }
    fn sign(self) -> Self {
        self.rising(|x| if x == 0.0 { 0.0 } else { x.signum() })
    }
    fn floor(self) -> Self {
        self.rising(f64::floor)
    }
    fn piecewise(self, f: &Piecewise) -> Self {
        if !(self.low.is_finite() && self.high.is_finite()) {
            return Self::ALL;
        }
        let (first, last) = (f.piece(self.low), f.piece(self.high));
        if last - first > PIECES {
            return Self::ALL;
        }
        (first..=last).map(|piece| on_piece(f, piece, self)).reduce(Self::with).unwrap_or(Self::ALL)
    }
}

/// Values of one piece of a table within bounds of its argument.
fn on_piece(f: &Piecewise, piece: i64, x: Range) -> Range {
    let (from, &[a, b, c, d]) = f.of_piece(piece);
    let [left, right] = f.limits(piece);
    let (low, high) = (x.low.max(left.unwrap_or(x.low)) - from, x.high.min(right.unwrap_or(x.high)) - from);
    let value = |z: f64| a + z * (b + z * (c + z * d));
    let mut range = Range::around(&[value(low), value(high)]);
    // Where the slope b + 2 c z + 3 d z^2 vanishes.
    let root = (c * c - 3.0 * b * d).max(0.0).sqrt();
    for z in [(-c - root) / (3.0 * d), (-c + root) / (3.0 * d), -b / (2.0 * c)] {
        if low < z && z < high {
            range = range.with(Range::of(value(z)));
        }
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_lies_in_the_range() {
        type F = (fn(Range) -> Range, fn(f64) -> f64);
        let list: [F; 14] = [
            (|x| x.sin(), |x| x.sin()),
            (|x| x.cos(), |x| x.cos()),
            (|x| x.tan(), |x| x.tan()),
            (|x| x.atan(), |x| x.atan()),
            (|x| Scalar::exp(-x.powi(2)), |x| (-x * x).exp()),
            (|x| x.tanh(), |x| x.tanh()),
            (|x| x.cosh(), |x| x.cosh()),
            (|x| x.abs(), |x| x.abs()),
            (|x| x.floor(), |x| x.floor()),
            (|x| x.sign(), |x| x.signum()),
            (|x| x.powi(3) - x * x, |x| x * x * x - x * x),
            (|x| Range::one() / (x.powi(2) + 1.0), |x| 1.0 / (x * x + 1.0)),
            (|x| x.abs().powf(1.5), |x| x.abs().powf(1.5)),
            (|x| Scalar::max(x, Range::of(0.3)), |x| x.max(0.3)),
        ];
        let mut seed = 1_u64;
        let mut number = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        for round in 0..2000 {
            let (low, width) = (10.0 * number() - 5.0, 4.0 * number() * number());
            let (range, plain) = list[round % list.len()];
            let y = range(Range::new(low, low + width));
            for k in 0..=20 {
                let x = plain(low + width * f64::from(k) / 20.0);
                assert!(x >= y.low - 1e-9 * (1.0 + x.abs()) && x <= y.high + 1e-9 * (1.0 + x.abs()), "{round}: {x} not in {y:?}");
            }
        }
    }

    #[test]
    fn tables_are_enclosed_tightly() {
        let f = Piecewise::cubic(&[0.0, 1.0, 2.0, 3.0, 4.0], &[0.0, 0.0, 1.0, 0.0, 0.0]).expect("a table");
        let y = Range::new(0.0, 4.0).piecewise(&f);
        assert!(y.high >= 1.0 && y.high < 1.2 && y.low > -0.3, "{y:?}");
        assert_eq!(Range::new(2.0, 2.0).piecewise(&f), Range::of(1.0));
    }
}
