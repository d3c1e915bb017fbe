//! The three representations of a rotation in Kissel21: the matrix itself, Euler parameters, Euler angles.
//!
//! All formulas of a formulation follow from four functions of a body-fixed vector `s`: its world direction `u = A s`; the derivative `P =
//! du/dx`; its second time derivative without accelerations; and the derivative of `P^T w`. For rA these are Eqs. (13), for rp `B(p, s)` of
//! Eq. (23), for r-epsilon the matrices of Eq. (28).

use fourbar_math::Scalar;
use fourbar_math::so3::{quaternion, tilde};
use nalgebra::{Matrix3, SMatrix, SVector, Vector3, Vector4};

pub type V<S> = Vector3<S>;
pub type M<S> = Matrix3<S>;

/// Rotational equations of motion of a body with their derivatives.
pub struct Turning<S: Scalar, const X: usize> {
    pub residual: SVector<S, X>,
    pub by_x: SMatrix<S, X, X>,
    pub by_rate: SMatrix<S, X, X>,
    pub by_acceleration: SMatrix<S, X, X>,
}

/// A representation of rotations with `X` rates.
pub trait Rotation<const X: usize>: Copy + 'static {
    const NAME: &'static str;
    /// Whether a separate row keeps the coordinates at unit norm.
    const NORM: bool;
    /// Whether the programs of the paper have the gyroscopic terms in the matrix that is kept.
    const GYROSCOPIC: bool = false;
    /// The coordinates of a rotation.
    type Point<S: Scalar>: Copy;
    /// Data computed once for a body at a pose.
    type Frame<S: Scalar>: Copy;
    /// The same for second derivatives with respect to the coordinates.
    type Bend<S: Scalar>: Copy;
    /// The same for second time derivatives.
    type Spin<S: Scalar>: Copy;

    fn enter<S: Scalar>(A: &M<f64>) -> Self::Point<S>;
    fn rate(x: &Self::Point<f64>, w: &V<f64>) -> SVector<f64, X>;
    fn frame<S: Scalar>(x: &Self::Point<S>) -> Self::Frame<S>;
    fn bend<S: Scalar>(f: &Self::Frame<S>) -> Self::Bend<S>;
    fn spin<S: Scalar>(f: &Self::Frame<S>, rate: &SVector<S, X>) -> Self::Spin<S>;
    fn matrix<S: Scalar>(f: &Self::Frame<S>) -> M<S>;
    /// `d(A s)/dx`.
    fn slope<S: Scalar>(f: &Self::Frame<S>, s: &V<S>) -> SMatrix<S, 3, X>;
    /// The second time derivative of `A s` for vanishing second derivatives of the coordinates.
    fn quadratic<S: Scalar>(f: &Self::Spin<S>, s: &V<S>) -> V<S>;
    /// `d(P^T w)/dx` for a world vector `w`.
    fn curvature<S: Scalar>(f: &Self::Frame<S>, bend: &Self::Bend<S>, s: &V<S>, w: &V<S>) -> SMatrix<S, X, X>;
    /// The equations of rotation without reactions and torques, and their derivatives.
    fn turning<S: Scalar>(f: &Self::Frame<S>, rate: &SVector<S, X>, acceleration: &SVector<S, X>, J: &M<S>) -> Turning<S, X>;
    /// The coordinates moved by an increment.
    fn moved<S: Scalar>(x: &Self::Point<S>, d: &SVector<S, X>) -> Self::Point<S>;
    /// The values of the coordinates, if a norm row needs them.
    fn values<S: Scalar>(x: &Self::Point<S>) -> SVector<S, X>;
}

/// A constant matrix in another scalar.
pub fn lift<S: Scalar>(a: &M<f64>) -> M<S> {
    a.map(S::of)
}

/// Rotation matrices.
#[derive(Clone, Copy, Debug)]
pub struct Matrices;

/// Rodrigues's formula, Eq. (5), with its limit at no rotation.
fn exp<S: Scalar>(psi: &V<S>) -> M<S> {
    let square = psi.dot(psi);
    let (a, b) = if square.value() < 1e-10 {
        (-square / 6.0 + 1.0, -square / 24.0 + 0.5)
    } else {
        let angle = square.sqrt();
        let (s, c) = angle.sin_cos();
        (s / angle, (-c + 1.0) / square)
    };
    let t = tilde(psi);
    M::identity() + t * a + t * t * b
}

impl Rotation<3> for Matrices {
    const NAME: &'static str = "rA";
    const NORM: bool = false;
    const GYROSCOPIC: bool = true;
    type Point<S: Scalar> = M<S>;
    type Frame<S: Scalar> = M<S>;
    type Bend<S: Scalar> = M<S>;
    type Spin<S: Scalar> = M<S>;

