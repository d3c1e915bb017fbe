//! Numbers with several first derivatives: one evaluation gives a value and its derivatives in `N` directions.
//!
//! The derivatives are stored side by side. Their cost is measured by `cargo bench -p fourbar-bench --bench sensitivities`.

use fourbar_math::{Scalar, slope};
use num_traits::{One, Zero};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A value with `N` first derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const N: usize> {
    /// The value.
    pub x: f64,
    /// Its derivatives.
    pub d: [f64; N],
}

impl<const N: usize> Default for Jet<N> {
    fn default() -> Self {
        Self { x: 0.0, d: [0.0; N] }
    }
}

impl<const N: usize> Jet<N> {
    /// A function of this number with value `x` and derivative `k`.
    #[inline(always)]
    fn chain(self, x: f64, k: f64) -> Self {
        let mut d = self.d;
        d.iter_mut().for_each(|d| *d *= k);
        Self { x, d }
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.chain(-self.x, -1.0)
    }
}
impl<const N: usize> Add for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, o: Self) -> Self {
        self += o;
        self
    }
}
impl<const N: usize> Sub for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, o: Self) -> Self {
        self -= o;
        self
    }
}
impl<const N: usize> Mul for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        let mut d = [0.0; N];
        for k in 0..N {
            d[k] = self.d[k] * o.x + self.x * o.d[k];
        }
        Self { x: self.x * o.x, d }
    }
}
impl<const N: usize> Div for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        let inverse = 1.0 / o.x;
        let x = self.x * inverse;
        let mut d = [0.0; N];
        for k in 0..N {
            d[k] = (self.d[k] - x * o.d[k]) * inverse;
        }
        Self { x: self.x / o.x, d }
    }
}
impl<const N: usize> AddAssign for Jet<N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.x += o.x;
        for k in 0..N {
            self.d[k] += o.d[k];
        }
    }
}
impl<const N: usize> SubAssign for Jet<N> {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        self.x -= o.x;
        for k in 0..N {
            self.d[k] -= o.d[k];
        }
    }
}
impl<const N: usize> MulAssign for Jet<N> {
    #[inline(always)]
    fn mul_assign(&mut self, o: Self) {
        *self = *self * o;
    }
}
impl<const N: usize> DivAssign for Jet<N> {
    #[inline(always)]
    fn div_assign(&mut self, o: Self) {
        *self = *self / o;
    }
}
impl<const N: usize> Add<f64> for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn add(mut self, b: f64) -> Self {
        self.x += b;
        self
    }
}
impl<const N: usize> Sub<f64> for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(mut self, b: f64) -> Self {
        self.x -= b;
        self
    }
}
impl<const N: usize> Mul<f64> for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: f64) -> Self {
        self.chain(self.x * b, b)
    }
}
impl<const N: usize> Div<f64> for Jet<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, b: f64) -> Self {
        self.chain(self.x / b, 1.0 / b)
    }
}
impl<const N: usize> Zero for Jet<N> {
    fn zero() -> Self {
        Self::default()
    }
    fn is_zero(&self) -> bool {
        self.x == 0.0 && self.d.iter().all(|d| *d == 0.0)
    }
}
impl<const N: usize> One for Jet<N> {
    fn one() -> Self {
        Self::of(1.0)
    }
}

impl<const N: usize> Scalar for Jet<N> {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Self { x, d: [0.0; N] }
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.x
    }
    fn sqrt(self) -> Self {
        let y = self.x.sqrt();
        // The root of a constant zero is constant; otherwise there is no derivative at zero.
        if y == 0.0 && self.d.iter().all(|d| *d == 0.0) { Self::of(0.0) } else { self.chain(y, 0.5 / y) }
    }
    fn exp(self) -> Self {
        let y = self.x.exp();
        self.chain(y, y)
    }
    fn ln(self) -> Self {
        self.chain(self.x.ln(), slope::ln(self.x))
    }
    #[inline(always)]
    fn sin_cos(self) -> (Self, Self) {
        let (s, c) = self.x.sin_cos();
        (self.chain(s, c), self.chain(c, -s))
    }
    fn asin(self) -> Self {
        self.chain(self.x.asin(), slope::asin(self.x))
    }
    fn acos(self) -> Self {
        self.chain(self.x.acos(), -slope::asin(self.x))
    }
    fn atan(self) -> Self {
        self.chain(self.x.atan(), slope::atan(self.x))
    }
    fn atan2(self, other: Self) -> Self {
        let (y, x) = (self, other);
        let r2 = y.x * y.x + x.x * x.x;
        let mut d = [0.0; N];
        for k in 0..N {
            d[k] = (x.x * y.d[k] - y.x * x.d[k]) / r2;
        }
        Self { x: y.x.atan2(x.x), d }
    }
    fn pow(self, exponent: Self) -> Self {
        let constant = exponent.d.iter().all(|d| *d == 0.0);
        let n = exponent.x;
        if constant && n.fract() == 0.0 && n.abs() <= 64.0 {
            return self.powi(n as i32);
        }
        let mut y = (self.ln() * exponent).exp();
        y.x = self.x.powf(n);
        y
    }
    /// A jet is treated as constant in time.
    fn diff(self, p: u32) -> Self {
        if p == 0 { self } else { Self::of(0.0) }
    }
}
