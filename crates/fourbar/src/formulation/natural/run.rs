//! Motion in natural coordinates: Taylor steps, poses from the series, reactions from the motion, monitoring and renewed choice of rows.

use super::refusals::nothing_moves;
use super::system::{LOCAL, System, choice};
use super::work::Power;
use crate::absolute::equations::Equations;
use crate::analysis::assembly::update_turns;
use crate::diagnostic::Diagnostic;
use crate::force::{Force, Law};
use crate::integrator::FLUNG;
use crate::integrator::control::{self, Stepping, next_end};
use crate::integrator::narrow::Narrow;
use crate::judge::little_energy;
use crate::model::Model;
use crate::motion::{Instant, LeastLoads, Motion, Outcome, bad_checkpoint, numbers};
use crate::settings::Study;
use crate::settings::tau;
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;
use fourbar_dae::{Error, Integrator, Node, Options, Problem};
use fourbar_math::elementary;
use fourbar_math::{Taylor, so3};
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};
use std::sync::Arc;

/// A pivot below this fraction of the largest seen, whatever the rows in use, indicates a singular position nearby.
const NEAR: f64 = 3e-2;

/// Tolerance below which a singular position cannot be passed: because of rounding the series seems to end there.
const NEAR_SINGULAR: f64 = 1e-13;

/// Maximum number of updates of counted angles in one step.
const MOST_LOOKS: f64 = 1e5;

/// Between two updates of counted angles bodies turn by at most this angle in radians, joints by twice as much.
const FOLLOWED: f64 = 0.5;

/// Maximum number of successive steps that end before the time already reached, or are too short.
const STEPS_BACK: usize = 100;
/// Steps below this fraction of the characteristic time count as too short to make progress.
const SHORT: f64 = 5e-8;

/// A step crawls if nothing moves in it by more than the first value, in radians or characteristic lengths, and the remaining time is more
/// than the third value times the step; the second value limits successive crawling steps.
const CRAWLS: f64 = 1e-5;
const CRAWLING_STEPS: usize = 300;
const LEFT: f64 = 5000.0;
/// Points closer than this, in characteristic lengths, coincide.
const MEET: f64 = 1e-6;

/// Value, rate and half the acceleration of a scalar.
pub(super) type Moving = Taylor<3>;

/// A mechanism in natural coordinates, moving.
pub struct Run<'m> {
    pub(super) model: &'m Model,
    pub(super) system: System,
    pub(super) integrator: Integrator,
    pub(super) options: Options,
    /// Characteristic time, s.
    tau: f64,
    /// Time up to which steps may pass the requested times.
    pub(super) ahead: f64,
    /// Times at which steps must end: [`Model::time_marks`].
    marks: Vec<f64>,
    /// Constraints and masses in absolute coordinates, for reactions and residuals.
    pub(super) equations: Equations<'m>,
    loads: LeastLoads,
    /// Detects singular positions; only loops have any.
    pub(super) passages: Passages,
    measure: Massless<'m>,
    /// Whether singular positions are possible at all.
    watched: bool,
    lambda: Vec<f64>,
    /// Operations required for poses and for omitted rows; results of all operations; coordinates.
    pose_list: Vec<u32>,
    pub(super) row_list: Vec<u32>,
    pub(super) known: Vec<Moving>,
    pub(super) x: Vec<Moving>,
    /// Number of each coordinate in the recorded problem.
    numbers: Vec<usize>,
    /// Pose, velocity and acceleration at the last evaluated time, and that time.
    pub(super) now: Bodies,
    pub(super) now_at: f64,
    /// Time of the last check inside a step, and the speed of the bodies there.
    looked_at: (f64, f64),
    /// Local axis of each thin rod at the start, and its direction there.
    rods: Vec<Option<(Vector3<f64>, Vector3<f64>)>>,
    pub(super) start: Configuration,
    /// Counted angles, and the time to which they belong.
    pub(super) turns: Vec<f64>,
    turns_at: f64,
    /// The largest angular velocity of a body at that time, with the time for which it was determined.
    turning: (f64, f64),
    /// Whether bodies turn too fast for their angles to be counted.
    flung: bool,
    /// Work at the start of the last step.
    pub(super) work: f64,
    pub(super) power: Power,
    pub(super) best_pivot: f64,
    /// Steps taken by integrators before the present one.
    pub(super) steps_before: [usize; 3],
    pub(super) notes: Vec<String>,
    pub(super) rechosen: usize,
    /// Tolerance for which the present integrator was made.
    pub(super) made_for: f64,
    /// Forces that steps could pass over, storage for the slips of smoothed friction, the smallest step that is checked for them, and
    /// storage for rates of the auxiliary variables.
    pub(super) narrow: Option<Narrow>,
    pub(super) slips: Vec<f64>,
    pub(super) least: f64,
    pub(super) rates: Vec<f64>,
    /// Whether inputs or states were replaced at the end of the last step, so that its series does not hold for the next one.
    replaced: bool,
    /// The latest time reached since the last requested one, and the number of successive steps without progress.
    reached: f64,
    idle: usize,
    /// Whether the run ends when it crawls, so that another method can continue; number of successive crawling steps.
    gives_way: bool,
    crawling: usize,
    /// Springs whose force has no direction where their ends meet: by force, with the vector from end to end at the last evaluated step.
    springs: Vec<(usize, Vector3<f64>)>,
}

