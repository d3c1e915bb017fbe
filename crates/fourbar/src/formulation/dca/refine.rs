//! Multipliers to the accuracy of the data, where outputs, friction or drives need them.
//!
//! The iteration of the solver ends when the accelerations have converged. A mode of the rows with singular value `s` shrinks by
//! `1/(1 + alpha s^2/m)` per round, and in ill-conditioned loops some modes are so weak that the accelerations converge long before the
//! multipliers. The remaining residual of the rows, `r2 = gamma - Phi_q a`, is therefore eliminated by conjugate gradients,
//!
//! ```text
//! A y = D^1/2 r2     A = D^1/2 Phi_q K^-1 Phi_q^T D^1/2     da = K^-1 Phi_q^T D^1/2 y     dlambda = D Phi_q da - D^1/2 y
//! ```
//!
//! whose matrix has eigenvalues `theta = alpha s^2/(m + alpha s^2)`, which are near one for ordinary modes: there are as many rounds as
//! weak modes, each a pass up and down with the existing factors. Modes of dependent rows have `theta = 0` and are not changed.
//!
//! Rounding of the data affects a multiplier like an error of the rows divided by `theta`. The result reports this: the accuracy of the
//! multipliers, and the joints in which it is lowest.

use super::solver::{Solver, State};
use super::sweep::Job;
use crate::motion::{DATA, largest_force};
use crate::state::Twist;

/// Maximum number of conjugate gradient rounds in one solve, and of solves: each starts from newly evaluated residuals.
const ROUNDS: usize = 60;
const SOLVES: usize = 4;
/// Modes at or below this belong to dependent rows: this covers rounding of `p - A p`, and singular values of 1e-8, which count as zero in
/// the rank.
const LOST: f64 = 1e-11;
/// Multipliers have converged if their relative change is below this.
const REST: f64 = 1e-12;
/// Residuals below this multiple of the terms of a row are rounding.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Accuracy of multipliers.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Estimated error relative to all multipliers, in the metric of the penalties.
    pub error: f64,
    /// Rounds of conjugate gradients.
    pub rounds: usize,
}

/// Workspace of the refinement; by row, except for the solution.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    r2: Vec<f64>,
    x: Vec<f64>,
    r: Vec<f64>,
    p: Vec<f64>,
    y: Vec<f64>,
    root: Vec<f64>,
    /// The weakest mode found, as multipliers over the square roots of their penalties.
    weakest: Vec<f64>,
}

