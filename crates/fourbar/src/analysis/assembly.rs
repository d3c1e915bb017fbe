//! Assembly: the consistent positions and velocities nearest to the given ones.
//!
//! Levenberg-Marquardt on the constraints in the metric of the masses; its damping is the shift of the Schur complement, so that redundant
//! rows need no special treatment. Two phases keep axes from flipping: first with rows that make axes coincide (they have no flipped root),
//! then with the true rows. A last phase of sequential quadratic programming moves along the constraints to the point nearest to the start.

pub mod modes;
mod starts;
mod walk;

use crate::constraint::{Constraint, ConstraintSet, Owner, Rows};
use crate::diagnostic::{Diagnostic, number};
use crate::joint::Alignment;
use crate::model::{Hold, Joint, Model};
use crate::projector::largest;
use crate::random::Random;
use crate::state::{Configuration, Pose};
use crate::topology::Topology;
use fourbar_math::elementary;
use serde::Serialize;
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Fraction of `m L^2` below which a rotational inertia is raised, for particles and thin rods.
pub const FLOOR: f64 = 0.01;

pub use starts::{Branch, Other};
pub use walk::Metric;
use walk::{Problem, Walk, close};

/// Result of assembly.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// Consistent start.
    pub configuration: Configuration,
    /// Iterations used.
    pub iterations: usize,
    /// Largest constraint residual before assembly, metres (rotations times the characteristic length). Requested conditions under `start:`
    /// are not included.
    pub residual_before: f64,
    /// The same after assembly.
    pub residual_after: f64,
    /// Largest velocity residual before assembly.
    pub velocity_residual_before: f64,
    /// Whether velocities were given.
    pub stated: bool,
    /// How far each body moved.
    pub moved: Vec<Moved>,
    /// Constraints that were open at the start, with their gaps, largest first.
    pub open: Vec<Gap>,
    /// Conditions under `start:` that the drawn pose did not satisfy, with their gaps.
    pub asked: Vec<Gap>,
    /// Distance of the pose from the drawn one in the metric of the masses, metres: see [`Metric`].
    pub distance: f64,
    /// Results from other starts, if the first path was long.
    pub branch: Option<Branch>,
}

/// Change of one body.
#[derive(Clone, Debug, Serialize)]
pub struct Moved {
    /// Its name.
    pub body: String,
    /// Distance of the centre of mass, metres.
    pub distance: f64,
    /// Angle of rotation, radians.
    pub angle: f64,
    /// Change of velocity, m/s.
    pub velocity: f64,
    /// Change of angular velocity, rad/s.
    pub omega: f64,
}

/// Violation of a constraint.
#[derive(Clone, Debug, Serialize)]
pub struct Gap {
    /// Name of the joint, drive or constraint.
    pub name: String,
    /// Gap between points, metres.
    pub distance: f64,
    /// Gap between directions, radians.
    pub angle: f64,
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.name)?;
        // A part that is rounding compared with the other one is omitted.
        match (self.distance > 1e-4 * self.angle, self.angle > 1e-4 * self.distance) {
            (true, true) => write!(f, " ({} m, {} rad)", number(self.distance), number(self.angle)),
            (false, true) => write!(f, " ({} rad)", number(self.angle)),
            _ => write!(f, " ({} m)", number(self.distance)),
        }
    }
}

impl Assembled {
    /// Whether the file's start had to be changed to close the mechanism.
    pub fn start_was_inconsistent(&self, model: &Model) -> bool {
        self.residual_before > 1e-6 * model.length || self.velocity_residual_before > 1e-6 * model.length
    }

    /// Description of the choice among several closed poses, if they were searched for.
    pub fn note(&self) -> Option<String> {
        self.branch.as_ref().map(|b| b.words(self.distance))
    }

    /// A state that is consistent already.
    pub fn already(at: &Configuration) -> Self {
        Self {
            configuration: at.clone(),
            iterations: 0,
            residual_before: 0.0,
            residual_after: 0.0,
            velocity_residual_before: 0.0,
            stated: true,
            moved: Vec::new(),
            open: Vec::new(),
            asked: Vec::new(),
            distance: 0.0,
            branch: None,
        }
    }

