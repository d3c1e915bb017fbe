//! The integrator: expand, choose a step, search for events and kinks, advance.

use crate::Error;
use crate::engine::Engine;
use crate::kinks::Kinks;
use crate::options::Options;
use crate::problem::{Direction, Problem};
use crate::profile::Profile;
use crate::roots::RootFinder;
use crate::state::State;
use crate::step::{binomials, default_order};
use fourbar_math::elementary;
use std::sync::Arc;

/// A located zero of an event expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Event {
    /// Number of the event, in the order of declaration.
    pub event: usize,
    /// Time.
    pub t: f64,
    /// 1 rising, -1 falling (as integration proceeds), 0 touching without a change of sign.
    pub direction: i8,
}

/// Why [`Integrator::run_to`] returned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// The end was reached.
    End,
    /// A terminal event.
    Event(Event),
}

/// Work done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps accepted.
    pub steps: usize,
    /// Expansions computed, including the search for the first step and repetitions.
    pub expansions: usize,
    /// Steps undone because the next expansion failed.
    pub retries: usize,
    /// Kinks passed.
    pub kinks: usize,
}

/// Integrates one problem from one state. After each step the expansion serves as dense output for that step.
#[derive(Debug, Clone)]
pub struct Integrator {
    pub(crate) engine: Engine,
    options: Options,
    binomials: Vec<f64>,
    /// Whether algebraic variables count in the step size: only if there are no others.
    all: bool,
    /// Variables with a fixed size.
    fixed: Vec<bool>,
    pub(crate) t: f64,
    /// Start of the last step and its size.
    pub(crate) from: f64,
    pub(crate) h: f64,
    /// Rounding errors of the carried values, added in the next step (compensated summation).
    pub(crate) carry: Vec<f64>,
    pub(crate) before: Backup,
    finder: RootFinder,
    events: Vec<Event>,
    /// Events that have a zero at the start of the step.
    pub(crate) at_zero: Vec<bool>,
    shifted: Vec<f64>,
    pub(crate) kinks: Kinks,
    pub(crate) work: Work,
    pub(crate) limited_by: usize,
    /// Order of the next expansion.
    pub(crate) next_order: usize,
    pub(crate) started: bool,
    /// Largest correction of the start by projection.
    first_move: (f64, usize, usize),
    /// Set if a branch not taken may have left non-finite values in storage.
    pub(crate) stale: bool,
}

/// Data needed to undo a step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Backup {
    pub t: f64,
    pub h: f64,
    pub state: Vec<f64>,
    pub carry: Vec<f64>,
    /// Sides of the kinks during the step.
    pub side: Vec<bool>,
    /// Pieces of the tables during the step.
    pub params: Vec<f64>,
    pub valid: bool,
}

impl Integrator {
    /// Starts at `state`, which must be consistent (see [`Problem::start`]) up to errors that projection can correct.
    pub fn new(problem: &Arc<Problem>, state: &State, options: Options) -> Result<Self, Error> {
        options.check()?;
        let order = options.order.unwrap_or_else(|| default_order(options.rel));
        // Storage for the orders that may be tried.
        let largest = if options.variable_order { (order + order / 2).min(60) } else { order };
        let mut engine = Engine::new(Arc::clone(problem), largest, options.dense_limit, options.profile);
        engine.order = order;
        let (n, width) = (problem.variables.len(), engine.width());
        let degree = largest + engine.plan.d_max;
        engine.enter(state);
        for j in 0..n {
            engine.weight[j] = (options.abs / options.rel).max(engine.state[j * width].abs()).max(f64::MIN_POSITIVE);
        }
        let mut fixed = vec![false; n];
        for (name, size) in &options.sizes {
            let j = problem.variable(name)?;
            engine.weight[j] = *size;
            fixed[j] = true;
        }
        for (name, size) in &options.least {
            let j = problem.variable(name)?;
            engine.weight[j] = size.max(engine.state[j * width].abs()).max(f64::MIN_POSITIVE);
        }
        let all = problem.structure.d().iter().all(|&d| d == 0);
        let kinks = Kinks::new(problem);
        Ok(Self {
            binomials: binomials(width, degree),
            all,
            fixed,
            t: state.t,
            from: state.t,
            h: 0.0,
            carry: vec![0.0; n * width],
            before: Backup {
                state: vec![0.0; n * width],
                carry: vec![0.0; n * width],
                side: engine.taylor.side.clone(),
                params: engine.taylor.params.clone(),
                ..Default::default()
            },
            finder: RootFinder::new(degree),
            events: Vec::with_capacity(64),
            at_zero: vec![false; problem.events.len()],
            shifted: vec![0.0; degree + 1],
            kinks,
            work: Work::default(),
            limited_by: 0,
            next_order: order,
            started: false,
            first_move: (0.0, 0, 0),
            stale: false,
            options,
            engine,
        })
    }

