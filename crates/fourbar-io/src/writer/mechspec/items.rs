//! Points and vectors of a mechanism, merged where bodies share them, and the frames of parts built from them.

use super::{V, Writer, clean};
use crate::mechspec::tokens;
use fourbar::joint::JointKind;
use nalgebra::Matrix3;
use std::collections::{BTreeMap, HashMap, HashSet};

struct Item {
    vector: bool,
    /// World coordinates at the start.
    world: V,
    /// Coordinates by body: relative to its centre of mass, body axes.
    on: BTreeMap<usize, V>,
    name: Option<String>,
}

/// All points and vectors.
#[derive(Default)]
pub(super) struct Items {
    list: Vec<Item>,
    /// Items of each body, for merging.
    by_body: HashMap<usize, Vec<usize>>,
    /// Index of the items by the names of points in the model.
    called: HashMap<String, usize>,
    taken: HashSet<String>,
}

impl Items {
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn is_vector(&self, k: usize) -> bool {
        self.list[k].vector
    }
    /// World coordinates at the start; exact if the item is fixed.
    pub fn world(&self, k: usize) -> V {
        self.local(k, 0).unwrap_or(self.list[k].world)
    }
    pub fn local(&self, k: usize, body: usize) -> Option<V> {
        self.list[k].on.get(&body).copied()
    }
    /// The first movable body of an item.
    pub fn home(&self, k: usize) -> Option<(usize, V)> {
        self.list[k].on.iter().find(|(b, _)| **b != 0).map(|(b, s)| (*b, *s))
    }
    pub fn name(&self, k: usize) -> String {
        self.list[k].name.clone().unwrap_or_else(|| format!("{}{}", if self.list[k].vector { "v" } else { "P" }, k + 1))
    }
    /// The item with the name of a point in the model.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.called.get(name).copied()
    }

    /// Keeps the name of a point in the model if it is valid in MechSpec.
    pub fn call(&mut self, k: usize, name: &str) {
        self.called.insert(name.to_string(), k);
        let good = matches!(tokens(name).as_deref(), Some([_])) && name.starts_with(|c: char| c.is_ascii_uppercase());
        // Names of `P` and digits are reserved for points without a name.
        if good && !(name.starts_with('P') && name.len() > 1) && self.list[k].name.is_none() && self.taken.insert(name.to_string()) {
            self.list[k].name = Some(name.to_string());
        }
    }

    pub fn point(&mut self, on: &[(usize, V)], world: V) -> usize {
        self.put(false, on, world)
    }
    pub fn vector(&mut self, on: &[(usize, V)], world: V) -> usize {
        self.put(true, on, world)
    }

    /// Adds an item; an existing coincident item on one of the bodies is reused and shared.
    fn put(&mut self, vector: bool, on: &[(usize, V)], world: V) -> usize {
        let same = |items: &Self, k: usize| {
            let item = &items.list[k];
            item.vector == vector && on.iter().any(|(b, s)| item.on.get(b).is_some_and(|t| (s - t).norm() <= 1e-12 * (1.0 + s.norm())))
        };
        let found = on.iter().find_map(|(b, _)| self.by_body.get(b)?.iter().copied().find(|k| same(self, *k)));
        let k = found.unwrap_or_else(|| {
            self.list.push(Item { vector, world, on: BTreeMap::new(), name: None });
            self.list.len() - 1
        });
        for (b, s) in on {
            if self.list[k].on.insert(*b, *s).is_none() {
                self.by_body.entry(*b).or_default().push(k);
            }
        }
        k
    }

    pub fn of_body(&self, body: usize) -> &[usize] {
        self.by_body.get(&body).map_or(&[], Vec::as_slice)
    }
}

/// The frame of a part: origin at its first point, x towards its second item, y towards its third.
pub(super) struct Frame {
    /// Name of the part.
    pub key: String,
    /// Its items; the first three define the frame.
    pub items: Vec<usize>,
    /// Origin relative to the centre of mass, body axes.
    pub origin: V,
    /// Axes of the frame as columns, body axes.
    pub q: Matrix3<f64>,
    pub particle: bool,
}

impl Frame {
    /// Coordinates of one of its items.
    pub fn coordinates(&self, items: &Items, body: usize, k: usize) -> V {
        let s = items.local(k, body).unwrap_or_default();
        clean(self.q.transpose() * if items.is_vector(k) { s } else { s - self.origin })
    }
}

