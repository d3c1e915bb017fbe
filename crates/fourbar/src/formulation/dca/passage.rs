//! Singular positions on the way, and redundancy that depends on the geometry.
//!
//! Slow iterations give the suspicion at no cost; singular values along the step confirm it and give the time.

use crate::analysis::rank::{dense_jacobian, mobility, rank};
use crate::analysis::singular::{Singular, smallest_singular_value};
use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::random::Random;
use crate::state::{Configuration, Pose, Velocity};
use crate::topology::Topology;

/// Up to this many rows singular values are asked.
pub const ROWS: usize = 300;
/// A singular value below this share of the usual, somewhere on the way of a step, is a singular position. Poses between
/// the ends are interpolated and miss the constraints by the square of the step.
const SHARE: f64 = 0.02;
/// A smallest value within this share of a step's ends lies outside of it.
const EDGE: f64 = 1e-3;
/// At most this many are reported.
const MOST: usize = 200;

/// Watches the steps of a run.
pub struct Passage {
    /// Positions found.
    pub found: Vec<Singular>,
    generic_rank: usize,
    usual: f64,
    /// A smallest value at the very end of the last step: it counts where the next step rises from there.
    pending: Option<(f64, f64)>,
    /// Pose and time of the last accepted step.
    last: (f64, Vec<Pose>),
    between: Vec<Pose>,
}

impl Passage {
    /// A watch from the start of a run.
    pub fn new(model: &Model, set: &ConstraintSet, start: &Configuration) -> Self {
        let generic_rank = if set.rows() <= ROWS { mobility(model, start, true).generic.rank } else { 0 };
        let usual = smallest_singular_value(model, set, &start.q, generic_rank).map_or(0.0, |s| if s < 1e-6 { 0.05 } else { s });
        Self { found: Vec::new(), generic_rank, usual, pending: None, last: (start.t, start.q.clone()), between: start.q.clone() }
    }

    /// Smallest singular value that counts, a share `s` of the way from the last step to `q`.
    fn value(&mut self, model: &Model, set: &ConstraintSet, q: &[Pose], s: f64) -> f64 {
        for (b, (from, to)) in self.between.iter_mut().zip(self.last.1.iter().zip(q)) {
            *b = from.moved(&from.increment_to(to).scaled(s));
        }
        smallest_singular_value(model, set, &self.between, self.generic_rank).unwrap_or(f64::INFINITY)
    }

    /// Takes note of an accepted step; `slow` where the iterations of a stage met a slow mode.
    pub fn observe(&mut self, model: &Model, set: &ConstraintSet, t: f64, q: &[Pose], slow: bool) {
        if slow && self.generic_rank > 0 && self.found.len() < MOST && self.usual > 0.0 {
            // The value along the step is a V: golden section finds its foot.
            let golden = 0.5 * (5f64.sqrt() - 1.0);
            let (mut a, mut b) = (0.0, 1.0);
            let (mut x, mut y) = (1.0 - golden, golden);
            let (mut fx, mut fy) = (self.value(model, set, q, x), self.value(model, set, q, y));
            for _ in 0..18 {
                if fx < fy {
                    (b, y, fy) = (y, x, fx);
                    x = b - golden * (b - a);
                    fx = self.value(model, set, q, x);
                } else {
                    (a, x, fx) = (x, y, fy);
                    y = a + golden * (b - a);
                    fy = self.value(model, set, q, y);
                }
            }
            let (s, value) = (0.5 * (a + b), fx.min(fy));
            let time = self.last.0 + s * (t - self.last.0);
            // A fall towards the end is judged by the next step.
            let met = match self.pending.take() {
                Some(pending) if s < EDGE => Some(pending),
                _ if s > EDGE && s < 1.0 - EDGE => Some((time, value)),
                _ => None,
            };
            if s >= 1.0 - EDGE {
                self.pending = Some((time, value));
            }
            if let Some((time, value)) = met.filter(|m| m.1 < SHARE * self.usual) {
                let joints = self.dependent(model, set);
                self.found.push(Singular { time, pivot: value * value, joints });
            }
        } else {
            self.pending = None;
        }
        self.last.0 = t;
        self.last.1.copy_from_slice(q);
    }

    /// Names of the elements whose rows become dependent at the pose `between`.
    fn dependent(&self, model: &Model, set: &ConstraintSet) -> Vec<String> {
        let svd = dense_jacobian(model, set, &self.between).svd(true, false);
        let Some(U) = svd.u else { return Vec::new() };
        let mut order: Vec<usize> = (0..svd.singular_values.len()).collect();
        order.sort_by(|&a, &b| svd.singular_values[b].total_cmp(&svd.singular_values[a]));
        let x = U.column(order[self.generic_rank - 1]);
        let top = x.amax();
        let mut names: Vec<String> = Vec::new();
        for (c, constraint) in set.list.iter().enumerate() {
            let touched = (set.row_start[c]..set.row_start[c + 1]).any(|r| x[r].abs() > 0.05 * top);
            if touched && !names.contains(&constraint.name) {
                names.push(constraint.name.clone());
            }
        }
        names
    }

    /// Times found so far, to be saved.
    pub fn last(&self) -> (f64, &[Pose]) {
        (self.last.0, &self.last.1)
    }

    /// Continues from a saved step.
    pub fn resume(&mut self, t: f64, q: &[Pose]) {
        self.last.0 = t;
        self.last.1.copy_from_slice(q);
    }
}

/// Whether rows are redundant on the constraints only: their rank is higher at a pose beside. In planar mechanisms drift stays
/// in the plane, and so does the pose that is looked at. `None` where the mechanism is too large to be asked.
pub fn geometric(model: &Model, set: &ConstraintSet, start: &Configuration) -> Option<bool> {
    if set.rows() > ROWS {
        return None;
    }
    let here = rank(model, set, &start.q);
    if here.redundant() == 0 {
        return Some(false);
    }
    let mut random = Random(0x5eed_0dca);
    let mut beside = start.q.clone();
    let normal = Topology::new(model).planar;
    for q in &mut beside[1..] {
        let mut d = Velocity { v: random.vector() * (1e-3 * model.length), w: random.vector() * 1e-3 };
        if let Some(n) = normal {
            d.v -= n * n.dot(&d.v);
            let axis = q.A.tr_mul(&n);
            d.w = axis * axis.dot(&d.w);
        }
        *q = q.moved(&d);
    }
    Some(rank(model, set, &beside).rank > here.rank)
}
