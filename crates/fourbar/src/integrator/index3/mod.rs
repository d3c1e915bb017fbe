//! One implicit step of the index-3 equations, for generalized-alpha, bdf2 and backward Euler, in any chart of rotations.
//!
//! The method integrates the coordinates of a [`Chart`] and their rates; the equations and Newton's method use the twist. Newton unknowns
//! are the body increment `dq` at the end of the step and `d(h^2 lambda)`: the constraint Jacobian is used unchanged, the tangent operator
//! `T` appears only in the body block, and the matrix does not depend on `h`, which is the purpose of the scaling by `1/h^2` in
//! \[Kissel21\]. The residual is exact; the matrix omits `T`, the gyroscopic terms and the variation of the reactions, whose effect is of
//! order `(h omega)^2`, except in the fallback, which factors the exact one. Between steps the velocity intentionally keeps its normal part
//! of order `h^2`: projecting it would make the multipliers first order.

mod carried;
mod estimate;
pub mod exact;
mod history;
mod newton;

use super::Method;
use super::work::Filter;
use crate::absolute::chart::{Chart, Ra, Rate, Weights};
use crate::absolute::equations::Equations;
use crate::analysis::assembly::flipped_joint;
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::state::{Configuration, Pose, Twist};
pub use carried::Carried;
pub use estimate::LocalError;
use exact::Exact;
use fourbar_math::so3;
pub use history::index1;
use nalgebra::Matrix3;
pub use newton::{IterationMatrix, Norm};

/// A trial state is rejected if it is closer than this to the singularity of its chart.
pub const TOO_NEAR: f64 = 0.1;

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A body rotates too far in one step.
    Turn,
    /// The iteration matrix cannot be factored.
    SingularMatrix,
    /// Newton diverges.
    Diverges,
    /// Newton with the Schur complement converges too slowly.
    TooSlow,
    /// Newton needs more iterations than allowed.
    NoConvergence,
    /// The axes of a joint would become opposed.
    Flip(usize),
    /// The coordinates of a body come too near to their singularity.
    Chart(usize),
    /// User-defined states cannot be solved for.
    States,
}

impl Trouble {
    /// Description.
    pub fn words(self, model: &Model) -> String {
        match self {
            Trouble::Turn => "a body turns too far in one step".to_string(),
            Trouble::SingularMatrix => "the iteration matrix is singular".to_string(),
            Trouble::Diverges => "the iteration diverges".to_string(),
            Trouble::TooSlow => "the iteration converges too slowly".to_string(),
            Trouble::NoConvergence => "the iteration does not converge".to_string(),
            Trouble::Flip(k) => format!("the axes of `{}` would flip", model.joints[k].name),
            Trouble::States => "the rates of `states` are not finite, or change too fast".to_string(),
            Trouble::Chart(b) => format!("the Euler angles of `{}` reach their singularity", model.bodies[b].name),
        }
    }
}

/// Data for the next step: the state and the history of the method.
#[derive(Clone, Debug)]
pub struct Memory<C: Chart = Ra> {
    /// Time.
    pub t: f64,
    /// Poses.
    pub q: Vec<Pose>,
    /// Rotations in the chart.
    pub x: Vec<C::Point>,
    /// Rates of the method.
    pub v: Vec<C::Rate>,
    /// Derivatives of the rates.
    pub v_dot: Vec<C::Rate>,
    /// Algorithmic accelerations of generalized-alpha.
    pub a: Vec<C::Rate>,
    /// Increment of the last step.
    pub psi: Vec<C::Rate>,
    /// Rates one step earlier.
    pub v_back: Vec<C::Rate>,
    /// Derivatives of the rates one step earlier, for the prediction.
    pub v_dot_back: Vec<C::Rate>,
    /// Twists and their derivatives, if the rates are different quantities.
    twist: Vec<Twist>,
    twist_dot: Vec<Twist>,
    /// Multipliers.
    pub lambda: Vec<f64>,
    /// Counted angles.
    pub turns: Vec<f64>,
    /// Inputs and states.
    pub carried: Carried,
    /// Size of the last step; zero before the first.
    pub h: f64,
    /// Jerk estimate of the last step.
    pub jerk: Vec<C::Rate>,
    /// Steps since the last change of size.
    pub since_change: usize,
}

