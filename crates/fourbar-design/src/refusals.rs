//! Diagnostics shared by several analyses.

use crate::operator::{applied, load};
use fourbar::diagnostic::number;
use fourbar::state::Configuration;
use fourbar::{Diagnostic, Model};

/// Warning that dry friction is omitted: it holds a set of positions and has no derivative at rest.
pub fn friction(names: &[String]) -> Option<Diagnostic> {
    let list: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    let message = format!("dry friction is omitted ({}): with it every position near an equilibrium is an equilibrium", list.join(", "));
    (!names.is_empty()).then(|| Diagnostic::new("W403", message).names(names.to_vec()))
}

/// Warning that time-dependent forces are frozen at their current values.
pub fn in_time(model: &Model, state: &Configuration) -> Option<Diagnostic> {
    let load = load(model, state);
    let here = applied(model, state);
    let changes = [1e-3, 0.1, 0.37].iter().any(|dt| {
        let later = Configuration { t: state.t + dt, ..state.clone() };
        (applied(model, &later) - &here).amax() > 1e-9 * load
    });
    let message = format!("forces change with time: they are taken as they are at t = {} s", number(state.t));
    changes.then(|| Diagnostic::new("W412", message).time(state.t))
}
