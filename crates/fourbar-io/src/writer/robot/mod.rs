//! Mechanisms in the formats of robots: a tree of bodies from the ground, with separate loop closures. Everything that the format cannot
//! express is listed.
#![allow(non_snake_case)]

mod mjcf;
mod urdf;

pub use mjcf::write_mjcf;
pub use urdf::write_urdf;

use fourbar::analysis::assembly::assemble;
use fourbar::model::{Body, Joint, Model};
use fourbar::spec::{ForceSpec, InputSpec, LimitOf, LimitSpec, ModelSpec, Shape, StudySpec};
use fourbar::state::Configuration;
use fourbar::topology::Groups;
use fourbar::{Diagnostic, Error};
use mjcf::factor;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use std::collections::VecDeque;
use std::fmt::Write;

/// Bound that is written if none is given but the format requires one, rad or m.
const ENDLESS: f64 = 1e6;

/// A mechanism at its consistent start, as a tree.
struct Tree<'m> {
    spec: &'m ModelSpec,
    model: &'m Model,
    start: Configuration,
    /// For each body, the joint that carries it and the body on its other side.
    parent: Vec<Option<(usize, usize)>>,
    notes: Vec<Diagnostic>,
    /// Actuators that are written.
    written: Vec<String>,
    out: String,
    level: usize,
}

/// Position and orientation of one frame in another.
struct Relative {
    p: Vector3<f64>,
    R: Matrix3<f64>,
}

impl<'m> Tree<'m> {
    fn new(spec: &'m ModelSpec, model: &'m Model) -> Result<Self, Error> {
        let start = assemble(model)?.configuration;
        let parent = spanning(model);
        Ok(Self { spec, model, start, parent, notes: Vec::new(), written: Vec::new(), out: String::new(), level: 0 })
    }

    /// Reports an element that the format cannot express.
    fn left_out(&mut self, section: &str, name: &str, why: &str) {
        let d = Diagnostic::new("W459", format!("`{name}` is not written: {why}")).name(name).at(format!("{section}.{name}"));
        self.notes.push(d);
    }