    fn enter<S: Scalar>(A: &M<f64>) -> M<S> {
        lift(A)
    }
    fn rate(_: &M<f64>, w: &V<f64>) -> V<f64> {
        *w
    }
    fn frame<S: Scalar>(x: &M<S>) -> M<S> {
        *x
    }
    fn bend<S: Scalar>(f: &M<S>) -> M<S> {
        f.transpose()
    }
    fn spin<S: Scalar>(f: &M<S>, rate: &V<S>) -> M<S> {
        let w = tilde(rate);
        f * w * w
    }
    fn matrix<S: Scalar>(f: &M<S>) -> M<S> {
        *f
    }
    fn slope<S: Scalar>(f: &M<S>, s: &V<S>) -> M<S> {
        -(f * tilde(s))
    }
    fn quadratic<S: Scalar>(f: &M<S>, s: &V<S>) -> V<S> {
        f * s
    }
    fn curvature<S: Scalar>(_: &M<S>, transposed: &M<S>, s: &V<S>, w: &V<S>) -> M<S> {
        tilde(s) * tilde(&(transposed * w))
    }
    fn turning<S: Scalar>(_: &M<S>, w: &V<S>, acceleration: &V<S>, J: &M<S>) -> Turning<S, 3> {
        let (t, Jw) = (tilde(w), J * w);
        Turning { residual: J * acceleration + t * Jw, by_x: M::zeros(), by_rate: t * J - tilde(&Jw), by_acceleration: *J }
    }
    fn moved<S: Scalar>(x: &M<S>, d: &V<S>) -> M<S> {
        x * exp(d)
    }
    fn values<S: Scalar>(_: &M<S>) -> V<S> {
        V::zeros()
    }
}

/// Euler parameters.
#[derive(Clone, Copy, Debug)]
pub struct Parameters;

/// `B` of Eq. (39c): `omega_bar = 2 B p_dot`.
pub fn G<S: Scalar>(p: &Vector4<S>) -> SMatrix<S, 3, 4> {
    let [a, x, y, z] = [p[0], p[1], p[2], p[3]];
    SMatrix::<S, 3, 4>::new(-x, a, z, -y, -y, -z, a, x, -z, y, -x, a)
}

/// `G(p)^T w = Q(w) p`.
fn Q<S: Scalar>(w: &V<S>) -> SMatrix<S, 4, 4> {
    let t = tilde(w);
    let mut q = SMatrix::<S, 4, 4>::zeros();
    for i in 0..3 {
        q[(0, 1 + i)] = -w[i];
        q[(1 + i, 0)] = w[i];
        for j in 0..3 {
            q[(1 + i, 1 + j)] = -t[(i, j)];
        }
    }
    q
}

/// `B(p, s)` of Eq. (23a), the derivative of `A(p) s` with the matrix of Eq. (22).
pub fn B<S: Scalar>(p: &Vector4<S>, s: &V<S>) -> SMatrix<S, 3, 4> {
    let (a, e) = (p[0], V::new(p[1], p[2], p[3]));
    let first = s * (a * 4.0) + e.cross(s) * S::of(2.0);
    let along = e.dot(s) * 2.0;
    let t = tilde(s);
    SMatrix::<S, 3, 4>::from_fn(|i, j| match j {
        0 => first[i],
        _ => e[i] * s[j - 1] * 2.0 - a * t[(i, j - 1)] * 2.0 + if i == j - 1 { along } else { S::zero() },
    })
}

impl Rotation<4> for Parameters {
    const NAME: &'static str = "rp";
    const NORM: bool = true;
    type Point<S: Scalar> = Vector4<S>;
    type Frame<S: Scalar> = (Vector4<S>, M<S>);
    type Bend<S: Scalar> = ();
    type Spin<S: Scalar> = Vector4<S>;

