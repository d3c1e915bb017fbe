//! Mechanisms as functional mock-up units: FMI 3.0, co-simulation.
//!
//! One shared library serves every mechanism: it reads the model from the resources of the unit. [`Unit`] is the mechanism with its
//! variables, [`description`] its XML, [`package`](fn@package) the whole unit; [`Instance`] is the instance for an importer, in plain Rust,
//! and [`border`] has the functions of the standard for it.
//!
//! The state of an instance is bit-identical to that of a [`fourbar::Simulation`] advanced to the same communication points.

pub mod border;
mod description;
mod instance;
mod package;
mod saved;
mod unit;

pub use description::description;
pub use instance::{Instance, Level, Message, Refused, Stepped};
pub use package::{LIBRARY, Platform, contents, package, platform};
pub use saved::Saved;
pub use unit::{Causality, Source, Unit, Variable};

/// The name of the library in a unit, without ending: `modelIdentifier` of the standard.
pub const IDENTIFIER: &str = "fourbar_fmi";
