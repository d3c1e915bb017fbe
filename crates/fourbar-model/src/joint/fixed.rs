//! Fixed: no relative motion. 3 CD + 3 DP1.

use super::*;

/// A weld.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed;

impl JointType for Fixed {
    const WORDS: Words = Words { title: "a fixed joint", doc: "No motion at all.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.coincident(), pair.perpendicular(0, 1), pair.perpendicular(1, 2), pair.perpendicular(2, 0)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        out.extend((M.p - F.p).iter());
        out.extend([F.axes[0].dot(&M.axes[1]), F.axes[1].dot(&M.axes[2]), F.axes[2].dot(&M.axes[0])]);
    }
    fn freedoms(&self, _p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        Vec::new()
    }
    fn alignment(&self) -> Alignment {
        Alignment::Full
    }
    fn shared(&self) -> Shared {
        Shared { rigid: Rigid::Welded, level: Stand::Anyhow, ..Shared::default() }
    }
    fn in_plane(&self) -> Option<InPlane> {
        Some(InPlane { axis: Stand::Anyhow, rows: 3 })
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(6, 9)]
    }
}

impl TreeJoint for Fixed {
    const SHAPE: Option<&'static TreeShape> = Some(&TreeShape::NONE);
}
