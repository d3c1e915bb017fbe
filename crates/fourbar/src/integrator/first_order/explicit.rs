//! Explicit Runge-Kutta methods of Munthe-Kaas type [Mueller13, section 4] for any first-order system, with step control and dense output.
//!
//! A step solves for the increment `d` in `y = y_n o exp(d)`, `d' = dexp^-1(d) f(t, y)`, from `d = 0`: in a vector space this is the
//! ordinary method. The stages are kept until the next step, so that an output inside the step requires only a polynomial in `d`.

use super::System;
use super::combined_error;
use super::method::{Estimate, Method};
use super::stiffness::Stiffness;
use super::track::{Interpolates, SMALLEST, Track, Why, again, fill};
use crate::diagnostic::Diagnostic;
use crate::integrator::control::{self, Pace, Refused, Stepping, Tries, asked_every};
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome};
use crate::settings::Study;
use crate::state::Configuration;
use fourbar_math::elementary;
use serde_json::{Value, json};

/// Weight of the relative error of work, as a fraction of the tolerance.
const WORK: f64 = 0.1;
/// A first step is searched for within this many characteristic times.
const SPAN: f64 = 50.0;
/// Integration by an explicit method.
pub struct Explicit<S> {
    track: Track<S>,
    method: Method,
    /// Nodes of all stages.
    nodes: Vec<f64>,
    /// Derivatives by stage, pulled back to the start of the step; stored consecutively.
    k: Vec<f64>,
    /// Derivative of the state at the end of the last step, and at the end of the present trial step.
    end: Vec<f64>,
    new_end: Vec<f64>,
    /// Whether `end` is known, whether it belongs to `y` itself, and whether the interpolant's stages are available.
    end_known: bool,
    end_fits: bool,
    dense_ready: bool,
    /// Workspace: an increment, and an intermediate state of a stage.
    scratch: Vec<f64>,
    way: Vec<f64>,
    last_error: f64,
    stiffness: Stiffness,
    /// Whether the run ends when forces turn out to be stiff, so that another method can continue.
    gives_way: bool,
}

/// Error: a method without error estimate requires a step size.
fn no_estimate(name: &str) -> Diagnostic {
    Diagnostic::new("U305", format!("{name} has no error estimate, so it cannot choose its steps"))
        .help("give a fixed step (`--step 1e-3`), or take dopri5, dop853, rkf45 or heun")
}

impl<S: System> Explicit<S> {
    /// Starts the integration of a system with a method by name.
    pub fn new(system: S, model: &Model, study: &Study, integrator: &'static str, t: f64) -> Result<Self, Diagnostic> {
        let method = Method::named(integrator, model)?;
        Self::on(Track::new(system, model, study, integrator, t)?, method)
    }

    /// The same with an existing track.
    pub(super) fn on(track: Track<S>, method: Method) -> Result<Self, Diagnostic> {
        let adaptive = track.pace.fixed.is_none();
        if adaptive && matches!(method.error, Estimate::None) {
            return Err(no_estimate(method.name));
        }
        let size = track.system.size();
        let sum = |w: &Vec<(usize, f64)>| w.iter().map(|(_, x)| x).sum::<f64>();
        let mut nodes = vec![0.0];
        nodes.extend(method.a.iter().map(sum));
        nodes.extend(method.extra.iter().map(sum));
        Ok(Self {
            k: vec![0.0; nodes.len() * size],
            nodes,
            end: vec![0.0; size],
            new_end: vec![0.0; size],
            end_known: false,
            end_fits: false,
            dense_ready: false,
            scratch: vec![0.0; size],
            way: track.y.clone(),
            last_error: 1e-4,
            stiffness: Stiffness::new(method.stable.filter(|_| adaptive)),
            gives_way: false,
            method,
            track,
        })
    }

    /// The system.
    pub fn system_mut(&mut self) -> &mut S {
        &mut self.track.system
    }

    /// Time, state, and the number of evaluations so far.
    pub fn now(&self) -> (f64, &[f64], usize) {
        (self.track.t, &self.track.y, self.track.evaluations)
    }

