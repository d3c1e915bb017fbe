//! Rigid parts and the items they share: welded bodies become one part, parts that only slide against each other one orientation, joints
//! become points and vectors that lie on several parts at once [Pryce20, section 2.2].

use crate::joint::{Rigid, SharedPoints};
use crate::model::{BodyId, Coil, Model};
use nalgebra::{Matrix3, Vector3};

type V = Vector3<f64>;

/// Bodies without relative motion. Part zero is the ground.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its bodies.
    pub bodies: Vec<BodyId>,
    /// The group of parts that turn together with it.
    pub group: usize,
    /// Mass.
    pub mass: f64,
    /// Centre of mass, part coordinates.
    pub com: V,
    /// `integral of rho s s^T` about the centre of mass: the inertia associated with columns of the rotation matrix.
    pub pseudo: Matrix3<f64>,
}

/// A point or a unit vector that lies on one or more parts.
#[derive(Clone, Debug)]
pub struct Item {
    /// Whether it is a point.
    pub point: bool,
    /// Name, from the joint that introduced it.
    pub name: String,
    /// Parts (of a point) or groups (of a vector) with its local coordinates.
    pub on: Vec<(usize, V)>,
}

/// A point of one part that stays on a line or a plane of another.
#[derive(Clone, Debug)]
pub struct Slide {
    /// The joint.
    pub joint: usize,
    /// Items of the points on base and moving part.
    pub points: [usize; 2],
    /// Parts.
    pub parts: [usize; 2],
    /// Axis, or normal of the plane, in the base's group.
    pub axis: V,
    /// Whether the axis is fixed in both parts.
    pub shared: bool,
    /// A plane instead of a line.
    pub plane: bool,
}

/// The coils of a mechanism, by body. They have no coordinates here; the ends of their springs determine their position.
fn coils(model: &Model) -> Vec<Option<Coil>> {
    let mut list = vec![None; model.bodies.len()];
    model.coils.iter().for_each(|c| list[c.body.index()] = Some(*c));
    list
}

/// Parts, groups and items of a mechanism.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Parts; the first is ground.
    pub parts: Vec<Part>,
    /// Part of each body.
    pub part_of: Vec<usize>,
    /// Rotation and origin of each body (its centre of mass) in part coordinates.
    pub frame: Vec<(Matrix3<f64>, V)>,
    /// Coils by body; they have no items and are never brought in.
    pub coils: Vec<Option<Coil>>,
    /// Number of groups; the first is the ground's.
    pub groups: usize,
    /// A body of each group, with its rotation in group axes.
    pub reference: Vec<BodyId>,
    /// Items.
    pub items: Vec<Item>,
    /// Points on each part, with their local coordinates.
    pub points_on: Vec<Vec<(usize, V)>>,
    /// Vectors on each group.
    pub vectors_on: Vec<Vec<(usize, V)>>,
    /// Slides.
    pub slides: Vec<Slide>,
    /// Parts of each group.
    pub parts_of: Vec<Vec<usize>>,
    /// Slides of each part.
    pub slides_on: Vec<Vec<usize>>,
    /// Direction that all parts share with the ground, if the mechanism moves in planes normal to it.
    pub normal: Option<V>,
}

struct Union(Vec<usize>);