    /// One element on its own line; attributes unchanged.
    fn line(&mut self, text: &str) {
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(self.level));
    }

    fn open(&mut self, text: &str) {
        self.line(text);
        self.level += 1;
    }

    fn close(&mut self, tag: &str) {
        self.level -= 1;
        self.line(&format!("</{tag}>"));
    }

    fn body(&self, k: usize) -> &'m Body {
        &self.model.bodies[k]
    }

    /// The frame of a body, as in the file, at the start.
    fn frame(&self, k: usize) -> Relative {
        let q = &self.start.q[k];
        Relative { p: q.r - q.A * self.body(k).com, R: q.A }
    }

    /// The frame of a body in that of another.
    fn relative(&self, from: usize, to: usize) -> Relative {
        let (a, b) = (self.frame(from), self.frame(to));
        Relative { p: a.R.tr_mul(&(b.p - a.p)), R: a.R.tr_mul(&b.R) }
    }

    /// The joint that carries a body: its number, its parent body, and whether it is written in reverse.
    fn carrier(&self, k: usize) -> Option<(usize, usize, bool)> {
        let (j, p) = self.parent[k]?;
        Some((j, p, self.model.joints[j].bodies[0].index() == k))
    }

    /// Whether a joint is part of the tree.
    fn carries(&self, joint: usize) -> bool {
        self.parent.iter().flatten().any(|(j, _)| *j == joint)
    }

    /// Anchor and axis of a joint in the frame of the child body; the axis is oriented for the motion of the child.
    fn axis(&self, j: &Joint, child: usize, reversed: bool) -> (Vector3<f64>, Vector3<f64>) {
        let (frame, side) = if reversed { (&j.F, -1.0) } else { (&j.M, 1.0) };
        (self.body(child).com + frame.s, frame.axis(2) * side)
    }

    /// Coordinate of a joint at the start: angle about its axis, or distance along it.
    fn coordinate(&self, j: &Joint, turns: bool) -> f64 {
        let [a, b] = j.bodies.map(|b| &self.start.q[b.index()]);
        let x = if turns {
            let R = (a.A * j.F.R).tr_mul(&(b.A * j.M.R));
            R[(1, 0)].atan2(R[(0, 0)])
        } else {
            (a.A * j.F.axis(2)).dot(&((b.r + b.A * j.M.s) - (a.r + a.A * j.F.s)))
        };
        // Removes rounding errors.
        if x.abs() < 1e-12 { 0.0 } else { x }
    }

    /// Smallest and largest coordinate of a joint of the tree, if it has rigid limits: an angle, or a distance.
    fn limits(&self, j: &Joint, turns: bool) -> Option<[f64; 2]> {
        let (_, l) = self.spec.limits.iter().find(|(n, l)| *n == j.name && bounds_angle(j, l) == turns && l.stiffness.is_none())?;
        (l.min.is_some() || l.max.is_some()).then(|| [l.min.unwrap_or(-ENDLESS), l.max.unwrap_or(ENDLESS)])
    }

    /// Lists the properties of limits that are not written. `kinds` are the joints whose limits are written.
    fn limits_rest(&mut self, kinds: &[&str]) {
        let (spec, model) = (self.spec, self.model);
        for (name, l) in &spec.limits {
            let written = (0..model.joints.len())
                .any(|k| model.joints[k].name == *name && kinds.contains(&model.joints[k].kind.name()) && self.carries(k));
            let why = if !written {
                "those of joints of this kind, or that close a loop, have no counterpart there"
            } else if l.stiffness.is_some() {
                "they are springs"
            } else if l.speed_min.is_some() || l.speed_max.is_some() {
                "only those of positions are, not of speeds"
            } else if l.restitution.is_some_and(|e| e != 0.0) {
                "only the bounds are, not the rebound"
            } else {
                continue;
            };
            let d = Diagnostic::new("W459", format!("limits of `{name}` are not written as they are: {why}")).name(name);
            self.notes.push(d.at(format!("joints.{name}")));
        }
    }

    /// Child bodies of a body.
    fn children(&self, k: usize) -> Vec<usize> {
        (1..self.model.bodies.len()).filter(|c| self.carrier(*c).is_some_and(|(_, p, _)| p == k)).collect()
    }

    /// Root bodies of the trees that are not connected to the ground.
    fn free(&self) -> Vec<usize> {
        (1..self.model.bodies.len()).filter(|k| self.carrier(*k).is_none()).collect()
    }

    /// Reports the lost properties of an input: that it moves several actuators, its default, or all of it.
    fn input_rest(&mut self, names: &str, name: &str, input: &InputSpec) {
        let moved = |(force, f): &&(String, ForceSpec)| self.written.contains(force) && input_of(f).is_some_and(|(n, _)| n == name);
        let users = self.spec.forces.iter().filter(moved).count();
        let mut lost = Vec::new();
        match users {
            0 => return self.left_out("inputs", name, "no actuator that it moves is written"),
            1 => {}
            n => lost.push(format!("the input `{name}` becomes {n}: in {names} every actuator has a separate input")),
        }
        if input.default != 0.0 {
            lost.push(format!("the default {} of the input `{name}` is not written: in {names} it is zero", input.default));
        }
        for message in lost {
            self.notes.push(Diagnostic::new("W459", message).name(name).at(format!("inputs.{name}")));
        }
    }

    /// Reports elements that the formats of robots do not have.
    fn rest(&mut self, names: &str) {
        let spec = self.spec;
        for (name, _) in &spec.constraints {
            self.left_out("constraints", name, &format!("{names} has no bare constraints"));
        }
        for (name, _) in &spec.contacts {
            self.left_out("contacts", name, "contacts are not written");
        }
        for (name, _) in &spec.events {
            self.left_out("events", name, &format!("{names} has no events"));
        }
        for (name, _) in &spec.states {
            self.left_out("states", name, &format!("{names} has no states"));
        }
        for (name, _) in &spec.outputs {
            self.left_out("outputs", name, &format!("{names} has no outputs"));
        }
        for (name, _) in &spec.paths {
            self.left_out("paths", name, &format!("{names} has no joints along curves"));
        }
        for (name, _) in &spec.motors {
            self.left_out("motors", name, &format!("{names} has no electric motors"));
        }
        for (name, input) in &spec.inputs {
            self.input_rest(names, name, input);
        }
        let mut aside = Vec::new();
        if spec.study != StudySpec::default() {
            aside.push(("study", "the settings of the run are"));
        }
        if spec.settle {
            aside.push(("start", "that the motion starts from an equilibrium is"));
        }
        if !(spec.trace.is_empty() && spec.columns.is_empty() && spec.plots.is_empty() && spec.follow.is_none()) {
            aside.push(("view", "which curves, columns and plots are shown is"));
        }
        for (at, what) in aside {
            self.notes.push(Diagnostic::new("W459", format!("{what} not written: {names} has no place for it")).at(at));
        }
        for (k, (name, _)) in spec.bodies.iter().enumerate() {
            if self.start.v[k + 1].v.norm() + self.start.v[k + 1].w.norm() > 0.0 {
                let d = Diagnostic::new("W459", format!("the velocity of `{name}` at the start is not written")).name(name);
                self.notes.push(d.at(format!("bodies.{name}")));
            }
        }
    }
}

