//! Absolute coordinates with rotation matrices, rA [Kissel21, section 3.1].
//!
//! Unknowns per body: `v = (r_dot, omega_bar)`; equations of motion `M v_dot + (0, omega_bar x J omega_bar) - f + Phi_q^T lambda = 0` and
//! the constraints. This file evaluates residuals and solves with the joint Schur complement `S = Phi_q M^-1 Phi_q^T / b_a + eps`, whose
//! body pivots are constant. Redundant rows are permitted by a compliance `Phi - eps h^2 lambda = 0` in both matrix and residual, so that
//! multipliers are unique and do not drift.

use super::states::StateEquations;
use crate::constraint::ConstraintSet;
use crate::force::eval;
use crate::force::load::{self, NormalLoads};
use crate::model::Model;
use crate::motion::Poorly;
use crate::projector::{Projector, largest};
use crate::schur::{inverse_masses, unit_weights};
use crate::singular::regular_pivot;
use crate::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::{Matrix3, Vector3};

/// Compliance of a row relative to the diagonal of S.
pub const COMPLIANCE: f64 = 1e-9;
/// Relative pivots below this at the start belong to redundant rows if they consist mostly of compliance: the part that remains with less
/// compliance is geometric, near a singular position.
const REDUNDANT: f64 = 1e-6;
const GEOMETRY: f64 = 0.5;
/// Larger pivots count as redundant too if they fall with the compliance when it is reduced to this fraction.
const LESS: f64 = 1e-4;
/// Maximum number of rounds for accelerations: raised inertias and the compliance of weak modes take several. The second value includes
/// friction loads.
const ROUNDS: usize = 12;
const FRICTION_ROUNDS: usize = 40;
/// Above this pivot the error of the compliance after two solves is usually far below the error of a step.
const WELL_DEFINED: f64 = 1e-2;
/// The effect of the compliance is removed by further terms until the next term would change the motion by less than this fraction of the
/// first, as long as each term is smaller than `FALLING` times the preceding one: the modes of long chains without nearly dependent rows
/// are as weak as the inverse square of the length and need several terms; modes that do not decrease belong to dependent rows. The last
/// value is the maximum number of terms.
const TAKEN_BACK: f64 = 1e-14;
const FALLING: f64 = 0.5;
const TERMS: usize = 24;
/// Inertias below this fraction of `m L^2` belong to particles and thin rods; in the matrix they are raised to FLOOR.
pub(crate) const NO_INERTIA: f64 = 1e-6;
pub(super) const FLOOR: f64 = 1e-4;

/// The equations of a mechanism with their workspace.
pub struct Equations<'m> {
    /// The mechanism.
    pub model: &'m Model,
    /// Constraints, drives included.
    pub set: ConstraintSet,
    /// The constraints in the metric of the masses, with right-hand sides and increments.
    pub p: Projector,
    /// Whether some inertia was raised, so that solves with the matrix are iterated.
    pub floored: bool,
    /// Compliance per row; constant.
    pub eps: Vec<f64>,
    /// Jacobian at the last evaluated pose.
    pub G: Vec<f64>,
    /// Constraint residual at the last evaluated pose.
    pub Phi: Vec<f64>,
    /// Residual of the equations of motion; temporarily the applied forces.
    pub r: Vec<Wrench>,
    rhs: Vec<f64>,
    /// Right-hand side of the acceleration constraints.
    pub(super) gamma: Vec<f64>,
    pub(super) weak: super::weak::Workspace,
    /// Largest uncertainty of multipliers at outputs.
    pub poorly: Poorly,
    /// Loads of joints with dry friction.
    pub loads: NormalLoads,
    /// Inputs and states for the force laws; must be set before an evaluation.
    pub z: Vec<f64>,
    /// Equations of the states in an implicit step.
    pub states: StateEquations,
    /// Rows that are redundant at the start, according to the pivots.
    pub permanent: Vec<bool>,
    /// Smallest pivot among the other rows at the last factorisation, and its row.
    pub regular_pivot: (f64, usize),
    /// Factorisations so far.
    pub factorisations: usize,
    /// Whether multipliers of outputs are refined, as required for reactions.
    pub refined: bool,
}

