//! The engine of a motion: the active formulation, the candidates that replace it if it fails, and the checks of its results.
//!
//! [`Engine`] borrows its model; [`crate::Simulation`] is the same with an owned model. The first of the candidates computes the motion; if
//! it cannot continue, the others continue in turn from the last returned state, until none makes progress.

pub(crate) mod leg;
mod stuck;
pub mod warnings;

use crate::absolute::chart::{Chart, Ra};
use crate::analysis::assembly::Assembled;
use crate::analysis::contacts::overlaps;
use crate::constraint::ConstraintSet;
use crate::diagnostic::{Diagnostic, number};
use crate::formulation::Chosen;
use crate::inputs::{Change as InputChange, Plan, change_drives, place_drives};
use crate::judge::Judge;
use crate::kinematics::{KINEMATICS, undefined_drive};
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, add_work, bad_checkpoint, numbers};
use crate::report::Report;
use crate::settings::{Analysis, Study};
use crate::singular;
use crate::state::{Configuration, Pose};
use crate::structure::Structure;
use leg::{Change, Fallen, Leg, STIFF, another_may_pass, no_other};
use serde_json::{Value, json};
use std::collections::HashSet;
use warnings::{friction_warning, mass_warning};

/// The integrator for stiff forces.
const IMPLICIT: &str = "radau";
/// Limit for steps ahead in a single step, in multiples of the study's end time.
const STEP: f64 = 10.0;
/// Fraction of the characteristic length to which states after events are consistent.
const EVENTS: f64 = 1e-7;

/// The motion of a mechanism on a borrowed model.
pub struct Engine<'m> {
    model: &'m Model,
    structure: Structure<'m>,
    study: Study,
    analysis: Analysis,
    candidates: Vec<Chosen>,
    /// Number of the active candidate, counted on when they repeat.
    turn: usize,
    motion: Option<Box<dyn Motion + 'm>>,
    leg: Leg,
    /// Candidates that made no progress from the last returned state.
    fallen: Vec<Fallen>,
    /// The current instant, and storage for the next one.
    now: Instant,
    next: Instant,
    /// Whether the current instant has been computed.
    begun: bool,
    judge: Judge<'m>,
    /// Messages so far, and those to be issued once at the end.
    outcome: Outcome,
    /// Time up to which steps may pass the requested times.
    ahead: f64,
    /// Work counts of motions that events have ended.
    spent: Vec<(&'static str, f64)>,
    /// The start of the motion: reference pose for the analysis of failures.
    origin: (f64, Vec<Pose>),
}

impl<'m> Engine<'m> {
    /// Prepares the motion of an assembled mechanism. Nothing is computed before [`Engine::begin`].
    pub fn new(structure: Structure<'m>, study: &Study, candidates: Vec<Chosen>, assembled: &Assembled) -> Self {
        let (model, start, analysis) = (structure.model, &assembled.configuration, study.analysis_of(&structure));
        let mut outcome = Outcome { warnings: assembled.warning(model).into_iter().collect(), ..Outcome::default() };
        outcome.notes.extend(assembled.note());
        let candidates = match analysis {
            Analysis::Dynamics => candidates,
            Analysis::Kinematics => in_charts(study, &candidates[0], &mut outcome.warnings),
        };
        outcome.warnings.extend(friction_warning(model, structure.not_unique()));
        outcome.warnings.extend(overlaps(model, start));
        if analysis == Analysis::Dynamics {
            outcome.warnings.extend(mass_warning(model));
        }
        let now = Instant::new(model, start);
        Self {
            model,
            study: study.clone(),
            analysis,
            candidates,
            turn: 0,
            motion: None,
            leg: Leg::first(start),
            fallen: Vec::new(),
            next: now.clone(),
            now,
            begun: false,
            judge: Judge::new(&structure, study, analysis),
            structure,
            outcome,
            ahead: f64::NEG_INFINITY,
            spent: Vec::new(),
            origin: (start.t, start.q.clone()),
        }
    }

    /// Whether to compute reactions and efforts; otherwise they are zero.
    pub fn want_loads(&mut self, wanted: bool) {
        (self.now.loaded, self.next.loaded) = (wanted, wanted);
    }

    /// The same from the next instant on; the current instant is unchanged.
    pub fn want_next_loads(&mut self, wanted: bool) {
        self.next.loaded = wanted;
    }

    /// Sets the time up to which steps may pass the requested times, because there will be no changes before it.
    pub fn run_ahead(&mut self, until: f64) {
        self.ahead = until;
        if let Some(motion) = &mut self.motion {
            motion.run_ahead(until);
        }
    }

