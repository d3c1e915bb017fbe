//! Formulations: the choice of unknowns and the evaluation of their equations.

pub mod dca;
pub mod grcr;
pub mod lie;
mod list;
pub mod natural;

pub use list::{Chosen, FORMULATIONS, FormulationInfo, Start, formulation};
pub(crate) use list::{did_you_mean, named_integrator};
