//! Multibody dynamics for mechanisms: rigid bodies, joints, closed loops, redundant constraints.
//!
//! The flow has one direction: [`ModelSpec`] (what the author states) -> [`Model`] (checked, immutable) -> assembly
//! ([`analysis::assembly`]) -> an analysis that moves a [`Configuration`] -> [`Trajectory`] (what happened, in global terms).
//!
//! Notation: paper letters. `r`, `A` position and rotation matrix (body to world); an overbar in the papers is `_bar`
//! here (body axes); six-vectors are (linear, angular); constraint force is `-Phi_q^T lambda`; SI units and radians.
#![allow(non_snake_case)]

pub mod analysis;
pub mod choice;
pub mod evaluate;
pub mod formulation;
pub mod inputs;
pub mod integrator;
pub mod judge;
pub mod motion;
pub mod random;
pub mod schur;
pub mod simulation;
pub mod study;
pub mod trajectory;

pub use fourbar_model::{
    auxiliary, build, codes, constraint, coordinate, curve, diagnostic, error, expr, force, joint, mechanism, model, rolling, spec, state,
    time, topology,
};

pub use diagnostic::{Code, Diagnostic};
pub use error::Error;
pub use evaluate::Evaluation;
pub use mechanism::Mechanism;
pub use model::{BodyId, Model};
pub use simulation::{Simulation, Snapshot};
pub use spec::ModelSpec;
pub use state::{Configuration, Pose, Velocity};
pub use trajectory::Trajectory;
