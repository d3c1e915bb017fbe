//! The choice of reactions that are not unique, the same for every formulation: the smallest ones.
//!
//! Where constraints are redundant a self-stress `z`, `Phi_q^T z = 0`, can be added to the multipliers without moving anything. Of all
//! multipliers with the same effect on the bodies those are chosen whose wrenches have the least norm: forces, and torques divided by the
//! characteristic length, of every joint at its joint-frame origin; drives, couplings and bare rows count by their multipliers, which are
//! forces, or torques divided by that length.
//!
//! With rows scaled so that multipliers are measured by their wrenches, `(S + mu)^-1 mu` preserves self-stresses and removes nearly all
//! components across them: a few applications of this filter give the part of the multipliers that is a self-stress.

use super::{Instant, Loads};
use crate::constraint::{ConstraintSet, Owner};
use crate::model::Model;
use crate::projector::Projector;
use crate::schur::unit_weights;
use crate::state::Pose;
use crate::topology;
use nalgebra::Matrix6;

/// Shift of the matrix, whose entries are of the order of one.
const SHIFT: f64 = 1e-10;
/// Pivots above this at the start belong to independent rows; those of redundant rows are `SHIFT` times the squares of the coefficients of
/// their dependence. A row that only seems redundant merely costs computing time.
const REDUNDANT: f64 = 1e-3;
/// Maximum number of filters until only self-stress remains, and number of its removals: a filter is exact only to rounding over `SHIFT`.
const FILTERS: usize = 40;
const ROUNDS: usize = 3;
/// Permitted load of a self-stress on bodies, relative to it, and relative to all multipliers.
const CLEAN: f64 = 1e-12;
const NOTHING: f64 = 1e-13;
/// If a self-stress loads bodies by more than this fraction of itself, the constraints are nearly dependent besides being redundant, and no
/// choice is made.
const DOUBTFUL: f64 = 1e-10;

/// Converts multipliers of a complete set of constraints into reactions and efforts, the smallest if they are not unique.
#[derive(Clone, Debug)]
pub struct LeastLoads {
    plain: Loads,
    /// Poses of the start, until reactions are requested.
    start: Option<Vec<Pose>>,
    least: Option<Box<Least>>,
}

/// Workspace of the choice.
#[derive(Clone, Debug)]
struct Least {
    p: Projector,
    /// Per constraint, the lower factor of its metric: `|F^T lambda|` is the norm of its wrench. Written by `scale_rows`.
    metric: Vec<Matrix6<f64>>,
    /// Multipliers measured by their wrenches; their self-stress is in the projector.
    x: Vec<f64>,
    /// The multipliers chosen.
    lambda: Vec<f64>,
}

