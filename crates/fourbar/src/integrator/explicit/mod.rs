//! Explicit Runge-Kutta methods of Munthe-Kaas kind [Mueller13, section 4] for any first-order system, with step control and
//! dense output.
//!
//! A step solves for the increment `d` in `y = y_n o exp(d)`, `d' = dexp^-1(d) f(t, y)`, from `d = 0`: in a vector space that is
//! the plain method. The stages are kept until the next step, so an output time inside the step costs a polynomial in `d`.

mod carried;
mod tableau;
#[cfg(test)]
mod tests;

pub use carried::Carried;
pub use tableau::{Estimate, TABLEAUS, Tableau, Weights};

use super::control::{self, Pace, Refused, Stepping, Tries, asked_every};
use super::{DEFAULT_TOL, FLUNG, little_energy, positive, tau};
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, bad_checkpoint, numbers};
use crate::study::Study;
use crate::time::Knots;
use serde_json::{Value, json};

/// Angle in radians by which a body or joint may turn in a step. Counted angles must stay below half a turn, even between two bodies
/// that turn against each other.
pub fn largest_turn(model: &Model) -> f64 {
    if model.angles.is_empty() { 3.0 } else { 1.5 }
}

/// Steps below this share of the characteristic time are very short: a thousand million of them would make no run worth waiting for. So
/// many may come in a row.
const SHORT: f64 = 5e-8;
const MOST_SHORT: usize = 1000;
/// Steps below this share of the characteristic time lead nowhere.
const SMALLEST: f64 = 5e-10;
/// A first step is looked for within so many characteristic times.
const SPAN: f64 = 50.0;
/// Share of the tolerance that the relative error of work counts with.
const WORK: f64 = 0.1;
/// Powers are known to this share, and to so many tolerances at best: near singular positions the efforts of drives carry the rounding of
/// the state many times over, and no step is small enough for it.
const POWER: [f64; 2] = [1e-8, 30.0];
/// A first-order system whose state may live on a group.
///
/// By convention the first components of a state and of an increment are the inputs and states of the mechanism, as many as
/// [`System::auxiliaries`] says, and the last component of a state and of an increment is the work of drives and of forces without a potential;
/// its derivative is their power, and it has no part in [`System::error`]; steps are small enough for it all the same.
pub trait System: Send {
    /// Numbers that store a state.
    fn stored(&self) -> usize;
    /// Numbers of an increment and of a derivative.
    fn size(&self) -> usize;
    /// How many inputs (with their slopes) and states lead the state.
    fn auxiliaries(&self) -> usize {
        0
    }
    /// The leading components of the last accepted state were replaced, from without: what is remembered of it has to follow.
    fn replaced(&mut self, y: &[f64]) {
        let _ = y;
    }
    /// Writes the state to start from.
    fn start(&self, y: &mut [f64]);
    /// `to = from o exp(d)`; plain addition in vector spaces.
    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]);
    /// Turns the derivative of the state at `from o exp(d)` into the derivative of `d`; nothing to do in vector spaces.
    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let _ = (d, f);
    }
    /// Derivative of the state; a failure asks for a smaller step.
    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>>;
    /// A step is about to be tried from the last accepted state: time to change what must stay the same throughout a step.
    fn begin(&mut self) {}
    /// After a failure of [`System::derivative`]: whether the same will be tried with other equations for the same motion.
    fn renewed(&mut self) -> bool {
        false
    }
    /// Whether an increment is small enough for [`System::moved`] and [`System::pull_back`].
    fn fits(&self, d: &[f64]) -> bool {
        let _ = d;
        true
    }
    /// Size of an error increment in metres: translations, rotations times the characteristic length, velocities times a
    /// characteristic time.
    fn error(&self, y: &[f64], d: &[f64]) -> f64;
    /// Takes note of an accepted step and corrects `y` where it left the constraints; `true` where `y` was changed.
    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>>;
    /// The state at an output time in global terms, projected, with accelerations, reactions, efforts, work and errors.
    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>>;
    /// What there is to say at the end.
    fn report(&mut self, outcome: &mut Outcome);
    /// Into how many parts a step with this increment is divided by looks for singular positions.
    fn parts(&self, d: &[f64]) -> usize {
        let _ = d;
        1
    }
    /// A look for singular positions: at the end of a step of one part, which has just been accepted, or at any state in time order.
    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        let _ = (t, y, accepted);
    }
    /// What must be remembered beside the state to continue a run.
    fn save(&self) -> Value {
        Value::Null
    }
    /// Takes back what [`System::save`] gave.
    fn restore(&mut self, saved: &Value) {
        let _ = saved;
    }
}

