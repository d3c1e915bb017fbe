//! SDF, the format of Gazebo: links and joints of models, poses relative to any frame, loops by joints.

mod joint;

use super::draft::*;
use super::meshes::Meshes;
use super::reading::{Reading, Spot, from_quaternion, from_rpy};
use super::xml::{Attribute, Element};
use fourbar::Diagnostic;
use fourbar::spec::Shape;
use nalgebra::{Matrix3, Vector3};
use std::cell::RefCell;
use std::collections::HashMap;

/// An element with a pose: its reference frame, its pose there, and the link it belongs to.
#[derive(Clone, Debug)]
struct Frame<'t> {
    /// Name of the reference frame; `None` for that of the model.
    relative_to: Option<&'t str>,
    pose: Pose,
    /// Name of the frame to which it is attached; `None` for a link itself.
    attached_to: Option<&'t str>,
    link: Option<usize>,
}

/// State while a file is read.
struct Sdf<'r, 'a, 't> {
    reading: &'r Reading<'a>,
    meshes: Meshes,
    draft: Draft,
    joints: Names<'t>,
    /// Frames of the current model by name.
    frames: HashMap<&'t str, Frame<'t>>,
    /// Resolved frames: their poses in the frame of the model, if known.
    known: RefCell<HashMap<&'t str, Option<Pose>>>,
    /// The frame of the current model in the world.
    model: Pose,
    /// Prefix of names if there are several models.
    prefix: String,
}

/// Reads the element tree of a file.
pub(super) fn read(reading: &Reading<'_>, root: Element<'_>) -> Draft {
    root.ignore(&["version"]);
    let world = root.child("world");
    let place = world.unwrap_or(root);
    place.ignore(&["name"]);
    let models: Vec<Element<'_>> = place.all("model").collect();
    let title = models.first().and_then(|m| m.word("name")).unwrap_or("model").to_string();
    let mut s = Sdf {
        reading,
        meshes: Meshes::default(),
        draft: Draft::new(title),
        joints: Names::default(),
        frames: HashMap::new(),
        known: RefCell::default(),
        model: Pose::IDENTITY,
        prefix: String::new(),
    };
    let gravity = world.and_then(|w| w.text_of("gravity"));
    let g = reading.vector(gravity, Vector3::new(0.0, 0.0, if world.is_some() { -9.8 } else { -9.81 }));
    s.draft.gravity = Some(g.into());
    if world.is_none() {
        let d = Diagnostic::new("W451", "gravity is 9.81 m/s^2 along -z: a model without a world does not specify it");
        reading.note(d, root.spot());
    }
    for e in place.all("include") {
        reading.unsupported("`include`", "put the included model into the file", e.spot());
    }
    if models.is_empty() {
        let d = Diagnostic::new("M654", "the file has no `model`");
        reading.problem(d.help("a mechanism is a `<model>` with links and joints"), root.spot());
    }
    for m in &models {
        if models.len() > 1 {
            s.prefix = m.word("name").map(|n| format!("{n}_")).unwrap_or_default();
        }
        s.model(*m);
    }
    s.meshes.say_missing(reading);
    s.draft
}

impl<'t> Sdf<'_, '_, 't> {
    /// The pose given by `pose` inside an element, and its reference frame.
    fn pose(&self, e: Element<'t>) -> (Pose, Option<&'t str>) {
        let Some(p) = e.child("pose") else { return (Pose::IDENTITY, None) };
        let relative = p.word("relative_to").or_else(|| p.word("frame")).filter(|w| !w.is_empty());
        let quaternion = p.word("rotation_format") == Some("quat_xyzw");
        let degrees = p.word("degrees") == Some("true");
        let Some(value) = e.text_of("pose").filter(|v| !v.value.is_empty()) else { return (Pose::IDENTITY, relative) };
        let count = if quaternion { 7 } else { 6 };
        let Some(x) = self.reading.numbers(value, count, count) else { return (Pose::IDENTITY, relative) };
        let R = if quaternion {
            from_quaternion(&[x[6], x[3], x[4], x[5]]).unwrap_or_else(Matrix3::identity)
        } else {
            let unit = if degrees { 1f64.to_radians() } else { 1.0 };
            from_rpy(&[x[3] * unit, x[4] * unit, x[5] * unit])
        };
        (Pose { p: Vector3::new(x[0], x[1], x[2]), R }, relative)
    }

