//! Loads across the axes of joints and normal forces of spots, on which dry friction depends: the loads follow from the multipliers and the
//! multipliers from the friction, so every solver iterates until both have converged.

use crate::constraint::{ConstraintSet, Owner, Rows};
use crate::model::Model;
use crate::state::Pose;
use nalgebra::Vector3;

/// Changes of the loads below this fraction of the largest are rounding.
const SETTLED: f64 = 1e-14;
/// Changes below this fraction that no longer halve are rounding as well.
const STANDS_STILL: f64 = 1e-10;

/// Number of stored iterations for the extrapolation of the loads.
const REMEMBERED: usize = 6;
/// If changes fall by less than this factor per iteration, the stored iterations are used.
const SLOW: f64 = 0.1;

/// Accelerates slowly converging or diverging fixed-point iterations: it takes the combination of the last iterates with the smallest
/// change (Anderson). For loads that depend linearly on each other, as those of contacts do, it is exact after as many iterations as there
/// are loads.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    count: usize,
    /// Start of the last iteration, and its change.
    x: Vec<f64>,
    g: Vec<f64>,
    /// Differences between iterations, the last one first.
    dx: [Vec<f64>; REMEMBERED],
    dg: [Vec<f64>; REMEMBERED],
}

impl Rounds {
    /// For the given number of loads.
    pub fn new(loads: usize) -> Self {
        let zeros = || vec![0.0; loads];
        Self { count: 0, x: zeros(), g: zeros(), dx: std::array::from_fn(|_| zeros()), dg: std::array::from_fn(|_| zeros()) }
    }

    /// Discards all stored iterations.
    pub fn begin(&mut self) {
        self.count = 0;
    }

    /// An iteration from loads `x` gave `f`; `f` becomes the start of the next one. `slow`: plain iteration makes no progress.
    pub fn next(&mut self, x: &[f64], f: &mut [f64], slow: bool) {
        if self.count > 0 {
            self.dx.rotate_right(1);
            self.dg.rotate_right(1);
            for k in 0..f.len() {
                self.dx[0][k] = x[k] - self.x[k];
                self.dg[0][k] = (f[k] - x[k]) - self.g[k];
            }
        }
        for k in 0..f.len() {
            (self.x[k], self.g[k]) = (x[k], f[k] - x[k]);
        }
        let m = self.count.min(REMEMBERED);
        self.count += 1;
        if m == 0 || !slow {
            return;
        }
        // Least squares of g - dg y by its normal equations.
        let mut r = [[0.0; REMEMBERED]; REMEMBERED];
        let mut rest = [0.0; REMEMBERED];
        let mut y = [0.0; REMEMBERED];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for i in 0..m {
            for j in 0..m {
                r[i][j] = dot(&self.dg[i], &self.dg[j]);
            }
            rest[i] = dot(&self.dg[i], &self.g);
        }
        // Elimination with the largest pivot; pivots of rounding size are omitted.
        let top = (0..m).map(|i| r[i][i]).fold(0.0, f64::max);
        let mut order = [usize::MAX; REMEMBERED];
        for step in 0..m {
            let left = (0..m).filter(|i| !order[..step].contains(i)).max_by(|a, b| r[*a][*a].total_cmp(&r[*b][*b]));
            let Some(p) = left.filter(|p| r[*p][*p] > 1e-20 * top) else { break };
            order[step] = p;
            for i in (0..m).filter(|i| !order[..=step].contains(i)) {
                let factor = r[i][p] / r[p][p];
                for j in 0..m {
                    r[i][j] -= factor * r[p][j];
                }
                rest[i] -= factor * rest[p];
            }
        }
        for &p in order.iter().rev().filter(|p| **p != usize::MAX) {
            let known: f64 = (0..m).filter(|j| *j != p).map(|j| r[p][j] * y[j]).sum();
            y[p] = (rest[p] - known) / r[p][p];
        }
        if y.iter().all(|y| y.is_finite()) {
            for k in 0..f.len() {
                f[k] -= (0..m).map(|i| y[i] * (self.dx[i][k] + self.dg[i][k])).sum::<f64>();
            }
        }
    }
}

/// An element with dry friction.
#[derive(Clone, Copy, Debug)]
pub struct Rubbing {
    /// Its index among the forces of the model.
    pub element: usize,
    /// Index of its load: loads of joints come first, then those of rolling elements.
    pub place: usize,
    /// The constraint of the joint, or the one that keeps the spot closed, in the set.
    pub constraint: usize,
    /// Bodies of that constraint.
    pub bodies: [usize; 2],
    /// Direction of the axis of the joint on its base; `None` at a spot, whose load is its normal force.
    axis: Option<Vector3<f64>>,
}

