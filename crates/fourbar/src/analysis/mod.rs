//! Analyses: what can be asked of a mechanism.

pub mod assembly;
pub mod eliminate;
pub mod independent;
pub mod jumps;
pub mod kinematics;
pub mod massless;
pub mod passages;
pub mod rank;
pub mod redundancy;
pub mod singular;
pub mod unique;