/// Points of a table closer together than this share of a step do not end steps.
const CLOSE_KNOTS: f64 = 0.2;

/// An explicit method in motion.
pub struct Run<S> {
    /// What moves.
    pub system: S,
    tableau: &'static Tableau,
    /// Nodes of all stages.
    nodes: Vec<f64>,
    /// Tolerance and characteristic length, metres.
    tol: f64,
    length: f64,
    /// Energy that counts as small: errors of work are measured against this and the work itself, J.
    little: f64,
    pace: Pace,
    /// Characteristic time, s.
    tau: f64,
    /// Tables that drive, at whose points steps end.
    knots: Vec<Knots>,
    /// Time and state now.
    t: f64,
    y: Vec<f64>,
    /// Start, size and increment of the last step, its end before any correction, and whether there was one.
    t_n: f64,
    h_n: f64,
    y_n: Vec<f64>,
    step_d: Vec<f64>,
    before: Vec<f64>,
    changed: bool,
    /// Derivatives by stage, pulled back to the start of the step; one after the other.
    k: Vec<f64>,
    /// Derivative of the state at the end of the last step, and at the end of the step that is tried.
    end: Vec<f64>,
    new_end: Vec<f64>,
    /// Whether `end` is known, whether it is that of `y` itself, and whether the interpolant's stages are there.
    end_known: bool,
    end_fits: bool,
    dense_ready: bool,
    /// Workspace: a state, an increment, another one.
    trial: Vec<f64>,
    d: Vec<f64>,
    scratch: Vec<f64>,
    last_error: f64,
    refused: bool,
    steps: usize,
    /// Very short steps since the last longer one.
    short: usize,
    /// What all steps moved, metres.
    travelled: f64,
    rejections: usize,
    failures: usize,
    evaluations: usize,
}

/// A method that has no error estimate needs a step.
fn no_estimate(name: &str) -> Diagnostic {
    Diagnostic::new("U305", format!("{name} has no error estimate, so it cannot choose its steps"))
        .help("give a fixed step (`--step 1e-3`), or take dopri5, dop853, rkf45 or heun")
}

impl<S: System> Run<S> {
    /// Sets a system in motion with a method by name.
    pub fn new(system: S, model: &Model, study: &Study, integrator: &'static str, t: f64) -> Result<Self, Diagnostic> {
        let mut run = Self::with_sizes(system, (model.length, little_energy(model, tau(study)?)), study, integrator, t)?;
        let functions = model.drives.iter().map(|d| &d.value).chain(model.bare.iter().map(|b| &b.value));
        run.knots = functions.flat_map(|f| f.knots()).collect();
        Ok(run)
    }

