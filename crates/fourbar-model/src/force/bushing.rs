//! Elastic connection of two bodies in six directions.

use super::element::*;
use super::eval::{Plain, States, VelocityOf, lift, point, point_velocity};
use crate::build::Resolve;
use crate::coordinate::PoseOf;
use crate::expr::Dimension;
use crate::model::{Model, PointOn};
use crate::spec::{Orientation, Place};
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A bushing as specified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BushingSpec {
    /// The two places; the frame is located at the first.
    pub between: [Place; 2],
    /// Orientation of the bushing axes in the first body.
    pub frame: Orientation,
    /// Stiffness: three along, three about the axes.
    pub stiffness: [f64; 6],
    /// Damping: three along, three about the axes.
    pub damping: [f64; 6],
}

/// A bushing.
#[derive(Clone, Debug, PartialEq)]
pub struct Bushing {
    /// The places; the second at rest coincides with the first.
    pub between: [PointOn; 2],
    /// Bushing axes in the first body, as columns.
    pub R_i: Matrix3<f64>,
    /// Bushing axes in the second body, parallel to the first as drawn.
    pub R_j: Matrix3<f64>,
    /// Stiffness, linear then angular.
    pub stiffness: [f64; 6],
    /// Damping, linear then angular.
    pub damping: [f64; 6],
}

impl Bushing {
    /// Poses and velocities of its bodies.
    fn bodies<S: Scalar>(&self, x: &impl States<S>) -> [(PoseOf<S>, VelocityOf<S>); 2] {
        self.between.map(|p| (x.pose(p.body.index()), x.velocity(p.body.index())))
    }

    /// Force and torque on the second body at its place, world.
    fn load<S: Scalar>(&self, [(qi, vi), (qj, vj)]: &[(PoseOf<S>, VelocityOf<S>); 2]) -> (Vector3<S>, Vector3<S>) {
        let Self { between, R_i, R_j, stiffness, damping } = self;
        let axes = qi.A * R_i.map(S::of);
        let w_i = qi.A * vi.w;
        // Components in the bushing axes, which turn with the first body.
        let d = point(qj, &between[1].s) - point(qi, &between[0].s);
        let d_dot = point_velocity(qj, vj, &between[1].s) - point_velocity(qi, vi, &between[0].s) - w_i.cross(&d);
        let (y, y_dot) = (axes.tr_mul(&d), axes.tr_mul(&d_dot));
        let F = axes * Vector3::from_fn(|k, _| -(y[k] * S::of(stiffness[k]) + y_dot[k] * S::of(damping[k])));
        let relative = axes.tr_mul(&(qj.A * R_j.map(S::of)));
        let Turned { theta, bend } = Turned::new(&relative);
        let omega = axes.tr_mul(&(qj.A * vj.w - w_i));
        // The elastic torque is the gradient of theta K theta / 2; with d/dt theta = T^-1 of the rate in the moving axes.
        let elastic = Vector3::from_fn(|k, _| theta[k] * S::of(stiffness[3 + k]));
        let T = -inverse_tangent(&theta, bend, &elastic) - Vector3::from_fn(|k, _| omega[k] * S::of(damping[3 + k]));
        (F, axes * T)
    }
}

impl Element for Bushing {
    type Spec = BushingSpec;
    const WORDS: Words = Words {
        kind: "bushing",
        title: "a bushing",
        doc: "Elastic connection in six directions. Displacements are those of the second place in axes that turn with the first body; rotations are the components of the rotation vector (axis times angle, up to half a turn) from the first to the second, and the torque is the gradient of the energy in them, also at large angles.",
        keys: &[
            BETWEEN,
            may("frame", Holds::Orientation, "axes of the bushing in the first body; default: its axes"),
            need("stiffness", Holds::Six(Dimension::STIFFNESS, Dimension::TORQUE), "along x, y, z, then about x, y, z"),
            may("damping", Holds::Six(Dimension::DAMPING, Dimension::ROTARY_DAMPING), "the same; default: none"),
        ],
        own: &[],
    };

    fn read(x: &mut dyn Given) -> Option<BushingSpec> {
        Some(BushingSpec {
            between: x.places("between")?,
            frame: x.orientation("frame").unwrap_or(Orientation::World),
            stiffness: x.six("stiffness")?,
            damping: x.six("damping").unwrap_or_default(),
        })
    }