    /// `out = factor sum w_j k_j`.
    fn combine(k: &[f64], weights: &[(usize, f64)], factor: f64, out: &mut [f64]) {
        let n = out.len();
        out.fill(0.0);
        for &(j, w) in weights {
            let w = w * factor;
            for (o, x) in out.iter_mut().zip(&k[j * n..(j + 1) * n]) {
                *o += w * x;
            }
        }
    }

    /// The first stage, reused from the last step if possible.
    fn first(&mut self) -> Result<(), Box<Diagnostic>> {
        let n = self.track.d.len();
        if self.end_known && self.end_fits {
            self.k[..n].copy_from_slice(&self.end);
            return Ok(());
        }
        self.track.evaluations += 1;
        let mut done = self.track.system.derivative(self.track.t, &self.track.y, &mut self.k[..n]);
        if done.is_err() && self.track.system.renewed() {
            self.track.evaluations += 1;
            done = self.track.system.derivative(self.track.t, &self.track.y, &mut self.k[..n]);
        }
        done?;
        // Needed again if the step is repeated.
        self.end.copy_from_slice(&self.k[..n]);
        (self.end_known, self.end_fits) = (true, true);
        Ok(())
    }

    /// Stages of a step of size `h`, all with the same equations.
    fn stages_of(&mut self, h: f64) -> Result<bool, Box<Diagnostic>> {
        self.track.system.begin();
        loop {
            match self.stages(h) {
                Err(_) if self.track.system.renewed() => {}
                done => return done,
            }
        }
    }

    /// Stages of a step of size `h`: its increment in `d`, its end in `trial`. `false` if an increment is too large.
    fn stages(&mut self, h: f64) -> Result<bool, Box<Diagnostic>> {
        let n = self.track.d.len();
        self.first()?;
        self.dense_ready = false;
        let rows = self.method.a.len();
        for row in 0..rows {
            let last = row + 1 == rows;
            if !self.reach(row, h) {
                return Ok(false);
            }
            if last && !self.method.same_last {
                break;
            }
            self.derivative(row + 1, h, false)?;
            let k = &mut self.k[(row + 1) * n..(row + 2) * n];
            if last {
                self.new_end.copy_from_slice(k);
            }
            if self.method.product.is_empty() {
                self.track.system.pull_back(&self.track.d, k);
            }
        }
        Ok(true)
    }

    /// The state of a row, in `trial`, and the increment to it, in `d`; `false` if an increment is too large.
    fn reach(&mut self, row: usize, h: f64) -> bool {
        let (track, method) = (&mut self.track, &self.method);
        let Some(factors) = method.product.get(row) else {
            Self::combine(&self.k, &method.a[row], h, &mut track.d);
            let fits = track.d.iter().sum::<f64>().is_finite() && track.system.fits(&track.d);
            if fits {
                track.system.moved(&track.y, &track.d, &mut track.trial);
            }
            return fits;
        };
        // The motions in sequence.
        track.trial.copy_from_slice(&track.y);
        for weights in factors {
            Self::combine(&self.k, weights, h, &mut track.d);
            if !(track.d.iter().sum::<f64>().is_finite() && track.system.fits(&track.d)) {
                return false;
            }
            std::mem::swap(&mut track.trial, &mut self.way);
            track.system.moved(&self.way, &track.d, &mut track.trial);
        }
        // The step as a single motion, along which states are interpolated.
        if row + 1 == method.a.len() {
            track.system.increment(&track.y, &track.trial, &mut track.d);
        }
        track.system.fits(&track.d)
    }

    /// Derivative at stage `i`, whose state is in `trial`; `dense` stages belong to the last step, others to the next one.
    fn derivative(&mut self, i: usize, h: f64, dense: bool) -> Result<(), Box<Diagnostic>> {
        let n = self.track.d.len();
        let t = if dense { self.track.t_n } else { self.track.t };
        self.track.evaluations += 1;
        let mut done = self.track.system.derivative(t + self.nodes[i] * h, &self.track.trial, &mut self.k[i * n..(i + 1) * n]);
        if done.is_err() && dense && self.track.system.renewed() {
            self.track.evaluations += 1;
            done = self.track.system.derivative(t + self.nodes[i] * h, &self.track.trial, &mut self.k[i * n..(i + 1) * n]);
        }
        done
    }

