//! Detection of stiffness in an explicit method: its steps are as large as stability permits, while accuracy would permit more.
//!
//! The last stage and the end of a step are two states at the same time. The change of the derivative between them over their distance
//! approximates the fastest rate, where a fast motion is damped or has decayed [Hairer96, IV.2]. If the product of step and rate stays near
//! the limit of stability, the forces are stiff for the method. With light damping single values vary by a factor of ten either way; the
//! mean of their logarithms is therefore used.

use fourbar_math::elementary;
use serde_json::{Value, json};

/// Fraction of the limit above which forces count as stiff. For the shipped non-stiff mechanisms the mean stays below 0.35 in all runs of
/// more than a hundred steps; with stiff springs and light damping it lies between 0.4 and 1, with more damping above 0.7.
const STIFF: f64 = 0.45;
/// Initial fraction of the limit; below it only every `EVERY`th step is examined.
const FAR: f64 = 0.1;
const EVERY: usize = 8;
/// Number of steps over which the mean extends.
const MEMORY: f64 = 16.0;
/// Upper bound of a single value.
const MOST: f64 = 2.0;
/// A change of the method is worthwhile only if at least this many steps remain.
const LEFT: f64 = 500.0;

/// Stiffness indicator of the steps so far.
#[derive(Clone, Debug)]
pub(super) struct Stiffness {
    /// Product of step and rate at the limit of stability; `None` if stiffness is not monitored.
    limit: Option<f64>,
    /// Mean logarithm of the fraction of the limit.
    mean: f64,
    /// The time at which forces were found to be stiff.
    pub since: Option<f64>,
}

impl Stiffness {
    /// For a method with this limit of stability.
    pub fn new(limit: Option<f64>) -> Self {
        Self { limit, mean: elementary::ln(FAR), since: None }
    }

    /// Whether the step of this number is to be examined.
    pub fn is_due(&self, step: usize) -> bool {
        self.limit.is_some() && self.since.is_none() && (self.mean > elementary::ln(FAR) || step.is_multiple_of(EVERY))
    }

    /// Evaluates a step of size `h` to the time `t`, with the remaining time, the distance of its last stage from its end and the change of
    /// the derivative between them. `true` if the forces have just been found stiff.
    pub fn step(&mut self, (t, h, left): (f64, f64, f64), gap: f64, change: f64) -> bool {
        let share = h * change / (gap * self.limit.unwrap_or(f64::INFINITY));
        // Without a distance there is no information.
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

    /// Restores the result of [`Stiffness::save`].
    pub fn restore(&mut self, v: &Value) {
        self.mean = v[0].as_f64().unwrap_or(elementary::ln(FAR));
        self.since = v[1].as_f64();
    }
}
