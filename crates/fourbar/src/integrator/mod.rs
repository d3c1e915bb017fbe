//! Integrators: how time passes.

pub mod control;
pub mod first_order;
pub mod implicit;
pub mod index3;
pub(crate) mod lists;
pub mod moreau;
mod output;
pub mod radau;
mod watch;
mod work;

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::study::Study;

/// Tolerance of adaptive runs where none is given, relative to the characteristic length.
pub const DEFAULT_TOL: f64 = 1e-6;

/// The least tolerance of any method: below, rounding decides, and steps would shrink without end.
pub const LEAST_TOL: f64 = 1e-15;
/// The least tolerances of methods of second and of first order: below, steps become so many that rounding and time forbid them.
const LEAST_OF_SECOND_ORDER: f64 = 1e-7;
const LEAST_OF_FIRST_ORDER: f64 = 1e-4;

/// The least tolerance that an integrator can be asked for.
pub fn least_tolerance(integrator: &str) -> f64 {
    match integrator {
        "gen-alpha" | "bdf2" => LEAST_OF_SECOND_ORDER,
        "backward-euler" => LEAST_OF_FIRST_ORDER,
        _ => LEAST_TOL,
    }
}

/// Tolerance of a study that gives none: the usual one, or the least that the integrator it names can be asked for.
pub fn usual_tolerance(study: &Study) -> f64 {
    study.integrator.as_deref().map_or(DEFAULT_TOL, |i| DEFAULT_TOL.max(least_tolerance(&i.to_lowercase())))
}

/// Tolerance of an adaptive run, relative to the characteristic length; refused where the integrator cannot keep it.
pub fn tolerance(study: &Study, integrator: &str) -> Result<f64, Diagnostic> {
    let least = least_tolerance(integrator);
    match study.tol {
        None => Ok(DEFAULT_TOL.max(least)),
        Some(tol) if tol >= least => Ok(tol),
        Some(tol) => Err(Diagnostic::new("U307", format!("{integrator} keeps tolerances down to {least:e}, not {tol:e}"))
            .help(format!("take `--formulation ra --integrator radau`, give `--tol {least:e}` or more, or a fixed step with `--step`"))),
    }
}

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

/// A numeric option that must be above zero, where given.
pub fn positive(options: &[(String, String)], key: &str) -> Result<Option<f64>, Diagnostic> {
    match number(options, key)? {
        Some(x) if x <= 0.0 => Err(Diagnostic::new("U304", format!("option `{key}` is {x}; it must be positive"))
            .help(format!("leave `{key}` out to take the default"))),
        x => Ok(x),
    }
}

/// An option that is one of some words, the first where it is left out.
pub fn word<T: Copy>(options: &[(String, String)], key: &str, choices: &[(&str, T)]) -> Result<T, Diagnostic> {
    let text = options.iter().rev().find(|(k, _)| k == key).map_or(choices[0].0, |(_, v)| v.trim());
    choices.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, x)| *x).ok_or_else(|| {
        let names: Vec<&str> = choices.iter().map(|c| c.0).collect();
        Diagnostic::new("U304", format!("option `{key}` is `{text}`")).help(format!("it is one of {}", names.join(", ")))
    })
}

/// Bodies that have come so many characteristic lengths leave no digits for the joints: runs give up there.
pub const FLUNG: f64 = 1e12;

/// The time that weighs errors of velocities against those of positions: the option `tau`, else a fiftieth of the run and at most 0.1 s.
pub fn tau(study: &Study) -> Result<f64, Diagnostic> {
    Ok(positive(&study.options, "tau")?.unwrap_or((study.t_end / 50.0).min(0.1)))
}

/// Energy that counts as small where errors of work are measured: a thousandth of what all masses have at a characteristic length in the
/// time `tau`.
pub fn little_energy(model: &Model, tau: f64) -> f64 {
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    1e-3 * mass * (model.length / tau).powi(2)
}
