//! Radau IIA of order five on the velocity level [Hairer96, IV.8 and VII.4]: for stiff forces and tight tolerances.
//!
//! Stages satisfy the velocity constraints, the end of a step is projected onto positions and velocities, and accelerations and multipliers
//! that are written come from the projected state. No residual is divided by the square of the step, and multipliers have no part in the
//! error: both let generalized-alpha lose its way at tight tolerances.

mod axes;
pub(super) mod coefficients;
mod frame;
mod matrix;
pub(super) mod newton;
mod stages;

use super::control::{self, Pace, Refused, Stepping, Tries, asked_every};
use super::index3::Trouble;
use super::lists::{flat, list, poses, unflat, unflat_poses};
use super::narrow::{Narrow, Place};
use super::output::Output;
use super::watch::Watch;
use super::work;
use super::{DEFAULT_TOL, positive, tau};
use crate::absolute::equations::Equations;
use crate::analysis::assembly::{flipped_joint, update_turns};
use crate::diagnostic::Diagnostic;
use crate::judge;
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, bad_checkpoint};
use crate::settings::Study;
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use fourbar_math::elementary;
use fourbar_math::so3;
use newton::Sizes;
use serde_json::{Value, json};
use stages::{Point, Solver, Stages};

/// Steps below this share of the characteristic time lead nowhere.
const SMALLEST: f64 = 1e-9;
/// The matrix is kept as long as bodies have turned by less than this since, radians.
const TURNED: f64 = 2.0;
/// Tolerance of the stages with fixed steps.
const SOLVED: f64 = 1e-11;
/// Share of the tolerance that the relative error of work counts with: the iteration leaves as much in the work of drives.
const WORK: f64 = 0.1;
/// Steps below this share of the last one are not cut further for their work: multipliers of very short steps are known to few digits, and the
/// error of work no longer falls with the step.
const SHORT: f64 = 0.1;
/// The matrix of a step that is cut by no more than this factor is kept.
pub(super) const SAME: f64 = 0.5;
/// The matrix of a step is made inside it where it is at most so many times as long as the last one, which foretells the state there.
pub(super) const FORETOLD: f64 = 2.0;
/// Joints are examined after so many steps.
const LOOKED_AT: usize = 16;

/// Radau IIA in motion.
pub struct Radau<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    solver: Solver,
    pace: Pace,
    tau: f64,
    /// The end of the last step and its start, the state for which the next matrix is made; size of the last step and its stages, and the stages
    /// of the step that is tried.
    now: Point,
    before: Point,
    inside: Point,
    h: f64,
    stages: Stages,
    trial: Stages,
    /// Poses and velocities that the last step foretells.
    foreseen: (Vec<Pose>, Vec<Twist>),
    /// Accelerations, and rates of inputs and states, where the next step starts.
    a: Vec<Twist>,
    rates: Vec<f64>,
    /// Whether the last step foretells the next.
    foretells: bool,
    sizes: Sizes,
    output: Output,
    watch: Watch<'m>,
    /// Forces that steps could pass over.
    narrow: Option<Narrow>,
    /// Whether anything but potentials does work; the work until the start of the last step, powers at that start and at its stages, and the
    /// power where the next step starts, those of the step that is tried. With the tolerance of the run and the energy that counts as small.
    worked: bool,
    work: f64,
    powers: [f64; 4],
    power: f64,
    tried: [f64; 4],
    tol: f64,
    little: f64,
    steps: usize,
    rejections: usize,
    failures: usize,
}

/// The motion of rA with Radau IIA.
pub fn start<'m>(structure: &Structure<'m>, study: &Study, start: &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    Ok(Box::new(Radau::new(structure, study, start)?))
}

