//! Revolute: the points coincide and the axes stay parallel. 3 CD + 2 DP1 [Kissel21, Table 1].

use super::*;

/// A hinge about z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revolute;

impl JointType for Revolute {
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
}