    /// The same with the characteristic length and the energy that counts as small.
    fn with_sizes(system: S, (length, little): (f64, f64), study: &Study, integrator: &'static str, t: f64) -> Result<Self, Diagnostic> {
        let Some(tableau) = Tableau::named(integrator) else {
            return Err(Diagnostic::new("U302", format!("there is no explicit method `{integrator}`"))
                .help(format!("there are {}", TABLEAUS.iter().map(|t| t.name).collect::<Vec<_>>().join(", "))));
        };
        let (fixed, tau) = (study.fixed_step(), tau(study)?);
        if fixed.is_none() && matches!(tableau.error, Estimate::None) {
            return Err(no_estimate(integrator));
        }
        let (stored, size) = (system.stored(), system.size());
        let sum = |w: &Weights| w.iter().map(|(_, x)| x).sum::<f64>();
        let mut nodes = vec![0.0];
        nodes.extend(tableau.a.iter().map(sum));
        nodes.extend(tableau.extra.iter().map(sum));
        let mut y = vec![0.0; stored];
        system.start(&mut y);
        let mut run = Self {
            tableau,
            k: vec![0.0; nodes.len() * size],
            nodes,
            knots: Vec::new(),
            tol: study.tol.unwrap_or(DEFAULT_TOL) * length,
            length,
            little,
            pace: Pace { h: fixed.unwrap_or(0.0), fixed, ahead: study.t_end, smallest: SMALLEST * tau },
            tau,
            t,
            t_n: t,
            h_n: 0.0,
            y_n: y.clone(),
            step_d: vec![0.0; size],
            before: y.clone(),
            changed: false,
            end: vec![0.0; size],
            new_end: vec![0.0; size],
            end_known: false,
            end_fits: false,
            dense_ready: false,
            trial: vec![0.0; stored],
            d: vec![0.0; size],
            scratch: vec![0.0; size],
            last_error: 1e-4,
            refused: false,
            steps: 0,
            short: 0,
            travelled: 0.0,
            rejections: 0,
            failures: 0,
            evaluations: 0,
            y,
            system,
        };
        if let Some(h) = positive(&study.options, "first-step")? {
            run.pace.h = h;
        }
        Ok(run)
    }

    /// Time, state, and the number of evaluations so far.
    pub fn now(&self) -> (f64, &[f64], usize) {
        (self.t, &self.y, self.evaluations)
    }

    /// `out = factor sum w_j k_j`.
    fn combine(k: &[f64], weights: Weights, factor: f64, out: &mut [f64]) {
        let n = out.len();
        out.fill(0.0);
        for &(j, w) in weights {
            let w = w * factor;
            for (o, x) in out.iter_mut().zip(&k[j * n..(j + 1) * n]) {
                *o += w * x;
            }
        }
    }

    /// The first stage, taken from the last step where that is allowed.
    fn first(&mut self) -> Result<(), Box<Diagnostic>> {
        let n = self.d.len();
        if self.end_known && self.end_fits {
            self.k[..n].copy_from_slice(&self.end);
            return Ok(());
        }
        self.evaluations += 1;
        let mut done = self.system.derivative(self.t, &self.y, &mut self.k[..n]);
        if done.is_err() && self.system.renewed() {
            self.evaluations += 1;
            done = self.system.derivative(self.t, &self.y, &mut self.k[..n]);
        }
        done?;
        // A step that is tried again needs it again.
        self.end.copy_from_slice(&self.k[..n]);
        (self.end_known, self.end_fits) = (true, true);
        Ok(())
    }

    /// Stages of a step of size `h`, all of them with the same equations.
    fn stages_of(&mut self, h: f64) -> Result<bool, Box<Diagnostic>> {
        self.system.begin();
        loop {
            match self.stages(h) {
                Err(_) if self.system.renewed() => {}
                done => return done,
            }
        }
    }

    /// Stages of a step of size `h`: its increment in `d`, its end in `trial`. `false` where an increment is too large.
    fn stages(&mut self, h: f64) -> Result<bool, Box<Diagnostic>> {
        let n = self.d.len();
        self.first()?;
        self.dense_ready = false;
        let rows = self.tableau.a;
        for (row, weights) in rows.iter().enumerate() {
            let last = row + 1 == rows.len();
            Self::combine(&self.k, weights, h, &mut self.d);
            if !(self.d.iter().sum::<f64>().is_finite() && self.system.fits(&self.d)) {
                return Ok(false);
            }
            if last && !self.tableau.same_last {
                self.system.moved(&self.y, &self.d, &mut self.trial);
                break;
            }
            self.stage(row + 1, h, false)?;
            let k = &mut self.k[(row + 1) * n..(row + 2) * n];
            if last {
                self.new_end.copy_from_slice(k);
            }
            self.system.pull_back(&self.d, k);
        }
        Ok(true)
    }

