//! Bodies and their joints.

use super::super::draft::*;
use super::super::reading::about;
use super::super::xml::{Attribute, Element};
use super::{FromGeoms, Mjcf};
use fourbar::Diagnostic;
use fourbar::spec::PairKind;
use nalgebra::{Matrix3, Vector3};

/// Elements that add bodies in unsupported ways.
const UNREAD: [&str; 5] = ["composite", "flexcomp", "replicate", "attach", "plugin"];

/// Joints with their frames and classes, and the inertia of a body with its frame.
#[derive(Default)]
struct Inside<'x> {
    joints: Vec<(Element<'x>, Pose, usize)>,
    inertia: Option<(Element<'x>, Pose)>,
}

impl<'x> Mjcf<'_, '_, 'x> {
    /// Reads the contents of a body or of a frame in it. `frame` is its pose in the link.
    pub(super) fn content(&mut self, e: Element<'x>, link: usize, frame: &Pose, class: usize) -> Body {
        let mut sum = Body::NONE;
        for c in e.children() {
            match c.tag() {
                "geom" => {
                    c.saw();
                    let g = self.geom(c, frame, class);
                    sum = sum.with(&g.body);
                    self.draft.links[link].shapes.extend(g.shape);
                }
                "site" => {
                    c.saw();
                    self.site(c, link, frame, class);
                }
                "frame" => {
                    c.saw();
                    c.get("name");
                    let inner = frame.then(&self.pose(c));
                    let class = self.defaults.class_inside(self.reading, c, class);
                    sum = sum.with(&self.content(c, link, &inner, class));
                }
                "body" => {
                    c.saw();
                    self.body(c, link, frame, class);
                }
                tag if UNREAD.contains(&tag) => {
                    let help = "save the model with MuJoCo, which expands it, and read the saved file";
                    self.reading.unsupported(&format!("`{tag}`"), help, c.spot());
                }
                _ => {}
            }
        }
        sum
    }

    fn body(&mut self, e: Element<'x>, parent: usize, frame: &Pose, inherited: usize) {
        let r = self.reading;
        let inner = frame.then(&self.pose(e));
        let class = self.defaults.class_inside(r, e, inherited);
        let k = self.draft.links.len();
        let name = match e.get("name") {
            Some(a) => {
                self.bodies.add(r, "bodies", a.value, k, a.spot);
                a.value.into()
            }
            None => format!("body{k}"),
        };
        if e.word("mocap") == Some("true") {
            let d = Diagnostic::new("W450", format!("`{name}` is moved externally in MuJoCo (`mocap`); here it is part of the ground"));
            r.note(d.name(&name), e.spot());
        }
        let pose = self.draft.links[parent].pose.then(&inner);
        let body = |name: &str| Link {
            name: name.into(),
            pose,
            body: Body::NONE,
            shapes: Vec::new(),
            velocity: [Vector3::zeros(); 2],
            spot: e.spot(),
        };
        self.draft.links.push(body(&name));
        let mut inside = Inside::default();
        self.collect(e, &Pose::IDENTITY, class, &mut inside);
        let Inside { joints, inertia: own } = inside;
        // Several joints of a body act in series, through massless bodies.
        let mut base = (parent, inner);
        for (n, (j, within, class)) in joints.iter().enumerate() {
            let last = n + 1 == joints.len();
            let moving = if last {
                k
            } else {
                self.between.insert(self.draft.links.len());
                self.draft.links.push(body(&format!("{name}_{}", n + 1)));
                self.draft.links.len() - 1
            };
            self.joint(*j, [base.0, moving], [&base.1, within], *class, &name);
            base = (moving, Pose::IDENTITY);
        }
        if joints.is_empty() {
            self.draft.joints.push(Joint::new("", Kind::Welded, [parent, k], [inner, Pose::IDENTITY], e.spot()));
            self.reference.push(0.0);
        }
        let own = own.filter(|_| self.compiler.from_geoms != FromGeoms::Always);
        let weighs = own.is_none() && self.compiler.from_geoms != FromGeoms::Never;
        let around = std::mem::replace(&mut self.weighs, weighs);
        let geoms = self.content(e, k, &Pose::IDENTITY, class);
        self.weighs = around;
        self.draft.links[k].body = own.map_or(geoms, |(i, within)| self.inertial(i).moved(&within));
    }

    /// Collects the joints of a body with their frames, and its inertia, including those inside its frames.
    fn collect(&self, e: Element<'x>, frame: &Pose, class: usize, found: &mut Inside<'x>) {
        for c in e.children() {
            match c.tag() {
                "joint" | "freejoint" => {
                    c.saw();
                    found.joints.push((c, *frame, class));
                }
                "inertial" => {
                    c.saw();
                    if found.inertia.replace((c, *frame)).is_some() {
                        let d = Diagnostic::new("M656", "a body has two elements `inertial`");
                        self.reading.problem(d.help("remove one of them"), c.spot());
                    }
                }
                "frame" => {
                    let inner = frame.then(&self.pose(c));
                    let class = self.defaults.class_inside(self.reading, c, class);
                    self.collect(c, &inner, class, found);
                }
                _ => {}
            }
        }
    }

    fn inertial(&self, e: Element<'x>) -> Body {
        let r = self.reading;
        let pose = self.pose(e);
        let mass = r.number(r.need(e, "mass"), 0.0);
        let J = if let Some(x) = e.get("fullinertia").and_then(|a| r.numbers(a, 6, 6)) {
            Matrix3::new(x[0], x[3], x[4], x[3], x[1], x[5], x[4], x[5], x[2])
        } else {
            Matrix3::from_diagonal(&r.vector(e.get("diaginertia"), Vector3::zeros()))
        };
        if mass < 0.0 {
            r.problem(Diagnostic::new("M651", "the mass is negative").help("a mass must be positive"), e.spot());
        }
        Body { mass, com: Vector3::zeros(), J }.moved(&pose)
    }

    /// A joint of a body at `at` on the base, given in a frame at `within` on the body.
    fn joint(&mut self, e: Element<'x>, links: [usize; 2], [at, within]: [&Pose; 2], inherited: usize, body: &str) {
        let r = self.reading;
        let free = e.tag() == "freejoint";
        let class = self.defaults.class_of(r, e, inherited);
        let tags: &[&str] = if free { &["freejoint"] } else { &["joint"] };
        let get = |name: &str| self.defaults.attribute(e, class, tags, name);
        let k = self.draft.joints.len();
        let name = match e.get("name") {
            Some(a) => {
                self.joints.add(r, "joints", a.value, k, a.spot);
                a.value.into()
            }
            None => format!("{body}_joint"),
        };
        let kind = if free { "free" } else { get("type").map_or("hinge", |a| a.value) };
        let what = match kind {
            "hinge" => Kind::Pair(PairKind::Revolute),
            "slide" => Kind::Pair(PairKind::Prismatic),
            "ball" => Kind::Pair(PairKind::Spherical),
            "free" => Kind::Free,
            other => {
                r.unknown("type of joint", other, ["hinge", "slide", "ball", "free"].into_iter(), e.spot());
                Kind::Free
            }
        };
        let mut joint = Joint::new(name, what, links, [Pose::IDENTITY; 2], e.spot());
        let turns = joint.turns();
        let angle = if turns == Some(false) { 1.0 } else { self.compiler.angle };
        let mut reference = 0.0;
        joint.passive.rotor = r.number(get("armature"), 0.0);
        if what != Kind::Free {
            let axis = if turns.is_some() { r.direction(get("axis"), Vector3::z()) } else { Vector3::z() };
            let frame = within.then(&Pose::with_axis(r.vector(get("pos"), Vector3::zeros()), &axis));
            reference = if turns.is_some() { angle * r.number(get("ref"), 0.0) } else { 0.0 };
            // The coordinate has its reference value as drawn, so the frame on the base is moved back by that value.
            let back = match turns {
                Some(true) => Pose { p: Vector3::zeros(), R: about(&Vector3::z(), -reference) },
                Some(false) => Pose::at(Vector3::new(0.0, 0.0, -reference)),
                None => Pose::IDENTITY,
            };
            joint.frames = [if reference == 0.0 { at.then(&frame) } else { at.then(&frame).then(&back) }, frame];
            let first = |key: &str| self.first_coefficient(get(key), &joint.name);
            joint.passive = Passive {
                stiffness: first("stiffness"),
                rest: angle * r.number(get("springref"), 0.0),
                damping: first("damping"),
                dry: r.number(get("frictionloss"), 0.0),
                ..joint.passive
            };
            let range = get("range").and_then(|a| r.numbers(a, 2, 2)).map(|x| [angle * x[0], angle * x[1]]);
            let limited = match get("limited").map_or("auto", |a| a.value) {
                "true" => true,
                "false" => false,
                _ => self.compiler.autolimits && range.is_some(),
            };
            joint.limits = range.filter(|_| limited);
        }
        self.draft.joints.push(joint);
        self.reference.push(reference);
    }

    /// The first coefficient of a spring or damper; further ones would make it nonlinear and are listed.
    pub(super) fn first_coefficient(&self, given: Option<Attribute<'x>>, of: &str) -> f64 {
        let Some((a, x)) = given.and_then(|a| Some((a, self.reading.numbers(a, 1, 3)?))) else { return 0.0 };
        if x[1..].iter().any(|c| *c != 0.0) {
            let message = format!("of `{}` of `{of}` only the first coefficient is converted, {:?}", a.name, x[0]);
            let d = Diagnostic::new("W450", message).name(of);
            self.reading.note(d.help("springs and dampers are linear here; write the law as a force with an expression"), a.spot);
        }
        x[0]
    }
}
