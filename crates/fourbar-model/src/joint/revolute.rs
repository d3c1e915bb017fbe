//! Revolute: the points coincide and the axes stay parallel. 3 CD + 2 DP1 [Kissel21, Table 1].

use super::*;

/// A hinge about z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revolute;

impl JointType for Revolute {
    const WORDS: Words = Words { title: "a revolute joint", doc: "A hinge: turns about the axis.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.coincident(), pair.perpendicular(0, 2), pair.perpendicular(1, 2)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.extend((M.p - F.p).iter());
        out.extend([F.axes[0].dot(&M.axes[2]), F.axes[1].dot(&M.axes[2])]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![turn(Vector3::z())]
    }
    fn alignment(&self) -> Alignment {
        Alignment::Axis
    }
    fn shared(&self) -> Shared {
        Shared { axis: true, points: SharedPoints::Joined, level: Stand::Anyhow, ..Shared::default() }
    }
    fn in_plane(&self) -> Option<InPlane> {
        Some(InPlane { axis: Stand::Along, rows: 2 })
    }
    fn looser(&self) -> Vec<Looser> {
        // The second axis of a cross is perpendicular to the first, on the moving body.
        let across = |z: usize| Looser { z, ..Looser::to(JointKind::Universal(Universal), 1, 3) };
        let (slides, ball) = (Looser::to(JointKind::Cylindrical(Cylindrical), 1, 2), Looser::to(JointKind::Spherical(Spherical), 2, 2));
        vec![slides, ball, across(0), across(1), Looser::to(JointKind::PointOnLine(PointOnLine), 3, 5), Looser::gone(5, 9)]
    }
}

impl TreeJoint for Revolute {
    const SHAPE: Option<&'static TreeShape> = Some(&TreeShape { groups: &[1], names: &["angle"], hinge: true, ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (about_z(q[0]), Vector3::zeros())
    }
    fn coordinates(&self, R: &Matrix3<f64>, _p: &Vector3<f64>, angle: f64, q: &mut [f64]) {
        q[0] = z_angle(R, angle);
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, _v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        u[0] = F.column(2).dot(w);
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Turn(F.column(2).into()));
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        (which == JointCoordinate::Angle).then_some((0, 1.0))
    }
}
