//! Mechanisms that change on their way: events, limits, friction that sticks.
//!
//! Formulations only ever see a smooth mechanism in one mode ([`crate::event::Mode`]). [`Eventful`] stands between them and whoever runs
//! or holds a mechanism: it lets an engine take its steps, watches on the dense output of every step what may change the mode, finds the
//! first zero, goes back to it, solves one small problem for velocities and forces there, and goes on with the engine of the next mode.

mod change;
mod contact;
mod decide;
mod dips;
mod jump;
mod keep;
mod piece;
mod present;
mod quiet;
mod share;
mod switch;
mod watch;

pub use crate::report::{Happened, Kind};
pub use present::InMode;

use crate::diagnostic::{Diagnostic, number};
use crate::event::{Bounded, Doing, Held, Limit, Mode};
use crate::formulation::Chosen;
use crate::inputs::{Change as InputChange, Plan};
use crate::model::{JointCoordinate, Model};
use crate::motion::{Instant, Switched};
use crate::report::Report;
use crate::settings::{Analysis, Study};
use crate::state::Configuration;
use crate::trajectory::energies;
use piece::Piece;
use quiet::Quiet;
use serde_json::Value;
use share::Part;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use switch::Switch;
use watch::{Found, Watch, Watched};

/// Modes whose engines are kept for the next time.
const KEPT: usize = 16;
/// Most times a step is made again in short.
const SHORTER: usize = 8;
/// Most times a step is made again in short where friction jams in it.
const HALVED: usize = 40;
/// Friction that sticks may start with a load above its bound by this share of both: that is rounding.
const OVERLOADED: f64 = 1e-6;
/// So many events in less than [`STANDSTILL`] of the run are no progress.
const CHATTER: usize = 100;
const STANDSTILL: f64 = 1e-9;
/// After so many steps between events somebody is asked whether to go on, and after so many it is looked at whether they lead anywhere.
const ASKED: usize = 32;
const STALLED: usize = 3200;

/// Steps that lead nowhere.
fn stalls(t: f64) -> Diagnostic {
    Diagnostic::new("S302", format!("at t = {t:.6} s the motion does not get away from a limit"))
        .time(t)
        .help("a smaller tolerance or another formulation may pass")
}

/// What holds a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HeldBy {
    /// An action, by joint and coordinate.
    Lock(usize, bool),
    /// A limit.
    Limit(usize),
    /// Friction, by its place among those that stick.
    Friction(usize),
}

/// What friction that can stick does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Friction {
    /// Its joint slides in a direction.
    Slides(f64),
    /// Its joint is held.
    Sticks,
    /// It, or its joint, does not act.
    Off,
}

/// How far an advance came.
#[derive(Clone, Debug, PartialEq)]
pub enum Advanced {
    /// To the time that was asked for.
    There,
    /// To an event before it: the instants before and after.
    Event(Box<[Instant; 2]>),
    /// Whoever was asked said stop.
    Stopped,
    /// An event ended the run at an earlier time, which stays the present.
    Ended,
}

