//! The mode after an event, decided from the accelerations: which touching limits are closed, and whether friction sticks or slides.

use super::jump::{Jump, complementary};
use super::{Eventful, Friction, HeldBy, Kind};
use crate::diagnostic::Diagnostic;
use crate::evaluate::Evaluation;
use crate::event::{Bounded, Limit, Mode};
use crate::force::Force;
use crate::force::eval::coordinate_of;
use crate::model::{JointCoordinate, Model};
use crate::motion::{Instant, load_across};
use crate::state::{Configuration, Twist};
use crate::structure::Structure;
use nalgebra::{DVector, Vector3};

/// Maximum number of rounds for consistent friction bounds and friction states.
const BOUNDS: usize = 20;
/// Friction at this fraction of its bound, or less, holds.
pub(super) const WITHIN: f64 = 1.0 - 1e-9;
/// Accelerations below this fraction of those that the reactions would give to free bodies are rounding.
const ROUNDING: f64 = 1e-11;
/// Friction that has just reached its bound holds only up to this fraction of it.
const BROKEN: f64 = 1.0 - 1e-6;

/// Why the previous mode ended; that mode is as consistent as the next one and must not be chosen again.
#[derive(Clone, Default)]
pub struct Left {
    /// Limits whose force has fallen to zero.
    pub limits: Vec<usize>,
    /// Limits whose gap has fallen to zero.
    pub reached: Vec<usize>,
    /// Limits among them that would be passed from now on, though there is no motion and no push yet.
    pub pressed: Vec<usize>,
    /// Friction whose bound was reached, with the direction in which its joint will slide.
    pub frictions: Vec<(usize, f64)>,
    /// Friction whose joint has come to rest.
    pub stopped: Vec<usize>,
    /// Spots whose friction was at its bound, with the direction in which the first body will slide, world.
    pub broke: Vec<(usize, Vector3<f64>)>,
    /// Spots whose slip has come down to zero.
    pub halted: Vec<usize>,
    /// Whether the mode ended because inputs jumped.
    pub by_input: bool,
}

/// Friction at rest with its holding bound.
pub(super) struct Rubs {
    /// Its place among the friction elements that can stick.
    pub friction: usize,
    pub joint: usize,
    pub which: JointCoordinate,
    /// N or N m.
    pub bound: f64,
    /// Accelerations below this are rounding, m/s^2.
    pub rounding: f64,
}

/// The row of a joint coordinate, as a limit that is never reached.
pub(super) fn along_joint(joint: usize, which: JointCoordinate, side: f64) -> Limit {
    Limit { name: String::new(), joint, of: Bounded::Position(which), bound: 0.0, side, restitution: 0.0, spot: None }
}

/// A mechanism whose friction uses the loads of a given instant.
fn with_loads_of(model: &Model, s: &Instant) -> Model {
    let mut frozen = model.clone();
    for (_, f) in &mut frozen.forces {
        if let Force::Friction(f) = f {
            let load = load_across(model, f.joint, &s.q, &s.reactions[f.joint]);
            let (_, rate) = coordinate_of(model, f.joint, Some(f.coordinate(model)), &s.plain(&[]));
            (f.preload, f.coulomb, f.static_coefficient) = (f.sliding_bound(model, load, rate), 0.0, 0.0);
        }
    }
    frozen
}

impl Eventful {
    /// The mode without limits and without sticking, for impacts.
    pub(super) fn mode_without_limits(&self) -> Mode {
        let (mut mode, by) = self.present_mode();
        let mut keep = by.iter().map(|b| matches!(b, HeldBy::Lock(..)));
        mode.held.retain(|_| keep.next().unwrap_or(true));
        mode.touching = mode.touching.map(|_| Vec::new());
        for l in self.base.limits.iter().filter(|l| l.of == Bounded::Own) {
            mode.joints[l.joint] = false;
        }
        mode
    }

    /// Accelerations with all limits open and the present state of friction.
    pub(super) fn open_accelerations(&self, state: &Configuration) -> Result<Vec<Twist>, Diagnostic> {
        let model = self.base.in_mode(&self.mode_without_limits());
        let e = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
        Ok(e.accelerations().to_vec())
    }

