//! Rigid contacts: spots are limits of a mechanism; at closed spots bodies stick, slide on each other, or glide without friction.
//!
//! Impacts with friction and the choice between sticking, sliding and opening are complementarity problems over all touching limits,
//! formulated with the effect of unit impulses along their directions on the velocities, and solved by [`solve`].

use super::change::Brought;
use super::decide::{Left, Rubs, WITHIN, along_joint};
use super::jump::Jump;
use super::watch::{Found, Watched};
use super::{Eventful, Friction, Kind};
use crate::contact::{Moving, Spots};
use crate::diagnostic::{Diagnostic, number};
use crate::evaluate::Evaluation;
use crate::event::{Doing, Limit, Mode, Touching};
use crate::force::Rub;
use crate::integrator::moreau::active::Active;
use crate::integrator::moreau::solve::solve;
use crate::model::{JointCoordinate, Model};
use crate::motion::{ContactLoad, Instant, Push};
use crate::rolling::{RollingKind, along_surface};
use crate::state::{Configuration, Twist, Wrench};
use nalgebra::{Matrix3, Vector2, Vector3};

/// A sliding direction is kept while the slip is within this slope of it.
const TURN: f64 = 0.3;
/// Slips below this fraction of the slip at the start of sliding count as zero.
const STOPPED: f64 = 1e-6;
/// Slips below this also count as zero, in characteristic lengths per second.
const STANDS: f64 = 1e-10;
/// Spots of two bodies stop together: a spot whose slip is below this multiple of its limit stops with another one.
const TOGETHER: f64 = 1e3;
/// Maximum number of sweeps over the contacts of one instant, and the residual of a good solution, relative to velocities or accelerations
/// of the mechanism.
const SWEEPS: usize = 3000;
const SOLVED: f64 = 1e-13;
const ROUGH: f64 = 1e-7;
/// Number of steps in which friction is increased if there is no solution at once.
const GROWS: usize = 20;
/// Friction jams if the effect of a push is below this fraction of that without friction.
const JAMS: f64 = 1e-9;
/// If steps become too small while this fraction is below the value here, jamming is the reason.
const ABOUT_TO_JAM: f64 = 1e-2;
/// Accelerations below this fraction of those without friction count as zero.
const AT_REST: f64 = 1e-8;
/// Maximum number of iterations for the slip with which a group breaks loose.
const ROUNDS: usize = 60;

/// Solution for touching limits.
pub(super) struct Outcome {
    /// Impulses or forces along the normal and along the surface, world, on the first body.
    pub normal: Vec<f64>,
    pub along: Vec<Vector3<f64>>,
    /// Relative accelerations or velocities along the surface, world.
    pub slip: Vec<Vector3<f64>>,
    /// Velocities or accelerations of the bodies.
    pub v: Vec<Twist>,
    /// Residual of the conditions, as a velocity or an acceleration.
    pub residual: f64,
}

impl Eventful {
    /// State of the bodies at the closed spots, for a mode.
    pub(super) fn touching(&self) -> Option<Vec<Touching>> {
        if self.stepped {
            return None;
        }
        let closed = self.limits.iter().enumerate().filter(|(k, _)| self.closed[*k]);
        let one =
            |(k, l): (usize, &Limit)| l.spot.as_ref().map(|s| Touching { contact: s.contact, number: s.number, doing: self.doing[k] });
        Some(closed.filter_map(one).collect())
    }

    /// The closed spots of a mode, as places among the limits.
    pub(super) fn touched_in(&self, mode: &Mode) -> Vec<usize> {
        let place = |t: &Touching| {
            let same = |l: &Limit| l.spot.as_ref().is_some_and(|s| (s.contact, s.number) == (t.contact, t.number));
            self.limits.iter().position(same)
        };
        mode.touching.iter().flatten().filter_map(place).collect()
    }

    /// Slip of the first body of a spot, and the motion there.
    fn moving(&self, limit: usize, s: &Instant) -> Option<Moving<f64>> {
        self.limits[limit].spot.as_ref().map(|x| x.moving(&s.q, &s.v))
    }

    /// Force on the first body of a closed spot at an instant in the present mode: along the normal and along the surface, world.
    pub(super) fn spot_force(&self, limit: usize, s: &Instant) -> (f64, Vector3<f64>) {
        let (Some(spot), Some(m)) = (&self.limits[limit].spot, self.moving(limit, s)) else { return (0.0, Vector3::zeros()) };
        let Some(place) = self.touched.iter().position(|k| *k == limit) else { return (0.0, Vector3::zeros()) };
        let force = s.constraints[self.base.bare.len() + self.base.rolling.len() + place].force;
        let normal = force.dot(&m.touch.n);
        let mut along = force - m.touch.n * normal;
        if let Doing::Slides(direction, slow) = self.doing[limit] {
            let direction = Vector3::from(direction);
            let d = s.q[spot.spot.bodies[1]].A * direction;
            let rub = Rub { spot: spot.spot.clone(), closed: 0, load: 0, mu: spot.mu[0], direction, slow };
            along -= rub.along(&m.slip, &d) * (spot.mu[0] * normal);
        }
        (normal, along)
    }

