//! Poses and velocities of bodies in global terms: the common language of all formulations.

mod serial;

use crate::model::Model;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Pose of a body: centre of mass in the world, rotation from body to world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Centre of mass, world.
    pub r: Vector3<f64>,
    /// Rotation matrix, body to world.
    pub A: Matrix3<f64>,
}

impl Pose {
    /// The world frame itself.
    #[inline]
    pub fn identity() -> Self {
        Self { r: Vector3::zeros(), A: Matrix3::identity() }
    }
    /// World position of the body-fixed point `s_bar` (relative to the centre of mass).
    #[inline]
    pub fn point(&self, s_bar: &Vector3<f64>) -> Vector3<f64> {
        self.r + self.A * s_bar
    }
    /// The pose moved by a body increment: `r + dr`, `A exp(theta_bar)`.
    #[inline]
    pub fn moved(&self, dq: &Twist) -> Self {
        Self { r: self.r + dq.v, A: self.A * so3::exp(&dq.w) }
    }
    /// The increment that leads from `self` to `other`.
    pub fn increment_to(&self, other: &Pose) -> Twist {
        Twist { v: other.r - self.r, w: so3::log(&(self.A.transpose() * other.A)) }
    }
}

/// Velocity of a body: of the centre of mass in the world, angular in body axes. Accelerations and increments have the same shape.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Twist {
    /// Linear part, world axes.
    pub v: Vector3<f64>,
    /// Angular part, body axes.
    pub w: Vector3<f64>,
}

impl Twist {
    /// No motion.
    #[inline]
    pub fn zero() -> Self {
        Self::default()
    }
    /// Velocity of the body-fixed point `s_bar` in the world.
    #[inline]
    pub fn of_point(&self, pose: &Pose, s_bar: &Vector3<f64>) -> Vector3<f64> {
        self.v + pose.A * self.w.cross(s_bar)
    }
    /// Multiple.
    #[inline]
    pub fn scaled(&self, k: f64) -> Self {
        Self { v: self.v * k, w: self.w * k }
    }
    /// Sum.
    #[inline]
    pub fn plus(&self, o: &Self) -> Self {
        Self { v: self.v + o.v, w: self.w + o.w }
    }
}

impl From<Twist> for [f64; 6] {
    fn from(x: Twist) -> Self {
        [x.v.x, x.v.y, x.v.z, x.w.x, x.w.y, x.w.z]
    }
}

/// Load on a body: force at the centre of mass in world axes, torque about it in body axes. Impulses and momenta have the same shape, and
/// so has a row of a Jacobian: it is the wrench of a unit multiplier.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Wrench {
    /// Force, world axes.
    pub F: Vector3<f64>,
    /// Torque, body axes.
    pub T: Vector3<f64>,
}

impl Wrench {
    /// No load.
    #[inline]
    pub fn zero() -> Self {
        Self::default()
    }
    /// Multiple.
    #[inline]
    pub fn scaled(&self, k: f64) -> Self {
        Self { F: self.F * k, T: self.T * k }
    }
    /// Sum.
    #[inline]
    pub fn plus(&self, o: &Self) -> Self {
        Self { F: self.F + o.F, T: self.T + o.T }
    }
    /// Power on a moving body; for a row, the rate.
    #[inline]
    pub fn power(&self, of: &Twist) -> f64 {
        self.F.dot(&of.v) + self.T.dot(&of.w)
    }
}

impl From<Wrench> for [f64; 6] {
    fn from(x: Wrench) -> Self {
        [x.F.x, x.F.y, x.F.z, x.T.x, x.T.y, x.T.z]
    }
}

/// Pose and velocity of every body, with the ground as number zero, and the counted angles of the joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Time.
    pub t: f64,
    /// Poses, by body.
    pub q: Vec<Pose>,
    /// Velocities, by body.
    pub v: Vec<Twist>,
    /// Last accepted value of every counted angle, by [`crate::coordinate::Angle::memory`].
    pub turns: Vec<f64>,
    /// Inputs, their slopes, and states; see [`crate::auxiliary`].
    pub z: Vec<f64>,
}

/// Numbers of a body in a saved configuration: position, rotation matrix by columns, velocity, angular velocity.
const SAVED: usize = 18;

impl Configuration {
    /// A list of numbers for a checkpoint: time, bodies, counted angles, inputs and states.
    pub fn save(&self) -> Value {
        let body =
            |(q, v): (&Pose, &Twist)| q.r.iter().chain(q.A.iter()).chain(v.v.iter()).chain(v.w.iter()).copied().collect::<Vec<f64>>();
        let bodies = self.q.iter().zip(&self.v).flat_map(body);
        std::iter::once(self.t).chain(bodies).chain(self.turns.iter().chain(&self.z).copied()).collect::<Vec<f64>>().into()
    }

    /// From a checkpoint; `None` if its sizes do not fit.
    pub fn restored(model: &Model, saved: &Value) -> Option<Self> {
        let x = numbers(saved);
        let bodies = SAVED * model.bodies.len();
        if x.len() != 1 + bodies + model.angles.len() + model.auxiliaries() || !x.iter().all(|x| x.is_finite()) {
            return None;
        }
        let (bodies, rest) = x[1..].split_at(bodies);
        let (turns, z) = rest.split_at(model.angles.len());
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        Some(Self {
            t: x[0],
            q: bodies.chunks_exact(SAVED).map(|x| Pose { r: three(x), A: Matrix3::from_column_slice(&x[3..12]) }).collect(),
            v: bodies.chunks_exact(SAVED).map(|x| Twist { v: three(&x[12..]), w: three(&x[15..]) }).collect(),
            turns: turns.to_vec(),
            z: z.to_vec(),
        })
    }

    /// The start as given by the model's author, not necessarily consistent.
    pub fn start(model: &Model) -> Self {
        Self {
            t: 0.0,
            q: model.bodies.iter().map(|b| Pose { r: b.r, A: b.A }).collect(),
            v: model.bodies.iter().map(|b| Twist { v: b.v, w: b.A.transpose() * b.omega }).collect(),
            turns: model.start_turns(),
            z: model.start_auxiliaries(),
        }
    }
}

/// The numbers of a saved list; other values become NaN.
pub fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().map(|a| a.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()).unwrap_or_default()
}
