//! Settings of an integration.

use crate::Error;

/// Options of the integration.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Relative tolerance of the local error, 1e-15 to 0.1; relative to the largest size a variable has reached.
    pub rel: f64,
    /// Absolute tolerance: errors of a variable that has stayed below `abs/rel` are measured against `abs`.
    pub abs: f64,
    /// Variables whose errors are measured against `rel` times a fixed size instead of the largest value reached,
    /// such as angles that grow with every turn.
    pub sizes: Vec<(String, f64)>,
    /// Variables whose errors are measured against `rel` times the largest value reached, but at least `rel` times this size, in place
    /// of [`abs`](Self::abs).
    pub least: Vec<(String, f64)>,
    /// Last stage of the expansion, 4 to 60; `None` chooses it from the tolerance.
    pub order: Option<usize>,
    /// First step; `None` determines it automatically.
    pub first_step: Option<f64>,
    /// Largest step.
    pub max_step: f64,
    /// Maximum number of steps in one call of [`Integrator::run_to`](crate::Integrator::run_to).
    pub max_steps: usize,
    /// Project onto constraints and hidden constraints after each step.
    pub project: bool,
    /// Adjust the order during the integration to the counted cost of a step.
    pub variable_order: bool,
    /// Systems up to this many unknowns are factorised densely; `benches/chain.rs` measures the break-even point.
    pub dense_limit: usize,
    /// Measure the time spent in each part.
    pub profile: bool,
}

impl Options {
    /// Defaults for a relative tolerance; the absolute one is a thousandth of it.
    pub fn new(rel: f64) -> Self {
        Self {
            rel,
            abs: 1e-3 * rel,
            sizes: Vec::new(),
            least: Vec::new(),
            order: None,
            first_step: None,
            max_step: f64::INFINITY,
            max_steps: 10_000_000,
            project: true,
            variable_order: false,
            dense_limit: fourbar_math::factor::DENSE_LIMIT,
            profile: false,
        }
    }

    /// For results accurate to `rel` after thousands of steps: local errors of a thousandth of it. Takes a quarter more time than
    /// [`Options::new`] with the same number.
    pub fn strict(rel: f64) -> Self {
        Self::new((1e-3 * rel).max(1e-16))
    }

    /// Sets the absolute tolerance.
    pub fn abs(mut self, abs: f64) -> Self {
        self.abs = abs;
        self
    }

    /// Sets a fixed size for one variable (see [`sizes`](Self::sizes)).
    pub fn size(mut self, variable: impl Into<String>, size: f64) -> Self {
        self.sizes.push((variable.into(), size));
        self
    }

    /// Sets the order.
    pub fn order(mut self, order: usize) -> Self {
        self.order = Some(order);
        self
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let bad = |option, allowed| Err(Error::BadOption { option, allowed });
        if !(self.rel >= 9.9e-17 && self.rel <= 0.1) {
            return bad("rel", "between 1e-16 and 0.1");
        }
        if !(self.abs >= 0.0 && self.abs.is_finite()) {
            return bad("abs", "a finite number not below zero");
        }
        if self.sizes.iter().any(|s| !(s.1 > 0.0 && s.1.is_finite())) {
            return bad("size", "positive and finite");
        }
        if self.order.is_some_and(|k| !(4..=60).contains(&k)) {
            return bad("order", "between 4 and 60");
        }
        if self.first_step.is_some_and(|h| !(h.is_finite() && h != 0.0)) {
            return bad("first_step", "finite and not zero");
        }
        if self.max_step.is_nan() || self.max_step <= 0.0 {
            return bad("max_step", "positive");
        }
        Ok(())
    }
}

impl Default for Options {
    /// Tolerance 1e-10.
    fn default() -> Self {
        Self::new(1e-10)
    }
}
