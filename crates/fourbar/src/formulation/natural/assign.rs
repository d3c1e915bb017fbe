//! Bringing in the parts one after another, "assign, don't equate" [Pryce20, section 4.2]: a part uses whatever is known through its
//! neighbours, only missing quantities become coordinates, and an equation is written only where a quantity is known twice.

use super::basis::Axes;
use super::builder::{Builder, Listed, W, snapped};
use super::layout::Slide;
use super::rows::Class;
use crate::coordinate::Coordinate;
use crate::model::JointCoordinate;
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::Vector3;

type V = Vector3<f64>;

/// Rounds components of a unit vector that equal 0 or 1 up to rounding errors, which would leave equations without content.
fn rounded(x: Node) -> Node {
    match x.constant() {
        Some(c) if (c.abs() - 1.0).abs() < 4e-15 => Node::of(c.signum()),
        Some(c) => Node::of(snapped(c, 1.0)),
        None => x,
    }
}

impl Builder<'_> {
    /// Brings in all parts, then writes the remaining equations of joints.
    pub fn build(&mut self) {
        self.carry();
        if self.choice.twelve {
            self.twelve();
        } else {
            if !self.choice.assign {
                self.all_items();
            }
            while let Some(b) = self.queue.next(&self.layout) {
                self.bring(b);
            }
        }
        self.finish();
    }

    pub fn bring(&mut self, b: usize) {
        let mut listed = Listed { part: self.name_of(b), ..Listed::default() };
        self.slides_to(b, &mut listed);
        if self.choice.parallelograms {
            self.parallelogram(b, &mut listed);
        }
        let g = self.layout.parts[b].group;
        self.shorten_items(b, g, &mut listed);
        self.set_origin(b, &mut listed);
        if self.axes[g].is_none() {
            if !self.turn(g, &mut listed) {
                self.set_axes(b, &mut listed);
            }
            self.close_vectors(g, &mut listed);
        }
        self.close_points(b, &mut listed);
        self.done[b] = true;
        self.assign_items(b, &mut listed);
        self.count_items(b);
        self.table.push(listed);
    }

    /// Points of `b` that slide on finished parts are assigned with one coordinate.
    pub fn slides_to(&mut self, b: usize, listed: &mut Listed) {
        let mut lines: Vec<V> = Vec::new();
        for k in self.layout.slides_on[b].clone() {
            let s = self.layout.slides[k].clone();
            let moving = s.parts[1] == b;
            let (own, other) = if moving { (s.points[1], s.points[0]) } else { (s.points[0], s.points[1]) };
            let o = s.parts[usize::from(!moving)];
            if self.slide_used[k] || s.plane || (s.parts[0] != b && !moving) || !self.done[o] || self.items[own].is_some() {
                continue;
            }
            // A second line parallel to the first, or one of a part whose pose is known, leaves nothing to determine: it is equated.
            let j = &self.model.joints[s.joint];
            let own_axis = self.layout.direction(j.bodies[usize::from(moving)], &if moving { j.M.axis(2) } else { j.F.axis(2) });
            let beside = s.shared && lines.iter().any(|l| l.cross(&own_axis).norm() < 1e-9);
            let placed = self.axes[self.layout.parts[b].group].is_some() && self.points_of(b).iter().any(|(k, _)| self.items[*k].is_some());
            if beside || placed {
                continue;
            }
            let axis = if moving { self.direction(self.layout.parts[o].group, &s.axis) } else { self.shared_axis(&s, o) };
            let (Some(axis), Some(from)) = (axis, self.items[other]) else { continue };
            let before = self.names.len();
            let mu = self.joint_coordinate(s.joint, JointCoordinate::Distance);
            if self.names.len() > before {
                listed.brought.push(self.names[before].clone());
                listed.coordinates += 1;
            }
            let sign = if moving { 1.0 } else { -1.0 };
            self.items[own] = Some(from + axis * (mu * Node::of(sign)));
            if s.shared {
                lines.push(own_axis);
            }
            listed.assigned.push(self.layout.items[own].name.clone());
            self.slide_used[k] = true;
        }
    }

    /// The axis of a slide in terms of the finished moving part, if both parts share it.
    pub fn shared_axis(&self, s: &Slide, o: usize) -> Option<W> {
        let j = &self.model.joints[s.joint];
        let local = self.layout.direction(j.bodies[1], &j.M.axis(2));
        s.shared.then(|| self.direction(self.layout.parts[o].group, &local))?
    }

    /// A known point of the part, or a new one.
    pub fn set_origin(&mut self, b: usize, listed: &mut Listed) {
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
        if let Some(o) = self.on_plane(b, listed) {
            self.origin[b] = Some(o);
            return;
        }
        let first = self.file_items(b).into_iter().find(|(_, _, point)| *point).map(|(k, loc, _)| (k, loc));
        let shared = points.iter().filter(|(k, _)| self.layout.items[*k].on.len() > 1);
        let chosen = shared.max_by_key(|(k, _)| (self.layout.items[*k].on.len(), std::cmp::Reverse(*k)));
        let (item, loc, name) = match first.as_ref().or(chosen) {
            Some((k, loc)) => (Some(*k), *loc, self.layout.items[*k].name.clone()),
            None => (None, self.layout.parts[b].com, self.name_of(b)),
        };
        let (x, v) = self.start_point(b, &loc);
        let w = self.vector(&name, &x, &v, self.model.length, listed);
        if let Some(k) = item {
            self.items[k] = Some(w);
        }
        self.origin[b] = Some((w, loc));
    }

    /// A point of `b` that stays on a plane of a finished part: two coordinates. In planar mechanisms every point does so.
    pub fn on_plane(&mut self, b: usize, listed: &mut Listed) -> Option<(W, V)> {
        if self.layout.normal.is_some() || !self.choice.assign {
            return None;
        }
        let k = self.layout.slides_on[b].iter().copied().find(|&k| {
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
            let y = Coordinate::Dp2 { ij: [0, 1], a_i: j.F.axis(k), s_i: j.F.s, s_j: j.M.s };
            let (value, rate) = self.start_coordinate(j.bodies, &y);
            let x = self.scalar(format!("{name}.{}", ["x", "y"][k]), value, rate, self.model.length, None);
            listed.coordinates += 1;
            w += self.direction(g, a)? * x;
        }
        listed.brought.push(format!("{name}.x, {name}.y"));
        listed.assigned.push(self.layout.items[s.points[1]].name.clone());
        self.items[s.points[1]] = Some(w);
        self.slide_used[k] = true;
        Some((w, loc))
    }

    /// A joint coordinate: assigned through a gear, rack or screw if the coordinate of its partner is known, else a new variable.
    pub fn joint_coordinate(&mut self, joint: usize, which: JointCoordinate) -> Node {
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

    pub fn through_partner(&mut self, joint: usize, which: JointCoordinate) -> Option<Node> {
        if !self.choice.assign || self.choice.twelve {
            return None;
        }
        if let Some(per_radian) = self.model.joints[joint].kind.shared().thread
            && !self.screw_used[joint]
        {
            let [angle, distance] = self.coordinate[joint];
            let s = match which {
                JointCoordinate::Distance => angle.map(|a| a * Node::of(per_radian)),
                JointCoordinate::Angle => distance.map(|d| d * Node::of(1.0 / per_radian)),
            };
            if s.is_some() {
                self.screw_used[joint] = true;
                return s;
            }
        }
        for (k, c) in self.model.couplings.iter().enumerate() {
            // Sides that are measured relative to a carrier are not coordinates of their joints.
            if self.coupling_used[k] || (0..2).any(|s| c.sides[s].1 != self.model.joints[c.joints[s]].bodies) {
                continue;
            }
            let value = |side: usize| self.coordinate[c.joints[side]][usize::from(c.sides[side].0 == JointCoordinate::Distance)];
            let is = |side: usize| c.joints[side] == joint && c.sides[side].0 == which;
            let s = if is(1) {
                value(0).map(|x| x * Node::of(c.ratio))
            } else if is(0) && c.ratio != 0.0 {
                value(1).map(|x| x * Node::of(1.0 / c.ratio))
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

    /// Axes of a group from the angle of a joint with a finished part: `x := cos(theta) e1 + sin(theta) e2`.
    pub fn turn(&mut self, g: usize, listed: &mut Listed) -> bool {
        if !self.choice.assign {
            return false;
        }
        for k in self.turning[g].clone() {
            let j = &self.model.joints[k];
            let groups = j.bodies.map(|b| self.layout.group_of(b));
            let moving = groups[1] == g;
            let o = usize::from(!moving);
            if self.axes[groups[o]].is_none() {
                continue;
            }
            self.shorten_axes(groups[o], listed);
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
                listed.brought.push(self.names[before].clone());
                listed.coordinates += 1;
            }
            let (s, c) = theta.sin_cos();
            let s = if moving { s } else { -s };
            self.axes[g] = Some(Axes { e: vec![x * c + y * s, y * c - x * s, z], T });
            let hinge = self
                .vectors_of(g)
                .into_iter()
                .find(|(u, loc)| loc.cross(&T.column(2)).norm() < 1e-9 && self.local(*u, groups[o]).is_some());
            self.basis[g] = hinge.map(|(u, _)| Some(vec![u])).into_iter().collect();
            listed.assigned.push(format!("axes of {}", self.model.body_name(body)));
            return true;
        }
        false
    }

    /// Vectors of the group that are known already but not in its basis: two equations each.
    pub fn close_vectors(&mut self, g: usize, listed: &mut Listed) {
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
                let name = format!("{} closes {}", listed.part, self.layout.items[k].name);
                self.equate(name, value.dot(&normal), Class::Closure, listed);
            }
        }
    }

    /// Points of the part that are known already and do not follow from its axes: three equations each.
    pub fn close_points(&mut self, b: usize, listed: &mut Listed) {
        let Some((origin, o_loc)) = self.origin[b] else { return };
        let g = self.layout.parts[b].group;
        let o_item = self.points_of(b).into_iter().find(|(k, loc)| self.items[*k] == Some(origin) && *loc == o_loc).map(|(k, _)| k);
        for (k, local) in self.points_of(b) {
            let (Some(value), Some(place)) = (self.items[k], self.place(b, &local)) else { continue };
            let in_basis = self.done_by(b) && self.basis[g].iter().flatten().any(|d| d.contains(&k));
            if Some(k) == o_item || in_basis {
                continue;
            }
            // No equations either for a point whose arm is parallel to a vector of the group when origin, point and vector lie on one
            // finished part.
            let along = |s: &Self, u: usize, loc: &V| {
                let arm = local - o_loc;
                loc.cross(&arm).norm() < 1e-9 * arm.norm() && s.items[u].is_some() && o_item.is_some_and(|o| s.together(&[o, k, u]))
            };
            if self.vectors_of(g).iter().any(|(u, loc)| along(self, *u, loc)) {
                continue;
            }
            // No equations where origin, point and the directions between them lie on one finished part.
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
                let name = format!("{} closes {}.{}", listed.part, self.layout.items[k].name, ["x", "y", "z"][c]);
                self.equate(name, difference[c], Class::Closure, listed);
            }
        }
    }

    /// Whether the axes of the part's group were built from its own points.
    pub fn done_by(&self, b: usize) -> bool {
        self.basis_part[self.layout.parts[b].group] == Some(b)
    }

    /// Counts the known items of a finished part for its neighbours.
    pub fn count_items(&mut self, b: usize) {
        for (k, _) in self.points_of(b).into_iter().chain(self.vectors_of(self.layout.parts[b].group)) {
            if self.items[k].is_some() {
                self.queue.count(&self.layout, k);
            }
        }
        self.queue.finish(&self.layout, b);
    }

    /// All other items of a finished part follow from its origin and axes.
    pub fn assign_items(&mut self, b: usize, listed: &mut Listed) {
        let g = self.layout.parts[b].group;
        for (k, local) in self.points_of(b) {
            if self.items[k].is_none() {
                self.items[k] = self.place(b, &local);
                listed.assigned.push(self.layout.items[k].name.clone());
            }
        }
        for (k, local) in self.vectors_of(g) {
            if self.items[k].is_none() {
                self.items[k] = self.direction(g, &local).map(|w| w.map(rounded));
                listed.assigned.push(self.layout.items[k].name.clone());
            }
        }
    }
}
