//! Dynamics: runs an implicit stepper over time, lands on or interpolates to output times, watches for singular
//! positions, and keeps what is needed to continue a run.

use crate::analysis::assembly::{Assembled, update_turns};
use crate::analysis::singular::{self, Detector, Singular};
use crate::analysis::{rank, unique};
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::integrator::index3::Stepper;
use crate::integrator::{Method, number};
use crate::model::Model;
use crate::state::{Configuration, Pose, Velocity};
use crate::study::{Analysis, Failed, Observer, Report, Study};
use crate::trajectory::{Recorder, Snapshot, columns};
use fourbar_math::so3;
use serde_json::{Value, json};

/// Tolerance of adaptive runs where none is given.
const DEFAULT_TOL: f64 = 1e-6;
/// After this many tries at one step the method starts afresh from the consistent state.
const RESTART_AFTER: usize = 4;
/// Tries at one step after which it is taken in spite of the estimate.
const ENOUGH_TRIES: usize = 7;
/// Below this pivot the index-1 multipliers are trusted only if singular values say so; else the step's own are written.
const ILL_DEFINED: f64 = 1e-6;
/// A dynamic run in progress.
struct Run<'m> {
    model: &'m Model,
    stepper: Stepper<'m>,
    recorder: Recorder,
    detector: Detector,
    /// Step in use.
    h: f64,
    fixed: Option<f64>,
    smallest: f64,
    /// Output state: written at output times.
    out: Configuration,
    a: Vec<Velocity>,
    lambda: Vec<f64>,
    row: Vec<f64>,
    flagged: usize,
    /// Steps taken though their error estimate was above the tolerance.
    over: usize,
    /// Whether anything but potentials does work, and then: work and power at the end of the last step, power at its start.
    worked: bool,
    work: f64,
    power: f64,
    power_before: f64,
}

