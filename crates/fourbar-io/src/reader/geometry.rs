//! Orientations, shapes, and solids with density.

use super::record::Record;
use super::{Path, Reader};
use crate::file::fingerprint;
use crate::keys::{ORIENTATION, SHAPES, SOLIDS, Table};
use crate::mesh;
use crate::solid::of_mesh;
use crate::tree::{Content, Node, Text};
use fourbar::Diagnostic;
use fourbar::spec::{Inertia, Orientation, Shape, V3};
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

/// Mass properties of a solid.
#[derive(Clone, Debug)]
pub(crate) struct Mass {
    pub mass: f64,
    /// Centre of mass in the body frame.
    pub com: Vector3<f64>,
    /// Inertia about the centre of mass, in body axes.
    pub inertia: Matrix3<f64>,
    /// Shape to draw.
    pub shape: Shape,
}

pub(crate) fn box_mass(r: &Record) -> Option<Mass> {
    let (size, at) = (r.vector("size")?, r.vector("at").unwrap_or_default());
    let [a, b, c] = size.map(|x| x * x);
    let mass = r.number("density")? * size.iter().product::<f64>();
    let inertia = Matrix3::from_diagonal(&(Vector3::new(b + c, a + c, a + b) * (mass / 12.0)));
    Some(Mass { mass, com: at.into(), inertia, shape: Shape::Box { size, at } })
}

pub(crate) fn sphere_mass(r: &Record) -> Option<Mass> {
    let (radius, at) = (r.number("radius")?, r.vector("at").unwrap_or_default());
    let mass = r.number("density")? * 4.0 / 3.0 * PI * radius.powi(3);
    Some(Mass { mass, com: at.into(), inertia: Matrix3::identity() * (0.4 * mass * radius * radius), shape: Shape::Sphere { at, radius } })
}

pub(crate) fn cylinder_mass(r: &Record) -> Option<Mass> {
    let (from, to, radius) = (r.vector("from")?, r.vector("to")?, r.number("radius")?);
    let length = (Vector3::from(to) - Vector3::from(from)).norm();
    let mass = r.number("density")? * PI * radius * radius * length;
    let along = 0.5 * mass * radius * radius;
    let across = mass * (radius * radius / 4.0 + length * length / 12.0);
    let (com, inertia) = about_axis(from, to, along, across);
    Some(Mass { mass, com, inertia, shape: Shape::Cylinder { from, to, radius } })
}

/// A cylinder with half balls on both ends.
pub(crate) fn rod_mass(r: &Record) -> Option<Mass> {
    let (from, to, radius, density) = (r.vector("from")?, r.vector("to")?, r.number("radius")?, r.number("density")?);
    let length = (Vector3::from(to) - Vector3::from(from)).norm();
    let (r2, l2) = (radius * radius, length * length);
    let cylinder = density * PI * r2 * length;
    let balls = density * 4.0 / 3.0 * PI * r2 * radius;
    let along = 0.5 * cylinder * r2 + 0.4 * balls * r2;
    // A half ball about the middle of the rod: 2/5 r^2 about the centre of its flat face, shifted by its centre of mass at 3/8 r.
    let across = cylinder * (r2 / 4.0 + l2 / 12.0) + balls * (0.4 * r2 + l2 / 4.0 + 0.375 * length * radius);
    let (com, inertia) = about_axis(from, to, along, across);
    Some(Mass { mass: cylinder + balls, com, inertia, shape: Shape::Rod { from, to, radius } })
}

/// Middle and inertia of a body of revolution about the line through two points.
fn about_axis(from: V3, to: V3, along: f64, across: f64) -> (Vector3<f64>, Matrix3<f64>) {
    let (from, to) = (Vector3::from(from), Vector3::from(to));
    let a = (to - from).try_normalize(0.0).unwrap_or(Vector3::z());
    ((from + to) * 0.5, Matrix3::identity() * across + a * a.transpose() * (along - across))
}

