//! A mechanism in joint coordinates: choice of the tree, closure of its loops, accelerations.
//!
//! All tree coordinates and speeds are stored; the independent ones determine the state, and every evaluation first corrects the dependent
//! ones, starting from the given values, which keeps the branch. The accelerations do not depend on which columns are dependent.

use super::close_loops::Closure;
use super::dependents::{self, Selection};
use super::fronts::Fronts;
use super::loop_rows::Closings;
use super::reaction;
use super::schedule::{Role, Schedule};
use super::spatial::Six;
use super::tree::Tree;
use super::tree_choice;
use super::{Closed, Options};
use crate::analysis::assembly::{Options as AssemblyOptions, assemble_from};
use crate::diagnostic::Diagnostic;
use crate::force::{eval, load};
use crate::model::Model;
use crate::motion::{Instant, Loads, load_across};
use crate::random::Random;
use crate::state::{Configuration, Pose, Twist};
use serde_json::{Value, json};

/// Scaled closing residual below which loops count as closed.
const CLOSED: f64 = 1e-13;
/// The same if a dependent column is weak.
const EXACT: f64 = 1e-16;
/// Sine below which a dependent column is weak.
pub(super) const WEAK: f64 = 0.1;
/// If the first residual is below this, one correction leaves the factor accurate enough for velocities.
const NEAR: f64 = 1e-7;
/// With a residual above this after all corrections, loops count as not closed.
const OPEN: f64 = 1e-9;
/// If a correction leaves more than this fraction of a residual, that is too large for the branch to be certain: the quotient is then that
/// of the correction and the distance to the other branch.
const CERTAIN: f64 = 0.25;
/// Maximum number of corrections of positions.
const CORRECTIONS: usize = 25;
/// Distance along the motion, in radians or link lengths, after which a singular start is left.
const ALONG: f64 = 0.02;
/// Maximum number of rounds for load-dependent friction.
const FRICTION_ROUNDS: usize = 30;
/// Up to this many bodies, more trees are compared and singular starts are detected.
pub(super) const SMALL: usize = 300;

/// A mechanism with its workspace.
pub struct Mechanism<'m> {
    /// The model.
    pub model: &'m Model,
    /// Its tree.
    pub tree: Tree,
    /// Constraints that the tree does not satisfy identically.
    pub closings: Closings,
    /// Order of elimination.
    pub schedule: Schedule,
    /// Closure of positions and velocities.
    pub closure: Closure,
    /// Accelerations.
    pub fronts: Fronts,
    /// The choice of dependents in use.
    pub selection: Selection,
    /// Coordinates, closed. Written by `close`.
    pub q: Vec<f64>,
    /// Speeds, closed. Written by `close`.
    pub u: Vec<f64>,
    /// Rates of the speeds. Written by `accelerate`.
    pub udot: Vec<f64>,
    /// Multipliers of the active rows. Written by `accelerate`.
    pub lambda: Vec<f64>,
    /// Multipliers of the closings' set and its velocity right-hand sides, workspace of `closing_power`.
    multipliers: [Vec<f64>; 2],
    /// Poses by body. Written by `close`.
    pub poses: Vec<Pose>,
    /// Velocities by body. Written by `accelerate`.
    pub velocities: Vec<Twist>,
    /// Counted angles at the last accepted step.
    pub turns: Vec<f64>,
    /// Normal loads by joint, for friction.
    pub loads: Vec<f64>,
    rounds: load::Rounds,
    /// Inputs and states for the force laws; must be set before an evaluation.
    pub z: Vec<f64>,
    /// Nodes whose pose and velocity are needed in every evaluation.
    needed: Vec<usize>,
    /// Whether the nodes are placed at the coordinates.
    placed: bool,
    /// Whether any friction depends on joint loads.
    pub friction: bool,
    correction: Vec<f64>,
    /// Sum of the corrections of positions. Written by `close`.
    pub corrected: Vec<f64>,
    /// External wrenches by node, without inertia forces. Written by `accelerate`.
    pub applied: Vec<Six>,
    /// Evaluations and corrections of positions so far.
    pub counts: [usize; 2],
    /// Which constraints are closed in every evaluation.
    pub closed: Closed,
}

impl<'m> Mechanism<'m> {
    /// The mechanism around an assembled configuration, with the cheapest tree.
    pub fn new(model: &'m Model, start: &Configuration) -> Self {
        Self::with_options(model, start, &Options::default())
    }

