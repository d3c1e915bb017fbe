//! Functions monitored between two events, and location of their first zero crossing in a step.

use super::change::CLOSED;
use super::quiet::Pace;
use super::{Eventful, Friction, HeldBy, dips};
use crate::diagnostic::Diagnostic;
use crate::event::{Bounded, Doing};
use crate::force::eval::{Plain, law_value};
use crate::force::{StateLaw, Variable};
use crate::motion::Instant;
use crate::spec::Direction;
use crate::switching::Switching;
use crate::trajectory::rates;

/// Minimum number of parts of a step at whose ends monitored functions are sampled.
const LOOKS: usize = 5;
/// Factor of this number for magnitudes of quantities that change sign.
const CORNERS: usize = 4;
/// Point at which the sign after a zero at the start of a step is determined, as a fraction of the step.
const PROBE: f64 = 1e-4;
/// Points at which a gap that may close from the start of a step is sampled, as fractions of the step.
const SOON: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8];
/// Minimum number of parts of a step for functions of time only.
const TIMES: usize = 32;
/// Above this fraction of its size a force is far from pulling.
const CLEAR: f64 = 0.2;
/// Maximum distance between two samples, as a fraction of the path through a body, if it might be passed through.
const THROUGH: f64 = 0.25;
/// Efforts below this fraction of the largest are rounding.
const LIGHT: f64 = 1e-11;
/// Maximum number of evaluations to locate a zero.
const NARROW: usize = 80;

/// A function whose zeros change the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Watched {
    /// The expression of an event.
    Event(usize),
    /// The gap of an open limit.
    Gap(usize),
    /// The force of a closed limit.
    Effort(usize),
    /// The rate of a sliding joint, in its direction.
    Slide(usize),
    /// Margin of the bound of a sticking joint.
    Bound(usize),
    /// A guard of an element made of pieces, by its place among these.
    Guard(usize, usize),
    /// The slip of a sliding spot, in its direction.
    Slip(usize),
    /// Margin of the friction of sticking spots; the first of them.
    Hold(usize),
}

/// A monitored function with its known properties.
#[derive(Clone, Copy, Debug)]
pub struct Watch {
    /// The function.
    pub what: Watched,
    /// Whether it is zero at the start of the piece, so that this zero is divided out until the function has left it.
    pub known_zero: bool,
    /// Rounding error of a gap that is known to be zero; values are relative to it.
    pub offset: f64,
    /// Whether its value is infinite, so that it is not monitored.
    pub endless: bool,
}

/// A value of a monitored function in a step; the instant, if available.
struct Look<'s> {
    t: f64,
    f: f64,
    at: Option<&'s Instant>,
}

/// Zeros found in a step.
#[derive(Clone, Debug)]
pub struct Found {
    /// The first of them, s.
    pub t: f64,
    /// Functions that are zero there.
    pub what: Vec<Watched>,
}

impl Eventful {
    /// All functions to be monitored in the present mode.
    pub(super) fn to_watch(&self) -> Vec<Watched> {
        let mut list: Vec<Watched> = (0..self.base.events.len()).filter(|&k| self.may_happen(k)).map(Watched::Event).collect();
        let limits = (0..self.limits.len()).filter(|&k| self.closed[k] || self.acts(k));
        list.extend(limits.map(|k| if self.closed[k] { Watched::Effort(k) } else { Watched::Gap(k) }));
        for &k in &self.touched {
            match self.doing[k] {
                Doing::Slides(..) => list.push(Watched::Slip(k)),
                Doing::Sticks(_) if self.group_of(k).first() == Some(&k) && !self.spot_is_shared(k) => list.push(Watched::Hold(k)),
                _ => {}
            }
        }
        for (k, f) in self.frictions.iter().enumerate() {
            match f.1 {
                Friction::Sticks if self.stands_for_its_part(k) => list.push(Watched::Bound(k)),
                Friction::Slides(_) => list.push(Watched::Slide(k)),
                Friction::Sticks | Friction::Off => {}
            }
        }
        for (n, s) in self.switches.iter().enumerate().filter(|(n, s)| !s.loose && self.switch_acts(*n)) {
            list.extend((0..2 * s.pieces.len()).map(|g| Watched::Guard(n, g)));
        }
        list
    }

    /// Whether a monitored function depends on time only.
    pub(super) fn by_time(&self, what: Watched) -> bool {
        matches!(what, Watched::Guard(n, _) if self.switches[n].by_time)
    }

