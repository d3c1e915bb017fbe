//! Dragging a mechanism: one point of one body follows a pointer while the joints stay closed and the branch is kept.
//!
//! Steps are those of Gauss and Newton on the distance of point and pointer, inside the free motions: with `P` the projection onto them in
//! the metric of assembly and `B` the Jacobian of the point, `B P B^T` is a matrix of three rows, and the least motion that brings the
//! point nearer comes from its eigenvalues. Every step is small compared with the mechanism, is closed to rounding before the next and is
//! taken back if it does not reduce the distance, so that the pose moves along one connected path. Drives are inactive, so that their
//! coordinates can be dragged. Rolling elements constrain the velocities of steps. A step ends at the first limit it reaches, and the next
//! ones move along it.

use crate::analysis::assembly::{flipped_joint, update_turns};
use crate::constraint::{Constraint, ConstraintSet};
use crate::event::Bounded;
use crate::model::{JointCoordinate, Model};
use crate::projector::Projector;
use crate::random::Random;
use crate::schur::inverse_weights;
use crate::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::{Matrix3, Vector3};

/// Maximum number of steps in one call.
const STEPS: usize = 40;
/// Largest translation, or rotation times the characteristic length, of a step, in characteristic lengths.
const STEP: f64 = 0.08;
/// Residual of closed joints, in characteristic lengths.
const CLOSED: f64 = 1e-13;
/// Residual accepted if rounding does not permit a smaller one.
const ACCEPTED: f64 = 1e-11;
/// Maximum number of Newton steps to close a pose.
const CLOSING: usize = 10;
/// Shift of the factor; two passes of the projection remove its effect.
const SHIFT: f64 = 1e-11;
/// Directions in which a point moves less than this fraction of a free one count as blocked.
const BLOCKED: f64 = 2e-3;

/// A limit counts as reached closer than this to its bound, in rad or characteristic lengths.
const REACHED: f64 = 1e-7;

/// A point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grip {
    /// Index of the body; not the ground.
    pub body: usize,
    /// Position relative to the centre of mass in body axes, m.
    pub s: Vector3<f64>,
}

/// Result of a drag.
#[derive(Clone, Debug, PartialEq)]
pub struct Dragged {
    /// Distance of the point from its target, m.
    pub left: f64,
    /// Largest residual of the joints, m.
    pub residual: f64,
    /// Set if the point has lost a direction that it had when it was grabbed, and the pointer is in that direction: joints that still move
    /// there.
    pub stopped: Option<Vec<String>>,
    /// Limits that hold the point back from its target, by their names in results.
    pub limits: Vec<String>,
}

/// Result of a step.
enum Step {
    Moved,
    /// At a limit.
    Held(usize),
    Stuck,
}

/// A mechanism that is dragged.
#[derive(Clone, Debug)]
pub struct Drag {
    /// Joints and bare constraints; with rolling elements in the second.
    positions: ConstraintSet,
    tangents: ConstraintSet,
    closing: Projector,
    moving: Projector,
    Phi: Vec<f64>,
    saved: Vec<Twist>,
    columns: [Vec<Twist>; 3],
    /// Limits in force during the present call, each with the free motion that leaves it fastest.
    held: Vec<(usize, Vec<Twist>)>,
    /// The point, and the largest number of directions in which it could move.
    grip: Option<(Grip, usize)>,
}

impl Drag {
    /// For a model with its constraints at time `t`; the other calls use the same model.
    pub fn new(model: &Model, t: f64) -> Self {
        let list = model.constraints(false);
        let set = |list: Vec<Constraint>| {
            let mut set = ConstraintSet::new(list, |_| false);
            set.choose(t);
            set
        };
        let positions = set(list.clone());
        let tangents = set(list.into_iter().chain(model.velocity_constraints()).collect());
        let inverse = inverse_weights(model, 1e-2);
        let n = model.bodies.len();
        Self {
            closing: Projector::scaled(&positions, inverse.clone()),
            moving: Projector::scaled(&tangents, inverse),
            Phi: vec![0.0; positions.rows()],
            saved: vec![Twist::zero(); n],
            columns: std::array::from_fn(|_| vec![Twist::zero(); n]),
            held: Vec::new(),
            positions,
            tangents,
            grip: None,
        }
    }

