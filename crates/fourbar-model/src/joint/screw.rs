//! Screw: a cylindrical joint whose slide is proportional to its turn.

use super::*;
use std::f64::consts::PI;

/// Slides `lead` metres per turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screw {
    /// Metres per turn.
    pub lead: f64,
}

impl JointType for Screw {
    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        let mut rows = Cylindrical.rows(pair);
        rows.push(Rows::sum(&[(1.0, pair.along(2)), (-self.lead / (2.0 * PI), pair.turn())], 0.0));
        rows
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        Cylindrical.residual(F, M, out);
        let (x, y) = (F.axes[0].dot(&M.axes[0]) + F.axes[1].dot(&M.axes[1]), F.axes[1].dot(&M.axes[0]) - F.axes[0].dot(&M.axes[1]));
        out.push(F.axes[2].dot(&(M.p - F.p)) - S::of(self.lead / (2.0 * PI)) * y.atan2(x));
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        vec![[Vector3::z() * (self.lead / (2.0 * PI)), Vector3::z()]]
    }
    fn alignment(&self) -> Alignment {
        Alignment::Axis
    }
}