    /// Chooses the mode at a state.
    pub(super) fn decide(&mut self, state: &mut Configuration, left: &Left) -> Result<(), Diagnostic> {
        let base = self.base.clone();
        // Limits at rest with a closed gap.
        let at_rest = |k: usize| {
            let l = &self.limits[k];
            let (gap, rate) = (l.gap(&base, &state.q, &state.v, &state.turns), l.rate(&base, &state.q, &state.v));
            let size = if matches!(l.of, Bounded::Position(JointCoordinate::Angle)) { 1.0 } else { base.length };
            let near = matches!(l.of, Bounded::Rate(_)) || gap <= 1e-9 * size || left.reached.contains(&k) || self.closed[k];
            let slow = self.slow(k, &state.v).max(if self.closed[k] { 1e-7 * self.fast(&state.v) } else { 0.0 });
            near && rate.abs() <= slow && self.acts(k) && !left.limits.contains(&k)
        };
        let candidates: Vec<usize> = (0..self.limits.len()).filter(|&k| at_rest(k)).collect();
        // Moving joints slide; resting ones are decided together with the limits.
        let mut rests = Vec::new();
        let x = Instant::new(&base, state);
        for k in 0..self.frictions.len() {
            if !self.friction_acts(k) {
                self.frictions[k].1 = Friction::Off;
                continue;
            }
            let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { continue };
            let (y, rate) = coordinate_of(&base, f.joint, Some(f.coordinate(&base)), &x.plain(&[]));
            let turns = f.coordinate(&base) == JointCoordinate::Angle;
            let slow = 1e-8 * self.fast(&state.v) / if turns { base.length } else { 1.0 } + 1e-12;
            if rate.abs() > slow && !left.stopped.contains(&k) && !left.frictions.iter().any(|(f, _)| *f == k) {
                self.frictions[k].1 = Friction::Slides(rate.signum());
                continue;
            }
            rests.push(k);
            if self.frictions[k].1 != Friction::Sticks {
                self.stuck_at[k] = y;
            }
        }
        let was_closed = std::mem::replace(&mut self.closed, vec![false; self.limits.len()]);
        if rests.is_empty() {
            return self.close(&candidates, left, state);
        }
        self.decide_together(&candidates, &rests, left, state)?;
        // Friction that has just reached its bound slides, however small the excess, unless another element now holds the joint.
        let same = (0..self.closed.len()).all(|k| !self.closed[k] || was_closed[k]);
        if same && left.frictions.iter().all(|(k, _)| self.frictions[*k].1 == Friction::Sticks) {
            for (k, direction) in &left.frictions {
                self.frictions[*k].1 = Friction::Slides(*direction);
            }
        }
        self.place_sticking(state);
        Ok(())
    }

    /// Chooses the mode of all touching limits and all friction at rest in one complementarity problem. Bounds that depend on loads are
    /// computed in the present mode, until the mode no longer changes.
    fn decide_together(&mut self, candidates: &[usize], rests: &[usize], left: &Left, state: &Configuration) -> Result<(), Diagnostic> {
        let base = self.base.clone();
        rests.iter().for_each(|&k| self.frictions[k].1 = Friction::Off);
        let mut mode = self.present_mode().0;
        rests.iter().for_each(|&k| mode.forces[self.frictions[k].0] = false);
        let open = base.in_mode(&mode);
        let free = Evaluation::new(&open, state).map_err(|e| e.cause().clone())?;
        let mut loads = free.instant().clone();
        let rounding = ROUNDING * self.driven(free.instant());
        let mut free = free.accelerations().to_vec();
        let loaded = open.forces.iter().any(|(_, f)| matches!(f, Force::Friction(f) if f.coulomb > 0.0));
        let loaded = loaded || rests.iter().any(|&k| base.forces[self.frictions[k].0].1.touches().loaded_joint().is_some());
        let just_broke: Vec<usize> = rests.iter().copied().filter(|&k| self.breaks_here(k, state.t)).collect();
        let mut last: Option<Vec<f64>> = None;
        for round in 0..BOUNDS {
            let was = (self.closed.clone(), self.frictions.clone());
            let bound = |k: usize| {
                let f = base.forces[self.frictions[k].0].1.sticks()?;
                let load = load_across(&base, f.joint, &loads.q, &loads.reactions[f.joint]);
                let broke = just_broke.contains(&k) || left.frictions.iter().any(|(b, _)| *b == k);
                // Friction that comes to rest holds up to the same bound as friction that was at rest before.
                let bound = if broke { BROKEN * f.sliding_bound(&base, load, 0.0) } else { f.bound(&base, load) };
                Some(Rubs { friction: k, joint: f.joint, which: f.coordinate(&base), bound, rounding })
            };
            let mut rubs: Vec<Rubs> = rests.iter().filter_map(|&k| bound(k)).collect();
            // Bounds that alternate are replaced by their mean.
            if let Some(last) = last.filter(|_| round > 2) {
                rubs.iter_mut().zip(&last).for_each(|(r, last)| r.bound = 0.5 * (r.bound + last));
            }
            last = Some(rubs.iter().map(|r| r.bound).collect());
            candidates.iter().for_each(|&k| self.closed[k] = false);
            rests.iter().for_each(|&k| self.frictions[k].1 = Friction::Off);
            self.close_rough(&open, free.clone(), candidates, &rubs, left, state)?;
            if !loaded || (round > 0 && (&self.closed, &self.frictions) == (&was.0, &was.1)) {
                break;
            }
            let model = base.in_mode(&self.present_mode().0);
            loads = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?.instant().clone();
            // Friction that slides elsewhere depends on loads that change with this decision.
            let frozen = with_loads_of(&open, &loads);
            free = Evaluation::new(&frozen, state).map_err(|e| e.cause().clone())?.accelerations().to_vec();
        }
        Ok(())
    }

