//! Steps in which no monitored function comes near zero: poses and velocities at their ends are sufficient to show this.
//!
//! In a step a gap lies near the cubic through its values and rates at both ends, which is nowhere below the smallest of its four Bezier
//! points. Its deviation from the cubic is at most `h^4/384` times its fourth derivative: for an oscillation of frequency `w` this is less
//! than a fraction of `h` times its greatest speed, below an eighth up to `w h = 3.6`. Steps that resolve a motion are shorter than that,
//! bodies rotate by less than [`TURN`] in the steps considered here, and the speed is not that of the gap, which may rest at both ends, but
//! that of the fastest body. Gaps with kinks are allowed the full distance of both bodies in both directions. An angle between two bodies
//! changes no faster than the sum of both rotations: it is evaluated again only when they may have rotated by the remaining angle.

use super::Eventful;
use super::watch::{Watch, Watched};
use crate::coordinate::Follows;
use crate::diagnostic::Diagnostic;
use crate::event::Bounded;
use crate::force::eval::Plain;
use crate::motion::Instant;
use crate::settings::Analysis;
use crate::state::{Configuration, Twist};
use crate::switching::Switching;

/// Required distance of a smooth gap from zero, as a fraction of the distance travelled by the fastest body in a step.
const SMOOTH: f64 = 0.25;
/// The same for gaps that may have kinks.
const KINKED: f64 = 2.0;
/// Bodies rotate by less than this in steps that are judged by their ends, rad.
const TURN: f64 = 2.0;

/// Speeds of the fastest bodies: rad/s, and m/s including rotation at the size of the mechanism.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    turn: f64,
    way: f64,
}

impl Pace {
    /// From given velocities in a mechanism of a given size.
    pub fn of(v: &[Twist], length: f64) -> Self {
        let most = |speed: fn(&Twist) -> f64| v.iter().map(speed).fold(0.0, f64::max).sqrt();
        let turn = most(|v| v.w.norm_squared());
        Self { turn, way: most(|v| v.v.norm_squared()) + length * turn }
    }

    /// Speed of the fastest body, m/s, including rotation.
    pub fn way(&self) -> f64 {
        self.way
    }

    /// Whether the rotation of bodies is resolved by a step between two of them.
    pub fn resolved(ends: [Self; 2], h: f64) -> bool {
        h * ends[0].turn.max(ends[1].turn) < TURN
    }
}

/// Distance of a monitored function from zero.
#[derive(Clone, Copy, Debug)]
pub struct Margin {
    gap: f64,
    rate: f64,
    /// Possible rate of change beyond the interpolated one.
    loose: f64,
    /// Rotation of the two bodies before it can become zero, rad.
    room: f64,
}

impl Margin {
    /// `None` if rates give no bound.
    pub fn new(gap: f64, rate: f64, follows: Follows, pace: Pace) -> Option<Self> {
        let loose = match follows {
            Follows::Turn => SMOOTH * pace.turn,
            Follows::Way => SMOOTH * pace.way,
            Follows::Surface => KINKED * pace.way,
            Follows::Jumps => return None,
        };
        let room = if follows == Follows::Turn && gap.is_finite() { gap.abs() } else { 0.0 };
        Some(Self { gap, rate, loose, room })
    }

    /// Its rate.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Whether it stays away from zero over a step, from its values and rates at both ends.
    pub fn stays_far(&self, to: &Self, h: f64) -> bool {
        let (side, away) = (self.gap.signum(), h * self.loose.max(to.loose));
        [self.gap, self.gap + h / 3.0 * self.rate, to.gap - h / 3.0 * to.rate, to.gap].iter().all(|b| side * b > away)
    }
}

/// Margins at the end of the last step.
pub struct Margins {
    /// Their time; NaN if they are unknown.
    at: f64,
    pace: Pace,
    /// Possible rotation of bodies before any function can become zero, rad.
    room: f64,
    /// Margins, and the time of their evaluation.
    list: Vec<Margin>,
    looked: f64,
    next: Vec<Margin>,
    /// States at the end of the last step and at its start.
    state: Configuration,
    before: Configuration,
}