/// A mechanism with events in motion.
pub struct Eventful {
    /// The mechanism as in the file.
    base: Arc<Model>,
    study: Study,
    analysis: Analysis,
    /// Joints, drives and forces that act, as events have left them.
    joints: Vec<bool>,
    drives: Vec<bool>,
    forces: Vec<bool>,
    /// Joints whose coordinates are locked, with the values.
    locks: Vec<(usize, JointCoordinate, f64)>,
    /// Limits of joints, and behind them the spots of rigid contacts.
    limits: Arc<[Limit]>,
    /// Whether rigid contacts are left to a method that steps through them; and, where there are any, limits of joints and friction that sticks.
    stepped: bool,
    through: bool,
    /// What bodies do at spots that are closed, by limit; and the closed spots of the mode in force.
    doing: Vec<Doing>,
    touched: Vec<usize>,
    /// Limits that are closed; of one-way limits the value and time from which on they hold.
    closed: Vec<bool>,
    since: Vec<[f64; 2]>,
    /// Friction that can stick: its place among the forces, and what it does. Where it sticks, at which value.
    frictions: Vec<(usize, Friction)>,
    stuck_at: Vec<f64>,
    /// How often each event has happened, and whether it can happen again.
    count: Vec<usize>,
    armed: Vec<bool>,
    /// Largest value of the expression of each event so far, beside which rounding is measured.
    sizes: Vec<f64>,
    /// What holds the coordinates behind the drives of the mode in force, and the places of those drives in the file.
    held_by: Vec<HeldBy>,
    kept: Vec<usize>,
    /// What friction holds together with something else in the mode in force.
    parts: Vec<Part>,
    mode: Mode,
    piece: RefCell<Piece>,
    /// The mechanism of the mode in force.
    acting: Arc<Model>,
    /// The state at which the engine of the mode in force was made.
    built: Configuration,
    pieces: VecDeque<(Mode, Piece, Configuration)>,
    /// What is made of pieces.
    switches: Vec<Switch>,
    watched: Vec<Watch>,
    /// What is known to be zero at the start of the last step.
    zeros: Vec<Watched>,
    /// Limits that were found closed where nothing pushed them yet.
    pressed: Vec<usize>,
    /// Zeros in a row at which nothing happened.
    idle: usize,
    /// Start of the last step.
    from: Instant,
    /// The time that was asked for last.
    asked: f64,
    /// Up to where steps have been looked at.
    looked: f64,
    /// What was found in it.
    found: Option<Found>,
    /// How far what is watched was from changing anything, while all of it was far.
    margins: quiet::Margins,
    /// What impacts left of the conditions of limits and contacts, m/s or rad/s, and the deepest overlap of a limit or contact at a row, m or rad.
    residual: f64,
    overlap: f64,
    now: Instant,
    /// Whether reactions and efforts are wanted at the times that are asked for.
    loads: bool,
    lost: f64,
    ended: bool,
    happened: Vec<Happened>,
    modes: usize,
    ahead: f64,
    warnings: Vec<Diagnostic>,
}

impl Eventful {
    /// Sets an assembled mechanism in motion and computes its first instant.
    pub fn new(base: &Arc<Model>, study: &Study, start: &crate::analysis::assembly::Assembled) -> Result<Self, Diagnostic> {
        let structure = crate::structure::Structure::new(base, &start.configuration);
        let analysis = study.analysis_of(&structure);
        let stepped = study.steps_through(base)?;
        if !stepped && !base.contacts.is_empty() && study.chosen(base)?.formulation.name == "natural" {
            crate::analysis::contacts::refuse_rigid(base)?;
        }
        // Time stepping passes through everything that is made of pieces with its own error.
        let switches = if stepped { Vec::new() } else { Switch::all_at(base, &start.configuration) };
        // What meets in one step is one problem.
        let through = stepped && !base.contacts.is_empty() && analysis == Analysis::Dynamics;
        let limits: Arc<[Limit]> = match (through, stepped) {
            (true, _) => Arc::new([]),
            (false, true) => base.limits.iter().cloned().collect(),
            (false, false) => base.limits.iter().cloned().chain(base.spot_limits()).collect(),
        };
        let mut mode = Mode::of(base);
        mode.touching = (!stepped).then(Vec::new);
        mode.stepped = through;
        mode.pieces = switches.iter().map(|s| (s.of, s.pieces.to_vec())).collect();
        let piece = Piece::of_mode(base, &mode, study, analysis, &start.configuration)?;
        let now = Instant::new(base, &start.configuration);
        let sticking = (0..base.forces.len()).filter(|&k| !through && base.forces[k].1.sticks().is_some());
        let frictions: Vec<(usize, Friction)> = sticking.map(|k| (k, Friction::Slides(1.0))).collect();
        let mut own = Self {
            base: Arc::clone(base),
            study: study.clone(),
            analysis,
            joints: base.joints.iter().map(|j| !j.open).collect(),
            drives: vec![true; base.drives.len()],
            forces: vec![true; base.forces.len()],
            locks: Vec::new(),
            closed: vec![false; limits.len()],
            since: vec![[0.0; 2]; limits.len()],
            doing: vec![Doing::Glides; limits.len()],
            touched: Vec::new(),
            limits,
            stepped,
            through,
            stuck_at: vec![0.0; frictions.len()],
            frictions,
            count: vec![0; base.events.len()],
            armed: vec![true; base.events.len()],
            sizes: vec![0.0; base.events.len()],
            held_by: Vec::new(),
            kept: Vec::new(),
            parts: Vec::new(),
            mode,
            acting: Arc::clone(piece.model()),
            piece: RefCell::new(piece),
            built: start.configuration.clone(),
            pieces: VecDeque::new(),
            switches,
            watched: Vec::new(),
            zeros: Vec::new(),
            pressed: Vec::new(),
            idle: 0,
            from: now.clone(),
            asked: f64::INFINITY,
            looked: start.configuration.t,
            found: None,
            margins: quiet::Margins::default(),
            residual: 0.0,
            overlap: 0.0,
            now,
            loads: true,
            lost: 0.0,
            ended: false,
            happened: Vec::new(),
            modes: 1,
            ahead: f64::NEG_INFINITY,
            warnings: start.warning(base).into_iter().collect(),
        };
        if !stepped {
            own.refuse_contacts()?;
        }
        own.refuse_sticking_on_loads_that_are_not_unique(&structure)?;
        own.begin(&start.configuration)?;
        Ok(own)
    }