    /// Reported loads of rigid contacts at an instant, and the forces they exert.
    pub(super) fn contact_loads(&self, s: &Instant) -> (Vec<ContactLoad>, Vec<Push>) {
        let mut list = vec![ContactLoad::default(); self.base.contacts.len()];
        let mut most = vec![0.0; list.len()];
        let mut pushes = Vec::new();
        for (load, c) in list.iter_mut().zip(&self.base.contacts) {
            let pose = |b: usize| crate::coordinate::PoseOf { r: s.q[b].r, A: s.q[b].A };
            load.gap = c.spots.least_gap(c.spots.reach(), &pose);
        }
        for &k in &self.touched {
            let (Some(spot), Some(m)) = (&self.limits[k].spot, self.moving(k, s)) else { continue };
            let (normal, along) = self.spot_force(k, s);
            let load = &mut list[spot.contact];
            load.normal += normal;
            load.tangential += if spot.spot.swapped { along } else { -along };
            if load.state == 0.0 || normal >= most[spot.contact] {
                most[spot.contact] = normal;
                let sticks = matches!(self.doing[k], Doing::Sticks(_));
                (load.slip, load.state) = (m.slip.norm(), if sticks { 2.0 } else { 1.0 });
            }
            pushes.push(Push { bodies: spot.spot.bodies, at: m.touch.p, force: m.touch.n * normal + along });
        }
        (list, pushes)
    }

    /// Margin of the slip of a spot before it leaves its initial direction.
    pub(super) fn slides_on(&self, limit: usize, s: &Instant) -> f64 {
        let (Doing::Slides(direction, _), Some(m)) = (self.doing[limit], self.moving(limit, s)) else { return f64::INFINITY };
        let Some(spot) = &self.limits[limit].spot else { return f64::INFINITY };
        let d = s.q[spot.spot.bodies[1]].A * Vector3::from(direction);
        let forward = m.slip.dot(&d);
        TURN * forward - (m.slip - d * forward).norm()
    }

    /// Whether the slip of a spot has decreased to zero, not only changed direction.
    pub(super) fn has_stopped(&self, limit: usize, s: &Instant) -> bool {
        match (self.doing[limit], self.moving(limit, s)) {
            (Doing::Slides(_, slow), Some(m)) => m.slip.norm() <= slow.max(self.slow(limit, &s.v)),
            _ => false,
        }
    }

    /// Spots between the same two bodies that stop with one of them. A body that slides and turns stops as a whole, but the times at which
    /// the slips of its spots vanish differ by the errors of the steps.
    pub(super) fn stopped_with(&self, limit: usize, s: &Instant) -> Vec<usize> {
        let pair = |k: usize| self.limits[k].spot.as_ref().map(|s| s.spot.bodies);
        let slow = |k: usize| match (self.doing[k], self.moving(k, s)) {
            (Doing::Slides(_, slow), Some(m)) => m.slip.norm() <= TOGETHER * slow.max(self.slow(k, &s.v)),
            _ => false,
        };
        self.touched.iter().copied().filter(|&k| k == limit || (pair(k) == pair(limit) && slow(k))).collect()
    }

    /// Spots between the same two bodies that stick, which can only slide together; the first represents them.
    pub(super) fn group_of(&self, limit: usize) -> Vec<usize> {
        let pair = |k: usize| self.limits[k].spot.as_ref().map(|s| s.spot.bodies);
        let sticks = |k: &usize| matches!(self.doing[*k], Doing::Sticks(_)) && pair(*k) == pair(limit);
        self.touched.iter().copied().filter(sticks).collect()
    }

    /// Margin of the friction that holds a group of spots, N, and the slips with which it would break loose.
    pub(super) fn holds(&self, limit: usize, s: &Instant) -> (f64, Vec<(usize, Vector3<f64>)>) {
        let group = self.group_of(limit);
        let data: Vec<_> = group
            .iter()
            .filter_map(|&k| {
                let (normal, along) = self.spot_force(k, s);
                let mu = self.limits[k].friction()[1];
                self.moving(k, s).map(|m| (k, mu * normal, along, m.touch.p, m.touch.n))
            })
            .collect();
        if let [(k, bound, along, ..)] = data.as_slice() {
            return (bound - along.norm(), vec![(*k, -along.normalize())]);
        }
        hold_of_group(&data, self.base.length)
    }

    /// Touching limits at an instant, as elements for impulses; `touching` contains their places.
    pub(super) fn actives(&self, jump: &mut Jump<'_>, state: &Configuration, touching: &[usize]) -> Vec<Active> {
        let base = &*self.base;
        let mut list = Vec::new();
        for &k in touching {
            let l = &self.limits[k];
            let key = (k as u32, 0, 0);
            let mut a = match &l.spot {
                Some(s) => {
                    let touch = s.moving(&state.q, &state.v).touch;
                    let axis = state.q[s.spot.bodies[1]].A * self.axis_of(k, state);
                    let [x, y] = along_surface(&touch.n, &axis);
                    Active::at(key, &s.spot, &touch, Matrix3::from_columns(&[touch.n, x, y]), &state.q)
                }
                None => {
                    list.push(Self::active_along(jump, base, key, l, state));
                    continue;
                }
            };
            respond(jump, &mut a, if l.friction()[1] > 0.0 { 3 } else { 1 }, base.bodies.len());
            list.push(a);
        }
        list
    }