    /// Error estimate of the stages relative to the tolerance; NaN counts as too large.
    fn estimate(&mut self, h: f64) -> f64 {
        let n = self.track.d.len();
        let powers = self.k.chunks_exact(n).take(self.method.a.len()).map(|k| k[n - 1].abs());
        let of_step = powers.fold(0.0, f64::max) * h;
        let Self { track, method, k, scratch, .. } = self;
        let mut size = |weights: &[(usize, f64)]| {
            Self::combine(k, weights, h, scratch);
            track.size_at_end(h, scratch, of_step, WORK)
        };
        let error = match &method.error {
            Estimate::None => 0.0,
            Estimate::One { e, .. } => size(e),
            Estimate::Two { e, coarse, .. } => combined_error(size(e), size(coarse)),
        };
        if error.is_finite() { method.caution * error / track.tol } else { f64::INFINITY }
    }

    /// Accepts the step computed by [`Explicit::stages_of`]; on failure nothing has changed.
    fn take(&mut self, h: f64) -> Result<(), Box<Diagnostic>> {
        self.track.take(h)?;
        self.end_known = self.method.same_last;
        self.end_fits = self.method.same_last && !self.track.changed;
        if self.method.same_last {
            std::mem::swap(&mut self.end, &mut self.new_end);
        }
        self.look_inside();
        Ok(())
    }

    /// Whether forces have turned out to be stiff in the step just taken.
    fn is_stiff_now(&mut self) -> bool {
        let (n, last, rows) = (self.end.len(), self.method.a.len(), &self.method.a);
        let track = &self.track;
        let h = track.h_n;
        // The state of the last stage but one, which is also at the end of the step.
        Self::combine(&self.k, &rows[last - 2], h, &mut self.scratch);
        self.scratch.iter_mut().zip(&track.step_d).for_each(|(s, d)| *s -= d);
        let gap = track.system.error(&track.y_n, &self.scratch);
        let [one, end] = [last - 1, last].map(|i| &self.k[i * n..(i + 1) * n]);
        self.scratch.iter_mut().zip(one.iter().zip(end)).for_each(|(s, (a, b))| *s = b - a);
        let change = track.system.error(&track.y_n, &self.scratch);
        self.stiffness.step((track.t, h, track.left()), gap, change)
    }

    /// A first step from the magnitude of the derivative and of its change, as proposed by Hairer, Norsett and Wanner (II.4).
    fn first_step(&mut self) -> Result<f64, Box<Diagnostic>> {
        let order = self.order_of_estimate();
        let n = self.track.d.len();
        self.first()?;
        let d1 = self.track.system.error(&self.track.y, &self.k[..n]);
        let span = SPAN * self.track.tau;
        let mut h = if d1 > 0.0 { (0.01 * self.track.length / d1).min(0.01 * span) } else { 1e-3 * span };
        for _ in 0..20 {
            Self::combine(&self.k, &[(0, 1.0)], h, &mut self.track.d);
            if self.track.system.fits(&self.track.d) {
                self.track.system.moved(&self.track.y, &self.track.d, &mut self.track.trial);
                self.track.evaluations += 1;
                if self.track.system.derivative(self.track.t + h, &self.track.trial, &mut self.scratch).is_ok() {
                    break;
                }
            }
            h *= 0.1;
        }
        for (s, k) in self.scratch.iter_mut().zip(&self.k) {
            *s -= k;
        }
        let d2 = self.track.system.error(&self.track.y, &self.scratch) / h;
        let most = d1.max(d2);
        let guess = if most > 0.0 { elementary::powf(0.01 * self.track.tol / most, 1.0 / (order + 1.0)) } else { 1e-3 * span };
        Ok(guess.min(100.0 * h).min(0.1 * span).max(10.0 * SMALLEST * self.track.tau))
    }

    /// Accepts the step computed from the stages.
    fn take_or_refuse(&mut self, h: f64) -> Result<(), Refused<Why>> {
        self.take(h).map_err(|d| if self.track.system.renewed() { again() } else { self.track.failed(Some(d)) })
    }

