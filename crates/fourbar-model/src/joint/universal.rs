//! Universal: the points coincide and the axis of the base (z of F) stays perpendicular to the axis of the moving body
//! (z of M). 3 CD + 1 DP1 [Kissel21, Table 1].

use super::*;
use fourbar_math::elementary;

/// A cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Universal;

impl JointType for Universal {
    const WORDS: Words =
        Words { title: "a universal joint", doc: "A cross: two axes at right angles, one fixed in each body.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.coincident(), pair.perpendicular(2, 2)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.extend((M.p - F.p).iter());
        out.push(F.axes[2].dot(&M.axes[2]));
    }
    fn freedoms(&self, _p: &Vector3<f64>, R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![turn(Vector3::z()), turn(R.column(2).into())]
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn shared(&self) -> Shared {
        Shared {
            points: SharedPoints::Crossed,
            level: Stand::Anyhow,
            equation: SharedEquation::Dot { what: "cross", value: 0.0 },
            ..Shared::default()
        }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::to(JointKind::Spherical(Spherical), 1, 2), Looser::gone(4, 9)]
    }
    fn hold(&self, pair: &Pair, [qi, qj]: [&Pose; 2], out: &mut Vec<Rows>) {
        // Each arm against the drawn normal of the cross: this gives the largest gradient in both rotations.
        let seen_from_j = qj.A.transpose() * qi.A;
        let normal = pair.F.axis(2).cross(&(seen_from_j.transpose() * pair.M.axis(2))).normalize();
        out.push(pair.as_drawn(pair.F.axis(2), seen_from_j * normal, [qi, qj]));
        out.push(pair.as_drawn(normal, pair.M.axis(2), [qi, qj]));
    }
}

/// Takes z to x, between the two rotations.
fn quarter() -> Matrix3<f64> {
    Matrix3::new(0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0)
}

/// Turn about z of F, then about z of M.
impl TreeJoint for Universal {
    const SHAPE: Option<&'static TreeShape> =
        Some(&TreeShape { groups: &[1, 1], names: &["first turn", "second turn"], ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (about_z(q[0]) * quarter() * about_z(q[1]), Vector3::zeros())
    }
    fn coordinates(&self, R: &Matrix3<f64>, _p: &Vector3<f64>, _angle: f64, q: &mut [f64]) {
        q[0] = elementary::atan2(R[(1, 2)], R[(0, 2)]);
        q[1] = z_angle(&(quarter().transpose() * about_z(-q[0]) * R), 0.0);
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, _v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        (u[0], u[1]) = (F.column(2).dot(w), M.column(2).dot(w));
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Turn(F.column(2).into()));
        put(1, Motion::Turn(M.column(2).into()));
    }
}