impl Workspace {
    pub(super) fn new(alpha: &[f64], x: usize) -> Self {
        let rows = vec![0.0; alpha.len()];
        Self {
            r2: rows.clone(),
            x: vec![0.0; x],
            r: rows.clone(),
            p: rows.clone(),
            y: rows.clone(),
            root: alpha.iter().map(|a| a.sqrt()).collect(),
            weakest: rows,
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<const B: usize> Solver<'_, B> {
    const ROWS: Job = Job { rows_only: true, ..Self::AGAIN };

    /// The last change of the multipliers relative to their size, in the metric of the penalties.
    pub(super) fn unrest(&self) -> f64 {
        let (mut change, mut size) = (0.0, 0.0);
        for ((r, l), a) in self.r2.iter().zip(&self.lambda).zip(&self.alpha) {
            change += a * r * r;
            size += l * l / a;
        }
        if change == 0.0 { 0.0 } else { (change / size).sqrt() }
    }

    /// Refines accelerations and multipliers of the last acceleration solve, which must have used the factors of its pose.
    pub fn refine(&mut self, s: &State<'_>, a: &mut [Twist]) -> Known {
        let mut known = Known::default();
        let scale = self.row_scale(s, a);
        if !scale.is_finite() || scale == 0.0 {
            return known;
        }
        let mut weakest = 1.0;
        for _ in 0..SOLVES {
            let (rounds, theta) = self.correct(s, ROUNDING * scale);
            known.rounds += rounds;
            weakest = f64::min(weakest, theta);
            // A pass of the plain iteration reduces the rounding errors of both residuals.
            let changed = self.changed();
            self.up(s, &Self::AGAIN);
            self.down(s, false);
            if changed.is_nan() || changed <= REST {
                break;
            }
        }
        self.solution(s.q, a);
        let size = self.lambda.iter().zip(&self.alpha).map(|(l, a)| l * l / a).sum::<f64>().sqrt();
        let softest = self.alpha.iter().fold(f64::INFINITY, |m, a| m.min(*a));
        let size = size.max(largest_force(self.model, a) / softest.sqrt());
        // No estimate where no mode is weak.
        known.error = if weakest < 1.0 { DATA * scale / (weakest * size) } else { 0.0 };
        known
    }

    /// Norm of the terms of the rows, weighted by the square roots of the penalties.
    fn row_scale(&self, s: &State<'_>, a: &[Twist]) -> f64 {
        let mut sum = 0.0;
        for c in 0..self.set.list.len() {
            let first = self.set.row_start[c];
            let m = self.set.row_start[c + 1] - first;
            // Elements have at most six rows and four bodies.
            let (mut gamma, mut G) = ([0.0; 6], [0.0; 144]);
            self.set.gamma_in(c..c + 1, s.q, s.v, s.t, &mut gamma);
            self.set.jacobian_in(c..c + 1, self.set.value_start(c), s.q, &mut G);
            for (k, gamma) in gamma[..m].iter().enumerate() {
                let size = self.set.acceleration_size(c, k, &G, *gamma, a);
                sum += self.alpha[first + k] * size * size;
            }
        }
        sum.sqrt()
    }

    /// One solve by conjugate gradients down to residuals of size `noise`; returns the rounds and the smallest `theta` found.
    fn correct(&mut self, s: &State<'_>, noise: f64) -> (usize, f64) {
        let mut w = std::mem::take(&mut self.refining);
        w.r2.copy_from_slice(&self.r2);
        w.x.copy_from_slice(&self.x);
        for ((r, r2), root) in w.r.iter_mut().zip(&w.r2).zip(&w.root) {
            *r = r2 * root;
        }
        w.p.copy_from_slice(&w.r);
        w.y.fill(0.0);
        let mut rr = dot(&w.r, &w.r);
        let (mut rounds, mut smallest) = (0, 1.0_f64);
        while rounds < ROUNDS && rr > noise * noise {
            rounds += 1;
            for ((slot, p), root) in self.r2.iter_mut().zip(&w.p).zip(&w.root) {
                *slot = p / root;
            }
            self.up(s, &Self::ROWS);
            self.down(s, true);
            // The slot now contains D^-1/2 (p - A p).
            let (mut pp, mut pAp) = (0.0, 0.0);
            for ((slot, p), root) in self.r2.iter_mut().zip(&w.p).zip(&w.root) {
                let Ap = p - *slot * root;
                pp += p * p;
                pAp += p * Ap;
                *slot = Ap;
            }
            let theta = pAp / pp;
            if theta.is_nan() || theta <= LOST {
                break;
            }
            // Near rounding a direction mixes modes of dependent rows with others, and gives no information.
            if rr > 1e4 * noise * noise && theta < smallest {
                smallest = theta;
                w.weakest.copy_from_slice(&w.p);
            }
            let step = rr / pAp;
            for (((y, r), p), Ap) in w.y.iter_mut().zip(&mut w.r).zip(&w.p).zip(&self.r2) {
                *y += step * p;
                *r -= step * Ap;
            }
            let next = dot(&w.r, &w.r);
            let ratio = next / rr;
            for (p, r) in w.p.iter_mut().zip(&w.r) {
                *p = r + ratio * *p;
            }
            rr = next;
        }
        // da and dlambda from y: the force balance holds for any y.
        self.x.copy_from_slice(&w.x);
        if rounds > 0 {
            for ((slot, y), root) in self.r2.iter_mut().zip(&w.y).zip(&w.root) {
                *slot = y / root;
            }
            self.up(s, &Self::ROWS);
            self.down(s, true);
            for (k, slot) in self.r2.iter_mut().enumerate() {
                // Phi_q da = D^-1/2 y - slot.
                let dlambda = -self.alpha[k] * *slot;
                self.lambda[k] += dlambda;
                *slot += w.r2[k] - w.y[k] / w.root[k];
                w.p[k] = dlambda / w.root[k];
            }
        } else {
            self.r2.copy_from_slice(&w.r2);
            w.p.fill(0.0);
        }
        self.refining = w;
        (rounds, smallest)
    }

    /// The change of the multipliers in the last correction relative to their size, in the metric of the penalties.
    fn changed(&self) -> f64 {
        let size: f64 = self.lambda.iter().zip(&self.alpha).map(|(l, a)| l * l / a).sum();
        let change = dot(&self.refining.p, &self.refining.p);
        if change == 0.0 { 0.0 } else { (change / size).sqrt() }
    }

    /// Names of the elements that are loaded by the weakest mode of the last refinement.
    pub fn weakest(&self) -> Vec<String> {
        self.set.touched(|r| self.refining.weakest[r].abs())
    }
}
