//! Formulations: which unknowns, and how their equations are evaluated.

pub mod chart;
pub mod dca;
pub mod exact;
pub mod grcr;
pub mod lie;
pub mod natural;
pub mod ra;
pub mod reps;
pub mod rp;
pub mod states;
mod weak;
