//! Energies and forces of a mechanism in natural coordinates: kinetic energy, potentials, and forces by their virtual power.
//!
//! The laws are those of [`crate::force::eval`], evaluated on recorded scalars. A spring works along the rate of its length, a joint's
//! effort along the rate of its coordinate, a torque along the angular velocity: generalised forces are not formed explicitly.

use super::builder::{Builder, W};
use super::layout::Layout;
use crate::coordinate::PoseOf;
use crate::diagnostic::Diagnostic;
use crate::force::eval::{self, States, VelocityOf};
use crate::force::{Acts, Variable};
use crate::joint::Rigid;
use crate::model::{BodyId, Coupling, JointCoordinate, Model, PointOn};
use crate::spec::ForceFrame;
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::Vector3;

/// Joints whose angle must be a coordinate: driven, geared, threaded, sprung, or used in an expression.
pub fn angles_needed(model: &Model) -> Vec<bool> {
    let mut need: Vec<bool> = model.joints.iter().map(|j| !j.open && j.kind.shared().thread.is_some()).collect();
    let driven = model.drives.iter().filter(|d| d.coordinate == JointCoordinate::Angle).map(|d| d.joint);
    // Gears on a carrier measure separate angles.
    let own = |c: &&Coupling| [0, 1].iter().all(|&s| c.sides[s].1 == model.joints[c.joints[s]].bodies);
    let geared = model.couplings.iter().filter(own).flat_map(|c| [0, 1].map(|s| (c.sides[s].0, c.joints[s])));
    let geared = geared.filter(|(which, _)| *which == JointCoordinate::Angle).map(|(_, j)| j);
    driven.chain(geared).for_each(|j| need[j] = true);
    for (_, f) in &model.forces {
        let touches = f.touches();
        touches.joint.filter(|_| touches.angle).into_iter().for_each(|joint| need[joint] = true);
        for v in touches.laws.iter().flat_map(|l| &l.variables) {
            if let Variable::JointAngle(j) = v {
                need[*j] = true;
            }
        }
    }
    for v in model.states.iter().flat_map(|s| &s.rate.variables) {
        if let Variable::JointAngle(j) = v {
            need[*j] = true;
        }
    }
    (0..need.len()).for_each(|j| need[j] &= model.joints[j].kind.has_angle());
    need
}

/// Parts whose rotation is needed by a force or joint, so that they cannot be thin rods or particles.
pub fn axes_read(model: &Model, layout: &Layout) -> Vec<bool> {
    let mut read = vec![false; layout.parts.len()];
    let part = |b: BodyId| layout.part_of[b.index()];
    for (_, f) in &model.forces {
        let touches = f.touches();
        touches.turned.iter().for_each(|b| read[part(*b)] = true);
        touches.joint.into_iter().flat_map(|j| model.joints[j].bodies).for_each(|b| read[part(b)] = true);
    }
    for j in model.joints.iter().filter(|j| !j.open && !layout.on_coil(j.bodies)) {
        let [a, b] = j.bodies.map(part);
        // A point at the centre of mass of a particle may be constrained in any way that leaves it free to turn.
        let shared = j.kind.shared();
        let free = if shared.rigid == Rigid::Welded { [a == b; 2] } else { shared.loose };
        read[a] |= !free[0];
        read[b] |= !free[1];
    }
    model.bare.iter().flat_map(|b| b.bodies).for_each(|b| read[part(b)] = true);
    read
}

/// Points on each part where forces act or that are drawn, in its coordinates.
pub fn attacked(model: &Model, layout: &Layout) -> Vec<Vec<Vector3<f64>>> {
    let mut places = vec![Vec::new(); layout.parts.len()];
    let mut add = |p: &PointOn| places[layout.part_of[p.body.index()]].push(layout.point(p.body, &p.s));
    for (_, f) in &model.forces {
        f.touches().places.iter().for_each(&mut add);
    }
    model.points.iter().for_each(|(_, p)| add(p));
    places
}

/// The state as the force laws read it, and the forces they apply there.
struct Recorded<'a, 'm> {
    builder: &'a Builder<'m>,
    time: Node,
    actions: Actions,
}