    /// Whether an event of the file is possible from now on.
    pub(super) fn may_happen(&self, k: usize) -> bool {
        let e = &self.base.events[k];
        (!e.once || self.count[k] == 0) && e.after.is_none_or(|a| self.count[a] > 0)
    }

    /// Value of a monitored function at an instant in the present mode.
    pub(super) fn value(&self, what: Watched, s: &Instant) -> f64 {
        let base = &*self.base;
        match what {
            Watched::Event(k) => law_value(base, &base.events[k].when, &s.plain(&[]), (0.0, 0.0)),
            Watched::Gap(k) => self.limits[k].gap(base, &s.q, &s.v, &s.turns),
            Watched::Slip(k) => self.slides_on(k, s),
            Watched::Hold(k) => self.holds(k, s).0,
            Watched::Effort(k) => self.limit_push(k, s),
            Watched::Guard(n, g) => self.guard(n, g, s),
            Watched::Slide(k) => {
                let direction = if let Friction::Slides(d) = self.frictions[k].1 { d } else { 0.0 };
                direction * self.friction_rate(k, s)
            }
            Watched::Bound(k) => self.left_of(k, s),
        }
    }

    /// The same, relative to its zero offset.
    pub(super) fn seen(&self, what: Watched, s: &Instant) -> f64 {
        let offset = self.watched.iter().find(|w| w.what == what).map_or(0.0, |w| w.offset);
        self.value(what, s) - offset
    }

    /// Effort that holds a coordinate, N or N m.
    pub(super) fn held_effort(&self, by: HeldBy, s: &Instant) -> f64 {
        self.held_by.iter().position(|h| *h == by).map_or(0.0, |k| s.efforts[self.kept.len() + k])
    }

    /// Force of a limit along its gap: positive if it pushes.
    pub(super) fn limit_effort(&self, k: usize, s: &Instant) -> f64 {
        let base = &*self.base;
        let l = &self.limits[k];
        if l.of == Bounded::Spot {
            return self.spot_force(k, s).0;
        }
        if l.of != Bounded::Own {
            return l.side * self.held_effort(HeldBy::Limit(k), s);
        }
        // The reaction on the moving body along the direction in which the gap grows.
        let [(i, a), (j, b)] = l.row(base, &s.q);
        let moving = base.joints[l.joint].bodies[1].index();
        let along = if j == moving {
            b.F
        } else if i == moving {
            a.F
        } else {
            return 0.0;
        };
        let size = along.norm_squared();
        if size > 0.0 { s.reactions[l.joint].force.dot(&along) / size } else { 0.0 }
    }

    /// Rate of the coordinate of a friction element.
    pub(super) fn friction_rate(&self, k: usize, s: &Instant) -> f64 {
        let base = &*self.base;
        let Some(f) = base.forces[self.frictions[k].0].1.sticks() else { return 0.0 };
        let joint = &base.joints[f.joint];
        joint.coordinate(f.coordinate(base)).map_or(0.0, |y| rates(joint, &y, s)[0])
    }

    /// Whether a change of sign counts for a monitored function.
    fn counts(&self, what: Watched, rises: bool) -> bool {
        match what {
            Watched::Event(k) => match self.base.events[k].direction {
                Direction::Any => true,
                Direction::Rising => rises,
                Direction::Falling => !rises,
            },
            _ => !rises,
        }
    }

    /// Whether a value of the expression of an event is zero up to rounding.
    pub(super) fn is_zero(&self, event: usize, value: f64) -> bool {
        value.abs() <= NOTHING * self.sizes[event]
    }

    /// Whether the expression of an event passes through zero between two values, or reaches it, in the direction that counts.
    pub(super) fn comes_through(&self, event: usize, from: f64, to: f64) -> bool {
        let rises = from < 0.0 && (to > 0.0 || self.is_zero(event, to));
        let falls = from > 0.0 && (to < 0.0 || self.is_zero(event, to));
        !self.is_zero(event, from) && (rises || falls) && self.counts(Watched::Event(event), rises)
    }

    /// Whether an event that waits to be rearmed is rearmed at a value.
    fn rearms(&self, k: usize, value: f64) -> bool {
        let e = &self.base.events[k];
        match e.direction {
            Direction::Any => value.abs() > e.rearm,
            Direction::Rising => value < -e.rearm,
            Direction::Falling => value > e.rearm,
        }
    }