    /// Derivative at stage `i`, whose increment is in `d`; `dense` stages belong to the last step, others to the next.
    fn stage(&mut self, i: usize, h: f64, dense: bool) -> Result<(), Box<Diagnostic>> {
        let n = self.d.len();
        let (t, from) = if dense { (self.t_n, &self.y_n) } else { (self.t, &self.y) };
        self.system.moved(from, &self.d, &mut self.trial);
        self.evaluations += 1;
        let mut done = self.system.derivative(t + self.nodes[i] * h, &self.trial, &mut self.k[i * n..(i + 1) * n]);
        if done.is_err() && dense && self.system.renewed() {
            self.evaluations += 1;
            done = self.system.derivative(t + self.nodes[i] * h, &self.trial, &mut self.k[i * n..(i + 1) * n]);
        }
        done
    }

    /// Error estimate of the stages relative to the tolerance; what is not a number counts as too large.
    fn estimate(&mut self, h: f64) -> f64 {
        let n = self.d.len();
        // The work of the run so far and of this step, for errors of work: drives may carry a motion that takes few steps.
        let powers = self.k.chunks_exact(n).take(self.tableau.a.len()).map(|k| k[n - 1].abs());
        let of_step = powers.fold(0.0, f64::max) * h;
        let work = of_step + self.y[self.y.len() - 1].abs() + self.little;
        let unknown = of_step * POWER[0].min(POWER[1] * self.tol / self.length);
        let mut size = |weights| {
            Self::combine(&self.k, weights, h, &mut self.scratch);
            let of_work = WORK * self.length * (self.scratch[n - 1].abs() - unknown) / work;
            let of_state = self.system.error(&self.y, &self.scratch);
            if of_work > of_state { of_work } else { of_state }
        };
        let error = match self.tableau.error {
            Estimate::None => 0.0,
            Estimate::One { e, .. } => size(e),
            Estimate::Two { e, coarse, .. } => {
                let (fine, coarse) = (size(e), size(coarse));
                if fine == 0.0 { 0.0 } else { fine * fine / (fine * fine + 0.01 * coarse * coarse).sqrt() }
            }
        };
        if error.is_finite() { error / self.tol } else { f64::INFINITY }
    }

    /// Takes the step that [`Run::stages_of`] left; on failure nothing has changed.
    fn take(&mut self, h: f64) -> Result<(), Box<Diagnostic>> {
        self.before.copy_from_slice(&self.trial);
        let changed = self.system.accept(self.t + h, &mut self.trial)?;
        self.y_n.copy_from_slice(&self.y);
        self.y.copy_from_slice(&self.trial);
        self.step_d.copy_from_slice(&self.d);
        (self.t_n, self.h_n) = (self.t, h);
        self.t += h;
        self.steps += 1;
        self.end_known = self.tableau.same_last;
        self.end_fits = self.tableau.same_last && !changed;
        self.changed = changed;
        if self.tableau.same_last {
            std::mem::swap(&mut self.end, &mut self.new_end);
        }
        self.look_inside();
        Ok(())
    }

    /// Looks for singular positions in the step just taken.
    fn look_inside(&mut self) {
        let parts = self.system.parts(&self.step_d);
        for k in 1..parts {
            let t = self.t_n + self.h_n * k as f64 / parts as f64;
            if self.interpolate(t).is_err() {
                break;
            }
            self.system.look(t, &self.trial, false);
        }
        self.system.look(self.t, &self.y, parts == 1);
    }

