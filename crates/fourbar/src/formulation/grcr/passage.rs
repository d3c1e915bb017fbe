//! Dead positions of the dependents and singular positions of the mechanism.
//!
//! The derivative is that of the closed state, so that it is a function of the independent coordinates, and a step is consistent only if
//! all its stages use the same function. The dependent set is therefore changed between steps: if a stage finds its set weak and another
//! one better, it is abandoned, and the step is restarted with the better set.
//!
//! Where no set is good the rows themselves nearly lose rank, and there are two cases. *Through* a singular position the motion is smooth
//! on both sides, and closed state and rates are interpolated from there: this is still the same function. A *near miss* is passed on one
//! side; everything changes within the distance of the miss, and interpolation would reach across to the other branch. The interpolated
//! state does not close, which distinguishes the two cases. A near miss is resolved by small steps, whose stages are used as predicted
//! (rounding divided by a small sine would dominate the error estimate); only their ends are closed.

use super::cut_joints::Cut;
use super::dependents::Selection;
use super::mechanism::WEAK;
use super::schedule::Role;
use super::system::{Grcr, TOLD};
use crate::diagnostic::Diagnostic;

/// Below this sine of a dependent the rows have lost rank: rounding errors are divided by its cube in the rates.
pub(super) const LOST: f64 = 0.02;
/// A better set, searched for if the weakest dependent is weak, is used if its smallest sine is larger by this factor.
const BETTER: f64 = 3.0;
/// Offsets and weights of the interpolation at singular positions, one side: even polynomials of order six are reproduced.
const BESIDE: [(f64, f64); 4] = [(1.0, 10.0 / 7.0), (1.5, -10.0 / 7.0), (2.0, 25.0 / 42.0), (2.5, -2.0 / 21.0)];
/// Shortest and longest distance to the first offset, radians or link lengths.
const NEAREST: f64 = 0.7 * LOST;
const FARTHEST: f64 = 0.2;
/// Scaled residual up to which an interpolated state counts as closed.
const THROUGH: f64 = 1e-10;
/// Scaled residual up to which the end of a step past a near miss is not corrected: closing it would introduce more rounding than it
/// removes.
const DRIFT: f64 = 1e-12;
/// Maximum number of changes of the set inside one step.
const CHANGES: usize = 3;

/// How a step is restarted.
pub(super) enum Redo {
    /// With another dependent set.
    Set(Selection),
    /// With stages that are not closed.
    Hold,
}

