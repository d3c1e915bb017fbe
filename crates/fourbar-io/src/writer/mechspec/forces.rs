//! Drives and forces as actuators, springs, applied forces and Rayleigh damping.

use super::items::Frame;
use super::{V, Writer, part_name};
use crate::writer::yaml::{Group, items as list_of, list, quoted};
use fourbar::expr::{Expr, number};
use fourbar::force::{Force, PointForce, Spring, Torque, Torsion};
use fourbar::joint::JointKind;
use fourbar::model::{BodyId, Joint, JointCoordinate, PointOn};
use fourbar::spec::*;
use fourbar::state::{Configuration, Pose};

const RATHER: &str = "keep the mechanism in the format of this program, or express it by forces that are functions of points";

impl Writer<'_> {
    /// A point with its name; existing points are reused.
    fn point_name(&mut self, p: &PointOn) -> String {
        let world = self.world(p.body.index(), &p.s);
        let k = self.items.point(&[(p.body.index(), p.s)], world);
        self.items.name(k)
    }

    /// The name of a joint's point.
    fn at(&mut self, j: &Joint) -> String {
        self.point_name(&PointOn { body: j.bodies[1], s: j.M.s })
    }

    /// An expression in the names of MechSpec; `None` if it uses a coordinate of a joint.
    fn expression(&self, e: &StateExpr) -> Option<String> {
        if let Some(x) = e.expr.constant_value() {
            return Some(number(x));
        }
        let names: Option<Vec<String>> = e
            .variables
            .iter()
            .map(|v| match v {
                StateVariable::Time => Some("t".to_string()),
                StateVariable::PointPosition(p, k) => {
                    let name = self.items.name(self.items.named(p)?);
                    Some(StateVariable::PointPosition(name, *k).to_string())
                }
                StateVariable::PointVelocity(p, k) => {
                    let name = self.items.name(self.items.named(p)?);
                    Some(StateVariable::PointVelocity(name, *k).to_string())
                }
                _ => None,
            })
            .collect();
        let names = names?;
        Some(quoted(&e.expr.to_text(|k| names.get(k as usize).cloned().unwrap_or_else(|| "t".into()))))
    }

    /// A function of time, scaled and shifted.
    fn shifted(e: &Expr, factor: f64, shift: f64) -> String {
        if let Some(x) = e.constant_value() {
            return number(factor * x + shift);
        }
        let text = e.to_text(|_| "t".into());
        let text = if factor == 1.0 { text } else { format!("{}*({text})", number(factor)) };
        quoted(&if shift == 0.0 { text } else { format!("{text} + ({})", number(shift)) })
    }

    /// Adds the points of springs, forces and prescribed lengths, before the frames of parts are built.
    pub(super) fn points_of_elements(&mut self) {
        let spec = self.spec;
        for (_, f) in self.model.forces.clone() {
            match f {
                Force::Spring(Spring { between, .. }) => between.iter().for_each(|p| drop(self.point_name(p))),
                Force::Point(PointForce { on, .. }) => drop(self.point_name(&on)),
                _ => {}
            }
        }
        for (_, c) in &spec.constraints {
            if let ConstraintSpec::D { from, to, .. } = c {
                for p in [self.place(from), self.place(to)].into_iter().flatten() {
                    self.point_name(&p);
                }
            }
        }
        for j in self.model.joints.clone() {
            if let JointKind::Distance(_) = j.kind {
                for p in [PointOn { body: j.bodies[0], s: j.F.s }, PointOn { body: j.bodies[1], s: j.M.s }] {
                    self.point_name(&p);
                }
            }
        }
    }

    /// Finds bodies without inertia that are used at their centre of mass only, which are written as particles.
    pub(super) fn lone_particles(&mut self) {
        let m = &self.model;
        let mut lone: Vec<bool> = m.bodies.iter().map(|b| b.mass > 0.0 && b.J_bar.amax() == 0.0).collect();
        let mut away = |p: BodyId, s: &V| lone[p.index()] &= s.norm() < 1e-12 * m.length;
        for j in &m.joints {
            let pinned = match j.kind {
                JointKind::Fixed(_) | JointKind::Spherical(_) | JointKind::Distance(_) => true,
                JointKind::Planar(_) | JointKind::Revolute(_) => self.plane,
                _ => false,
            };
            for (b, s) in [(j.bodies[0], j.F.s), (j.bodies[1], j.M.s)] {
                let planar = matches!(j.kind, JointKind::Planar(_));
                away(
                    b,
                    &if !pinned {
                        V::repeat(f64::INFINITY)
                    } else if planar {
                        V::zeros()
                    } else {
                        s
                    },
                );
            }
        }
        for (_, p) in &m.points {
            away(p.body, &p.s);
        }
        for (_, f) in &m.forces {
            match f {
                Force::Spring(Spring { between, .. }) => between.iter().for_each(|p| away(p.body, &p.s)),
                Force::Point(PointForce { on, .. }) => away(on.body, &on.s),
                Force::Torque(Torque { body, .. }) => away(*body, &V::repeat(f64::INFINITY)),
                _ => {}
            }
        }
        for c in &m.bare {
            c.bodies.iter().for_each(|b| away(*b, &V::repeat(f64::INFINITY)));
        }
        self.particle = lone;
    }

    /// Rejects contacts, inputs and states, which MechSpec does not have.
    pub(super) fn no_auxiliaries(&mut self) {
        let spec = self.spec;
        for (name, _) in &spec.inputs {
            self.refuse("inputs", name, "an input", "write its value where it is read");
        }
        for (name, _) in &spec.contacts {
            self.refuse("contacts", name, "a contact", "keep it in the format of this program");
        }
        for (name, _) in &spec.states {
            self.refuse("states", name, "a state", "forces of MechSpec read the time, points and joints only");
        }
    }

    pub(super) fn drives(&mut self, frames: &[Option<Frame>]) {
        let spec = self.spec;
        for j in self.model.joints.clone() {
            if let JointKind::Distance(d) = j.kind {
                let ends = [PointOn { body: j.bodies[0], s: j.F.s }, PointOn { body: j.bodies[1], s: j.M.s }].map(|p| self.point_name(&p));
                let mut g = Group::default();
                g.put("Length", ends.concat()).number("Value", d.length);
                self.actuators.push((j.name.clone(), g.line()));
            }
        }
        for (name, c) in &spec.constraints {
            let ConstraintSpec::D { from, to, value } = c else { continue };
            let ends = [from, to].map(|p| self.place(p).map(|p| self.point_name(&p)));
            let [Some(a), Some(b)] = ends else { continue };
            let mut g = Group::default();
            let text = match value.constant_value() {
                Some(x) => number(x.sqrt()),
                None => quoted(&format!("sqrt({})", value.to_text(|_| "t".into()))),
            };
            g.put("Length", a + &b).put("Value", text);
            self.actuators.push((name.clone(), g.line()));
        }
        for ((name, d), drive) in spec.drives.iter().zip(self.model.drives.clone()) {
            let j = self.model.joints[drive.joint].clone();
            let value = match (d.quantity, d.value.constant_value()) {
                (DriveQuantity::Speed, Some(c)) => Expr::time(&format!("{}*t", number(c))).unwrap_or(Expr::constant(0.0)),
                (DriveQuantity::Acceleration, _) => {
                    self.refuse("drives", name, "a drive by acceleration", "prescribe the angle or the distance itself");
                    continue;
                }
                (DriveQuantity::Speed, None) => {
                    self.refuse("drives", name, "a drive of a varying speed", "prescribe the angle or the distance itself");
                    continue;
                }
                _ => d.value.clone(),
            };
            let mut g = Group::default();
            match (drive.coordinate, &j.kind) {
                (JointCoordinate::Angle, JointKind::Revolute(_)) => {
                    let (factor, shift) = self.angle(&j, frames);
                    let parts = list_of(j.bodies.map(|b| part_name(frames, b)));
                    let at = self.at(&j);
                    g.put("Angle", at).put("Parts", parts).put("Value", Self::shifted(&value, factor, shift));
                }
                (JointCoordinate::Distance, JointKind::Prismatic(_) | JointKind::Cylindrical(_) | JointKind::PointOnLine(_)) => {
                    let first = self.model.joints[..drive.joint]
                        .iter()
                        .filter(|j| matches!(j.kind, JointKind::Prismatic(_) | JointKind::Cylindrical(_) | JointKind::PointOnLine(_)))
                        .count();
                    let slide = self.collinear.get(first).cloned().unwrap_or_default();
                    g.put("Slide", slide).put("Value", Self::shifted(&value, 1.0, 0.0));
                }
                _ => {
                    self.refuse("drives", name, "a drive of this joint", "hinges have angles, slides have distances");
                    continue;
                }
            }
            self.actuators.push((name.clone(), g.line()));
        }
    }

    /// Factor and shift from the angle of the joint to that of MechSpec.
    fn angle(&self, j: &Joint, frames: &[Option<Frame>]) -> (f64, f64) {
        let start = Configuration::start(&self.model);
        let pose = |b: BodyId| -> Pose { start.q[b.index()] };
        let [i, k] = j.bodies.map(pose);
        let drawn = j.coordinate(JointCoordinate::Angle).map_or(0.0, |y| y.value(&i, &k, &start.turns));
        if !self.plane {
            // Measured from the start, about the shared vector.
            return (1.0, -drawn);
        }
        // Measured from the x axis of the base to that of the moving part, about z.
        let x = |b: BodyId| {
            let q = frames.get(b.index()).and_then(|f| f.as_ref()).map_or(V::x(), |f| f.q.column(0).into_owned());
            pose(b).A * q
        };
        let (a, b) = (x(j.bodies[0]), x(j.bodies[1]));
        let between = (a.x * b.y - a.y * b.x).atan2(a.dot(&b));
        let sign = (i.A * j.F.axis(2)).z.signum();
        (sign, between - sign * drawn)
    }

    fn place(&self, p: &Place) -> Option<PointOn> {
        let k = self.model.bodies.iter().position(|b| b.name == p.body)?;
        let b = &self.model.bodies[k];
        let s = match p.at {
            At::Body(s) => V::from(s) - b.com,
            At::World(x) => b.A.transpose() * (V::from(x) - b.r),
        };
        Some(PointOn { body: BodyId(k as u32), s })
    }

    pub(super) fn forces(&mut self, frames: &[Option<Frame>]) {
        let spec = self.spec;
        for ((name, s), (_, f)) in spec.forces.iter().zip(self.model.forces.clone()) {
            match (s, f) {
                (
                    ForceSpec::Spring(SpringSpec { law: SpringLaw::Linear { stiffness, rest, damping }, mass, .. }),
                    Force::Spring(Spring { between, .. }),
                ) => {
                    let key = between.map(|p| self.point_name(&p)).concat();
                    if self.springs.iter().chain(&self.rayleigh_lengths).any(|(k, _)| *k == key) {
                        self.refuse("forces", name, "a second spring between the same points", "add the stiffnesses");
                        continue;
                    }
                    if *stiffness != 0.0 || *mass != 0.0 {
                        let values = if *mass == 0.0 { list(&[*stiffness, *rest]) } else { list(&[*stiffness, *rest, *mass]) };
                        self.springs.push((key.clone(), values));
                    }
                    if *damping != 0.0 {
                        self.rayleigh_lengths.push((key, number(*damping)));
                    }
                }
                (
                    ForceSpec::Torsion(TorsionSpec { law: SpringLaw::Linear { stiffness, damping, .. }, .. }),
                    Force::Torsion(Torsion { joint, .. }),
                ) if *stiffness == 0.0 && matches!(self.model.joints[joint].kind, JointKind::Revolute(_)) => {
                    let j = self.model.joints[joint].clone();
                    let at = self.at(&j);
                    self.rayleigh_angles.push((at, number(*damping)));
                }
                (ForceSpec::Force(PointForceSpec { force, frame, .. }), Force::Point(PointForce { on, .. }))
                    if on.body != BodyId::GROUND =>
                {
                    let mut g = Group::default();
                    let at = self.point_name(&on);
                    g.put("At", at);
                    let components = self.components(force, *frame, on.body, frames);
                    self.push(name, g, "Force", components, self.dimension(), *frame);
                }
                (ForceSpec::Torque(TorqueSpec { torque, frame, .. }), Force::Torque(Torque { body, .. })) => {
                    let mut g = Group::default();
                    g.put("On", part_name(frames, body));
                    let components = self.components(torque, *frame, body, frames);
                    match components {
                        Some(c) if self.plane => {
                            g.put("Torque", c[2].clone());
                            self.applied.push((name.clone(), g.line()));
                        }
                        components => self.push(name, g, "Torque", components, 3, *frame),
                    }
                }
                (s, _) => {
                    let what = match s {
                        ForceSpec::Spring(_) => "a spring with a user-defined law",
                        ForceSpec::Force(_) => "a force on the ground",
                        other => other.words().title,
                    };
                    self.refuse("forces", name, what, RATHER);
                }
            }
        }
    }

    /// Three components as text, in the axes of the part if they are given in those of the body.
    fn components(&self, e: &[StateExpr; 3], frame: ForceFrame, body: BodyId, frames: &[Option<Frame>]) -> Option<[String; 3]> {
        if frame == ForceFrame::Body {
            let q = frames.get(body.index())?.as_ref()?.q;
            let x = V::new(e[0].expr.constant_value()?, e[1].expr.constant_value()?, e[2].expr.constant_value()?);
            let turned = q.transpose() * x;
            return Some([0, 1, 2].map(|k| number(turned[k])));
        }
        let [a, b, c] = [0, 1, 2].map(|k| self.expression(&e[k]));
        Some([a?, b?, c?])
    }

    fn push(&mut self, name: &str, mut g: Group, key: &str, components: Option<[String; 3]>, count: usize, frame: ForceFrame) {
        let Some(c) = components else {
            self.refuse("forces", name, "whose components read joints, or turn with a body and vary", RATHER);
            return;
        };
        g.put(key, list_of(c.into_iter().take(count)));
        if frame == ForceFrame::Body {
            g.put("Frame", "body");
        }
        self.applied.push((name.into(), g.line()));
    }
}
