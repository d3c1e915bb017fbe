//! Recursive coordinate reduction, grcr \[Critchley03\]: joint coordinates, loops by recursion, O(n + m) for any mechanism.
//!
//! One inward and one outward pass over a spanning tree with two kinds of pivot; see [`fronts`] for the recursion and
//! `docs/formulations/grcr.md` for how the paper's methods are instances of it.

mod articulated;
mod block;
pub mod close_loops;
pub mod cut_joints;
pub mod dependents;
mod describe;
pub mod fronts;
pub mod graph;
pub mod hinge;
mod householder;
pub mod joint;
pub mod loop_rows;
pub mod mechanism;
mod passage;
mod reaction;
pub mod schedule;
pub mod spatial;
mod system;
pub mod tree;
mod tree_choice;

pub use describe::describe;
pub use mechanism::Mechanism;
pub use system::start;

use crate::diagnostic::Diagnostic;

/// How loops that reach beyond their own end are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Coupling {
    /// Whichever costs less by the static count.
    #[default]
    Auto,
    /// Arbitrary coordinate selection: real joints in the tree, rows carried past independent columns.
    Acs,
    /// General coupled loops: the last body of every loop floats on fictitious free columns, and its real joints close.
    Gcl,
}

/// Options of the formulation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Cut joints and one dense matrix in place of the recursion.
    pub cut: bool,
    /// Choice between carried rows and fictitious joints.
    pub coupling: Coupling,
}

impl Options {
    /// From those of a study: `loops` and `coupling`.
    pub fn of(options: &[(String, String)]) -> Result<Self, Diagnostic> {
        let wanted = |key: &str| options.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.trim());
        let cut = match wanted("loops") {
            None | Some("recursive") => false,
            Some("cut") => true,
            Some(other) => {
                return Err(Diagnostic::new("U304", format!("option `loops` is `{other}`")).help("it is `recursive` or `cut`"));
            }
        };
        let coupling = match wanted("coupling") {
            None | Some("auto") => Coupling::Auto,
            Some("acs") => Coupling::Acs,
            Some("gcl") => Coupling::Gcl,
            Some(other) => {
                return Err(Diagnostic::new("U304", format!("option `coupling` is `{other}`")).help("it is `auto`, `acs` or `gcl`"));
            }
        };
        Ok(Self { cut, coupling })
    }
}