    /// Moves the mechanism until the point is as near to the target as the joints permit, or for the maximum number of steps; velocities
    /// become zero, since dragging defines none.
    pub fn to(&mut self, model: &Model, grip: Grip, target: &Vector3<f64>, at: &mut Configuration) -> Dragged {
        let mut most = self.grip.filter(|(g, _)| *g == grip).map_or(0, |(_, most)| most);
        at.v.fill(Twist::zero());
        let L = model.length;
        let mut ways = 3;
        self.held.clear();
        for _ in 0..STEPS {
            let e = target - at.q[grip.body].point(&grip.s);
            if e.norm() <= 1e-10 * L {
                break;
            }
            ways = self.ways(model, grip, &at.q, &e);
            most = most.max(ways);
            match self.step(model, grip, target, at) {
                Step::Moved => {}
                Step::Held(k) if self.held.iter().all(|(h, _)| *h != k) => self.held.push((k, vec![Twist::zero(); at.q.len()])),
                _ => break,
            }
        }
        self.grip = Some((grip, most));
        let left = (target - at.q[grip.body].point(&grip.s)).norm();
        let residual = self.residual(at);
        let far = left > 0.01 * L;
        let limits: Vec<String> = self.held.iter().filter(|_| far).map(|(k, _)| model.limits[*k].name.clone()).collect();
        let stopped = (ways < most && far && limits.is_empty()).then(|| self.still_moving(model, at));
        Dragged { left, residual, stopped, limits }
    }

    /// Closes a nearly closed pose, such as one of an image; false, without changes, if this is impossible.
    pub fn close_near(&mut self, model: &Model, at: &mut Configuration) -> bool {
        let mut q = at.q.clone();
        if !self.close(model, &mut q, &at.turns, at.t, 0.1 * model.length) || flipped_joint(model, &q).is_some() {
            return false;
        }
        update_turns(model, &q, &mut at.turns);
        at.q = q;
        at.v.fill(Twist::zero());
        true
    }

    /// The least motion that moves the point in the direction `e`, into `moving.dq`; returns the number of directions of the point.
    fn ways(&mut self, model: &Model, grip: Grip, q: &[Pose], e: &Vector3<f64>) -> usize {
        self.moving.factor(&self.tangents, q, SHIFT);
        let (pose, mut S, mut free) = (q[grip.body], Matrix3::zeros(), 0.0_f64);
        for k in 0..3 {
            let unit = Vector3::ith(k, 1.0);
            let force = Wrench { F: unit, T: grip.s.cross(&(pose.A.transpose() * unit)) };
            self.moving.dq.fill(Twist::zero());
            self.moving.dq[grip.body] = self.moving.inverse[grip.body].apply(&force.scaled(self.moving.scale));
            free = free.max(self.moving.dq[grip.body].of_point(&pose, &grip.s)[k]);
            self.project();
            self.columns[k].copy_from_slice(&self.moving.dq);
        }
        self.keep_limits(model, q);
        for (k, column) in self.columns.iter().enumerate() {
            S.set_column(k, &column[grip.body].of_point(&pose, &grip.s));
        }
        if !(S.sum() + e.sum()).is_finite() {
            // A point or target that is not finite moves nothing; the eigenvalue iteration would not end.
            self.moving.dq.fill(Twist::zero());
            return 0;
        }
        let eigen = (0.5 * (S + S.transpose())).symmetric_eigen();
        let largest = eigen.eigenvalues.amax().max(f64::MIN_POSITIVE);
        let mut y = Vector3::zeros();
        for k in 0..3 {
            let (u, x) = (eigen.eigenvectors.column(k), eigen.eigenvalues[k]);
            // Directions of little mobility are not used: their steps would be long and have no effect.
            y += u * (u.dot(e) * x / (x * x + (1e-4 * largest).powi(2)));
        }
        self.moving.dq.fill(Twist::zero());
        for (column, y) in self.columns.iter().zip(y.iter()) {
            for (d, c) in self.moving.dq.iter_mut().zip(column) {
                *d = d.plus(&c.scaled(*y));
            }
        }
        eigen.eigenvalues.iter().filter(|x| **x > BLOCKED * free).count()
    }

