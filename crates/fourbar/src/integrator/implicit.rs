//! Motion by an implicit stepper: meets or interpolates to output times, detects singular positions, and stores the data for continuing a
//! run.

use super::control::{self, Pace, Refused, Stepping, Tries, asked_every};
use super::index3::{IterationMatrix, Norm, Stepper, Trouble};
use super::lists::{flat, list, poses, unflat, unflat_poses};
use super::narrow::{Narrow, Place};
use super::output::Output;
use super::watch::Watch;
use super::work::{Power, Work};
use super::{Method, moreau, number, positive, radau, tau, tolerance, word};
use crate::absolute::chart::{Chart, Ra};
use crate::analysis::assembly::update_turns;
use crate::analysis::contacts::refuse_rigid;
use crate::diagnostic::Diagnostic;
use crate::judge;
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, bad_checkpoint, numbers};
use crate::settings::{Study, count};
use crate::state::{Configuration, Pose};
use crate::structure::Structure;
use fourbar_math::elementary;
use serde_json::{Value, json};

/// After this many attempts at one step the method restarts from the consistent state.
const RESTART_AFTER: usize = 4;
/// From this attempt on a step may belong to a motion that is not smooth, with its error per step limited to this fraction of the
/// tolerance.
const SMOOTH_TRIES: usize = 3;
const ALONE: f64 = 0.1;
/// Number of attempts after which a step is accepted in spite of its error estimate.
const ENOUGH_TRIES: usize = 7;
/// Maximum number of steps accepted in spite of the estimate with little progress: beyond it the motion is not controlled. A step within
/// the tolerance cancels one part in `COUNTED` of a step that is not.
const MOST_OVER: usize = 1000;
const COUNTED: usize = 4;
/// Interval, in steps, of checks for a nearby singular position, in addition to those when needed.
const ASKED: usize = 4;
/// Joints are checked at this interval of steps, and after every step accepted in spite of the estimate.
const LOOKED_AT: usize = 16;
/// Steps below this fraction of the characteristic time make no progress.
const SMALLEST: f64 = 5e-7;
/// Smallest step that the error estimate may require, in multiples of the smallest step.
const LEAST: f64 = 10.0;
/// Steps in spite of the estimate are permitted as long as they advance by this fraction of the characteristic time.
const FORWARD: f64 = 0.06;

/// Integration by an implicit stepper.
pub struct Implicit<'m, C: Chart = Ra> {
    model: &'m Model,
    stepper: Stepper<'m, C>,
    output: Output,
    watch: Watch<'m>,
    pace: Pace,
    /// Whether the last instant was the start, whose state differs from that of the stepper.
    start: Option<Configuration>,
    /// Number of steps accepted with an error estimate above the tolerance.
    over: usize,
    /// The recent ones of these: each counts, and each step within the tolerance cancels a part of one.
    lately: usize,
    over_since: f64,
    was_over: bool,
    /// Whether steps passed near a singular position, which leaves oscillating multipliers.
    held: bool,
    /// Whether any forces besides potentials do work, and the work.
    worked: bool,
    work: Work,
    /// Forces that steps could pass over.
    narrow: Option<Narrow>,
    /// Storage for the state in the middle of a step, if forces are known there: without load-dependent friction.
    half: Option<Configuration>,
}

/// Motion with rA, rp and reps.
pub fn start<'m, C: Chart>(
    structure: &Structure<'m>,
    study: &Study,
    integrator: &'static str,
    start: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    if integrator == "moreau" {
        return moreau::start(structure, study, start);
    }
    refuse_rigid(structure.model)?;
    if integrator == "radau" {
        return radau::start(structure, study, start);
    }
    Ok(Box::new(Implicit::<C>::new(structure, study, integrator, start)?))
}

