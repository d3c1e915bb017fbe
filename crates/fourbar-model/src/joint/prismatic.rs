//! Prismatic: the moving origin stays on the axis and nothing turns. 2 DP2 + 3 DP1 [Kissel21, Table 1].

use super::*;

/// A slide along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prismatic;

impl JointType for Prismatic {
    const WORDS: Words = Words { title: "a prismatic joint", doc: "A slide: moves along the axis without turning.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(0), pair.within(1), pair.perpendicular(0, 2), pair.perpendicular(1, 2), pair.perpendicular(0, 1)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        let d = M.p - F.p;
        out.extend([F.axes[0].dot(&d), F.axes[1].dot(&d)]);
        out.extend([F.axes[0].dot(&M.axes[2]), F.axes[1].dot(&M.axes[2]), F.axes[0].dot(&M.axes[1])]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![slide(Vector3::z())]
    }
    fn alignment(&self) -> Alignment {
        Alignment::Full
    }
    fn shared(&self) -> Shared {
        Shared { rigid: Rigid::Turning, axis: true, points: SharedPoints::Line, level: Stand::Across, ..Shared::default() }
    }
    fn in_plane(&self) -> Option<InPlane> {
        Some(InPlane { axis: Stand::Across, rows: 2 })
    }
    fn looser(&self) -> Vec<Looser> {
        vec![
            Looser::to(JointKind::Cylindrical(Cylindrical), 1, 2),
            Looser::to(JointKind::PointOnLine(PointOnLine), 3, 5),
            Looser::gone(5, 9),
        ]
    }
}

impl TreeJoint for Prismatic {
    const SHAPE: Option<&'static TreeShape> = Some(&TreeShape { groups: &[1], names: &["distance"], slides: 1, ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (Matrix3::identity(), Vector3::z() * q[0])
    }
    fn coordinates(&self, _R: &Matrix3<f64>, p: &Vector3<f64>, _angle: f64, q: &mut [f64]) {
        q[0] = p.z;
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, v: &Vector3<f64>, _w: &Vector3<f64>, u: &mut [f64]) {
        u[0] = F.column(2).dot(v);
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Slide(F.column(2).into()));
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        (which == JointCoordinate::Distance).then_some((0, 1.0))
    }
}
