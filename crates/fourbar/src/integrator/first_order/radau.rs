//! Radau IIA of order five for first-order systems [Hairer96, IV.8], with a dense matrix: for stiff forces in few coordinates.
//!
//! A step solves for the increments `d_i` of its three stages in `y = y_n o exp(d)`, `d' = g(t, d) = dexp^-1(d) f(t, y)`:
//! ```text
//! (1/h) sum E_ij d_j - g(t_i, d_i) = 0
//! ```
//! by a simplified Newton iteration that one real and one complex matrix `s/h - J` part. `J` comes from differences of `g` inside the step,
//! as the last one foretells it, or earlier; residuals are exact, so the result does not depend on it.

use super::System;
use super::track::{Interpolates, Track, Why, again, fill};
use crate::diagnostic::Diagnostic;
use crate::integrator::DEFAULT_TOL;
use crate::integrator::control::{self, Pace, Refused, Stepping, Tries, asked_every};
use crate::integrator::radau::coefficients::Coefficients;
use crate::integrator::radau::newton::{Convergence, Sizes, Verdict, estimated};
use crate::integrator::radau::{FORETOLD, SAME};
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, bad_checkpoint};
use crate::settings::Study;
use crate::state::Configuration;
use fourbar_math::elementary;
use fourbar_math::factor::DenseLu;
use nalgebra::Complex;
use serde_json::{Value, json};

/// Dense matrices of more rows than this take longer than any sparse method.
const MOST: usize = 2000;
/// Differences are taken over this share of the characteristic length, or of what an error of that length is in other components.
const DIFFERENCE: f64 = 1e-8;
/// Increments below this share of the characteristic length may be rounding.
const ROUNDING: f64 = 1e-13;
/// Share of the tolerance that the relative error of work counts with: long steps over a fast motion within the tolerance may do much work.
const WORK: f64 = 10.0;
/// Tolerance of the stages with fixed steps.
const SOLVED: f64 = 1e-11;

/// Radau IIA in motion.
pub struct Radau<S> {
    track: Track<S>,
    k: Coefficients,
    /// Tolerance of the estimate, metres.
    tol: f64,
    newton: Convergence,
    sizes: Sizes,
    /// Increments of the stages of the last step, and of the step that is tried.
    stages: [Vec<f64>; 3],
    trial: [Vec<f64>; 3],
    residuals: [Vec<f64>; 3],
    /// Derivative where the step starts, and whether it is known.
    f: Vec<f64>,
    known: bool,
    /// Slopes of the derivative by rows; whether they are there, and the time where they were found.
    jacobian: Vec<f64>,
    made: bool,
    made_at: f64,
    /// Step for which the matrices are factored; zero where they are not.
    factored: f64,
    real: DenseLu<f64>,
    complex: DenseLu<Complex<f64>>,
    x: Vec<f64>,
    z: Vec<Complex<f64>>,
    /// Inputs, which change by their slopes alone.
    inputs: usize,
    /// Whether the last step foretells the next.
    foretells: bool,
    matrices: usize,
    factorisations: usize,
}

/// How a try ends without a step.
enum Failed {
    /// An evaluation failed.
    Evaluation(Box<Diagnostic>),
    /// The stages do not converge, or turn too far.
    Stages(f64),
}

impl<S: System> Radau<S> {
    /// Sets a system in motion.
    pub fn new(system: S, model: &Model, study: &Study, t: f64) -> Result<Self, Diagnostic> {
        let track = Track::new(system, model, study, "radau", t)?;
        let n = track.d.len();
        if n > MOST {
            return Err(Diagnostic::new("U308", format!("radau takes one dense matrix here, of {n} rows; it goes up to {MOST}"))
                .help("`--formulation ra --integrator radau` has a sparse one"));
        }
        Ok(Self::on(track, study, model.first_state()))
    }

