//! Kinematics of driven mechanisms in any chart of rotations [Kissel21, section 2].
//!
//! Positions by Newton in the coordinates of the chart from the prediction, velocities and accelerations by one linear solve each. All
//! three use the Schur complement factored once per step at the predicted pose, and once more at the pose itself if that is too far away;
//! redundant rows are permitted by its shift. If an iteration flips a joint, jumps to another branch or does not converge, the step is
//! halved; if that does not help the mechanism has reached a position it cannot pass, and the diagnostic states the time and the joints.
//!
//! Reactions and drive efforts follow from the known motion: `Phi_q^T lambda = f - M a - gyroscopic`. Dry friction in `f` depends on the
//! loads of the joints, hence on the multipliers: both are computed alternately.

mod motion;
mod states;

pub use motion::KINEMATICS;

use crate::absolute::chart::{Chart, Ra, Rate};
use crate::absolute::reps::NEAR;
use crate::analysis::assembly::{flipped_joint, gaps, update_turns};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::force::eval;
use crate::force::load::{self, NormalLoads};
use crate::integrator::index3::TOO_NEAR;
use crate::model::Model;
use crate::motion::{Instant, LeastLoads, numbers};
use crate::projector::Projector;
use crate::schur::inverse_weights;
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::singular::{own_parts, regular_pivot};
use crate::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::Vector3;
use serde_json::{Value, json};

/// Shift of the Schur complement relative to its scale; redundant rows are solved for minimum norm within it.
const SHIFT: f64 = 1e-13;
/// Bodies rotate by at most this angle in radians in a step; longer steps are divided.
const FOLLOWED: f64 = 3.0;
/// Newton iterations per attempt.
const ITERATIONS: usize = 12;
/// Maximum number of halvings of a step.
const HALVINGS: usize = 16;
/// Relative pivots below this belong to redundant rows.
const REDUNDANT: f64 = 1e-9;
/// Maximum number of refinements with a factor of another pose.
const REFINEMENTS: usize = 8;
/// If a round of refinement leaves more than this fraction of the error, the matrix is factored again at the pose itself.
const SLOW: f64 = 0.01;
/// Errors that no longer decrease count as rounding below this fraction of the velocities or accelerations.
const FLOOR: f64 = 1e-9;
/// Rates below this fraction of the size of the mechanism, per second, count as zero.
const REST: f64 = 1e-60;
/// Errors below this fraction of them give no information about the factor.
const ROUNDING: f64 = 1e-12;
/// Maximum number of rounds between multipliers and friction loads: iterations with a contraction of 0.7 converge within these.
const ROUNDS: usize = 100;

/// Work done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Output steps taken.
    pub steps: usize,
    /// Newton iterations on positions.
    pub iterations: usize,
    /// Factorisations.
    pub factorisations: usize,
    /// Steps that had to be halved.
    pub halvings: usize,
}

/// Kinematics of a mechanism with its workspace; nothing is allocated in a step.
pub struct Kinematics<'m, C: Chart = Ra> {
    model: &'m Model,
    /// Constraints, drives included.
    pub set: ConstraintSet,
    /// The constraints in the metric of the masses.
    p: Projector,
    loads: LeastLoads,
    /// Loads of joints with dry friction; written with the multipliers.
    normal: NormalLoads,
    /// Current configuration.
    pub state: Configuration,
    /// Accelerations at the current time.
    pub a: Vec<Twist>,
    /// Multipliers at the current time.
    pub lambda: Vec<f64>,
    /// Work so far.
    pub work: Work,
    /// Smallest pivot of a row that is not permanently redundant, at the last factorisation.
    pub regular_pivot: f64,
    regular_row: usize,
    permanent: Vec<bool>,
    /// Residual; written by the position solve.
    Phi: Vec<f64>,
    /// Right-hand sides; written by the velocity and acceleration solves.
    rhs: Vec<f64>,
    force: Vec<Wrench>,
    /// Jacobian at the current pose.
    G: Vec<f64>,
    trial: Vec<Pose>,
    predicted: Vec<Pose>,
    /// Rotations in the chart, at the current time and of the trial pose; rates and their derivatives.
    points: Vec<C::Point>,
    trial_points: Vec<C::Point>,
    x_dot: Vec<C::Rate>,
    x_ddot: Vec<C::Rate>,
    /// Bodies that changed their chart.
    pub recharts: usize,
    /// Stop when the correction falls below this, metres, instead of at rounding of the residual.
    pub correction: Option<f64>,
    /// Newton without prediction and with a new matrix for every correction, to compare counts with those of \[Kissel21\].
    pub plain: bool,
    tolerance: f64,
}

