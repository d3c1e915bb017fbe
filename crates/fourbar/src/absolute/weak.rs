//! Multipliers of nearly dependent constraints to the accuracy of the data, for the formulations that solve with the joint Schur
//! complement.
//!
//! The compliance `eps` of the matrix absorbs the fraction `eps/(eps + s^2)` of a mode with eigenvalue `s^2`, and a round of refinement
//! recovers only the rest of it: accelerations converge long before weak modes of the multipliers do. At outputs the system without
//! compliance is therefore solved by conjugate gradients, with the factored matrix as preconditioner: all ordinary modes are solved in one
//! round, every weak one in one more. Dependent rows, for which `s^2` vanishes, are not changed.

use super::equations::{COMPLIANCE, Equations};
use crate::motion::{DATA, largest_force};
use crate::random::Random;
use crate::state::{Pose, Twist, Wrench};

/// If the relative pivots of all rows are above this, every mode is ordinary.
const CLEAR: f64 = 0.1;
/// Maximum number of conjugate gradient rounds, and of solves: each starts from newly evaluated residuals.
const ROUNDS: usize = 40;
const SOLVES: usize = 4;
/// Fractions `s^2/(eps + s^2)` below this belong to dependent rows: singular values of 1e-8, which count as zero in the rank.
const LOST: f64 = 1e-7;
/// Residuals below this fraction of the first are rounding; multipliers that change by less than `REST` have converged.
const ROUNDING: f64 = 1e-13;
const REST: f64 = 1e-12;
/// If all pivots are above the first value, no mode is as weak as the second: the eigenvalue, relative to the diagonal, at which rounding
/// of the state becomes significant.
const SUSPICIOUS: f64 = 1e-5;
const WEAK: f64 = 1e-7;
/// After this many filters the contribution of ordinary modes vanishes; if the remainder is below the second value, relative to the
/// diagonal, it belongs to dependent rows: singular values of 1e-8, which count as zero in the rank.
const FILTERS: usize = 3;
const DEPENDENT: f64 = 1e-17;

/// Vectors by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    b: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    Sp: Vec<f64>,
    /// Accelerations by body, and their changes due to multipliers.
    a: Vec<Twist>,
    d: Vec<Twist>,
}