    /// The same with a system on its way, whose first components are so many inputs.
    pub(super) fn on(mut track: Track<S>, study: &Study, inputs: usize) -> Self {
        let n = track.d.len();
        let relative = estimated(if track.pace.fixed.is_some() { SOLVED } else { study.tol.unwrap_or(DEFAULT_TOL) });
        if track.pace.h == 0.0 {
            track.pace.h = 0.1 * elementary::powf(relative, 0.25) * track.tau;
        }
        let zero = || std::array::from_fn(|_| vec![0.0; n]);
        Self {
            k: Coefficients::new(),
            tol: relative * track.length,
            newton: Convergence::new(relative, ROUNDING / relative),
            sizes: Sizes::default(),
            stages: zero(),
            trial: zero(),
            residuals: zero(),
            f: vec![0.0; n],
            known: false,
            jacobian: vec![0.0; n * n],
            made: false,
            made_at: f64::NAN,
            factored: 0.0,
            real: DenseLu::new(n),
            complex: DenseLu::new(n),
            x: vec![0.0; n],
            z: vec![Complex::ZERO; n],
            inputs,
            foretells: false,
            matrices: 0,
            factorisations: 0,
            track,
        }
    }

    /// The derivative where the step starts.
    fn first(&mut self) -> Result<(), Box<Diagnostic>> {
        if !self.known {
            let x = &mut self.track;
            x.evaluations += 1;
            x.system.derivative(x.t, &x.y, &mut self.f)?;
            self.known = true;
        }
        Ok(())
    }

    /// Slopes of the derivative inside the step, at its second stage as the last step foretells it, or else where the step starts.
    fn make(&mut self, h: f64) {
        let n = self.f.len();
        let Self { track: x, f, jacobian, x: column, trial, residuals: [base, middle, _], k, .. } = self;
        jacobian.fill(0.0);
        let mut t = x.t + k.c[1] * h;
        middle.copy_from_slice(&trial[1]);
        let mut inside = self.foretells && h <= FORETOLD * x.h_n && middle.iter().sum::<f64>().is_finite() && x.system.fits(middle);
        if inside {
            x.system.moved(&x.y, middle, &mut x.trial);
            x.evaluations += 1;
            inside = x.system.derivative(t, &x.trial, base).is_ok();
        }
        if inside {
            x.system.pull_back(middle, base);
        } else {
            t = x.t;
            middle.fill(0.0);
            base.copy_from_slice(f);
        }
        // Nothing depends on the work, which comes last.
        for j in self.inputs..n - 1 {
            x.d.fill(0.0);
            x.d[j] = 1.0;
            let unit = x.system.error(&x.y, &x.d);
            let step = DIFFERENCE * if unit > 0.0 && unit.is_finite() { x.length / unit } else { 1.0 };
            x.d.copy_from_slice(middle);
            x.d[j] += step;
            x.system.moved(&x.y, &x.d, &mut x.trial);
            x.evaluations += 1;
            // Where the mechanism cannot be beside its state nothing is known of that slope.
            if x.system.derivative(t, &x.trial, column).is_ok() {
                x.system.pull_back(&x.d, column);
                for (i, (c, f)) in column.iter().zip(base.iter()).enumerate() {
                    jacobian[i * n + j] = (c - f) / step;
                }
            }
        }
        self.matrices += 1;
        (self.made, self.made_at, self.factored) = (true, x.t, 0.0);
    }

    /// Factors the matrices for a step; `false` where one is singular.
    fn factor(&mut self, h: f64) -> bool {
        if self.factored == h {
            return true;
        }
        let Self { k, jacobian, real, complex, .. } = self;
        let n = real.size();
        let (s, z) = (k.real / h, k.complex / h);
        let at = |i: usize, j: usize| -jacobian[i * n + j];
        let sound = real.factor_whole(|i, j| if i == j { at(i, j) + s } else { at(i, j) }) > 0.0
            && complex.factor_whole(|i, j| if i == j { z + at(i, j) } else { Complex::new(at(i, j), 0.0) }) > 0.0;
        self.factorisations += 1;
        self.factored = if sound { h } else { 0.0 };
        sound
    }

