//! Redundant constraints by name: joints that constrain their bodies more often than necessary.
//!
//! Every independent loop is examined separately: rows of its joints minus their rank. Redundancy through several loops together is found
//! by dropping elements while the rest is still dependent in a way that single loops do not explain.

use crate::analysis::rank::TOLERANCE;
use crate::constraint::{Constraint, ConstraintSet};
use crate::model::Model;
use crate::state::Pose;
use crate::topology::{Loop, Topology};
use fourbar_math::dense;
use nalgebra::DMatrix;
use serde::Serialize;

/// Up to this many elements, dependence across loops, or within one loop, is searched for.
const ELEMENTS: usize = 60;
/// Maximum number of sets listed; beyond it, rows are only counted.
const SETS: usize = 400;
/// Maximum number of multiplications for singular values of all loops together; beyond it, rows are only counted. The loops of a mesh grow
/// with its size.
const WORK: f64 = 3e9;

/// Elements that constrain each other more often than necessary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedundantSet {
    /// Names of the joints and other constraints; without any one of them the redundancy disappears.
    pub names: Vec<String>,
    /// Number of redundant rows.
    pub times: usize,
    /// Whether they form a single loop.
    pub single_loop: bool,
}

/// The redundancy of a mechanism at a pose.
#[derive(Clone, Debug, Serialize)]
pub struct Redundancy {
    /// Number of redundant rows of joints, couplings and bare constraints.
    pub total: usize,
    /// Sets of elements that cause the redundancy.
    pub sets: Vec<RedundantSet>,
    /// Number of redundant rows that no set explains.
    pub unexplained: usize,
}

/// Finds the redundant sets of a mechanism with `total` dependent rows (drives omitted) at the pose `q`.
pub fn redundancy(model: &Model, topology: &Topology, q: &[Pose], total: usize) -> Redundancy {
    let all = model.constraints(false);
    let mut found: Vec<(Vec<usize>, usize)> = Vec::new();
    let mut sets = Vec::new();
    let mut left = total;
    let mut work = 0.0;
    let named = |members: &[usize]| members.iter().map(|&k| all[k].name.clone()).collect();
    for l in &topology.loops {
        if left == 0 || sets.len() == SETS {
            break;
        }
        // Once for the whole loop, and once without each of its members if it is dependent.
        let size = 6.0 * l.joints.len() as f64;
        let each = 10.0 * size.powi(3);
        if l.joints.len() > ELEMENTS || work + each > WORK {
            continue;
        }
        work += each;
        // Joints come first in the list of constraints, in the order of the model.
        let times = excess(&all, &l.joints, q, model.length).min(left);
        if times > 0 {
            work += each * l.joints.len() as f64;
            let names = named(&minimal(&around(l), |members| excess(&all, members, q, model.length) > 0));
            sets.push(RedundantSet { names, times, single_loop: true });
            found.push((l.joints.clone(), times));
            left -= times;
        }
    }
    // Across loops, and with gears and bare constraints.
    while left > 0 && all.len() <= ELEMENTS && !crate::stop::told() {
        let beyond = |members: &[usize]| {
            let explained: usize = found.iter().filter(|(f, _)| f.iter().all(|k| members.contains(k))).map(|(_, times)| times).sum();
            excess(&all, members, q, model.length).saturating_sub(explained)
        };
        let everything: Vec<usize> = (0..all.len()).collect();
        if beyond(&everything) == 0 {
            break;
        }
        let members = minimal(&everything, |members| beyond(members) > 0);
        let times = beyond(&members).min(left);
        sets.push(RedundantSet { names: named(&members), times, single_loop: false });
        found.push((members, times));
        left -= times;
    }
    Redundancy { total, sets, unexplained: left }
}

/// The joints of a loop in order around it, from the first in the file towards its earlier neighbour.
pub fn around(l: &Loop) -> Vec<usize> {
    let n = l.joints.len();
    let first = (0..n).min_by_key(|&k| l.joints[k]).unwrap_or(0);
    let at = |k: usize| l.joints[(first + k) % n];
    let forward = n < 3 || at(1) < at(n - 1);
    (0..n).map(|k| at(if forward { k } else { (n - k) % n })).collect()
}

/// Rows of some constraints minus their rank.
pub fn excess(all: &[Constraint], members: &[usize], q: &[Pose], L: f64) -> usize {
    let part = Part::new(all, members, q, L);
    part.set.rows() - dense::rank_alone(&part.A, TOLERANCE)
}

/// Some constraints alone, with the columns of their bodies.
pub struct Part {
    /// The constraints.
    pub set: ConstraintSet,
    /// Their Jacobian: rows of unit length, rotations measured as `L omega`.
    pub A: DMatrix<f64>,
    /// Lengths of the rows before scaling.
    pub norms: Vec<f64>,
}

impl Part {
    /// The members of a list at a pose.
    pub fn new(all: &[Constraint], members: &[usize], q: &[Pose], L: f64) -> Self {
        let set = ConstraintSet::new(members.iter().map(|&k| all[k].clone()).collect(), |_| false);
        let mut G = vec![0.0; set.values];
        set.jacobian(q, &mut G);
        let mut bodies: Vec<usize> = set.blocks.iter().map(|b| b.body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let mut A = DMatrix::zeros(set.rows(), 6 * bodies.len());
        for c in 0..set.list.len() {
            for b in set.blocks_of(c) {
                let place = bodies.partition_point(|&x| x < b.body);
                for (k, row) in G[b.start..].chunks_exact(6).take(set.row_start[c + 1] - set.row_start[c]).enumerate() {
                    for (l, x) in row.iter().enumerate() {
                        A[(set.row_start[c] + k, 6 * place + l)] = if l < 3 { *x } else { x / L };
                    }
                }
            }
        }
        let mut norms = Vec::with_capacity(set.rows());
        for mut row in A.row_iter_mut() {
            let n = row.norm();
            norms.push(n);
            if n > 0.0 {
                row /= n;
            }
        }
        Self { set, A, norms }
    }

    /// Self-stresses: multipliers that load the members and no body, one vector each.
    pub fn self_stresses(&self) -> Vec<Vec<f64>> {
        let null = dense::rank(&self.A.transpose(), TOLERANCE).null;
        let unscaled =
            |z: nalgebra::DVectorView<'_, f64>| z.iter().zip(&self.norms).map(|(z, n)| if *n > 0.0 { z / n } else { *z }).collect();
        null.column_iter().map(unscaled).collect()
    }
}

/// Drops members as long as the rest still has the property.
pub fn minimal(members: &[usize], has: impl Fn(&[usize]) -> bool) -> Vec<usize> {
    let mut kept = members.to_vec();
    let mut k = 0;
    while k < kept.len() {
        let removed = kept.remove(k);
        if !has(&kept) {
            kept.insert(k, removed);
            k += 1;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_told_from_its_first_joint_on() {
        assert_eq!(around(&Loop { closing: 2, joints: vec![1, 0, 3, 2] }), [0, 1, 2, 3]);
        assert_eq!(around(&Loop { closing: 5, joints: vec![4, 5] }), [4, 5]);
    }
}
