//! The ways to give the orientation of a frame: quaternion, axis and angle, Euler angles, two axes, or the z axis alone.

use super::super::draft::Pose;
use super::super::reading::{about, from_quaternion};
use super::super::xml::Element;
use super::Mjcf;
use fourbar::Diagnostic;
use nalgebra::{Matrix3, Vector3};

impl<'x> Mjcf<'_, '_, 'x> {
    /// The orientation from the first element of a chain that gives one.
    pub(super) fn rotation<'e>(&self, chain: impl Iterator<Item = Element<'e>>) -> Matrix3<f64> {
        let r = self.reading;
        let v = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        for e in chain {
            let wrong = |what: &str| {
                r.problem(Diagnostic::new("M651", format!("{what} gives no orientation: it is zero")).help("check the numbers"), e.spot());
                Matrix3::identity()
            };
            if let Some(a) = e.get("quat") {
                let Some(x) = r.numbers(a, 4, 4) else { return Matrix3::identity() };
                return from_quaternion(&x).unwrap_or_else(|| wrong("`quat`"));
            }
            if let Some(a) = e.get("axisangle") {
                let Some(x) = r.numbers(a, 4, 4) else { return Matrix3::identity() };
                let axis = v(&x);
                return if axis.norm() > 1e-12 { about(&axis.normalize(), x[3] * self.compiler.angle) } else { wrong("`axisangle`") };
            }
            if let Some(a) = e.get("euler") {
                let Some(x) = r.numbers(a, 3, 3) else { return Matrix3::identity() };
                let mut R = Matrix3::identity();
                for (letter, angle) in self.compiler.eulerseq.iter().zip(&x) {
                    let axis = match letter.to_ascii_lowercase() {
                        'x' => Vector3::x(),
                        'y' => Vector3::y(),
                        _ => Vector3::z(),
                    };
                    let turn = about(&axis, angle * self.compiler.angle);
                    // Small letters are axes of the rotating frame, capitals fixed axes.
                    R = if letter.is_ascii_lowercase() { R * turn } else { turn * R };
                }
                return R;
            }
            if let Some(a) = e.get("xyaxes") {
                let Some(n) = r.numbers(a, 6, 6) else { return Matrix3::identity() };
                let (x, y) = (v(&n), v(&n[3..]));
                if x.norm() < 1e-12 {
                    return wrong("`xyaxes`");
                }
                let x = x.normalize();
                let y = y - x * x.dot(&y);
                if y.norm() < 1e-12 {
                    return wrong("`xyaxes`");
                }
                let y = y.normalize();
                return Matrix3::from_columns(&[x, y, x.cross(&y)]);
            }
            if let Some(a) = e.get("zaxis") {
                let Some(n) = r.numbers(a, 3, 3) else { return Matrix3::identity() };
                let z = v(&n);
                return if z.norm() > 1e-12 { from_z(&z.normalize()) } else { wrong("`zaxis`") };
            }
        }
        Matrix3::identity()
    }

    /// Position and orientation of an element.
    pub(super) fn pose(&self, e: Element<'x>) -> Pose {
        Pose { p: self.reading.vector(e.get("pos"), Vector3::zeros()), R: self.rotation(std::iter::once(e)) }
    }
}

/// The smallest rotation of z to a given direction.
pub(super) fn from_z(z: &Vector3<f64>) -> Matrix3<f64> {
    let axis = Vector3::z().cross(z);
    if axis.norm() < 1e-15 {
        return if z.z > 0.0 { Matrix3::identity() } else { about(&Vector3::x(), std::f64::consts::PI) };
    }
    about(&axis.normalize(), axis.norm().atan2(z.z))
}
