//! Multibody dynamics for mechanisms: rigid bodies, joints, closed loops, redundant constraints.
//!
//! The flow has one direction: [`ModelSpec`] (what the author states) -> [`Model`] (checked, immutable) -> assembly
//! ([`analysis::assembly`]) -> an analysis that moves a [`Configuration`] -> [`Trajectory`] (what happened, in global terms).
//!
//! Notation: paper letters. `r`, `A` position and rotation matrix (body to world); an overbar in the papers is `_bar`
//! here (body axes); six-vectors are (linear, angular); constraint force is `-Phi_q^T lambda`; SI units and radians.
#![allow(non_snake_case)]

pub mod analysis;
pub mod build;
pub mod choice;
pub mod codes;
pub mod constraint;
pub mod coordinate;
pub mod diagnostic;
pub mod expr;
pub mod force;
pub mod formulation;
pub mod integrator;
pub mod joint;
pub mod judge;
pub mod model;
pub mod motion;
pub mod random;
#[doc(hidden)]
pub mod random_families;
pub mod random_mechanism;
pub mod random_robot;
pub mod rolling;
pub mod schur;
pub mod simulation;
pub mod spec;
pub mod state;
pub mod study;
pub mod time;
pub mod topology;
pub mod trajectory;
pub mod verify;

pub use diagnostic::{Code, Diagnostic};
pub use model::{BodyId, Model};
pub use simulation::{Simulation, Snapshot};
pub use spec::ModelSpec;
pub use state::{Configuration, Pose, Velocity};
pub use trajectory::Trajectory;