impl<C: Chart> Memory<C> {
    /// Velocities of all bodies.
    pub fn velocities(&self) -> &[Twist] {
        C::twists(&self.v, &self.twist)
    }

    /// Accelerations of all bodies.
    pub fn accelerations(&self) -> &[Twist] {
        C::twists(&self.v_dot, &self.twist_dot)
    }

    /// Twists of body `b` from its rates.
    #[inline]
    fn map(&mut self, b: usize) {
        if !C::DIRECT {
            self.twist[b] = C::twist(&self.x[b], &self.v[b]);
            self.twist_dot[b] = C::twist_dot(&self.x[b], &self.v[b], &self.v_dot[b]);
        }
    }

    /// Twists of all bodies from their rates, after the rates were restored.
    pub fn map_all(&mut self) {
        for b in 1..self.q.len() {
            self.map(b);
        }
    }

    /// Largest residual of the chart's own constraints: the deviation of Euler parameters from unit length.
    pub fn own_residual(&self) -> f64 {
        let error = |x: &C::Point| {
            let mut x = *x;
            C::own(&mut x).angular_size()
        };
        self.x.iter().skip(1).fold(0.0, |s, x| s.max(error(x)))
    }

    /// Places body `b` at `from` moved by its `psi`.
    #[inline]
    fn place(&mut self, b: usize, from: &Self) {
        let (q, psi) = (&from.q[b], &self.psi[b]);
        self.q[b].r = q.r + psi.linear();
        self.q[b].A = C::place(&from.x[b], &q.A, psi, &mut self.x[b]);
    }
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
    /// Bodies that changed their chart.
    pub recharts: usize,
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
pub struct Stepper<'m, C: Chart = Ra> {
    /// The equations.
    pub equations: Equations<'m>,
    method: Method,
    /// State and history.
    pub memory: Memory<C>,
    /// Work so far.
    pub work: Work,
    /// Stop when corrections fall below this, metres: Theta h^2 of [Kissel21, Eq. (46)] times the characteristic length.
    pub correction: f64,
    /// The quantity compared with the correction.
    pub norm: Norm,
    /// The iteration matrix of Newton's method.
    pub matrix: IterationMatrix,
    /// Maximum number of Newton iterations.
    pub cap: usize,
    /// Characteristic time that scales velocities relative to positions.
    pub tau: f64,
    /// Tolerance of adaptive runs, metres.
    pub tol: f64,
    /// Whether velocities satisfy their constraints too (stabilised index 2, after Gear, Gupta and Leimkuhler).
    pub index2: bool,
    /// Whether bodies may change their chart near its singularity.
    pub recharting: bool,
    trial: Memory<C>,
    /// Position multipliers of the stabilised form; written by each attempt.
    eta: Vec<f64>,
    /// Increments of positions in the stabilised form.
    step_dq: Vec<Twist>,
    /// Derivatives of the rates before inputs were replaced.
    step_rates: Vec<C::Rate>,
    coefficients: Coefficients,
    /// Local error of the last trial step.
    pub error: LocalError,
    /// Residual of the positions after the last iteration, metres.
    left: f64,
    /// Fields whose parts along and across the constraints are separated.
    fields: Vec<Twist>,
    /// Directions in which bodies have inertia, for bodies without inertia in some direction.
    inert: Vec<Option<Matrix3<f64>>>,
    /// Worst convergence rate since the factorisation.
    rate: f64,
    exact: Option<Box<Exact>>,
    use_exact: usize,
}

impl<'m> Stepper<'m, Ra> {
    /// A stepper with rotation matrices from a consistent configuration.
    pub fn new(model: &'m Model, start: &Configuration, method: Method) -> Self {
        Self::in_chart(model, start, method)
    }
}

