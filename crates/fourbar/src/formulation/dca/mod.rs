//! Divide and conquer with an augmented Lagrangian and mass-orthogonal projections \[Malczyk12\], for any mechanism.
//!
//! `graph` and `tree` divide the mechanism, `describe` shows the tree, `layout` assigns the storage of every number, `kernel` holds the
//! dense operations of one front, `leaf` those of one body, `sweep` the passes up and down the tree, `penalty` the size of the penalties,
//! `solver` the iterations, `refine` multipliers to the accuracy of the data, `system` the equations in time, `geometric` redundancy that
//! depends on the geometry, `timing` the times of single fronts. Paper symbols: handles are boundary bodies, `M_11` to `M_22` the remaining
//! block of a front.

pub mod describe;
pub mod geometric;
pub mod graph;
pub mod kernel;
pub mod layout;
pub mod leaf;
pub mod options;
pub mod penalty;
pub mod refine;
pub mod solver;
pub mod sweep;
pub mod system;
pub mod timing;
pub mod tree;

pub use describe::describe;
pub use solver::{Counts, Ended, Settings, Solver, State};

/// With fewer bodies than this a single thread is used: at 300 bodies threads gave no improvement.
pub const FEWEST: usize = 4 * layout::TASK;

/// Sets the number of threads of this process, once, before the first run. False if it is set already, or if the crate was built without
/// threads. Results do not depend on it.
pub fn use_threads(n: usize) -> bool {
    #[cfg(feature = "parallel")]
    return rayon::ThreadPoolBuilder::new().num_threads(n).build_global().is_ok();
    #[cfg(not(feature = "parallel"))]
    return n == 1;
}