    /// The current instant: poses, velocities, accelerations, reactions, efforts, work and residuals.
    pub fn now(&self) -> &Instant {
        &self.now
    }

    /// The active formulation and integrator.
    pub fn chosen(&self) -> &Chosen {
        &self.candidates[self.turn % self.candidates.len()]
    }

    /// Whether the motion is computed by kinematics or dynamics.
    pub fn analysis(&self) -> Analysis {
        self.analysis
    }

    /// Adds warnings to those issued at the end.
    pub fn warn(&mut self, warnings: Vec<Diagnostic>) {
        self.outcome.warnings.extend(warnings);
    }

    /// Sets values and slopes of inputs from the current time on, for the next steps. The current instant keeps its accelerations and
    /// reactions until [`Engine::refresh`].
    pub fn set_inputs(&mut self, changes: &[InputChange]) -> Result<(), Diagnostic> {
        let n = self.model.inputs.len();
        let same = |c: &InputChange| self.now.z[c.input] == c.held[0] && self.now.z[n + c.input] == c.held[1];
        if changes.iter().all(same) {
            return Ok(());
        }
        for c in changes {
            (self.now.z[c.input], self.now.z[n + c.input]) = (c.held[0], c.held[1]);
        }
        let t = self.now.t;
        change_drives(self.model, t, &self.now.z);
        let Some(motion) = &mut self.motion else {
            self.leg.start.z.copy_from_slice(&self.now.z);
            return Ok(());
        };
        if motion.set_auxiliaries(t, &self.now.z)? {
            return Ok(());
        }
        // Steps have passed the current time: they are repeated from there.
        motion.report(&mut self.outcome);
        self.outcome.work.clear();
        self.leg.next(self.model, &self.now)?;
        self.motion = Some(self.start()?);
        Ok(())
    }

    /// Computes current accelerations and reactions after a change of inputs.
    pub fn refresh(&mut self) -> Result<(), Diagnostic> {
        let Some(motion) = &mut self.motion else { return Ok(()) };
        motion.instant(self.now.t, &mut self.next)?;
        self.next.work += self.leg.work;
        std::mem::swap(&mut self.now, &mut self.next);
        Ok(())
    }

    /// Advances to a time, including the planned input changes before it; at the time itself the new inputs apply.
    pub fn follow(&mut self, t: f64, end: f64, plan: &mut Plan, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        while let Some(at) = plan.next_until(t) {
            if !self.advance(at, go_on)? {
                return Ok(false);
            }
            self.set_inputs(plan.take(at))?;
            self.run_ahead(plan.next_until(end).unwrap_or(end));
            if at == t {
                self.refresh()?;
            }
        }
        self.advance(t, go_on)
    }

    /// Continues from a state that is consistent to a fraction of the characteristic length.
    pub fn set_state(&mut self, state: &Configuration, share: f64) -> Result<(), Diagnostic> {
        let held: Vec<Vec<f64>> = self.model.held_drives().map(|(_, i)| i.save()).collect();
        place_drives(self.model, state);
        change_drives(self.model, state.t, &state.z);
        if let Err(d) = self.judge.consistent(state, share) {
            for ((_, i), saved) in self.model.held_drives().zip(&held) {
                i.restore(saved);
            }
            return Err(d);
        }
        if let Some(mut motion) = self.motion.take() {
            motion.report(&mut self.outcome);
        }
        self.outcome.work.clear();
        self.fallen.clear();
        let changes = std::mem::take(&mut self.leg.changes);
        self.leg = Leg { changes, ..Leg::first(state) };
        (self.turn, self.begun) = (0, false);
        self.judge.begin_anew();
        self.begin()
    }

    /// Continues from a consistent state after an event, with the previous work and the saved data of the previous judge.
    pub fn resume(&mut self, state: &Configuration, work: f64, book: &Value) -> Result<(), Diagnostic> {
        place_drives(self.model, state);
        change_drives(self.model, state.t, &state.z);
        self.judge.consistent(state, EVENTS.max(self.study.tol.unwrap_or(0.0)))?;
        self.retire();
        self.fallen.clear();
        let changes = std::mem::take(&mut self.leg.changes);
        self.leg = Leg { changes, work, ..Leg::first(state) };
        // Forces found to be stiff in this mode remain so.
        self.turn = if self.chosen().integrator == IMPLICIT { self.turn } else { 0 };
        self.begun = false;
        self.judge.go_on_from(book);
        self.begin()
    }

