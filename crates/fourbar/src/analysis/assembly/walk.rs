//! The path onto the constraints and along them: Levenberg-Marquardt, then the point nearest to the drawn pose, in one metric.

use super::{FLOOR, flipped_joint, reach};
use crate::constraint::{Constraint, ConstraintSet};
use crate::model::{BodyId, Model};
use crate::projector::Projector;
use crate::schur::{InverseMass, inverse_weights};
use crate::state::{Configuration, Pose, Twist};
use fourbar_math::so3;
use nalgebra::Matrix3;

/// Iterations of one Levenberg-Marquardt run.
const ITERATIONS: usize = 200;
/// Closing a drawn pose slowly: number of steps, first compliance and its factor from step to step.
const DRAWN: (usize, f64, f64) = (30, 30.0, 0.5);

/// The distance between poses: a body is weighted with its mass, its rotation with its inertia, which is raised to at least 0.01 m L^2.
pub struct Metric {
    /// Mass and inertia of every body; zero for the ground.
    weights: Vec<(f64, Matrix3<f64>)>,
    /// Mass of all bodies.
    pub(super) total: f64,
}

impl Metric {
    /// The metric of a model.
    pub fn new(model: &Model) -> Self {
        Self::of(&inverse_weights(model, FLOOR))
    }

    fn of(inverse: &[InverseMass]) -> Self {
        let weight = |w: &InverseMass| if w.m > 0.0 { (1.0 / w.m, w.J.try_inverse().unwrap_or_default()) } else { (0.0, Matrix3::zeros()) };
        let weights: Vec<_> = inverse.iter().map(weight).collect();
        let total = weights.iter().map(|w| w.0).sum();
        Self { weights, total }
    }

    /// Squared distance of one body times its mass, kg m^2.
    pub fn square(&self, body: usize, from: &Pose, to: &Pose) -> f64 {
        let (m, J) = &self.weights[body];
        let d = from.increment_to(to);
        m * d.v.norm_squared() + d.w.dot(&(J * d.w))
    }

    /// Root mean square of the displacements of all mass, metres.
    pub fn distance(&self, from: &[Pose], to: &[Pose]) -> f64 {
        let sum: f64 = (1..from.len()).map(|b| self.square(b, &from[b], &to[b])).sum();
        (sum / self.total.max(f64::MIN_POSITIVE)).sqrt()
    }
}

/// The equations of one phase with their workspace.
pub(super) struct Problem {
    /// Time of the drives.
    t: f64,
    pub(super) set: ConstraintSet,
    pub(super) on: Projector,
    pub(super) weights: Vec<f64>,
    pub(super) Phi: Vec<f64>,
}

impl Problem {
    pub(super) fn new(list: Vec<Constraint>, held: &[bool], inverse: Vec<InverseMass>, t: f64) -> Self {
        let set = ConstraintSet::new(list, |b: BodyId| held[b.index()]);
        let on = Projector::scaled(&set, inverse);
        Self { t, on, weights: vec![1.0; set.list.len()], Phi: vec![0.0; set.rows()], set }
    }

    /// Weighted residual at `q` into `Phi`; returns its squared norm.
    pub(super) fn evaluate(&mut self, q: &[Pose], turns: &[f64]) -> f64 {
        self.set.residual(q, turns, self.t, &mut self.Phi);
        for (c, w) in self.weights.iter().enumerate() {
            for x in &mut self.Phi[self.set.row_start[c]..self.set.row_start[c + 1]] {
                *x *= w;
            }
        }
        self.Phi.iter().map(|x| x * x).sum()
    }

    /// Weighted Jacobian at `q`.
    pub(super) fn jacobian(&mut self, q: &[Pose]) {
        self.set.jacobian(q, &mut self.on.schur.G);
        for c in 0..self.set.list.len() {
            let rows = self.set.row_start[c + 1] - self.set.row_start[c];
            for b in self.set.blocks_of(c) {
                for x in &mut self.on.schur.G[b.start..b.start + 6 * rows] {
                    *x *= self.weights[c];
                }
            }
        }
    }

    /// The factor of the weighted equations at `q`.
    pub(super) fn factor(&mut self, q: &[Pose], mu: f64) {
        self.jacobian(q);
        self.on.factor_rows(mu);
    }

