//! Geoms: mass and appearance of bodies.

use super::super::draft::{Body, Pose};
use super::super::lower::moved;
use super::super::xml::Element;
use super::rotation::from_z;
use super::{Mjcf, Site};
use crate::import::draft::Point;
use crate::solid::Solid;
use fourbar::Diagnostic;
use fourbar::diagnostic::number;
use fourbar::spec::Shape;
use nalgebra::Vector3;

/// Groups that MuJoCo's viewer shows by default.
const SHOWN: f64 = 2.5;

/// A geom: its mass and appearance, in the frame of its body.
pub(super) struct Geom {
    pub body: Body,
    pub shape: Option<Shape>,
}

impl<'x> Mjcf<'_, '_, 'x> {
    /// Centre, orientation and half length of a geom given by its two ends.
    fn between(&self, x: &[f64]) -> (Pose, f64) {
        let [a, b] = [0, 3].map(|k| Vector3::new(x[k], x[k + 1], x[k + 2]));
        let d = b - a;
        let length = d.norm();
        let R = if length > 1e-15 { from_z(&(-d / length)) } else { nalgebra::Matrix3::identity() };
        (Pose { p: (a + b) / 2.0, R }, length / 2.0)
    }

    /// Reads a geom in a frame of its body.
    pub(super) fn geom(&self, e: Element<'x>, frame: &Pose, inherited: usize) -> Geom {
        let r = self.reading;
        let class = self.defaults.class_of(r, e, inherited);
        let tags = ["geom"];
        let get = |name: &str| self.defaults.attribute(e, class, &tags, name);
        let mut pose = Pose { p: r.vector(get("pos"), Vector3::zeros()), R: self.rotation(self.defaults.chain(e, class, &tags)) };
        let kind = get("type").map_or("sphere", |a| a.value);
        let mut size: Vec<f64> = get("size").and_then(|a| r.numbers(a, 1, 3)).unwrap_or_default();
        size.resize(3, 0.0);
        if let Some(x) = get("fromto").and_then(|a| r.numbers(a, 6, 6)) {
            let (between, half) = self.between(&x);
            pose = between;
            // The third size of boxes and ellipsoids is the length, and width equals height; for others the second is the length.
            match kind {
                "box" | "ellipsoid" => size = vec![size[0], size[0], half],
                _ => size[1] = half,
            }
        }
        let group = r.number(get("group"), 0.0);
        e.get("name");
        let pose = frame.then(&pose);
        let half = Vector3::new(size[0], size[1], size[2]);
        let solid = match kind {
            "sphere" => Some(Solid::Ellipsoid(Vector3::repeat(size[0]))),
            "ellipsoid" => Some(Solid::Ellipsoid(half)),
            "box" => Some(Solid::Box(half)),
            "cylinder" => Some(Solid::Cylinder(size[0], size[1])),
            "capsule" => Some(Solid::Capsule(size[0], size[1])),
            _ => None,
        };
        let asset = get("mesh").and_then(|a| {
            let found = self.assets.get(a.value);
            if found.is_none() {
                r.unknown("mesh", a.value, self.assets.keys().map(String::as_str), a.spot);
            }
            found
        });
        let needed = match kind {
            _ if asset.is_some() => 0,
            "sphere" => 1,
            "cylinder" | "capsule" => 2,
            "box" | "ellipsoid" => 3,
            _ => 0,
        };
        if let Some(k) = size[..needed].iter().position(|x| *x <= 0.0) {
            let d = Diagnostic::new("M651", format!("number {} of the size of a {kind} is {}", k + 1, number(size[k])));
            r.problem(d.help("sizes must be positive, and the ends of `fromto` different"), e.spot());
        }
        let [low, high] = self.compiler.groups;
        let weighs = self.weighs && group >= low && group <= high;
        let mass = get("mass").and_then(|a| r.numbers(a, 1, 1)).map(|x| x[0]);
        let density = r.number(get("density"), 1000.0);
        if mass.unwrap_or(density) < 0.0 {
            r.problem(Diagnostic::new("M651", "the mass of a geom is negative").help("a mass must be positive or zero"), e.spot());
        }
        let none = mass == Some(0.0) || (mass.is_none() && density == 0.0);
        let own = match (solid, asset, kind) {
            _ if !weighs || none => None,
            (Some(s), None, _) => Some(s.body(mass.unwrap_or_else(|| density * s.volume()))),
            (None, Some(asset), "mesh") => {
                self.meshes.solid(r, &asset.file, &self.compiler.meshdir, &asset.scale, asset.spot).map(|unit| {
                    let mass = mass.unwrap_or(density * unit.mass);
                    Body { mass, com: unit.com, J: unit.J * (mass / unit.mass) }
                })
            }
            (Some(_), Some(asset), _) => {
                let d = Diagnostic::new("W456", format!("a {kind} is fitted to the mesh `{}`, and its mass is not known", asset.file));
                r.note(d.help("give the body an `inertial`"), e.spot());
                None
            }
            _ => None,
        };
        let body = own.map_or(Body::NONE, |b| b.moved(&pose));
        let shape = if group < SHOWN { self.shape(kind, solid, asset.map(|a| (a.file.as_str(), a.scale)), &pose, e) } else { None };
        Geom { body, shape }
    }

    fn shape(&self, kind: &str, solid: Option<Solid>, mesh: Option<(&str, Vector3<f64>)>, pose: &Pose, e: Element<'x>) -> Option<Shape> {
        if let (Some((file, scale)), "mesh") = (mesh, kind) {
            return self.meshes.shape(self.reading, file, &self.compiler.meshdir, &scale, pose, e.spot());
        }
        let ends = |half: f64| [-half, half].map(|z| pose.point(&Vector3::new(0.0, 0.0, z)).into());
        match solid? {
            Solid::Box(h) => Some(moved(&Shape::Box { size: (h * 2.0).into(), at: [0.0; 3] }, pose)),
            Solid::Cylinder(radius, half) => {
                let [from, to] = ends(half);
                Some(Shape::Cylinder { from, to, radius })
            }
            Solid::Capsule(radius, half) => {
                let [from, to] = ends(half);
                Some(Shape::Rod { from, to, radius })
            }
            // Drawn as the ball of the same volume if it is not a ball.
            Solid::Ellipsoid(a) => Some(Shape::Sphere { at: pose.p.into(), radius: a.product().cbrt() }),
        }
    }

    /// A site: a point at which actuators may act.
    pub(super) fn site(&mut self, e: Element<'x>, link: usize, frame: &Pose, inherited: usize) {
        let r = self.reading;
        let class = self.defaults.class_of(r, e, inherited);
        let tags = ["site"];
        let get = |name: &str| self.defaults.attribute(e, class, &tags, name);
        let mut pose = Pose { p: r.vector(get("pos"), Vector3::zeros()), R: self.rotation(self.defaults.chain(e, class, &tags)) };
        if let Some(x) = get("fromto").and_then(|a| r.numbers(a, 6, 6)) {
            pose = self.between(&x).0;
        }
        let pose = frame.then(&pose);
        // Appearance of a site.
        e.ignore(&["size", "type", "rgba", "group", "material"]);
        let Some(name) = e.word("name") else { return };
        if self.sites.insert(name, Site { link, pose }).is_some() {
            let d = Diagnostic::new("M656", format!("two sites are named `{name}`")).name(name);
            r.problem(d.help("rename one of them"), e.spot());
        }
        self.draft.points.push(Point { name: name.into(), link, at: pose.p, spot: e.spot() });
    }
}
