//! Dry friction at a spot of a rigid contact that slides: `mu` times the normal force, against the slip.
//!
//! It exists only between two events, while its spot is closed. The force follows the direction of the slip; where the slip reaches zero
//! and would reverse, the force keeps its direction, so that it is smooth in a step that ends there.

use super::element::*;
use super::eval::{Plain, States};
use crate::contact::{Moving, Spot};
use crate::model::{BodyId, PointOn};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Friction of a sliding spot.
#[derive(Clone, Debug, PartialEq)]
pub struct Rub {
    /// Where.
    pub spot: Arc<Spot>,
    /// The element that keeps it closed, by its index among the rolling elements.
    pub closed: usize,
    /// Its load, by its index among the loads of the mechanism.
    pub load: usize,
    /// Coefficient.
    pub mu: f64,
    /// Direction of the slip of the first body where sliding began, axes of the second.
    pub direction: Vector3<f64>,
    /// Slip speeds below this count as zero, m/s.
    pub slow: f64,
}

impl Rub {
    /// Direction of the slip, world.
    pub fn along<S: Scalar>(&self, slip: &Vector3<S>, d: &Vector3<S>) -> Vector3<S> {
        let forward = slip.dot(d);
        let ahead = forward.value() / self.slow;
        if ahead <= 0.0 {
            return *d;
        }
        if ahead >= 1.0 {
            return slip / slip.dot(slip).sqrt();
        }
        // The transverse slip is weighted less at lower slip speeds.
        let x = forward * S::of(1.0 / self.slow);
        let share = x * x * (S::of(3.0) - x * S::of(2.0));
        let w = (slip - d * forward) * share + d * S::of(self.slow);
        w / w.dot(&w).sqrt()
    }

    /// Force on the first body, world, and the motion there.
    fn force<S: Scalar>(&self, x: &impl States<S>) -> (Vector3<S>, Moving<S>) {
        let m = Moving::at(&self.spot, x);
        let d = x.pose(self.spot.bodies[1]).A * self.direction.map(S::of);
        (self.along(&m.slip, &d) * (x.load(self.load) * S::of(-self.mu)), m)
    }

    /// Its wrench on the bodies.
    pub fn wrench<S: Scalar>(&self, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        let (F, m) = self.force(x);
        for (body, F) in [(self.spot.bodies[0], F), (self.spot.bodies[1], -F)] {
            let q = x.pose(body);
            add(body, F, q.A.tr_mul(&(m.touch.p - q.r).cross(&F)));
        }
    }

    /// Its power, W.
    pub fn power<S: Scalar>(&self, x: &impl States<S>) -> S {
        let (F, m) = self.force(x);
        F.dot(&m.slip)
    }

    /// The bodies that it acts on and reads.
    pub fn touches(&self) -> Touches<'_> {
        let place = |b: usize| PointOn { body: BodyId(b as u32), s: Vector3::zeros() };
        let bodies: SmallVec<[BodyId; 2]> = self.spot.bodies.iter().filter(|b| **b != 0).map(|b| BodyId(*b as u32)).collect();
        Touches {
            places: smallvec![place(self.spot.bodies[0]), place(self.spot.bodies[1])],
            turned: bodies,
            spot: Some(self.closed),
            ..Touches::default()
        }
    }

    /// It reports nothing itself, as it is part of its contact.
    pub fn values(&self, _x: &Plain<'_>) -> Values {
        smallvec![]
    }

    /// How it is drawn.
    pub fn glyph(&self) -> Glyph {
        Glyph::Body(BodyId(self.spot.bodies[0] as u32))
    }
}
