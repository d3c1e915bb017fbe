//! The interface between formulations and runs: a motion, and its instants in global coordinates.
//!
//! A formulation with its integrator implements [`Motion`]; [`crate::simulation`] advances it between requested times. Implicit ones are in
//! [`crate::integrator::implicit`], explicit ones in [`crate::integrator::first_order`].

mod least_norm;
mod poorly;

pub use least_norm::LeastLoads;
pub use poorly::{DATA, Poorly, largest_force};

use crate::constraint::{ConstraintSet, Owner};
use crate::coordinate::PoseOf;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::force::eval::Plain;
use crate::inputs::{Plan, change_drives};
use crate::model::{JointCoordinate, Model};
use crate::rolling::RollingKind;
use crate::settings::Study;
use crate::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A force and a torque, world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Force.
    pub force: Vector3<f64>,
    /// Torque.
    pub torque: Vector3<f64>,
}

/// Loads and slip of a rigid contact at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactLoad {
    /// Least gap, m.
    pub gap: f64,
    /// Sum of the normal forces, N.
    pub normal: f64,
    /// Force along the surface on the second body, world, N.
    pub tangential: Vector3<f64>,
    /// Speed along the surface where the normal force is largest, m/s.
    pub slip: f64,
    /// 0 open, 1 sliding, 2 sticking.
    pub state: f64,
}

impl ContactLoad {
    /// Its numbers, in the order of the columns.
    pub fn numbers(&self) -> [f64; 7] {
        let f = &self.tangential;
        [self.gap, self.normal, f.x, f.y, f.z, self.slip, self.state]
    }

    /// From its numbers.
    fn of(x: &[f64]) -> Self {
        Self { gap: x[0], normal: x[1], tangential: Vector3::new(x[2], x[3], x[4]), slip: x[5], state: x[6] }
    }
}

/// One instant in global terms, as returned by every formulation at output times.
#[derive(Clone, Debug, PartialEq)]
pub struct Instant {
    /// Time.
    pub t: f64,
    /// Poses, ground first.
    pub q: Vec<Pose>,
    /// Velocities.
    pub v: Vec<Twist>,
    /// Accelerations: linear in the world, angular in body axes.
    pub a: Vec<Twist>,
    /// Counted angles.
    pub turns: Vec<f64>,
    /// Inputs, their slopes, and states; see [`crate::auxiliary`].
    pub z: Vec<f64>,
    /// Reaction of each joint on its moving body at its joint-frame origin.
    pub reactions: Vec<Reaction>,
    /// Effort of each drive.
    pub efforts: Vec<f64>,
    /// Reaction of each bare constraint on the body of its second place, at that place; then of each rolling element on its body,
    /// at the contact.
    pub constraints: Vec<Reaction>,
    /// Loads of each rigid contact.
    pub contacts: Vec<ContactLoad>,
    /// Work done since the start by drives and by forces without a potential.
    pub work: f64,
    /// Largest residuals of position, velocity and acceleration constraints.
    pub errors: [f64; 3],
    /// Whether reactions and efforts are to be computed; otherwise they are zero.
    pub loaded: bool,
    /// Changes of the mechanism by events; `None` if it has no events.
    pub switched: Option<Box<Switched>>,
}

/// Changes of a mechanism by events, at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Switched {
    /// Energy lost at events so far, J.
    pub lost: f64,
    /// Forces that act.
    pub acting: Vec<bool>,
    /// Efforts of the limits on the coordinates of their joints, N or N m.
    pub limits: Vec<f64>,
    /// Friction that can stick: its force, its effort, and whether it sticks.
    pub frictions: Vec<(usize, f64, bool)>,
    /// Joint coordinates that are held by locks, limits or friction, and the efforts that hold them.
    pub held: Vec<(usize, JointCoordinate, f64)>,
    /// Forces at rigid contacts.
    pub pushes: Vec<Push>,
}

/// A contact force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Push {
    /// The body on which it acts, and the one with the opposite force.
    pub bodies: [usize; 2],
    /// Point, world.
    pub at: Vector3<f64>,
    /// Force on the first body, world, N.
    pub force: Vector3<f64>,
}