    /// The warning about a changed start, if necessary.
    pub fn warning(&self, model: &Model) -> Option<Diagnostic> {
        if self.residual_before > 1e-6 * model.length {
            let worst: Vec<String> = self.open.iter().take(4).map(|g| g.to_string()).collect();
            let most =
                self.moved.iter().max_by(|a, b| (a.distance + model.length * a.angle).total_cmp(&(b.distance + model.length * b.angle)))?;
            return Some(
                Diagnostic::new(
                    "W201",
                    format!("the drawn start does not close: there are gaps at {}; assembly closed them", worst.join(", ")),
                )
                .names(self.open.iter().map(|g| g.name.clone()))
                .help(format!(
                    "largest change: `{}` by {} m and {} rad; `fourbar assemble` lists all",
                    most.body,
                    number(most.distance),
                    number(most.angle)
                )),
            );
        }
        // Omitted velocities are determined by the drives.
        if self.stated && self.velocity_residual_before > 1e-6 * model.length {
            let most =
                self.moved.iter().max_by(|a, b| (a.velocity + model.length * a.omega).total_cmp(&(b.velocity + model.length * b.omega)))?;
            return Some(
                Diagnostic::new(
                    "W202",
                    format!(
                        "the start velocities are inconsistent with joints and drives (worst {} m/s); the nearest consistent ones are used",
                        number(self.velocity_residual_before)
                    ),
                )
                .name(most.body.clone())
                .help(format!(
                    "largest change: `{}` by {} m/s and {} rad/s",
                    most.body,
                    number(most.velocity),
                    number(most.omega)
                )),
            );
        }
        None
    }
}

/// Gaps of all constraints, zero ones omitted, largest first.
pub fn gaps(model: &Model, set: &ConstraintSet, Phi: &[f64], threshold: f64) -> Vec<Gap> {
    gaps_of(model, &set.list, Phi, threshold)
}

fn gaps_of(model: &Model, constraints: &[Constraint], Phi: &[f64], threshold: f64) -> Vec<Gap> {
    let mut list: Vec<Gap> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut row = 0;
    for c in constraints {
        let (mut distance, mut angle) = (0.0, 0.0);
        for rows in &c.rows {
            let size: f64 = Phi[row..row + rows.count()].iter().map(|x| x * x).sum();
            if rows.is_rotation() {
                angle += size / (model.length * model.length)
            } else {
                distance += size
            }
            row += rows.count();
        }
        let gap = Gap { name: c.name.clone(), distance: f64::sqrt(distance), angle: f64::sqrt(angle) };
        if gap.distance + model.length * gap.angle > threshold {
            let place = *places.entry(&c.name).or_insert(list.len());
            match list.get_mut(place) {
                Some(g) => {
                    g.distance = g.distance.max(gap.distance);
                    g.angle = g.angle.max(gap.angle);
                }
                None => list.push(gap),
            }
        }
    }
    list.sort_by(|a, b| (b.distance + model.length * b.angle).total_cmp(&(a.distance + model.length * a.angle)));
    list
}

/// Rows that keep the coordinates of a held joint as drawn.
fn hold_constraint(model: &Model, k: usize, start: &Configuration) -> Constraint {
    let j = &model.joints[k];
    let L = model.length;
    let [qi, qj] = j.bodies.map(|b| &start.q[b.index()]);
    let mut rows: SmallVec<[Rows; 3]> = j
        .coordinates()
        .map(|(name, y)| {
            let scale = if name == "angle" { L } else { 1.0 };
            let here = y.value(qi, qj, &start.turns);
            Rows::one(scale, y, scale * here)
        })
        .collect();
    let mut besides = Vec::new();
    j.kind.hold(&j.pair(L), [qi, qj], &mut besides);
    rows.extend(besides);
    Constraint { name: j.name.clone(), owner: Owner::Hold(k), bodies: smallvec![j.bodies[0], j.bodies[1]], rows, spare: None }
}

/// The first joint whose axes point in the wrong direction.
pub fn flipped_joint(model: &Model, q: &[Pose]) -> Option<usize> {
    flipped_among(model, q).next()
}

/// All joints whose axes point in the wrong direction.
fn flipped_among<'a>(model: &'a Model, q: &'a [Pose]) -> impl Iterator<Item = usize> + 'a {
    let flipped = |j: &Joint| {
        let axes: &[usize] = match j.kind.alignment() {
            Alignment::None => return false,
            Alignment::Axis => &[2],
            Alignment::Full => &[2, 0],
        };
        let [qi, qj] = j.bodies.map(|b| &q[b.index()]);
        axes.iter().any(|&a| (qi.A * j.F.axis(a)).dot(&(qj.A * j.M.axis(a))) < 0.0)
    };
    model.joints.iter().enumerate().filter(move |(_, j)| !j.open && flipped(j)).map(|(k, _)| k)
}