    /// Current time.
    pub fn t(&self) -> f64 {
        self.t
    }
    /// Size of the last step (negative backwards).
    pub fn last_step(&self) -> f64 {
        self.h
    }
    /// Work done.
    pub fn work(&self) -> Work {
        self.work
    }
    /// Time per part, if [`Options::profile`] is set.
    pub fn profile(&self) -> Profile {
        self.engine.profile
    }
    /// Order in use: the last stage of an expansion.
    pub fn order(&self) -> usize {
        self.engine.order
    }
    /// Events found in the last step, in order of time.
    pub fn events(&self) -> &[Event] {
        &self.events
    }
    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.engine.problem
    }
    /// Variable that limits the step size.
    pub fn limited_by(&self) -> &str {
        &self.engine.problem.variables[self.limited_by]
    }
    /// Largest correction by projection at the start of the last step, in units of the variables' sizes.
    pub fn correction(&self) -> f64 {
        self.engine.moved.0
    }
    /// Changes the relative tolerance of the following steps, within the bounds of [`Options::rel`]; the order is unchanged.
    pub fn set_tolerance(&mut self, rel: f64) {
        self.options.rel = rel.clamp(1e-16, 0.1);
    }
    /// Ratio of smallest pivot to largest entry in the last factorisation: small near singular configurations.
    pub fn pivot_ratio(&self) -> f64 {
        self.engine.pivot
    }

    /// Integrates to `t_end`, or to the first terminal event; backwards if `t_end` is earlier than the current time.
    pub fn run_to(&mut self, t_end: f64) -> Result<Stop, Error> {
        self.run(t_end, |_| {})
    }

    /// Like [`run_to`](Self::run_to), with a call after each step, when dense output covers that step.
    pub fn run(&mut self, t_end: f64, mut after_step: impl FnMut(&Self)) -> Result<Stop, Error> {
        for _ in 0..self.options.max_steps {
            if self.t == t_end {
                return Ok(Stop::End);
            }
            let stop = self.step(t_end)?;
            after_step(self);
            if let Some(event) = stop {
                return Ok(Stop::Event(event));
            }
        }
        if self.t == t_end {
            return Ok(Stop::End);
        }
        Err(Error::TooManySteps { t: self.t, limit: self.options.max_steps })
    }

    /// One step towards `t_end`, not beyond it. Returns the terminal event that shortened it, if any.
    pub fn step(&mut self, t_end: f64) -> Result<Option<Event>, Error> {
        self.step_within(t_end, |_| f64::INFINITY)
    }

    /// Like [`step`](Self::step), but no longer than `most` allows, evaluated after the expansion: for quantities computed from the series
    /// that are not variables, such as integrals of products, which must be resolved too.
    pub fn step_within(&mut self, t_end: f64, most: impl FnOnce(&Self) -> f64) -> Result<Option<Event>, Error> {
        if !t_end.is_finite() {
            return Err(Error::BadOption { option: "t_end", allowed: "finite" });
        }
        if t_end == self.t {
            return Ok(None);
        }
        let forward = (t_end - self.t).signum();
        let theta = if self.started && self.h * forward > 0.0 { self.expand_or_back(t_end)? } else { self.first_expansion(t_end)? };
        let scale = self.engine.taylor.scale;
        // Never beyond the end, and exactly onto it if it is near.
        let mut h = theta.min(most(self) / scale.abs()) * scale;
        let left = t_end - self.t;
        if h.abs() >= left.abs() * (1.0 - 1e-10) {
            h = left;
        } else if h.abs() > 0.5 * left.abs() {
            h = 0.5 * left;
        }
        let mut to = self.t + h;
        if to == self.t {
            return Err(Error::StepTooSmall { t: self.t, h, variable: self.limited_by().to_string() });
        }
        h = to - self.t;
        // Kinks and events, on [0, h/scale].
        let mut end = h / scale;
        let kink = self.kinks.first(&self.engine, &mut self.finder, end)?;
        if let Some(k) = &kink {
            end = k.tau;
        }
        let terminal = self.find_events(&mut end);
        let kink = kink.filter(|k| k.tau <= end);
        if kink.is_some() || terminal.is_some() {
            to = self.t + end * scale;
            h = end * scale;
        }
        self.advance(end);
        (self.from, self.t, self.h) = (self.t, to, h);
        self.work.steps += 1;
        if let Some(k) = kink {
            self.work.kinks += self.kinks.pass(k, &mut self.engine);
            self.stale = true;
            self.before.valid = false;
        }
        Ok(terminal)
    }

    /// Expands at the current point with the previous step as scale; if that fails, shortens the previous step.
    fn expand_or_back(&mut self, t_end: f64) -> Result<f64, Error> {
        // Fractions of the previous step that are tried as its new end.
        const LANDINGS: [f64; 6] = [0.8, 0.6, 0.9, 0.5, 0.7, 0.3];
        let mut failure = None;
        for attempt in 0..=LANDINGS.len() {
            if attempt > 0 {
                if !self.before.valid {
                    break;
                }
                self.step_back(LANDINGS[attempt - 1])?;
            }
            let last = self.h.abs();
            match self.expansion(self.h) {
                Ok(theta) => {
                    let scale = self.engine.taylor.scale.abs();
                    let tiny = theta * scale < 0.05 * last && (t_end - self.t).abs() > last;
                    if tiny && attempt < LANDINGS.len() && self.before.valid {
                        failure = None;
                        continue;
                    }
                    return Ok(theta);
                }
                Err(e) => failure = Some(e),
            }
        }
        match failure {
            Some(e) => Err(e),
            None => self.expansion(self.h),
        }
    }

    /// Undoes the last step and repeats it shorter.
    fn step_back(&mut self, part: f64) -> Result<(), Error> {
        self.work.retries += 1;
        let b = &self.before;
        self.engine.state.copy_from_slice(&b.state);
        self.carry.copy_from_slice(&b.carry);
        let (t, h) = (b.t, b.h);
        self.engine.taylor.clear();
        self.engine.expand(t, power_of_two(h), self.options.project)?;
        self.work.expansions += 1;
        let to = t + part * h;
        self.advance_values((to - t) / self.engine.taylor.scale);
        (self.from, self.t, self.h) = (t, to, to - t);
        Ok(())
    }

    /// Expands with a scale near `h` and proposes a step in units of the scale.
    fn expansion(&mut self, h: f64) -> Result<f64, Error> {
        let scale = power_of_two(h);
        if self.stale {
            self.engine.taylor.clear();
            self.stale = false;
        }
        self.engine.order = self.next_order;
        self.engine.expand(self.t, scale, self.options.project)?;
        self.work.expansions += 1;
        let width = self.engine.width();
        for j in 0..self.engine.weight.len() {
            if !self.fixed[j] {
                self.engine.weight[j] = self.engine.weight[j].max(self.engine.state[j * width].abs());
            }
        }
        self.engine.measure_events();
        let order = self.engine.order;
        let p = self.engine.propose(order, self.options.rel, &self.binomials, self.all);
        if self.options.variable_order && self.work.expansions.is_multiple_of(3) {
            self.next_order = self.engine.better_order(self.options.rel, &p);
        }
        self.limited_by = p.limited_by;
        let previous = (h / scale).abs();
        let mut theta = if p.s1 < 0.5 * previous { p.s1.max(p.s0) } else { p.s1 };
        if self.options.rel < 1e-13 {
            theta = self.engine.without_cancellation(theta.min(10.0), (0.25 * self.options.rel / f64::EPSILON).max(1.0));
        }
        Ok(theta.min(10.0 * previous).min(self.options.max_step / scale.abs()))
    }

    /// First step, or first after a reversal of direction: the time scale is not known yet.
    fn first_expansion(&mut self, t_end: f64) -> Result<f64, Error> {
        let span = t_end - self.t;
        let turned = self.started && self.h != 0.0;
        // The size of the last step, or of the one that was retracted to its start.
        let guess = match self.options.first_step {
            _ if turned => self.h.abs(),
            _ if self.started => self.before.h.abs(),
            given => given.map_or(span.abs(), f64::abs),
        };
        let mut h = guess.min(span.abs());
        self.before.valid = false;
        if turned {
            self.kinks.turn_round(&mut self.engine);
        }
        let mut outcome = Ok(0.0);
        for _ in 0..40 {
            let signed = h * span.signum();
            outcome = self.settle_kinks(signed).and_then(|()| self.expansion(signed));
            if self.engine.moved.0 > self.first_move.0 {
                self.first_move = self.engine.moved;
            }
            match &outcome {
                Ok(theta) => {
                    let wanted = theta * self.engine.taylor.scale.abs();
                    let enough = wanted >= span.abs() && h >= span.abs();
                    if enough || (wanted < 4.0 * h && wanted > 0.25 * h) {
                        break;
                    }
                    h = wanted.min(span.abs()).max(1e-3 * h);
                }
                // A scale that is far too large overflows.
                Err(Error::NonFinite { .. }) => h *= 1.0 / 1024.0,
                Err(_) => break,
            }
        }
        let theta = outcome.map_err(|e| self.told_apart(e))?;
        if !self.started {
            let (moved, j, order) = self.first_move;
            if moved > 1e-2 {
                let variable = self.engine.problem.variables[j].clone();
                return Err(Error::NotConsistent { t: self.t, variable, order, moved });
            }
            self.started = true;
            // The estimate is cheap; the exact null vectors are computed only if it is suspicious.
            if self.engine.condition() < 100.0 * crate::singular::SINGULAR && self.engine.null_vectors().2 < crate::singular::SINGULAR {
                let error = self.engine.singular_error();
                return Err(self.told_apart(error));
            }
            for e in 0..self.at_zero.len() {
                let a = self.engine.extra(self.engine.problem.outputs.len() + e);
                self.at_zero[e] = a.first().is_some_and(|x| *x == 0.0);
            }
        }
        Ok(theta)
    }

    /// Tests whether a singular Jacobian is limited to this configuration, at a consistent point nearby.
    fn told_apart(&mut self, error: Error) -> Error {
        let Error::SingularJacobian { t, equations, variables, rcond, redundant, .. } = error else { return error };
        let kept = self.engine.state.clone();
        let (width, n) = (self.engine.width(), self.engine.weight.len());
        // Variables that start at zero have small sizes: a small share of them might not lead far enough away.
        let isolated = [1e-3, 3e-2].into_iter().any(|share| {
            for j in 0..n {
                for s in 0..self.engine.d(j) {
                    let at = j * width + s;
                    self.engine.state[at] = kept[at] + share * self.engine.weight[j] * elementary::sin(1.0 + 3.7 * (j + 7 * s) as f64);
                }
            }
            self.engine.taylor.clear();
            self.engine.expand(t, self.engine.taylor.scale, true).is_ok() && self.engine.condition() > 1e-10
        });
        self.engine.taylor.clear();
        self.engine.state = kept;
        Error::SingularJacobian { t, equations, variables, rcond, redundant: redundant && !isolated, isolated }
    }

    /// Finds a side for every kink that is consistent with the resulting expansion.
    fn settle_kinks(&mut self, h: f64) -> Result<(), Error> {
        if self.kinks.is_empty() || self.started {
            return Ok(());
        }
        for _ in 0..2 * self.kinks.len() + 2 {
            let done = self.engine.expand(self.t, power_of_two(h), self.options.project);
            if !self.kinks.settle(&mut self.engine) {
                return done;
            }
        }
        Err(Error::Sliding { t: self.t, kink: self.engine.problem.kink_name(0) })
    }

    /// Collects events on (0, end]; a terminal one shortens the interval and is returned.
    fn find_events(&mut self, end: &mut f64) -> Option<Event> {
        self.events.clear();
        let mut terminal = None;
        let first = self.engine.problem.outputs.len();
        for e in 0..self.at_zero.len() {
            let spec = &self.engine.problem.events[e];
            let a = self.engine.extra(first + e);
            if self.at_zero[e] && a.len() > 1 {
                // The zero at the start is known: divide it out. Directions are unchanged, since tau > 0.
                let n = a.len() - 1;
                self.shifted[..n].copy_from_slice(&a[1..]);
                self.finder.find(&self.shifted[..n], *end);
            } else {
                self.finder.find(a, *end);
            }
            for root in &self.finder.found {
                let counts = match spec.direction {
                    Direction::Any => true,
                    Direction::Rising => root.direction > 0,
                    Direction::Falling => root.direction < 0,
                };
                if !counts {
                    continue;
                }
                let event = Event { event: e, t: self.t + root.tau * self.engine.taylor.scale, direction: root.direction };
                self.events.push(event);
                if spec.terminal && root.tau <= *end {
                    *end = root.tau;
                    terminal = Some(event);
                    break;
                }
            }
        }
        let scale = self.engine.taylor.scale;
        let (from, limit) = (self.t, self.t + *end * scale);
        self.events.retain(|e| (e.t - from).abs() <= (limit - from).abs());
        self.events.sort_unstable_by(|a, b| (a.t - from).abs().total_cmp(&(b.t - from).abs()));
        for e in 0..self.at_zero.len() {
            let near = |x: &Event| x.event == e && (x.t - limit).abs() <= 1e-12 * (limit - from).abs();
            self.at_zero[e] = self.events.iter().any(near);
        }
        terminal
    }

    /// Saves the data needed to undo the step, then advances the carried values to scaled time `theta`.
    fn advance(&mut self, theta: f64) {
        self.before.state.copy_from_slice(&self.engine.state);
        self.before.carry.copy_from_slice(&self.carry);
        self.before.side.copy_from_slice(&self.engine.taylor.side);
        self.before.params.copy_from_slice(&self.engine.taylor.params);
        self.before.t = self.t;
        self.before.h = theta * self.engine.taylor.scale;
        self.before.valid = true;
        self.advance_values(theta);
    }

    /// New carried values: old ones plus the small remainder of the series, with the rounding error kept for the next step.
    fn advance_values(&mut self, theta: f64) {
        let width = self.engine.width();
        let last = self.engine.max_order + self.engine.plan.d_max;
        for j in 0..self.engine.weight.len() {
            let mut power = 1.0;
            for s in 0..=self.engine.d(j) {
                let series = self.engine.series(j);
                let b = &self.binomials[s * (last + 1)..];
                let mut small = 0.0;
                for m in (s + 1..series.len()).rev() {
                    small = (small + b[m] * series[m]) * theta;
                }
                let at = j * width + s;
                // The leading derivative is a prediction only; its base value is that of the series.
                let old = if s == self.engine.d(j) { series[s] / power } else { self.engine.state[at] };
                let rest = small / power + self.carry[at];
                let new = old + rest;
                let back = new - old;
                self.carry[at] = (old - (new - back)) + (rest - back);
                if s == self.engine.d(j) {
                    self.carry[at] = 0.0;
                }
                self.engine.state[at] = new;
                power *= self.engine.taylor.scale;
            }
        }
    }

    /// Goes back to a time inside the last step, from which the next one starts; `false` if the last step cannot be undone.
    pub fn retreat(&mut self, t: f64) -> bool {
        if t == self.t {
            return true;
        }
        let inside = (t - self.from) * self.h >= 0.0 && (self.t - t) * self.h > 0.0;
        if !self.before.valid || !inside {
            return false;
        }
        self.engine.state.copy_from_slice(&self.before.state);
        self.carry.copy_from_slice(&self.before.carry);
        let h = t - self.from;
        if h == 0.0 {
            self.before.valid = false;
        } else {
            self.advance_values(h / self.engine.taylor.scale);
            self.before.h = h;
        }
        (self.t, self.h) = (t, h);
        true
    }

    /// Replaces the value of a variable at the current time; steps before it can no longer be undone.
    pub fn set_value(&mut self, variable: usize, value: f64) {
        let at = variable * self.engine.width();
        if self.engine.state[at] != value {
            self.engine.state[at] = value;
            self.carry[at] = 0.0;
            self.before.valid = false;
        }
    }

    /// Values at the current time, to restart from.
    pub fn state(&self) -> State {
        self.engine.leave(self.t)
    }
}

/// The power of two nearest to `h`, with its sign: scaling by it is exact.
pub(crate) fn power_of_two(h: f64) -> f64 {
    elementary::exp2(elementary::log2(h.abs()).round().clamp(-1000.0, 1000.0)).copysign(h)
}
