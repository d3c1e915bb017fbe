//! Formulations: which unknowns, and how their equations are evaluated.

pub mod exact;
pub mod lie;
pub mod ra;