    /// The first zeros between the start and the end of the last step, if any. `from` is the instant at its start; the engine is at its
    /// end.
    pub(super) fn search(&mut self, from: &Instant) -> Result<Option<Found>, Diagnostic> {
        self.pressed.clear();
        let to = self.engine_now();
        let h = to.t - from.t;
        if h <= 0.0 || self.watched.is_empty() {
            return Ok(None);
        }
        // Functions that stay far from zero over the step need no further samples.
        let paces = [from, &to].map(|s| Pace::of(&s.v, self.base.length));
        let far: Vec<bool> = self.watched.iter().map(|w| self.stays_far(w, [from, &to], paces, h)).collect();
        let mut samples = vec![from.clone()];
        if self.watched.iter().zip(&far).any(|(w, far)| !far && !self.by_time(w.what)) {
            let n = self.parts(from, h);
            for k in 1..n {
                samples.push(self.watched_at(from.t + k as f64 / n as f64 * h)?);
            }
        }
        samples.push(to);
        let mut first: Option<Found> = None;
        for place in 0..self.watched.len() {
            let watch = self.watched[place];
            if far[place] && samples.len() == 2 {
                continue;
            }
            let what = watch.what;
            if let Watched::Guard(n, g) = what
                && self.switches[n].by_time
            {
                let found = self.search_time(&watch, n, g, from.t, h);
                self.watched[place].known_zero = false;
                if let Some(t) = found {
                    join(&mut first, t, what);
                }
                continue;
            }
            if let Watched::Gap(k) = what
                && watch.known_zero
                && self.sinks(k, &samples, h)?
            {
                self.pressed.push(k);
                join(&mut first, from.t, what);
                continue;
            }
            // The sign at the start. An event whose expression stays at zero has none yet.
            let mut low = (from.t, self.seen(what, from));
            let mut rests = false;
            if watch.known_zero {
                let sign = match what {
                    Watched::Event(k) => {
                        let soon = self.seen(what, &self.watched_at(from.t + PROBE * h)?);
                        rests = self.is_zero(k, soon);
                        soon.signum()
                    }
                    _ => 1.0,
                };
                low.1 = 0.0_f64.copysign(sign);
            }
            let negative = |x: f64| x < 0.0 || (x == 0.0 && x.is_sign_negative());
            let mut below = negative(low.1);
            let mut left = !watch.known_zero;
            let looks = self.looks(&watch, &samples)?;
            if let Watched::Event(k) = what {
                self.sizes[k] = looks.iter().fold(self.sizes[k].max(low.1.abs()), |size, look| size.max(look.f.abs()));
            }
            for Look { t, f, at } in looks {
                if let Watched::Event(k) = what
                    && rests
                {
                    // Neither staying at zero nor leaving it is a zero crossing.
                    rests = self.is_zero(k, f);
                    left |= !rests;
                    (low, below) = ((t, f), negative(f));
                    continue;
                }
                // A gap that has not opened beyond rounding yet is ignored.
                if !left && matches!(what, Watched::Gap(_) | Watched::Guard(..)) && f.abs() < ROUNDING * self.base.length.max(1.0) {
                    continue;
                }
                if let Watched::Gap(k) = what
                    && !left
                    && at.is_some_and(|s| self.rests_beside(k, s))
                {
                    continue;
                }
                // So is an effort within rounding.
                if let Watched::Effort(_) | Watched::Bound(_) = what
                    && !left
                    && at.is_some_and(|s| f.abs() <= self.nothing_beside(s))
                {
                    continue;
                }
                // So is a slip that is practically zero.
                if let Watched::Slip(k) = what
                    && !left
                    && at.is_some_and(|s| self.has_stopped(k, s))
                {
                    continue;
                }
                if let Watched::Gap(k) = what
                    && !left
                    && f < 0.0
                    && at.is_some_and(|s| self.opens(k, from, s))
                {
                    continue;
                }
                left = true;
                if let Watched::Event(k) = what
                    && !self.armed[k]
                {
                    self.armed[k] = self.rearms(k, f);
                    (low, below) = ((t, f), negative(f));
                    continue;
                }
                let now_below = if f == 0.0 { !below } else { f < 0.0 };
                if now_below != below && self.counts(what, below) {
                    let zero = watch.known_zero.then_some(from.t).filter(|t| *t == low.0);
                    let t = self.narrow(what, low.0, t, below, zero)?;
                    join(&mut first, t, what);
                    break;
                }
                (low, below) = ((t, f), now_below);
            }
            self.watched[place].known_zero = !left;
        }
        if let Some(found) = &mut first {
            self.join_waiting(found, from.t, h)?;
        }
        Ok(first)
    }