impl<'m, C: Chart> Implicit<'m, C> {
    /// An implicit integrator from a consistent start.
    pub fn new(structure: &Structure<'m>, study: &Study, integrator: &'static str, start: &Configuration) -> Result<Self, Diagnostic> {
        let model = structure.model;
        let method = Method::new(integrator, &study.options)?;
        let mut stepper = Stepper::<C>::of(model, structure.rows.clone(), start, method);
        if C::SINGULAR && number(&study.options, "rechart")? == Some(0.0) {
            stepper.keep_charts().map_err(|b| singular_start(model, b))?;
        }
        let theta = positive(&study.options, "theta")?;
        stepper.norm = match word(&study.options, "norm", &[("length", true), ("acceleration", false)])? {
            true => Norm::Length,
            false => Norm::Acceleration(theta),
        };
        if let (Some(theta), Norm::Length) = (theta, stepper.norm) {
            stepper.correction = theta * model.length;
        }
        let matrices = [("auto", IterationMatrix::Auto), ("schur", IterationMatrix::Schur), ("exact", IterationMatrix::Exact)];
        stepper.matrix = word(&study.options, "matrix", &matrices)?;
        if let Some(cap) = positive(&study.options, "iterations")? {
            stepper.cap = cap.clamp(2.0, 1000.0) as usize;
        }
        stepper.index2 = match number(&study.options, "index")? {
            None | Some(3.0) => false,
            Some(2.0) if matches!(method, Method::GenAlpha { .. }) => true,
            Some(x) => {
                return Err(Diagnostic::new("U304", format!("index = {x} is not available with {integrator}"))
                    .help("`index=3` is the default; `index=2`, the stabilised form, goes with gen-alpha"));
            }
        };
        if stepper.index2 && (stepper.norm != Norm::Length || stepper.matrix == IterationMatrix::Exact) {
            return Err(Diagnostic::new(
                "U304",
                "`index=2` has its own iteration, which takes neither `norm=acceleration` nor `matrix=exact`",
            )
            .help("leave one of the two out"));
        }
        stepper.tau = tau(study)?;
        let fixed = study.fixed_step();
        stepper.tol = if fixed.is_some() { 0.0 } else { tolerance(study, integrator)? * model.length };
        let h = fixed.unwrap_or((0.01 * stepper.tau).min(study.output_step));
        stepper.start(h);
        let mut r = Self {
            model,
            output: Output::new(structure, start),
            watch: Watch::new(structure, start),
            pace: Pace { h, fixed, ahead: study.t_end, smallest: SMALLEST * stepper.tau, ends: model.time_marks(study.t_end) },
            start: Some(start.clone()),
            over: 0,
            lately: 0,
            over_since: 0.0,
            was_over: false,
            held: false,
            worked: model.has_work(),
            work: Work::default(),
            narrow: Narrow::of(model, study),
            half: (!model.forces.is_empty() && stepper.equations.loads.rubbing.is_empty()).then(|| start.clone()),
            stepper,
        };
        let power = r.power_now();
        r.work.begin(power);
        Ok(r)
    }

    /// Whether the mechanism is near a singular position.
    fn near_singular(&mut self) -> bool {
        let (m, e) = (&self.stepper.memory, &self.stepper.equations);
        let share = self.watch.share(m.t, &m.q);
        share.is_some_and(|share| self.output.detector.is_near(self.model, &e.set, &m.q, share))
    }

    /// Records an accepted step: singular positions, and work.
    fn note(&mut self) {
        let Self { stepper: s, watch, .. } = self;
        let m = &s.memory;
        watch.step((m.t, m.h), (&m.q, m.velocities()), |t, q, v| s.interpolate(t, q, v));
        if self.worked {
            let middle = self.power_half_way();
            let power = self.power_now();
            self.work.step(self.stepper.memory.h, power, middle, self.stepper.filter());
        }
    }

    /// Power of forces in the middle of the last step.
    fn power_half_way(&mut self) -> f64 {
        let Self { stepper: s, half: Some(half), .. } = self else { return 0.0 };
        half.t = 0.5 * (s.previous().t + s.memory.t);
        s.interpolate(half.t, &mut half.q, &mut half.v);
        s.interpolate_carried(half.t, &mut half.z);
        half.turns.copy_from_slice(&s.previous().turns);
        update_turns(self.model, &half.q, &mut half.turns);
        s.equations.z.copy_from_slice(&half.z);
        s.equations.power_of_forces(&half.q, &half.v, &half.turns, half.t)
    }