    /// The same with options; the requested choice of dependents may be rejected.
    pub fn asked(model: &'m Model, start: &Configuration, options: &Options) -> Result<Self, Diagnostic> {
        let mut m = Self::with_options(model, start, options);
        m.choose_as_asked(options)?;
        m.closed = options.closed;
        Ok(m)
    }

    /// The same with options that affect only the choice of the tree.
    pub fn with_options(model: &'m Model, start: &Configuration, options: &Options) -> Self {
        let mut m = tree_choice::cheapest(model, start, options);
        m.look_beside(start);
        m
    }

    /// A singular start hides part of the rank: dependents are then chosen at a neighbouring pose.
    fn look_beside(&mut self, start: &Configuration) {
        if self.closings.is_empty() || self.model.bodies.len() > SMALL {
            return;
        }
        let mut beside = start.clone();
        Random(0x2468_ace0_1357_9bdf).disturb(&mut beside.q, &vec![false; self.model.bodies.len()], 0.01 * self.model.length, 0.01);
        let Ok(found) = assemble_from(self.model, &beside, AssemblyOptions::default()) else { return };
        let (q, u) = (self.q.clone(), self.u.clone());
        let (mut q1, mut u1) = (q.clone(), u.clone());
        self.tree.enter(self.model, &found.configuration, &mut q1, &mut u1);
        self.tree.place(&q1);
        self.pose_all();
        let s = self.choose();
        (self.q, self.u) = (q, u);
        self.tree.place(&self.q);
        self.pose_all();
        if s.rank > self.selection.rank && self.gains_rank(start.t) {
            self.adopt(s);
        }
    }

    /// Whether the rows gain rank along the motion. If not, as for a table on parallel legs, rows redundant at the start remain so. On
    /// return the rates of the motion at the start are set.
    fn gains_rank(&mut self, t: f64) -> bool {
        let (q, u) = (self.q.clone(), self.u.clone());
        self.take(t, &q, &u);
        self.accelerate(t);
        let size = |x: &[f64]| {
            x.iter().zip(&self.tree.slides).fold(0.0_f64, |m, (x, s)| m.max(x.abs() / if *s { self.closings.ell } else { 1.0 }))
        };
        let (speed, rate) = (size(&u), size(&self.udot));
        let h = 2.0 * ALONG / (speed + (speed * speed + 2.0 * rate * ALONG).sqrt());
        if !h.is_finite() {
            // NaN, or permanently at rest.
            return !rate.is_finite();
        }
        let d: Vec<f64> = u.iter().zip(&self.udot).map(|(u, a)| h * u + 0.5 * h * h * a).collect();
        let v: Vec<f64> = u.iter().zip(&self.udot).map(|(u, a)| u + h * a).collect();
        let rates = self.udot.clone();
        let mut p = q.clone();
        self.retracted(&q, &d, &mut p);
        let gains = self.close(t + h, &p, &v).is_err() || {
            self.pose_all();
            self.choose().rank > self.selection.rank
        };
        (self.q, self.u, self.udot) = (q, u, rates);
        self.tree.place(&self.q);
        self.pose_all();
        gains
    }

    /// The mechanism with a given tree.
    pub(super) fn with(model: &'m Model, start: &Configuration, tree: Tree, closings: Closings) -> Self {
        let n = model.bodies.len();
        let (mut q, mut u) = (vec![0.0; tree.stored], vec![0.0; tree.speeds]);
        tree.enter(model, start, &mut q, &mut u);
        let roles: Vec<Role> = vec![Role::Independent; tree.speeds];
        let schedule = Schedule::new(&tree, &closings, roles.clone());
        let kept = vec![None; closings.list.len()];
        let mut needed: Vec<usize> = if model.forces.is_empty() && model.states.is_empty() {
            closings.list.iter().flat_map(|c| c.nodes.iter().map(|x| x.0)).filter(|k| *k != 0).collect()
        } else {
            (1..n).collect()
        };
        needed.sort_unstable();
        needed.dedup();
        let friction = model.forces.iter().any(|(_, f)| f.touches().is_loaded());
        let mut m = Self {
            closure: Closure::empty(),
            fronts: Fronts::empty(),
            selection: Selection { roles, kept, rank: 0, smallest: f64::INFINITY, redundant: 0 },
            udot: vec![0.0; tree.speeds],
            correction: vec![0.0; tree.speeds],
            corrected: vec![0.0; tree.speeds],
            applied: vec![Six::default(); n],
            lambda: Vec::new(),
            multipliers: [vec![0.0; closings.set.rows()], vec![0.0; closings.set.rows()]],
            poses: start.q.clone(),
            velocities: start.v.clone(),
            turns: start.turns.clone(),
            loads: vec![0.0; model.loads()],
            rounds: load::Rounds::new(if friction { model.loads() } else { 0 }),
            z: start.z.clone(),
            needed,
            placed: true,
            friction,
            counts: [0; 2],
            closed: Closed::Positions,
            model,
            tree,
            closings,
            schedule,
            q,
            u,
        };
        m.tree.place(&m.q);
        m.pose_all();
        let s = m.choose();
        m.adopt(s);
        m
    }

