//! Unique reaction components of mechanisms with redundant constraints.
//!
//! Self-stresses are the null vectors of `Phi_q^T`; a component is unique exactly when it vanishes in every self-stress. Small mechanisms
//! are analysed with the singular values of the rank, in the same scaling and with the same tolerance: every redundant row implies a
//! self-stress. For large ones random vectors filtered through `mu (S + mu)^-1` span the self-stresses with probability one, at the cost of
//! a few solves with the sparse factor.

use crate::analysis::rank::DENSE;
use crate::analysis::redundancy::Part;
use crate::constraint::ConstraintSet;
use crate::force::load::NormalLoads;
use crate::model::Model;
use crate::motion::{Loads, Reaction};
use crate::projector::Projector;
use crate::random::Random;
use crate::schur::unit_weights;
use crate::state::{Configuration, Pose};
use crate::topology::is_forest;

/// Components that change by less than this fraction of the self-stress are unique.
const TOLERANCE: f64 = 1e-5;
/// For large mechanisms: number of random vectors, of filters for each, and the shift of the matrix, whose entries are of the order of one.
const PROBES: usize = 3;
const FILTERS: usize = 20;
const SHIFT: f64 = 1e-12;
/// Load on the bodies, relative to itself, below which a filtered vector is a self-stress, and below which it is exactly one.
const STRESS: f64 = 1e-7;
const CLEAN: f64 = 1e-10;

/// Joints with reaction components that are not unique at a pose: `force.x` and so on.
pub fn not_unique(model: &Model, at: &Configuration) -> Vec<(String, Vec<String>)> {
    not_unique_in(model, &ConstraintSet::new(model.all_constraints(), |_| false), at)
}

/// The same for a given layout of constraints.
pub fn not_unique_in(model: &Model, set: &ConstraintSet, at: &Configuration) -> Vec<(String, Vec<String>)> {
    if is_forest(model) {
        return Vec::new();
    }
    let stresses = self_stresses(model, set, at);
    let loads = Loads::new(model, set);
    let mut touched = vec![[false; 6]; model.joints.len()];
    for z in &stresses {
        let wrenches: Vec<Reaction> = (0..model.joints.len()).map(|k| loads.reaction(model, set, k, &at.q, z)).collect();
        // Drives and bare rows are included in the scale: the effect of their self-stress on a joint may be rounding.
        let rows = z.iter().fold(0.0_f64, |s, z| s.max(z.abs()));
        let size = wrenches.iter().fold(rows, |s, w| s.max(w.force.amax()).max(w.torque.amax() / model.length));
        for (touched, Reaction { force, torque }) in touched.iter_mut().zip(&wrenches) {
            for i in 0..3 {
                touched[i] |= force[i].abs() > TOLERANCE * size;
                touched[3 + i] |= torque[i].abs() > TOLERANCE * size * model.length;
            }
        }
    }
    const NAMES: [&str; 6] = ["force.x", "force.y", "force.z", "torque.x", "torque.y", "torque.z"];
    touched
        .iter()
        .enumerate()
        .filter(|(_, t)| t.iter().any(|x| *x))
        .map(|(k, t)| (model.joints[k].name.clone(), (0..6).filter(|&i| t[i]).map(|i| NAMES[i].to_string()).collect()))
        .collect()
}

/// Whether friction depends on a load that is not unique at a pose: a self-stress loads its joint.
pub fn friction_is_shared(model: &Model, at: &Configuration) -> bool {
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    let stresses = self_stresses(model, &set, at);
    let mut loads = NormalLoads::new(model, &set);
    stresses.iter().any(|z| {
        loads.update(&set, &at.q, z);
        let size = z.iter().fold(0.0_f64, |s, z| s.max(z.abs()));
        loads.by_joint.iter().any(|load| *load > TOLERANCE * size)
    })
}

/// Multipliers that load constraints but no body at a pose.
fn self_stresses(model: &Model, set: &ConstraintSet, at: &Configuration) -> Vec<Vec<f64>> {
    if set.rows().max(6 * model.moving()) <= DENSE {
        let members: Vec<usize> = (0..set.list.len()).collect();
        Part::new(&set.list, &members, &at.q, model.length).self_stresses()
    } else {
        filtered(model, set, &at.q)
    }
}

/// Random combinations of all self-stresses of a large mechanism.
fn filtered(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Vec<Vec<f64>> {
    let mut p = Projector::new(set, unit_weights(model));
    p.factor(set, q, SHIFT);
    let mut random = Random(0x5151_5151_1234_4321);
    let mut found = Vec::new();
    for _ in 0..PROBES {
        p.x.iter_mut().for_each(|x| *x = random.number());
        let mut loaded = f64::INFINITY;
        for _ in 0..FILTERS {
            let load = p.filter(set, SHIFT, model.length);
            let size = p.size();
            if size < 1e-9 {
                loaded = f64::INFINITY;
                break;
            }
            loaded = load / size;
            if loaded <= CLEAN {
                break;
            }
        }
        if loaded <= STRESS {
            found.push(p.x.clone());
        }
    }
    found
}
