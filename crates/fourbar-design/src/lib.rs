//! What designers ask of a mechanism before they ask for a motion: where it rests, how it carries a growing load, how it vibrates, and its
//! linear model from inputs to outputs.
//!
//! Everything stands on one [`operator`]: the derivatives of forces and constraints at a state, exact, with the null spaces of the
//! constraints, redundant or not. [`equilibrium`] settles a mechanism, [`path`] follows an equilibrium while a parameter changes, [`linear`]
//! gives state-space matrices about an equilibrium or a steady motion, and [`modes`] their eigenvalues, in words. [`inverse`] finds the
//! efforts of motors for a path, [`sizing`] what they go through, and [`measure`] takes one number from a run; [`sensitivities`] says how all of these
//! follow the parameters of a file.
//!
//! What comes of many runs stands on [`sweep`], plans of cases that run on all cores, and on [`measure`], one number of a run: [`tolerance`] asks
//! what deviations do, [`optimize`] looks for the best values, and [`synthesis`] finds planar four-bars from what they are to do.
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
