//! What changes a mechanism on its way: events with their actions, and limits of joint coordinates.
//!
//! Between two events a mechanism is smooth: formulations see a model in one mode, which is made by
//! [`Model::in_mode`] from the mechanism as it stands in the file.

use crate::coordinate::Coordinate;
use crate::expr::Expr;
use crate::force::{Force, StateLaw};
use crate::model::{Drive, JointCoordinate, Model};
use crate::spec::Direction;
use crate::state::{Pose, Twist};
use crate::switching::Switching;
use crate::time::TimeFunction;

/// An expression whose zero changes something.
#[derive(Clone, Debug)]
pub struct Event {
    /// Name.
    pub name: String,
    /// What is watched.
    pub when: StateLaw,
    /// Which zeros count.
    pub direction: Direction,
    /// Whether it happens once only.
    pub once: bool,
    /// How far the expression must have returned before it can happen again, in its own unit.
    pub rearm: f64,
    /// The event that must have happened before.
    pub after: Option<usize>,
    /// What is done, in order.
    pub actions: Vec<Action>,
}

/// What an event does.
#[derive(Clone, Debug)]
pub enum Action {
    /// A joint is put in or taken out.
    Joint(usize, bool),
    /// A drive is switched on or off.
    Drive(usize, bool),
    /// A force is switched on or off.
    Force(usize, bool),
    /// The coordinates of a joint are held as they are.
    Lock(usize),
    /// They are free again.
    Release(usize),
    /// An input or a state, by its place among the numbers that are carried along, takes the value of an expression.
    Set(usize, StateLaw),
    /// The run ends.
    Stop,
}

/// A bound that a mechanism may touch but not pass.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Name in results: that of the joint with `min`, `max`, `speed_min` or `speed_max`.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// What is bounded.
    pub of: Bounded,
    /// The bound: m, rad, m/s or rad/s.
    pub bound: f64,
    /// `1` where values are not less than the bound, `-1` where they are not more.
    pub side: f64,
    /// Share of the speed that is left after an impact.
    pub restitution: f64,
}

/// What a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounded {
    /// A coordinate of the joint.
    Position(JointCoordinate),
    /// The rate of a coordinate.
    Rate(JointCoordinate),
    /// What the joint itself keeps: the distance of its points, or the height of its point over its plane. The joint acts only while the
    /// limit is closed.
    Own,
}

/// Settings of a study with events.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct EventSettings {
    /// Flights between impacts that are shorter than this are summed up, s.
    pub rest_time: f64,
    /// More events than this in a second end a run.
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
    /// Its rate, which stays.
    pub rate: f64,
    /// From when on, s.
    pub since: f64,
}

/// What is in force between two events.
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
    /// Coordinates that are held: behind the drives of the file, in this order.
    pub held: Vec<Held>,
    /// What is made of pieces, with those in force.
    pub pieces: Vec<(Switching, Vec<i64>)>,
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
        }
    }
}

impl Limit {
    /// Coordinate that is bounded, slots 0 (base) and 1 (moving).
    fn coordinate(&self, model: &Model) -> Option<Coordinate> {
        let j = &model.joints[self.joint];
        match self.of {
            Bounded::Position(which) | Bounded::Rate(which) => j.coordinate(which),
            Bounded::Own => Some(j.kind.own_measure(&j.pair(1.0))),
        }
    }

    /// Whether the measure is the square of a length.
    fn is_square(&self, model: &Model) -> bool {
        self.of == Bounded::Own && model.joints[self.joint].kind.name() == "distance"
    }

    /// How far the bounded value is from the bound, in its own unit: not negative where the limit is kept. For a rate it is the rate that
    /// is left.
    pub fn gap(&self, model: &Model, q: &[Pose], v: &[Twist], turns: &[f64]) -> f64 {
        if matches!(self.of, Bounded::Rate(_)) {
            return self.rate(model, q, v);
        }
        let Some(y) = self.coordinate(model) else { return f64::NAN };
        let [i, j] = model.joints[self.joint].bodies.map(|b| &q[b.index()]);
        let y = y.value(i, j, turns);
        self.side * (if self.is_square(model) { y.max(0.0).sqrt() } else { y } - self.bound)
    }

