//! Design analyses of a mechanism: equilibria, load paths, vibrations, and linear models from inputs to outputs.
//!
//! All of them use one [`operator`]: the exact derivatives of forces and constraints at a state, with the null spaces of the
//! constraints, redundant or not. [`equilibrium`] computes equilibria, [`path`] follows an equilibrium over a parameter, [`linear`]
//! computes state-space matrices about an equilibrium or a steady motion, and [`modes`] their eigenvalues with a description. [`inverse`]
//! computes motor efforts for a path, [`sizing`] the loads of the motors, and [`measure`] one number from a run; [`sensitivities`]
//! differentiates all of these with respect to the parameters of a file.
//!
//! Studies of many runs use [`sweep`], plans of cases that run on all cores, and [`measure`]: [`tolerance`] analyses the effect of
//! deviations, [`optimize`] searches for optimal values, and [`synthesis`] designs planar four-bars for a given task.
//!
//! Notation as in the engine: six-vectors are (linear in the world, angular in body axes), increments `dq = (dr, theta_bar)`, the constraint
//! force is `-G^T lambda`.
#![allow(non_snake_case)]

pub mod about;
pub mod equilibrium;
pub mod inverse;
mod kkt;
pub mod linear;
pub mod manifold;
pub mod measure;
pub mod modes;
pub mod operator;
pub mod optimize;
pub mod path;
mod pencil;
pub mod redraw;
mod refusals;
pub mod sensitivities;
pub mod sizing;
pub mod sweep;
pub mod synthesis;
mod tangent;
pub mod tolerance;
#[doc(hidden)]
#[allow(missing_docs)]
pub mod tree;
pub mod words;
