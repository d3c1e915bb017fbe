//! Many cases of one mechanism: a plan of parameter values, cases run on all cores, one row for each, in the order of the plan.
//!
//! A [`Plan`] is a pure function from case number to parameter values, so that a sweep can be split into shards, interrupted and resumed.
//! [`execute`] runs anything for a list of case numbers on any number of threads; the result of a case depends on its number alone, so
//! results are identical to the bit however they were computed. [`Sweep`] runs the study of a mechanism for the values of a case and
//! evaluates its measures; a case that cannot be assembled or fails is an [`Outcome`] with its code, not the end of the sweep.

mod case;
mod draw;
mod execute;
mod plan;
mod sobol;

pub use case::{Build, Outcome, Parameters, Settings, Shared, Status, Sweep, Take};
pub use draw::{Draw, normal_quantile, upper_tail};
pub use execute::{execute, parts};
pub use fourbar_batch::LANES;
pub use plan::{Axis, MOST_CASES, Plan, Scheme, Values};
pub use sobol::Sobol;
