//! Requirements of joints, drives and couplings in addition to shared points and vectors, once all parts are in; and the form with twelve
//! coordinates per body, in which joints require all their equations.

use super::basis::Axes;
use super::builder::{Builder, Listed, W, snapped};
use super::rows::{Class, Row};
use crate::coordinate::{Coordinate, PoseOf};
use crate::joint::{FrameOf, SharedEquation};
use crate::model::{BodyId, JointCoordinate};
use crate::time::{Integral, TimeFunction};
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};

impl Builder<'_> {
    /// Equations of joints, bare constraints, gears and drives whose two sides are known now.
    pub fn finish(&mut self) {
        let mut listed = Listed { part: "joints".to_string(), ..Listed::default() };
        if !self.choice.twelve {
            self.open_slides(&mut listed);
            self.angles_between(&mut listed);
        }
        for k in 0..self.model.bare.len() {
            let b = &self.model.bare[k];
            let (qi, qj) = (self.pose(b.bodies[0]), self.pose(b.bodies[1]));
            let (f, f_dot) = self.time_function(&b.value, &b.name);
            let y = b.coordinate.value_of(&qi, &qj);
            let (value, rate) = match &b.other {
                None => (y - f, f_dot),
                // `y = f` and `z = g` are equivalent; one of the two is always independent, and so is `z f - y g`.
                Some((z, g)) => {
                    let z = z.value_of(&qi, &qj);
                    let (g, g_dot) = self.time_function(g, &b.name);
                    (z * f - y * g, y * g_dot - z * f_dot)
                }
            };
            self.prescribe(b.name.clone(), value, rate, None, &mut listed);
        }
        for k in self.model.acting_joints() {
            if let Some(per_radian) = self.model.joints[k].kind.shared().thread
                && !self.screw_used[k]
            {
                let (angle, distance) =
                    (self.closing(k, JointCoordinate::Angle, &mut listed), self.closing(k, JointCoordinate::Distance, &mut listed));
                let value = distance - angle * Node::of(per_radian);
                self.equate(format!("{} thread", self.model.joints[k].name), value, Class::Joint, &mut listed);
            }
        }
        for k in 0..self.model.couplings.len() {
            if !self.coupling_used[k] {
                let c = &self.model.couplings[k];
                let [first, second] = [0, 1].map(|side| self.coupled(k, side, &mut listed));
                self.equate(c.name.clone(), second - first * Node::of(c.ratio), Class::Joint, &mut listed);
            }
        }
        for k in 0..self.model.drives.len() {
            let d = &self.model.drives[k];
            let y = self.closing(d.joint, d.coordinate, &mut listed);
            let (f, f_dot) = self.time_function(&d.value, &d.name);
            self.prescribe(d.name.clone(), y - f, f_dot, Some(k), &mut listed);
        }
        for k in self.model.acting_joints() {
            if self.needs_angle(k) {
                self.closing(k, JointCoordinate::Angle, &mut listed);
            }
        }
        self.table.push(listed);
    }

    fn prescribe(&mut self, name: String, value: Node, nu: Node, drive: Option<usize>, listed: &mut Listed) {
        let before = self.rows.len();
        let class = if nu == Node::Number(0.0) { Class::Joint } else { Class::Drive };
        let class = if drive.is_some() { Class::Drive } else { class };
        self.equate(name, value, class, listed);
        if let Some(row) = self.rows.get_mut(before) {
            (row.nu, row.drive) = (Some(nu), drive);
        }
    }

    /// A function of time and its rate.
    fn time_function(&mut self, f: &TimeFunction, name: &str) -> (Node, Node) {
        let t = Node::time();
        match f {
            TimeFunction::Value(e) => {
                let value = e.eval(&[t]);
                (value, value.rate())
            }
            TimeFunction::Integral(i) if i.is_twice() => {
                let [position, speed, acceleration] = f.at(self.start.t);
                let a = self.rate_of(i, t);
                let v = self.integral(format!("speed of {name}"), speed, acceleration, Some(1.0), a);
                (self.integral(format!("integral of {name}"), position, speed, Some(1.0), v), v)
            }
            TimeFunction::Integral(i) => match i.rate().constant_value() {
                Some(c) if !i.is_placed() => (t * Node::of(c), Node::of(c)),
                Some(c) => {
                    let [t0, at] = [self.start.t, f.at(self.start.t)[0]];
                    ((t - Node::of(t0)) * Node::of(c) + Node::of(at), Node::of(c))
                }
                None => {
                    let rate = self.rate_of(i, t);
                    (self.integral(format!("integral of {name}"), f.at(self.start.t)[0], rate.value(), Some(1.0), rate), rate)
                }
            },
        }
    }

    /// The rate of a drive at time `t`, including the inputs that it reads.
    fn rate_of(&self, i: &Integral, t: Node) -> Node {
        let variables: Vec<Node> = std::iter::once(t).chain(i.inputs().iter().map(|k| self.carried[*k].0)).collect();
        i.rate().eval(&variables)
    }

    /// Lines and planes that were not used to assign a point.
    fn open_slides(&mut self, listed: &mut Listed) {
        for k in 0..self.layout.slides.len() {
            if self.slide_used[k] {
                continue;
            }
            let s = self.layout.slides[k].clone();
            let j = &self.model.joints[s.joint];
            let (Some(p), Some(q)) = (self.items[s.points[0]], self.items[s.points[1]]) else { continue };
            let axes: &[usize] = if s.plane { &[2] } else { &[0, 1] };
            for &a in axes {
                let local = self.layout.direction(j.bodies[0], &j.F.axis(a));
                let Some(normal) = self.direction(self.layout.group_of(j.bodies[0]), &local) else { continue };
                self.equate(
                    format!("{} stays on its {}", j.name, if s.plane { "plane" } else { "line" }),
                    normal.dot(&(q - p)),
                    Class::Joint,
                    listed,
                );
            }
        }
    }

    /// Equations of universal joints, distances and angles.
    fn angles_between(&mut self, listed: &mut Listed) {
        for k in self.model.acting_joints() {
            let j = &self.model.joints[k];
            if self.layout.on_coil(j.bodies) {
                continue;
            }
            let groups = j.bodies.map(|b| self.layout.group_of(b));
            let z = |s: &Self, side: usize| {
                let frame = if side == 0 { &j.F } else { &j.M };
                s.direction(groups[side], &s.layout.direction(j.bodies[side], &frame.axis(2))).unwrap_or_else(W::zeros)
            };
            match j.kind.shared().equation {
                SharedEquation::Dot { what, value } => {
                    let dot = z(self, 0).dot(&z(self, 1));
                    let value = if value == 0.0 { dot } else { dot - Node::of(value) };
                    self.equate(format!("{} {what}", j.name), value, Class::Joint, listed);
                }
                SharedEquation::Length(length) => {
                    let p = self.body_point(j.bodies[0], &j.F.s);
                    let q = self.body_point(j.bodies[1], &j.M.s);
                    let value = (q - p).dot(&(q - p)) - Node::of(length * length);
                    self.equate(format!("{} length", j.name), value, Class::Joint, listed);
                }
                SharedEquation::None => {}
            }
        }
    }

    /// One side of a coupling; on a carrier its angle is measured between bodies other than those of the joint.
    fn coupled(&mut self, k: usize, side: usize, listed: &mut Listed) -> Node {
        let c = &self.model.couplings[k];
        let (which, bodies, y) = &c.sides[side];
        if *bodies == self.model.joints[c.joints[side]].bodies {
            return self.closing(c.joints[side], *which, listed);
        }
        let Coordinate::Angle(angle) = y else { return y.value_of(&self.pose(bodies[0]), &self.pose(bodies[1])) };
        let (value, rate) = self.start_coordinate(*bodies, y);
        let name = format!("{}.angle{}", c.name, side + 1);
        let theta = self.scalar(name.clone(), value, rate, 1.0, Some(1.0));
        listed.brought.push(name.clone());
        listed.coordinates += 1;
        let axis = |s: &Self, body: BodyId, local: Vector3<f64>| {
            s.direction(s.layout.group_of(body), &s.layout.direction(body, &local)).unwrap_or_else(W::zeros)
        };
        let [x_f, y_f] = [0, 1].map(|a| axis(self, bodies[0], angle.F.column(a).into()));
        let x_m = axis(self, bodies[1], angle.M.column(0).into());
        let (s, cos) = theta.sin_cos();
        self.equate(name, x_m.dot(&y_f) * cos - x_m.dot(&x_f) * s, Class::Joint, listed);
        theta
    }

    /// A joint coordinate between finished parts: a distance is an expression, an angle a variable determined by an equation with its sine.
    fn closing(&mut self, joint: usize, which: JointCoordinate, listed: &mut Listed) -> Node {
        let slot = usize::from(which == JointCoordinate::Distance);
        if let Some(s) = self.coordinate[joint][slot] {
            return s;
        }
        let j = &self.model.joints[joint];
        let frames = [&j.F, &j.M];
        let axis = |s: &Self, side: usize, a: usize| {
            let local = s.layout.direction(j.bodies[side], &frames[side].axis(a));
            s.direction(s.layout.group_of(j.bodies[side]), &local).unwrap_or_else(W::zeros)
        };
        if which == JointCoordinate::Distance {
            let d = self.body_point(j.bodies[1], &j.M.s) - self.body_point(j.bodies[0], &j.F.s);
            let value = axis(self, 0, 2).dot(&d);
            self.coordinate[joint][1] = Some(value);
            return value;
        }
        let (x_f, y_f, x_m) = (axis(self, 0, 0), axis(self, 0, 1), axis(self, 1, 0));
        let before = self.names.len();
        let theta = self.joint_coordinate(joint, which);
        listed.brought.extend(self.names.get(before).cloned());
        listed.coordinates += self.names.len() - before;
        let (s, c) = theta.sin_cos();
        self.equate(format!("{} angle", j.name), x_m.dot(&y_f) * c - x_m.dot(&x_f) * s, Class::Joint, listed);
        theta
    }

    /// Centre of mass of a part in the working frame.
    pub fn centre(&self, p: usize) -> Option<W> {
        match self.layout.coil(p) {
            Some(_) => Some(self.working_pose(self.layout.parts[p].bodies[0]).r),
            None => self.place(p, &self.layout.parts[p].com),
        }
    }

    /// A point of a body in the working frame.
    pub fn body_point(&self, body: BodyId, s: &Vector3<f64>) -> W {
        self.place(self.layout.part_of[body.index()], &self.layout.point(body, s)).unwrap_or_else(W::zeros)
    }

    /// Pose of a body in the working frame; for a thin rod the rotation contains only its axis.
    fn working_pose(&self, body: BodyId) -> PoseOf<Node> {
        if let Some(coil) = self.layout.coils[body.index()] {
            let [p, q] = coil.ends.map(|p| self.body_point(p.body, &p.s));
            let d = q - p;
            let x = d / d.dot(&d).sqrt();
            let columns = [0, 1, 2].map(|k| x * Node::of(coil.axis[k]));
            return PoseOf { r: (p + q) * Node::of(0.5), A: Matrix3::from_columns(&columns) };
        }
        let r = self.body_point(body, &Vector3::zeros());
        let g = self.layout.group_of(body);
        let C = &self.layout.frame[body.index()].0;
        let columns = [0, 1, 2].map(|k| self.direction(g, &C.column(k).into()).unwrap_or_else(W::zeros));
        PoseOf { r, A: Matrix3::from_columns(&columns) }
    }

    /// Pose of a body in the world.
    pub fn pose(&self, body: BodyId) -> PoseOf<Node> {
        let q = self.working_pose(body);
        let R = self.to_world.map(Node::of);
        PoseOf { r: R * q.r, A: R * q.A }
    }

    /// An origin and three vectors for each body, six rigidity equations, and all joints equated.
    pub fn twelve(&mut self) {
        for p in (1..self.layout.parts.len()).filter(|&p| self.layout.coil(p).is_none()).collect::<Vec<_>>() {
            let g = self.layout.parts[p].group;
            let mut listed = Listed { part: self.name_of(p), ..Listed::default() };
            let com = self.layout.parts[p].com;
            let (x, v) = self.start_point(p, &com);
            let name = listed.part.clone();
            let o = self.vector(&name, &x, &v, self.model.length, &mut listed);
            self.origin[p] = Some((o, com));
            let axes: Vec<W> = (0..3)
                .map(|k| {
                    let mut e = Vector3::zeros();
                    e[k] = 1.0;
                    let (x, v) = self.start_direction(g, &e);
                    self.vector(&format!("{name}.{}", ["a", "b", "c"][k]), &x, &v, 1.0, &mut listed)
                })
                .collect();
            for a in 0..3 {
                for b in a..3 {
                    let one = Node::of(f64::from(u8::from(a == b)));
                    let what = if a == b { "length" } else { "angle" };
                    self.equate(format!("{name} {what}"), axes[a].dot(&axes[b]) - one, Class::Rigid, &mut listed);
                }
            }
            self.axes[g] = Some(Axes { e: axes, T: Matrix3::identity() });
            self.done[p] = true;
            self.table.push(listed);
        }
        let mut listed = Listed { part: "joints".to_string(), ..Listed::default() };
        for k in self.model.acting_joints() {
            let j = &self.model.joints[k];
            let parts = j.bodies.map(|b| self.layout.part_of[b.index()]);
            if parts[0] == parts[1] || self.layout.on_coil(j.bodies) {
                continue;
            }
            let frame = |side: usize| {
                let f = if side == 0 { &j.F } else { &j.M };
                let q = self.working_pose(j.bodies[side]);
                let axes = [0, 1, 2].map(|a| q.A * f.axis(a).map(Node::of));
                FrameOf { p: q.r + q.A * f.s.map(Node::of), axes }
            };
            let mut out = Vec::new();
            // The thread of a screw follows with the couplings.
            j.kind.without_thread(&frame(0), &frame(1), &mut out);
            for (c, value) in out.into_iter().enumerate() {
                self.equate(format!("{} row {}", j.name, c + 1), value, Class::Joint, &mut listed);
            }
        }
        self.table.push(listed);
    }

    /// Kinetic energy of a part: `1/2 m |c'|^2 + 1/2 sum J_ab e_a'.e_b'` with the pseudo-inertia in the axes of its basis. On the
    /// constraints it equals [Pryce20, Eq. (15)], with fewer products.
    pub fn kinetic(&self, p: usize) -> Node {
        let part = &self.layout.parts[p];
        if self.layout.coil(p).is_some() {
            let v = self.centre(p).unwrap_or_else(W::zeros).map(Scalar::rate);
            return v.dot(&v) * Node::of(0.5 * part.mass);
        }
        let (Some((o, o_loc)), Some(axes)) = (&self.origin[p], &self.axes[part.group]) else { return Node::of(0.0) };
        let o_dot = o.map(Scalar::rate);
        let e_dot: Vec<W> = axes.e.iter().map(|e| e.map(Scalar::rate)).collect();
        let size = self.model.length;
        let arm = axes.T.tr_mul(&(part.com - o_loc)).map(|x| snapped(x, size));
        let J = axes.T.transpose() * (part.pseudo + (part.com - o_loc) * (part.com - o_loc).transpose() * part.mass) * axes.T;
        let scale = J.amax();
        let mut energy = o_dot.dot(&o_dot) * Node::of(0.5 * part.mass);
        for (a, e) in e_dot.iter().enumerate() {
            energy += o_dot.dot(e) * Node::of(part.mass * arm[a]);
            energy += e.dot(e) * Node::of(snapped(0.5 * J[(a, a)], scale));
            for (b, f) in e_dot.iter().enumerate().skip(a + 1) {
                energy += e.dot(f) * Node::of(snapped(J[(a, b)], scale));
            }
        }
        energy
    }

    /// Rows, names, integrals, weights, sizes and the table, out of the builder.
    pub fn parts_out(&mut self) -> Parts {
        let take = std::mem::take::<Vec<f64>>;
        (
            std::mem::take(&mut self.rows),
            std::mem::take(&mut self.names),
            std::mem::take(&mut self.integrals),
            take(&mut self.weights),
            std::mem::take(&mut self.sizes),
            std::mem::take(&mut self.table),
        )
    }
}

/// Rows, names, integrals, weights, sizes and the table.
pub(super) type Parts = (Vec<Row>, Vec<String>, Vec<Option<Node>>, Vec<f64>, Vec<Option<f64>>, Vec<Listed>);
