//! Divide and conquer as a first-order system on `(SO(3) x R^3 x R^6)^n`, for the explicit methods.
//!
//! A state stores per body `r, A, v, omega_bar` (18 numbers) and the work; an increment `dr, theta_bar, dv, domega_bar`. After
//! every step positions and velocities are projected [Malczyk12, section 4.4]: the factors of the last stage serve the
//! position, those at the projected position the velocity and the first stage of the next step.

use super::geometric::geometric;
use super::options::{Options, Projection, Stages};
use super::solver::{Counts, Solver, State};
use crate::analysis::assembly::update_turns;
use crate::diagnostic::Diagnostic;
use crate::force::eval;
use crate::integrator::first_order::{self, Carried, System, largest_turn};
use crate::model::Model;
use crate::motion::{Instant, LeastLoads, Motion, Outcome, Poorly, numbers};
use crate::settings::Study;
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// Integrators, the default first.
pub const INTEGRATORS: &[&str] = &["dopri5", "dop853", "rkf45", "rk4", "heun", "euler"];

/// Numbers of a body in a state, and in an increment.
const STORED: usize = 18;
const MOVED: usize = 12;

/// Stages that projection moves by less than this fraction of the characteristic length keep their factors: the convergence rate with
/// factors of another pose is about the penalty times the square of the distance.
const NEARBY: f64 = 1e-7;

/// Starts the formulation.
pub fn start<'m>(
    structure: &Structure<'m>,
    study: &Study,
    integrator: &'static str,
    from: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let options = Options::new(study)?;
    if options.seven {
        let system = Dca::<7>::new(structure, options, from);
        return first_order::start(system, structure.model, study, integrator, from.t);
    }
    let system = Dca::<6>::new(structure, options, from);
    first_order::start(system, structure.model, study, integrator, from.t)
}

/// The system with its workspace.
pub struct Dca<'m, const B: usize = 6> {
    model: &'m Model,
    /// Tree, factors and iterations.
    pub solver: Solver<'m, B>,
    projection: Projection,
    /// Whether stages are projected.
    project_stages: bool,
    tau: f64,
    start: Configuration,
    /// Counted angles at the last accepted step.
    turns: Vec<f64>,
    passages: Passages,
    measure: Massless<'m>,
    /// Whether singular positions are searched for.
    watched: bool,
    poorly: Poorly,
    loads: LeastLoads,
    notes: Vec<String>,
    /// Workspace: state and accelerations of an evaluation, counted angles at output times, rows.
    q: Vec<Pose>,
    v: Vec<Twist>,
    a: Vec<Twist>,
    out_turns: Vec<f64>,
    carried: Carried,
    nu: Vec<f64>,
    works: bool,
}

fn vector(y: &[f64]) -> Vector3<f64> {
    Vector3::new(y[0], y[1], y[2])
}

fn unpack(y: &[f64], q: &mut [Pose], v: &mut [Twist]) {
    for ((y, q), v) in y.chunks_exact(STORED).zip(&mut q[1..]).zip(&mut v[1..]) {
        *q = Pose { r: vector(y), A: Matrix3::from_column_slice(&y[3..12]) };
        *v = Twist { v: vector(&y[12..]), w: vector(&y[15..]) };
    }
}

fn pack(q: &[Pose], v: &[Twist], y: &mut [f64]) {
    for ((y, q), v) in y.chunks_exact_mut(STORED).zip(&q[1..]).zip(&v[1..]) {
        y[..3].copy_from_slice(q.r.as_slice());
        y[3..12].copy_from_slice(q.A.as_slice());
        y[12..15].copy_from_slice(v.v.as_slice());
        y[15..18].copy_from_slice(v.w.as_slice());
    }
}

fn not_finite(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S232", format!("the accelerations at t = {t:.6} s are not finite"))
            .time(t)
            .help("a force grows without bound there, or the state has diverged; check the motion before this time"),
    )
}

fn not_closed(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S233", format!("the constraints cannot be closed again after the step to t = {t:.6} s"))
            .time(t)
            .help("a drive demands a position that the mechanism cannot reach, or the step is too large; see `fourbar check`"),
    )
}

