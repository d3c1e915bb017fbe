//! What is done at an event: actions, impacts, the next mode, and the record of it.

use super::decide::Left;
use super::jump::{Jump, complementary};
use super::watch::{Found, Watched};
use super::{Advanced, CHATTER, Eventful, Friction, Happened, Kind, STANDSTILL};
use crate::diagnostic::{Diagnostic, number};
use crate::event::{Action, Bounded};
use crate::force::eval::{Plain, coordinate_of, law_value};
use crate::model::JointCoordinate;
use crate::motion::Instant;
use crate::settings::Analysis;
use crate::state::{Configuration, Twist};
use fourbar_math::elementary;
use nalgebra::{DMatrix, DVector, Vector3};

/// So many impacts of one limit within the time of rest are a series.
const IN_TURNS: usize = 10;
/// Rounds of events that cause each other in one instant.
const ROUNDS: usize = 20;
/// Share of the step by which a zero on the dense output may be off from that of a step that ends there.
const OFF: f64 = 0.1;
/// A limit is closed within this share of the characteristic length, or rad.
pub(super) const CLOSED: f64 = 1e-9;
/// Rates below this share of the speeds of the mechanism are none.
const SLOW: f64 = 1e-8;
/// Beyond a limit by this share of the characteristic length, or rad, at the start.
const BEYOND: f64 = 1e-6;

/// What one instant brings.
#[derive(Default)]
pub(super) struct Brought {
    pub(super) happened: Vec<Happened>,
    /// What is known to be zero afterwards.
    pub(super) zeros: Vec<Watched>,
    /// Whether rows may have been added, so that velocities have to jump onto them.
    pub(super) switched: bool,
    /// Guards that were passed.
    pub(super) passed: Vec<(usize, usize)>,
}

/// An instant at which something may change.
struct Met {
    /// The instant before, in terms of the file, and its energy, J.
    left: Instant,
    before: f64,
    /// What was found to be zero.
    what: Vec<Watched>,
    /// Whether nothing but forces can have changed, and whether nothing is told where nothing happens.
    only_guards: bool,
    only_turns: bool,
}

impl Eventful {
    /// The first mode, at a consistent state.
    pub(super) fn begin(&mut self, state: &Configuration) -> Result<(), Diagnostic> {
        for k in 0..self.limits.len() {
            let l = &self.limits[k];
            let gap = l.gap(&self.base, &state.q, &state.v, &state.turns);
            let beyond = match l.of {
                Bounded::Rate(_) => gap < -1e-6 * self.fast(&state.v) - 1e-9,
                _ => gap < -BEYOND * self.size_of(k),
            };
            if beyond && l.spot.is_some() {
                return Err(self.overlaps(k, gap, state.t));
            }
            if beyond {
                let joint = &self.base.joints[l.joint].name;
                return Err(Diagnostic::new(
                    "S301",
                    format!("at t = {} s joint `{joint}` is beyond its limit `{}` by {}", number(state.t), l.name, number(-gap)),
                )
                .names([joint.clone(), l.name.clone()])
                .time(state.t)
                .help("start inside the limits: draw it so, or say so under `start:`"));
            }
        }
        self.closed.fill(false);
        self.first_pieces(state);
        let mut brought = Brought { switched: true, ..Brought::default() };
        let mut state = state.clone();
        self.settle(&mut state, &mut brought, &Left::default())?;
        self.next_pieces(&state);
        let book = serde_json::Value::Null;
        let zeros = std::mem::take(&mut brought.zeros);
        // A state that is consistent stays as it is where nothing else holds it.
        let free =
            self.locks.is_empty() && !self.closed.contains(&true) && self.frictions.iter().all(|(_, doing)| *doing != Friction::Sticks);
        self.enter(&state, 0.0, &book, &zeros, free)?;
        self.happened.extend(brought.happened);
        Ok(())
    }

    /// Characteristic length of the coordinate of a limit: 1 for angles.
    pub(super) fn size_of(&self, limit: usize) -> f64 {
        match self.limits[limit].of {
            Bounded::Position(JointCoordinate::Angle) | Bounded::Rate(JointCoordinate::Angle) => 1.0,
            _ => self.base.length,
        }
    }

    /// Largest speed of the bodies, m/s.
    pub(super) fn fast(&self, v: &[Twist]) -> f64 {
        v.iter().fold(0.0_f64, |s, v| s.max(v.v.norm()).max(self.base.length * v.w.norm()))
    }

    /// Rate below which a limit is at rest.
    pub(super) fn slow(&self, limit: usize, v: &[Twist]) -> f64 {
        SLOW * self.fast(v) * self.size_of(limit) / self.base.length + 1e-12 * self.size_of(limit)
    }