    /// Whether a friction element has reached its bound at this same instant.
    fn breaks_here(&self, friction: usize, t: f64) -> bool {
        let name = &self.base.forces[self.frictions[friction].0].0;
        let now = |at: f64| (at - t).abs() <= 1e-11 * t.abs().max(1.0);
        self.happened.iter().rev().take_while(|h| now(h.t)).any(|h| h.name == *name && h.kind == Kind::Slide)
    }

    /// The largest acceleration, m/s^2, that the reactions and efforts of an instant would give to free bodies.
    fn driven(&self, now: &Instant) -> f64 {
        let base = &*self.base;
        let of = |body: usize, force: f64, torque: f64| {
            let b = &base.bodies[body];
            let turn = b.J_bar.trace() / 3.0;
            let linear = if b.mass > 0.0 { force / b.mass } else { 0.0 };
            linear.max(if turn > 0.0 { base.length * torque / turn } else { 0.0 })
        };
        let joints = base.joints.iter().zip(&now.reactions).flat_map(|(j, r)| {
            let torque = r.torque.norm() + base.length * r.force.norm();
            [0, 1].map(|side| match j.bodies[side].index() {
                0 => 0.0,
                b => of(b, r.force.norm(), torque),
            })
        });
        let moving = base.bodies.iter().enumerate().skip(1);
        let effort = now.efforts.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        let efforts = moving.map(|(b, _)| of(b, effort, effort));
        joints.chain(efforts).fold(self.fast(&now.a), f64::max)
    }

    /// Projects a state onto the limits and locks that hold now, and moves the positions of all sticking friction to the resulting joint
    /// coordinates: otherwise two elements would hold one motion at positions that differ by rounding.
    fn place_sticking(&mut self, state: &mut Configuration) {
        let base = self.base.clone();
        let stuck: Vec<usize> = (0..self.frictions.len()).filter(|&k| self.frictions[k].1 == Friction::Sticks).collect();
        let closed = self.limits.iter().enumerate().any(|(k, l)| self.closed[k] && !matches!(l.of, Bounded::Rate(_) | Bounded::Spot));
        if stuck.is_empty() || (!closed && self.locks.is_empty()) {
            return;
        }
        let (mut mode, by) = self.present_mode();
        let mut keep = by.iter().map(|b| !matches!(b, HeldBy::Friction(_)));
        mode.held.retain(|_| keep.next().unwrap_or(true));
        let Ok(placed) = crate::formulation::lie::closed(&base.in_mode(&mode), state) else { return };
        *state = placed;
        let x = Instant::new(&base, state);
        for k in stuck {
            let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { continue };
            self.stuck_at[k] = coordinate_of(&base, f.joint, Some(f.coordinate(&base)), &x.plain(&[])).0;
        }
    }

    /// Whether the joint of a limit acts and is not locked, or is the limit itself.
    pub(super) fn acts(&self, limit: usize) -> bool {
        let l = &self.limits[limit];
        matches!(l.of, Bounded::Own | Bounded::Spot) || (self.joints[l.joint] && !self.locked(limit))
    }

    /// Whether the coordinate of a limit is locked, so that it can neither reach its bound nor leave it.
    pub(super) fn locked(&self, limit: usize) -> bool {
        let l = &self.limits[limit];
        match l.of {
            Bounded::Position(which) | Bounded::Rate(which) => self.locks.iter().any(|k| (k.0, k.1) == (l.joint, which)),
            Bounded::Own | Bounded::Spot => false,
        }
    }

    /// Whether a friction element that can stick is active.
    fn friction_acts(&self, k: usize) -> bool {
        let force = self.frictions[k].0;
        let joint = self.base.forces[force].1.touches().joint;
        let held = |j: usize| self.locks.iter().any(|l| l.0 == j);
        self.forces[force] && joint.is_some_and(|j| self.joints[j] && !held(j))
    }