impl<'m> Radau<'m> {
    /// From a consistent start.
    pub fn new(structure: &Structure<'m>, study: &Study, start: &Configuration) -> Result<Self, Diagnostic> {
        let model = structure.model;
        let equations = Equations::of(model, structure.rows.clone(), start);
        let (n, rows, size) = (model.bodies.len(), equations.set.rows(), model.auxiliaries());
        let tau = tau(study)?;
        let fixed = study.fixed_step();
        // Where steps are fixed the stages are solved to rounding, or nearly.
        let tol = if fixed.is_some() { SOLVED } else { study.tol.unwrap_or(DEFAULT_TOL) };
        let now = Point {
            t: start.t,
            q: start.q.clone(),
            v: start.v.clone(),
            lambda: vec![0.0; rows],
            turns: start.turns.clone(),
            z: start.z.clone(),
        };
        let solver = Solver::new(&equations, start, now.clone(), tol, tau);
        let local = solver.weights[0];
        let h = fixed.or(positive(&study.options, "first-step")?).unwrap_or(0.1 * elementary::powf(local, 0.25) * tau);
        let stages = Stages::new(n, rows, size, solver.k.c);
        let mut r = Self {
            model,
            equations,
            solver,
            pace: Pace { h, fixed, ahead: study.t_end, smallest: SMALLEST * tau, ends: model.time_marks(study.t_end) },
            tau,
            before: now.clone(),
            inside: now.clone(),
            now,
            h: 0.0,
            trial: stages.clone(),
            stages,
            foreseen: (start.q.clone(), vec![Twist::zero(); n]),
            a: vec![Twist::zero(); n],
            rates: vec![0.0; size],
            foretells: false,
            sizes: Sizes::default(),
            output: Output::new(structure, start),
            watch: Watch::new(structure, start),
            narrow: Narrow::of(model, study),
            worked: model.has_work(),
            work: 0.0,
            powers: [0.0; 4],
            power: 0.0,
            tried: [0.0; 4],
            tol,
            little: judge::little_energy(model, tau),
            steps: 0,
            rejections: 0,
            failures: 0,
        };
        r.begin();
        Ok(r)
    }

    /// Accelerations, multipliers and rates where a step starts without one before it.
    fn begin(&mut self) {
        let (e, x) = (&mut self.equations, &mut self.now);
        e.set.choose(x.t);
        e.z.copy_from_slice(&x.z);
        e.jacobian(&x.q);
        e.factor(1.0);
        e.index1(&x.q, &x.v, &x.turns, x.t, &mut self.a, &mut x.lambda);
        e.state_rates(&x.q, &x.v, &x.turns, x.t, &mut self.rates);
        if self.worked {
            self.power = e.power(&x.q, &x.v, &x.lambda, &x.turns, x.t);
        }
        self.note_states();
        self.foretells = false;
        self.solver.made = false;
    }

    /// Sizes of the states, against which their errors are measured.
    fn note_states(&mut self) {
        let first = self.model.first_state();
        for (k, size) in self.solver.state_sizes.iter_mut().enumerate() {
            *size = size.max(self.now.z[first + k].abs()).max(self.tau * self.rates[first + k].abs());
        }
    }

    /// First guess of all stages: the last step continues, or accelerations do.
    fn predict(&mut self, h: f64) {
        let Self { now, before, stages, trial, a, rates, solver, foreseen, .. } = self;
        let group = &solver.axes.group;
        trial.frames.choose(self.model, group, (&now.q, &now.v, a), h);
        for i in 0..3 {
            let step = solver.k.c[i] * h;
            if self.foretells {
                let x = 1.0 + step / self.h;
                let (w, l) = (solver.k.through_start(x), solver.k.through_stages(x));
                stages.interpolate(&solver.k, group, before, x, &mut foreseen.0, &mut foreseen.1);
                for b in 1..now.q.len() {
                    trial.psi[i][b] = now.q[b].increment_to(&foreseen.0[b]);
                    trial.dv[i][b] = foreseen.1[b].plus(&now.v[b].scaled(-1.0));
                }
                for (row, x) in trial.lambda[i].iter_mut().enumerate() {
                    *x = (0..3).map(|k| l[k] * stages.lambda[k][row]).sum();
                }
                for (k, d) in trial.dz[i].iter_mut().enumerate() {
                    *d = before.z[k] + (0..3).map(|j| w[j] * stages.dz[j][k]).sum::<f64>() - now.z[k];
                }
            } else {
                for b in 1..now.q.len() {
                    trial.psi[i][b] = now.v[b].scaled(step).plus(&a[b].scaled(0.5 * step * step));
                    trial.dv[i][b] = a[b].scaled(step);
                }
                trial.lambda[i].copy_from_slice(&now.lambda);
                trial.dz[i].iter_mut().zip(rates.iter()).for_each(|(d, r)| *d = step * r);
            }
            // Inputs follow their slopes.
            for k in 0..self.model.first_state() {
                trial.dz[i][k] = step * rates[k];
            }
            trial.enter(i, group, now);
        }
    }