impl Default for Margins {
    fn default() -> Self {
        let state = Configuration { t: f64::NAN, q: Vec::new(), v: Vec::new(), turns: Vec::new(), z: Vec::new() };
        let (list, before) = (Vec::new(), state.clone());
        Self { at: f64::NAN, pace: Pace::default(), room: 0.0, next: Vec::new(), list, looked: f64::NAN, state, before }
    }
}

impl Margins {
    /// Discards all margins.
    pub fn forget(&mut self) {
        self.at = f64::NAN;
    }

    /// Called after the margins were evaluated.
    fn found(&mut self, at: f64) {
        self.looked = at;
        self.room = self.list.iter().fold(f64::INFINITY, |least, m| least.min(m.room));
    }
}

/// Result of a step that was to be quiet.
pub enum Quiet {
    /// All functions stayed far from zero.
    Passed,
    /// A function is near zero: contains the instant at the start of the step. The engine is at its end.
    Near(Box<Instant>),
    /// The caller stopped the run.
    Stopped,
    /// No step was made, because the monitored functions have to be evaluated in full.
    Not,
}

impl Eventful {
    /// Advances the engine to a time inside the last step, unless it is already there. If another candidate takes over it continues from
    /// there; `false` if the run was stopped.
    pub(super) fn come_to(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        let loaded = self.loads || self.watches_loads();
        let (on, anew) = self.piece.get_mut().with_dependent_mut(|_, e| {
            if e.now().t >= t {
                return Ok((true, false));
            }
            let turn = e.turn();
            e.want_next_loads(loaded);
            let on = e.advance(t, go_on);
            e.want_next_loads(true);
            let on = on?;
            let anew = on && e.turn() != turn && e.reached() > t;
            if anew {
                let (state, work, book) = (e.now().configuration(), e.now().work, e.book());
                e.resume(&state, work, &book)?;
            }
            Ok((on, anew))
        })?;
        if anew {
            self.looked = t;
            self.margins.forget();
        }
        Ok(on)
    }

    /// Distance of a monitored function from zero; `None` if its values and rates are not sufficient.
    pub(super) fn margin(&self, what: Watched, x: &Plain<'_>, pace: Pace) -> Option<Margin> {
        let base = &*self.base;
        match what {
            Watched::Gap(k) => {
                let l = &self.limits[k];
                // Evaluated only for limits with useful rates.
                (l.follows() != Follows::Jumps)
                    .then(|| Margin::new(l.gap(base, x.q, x.v, x.turns), l.rate(base, x.q, x.v), l.follows(), pace))?
            }
            Watched::Guard(n, 0) => {
                let Switching::Side(k, side) = self.switches[n].of else { return None };
                let side = base.forces[k].1.side(base, x, side)?;
                Margin::new(side.gap, side.rate, side.follows, pace)
            }
            _ => None,
        }
    }

    /// Whether only gaps that have opened, sides that are apart, and functions of time are monitored.
    fn may_be_quiet(&self) -> bool {
        let one = |w: &Watch| match w.what {
            Watched::Gap(k) => !w.known_zero && self.limits[k].follows() != Follows::Jumps,
            Watched::Guard(n, g) => {
                !w.known_zero && (self.switches[n].by_time || (g == 0 && matches!(self.switches[n].of, Switching::Side(..))))
            }
            _ => false,
        };
        self.analysis == Analysis::Dynamics && self.found.is_none() && self.watched.iter().all(one)
    }

    /// Margins of all monitored functions except those of time at a state; `None` if one of them is unknown.
    fn margins_at(&self, x: &Configuration, pace: Pace, out: &mut Vec<Margin>) -> Option<()> {
        let x = Plain { t: x.t, q: &x.q, v: &x.v, turns: &x.turns, loads: &[], z: &x.z };
        out.clear();
        for w in self.watched.iter().filter(|w| !self.by_time(w.what)) {
            out.push(self.margin(w.what, &x, pace)?);
        }
        Some(())
    }

