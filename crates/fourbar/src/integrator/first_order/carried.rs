//! Inputs and states in an explicit system: its first components, and the sizes that scale their errors.

use crate::absolute::states::rounding_of_rates;
use crate::force::eval::Plain;
use crate::model::Model;
use crate::motion::numbers;
use crate::state::Configuration;
use serde_json::{Value, json};

/// Unit of time for rounding errors of velocities and of rates, s.
const TIME: f64 = 0.1;

/// Inputs and states of a system; see [`crate::auxiliary`].
#[derive(Clone, Debug)]
pub struct Carried {
    /// Their values at the last evaluation.
    pub z: Vec<f64>,
    /// Their rates there.
    rates: Vec<f64>,
    /// The largest size of each so far, at ends of steps: its value, or its change in a characteristic time.
    sizes: Vec<f64>,
    /// Errors below these are rounding of the quantities in their rates.
    noise: Vec<f64>,
}

impl Carried {
    /// Inputs and states of a start.
    pub fn new(model: &Model, at: &Configuration) -> Self {
        let noise = rounding_of_rates(model, at, TIME).iter().map(|n| n * TIME).collect();
        Self { z: at.z.clone(), rates: vec![0.0; at.z.len()], sizes: vec![0.0; at.z.len()], noise }
    }

    /// Number of inputs and states.
    pub fn len(&self) -> usize {
        self.z.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// Rates at a state, into `f`; `false` if one is not finite.
    pub fn derivative(&mut self, model: &Model, x: &Plain<'_>, f: &mut [f64]) -> bool {
        if self.rates.is_empty() {
            return true;
        }
        model.auxiliary_rates(x, &mut self.rates);
        f.copy_from_slice(&self.rates);
        self.rates.iter().sum::<f64>().is_finite()
    }

    /// Adds `weight` times the rates at a state to `f`.
    pub fn add_derivative(&mut self, model: &Model, x: &Plain<'_>, weight: f64, f: &mut [f64]) {
        model.auxiliary_rates(x, &mut self.rates);
        f.iter_mut().zip(&self.rates).for_each(|(f, r)| *f += weight * r);
    }

    /// Largest error relative to the sizes of the values. Errors within the rounding of the quantities in the rates count as zero.
    pub fn error(&self, z: &[f64], d: &[f64], tau: f64) -> f64 {
        let mut most = 0.0_f64;
        for (k, d) in d.iter().enumerate() {
            let size = self.sizes[k].max(z[k].abs()).max(tau * self.rates[k].abs());
            let share = if d.abs() <= self.noise[k] { 0.0 } else { d.abs() / size };
            if share.is_nan() {
                return f64::NAN;
            }
            most = most.max(share);
        }
        most
    }

    /// Updates the sizes at the end of a step.
    pub fn accept(&mut self, z: &[f64], tau: f64) {
        for (k, size) in self.sizes.iter_mut().enumerate() {
            *size = size.max(z[k].abs()).max(tau * self.rates[k].abs());
        }
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        json!(self.sizes)
    }

    /// Restores the result of [`Carried::save`].
    pub fn restore(&mut self, saved: &Value) {
        let sizes = numbers(saved);
        if sizes.len() == self.sizes.len() {
            self.sizes = sizes;
        }
    }
}
