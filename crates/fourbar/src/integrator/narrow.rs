//! Narrow forces: peaks of expressions that a long step would pass over without an evaluation inside them.
//!
//! Methods choose steps from evaluated values. When a body glides freely towards a magnetic detent, the detent has no effect until a stage
//! of a step happens to lie in it, and by then steps are long. Expressions that can be narrow are therefore examined along every step
//! before it is accepted: their variables are known at its start, middle and end, and ranges of values over a part of the step show whether
//! a peak can be hidden there. Such parts are halved until a value reveals the peak, or until the range excludes it.

use crate::expr::Expr;
use crate::force::eval::{Plain, law_variables};
use crate::model::Model;
use crate::settings::{Study, tau, usual_tolerance};
use crate::state::Configuration;
use crate::switching::Switching;
use fourbar_math::Range;
use smallvec::SmallVec;

/// Maximum number of parts of a step examined for one expression, and of halvings.
const MOST_PARTS: usize = 160;
const DEEPEST: usize = 32;
/// A part of a step hides a peak if the value in its middle deviates from the line between the values at both ends by more than this
/// multiple of the range of values seen in the step, for a part as long as the step; for a smooth function the deviation falls to a fourth
/// when a part is halved.
const BENT: f64 = 8.0;
/// A hidden peak is at least this fraction of the range seen, since a range may be wider than the values.
const SHARE: f64 = 0.1;
/// Minimum effect of a peak on the motion, in tolerances.
const TOLERANCES: f64 = 10.0;
/// A step that ends before a narrow peak is at least this fraction of the rejected one.
const LEAST: f64 = 1e-3;

/// A value that is larger by this factor cannot be predicted from the first.
const NOTHING: f64 = 1e4;
/// Steps longer than this multiple of the smallest step are examined.
const LONG: f64 = 100.0;

/// An expression with terms that can be narrow.
#[derive(Clone, Debug)]
struct Watched {
    /// The law of the expression.
    of: Switching,
    terms: Vec<Expr>,
    /// Scale of the expression, in its unit.
    scale: f64,
    /// Values of its variables at start, middle and end of the step.
    x: [SmallVec<[f64; 8]>; 3],
    /// Values of its terms at the start of a step that is examined in parts.
    first: SmallVec<[f64; 4]>,
}

/// Place in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Start,
    Middle,
    End,
}

/// All expressions of a mechanism that can be narrow.
#[derive(Clone, Debug)]
pub struct Narrow {
    list: Vec<Watched>,
    tol: f64,
    tau: f64,
    /// Storage for the examined states.
    pub at: Configuration,
}

impl Narrow {
    /// Narrow expressions of a mechanism; `None` if there are none, or if steps are fixed.
    pub fn of(model: &Model, study: &Study) -> Option<Self> {
        if study.fixed_step().is_some() {
            return None;
        }
        Self::list(model, study).filter(|narrow| !narrow.list.is_empty())
    }

    /// The same for motion by Taylor series, whose steps are never fixed. Steps are also examined if only laws of elements saturate: the
    /// series of such a law is constant, and friction would continue to push a joint that comes to rest and reverses.
    pub fn of_series(model: &Model, study: &Study) -> Option<Self> {
        let saturates = model.forces.iter().any(|(_, f)| f.saturates());
        Self::list(model, study).filter(|narrow| saturates || !narrow.list.is_empty())
    }

    fn list(model: &Model, study: &Study) -> Option<Self> {
        let tau = tau(study).ok()?;
        let least = model.bodies.iter().skip(1).map(|b| b.mass).filter(|m| *m > 0.0).fold(f64::INFINITY, f64::min);
        let (mass, L) = (if least.is_finite() { least } else { 1.0 }, model.length);
        // A force, or a torque at the characteristic length: the smaller of the two.
        let push = mass * L / (tau * tau) * L.min(1.0);
        let forces = model.forces.iter().enumerate().flat_map(|(k, (_, f))| (0..f.touches().laws.len()).map(move |l| Switching::Law(k, l)));
        let watched = |of: Switching| {
            let terms = model.law_of(of)?.expr.narrow_terms();
            let scale = if matches!(of, Switching::State(_)) { 1.0 / tau } else { push };
            (!terms.is_empty()).then(|| Watched { of, terms, scale, x: Default::default(), first: SmallVec::new() })
        };
        let list: Vec<Watched> = forces.chain((0..model.states.len()).map(Switching::State)).filter_map(watched).collect();
        let tol = study.tol.unwrap_or_else(|| usual_tolerance(study));
        Some(Self { list, tol, tau, at: Configuration::start(model) })
    }

    /// Whether a step of size `h` is long enough to pass over a peak, `least` being the smallest step.
    pub fn is_long(h: f64, least: f64) -> bool {
        h > LONG * least
    }

    /// Evaluates the variables for a place in a step at the state `at`.
    pub fn read(&mut self, model: &Model, place: Place) {
        let Self { list, at, .. } = self;
        let x = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
        for w in list {
            let Some(law) = model.law_of(w.of) else { continue };
            w.x[place as usize] = law_variables(model, law, &x, model.own_of(w.of, &x));
        }
    }

