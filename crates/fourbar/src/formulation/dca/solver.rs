//! Accelerations, multipliers and projections of a mechanism by divide and conquer with an augmented Lagrangian.
//!
//! Solves `M a + Phi_q^T lambda = Q`, `Phi_q a = gamma` by means of `K = M + Phi_q^T D Phi_q` with `D = diag(alpha)`, which the tree
//! factors without forming it. The iteration of [Malczyk12, Eqs. (33)-(40)] is applied to residuals,
//!
//! ```text
//! r1 = Q - M a - Phi_q^T lambda     r2 = gamma - Phi_q a
//! da = K^-1 (r1 + Phi_q^T D r2)     lambda += D (Phi_q da - r2)     a += da
//! ```
//!
//! which is equivalent in exact arithmetic; with the whole right-hand side in every iteration, as printed, an error of `eps alpha / m`
//! would remain. Redundant rows need no special treatment: multipliers start from zero and converge to those of least norm. Projections
//! [Malczyk12, section 3] run the same iteration with other residuals.

use super::layout::{Layout, TASK};
use super::leaf::{self, Inertia};
use super::penalty::Penalty;
use super::refine::Workspace;
use super::sweep::{Job, Load, Shared, Size, Work};
use super::tree::Tree;
use crate::constraint::ConstraintSet;
use crate::force::eval;
use crate::force::load::{self, NormalLoads};
use crate::model::Model;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::elementary;
use nalgebra::Vector3;

/// Settings of the iteration.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Penalty on every row; `None`: by scaling.
    pub alpha: Option<f64>,
    /// Maximum number of iterations in one solve.
    pub iterations: usize,
    /// Relative change of accelerations at which the iteration ends; it also ends if the next round is expected to be far below it.
    pub eps_a: f64,
    /// Change of positions, in characteristic lengths, at which their projection ends.
    pub eps_p: f64,
    /// Relative change of velocities at which their projection ends.
    pub eps_v: f64,
    /// Baumgarte stabilisation `[2 Omega mu, Omega^2]`.
    pub stabilise: [f64; 2],
    /// Minimum number of bodies of subtrees that run as parallel tasks, in mechanisms of at least four times as many: at 300 bodies threads
    /// gave no improvement.
    pub task: usize,
    /// Whether threads may be used at all.
    pub parallel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { alpha: None, iterations: 10, eps_a: 1e-10, eps_p: 1e-14, eps_v: 1e-12, stabilise: [0.0; 2], task: TASK, parallel: true }
    }
}

/// Work done so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Factorisations.
    pub factorisations: usize,
    /// Acceleration solves, and their iterations.
    pub accelerations: usize,
    /// Iterations of accelerations.
    pub iterations: usize,
    /// Largest number of iterations of one acceleration solve.
    pub most: usize,
    /// Acceleration solves that ended with a change above 1e-8: near a singular position.
    pub unfinished: usize,
    /// Aitken extrapolations for slow modes.
    pub leaps: usize,
    /// Conjugate gradient rounds for multipliers.
    pub refined: usize,
    /// Position projections and their passes.
    pub positions: [usize; 2],
    /// Velocity projections and their passes.
    pub velocities: [usize; 2],
}

impl Counts {
    /// As an array of numbers, for saving.
    pub fn save(&self) -> [usize; 11] {
        let Self { factorisations, accelerations, iterations, most, unfinished, leaps, refined, positions: p, velocities: v } = *self;
        [factorisations, accelerations, iterations, most, unfinished, leaps, p[0], p[1], v[0], v[1], refined]
    }

    /// From the result of [`Counts::save`].
    pub fn restored(saved: [usize; 11]) -> Self {
        let [factorisations, accelerations, iterations, most, unfinished, leaps, p0, p1, v0, v1, refined] = saved;
        Self { factorisations, accelerations, iterations, most, unfinished, leaps, refined, positions: [p0, p1], velocities: [v0, v1] }
    }
}

/// Result of a solve.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Iterations.
    pub iterations: usize,
    /// Last relative change.
    pub change: f64,
}