    fn model(&mut self, m: Element<'t>) {
        let r = self.reading;
        self.frames.clear();
        self.known.get_mut().clear();
        m.get("name");
        let (pose, relative) = self.pose(m);
        if relative.is_some_and(|w| w != "world") {
            r.unsupported("the pose of a model relative to a frame", "write it relative to the world", m.spot());
        }
        for tag in ["model", "include", "experimental_params"] {
            if let Some(e) = m.child(tag) {
                r.unsupported(&format!("`{tag}` inside a model"), "put its links and joints into the model", e.spot());
            }
        }
        let fixed = m.text_of("static").is_some_and(|a| matches!(a.value, "true" | "1"));
        let first = self.draft.links.len();
        let links: Vec<Element<'_>> = m.all("link").filter(|e| self.link(*e)).collect();
        // The frame of the model moves with its canonical link.
        let canonical = match m.get("canonical_link").filter(|a| !a.value.is_empty()) {
            None => links.first().map(|_| first),
            Some(a) => {
                let found = self.frames.get(a.value).and_then(|f| f.link);
                if found.is_none() {
                    r.unknown("link", a.value, self.frames.keys().copied(), a.spot);
                }
                found
            }
        };
        self.frames.insert("__model__", Frame { relative_to: None, pose: Pose::IDENTITY, attached_to: None, link: canonical });
        for f in m.all("frame") {
            let (pose, relative) = self.pose(f);
            let attached = f.word("attached_to").filter(|w| !w.is_empty());
            // The frame of reference of a pose does not affect the attachment.
            let attached_to = attached.or(Some("__model__"));
            self.frame(f, Frame { relative_to: relative.or(attached), pose, attached_to, link: None });
        }
        for j in m.all("joint") {
            let (pose, relative) = self.pose(j);
            let child = j.text_of("child").map(|a| a.value);
            self.frame(j, Frame { relative_to: relative.or(child), pose, attached_to: child, link: None });
        }
        // The pose of the model is that of its placement frame.
        let placed = m.get("placement_frame").filter(|a| !a.value.is_empty());
        self.model = match placed.and_then(|a| self.in_model(a.value, a.spot)) {
            Some(at) => pose.then(&at.inverse()),
            None => pose,
        };
        let world = Frame { relative_to: None, pose: self.model.inverse(), attached_to: None, link: Some(0) };
        self.frames.insert("world", world);
        for e in &links {
            let name = e.word("name").unwrap_or_default();
            if let (Some(k), Some(pose)) = (self.frames.get(name).and_then(|f| f.link), self.world(name, e.spot())) {
                self.draft.links[k].pose = pose;
            }
        }
        for e in &links {
            self.look(*e);
        }
        if r.good() {
            for j in m.all("joint") {
                self.joint(j);
            }
            for (tag, weld) in [("drake_weld_constraint", true), ("drake_ball_constraint", false)] {
                m.all(tag).for_each(|c| self.constraint(c, weld));
            }
            self.points(m);
        }
        if fixed {
            for k in first..self.draft.links.len() {
                let spot = self.draft.links[k].spot;
                self.draft.joints.push(Joint::new("", Kind::Welded, [0, k], [self.draft.links[k].pose, Pose::IDENTITY], spot));
            }
        }
    }

    fn frame(&mut self, e: Element<'t>, frame: Frame<'t>) {
        let Some(name) = self.reading.need(e, "name") else { return };
        if self.frames.insert(name.value, frame).is_some() {
            let d = Diagnostic::new("M656", format!("two links, joints or frames are named `{}`", name.value)).name(name.value);
            self.reading.problem(d.help("rename one of them"), name.spot);
        }
    }

    /// A frame in the frame of the model; `None`, with a problem, if frames refer to each other in a circle.
    fn in_model(&self, name: &'t str, spot: Spot) -> Option<Pose> {
        let mut known = self.known.borrow_mut();
        // Follows the references to the first known frame, then computes the poses backwards.
        let (mut way, mut at, mut pose) = (Vec::new(), Some(name), Pose::IDENTITY);
        while let Some(next) = at.filter(|n| *n != "__model__") {
            let lost = match (known.get(next), self.frames.get(next)) {
                (Some(Some(found)), _) => {
                    pose = *found;
                    break;
                }
                // Already reported.
                (Some(None), _) => true,
                (None, None) => {
                    self.reading.unknown("frame", next, self.frames.keys().copied(), spot);
                    true
                }
                (None, Some(_)) if way.len() > self.frames.len() => {
                    let d = Diagnostic::new("M658", format!("the pose of `{name}` refers to itself in a circle")).name(name);
                    self.reading.problem(d.help("one frame of the circle must be relative to the model"), spot);
                    true
                }
                (None, Some(f)) => {
                    way.push((next, f));
                    at = f.relative_to;
                    false
                }
            };
            if lost {
                known.extend(way.into_iter().map(|(name, _)| (name, None)));
                return None;
            }
        }
        for (name, f) in way.into_iter().rev() {
            pose = pose.then(&f.pose);
            known.insert(name, Some(pose));
        }
        Some(pose)
    }

    /// A frame in the world.
    fn world(&self, name: &'t str, spot: Spot) -> Option<Pose> {
        Some(self.model.then(&self.in_model(name, spot)?))
    }

    /// The link that a frame belongs to.
    fn link_of(&mut self, a: Attribute<'t>) -> Option<usize> {
        let (mut name, mut way) = (a.value, Vec::new());
        while let Some(f) = self.frames.get(name).filter(|_| way.len() <= self.frames.len()) {
            match (f.link, f.attached_to) {
                (Some(link), _) => {
                    // Stores the result for all frames on the way.
                    for n in way {
                        self.frames.entry(n).and_modify(|f| f.attached_to = Some(name));
                    }
                    return Some(link);
                }
                (None, Some(next)) => {
                    way.push(name);
                    name = next;
                }
                (None, None) => break,
            }
        }
        // Stores the failure for all frames on the way.
        for n in way {
            self.frames.entry(n).and_modify(|f| f.attached_to = None);
        }
        self.reading.unknown("link", a.value, self.frames.keys().copied(), a.spot);
        None
    }

