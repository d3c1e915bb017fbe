//! URDF, the robot description of ROS: links, joints in a tree, mimic joints, transmissions; loops through a side file or `<gazebo>`.

mod closures;

use super::draft::*;
use super::meshes::Meshes;
use super::reading::{Reading, Spot, from_rpy};
use super::xml::Element;
use fourbar::Diagnostic;
use fourbar::spec::{PairKind, Shape};
use nalgebra::{Matrix3, Vector3};
use std::collections::{HashMap, HashSet};

/// A bound that means "none" in a format that requires one, N or N*m.
const ENDLESS: f64 = 1e6;

/// State while a robot is read.
struct Urdf<'r, 'a, 't> {
    reading: &'r Reading<'a>,
    meshes: Meshes,
    draft: Draft,
    links: Names<'t>,
    joints: Names<'t>,
    /// Origin of each joint in its parent.
    origins: Vec<Pose>,
    /// Joints of the tree, each after the joint that carries its parent.
    tree: Vec<usize>,
    /// Largest effort of each joint, zero if none is given.
    efforts: Vec<f64>,
}

/// Reads the element tree of a file.
pub(super) fn read(reading: &Reading<'_>, root: Element<'_>) -> Draft {
    let mut u = Urdf {
        reading,
        meshes: Meshes::default(),
        draft: Draft::new(root.word("name").unwrap_or("robot")),
        links: Names::default(),
        joints: Names::default(),
        origins: Vec::new(),
        tree: Vec::new(),
        efforts: Vec::new(),
    };
    root.ignore(&["version"]);
    // Colours do not affect the motion.
    root.all("material").for_each(Element::done);
    u.draft.gravity = Some([0.0, 0.0, -9.81]);
    for e in root.all("link") {
        u.link(e);
    }
    // Drake's files do not declare the world.
    let held = |e: &Element<'_>| e.child("parent").and_then(|p| p.get("link")).is_some_and(|a| a.value == "world");
    if u.links.find("world").is_none()
        && let Some(e) = root.all("joint").find(held)
    {
        u.links.add(reading, "links", "world", u.draft.links.len(), e.spot());
        u.draft.links.push(Link {
            name: "world".into(),
            pose: Pose::IDENTITY,
            body: Body::NONE,
            shapes: Vec::new(),
            velocity: [Vector3::zeros(); 2],
            spot: e.spot(),
        });
    }
    let elements: Vec<Element<'_>> = root.all("joint").filter(|e| u.joint(*e)).collect();
    if reading.good() {
        u.place(root.spot());
    }
    if reading.good() {
        u.mimics(&elements);
        for e in root.all("transmission") {
            u.transmission(e);
        }
        for e in root.all("gazebo") {
            e.all("joint").for_each(|j| u.gazebo_joint(j));
        }
        u.side_file();
        u.unused_efforts(root.spot());
    }
    u.meshes.say_missing(reading);
    u.draft
}

impl<'t> Urdf<'_, '_, 't> {
    /// Position and orientation of an `origin`.
    fn origin(&self, e: Option<Element<'_>>) -> Pose {
        let Some(o) = e.and_then(|e| e.child("origin")) else { return Pose::IDENTITY };
        let p = self.reading.vector(o.get("xyz"), Vector3::zeros());
        let rpy = self.reading.vector(o.get("rpy"), Vector3::zeros());
        Pose { p, R: from_rpy(rpy.as_slice()) }
    }

