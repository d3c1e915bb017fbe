//! The parts of a MechSpec: fixed items, rigid parts, particles; springs and collinear points are kept for the joints.

use super::{GROUND, Item, Part, Parts, entry, is_nothing, tokens};
use crate::places::Span;
use crate::reader::{Path, Reader};
use crate::tree::{Content, Node, shorten};
use fourbar::Diagnostic;
use fourbar::expr::Dimension;
use fourbar::spec::{BodySpec, Inertia, ModelSpec, V3};
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;

/// Keys of the section.
const PART_DATA: [&str; 5] = ["Fixed", "Rigids", "Springs", "Particles", "Collinears"];

/// A spring as written.
pub(super) struct Coil<'a> {
    pub key: &'a str,
    pub ends: [usize; 2],
    pub stiffness: f64,
    pub rest: f64,
    pub mass: f64,
}

/// Connections of parts other than shared points and vectors.
pub(super) struct More<'a> {
    /// Point, vector or second point of the line, point on the line.
    pub collinear: Vec<(&'a str, [usize; 3], Span)>,
    pub springs: Vec<Coil<'a>>,
}

impl<'a> Reader<'a> {
    /// Reads the section; bodies go into `spec` without their poses.
    pub(super) fn parts(
        &mut self,
        dimension: usize,
        node: &'a Node,
        spec: &mut ModelSpec,
        aliases: &mut Vec<(String, String)>,
    ) -> Option<(Parts<'a>, More<'a>)> {
        let top = Path::top("PartData");
        self.known_keys(node, &PART_DATA, "`PartData`", Some(&top))?;
        let source = self.source;
        let ground = Part { key: "ground", label: "ground".into(), items: Vec::new(), particle: false, span: node.span };
        let (by_name, locals, by_key) = (HashMap::new(), HashMap::new(), HashMap::new());
        let mut parts = Parts { dimension, items: Vec::new(), by_name, locals, parts: Vec::new(), by_key };
        parts.add(ground);
        for (name, value, span) in self.group(entry(node, "Fixed", source), &top.key("Fixed")) {
            let path = top.key("Fixed");
            let path = path.key(name);
            let Some([_]) = tokens(name).as_deref() else {
                self.bad_name(name, "a point or a vector", span, &path);
                continue;
            };
            if let Some(x) = self.padded(value, dimension, self.unit_of(name), &path) {
                self.put(&mut parts, GROUND, name, x, span, &path);
            }
        }
        for (key, value, span) in self.group(entry(node, "Rigids", source), &top.key("Rigids")) {
            if self.full() {
                return None;
            }
            self.rigid(&mut parts, key, value, span, spec, aliases);
        }
        for (key, value, span) in self.group(entry(node, "Particles", source), &top.key("Particles")) {
            let path = top.key("Particles");
            let path = path.key(key);
            if !matches!(tokens(key).as_deref(), Some([_])) || !is_point(key) {
                self.bad_name(key, "a point, which is an upper-case letter with digits", span, &path);
                continue;
            }
            let Some(mass) = self.number(value, Some(Dimension::MASS), &path) else { continue };
            let label = format!("particle_{key}");
            aliases.push((format!("bodies.{label}"), format!("PartData.Particles.{key}")));
            spec.bodies.push((label.clone(), BodySpec { mass, inertia: Inertia::Point, ..BodySpec::default() }));
            let part = parts.add(Part { key, label, items: Vec::new(), particle: true, span });
            self.put(&mut parts, part, key, [0.0; 3], span, &path);
        }
        if parts.parts.len() == 1 {
            let d = Diagnostic::new("M118", "the mechanism has no parts").help("give `Rigids` or `Particles` under `PartData`");
            let span = self.one_line(node);
            self.problem(d.at("PartData"), span);
            return None;
        }
        let mut more = More { collinear: Vec::new(), springs: Vec::new() };
        self.collinear(&parts, entry(node, "Collinears", source), &mut more);
        for (key, value, span) in self.group(entry(node, "Springs", source), &top.key("Springs")) {
            let path = top.key("Springs");
            let path = path.key(key);
            let Some(ends) = self.two_points(&parts, key, span, &path) else { continue };
            let Some(items) = self.items(value, None, &path) else { continue };
            if !(2..=3).contains(&items.len()) {
                self.wrong_count(value, items.len(), "stiffness, free length and optionally mass: 2 or 3 entries", &path);
                continue;
            }
            let units = [Dimension::STIFFNESS, Dimension::LENGTH, Dimension::MASS];
            let x: Vec<Option<f64>> =
                items.iter().zip(units).enumerate().map(|(k, (n, d))| self.number(n, Some(d), &path.index(k))).collect();
            if let [Some(stiffness), Some(rest), mass @ ..] = x.as_slice() {
                let mass = mass.first().copied().flatten().unwrap_or(0.0);
                more.springs.push(Coil { key, ends, stiffness: *stiffness, rest: *rest, mass });
            }
        }
        Some((parts, more))
    }