/// Mass, centre of mass and inertia of several solids together.
pub(super) fn together(solids: &[Mass]) -> (f64, V3, Inertia) {
    let mass: f64 = solids.iter().map(|s| s.mass).sum();
    let com = solids.iter().map(|s| s.com * s.mass).sum::<Vector3<f64>>() / mass;
    let mut inertia = Matrix3::zeros();
    for s in solids {
        let d = s.com - com;
        inertia += s.inertia + (Matrix3::identity() * d.norm_squared() - d * d.transpose()) * s.mass;
    }
    let m = &inertia;
    let off = [m[(0, 1)], m[(0, 2)], m[(1, 2)]];
    let principal = [m[(0, 0)], m[(1, 1)], m[(2, 2)]];
    let inertia = if off.iter().all(|x| *x == 0.0) {
        Inertia::Principal(principal)
    } else {
        Inertia::Tensor([principal[0], principal[1], principal[2], off[0], off[1], off[2]])
    };
    (mass, com.into(), inertia)
}

impl Reader<'_> {
    /// The value of `type` and its entry in the list.
    pub(super) fn typed<T>(
        &mut self,
        what: &str,
        types: &'static [T],
        table: fn(&T) -> &Table,
        key: &Text,
        node: &Node,
        path: &Path<'_>,
    ) -> Option<&'static T> {
        let Content::Map(entries) = &node.content else {
            self.wrong_kind(node, "a group of keys", path);
            return None;
        };
        let kinds = types.iter().filter_map(|t| table(t).kind);
        let Some((_, value)) = entries.iter().find(|(k, _)| k.get(self.source) == "type") else {
            let known: Vec<String> = kinds.map(|k| format!("`{k}`")).collect();
            let d = Diagnostic::new("M013", format!("`{}` lacks `type`", path.last()))
                .help(format!("one of {}", known.join(", ")))
                .at(path.to_string());
            self.problem(d, key.span);
            return None;
        };
        let word = self.text(value, &path.key("type"))?;
        let found = types.iter().find(|t| table(t).kind == Some(word.as_str()));
        if found.is_none() {
            self.unknown_type(&format!("{what} type"), &word, kinds, value.span, &path.key("type"));
        }
        found
    }

    pub(super) fn shapes(&mut self, node: &Node, path: &Path<'_>) -> Option<Vec<Shape>> {
        let items = self.items(node, None, path)?;
        let mut shapes = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            if self.full() {
                return None;
            }
            let path = path.index(i);
            let key = &here(item);
            let Some(shape) = self.typed("shape", SHAPES, |t| &t.table, key, item, &path) else { continue };
            let Some(record) = self.record(&shape.table, key, item, &path, &[]) else { continue };
            if !record.broken {
                shapes.extend((shape.build)(self, &record));
            }
        }
        Some(shapes)
    }

    /// The solid bounded by a mesh.
    pub(crate) fn mesh_mass(&mut self, r: &Record, path: &Path<'_>) -> Option<Mass> {
        let (file, scale, density) = (r.text("file")?.to_string(), r.number("scale")?, r.number("density")?);
        let (at, orientation) = (r.vector("at").unwrap_or_default(), r.orientation("orientation").unwrap_or_default());
        let refuse = |reader: &mut Self, d: Diagnostic| {
            reader.problem(d.at(path.to_string()).name(&file), r.span);
            None
        };
        let Some(folder) = self.folder() else {
            let d = Diagnostic::new("M662", format!("the mesh `{file}` cannot be read: the mechanism has no folder in which to find it"));
            return refuse(self, d.help("save the mechanism to a file in the folder of its meshes"));
        };
        let (mesh, bytes) = match mesh::read(folder, &file).and_then(|m| Ok((m, mesh::bytes(folder, &file)?))) {
            Ok(read) => read,
            Err(d) => return refuse(self, d),
        };
        self.data.push((file.clone(), fingerprint(&bytes)));
        let Some(turn) = orientation.matrix() else {
            let d = Diagnostic::new(
                "M112",
                "the orientation of the mesh is undefined: its axis or quaternion is zero, or its axes are parallel",
            );
            return refuse(self, d.help("check its numbers"));
        };
        let unit = match of_mesh(&mesh, &Vector3::repeat(scale)) {
            Ok(unit) => unit,
            Err(leak) => {
                let d = Diagnostic::new("M662", format!("the mesh `{file}` bounds no solid: {leak}"));
                return refuse(self, d.help("repair it, or give `mass`, `inertia` and `com` as numbers"));
            }
        };
        Some(Mass {
            mass: density * unit.mass,
            com: Vector3::from(at) + turn * unit.com,
            inertia: turn * (unit.J * density) * turn.transpose(),
            shape: Shape::Mesh { file, scale, at, orientation },
        })
    }

    /// One solid, or a list of them.
    pub(super) fn solids(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<Vec<Mass>> {
        let items = match &node.content {
            Content::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let listed = matches!(node.content, Content::List(_));
        let mut solids = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            if self.full() {
                return None;
            }
            let inner = path.index(i);
            let path = if listed { &inner } else { path };
            let own = here(item);
            let key = if listed { &own } else { key };
            let solid = self.typed("solid", SOLIDS, |t| &t.table, key, item, path)?;
            let record = self.record(&solid.table, key, item, path, &[])?;
            if record.broken {
                return None;
            }
            let mass = (solid.build)(self, &record, path)?;
            let sizes =
                ["radius", "density", "scale"].iter().filter_map(|k| record.number(k)).chain(record.vector("size").into_iter().flatten());
            if sizes.into_iter().any(|x| x <= 0.0)
                || !(mass.mass > 0.0 && mass.mass.is_finite() && mass.inertia.iter().all(|x| x.is_finite()))
            {
                let d = Diagnostic::new("M045", format!("`{}` has no mass", path.last()))
                    .help("sizes and density must be positive and finite")
                    .at(path.to_string());
                self.problem(d, record.span);
                return None;
            }
            solids.push(mass);
        }
        if solids.is_empty() {
            self.wrong_count(node, 0, "at least one solid", path);
            return None;
        }
        Some(solids)
    }

    pub(super) fn orientation(&mut self, node: &Node, key: &Text, path: &Path<'_>) -> Option<Orientation> {
        let record = self.record(&ORIENTATION, key, node, path, &[])?;
        if record.broken {
            return None;
        }
        let given: Vec<&str> = record.values.iter().map(|(k, ..)| *k).collect();
        let is = |keys: &[&str]| given.len() == keys.len() && keys.iter().all(|k| given.contains(k));
        let matrix = |points: Vec<V3>| -> Option<[V3; 3]> { points.try_into().ok() };
        if is(&["axis", "angle"]) {
            Some(Orientation::AxisAngle { axis: record.vector("axis")?, angle: record.number("angle")? })
        } else if is(&["quaternion"]) {
            Some(Orientation::Quaternion(record.numbers("quaternion")?.try_into().ok()?))
        } else if is(&["matrix"]) {
            Some(Orientation::Matrix(matrix(record.points("matrix")?)?))
        } else if is(&["x", "y"]) {
            Some(Orientation::Axes { x: record.vector("x")?, y: record.vector("y")? })
        } else if is(&["zxz"]) {
            Some(Orientation::Zxz(record.vector("zxz")?))
        } else {
            let message = match given.is_empty() {
                true => format!("`{}` is empty", path.last()),
                false => format!(
                    "`{}` gives {}, which is not one of its forms",
                    path.last(),
                    given.iter().map(|g| format!("`{g}`")).collect::<Vec<_>>().join(", ")
                ),
            };
            self.conflict(message, "give `axis` with `angle`, or `quaternion`, or `matrix`, or `x` with `y`, or `zxz`", record.span, path);
            None
        }
    }
}

/// The first character of a list item, as its location in place of a key.
fn here(item: &Node) -> Text {
    Text::marker(item.span.start())
}
