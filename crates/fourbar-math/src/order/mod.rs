//! Elimination orders.
//!
//! There are two, for two kinds of matrices. Blocks are few: their graph is stored with its fill, degrees are weighted by block size, and
//! the fill is returned with the order. Entries are many: cliques are not stored explicitly, degrees are estimates, and nodes coupled with
//! nearly all others come last.

mod blocks;
mod entries;

pub(crate) use blocks::eliminate;
pub use entries::minimum_degree;