    fn enter<S: Scalar>(A: &M<f64>) -> Vector4<S> {
        Vector4::from(quaternion(A)).map(S::of)
    }
    fn rate(x: &Vector4<f64>, w: &V<f64>) -> Vector4<f64> {
        G(x).transpose() * w * 0.5
    }
    fn frame<S: Scalar>(p: &Vector4<S>) -> (Vector4<S>, M<S>) {
        let [a, x, y, z] = [p[0], p[1], p[2], p[3]];
        let d = |q: S| a * a + q * q - 0.5;
        let A = M::new(d(x), x * y - a * z, x * z + a * y, x * y + a * z, d(y), y * z - a * x, x * z - a * y, y * z + a * x, d(z));
        (*p, A * S::of(2.0))
    }
    fn bend<S: Scalar>(_: &(Vector4<S>, M<S>)) {}
    fn spin<S: Scalar>(_: &(Vector4<S>, M<S>), rate: &Vector4<S>) -> Vector4<S> {
        *rate
    }
    fn matrix<S: Scalar>(f: &(Vector4<S>, M<S>)) -> M<S> {
        f.1
    }
    fn slope<S: Scalar>(f: &(Vector4<S>, M<S>), s: &V<S>) -> SMatrix<S, 3, 4> {
        B(&f.0, s)
    }
    fn quadratic<S: Scalar>(rate: &Vector4<S>, s: &V<S>) -> V<S> {
        B(rate, s) * rate
    }
    fn curvature<S: Scalar>(_: &(Vector4<S>, M<S>), _: &(), s: &V<S>, w: &V<S>) -> SMatrix<S, 4, 4> {
        let (across, along) = (s.cross(w), s.dot(w));
        SMatrix::<S, 4, 4>::from_fn(|i, j| match (i, j) {
            (0, 0) => along * 4.0,
            (0, k) | (k, 0) => across[k - 1] * 2.0,
            _ => (w[i - 1] * s[j - 1] + w[j - 1] * s[i - 1]) * 2.0,
        })
    }
    fn turning<S: Scalar>(f: &(Vector4<S>, M<S>), rate: &Vector4<S>, acceleration: &Vector4<S>, J: &M<S>) -> Turning<S, 4> {
        let (p, four, eight) = (&f.0, S::of(4.0), S::of(8.0));
        let (g, g_dot) = (G(p), G(rate));
        let (gt, gt_dot) = (g.transpose(), g_dot.transpose());
        let mass = gt * J * g * four;
        let (momentum, turned) = (J * (g * acceleration), J * (g_dot * p));
        Turning {
            residual: mass * acceleration - gt_dot * turned * eight,
            by_x: (Q(&momentum) - gt * J * G(acceleration)) * four - gt_dot * J * g_dot * eight,
            by_rate: (gt_dot * J * g - Q(&turned)) * eight,
            by_acceleration: mass,
        }
    }
    fn moved<S: Scalar>(x: &Vector4<S>, d: &Vector4<S>) -> Vector4<S> {
        x + d
    }
    fn values<S: Scalar>(x: &Vector4<S>) -> Vector4<S> {
        *x
    }
}

/// Euler angles ZXZ.
#[derive(Clone, Copy, Debug)]
pub struct Angles;

/// The three rotations with their first and second derivatives, and their products.
#[derive(Clone, Copy, Debug)]
pub struct AngleFrame<S: Scalar> {
    /// `A_1`, its first and second derivative; likewise `A_2` and `A_3`.
    parts: [[M<S>; 3]; 3],
    A: M<S>,
    /// `dA/d phi`, `dA/d theta`, `dA/d psi`.
    first: [M<S>; 3],
    /// Sines and cosines of theta and psi.
    theta: (S, S),
    psi: (S, S),
}

/// `B` of Eq. (43b) and its derivatives: itself, first ones by theta and psi, second ones by theta theta, theta psi, psi psi.
fn velocity_map<S: Scalar>(f: &AngleFrame<S>) -> [M<S>; 6] {
    let ((st, ct), (sp, cp)) = (f.theta, f.psi);
    let (o, i) = (S::zero(), S::one());
    [
        M::new(sp * st, cp, o, cp * st, -sp, o, ct, o, i),
        M::new(sp * ct, o, o, cp * ct, o, o, -st, o, o),
        M::new(cp * st, -sp, o, -(sp * st), -cp, o, o, o, o),
        M::new(-(sp * st), o, o, -(cp * st), o, o, -ct, o, o),
        M::new(cp * ct, o, o, -(sp * ct), o, o, o, o, o),
        M::new(-(sp * st), -cp, o, -(cp * st), sp, o, o, o, o),
    ]
}

/// The angles of a matrix. If theta vanishes, as on ground, phi and psi turn about the same axis: phi is the whole rotation.
pub fn zxz(A: &M<f64>) -> V<f64> {
    let sine = A[(2, 0)].hypot(A[(2, 1)]);
    if sine < 1e-12 {
        let theta = if A[(2, 2)] > 0.0 { 0.0 } else { std::f64::consts::PI };
        return V::new(A[(1, 0)].atan2(A[(0, 0)]), theta, 0.0);
    }
    V::new(A[(0, 2)].atan2(-A[(1, 2)]), sine.atan2(A[(2, 2)]), A[(2, 0)].atan2(A[(2, 1)]))
}

impl Rotation<3> for Angles {
    const NAME: &'static str = "rE";
    const NORM: bool = false;
    type Point<S: Scalar> = V<S>;
    type Frame<S: Scalar> = AngleFrame<S>;
    /// Second derivatives of the matrix: phi phi, phi theta, phi psi, theta theta, theta psi, psi psi.
    type Bend<S: Scalar> = [M<S>; 6];
    /// The matrix `D` of Eq. (28b).
    type Spin<S: Scalar> = M<S>;