    fn link(&mut self, e: Element<'t>) {
        let Some(name) = self.reading.need(e, "name") else { return };
        let mut body = Body::NONE;
        if let Some(inertial) = e.child("inertial") {
            let pose = self.origin(Some(inertial));
            let mass = inertial.child("mass").and_then(|m| m.get("value"));
            body.mass = self.reading.number(mass, 0.0);
            if body.mass < 0.0 {
                let d = Diagnostic::new("M651", format!("link `{}` has a negative mass", name.value)).name(name.value);
                self.reading.problem(d.help("a mass must be positive"), inertial.spot());
            }
            if let Some(i) = inertial.child("inertia") {
                let x = |key: &str| self.reading.number(i.get(key), 0.0);
                let (xy, xz, yz) = (x("ixy"), x("ixz"), x("iyz"));
                body.J = Matrix3::new(x("ixx"), xy, xz, xy, x("iyy"), yz, xz, yz, x("izz"));
            }
            body = body.moved(&pose);
        }
        let mut shapes = Vec::new();
        for v in e.all("visual") {
            v.get("name");
            v.all("material").for_each(Element::done);
            shapes.extend(self.shape(v));
        }
        // Collision shapes are drawn if there are no visual shapes.
        if e.child("visual").is_none() {
            for c in e.all("collision") {
                shapes.extend(self.shape(c));
            }
        }
        let k = self.draft.links.len();
        self.links.add(self.reading, "links", name.value, k, name.spot);
        self.draft.links.push(Link {
            name: name.value.into(),
            pose: Pose::IDENTITY,
            body,
            shapes,
            velocity: [Vector3::zeros(); 2],
            spot: e.spot(),
        });
    }

    fn shape(&self, e: Element<'_>) -> Option<Shape> {
        let pose = self.origin(Some(e));
        let g = e.child("geometry")?;
        let r = self.reading;
        if let Some(b) = g.child("box") {
            let size = r.vector(b.get("size"), Vector3::repeat(0.1));
            return Some(super::lower::moved(&Shape::Box { size: size.into(), at: [0.0; 3] }, &pose));
        }
        if let Some(s) = g.child("sphere") {
            return Some(Shape::Sphere { at: pose.p.into(), radius: r.number(s.get("radius"), 0.1) });
        }
        for (tag, round) in [("cylinder", false), ("capsule", true)] {
            if let Some(c) = g.child(tag) {
                let (radius, length) = (r.number(c.get("radius"), 0.1), r.number(c.get("length"), 0.1));
                let [from, to] = [-0.5, 0.5].map(|s| pose.point(&Vector3::new(0.0, 0.0, s * length)).into());
                return Some(if round { Shape::Rod { from, to, radius } } else { Shape::Cylinder { from, to, radius } });
            }
        }
        let mesh = g.child("mesh")?;
        let file = mesh.get("filename")?;
        let scale = r.vector(mesh.get("scale"), Vector3::repeat(1.0));
        self.meshes.shape(r, file.value, "", &scale, &pose, file.spot)
    }

    /// Reads a joint; false if it is broken.
    fn joint(&mut self, e: Element<'t>) -> bool {
        let r = self.reading;
        let (Some(name), Some(kind)) = (r.need(e, "name"), r.need(e, "type")) else { return false };
        let end = |tag: &str| match e.child(tag).and_then(|c| c.get("link")) {
            Some(a) => {
                let found = self.links.find(a.value);
                if found.is_none() {
                    r.unknown("link", a.value, self.links.words(), a.spot);
                }
                found
            }
            None => {
                let d = Diagnostic::new("M654", format!("joint `{}` has no `{tag}`", name.value)).name(name.value);
                r.problem(d.help(format!("add `<{tag} link=\"...\"/>`")), e.spot());
                None
            }
        };
        let (Some(parent), Some(child)) = (end("parent"), end("child")) else { return false };
        let what = match kind.value {
            "revolute" | "continuous" => Kind::Pair(PairKind::Revolute),
            "prismatic" => Kind::Pair(PairKind::Prismatic),
            "fixed" => Kind::Welded,
            "floating" => Kind::Free,
            "planar" => Kind::Pair(PairKind::Planar),
            // Extensions of Drake.
            "ball" => Kind::Pair(PairKind::Spherical),
            "universal" => Kind::Universal,
            other => {
                r.unknown(
                    "type of joint",
                    other,
                    ["revolute", "continuous", "prismatic", "fixed", "floating", "planar"].into_iter(),
                    kind.spot,
                );
                return false;
            }
        };
        let axial = !matches!(what, Kind::Welded | Kind::Free | Kind::Pair(PairKind::Spherical));
        let axis = e.child("axis").and_then(|a| a.get("xyz"));
        let axis = if axial { r.direction(axis, Vector3::x()) } else { Vector3::z() };
        let origin = self.origin(Some(e));
        let frame = Pose::with_axis(Vector3::zeros(), &axis);
        let k = self.draft.joints.len();
        self.joints.add(r, "joints", name.value, k, name.spot);
        let mut joint = Joint::new(name.value, what, [parent, child], [origin.then(&frame), frame], e.spot());
        let mut effort = 0.0;
        if let Some(l) = e.child("limit") {
            let [low, high] = ["lower", "upper"].map(|key| l.get(key));
            if (low.is_some() || high.is_some()) && matches!(kind.value, "revolute" | "prismatic") {
                joint.limits = Some([r.number(low, 0.0), r.number(high, 0.0)]);
            }
            if low.is_none() && high.is_none() && kind.value == "revolute" {
                let message = format!("`{}` turns without limits: it has neither `lower` nor `upper`", name.value);
                let d = Diagnostic::new("W451", message).name(name.value);
                r.note(d.help("give both, or write `type=\"continuous\"`"), l.spot());
            }
            // Values of this size mean "none".
            effort = Some(r.number(l.get("effort"), 0.0)).filter(|x| *x < ENDLESS).unwrap_or(0.0);
        }
        if let Some(d) = e.child("dynamics") {
            joint.passive.damping = r.number(d.get("damping"), 0.0);
            joint.passive.dry = r.number(d.get("friction"), 0.0);
        }
        if let Some(p) = e.child("joint_properties") {
            joint.passive.damping += r.number(p.get("damping"), 0.0);
            joint.passive.dry += r.number(p.get("friction"), 0.0);
        }
        self.draft.joints.push(joint);
        self.origins.push(origin);
        self.efforts.push(effort);
        true
    }

