//! The rotation matrix of an orientation.

use crate::spec::Orientation;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

impl Orientation {
    /// Axes of the frame as columns; `None` if they are not defined: a zero axis or quaternion, parallel directions, a matrix that is not a
    /// rotation.
    pub fn matrix(&self) -> Option<Matrix3<f64>> {
        let unit = |v: Vector3<f64>| (v.norm() > 0.0 && v.norm().is_finite()).then(|| v.normalize());
        match self {
            Orientation::World => Some(Matrix3::identity()),
            Orientation::AxisAngle { axis, angle } => unit(Vector3::from(*axis)).map(|e| so3::exp(&(e * *angle))),
            Orientation::Quaternion(p) => (p.iter().map(|x| x * x).sum::<f64>() >= 1e-20).then(|| so3::from_quaternion(p)),
            Orientation::Matrix(rows) => {
                let A = Matrix3::from_fn(|i, j| rows[i][j]);
                let rotation = (A.transpose() * A - Matrix3::identity()).amax() <= 1e-6 && A.determinant() > 0.0;
                rotation.then(|| (0..3).fold(A, |A, _| so3::orthonormalise(&A)))
            }
            Orientation::Axes { x, y } => {
                let (x, z) = (unit(Vector3::from(*x))?, unit(Vector3::from(*x).cross(&Vector3::from(*y)))?);
                Some(Matrix3::from_columns(&[x, z.cross(&x), z]))
            }
            Orientation::Zxz(eps) => Some(so3::from_zxz(eps)),
        }
    }
}
