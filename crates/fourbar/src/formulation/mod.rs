//! Formulations: which unknowns, and how their equations are evaluated.

pub mod absolute;
pub mod dca;
pub mod grcr;
pub mod lie;
pub mod natural;