    /// Rate of the joint of a friction with some velocities, and below which there is none.
    pub(super) fn rate_of(&self, friction: usize, v: &[Twist], state: &Configuration) -> [f64; 2] {
        let Some(f) = self.base.forces[self.frictions[friction].0].1.sticks() else { return [0.0; 2] };
        let which = f.coordinate(&self.base);
        let at = Plain { t: state.t, q: &state.q, v, turns: &state.turns, loads: &[], z: &state.z };
        let turns = which == JointCoordinate::Angle;
        let slow = SLOW * self.fast(v) / if turns { self.base.length } else { 1.0 } + 1e-12;
        [coordinate_of(&self.base, f.joint, Some(which), &at).1, slow]
    }

    /// The instant at a zero that was found, made by a step that ends there.
    fn go_back(&mut self, found: &Found) -> Result<Instant, Diagnostic> {
        let by_series = self.chosen().formulation.name == "natural";
        if by_series || self.analysis == Analysis::Kinematics || found.t <= self.from.t {
            return self.engine_at(found.t.max(self.from.t));
        }
        let what = found.what[0];
        let h = self.engine_now().t - self.from.t;
        let near = 1e-3 * h;
        let [early, late] = [self.engine_at((found.t - near).max(self.from.t))?, self.engine_at(found.t)?];
        let slope = (self.seen(what, &late) - self.seen(what, &early)) / (late.t - early.t).max(f64::MIN_POSITIVE);
        let mut t = found.t;
        let start = self.from.configuration();
        let work = self.from.work;
        let book = self.piece.borrow().with_dependent(|_, e| e.book());
        for round in 0..3 {
            let piece = self.piece.get_mut();
            piece.with_dependent_mut(|_, e| {
                e.resume(&start, work, &book)?;
                e.run_ahead(t);
                e.advance(t, &mut |_| true)
            })?;
            let now = self.engine_now();
            // Times that are known beforehand are exact.
            if self.by_time(what) {
                return Ok(now);
            }
            let off = self.seen(what, &now) / slope;
            if round == 2 || !off.is_finite() || off.abs() > OFF * h || off.abs() <= 1e-14 * t.abs().max(1e-2) || t - off <= start.t {
                return Ok(now);
            }
            // What is found before a time that is asked for happens before it, whatever rounding says.
            t = (t - off).min(self.asked);
        }
        Ok(self.engine_now())
    }

    /// Everything that happens at a zero.
    /// `None` where nothing has happened that is told.
    pub(super) fn meet(&mut self, found: Found) -> Result<Option<Advanced>, Diagnostic> {
        let here = self.go_back(&found)?;
        let left = self.in_file(here.clone());
        let before = self.energy(&left);
        self.no_chatter(left.t, &found)?;
        let mut brought = Brought::default();
        let mut state = left.configuration();
        let mut released = Left::default();
        let pressed = std::mem::take(&mut self.pressed);
        for what in &found.what {
            match *what {
                // One that waits for another may have to wait on.
                Watched::Event(k) if !self.may_happen(k) => {}
                Watched::Event(k) => {
                    brought.zeros.push(*what);
                    self.perform(k, &mut state, &left, &mut brought)?;
                }
                Watched::Gap(k) => {
                    brought.zeros.push(*what);
                    if self.analysis == Analysis::Kinematics {
                        return Err(self.passed(k, left.t));
                    }
                    released.reached.push(k);
                    if pressed.contains(&k) {
                        released.pressed.push(k);
                    }
                }
                Watched::Effort(k) => {
                    let kind = if matches!(self.limits[k].of, Bounded::Rate(_)) { Kind::Release } else { Kind::Lift };
                    brought.happened.push(self.note(left.t, self.limits[k].name.clone(), kind));
                    brought.zeros.push(Watched::Gap(k));
                    self.closed[k] = false;
                    released.limits.push(k);
                }
                Watched::Guard(n, g) => self.pass_guard(n, g, &left, &mut brought)?,
                Watched::Slide(k) => released.stopped.push(k),
                Watched::Slip(k) if self.has_stopped(k, &here) => released.halted.extend(self.stopped_with(k, &here)),
                // Sliding that has turned goes on in its new direction.
                Watched::Slip(_) => {}
                Watched::Hold(k) => {
                    let (_, ways) = self.holds(k, &here);
                    brought.happened.push(self.note(left.t, self.contact_name(k), Kind::Slide));
                    brought.zeros.extend(ways.iter().map(|w| Watched::Slip(w.0)));
                    released.broke.extend(ways);
                }
                Watched::Bound(k) => self.loosen(k, &here, &mut brought, &mut released),
            }
        }
        let only_turns = self.only_turns(&found, &here);
        let only_guards = found.what.iter().all(|w| matches!(w, Watched::Guard(..))) && !brought.switched;
        let met = Met { left, before, what: found.what, only_guards, only_turns };
        self.go_over(met, state, brought, released)
    }

