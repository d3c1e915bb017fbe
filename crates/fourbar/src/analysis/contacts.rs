//! Checks of contacts before a run.

use crate::coordinate::PoseOf;
use crate::diagnostic::{Diagnostic, number};
use crate::force::Force;
use crate::model::Model;
use crate::state::Configuration;

/// Overlap of a rigid contact that counts as rounding, in characteristic lengths.
const ROUNDING: f64 = 1e-6;
/// A compliant contact with an initial force above this multiple of the mechanism's weight was drawn inside the other body.
const WEIGHTS: f64 = 100.0;
/// So was, without gravity, one with an overlap of this many characteristic lengths.
const DEEP: f64 = 1e-3;

/// Refuses rigid contacts, for methods that do not support them.
pub fn refuse_rigid(model: &Model) -> Result<(), Diagnostic> {
    let Some(contact) = model.contacts.first() else { return Ok(()) };
    let what = match model.contacts.len() - 1 {
        0 => format!("contact `{}` is rigid", contact.name),
        others => format!("contact `{}` and {others} more are rigid", contact.name),
    };
    Err(Diagnostic::new("S320", format!("{what}, which this method does not support"))
        .names(model.contacts.iter().map(|c| c.name.clone()).take(8))
        .at(format!("contacts.{}", contact.name))
        .help("take steps that include impacts: `--formulation ra --integrator moreau`, or make the contact compliant by a `stiffness`"))
}

/// Warnings about bodies that overlap at the start.
pub fn overlaps(model: &Model, start: &Configuration) -> Vec<Diagnostic> {
    let pose = |b: usize| PoseOf { r: start.q[b].r, A: start.q[b].A };
    let weight = model.bodies.iter().map(|b| b.mass).sum::<f64>() * model.gravity.norm();
    let mut list = Vec::new();
    let mut warn = |name: &str, overlap: f64| {
        list.push(
            Diagnostic::new("W320", format!("the bodies of contact `{name}` overlap by {} m at the start", number(overlap)))
                .name(name)
                .at(format!("contacts.{name}"))
                .help("draw them apart, or just touching: what overlaps at the start is pushed apart at once, or stays overlapped"),
        );
    };
    for c in &model.contacts {
        let gap = c.spots.least_gap(0.0, &pose);
        if gap < -ROUNDING * model.length {
            warn(&c.name, -gap);
        }
    }
    for (name, force) in &model.forces {
        let Force::Contact(c) = force else { continue };
        let gap = c.spots.least_gap(0.0, &pose);
        let [_, elastic] = c.law.normal(gap, 0.0);
        let deep = if weight > 0.0 { elastic > WEIGHTS * weight } else { gap < -DEEP * model.length };
        if deep {
            warn(name, -gap);
        }
    }
    list
}
