#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod checkpoint;
mod dense;
mod engine;
mod error;
mod integrate;
mod kinks;
mod mechanics;
mod options;
mod plan;
mod problem;
mod profile;
mod program;
mod record;
mod roots;
mod singular;
mod start;
mod state;
mod step;
mod structure;
mod tangents;
mod taylor;

pub use error::Error;
pub use fourbar_math::{Piecewise, Scalar, Taylor, diff};
pub use integrate::{Event, Integrator, Stop, Work};
pub use mechanics::Mechanics;
pub use options::Options;
pub use problem::{Direction, Equations, Problem};
pub use profile::Profile;
pub use record::{Node, Tape};
pub use start::Start;
pub use state::State;
pub use structure::Structure;
pub use tangents::Tangents;

#[cfg(doctest)]
#[doc = include_str!("../docs/structural-analysis.md")]
struct StructuralAnalysisPage;
