//! Prismatic: the moving origin stays on the axis and nothing turns. 2 DP2 + 3 DP1 [Kissel21, Table 1].

use super::*;

/// A slide along z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prismatic;

impl JointType for Prismatic {
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
}
