//! The common workspace for solving with the constraints in a metric of the bodies: with the Jacobian `G` of a pose, inverse weights `W^-1`
//! and `S = scale G W^-1 G^T + mu` factored, corrections of poses and velocities are `W^-1 G^T S^-1 (G v - nu)`, accelerations and
//! multipliers come from the same factor, self-stresses are preserved by `mu S^-1`, and dependent rows are those with vanishing pivots.
//!
//! Constraints are passed as arguments, so that their owner can choose their pieces (tables, curves) between calls.

use crate::constraint::ConstraintSet;
use crate::schur::{InverseMass, Schur};
use crate::state::{Pose, Twist, Wrench};

/// Constraints in a metric of the bodies, with the data for solving; nothing is allocated except the pattern of the factor.
#[derive(Clone, Debug)]
pub struct Projector {
    /// The factored matrix, with the Jacobian it was formed from.
    pub schur: Schur,
    /// Inverse weights of the bodies.
    pub inverse: Vec<InverseMass>,
    /// Factor of the weights, so that pivots and shifts are of the order of one.
    pub scale: f64,
    /// Right-hand sides and solutions on the rows.
    pub x: Vec<f64>,
    /// Effect of multipliers on the bodies.
    pub wrench: Vec<Wrench>,
    /// Increments of the bodies.
    pub dq: Vec<Twist>,
}

impl Projector {
    /// For constraints and inverse weights of all bodies, ground included.
    pub fn new(set: &ConstraintSet, inverse: Vec<InverseMass>) -> Self {
        let n = inverse.len();
        Self {
            schur: Schur::new(set, n),
            inverse,
            scale: 1.0,
            x: vec![0.0; set.rows()],
            wrench: vec![Wrench::zero(); n],
            dq: vec![Twist::zero(); n],
        }
    }

    /// The same with the mean weight of the moving bodies as unit.
    pub fn scaled(set: &ConstraintSet, inverse: Vec<InverseMass>) -> Self {
        let scale = mean_weight(&inverse);
        Self { scale, ..Self::new(set, inverse) }
    }

    /// Factors at a pose, the diagonal shifted by `mu`.
    pub fn factor(&mut self, set: &ConstraintSet, q: &[Pose], mu: f64) {
        set.jacobian(q, &mut self.schur.G);
        self.factor_rows(mu);
    }

    /// Factors with the Jacobian already stored in the factor.
    pub fn factor_rows(&mut self, mu: f64) {
        self.schur.factor(&self.inverse, self.scale, mu);
    }

    /// `x = S^-1 x`.
    pub fn solve(&mut self) {
        self.schur.solve(&mut self.x);
    }

    /// Effect of the multipliers in `x` on the bodies, `G^T x`, into `wrench`; returns the largest force, or torque divided by `length`, on
    /// a moving body.
    pub fn load(&mut self, set: &ConstraintSet, length: f64) -> f64 {
        self.wrench.fill(Wrench::zero());
        set.add_transposed(&self.schur.G, &self.x, 1.0, &mut self.wrench);
        self.wrench[1..].iter().fold(0.0_f64, |s, l| s.max(l.F.amax()).max(l.T.amax() / length))
    }

    /// `factor scale W^-1 G^T x` into `dq`.
    pub fn spread(&mut self, set: &ConstraintSet, factor: f64) {
        self.wrench.fill(Wrench::zero());
        set.add_transposed(&self.schur.G, &self.x, factor * self.scale, &mut self.wrench);
        for (d, (f, w)) in self.dq.iter_mut().zip(self.wrench.iter().zip(&self.inverse)) {
            *d = w.apply(f);
        }
    }

    /// The smallest increments that change the rows by `x`, into `dq`: `scale W^-1 G^T S^-1 x`. Overwrites `x` by the multipliers.
    pub fn normal_part(&mut self, set: &ConstraintSet) {
        self.solve();
        self.spread(set, 1.0);
    }

    /// `G v` into `x`, with the Jacobian of the factor.
    pub fn rates(&mut self, set: &ConstraintSet, v: &[Twist]) {
        set.multiply(&self.schur.G, v, &mut self.x);
    }

    /// `G dq` into `x`: the change of the rows by the increments.
    pub fn rates_of_increments(&mut self, set: &ConstraintSet) {
        set.multiply(&self.schur.G, &self.dq, &mut self.x);
    }

    /// One filter of the multipliers in `x` towards self-stresses, `mu S^-1 x`, which preserves self-stresses and nearly removes all other
    /// components; returns the remaining load, in the measure of [`Projector::load`].
    pub fn filter(&mut self, set: &ConstraintSet, mu: f64, length: f64) -> f64 {
        self.x.iter_mut().for_each(|x| *x *= mu);
        self.solve();
        self.load(set, length)
    }

    /// Size of the multipliers in `x`.
    pub fn size(&self) -> f64 {
        self.x.iter().fold(0.0_f64, |s, x| s.max(x.abs()))
    }

    /// Names of the joints and drives whose rows depend on each other, by inverse iteration from the weakest row; permanently dependent
    /// rows are ignored. Overwrites `x`.
    pub fn dependent_names(&mut self, set: &ConstraintSet, permanent: &[bool], row: usize) -> Vec<String> {
        if self.x.is_empty() {
            return Vec::new();
        }
        self.x.fill(0.0);
        self.x[row] = 1.0;
        for _ in 0..3 {
            self.solve();
            for (x, p) in self.x.iter_mut().zip(permanent) {
                if *p {
                    *x = 0.0;
                }
            }
            let top = self.size().max(f64::MIN_POSITIVE);
            self.x.iter_mut().for_each(|x| *x /= top);
        }
        set.touched(|r| self.x[r].abs())
    }
}

/// The mean weight of the moving bodies for translations.
fn mean_weight(inverse: &[InverseMass]) -> f64 {
    let moving = inverse.iter().filter(|w| w.m > 0.0).count().max(1) as f64;
    moving / inverse.iter().map(|w| w.m).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// Largest magnitude in a list; NaN if any entry is NaN, which a plain maximum would hide.
pub fn largest(x: &[f64]) -> f64 {
    let (most, sum) = x.iter().fold((0.0_f64, 0.0), |(m, s), x| (m.max(x.abs()), s + x));
    if sum.is_nan() { f64::NAN } else { most }
}
