//! Whether an explicit method crawls: its steps are as large as stability allows, while accuracy would allow more.
//!
//! The last stage and the end of a step are two states at the same time. The change of the derivative from one to the other over their
//! distance is about the fastest rate, where a fast motion is damped or has come to rest [Hairer96, IV.2]. Where a step times that rate stays
//! near the limit of stability the forces are stiff for the method. Light damping makes single values jump by a factor of ten either way: the
//! mean of their logarithms decides.

use fourbar_math::elementary;
use serde_json::{Value, json};

/// Share of the limit from which on forces are stiff. Over the shipped mechanisms that are not stiff the mean stays below 0.35 wherever a run
/// takes more than a hundred steps; with stiff springs and light damping it lies between 0.4 and 1, with more damping above 0.7.
const STIFF: f64 = 0.45;
/// Share of the limit where a run starts, and below which only every so many steps are examined.
const FAR: f64 = 0.1;
const EVERY: usize = 8;
/// The mean reaches back over about so many steps.
const MEMORY: f64 = 16.0;
/// A single value counts as no more than this.
const MOST: f64 = 2.0;
/// A change of the method must be worth it: so many steps are left.
const LEFT: f64 = 500.0;

/// What the steps so far say of stiffness.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// Product of step and rate at the limit of stability; `None` where nobody asks.
    limit: Option<f64>,
    /// Mean logarithm of the share of the limit.
    mean: f64,
    /// The time from which on forces were stiff.
    pub since: Option<f64>,
}

impl Stiffness {
    /// For a method with this limit of stability.
    pub fn new(limit: Option<f64>) -> Self {
        Self { limit, mean: elementary::ln(FAR), since: None }
    }

    /// Whether the step of this number is worth a look.
    pub fn is_due(&self, step: usize) -> bool {
        self.limit.is_some() && self.since.is_none() && (self.mean > elementary::ln(FAR) || step.is_multiple_of(EVERY))
    }

    /// Takes a step of size `h` to the time `t`, after which so much is left, with the distance of its last stage from its end and the change
    /// of the derivative between them. `true` where the forces have just turned out to be stiff.
    pub fn step(&mut self, (t, h, left): (f64, f64, f64), gap: f64, change: f64) -> bool {
        let share = h * change / (gap * self.limit.unwrap_or(f64::INFINITY));
        // Without a distance nothing is known.
        if share.is_nan() {
            return false;
        }
        self.mean += (elementary::ln(share.clamp(0.1 * FAR, MOST)) - self.mean) / MEMORY;
        let found = self.mean > elementary::ln(STIFF) && left > LEFT * h;
        if found {
            self.since = Some(t);
        }
        found
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        json!([self.mean, self.since])
    }

    /// Takes back what [`Stiffness::save`] gave.
    pub fn restore(&mut self, v: &Value) {
        self.mean = v[0].as_f64().unwrap_or(elementary::ln(FAR));
        self.since = v[1].as_f64();
    }
}
