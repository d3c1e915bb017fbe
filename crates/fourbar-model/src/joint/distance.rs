//! Distance: two points keep a constant distance, `(d.d - L^2) / (2 L)`, so that the row is in metres. One D.

use super::*;

/// A massless rod with balls at its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distance {
    /// Its length, positive.
    pub length: f64,
}

impl JointType for Distance {
    const WORDS: Words = Words { title: "a distance joint", doc: "A massless rod: keeps two points at a distance.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        let half = 0.5 / self.length;
        vec![Rows::one(half, Coordinate::D { ij: [0, 1], s_i: pair.F.s, s_j: pair.M.s }, half * self.length * self.length)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        let d = M.p - F.p;
        out.push((d.dot(&d) - S::of(self.length * self.length)) * S::of(0.5 / self.length));
    }
    fn freedoms(&self, p: &Vector3<f64>, _R: &Matrix3<f64>) -> Vec<Freedom> {
        let across = fourbar_math::so3::frame_from_z(p);
        [slide(across.column(0).into()), slide(across.column(1).into())].into_iter().chain(turns()).collect()
    }
    fn alignment(&self) -> Alignment {
        Alignment::None
    }
    fn own_measure(&self, pair: &Pair) -> Coordinate {
        Coordinate::D { ij: [0, 1], s_i: pair.F.s, s_j: pair.M.s }
    }
    fn shared(&self) -> Shared {
        Shared { points: SharedPoints::Apart, equation: SharedEquation::Length(self.length), loose: [true, true], ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(1, 7)]
    }
}

impl TreeJoint for Distance {}
