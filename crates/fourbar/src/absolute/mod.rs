//! Absolute coordinates: poses of all bodies with the multipliers of all constraints.
//!
//! [`equations`] evaluates residuals and solves with the joint Schur complement, for the implicit formulations and for the explicit ones on
//! groups; [`chart`] is the common interface of `ra`, [`rp`] and [`reps`]: storage and increments of rotations.

pub mod chart;
pub mod equations;
pub mod linear;
pub mod reps;
pub mod rp;
pub mod states;
mod weak;
