//! The formulation as a first-order system: state, derivative, switching of dependents, singular positions, instants.
//!
//! The state holds all tree coordinates, all speeds and the work. Every evaluation closes the loops from the values that the integrator
//! predicts. At a closed state the derivative does not depend on the dependent set, so that a switch between steps has no effect; away from
//! it the derivative does, so that the set stays the same throughout a step (see [`super::passage`]).

use super::cut_joints::Cut;
use super::mechanism::{Mechanism, WEAK};
use super::passage::{LOST, Redo};
use super::reaction;
use super::{Closed, Coupling};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::force::eval;
use crate::integrator::first_order::{self, Carried, System, largest_turn};
use crate::model::Model;
use crate::motion::{Instant, Loads, Motion, Outcome, Reaction, numbers};
use crate::settings::tau;
use crate::settings::{Study, count};
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::state::{Configuration, Twist};
use crate::structure::Structure;
use serde_json::{Value, json};

/// Maximum number of switches that are reported individually.
pub(super) const TOLD: usize = 20;

/// Sine of the weakest dependent above which closing the loops hardly amplifies errors.
const CLEAR: f64 = 0.5;

/// A moving mechanism.
pub struct Grcr<'m> {
    pub(super) m: Mechanism<'m>,
    pub(super) cut: Option<Cut>,
    /// All constraints, for residuals, and the multipliers of the closings.
    set: ConstraintSet,
    G: Vec<f64>,
    rows: [Vec<f64>; 2],
    loads: Loads,
    pub(super) passages: Passages,
    measure: Massless<'m>,
    /// Last rates of speeds.
    pub(super) usual: Vec<f64>,
    /// Time and state whose closed values are in the mechanism; NaN if there are none.
    pub(super) last: (f64, Vec<f64>),
    /// Time and state at the end of the last accepted step, which is closed: it is never corrected again, so that intermediate outputs and
    /// resumed runs do not change any digit.
    pub(super) accepted: (f64, Vec<f64>),
    /// Sine below which the next search for a better set is worthwhile.
    pub(super) search_below: f64,
    /// The same inside the step.
    pub(super) inside_below: f64,
    /// Whether to search for a better set before the next step.
    look: bool,
    /// Whether the stages of the step are used as predicted, and whether that ends with it.
    pub(super) holding: bool,
    leave: bool,
    /// Changes of the set since the last accepted step.
    pub(super) changes: usize,
    /// How the failed step is to be restarted.
    pub(super) redo: Option<Redo>,
    start: Vec<f64>,
    carried: Carried,
    worked: bool,
    /// Columns with counted coordinates, with the factor that makes a revolution a whole turn.
    counted: Vec<(usize, f64)>,
    tau: f64,
    pub(super) switches: Vec<(f64, String)>,
    pub(super) switched: usize,
    /// Number of evaluations by interpolation, and of output times with rank loss.
    pub(super) interpolated: usize,
    flagged: usize,
    /// Workspace of interpolation.
    pub(super) side: [Vec<f64>; 5],
    /// Whether the dependents must remain the last coordinates of their loops, and the error where that failed.
    pub(super) plain: bool,
    pub(super) broken: Option<Box<Diagnostic>>,
}

/// Starts the formulation.
pub fn start<'m>(
    structure: &Structure<'m>,
    study: &Study,
    integrator: &'static str,
    at: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let mut system = Grcr::new(structure, at, study)?;
    system.tau = tau(study)?;
    first_order::start(system, structure.model, study, integrator, at.t)
}