impl Grcr<'_> {
    /// Whether the rows had lost rank at the last factorisation.
    pub(super) fn lost(&self) -> bool {
        !self.m.closings.is_empty() && self.m.closure.smallest.0 < LOST
    }

    /// Interpolates from both sides: `take` is called with each weight; the closed state itself is left in the mechanism. `false` if the
    /// motion does not lead through a singular position; then only the workspace has changed.
    ///
    /// Any smooth curve through the state is suitable. The curve of the motion is used if there is one.
    pub(super) fn beside(&mut self, t: f64, q: &[f64], u: &[f64], mut take: impl FnMut(&mut Self, f64, f64)) -> bool {
        let n = self.m.tree.speeds;
        let smallest = self.m.closure.smallest;
        let ell = self.m.closings.ell;
        let size = |x: &[f64]| (0..n).fold(0.0_f64, |m, c| m.max(x[c].abs() / if self.m.tree.slides[c] { ell } else { 1.0 }));
        let (speed, rate) = (size(u), size(&self.usual));
        let [mut d, mut v, mut p, mut dq, mut du] = std::mem::take(&mut self.side);
        // From rest the motion leads to one side only; the curve is then a straight line along the rates, in both directions.
        let rests = |h: f64, way: f64| h * speed < 0.5 * way;
        let mut place = |s: &Self, k: f64, h: f64, way: f64, p: &mut [f64], v: &mut [f64]| {
            let (first, second, after) = if rests(h, way) { (0.0, k * way / rate, 0.0) } else { (k * h, 0.5 * k * k * h * h, k * h) };
            for c in 0..n {
                d[c] = first * u[c] + second * s.usual[c];
                v[c] = u[c] + after * s.usual[c];
            }
            s.m.retracted(q, &d, p);
            t + after
        };
        let sides = || BESIDE.iter().flat_map(|(k, w)| [(*k, *w), (-*k, *w)]);
        let mut way = NEAREST;
        let mut through = false;
        let mut h = 0.0;
        while way < FARTHEST && !through {
            h = 2.0 * way / (speed + (speed * speed + 2.0 * rate * way).sqrt());
            if !h.is_finite() {
                break;
            }
            through = sides().all(|(k, _)| {
                let at = place(self, k, h, way, &mut p, &mut v);
                matches!(self.m.close_above(LOST, at, &p, &v), Ok(true))
            });
            if !through {
                way *= 1.4;
            }
        }
        if through {
            dq.fill(0.0);
            du.fill(0.0);
            for (k, weight) in sides() {
                let at = place(self, k, h, way, &mut p, &mut v);
                let Ok(power) = self.evaluate(at, &p, &v) else {
                    through = false;
                    break;
                };
                for c in 0..n {
                    dq[c] += weight * self.m.corrected[c];
                    du[c] += weight * (self.m.u[c] - v[c]);
                }
                take(self, weight, power);
            }
            self.interpolated += 1;
        }
        if through {
            for c in 0..n {
                v[c] = u[c] + du[c];
            }
            self.m.retracted(q, &dq, &mut p);
            through = self.m.gap(t, &p, &v) <= THROUGH;
        }
        self.m.closure.smallest = smallest;
        self.side = [d, v, p, dq, du];
        through
    }

    /// The end of a step past a near miss: closed if that is certain and the drift large enough; returns whether it was closed, and whether
    /// the near miss has been passed.
    pub(super) fn end_held(&mut self, t: f64, q: &[f64], u: &[f64]) -> (bool, bool) {
        self.m.take(t, q, u);
        let gap = self.m.closings.g.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        let over = self.m.closure.smallest.0 > 2.0 * LOST;
        if gap <= DRIFT && !over {
            return (false, false);
        }
        let closed = self.m.close(t, q, u).is_ok();
        if !closed {
            self.m.take(t, q, u);
        }
        (closed, closed && over)
    }

    /// At the beginning of a step: searches for a better dependent set if the one in use has become weak.
    pub(super) fn switch(&mut self) {
        let (t, y) = std::mem::take(&mut self.accepted);
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        self.m.take(t, &y[..stored], &y[stored..stored + n]);
        self.accepted = (t, y);
        self.last.0 = f64::NAN;
        let (sine, _) = self.m.closure.smallest;
        let s = self.m.choose_lasting();
        // If no set is better, as in a singular position, the next search waits; else it takes place as soon as the set would be used.
        self.search_below = if s.smallest > 1.1 * sine { (s.smallest / BETTER).min(0.5 * sine) } else { 0.03 * sine };
        if s.rank == self.m.selection.rank && s.smallest > BETTER * sine {
            if self.plain {
                // A weak set is accepted as long as digits are left.
                self.broken = (sine < LOST).then(|| self.breaks(t));
            } else {
                self.change(t, s);
            }
        }
        self.inside_below = self.below_inside();
    }

    /// Searches for a better set at a stage, if the set in use reaches its dead position inside the step; returns whether there is one with
    /// which to restart the step.
    pub(super) fn weak_inside(&mut self) -> bool {
        let (sine, _) = self.m.closure.smallest;
        if self.plain || self.m.closings.is_empty() || sine >= self.inside_below {
            return false;
        }
        self.inside_below = 0.3 * sine;
        let s = self.m.choose_lasting();
        let better = s.rank == self.m.selection.rank && s.smallest > BETTER * sine;
        if better {
            self.redo = Some(Redo::Set(s));
        }
        better
    }

    /// Error where plain recursive coordinate reduction ends.
    pub(super) fn breaks(&self, t: f64) -> Box<Diagnostic> {
        let (sine, column) = self.m.closure.smallest;
        let name = if column < self.m.tree.speeds { self.m.column_name(column) } else { "the last coordinate of a loop".into() };
        Box::new(
            Diagnostic::new("S271", format!("at t = {t:.6} s plain recursive coordinate reduction breaks down: {name} is not determined by its loop any more (sine {sine:.1e})"))
                .time(t)
                .help("the last coordinates of a loop cannot be its dependent ones there; `--option coupling=acs` chooses others"),
        )
    }

    /// Sine at which to search first inside the next step: a search that failed at its beginning would fail again, unless rank is lost
    /// altogether.
    pub(super) fn below_inside(&self) -> f64 {
        (0.5 * WEAK).min(self.search_below.max(LOST))
    }

    /// Puts another set into use.
    fn change(&mut self, t: f64, s: Selection) {
        let (out, new) = self.changed_names(&s.roles);
        self.adopt(s);
        self.search_below = WEAK;
        self.passages.exchange();
        self.switched += 1;
        if self.switches.len() < TOLD {
            self.switches.push((t, format!("{out} became independent, {new} dependent")));
        }
    }

    fn adopt(&mut self, s: Selection) {
        self.m.adopt(s);
        if let Some(cut) = &mut self.cut {
            *cut = Cut::new(&self.m);
        }
        self.last.0 = f64::NAN;
    }

    /// Whether the failed step is to be restarted with a set or mode found in it.
    pub(super) fn begin_again(&mut self) -> bool {
        match self.redo.take() {
            None => false,
            Some(Redo::Hold) => !std::mem::replace(&mut self.holding, true),
            Some(Redo::Set(_)) if self.changes == CHANGES => false,
            Some(Redo::Set(s)) => {
                self.changes += 1;
                let (t, y) = std::mem::take(&mut self.accepted);
                let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
                let old = self.m.selection.clone();
                let mut fits = true;
                if t.is_finite() {
                    // The set must be suitable for the whole step.
                    self.m.take(t, &y[..stored], &y[stored..stored + n]);
                    let before = self.m.closure.smallest.0;
                    self.adopt(s.clone());
                    self.m.take(t, &y[..stored], &y[stored..stored + n]);
                    fits = self.m.closure.smallest.0 >= (0.5 * WEAK).min(before);
                    if !fits {
                        self.adopt(old.clone());
                    }
                }
                self.accepted = (t, y);
                if fits {
                    self.m.selection = old;
                    self.change(t.max(0.0), s);
                    self.inside_below = self.below_inside();
                }
                fits
            }
        }
    }

    fn changed_names(&self, roles: &[Role]) -> (String, String) {
        let name = |of: &dyn Fn(usize) -> bool| {
            let list: Vec<String> = (0..roles.len()).filter(|c| of(*c)).map(|c| self.m.column_name(c)).take(6).collect();
            if list.is_empty() { "nothing".to_string() } else { list.join(", ") }
        };
        let old = &self.m.selection.roles;
        let left = name(&|c| old[c] == Role::Dependent && roles[c] != Role::Dependent);
        let came = name(&|c| old[c] != Role::Dependent && roles[c] == Role::Dependent);
        (left, came)
    }
}