    /// The same for a joint limit.
    fn active_along(jump: &mut Jump<'_>, base: &Model, key: (u32, u32, u32), limit: &Limit, state: &Configuration) -> Active {
        let row = limit.row(base, &state.q);
        let none = Wrench::zero();
        let mut a = Active::along(key, [row[0].0, row[1].0], [[row[0].1, none, none], [row[1].1, none, none]]);
        respond(jump, &mut a, 1, base.bodies.len());
        a
    }

    /// A direction on the second body of a spot that is not along the normal.
    pub(super) fn axis_of(&self, limit: usize, state: &Configuration) -> Vector3<f64> {
        let Some(s) = &self.limits[limit].spot else { return Vector3::x() };
        let [first, second] = s.spot.bodies;
        let n = s.moving(&state.q, &state.v).touch.n;
        // The previous axis is kept while it is suitable.
        if let Doing::Sticks(axis) = self.doing[limit] {
            let axis = Vector3::from(axis);
            if (state.q[second].A * axis).dot(&n).abs() < 0.5 {
                return axis;
            }
        }
        // Where the bodies rotate relative to each other the normal rotates about the same axis and stays perpendicular to it.
        let turning = state.q[first].A * state.v[first].w - state.q[second].A * state.v[second].w;
        let across = turning - n * n.dot(&turning);
        let axis = if across.norm() > 0.1 * turning.norm() && across.norm() > 0.0 {
            across.normalize()
        } else {
            let other = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
            (other - n * n.dot(&other)).normalize()
        };
        state.q[second].A.tr_mul(&axis)
    }

    /// Whether any of the given limits has friction.
    pub(super) fn any_rough(&self, touching: &[usize]) -> bool {
        touching.iter().any(|k| self.limits[*k].friction()[1] > 0.0)
    }

    /// Impulses or forces of touching limits, from velocities or accelerations without them; `scale` is their magnitude.
    fn settled(
        &self,
        mut list: Vec<Active>,
        mut v: Vec<Twist>,
        scale: f64,
        touching: &[usize],
        t: f64,
    ) -> Result<(Outcome, Vec<Active>), Diagnostic> {
        let blocked = |a: &Active| a.columns.is_empty() && a.within.is_none() && a.velocity(&v).x < a.target.x - ROUGH * scale;
        if let Some(i) = list.iter().position(blocked) {
            return Err(self.presses(touching[i], t));
        }
        let free = v.clone();
        let mut done = solve(&mut list, &mut v, SOLVED * scale, SWEEPS);
        if done.residual > ROUGH * scale || done.residual.is_nan() {
            // With gradually increasing friction, each time from the preceding solution.
            let mu: Vec<f64> = list.iter().map(|a| a.mu).collect();
            list.iter_mut().for_each(|a| a.P = Vector3::zeros());
            for k in 0..=GROWS {
                v.clone_from(&free);
                list.iter_mut().zip(&mu).for_each(|(a, mu)| a.mu = mu * k as f64 / GROWS as f64);
                done = solve(&mut list, &mut v, SOLVED * scale, SWEEPS / 10);
            }
        }
        if done.residual > ROUGH * scale || done.residual.is_nan() {
            let worst = list.iter().map(|a| a.residual(&a.velocity(&v))).enumerate().fold((0, 0.0), |m, x| if x.1 > m.1 { x } else { m }).0;
            return Err(self.nothing_fits(touching.get(worst).copied(), t));
        }
        let out = |a: &Active, x: &Vector3<f64>| a.frame.column(1) * x.y + a.frame.column(2) * x.z;
        let normal = list.iter().map(|a| a.P.x).collect();
        let along = list.iter().map(|a| out(a, &a.P)).collect();
        let slip = list.iter().map(|a| out(a, &(a.velocity(&v) - a.target))).collect();
        Ok((Outcome { normal, along, slip, v, residual: done.residual }, list))
    }

    /// Velocities after an impact of touching limits, one of which has friction: Poisson's law, in two phases. In the first all approach
    /// ends, in the second every limit returns at least its fraction of the impulse. Energy never grows: if the fractions of several limits
    /// would increase it, they are reduced together.
    pub(super) fn strike(&self, model: &Model, state: &Configuration, touching: &[usize], given: &[f64]) -> Result<Outcome, Diagnostic> {
        let mut jump = Jump::new(model, state);
        let mut list = self.actives(&mut jump, state, touching);
        drop(jump);
        let slow = 1e-8 * self.fast(&state.v) + 1e-12 * self.base.length;
        for (a, &k) in list.iter_mut().zip(touching) {
            let u = a.velocity(&state.v);
            a.mu = self.limits[k].friction()[usize::from(Vector2::new(u.y, u.z).norm() <= slow)];
        }
        let scale = list.iter().map(|a| a.velocity(&state.v).norm()).fold(slow, f64::max);
        let (first, list) = self.settled(list, state.v.clone(), scale, touching, state.t)?;
        let before = self.kinetic(&state.v);
        let mut share = 1.0_f64;
        loop {
            let mut again = list.clone();
            for ((a, e), p) in again.iter_mut().zip(given).zip(&first.normal) {
                a.least = share * e * p;
                a.P = Vector3::zeros();
            }
            if again.iter().all(|a| a.least == 0.0) {
                return Ok(first);
            }
            let (mut second, _) = self.settled(again, first.v.clone(), scale, touching, state.t)?;
            if self.kinetic(&second.v) <= before * (1.0 + 1e-13) || share < 1e-3 {
                second.normal.iter_mut().zip(&first.normal).for_each(|(x, y)| *x += y);
                second.along.iter_mut().zip(&first.along).for_each(|(x, y)| *x += y);
                second.residual = second.residual.max(first.residual);
                return Ok(second);
            }
            share *= 0.9;
        }
    }

