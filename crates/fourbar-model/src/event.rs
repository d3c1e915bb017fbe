//! Changes of a mechanism during a run: events with their actions, and limits of joints and contacts.
//!
//! Between two events a mechanism is smooth: formulations receive a model in one mode, which [`Model::in_mode`] derives from the mechanism
//! of the file.

use crate::contact::{Moving, Spot, Spots};
use crate::coordinate::{Coordinate, Follows, Gap};
use crate::expr::Expr;
use crate::force::eval::Plain;
use crate::force::{Force, Rub, StateLaw};
use crate::model::{BodyId, Drive, JointCoordinate, Model, RollingElement};
use crate::rolling::{Rolling, RollingKind};
use crate::spec::Direction;
use crate::state::{Pose, Twist, Wrench};
use crate::switching::Switching;
use crate::time::TimeFunction;
use nalgebra::Vector3;
use std::sync::Arc;

/// An expression whose zero changes something.
#[derive(Clone, Debug)]
pub struct Event {
    /// Name.
    pub name: String,
    /// The expression whose zeros are located.
    pub when: StateLaw,
    /// Which zeros count.
    pub direction: Direction,
    /// Whether it happens once only.
    pub once: bool,
    /// How far the expression must return before the event can happen again, in the unit of the expression.
    pub rearm: f64,
    /// The event that must have happened before.
    pub after: Option<usize>,
    /// Its actions, in order.
    pub actions: Vec<Action>,
}

/// An action of an event.
#[derive(Clone, Debug)]
pub enum Action {
    /// A joint is activated or deactivated.
    Joint(usize, bool),
    /// A drive is switched on or off.
    Drive(usize, bool),
    /// A force is switched on or off.
    Force(usize, bool),
    /// The coordinates of a joint are held as they are.
    Lock(usize),
    /// The coordinates of a locked joint are free again.
    Release(usize),
    /// An input or a state, by its index in the auxiliary values, takes the value of an expression.
    Set(usize, StateLaw),
    /// The run ends.
    Stop,
}

/// A bound that a mechanism may touch but not pass.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Name in results: that of the joint with `min`, `max`, `speed_min` or `speed_max`; that of a contact, with the number of its spot if
    /// it has several.
    pub name: String,
    /// The joint; unused for a contact.
    pub joint: usize,
    /// The bounded quantity.
    pub of: Bounded,
    /// The bound: m, rad, m/s or rad/s.
    pub bound: f64,
    /// `1` for a lower bound, `-1` for an upper bound.
    pub side: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// The spot of a contact.
    pub spot: Option<SpotOf>,
}

/// A spot of a rigid contact.
#[derive(Clone, Debug)]
pub struct SpotOf {
    /// The contact.
    pub contact: usize,
    /// Its number among the spots of the contact.
    pub number: usize,
    /// Where the bodies may touch.
    pub spot: Arc<Spot>,
    /// Coefficients of friction while sliding and at rest.
    pub mu: [f64; 2],
}

impl SpotOf {
    /// How the bodies move there.
    pub fn moving(&self, q: &[Pose], v: &[Twist]) -> Moving<f64> {
        Moving::at(&self.spot, &Plain { t: 0.0, q, v, turns: &[], loads: &[], z: &[] })
    }
}

/// Motion of the bodies at a closed spot of a rigid contact.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Doing {
    /// There is no friction.
    Glides,
    /// They slide on each other: initial direction of the slip of the first body, in axes of the second, and the slip below which they
    /// count as at rest, m/s.
    Slides([f64; 3], f64),
    /// They stick: a direction on the second body from which the tangential directions are constructed.
    Sticks([f64; 3]),
}

/// A spot of a rigid contact that is closed between two events.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Touching {
    /// The contact.
    pub contact: usize,
    /// The number of the spot in it.
    pub number: usize,
    /// The relative motion of the bodies there.
    pub doing: Doing,
}

/// The quantity that a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded {
    /// A coordinate of the joint.
    Position(JointCoordinate),
    /// The rate of a coordinate.
    Rate(JointCoordinate),
    /// The quantity that the joint itself constrains: the distance of its points, or the height of its point over its plane. The joint acts
    /// only while the limit is closed.
    Own,
    /// The gap at a spot of a rigid contact.
    Spot,
}

