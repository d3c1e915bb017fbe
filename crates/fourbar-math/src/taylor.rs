//! Truncated Taylor series in one variable: exact derivatives of any fixed order, coefficient `k` being the `k`-th derivative divided
//! by `k!`.

use crate::elementary;
use crate::{Scalar, recurrence, slope};
use num_traits::{One, Zero};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

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

    /// `y` with the value `y0` and `dy = g dx` along the series `self` = x.
    fn integrate(self, y0: f64, g: Self) -> Self {
        let mut y = [0.0; N];
        y[0] = y0;
        for k in 1..N {
            y[k] = recurrence::along(self.weighted(&g.c, k), k);
        }
        Self { c: y }
    }

    /// Sum of `j x_j y_(k-j)` over j = 1..=k, x being the series.
    fn weighted(&self, y: &[f64; N], k: usize) -> f64 {
        (1..=k).map(|j| j as f64 * self.c[j] * y[k - j]).sum()
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
impl<const N: usize> Add<f64> for Taylor<N> {
    type Output = Self;
    fn add(mut self, b: f64) -> Self {
        self.c[0] += b;
        self
    }
}
impl<const N: usize> Sub<f64> for Taylor<N> {
    type Output = Self;
    fn sub(mut self, b: f64) -> Self {
        self.c[0] -= b;
        self
    }
}
impl<const N: usize> Mul<f64> for Taylor<N> {
    type Output = Self;
    fn mul(mut self, b: f64) -> Self {
        self.c.iter_mut().for_each(|x| *x *= b);
        self
    }
}
impl<const N: usize> Div<f64> for Taylor<N> {
    type Output = Self;
    fn div(mut self, b: f64) -> Self {
        self.c.iter_mut().for_each(|x| *x /= b);
        self
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
            // A constant zero has a constant root; other series have no derivative there.
            y[k] = if x == 0.0 { 0.0 } else { recurrence::sqrt(x, y[0]) };
        }
        Self { c: y }
    }
    fn exp(self) -> Self {
        let mut y = [0.0; N];
        y[0] = elementary::exp(self.c[0]);
        for k in 1..N {
            y[k] = recurrence::along(self.weighted(&y, k), k);
        }
        Self { c: y }
    }
    fn ln(self) -> Self {
        self.integrate(elementary::ln(self.c[0]), slope::ln(self))
    }
    fn sin_cos(self) -> (Self, Self) {
        let (mut s, mut c) = ([0.0; N], [0.0; N]);
        (s[0], c[0]) = elementary::sin_cos(self.c[0]);
        for k in 1..N {
            (s[k], c[k]) = recurrence::sin_cos(self.weighted(&s, k), self.weighted(&c, k), k);
        }
        (Self { c: s }, Self { c })
    }
    fn asin(self) -> Self {
        self.integrate(elementary::asin(self.c[0]), slope::asin(self))
    }
    fn acos(self) -> Self {
        self.integrate(elementary::acos(self.c[0]), -slope::asin(self))
    }
    fn atan(self) -> Self {
        self.integrate(elementary::atan(self.c[0]), slope::atan(self))
    }
    fn atan2(self, other: Self) -> Self {
        // The branch follows from the values, the derivatives from the ratio that is at most one.
        let (y, x) = (self, other);
        let value = elementary::atan2(y.c[0], x.c[0]);
        let mut angle = if y.c[0].abs() <= x.c[0].abs() { (y / x).atan() } else { -(x / y).atan() };
        angle.c[0] = value;
        angle
    }
    fn pow(self, exponent: Self) -> Self {
        let constant = exponent.c[1..].iter().all(|&x| x == 0.0);
        let n = exponent.c[0];
        if constant && n.fract() == 0.0 && n.abs() <= 64.0 {
            return self.powi(n as i32);
        }
        if constant && n > 0.0 && self.c[0] == 0.0 {
            // The power of a series that begins with power p begins with power p n; derivatives from that order on do not exist there.
            let first = self.c.iter().position(|x| *x != 0.0).map_or(f64::INFINITY, |p| p as f64 * n);
            return Self { c: std::array::from_fn(|k| if (k as f64) < first { 0.0 } else { f64::NAN }) };
        }
        let mut y = (self.ln() * exponent).exp();
        y.c[0] = elementary::powf(self.c[0], n);
        y
    }
    /// The last coefficients are lost and replaced by zeros.
    fn diff(mut self, p: u32) -> Self {
        for _ in 0..p {
            for k in 0..N {
                self.c[k] = if k + 1 < N { (k + 1) as f64 * self.c[k + 1] } else { 0.0 };
            }
        }
        self
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
    fn powers_have_the_derivatives_at_zero_that_exist() {
        let power = |n: f64| Taylor::<4>::variable(0.0).powf(n).c;
        assert_eq!(power(3.5), [0.0; 4]);
        assert_eq!(power(2.5)[..3], [0.0; 3]);
        assert!(power(2.5)[3].is_nan() && power(0.5)[0] == 0.0 && power(0.5)[1].is_nan());
        assert_eq!(Taylor::<4>::of(0.0).powf(0.7).c, [0.0; 4]);
        assert_eq!((Taylor::<4>::variable(0.0) * Taylor::variable(0.0)).powf(1.7).c, [0.0; 4]);
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
    fn inverse_functions_undo_each_other() {
        let t = Taylor::<12>::variable(0.4);
        for w in [t.exp().ln(), t.sin().asin(), t.cos().acos(), t.tan().atan(), t.sinh().asinh(), t.tanh().atanh(), t.sqr().sqrt()] {
            for k in 0..10 {
                assert!((w.c[k] - t.c[k]).abs() < 1e-12, "{k}: {w:?}");
            }
        }
    }

    #[test]
    fn sine_of_the_variable_has_the_textbook_coefficients() {
        assert_eq!(Taylor::<4>::variable(0.0).sin().c, [0.0, 1.0, 0.0, -1.0 / 6.0]);
        assert_eq!(Taylor::<4>::variable(0.0).sin().diff(1).c, [1.0, 0.0, -0.5, 0.0]);
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