    /// Friction whose bound was reached, with all that holds the same motion.
    fn loosen(&mut self, friction: usize, here: &Instant, brought: &mut Brought, released: &mut Left) {
        let loosened = self.loosened(friction, here);
        let already = released.limits.clone();
        for (k, _) in &loosened.frictions {
            let name = self.base.forces[self.frictions[*k].0].0.clone();
            brought.happened.push(self.note(here.t, name, Kind::Slide));
            brought.zeros.push(Watched::Slide(*k));
        }
        for &k in loosened.limits.iter().filter(|k| !already.contains(k)) {
            let kind = if matches!(self.limits[k].of, Bounded::Rate(_)) { Kind::Release } else { Kind::Lift };
            brought.happened.push(self.note(here.t, self.limits[k].name.clone(), kind));
            brought.zeros.push(Watched::Gap(k));
            self.closed[k] = false;
        }
        for (k, _) in &loosened.spots {
            let name = self.contact_name(*k);
            if !brought.happened.iter().any(|h| h.name == name && h.kind == Kind::Slide) {
                brought.happened.push(self.note(here.t, name, Kind::Slide));
            }
            brought.zeros.push(Watched::Slip(*k));
        }
        released.frictions.extend(loosened.frictions);
        released.limits.extend(loosened.limits);
        released.broke.extend(loosened.spots);
    }

    /// Inputs jump to those of a state, which is otherwise the present.
    pub(super) fn change_inputs(&mut self, state: Configuration) -> Result<Option<Advanced>, Diagnostic> {
        let left = self.now.clone();
        // Energy that depends on inputs is not lost.
        let before = self.energy(&Instant { z: state.z.clone(), ..left.clone() });
        self.next_pieces(&state);
        let released = Left { by_input: true, ..Left::default() };
        // Where drives read inputs, velocities have to fit them again.
        let only_guards = self.base.held_drives().next().is_none();
        let met = Met { left, before, what: Vec::new(), only_guards, only_turns: true };
        self.go_over(met, state, Brought::default(), released)
    }

    /// Goes over to what holds behind an instant: jumps of velocities, events that these bring, and the next mode. `None` where nothing has
    /// happened that is told.
    fn go_over(
        &mut self,
        met: Met,
        mut state: Configuration,
        mut brought: Brought,
        mut released: Left,
    ) -> Result<Option<Advanced>, Diagnostic> {
        let Met { left, before, what, only_guards, only_turns } = met;
        let mut round = 0;
        loop {
            let kink = only_guards && brought.happened.is_empty() && !released.by_input;
            if self.analysis == Analysis::Dynamics && !kink {
                self.settle(&mut state, &mut brought, &released)?;
            } else if brought.switched {
                // In kinematics velocities follow the drives.
                Jump::new(&self.base.in_mode(&self.present_mode().0), &state).project(&mut state.v);
                brought.switched = false;
            }
            // Events that the jump has made true.
            let after = Instant::new(&self.base, &state);
            let mut more = Vec::new();
            for k in 0..self.base.events.len() {
                let fired = brought.happened.iter().any(|h| h.kind == Kind::Event && h.name == self.base.events[k].name);
                if fired || !self.may_happen(k) || !self.armed[k] || what.contains(&Watched::Event(k)) {
                    continue;
                }
                let [a, b] = [&left, &after].map(|s| self.value(Watched::Event(k), s));
                if self.comes_through(k, a, b) {
                    more.push(k);
                }
            }
            if more.is_empty() || self.ended {
                break;
            }
            round += 1;
            if round > ROUNDS {
                let names = more.iter().map(|k| self.base.events[*k].name.clone());
                return Err(Diagnostic::new("S302", format!("at t = {} s events cause each other without end", number(left.t)))
                    .names(names)
                    .time(left.t)
                    .help("let them happen `once`, or separate their conditions"));
            }
            for k in more {
                self.perform(k, &mut state, &left, &mut brought)?;
            }
            released = Left::default();
        }
        let book = self.piece.borrow().with_dependent(|_, e| e.book());
        let mut zeros = std::mem::take(&mut brought.zeros);
        self.next_pieces(&state);
        zeros.extend(self.zero_guards(&brought, &state).into_iter().map(|(n, g)| Watched::Guard(n, g)));
        self.enter(&state, left.work, &book, &zeros, only_guards)?;
        if (only_guards || only_turns) && brought.happened.is_empty() {
            return Ok(None);
        }
        let lost = before - self.energy(&self.now);
        // What rounding and projection make of nothing is nothing.
        let lost = if lost.abs() < 1e-12 * before.abs().max(f64::MIN_POSITIVE) { 0.0 } else { lost };
        self.lost += lost;
        if let Some(s) = &mut self.now.switched {
            s.lost = self.lost;
        }
        if let Some(first) = brought.happened.first_mut() {
            first.lost = lost;
        }
        self.idle = if brought.happened.is_empty() { self.idle + 1 } else { 0 };
        if self.idle > CHATTER {
            return Err(super::stalls(left.t));
        }
        self.happened.append(&mut brought.happened);
        Ok(Some(Advanced::Event(Box::new([left, self.now.clone()]))))
    }

