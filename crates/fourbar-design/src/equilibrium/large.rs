//! Equilibria of large mechanisms, without dense matrices.
//!
//! The methods are those for small mechanisms, mainly descent, with forces and steps in the coordinates of all bodies. The tangential
//! forces come from the engine's projector with motions weighted as lengths; a step solves the block system of stiffness and constraints
//! (`kkt`); definiteness is tested by a Cholesky factor of the body blocks with strong springs across the joints. The lowest
//! vibration modes decide whether an equilibrium is stable, and give the direction out of an unstable one.

use super::refusals::{self, Ended};
use super::solve::{AT_REST, DOWNHILL, Ending, FAR, NEAR, RADIUS, ROUNDING, STILL, SYMMETRIC, TURN};
use super::verdict::{self, Stability, Verdict};
use super::{Equilibrium, Kind};
use crate::kkt::{Kkt, Part, lengths};
use crate::manifold::{self, Manifold, stepped};
use crate::modes::sparse::{self, Lowest};
use crate::operator::{applied, load, plain, reaches_few};
use crate::words;
use fourbar::analysis::assembly::{flipped_joint, update_turns};
use fourbar::analysis::rank::redundant_rows;
use fourbar::evaluate::{by_body, stacked};
use fourbar::force::eval;
use fourbar::projector::Projector;
use fourbar::schur::unit_weights;
use fourbar::state::{Configuration, Twist, Wrench};
use fourbar::{Diagnostic, Model, stop};
use nalgebra::{DMatrix, DVector};

/// Number of coordinates above which dense matrices are slow.
const DENSE: usize = 300;
/// Maximum number of steps: a stiff rope of hundreds of links turns by a small angle in each, and steps cost little.
const STEPS: usize = 2000;
/// Squared frequencies below this share of the shift are rounding errors.
const UNSEEN: f64 = 1e-9;
/// Stiffness of the springs across the joints, as a share of the largest of the mechanism, that makes blocks regular; factor by which
/// stiffer springs leave only the motions that the joints allow; compliance of the rows relative to that of the first springs.
const SPRINGS: f64 = 10.0;
const FIRMER: f64 = 1e5;
const COMPLIANCE: f64 = 1e-9;
/// Shift under the rows of the projector; maximum number of corrections of the remaining normal forces.
const SHIFT: f64 = 1e-9;
const CORRECTIONS: usize = 20;
/// Maximum number of corrections that close the joints.
const CLOSING: usize = 40;
/// Springs that make a semidefinite stiffness definite near an equilibrium, as a share of the largest stiffness.
const SLIGHT: f64 = 1e-13;
/// Number of frequencies computed at an equilibrium.
const MODES: usize = 6;

/// Whether these methods are used: large mechanisms without states and rolling bodies, whose forces each depend on few bodies.
pub fn applies(model: &Model) -> bool {
    6 * model.moving() > DENSE && can(model)
}

/// Whether these methods can be used, regardless of size.
pub fn can(model: &Model) -> bool {
    model.moving() > 0 && model.states.is_empty() && model.rolling.is_empty() && reaches_few(model)
}

/// A closed position with the forces there.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The position; velocities are zero.
    pub state: Configuration,
    /// Multipliers of all rows.
    lambda: Vec<f64>,
    /// Applied forces less the constraint forces.
    tangential: DVector<f64>,
    /// Norm of `tangential` for motions weighted as lengths, N.
    size: f64,
    /// Largest load, N.
    load: f64,
}

/// A large mechanism whose equilibrium is sought.
pub struct Large<'m> {
    model: &'m Model,
    kkt: Kkt<'m>,
    projector: Projector,
    /// Extent of the mechanism for the rounding of positions, m.
    reach: f64,
    /// Largest load so far.
    largest: f64,
}

impl<'m> Large<'m> {
    /// Starts at a closed position.
    pub fn new(model: &'m Model, at: &Configuration) -> Self {
        let mut kkt = Kkt::new(model, at, lengths(model));
        kkt.firmer = FIRMER;
        let projector = Projector::new(&kkt.equations.set, unit_weights(model));
        let reach = at.q.iter().fold(model.length, |s, q| s.max(q.r.amax()));
        Self { model, kkt, projector, reach, largest: 0.0 }
    }