    /// After a stop before the requested time: the next steps start from the current time again, not from where the steps had ended.
    pub fn return_to_present(&mut self) -> Result<(), Diagnostic> {
        if self.begun && self.motion.as_ref().is_some_and(|m| m.t() > self.now.t) {
            self.retire();
            self.leg.next(self.model, &self.now)?;
        }
        Ok(())
    }

    /// Ends the present motion; its messages are kept.
    fn retire(&mut self) {
        if let Some(mut motion) = self.motion.take() {
            motion.report(&mut self.outcome);
        }
        let own = std::mem::take(&mut self.outcome.work);
        add_work(&mut self.spent, own);
    }

    /// All messages and counts so far, for another engine that continues; the present motion has ended.
    pub fn hand_over(&mut self) -> (Outcome, Vec<(&'static str, f64)>) {
        self.retire();
        (std::mem::take(&mut self.outcome), std::mem::take(&mut self.spent))
    }

    /// Adopts the messages and counts of another engine.
    pub fn take_over(&mut self, (before, spent): (Outcome, Vec<(&'static str, f64)>)) {
        let own = std::mem::replace(&mut self.outcome, before);
        self.outcome.warnings.extend(own.warnings.into_iter().filter(|w| !["W230", "W232"].contains(&w.code.0)));
        self.outcome.notes.extend(own.notes);
        self.outcome.singular.extend(own.singular);
        self.outcome.work = own.work;
        self.spent = spent;
    }

    /// Number of the active candidate.
    pub fn turn(&self) -> usize {
        self.turn
    }

    /// Starts with another candidate where the engine continues.
    pub fn set_turn(&mut self, turn: usize) {
        self.turn = turn % self.candidates.len();
    }

    /// Saved data of the judge.
    pub fn book(&self) -> Value {
        self.judge.save()
    }

    /// One step that ends at `limit` at the latest; its end becomes the current time.
    pub fn step_until(&mut self, limit: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        let from = self.now.t;
        if let Some(t) = self.motion.as_ref().map(|m| m.t()).filter(|t| *t > from) {
            return self.advance(t.min(limit), go_on);
        }
        let given = self.study.fixed_step().or((self.analysis == Analysis::Kinematics).then_some(self.study.output_step));
        if let Some(h) = given {
            let left = limit - from;
            let n = (left / h - 1e-6).ceil().max(1.0);
            return self.advance(if n > 1.0 { from + left / n } else { limit }, go_on);
        }
        self.run_ahead(limit);
        self.reach_next(from, go_on)
    }

    /// The end of the last step.
    pub fn reached(&self) -> f64 {
        self.motion.as_ref().map_or(self.now.t, |m| m.t().max(self.now.t))
    }

    /// One step that ends at `limit` at the latest, without an instant at its end: the current instant is unchanged. Returns the start time
    /// of the step, or `None` if it was stopped.
    pub fn step_on(&mut self, limit: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Option<f64>, Diagnostic> {
        self.run_ahead(limit);
        loop {
            let stepped = match &mut self.motion {
                Some(motion) => {
                    let from = motion.t();
                    let to = match self.study.fixed_step() {
                        Some(h) => {
                            let left = limit - from;
                            let n = (left / h - 1e-6).ceil().max(1.0);
                            if n > 1.0 { from + left / n } else { limit }
                        }
                        None => from.next_up(),
                    };
                    motion.advance(to, go_on).map(|on| on.then_some(from))
                }
                None => match self.start() {
                    Ok(motion) => {
                        self.motion = Some(motion);
                        continue;
                    }
                    Err(d) => Err(d),
                },
            };
            match stepped {
                Ok(from) => return Ok(from),
                Err(d) => self.change_over(d)?,
            }
        }
    }

    /// Poses and velocities at the end of the last step, if available.
    pub fn glance(&mut self, out: &mut Configuration) -> bool {
        self.motion.as_mut().is_some_and(|m| m.glance(out))
    }

    /// Computes the start, or continues from it with the next candidate.
    pub fn begin(&mut self) -> Result<(), Diagnostic> {
        let t = self.leg.start.t;
        self.reach(t, &mut |_| true).map(|_| ())
    }

    /// Advances to a time, which becomes the current one; `false` if `go_on`, which is called regularly, returned `false`.
    pub fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        if t < self.now.t || t.is_nan() {
            return Err(Diagnostic::new(
                "U310",
                format!("t = {} s is before the present, which is t = {} s", number(t), number(self.now.t)),
            )
            .help("time only goes forward; `restore` or `set_state` goes back to a state that was kept"));
        }
        if t == self.now.t && self.begun {
            return Ok(true);
        }
        self.reach(t, go_on)
    }

    /// One step of the integrator, of any size; its end becomes the current time. Kinematics has no steps and uses the output step of the
    /// study.
    pub fn step(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        let from = self.now.t;
        let given = self.study.fixed_step().or((self.analysis == Analysis::Kinematics).then_some(self.study.output_step));
        if let Some(h) = given {
            return self.advance(from + h, go_on);
        }
        // If the end of a step was passed already, it comes first.
        if let Some(t) = self.motion.as_ref().map(|m| m.t()).filter(|t| *t > from) {
            return self.advance(t, go_on);
        }
        let ahead = self.ahead;
        self.run_ahead(ahead.max(from + STEP * self.study.t_end));
        let reached = self.reach_next(from, go_on);
        self.run_ahead(ahead);
        reached
    }

    /// Advances to the end of the first step beyond a time.
    fn reach_next(&mut self, from: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        loop {
            let stepped = match &mut self.motion {
                Some(motion) => motion.advance(from.next_up(), go_on).map(|on| (on, motion.t())),
                None => self.start().map(|motion| self.motion = Some(motion)).map(|()| (true, from)),
            };
            match stepped {
                Ok((false, _)) => return Ok(false),
                Ok((true, t)) if t > from => match self.attempt(t, go_on) {
                    Ok(on) => return Ok(on),
                    Err(d) => self.change_over(d)?,
                },
                Ok(_) => {}
                Err(d) => self.change_over(d)?,
            }
        }
    }

    /// The state at a time inside the last step; the current instant is unchanged.
    pub fn instant_at(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        let Some(motion) = &mut self.motion else { return Err(outside(t, self.now.t)) };
        if t > motion.t() || t > self.now.t.max(motion.t()) {
            return Err(outside(t, self.now.t));
        }
        motion.instant(t, out)?;
        out.work += self.leg.work;
        Ok(())
    }

    /// Advances to a time with the first candidate that reaches it.
    fn reach(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        loop {
            match self.attempt(t, go_on) {
                Ok(on) => return Ok(on),
                Err(d) => self.change_over(d)?,
            }
        }
    }

    /// Starts the motion of the active candidate at the start of its section.
    fn start(&mut self) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
        let Chosen { formulation, integrator, why } = self.chosen().clone();
        if self.fallen.is_empty() {
            // The integrator is named if some options belong to other integrators of the formulation.
            let who = match formulation.options.iter().all(|o| o.only.is_empty()) {
                _ if self.analysis == Analysis::Kinematics => "kinematics".to_string(),
                true => format!("`{}`", formulation.name),
                false => format!("`{}` with {integrator}", formulation.name),
            };
            self.outcome.notes.extend(why.iter().map(|why| format!("{} with {integrator} was chosen: {why}", formulation.name)));
            self.outcome.warnings.extend(self.study.idle_options(&who, &formulation.options_with(integrator)));
        }
        let mut motion = (formulation.start)(&self.structure, &self.study, integrator, &self.leg.start)?;
        // If the implicit candidate made no progress, an explicit one continues, however small its steps.
        let implicit = |c: &Chosen| c.integrator == IMPLICIT;
        if self.candidates.iter().any(implicit) && !self.fallen.iter().any(|f| implicit(&f.chosen)) {
            motion.give_way();
        }
        motion.run_ahead(self.ahead);
        Ok(motion)
    }

    /// Advances to a time with the active candidate.
    fn attempt(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        if self.motion.is_none() {
            self.motion = Some(self.start()?);
        }
        let Some(motion) = &mut self.motion else { return Ok(false) };
        if t > self.leg.start.t && !motion.advance(t, go_on)? {
            return Ok(false);
        }
        motion.instant(t, &mut self.next)?;
        self.next.work += self.leg.work;
        self.judge.look(&self.next, motion.t(), motion.own_state())?;
        std::mem::swap(&mut self.now, &mut self.next);
        self.begun = true;
        if !self.fallen.is_empty() {
            let change = Change::new(self.leg.start.t, self.chosen(), &self.fallen);
            self.leg.changes.push(change);
            self.fallen.clear();
        }
        Ok(true)
    }

    /// After a failure: selects the next candidate, which starts from the last returned state.
    fn change_over(&mut self, d: Diagnostic) -> Result<(), Diagnostic> {
        let mut t = self.leg.start.t;
        let mut d = d;
        if let Some(mut motion) = self.motion.take() {
            t = motion.t();
            if self.fallen.is_empty() && d.code.0 != STIFF {
                d = self.explained(d, motion.as_mut());
            }
            motion.report(&mut self.outcome);
        }
        let (chosen, stiff) = (self.chosen().clone(), d.code.0 == STIFF);
        let undefined = undefined_soon(&self.judge.set, t, self.study.output_step);
        let may_pass = undefined.is_none() && another_may_pass(&d);
        if undefined.is_some() {
            self.fallen.clear();
        }
        self.fallen.push(Fallen { chosen, t, work: std::mem::take(&mut self.outcome.work), diagnostic: undefined.unwrap_or(d) });
        let others = self.fallen.len() < self.candidates.len();
        if may_pass && others && (!self.begun || self.leg.next(self.model, &self.now).is_ok()) {
            self.turn += 1;
            // If forces are stiff the next candidate is the implicit one.
            if stiff && let Some(last) = self.candidates.iter().rposition(|c| c.integrator == IMPLICIT) {
                while self.turn % self.candidates.len() != last {
                    self.turn += 1;
                }
            }
            return Ok(());
        }
        self.outcome.notes.extend(no_other(&self.fallen));
        Err(self.fallen[0].diagnostic.clone())
    }

    /// A failure of a motion, with its cause if the mechanism is at a singular position.
    fn explained(&mut self, d: Diagnostic, motion: &mut (dyn Motion + 'm)) -> Diagnostic {
        let mut near = vec![(self.now.t, self.now.q.clone())];
        let t = motion.t();
        if t > self.now.t {
            // Right at a singular position poses may exist without accelerations.
            let _ = motion.instant(t, &mut self.next);
            let (set, x) = (&self.structure.rows, &self.next);
            let mut open = vec![0.0; set.rows()];
            set.residual(&x.q, &x.turns, t, &mut open);
            if open.iter().all(|gap| gap.abs() <= EVENTS * self.model.length) {
                near.push((t, x.q.clone()));
            }
        }
        near.extend(motion.own_state().map(|(t, q, _)| (t, q.to_vec())));
        stuck::explain(&self.structure, d, &near, (self.origin.0, &self.origin.1))
    }

    /// Final messages, and the verdict on the whole run if it reached its end.
    pub fn finish(&mut self, stopped: bool, failure: Option<Diagnostic>) -> (Report, Option<Diagnostic>) {
        let mut chosen = self.chosen().clone();
        let mut t = self.now.t;
        if let Some(mut motion) = self.motion.take() {
            motion.report(&mut self.outcome);
        } else if let Some(first) = self.fallen.first_mut() {
            (chosen, t) = (first.chosen.clone(), first.t);
            self.outcome.work = std::mem::take(&mut first.work);
        }
        add_work(&mut self.outcome.work, std::mem::take(&mut self.spent));
        let Self { model, judge, leg, .. } = self;
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.warnings.extend(leg.changes.iter().filter_map(Change::warning));
        outcome.notes.extend(leg.changes.iter().filter_map(Change::note));
        // Alternating formulations may issue the same notes.
        let mut said = HashSet::new();
        outcome.notes.retain(|n| said.insert(n.clone()));
        outcome.warnings.extend(singular::warning(&outcome.singular));
        let mut failure = failure;
        if failure.is_none() && !stopped {
            let steps = outcome.work.iter().find(|(name, _)| *name == "steps").map_or(0.0, |(_, n)| *n);
            failure = judge.verdict(steps, &mut outcome.warnings).err();
        }
        let report = Report {
            analysis: self.analysis,
            formulation: chosen.formulation.name,
            integrator: chosen.integrator,
            t,
            stopped,
            work: outcome.work.into_iter().map(|(name, n)| (name.into(), n)).collect(),
            rows: judge.set.rows(),
            redundant: self.structure.redundant(),
            not_unique: self.structure.not_unique().to_vec(),
            singular: outcome.singular,
            notes: outcome.notes,
            warnings: outcome.warnings,
            length: model.length,
            events: Vec::new(),
        };
        (report, failure)
    }

    /// All data needed to continue, with numbers preserved exactly. A motion without steps is represented by its start.
    pub fn save(&self) -> Value {
        let c = self.chosen();
        let moved = self.motion.as_ref().filter(|m| m.t() > self.leg.start.t);
        json!({
            "fourbar-checkpoint": 2,
            "model": fingerprint(self.model),
            "analysis": self.analysis,
            "formulation": c.formulation.name,
            "integrator": c.integrator,
            "why": c.why,
            "motion": moved.map(|m| m.save()),
            "leg": self.leg.save(),
            "now": self.now.save(),
            "judge": self.judge.save(),
            "drives": self.model.held_drives().map(|(_, i)| i.save()).collect::<Vec<_>>(),
        })
    }

    /// Continues from the result of [`Engine::save`] for the same mechanism and settings.
    pub fn restore(&mut self, v: &Value) -> Result<(), Diagnostic> {
        let misfit = || bad_checkpoint("its sizes do not match");
        if v["model"].as_str() != Some(fingerprint(self.model).as_str()) {
            return Err(bad_checkpoint("it belongs to another mechanism"));
        }
        // States of other formulations may have the same size but another meaning.
        let same = |c: &Chosen| v["formulation"] == c.formulation.name && v["integrator"] == c.integrator;
        let Some(turn) = self.candidates.iter().position(same).filter(|_| v["analysis"] == json!(self.analysis)) else {
            return Err(bad_checkpoint("it belongs to another formulation or integrator"));
        };
        for (k, (_, i)) in self.model.held_drives().enumerate() {
            i.restore(&numbers(&v["drives"][k])).ok_or_else(misfit)?;
        }
        self.turn = turn;
        self.leg = Leg::restored(self.model, &v["leg"]).ok_or_else(misfit)?;
        let mut motion = self.start()?;
        self.now.restore(self.model, &v["now"]).ok_or_else(misfit)?;
        if !v["motion"].is_null() {
            motion.restore(&v["motion"])?;
        } else if self.now.t != self.leg.start.t {
            return Err(bad_checkpoint("its motion is missing"));
        } else if self.now.z != self.leg.start.z && !motion.set_auxiliaries(self.now.t, &self.now.z)? {
            // Inputs were changed at the start.
            return Err(misfit());
        }
        self.judge.restore(&v["judge"]);
        self.motion = Some(motion);
        self.fallen.clear();
        self.begun = true;
        Ok(())
    }
}

/// Error for a time outside the dense output.
fn outside(t: f64, now: f64) -> Diagnostic {
    Diagnostic::new("U311", format!("t = {} s is not inside the last step; the present is t = {} s", number(t), number(now)))
        .help("advance to the time, or choose one inside the last step")
}

/// Kinematics in the chart of the requested formulation, if it has one.
fn in_charts(study: &Study, asked: &Chosen, warnings: &mut Vec<Diagnostic>) -> Vec<Chosen> {
    let name = asked.formulation.name;
    let chart = KINEMATICS.iter().find(|k| k.name == name);
    // An automatic choice was made for dynamics and does not apply here.
    if chart.is_none() && asked.why.is_none() && !study.is_auto() {
        warnings.push(
            Diagnostic::new("W302", format!("formulation `{name}` does not apply to kinematics"))
                .help("`--analysis dynamics` lets it move the mechanism; kinematics goes in the coordinates of ra, rp or reps"),
        );
    }
    let chart = chart.filter(|_| asked.why.is_none());
    let formulation = chart.or_else(|| KINEMATICS.iter().find(|k| k.name == Ra::NAME)).unwrap_or(&KINEMATICS[0]);
    vec![Chosen { formulation, integrator: formulation.integrators[0], why: None }]
}

/// The error of a motion that ended because a prescribed function is not finite from then on.
fn undefined_soon(set: &ConstraintSet, t: f64, output_step: f64) -> Option<Diagnostic> {
    [0.0, 1e-6, 1e-3, 1.0].iter().find_map(|share| {
        let t = t + share * output_step;
        set.undefined(t).map(|c| undefined_drive(&c.name, t))
    })
}

/// Distinguishes models in checkpoints: names, masses and lengths.
fn fingerprint(model: &Model) -> String {
    let bodies: Vec<String> = model.bodies.iter().map(|b| format!("{}:{:e}", b.name, b.mass)).collect();
    let joints: Vec<String> = model.joints.iter().map(|j| format!("{}:{}", j.name, j.kind.name())).collect();
    let carried: Vec<&str> = model.inputs.iter().map(|i| i.name.as_str()).chain(model.states.iter().map(|s| s.name.as_str())).collect();
    let carried = if carried.is_empty() { String::new() } else { format!(" | {}", carried.join(" ")) };
    format!("{} | {} | {:e}{carried}", bodies.join(" "), joints.join(" "), model.length)
}
