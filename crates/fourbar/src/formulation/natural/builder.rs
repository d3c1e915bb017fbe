//! Working data for building a system: the layout, the known items, coordinates and rows so far.

use super::basis::Axes;
use super::layout::Layout;
use super::part_order::Queue;
use super::rows::{Class, Row};
use crate::coordinate::Coordinate;
use crate::force::eval::Plain;
use crate::model::{Basic, BodyId, Model};
use crate::state::Configuration;
use fourbar_dae::Node;
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashSet;

type V = Vector3<f64>;
pub(super) type W = Vector3<Node>;

/// Options for building the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Joint points and vectors are assigned where possible; otherwise each is a coordinate and everything is equated.
    pub assign: bool,
    /// Opposite points of parallelograms are assigned, which fixes their branch.
    pub parallelograms: bool,
    /// Twelve coordinates per body, an origin and three vectors: constant mass matrix, all joints equated.
    pub twelve: bool,
    /// A part uses the points and vectors that describe it in the file, in their order.
    pub file: bool,
}

impl Default for Choice {
    fn default() -> Self {
        Self { assign: true, parallelograms: false, twelve: false, file: false }
    }
}

/// A part as listed in the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
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
    /// Joints whose angle is needed as a coordinate, and for each group its joints with other groups.
    pub angles: Vec<bool>,
    pub turning: Vec<Vec<usize>>,
    /// Whether the rotation of each part is needed, and the points where forces act on it.
    pub reads_axes: Vec<bool>,
    pub attacked: Vec<Vec<V>>,
    /// The order of the parts.
    pub queue: Queue,
    /// Working frame to world: its third axis is the normal of a planar mechanism.
    pub to_world: Matrix3<f64>,
    /// Value of each item, once known.
    pub items: Vec<Option<W>>,
    /// A point of each part with its local coordinates, once the part is finished.
    pub origin: Vec<Option<(W, V)>>,
    /// Axes of each group, once known.
    pub axes: Vec<Option<Axes>>,
    pub done: Vec<bool>,
    /// Angle and distance of each joint, where they are coordinates or assigned.
    pub coordinate: Vec<[Option<Node>; 2]>,
    pub coupling_used: Vec<bool>,
    pub screw_used: Vec<bool>,
    pub slide_used: Vec<bool>,
    pub names: Vec<String>,
    /// Size relative to which changes of a variable are measured.
    pub weights: Vec<f64>,
    /// Fixed size of a variable's errors; `None` lets the solver measure it.
    pub sizes: Vec<Option<f64>>,
    /// Rates of variables that are integrals of time functions.
    pub integrals: Vec<Option<Node>>,
    /// Inputs, their slopes and states, with their variable numbers.
    pub carried: Vec<(Node, usize)>,
    pub rows: Vec<Row>,
    /// Pairs of points on a part whose distance and angle to a vector are implied: both points and the vector.
    pub implied: HashSet<(usize, usize, usize)>,
    /// Items of each basis direction of a group; `None` for a fresh vector.
    pub basis: Vec<Vec<Option<Vec<usize>>>>,
    /// The part whose points define the axes of a group.
    pub basis_part: Vec<Option<usize>>,
    pub table: Vec<Listed>,
    pub used: HashSet<String>,
}