/// Options of assembly.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether drives hold at time zero.
    pub drives: bool,
    /// Number of random restarts before a mechanism is reported as impossible.
    pub restarts: usize,
    /// Maximum number of starts in the search for a nearer pose if the first path was long; 0 keeps the first result.
    pub starts: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { drives: true, restarts: 3, starts: 24 }
    }
}

/// Conditions for every start of a mechanism.
pub struct Bound {
    /// Bodies that do not move.
    pub held: Vec<bool>,
    /// Joints, drives at t = 0, held coordinates, and last the `start:` conditions on positions.
    pub rows: Vec<Constraint>,
    /// Number of rows that remain in force after the start.
    pub lasting: usize,
}

impl Bound {
    /// With the held coordinates at their values in `start`.
    pub fn new(model: &Model, start: &Configuration, drives: bool) -> Self {
        let mut held = vec![false; model.bodies.len()];
        let mut rows = model.constraints(drives);
        for h in &model.hold {
            match *h {
                Hold::Body(b) => held[b.index()] = true,
                // Welds and rods have no coordinates to hold.
                Hold::Joint(k) => rows.extend(Some(hold_constraint(model, k, start)).filter(|c| !c.rows.is_empty())),
            }
        }
        let lasting = rows.len();
        rows.extend(model.start_constraints(false));
        Self { held, rows, lasting }
    }
}

/// Assembles a model from the start in its file.
pub fn assemble(model: &Model) -> Result<Assembled, Diagnostic> {
    assemble_from(model, &Configuration::start(model), Options::default())
}

/// Assembles a model from a given configuration.
pub fn assemble_from(model: &Model, start: &Configuration, options: Options) -> Result<Assembled, Diagnostic> {
    let Bound { held, rows: true_rows, lasting } = Bound::new(model, start, options.drives);
    let mut walk = Walk::new(model, true_rows, &held, start);
    walk.p.evaluate(&start.q, &start.turns);
    let before = walk.p.Phi.clone();
    let asked_from = walk.p.set.row_start[lasting];
    let residual_before = largest(&before[..asked_from]);
    let drawn = largest(&before);
    if !drawn.is_finite() {
        return Err(Diagnostic::new("S210", "the constraints are not finite at the start")
            .help("check the drives: their values at t = 0 must be finite"));
    }
    let open = gaps_of(model, &walk.p.set.list[..lasting], &before, 1e-6 * model.length);
    let asked = gaps_of(model, &walk.p.set.list[lasting..], &before[asked_from..], 1e-6 * model.length);

    let mut q = start.q.clone();
    let mut branch = None;
    // A start that is closed to rounding is not changed at all.
    if drawn > 5e-3 * walk.closed || flipped_joint(model, &q).is_some() {
        let mut best: Option<(f64, Vec<Pose>)> = None;
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for attempt in 0..=options.restarts {
            let mut trial = start.q.clone();
            if attempt > 0 {
                random.disturb(&mut trial, &held, 0.2 * attempt as f64 * model.length, 0.4 * attempt as f64);
            }
            let residual = walk.close(&mut trial);
            let bad = flipped_joint(model, &trial).is_some();
            let score = residual + if bad { model.length } else { 0.0 };
            if best.as_ref().is_none_or(|(b, _)| score < *b) {
                best = Some((score, trial));
            }
            if !bad && residual <= walk.closed {
                break;
            }
        }
        let (score, found) = best.unwrap_or((f64::INFINITY, start.q.clone()));
        q = found;
        if score.is_nan() || score > walk.closed {
            return Err(impossible(model, &mut walk.p, &q, start));
        }
        walk.nearest(&mut q);
        branch = starts::look(&mut walk, &mut q, &held, &before, options.starts);
    }
    let distance = walk.metric.distance(&start.q, &q);
    let Walk { mut p, iterations, .. } = walk;
    p.evaluate(&q, &start.turns);
    let residual_after = p.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let mut configuration = Configuration { t: start.t, q, v: start.v.clone(), turns: start.turns.clone(), z: start.z.clone() };
    update_turns(model, &configuration.q, &mut configuration.turns);
    // Velocities given for the drawn pose rotate with their bodies: omega is specified in the world.
    for b in 1..model.bodies.len() {
        configuration.v[b].w = configuration.q[b].A.transpose() * (start.q[b].A * start.v[b].w);
    }
    let given = configuration.v.clone();
    // Rolling elements constrain velocities too; conditions on positions that hold only at the start do not.
    if !(model.rolling.is_empty() && model.start.is_empty()) {
        let mut rows = p.set.list[..lasting].to_vec();
        rows.extend(model.velocity_constraints());
        rows.extend(model.start_constraints(true));
        p = Problem::new(rows, &held, p.on.inverse, start.t);
    }
    let velocity_residual_before = project_velocity(model, &mut p, &mut configuration)?;
    let moved = (1..model.bodies.len())
        .map(|b| {
            let d = start.q[b].increment_to(&configuration.q[b]);
            let dv = given[b].plus(&configuration.v[b].scaled(-1.0));
            Moved { body: model.bodies[b].name.clone(), distance: d.v.norm(), angle: d.w.norm(), velocity: dv.v.norm(), omega: dv.w.norm() }
        })
        .collect();
    Ok(Assembled {
        configuration,
        iterations,
        residual_before,
        residual_after,
        velocity_residual_before,
        stated: start.v.iter().any(|v| v.v.norm() + v.w.norm() > 0.0),
        moved,
        open,
        asked,
        distance,
        branch,
    })
}