    fn kinetic(&self, v: &[Twist]) -> f64 {
        self.base.bodies.iter().zip(v).skip(1).map(|(b, v)| 0.5 * (b.mass * v.v.norm_squared() + v.w.dot(&(b.J_bar * v.w)))).sum()
    }

    /// Effect of a normal push on the gap of a sliding spot, with the associated friction, as a fraction of that without friction; friction
    /// jams where it falls to zero. `None` if the spot does not slide.
    fn leverage(&mut self, limit: usize, state: &Configuration) -> Option<f64> {
        let (Doing::Slides(direction, _), [mu, _]) = (self.doing[limit], self.limits[limit].friction()) else { return None };
        let second = self.limits[limit].spot.as_ref()?.spot.bodies[1];
        if mu == 0.0 {
            return None;
        }
        let closed = std::mem::replace(&mut self.closed, vec![false; self.limits.len()]);
        let model = self.base.in_mode(&self.present_mode().0);
        self.closed = closed;
        let mut list = self.actives(&mut Jump::new(&model, state), state, &[limit]);
        let active = list.first_mut()?;
        let d = state.q[second].A * Vector3::from(direction);
        active.mu = mu;
        active.slides = Some([active.frame.column(1).dot(&d), active.frame.column(2).dot(&d)]);
        (active.G[(0, 0)] > 0.0).then(|| active.push() / active.G[(0, 0)])
    }

    /// A spot whose force seems to reach zero in the last step, but passes through infinity: friction jams at the end of the step.
    pub(super) fn jams_on_the_way(&mut self, found: &Found) -> Option<usize> {
        let mut spots = found.what.iter().filter_map(|w| if let Watched::Effort(k) = w { Some(*k) } else { None });
        spots.find(|k| {
            let at = self.engine_now().configuration();
            self.leverage(*k, &at).is_some_and(|x| x <= JAMS)
        })
    }

    /// Error for steps that became too small because friction is about to jam.
    pub(super) fn blocked(&mut self, d: Diagnostic) -> Diagnostic {
        let at = self.engine_now().configuration();
        let spots = self.touched.clone();
        match spots.into_iter().find(|k| self.leverage(*k, &at).is_some_and(|x| x <= ABOUT_TO_JAM)) {
            Some(k) => self.jams(k, d.time.unwrap_or(at.t)),
            None => d,
        }
    }

