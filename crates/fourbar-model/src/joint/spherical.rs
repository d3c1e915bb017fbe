//! Spherical: the points coincide. 3 CD [Kissel21, Table 1].

use super::*;

/// A ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spherical;

impl JointType for Spherical {
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
}
