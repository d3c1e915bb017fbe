//! The joint graph: components, a spanning tree from the ground, independent loops, whether the motion is planar.

use crate::joint::Stand;
use crate::model::{BodyId, Model};
use nalgebra::Vector3;
use std::collections::VecDeque;

/// A closed chain of joints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The joint that closes it.
    pub closing: usize,
    /// All its joints, the closing one last.
    pub joints: Vec<usize>,
}

/// Structure of a mechanism's joints.
#[derive(Clone, Debug)]
pub struct Topology {
    /// Groups of connected bodies; the first contains the ground.
    pub components: Vec<Vec<BodyId>>,
    /// For each body, the joint towards the ground (or the root of its component).
    pub parent_joint: Vec<Option<usize>>,
    /// For each body, the body on the other side of that joint.
    pub parent: Vec<Option<BodyId>>,
    /// Independent loops.
    pub loops: Vec<Loop>,
    /// Normal of the plane of motion, if all joints keep the motion planar.
    pub planar: Option<Vector3<f64>>,
}

impl Topology {
    /// The structure of a model. Breadth first from the ground, so loops stay short.
    pub fn new(model: &Model) -> Self {
        let n = model.bodies.len();
        let mut incident: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
            for b in j.bodies {
                incident[b.index()].push(k);
            }
        }
        let (mut parent_joint, mut parent) = (vec![None; n], vec![None; n]);
        let mut depth = vec![usize::MAX; n];
        let mut in_tree = vec![false; model.joints.len()];
        let mut components = Vec::new();
        for root in 0..n {
            if depth[root] != usize::MAX {
                continue;
            }
            depth[root] = 0;
            let mut component = vec![BodyId(root as u32)];
            let mut queue = VecDeque::from([root]);
            while let Some(b) = queue.pop_front() {
                for &k in &incident[b] {
                    let [x, y] = model.joints[k].bodies.map(|b| b.index());
                    let other = if x == b { y } else { x };
                    if depth[other] == usize::MAX {
                        depth[other] = depth[b] + 1;
                        parent_joint[other] = Some(k);
                        parent[other] = Some(BodyId(b as u32));
                        in_tree[k] = true;
                        component.push(BodyId(other as u32));
                        queue.push_back(other);
                    }
                }
            }
            components.push(component);
        }
        let mut loops = Vec::new();
        for (k, j) in model.joints.iter().enumerate().filter(|(k, j)| !in_tree[*k] && !j.open) {
            // Climb from both ends to the first common body.
            let [mut a, mut b] = j.bodies.map(|b| b.index());
            let (mut up, mut down) = (Vec::new(), Vec::new());
            while a != b {
                let climb = |x: &mut usize, list: &mut Vec<usize>| {
                    if let (Some(joint), Some(p)) = (parent_joint[*x], parent[*x]) {
                        list.push(joint);
                        *x = p.index();
                    }
                };
                if depth[a] >= depth[b] {
                    climb(&mut a, &mut up);
                } else {
                    climb(&mut b, &mut down);
                }
            }
            up.extend(down.into_iter().rev());
            up.push(k);
            loops.push(Loop { closing: k, joints: up });
        }
        let planar = planar_normal(model, components.len() == 1);
        Self { components, parent_joint, parent, loops, planar }
    }
}

/// The common normal of a mechanism whose joints all keep their bodies in parallel planes.
fn planar_normal(model: &Model, joined: bool) -> Option<Vector3<f64>> {
    let axis = |k: usize| {
        let j = &model.joints[k];
        model.bodies[j.bodies[0].index()].A * j.F.axis(2)
    };
    let acting = || (0..model.joints.len()).filter(|&k| !model.joints[k].open);
    let hinge = acting().find(|&k| model.joints[k].kind.in_plane().is_some_and(|p| p.axis == Stand::Along))?;
    let n = axis(hinge);
    let fits = acting().all(|k| {
        let a = axis(k);
        match model.joints[k].kind.in_plane().map_or(Stand::Never, |p| p.axis) {
            Stand::Along => a.cross(&n).norm() < 1e-9,
            stand => stand.holds(a.dot(&n)),
        }
    });
    // Every body must be connected to the ground through such joints: a free body could leave the plane.
    if !(fits && joined) {
        return None;
    }
    // Point the normal towards the viewer of a usual drawing: the largest component positive, except y, seen along -y.
    let k = n.iamax();
    let sign = if (n[k] > 0.0) == (k != 1) { 1.0 } else { -1.0 };
    Some(n * sign)
}

/// Whether no constraint can depend on others, by structure: joints without a loop, and nothing else but one drive per joint.
pub fn is_forest(model: &Model) -> bool {
    if !(model.couplings.is_empty() && model.bare.is_empty() && model.rolling.is_empty()) {
        return false;
    }
    let mut driven = vec![false; model.joints.len()];
    if model.drives.iter().any(|d| std::mem::replace(&mut driven[d.joint], true)) {
        return false;
    }
    let mut groups = Groups::new(model.bodies.len());
    model.joints.iter().filter(|j| !j.open).all(|j| groups.join(j.bodies[0].index(), j.bodies[1].index()))
}

/// Elements that are joined one after the other, and their connected groups (union-find).
#[derive(Clone, Debug)]
pub struct Groups {
    /// Another member of the same group; the smallest represents itself.
    root: Vec<usize>,
}

impl Groups {
    /// `n` elements, each in its own group.
    pub fn new(n: usize) -> Self {
        Self { root: (0..n).collect() }
    }

    /// The smallest member of an element's group.
    pub fn find(&mut self, mut k: usize) -> usize {
        while self.root[k] != k {
            self.root[k] = self.root[self.root[k]];
            k = self.root[k];
        }
        k
    }

    /// Joins the groups of two elements; `false` if they were connected before.
    pub fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.root[a.max(b)] = a.min(b);
        a != b
    }
}