    /// Closes those of the given resting limits that would be passed, and chooses the state at touching spots and of joint friction at
    /// rest; `model` is the mechanism without these limits and this friction, and `a` its accelerations.
    pub(super) fn close_rough(
        &mut self,
        model: &Model,
        a: Vec<Twist>,
        candidates: &[usize],
        rubs: &[Rubs],
        left: &Left,
        state: &Configuration,
    ) -> Result<(), Diagnostic> {
        let base = self.base.clone();
        let pressed = self.pressed(model, candidates, left, state);
        let mut jump = Jump::new(model, state);
        let mut list = self.actives(&mut jump, state, candidates);
        for rub in rubs {
            let row = along_joint(rub.joint, rub.which, 1.0);
            let mut active = Self::active_along(&mut jump, &base, (rub.friction as u32, 1, 0), &row, state);
            active.target.x = -row.second_rate(&base, &state.q, &state.v, &a) + active.velocity(&a).x;
            active.within = Some(rub.bound);
            list.push(active);
        }
        drop(jump);
        let axes: Vec<Vector3<f64>> = candidates.iter().map(|&k| self.axis_of(k, state)).collect();
        // Directions of spots that are already sliding.
        let mut sliding: Vec<Option<Vector3<f64>>> = vec![None; candidates.len()];
        for (i, (active, &k)) in list.iter_mut().zip(candidates).enumerate() {
            let l = &self.limits[k];
            active.target.x = -l.second_rate(&base, &state.q, &state.v, &a) + active.velocity(&a).x;
            let Some(s) = l.spot.as_ref().filter(|s| s.mu[1] > 0.0) else { continue };
            let m = s.moving(&state.q, &state.v);
            let slow = 1e-8 * self.fast(&state.v) + 1e-12 * base.length;
            let speed = m.slip.norm();
            let broke = left.broke.iter().find(|b| b.0 == k).map(|b| b.1);
            let rests = speed <= slow || left.halted.contains(&k);
            sliding[i] = broke.or_else(|| (!rests).then(|| m.slip / speed));
            active.mu = s.mu[usize::from(sliding[i].is_none())];
            active.slides = sliding[i].map(|d| [active.frame.column(1).dot(&d), active.frame.column(2).dot(&d)]);
            let [first, second] = s.spot.bodies;
            let (q, v) = ([&state.q[second], &state.q[first]], [&state.v[second], &state.v[first]]);
            let rolls = rolling_at(s.spot.clone(), axes[i]);
            let bias = rolls.bias(q, v);
            (active.target.y, active.target.z) = (-bias[0], -bias[1]);
        }
        // Friction that turns a push into a pull: rigid bodies have no acceleration in this case, or two.
        for (i, active) in list.iter().enumerate().filter(|(_, a)| a.slides.is_some() && !a.columns.is_empty()) {
            if active.push() <= JAMS * active.G[(0, 0)] {
                let free = active.velocity(&a).x - active.target.x;
                if free < 0.0 {
                    return Err(self.jams(candidates[i], state.t));
                }
                self.warn_of_two(candidates[i], state.t);
            }
        }
        let scale = list.iter().map(|x| (x.velocity(&a) - x.target).norm()).fold(1e-3 * base.gravity.norm(), f64::max);
        let scale = rubs.iter().fold(scale.max(1e-6 * self.fast(&a)).max(f64::MIN_POSITIVE), |m, r| m.max(1e8 * r.rounding));
        let free: Vec<f64> = list.iter().map(|x| x.velocity(&a).x - x.target.x).collect();
        let (out, mut list) = self.settled(list, a, scale, candidates, state.t)?;
        let scale = out.slip.iter().map(Vector3::norm).fold(0.0, f64::max).max(base.gravity.norm()).max(self.fast(&out.v));
        // If friction has just reached its bound, forces have errors due to the error of that time.
        let near = if left.frictions.is_empty() && left.pressed.is_empty() { 1e-12 } else { 1e-9 };
        for (i, &k) in candidates.iter().enumerate() {
            self.closed[k] = out.normal[i] * list[i].G[(0, 0)] > 1e-12 * scale
                || (pressed.contains(&k) && list[i].velocity(&out.v).x <= list[i].target.x + near * scale);
            self.holds_from_here(k, state);
            let Some(s) = &self.limits[k].spot else { continue };
            let second = &state.q[s.spot.bodies[1]].A;
            let slides = |d: Vector3<f64>, from: f64| {
                let d = second.tr_mul(&d);
                Doing::Slides([d.x, d.y, d.z], (STOPPED * from).max(STANDS * base.length))
            };
            self.doing[k] = match sliding[i] {
                _ if s.mu[1] == 0.0 => Doing::Glides,
                Some(d) => slides(d, s.moving(&state.q, &state.v).slip.norm()),
                None if out.slip[i].norm() <= 1e-9 * scale => Doing::Sticks([axes[i].x, axes[i].y, axes[i].z]),
                None if out.along[i].norm() > 0.0 => slides(-out.along[i].normalize(), 0.0),
                None => slides(out.slip[i].normalize(), 0.0),
            };
        }
        // Friction holds if its joint is not accelerated, whatever its part of the load.
        for (n, rub) in rubs.iter().enumerate() {
            let (active, free) = (&list[candidates.len() + n], free[candidates.len() + n]);
            let effort = out.normal[candidates.len() + n];
            let rate = active.velocity(&out.v).x - active.target.x;
            let unit = if rub.which == JointCoordinate::Angle { base.length } else { 1.0 };
            let none = (AT_REST * free.abs().max(active.G[(0, 0)] * rub.bound))
                .max((1e-11 * scale).max(rub.rounding) / unit)
                .max(10.0 * out.residual);
            let within = active.G[(0, 0)] > 0.0 && rub.bound > 0.0 && effort.abs() <= WITHIN * rub.bound;
            let holds = within || rate.abs() <= none;
            self.frictions[rub.friction].1 = if holds { Friction::Sticks } else { Friction::Slides(rate.signum()) };
        }
        list.truncate(candidates.len());
        if self.normals_are_unique(&list, candidates) {
            return Ok(());
        }
        self.warn_of_sharing(candidates, state.t);
        let chosen: Vec<bool> = sliding.iter().map(Option::is_none).collect();
        self.share_as_the_engine(&list, candidates, &chosen, &axes, state)
    }