    /// The state inside a step where its matrix is made: the second stage, as it is foretold.
    fn go_inside(&mut self, h: f64) {
        let Self { now, trial, solver, inside, .. } = self;
        if !self.foretells || h > FORETOLD * self.h {
            inside.copy_from(now);
            return;
        }
        for b in 1..now.q.len() {
            (inside.q[b], inside.v[b]) = trial.at(1, &solver.axes.group, now, b);
        }
        inside.t = now.t + solver.k.c[1] * h;
        inside.lambda.copy_from_slice(&trial.lambda[1]);
        inside.turns.copy_from_slice(&now.turns);
        update_turns(self.model, &inside.q, &mut inside.turns);
        for (k, z) in inside.z.iter_mut().enumerate() {
            *z = now.z[k] + trial.dz[1][k];
        }
    }

    fn failed(&mut self, why: Trouble, factor: f64) -> Refused<Option<Trouble>> {
        self.failures += 1;
        self.sizes.refused = true;
        self.solver.newton.remaining = 1.0;
        // A matrix of another state is made again before the step is cut.
        let old = self.solver.made && self.solver.made_from != self.now.t;
        self.solver.made = false;
        Refused { factor: if old { 1.0 } else { factor }, why: Some(why), ends: true }
    }

    /// The share of the step that was tried after which it would pass over a narrow force.
    fn passes_over(&mut self, h: f64) -> Option<f64> {
        let narrow = self.narrow.as_mut().filter(|_| Narrow::is_long(h, self.pace.least(self.now.t)))?;
        let (from, x, k) = (&self.now, &self.trial, &self.solver.k);
        for (s, place) in [(0.0, Place::Start), (0.5, Place::Middle), (1.0, Place::End)] {
            let at = &mut narrow.at;
            at.t = from.t + s * h;
            x.interpolate(k, &self.solver.axes.group, from, s, &mut at.q, &mut at.v);
            let w = k.through_start(s);
            for (c, z) in at.z.iter_mut().enumerate() {
                *z = from.z[c] + (0..3).map(|j| w[j] * x.dz[j][c]).sum::<f64>();
            }
            at.turns.copy_from_slice(&from.turns);
            update_turns(self.model, &at.q, &mut at.turns);
            narrow.read(self.model, place);
        }
        narrow.begins(h)
    }

    /// Powers at the stages that were tried, and the error of their work against the tolerance: drives may carry a motion that takes few steps.
    fn error_of_work(&mut self, h: f64) -> f64 {
        if !self.worked {
            return 0.0;
        }
        let [a, b, c] = self.solver.powers(&mut self.equations, &self.now, &self.trial, h);
        self.tried = [self.power, a, b, c];
        if h < SHORT * self.h {
            return 0.0;
        }
        let (error, of_step) = self.solver.k.error_of_integral(&self.tried);
        let done = self.work + self.h * self.solver.k.integral(1.0, &self.powers);
        WORK * work::relative_error(h * error, h * of_step, done, self.little, self.tol) / self.solver.weights[0]
    }