    /// The smallest increments that change the rows by minus the right-hand side in `x`.
    pub(super) fn solve(&mut self) {
        self.on.solve();
        self.on.spread(&self.set, -1.0);
    }
}

/// Largest translation, or rotation times `L`, of a set of increments.
fn size(dq: &[Twist], L: f64) -> f64 {
    dq.iter().fold(0.0, |s, d| f64::max(s, d.v.norm().max(L * d.w.norm())))
}

/// Outcome of a Levenberg-Marquardt run.
pub(super) struct Closed {
    pub(super) residual: f64,
    pub(super) iterations: usize,
}

/// Levenberg-Marquardt from `q`; stops when closed or stationary.
pub(super) fn close(model: &Model, p: &mut Problem, q: &mut Vec<Pose>, turns: &[f64], tolerance: f64) -> Closed {
    let L = model.length;
    let mut mu = 1e-2;
    let mut f = p.evaluate(q, turns);
    let mut trial = q.clone();
    let mut iterations = 0;
    let mut small = 0;
    while iterations < ITERATIONS && !crate::stop::told() {
        let worst = p.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        if worst <= tolerance {
            break;
        }
        iterations += 1;
        p.factor(q, mu);
        p.on.x.copy_from_slice(&p.Phi);
        p.solve();
        // Predicted decrease of the linear model under the damped step: |Phi|^2 - |Phi + G dq|^2.
        let length = size(&p.on.dq, L);
        let cap = (0.5 * L / length).min(1.0);
        for (t, (q, d)) in trial.iter_mut().zip(q.iter().zip(&p.on.dq)) {
            *t = q.moved(&d.scaled(cap));
        }
        p.on.rates_of_increments(&p.set);
        let predicted = f - p.Phi.iter().zip(&p.on.x).map(|(a, b)| (a + cap * b).powi(2)).sum::<f64>();
        let before = f;
        let new = p.evaluate(&trial, turns);
        if new.is_finite() && new < f {
            let gain = (before - new) / predicted.max(f64::MIN_POSITIVE);
            std::mem::swap(q, &mut trial);
            f = new;
            if gain > 0.75 {
                mu = (mu * 0.1).max(1e-13);
            } else if gain < 0.25 {
                mu *= 4.0;
            }
            small = if before - new < 1e-9 * before { small + 1 } else { 0 };
        } else {
            p.evaluate(q, turns);
            mu *= 10.0;
            small += 1;
        }
        // Stationary: no significant progress, or steps of rounding size.
        if small >= 8 || (length * cap < 1e-15 * L && mu <= 1e-10) || mu > 1e12 {
            break;
        }
    }
    p.evaluate(q, turns);
    Closed { residual: p.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs())), iterations }
}

/// The step towards the drawn pose on the constraints linearised at `q`, with compliance `mu`: `dq = -d + W^-1 G^T lambda` with
/// `(S + mu) lambda = -Phi + G d`, and `d` the gradient of the squared distance.
fn towards(start: &Configuration, metric: &Metric, p: &mut Problem, q: &[Pose], mu: f64) -> Vec<Twist> {
    p.evaluate(q, &start.turns);
    p.factor(q, mu);
    let d: Vec<Twist> = (0..q.len())
        .map(|b| {
            let d = start.q[b].increment_to(&q[b]);
            Twist { v: d.v, w: p.on.inverse[b].J * so3::tangent_inv(&d.w).tr_mul(&(metric.weights[b].1 * d.w)) }
        })
        .collect();
    p.on.rates(&p.set, &d);
    for (x, phi) in p.on.x.iter_mut().zip(&p.Phi) {
        *x = phi - *x;
    }
    p.solve();
    let steps = p.on.dq.iter().zip(&d).zip(&p.on.inverse);
    steps.map(|((a, b), w)| if w.m > 0.0 { a.plus(&b.scaled(-1.0)) } else { Twist::zero() }).collect()
}