    /// If normal forces are not unique, friction depends on their distribution. The equations of motion select one distribution: the states
    /// of the spots are changed, one at a time, until they are consistent with it. `chosen` are the spots that start from rest.
    fn share_as_the_engine(
        &mut self,
        list: &[Active],
        candidates: &[usize],
        chosen: &[bool],
        axes: &[Vector3<f64>],
        state: &Configuration,
    ) -> Result<(), Diagnostic> {
        let base = self.base.clone();
        let touched = std::mem::take(&mut self.touched);
        let mut met: Vec<Vec<(bool, u8)>> = Vec::new();
        let first = (self.closed.clone(), self.doing.clone());
        loop {
            let kind = |k: &usize| match self.doing[*k] {
                Doing::Glides => 0,
                Doing::Sticks(_) => 1,
                Doing::Slides(..) => 2,
            };
            let present: Vec<(bool, u8)> = candidates.iter().map(|k| (self.closed[*k], kind(k))).collect();
            if met.contains(&present) || met.len() > 4 * candidates.len() {
                // No choice is consistent: the previous decision is kept.
                (self.closed, self.doing) = first;
                break;
            }
            met.push(present);
            let (mode, _) = self.present_mode();
            let model = base.in_mode(&mode);
            self.touched = self.touched_in(&mode);
            let evaluated = Evaluation::new(&model, state).map_err(|e| e.cause().clone())?;
            let now = evaluated.instant();
            let forces: Vec<(f64, Vector3<f64>)> = candidates.iter().map(|&k| self.spot_force(k, now)).collect();
            let load = forces.iter().map(|f| f.0.abs()).fold(f64::MIN_POSITIVE, f64::max);
            let fast = self.fast(&now.a).max(base.gravity.norm()).max(f64::MIN_POSITIVE);
            // The largest inconsistency, relative to the loads or accelerations of the instant, and the change that removes it.
            let mut worst: (f64, Vec<(usize, Option<Doing>)>) = (1e-9, Vec::new());
            for (i, &k) in candidates.iter().enumerate() {
                let Some(s) = &self.limits[k].spot else { continue };
                let into = |d: &Vector3<f64>| {
                    let d = state.q[s.spot.bodies[1]].A.tr_mul(d);
                    Doing::Slides([d.x, d.y, d.z], STANDS * base.length)
                };
                let rises = list[i].velocity(&now.a) - list[i].target;
                let (size, change) = match self.doing[k] {
                    _ if !self.closed[k] => (-rises.x / fast, vec![(k, Some(self.doing[k]))]),
                    _ if forces[i].0 < -1e-9 * load => (-forces[i].0 / load, vec![(k, None)]),
                    Doing::Sticks(_) => {
                        let (left, ways) = self.holds(k, now);
                        (-left / load, ways.iter().map(|(k, d)| (*k, Some(into(d)))).collect())
                    }
                    Doing::Slides(d, _) if chosen[i] => {
                        let d = state.q[s.spot.bodies[1]].A * Vector3::from(d);
                        let along = list[i].frame.column(1) * rises.y + list[i].frame.column(2) * rises.z;
                        (-along.dot(&d) / fast, vec![(k, Some(Doing::Sticks([axes[i].x, axes[i].y, axes[i].z])))])
                    }
                    _ => continue,
                };
                if size > worst.0 && !change.is_empty() {
                    worst = (size, change);
                }
            }
            if worst.1.is_empty() {
                break;
            }
            for (k, doing) in worst.1 {
                self.closed[k] = doing.is_some();
                self.doing[k] = doing.unwrap_or(self.doing[k]);
            }
        }
        self.touched = touched;
        Ok(())
    }

    /// Whether the normal forces at the closed spots are unique.
    fn normals_are_unique(&self, list: &[Active], candidates: &[usize]) -> bool {
        let closed: Vec<usize> = (0..list.len()).filter(|i| self.closed[candidates[*i]]).collect();
        if closed.len() < 2 {
            return true;
        }
        let along = |a: &Active, b: &Active| {
            let part = |side: usize| b.columns.iter().find(|c| c.0 == a.bodies[side]).map_or(0.0, |c| a.rows[side][0].power(&c.1[0]));
            part(0) + part(1)
        };
        let G = nalgebra::DMatrix::from_fn(closed.len(), closed.len(), |i, j| {
            let (a, b) = (&list[closed[i]], &list[closed[j]]);
            along(a, b) / (a.G[(0, 0)] * b.G[(0, 0)]).sqrt()
        });
        G.rank(1e-9) == closed.len()
    }

    /// Warns once where normal forces at spots are not unique.
    fn warn_of_sharing(&mut self, candidates: &[usize], t: f64) {
        if self.warnings.iter().any(|w| w.code.0 == "W323") {
            return;
        }
        let mut names: Vec<String> = candidates.iter().filter(|k| self.closed[**k]).map(|k| self.contact_name(*k)).collect();
        names.sort_unstable();
        names.dedup();
        let listed = names.iter().take(4).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let message = format!("from t = {} s on the normal forces at the places of contact {listed} are not unique", number(t));
        self.warnings.push(Diagnostic::new("W323", message).names(names).time(t).help("their sum is; of the single forces the smallest are given. The motion is unique too, unless friction slides at these places in different directions. Three places carry a body in space, two in a plane"));
    }

    /// Reports changes of the spots, each contact once.
    pub(super) fn tell_slips(&self, was_closed: &[bool], was: &[Doing], left: &Left, state: &Configuration, brought: &mut Brought) {
        for (k, l) in self.limits.iter().enumerate().filter(|(k, l)| self.closed[*k] && l.friction()[1] > 0.0) {
            let halted = left.halted.contains(&k);
            let kind = match (was[k], self.doing[k]) {
                (Doing::Slides(..), Doing::Sticks(_)) if halted && was_closed[k] => Some(Kind::Stick),
                (Doing::Slides(a, _), Doing::Slides(b, _)) if halted => {
                    (Vector3::from(a).dot(&Vector3::from(b)) < 0.0).then_some(Kind::Reverse)
                }
                _ => None,
            };
            // Sliding from rest, or backward motion below the resting speed, begins with zero slip.
            let slip = l.spot.as_ref().map(|s| (s.moving(&state.q, &state.v).slip, state.q[s.spot.bodies[1]].A));
            if let (Doing::Slides(direction, none), Some((slip, A))) = (self.doing[k], slip)
                && (slip.norm() <= self.slow(k, &state.v).max(none) || slip.dot(&(A * Vector3::from(direction))) <= 0.0)
            {
                brought.zeros.push(Watched::Slip(k));
            }
            if let Some(kind) = kind {
                let name = self.contact_name(k);
                if !brought.happened.iter().any(|h| h.name == name && h.kind == kind) {
                    brought.happened.push(self.note(state.t, name, kind));
                }
            }
        }
    }