    /// Name, value and place of each entry of a group that may be missing or empty.
    pub(super) fn group(&mut self, node: Option<&'a Node>, path: &Path<'_>) -> Vec<(&'a str, &'a Node, Span)> {
        let source = self.source;
        match node {
            Some(node) if !is_nothing(node, source) => match &node.content {
                Content::Map(entries) => entries.iter().map(|(k, n)| (k.get(source), n, k.span)).collect(),
                _ => {
                    self.wrong_kind(node, "a group of names with values", path);
                    Vec::new()
                }
            },
            _ => Vec::new(),
        }
    }

    fn unit_of(&self, name: &str) -> Option<Dimension> {
        is_point(name).then_some(Dimension::LENGTH)
    }

    pub(super) fn bad_name(&mut self, name: &str, what: &str, span: Span, path: &Path<'_>) {
        let d = Diagnostic::new("M060", format!("`{}` does not name {what}", shorten(name)))
            .help("a point is an upper-case letter with optional digits (`A`, `C1`), a vector a lower-case letter (`u`, `v2`); a part is named by its points and vectors (`DC1wv`)")
            .at(path.to_string());
        self.problem(d, span);
    }

    /// Records that an item belongs to a part.
    fn put(&mut self, parts: &mut Parts<'a>, part: usize, name: &'a str, mut x: V3, span: Span, path: &Path<'_>) {
        let vector = !is_point(name);
        if vector {
            let v = Vector3::from(x);
            if v.norm() < 1e-12 {
                let d = Diagnostic::new("M105", format!("the vector `{name}` has length zero and therefore no direction"));
                self.problem(d.help("give a direction; its length does not matter").at(path.to_string()), span);
                return;
            }
            x = v.normalize().into();
        }
        let k = parts.find(name).unwrap_or_else(|| {
            parts.items.push(Item { name, vector, on: Vec::new(), position: [None; 3], velocity: [None; 3] });
            parts.by_name.insert(name, parts.items.len() - 1);
            parts.items.len() - 1
        });
        if parts.local(k, part).is_some() {
            let d = Diagnostic::new("M060", format!("`{name}` appears twice in the name of a part"));
            self.problem(d.help("name each point and vector of a part only once").at(path.to_string()), span);
            return;
        }
        parts.items[k].on.push((part, x));
        parts.locals.insert((k, part), x);
        parts.parts[part].items.push(k);
    }

    fn rigid(
        &mut self,
        parts: &mut Parts<'a>,
        key: &'a str,
        node: &'a Node,
        span: Span,
        spec: &mut ModelSpec,
        aliases: &mut Vec<(String, String)>,
    ) {
        let (top, source) = (Path::top("PartData"), self.source);
        let path = top.key("Rigids");
        let path = path.key(key);
        let Some(list) = tokens(key).filter(|l| l.first().is_some_and(|n| is_point(n))) else {
            self.bad_name(key, "a part, the first item of which is the point at its origin", span, &path);
            return;
        };
        if self.known_keys(node, &["Geom", "Dyna", "Name"], "a rigid part", Some(&path)).is_none() {
            return;
        }
        let label = match entry(node, "Name", source) {
            Some(n) => match self.text(n, &path.key("Name")) {
                Some(label) if self.good_name(&label, n.span, &path.key("Name")) => label,
                _ => return,
            },
            None if list.len() == 1 => format!("part_{key}"),
            None => key.to_string(),
        };
        let geom = match entry(node, "Geom", source) {
            Some(n) => self.items(n, Some(list.len() - 1), &path.key("Geom")).map(|x| x.to_vec()),
            None if list.len() == 1 => Some(Vec::new()),
            None => {
                let d = Diagnostic::new("M013", format!("the part `{}` lacks `Geom`", shorten(key)));
                let help =
                    format!("give the coordinates of {} in the frame of the part; `{}` is its origin", list[1..].join(", "), list[0]);
                self.problem(d.help(help).at(path.to_string()), span);
                None
            }
        };
        let (Some(geom), Some(dyna)) = (geom, self.dyna(parts.dimension, entry(node, "Dyna", source), key, span, &path)) else { return };
        let part = parts.add(Part { key, label: label.clone(), items: Vec::new(), particle: false, span });
        self.put(parts, part, list[0], [0.0; 3], span, &path);
        for (k, (name, n)) in list[1..].iter().zip(&geom).enumerate() {
            let at = path.key("Geom");
            let at = at.index(k);
            if let Some(x) = self.padded(n, parts.dimension, self.unit_of(name), &at) {
                self.put(parts, part, name, x, n.span, &at);
            }
        }
        aliases.push((format!("bodies.{label}"), format!("PartData.Rigids.{key}")));
        spec.bodies.push((label, dyna));
    }