    fn write(spec: &BushingSpec, out: &mut dyn Spelling) {
        out.places("between", &spec.between);
        out.orientation("frame", &spec.frame);
        out.numbers("stiffness", &spec.stiffness);
        out.unless_zero("damping", &spec.damping);
    }

    fn build(spec: &BushingSpec, b: &mut Resolve<'_, '_>) -> Option<Self> {
        let between = b.between(&spec.between)?;
        let R_i = b.orientation("frame", &spec.frame);
        let good = b.finite("stiffness", &spec.stiffness) & b.finite("damping", &spec.damping);
        let [bi, bj] = between.map(|p| &b.model.bodies[p.body.index()]);
        let R_j = bj.A.transpose() * bi.A * R_i;
        good.then_some(Self { between, R_i, R_j, stiffness: spec.stiffness, damping: spec.damping })
    }

    fn touches(&self) -> Touches<'_> {
        Touches { turned: self.between.iter().map(|p| p.body).collect(), ..Touches::between(&self.between) }
    }

    fn wrench<S: Scalar>(&self, _model: &Model, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let bodies = self.bodies(x);
        let (F, T) = self.load(&bodies);
        let [a, b] = self.between.map(|p| p.body.index());
        let [(qi, _), (qj, _)] = bodies;
        // Acting at the moving point on the second body; the first takes the opposite at the same world point.
        let p = point(&qj, &self.between[1].s);
        add(b, F, lift::<S>(&self.between[1].s).cross(&qj.A.tr_mul(&F)) + qj.A.tr_mul(&T));
        add(a, -F, -(qi.A.tr_mul(&((p - qi.r).cross(&F) + T))));
    }

    fn potential<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let Self { between, R_i, R_j, stiffness, .. } = self;
        let [qi, qj] = between.map(|p| x.pose(p.body.index()));
        let axes = qi.A * R_i.map(S::of);
        let y = axes.tr_mul(&(point(&qj, &between[1].s) - point(&qi, &between[0].s)));
        let theta = Turned::new(&axes.tr_mul(&(qj.A * R_j.map(S::of)))).theta;
        (0..3).fold(S::zero(), |sum, k| {
            sum + S::of(0.5) * (S::of(stiffness[k]) * y[k] * y[k] + S::of(stiffness[3 + k]) * theta[k] * theta[k])
        })
    }

    fn power<S: Scalar>(&self, _model: &Model, x: &impl States<S>) -> S {
        let Self { between, R_i, damping, .. } = self;
        let [(qi, vi), (qj, vj)] = self.bodies(x);
        let axes = qi.A * R_i.map(S::of);
        let w_i = qi.A * vi.w;
        let d = point(&qj, &between[1].s) - point(&qi, &between[0].s);
        let rate = point_velocity(&qj, &vj, &between[1].s) - point_velocity(&qi, &vi, &between[0].s) - w_i.cross(&d);
        let (y, omega) = (axes.tr_mul(&rate), axes.tr_mul(&(qj.A * vj.w - w_i)));
        (0..3).fold(S::zero(), |sum, k| sum - y[k] * y[k] * S::of(damping[k]) - omega[k] * omega[k] * S::of(damping[3 + k]))
    }

    fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
        (0..3).map(|k| (self.stiffness[k], self.damping[k])).collect()
    }

    fn quantities(&self, _model: &Model) -> Quantities {
        let mut list = SmallVec::from_slice(&vector!("force", "N"));
        list.extend(vector!("torque", "N*m"));
        list.push(("power", "W"));
        list
    }

    fn values(&self, model: &Model, x: &Plain<'_>) -> Values {
        let (F, T) = self.load(&self.bodies(x));
        smallvec![F.x, F.y, F.z, T.x, T.y, T.z, power_of_wrench(self, model, x)]
    }

    fn glyph(&self) -> Glyph {
        Glyph::Coil(self.between)
    }
}

/// Number of halvings of the rotation angle before its series are summed: half a turn divided by 32 is 0.1.
const HALVINGS: usize = 5;

/// Rotation vector of a rotation by less than half a turn.
struct Turned<S> {
    /// The rotation vector.
    theta: Vector3<S>,
    /// `(1 - (p/2) cot(p/2)) / p^2` with the angle p, a factor of the inverse tangent map.
    bend: S,
}

