//! One scalar trait for plain numbers and for truncated Taylor series in one variable.
//!
//! Mechanics written once over [`Scalar`] runs on `f64`, gives first derivatives on [`Dual`], and exact time
//! derivatives of any fixed order on [`Taylor`]: coefficient `k` is the `k`-th derivative divided by `k!`.

use crate::piecewise::Piecewise;
use num_traits::{One, Zero};
use std::fmt::Debug;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A number, or a number that carries its derivatives along.
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
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
{
    /// The constant `x`.
    fn of(x: f64) -> Self;
    /// The value without derivatives.
    fn value(self) -> f64;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Sine and cosine together.
    fn sin_cos(self) -> (Self, Self);
    /// Inverse sine.
    fn asin(self) -> Self;
    /// Inverse cosine.
    fn acos(self) -> Self;
    /// Inverse tangent.
    fn atan(self) -> Self;
    /// Angle of the point (x, y) = (`other`, `self`).
    fn atan2(self, other: Self) -> Self;
    /// Whole power.
    fn powi(self, n: i32) -> Self;
    /// Power; whole constant exponents accept any base.
    fn pow(self, exponent: Self) -> Self;
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
    /// Absolute value; the derivative at zero is taken from the right.
    fn abs(self) -> Self {
        self.select(self, -self)
    }
    /// `a` where `self` is not negative, else `b`. Mechanics branches through this alone, never on [`Scalar::value`], so that
    /// scalars that record what is done to them see the branch.
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
    /// The whole number below.
    fn floor(self) -> Self {
        Self::of(self.value().floor())
    }
    /// The value of a function given piece by piece.
    fn piecewise(self, f: &Piecewise) -> Self {
        f.eval(self)
    }
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
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn sin_cos(self) -> (Self, Self) {
        f64::sin_cos(self)
    }
    fn asin(self) -> Self {
        f64::asin(self)
    }
    fn acos(self) -> Self {
        f64::acos(self)
    }
    fn atan(self) -> Self {
        f64::atan(self)
    }
    fn atan2(self, other: Self) -> Self {
        f64::atan2(self, other)
    }
    fn powi(self, n: i32) -> Self {
        f64::powi(self, n)
    }
    fn pow(self, exponent: Self) -> Self {
        f64::powf(self, exponent)
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
}

/// A Taylor series in one variable, truncated after `N` coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taylor<const N: usize> {
    /// Coefficients, lowest order first.
    pub c: [f64; N],
}

/// Value and first derivative.
pub type Dual = Taylor<2>;

impl<const N: usize> Taylor<N> {
    /// The independent variable at `x`: value `x`, slope one.
    pub fn variable(x: f64) -> Self {
        let mut c = [0.0; N];
        c[0] = x;
        if N > 1 {
            c[1] = 1.0;
        }
        Self { c }
    }

    /// The series with value `x` and first derivative `dx`.
    pub fn with_slope(x: f64, dx: f64) -> Self {
        let mut c = [0.0; N];
        c[0] = x;
        if N > 1 {
            c[1] = dx;
        }
        Self { c }
    }

    /// The `k`-th derivative.
    pub fn derivative(self, k: usize) -> f64 {
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        self.c[k] * factorial
    }

    /// `y` with `y(0) = y0` and `dy = g dx` along the series `self` = x.
    fn integrate(self, y0: f64, g: Self) -> Self {
        let mut y = [0.0; N];
        y[0] = y0;
        for k in 1..N {
            let sum: f64 = (1..=k).map(|j| j as f64 * self.c[j] * g.c[k - j]).sum();
            y[k] = sum / k as f64;
        }
        Self { c: y }
    }
}

impl<const N: usize> Neg for Taylor<N> {
    type Output = Self;
    fn neg(mut self) -> Self {
        self.c.iter_mut().for_each(|x| *x = -*x);
        self
    }
}
impl<const N: usize> Add for Taylor<N> {
    type Output = Self;
    fn add(mut self, o: Self) -> Self {
        self += o;
        self
    }
}
impl<const N: usize> Sub for Taylor<N> {
    type Output = Self;
    fn sub(mut self, o: Self) -> Self {
        self -= o;
        self
    }
}
impl<const N: usize> Mul for Taylor<N> {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let mut c = [0.0; N];
        for k in 0..N {
            for j in 0..=k {
                c[k] += self.c[j] * o.c[k - j];
            }
        }
        Self { c }
    }
}
impl<const N: usize> Div for Taylor<N> {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let mut c = [0.0; N];
        for k in 0..N {
            let mut x = self.c[k];
            for j in 0..k {
                x -= c[j] * o.c[k - j];
            }
            c[k] = x / o.c[0];
        }
        Self { c }
    }
}
impl<const N: usize> AddAssign for Taylor<N> {
    fn add_assign(&mut self, o: Self) {
        self.c.iter_mut().zip(o.c).for_each(|(x, y)| *x += y);
    }
}
impl<const N: usize> SubAssign for Taylor<N> {
    fn sub_assign(&mut self, o: Self) {
        self.c.iter_mut().zip(o.c).for_each(|(x, y)| *x -= y);
    }
}
impl<const N: usize> MulAssign for Taylor<N> {
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}
impl<const N: usize> DivAssign for Taylor<N> {
    fn div_assign(&mut self, o: Self) {
        *self = *self / o;
    }
}
impl<const N: usize> Zero for Taylor<N> {
    fn zero() -> Self {
        Self { c: [0.0; N] }
    }
    fn is_zero(&self) -> bool {
        self.c.iter().all(|&x| x == 0.0)
    }
}
impl<const N: usize> One for Taylor<N> {
    fn one() -> Self {
        Self::of(1.0)
    }
}