    /// Poses and velocities of all bodies at the closed state; evaluations update only those they need.
    pub fn globals(&mut self) {
        if !self.placed {
            self.tree.place(&self.q);
            self.placed = true;
        }
        self.tree.speed(&self.u);
        self.pose_all();
        for k in 1..self.tree.nodes.len() {
            let body = self.tree.nodes[k].body;
            self.velocities[body] = self.tree.velocity(k, &self.poses[body]);
        }
    }

    /// Poses of all bodies from the placed nodes.
    fn pose_all(&mut self) {
        for k in 1..self.tree.nodes.len() {
            self.poses[self.tree.nodes[k].body] = self.tree.pose(k);
        }
    }

    /// Poses of the needed bodies from a node on.
    fn pose_needed(&mut self, from: usize) {
        for &k in self.needed.iter().filter(|k| **k >= from) {
            self.poses[self.tree.nodes[k].body] = self.tree.pose(k);
        }
    }

    fn move_needed(&mut self) {
        for &k in &self.needed {
            let body = self.tree.nodes[k].body;
            self.velocities[body] = self.tree.velocity(k, &self.poses[body]);
        }
    }

    pub(super) fn fixed(&self) -> Vec<bool> {
        let mut fixed = vec![false; self.tree.speeds];
        for p in &self.tree.prescribed {
            fixed[p.column] = true;
        }
        fixed
    }

    /// Chooses dependents and active rows for the pose of the tree.
    pub fn choose(&mut self) -> Selection {
        let (all, schedule) = self.all_open();
        dependents::select(&self.tree, &all, &schedule, &self.fixed())
    }

    /// The same for a set that replaces another one during the motion.
    pub fn choose_lasting(&mut self) -> Selection {
        let (all, schedule) = self.all_open();
        dependents::select_lasting(&self.tree, &all, &schedule, &self.fixed())
    }

    /// The closings with all rows active, and the fronts that carry them.
    pub(super) fn all_open(&self) -> (Closings, Schedule) {
        let mut all = self.closings.clone();
        all.open_all(&self.tree, &self.poses);
        let schedule = Schedule::new(&self.tree, &all, vec![Role::Independent; self.tree.speeds]);
        (all, schedule)
    }

    /// Puts a choice of dependents into use.
    pub fn adopt(&mut self, s: Selection) {
        self.closings.open_all(&self.tree, &self.poses);
        self.closings.keep(s.kept.clone());
        self.schedule = Schedule::new(&self.tree, &self.closings, s.roles.clone());
        self.closure = Closure::new(&self.tree, &self.schedule);
        self.fronts = Fronts::new(&self.tree, &self.schedule);
        self.lambda.clear();
        self.lambda.resize(self.closings.active, 0.0);
        self.selection = s;
    }

    /// The choice in use, bitwise.
    pub fn save_selection(&self) -> Value {
        let dependent: Vec<bool> = self.selection.roles.iter().map(|r| *r == Role::Dependent).collect();
        json!({
            "dependent": dependent,
            "rank": self.selection.rank,
            "redundant": self.selection.redundant,
            "smallest": self.selection.smallest.min(f64::MAX),
            "closings": self.closings.save(),
        })
    }

    /// Restores the result of [`Mechanism::save_selection`]; data that do not fit are ignored.
    pub fn restore_selection(&mut self, v: &Value) {
        let Some(dependent) = v["dependent"].as_array().filter(|d| d.len() == self.tree.speeds) else { return };
        let mut s = self.selection.clone();
        for (role, d) in s.roles.iter_mut().zip(dependent) {
            if *role != Role::Prescribed {
                *role = if d.as_bool() == Some(true) { Role::Dependent } else { Role::Independent };
            }
        }
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        (s.rank, s.redundant) = (whole(&v["rank"]), whole(&v["redundant"]));
        s.smallest = v["smallest"].as_f64().unwrap_or(1.0);
        if let Some((kept, scales)) = self.closings.saved(&v["closings"]) {
            s.kept = kept;
            self.adopt(s);
            self.closings.set_scales(scales);
        }
    }

