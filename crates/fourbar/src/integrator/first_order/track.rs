//! Integration of a first-order system by any method: time, state, the last step, and common error measures.

use super::System;
use crate::diagnostic::Diagnostic;
use crate::integrator::control::{Pace, Refused};
use crate::integrator::narrow::{Narrow, Place};
use crate::integrator::{DEFAULT_TOL, FLUNG, positive, tau, work};
use crate::judge::little_energy;
use crate::model::Model;
use crate::motion::{Instant, bad_checkpoint, numbers};
use crate::settings::Study;
use crate::state::Configuration;
use crate::time::Knots;
use serde_json::{Value, json};

/// Steps below this fraction of the characteristic time are very short: a run of a thousand million of them would take too long. At most
/// `MOST_SHORT` may follow one another.
const SHORT: f64 = 5e-8;
const MOST_SHORT: usize = 1000;
/// Steps below this fraction of the characteristic time make no progress.
pub(super) const SMALLEST: f64 = 5e-10;
/// Steps do not end at points of a table that are closer together than this fraction of a step.
const CLOSE_KNOTS: f64 = 0.2;

/// Why a step is rejected: the failure of an evaluation, or `None` if increments or the error are too large.
pub(super) type Why = Option<Box<Diagnostic>>;

/// Repeats the step with other equations for the same motion.
pub(super) fn again() -> Refused<Why> {
    Refused { factor: 1.0, why: None, ends: true }
}

/// Integration of a system.
pub(super) struct Track<S> {
    /// The system, and the name of the method.
    pub system: S,
    method: &'static str,
    pub pace: Pace,
    /// Tolerance and characteristic length, metres.
    pub tol: f64,
    pub length: f64,
    /// Energy that counts as small: errors of work are relative to this and the work itself, J.
    little: f64,
    /// Characteristic time, s.
    pub tau: f64,
    /// End of the study, s.
    span: f64,
    /// Tables of prescribed motions; steps end at their points.
    pub knots: Vec<Knots>,
    /// Time and state now.
    pub t: f64,
    pub y: Vec<f64>,
    /// Start, size and increment of the last step, its end before any correction, and whether there was a step.
    pub t_n: f64,
    pub h_n: f64,
    pub y_n: Vec<f64>,
    pub step_d: Vec<f64>,
    pub before: Vec<f64>,
    pub changed: bool,
    /// Workspace: a state, and the increment to it.
    pub trial: Vec<f64>,
    pub d: Vec<f64>,
    /// Forces that steps could pass over, and a state between the ends of a step.
    narrow: Option<Narrow>,
    between: Vec<f64>,
    /// Whether a step was rejected since the last accepted one.
    pub refused: bool,
    pub steps: usize,
    /// Very short steps since the last longer one.
    short: usize,
    /// Sum of the motions of all steps, metres.
    travelled: f64,
    pub rejections: usize,
    pub failures: usize,
    pub evaluations: usize,
}

impl<S: System> Track<S> {
    /// A system at its start.
    pub fn new(system: S, model: &Model, study: &Study, method: &'static str, t: f64) -> Result<Self, Diagnostic> {
        let mut track = Self::with_sizes(system, (model.length, little_energy(model, tau(study)?)), study, method, t)?;
        let functions = model.drives.iter().map(|d| &d.value).chain(model.bare.iter().map(|b| &b.value));
        track.knots = functions.flat_map(|f| f.knots()).collect();
        track.pace.ends = model.time_marks(study.t_end);
        track.narrow = Narrow::of(model, study);
        Ok(track)
    }

    /// The same with the characteristic length and the energy that counts as small.
    pub fn with_sizes(system: S, (length, little): (f64, f64), study: &Study, method: &'static str, t: f64) -> Result<Self, Diagnostic> {
        let (fixed, tau) = (study.fixed_step(), tau(study)?);
        let first = positive(&study.options, "first-step")?.or(fixed).unwrap_or(0.0);
        let size = system.size();
        let mut y = vec![0.0; system.stored()];
        system.start(&mut y);
        Ok(Self {
            method,
            pace: Pace { h: first, fixed, ahead: study.t_end, smallest: SMALLEST * tau, ends: Vec::new() },
            tol: study.tol.unwrap_or(DEFAULT_TOL) * length,
            length,
            little,
            tau,
            span: study.t_end,
            knots: Vec::new(),
            t,
            t_n: t,
            h_n: 0.0,
            y_n: y.clone(),
            step_d: vec![0.0; size],
            before: y.clone(),
            changed: false,
            trial: y.clone(),
            d: vec![0.0; size],
            narrow: None,
            between: y.clone(),
            refused: false,
            steps: 0,
            short: 0,
            travelled: 0.0,
            rejections: 0,
            failures: 0,
            evaluations: 0,
            y,
            system,
        })
    }