/// The input of an actuator and its factor.
fn input_of(f: &ForceSpec) -> Option<(String, f64)> {
    if let ForceSpec::Actuator(a) = f { factor(&a.effort) } else { None }
}

/// Whether a limit bounds the angle of its joint.
fn bounds_angle(j: &Joint, l: &LimitSpec) -> bool {
    match l.of {
        Some(of) => of == LimitOf::Angle,
        None => j.kind.has_angle(),
    }
}

/// A spanning tree from the ground. Where there is a choice, balls, then hinges and welds close the loops, as robot formats require.
fn spanning(model: &Model) -> Vec<Option<(usize, usize)>> {
    let mut order: Vec<usize> = (0..model.joints.len()).collect();
    order.sort_by_key(|k| match model.joints[*k].kind.name() {
        "spherical" => 2,
        "revolute" | "fixed" => 1,
        _ => 0,
    });
    let n = model.bodies.len();
    let mut groups = Groups::new(n);
    let mut beside: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
    for k in order {
        let [a, b] = model.joints[k].bodies.map(|b| b.index());
        if groups.join(a, b) {
            beside[a].push((k, b));
            beside[b].push((k, a));
        }
    }
    let mut parent = vec![None; n];
    let mut seen = vec![false; n];
    for root in 0..n {
        let mut queue = VecDeque::from([root]);
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some(b) = queue.pop_front() {
            for (joint, other) in &beside[b] {
                if !std::mem::replace(&mut seen[*other], true) {
                    parent[*other] = Some((*joint, b));
                    queue.push_back(*other);
                }
            }
        }
    }
    parent
}

/// Numbers separated by blanks; minus zero is written as zero.
fn numbers(x: &[f64]) -> String {
    x.iter().map(|x| format!("{:?}", x + 0.0)).collect::<Vec<_>>().join(" ")
}

fn vector(v: &Vector3<f64>) -> String {
    numbers(v.as_slice())
}

/// A quaternion, scalar part first.
fn quaternion(R: &Matrix3<f64>) -> String {
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*R));
    numbers(&[q.w, q.i, q.j, q.k])
}

/// Roll, pitch and yaw: about fixed x, then y, then z.
fn rpy(R: &Matrix3<f64>) -> String {
    let pitch = (-R[(2, 0)]).clamp(-1.0, 1.0).asin();
    if R[(2, 0)].abs() < 1.0 - 1e-12 {
        numbers(&[R[(2, 1)].atan2(R[(2, 2)]), pitch, R[(1, 0)].atan2(R[(0, 0)])])
    } else {
        // Roll and yaw turn about one axis: the whole rotation becomes yaw.
        numbers(&[0.0, pitch, (-R[(0, 1)]).atan2(R[(1, 1)])])
    }
}

/// Text escaped for an attribute.
fn quoted(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Centre of the segment, the rotation with z along it, and its length.
fn along(from: &[f64; 3], to: &[f64; 3]) -> (Vector3<f64>, Matrix3<f64>, f64) {
    let (a, b) = (Vector3::from(*from), Vector3::from(*to));
    let d = b - a;
    let length = d.norm();
    let R = Rotation3::rotation_between(&Vector3::z(), &d)
        .map_or_else(|| Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0)), Rotation3::into_inner);
    ((a + b) / 2.0, if length > 0.0 { R } else { Matrix3::identity() }, length)
}

/// Whether a shape is a box, ball, cylinder or rod, which every format has.
fn plain(shape: &Shape) -> bool {
    matches!(shape, Shape::Box { .. } | Shape::Sphere { .. } | Shape::Cylinder { .. } | Shape::Rod { .. })
}
