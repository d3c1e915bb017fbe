//! Singular positions in flight. How independent the rows in use are is looked at several times in every step; where that has a
//! minimum, the time at which it vanishes, if it does, is sought on the series of the step, and the constraints in absolute form
//! are asked whether they become dependent there too.

use super::run::Run;
use crate::analysis::singular::{Detector, Singular, dependent_names};
use fourbar_dae::Independence;

/// Angle in radians by which bodies turn between two looks: a singular position is felt from about this far.
const APART: f64 = 0.1;
/// Gradients turn with the bodies: what a row has of its own falls by no more than this per radian, and need not be looked at
/// before it can have vanished.
const FALL: f64 = 2.0;
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

/// The search for singular positions.
#[derive(Debug)]
pub(super) struct Passages {
    pub looks: Looks,
    independence: Independence,
    /// Confirms what was found; made where there is something to confirm.
    pub detector: Option<Detector>,
}

impl Passages {
    pub fn new(independence: Independence) -> Self {
        Self { looks: Looks::default(), independence, detector: None }
    }

    /// Goes on with other rows: what was seen of the old ones cannot be compared.
    pub fn change(&mut self, independence: Independence) {
        (self.looks, self.independence) = (Looks::default(), independence);
    }

    /// Positions found since they were last asked for.
    pub fn found(&mut self) -> Vec<Singular> {
        self.detector.as_mut().map_or(Vec::new(), |d| std::mem::take(&mut d.found))
    }
}

/// The last looks.
#[derive(Clone, Debug, Default)]
pub(super) struct Looks {
    /// Times and what the weakest row has of its own, oldest first, and how many there are.
    last: [(f64, f64); 3],
    filled: usize,
    /// The largest of these so far.
    most: f64,
}

impl Looks {
    /// Takes note of a look; tells whether the one before was a low minimum.
    fn low(&mut self, t: f64, part: f64) -> bool {
        self.most = self.most.max(part);
        self.last.rotate_left(1);
        self.last[2] = (t, part);
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
    /// How independent the rows in use are at a time of the last step, or a little before it.
    fn part_at(&mut self, t: f64) -> f64 {
        self.passages.as_mut().map_or(1.0, |p| self.integrator.smallest_part(t, &mut p.independence))
    }

    /// Root of the smallest pivot of the constraints in absolute form.
    fn pivot_at(&mut self, t: f64) -> f64 {
        self.bodies_at(t);
        let e = &mut self.equations;
        e.set.choose(t);
        e.jacobian(&self.now.q);
        e.factor(1.0);
        e.regular_pivot.0.max(0.0).sqrt()
    }

    /// Looks for singular positions in the step just made.
    pub(super) fn look_for_passages(&mut self) {
        if self.passages.is_none() {
            return;
        }
        let (from, to) = self.integrator.interval();
        let before = self.fastest();
        self.bodies_at(to);
        let fastest = before.max(self.fastest()) + f64::MIN_POSITIVE;
        while let Some(looks) = self.passages.as_ref().map(|p| &p.looks) {
            let (last, part) = looks.last[2];
            let next = match looks.filled {
                0 => from,
                // Where bodies are flung away, looks would come ever closer: a thousand in a step are enough.
                _ => (last + (APART.max(part / FALL) / fastest).max((to - from) / 1000.0)).max(from),
            };
            if looks.filled > 0 && next <= last {
                break;
            }
            // While it is low every step is looked at: its series does not reach back far.
            let low = looks.filled > 0 && last < to && part < LOW * looks.most;
            if next > to && !low {
                break;
            }
            self.look(next.min(to));
        }
    }

    fn look(&mut self, t: f64) {
        let part = self.part_at(t);
        let Some(looks) = self.passages.as_mut().map(|p| &mut p.looks) else { return };
        if !looks.low(t, part) {
            return;
        }
        let ([(t1, _), (t2, low), (t3, _)], most) = (looks.last, looks.most);
        // The series holds on both sides of the point it was made at. Steps shrink near a singular position, but the series still
        // reaches as far as it was near.
        let (from, to) = self.integrator.interval();
        let left = t1.max(from - 5.0 * (to - from));
        if t2 > left
            && let Some((time, width)) = self.vanishes([left, t2, t3], low, most)
        {
            self.confirm(time, width);
        }
    }

    /// Notes a singular position if the constraints in absolute form, of which the rows in use are a choice, become dependent too.
    fn confirm(&mut self, time: f64, width: f64) {
        let [far, .., close] = ROUNDS.map(|share| self.pivot_at(time + share * width));
        // Names are told beside the position: on it nothing can be solved.
        let e = &mut self.equations;
        let (row, permanent) = (e.regular_pivot.1, &e.permanent);
        let joints = dependent_names(&e.set, &mut e.schur, permanent, row, &mut e.x);
        self.bodies_at(time);
        let Some(p) = &mut self.passages else { return };
        let (model, set) = (self.model, &self.equations.set);
        let detector = p.detector.get_or_insert_with(|| Detector::new(model, set, &self.start));
        if close < SHRUNK * far && detector.is_singular(model, set, &self.now.q) {
            detector.note(time, close * close, joints);
        }
    }

    /// The time between the outer two at which the rows become dependent, if they do, and the width of the interval.
    fn vanishes(&mut self, [mut a, mut m, mut b]: [f64; 3], mut low: f64, most: f64) -> Option<(f64, f64)> {
        let (width, start) = (b - a, low);
        for round in 0..NARROWED {
            // Into the longer of the two parts.
            let right = b - m > m - a;
            let x = m + 0.4 * if right { b - m } else { a - m };
            let y = self.part_at(x);
            match (y < low, right) {
                (true, true) => a = m,
                (true, false) => b = m,
                (false, true) => b = x,
                (false, false) => a = x,
            }
            if y < low {
                (m, low) = (x, y);
            }
            if round == NARROWED / 2 && low > FALLEN * start && low > 0.1 * most {
                return None;
            }
        }
        let mut time = m;
        let (mut first, mut last) = (0.0, 0.0);
        for share in ROUNDS {
            let d = share * width;
            let (left, right) = (self.part_at(time - d), self.part_at(time + d));
            // A straight line on both sides.
            time += d * (left - right) / (left + right).max(f64::MIN_POSITIVE);
            last = left + right;
            if share == ROUNDS[0] {
                first = last;
            }
        }
        (last < SHRUNK * first).then_some((time, width))
    }
}