    fn enter<S: Scalar>(A: &M<f64>) -> V<S> {
        zxz(A).map(S::of)
    }
    fn rate(x: &V<f64>, w: &V<f64>) -> V<f64> {
        let B = velocity_map(&Self::frame(x))[0];
        B.lu().solve(w).unwrap_or_else(V::zeros)
    }
    fn frame<S: Scalar>(x: &V<S>) -> AngleFrame<S> {
        let (o, i) = (S::zero(), S::one());
        let about_z = |(s, c): (S, S)| {
            [M::new(c, -s, o, s, c, o, o, o, i), M::new(-s, -c, o, c, -s, o, o, o, o), M::new(-c, s, o, -s, -c, o, o, o, o)]
        };
        let (phi, theta, psi) = (x[0].sin_cos(), x[1].sin_cos(), x[2].sin_cos());
        let (s, c) = theta;
        let about_x = [M::new(i, o, o, o, c, -s, o, s, c), M::new(o, o, o, o, -s, -c, o, c, -s), M::new(o, o, o, o, -c, s, o, -s, -c)];
        let parts = [about_z(phi), about_x, about_z(psi)];
        let product = |a: usize, b: usize, c: usize| parts[0][a] * parts[1][b] * parts[2][c];
        AngleFrame { parts, A: product(0, 0, 0), first: [product(1, 0, 0), product(0, 1, 0), product(0, 0, 1)], theta, psi }
    }
    fn bend<S: Scalar>(f: &AngleFrame<S>) -> [M<S>; 6] {
        let product = |a: usize, b: usize, c: usize| f.parts[0][a] * f.parts[1][b] * f.parts[2][c];
        [product(2, 0, 0), product(1, 1, 0), product(1, 0, 1), product(0, 2, 0), product(0, 1, 1), product(0, 0, 2)]
    }
    fn spin<S: Scalar>(f: &AngleFrame<S>, rate: &V<S>) -> M<S> {
        let b = Self::bend(f);
        let [x, y, z] = [rate[0], rate[1], rate[2]];
        b[0] * (x * x) + b[1] * (x * y * 2.0) + b[2] * (x * z * 2.0) + b[3] * (y * y) + b[4] * (y * z * 2.0) + b[5] * (z * z)
    }
    fn matrix<S: Scalar>(f: &AngleFrame<S>) -> M<S> {
        f.A
    }
    fn slope<S: Scalar>(f: &AngleFrame<S>, s: &V<S>) -> M<S> {
        M::from_columns(&[f.first[0] * s, f.first[1] * s, f.first[2] * s])
    }
    fn quadratic<S: Scalar>(D: &M<S>, s: &V<S>) -> V<S> {
        D * s
    }
    fn curvature<S: Scalar>(_: &AngleFrame<S>, bend: &[M<S>; 6], s: &V<S>, w: &V<S>) -> M<S> {
        let of = |k: usize| w.dot(&(bend[k] * s));
        let [a, b, c, d, e, f] = [of(0), of(1), of(2), of(3), of(4), of(5)];
        M::new(a, b, c, b, d, e, c, e, f)
    }
    fn turning<S: Scalar>(f: &AngleFrame<S>, rate: &V<S>, acceleration: &V<S>, J: &M<S>) -> Turning<S, 3> {
        let [B, B_t, B_p, B_tt, B_tp, B_pp] = velocity_map(f);
        let (t, p) = (rate[1], rate[2]);
        let B_dot = B_t * t + B_p * p;
        let (transposed, w) = (B.transpose(), B * rate);
        let Jw = J * w;
        let torque = J * (B * acceleration + B_dot * rate) + w.cross(&Jw);
        let gyro = tilde(&w) * J - tilde(&Jw);
        // Derivatives with respect to theta and psi; phi does not appear.
        let by = |B_k: &M<S>, B_dot_k: M<S>| {
            B_k.transpose() * torque + transposed * (J * (B_k * acceleration + B_dot_k * rate) + gyro * (B_k * rate))
        };
        let by_theta = by(&B_t, B_tt * t + B_tp * p);
        let by_psi = by(&B_p, B_tp * t + B_pp * p);
        let (rate_t, rate_p) = (B_t * rate, B_p * rate);
        let change = M::from_columns(&[B_dot.column(0).into(), B_dot.column(1) + rate_t, B_dot.column(2) + rate_p]);
        Turning {
            residual: transposed * torque,
            by_x: M::from_columns(&[V::zeros(), by_theta, by_psi]),
            by_rate: transposed * (J * change + gyro * B),
            by_acceleration: transposed * J * B,
        }
    }
    fn moved<S: Scalar>(x: &V<S>, d: &V<S>) -> V<S> {
        x + d
    }
    fn values<S: Scalar>(x: &V<S>) -> V<S> {
        *x
    }
}