    /// A first step from the sizes of the derivative and of its change, as Hairer, Norsett and Wanner propose (II.4).
    fn first_step(&mut self) -> Result<f64, Box<Diagnostic>> {
        let order = self.order_of_estimate();
        let n = self.d.len();
        self.first()?;
        let d1 = self.system.error(&self.y, &self.k[..n]);
        let span = SPAN * self.tau;
        let mut h = if d1 > 0.0 { (0.01 * self.length / d1).min(0.01 * span) } else { 1e-3 * span };
        for _ in 0..20 {
            Self::combine(&self.k, &[(0, 1.0)], h, &mut self.d);
            if self.system.fits(&self.d) {
                self.system.moved(&self.y, &self.d, &mut self.trial);
                self.evaluations += 1;
                if self.system.derivative(self.t + h, &self.trial, &mut self.scratch).is_ok() {
                    break;
                }
            }
            h *= 0.1;
        }
        for (s, k) in self.scratch.iter_mut().zip(&self.k) {
            *s -= k;
        }
        let d2 = self.system.error(&self.y, &self.scratch) / h;
        let most = d1.max(d2);
        let guess = if most > 0.0 { (0.01 * self.tol / most).powf(1.0 / (order + 1.0)) } else { 1e-3 * span };
        Ok(guess.min(100.0 * h).min(0.1 * span).max(10.0 * SMALLEST * self.tau))
    }

    /// Takes the step that the stages left.
    fn take_or_refuse(&mut self, h: f64) -> Result<(), Refused<Why>> {
        self.take(h).map_err(|d| if self.system.renewed() { again() } else { self.failed(Some(d)) })
    }

    /// A try that failed for another reason than its error.
    fn failed(&mut self, why: Why) -> Refused<Why> {
        self.failures += 1;
        self.refused = true;
        Refused { factor: 0.5, why, ends: true }
    }

    fn order_of_estimate(&self) -> f64 {
        match self.tableau.error {
            Estimate::One { order, .. } | Estimate::Two { order, .. } => order as f64,
            Estimate::None => self.tableau.order as f64,
        }
    }

    /// Why the step became too small.
    fn stopped(&self, failed: Why) -> Diagnostic {
        match failed {
            Some(d) => {
                let mut d = *d;
                d.time = d.time.or(Some(self.t));
                d
            }
            None => Diagnostic::new(
                "S231",
                format!("at t = {:.6} s the step of {} has become too small ({:.1e} s)", self.t, self.tableau.name, self.pace.h),
            )
            .time(self.t)
            .help("forces are stiff or not smooth there, or bodies turn too fast; an implicit formulation (`--formulation ra`) may pass, or a larger tolerance"),
        }
    }

    /// Bodies that move out of all proportion.
    fn flung(&self) -> Diagnostic {
        Diagnostic::new(
            "S231",
            format!("at t = {:.6} s bodies are flung away: they have come {FLUNG:.0e} times the size of the mechanism", self.t),
        )
        .time(self.t)
        .help("a force, a speed or gravity is far out of proportion to the masses and lengths; look at their units")
    }

    /// The stages that the interpolant of the last step needs: the derivative at its end, and further ones.
    fn prepare_dense(&mut self) -> Result<(), Box<Diagnostic>> {
        if self.dense_ready {
            return Ok(());
        }
        let (n, h) = (self.d.len(), self.h_n);
        let last = self.tableau.a.len();
        if !self.tableau.same_last {
            self.d.copy_from_slice(&self.step_d);
            if !self.end_known {
                self.evaluations += 1;
                let mut done = self.system.derivative(self.t_n + h, &self.before, &mut self.end);
                if done.is_err() && self.system.renewed() {
                    done = self.system.derivative(self.t_n + h, &self.before, &mut self.end);
                }
                done?;
                (self.end_known, self.end_fits) = (true, !self.changed);
            }
            let k = &mut self.k[last * n..(last + 1) * n];
            k.copy_from_slice(&self.end);
            self.system.pull_back(&self.step_d, k);
        }
        for (e, weights) in self.tableau.extra.iter().enumerate() {
            let i = last + 1 + e;
            Self::combine(&self.k, weights, h, &mut self.d);
            self.stage(i, h, true)?;
            self.system.pull_back(&self.d, &mut self.k[i * n..(i + 1) * n]);
        }
        self.dense_ready = true;
        Ok(())
    }