    /// The mechanism as in the file.
    pub fn model(&self) -> &Arc<Model> {
        &self.base
    }

    /// The present.
    pub fn now(&self) -> &Instant {
        &self.now
    }

    /// What moves the mechanism.
    pub fn chosen(&self) -> Chosen {
        self.piece.borrow().with_dependent(|_, e| e.chosen().clone())
    }

    /// Whether kinematics or dynamics moves it.
    pub fn analysis(&self) -> Analysis {
        self.analysis
    }

    /// What happened so far.
    pub fn happened(&self) -> &[Happened] {
        &self.happened
    }

    /// Whether rigid contacts are left to a method that steps through them.
    pub fn is_stepped(&self) -> bool {
        self.stepped
    }

    /// Whether an event has ended the run.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Adds warnings to what is said at the end.
    pub fn warn(&mut self, warnings: Vec<Diagnostic>) {
        self.warnings.extend(warnings);
    }

    /// Whether reactions and efforts are wanted at the times that are asked for; where nothing that is watched needs them either they stay zero.
    pub fn want_loads(&mut self, wanted: bool) {
        self.loads = wanted;
    }

    /// Up to where steps may pass the times that are asked for.
    pub fn run_ahead(&mut self, until: f64) {
        self.ahead = until;
    }

    /// The end of the last step, in the mode in force.
    fn engine_now(&self) -> Instant {
        self.piece.borrow().with_dependent(|_, e| e.now().clone())
    }

    /// An instant inside the last step, in the mode in force.
    fn engine_at(&self, t: f64) -> Result<Instant, Diagnostic> {
        self.engine_with(t, true)
    }

    /// The same for those who watch: loads only where one of them is watched.
    fn watched_at(&self, t: f64) -> Result<Instant, Diagnostic> {
        self.engine_with(t, self.watches_loads())
    }

    /// Whether a load is watched.
    fn watches_loads(&self) -> bool {
        self.watched.iter().any(|w| matches!(w.what, Watched::Effort(_) | Watched::Bound(_) | Watched::Hold(_)))
    }