    /// The next time at which a table of a prescribed motion changes its piece. Tables whose points are closer together than a good part of
    /// a step are left to the error estimate.
    pub fn landing(&self, end: f64) -> f64 {
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

    /// Size of an error in metres. An error of work is relative to the work of the run so far and of this step, at most `of_step`, since
    /// drives may prescribe a motion that takes few steps. The relative error of work is weighted by `share`.
    pub fn size_of(&self, error: &[f64], of_step: f64, share: f64) -> f64 {
        self.with_work(self.system.error(&self.y, error), error, of_step, share)
    }

    /// The same for an error at the end of a step of size `h`, in `trial`.
    pub fn size_at_end(&mut self, h: f64, error: &[f64], of_step: f64, share: f64) -> f64 {
        let of_state = self.system.error_at_end(self.t + h, &self.trial, &self.y, error);
        self.with_work(of_state, error, of_step, share)
    }

    fn with_work(&self, of_state: f64, error: &[f64], of_step: f64, share: f64) -> f64 {
        let (error, done) = (error[error.len() - 1], self.y[self.y.len() - 1]);
        let of_work = share * self.length * work::relative_error(error, of_step, done, self.little, self.tol / self.length);
        if of_work > of_state { of_work } else { of_state }
    }

    /// Rejects the step to `trial`, before it is accepted, if it would pass over a narrow force; `middle` is the increment to its middle.
    pub fn passes_over(&mut self, h: f64, middle: &[f64]) -> Result<(), Refused<Why>> {
        let least = self.pace.least(self.t);
        let Some(narrow) = self.narrow.as_mut().filter(|_| self.pace.fixed.is_none() && Narrow::is_long(h, least)) else { return Ok(()) };
        let (system, t) = (&mut self.system, self.t);
        system.moved(&self.y, middle, &mut self.between);
        let places = [(t, &self.y, Place::Start), (t + 0.5 * h, &self.between, Place::Middle), (t + h, &self.trial, Place::End)];
        for (t, y, place) in places {
            if !system.glance(t, y, &mut narrow.at) {
                return Ok(());
            }
            if let Some(model) = system.model() {
                narrow.read(model, place);
            }
        }
        let Some(factor) = narrow.begins(h) else { return Ok(()) };
        self.rejections += 1;
        self.refused = true;
        Err(Refused { factor, why: None, ends: false })
    }

    /// Accepts the step by `d` to `trial`; on failure nothing has changed.
    pub fn take(&mut self, h: f64) -> Result<(), Box<Diagnostic>> {
        self.before.copy_from_slice(&self.trial);
        self.changed = self.system.accept(self.t + h, &mut self.trial)?;
        self.y_n.copy_from_slice(&self.y);
        self.y.copy_from_slice(&self.trial);
        self.step_d.copy_from_slice(&self.d);
        (self.t_n, self.h_n) = (self.t, h);
        self.t += h;
        self.steps += 1;
        Ok(())
    }

    /// Rejection of a step for a reason other than its error.
    pub fn failed(&mut self, why: Why) -> Refused<Why> {
        self.failures += 1;
        self.refused = true;
        Refused { factor: 0.5, why, ends: true }
    }

    /// Ends a run whose steps make no progress, or whose bodies move too far.
    pub fn taken(&mut self) -> Result<(), Diagnostic> {
        if self.pace.fixed.is_some() {
            return Ok(());
        }
        self.short = if self.h_n < SHORT * self.tau { self.short + 1 } else { 0 };
        if self.short > MOST_SHORT {
            return Err(self.stopped(None));
        }
        self.travelled += self.system.error(&self.y_n, &self.step_d);
        if self.travelled <= FLUNG * self.length {
            return Ok(());
        }
        Err(Diagnostic::new(
            "S231",
            format!("at t = {:.6} s bodies are flung away: they have come {FLUNG:.0e} times the size of the mechanism", self.t),
        )
        .time(self.t)
        .help("a force, a speed or gravity is far out of proportion to the masses and lengths; check their units"))
    }

    /// Estimate of the remaining time of the motion: up to the end of the study, and beyond it the same time again. The limit for steps
    /// ahead gives no information about it, since an interactive motion is requested in short pieces.
    pub fn left(&self) -> f64 {
        if self.t < self.span { self.span - self.t } else { self.span }
    }

    /// Error when the step size has become too small.
    pub fn stopped(&self, failed: Why) -> Diagnostic {
        match failed {
            Some(d) => {
                let mut d = *d;
                d.time = d.time.or(Some(self.t));
                d
            }
            None => Diagnostic::new(
                "S231",
                format!("at t = {:.6} s the step of {} has become too small ({:.1e} s)", self.t, self.method, self.pace.h),
            )
            .time(self.t)
            .help("forces are stiff or not smooth there, or bodies turn too fast; an implicit formulation (`--formulation ra`) may pass, or a larger tolerance"),
        }
    }

    /// Whether a time is the end of the last step.
    fn is_now(&self, t: f64) -> bool {
        (self.t - t).abs() <= 1e-12 * self.t.abs().max(self.h_n)
    }

    /// The present state in global terms, if it only has to be read.
    pub fn glance(&mut self, out: &mut Configuration) -> bool {
        self.system.glance(self.t, &self.y, out)
    }

    /// Replaces inputs and states at the present time; `false` if `t` is another time.
    pub fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> bool {
        if t != self.t {
            return false;
        }
        self.y[..z.len()].copy_from_slice(z);
        self.changed = true;
        self.system.replaced(&self.y);
        true
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        json!({
            "t": self.t, "h": self.pace.h, "t_n": self.t_n, "h_n": self.h_n, "y": self.y, "y_n": self.y_n, "step": self.step_d,
            "before": self.before,
            "flags": [self.changed, self.refused],
            "travelled": self.travelled,
            "work": [self.steps, self.rejections, self.failures, self.evaluations],
            "system": self.system.save(),
        })
    }

    /// Restores the result of [`Track::save`].
    pub fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        for (name, list) in [("y", &mut self.y), ("y_n", &mut self.y_n), ("before", &mut self.before), ("step", &mut self.step_d)] {
            fill(v, name, list)?;
        }
        (self.t, self.pace.h, self.t_n, self.h_n) = (number(&v["t"]), number(&v["h"]), number(&v["t_n"]), number(&v["h_n"]));
        // Without a positive step the run would not end.
        if !(self.t + self.t_n + self.h_n).is_finite() || !self.pace.h.is_finite() || self.pace.h <= 0.0 {
            return Err(bad_checkpoint("its times or steps are missing"));
        }
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        (self.changed, self.refused) = (flag(0), flag(1));
        self.travelled = v["travelled"].as_f64().unwrap_or(0.0);
        let count = |k: usize| v["work"][k].as_u64().unwrap_or(0) as usize;
        (self.steps, self.rejections, self.failures, self.evaluations) = (count(0), count(1), count(2), count(3));
        self.system.restore(&v["system"]);
        Ok(())
    }
}