    /// The state at `t` inside the last step, into `trial`.
    fn interpolate(&mut self, t: f64) -> Result<(), Box<Diagnostic>> {
        self.prepare_dense()?;
        let (n, h) = (self.d.len(), self.h_n);
        let s = (t - self.t_n) / h;
        let u = 1.0 - s;
        // d = s (r1 + u (r2 + s (r3 + u (r4 + s (r5 + u (r6 + s r7)))))), r1 the whole increment, r2 and r3 from the ends.
        self.scratch.fill(0.0);
        for (j, weights) in self.tableau.dense.iter().enumerate().rev() {
            // Factors alternate outwards: r7 s, r6 u, r5 s, r4 u.
            let factor = if j % 2 == 0 { s } else { u };
            let inner = if j + 1 == self.tableau.dense.len() { 0.0 } else { factor };
            Self::combine(&self.k, weights, h, &mut self.d);
            for (x, d) in self.scratch.iter_mut().zip(&self.d) {
                *x = d + inner * *x;
            }
        }
        let end = self.tableau.a.len();
        for c in 0..n {
            let (r1, first, last) = (self.step_d[c], h * self.k[c], h * self.k[end * n + c]);
            let r2 = first - r1;
            let r3 = r1 - last - r2;
            self.d[c] = s * (r1 + u * (r2 + s * (r3 + u * self.scratch[c])));
        }
        self.system.moved(&self.y_n, &self.d, &mut self.trial);
        Ok(())
    }
}

/// Why a step is not taken: the failure of an evaluation, or none where increments are too large or the error is.
type Why = Option<Box<Diagnostic>>;

/// The same step once more, with other equations for the same motion.
fn again() -> Refused<Why> {
    Refused { factor: 1.0, why: None, ends: true }
}

impl<S: System> Tries for Run<S> {
    type Why = Why;

    fn pace(&self) -> &Pace {
        &self.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn time(&self) -> f64 {
        self.t
    }

    fn arrive(&mut self, t: f64) {
        self.t = t;
    }

    /// At the next time at which a table that drives changes its piece. Tables whose points stand closer together than a good part of a step
    /// are left to the estimate of the error.
    fn landing(&self, end: f64) -> f64 {
        let (mut target, h) = (end, self.pace.h);
        for k in &self.knots {
            if let Some(next) = k.next(self.t).filter(|next| *next < target)
                && next - self.t > 1e-9 * h
                && k.next(next).is_none_or(|after| after - next > CLOSE_KNOTS * h)
            {
                target = next;
            }
        }
        target
    }

    fn fitted(&self, left: f64) -> f64 {
        if self.pace.h >= left * (1.0 - 1e-9) { left } else { self.pace.h }
    }

    fn attempt(&mut self, h: f64, _tries: usize) -> Result<(), Refused<Why>> {
        match self.stages_of(h) {
            Ok(true) => {}
            Ok(false) => return Err(self.failed(None)),
            Err(d) => return Err(self.failed(Some(d))),
        }
        if self.pace.fixed.is_some() {
            return self.take_or_refuse(h);
        }
        let (error, order) = (self.estimate(h), self.order_of_estimate());
        if error > 1.0 {
            self.rejections += 1;
            self.refused = true;
            let factor = if error.is_finite() { (0.9 * error.powf(-1.0 / (order + 1.0))).clamp(0.1, 0.9) } else { 0.25 };
            return Err(Refused { factor, why: None, ends: true });
        }
        self.take_or_refuse(h)?;
        // A controller with memory of the last error (II.4), weaker for the highest order.
        let beta = if order > 6.0 { 0.0 } else { 0.04 };
        let power = 1.0 / (order + 1.0) - 0.75 * beta;
        let error = error.max(1e-10);
        let factor = (0.9 * error.powf(-power) * self.last_error.powf(beta)).clamp(0.2, 6.0);
        self.last_error = error.max(1e-4);
        let factor = if self.refused { factor.min(1.0) } else { factor };
        self.refused = false;
        // A step that was cut to land says nothing of the usual size.
        if h >= self.pace.h {
            self.pace.h = h * factor;
        }
        Ok(())
    }

    fn taken(&mut self, _as_wished: bool) -> Result<(), Diagnostic> {
        if self.pace.fixed.is_some() {
            return Ok(());
        }
        // Steps that lead nowhere far in any time.
        self.short = if self.h_n < SHORT * self.tau { self.short + 1 } else { 0 };
        if self.short > MOST_SHORT {
            return Err(self.stopped(None));
        }
        self.travelled += self.system.error(&self.y_n, &self.step_d);
        if self.travelled > FLUNG * self.length { Err(self.flung()) } else { Ok(()) }
    }

    fn too_small(&mut self, _h: f64, why: Why) -> Diagnostic {
        self.stopped(why)
    }

    fn lost(&self, _from: f64, _h: f64) -> Diagnostic {
        self.stopped(None)
    }
}

impl<S: System> Stepping for Run<S> {
    fn time(&self) -> f64 {
        self.t
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.pace.h == 0.0 {
            self.pace.h = self.first_step().map_err(|d| *d)?;
        }
        control::step(self, t)
    }

