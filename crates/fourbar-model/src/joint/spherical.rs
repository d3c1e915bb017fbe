//! Spherical: the points coincide. 3 CD [Kissel21, Table 1].

use super::*;

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spherical;

impl JointType for Spherical {
    const WORDS: Words = Words { title: "a spherical joint", doc: "A ball: turns about a point.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.coincident()]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.extend((M.p - F.p).iter());
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        turns().to_vec()
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn shared(&self) -> Shared {
        Shared { points: SharedPoints::Joined, level: Stand::Anyhow, loose: [true, true], ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(3, 9)]
    }
    fn hold(&self, pair: &Pair, [qi, qj]: [&Pose; 2], out: &mut Vec<Rows>) {
        // The relative rotation as drawn, by the three DP1 rows of a weld.
        let F = pair.F.R;
        let M = qj.A.transpose() * qi.A * F;
        out.extend([(0, 1), (1, 2), (2, 0)].map(|(a, b)| pair.as_drawn(F.column(a).into(), M.column(b).into(), [qi, qj])));
    }
}

/// A unit quaternion, scalar first, of M against F; speeds along the axes of M.
impl TreeJoint for Spherical {
    const SHAPE: Option<&'static TreeShape> =
        Some(&TreeShape { groups: &[3], names: &["turn x", "turn y", "turn z"], quaternion: Some((0, 0)), ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (so3::from_quaternion(&[q[0], q[1], q[2], q[3]]), Vector3::zeros())
    }
    fn coordinates(&self, R: &Matrix3<f64>, _p: &Vector3<f64>, _angle: f64, q: &mut [f64]) {
        q[..4].copy_from_slice(&so3::quaternion(R));
    }
    fn speeds(&self, _q: &[f64], _F: &Matrix3<f64>, M: &Matrix3<f64>, _v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        u[..3].copy_from_slice(M.tr_mul(w).as_slice());
    }
    #[inline]
    fn columns(&self, _q: &[f64], _F: &Matrix3<f64>, M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        (0..3).for_each(|k| put(k, Motion::Turn(M.column(k).into())));
    }
}