impl Union {
    fn find(&mut self, a: usize) -> usize {
        let mut r = a;
        while self.0[r] != r {
            r = self.0[r];
        }
        let mut a = a;
        while self.0[a] != r {
            a = std::mem::replace(&mut self.0[a], r);
        }
        r
    }
    /// The smaller number becomes the root, so that the root of the ground is always the ground.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

impl Layout {
    /// The layout of a mechanism. Parts that only slide against each other share their axes if `share` is set; the points and vectors of
    /// the file are items in addition to those of joints if `file` is set.
    pub fn new(model: &Model, share: bool, file: bool) -> Self {
        let n = model.bodies.len();
        let (mut welded, mut turning) = (Union((0..n).collect()), Union((0..n).collect()));
        for j in model.joints.iter().filter(|j| !j.open) {
            let [a, b] = j.bodies.map(BodyId::index);
            match j.kind.shared().rigid {
                Rigid::Welded => {
                    welded.join(a, b);
                    turning.join(a, b);
                }
                Rigid::Turning if share => turning.join(a, b),
                _ => {}
            }
        }
        let frame = frames(model, share);
        let number = |u: &mut Union| {
            let roots: Vec<usize> = (0..n).map(|b| u.find(b)).collect();
            let mut list: Vec<usize> = roots.clone();
            list.sort_unstable();
            list.dedup();
            let of: Vec<usize> = roots.iter().map(|r| list.binary_search(r).unwrap_or(0)).collect();
            (of, list)
        };
        let (part_of, part_roots) = number(&mut welded);
        let (group_of, group_roots) = number(&mut turning);
        let mut parts: Vec<Part> = part_roots
            .iter()
            .map(|&r| Part { bodies: Vec::new(), group: group_of[r], mass: 0.0, com: V::zeros(), pseudo: Matrix3::zeros() })
            .collect();
        for b in 0..n {
            parts[part_of[b]].bodies.push(BodyId(b as u32));
        }
        for part in parts.iter_mut().skip(1) {
            part.mass = part.bodies.iter().map(|b| model.bodies[b.index()].mass).sum();
            for b in &part.bodies {
                part.com += frame[b.index()].1 * (model.bodies[b.index()].mass / part.mass);
            }
            for b in &part.bodies {
                let (body, (C, c)) = (&model.bodies[b.index()], &frame[b.index()]);
                let own = Matrix3::identity() * (0.5 * body.J_bar.trace()) - body.J_bar;
                let d = c - part.com;
                part.pseudo += C * own * C.transpose() + d * d.transpose() * body.mass;
            }
        }
        let reference = group_roots.iter().map(|&b| BodyId(b as u32)).collect();
        let mut layout = Self {
            parts,
            part_of,
            frame,
            coils: coils(model),
            groups: group_roots.len(),
            reference,
            items: Vec::new(),
            points_on: Vec::new(),
            vectors_on: Vec::new(),
            slides: Vec::new(),
            parts_of: vec![Vec::new(); group_roots.len()],
            slides_on: vec![Vec::new(); part_roots.len()],
            normal: None,
        };
        // First, so that points and vectors of joints inherit their names.
        for b in model.basis.iter().filter(|_| file) {
            if b.vector {
                layout.add_vector(b.name.clone(), &[(b.body, b.s)]);
            } else {
                layout.add_point(&b.name, &[(b.body, b.s)]);
            }
        }
        layout.joints(model);
        layout.merge(1e-9 * model.length);
        layout.parts.iter().enumerate().for_each(|(p, part)| layout.parts_of[part.group].push(p));
        layout.slides.iter().enumerate().for_each(|(k, s)| s.parts.iter().for_each(|&p| layout.slides_on[p].push(k)));
        layout.points_on = vec![Vec::new(); layout.parts.len()];
        layout.vectors_on = vec![Vec::new(); layout.groups];
        for (k, item) in layout.items.iter_mut().enumerate() {
            item.on.sort_unstable_by_key(|(p, _)| *p);
            let list = if item.point { &mut layout.points_on } else { &mut layout.vectors_on };
            item.on.iter().for_each(|(p, local)| list[*p].push((k, *local)));
        }
        layout.normal = layout.planar(model);
        layout
    }

    /// A body-fixed point in part coordinates.
    pub fn point(&self, body: BodyId, s: &V) -> V {
        let (C, c) = &self.frame[body.index()];
        c + C * s
    }

    /// A body-fixed direction in group axes.
    pub fn direction(&self, body: BodyId, d: &V) -> V {
        self.frame[body.index()].0 * d
    }

    /// Whether one of the bodies is a coil.
    pub fn on_coil(&self, bodies: [BodyId; 2]) -> bool {
        bodies.iter().any(|b| self.coils[b.index()].is_some())
    }

