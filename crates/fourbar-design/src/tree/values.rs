//! Rates of a tree in plain numbers, with the forces of its model.

use super::Tree;
use super::kernel::{Kernel, V, cross};
use super::moved::Rates;
use fourbar::Model;
use fourbar::coordinate::PoseOf;
use fourbar::force::eval::{States, VelocityOf};
use nalgebra::{Matrix3, Vector3};

/// The state of a swept tree, as read by forces.
pub struct Seen<'a> {
    pub t: f64,
    pub tree: &'a Tree,
    pub kernel: &'a Kernel<f64>,
    pub q: &'a [f64],
    pub u: &'a [f64],
}

impl States<f64> for Seen<'_> {
    fn time(&self) -> f64 {
        self.t
    }
    fn pose(&self, b: usize) -> PoseOf<f64> {
        let k = self.tree.of_body[b];
        if b == 0 {
            return PoseOf { r: Vector3::zeros(), A: Matrix3::identity() };
        }
        PoseOf { r: Vector3::from(self.kernel.at[k].c), A: Matrix3::from_row_slice(&self.kernel.axes(k)) }
    }
    fn velocity(&self, b: usize) -> VelocityOf<f64> {
        if b == 0 {
            return VelocityOf { v: Vector3::zeros(), w: Vector3::zeros() };
        }
        let k = self.tree.of_body[b];
        let at = &self.kernel.at[k];
        let v = Vector3::from(at.V.l) + Vector3::from(cross(&at.V.a, &at.c));
        VelocityOf { v, w: Matrix3::from_row_slice(&self.kernel.axes(k)).tr_mul(&Vector3::from(at.V.a)) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.q[self.tree.counted[memory]]
    }
    fn load(&self, _joint: usize) -> f64 {
        0.0
    }
    fn auxiliary(&self, _k: usize) -> f64 {
        0.0
    }
    fn counted(&self, memory: usize) -> Option<(f64, f64)> {
        let c = self.tree.counted[memory];
        Some((self.q[c], self.u[c]))
    }
}

/// A tree with the forces on it.
pub struct Values<'a> {
    pub tree: &'a Tree,
    pub model: &'a Model,
    pub kernel: Kernel<f64>,
    /// Forces at centres and torques, in world axes, by node. Written by `rates`.
    wrenches: Vec<(usize, V<f64>, V<f64>)>,
}

impl<'a> Values<'a> {
    /// Values for a tree of a model.
    pub fn new(tree: &'a Tree, model: &'a Model) -> Self {
        Self { kernel: tree.kernel(&tree.numbers), tree, model, wrenches: Vec::new() }
    }

    /// The state at which the kernel was last swept.
    pub fn seen<'s>(&'s self, t: f64, q: &'s [f64], u: &'s [f64]) -> Seen<'s> {
        Seen { t, tree: self.tree, kernel: &self.kernel, q, u }
    }
}

impl Rates<f64> for Values<'_> {
    fn rates(&mut self, t: f64, q: &[f64], u: &[f64], du: &mut [f64]) {
        self.kernel.sweep(q, u);
        if !self.model.forces.is_empty() {
            let Self { tree, model, kernel, wrenches } = self;
            wrenches.clear();
            let seen = Seen { t, tree, kernel, q, u };
            for (_, force) in &model.forces {
                force.wrench(model, &seen, &mut |b, F, torque| {
                    if b != 0 {
                        wrenches.push((tree.of_body[b], F.into(), (seen.pose(b).A * torque).into()));
                    }
                });
            }
            for (k, F, torque) in wrenches.iter() {
                kernel.load(*k, F, torque);
            }
        }
        self.kernel.solve(du);
    }
}