impl<'m> Equations<'m> {
    /// Equations of a model around an assembled configuration.
    pub fn new(model: &'m Model, start: &Configuration) -> Self {
        Self::of(model, ConstraintSet::new(model.all_constraints(), |_| false), start)
    }

    /// The same with a given layout of all constraints.
    pub fn of(model: &'m Model, set: ConstraintSet, start: &Configuration) -> Self {
        let L2 = model.length * model.length;
        let mut inverse = inverse_masses(model, 0.0);
        let mut floored = false;
        for (k, b) in model.bodies.iter().enumerate().skip(1) {
            if b.J_bar.symmetric_eigenvalues().min() < NO_INERTIA * b.mass * L2 {
                // Only directions without inertia are raised: a slender body keeps its small inertia.
                let e = nalgebra::SymmetricEigen::new(b.J_bar);
                let d = e.eigenvalues.map(|x| if x < NO_INERTIA * b.mass * L2 { 1.0 / (FLOOR * b.mass * L2) } else { 1.0 / x });
                inverse[k].J = e.eigenvectors * Matrix3::from_diagonal(&d) * e.eigenvectors.transpose();
                floored = true;
            }
        }
        // A coil that may spin about its axis has neither an inertia nor a torque about it. It does not spin: off the constraints, as inside
        // steps, rounding and gaps would act like a torque on no inertia.
        for c in model.coils.iter().filter(|c| c.spins) {
            let across = Matrix3::identity() - c.axis * c.axis.transpose();
            let J = &mut inverse[c.body.index()].J;
            *J = across * *J * across;
        }
        let (m, n, values) = (set.rows(), model.bodies.len(), set.values);
        let mut e = Self {
            model,
            p: Projector::new(&set, inverse),
            floored,
            eps: vec![0.0; m],
            G: vec![0.0; values],
            Phi: vec![0.0; m],
            r: vec![Wrench::zero(); n],
            rhs: vec![0.0; m],
            gamma: vec![0.0; m],
            weak: super::weak::Workspace::new(m, model.bodies.len()),
            poorly: Poorly::default(),
            loads: NormalLoads::new(model, &set),
            z: start.z.clone(),
            states: StateEquations::new(model),
            permanent: vec![false; m],
            regular_pivot: (1.0, 0),
            factorisations: 0,
            refined: true,
            set,
        };
        e.set.jacobian(&start.q, &mut e.G);
        e.p.schur.G.copy_from_slice(&e.G);
        // Dependence of rows is a geometric property: a light body between heavy ones makes pivots in the metric of the masses small
        // without any dependence. Both metrics must therefore indicate it.
        e.permanent.fill(true);
        for metric in [unit_weights(model), e.p.inverse.clone()] {
            e.p.schur.form(&metric, 1.0);
            e.p.schur.diagonal(&mut e.eps);
            e.eps.iter_mut().for_each(|x| *x *= COMPLIANCE);
            // The pivot of a dependent row is the compliance times the squares of the coefficients of the dependence, which may be large:
            // only such a pivot falls with the compliance.
            e.p.schur.shift_rows(&e.eps, LESS);
            e.p.schur.factor_formed();
            e.p.x.copy_from_slice(e.p.schur.pivots());
            e.p.schur.form(&metric, 1.0);
            e.factor_form();
            for ((p, x), less) in e.permanent.iter_mut().zip(e.p.schur.pivots()).zip(&e.p.x) {
                *p &= *less < if *x < REDUNDANT { GEOMETRY } else { 2.0 * LESS } * x;
            }
        }
        e.factorisations = 1;
        e.note_pivot();
        e
    }

    fn factor_form(&mut self) {
        self.p.schur.shift_rows(&self.eps, 1.0);
        self.p.schur.factor_formed();
        self.factorisations += 1;
    }

    fn note_pivot(&mut self) {
        self.regular_pivot = regular_pivot(self.p.schur.pivots(), &self.permanent);
    }

    /// Factors `S = Phi_q M^-1 Phi_q^T / b_a + eps` with the Jacobian in `G`.
    pub fn factor(&mut self, b_a: f64) {
        self.p.schur.G.copy_from_slice(&self.G);
        self.p.schur.form(&self.p.inverse, 1.0 / b_a);
        self.factor_form();
        self.note_pivot();
    }

