//! Integrators.

pub mod control;
pub mod first_order;
pub mod implicit;
pub mod index3;
pub(crate) mod lists;
pub mod moreau;
pub mod narrow;
mod output;
pub mod radau;
mod watch;
mod work;

pub use crate::settings::{DEFAULT_TOL, LEAST_TOL, least_tolerance, number, positive, tau, tolerance, usual_tolerance, word};

use crate::diagnostic::Diagnostic;

/// An implicit one-step or two-step method for the index-3 equations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Lie-group generalized-alpha with the given spectral radius at infinity; second order.
    GenAlpha {
        /// Spectral radius, at most 0.95.
        rho: f64,
    },
    /// Two-step backward differentiation; second order.
    Bdf2,
    /// Backward Euler [Kissel21, Eqs. (32)-(38)]; first order.
    BackwardEuler,
}

impl Method {
    /// The method of a name and its options.
    pub fn new(name: &str, options: &[(String, String)]) -> Result<Self, Diagnostic> {
        match name {
            "bdf2" => return Ok(Method::Bdf2),
            "backward-euler" => return Ok(Method::BackwardEuler),
            _ => {}
        }
        let rho = number(options, "rho")?.unwrap_or(0.8);
        if (0.0..=0.95).contains(&rho) {
            return Ok(Method::GenAlpha { rho });
        }
        Err(Diagnostic::new("U304", format!("rho = {rho} is out of range"))
            .help("the spectral radius lies between 0 and 0.95; 1 is unstable with constraints of index 3"))
    }

    /// Order of positions and velocities.
    pub fn order(&self) -> usize {
        if *self == Method::BackwardEuler { 1 } else { 2 }
    }
}

/// Runs end when bodies have moved this many characteristic lengths, since no digits are left for the joints.
pub const FLUNG: f64 = 1e12;