    /// Takes the step that was tried, and brings its end onto the constraints.
    fn take(&mut self, h: f64) -> Result<(), Trouble> {
        let (from, x, group) = (&self.now, &self.trial, &self.solver.axes.group);
        for b in 1..from.q.len() {
            let (q, v) = x.at(2, group, from, b);
            self.before.q[b] = Pose { r: q.r, A: so3::orthonormalise(&q.A) };
            self.before.v[b] = v;
        }
        if let Some(k) = flipped_joint(self.model, &self.before.q) {
            return Err(Trouble::Flip(k));
        }
        let E = &self.solver.k.E;
        for b in 1..from.q.len() {
            self.a[b] = x.acceleration(E, 2, group, from, b, h);
        }
        if self.worked {
            self.work += self.h * self.solver.k.integral(1.0, &self.powers);
            self.powers = self.tried;
            self.power = self.powers[3];
        }
        let (new, old) = (&mut self.before, &self.now);
        new.t = old.t + h;
        new.turns.copy_from_slice(&old.turns);
        update_turns(self.model, &new.q, &mut new.turns);
        new.lambda.copy_from_slice(&self.trial.lambda[2]);
        for (k, z) in new.z.iter_mut().enumerate() {
            *z = old.z[k] + self.trial.dz[2][k];
        }
        let e = &mut self.equations;
        e.set.choose(new.t);
        e.jacobian(&new.q);
        let L = self.model.length;
        if e.set.rows() > 0 {
            e.factor(1.0);
            for _ in 0..3 {
                e.constraints(&new.q, &new.turns, new.t);
                let worst = e.Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                if worst < 1e-15 * L {
                    break;
                }
                e.p.x.copy_from_slice(&e.Phi);
                e.normal_part();
                for (q, d) in new.q.iter_mut().zip(&e.p.dq) {
                    *q = q.moved(&d.scaled(-1.0));
                }
                if worst < 1e-13 * L {
                    break;
                }
            }
            e.jacobian(&new.q);
            e.project_velocity(new.t, &mut new.v);
        }
        e.z.copy_from_slice(&new.z);
        e.state_rates(&new.q, &new.v, &new.turns, new.t, &mut self.rates);
        std::mem::swap(&mut self.now, &mut self.before);
        std::mem::swap(&mut self.stages, &mut self.trial);
        (self.h, self.foretells) = (h, true);
        self.steps += 1;
        self.note_states();
        let Self { watch, now, before, stages, solver, .. } = self;
        watch.step((now.t, h), (&now.q, &now.v), |t, q, v| {
            stages.interpolate(&solver.k, &solver.axes.group, before, (t - before.t) / h, q, v)
        });
        Ok(())
    }
}

impl Tries for Radau<'_> {
    type Why = Option<Trouble>;

    fn pace(&self) -> &Pace {
        &self.pace
    }

    fn pace_mut(&mut self) -> &mut Pace {
        &mut self.pace
    }

    fn time(&self) -> f64 {
        self.now.t
    }

    fn arrive(&mut self, t: f64) {
        self.now.t = t;
    }

    fn fitted(&self, left: f64) -> f64 {
        self.pace.evened(left)
    }

    fn kept(&self, h: f64) -> f64 {
        if (h - self.h).abs() <= 1e-9 * self.h { self.h } else { h }
    }

    fn attempt(&mut self, h: f64, _tries: usize) -> Result<(), Refused<Option<Trouble>>> {
        self.equations.set.choose(self.now.t + h);
        self.predict(h);
        if !self.solver.made {
            self.go_inside(h);
            self.solver.made_from = self.now.t;
        }
        if !self.solver.prepare(&mut self.equations, &self.inside, h) {
            return Err(self.failed(Trouble::SingularMatrix, 0.5));
        }
        for stage in &mut self.trial.lambda {
            for (x, dropped) in stage.iter_mut().zip(&self.solver.dropped) {
                if *dropped {
                    *x = 0.0;
                }
            }
        }
        if let Err(d) = self.solver.newton(&mut self.equations, &self.now, &mut self.trial, h) {
            return Err(self.failed(d.trouble, d.factor));
        }
        let of_work = self.error_of_work(h);
        if self.pace.fixed.is_some() {
            self.take(h).map_err(|why| self.failed(why, 0.5))?;
            self.solver.made = false;
            return Ok(());
        }
        let iterations = self.solver.newton.iterations;
        let error = self.solver.error(&mut self.equations, &self.now, &self.a, &self.rates, &self.trial, h).max(of_work);
        if error >= 1.0 {
            self.rejections += 1;
            let factor = self.sizes.after_refusal(error, iterations, self.steps == 0);
            // A matrix of another state, or of the middle of a much longer step, is made again.
            self.solver.made &= self.solver.made_from == self.now.t && factor > SAME;
            return Err(Refused { factor, why: None, ends: true });
        }
        if let Some(factor) = self.passes_over(h) {
            self.rejections += 1;
            self.sizes.refused = true;
            return Err(Refused { factor, why: None, ends: false });
        }
        self.take(h).map_err(|why| self.failed(why, 0.5))?;
        self.solver.made = self.solver.newton.keeps_matrix() && self.solver.axes.turned() < TURNED;
        self.pace.h = self.sizes.next(h, self.pace.h, error, iterations, self.solver.made);
        Ok(())
    }

    fn taken(&mut self, as_wished: bool) -> Result<(), Diagnostic> {
        if as_wished && !self.steps.is_multiple_of(LOOKED_AT) {
            return Ok(());
        }
        let (e, x) = (&mut self.equations, &self.now);
        e.set.choose(x.t);
        e.constraints(&x.q, &x.turns, x.t);
        judge::open(self.model, &e.set, &e.Phi, x.t).map_or(Ok(()), |(_, d)| Err(d))
    }

    fn too_small(&mut self, h: f64, why: Option<Trouble>) -> Diagnostic {
        let t = self.now.t;
        let what = match why {
            None => "the error estimate stays above the tolerance".to_string(),
            Some(why) => why.words(self.model),
        };
        Diagnostic::new("S230", format!("the step at t = {t:.6} s fails with h = {h:.2e} s: {what}"))
            .time(t)
            .help("a force may jump there, or the mechanism is at a singular position: smooth the force, choose a larger tolerance or another formulation")
    }
}

