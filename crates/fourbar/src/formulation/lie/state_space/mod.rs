//! The state-space form of rA: as many coordinates as freedoms, and independent velocities, by a basis of the null space of the constraint
//! Jacobian; they are integrated by explicit methods. \[Kissel21, section 6\] names it as future work.
//!
//! At a base pose `q_0` on the constraints, with the metric `W` of the masses and `N` such that `Phi_q N = 0`, `N^T W N = I`, a pose nearby
//! is
//!
//! ```text
//! q = q_0 o exp(delta)     N^T W delta = eta     Phi(q, t) = 0
//! ```
//!
//! so `eta` are its local coordinates and `u = eta_dot` the independent velocities: every state satisfies the constraints, in positions and
//! in velocities, without drift. Velocities follow from `v = T(delta) delta_dot`, `Phi_q v = nu`; accelerations from the index-1 equations
//! of rA, and `u_dot = N^T W delta_ddot` from them. A pose that is far from the base becomes the new base.
//!
//! Poses are found by Newton's method with the matrix at `q_0 o exp(N eta)`, computed anew for every state: a state depends only on its
//! numbers and its base, and a run continues from a checkpoint with bitwise the same results.

mod system;

use super::not_finite;
use crate::absolute::equations::Equations;
use crate::diagnostic::Diagnostic;
use crate::integrator::first_order::{self, Carried};
use crate::motion::{LeastLoads, Motion};
use crate::projector::largest;
use crate::random::Random;
use crate::settings::tau;
use crate::settings::{Study, count};
use crate::singular::Detector;
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use fourbar_math::factor::DenseLu;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};

/// Residuals below this fraction of the extent, or of the speed, are rounding.
const CLOSED: f64 = 1e-13;
/// Maximum number of corrections of a pose or of its velocities.
const CORRECTIONS: usize = 30;
/// A correction that leaves more than this fraction requires a new matrix; with a new matrix, more than the second value means no
/// convergence.
const SLOW: f64 = 0.2;
const STANDING: f64 = 0.9;
/// A pose this far from its base, in characteristic lengths or radians, becomes the base.
const FAR: f64 = 0.4;
/// Beyond this rotation from the base a pose is rejected, radians.
const FARTHEST: f64 = 2.5;
/// For pivots of the local coordinates below this, the fields of the base do not determine the motions at the pose.
const LOST: f64 = 1e-6;

/// A pose with a basis of the motions permitted by the constraints.
struct Base {
    q: Vec<Pose>,
    /// Fields of increments, one after the other.
    N: Vec<Twist>,
    /// Number of the base.
    number: f64,
}

/// Linearised constraints and local coordinates at a pose; the factor of the constraints is in the equations.
struct Linear {
    /// For every field of the base the nearest motion permitted by the constraints.
    Z: Vec<Twist>,
    /// Rotational part of the map from increments of bodies to increments of `delta`.
    inverse: Vec<Matrix3<f64>>,
    /// `N^T W T^-1 Z`.
    entries: Vec<f64>,
    K: DenseLu,
}

/// The mechanism in local coordinates.
pub(super) struct StateSpace<'m> {
    equations: Equations<'m>,
    freedoms: usize,
    /// The base of the present states, and the one before, to which the interior of the last step may belong.
    bases: [Base; 2],
    linear: Linear,
    /// The metric: masses and inertias.
    metric: Vec<(f64, Matrix3<f64>)>,
    /// The pose relative to its base, its rate, and a correction.
    delta: Vec<Twist>,
    rate: Vec<Twist>,
    correction: Vec<Twist>,
    /// Residual of the local coordinates.
    missed: Vec<f64>,
    q: Vec<Pose>,
    v: Vec<Twist>,
    a: Vec<Twist>,
    lambda: Vec<f64>,
    /// Counted angles at the last accepted step.
    turns: Vec<f64>,
    carried: Carried,
    start: Configuration,
    loads: LeastLoads,
    detector: Detector,
    passages: Passages,
    measure: Massless<'m>,
    watched: bool,
    worked: bool,
    tau: f64,
    /// Number of bases so far.
    changes: usize,
    flagged: usize,
}

