//! Which reaction components are unique where constraints are redundant.
//!
//! Self-stresses are the null vectors of `Phi_q^T`. Random vectors filtered twice through `(S + E)^-1 E` span them with
//! probability one, at the price of a few solves with the sparse factor. A component is unique exactly when every
//! self-stress leaves it alone.

use crate::formulation::ra::Equations;
use crate::model::Model;
use crate::motion::{Loads, Wrench};
use crate::random::Random;
use crate::state::Configuration;

/// Components that move by less than this share of the self-stress are unique.
const TOLERANCE: f64 = 1e-5;
/// Random vectors tried.
const PROBES: usize = 3;

/// Joints with reaction components that are not unique at a pose: `force.x` and so on.
pub fn not_unique(model: &Model, at: &Configuration) -> Vec<(String, Vec<String>)> {
    let mut e = Equations::new(model, at);
    if !e.permanent.iter().any(|p| *p) {
        return Vec::new();
    }
    let loads = Loads::new(model, &e.set);
    let mut random = Random(0x5151_5151_1234_4321);
    let mut touched = vec![[false; 6]; model.joints.len()];
    let mut z = vec![0.0; e.set.rows()];
    for _ in 0..PROBES {
        z.iter_mut().for_each(|z| *z = random.number());
        for _ in 0..2 {
            z.iter_mut().zip(&e.eps).for_each(|(z, eps)| *z *= eps);
            e.schur.solve(&mut z);
        }
        let size = z.iter().fold(0.0_f64, |s, z| s.max(z.abs()));
        if size < 1e-9 {
            continue;
        }
        for (k, touched) in touched.iter_mut().enumerate() {
            let Wrench { force, torque } = loads.reaction(model, &e.set, k, &at.q, &z);
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