impl Switched {
    /// All forces acting on the bodies, including efforts that hold coordinates but without reactions and drives.
    pub fn applied(&self, model: &Model, x: &Plain<'_>, f: &mut [Wrench]) {
        for (f, b) in f.iter_mut().zip(&model.bodies) {
            *f = Wrench { F: model.gravity * b.mass, T: Vector3::zeros() };
        }
        let mut add = |b: usize, F: Vector3<f64>, T: Vector3<f64>| {
            f[b].F += F;
            f[b].T += T;
        };
        for (k, (_, force)) in model.forces.iter().enumerate().filter(|(k, _)| self.acting[*k]) {
            match (self.frictions.iter().find(|x| x.0 == k), force.sticks()) {
                // Sticking friction is included in the held coordinates.
                (Some((_, _, true)), _) => {}
                (Some((_, effort, false)), Some(s)) => along_joint(model, s.joint, s.coordinate(model), *effort, x, &mut add),
                _ => force.wrench(model, x, &mut add),
            }
        }
        for (joint, which, effort) in &self.held {
            along_joint(model, *joint, *which, *effort, x, &mut add);
        }
        for p in &self.pushes {
            for (body, F) in [(p.bodies[0], p.force), (p.bodies[1], -p.force)] {
                let q = &x.q[body];
                add(body, F, q.A.tr_mul(&(p.at - q.r).cross(&F)));
            }
        }
    }
}

/// Effect of an effort along a joint coordinate on the bodies of the joint.
fn along_joint(
    model: &Model,
    joint: usize,
    which: JointCoordinate,
    effort: f64,
    x: &Plain<'_>,
    add: &mut impl FnMut(usize, Vector3<f64>, Vector3<f64>),
) {
    let j = &model.joints[joint];
    let Some(y) = j.coordinate(which) else { return };
    let bodies = j.bodies.map(|b| b.index());
    let row = y.row(&x.q[bodies[0]], &x.q[bodies[1]]);
    for k in 0..2 {
        let part = row.parts[k].scaled(effort);
        add(bodies[row.ij[k]], part.F, part.T);
    }
}

impl Instant {
    /// Copies another instant of the same mechanism, except for changes by events.
    pub fn take_over(&mut self, other: &Self) {
        (self.t, self.work, self.errors, self.loaded) = (other.t, other.work, other.errors, other.loaded);
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.a.clone_from(&other.a);
        self.turns.clone_from(&other.turns);
        self.z.clone_from(&other.z);
        self.reactions.clone_from(&other.reactions);
        self.efforts.clone_from(&other.efforts);
        self.constraints.clone_from(&other.constraints);
        self.contacts.clone_from(&other.contacts);
    }

    /// An instant at a configuration, with zero accelerations and reactions.
    pub fn new(model: &Model, at: &Configuration) -> Self {
        Self {
            t: at.t,
            q: at.q.clone(),
            v: at.v.clone(),
            a: vec![Twist::zero(); model.bodies.len()],
            turns: at.turns.clone(),
            z: at.z.clone(),
            reactions: vec![Reaction::default(); model.joints.len()],
            efforts: vec![0.0; model.drives.len()],
            constraints: vec![Reaction::default(); model.bare.len() + model.rolling.len()],
            contacts: vec![ContactLoad::default(); model.contacts.len()],
            work: 0.0,
            errors: [0.0; 3],
            loaded: true,
            switched: None,
        }
    }

    /// Time, poses, velocities and counted angles.
    pub fn configuration(&self) -> Configuration {
        Configuration { t: self.t, q: self.q.clone(), v: self.v.clone(), turns: self.turns.clone(), z: self.z.clone() }
    }

    /// The state for the force laws; `loads` are those of [`Instant::loads`], empty if dry friction is not needed.
    pub fn plain<'a>(&'a self, loads: &'a [f64]) -> Plain<'a> {
        Plain { t: self.t, q: &self.q, v: &self.v, turns: &self.turns, loads, z: &self.z }
    }

    /// Forces across the joints with dry friction, N, from their reactions; zero for the others. The normal forces of sliding spots follow
    /// after the joints.
    pub fn loads(&self, model: &Model, out: &mut [f64]) {
        for (_, f) in &model.forces {
            if let Force::Rub(rub) = f
                && let Some(load) = out.get_mut(rub.load)
            {
                *load = self.pressed(model, rub.closed);
            }
        }
        for joint in model.forces.iter().filter_map(|(_, f)| f.touches().loaded_joint()) {
            out[joint] = load_across(model, joint, &self.q, &self.reactions[joint]);
        }
    }

    /// Normal force of a rolling element at a spot of a contact, N.
    pub fn pressed(&self, model: &Model, rolling: usize) -> f64 {
        let RollingKind::Spot { spot, .. } = &model.rolling[rolling].rolling.kind else { return 0.0 };
        let [first, second] = spot.bodies.map(|b| PoseOf { r: self.q[b].r, A: self.q[b].A });
        self.constraints[model.bare.len() + rolling].force.dot(&spot.touch(&first, &second).n)
    }