    /// Name of the contact of a spot, or of a limit.
    pub(super) fn contact_name(&self, limit: usize) -> String {
        let l = &self.limits[limit];
        l.spot.as_ref().map_or_else(|| l.name.clone(), |s| self.base.contacts[s.contact].name.clone())
    }

    pub(super) fn jams(&self, limit: usize, t: f64) -> Diagnostic {
        let name = self.contact_name(limit);
        let mu = self.limits[limit].friction()[0];
        Diagnostic::new("S323", format!("at t = {t:.6} s contact `{name}` jams: rigid bodies with friction {} have no acceleration here", number(mu)))
            .name(name)
            .time(t)
            .help("the more it presses, the more friction presses the bodies into each other; give the contact a `stiffness`, less friction, or step through it with `--formulation ra --integrator moreau`")
    }

    fn warn_of_two(&mut self, limit: usize, t: f64) {
        let name = self.contact_name(limit);
        if self.warnings.iter().any(|w| w.code.0 == "W324" && w.names.contains(&name)) {
            return;
        }
        let message = format!("at t = {t:.6} s contact `{name}` may go on sliding or part, both fit: it parts");
        self.warnings.push(
            Diagnostic::new("W324", message)
                .name(name)
                .time(t)
                .help("friction this large makes rigid bodies undecided; with a `stiffness` the contact decides"),
        );
    }

    /// Error for friction and limits that cannot be satisfied together.
    fn nothing_fits(&self, limit: Option<usize>, t: f64) -> Diagnostic {
        let Some(limit) = limit else {
            let message = format!("at t = {t:.6} s no motion satisfies the friction of the joints together with what touches");
            return Diagnostic::new("S305", message).time(t).help("less friction, or the smooth law, may pass");
        };
        let name = self.contact_name(limit);
        Diagnostic::new("S305", format!("at t = {t:.6} s no motion satisfies contact `{name}` together with the others that touch"))
            .name(name)
            .time(t)
            .help("less friction, or a `stiffness`, may pass")
    }

    /// Refuses rigid contacts whose spots appear and disappear, or whose normals jump, if they are to be treated as events.
    pub(super) fn refuse_contacts(&self) -> Result<(), Diagnostic> {
        for c in &self.base.contacts {
            let why = match &c.spots {
                Spots::Among(_) => "has places that come and go",
                Spots::Listed(list) if !list.iter().all(|s| s.is_smooth()) => "has edges at which its normal jumps",
                Spots::Listed(_) => continue,
            };
            return Err(Diagnostic::new("S320", format!("contact `{}` is rigid and {why}, which events do not support", c.name))
                .name(c.name.clone())
                .at(format!("contacts.{}", c.name))
                .help(
                    "take steps that include impacts: `--formulation ra --integrator moreau`, or make the contact compliant by a `stiffness`",
                ));
        }
        Ok(())
    }

    /// Error for bodies that overlap at the start.
    pub(super) fn overlaps(&self, limit: usize, gap: f64, t: f64) -> Diagnostic {
        let name = self.contact_name(limit);
        Diagnostic::new("S301", format!("at t = {} s the bodies of contact `{name}` overlap by {} m", number(t), number(-gap)))
            .name(name.clone())
            .at(format!("contacts.{name}"))
            .time(t)
            .help("draw them apart or just touching, or say so under `start:`")
    }

    /// Whether only changes of slip direction were found.
    pub(super) fn only_turns(&self, found: &Found, here: &Instant) -> bool {
        found.what.iter().all(|w| matches!(w, Watched::Slip(k) if !self.has_stopped(*k, here)))
    }
}

/// Computes the effect of unit impulses along the first directions of an element on the velocities of all bodies.
fn respond(jump: &mut Jump<'_>, a: &mut Active, directions: usize, bodies: usize) {
    let responses: Vec<Vec<Twist>> =
        (0..directions).map(|d| jump.response(&[(a.bodies[0], a.rows[0][d]), (a.bodies[1], a.rows[1][d])])).collect();
    let column = |b: usize| [0, 1, 2].map(|d| responses.get(d).map_or_else(Twist::zero, |r| r[b]));
    a.set_columns((1..bodies).map(|b| (b, column(b))).collect());
    let free: f64 = (0..2).map(|s| jump.free(a.bodies[s], &a.rows[s][0])).sum();
    if a.G[(0, 0)] < 1e-11 * free {
        // The response along a row that the constraints already hold is only rounding.
        a.set_columns(Vec::new());
    }
}