    /// Self-stresses at the pose, by scaled row of the closings, with all rows active.
    pub fn self_stresses(&self) -> (Closings, Vec<dependents::Stress>) {
        let (all, schedule) = self.all_open();
        let list = dependents::self_stresses(&self.tree, &all, &schedule, &self.selection.roles);
        (all, list)
    }

    /// Sets the prescribed coordinates, speeds and rates at a time.
    pub fn drive(&mut self, t: f64) {
        let Self { tree, model, udot, .. } = self;
        udot.fill(0.0);
        tree.drive(model, t, &mut self.q, &mut self.u, |column, a| udot[column] = a);
    }

    /// Sets coordinates and speeds that are closed already.
    pub fn take(&mut self, t: f64, q: &[f64], u: &[f64]) {
        self.q.copy_from_slice(q);
        self.u.copy_from_slice(u);
        self.drive(t);
        self.placed = !self.closings.is_empty();
        if self.placed {
            self.tree.place(&self.q);
            self.pose_needed(1);
            self.closings.positions(&self.poses, &self.turns, t);
            self.closings.rows(&self.tree, &self.poses);
            self.closure.factor(&self.tree, &self.closings, &self.schedule);
        }
    }

    /// The same without updating the loops: for poses and velocities only.
    pub fn stand_at(&mut self, q: &[f64], u: &[f64]) {
        self.q.copy_from_slice(q);
        self.u.copy_from_slice(u);
        self.placed = false;
    }

    /// Sets coordinates and speeds, and corrects the dependent ones.
    pub fn close(&mut self, t: f64, q: &[f64], u: &[f64]) -> Result<(), Box<Diagnostic>> {
        self.close_above(0.0, t, q, u).map(|_| ())
    }

    /// The same, but returns `false` if the sine of a dependent falls below a limit.
    pub fn close_above(&mut self, lost: f64, t: f64, q: &[f64], u: &[f64]) -> Result<bool, Box<Diagnostic>> {
        self.q.copy_from_slice(q);
        self.u.copy_from_slice(u);
        self.drive(t);
        self.placed = !self.closings.is_empty();
        if !self.placed {
            // No loops: the nodes are placed together with everything else.
            return Ok(true);
        }
        self.tree.place(&self.q);
        self.pose_needed(1);
        let near = if self.closed == Closed::Positions {
            let Some(near) = self.close_positions(lost, t)? else { return Ok(false) };
            near
        } else {
            self.closings.positions(&self.poses, &self.turns, t);
            false
        };
        self.closings.rows(&self.tree, &self.poses);
        // A factor that is off by the last small correction still reduces a small velocity residual to rounding.
        if !near {
            self.closure.factor(&self.tree, &self.closings, &self.schedule);
        }
        if self.closure.smallest.0 < lost {
            return Ok(false);
        }
        if self.closed == Closed::Nothing {
            return Ok(true);
        }
        self.tree.speed(&self.u);
        self.closings.velocities(&self.tree, t);
        let u = &mut self.u;
        self.closure.solve(&self.tree, &self.closings, &self.schedule, |c, du| u[c] += du);
        Ok(true)
    }

