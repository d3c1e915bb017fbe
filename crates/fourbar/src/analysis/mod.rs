//! Analyses of a mechanism.

pub mod assembly;
#[doc(hidden)]
pub mod contacts;
pub mod drag;
#[doc(hidden)]
pub mod eliminate;
pub mod independent;
#[doc(hidden)]
pub mod jumps;
pub mod rank;
#[doc(hidden)]
pub mod redundancy;
pub mod uniqueness;