    fn asks(&self) -> bool {
        self.steps.is_multiple_of(asked_every(self.d.len()))
    }
}

impl<S: System> Motion for Run<S> {
    fn t(&self) -> f64 {
        self.t
    }

    fn run_ahead(&mut self, until: f64) {
        self.pace.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        self.pace.recover();
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        let now = (self.t - t).abs() <= 1e-12 * self.t.abs().max(self.h_n);
        let done = if now {
            self.system.instant(t, &self.y, out)
        } else {
            self.interpolate(t).and_then(|()| self.system.instant(t, &self.trial, out))
        };
        done.map_err(|d| *d)
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if t != self.t {
            return Ok(false);
        }
        self.y[..z.len()].copy_from_slice(z);
        // The derivative at the end of the last step is that of other inputs.
        (self.end_known, self.end_fits, self.changed) = (false, false, true);
        self.system.replaced(&self.y);
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.work.extend([
            ("steps", self.steps as f64),
            ("evaluations", self.evaluations as f64),
            ("rejected_steps", self.rejections as f64),
            ("failed_steps", self.failures as f64),
        ]);
        self.system.report(outcome);
    }

    fn save(&self) -> Value {
        json!({
            "t": self.t, "h": self.pace.h, "t_n": self.t_n, "h_n": self.h_n, "y": self.y, "y_n": self.y_n, "step": self.step_d,
            "before": self.before, "end": self.end, "k": self.k,
            "flags": [self.end_known, self.end_fits, self.dense_ready, self.changed, self.refused],
            "last_error": self.last_error,
            "travelled": self.travelled,
            "work": [self.steps, self.rejections, self.failures, self.evaluations],
            "system": self.system.save(),
        })
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        for (name, list) in [
            ("y", &mut self.y),
            ("y_n", &mut self.y_n),
            ("before", &mut self.before),
            ("step", &mut self.step_d),
            ("end", &mut self.end),
            ("k", &mut self.k),
        ] {
            let saved = numbers(&v[name]);
            if saved.len() != list.len() {
                return Err(bad_checkpoint("its sizes do not fit"));
            }
            *list = saved;
        }
        (self.t, self.pace.h, self.t_n, self.h_n) = (number(&v["t"]), number(&v["h"]), number(&v["t_n"]), number(&v["h_n"]));
        // Without a step there would be no end.
        if !(self.t + self.t_n + self.h_n).is_finite() || !self.pace.h.is_finite() || self.pace.h <= 0.0 {
            return Err(bad_checkpoint("its times or steps are missing"));
        }
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        (self.end_known, self.end_fits, self.dense_ready, self.changed, self.refused) = (flag(0), flag(1), flag(2), flag(3), flag(4));
        self.last_error = number(&v["last_error"]);
        self.travelled = v["travelled"].as_f64().unwrap_or(0.0);
        let count = |k: usize| v["work"][k].as_u64().unwrap_or(0) as usize;
        (self.steps, self.rejections, self.failures, self.evaluations) = (count(0), count(1), count(2), count(3));
        self.system.restore(&v["system"]);
        Ok(())
    }
}