impl LeastLoads {
    /// For a model with the multipliers of `set`, all constraints included, with poses of the start.
    pub fn new(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Self {
        Self { plain: Loads::new(model, set), start: Some(q.to_vec()), least: None }
    }

    /// For multipliers on which friction depends: others would give another motion.
    pub fn as_given(model: &Model, set: &ConstraintSet) -> Self {
        Self { plain: Loads::new(model, set), start: None, least: None }
    }

    /// Computes all reactions and efforts at the poses of the instant, if requested.
    pub fn fill(&mut self, model: &Model, set: &ConstraintSet, lambda: &[f64], out: &mut Instant) {
        if !out.loaded {
            return;
        }
        let Self { plain, start, least } = self;
        if let Some(q) = start.take() {
            *least = Least::new(model, set, &q).map(Box::new);
        }
        match least {
            Some(least) => {
                least.choose(model, plain, set, lambda, &out.q);
                plain.fill(model, set, &least.lambda, out);
            }
            None => plain.fill(model, set, lambda, out),
        }
    }
}

impl Least {
    /// `None` if no row is redundant at the start.
    fn new(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Option<Self> {
        if topology::is_forest(model) {
            return None;
        }
        let mut least = Self {
            p: Projector::new(set, unit_weights(model)),
            metric: vec![Matrix6::identity(); set.list.len()],
            x: vec![0.0; set.rows()],
            lambda: vec![0.0; set.rows()],
        };
        least.p.factor(set, q, SHIFT);
        least.p.schur.pivots().iter().any(|p| *p < REDUNDANT).then_some(least)
    }

    /// The smallest multipliers with the same load on the bodies as `given`, into `lambda`.
    fn choose(&mut self, model: &Model, loads: &Loads, set: &ConstraintSet, given: &[f64], q: &[Pose]) {
        self.lambda.copy_from_slice(given);
        if !given.iter().all(|x| x.is_finite()) {
            return;
        }
        set.jacobian(q, &mut self.p.schur.G);
        self.scale_rows(model, loads, set, q);
        self.p.factor_rows(SHIFT);
        // x = F^T lambda.
        for (c, F) in self.metric.iter().enumerate() {
            let r = set.row_start[c]..set.row_start[c + 1];
            for (i, row) in r.clone().enumerate() {
                self.x[row] = given[r.clone()].iter().enumerate().skip(i).map(|(j, l)| F[(j, i)] * l).sum();
            }
        }
        let size = amax(&self.x);
        for _ in 0..ROUNDS {
            self.p.x.copy_from_slice(&self.x);
            let mut loaded = f64::INFINITY;
            for _ in 0..FILTERS {
                loaded = self.p.filter(set, SHIFT, model.length);
                if loaded <= (CLEAN * self.p.size()).max(NOTHING * size) {
                    break;
                }
            }
            if loaded.is_nan() || loaded > (DOUBTFUL * self.p.size()).max(NOTHING * size) {
                return;
            }
            self.x.iter_mut().zip(&self.p.x).for_each(|(x, z)| *x -= z);
            if self.p.size() <= 1e-14 * size {
                break;
            }
        }
        // lambda = F^-T x.
        for (c, F) in self.metric.iter().enumerate() {
            let (first, last) = (set.row_start[c], set.row_start[c + 1]);
            for i in (0..last - first).rev() {
                let known: f64 = (i + 1..last - first).map(|j| F[(j, i)] * self.lambda[first + j]).sum();
                self.lambda[first + i] = (self.x[first + i] - known) / F[(i, i)];
            }
        }
    }

    /// Multiplies the rows of every joint by the inverse factor of its metric.
    fn scale_rows(&mut self, model: &Model, loads: &Loads, set: &ConstraintSet, q: &[Pose]) {
        for (c, constraint) in set.list.iter().enumerate() {
            let Owner::Joint(k) = constraint.owner else { continue };
            let n = (set.row_start[c + 1] - set.row_start[c]).min(6);
            let mut D = Matrix6::zeros();
            for i in 0..n {
                let mut unit = [0.0; 6];
                unit[i] = 1.0;
                let w = loads.wrench(model, set, k, q, &unit[..n]);
                D.fixed_view_mut::<3, 1>(0, i).copy_from(&w.force);
                D.fixed_view_mut::<3, 1>(3, i).copy_from(&(w.torque / model.length));
            }
            let mut K = D.tr_mul(&D);
            (n..6).for_each(|i| K[(i, i)] = 1.0);
            // A joint with dependent rows has no metric; its multipliers are used directly.
            let F = K.cholesky().map_or(Matrix6::identity(), |f| f.l());
            for b in set.blocks_of(c) {
                let G = &mut self.p.schur.G[b.start..b.start + 6 * n];
                for i in 0..n {
                    for l in 0..6 {
                        let known: f64 = (0..i).map(|j| F[(i, j)] * G[6 * j + l]).sum();
                        G[6 * i + l] = (G[6 * i + l] - known) / F[(i, i)];
                    }
                }
            }
            self.metric[c] = F;
        }
    }
}

fn amax(x: &[f64]) -> f64 {
    x.iter().fold(0.0_f64, |s, x| s.max(x.abs()))
}