    fn order_of_estimate(&self) -> f64 {
        match self.method.error {
            Estimate::One { order, .. } | Estimate::Two { order, .. } => order as f64,
            Estimate::None => self.method.order as f64,
        }
    }

    /// Computes the stages for the interpolant of the last step: the derivative at its end, and further ones.
    fn prepare_dense(&mut self) -> Result<(), Box<Diagnostic>> {
        if self.dense_ready {
            return Ok(());
        }
        let (n, h) = (self.track.d.len(), self.track.h_n);
        let last = self.method.a.len();
        if !self.method.same_last {
            self.track.d.copy_from_slice(&self.track.step_d);
            if !self.end_known {
                self.track.evaluations += 1;
                let mut done = self.track.system.derivative(self.track.t_n + h, &self.track.before, &mut self.end);
                if done.is_err() && self.track.system.renewed() {
                    done = self.track.system.derivative(self.track.t_n + h, &self.track.before, &mut self.end);
                }
                done?;
                (self.end_known, self.end_fits) = (true, !self.track.changed);
            }
            let k = &mut self.k[last * n..(last + 1) * n];
            k.copy_from_slice(&self.end);
            self.track.system.pull_back(&self.track.step_d, k);
        }
        for e in 0..self.method.extra.len() {
            let i = last + 1 + e;
            Self::combine(&self.k, &self.method.extra[e], h, &mut self.track.d);
            self.track.system.moved(&self.track.y_n, &self.track.d, &mut self.track.trial);
            self.derivative(i, h, true)?;
            self.track.system.pull_back(&self.track.d, &mut self.k[i * n..(i + 1) * n]);
        }
        self.dense_ready = true;
        Ok(())
    }
}

impl<S: System> Interpolates<S> for Explicit<S> {
    fn track(&mut self) -> &mut Track<S> {
        &mut self.track
    }

    fn interpolate(&mut self, t: f64) -> Result<(), Box<Diagnostic>> {
        self.prepare_dense()?;
        let (n, h) = (self.track.d.len(), self.track.h_n);
        let s = (t - self.track.t_n) / h;
        let u = 1.0 - s;
        // d = s (r1 + u (r2 + s (r3 + u (r4 + s (r5 + u (r6 + s r7)))))), r1 the whole increment, r2 and r3 from the ends.
        self.scratch.fill(0.0);
        for (j, weights) in self.method.dense.iter().enumerate().rev() {
            // Factors alternate outwards: r7 s, r6 u, r5 s, r4 u.
            let factor = if j % 2 == 0 { s } else { u };
            let inner = if j + 1 == self.method.dense.len() { 0.0 } else { factor };
            Self::combine(&self.k, weights, h, &mut self.track.d);
            for (x, d) in self.scratch.iter_mut().zip(&self.track.d) {
                *x = d + inner * *x;
            }
        }
        let end = self.method.a.len();
        for c in 0..n {
            let (r1, first, last) = (self.track.step_d[c], h * self.k[c], h * self.k[end * n + c]);
            let r2 = first - r1;
            let r3 = r1 - last - r2;
            self.track.d[c] = s * (r1 + u * (r2 + s * (r3 + u * self.scratch[c])));
        }
        self.track.system.moved(&self.track.y_n, &self.track.d, &mut self.track.trial);
        Ok(())
    }
}

