//! Checked against the series of the definitions, summed in double-double numbers (31 digits).

use super::*;
use std::f64::consts::{PI, TAU};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number as the sum of two, the second below the rounding of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Dd(f64, f64);

fn sum(a: f64, b: f64) -> Dd {
    let s = a + b;
    let t = s - a;
    Dd(s, (a - (s - t)) + (b - t))
}

impl Add for Dd {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let (h, l) = (sum(self.0, o.0), sum(self.1, o.1));
        let x = sum(h.0, h.1 + l.0);
        sum(x.0, x.1 + l.1)
    }
}
impl Neg for Dd {
    type Output = Self;
    fn neg(self) -> Self {
        Dd(-self.0, -self.1)
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
        let h = self.0 * o.0;
        let l = self.0.mul_add(o.0, -h) + (self.0 * o.1 + self.1 * o.0);
        sum(h, l)
    }
}
impl Div for Dd {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = Dd(self.0 / o.0, 0.0);
        let r = self - o * q;
        let q = q + Dd(r.0 / o.0, 0.0);
        let r = self - o * q;
        q + Dd(r.0 / o.0, 0.0)
    }
}

const ZERO: Dd = Dd(0.0, 0.0);

type M<const N: usize> = [[Dd; N]; N];

fn identity<const N: usize>() -> M<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { Dd(1.0, 0.0) } else { ZERO }))
}

fn product<const N: usize>(a: &M<N>, b: &M<N>) -> M<N> {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..N).fold(ZERO, |s, k| s + a[i][k] * b[k][j])))
}

/// `sum_k X^k / (k + first)!`, until terms no longer change the sum.
fn series<const N: usize>(x: &M<N>, first: usize) -> M<N> {
    let (mut out, mut term) = (identity(), identity());
    for k in 1..120 {
        let divisor = Dd((k + first) as f64, 0.0);
        term = product(&term, x).map(|row| row.map(|t| t / divisor));
        for (o, t) in out.iter_mut().flatten().zip(term.iter().flatten()) {
            *o = *o + *t;
        }
    }
    out
}

/// Inverse by elimination with pivots.
fn inverted<const N: usize>(a: &M<N>) -> M<N> {
    let (mut a, mut b) = (*a, identity());
    for c in 0..N {
        let p = (c..N).max_by(|&i, &j| a[i][c].0.abs().total_cmp(&a[j][c].0.abs())).expect("rows");
        a.swap(c, p);
        b.swap(c, p);
        for i in (0..N).filter(|&i| i != c) {
            let f = a[i][c] / a[c][c];
            for j in 0..N {
                a[i][j] = a[i][j] - f * a[c][j];
                b[i][j] = b[i][j] - f * b[c][j];
            }
        }
        let f = a[c][c];
        for j in 0..N {
            a[c][j] = a[c][j] / f;
            b[c][j] = b[c][j] / f;
        }
    }
    b
}

fn tilde_dd(w: &V) -> [[f64; 3]; 3] {
    [[0.0, -w.z, w.y], [w.z, 0.0, -w.x], [-w.y, w.x, 0.0]]
}

/// The negative adjoint of a screw, linear part first.
fn minus_ad(v: &V, w: &V) -> M<6> {
    let (tw, tv) = (tilde_dd(w), tilde_dd(v));
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (i / 3, j / 3) {
            (0, 0) | (1, 1) => Dd(-tw[i % 3][j % 3], 0.0),
            (0, 1) => Dd(-tv[i % 3][j % 3], 0.0),
            _ => ZERO,
        })
    })
}

/// The matrix of a linear map of screws.
fn matrix(f: impl Fn(&V, &V) -> (V, V)) -> [[f64; 6]; 6] {
    let mut out = [[0.0; 6]; 6];
    for j in 0..6 {
        let (mut u, mut y) = (V::zeros(), V::zeros());
        if j < 3 {
            u[j] = 1.0
        } else {
            y[j - 3] = 1.0
        }
        let (a, b) = f(&u, &y);
        for i in 0..3 {
            out[i][j] = a[i];
            out[3 + i][j] = b[i];
        }
    }
    out
}

/// Largest error of a 3 x 3 block relative to its largest entry.
fn block_error(ours: &[[f64; 6]; 6], exact: &M<6>, i0: usize, j0: usize) -> f64 {
    let (mut error, mut size) = (0.0_f64, 0.0_f64);
    for i in i0..i0 + 3 {
        for j in j0..j0 + 3 {
            error = error.max((exact[i][j] - Dd(ours[i][j], 0.0)).0.abs());
            size = size.max(exact[i][j].0.abs());
        }
    }
    if error == 0.0 { 0.0 } else { error / size }
}

/// Screws of angles from zero to nearly a full turn, on both sides of each change of formula.
fn screws() -> Vec<(V, V)> {
    let axes = [V::new(0.3, -0.5, 0.81).normalize(), V::new(0.0, 0.0, 1.0), V::new(-0.9, 0.1, 0.02).normalize()];
    let mut angles = vec![0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.0999, 0.1001, 0.3, 0.4999, 0.5001, 0.9999, 1.0001];
    angles.extend([1.9999, 2.0001, 2.5, 3.0, PI - 1e-9, PI, PI + 1e-9, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0, 6.1, 6.2]);
    angles.extend((1..60).map(|k| 0.1037 * k as f64));
    let linear = [V::new(0.7, -0.2, 0.4), V::new(-1e-3, 2e-3, 5e-4), V::new(20.0, 3.0, -11.0), V::new(0.0, 0.0, 1.0)];
    let mut list = Vec::new();
    for axis in axes {
        for angle in &angles {
            list.extend(linear.map(|v| (v, axis * *angle)));
        }
    }
    list
}

