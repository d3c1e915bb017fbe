//! Mathematics of the Fourbar engine: scalars with derivatives, rotations, and a sparse block
//! factorisation for the constraint equations of mechanisms.
//!
//! The crate is independent of bodies and joints.
#![allow(non_snake_case)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod block;
pub mod block_lu;
pub mod dense;
pub mod elementary;
pub mod factor;
mod order;
pub mod piecewise;
pub mod range;
pub mod recurrence;
pub mod runge_kutta;
pub mod scalar;
pub mod se3;
pub mod slope;
pub mod so3;
pub mod taylor;
pub mod trig;

pub use block::{BlockPattern, BlockSolver};
pub use block_lu::{BlockLu, LuPattern};
pub use piecewise::Piecewise;
pub use range::Range;
pub use scalar::{Scalar, diff};
pub use taylor::{Dual, Taylor};
