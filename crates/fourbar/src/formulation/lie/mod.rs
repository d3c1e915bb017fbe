//! Index-1 equations on a Lie group: `se3`, `so3xr3`, and `lie`, which chooses between them body by body \[Mueller13\].
//!
//! The equations are those of rA (`M v_dot + Phi_q^T lambda = f`, `Phi_q v_dot = gamma`), solved with the same sparse factor and the same
//! treatment of redundant rows; only the state space differs, and with it the composition of a finite motion from velocities. Eqs. (39),
//! (41), (45), (48) write the same equations per representation; here they are solved in `(r_dot, omega_bar)` and turned into body-fixed
//! rates where the body moves on SE(3).
//!
//! Departures from the paper: it lets the constraints drift, which is `constraints=none` here. `baumgarte` adds decaying terms to `gamma`,
//! `project`, the default, projects onto the constraints after each step in the metric of the masses.

mod group_choice;
mod named_spaces;
mod project;
mod space;
mod state_space;
mod yielding;

pub use group_choice::tailored;
pub use space::Space;
pub use yielding::Yielding;

use crate::absolute::equations::Equations;
use crate::analysis::assembly::update_turns;
use crate::diagnostic::Diagnostic;
use crate::force::eval::Plain;
use crate::integrator::first_order::{self, Carried, System, largest_turn};
use crate::model::Model;
use crate::motion::{Instant, LeastLoads, Motion, Outcome, numbers};
use crate::settings::{Study, count};
use crate::settings::{positive, tau, word};
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::singular::{Detector, regular_pivot};
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use fourbar_math::so3;
use named_spaces::named_spaces;
use serde_json::{Value, json};

/// Below this pivot the reactions of an output count as ill-defined only if singular values confirm it.
const ILL_DEFINED: f64 = 1e-6;

/// The option value that selects the state-space form.
const INDEPENDENT: &str = "independent";

/// Where drives leave no freedom, redundant rows are no longer made compliant once the smallest pivot of the others has fallen below this
/// at a regular pose: a direction that the other rows hardly constrain needs them there. This improves the efforts of the drives in a
/// prescribed motion; it would disturb a free motion, since the multipliers act against each other.
const HOLDING: f64 = 3e-3;

/// Treatment of constraint violations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drift {
    /// They grow, as in the paper.
    None,
    /// They decay at this rate.
    Baumgarte(f64),
    /// They are removed after each step.
    Project,
}

/// The bodies of a mechanism in their groups.
pub struct Lie<'m> {
    equations: Equations<'m>,
    /// The state space.
    pub space: Space,
    /// Constraint handling.
    pub drift: Drift,
    note: Option<String>,
    /// Compliance of redundant rows in stages.
    yielding: Yielding,
    loads: LeastLoads,
    detector: Detector,
    passages: Passages,
    measure: Massless<'m>,
    /// Workspace for the state in global terms.
    q: Vec<Pose>,
    v: Vec<Twist>,
    /// Accelerations and multipliers of the last solve.
    a: Vec<Twist>,
    lambda: Vec<f64>,
    /// Counted angles at the last accepted step.
    turns: Vec<f64>,
    carried: Carried,
    start: Configuration,
    /// Whether any forces besides potentials do work.
    worked: bool,
    /// Time by which velocities are multiplied to count as lengths.
    tau: f64,
    projections: usize,
    flagged: usize,
    /// Whether singular positions are possible at all.
    watched: bool,
    /// Whether redundant rows are as stiff as the others, and the pivot on which that was decided.
    holding: bool,
    decided: f64,
    /// Whether all rows are equally stiff in the present step.
    even: bool,
}

/// The motion of every body on SE(3).
pub fn start_se3<'m>(m: &Structure<'m>, s: &Study, i: &'static str, c: &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let mut screw = vec![true; m.model.bodies.len()];
    screw[0] = false;
    start(m, s, i, c, Space { screw }, None)
}

/// The motion of every body on SO(3) x R3, or in state space.
pub fn start_so3xr3<'m>(m: &Structure<'m>, s: &Study, i: &'static str, c: &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    if s.options.iter().rev().find(|(k, _)| k == "constraints").is_some_and(|(_, word)| word == INDEPENDENT) {
        return state_space::start(m, s, i, c);
    }
    start(m, s, i, c, Space { screw: vec![false; m.model.bodies.len()] }, None)
}

