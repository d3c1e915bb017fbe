//! Orders of elimination.
//!
//! Two of them, for two kinds of matrices. Blocks are few: their graph is kept as it is filled, degrees are weighted by the sizes of the
//! blocks, and the fill is handed out with the order. Entries are many: the graph of cliques is never written out, degrees are estimates,
//! and what nearly everything is joined to comes last.

mod blocks;
mod entries;

pub(crate) use blocks::eliminate;
pub use entries::minimum_degree;