    /// For a checkpoint: numbers are preserved exactly.
    pub(crate) fn save(&self) -> Value {
        let three = |x: &Vector3<f64>| [x.x, x.y, x.z];
        let wrenches = |list: &[Reaction]| list.iter().flat_map(|w| [three(&w.force), three(&w.torque)]).flatten().collect::<Vec<f64>>();
        let accelerations: Vec<f64> = self.a.iter().flat_map(|a| [three(&a.v), three(&a.w)]).flatten().collect();
        json!({
            "state": self.configuration().save(), "a": accelerations, "reactions": wrenches(&self.reactions),
            "efforts": self.efforts, "constraints": wrenches(&self.constraints),
            "contacts": self.contacts.iter().flat_map(ContactLoad::numbers).collect::<Vec<f64>>(), "work": self.work, "errors": self.errors,
        })
    }

    /// Restores the result of [`Instant::save`]; `None` if its sizes do not fit.
    pub(crate) fn restore(&mut self, model: &Model, saved: &Value) -> Option<()> {
        let at = Configuration::restored(model, &saved["state"])?;
        let [a, reactions, efforts, constraints, errors] =
            ["a", "reactions", "efforts", "constraints", "errors"].map(|key| numbers(&saved[key]));
        let fits = [(a.len(), self.a.len()), (reactions.len(), self.reactions.len()), (constraints.len(), self.constraints.len())];
        if fits.iter().any(|(given, own)| *given != 6 * own) || efforts.len() != self.efforts.len() {
            return None;
        }
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        self.a.iter_mut().zip(a.chunks_exact(6)).for_each(|(a, x)| *a = Twist { v: three(x), w: three(&x[3..]) });
        for (list, x) in [(&mut self.reactions, &reactions), (&mut self.constraints, &constraints)] {
            list.iter_mut().zip(x.chunks_exact(6)).for_each(|(w, x)| *w = Reaction { force: three(x), torque: three(&x[3..]) });
        }
        let contacts = numbers(&saved["contacts"]);
        if contacts.len() != 7 * self.contacts.len() {
            return None;
        }
        self.contacts.iter_mut().zip(contacts.chunks_exact(7)).for_each(|(c, x)| *c = ContactLoad::of(x));
        self.efforts = efforts;
        self.errors = errors.try_into().ok()?;
        self.work = saved["work"].as_f64()?;
        (self.t, self.q, self.v, self.turns, self.z) = (at.t, at.q, at.v, at.turns, at.z);
        Some(())
    }
}

/// Converts multipliers of a constraint set into reactions of joints and efforts of drives.
#[derive(Clone, Debug)]
pub struct Loads {
    /// For each joint, its constraint in the set.
    joints: Vec<Option<usize>>,
    /// For each drive, its row in the set and the factor of its effort.
    drives: Vec<Option<(usize, f64)>>,
    /// Bare constraints and rolling elements: their place in [`Instant::constraints`], their constraint in the set, the slot of the body,
    /// and the reference point of the torque on it; `None` for the contact point, at which the torque is zero.
    others: Vec<(usize, usize, usize, Option<Vector3<f64>>)>,
}

/// Force across the axis of a joint, N, from its reaction: the load for dry friction.
pub fn load_across(model: &Model, joint: usize, q: &[Pose], w: &Reaction) -> f64 {
    let j = &model.joints[joint];
    let z = q[j.bodies[0].index()].A * j.F.axis(2);
    (w.force - z * z.dot(&w.force)).norm()
}

impl Loads {
    /// For a model with the multipliers of `set`.
    pub fn new(model: &Model, set: &ConstraintSet) -> Self {
        let mut joints = vec![None; model.joints.len()];
        let mut drives = vec![None; model.drives.len()];
        let mut others = Vec::new();
        for (c, constraint) in set.list.iter().enumerate() {
            match constraint.owner {
                Owner::Joint(k) => joints[k] = Some(c),
                Owner::Drive(k) => {
                    let factor = if model.drives[k].coordinate == JointCoordinate::Angle { model.length } else { 1.0 };
                    drives[k] = Some((set.row_start[c], -factor));
                }
                Owner::Bare(k) => {
                    let (slot, s) = model.bare[k].coordinate.second_place();
                    others.push((k, c, slot, Some(s)));
                }
                // The body of a rolling element is slot 1, the ground slot 0.
                Owner::Rolling(k) => others.push((model.bare.len() + k, c, 1, None)),
                _ => {}
            }
        }
        Self { joints, drives, others }
    }