    /// First guess of all stages: the last step continues, or the derivative does.
    fn predict(&mut self, h: f64) {
        let Self { k, stages, trial, f, track, .. } = self;
        for i in 0..3 {
            let step = k.c[i] * h;
            trial[i].iter_mut().zip(f.iter()).for_each(|(d, f)| *d = step * f);
            if self.foretells {
                let w = k.through_start(1.0 + step / track.h_n);
                for (c, d) in trial[i].iter_mut().enumerate().skip(self.inputs) {
                    *d = w[0] * stages[0][c] + w[1] * stages[1][c] + (w[2] - 1.0) * stages[2][c];
                }
            }
        }
    }

    /// Stages of a step, all of them with the same equations.
    fn stages_of(&mut self, h: f64) -> Result<(), Failed> {
        self.track.system.begin();
        loop {
            match self.solve(h) {
                Err(Failed::Evaluation(_)) if self.track.system.renewed() => (self.made, self.known) = (false, false),
                done => return done,
            }
        }
    }

    /// Solves the stage equations of a step.
    fn solve(&mut self, h: f64) -> Result<(), Failed> {
        self.first().map_err(Failed::Evaluation)?;
        self.predict(h);
        if !self.made {
            self.make(h);
        }
        if !self.factor(h) {
            return Err(Failed::Stages(0.5));
        }
        self.newton.begin();
        loop {
            self.evaluate(h)?;
            let size = self.correct();
            match self.newton.judge(size) {
                Verdict::Goes => {}
                Verdict::Done => break,
                Verdict::Fails(_, factor) => return Err(Failed::Stages(factor)),
            }
        }
        let x = &mut self.track;
        x.d.copy_from_slice(&self.trial[2]);
        if !x.system.fits(&x.d) {
            return Err(Failed::Stages(0.5));
        }
        x.system.moved(&x.y, &x.d, &mut x.trial);
        Ok(())
    }

    /// Residuals of the stages.
    fn evaluate(&mut self, h: f64) -> Result<(), Failed> {
        let Self { track: x, k, trial, residuals, .. } = self;
        for i in 0..3 {
            let (d, r) = (&trial[i], &mut residuals[i]);
            if !(d.iter().sum::<f64>().is_finite() && x.system.fits(d)) {
                return Err(Failed::Stages(0.5));
            }
            x.system.moved(&x.y, d, &mut x.trial);
            x.evaluations += 1;
            x.system.derivative(x.t + k.c[i] * h, &x.trial, r).map_err(Failed::Evaluation)?;
            x.system.pull_back(d, r);
            let w = [0, 1, 2].map(|j| k.E[(i, j)] / h);
            for (c, r) in r.iter_mut().enumerate() {
                *r = w[0] * trial[0][c] + w[1] * trial[1][c] + w[2] * trial[2][c] - *r;
            }
        }
        Ok(())
    }

    /// Corrects the stages; gives the size of the increments against the tolerance.
    fn correct(&mut self) -> f64 {
        let Self { track, k, trial, residuals: r, x, z, .. } = self;
        let (w, g) = (&k.gather, &k.gather_complex);
        for (c, (x, z)) in x.iter_mut().zip(z.iter_mut()).enumerate() {
            *x = -(w[0] * r[0][c] + w[1] * r[1][c] + w[2] * r[2][c]);
            *z = -(g[0] * r[0][c] + g[1] * r[1][c] + g[2] * r[2][c]);
        }
        self.real.solve(x);
        self.complex.solve(z);
        let mut sum = 0.0;
        for i in 0..3 {
            let (a, b) = (k.spread[i], k.spread_complex[i] * 2.0);
            for (c, d) in trial[i].iter_mut().enumerate() {
                r[i][c] = a * x[c] + (b * z[c]).re;
                *d += r[i][c];
            }
            let size = track.system.error(&track.y, &r[i]) / self.tol;
            sum += size * size;
        }
        (sum / 3.0).sqrt()
    }

