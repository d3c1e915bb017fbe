//! The penalty of every row: one magnitude per connected part of the mechanism, one weight per kind of row.
//!
//! `alpha_r = c w_r` with `w_r = 1/|reaction of a unit multiplier|^2`, torques divided by the characteristic length, so that the limit of
//! the iteration is the reaction of least norm. The magnitude `c` must stay well above `m n^2`, or long chains converge slowly, and well
//! below `m / eps`, or rounding becomes visible: `c = min(1e5 m_part max(1, n/1000), 1e-3 m_min / eps)`.

use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::state::Pose;
use crate::topology::Groups;

/// Penalty in multiples of the mass of the part.
const KAPPA: f64 = 1e5;

/// Penalties of rows, and of the normalisation of Euler parameters of each body.
pub struct Penalty {
    /// By row of the set.
    pub rows: Vec<f64>,
    /// By body.
    pub bodies: Vec<f64>,
}

/// The connected part of the mechanism of each body, identified by its smallest body; ground connects nothing.
fn parts(set: &ConstraintSet, n: usize) -> Vec<usize> {
    let mut groups = Groups::new(n);
    for c in 0..set.list.len() {
        if let [first, rest @ ..] = set.blocks_of(c) {
            rest.iter().for_each(|b| {
                groups.join(first.body, b.body);
            });
        }
    }
    (0..n).map(|b| groups.find(b)).collect()
}

/// Weight of every row at a pose.
pub fn weights(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Vec<f64> {
    let mut G = vec![0.0; set.values];
    set.jacobian(q, &mut G);
    let mut w = vec![1.0; set.rows()];
    for c in 0..set.list.len() {
        let (first, last) = (set.row_start[c], set.row_start[c + 1]);
        for k in 0..last - first {
            let (mut force, mut torque) = (0.0_f64, 0.0_f64);
            for b in set.blocks_of(c) {
                let g = &G[b.start + 6 * k..b.start + 6 * k + 6];
                force = force.max(g[..3].iter().map(|x| x * x).sum());
                torque = torque.max(g[3..].iter().map(|x| x * x).sum::<f64>() / (model.length * model.length));
            }
            // A row that contains a force is scaled by it, since its torque depends on the point of reference.
            let size = if force > 1e-12 * torque { force } else { torque };
            if size > 0.0 {
                w[first + k] = 1.0 / size;
            }
        }
    }
    w
}

impl Penalty {
    /// Penalties by scaling, or the value `fixed` on every row.
    pub fn new(model: &Model, set: &ConstraintSet, q: &[Pose], fixed: Option<f64>) -> Self {
        let n = model.bodies.len();
        if let Some(alpha) = fixed {
            return Self { rows: vec![alpha; set.rows()], bodies: vec![alpha; n] };
        }
        let part = parts(set, n);
        let (mut mass, mut least, mut count) = (vec![0.0; n], vec![f64::INFINITY; n], vec![0_usize; n]);
        for b in 1..n {
            let m = model.bodies[b].mass;
            mass[part[b]] += m;
            least[part[b]] = least[part[b]].min(m);
            count[part[b]] += 1;
        }
        let size = |b: usize| {
            let p = part[b];
            (KAPPA * mass[p] * (count[p] as f64 / 1000.0).max(1.0)).min(1e-3 / f64::EPSILON * least[p])
        };
        let mut rows = weights(model, set, q);
        for c in 0..set.list.len() {
            let alpha = set.blocks_of(c).first().map_or(1.0, |b| size(b.body));
            rows[set.row_start[c]..set.row_start[c + 1]].iter_mut().for_each(|w| *w *= alpha);
        }
        let L2 = model.length * model.length;
        Self { rows, bodies: (0..n).map(|b| if b == 0 { 1.0 } else { L2 * size(b) }).collect() }
    }
}