    /// Corrects the dependent coordinates; returns whether the factor in use is that of a pose very near, or `None` if a sine falls below
    /// the limit.
    fn close_positions(&mut self, lost: f64, t: f64) -> Result<Option<bool>, Box<Diagnostic>> {
        self.corrected.fill(0.0);
        let mut residual = self.closings.positions(&self.poses, &self.turns, t);
        let mut factored = false;
        let first = residual;
        let near = |factored: bool| factored && first < NEAR;
        for _ in 0..CORRECTIONS {
            // Near a singular position the effect of the residual is divided by the sine in the coordinates, by its square in the speeds
            // and by its cube in the rates: it is reduced to rounding there.
            let weak = self.closure.smallest.0 < WEAK;
            if residual <= if weak { EXACT } else { CLOSED } {
                return Ok(Some(near(factored) && !weak));
            }
            if !residual.is_finite() {
                break;
            }
            if !factored {
                self.closings.rows(&self.tree, &self.poses);
                self.closure.factor(&self.tree, &self.closings, &self.schedule);
                if self.closure.smallest.0 < lost {
                    return Ok(None);
                }
            }
            self.counts[1] += 1;
            let correction = &mut self.correction;
            correction.fill(0.0);
            self.closure.solve(&self.tree, &self.closings, &self.schedule, |c, d| correction[c] = d);
            self.corrected.iter_mut().zip(&self.correction).for_each(|(sum, d)| *sum += d);
            self.retract();
            let before = residual;
            residual = self.closings.positions(&self.poses, &self.turns, t);
            // The old factor is used again while it reduces the residual well; the corrections end at rounding.
            factored = residual < 1e-3 * before;
            if residual > 0.3 * before && residual < OPEN {
                return Ok(Some(false));
            }
            // Corrections start from the prediction, which is near its branch unless the step is too large.
            if residual > CERTAIN * before && residual >= OPEN {
                break;
            }
        }
        if residual < OPEN {
            return Ok(Some(false));
        }
        let worst = self.closings.g.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map_or(0, |x| x.0);
        let name =
            self.closings.list.iter().zip(&self.closings.set.list).find(|(c, _)| worst < c.at + c.active).map(|(_, c)| c.name.clone());
        let name = name.unwrap_or_default();
        Err(Box::new(
            Diagnostic::new("S270", format!("the loop through `{name}` cannot be closed: a gap of {residual:.1e} link lengths remains"))
                .name(name)
                .time(t)
                .help("the mechanism is near a dead point or the step is too large; choose a smaller tolerance or step"),
        ))
    }

    /// Moves the coordinates by the correction and places the affected nodes again.
    fn retract(&mut self) {
        let mut first = usize::MAX;
        for (i, n) in self.tree.nodes.iter().enumerate().skip(1) {
            let (k, d) = (&n.kind, &self.correction[n.u..n.u + n.kind.speeds()]);
            if d.iter().any(|d| *d != 0.0) {
                first = first.min(i);
                let mut from = [0.0; 7];
                from[..k.stored()].copy_from_slice(&self.q[n.q..n.q + k.stored()]);
                k.retract(&from, d, &mut self.q[n.q..n.q + k.stored()]);
            }
        }
        self.tree.place_from(first, &self.q);
        self.pose_needed(first);
    }

    /// `to = from o exp(d)` for all coordinates.
    pub fn retracted(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        if self.tree.turning.is_empty() {
            for (to, (from, d)) in to.iter_mut().zip(from.iter().zip(d)) {
                *to = from + d;
            }
            return;
        }
        for n in self.tree.nodes.iter().skip(1) {
            n.kind.retract(&from[n.q..], &d[n.u..], &mut to[n.q..]);
        }
    }

    /// Largest residual of the active rows at coordinates.
    pub fn gap(&mut self, t: f64, q: &[f64], u: &[f64]) -> f64 {
        self.q.copy_from_slice(q);
        self.u.copy_from_slice(u);
        self.drive(t);
        self.tree.place(&self.q);
        self.placed = true;
        self.pose_needed(1);
        self.closings.positions(&self.poses, &self.turns, t)
    }

    /// Updates the counted angles, and all poses, at the closed state.
    pub fn count_turns(&mut self) {
        if self.turns.is_empty() && self.closings.is_empty() {
            return;
        }
        if !self.placed {
            self.tree.place(&self.q);
            self.placed = true;
        }
        self.pose_all();
        for (k, a) in self.model.angles.iter().enumerate() {
            let [i, j] = a.bodies.map(|b| &self.poses[b.index()]);
            self.turns[k] = a.value(i, j, self.turns[k]);
        }
    }

    /// Power of the time-dependent right-hand sides of closing rows.
    pub fn closing_power(&mut self, t: f64) -> f64 {
        let [lambda, nu] = &mut self.multipliers;
        self.closings.unfold(&self.poses, &self.lambda, lambda);
        self.closings.set.nu(t, nu);
        -lambda.iter().zip(nu.iter()).map(|(l, n)| l * n).sum::<f64>()
    }

    /// Name of a column: its joint and coordinate.
    pub fn column_name(&self, column: usize) -> String {
        let n = &self.tree.nodes[self.tree.node_of[column] as usize];
        let what = n.kind.column_name(column - n.u);
        match n.joint {
            Some(j) => format!("`{}` ({what})", self.model.joints[j].name),
            None => format!("`{}` (free, {what})", self.model.bodies[n.body].name),
        }
    }