    /// Reaction on the moving body of a joint at its joint-frame origin.
    pub fn reaction(&self, model: &Model, set: &ConstraintSet, joint: usize, q: &[Pose], lambda: &[f64]) -> Reaction {
        let Some(c) = self.joints[joint] else { return Reaction::default() };
        self.wrench(model, set, joint, q, &lambda[set.row_start[c]..set.row_start[c + 1]])
    }

    /// The same from the multipliers of the joint only.
    fn wrench(&self, model: &Model, set: &ConstraintSet, joint: usize, q: &[Pose], own: &[f64]) -> Reaction {
        let Some(c) = self.joints[joint] else { return Reaction::default() };
        let j = &model.joints[joint];
        let g = set.generalized(c, 1, q, own);
        let A = &q[j.bodies[1].index()].A;
        let force = -g.F;
        Reaction { force, torque: -(A * g.T) - (A * j.M.s).cross(&force) }
    }

    /// Fills in all reactions and efforts.
    pub fn fill(&self, model: &Model, set: &ConstraintSet, lambda: &[f64], out: &mut Instant) {
        for k in 0..model.joints.len() {
            out.reactions[k] = self.reaction(model, set, k, &out.q, lambda);
        }
        for (effort, d) in out.efforts.iter_mut().zip(&self.drives) {
            *effort = d.map_or(0.0, |(row, factor)| factor * lambda[row]);
        }
        out.constraints.fill(Reaction::default());
        for (k, c, slot, place) in &self.others {
            let g = set.generalized(*c, *slot, &out.q, &lambda[set.row_start[*c]..set.row_start[c + 1]]);
            let A = &out.q[set.list[*c].bodies[*slot].index()].A;
            let w = &mut out.constraints[*k];
            w.force -= g.F;
            if let Some(s) = place {
                w.torque -= A * (g.T - s.cross(&A.tr_mul(&g.F)));
            }
        }
    }
}

/// A singular position that was encountered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Singular {
    /// When.
    pub time: f64,
    /// Square of the smallest distance from it found in the search, relative to that of its surroundings.
    pub pivot: f64,
    /// Joints and drives whose rows become dependent.
    pub joints: Vec<String>,
}

impl Singular {
    /// Restores the list from JSON.
    pub fn restored(list: &Value) -> Vec<Self> {
        let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
        let names =
            |v: &Value| -> Vec<String> { v.as_array().into_iter().flatten().filter_map(|j| j.as_str().map(String::from)).collect() };
        let one = |s: &Value| Self { time: number(&s["time"]), pivot: number(&s["pivot"]), joints: names(&s["joints"]) };
        list.as_array().into_iter().flatten().map(one).collect()
    }
}

/// Results of a run besides its instants.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Work counts by name.
    pub work: Vec<(&'static str, f64)>,
    /// Choices and events, as text.
    pub notes: Vec<String>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Singular positions encountered.
    pub singular: Vec<Singular>,
}

/// Numbers that describe a motion and are not counts.
const SIZES: [&str; 5] = ["order", "coordinates", "constraints", "tree_levels", "step"];

/// Quantity over which a mean is taken.
fn basis(name: &str) -> &'static str {
    if name == "mean_iterations" { "evaluations" } else { "steps" }
}