impl Workspace {
    pub(super) fn new(rows: usize, bodies: usize) -> Self {
        let x = vec![0.0; rows];
        Self { b: x.clone(), z: x.clone(), p: x.clone(), Sp: x, a: vec![Twist::zero(); bodies], d: vec![Twist::zero(); bodies] }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Equations<'_> {
    /// Refines index-1 multipliers, with the factor of this pose (`b_a = 1`), its Jacobian in `G` and the right-hand side of the
    /// acceleration constraints in `gamma`. The accelerations have converged already: with dependent rows their changes during the
    /// refinement exceed rounding, so that they are not changed.
    pub(super) fn refine(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, a: &[Twist], lambda: &mut [f64]) {
        if !self.refined {
            return;
        }
        let mut own = std::mem::take(&mut self.weak.a);
        own.copy_from_slice(a);
        self.refine_with(q, v, turns, t, &mut own, lambda);
        self.weak.a = own;
        self.doubt(t, a, lambda);
    }

    /// Records the uncertainty of the multipliers. Rounding of the state acts on them like an error of the rows, divided by the eigenvalue
    /// `mu` of their mode; modes so weak that the compliance hides them are found by filtering a vector, which leaves these and dependent
    /// rows. `mu` is their mean weighted by their effect on the bodies, so that dependent rows do not count.
    fn doubt(&mut self, t: f64, a: &[Twist], lambda: &[f64]) {
        if self.p.schur.pivots().iter().all(|p| *p > SUSPICIOUS) {
            return;
        }
        let mut w = std::mem::take(&mut self.weak);
        let mut random = Random(0x5eed_0281);
        for (p, e) in w.p.iter_mut().zip(&self.eps) {
            *p = random.number() / e.sqrt();
        }
        for _ in 0..FILTERS {
            w.p.iter_mut().zip(&self.eps).for_each(|(p, e)| *p *= e);
            self.p.schur.solve(&mut w.p);
        }
        self.without_compliance(&w.p, &mut w.d, &mut w.Sp);
        // In the metric of the diagonal, to which the compliance is proportional.
        let (mut pp, mut pSp, mut SpSp) = (0.0, 0.0, 0.0);
        for ((p, Sp), e) in w.p.iter().zip(&w.Sp).zip(&self.eps) {
            let d = e / COMPLIANCE;
            pp += d * p * p;
            pSp += p * Sp;
            SpSp += Sp * Sp / d;
        }
        let mu = SpSp / pSp;
        if pSp > DEPENDENT * pp && mu < WEAK {
            let (mut scale, mut size, mut softest) = (0.0, 0.0, 0.0_f64);
            for c in 0..self.set.list.len() {
                let G = &self.G[self.set.value_start(c)..];
                for (k, row) in (self.set.row_start[c]..self.set.row_start[c + 1]).enumerate() {
                    let d = self.eps[row] / COMPLIANCE;
                    scale += self.set.acceleration_size(c, k, G, self.gamma[row], a).powi(2) / d;
                    size += d * lambda[row] * lambda[row];
                    softest = softest.max(d);
                }
            }
            let size = f64::max(size.sqrt(), largest_force(self.model, a) * softest.sqrt());
            self.poorly.note(DATA * scale.sqrt() / (mu * size), t, || self.set.touched(|r| w.Sp[r].abs() / self.eps[r].sqrt()));
        }
        self.weak = w;
    }

    /// `y = Phi_q d` with `d = M^-1 Phi_q^T x`. Overwrites `r`.
    fn without_compliance(&mut self, x: &[f64], d: &mut [Twist], y: &mut [f64]) {
        self.r.fill(Wrench::zero());
        self.set.add_transposed(&self.G, x, 1.0, &mut self.r);
        for (d, (r, w)) in d.iter_mut().zip(self.r.iter().zip(&self.p.inverse)) {
            *d = w.apply(r);
        }
        self.set.multiply(&self.G, d, y);
    }

    fn refine_with(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, a: &mut [Twist], lambda: &mut [f64]) {
        if self.regular_pivot.0 > CLEAR || lambda.is_empty() {
            return;
        }
        for _ in 0..SOLVES {
            self.motion(q, v, a, lambda, turns, t);
            for (d, (r, w)) in self.p.dq.iter_mut().zip(self.r.iter().zip(&self.p.inverse)) {
                *d = w.apply(r).scaled(-1.0);
            }
            self.set.multiply(&self.G, a, &mut self.p.x);
            let mut w = std::mem::take(&mut self.weak);
            self.set.multiply(&self.G, &self.p.dq, &mut w.b);
            for ((b, x), gamma) in w.b.iter_mut().zip(&self.p.x).zip(&self.gamma) {
                *b += x - gamma;
            }
            self.gradients(&mut w);
            self.weak = w;
            // x holds the change of the multipliers.
            if !self.p.x.iter().all(|x| x.is_finite()) {
                return;
            }
            self.r.fill(Wrench::zero());
            self.set.add_transposed(&self.G, &self.p.x, 1.0, &mut self.r);
            for ((a, d), (r, w)) in a.iter_mut().zip(&self.p.dq).zip(self.r.iter().zip(&self.p.inverse)) {
                let y = w.apply(r);
                a.v += d.v - y.v;
                a.w += d.w - y.w;
            }
            let (mut change, mut size) = (0.0, 0.0);
            for ((l, x), e) in lambda.iter_mut().zip(&self.p.x).zip(&self.eps) {
                *l += x;
                change += e * x * x;
                size += e * *l * *l;
            }
            if change <= REST * REST * size {
                return;
            }
        }
    }

    /// `S0 x = b` with the complement without compliance, from zero into `x`. Overwrites `r` and `w`.
    fn gradients(&mut self, w: &mut Workspace) {
        self.p.x.fill(0.0);
        w.z.copy_from_slice(&w.b);
        self.p.schur.solve(&mut w.z);
        w.p.copy_from_slice(&w.z);
        let mut rz = dot(&w.b, &w.z);
        let first = rz;
        for _ in 0..ROUNDS {
            if rz.is_nan() || rz <= ROUNDING * ROUNDING * first {
                return;
            }
            self.without_compliance(&w.p, &mut w.d, &mut w.Sp);
            let pSp = dot(&w.p, &w.Sp);
            let shifted = pSp + w.p.iter().zip(&self.eps).map(|(p, e)| e * p * p).sum::<f64>();
            if pSp.is_nan() || pSp <= LOST * shifted {
                return;
            }
            let step = rz / pSp;
            for (((x, b), p), Sp) in self.p.x.iter_mut().zip(&mut w.b).zip(&w.p).zip(&w.Sp) {
                *x += step * p;
                *b -= step * Sp;
            }
            w.z.copy_from_slice(&w.b);
            self.p.schur.solve(&mut w.z);
            let next = dot(&w.b, &w.z);
            for (p, z) in w.p.iter_mut().zip(&w.z) {
                *p = z + next / rz * *p;
            }
            rz = next;
        }
    }
}
