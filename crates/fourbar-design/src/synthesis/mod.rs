//! Dimensions of planar four-bar linkages from what they are to do: paths of a coupler point, pairs of crank and rocker angles, positions of
//! the coupler.
//!
//! Points of the plane are complex numbers. A [`FourBar`] stands with its crank pin at `ground[0]` and its rocker pin at `ground[1]`;
//! `mode` +1 has the coupler pin of the rocker to the left of the line from the crank pin to the rocker's fixed pin.

mod complex;
mod function;
mod linkage;
mod motion;
mod path;

pub use complex::Complex;
pub use function::{FunctionFit, function};
pub use linkage::FourBar;
pub use motion::{Given, dyads, motion};
pub use path::{Found, Task, Timing, path};
