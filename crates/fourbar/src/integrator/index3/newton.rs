//! Newton's iteration of an implicit step: its matrix, its corrections, and its termination.

use super::{Chart, Exact, Factors, Method, Rate, Stepper, TOO_NEAR, Trouble, Weights};

/// Rotations in one step beyond this are rejected, radians.
const LARGEST_TURN: f64 = 0.5;
/// Convergence slower than this requires a new factor, then the exact matrix, then a smaller step.
const SLOW: f64 = 0.3;
/// Steps of adaptive runs below this fraction of the characteristic time are short.
const SHORT: f64 = 3e-4;
/// The default bound of corrections of accelerations, times the square of the step: that of \[Kissel21, Figs. 4 to 7\].
const CORRECTION_OF_POSITIONS: f64 = 1e-11;

/// The matrix of Newton's iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IterationMatrix {
    /// The Schur complement; the exact matrix if convergence is slow.
    Auto,
    /// The Schur complement of masses and constraints only.
    Schur,
    /// The derivative of all equations [Kissel21, Eq. (38)], renewed in every iteration.
    Exact,
}

/// How corrections are measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Norm {
    /// The largest translation, or rotation times the characteristic length, with the rate of convergence.
    Length,
    /// The 2-norm of the corrections of all accelerations and multipliers [Kissel21, Eq. (46)], in SI units, compared with Theta; by
    /// default `Theta h^2 = 1e-11`.
    Acceleration(Option<f64>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Schur,
    Exact,
}