#[derive(Clone, Debug)]
pub(super) struct Bodies {
    pub q: Vec<Pose>,
    pub v: Vec<Twist>,
    a: Vec<Twist>,
}

/// Starts natural coordinates.
pub fn start<'m>(
    structure: &Structure<'m>,
    study: &Study,
    _integrator: &'static str,
    start: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    Ok(Box::new(Run::new(structure, study, start)?))
}

/// The solver's errors in terms of the mechanism.
pub(super) fn diagnosis_of(e: Error) -> Diagnostic {
    if e == Error::Empty {
        return nothing_moves();
    }
    let time = match &e {
        Error::SingularJacobian { t, .. }
        | Error::NonFinite { t, .. }
        | Error::StepTooSmall { t, .. }
        | Error::Sliding { t, .. }
        | Error::NotConsistent { t, .. } => Some(*t),
        _ => None,
    };
    let help = match &e {
        Error::SingularJacobian { isolated: true, .. } => {
            "the mechanism is at a singular position; start slightly away from it, or use formulation `ra`"
        }
        Error::SingularJacobian { redundant: false, .. } => {
            "a body without inertia may be free to turn, or the forces leave an acceleration undetermined; give it inertia, or use formulation `ra`"
        }
        Error::Sliding { .. } => "the motion stays on the edge of a jump in a force; smooth the jump, or use formulation `ra`",
        Error::NotConsistent { .. } => {
            "the constraints are nearly dependent there, or the mechanism can hardly move; another tolerance, or formulation `ra`, may pass"
        }
        _ => "another tolerance, or formulation `ra`, may pass",
    };
    let what = match &e {
        Error::NotConsistent { variable, order, moved, .. } => {
            let of = if *order == 0 { "" } else { "the rate of " };
            format!("to satisfy the constraints, {of}`{variable}` would have to change by {moved:.1e} of its size")
        }
        Error::StepTooSmall { t, h, variable } => {
            format!("at t = {t:.6} s the step has become too small ({h:.1e} s), limited by `{variable}`")
        }
        Error::NonFinite { t, place } => format!("at t = {t:.6} s `{place}` is not finite"),
        Error::NoConvergence { t, equation, residual } => {
            format!("at t = {t:.6} s the constraints are not met, worst is `{equation}` ({residual:.1e})")
        }
        _ => e.to_string(),
    };
    let d = Diagnostic::new("S284", format!("natural coordinates cannot continue: {what}")).help(help);
    match time {
        Some(t) => d.time(t),
        None => d,
    }
}

