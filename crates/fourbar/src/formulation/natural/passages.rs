//! Singular positions in flight. The smallest pivot of the constraints in absolute form is looked at several times in every step;
//! where it has a minimum, the time at which it vanishes, if it does, is sought on the series of the step.

use super::run::Run;
use crate::analysis::singular::dependent_names;

/// Angle in radians by which bodies turn between two looks, with and without loops to be watched. The pivot feels a singular
/// position from about this far.
pub(super) const APART: [f64; 2] = [0.1, 0.5];
/// A minimum is looked at more closely if it falls below this share of the largest seen.
const LOW: f64 = 0.5;
/// Narrowings of the interval that come first: they need no straight line.
const NARROWED: usize = 6;
/// After half of them a value that vanishes has fallen below this share of the first one, or was small from the beginning.
const FALLEN: f64 = 0.7;
/// Then the time is found from values at these shares of the interval on both sides.
const ROUNDS: [f64; 3] = [0.05, 0.005, 0.0005];
/// Beside a zero the value shrinks with the distance, by a hundred; one that stays above this share has not vanished.
const SHRUNK: f64 = 0.1;

/// The last looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    /// Times and roots of the smallest pivot, oldest first, and how many there are.
    last: [(f64, f64); 3],
    filled: usize,
    /// Largest root.
    most: f64,
}

impl Looks {
    /// Takes note of a look; tells whether the one before was a low minimum.
    fn low(&mut self, t: f64, sigma: f64) -> bool {
        self.most = self.most.max(sigma);
        self.last.rotate_left(1);
        self.last[2] = (t, sigma);
        self.filled = (self.filled + 1).min(3);
        let [(_, a), (_, b), (_, c)] = self.last;
        self.filled == 3 && b <= a && b < c && b < LOW * self.most
    }

    /// As plain numbers.
    pub fn save(&self) -> Vec<f64> {
        self.last.iter().flat_map(|(t, s)| [*t, *s]).chain([self.filled as f64, self.most]).collect()
    }

    /// From what [`save`](Self::save) gave.
    pub fn restored(saved: &[f64]) -> Option<Self> {
        let [a, b, c, d, e, f, filled, most] = *saved else { return None };
        Some(Self { last: [(a, b), (c, d), (e, f)], filled: (filled as usize).min(3), most })
    }
}

impl Run<'_> {
    /// Root of the smallest pivot for the poses of time `t`.
    fn smallest_now(&mut self, t: f64) -> f64 {
        let e = &mut self.equations;
        e.set.choose(t);
        e.jacobian(&self.now.q);
        e.factor(1.0);
        e.regular_pivot.0.max(0.0).sqrt()
    }

    /// The same at a time of the last step, or a little before it.
    fn smallest_at(&mut self, t: f64) -> f64 {
        self.bodies_at(t);
        self.smallest_now(t)
    }

    /// Looks at the constraints at time `t`, for which the poses hold, and notes a singular position passed since the last look.
    pub(super) fn look_for_passage(&mut self, t: f64) {
        if self.detector.is_none() || (self.looks.filled > 0 && t <= self.looks.last[2].0) {
            return;
        }
        let sigma = self.smallest_now(t);
        if !(sigma.is_finite() && self.looks.low(t, sigma)) {
            return;
        }
        let [(t1, _), (t2, low), (t3, _)] = self.looks.last;
        // The series holds on both sides of the point it was made at. Steps shrink near a singular position, but the series still
        // reaches as far as it was near.
        let (from, to) = self.integrator.interval();
        let left = t1.max(from - 5.0 * (to - from));
        if t2 > left
            && let Some((time, beside)) = self.vanishes([left, t2, t3], low)
        {
            self.bodies_at(time);
            if self.detector.as_ref().is_some_and(|d| d.is_singular(self.model, &self.equations.set, &self.now.q)) {
                // Names are told beside the position: on it nothing can be solved.
                let pivot = self.smallest_at(beside).powi(2);
                let e = &mut self.equations;
                let (row, permanent) = (e.regular_pivot.1, &e.permanent);
                let joints = dependent_names(&e.set, &mut e.schur, permanent, row, &mut e.x);
                if let Some(d) = &mut self.detector {
                    d.note(time, pivot, joints);
                }
            }
        }
        self.bodies_at(t);
    }

    /// The time between the outer two at which the smallest pivot vanishes, if it does, and one close beside it.
    fn vanishes(&mut self, [mut a, mut m, mut b]: [f64; 3], mut low: f64) -> Option<(f64, f64)> {
        let (width, start) = (b - a, low);
        for round in 0..NARROWED {
            // Into the longer of the two parts.
            let right = b - m > m - a;
            let x = m + 0.4 * if right { b - m } else { a - m };
            let y = self.smallest_at(x);
            match (y < low, right) {
                (true, true) => a = m,
                (true, false) => b = m,
                (false, true) => b = x,
                (false, false) => a = x,
            }
            if y < low {
                (m, low) = (x, y);
            }
            if round == NARROWED / 2 && low > FALLEN * start && low > 0.1 * self.looks.most {
                return None;
            }
        }
        let (mut time, mut d) = (m, 0.0);
        let (mut first, mut last) = (0.0, 0.0);
        for share in ROUNDS {
            d = share * width;
            let (left, right) = (self.smallest_at(time - d), self.smallest_at(time + d));
            // A straight line on both sides.
            time += d * (left - right) / (left + right).max(f64::MIN_POSITIVE);
            last = left + right;
            if share == ROUNDS[0] {
                first = last;
            }
        }
        (last < SHRUNK * first).then_some((time, time + d))
    }
}