    fn power_now(&mut self) -> Power {
        if !self.worked {
            return Power::default();
        }
        let (e, m) = (&mut self.stepper.equations, &self.stepper.memory);
        e.z.copy_from_slice(&m.carried.z);
        let [drives, forces] = e.powers(&m.q, m.velocities(), &m.lambda, &m.turns, m.t);
        match self.half {
            Some(_) => Power { by_multipliers: drives, by_forces: forces },
            None => Power { by_multipliers: drives + forces, by_forces: 0.0 },
        }
    }

    /// Ends a run whose joints came apart, or whose error is no longer controlled: at dead points it would continue with ever smaller
    /// steps.
    fn look(&mut self, doubtful: bool) -> Result<(), Diagnostic> {
        if !(doubtful || self.stepper.work.steps.is_multiple_of(LOOKED_AT)) {
            return Ok(());
        }
        let (e, m) = (&mut self.stepper.equations, &self.stepper.memory);
        e.set.choose(m.t);
        e.constraints(&m.q, &m.turns, m.t);
        if let Some((_, d)) = judge::open(self.model, &e.set, &e.Phi, m.t) {
            return Err(d);
        }
        if self.lately > COUNTED * MOST_OVER && m.t - self.over_since < FORWARD * self.stepper.tau {
            let t = m.t;
            return Err(Diagnostic::new("S230", format!("at t = {t:.6} s more than {MOST_OVER} steps were taken with an error estimate above the tolerance and made hardly any progress"))
                .time(t)
                .help("the mechanism is at a singular position, or forces are not smooth; give a fixed step (`--step`), a larger tolerance or another formulation"));
        }
        Ok(())
    }

    /// The fraction of the trial step after which it would pass over a narrow force. Steps are short enough to count as straight.
    fn passes_over(&mut self, h: f64) -> Option<f64> {
        let m = &self.stepper.memory;
        let narrow = self.narrow.as_mut().filter(|_| Narrow::is_long(h, self.pace.least(m.t)))?;
        let start = (m.q.as_slice(), m.velocities(), m.carried.z.as_slice());
        for (t, (q, v, z), place) in [(m.t, start, Place::Start), (m.t + h, self.stepper.trial_end(), Place::End)] {
            let at = &mut narrow.at;
            at.t = t;
            at.q.copy_from_slice(q);
            at.v.copy_from_slice(v);
            at.z.copy_from_slice(z);
            at.turns.copy_from_slice(&m.turns);
            update_turns(self.model, &at.q, &mut at.turns);
            narrow.read(self.model, place);
        }
        narrow.straight();
        narrow.begins(h)
    }

    /// Rejection of a step for a reason other than its error.
    fn failed(&mut self, why: Trouble) -> Refused<Option<Trouble>> {
        self.stepper.work.failures += 1;
        Refused { factor: 0.5, why: Some(why), ends: true }
    }

    /// Restarts the method from the consistent state: if its history does not fit much smaller steps, and if a singular position left
    /// oscillating multipliers, which the method would damp only over many steps. No restart where accelerations are ill-defined.
    fn begin(&mut self, h: f64, tries: usize) {
        let anew = tries == RESTART_AFTER || (tries == 1 && self.held);
        if anew && !self.near_singular() {
            self.stepper.restart(h);
            let power = self.power_now();
            self.work.begin(power);
            self.held = false;
        } else {
            self.stepper.change_step(h);
        }
    }
}

