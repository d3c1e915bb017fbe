//! Steps in which nothing that is watched comes near: poses and velocities at their ends are enough to see that.

use super::Eventful;
use super::watch::{Watch, Watched};
use crate::diagnostic::Diagnostic;
use crate::event::{Bounded, Limit};
use crate::force::eval::Plain;
use crate::motion::Instant;
use crate::state::Configuration;
use crate::study::Analysis;
use crate::switching::Switching;

/// Above this share of its size a force is far from pulling.
const CLEAR: f64 = 0.2;

/// How far something watched is from zero.
#[derive(Clone, Copy, Debug)]
pub enum Margin {
    /// A gap with its rate.
    Gap(f64, f64),
    /// A side that acts beyond a bound: its gap with its rate, which may be negative.
    Side(f64, f64),
    /// How much a side pushes, as a share of its parts.
    Push(f64),
}

impl Margin {
    /// Whether it does not come to zero over a step, by its values and rates at both ends.
    pub fn stays_far(&self, to: &Self, h: f64) -> bool {
        match (*self, *to) {
            (Self::Gap(a, r), Self::Gap(b, s)) => a.min(b) > (r.abs() + s.abs()) * h + (b - a).abs(),
            (Self::Side(a, r), Self::Side(b, s)) => a * b > 0.0 && a.abs().min(b.abs()) > (r.abs() + s.abs()) * h + (b - a).abs(),
            (Self::Push(a), Self::Push(b)) => a * b > 0.0 && a.abs().min(b.abs()) > CLEAR,
            _ => false,
        }
    }
}

/// Margins at the end of the last step.
pub struct Margins {
    /// When; not a number where nothing is known.
    at: f64,
    list: Vec<Margin>,
    next: Vec<Margin>,
    state: Configuration,
}

impl Default for Margins {
    fn default() -> Self {
        let state = Configuration { t: f64::NAN, q: Vec::new(), v: Vec::new(), turns: Vec::new(), z: Vec::new() };
        Self { at: f64::NAN, list: Vec::new(), next: Vec::new(), state }
    }
}

impl Margins {
    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.at = f64::NAN;
    }
}

/// What became of a step that was to be quiet.
pub enum Quiet {
    /// All stayed far.
    Passed,
    /// Something is near: the instant at its start. The engine stands at its end.
    Near(Box<Instant>),
    /// Whoever was asked said stop.
    Stopped,
    /// No step was made, because what is watched has to be looked at as a whole.
    Not,
}

impl Eventful {
    /// Makes a time that is not beyond the last step the present of the engine, where it is not behind it already. Where another candidate has to take
    /// over it goes on from there; `false` where it was told to stop.
    pub(super) fn come_to(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        let (on, anew) = self.piece.get_mut().with_dependent_mut(|_, e| {
            if e.now().t >= t {
                return Ok((true, false));
            }
            let turn = e.turn();
            let on = e.advance(t, go_on)?;
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

    /// How far something watched is from zero; `None` where its values alone do not tell.
    pub(super) fn margin(&self, what: Watched, x: &Plain<'_>) -> Option<Margin> {
        let base = &*self.base;
        match what {
            Watched::Gap(k) if !matches!(self.limits[k].of, Bounded::Rate(_)) => {
                let l = &self.limits[k];
                Some(Margin::Gap(l.gap(base, x.q, x.v, x.turns), l.rate(base, x.q, x.v)))
            }
            Watched::Guard(n, g) => {
                let Switching::Side(k, side) = self.switches[n].of else { return None };
                let side = base.forces[k].1.side(base, x, side)?;
                Some(if g == 1 { Margin::Push(side.push) } else { Margin::Side(side.gap, side.rate) })
            }
            _ => None,
        }
    }

    /// Whether nothing is watched but gaps that have been left, sides, and what time decides.
    fn may_be_quiet(&self) -> bool {
        let one = |w: &Watch| match w.what {
            Watched::Gap(k) => !w.known_zero && !matches!(self.limits[k].of, Bounded::Rate(_)),
            Watched::Guard(n, _) => !w.known_zero && (self.switches[n].by_time || matches!(self.switches[n].of, Switching::Side(..))),
            _ => false,
        };
        self.analysis == Analysis::Dynamics && self.found.is_none() && self.watched.iter().all(one)
    }

    /// Margins of all that is watched but by time at a state; `false` where one of them is unknown.
    fn margins_at(&self, x: &Configuration, out: &mut Vec<Margin>) -> bool {
        let x = Plain { t: x.t, q: &x.q, v: &x.v, turns: &x.turns, loads: &[], z: &x.z };
        out.clear();
        for w in self.watched.iter().filter(|w| !self.by_time(w.what)) {
            match self.margin(w.what, &x) {
                Some(m) => out.push(m),
                None => return false,
            }
        }
        true
    }

    /// One step that ends at `limit` at the latest, without an instant at its end where nothing comes near in it.
    pub(super) fn step_quietly(&mut self, limit: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Quiet, Diagnostic> {
        if !self.may_be_quiet() {
            return Ok(Quiet::Not);
        }
        let mut m = std::mem::take(&mut self.margins);
        let before = self.looked;
        // A method that has made its first step already is looked at as a whole.
        let at_end = self.made() == before;
        let known = at_end && (m.at == before || (self.glance(&mut m.state) && self.margins_at(&m.state, &mut m.list)));
        if !known {
            self.margins = m;
            return Ok(Quiet::Not);
        }
        let stepped = self.piece.get_mut().with_dependent_mut(|_, e| e.step_on(limit, go_on));
        let far = match stepped {
            // Another candidate that has taken over began at the present, where nothing is known yet.
            Ok(Some(start)) if start == before => {
                let h = self.made() - start;
                self.glance(&mut m.state)
                    && self.margins_at(&m.state, &mut m.next)
                    && m.list.iter().zip(&m.next).all(|(a, b)| a.stays_far(b, h))
                    && self.times_pass(start, h)
            }
            _ => false,
        };
        if far {
            std::mem::swap(&mut m.list, &mut m.next);
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

    /// The end of the last step of the engine, which may not have been looked at.
    fn made(&self) -> f64 {
        self.piece.borrow().with_dependent(|_, e| e.reached())
    }

    /// Poses and velocities at the end of the last step, where they are at hand.
    fn glance(&mut self, out: &mut Configuration) -> bool {
        if out.q.is_empty() {
            *out = self.from.configuration();
        }
        self.piece.get_mut().with_dependent_mut(|_, e| e.glance(out))
    }

    /// Whether nothing that time alone decides happens in a step.
    fn times_pass(&self, start: f64, h: f64) -> bool {
        self.watched.iter().all(|w| match w.what {
            Watched::Guard(n, g) if self.switches[n].by_time => self.search_time(w, n, g, start, h).is_none(),
            _ => true,
        })
    }

    /// Takes note of how deep limits and bodies overlap at the present.
    pub(super) fn measure_overlap(&mut self) {
        let s = &self.now;
        let deepest = |l: &Limit| match l.of {
            Bounded::Rate(_) => 0.0,
            _ => -l.gap(&self.base, &s.q, &s.v, &s.turns),
        };
        self.overlap = self.limits.iter().map(deepest).fold(self.overlap, f64::max);
    }
}
