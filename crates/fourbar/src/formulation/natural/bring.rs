//! Bringing in the parts one after another, "assign, don't equate" [Pryce20, section 4.2]: what is known of a part through its
//! neighbours is used, only what is missing becomes a coordinate, and an equation is written only where something is known twice.

use super::parts::Layout;
use super::rows::{Class, Row};
use super::sym::Sym;
use crate::joint::JointKind;
use crate::model::{BodyId, JointCoordinate, Model};
use crate::state::Configuration;
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashSet;

type V = Vector3<f64>;
pub(super) type W = Vector3<Sym>;

/// What may be varied in the building.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Joint points and vectors are assigned where they can be; otherwise each is a coordinate and all is equated.
    pub assign: bool,
    /// Opposite points of parallelograms are assigned, which fixes their branch.
    pub parallelograms: bool,
    /// Twelve coordinates per body, an origin and three vectors: constant mass matrix, all joints equated.
    pub twelve: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self { assign: true, parallelograms: false, twelve: false }
    }
}

/// Axes of a group in the working frame: directions are combinations of `e` with the coefficients of `T^T`.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    /// One to three directions; a thin rod has one.
    pub e: Vec<W>,
    /// Their local counterparts as columns, orthonormal.
    pub T: Matrix3<f64>,
}

impl Axes {
    /// The direction of a local vector. Coefficients that are rounding errors of 0 and 1 are made exact, so that they vanish
    /// from the equations.
    pub fn direction(&self, local: &V) -> W {
        let k = self.T.tr_mul(local);
        let size = local.norm();
        let mut out = W::zeros();
        for (e, k) in self.e.iter().zip(k.iter()) {
            let k = if k.abs() < 4e-15 * size {
                0.0
            } else if (k.abs() - 1.0).abs() < 4e-15 {
                k.signum()
            } else {
                *k
            };
            out += e * Sym::of(k);
        }
        out
    }
}

/// A part as the table shows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub part: String,
    pub brought: Vec<String>,
    pub assigned: Vec<String>,
    pub equated: Vec<String>,
    pub coordinates: usize,
    pub rows: usize,
}

pub(super) struct Builder<'m> {
    pub model: &'m Model,
    pub start: &'m Configuration,
    pub layout: Layout,
    pub choice: Choice,
    /// Joints whose angle is needed as a coordinate.
    angles: Vec<bool>,
    /// Working frame to world: its third axis is the normal of a planar mechanism.
    pub to_world: Matrix3<f64>,
    /// Value of each item, once known.
    pub items: Vec<Option<W>>,
    /// A point of each part with its local coordinates, once the part is in.
    pub origin: Vec<Option<(W, V)>>,
    /// Axes of each group, once known.
    pub axes: Vec<Option<Axes>>,
    pub done: Vec<bool>,
    /// Angle and distance of each joint, where they are coordinates or assigned.
    pub coordinate: Vec<[Option<Sym>; 2]>,
    pub coupling_used: Vec<bool>,
    pub screw_used: Vec<bool>,
    pub slide_used: Vec<bool>,
    pub names: Vec<String>,
    /// Size by which changes of a variable are measured.
    pub weights: Vec<f64>,
    /// Fixed size of a variable's errors; `None` lets the solver measure it.
    pub sizes: Vec<Option<f64>>,
    /// Rates of variables that are integrals of time functions.
    pub integrals: Vec<Option<Sym>>,
    pub rows: Vec<Row>,
    /// Pairs of points on a part whose distance and angle to a vector are implied: both points and the vector.
    implied: HashSet<(usize, usize, usize)>,
    /// Items of each basis direction of a group; `None` for a fresh vector.
    basis: Vec<Vec<Option<Vec<usize>>>>,
    /// The part whose points made the axes of a group.
    basis_part: Vec<Option<usize>>,
    pub table: Vec<Told>,
    used: HashSet<String>,
}

/// A direction of a basis.
struct Direction {
    local: V,
    value: W,
    /// Items it is made of: a vector, or a point and the origin; `None` for a fresh vector.
    items: Option<Vec<usize>>,
    point: bool,
}

impl<'m> Builder<'m> {
    pub fn new(model: &'m Model, start: &'m Configuration, choice: Choice) -> Self {
        let mut layout = Layout::new(model, !choice.twelve);
        if choice.twelve {
            layout.normal = None;
        }
        let to_world = layout.normal.map_or(Matrix3::identity(), |n| working_axes(&n));
        let (items, parts, groups, joints) = (layout.items.len(), layout.parts.len(), layout.groups, model.joints.len());
        let slides = layout.slides.len();
        let mut b = Self {
            model,
            start,
            layout,
            choice,
            angles: super::force::angles_needed(model),
            to_world,
            items: vec![None; items],
            origin: vec![None; parts],
            axes: vec![None; groups],
            done: vec![false; parts],
            coordinate: vec![[None; 2]; joints],
            coupling_used: vec![false; model.couplings.len()],
            screw_used: vec![false; joints],
            slide_used: vec![false; slides],
            names: Vec::new(),
            weights: Vec::new(),
            sizes: Vec::new(),
            integrals: Vec::new(),
            rows: Vec::new(),
            implied: HashSet::new(),
            basis: vec![Vec::new(); groups],
            basis_part: vec![None; groups],
            table: Vec::new(),
            used: HashSet::new(),
        };
        // The ground is constant.
        let e = (0..3).map(|k| W::from_fn(|i, _| Sym::of(b.to_world[(k, i)]))).collect();
        b.axes[0] = Some(Axes { e, T: Matrix3::identity() });
        b.origin[0] = Some((W::zeros(), V::zeros()));
        b.done[0] = true;
        b.assign_items(0, &mut Told::default());
        b
    }

