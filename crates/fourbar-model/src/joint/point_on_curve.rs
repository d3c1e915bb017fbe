//! Point on curve: the moving origin stays on a curve in the plane x, y of the base, or at a distance from it. 1 DP2 and the distance
//! from the curve. Its coordinate is the length of the path that the point has gone.

use super::*;
use crate::coordinate::OnCurve;
use crate::curve::{Measure, Path};
use nalgebra::Vector2;

/// A bead on a track, a pin in a curved slot, a roller on a cam.
#[derive(Clone, Debug, PartialEq)]
pub struct PointOnCurve {
    /// The path of the moving origin in the plane of F.
    pub path: Path,
}

impl PointOnCurve {
    fn read(&self, pair: &Pair, what: Measure) -> Coordinate {
        let a_i = [pair.F.axis(0), pair.F.axis(1)];
        Coordinate::Curve(OnCurve { ij: [0, 1], a_i, s_i: pair.F.s, s_j: pair.M.s, path: self.path.clone(), what, memory: pair.memory })
    }
}

impl JointType for PointOnCurve {
    const WORDS: Words = Words {
        title: "a point-on-curve joint",
        doc: "A point of the moving body follows a planar curve of the base; the coordinate is the length of its path, rounds counted on closed curves.",
        numbers: &[],
    };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        vec![pair.within(2), Rows::one(1.0, self.read(pair, Measure::Offset), 0.0)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        let d = M.p - F.p;
        out.push(F.axes[2].dot(&d));
        out.push(self.path.measure_of(Measure::Offset, &Vector2::new(F.axes[0].dot(&d), F.axes[1].dot(&d))));
    }
    fn freedoms(&self, p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        let t = self.path.curve.near(&p.xy()).t;
        [slide(Vector3::new(t.x, t.y, 0.0))].into_iter().chain(turns()).collect()
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn distance(&self, pair: &Pair) -> Coordinate {
        self.read(pair, Measure::Length)
    }
    fn range(&self) -> Option<[f64; 2]> {
        (!self.path.curve.closed()).then(|| [0.0, self.path.length()])
    }
    fn drawn(&self) -> Option<Drawn> {
        let curve = &self.path.curve;
        Some(Drawn { points: curve.polyline(200), closed: curve.closed(), radius: self.path.offset.abs() })
    }
    fn shared(&self) -> Shared {
        let refused = "follows a curve made of pieces, which a Taylor series cannot carry from one piece into the next";
        Shared { points: SharedPoints::Apart, loose: [false, true], level: Stand::Along, refused: Some(refused), ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::to(JointKind::PointOnPlane(PointOnPlane), 1, 6), Looser::gone(2, 8)]
    }
}

/// It always closes a loop: its point may stand on any body, which turns as it likes.
impl TreeJoint for PointOnCurve {}
