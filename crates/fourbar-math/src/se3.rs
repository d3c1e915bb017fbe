//! Rigid motions: exponential on SE(3), its differential and the inverse differential, accurate to rounding for every angle.
//!
//! A motion is a rotation `R` and a translation `p`; a screw `X = (v, w)` has a linear and an angular part, both in body axes.
//! Increments are body-fixed, `C exp(X)`, so the differential here is the one of the left trivialisation: the body-fixed twist of
//! `exp(X(t))` is `dexp(X) X'`, which is dexp at `-X` in [Mueller13, Eqs. (9), (14), (35)].
//!
//! The translation of [Mueller13, Eq. (7)] holds as printed for `|w| = 1` only; here it is `dexp_w v`, which needs no division by `w`. The
//! coefficients of Eq. (9) lose all digits at small angles. They are the function `d(s) = (1 - p/2 cot(p/2)) / p^2` of `s = p^2` and its
//! slope, and `d` is the sum over its poles, `2 / (4 pi^2 k^2 - s)`: positive terms, so nothing cancels. The first two poles are evaluated
//! directly, the rest is a power series that converges past the first pole, where dexp^-1 ends.

use crate::elementary;
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;

/// Below this squared angle five terms of a series are exact to rounding.
const SMALL: f64 = 1e-2;
/// Below this squared angle the closed forms of sine and cosine lose digits, and nine terms are exact.
const SERIES: f64 = 1.0;
/// The same for their slopes, with twelve terms.
const SLOPES: f64 = 4.0;

/// `(-1)^k / (m + 2 k)!`: sine and cosine with their first terms removed.
const fn factorials<const N: usize>(m: usize) -> [f64; N] {
    let (mut out, mut f, mut k, mut i) = ([0.0; N], 1.0, 0, 1);
    while i <= m {
        f *= i as f64;
        i += 1;
    }
    while k < N {
        out[k] = if k % 2 == 0 { 1.0 / f } else { -1.0 / f };
        f *= ((m + 2 * k + 1) * (m + 2 * k + 2)) as f64;
        k += 1;
    }
    out
}

const A: [f64; 9] = factorials(1);
const B: [f64; 12] = factorials(2);
const C: [f64; 12] = factorials(3);

/// The power series of `d`, `|B_2k| / (2k)!`, for small angles.
const D: [f64; 9] = [
    1.0 / 12.0,
    1.0 / 720.0,
    1.0 / 30240.0,
    1.0 / 1209600.0,
    1.0 / 47900160.0,
    5.284190138687493e-10,
    1.3382536530684679e-11,
    3.389680296322583e-13,
    8.586062056277845e-15,
];
/// Below this squared angle [`D`] is exact to rounding.
const BERNOULLI: f64 = 0.25;

/// The power series of `d` without its first two poles: `2 (zeta(2n) - 1 - 4^-n) / (4 pi^2)^n`, n from 1.
const REST: [f64; 18] = [
    0.020007593556872226,
    2.543812068862562e-05,
    5.584568390494415e-08,
    1.4088241574761048e-10,
    3.756716200215798e-13,
    1.028012537536046e-15,
    2.850022129213791e-18,
    7.955575410719845e-21,
    2.2289326645537012e-23,
    6.257471150805773e-26,
    1.758673049290968e-28,
    4.945846950057938e-31,
    1.391382678908088e-33,
    3.9150442526453145e-36,
    1.1017268914671419e-38,
    3.1005426917707373e-41,
    8.726023181210764e-44,
    2.455858682907356e-46,
];

#[inline]
fn horner(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |x, c| x * s + c)
}

/// Slope of a power series.
#[inline]
fn horner_slope(c: &[f64], s: f64) -> f64 {
    c.iter().enumerate().skip(1).rev().fold(0.0, |x, (k, c)| x * s + k as f64 * c)
}

/// `sin(p)/p`, `(1 - cos p)/p^2` and `(p - sin p)/p^3` from `s = p^2`.
#[inline]
pub(crate) fn rotation(s: f64) -> (f64, f64, f64) {
    if s < SMALL {
        (horner(&A[..5], s), horner(&B[..5], s), horner(&C[..5], s))
    } else if s < SERIES {
        (horner(&A, s), horner(&B[..9], s), horner(&C[..9], s))
    } else {
        let half = 0.5 * s.sqrt();
        let (sin, cos) = elementary::sin_cos(half);
        let x = sin / half;
        (x * cos, 0.5 * x * x, (1.0 - x * cos) / s)
    }
}

