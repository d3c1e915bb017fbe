//! URDF of a mechanism.

use super::mjcf::factor;
use super::{ENDLESS, Tree, along, input_of, numbers, plain, quoted, rpy, vector};
use fourbar::model::{JointCoordinate, Model};
use fourbar::spec::*;
use fourbar::{Diagnostic, Error};
use nalgebra::{Matrix3, Vector3};

/// The text of a URDF file, and notes on omissions. Joint coordinates are zero in the assembled pose; loops stay open.
pub fn write_urdf(spec: &ModelSpec, model: &Model) -> Result<(String, Vec<Diagnostic>), Error> {
    let mut t = Tree::new(spec, model)?;
    let title = if spec.title.is_empty() { "mechanism" } else { spec.title.as_str() };
    t.open(&format!("<robot name=\"{}\">", quoted(title)));
    t.line("<link name=\"world\"/>");
    // Parents before their children.
    let mut list: Vec<(usize, usize)> = t.children(0).into_iter().chain(t.free()).map(|k| (k, 0)).collect();
    let mut k = 0;
    while let Some(&(body, parent)) = list.get(k) {
        t.urdf_body(body, parent);
        list.extend(t.children(body).into_iter().map(|c| (c, body)));
        k += 1;
    }
    t.urdf_points();
    t.urdf_rest();
    t.limits_rest(&["revolute", "prismatic"]);
    t.rest("URDF");
    t.close("robot");
    Ok((t.out, t.notes))
}

