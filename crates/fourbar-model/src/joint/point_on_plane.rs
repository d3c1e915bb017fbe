//! Point on plane: the moving origin stays in the plane of the base normal to z. 1 DP2.

use super::*;

/// A point on a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointOnPlane;

impl JointType for PointOnPlane {
    const WORDS: Words = Words {
        title: "a point-on-plane joint",
        doc: "A point of the moving body stays in a plane of the base, normal to the axis.",
        numbers: &[],
    };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(2)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.push(F.axes[2].dot(&(M.p - F.p)));
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        [slide(Vector3::x()), slide(Vector3::y())].into_iter().chain(turns()).collect()
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn shared(&self) -> Shared {
        Shared { points: SharedPoints::Plane, level: Stand::Along, loose: [false, true], ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(1, 7)]
    }
}

impl TreeJoint for PointOnPlane {}
