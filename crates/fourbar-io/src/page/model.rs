//! The mechanism for the page: shapes, joints, forces and points in the body frames of the file.
//!
//! Positions are relative to the centre of mass in the engine, but to the origin of the body frame in the page: `com` is added.

use crate::mesh::{self, MAX_TRIANGLES, Mesh};
use crate::pack;
use fourbar::Diagnostic;
use fourbar::contact::{First, Outline, Second, Spots};
use fourbar::coordinate::Coordinate;
use fourbar::force::{Force, Glyph};
use fourbar::joint::{Frame, Stand};
use fourbar::model::{BodyId, Joint, JointCoordinate, Model, PointOn};
use fourbar::spec::{ForceFrame, Orientation, PlotSpec, Shape, V3};
use fourbar::topology::Topology;
use nalgebra::{Isometry3, Matrix3, Point3, Rotation3, UnitQuaternion, Vector2, Vector3};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// Data for drawing in addition to the model.
pub struct Drawing<'a> {
    /// Folder of the mesh files; without it they are omitted with a warning.
    pub folder: Option<&'a Path>,
    /// Joints whose reactions are not unique.
    pub not_unique: Vec<&'a str>,
    /// Warnings while drawing.
    pub warnings: Vec<Diagnostic>,
    triangles: usize,
    /// Meshes already read, by file.
    known: HashMap<String, Mesh>,
}

impl<'a> Drawing<'a> {
    /// A drawing with meshes from `folder`.
    pub fn new(folder: Option<&'a Path>, not_unique: Vec<&'a str>) -> Self {
        Self { folder, not_unique, warnings: Vec::new(), triangles: 0, known: HashMap::new() }
    }

    /// The `model` object of the page.
    pub fn model(&mut self, model: &Model, topology: &Topology) -> Result<Value, Diagnostic> {
        let mut bodies = Vec::new();
        for b in model.bodies.iter().skip(1) {
            bodies.push(json!({"name": b.name, "com": v3(&b.com), "shapes": self.shapes(&b.name, &b.shapes)?}));
        }
        let ground = self.shapes("ground", &model.bodies[0].shapes)?;
        let mut out = json!({
            "title": model.title,
            "length": model.length,
            "gravity": v3(&model.gravity),
            "planar_normal": plane(model, topology).as_ref().map(v3),
            "ground": {"shapes": ground},
            "bodies": bodies,
            "joints": self.joints(model),
            "forces": model.forces.iter().map(|(name, f)| force(model, name, f)).chain(rigid(model)).collect::<Vec<_>>(),
            "points": model.points.iter().map(|(name, p)| named(place(model, p), name)).collect::<Vec<_>>(),
            "drives": model.drives.iter().map(|d| json!({
                "name": d.name, "joint": model.joints[d.joint].name,
                "kind": if d.coordinate == JointCoordinate::Angle { "angle" } else { "distance" },
            })).collect::<Vec<_>>(),
        });
        let mut view = serde_json::Map::new();
        if !model.trace.is_empty() {
            view.insert("trace".into(), json!(model.trace));
        }
        if !model.plots.is_empty() {
            let plot = |p: &PlotSpec| p.x.as_ref().map_or_else(|| json!(p.y), |x| json!({"x": x, "y": p.y}));
            view.insert("plots".into(), model.plots.iter().map(plot).collect());
        }
        if let Some(body) = &model.follow {
            view.insert("follow".into(), json!(body));
        }
        if !view.is_empty() {
            out["view"] = Value::Object(view);
        }
        Ok(out)
    }