    /// Brings in all parts, then what joints still ask for.
    pub fn build(&mut self) {
        if self.choice.twelve {
            self.twelve();
        } else {
            if !self.choice.assign {
                self.all_items();
            }
            while let Some(b) = self.next() {
                self.bring(b);
            }
        }
        self.finish();
    }

    /// The part with most known items and joints to finished parts; the first of them in the file.
    fn next(&self) -> Option<usize> {
        let mut score: Vec<(usize, usize)> = vec![(0, 0); self.done.len()];
        for (k, item) in self.layout.items.iter().enumerate().filter(|(_, i)| i.point) {
            if self.items[k].is_some() {
                item.on.iter().for_each(|(p, _)| score[*p].0 += 1);
            }
        }
        let mut vectors = vec![0; self.layout.groups];
        for (k, item) in self.layout.items.iter().enumerate().filter(|(_, i)| !i.point) {
            if self.items[k].is_some() {
                item.on.iter().for_each(|(g, _)| vectors[*g] += 1);
            }
        }
        for j in &self.model.joints {
            let [a, b] = j.bodies.map(|b| self.layout.part_of[b.index()]);
            if self.done[a] != self.done[b] {
                score[if self.done[a] { b } else { a }].1 += 1;
            }
        }
        let total = |p: usize| score[p].0 + score[p].1 + vectors[self.layout.parts[p].group];
        (1..self.done.len()).filter(|&p| !self.done[p]).max_by(|&a, &b| total(a).cmp(&total(b)).then(b.cmp(&a)))
    }

    /// Position and velocity of a point of a part at the start, in the working frame.
    pub fn start_point(&self, part: usize, local: &V) -> (V, V) {
        let b = self.layout.parts[part].bodies[0].index();
        let (C, c) = &self.layout.frame[b];
        let s = C.tr_mul(&(local - c));
        let (q, v) = (&self.start.q[b], &self.start.v[b]);
        (self.to_world.tr_mul(&q.point(&s)), self.to_world.tr_mul(&v.of_point(q, &s)))
    }

    /// A direction of a group at the start, and its rate.
    pub fn start_direction(&self, group: usize, local: &V) -> (V, V) {
        let b = self.layout.reference[group].index();
        let d = self.layout.frame[b].0.tr_mul(local);
        let (A, w) = (&self.start.q[b].A, &self.start.v[b].w);
        (self.to_world.tr_mul(&(A * d)), self.to_world.tr_mul(&(A * w.cross(&d))))
    }