    /// Centre of mass, mass and inertia of a rigid part.
    fn dyna(&mut self, dimension: usize, node: Option<&Node>, key: &str, span: Span, path: &Path<'_>) -> Option<BodySpec> {
        let Some(node) = node else {
            let d = Diagnostic::new("M043", format!("the part `{}` lacks `Dyna`", shorten(key)))
                .help("give `Dyna: [[centre of mass], mass, inertia]`, small values for a light part");
            self.problem(d.at(path.to_string()), span);
            return None;
        };
        let path = path.key("Dyna");
        let items = self.items(node, Some(3), &path)?;
        let com = self.padded(&items[0], dimension, Some(Dimension::LENGTH), &path.index(0));
        let mass = self.number(&items[1], Some(Dimension::MASS), &path.index(1));
        let inertia = self.part_inertia(dimension, &items[2], com.unwrap_or_default(), &path.index(2));
        Some(BodySpec { com: com?, mass: mass?, inertia: inertia?, ..BodySpec::default() })
    }

    /// A single value is the inertia about the normal of the plane, or that of a thin rod in space; otherwise principal values or a tensor.
    fn part_inertia(&mut self, dimension: usize, node: &Node, com: V3, path: &Path<'_>) -> Option<Inertia> {
        let unit = Some(Dimension::INERTIA);
        let Content::List(items) = &node.content else {
            let x = self.number(node, unit, path)?;
            if x == 0.0 {
                return Some(Inertia::Point);
            }
            if dimension == 2 {
                return Some(Inertia::Principal([x; 3]));
            }
            // The rod lies along the line from the origin to the centre of mass, or along x where they coincide.
            let c = Vector3::from(com);
            let e = if c.norm() > 0.0 { c.normalize() } else { Vector3::x() };
            let j = (Matrix3::identity() - e * e.transpose()) * x;
            let tensor = [j.m11, j.m22, j.m33, j.m12, j.m13, j.m23];
            let principal = [0.0, x, x];
            return Some(if e == Vector3::x() { Inertia::Principal(principal) } else { Inertia::Tensor(tensor) });
        };
        if dimension == 2 {
            self.wrong_kind(node, "a single number: the inertia about the normal of the plane", path);
            return None;
        }
        let nested = items.iter().any(|n| matches!(n.content, Content::List(_)));
        if nested {
            let mut rows = [[0.0; 3]; 3];
            for (k, row) in self.items(node, Some(3), path)?.iter().enumerate() {
                rows[k] = self.vector(row, unit, &path.index(k))?;
            }
            if (0..3).any(|i| (0..i).any(|j| (rows[i][j] - rows[j][i]).abs() > 1e-9 * (rows[i][i] + rows[j][j]).abs())) {
                let d =
                    Diagnostic::new("M103", "the inertia matrix is not symmetric").help("give a symmetric matrix about the centre of mass");
                self.problem(d.at(path.to_string()), node.span);
                return None;
            }
            return Some(Inertia::Tensor([rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2]]));
        }
        let x: Vec<Option<f64>> = items.iter().enumerate().map(|(k, n)| self.number(n, unit, &path.index(k))).collect();
        match x.as_slice() {
            [a, b, c] => Some(Inertia::Principal([(*a)?, (*b)?, (*c)?])),
            [a, b, c, d, e, f] => Some(Inertia::Tensor([(*a)?, (*b)?, (*c)?, (*d)?, (*e)?, (*f)?])),
            _ => {
                self.wrong_count(node, x.len(), "a single number for a thin rod, 3 principal values, 6 entries or 3 rows", path);
                None
            }
        }
    }

    /// The two points in a name.
    pub(super) fn two_points(&mut self, parts: &Parts<'_>, name: &str, span: Span, path: &Path<'_>) -> Option<[usize; 2]> {
        let list = tokens(name).filter(|l| l.len() == 2 && l.iter().all(|n| is_point(n)));
        let Some(list) = list else {
            self.bad_name(name, "two points", span, path);
            return None;
        };
        let mut ends = [0; 2];
        for (end, name) in ends.iter_mut().zip(list) {
            match parts.find(name) {
                Some(k) => *end = k,
                None => {
                    self.unknown_item(parts, name, "a point", span, path);
                    return None;
                }
            }
        }
        Some(ends)
    }

    fn collinear(&mut self, parts: &Parts<'a>, node: Option<&'a Node>, more: &mut More<'a>) {
        let Some(node) = node else { return };
        let top = Path::top("PartData");
        let top = top.key("Collinears");
        for (name, span) in self.words(node, &top).unwrap_or_default() {
            let path = top.key(name);
            let Some(list) = tokens(name).filter(|l| l.len() == 3 && is_point(l[0]) && is_point(l[2])) else {
                self.bad_name(
                    name,
                    "a point, a vector (or second point) along the line, and a point on the line, such as `C1vC`",
                    span,
                    &path,
                );
                continue;
            };
            let found: Vec<Option<usize>> = list.iter().map(|n| parts.find(n)).collect();
            match found.as_slice() {
                [Some(a), Some(b), Some(c)] => more.collinear.push((name, [*a, *b, *c], span)),
                _ => {
                    let missing = list.iter().find(|n| parts.find(n).is_none()).copied().unwrap_or(name);
                    self.unknown_item(parts, missing, "a point or vector", span, &path);
                }
            }
        }
    }
}

/// Whether a name is that of a point.
pub(super) fn is_point(name: &str) -> bool {
    name.as_bytes().first().is_some_and(u8::is_ascii_uppercase)
}
