//! Functions made of pieces: their guards end steps, and after a guard the next piece is used.
//!
//! A jump of a drive's speed is an impact, and a jump of a drive's acceleration or of a force is reported; touching of springy limits,
//! contacts and ropes and kinks of forces only restart the method.

use super::change::Brought;
use super::{Eventful, Happened, Kind};
use crate::diagnostic::{Diagnostic, number};
use crate::expr::{Guards, Pieces};
use crate::force::eval::{Plain, coordinate_of};
use crate::model::{JointCoordinate, Model};
use crate::motion::Instant;
use crate::state::Configuration;
use crate::switching::Switching;
use crate::time::TimeFunction;

/// Number of switches of one element in a short time that counts as endless.
const OFTEN: usize = 50;
/// That time, as a fraction of the run.
const SHORT: f64 = 1e-3;
/// Jumps of value, speed and acceleration below these fractions of their size are rounding.
const ROUNDING: [f64; 3] = [1e-9, 1e-8, 1e-6];
/// At a kink the difference of two pieces is below this fraction of that over a step.
const KINK: f64 = 1e-7;
/// If the step starts closer than this fraction of the run, its start is not used; the second value is the distance of the extrapolation
/// used instead.
const AT_START: f64 = 1e-9;
const SOON: f64 = 1e-6;
/// Forces below this count as zero, N, N m or per second.
const LEAST: f64 = 1e-12;

/// An element made of pieces, with the present ones.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The element.
    pub of: Switching,
    /// Its pieces.
    pub pieces: Pieces,
    /// Whether the pieces depend on time only.
    pub by_time: bool,
    /// Whether it switched endlessly and is no longer monitored.
    pub loose: bool,
    /// Times of its last switches, in ascending order.
    pub times: Vec<f64>,
}

impl Switch {
    /// All elements made of pieces in a mechanism.
    pub fn all(model: &Model) -> Vec<Self> {
        let one = |of| Self { of, pieces: Pieces::new(), by_time: model.switches_by_time(of), loose: false, times: Vec::new() };
        model.switching().into_iter().map(one).collect()
    }

    /// The same with the pieces valid at a state.
    pub fn all_at(model: &Model, at: &Configuration) -> Vec<Self> {
        let x = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
        let mut list = Self::all(model);
        for s in &mut list {
            s.pieces = model.pieces_of(s.of, &x, None);
        }
        list
    }
}

impl Eventful {
    /// Whether the element of a switch is active.
    pub(super) fn switch_acts(&self, n: usize) -> bool {
        let joint = |j: usize| self.joints[j] || self.base.limits.iter().any(|l| l.joint == j && l.of == crate::event::Bounded::Own);
        match self.switches[n].of {
            Switching::Drive(k) => self.drives[k] && joint(self.base.drives[k].joint),
            Switching::Law(k, _) | Switching::Side(k, _) => self.forces[k] && self.base.forces[k].1.touches().joint.is_none_or(joint),
            Switching::Bare(_) | Switching::State(_) => true,
        }
    }

    /// Sets the pieces at a state without history.
    pub(super) fn first_pieces(&mut self, state: &Configuration) {
        let x = Plain { t: state.t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &state.z };
        for s in &mut self.switches {
            s.pieces = self.base.pieces_of(s.of, &x, None);
        }
    }

    /// Replaces pieces that are no longer valid after a jump.
    pub(super) fn next_pieces(&mut self, state: &Configuration) {
        let x = Plain { t: state.t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &state.z };
        for s in &mut self.switches {
            let next = self.base.pieces_of(s.of, &x, Some((s.pieces.as_slice(), usize::MAX)));
            s.pieces = next;
        }
    }

    /// Value of a guard at an instant.
    pub(super) fn guard(&self, n: usize, g: usize, s: &Instant) -> f64 {
        self.guard_at(n, g, &s.plain(&[]))
    }

    fn guard_at(&self, n: usize, g: usize, x: &Plain<'_>) -> f64 {
        let switch = &self.switches[n];
        let mut guards = Guards::new();
        self.base.guards_of(switch.of, &switch.pieces, x, &mut guards);
        guards.get(g).copied().unwrap_or(f64::INFINITY)
    }

    /// The same at a time, if it depends on time only.
    pub(super) fn guard_by_time(&self, n: usize, g: usize, t: f64) -> f64 {
        let from = &self.from;
        self.guard_at(n, g, &Plain { t, ..from.plain(&[]) })
    }

