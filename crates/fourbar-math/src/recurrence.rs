//! Coefficients of elementary functions from their differential equations.
//!
//! A series y of a function of a series x follows from sums of products of coefficients, all but the newest of which are known. The sums
//! are formed by the caller, which determines the storage of the coefficients: [`Taylor`](crate::Taylor) numbers of fixed order, or the
//! rows of a recorded program of any order in `fourbar-dae`. This module computes the coefficients from the sums. A weighted sum of x and z
//! is the sum of `j x_j z_(m-j)` over j = 1..=m.

/// Coefficient `m` of y with `y' = z x'`: the exponential with z = y, or one of a pair of functions with the other one as z.
#[inline(always)]
pub fn along(weighted_xz: f64, m: usize) -> f64 {
    weighted_xz / m as f64
}

/// Coefficients `m` of sine and cosine.
#[inline(always)]
pub fn sin_cos(weighted_x_sin: f64, weighted_x_cos: f64, m: usize) -> (f64, f64) {
    // A difference, so that the cosine of a constant has no negative zeros.
    (along(weighted_x_cos, m), along(0.0 - weighted_x_sin, m))
}

/// Coefficient `m` of y with `b y' = x'`, where the weighted sum of y and b contains a zero for the unknown coefficient: the logarithm with
/// b = x, the inverse tangent with b = 1 + x^2.
#[inline(always)]
pub fn against(x: f64, weighted_yb: f64, b_0: f64, m: usize) -> f64 {
    (x - weighted_yb / m as f64) / b_0
}

/// Coefficient `m` of the angle y of the point (u, v), `r y' = u v' - v u'` with r = u^2 + v^2. `turn` is the weighted sum of v and u minus
/// that of u and v; the weighted sum of y and r contains a zero for the unknown coefficient.
#[inline(always)]
pub fn atan2(turn: f64, weighted_yr: f64, r_0: f64, m: usize) -> f64 {
    (turn - weighted_yr) / (m as f64 * r_0)
}

/// Coefficient of the square root y of x: `rest` is the coefficient of x minus the products of known coefficients of y.
#[inline(always)]
pub fn sqrt(rest: f64, y_0: f64) -> f64 {
    rest / (2.0 * y_0)
}

/// Coefficient `m` of `y = x^c`, `x y' = c y x'`: `plain` is the sum of `x_j y_(m-j)` over j = 1..=m, `weighted_xy` the weighted one. Where x
/// begins at zero there are no more than c of them.
#[inline(always)]
pub fn pow(c: f64, weighted_xy: f64, plain: f64, x_0: f64, m: usize) -> f64 {
    let m = m as f64;
    if x_0 == 0.0 && m < c {
        return 0.0;
    }
    ((c + 1.0) * weighted_xy - m * plain) / (m * x_0)
}