impl Rubbing {
    /// Force across the axis of the joint with its two bodies at given poses and its own multipliers. Joints that slide along the
    /// axis feel no force there.
    fn across(&self, axis: &Vector3<f64>, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> Vector3<f64> {
        let force = set.generalized_at(self.constraint, 1, |slot| &poses[slot], own).F;
        let z = poses[0].A * axis;
        force - z * z.dot(&force)
    }

    /// Its load. That of a spot is its only multiplier, positive where bodies press on each other.
    pub fn load(&self, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> f64 {
        self.axis.map_or_else(|| -own[0], |axis| self.across(&axis, set, poses, own).norm())
    }

    /// Derivatives of the load with respect to the multipliers of its constraint.
    pub fn slopes(&self, set: &ConstraintSet, poses: &[Pose; 2], own: &[f64]) -> [f64; 6] {
        let mut out = [0.0; 6];
        let Some(axis) = self.axis else {
            out[0] = -1.0;
            return out;
        };
        let force = self.across(&axis, set, poses, own);
        let norm = force.norm();
        if norm > 0.0 {
            for r in 0..own.len().min(6) {
                let mut unit = [0.0; 6];
                unit[r] = 1.0;
                out[r] = force.dot(&self.across(&axis, set, poses, &unit[..own.len()])) / norm;
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
    /// Loads of joints, then of rolling elements; zero if no friction reads them. Written by [`NormalLoads::update`].
    pub by_joint: Vec<f64>,
    /// The last change, relative to the largest load. Written by [`NormalLoads::update`].
    pub change: f64,
    rounds: Rounds,
    /// Start of the present iteration.
    began: Vec<f64>,
}

impl NormalLoads {
    /// For a model whose multipliers are ordered as in `set`; loads are still zero.
    pub fn new(model: &Model, set: &ConstraintSet) -> Self {
        let mut constraint_of = vec![None; model.loads()];
        for (c, constraint) in set.list.iter().enumerate() {
            match constraint.owner {
                Owner::Joint(k) => constraint_of[k] = Some(c),
                // Rolling elements have a constraint on positions and one on velocities; the first one carries the normal force.
                Owner::Rolling(k) if !matches!(constraint.rows[0], Rows::Rolling(_)) => constraint_of[model.load_of_rolling(k)] = Some(c),
                _ => {}
            }
        }
        let rubbing = model.forces.iter().enumerate().filter_map(|(element, (_, f))| {
            let touches = f.touches();
            let (place, axis) = match (touches.spot, touches.loaded_joint()) {
                (Some(k), _) => (model.load_of_rolling(k), None),
                (None, Some(joint)) => (joint, Some(model.joints[joint].F.axis(2))),
                (None, None) => return None,
            };
            let constraint = constraint_of[place]?;
            let bodies = [0, 1].map(|slot| set.list[constraint].bodies[slot].index());
            Some(Rubbing { element, place, constraint, bodies, axis })
        });
        let rubbing: Vec<Rubbing> = rubbing.collect();
        let loads = model.loads();
        let rounds = if rubbing.is_empty() { Rounds::default() } else { Rounds::new(loads) };
        Self { rubbing, by_joint: vec![0.0; loads], change: f64::INFINITY, rounds, began: vec![0.0; loads] }
    }

    /// Whether no force depends on a load.
    pub fn is_empty(&self) -> bool {
        self.rubbing.is_empty()
    }

    /// New loads from all multipliers; their largest change, relative to the largest load.
    pub fn update(&mut self, set: &ConstraintSet, q: &[Pose], lambda: &[f64]) -> f64 {
        let (mut change, mut size) = (0.0_f64, f64::MIN_POSITIVE);
        for r in &self.rubbing {
            let poses = r.bodies.map(|b| q[b]);
            let load = r.load(set, &poses, &lambda[set.row_start[r.constraint]..set.row_start[r.constraint + 1]]);
            change = change.max((load - self.by_joint[r.place]).abs());
            size = size.max(load.abs());
            self.by_joint[r.place] = load;
        }
        self.change = change / size;
        self.change
    }

    /// The same between iterations of a solve, in which the multipliers follow from the loads: loads are set to their extrapolated values.
    /// `first` begins a solve.
    pub fn iterate(&mut self, set: &ConstraintSet, q: &[Pose], lambda: &[f64], first: bool) -> f64 {
        // Loads of joints alone converge by plain iteration, or are indeterminate, as at dead points.
        if self.rubbing.iter().all(|r| r.axis.is_some()) {
            return self.update(set, q, lambda);
        }
        let last = if first { f64::INFINITY } else { self.change };
        if first {
            self.rounds.begin();
        }
        self.began.copy_from_slice(&self.by_joint);
        let change = self.update(set, q, lambda);
        if change > SETTLED {
            self.rounds.next(&self.began, &mut self.by_joint, change > SLOW * last);
        }
        change
    }
}

/// Whether the change of the loads falls so slowly that [`Rounds`] should be used.
pub fn is_slow(change: f64, last: f64) -> bool {
    change > SLOW * last
}

/// Whether loads have converged, from their last two changes. `round` counts the updates of one solve, from zero: the first few may change
/// little because they start near the result of the last solve.
pub fn rest(change: f64, last: f64, round: usize) -> bool {
    change <= SETTLED || (round > 3 && change < STANDS_STILL && change > 0.5 * last)
}