/// The motion in state space.
pub(super) fn start<'m>(
    structure: &Structure<'m>,
    study: &Study,
    integrator: &'static str,
    at: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let refused = |message: String| {
        Diagnostic::new("U304", message).help("leave the option out: `constraints=project` returns to the constraints after every step")
    };
    if let Some(c) = structure.model.velocity_constraints().next() {
        return Err(refused(format!(
            "`constraints=independent` has one coordinate for every velocity, and `{}` constrains velocities but not positions",
            c.name
        )));
    }
    let found = structure.driven();
    if found.start.mobility() != found.generic.mobility() {
        return Err(refused(format!(
            "`constraints=independent` cannot start at a singular position: {} there, {} elsewhere",
            count(found.start.mobility(), "freedom"),
            found.generic.mobility()
        )));
    }
    let mut system = StateSpace::new(structure, at);
    system.tau = tau(study)?;
    first_order::start(system, structure.model, study, integrator, at.t)
}

/// Difference between the rate of the angular velocity and `T` times the second derivative of the rotation vector: `d(T(psi))/dt psi_dot`.
fn tangent_rate(psi: &Vector3<f64>, rate: &Vector3<f64>) -> Vector3<f64> {
    // T = I - b psi~ + c psi~ psi~, with b and c as series of the square: 1/2 - s/24 + ..., 1/6 - s/120 + ...
    let (s, s_dot) = (psi.norm_squared(), 2.0 * psi.dot(rate));
    let (mut c, mut b_s, mut c_s) = (0.0, 0.0, 0.0);
    // power is (-s)^k, before (-s)^(k-1); factors are 1/(2k+2)! and 1/(2k+3)!.
    let (mut power, mut before) = (1.0, 0.0);
    let (mut even, mut odd) = (0.5, 1.0 / 6.0);
    for k in 0..14 {
        let n = f64::from(k);
        c += power * odd;
        b_s -= n * before * even;
        c_s -= n * before * odd;
        before = power;
        power *= -s;
        even /= (2.0 * n + 3.0) * (2.0 * n + 4.0);
        odd /= (2.0 * n + 4.0) * (2.0 * n + 5.0);
    }
    let cross = psi.cross(rate);
    cross * (-b_s * s_dot) + psi.cross(&cross) * (c_s * s_dot) + rate.cross(&cross) * c
}

fn not_closed(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S233", format!("no pose of the mechanism is found near the last one at t = {t:.6} s"))
            .time(t)
            .help("a smaller step or tolerance may help; a singular position may be near"),
    )
}

/// `a^T W b`.
fn dot(metric: &[(f64, Matrix3<f64>)], a: &[Twist], b: &[Twist]) -> f64 {
    metric.iter().zip(a.iter().zip(b)).skip(1).map(|((m, J), (a, b))| m * a.v.dot(&b.v) + a.w.dot(&(J * b.w))).sum()
}

/// The weighted sum of the fields of one body.
fn combined(fields: &[Twist], n: usize, b: usize, c: &[f64]) -> Twist {
    c.iter().enumerate().fold(Twist::zero(), |s, (k, c)| s.plus(&fields[k * n + b].scaled(*c)))
}

