//! Singular positions inside steps.
//!
//! A system tells how far a state is from a singular position, for nothing at the end of a step. Along a motion through one that
//! distance is a straight V, which a long step may hide between its ends: where bodies travel far, or the ends are near, the step is
//! looked at in parts through its interpolant, and the foot of every V is found by golden section. What is found then depends on the
//! motion, not on the steps.

use super::{Run, System};
use serde_json::{Value, json};

/// Parts of a step travel no more than this, in characteristic lengths or radians.
const REACH: f64 = 0.15;
/// And there are at most so many.
const PARTS: usize = 40;
/// Distances below this share of the largest seen may be those of a V.
const SUSPECT: f64 = 0.5;
/// Its foot lies below this share.
const FOOT: f64 = 3e-3;
/// Beside the ends of a step, as a share of it: tells whether the distance falls there or rises.
const BESIDE: f64 = 1e-3;
/// Sections; the foot is then known to a thousandth of a part.
const SECTIONS: usize = 16;
/// After this many feet in a row that were none, pivots are no guide to this mechanism.
const DENIED: usize = 30;

/// What is remembered from step to step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// Largest distance seen.
    usual: f64,
    /// Distance at the end of the last step, where one was taken.
    last: Option<f64>,
    /// Whether it fell towards that end.
    falling: bool,
    denied: usize,
}

impl Watch {
    pub fn save(&self) -> Value {
        json!([self.usual, self.last, self.falling, self.denied])
    }

    pub fn restored(v: &Value) -> Self {
        Self {
            usual: v[0].as_f64().unwrap_or(0.0),
            last: v[1].as_f64(),
            falling: v[2].as_bool().unwrap_or(false),
            denied: v[3].as_u64().unwrap_or(0) as usize,
        }
    }
}

impl<S: System> Run<S> {
    /// Looks for singular positions inside the step just taken.
    pub(super) fn look_inside(&mut self) {
        let Some(end) = self.system.distance_now() else { return };
        if self.watch.denied >= DENIED {
            return;
        }
        let start = self.watch.last.unwrap_or(end);
        self.watch.usual = self.watch.usual.max(end).max(start);
        self.watch.last = Some(end);
        let falling = std::mem::take(&mut self.watch.falling);
        let parts = ((self.system.travel(&self.step_d) / REACH).ceil() as usize).clamp(1, PARTS);
        if parts == 1 && start.min(end) > SUSPECT * self.watch.usual {
            return;
        }
        // Interpolated all alike: the ends themselves were corrected.
        let mut samples = [(0.0, 0.0); PARTS + 4];
        let mut n = 0;
        let inner = (1..parts).map(|k| k as f64 / parts as f64);
        for s in [0.0, BESIDE].into_iter().chain(inner).chain([1.0 - BESIDE, 1.0]) {
            let Some(sigma) = self.distance_at(s) else { return };
            samples[n] = (s, sigma);
            n += 1;
        }
        let samples = &samples[..n];
        self.watch.usual = samples.iter().fold(self.watch.usual, |m, s| m.max(s.1));
        self.watch.falling = samples[n - 2].1 > samples[n - 1].1;
        if falling && samples[1].1 >= samples[0].1 {
            self.judge(samples[0]);
        }
        for w in samples.windows(3) {
            if w[1].1 <= w[0].1 && w[1].1 < w[2].1 && w[1].1 < SUSPECT * self.watch.usual {
                match self.foot(w[0].0, w[2].0) {
                    Some(found) => self.judge(found),
                    None => return,
                }
            }
        }
    }

    /// Distance at a share `s` of the last step.
    fn distance_at(&mut self, s: f64) -> Option<f64> {
        let t = self.t_n + s * self.h_n;
        self.interpolate(t).ok()?;
        self.system.distance(t, &self.trial).filter(|x| x.is_finite())
    }

    /// The smallest distance between two shares of the step, and where.
    fn foot(&mut self, mut a: f64, mut b: f64) -> Option<(f64, f64)> {
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let (mut x, mut y) = (b - golden * (b - a), a + golden * (b - a));
        let (mut fx, mut fy) = (self.distance_at(x)?, self.distance_at(y)?);
        for k in 0..SECTIONS {
            // A smooth valley far above zero is none.
            let (low, high) = (fx.min(fy), fx.max(fy));
            if k > 3 && low > 0.1 * self.watch.usual && high - low < 0.1 * low {
                break;
            }
            if fx < fy {
                (b, y, fy) = (y, x, fx);
                x = b - golden * (b - a);
                fx = self.distance_at(x)?;
            } else {
                (a, x, fx) = (x, y, fy);
                y = a + golden * (b - a);
                fy = self.distance_at(y)?;
            }
        }
        Some(if fx < fy { (x, fx) } else { (y, fy) })
    }

    /// Tells the system of a foot that is one.
    fn judge(&mut self, (s, sigma): (f64, f64)) {
        if sigma > FOOT * self.watch.usual || self.distance_at(s).is_none() {
            return;
        }
        if self.system.met(self.t_n + s * self.h_n) {
            self.watch.denied = 0;
        } else {
            self.watch.denied += 1;
        }
    }
}