impl States<Node> for Recorded<'_, '_> {
    fn time(&self) -> f64 {
        self.builder.start.t
    }
    fn now(&self) -> Node {
        self.time
    }
    fn pose(&self, body: usize) -> PoseOf<Node> {
        self.builder.pose(BodyId(body as u32))
    }
    fn velocity(&self, body: usize) -> VelocityOf<Node> {
        let q = self.pose(body);
        let [a, b, c] = [0, 1, 2].map(|k| W::from(q.A.column(k)));
        let rate = |w: &W| w.map(Scalar::rate);
        VelocityOf { v: rate(&q.r), w: Vector3::new(c.dot(&rate(&b)), a.dot(&rate(&c)), b.dot(&rate(&a))) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.builder.start.turns.get(memory).copied().unwrap_or(0.0)
    }
    fn load(&self, _joint: usize) -> Node {
        Node::of(0.0)
    }
    fn auxiliary(&self, k: usize) -> Node {
        self.builder.carried[k].0
    }
    fn counted(&self, memory: usize) -> Option<(Node, Node)> {
        let joint = self.builder.model.joints.iter().position(|j| j.memory == Some(memory))?;
        let theta = self.builder.coordinate[joint][0]?;
        Some((theta, theta.rate()))
    }
    fn place(&self, on: &PointOn) -> (W, W) {
        let p = self.builder.to_world.map(Node::of) * self.builder.body_point(on.body, &on.s);
        (p, p.map(Scalar::rate))
    }
}

/// Lagrangian, forces along rates, and the power of forces without a potential.
pub struct Actions {
    /// Kinetic less potential energy.
    pub lagrangian: Node,
    /// Rates and the forces that work along them.
    pub loads: Vec<(Node, Node)>,
    /// Power of forces without a potential.
    pub power: Node,
}

/// Collects all energies and forces.
pub fn actions(b: &Builder<'_>) -> Result<Actions, Diagnostic> {
    let model = b.model;
    let mut lagrangian = Node::of(0.0);
    let g = b.to_world.tr_mul(&model.gravity);
    for p in 1..b.layout.parts.len() {
        lagrangian += b.kinetic(p);
        let part = &b.layout.parts[p];
        if let Some(c) = b.centre(p) {
            lagrangian += c.dot(&(g * part.mass).map(Node::of));
        }
    }
    let actions = Actions { lagrangian, loads: Vec::new(), power: Node::of(0.0) };
    let mut x = Recorded { builder: b, time: Node::time(), actions };
    for (name, force) in &model.forces {
        force.act(model, name, &mut x)?;
    }
    Ok(x.actions)
}

/// Rates of inputs, slopes and states, which are written into the builder.
pub fn carry(b: &mut Builder<'_>) {
    let mut rates = vec![Node::of(0.0); b.carried.len()];
    let model = b.model;
    let actions = Actions { lagrangian: Node::of(0.0), loads: Vec::new(), power: Node::of(0.0) };
    model.auxiliary_rates(&Recorded { builder: b, time: Node::time(), actions }, &mut rates);
    for (rate, k) in rates.into_iter().zip(b.carried.iter().map(|c| c.1).collect::<Vec<_>>()) {
        b.integrals[k] = Some(rate);
    }
}

impl Acts<Node> for Recorded<'_, '_> {
    fn rate(&self, y: Node) -> Node {
        y.rate()
    }
    fn apart(&self, ends: &[PointOn; 2]) -> W {
        let [p, q] = ends.map(|p| self.builder.body_point(p.body, &p.s));
        q - p
    }
    fn speed(&self, joint: usize, which: JointCoordinate) -> Node {
        let slot = usize::from(which == JointCoordinate::Distance);
        match self.builder.coordinate[joint][slot] {
            Some(y) => y.rate(),
            None => eval::coordinate_of(self.builder.model, joint, Some(which), self).1,
        }
    }
    fn stores(&mut self, energy: Node) {
        self.actions.lagrangian -= energy;
    }
    fn works(&mut self, rate: Node, force: Node) {
        self.actions.loads.push((rate, force));
        self.actions.power += rate * force;
    }
    fn twists(&mut self, body: BodyId, T: W, frame: ForceFrame) {
        let b = self.builder;
        let Some(axes) = &b.axes[b.layout.group_of(body)] else { return };
        // Components along the axes of the basis, which have the simplest rates.
        let T = match frame {
            ForceFrame::World => {
                let T = b.to_world.transpose().map(Node::of) * T;
                Vector3::from_fn(|k, _| axes.e[k].dot(&T))
            }
            ForceFrame::Body => (axes.T.transpose() * b.layout.frame[body.index()].0).map(Node::of) * T,
        };
        let e_dot: Vec<W> = axes.e.iter().map(|e| e.map(Scalar::rate)).collect();
        for k in 0..3 {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            self.works(axes.e[j].dot(&e_dot[i]), T[k]);
        }
    }
    fn pushes(&mut self, body: BodyId, F: W, T: W) {
        let v = self.velocity(body.index());
        (0..3).for_each(|k| self.actions.loads.extend([(v.v[k], F[k]), (v.w[k], T[k])]));
    }
    fn gives(&mut self, power: Node) {
        self.actions.power += power;
    }
}