impl<'m> Kinematics<'m, Ra> {
    /// Starts from an assembled configuration, with rotation matrices.
    pub fn new(model: &'m Model, start: &Configuration) -> Result<Self, Diagnostic> {
        Self::in_chart(model, start)
    }
}

impl<'m, C: Chart> Kinematics<'m, C> {
    /// Starts from an assembled configuration.
    pub fn in_chart(model: &'m Model, start: &Configuration) -> Result<Self, Diagnostic> {
        Self::of(model, ConstraintSet::new(model.constraints(true), |_| false), start)
    }

    /// The same with a given layout of the position constraints.
    pub fn of(model: &'m Model, set: ConstraintSet, start: &Configuration) -> Result<Self, Diagnostic> {
        let (m, n, values) = (set.rows(), model.bodies.len(), set.values);
        let reach = start.q.iter().fold(model.length, |s, q| s.max(q.r.amax()));
        let points: Vec<C::Point> = start.q.iter().zip(&start.v).map(|(q, v)| C::enter(&q.A, &v.w)).collect();
        let mut k = Self {
            model,
            p: Projector::scaled(&set, inverse_weights(model, 0.01)),
            loads: LeastLoads::new(model, &set, &start.q),
            normal: NormalLoads::new(model, &set),
            state: start.clone(),
            a: vec![Twist::zero(); n],
            lambda: vec![0.0; m],
            work: Work::default(),
            regular_pivot: 1.0,
            regular_row: 0,
            permanent: vec![false; m],
            Phi: vec![0.0; m],
            rhs: vec![0.0; m],
            force: vec![Wrench::zero(); n],
            G: vec![0.0; values],
            trial: start.q.clone(),
            predicted: start.q.clone(),
            trial_points: points.clone(),
            points,
            x_dot: vec![C::Rate::zero(); n],
            x_ddot: vec![C::Rate::zero(); n],
            recharts: 0,
            correction: None,
            plain: false,
            tolerance: 1e-14 * reach,
            set,
        };
        k.factor();
        for (p, x) in k.permanent.iter_mut().zip(k.p.schur.pivots()) {
            *p = *x < REDUNDANT;
        }
        k.note_pivot();
        k.finish(start.t)?;
        Ok(k)
    }

    fn factor(&mut self) {
        self.p.factor(&self.set, &self.trial, SHIFT);
        self.work.factorisations += 1;
    }

    fn note_pivot(&mut self) {
        (self.regular_pivot, self.regular_row) = regular_pivot(self.p.schur.pivots(), &self.permanent);
    }

    /// Names of the joints and drives whose rows depend on each other near a singular pose.
    pub fn dependent_names(&mut self) -> Vec<String> {
        self.p.dependent_names(&self.set, &self.permanent, self.regular_row)
    }

    /// For a checkpoint.
    pub(crate) fn save(&self) -> Value {
        let a: Vec<f64> = self.a.iter().flat_map(|a| a.v.iter().chain(a.w.iter()).copied().collect::<Vec<_>>()).collect();
        let mut points = Vec::new();
        self.points.iter().for_each(|x| C::write(x, &mut points));
        let w = self.work;
        json!({
            "state": self.state.save(), "a": a, "points": points, "loads": self.normal.by_joint,
            "work": [w.steps, w.iterations, w.factorisations, w.halvings, self.recharts],
        })
    }