/// The path from drawn poses to closed ones.
pub(super) struct Walk<'a> {
    pub(super) model: &'a Model,
    /// The drawn pose.
    pub(super) start: &'a Configuration,
    /// The true rows.
    pub(super) p: Problem,
    /// The same with rows that make axes coincide; created when first needed.
    aligned: Option<Problem>,
    held: &'a [bool],
    pub(super) metric: Metric,
    /// Residual at which Levenberg-Marquardt ends, metres.
    tolerance: f64,
    /// Residual up to which a pose counts as closed, metres.
    pub(super) closed: f64,
    /// Iterations of Levenberg-Marquardt.
    pub(super) iterations: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(model: &'a Model, rows: Vec<Constraint>, held: &'a [bool], start: &'a Configuration) -> Self {
        let inverse = inverse_weights(model, FLOOR);
        let extent = reach(model).max(model.length);
        let metric = Metric::of(&inverse);
        let p = Problem::new(rows, held, inverse, start.t);
        Self { model, start, p, aligned: None, held, metric, tolerance: 1e-13 * extent, closed: 1e-9 * extent, iterations: 0 }
    }

    fn with_aligned<T>(&mut self, f: impl FnOnce(&mut Self, &mut Problem) -> T) -> T {
        let mut aligned = self.aligned.take().unwrap_or_else(|| {
            let mut rows = self.p.set.list.clone();
            rows.extend(self.model.alignment_constraints());
            Problem::new(rows, self.held, self.p.on.inverse.clone(), self.start.t)
        });
        let result = f(self, &mut aligned);
        self.aligned = Some(aligned);
        result
    }

    /// Closes a pose without flipping axes; returns the largest remaining residual.
    pub(super) fn close(&mut self, q: &mut Vec<Pose>) -> f64 {
        let (model, turns) = (self.model, &self.start.turns);
        let first = self.with_aligned(|_, aligned| close(model, aligned, q, turns, 1e-6 * model.length));
        let then = close(model, &mut self.p, q, turns, self.tolerance);
        self.iterations += first.iterations + then.iterations;
        then.residual
    }

    /// The closed pose reached from a start, nearest to the drawn one if it closes completely; leaves its residuals in `p`.
    pub(super) fn from(&mut self, mut q: Vec<Pose>) -> Vec<Pose> {
        let residual = self.close(&mut q);
        if residual <= self.closed && flipped_joint(self.model, &q).is_none() {
            self.nearest(&mut q);
        }
        self.p.evaluate(&q, &self.start.turns);
        q
    }

    /// Closes a pose slowly: the constraints are springs whose stiffness grows step by step against springs to the drawn pose, so that it
    /// follows the nearest pose, starting at the drawing.
    pub(super) fn draw_closed(&mut self, q: &mut [Pose]) {
        let L = self.model.length;
        let (steps, mut mu, factor) = DRAWN;
        self.with_aligned(|w, aligned| {
            for _ in 0..steps {
                let step = towards(w.start, &w.metric, aligned, q, mu);
                let share = (0.3 * L / size(&step, L)).min(1.0);
                for (q, d) in q.iter_mut().zip(&step) {
                    *q = q.moved(&d.scaled(share));
                }
                mu *= factor;
            }
        });
    }

    /// Moves along the constraints to the point nearest to the drawn pose.
    pub(super) fn nearest(&mut self, q: &mut Vec<Pose>) {
        let (model, L) = (self.model, self.model.length);
        let mut best = self.metric.distance(&self.start.q, q);
        for _ in 0..50 {
            let step = towards(self.start, &self.metric, &mut self.p, q, 1e-10);
            let length = size(&step, L);
            let mut share = (0.3 * L / length).min(1.0);
            // Where the constraints are curved, a full step may increase the distance.
            let mut taken = None;
            for _ in 0..5 {
                let mut trial: Vec<Pose> = q.iter().zip(&step).map(|(q, d)| q.moved(&d.scaled(share))).collect();
                let result = close(model, &mut self.p, &mut trial, &self.start.turns, self.tolerance);
                let now = self.metric.distance(&self.start.q, &trial);
                if result.residual <= self.closed && now <= best * (1.0 + 1e-12) && flipped_joint(model, &trial).is_none() {
                    taken = Some((trial, now));
                    break;
                }
                if length * share < 1e-6 * L {
                    break;
                }
                share *= 0.3;
            }
            let Some((trial, now)) = taken else { return };
            *q = trial;
            let gained = best - now;
            best = now;
            if length < 1e-9 * L || gained < 1e-12 * best {
                return;
            }
        }
    }
}
