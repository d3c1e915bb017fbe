//! One implicit step of the index-3 equations on the group, for generalized-alpha, bdf2 and backward Euler.
//!
//! Newton unknowns are the body increment `dq` at the end of the step and `d(h^2 lambda)`: the constraint Jacobian stays
//! clean, the tangent operator `T` appears in the body block only, and the matrix does not depend on `h`, which is
//! what the scaling by `1/h^2` of [Kissel21] achieves. The residual is exact; the matrix leaves out `T`, the gyroscopic
//! terms and the variation of the reactions, whose effect is of order `(h omega)^2`, except in the fallback, which
//! factors the exact one. Between steps the velocity keeps its normal part of order `h^2` on purpose: projecting it would
//! make the multipliers first order.

use super::Method;
use crate::analysis::assembly::flipped_joint;
use crate::diagnostic::Diagnostic;
use crate::formulation::exact::Exact;
use crate::formulation::ra::Equations;
use crate::model::Model;
use crate::state::{Configuration, Pose, Velocity};
use fourbar_math::so3;

/// Rotations of one step beyond this are refused, radians.
const LARGEST_TURN: f64 = 0.5;
/// Convergence slower than this asks for a fresh factor, then for the exact matrix, then for a smaller step.
const SLOW: f64 = 0.3;

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A body turns too far in one step.
    Turn,
    /// The iteration matrix cannot be factored.
    SingularMatrix,
    /// Newton diverges.
    Diverges,
    /// Newton with the Schur complement converges too slowly.
    TooSlow,
    /// Newton needs more iterations than allowed.
    NoConvergence,
    /// The axes of a joint would end up opposed.
    Flip(usize),
}

/// What a step needs to go on: the state and the history of the method.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Time.
    pub t: f64,
    /// Poses.
    pub q: Vec<Pose>,
    /// Velocities of the method.
    pub v: Vec<Velocity>,
    /// Accelerations.
    pub v_dot: Vec<Velocity>,
    /// Algorithmic accelerations of generalized-alpha.
    pub a: Vec<Velocity>,
    /// Increment of the last step.
    pub psi: Vec<Velocity>,
    /// Velocities one step earlier.
    pub v_back: Vec<Velocity>,
    /// Accelerations one step earlier, for the prediction.
    pub v_dot_back: Vec<Velocity>,
    /// Multipliers.
    pub lambda: Vec<f64>,
    /// Counted angles.
    pub turns: Vec<f64>,
    /// Size of the last step; zero before the first.
    pub h: f64,
    /// Jerk estimate of the last step.
    pub jerk: Vec<Velocity>,
    /// Steps since the last change of size.
    pub since_change: usize,
}

/// Counts of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Accepted steps.
    pub steps: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Steps repeated with a smaller size because Newton failed.
    pub failures: usize,
    /// Steps repeated because of the error estimate.
    pub rejections: usize,
    /// Steps that used the exact matrix.
    pub exact: usize,
}

/// Coefficients of a step.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    b_a: f64,
    b_v: f64,
    alpha_m: f64,
    alpha_f: f64,
    beta: f64,
    gamma: f64,
}

/// A stepper with its workspace; nothing is allocated in a step.
pub struct Stepper<'m> {
    /// The equations.
    pub equations: Equations<'m>,
    method: Method,
    /// State and history.
    pub memory: Memory,
    /// Work so far.
    pub work: Work,
    /// Stop when corrections fall below this, metres: Theta h^2 of [Kissel21, Eq. (46)] times the characteristic length.
    pub correction: f64,
    /// Cap on Newton iterations.
    pub cap: usize,
    /// Characteristic time that weighs velocities against positions.
    pub tau: f64,
    /// Tolerance of adaptive runs, metres.
    pub tol: f64,
    /// Whether velocities satisfy their constraints too (stabilised index 2, after Gear, Gupta and Leimkuhler).
    pub index2: bool,
    trial: Memory,
    /// Position multipliers of the stabilised form; written by each attempt.
    eta: Vec<f64>,
    /// Increments of positions in the stabilised form.
    step_dq: Vec<Velocity>,
    coefficients: Coefficients,
    /// Local error of the last step in positions and velocities.
    pub error: (f64, f64),
    /// Worst convergence rate since the factorisation.
    rate: f64,
    exact: Option<Box<Exact>>,
    use_exact: usize,
}

