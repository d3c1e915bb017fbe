//! Planar: the moving origin stays in the plane normal to z, and the normals stay parallel. 1 DP2 + 2 DP1.

use super::*;

/// Moves in a plane and turns about its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planar;

impl JointType for Planar {
    const WORDS: Words =
        Words { title: "a planar joint", doc: "Moves in the plane normal to the axis and turns about the axis.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(2), pair.perpendicular(0, 2), pair.perpendicular(1, 2)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.extend([F.axes[2].dot(&(M.p - F.p)), F.axes[0].dot(&M.axes[2]), F.axes[1].dot(&M.axes[2])]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![slide(Vector3::x()), slide(Vector3::y()), turn(Vector3::z())]
    }
    fn alignment(&self) -> Alignment {
        Alignment::Axis
    }
    fn shared(&self) -> Shared {
        Shared { axis: true, points: SharedPoints::Plane, level: Stand::Along, loose: [false, true], ..Shared::default() }
    }
    fn in_plane(&self) -> Option<InPlane> {
        Some(InPlane { axis: Stand::Along, rows: 0 })
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::to(JointKind::PointOnPlane(PointOnPlane), 2, 4), Looser::gone(3, 9)]
    }
    fn hold(&self, pair: &Pair, [qi, qj]: [&Pose; 2], out: &mut Vec<Rows>) {
        out.extend([0, 1].map(|a| {
            let y = pair.along(a);
            let here = y.value(qi, qj, &[]);
            Rows::one(1.0, y, here)
        }));
    }
}

/// x, y, then angle.
impl TreeJoint for Planar {
    const SHAPE: Option<&'static TreeShape> =
        Some(&TreeShape { groups: &[1, 1, 1], names: &["x", "y", "angle"], slides: 2, ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (about_z(q[2]), Vector3::new(q[0], q[1], 0.0))
    }
    fn coordinates(&self, R: &Matrix3<f64>, p: &Vector3<f64>, angle: f64, q: &mut [f64]) {
        (q[0], q[1], q[2]) = (p.x, p.y, z_angle(R, angle));
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        (u[0], u[1], u[2]) = (F.column(0).dot(v), F.column(1).dot(v), F.column(2).dot(w));
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Slide(F.column(0).into()));
        put(1, Motion::Slide(F.column(1).into()));
        put(2, Motion::Turn(F.column(2).into()));
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        (which == JointCoordinate::Angle).then_some((2, 1.0))
    }
}