impl<'m> StateSpace<'m> {
    /// The system at a consistent configuration.
    fn new(structure: &Structure<'m>, at: &Configuration) -> Self {
        let model = structure.model;
        let equations = Equations::of(model, structure.rows.clone(), at);
        let (n, freedoms) = (model.bodies.len(), structure.driven().generic.mobility());
        let metric = equations.p.inverse.iter().map(|w| (1.0 / w.m, w.J.try_inverse().unwrap_or_else(Matrix3::zeros))).collect();
        let base = |number: f64| Base { q: at.q.clone(), N: vec![Twist::zero(); n * freedoms], number };
        let (mut passages, mut measure) = (Passages::new(model.length, n), Massless::new(structure));
        measure.look(&mut passages, at.t, &at.q, &at.v);
        let still = vec![Twist::zero(); n];
        let mut new = Self {
            loads: structure.reactions(&at.q),
            detector: Detector::new(structure, at),
            passages,
            measure,
            watched: structure.looped,
            bases: [base(0.0), base(-1.0)],
            linear: Linear {
                Z: vec![Twist::zero(); n * freedoms],
                inverse: vec![Matrix3::identity(); n],
                entries: vec![0.0; freedoms * freedoms],
                K: DenseLu::new(freedoms),
            },
            metric,
            freedoms,
            delta: still.clone(),
            rate: still.clone(),
            correction: still.clone(),
            missed: vec![0.0; freedoms],
            q: at.q.clone(),
            v: at.v.clone(),
            a: still,
            lambda: vec![0.0; equations.set.rows()],
            turns: at.turns.clone(),
            carried: Carried::new(model, at),
            start: at.clone(),
            worked: model.has_work(),
            tau: 0.1,
            changes: 0,
            flagged: 0,
            equations,
        };
        // Any fields are suitable at first: their projections onto the constraints span all motions.
        let mut random = Random(1);
        for (k, d) in new.bases[0].N.iter_mut().enumerate() {
            let (m, J) = &new.metric[k % n];
            let inertia = (J.trace() / 3.0).max(f64::MIN_POSITIVE);
            *d = Twist { v: random.vector() / m.sqrt(), w: random.vector() / inertia.sqrt() };
        }
        new.equations.set.choose(at.t);
        new.make_basis();
        new
    }

    /// Turns arbitrary fields in the first base into a basis of the motions permitted by the constraints at its pose.
    fn make_basis(&mut self) {
        let (n, metric) = (self.q.len(), &self.metric);
        let e = &mut self.equations;
        let base = &mut self.bases[0];
        e.jacobian(&base.q);
        e.factor(1.0);
        for k in 0..self.freedoms {
            let (done, rest) = base.N.split_at_mut(k * n);
            let own = &mut rest[..n];
            own[0] = Twist::zero();
            // Three times, to remove errors from rounding and compliance.
            for _ in 0..3 {
                e.set.multiply(&e.G, own, &mut e.p.x);
                e.normal_part();
                for (d, x) in own.iter_mut().zip(&e.p.dq).skip(1) {
                    *d = d.plus(&x.scaled(-1.0));
                }
                for other in done.chunks_exact(n) {
                    let along = dot(metric, other, own);
                    own.iter_mut().zip(other).for_each(|(d, o)| *d = d.plus(&o.scaled(-along)));
                }
                let size = dot(metric, own, own).sqrt();
                own.iter_mut().for_each(|d| *d = d.scaled(1.0 / size));
            }
        }
    }

    /// Linearises constraints and local coordinates at the pose in `q`, which is `delta` from its base.
    fn linearise(&mut self, t: f64, base: usize) -> Result<(), Box<Diagnostic>> {
        let (n, f) = (self.q.len(), self.freedoms);
        let (e, linear, N) = (&mut self.equations, &mut self.linear, &self.bases[base].N);
        e.jacobian(&self.q);
        e.factor(1.0);
        for (inverse, d) in linear.inverse.iter_mut().zip(&self.delta) {
            *inverse = so3::tangent_inv(&d.w);
        }
        if f == 0 {
            return Ok(());
        }
        for (Z, N) in linear.Z.chunks_exact_mut(n).zip(N.chunks_exact(n)) {
            for b in 1..n {
                Z[b] = Twist { v: N[b].v, w: so3::tangent(&self.delta[b].w) * N[b].w };
            }
            e.set.multiply(&e.G, Z, &mut e.p.x);
            e.normal_part();
            Z.iter_mut().zip(&e.p.dq).skip(1).for_each(|(z, d)| *z = z.plus(&d.scaled(-1.0)));
        }
        for (k, Z) in linear.Z.chunks_exact(n).enumerate() {
            for b in 1..n {
                self.correction[b] = Twist { v: Z[b].v, w: linear.inverse[b] * Z[b].w };
            }
            for (i, N) in N.chunks_exact(n).enumerate() {
                linear.entries[i * f + k] = dot(&self.metric, N, &self.correction);
            }
        }
        let entries = &linear.entries;
        if linear.K.factor_whole(|i, k| entries[i * f + k]) > LOST { Ok(()) } else { Err(not_closed(t)) }
    }