    fn engine_with(&self, t: f64, loaded: bool) -> Result<Instant, Diagnostic> {
        let mut piece = self.piece.borrow_mut();
        let mut out = piece.with_dependent(|_, e| e.now().clone());
        if t == out.t && (out.loaded || !loaded) {
            return Ok(out);
        }
        if t == self.from.t && (self.from.loaded || !loaded) {
            return Ok(self.from.clone());
        }
        out.loaded = loaded;
        piece.with_dependent_mut(|_, e| e.instant_at(t, &mut out))?;
        Ok(out)
    }

    /// An instant of the mode in force in terms of the mechanism as in the file.
    fn in_file(&self, mut s: Instant) -> Instant {
        let base = &*self.base;
        self.share_out(&mut s);
        let mut efforts = vec![0.0; base.drives.len()];
        for (k, effort) in self.kept.iter().zip(&s.efforts) {
            efforts[*k] = *effort;
        }
        let limit = |k: usize| if self.closed[k] { base.limits[k].side * self.limit_effort(k, &s) } else { 0.0 };
        let friction = |k: usize| {
            let (force, doing) = self.frictions[k];
            let effort = match doing {
                Friction::Sticks => self.held_effort(HeldBy::Friction(k), &s),
                Friction::Slides(direction) => self.sliding_effort(force, direction, &s),
                Friction::Off => 0.0,
            };
            (force, effort, doing == Friction::Sticks)
        };
        let (contacts, pushes) = if self.stepped { (s.contacts.clone(), Vec::new()) } else { self.contact_loads(&s) };
        let constraints = s.constraints[..base.bare.len() + base.rolling.len()].to_vec();
        // What the method itself has of limits and friction, by their places in its own mechanism.
        let own = s.switched.as_deref().filter(|_| self.through);
        let acting = base.acting(&self.mode);
        let places: Vec<usize> = (0..base.forces.len()).filter(|k| acting[*k]).collect();
        let mut held: Vec<_> =
            self.mode.held.iter().zip(s.efforts.iter().skip(self.kept.len())).map(|(h, e)| (h.joint, h.coordinate, *e)).collect();
        held.extend(own.iter().flat_map(|o| o.held.iter().copied()));
        let switched = Switched {
            lost: self.lost,
            pushes,
            acting,
            limits: match own {
                Some(own) => own.limits.clone(),
                None if self.through => vec![0.0; base.limits.len()],
                None => (0..base.limits.len()).map(limit).collect(),
            },
            // In kinematics the smooth law stands for what sticks.
            frictions: match self.analysis {
                Analysis::Kinematics => Vec::new(),
                Analysis::Dynamics => match own {
                    Some(own) => own.frictions.iter().map(|f| (places[f.0], f.1, f.2)).collect(),
                    None => (0..self.frictions.len()).map(friction).collect(),
                },
            },
            held,
        };
        Instant { efforts, constraints, contacts, switched: Some(Box::new(switched)), ..s }
    }

    /// Effort of friction that slides in a direction.
    fn sliding_effort(&self, force: usize, direction: f64, s: &Instant) -> f64 {
        let base = &*self.base;
        let sliding = base.forces[force].1.clone().sliding(direction);
        let mut loads = vec![0.0; base.joints.len()];
        s.loads(base, &mut loads);
        sliding.values(base, &s.plain(&loads)).first().copied().unwrap_or(0.0)
    }