/// Maximum number of rounds between accelerations and friction loads.
const ROUNDS: usize = 20;
/// Above this relative change after the last iteration a position counts as near-singular.
pub const UNFINISHED: f64 = 1e-8;

/// A round ends the iteration if its change, and the expected change of the next round, are below these multiples of the tolerance.
const NEXT: [f64; 2] = [1e3, 0.1];

/// If friction or drives need multipliers whose last change was above this, these are refined.
const UNREST: f64 = 1e-8;

/// Range of the ratio of increments in which one slow mode is extrapolated to its limit; above it, the row counts as dependent.
const SLOW_MODE: f64 = 0.2;
const LOST_MODE: f64 = 0.999;
/// Inertia of coils about their axes, as a share of their mass times the square of the characteristic length.
const COIL: f64 = 0.01;

/// Whether another round would have no effect, estimated from the last two changes.
fn needless(change: f64, last: f64, eps: f64) -> bool {
    change <= NEXT[0] * eps && change * change <= NEXT[1] * eps * last
}

/// The tree with its numbers, for `B` coordinates per body.
pub struct Solver<'m, const B: usize = 6> {
    /// The mechanism.
    pub model: &'m Model,
    /// The tree.
    pub tree: Tree,
    /// Constraints in the order of the tree.
    pub set: ConstraintSet,
    /// Places of all numbers.
    pub layout: Layout,
    /// Settings.
    pub settings: Settings,
    /// Work done.
    pub counts: Counts,
    /// Penalty per row.
    pub alpha: Vec<f64>,
    alpha_norm: Vec<f64>,
    inertia: Vec<Inertia>,
    /// Pose of the factors; valid if `factored`.
    at: Vec<Pose>,
    factored: bool,
    /// Whether the Jacobian belongs to the same pose.
    G_fits: bool,
    /// Written by passes, see [`Work`].
    panel: Vec<f64>,
    f: Vec<f64>,
    scale: Vec<[f64; 2]>,
    G: Vec<f64>,
    pub(super) r2: Vec<f64>,
    /// Residuals before the last pass down; written if the iteration is slow.
    before: Vec<f64>,
    /// Multipliers of the last solve, rows in the order of `set`.
    pub lambda: Vec<f64>,
    Q: Vec<f64>,
    pub(super) x: Vec<f64>,
    norm: Vec<[f64; 2]>,
    stack: Vec<f64>,
    /// Forces of elements, by body; empty where the model has none.
    forces: Vec<Wrench>,
    /// Loads of joints with dry friction.
    loads: NormalLoads,
    /// Whether the motion or its work depends on multipliers: friction by load, drives.
    by_multipliers: bool,
    pub(super) refining: Workspace,
}

/// The state used in a solve.
#[derive(Clone, Copy)]
pub struct State<'a> {
    /// Time.
    pub t: f64,
    /// Poses.
    pub q: &'a [Pose],
    /// Velocities.
    pub v: &'a [Twist],
    /// Counted angles.
    pub turns: &'a [f64],
    /// Inputs and states; needed for accelerations only.
    pub z: &'a [f64],
}

impl<'m, const B: usize> Solver<'m, B> {
    /// The solver of a model; the penalty weights are computed at pose `q`.
    pub fn new(model: &'m Model, q: &[Pose], settings: Settings) -> Self {
        Self::of(model, &ConstraintSet::new(model.all_constraints(), |_| false), q, settings)
    }

