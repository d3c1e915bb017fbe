//! ZXZ Euler angles, reps [Kissel21, sections 2.3 and 3.3].
//!
//! A rotation is `A = A(eps) R` with `eps = (phi, theta, psi)` and a constant `R` per body, at first the identity; with the paper's
//! velocity map `B^eps` the twist is `omega_bar = R^T B^eps eps_dot`. At `theta = 0` and `pi` the map is singular: two of the three angles
//! turn about the same axis. A change of `R` avoids this: it replaces the body's z axis by another one, so that `theta` is near a right
//! angle again. The chosen axis never comes near the world's z axis in a steady rotation, so that bodies that spin about a fixed axis
//! change their chart at most once.

use super::chart::{Chart, Jet, Weights};
use crate::state::Twist;
use fourbar_math::elementary;
use fourbar_math::{Scalar, Taylor, so3};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// Below this sine of theta the chart of a body is changed.
pub const NEAR: f64 = 0.5;

/// The chart of ZXZ Euler angles.
#[derive(Clone, Copy, Debug)]
pub struct Reps;

/// Angles with their reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// phi, theta, psi.
    pub eps: Vector3<f64>,
    /// Constant rotation of the body's reference frame: `A = A(eps) R`.
    pub R: Matrix3<f64>,
    /// Sine and cosine of theta and of psi, used in every map.
    theta: (f64, f64),
    psi: (f64, f64),
}

impl Angles {
    /// Angles of the rotation `A` in the reference `R`.
    pub fn of(A: &Matrix3<f64>, R: &Matrix3<f64>) -> Self {
        let eps = angles(&(A * R.transpose()));
        Self { eps, R: *R, theta: elementary::sin_cos(eps[1]), psi: elementary::sin_cos(eps[2]) }
    }

    /// The rotation.
    pub fn rotation(&self) -> Matrix3<f64> {
        zxz(elementary::sin_cos(self.eps[0]), self.theta, self.psi) * self.R
    }

    /// `B^eps u` [Kissel21, Eq. (43b)].
    #[inline]
    fn B(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let ((st, ct), (sp, cp)) = (self.theta, self.psi);
        Vector3::new(u[0] * sp * st + u[1] * cp, u[0] * cp * st - u[1] * sp, u[0] * ct + u[2])
    }

    /// The inverse of [`Angles::B`].
    #[inline]
    fn B_inv(&self, w: &Vector3<f64>) -> Vector3<f64> {
        let ((st, ct), (sp, cp)) = (self.theta, self.psi);
        let phi = (sp * w[0] + cp * w[1]) / st;
        Vector3::new(phi, cp * w[0] - sp * w[1], w[2] - ct * phi)
    }

    /// `B_dot eps_dot`.
    #[inline]
    fn bias(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let ((st, ct), (sp, cp)) = (self.theta, self.psi);
        let [f, t, s] = [u[0], u[1], u[2]];
        Vector3::new(f * (s * cp * st + t * sp * ct) - t * s * sp, f * (t * cp * ct - s * sp * st) - t * s * cp, -f * t * st)
    }

    /// `d(B u)/d eps` at fixed `u`.
    fn B_slope(&self, u: &Vector3<f64>) -> Matrix3<f64> {
        let ((st, ct), (sp, cp)) = (self.theta, self.psi);
        let [f, t] = [u[0], u[1]];
        Matrix3::from_columns(&[
            Vector3::zeros(),
            Vector3::new(f * sp * ct, f * cp * ct, -f * st),
            Vector3::new(f * cp * st - t * sp, -f * sp * st - t * cp, 0.0),
        ])
    }

