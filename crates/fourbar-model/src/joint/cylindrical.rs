//! Cylindrical: slides along and turns about z. 2 DP2 + 2 DP1 [Kissel21, Table 1].

use super::*;

/// Slides and turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cylindrical;

impl JointType for Cylindrical {
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
}
