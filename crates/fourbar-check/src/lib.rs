//! The analyses of `check` and `verify` as a library: redundant sets with their cures, ranges and singular poses of the joints, assembly
//! modes, implausible data; and the agreement of all formulations.
#![allow(non_snake_case)]

pub mod explain;
pub mod report;
pub mod text;
pub mod verify;