    pub(super) fn note(&self, t: f64, name: String, kind: Kind) -> Happened {
        Happened { t, name, kind, impulse: 0.0, lost: 0.0, speed: [0.0; 2] }
    }

    /// Refuses events that follow each other without the time going on.
    fn no_chatter(&self, t: f64, found: &Found) -> Result<(), Diagnostic> {
        let n = self.happened.len();
        let since = |count: usize| n.checked_sub(count).map(|k| t - self.happened[k].t);
        let dense = |count: usize| since(count).is_some_and(|d| d < count as f64 / self.base.study.events.most_per_second);
        if !(since(CHATTER).is_some_and(|d| d < STANDSTILL * self.study.t_end) || dense(1000)) {
            return Ok(());
        }
        let mut names: Vec<String> = self.happened[n - CHATTER.min(n)..].iter().map(|h| h.name.clone()).collect();
        names.extend(
            found.what.iter().filter_map(|w| if let Watched::Event(k) = w { Some(self.base.events[*k].name.clone()) } else { None }),
        );
        names.sort_unstable();
        names.dedup();
        let listed = names.iter().take(4).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        Err(Diagnostic::new("S302", format!("at t = {t:.6} s events follow each other without progress: {listed}"))
            .names(names)
            .time(t)
            .help("give the event a dead band with `rearm:`, smooth what it switches, or raise `study: {events: {most_per_second: ...}}`"))
    }

    /// A limit that drives lead a mechanism through.
    fn passed(&self, limit: usize, t: f64) -> Diagnostic {
        let l = &self.limits[limit];
        if l.spot.is_some() {
            let name = self.contact_name(limit);
            return Diagnostic::new("S303", format!("at t = {t:.6} s the drives lead the bodies of contact `{name}` into each other"))
                .name(name)
                .time(t)
                .help("keep the drive where bodies are apart, or give the contact a `stiffness`");
        }
        let joint = &self.base.joints[l.joint].name;
        Diagnostic::new("S303", format!("at t = {t:.6} s the drives lead joint `{joint}` through its limit `{}`", l.name))
            .names([joint.clone(), l.name.clone()])
            .time(t)
            .help("keep the drive inside the limit, or give the limit a `stiffness`")
    }

    /// The actions of an event.
    fn perform(&mut self, k: usize, state: &mut Configuration, left: &Instant, brought: &mut Brought) -> Result<(), Diagnostic> {
        let event = self.base.events[k].clone();
        self.count[k] += 1;
        self.armed[k] = event.rearm == 0.0;
        brought.happened.push(self.note(left.t, event.name.clone(), Kind::Event));
        for action in &event.actions {
            match action {
                Action::Stop => self.ended = true,
                Action::Joint(j, on) => {
                    brought.switched |= *on && !self.joints[*j];
                    self.joints[*j] = *on;
                    if !on {
                        self.locks.retain(|l| l.0 != *j);
                    }
                    if *on {
                        self.fits(&event.name, *j, state)?;
                    }
                }
                Action::Drive(d, on) => {
                    brought.switched |= *on && !self.drives[*d];
                    if *on && !self.drives[*d] {
                        self.drive_fits(&event.name, *d, left)?;
                        self.place_drive(*d, left);
                    }
                    self.drives[*d] = *on;
                }
                Action::Force(f, on) => self.forces[*f] = *on,
                Action::Lock(j) => {
                    self.lock_fits(&event.name, *j, left.t)?;
                    brought.switched = true;
                    let joint = &self.base.joints[*j];
                    for which in [JointCoordinate::Angle, JointCoordinate::Distance] {
                        if joint.coordinate(which).is_some() && !self.locks.iter().any(|l| (l.0, l.1) == (*j, which)) {
                            let (value, rate) = coordinate_of(&self.base, *j, Some(which), &left.plain(&[]));
                            self.locks.push((*j, which, value));
                            if let Some(last) = brought.happened.last_mut() {
                                last.speed = [rate, 0.0];
                            }
                        }
                        // A screw has one freedom.
                        if joint.kind.name() == "screw" && which == JointCoordinate::Angle {
                            break;
                        }
                    }
                }
                Action::Release(j) => self.locks.retain(|l| l.0 != *j),
                Action::Set(z, law) => {
                    // Actions of one instant follow each other: what was set before is seen.
                    let at = Plain { z: &state.z, ..left.plain(&[]) };
                    let value = law_value(&self.base, law, &at, (0.0, 0.0));
                    let inputs = self.base.inputs.len();
                    if *z < inputs {
                        crate::inputs::allowed(&self.base, *z, value)?;
                        state.z[inputs + z] = 0.0;
                    }
                    state.z[*z] = value;
                }
            }
        }
        Ok(())
    }