impl Tree<'_> {
    /// Origin of the frame of a link in the frame of its body: at the joint that carries it.
    fn link_at(&self, k: usize) -> Vector3<f64> {
        match self.carrier(k) {
            Some((j, _, reversed)) => self.axis(&self.model.joints[j], k, reversed).0,
            None => Vector3::zeros(),
        }
    }

    fn urdf_body(&mut self, k: usize, parent: usize) {
        let b = self.body(k);
        let at = self.link_at(k);
        self.open(&format!("<link name=\"{}\">", b.name));
        let J = &b.J_bar;
        self.open("<inertial>");
        self.line(&format!("<origin xyz=\"{}\"/>", vector(&(b.com - at))));
        self.line(&format!("<mass value=\"{:?}\"/>", b.mass));
        let entries = [("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)];
        let text: Vec<String> = entries.iter().map(|(key, i, j)| format!("{key}=\"{:?}\"", J[(*i, *j)] + 0.0)).collect();
        self.line(&format!("<inertia {}/>", text.join(" ")));
        self.close("inertial");
        for shape in b.shapes.iter().filter(|s| plain(s)) {
            self.visual(shape, &at);
        }
        if b.shapes.iter().any(|s| !plain(s)) {
            let d = Diagnostic::new("W459", format!("plates and meshes of `{}` are not written", b.name)).name(&b.name);
            self.notes.push(d.at(format!("bodies.{}", b.name)));
        }
        self.close("link");
        let x = self.relative(parent, k);
        let origin = x.p + x.R * at - if parent == 0 { Vector3::zeros() } else { self.link_at(parent) };
        let mut limits = None;
        let (name, kind, axis) = match self.carrier(k) {
            None => (format!("{}_free", b.name), "floating", Vector3::z()),
            Some((j, _, reversed)) => {
                let joint = &self.model.joints[j];
                let kind = match joint.kind.name() {
                    "revolute" => "continuous",
                    "prismatic" => "prismatic",
                    "fixed" => "fixed",
                    "planar" => "planar",
                    other => {
                        let why = format!("URDF has no joint like `{other}`, and its bodies move freely there");
                        let name = joint.name.clone();
                        self.left_out("joints", &name, &why);
                        "floating"
                    }
                };
                if matches!(kind, "continuous" | "prismatic") {
                    let drawn = self.coordinate(joint, kind == "continuous");
                    if drawn != 0.0 {
                        let message = format!("the coordinate of `{}` counts from the start, where it is {drawn}", joint.name);
                        self.notes.push(Diagnostic::new("W459", message).name(&joint.name).at(format!("joints.{}", joint.name)));
                    }
                }
                let turns = kind == "continuous";
                limits = self.limits(joint, turns).filter(|_| turns || kind == "prismatic");
                // Coordinates are measured from the start.
                limits = limits.map(|l| l.map(|x| x - self.coordinate(joint, turns)));
                let kind = if turns && limits.is_some() { "revolute" } else { kind };
                (joint.name.clone(), kind, self.axis(joint, k, reversed).1)
            }
        };
        self.open(&format!("<joint name=\"{name}\" type=\"{kind}\">"));
        self.line(&format!("<origin xyz=\"{}\" rpy=\"{}\"/>", vector(&origin), rpy(&x.R)));
        let base = if parent == 0 { "world" } else { self.body(parent).name.as_str() };
        self.line(&format!("<parent link=\"{base}\"/>"));
        self.line(&format!("<child link=\"{}\"/>", b.name));
        if !matches!(kind, "fixed" | "floating") {
            self.line(&format!("<axis xyz=\"{}\"/>", vector(&axis)));
        }
        let effort = self.largest_effort(&name);
        if matches!(kind, "prismatic" | "revolute") {
            let [low, high] = limits.unwrap_or([-ENDLESS, ENDLESS]);
            let effort = effort.unwrap_or(ENDLESS);
            self.line(&format!("<limit lower=\"{low:?}\" upper=\"{high:?}\" effort=\"{effort:?}\" velocity=\"{ENDLESS:?}\"/>"));
        } else if let Some(effort) = effort.filter(|_| kind == "continuous") {
            self.line(&format!("<limit effort=\"{effort:?}\" velocity=\"{ENDLESS:?}\"/>"));
        }
        self.dynamics(&name);
        self.mimic(k);
        self.close("joint");
    }

    /// The largest effort of the actuators of a joint, if the ranges of their inputs are known.
    fn largest_effort(&mut self, joint: &str) -> Option<f64> {
        let spec = self.spec;
        let mut sum: Option<f64> = None;
        for (_, f) in spec.forces.iter().filter(|(_, f)| matches!(f, ForceSpec::Actuator(a) if a.joint == joint)) {
            let (input, gear) = input_of(f)?;
            let (name, i) = spec.inputs.iter().find(|(n, _)| *n == input)?;
            let [low, high] = i.range;
            let largest = low.abs().max(high.abs());
            if !largest.is_finite() {
                return None;
            }
            if low != -high {
                let message = format!("the range {low} to {high} of the input `{name}` is written as {} to {largest}", -largest);
                self.notes.push(Diagnostic::new("W459", message).name(name).at(format!("inputs.{name}")));
            }
            sum = Some(sum.unwrap_or(0.0) + gear.abs() * largest);
        }
        sum
    }

    /// Points become links without mass, fixed to the links of their bodies.
    fn urdf_points(&mut self) {
        let (spec, model) = (self.spec, self.model);
        for (name, p) in &model.points {
            let k = p.body.index();
            let (base, origin) = if k == 0 { ("world", Vector3::zeros()) } else { (self.body(k).name.as_str(), self.link_at(k)) };
            let mut joint = format!("{name}_fixed");
            while spec.joints.iter().any(|(n, _)| *n == joint) {
                joint.push('_');
            }
            self.line(&format!("<link name=\"{name}\"/>"));
            self.open(&format!("<joint name=\"{joint}\" type=\"fixed\">"));
            self.line(&format!("<origin xyz=\"{}\"/>", vector(&(self.body(k).com + p.s - origin))));
            self.line(&format!("<parent link=\"{base}\"/>"));
            self.line(&format!("<child link=\"{name}\"/>"));
            self.close("joint");
        }
    }

    fn dynamics(&mut self, joint: &str) {
        let spec = self.spec;
        for (name, f) in &spec.forces {
            if let ForceSpec::Torsion(t) = f
                && t.joint == joint
            {
                match &t.law {
                    SpringLaw::Linear { stiffness, damping, .. } => {
                        self.line(&format!("<dynamics damping=\"{damping:?}\"/>"));
                        if *stiffness != 0.0 {
                            self.left_out("forces", name, "URDF has no springs; its damping is written");
                        }
                    }
                    SpringLaw::Expression(_) => self.left_out("forces", name, "URDF has linear damping only"),
                }
            }
        }
    }

    fn mimic(&mut self, child: usize) {
        let model = self.model;
        let Some((j, ..)) = self.carrier(child) else { return };
        for c in model.couplings.iter().filter(|c| c.joints[1] == j) {
            let plain =
                [0, 1].iter().all(|k| c.sides[*k].1 == model.joints[c.joints[*k]].bodies) && c.joints.iter().all(|k| self.carries(*k));
            let single = c.joints.iter().all(|k| matches!(model.joints[*k].kind.name(), "revolute" | "prismatic"));
            if plain && single {
                self.line(&format!("<mimic joint=\"{}\" multiplier=\"{:?}\" offset=\"0\"/>", model.joints[c.joints[0]].name, c.ratio));
            }
        }
    }

    fn visual(&mut self, shape: &Shape, at: &Vector3<f64>) {
        let (place, R, geometry) = match shape {
            Shape::Box { size, at } => (Vector3::from(*at), Matrix3::identity(), format!("<box size=\"{}\"/>", numbers(size))),
            Shape::Sphere { at, radius } => (Vector3::from(*at), Matrix3::identity(), format!("<sphere radius=\"{radius:?}\"/>")),
            Shape::Cylinder { from, to, radius } | Shape::Rod { from, to, radius } => {
                let (middle, R, length) = along(from, to);
                (middle, R, format!("<cylinder radius=\"{radius:?}\" length=\"{length:?}\"/>"))
            }
            Shape::Plate { .. } | Shape::Mesh { .. } => return,
        };
        self.open("<visual>");
        self.line(&format!("<origin xyz=\"{}\" rpy=\"{}\"/>", vector(&(place - at)), rpy(&R)));
        self.line(&format!("<geometry>{geometry}</geometry>"));
        self.close("visual");
    }

    /// Reports loops, couplings, drives and forces that URDF does not have.
    fn urdf_rest(&mut self) {
        let (spec, model) = (self.spec, self.model);
        for (k, j) in model.joints.iter().enumerate() {
            if !self.carries(k) {
                self.left_out("joints", &j.name, "it closes a loop, and URDF has none");
            }
        }
        for c in &model.couplings {
            if !self.out.contains(&format!("<mimic joint=\"{}\" multiplier=\"{:?}\"", model.joints[c.joints[0]].name, c.ratio)) {
                self.left_out("joints", &c.name, "URDF couples coordinates of joints of the tree");
            }
        }
        for (name, _) in &spec.drives {
            self.left_out("drives", name, "URDF has no prescribed motion");
        }
        for (name, f) in &spec.forces {
            match f {
                ForceSpec::Torsion(_) => {}
                ForceSpec::Actuator(a) => match factor(&a.effort) {
                    Some((input, gear))
                        if gear != 0.0
                            && model.joints.iter().any(|j| {
                                j.name == a.joint
                                    && j.coordinate(JointCoordinate::Angle).is_some() != j.coordinate(JointCoordinate::Distance).is_some()
                            }) =>
                    {
                        self.written.push(name.clone());
                        self.open(&format!("<transmission name=\"{name}\">"));
                        self.line("<type>transmission_interface/SimpleTransmission</type>");
                        self.line(&format!("<joint name=\"{}\"/>", a.joint));
                        self.line(&format!("<actuator name=\"{input}\"><mechanicalReduction>{gear:?}</mechanicalReduction></actuator>"));
                        self.close("transmission");
                    }
                    _ => self.left_out("forces", name, "only an input times a number is written as a transmission"),
                },
                other => self.left_out("forces", name, &format!("URDF has no `{}`", other.words().kind)),
            }
        }
        if model.gravity != Vector3::new(0.0, 0.0, -9.81) {
            let d = Diagnostic::new("W459", "gravity is not written: URDF leaves it to the program that reads it");
            self.notes.push(d.at("gravity"));
        }
    }
}