    /// Jacobian into `G`.
    pub fn jacobian(&mut self, q: &[Pose]) {
        self.set.jacobian(q, &mut self.G);
    }

    /// Residual of the constraints into `Phi`.
    pub fn constraints(&mut self, q: &[Pose], turns: &[f64], t: f64) {
        self.set.residual(q, turns, t, &mut self.Phi);
    }

    /// Solves for the states of an implicit step at these poses and velocities, from their values in `z`; `false` if it fails.
    pub fn solve_states(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, z: &mut [f64]) -> bool {
        let plain = eval::Plain { t, q, v, turns, loads: &self.loads.by_joint, z: &[] };
        let done = self.states.solve(self.model, &plain, z);
        self.z.copy_from_slice(z);
        done
    }

    /// Rates of inputs and states into `out`, with their values in `z`.
    pub fn state_rates(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, out: &mut [f64]) {
        if !out.is_empty() {
            let plain = eval::Plain { t, q, v, turns, loads: &self.loads.by_joint, z: &self.z };
            self.model.auxiliary_rates(&plain, out);
        }
    }

    /// Residual of the equations of motion into `r`, with the Jacobian in `G`.
    pub fn motion(&mut self, q: &[Pose], v: &[Twist], v_dot: &[Twist], lambda: &[f64], turns: &[f64], t: f64) {
        self.loads.update(&self.set, q, lambda);
        self.motion_under_loads(q, v, v_dot, lambda, turns, t);
    }

    /// The same with given loads.
    fn motion_under_loads(&mut self, q: &[Pose], v: &[Twist], v_dot: &[Twist], lambda: &[f64], turns: &[f64], t: f64) {
        let x = eval::Plain { t, q, v, turns, loads: &self.loads.by_joint, z: &self.z };
        eval::applied(self.model, &x, &mut self.r);
        for b in 1..self.r.len() {
            let body = &self.model.bodies[b];
            let (v, a, f) = (&v[b], &v_dot[b], &mut self.r[b]);
            f.F = a.v * body.mass - f.F;
            f.T = body.J_bar * a.w + v.w.cross(&(body.J_bar * v.w)) - f.T;
        }
        self.r[0] = Wrench::zero();
        self.set.add_transposed(&self.G, lambda, 1.0, &mut self.r);
        self.r[0] = Wrench::zero();
    }

    /// Whether all increments are finite; maxima would hide NaN.
    pub fn increments_are_finite(&self) -> bool {
        let sum: f64 = self.p.dq.iter().map(|d| d.v.sum() + d.w.sum()).sum::<f64>() + self.p.x.iter().sum::<f64>();
        sum.is_finite()
    }

    /// Solves for increments: `dq` of the bodies and `x = d(h^2 lambda)`, given `h^2 r` scaled by `h2` and the row
    /// residual in `rc`. Uses the Jacobian of the factor.
    pub fn solve(&mut self, h2: f64, b_a: f64) {
        // x holds the row residual on entry.
        for (d, (r, w)) in self.p.dq.iter_mut().zip(self.r.iter().zip(&self.p.inverse)) {
            *d = w.apply(r).scaled(-h2 / b_a);
        }
        self.set.multiply(&self.p.schur.G, &self.p.dq, &mut self.rhs);
        for (x, y) in self.p.x.iter_mut().zip(&self.rhs) {
            *x += y;
        }
        self.p.schur.solve(&mut self.p.x);
        // r is reused here for Phi_q^T d(h^2 lambda).
        self.r.fill(Wrench::zero());
        self.set.add_transposed(&self.p.schur.G, &self.p.x, 1.0, &mut self.r);
        for (d, (r, w)) in self.p.dq.iter_mut().zip(self.r.iter().zip(&self.p.inverse)) {
            let y = w.apply(r);
            d.v -= y.v / b_a;
            d.w -= y.w / b_a;
        }
    }

