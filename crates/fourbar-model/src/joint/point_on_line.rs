//! Point on line: the moving origin stays on the z axis of the base. 2 DP2.

use super::*;

/// A pin in a straight slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointOnLine;

impl JointType for PointOnLine {
    const WORDS: Words =
        Words { title: "a point-on-line joint", doc: "A point of the moving body stays on a line of the base.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(0), pair.within(1)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        let d = M.p - F.p;
        out.extend([F.axes[0].dot(&d), F.axes[1].dot(&d)]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        [slide(Vector3::z())].into_iter().chain(turns()).collect()
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn shared(&self) -> Shared {
        Shared { points: SharedPoints::Line, level: Stand::Across, loose: [false, true], ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(2, 8)]
    }
}

impl TreeJoint for PointOnLine {}