    /// Norm of a motion, with rotations weighted as lengths.
    fn length(&self, x: &DVector<f64>) -> f64 {
        x.dot(&self.kkt.weigh(x)).max(0.0).sqrt()
    }

    /// Steepest-descent motion of the forces in the norm of lengths.
    fn along(&self, f: &DVector<f64>) -> DVector<f64> {
        let weights = self.projector.inverse.iter();
        stacked(&by_body(f).into_iter().zip(weights).map(|(f, w)| w.apply(&Wrench { F: f.v, T: f.w })).collect::<Vec<_>>())
    }

    /// The forces at a closed position.
    pub fn rest(&mut self, at: &Configuration) -> Rest {
        let mut state = at.clone();
        state.v.fill(Twist::zero());
        let (set, p) = (&self.kkt.equations.set, &mut self.projector);
        let f = applied(self.model, &state);
        let mut lambda = vec![0.0_f64; set.rows()];
        let mut tangential = f.clone();
        if !lambda.is_empty() {
            p.factor(set, &state.q, SHIFT);
            let mut last = f64::INFINITY;
            for _ in 0..CORRECTIONS {
                let forces = by_body(&tangential).into_iter().zip(&p.inverse);
                let driven: Vec<Twist> = forces.map(|(f, w)| w.apply(&Wrench { F: f.v, T: f.w })).collect();
                p.rates(set, &driven);
                p.solve();
                let (size, all) = (p.size(), lambda.iter().fold(0.0_f64, |s, x| s.max(x.abs())));
                if size <= f64::EPSILON * all || size > 0.5 * last || size.is_nan() {
                    break;
                }
                last = size;
                lambda.iter_mut().zip(&p.x).for_each(|(l, x)| *l += x);
                p.wrench.fill(Wrench::zero());
                set.add_transposed(&p.schur.G, &lambda, 1.0, &mut p.wrench);
                tangential = &f - stacked(&p.wrench);
            }
        }
        let size = tangential.dot(&self.along(&tangential)).max(0.0).sqrt();
        self.largest = load(self.model, &state).max(self.largest);
        Rest { state, lambda, tangential, size, load: self.largest }
    }

    /// Degrees of freedom at a position.
    pub fn freedom(&self, at: &Configuration) -> usize {
        let set = &self.kkt.equations.set;
        (6 * self.model.moving() + redundant_rows(self.model, set, &at.q)).saturating_sub(set.rows())
    }

    /// Moves by an increment and closes all joints; `None` if they do not close nearby.
    fn moved(&mut self, c: &Configuration, dq: &DVector<f64>) -> Option<Configuration> {
        let mut x = stepped(c, dq);
        let (set, p) = (&self.kkt.equations.set, &mut self.projector);
        let extent = x.q.iter().fold(self.reach, |s, q| s.max(q.r.amax()));
        let mut last = f64::INFINITY;
        for _ in 0..CLOSING {
            update_turns(self.model, &x.q, &mut x.turns);
            set.residual(&x.q, &x.turns, x.t, &mut p.x);
            let size = fourbar::projector::largest(&p.x);
            if !size.is_finite() || size > 1e3 * extent {
                return None;
            }
            if manifold::settled(size, last, extent) {
                return flipped_joint(self.model, &x.q).is_none().then_some(x);
            }
            last = size;
            p.factor(set, &x.q, SHIFT);
            p.normal_part(set);
            x.q.iter_mut().zip(&p.dq).for_each(|(q, d)| *q = q.moved(&d.scaled(-1.0)));
        }
        None
    }