impl<'m, C: Chart> Stepper<'m, C> {
    /// A stepper from a consistent configuration.
    pub fn in_chart(model: &'m Model, start: &Configuration, method: Method) -> Self {
        Self::of(model, ConstraintSet::new(model.all_constraints(), |_| false), start, method)
    }

    /// The same with a given layout of all constraints.
    pub fn of(model: &'m Model, set: ConstraintSet, start: &Configuration, method: Method) -> Self {
        let equations = Equations::of(model, set, start);
        let equations_rows = equations.set.rows();
        let n = model.bodies.len();
        let z = vec![C::Rate::zero(); n];
        let mapped = vec![Twist::zero(); if C::DIRECT { 0 } else { n }];
        let x: Vec<C::Point> = start.q.iter().zip(&start.v).map(|(q, v)| C::enter(&q.A, &v.w)).collect();
        let mut memory = Memory {
            t: start.t,
            q: start.q.clone(),
            v: x.iter().zip(&start.v).map(|(x, v)| C::rate(x, v)).collect(),
            x,
            twist: mapped.clone(),
            twist_dot: mapped,
            v_dot: z.clone(),
            a: z.clone(),
            psi: z.clone(),
            v_back: z.clone(),
            v_dot_back: z.clone(),
            lambda: vec![0.0; equations.set.rows()],
            turns: start.turns.clone(),
            carried: Carried::new(model, start),
            h: 0.0,
            jerk: z,
            since_change: 0,
        };
        memory.map_all();
        let coefficients = Coefficients { b_a: 1.0, b_v: 1.0, alpha_m: 0.0, alpha_f: 0.0, beta: 1.0, gamma: 1.0 };
        Self {
            trial: memory.clone(),
            memory,
            equations,
            method,
            work: Work::default(),
            correction: 1e-11 * model.length,
            norm: Norm::Length,
            matrix: IterationMatrix::Auto,
            cap: 30,
            tau: 0.1,
            tol: 0.0,
            index2: false,
            recharting: true,
            eta: vec![0.0; equations_rows],
            step_dq: vec![Twist::zero(); n],
            step_rates: vec![C::Rate::zero(); n],
            coefficients,
            error: LocalError::default(),
            left: 0.0,
            fields: vec![Twist::zero(); n],
            inert: estimate::inert(model),
            rate: 0.0,
            exact: None,
            use_exact: 0,
        }
    }

    /// Largest translation, or rotation times `L`.
    fn size(&self, d: &[Twist]) -> f64 {
        let L = self.equations.model.length;
        d.iter().fold(0.0, |s, d| f64::max(s, d.v.amax().max(L * d.w.amax())))
    }