    /// Refuses to put in a joint whose bodies are apart.
    fn fits(&self, event: &str, joint: usize, state: &Configuration) -> Result<(), Diagnostic> {
        let set = crate::constraint::ConstraintSet::new(vec![self.base.joint_constraint(joint)], |_| false);
        let mut Phi = vec![0.0; set.rows()];
        set.residual(&state.q, &state.turns, state.t, &mut Phi);
        let worst = Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if worst <= BEYOND * self.base.length {
            return Ok(());
        }
        let name = &self.base.joints[joint].name;
        let message = format!("at t = {:.6} s event `{event}` cannot enable joint `{name}`: it is open by {} m", state.t, number(worst));
        Err(Diagnostic::new("S304", message)
            .names([event.to_string(), name.clone()])
            .time(state.t)
            .help("let the event happen where the joint closes, such as where a coordinate has just the value it needs"))
    }

    /// A drive by acceleration that is switched on goes on from where its joint is.
    fn place_drive(&self, drive: usize, left: &Instant) {
        let d = &self.base.drives[drive];
        if let crate::time::TimeFunction::Integral(i) = &d.value
            && i.is_twice()
        {
            let (position, speed) = coordinate_of(&self.base, d.joint, Some(d.coordinate), &left.plain(&[]));
            i.place(left.t, position, speed);
        }
    }

    /// Refuses to lock a joint that a drive moves.
    fn lock_fits(&self, event: &str, joint: usize, t: f64) -> Result<(), Diagnostic> {
        let drives = self.base.drives.iter().zip(&self.drives);
        let Some(drive) = drives.filter(|(d, on)| **on && d.joint == joint).map(|(d, _)| d.name.clone()).next() else { return Ok(()) };
        let name = &self.base.joints[joint].name;
        let message = format!("at t = {} s event `{event}` cannot lock joint `{name}`, which drive `{drive}` moves", number(t));
        Err(Diagnostic::new("S304", message)
            .names([event.to_string(), name.clone(), drive.clone()])
            .time(t)
            .help(format!("add `disable: {drive}` before the lock")))
    }

    /// Refuses to switch a drive on where its joint stands elsewhere.
    fn drive_fits(&self, event: &str, drive: usize, left: &Instant) -> Result<(), Diagnostic> {
        let d = &self.base.drives[drive];
        let (value, _) = coordinate_of(&self.base, d.joint, Some(d.coordinate), &left.plain(&[]));
        let wanted = match &d.value {
            crate::time::TimeFunction::Integral(i) if i.is_twice() => value,
            f => f.at(left.t)[0],
        };
        let size = if d.coordinate == JointCoordinate::Angle { 1.0 } else { self.base.length };
        if (wanted - value).abs() <= BEYOND * size {
            return Ok(());
        }
        let joint = &self.base.joints[d.joint].name;
        let message = format!(
            "at t = {:.6} s event `{event}` cannot switch drive `{}` on: it needs joint `{joint}` at {}, but the joint is at {}",
            left.t,
            d.name,
            number(wanted),
            number(value)
        );
        Err(Diagnostic::new("S304", message)
            .names([event.to_string(), d.name.clone()])
            .time(left.t)
            .help("drive by `acceleration:`, which goes on from where the joint is, or switch where both agree"))
    }