    /// Moves to a time or to the first event before it.
    pub fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Advanced, Diagnostic> {
        if t < self.now.t || t.is_nan() {
            return Err(Diagnostic::new(
                "U310",
                format!("t = {} s is before the present, which is t = {} s", number(t), number(self.now.t)),
            )
            .help("time only goes forward; `restore` or `set_state` goes back to a state that was kept"));
        }
        self.asked = t;
        let mut mark = self.now.t;
        for round in 1_usize.. {
            if self.ended {
                return Ok(Advanced::Ended);
            }
            // Steps that are made again and again in short ask nobody, and must lead somewhere.
            if round.is_multiple_of(ASKED) {
                let reached = self.looked;
                if !go_on(reached) {
                    return Ok(Advanced::Stopped);
                }
                if round.is_multiple_of(STALLED) {
                    if reached - mark < STANDSTILL * (t - mark).abs().max(f64::MIN_POSITIVE) {
                        return Err(stalls(reached));
                    }
                    mark = reached;
                }
            }
            if let Some(found) = self.found.take_if(|f| f.t <= t) {
                match self.meet(found).map_err(|d| self.blocked(d))? {
                    Some(met) => return Ok(met),
                    None => continue,
                }
            }
            if self.looked >= t {
                if !self.come_to(t, go_on)? {
                    return Ok(Advanced::Stopped);
                }
                self.arrive(t)?;
                self.measure_overlap();
                return Ok(Advanced::There);
            }
            let limit = if self.study.step.is_some() || self.analysis == Analysis::Kinematics { t } else { self.ahead.max(t) };
            match self.step_quietly(limit, go_on)? {
                Quiet::Passed => continue,
                Quiet::Stopped => return Ok(Advanced::Stopped),
                Quiet::Near(from) => {
                    self.look(*from)?;
                    continue;
                }
                Quiet::Not => {}
            }
            let reached = self.looked;
            if !self.come_to(reached, go_on)? {
                return Ok(Advanced::Stopped);
            }
            self.zeros = self.watched.iter().filter(|w| w.known_zero).map(|w| w.what).collect();
            let from = self.engine_now();
            let stepped = self.piece.get_mut().with_dependent_mut(|_, e| e.step_until(limit, go_on));
            if !stepped.map_err(|d| self.blocked(d))? {
                return Ok(Advanced::Stopped);
            }
            self.look(from)?;
        }
        Ok(Advanced::There)
    }

    /// Makes a time that the engine has come to the present.
    fn arrive(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.is_as_in_the_file() {
            // Nothing has to be said in other terms, and what events have made of the mechanism is that of the mode in force.
            let (now, loads) = (&mut self.now, self.loads);
            let there = self.piece.get_mut().with_dependent(|_, e| {
                let there = e.now().t == t && (e.now().loaded || !loads);
                if there {
                    now.take_over(e.now());
                }
                there
            });
            if there {
                return Ok(());
            }
        }
        let s = self.engine_with(t, self.loads)?;
        self.now = self.in_file(s);
        Ok(())
    }

    /// Whether an instant of the mode in force is one of the mechanism as in the file: nothing is held, nothing rubs, and all drives act.
    fn is_as_in_the_file(&self) -> bool {
        self.frictions.is_empty()
            && self.base.contacts.is_empty()
            && self.mode.held.is_empty()
            && self.kept.len() == self.base.drives.len()
            && !self.closed.contains(&true)
            && !self.through
            && self.now.switched.is_some()
    }

    /// Looks for zeros in the step that was just made from an instant. Where one lies near its start the step was far too long for what
    /// happens there, and is made again in short.
    fn look(&mut self, from: Instant) -> Result<(), Diagnostic> {
        self.look_closely(from).map_err(|d| self.blocked(d))?;
        self.looked = self.engine_now().t;
        Ok(())
    }

    fn look_closely(&mut self, from: Instant) -> Result<(), Diagnostic> {
        let (start, work) = (from.configuration(), from.work);
        self.from = from.clone();
        self.found = self.search(&from)?;
        for _ in 0..HALVED {
            let Some(limit) = self.found.clone().and_then(|f| self.jams_on_the_way(&f)) else { break };
            // Normal forces have no bound where friction jams: nothing that lies beyond is a motion.
            let h = self.engine_now().t - start.t;
            if h <= STANDSTILL * start.t.abs().max(1e-3 * self.study.t_end) {
                return Err(self.jams(limit, start.t));
            }
            self.again(&start, work, start.t + 0.25 * h)?;
            self.found = self.search(&from)?;
        }
        for _ in 0..SHORTER {
            let Some(found) = &self.found else { return Ok(()) };
            let (h, left) = (self.piece.borrow().with_dependent(|_, e| e.now().t) - start.t, found.t - start.t);
            if self.study.step.is_some()
                || self.analysis == Analysis::Kinematics
                || found.what.iter().all(|w| self.by_time(*w))
                || left > 0.2 * h
                || left <= 1e-12 * start.t.abs().max(1e-3)
            {
                return Ok(());
            }
            self.again(&start, work, start.t + 2.5 * left)?;
            self.found = self.search(&from)?;
        }
        Ok(())
    }