    /// How the method integrates rates; methods without a filter use the trapezoidal rule.
    pub fn filter(&self) -> Filter {
        match self.method {
            Method::GenAlpha { .. } => {
                let Coefficients { alpha_m, alpha_f, gamma, .. } = self.coefficients;
                Filter { alpha_m, alpha_f, gamma }
            }
            Method::Bdf2 | Method::BackwardEuler => Filter { alpha_m: 0.0, alpha_f: 0.0, gamma: 0.5 },
        }
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
            let back: C::Rate = m.v_dot[b].plus(&m.v_dot_back[b].scaled(-1.0));
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

    fn place(&mut self, h: f64) {
        for b in 1..self.trial.q.len() {
            self.trial.place(b, &self.memory);
            self.close_own(b, h);
            self.trial.map(b);
        }
    }

    /// Closes the chart's own constraint at the trial state of body `b`: one unknown that appears in no other row.
    #[inline]
    fn close_own(&mut self, b: usize, h: f64) {
        if !C::OWN {
            return;
        }
        let (x, k) = (&mut self.trial, Factors::of(&self.coefficients, h));
        let d = C::own(&mut x.x[b]);
        x.psi[b] = x.psi[b].plus(&d);
        // In the stabilised form velocities have a separate condition instead.
        let d = if self.index2 { C::across(&x.x[b], &x.v[b]).scaled(-1.0 / k.v) } else { d };
        x.v[b] = x.v[b].plus(&d.scaled(k.v));
        x.v_dot[b] = x.v_dot[b].plus(&d.scaled(k.v_dot));
        x.a[b] = x.a[b].plus(&d.scaled(k.a));
    }

    /// Poses, velocities and auxiliary variables at the end of the trial step.
    pub fn trial_end(&self) -> (&[Pose], &[Twist], &[f64]) {
        (&self.trial.q, self.trial.velocities(), &self.trial.carried.z)
    }

    /// Accepts the trial step.
    pub fn accept(&mut self, h: f64) -> Result<(), Trouble> {
        if let Some(k) = flipped_joint(self.equations.model, &self.trial.q) {
            return Err(Trouble::Flip(k));
        }
        let model = self.equations.model;
        for (k, a) in model.angles.iter().enumerate() {
            let [i, j] = a.bodies.map(|b| &self.trial.q[b.index()]);
            self.trial.turns[k] = a.value(i, j, self.memory.turns[k]);
        }
        let (m, x) = (&mut self.memory, &mut self.trial);
        x.v_back.copy_from_slice(&m.v);
        x.v_dot_back.copy_from_slice(&m.v_dot);
        x.carried.back.copy_from_slice(&m.carried.z);
        x.carried.left.copy_from_slice(&x.carried.rate);
        x.since_change = m.since_change + 1;
        x.h = h;
        std::mem::swap(m, x);
        self.work.steps += 1;
        // Products of rotations accumulate rounding: an occasional polar step removes it.
        if C::DIRECT && self.work.steps.is_multiple_of(64) {
            for q in &mut self.memory.q {
                q.A = so3::orthonormalise(&q.A);
            }
        }
        if C::SINGULAR && self.recharting {
            self.rechart(h);
        }
        Ok(())
    }

    /// Order of positions and velocities.
    pub fn order(&self) -> usize {
        self.method.order()
    }

    /// Number of further steps with the exact matrix.
    pub fn exact_steps_left(&self) -> usize {
        self.use_exact
    }

    /// Restores [`Stepper::exact_steps_left`].
    pub fn set_exact_steps_left(&mut self, n: usize) {
        self.use_exact = n;
    }

    /// The start of the last step, to restore it.
    pub fn previous_mut(&mut self) -> &mut Memory<C> {
        &mut self.trial
    }

    /// The start of the last step, which dense output needs.
    pub fn previous(&self) -> &Memory<C> {
        &self.trial
    }

    /// A diagnostic for a failed step: time, residual and the worst constraint by name.
    pub fn diagnose(&mut self, h: f64, trouble: Trouble) -> Diagnostic {
        let e = &mut self.equations;
        let what = trouble.words(e.model);
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
        d.help("choose a smaller step or tolerance; check the forces and drives near this time")
    }
}

fn gen_alpha(rho: f64) -> Coefficients {
    let alpha_m = (2.0 * rho - 1.0) / (rho + 1.0);
    let alpha_f = rho / (rho + 1.0);
    let gamma = 0.5 - (alpha_m - alpha_f);
    let beta = (gamma + 0.5) * (gamma + 0.5) / 4.0;
    Coefficients { b_a: (1.0 - alpha_m) / ((1.0 - alpha_f) * beta), b_v: gamma / beta, alpha_m, alpha_f, beta, gamma }
}

/// Factors from an increment of the coordinates to their rates, derivatives and algorithmic accelerations.
#[derive(Clone, Copy, Debug)]
struct Factors {
    v: f64,
    v_dot: f64,
    a: f64,
}

impl Factors {
    #[inline]
    fn of(c: &Coefficients, h: f64) -> Self {
        Self { v: c.b_v / h, v_dot: c.b_a / (h * h), a: 1.0 / (h * h * c.beta) }
    }
}