    /// Removes the changes of limits in force from the columns.
    fn keep_limits(&mut self, model: &Model, q: &[Pose]) {
        let mut held = std::mem::take(&mut self.held);
        for n in 0..held.len() {
            let row = model.limits[held[n].0].row(model, q);
            let rate = |d: &[Twist]| row.iter().map(|(b, x)| x.power(&d[*b])).sum::<f64>();
            self.moving.dq.fill(Twist::zero());
            for (b, x) in row.iter().filter(|(b, _)| *b != 0) {
                let d = self.moving.inverse[*b].apply(&x.scaled(self.moving.scale));
                self.moving.dq[*b] = self.moving.dq[*b].plus(&d);
            }
            let whole = rate(&self.moving.dq);
            self.project();
            let (before, rest) = held.split_at_mut(n);
            for (k, other) in before.iter() {
                let row = model.limits[*k].row(model, q);
                take_off(&mut self.moving.dq, other, |d| row.iter().map(|(b, x)| x.power(&d[*b])).sum());
            }
            let own = &mut rest[0].1;
            // A limit that is already kept by the joints or the other limits is skipped.
            if rate(&self.moving.dq) > 1e-9 * whole {
                own.copy_from_slice(&self.moving.dq);
            } else {
                own.fill(Twist::zero());
            }
            for column in &mut self.columns {
                take_off(column, own, rate);
            }
        }
        self.held = held;
    }

    /// A step along limits in force leaves them by the square of its length; this returns to them with closed joints. False if this is
    /// impossible.
    fn back_to_limits(&mut self, model: &Model, q: &mut [Pose], at: &Configuration) -> bool {
        let mut turns = at.turns.clone();
        for _ in 0..5 {
            update_turns(model, q, &mut turns);
            let gaps: Vec<f64> = self.held.iter().map(|(k, _)| model.limits[*k].gap(model, q, &at.v, &turns)).collect();
            if gaps.iter().all(|gap| gap.abs() <= 0.1 * REACHED * model.length.min(1.0)) {
                return true;
            }
            self.moving.factor(&self.tangents, q, SHIFT);
            self.keep_limits(model, q);
            self.moving.dq.fill(Twist::zero());
            for ((k, own), gap) in self.held.iter().zip(&gaps) {
                let rate = model.limits[*k].row(model, q).iter().map(|(b, x)| x.power(&own[*b])).sum::<f64>();
                let share = if rate > 0.0 { -gap / rate } else { 0.0 };
                for (d, o) in self.moving.dq.iter_mut().zip(own) {
                    *d = d.plus(&o.scaled(share));
                }
            }
            for (q, d) in q.iter_mut().zip(&self.moving.dq) {
                *q = q.moved(d);
            }
            if !self.close(model, q, &turns, at.t, STEP * model.length) {
                return false;
            }
        }
        false
    }