    /// Makes the last step again from its start, up to `end` at the latest.
    fn again(&mut self, start: &Configuration, work: f64, end: f64) -> Result<(), Diagnostic> {
        let book = self.piece.borrow().with_dependent(|_, e| e.book());
        self.piece.get_mut().with_dependent_mut(|_, e| {
            e.resume(start, work, &book)?;
            e.step_until(end, &mut |_| true)
        })?;
        for w in &mut self.watched {
            w.known_zero = self.zeros.contains(&w.what);
        }
        Ok(())
    }

    /// Moves to a time through all events before it; `false` where it was told to stop. Where an event ends the run the present stays
    /// before the time.
    pub fn pass(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        loop {
            match self.advance(t, go_on)? {
                Advanced::There | Advanced::Ended => return Ok(true),
                Advanced::Event(_) => {}
                Advanced::Stopped => return Ok(false),
            }
        }
    }

    /// The same through the changes of a plan on the way, up to the next event.
    pub fn follow(&mut self, t: f64, end: f64, plan: &mut Plan, go_on: &mut dyn FnMut(f64) -> bool) -> Result<Advanced, Diagnostic> {
        while let Some(at) = plan.next_until(t) {
            match self.advance(at, go_on)? {
                Advanced::There => {}
                other => return Ok(other),
            }
            let changes = plan.take(at).to_vec();
            self.run_ahead(plan.next_until(end).unwrap_or(end));
            if let Some(met) = self.set_inputs(&changes)? {
                return Ok(met);
            }
        }
        self.advance(t, go_on)
    }

    /// One step of the integrator, or to the first event in it.
    pub fn step(&mut self, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        let reached = self.looked;
        let next = self.found.as_ref().map_or(reached, |f| f.t);
        if next > self.now.t {
            return self.pass(next, go_on);
        }
        let limit = self.now.t + self.study.fixed_step().unwrap_or(10.0 * self.study.t_end);
        self.zeros = self.watched.iter().filter(|w| w.known_zero).map(|w| w.what).collect();
        let from = self.engine_now();
        if !self.piece.get_mut().with_dependent_mut(|_, e| e.step_until(limit, go_on))? {
            return Ok(false);
        }
        self.look(from)?;
        let reached = self.looked;
        let to = self.found.as_ref().map_or(reached, |f| f.t);
        self.pass(to, go_on)
    }

    /// The state at a time inside the last step; the present stays.
    pub fn instant_at(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        let s = self.engine_at(t)?;
        *out = self.in_file(s);
        Ok(())
    }

    /// Other values and slopes of inputs from the present on: limits, contacts and friction that held let go, and events are passed, where the
    /// jump makes them. What happened then, if anything did.
    pub fn set_inputs(&mut self, changes: &[InputChange]) -> Result<Option<Advanced>, Diagnostic> {
        let mut state = self.now.configuration();
        let n = self.base.inputs.len();
        for c in changes {
            (state.z[c.input], state.z[n + c.input]) = (c.held[0], c.held[1]);
        }
        if state.z == self.now.z {
            return Ok(None);
        }
        self.change_inputs(state)
    }

    /// Goes on from a consistent state; events that have happened have happened.
    pub fn set_state(&mut self, state: &Configuration) -> Result<(), Diagnostic> {
        self.ended = false;
        self.begin(state)
    }