impl<'m, const B: usize> Dca<'m, B> {
    /// The system of a model from a consistent start.
    pub fn new(structure: &Structure<'m>, options: Options, from: &Configuration) -> Self {
        let model = structure.model;
        let solver = Solver::<B>::of(model, &structure.rows, &from.q, options.settings);
        let mut notes = vec![format!(
            "{} levels over {} bodies, widest front {} coordinates",
            solver.tree.levels(),
            model.moving(),
            B * solver.tree.widest()
        )];
        let project_stages = options.projection == Projection::Step
            && match options.stages {
                Stages::Project => true,
                Stages::Plain => false,
                Stages::Auto => match geometric(model, from) {
                    Some(true) => {
                        notes.push("redundancy depends on the geometry: every stage is projected (`stages=project`)".into());
                        true
                    }
                    Some(false) => false,
                    None => {
                        notes.push(
                            "too large to check for redundancy that depends on the geometry; `stages=project` avoids its effects".into(),
                        );
                        false
                    }
                },
            };
        let n = model.bodies.len();
        let mut made = Self {
            loads: LeastLoads::new(model, &solver.set, &from.q),
            passages: Passages::new(model.length, model.bodies.len()),
            measure: Massless::new(structure),
            // Off the constraints, redundant rows may become independent and hide a singular position.
            watched: options.projection == Projection::Step && structure.looped,
            poorly: Poorly::default(),
            nu: vec![0.0; solver.set.rows()],
            solver,
            model,
            projection: options.projection,
            project_stages,
            tau: options.tau,
            start: from.clone(),
            turns: from.turns.clone(),
            notes,
            q: from.q.clone(),
            v: from.v.clone(),
            a: vec![Twist::zero(); n],
            out_turns: from.turns.clone(),
            carried: Carried::new(model, from),
            works: model.has_work(),
        };
        made.look(from.t, &[], true);
        made
    }

    /// Work done so far.
    pub fn counts(&self) -> Counts {
        self.solver.counts
    }

    /// Reads a state.
    fn unpack(&mut self, y: &[f64]) {
        let (z, y) = y.split_at(self.carried.len());
        self.carried.z.copy_from_slice(z);
        unpack(y, &mut self.q, &mut self.v);
    }

    /// Accelerations at the state in `q`, `v`, which is projected first if stages are.
    fn evaluate(&mut self, t: f64) -> Result<(), Box<Diagnostic>> {
        let mut keep = false;
        if self.project_stages {
            let Some(moved) = self.solver.project_position(t, &self.turns, &mut self.q) else { return Err(not_closed(t)) };
            keep = moved < NEARBY * self.model.length;
            self.solver.project_velocity(t, &self.q, &self.turns, keep, &mut self.v);
        }
        let s = State { t, q: &self.q, v: &self.v, turns: &self.turns, z: &self.carried.z };
        let ended = self.solver.accelerate(&s, keep, &mut self.a);
        if ended.change.is_finite() { Ok(()) } else { Err(not_finite(t)) }
    }

    /// Power of drives and of forces without a potential, with the multipliers of the last evaluation.
    fn power(&mut self, t: f64) -> f64 {
        if !self.works {
            return 0.0;
        }
        self.solver.set.nu(t, &mut self.nu);
        let drives: f64 = self.solver.lambda.iter().zip(&self.nu).map(|(l, n)| -l * n).sum();
        let x = eval::Plain { t, q: &self.q, v: &self.v, turns: &self.turns, loads: self.solver.loads(), z: &self.carried.z };
        drives + eval::power(self.model, &x)
    }
}