impl<'m> Run<'m> {
    /// From a consistent start.
    pub fn new(structure: &Structure<'m>, study: &Study, start: &Configuration) -> Result<Self, Diagnostic> {
        let model = structure.model;
        let system = System::new(model, start, choice(&study.options)?)?;
        let options = system.options(model, study)?;
        let problem = Arc::new(system.record().map_err(diagnosis_of)?);
        let state = system.start_state(&problem, start.t);
        let integrator = Integrator::new(&problem, &state, options.clone()).map_err(diagnosis_of)?;
        let equations = Equations::of(model, structure.rows.clone(), start);
        let n = model.bodies.len();
        let mut run = Self {
            model,
            loads: LeastLoads::new(model, &equations.set, &start.q),
            passages: Passages::new(model.length, model.bodies.len()),
            measure: Massless::new(structure),
            watched: structure.looped,
            lambda: vec![0.0; equations.set.rows()],
            equations,
            pose_list: Vec::new(),
            row_list: Vec::new(),
            known: vec![Moving { c: [0.0; 3] }; system.tape.len()],
            numbers: system.numbers(),
            x: system.tape.variables().iter().map(|v| Moving { c: [v[0], v[1], 0.0] }).collect(),
            now: Bodies { q: start.q.clone(), v: start.v.clone(), a: vec![Twist::zero(); n] },
            now_at: f64::NAN,
            looked_at: (f64::NAN, 0.0),
            rods: vec![None; n],
            start: start.clone(),
            turns: start.turns.clone(),
            turns_at: start.t,
            turning: (f64::NAN, 0.0),
            reached: start.t,
            idle: 0,
            gives_way: false,
            crawling: 0,
            springs: model.forces.iter().enumerate().filter(|(_, (_, f))| has_direction(f)).map(|(k, _)| (k, Vector3::zeros())).collect(),
            flung: false,
            work: 0.0,
            power: Power::new(options.rel / LOCAL, little_energy(model, tau(study)?)),
            best_pivot: 0.0,
            steps_before: [0; 3],
            notes: Vec::new(),
            rechosen: 0,
            made_for: options.rel,
            narrow: Narrow::of_series(model, study),
            slips: Vec::new(),
            least: SHORT * tau(study)?,
            rates: vec![0.0; model.auxiliaries()],
            replaced: false,
            tau: tau(study)?,
            ahead: study.t_end,
            marks: model.time_marks(study.t_end),
            options,
            integrator,
            system,
        };
        let results = run.system.poses.iter().flat_map(|p| p.pose.r.iter().chain(p.pose.A.iter()).copied().collect::<Vec<_>>());
        let angles = run.system.counted.iter().flatten().copied();
        run.pose_list = run.system.tape.needed(results.chain(angles).collect::<Vec<_>>());
        run.layout_rows(&problem);
        run.find_rods();
        run.notes.push(run.system.describe().swap_remove(0));
        let dropped: Vec<&str> = run.system.dropped().collect();
        if !dropped.is_empty() {
            let list = dropped.iter().take(8).map(|d| format!("`{d}`")).collect::<Vec<_>>().join(", ");
            let more = if dropped.len() > 8 { format!(" and {} more", dropped.len() - 8) } else { String::new() };
            run.notes.push(format!("omitted as dependent: {list}{more}"));
        }
        if study.step.is_some() {
            run.notes.push("the Taylor method chooses its steps itself; the step of the study is not used".to_string());
        }
        Ok(run)
    }

    /// Data that depend on the rows in use: the places of the multipliers of prescribed motions and their rates, and the omitted rows to be
    /// checked.
    pub(super) fn layout_rows(&mut self, problem: &Problem) {
        let s = &self.system;
        let used = s.rows.iter().zip(&s.active).filter(|(_, a)| **a).map(|(r, _)| r);
        self.power.layout(problem, used.filter_map(|r| r.nu.map(|nu| (r.name.as_str(), nu.constant()))));
        let left_out = s.rows.iter().zip(&s.active).filter(|(_, a)| !**a).map(|(r, _)| r.value);
        self.row_list = s.tape.needed(left_out);
    }