    /// Derivatives of [`Angles::bias`] by the angles and by their rates.
    fn bias_slopes(&self, u: &Vector3<f64>) -> [Matrix3<f64>; 2] {
        let ((st, ct), (sp, cp)) = (self.theta, self.psi);
        let [f, t, s] = [u[0], u[1], u[2]];
        let by_angles = [
            Vector3::zeros(),
            Vector3::new(f * (s * cp * ct - t * sp * st), -f * (s * sp * ct + t * cp * st), -f * t * ct),
            Vector3::new(f * (t * cp * ct - s * sp * st) - t * s * cp, t * s * sp - f * (s * cp * st + t * sp * ct), 0.0),
        ];
        let by_rates = [
            Vector3::new(s * cp * st + t * sp * ct, t * cp * ct - s * sp * st, -t * st),
            Vector3::new(f * sp * ct - s * sp, f * cp * ct - s * cp, -f * st),
            Vector3::new(f * cp * st - t * sp, -f * sp * st - t * cp, 0.0),
        ];
        [Matrix3::from_columns(&by_angles), Matrix3::from_columns(&by_rates)]
    }
}

/// `A(eps)` from sines and cosines [Kissel21, section 2.3].
fn zxz<S: Scalar>((sf, cf): (S, S), (st, ct): (S, S), (sp, cp): (S, S)) -> Matrix3<S> {
    Matrix3::new(
        cf * cp - sf * ct * sp,
        -(cf * sp) - sf * ct * cp,
        sf * st,
        sf * cp + cf * ct * sp,
        cf * ct * cp - sf * sp,
        -(cf * st),
        st * sp,
        st * cp,
        ct,
    )
}

/// The angles of a rotation, theta between 0 and pi.
fn angles<S: Scalar>(A: &Matrix3<S>) -> Vector3<S> {
    let (x, y) = (A[(0, 2)], A[(1, 2)]);
    let sine = (x * x + y * y).sqrt();
    Vector3::new(x.atan2(-y), sine.atan2(A[(2, 2)]), A[(2, 0)].atan2(A[(2, 1)]))
}

/// The reference in which a body with rotation `A` and angular velocity `w` (body axes) stays away from the singularity.
fn reference(A: &Matrix3<f64>, w: &Vector3<f64>) -> Matrix3<f64> {
    let speed = w.norm();
    let z = Vector3::z();
    let level = |a: Vector3<f64>| {
        let h = Vector3::new(a.x, a.y, 0.0);
        if h.norm() > 1e-3 { h.normalize() } else { Vector3::x() }
    };
    // The axis, in the world, that replaces the body's z axis. For a rotation about a nearly level axis the best choice is that axis
    // itself; for one about an upright axis, a level axis across it.
    let c = if speed < 1e-12 {
        level(A * Vector3::x())
    } else {
        let n = A * w / speed;
        if n.z.abs() <= FRAC_1_SQRT_2 { n } else { level(z.cross(&n)) }
    };
    // A(eps) has the columns x, y, c with x level across c: phi and theta of c, psi = 0.
    let theta = elementary::acos(c.z.clamp(-1.0, 1.0));
    let phi = elementary::atan2(c.x, -c.y);
    let new = zxz(elementary::sin_cos(phi), elementary::sin_cos(theta), (0.0, 1.0));
    so3::orthonormalise(&(new.transpose() * A))
}

impl Chart for Reps {
    const NAME: &'static str = "reps";
    type Point = Angles;
    type Rate = Twist;
    const SINGULAR: bool = true;