/// Settings of a study with events.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct EventSettings {
    /// A series of impacts ends when the flights between them become shorter than this, s.
    pub rest_time: f64,
    /// A run ends if more events than this occur in a second.
    pub most_per_second: f64,
}

impl Default for EventSettings {
    fn default() -> Self {
        Self { rest_time: 1e-6, most_per_second: 1e4 }
    }
}

/// Joint coordinate that is held at a value.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Held {
    /// The joint.
    pub joint: usize,
    /// Which of its coordinates.
    pub coordinate: JointCoordinate,
    /// Its value at `since`.
    pub value: f64,
    /// Its constant rate.
    pub rate: f64,
    /// Time from which it is held, s.
    pub since: f64,
}

/// The elements that act between two events.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mode {
    /// Joints that act.
    pub joints: Vec<bool>,
    /// Drives that act.
    pub drives: Vec<bool>,
    /// Forces that act.
    pub forces: Vec<bool>,
    /// Directions in which sticking friction slides, by force; zero elsewhere.
    pub slides: Vec<f64>,
    /// Held coordinates, appended to the drives of the file in this order.
    pub held: Vec<Held>,
    /// Piecewise elements, with their active pieces.
    pub pieces: Vec<(Switching, Vec<i64>)>,
    /// Closed spots of rigid contacts; `None` if contacts are handled by a time-stepping method.
    #[serde(default)]
    pub touching: Option<Vec<Touching>>,
    /// Whether joint limits and sticking friction are also handled by that method.
    #[serde(default)]
    pub stepped: bool,
}

impl Mode {
    /// Everything as in the file.
    pub fn of(model: &Model) -> Self {
        Self {
            joints: model.joints.iter().map(|j| !j.open).collect(),
            drives: vec![true; model.drives.len()],
            forces: vec![true; model.forces.len()],
            slides: vec![0.0; model.forces.len()],
            held: Vec::new(),
            pieces: Vec::new(),
            touching: None,
            stepped: false,
        }
    }
}

impl Limit {
    /// Coordinate that is bounded, slots 0 (base) and 1 (moving).
    fn coordinate(&self, model: &Model) -> Option<Coordinate> {
        if let Some(s) = &self.spot {
            return Some(Coordinate::Gap(Gap { ij: [0, 1], spot: s.spot.clone() }));
        }
        let j = &model.joints[self.joint];
        match self.of {
            Bounded::Position(which) | Bounded::Rate(which) => j.coordinate(which),
            Bounded::Own => Some(j.kind.own_measure(&j.pair(1.0))),
            Bounded::Spot => None,
        }
    }

    /// Its bodies: base and moving, or second and first of a spot.
    pub fn bodies(&self, model: &Model) -> [usize; 2] {
        match &self.spot {
            Some(s) => [s.spot.bodies[1], s.spot.bodies[0]],
            None => model.joints[self.joint].bodies.map(|b| b.index()),
        }
    }

    /// Coefficients of friction while sliding and at rest.
    pub fn friction(&self) -> [f64; 2] {
        self.spot.as_ref().map_or([0.0; 2], |s| s.mu)
    }

    /// Whether the measure is the square of a length.
    fn is_square(&self, model: &Model) -> bool {
        self.of == Bounded::Own && model.joints[self.joint].kind.name() == "distance"
    }

    /// Distance of the bounded value from the bound, in its own unit: not negative where the limit is satisfied. For a bounded rate: the
    /// difference between rate and bound.
    pub fn gap(&self, model: &Model, q: &[Pose], v: &[Twist], turns: &[f64]) -> f64 {
        if matches!(self.of, Bounded::Rate(_)) {
            return self.rate(model, q, v);
        }
        let Some(y) = self.coordinate(model) else { return f64::NAN };
        let [i, j] = self.bodies(model).map(|b| &q[b]);
        let y = y.value(i, j, turns);
        self.side * (if self.is_square(model) { y.max(0.0).sqrt() } else { y } - self.bound)
    }