    /// Replaces `Phi` by `factor (G v - nu)`, the rows of the stabilised index-2 form; the Jacobian is in `G`.
    pub fn velocity_rows(&mut self, v: &[Twist], t: f64, factor: f64) {
        self.set.nu(t, &mut self.rhs);
        self.set.multiply(&self.G, v, &mut self.Phi);
        for (p, n) in self.Phi.iter_mut().zip(&self.rhs) {
            *p = factor * (*p - n);
        }
    }

    /// Second solve of the stabilised form, after [`Equations::solve`]: the increments of positions that close `Phi`, given
    /// the increments `dq` of velocities. `eta` are the multipliers of that correction.
    pub fn solve_positions(&mut self, b_a: f64, eta: &mut [f64], out: &mut [Twist]) {
        let mu = std::mem::take(&mut self.p.x);
        self.set.multiply(&self.p.schur.G, &self.p.dq, &mut self.rhs);
        for k in 0..eta.len() {
            self.rhs[k] += self.Phi[k] - self.eps[k] * eta[k];
        }
        for (_, row, r) in self.set.rolling() {
            // Rolling constraints have no position residual to correct.
            self.rhs[row..row + r.count()].fill(0.0);
        }
        self.p.schur.solve(&mut self.rhs);
        self.r.fill(Wrench::zero());
        self.set.add_transposed(&self.p.schur.G, &self.rhs, 1.0 / b_a, &mut self.r);
        for (o, (d, (r, w))) in out.iter_mut().zip(self.p.dq.iter().zip(self.r.iter().zip(&self.p.inverse))) {
            let y = w.apply(r);
            *o = Twist { v: d.v - y.v, w: d.w - y.w };
        }
        for (e, x) in eta.iter_mut().zip(&self.rhs) {
            *e += x;
        }
        self.p.x = mu;
    }

    /// Index-1 accelerations and multipliers at a consistent state; `a` is also the initial guess. Needs the factor with `b_a = 1` at this
    /// pose and its Jacobian in `G`. The multipliers start from zero, so that the first pass gives those of minimum norm, and the following
    /// passes remove the effect of the compliance on the accelerations.
    pub fn index1(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, a: &mut [Twist], lambda: &mut [f64]) {
        self.set.gamma(q, v, t, &mut self.gamma);
        self.iterate_index1(q, v, turns, t, a, lambda);
    }

    /// The same for outputs: also multipliers of nearly dependent constraints to rounding. Off the constraints, as inside steps, such
    /// multipliers have no meaning.
    pub fn index1_polished(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, a: &mut [Twist], lambda: &mut [f64]) {
        self.index1(q, v, turns, t, a, lambda);
        self.refine(q, v, turns, t, a, lambda);
    }

    /// Factors at a pose and solves for its index-1 accelerations and multipliers, with only the work needed in an explicit stage: forces
    /// are evaluated once if they do not depend on multipliers and no inertia was raised. With a `rate`, violations of position and
    /// velocity constraints decay at this rate (Baumgarte). `polish` requires accelerations and multipliers to rounding even for nearly
    /// dependent constraints, as for outputs.
    pub fn accelerate(
        &mut self,
        (q, v, turns, t): (&[Pose], &[Twist], &[f64], f64),
        rate: Option<f64>,
        polish: bool,
        a: &mut [Twist],
        lambda: &mut [f64],
    ) {
        self.jacobian(q);
        self.factor(1.0);
        self.set.gamma(q, v, t, &mut self.gamma);
        if let Some(rate) = rate {
            self.set.residual(q, turns, t, &mut self.Phi);
            self.set.nu(t, &mut self.rhs);
            self.set.multiply(&self.G, v, &mut self.p.x);
            for k in 0..self.gamma.len() {
                self.gamma[k] -= rate * (2.0 * (self.p.x[k] - self.rhs[k]) + rate * self.Phi[k]);
            }
        }
        if self.floored || !self.loads.is_empty() {
            self.iterate_index1(q, v, turns, t, a, lambda);
            if polish {
                self.refine(q, v, turns, t, a, lambda);
            }
            return;
        }
        eval::applied(self.model, &eval::Plain { t, q, v, turns, loads: &self.loads.by_joint, z: &self.z }, &mut self.r);
        for b in 0..self.r.len() {
            let w = &v[b].w;
            self.r[b].T -= w.cross(&(self.model.bodies[b].J_bar * w));
            a[b] = self.p.inverse[b].apply(&self.r[b]);
        }
        self.set.multiply(&self.G, a, &mut self.p.x);
        for (x, g) in self.p.x.iter_mut().zip(&self.gamma) {
            *x -= g;
        }
        self.solve_firmly(polish, lambda);
        self.p.wrench.fill(Wrench::zero());
        self.set.add_transposed(&self.G, lambda, 1.0, &mut self.p.wrench);
        for (a, (f, w)) in a.iter_mut().zip(self.p.wrench.iter().zip(&self.p.inverse)) {
            let d = w.apply(f);
            a.v -= d.v;
            a.w -= d.w;
        }
        if polish {
            self.refine(q, v, turns, t, a, lambda);
        }
    }