/// Slopes by `s` of the last two of [`rotation`].
fn rotation_slopes(s: f64) -> (f64, f64) {
    if s < SLOPES {
        return (horner_slope(&B, s), horner_slope(&C, s));
    }
    let (a, b, c) = rotation(s);
    ((0.5 * a - b) / s, (0.5 * b - 1.5 * c) / s)
}

/// `(1 - p/2 cot(p/2)) / p^2` from `s = p^2`.
#[inline]
pub(crate) fn inverse(s: f64) -> f64 {
    if s < SMALL {
        return horner(&D[..6], s);
    }
    if s < BERNOULLI {
        return horner(&D, s);
    }
    let [x, y] = poles(s);
    2.0 * (x + y) + horner(&REST, s)
}

/// The slope of [`inverse`] by `s`.
#[inline]
fn inverse_slope(s: f64) -> f64 {
    if s < SMALL {
        return horner_slope(&D[..7], s);
    }
    if s < BERNOULLI {
        return horner_slope(&D, s);
    }
    let [x, y] = poles(s);
    2.0 * (x * x + y * y) + horner_slope(&REST, s)
}

/// `1 / (4 pi^2 k^2 - s)` for k = 1, 2, as a product, so that the distance from the pole is accurate.
#[inline]
fn poles(s: f64) -> [f64; 2] {
    let (p, turn) = (s.sqrt(), std::f64::consts::TAU);
    [1.0 / ((turn - p) * (turn + p)), 1.0 / ((2.0 * turn - p) * (2.0 * turn + p))]
}

/// The rigid motion of a screw: rotation and translation.
#[inline]
pub fn exp(v: &V, w: &V) -> (Matrix3<f64>, V) {
    let (a, b, c) = rotation(w.norm_squared());
    let wv = w.cross(v);
    (rodrigues(w, a, b), v + wv * b + w.cross(&wv) * c)
}

/// `I + a tilde(w) + b tilde(w)^2`.
#[inline]
pub(crate) fn rodrigues(w: &V, a: f64, b: f64) -> Matrix3<f64> {
    let (x, y, z) = (w.x, w.y, w.z);
    let (bx, by, bz) = (b * x, b * y, b * z);
    let (xx, yy, zz, xy, xz, yz) = (bx * x, by * y, bz * z, bx * y, bx * z, by * z);
    let (ax, ay, az) = (a * x, a * y, a * z);
    Matrix3::new(1.0 - yy - zz, xy - az, xz + ay, xy + az, 1.0 - xx - zz, yz - ax, xz - ay, yz + ax, 1.0 - xx - yy)
}

/// `I + k tilde(w) + l tilde(w)^2` on a screw, with `slope` the change of `l` and `change` that of `k` along `v`: what a function of the
/// adjoint of `(v, w)` does.
#[inline]
fn spread(v: &V, w: &V, u: &V, y: &V, k: f64, l: f64, change: f64, slope: f64) -> (V, V) {
    let (wu, wy, vy) = (w.cross(u), w.cross(y), v.cross(y));
    let wwy = w.cross(&wy);
    let linear = u + (wu + vy) * k + (w.cross(&(wu + vy)) + v.cross(&wy)) * l + wy * change + wwy * slope;
    (linear, y + wy * k + wwy * l)
}

/// Body-fixed twist of `exp(X(t))` where `X = (v, w)` changes at the rate `(u, y)`.
pub fn dexp(v: &V, w: &V, u: &V, y: &V) -> (V, V) {
    let s = w.norm_squared();
    let (_, b, c) = rotation(s);
    let (b1, c1) = rotation_slopes(s);
    let turn = 2.0 * w.dot(v);
    spread(v, w, u, y, -b, c, -b1 * turn, c1 * turn)
}

/// The inverse of [`dexp`]: the rate of `X` at which `exp(X)` moves with the body-fixed twist `(u, y)`. It has a pole at a full turn.
#[inline]
pub fn dexp_inv(v: &V, w: &V, u: &V, y: &V) -> (V, V) {
    let s = w.norm_squared();
    spread(v, w, u, y, 0.5, inverse(s), 0.0, 2.0 * w.dot(v) * inverse_slope(s))
}

/// The inverse of the tangent operator of rotations on a vector, `so3::tangent_inv(w) y`.
#[inline]
pub fn turn_inv(w: &V, y: &V) -> V {
    let wy = w.cross(y);
    y + wy * 0.5 + w.cross(&wy) * inverse(w.norm_squared())
}

#[cfg(test)]
mod tests;
