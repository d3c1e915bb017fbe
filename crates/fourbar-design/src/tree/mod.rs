//! Trees of revolute, prismatic and fixed joints in joint coordinates, with exact derivatives along the same steps: several tangents beside
//! the motion (forward mode), or one backward pass (adjoint).
//!
//! The data of a mechanism (frames, masses, inertias, start) depend on its parameters as written in the file; their derivatives are taken
//! once, from mechanisms with perturbed parameters. Forces are those of the model, evaluated over the same scalar; where a parameter
//! changes the data of a force, the forces of the perturbed mechanisms are compared at the same state.

mod jet;
pub mod kernel;
pub mod linear;
mod moved;
mod values;

pub use jet::Jet;
pub use moved::{Kept, Moved, Rates, places};
pub use values::{Seen, Values};

use fourbar::Model;
use fourbar::formulation::grcr::Mechanism;
use fourbar::joint::JointKind;
use fourbar::state::Configuration;
use fourbar_math::Scalar;
use kernel::{Joint, Kernel, Node, Shape};
use linear::Change;

/// Length of the data of one node in `numbers`.
const NODE: usize = 31;

/// A mechanism as a tree: its nodes, its data (gravity, then those of each node) and its start.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Nodes, the ground first.
    pub nodes: Vec<Node>,
    /// Node of each body.
    pub of_body: Vec<usize>,
    /// Column of each counted (multi-turn) angle.
    pub counted: Vec<usize>,
    /// Number of coordinates, equal to the number of speeds.
    pub size: usize,
    /// Gravity, then the data of each node except the ground.
    pub numbers: Vec<f64>,
    /// Coordinates, then speeds, at the start.
    pub start: Vec<f64>,
}

impl Tree {
    /// The tree of a model at an assembled start; `None` if it has loops, drives, other joints or anything else that a tree cannot
    /// represent.
    pub fn new(model: &Model, start: &Configuration) -> Option<Self> {
        let plain = model.drives.is_empty()
            && model.couplings.is_empty()
            && model.bare.is_empty()
            && model.rolling.is_empty()
            && model.contacts.is_empty()
            && model.events.is_empty()
            && model.limits.is_empty()
            && model.coils.is_empty()
            && model.auxiliaries() == 0
            && model
                .joints
                .iter()
                .all(|j| matches!(j.kind, JointKind::Revolute(_) | JointKind::Prismatic(_) | JointKind::Fixed(_)) && !j.open)
            && !model.forces.iter().any(|(_, f)| f.touches().load);
        // As many joints as bodies and no loop closures: every body is connected to the ground.
        if !plain || model.joints.len() != model.moving() {
            return None;
        }
        let mut m = Mechanism::new(model, start);
        if !m.closings.is_empty() {
            return None;
        }
        let (mut q, mut u) = (vec![0.0; m.tree.stored], vec![0.0; m.tree.speeds]);
        m.tree.enter(model, start, &mut q, &mut u);
        m.tree.place(&q);
        let tree = &m.tree;
        let mut nodes = Vec::new();
        let mut numbers = vec![model.gravity.x, model.gravity.y, model.gravity.z];
        let mut counted = vec![usize::MAX; model.angles.len()];
        for (k, n) in tree.nodes.iter().enumerate() {
            let joint = match n.joint.map(|j| &model.joints[j].kind) {
                Some(JointKind::Revolute(_)) => Joint::Hinge,
                Some(JointKind::Prismatic(_)) if !n.reversed => Joint::Slide,
                Some(JointKind::Fixed(_)) => Joint::Weld,
                None if k == 0 => Joint::Weld,
                _ => return None,
            };
            nodes.push(Node { parent: n.parent, joint, column: n.u, body: n.body });
            if k == 0 {
                continue;
            }
            if let Some(memory) = n.joint.and_then(|j| model.joints[j].memory) {
                counted[memory] = n.u;
            }
            let s = &tree.shapes[k];
            // Row by row: nalgebra stores matrices by columns.
            let axes = tree.at[k].E.tr_mul(&tree.pose(k).A);
            numbers.extend(s.R.transpose().iter().chain(s.s.iter()).chain(s.c.iter()));
            numbers.push(s.mass);
            numbers.extend(s.J.0);
            numbers.extend(axes.transpose().iter());
        }
        if counted.contains(&usize::MAX) {
            return None;
        }
        let start = q.iter().chain(&u).copied().collect();
        Some(Self { nodes, of_body: tree.of_body.clone(), counted, size: tree.speeds, numbers, start })
    }