    /// Poses of all links from that of the root, which is fixed to the ground.
    fn place(&mut self, spot: Spot) {
        let n = self.draft.links.len();
        let mut parent: Vec<Option<usize>> = vec![None; n];
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
        for (k, j) in self.draft.joints.iter().enumerate() {
            let [a, b] = j.links;
            if parent[b].replace(k).is_some() {
                let name = &self.draft.links[b].name;
                let d = Diagnostic::new("M658", format!("link `{name}` is the child of two joints")).name(name).name(&j.name);
                self.reading.problem(d.help("loops are closed by a separate file of closures, see `fourbar explain M661`"), j.spot);
            }
            below[a].push(k);
        }
        if !self.reading.good() {
            return;
        }
        let roots: Vec<usize> = (1..n).filter(|k| parent[*k].is_none()).collect();
        let [root] = roots.as_slice() else {
            let names: Vec<String> = roots.iter().take(10).map(|k| format!("`{}`", self.draft.links[*k].name)).collect();
            let d = match names.len() {
                0 if n == 1 => Diagnostic::new("M658", "the robot has no links"),
                0 => Diagnostic::new("M658", "the links form a circle: none of them is the root"),
                _ => Diagnostic::new("M658", format!("the robot has several roots: {}", names.join(", "))),
            };
            return self.reading.problem(d.help("exactly one link must not be the child of a joint"), spot);
        };
        let mut reached = vec![false; n];
        let mut link = *root;
        for k in 0.. {
            reached[link] = true;
            self.tree.extend(&below[link]);
            let Some(&j) = self.tree.get(k) else { break };
            let [parent, child] = self.draft.joints[j].links;
            self.draft.links[child].pose = self.draft.links[parent].pose.then(&self.origins[j]);
            link = child;
        }
        if self.tree.len() + 2 < n {
            let lost: Vec<String> = (1..n).filter(|k| !reached[*k]).take(10).map(|k| format!("`{}`", self.draft.links[k].name)).collect();
            let d = Diagnostic::new("M658", format!("{} form a circle that the root does not reach", lost.join(", ")));
            return self.reading.problem(d.help("check `parent` and `child` of their joints"), spot);
        }
        let name = self.draft.links[*root].name.clone();
        if name != "world" {
            let message = format!("the ground holds the root `{name}`, and gravity is 9.81 m/s^2 along -z: the file does not specify it");
            let d = Diagnostic::new("W451", message).name(&name);
            let help = "for a robot that moves freely add a link `world` and a `floating` joint from it to the root";
            self.reading.note(d.help(help), self.draft.links[*root].spot);
        }
        let hold = Joint::new("", Kind::Welded, [0, *root], [Pose::IDENTITY; 2], self.draft.links[*root].spot);
        self.draft.joints.push(hold);
        self.origins.push(Pose::IDENTITY);
        self.efforts.push(0.0);
    }

