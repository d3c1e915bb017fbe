//! Piecewise elements of a mechanism: expressions with conditions or steps, and one-sided forces.
//!
//! Between two events each element keeps its piece, and [`Model::in_mode`] retains only the active pieces, which continue smoothly beyond
//! their ends. So formulations see neither jumps nor kinks; the run monitors the guards.

use crate::expr::{Guards, Pieces};
use crate::force::eval::{Plain, law_value, law_variables};
use crate::model::Model;
use crate::time::TimeFunction;
use fourbar_math::{Scalar, Taylor};
use serde::{Deserialize, Serialize};

/// Largest number of monitored positions at which forces begin to act: with more of them, contacts open and close all the time, and methods
/// handle these kinks by smaller steps.
const MOST_SIDES: usize = 32;
/// A piece is valid while its guards exceed minus this.
const ROUNDING: f64 = 1e-12;

/// Limits on the number of evaluations, for all functions of time together and for each, in the search for pulses.
const SCANNED: usize = 20_000;
const FINEST: usize = 1_000;
/// A function is at rest where it changes by less than this fraction of its range between two samples.
const CALM: f64 = 1e-9;
/// Largest number of pulses of a function that are distinguished.
const PULSES: usize = 64;

/// Beginnings, peaks and ends of the pulses of a function between intervals of rest, from evenly spaced samples.
fn pulses(f: &dyn Fn(f64) -> f64, t_end: f64, count: usize) -> Vec<f64> {
    let time = |k: usize| t_end * k as f64 / count as f64;
    let values: Vec<f64> = (0..=count).map(|k| f(time(k))).collect();
    let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
    let calm = |k: usize| (values[k + 1] - values[k]).abs() <= CALM * (high - low);
    let mut list = Vec::new();
    if !(high > low && (high - low).is_finite()) || values.iter().any(|x| !x.is_finite()) {
        return list;
    }
    let mut k = 0;
    while k < count && list.len() < 3 * PULSES {
        let first = k;
        while k < count && !calm(k) {
            k += 1;
        }
        if k > first && first > 0 {
            let far = |i: &usize| (values[*i] - values[first]).abs();
            let peak = (first..=k).max_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(k);
            list.extend([time(first), time(peak), time(k)]);
        }
        while k < count && calm(k) {
            k += 1;
        }
    }
    list
}

/// A piecewise element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Switching {
    /// The function of time of a drive.
    Drive(usize),
    /// The function of time of a bare constraint.
    Bare(usize),
    /// The rate of a user-defined state.
    State(usize),
    /// An expression of a force, by force and index among its expressions.
    Law(usize, usize),
    /// A side of a force that acts only beyond a bound, by force and side.
    Side(usize, usize),
}

impl Model {
    /// All piecewise elements.
    pub fn switching(&self) -> Vec<Switching> {
        let mut list = Vec::new();
        list.extend((0..self.drives.len()).filter(|&k| self.drives[k].value.expr().switches()).map(Switching::Drive));
        let bare = |k: &usize| self.bare[*k].value.expr().switches() && self.bare[*k].other.is_none();
        list.extend((0..self.bare.len()).filter(bare).map(Switching::Bare));
        list.extend((0..self.states.len()).filter(|&k| self.states[k].rate.expr.switches()).map(Switching::State));
        for (k, (_, f)) in self.forces.iter().enumerate() {
            let laws = f.touches().laws;
            list.extend((0..laws.len()).filter(|&l| laws[l].expr.switches()).map(|l| Switching::Law(k, l)));
        }
        if self.forces.iter().map(|(_, f)| f.sides()).sum::<usize>() <= MOST_SIDES {
            list.extend(self.forces.iter().enumerate().flat_map(|(k, (_, f))| (0..f.sides()).map(move |side| Switching::Side(k, side))));
        }
        list
    }