    /// The increment of the bodies that cancels the residual of the rows, in `x`, and that of the local coordinates; into `correction`.
    fn correct(&mut self, base: usize) {
        let (n, e, linear) = (self.q.len(), &mut self.equations, &mut self.linear);
        e.normal_part();
        for b in 1..n {
            let d = &e.p.dq[b];
            self.correction[b] = Twist { v: -d.v, w: -(linear.inverse[b] * d.w) };
        }
        for (missed, N) in self.missed.iter_mut().zip(self.bases[base].N.chunks_exact(n)) {
            *missed -= dot(&self.metric, N, &self.correction);
        }
        if self.freedoms > 0 {
            linear.K.solve(&mut self.missed);
        }
        for b in 1..n {
            self.correction[b] = combined(&linear.Z, n, b, &self.missed).plus(&e.p.dq[b].scaled(-1.0));
        }
    }

    /// Which of the two bases belongs to a state.
    fn base_of(&self, number: f64) -> usize {
        usize::from(number != self.bases[0].number)
    }

    /// The pose of local coordinates at a time, into `q` and `delta`.
    fn place(&mut self, t: f64, base: usize, eta: &[f64]) -> Result<(), Box<Diagnostic>> {
        let (n, L) = (self.q.len(), self.equations.model.length);
        for b in 1..n {
            self.delta[b] = combined(&self.bases[base].N, n, b, eta);
        }
        let (mut last, mut fresh) = (f64::INFINITY, true);
        for k in 0..CORRECTIONS {
            // Not greater: NaN counts as too far.
            if !self.delta.iter().all(|d| d.w.norm_squared() < FARTHEST * FARTHEST) {
                break;
            }
            for b in 1..n {
                self.q[b] = self.bases[base].q[b].moved(&self.delta[b]);
            }
            if k == 0 {
                self.linearise(t, base)?;
            }
            let extent = self.q[1..].iter().fold(L, |m, q| m.max(q.r.amax()));
            self.equations.constraints(&self.q, &self.turns, t);
            let gap = largest(&self.equations.Phi);
            // Rounding errors do not decrease: a stagnating residual far below any tolerance counts as closed.
            if gap <= CLOSED * extent || (k > 1 && gap > 0.5 * last && gap <= 1e3 * CLOSED * extent) {
                return Ok(());
            }
            if !gap.is_finite() || (fresh && gap > STANDING * last) {
                break;
            }
            fresh = gap > SLOW * last;
            if fresh {
                self.linearise(t, base)?;
            }
            last = gap;
            let e = &mut self.equations;
            e.p.x.copy_from_slice(&e.Phi);
            self.missed.fill(0.0);
            self.correct(base);
            for b in 1..n {
                // In terms of the base, a correction of the pose is mapped by the tangent operator of the matrix, so that the coordinates
                // are met exactly.
                let d = &self.correction[b];
                self.delta[b] = self.delta[b].plus(&Twist { v: d.v, w: self.linear.inverse[b] * d.w });
            }
        }
        Err(not_closed(t))
    }

    /// The velocities for given independent ones at the pose in `q` and `delta`, into `v` and `rate`.
    fn speed(&mut self, t: f64, base: usize, u: &[f64]) -> Result<(), Box<Diagnostic>> {
        let (n, L) = (self.q.len(), self.equations.model.length);
        self.equations.jacobian(&self.q);
        for b in 1..n {
            let rate = combined(&self.bases[base].N, n, b, u);
            self.v[b] = Twist { v: rate.v, w: so3::tangent(&self.delta[b].w) * rate.w };
        }
        let (mut last, mut fresh) = (f64::INFINITY, false);
        for k in 0..CORRECTIONS {
            let size = self.v.iter().fold(1e-3 * L / self.tau, |m, v| m.max(v.v.amax()).max(L * v.w.amax()));
            for b in 1..n {
                self.rate[b] = Twist { v: self.v[b].v, w: so3::tangent_inv(&self.delta[b].w) * self.v[b].w };
            }
            let N = &self.bases[base].N;
            for ((missed, u), N) in self.missed.iter_mut().zip(u).zip(N.chunks_exact(n)) {
                *missed = u - dot(&self.metric, N, &self.rate);
            }
            let missed = (1..n).map(|b| combined(N, n, b, &self.missed)).fold(0.0, |m: f64, d| m.max(d.v.amax()).max(L * d.w.amax()));
            let error = self.equations.velocity_residual(t, &self.v).max(missed);
            if error <= CLOSED * size || (k > 1 && error > 0.5 * last && error <= 1e3 * CLOSED * size) {
                return Ok(());
            }
            if !error.is_finite() || (fresh && error > STANDING * last) {
                break;
            }
            fresh = error > SLOW * last;
            if fresh {
                self.linearise(t, base)?;
                self.equations.velocity_residual(t, &self.v);
            }
            last = error;
            self.correct(base);
            self.v.iter_mut().zip(&self.correction).skip(1).for_each(|(v, d)| *v = v.plus(d));
        }
        Err(not_closed(t))
    }

