//! What `check` and `verify` say, as a library: redundant sets with their cures, ranges and singular poses of the joints, assembly
//! modes, doubtful numbers; and whether every formulation gives the same motion.
#![allow(non_snake_case)]

pub mod explain;
pub mod report;
pub mod text;
pub mod verify;