    /// Solves for the multipliers of the right-hand side in `x`, into `out`, and removes the effect of the compliance of the rows by
    /// further solves, at least two with `polish`.
    pub fn solve_firmly(&mut self, polish: bool, out: &mut [f64]) {
        let first = self.solve_for_motion();
        out.copy_from_slice(&self.p.x);
        // (S0 + eps) x = b leaves the residual eps x of b, for which another solve follows. Otherwise it would be an error across the
        // constraints that becomes one along them in the following steps.
        let least = if self.regular_pivot.0 > WELL_DEFINED && !polish { 1 } else { 2 };
        let mut last = first;
        for term in 1..=TERMS {
            for (x, e) in self.p.x.iter_mut().zip(&self.eps) {
                *x *= e;
            }
            let now = self.solve_for_motion();
            for (l, x) in out.iter_mut().zip(&self.p.x) {
                *l += x;
            }
            let goes_on = now * now > TAKEN_BACK * TAKEN_BACK * first * last && now < FALLING * FALLING * last;
            if term >= least && !goes_on {
                break;
            }
            last = now;
        }
    }

    /// Solves for the multipliers of the right-hand side in `x`; returns the square of their effect on the motion, in the metric of the
    /// masses. Multipliers of rows that contradict each other have no effect on it, however large they are.
    fn solve_for_motion(&mut self) -> f64 {
        self.rhs.copy_from_slice(&self.p.x);
        self.p.schur.solve(&mut self.p.x);
        // x S0 x, with (S0 + eps) x = b.
        self.p.x.iter().zip(self.rhs.iter().zip(&self.eps)).map(|(x, (b, e))| x * (b - e * x)).sum::<f64>().max(0.0)
    }

    /// For a checkpoint: accelerations where the next ones are computed by an iteration that starts from them; empty otherwise.
    pub fn saved_guess(&self, a: &[Twist]) -> Vec<f64> {
        let iterates = self.floored || !self.loads.is_empty();
        a.iter().filter(|_| iterates).flat_map(|a| a.v.iter().chain(&a.w).copied().collect::<Vec<f64>>()).collect()
    }

    /// The inverse of [`Equations::saved_guess`]; values of another size are ignored.
    pub fn restore_guess(saved: &[f64], a: &mut [Twist]) {
        if saved.len() == 6 * a.len() {
            for (a, x) in a.iter_mut().zip(saved.chunks_exact(6)) {
                *a = Twist { v: Vector3::new(x[0], x[1], x[2]), w: Vector3::new(x[3], x[4], x[5]) };
            }
        }
    }

