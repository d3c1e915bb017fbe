//! Auxiliary values that are integrated or held during the motion: inputs, which are set externally between steps, and user-defined states,
//! whose rates are expressions (controllers, motors).
//!
//! They form one list `z`: the values of the inputs, their slopes (zero if a value is held), then the states. The rate of an input is its
//! slope, slopes have none, and the rate of a state is its expression. Every [`crate::Configuration`] contains `z`.

use crate::force::eval::{States, law_value};
use crate::force::{StateLaw, Variable};
use crate::model::Model;
use fourbar_math::Scalar;
use std::collections::BTreeSet;
use std::sync::Mutex;

/// A number that is set from outside between steps.
#[derive(Clone, Debug)]
pub struct Input {
    /// Name.
    pub name: String,
    /// SI unit, for the column of results.
    pub unit: &'static str,
    /// Default value.
    pub default: f64,
    /// Smallest and largest value.
    pub range: [f64; 2],
}

impl Input {
    /// Whether it can have a value.
    pub fn allows(&self, value: f64) -> bool {
        value.is_finite() && value >= self.range[0] && value <= self.range[1]
    }
}

/// A user-defined state that is integrated with the motion.
#[derive(Clone, Debug)]
pub struct Auxiliary {
    /// Name.
    pub name: String,
    /// SI unit, for the column of results.
    pub unit: &'static str,
    /// Its rate, per second.
    pub rate: StateLaw,
    /// Its value at the start.
    pub start: f64,
}

impl Model {
    /// Number of auxiliary values: two for each input, one for each state.
    pub fn auxiliaries(&self) -> usize {
        2 * self.inputs.len() + self.states.len()
    }

    /// Index of the first state among them.
    pub fn first_state(&self) -> usize {
        2 * self.inputs.len()
    }

    /// Their values at the start: inputs at their defaults, held.
    pub fn start_auxiliaries(&self) -> Vec<f64> {
        let inputs = self.inputs.iter().map(|i| i.default);
        let slopes = self.inputs.iter().map(|_| 0.0);
        inputs.chain(slopes).chain(self.states.iter().map(|s| s.start)).collect()
    }

    /// Their rates at a state; `out` has [`Model::auxiliaries`] entries.
    pub fn auxiliary_rates<S: Scalar>(&self, x: &impl States<S>, out: &mut [S]) {
        let n = self.inputs.len();
        for (k, out) in out.iter_mut().enumerate() {
            *out = match k {
                k if k < n => x.auxiliary(n + k),
                k if k < 2 * n => S::zero(),
                k => law_value(self, &self.states[k - 2 * n].rate, x, (S::zero(), S::zero())),
            };
        }
    }

    /// Whether an expression reads a state directly.
    pub fn reads_state(&self, law: &StateLaw) -> bool {
        law.variables.iter().any(|v| matches!(v, Variable::Auxiliary(k) if *k >= self.first_state()))
    }
}

/// A text with static lifetime, for units of columns, of which there are few.
pub(crate) fn lasting(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(found) = known.get(text) {
        return found;
    }
    let kept: &'static str = Box::leak(text.to_string().into_boxed_str());
    known.insert(kept);
    kept
}
