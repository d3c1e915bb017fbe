//! Energies and forces of a mechanism in natural coordinates: kinetic energy, potentials, and forces by their virtual power.
//!
//! The laws are those of [`crate::force::eval`], evaluated on recorded scalars. A spring works along the rate of its length, a
//! joint's effort along the rate of its coordinate, a torque along the angular velocity: no generalised force is written out.

use super::builder::{Builder, W};
use super::parts::Layout;
use super::sym::Sym;
use crate::coordinate::PoseOf;
use crate::diagnostic::Diagnostic;
use crate::force::eval::{self, States, VelocityOf};
use crate::force::{Force, Law, StateLaw, Variable};
use crate::joint::Rigid;
use crate::model::{BodyId, Coupling, JointCoordinate, Model, PointOn};
use crate::spec::ForceFrame;
use fourbar_math::Scalar;
use nalgebra::Vector3;

/// The expressions of a force.
pub fn laws(force: &Force) -> Vec<&StateLaw> {
    match force {
        Force::Spring { law: Law::Expression(e), .. } | Force::Torsion { law: Law::Expression(e), .. } => vec![e],
        Force::Point { force: list, .. } | Force::Torque { torque: list, .. } => list.iter().collect(),
        Force::Actuator { effort, .. } => vec![effort],
        _ => Vec::new(),
    }
}

/// Joints whose angle must be a coordinate: driven, geared, threaded, sprung, or read by an expression.
pub fn angles_needed(model: &Model) -> Vec<bool> {
    let mut need: Vec<bool> = model.joints.iter().map(|j| j.kind.shared().thread.is_some()).collect();
    let driven = model.drives.iter().filter(|d| d.coordinate == JointCoordinate::Angle).map(|d| d.joint);
    // Gears on a carrier measure angles of their own.
    let own = |c: &&Coupling| [0, 1].iter().all(|&s| c.sides[s].1 == model.joints[c.joints[s]].bodies);
    let geared = model.couplings.iter().filter(own).flat_map(|c| [0, 1].map(|s| (c.sides[s].0, c.joints[s])));
    let geared = geared.filter(|(which, _)| *which == JointCoordinate::Angle).map(|(_, j)| j);
    driven.chain(geared).for_each(|j| need[j] = true);
    for (_, f) in &model.forces {
        if let Force::Torsion { joint, .. } = f {
            need[*joint] = true;
        }
        for v in laws(f).into_iter().flat_map(|l| &l.variables) {
            if let Variable::JointAngle(j) = v {
                need[*j] = true;
            }
        }
    }
    (0..need.len()).for_each(|j| need[j] &= model.joints[j].kind.has_angle());
    need
}

/// Parts whose rotation some force or joint reads, so that they cannot be thin rods or particles.
pub fn axes_read(model: &Model, layout: &Layout) -> Vec<bool> {
    let mut read = vec![false; layout.parts.len()];
    let part = |b: BodyId| layout.part_of[b.index()];
    for (_, f) in &model.forces {
        match f {
            Force::Spring { .. } => {}
            Force::Point { on, frame, .. } => read[part(on.body)] |= *frame == ForceFrame::Body,
            Force::Torque { body, .. } => read[part(*body)] = true,
            Force::Torsion { joint: j, .. } | Force::Actuator { joint: j, .. } | Force::Friction { joint: j, .. } => {
                model.joints[*j].bodies.iter().for_each(|b| read[part(*b)] = true);
            }
            Force::Bushing { between, .. } => between.iter().for_each(|p| read[part(p.body)] = true),
        }
    }
    for j in model.joints.iter().filter(|j| !layout.on_coil(j.bodies)) {
        let [a, b] = j.bodies.map(part);
        // A point at the centre of mass of a particle may be held in any way that leaves it free to turn.
        let shared = j.kind.shared();
        let free = if shared.rigid == Rigid::Welded { [a == b; 2] } else { shared.loose };
        read[a] |= !free[0];
        read[b] |= !free[1];
    }
    model.bare.iter().flat_map(|b| b.bodies).for_each(|b| read[part(b)] = true);
    read
}