    fn mimics(&mut self, elements: &[Element<'_>]) {
        // Leading joint, multiplier and offset by following joint.
        let mut list: HashMap<usize, (usize, f64, f64, Spot)> = HashMap::new();
        let mut steps: HashMap<usize, Pose> = HashMap::new();
        for (k, e) in elements.iter().enumerate() {
            let Some(m) = e.child("mimic") else { continue };
            let Some(a) = self.reading.need(m, "joint") else { continue };
            let Some(first) = self.joints.find(a.value) else {
                self.reading.unknown("joint", a.value, self.joints.words(), a.spot);
                continue;
            };
            let (ratio, offset) = (self.reading.number(m.get("multiplier"), 1.0), self.reading.number(m.get("offset"), 0.0));
            let welded = |j: usize| self.draft.joints[j].kind == Kind::Welded;
            if welded(k) || (welded(first) && self.draft.joints[k].turns().is_some()) {
                // A joint that follows a fixed joint is fixed.
                let name = self.draft.joints[k].name.clone();
                let d = Diagnostic::new("W457", format!("`{name}` follows the fixed joint `{}` and is fixed, too", a.value)).name(&name);
                self.reading.note(d, m.spot());
                steps.extend(self.draft.joints[k].step(offset).map(|s| (k, s)));
                self.draft.joints[k].kind = Kind::Welded;
                continue;
            }
            if [k, first].iter().any(|j| self.draft.joints[*j].turns().is_none()) {
                let d = Diagnostic::new("M655", format!("joint `{}` cannot follow `{}`", self.draft.joints[k].name, a.value));
                self.reading.problem(d.help("joints that turn or slide follow each other"), m.spot());
                continue;
            }
            list.insert(k, (first, ratio, offset, m.spot()));
        }
        let mut order: Vec<usize> = list.keys().copied().collect();
        order.sort_unstable();
        // Coordinate of each following joint for the leading joint of its chain at zero.
        let mut values: HashMap<usize, f64> = HashMap::new();
        for k in order {
            let (first, ratio, offset, spot) = list[&k];
            // The leading joint may follow another one: the chain is followed to a joint that leads or is known, then evaluated backwards.
            let (mut at, mut way) = (k, Vec::new());
            while let Some((next, ..)) = list.get(&at).filter(|_| !values.contains_key(&at)) {
                if way.len() > list.len() {
                    let d = Diagnostic::new("M658", format!("joint `{}` follows itself", self.draft.joints[k].name));
                    return self.reading.problem(d.help("one joint of a circle of `mimic` must lead"), spot);
                }
                way.push(at);
                at = *next;
            }
            let mut value = values.get(&at).copied().unwrap_or(0.0);
            for j in way.into_iter().rev() {
                let (_, ratio, offset, _) = list[&j];
                value = offset + ratio * value;
                values.insert(j, value);
            }
            let name = self.draft.joints[k].name.clone();
            if ratio == 0.0 {
                self.draft.drives.push(Drive {
                    name: format!("{name}_mimic"),
                    joint: k,
                    quantity: if self.draft.joints[k].turns() == Some(true) {
                        fourbar::spec::DriveQuantity::Angle
                    } else {
                        fourbar::spec::DriveQuantity::Distance
                    },
                    formula: format!("{offset:?}"),
                    spot,
                });
            } else {
                self.draft.couplings.push(Coupling { name: format!("{name}_mimic"), joints: [first, k], ratio, spot });
            }
            if value != 0.0 {
                steps.extend(self.draft.joints[k].step(value).map(|s| (k, s)));
            }
        }
        self.draft.displace(self.tree.iter().copied(), &steps);
    }

    /// An input that acts on a joint.
    fn motor(&mut self, name: &str, joint: usize, ratio: f64, spot: Spot) {
        let Some(turns) = self.draft.joints[joint].turns() else { return };
        let largest = self.efforts[joint];
        let range = (largest > 0.0 && ratio != 0.0).then(|| [-largest / ratio.abs(), largest / ratio.abs()]);
        let i = self.draft.inputs.len();
        self.draft.inputs.push(Input { name: name.into(), unit: if turns { "N*m" } else { "N" }, default: 0.0, range, spot });
        let formula = if ratio == 1.0 { format!("i{i}") } else { format!("({ratio:?})*i{i}") };
        self.draft.efforts.push(Effort { name: name.into(), acts: Acts::Joint(joint, formula), spot });
    }

    /// Lists largest efforts of joints that are not driven.
    fn unused_efforts(&self, spot: Spot) {
        let joint_of = |e: &Effort| if let Acts::Joint(j, _) = e.acts { Some(j) } else { None };
        let pushed: HashSet<usize> = self.draft.efforts.iter().filter_map(joint_of).collect();
        let list: Vec<&str> = (0..self.draft.joints.len())
            .filter(|k| self.efforts[*k] > 0.0 && !pushed.contains(k))
            .map(|k| self.draft.joints[k].name.as_str())
            .collect();
        let Some(first) = list.first() else { return };
        let message = match list.len() {
            1 => format!("the largest effort of `{first}` is not converted: no transmission moves it"),
            n => format!("the largest efforts of {n} joints, `{first}` among them, are not converted: no transmission moves them"),
        };
        let d = Diagnostic::new("W450", message).name(*first);
        self.reading.note(d.help("add a `<transmission>` for every joint with a motor"), spot);
    }

    fn transmission(&mut self, e: Element<'_>) {
        let name = e.word("name").unwrap_or("motor").to_string();
        e.ignore(&["type"]);
        if let Some(t) = e.child("type") {
            t.done();
        }
        let Some(joint) = e.child("joint") else { return };
        joint.all("hardwareInterface").for_each(Element::done);
        let Some(a) = self.reading.need(joint, "name") else { return };
        let Some(k) = self.joints.find(a.value) else {
            // A motor on a joint that does not exist has no effect.
            let d = Diagnostic::new("W450", format!("the transmission `{name}` is not converted: there is no joint `{}`", a.value));
            self.reading.note(d.name(&name), a.spot);
            return e.done();
        };
        let mut ratio = 1.0;
        let mut input = name;
        for a in [Some(e), e.child("actuator")].into_iter().flatten() {
            if let Some(x) = a.text_of("mechanicalReduction") {
                ratio = self.reading.number(Some(x), 1.0);
            }
        }
        if let Some(a) = e.child("actuator") {
            a.all("hardwareInterface").for_each(Element::done);
            if let Some(n) = a.word("name") {
                input = n.into();
            }
        }
        self.motor(&input, k, ratio, e.spot());
    }

    /// A loop-closing joint in SDF syntax inside `<gazebo>`.
    fn gazebo_joint(&mut self, e: Element<'_>) {
        let r = self.reading;
        let name = e.word("name").unwrap_or("loop").to_string();
        let end = |tag: &str| {
            let a = e.text_of(tag)?;
            let found = self.links.find(a.value);
            if found.is_none() {
                r.unknown("link", a.value, self.links.words(), a.spot);
            }
            found
        };
        let (Some(parent), Some(child)) = (end("parent"), end("child")) else { return };
        let pose = match e.text_of("pose").and_then(|a| r.numbers(a, 6, 6)) {
            Some(x) => Pose { p: Vector3::new(x[0], x[1], x[2]), R: from_rpy(&x[3..]) },
            None => Pose::IDENTITY,
        };
        let axis = e.child("axis").and_then(|a| a.text_of("xyz"));
        let axis = r.direction(axis, Vector3::z());
        let kind = match e.word("type").unwrap_or("revolute") {
            "revolute" => Kind::Pair(PairKind::Revolute),
            "prismatic" => Kind::Pair(PairKind::Prismatic),
            "ball" => Kind::Pair(PairKind::Spherical),
            "fixed" => Kind::Pair(PairKind::Fixed),
            other => return r.unknown("type of joint", other, ["revolute", "prismatic", "ball", "fixed"].into_iter(), e.spot()),
        };
        let moving = pose.then(&Pose::with_axis(Vector3::zeros(), &axis));
        let [a, b] = [parent, child].map(|k| self.draft.links[k].pose);
        let base = a.inverse().then(&b).then(&moving);
        self.draft.joints.push(Joint::new(name, kind, [parent, child], [base, moving], e.spot()));
        self.origins.push(Pose::IDENTITY);
        self.efforts.push(0.0);
    }
}
