//! Variants: assigned items that depend on too many variables become coordinates, parallelograms whose fourth corner is assigned, and the
//! classical form in which every joint point and vector is a coordinate.

use super::basis::Axes;
use super::builder::{Builder, Listed, W};
use super::rows::Class;
use crate::model::JointCoordinate;
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::Vector3;

type V = Vector3<f64>;

/// An assigned item that depends on more variables than this becomes coordinates itself. Without a limit the mass matrix of a chain is
/// full, and its equations grow with the square of the number of bodies.
const REACH: usize = 30;

impl Builder<'_> {
    /// Replaces known items of a part that depend on too many variables.
    pub fn shorten_items(&mut self, b: usize, g: usize, listed: &mut Listed) {
        if !self.choice.assign {
            return;
        }
        for (k, _) in self.points_of(b).into_iter().chain(self.vectors_of(g)) {
            if let Some(w) = self.items[k]
                && Node::reach(w.iter().copied()) > REACH
            {
                let weight = if self.layout.items[k].point { self.model.length } else { 1.0 };
                self.items[k] = Some(self.brought_in(&self.layout.items[k].name.clone(), w, weight, listed));
            }
        }
    }

    /// Replaces axes that depend on too many variables.
    pub fn shorten_axes(&mut self, g: usize, listed: &mut Listed) {
        let Some(Axes { e, T }) = &self.axes[g] else { return };
        let ([x, y, _], T) = (&e[..], *T) else { return };
        if Node::reach(x.iter().chain(y).copied()) <= REACH {
            return;
        }
        let body = self.model.body_name(self.layout.reference[g]);
        let [x, y] = [(*x, "x axis"), (*y, "y axis")].map(|(w, a)| self.brought_in(&format!("{body}.{a}"), w, 1.0, listed));
        self.axes[g] = Some(Axes { e: vec![x, y, x.cross(&y)], T });
    }

    /// Three coordinates equal to an expression; each row has a separate coordinate, so that none can be redundant.
    fn brought_in(&mut self, name: &str, value: W, weight: f64, listed: &mut Listed) -> W {
        let w = self.vector(name, &value.map(Scalar::value), &value.map(Node::start_rate), weight, listed);
        for c in 0..3 {
            let row = format!("{name} as assigned.{}", ["x", "y", "z"][c]);
            self.equate(row, w[c] - value[c], Class::Rigid, listed);
        }
        w
    }

    /// `D := C + B - A` where A, B lie on one finished part, A, C on another, and C, D and B, D on parts to come, all on one hinge
    /// direction. This fixes the branch, so that there are no dead points.
    pub fn parallelogram(&mut self, b: usize, listed: &mut Listed) {
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
                listed.assigned.push(format!("{} (parallelogram)", self.layout.items[d].name));
                for p in [c, e] {
                    self.implied.insert((p.min(d), p.max(d), hinge));
                }
            }
        }
    }

    /// Corner A and its neighbours: `b` contains C (known) and D; A is connected to C by a finished part and to B by another.
    pub fn fourth_corner(&self, b: usize, c: usize, d: usize, side: &V) -> Option<(usize, usize, usize, usize)> {
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

    /// Every joint point and vector of moving parts as separate coordinates, slides with their distance: the classical natural coordinates
    /// with which [Pryce20, Table 4] compares.
    pub fn all_items(&mut self) {
        let mut listed = Listed { part: "all joints".to_string(), ..Listed::default() };
        // Points first: a vector along two of them is their difference.
        let mut order: Vec<usize> = (0..self.layout.items.len()).collect();
        order.sort_by_key(|&k| !self.layout.items[k].point);
        for k in order {
            if self.items[k].is_some() {
                continue;
            }
            let item = self.layout.items[k].clone();
            if !item.point && self.along_points(k, &mut listed) {
                continue;
            }
            let Some((place, local)) = item.on.first() else { continue };
            let (x, v) = if item.point { self.start_point(*place, local) } else { self.start_direction(*place, local) };
            let w = self.vector(&item.name, &x, &v, if item.point { self.model.length } else { 1.0 }, &mut listed);
            self.items[k] = Some(w);
            if !item.point {
                self.equate(format!("{} is a unit vector", item.name), w.dot(&w) - Node::of(1.0), Class::Rigid, &mut listed);
            }
        }
        for k in 0..self.layout.slides.len() {
            let s = self.layout.slides[k].clone();
            let axis = (0..self.items.len()).find_map(|u| {
                let item = &self.layout.items[u];
                let local = (!item.point).then(|| self.local(u, self.layout.parts[s.parts[0]].group))??;
                ((local.cross(&s.axis)).norm() < 1e-9).then(|| Some(self.items[u]? * Node::of(local.dot(&s.axis).signum())))?
            });
            let axis = axis.or_else(|| self.direction(self.layout.parts[s.parts[0]].group, &s.axis));
            let (Some(axis), false) = (axis, s.plane) else { continue };
            let (Some(from), Some(to)) = (self.items[s.points[0]], self.items[s.points[1]]) else { continue };
            let before = self.names.len();
            let mu = self.joint_coordinate(s.joint, JointCoordinate::Distance);
            listed.brought.extend(self.names.get(before).cloned());
            listed.coordinates += self.names.len() - before;
            let d = to - from - axis * mu;
            for c in 0..3 {
                let name = format!("{} slides.{}", self.model.joints[s.joint].name, ["x", "y", "z"][c]);
                self.equate(name, d[c], Class::Joint, &mut listed);
            }
            self.slide_used[k] = true;
        }
        (0..self.items.len()).filter(|&k| self.items[k].is_some()).for_each(|k| self.queue.count(&self.layout, k));
        self.table.push(listed);
    }

    /// A vector along two points of a part is their difference over its length.
    fn along_points(&mut self, k: usize, listed: &mut Listed) -> bool {
        for (g, local) in self.layout.items[k].on.clone() {
            for p in self.layout.parts_of[g].clone() {
                let points = self.points_of(p);
                for (i, (a, x)) in points.iter().enumerate() {
                    for (b, y) in &points[i + 1..] {
                        let d: V = y - x;
                        let length = d.norm();
                        let (Some(from), Some(to)) = (self.items[*a], self.items[*b]) else { continue };
                        if d.cross(&local).norm() > 1e-9 * length || length < 1e-3 * self.model.length {
                            continue;
                        }
                        let w: W = (to - from) * Node::of(d.dot(&local).signum() / length);
                        let name = self.layout.items[k].name.clone();
                        self.equate(format!("{name} is a unit vector"), w.dot(&w) - Node::of(1.0), Class::Rigid, listed);
                        listed.assigned.push(name);
                        self.items[k] = Some(w);
                        return true;
                    }
                }
            }
        }
        false
    }
}
