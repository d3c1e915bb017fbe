//! One scalar trait for plain numbers, truncated Taylor series, and scalars that record the operations applied to them.
//!
//! Mechanics written once over [`Scalar`] runs on `f64`, gives derivatives on [`Taylor`](crate::Taylor) numbers, and becomes the equations
//! of a differential-algebraic problem on the recording scalar of `fourbar-dae`.

use crate::elementary;
use crate::piecewise::Piecewise;
use num_traits::{One, Zero};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number, possibly with its derivatives.
pub trait Scalar:
    Copy
    + Debug
    + PartialEq
    + Send
    + Sync
    + 'static
    + Zero
    + One
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The constant `x`.
    fn of(x: f64) -> Self;
    /// The value without derivatives. The value of a recording scalar is that at the start of the recording, if there is one.
    fn value(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine and cosine together.
    fn sin_cos(self) -> (Self, Self);
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// Angle of the point (x, y) = (`other`, `self`).
    fn atan2(self, other: Self) -> Self;
    /// Power; constant integer exponents accept any base.
    fn pow(self, exponent: Self) -> Self;
    /// `p`-th derivative with respect to time, which is the variable of a series. A plain number is a constant: its derivatives vanish.
    fn diff(self, p: u32) -> Self;
    /// First derivative with respect to time; a recording scalar expands it by the chain rule down to the variables.
    fn rate(self) -> Self {
        self.diff(1)
    }
    /// Constant power.
    fn powf(self, exponent: f64) -> Self {
        self.pow(Self::of(exponent))
    }
    /// Integer power, by products: defined for any base.
    fn powi(self, n: i32) -> Self {
        let mut result = Self::one();
        let (mut base, mut left) = (self, n.unsigned_abs());
        while left > 0 {
            if left & 1 == 1 {
                result *= base;
            }
            left >>= 1;
            if left > 0 {
                base = base * base;
            }
        }
        if n < 0 { Self::one() / result } else { result }
    }
    /// Square.
    fn sqr(self) -> Self {
        self * self
    }
    /// Inverse sine.
    fn asin(self) -> Self {
        self.atan2((-self.sqr() + 1.0).sqrt())
    }
    /// Inverse cosine.
    fn acos(self) -> Self {
        (-self.sqr() + 1.0).sqrt().atan2(self)
    }
    /// Sine.
    fn sin(self) -> Self {
        self.sin_cos().0
    }
    /// Cosine.
    fn cos(self) -> Self {
        self.sin_cos().1
    }
    /// Tangent.
    fn tan(self) -> Self {
        let (s, c) = self.sin_cos();
        s / c
    }
    /// Hyperbolic sine.
    fn sinh(self) -> Self {
        let e = self.exp();
        (e - Self::one() / e) * Self::of(0.5)
    }
    /// Hyperbolic cosine.
    fn cosh(self) -> Self {
        let e = self.exp();
        (e + Self::one() / e) * Self::of(0.5)
    }
    /// Hyperbolic tangent, written so that large arguments do not overflow.
    fn tanh(self) -> Self {
        if self.value() < 0.0 {
            return -(-self).tanh();
        }
        let e = (self * Self::of(-2.0)).exp();
        (Self::one() - e) / (Self::one() + e)
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
    /// Absolute value; the derivative at zero is taken from the right.
    fn abs(self) -> Self {
        self.select(self, -self)
    }
    /// The larger of two values.
    fn max(self, other: Self) -> Self {
        (self - other).select(self, other)
    }
    /// The smaller of two values.
    fn min(self, other: Self) -> Self {
        (self - other).select(other, self)
    }
    /// `a` where `self` is not negative, else `b`. The mechanics code branches only by this function, never on [`Scalar::value`], so that
    /// recording scalars record the branch.
    fn select(self, a: Self, b: Self) -> Self {
        if self.value() >= 0.0 { a } else { b }
    }
    /// `a` where `self` is not zero, else `b`.
    fn choose(self, a: Self, b: Self) -> Self {
        if self.value() != 0.0 { a } else { b }
    }
    /// -1, 0 or 1.
    fn sign(self) -> Self {
        Self::of(if self.value() == 0.0 { 0.0 } else { self.value().signum() })
    }
    /// The largest integer not above the value.
    fn floor(self) -> Self {
        Self::of(self.value().floor())
    }
    /// The value of a function given piece by piece.
    fn piecewise(self, f: &Piecewise) -> Self {
        f.eval(self)
    }
}

/// `diff(x, p)`: the `p`-th time derivative, in the notation of the literature.
pub fn diff<S: Scalar>(x: S, p: u32) -> S {
    x.diff(p)
}

impl Scalar for f64 {
    fn of(x: f64) -> Self {
        x
    }
    fn value(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }
    fn exp(self) -> Self {
        elementary::exp(self)
    }
    fn ln(self) -> Self {
        elementary::ln(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        elementary::sin_cos(self)
    }
    fn sin(self) -> Self {
        elementary::sin(self)
    }
    fn cos(self) -> Self {
        elementary::cos(self)
    }
    fn asin(self) -> Self {
        elementary::asin(self)
    }
    fn acos(self) -> Self {
        elementary::acos(self)
    }
    fn atan(self) -> Self {
        elementary::atan(self)
    }
    fn atan2(self, other: Self) -> Self {
        elementary::atan2(self, other)
    }
    fn powi(self, n: i32) -> Self {
        f64::powi(self, n)
    }
    fn pow(self, exponent: Self) -> Self {
        elementary::powf(self, exponent)
    }
    fn diff(self, p: u32) -> Self {
        if p == 0 { self } else { 0.0 }
    }
    fn sinh(self) -> Self {
        elementary::sinh(self)
    }
    fn cosh(self) -> Self {
        elementary::cosh(self)
    }
    fn tanh(self) -> Self {
        elementary::tanh(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_work_at_zero_and_below() {
        let power = |x: f64, n: i32| crate::Dual::variable(x).powi(n).c;
        assert_eq!(power(0.0, 3), [0.0, 0.0]);
        assert_eq!(power(-2.0, 5), [-32.0, 80.0]);
        assert_eq!(power(2.0, -2), [0.25, -0.25]);
        assert_eq!(Scalar::powi(-2.0, 5), -32.0);
    }
}