    /// Forms the stiffness at a position; returns its largest value, N/m.
    fn form(&mut self, rest: &Rest) -> f64 {
        let L = self.model.length;
        self.kkt.form(&rest.state, &rest.lambda);
        let top = self.kkt.stiffest(L).max(rest.load / L).max(f64::MIN_POSITIVE);
        let way = self.kkt.mobility();
        let spring = |m: &f64| if *m > 0.0 { SPRINGS * top / m } else { 0.0 };
        self.kkt.springs = way.iter().map(spring).collect();
        self.kkt.eps = way.iter().map(|m| COMPLIANCE * m.max(f64::MIN_POSITIVE) / (SPRINGS * top)).collect();
        top
    }

    /// The lowest vibration modes with the stiffness of a position; definiteness is tested with the springs of the last position
    /// formed. Returns the shift as well.
    fn lowest(&self, rest: &Rest, count: usize) -> Option<(Vec<Lowest>, f64)> {
        let mut kkt = sparse::formed(self.model, &rest.state, &rest.lambda);
        kkt.springs.clone_from(&self.kkt.springs);
        kkt.firmer = FIRMER;
        // With a shift beyond the lowest eigenvalue all inverse eigenvalues are positive, and the largest belong to the lowest modes.
        let mut shift = sparse::first_shift(self.model, &rest.state);
        let mut tries = 0;
        while !kkt.holds(shift) && tries < 60 {
            shift *= 4.0;
            tries += 1;
        }
        kkt.springs.clear();
        Some((sparse::near(kkt, shift, count).ok()?, shift))
    }

    /// Largest ratio of stiffness to mass of a single body.
    fn quickest(&self) -> f64 {
        let masses = self.model.bodies.iter().map(|b| b.mass).enumerate().skip(1);
        masses.map(|(b, m)| if m > 0.0 { self.kkt.own(b) / m } else { 0.0 }).fold(0.0, f64::max)
    }

    /// Stability by the lowest modes at the position whose stiffness was formed last; `None` if they cannot be computed.
    fn verdict(&mut self, rest: &Rest, count: usize) -> Option<Verdict> {
        let (list, shift) = self.lowest(rest, count)?;
        self.kkt.plain(Part::Whole);
        let sizes = list.iter().map(|m| verdict::contributions(self.model, &rest.state, &m.shape, &self.kkt.stiffness(&m.shape)));
        let sizes: Vec<f64> = sizes.collect();
        let omega2: Vec<f64> = list.iter().map(|m| m.omega2).collect();
        let stability = verdict::judged(&omega2, &sizes, &[UNSEEN * shift], self.quickest());
        let columns: Vec<DVector<f64>> = list.into_iter().map(|m| m.shape).collect();
        let softest = columns.first().map(|x| words::motion(self.model, &rest.state.q, x)).unwrap_or_default();
        let n = 6 * self.model.moving();
        let shapes = if columns.is_empty() { DMatrix::zeros(n, 0) } else { DMatrix::from_columns(&columns) };
        let circulatory = verdict::circulates(self.kkt.antisymmetric(), self.kkt.largest()[0]);
        Some(Verdict { stability, omega2, sizes, shapes, softest, idle: 0, circulatory, roots: Vec::new() })
    }

    /// Direction out of an unstable equilibrium.
    fn downhill(&mut self, rest: &Rest) -> Option<DVector<f64>> {
        let v = self.verdict(rest, 1)?;
        (v.stability == Stability::Unstable).then(|| v.shapes.column(0).into_owned())
    }

    /// Trust-region step with the symmetric stiffness; `mu` times the weights of lengths makes it definite.
    fn step(&mut self, rest: &Rest, mut mu: f64, radius: f64) -> Option<DVector<f64>> {
        if !self.kkt.factor(mu, Part::Symmetric) {
            return None;
        }
        let mut x = self.kkt.solve(&rest.tangential);
        for _ in 0..20 {
            let size = self.length(&x);
            if size <= 1.01 * radius || !size.is_finite() {
                break;
            }
            // Newton's method for the inverse of the length, which converges from the side of longer steps.
            let weighed = self.kkt.weigh(&x);
            let much = size * size / weighed.dot(&self.kkt.solve(&weighed)).max(f64::MIN_POSITIVE);
            mu += much * (size - radius) / radius;
            if !self.kkt.factor(mu, Part::Symmetric) {
                break;
            }
            x = self.kkt.solve(&rest.tangential);
        }
        let size = self.length(&x);
        size.is_finite().then(|| if size > radius { x * (radius / size) } else { x })
    }