    /// Row of the rate of the gap: bodies and what their velocities are multiplied by.
    pub fn row(&self, model: &Model, q: &[Pose]) -> [(usize, Twist); 2] {
        let bodies = model.joints[self.joint].bodies.map(|b| b.index());
        let Some(y) = self.coordinate(model) else { return bodies.map(|b| (b, Twist::zero())) };
        let [i, j] = bodies.map(|b| &q[b]);
        let row = y.row(i, j);
        let factor = match self.is_square(model) {
            true => 0.5 * self.side / y.value(i, j, &[]).max(f64::MIN_POSITIVE).sqrt(),
            false => self.side,
        };
        [0, 1].map(|k| (bodies[row.ij[k]], row.parts[k].scaled(factor)))
    }

    /// Rate of the gap; of a bounded rate what is left of it.
    pub fn rate(&self, model: &Model, q: &[Pose], v: &[Twist]) -> f64 {
        let rate: f64 = self.row(model, q).iter().map(|(b, x)| x.dot(&v[*b])).sum();
        if matches!(self.of, Bounded::Rate(_)) { rate - self.side * self.bound } else { rate }
    }

    /// Second rate of the gap; of a bounded rate its rate.
    pub fn second_rate(&self, model: &Model, q: &[Pose], v: &[Twist], a: &[Twist]) -> f64 {
        let along: f64 = self.row(model, q).iter().map(|(b, x)| x.dot(&a[*b])).sum();
        let bodies = model.joints[self.joint].bodies.map(|b| b.index());
        let Some(y) = self.coordinate(model) else { return f64::NAN };
        let [i, j] = bodies;
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
    /// Whether anything can happen on the way that is told: events, limits, friction that sticks, drives and forces that may jump.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
            || !self.limits.is_empty()
            || self.forces.iter().any(|(_, f)| f.sticks().is_some())
            || self.switching().iter().any(|s| !matches!(s, Switching::Side(..)))
    }

    /// Whether a run has to look for events, told or not.
    pub fn has_modes(&self) -> bool {
        self.has_events() || !self.switching().is_empty()
    }

    /// The mechanism in one mode: joints that do not act are open, drives and forces that do not act are left out, and coordinates that are
    /// held are drives behind the others.
    pub fn in_mode(&self, mode: &Mode) -> Model {
        let mut model = self.clone();
        model.events.clear();
        model.limits.clear();
        for (s, pieces) in &mode.pieces {
            model.keep_pieces(*s, pieces);
        }
        for (j, acts) in model.joints.iter_mut().zip(&mode.joints) {
            j.open = !acts;
        }
        // What couples joints that do not act does not act either.
        model.couplings.retain(|c| c.joints.iter().all(|&k| mode.joints[k]));
        let place = |k: usize| mode.forces[..k].iter().filter(|on| **on).count();
        model.coils.retain(|c| mode.forces[c.spring]);
        model.coils.iter_mut().for_each(|c| c.spring = place(c.spring));
        let kept = |k: usize, f: &Force| mode.forces[k] && f.touches().joint.is_none_or(|j| mode.joints[j]);
        let forces = std::mem::take(&mut model.forces).into_iter().enumerate().filter(|(k, (_, f))| kept(*k, f));
        model.forces = forces.map(|(k, (name, f))| (name, f.sliding(mode.slides[k]))).collect();
        let drives = std::mem::take(&mut model.drives).into_iter().enumerate();
        model.drives = drives.filter(|(k, d)| mode.drives[*k] && mode.joints[d.joint]).map(|(_, d)| d).collect();
        for h in &mode.held {
            let value = Expr::line(h.value - h.rate * h.since, h.rate);
            let name = format!("{} (held)", model.joints[h.joint].name);
            model.drives.push(Drive { name, joint: h.joint, coordinate: h.coordinate, value: TimeFunction::Value(value) });
        }
        model
    }

    /// For each drive of a model in a mode its place among the drives of the file; behind them those that are held.
    pub fn drives_of(&self, mode: &Mode) -> Vec<usize> {
        (0..self.drives.len()).filter(|&k| mode.drives[k] && mode.joints[self.drives[k].joint]).collect()
    }

    /// Which forces of the file act in a mode.
    pub fn acting(&self, mode: &Mode) -> Vec<bool> {
        let on = |k: usize| mode.forces[k] && self.forces[k].1.touches().joint.is_none_or(|j| mode.joints[j]);
        (0..self.forces.len()).map(on).collect()
    }
}