    /// Whether all monitored functions except those of time stay away from zero in a step with known end states.
    fn passes_far(&self, m: &mut Margins, start: f64, end: f64) -> bool {
        let h = end - start;
        let ends = [m.pace, Pace::of(&m.state.v, self.base.length)];
        m.pace = ends[1];
        if !Pace::resolved(ends, h) {
            return false;
        }
        m.room -= 2.0 * (1.0 + SMOOTH) * h * ends[0].turn.max(ends[1].turn);
        if m.room > 0.0 {
            return true;
        }
        let known = m.looked == start || self.margins_at(&m.before, ends[0], &mut m.list).is_some();
        if !known
            || self.margins_at(&m.state, ends[1], &mut m.next).is_none()
            || !m.list.iter().zip(&m.next).all(|(a, b)| a.stays_far(b, h))
        {
            return false;
        }
        std::mem::swap(&mut m.list, &mut m.next);
        m.found(end);
        true
    }

    /// One step that ends at `limit` at the latest, without an instant at its end if all functions stay far from zero.
    pub(super) fn step_quietly(&mut self, limit: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Quiet, Diagnostic> {
        // A method that is ahead of the last searched time, because it has no first instant without a step, is searched in full.
        let before = self.looked;
        if !self.may_be_quiet() || self.made() != before {
            return Ok(Quiet::Not);
        }
        let mut m = std::mem::take(&mut self.margins);
        if m.at != before {
            m.looked = f64::NAN;
            let seen = self.glance(&mut m.state);
            m.pace = Pace::of(&m.state.v, self.base.length);
            if !seen || self.margins_at(&m.state, m.pace, &mut m.list).is_none() {
                self.margins = m;
                return Ok(Quiet::Not);
            }
            m.found(before);
        }
        let stepped = self.piece.get_mut().with_dependent_mut(|_, e| e.step_on(limit, go_on));
        let quiet = match stepped {
            // Another candidate that took over has started at the present time, without known margins.
            Ok(Some(start)) if start == before => {
                let end = self.made();
                std::mem::swap(&mut m.state, &mut m.before);
                self.glance(&mut m.state) && self.passes_far(&mut m, start, end) && self.times_pass(start, end - start)
            }
            _ => false,
        };
        if quiet {
            m.at = self.made();
            self.looked = m.at;
            self.margins = m;
            return Ok(Quiet::Passed);
        }
        m.at = f64::NAN;
        self.margins = m;
        let Some(start) = stepped? else { return Ok(Quiet::Stopped) };
        self.zeros.clear();
        let (mut from, end) = (self.engine_now(), self.made());
        if from.t != start {
            self.piece.get_mut().with_dependent_mut(|_, e| e.instant_at(start, &mut from))?;
        }
        Ok(if self.come_to(end, go_on)? { Quiet::Near(Box::new(from)) } else { Quiet::Stopped })
    }

    /// The end of the last step of the engine, which may not have been searched yet.
    fn made(&self) -> f64 {
        self.piece.borrow().with_dependent(|_, e| e.reached())
    }

    /// Poses and velocities at the end of the last step, if available.
    fn glance(&mut self, out: &mut Configuration) -> bool {
        if out.q.is_empty() {
            *out = self.from.configuration();
        }
        self.piece.get_mut().with_dependent_mut(|_, e| e.glance(out))
    }

    /// Whether no function of time reaches zero in a step.
    fn times_pass(&self, start: f64, h: f64) -> bool {
        self.watched.iter().all(|w| match w.what {
            Watched::Guard(n, g) if self.switches[n].by_time => self.search_time(w, n, g, start, h).is_none(),
            _ => true,
        })
    }

    /// Records the overlap of limits and bodies at the present time.
    pub(super) fn measure_overlap(&mut self) {
        let s = &self.now;
        // There is no overlap after a quiet step.
        if self.margins.at >= s.t {
            return;
        }
        let deep = |k: usize| -self.limits[k].gap(&self.base, &s.q, &s.v, &s.turns);
        let measured = (0..self.limits.len()).filter(|k| !matches!(self.limits[*k].of, Bounded::Rate(_)) && self.acts(*k));
        self.overlap = measured.map(deep).fold(self.overlap, f64::max);
    }
}
