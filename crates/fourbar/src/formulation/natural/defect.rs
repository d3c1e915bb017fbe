//! Series that leave out what lies ahead of them.
//!
//! The series of a force far from its peak has terms that vanish, or that begin to grow only behind the last one: by them alone a step may be
//! of any length. Where expressions can be narrow, the power and the rates of the series are therefore compared with those of the expressions
//! at places inside the step, narrow peaks are looked for between these places, and the step is taken back to where both agree.

use super::run::Run;
use crate::force::eval::{self, Plain};
use crate::integrator::narrow::{Narrow, Place};

/// Shares of a step at which it is looked at.
const PLACES: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];
/// Work and states may be off by so many tolerances in a step.
const TOLERANCES: f64 = 10.0;
/// Steps are taken back so often, at most.
const TIMES: usize = 60;

impl Run<'_> {
    /// Takes the last step back to where its series agrees with the forces.
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

    /// The time up to which the series of the last step agrees with the forces; `None` where it does to its end.
    fn agrees_until(&mut self, narrow: &mut Narrow) -> Option<f64> {
        let (from, to) = self.integrator.interval();
        let h = to - from;
        if !Narrow::is_long(h, self.least) {
            return None;
        }
        self.read(narrow, from, Place::Start);
        narrow.begin();
        let mut before = 0.0;
        for s in PLACES {
            self.read(narrow, from + 0.5 * (before + s) * h, Place::Middle);
            self.read(narrow, from + s * h, Place::End);
            if let Some(share) = narrow.begins((s - before) * h) {
                return Some(from + (before + share * (s - before)) * h);
            }
            if narrow.wakes(h) || !self.agrees_at(narrow, h) {
                return Some(from + if before > 0.0 { before } else { 0.5 * s } * h);
            }
            self.read(narrow, from + s * h, Place::Start);
            before = s;
        }
        None
    }

    /// Reads variables at a time of the last step.
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

    /// Whether power and rates of the series are those of the expressions at the state that was read last, in a step of size `h`.
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