    /// The coil that forms a part, if any.
    pub fn coil(&self, part: usize) -> Option<Coil> {
        self.coils[self.parts[part].bodies[0].index()]
    }

    /// Group of a body.
    pub fn group_of(&self, body: BodyId) -> usize {
        self.parts[self.part_of[body.index()]].group
    }

    /// Local coordinates of an item on a part (points) or group (vectors).
    pub fn local(&self, item: usize, place: usize) -> Option<V> {
        let on = &self.items[item].on;
        on.binary_search_by_key(&place, |(p, _)| *p).ok().map(|k| on[k].1)
    }

    fn add_point(&mut self, name: &str, on: &[(BodyId, V)]) -> usize {
        let on = on.iter().map(|(b, s)| (self.part_of[b.index()], self.point(*b, s))).collect();
        self.items.push(Item { point: true, name: name.to_string(), on });
        self.items.len() - 1
    }

    fn add_vector(&mut self, name: String, on: &[(BodyId, V)]) {
        let mut on: Vec<(usize, V)> = on.iter().map(|(b, d)| (self.group_of(*b), self.direction(*b, d))).collect();
        // Bodies that slide on each other form one group, which contains the vector once.
        on.dedup_by_key(|(group, _)| *group);
        self.items.push(Item { point: false, name, on });
    }

    /// Items and slides of every joint.
    fn joints(&mut self, model: &Model) {
        for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
            let [a, b] = j.bodies;
            if self.part_of[a.index()] == self.part_of[b.index()] || self.on_coil(j.bodies) {
                continue;
            }
            let (f, m) = ((a, j.F.s), (b, j.M.s));
            let axis = [(a, j.F.axis(2)), (b, j.M.axis(2))];
            let vector = format!("u({})", j.name);
            let shared = j.kind.shared();
            if shared.axis {
                self.add_vector(vector.clone(), &axis);
            }
            match shared.points {
                SharedPoints::Joined => {
                    self.add_point(&j.name, &[f, m]);
                }
                SharedPoints::Crossed => {
                    self.add_point(&j.name, &[f, m]);
                    self.add_vector(format!("{vector}.base"), &axis[..1]);
                    self.add_vector(format!("{vector}.moving"), &axis[1..]);
                }
                SharedPoints::Line => self.slide(k, model, false, shared.axis),
                SharedPoints::Plane => self.slide(k, model, true, shared.axis),
                SharedPoints::Apart => {
                    self.add_point(&format!("{}.base", j.name), &[f]);
                    self.add_point(&format!("{}.moving", j.name), &[m]);
                }
                SharedPoints::None => {}
            }
        }
    }

    fn slide(&mut self, joint: usize, model: &Model, plane: bool, shared: bool) {
        let j = &model.joints[joint];
        let points = [
            self.add_point(&format!("{}.base", j.name), &[(j.bodies[0], j.F.s)]),
            self.add_point(&format!("{}.moving", j.name), &[(j.bodies[1], j.M.s)]),
        ];
        let parts = j.bodies.map(|b| self.part_of[b.index()]);
        let axis = self.direction(j.bodies[0], &j.F.axis(2));
        self.slides.push(Slide { joint, points, parts, axis, shared, plane });
    }