impl<S: Scalar> Turned<S> {
    /// From a rotation matrix. All quantities are power series in terms that are finite and smooth for all angles below half a turn,
    /// including zero, so that a recording scalar needs no branches and no quotient 0/0 occurs, and a Taylor series exists everywhere.
    fn new(R: &Matrix3<S>) -> Self {
        let half = S::of(0.5);
        let v = Vector3::new(R[(2, 1)] - R[(1, 2)], R[(0, 2)] - R[(2, 0)], R[(1, 0)] - R[(0, 1)]) * half;
        let c = (R[(0, 0)] + R[(1, 1)] + R[(2, 2)] - S::one()) * half;
        // Cosines of the half, the quarter and so on; the sine of the last part is that of the whole over twice all of them.
        let mut cosine = [c; HALVINGS + 1];
        let mut product = S::one();
        for k in 1..=HALVINGS {
            cosine[k] = ((S::one() + cosine[k - 1]) * half).sqrt();
            product *= cosine[k];
        }
        let parts = f64::from(1 << HALVINGS);
        let s2 = v.dot(&v) / (product * product) * S::of(1.0 / (parts * parts));
        // asin(s)/s in powers of s^2 < 0.01: coefficient n is that of n - 1 times (2n - 1)^2 / (2n (2n + 1)).
        let mut ratio = S::one();
        for n in (1..=7).rev() {
            let n = f64::from(n);
            ratio = S::one() + ratio * s2 * S::of((2.0 * n - 1.0).powi(2) / (2.0 * n * (2.0 * n + 1.0)));
        }
        // With g(x) = (1 - x cot x)/x^2: g(x) = (g(x/2) + tan(x/2)/(x/2))/4; the last part in powers of x^2.
        let x2 = s2 * ratio * ratio;
        let mut g = S::of(1382.0 / 638_512_875.0);
        for a in [2.0 / 93_555.0, 1.0 / 4_725.0, 2.0 / 945.0, 1.0 / 45.0, 1.0 / 3.0] {
            g = S::of(a) + g * x2;
        }
        let mut sinc = S::one() / ratio;
        for k in (2..=HALVINGS).rev() {
            g = (g + sinc / cosine[k]) * S::of(0.25);
            sinc *= cosine[k];
        }
        Self { theta: v * (ratio / product), bend: g * S::of(0.25) }
    }
}

/// `T^-T y` in the base axes: the torque on the moving body, in the base frame, of a potential in `theta`.
fn inverse_tangent<S: Scalar>(theta: &Vector3<S>, bend: S, y: &Vector3<S>) -> Vector3<S> {
    // theta rate = T^-1 omega(moving axes) and omega(base axes) = R omega(moving): power = y . T^-1 R^T omega_base, so the
    // torque in base axes is R T^-T y = T^-1 y, because R T^-T = T^-1 for the tangent of the same vector.
    let cross = theta.cross(y);
    y + cross * S::of(0.5) + theta.cross(&cross) * bend
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourbar_math::so3;

    #[test]
    fn rotation_vectors_and_their_tangent_factor_are_right_for_all_angles_below_half_a_turn() {
        let axis = Vector3::new(0.3, -0.5, 0.8).normalize();
        for k in 0..=310 {
            let p = 0.01 * f64::from(k);
            let turned = Turned::new(&so3::exp(&(axis * p)));
            let error = (turned.theta - axis * p).norm();
            // Near half a turn the axis follows from small differences in the matrix.
            assert!(error < 2e-13 / (std::f64::consts::PI - p).powi(2).min(1.0), "angle {p}: {error:.1e}");
            let half = 0.5 * p;
            // Far from zero the closed form is accurate.
            if p > 0.5 {
                let bend = (1.0 - half * half.cos() / half.sin()) / (p * p);
                assert!((turned.bend - bend).abs() < 1e-13 / (std::f64::consts::PI - p).powi(2).min(1.0), "angle {p}: {}", turned.bend);
            } else {
                // The next term of the series is p^8 / 47900160.
                let bend = 1.0 / 12.0 + p * p / 720.0 + p.powi(4) / 30_240.0 + p.powi(6) / 1_209_600.0;
                assert!((turned.bend - bend).abs() < 2.2e-8 * p.powi(8) + 1e-15, "angle {p}: {} {bend}", turned.bend);
            }
        }
    }
}
