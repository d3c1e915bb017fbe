//! The mode after an event: which limits that touch are closed, and what friction does, from the accelerations.

use super::jump::{Jump, complementary};
use super::{Eventful, Friction, HeldBy, Kind};
use crate::diagnostic::{Diagnostic, number};
use crate::evaluate::Evaluation;
use crate::event::{Bounded, Limit, Mode};
use crate::force::eval::coordinate_of;
use crate::model::JointCoordinate;
use crate::motion::{Instant, load_across};
use crate::state::{Configuration, Twist};
use crate::structure::Structure;
use crate::trajectory::rates;
use nalgebra::{DVector, Vector3};

/// Rounds in which limits and friction find their mode.
const ROUNDS: usize = 30;
/// Rounds in which the bounds of friction and what it does agree.
const BOUNDS: usize = 10;
/// Friction at this share of its bound, or less, holds.
pub(super) const WITHIN: f64 = 1.0 - 1e-9;
/// Friction whose bound was just reached does not hold up to this share of it.
const BROKEN: f64 = 1.0 - 1e-6;
/// Accelerations against the direction of friction from this share of the largest on contradict it.
const AGAINST: f64 = 1e-7;

/// The mode just left, which fits as well as the next one and is not taken again.
#[derive(Clone, Default)]
pub struct Left {
    /// Limits whose force came down to zero.
    pub limits: Vec<usize>,
    /// Limits whose gap came down to zero.
    pub reached: Vec<usize>,
    /// Limits among them that would be passed from here on, though nothing moves and nothing pushes yet.
    pub pressed: Vec<usize>,
    /// Friction whose bound was reached, with the direction in which its joint will slide.
    pub frictions: Vec<(usize, f64)>,
    /// Friction whose joint has come to rest.
    pub stopped: Vec<usize>,
    /// Spots whose friction was at its bound, with the direction in which the first body will slide, world.
    pub broke: Vec<(usize, Vector3<f64>)>,
    /// Spots whose slip has come down to zero.
    pub halted: Vec<usize>,
    /// Whether it was left because inputs have jumped.
    pub by_input: bool,
}

/// Friction at rest with the bound up to which it holds.
pub(super) struct Rubs {
    /// Its place among what can stick.
    pub friction: usize,
    pub joint: usize,
    pub which: JointCoordinate,
    /// N or N m.
    pub bound: f64,
}

/// The row of a coordinate of a joint, as that of a limit which nothing reaches.
pub(super) fn along_joint(joint: usize, which: JointCoordinate, side: f64) -> Limit {
    Limit { name: String::new(), joint, of: Bounded::Position(which), bound: 0.0, side, restitution: 0.0, spot: None }
}

impl Eventful {
    /// The mode without any limit and without sticking: what holds in an impact.
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

    /// Accelerations with all limits open and what friction does now.
    pub(super) fn open_accelerations(&self, state: &Configuration) -> Result<Vec<Twist>, Diagnostic> {
        let model = self.base.in_mode(&self.mode_without_limits());
        let e = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
        Ok(e.accelerations().to_vec())
    }