    fn joints(&self, model: &Model) -> Vec<Value> {
        let frame = |b: BodyId, f: &Frame| json!({"at": v3(&(model.bodies[b.index()].com + f.s)), "axis": v3(&f.axis(2))});
        let joints = model.joints.iter().enumerate().map(|(k, j)| {
            let mut joint = json!({
                "name": j.name, "type": j.kind.name(), "bodies": j.bodies.map(|b| model.body_name(b)),
                "base": frame(j.bodies[0], &j.F), "moving": frame(j.bodies[1], &j.M),
                "unique": !self.not_unique.contains(&j.name.as_str()),
            });
            if super::comes_later(model, k) {
                joint["open"] = json!(true);
            }
            if let Some(drawn) = j.kind.drawn() {
                // The curve in the frame of the base, and the radius of its follower.
                let (frame, com) = (&j.F, model.bodies[j.bodies[0].index()].com);
                let place = |p: &Vector2<f64>| v3(&(com + frame.s + frame.axis(0) * p.x + frame.axis(1) * p.y));
                joint["curve"] = json!(drawn.points.iter().map(place).collect::<Vec<_>>());
                joint["closed"] = json!(drawn.closed);
                joint["radius"] = json!(drawn.radius);
            }
            joint
        });
        let couplings =
            model.couplings.iter().map(|c| json!({"name": c.name, "type": c.kind, "joints": c.joints.map(|k| &model.joints[k].name)}));
        // A bare distance is drawn like the joint of that name; other bare constraints have no location and are not drawn.
        let bare = model.bare.iter().filter_map(|b| match b.coordinate {
            Coordinate::D { ij, s_i, s_j } => {
                let [i, j] = ij.map(|k| b.bodies[k]);
                let at = |b: BodyId, s: &Vector3<f64>| json!({"at": v3(&(model.bodies[b.index()].com + s))});
                Some(json!({"name": b.name, "type": "distance", "bodies": [model.body_name(i), model.body_name(j)], "base": at(i, &s_i), "moving": at(j, &s_j)}))
            }
            _ => None,
        });
        joints.chain(couplings).chain(bare).collect()
    }

    fn shapes(&mut self, body: &str, shapes: &[Shape]) -> Result<Vec<Value>, Diagnostic> {
        let mut out = Vec::new();
        for shape in shapes {
            match shape {
                Shape::Mesh { file, scale, at, orientation } => out.extend(self.mesh(body, file, *scale, &stand(at, orientation))?),
                // The other shapes are written as the page reads them.
                other => out.extend(serde_json::to_value(other)),
            }
        }
        Ok(out)
    }

    fn mesh(&mut self, body: &str, file: &str, scale: f64, stand: &Isometry3<f64>) -> Result<Option<Value>, Diagnostic> {
        let Some(folder) = self.folder else {
            let message = format!("the mesh `{file}` of `{body}` is not shown: the mechanism has no folder in which to find it");
            self.warnings
                .push(Diagnostic::new("W080", message).name(body).help("save the mechanism to a file in the folder of its meshes"));
            return Ok(None);
        };
        let m = match self.known.entry(file.to_string()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(mesh::read(folder, file).map_err(|d| d.at(format!("bodies.{body}.shape")).name(body))?),
        };
        self.triangles += m.triangles.len();
        if self.triangles > MAX_TRIANGLES {
            let message = format!("the meshes of the mechanism have more than {MAX_TRIANGLES} triangles together");
            return Err(Diagnostic::new("M082", message).at(format!("bodies.{body}.shape")).help("simplify them"));
        }
        let place = |v: &[f64; 3]| <[f64; 3]>::from((stand * Point3::from(v.map(|x| scale * x))).coords);
        let vertices: Vec<f64> = m.vertices.iter().flat_map(place).collect();
        let triangles: Vec<u32> = m.triangles.iter().flatten().copied().collect();
        Ok(Some(json!({"type": "mesh", "vertices": pack::f32s(&vertices), "triangles": pack::u32s(&triangles)})))
    }
}

/// Pose of a mesh in the body frame.
fn stand(at: &V3, orientation: &Orientation) -> Isometry3<f64> {
    let matrix = orientation.matrix().unwrap_or_else(Matrix3::identity);
    let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(matrix));
    Isometry3::from_parts(Vector3::from(*at).into(), turn)
}

fn v3(v: &Vector3<f64>) -> [f64; 3] {
    [v.x, v.y, v.z]
}

fn place(model: &Model, p: &PointOn) -> Value {
    json!({"body": model.body_name(p.body), "at": v3(&(model.bodies[p.body.index()].com + p.s))})
}

fn named(mut place: Value, name: &str) -> Value {
    place["name"] = json!(name);
    place
}

/// Rigid contacts are drawn like compliant ones.
fn rigid(model: &Model) -> impl Iterator<Item = Value> + '_ {
    model.contacts.iter().map(|c| json!({"name": c.name, "type": "contact", "spots": drawn(model, &c.spots)}))
}

/// Largest number of drawn contact spots.
const SPOTS: usize = 200;