    /// Times at which drives, bare constraints, forces and rates of states begin to change with time or cease to, in order: ends of smooth
    /// steps, and beginnings, peaks and ends of pulses before `t_end`. Nothing jumps there; but a step size control based on the motion
    /// would step over a pulse that begins while everything is at rest.
    pub fn time_marks(&self, t_end: f64) -> Vec<f64> {
        let functions = || self.drives.iter().map(|d| &d.value).chain(self.bare.iter().map(|b| &b.value));
        let mut list: Vec<f64> = functions().flat_map(|f| f.expr().smooth_ends(0)).collect();
        let forces = self.forces.iter().flat_map(|(_, f)| f.touches().laws);
        let laws = self.states.iter().map(|s| &s.rate).chain(forces);
        let of_time = |v: &crate::force::Variable| *v == crate::force::Variable::Time;
        let laws: Vec<_> = laws.filter_map(|law| Some((law, law.variables.iter().position(of_time)?))).collect();
        list.extend(laws.iter().flat_map(|(law, time)| law.expr.smooth_ends(*time)));
        let count = (SCANNED / (laws.len() + functions().count()).max(1)).min(FINEST);
        // For functions composed of smooth steps these times are exact.
        for f in functions().filter(|f| f.expr().uses(0) && f.expr().smooth_ends(0).is_empty()) {
            list.extend(pulses(&|t| f.at(t)[0], t_end, count));
        }
        if !laws.is_empty() {
            let at = crate::state::Configuration::start(self);
            for (law, _) in laws.iter().filter(|(law, time)| law.expr.smooth_ends(*time).is_empty()) {
                let value = |t: f64| {
                    let x = Plain { t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
                    law_value(self, law, &x, (1.0, 0.0))
                };
                list.extend(pulses(&value, t_end, count));
            }
        }
        list.sort_by(f64::total_cmp);
        list.dedup();
        list
    }

    /// Name of the element.
    pub fn switching_name(&self, s: Switching) -> &str {
        match s {
            Switching::Drive(k) => &self.drives[k].name,
            Switching::Bare(k) => &self.bare[k].name,
            Switching::State(k) => &self.states[k].name,
            Switching::Law(k, _) | Switching::Side(k, _) => &self.forces[k].0,
        }
    }

    /// Whether the ends of its pieces depend on time alone.
    pub fn switches_by_time(&self, s: Switching) -> bool {
        match s {
            Switching::Drive(_) | Switching::Bare(_) => {
                !self.time_function_of(s).is_some_and(|f| matches!(f, TimeFunction::Integral(i) if !i.inputs().is_empty()))
            }
            Switching::State(_) | Switching::Law(..) => {
                self.law_of(s).is_some_and(|law| law.variables.iter().all(|v| *v == crate::force::Variable::Time))
            }
            Switching::Side(..) => false,
        }
    }

    fn time_function_of(&self, s: Switching) -> Option<&TimeFunction> {
        match s {
            Switching::Drive(k) => Some(&self.drives[k].value),
            Switching::Bare(k) => Some(&self.bare[k].value),
            _ => None,
        }
    }

    /// The expression of the state, for a rate of a state or a law of a force.
    pub fn law_of(&self, s: Switching) -> Option<&crate::force::StateLaw> {
        match s {
            Switching::State(k) => Some(&self.states[k].rate),
            Switching::Law(k, l) => self.forces[k].1.touches().laws.get(l).copied(),
            _ => None,
        }
    }

    /// The force's own coordinate and rate, which its expression may read.
    pub fn own_of(&self, s: Switching, x: &Plain<'_>) -> (f64, f64) {
        if let Switching::Law(k, _) = s { self.forces[k].1.own_coordinate(self, x) } else { (0.0, 0.0) }
    }

    /// The pieces that are valid at a state. `left` gives earlier pieces and the guard that has reached zero; without such a guard, pieces
    /// that are still valid are kept.
    pub fn pieces_of(&self, s: Switching, x: &Plain<'_>, left: Option<(&[i64], usize)>) -> Pieces {
        if let Some(f) = self.time_function_of(s) {
            return f.expr().pieces(&f.variables(x.t, x.z), left);
        }
        if let Some(law) = self.law_of(s) {
            return law.expr.pieces(&law_variables(self, law, x, self.own_of(s, x)), left);
        }
        let mut list = Pieces::new();
        if let Switching::Side(k, side) = s
            && let Some(at) = self.forces[k].1.side(self, x, side)
        {
            list.push(match left {
                Some((old, guard)) => {
                    let old = old.first().copied().unwrap_or(0);
                    match guard {
                        0 | 1 => at.behind(old, guard),
                        _ if at.guards(old).iter().all(|g| *g >= -ROUNDING) => old,
                        _ => at.doing(),
                    }
                }
                None => at.doing(),
            });
        }
        list
    }

    /// Guards of some pieces at a state: positive while the pieces are valid.
    pub fn guards_of(&self, s: Switching, pieces: &[i64], x: &Plain<'_>, out: &mut Guards) {
        out.clear();
        if let Some(f) = self.time_function_of(s) {
            f.expr().guards(pieces, &f.variables(x.t, x.z), out);
        } else if let Some(law) = self.law_of(s) {
            law.expr.guards(pieces, &law_variables(self, law, x, self.own_of(s, x)), out);
        } else if let Switching::Side(k, side) = s
            && let (Some(at), Some(p)) = (self.forces[k].1.side(self, x, side), pieces.first())
        {
            out.extend(at.guards(*p));
        }
    }

    /// Value of a piecewise expression on some of its pieces, with first and second derivative if it is a function of time;
    /// integrals by their rate.
    pub fn value_on(&self, s: Switching, pieces: &[i64], x: &Plain<'_>) -> [f64; 3] {
        if let Some(f) = self.time_function_of(s) {
            let (expr, variables) = (f.expr().in_pieces(pieces), f.variables(x.t, x.z));
            let mut series: Vec<Taylor<3>> = variables.iter().map(|x| Taylor::of(*x)).collect();
            series[0] = Taylor::variable(x.t);
            let y = expr.eval(&series);
            return [y.c[0], y.c[1], 2.0 * y.c[2]];
        }
        match self.law_of(s) {
            Some(law) => [law.expr.in_pieces(pieces).eval(&law_variables(self, law, x, self.own_of(s, x))), 0.0, 0.0],
            None => [0.0; 3],
        }
    }

    /// Drives whose integrals must be given a start value where pieces of their rates begin.
    pub fn placed_drives(&self) -> impl Iterator<Item = &crate::time::Integral> {
        self.drives.iter().filter_map(|d| match &d.value {
            TimeFunction::Integral(i) if i.is_placed() => Some(i),
            _ => None,
        })
    }

    /// Reduces a piecewise element to some of its pieces.
    pub(crate) fn keep_pieces(&mut self, s: Switching, pieces: &[i64]) {
        match s {
            Switching::Drive(k) => self.drives[k].value = self.drives[k].value.in_pieces(pieces),
            Switching::Bare(k) => self.bare[k].value = self.bare[k].value.in_pieces(pieces),
            Switching::State(k) => self.states[k].rate.expr = self.states[k].rate.expr.in_pieces(pieces),
            Switching::Law(k, l) => {
                if let Some(law) = self.forces[k].1.laws_mut().get_mut(l) {
                    law.expr = law.expr.in_pieces(pieces);
                }
            }
            Switching::Side(k, side) => {
                if let Some(p) = pieces.first() {
                    self.forces[k].1.set_doing(side, *p);
                }
            }
        }
    }
}