impl<const B: usize> System for Dca<'_, B> {
    fn stored(&self) -> usize {
        self.carried.len() + STORED * self.model.moving() + 1
    }

    fn size(&self) -> usize {
        self.carried.len() + MOVED * self.model.moving() + 1
    }

    fn auxiliaries(&self) -> usize {
        self.carried.len()
    }

    fn start(&self, y: &mut [f64]) {
        let (z, y) = y.split_at_mut(self.carried.len());
        z.copy_from_slice(&self.start.z);
        pack(&self.start.q, &self.start.v, y);
        y[STORED * self.model.moving()] = 0.0;
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let n = self.carried.len();
        (0..n).for_each(|k| to[k] = from[k] + d[k]);
        let (from, d, to) = (&from[n..], &d[n..], &mut to[n..]);
        let n = self.model.moving();
        for ((y, d), to) in from.chunks_exact(STORED).zip(d.chunks_exact(MOVED)).zip(to.chunks_exact_mut(STORED)).take(n) {
            let A = so3::orthonormalise(&(Matrix3::from_column_slice(&y[3..12]) * so3::exp(&vector(&d[3..]))));
            to[3..12].copy_from_slice(A.as_slice());
            for k in 0..3 {
                to[k] = y[k] + d[k];
                to[12 + k] = y[12 + k] + d[6 + k];
                to[15 + k] = y[15 + k] + d[9 + k];
            }
        }
        to[STORED * n] = from[STORED * n] + d[MOVED * n];
    }

    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let (d, f) = (&d[self.carried.len()..], &mut f[self.carried.len()..]);
        for (d, f) in d.chunks_exact(MOVED).zip(f.chunks_exact_mut(MOVED)) {
            let rate = so3::tangent_inv(&vector(&d[3..])) * vector(&f[3..]);
            f[3..6].copy_from_slice(rate.as_slice());
        }
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        self.unpack(y);
        self.solver.choose(t);
        self.evaluate(t)?;
        let (rates, f) = f.split_at_mut(self.carried.len());
        let z = std::mem::take(&mut self.carried.z);
        let x = eval::Plain { t, q: &self.q, v: &self.v, turns: &self.turns, loads: self.solver.loads(), z: &z };
        let finite = self.carried.derivative(self.model, &x, rates);
        self.carried.z = z;
        if !finite {
            return Err(not_finite(t));
        }
        for (f, (v, a)) in f.chunks_exact_mut(MOVED).zip(self.v[1..].iter().zip(&self.a[1..])) {
            for (part, x) in f.chunks_exact_mut(3).zip([&v.v, &v.w, &a.v, &a.w]) {
                part.copy_from_slice(x.as_slice());
            }
        }
        f[MOVED * self.model.moving()] = self.power(t);
        Ok(())
    }

    fn fits(&self, d: &[f64]) -> bool {
        let largest = largest_turn(self.model);
        let d = &d[self.carried.len()..];
        d.chunks_exact(MOVED).all(|d| vector(&d[3..]).norm_squared() < largest * largest)
    }

    fn error(&self, y: &[f64], d: &[f64]) -> f64 {
        let (L, tau) = (self.model.length, self.tau);
        let (z, d) = d.split_at(self.carried.len());
        let mut most = L * self.carried.error(y, z, tau);
        if most.is_nan() {
            return most;
        }
        for d in d.chunks_exact(MOVED).take(self.model.moving()) {
            let [r, theta, v, omega] = [0, 3, 6, 9].map(|k| vector(&d[k..]).norm());
            let size = r.max(L * theta).max(tau * v).max(tau * L * omega);
            // A maximum would hide NaN.
            most = if size.is_nan() || (r + theta + v + omega).is_nan() { f64::NAN } else { most.max(size) };
            if most.is_nan() {
                return most;
            }
        }
        most
    }

    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        self.carried.accept(y, self.tau);
        self.unpack(y);
        let y = &mut y[self.carried.len()..];
        self.solver.choose(t);
        let changed = self.projection == Projection::Step;
        if changed {
            if self.solver.project_position(t, &self.turns, &mut self.q).is_none() {
                return Err(not_closed(t));
            }
            let ended = self.solver.project_velocity(t, &self.q, &self.turns, false, &mut self.v);
            if !ended.change.is_finite() {
                return Err(not_finite(t));
            }
            pack(&self.q, &self.v, y);
        }
        update_turns(self.model, &self.q, &mut self.turns);
        Ok(changed)
    }

    fn parts(&self, d: &[f64]) -> usize {
        if !self.watched {
            return 1;
        }
        let bodies = d.chunks_exact(MOVED).take(self.model.moving());
        self.passages.parts(bodies.fold(0.0_f64, |m, d| m.max(vector(d).norm() / self.model.length).max(vector(&d[3..]).norm())))
    }

    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        if !self.watched {
            return;
        }
        if !accepted {
            unpack(y, &mut self.q, &mut self.v);
            self.solver.choose(t);
        }
        if self.passages.due(t, self.passages.speed(&self.v)) {
            // Where rows become dependent, `det K` falls steeply: with the singular values `s` of the weighted rows it is the product of
            // all `1 + s^2`. Permanently redundant rows and free motions have no effect.
            let log = self.solver.half_log_det(t, &self.q);
            self.passages.look(t, &self.q, &self.v, &mut self.measure, |_, _| log);
        }
    }

    fn model(&self) -> Option<&Model> {
        Some(self.model)
    }

    fn glance(&mut self, t: f64, y: &[f64], out: &mut Configuration) -> bool {
        let (z, y) = y.split_at(self.carried.len());
        out.t = t;
        out.z.copy_from_slice(z);
        unpack(y, &mut out.q, &mut out.v);
        out.turns.copy_from_slice(&self.turns);
        update_turns(self.model, &out.q, &mut out.turns);
        true
    }

    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        self.unpack(y);
        let y = &y[self.carried.len()..];
        self.solver.choose(t);
        self.out_turns.copy_from_slice(&self.turns);
        if self.projection == Projection::Step {
            // Near a singular position the nearest closed pose may not be found; the step's interpolant satisfies the constraints to its
            // tolerance.
            if self.solver.project_position(t, &self.out_turns, &mut self.q).is_none() {
                unpack(y, &mut self.q, &mut self.v);
            }
            self.solver.project_velocity(t, &self.q, &self.out_turns, false, &mut self.v);
        }
        update_turns(self.model, &self.q, &mut self.out_turns);
        let s = State { t, q: &self.q, v: &self.v, turns: &self.out_turns, z: &self.carried.z };
        let ended = self.solver.accelerate(&s, false, &mut self.a);
        if !ended.change.is_finite() {
            return Err(not_finite(t));
        }
        let known = self.solver.refine(&s, &mut self.a);
        self.solver.counts.refined += known.rounds;
        self.poorly.note(known.error, t, || self.solver.weakest());
        out.errors = self.solver.errors(&s, &self.a);
        out.t = t;
        out.q.copy_from_slice(&self.q);
        out.v.copy_from_slice(&self.v);
        out.a.copy_from_slice(&self.a);
        out.turns.copy_from_slice(&self.out_turns);
        out.z.copy_from_slice(&self.carried.z);
        out.work = y[STORED * self.model.moving()];
        self.loads.fill(self.model, &self.solver.set, &self.solver.lambda, out);
        Ok(())
    }

    fn report(&mut self, outcome: &mut Outcome) {
        let c = self.solver.counts;
        let mean = |a: usize, b: usize| a as f64 / b.max(1) as f64;
        outcome.work.extend([
            ("factorisations", c.factorisations as f64),
            ("mean_iterations", mean(c.iterations, c.accelerations)),
            ("most_iterations", c.most as f64),
            ("mean_position_passes", mean(c.positions[1], c.positions[0])),
            ("mean_velocity_passes", mean(c.velocities[1], c.velocities[0])),
            ("multiplier_rounds", c.refined as f64),
            ("near_singular_evaluations", c.unfinished as f64),
            ("tree_levels", self.solver.tree.levels() as f64),
        ]);
        outcome.notes.append(&mut self.notes);
        outcome.warnings.extend(self.poorly.warning());
        outcome.singular.append(&mut self.passages.found);
    }

    fn save(&self) -> Value {
        json!({
            "turns": self.turns,
            "carried": self.carried.save(),
            "loads": self.solver.loads(),
            "counts": self.solver.counts.save(),
            "passages": self.passages.save(),
            "poorly": self.poorly.save(),
        })
    }

    fn restore(&mut self, saved: &Value) {
        let turns = numbers(&saved["turns"]);
        if turns.len() == self.turns.len() {
            self.turns.copy_from_slice(&turns);
        }
        self.carried.restore(&saved["carried"]);
        self.solver.set_loads(&numbers(&saved["loads"]));
        self.solver.counts = Counts::restored(std::array::from_fn(|k| saved["counts"][k].as_u64().unwrap_or(0) as usize));
        self.passages.restore(&saved["passages"]);
        self.poorly.restore(&saved["poorly"]);
    }
}