    /// Error of the stages against the tolerance: an embedded formula of third order, filtered by the real matrix.
    fn estimate(&mut self, h: f64) -> f64 {
        let w = self.k.e.map(|e| e / h);
        for (c, x) in self.x.iter_mut().enumerate() {
            *x = self.f[c] + w[0] * self.trial[0][c] + w[1] * self.trial[1][c] + w[2] * self.trial[2][c];
        }
        self.real.solve(&mut self.x);
        let of_step = self.trial.iter().filter_map(|d| d.last()).fold(0.0_f64, |m, x| m.max(x.abs()));
        let error = self.track.size_of(&self.x, of_step, WORK) / self.tol;
        if error.is_finite() { error } else { f64::INFINITY }
    }

    fn failed(&mut self, why: Failed) -> Refused<Why> {
        self.newton.remaining = 1.0;
        self.sizes.refused = true;
        // A matrix of another state is made again before the step is cut.
        let old = self.made && self.made_at != self.track.t;
        self.made = false;
        let (why, factor) = match why {
            Failed::Evaluation(d) => (Some(d), 0.5),
            Failed::Stages(factor) => (None, if old { 1.0 } else { factor }),
        };
        Refused { factor, ..self.track.failed(why) }
    }

    fn take(&mut self, h: f64) -> Result<(), Refused<Why>> {
        if let Err(d) = self.track.take(h) {
            if self.track.system.renewed() {
                (self.made, self.known) = (false, false);
                return Err(again());
            }
            return Err(self.failed(Failed::Evaluation(d)));
        }
        std::mem::swap(&mut self.stages, &mut self.trial);
        (self.known, self.foretells) = (false, true);
        self.look_inside();
        Ok(())
    }
}

impl<S: System> Interpolates<S> for Radau<S> {
    fn track(&mut self) -> &mut Track<S> {
        &mut self.track
    }

    fn interpolate(&mut self, t: f64) -> Result<(), Box<Diagnostic>> {
        let Self { track: x, stages, k, .. } = self;
        let w = k.through_start((t - x.t_n) / x.h_n);
        for (c, d) in x.d.iter_mut().enumerate() {
            *d = w[0] * stages[0][c] + w[1] * stages[1][c] + w[2] * stages[2][c];
        }
        x.system.moved(&x.y_n, &x.d, &mut x.trial);
        Ok(())
    }
}

impl<S: System> Tries for Radau<S> {
    type Why = Why;

    fn pace(&self) -> &Pace {
        &self.track.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.track.pace
    }

    fn time(&self) -> f64 {
        self.track.t
    }

    fn arrive(&mut self, t: f64) {
        self.track.t = t;
    }

    fn landing(&self, end: f64) -> f64 {
        self.track.landing(end)
    }

    fn fitted(&self, left: f64) -> f64 {
        self.track.pace.evened(left)
    }

    fn kept(&self, h: f64) -> f64 {
        if (h - self.track.h_n).abs() <= 1e-9 * self.track.h_n { self.track.h_n } else { h }
    }

    fn attempt(&mut self, h: f64, _tries: usize) -> Result<(), Refused<Why>> {
        self.stages_of(h).map_err(|why| self.failed(why))?;
        if self.track.pace.fixed.is_some() {
            self.take(h)?;
            self.made = self.newton.keeps_matrix();
            return Ok(());
        }
        let (error, iterations) = (self.estimate(h), self.newton.iterations);
        if error >= 1.0 {
            self.track.rejections += 1;
            let factor = self.sizes.after_refusal(error, iterations, self.track.steps == 0);
            // A matrix of another state, or of a much longer step, is made again.
            self.made &= self.made_at == self.track.t && factor > SAME;
            return Err(Refused { factor, why: None, ends: true });
        }
        let w = self.k.through_start(0.5);
        for (c, x) in self.x.iter_mut().enumerate() {
            *x = w[0] * self.trial[0][c] + w[1] * self.trial[1][c] + w[2] * self.trial[2][c];
        }
        self.track.passes_over(h, &self.x)?;
        self.take(h)?;
        self.made = self.newton.keeps_matrix();
        self.track.pace.h = self.sizes.next(h, self.track.pace.h, error, iterations, self.made);
        Ok(())
    }