    /// Chooses the mode at a state.
    pub(super) fn decide(&mut self, state: &mut Configuration, left: &Left) -> Result<(), Diagnostic> {
        let base = self.base.clone();
        // Limits that touch at rest.
        let at_rest = |k: usize| {
            let l = &self.limits[k];
            let (gap, rate) = (l.gap(&base, &state.q, &state.v, &state.turns), l.rate(&base, &state.q, &state.v));
            let size = if matches!(l.of, Bounded::Position(JointCoordinate::Angle)) { 1.0 } else { base.length };
            let near = matches!(l.of, Bounded::Rate(_)) || gap <= 1e-9 * size || left.reached.contains(&k) || self.closed[k];
            let slow = self.slow(k, &state.v).max(if self.closed[k] { 1e-7 * self.fast(&state.v) } else { 0.0 });
            near && rate.abs() <= slow && self.acts(k) && !left.limits.contains(&k)
        };
        let candidates: Vec<usize> = (0..self.limits.len()).filter(|&k| at_rest(k)).collect();
        let free: Vec<usize> = (0..self.frictions.len()).filter(|&k| !self.friction_acts(k)).collect();
        // Friction: what moves slides, what rests is tried as sticking.
        let mut open = Vec::new();
        let mut at_rest = Vec::new();
        for k in 0..self.frictions.len() {
            if free.contains(&k) {
                self.frictions[k].1 = Friction::Off;
                continue;
            }
            let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { continue };
            let x = Instant::new(&base, state);
            let (y, rate) = coordinate_of(&base, f.joint, Some(f.coordinate(&base)), &x.plain(&[]));
            let turns = f.coordinate(&base) == JointCoordinate::Angle;
            let slow = 1e-8 * self.fast(&state.v) / if turns { base.length } else { 1.0 } + 1e-12;
            let stuck = self.frictions[k].1 == Friction::Sticks;
            if rate.abs() <= slow || left.stopped.contains(&k) || left.frictions.iter().any(|(f, _)| *f == k) {
                at_rest.push(k);
                if !stuck {
                    self.stuck_at[k] = y;
                }
            }
            if let Some((_, direction)) = left.frictions.iter().find(|(f, _)| *f == k) {
                self.frictions[k].1 = Friction::Slides(*direction);
            } else if self.gave_way(k, left) || self.gave_way_here(k, left, state) {
                // It gives way as before: what held its joint besides has given way as well.
            } else if let Some(direction) = self.turns_back(k, left, state) {
                self.frictions[k].1 = Friction::Slides(direction);
            } else if rate.abs() <= slow || left.stopped.contains(&k) {
                self.frictions[k].1 = Friction::Sticks;
                open.push(k);
            } else {
                self.frictions[k].1 = Friction::Slides(rate.signum());
            }
        }
        self.closed.fill(false);
        let rested = std::mem::replace(&mut self.pinned, vec![false; self.frictions.len()]);
        for round in 0.. {
            self.close(&candidates, left, state)?;
            if at_rest.is_empty() && candidates.is_empty() {
                return Ok(());
            }
            let (mode, by) = self.present_mode();
            let model = base.in_mode(&mode);
            let evaluated = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
            let now = evaluated.instant();
            let first = base.drives_of(&mode).len();
            // The friction that is asked for most beyond its bound gives way.
            let mut worst: Option<(usize, f64, f64)> = None;
            for &k in &open {
                let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { continue };
                let Some(place) = by.iter().position(|b| *b == HeldBy::Friction(k)) else { continue };
                let effort = now.efforts[first + place];
                let bound = f.bound(&base, load_across(&base, f.joint, &now.q, &now.reactions[f.joint]));
                let over = effort.abs() - bound;
                // What a limit has just left to friction that was at its bound is at its bound.
                let rounding = if rested[k] && !left.limits.is_empty() { 1e-9 } else { 1e-12 };
                if over > rounding * bound.max(effort.abs()) && worst.is_none_or(|w| over > w.2) {
                    worst = Some((k, -effort.signum(), over));
                }
            }
            match worst {
                Some((k, direction, _)) if round < ROUNDS => {
                    self.frictions[k].1 = Friction::Slides(direction);
                    open.retain(|o| *o != k);
                }
                Some(_) if self.decide_together(&candidates, &at_rest, left, state) => return Ok(()),
                Some((k, ..)) => {
                    let name = base.forces[self.frictions[k].0].0.clone();
                    let message = format!("at t = {} s no motion satisfies both friction `{name}` and the limits", number(state.t));
                    return Err(Diagnostic::new("S305", message)
                        .name(name)
                        .time(state.t)
                        .help("less friction, or the smooth law, may pass"));
                }
                None => {
                    // One by one they may have been decided so that one contradicts the other.
                    if self.contradicts(&at_rest, state, now) && self.decide_together(&candidates, &at_rest, left, state) {
                        return Ok(());
                    }
                    self.pin(&model, state, now);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Whether a joint at rest is accelerated against the direction in which its friction has it slide.
    fn contradicts(&self, at_rest: &[usize], state: &Configuration, now: &Instant) -> bool {
        let base = &*self.base;
        // Beside what the forces would do without limits, what they do is rounding where all is held.
        let open = self.open_accelerations(state).unwrap_or_default();
        let top = now.a.iter().chain(&open).fold(base.gravity.norm(), |s, a| s.max(a.v.norm()).max(base.length * a.w.norm()));
        at_rest.iter().any(|&k| {
            let (Friction::Slides(direction), Some(f)) = (self.frictions[k].1, base.forces[self.frictions[k].0].1.sticks()) else {
                return false;
            };
            let (joint, which) = (&base.joints[f.joint], f.coordinate(base));
            let unit = if which == JointCoordinate::Angle { base.length } else { 1.0 };
            joint.coordinate(which).is_some_and(|y| direction * unit * rates(joint, &y, now)[1] < -AGAINST * top.max(f64::MIN_POSITIVE))
        })
    }

    /// Whether friction that holds in the present mode is asked for more than its bound. Several that hold one motion share its load, and
    /// that share need not be the one by which the mode was chosen.
    fn exceeds(&self, at_rest: &[usize], now: &Instant) -> bool {
        let base = &*self.base;
        let (mode, by) = self.present_mode();
        let first = base.drives_of(&mode).len();
        at_rest.iter().any(|&k| {
            let (Some(f), Some(place)) = (base.forces[self.frictions[k].0].1.sticks(), by.iter().position(|b| *b == HeldBy::Friction(k)))
            else {
                return false;
            };
            let effort = now.efforts[first + place].abs();
            let bound = f.bound(base, load_across(base, f.joint, &now.q, &now.reactions[f.joint]));
            effort - bound > 1e-9 * bound.max(effort)
        })
    }

    /// Chooses the mode of all limits that touch and all friction at rest in one problem, in which none is decided before the other. The bounds of
    /// friction that depend on loads are those of the mode at hand, until it stays the same; `false` where it does not, and nothing is changed.
    fn decide_together(&mut self, candidates: &[usize], at_rest: &[usize], left: &Left, state: &Configuration) -> bool {
        let first = (self.closed.clone(), self.doing.clone(), self.frictions.clone(), self.since.clone());
        // Where there is no answer that way, that of the other way stands.
        if let Ok(true) = self.rounds_together(candidates, at_rest, left, state) {
            return true;
        }
        (self.closed, self.doing, self.frictions, self.since) = first;
        false
    }

    /// The rounds of [`Eventful::decide_together`].
    fn rounds_together(&mut self, candidates: &[usize], at_rest: &[usize], left: &Left, state: &Configuration) -> Result<bool, Diagnostic> {
        let base = self.base.clone();
        for _ in 0..BOUNDS {
            let was = (self.closed.clone(), self.frictions.clone());
            let model = base.in_mode(&self.present_mode().0);
            let evaluated = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
            let now = evaluated.instant();
            let bound = |k: usize| {
                let f = base.forces[self.frictions[k].0].1.sticks()?;
                let load = load_across(&base, f.joint, &now.q, &now.reactions[f.joint]);
                let broke = left.frictions.iter().any(|(b, _)| *b == k);
                let bound = if broke { BROKEN * f.sliding_bound(&base, load, 0.0) } else { f.bound(&base, load) };
                Some(Rubs { friction: k, joint: f.joint, which: f.coordinate(&base), bound })
            };
            let rubs: Vec<Rubs> = at_rest.iter().filter_map(|&k| bound(k)).collect();
            candidates.iter().for_each(|&k| self.closed[k] = false);
            at_rest.iter().for_each(|&k| self.frictions[k].1 = Friction::Off);
            let mut mode = self.present_mode().0;
            at_rest.iter().for_each(|&k| mode.forces[self.frictions[k].0] = false);
            let model = base.in_mode(&mode);
            let a = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?.accelerations().to_vec();
            self.close_rough(&model, a, candidates, &rubs, left, state)?;
            if (&self.closed, &self.frictions) == (&was.0, &was.1) {
                let model = base.in_mode(&self.present_mode().0);
                let evaluated = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
                let now = evaluated.instant();
                if self.contradicts(at_rest, state, now) || self.exceeds(at_rest, now) {
                    return Ok(false);
                }
                self.pin(&model, state, now);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the joint of a limit acts and is not locked, or is the limit itself.
    pub(super) fn acts(&self, limit: usize) -> bool {
        let l = &self.limits[limit];
        matches!(l.of, Bounded::Own | Bounded::Spot) || (self.joints[l.joint] && !self.locked(limit))
    }

    /// Whether the coordinate of a limit is locked: nothing leads it to its bound or away from it.
    pub(super) fn locked(&self, limit: usize) -> bool {
        let l = &self.limits[limit];
        match l.of {
            Bounded::Position(which) | Bounded::Rate(which) => self.locks.iter().any(|k| (k.0, k.1) == (l.joint, which)),
            Bounded::Own | Bounded::Spot => false,
        }
    }

    /// Whether a friction was at its bound already, and rested because of another one that has reached its own now.
    fn gave_way(&self, k: usize, left: &Left) -> bool {
        self.pinned[k]
            && matches!(self.frictions[k].1, Friction::Slides(_))
            && !left.frictions.is_empty()
            && left.limits.is_empty()
            && left.reached.is_empty()
            && !left.by_input
    }

    /// Whether a friction has come to its bound at this very instant, and its joint has been led onto a limit since.
    fn gave_way_here(&self, k: usize, left: &Left, state: &Configuration) -> bool {
        let name = &self.base.forces[self.frictions[k].0].0;
        let now = |t: f64| (t - state.t).abs() <= 1e-11 * state.t.abs().max(1.0);
        !left.pressed.is_empty()
            && matches!(self.frictions[k].1, Friction::Slides(_))
            && self.happened.iter().rev().take_while(|h| now(h.t)).any(|h| h.name == *name && h.kind == Kind::Slide)
    }

    /// The direction in which a joint slides on that has just come to rest, where it is accelerated that way against its friction. It need not
    /// be tried as sticking then, which at a dead point would ask for forces without bound.
    fn turns_back(&mut self, k: usize, left: &Left, state: &Configuration) -> Option<f64> {
        let Friction::Slides(was) = self.frictions[k].1 else { return None };
        if !left.stopped.contains(&k) || !left.reached.is_empty() {
            return None;
        }
        let base = self.base.clone();
        let f = base.forces[self.frictions[k].0].1.sticks()?;
        let (joint, which) = (&base.joints[f.joint], f.coordinate(&base));
        let y = joint.coordinate(which)?;
        self.frictions[k].1 = Friction::Slides(-was);
        let (mode, _) = self.present_mode();
        self.frictions[k].1 = Friction::Slides(was);
        let model = base.in_mode(&mode);
        let evaluated = Evaluation::new(&model, state).ok()?;
        let now = evaluated.instant();
        let unit = if which == JointCoordinate::Angle { base.length } else { 1.0 };
        let top = now.a.iter().fold(base.gravity.norm(), |s, a| s.max(a.v.norm()).max(base.length * a.w.norm()));
        let second = rates(joint, &y, now)[1];
        (-was * unit * second > 1e-6 * top.max(f64::MIN_POSITIVE)).then_some(-was)
    }

    /// Which friction would give way but rests all the same, because something else holds its joint in the mode that was chosen.
    fn pin(&mut self, model: &crate::model::Model, state: &Configuration, now: &Instant) {
        let base = self.base.clone();
        if !self.frictions.iter().any(|f| matches!(f.1, Friction::Slides(_))) {
            return;
        }
        // Beside what the forces would do without limits, what they do is rounding where all is held.
        let open = self.open_accelerations(state).unwrap_or_default();
        let top = now.a.iter().chain(&open).fold(base.gravity.norm(), |s, a| s.max(a.v.norm()).max(base.length * a.w.norm()));
        for k in 0..self.frictions.len() {
            let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { continue };
            let (joint, which) = (&base.joints[f.joint], f.coordinate(&base));
            let Some(y) = joint.coordinate(which) else { continue };
            let unit = if which == JointCoordinate::Angle { base.length } else { 1.0 };
            let [rate, second] = rates(joint, &y, now);
            let rests = unit * rate.abs() <= 1e-8 * self.fast(&now.v) + 1e-12 && unit * second.abs() <= 1e-9 * top.max(f64::MIN_POSITIVE);
            self.pinned[k] = rests && matches!(self.frictions[k].1, Friction::Slides(_)) && {
                let row = along_joint(f.joint, which, 1.0);
                Jump::new(model, state).responses(&base, &state.q, &[&row]).1[(0, 0)] <= 0.0
            };
        }
    }

    /// Whether a friction that can stick acts.
    fn friction_acts(&self, k: usize) -> bool {
        let force = self.frictions[k].0;
        let joint = self.base.forces[force].1.touches().joint;
        let held = |j: usize| self.locks.iter().any(|l| l.0 == j);
        self.forces[force] && joint.is_some_and(|j| self.joints[j] && !held(j))
    }

    /// Closes those of some limits at rest that would be passed; those pressed are known to be.
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
        // Where friction has just come to its bound, forces are off by what the time of that is.
        let near = !left.frictions.is_empty() || !left.pressed.is_empty();
        let rounding = if near { 1e-9 } else { 1e-12 };
        let still = -rounding * top.max(base.gravity.norm()).max(1.0);
        b.iter_mut().filter(|b| b.abs() <= -still).for_each(|b| *b = 0.0);
        // A push, as an acceleration, and what is left of those that do not push.
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

    /// Limits at rest that are passed from here on though nothing pushes them yet: those that were found so, and those into which a joint is
    /// led whose friction has just come to its bound.
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

    /// Where and when a one-way limit that has closed holds its joint from.
    pub(super) fn holds_from_here(&mut self, limit: usize, state: &Configuration) {
        if let Bounded::Rate(which) = self.limits[limit].of
            && self.closed[limit]
        {
            let at = Instant::new(&self.base, state);
            let (y, _) = coordinate_of(&self.base, self.limits[limit].joint, Some(which), &at.plain(&[]));
            self.since[limit] = [y, state.t];
        }
    }

    /// Sticking on a load that is not unique would hold at arbitrary times.
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
