//! Loads across the axes of joints, on which dry friction depends: they follow the multipliers, and the multipliers follow the
//! friction, so every solver goes around until both rest.

use crate::constraint::{ConstraintSet, Owner};
use crate::model::Model;
use crate::state::Pose;
use nalgebra::Vector3;

/// A change of the loads below this share of the largest is rounding.
const SETTLED: f64 = 1e-14;
/// Changes below this share that no longer halve are rounding as well.
const STANDS_STILL: f64 = 1e-10;

/// An element with dry friction.
#[derive(Clone, Copy, Debug)]
pub struct Rubbing {
    /// Its place among the forces of the model.
    pub element: usize,
    /// The joint.
    pub joint: usize,
    /// The joint's constraint in the set.
    pub constraint: usize,
}

impl Rubbing {
    /// Force across the axis of the joint with its two bodies at given poses and its own multipliers. Joints that slide along the
    /// axis feel no force there.
    fn across(&self, model: &Model, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> Vector3<f64> {
        let force = set.generalized_at(self.constraint, 1, |slot| &poses[slot], own).v;
        let z = poses[0].A * model.joints[self.joint].F.axis(2);
        force - z * z.dot(&force)
    }

    /// Its load.
    pub fn load(&self, model: &Model, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> f64 {
        self.across(model, set, poses, own).norm()
    }

    /// Derivatives of the load by the multipliers of the joint.
    pub fn slopes(&self, model: &Model, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> [f64; 6] {
        let force = self.across(model, set, poses, own);
        let norm = force.norm();
        let mut out = [0.0; 6];
        if norm > 0.0 {
            for r in 0..own.len().min(6) {
                let mut unit = [0.0; 6];
                unit[r] = 1.0;
                out[r] = force.dot(&self.across(model, set, poses, &unit[..own.len()])) / norm;
            }
        }
        out
    }
}

/// The loads of a mechanism.
#[derive(Clone, Debug)]
pub struct NormalLoads {
    /// Elements that depend on a load.
    pub rubbing: Vec<Rubbing>,
    /// Load by joint; zero where no friction reads it. Written by [`NormalLoads::update`].
    pub by_joint: Vec<f64>,
    /// The last change, relative to the largest load. Written by [`NormalLoads::update`].
    pub change: f64,
}

impl NormalLoads {
    /// For a model whose multipliers follow `set`; no loads yet.
    pub fn new(model: &Model, set: &ConstraintSet) -> Self {
        let mut constraint_of = vec![None; model.joints.len()];
        for (c, constraint) in set.list.iter().enumerate() {
            if let Owner::Joint(k) = constraint.owner {
                constraint_of[k] = Some(c);
            }
        }
        let rubbing = model.forces.iter().enumerate().filter_map(|(element, (_, f))| {
            let joint = f.touches().loaded_joint()?;
            constraint_of[joint].map(|constraint| Rubbing { element, joint, constraint })
        });
        Self { rubbing: rubbing.collect(), by_joint: vec![0.0; model.joints.len()], change: f64::INFINITY }
    }

    /// Whether no force depends on a load.
    pub fn is_empty(&self) -> bool {
        self.rubbing.is_empty()
    }

    /// New loads from all multipliers; their largest change, relative to the largest load.
    pub fn update(&mut self, model: &Model, set: &ConstraintSet, q: &[Pose], lambda: &[f64]) -> f64 {
        let (mut change, mut size) = (0.0_f64, f64::MIN_POSITIVE);
        for r in &self.rubbing {
            let poses = model.joints[r.joint].bodies.map(|b| q[b.index()]);
            let load = r.load(model, set, &poses, &lambda[set.row_start[r.constraint]..set.row_start[r.constraint + 1]]);
            change = change.max((load - self.by_joint[r.joint]).abs());
            size = size.max(load);
            self.by_joint[r.joint] = load;
        }
        self.change = change / size;
        self.change
    }
}

/// Whether loads rest, from their last two changes. `round` counts the updates of one solve, from zero: the first few may change little
/// because they begin near the end of the last solve.
pub fn rest(change: f64, last: f64, round: usize) -> bool {
    change <= SETTLED || (round > 3 && change < STANDS_STILL && change > 0.5 * last)
}