impl Writer<'_> {
    /// Joints as shared items.
    pub(super) fn joints(&mut self) {
        let spec = self.spec;
        for c in self.model.couplings.clone() {
            self.refuse("joints", &c.name, &format!("a {}", c.kind), "parts can share points and vectors, or slide along a line");
        }
        for (name, c) in &spec.constraints {
            if !matches!(c, fourbar::spec::ConstraintSpec::D { .. }) {
                self.refuse("constraints", name, "a bare constraint", "only prescribed distances can be expressed");
            }
        }
        for j in self.model.joints.clone() {
            let [a, b] = j.bodies.map(|b| b.index());
            let at = |w: &Self| w.world(b, &j.M.s);
            let both = |w: &mut Self, axis: usize| {
                let world = w.model.bodies[b].A * j.M.axis(axis);
                w.items.vector(&[(a, j.F.axis(axis)), (b, j.M.axis(axis))], world)
            };
            let shared = |w: &mut Self| {
                let world = at(w);
                w.items.point(&[(a, j.F.s), (b, j.M.s)], world)
            };
            match (&j.kind, self.plane) {
                (JointKind::Planar(_), true) => {}
                (JointKind::Revolute(_), true) | (JointKind::Spherical(_), false) => {
                    shared(self);
                }
                (JointKind::Revolute(_), false) => {
                    shared(self);
                    both(self, 2);
                }
                (JointKind::Fixed(_), _) => {
                    shared(self);
                    if !(self.particle[a] || self.particle[b]) {
                        both(self, 0);
                        if !self.plane {
                            both(self, 2);
                        }
                    }
                }
                (JointKind::Angle(x), false) if x.angle == 0.0 => {
                    both(self, 2);
                }
                (JointKind::Prismatic(_) | JointKind::Cylindrical(_) | JointKind::PointOnLine(_), _) => {
                    let (start, end) = (self.world(a, &j.F.s), at(self));
                    let p = self.items.point(&[(a, j.F.s)], start);
                    let q = self.items.point(&[(b, j.M.s)], end);
                    let v = if matches!(j.kind, JointKind::PointOnLine(_)) {
                        let world = self.model.bodies[a].A * j.F.axis(2);
                        self.items.vector(&[(a, j.F.axis(2))], world)
                    } else {
                        both(self, 2)
                    };
                    if matches!(j.kind, JointKind::Prismatic(_)) && !self.plane {
                        both(self, 0);
                    }
                    self.collinear.push(format!("{}{}{}", Mark(p), Mark(v), Mark(q)));
                }
                (JointKind::Distance(_), _) => {}
                _ => {
                    let what = format!("a {} joint", j.kind.name());
                    let help = "hinges, balls, slides, welds, cylindrical joints and points on lines can be expressed";
                    self.refuse("joints", &j.name, &what, help);
                }
            }
        }
    }

    /// Frames of all bodies, from their items; missing directions are added.
    pub(super) fn frames(&mut self) -> Vec<Option<Frame>> {
        let mut frames = vec![None];
        let mut keys = HashSet::new();
        for b in 1..self.model.bodies.len() {
            let frame = self.frame(b, &mut keys);
            frames.push(Some(frame));
        }
        // All names are known here.
        let named: Vec<String> = self.collinear.iter().map(|c| self.resolve(c)).collect();
        self.collinear = named;
        frames
    }

    fn frame(&mut self, b: usize, keys: &mut HashSet<String>) -> Frame {
        let body = self.model.bodies[b].clone();
        let points: Vec<usize> = self.items.of_body(b).iter().copied().filter(|k| !self.items.is_vector(*k)).collect();
        let origin = points.first().copied().unwrap_or_else(|| self.items.point(&[(b, V::zeros())], body.r));
        let s = self.items.local(origin, b).unwrap_or_default();
        let name = self.items.name(origin);
        if self.particle[b] && points.len() <= 1 && keys.insert(name.clone()) {
            return Frame { key: name, items: vec![origin], origin: s, q: Matrix3::identity(), particle: true };
        }
        let mut x: Option<(usize, V)> = None;
        let mut y: Option<(usize, V)> = None;
        let fresh: Vec<V> = [V::x(), V::y(), V::z()].to_vec();
        let mut candidates = self.items.of_body(b).to_vec();
        let mut added = 0;
        loop {
            for &k in candidates.iter().filter(|k| **k != origin) {
                let local = self.items.local(k, b).unwrap_or_default();
                let mut d = if self.items.is_vector(k) { local } else { local - s };
                if self.plane {
                    d.z = 0.0;
                }
                match (&x, &y) {
                    (None, _) if d.norm() > 1e-9 => x = Some((k, d.normalize())),
                    (Some((_, e)), None) if !self.plane && d.cross(e).norm() > 1e-6 * d.norm() => {
                        y = Some((k, (d - e * e.dot(&d)).normalize()));
                    }
                    _ => {}
                }
            }
            if x.is_some() && (self.plane || y.is_some()) || added >= fresh.len() {
                break;
            }
            let k = self.items.vector(&[(b, fresh[added])], body.A * fresh[added]);
            candidates = vec![k];
            added += 1;
        }
        let ex = x.map_or(V::x(), |x| x.1);
        let ey = if self.plane { V::z().cross(&ex) } else { y.map_or(V::y(), |y| y.1) };
        let mut list = vec![origin];
        list.extend(x.map(|x| x.0));
        list.extend(y.map(|y| y.0));
        let rest: Vec<usize> = self.items.of_body(b).iter().copied().filter(|k| !list.contains(k)).collect();
        list.extend(rest);
        let key_of = |w: &Self, list: &[usize]| list.iter().map(|k| w.items.name(*k)).collect::<String>();
        let mut key = key_of(self, &list);
        let mut tilt = 0;
        // Welded parts may consist of the same items: an additional vector distinguishes them.
        while !keys.insert(key.clone()) && tilt < 8 {
            tilt += 1;
            let v = V::new(1.0, f64::from(tilt) / 8.0, 0.0).normalize();
            let k = self.items.vector(&[(b, v)], body.A * v);
            if !list.contains(&k) {
                list.push(k);
            }
            key = key_of(self, &list);
        }
        Frame { key, items: list, origin: s, q: Matrix3::from_columns(&[ex, ey, ex.cross(&ey)]), particle: false }
    }

    /// Replaces the marks of items by their names.
    pub(super) fn resolve(&self, text: &str) -> String {
        text.split('#').filter(|p| !p.is_empty()).filter_map(|p| p.parse().ok()).map(|k: usize| self.items.name(k)).collect()
    }
}

/// An item whose name is not yet determined.
pub(super) struct Mark(pub usize);

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#{}", self.0)
    }
}
