//! Compliant contact: a force at every spot where two bodies overlap, `K d^n (1 + chi d')` along the normal and dry friction along the surface.

use super::element::*;
use super::eval::{Plain, States};
use crate::contact::{Compliant, Moving, Spot, Spots};
use crate::coordinate::PoseOf;
use crate::model::{BodyId, Model, PointOn};
use fourbar_math::Scalar;
use nalgebra::Vector3;
use smallvec::{SmallVec, smallvec};

/// A compliant contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Contact {
    /// Where its bodies may touch.
    pub spots: Spots,
    /// The law of its force.
    pub law: Compliant,
    /// Speed of approach for which the restitution holds, m/s.
    pub speed: f64,
    /// Bodies that may touch, ground omitted.
    bodies: Vec<usize>,
    /// Stiffness and damping in an impact at that speed, N/m and N s/m.
    slope: (f64, f64),
    /// State of each spot between two events; empty: determined by the gaps.
    doing: Vec<i64>,
}

impl Contact {
    /// A contact between bodies of a model.
    pub(crate) fn new(model: &Model, spots: Spots, law: Compliant, speed: f64) -> Self {
        let bodies = spots.bodies();
        let mass = |b: &usize| model.bodies[*b].mass;
        let lightest = bodies.iter().map(mass).fold(f64::INFINITY, f64::min);
        let slope = if lightest.is_finite() { law.slope(lightest, speed) } else { (0.0, 0.0) };
        Self { spots, law, speed, bodies, slope, doing: Vec::new() }
    }

    /// Whether a recording scalar can be used.
    pub fn is_recordable(&self) -> bool {
        matches!(&self.spots, Spots::Listed(list) if list.iter().all(Spot::is_one_piece)) && self.law.n.fract() == 0.0
    }

    /// The bodies it may push.
    pub fn bodies(&self) -> &[usize] {
        &self.bodies
    }

    /// Number of one-sided conditions: its spots, if they are listed.
    pub fn sides(&self) -> usize {
        match &self.spots {
            Spots::Listed(list) => list.len(),
            Spots::Among(_) => 0,
        }
    }

    /// Relative position of the bodies at a spot.
    pub fn side(&self, x: &Plain<'_>, k: usize) -> Option<Side> {
        let Spots::Listed(list) = &self.spots else { return None };
        let spot = list.get(k)?;
        let m = Moving::at(spot, x);
        let push = (1.0 - self.law.chi * m.rate) / (1.0 + (self.law.chi * m.rate).abs());
        Some(Side { gap: m.touch.gap, rate: m.rate, push, follows: spot.follows(), through: spot.way_through() })
    }

    /// Sets the state of the bodies at a spot to [`doing`].
    pub fn set_doing(&mut self, spot: usize, doing: i64) {
        if self.doing.is_empty() {
            let mut all = vec![doing::APART; self.sides()];
            all[spot] = doing;
            self.doing = all;
        } else {
            self.doing[spot] = doing;
        }
    }

    /// Calls `f` for every spot that may overlap, with its state if known.
    fn each<S: Scalar>(&self, x: &impl States<S>, mut f: impl FnMut(&Spot, Moving<S>, Option<i64>)) {
        match &self.spots {
            Spots::Listed(list) if self.doing.is_empty() => list.iter().for_each(|s| f(s, Moving::at(s, x), None)),
            Spots::Listed(list) => {
                for (s, d) in list.iter().zip(&self.doing).filter(|(_, d)| **d != doing::APART) {
                    f(s, Moving::at(s, x), Some(*d));
                }
            }
            among => among.near(0.0, &values(x), &mut |s| f(s, Moving::at(s, x), None)),
        }
    }

    /// Force on the first body, world: normal and along the surface; and the normal force with its elastic part.
    fn push<S: Scalar>(&self, m: &Moving<S>, doing: Option<i64>) -> (Vector3<S>, Vector3<S>, [S; 2]) {
        let normal = match doing {
            None => self.law.normal(m.touch.gap, m.rate),
            Some(doing) => self.law.normal_doing(m.touch.gap, m.rate, doing),
        };
        let along = if self.law.friction.fixed > 0.0 { self.law.tangential(normal[0], &m.slip) } else { Vector3::zeros() };
        (m.touch.n * normal[0], along, normal)
    }

    /// Its wrench on the bodies.
    pub fn wrench<S: Scalar>(&self, x: &impl States<S>, add: &mut impl FnMut(usize, Vector3<S>, Vector3<S>)) {
        self.each(x, |spot, m, doing| {
            let (normal, along, _) = self.push(&m, doing);
            let F = normal + along;
            for (body, F) in [(spot.bodies[0], F), (spot.bodies[1], -F)] {
                let q = x.pose(body);
                add(body, F, q.A.tr_mul(&(m.touch.p - q.r).cross(&F)));
            }
        });
    }