    /// If variables in the middle of a step are unknown: the mean of the ends.
    pub fn straight(&mut self) {
        for w in &mut self.list {
            let [start, middle, end] = &mut w.x;
            middle.clear();
            middle.extend(start.iter().zip(end.iter()).map(|(a, b)| 0.5 * (a + b)));
        }
    }

    /// Records the values at the start of a step that is examined in parts.
    pub fn begin(&mut self) {
        for w in &mut self.list {
            w.first.clear();
            w.first.extend(w.terms.iter().map(|term| term.eval(&w.x[0])));
        }
    }

    /// Whether a term acts at the end of the last part that was negligible at the start of the step of size `h`.
    pub fn wakes(&self, h: f64) -> bool {
        self.list.iter().any(|w| {
            w.terms.iter().zip(&w.first).any(|(term, first)| {
                let now: f64 = term.eval(&w.x[2]);
                now.abs() > self.tol * w.scale * TOLERANCES * self.tau / h && now.abs() > NOTHING * first.abs()
            })
        })
    }

    /// The fraction of a step of size `h` after which a narrow peak begins that the step would pass over; `None` if there is none.
    pub fn begins(&self, h: f64) -> Option<f64> {
        let mut first: Option<f64> = None;
        for w in &self.list {
            for term in &w.terms {
                let mut search = Search { term, x: &w.x, part: self.tol * w.scale * TOLERANCES * self.tau / h };
                if let Some(s) = search.run() {
                    first = Some(first.map_or(s, |f| f.min(s)));
                }
            }
        }
        first.map(|s| s.max(LEAST))
    }
}

/// The search for hidden peaks of one term.
struct Search<'a> {
    term: &'a Expr,
    x: &'a [SmallVec<[f64; 8]>; 3],
    /// Threshold for an effect over the whole step; a shorter effect has a higher threshold.
    part: f64,
}

impl Search<'_> {
    /// Coefficients of the parabola of a variable through start, middle and end.
    fn parabola(&self, k: usize) -> [f64; 3] {
        let [a, m, b] = [0, 1, 2].map(|place| self.x[place][k]);
        [a, 4.0 * m - 3.0 * a - b, 2.0 * (a + b) - 4.0 * m]
    }

    /// The value at a fraction of the step.
    fn value(&self, s: f64) -> f64 {
        let at = |k: usize| {
            let [a, b, c] = self.parabola(k);
            a + s * (b + s * c)
        };
        let x: SmallVec<[f64; 8]> = (0..self.x[0].len()).map(at).collect();
        self.term.eval(&x)
    }

    /// The range of values between two fractions.
    fn range(&self, from: f64, to: f64) -> Range {
        let within = |k: usize| {
            let [a, b, c] = self.parabola(k);
            let at = |s: f64| a + s * (b + s * c);
            let ends = Range::around(&[at(from), at(to)]);
            let turn = -0.5 * b / c;
            if from < turn && turn < to { ends.with(Range::around(&[at(turn)])) } else { ends }
        };
        let x: SmallVec<[Range; 8]> = (0..self.x[0].len()).map(within).collect();
        self.term.eval(&x)
    }

    /// The fraction after which a peak begins.
    fn run(&mut self) -> Option<f64> {
        let [start, end] = [0.0, 1.0].map(|s| self.value(s));
        let mut seen = Range::around(&[start, end]);
        // Excess of the range over the values at both ends, compared with the threshold for a part of that length.
        let hides = |s: &Self, a: (f64, f64), b: (f64, f64), seen: Range| {
            let all = s.range(a.0, b.0);
            let beyond = (all.high - a.1.max(b.1)).max(a.1.min(b.1) - all.low);
            beyond > (SHARE * seen.width()).max(s.part / (b.0 - a.0))
        };
        if !hides(self, (0.0, start), (1.0, end), seen) {
            return None;
        }
        let middle = self.value(0.5);
        seen = seen.with(Range::around(&[middle]));
        let mut parts: SmallVec<[_; DEEPEST]> = SmallVec::new();
        parts.extend([((0.5, middle), (1.0, end)), ((0.0, start), (0.5, middle))]);
        for _ in 0..MOST_PARTS {
            let (a, b) = parts.pop()?;
            if parts.len() + 2 > DEEPEST || !hides(self, a, b, seen) {
                continue;
            }
            let s = 0.5 * (a.0 + b.0);
            let value = self.value(s);
            if !value.is_finite() {
                return None;
            }
            if (value - 0.5 * (a.1 + b.1)).abs() > self.much(b.0 - a.0, seen) {
                // All parts before this one were examined; if the peak begins at the start, the step has to be as short as this part.
                return Some(if a.0 > 0.0 { a.0 } else { 0.5 * b.0 });
            }
            seen = seen.with(Range::around(&[value]));
            parts.extend([((s, value), b), (a, (s, value))]);
        }
        None
    }

    /// Threshold for a deviation that exceeds that of a smooth function in a part of the given length.
    fn much(&self, length: f64, seen: Range) -> f64 {
        ((BENT * length * length).max(SHARE) * seen.width()).max(self.part / length)
    }
}