    fn iterate_index1(&mut self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64, a: &mut [Twist], lambda: &mut [f64]) {
        let rounds = if self.loads.is_empty() { ROUNDS } else { FRICTION_ROUNDS };
        let (mut last, mut last_load) = (f64::INFINITY, f64::INFINITY);
        lambda.fill(0.0);
        for round in 0..rounds {
            // In the first round there are no multipliers, and hence no loads.
            match round {
                0 => self.loads.update(&self.set, q, lambda),
                _ => self.loads.iterate(&self.set, q, lambda, round == 1),
            };
            self.motion_under_loads(q, v, a, lambda, turns, t);
            // With a prescribed motion loads change though accelerations do not. The first round has no loads yet.
            let loads_rest = self.loads.is_empty() || (round > 0 && load::rest(self.loads.change, last_load, round));
            last_load = self.loads.change;
            self.set.multiply(&self.G, a, &mut self.p.x);
            for k in 0..self.p.x.len() {
                self.p.x[k] -= self.gamma[k];
            }
            self.solve(1.0, 1.0);
            let (mut change, mut size) = (0.0_f64, 0.0_f64);
            for (a, d) in a.iter_mut().zip(&self.p.dq) {
                change = change.max(d.v.amax()).max(self.model.length * d.w.amax());
                a.v += d.v;
                a.w += d.w;
                size = size.max(a.v.amax()).max(self.model.length * a.w.amax());
            }
            for (l, x) in lambda.iter_mut().zip(&self.p.x) {
                *l += x;
            }
            // Every round adds rounding to the multipliers of redundant rows: without raised inertias no unnecessary rounds are made.
            let enough = if !self.floored && round >= 2 { 1e-12 } else { 1e-15 };
            if loads_rest && (change <= enough * size || (change >= 0.5 * last && change <= 1e-9 * size)) {
                break;
            }
            last = change;
        }
    }

    /// Projects velocities onto the constraints in the metric of the masses, with the factor at this pose (`b_a = 1`).
    pub fn project_velocity(&mut self, t: f64, v: &mut [Twist]) {
        for _ in 0..2 {
            self.normal_velocity(t, v);
            for (v, d) in v.iter_mut().zip(&self.p.dq) {
                v.v -= d.v;
                v.w -= d.w;
            }
        }
    }

    /// The part of the velocities that violates the constraints, `M^-1 G^T S^-1 (G v - nu)`, into `dq`.
    pub fn normal_velocity(&mut self, t: f64, v: &[Twist]) {
        self.velocity_residual(t, v);
        self.normal_part();
    }

    /// `G v - nu` into `x`; its largest entry.
    pub fn velocity_residual(&mut self, t: f64, v: &[Twist]) -> f64 {
        self.set.nu(t, &mut self.rhs);
        self.set.multiply(&self.G, v, &mut self.p.x);
        for (x, n) in self.p.x.iter_mut().zip(&self.rhs) {
            *x -= n;
        }
        largest(&self.p.x)
    }

    /// `M^-1 G^T S^-1 x` into `dq`.
    pub fn normal_part(&mut self) {
        self.p.normal_part(&self.set);
    }

    /// Power of drives and of forces without a potential.
    pub fn power(&mut self, q: &[Pose], v: &[Twist], lambda: &[f64], turns: &[f64], t: f64) -> f64 {
        self.powers(q, v, lambda, turns, t).iter().sum()
    }

    /// Power of drives, and of forces without a potential.
    pub fn powers(&mut self, q: &[Pose], v: &[Twist], lambda: &[f64], turns: &[f64], t: f64) -> [f64; 2] {
        self.loads.update(&self.set, q, lambda);
        self.set.nu(t, &mut self.rhs);
        let drives: f64 = lambda.iter().zip(&self.rhs).map(|(l, n)| -l * n).sum();
        [drives, self.power_of_forces(q, v, turns, t)]
    }

    /// Power of forces without a potential, friction with the loads that were computed last.
    pub fn power_of_forces(&self, q: &[Pose], v: &[Twist], turns: &[f64], t: f64) -> f64 {
        eval::power(self.model, &eval::Plain { t, q, v, turns, loads: &self.loads.by_joint, z: &self.z })
    }

    /// Largest residuals of position, velocity and acceleration constraints with the Jacobian in `G`.
    pub fn errors(&mut self, q: &[Pose], v: &[Twist], a: &[Twist], turns: &[f64], t: f64) -> [f64; 3] {
        let difference = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
        self.set.residual(q, turns, t, &mut self.Phi);
        let position = self.Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        self.set.nu(t, &mut self.rhs);
        self.set.multiply(&self.G, v, &mut self.p.x);
        let velocity = difference(&self.p.x, &self.rhs);
        self.set.gamma(q, v, t, &mut self.rhs);
        self.set.multiply(&self.G, a, &mut self.p.x);
        [position, velocity, difference(&self.p.x, &self.rhs)]
    }
}
