//! Planar: the moving origin stays in the plane normal to z, and the normals stay parallel. 1 DP2 + 2 DP1.

use super::*;

/// Moves in a plane and turns about its normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planar;

impl JointType for Planar {
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
}