    fn link(&mut self, e: Element<'t>) -> bool {
        let r = self.reading;
        let Some(name) = r.need(e, "name") else { return false };
        let k = self.draft.links.len();
        let (pose, relative_to) = self.pose(e);
        let mut body = Body::NONE;
        // Without `inertial` a link has the default unit values of the format.
        body.mass = 1.0;
        body.J = Matrix3::identity();
        if let Some(i) = e.child("inertial") {
            let (at, _) = self.pose(i);
            body.mass = r.number(i.text_of("mass"), 1.0);
            if let Some(t) = i.child("inertia") {
                let x = |key: &str, without: f64| r.number(t.text_of(key), without);
                let (xy, xz, yz) = (x("ixy", 0.0), x("ixz", 0.0), x("iyz", 0.0));
                body.J = Matrix3::new(x("ixx", 1.0), xy, xz, xy, x("iyy", 1.0), yz, xz, yz, x("izz", 1.0));
            }
            body = body.moved(&at);
            if body.mass < 0.0 {
                let d = Diagnostic::new("M651", format!("link `{}` has a negative mass", name.value)).name(name.value);
                r.problem(d.help("a mass must be positive"), i.spot());
            }
        }
        self.draft.links.push(Link {
            name: format!("{}{}", self.prefix, name.value),
            pose: Pose::IDENTITY,
            body,
            shapes: Vec::new(),
            velocity: [Vector3::zeros(); 2],
            spot: e.spot(),
        });
        self.frame(e, Frame { relative_to, pose, attached_to: None, link: Some(k) });
        true
    }

    /// Shapes of a link.
    fn look(&mut self, e: Element<'t>) {
        let name = e.word("name").unwrap_or_default();
        let Some(k) = self.frames.get(name).and_then(|f| f.link) else { return };
        for v in e.all("visual") {
            v.get("name");
            v.all("material").for_each(Element::done);
            v.all("transparency").for_each(Element::done);
            let (mut pose, relative) = self.pose(v);
            if let Some(other) = relative {
                let here = self.draft.links[k].pose;
                let Some(world) = self.world(other, v.spot()) else { continue };
                pose = here.inverse().then(&world).then(&pose);
            }
            let shape = v.child("geometry").and_then(|g| self.shape(g, &pose));
            self.draft.links[k].shapes.extend(shape);
        }
    }

    fn shape(&self, g: Element<'_>, pose: &Pose) -> Option<Shape> {
        let r = self.reading;
        if let Some(b) = g.child("box") {
            let size = r.vector(b.text_of("size"), Vector3::repeat(1.0));
            return Some(super::lower::moved(&Shape::Box { size: size.into(), at: [0.0; 3] }, pose));
        }
        if let Some(s) = g.child("sphere") {
            return Some(Shape::Sphere { at: pose.p.into(), radius: r.number(s.text_of("radius"), 1.0) });
        }
        for (tag, round) in [("cylinder", false), ("capsule", true)] {
            if let Some(c) = g.child(tag) {
                let (radius, length) = (r.number(c.text_of("radius"), 1.0), r.number(c.text_of("length"), 1.0));
                let [from, to] = [-0.5, 0.5].map(|s| pose.point(&Vector3::new(0.0, 0.0, s * length)).into());
                return Some(if round { Shape::Rod { from, to, radius } } else { Shape::Cylinder { from, to, radius } });
            }
        }
        let mesh = g.child("mesh")?;
        let uri = mesh.text_of("uri")?;
        let scale = r.vector(mesh.text_of("scale"), Vector3::repeat(1.0));
        self.meshes.shape(r, uri.value, "", &scale, pose, uri.spot)
    }

    /// Separate frames become points.
    fn points(&mut self, m: Element<'t>) {
        for f in m.all("frame") {
            let Some(name) = f.get("name") else { continue };
            let (Some(link), Some(world)) = (self.link_of(name), self.world(name.value, f.spot())) else { continue };
            let (_, relative) = self.pose(f);
            if let Some(other) = relative.filter(|_| f.word("attached_to").is_none_or(str::is_empty))
                && let Some(near) = self.link_of(Attribute { name: "relative_to", value: other, spot: f.spot() })
                && near != link
            {
                let names = [link, near].map(|k| self.draft.links[k].name.clone());
                let message =
                    format!("the frame `{}` moves with the model, that is with `{}`, not with `{}`", name.value, names[0], names[1]);
                let help = format!("`relative_to` says where it is drawn; `attached_to=\"{other}\"` makes it move with `{}`", names[1]);
                self.reading.note(Diagnostic::new("W451", message).name(name.value).help(help), f.spot());
            }
            let at = self.draft.links[link].pose.inverse().point(&world.p);
            self.draft.points.push(Point { name: format!("{}{}", self.prefix, name.value), link, at, spot: f.spot() });
        }
    }
}