    /// Energy stored in it, J.
    pub fn potential<S: Scalar>(&self, x: &impl States<S>) -> S {
        let mut sum = S::zero();
        self.each(x, |_, m, doing| {
            sum += if doing.is_none() { self.law.potential(m.touch.gap) } else { self.law.stored(m.touch.gap) };
        });
        sum
    }

    /// Power of damping and friction, W.
    pub fn power<S: Scalar>(&self, x: &impl States<S>) -> S {
        let mut sum = S::zero();
        self.each(x, |_, m, doing| {
            let (_, along, [whole, elastic]) = self.push(&m, doing);
            sum += (whole - elastic) * m.rate + along.dot(&m.slip);
        });
        sum
    }

    /// Its energies and virtual power: a force with a kink, by its wrench on bodies.
    pub fn act<S: Scalar>(&self, x: &mut impl Acts<S>) {
        let mut wrenches = SmallVec::<[(usize, Vector3<S>, Vector3<S>); 2]>::new();
        self.wrench(&*x, &mut |body, F, T| wrenches.push((body, F, T)));
        for (body, F, T) in wrenches.into_iter().filter(|w| w.0 > 0) {
            x.pushes(BodyId(body as u32), F, T);
        }
        let power = self.power(&*x);
        x.gives(power);
    }

    /// The bodies that it acts on and reads.
    pub fn touches(&self) -> Touches<'_> {
        let [first, second] = match (&self.spots, self.bodies.as_slice()) {
            (Spots::Listed(list), _) => list.first().map_or([0, 0], |s| s.bodies),
            (Spots::Among(_), [a, b, ..]) => [*a, *b],
            _ => [0, 0],
        };
        let place = |b: usize| PointOn { body: BodyId(b as u32), s: Vector3::zeros() };
        Touches {
            places: smallvec![place(first), place(second)],
            turned: self.bodies.iter().map(|b| BodyId(*b as u32)).collect(),
            ..Touches::default()
        }
    }

    /// Stiffness and damping in an impact, N/m and N s/m.
    pub fn stiffness(&self) -> SmallVec<[(f64, f64); 3]> {
        smallvec![self.slope]
    }

    /// Rate at which friction brings a body of a given weight per mass to rest, 1/s.
    pub fn sticking_rate(&self, gravity: f64) -> f64 {
        self.law.friction.fixed * gravity / self.law.friction.speed
    }

    /// How it is drawn.
    pub fn glyph(&self) -> Glyph {
        Glyph::Contact(Box::new(self.spots.clone()))
    }

    /// Result quantities of contacts, including rigid ones.
    pub fn quantities() -> Quantities {
        let mut list: Quantities = smallvec![("gap", "m"), ("normal", "N")];
        list.extend(vector!("tangential", "N"));
        list.extend([("slip", "m/s"), ("state", "1")]);
        list
    }

    /// Gap (smallest), normal force (sum), force along the surface on the second body, slip at the most loaded spot, and state: 0 open, 1
    /// sliding, 2 sticking.
    pub fn values(&self, x: &Plain<'_>) -> Values {
        let mut gap = f64::INFINITY;
        let (mut sum, mut along, mut most, mut slip, mut state) = (0.0, Vector3::zeros(), 0.0, 0.0, 0.0);
        let mut look = |spot: &Spot, m: Moving<f64>| {
            gap = gap.min(m.touch.gap);
            let (_, rubs, [whole, _]) = self.push(&m, None);
            sum += whole;
            along += if spot.swapped { rubs } else { -rubs };
            if m.touch.gap < 0.0 && whole >= most {
                let sticks = self.law.friction.fixed > 0.0 && m.slip.norm() <= self.law.friction.speed;
                (most, slip, state) = (whole, m.slip.norm(), if sticks { 2.0 } else { 1.0 });
            }
        };
        match &self.spots {
            Spots::Listed(list) => list.iter().for_each(|s| look(s, Moving::at(s, x))),
            among => among.near(among.reach(), &values(x), &mut |s| look(s, Moving::at(s, x))),
        }
        smallvec![if gap.is_finite() { gap } else { self.spots.reach() }, sum, along.x, along.y, along.z, slip, state]
    }
}

/// Poses without derivatives.
fn values<'x, S: Scalar>(x: &'x impl States<S>) -> impl Fn(usize) -> PoseOf<f64> + 'x {
    |body| {
        let q = x.pose(body);
        PoseOf { r: q.r.map(Scalar::value), A: q.A.map(Scalar::value) }
    }
}