    fn unique(&mut self, name: String) -> String {
        let mut name = name;
        while !self.used.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    /// A new scalar coordinate.
    pub fn scalar(&mut self, name: String, value: f64, rate: f64, weight: f64, size: Option<f64>) -> Sym {
        let name = self.unique(name);
        self.names.push(name);
        self.sizes.push(size);
        self.weights.push(weight);
        self.integrals.push(None);
        Sym::variable(value, rate)
    }

    /// A new vector of coordinates; in planar mechanisms the third is constant.
    pub fn vector(&mut self, name: &str, value: &V, rate: &V, weight: f64, told: &mut Told) -> W {
        let planar = self.layout.normal.is_some();
        let n = if planar { 2 } else { 3 };
        told.brought.push(name.to_string());
        told.coordinates += n;
        let mut out = W::from_fn(|k, _| Sym::of(if value[k].abs() < 1e-15 { 0.0 } else { value[k] }));
        for k in 0..n {
            out[k] = self.scalar(format!("{name}.{}", ["x", "y", "z"][k]), value[k], rate[k], weight, None);
        }
        out
    }

    /// Adds the equation `value = 0`, unless nothing in it moves.
    pub fn equate(&mut self, name: String, value: Sym, class: Class, told: &mut Told) {
        if value.constant().is_none() {
            told.equated.push(name.clone());
            told.rows += 1;
            let name = self.unique(name);
            self.rows.push(Row { name, value, class, nu: None, drive: None });
        }
    }

    pub fn name_of(&self, part: usize) -> String {
        let names: Vec<&str> = self.layout.parts[part].bodies.iter().map(|b| self.model.body_name(*b)).collect();
        names.join("+")
    }

    fn local(&self, item: usize, place: usize) -> Option<V> {
        self.layout.local(item, place)
    }

    fn points_of(&self, part: usize) -> Vec<(usize, V)> {
        self.layout.points_on[part].clone()
    }

    fn vectors_of(&self, group: usize) -> Vec<(usize, V)> {
        self.layout.vectors_on[group].clone()
    }

    /// Whether the items lie together on a finished part, so that their mutual position is right already.
    fn together(&self, items: &[usize]) -> bool {
        let holds = |p: usize| {
            let g = self.layout.parts[p].group;
            self.done[p] && items.iter().all(|&k| self.local(k, if self.layout.items[k].point { p } else { g }).is_some())
        };
        match items.iter().find(|&&k| self.layout.items[k].point) {
            Some(&k) => self.layout.items[k].on.iter().any(|(p, _)| holds(*p)),
            None => (0..self.done.len()).any(holds),
        }
    }

    /// Position of a point of a finished part.
    pub fn place(&self, part: usize, local: &V) -> Option<W> {
        let (o, loc) = self.origin[part].as_ref()?;
        let arm = local - loc;
        if arm.norm() < 1e-15 * (1.0 + local.norm()) {
            return Some(*o);
        }
        Some(o + self.axes[self.layout.parts[part].group].as_ref()?.direction(&arm))
    }

    /// A local direction of a group whose axes are known.
    pub fn direction(&self, group: usize, local: &V) -> Option<W> {
        Some(self.axes[group].as_ref()?.direction(local))
    }

    fn bring(&mut self, b: usize) {
        let mut told = Told { part: self.name_of(b), ..Told::default() };
        self.slides_to(b, &mut told);
        if self.choice.parallelograms {
            self.parallelogram(b, &mut told);
        }
        self.set_origin(b, &mut told);
        let g = self.layout.parts[b].group;
        if self.axes[g].is_none() {
            if !self.turn(g, &mut told) {
                self.set_axes(b, &mut told);
            }
            self.close_vectors(g, &mut told);
        }
        self.close_points(b, &mut told);
        self.done[b] = true;
        self.assign_items(b, &mut told);
        self.table.push(told);
    }

    /// Points of `b` that slide on finished parts are assigned with one coordinate.
    fn slides_to(&mut self, b: usize, told: &mut Told) {
        for k in 0..self.layout.slides.len() {
            let s = self.layout.slides[k].clone();
            let moving = s.parts[1] == b;
            let (own, other) = if moving { (s.points[1], s.points[0]) } else { (s.points[0], s.points[1]) };
            let o = s.parts[usize::from(!moving)];
            if self.slide_used[k] || s.plane || (s.parts[0] != b && !moving) || !self.done[o] || self.items[own].is_some() {
                continue;
            }
            let axis = if moving { self.direction(self.layout.parts[o].group, &s.axis) } else { self.shared_axis(&s, o) };
            let (Some(axis), Some(from)) = (axis, self.items[other]) else { continue };
            let before = self.names.len();
            let mu = self.joint_coordinate(s.joint, JointCoordinate::Distance);
            if self.names.len() > before {
                told.brought.push(self.names[before].clone());
                told.coordinates += 1;
            }
            let sign = if moving { 1.0 } else { -1.0 };
            self.items[own] = Some(from + axis * (mu * Sym::of(sign)));
            told.assigned.push(self.layout.items[own].name.clone());
            self.slide_used[k] = true;
        }
    }

    /// The axis of a slide as the finished moving part knows it.
    fn shared_axis(&self, s: &super::parts::Slide, o: usize) -> Option<W> {
        let j = &self.model.joints[s.joint];
        let local = self.layout.direction(j.bodies[1], &j.M.axis(2));
        s.shared.then(|| self.direction(self.layout.parts[o].group, &local))?
    }

    /// `D := C + B - A` where A, B lie on one finished part, A, C on another, and C, D and B, D on parts to come, all on one
    /// hinge direction. It fixes the branch, so that there are no dead points.
    fn parallelogram(&mut self, b: usize, told: &mut Told) {
        let known = |s: &Self, k: usize| s.items[k].is_some();
        for (d, d_loc) in self.points_of(b) {
            if known(self, d) {
                continue;
            }
            let found = self.points_of(b).into_iter().filter(|(c, _)| known(self, *c)).find_map(|(c, c_loc)| {
                let group = self.layout.parts[b].group;
                let side = self.start_direction(group, &(d_loc - c_loc)).0;
                self.fourth_corner(b, c, d, &side)
            });
            if let Some((a, c, e, hinge)) = found {
                let at = |k: usize| self.items[k].unwrap_or_else(W::zeros);
                self.items[d] = Some(at(c) + at(e) - at(a));
                told.assigned.push(format!("{} (parallelogram)", self.layout.items[d].name));
                for p in [c, e] {
                    self.implied.insert((p.min(d), p.max(d), hinge));
                }
            }
        }
    }

    /// Corner A and its neighbours: `b` holds C (known) and D; A is joined to C by a finished part and to B by another.
    fn fourth_corner(&self, b: usize, c: usize, d: usize, side: &V) -> Option<(usize, usize, usize, usize)> {
        let on = |k: usize| self.layout.items[k].on.iter().map(|(p, _)| *p);
        let near = 1e-9 * self.model.length;
        for link in on(c).filter(|&p| self.done[p] && p != b) {
            for (a, _) in self.points_of(link).into_iter().filter(|(a, _)| *a != c) {
                for base in on(a).filter(|&p| self.done[p] && p != link) {
                    for (e, _) in self.points_of(base).into_iter().filter(|(e, _)| *e != a && self.items[*e].is_some()) {
                        let Some(other) = on(e).find(|&p| !self.done[p] && p != b && self.local(d, p).is_some()) else { continue };
                        let start = |k: usize, p: usize| self.start_point(p, &self.local(k, p).unwrap_or_else(V::zeros)).0;
                        if (start(e, base) - start(a, base) - side).norm() > near {
                            continue;
                        }
                        let groups = [b, link, base, other].map(|p| self.layout.parts[p].group);
                        let hinge = (0..self.items.len())
                            .find(|&u| !self.layout.items[u].point && groups.iter().all(|&g| self.local(u, g).is_some()));
                        if let Some(hinge) = hinge {
                            return Some((a, c, e, hinge));
                        }
                    }
                }
            }
        }
        None
    }

    /// A known point of the part, or a new one.
    fn set_origin(&mut self, b: usize, told: &mut Told) {
        if self.origin[b].is_some() {
            return;
        }
        let points = self.points_of(b);
        let constant = |w: &W| w.iter().all(|x| x.constant().is_some());
        let known = points.iter().filter_map(|(k, loc)| Some((self.items[*k]?, *loc)));
        if let Some(o) = known.max_by_key(|(w, _)| constant(w)) {
            self.origin[b] = Some(o);
            return;
        }
        if let Some(o) = self.on_plane(b, told) {
            self.origin[b] = Some(o);
            return;
        }
        let shared = points.iter().filter(|(k, _)| self.layout.items[*k].on.len() > 1);
        let (item, loc, name) = match shared.max_by_key(|(k, _)| (self.layout.items[*k].on.len(), std::cmp::Reverse(*k))) {
            Some((k, loc)) => (Some(*k), *loc, self.layout.items[*k].name.clone()),
            None => (None, self.layout.parts[b].com, self.name_of(b)),
        };
        let (x, v) = self.start_point(b, &loc);
        let w = self.vector(&name, &x, &v, self.model.length, told);
        if let Some(k) = item {
            self.items[k] = Some(w);
        }
        self.origin[b] = Some((w, loc));
    }

    /// A point of `b` that stays on a plane of a finished part: two coordinates. In planar mechanisms every point does.
    fn on_plane(&mut self, b: usize, told: &mut Told) -> Option<(W, V)> {
        if self.layout.normal.is_some() || !self.choice.assign {
            return None;
        }
        let k = (0..self.layout.slides.len()).find(|&k| {
            let s = &self.layout.slides[k];
            s.plane && !self.slide_used[k] && s.parts[1] == b && self.done[s.parts[0]]
        })?;
        let s = self.layout.slides[k].clone();
        let j = &self.model.joints[s.joint];
        let g = self.layout.parts[s.parts[0]].group;
        let from = self.items[s.points[0]]?;
        let loc = self.local(s.points[1], b)?;
        let across = [0, 1].map(|k| self.layout.direction(j.bodies[0], &j.F.axis(k)));
        let name = &j.name;
        let mut w = from;
        for (k, a) in across.iter().enumerate() {
            let y = crate::coordinate::Coordinate::Dp2 { ij: [0, 1], a_i: j.F.axis(k), s_i: j.F.s, s_j: j.M.s };
            let (value, rate) = self.start_coordinate(j.bodies, &y);
            let x = self.scalar(format!("{name}.{}", ["x", "y"][k]), value, rate, self.model.length, None);
            told.coordinates += 1;
            w += self.direction(g, a)? * x;
        }
        told.brought.push(format!("{name}.x, {name}.y"));
        told.assigned.push(self.layout.items[s.points[1]].name.clone());
        self.items[s.points[1]] = Some(w);
        self.slide_used[k] = true;
        Some((w, loc))
    }

    /// Value and rate of a coordinate between two bodies at the start.
    pub fn start_coordinate(&self, bodies: [BodyId; 2], y: &crate::coordinate::Coordinate) -> (f64, f64) {
        let [i, j] = bodies.map(BodyId::index);
        let (q, v) = (&self.start.q, &self.start.v);
        let parts = y.row(&q[i], &q[j]).parts;
        (y.value(&q[i], &q[j], &self.start.turns), parts[0].dot(&v[i]) + parts[1].dot(&v[j]))
    }

    /// A joint coordinate: assigned through a gear, rack or screw where its partner is known, else a new variable.
    pub fn joint_coordinate(&mut self, joint: usize, which: JointCoordinate) -> Sym {
        let slot = usize::from(which == JointCoordinate::Distance);
        if let Some(s) = self.coordinate[joint][slot] {
            return s;
        }
        let s = self.through_partner(joint, which).unwrap_or_else(|| {
            let j = &self.model.joints[joint];
            let (value, rate) = j.coordinate(which).map_or((0.0, 0.0), |y| self.start_coordinate(j.bodies, &y));
            let (word, weight, size) = if slot == 0 { ("angle", 1.0, Some(1.0)) } else { ("distance", self.model.length, None) };
            self.scalar(format!("{}.{word}", self.model.joints[joint].name), value, rate, weight, size)
        });
        self.coordinate[joint][slot] = Some(s);
        s
    }

    fn through_partner(&mut self, joint: usize, which: JointCoordinate) -> Option<Sym> {
        if !self.choice.assign || self.choice.twelve {
            return None;
        }
        if let JointKind::Screw(screw) = self.model.joints[joint].kind
            && !self.screw_used[joint]
        {
            let per_radian = screw.lead / (2.0 * std::f64::consts::PI);
            let [angle, distance] = self.coordinate[joint];
            let s = match which {
                JointCoordinate::Distance => angle.map(|a| a * Sym::of(per_radian)),
                JointCoordinate::Angle => distance.map(|d| d * Sym::of(1.0 / per_radian)),
            };
            if s.is_some() {
                self.screw_used[joint] = true;
                return s;
            }
        }
        for (k, c) in self.model.couplings.iter().enumerate() {
            if self.coupling_used[k] {
                continue;
            }
            let value = |side: usize| self.coordinate[c.joints[side]][usize::from(c.sides[side].0 == JointCoordinate::Distance)];
            let is = |side: usize| c.joints[side] == joint && c.sides[side].0 == which;
            let s = if is(1) {
                value(0).map(|x| x * Sym::of(c.ratio))
            } else if is(0) && c.ratio != 0.0 {
                value(1).map(|x| x * Sym::of(1.0 / c.ratio))
            } else {
                None
            };
            if s.is_some() {
                self.coupling_used[k] = true;
                return s;
            }
        }
        None
    }

    /// Whether the angle of a joint is needed as a coordinate.
    pub fn needs_angle(&self, joint: usize) -> bool {
        self.angles[joint]
    }

    /// Axes of a group from the angle of a joint with a finished part: `x := cos(theta) e1 + sin(theta) e2`.
    fn turn(&mut self, g: usize, told: &mut Told) -> bool {
        for k in 0..self.model.joints.len() {
            let j = &self.model.joints[k];
            let groups = j.bodies.map(|b| self.layout.group_of(b));
            let moving = groups[1] == g;
            if !self.choice.assign || groups[0] == groups[1] || (!moving && groups[0] != g) || !self.needs_angle(k) {
                continue;
            }
            let o = usize::from(!moving);
            if self.axes[groups[o]].is_none() {
                continue;
            }
            let frames = [j.F.R, j.M.R];
            let known: Vec<W> = (0..3)
                .filter_map(|a| self.direction(groups[o], &self.layout.direction(j.bodies[o], &frames[o].column(a).into())))
                .collect();
            let [x, y, z] = known[..] else { continue };
            let body = j.bodies[1 - o];
            let T = self.layout.frame[body.index()].0 * frames[1 - o];
            let before = self.names.len();
            let theta = self.joint_coordinate(k, JointCoordinate::Angle);
            if self.names.len() > before {
                told.brought.push(self.names[before].clone());
                told.coordinates += 1;
            }
            let (s, c) = theta.sin_cos();
            let s = if moving { s } else { -s };
            self.axes[g] = Some(Axes { e: vec![x * c + y * s, y * c - x * s, z], T });
            let hinge = self
                .vectors_of(g)
                .into_iter()
                .find(|(u, loc)| loc.cross(&T.column(2)).norm() < 1e-9 && self.local(*u, groups[o]).is_some());
            self.basis[g] = hinge.map(|(u, _)| Some(vec![u])).into_iter().collect();
            told.assigned.push(format!("axes of {}", self.model.body_name(body)));
            return true;
        }
        false
    }

    /// How many directions fix a part: two, one for a thin rod, none for a particle.
    fn rank_needed(&self, b: usize) -> usize {
        let part = &self.layout.parts[b];
        let alone = self.layout.parts.iter().filter(|p| p.group == part.group).count() == 1;
        let L2 = self.model.length.powi(2);
        if !alone || part.mass <= 0.0 || super::force::needs_axes(self.model, &part.bodies) {
            return 2;
        }
        let e = nalgebra::SymmetricEigen::new(part.pseudo);
        let top = e.eigenvalues.imax();
        let rest = (0..3).filter(|&k| k != top).map(|k| e.eigenvalues[k].abs()).fold(0.0, f64::max);
        let axis: V = e.eigenvectors.column(top).into();
        let attacked = super::force::force_points(self.model, &part.bodies);
        let places = attacked.iter().map(|p| self.layout.point(p.body, &p.s));
        let points: Vec<V> = self.points_of(b).into_iter().map(|(_, loc)| loc).chain(places).collect();
        let off = |loc: &V| (loc - part.com).cross(&axis).norm();
        let near = 1e-9 * self.model.length;
        if !self.vectors_of(part.group).is_empty() || rest > 1e-12 * part.mass * L2 {
            return 2;
        }
        if e.eigenvalues[top] <= 1e-12 * part.mass * L2 {
            if points.iter().all(|loc| (loc - part.com).norm() < near) { 0 } else { 2 }
        } else if points.iter().all(|loc| off(loc) < near) {
            1
        } else {
            2
        }
    }

    /// Chooses two directions, brings in what is missing, and writes the rigidity of the basis.
    fn set_axes(&mut self, b: usize, told: &mut Told) {
        let g = self.layout.parts[b].group;
        let Some((origin, o_loc)) = self.origin[b] else { return };
        let rank = self.rank_needed(b);
        let origin_item = self.points_of(b).into_iter().find(|(k, loc)| self.items[*k] == Some(origin) && (loc - o_loc).norm() == 0.0);
        let origin_item = origin_item.map(|(k, _)| k);
        let mut basis: Vec<Direction> = Vec::new();
        while basis.len() < rank {
            let next = match self.known_direction(b, &basis, origin, &o_loc, origin_item) {
                Some(d) => d,
                None => self.new_direction(b, &basis, origin, &o_loc, origin_item, told),
            };
            self.rigidity(b, &basis, &next, told);
            basis.push(next);
        }
        self.axes[g] = Some(orthonormal(&basis));
        self.basis[g] = basis.into_iter().map(|d| d.items).collect();
        self.basis_part[g] = Some(b);
    }

    fn known_direction(&self, b: usize, basis: &[Direction], origin: W, o_loc: &V, o_item: Option<usize>) -> Option<Direction> {
        let g = self.layout.parts[b].group;
        let vectors = self.vectors_of(g).into_iter().filter_map(|(k, loc)| Some((loc, self.items[k]?, vec![k], false)));
        let points = self.points_of(b).into_iter().filter(|(k, _)| Some(*k) != o_item).filter_map(|(k, loc)| {
            let items = o_item.into_iter().chain([k]).collect();
            Some((loc - o_loc, self.items[k]? - origin, items, true))
        });
        let mut best: Option<(f64, Direction)> = None;
        for (local, value, items, point) in vectors.chain(points) {
            // A short arm would magnify errors.
            if point && local.norm() < 1e-3 * self.model.length {
                continue;
            }
            let sine = sine_to(&local, basis);
            // Constants first, then vectors: they make the equations shorter.
            let constant = value.iter().all(|x| x.constant().is_some());
            let score = sine
                * if constant {
                    1.3
                } else if point {
                    1.0
                } else {
                    1.1
                };
            if sine > 0.05 && best.as_ref().is_none_or(|(s, _)| score > *s) {
                best = Some((score, Direction { local, value, items: Some(items), point }));
            }
        }
        best.map(|(_, d)| d)
    }

    fn new_direction(&mut self, b: usize, basis: &[Direction], origin: W, o_loc: &V, o_item: Option<usize>, told: &mut Told) -> Direction {
        let g = self.layout.parts[b].group;
        let waiting = |places: &[(usize, V)], point: bool| {
            let unfinished = |p: usize| !self.done[p] && p != b;
            let parts = 0..self.done.len();
            places
                .iter()
                .filter(|(p, _)| {
                    if point { unfinished(*p) } else { parts.clone().any(|q| unfinished(q) && self.layout.parts[q].group == *p && *p != g) }
                })
                .count()
        };
        let vectors = self.vectors_of(g).into_iter().map(|(k, loc)| (k, loc, false));
        let points = self.points_of(b).into_iter().map(|(k, loc)| (k, loc - o_loc, true));
        let least = 1e-3 * self.model.length;
        let chosen = vectors
            .chain(points)
            .filter(|(k, local, point)| self.items[*k].is_none() && (!point || local.norm() > least) && sine_to(local, basis) > 0.3)
            .map(|(k, local, point)| ((waiting(&self.layout.items[k].on, point), !point, std::cmp::Reverse(k)), local))
            .max_by_key(|(key, _)| *key);
        if let Some(((_, vector, std::cmp::Reverse(k)), local)) = chosen {
            let name = self.layout.items[k].name.clone();
            if vector {
                let (x, v) = self.start_direction(g, &local);
                let w = self.vector(&name, &x, &v, 1.0, told);
                self.equate(format!("{name} is a unit vector"), w.dot(&w) - Sym::of(1.0), Class::Rigid, told);
                self.items[k] = Some(w);
                return Direction { local, value: w, items: Some(vec![k]), point: false };
            }
            let (x, v) = self.start_point(b, &(local + o_loc));
            let w = self.vector(&name, &x, &v, self.model.length, told);
            self.items[k] = Some(w);
            let items = o_item.into_iter().chain([k]).collect();
            return Direction { local, value: w - origin, items: Some(items), point: true };
        }
        let local = fresh_normal(basis, &(self.layout.parts[b].com - o_loc));
        let (x, v) = self.start_direction(g, &local);
        let name = format!("{}.{}", self.name_of(b), ["a", "b"][basis.len().min(1)]);
        let w = self.vector(&name, &x, &v, 1.0, told);
        self.equate(format!("{name} is a unit vector"), w.dot(&w) - Sym::of(1.0), Class::Rigid, told);
        Direction { local, value: w, items: None, point: false }
    }

    /// Length of a new basis direction and its angles to the others, where they are not right already.
    fn rigidity(&mut self, b: usize, basis: &[Direction], next: &Direction, told: &mut Told) {
        let part = self.name_of(b);
        let implied = |s: &Self, items: &[usize], hinge: Option<usize>| match items {
            [p, q] if s.layout.items[*p].point && s.layout.items[*q].point => {
                let key = |h| (*p.min(q), *p.max(q), h);
                match hinge {
                    Some(h) => s.implied.contains(&key(h)),
                    None => s.implied.iter().any(|(a, b, _)| (*a, *b) == (*p.min(q), *p.max(q))),
                }
            }
            _ => false,
        };
        if next.point {
            let items = next.items.clone().unwrap_or_default();
            let whole = items.len() == 2;
            if !(whole && (self.together(&items) || implied(self, &items, None))) {
                let value = next.value.dot(&next.value) - Sym::of(next.local.norm_squared());
                self.equate(format!("{part} length {}", self.pair_name(&items)), value, Class::Rigid, told);
            }
        }
        for other in basis {
            let value =
                next.value.dot(&other.value) - Sym::of(snapped(next.local.dot(&other.local), next.local.norm() * other.local.norm()));
            if let (Some(a), Some(c)) = (&next.items, &other.items) {
                let both: Vec<usize> = a.iter().chain(c).copied().collect();
                let whole = (!next.point || a.len() == 2) && (!other.point || c.len() == 2);
                let hinge = |v: &[usize]| (v.len() == 1 && !self.layout.items[v[0]].point).then(|| v[0]);
                if whole
                    && (self.together(&both)
                        || implied(self, a, hinge(c).or(Some(usize::MAX)))
                        || implied(self, c, hinge(a).or(Some(usize::MAX))))
                {
                    continue;
                }
            }
            self.equate(format!("{part} angle"), value, Class::Rigid, told);
        }
    }

    fn pair_name(&self, items: &[usize]) -> String {
        items.iter().map(|k| self.layout.items[*k].name.as_str()).collect::<Vec<_>>().join("-")
    }

    /// Vectors of the group that were known and are not in its basis: two equations each.
    fn close_vectors(&mut self, g: usize, told: &mut Told) {
        let basis: Option<Vec<usize>> = self.basis[g].iter().cloned().collect::<Option<Vec<_>>>().map(|b| b.concat());
        for (k, local) in self.vectors_of(g) {
            let Some(value) = self.items[k] else { continue };
            if self.basis[g].contains(&Some(vec![k])) {
                continue;
            }
            let whole = self.basis[g].len() >= 2;
            if let Some(basis) = &basis
                && whole
                && self.together(&[&basis[..], &[k]].concat())
            {
                continue;
            }
            let frame = fourbar_math::so3::frame_from_z(&local);
            for c in 0..2 {
                let Some(normal) = self.direction(g, &frame.column(c).into()) else { continue };
                let name = format!("{} closes {}", told.part, self.layout.items[k].name);
                self.equate(name, value.dot(&normal), Class::Closure, told);
            }
        }
    }

    /// Points of the part that were known and do not follow from its axes: three equations each.
    fn close_points(&mut self, b: usize, told: &mut Told) {
        let Some((origin, o_loc)) = self.origin[b] else { return };
        let g = self.layout.parts[b].group;
        let o_item = self.points_of(b).into_iter().find(|(k, loc)| self.items[*k] == Some(origin) && *loc == o_loc).map(|(k, _)| k);
        for (k, local) in self.points_of(b) {
            let (Some(value), Some(place)) = (self.items[k], self.place(b, &local)) else { continue };
            let in_basis = self.done_by(b) && self.basis[g].iter().flatten().any(|d| d.contains(&k));
            if Some(k) == o_item || in_basis {
                continue;
            }
            // Nothing to close where origin, point and the directions between them lie on one finished part.
            let arm = local - o_loc;
            let first_only = self.axes[g].as_ref().is_some_and(|a| a.T.column(0).cross(&arm).norm() < 1e-12 * arm.norm());
            let directions = if first_only { &self.basis[g][..self.basis[g].len().min(1)] } else { &self.basis[g][..] };
            let enough = directions.len() == 2 || (first_only && directions.len() == 1);
            let items: Option<Vec<usize>> = directions.iter().cloned().collect::<Option<Vec<_>>>().map(|d| d.concat());
            if let (Some(items), Some(o), true) = (items, o_item, enough)
                && self.together(&[&items[..], &[o, k]].concat())
            {
                continue;
            }
            let difference = value - place;
            for c in 0..3 {
                let name = format!("{} closes {}.{}", told.part, self.layout.items[k].name, ["x", "y", "z"][c]);
                self.equate(name, difference[c], Class::Closure, told);
            }
        }
    }

    /// Whether the axes of the part's group were built from its own points.
    fn done_by(&self, b: usize) -> bool {
        self.basis_part[self.layout.parts[b].group] == Some(b)
    }

    /// Everything else on a finished part follows from its origin and axes.
    pub fn assign_items(&mut self, b: usize, told: &mut Told) {
        let g = self.layout.parts[b].group;
        for (k, local) in self.points_of(b) {
            if self.items[k].is_none() {
                self.items[k] = self.place(b, &local);
                told.assigned.push(self.layout.items[k].name.clone());
            }
        }
        for (k, local) in self.vectors_of(g) {
            if self.items[k].is_none() {
                self.items[k] = self.direction(g, &local);
                told.assigned.push(self.layout.items[k].name.clone());
            }
        }
    }

    /// Every joint point and vector of moving parts as coordinates of their own, slides with their distance: the classical
    /// natural coordinates with which [Pryce20, Table 4] compares.
    fn all_items(&mut self) {
        let mut told = Told { part: "all joints".to_string(), ..Told::default() };
        for k in 0..self.layout.items.len() {
            if self.items[k].is_some() {
                continue;
            }
            let item = self.layout.items[k].clone();
            let Some((place, local)) = item.on.first() else { continue };
            let (x, v) = if item.point { self.start_point(*place, local) } else { self.start_direction(*place, local) };
            let w = self.vector(&item.name, &x, &v, if item.point { self.model.length } else { 1.0 }, &mut told);
            self.items[k] = Some(w);
            if !item.point {
                self.equate(format!("{} is a unit vector", item.name), w.dot(&w) - Sym::of(1.0), Class::Rigid, &mut told);
            }
        }
        for k in 0..self.layout.slides.len() {
            let s = self.layout.slides[k].clone();
            let axis = (0..self.items.len()).find_map(|u| {
                let item = &self.layout.items[u];
                let local = (!item.point).then(|| self.local(u, self.layout.parts[s.parts[0]].group))??;
                ((local.cross(&s.axis)).norm() < 1e-9).then(|| Some(self.items[u]? * Sym::of(local.dot(&s.axis).signum())))?
            });
            let axis = axis.or_else(|| self.direction(self.layout.parts[s.parts[0]].group, &s.axis));
            let (Some(axis), false) = (axis, s.plane) else { continue };
            let (Some(from), Some(to)) = (self.items[s.points[0]], self.items[s.points[1]]) else { continue };
            let before = self.names.len();
            let mu = self.joint_coordinate(s.joint, JointCoordinate::Distance);
            told.brought.extend(self.names.get(before).cloned());
            told.coordinates += self.names.len() - before;
            let d = to - from - axis * mu;
            for c in 0..3 {
                let name = format!("{} slides.{}", self.model.joints[s.joint].name, ["x", "y", "z"][c]);
                self.equate(name, d[c], Class::Joint, &mut told);
            }
            self.slide_used[k] = true;
        }
        self.table.push(told);
    }
}

/// Sine of the angle between a local vector and the span of the basis.
fn sine_to(local: &V, basis: &[Direction]) -> f64 {
    let size = local.norm();
    if size == 0.0 {
        return 0.0;
    }
    let mut rest = *local;
    let mut span: Vec<V> = Vec::new();
    for d in basis {
        let mut e = d.local;
        for s in &span {
            e -= s * s.dot(&e);
        }
        if let Some(e) = e.try_normalize(0.0) {
            rest -= e * e.dot(&rest);
            span.push(e);
        }
    }
    rest.norm() / size
}

/// A unit vector normal to the basis, towards `wish` where that helps.
fn fresh_normal(basis: &[Direction], wish: &V) -> V {
    let candidates = [*wish, V::x(), V::y(), V::z()];
    let best = candidates.iter().find(|c| c.norm() > 0.0 && sine_to(c, basis) > 0.5).copied().unwrap_or_else(V::x);
    let mut d = best;
    let mut span: Vec<V> = Vec::new();
    for b in basis {
        let mut e = b.local;
        span.iter().for_each(|s: &V| e -= s * s.dot(&e));
        if let Some(e) = e.try_normalize(0.0) {
            span.push(e);
        }
    }
    for _ in 0..2 {
        span.iter().for_each(|s| d -= s * s.dot(&d));
    }
    d.normalize()
}

/// A number that is a rounding error of zero is zero.
pub(super) fn snapped(x: f64, size: f64) -> f64 {
    if x.abs() < 4e-15 * size { 0.0 } else { x }
}

/// Axes from a basis: `x = a/r11`, `y = (b - r12 x)/r22`, `z = x cross y` [Pryce20, Eqs. (5)-(11)].
fn orthonormal(basis: &[Direction]) -> Axes {
    let mut T = Matrix3::identity();
    let mut e: Vec<W> = Vec::new();
    if let Some(a) = basis.first() {
        let r11 = a.local.norm();
        let x = a.local / r11;
        T.set_column(0, &x);
        // Unit vectors are taken as they are.
        e.push(if (r11 - 1.0).abs() < 4e-15 { a.value } else { a.value * Sym::of(1.0 / r11) });
        if let Some(b) = basis.get(1) {
            let r12 = snapped(b.local.dot(&x), b.local.norm());
            let y = b.local - x * r12;
            let r22 = y.norm();
            let y = y / r22;
            T.set_column(1, &y);
            T.set_column(2, &x.cross(&y));
            let rest = b.value - e[0] * Sym::of(r12);
            e.push(if (r22 - 1.0).abs() < 4e-15 { rest } else { rest * Sym::of(1.0 / r22) });
            e.push(e[0].cross(&e[1]));
        }
    }
    Axes { e, T }
}

/// A right-handed frame with `n` as third axis; one that only exchanges axes where `n` is an axis of the world.
fn working_axes(n: &V) -> Matrix3<f64> {
    for k in 0..3 {
        if (n[k].abs() - 1.0).abs() < 1e-12 {
            let (mut x, mut y) = (V::zeros(), V::zeros());
            x[(k + 1) % 3] = 1.0;
            y[(k + 2) % 3] = 1.0;
            let z = x.cross(&y);
            return Matrix3::from_columns(&[x, y, z]);
        }
    }
    fourbar_math::so3::frame_from_z(n)
}