    /// What is left to say, and the verdict on the whole run where it came to its end.
    pub fn finish(&mut self, stopped: bool, failure: Option<Diagnostic>) -> (Report, Option<Diagnostic>) {
        let mut warnings = std::mem::take(&mut self.warnings);
        let (mut report, failure) = self.piece.get_mut().with_dependent_mut(|_, e| e.finish(stopped, failure));
        warnings.append(&mut report.warnings);
        let mut said = std::collections::HashSet::new();
        warnings.retain(|w| said.insert((w.code.0, w.message.clone())));
        report.warnings = warnings;
        report.t = self.now.t;
        report.work.push(("events".into(), self.happened.len() as f64));
        report.work.push(("modes".into(), self.modes as f64));
        // Methods that step through contacts say it themselves.
        if !self.limits.is_empty() && !self.stepped {
            report.work.push(("largest_contact_residual".into(), self.residual));
            report.work.push(("largest_overlap".into(), self.overlap));
        }
        // A rest is dated with the end of its series of impacts, which others may come before.
        self.happened.sort_by(|a, b| a.t.total_cmp(&b.t));
        report.events = std::mem::take(&mut self.happened);
        (report, failure)
    }

    /// The mode that the elements are in.
    fn present_mode(&self) -> (Mode, Vec<HeldBy>) {
        let base = &*self.base;
        let mut mode = Mode {
            joints: self.joints.clone(),
            drives: self.drives.clone(),
            forces: self.forces.clone(),
            slides: vec![0.0; base.forces.len()],
            held: Vec::new(),
            pieces: self.switches.iter().filter(|s| !s.loose).map(|s| (s.of, s.pieces.to_vec())).collect(),
            touching: self.touching(),
            stepped: self.through,
        };
        let mut by = Vec::new();
        for (joint, coordinate, value) in &self.locks {
            mode.held.push(Held { joint: *joint, coordinate: *coordinate, value: *value, rate: 0.0, since: 0.0 });
            by.push(HeldBy::Lock(*joint, *coordinate == JointCoordinate::Angle));
        }
        for (k, l) in self.limits.iter().enumerate().filter(|(k, _)| self.closed[*k]) {
            match l.of {
                Bounded::Spot => {}
                Bounded::Own => mode.joints[l.joint] = true,
                Bounded::Position(coordinate) => {
                    mode.held.push(Held { joint: l.joint, coordinate, value: l.bound, rate: 0.0, since: 0.0 });
                    by.push(HeldBy::Limit(k));
                }
                Bounded::Rate(coordinate) => {
                    let [value, since] = self.since[k];
                    mode.held.push(Held { joint: l.joint, coordinate, value, rate: l.bound, since });
                    by.push(HeldBy::Limit(k));
                }
            }
        }
        for (k, (force, doing)) in self.frictions.iter().enumerate() {
            match doing {
                Friction::Slides(direction) => mode.slides[*force] = *direction,
                Friction::Off => {}
                Friction::Sticks => {
                    mode.forces[*force] = false;
                    if let Some(f) = base.forces[*force].1.sticks() {
                        let (joint, coordinate) = (f.joint, f.coordinate(base));
                        mode.held.push(Held { joint, coordinate, value: self.stuck_at[k], rate: 0.0, since: 0.0 });
                        by.push(HeldBy::Friction(k));
                    }
                }
            }
        }
        (mode, by)
    }