impl<const N: usize> Scalar for Taylor<N> {
    fn of(x: f64) -> Self {
        let mut c = [0.0; N];
        c[0] = x;
        Self { c }
    }
    fn value(self) -> f64 {
        self.c[0]
    }
    fn sqrt(self) -> Self {
        let mut y = [0.0; N];
        y[0] = self.c[0].sqrt();
        for k in 1..N {
            let mut x = self.c[k];
            for j in 1..k {
                x -= y[j] * y[k - j];
            }
            // A constant zero has a constant root; anything else has no derivative there.
            y[k] = if x == 0.0 { 0.0 } else { x / (2.0 * y[0]) };
        }
        Self { c: y }
    }
    fn exp(self) -> Self {
        let mut y = [0.0; N];
        y[0] = self.c[0].exp();
        for k in 1..N {
            let sum: f64 = (1..=k).map(|j| j as f64 * self.c[j] * y[k - j]).sum();
            y[k] = sum / k as f64;
        }
        Self { c: y }
    }
    fn ln(self) -> Self {
        self.integrate(self.c[0].ln(), Self::one() / self)
    }
    fn sin_cos(self) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; N], [0.0; N]);
        (s[0], c[0]) = self.c[0].sin_cos();
        for k in 1..N {
            for j in 1..=k {
                let x = j as f64 * self.c[j] / k as f64;
                s[k] += x * c[k - j];
                c[k] -= x * s[k - j];
            }
        }
        (Self { c: s }, Self { c })
    }
    fn asin(self) -> Self {
        let g = Self::one() / (Self::one() - self * self).sqrt();
        self.integrate(self.c[0].asin(), g)
    }
    fn acos(self) -> Self {
        let g = -(Self::one() / (Self::one() - self * self).sqrt());
        self.integrate(self.c[0].acos(), g)
    }
    fn atan(self) -> Self {
        self.integrate(self.c[0].atan(), Self::one() / (Self::one() + self * self))
    }
    fn atan2(self, other: Self) -> Self {
        // The branch comes from the values, the derivatives from whichever ratio is below one.
        let (y, x) = (self, other);
        let value = y.c[0].atan2(x.c[0]);
        let mut angle = if y.c[0].abs() <= x.c[0].abs() { (y / x).atan() } else { -(x / y).atan() };
        angle.c[0] = value;
        angle
    }
    fn powi(self, n: i32) -> Self {
        let mut result = Self::one();
        let mut base = self;
        let mut e = n.unsigned_abs();
        while e > 0 {
            if e & 1 == 1 {
                result *= base;
            }
            base = base * base;
            e >>= 1;
        }
        if n < 0 { Self::one() / result } else { result }
    }
    fn pow(self, exponent: Self) -> Self {
        let constant = exponent.c[1..].iter().all(|&x| x == 0.0);
        let n = exponent.c[0];
        if constant && n.fract() == 0.0 && n.abs() <= 64.0 {
            return self.powi(n as i32);
        }
        let mut y = (self.ln() * exponent).exp();
        y.c[0] = self.c[0].powf(n);
        y
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five coefficients of `f` at `x` against central differences of the coefficient below.
    fn check(name: &str, f: impl Fn(Taylor<5>) -> Taylor<5>, x: f64) {
        let h = 1e-5;
        let at = |x: f64| f(Taylor::variable(x));
        let (m, p, y) = (at(x - h), at(x + h), at(x));
        for k in 1..5 {
            let difference = (p.c[k - 1] - m.c[k - 1]) / (2.0 * h) / k as f64;
            // Truncation h^2 and rounding u/h both leave about 1e-10 of the neighbouring coefficients.
            assert!((y.c[k] - difference).abs() < 1e-7 * (1.0 + y.c[k].abs()), "{name} at {x}, order {k}: {} {difference}", y.c[k]);
        }
    }

    #[test]
    fn coefficients_are_derivatives() {
        for x in [0.3, 0.7] {
            check("sqrt", |x| x.sqrt(), x);
            check("exp", |x| x.exp(), x);
            check("ln", |x| x.ln(), x);
            check("sin", |x| x.sin(), x);
            check("cos", |x| x.cos(), x);
            check("tan", |x| x.tan(), x);
            check("asin", |x| x.asin(), x);
            check("acos", |x| x.acos(), x);
            check("atan", |x| x.atan(), x);
            check("sinh", |x| x.sinh(), x);
            check("cosh", |x| x.cosh(), x);
            check("tanh", |x| x.tanh(), -x);
            check("pow", |x| x.pow(x + Taylor::of(0.5)), x);
            check("powi", |x| x.powi(-3), x);
            check("abs", |x| x.abs() * x, -x);
            for a in [0.2, 1.2, 2.2, 3.3, 4.4, 5.5] {
                let turn = move |x: Taylor<5>| {
                    let (s, c) = (x + Taylor::of(a)).sin_cos();
                    s.atan2(c)
                };
                check("atan2", turn, x);
            }
        }
    }

    #[test]
    fn the_angle_of_a_turning_point_has_slope_one_everywhere() {
        for k in 0..32 {
            let (s, c) = (Taylor::<3>::variable(k as f64 * 0.2)).sin_cos();
            let angle = s.atan2(c);
            assert!((angle.c[1] - 1.0).abs() < 1e-14 && angle.c[2].abs() < 1e-14);
        }
    }
}
