//! Contact: the places where two bodies may touch, the gap there, and the law of the contact force.
//!
//! Every pair of shapes is reduced to [`Spot`]s. A spot provides its gap (negative where the bodies overlap), the unit normal from the
//! second body towards the first, and a point half way between the two surfaces. The point lies on the common normal, so that for all
//! shapes the rate of the gap is exactly the normal component of the relative velocity of the two bodies at that point.

mod among;
mod law;
mod outline;
mod spec;
mod spot;

pub use among::{Among, Ball};
pub use law::{Compliant, Friction, damping_factor};
pub use outline::Outline;
pub use spec::{ContactSpec, FrictionSpec, LawName, Partners, SideForm, SideSpec};
pub use spot::{First, Polygon, Second, Spot, Touch};

use crate::coordinate::PoseOf;
use crate::force::eval::States;
use fourbar_math::Scalar;
use nalgebra::Vector3;

/// Where the bodies of a contact may touch.
#[derive(Clone, Debug, PartialEq)]
pub enum Spots {
    /// A list of individual spots.
    Listed(Vec<Spot>),
    /// Balls among each other.
    Among(Among),
}

impl Spots {
    /// Bodies that may touch, ground omitted, in order.
    pub fn bodies(&self) -> Vec<usize> {
        let mut list: Vec<usize> = match self {
            Self::Listed(spots) => spots.iter().flat_map(|s| s.bodies).collect(),
            Self::Among(a) => a.balls.iter().map(|b| b.body).collect(),
        };
        list.retain(|b| *b != 0);
        list.sort_unstable();
        list.dedup();
        list
    }

    /// Calls `f` with every spot whose gap may be smaller than `reach`, at poses given by `pose`.
    pub fn near(&self, reach: f64, pose: &impl Fn(usize) -> PoseOf<f64>, f: &mut impl FnMut(&Spot)) {
        match self {
            Self::Listed(spots) => spots.iter().for_each(f),
            Self::Among(a) => a.near(reach, pose, f),
        }
    }

    /// Gaps are reported up to this distance, m: the largest diameter for balls among each other, unlimited for others.
    pub fn reach(&self) -> f64 {
        match self {
            Self::Listed(_) => f64::INFINITY,
            Self::Among(among) => 2.0 * among.balls.iter().fold(0.0, |m, b| b.radius.max(m)),
        }
    }

    /// The smallest gap at some poses, m, or `reach` where balls among each other are farther apart.
    pub fn least_gap(&self, reach: f64, pose: &impl Fn(usize) -> PoseOf<f64>) -> f64 {
        let mut least = f64::INFINITY;
        self.near(reach, pose, &mut |s| least = least.min(s.touch(&pose(s.bodies[0]), &pose(s.bodies[1])).gap));
        if least.is_finite() { least } else { reach }
    }
}

/// A touch with the relative motion there.
#[derive(Clone, Copy, Debug)]
pub struct Moving<S: Scalar> {
    /// Gap, normal and point.
    pub touch: Touch<S>,
    /// Rate of the gap, m/s.
    pub rate: S,
    /// Velocity of the first body against the second along the surface, world, m/s.
    pub slip: Vector3<S>,
}

impl<S: Scalar> Moving<S> {
    /// The motion at a spot.
    pub fn at(spot: &Spot, x: &impl States<S>) -> Self {
        let [a, b] = spot.bodies;
        let (qa, qb) = (x.pose(a), x.pose(b));
        let touch = spot.touch(&qa, &qb);
        let velocity = |body: usize, q: &PoseOf<S>| {
            let v = x.velocity(body);
            v.v + (q.A * v.w).cross(&(touch.p - q.r))
        };
        let u = velocity(a, &qa) - velocity(b, &qb);
        let rate = touch.n.dot(&u);
        Self { touch, rate, slip: u - touch.n * rate }
    }
}

#[cfg(test)]
mod tests;
