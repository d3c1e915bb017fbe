//! Universal: the points coincide and the axis of the base (z of F) stays perpendicular to the axis of the moving body
//! (z of M). 3 CD + 1 DP1 [Kissel21, Table 1].

use super::*;

/// A cross.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Universal;

impl JointType for Universal {
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
}
