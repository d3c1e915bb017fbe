//! The local error of a step.
//!
//! Third derivatives of the motion, as differences of accelerations, give the truncation error of a step. Only the differential part, along
//! the constraints, accumulates from step to step. The part across them is algebraic, since positions satisfy the constraints at the end of
//! every step: it is an error of velocities that is not propagated to the next step, and it contains the variations of the multipliers. The
//! two parts are separated by the Schur complement of the step, in the metric of the masses.
//!
//! The tolerance refers to the sum of local errors over the run. Errors along the constraints are therefore measured per unit of time: with
//! a method of order `p` both the error per time and that of the run fall with the power `p` of the step.

use super::{Chart, Exact, Method, Rate, Stepper, Weights};
use crate::absolute::equations::NO_INERTIA;
use crate::model::Model;
use crate::state::{Twist, Wrench};
use nalgebra::{Matrix3, SymmetricEigen};

/// Number of characteristic times in which the errors of steps may add up to the tolerance. Those of backward Euler all have the same sign,
/// because of its damping.
const UNITS: f64 = 4.0;
const UNITS_OF_EULER: f64 = 10.0;
/// Factor on the errors in charts with a singularity, whose contribution the estimate does not include. Measured on spinning tops.
const CAUTION: f64 = 2.0;
/// Errors of single steps below this fraction of the tolerance are neglected, however short the step.
const NOTHING: f64 = 1e-6;
/// If the iteration without forces in its matrix converges more slowly than this, forces are examined: under stiff forces errors of
/// velocities do not last.
const STIFF: f64 = 0.01;

/// Truncation error of a step, metres; rotations are multiplied by the characteristic length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LocalError {
    /// Of positions along the constraints.
    along: f64,
    /// Of positions across the constraints, without the constraint forces: over the step it is the error of velocities across.
    across: f64,
    /// Effect of the error of velocities along the constraints after the characteristic time, metres.
    speed: f64,
    /// Of states, as fractions of their sizes times the characteristic length.
    states: f64,
}

/// Projectors onto the directions in which a body has inertia, for bodies without inertia in some direction: the others are determined only
/// by constraints, and a rotation about them moves nothing.
pub(super) fn inert(model: &Model) -> Vec<Option<Matrix3<f64>>> {
    let least = |mass: f64| NO_INERTIA * mass * model.length * model.length;
    let of = |J: &Matrix3<f64>, mass: f64| {
        let e = SymmetricEigen::new(*J);
        let has = e.eigenvalues.map(|x| f64::from(x >= least(mass)));
        (has.min() < 1.0).then(|| e.eigenvectors * Matrix3::from_diagonal(&has) * e.eigenvectors.transpose())
    };
    model.bodies.iter().map(|b| of(&b.J_bar, b.mass)).collect()
}