impl<'m> Stepper<'m> {
    /// A stepper from a consistent configuration.
    pub fn new(model: &'m Model, start: &Configuration, method: Method) -> Self {
        let equations = Equations::new(model, start);
        let equations_rows = equations.set.rows();
        let n = model.bodies.len();
        let z = vec![Velocity::zero(); n];
        let memory = Memory {
            t: start.t,
            q: start.q.clone(),
            v: start.v.clone(),
            v_dot: z.clone(),
            a: z.clone(),
            psi: z.clone(),
            v_back: z.clone(),
            v_dot_back: z.clone(),
            lambda: vec![0.0; equations.set.rows()],
            turns: start.turns.clone(),
            h: 0.0,
            jerk: z,
            since_change: 0,
        };
        let coefficients = Coefficients { b_a: 1.0, b_v: 1.0, alpha_m: 0.0, alpha_f: 0.0, beta: 1.0, gamma: 1.0 };
        Self {
            trial: memory.clone(),
            memory,
            equations,
            method,
            work: Work::default(),
            correction: 1e-11 * model.length,
            cap: 30,
            tau: 0.1,
            tol: 0.0,
            index2: false,
            eta: vec![0.0; equations_rows],
            step_dq: vec![Velocity::zero(); n],
            coefficients,
            error: (0.0, 0.0),
            rate: 0.0,
            exact: None,
            use_exact: 0,
        }
    }

    /// Largest translation, or rotation times `L`.
    fn size(&self, d: &[Velocity]) -> f64 {
        let L = self.equations.model.length;
        d.iter().fold(0.0, |s, d| f64::max(s, d.v.amax().max(L * d.w.amax())))
    }

    /// Accelerations and multipliers of the start, and the history that lets the first step be of full order.
    pub fn start(&mut self, h: f64) {
        let Self { equations: e, memory: m, trial, .. } = self;
        index1(e, m);
        m.v_dot_back.copy_from_slice(&m.v_dot);
        // Second derivative of the velocity by central differences of the index-1 accelerations.
        let d = 0.05 * h;
        let [minus, mut plus] = [-d, d].map(|d| {
            trial.clone_from(m);
            trial.t = m.t + d;
            for b in 1..trial.q.len() {
                let (v, a) = (&m.v[b], &m.v_dot[b]);
                trial.q[b] = m.q[b].moved(&Velocity { v: v.v * d + a.v * (0.5 * d * d), w: v.w * d + a.w * (0.5 * d * d) });
                trial.v[b] = Velocity { v: v.v + a.v * d, w: v.w + a.w * d };
            }
            index1(e, trial);
            trial.v_dot.clone()
        });
        for (p, m) in plus.iter_mut().zip(&minus) {
            *p = p.plus(&m.scaled(-1.0)).scaled(1.0 / (2.0 * d));
        }
        m.jerk.copy_from_slice(&plus);
        e.jacobian(&m.q);
        e.factor(1.0);
        match self.method {
            Method::GenAlpha { rho } => {
                let c = gen_alpha(rho);
                let da = c.alpha_m - c.alpha_f;
                for b in 1..m.a.len() {
                    m.a[b] = m.v_dot[b].plus(&m.jerk[b].scaled(da * h));
                }
                if self.index2 {
                    m.h = h;
                    return;
                }
                // The method settles at a normal velocity of order h^2; starting there keeps multipliers second order.
                let c_q = c.beta + 0.5 * da - 1.0 / 6.0;
                for b in 0..m.a.len() {
                    let cross = m.v[b].w.cross(&m.v_dot[b].w) / -12.0;
                    e.r[b] = Velocity { v: m.jerk[b].v * c_q, w: m.jerk[b].w * c_q + cross };
                }
                e.r[0] = Velocity::zero();
                let r = std::mem::take(&mut e.r);
                e.set.multiply(&e.G, &r, &mut e.x);
                e.r = r;
                e.normal_part();
                for b in 1..m.v.len() {
                    m.v[b] = m.v[b].plus(&e.dq[b].scaled(-h * h));
                }
            }
            Method::Bdf2 => {
                for b in 1..m.v.len() {
                    let (v, a, j) = (m.v[b], m.v_dot[b], m.jerk[b]);
                    m.v_back[b] = v.plus(&a.scaled(-h)).plus(&j.scaled(0.5 * h * h));
                    let mut psi = v.scaled(h).plus(&a.scaled(-0.5 * h * h)).plus(&j.scaled(h * h * h / 6.0));
                    psi.w += v.w.cross(&a.w) * (h * h * h / 12.0);
                    m.psi[b] = psi;
                }
            }
            Method::BackwardEuler => {}
        }
        m.h = h;
    }