impl<'m> Grcr<'m> {
    fn new(structure: &Structure<'m>, at: &Configuration, study: &Study) -> Result<Self, Diagnostic> {
        let (model, set) = (structure.model, structure.rows.clone());
        let options = super::Options::of(&study.options)?;
        let m = Mechanism::asked(model, at, &options)?;
        let mut start = at.z.clone();
        start.extend_from_slice(&m.q);
        start.extend_from_slice(&m.u);
        start.push(0.0);
        let (rows, n) = (set.rows(), m.tree.speeds);
        let (mut passages, mut measure) = (Passages::new(model.length, model.bodies.len()), Massless::new(structure));
        passages.look(at.t, &at.q, &at.v, &mut measure, |_, parts| m.closure.sines(parts));
        Ok(Self {
            loads: Loads::new(model, &m.closings.set),
            passages,
            measure,
            G: vec![0.0; set.values],
            rows: [vec![0.0; rows], vec![0.0; rows]],
            usual: m.udot.iter().map(|a| if a.is_finite() { *a } else { 0.0 }).collect(),
            last: (f64::NAN, vec![0.0; start.len()]),
            accepted: (f64::NAN, vec![0.0; start.len()]),
            search_below: WEAK,
            inside_below: 0.5 * WEAK,
            look: false,
            holding: false,
            leave: false,
            changes: 0,
            redo: None,
            worked: model.has_work(),
            counted: if model.angles.is_empty() { Vec::new() } else { m.tree.counted_columns(model).collect() },
            tau: 0.1,
            switches: Vec::new(),
            switched: 0,
            interpolated: 0,
            flagged: 0,
            side: [vec![0.0; n], vec![0.0; n], vec![0.0; m.tree.stored], vec![0.0; n], vec![0.0; n]],
            carried: Carried::new(model, at),
            plain: options.coupling == Coupling::Rcr,
            broken: None,
            cut: options.cut.then(|| Cut::new(&m)),
            start,
            set,
            m,
        })
    }

    /// Size of changes of all coordinates and speeds in metres.
    fn size_of_columns(&self, dq: &[f64], du: &[f64]) -> f64 {
        let mut worst = 0.0_f64;
        for (c, slides) in self.m.tree.slides.iter().enumerate() {
            let unit = if *slides { 1.0 } else { self.m.model.length };
            let x = unit * dq[c].abs().max(self.tau * du[c].abs());
            if x.is_nan() {
                return f64::NAN;
            }
            worst = worst.max(x);
        }
        worst
    }

    /// Effect of an error of the state after the loops are closed: errors of dependent coordinates are divided by the sine with which the
    /// rows determine them, those of dependent speeds by its square. Returns the difference of the two closed states; `None` if one cannot
    /// be closed.
    fn error_when_closed(&mut self, t: f64, end: &[f64], d: &[f64]) -> Option<f64> {
        let (stored, n, z) = (self.m.tree.stored, self.m.tree.speeds, self.carried.len());
        let (q, u) = (&end[z..z + stored], &end[z + stored..z + stored + n]);
        self.last.0 = f64::NAN;
        let [mut dq, mut du, mut p, mut v, spare] = std::mem::take(&mut self.side);
        let mut closed = matches!(self.m.close_above(LOST, t, q, u), Ok(true));
        if closed {
            for c in 0..n {
                (dq[c], du[c]) = (d[z + c] - self.m.corrected[c], -self.m.u[c]);
                v[c] = u[c] + d[z + n + c];
            }
            self.m.retracted(q, &d[z..z + n], &mut p);
            closed = matches!(self.m.close_above(LOST, t, &p, &v), Ok(true));
        }
        let size = closed.then(|| {
            dq.iter_mut().zip(&self.m.corrected).for_each(|(d, x)| *d += x);
            du.iter_mut().zip(&self.m.u).for_each(|(d, u)| *d += u);
            self.size_of_columns(&dq, &du)
        });
        self.side = [dq, du, p, v, spare];
        size
    }

    /// The largest relative motion or speed, in radians or characteristic lengths.
    fn size(&self, x: &[f64]) -> f64 {
        let (tree, L) = (&self.m.tree, self.m.model.length);
        (0..tree.speeds).fold(0.0_f64, |m, c| m.max(x[c].abs() / if tree.slides[c] { L } else { 1.0 }))
    }

    /// Closes the loops and computes accelerations at a state; returns the power of drives and of forces without a potential.
    pub(super) fn evaluate(&mut self, t: f64, q: &[f64], u: &[f64]) -> Result<f64, Box<Diagnostic>> {
        self.m.close(t, q, u)?;
        self.accelerate(t)
    }

    /// The same at a state that is closed already.
    fn accelerate(&mut self, t: f64) -> Result<f64, Box<Diagnostic>> {
        match &mut self.cut {
            Some(cut) => cut.accelerate(&mut self.m, t),
            None => self.m.accelerate(t),
        }
        if !self.m.udot.iter().sum::<f64>().is_finite() {
            return Err(not_finite(t));
        }
        Ok(if self.worked { self.power(t) } else { 0.0 })
    }

