//! The report of `check`: all findings, as text and as one JSON object.

mod fields;
mod inertia;
mod motion;
mod words;

pub use fields::{fields, pose};
pub use words::{Facts, facts, headline, mode_lines, words};

use crate::explain::{Explanation, explain};
use fourbar::Diagnostic;
use fourbar::analysis::assembly::{self, Assembled};
use fourbar::analysis::rank::{self, FreeMotion, Mobility};
use fourbar::model::Model;
use fourbar::state::Configuration;
use fourbar::topology::{Groups, Topology};

/// All findings of `check`.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Connections of bodies and joints.
    pub topology: Topology,
    /// The consistent start, or the reason for its absence.
    pub assembled: Result<Assembled, Diagnostic>,
    /// Mobility without the drives.
    pub free: Mobility,
    /// Mobility with the drives, if there are any.
    pub driven: Option<Mobility>,
    /// Free motions without the drives.
    pub motions: Vec<FreeMotion>,
    /// Free motions that the drives leave.
    pub still_free: Vec<FreeMotion>,
    /// Redundant sets, cures, ranges, singular poses, assembly modes.
    pub explanation: Explanation,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Performs all analyses of a mechanism.
///
/// `warnings` are those of its file, which come first.
pub fn examine(model: &Model, warnings: &[Diagnostic]) -> Findings {
    let topology = Topology::new(model);
    let assembled = assembly::assemble(model);
    // A mechanism that cannot be assembled is still described, at the drawn pose.
    let drawn = Configuration::start(model);
    let start = assembled.as_ref().map_or(&drawn, |a| &a.configuration);
    let free = rank::mobility(model, start, false);
    let driven = (!model.drives.is_empty()).then(|| rank::mobility(model, start, true));
    let motions = rank::describe(model, &start.q, &free.start.motions);
    let still_free = driven.as_ref().map_or(Vec::new(), |d| rank::describe(model, &start.q, &d.start.motions));
    let explanation = explain(model, &topology, &assembled, &free, driven.as_ref());
    let mut warnings = warnings.to_vec();
    warnings.extend(assembled.as_ref().ok().and_then(|a| a.warning(model)));
    warnings.extend(explanation.doubts.iter().cloned());
    Findings { topology, assembled, free, driven, motions, still_free, explanation, warnings }
}

/// Drives that prescribe what other drives or joints already prescribe.
fn idle_drives(model: &Model, f: &Findings) -> usize {
    f.driven.as_ref().map_or(0, |d| (f.free.start.rank + model.drives.len()).saturating_sub(d.start.rank))
}

fn depth(topology: &Topology) -> usize {
    // Parents come before their children in the components.
    let mut depth = vec![0; topology.parent.len()];
    for b in topology.components.iter().flatten() {
        if let Some(p) = topology.parent[b.index()] {
            depth[b.index()] = depth[p.index()] + 1;
        }
    }
    depth.into_iter().max().unwrap_or(0)
}

/// Groups of bodies without any constraint to the ground.
fn floating(model: &Model, topology: &Topology) -> Vec<Vec<String>> {
    // Bare constraints, couplings and contacts connect bodies that joints do not.
    let mut joined = Groups::new(model.bodies.len());
    for component in &topology.components {
        component.windows(2).for_each(|pair| {
            joined.join(pair[0].index(), pair[1].index());
        });
    }
    for c in model.constraints(false).into_iter().chain(model.velocity_constraints()) {
        c.bodies.windows(2).for_each(|pair| {
            joined.join(pair[0].index(), pair[1].index());
        });
    }
    let mut groups: Vec<Vec<String>> = vec![Vec::new(); model.bodies.len()];
    for (b, body) in model.bodies.iter().enumerate() {
        groups[joined.find(b)].push(body.name.clone());
    }
    groups.into_iter().skip(1).filter(|g| !g.is_empty()).collect()
}

/// Time-dependent bare constraints.
fn in_time(model: &Model) -> Vec<&str> {
    // A constant has no derivatives at any time; two irregular times do not both hit zeros.
    let changes = |f: &fourbar::time::TimeFunction| [0.1234567, 0.7654321].iter().any(|t| f.at(*t)[1..].iter().any(|x| *x != 0.0));
    model.bare.iter().filter(|b| changes(&b.value)).map(|b| b.name.as_str()).collect()
}