/// A pose reached by pulling a mechanism onto constraints.
#[derive(Clone, Debug)]
pub struct Pulled {
    /// Poses.
    pub q: Vec<Pose>,
    /// Largest remaining residual, metres.
    pub residual: f64,
    /// Whether every constraint holds and no axes are opposed.
    pub closed: bool,
}

/// Pulls a mechanism from `from` onto `rows` without flipping axes; if these close, moves to the point nearest to `near`, otherwise the
/// pose is the least-squares solution. Bodies in `held` stay where they are in `from`.
pub fn pull(model: &Model, rows: &[Constraint], held: &[bool], from: &[Pose], near: &Configuration) -> Pulled {
    let mut walk = Walk::new(model, rows.to_vec(), held, near);
    let mut q = from.to_vec();
    let residual = walk.close(&mut q);
    let closed = residual <= walk.closed && flipped_joint(model, &q).is_none();
    if closed {
        walk.nearest(&mut q);
    }
    Pulled { q, residual, closed }
}

/// Extent of the mechanism as drawn, for the rounding of coordinates.
fn reach(model: &Model) -> f64 {
    let points = model.bodies.iter().skip(1).map(|b| b.r.amax());
    points.fold(0.0, f64::max)
}

/// Updates the counted angles to the configuration.
pub fn update_turns(model: &Model, q: &[Pose], turns: &mut [f64]) {
    for (a, turn) in model.angles.iter().zip(turns) {
        let [i, j] = a.bodies.map(|b| &q[b.index()]);
        *turn = a.value(i, j, *turn);
    }
}

/// Usual and maximum number of corrections of velocities.
const USUAL: usize = 4;
const PASSES: usize = 60;

/// Projects the velocities onto the constraints; returns the largest residual before.
fn project_velocity(model: &Model, p: &mut Problem, c: &mut Configuration) -> Result<f64, Diagnostic> {
    p.weights.fill(1.0);
    p.jacobian(&c.q);
    let m = p.set.rows();
    let mut nu = vec![0.0; m];
    p.set.nu(c.t, &mut nu);
    // Held coordinates keep their given velocities.
    let mut given = vec![0.0; m];
    p.set.multiply(&p.on.schur.G, &c.v, &mut given);
    for (k, constraint) in p.set.list.iter().enumerate() {
        if matches!(constraint.owner, Owner::Hold(_)) {
            let range = p.set.row_start[k]..p.set.row_start[k + 1];
            nu[range.clone()].copy_from_slice(&given[range]);
        }
    }
    // With very unequal masses most of the shift of the factor remains in some rows: it is removed as long as the residual decreases.
    let (mut before, mut last, mut patient) = (0.0, f64::INFINITY, false);
    for pass in 0..PASSES {
        p.on.rates(&p.set, &c.v);
        for (x, n) in p.on.x.iter_mut().zip(&nu) {
            *x -= n;
        }
        let worst = p.on.size();
        if pass == 0 {
            before = worst;
        }
        let speed = c.v.iter().fold(0.0_f64, |s, v| s.max(v.v.norm()).max(model.length * v.w.norm()));
        // Velocities given with the digits of a file are corrected to rounding, exact ones are not changed.
        if worst <= 4.0 * f64::EPSILON * speed {
            break;
        }
        // Written so that a residual that is not a number counts as off.
        let fits = worst <= 1e-6 * (speed + before);
        let off = !fits;
        if pass == USUAL && !patient {
            break;
        }
        patient |= pass + 1 == USUAL && off;
        if patient && !off && worst >= 0.5 * last {
            break;
        }
        if patient && off && (worst.is_nan() || worst >= 0.5 * last || pass + 1 == PASSES) {
            let row = (0..m).max_by(|&a, &b| p.on.x[a].abs().total_cmp(&p.on.x[b].abs())).unwrap_or(0);
            let name = p.set.list[p.set.constraint_of_row(row)].name.clone();
            return Err(Diagnostic::new(
                "S212",
                format!("no velocities satisfy all joints and drives at the start: `{name}` is off by {} m/s", number(worst)),
            )
            .name(name)
            .help(
                "the mechanism starts at a dead point of a drive, or two drives contradict each other: move the start, or free one of them",
            ));
        }
        last = worst;
        // Consistent velocities need no factor.
        if pass == 0 {
            p.on.factor_rows(1e-12);
        }
        p.solve();
        for (v, d) in c.v.iter_mut().zip(&p.on.dq) {
            *v = v.plus(d);
        }
    }
    Ok(before)
}

