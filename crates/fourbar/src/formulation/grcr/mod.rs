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
mod named_dependents;
mod passage;
pub mod reaction;
pub mod schedule;
pub mod spatial;
mod system;
pub mod tree;
mod tree_choice;

pub use describe::describe;
pub use mechanism::Mechanism;
pub use system::{errors, start};

use crate::diagnostic::Diagnostic;
use crate::settings::word;

/// Treatment of loops that extend beyond their own end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Coupling {
    /// The cheaper one by the static count.
    #[default]
    Auto,
    /// Arbitrary coordinate selection: real joints in the tree, rows carried past independent columns.
    Acs,
    /// General coupled loops: the last body of every loop floats on fictitious free columns, and its real joints are closing joints.
    Gcl,
    /// Plain recursive coordinate reduction: the last coordinates of every loop are dependent; an error if this is impossible.
    Rcr,
}

/// Parent of the fictitious joints of general coupled loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fictitious {
    /// The ground: all loops have one base body, as in [Critchley03, Fig. 8b].
    #[default]
    Ground,
    /// The preceding body in the tree: loops have separate base bodies, as in Fig. 8a.
    Parent,
}

/// Constraints that are closed in every evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Closed {
    /// Positions and velocities.
    #[default]
    Positions,
    /// Velocities alone: dependent speeds follow from the independent ones, positions drift.
    Velocities,
    /// Nothing: only accelerations satisfy the constraints, and positions and velocities drift.
    Nothing,
}

/// Options of the formulation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Cut joints and one dense matrix instead of the recursion.
    pub cut: bool,
    /// Choice between carried rows and fictitious joints.
    pub coupling: Coupling,
    /// Parent of fictitious joints.
    pub fictitious: Fictitious,
    /// Which constraints are closed.
    pub closed: Closed,
    /// Joints whose coordinates are to be dependent at the start; if empty, they are chosen.
    pub dependents: Vec<String>,
}

impl Options {
    /// Options of a study.
    pub fn of(options: &[(String, String)]) -> Result<Self, Diagnostic> {
        let wanted = |key: &str| options.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.trim());
        let names = wanted("dependents").unwrap_or_default();
        let dependents: Vec<String> = names.split(',').map(str::trim).filter(|n| !n.is_empty()).map(String::from).collect();
        let couplings = [("auto", Coupling::Auto), ("acs", Coupling::Acs), ("gcl", Coupling::Gcl), ("rcr", Coupling::Rcr)];
        let coupling = word(options, "coupling", &couplings)?;
        if coupling == Coupling::Rcr && !dependents.is_empty() {
            return Err(Diagnostic::new(
                "U304",
                "`coupling=rcr` takes the last coordinates of every loop, so `dependents` cannot be named",
            )
            .help("leave one of the two options out"));
        }
        Ok(Self {
            cut: word(options, "loops", &[("recursive", false), ("cut", true)])?,
            coupling,
            fictitious: word(options, "fictitious", &[("ground", Fictitious::Ground), ("parent", Fictitious::Parent)])?,
            closed: word(
                options,
                "closed",
                &[("positions", Closed::Positions), ("velocities", Closed::Velocities), ("nothing", Closed::Nothing)],
            )?,
            dependents,
        })
    }
}
