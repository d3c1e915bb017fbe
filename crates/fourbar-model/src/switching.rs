//! What is made of pieces in a mechanism: expressions with conditions, steps and their like, and forces that act on one side only.
//!
//! Between two events each of them keeps its piece, and [`Model::in_mode`] leaves nothing but the pieces in force, which go on smoothly
//! beyond their ends. So formulations meet neither jumps nor kinks; whoever moves a mechanism watches the guards.

use crate::expr::{Guards, Pieces};
use crate::force::eval::{Plain, law_variables};
use crate::model::Model;
use crate::time::TimeFunction;
use fourbar_math::{Scalar, Taylor};
use serde::{Deserialize, Serialize};

/// Places at which forces begin to act that are watched, at most: with more of them something touches or parts all the time, and
/// methods meet these kinks by smaller steps.
const MOST_SIDES: usize = 32;
/// Guards above minus this are those of a piece that holds.
const ROUNDING: f64 = 1e-12;

/// Something that is made of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Switching {
    /// The function of time of a drive.
    Drive(usize),
    /// That of a bare constraint.
    Bare(usize),
    /// The rate of a state of the author's own.
    State(usize),
    /// An expression of a force, by force and place among its expressions.
    Law(usize, usize),
    /// A side of a force that acts only beyond a bound, by force and side.
    Side(usize, usize),
}

impl Model {
    /// Everything that is made of pieces.
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

    /// Times at which smooth steps of time begin or end in drives, bare constraints, forces and rates of states, in order. Nothing jumps
    /// there; but who chooses steps by what moves would pass over a pulse that begins while everything rests.
    pub fn smooth_ends(&self) -> Vec<f64> {
        let functions = self.drives.iter().map(|d| &d.value).chain(self.bare.iter().map(|b| &b.value));
        let mut list: Vec<f64> = functions.flat_map(|f| f.expr().smooth_ends(0)).collect();
        let forces = self.forces.iter().flat_map(|(_, f)| f.touches().laws);
        for law in self.states.iter().map(|s| &s.rate).chain(forces) {
            if let Some(time) = law.variables.iter().position(|v| *v == crate::force::Variable::Time) {
                list.extend(law.expr.smooth_ends(time));
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

    /// Whether time alone decides where its pieces end.
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

    fn law_of(&self, s: Switching) -> Option<&crate::force::StateLaw> {
        match s {
            Switching::State(k) => Some(&self.states[k].rate),
            Switching::Law(k, l) => self.forces[k].1.touches().laws.get(l).copied(),
            _ => None,
        }
    }

    fn own_of(&self, s: Switching, x: &Plain<'_>) -> (f64, f64) {
        if let Switching::Law(k, _) = s { self.forces[k].1.own_coordinate(self, x) } else { (0.0, 0.0) }
    }

    /// The pieces that hold at a state. `left` has earlier ones and a guard that has come down to zero; where there is no such guard, those
    /// that still hold stay.
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

    /// Guards of some pieces at a state: positive while they hold.
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

    /// Value of an expression that is made of pieces on some of them, with first and second derivative where it is a function of time;
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

    /// Drives whose integrals have to be placed where pieces of their rates begin.
    pub fn placed_drives(&self) -> impl Iterator<Item = &crate::time::Integral> {
        self.drives.iter().filter_map(|d| match &d.value {
            TimeFunction::Integral(i) if i.is_placed() => Some(i),
            _ => None,
        })
    }

    /// Leaves of something nothing but some of its pieces.
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