    fn enter(A: &Matrix3<f64>, w: &Vector3<f64>) -> Angles {
        let plain = Self::plain(A);
        if plain.theta.0 >= NEAR { plain } else { Self::escape(A, w) }
    }
    fn plain(A: &Matrix3<f64>) -> Angles {
        Angles::of(A, &Matrix3::identity())
    }
    fn escape(A: &Matrix3<f64>, w: &Vector3<f64>) -> Angles {
        Angles::of(A, &reference(A, w))
    }
    #[inline]
    fn place(from: &Angles, _A: &Matrix3<f64>, d: &Twist, to: &mut Angles) -> Matrix3<f64> {
        to.eps = from.eps + d.w;
        to.R = from.R;
        to.theta = elementary::sin_cos(to.eps[1]);
        to.psi = elementary::sin_cos(to.eps[2]);
        to.rotation()
    }
    #[inline]
    fn twist(x: &Angles, x_dot: &Twist) -> Twist {
        Twist { v: x_dot.v, w: x.R.tr_mul(&x.B(&x_dot.w)) }
    }
    #[inline]
    fn twist_dot(x: &Angles, x_dot: &Twist, x_ddot: &Twist) -> Twist {
        Twist { v: x_ddot.v, w: x.R.tr_mul(&(x.B(&x_ddot.w) + x.bias(&x_dot.w))) }
    }
    #[inline]
    fn rate(x: &Angles, twist: &Twist) -> Twist {
        Twist { v: twist.v, w: x.B_inv(&(x.R * twist.w)) }
    }
    #[inline]
    fn second(x: &Angles, x_dot: &Twist, twist_dot: &Twist) -> Twist {
        Twist { v: twist_dot.v, w: x.B_inv(&(x.R * twist_dot.w - x.bias(&x_dot.w))) }
    }
    #[inline]
    fn increment(x: &Angles, _psi: &Twist, dq: &Twist) -> Twist {
        Self::rate(x, dq)
    }
    fn slopes(x: &Angles, _psi: &Twist, x_dot: &Twist, x_ddot: &Twist, w: Weights) -> (Matrix3<f64>, Matrix3<f64>) {
        let (k_v, k_a) = (w.h / w.b_v, w.h * w.h / w.b_a);
        let [by_angles, by_rates] = x.bias_slopes(&x_dot.w);
        // Columns of B^-1 R: increments of the angles for unit body increments.
        let turned = x.R;
        let inverse = Matrix3::from_columns(&[0, 1, 2].map(|k| x.B_inv(&turned.column(k).into_owned())));
        let V = Matrix3::identity() + x.R.tr_mul(&(x.B_slope(&x_dot.w) * inverse)) * k_v;
        let rest = x.B_slope(&x_ddot.w) + by_angles + by_rates * (1.0 / k_v);
        let V_dot = Matrix3::identity() + x.R.tr_mul(&(rest * inverse)) * k_a;
        (V, V_dot)
    }
    #[inline]
    fn turn(x: &Angles, psi: &Twist) -> f64 {
        x.B(&psi.w).norm()
    }
    #[inline]
    fn twists<'a>(_rates: &'a [Twist], mapped: &'a [Twist]) -> &'a [Twist] {
        mapped
    }
    #[inline]
    fn twists_mut<'a>(_rates: &'a mut [Twist], mapped: &'a mut [Twist]) -> &'a mut [Twist] {
        mapped
    }
    fn write(x: &Angles, out: &mut Vec<f64>) {
        out.extend(x.eps.iter().chain(x.R.iter()));
    }
    fn read(x: &[f64]) -> Option<(Angles, usize)> {
        let eps = Vector3::from_column_slice(x.get(..3)?);
        let R = Matrix3::from_column_slice(x.get(3..12)?);
        Some((Angles { eps, R, theta: elementary::sin_cos(eps[1]), psi: elementary::sin_cos(eps[2]) }, 12))
    }
    #[inline]
    fn distance(x: &Angles) -> f64 {
        x.theta.0.abs()
    }
    fn carry(from: &Angles, to: &Angles, jet: &Jet<Twist>) -> Jet<Twist> {
        // The rotation as a Taylor series in time, expressed in the other chart.
        let series = |k: usize| {
            let start = from.eps[k] + jet[0].w[k];
            Taylor::<4> { c: [start, jet[1].w[k], jet[2].w[k] / 2.0, jet[3].w[k] / 6.0] }.sin_cos()
        };
        let R = (from.R * to.R.transpose()).map(Taylor::<4>::of);
        let new = angles(&(zxz(series(0), series(1), series(2)) * R));
        let mut out = *jet;
        for (d, o) in out.iter_mut().enumerate() {
            o.w = new.map(|x| x.derivative(d));
        }
        for k in 0..3 {
            let d = out[0].w[k] - to.eps[k];
            out[0].w[k] = d - TAU * (d / TAU).round();
        }
        out
    }
}