impl Stepping for Radau<'_> {
    fn time(&self) -> f64 {
        self.now.t
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        control::step(self, t)
    }

    fn asks(&self) -> bool {
        self.steps.is_multiple_of(asked_every(3 * self.now.lambda.len()))
    }
}

impl Motion for Radau<'_> {
    fn t(&self) -> f64 {
        self.now.t
    }

    fn run_ahead(&mut self, until: f64) {
        self.pace.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        self.pace.recover();
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, o: &mut Instant) -> Result<(), Diagnostic> {
        o.t = t;
        let part = if self.h == 0.0 || (self.now.t - t).abs() <= 1e-12 * self.now.t.abs().max(self.h) {
            o.q.copy_from_slice(&self.now.q);
            o.v.copy_from_slice(&self.now.v);
            o.z.copy_from_slice(&self.now.z);
            o.turns.copy_from_slice(&self.now.turns);
            1.0
        } else {
            let x = (t - self.before.t) / self.h;
            self.stages.interpolate(&self.solver.k, &self.solver.axes.group, &self.before, x, &mut o.q, &mut o.v);
            let w = self.solver.k.through_start(x);
            for (k, z) in o.z.iter_mut().enumerate() {
                *z = self.before.z[k] + (0..3).map(|j| w[j] * self.stages.dz[j][k]).sum::<f64>();
            }
            o.turns.copy_from_slice(&self.before.turns);
            update_turns(self.model, &o.q, &mut o.turns);
            x
        };
        self.output.finish(&mut self.equations, &self.a, &self.now.lambda, o);
        o.work = self.work + self.h * self.solver.k.integral(part, &self.powers);
        Ok(())
    }

    fn own_state(&self) -> Option<(f64, &[Pose], &[f64])> {
        Some((self.now.t, &self.now.q, &self.now.turns))
    }

    fn glance(&mut self, out: &mut Configuration) -> bool {
        out.t = self.now.t;
        out.q.copy_from_slice(&self.now.q);
        out.v.copy_from_slice(&self.now.v);
        out.turns.copy_from_slice(&self.now.turns);
        out.z.copy_from_slice(&self.now.z);
        true
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if t != self.now.t {
            return Ok(false);
        }
        self.now.z.copy_from_slice(z);
        self.begin();
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.warnings.extend(self.output.warning());
        outcome.warnings.extend(self.equations.poorly.warning());
        outcome.work.extend([
            ("steps", self.steps as f64),
            ("newton_iterations", self.solver.newton.all as f64),
            ("mean_newton_iterations", self.solver.newton.all as f64 / self.steps.max(1) as f64),
            ("evaluations", self.solver.evaluations as f64),
            ("matrices", self.solver.matrices as f64),
            ("factorisations", self.solver.factorisations as f64),
            ("rejected_steps", self.rejections as f64),
            ("failed_steps", self.failures as f64),
        ]);
        outcome.singular.append(&mut self.watch.passages.found);
    }

    fn save(&self) -> Value {
        let s = &self.solver;
        json!({
            "now": save_point(&self.now), "before": save_point(&self.before), "h": self.h, "step": self.pace.h,
            "psi": self.stages.psi.iter().map(|x| flat(x)).collect::<Vec<_>>(),
            "dv": self.stages.dv.iter().map(|x| flat(x)).collect::<Vec<_>>(),
            "dz": self.stages.dz, "lambda": self.stages.lambda, "frames": self.stages.frames.save(),
            "a": flat(&self.a), "rates": self.rates, "sizes": s.state_sizes,
            "flags": [self.foretells, self.sizes.refused, s.made],
            "last": [self.sizes.last.0, self.sizes.last.1],
            "newton": [s.newton.theta, s.newton.remaining, s.factored],
            "made_at": save_point(&s.made_at), "made_for": s.made_for, "made_from": s.made_from,
            "work_done": self.work, "powers": self.powers, "power": self.power,
            "work": [self.steps, self.rejections, self.failures, s.newton.all, s.evaluations, s.matrices, s.factorisations],
            "flagged": self.output.flagged,
            "detector": self.output.detector.save(), "passages": self.watch.passages.save(), "poorly": self.equations.poorly.save(),
        })
    }

    fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let misfit = || bad_checkpoint("its sizes do not match");
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        restore_point(&v["now"], &mut self.now).ok_or_else(misfit)?;
        restore_point(&v["before"], &mut self.before).ok_or_else(misfit)?;
        for i in 0..3 {
            unflat(&v["psi"][i], &mut self.stages.psi[i]).ok_or_else(misfit)?;
            unflat(&v["dv"][i], &mut self.stages.dv[i]).ok_or_else(misfit)?;
            list(&v["dz"][i], &mut self.stages.dz[i]).ok_or_else(misfit)?;
            list(&v["lambda"][i], &mut self.stages.lambda[i]).ok_or_else(misfit)?;
        }
        self.stages.frames.restore(&v["frames"]).ok_or_else(misfit)?;
        (0..4).for_each(|i| self.powers[i] = number(&v["powers"][i]));
        self.power = number(&v["power"]);
        unflat(&v["a"], &mut self.a).ok_or_else(misfit)?;
        list(&v["rates"], &mut self.rates).ok_or_else(misfit)?;
        list(&v["sizes"], &mut self.solver.state_sizes).ok_or_else(misfit)?;
        (self.h, self.pace.h, self.work) = (number(&v["h"]), number(&v["step"]), number(&v["work_done"]));
        self.sizes.last = (number(&v["last"][0]), number(&v["last"][1]));
        // Without a step there would be no end.
        if !(self.now.t + self.h + self.work).is_finite() || !self.pace.h.is_finite() || self.pace.h <= 0.0 {
            return Err(bad_checkpoint("its times or steps are missing"));
        }
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        (self.foretells, self.sizes.refused) = (flag(0), flag(1));
        let s = &mut self.solver;
        (s.newton.theta, s.newton.remaining) = (number(&v["newton"][0]), number(&v["newton"][1]));
        // The matrix is made again where it was made.
        (s.made, s.made_from) = (false, number(&v["made_from"]));
        if flag(2) {
            let mut at = self.now.clone();
            restore_point(&v["made_at"], &mut at).ok_or_else(misfit)?;
            self.equations.set.choose(at.t);
            s.make(&mut self.equations, &at, number(&v["made_for"]));
            let h = number(&v["newton"][2]);
            if h > 0.0 && !s.prepare(&mut self.equations, &at, h) {
                return Err(bad_checkpoint("its matrix is singular"));
            }
        }
        let whole = |k: usize| v["work"][k].as_u64().unwrap_or(0) as usize;
        (self.steps, self.rejections, self.failures) = (whole(0), whole(1), whole(2));
        (s.newton.all, s.evaluations, s.matrices, s.factorisations) = (whole(3), whole(4), whole(5), whole(6));
        self.output.flagged = v["flagged"].as_u64().unwrap_or(0) as usize;
        self.output.detector.restore(&v["detector"]);
        self.watch.passages.restore(&v["passages"]);
        self.equations.poorly.restore(&v["poorly"]);
        Ok(())
    }
}

fn save_point(x: &Point) -> Value {
    json!({"t": x.t, "q": poses(&x.q), "v": flat(&x.v), "lambda": x.lambda, "turns": x.turns, "z": x.z})
}

fn restore_point(v: &Value, out: &mut Point) -> Option<()> {
    unflat_poses(&v["q"], &mut out.q)?;
    unflat(&v["v"], &mut out.v)?;
    list(&v["lambda"], &mut out.lambda)?;
    list(&v["turns"], &mut out.turns)?;
    list(&v["z"], &mut out.z)?;
    out.t = v["t"].as_f64()?;
    Some(())
}