impl<C: Chart> Tries for Implicit<'_, C> {
    type Why = Option<Trouble>;

    fn pace(&self) -> &Pace {
        &self.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn time(&self) -> f64 {
        self.stepper.memory.t
    }

    fn arrive(&mut self, t: f64) {
        self.stepper.memory.t = t;
    }

    /// The end is reached in whole steps: a tiny last step would impair the history.
    fn fitted(&self, left: f64) -> f64 {
        match left / self.pace.h {
            x if x <= 1.0 + 1e-9 => left,
            x if x < 2.0 => 0.5 * left,
            _ => self.pace.h,
        }
    }

    /// Steps equal to the last one up to rounding keep its size, and thus the history.
    fn kept(&self, h: f64) -> f64 {
        let last = self.stepper.memory.h;
        if (h - last).abs() <= 1e-9 * last { last } else { h }
    }

    fn attempt(&mut self, h: f64, tries: usize) -> Result<(), Refused<Option<Trouble>>> {
        if self.pace.fixed.is_some() {
            self.stepper.change_step(h);
            self.stepper.attempt(h).and_then(|()| self.stepper.accept(h)).map_err(|why| self.failed(why))?;
            self.note();
            return Ok(());
        }
        self.begin(h, tries);
        self.stepper.attempt(h).map_err(|why| self.failed(why))?;
        let wished = self.stepper.error_per_time(h);
        let power = -1.0 / self.stepper.order() as f64;
        let factor = (0.85 * elementary::powf(wished.max(1e-12), power)).clamp(0.2, 2.0);
        // Where forces are not smooth the error falls only in proportion to the step: the error of the single step is then used.
        let error = if tries < SMOOTH_TRIES { wished } else { wished.min(self.stepper.error_per_step(h) / ALONE) };
        // Near a singular position the multipliers in the estimate jump for any step size, and smaller steps amplify this: the step size is
        // kept, and inertia carries the mechanism through.
        let asked = error > 1.0 || factor > 1.3 || self.stepper.work.steps.is_multiple_of(ASKED);
        let near = asked && self.near_singular();
        let hold = error > 1.0 && near;
        let least = LEAST * self.pace.smallest;
        if error > 1.0 && !hold && tries < ENOUGH_TRIES && h > least {
            self.stepper.work.rejections += 1;
            // Accuracy alone does not end a run: the step is accepted after enough attempts.
            return Err(Refused { factor: factor.min(0.8), why: None, ends: false });
        }
        if let Some(factor) = self.passes_over(h) {
            self.stepper.work.rejections += 1;
            return Err(Refused { factor, why: None, ends: false });
        }
        self.stepper.accept(h).map_err(|why| self.failed(why))?;
        self.note();
        self.held |= near;
        self.was_over = error > 1.0;
        if self.lately == 0 {
            self.over_since = self.stepper.memory.t;
        }
        (self.over, self.lately) =
            if self.was_over { (self.over + 1, self.lately + COUNTED) } else { (self.over, self.lately.saturating_sub(1)) };
        let grow = factor > 1.3 && self.stepper.memory.since_change >= 5;
        if self.was_over && h <= least {
            // In such a small step the estimate contains only rounding.
            self.pace.h = 5.0 * least;
        } else if !hold && (factor < 0.8 || (grow && !near)) {
            self.pace.h = (h * factor).max(least);
        }
        Ok(())
    }

    fn taken(&mut self, as_wished: bool) -> Result<(), Diagnostic> {
        let doubtful = if self.pace.fixed.is_some() { !as_wished } else { self.was_over };
        self.look(doubtful)
    }

    fn too_small(&mut self, h: f64, why: Option<Trouble>) -> Diagnostic {
        self.stepper.diagnose(h, why.unwrap_or(Trouble::NoConvergence))
    }
}

impl<C: Chart> Stepping for Implicit<'_, C> {
    fn time(&self) -> f64 {
        self.stepper.memory.t
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        control::step(self, t)
    }

    fn asks(&self) -> bool {
        self.stepper.work.steps.is_multiple_of(asked_every(self.output.lambda.len()))
    }
}