    /// Restores the result of [`Kinematics::save`]; `None` if its sizes do not fit.
    pub(crate) fn restore(&mut self, v: &Value) -> Option<()> {
        let n = self.a.len();
        let (a, loads, points) = (numbers(&v["a"]), numbers(&v["loads"]), numbers(&v["points"]));
        if a.len() != 6 * n || loads.len() != self.normal.by_joint.len() {
            return None;
        }
        self.state = Configuration::restored(self.model, &v["state"])?;
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        self.a.iter_mut().zip(a.chunks_exact(6)).for_each(|(a, x)| *a = Twist { v: three(x), w: three(&x[3..]) });
        let mut left = &points[..];
        for b in 0..n {
            let (point, taken) = C::read(left)?;
            (self.points[b], left) = (point, &left[taken..]);
            self.x_dot[b] = C::rate(&point, &self.state.v[b]);
            self.x_ddot[b] = C::second(&point, &self.x_dot[b], &self.a[b]);
        }
        self.normal.by_joint = loads;
        self.trial.copy_from_slice(&self.state.q);
        let count = |k: usize| v["work"][k].as_u64().unwrap_or(0) as usize;
        self.work = Work { steps: count(0), iterations: count(1), factorisations: count(2), halvings: count(3) };
        self.recharts = count(4);
        self.set.jacobian(&self.state.q, &mut self.G);
        Some(())
    }

    /// Searches for singular positions at the end of the last step, if the mechanism has moved far enough.
    pub fn watch(&mut self, passages: &mut Passages, measure: &mut Massless<'_>) {
        let s = &self.state;
        if passages.due(s.t, passages.speed(&s.v)) {
            passages.look(s.t, &s.q, &s.v, measure, |_, parts| own_parts(self.p.schur.pivots(), &self.permanent, parts));
        }
    }

    /// Advances to time `t`.
    pub fn step_to(&mut self, t: f64) -> Result<(), Diagnostic> {
        while self.state.t < t {
            self.step_towards(t)?;
            crate::stop::check()?;
        }
        Ok(())
    }