    /// Starts the engine of the mode that the elements are in, from a state that obeys it to the errors of a step. `zeros` are known to
    /// be zero there. `only_forces`: nothing else can have changed.
    fn enter(&mut self, state: &Configuration, work: f64, book: &Value, zeros: &[Watched], only_forces: bool) -> Result<(), Diagnostic> {
        let (mode, by) = self.present_mode();
        let same_rows = (&mode.joints, &mode.drives, &mode.held, &mode.touching)
            == (&self.mode.joints, &self.mode.drives, &self.mode.held, &self.mode.touching);
        if mode != self.mode {
            let known = self.pieces.iter().position(|(m, ..)| *m == mode).and_then(|k| self.pieces.remove(k));
            let (next, built) = match known {
                Some((_, piece, built)) => (piece, built),
                None => {
                    self.modes += 1;
                    (Piece::of_mode(&self.base, &mode, &self.study, self.analysis, state)?, state.clone())
                }
            };
            let mut last = std::mem::replace(self.piece.get_mut(), next);
            let said = last.with_dependent_mut(|_, e| e.hand_over());
            self.piece.get_mut().with_dependent_mut(|_, e| e.take_over(said));
            self.pieces.push_back((std::mem::replace(&mut self.mode, mode), last, std::mem::replace(&mut self.built, built)));
            if self.pieces.len() > KEPT {
                self.pieces.pop_front();
            }
        }
        self.acting = Arc::clone(self.piece.get_mut().model());
        self.held_by = by;
        self.kept = self.base.drives_of(&self.mode);
        self.touched = self.touched_in(&self.mode);
        self.place_integrals(self.piece.borrow().model(), state);
        // Onto the constraints of the mode to rounding, where they have changed.
        let state = match self.analysis {
            Analysis::Dynamics if !only_forces || !same_rows => {
                &crate::formulation::lie::closed(self.piece.get_mut().model(), state).map_err(|d| *d)?
            }
            _ => state,
        };
        self.parts = if self.analysis == Analysis::Dynamics { self.shared(state) } else { Vec::new() };
        self.piece.get_mut().with_dependent_mut(|_, e| e.resume(state, work, book))?;
        let first = self.engine_now();
        self.from = first.clone();
        self.looked = first.t;
        self.found = None;
        self.margins.forget();
        self.watched = self
            .to_watch()
            .into_iter()
            .map(|what| Watch { what, known_zero: zeros.contains(&what), offset: 0.0, endless: false })
            .collect();
        let nothing = self.nothing_beside(&first);
        for n in 0..self.watched.len() {
            let value = self.value(self.watched[n].what, &first);
            if let Watched::Event(k) = self.watched[n].what {
                self.sizes[k] = self.sizes[k].max(value.abs());
                self.watched[n].known_zero |= self.is_zero(k, value);
            }
            let w = &mut self.watched[n];
            // Of pieces that were just found to hold, a guard below zero is rounding.
            w.known_zero |= value == 0.0 || (value < 0.0 && matches!(w.what, Watched::Guard(..)));
            // What just carries nothing, or all that it can, has been left with that.
            let light = matches!(w.what, Watched::Effort(_) | Watched::Bound(_)) && value.abs() <= nothing;
            w.known_zero |= light;
            if w.known_zero && (light || matches!(w.what, Watched::Gap(_) | Watched::Guard(..))) {
                w.offset = value.min(0.0);
            }
            // Branches that are not taken have no end.
            w.endless = value == f64::INFINITY;
            if let Watched::Bound(k) = w.what {
                let held = self.held_effort(HeldBy::Friction(k), &first).abs() + self.bound_of(k, &first);
                if value < -nothing.max(OVERLOADED * held) {
                    return Err(self.overloaded(k, first.t));
                }
            }
        }
        self.watched.retain(|w| !w.endless);
        self.now = self.in_file(first);
        Ok(())
    }

    /// Friction that sticks in a mode although its load exceeds what it can hold there.
    fn overloaded(&self, friction: usize, t: f64) -> Diagnostic {
        let (name, _) = &self.base.forces[self.frictions[friction].0];
        Diagnostic::new("S305", format!("at t = {t:.6} s friction `{name}` can neither hold its load nor slide under it"))
            .name(name.clone())
            .time(t)
            .help("less friction, or the smooth law (without `stick`), may pass")
    }

    /// Kinetic and potential energy of an instant in terms of the file, J.
    fn energy(&self, s: &Instant) -> f64 {
        let (kinetic, potential) = energies(&self.base, s);
        kinetic + potential
    }
}
