//! Shared by tests, benchmarks and studies: shipped models and reference trajectories ([`common`]); random mechanisms, trees and loops of
//! every joint type ([`mechanism`]), families of known linkages ([`families`]), four-bars with parameters ([`four_bar`]), parallel robots
//! ([`robot`]); errors of whole runs against their tolerance ([`tolerance`]).
#![allow(non_snake_case)]

pub mod common;
pub mod families;
pub mod four_bar;
pub mod mechanism;
pub mod robot;
pub mod tolerance;
