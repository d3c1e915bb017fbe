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
    const WORDS: Words = Words {
        title: "a screw joint",
        doc: "Slides along the axis in proportion to its turn.",
        numbers: &[Number { key: "lead", dimension: Dimension::LENGTH, doc: "metres per turn, right-handed" }],
    };

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
    fn shared(&self) -> Shared {
        let thread = Some(self.lead / (2.0 * PI));
        Shared { axis: true, points: SharedPoints::Line, level: Stand::Across, thread, ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        Vec::new()
    }
    fn without_thread<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        Cylindrical.residual(F, M, out);
    }
}

impl TreeJoint for Screw {
    const SHAPE: Option<&'static TreeShape> = Some(&TreeShape { groups: &[1], names: &["angle"], ..TreeShape::NONE });

    #[inline]
    fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (about_z(q[0]), Vector3::z() * (self.lead / (2.0 * PI) * q[0]))
    }
    fn coordinates(&self, R: &Matrix3<f64>, _p: &Vector3<f64>, angle: f64, q: &mut [f64]) {
        q[0] = z_angle(R, angle);
    }
    fn speeds(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, _v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        u[0] = F.column(2).dot(w);
    }
    #[inline]
    fn columns(&self, _q: &[f64], F: &Matrix3<f64>, _M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        put(0, Motion::Helix(F.column(2).into(), self.lead / (2.0 * PI)));
    }
    fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        let h = self.lead / (2.0 * PI);
        match which {
            JointCoordinate::Angle => Some((0, 1.0)),
            JointCoordinate::Distance => (h != 0.0).then_some((0, 1.0 / h)),
        }
    }
}