impl<S: System> Tries for Explicit<S> {
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
        if self.track.pace.h >= left * (1.0 - 1e-9) { left } else { self.track.pace.h }
    }

    fn attempt(&mut self, h: f64, _tries: usize) -> Result<(), Refused<Why>> {
        match self.stages_of(h) {
            Ok(true) => {}
            Ok(false) => return Err(self.track.failed(None)),
            Err(d) => return Err(self.track.failed(Some(d))),
        }
        if self.track.pace.fixed.is_some() {
            return self.take_or_refuse(h);
        }
        let (error, order) = (self.estimate(h), self.order_of_estimate());
        if error > 1.0 {
            self.track.rejections += 1;
            self.track.refused = true;
            let factor = if error.is_finite() { (0.9 * elementary::powf(error, -1.0 / (order + 1.0))).clamp(0.1, 0.9) } else { 0.25 };
            return Err(Refused { factor, why: None, ends: true });
        }
        // A parabola from the derivative at the start through the end.
        self.scratch.iter_mut().zip(self.track.d.iter().zip(&self.k)).for_each(|(s, (d, k))| *s = 0.25 * (d + h * k));
        self.track.passes_over(h, &self.scratch)?;
        self.take_or_refuse(h)?;
        // A controller with memory of the last error (II.4), weaker for the highest order.
        let beta = if order > 6.0 { 0.0 } else { 0.04 };
        let power = 1.0 / (order + 1.0) - 0.75 * beta;
        let error = error.max(1e-10);
        let factor = (0.9 * elementary::powf(error, -power) * elementary::powf(self.last_error, beta)).clamp(0.2, 6.0);
        self.last_error = error.max(1e-4);
        let factor = if self.track.refused { factor.min(1.0) } else { factor };
        self.track.refused = false;
        // A step that was shortened to meet its end time gives no information about the usual step size.
        if h >= self.track.pace.h {
            self.track.pace.h = h * factor;
        }
        Ok(())
    }

    fn taken(&mut self, _as_wished: bool) -> Result<(), Diagnostic> {
        self.track.taken()?;
        if self.stiffness.is_due(self.track.steps) && self.is_stiff_now() && self.gives_way {
            return Err(Diagnostic::new(
                "S235",
                format!("at t = {:.6} s forces have turned out to be stiff for {}", self.track.t, self.method.name),
            )
            .time(self.track.t)
            .help("an implicit method takes larger steps: `--integrator radau`"));
        }
        Ok(())
    }

    fn too_small(&mut self, _h: f64, why: Why) -> Diagnostic {
        self.track.stopped(why)
    }

    fn lost(&self, _from: f64, _h: f64) -> Diagnostic {
        self.track.stopped(None)
    }
}

impl<S: System> Stepping for Explicit<S> {
    fn time(&self) -> f64 {
        self.track.t
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.track.pace.h == 0.0 {
            self.track.pace.h = self.first_step().map_err(|d| *d)?;
        }
        control::step(self, t)
    }

    fn asks(&self) -> bool {
        self.track.steps.is_multiple_of(asked_every(self.track.d.len()))
    }
}

impl<S: System> Motion for Explicit<S> {
    fn t(&self) -> f64 {
        self.track.t
    }

    fn give_way(&mut self) {
        self.gives_way = true;
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
            // The derivative at the end of the last step was computed with other inputs.
            (self.end_known, self.end_fits) = (false, false);
        }
        Ok(replaced)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.work.extend([
            ("steps", self.track.steps as f64),
            ("evaluations", self.track.evaluations as f64),
            ("rejected_steps", self.track.rejections as f64),
            ("failed_steps", self.track.failures as f64),
        ]);
        outcome.notes.extend(self.method.note.clone());
        if let Some(t) = self.stiffness.since.filter(|_| !self.gives_way) {
            outcome.warnings.push(
                Diagnostic::new("W235", format!("from t = {t:.4} s on stiff forces held {} back: steps were as large as it is stable with, while accuracy would have allowed larger ones", self.method.name))
                    .time(t)
                    .help("`--integrator radau` takes larger steps, with `--formulation ra` or `grcr`"),
            );
        }
        self.track.system.report(outcome);
    }

    fn save(&self) -> Value {
        json!({
            "track": self.track.save(), "end": self.end, "k": self.k,
            "flags": [self.end_known, self.end_fits, self.dense_ready],
            "last_error": self.last_error,
            "stiffness": self.stiffness.save(),
        })
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        fill(v, "end", &mut self.end)?;
        fill(v, "k", &mut self.k)?;
        self.track.restore(&v["track"])?;
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        (self.end_known, self.end_fits, self.dense_ready) = (flag(0), flag(1), flag(2));
        self.last_error = v["last_error"].as_f64().unwrap_or(f64::NAN);
        self.stiffness.restore(&v["stiffness"]);
        Ok(())
    }
}
