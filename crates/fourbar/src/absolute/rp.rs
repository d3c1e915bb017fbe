//! Euler parameters, rp [Kissel21, sections 2.2 and 3.2].
//!
//! A rotation is `A(p / |p|)` with four numbers `p` and the constraint `p.p = 1`. With the matrix `G(p)` (the paper's `B^p`),
//! `G p = 0`, `G G^T = N I` and `N = p.p`,
//!
//! ```text
//! omega_bar = (2/N) G p_dot        omega_bar_dot = (2/N) G p_ddot - (2/N) (p.p_dot) omega_bar
//! ```
//! also hold off the unit sphere. The paper's `A(p)` is not normalised; its multiplier of `p.p = 1` balances joint forces along `p`. With
//! the normalised matrix there are no forces along `p`: multiplying the equations of motion in `p` by `p^T` leaves `lambda_p = 0`, and the
//! row of the norm separates from the others. It is solved for its one unknown, the length of `p`, at every iterate: Newton for the rest
//! then runs on the sphere, with `dp = G^T theta_bar / 2`.

use super::chart::{Chart, Rate, Weights, Wide};
use crate::state::Twist;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3, Vector4};

/// The chart of Euler parameters.
#[derive(Clone, Copy, Debug)]
pub struct Rp;

/// `G(p) q`.
#[inline]
pub fn G(p: &Vector4<f64>, q: &Vector4<f64>) -> Vector3<f64> {
    Vector3::new(
        -p[1] * q[0] + p[0] * q[1] + p[3] * q[2] - p[2] * q[3],
        -p[2] * q[0] - p[3] * q[1] + p[0] * q[2] + p[1] * q[3],
        -p[3] * q[0] + p[2] * q[1] - p[1] * q[2] + p[0] * q[3],
    )
}

/// `G(p)^T u`.
#[inline]
pub fn G_tr(p: &Vector4<f64>, u: &Vector3<f64>) -> Vector4<f64> {
    Vector4::new(
        -p[1] * u[0] - p[2] * u[1] - p[3] * u[2],
        p[0] * u[0] - p[3] * u[1] + p[2] * u[2],
        p[3] * u[0] + p[0] * u[1] - p[1] * u[2],
        -p[2] * u[0] + p[1] * u[1] + p[0] * u[2],
    )
}

/// `G(a) G(b)^T`.
fn product(a: &Vector4<f64>, b: &Vector4<f64>) -> Matrix3<f64> {
    let column = |e: Vector3<f64>| G(a, &G_tr(b, &e));
    Matrix3::from_columns(&[column(Vector3::x()), column(Vector3::y()), column(Vector3::z())])
}

impl Chart for Rp {
    const NAME: &'static str = "rp";
    type Point = Vector4<f64>;
    type Rate = Wide;
    const OWN: bool = true;
    // A rotation by an angle moves p by half of it.

    fn enter(A: &Matrix3<f64>, _w: &Vector3<f64>) -> Self::Point {
        Vector4::from(so3::quaternion(A))
    }
    #[inline]
    fn place(from: &Self::Point, _A: &Matrix3<f64>, d: &Wide, to: &mut Self::Point) -> Matrix3<f64> {
        *to = from + d.w;
        so3::from_quaternion(&[to[0], to[1], to[2], to[3]])
    }
    #[inline]
    fn twist(x: &Self::Point, x_dot: &Wide) -> Twist {
        Twist { v: x_dot.v, w: G(x, &x_dot.w) * (2.0 / x.norm_squared()) }
    }
    #[inline]
    fn twist_dot(x: &Self::Point, x_dot: &Wide, x_ddot: &Wide) -> Twist {
        let k = 2.0 / x.norm_squared();
        let w = G(x, &x_dot.w) * k;
        Twist { v: x_ddot.v, w: G(x, &x_ddot.w) * k - w * (k * x.dot(&x_dot.w)) }
    }
    #[inline]
    fn rate(x: &Self::Point, twist: &Twist) -> Wide {
        Wide { v: twist.v, w: G_tr(x, &twist.w) * 0.5 }
    }
    fn second(x: &Self::Point, x_dot: &Wide, twist_dot: &Twist) -> Wide {
        let N = x.norm_squared();
        let w = G(x, &x_dot.w) * (2.0 / N);
        let along = 2.0 * x.dot(&x_dot.w) / N;
        // The length of p is constant: p.p_ddot = -p_dot.p_dot.
        Wide { v: twist_dot.v, w: G_tr(x, &(twist_dot.w + w * along)) * 0.5 - x * (x_dot.w.norm_squared() / N) }
    }
    #[inline]
    fn increment(x: &Self::Point, _psi: &Wide, dq: &Twist) -> Wide {
        Wide { v: dq.v, w: G_tr(x, &dq.w) * 0.5 }
    }
    fn slopes(x: &Self::Point, _psi: &Wide, x_dot: &Wide, x_ddot: &Wide, w: Weights) -> (Matrix3<f64>, Matrix3<f64>) {
        // Along dp = G^T theta / 2 the length of p is constant, and G(dp) q = -G(q) dp.
        let N = x.norm_squared();
        let omega = G(x, &x_dot.w) * (2.0 / N);
        let (k_v, k_a) = (w.h / w.b_v, w.h * w.h / w.b_a);
        let V = Matrix3::identity() - product(&x_dot.w, x) * (k_v / N);
        let V_dot = Matrix3::identity()
            - (product(&x_ddot.w, x) * (1.0 / N) + omega * omega.transpose() * 0.5 + V * (2.0 * x.dot(&x_dot.w) / (N * k_v))) * k_a;
        (V, V_dot)
    }
    #[inline]
    fn turn(_x: &Self::Point, psi: &Wide) -> f64 {
        2.0 * psi.w.norm()
    }
    #[inline]
    fn twists<'a>(_rates: &'a [Wide], mapped: &'a [Twist]) -> &'a [Twist] {
        mapped
    }
    #[inline]
    fn twists_mut<'a>(_rates: &'a mut [Wide], mapped: &'a mut [Twist]) -> &'a mut [Twist] {
        mapped
    }
    fn write(x: &Self::Point, out: &mut Vec<f64>) {
        out.extend(x.iter());
    }
    fn read(x: &[f64]) -> Option<(Self::Point, usize)> {
        Some((Vector4::from_column_slice(x.get(..4)?), 4))
    }
    #[inline]
    fn own(x: &mut Self::Point) -> Wide {
        let w = *x * (1.0 / x.norm() - 1.0);
        *x += w;
        Wide { w, ..Wide::zero() }
    }
    #[inline]
    fn across(x: &Self::Point, d: &Wide) -> Wide {
        Wide { w: x * (x.dot(&d.w) / x.norm_squared()), ..Wide::zero() }
    }
}
