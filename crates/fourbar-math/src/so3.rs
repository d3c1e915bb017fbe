//! Rotations: cross-product matrix, exponential, logarithm, tangent operator, quaternions, Euler angles.
//!
//! A rotation matrix `A` maps body to global components. Increments are body-fixed: `A exp(tilde(theta_bar))`.
//! Quaternions (Euler parameters) are `[e0, e1, e2, e3]`, scalar first.

use crate::elementary;
use crate::{Scalar, se3};
use nalgebra::{Matrix3, Vector3};

/// The matrix of the cross product: `tilde(a) b = a x b`.
#[inline]
pub fn tilde<S: Scalar>(a: &Vector3<S>) -> Matrix3<S> {
    let o = S::zero();
    Matrix3::new(o, -a.z, a.y, a.z, o, -a.x, -a.y, a.x, o)
}

/// The rotation by the vector `psi` (Rodrigues).
#[inline]
pub fn exp(psi: &Vector3<f64>) -> Matrix3<f64> {
    let (a, b, _) = se3::rotation(psi.norm_squared());
    se3::rodrigues(psi, a, b)
}

/// The rotation vector of `A`, of length at most pi.
pub fn log(A: &Matrix3<f64>) -> Vector3<f64> {
    let p = quaternion(A);
    let v = Vector3::new(p[1], p[2], p[3]);
    let s = v.norm();
    let (v, c) = if p[0] < 0.0 { (-v, -p[0]) } else { (v, p[0]) };
    if s < 1e-9 { v * (2.0 / c) } else { v * (2.0 * elementary::atan2(s, c) / s) }
}

/// The tangent operator: `exp(psi + d) = exp(psi) exp(T d)` to first order in `d`.
#[inline]
pub fn tangent(psi: &Vector3<f64>) -> Matrix3<f64> {
    let (_, b, c) = se3::rotation(psi.norm_squared());
    se3::rodrigues(psi, -b, c)
}

/// The inverse of [`tangent`]; it has a pole at a full turn.
#[inline]
pub fn tangent_inv(psi: &Vector3<f64>) -> Matrix3<f64> {
    let d = se3::inverse(psi.norm_squared());
    se3::rodrigues(psi, 0.5, d)
}

/// The rotation matrix of Euler parameters; they are normalised first, so any non-zero quadruple is allowed.
#[inline]
pub fn from_quaternion<S: Scalar>(p: &[S; 4]) -> Matrix3<S> {
    let [w, x, y, z] = *p;
    let s = S::of(2.0) / (w * w + x * x + y * y + z * z);
    let one = S::one();
    Matrix3::new(
        one - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        one - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        one - s * (x * x + y * y),
    )
}

/// Unit Euler parameters of a rotation matrix, the largest entry taken as the pivot; scalar part not negative.
pub fn quaternion(A: &Matrix3<f64>) -> [f64; 4] {
    let t = A.trace();
    let d = [t, A[(0, 0)], A[(1, 1)], A[(2, 2)]];
    let k = (0..4).max_by(|&i, &j| d[i].total_cmp(&d[j])).unwrap_or(0);
    let mut p = match k {
        0 => [1.0 + t, A[(2, 1)] - A[(1, 2)], A[(0, 2)] - A[(2, 0)], A[(1, 0)] - A[(0, 1)]],
        1 => [A[(2, 1)] - A[(1, 2)], 1.0 - t + 2.0 * A[(0, 0)], A[(0, 1)] + A[(1, 0)], A[(0, 2)] + A[(2, 0)]],
        2 => [A[(0, 2)] - A[(2, 0)], A[(0, 1)] + A[(1, 0)], 1.0 - t + 2.0 * A[(1, 1)], A[(1, 2)] + A[(2, 1)]],
        _ => [A[(1, 0)] - A[(0, 1)], A[(0, 2)] + A[(2, 0)], A[(1, 2)] + A[(2, 1)], 1.0 - t + 2.0 * A[(2, 2)]],
    };
    let n = p.iter().map(|x| x * x).sum::<f64>().sqrt() * if p[0] < 0.0 { -1.0 } else { 1.0 };
    p.iter_mut().for_each(|x| *x /= n);
    p
}