    /// Adds waiting events whose expressions pass through zero at the same instant as an event that happens.
    fn join_waiting(&self, found: &mut Found, start: f64, h: f64) -> Result<(), Diagnostic> {
        let near = ONE_INSTANT * found.t.abs().max(1.0);
        for k in 0..self.base.events.len() {
            let after = self.base.events[k].after.filter(|a| found.what.contains(&Watched::Event(*a)));
            if self.may_happen(k) || (self.base.events[k].once && self.count[k] > 0) || !self.armed[k] || after.is_none() {
                continue;
            }
            let [a, b] = [(found.t - near).max(start), (found.t + near).min(start + h)].map(|t| self.watched_at(t));
            let [a, b] = [a?, b?].map(|s| self.value(Watched::Event(k), &s));
            if self.comes_through(k, a, b) {
                found.what.push(Watched::Event(k));
            }
        }
        Ok(())
    }

    /// Number of parts into which a step is divided so that samples at their ends resolve the functions of time in events and monitored
    /// loads.
    fn parts(&self, from: &Instant, h: f64) -> usize {
        let base = &*self.base;
        let parts = |law: &StateLaw| match law.variables.contains(&Variable::Time) {
            true => dips::parts(LOOKS, &|share| law_value(base, law, &Plain { t: from.t + share * h, ..from.plain(&[]) }, (0.0, 0.0))),
            false => LOOKS,
        };
        let events = self.watched.iter().filter_map(|w| match w.what {
            Watched::Event(k) => Some(parts(&base.events[k].when)),
            _ => None,
        });
        // Loads depend on forces of time, also where the mechanism is at rest and steps are long. Their magnitudes have a corner at every
        // change of sign, near which samples resolve less.
        let acting = base.forces.iter().zip(&self.forces).filter(|(_, acts)| **acts && self.watches_loads());
        let laws = acting.flat_map(|((_, f), _)| f.touches().laws);
        let loads = laws.filter(|law| law.variables.contains(&Variable::Time)).map(|law| CORNERS * parts(law));
        events.chain(loads).max().unwrap_or(LOOKS)
    }