    /// Switches to the next piece at a guard that has fallen to zero.
    pub(super) fn pass_guard(&mut self, n: usize, g: usize, left: &Instant, brought: &mut Brought) -> Result<(), Diagnostic> {
        let x = left.plain(&[]);
        let switch = &self.switches[n];
        let next = self.base.pieces_of(switch.of, &x, Some((switch.pieces.as_slice(), g)));
        let [before, after] = [&switch.pieces, &next].map(|p| self.base.value_on(switch.of, p, &x));
        let of = switch.of;
        let name = self.base.switching_name(of).to_string();
        let jumps = |k: usize, order: usize, large: f64| {
            let (a, b) = (before[k], after[k]);
            (a - b).abs() > ROUNDING[order] * (large / self.study.t_end.powi(order as i32)).max(a.abs()).max(b.abs())
        };
        let size = |turns: bool| if turns { 1.0 } else { self.base.length };
        match of {
            Switching::Drive(_) | Switching::Bare(_) => {
                let (value, large, unit) = match of {
                    Switching::Drive(k) => {
                        let d = &self.base.drives[k];
                        let turns = d.coordinate == JointCoordinate::Angle;
                        (&d.value, size(turns), if turns { "rad" } else { "m" })
                    }
                    Switching::Bare(k) => {
                        let turns = self.base.bare[k].kind == "dp1";
                        (&self.base.bare[k].value, size(turns), if turns { "" } else { "m" })
                    }
                    _ => return Ok(()),
                };
                // Order of the derivative of the position that the expression gives.
                let level = match value {
                    TimeFunction::Value(_) => 0,
                    TimeFunction::Integral(i) => 1 + usize::from(i.is_twice()),
                };
                let jumped = (0..3 - level).find(|&k| jumps(k, level + k, large)).map(|k| (k, level + k));
                let speeds = |k: Option<usize>| k.map_or([0.0; 2], |k| [before[k], after[k]]);
                match jumped {
                    Some((k, 0)) => return Err(crate::analysis::jumps::of_position(&name, left.t, [before[k], after[k]], unit)),
                    Some((k, 1)) => {
                        brought.switched = true;
                        brought.happened.push(Happened { speed: [before[k], after[k]], ..self.note(left.t, name, Kind::Impact) });
                    }
                    Some(_) => {
                        let speed = speeds(1_usize.checked_sub(level));
                        brought.happened.push(Happened { speed, ..self.note(left.t, name, Kind::Jump) });
                    }
                    None => {}
                }
            }
            Switching::State(_) | Switching::Law(..) => {
                // At a kink the difference of the pieces vanishes with the distance from it, at a jump it does not. Right at the start of a
                // step the motion is extrapolated to obtain a distance.
                let near = left.t - self.from.t <= AT_START * self.study.t_end;
                let far = if near { self.led_on(left, SOON * self.study.t_end) } else { self.from.clone() };
                let [a, b] = [&switch.pieces, &next].map(|p| self.base.value_on(of, p, &far.plain(&[])));
                let (here, there) = ((after[0] - before[0]).abs(), (b[0] - a[0]).abs());
                if here > LEAST && here > KINK * there {
                    brought.happened.push(self.note(left.t, name, Kind::Jump));
                }
            }
            Switching::Side(..) => {}
        }
        self.switches[n].pieces = next;
        brought.passed.push((n, g));
        self.count_switch(n, left.t);
        Ok(())
    }

    /// An instant extrapolated by its velocities and accelerations.
    fn led_on(&self, s: &Instant, dt: f64) -> Instant {
        let mut out = s.clone();
        out.t += dt;
        for b in 1..out.q.len() {
            out.q[b] = s.q[b].moved(&s.v[b].plus(&s.a[b].scaled(0.5 * dt)).scaled(dt));
            out.v[b] = s.v[b].plus(&s.a[b].scaled(dt));
        }
        out
    }

    /// An element that switches back and forth endlessly is no longer monitored, and reported.
    fn count_switch(&mut self, n: usize, t: f64) {
        let switch = &mut self.switches[n];
        // Functions of time may have any number of corners, but not at the same time.
        let short = if switch.by_time { 1e-14 } else { SHORT } * self.study.t_end;
        if switch.times.len() == OFTEN {
            switch.times.remove(0);
        }
        switch.times.push(t);
        let (of, first) = (switch.of, switch.times[0]);
        if switch.times.len() < OFTEN || t - first > short {
            return;
        }
        switch.loose = true;
        let name = self.base.switching_name(of).to_string();
        let message = format!("from t = {} s on `{name}` switches back and forth without end", number(first));
        self.warnings.push(Diagnostic::new("W303", message).name(name).time(t).help(
            "it is followed with small steps from there on; friction that sticks, a dead band, or a law without a jump such as `tanh(x/x0)` is quicker and exact",
        ));
    }

    /// Guards that are zero after those that were passed.
    pub(super) fn zero_guards(&self, brought: &Brought, state: &Configuration) -> Vec<(usize, usize)> {
        let x = Plain { t: state.t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &state.z };
        let mut list = Vec::new();
        for (n, passed) in &brought.passed {
            let switch = &self.switches[*n];
            let mut guards = Guards::new();
            self.base.guards_of(switch.of, &switch.pieces, &x, &mut guards);
            // The other guard of the same operation.
            let pair = 2 * (passed / 2);
            list.extend((pair..pair + 2).filter(|g| guards.get(*g).is_some_and(|v| v.abs() < 1e-9)).map(|g| (*n, g)));
        }
        list
    }

    /// Drives by speed or acceleration whose pieces begin continue from the present joint coordinates.
    pub(super) fn place_integrals(&self, model: &Model, state: &Configuration) {
        let x = Plain { t: state.t, q: &state.q, v: &state.v, turns: &state.turns, loads: &[], z: &state.z };
        for d in &model.drives {
            if let TimeFunction::Integral(i) = &d.value
                && i.is_placed()
            {
                let (position, speed) = coordinate_of(model, d.joint, Some(d.coordinate), &x);
                i.place(state.t, position, speed);
            }
        }
    }
}
