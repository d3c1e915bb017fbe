//! Multibody dynamics for mechanisms: rigid bodies, joints, closed loops, redundant constraints.
//!
//! Data flow in one direction: [`ModelSpec`] (the user's specification) -> [`Model`] (checked, immutable) -> assembly
//! ([`analysis::assembly`]) -> an analysis that advances a [`Configuration`] -> [`Trajectory`] (the results, in global coordinates).
//!
//! [`Simulation`] advances a mechanism in time; [`study::run`] runs a whole study; [`Evaluation`] computes accelerations,
//! matrices, free motions and inverse dynamics at a state; [`Mechanism`] builds mechanisms in Rust.
//!
//! ```
//! use fourbar::Simulation;
//! use fourbar::mechanism::{Body, GROUND, Mechanism};
//! use fourbar::study::Study;
//! use std::sync::Arc;
//!
//! let model = Mechanism::new()
//!     .gravity([0.0, 0.0, -9.81])
//!     .body("rod", Body::new().mass(1.0).inertia([1e-4, 1.0 / 12.0, 1.0 / 12.0]).at([0.5, 0.0, 0.0]))
//!     .revolute("pin", GROUND, "rod").at([0.0, 0.0, 0.0]).axis([0.0, 1.0, 0.0])
//!     .build()?;
//! let model = Arc::new(model);
//! let mut pendulum = Simulation::new(&model, &Study::of(&model))?;
//! pendulum.advance(0.2)?;
//! let pin = pendulum.snapshot().joint("pin")?;
//! assert!(pin.angle > 0.2 && pin.speed > 2.0);
//! # Ok::<(), fourbar::Error>(())
//! ```
//!
//! Notation as in the papers: `r`, `A` position and rotation matrix (body to world); an overbar in the papers is `_bar`
//! here (body axes); six-vectors are (linear, angular); constraint force is `-Phi_q^T lambda`; SI units and radians.
#![allow(non_snake_case)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod analysis;
pub mod evaluate;
pub mod events;
pub mod inputs;
pub mod kinematics;
pub mod motion;
pub mod simulation;
pub mod singular;
pub mod stop;
pub mod structure;
pub mod study;
pub mod trajectory;

// Internal parts of the engine: public for tests, benchmarks and the crates that explain results, without a stable interface.
#[doc(hidden)]
pub mod absolute;
#[doc(hidden)]
pub mod auto;
#[doc(hidden)]
pub mod engine;
#[doc(hidden)]
pub mod formulation;
mod hubs;
#[doc(hidden)]
pub mod integrator;
#[doc(hidden)]
pub mod judge;
#[doc(hidden)]
pub mod projector;
#[doc(hidden)]
pub mod random;
mod report;
#[doc(hidden)]
pub mod schur;
mod settings;
mod snapshot;

#[doc(no_inline)]
pub use fourbar_model::{
    auxiliary, build, codes, constraint, contact, coordinate, curve, diagnostic, error, event, expr, force, joint, mechanism, model,
    rolling, spec, state, switching, tableau, time, topology,
};

pub use diagnostic::{Code, Diagnostic};
pub use error::Error;
pub use evaluate::Evaluation;
pub use mechanism::Mechanism;
pub use model::{BodyId, Model};
pub use simulation::{Simulation, Snapshot};
pub use spec::ModelSpec;
pub use state::{Configuration, Pose, Twist, Wrench};
pub use structure::Structure;
pub use trajectory::Trajectory;

/// The example of the README is run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