    /// Velocities jump onto what holds now, limits are hit, and the next mode is chosen.
    fn settle(&mut self, state: &mut Configuration, brought: &mut Brought, left: &Left) -> Result<(), Diagnostic> {
        if self.analysis == Analysis::Kinematics {
            self.frictions.iter_mut().for_each(|f| f.1 = Friction::Off);
            return Ok(());
        }
        let (base, limits) = (self.base.clone(), self.limits.clone());
        let before = state.v.clone();
        let mut model = None;
        if brought.switched {
            let made = base.in_mode(&self.mode_without_limits());
            let mut jump = Jump::new(&made, state);
            jump.project(&mut state.v);
            drop(jump);
            model = Some(made);
        }
        // Limits that touch, and whether one of them is hit.
        let touching: Vec<usize> = (0..limits.len())
            .filter(|&k| {
                let l = &limits[k];
                let near = match l.of {
                    Bounded::Rate(_) => true,
                    _ => l.gap(&base, &state.q, &state.v, &state.turns) <= CLOSED * self.size_of(k),
                };
                self.acts(k) && (self.closed[k] || left.reached.contains(&k) || near)
            })
            .collect();
        let rate = |k: usize, v: &[Twist]| limits[k].rate(&base, &state.q, v);
        let hit = |k: &usize| rate(*k, &state.v) < -self.slow(*k, &before).max(self.slow(*k, &state.v));
        let impact = touching.iter().any(hit);
        // What has come to rest at this instant may have been set in motion again by an impact.
        let again;
        let mut left = left;
        if impact {
            let made = model.take().unwrap_or_else(|| base.in_mode(&self.mode_without_limits()));
            self.impact(&made, state, &before, &touching, brought)?;
            let rests = |k: &usize| {
                let [[was, _], [is, slow]] = [&before, &state.v].map(|v| self.rate_of(*k, v, state));
                (is - was).abs() <= 10.0 * slow
            };
            let stopped = left.stopped.iter().copied().filter(rests).collect();
            let slips = |k: &usize| {
                let slip = |v: &[Twist]| limits[*k].spot.as_ref().map_or_else(Vector3::zeros, |s| s.moving(&state.q, v).slip);
                (slip(&state.v) - slip(&before)).norm() <= 10.0 * self.slow(*k, &before)
            };
            let halted = left.halted.iter().copied().filter(slips).collect();
            again = Left { stopped, halted, ..left.clone() };
            left = &again;
        }
        brought.switched = false;
        let reached: Vec<usize> = left.reached.clone();
        let was = (self.closed.clone(), self.frictions.clone(), self.doing.clone());
        self.decide(state, left)?;
        for k in reached {
            let hit = brought.happened.iter().any(|h| h.name == limits[k].name);
            // What opens, or rests beside its limit without being held by it, has only been touched by rounding.
            let opens = limits[k].rate(&base, &state.q, &state.v) > self.slow(k, &state.v);
            let arrives = limits[k].rate(&base, &state.q, &before) < -self.slow(k, &before);
            if !hit && !opens && (self.closed[k] || arrives) {
                let kind = if matches!(limits[k].of, Bounded::Rate(_)) { Kind::Engage } else { Kind::Touch };
                brought.happened.push(self.note(state.t, limits[k].name.clone(), kind));
            }
        }
        // What friction no longer holds may come to lean on a limit beside which it rested.
        for k in (0..limits.len()).filter(|k| !left.frictions.is_empty() && !was.0[*k] && self.closed[*k] && limits[*k].spot.is_none()) {
            if !brought.happened.iter().any(|h| h.name == limits[k].name) {
                let kind = if matches!(limits[k].of, Bounded::Rate(_)) { Kind::Engage } else { Kind::Touch };
                brought.happened.push(self.note(state.t, limits[k].name.clone(), kind));
            }
        }
        for (k, l) in limits.iter().enumerate() {
            let gap = l.gap(&base, &state.q, &state.v, &state.turns);
            if !self.closed[k] && gap.abs() <= 1e3 * CLOSED * self.size_of(k) && touching.contains(&k) {
                brought.zeros.push(Watched::Gap(k));
            }
        }
        self.tell_slips(&was.0, &was.2, left, state, brought);
        if left.by_input {
            for k in (0..limits.len()).filter(|&k| was.0[k] && !self.closed[k]) {
                let kind = if matches!(limits[k].of, Bounded::Rate(_)) { Kind::Release } else { Kind::Lift };
                brought.happened.push(self.note(state.t, limits[k].name.clone(), kind));
            }
        }
        let moved = |k: usize| {
            let [rate, slow] = self.rate_of(k, &before, state);
            rate.abs() > slow
        };
        for k in 0..self.frictions.len() {
            let name = || base.forces[self.frictions[k].0].0.clone();
            match (was.1[k].1, self.frictions[k].1) {
                (Friction::Sticks, Friction::Slides(_)) => {
                    if !brought.happened.iter().any(|h| h.name == name() && h.kind == Kind::Slide) {
                        brought.happened.push(self.note(state.t, name(), Kind::Slide));
                    }
                    brought.zeros.push(Watched::Slide(k));
                }
                (Friction::Slides(_), Friction::Sticks) if left.stopped.contains(&k) || moved(k) => {
                    brought.happened.push(self.note(state.t, name(), Kind::Stick));
                }
                (Friction::Slides(a), Friction::Slides(b)) if left.stopped.contains(&k) => {
                    if a != b {
                        brought.happened.push(self.note(state.t, name(), Kind::Reverse));
                    }
                    brought.zeros.push(Watched::Slide(k));
                }
                (_, Friction::Slides(_)) => brought.zeros.push(Watched::Slide(k)),
                _ => {}
            }
        }
        Ok(())
    }