    fn power(&mut self, t: f64) -> f64 {
        let m = &mut self.m;
        let mut power: f64 = m.tree.prescribed.iter().map(|p| m.fronts.effort[p.column] * m.u[p.column]).sum();
        if !m.closings.is_empty() {
            power += m.closing_power(t);
        }
        let x = eval::Plain { t, q: &m.poses, v: &m.velocities, turns: &m.turns, loads: &m.loads, z: &m.z };
        power + eval::power(m.model, &x)
    }

    /// Rates of inputs and states at the state of the mechanism; `false` if one is not finite.
    fn rates(&mut self, t: f64, out: &mut [f64]) -> bool {
        let m = &self.m;
        let x = eval::Plain { t, q: &m.poses, v: &m.velocities, turns: &m.turns, loads: &m.loads, z: &m.z };
        self.carried.derivative(m.model, &x, out)
    }

    /// Adds `weight` times these rates.
    fn add_rates(&mut self, t: f64, weight: f64, out: &mut [f64]) {
        let m = &self.m;
        let x = eval::Plain { t, q: &m.poses, v: &m.velocities, turns: &m.turns, loads: &m.loads, z: &m.z };
        self.carried.add_derivative(m.model, &x, weight, out);
    }

    fn errors(&mut self, out: &mut Instant) {
        errors(&mut self.set, &mut self.G, &mut self.rows, out);
    }
}

/// Residuals of the constraints on positions, velocities and accelerations at an instant.
pub fn errors(set: &mut ConstraintSet, G: &mut [f64], [x, y]: &mut [Vec<f64>; 2], out: &mut Instant) {
    let largest = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    set.choose(out.t);
    set.residual(&out.q, &out.turns, out.t, x);
    out.errors[0] = x.iter().fold(0.0, |m, x| m.max(x.abs()));
    set.jacobian(&out.q, G);
    set.multiply(G, &out.v, x);
    set.nu(out.t, y);
    out.errors[1] = largest(x, y);
    set.multiply(G, &out.a, x);
    set.gamma(&out.q, &out.v, out.t, y);
    out.errors[2] = largest(x, y);
}

/// Reason why a stage was abandoned; reported only if the step cannot be restarted any more.
fn begun_again(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S270", format!("at t = {t:.6} s no choice of joint coordinates closes the loops"))
            .time(t)
            .help("the mechanism is near a dead point or the step is too large; choose a smaller tolerance or step"),
    )
}

fn not_finite(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S232", format!("the accelerations at t = {t:.6} s are not finite"))
            .time(t)
            .help("a smaller step or tolerance may help; a singular position may be near"),
    )
}

impl Grcr<'_> {
    /// The instant at a time and a state.
    fn instant_at(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        self.last.0 = f64::NAN;
        let (z, y) = y.split_at(self.carried.len());
        self.m.z.copy_from_slice(z);
        let (q, u) = (&y[..stored], &y[stored..stored + n]);
        // At a singular position the undefined values are replaced by interpolation.
        let mut through = false;
        let closed = !self.holding && self.m.close_above(LOST, t, q, u).unwrap_or(false);
        if !self.holding && !closed {
            let mut sum = out.clone();
            sum.a.fill(Twist::zero());
            sum.reactions.fill(Reaction::default());
            sum.efforts.fill(0.0);
            sum.constraints.fill(Reaction::default());
            through = self.beside(t, q, u, |s, weight, _| {
                s.m.globals();
                s.m.body_accelerations(&mut out.a);
                if out.loaded {
                    reaction::fill(&s.m, &s.loads, out);
                }
                for (s, o) in sum.a.iter_mut().zip(&out.a) {
                    *s = s.plus(&o.scaled(weight));
                }
                let ours = sum.reactions.iter_mut().chain(&mut sum.constraints);
                for (s, o) in ours.zip(out.reactions.iter().chain(&out.constraints)) {
                    s.force += o.force * weight;
                    s.torque += o.torque * weight;
                }
                for (s, o) in sum.efforts.iter_mut().zip(&out.efforts) {
                    *s += o * weight;
                }
            });
            if through {
                self.flagged += 1;
                self.m.globals();
                out.a = sum.a;
                out.reactions = sum.reactions;
                out.efforts = sum.efforts;
                out.constraints = sum.constraints;
            }
        }
        if !through {
            if !closed {
                self.m.take(t, q, u);
                if !self.lost() && self.m.close(t, q, u).is_err() {
                    self.m.take(t, q, u);
                }
            }
            self.accelerate(t)?;
            self.m.globals();
            self.m.body_accelerations(&mut out.a);
        }
        out.t = t;
        out.q.copy_from_slice(&self.m.poses);
        out.v.copy_from_slice(&self.m.velocities);
        for (k, a) in self.m.model.angles.iter().enumerate() {
            let [i, j] = a.bodies.map(|b| &self.m.poses[b.index()]);
            out.turns[k] = a.value(i, j, self.m.turns[k]);
        }
        out.z.copy_from_slice(z);
        out.work = y[stored + n];
        if !through && out.loaded {
            reaction::fill(&self.m, &self.loads, out);
        }
        self.errors(out);
        Ok(())
    }
}

