//! MJCF of a mechanism.

use super::{Tree, along, numbers, plain, quaternion, quoted, vector};
use fourbar::expr::Expr;
use fourbar::model::{Joint, JointCoordinate, Model};
use fourbar::spec::*;
use fourbar::{Diagnostic, Error};
use std::collections::HashMap;
use std::f64::consts::PI;

/// The text of an MJCF file, and notes on omissions. The bodies have their assembled positions.
pub fn write_mjcf(spec: &ModelSpec, model: &Model) -> Result<(String, Vec<Diagnostic>), Error> {
    let mut t = Tree::new(spec, model)?;
    let title = if spec.title.is_empty() { "mechanism" } else { spec.title.as_str() };
    t.open(&format!("<mujoco model=\"{}\">", quoted(title)));
    t.line("<compiler angle=\"radian\" autolimits=\"true\"/>");
    t.line(&format!("<option gravity=\"{}\"/>", vector(&model.gravity)));
    let springs = springs(&mut t);
    t.open("<worldbody>");
    t.points(0);
    for k in t.children(0) {
        t.mjcf_body(k, 0, &springs);
    }
    for k in t.free() {
        t.mjcf_body(k, 0, &springs);
    }
    t.close("worldbody");
    t.equalities();
    t.tendons();
    t.actuators();
    for shape_of in spec.bodies.iter().filter(|(_, b)| b.shapes.iter().any(|s| !plain(s))) {
        let d = Diagnostic::new("W459", format!("plates and meshes of `{}` are not written", shape_of.0)).name(&shape_of.0);
        t.notes.push(d.at(format!("bodies.{}", shape_of.0)));
    }
    t.limits_rest(&["revolute", "prismatic", "cylindrical", "screw"]);
    t.rest("MJCF");
    t.close("mujoco");
    Ok((t.out, t.notes))
}

/// Torsion springs by joint: stiffness, rest angle, damping. Springs with other laws are omitted.
fn springs(t: &mut Tree<'_>) -> HashMap<String, [f64; 3]> {
    let mut list = HashMap::new();
    let spec = t.spec;
    for (name, f) in &spec.forces {
        if let ForceSpec::Torsion(s) = f {
            match &s.law {
                SpringLaw::Linear { stiffness, rest, damping } if !list.contains_key(&s.joint) => {
                    list.insert(s.joint.clone(), [*stiffness, *rest, *damping]);
                }
                SpringLaw::Linear { .. } => t.left_out("forces", name, "a joint has one spring in MJCF"),
                SpringLaw::Expression(_) => t.left_out("forces", name, "springs are linear in MJCF"),
            }
        }
    }
    list
}

/// The names under which the coordinates of a joint are written: angle, then distance.
fn joint_names(j: &Joint) -> [Option<String>; 2] {
    match j.kind.name() {
        "revolute" => [Some(j.name.clone()), None],
        "prismatic" => [None, Some(j.name.clone())],
        "cylindrical" | "screw" => [Some(format!("{}_angle", j.name)), Some(format!("{}_distance", j.name))],
        _ => [None, None],
    }
}