    /// Advances to time `t`, or towards it if bodies rotate by more than `FOLLOWED` until then.
    pub fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        let target = self.followed(t)?;
        self.advance(target, 0)?;
        self.work.steps += 1;
        Ok(())
    }

    /// End of a step towards time `t`.
    fn followed(&mut self, t: f64) -> Result<f64, Diagnostic> {
        let turn = self.state.v.iter().fold(0.0_f64, |m, v| m.max(v.w.norm())) * (t - self.state.t);
        let target = if turn > FOLLOWED { self.state.t + (t - self.state.t) / turn.ceil() } else { t };
        // Steps below the rounding of time would make no progress.
        if !(target > self.state.t && turn < 1e15) {
            return Err(self.stuck(t, "bodies turn too fast to be followed"));
        }
        Ok(target)
    }

    fn advance(&mut self, t: f64, depth: usize) -> Result<(), Diagnostic> {
        let t_n = self.state.t;
        let h = t - t_n;
        for b in 1..self.trial.len() {
            let h = if self.plain { 0.0 } else { h };
            let step = self.x_dot[b].scaled(h).plus(&self.x_ddot[b].scaled(0.5 * h * h));
            let q = &self.state.q[b];
            self.trial[b].r = q.r + step.linear();
            self.trial[b].A = C::place(&self.points[b], &q.A, &step, &mut self.trial_points[b]);
            C::own(&mut self.trial_points[b]);
            self.predicted[b] = self.trial[b];
        }
        match self.positions(t, h) {
            Ok(()) => {
                self.state.q.copy_from_slice(&self.trial);
                self.points.copy_from_slice(&self.trial_points);
                // Products of rotations accumulate rounding; one polar step removes it.
                if C::DIRECT {
                    for q in &mut self.state.q {
                        q.A = fourbar_math::so3::orthonormalise(&q.A);
                    }
                }
                self.trial.copy_from_slice(&self.state.q);
                update_turns(self.model, &self.state.q, &mut self.state.turns);
                self.finish(t)
            }
            Err(problem) if depth < HALVINGS => {
                self.work.halvings += 1;
                self.advance(t_n + 0.5 * h, depth + 1).map_err(|e| if e.time.is_some() { e } else { problem })?;
                self.advance(t, depth + 1)
            }
            Err(problem) => Err(problem),
        }
    }

    /// Newton on the positions from the prediction in `trial`.
    fn positions(&mut self, t: f64, h: f64) -> Result<(), Diagnostic> {
        let L = self.model.length;
        self.set.choose(t);
        if let Some(c) = self.set.undefined(t) {
            return Err(undefined_drive(&c.name, t));
        }
        self.factor();
        self.note_pivot();
        let mut last = f64::INFINITY;
        // Large angles have the accuracy of their own rounding, not of that of the mechanism.
        let turned = self.state.turns.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let tolerance = self.tolerance + 0.25 * f64::EPSILON * L * turned;
        for k in 0..ITERATIONS {
            self.set.residual(&self.trial, &self.state.turns, t, &mut self.Phi);
            let worst = self.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            // Closed to rounding after a correction: another one would have no effect.
            if k > 0 && self.correction.is_none() && last < 1e-3 * L && worst <= 20.0 * tolerance {
                return self.accept(t, h);
            }
            self.p.x.copy_from_slice(&self.Phi);
            self.p.solve();
            self.p.spread(&self.set, -1.0);
            let size = self.p.dq.iter().fold(0.0_f64, |s, d| s.max(d.v.amax()).max(L * d.w.amax()));
            if !size.is_finite() || size > 0.5 * L.max(last.min(1e3 * L)) {
                break;
            }
            for b in 1..self.trial.len() {
                let (q, x) = (&mut self.trial[b], &mut self.trial_points[b]);
                q.r += self.p.dq[b].v;
                let (from, A) = (*x, q.A);
                q.A = C::place(&from, &A, &C::increment(&from, &C::Rate::zero(), &self.p.dq[b]), x);
                C::own(x);
            }
            self.work.iterations += 1;
            if C::SINGULAR && self.trial_points.iter().skip(1).any(|x| C::distance(x) < TOO_NEAR) {
                break;
            }
            // Converged by size, or at the rounding floor where corrections no longer decrease.
            if self.correction.is_some_and(|c| size < c) {
                return self.accept(t, h);
            }
            if size <= 100.0 * tolerance || (size >= 0.5 * last && worst <= 1e3 * tolerance) {
                return self.accept(t, h);
            }
            // Slow convergence: the pose of the factor is too far away.
            if (self.plain || size > 0.05 * last) && k + 1 < ITERATIONS {
                self.factor();
            }
            last = size;
        }
        self.set.residual(&self.trial, &self.state.turns, t, &mut self.Phi);
        let open = gaps(self.model, &self.set, &self.Phi, 1e-9 * L);
        let names: Vec<String> = open.iter().take(3).map(|g| g.to_string()).collect();
        let what =
            if names.is_empty() { "the positions do not settle".to_string() } else { format!("there are gaps at {}", names.join(", ")) };
        Err(self.stuck(t, &what))
    }

    fn stuck(&mut self, t: f64, what: &str) -> Diagnostic {
        let joints = self.dependent_names();
        Diagnostic::new(
            "S220",
            format!(
                "the mechanism cannot follow its drives beyond t = {t:.6} s: {what}; it is at a dead point of {}",
                joints.iter().map(|j| format!("`{j}`")).collect::<Vec<_>>().join(", ")
            ),
        )
        .names(joints)
        .time(t)
        .help("a link is stretched or folded there: limit the drive, drive another joint, or use dynamics (`analysis: dynamics`), where inertia carries it through")
    }

    /// Checks that the solution is on the branch of the prediction.
    fn accept(&mut self, t: f64, h: f64) -> Result<(), Diagnostic> {
        let L = self.model.length;
        if let Some(k) = flipped_joint(self.model, &self.trial) {
            let name = self.model.joints[k].name.clone();
            return Err(self.stuck(t, &format!("the axes of `{name}` would flip")));
        }
        // A displacement much larger than the motion itself indicates another branch of the mechanism.
        let (mut jump, mut motion) = (0.0_f64, 0.0_f64);
        for b in 0..self.trial.len() {
            let d = self.predicted[b].increment_to(&self.trial[b]);
            jump = jump.max(d.v.norm()).max(L * d.w.norm());
            motion = motion.max(h.abs() * self.state.v[b].v.norm()).max(h.abs() * L * self.state.v[b].w.norm());
        }
        let turned = self.model.angles.iter().enumerate().any(|(k, a)| {
            let [i, j] = a.bodies.map(|b| &self.trial[b.index()]);
            (a.value(i, j, self.state.turns[k]) - self.state.turns[k]).abs() > 0.4 * a.period()
        });
        if jump > if self.plain { 2.0 } else { 0.3 } * motion + 0.02 * L || turned {
            return Err(self.stuck(t, "the next position lies on another branch"));
        }
        Ok(())
    }

    /// Velocities, accelerations and multipliers at the accepted pose.
    fn finish(&mut self, t: f64) -> Result<(), Diagnostic> {
        self.state.t = t;
        self.set.jacobian(&self.state.q, &mut self.G);
        self.set.nu(t, &mut self.rhs);
        let mut slow = self.refine(Level::Velocity);
        // Far from the prediction its factor converges too slowly, or not at all.
        if slow > SLOW {
            self.factor();
            self.note_pivot();
            slow = self.refine(Level::Velocity);
        }
        if slow >= 1.0 {
            return Err(self.stuck(t, "no velocities follow the drives"));
        }
        self.set.gamma(&self.state.q, &self.state.v, t, &mut self.rhs);
        if self.refine(Level::Acceleration) >= 1.0 {
            return Err(self.stuck(t, "no accelerations follow the drives"));
        }
        for b in 1..self.points.len() {
            if C::SINGULAR && C::distance(&self.points[b]) < NEAR {
                self.points[b] = C::escape(&self.state.q[b].A, &self.state.v[b].w);
                self.recharts += 1;
            }
            self.x_dot[b] = C::rate(&self.points[b], &self.state.v[b]);
            self.x_ddot[b] = C::second(&self.points[b], &self.x_dot[b], &self.a[b]);
        }
        Ok(())
    }

    /// Multipliers from the known motion; call before [`Kinematics::instant`]. `false` if dry friction and the loads on which it depends
    /// increase each other indefinitely.
    pub fn reactions(&mut self) -> bool {
        let mut last = f64::INFINITY;
        for round in 0..ROUNDS {
            self.multipliers();
            if self.normal.is_empty() {
                return true;
            }
            let change = self.normal.update(&self.set, &self.state.q, &self.lambda);
            if load::rest(change, last, round) {
                return true;
            }
            last = change;
        }
        false
    }

    /// Multipliers with the present friction loads.
    fn multipliers(&mut self) {
        let m = self.model;
        let s = &self.state;
        let x = eval::Plain { t: s.t, q: &s.q, v: &s.v, turns: &s.turns, loads: &self.normal.by_joint, z: &s.z };
        eval::applied(m, &x, &mut self.force);
        for b in 1..self.force.len() {
            let (body, v, a) = (&m.bodies[b], &self.state.v[b], &self.a[b]);
            self.force[b].F -= a.v * body.mass;
            self.force[b].T -= body.J_bar * a.w + v.w.cross(&(body.J_bar * v.w));
        }
        // Least squares on Phi_q^T lambda = force.
        self.lambda.fill(0.0);
        let mut last = f64::INFINITY;
        for _ in 0..REFINEMENTS {
            self.p.wrench.copy_from_slice(&self.force);
            self.p.wrench[0] = Wrench::zero();
            self.set.add_transposed(&self.G, &self.lambda, -1.0, &mut self.p.wrench);
            for (d, (f, w)) in self.p.dq.iter_mut().zip(self.p.wrench.iter().zip(&self.p.inverse)) {
                *d = w.apply(f).scaled(self.p.scale);
            }
            self.p.rates_of_increments(&self.set);
            self.p.solve();
            let (mut change, mut size) = (0.0_f64, 0.0_f64);
            for (l, x) in self.lambda.iter_mut().zip(&self.p.x) {
                *l += x;
                change = change.max(x.abs());
                size = size.max(l.abs());
            }
            if change <= f64::EPSILON * size || change >= 0.5 * last {
                break;
            }
            last = change;
        }
    }

    /// Power of drives and of forces without a potential; call after [`Kinematics::reactions`].
    pub fn power(&mut self) -> f64 {
        let s = &self.state;
        self.set.nu(s.t, &mut self.rhs);
        let drives: f64 = self.lambda.iter().zip(&self.rhs).map(|(l, n)| -l * n).sum();
        drives + eval::power(self.model, &eval::Plain { t: s.t, q: &s.q, v: &s.v, turns: &s.turns, loads: &self.normal.by_joint, z: &s.z })
    }

    /// The current instant in global terms.
    pub fn instant(&mut self, work: f64, out: &mut Instant) {
        let s = &self.state;
        self.set.residual(&s.q, &s.turns, s.t, &mut self.Phi);
        let position = self.Phi.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut residual = |v: &[Twist], rhs: &[f64]| {
            self.set.multiply(&self.G, v, &mut self.p.x);
            self.p.x.iter().zip(rhs).fold(0.0_f64, |m, (x, r)| m.max((x - r).abs()))
        };
        self.set.nu(s.t, &mut self.rhs);
        let velocity = residual(&s.v, &self.rhs);
        self.set.gamma(&s.q, &s.v, s.t, &mut self.rhs);
        let acceleration = residual(&self.a, &self.rhs);
        out.t = s.t;
        out.q.copy_from_slice(&s.q);
        out.v.copy_from_slice(&s.v);
        out.a.copy_from_slice(&self.a);
        out.turns.copy_from_slice(&s.turns);
        out.z.copy_from_slice(&s.z);
        (out.work, out.errors) = (work, [position, velocity, acceleration]);
        self.loads.fill(self.model, &self.set, &self.lambda, out);
    }

    /// Solves `G y = rhs` for the velocities or accelerations `y` nearest to the last ones, with the factor in `schur` and the exact
    /// Jacobian. Returns the worst error reduction factor of a round; one or more in case of failure.
    fn refine(&mut self, level: Level) -> f64 {
        let L = self.model.length;
        let y = match level {
            Level::Velocity => &mut self.state.v,
            Level::Acceleration => &mut self.a,
        };
        // The scale of a motion that comes to rest is its previous motion.
        let rows = self.rhs.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
        let mut size = rows;
        let (mut last, mut rate) = (f64::INFINITY, 0.0_f64);
        for _ in 0..REFINEMENTS {
            size = y.iter().fold(size, |s, v| s.max(v.v.amax()).max(L * v.w.amax()));
            self.set.multiply(&self.G, y, &mut self.p.x);
            let mut worst = 0.0_f64;
            for (x, r) in self.p.x.iter_mut().zip(&self.rhs) {
                *x -= r;
                worst = worst.max(x.abs());
            }
            // At rest each step multiplies the remaining motion by the rounding unit, until it underflows.
            if worst <= 4.0 * f64::EPSILON * size || worst <= REST * L || (worst >= 0.5 * last && worst <= FLOOR * size) {
                return rate;
            }
            if !worst.is_finite() {
                return 1.0;
            }
            if worst > ROUNDING * size {
                rate = rate.max(worst / last);
            }
            last = worst;
            self.p.normal_part(&self.set);
            for (y, d) in y.iter_mut().zip(&self.p.dq) {
                y.v -= d.v;
                y.w -= d.w;
            }
        }
        if last > 1e-6 * size { 1.0 } else { rate }
    }
}

/// Error for a drive whose function ends.
pub(crate) fn undefined_drive(name: &str, t: f64) -> Diagnostic {
    Diagnostic::new("S224", format!("`{name}` prescribes no finite value, speed or acceleration at t = {t:.6} s"))
        .name(name)
        .time(t)
        .help("its function of time ends or has a pole there: extend it, or end the run before (`t_end`)")
}

/// Unknowns of a solve.
#[derive(Clone, Copy)]
enum Level {
    Velocity,
    Acceleration,
}