impl<C: Chart> Stepper<'_, C> {
    /// Tries a step of size `h`; the result stays in the trial state until [`Stepper::accept`].
    pub fn attempt(&mut self, h: f64) -> Result<(), Trouble> {
        self.set_coefficients(h);
        self.equations.set.choose(self.memory.t + h);
        let always = self.matrix == IterationMatrix::Exact;
        let first = if (self.use_exact > 0 || always) && !self.index2 { Kind::Exact } else { Kind::Schur };
        self.eta.fill(0.0);
        match self.newton(h, first) {
            Ok(()) => {}
            Err(d) if self.index2 => return Err(d),
            Err(_) if first == Kind::Schur && self.matrix == IterationMatrix::Auto => {
                // The exact matrix: stiff forces, strong dampers or fast spins.
                self.newton(h, Kind::Exact)?;
                self.use_exact = 50;
            }
            Err(d) => return Err(d),
        }
        let exact = (self.use_exact > 0 || always) && !self.index2;
        self.use_exact = self.use_exact.saturating_sub(1);
        if exact && self.tol > 0.0 {
            // The exact iteration provides no Schur complement.
            self.equations.jacobian(&self.trial.q);
            self.equations.factor(self.coefficients.b_a);
        }
        self.estimate(h, exact);
        Ok(())
    }

    fn newton(&mut self, h: f64, kind: Kind) -> Result<(), Trouble> {
        self.predict(h);
        self.predict_carried(h);
        let c = self.coefficients;
        let L = self.equations.model.length;
        if self.memory.x.iter().zip(&self.trial.psi).any(|(x, p)| C::turn(x, p) > LARGEST_TURN) {
            return Err(Trouble::Turn);
        }
        self.place(h);
        if kind == Kind::Exact {
            self.work.exact += 1;
            if self.exact.is_none() {
                self.exact = Some(Box::new(Exact::new(&self.equations)));
            }
        }
        let mut last = f64::INFINITY;
        // Factored once per step, at the prediction: the errors left by a factor from earlier steps are systematic and accumulate in the
        // velocities, and removing them by iteration is more expensive than the factor.
        let mut factored = false;
        let (q_size, floor) = self.rounding(h);
        // An error dq in the step gives b_v dq / h in the velocity, and these errors add up.
        let wanted = 0.01 * self.tol / self.tau * (h / self.unit()).min(1.0) * h / c.b_v;
        let target = self.correction.min(if self.tol > 0.0 { wanted } else { f64::INFINITY }).max(floor);
        for k in 0..self.cap {
            if C::SINGULAR
                && let Some(b) = (1..self.trial.x.len()).find(|&b| C::distance(&self.trial.x[b]) < TOO_NEAR)
            {
                return Err(Trouble::Chart(b));
            }
            if !self.solve_carried() {
                return Err(Trouble::States);
            }
            let (e, x) = (&mut self.equations, &mut self.trial);
            e.jacobian(&x.q);
            e.constraints(&x.q, &x.turns, x.t);
            // Velocity-only rows: h B v / b_v, so that their matrix row is B T^-1 and scales like the others.
            e.set.slip(&x.q, x.velocities(), h / c.b_v, &mut e.Phi);
            if self.index2 {
                e.velocity_rows(x.velocities(), x.t, h / c.b_v);
            }
            e.motion(&x.q, x.velocities(), x.accelerations(), &x.lambda, &x.turns, x.t);
            for r in 0..e.p.x.len() {
                e.p.x[r] = e.Phi[r] - e.eps[r] * h * h * x.lambda[r];
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
                    // Factored at the prediction, and again if convergence is slow; or always, if requested.
                    if k == 0 || self.rate > 0.05 || self.matrix == IterationMatrix::Exact {
                        if !exact.factor(e, x, Weights { h, b_a: c.b_a, b_v: c.b_v }) {
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
                let dq = if self.index2 { &self.step_dq } else { &e.p.dq };
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
            // Near singular positions rounding is far larger in increments than in positions: in short steps a larger stagnating correction
            // is accepted.
            let coarse = k >= 4 && self.tol > 0.0 && h < SHORT * self.tau;
            let stagnates = size >= 0.5 * last && size <= if coarse { 1e4 } else { 100.0 } * floor;
            let small = match self.norm {
                Norm::Length => rate / (1.0 - rate) * size <= target,
                Norm::Acceleration(theta) => {
                    let theta = theta.unwrap_or(CORRECTION_OF_POSITIONS / (h * h));
                    self.correction_of_accelerations(h) < theta && (self.tol == 0.0 || rate / (1.0 - rate) * size <= wanted.max(floor))
                }
            };
            if small || stagnates {
                self.left = if stagnates { size } else { floor };
                // States for the last poses and velocities.
                return if self.solve_carried() { Ok(()) } else { Err(Trouble::States) };
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

    /// The 2-norm of the last corrections of accelerations and multipliers.
    fn correction_of_accelerations(&self, h: f64) -> f64 {
        let (e, k) = (&self.equations, Factors::of(&self.coefficients, h));
        let accelerations: f64 = e.p.dq.iter().skip(1).map(|d| d.v.norm_squared() + d.w.norm_squared()).sum();
        let multipliers: f64 = e.p.x.iter().map(|x| x * x).sum();
        (accelerations * k.v_dot * k.v_dot + multipliers / h.powi(4)).sqrt()
    }

    /// Applies the increments to the trial state.
    fn update(&mut self, h: f64) {
        let k = Factors::of(&self.coefficients, h);
        let alpha = matches!(self.method, Method::GenAlpha { .. });
        for b in 1..self.trial.q.len() {
            let (e, x) = (&self.equations, &mut self.trial);
            let d = C::increment(&x.x[b], &x.psi[b], &e.p.dq[b]);
            // In the stabilised form positions have a separate correction, which does not affect velocities and accelerations.
            let step = if self.index2 { C::increment(&x.x[b], &x.psi[b], &self.step_dq[b]) } else { d };
            x.psi[b] = x.psi[b].plus(&step);
            x.v[b] = x.v[b].plus(&d.scaled(k.v));
            x.v_dot[b] = x.v_dot[b].plus(&d.scaled(k.v_dot));
            if alpha {
                x.a[b] = x.a[b].plus(&d.scaled(k.a));
            }
            x.place(b, &self.memory);
            self.close_own(b, h);
            self.trial.map(b);
        }
        for (l, d) in self.trial.lambda.iter_mut().zip(&self.equations.p.x) {
            *l += d / (h * h);
        }
    }
}
