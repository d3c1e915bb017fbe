//! The mechanism as data: the author's specification ([`ModelSpec`]), which is checked and converted into an immutable [`Model`].
//!
//! The crate contains bodies, joints, couplings, drives, forces and expressions, each with its geometry and laws written once over any
//! scalar. The crate `fourbar` simulates mechanisms.
//!
//! Notation: `r`, `A` position and rotation matrix (body to world); a `_bar` marks body axes; six-vectors are (linear, angular);
//! SI units and radians.
#![allow(non_snake_case)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod auxiliary;
pub mod build;
pub mod codes;
pub mod constraint;
pub mod contact;
pub mod coordinate;
pub mod curve;
pub mod diagnostic;
pub mod error;
pub mod event;
pub mod expr;
pub mod force;
pub mod joint;
pub mod mechanism;
pub mod model;
mod orientation;
pub mod rolling;
mod serial;
pub mod spec;
pub mod state;
pub mod switching;
pub mod tableau;
pub mod time;
pub mod topology;

pub use diagnostic::{Code, Diagnostic};
pub use error::Error;
pub use mechanism::Mechanism;
pub use model::{BodyId, Model};
pub use spec::ModelSpec;
pub use state::{Configuration, Pose, Twist, Wrench};

/// The example of the README is run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