    /// Starts the method afresh from the current positions, with velocities that satisfy their constraints.
    pub fn restart(&mut self, h: f64) {
        let (e, m) = (&mut self.equations, &mut self.memory);
        e.jacobian(&m.q);
        e.factor(1.0);
        e.project_velocity(m.t, &mut m.v);
        m.since_change = 0;
        self.start(h);
    }

    /// Cubic Hermite on the group between the ends of the last step.
    pub fn interpolate(&self, t: f64, q: &mut [Pose], v: &mut [Velocity]) {
        let (m, p) = (&self.memory, self.previous());
        let h = m.t - p.t;
        let s = (t - p.t) / h;
        for b in 1..m.q.len() {
            let psi = p.q[b].increment_to(&m.q[b]);
            let first = p.v[b].scaled(h);
            let last = Velocity { v: m.v[b].v * h, w: so3::tangent_inv(&psi.w) * m.v[b].w * h };
            let (a, b1, b2) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
            let u = psi.scaled(a).plus(&first.scaled(b1)).plus(&last.scaled(b2));
            let (da, db1, db2) = (6.0 * s * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s), s * (3.0 * s - 2.0));
            let du = psi.scaled(da).plus(&first.scaled(db1)).plus(&last.scaled(db2)).scaled(1.0 / h);
            q[b] = p.q[b].moved(&u);
            v[b] = Velocity { v: du.v, w: so3::tangent(&u.w) * du.w };
        }
    }

    /// Prepares the history for a step of another size; the multipliers keep their order.
    pub fn change_step(&mut self, h2: f64) {
        let m = &mut self.memory;
        if m.h == 0.0 || h2 == m.h {
            return;
        }
        if let Method::GenAlpha { .. } = self.method {
            let ratio = h2 / m.h;
            for b in 1..m.a.len() {
                let (a, v) = (m.a[b], m.v_dot[b]);
                m.a[b] = v.plus(&a.plus(&v.scaled(-1.0)).scaled(ratio));
            }
            if !self.index2 {
                let e = &mut self.equations;
                e.jacobian(&m.q);
                e.factor(1.0);
                e.normal_velocity(m.t, &m.v);
                for b in 1..m.v.len() {
                    m.v[b] = m.v[b].plus(&e.dq[b].scaled(-(1.0 - ratio * ratio)));
                }
            }
            m.h = h2;
        }
        m.since_change = 0;
    }

    fn set_coefficients(&mut self, h: f64) {
        let m = &self.memory;
        self.coefficients = match self.method {
            Method::GenAlpha { rho } => gen_alpha(rho),
            Method::Bdf2 => {
                let r = if m.h > 0.0 { h / m.h } else { 1.0 };
                let b = (1.0 + 2.0 * r) / (1.0 + r);
                Coefficients { b_a: b * b, b_v: b, alpha_m: 0.0, alpha_f: 0.0, beta: r, gamma: 1.0 }
            }
            Method::BackwardEuler => Coefficients { b_a: 1.0, b_v: 1.0, alpha_m: 0.0, alpha_f: 0.0, beta: 1.0, gamma: 1.0 },
        };
    }

    /// Fills the trial state from its accelerations `v_dot`.
    fn predict(&mut self, h: f64) {
        let (m, x, c) = (&self.memory, &mut self.trial, self.coefficients);
        x.t = m.t + h;
        x.lambda.copy_from_slice(&m.lambda);
        x.turns.copy_from_slice(&m.turns);
        let extrapolate = if m.h > 0.0 && m.since_change > 0 { h / m.h } else { 0.0 };
        for b in 1..x.q.len() {
            let back = m.v_dot[b].plus(&m.v_dot_back[b].scaled(-1.0));
            x.v_dot[b] = m.v_dot[b].plus(&back.scaled(extrapolate));
            match self.method {
                Method::GenAlpha { .. } => {
                    let (vd, vdn, an) = (x.v_dot[b], m.v_dot[b], m.a[b]);
                    let a = vd
                        .scaled(1.0 - c.alpha_f)
                        .plus(&vdn.scaled(c.alpha_f))
                        .plus(&an.scaled(-c.alpha_m))
                        .scaled(1.0 / (1.0 - c.alpha_m));
                    x.a[b] = a;
                    x.psi[b] = m.v[b].scaled(h).plus(&an.scaled(h * h * (0.5 - c.beta))).plus(&a.scaled(h * h * c.beta));
                    x.v[b] = m.v[b].plus(&an.scaled(h * (1.0 - c.gamma))).plus(&a.scaled(h * c.gamma));
                }
                Method::Bdf2 => {
                    let r = c.beta;
                    x.v[b] = m.v[b]
                        .scaled(1.0 + r)
                        .plus(&m.v_back[b].scaled(-r * r / (1.0 + r)))
                        .plus(&x.v_dot[b].scaled(h))
                        .scaled(1.0 / c.b_v);
                    x.psi[b] = x.v[b].scaled(h).plus(&m.psi[b].scaled(r * r / (1.0 + r))).scaled(1.0 / c.b_v);
                }
                Method::BackwardEuler => {
                    x.v[b] = m.v[b].plus(&x.v_dot[b].scaled(h));
                    x.psi[b] = x.v[b].scaled(h);
                }
            }
        }
    }

    fn place(&mut self) {
        for b in 1..self.trial.q.len() {
            self.trial.q[b] = self.memory.q[b].moved(&self.trial.psi[b]);
        }
    }

    /// Tries a step of size `h`; the result stays in the trial state until [`Stepper::accept`].
    pub fn attempt(&mut self, h: f64) -> Result<(), Trouble> {
        self.set_coefficients(h);
        let first = if self.use_exact > 0 && !self.index2 { Kind::Exact } else { Kind::Schur };
        self.eta.fill(0.0);
        match self.newton(h, first) {
            Ok(()) => {}
            Err(d) if self.index2 => return Err(d),
            Err(_) if first == Kind::Schur => {
                // The exact matrix: stiff forces, strong dampers or fast spins.
                self.newton(h, Kind::Exact)?;
                self.use_exact = 50;
            }
            Err(d) => return Err(d),
        }
        self.use_exact = self.use_exact.saturating_sub(1);
        self.estimate(h);
        Ok(())
    }

    fn newton(&mut self, h: f64, kind: Kind) -> Result<(), Trouble> {
        self.predict(h);
        self.place();
        let c = self.coefficients;
        let L = self.equations.model.length;
        if self.trial.psi.iter().any(|p| p.w.norm() > LARGEST_TURN) {
            return Err(Trouble::Turn);
        }
        if kind == Kind::Exact {
            self.work.exact += 1;
            if self.exact.is_none() {
                self.exact = Some(Box::new(Exact::new(&self.equations)));
            }
        }
        let mut last = f64::INFINITY;
        // Factored once per step, at the prediction: what a factor kept from earlier steps leaves over is systematic and
        // adds up in the velocities, and iterating it out costs more than the factor.
        let mut factored = false;
        let q_size = self.memory.q.iter().fold(L, |s, q| s.max(q.r.amax()));
        let v_size = self.size(&self.memory.v);
        let floor = 10.0 * f64::EPSILON * (q_size + h * v_size);
        // An error dq in the step leaves b_v dq / h in the velocity.
        let wanted = 0.01 * self.error.1.max(self.tol / self.tau) * h / c.b_v;
        let target = self.correction.min(if self.tol > 0.0 { wanted } else { f64::INFINITY }).max(floor);
        for k in 0..self.cap {
            let (e, x) = (&mut self.equations, &mut self.trial);
            e.jacobian(&x.q);
            e.constraints(&x.q, &x.turns, x.t);
            // Velocity-only rows: h B v / b_v, so that their matrix row is B T^-1 and scales like the others.
            e.set.slip(&x.q, &x.v, h / c.b_v, &mut e.Phi);
            if self.index2 {
                e.velocity_rows(&x.v, x.t, h / c.b_v);
            }
            e.motion(&x.q, &x.v, &x.v_dot, &x.lambda, &x.turns, x.t);
            for r in 0..e.x.len() {
                e.x[r] = e.Phi[r] - e.eps[r] * h * h * x.lambda[r];
            }
            match kind {
                Kind::Schur => {
                    if !factored {
                        e.factor(c.b_a);
                        factored = true;
                        self.rate = 0.0;
                    }
                    e.solve(h * h, c.b_a);
                    if self.index2 {
                        e.constraints(&x.q, &x.turns, x.t);
                        e.solve_positions(c.b_a, &mut self.eta, &mut self.step_dq);
                    }
                }
                Kind::Exact => {
                    let Some(exact) = self.exact.as_mut() else { break };
                    // Refactored while it pays: at the prediction, and again when convergence is slow.
                    if k == 0 || self.rate > 0.05 {
                        if !exact.factor(e, x, h, c.b_a, c.b_v) {
                            return Err(Trouble::SingularMatrix);
                        }
                        self.rate = 0.0;
                    }
                    exact.solve(e, h * h);
                }
            }
            self.work.iterations += 1;
            let size = {
                let e = &self.equations;
                let dq = if self.index2 { &self.step_dq } else { &e.dq };
                dq.iter().fold(0.0_f64, |s, d| s.max(d.v.amax()).max(L * d.w.amax()))
            };
            if !self.equations.increments_are_finite() || size > 10.0 * q_size {
                return Err(Trouble::Diverges);
            }
            self.update(h);
            if last.is_finite() && size > 100.0 * floor {
                self.rate = self.rate.max(size / last);
            }
            let rate = self.rate.clamp(0.02, 0.9);
            if rate / (1.0 - rate) * size <= target || (size >= 0.5 * last && size <= 100.0 * floor) {
                return Ok(());
            }
            if self.rate > SLOW && kind == Kind::Schur && k >= 2 {
                return Err(Trouble::TooSlow);
            }
            if size > 2.0 * last && k > 3 {
                return Err(Trouble::Diverges);
            }
            last = size;
        }
        Err(Trouble::NoConvergence)
    }

    /// Applies the increments to the trial state.
    fn update(&mut self, h: f64) {
        let c = self.coefficients;
        let (e, m, x) = (&self.equations, &self.memory, &mut self.trial);
        let (k_v, k_vd, k_a) = (c.b_v / h, c.b_a / (h * h), 1.0 / (h * h * c.beta));
        let alpha = matches!(self.method, Method::GenAlpha { .. });
        for b in 1..x.q.len() {
            let d = &e.dq[b];
            let T_inv = so3::tangent_inv(&x.psi[b].w);
            let dw = T_inv * d.w;
            if self.index2 {
                // Positions take their own correction; velocities and accelerations do not see it.
                let p = &self.step_dq[b];
                x.psi[b].v += p.v;
                x.psi[b].w += T_inv * p.w;
            } else {
                x.psi[b].v += d.v;
                x.psi[b].w += dw;
            }
            x.v[b].v += d.v * k_v;
            x.v[b].w += dw * k_v;
            x.v_dot[b].v += d.v * k_vd;
            x.v_dot[b].w += dw * k_vd;
            if alpha {
                x.a[b].v += d.v * k_a;
                x.a[b].w += dw * k_a;
            }
            x.q[b] = m.q[b].moved(&x.psi[b]);
        }
        for (l, d) in x.lambda.iter_mut().zip(&e.x) {
            *l += d / (h * h);
        }
    }

    /// Local error of the trial step.
    fn estimate(&mut self, h: f64) {
        let L = self.equations.model.length;
        let (m, x) = (&self.memory, &mut self.trial);
        let (c_q, c_v) = match self.method {
            Method::GenAlpha { .. } => {
                let c = self.coefficients;
                let da = c.alpha_m - c.alpha_f;
                let kappa = 0.5 * (1.0 - c.alpha_f) - (1.0 - c.alpha_m) * (0.5 + da);
                (c.beta + 0.5 * da - 1.0 / 6.0, kappa + c.gamma * (0.5 + da) - 1.0 / 6.0)
            }
            Method::Bdf2 => (2.0 / 9.0, 2.0 / 9.0),
            Method::BackwardEuler => (0.0, 0.0),
        };
        let (mut e_q, mut e_v) = (0.0_f64, 0.0_f64);
        for b in 1..x.q.len() {
            let (new, old) = if let Method::GenAlpha { .. } = self.method { (x.a[b], m.a[b]) } else { (x.v_dot[b], m.v_dot[b]) };
            let jerk = new.plus(&old.scaled(-1.0)).scaled(1.0 / h);
            let change = jerk.plus(&m.jerk[b].scaled(-1.0));
            x.jerk[b] = jerk;
            if self.method == Method::BackwardEuler {
                e_q = e_q.max(0.5 * h * h * x.v_dot[b].v.amax()).max(0.5 * h * h * L * x.v_dot[b].w.amax());
                e_v = e_v.max(0.5 * h * h * jerk.v.amax()).max(0.5 * h * h * L * jerk.w.amax());
            } else {
                e_q = e_q.max(c_q * h.powi(3) * jerk.v.amax()).max(c_q * h.powi(3) * L * jerk.w.amax());
                e_v = e_v.max(c_v * h * h * change.v.amax()).max(c_v * h * h * L * change.w.amax());
            }
        }
        self.error = (e_q, e_v);
    }

    /// Takes the trial step over.
    pub fn accept(&mut self, h: f64) -> Result<(), Trouble> {
        if let Some(k) = flipped_joint(self.equations.model, &self.trial.q) {
            return Err(Trouble::Flip(k));
        }
        let model = self.equations.model;
        for (k, a) in model.angles.iter().enumerate() {
            let [i, j] = a.bodies.map(|b| &self.trial.q[b.index()]);
            self.trial.turns[k] = a.angle.value(i, j, self.memory.turns[k]);
        }
        let (m, x) = (&mut self.memory, &mut self.trial);
        x.v_back.copy_from_slice(&m.v);
        x.v_dot_back.copy_from_slice(&m.v_dot);
        x.since_change = m.since_change + 1;
        x.h = h;
        std::mem::swap(m, x);
        self.work.steps += 1;
        // Products of rotations collect rounding: a polar step now and then removes it.
        if self.work.steps.is_multiple_of(64) {
            for q in &mut self.memory.q {
                q.A = so3::orthonormalise(&q.A);
            }
        }
        Ok(())
    }

    /// Order of positions and velocities.
    pub fn order(&self) -> usize {
        self.method.order()
    }

    /// How many more steps will use the exact matrix.
    pub fn exact_steps_left(&self) -> usize {
        self.use_exact
    }

    /// Restores [`Stepper::exact_steps_left`].
    pub fn set_exact_steps_left(&mut self, n: usize) {
        self.use_exact = n;
    }

    /// The start of the last step, to restore it.
    pub fn previous_mut(&mut self) -> &mut Memory {
        &mut self.trial
    }

    /// The start of the last step, which dense output needs.
    pub fn previous(&self) -> &Memory {
        &self.trial
    }

    /// A diagnostic for a failed step: time, residual and the worst constraint by name.
    pub fn diagnose(&mut self, h: f64, trouble: Trouble) -> Diagnostic {
        let e = &mut self.equations;
        let what = match trouble {
            Trouble::Turn => "a body turns by more than half a radian in one step".to_string(),
            Trouble::SingularMatrix => "the iteration matrix is singular".to_string(),
            Trouble::Diverges => "the iteration diverges".to_string(),
            Trouble::TooSlow => "the iteration converges too slowly".to_string(),
            Trouble::NoConvergence => "the iteration does not converge".to_string(),
            Trouble::Flip(k) => format!("the axes of `{}` would flip", e.model.joints[k].name),
        };
        e.constraints(&self.trial.q, &self.trial.turns, self.trial.t);
        let mut worst = (0.0_f64, 0);
        for (row, x) in e.Phi.iter().enumerate() {
            if x.abs() > worst.0 || !x.is_finite() {
                worst = (x.abs(), row);
            }
        }
        let t = self.memory.t;
        let mut d = Diagnostic::new("S230", format!("the step at t = {t:.6} s fails with h = {h:.2e} s: {what}")).time(t);
        if !e.set.list.is_empty() {
            let name = e.set.list[e.set.constraint_of_row(worst.1)].name.clone();
            d.message.push_str(&format!("; worst constraint `{name}`, {:.2e} m", worst.0));
            d.names.push(name);
        }
        d.help("choose a smaller step or tolerance; look at the forces and drives near this time")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Schur,
    Exact,
}

fn gen_alpha(rho: f64) -> Coefficients {
    let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
    let alpha_f = rho / (rho + 1.0);
    let gamma = 0.5 - (alpha_m - alpha_f);
    let beta = (gamma + 0.5) * (gamma + 0.5) / 4.0;
    Coefficients { b_a: (1.0 - alpha_m) / ((1.0 - alpha_f) * beta), b_v: gamma / beta, alpha_m, alpha_f, beta, gamma }
}

/// Index-1 accelerations and multipliers at the state of `m`.
pub fn index1(e: &mut Equations<'_>, m: &mut Memory) {
    e.jacobian(&m.q);
    e.factor(1.0);
    m.v_dot[0] = Velocity::zero();
    e.index1(&m.q, &m.v, &m.turns, m.t, &mut m.v_dot, &mut m.lambda);
}