/// Adds the work of one section of a run to that of another: counts are summed, means are weighted by their numbers of samples, and of
/// maxima and sizes the larger one is kept.
pub fn add_work(sum: &mut Vec<(&'static str, f64)>, more: Vec<(&'static str, f64)>) {
    let of = |list: &[(&'static str, f64)], name: &str| list.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, n)| *n);
    let before = sum.clone();
    for (name, n) in &more {
        let Some((_, known)) = sum.iter_mut().find(|(known, _)| known == name) else {
            sum.push((name, *n));
            continue;
        };
        if name.starts_with("mean_") {
            let [a, b] = [of(&before, basis(name)), of(&more, basis(name))];
            *known = if a + b > 0.0 { (*known * a + n * b) / (a + b) } else { known.max(*n) };
        } else if name.starts_with("most_") || name.starts_with("largest_") || SIZES.contains(name) {
            *known = known.max(*n);
        } else {
            *known += n;
        }
    }
}

/// The motion of a mechanism, computed by a formulation with its integrator.
pub trait Motion: Send {
    /// The end of the last accepted step.
    fn t(&self) -> f64;
    /// Permits the motion to end with a diagnostic if forces turn out to be stiff, because another method can continue with far less work.
    fn give_way(&mut self) {}
    /// Sets the time up to which steps may pass the requested times; a requested time beyond it ends a step. Initially it is the end of the
    /// study.
    fn run_ahead(&mut self, until: f64);
    /// Advances until `t` is reached or passed; `false` if `go_on`, which is called regularly, returns `false`.
    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic>;
    /// The state at `t`, which is the start, the end of the last step or inside it.
    fn instant(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic>;
    /// Time, poses and counted angles at the end of the last step, if instants are corrected before they are returned.
    fn own_state(&self) -> Option<(f64, &[Pose], &[f64])> {
        None
    }
    /// Poses, velocities, counted angles and auxiliary variables at the end of the last step, with the error of the step and without the
    /// other data of an instant; `false` if they are not available.
    fn glance(&mut self, out: &mut Configuration) -> bool {
        let _ = out;
        false
    }
    /// Replaces the inputs, their slopes and the states at `t`, which is the end of the last step or the start: later steps continue with
    /// `z`. `false` if this is impossible during the motion, and a new motion has to be started.
    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic>;
    /// Adds results at the end of the run.
    fn report(&mut self, outcome: &mut Outcome);
    /// All data needed to continue, with numbers preserved exactly.
    fn save(&self) -> Value;
    /// Continues from saved data with the same model and settings.
    fn restore(&mut self, saved: &Value) -> Result<(), Diagnostic>;
}

/// Callbacks of [`drive`].
pub enum Event<'a> {
    /// Between output times: whether to continue.
    Asked(f64),
    /// An output time: its number, the instant, and the motion itself.
    At(usize, &'a mut Instant, &'a dyn Motion),
}

/// Advances between output times; `false` if `event` stopped the run.
pub fn drive(
    motion: &mut dyn Motion,
    outputs: impl Iterator<Item = (usize, f64)>,
    now: &mut Instant,
    event: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<bool, Diagnostic> {
    for (index, t) in outputs {
        if index > 0 && !motion.advance(t, &mut |t| event(Event::Asked(t)))? {
            return Ok(false);
        }
        motion.instant(t, now)?;
        if !event(Event::At(index, now, motion)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same at the output times of a study, including the planned changes of its inputs.
pub fn drive_planned(
    model: &Model,
    motion: &mut dyn Motion,
    study: &Study,
    plan: &mut Plan,
    now: &mut Instant,
    event: &mut dyn FnMut(Event<'_>) -> bool,
) -> Result<bool, Diagnostic> {
    if plan.is_empty() {
        return drive(motion, study.output_times().enumerate(), now, event);
    }
    let n = model.inputs.len();
    motion.run_ahead(plan.next_until(study.t_end).unwrap_or(study.t_end));
    for (index, t) in study.output_times().enumerate() {
        while let Some(at) = plan.next_until(t) {
            if !motion.advance(at, &mut |t| event(Event::Asked(t)))? {
                return Ok(false);
            }
            motion.instant(at, now)?;
            for c in plan.take(at) {
                (now.z[c.input], now.z[n + c.input]) = (c.held[0], c.held[1]);
            }
            change_drives(model, at, &now.z);
            if !motion.set_auxiliaries(at, &now.z)? {
                let message = format!("at t = {at:.6} s the inputs cannot be changed: steps have gone beyond");
                return Err(Diagnostic::new("S254", message).time(at).help("another formulation may pass"));
            }
            motion.run_ahead(plan.next_until(study.t_end).unwrap_or(study.t_end));
        }
        if index > 0 && !motion.advance(t, &mut |t| event(Event::Asked(t)))? {
            return Ok(false);
        }
        motion.instant(t, now)?;
        if !event(Event::At(index, now, motion)) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub use fourbar_model::state::numbers;

/// Error for a checkpoint that does not fit.
pub fn bad_checkpoint(what: &str) -> Diagnostic {
    Diagnostic::new("S240", format!("the checkpoint cannot be used: {what}"))
        .help("resume with the same mechanism file and options, or start again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_stretches_are_those_of_both() {
        let mut sum = vec![("steps", 10.0), ("mean_newton_iterations", 2.0), ("most_contacts", 3.0), ("order", 20.0)];
        add_work(
            &mut sum,
            vec![("steps", 30.0), ("mean_newton_iterations", 1.0), ("most_contacts", 2.0), ("order", 18.0), ("sweeps", 4.0)],
        );
        assert_eq!(sum, [("steps", 40.0), ("mean_newton_iterations", 1.25), ("most_contacts", 3.0), ("order", 20.0), ("sweeps", 4.0)]);
    }
}