    /// All limits that touch are hit at once.
    fn impact(
        &mut self,
        model: &crate::model::Model,
        state: &mut Configuration,
        before: &[Twist],
        touching: &[usize],
        brought: &mut Brought,
    ) -> Result<(), Diagnostic> {
        let (base, all) = (self.base.clone(), self.limits.clone());
        let mut jump = Jump::new(model, state);
        let limits: Vec<_> = touching.iter().map(|&k| &all[k]).collect();
        let rough = self.any_rough(touching);
        let (responses, G) = jump.responses(&base, &state.q, &limits);
        drop(jump);
        let rates: Vec<f64> = limits.iter().map(|l| l.rate(&base, &state.q, &state.v)).collect();
        let first: Vec<f64> = limits.iter().map(|l| l.rate(&base, &state.q, before)).collect();
        let mut given: Vec<f64> = limits.iter().map(|l| if matches!(l.of, Bounded::Rate(_)) { 0.0 } else { l.restitution }).collect();
        let slow: Vec<f64> = touching.iter().map(|&k| self.slow(k, before)).collect();
        let mut rest = vec![None; limits.len()];
        let came = state.v.clone();
        loop {
            state.v.clone_from(&came);
            let P = if rough {
                // What did not approach gives nothing back.
                let given: Vec<f64> = (0..limits.len()).map(|i| if first[i] < -slow[i] { given[i] } else { 0.0 }).collect();
                let out = self.strike(model, state, touching, &given)?;
                state.v.clone_from(&out.v);
                self.residual = self.residual.max(out.residual);
                DVector::from_vec(out.normal)
            } else {
                let target = |i: usize| if first[i] < -slow[i] { given[i] * first[i].min(0.0) } else { 0.0 };
                let b = DVector::from_fn(limits.len(), |i, _| rates[i] + target(i));
                let P = complementary(&G, &b).map_err(|i| self.presses(touching[i], state.t))?;
                for (p, u) in P.iter().zip(&responses) {
                    state.v.iter_mut().zip(u).for_each(|(v, u)| *v = v.plus(&u.scaled(*p)));
                }
                // Of impulse and rebound beyond what is given back one is zero.
                for (i, l) in limits.iter().enumerate() {
                    let beyond = l.rate(&base, &state.q, &state.v) + target(i);
                    self.residual = self.residual.max((P[i] * G[(i, i)]).min(beyond).abs());
                }
                P
            };
            // Flights that are too short are summed up. Meanwhile limits at rest stay closed where they push.
            let mut a = self.open_accelerations(state)?;
            let resting = |i: &usize| limits[*i].rate(&base, &state.q, &state.v).abs() <= slow[*i];
            let resting: Vec<usize> = (0..limits.len()).filter(resting).collect();
            if !resting.is_empty() {
                let H = G.select_rows(&resting).select_columns(&resting);
                let c =
                    DVector::from_iterator(resting.len(), resting.iter().map(|i| limits[*i].second_rate(&base, &state.q, &state.v, &a)));
                let x = complementary(&H, &c).map_err(|i| self.presses(touching[resting[i]], state.t))?;
                for (x, i) in x.iter().zip(&resting) {
                    a.iter_mut().zip(&responses[*i]).for_each(|(a, u)| *a = a.plus(&u.scaled(*x)));
                }
            }
            let mut again = false;
            for i in 0..limits.len() {
                let l = limits[i];
                let bounce = l.rate(&base, &state.q, &state.v);
                if given[i] <= 0.0 || P[i] <= 0.0 || bounce <= slow[i] && first[i] >= -slow[i] {
                    continue;
                }
                let fall = -l.second_rate(&base, &state.q, &state.v, &a);
                let flight = if fall > 0.0 { 2.0 * bounce.max(0.0) / fall } else { 0.0 };
                // Limits that hit each other in turns have no flights of their own.
                let in_turns = self.often_hit(&l.name, state.t);
                let short = fall > 0.0 && flight < base.study.events.rest_time;
                // Nor has one that was hit just now and bounces with next to nothing, whatever is to bring it back.
                let short =
                    short || (self.just(&l.name, state.t, &[Kind::Impact, Kind::Rest]) && bounce.abs() <= self.tiny(touching[i], &a));
                if short || in_turns && given[i] < 1.0 {
                    let flight = if in_turns { 0.0 } else { flight };
                    // What gives everything back is braked by friction on its flights alone.
                    let series = if given[i] < 1.0 { flight / (1.0 - given[i]) } else { flight };
                    rest[i] = Some(state.t + series);
                    given[i] = 0.0;
                    again = true;
                }
            }
            if again {
                continue;
            }
            self.end_turns(model, touching, state, &mut rest)?;
            for (i, l) in limits.iter().enumerate() {
                if P[i] <= 0.0 || first[i] >= -slow[i] && rates[i] >= -slow[i] && rest[i].is_none() {
                    continue;
                }
                let kind = if rest[i].is_some() { Kind::Rest } else { Kind::Impact };
                let after = l.rate(&base, &state.q, &state.v);
                brought.happened.push(Happened {
                    t: rest[i].unwrap_or(state.t),
                    name: l.name.clone(),
                    kind,
                    impulse: P[i],
                    lost: 0.0,
                    speed: [l.side * first[i], l.side * after],
                });
            }
            return Ok(());
        }
    }