/// The rotation matrix of ZXZ Euler angles `[phi, theta, psi]`: turn about z, then the new x, then the new z.
pub fn from_zxz(eps: &[f64; 3]) -> Matrix3<f64> {
    let [f, t, s] = *eps;
    exp(&(Vector3::z() * f)) * exp(&(Vector3::x() * t)) * exp(&(Vector3::z() * s))
}

/// One step of the polar iteration: removes the rounding errors accumulated in products of rotations.
pub fn orthonormalise(A: &Matrix3<f64>) -> Matrix3<f64> {
    A * (Matrix3::identity() * 1.5 - A.transpose() * A * 0.5)
}

/// A right-handed frame whose z axis is `z`: columns x, y, z. Deterministic, so results repeat to the bit.
pub fn frame_from_z(z: &Vector3<f64>) -> Matrix3<f64> {
    let z = z.normalize();
    let k = z.iamin();
    let mut e = Vector3::zeros();
    e[k] = 1.0;
    let x = (e - z * z[k]).normalize();
    Matrix3::from_columns(&[x, z.cross(&x), z])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Vector3<f64>> {
        let axis = Vector3::new(0.3, -0.5, 0.81).normalize();
        [0.0, 1e-9, 1e-4, 0.05, 0.0999, 0.1001, 0.5, 1.5, 3.0].iter().map(|p| axis * *p).collect()
    }

    #[test]
    fn logarithm_undoes_the_exponential() {
        for psi in samples() {
            assert!((log(&exp(&psi)) - psi).norm() < 1e-14 * (1.0 + psi.norm()), "{psi}");
        }
    }

    #[test]
    fn tangent_is_the_derivative_of_the_exponential() {
        let d = Vector3::new(0.4, 0.2, -0.7);
        for psi in samples() {
            // Second-order truncation of the difference: h^2 with h = 1e-6, and rounding u/h.
            let h = 1e-6;
            let difference =
                (log(&(exp(&psi).transpose() * exp(&(psi + d * h)))) - log(&(exp(&psi).transpose() * exp(&(psi - d * h))))) / (2.0 * h);
            assert!((difference - tangent(&psi) * d).norm() < 1e-9, "{psi}");
            assert!((tangent(&psi) * tangent_inv(&psi) - Matrix3::identity()).norm() < 1e-14);
        }
    }

    #[test]
    fn the_series_meets_the_closed_form_where_they_change_over() {
        let axis = Vector3::new(0.6, 0.0, 0.8);
        let (a, b) = (axis * (0.1 - 1e-12), axis * (0.1 + 1e-12));
        assert!((tangent(&a) - tangent(&b)).norm() < 1e-11 && (tangent_inv(&a) - tangent_inv(&b)).norm() < 1e-11);
    }

    #[test]
    fn quaternions_and_matrices_convert_both_ways() {
        for psi in samples().into_iter().chain([Vector3::new(3.1, 0.1, 0.0), Vector3::new(0.0, 3.1, 0.1), Vector3::new(0.1, 0.0, 3.1)]) {
            let A = exp(&psi);
            assert!((from_quaternion(&quaternion(&A)) - A).norm() < 1e-14);
        }
    }

    #[test]
    fn a_frame_is_right_handed_and_keeps_its_axis() {
        for z in [Vector3::x(), Vector3::y(), Vector3::z(), Vector3::new(1.0, -2.0, 0.5)] {
            let F = frame_from_z(&z);
            assert!((F.determinant() - 1.0).abs() < 1e-14 && (F.column(2) - z.normalize()).norm() < 1e-15);
        }
    }
}
