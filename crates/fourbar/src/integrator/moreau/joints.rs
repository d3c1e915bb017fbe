//! Joint limits and sticking friction in joints, in addition to the contacts of a step: impulses along joint coordinates.

use super::active::{Active, Kept, Key};
use crate::event::{Bounded, Limit};
use crate::force::Friction;
use crate::force::eval::{Plain, coordinate_of};
use crate::model::{JointCoordinate, Model};
use crate::motion::Switched;
use crate::state::Wrench;
use std::collections::HashMap;

/// Element to which an impulse of a step belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A contact of the mechanism.
    Contact(usize),
    /// A limit of a joint.
    Limit(usize),
    /// A force with sticking friction.
    Friction(usize),
}

/// Element of a key: limits are numbered after the contacts, and friction after the limits.
pub fn of(model: &Model, key: &Key) -> Of {
    let (k, contacts, limits) = (key.0 as usize, model.contacts.len(), model.limits.len());
    match k {
        k if k < contacts => Of::Contact(k),
        k if k < contacts + limits => Of::Limit(k - contacts),
        k => Of::Friction(k - contacts - limits),
    }
}

/// Friction that is treated by time stepping, with its place among the forces.
pub fn frictions(model: &Model) -> impl Iterator<Item = (usize, &Friction)> {
    model.forces.iter().enumerate().filter_map(|(k, (_, f))| Some((k, f.sticks().filter(|f| f.stepped)?)))
}

/// The row of the coordinate that friction acts on.
fn row_of(model: &Model, f: &Friction) -> Limit {
    let of = Bounded::Position(f.coordinate(model));
    Limit { name: String::new(), joint: f.joint, of, bound: 0.0, side: 1.0, restitution: 0.0, spot: None }
}

/// Closed limits, and all friction, at a state.
pub fn find(model: &Model, x: &Plain<'_>, slack: f64, out: &mut Vec<Active>) {
    let mut add = |k: usize, l: &Limit, gap: f64| {
        let (row, none) = (l.row(model, x.q), Wrench::zero());
        let along = Active::along((k as u32, 0, 0), [row[0].0, row[1].0], [[row[0].1, none, none], [row[1].1, none, none]]);
        out.push(Active { gap, ..along });
    };
    let first = model.contacts.len();
    // Friction first: a limit carries the remaining load.
    for (k, f) in frictions(model) {
        add(first + model.limits.len() + k, &row_of(model, f), 0.0);
    }
    for (k, l) in model.limits.iter().enumerate().filter(|(_, l)| l.bound.is_finite()) {
        match l.of {
            Bounded::Rate(_) => add(first + k, l, 0.0),
            _ => {
                let size = if matches!(l.of, Bounded::Position(JointCoordinate::Angle)) { 1.0 / model.length } else { 1.0 };
                let gap = l.gap(model, x.q, x.v, x.turns);
                if gap <= slack * size {
                    add(first + k, l, gap);
                }
            }
        }
    }
}

/// Conditions of a limit or friction in a step of length `h`, from the velocities before it, which are in `a.before`.
pub fn prepare(model: &Model, x: &Plain<'_>, h: f64, kept: &HashMap<Key, Kept>, a: &mut Active) {
    let memory = kept.get(&a.key);
    match of(model, &a.key) {
        Of::Contact(_) => {}
        Of::Limit(k) => {
            let (l, u) = (&model.limits[k], a.before.x);
            a.target.x = match l.of {
                Bounded::Rate(_) => l.side * l.bound,
                // As at a contact.
                _ if u < 0.0 => -l.restitution * u,
                _ => -u,
            };
        }
        Of::Friction(k) => {
            let Some(f) = model.forces[k].1.sticks() else { return };
            let (_, rate) = coordinate_of(model, f.joint, Some(f.coordinate(model)), x);
            let load = x.loads.get(f.joint).copied().unwrap_or(0.0);
            let stuck = memory.map_or(rate.abs() < 1e-6, |k| k.stuck);
            let bound = if stuck { f.bound(model, load) } else { f.sliding_bound(model, load, rate) };
            a.within = Some(h * bound);
        }
    }
}

/// Whether friction holds its joint with less than its bound.
pub fn holds(a: &Active) -> bool {
    a.within.is_some_and(|bound| a.P.x.abs() < bound * (1.0 - 1e-9) || bound == 0.0)
}

/// Mean loads of limits and friction in a step of length `h`.
pub fn loads(model: &Model, active: &[Active], h: f64) -> Switched {
    let mut out = Switched { limits: vec![0.0; model.limits.len()], ..Switched::default() };
    out.frictions = frictions(model).map(|(k, _)| (k, 0.0, false)).collect();
    if h <= 0.0 {
        return out;
    }
    for a in active {
        let effort = a.P.x / h;
        match of(model, &a.key) {
            Of::Contact(_) => {}
            Of::Limit(k) => {
                let l = &model.limits[k];
                out.limits[k] = l.side * effort;
                if let Bounded::Position(which) | Bounded::Rate(which) = l.of {
                    out.held.push((l.joint, which, l.side * effort));
                }
            }
            Of::Friction(k) => {
                out.frictions.iter_mut().filter(|f| f.0 == k).for_each(|f| (f.1, f.2) = (effort, holds(a)));
                if let (true, Some(f)) = (holds(a), model.forces[k].1.sticks()) {
                    out.held.push((f.joint, f.coordinate(model), effort));
                }
            }
        }
    }
    out
}