impl<C: Chart> Stepper<'_, C> {
    /// The time in which errors of steps may add up to the tolerance, s.
    pub(super) fn unit(&self) -> f64 {
        self.tau * if self.method == Method::BackwardEuler { UNITS_OF_EULER } else { UNITS }
    }

    /// Size of the mechanism, and the rounding error of an increment in a step, metres.
    pub(super) fn rounding(&self, h: f64) -> (f64, f64) {
        let q_size = self.memory.q.iter().fold(self.equations.model.length, |s, q| s.max(q.r.amax()));
        (q_size, 10.0 * f64::EPSILON * (q_size + h * self.size(self.memory.velocities())))
    }

    /// The error of a step of size `h` relative to the permitted one: at one, the errors of steps add up to the tolerance in the time of
    /// [`Stepper::unit`].
    pub fn error_per_time(&self, h: f64) -> f64 {
        let LocalError { along, across, speed, states } = self.error;
        let sum = self.unit() * along.max(states).max(speed);
        (largest(sum, self.tau * across) / (h * self.tol)).min(self.error_per_step(h) / NOTHING)
    }

    /// The same for a single step, for forces that are not smooth.
    pub fn error_per_step(&self, h: f64) -> f64 {
        let LocalError { along, across, speed, states } = self.error;
        largest(along.max(states).max(speed), self.tau / h * across) / self.tol
    }

    /// Local error of the trial step, with the Schur complement factored near its end, and the exact matrix if it was used.
    pub(super) fn estimate(&mut self, h: f64, exact: bool) {
        let (c, euler) = (self.coefficients, self.method == Method::BackwardEuler);
        let (c_q, c_v) = match self.method {
            Method::GenAlpha { .. } => {
                let da = c.alpha_m - c.alpha_f;
                let kappa = 0.5 * (1.0 - c.alpha_f) - (1.0 - c.alpha_m) * (0.5 + da);
                (c.beta + 0.5 * da - 1.0 / 6.0, kappa + c.gamma * (0.5 + da) - 1.0 / 6.0)
            }
            Method::Bdf2 => {
                // With the ratio r of this step to the last; third derivatives belong to the middles of both.
                let r = c.beta;
                let k = (1.0 + r).powi(2) / (6.0 * r * (1.0 + 2.0 * r));
                (k, k * 2.0 * r / (1.0 + r))
            }
            Method::BackwardEuler => (0.5, 0.5),
        };
        let (m, x) = (&self.memory, &mut self.trial);
        let alpha = matches!(self.method, Method::GenAlpha { .. });
        // Near their singularity coordinates change faster than the rotations they describe, which affects the multipliers.
        let mut in_chart = 0.0;
        for b in 1..x.q.len() {
            let (new, old) = if alpha { (x.a[b], m.a[b]) } else { (x.v_dot[b], m.v_dot[b]) };
            x.jerk[b] = new.plus(&old.scaled(-1.0)).scaled(1.0 / h);
            let field = if euler { &x.v_dot[b] } else { &x.jerk[b] };
            self.fields[b] = C::twist(&x.x[b], field);
            if C::SINGULAR {
                in_chart = largest(in_chart, self.equations.model.length * field.angular_size());
            }
        }
        let states = self.equations.model.length * self.estimate_carried(h, c_v);
        if self.tol == 0.0 {
            // No estimate for fixed steps.
            return;
        }
        let (mut along, across) = self.split();
        if exact && along > 0.0 {
            along = self.filtered(h, c.b_a);
        }
        let (m, x) = (&self.memory, &self.trial);
        for b in 1..x.q.len() {
            let change = if euler { x.jerk[b] } else { x.jerk[b].plus(&m.jerk[b].scaled(-1.0)) };
            self.fields[b] = C::twist(&x.x[b], &change);
        }
        let (mut speed, _) = self.split();
        // The residual of positions after the iteration is divided by powers of the step: smaller steps would not reduce it.
        let noise = 2.0 * c.b_a * self.left;
        let lasts = if speed > 0.0 && (exact || self.rate > STIFF) { self.lasting() / speed } else { 1.0 };
        speed = (c_v * (h * h * speed - noise / h)).max(0.0) * self.tau * lasts.min(1.0);
        let k = c_q * if euler { h * h } else { h * h * h };
        let across = (k * largest(across, in_chart) - c_q * noise).max(0.0);
        let caution = if C::SINGULAR { CAUTION } else { 1.0 };
        self.error = LocalError { along: caution * k * along, across: caution * across, speed: caution * speed, states };
    }

    /// Largest parts of the fields along and across the constraints.
    fn split(&mut self) -> (f64, f64) {
        let Self { equations: e, fields, inert, .. } = self;
        e.p.rates(&e.set, fields);
        e.p.solve();
        e.p.spread(&e.set, 1.0 / self.coefficients.b_a);
        let mut most = (0.0, 0.0);
        for (b, (field, normal)) in fields.iter().zip(&e.p.dq).enumerate().skip(1) {
            let along = field.plus(&normal.scaled(-1.0));
            let sizes = [&along, normal].map(|d| size(d, &inert[b], e.model.length));
            most = (largest(most.0, sizes[0]), largest(most.1, sizes[1]));
        }
        most
    }

    /// Largest part of the fields along the constraints after a solve with the exact matrix for steps of size `h`: under forces that are
    /// stiff for such steps, errors do not last.
    fn filtered(&mut self, h: f64, b_a: f64) -> f64 {
        let Self { equations: e, fields, inert, exact, .. } = self;
        let Some(matrix) = exact.as_mut() else { return 0.0 };
        for (b, (r, field)) in e.r.iter_mut().zip(fields.iter()).enumerate() {
            let body = &e.model.bodies[b];
            *r = Wrench { F: field.v * body.mass, T: body.J_bar * field.w }.scaled(-b_a / (h * h));
        }
        e.p.x.fill(0.0);
        matrix.solve(e, h * h);
        e.p.dq.iter().zip(inert).skip(1).fold(0.0, |m, (d, inert)| largest(m, size(d, inert, e.model.length)))
    }

    /// The same for velocities after the characteristic time: the part not removed by dampers and springs until then.
    fn lasting(&mut self) -> f64 {
        let Self { equations: e, trial: x, .. } = self;
        let matrix = self.exact.get_or_insert_with(|| Box::new(Exact::new(e)));
        e.jacobian(&x.q);
        if !matrix.factor(e, x, Weights { h: self.tau, b_a: 1.0, b_v: 1.0 }) {
            return f64::INFINITY;
        }
        self.filtered(self.tau, 1.0)
    }
}

/// Size of a field at a body: its translation, or its rotation in the directions with inertia times the length.
fn size(d: &Twist, inert: &Option<Matrix3<f64>>, length: f64) -> f64 {
    let turn = inert.map_or(d.w, |P| P * d.w);
    d.v.amax().max(length * turn.amax())
}

/// The larger one; NaN counts as largest.
fn largest(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}