    /// Reads a state: inputs and states, pose and velocities. Returns its base.
    fn unpack(&mut self, t: f64, y: &[f64]) -> Result<usize, Box<Diagnostic>> {
        let (z, y) = y.split_at(self.carried.len());
        self.equations.z.copy_from_slice(z);
        self.equations.set.choose(t);
        let base = self.base_of(y[0]);
        let (eta, u) = y[1..1 + 2 * self.freedoms].split_at(self.freedoms);
        self.place(t, base, eta)?;
        self.speed(t, base, u)?;
        Ok(base)
    }

    /// Accelerations, multipliers and power at the state in `q`, `v`.
    fn solve(&mut self, t: f64, polish: bool) -> Result<f64, Box<Diagnostic>> {
        // Starts from zero: an evaluation must not depend on the preceding one.
        self.a.fill(Twist::zero());
        self.equations.accelerate((&self.q, &self.v, &self.turns, t), None, polish, &mut self.a, &mut self.lambda);
        if !self.a.iter().map(|a| a.v.sum() + a.w.sum()).sum::<f64>().is_finite() {
            return Err(not_finite(t));
        }
        Ok(if self.worked { self.equations.power(&self.q, &self.v, &self.lambda, &self.turns, t) } else { 0.0 })
    }

    /// Makes the pose in `q` the base of the following states, and rewrites the state.
    fn rebase(&mut self, y: &mut [f64]) {
        let n = self.q.len();
        self.bases.swap(0, 1);
        let [new, old] = &mut self.bases;
        new.number = old.number + 1.0;
        new.q.copy_from_slice(&self.q);
        for q in &mut new.q[1..] {
            q.A = so3::orthonormalise(&q.A);
        }
        // The old fields, transformed by the change of the pose, are nearly the new ones.
        for (k, (new, old)) in new.N.iter_mut().zip(&old.N).enumerate() {
            let d = &self.delta[k % n];
            *new = Twist { v: old.v, w: so3::tangent(&d.w) * old.w };
        }
        self.make_basis();
        self.changes += 1;
        let (f, base) = (self.freedoms, &self.bases[0]);
        y[0] = base.number;
        y[1..1 + f].fill(0.0);
        for (u, N) in y[1 + f..1 + 2 * f].iter_mut().zip(base.N.chunks_exact(n)) {
            *u = dot(&self.metric, N, &self.v);
        }
    }

    /// Size of an increment of local coordinates as a motion of the bodies, metres.
    fn size_of(&self, d: &[f64]) -> f64 {
        let (n, L) = (self.q.len(), self.equations.model.length);
        let mut most = 0.0_f64;
        for b in 1..n {
            let d = combined(&self.bases[0].N, n, b, d);
            if (d.v.sum() + d.w.sum()).is_nan() {
                return f64::NAN;
            }
            most = most.max(d.v.norm()).max(L * d.w.norm());
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_the_tangent_operator_is_its_derivative() {
        let mut random = Random(11);
        for k in 0..30 {
            let size = [1e-4, 0.3, 1.4][k % 3];
            let (psi, rate): (Vector3<f64>, Vector3<f64>) = (random.vector() * size, random.vector());
            let h = 1e-5;
            let ahead = so3::tangent(&(psi + rate * h)) * rate;
            let back = so3::tangent(&(psi - rate * h)) * rate;
            let truth = (ahead - back) / (2.0 * h);
            assert!((tangent_rate(&psi, &rate) - truth).amax() < 1e-9, "{psi} {rate}");
        }
    }
}