impl Tree<'_> {
    fn points(&mut self, k: usize) {
        let model = self.model;
        for (name, p) in model.points.iter().filter(|(_, p)| p.body.index() == k) {
            let at = self.body(k).com + p.s;
            self.line(&format!("<site name=\"{name}\" pos=\"{}\" size=\"0.005\"/>", vector(&at)));
        }
    }

    fn mjcf_body(&mut self, k: usize, parent: usize, springs: &HashMap<String, [f64; 3]>) {
        let x = self.relative(parent, k);
        let b = self.body(k);
        self.open(&format!("<body name=\"{}\" pos=\"{}\" quat=\"{}\">", b.name, vector(&x.p), quaternion(&x.R)));
        let J = &b.J_bar;
        let full = numbers(&[J[(0, 0)], J[(1, 1)], J[(2, 2)], J[(0, 1)], J[(0, 2)], J[(1, 2)]]);
        self.line(&format!("<inertial pos=\"{}\" mass=\"{:?}\" fullinertia=\"{full}\"/>", vector(&b.com), b.mass));
        match self.carrier(k) {
            None => self.line("<freejoint/>"),
            Some((j, _, reversed)) => self.mjcf_joint(j, k, reversed, springs),
        }
        for shape in &b.shapes {
            self.geom(shape);
        }
        self.points(k);
        for c in self.children(k) {
            self.mjcf_body(c, k, springs);
        }
        self.close("body");
    }

    fn mjcf_joint(&mut self, index: usize, child: usize, reversed: bool, springs: &HashMap<String, [f64; 3]>) {
        let j = &self.model.joints[index];
        let (at, axis) = self.axis(j, child, reversed);
        let one = |t: &mut Self, name: &str, kind: &str, axis: &nalgebra::Vector3<f64>, turns: Option<bool>| {
            let mut more = String::new();
            if let Some(turns) = turns {
                let reference = t.coordinate(j, turns);
                if reference != 0.0 {
                    more += &format!(" ref=\"{reference:?}\"");
                }
                if let Some(range) = t.limits(j, turns) {
                    more += &format!(" range=\"{}\"", numbers(&range));
                }
                if let Some([k, rest, d]) = springs.get(&j.name).filter(|_| turns) {
                    more += &format!(" stiffness=\"{k:?}\" springref=\"{rest:?}\" damping=\"{d:?}\"");
                }
            }
            t.line(&format!("<joint name=\"{name}\" type=\"{kind}\" pos=\"{}\" axis=\"{}\"{more}/>", vector(&at), vector(axis)));
        };
        let [angle, distance] = joint_names(j);
        match j.kind.name() {
            "fixed" => {}
            "spherical" => self.line(&format!("<joint name=\"{}\" type=\"ball\" pos=\"{}\"/>", j.name, vector(&at))),
            "universal" => {
                // One axis is fixed in the base, the other in the moving body.
                let [f, m] = [(0, &j.F), (1, &j.M)].map(|(side, frame)| {
                    let world = self.start.q[j.bodies[side].index()].A * frame.axis(2);
                    self.start.q[child].A.tr_mul(&world)
                });
                let axes = if reversed { [-m, -f] } else { [f, m] };
                for (n, axis) in axes.iter().enumerate() {
                    one(self, &format!("{}_{}", j.name, n + 1), "hinge", axis, None);
                }
            }
            "planar" => {
                let frame = if reversed { &j.F } else { &j.M };
                for n in 0..2 {
                    one(self, &format!("{}_{}", j.name, n + 1), "slide", &frame.axis(n), None);
                }
                one(self, &j.name, "hinge", &axis, None);
            }
            _ if angle.is_some() || distance.is_some() => {
                for (name, kind, turns) in [(distance, "slide", false), (angle, "hinge", true)] {
                    if let Some(name) = name {
                        one(self, &name, kind, &axis, Some(turns));
                    }
                }
            }
            other => {
                let name = j.name.clone();
                self.left_out("joints", &name, &format!("MJCF has no joint like `{other}`, and its bodies move freely there"));
                for n in 0..3 {
                    one(self, &format!("{name}_{n}"), "slide", &nalgebra::Vector3::ith(n, 1.0), None);
                }
                self.line(&format!("<joint name=\"{name}_ball\" type=\"ball\" pos=\"{}\"/>", vector(&at)));
            }
        }
    }

    fn geom(&mut self, shape: &Shape) {
        let look = "contype=\"0\" conaffinity=\"0\" mass=\"0\"";
        match shape {
            Shape::Box { size, at } => {
                let half = size.map(|x| x / 2.0);
                self.line(&format!("<geom type=\"box\" size=\"{}\" pos=\"{}\" {look}/>", numbers(&half), numbers(at)));
            }
            Shape::Sphere { at, radius } => {
                self.line(&format!("<geom type=\"sphere\" size=\"{radius:?}\" pos=\"{}\" {look}/>", numbers(at)))
            }
            Shape::Cylinder { from, to, radius } | Shape::Rod { from, to, radius } => {
                let kind = if matches!(shape, Shape::Rod { .. }) { "capsule" } else { "cylinder" };
                let (at, R, length) = along(from, to);
                let size = numbers(&[*radius, length / 2.0]);
                self.line(&format!("<geom type=\"{kind}\" size=\"{size}\" pos=\"{}\" quat=\"{}\" {look}/>", vector(&at), quaternion(&R)));
            }
            Shape::Plate { .. } | Shape::Mesh { .. } => {}
        }
    }

    /// Joints that close loops, couplings, and drives to a fixed value.
    fn equalities(&mut self) {
        let model = self.model;
        let mut lines = Vec::new();
        let tree: Vec<usize> = (0..model.joints.len()).filter(|k| self.carries(*k)).collect();
        let name_of = |b: usize| if b == 0 { "world" } else { model.bodies[b].name.as_str() };
        for (k, j) in model.joints.iter().enumerate() {
            if tree.contains(&k) {
                if let ("screw", [Some(angle), Some(distance)]) = (j.kind.name(), joint_names(j)) {
                    let lead = if let fourbar::joint::JointKind::Screw(s) = &j.kind { s.lead } else { 0.0 };
                    let ratio = lead / (2.0 * PI);
                    lines.push(format!("<joint joint1=\"{distance}\" joint2=\"{angle}\" polycoef=\"0 {ratio:?} 0 0 0\"/>"));
                }
                continue;
            }
            let [a, b] = j.bodies.map(|b| b.index());
            let mut connect = |name: &str, x: nalgebra::Vector3<f64>| {
                let anchor = vector(&(model.bodies[a].com + x));
                lines.push(format!("<connect name=\"{name}\" body1=\"{}\" body2=\"{}\" anchor=\"{anchor}\"/>", name_of(a), name_of(b)));
            };
            match j.kind.name() {
                "spherical" => connect(&j.name, j.F.s),
                "revolute" => {
                    // Two points of the axis.
                    connect(&j.name, j.F.s);
                    connect(&format!("{}_axis", j.name), j.F.s + j.F.axis(2) * model.length);
                }
                "fixed" => lines.push(format!("<weld name=\"{}\" body1=\"{}\" body2=\"{}\"/>", j.name, name_of(a), name_of(b))),
                other => self.left_out("joints", &j.name, &format!("MJCF closes loops by points and welds, not by a `{other}` joint")),
            }
        }
        for c in &model.couplings {
            let names = [0, 1].map(|k| {
                let [angle, distance] = joint_names(&model.joints[c.joints[k]]);
                if c.sides[k].0 == JointCoordinate::Angle { angle } else { distance }
            });
            let plain = [0, 1].iter().all(|k| c.sides[*k].1 == model.joints[c.joints[*k]].bodies && tree.contains(&c.joints[*k]));
            match names {
                [Some(a), Some(b)] if plain => {
                    lines.push(format!("<joint name=\"{}\" joint1=\"{b}\" joint2=\"{a}\" polycoef=\"0 {:?} 0 0 0\"/>", c.name, c.ratio));
                }
                _ => self.left_out("joints", &c.name, "MJCF couples coordinates of joints of the tree"),
            }
        }
        let spec = self.spec;
        for (name, d) in &spec.drives {
            let joint = model.joints.iter().find(|j| j.name == d.joint);
            let constant = d.value.constant_value().filter(|_| matches!(d.quantity, DriveQuantity::Angle | DriveQuantity::Distance));
            let named = joint.and_then(|j| joint_names(j)[usize::from(d.quantity == DriveQuantity::Distance)].clone());
            match (constant, joint, named) {
                (Some(x), Some(j), Some(joint1)) => {
                    let offset = x - self.coordinate(j, d.quantity == DriveQuantity::Angle);
                    lines.push(format!("<joint name=\"{name}\" joint1=\"{joint1}\" polycoef=\"{offset:?} 0 0 0 0\"/>"));
                }
                _ => self.left_out("drives", name, "MJCF has no motion that is a function of time"),
            }
        }
        self.group("equality", lines);
    }

    fn group(&mut self, tag: &str, lines: Vec<String>) {
        if !lines.is_empty() {
            self.open(&format!("<{tag}>"));
            lines.iter().for_each(|l| self.line(l));
            self.close(tag);
        }
    }

    /// Springs between points become tendons between sites.
    fn tendons(&mut self) {
        let spec = self.spec;
        for (name, f) in &spec.forces {
            match f {
                ForceSpec::Torsion(_) | ForceSpec::Actuator(_) => {}
                other => self.left_out("forces", name, &format!("a `{}` has no counterpart that is written", other.words().kind)),
            }
        }
    }

    /// Actuators whose effort is an input times a number.
    fn actuators(&mut self) {
        let (spec, model) = (self.spec, self.model);
        let mut lines = Vec::new();
        for (name, f) in &spec.forces {
            let ForceSpec::Actuator(a) = f else { continue };
            let joint = model.joints.iter().find(|j| j.name == a.joint);
            let named = joint.and_then(|j| joint_names(j).into_iter().flatten().next());
            match (factor(&a.effort), named) {
                (Some((input, gear)), Some(joint)) => {
                    let bounds =
                        spec.inputs.iter().find(|(n, _)| *n == input).map(|(_, i)| i.range).filter(|r| r.iter().all(|x| x.is_finite()));
                    let range = bounds.map_or(String::new(), |r| format!(" ctrlrange=\"{}\"", numbers(&r)));
                    self.written.push(name.clone());
                    lines.push(format!("<motor name=\"{name}\" joint=\"{joint}\" gear=\"{gear:?}\"{range}/>"));
                }
                _ => self.left_out("forces", name, "only an input times a number is written as a motor"),
            }
        }
        self.group("actuator", lines);
    }
}

/// The input and the factor of an effort that is their product.
pub(super) fn factor(e: &StateExpr) -> Option<(String, f64)> {
    let [StateVariable::Auxiliary(name)] = e.variables.as_slice() else { return None };
    let at = |x: f64| Expr::eval::<f64>(&e.expr, &[x]);
    // A linear function has the same ratio to its argument everywhere.
    let slope = at(1.0);
    let linear = at(0.0) == 0.0 && [-1.0, 0.5, 3.0, 1e3].iter().all(|x| (at(*x) - slope * x).abs() <= 1e-12 * (slope * x).abs());
    linear.then(|| (name.clone(), slope))
}