/// Rolling of two bodies on each other at a spot.
fn rolling_at(spot: std::sync::Arc<crate::contact::Spot>, axis: Vector3<f64>) -> crate::rolling::Rolling {
    let zero = Vector3::zeros();
    crate::rolling::Rolling { s: zero, n: zero, t: [zero; 2], kind: RollingKind::Spot { spot, axis: Some(axis) } }
}

/// A sticking spot: its limit, its bound, the force along the surface, its point and its normal.
type Pressed = (usize, f64, Vector3<f64>, Vector3<f64>, Vector3<f64>);

/// Margin of the friction of several spots between two bodies, and the slips with which they break loose: the motion of one body along the
/// surface with the least friction per power. `data`: limit, bound, force along the surface, point, normal.
fn hold_of_group(data: &[Pressed], length: f64) -> (f64, Vec<(usize, Vector3<f64>)>) {
    let bounds: f64 = data.iter().map(|d| d.1.max(0.0)).sum();
    let n = data.iter().map(|d| d.4).sum::<Vector3<f64>>();
    let centre = data.iter().map(|d| d.3).sum::<Vector3<f64>>() / data.len().max(1) as f64;
    if n.norm() == 0.0 || bounds <= 0.0 {
        let rest = data.iter().map(|d| d.2.norm()).sum::<f64>();
        return (bounds - rest, Vec::new());
    }
    let n = n.normalize();
    let other = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let [x, y] = along_surface(&n, &(other - n * n.dot(&other)));
    // Slip of a point per motion: along x, along y, rotation about n through the centre, in lengths.
    let slips: Vec<[Vector3<f64>; 3]> = data.iter().map(|d| [x, y, n.cross(&(d.3 - centre)) / length]).collect();
    let mut load = Vector3::zeros();
    for (d, s) in data.iter().zip(&slips) {
        load -= Vector3::from_fn(|k, _| s[k].dot(&d.2));
    }
    if load.norm() <= 1e-14 * bounds {
        return (bounds, Vec::new());
    }
    let slip = |s: &[Vector3<f64>; 3], m: &Vector3<f64>| s[0] * m.x + s[1] * m.y + s[2] * m.z;
    let friction = |m: &Vector3<f64>| data.iter().zip(&slips).map(|(d, s)| d.1.max(0.0) * slip(s, m).norm()).sum::<f64>();
    let mut motion = load / load.norm_squared();
    for _ in 0..ROUNDS {
        let size = motion.norm();
        let mut A = Matrix3::identity() * (1e-12 * bounds / size);
        for (d, s) in data.iter().zip(&slips) {
            let weight = d.1.max(0.0) / slip(s, &motion).norm().max(1e-9 * size);
            A += Matrix3::from_fn(|i, j| weight * s[i].dot(&s[j]));
        }
        let Some(next) = A.lu().solve(&load) else { break };
        let next = next / next.dot(&load);
        let change = (next - motion).norm();
        motion = next;
        if change <= 1e-14 * motion.norm() {
            break;
        }
    }
    let least = friction(&motion);
    let ways = data.iter().zip(&slips).filter_map(|(d, s)| {
        let v = slip(s, &motion);
        (v.norm() > 1e-6 * motion.norm()).then(|| (d.0, v.normalize()))
    });
    (bounds * (1.0 - 1.0 / least), ways.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four corners of a square with equal loads: against a push they hold up to the sum of the bounds, against a couple up to the sum of
    /// their moments.
    #[test]
    fn groups_hold_pushes_and_turns() {
        let n = Vector3::z();
        let corner = |k: usize| Vector3::new(if k.is_multiple_of(2) { -0.5 } else { 0.5 }, if k < 2 { -0.5 } else { 0.5 }, 0.0);
        let group = |along: &dyn Fn(usize) -> Vector3<f64>| {
            let data: Vec<_> = (0..4).map(|k| (k, 1.0, along(k), corner(k), n)).collect();
            hold_of_group(&data, 1.0)
        };
        for share in [0.5, 1.0, 1.5] {
            let (rest, ways) = group(&|_| Vector3::new(share, 0.0, 0.0));
            assert!((rest - 4.0 * (1.0 - share)).abs() < 1e-9, "{rest}");
            assert!(ways.iter().all(|w| (w.1 + Vector3::x()).norm() < 1e-6), "{ways:?}");
            // A couple: every corner carries the same force, perpendicular to its arm.
            let (rest, ways) = group(&|k| n.cross(&corner(k)).normalize() * share);
            assert!((rest - 4.0 * (1.0 - share)).abs() < 1e-9, "{rest}");
            assert!(ways.iter().all(|(k, w)| (w + n.cross(&corner(*k)).normalize()).norm() < 1e-6), "{ways:?}");
        }
        // However a push is distributed along its line, only its sum matters.
        let shared = |first: f64| group(&|k| Vector3::new([first, 2.0 - first, 0.0, 0.0][k], 0.0, 0.0)).0;
        assert!((shared(2.0) - shared(0.5)).abs() < 1e-9 && shared(2.0) > 0.0 && shared(2.0) < 2.0, "{}", shared(2.0));
    }
}