    fn taken(&mut self, _as_wished: bool) -> Result<(), Diagnostic> {
        self.track.taken()
    }

    fn too_small(&mut self, _h: f64, why: Why) -> Diagnostic {
        self.track.stopped(why)
    }
}

impl<S: System> Stepping for Radau<S> {
    fn time(&self) -> f64 {
        self.track.t
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        control::step(self, t)
    }

    fn asks(&self) -> bool {
        self.track.steps.is_multiple_of(asked_every(10 * self.f.len()))
    }
}

impl<S: System> Motion for Radau<S> {
    fn t(&self) -> f64 {
        self.track.t
    }

    fn run_ahead(&mut self, until: f64) {
        self.track.pace.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        self.track.pace.recover();
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        self.instant_at(t, out)
    }

    fn glance(&mut self, out: &mut Configuration) -> bool {
        self.track.glance(out)
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        let replaced = self.track.set_auxiliaries(t, z);
        if replaced {
            (self.known, self.foretells, self.made) = (false, false, false);
        }
        Ok(replaced)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        let (x, newton) = (&mut self.track, &self.newton);
        outcome.work.extend([
            ("steps", x.steps as f64),
            ("newton_iterations", newton.all as f64),
            ("mean_newton_iterations", newton.all as f64 / x.steps.max(1) as f64),
            ("evaluations", x.evaluations as f64),
            ("matrices", self.matrices as f64),
            ("factorisations", self.factorisations as f64),
            ("rejected_steps", x.rejections as f64),
            ("failed_steps", x.failures as f64),
        ]);
        x.system.report(outcome);
    }

    fn save(&self) -> Value {
        let (newton, sizes) = (&self.newton, &self.sizes);
        // Without a matrix that is kept its numbers are not needed.
        let jacobian: &[f64] = if self.made { &self.jacobian } else { &[] };
        json!({
            "track": self.track.save(), "stages": self.stages, "f": self.f, "jacobian": jacobian,
            "flags": [self.known, self.foretells, self.made, sizes.refused],
            "numbers": [self.made_at, self.factored, newton.theta, newton.remaining, sizes.last.0, sizes.last.1],
            "work": [newton.all, self.matrices, self.factorisations],
        })
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        self.track.restore(&v["track"])?;
        for (k, stage) in self.stages.iter_mut().enumerate() {
            let all = &v["stages"][k];
            fill(&json!({ "stage": all }), "stage", stage)?;
        }
        fill(v, "f", &mut self.f)?;
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        let number = |k: usize| v["numbers"][k].as_f64().unwrap_or(f64::NAN);
        let count = |k: usize| v["work"][k].as_u64().unwrap_or(0) as usize;
        (self.known, self.foretells, self.made, self.sizes.refused) = (flag(0), flag(1), flag(2), flag(3));
        (self.made_at, self.newton.theta, self.newton.remaining) = (number(0), number(2), number(3));
        self.sizes.last = (number(4), number(5));
        self.factored = 0.0;
        if self.made {
            fill(v, "jacobian", &mut self.jacobian)?;
            let h = number(1);
            if h > 0.0 && !self.factor(h) {
                return Err(bad_checkpoint("its matrix is singular"));
            }
        }
        (self.newton.all, self.matrices, self.factorisations) = (count(0), count(1), count(2));
        Ok(())
    }
}