/// Places on each part where forces attack or that are drawn, in its coordinates.
pub fn attacked(model: &Model, layout: &Layout) -> Vec<Vec<Vector3<f64>>> {
    let mut places = vec![Vec::new(); layout.parts.len()];
    let mut add = |p: &PointOn| places[layout.part_of[p.body.index()]].push(layout.point(p.body, &p.s));
    for (_, f) in &model.forces {
        match f {
            Force::Spring { between, .. } => between.iter().for_each(&mut add),
            Force::Point { on, .. } => add(on),
            _ => {}
        }
    }
    model.points.iter().for_each(|(_, p)| add(p));
    places
}

/// The state as the laws of forces read it.
struct Recorded<'a, 'm> {
    builder: &'a Builder<'m>,
    time: Sym,
}

impl States<Sym> for Recorded<'_, '_> {
    fn time(&self) -> f64 {
        self.builder.start.t
    }
    fn now(&self) -> Sym {
        self.time
    }
    fn pose(&self, body: usize) -> PoseOf<Sym> {
        self.builder.pose(BodyId(body as u32))
    }
    fn velocity(&self, body: usize) -> VelocityOf<Sym> {
        let q = self.pose(body);
        let [a, b, c] = [0, 1, 2].map(|k| W::from(q.A.column(k)));
        let rate = |w: &W| w.map(Sym::rate);
        VelocityOf { v: rate(&q.r), w: Vector3::new(c.dot(&rate(&b)), a.dot(&rate(&c)), b.dot(&rate(&a))) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.builder.start.turns.get(memory).copied().unwrap_or(0.0)
    }
    fn load(&self, _joint: usize) -> Sym {
        Sym::of(0.0)
    }
    fn counted(&self, memory: usize) -> Option<(Sym, Sym)> {
        let joint = self.builder.model.joints.iter().position(|j| j.memory == Some(memory))?;
        let theta = self.builder.coordinate[joint][0]?;
        Some((theta, theta.rate()))
    }
    fn place(&self, on: &PointOn) -> (W, W) {
        let p = self.builder.to_world.map(Sym::of) * self.builder.body_point(on.body, &on.s);
        (p, p.map(Sym::rate))
    }
}

/// Lagrangian, forces along rates, and the power of what has no potential.
pub struct Actions {
    /// Kinetic less potential energy.
    pub lagrangian: Sym,
    /// Rates and the forces that work along them.
    pub loads: Vec<(Sym, Sym)>,
    /// Power of forces without a potential.
    pub power: Sym,
}

/// Collects all energies and forces.
pub fn actions(b: &Builder<'_>) -> Result<Actions, Diagnostic> {
    let model = b.model;
    let mut lagrangian = Sym::of(0.0);
    let g = b.to_world.tr_mul(&model.gravity);
    for p in 1..b.layout.parts.len() {
        lagrangian += b.kinetic(p);
        let part = &b.layout.parts[p];
        if let Some(c) = b.centre(p) {
            lagrangian += c.dot(&(g * part.mass).map(Sym::of));
        }
    }
    let mut a = Actions { lagrangian, loads: Vec::new(), power: Sym::of(0.0) };
    let x = Recorded { builder: b, time: Sym::time() };
    for (name, force) in &model.forces {
        add(&mut a, b, &x, name, force)?;
    }
    Ok(a)
}

impl Actions {
    /// A force without a potential.
    fn works(&mut self, rate: Sym, force: Sym) {
        self.loads.push((rate, force));
        self.power += rate * force;
    }
    /// A law along a coordinate that it resists: its elastic part is a potential.
    fn resists(&mut self, model: &Model, law: &Law, y: Sym, x: &Recorded<'_, '_>) {
        let rate = y.rate();
        match law {
            Law::Linear { stiffness, rest, damping } => {
                let stretch = y - Sym::of(*rest);
                self.lagrangian -= stretch * stretch * Sym::of(0.5 * stiffness);
                if *damping != 0.0 {
                    self.works(rate, rate * Sym::of(-damping));
                }
            }
            Law::Expression(_) => {
                let force = law.value(model, x, (y, rate));
                self.works(rate, -force);
            }
        }
    }
}

fn add(a: &mut Actions, b: &Builder<'_>, x: &Recorded<'_, '_>, name: &str, force: &Force) -> Result<(), Diagnostic> {
    let model = b.model;
    match force {
        Force::Spring { between, law } => {
            let [p, q] = between.map(|p| b.body_point(p.body, &p.s));
            let d = q - p;
            let square = d.dot(&d);
            if let Law::Linear { stiffness, rest: 0.0, damping: 0.0 } = law {
                // Without a rest length it has a smooth potential even where it is short.
                a.lagrangian -= square * Sym::of(0.5 * stiffness);
                return Ok(());
            }
            if square.value().sqrt() < 1e-9 * model.length {
                return Err(Diagnostic::new("S281", format!("spring `{name}` has no length at the start, so it has no direction"))
                    .name(name)
                    .at(format!("forces.{name}"))
                    .help("move one of its ends, or use formulation `ra`"));
            }
            a.resists(model, law, square.sqrt(), x);
        }
        Force::Torsion { joint, law } => {
            let (y, _) = eval::coordinate_of(model, *joint, Some(JointCoordinate::Angle), x);
            a.resists(model, law, y, x);
        }
        Force::Point { on, force, frame } => {
            let own = (Sym::of(0.0), Sym::of(0.0));
            let mut F = Vector3::from_fn(|k, _| eval::law_value(model, &force[k], x, own));
            if *frame == ForceFrame::Body {
                F = x.pose(on.body.index()).A * F;
            }
            let (_, v) = x.place(on);
            (0..3).for_each(|k| a.works(v[k], F[k]));
        }
        Force::Torque { body, torque, frame } => {
            let own = (Sym::of(0.0), Sym::of(0.0));
            let T = Vector3::from_fn(|k, _| eval::law_value(model, &torque[k], x, own));
            let group = b.layout.group_of(*body);
            let Some(axes) = &b.axes[group] else { return Ok(()) };
            // Components along the axes of the basis, whose rates are simplest.
            let T = match frame {
                ForceFrame::World => {
                    let T = b.to_world.transpose().map(Sym::of) * T;
                    Vector3::from_fn(|k, _| axes.e[k].dot(&T))
                }
                ForceFrame::Body => (axes.T.transpose() * b.layout.frame[body.index()].0).map(Sym::of) * T,
            };
            let e_dot: Vec<W> = axes.e.iter().map(|e| e.map(Sym::rate)).collect();
            for k in 0..3 {
                let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                a.works(axes.e[j].dot(&e_dot[i]), T[k]);
            }
        }
        Force::Actuator { joint, effort } => {
            let e = eval::law_value(model, effort, x, (Sym::of(0.0), Sym::of(0.0)));
            a.works(joint_rate(b, *joint, x), e);
        }
        Force::Friction { joint, viscous, .. } => {
            let rate = joint_rate(b, *joint, x);
            a.works(rate, rate * Sym::of(-viscous));
        }
        Force::Bushing { .. } => {
            let mut wrenches = Vec::new();
            eval::wrench(model, force, x, &mut |body, F, T| wrenches.push((body, F, T)));
            for (body, F, T) in wrenches.into_iter().filter(|w| w.0 > 0) {
                let v = x.velocity(body);
                (0..3).for_each(|k| a.loads.extend([(v.v[k], F[k]), (v.w[k], T[k])]));
            }
            a.power += eval::power_of(model, force, x);
        }
    }
    Ok(())
}

/// Rate of the coordinate an effort acts along.
fn joint_rate(b: &Builder<'_>, joint: usize, x: &Recorded<'_, '_>) -> Sym {
    let j = &b.model.joints[joint];
    let which = if j.kind.has_angle() { JointCoordinate::Angle } else { JointCoordinate::Distance };
    let slot = usize::from(which == JointCoordinate::Distance);
    match b.coordinate[joint][slot] {
        Some(y) => y.rate(),
        None => eval::coordinate_of(b.model, joint, Some(which), x).1,
    }
}