    /// The same with a given layout of all constraints; the solver reorders them by its tree.
    pub fn of(model: &'m Model, all: &ConstraintSet, q: &[Pose], settings: Settings) -> Self {
        let tree = Tree::new(all, model.moving());
        let set = ConstraintSet::new(tree.constraints.iter().map(|&c| all.list[c].clone()).collect(), |_| false);
        let layout = Layout::new::<B>(&tree, &set, settings.task);
        let penalty = Penalty::new(model, &set, q, settings.alpha);
        // A coil that may spin about its axis has no inertia about it, and gaps inside a step would spin it; one that it is given moves nothing
        // else, because the coil does not begin to spin.
        let of_spin = |b: usize| model.coils.iter().find(|c| c.spins && c.body.index() == b).map(|c| c.axis * c.axis.transpose());
        let inertia = |&b: &usize| {
            let (mass, J_bar) = (model.bodies[b].mass, model.bodies[b].J_bar);
            Inertia { mass, J_bar: of_spin(b).map_or(J_bar, |x| J_bar + x * (COIL * mass * model.length * model.length)) }
        };
        let inertia = tree.order.iter().map(inertia).collect();
        let end = layout.at[layout.fronts.len()];
        let (m, n) = (set.rows(), model.bodies.len());
        let loads = NormalLoads::new(model, &set);
        let forces = if model.forces.is_empty() { Vec::new() } else { vec![Wrench::zero(); n] };
        Self {
            model,
            refining: Workspace::new(&penalty.rows, B * (n - 1)),
            alpha: penalty.rows,
            alpha_norm: tree.order.iter().map(|&b| penalty.bodies[b]).collect(),
            inertia,
            at: q.to_vec(),
            factored: false,
            G_fits: false,
            panel: vec![0.0; layout.at[0].panel],
            f: vec![0.0; end.f],
            scale: vec![[0.0; 2]; end.scale],
            G: vec![0.0; layout.at[0].value],
            r2: vec![0.0; m],
            before: vec![0.0; m],
            lambda: vec![0.0; m],
            Q: vec![0.0; B * (n - 1)],
            x: vec![0.0; B * (n - 1)],
            norm: if B == 7 { vec![[0.0; 2]; n - 1] } else { Vec::new() },
            stack: vec![0.0; layout.stack],
            forces,
            by_multipliers: !model.drives.is_empty() || !loads.is_empty(),
            loads,
            tree,
            set,
            layout,
            settings,
            counts: Counts::default(),
        }
    }

