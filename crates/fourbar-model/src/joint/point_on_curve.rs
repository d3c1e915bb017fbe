//! Point on curve: the moving origin stays on a curve in the plane x, y of the base, or at a distance from it. 1 DP2 and the distance from
//! the curve. Its coordinate is the arc length along the path.

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
        doc: "A point of the moving body follows a planar curve of the base; the coordinate is the arc length along the curve, with rounds counted on closed curves.",
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
        let refused = "follows a piecewise curve, which a Taylor series cannot follow from one piece to the next";
        Shared { points: SharedPoints::Apart, loose: [false, true], level: Stand::Along, refused: Some(refused), ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::to(JointKind::PointOnPlane(PointOnPlane), 1, 6), Looser::gone(2, 8)]
    }
}

/// Length of the path, then a unit quaternion of M against F.
impl TreeJoint for PointOnCurve {
    const SHAPE: Option<&'static TreeShape> = Some(&TreeShape {
        groups: &[1, 3],
        names: &["distance", "turn x", "turn y", "turn z"],
        slides: 1,
        quaternion: Some((1, 1)),
        bends: true,
        ..TreeShape::NONE
    });

    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (so3::from_quaternion(&[q[1], q[2], q[3], q[4]]), self.path.at(q[0]).0.push(0.0))
    }
    fn coordinates(&self, R: &Matrix3<f64>, p: &Vector3<f64>, last: f64, q: &mut [f64]) {
        q[0] = self.path.counted(self.path.measure(Measure::Length, &p.xy()).0, last);
        q[1..5].copy_from_slice(&so3::quaternion(R));
    }
    fn speeds(&self, q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        u[0] = (F * self.path.at(q[0]).1.push(0.0)).dot(v);
        u[1..4].copy_from_slice(M.tr_mul(w).as_slice());
    }
    fn columns(&self, q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Slide(F * self.path.at(q[0]).1.push(0.0)));
        (0..3).for_each(|k| put(1 + k, Motion::Turn(M.column(k).into())));
    }
    fn bend(&self, q: &[f64]) -> Vector3<f64> {
        self.path.bend(q[0]).push(0.0)
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        (which == JointCoordinate::Distance).then_some((0, 1.0))
    }
}