    /// Accelerations at the closed state.
    pub fn accelerate(&mut self, t: f64) {
        self.prepare(t);
        self.solve();
        if self.friction {
            self.iterate_friction(t);
        }
    }

    /// Inputs of the solution: inertias, forces, right-hand sides.
    pub fn prepare(&mut self, t: f64) {
        self.counts[0] += 1;
        let Self { tree, fronts, q, u, udot, .. } = self;
        if self.placed {
            tree.sweep::<false>(q, u, udot, &mut fronts.bodies);
        } else {
            tree.sweep::<true>(q, u, udot, &mut fronts.bodies);
            self.placed = true;
            self.pose_needed(1);
        }
        self.move_needed();
        if !self.model.forces.is_empty() {
            self.applied.fill(Six::default());
        }
        self.apply_forces(t);
        if !self.closings.is_empty() {
            self.closings.accelerations(&self.tree, &self.poses, &self.velocities, t);
        }
    }

    /// Sets the external wrenches on the bodies, replacing the previous ones.
    fn apply_forces(&mut self, t: f64) {
        if self.model.forces.is_empty() {
            return;
        }
        for (body, F) in self.fronts.bodies.iter_mut().zip(&mut self.applied) {
            body.f -= std::mem::take(F);
        }
        let Self { tree, applied, poses, velocities, turns, loads, z, model, .. } = self;
        let x = eval::Plain { t, q: poses, v: velocities, turns, loads, z };
        for (_, force) in &model.forces {
            force.wrench(model, &x, &mut |b, F: nalgebra::Vector3<f64>, T: nalgebra::Vector3<f64>| {
                if b != 0 {
                    let k = tree.of_body[b];
                    let rho = poses[b].r - tree.O[tree.nodes[k].patch];
                    applied[k] += Six::new(F, poses[b].A * T + rho.cross(&F));
                }
            });
        }
        for (body, F) in self.fronts.bodies.iter_mut().zip(&self.applied) {
            body.f += *F;
        }
    }

    fn solve(&mut self) {
        self.fronts.inward(&self.tree, &self.closings, &self.schedule);
        self.fronts.outward(&self.tree, &self.schedule, &mut self.udot);
        if !self.closings.is_empty() {
            self.fronts.multipliers(&self.closings, &self.schedule, &mut self.lambda);
        }
    }

    /// Iterates friction and loads, which depend on each other, until both converge.
    fn iterate_friction(&mut self, t: f64) {
        let spots = self.model.forces.iter().any(|(_, f)| f.touches().spot.is_some());
        self.rounds.begin();
        let mut last = f64::INFINITY;
        for _ in 0..FRICTION_ROUNDS {
            let began = self.loads.clone();
            let change = self.update_loads(t);
            if change <= 1e-14 {
                break;
            }
            self.rounds.next(&began, &mut self.loads, spots && load::is_slow(change, last));
            last = change;
            self.apply_forces(t);
            self.solve();
        }
    }

    /// New normal loads of the joints with friction; the largest relative change.
    fn update_loads(&mut self, t: f64) -> f64 {
        let at = Configuration { t, q: self.poses.clone(), v: self.velocities.clone(), turns: self.turns.clone(), z: self.z.clone() };
        let mut instant = Instant::new(self.model, &at);
        reaction::fill(self, &Loads::new(self.model, &self.closings.set), &mut instant);
        let (mut change, mut size) = (0.0_f64, f64::MIN_POSITIVE);
        for (_, f) in &self.model.forces {
            let touches = f.touches();
            let (place, load) = match (touches.spot, touches.loaded_joint()) {
                (Some(k), _) => (self.model.load_of_rolling(k), instant.pressed(self.model, k)),
                (None, Some(joint)) => (joint, load_across(self.model, joint, &self.poses, &instant.reactions[joint])),
                (None, None) => continue,
            };
            change = change.max((load - self.loads[place]).abs());
            size = size.max(load.abs());
            self.loads[place] = load;
        }
        change / size
    }

    /// Acceleration of a node about its reference point.
    pub fn node_acceleration(&self, k: usize) -> Six {
        self.tree.at[k].a_t + self.fronts.a_hat[k]
    }

    /// Accelerations of all bodies.
    pub fn body_accelerations(&self, out: &mut [Twist]) {
        out[0] = Twist::zero();
        for k in 1..self.tree.nodes.len() {
            let body = self.tree.nodes[k].body;
            out[body] = self.tree.acceleration(k, &self.poses[body], &self.node_acceleration(k));
        }
    }
}