    /// Shared data and workspace of a pass.
    pub(super) fn parts<'a>(&'a mut self, s: &State<'a>) -> (Shared<'a>, Work<'a>) {
        let shared = Shared {
            length: self.model.length,
            gravity: self.model.gravity,
            inertia: &self.inertia,
            set: &self.set,
            layout: &self.layout,
            order: &self.tree.order,
            alpha: &self.alpha,
            alpha_norm: &self.alpha_norm,
            q: s.q,
            v: s.v,
            forces: &self.forces,
            turns: s.turns,
            t: s.t,
            stabilise: self.settings.stabilise,
            parallel: self.settings.parallel && self.layout.divides && self.tree.order.len() >= 4 * self.settings.task,
        };
        let work = Work {
            lo: 0,
            end: self.layout.fronts.len(),
            panel: &mut self.panel,
            f: &mut self.f,
            scale: &mut self.scale,
            G: &mut self.G,
            r2: &mut self.r2,
            lambda: &mut self.lambda,
            Q: &mut self.Q,
            x: &mut self.x,
            norm: &mut self.norm,
            stack_at: 0,
            stack: &mut self.stack,
        };
        (shared, work)
    }

    pub(super) fn up(&mut self, s: &State<'_>, job: &Job) {
        let root = self.layout.fronts.len() - 1;
        let (shared, mut work) = self.parts(s);
        shared.up::<B>(root, &mut work, job);
    }

    pub(super) fn down(&mut self, s: &State<'_>, rows_only: bool) -> Size {
        let root = self.layout.fronts.len() - 1;
        let (shared, mut work) = self.parts(s);
        shared.down::<B>(root, &mut work, &[], rows_only).checked()
    }

    fn down_and_up(&mut self, s: &State<'_>) -> Size {
        let root = self.layout.fronts.len() - 1;
        let (shared, mut work) = self.parts(s);
        shared.down_and_up::<B>(root, &mut work, &[], &Self::AGAIN).checked()
    }

    /// Chooses rows for time `t`. If they change, factors and Jacobian become invalid even at the same pose.
    pub fn choose(&mut self, t: f64) {
        if self.set.choose(t) {
            (self.factored, self.G_fits) = (false, false);
        }
    }

    /// Whether the factors belong to this pose.
    fn fresh(&self, q: &[Pose]) -> bool {
        self.factored && self.at == q
    }

    /// The first pass up of a solve: factors if the pose is new, unless old factors are to be kept.
    fn begin(&mut self, s: &State<'_>, load: Load, keep: bool) {
        let factor = !keep && !self.fresh(s.q);
        if factor {
            self.counts.factorisations += 1;
            self.at.copy_from_slice(s.q);
            self.factored = true;
        }
        // Kept factors may be combined with a Jacobian of another pose.
        let jacobian = factor || keep || !self.G_fits;
        if jacobian {
            self.G_fits = !keep;
        }
        self.up(s, &Job { jacobian, factor, load, reset: true, rows_only: false });
    }

    pub(super) const AGAIN: Job = Job { jacobian: false, factor: false, load: Load::Keep, reset: false, rows_only: false };

    /// Repeats passes down and up until changes are below `eps`, relative to the solution or to `floor`.
    fn iterate(&mut self, s: &State<'_>, eps: f64, floor: f64) -> Ended {
        let (mut last, mut previous) = (f64::INFINITY, f64::INFINITY);
        for k in 1..=self.settings.iterations {
            // The first passes remove all fast modes; any slow mode after them is a single mode near a singular position.
            let slow = k > 3;
            if slow {
                self.before.copy_from_slice(&self.r2);
            }
            // If another pass is certain to follow, its way up is included. A typical pass reduces changes to 1e-4 or less.
            let expected = [f64::INFINITY, 1e-4 * last, last * last / previous][k.min(3) - 1];
            let enough = expected <= 10.0 * eps || (k > 2 && needless(expected, last, eps));
            let more = k < self.settings.iterations.min(4) && !enough;
            let size = if more { self.down_and_up(s) } else { self.down(s, false) };
            let change = if size.change == 0.0 { 0.0 } else { size.change / size.size.max(floor) };
            // From the third round on the ratio of the last two changes predicts the next one; if it would be far below the tolerance, and
            // the present change is small, the next round is omitted. Changes that no longer halve end the iteration only where they are
            // rounding errors, since slow modes behave in the same way.
            let needless = k > 2 && needless(change, last, eps);
            let done = change <= eps || needless || (change < 1e-10 && change > 0.5 * last);
            if done || k == self.settings.iterations || change.is_nan() {
                // The remaining change, if it is known to be smaller.
                return Ended { iterations: k, change: if needless { change * change / last } else { change } };
            }
            if slow && change > 0.1 * last {
                self.leap();
            }
            (previous, last) = (last, change);
            if !more {
                self.up(s, &Self::AGAIN);
            }
        }
        Ended { iterations: 0, change: last }
    }

    /// Aitken extrapolation of one slow mode: with the ratio `rho` of the last two increments of the multipliers, the sum of all following
    /// ones is `rho/(1 - rho)` times the last one.
    fn leap(&mut self) {
        let (mut both, mut old) = (0.0, 0.0);
        for ((r, b), a) in self.r2.iter().zip(&self.before).zip(&self.alpha) {
            both += a * r * b;
            old += a * b * b;
        }
        let rho = both / old;
        if !(SLOW_MODE..LOST_MODE).contains(&rho) {
            return;
        }
        let g = rho / (1.0 - rho);
        for (((r, b), a), l) in self.r2.iter_mut().zip(&self.before).zip(&self.alpha).zip(&mut self.lambda) {
            *l -= g * a * *r;
            *r -= g * (b - *r);
        }
        for (front, at) in self.layout.fronts.iter().zip(&self.layout.at) {
            let d = &self.f[at.f..at.f + B * front.e];
            self.x[B * at.body..B * (at.body + front.e)].iter_mut().zip(d).for_each(|(x, d)| *x += g * d);
        }
        self.counts.leaps += 1;
    }

    /// Accelerations into `a`, multipliers into `lambda`. If `keep`, the factors of the last pose are used.
    pub fn accelerate(&mut self, s: &State<'_>, keep: bool, a: &mut [Twist]) -> Ended {
        let mut ended = Ended { iterations: 0, change: 0.0 };
        let mut last = f64::INFINITY;
        for round in 0..ROUNDS {
            if !self.forces.is_empty() {
                let x = eval::Plain { t: s.t, q: s.q, v: s.v, turns: s.turns, loads: &self.loads.by_joint, z: s.z };
                eval::applied(self.model, &x, &mut self.forces);
            }
            self.begin(s, Load::Acceleration, keep);
            // For a mechanism with small accelerations the reference is its weight and the right-hand side of its rows.
            let gamma = self.r2.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            ended = self.iterate(s, self.settings.eps_a, 1e-3 * (gamma + self.model.gravity.norm()));
            self.counts.iterations += ended.iterations;
            // Friction and the work of drives need the multipliers themselves, which converge later in ill-conditioned loops.
            if self.by_multipliers && ended.change.is_finite() && self.unrest() > UNREST {
                self.solution(s.q, a);
                self.counts.refined += self.refine(s, a).rounds;
            }
            if self.loads.is_empty() {
                break;
            }
            // Friction depends on the multipliers: repeated until the loads converge.
            let change = self.loads.iterate(&self.set, s.q, &self.lambda, round == 0);
            if load::rest(change, last, round) {
                break;
            }
            last = change;
        }
        self.counts.accelerations += 1;
        self.counts.most = self.counts.most.max(ended.iterations);
        self.counts.unfinished += usize::from(ended.change > UNFINISHED);
        self.solution(s.q, a);
        ended
    }

    /// Friction loads by joint.
    pub fn loads(&self) -> &[f64] {
        &self.loads.by_joint
    }

    /// Continues from saved friction loads.
    pub fn set_loads(&mut self, loads: &[f64]) {
        if loads.len() == self.loads.by_joint.len() {
            self.loads.by_joint.copy_from_slice(loads);
        }
    }

    /// Largest residuals of position, velocity and acceleration constraints.
    pub fn errors(&mut self, s: &State<'_>, a: &[Twist]) -> [f64; 3] {
        let mut worst = [0.0_f64; 3];
        for c in 0..self.set.list.len() {
            let m = self.set.row_start[c + 1] - self.set.row_start[c];
            // Elements have at most six rows and four bodies.
            let (mut Phi, mut nu, mut gamma, mut G) = ([0.0; 6], [0.0; 6], [0.0; 6], [0.0; 144]);
            self.set.residual_in(c..c + 1, s.q, s.turns, s.t, &mut Phi);
            self.set.nu_in(c..c + 1, s.t, &mut nu);
            self.set.gamma_in(c..c + 1, s.q, s.v, s.t, &mut gamma);
            self.set.jacobian_in(c..c + 1, self.set.value_start(c), s.q, &mut G);
            for (i, b) in self.set.blocks_of(c).iter().enumerate() {
                let (v, a) = (&s.v[b.body], &a[b.body]);
                for (k, g) in G[6 * m * i..6 * m * (i + 1)].chunks_exact(6).enumerate() {
                    let row = Wrench { F: Vector3::new(g[0], g[1], g[2]), T: Vector3::new(g[3], g[4], g[5]) };
                    nu[k] -= row.power(v);
                    gamma[k] -= row.power(a);
                }
            }
            for (w, list) in worst.iter_mut().zip([Phi, nu, gamma]) {
                *w = list[..m].iter().fold(*w, |w, x| w.max(x.abs()));
            }
        }
        worst
    }

    pub(super) fn solution(&self, q: &[Pose], out: &mut [Twist]) {
        out[0] = Twist::zero();
        for (x, &b) in self.x.chunks_exact(B).zip(&self.tree.order) {
            out[b] = leaf::to_velocity::<B>(&q[b], x);
        }
    }

    /// Half the logarithm of `det K` at a pose, which is factored there if necessary.
    pub fn half_log_det(&mut self, t: f64, q: &[Pose]) -> f64 {
        if !self.fresh(q) {
            self.counts.factorisations += 1;
            self.at.copy_from_slice(q);
            (self.factored, self.G_fits) = (true, true);
            let s = State { t, q, v: &[], turns: &[], z: &[] };
            self.up(&s, &Job { jacobian: true, factor: true, rows_only: true, ..Self::AGAIN });
        }
        let mut sum = 0.0;
        for (front, at) in self.layout.fronts.iter().zip(&self.layout.at[1..]) {
            let N = B * (front.e + front.b);
            for k in 0..front.e {
                // Diagonals are stored inverted. A zero stands for a direction without inertia or constraint.
                let pivots = (k * B..(k + 1) * B).map(|c| self.panel[at.panel + c * N + c]);
                sum -= elementary::ln(pivots.filter(|x| *x > 0.0).product::<f64>());
            }
        }
        sum
    }

    /// Projects velocities onto the constraints in the metric of the masses; returns the largest change.
    pub fn project_velocity(&mut self, t: f64, q: &[Pose], turns: &[f64], keep: bool, v: &mut [Twist]) -> Ended {
        let size = v.iter().fold(0.0_f64, |m, v| m.max(v.v.amax()).max(self.model.length * v.w.amax()));
        let ended = {
            let s = State { t, q, v, turns, z: &[] };
            self.begin(&s, Load::Velocity, keep);
            // The reference speed of a mechanism at rest is 1e-3 characteristic lengths per second.
            self.iterate(&s, self.settings.eps_v, size.max(1e-3 * self.model.length))
        };
        self.counts.velocities[0] += 1;
        self.counts.velocities[1] += ended.iterations;
        for (x, &b) in self.x.chunks_exact(B).zip(&self.tree.order) {
            v[b] = v[b].plus(&leaf::to_velocity::<B>(&q[b], x));
        }
        ended
    }

    /// Projects positions onto the constraints in the metric of the masses. The factors of the start are kept over the passes, rows are
    /// evaluated at the current pose. Returns the distance, or `None` without convergence.
    pub fn project_position(&mut self, t: f64, turns: &[f64], q: &mut [Pose]) -> Option<f64> {
        let L = self.model.length;
        self.counts.positions[0] += 1;
        let (mut last, mut moved) = (f64::INFINITY, 0.0);
        let (mut reset, mut stale) = (true, false);
        for pass in 0..4 * self.settings.iterations {
            {
                let s = State { t, q, v: &[], turns, z: &[] };
                let factor = !self.factored || (pass == 0 && self.at != *q) || stale;
                if factor {
                    self.counts.factorisations += 1;
                    self.at.copy_from_slice(q);
                    self.factored = true;
                }
                self.G_fits = factor;
                self.up(&s, &Job { jacobian: true, factor, load: Load::Position, reset, rows_only: false });
                reset = false;
            }
            let size = self.down(&State { t, q, v: &[], turns, z: &[] }, false);
            self.counts.positions[1] += 1;
            if !size.change.is_finite() {
                return None;
            }
            // The increments are stored in the first places of the fronts.
            for (front, at) in self.layout.fronts.iter().zip(&self.layout.at) {
                for i in 0..front.e {
                    let b = self.tree.order[at.body + i];
                    let d = leaf::to_velocity::<B>(&q[b], &self.f[at.f + B * i..at.f + B * i + B]);
                    q[b] = q[b].moved(&d);
                }
            }
            let rounding = pass >= 3 && size.change < 1e-10 * L && size.change > 0.5 * last;
            if size.change <= self.settings.eps_p * L.max(1.0) || rounding {
                return Some(size.size);
            }
            // Factors of another pose slow down the convergence, by about the penalty times the square of the distance.
            stale = pass > 0 && size.change > 0.1 * last && size.change > 1e-12 * L;
            (last, moved) = (size.change, size.size);
        }
        (last <= 1e-9 * L).then_some(moved)
    }
}
