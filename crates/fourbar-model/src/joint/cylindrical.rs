//! Cylindrical: slides along and turns about z. 2 DP2 + 2 DP1 [Kissel21, Table 1].

use super::*;

/// Slides and turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylindrical;

impl JointType for Cylindrical {
    const WORDS: Words = Words { title: "a cylindrical joint", doc: "Turns about the axis and slides along it.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(0), pair.within(1), pair.perpendicular(0, 2), pair.perpendicular(1, 2)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        let d = M.p - F.p;
        out.extend([F.axes[0].dot(&d), F.axes[1].dot(&d)]);
        out.extend([F.axes[0].dot(&M.axes[2]), F.axes[1].dot(&M.axes[2])]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![slide(Vector3::z()), turn(Vector3::z())]
    }
    fn alignment(&self) -> Alignment {
        Alignment::Axis
    }
    fn shared(&self) -> Shared {
        Shared { axis: true, points: SharedPoints::Line, level: Stand::Across, ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::to(JointKind::PointOnLine(PointOnLine), 2, 4), Looser::gone(4, 9)]
    }
}

impl TreeJoint for Cylindrical {
    const SHAPE: Option<&'static TreeShape> =
        Some(&TreeShape { groups: &[1, 1], names: &["distance", "angle"], slides: 1, ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (about_z(q[1]), Vector3::z() * q[0])
    }
    fn coordinates(&self, R: &Matrix3<f64>, p: &Vector3<f64>, angle: f64, q: &mut [f64]) {
        (q[0], q[1]) = (p.z, z_angle(R, angle));
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        (u[0], u[1]) = (F.column(2).dot(v), F.column(2).dot(w));
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Slide(F.column(2).into()));
        put(1, Motion::Turn(F.column(2).into()));
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        Some((usize::from(which == JointCoordinate::Angle), 1.0))
    }
}