    /// How the gap depends on the poses of the bodies.
    pub fn follows(&self) -> Follows {
        match (self.of, &self.spot) {
            (Bounded::Position(JointCoordinate::Angle), _) => Follows::Turn,
            (Bounded::Position(JointCoordinate::Distance), _) => Follows::Way,
            (Bounded::Own, _) => Follows::Surface,
            (Bounded::Spot, Some(s)) => s.spot.follows(),
            // Rates jump with forces.
            (Bounded::Rate(_) | Bounded::Spot, _) => Follows::Jumps,
        }
    }

    /// Row of the rate of the gap: the bodies and the coefficients of their velocities.
    pub fn row(&self, model: &Model, q: &[Pose]) -> [(usize, Wrench); 2] {
        let bodies = self.bodies(model);
        let Some(y) = self.coordinate(model) else { return bodies.map(|b| (b, Wrench::zero())) };
        let [i, j] = bodies.map(|b| &q[b]);
        let row = y.row(i, j);
        let factor = match self.is_square(model) {
            true => 0.5 * self.side / y.value(i, j, &[]).max(f64::MIN_POSITIVE).sqrt(),
            false => self.side,
        };
        [0, 1].map(|k| (bodies[row.ij[k]], row.parts[k].scaled(factor)))
    }

    /// Rate of the gap; for a bounded rate, the difference between rate and bound.
    pub fn rate(&self, model: &Model, q: &[Pose], v: &[Twist]) -> f64 {
        let rate: f64 = self.row(model, q).iter().map(|(b, x)| x.power(&v[*b])).sum();
        if matches!(self.of, Bounded::Rate(_)) { rate - self.side * self.bound } else { rate }
    }

    /// Second derivative of the gap; for a bounded rate, its first derivative.
    pub fn second_rate(&self, model: &Model, q: &[Pose], v: &[Twist], a: &[Twist]) -> f64 {
        let along: f64 = self.row(model, q).iter().map(|(b, x)| x.power(&a[*b])).sum();
        let Some(y) = self.coordinate(model) else { return f64::NAN };
        let [i, j] = self.bodies(model);
        let bias = y.bias(&q[i], &q[j], &v[i], &v[j]);
        if !self.is_square(model) {
            return along + self.side * bias;
        }
        // With y = l^2: l'' = y''/(2 l) - l'^2/l.
        let l = y.value(&q[i], &q[j], &[]).max(f64::MIN_POSITIVE).sqrt();
        let rate = self.rate(model, q, v);
        along + self.side * (0.5 * bias / l - rate * rate / l)
    }
}

