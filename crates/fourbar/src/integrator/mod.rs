//! Integrators: how time passes.

pub mod explicit;
pub mod implicit;
pub mod index3;

use crate::diagnostic::Diagnostic;

/// Tolerance of adaptive runs where none is given, relative to the characteristic length.
pub const DEFAULT_TOL: f64 = 1e-6;

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
        let rho = number(options, "rho")?.unwrap_or(0.8);
        match name {
            "bdf2" => Ok(Method::Bdf2),
            "backward-euler" => Ok(Method::BackwardEuler),
            _ if (0.0..=0.95).contains(&rho) => Ok(Method::GenAlpha { rho }),
            _ => Err(Diagnostic::new("U304", format!("rho = {rho} is out of range"))
                .help("the spectral radius lies between 0 and 0.95; 1 is unstable with constraints of index 3")),
        }
    }

    /// Order of positions and velocities.
    pub fn order(&self) -> usize {
        if *self == Method::BackwardEuler { 1 } else { 2 }
    }
}

/// A numeric option, where given.
pub fn number(options: &[(String, String)], key: &str) -> Result<Option<f64>, Diagnostic> {
    match options.iter().rev().find(|(k, _)| k == key) {
        None => Ok(None),
        Some((_, text)) => match text.trim().parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(Diagnostic::new("U304", format!("option `{key}` is `{text}`, which is not a number"))
                .help(format!("write for instance `--option {key}=0.8`"))),
        },
    }
}