/// Names the joints that cannot close. Least squares spreads the gap over all of them, so that weights first concentrate it.
fn impossible(model: &Model, p: &mut Problem, q: &[Pose], start: &Configuration) -> Diagnostic {
    let mut q = q.to_vec();
    // A stretched chain distributes its gap equally, and equal weights would keep it so: joints that close a loop come first.
    let closing: Vec<usize> = Topology::new(model).loops.iter().map(|l| l.closing).collect();
    let bias: Vec<f64> =
        p.set.list.iter().map(|c| if matches!(c.owner, Owner::Joint(k) if closing.contains(&k)) { 0.7 } else { 1.0 }).collect();
    for _ in 0..25 {
        p.weights.fill(1.0);
        p.evaluate(&q, &start.turns);
        let sizes: Vec<f64> = (0..p.set.list.len())
            .map(|c| p.Phi[p.set.row_start[c]..p.set.row_start[c + 1]].iter().map(|x| x * x).sum::<f64>().sqrt())
            .collect();
        let top = sizes.iter().copied().fold(0.0, f64::max);
        for ((w, s), bias) in p.weights.iter_mut().zip(&sizes).zip(&bias) {
            *w = bias * elementary::powf(0.03 * top / (s + 0.01 * top), 0.75);
        }
        close(model, p, &mut q, &start.turns, 0.0);
    }
    p.weights.fill(1.0);
    p.evaluate(&q, &start.turns);
    let top = p.Phi.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    let gaps = gaps(model, &p.set, &p.Phi, 0.05 * top);
    let words: Vec<String> = gaps.iter().take(4).map(|g| g.to_string()).collect();
    let flipped = flipped_joint(model, &q)
        .map(|k| format!("; the axes of `{}` would have to point opposite ways", model.joints[k].name))
        .unwrap_or_default();
    let message = if top > 1e-9 * model.length {
        format!("the mechanism cannot be assembled: gaps remain at {}{flipped}", words.join(", "))
    } else {
        format!("the mechanism cannot be assembled as drawn{flipped}")
    };
    let widest = gaps.iter().map(|g| g.distance).fold(0.0, f64::max);
    Diagnostic::new("S211", message).names(gaps.iter().map(|g| g.name.clone())).gap(widest).help(
        "check the lengths of the links around these joints, the drive values at t = 0 and `hold:`; or start closer to the intended pose",
    )
}

/// Refuses a state of another mechanism.
pub(crate) fn fits(model: &Model, state: &Configuration) -> Result<(), Diagnostic> {
    let n = model.bodies.len();
    let sizes = state.q.len() == n && state.v.len() == n && state.turns.len() == model.angles.len() && state.z.len() == model.auxiliaries();
    let bodies = state.q.iter().zip(&state.v).map(|(q, v)| q.r.sum() + q.A.sum() + v.v.sum() + v.w.sum());
    let finite = (bodies.sum::<f64>() + state.turns.iter().chain(&state.z).sum::<f64>() + state.t).is_finite();
    if sizes && finite {
        return Ok(());
    }
    let what = if sizes {
        "one of its values is not a finite number".to_string()
    } else {
        format!(
            "it has {} bodies with ground, {} counted angles and {} numbers of inputs and states, the mechanism {n}, {} and {}",
            state.q.len(),
            state.turns.len(),
            state.z.len(),
            model.angles.len(),
            model.auxiliaries()
        )
    };
    Err(Diagnostic::new("U312", format!("the state does not match the mechanism: {what}"))
        .help("take it from `state` of a simulation of the same mechanism"))
}