/// The motion with the group chosen for each body.
pub fn start_lie<'m>(m: &Structure<'m>, s: &Study, i: &'static str, c: &Configuration) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let (mut space, mut note) = tailored(m.model, &c.q);
    if let Some((_, text)) = s.options.iter().rev().find(|(k, _)| k == "spaces") {
        note = named_spaces(m.model, text, &mut space)?;
    }
    start(m, s, i, c, space, Some(note))
}

fn start<'m>(
    structure: &Structure<'m>,
    study: &Study,
    integrator: &'static str,
    at: &Configuration,
    space: Space,
    note: Option<String>,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let mut system = Lie::new(structure, at, space, drift(study)?);
    system.note = note;
    system.tau = tau(study)?;
    first_order::start(system, structure.model, study, integrator, at.t)
}

/// The option `constraints`, and the associated `rate`.
fn drift(study: &Study) -> Result<Drift, Diagnostic> {
    // Stages inside a step violate the constraints because of their lower order; a rate far below 1 / h does not treat that as drift.
    let usual = study.step.map_or(50.0 / study.t_end, |h| 0.02 / h);
    let rate = positive(&study.options, "rate")?.unwrap_or(usual);
    word(&study.options, "constraints", &[("project", Drift::Project), ("none", Drift::None), ("baumgarte", Drift::Baumgarte(rate))])
}

/// The consistent configuration next to one that violates the constraints by no more than the errors of a step: positions, then velocities,
/// are corrected to rounding by the smallest change in the metric of the masses.
pub fn closed(model: &Model, at: &Configuration) -> Result<Configuration, Box<Diagnostic>> {
    let mut system = Lie::new(&Structure::new(model, at), at, Space { screw: vec![false; model.bodies.len()] }, Drift::Project);
    system.equations.set.choose(at.t);
    system.project(at.t)?;
    for q in &mut system.q[1..] {
        q.A = so3::orthonormalise(&q.A);
    }
    let mut turns = at.turns.clone();
    update_turns(model, &system.q, &mut turns);
    Ok(Configuration { t: at.t, q: system.q, v: system.v, turns, z: at.z.clone() })
}

impl<'m> Lie<'m> {
    /// A system at a consistent configuration.
    pub fn new(structure: &Structure<'m>, at: &Configuration, space: Space, drift: Drift) -> Self {
        let model = structure.model;
        let mut equations = Equations::of(model, structure.rows.clone(), at);
        let n = model.bodies.len();
        let detector = Detector::new(structure, at);
        let yielding = Yielding::new(&mut equations, detector.generic_rank());
        let (mut passages, mut measure) = (Passages::new(model.length, n), Massless::new(structure));
        measure.look(&mut passages, at.t, &at.q, &at.v);
        let mut made = Self {
            loads: structure.reactions(&at.q),
            detector,
            passages,
            measure,
            q: at.q.clone(),
            v: at.v.clone(),
            a: vec![Twist::zero(); n],
            lambda: vec![0.0; equations.set.rows()],
            turns: at.turns.clone(),
            carried: Carried::new(model, at),
            start: at.clone(),
            worked: model.has_work(),
            tau: 0.1,
            projections: 0,
            flagged: 0,
            watched: structure.looped,
            note: None,
            holding: false,
            decided: 1.0,
            even: false,
            yielding,
            equations,
            space,
            drift,
        };
        made.set_compliance();
        made
    }

    /// Renews the decision about redundant rows when the smallest pivot of the others has changed.
    fn watch_yielding(&mut self) {
        let e = &self.equations;
        if !self.detector.is_prescribed(e.model) {
            return;
        }
        let pivot = regular_pivot(e.p.schur.pivots(), &self.yielding.rows).0.min(HOLDING);
        if pivot < 2.0 * self.decided && self.decided < 2.0 * pivot {
            return;
        }
        self.decided = pivot;
        self.holding = pivot < HOLDING && self.yielding.rows.contains(&true) && self.detector.is_regular(e.model, &e.set, &self.q);
    }

    /// Chooses and sets the compliance in the stages of a step. Friction acts on the reported reactions, so that rows share loads equally
    /// in both cases.
    fn set_compliance(&mut self) {
        self.even = self.holding || !self.equations.loads.is_empty();
        self.yielding.choose();
        self.write_compliance();
    }

    /// Sets the compliance chosen last.
    fn write_compliance(&mut self) {
        if self.even {
            self.equations.eps.copy_from_slice(&self.yielding.even);
        } else {
            self.yielding.write(&mut self.equations.eps);
        }
    }