impl Model {
    /// Whether reported events can occur during the run: from events, limits, rigid contacts, sticking friction, drives and forces that may
    /// jump.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
            || !self.limits.is_empty()
            || !self.contacts.is_empty()
            || self.forces.iter().any(|(_, f)| f.sticks().is_some())
            || self.switching().iter().any(|s| !matches!(s, Switching::Side(..)))
    }

    /// Whether a run has to search for events, reported or not.
    pub fn has_modes(&self) -> bool {
        self.has_events() || !self.switching().is_empty()
    }

    /// The spots of rigid contacts as limits, except those of balls among each other, whose spots vary.
    pub fn spot_limits(&self) -> Vec<Limit> {
        let mut list = Vec::new();
        for (contact, c) in self.contacts.iter().enumerate() {
            let Spots::Listed(spots) = &c.spots else { continue };
            for (number, spot) in spots.iter().enumerate() {
                let name = if spots.len() == 1 { c.name.clone() } else { format!("{}.{}", c.name, number + 1) };
                let spot = SpotOf { contact, number, spot: Arc::new(spot.clone()), mu: [c.friction.mu, c.friction.fixed] };
                let restitution = c.restitution;
                list.push(Limit { name, joint: usize::MAX, of: Bounded::Spot, bound: 0.0, side: 1.0, restitution, spot: Some(spot) });
            }
        }
        list
    }

    /// Adds the constraints and friction of a closed spot: the bodies stay in contact and slide or roll on each other.
    fn touch(&mut self, base: &Model, at: &Touching) {
        let contact = &base.contacts[at.contact];
        let Spots::Listed(spots) = &contact.spots else { return };
        let spot = Arc::new(spots[at.number].clone());
        let axis = if let Doing::Sticks(axis) = at.doing { Some(Vector3::from(axis)) } else { None };
        if let Doing::Slides(direction, slow) = at.doing {
            let closed = self.rolling.len();
            let load = self.load_of_rolling(closed);
            let rub = Rub { spot: spot.clone(), closed, load, mu: contact.friction.mu, direction: Vector3::from(direction), slow };
            self.forces.push((contact.name.clone(), Force::Rub(rub)));
        }
        let zero = Vector3::zeros();
        self.rolling.push(RollingElement {
            name: contact.name.clone(),
            kind: "contact",
            bodies: [BodyId(spot.bodies[1] as u32), BodyId(spot.bodies[0] as u32)],
            contact: Some((Coordinate::Gap(Gap { ij: [0, 1], spot: spot.clone() }), 0.0)),
            rolling: Rolling { s: zero, n: zero, t: [zero; 2], kind: RollingKind::Spot { spot, axis } },
        });
    }

    /// The mechanism in one mode: inactive joints are open, inactive drives and forces are omitted; held coordinates are appended as
    /// drives, and closed spots as rolling elements and friction.
    pub fn in_mode(&self, mode: &Mode) -> Model {
        let mut model = self.clone();
        model.events.clear();
        if mode.stepped {
            let held = |l: &Limit, which| mode.held.iter().any(|h| (h.joint, h.coordinate) == (l.joint, which));
            for l in &mut model.limits {
                // Limits of inactive joints do not apply.
                if let Bounded::Position(which) | Bounded::Rate(which) = l.of
                    && (!mode.joints[l.joint] || held(l, which))
                {
                    l.bound = -l.side * f64::INFINITY;
                }
            }
        } else {
            model.limits.clear();
        }
        for (s, pieces) in &mode.pieces {
            model.keep_pieces(*s, pieces);
        }
        for (j, acts) in model.joints.iter_mut().zip(&mode.joints) {
            j.open = !acts;
        }
        // Couplings of inactive joints do not act either.
        model.couplings.retain(|c| c.joints.iter().all(|&k| mode.joints[k]));
        let place = |k: usize| mode.forces[..k].iter().filter(|on| **on).count();
        model.coils.retain(|c| mode.forces[c.spring]);
        model.coils.iter_mut().for_each(|c| c.spring = place(c.spring));
        let kept = |k: usize, f: &Force| mode.forces[k] && f.touches().joint.is_none_or(|j| mode.joints[j]);
        let forces = std::mem::take(&mut model.forces).into_iter().enumerate().filter(|(k, (_, f))| kept(*k, f));
        let force = |k: usize, f: Force| if mode.stepped { f.stepped() } else { f.sliding(mode.slides[k]) };
        model.forces = forces.map(|(k, (name, f))| (name, force(k, f))).collect();
        let drives = std::mem::take(&mut model.drives).into_iter().enumerate();
        model.drives = drives.filter(|(k, d)| mode.drives[*k] && mode.joints[d.joint]).map(|(_, d)| d).collect();
        for h in &mode.held {
            let value = Expr::line(h.value - h.rate * h.since, h.rate);
            let name = format!("{} (held)", model.joints[h.joint].name);
            model.drives.push(Drive { name, joint: h.joint, coordinate: h.coordinate, value: TimeFunction::Value(value) });
        }
        if let Some(touching) = &mode.touching {
            model.contacts.clear();
            touching.iter().for_each(|t| model.touch(self, t));
        }
        model
    }

    /// For each drive of a model in a mode, its index among the drives of the file; the held coordinates follow.
    pub fn drives_of(&self, mode: &Mode) -> Vec<usize> {
        (0..self.drives.len()).filter(|&k| mode.drives[k] && mode.joints[self.drives[k].joint]).collect()
    }

    /// Which forces of the file act in a mode.
    pub fn acting(&self, mode: &Mode) -> Vec<bool> {
        let on = |k: usize| mode.forces[k] && self.forces[k].1.touches().joint.is_none_or(|j| mode.joints[j]);
        (0..self.forces.len()).map(on).collect()
    }
}