impl System for Grcr<'_> {
    fn stored(&self) -> usize {
        self.carried.len() + self.m.tree.stored + self.m.tree.speeds + 1
    }

    fn size(&self) -> usize {
        self.carried.len() + 2 * self.m.tree.speeds + 1
    }

    fn auxiliaries(&self) -> usize {
        self.carried.len()
    }

    fn replaced(&mut self, y: &[f64]) {
        // Inputs move nothing: a closed state stays closed.
        let n = self.carried.len();
        for (_, kept) in [&mut self.last, &mut self.accepted] {
            if kept[n..] == y[n..] {
                kept[..n].copy_from_slice(&y[..n]);
            }
        }
    }

    fn start(&self, y: &mut [f64]) {
        y.copy_from_slice(&self.start);
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        let z = self.carried.len();
        (0..z).for_each(|k| to[k] = from[k] + d[k]);
        let (from, d, to) = (&from[z..], &d[z..], &mut to[z..]);
        self.m.retracted(from, d, &mut to[..stored]);
        for k in 0..=n {
            to[stored + k] = from[stored + k] + d[n + k];
        }
    }

    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let (d, f) = (&d[self.carried.len()..], &mut f[self.carried.len()..]);
        for n in &self.m.tree.turning {
            let n = &self.m.tree.nodes[*n];
            n.kind.pull_back(&d[n.u..], &mut f[n.u..]);
        }
    }

    fn fits(&self, d: &[f64]) -> bool {
        let d = &d[self.carried.len()..];
        let turning = |n: &usize| {
            let n = &self.m.tree.nodes[*n];
            n.kind.fits(&d[n.u..])
        };
        let largest = largest_turn(self.m.model);
        self.m.tree.turning.iter().all(turning) && self.counted.iter().all(|(c, factor)| (d[*c] * factor).abs() < largest)
    }

    fn begin(&mut self) {
        if std::mem::take(&mut self.leave) {
            self.holding = false;
        }
        if std::mem::take(&mut self.look) {
            self.switch();
        }
    }

    fn renewed(&mut self) -> bool {
        self.begin_again()
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        self.redo = None;
        let at_hand = std::mem::replace(&mut self.last.0, f64::NAN) == t && self.last.1 == y;
        let accepted = self.accepted.0 == t && self.accepted.1 == y;
        let whole = y;
        let (z, y) = y.split_at(self.carried.len());
        let (rates, f) = f.split_at_mut(self.carried.len());
        self.m.z.copy_from_slice(z);
        let (q, u) = (&y[..stored], &y[stored..stored + n]);
        let closed = if accepted && at_hand {
            self.m.drive(t);
            self.holding || !self.lost()
        } else if accepted || self.holding {
            self.m.take(t, q, u);
            self.holding || !self.lost()
        } else {
            self.m.close_above(LOST, t, q, u)?
        };
        // Past a near miss no set is good, but the set in use may reach its dead position while another one does not.
        if !accepted && self.weak_inside() {
            return Err(begun_again(t));
        }
        if !closed && self.plain {
            return Err(self.breaks(t));
        }
        if closed {
            f[2 * n] = self.accelerate(t)?;
            f[n..2 * n].copy_from_slice(&self.m.udot);
            if !self.rates(t, rates) {
                return Err(not_finite(t));
            }
        } else {
            f[n..].fill(0.0);
            rates.fill(0.0);
            let through = self.beside(t, q, u, |s, weight, power| {
                s.add_rates(t, weight, rates);
                f[n..2 * n].iter_mut().zip(&s.m.udot).for_each(|(f, a)| *f += weight * a);
                f[2 * n] += weight * power;
            });
            if !through {
                self.redo = Some(Redo::Hold);
                return Err(begun_again(t));
            }
        }
        f[..n].copy_from_slice(&self.m.u);
        self.usual.copy_from_slice(&f[n..2 * n]);
        if !self.holding {
            self.last.0 = t;
            self.last.1.copy_from_slice(whole);
        }
        Ok(())
    }

    fn error(&self, y: &[f64], d: &[f64]) -> f64 {
        let n = self.m.tree.speeds;
        let (z, d) = d.split_at(self.carried.len());
        let worst = self.m.model.length * self.carried.error(y, z, self.tau);
        // Not max: NaN must be preserved.
        if worst.is_nan() {
            return worst;
        }
        let (dq, du) = d.split_at(n);
        let columns = self.size_of_columns(dq, du);
        if columns > worst || columns.is_nan() { columns } else { worst }
    }

    fn error_at_end(&mut self, t: f64, end: &[f64], y: &[f64], d: &[f64]) -> f64 {
        let plain = self.error(y, d);
        let sine = self.m.closure.smallest.0;
        // Below this range rounding would dominate the error; passages are treated separately.
        if self.m.closings.is_empty() || self.holding || !(WEAK..CLEAR).contains(&sine) || !plain.is_finite() {
            return plain;
        }
        match self.error_when_closed(t, end, d) {
            Some(closed) if closed < plain => plain,
            Some(closed) => closed,
            None => plain / (sine * sine),
        }
    }

    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        self.redo = None;
        let mut changed = false;
        let at_hand = self.last.0 == t && self.last.1 == y;
        self.last.0 = f64::NAN;
        self.carried.accept(y, self.tau);
        let z = self.carried.len();
        self.m.z.copy_from_slice(&y[..z]);
        let (q, u) = (&y[z..z + stored], &y[z + stored..z + stored + n]);
        if self.holding {
            (changed, self.leave) = self.end_held(t, q, u);
        } else if !at_hand && !self.m.close_above(LOST, t, q, u)? && !self.beside(t, q, u, |_, _, _| ()) {
            self.redo = Some(Redo::Hold);
            return Err(begun_again(t));
        }
        // The derivative of the corrected state is the same, since every evaluation corrects the state.
        y[z..z + stored].copy_from_slice(&self.m.q);
        y[z + stored..z + stored + n].copy_from_slice(&self.m.u);
        self.m.count_turns();
        self.changes = 0;
        self.accepted.0 = t;
        self.accepted.1.copy_from_slice(y);
        if !self.m.closings.is_empty() {
            let (sine, _) = self.m.closure.smallest;
            if sine > 2.0 * WEAK {
                self.search_below = WEAK;
            }
            self.look = sine < self.search_below;
            self.inside_below = self.below_inside();
        }
        self.last.0 = t;
        self.last.1.copy_from_slice(y);
        Ok(changed)
    }

    fn parts(&self, d: &[f64]) -> usize {
        if self.m.closings.is_empty() { 1 } else { self.passages.parts(self.size(d)) }
    }

    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        let y = &y[self.carried.len()..];
        let (q, u) = (&y[..stored], &y[stored..stored + n]);
        if self.m.closings.is_empty() || !self.passages.due(t, self.size(u)) {
            return;
        }
        if !accepted {
            self.last.0 = f64::NAN;
            self.m.take(t, q, u);
        }
        self.m.globals();
        let m = &self.m;
        self.passages.look(t, &m.poses, &m.velocities, &mut self.measure, |_, parts| m.closure.sines(parts));
    }

    fn model(&self) -> Option<&Model> {
        Some(self.m.model)
    }

    fn glance(&mut self, t: f64, y: &[f64], out: &mut Configuration) -> bool {
        // The tree is at the accepted state unless another state was evaluated; then it is placed there, without its loops.
        if self.last.0 != t || self.last.1 != y {
            let (stored, z) = (self.m.tree.stored, self.carried.len());
            self.last.0 = f64::NAN;
            self.m.stand_at(&y[z..z + stored], &y[z + stored..z + stored + self.m.tree.speeds]);
        }
        self.m.globals();
        out.t = t;
        out.q.copy_from_slice(&self.m.poses);
        out.v.copy_from_slice(&self.m.velocities);
        out.turns.copy_from_slice(&self.m.turns);
        crate::analysis::assembly::update_turns(self.m.model, &out.q, &mut out.turns);
        out.z.copy_from_slice(&y[..self.carried.len()]);
        true
    }

    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        // Outputs must not change the starting values of the next iteration between friction and loads.
        let loads = self.m.friction.then(|| self.m.loads.clone());
        let done = self.instant_at(t, y, out);
        if let Some(loads) = loads {
            self.m.loads = loads;
        }
        done
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.work.push(("accelerations", self.m.counts[0] as f64));
        outcome.work.push(("position_corrections", self.m.counts[1] as f64));
        outcome.work.push(("switches_of_dependents", self.switched as f64));
        outcome.notes.push(super::describe::summary(&self.m));
        if self.cut.is_some() {
            outcome.notes.push("loops are cut: the multipliers are solved from one dense matrix".into());
        }
        match self.m.closed {
            Closed::Positions => {}
            Closed::Velocities => outcome.notes.push("velocities are closed, positions drift".into()),
            Closed::Nothing => outcome.notes.push("accelerations alone are closed, positions and velocities drift".into()),
        }
        for (t, what) in &self.switches {
            outcome.notes.push(format!("t = {t:.5} s: {what}"));
        }
        if self.switched > self.switches.len() {
            outcome.notes.push(format!("and {} more", count(self.switched - self.switches.len(), "switch of dependents")));
        }
        if self.interpolated > 0 {
            outcome.notes.push(format!(
                "{} at singular positions interpolated from their surroundings; small errors grow there",
                count(self.interpolated, "evaluation")
            ));
        }
        if self.m.fronts.weightless.is_some() {
            let name = self.m.fronts.weightless.map(|c| self.m.column_name(c)).unwrap_or_default();
            outcome.notes.push(format!("{name} has no inertia and is held at its speed"));
        }
        if self.flagged > 0 {
            let many = count(self.flagged, "output time");
            outcome.warnings.push(
                Diagnostic::new(
                    "W231",
                    format!("at {many} the reactions are not well defined, because the mechanism is at a singular position"),
                )
                .help("read reactions near singular positions with care"),
            );
        }
        outcome.singular.append(&mut self.passages.found);
    }

    fn save(&self) -> Value {
        json!({
            "turns": self.m.turns,
            "loads": self.m.loads,
            "carried": self.carried.save(),
            "selection": self.m.save_selection(),
            "usual": self.usual,
            "accepted_at": self.accepted.0,
            "accepted": self.accepted.1,
            "search_below": self.search_below,
            "flags": [self.look, self.holding, self.leave],
            "passages": self.passages.save(),
            "counts": [self.m.counts[0], self.m.counts[1], self.switched, self.interpolated, self.flagged],
            "switches": self.switches,
        })
    }

    fn restore(&mut self, v: &Value) {
        let turns = numbers(&v["turns"]);
        if turns.len() == self.m.turns.len() {
            self.m.turns = turns;
        }
        // The iteration between friction and loads starts from the last results.
        let loads = numbers(&v["loads"]);
        if loads.len() == self.m.loads.len() {
            self.m.loads = loads;
        }
        self.carried.restore(&v["carried"]);
        let usual = numbers(&v["usual"]);
        if usual.len() == self.usual.len() {
            self.usual = usual;
        }
        let accepted = numbers(&v["accepted"]);
        if accepted.len() == self.accepted.1.len() {
            self.accepted = (v["accepted_at"].as_f64().unwrap_or(f64::NAN), accepted);
        }
        self.last.0 = f64::NAN;
        self.m.restore_selection(&v["selection"]);
        if let Some(cut) = &mut self.cut {
            *cut = Cut::new(&self.m);
        }
        self.search_below = v["search_below"].as_f64().unwrap_or(WEAK);
        self.inside_below = self.below_inside();
        let flag = |k: usize| v["flags"][k].as_bool().unwrap_or(false);
        (self.look, self.holding, self.leave) = (flag(0), flag(1), flag(2));
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let n = &v["counts"];
        self.m.counts = [whole(&n[0]), whole(&n[1])];
        (self.switched, self.interpolated, self.flagged) = (whole(&n[2]), whole(&n[3]), whole(&n[4]));
        self.switches = serde_json::from_value(v["switches"].clone()).unwrap_or_default();
        self.passages.restore(&v["passages"]);
    }
}