    /// Accelerations, multipliers and power at the state in `q`, `v`.
    fn solve(&mut self, t: f64, polish: bool) -> f64 {
        let rate = match self.drift {
            // Outputs show the accelerations of the motion itself, without the stabilisation terms.
            Drift::Baumgarte(rate) if !polish => Some(rate),
            _ => None,
        };
        self.equations.accelerate((&self.q, &self.v, &self.turns, t), rate, polish, &mut self.a, &mut self.lambda);
        if self.worked { self.equations.power(&self.q, &self.v, &self.lambda, &self.turns, t) } else { 0.0 }
    }

    /// Reads a state; returns the part without inputs and states.
    fn unpack<'y>(&mut self, y: &'y [f64]) -> &'y [f64] {
        let (z, y) = y.split_at(self.carried.len());
        self.equations.z.copy_from_slice(z);
        self.space.unpack(y, &mut self.q, &mut self.v);
        y
    }

    fn finite(&self) -> bool {
        self.a.iter().map(|a| a.v.sum() + a.w.sum()).sum::<f64>().is_finite()
    }
}

/// Error of an evaluation with a non-finite number; the step is halved.
fn not_finite(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S232", format!("the accelerations at t = {t:.6} s are not finite"))
            .time(t)
            .help("a smaller step or tolerance may help; a singular position may be near"),
    )
}

/// The warning for outputs with ill-defined reactions.
fn ill_defined(outputs: usize) -> Option<Diagnostic> {
    (outputs > 0).then(|| {
        let many = count(outputs, "output time");
        Diagnostic::new("W231", format!("at {many} the reactions are not well defined, because the mechanism is at a singular position"))
            .help("read reactions near singular positions with care")
    })
}