    /// Closes those of the given resting limits that would be passed; pressed ones are known to be passed.
    fn close(&mut self, candidates: &[usize], left: &Left, state: &Configuration) -> Result<(), Diagnostic> {
        let (base, all) = (self.base.clone(), self.limits.clone());
        for &k in candidates {
            self.closed[k] = false;
        }
        if candidates.is_empty() {
            return Ok(());
        }
        let (mode, _) = self.present_mode();
        let model = base.in_mode(&mode);
        let a = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?.accelerations().to_vec();
        if self.any_rough(candidates) {
            return self.close_rough(&model, a, candidates, &[], left, state);
        }
        let limits: Vec<_> = candidates.iter().map(|&k| &all[k]).collect();
        let mut b = DVector::from_iterator(limits.len(), limits.iter().map(|l| l.second_rate(&base, &state.q, &state.v, &a)));
        let top = a.iter().fold(0.0_f64, |s, a| s.max(a.v.norm()).max(base.length * a.w.norm()));
        // If friction has just reached its bound, forces have errors due to the error of that time.
        let near = !left.frictions.is_empty() || !left.pressed.is_empty();
        let rounding = if near { 1e-9 } else { 1e-12 };
        let still = -rounding * top.max(base.gravity.norm()).max(1.0);
        b.iter_mut().filter(|b| b.abs() <= -still).for_each(|b| *b = 0.0);
        // The push, as an acceleration, and the remaining acceleration of limits without push.
        let (mut push, mut rest) = (DVector::zeros(limits.len()), b.clone());
        let mut x = push.clone();
        if b.iter().any(|b| *b < still) {
            let (_, G) = Jump::new(&model, state).responses(&base, &state.q, &limits);
            x = complementary(&G, &b).map_err(|i| self.presses(candidates[i], state.t))?;
            push = x.component_mul(&G.diagonal());
            rest += G * &x;
        }
        let pressed = self.pressed(&model, candidates, left, state);
        let least = if near { -still } else { 0.0 };
        for (i, k) in candidates.iter().enumerate() {
            self.closed[*k] = (x[i] > 0.0 && push[i] > least) || (pressed.contains(k) && rest[i] <= -still);
            self.holds_from_here(*k, state);
        }
        Ok(())
    }

    /// Resting limits that are passed from now on though there is no push yet: those detected as such, and those into which a joint moves
    /// whose friction has just reached its bound.
    pub(super) fn pressed(&self, model: &crate::model::Model, candidates: &[usize], left: &Left, state: &Configuration) -> Vec<usize> {
        let base = &*self.base;
        let mut list = left.pressed.clone();
        for (k, direction) in &left.frictions {
            let Some(f) = base.forces[self.frictions[*k].0].1.sticks() else { continue };
            let own = along_joint(f.joint, f.coordinate(base), *direction);
            let rows: Vec<&Limit> = std::iter::once(&own).chain(candidates.iter().map(|&k| &self.limits[k])).collect();
            let (_, G) = Jump::new(model, state).responses(base, &state.q, &rows);
            let into = |i: usize| G[(i, 0)] < -1e-9 * (G[(i, i)] * G[(0, 0)]).sqrt();
            list.extend((1..rows.len()).filter(|&i| into(i)).map(|i| candidates[i - 1]));
        }
        list
    }

    /// Stores the coordinate and time from which a one-way limit that has closed holds its joint.
    pub(super) fn holds_from_here(&mut self, limit: usize, state: &Configuration) {
        if let Bounded::Rate(which) = self.limits[limit].of
            && self.closed[limit]
        {
            let at = Instant::new(&self.base, state);
            let (y, _) = coordinate_of(&self.base, self.limits[limit].joint, Some(which), &at.plain(&[]));
            self.since[limit] = [y, state.t];
        }
    }

    /// Refuses sticking friction on a load that is not unique: it would break loose at arbitrary times.
    pub(super) fn refuse_sticking_on_loads_that_are_not_unique(&self, structure: &Structure<'_>) -> Result<(), Diagnostic> {
        let loaded = self.frictions.iter().filter_map(|(k, _)| {
            let (name, f) = &self.base.forces[*k];
            Some((name, f.touches().loaded_joint()?))
        });
        for (name, joint) in loaded {
            let joint = &self.base.joints[joint].name;
            if structure.not_unique().iter().any(|(j, parts)| j == joint && parts.iter().any(|p| p.starts_with("force"))) {
                return Err(Diagnostic::new("S306", format!("friction `{name}` sticks on the load of joint `{joint}`, which is not unique"))
                    .names([name.clone(), joint.clone()])
                    .help("its times would be arbitrary: take a redundant constraint out (`fourbar check` names them), give `preload` instead of `coulomb`, or leave `stick` out"));
            }
        }
        Ok(())
    }
}