    /// Merges points that coincide, and vectors that are parallel, on a part they share.
    fn merge(&mut self, near: f64) {
        loop {
            let mut into: Vec<Option<(usize, f64)>> = vec![None; self.items.len()];
            let mut by_place: std::collections::BTreeMap<(bool, usize), Vec<(usize, V)>> = Default::default();
            for (k, item) in self.items.iter().enumerate() {
                for (p, loc) in &item.on {
                    by_place.entry((item.point, *p)).or_default().push((k, *loc));
                }
            }
            let mut changed = false;
            for ((point, _), list) in &by_place {
                for (n, (k, loc)) in list.iter().enumerate() {
                    if into[*k].is_some() {
                        continue;
                    }
                    let same = list[..n].iter().filter(|(o, _)| o != k && into[*o].is_none()).find_map(|(o, other)| {
                        let sign = if *point { 1.0 } else { loc.dot(other).signum() };
                        let apart = if *point { (loc - other).norm() / near } else { (loc * sign - other).norm() / 1e-9 };
                        (apart < 1.0).then_some((*o, sign))
                    });
                    if let Some(same) = same {
                        into[*k] = Some(same);
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
            for k in (0..self.items.len()).rev() {
                if let Some((o, sign)) = into[k] {
                    let on = std::mem::take(&mut self.items[k].on);
                    for (p, loc) in on {
                        if self.items[o].on.iter().all(|(q, _)| *q != p) {
                            self.items[o].on.push((p, loc * sign));
                        }
                    }
                }
            }
            // Consecutive numbers.
            let mut place = vec![0; self.items.len()];
            let mut kept = 0;
            for k in 0..place.len() {
                place[k] = match into[k] {
                    Some((o, _)) => place[o],
                    None => {
                        kept += 1;
                        kept - 1
                    }
                };
            }
            let mut k = 0;
            self.items.retain(|_| {
                k += 1;
                into[k - 1].is_none()
            });
            for s in &mut self.slides {
                s.points = s.points.map(|p| place[p]);
            }
        }
    }

    /// The common normal, if every group shares a vector with the ground and no part can leave its plane.
    fn planar(&self, model: &Model) -> Option<V> {
        let groups = self.groups - self.coils.iter().flatten().count();
        let normal = (0..self.items.len()).find(|&k| {
            let item = &self.items[k];
            !item.point && item.on.len() == groups && self.local(k, 0).is_some()
        })?;
        let local = |g: usize| self.local(normal, g);
        let n = local(0)?;
        let mut level = Union((0..self.parts.len()).collect());
        for j in model.joints.iter().filter(|j| !j.open && !self.on_coil(j.bodies)) {
            let z = self.direction(j.bodies[0], &j.F.axis(2));
            let along = z.dot(&local(self.group_of(j.bodies[0]))?).abs();
            if j.kind.shared().level.holds(along) {
                let [a, b] = j.bodies.map(|b| self.part_of[b.index()]);
                level.join(a, b);
            }
        }
        let mut bodies = (0..self.parts.len()).filter(|&p| self.coil(p).is_none());
        (self.parts.len() > 1 && bodies.all(|p| level.find(p) == 0)).then_some(n)
    }
}

/// Rotation and origin of every body relative to its group and part, along welds and slides from the first body of each.
fn frames(model: &Model, share: bool) -> Vec<(Matrix3<f64>, V)> {
    let n = model.bodies.len();
    let mut frame = vec![(Matrix3::identity(), V::zeros()); n];
    let mut near: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n];
    for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
        let rigid = j.kind.shared().rigid;
        if rigid == Rigid::Welded || (share && rigid == Rigid::Turning) {
            let [a, b] = j.bodies.map(BodyId::index);
            near[a].push((k, b));
            near[b].push((k, a));
        }
    }
    let mut reached = vec![false; n];
    for root in 0..n {
        if reached[root] {
            continue;
        }
        reached[root] = true;
        // Welds before slides: the origins of a part are measured from the first of its bodies that is reached.
        let (mut welds, mut slides) = (vec![root], Vec::new());
        while let Some(a) = welds.pop().or_else(|| slides.pop()) {
            for welded in [true, false] {
                for &(k, b) in &near[a] {
                    let j = &model.joints[k];
                    if reached[b] || (j.kind.shared().rigid == Rigid::Welded) != welded || (!welded && !welds.is_empty()) {
                        continue;
                    }
                    reached[b] = true;
                    let (own, other) = if j.bodies[0].index() == a { (&j.F, &j.M) } else { (&j.M, &j.F) };
                    let C = frame[a].0 * own.R * other.R.transpose();
                    let c = if welded { frame[a].1 + frame[a].0 * own.s - C * other.s } else { V::zeros() };
                    frame[b] = (C, c);
                    welds.push(b);
                }
            }
            if near[a].iter().any(|(_, b)| !reached[*b]) {
                slides.insert(0, a);
            }
        }
    }
    frame
}
