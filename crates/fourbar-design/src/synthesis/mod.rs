//! Dimensional synthesis of planar four-bar linkages: paths of a coupler point, pairs of crank and rocker angles, positions of the coupler.
//!
//! Points of the plane are complex numbers. A [`FourBar`] has its fixed crank pin at `ground[0]` and its fixed rocker pin at `ground[1]`;
//! with `mode` +1 the moving pin of the rocker is to the left of the line from the crank's moving pin to the rocker's fixed pin.

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