    /// Values of a monitored function at the samples of a step except the first, and at intermediate points at which its sign is opposite
    /// to that at both neighbours.
    fn looks<'s>(&self, watch: &Watch, samples: &'s [Instant]) -> Result<Vec<Look<'s>>, Diagnostic> {
        let what = watch.what;
        let values: Vec<f64> = samples.iter().map(|s| self.seen(what, s)).collect();
        let rates: Option<Vec<f64>> = samples.iter().map(|s| self.margin(what, &s.plain(&[]), Pace::default()).map(|m| m.rate())).collect();
        let mut list = Vec::with_capacity(samples.len());
        let guesses = if rates.is_none() { dips::between_even(&values) } else { Vec::new() };
        let through = self.way_through(what, &samples[0]);
        // A function that begins with a known zero is not searched there, unless its gap was thrown open.
        let thrown = |r: &[f64]| matches!(what, Watched::Gap(k) if r[0] > self.slow(k, &samples[0].v));
        for k in 1..samples.len() {
            let same_side = match k == 1 && watch.known_zero {
                true => values[k] > 0.0 && rates.as_deref().is_some_and(thrown),
                false => values[k - 1] * values[k] > 0.0,
            };
            let (a, b) = (samples[k - 1].t, samples[k].t);
            let beyond = match &rates {
                _ if !same_side => None,
                Some(r) => dips::search([(a, values[k - 1], r[k - 1]), (b, values[k], r[k])], &mut |t| {
                    let s = self.watched_at(t)?;
                    let rate = self.margin(what, &s.plain(&[]), Pace::default()).map_or(f64::NAN, |m| m.rate());
                    Ok((t, self.seen(what, &s), rate))
                })?,
                None => {
                    let here = |u: &&f64| (k - 1..k).contains(&(**u as usize));
                    let mut found = None;
                    for u in guesses.iter().filter(here) {
                        let t = a + (u - (k - 1) as f64) * (b - a);
                        let f = self.seen(what, &self.watched_at(t)?);
                        found = found.or((f * values[k] < 0.0).then_some((t, f)));
                    }
                    found
                }
            };
            let beyond = match beyond {
                None if same_side && values[k] > 0.0 && through.is_finite() => {
                    let pace = |s: &Instant| Pace::of(&s.v, self.base.length).way();
                    let speed = 2.0 * pace(&samples[k - 1]).max(pace(&samples[k]));
                    // A gap that begins with a known zero is measured from there.
                    dips::pass([(a, values[k - 1].max(0.0)), (b, values[k])], speed, THROUGH * through, &mut |t| {
                        Ok(self.seen(what, &self.watched_at(t)?))
                    })?
                }
                found => found,
            };
            list.extend(beyond.map(|(t, f)| Look { t, f, at: None }));
            list.push(Look { t: b, f: values[k], at: Some(&samples[k]) });
        }
        Ok(list)
    }

    /// Path of a body through the body that it touches, m.
    fn way_through(&self, what: Watched, at: &Instant) -> f64 {
        let side = match what {
            Watched::Gap(k) => return self.limits[k].spot.as_ref().map_or(f64::INFINITY, |s| s.spot.way_through()),
            Watched::Guard(n, 0) => self.switches[n].of,
            _ => return f64::INFINITY,
        };
        let Switching::Side(k, side) = side else { return f64::INFINITY };
        self.base.forces[k].1.side(&self.base, &at.plain(&[]), side).map_or(f64::INFINITY, |s| s.through)
    }

    /// Whether a gap that is zero at the start of a step becomes negative from the start and stays so: at that instant there is no motion
    /// and no push, and the next push closes it.
    fn sinks(&self, limit: usize, samples: &[Instant], h: f64) -> Result<bool, Diagnostic> {
        let (base, at) = (&*self.base, &samples[0]);
        // A gap that opens closes again later.
        if self.limits[limit].rate(base, &at.q, &at.v).abs() > self.slow(limit, &at.v) {
            return Ok(false);
        }
        if samples[1..].iter().all(|s| self.rests_beside(limit, s)) {
            return Ok(false);
        }
        if samples[1..].iter().all(|s| self.opens(limit, at, s)) {
            return Ok(false);
        }
        let (what, least, from) = (Watched::Gap(limit), ROUNDING * base.length.max(1.0), at.t);
        let mut below = false;
        for s in &samples[1..] {
            let f = self.seen(what, s);
            if f > least {
                return Ok(false);
            }
            below |= f < -least;
        }
        if below {
            for share in SOON {
                if self.seen(what, &self.watched_at(from + share * h)?) > least {
                    return Ok(false);
                }
            }
        }
        Ok(below)
    }

    /// Whether a joint or body rests at a limit that does not hold it: its gap is rounding there, whatever its sign.
    fn rests_beside(&self, limit: usize, s: &Instant) -> bool {
        let l = &self.limits[limit];
        !matches!(l.of, Bounded::Rate(_))
            && self.seen(Watched::Gap(limit), s).abs() <= CLOSED * self.size_of(limit)
            && l.rate(&self.base, &s.q, &s.v).abs() <= self.slow(limit, &s.v)
    }

    /// Effort below which values are rounding relative to the other loads at an instant, N or N m.
    pub(super) fn nothing_beside(&self, s: &Instant) -> f64 {
        let efforts = s.efforts.iter().fold(0.0_f64, |top, e| top.max(e.abs()));
        LIGHT * s.constraints.iter().map(|c| c.force.norm()).fold(efforts, f64::max)
    }

    /// Whether accelerations open a gap that is zero at the start of a step, up to a point in it: a negative gap is then the error of the
    /// method, which after a lift is as large as the gap, since both begin with the third power of the time.
    fn opens(&self, limit: usize, from: &Instant, to: &Instant) -> bool {
        let l = &self.limits[limit];
        let second = |s: &Instant| l.second_rate(&self.base, &s.q, &s.v, &s.a);
        !matches!(l.of, Bounded::Rate(_)) && 2.0 * second(from) + second(to) > 0.0
    }

    /// The first zero of a guard that depends on time only, in a step from `t` on.
    pub(super) fn search_time(&self, watch: &Watch, n: usize, g: usize, t: f64, h: f64) -> Option<f64> {
        let value = |t: f64| self.guard_by_time(n, g, t) - watch.offset;
        let (mut low, mut left) = (t, !watch.known_zero);
        let parts = dips::parts(TIMES, &|share| value(t + share * h));
        let mut places: Vec<f64> = (1..parts).map(|k| t + h * k as f64 / parts as f64).chain([t + h]).collect();
        let even: Vec<f64> = std::iter::once(t).chain(places.iter().copied()).map(value).collect();
        places.extend(dips::between_even(&even).iter().map(|u| t + u * h / parts as f64));
        places.sort_by(f64::total_cmp);
        for high in places {
            let f = value(high);
            if !left && f.abs() < ROUNDING {
                continue;
            }
            left = true;
            if f <= 0.0 && (f < 0.0 || high < t + h) {
                let (mut a, mut b) = (low, high);
                loop {
                    let middle = 0.5 * (a + b);
                    if middle <= a || middle >= b {
                        break;
                    }
                    if value(middle) > 0.0 { a = middle } else { b = middle }
                }
                // A zero within rounding of the start of the step counts as being at the start.
                return Some(if b - t <= AT_ONCE * h { t } else { b });
            }
            low = high;
        }
        None
    }

    /// Whether a monitored function is so far from zero at both ends of a step that it cannot reach zero in between.
    fn stays_far(&self, w: &Watch, ends: [&Instant; 2], paces: [Pace; 2], h: f64) -> bool {
        if w.known_zero {
            return false;
        }
        if let Watched::Guard(n, 1) = w.what
            && let Switching::Side(k, side) = self.switches[n].of
        {
            let at = |s: &Instant| self.base.forces[k].1.side(&self.base, &s.plain(&[]), side).map(|s| s.push);
            return matches!(ends.map(at), [Some(a), Some(b)] if a * b > 0.0 && a.abs().min(b.abs()) > CLEAR);
        }
        let at = |k: usize| self.margin(w.what, &ends[k].plain(&[]), paces[k]);
        Pace::resolved(paces, h) && matches!([at(0), at(1)], [Some(a), Some(b)] if a.stays_far(&b, h))
    }

    /// The time between `low` and `high` at which a function passes through zero; `below` is its side at `low`, and `zero` a known zero at
    /// `low`, which does not count. The returned time is after the zero, by rounding.
    fn narrow(&self, what: Watched, low: f64, high: f64, below: bool, zero: Option<f64>) -> Result<f64, Diagnostic> {
        let side = if below { -1.0 } else { 1.0 };
        let f = |t: f64| -> Result<f64, Diagnostic> {
            let x = side * self.seen(what, &self.watched_at(t)?);
            Ok(zero.map_or(x, |t0| x / (t - t0)))
        };
        let (mut a, mut b) = (low, high);
        let mut fa = if zero.is_some() { f(low + PROBE * (high - low))?.abs() } else { f(low)? };
        let mut fb = f(high)?;
        let least = |t: f64| 4.0 * f64::EPSILON * t.abs() + 1e-16;
        for round in 0..NARROW {
            if b - a <= least(b) {
                break;
            }
            // The secant, kept away from the ends; occasionally the midpoint.
            let mut t = if fa > 0.0 && fb < fa { a + (b - a) * fa / (fa - fb) } else { 0.5 * (a + b) };
            if round % 4 == 3 || !t.is_finite() {
                t = 0.5 * (a + b);
            }
            t = t.clamp(a + 0.01 * least(b).max((b - a) * 1e-3), b - 0.01 * least(b).max((b - a) * 1e-3));
            let x = f(t)?;
            if x > 0.0 {
                if fa == x {
                    a = t;
                    continue;
                }
                (a, fa) = (t, x);
            } else {
                (b, fb) = (t, x);
            }
        }
        Ok(b)
    }
}

/// Adds a zero to those found: the first one counts, with all zeros within rounding of it.
fn join(first: &mut Option<Found>, t: f64, what: Watched) {
    match first {
        Some(found) if (t - found.t).abs() <= ONE_INSTANT * found.t.abs().max(1.0) => {
            found.t = found.t.max(t);
            found.what.push(what);
        }
        Some(found) if t > found.t => {}
        _ => *first = Some(Found { t, what: vec![what] }),
    }
}

/// Gaps below this fraction of the characteristic length, or rad, are rounding.
const ROUNDING: f64 = 1e-14;
/// Values of an expression below this fraction of its largest are rounding.
const NOTHING: f64 = 1e-13;
/// Zeros of functions of time within this fraction of a step from its start count as being at its start.
const AT_ONCE: f64 = 1e-13;
/// Zeros this close together, as a fraction of the time or in s, belong to one instant.
const ONE_INSTANT: f64 = 1e-11;