    /// Limits that hit each other in turns would do so in ever shorter times without end, as the corners of a block that rocks, or a joint at its
    /// stop whose bodies touch the floor: they come to rest together, and what is left of the energy of that motion is lost. They are those that
    /// give nothing back and were hit within the time of rest, and those that came to rest within it and would fly for less than it.
    fn end_turns(
        &self,
        model: &crate::model::Model,
        touching: &[usize],
        state: &mut Configuration,
        rest: &mut [Option<f64>],
    ) -> Result<(), Diagnostic> {
        if touching.len() < 2 {
            return Ok(());
        }
        let a = self.open_accelerations(state)?;
        let rests = |i: usize| {
            let l = &self.limits[touching[i]];
            let ends = l.restitution <= 0.0 || rest[i].is_some();
            let short = l.rate(&self.base, &state.q, &state.v).abs() <= self.tiny(touching[i], &a);
            (ends && self.just(&l.name, state.t, &[Kind::Impact])) || (short && self.just(&l.name, state.t, &[Kind::Rest]))
        };
        let turns: Vec<usize> = (0..touching.len()).filter(|i| rests(*i)).collect();
        if turns.len() < 2 {
            return Ok(());
        }
        let mut jump = Jump::new(model, state);
        let places: Vec<usize> = turns.iter().map(|i| touching[*i]).collect();
        let list = self.actives(&mut jump, state, &places);
        drop(jump);
        // With friction what is left of their slip ends too: bodies that slide may tip.
        let mut rows = Vec::new();
        let mut rates = Vec::new();
        for (i, (a_i, k)) in list.iter().zip(&places).enumerate() {
            let u = a_i.velocity(&state.v);
            let slips = elementary::hypot(u.y, u.z) <= self.tiny(*k, &a) && self.limits[*k].friction()[1] > 0.0;
            for d in 0..if slips { 3 } else { 1 } {
                rows.push((i, d));
                rates.push(-u[d]);
            }
        }
        let effect = |(i, d): (usize, usize), (j, e): (usize, usize)| -> f64 {
            let part = |side: usize| {
                let column = list[j].columns.iter().find(|c| c.0 == list[i].bodies[side]);
                column.map_or(0.0, |c| list[i].rows[side][d].power(&c.1[e]))
            };
            part(0) + part(1)
        };
        let H = DMatrix::from_fn(rows.len(), rows.len(), |i, j| effect(rows[i], rows[j]));
        let top = H.amax();
        let Ok(P) = H.svd(true, true).solve(&DVector::from_vec(rates), 1e-11 * top) else { return Ok(()) };
        for (p, (i, d)) in P.iter().zip(&rows) {
            let mut push = Vector3::zeros();
            push[*d] = *p;
            list[*i].add(&push, &mut state.v);
        }
        turns.iter().for_each(|i| rest[*i] = Some(state.t));
        Ok(())
    }

    /// Whether something of some kinds has happened to a limit within the time of rest.
    fn just(&self, name: &str, t: f64, kinds: &[Kind]) -> bool {
        let since = t - self.base.study.events.rest_time;
        self.happened.iter().rev().take_while(|h| h.t >= since).any(|h| h.name == name && kinds.contains(&h.kind))
    }

    /// Rate below which a flight would be shorter than the time of rest, were it ended by the largest acceleration `a` of the mechanism.
    fn tiny(&self, limit: usize, a: &[Twist]) -> f64 {
        let top = self.fast(a).max(self.base.gravity.norm());
        0.5 * self.base.study.events.rest_time * top * self.size_of(limit) / self.base.length
    }

    /// Whether a limit was hit so often of late that its impacts are one series.
    fn often_hit(&self, name: &str, t: f64) -> bool {
        let since = t - self.base.study.events.rest_time;
        let hits = self.happened.iter().rev().take_while(|h| h.t >= since).filter(|h| h.name == name && h.kind == Kind::Impact);
        hits.count() >= IN_TURNS
    }

    /// A drive or a loop that cannot give way to a limit.
    pub(super) fn presses(&self, limit: usize, t: f64) -> Diagnostic {
        let l = &self.limits[limit];
        if l.spot.is_some() {
            let name = self.contact_name(limit);
            return Diagnostic::new(
                "S303",
                format!("at t = {t:.6} s the bodies of contact `{name}` meet and cannot stop: a drive leads them on"),
            )
            .name(name)
            .time(t)
            .help("keep the drive where bodies are apart, replace it by an actuator, or give the contact a `stiffness`");
        }
        let joint = &self.base.joints[l.joint].name;
        Diagnostic::new("S303", format!("at t = {t:.6} s limit `{}` is hit and joint `{joint}` cannot stop: a drive leads it on", l.name))
            .names([joint.clone(), l.name.clone()])
            .time(t)
            .help("keep the drive inside the limit, replace it by an actuator, or give the limit a `stiffness`")
    }
}