    fn find_rods(&mut self) {
        self.evaluate_start();
        for b in 1..self.model.bodies.len() {
            if self.system.poses[b].axes == 1 {
                // The recorded matrix is X t^T with the axis X in the world and t in the body.
                let M = self.matrix(b, 0);
                let k = (0..3).max_by(|&i, &j| M.column(i).norm().total_cmp(&M.column(j).norm())).unwrap_or(0);
                let X: Vector3<f64> = M.column(k).normalize();
                self.rods[b] = Some((M.tr_mul(&X).normalize(), X));
            }
        }
    }

    fn evaluate_start(&mut self) {
        let t = Moving { c: [self.start.t, 1.0, 0.0] };
        self.system.tape.eval(&self.pose_list, t, &self.x, &mut self.known);
    }

    /// Coordinates with their rates and accelerations at a time of the last step, from the series.
    pub(super) fn coordinates_at(&mut self, t: f64) {
        let (from, _) = self.integrator.interval();
        for (x, &j) in self.x.iter_mut().zip(&self.numbers) {
            if let Ok((a, scale)) = self.integrator.coefficients(j) {
                let tau = (t - from) / scale;
                let (mut p, mut d, mut dd) = (0.0, 0.0, 0.0);
                for &c in a.iter().rev() {
                    dd = dd * tau + d;
                    d = d * tau + p;
                    p = p * tau + c;
                }
                *x = Moving { c: [p, d / scale, dd / (scale * scale)] };
            }
        }
    }

    pub(super) fn result(&self, s: Node) -> Moving {
        s.among(&self.known)
    }

    /// The recorded rotation matrix of a body: coefficient `k` of its series.
    fn matrix(&self, b: usize, k: usize) -> Matrix3<f64> {
        self.system.poses[b].pose.A.map(|s| self.result(s).c[k])
    }

    /// Poses, velocities and accelerations at a time of the last step.
    pub(super) fn bodies_at(&mut self, t: f64) {
        if t == self.now_at {
            return;
        }
        self.now_at = t;
        self.coordinates_at(t);
        let time = Moving { c: [t, 1.0, 0.0] };
        self.system.tape.eval(&self.pose_list, time, &self.x, &mut self.known);
        for b in 1..self.model.bodies.len() {
            let p = self.system.poses[b];
            let r = p.pose.r.map(|s| self.result(s));
            let (A0, A1, A2) = (self.matrix(b, 0), self.matrix(b, 1), self.matrix(b, 2));
            let (A, w, alpha) = match (p.axes, self.rods[b]) {
                (1, Some((local, first))) => {
                    let (x, x1, x2) = (A0 * local, A1 * local, A2 * local * 2.0);
                    let A = least_turn(&first, &x) * self.start.q[b].A;
                    (A, A.tr_mul(&x.cross(&x1)), A.tr_mul(&x.cross(&x2)))
                }
                (3, _) => {
                    // One step of Newton's method for the nearest rotation: inside a step the axes have errors of the size of the
                    // tolerance.
                    let A = A0 * (Matrix3::identity() * 1.5 - A0.tr_mul(&A0) * 0.5);
                    let vee = |M: Matrix3<f64>| Vector3::new(M[(2, 1)] - M[(1, 2)], M[(0, 2)] - M[(2, 0)], M[(1, 0)] - M[(0, 1)]) * 0.5;
                    (A, vee(A.tr_mul(&A1)), vee(A.tr_mul(&A2)) * 2.0)
                }
                _ => (self.start.q[b].A, Vector3::zeros(), Vector3::zeros()),
            };
            self.now.q[b] = Pose { r: r.map(|x| x.c[0]), A };
            self.now.v[b] = Twist { v: r.map(|x| x.c[1]), w };
            self.now.a[b] = Twist { v: r.map(|x| 2.0 * x.c[2]), w: alpha };
        }
    }