    /// Whether another tree has the same nodes.
    pub fn fits(&self, other: &Self) -> bool {
        self.nodes == other.nodes && self.counted == other.counted
    }

    /// Largest deviation of the bodies of a state from the start of the tree: positions, rotations and their rates.
    pub fn gap(&self, at: &Configuration) -> f64 {
        let mut kernel = self.kernel(&self.numbers);
        let (q, u) = self.start.split_at(self.size);
        kernel.sweep(q, u);
        let mut worst = 0.0_f64;
        for b in 1..at.q.len() {
            let k = self.of_body[b];
            let (node, axes) = (&kernel.at[k], kernel.axes(k));
            let (pose, v) = (&at.q[b], &at.v[b]);
            let turning = kernel::cross(&node.V.a, &node.c);
            let w = pose.A * v.w;
            for i in 0..3 {
                let gaps = [node.c[i] - pose.r[i], node.V.l[i] + turning[i] - v.v[i], node.V.a[i] - w[i]];
                let turns = (0..3).map(|j| axes[3 * i + j] - pose.A[(i, j)]);
                worst = gaps.into_iter().chain(turns).fold(worst, |m, x| m.max(x.abs()));
            }
        }
        worst
    }

    /// Splits a change of all data into that of gravity and those of the nodes, with rotations as vectors; nodes without a change are
    /// omitted.
    pub fn changes(&self, by: &[f64]) -> ([f64; 3], Vec<Change>) {
        let mut list = Vec::new();
        for (k, (own, d)) in self.numbers[3..].chunks_exact(NODE).zip(by[3..].chunks_exact(NODE)).enumerate() {
            if d.iter().all(|x| *x == 0.0) {
                continue;
            }
            // Rotations on the left of a matrix, `d R R^T`, and on its right, `axes^T d axes`; row by row.
            let left = |i: usize, j: usize| (0..3).map(|l| d[3 * i + l] * own[3 * j + l]).sum::<f64>();
            let right = |i: usize, j: usize| (0..3).map(|l| own[22 + 3 * l + i] * d[22 + 3 * l + j]).sum::<f64>();
            let turn = |m: &dyn Fn(usize, usize) -> f64| [0.5 * (m(2, 1) - m(1, 2)), 0.5 * (m(0, 2) - m(2, 0)), 0.5 * (m(1, 0) - m(0, 1))];
            let mut by = [0.0; linear::OWN];
            by[..3].copy_from_slice(&d[9..12]);
            by[3..6].copy_from_slice(&turn(&left));
            by[6] = d[15];
            by[7..10].copy_from_slice(&d[12..15]);
            by[10..16].copy_from_slice(&d[16..22]);
            by[16..].copy_from_slice(&turn(&right));
            list.push(Change { node: k + 1, by });
        }
        ([by[0], by[1], by[2]], list)
    }

    /// The kernel with the given data.
    pub fn kernel<T: Scalar>(&self, numbers: &[T]) -> Kernel<T> {
        let three = |x: &[T]| [x[0], x[1], x[2]];
        let nine = |x: &[T]| std::array::from_fn(|i| x[i]);
        let shape = |x: &[T]| Shape {
            R: nine(x),
            s: three(&x[9..]),
            c: three(&x[12..]),
            m: x[15],
            J: std::array::from_fn(|i| x[16 + i]),
            axes: nine(&x[22..]),
        };
        let ground = shape(&[T::zero(); NODE]);
        let shapes = std::iter::once(ground).chain(numbers[3..].chunks_exact(NODE).map(shape)).collect();
        Kernel::new(self.nodes.clone(), shapes, three(numbers))
    }
}