impl System for Lie<'_> {
    fn stored(&self) -> usize {
        self.carried.len() + self.space.stored()
    }

    fn size(&self) -> usize {
        self.carried.len() + self.space.size()
    }

    fn auxiliaries(&self) -> usize {
        self.carried.len()
    }

    fn start(&self, y: &mut [f64]) {
        let (z, y) = y.split_at_mut(self.carried.len());
        z.copy_from_slice(&self.start.z);
        self.space.pack(&self.start.q, &self.start.v, y);
        y[self.space.stored() - 1] = 0.0;
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let n = self.carried.len();
        (0..n).for_each(|k| to[k] = from[k] + d[k]);
        self.space.moved(&from[n..], &d[n..], &mut to[n..]);
    }

    fn increment(&self, from: &[f64], to: &[f64], d: &mut [f64]) {
        let n = self.carried.len();
        (0..n).for_each(|k| d[k] = to[k] - from[k]);
        self.space.increment(&from[n..], &to[n..], &mut d[n..]);
    }

    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let n = self.carried.len();
        self.space.pull_back(&d[n..], &mut f[n..]);
    }

    /// The compliance of rows stays the same throughout a step, the stages of its interpolant included.
    fn begin(&mut self) {
        self.set_compliance();
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        let y = self.unpack(y);
        self.equations.set.choose(t);
        let power = self.solve(t, false);
        if !self.finite() {
            return Err(not_finite(t));
        }
        let (rates, f) = f.split_at_mut(self.carried.len());
        let e = &self.equations;
        let x = Plain { t, q: &self.q, v: &self.v, turns: &self.turns, loads: &e.loads.by_joint, z: &e.z };
        if !self.carried.derivative(e.model, &x, rates) {
            return Err(not_finite(t));
        }
        self.space.derivative(y, &self.q, &self.a, f);
        f[self.space.size() - 1] = power;
        Ok(())
    }

    fn fits(&self, d: &[f64]) -> bool {
        self.space.fits(&d[self.carried.len()..], largest_turn(self.equations.model))
    }

    fn error(&self, y: &[f64], d: &[f64]) -> f64 {
        let (z, d) = d.split_at(self.carried.len());
        let L = self.equations.model.length;
        let bodies = self.space.largest(d, L, self.tau);
        let carried = L * self.carried.error(y, z, self.tau);
        // Not max: NaN must be preserved.
        if carried > bodies || carried.is_nan() { carried } else { bodies }
    }

    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        self.carried.accept(y, self.tau);
        self.unpack(y);
        let y = &mut y[self.carried.len()..];
        self.equations.set.choose(t);
        // The factor is still that of the last stage.
        self.yielding.look(&self.equations);
        let mut changed = false;
        if self.drift == Drift::Project {
            changed = self.project(t)?;
            self.projections += usize::from(changed);
        }
        for q in &mut self.q[1..] {
            q.A = so3::orthonormalise(&q.A);
        }
        if changed {
            self.space.pack(&self.q, &self.v, y);
        } else {
            self.space.pack_poses(&self.q, y);
        }
        update_turns(self.equations.model, &self.q, &mut self.turns);
        self.watch_yielding();
        Ok(changed)
    }

    fn model(&self) -> Option<&Model> {
        Some(self.equations.model)
    }

    fn glance(&mut self, t: f64, y: &[f64], out: &mut Configuration) -> bool {
        let (z, y) = y.split_at(self.carried.len());
        out.t = t;
        out.z.copy_from_slice(z);
        self.space.unpack(y, &mut out.q, &mut out.v);
        out.turns.copy_from_slice(&self.turns);
        update_turns(self.equations.model, &out.q, &mut out.turns);
        true
    }

    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        self.unpack(y);
        self.equations.set.choose(t);
        if self.drift == Drift::Project {
            self.equations.jacobian(&self.q);
            self.equations.factor(1.0);
            self.project(t)?;
        }
        self.equations.refined = out.loaded;
        std::mem::swap(&mut self.equations.eps, &mut self.yielding.even);
        self.solve(t, true);
        std::mem::swap(&mut self.equations.eps, &mut self.yielding.even);
        if !self.finite() {
            return Err(not_finite(t));
        }
        out.t = t;
        out.q.copy_from_slice(&self.q);
        out.v.copy_from_slice(&self.v);
        out.a.copy_from_slice(&self.a);
        out.turns.copy_from_slice(&self.turns);
        out.z.copy_from_slice(&self.equations.z);
        update_turns(self.equations.model, &self.q, &mut out.turns);
        let e = &mut self.equations;
        if e.regular_pivot.0 < ILL_DEFINED && self.detector.is_singular(e.model, &e.set, &self.q) {
            self.flagged += 1;
        }
        self.loads.fill(e.model, &e.set, &self.lambda, out);
        out.work = y[y.len() - 1];
        out.errors = e.errors(&self.q, &self.v, &self.a, &out.turns, t);
        Ok(())
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.work.push(("factorisations", self.equations.factorisations as f64));
        outcome.work.push(("projected_steps", self.projections as f64));
        outcome.notes.extend(self.note.clone());
        match self.drift {
            Drift::Project => {}
            Drift::None => outcome.notes.push("constraints are left to drift".into()),
            Drift::Baumgarte(rate) => outcome.notes.push(format!("constraint violations decay at {rate:.4} 1/s (Baumgarte)")),
        }
        outcome.warnings.extend(ill_defined(self.flagged));
        outcome.warnings.extend(self.equations.poorly.warning());
        outcome.singular.append(&mut self.passages.found);
    }

    fn parts(&self, d: &[f64]) -> usize {
        if !self.watched {
            return 1;
        }
        // Velocities do not count.
        let L = self.equations.model.length;
        self.passages.parts(self.space.largest(&d[self.carried.len()..], L, 0.0) / L)
    }

    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        if !self.watched {
            return;
        }
        if !accepted {
            self.space.unpack(y, &mut self.q, &mut self.v);
        }
        self.measure.look(&mut self.passages, t, &self.q, &self.v);
    }

    fn save(&self) -> Value {
        json!({
            "turns": self.turns,
            "carried": self.carried.save(),
            "counts": [self.equations.factorisations, self.projections, self.flagged],
            "passages": self.passages.save(),
            "poorly": self.equations.poorly.save(),
            "holding": self.holding,
            "decided": self.decided,
            "weakest": self.yielding.weakest,
            "even": self.even,
            "share": self.yielding.share,
            "guess": self.equations.saved_guess(&self.a),
        })
    }

    fn restore(&mut self, v: &Value) {
        let turns = numbers(&v["turns"]);
        if turns.len() == self.turns.len() {
            self.turns = turns;
        }
        self.carried.restore(&v["carried"]);
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let n = &v["counts"];
        (self.equations.factorisations, self.projections, self.flagged) = (whole(&n[0]), whole(&n[1]), whole(&n[2]));
        self.passages.restore(&v["passages"]);
        self.equations.poorly.restore(&v["poorly"]);
        self.holding = v["holding"].as_bool().unwrap_or(false);
        self.decided = v["decided"].as_f64().unwrap_or(1.0);
        self.yielding.weakest = v["weakest"].as_f64().unwrap_or(1.0);
        self.even = v["even"].as_bool().unwrap_or(false);
        self.yielding.share = v["share"].as_f64().unwrap_or(self.yielding.share);
        Equations::restore_guess(&numbers(&v["guess"]), &mut self.a);
        self.write_compliance();
    }
}
