//! Checks of a Taylor series for effects that it does not contain.
//!
//! The series of a force far from its peak has terms that vanish, or that begin to grow only beyond the highest order, so that they do not
//! limit the step; the series of smoothed friction far from rest is constant. Where expressions can be narrow, or laws saturate, the power
//! and the rates of the series are therefore compared with those of the forces at points inside the step, narrow peaks are searched for
//! between these points, and the step is taken back to the point up to which both agree.

use super::run::Run;
use crate::force::Force;
use crate::force::eval::{self, Plain};
use crate::integrator::narrow::{Narrow, Place};
use crate::model::{JointCoordinate, Model};
use crate::state::Configuration;

/// Fractions of a step at which it is checked.
const PLACES: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];
/// Permitted error of work and states in a step, in multiples of the tolerance.
const TOLERANCES: f64 = 10.0;
/// A step is taken back at most this many times.
const TIMES: usize = 60;
/// At this many times its smoothing speed, smoothed friction is constant to the terms of a series; below the second value they resolve its
/// change.
const BLIND: f64 = 20.0;
const SEEN: f64 = 8.0;

impl Run<'_> {
    /// Takes the last step back to the point up to which its series agrees with the forces.
    pub(super) fn keep_what_agrees(&mut self) {
        let Some(mut narrow) = self.narrow.take() else { return };
        for _ in 0..TIMES {
            let Some(t) = self.agrees_until(&mut narrow) else { break };
            let (from, to) = self.integrator.interval();
            if !(t > from && t < to) {
                break;
            }
            self.follow_turns(t);
            if !self.integrator.retreat(t) {
                break;
            }
            self.now_at = f64::NAN;
        }
        self.narrow = Some(narrow);
    }

    /// The time up to which the series of the last step agrees with the forces; `None` if it agrees up to the end.
    fn agrees_until(&mut self, narrow: &mut Narrow) -> Option<f64> {
        let (from, to) = self.integrator.interval();
        let h = to - from;
        if !Narrow::is_long(h, self.least) {
            return None;
        }
        self.read(narrow, from, Place::Start);
        narrow.begin();
        let mut slips = std::mem::take(&mut self.slips);
        slips.clear();
        slips.extend(self.model.forces.iter().map(|(_, f)| slip(self.model, f, &narrow.at)));
        let until = self.agrees_with(narrow, &slips, (from, h));
        self.slips = slips;
        until
    }

    /// The same, with the slips of smoothed friction at the start, `slips`.
    fn agrees_with(&mut self, narrow: &mut Narrow, slips: &[f64], (from, h): (f64, f64)) -> Option<f64> {
        let mut before = 0.0;
        for s in PLACES {
            self.read(narrow, from + 0.5 * (before + s) * h, Place::Middle);
            self.read(narrow, from + s * h, Place::End);
            if let Some(share) = narrow.begins((s - before) * h) {
                return Some(from + (before + share * (s - before)) * h);
            }
            if narrow.wakes(h) || self.comes_to_rest(narrow, slips) || !self.agrees_at(narrow, h) {
                return Some(from + if before > 0.0 { before } else { 0.5 * s } * h);
            }
            self.read(narrow, from + s * h, Place::Start);
            before = s;
        }
        None
    }

    /// Evaluates the variables at a time of the last step.
    fn read(&mut self, narrow: &mut Narrow, t: f64, place: Place) {
        self.follow_turns(t);
        let at = &mut narrow.at;
        at.t = t;
        at.q.copy_from_slice(&self.now.q);
        at.v.copy_from_slice(&self.now.v);
        at.turns.copy_from_slice(&self.turns);
        self.carried_at(&mut at.z);
        narrow.read(self.model, place);
    }

    /// Whether smoothed friction that was constant to the series is no longer so at the state evaluated last. Its power is no indication,
    /// since it vanishes there.
    fn comes_to_rest(&self, narrow: &Narrow, slips: &[f64]) -> bool {
        self.model.forces.iter().zip(slips).any(|((_, f), first)| {
            let seen = || slip(self.model, f, &narrow.at) * first.signum() < SEEN;
            first.abs() > BLIND && seen()
        })
    }

    /// Whether power and rates of the series equal those of the expressions at the state evaluated last, in a step of size `h`.
    fn agrees_at(&mut self, narrow: &Narrow, h: f64) -> bool {
        let at = &narrow.at;
        let x = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
        let tol = TOLERANCES * self.power.tol;
        if let Some(series) = self.power.of_forces(&self.integrator, at.t) {
            let power = eval::power(self.model, &x);
            let carried = self.work.abs() + self.power.little + h * power.abs();
            if (power - series).abs() * h > tol * carried {
                return false;
            }
        }
        let mut rates = std::mem::take(&mut self.rates);
        self.model.auxiliary_rates(&x, &mut rates);
        let agree = rates.iter().zip(&at.z).zip(&self.system.carried).skip(self.model.first_state()).all(|((rate, z), &j)| {
            let size = z.abs() + h * rate.abs();
            (rate - self.x[j].c[1]).abs() * h <= tol * size + f64::MIN_POSITIVE
        });
        self.rates = rates;
        agree
    }
}

/// Slip speed of smoothed friction, in multiples of its smoothing speed; zero for other forces.
fn slip(model: &Model, f: &Force, at: &Configuration) -> f64 {
    let Force::Friction(friction) = f else { return 0.0 };
    if !f.saturates() {
        return 0.0;
    }
    let which = friction.coordinate(model);
    let lever = if which == JointCoordinate::Angle && friction.radius > 0.0 { friction.radius } else { 1.0 };
    let x = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
    eval::coordinate_of(model, friction.joint, Some(which), &x).1 * lever / friction.speed
}