/// Rounding of the angle is amplified by the pole at a full turn.
fn allowance(w: &V) -> f64 {
    1e-14 * (1.0 + 0.1 / (TAU - w.norm()))
}

#[test]
fn the_helper_carries_thirty_digits() {
    let third = Dd(1.0, 0.0) / Dd(3.0, 0.0);
    let r = third * Dd(3.0, 0.0) - Dd(1.0, 0.0);
    assert!(r.0.abs() < 1e-31 && third.1 != 0.0);
    // e from the series, against its known digits.
    let e = series(&[[Dd(1.0, 0.0)]], 0)[0][0];
    assert!((e - Dd(std::f64::consts::E, 1.4456468917292502e-16)).0.abs() < 1e-30);
}

#[test]
fn the_exponential_is_its_series() {
    for (v, w) in screws() {
        let tw = tilde_dd(&w);
        let x: M<4> = std::array::from_fn(|i| {
            std::array::from_fn(|j| match (i, j) {
                (3, _) => ZERO,
                (_, 3) => Dd(v[i], 0.0),
                _ => Dd(tw[i][j], 0.0),
            })
        });
        let exact = series(&x, 0);
        let (R, p) = exp(&v, &w);
        let (mut rotation, mut translation) = (0.0_f64, 0.0_f64);
        for i in 0..3 {
            translation = translation.max((exact[i][3] - Dd(p[i], 0.0)).0.abs());
            for j in 0..3 {
                rotation = rotation.max((exact[i][j] - Dd(R[(i, j)], 0.0)).0.abs());
            }
        }
        // Translations may vanish near a full turn; their size is that of the linear part.
        assert!(rotation < 1e-14 && translation < 1e-14 * v.amax(), "{w} {v}: {rotation:.1e} {translation:.1e}");
    }
}

#[test]
fn the_differential_is_its_series_and_so_is_its_inverse() {
    for (v, w) in screws() {
        let exact = series(&minus_ad(&v, &w), 1);
        let inverse = inverted(&exact);
        let (ours, ours_inverse) = (matrix(|u, y| dexp(&v, &w, u, y)), matrix(|u, y| dexp_inv(&v, &w, u, y)));
        for (i, j) in [(0, 0), (3, 3), (0, 3)] {
            let (e, e_inverse) = (block_error(&ours, &exact, i, j), block_error(&ours_inverse, &inverse, i, j));
            assert!(e < 1e-14, "dexp at {} rad, block {i} {j}: {e:.1e}", w.norm());
            assert!(e_inverse < allowance(&w), "inverse at {} rad, block {i} {j}: {e_inverse:.1e}", w.norm());
        }
        let rotation = matrix(|u, _| (V::zeros(), turn_inv(&w, u)));
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!(rotation[3 + i][j], ours_inverse[3 + i][3 + j]);
            }
        }
    }
}

#[test]
fn the_printed_translation_holds_for_unit_rotations_only() {
    // [Mueller13, Eq. (7)] as printed: (I - exp w)(w x v) + h w with h = w.v / |w|.
    let printed = |v: &V, w: &V| {
        let (R, _) = exp(v, w);
        (Matrix3::identity() - R) * w.cross(v) + w * (w.dot(v) / w.norm())
    };
    let (v, axis) = (V::new(0.7, -0.2, 0.4), V::new(0.36, 0.48, 0.8));
    let off = |w: V| (printed(&v, &w) - exp(&v, &w).1).norm();
    assert!(off(axis) < 1e-15 && off(axis * 0.5) > 0.1 && off(axis * 2.0) > 0.1);
    // In general it is divided by |w|^2, with the pitch w.v / |w|^2.
    for p in [0.5, 2.0, 4.0] {
        let w = axis * p;
        let (R, t) = exp(&v, &w);
        let general = ((Matrix3::identity() - R) * w.cross(&v) + w * w.dot(&v)) / w.norm_squared();
        assert!((general - t).norm() < 1e-14);
    }
}

#[test]
fn the_printed_inverse_is_right_and_loses_its_digits_at_small_angles() {
    // The coefficients of ad^2 and ad^4 in [Mueller13, Eq. (9)] are d - s d' and -d', because (ad^2 + s)^2 ad = 0.
    let square = |p: f64| 2.0 / (p * p) + (p + 3.0 * p.sin()) / (4.0 * p * (p.cos() - 1.0));
    let fourth = |p: f64| 1.0 / p.powi(4) + (p + p.sin()) / (4.0 * p.powi(3) * (p.cos() - 1.0));
    for p in [2.0_f64, 3.0, 5.0] {
        let s = p * p;
        // Rounding of the printed form: terms of size 1 cancel to 1e-2.
        assert!((square(p) - (inverse(s) - s * inverse_slope(s))).abs() < 1e-15 && (fourth(p) + inverse_slope(s)).abs() < 1e-15);
    }
    assert!((fourth(1e-3) + inverse_slope(1e-6)).abs() > 1e-5 && (inverse_slope(0.0) - 1.0 / 720.0).abs() < 1e-18);
}
