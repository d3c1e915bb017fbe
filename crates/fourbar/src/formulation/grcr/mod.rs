//! Recursive coordinate reduction, grcr [Critchley03]: joint coordinates, loops by recursion, O(n + m) for any mechanism.
//!
//! One inward and one outward pass over a spanning tree with two kinds of pivot; see [`front`] for the recursion and
//! `docs/formulations/grcr.md` for how the paper's methods are instances of it.

pub mod closing;
pub mod closure;
pub mod front;
pub mod graph;
pub mod joint;
pub mod mechanism;
mod reflect;
pub mod schedule;
pub mod select;
pub mod spatial;
pub mod tree;

pub use mechanism::Mechanism;