impl<C: Chart> Motion for Implicit<'_, C> {
    fn t(&self) -> f64 {
        self.stepper.memory.t
    }

    fn run_ahead(&mut self, until: f64) {
        self.pace.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        self.start = None;
        self.pace.recover();
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, o: &mut Instant) -> Result<(), Diagnostic> {
        let m = &self.stepper.memory;
        o.t = t;
        o.turns.copy_from_slice(&m.turns);
        if let Some(start) = &self.start {
            // The velocity of the stepper contains a normal offset.
            o.q.copy_from_slice(&start.q);
            o.v.copy_from_slice(&start.v);
            o.z.copy_from_slice(&m.carried.z);
        } else if (m.t - t).abs() <= 1e-12 * m.t.abs().max(m.h) {
            o.q.copy_from_slice(&m.q);
            o.v.copy_from_slice(m.velocities());
            o.z.copy_from_slice(&m.carried.z);
        } else {
            self.stepper.interpolate(t, &mut o.q, &mut o.v);
            self.stepper.interpolate_carried(t, &mut o.z);
        }
        let m = &self.stepper.memory;
        self.output.finish(&mut self.stepper.equations, m.accelerations(), &m.lambda, o);
        o.work = self.work.before_end(m.t - t);
        Ok(())
    }

    fn own_state(&self) -> Option<(f64, &[Pose], &[f64])> {
        let m = &self.stepper.memory;
        Some((m.t, &m.q, &m.turns))
    }

    fn glance(&mut self, out: &mut Configuration) -> bool {
        let m = &self.stepper.memory;
        out.t = m.t;
        match &self.start {
            Some(start) => {
                out.q.copy_from_slice(&start.q);
                out.v.copy_from_slice(&start.v);
            }
            None => {
                out.q.copy_from_slice(&m.q);
                out.v.copy_from_slice(m.velocities());
            }
        }
        out.turns.copy_from_slice(&m.turns);
        out.z.copy_from_slice(&m.carried.z);
        true
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if t != self.stepper.memory.t {
            return Ok(false);
        }
        self.stepper.replace_carried(z);
        let power = self.power_now();
        self.work.jump(power);
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.warnings.extend(self.output.warning());
        outcome.warnings.extend(self.stepper.equations.poorly.warning());
        let w = self.stepper.work;
        if self.over > 0 {
            let many = count(self.over, "step");
            outcome.warnings.push(
                Diagnostic::new("W232", format!("{many} of {} were taken with an error estimate above the tolerance", w.steps))
                    .help("this happens near singular positions, where smaller steps do not help; compare with a run at another tolerance or a fixed step"),
            );
        }
        outcome.work.extend([
            ("steps", w.steps as f64),
            ("newton_iterations", w.iterations as f64),
            ("mean_newton_iterations", w.iterations as f64 / w.steps.max(1) as f64),
            ("factorisations", self.stepper.equations.factorisations as f64),
            ("rejected_steps", w.rejections as f64),
            ("failed_steps", w.failures as f64),
            ("steps_above_tolerance", self.over as f64),
            ("steps_with_exact_matrix", w.exact as f64),
        ]);
        if C::SINGULAR {
            outcome.work.push(("changes_of_chart", w.recharts as f64));
            if w.recharts > 0 {
                let times = count(w.recharts, "time");
                outcome.notes.push(format!("near the singularity of its Euler angles a body was given another reference frame, {times}"));
            }
        }
        if C::OWN {
            let norm = self.stepper.memory.own_residual();
            outcome.work.push(("largest_norm_error", norm));
        }
        outcome.singular.append(&mut self.watch.passages.found);
    }

    fn save(&self) -> Value {
        let s = &self.stepper;
        let (m, previous) = (&s.memory, s.previous());
        let mut state = json!({
            "h": self.pace.h,
            "tau": s.tau,
            "exact": s.exact_steps_left(),
            "work": [s.work.steps, s.work.iterations, s.work.failures, s.work.rejections, s.work.exact, s.equations.factorisations, s.work.recharts],
            "detector": self.output.detector.save(),
            "passages": self.watch.passages.save(),
            "flagged": self.output.flagged,
            "over": self.over,
            "held": self.held,
            "work_done": self.work.save(),
            "poorly": s.equations.poorly.save(),
        });
        for (name, x) in [("now", m), ("before", previous)] {
            state[name] = json!({
                "t": x.t, "h": x.h, "since_change": x.since_change,
                "q": poses(&x.q), "x": points::<C>(&x.x), "v": flat(&x.v), "v_dot": flat(&x.v_dot), "a": flat(&x.a), "psi": flat(&x.psi),
                "v_back": flat(&x.v_back), "v_dot_back": flat(&x.v_dot_back), "jerk": flat(&x.jerk),
                "lambda": x.lambda, "turns": x.turns,
            });
            for (key, list) in x.carried.lists() {
                state[name][key] = json!(list);
            }
        }
        state
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let misfit = || bad_checkpoint("its sizes do not match");
        for name in ["now", "before"] {
            let (x, s) = (&v[name], &mut self.stepper);
            let m = if name == "now" { &mut s.memory } else { s.previous_mut() };
            (m.t, m.h, m.since_change) = (number(&x["t"]), number(&x["h"]), whole(&x["since_change"]));
            unflat_poses(&x["q"], &mut m.q).ok_or_else(misfit)?;
            m.x = unflat_points::<C>(&numbers(&x["x"]), m.q.len()).ok_or_else(misfit)?;
            for (key, rates) in [
                ("v", &mut m.v),
                ("v_dot", &mut m.v_dot),
                ("a", &mut m.a),
                ("psi", &mut m.psi),
                ("v_back", &mut m.v_back),
                ("v_dot_back", &mut m.v_dot_back),
                ("jerk", &mut m.jerk),
            ] {
                unflat(&x[key], rates).ok_or_else(misfit)?;
            }
            list(&x["lambda"], &mut m.lambda).ok_or_else(misfit)?;
            list(&x["turns"], &mut m.turns).ok_or_else(misfit)?;
            for (key, carried) in m.carried.lists_mut() {
                list(&x[key], carried).ok_or_else(misfit)?;
            }
            m.map_all();
        }
        self.pace.h = number(&v["h"]);
        self.stepper.tau = number(&v["tau"]);
        // Without positive steps the run would not end.
        let sizes = [self.pace.h, self.stepper.tau, self.stepper.memory.h];
        if !self.stepper.memory.t.is_finite() || sizes.iter().any(|x| !x.is_finite() || *x <= 0.0) {
            return Err(bad_checkpoint("its times or steps are missing"));
        }
        let (w, work) = (&mut self.stepper.work, &v["work"]);
        (w.steps, w.iterations, w.failures, w.rejections, w.exact) =
            (whole(&work[0]), whole(&work[1]), whole(&work[2]), whole(&work[3]), whole(&work[4]));
        self.stepper.equations.factorisations = whole(&work[5]);
        self.stepper.work.recharts = whole(&work[6]);
        self.stepper.set_exact_steps_left(whole(&v["exact"]));
        self.output.detector.restore(&v["detector"]);
        self.watch.passages.restore(&v["passages"]);
        self.output.flagged = whole(&v["flagged"]);
        self.over = whole(&v["over"]);
        self.held = v["held"].as_bool().unwrap_or(false);
        self.work.restore(&v["work_done"]);
        self.stepper.equations.poorly.restore(&v["poorly"]);
        self.start = None;
        Ok(())
    }
}

/// Error for a body that starts at the singularity of its coordinates, which may not be changed.
fn singular_start(model: &Model, trouble: Trouble) -> Diagnostic {
    let name = match trouble {
        Trouble::Chart(b) => model.bodies[b].name.clone(),
        _ => String::new(),
    };
    Diagnostic::new("S234", format!("the Euler angles of `{name}` are singular at the start: its z axis is along that of the world"))
        .name(name)
        .help("omit `rechart=0`, so that the body gets another reference frame, or use `ra` or `rp`")
}

fn points<C: Chart>(x: &[C::Point]) -> Vec<f64> {
    let mut out = Vec::new();
    x.iter().for_each(|x| C::write(x, &mut out));
    out
}

fn unflat_points<C: Chart>(mut x: &[f64], n: usize) -> Option<Vec<C::Point>> {
    let mut out = Vec::with_capacity(n);
    for _ in 0..n {
        let (point, taken) = C::read(x)?;
        out.push(point);
        x = &x[taken..];
    }
    Some(out)
}