    /// Shortens a step so that no body turns too far.
    fn turned(&self, x: DVector<f64>) -> DVector<f64> {
        let turn = by_body(&x).iter().fold(0.0_f64, |s, d| s.max(d.w.norm()));
        if turn > TURN { x * (TURN / turn) } else { x }
    }

    /// Length of a step that changes positions by no more than their rounding error.
    fn still(&self) -> f64 {
        STILL * self.reach * (self.model.moving() as f64).sqrt()
    }

    fn far(&self, rest: &Rest) -> bool {
        rest.state.q.iter().any(|q| q.r.norm() > FAR * self.model.length.max(self.reach))
    }

    /// Descent to an equilibrium in which the mechanism comes to rest by itself.
    fn descend(&mut self, start: &Configuration) -> Ending<Rest> {
        let L = self.model.length;
        let mut rest = self.rest(start);
        let (mut radius, mut blocked) = (RADIUS * L, 0);
        let mut best = (f64::INFINITY, 0);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            let top = self.form(&rest);
            let (size, near) = (rest.size, rest.size <= NEAR * rest.load);
            let held = self.kkt.holds(0.0);
            let out = if held || !near { None } else { self.downhill(&rest) };
            let saddle = if near { out.is_some() } else { !held };
            // Saddle points do not count: the search leaves them.
            if saddle || size < 0.5 * best.0 {
                best = (if saddle { f64::INFINITY } else { size }, count);
            }
            let done = size <= AT_REST * rest.load || (size <= ROUNDING * rest.load && count > best.1 + 3) || radius < 1e-14 * L;
            if done && !saddle && size <= ROUNDING * rest.load.max(f64::MIN_POSITIVE) {
                return Ending::Rest(Box::new(rest), count);
            }
            let mut mu = if held { 0.0 } else { top * if near { SLIGHT } else { DOWNHILL } };
            while mu > 0.0 && mu <= 10.0 * top && !self.kkt.holds(mu) {
                mu *= 10.0;
            }
            let Some(mut x) = self.step(&rest, mu, radius) else {
                radius *= 0.3;
                continue;
            };
            if let Some(out) = out {
                let sense = if out.dot(&rest.tangential) < 0.0 { -1.0 } else { 1.0 };
                let room = (radius * radius - self.length(&x).powi(2)).max(0.0).sqrt();
                x += &out * (sense * room / self.length(&out).max(f64::MIN_POSITIVE));
            }
            let newton = match self.kkt.antisymmetric() > SYMMETRIC * self.kkt.largest()[0] {
                _ if saddle => None,
                // Near an equilibrium the full stiffness converges faster than its symmetric part.
                true if self.kkt.factor(mu.min(SLIGHT * top), Part::Whole) => Some(self.kkt.solve(&rest.tangential)),
                // A step that is not shortened by the radius is a Newton step.
                _ => Some(x.clone()).filter(|x| self.length(x) < 0.99 * radius),
            };
            if let Some(newton) = newton
                && self.length(&newton) <= radius
            {
                // Where all springs are slack, rounding errors of positions cause forces that are large relative to the loads.
                if self.length(&newton) <= self.still() {
                    return Ending::Rest(Box::new(rest), count);
                }
                x = newton;
            }
            x = self.turned(x);
            self.kkt.plain(Part::Symmetric);
            let predicted = rest.tangential.dot(&x) - 0.5 * x.dot(&self.kkt.stiffness(&x));
            let Some(next) = self.moved(&rest.state, &x).map(|c| self.rest(&c)) else {
                radius *= 0.3;
                continue;
            };
            let d = Manifold::between(&rest.state, &next.state);
            let length = self.length(&x);
            if self.kkt.weigh(&d).dot(&x) < 0.3 * length * length {
                blocked += 1;
                if blocked > 12 {
                    return Ending::Blocked(Box::new(rest));
                }
                radius *= 0.3;
                continue;
            }
            blocked = 0;
            let work = 0.5 * (rest.tangential.dot(&d) + next.tangential.dot(&d));
            if work >= 0.1 * predicted || (!saddle && next.size <= 0.5 * size) {
                if work > 0.75 * predicted && length > 0.9 * radius {
                    radius *= 2.0;
                }
                rest = next;
            } else {
                radius = 0.3 * length.min(radius);
            }
            if self.far(&rest) {
                return Ending::Away(Box::new(rest));
            }
        }
        if rest.size <= ROUNDING * rest.load { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Motion under strong damping: implicit steps of `W q' = f`, longer as the residual falls.
    fn relax(&mut self, start: &Configuration) -> Ending<Rest> {
        let mut rest = self.rest(start);
        let mut h = RADIUS * self.model.length / rest.size.max(f64::MIN_POSITIVE);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            if rest.size <= AT_REST * rest.load {
                return Ending::Rest(Box::new(rest), count);
            }
            self.form(&rest);
            let x = self.kkt.factor(1.0 / h, Part::Whole).then(|| self.kkt.solve(&rest.tangential));
            let x = x.filter(|x| self.length(x).is_finite()).map(|x| self.turned(x));
            let next = x.and_then(|x| self.moved(&rest.state, &x)).map(|c| self.rest(&c));
            match next.filter(|x| x.size.is_finite()) {
                Some(x) => {
                    h *= (rest.size / x.size.max(f64::MIN_POSITIVE)).clamp(0.3, 4.0);
                    rest = x;
                }
                None => h *= 0.2,
            }
            if self.far(&rest) {
                return Ending::Away(Box::new(rest));
            }
        }
        if rest.size <= ROUNDING * rest.load { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Newton's method on the forces, with steps shortened until the forces decrease: finds equilibria of any kind.
    fn newton(&mut self, start: &Configuration) -> Ending<Rest> {
        let mut rest = self.rest(start);
        let mut best = (f64::INFINITY, 0);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            let size = rest.size;
            if size < 0.5 * best.0 {
                best = (size, count);
            }
            if size <= AT_REST * rest.load || (size <= ROUNDING * rest.load && count > best.1 + 3) {
                return Ending::Rest(Box::new(rest), count);
            }
            let top = self.form(&rest);
            let Some(x) = self.newton_step(&rest, top) else { break };
            if self.length(&x) <= self.still() {
                return Ending::Rest(Box::new(rest), count);
            }
            let x = self.turned(x);
            let mut next = None;
            for share in [1.0, 0.5, 0.2, 0.05, 0.01, 1e-3] {
                next = self.moved(&rest.state, &(&x * share)).map(|c| self.rest(&c)).filter(|n| n.size < size);
                if next.is_some() {
                    break;
                }
            }
            let Some(next) = next else { break };
            rest = next;
            if self.far(&rest) {
                return Ending::Away(Box::new(rest));
            }
        }
        if rest.size <= ROUNDING * rest.load { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Newton step with the stiffness that was formed last.
    fn newton_step(&mut self, rest: &Rest, top: f64) -> Option<DVector<f64>> {
        let done = self.kkt.factor(0.0, Part::Whole) || self.kkt.factor(SLIGHT * top, Part::Whole);
        let x = done.then(|| self.kkt.solve(&rest.tangential))?;
        self.length(&x).is_finite().then_some(x)
    }

    /// Whether a closed position is an equilibrium, stable or not.
    pub fn rests(&mut self, at: &Configuration) -> bool {
        let rest = self.rest(at);
        if rest.size <= ROUNDING * rest.load {
            return true;
        }
        let top = self.form(&rest);
        let way = self.newton_step(&rest, top).map(|x| self.length(&x));
        way.is_some_and(|y| y <= (ROUNDING * self.model.length).max(self.still()))
    }

    /// Searches for an equilibrium from a position, trying one method after another.
    pub fn solve(&mut self, start: &Configuration, kind: Kind) -> (Ending<Rest>, &'static str) {
        if kind == Kind::Any {
            let newton = self.newton(start);
            if !matches!(newton, Ending::Lost(_)) {
                return (newton, "Newton's method on the residual");
            }
        }
        let down = self.descend(start);
        let Ending::Lost(reached) = &down else { return (down, "downhill") };
        let relaxed = self.relax(&reached.state);
        if matches!(relaxed, Ending::Rest(..)) {
            return (relaxed, "motion under strong damping");
        }
        let newton = self.newton(&reached.state);
        if matches!(newton, Ending::Rest(..)) { (newton, "Newton's method on the residual") } else { (down, "downhill") }
    }

    /// Evaluates an equilibrium: stability, energy, residual and warnings.
    pub fn judged(&mut self, rest: &Rest, iterations: usize, method: &'static str) -> Result<Equilibrium, Diagnostic> {
        let model = self.model;
        let top = self.form(rest);
        let (n, rows) = (6 * model.moving(), self.kkt.equations.set.rows());
        let redundant = redundant_rows(model, &self.kkt.equations.set, &rest.state.q);
        let freedom = (n + redundant).saturating_sub(rows);
        let mut verdict = match freedom {
            0 => Verdict::held(n),
            _ => self.verdict(rest, MODES.min(freedom)).ok_or_else(|| {
                Diagnostic::new("S411", "the stiffness of the mechanism could not be factored at the equilibrium")
                    .help("check for forces whose derivatives are not finite there")
            })?,
        };
        if verdict.circulatory {
            verdict::by_roots(model, &rest.state, &mut verdict);
        }
        let load = rest.load.max(1e-3 * top * model.length);
        let left = self.along(&rest.tangential).component_mul(&crate::operator::lengths(model)).amax();
        let warnings = refusals::of_verdict(model, &rest.state, &verdict, |x| self.neutral_along(rest, x));
        let mut state = rest.state.clone();
        self.driven(&mut state);
        Ok(Equilibrium {
            state,
            verdict,
            energy: eval::potential(model, &plain(&rest.state)),
            residual: if load > 0.0 { left / load } else { left },
            iterations,
            method,
            freedom,
            rank: rows - redundant,
            redundant,
            everywhere: false,
            alike: 0,
            leans: Vec::new(),
            warnings,
        })
    }

    /// Whether a motion without stiffness leads to further equilibria; `None` if it cannot be followed.
    fn neutral_along(&mut self, rest: &Rest, shape: &DVector<f64>) -> Option<bool> {
        let step = shape * (0.05 * self.model.length / self.length(shape).max(f64::MIN_POSITIVE));
        let there = self.moved(&rest.state, &step).map(|c| self.rest(&c))?;
        Some(there.size <= 1e-7 * there.load)
    }

    /// Sets the smallest velocities that satisfy the drives.
    fn driven(&mut self, state: &mut Configuration) {
        let (set, p) = (&self.kkt.equations.set, &mut self.projector);
        let mut nu = vec![0.0; set.rows()];
        set.nu(state.t, &mut nu);
        if nu.iter().all(|x| *x == 0.0) {
            return;
        }
        p.factor(set, &state.q, SHIFT);
        for _ in 0..CORRECTIONS {
            p.rates(set, &state.v);
            p.x.iter_mut().zip(&nu).for_each(|(x, n)| *x -= n);
            p.normal_part(set);
            state.v.iter_mut().zip(&p.dq).for_each(|(v, d)| *v = Twist { v: v.v - d.v, w: v.w - d.w });
        }
    }

    /// Describes where a search ended without an equilibrium.
    pub fn ended<'a>(&'a self, rest: &'a Rest) -> Ended<'a> {
        let share = if rest.load > 0.0 { rest.size / rest.load } else { rest.size };
        Ended { model: self.model, state: &rest.state, motion: self.along(&rest.tangential), share }
    }
}