    /// Inputs, slopes and states at the last evaluated time.
    pub(super) fn carried_at(&self, out: &mut [f64]) {
        for (out, &j) in out.iter_mut().zip(&self.system.carried) {
            *out = self.x[j].c[0];
        }
    }

    /// The largest angular velocity of a body at the last evaluated time.
    pub(super) fn fastest(&self) -> f64 {
        self.now.v.iter().fold(0.0f64, |m, v| m.max(v.w.norm()))
    }

    /// The largest distance of a body from its start, at the last evaluated time.
    fn farthest(&self) -> f64 {
        self.now.q.iter().zip(&self.start.q).fold(0.0f64, |m, (q, start)| m.max((q.r - start.r).norm()))
    }

    /// Updates the counted angles to a time of the last step, forwards or backwards; afterwards the poses are those at that time.
    pub(super) fn follow_turns(&mut self, t: f64) {
        let (from, _) = self.integrator.interval();
        self.turns_at = self.turns_at.max(from);
        while !self.turns.is_empty() && self.turns_at != t {
            if self.turning.0 != self.turns_at {
                self.bodies_at(self.turns_at);
                self.turning = (self.turns_at, self.fastest());
            }
            let (apart, least) = (FOLLOWED / (self.turning.1 + f64::MIN_POSITIVE), (self.turns_at.max(t) - from) / MOST_LOOKS);
            // The limit prevents unbounded speeds from making these updates infinitely dense.
            self.flung |= apart.is_nan() || apart < least;
            let way = if apart > least { apart } else { least };
            let look = if self.turns_at < t { (self.turns_at + way).min(t) } else { (self.turns_at - way).max(t) };
            if look == self.turns_at || look.is_nan() {
                break;
            }
            self.bodies_at(look);
            update_turns(self.model, &self.now.q, &mut self.turns);
            for k in 0..self.turns.len() {
                if let Some(s) = self.system.counted[k] {
                    self.turns[k] = self.result(s).c[0];
                }
            }
            self.turns_at = look;
            self.turning = (look, self.fastest());
        }
        self.bodies_at(t);
    }

    /// One step towards `t` or beyond, after the turns and the work of the last step have been updated.
    fn step(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.integrator.last_step() != 0.0 {
            let from = self.integrator.t();
            self.follow_turns(from);
            self.work += self.power.work_to(&self.integrator, from);
            self.watch_rows(from)?;
        }
        let near = self.integrator.pivot_ratio() < NEAR * self.best_pivot;
        if near && self.options.rel < NEAR_SINGULAR {
            self.options.rel = NEAR_SINGULAR;
            self.integrator.set_tolerance(NEAR_SINGULAR);
            let t = self.integrator.t();
            self.notes.push(format!(
                "from t = {t:.6} s local errors of {NEAR_SINGULAR:.0e} are allowed: near singular positions rounding permits no less"
            ));
        }
        self.replaced = false;
        let (from, until) = (self.integrator.t(), if t > self.ahead { t } else { self.ahead });
        let speed = self.passages.speed(&self.now.v);
        self.aim_springs();
        self.step_with_rows_kept(next_end(&self.marks, from + SHORT * self.tau, until))?;
        self.springs_keep_their_length()?;
        self.crawls(speed)?;
        self.best_pivot = self.best_pivot.max(self.integrator.pivot_ratio());
        if self.watched {
            self.look_for_passages();
        }
        Ok(())
    }

    /// Stores the directions of springs at the last evaluated time.
    fn aim_springs(&mut self) {
        for (k, along) in &mut self.springs {
            *along = along_spring(self.model, *k, &self.now.q);
        }
    }