impl<'m> Builder<'m> {
    pub fn new(model: &'m Model, start: &'m Configuration, choice: Choice) -> Self {
        let mut layout = Layout::new(model, !choice.twelve, choice.file);
        if choice.twelve {
            layout.normal = None;
        }
        let to_world = layout.normal.map_or(Matrix3::identity(), |n| working_axes(&n));
        let (items, parts, groups, joints) = (layout.items.len(), layout.parts.len(), layout.groups, model.joints.len());
        let slides = layout.slides.len();
        let angles = super::force::angles_needed(model);
        let mut turning = vec![Vec::new(); groups];
        for (k, j) in model.joints.iter().enumerate().filter(|(k, _)| angles[*k]) {
            let [a, b] = j.bodies.map(|b| layout.group_of(b));
            if a != b {
                turning[a].push(k);
                turning[b].push(k);
            }
        }
        let mut b = Self {
            reads_axes: super::force::axes_read(model, &layout),
            attacked: super::force::attacked(model, &layout),
            queue: Queue::new(model, &layout),
            turning,
            model,
            start,
            layout,
            choice,
            angles,
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
            carried: Vec::new(),
            rows: Vec::new(),
            implied: HashSet::new(),
            basis: vec![Vec::new(); groups],
            basis_part: vec![None; groups],
            table: Vec::new(),
            used: HashSet::new(),
        };
        for (k, c) in model.couplings.iter().enumerate() {
            b.coupling_used[k] = c.joints.iter().any(|&j| b.layout.on_coil(model.joints[j].bodies));
        }
        // The ground is constant.
        let e = (0..3).map(|k| W::from_fn(|i, _| Node::of(b.to_world[(k, i)]))).collect();
        b.axes[0] = Some(Axes { e, T: Matrix3::identity() });
        b.origin[0] = Some((W::zeros(), V::zeros()));
        b.done[0] = true;
        b.assign_items(0, &mut Listed::default());
        b.count_items(0);
        b
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

    /// Value and rate of a coordinate between two bodies at the start.
    pub fn start_coordinate(&self, bodies: [BodyId; 2], y: &Coordinate) -> (f64, f64) {
        let [i, j] = bodies.map(BodyId::index);
        let (q, v) = (&self.start.q, &self.start.v);
        let parts = y.row(&q[i], &q[j]).parts;
        (y.value(&q[i], &q[j], &self.start.turns), parts[0].power(&v[i]) + parts[1].power(&v[j]))
    }

    pub fn unique(&mut self, name: String) -> String {
        let mut name = name;
        while !self.used.insert(name.clone()) {
            name.push('\'');
        }
        name
    }

    /// A new scalar coordinate.
    pub fn scalar(&mut self, name: String, value: f64, rate: f64, weight: f64, size: Option<f64>) -> Node {
        let name = self.unique(name);
        self.names.push(name);
        self.sizes.push(size);
        self.weights.push(weight);
        self.integrals.push(None);
        Node::variable(value, rate)
    }

    /// A new variable that is the integral of its rate; the rate may be stated later.
    pub fn integral(&mut self, name: String, value: f64, start_rate: f64, size: Option<f64>, rate: Node) -> Node {
        let s = self.scalar(name, value, start_rate, 0.0, size);
        if let Some(last) = self.integrals.last_mut() {
            *last = Some(rate);
        }
        s
    }

    /// Variables for inputs, slopes and states; their rates follow once all quantities in them are known.
    pub fn carry(&mut self) {
        let mut rates = vec![0.0; self.model.auxiliaries()];
        let x = Plain { t: self.start.t, q: &self.start.q, v: &self.start.v, turns: &self.start.turns, loads: &[], z: &self.start.z };
        self.model.auxiliary_rates(&x, &mut rates);
        let inputs = self.model.inputs.iter().map(|i| i.name.clone());
        let slopes = self.model.inputs.iter().map(|i| format!("slope of {}", i.name));
        let names: Vec<String> = inputs.chain(slopes).chain(self.model.states.iter().map(|s| s.name.clone())).collect();
        for (k, name) in names.into_iter().enumerate() {
            let s = self.integral(name, self.start.z[k], rates[k], None, Node::of(0.0));
            self.carried.push((s, self.names.len() - 1));
        }
    }

    /// A new vector of coordinates; in planar mechanisms the third is constant.
    pub fn vector(&mut self, name: &str, value: &V, rate: &V, weight: f64, listed: &mut Listed) -> W {
        let planar = self.layout.normal.is_some();
        let n = if planar { 2 } else { 3 };
        listed.brought.push(name.to_string());
        listed.coordinates += n;
        let mut out = W::from_fn(|k, _| Node::of(if value[k].abs() < 1e-15 { 0.0 } else { value[k] }));
        for k in 0..n {
            out[k] = self.scalar(format!("{name}.{}", ["x", "y", "z"][k]), value[k], rate[k], weight, None);
        }
        out
    }

    /// Adds the equation `value = 0`, unless `value` is constant.
    pub fn equate(&mut self, name: String, value: Node, class: Class, listed: &mut Listed) {
        if value.constant().is_none() {
            listed.equated.push(name.clone());
            listed.rows += 1;
            let name = self.unique(name);
            self.rows.push(Row { name, value, class, nu: None, drive: None });
        }
    }

    pub fn name_of(&self, part: usize) -> String {
        let names: Vec<&str> = self.layout.parts[part].bodies.iter().map(|b| self.model.body_name(*b)).collect();
        names.join("+")
    }

    pub fn local(&self, item: usize, place: usize) -> Option<V> {
        self.layout.local(item, place)
    }

    pub fn points_of(&self, part: usize) -> Vec<(usize, V)> {
        self.layout.points_on[part].clone()
    }

    /// Points and vectors that describe a part in the file, in their order; none unless they are requested.
    pub fn file_items(&self, part: usize) -> Vec<(usize, V, bool)> {
        if !self.choice.file {
            return Vec::new();
        }
        let group = self.layout.parts[part].group;
        let (points, vectors) = (self.points_of(part), self.vectors_of(group));
        let near = 1e-9 * self.model.length;
        let of = |b: &Basic| {
            let same = if b.vector {
                let d = self.layout.direction(b.body, &b.s);
                vectors.iter().find(|(_, loc)| loc.cross(&d).norm() < 1e-9)
            } else {
                let p = self.layout.point(b.body, &b.s);
                points.iter().find(|(_, loc)| (loc - p).norm() < near)
            };
            same.map(|(k, loc)| (*k, *loc, !b.vector))
        };
        self.model.basis.iter().filter(|b| self.layout.part_of[b.body.index()] == part).filter_map(of).collect()
    }

    pub fn vectors_of(&self, group: usize) -> Vec<(usize, V)> {
        self.layout.vectors_on[group].clone()
    }

    /// Whether the items lie together on a finished part, so that their relative position is correct already.
    pub fn together(&self, items: &[usize]) -> bool {
        let holds = |p: usize| {
            let g = self.layout.parts[p].group;
            self.done[p] && items.iter().all(|&k| self.local(k, if self.layout.items[k].point { p } else { g }).is_some())
        };
        match items.iter().find(|&&k| self.layout.items[k].point) {
            Some(&k) => self.layout.items[k].on.iter().any(|(p, _)| holds(*p)),
            None => items.first().is_some_and(|&k| {
                let groups = self.layout.items[k].on.iter().map(|(g, _)| *g);
                groups.flat_map(|g| self.layout.parts_of[g].iter()).any(|&p| holds(p))
            }),
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

    /// Whether the angle of a joint is needed as a coordinate.
    pub fn needs_angle(&self, joint: usize) -> bool {
        self.angles[joint]
    }
}

/// Sets a number to zero if it is a rounding error of zero.
pub(super) fn snapped(x: f64, size: f64) -> f64 {
    if x.abs() < 4e-15 * size { 0.0 } else { x }
}

/// A right-handed frame with `n` as third axis; if `n` is an axis of the world, the frame only permutes the axes.
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
