//! Mechanisms as functional mock-up units: FMI 3.0, co-simulation.
//!
//! One shared library serves every mechanism: it reads the model from the resources of the unit. [`Unit`] is the mechanism with its
//! variables, [`description`] its XML, [`package`](fn@package) the whole unit; [`Instance`] is what an importer holds, in plain Rust, and [`border`] the
//! functions of the standard around it.
//!
//! The present of an instance is that of a [`fourbar::Simulation`] advanced to the same communication points, to the bit.

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