    /// Fails where the ends of a spring met in the last step, since its series continues with a negative length.
    fn springs_keep_their_length(&mut self) -> Result<(), Diagnostic> {
        if self.springs.is_empty() {
            return Ok(());
        }
        let (from, to) = self.integrator.interval();
        for n in 0..self.springs.len() {
            let (k, mut first) = self.springs[n];
            self.bodies_at(to);
            if first.dot(&along_spring(self.model, k, &self.now.q)) >= 0.0 {
                continue;
            }
            // The direction turned by more than a right angle, either suddenly or gradually.
            let (mut a, mut b) = (from, to);
            while 0.5 * (a + b) > a && 0.5 * (a + b) < b {
                let t = 0.5 * (a + b);
                self.bodies_at(t);
                let along = along_spring(self.model, k, &self.now.q);
                if along.norm() < MEET * self.model.length {
                    return Err(ends_meet(&self.model.forces[k].0, t));
                }
                if first.dot(&along) < 0.0 {
                    b = t;
                } else {
                    (a, first) = (t, along);
                    self.bodies_at(b);
                    if first.dot(&along_spring(self.model, k, &self.now.q)) >= 0.0 {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Fails where forces are stiff: steps have become too short for any motion, and another method is available. `speed` is the speed of
    /// the mechanism at the start of the last step.
    fn crawls(&mut self, speed: f64) -> Result<(), Diagnostic> {
        let (h, now) = (self.integrator.last_step(), self.integrator.t());
        let short = speed * h < CRAWLS && self.ahead - now > LEFT * h;
        self.crawling = if short { self.crawling + 1 } else { 0 };
        if !self.gives_way || self.crawling < CRAWLING_STEPS {
            return Ok(());
        }
        Err(Diagnostic::new("S235", format!("at t = {now:.6} s forces have turned out to be stiff for a Taylor series"))
            .time(now)
            .help("an implicit method takes larger steps: `--integrator radau`"))
    }

    /// Searches the last step for singular positions, on its series.
    fn look_for_passages(&mut self) {
        let (from, to) = self.integrator.interval();
        // A step starts at the end of the preceding one.
        if self.looked_at.0 != from {
            self.bodies_at(from);
            self.looked_at = (from, self.passages.speed(&self.now.v));
        }
        let before = self.looked_at.1;
        self.bodies_at(to);
        self.looked_at = (to, self.passages.speed(&self.now.v));
        let speed = before.max(self.looked_at.1);
        let parts = self.passages.parts(speed * (to - from));
        for part in 0..=parts {
            let t = if part == parts { to } else { from + (to - from) * part as f64 / parts as f64 };
            if self.passages.due(t, speed) {
                self.bodies_at(t);
                self.measure.look(&mut self.passages, t, &self.now.q, &self.now.v);
            }
        }
        self.bodies_at(to);
    }
}

/// Whether a force is a spring whose direction is undefined where its ends meet; one without rest length can pass through this point.
fn has_direction(f: &Force) -> bool {
    matches!(f, Force::Spring(s) if !matches!(s.law, Law::Linear { rest: 0.0, .. }))
}

/// Vector from one end of a spring to the other, in the world; zero for other forces.
fn along_spring(model: &Model, force: usize, q: &[Pose]) -> Vector3<f64> {
    let Force::Spring(s) = &model.forces[force].1 else { return Vector3::zeros() };
    let [a, b] = s.between.map(|p| q[p.body.index()].r + q[p.body.index()].A * p.s);
    b - a
}

/// A spring whose length has become zero.
fn ends_meet(name: &str, t: f64) -> Diagnostic {
    Diagnostic::new(
        "S284",
        format!(
            "natural coordinates cannot continue: at t = {t:.6} s the ends of spring `{name}` meet, where its force jumps to the other side"
        ),
    )
    .time(t)
    .name(name.to_string())
    .help("formulation `lie` or `grcr` steps across; a spring beside the path of its ends, or one without a free length, has no such place")
}

/// Error: bodies turn too fast.
fn flung(t: f64) -> Diagnostic {
    Diagnostic::new("S284", format!("natural coordinates cannot continue: at t = {t:.6} s positions diverge, or bodies turn too fast"))
        .time(t)
        .help("a force, a speed or gravity is far out of proportion to the masses and lengths, or the mechanism was torn open at a singular position before")
}

/// Error: steps without progress.
fn no_progress(t: f64) -> Diagnostic {
    Diagnostic::new(
        "S284",
        format!("natural coordinates cannot continue: steps from t = {t:.6} s make no progress, they are too short for the run or go back"),
    )
    .time(t)
    .help("forces are stiff there, or speeds or forces far out of proportion; another tolerance, or formulation `ra`, may pass")
}

/// The smallest rotation that turns one unit vector into another.
fn least_turn(from: &Vector3<f64>, to: &Vector3<f64>) -> Matrix3<f64> {
    let axis = from.cross(to);
    let (s, c) = (axis.norm(), from.dot(to));
    if s < 1e-15 {
        // Opposite directions: half a turn about any normal.
        let frame = so3::frame_from_z(from);
        let x: Vector3<f64> = frame.column(0).into();
        return if c > 0.0 { Matrix3::identity() } else { so3::exp(&(x * std::f64::consts::PI)) };
    }
    so3::exp(&(axis * (elementary::atan2(s, c) / s)))
}

impl Stepping for Run<'_> {
    fn time(&self) -> f64 {
        self.integrator.t()
    }

    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        self.step(t)?;
        // A step may take back part of the preceding one, or be very short, but not indefinitely.
        let now = self.integrator.t();
        self.idle = if now - self.reached > SHORT * self.tau { 0 } else { self.idle + 1 };
        self.reached = self.reached.max(now);
        if self.flung || self.farthest() > FLUNG * self.model.length {
            return Err(flung(now));
        }
        if self.idle > STEPS_BACK { Err(no_progress(self.reached)) } else { Ok(()) }
    }

    fn asks(&self) -> bool {
        true
    }
}

impl Motion for Run<'_> {
    fn t(&self) -> f64 {
        self.integrator.t()
    }

    fn give_way(&mut self) {
        self.gives_way = true;
    }

    fn run_ahead(&mut self, until: f64) {
        self.ahead = until;
    }

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        // Progress and steps without progress are counted from here.
        (self.reached, self.idle) = (self.integrator.t(), 0);
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        // The series is needed even at the start.
        if self.integrator.last_step() == 0.0 || (self.replaced && t == self.integrator.t()) {
            self.step(t + self.tau)?;
        }
        self.follow_turns(t);
        out.t = t;
        out.q.copy_from_slice(&self.now.q);
        out.v.copy_from_slice(&self.now.v);
        out.a.copy_from_slice(&self.now.a);
        out.turns.copy_from_slice(&self.turns);
        self.carried_at(&mut out.z);
        out.work = self.work + self.power.work_to(&self.integrator, t);
        let e = &mut self.equations;
        e.z.copy_from_slice(&out.z);
        e.set.choose(t);
        e.jacobian(&out.q);
        if out.loaded {
            // Multipliers of the absolute formulation for this motion, of least norm where they are not unique.
            e.factor(1.0);
            e.index1_polished(&out.q, &out.v, &out.turns, t, &mut out.a, &mut self.lambda);
            out.a.copy_from_slice(&self.now.a);
        }
        out.errors = e.errors(&out.q, &out.v, &out.a, &out.turns, t);
        self.loads.fill(self.model, &e.set, &self.lambda, out);
        Ok(())
    }

    fn glance(&mut self, out: &mut Configuration) -> bool {
        if self.integrator.last_step() == 0.0 || self.replaced {
            return false;
        }
        let t = self.integrator.t();
        self.follow_turns(t);
        out.t = t;
        out.q.copy_from_slice(&self.now.q);
        out.v.copy_from_slice(&self.now.v);
        out.turns.copy_from_slice(&self.turns);
        self.carried_at(&mut out.z);
        true
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if !self.integrator.retreat(t) {
            return Ok(false);
        }
        for (&j, z) in self.system.carried.iter().zip(z) {
            self.integrator.set_value(self.numbers[j], *z);
        }
        // Values evaluated in the discarded part of the step are invalid.
        (self.now_at, self.turning.0, self.replaced) = (f64::NAN, f64::NAN, true);
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        let w = self.integrator.work();
        let [steps, expansions, retries] = self.steps_before;
        let (nq, nc) = self.system.size();
        outcome.work.extend([
            ("steps", (steps + w.steps) as f64),
            ("expansions", (expansions + w.expansions) as f64),
            ("repeated_steps", (retries + w.retries) as f64),
            ("order", self.integrator.order() as f64),
            ("coordinates", nq as f64),
            ("constraints", nc as f64),
            ("changes_of_rows", self.rechosen as f64),
        ]);
        outcome.notes.append(&mut self.notes);
        outcome.warnings.extend(self.equations.poorly.warning());
        outcome.singular.append(&mut self.passages.found);
    }

    fn save(&self) -> Value {
        json!({
            "active": self.system.active,
            "integrator": self.integrator.save(),
            "turns": self.turns,
            "turns_at": self.turns_at,
            "work": self.work,
            "best_pivot": self.best_pivot,
            "made_for": self.made_for,
            "replaced": self.replaced,
            "local": self.options.rel,
            "steps": self.steps_before,
            "rechosen": self.rechosen,
            "notes": self.notes,
            "poorly": self.equations.poorly.save(),
            "passages": self.passages.save(),
            "looked_at": [self.looked_at.0, self.looked_at.1],
            "crawling": self.crawling,
        })
    }

    fn restore(&mut self, saved: &Value) -> Result<(), Diagnostic> {
        let active: Vec<bool> =
            saved["active"].as_array().map(|a| a.iter().map(|x| x.as_bool().unwrap_or(true)).collect()).unwrap_or_default();
        let turns = numbers(&saved["turns"]);
        if active.len() != self.system.rows.len() || turns.len() != self.turns.len() {
            return Err(bad_checkpoint("its sizes do not match"));
        }
        let number = |key: &str| saved[key].as_f64().unwrap_or(0.0);
        let (made_for, local) = (number("made_for"), number("local"));
        if !(made_for > 0.0 && local > 0.0) {
            return Err(bad_checkpoint("its tolerance is missing"));
        }
        if active != self.system.active || made_for != self.made_for {
            self.options.rel = made_for;
            self.made_for = made_for;
            self.system.active = active;
            let problem = Arc::new(self.system.record().map_err(diagnosis_of)?);
            let state = self.system.start_state(&problem, self.start.t);
            self.integrator = Integrator::new(&problem, &state, self.options.clone()).map_err(diagnosis_of)?;
            self.layout_rows(&problem);
        }
        self.integrator.restore(&numbers(&saved["integrator"])).map_err(|e| bad_checkpoint(&e.to_string()))?;
        self.options.rel = local;
        self.integrator.set_tolerance(local);
        self.turns = turns;
        (self.turns_at, self.work, self.best_pivot) = (number("turns_at"), number("work"), number("best_pivot"));
        self.replaced = saved["replaced"].as_bool().unwrap_or(false);
        self.rechosen = number("rechosen") as usize;
        self.crawling = number("crawling") as usize;
        self.notes = serde_json::from_value(saved["notes"].clone()).unwrap_or_else(|_| std::mem::take(&mut self.notes));
        for (sum, n) in self.steps_before.iter_mut().zip(numbers(&saved["steps"])) {
            *sum = n as usize;
        }
        self.passages.restore(&saved["passages"]);
        let looked_at = |k: usize| saved["looked_at"][k].as_f64().unwrap_or(f64::NAN);
        self.looked_at = (looked_at(0), looked_at(1));
        self.equations.poorly.restore(&saved["poorly"]);
        // The rate at which bodies turn decides how closely the next step is examined.
        (self.now_at, self.turning.0) = (f64::NAN, f64::NAN);
        if self.integrator.last_step() != 0.0 {
            self.bodies_at(self.integrator.t());
        }
        Ok(())
    }
}