    /// The limit that a pose passes first on the way from the present one, and the fraction of the way up to it: zero if it is reached
    /// already. A limit that is passed at present does not prevent the pose from returning.
    fn beyond(model: &Model, at: &Configuration, q: &[Pose], turns: &[f64]) -> Option<(usize, f64)> {
        let positions = model.limits.iter().enumerate().filter(|(_, l)| !matches!(l.of, Bounded::Rate(_)));
        let passed = positions.filter_map(|(k, l)| {
            let unit = if matches!(l.of, Bounded::Position(JointCoordinate::Angle)) { 1.0 } else { model.length };
            let (before, after) = (l.gap(model, &at.q, &at.v, &at.turns), l.gap(model, q, &at.v, turns));
            if after >= -REACHED * unit || after >= before {
                return None;
            }
            Some((k, if before <= REACHED * unit { 0.0 } else { before / (before - after) }))
        });
        passed.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Removes the components that the constraints do not permit from the increments in `moving.dq`.
    fn project(&mut self) {
        for _ in 0..2 {
            self.saved.copy_from_slice(&self.moving.dq);
            self.moving.rates_of_increments(&self.tangents);
            self.moving.normal_part(&self.tangents);
            for (d, s) in self.moving.dq.iter_mut().zip(&self.saved) {
                *d = s.plus(&d.scaled(-1.0));
            }
        }
    }

    /// Makes the step in `moving.dq`, or a part of it that reduces the distance and respects the limits.
    fn step(&mut self, model: &Model, grip: Grip, target: &Vector3<f64>, at: &mut Configuration) -> Step {
        let L = model.length;
        let distance = |q: &[Pose]| (target - q[grip.body].point(&grip.s)).norm();
        let before = distance(&at.q);
        let size = self.moving.dq.iter().fold(0.0_f64, |s, d| s.max(d.v.norm()).max(L * d.w.norm()));
        if size.is_nan() || size <= 1e-13 * L {
            return Step::Stuck;
        }
        let mut share = (STEP * L / size).min(1.0);
        let way = self.moving.dq.clone();
        for _ in 0..12 {
            let mut q: Vec<Pose> = at.q.iter().zip(&way).map(|(q, d)| q.moved(&d.scaled(share))).collect();
            let mut turns = at.turns.clone();
            let closed =
                self.close(model, &mut q, &turns, at.t, share * size) && (self.held.is_empty() || self.back_to_limits(model, &mut q, at));
            if closed && distance(&q) < before * (1.0 - 1e-9) && flipped_joint(model, &q).is_none() {
                update_turns(model, &q, &mut turns);
                match Self::beyond(model, at, &q, &turns) {
                    None => {
                        at.q = q;
                        at.turns = turns;
                        return Step::Moved;
                    }
                    Some((k, none)) if none <= 0.0 => return Step::Held(k),
                    // Up to the limit, by the secant.
                    Some((_, part)) => share *= part.min(0.95),
                }
            } else {
                share *= 0.4;
            }
        }
        Step::Stuck
    }

    /// Closes the joints by Newton's method; false if the correction is larger than the step that opened them.
    fn close(&mut self, model: &Model, q: &mut [Pose], turns: &[f64], t: f64, step: f64) -> bool {
        if self.positions.rows() == 0 {
            return true;
        }
        let L = model.length;
        let (mut gone, mut last) = (0.0, f64::INFINITY);
        for _ in 0..CLOSING {
            let mut now = turns.to_vec();
            update_turns(model, q, &mut now);
            self.positions.residual(q, &now, t, &mut self.Phi);
            let open = self.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            if open <= CLOSED * L || open <= ACCEPTED * L && open > 0.25 * last {
                return true;
            }
            if !open.is_finite() || open > 4.0 * last {
                return false;
            }
            last = open;
            self.closing.factor(&self.positions, q, SHIFT);
            self.closing.x.copy_from_slice(&self.Phi);
            self.closing.normal_part(&self.positions);
            let size = self.closing.dq.iter().fold(0.0_f64, |s, d| s.max(d.v.norm()).max(L * d.w.norm()));
            gone += size;
            if gone > step {
                return false;
            }
            for (q, d) in q.iter_mut().zip(&self.closing.dq) {
                *q = q.moved(&d.scaled(-1.0));
            }
        }
        last <= ACCEPTED * L
    }

    fn residual(&mut self, at: &Configuration) -> f64 {
        self.positions.residual(&at.q, &at.turns, at.t, &mut self.Phi);
        self.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()))
    }

    /// Joints that rotate or slide most in the remaining motions.
    fn still_moving(&mut self, model: &Model, at: &Configuration) -> Vec<String> {
        let mut random = Random(0x5eed_0f0f_1234_5678);
        let mut rates = vec![0.0_f64; model.joints.len()];
        self.moving.factor(&self.tangents, &at.q, SHIFT);
        for _ in 0..3 {
            for b in 1..model.bodies.len() {
                let mut three = || Vector3::new(random.number(), random.number(), random.number());
                self.moving.dq[b] = Twist { v: three() * model.length, w: three() };
            }
            self.moving.dq[0] = Twist::zero();
            self.project();
            for (rate, j) in rates.iter_mut().zip(&model.joints) {
                let [a, b] = j.bodies.map(|b| b.index());
                for which in [JointCoordinate::Angle, JointCoordinate::Distance] {
                    let Some(y) = j.coordinate(which) else { continue };
                    let row = y.row(&at.q[a], &at.q[b]).parts;
                    let unit = if which == JointCoordinate::Angle { model.length } else { 1.0 };
                    *rate = rate.max(unit * (row[0].power(&self.moving.dq[a]) + row[1].power(&self.moving.dq[b])).abs());
                }
            }
        }
        let most = rates.iter().copied().fold(0.0, f64::max);
        let named = model.joints.iter().zip(&rates).filter(|(_, r)| most > 0.0 && **r > 0.2 * most);
        named.map(|(j, _)| j.name.clone()).take(4).collect()
    }
}

/// Subtracts the multiple of `along` from increments that makes the rate zero.
fn take_off(d: &mut [Twist], along: &[Twist], rate: impl Fn(&[Twist]) -> f64) {
    let whole = rate(along);
    if whole > 0.0 {
        let share = rate(d) / whole;
        for (d, a) in d.iter_mut().zip(along) {
            *d = d.plus(&a.scaled(-share));
        }
    }
}
