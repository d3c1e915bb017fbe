//! Time spent in the parts of a step. No cost unless requested.

use std::time::{Duration, Instant};

/// Parts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Projection,
    Coefficients,
    LinearAlgebra,
}

/// Time spent since the start of an integration, if [`Options::profile`](crate::Options::profile) is set.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Profile {
    on: bool,
    /// Stages below zero: evaluation, factorisation and correction.
    pub projection: Duration,
    /// Recurrences of all rows.
    pub coefficients: Duration,
    /// Jacobian, factorisation, solutions and their spreading to the rows.
    pub linear_algebra: Duration,
}

impl Profile {
    pub(crate) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    pub(crate) fn start(&self) -> Option<Instant> {
        self.on.then(Instant::now)
    }

    /// Adds the time since `clock` to a part and restarts the clock.
    pub(crate) fn stop(&mut self, part: Part, clock: Option<Instant>) -> Option<Instant> {
        let clock = clock?;
        let now = Instant::now();
        let spent = now - clock;
        match part {
            Part::Projection => self.projection += spent,
            Part::Coefficients => self.coefficients += spent,
            Part::LinearAlgebra => self.linear_algebra += spent,
        }
        Some(now)
    }
}
