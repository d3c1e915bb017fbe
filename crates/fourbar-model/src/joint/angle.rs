//! Constant angle between z of F and z of M: one DP1, `(z_F . z_M - cos a) / sin a`, so that the row is in radians;
//! parallel directions (angle zero) are two DP1.

use super::*;
use fourbar_math::elementary;

/// Two directions at a constant angle, between zero and pi; zero means parallel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantAngle {
    /// The angle; an angle of pi is stated as zero with one direction reversed.
    pub angle: f64,
}

impl JointType for ConstantAngle {
    const WORDS: Words =
        Words { title: "an angle joint", doc: "Keeps the angle between a direction of the base and one of the moving body.", numbers: &[] };

    fn rows(&self, pair: &Pair) -> Vec<Rows> {
        if self.angle == 0.0 {
            return vec![pair.perpendicular(0, 2), pair.perpendicular(1, 2)];
        }
        let (s, c) = elementary::sin_cos(self.angle);
        let dot = Coordinate::Dp1 { ij: [0, 1], a_i: pair.F.axis(2), a_j: pair.M.axis(2) };
        vec![Rows::one(pair.L / s, dot, pair.L * c / s)]
    }
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        if self.angle == 0.0 {
            out.extend([F.axes[0].dot(&M.axes[2]), F.axes[1].dot(&M.axes[2])]);
        } else {
            let (s, c) = elementary::sin_cos(self.angle);
            out.push((F.axes[2].dot(&M.axes[2]) - S::of(c)) * S::of(1.0 / s));
        }
    }
    fn freedoms(&self, _p: &Vector3<f64>, R: &Matrix3<f64>) -> Vec<Freedom> {
        let slides = [slide(Vector3::x()), slide(Vector3::y()), slide(Vector3::z())];
        if self.angle == 0.0 {
            return slides.into_iter().chain([turn(Vector3::z())]).collect();
        }
        slides.into_iter().chain([turn(Vector3::z()), turn(R.column(2).into())]).collect()
    }
    fn alignment(&self) -> Alignment {
        if self.angle == 0.0 { Alignment::Axis } else { Alignment::None }
    }
    fn shared(&self) -> Shared {
        if self.angle == 0.0 {
            return Shared { axis: true, ..Shared::default() };
        }
        Shared { equation: SharedEquation::Dot { what: "angle", value: elementary::cos(self.angle) }, ..Shared::default() }
    }
    fn looser(&self) -> Vec<Looser> {
        vec![Looser::gone(1, 7)]
    }
}

impl TreeJoint for ConstantAngle {}
