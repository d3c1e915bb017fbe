//! Methods for first-order systems, whose state may be in a group: explicit ones of Munthe-Kaas type, and Radau IIA for stiff forces.

mod carried;
mod explicit;
mod method;
mod radau;
mod stiffness;
mod system;
mod tableau;
#[cfg(test)]
mod tests;
mod track;

pub use carried::Carried;
pub use explicit::Explicit;
pub use system::{System, largest_turn};
pub use tableau::{Estimate, TABLEAUS, Tableau, Weights, combined_error};

use crate::analysis::contacts::refuse_rigid;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::Motion;
use crate::settings::Study;

/// Starts the integration of a system at a time with a method by name.
pub fn start<'m, S: System + 'm>(
    system: S,
    model: &'m Model,
    study: &Study,
    integrator: &'static str,
    t: f64,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    refuse_rigid(model)?;
    if integrator == "radau" {
        return Ok(Box::new(radau::Radau::new(system, model, study, t)?));
    }
    Ok(Box::new(Explicit::new(system, model, study, integrator, t)?))
}