/// Possible contact spots: the geometry of each side, in the frames of the bodies.
fn drawn(model: &Model, spots: &Spots) -> Vec<Value> {
    let Spots::Listed(list) = spots else { return Vec::new() };
    let on = |body: usize, s: &Vector3<f64>| json!({"body": model.bodies[body].name, "at": v3(&(model.bodies[body].com + s))});
    let side = |mut place: Value, key: &str, value: Value| {
        place[key] = value;
        place
    };
    let outline = |body: usize, o: &Outline| {
        let place = |p: &Vector2<f64>| v3(&(model.bodies[body].com + o.s + o.R * Vector3::new(p.x, p.y, 0.0)));
        json!(o.curve.polyline(64).iter().map(place).collect::<Vec<_>>())
    };
    list.iter()
        .take(SPOTS)
        .map(|spot| {
            let [a, b] = spot.bodies;
            let mut first = match &spot.first {
                First::Ball { s, radius } => side(on(a, s), "radius", json!(radius)),
                First::Rim { s, e, radius } => side(side(on(a, s), "radius", json!(radius)), "axis", json!(v3(e))),
                First::Curve(o) => side(on(a, &o.s), "outline", outline(a, o)),
            };
            if spot.swapped {
                first["swapped"] = json!(true);
            }
            let second = match &spot.second {
                Second::Plane { s, n } => side(on(b, s), "normal", json!(v3(n))),
                Second::Ball { s, radius, hollow } => side(side(on(b, s), "radius", json!(radius)), "hollow", json!(hollow)),
                Second::Curve(o) => side(side(on(b, &o.s), "outline", outline(b, o)), "closed", json!(o.curve.closed())),
                Second::Polygon(o) => {
                    let place = |p: &Vector2<f64>| v3(&(model.bodies[b].com + o.s + o.R * Vector3::new(p.x, p.y, 0.0)));
                    let points: Vec<_> = o.points.iter().map(place).collect();
                    side(side(on(b, &o.s), "outline", json!(points)), "closed", json!(true))
                }
            };
            json!([first, second])
        })
        .collect()
}

fn force(model: &Model, name: &str, f: &Force) -> Value {
    let mut out = json!({"name": name, "type": f.words().kind});
    match f.glyph() {
        Glyph::Coil(between) => out["between"] = json!(between.map(|p| place(model, &p))),
        Glyph::Line { path, length } => {
            let ends = [path.first(), path.last()].map(|p| p.map(|p| place(model, p)));
            out["between"] = json!(ends);
            if path.len() > 2 {
                out["via"] = json!(path[1..path.len() - 1].iter().map(|p| place(model, p)).collect::<Vec<_>>());
            }
            out["length"] = json!(length);
        }
        Glyph::Joint(k) => out["joint"] = json!(model.joints[k].name),
        Glyph::Body(body) => out["body"] = json!(model.body_name(body)),
        Glyph::Contact(spots) => out["spots"] = json!(drawn(model, &spots)),
        Glyph::Arrow { on, vector, frame } => {
            out["on"] = place(model, &on);
            out["frame"] = json!(if frame == ForceFrame::World { "world" } else { "body" });
            if let Some(vector) = vector {
                out["vector"] = json!(vector);
            }
        }
    }
    out
}
/// The normal of the plane in which all bodies move: of all joints, or of those joints that by themselves connect every body with the
/// ground. A pin in a slot alone leaves more freedom, which the other joints remove.
pub(super) fn plane(model: &Model, topology: &Topology) -> Option<Vector3<f64>> {
    if topology.planar.is_some() {
        return topology.planar;
    }
    let axis = |j: &Joint| model.bodies[j.bodies[0].index()].A * j.F.axis(2);
    let flat = || model.joints.iter().filter(|j| !j.open).filter_map(|j| Some((j, j.kind.in_plane()?.axis)));
    let (hinge, _) = flat().find(|(_, stand)| *stand == Stand::Along)?;
    let n = axis(hinge);
    let keeps = |(j, stand): &(&Joint, Stand)| match stand {
        Stand::Along => axis(j).cross(&n).norm() < 1e-9,
        other => other.holds(axis(j).dot(&n)),
    };
    // Bodies connected with the ground by joints that keep the plane.
    let mut joined = vec![false; model.bodies.len()];
    joined[0] = true;
    loop {
        let mut more = false;
        for (j, _) in flat().filter(keeps) {
            let [a, b] = j.bodies.map(|b| b.index());
            if joined[a] != joined[b] {
                (joined[a], joined[b], more) = (true, true, true);
            }
        }
        if !more {
            break;
        }
    }
    let k = n.iamax();
    let towards = if (n[k] > 0.0) == (k != 1) { 1.0 } else { -1.0 };
    joined.iter().all(|j| *j).then_some(n * towards)
}