/// Runs dynamics from an assembled start, or from a checkpoint.
pub fn run(
    model: &Model,
    study: &Study,
    assembled: &Assembled,
    checkpoint: Option<&str>,
    observer: &mut dyn Observer,
) -> Result<Report, Failed> {
    let (formulation, integrator) = study.method()?;
    let method = Method::new(integrator, &study.options)?;
    let start = &assembled.configuration;
    let mut warnings: Vec<Diagnostic> = assembled.warning(model).into_iter().collect();
    let not_unique = unique::not_unique(model, start);
    warnings.extend(friction_warning(model, &not_unique));
    let mut stepper = Stepper::new(model, start, method);
    if let Some(theta) = number(&study.options, "theta")? {
        stepper.correction = theta * model.length;
    }
    if let Some(cap) = number(&study.options, "iterations")? {
        stepper.cap = cap.clamp(2.0, 1000.0) as usize;
    }
    stepper.index2 = match number(&study.options, "index")? {
        None | Some(3.0) => false,
        Some(2.0) if matches!(method, Method::GenAlpha { .. }) => true,
        Some(x) => {
            return Err(Diagnostic::new("U304", format!("index = {x} is not available with {integrator}"))
                .help("`index=3` is the default; `index=2`, the stabilised form, goes with gen-alpha")
                .into());
        }
    };
    stepper.tau = number(&study.options, "tau")?.unwrap_or((study.t_end / 50.0).min(0.1));
    let fixed = study.step.map(|h| study.output_step / (study.output_step / h - 1e-9).ceil().max(1.0));
    stepper.tol = if fixed.is_some() { 0.0 } else { study.tol.unwrap_or(DEFAULT_TOL) * model.length };
    let rows = stepper.equations.set.rows();
    let h = fixed.unwrap_or((0.01 * stepper.tau).min(study.output_step));
    let mut r = Run {
        model,
        recorder: Recorder::new(model, &stepper.equations.set),
        detector: Detector::new(model, &stepper.equations.set, start),
        h,
        fixed,
        smallest: 1e-8 * study.t_end.max(study.output_step),
        out: start.clone(),
        a: vec![Velocity::zero(); model.bodies.len()],
        lambda: vec![0.0; rows],
        row: Vec::new(),
        flagged: 0,
        over: 0,
        worked: !model.forces.is_empty() || !model.drives.is_empty() || !model.bare.is_empty(),
        work: 0.0,
        power: 0.0,
        power_before: 0.0,
        stepper,
    };
    observer.begin(&columns(model));
    let mut outputs = study.output_times().enumerate().peekable();
    match checkpoint {
        Some(text) => {
            let index = r.restore(text)?;
            while outputs.peek().is_some_and(|(k, _)| *k <= index) {
                outputs.next();
            }
        }
        None => {
            r.stepper.start(r.h);
            r.power = r.power_now();
            r.record_start(observer);
            outputs.next();
        }
    }
    let mut failure = None;
    let mut stopped = false;
    for (index, t) in outputs {
        let reached = if r.fixed.is_some() { r.land(t, study.t_end, observer) } else { r.pass(t, study.t_end, observer) };
        match reached {
            Ok(true) => {}
            Ok(false) => {
                stopped = true;
                break;
            }
            Err(d) => {
                failure = Some(d);
                break;
            }
        }
        r.record(t, observer);
        observer.checkpoint(&|| r.save(index));
        if !observer.go_on(t, study.t_end) {
            stopped = true;
            break;
        }
    }
    warnings.extend(singular::warning(&r.detector.found));
    if r.flagged > 0 {
        warnings.push(
            Diagnostic::new("W231", format!("at {} the reactions are not well defined, because the mechanism is at a singular position; the step's own values are written", crate::study::count(r.flagged, "output time")))
                .help("read reactions near singular positions with care"),
        );
    }
    if r.over > 0 {
        let many = crate::study::count(r.over, "step");
        warnings.push(
            Diagnostic::new("W232", format!("{many} of {} were taken with an error estimate above the tolerance", r.stepper.work.steps))
                .help("this happens near singular positions, where smaller steps do not help; compare with a run at another tolerance or a fixed step"),
        );
    }
    let w = r.stepper.work;
    let report = Report {
        analysis: Analysis::Dynamics,
        formulation: formulation.name,
        integrator,
        t: if failure.is_some() { r.stepper.memory.t } else { r.out.t },
        stopped,
        work: vec![
            ("steps", w.steps as f64),
            ("newton_iterations", w.iterations as f64),
            ("mean_newton_iterations", w.iterations as f64 / w.steps.max(1) as f64),
            ("factorisations", r.stepper.equations.factorisations as f64),
            ("rejected_steps", w.rejections as f64),
            ("failed_steps", w.failures as f64),
            ("steps_above_tolerance", r.over as f64),
            ("steps_with_exact_matrix", w.exact as f64),
        ],
        rows,
        redundant: rows - rank::rank(model, &r.stepper.equations.set, &start.q).rank,
        not_unique,
        singular: r.detector.found,
        warnings,
        length: model.length,
    };
    match failure {
        Some(d) => Err(Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        None => Ok(report),
    }
}

/// Load-dependent friction on a reaction that is not unique has no definite value.
fn friction_warning(model: &Model, not_unique: &[(String, Vec<String>)]) -> Vec<Diagnostic> {
    let mut list = Vec::new();
    for (name, f) in &model.forces {
        if let Force::Friction { joint, coulomb, .. } = f {
            let joint = &model.joints[*joint].name;
            let forces = not_unique.iter().find(|(j, c)| j == joint && c.iter().any(|c| c.starts_with("force")));
            if *coulomb > 0.0 && forces.is_some() {
                list.push(
                    Diagnostic::new("W230", format!("friction `{name}` depends on the load of joint `{joint}`, which is not unique: the mechanism is over-constrained there"))
                        .names([name.clone(), joint.clone()])
                        .help("the minimum-norm load is used; remove the redundancy (make a hinge spherical or cylindrical) or state the friction without load"),
                );
            }
        }
    }
    list
}

impl Run<'_> {
    /// One accepted step of about `h`; smaller where Newton fails. Returns the size taken.
    fn step(&mut self, h: f64) -> Result<f64, Diagnostic> {
        let mut h = h;
        loop {
            self.stepper.change_step(h);
            let tried = self.stepper.attempt(h).and_then(|()| self.stepper.accept(h));
            match tried {
                Ok(()) => break,
                Err(d) => {
                    self.stepper.work.failures += 1;
                    h *= 0.5;
                    if h < self.smallest {
                        return Err(self.stepper.diagnose(2.0 * h, d));
                    }
                }
            }
        }
        self.note();
        Ok(h)
    }

    /// Whether the last factorisation was near a singular position.
    fn near_singular(&self) -> bool {
        let e = &self.stepper.equations;
        self.detector.is_near(self.model, &e.set, &self.stepper.memory.q, e.regular_pivot.0)
    }

    /// Takes note of an accepted step: singular positions, and work by the trapezoidal rule.
    fn note(&mut self) {
        let s = &mut self.stepper;
        s.equations.watch(&mut self.detector, &s.memory.q, s.memory.t);
        self.power_before = self.power;
        self.power = self.power_now();
        self.work += 0.5 * self.stepper.memory.h * (self.power_before + self.power);
    }

    fn power_now(&mut self) -> f64 {
        if !self.worked {
            return 0.0;
        }
        let (e, m) = (&mut self.stepper.equations, &self.stepper.memory);
        e.power(&m.q, &m.v, &m.lambda, &m.turns, m.t)
    }

    /// Asks the observer now and then, so that a run between two output times can be stopped too.
    fn asked_to_stop(&self, t_end: f64, observer: &mut dyn Observer) -> bool {
        self.stepper.work.steps.is_multiple_of(64) && !observer.go_on(self.stepper.memory.t, t_end)
    }

    /// Fixed steps that land on `t`; `false` where the observer wants to stop.
    fn land(&mut self, t: f64, t_end: f64, observer: &mut dyn Observer) -> Result<bool, Diagnostic> {
        let nominal = self.fixed.unwrap_or(self.h);
        self.h = (2.0 * self.h).min(nominal);
        loop {
            let left = t - self.stepper.memory.t;
            if left <= 1e-9 * nominal {
                break;
            }
            // The last step of an interval takes what is left; steps that equal the last one to rounding keep its size.
            let n = (left / self.h - 1e-6).ceil().max(1.0);
            let mut h = left / n;
            let last = self.stepper.memory.h;
            if (h - last).abs() <= 1e-9 * last {
                h = last;
            }
            let taken = self.step(h)?;
            if taken < 0.75 * h {
                self.h = taken;
            }
            if self.asked_to_stop(t_end, observer) {
                return Ok(false);
            }
        }
        self.stepper.memory.t = t;
        Ok(true)
    }

    /// Adaptive steps until `t` is passed; `false` where the observer wants to stop.
    fn pass(&mut self, t: f64, t_end: f64, observer: &mut dyn Observer) -> Result<bool, Diagnostic> {
        while self.stepper.memory.t < t - 1e-12 * t_end {
            let left = t_end - self.stepper.memory.t;
            // The end is met in whole steps: a tiny last one would upset the history.
            let mut h = match left / self.h {
                x if x <= 1.0 + 1e-9 => left,
                x if x < 2.0 => 0.5 * left,
                _ => self.h,
            };
            let mut refused = 0;
            loop {
                // A history that does not fit much smaller steps is made anew, but not where accelerations are ill-defined.
                refused += 1;
                if refused == RESTART_AFTER && !self.near_singular() {
                    self.stepper.restart(h);
                } else {
                    self.stepper.change_step(h);
                }
                match self.stepper.attempt(h) {
                    Ok(()) => {}
                    Err(d) => {
                        self.stepper.work.failures += 1;
                        h *= 0.5;
                        if h < self.smallest {
                            return Err(self.stepper.diagnose(2.0 * h, d));
                        }
                        self.h = h;
                        continue;
                    }
                }
                let (e_q, e_v) = self.stepper.error;
                let error = e_q.max(self.stepper.tau * e_v) / self.stepper.tol;
                // The first two steps have no history for the estimate of velocities.
                let power = -1.0 / (self.stepper.order() as f64 + 1.0);
                let factor = (0.85 * error.max(1e-12).powf(power)).clamp(0.2, 2.0);
                // Near a singular position the estimate sees the multipliers jump at any step, and smaller steps only feed
                // that: the step is held, and inertia carries through.
                let hold = self.near_singular();
                if error > 1.0 && !hold && self.stepper.work.steps > 2 && refused < ENOUGH_TRIES {
                    self.stepper.work.rejections += 1;
                    h *= factor.min(0.8);
                    self.h = h;
                    continue;
                }
                if let Err(d) = self.stepper.accept(h) {
                    self.stepper.work.failures += 1;
                    h *= 0.5;
                    if h < self.smallest {
                        return Err(self.stepper.diagnose(2.0 * h, d));
                    }
                    self.h = h;
                    continue;
                }
                self.note();
                if error > 1.0 && self.stepper.work.steps > 3 {
                    self.over += 1;
                }
                if !hold && (factor < 0.8 || (factor > 1.3 && self.stepper.memory.since_change >= 5)) {
                    self.h = (h * factor).max(10.0 * self.smallest);
                }
                break;
            }
            if self.asked_to_stop(t_end, observer) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The first row, at the assembled start itself: the stepper's own velocity is shifted by its normal part.
    fn record_start(&mut self, observer: &mut dyn Observer) {
        self.write(observer);
    }

    /// The row at output time `t`, which lies at the end of or inside the last step.
    fn record(&mut self, t: f64, observer: &mut dyn Observer) {
        let m = &self.stepper.memory;
        self.out.t = t;
        self.out.turns.copy_from_slice(&m.turns);
        if (m.t - t).abs() <= 1e-12 * m.t.abs().max(m.h) {
            self.out.q.copy_from_slice(&m.q);
            self.out.v.copy_from_slice(&m.v);
        } else {
            // Cubic Hermite on the group between the ends of the last step.
            let p = self.stepper.previous();
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
                self.out.q[b] = p.q[b].moved(&u);
                self.out.v[b] = Velocity { v: du.v, w: so3::tangent(&u.w) * du.w };
            }
        }
        self.write(observer);
    }

    /// Projects the output state, evaluates accelerations and reactions there, and hands the row over.
    fn write(&mut self, observer: &mut dyn Observer) {
        let e = &mut self.stepper.equations;
        let o = &mut self.out;
        for _ in 0..2 {
            e.jacobian(&o.q);
            e.constraints(&o.q, &o.turns, o.t);
            if e.Phi.iter().all(|x| x.abs() < 1e-14 * self.model.length) {
                break;
            }
            e.factor(1.0);
            e.x.copy_from_slice(&e.Phi);
            e.normal_part();
            for (q, d) in o.q.iter_mut().zip(&e.dq) {
                *q = q.moved(&d.scaled(-1.0));
            }
        }
        update_turns(self.model, o);
        e.jacobian(&o.q);
        e.factor(1.0);
        e.project_velocity(o.t, &mut o.v);
        let m = &self.stepper.memory;
        self.a.copy_from_slice(&m.v_dot);
        let defined = e.regular_pivot.0 > ILL_DEFINED || !self.detector.is_singular(self.model, &e.set, &o.q);
        if defined {
            e.index1(&o.q, &o.v, &o.turns, o.t, &mut self.a, &mut self.lambda);
        } else {
            self.lambda.copy_from_slice(&m.lambda);
            self.flagged += 1;
        }
        let errors = e.errors(&o.q, &o.v, &self.a, &o.turns, o.t);
        // Inside a step the power goes linearly from its start to its end.
        let left = m.t - o.t;
        let slope = if m.h > 0.0 { (self.power - self.power_before) / m.h } else { 0.0 };
        let work = self.work - left * (self.power - 0.5 * left * slope);
        self.row.clear();
        let snapshot = Snapshot { t: o.t, q: &o.q, v: &o.v, a: &self.a, turns: &o.turns, lambda: &self.lambda, work, errors };
        self.recorder.row(self.model, &e.set, &snapshot, &mut self.row);
        observer.row(&self.row);
    }

    /// Everything needed to continue, as JSON; numbers survive to the bit.
    fn save(&self, index: usize) -> String {
        let s = &self.stepper;
        let (m, previous) = (&s.memory, s.previous());
        let mut state = json!({
            "fourbar-checkpoint": 1,
            "model": fingerprint(self.model),
            "index": index,
            "h": self.h,
            "tau": s.tau,
            "smallest": self.smallest,
            "exact": s.exact_steps_left(),
            "error": [s.error.0, s.error.1],
            "work": [s.work.steps, s.work.iterations, s.work.failures, s.work.rejections, s.work.exact, s.equations.factorisations],
            "watch": self.detector.watch.last.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<f64>>(),
            "watch_filled": self.detector.watch.filled,
            "watch_usual": self.detector.watch.usual,
            "flagged": self.flagged,
            "over": self.over,
            "work_done": [self.work, self.power, self.power_before],
            "singular": serde_json::to_value(&self.detector.found).unwrap_or(Value::Null),
            "p": self.recorder.memory().iter().flatten().copied().collect::<Vec<f64>>(),
        });
        for (name, x) in [("now", m), ("before", previous)] {
            state[name] = json!({
                "t": x.t, "h": x.h, "since_change": x.since_change,
                "q": poses(&x.q), "v": flat(&x.v), "v_dot": flat(&x.v_dot), "a": flat(&x.a), "psi": flat(&x.psi),
                "v_back": flat(&x.v_back), "v_dot_back": flat(&x.v_dot_back), "jerk": flat(&x.jerk),
                "lambda": x.lambda, "turns": x.turns,
            });
        }
        state.to_string()
    }

    /// Restores a saved run; gives the index of the last output written.
    fn restore(&mut self, text: &str) -> Result<usize, Diagnostic> {
        let bad = |what: &str| {
            Diagnostic::new("S240", format!("the checkpoint cannot be used: {what}"))
                .help("resume with the same mechanism file and options, or start afresh")
        };
        let v: Value = serde_json::from_str(text).map_err(|_| bad("it is not complete"))?;
        if v["model"].as_str() != Some(fingerprint(self.model).as_str()) {
            return Err(bad("it belongs to another mechanism"));
        }
        let numbers = |v: &Value| -> Vec<f64> {
            v.as_array().map(|a| a.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()).unwrap_or_default()
        };
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let (n, rows) = (self.model.bodies.len(), self.lambda.len());
        let p = numbers(&v["p"]);
        for name in ["now", "before"] {
            let x = &v[name];
            let sizes = ["v", "v_dot", "a", "psi", "v_back", "v_dot_back", "jerk"].iter().all(|k| numbers(&x[*k]).len() == 6 * n);
            if !sizes
                || numbers(&x["q"]).len() != 12 * n
                || numbers(&x["lambda"]).len() != rows
                || numbers(&x["turns"]).len() != self.model.angles.len()
                || p.len() != 4 * n
            {
                return Err(bad("its sizes do not fit"));
            }
            let s = &mut self.stepper;
            let m = if name == "now" { &mut s.memory } else { s.previous_mut() };
            (m.t, m.h, m.since_change) = (number(&x["t"]), number(&x["h"]), whole(&x["since_change"]));
            unflat_poses(&numbers(&x["q"]), &mut m.q);
            unflat(&numbers(&x["v"]), &mut m.v);
            unflat(&numbers(&x["v_dot"]), &mut m.v_dot);
            unflat(&numbers(&x["a"]), &mut m.a);
            unflat(&numbers(&x["psi"]), &mut m.psi);
            unflat(&numbers(&x["v_back"]), &mut m.v_back);
            unflat(&numbers(&x["v_dot_back"]), &mut m.v_dot_back);
            unflat(&numbers(&x["jerk"]), &mut m.jerk);
            m.lambda = numbers(&x["lambda"]);
            m.turns = numbers(&x["turns"]);
        }
        let last: Vec<[f64; 4]> = p.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
        self.recorder.restore(&last);
        self.h = number(&v["h"]);
        (self.stepper.tau, self.smallest) = (number(&v["tau"]), number(&v["smallest"]));
        let (w, work) = (&mut self.stepper.work, &v["work"]);
        (w.steps, w.iterations, w.failures, w.rejections, w.exact) =
            (whole(&work[0]), whole(&work[1]), whole(&work[2]), whole(&work[3]), whole(&work[4]));
        self.stepper.equations.factorisations = whole(&work[5]);
        self.stepper.error = (number(&v["error"][0]), number(&v["error"][1]));
        self.stepper.set_exact_steps_left(whole(&v["exact"]));
        let watch = numbers(&v["watch"]);
        if watch.len() == 6 {
            self.detector.watch.last = [0, 1, 2].map(|k| (watch[2 * k], watch[2 * k + 1]));
        }
        (self.detector.watch.filled, self.detector.watch.usual) = (whole(&v["watch_filled"]), number(&v["watch_usual"]));
        self.flagged = whole(&v["flagged"]);
        self.over = whole(&v["over"]);
        (self.work, self.power, self.power_before) = (number(&v["work_done"][0]), number(&v["work_done"][1]), number(&v["work_done"][2]));
        for s in v["singular"].as_array().into_iter().flatten() {
            let joints =
                s["joints"].as_array().map(|a| a.iter().filter_map(|j| j.as_str().map(String::from)).collect()).unwrap_or_default();
            self.detector.found.push(Singular { time: number(&s["time"]), pivot: number(&s["pivot"]), joints });
        }
        self.out.t = self.stepper.memory.t;
        Ok(whole(&v["index"]))
    }
}

/// Tells models apart in checkpoints: names, masses and lengths.
fn fingerprint(model: &Model) -> String {
    let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}:{:e}", b.name, b.mass)).collect();
    let joints: Vec<String> = model.joints.iter().map(|j| format!("{}:{}", j.name, j.kind.name())).collect();
    format!("{} | {} | {:e}", bodies.join(" "), joints.join(" "), model.length)
}

fn flat(x: &[Velocity]) -> Vec<f64> {
    x.iter().flat_map(|v| [v.v.x, v.v.y, v.v.z, v.w.x, v.w.y, v.w.z]).collect()
}

fn unflat(x: &[f64], out: &mut [Velocity]) {
    for (o, x) in out.iter_mut().zip(x.chunks_exact(6)) {
        o.v.copy_from_slice(&x[..3]);
        o.w.copy_from_slice(&x[3..]);
    }
}

fn poses(q: &[Pose]) -> Vec<f64> {
    q.iter().flat_map(|q| q.r.iter().chain(q.A.iter()).copied().collect::<Vec<f64>>()).collect()
}

fn unflat_poses(x: &[f64], out: &mut [Pose]) {
    for (q, x) in out.iter_mut().zip(x.chunks_exact(12)) {
        q.r.copy_from_slice(&x[..3]);
        q.A.copy_from_slice(&x[3..]);
    }
}