/// A method with interpolation inside its last step.
pub(super) trait Interpolates<S: System> {
    /// The track of its system.
    fn track(&mut self) -> &mut Track<S>;

    /// The state at `t` inside the last step, into `trial`.
    fn interpolate(&mut self, t: f64) -> Result<(), Box<Diagnostic>>;

    /// Searches the last step for singular positions.
    fn look_inside(&mut self) {
        let x = self.track();
        let (parts, from, h) = (x.system.parts(&x.step_d), x.t_n, x.h_n);
        for k in 1..parts {
            let t = from + h * k as f64 / parts as f64;
            if self.interpolate(t).is_err() {
                break;
            }
            let x = self.track();
            x.system.look(t, &x.trial, false);
        }
        let x = self.track();
        x.system.look(x.t, &x.y, parts == 1);
    }

    /// The instant at a time of the last step.
    fn instant_at(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        let done = if self.track().is_now(t) {
            let x = self.track();
            x.system.instant(t, &x.y, out)
        } else {
            self.interpolate(t).and_then(|()| {
                let x = self.track();
                x.system.instant(t, &x.trial, out)
            })
        };
        done.map_err(|d| *d)
    }
}

/// Restores a list from a checkpoint, which must have the same length.
pub(super) fn fill(v: &Value, name: &str, list: &mut Vec<f64>) -> Result<(), Diagnostic> {
    let saved = numbers(&v[name]);
    if saved.len() != list.len() {
        return Err(bad_checkpoint("its sizes do not match"));
    }
    *list = saved;
    Ok(())
}
