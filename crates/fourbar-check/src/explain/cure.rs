//! Joint replacements that remove the redundancy, found by trial.
//!
//! An exchange frees directions that the loop constrains anyway. It is valid if the rank of all constraints is unchanged at every pose
//! examined: then the mechanism moves as before, with fewer rows.

use super::stress::Explained;
use fourbar::analysis::rank::{TOLERANCE, dense_jacobian};
use fourbar::analysis::redundancy::excess;
use fourbar::constraint::ConstraintSet;
use fourbar::joint::{JointKind, Looser};
use fourbar::model::Model;
use fourbar::state::Pose;
use nalgebra::Matrix3;
use serde::Serialize;

/// Maximum number of exchanges tried for one set.
const TRIES: usize = 600;

/// Replacement of a joint by another type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exchange {
    /// The joint.
    pub joint: String,
    /// Its present type.
    pub from: &'static str,
    /// The replacement type, or `none` if the joint can be omitted.
    pub to: &'static str,
}

/// Exchanges that remove a redundant set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cure {
    /// Members of the set.
    pub of: Vec<String>,
    /// The exchanges.
    pub exchange: Vec<Exchange>,
    /// Number of surplus rows removed.
    pub removes: usize,
    /// Number of poses at which the rank was compared.
    pub poses: usize,
}

/// Pairs `(member, index in its list of looser types)` of all exchanges, with the rows removed and the price.
type Choice = (Vec<(usize, usize)>, usize, usize);

/// A mechanism from which redundant sets are removed one by one.
pub struct Workshop {
    model: Model,
    /// Joints whose coordinates must remain because other elements use them.
    bound: Vec<bool>,
    /// Number of redundant sets to which each joint belongs.
    shared: Vec<usize>,
    /// Whether each joint was omitted.
    gone: Vec<bool>,
}

impl Workshop {
    /// Starts from a mechanism.
    pub fn new(model: &Model, sets: &[Explained]) -> Self {
        let within = |name: &String| sets.iter().filter(|s| s.names.contains(name)).count();
        let shared = model.joints.iter().map(|j| within(&j.name)).collect();
        let mut bound = vec![false; model.joints.len()];
        for d in &model.drives {
            bound[d.joint] = true;
        }
        for c in &model.couplings {
            c.joints.iter().for_each(|&k| bound[k] = true);
        }
        for (_, f) in &model.forces {
            f.touches().joint.into_iter().for_each(|joint| bound[joint] = true);
        }
        Self { model: model.clone(), gone: vec![false; bound.len()], bound, shared }
    }

    fn constraints(&self, model: &Model) -> ConstraintSet {
        let mut list = model.constraints(false);
        let mut k = 0;
        // Joints come first, in order.
        list.retain(|_| {
            k += 1;
            !self.gone.get(k - 1).copied().unwrap_or(false)
        });
        list.extend(model.velocity_constraints());
        ConstraintSet::new(list, |_| false)
    }

    fn ranks(&self, model: &Model, poses: &[&[Pose]]) -> Vec<usize> {
        let set = self.constraints(model);
        poses.iter().map(|q| fourbar_math::dense::rank(&dense_jacobian(model, &set, q), TOLERANCE).rank).collect()
    }

    /// Number of surplus rows that remain at a pose.
    pub fn left(&self, q: &[Pose]) -> usize {
        self.constraints(&self.model).rows() - self.ranks(&self.model, &[q])[0]
    }

    /// Finds and applies the exchange that removes a set; `None` if none of the usual ones does.
    pub fn cure(&mut self, set: &Explained, poses: &[&[Pose]]) -> Option<Cure> {
        let members: Vec<usize> =
            set.names.iter().filter_map(|n| self.model.joints.iter().position(|j| j.name == *n)).filter(|&k| !self.gone[k]).collect();
        let all = self.model.constraints(false);
        // Earlier exchanges may have removed this set, or part of it.
        let named: Vec<usize> = set.names.iter().filter_map(|n| all.iter().position(|c| c.name == *n)).collect();
        let named: Vec<usize> = named.into_iter().filter(|&k| !self.gone.get(k).copied().unwrap_or(false)).collect();
        let times = poses.iter().map(|q| excess(&all, &named, q, self.model.length)).min()?.min(set.times_always);
        if times == 0 {
            return None;
        }
        let before = self.ranks(&self.model, poses);
        for choice in self.choices(&members, times).into_iter().take(TRIES) {
            let (changed, gone) = self.changed(&members, &choice);
            // The set alone is tested first, because it is small.
            let list = changed.constraints(false);
            let rest: Vec<usize> = named.iter().copied().filter(|k| !gone.contains(k)).collect();
            if excess(&list, &rest, poses[0], changed.length) > 0 {
                continue;
            }
            let mut trial = Workshop { model: changed, bound: self.bound.clone(), gone: self.gone.clone(), shared: self.shared.clone() };
            gone.iter().for_each(|&k| trial.gone[k] = true);
            if trial.ranks(&trial.model, poses) == before {
                let exchange = choice
                    .0
                    .iter()
                    .map(|&(m, entry)| {
                        let j = &self.model.joints[members[m]];
                        let to = j.kind.looser()[entry].to.as_ref().map_or("none", |k| k.name());
                        Exchange { joint: j.name.clone(), from: j.kind.name(), to }
                    })
                    .collect();
                *self = trial;
                return Some(Cure { of: set.names.clone(), exchange, removes: times, poses: poses.len() });
            }
        }
        None
    }

    /// Ways to remove exactly `times` rows by exchanging up to three members, usual ones first.
    fn choices(&self, members: &[usize], times: usize) -> Vec<Choice> {
        let mut list: Vec<Choice> = Vec::new();
        let mut grow: Vec<Choice> = vec![(Vec::new(), 0, 0)];
        for _ in 0..3 {
            let mut next = Vec::new();
            for (chosen, lost, price) in &grow {
                let first = chosen.last().map_or(0, |(m, _)| m + 1);
                for m in first..members.len() {
                    let kind = &self.model.joints[members[m]].kind;
                    // Joints that belong to several sets are avoided.
                    let shared = 3 * self.shared[members[m]].saturating_sub(1);
                    for (entry, Looser { to, rows, price: extra, .. }) in kind.looser().iter().enumerate() {
                        let reads = |k: &JointKind| (k.has_angle(), k.has_distance());
                        let keeps = to.as_ref().is_some_and(|to| reads(to) >= reads(kind) && to.has_distance() >= kind.has_distance());
                        if lost + rows > times || (self.bound[members[m]] && !keeps) {
                            continue;
                        }
                        let mut more = chosen.clone();
                        more.push((m, entry));
                        let choice = (more, lost + rows, price + extra + shared);
                        if choice.1 == times { list.push(choice) } else { next.push(choice) }
                    }
                }
            }
            grow = next;
        }
        list.sort_by_key(|(_, _, price)| *price);
        list
    }

    fn changed(&self, members: &[usize], choice: &Choice) -> (Model, Vec<usize>) {
        let mut model = self.model.clone();
        let mut gone = Vec::new();
        for &(m, entry) in &choice.0 {
            let k = members[m];
            let new = model.joints[k].kind.looser().swap_remove(entry);
            match new.to {
                Some(kind) => {
                    let j = &mut model.joints[k];
                    let axis = |a: usize| j.M.axis((new.z + a) % 3);
                    j.M.R = Matrix3::from_columns(&[axis(1), axis(2), axis(0)]);
                    j.kind = kind;
                }
                None => gone.push(k),
            }
        }
        (model, gone)
    }
}
