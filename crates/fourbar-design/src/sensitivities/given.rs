//! Derivatives of the forces on a tree with respect to the bodies they depend on, for the backward pass.

use super::around::Around;
use super::lanes::Room;
use crate::tree::kernel::{V, cross, dot};
use crate::tree::linear::{Covectors, Linear, OWN, Placed};
use crate::tree::{Jet, Tree, Values};
use fourbar::Model;
use fourbar::coordinate::PoseOf;
use fourbar::force::eval::{Given, States, VelocityOf};
use nalgebra::{Matrix3, Vector3};
use std::sync::Arc;

/// Directions evaluated at once: displacement, rotation, velocity and angular velocity of one body, or values and rates of six angles.
pub(super) const LOOKS: usize = 12;
pub(super) type Look = Jet<LOOKS>;

/// The quantity that is varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Of {
    /// A body.
    Body(usize),
    /// The coordinate of a counted angle.
    Angle(usize),
}

/// The same for the tree: the node of a body with its axes, or a column.
#[derive(Clone, Copy)]
enum By {
    Node(usize, [f64; 9]),
    Column(usize),
}

/// A force on a node: derivatives of the force and of its moment about the origin with respect to a body or an angle.
struct Push {
    node: usize,
    by: By,
    F: [[f64; LOOKS]; 3],
    N: [[f64; LOOKS]; 3],
}

/// Derivatives of all forces at one evaluation.
#[derive(Default)]
pub(super) struct Pushes {
    list: Vec<Push>,
    /// Forces and moments, by node.
    acting: Vec<(usize, V<f64>, V<f64>)>,
    /// Derivatives with respect to parameters: parameter, node, force and moment.
    data: Vec<(usize, usize, V<f64>, V<f64>)>,
}

/// A parameter that changes forces: its index, the perturbed mechanisms with a factor for their weights, and the forces.
pub(super) struct Changed {
    pub parameter: usize,
    pub around: Arc<Around>,
    pub per: f64,
    pub forces: Vec<usize>,
}

/// Data common to all evaluations.
pub(super) struct Work<'a> {
    model: &'a Model,
    tree: &'a Tree,
    room: Room,
    /// Bodies and counted angles that each force depends on.
    looks: Vec<(Vec<usize>, Vec<usize>)>,
    /// Parameters that change forces.
    changed: Vec<Changed>,
}

impl<'a> Work<'a> {
    pub fn new(tree: &'a Tree, model: &'a Model, changed: Vec<Changed>) -> Self {
        let looks = model.forces.iter().map(|(_, f)| {
            let bodies = f.bodies(model);
            // Angles of joints between these bodies; a force does not depend on others.
            let own = |j: &&fourbar::model::Joint| j.bodies.iter().all(|b| b.index() == 0 || bodies.contains(&b.index()));
            let angles = model.joints.iter().filter(own).filter_map(|j| j.memory).collect();
            (bodies, angles)
        });
        Self { looks: looks.collect(), model, tree, room: Room::new(tree), changed }
    }
}

/// A plain state in which one body or one angle is varied.
pub(super) struct Varied<'a> {
    pub plain: Given<'a>,
    pub of: Of,
    /// Angular velocity of the body in world axes.
    pub w: Vector3<f64>,
}

fn lifted(x: &Vector3<f64>) -> Vector3<Look> {
    x.map(|x| Jet { x, d: [0.0; LOOKS] })
}

/// A vector that varies in three of the directions.
fn moving(x: &Vector3<f64>, from: usize) -> Vector3<Look> {
    let mut out = lifted(x);
    (0..3).for_each(|i| out[i].d[from + i] = 1.0);
    out
}

impl States<Look> for Varied<'_> {
    fn time(&self) -> f64 {
        self.plain.time()
    }
    fn pose(&self, b: usize) -> PoseOf<Look> {
        let q = self.plain.pose(b);
        let A = q.A.map(|x| Jet { x, d: [0.0; LOOKS] });
        if self.of != Of::Body(b) {
            return PoseOf { r: lifted(&q.r), A };
        }
        let turn = moving(&Vector3::zeros(), 3);
        let columns = [0, 1, 2].map(|j| A.column(j) + turn.cross(&A.column(j)));
        PoseOf { r: moving(&q.r, 0), A: Matrix3::from_columns(&columns) }
    }
    fn velocity(&self, b: usize) -> VelocityOf<Look> {
        let v = self.plain.velocity(b);
        if self.of != Of::Body(b) {
            return VelocityOf { v: lifted(&v.v), w: lifted(&v.w) };
        }
        VelocityOf { v: moving(&v.v, 6), w: self.pose(b).A.tr_mul(&moving(&self.w, 9)) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.plain.turn(memory)
    }
    fn load(&self, _joint: usize) -> Look {
        Jet::default()
    }
    fn auxiliary(&self, _k: usize) -> Look {
        Jet::default()
    }
    fn counted(&self, memory: usize) -> Option<(Look, Look)> {
        let (x, rate) = self.plain.counted(memory)?;
        let (mut x, mut rate) = (Jet { x, d: [0.0; LOOKS] }, Jet { x: rate, d: [0.0; LOOKS] });
        if self.of == Of::Angle(memory) {
            (x.d[0], rate.d[1]) = (1.0, 1.0);
        }
        Some((x, rate))
    }
}

fn three(x: &Vector3<f64>) -> V<f64> {
    (*x).into()
}

impl Pushes {
    /// Evaluates the forces and their derivatives at the state of a swept kernel.
    pub fn note(&mut self, values: &Values<'_>, t: f64, q: &[f64], u: &[f64], work: &mut Work<'_>) {
        let Work { model, tree, room, looks, changed } = work;
        if model.forces.is_empty() {
            return;
        }
        self.list.clear();
        self.acting.clear();
        self.data.clear();
        room.fill(values, t, q, u);
        let plain = room.given(t);
        for ((_, force), (bodies, angles)) in model.forces.iter().zip(looks) {
            let varied = bodies.iter().map(|b| Of::Body(*b)).chain(angles.iter().map(|a| Of::Angle(*a)));
            for (i, of) in varied.enumerate() {
                let w = if let Of::Body(b) = of { plain.plain.q[b].A * plain.plain.v[b].w } else { Vector3::zeros() };
                let state = Varied { plain, of, w };
                let by = match of {
                    Of::Body(b) => By::Node(tree.of_body[b], values.kernel.axes(tree.of_body[b])),
                    Of::Angle(memory) => By::Column(tree.counted[memory]),
                };
                force.wrench(model, &state, &mut |b, F: Vector3<Look>, torque: Vector3<Look>| {
                    if b == 0 {
                        return;
                    }
                    let q = state.pose(b);
                    let moment = q.A * torque + q.r.cross(&F);
                    let node = tree.of_body[b];
                    self.list.push(Push { node, by, F: std::array::from_fn(|i| F[i].d), N: std::array::from_fn(|i| moment[i].d) });
                    if i == 0 {
                        self.acting.push((node, std::array::from_fn(|i| F[i].x), std::array::from_fn(|i| moment[i].x)));
                    }
                });
            }
        }
        for Changed { parameter, around, per, forces } in changed.iter() {
            for (_, weight, m) in around.each() {
                let weight = weight * per;
                for &f in forces {
                    m.forces[f].1.wrench(m, &plain, &mut |b, F: Vector3<f64>, torque: Vector3<f64>| {
                        if b != 0 {
                            let pose = &plain.plain.q[b];
                            let moment = pose.A * torque + pose.r.cross(&F);
                            self.data.push((*parameter, tree.of_body[b], three(&(F * weight)), three(&(moment * weight))));
                        }
                    });
                }
            }
        }
    }

    /// Backward pass from the covectors of the wrenches of nodes.
    pub fn back(
        &self,
        linear: &Linear,
        covectors: &Covectors,
        placed: &mut [Placed],
        [by_q, by_u]: [&mut [f64]; 2],
        numbers: &mut [[f64; OWN]],
        by_parameter: &mut [f64],
    ) {
        if self.list.is_empty() && self.data.is_empty() {
            return;
        }
        for (node, F, N) in &self.acting {
            let (f, n) = covectors.of_wrench(*node);
            let to = &mut placed[*node];
            let (a, b, c) = (cross(F, &f), cross(N, &n), cross(F, &n));
            for i in 0..3 {
                to.a[i] += a[i] + b[i];
                to.l[i] += c[i];
            }
        }
        for p in &self.list {
            let (f, n) = covectors.of_wrench(p.node);
            let by: [f64; LOOKS] = std::array::from_fn(|l| {
                -(f[0] * p.F[0][l] + f[1] * p.F[1][l] + f[2] * p.F[2][l] + n[0] * p.N[0][l] + n[1] * p.N[1][l] + n[2] * p.N[2][l])
            });
            match p.by {
                By::Node(k, axes) => {
                    let part = |k: usize| [by[3 * k], by[3 * k + 1], by[3 * k + 2]];
                    linear.of_body(k, &axes, [part(0), part(1), part(2), part(3)], &mut placed[k], &mut numbers[k]);
                }
                By::Column(c) => {
                    by_q[c] += by[0];
                    by_u[c] += by[1];
                }
            }
        }
        linear.displace_back(placed, [by_q, by_u], numbers);
        for (parameter, node, F, N) in &self.data {
            let (f, n) = covectors.of_wrench(*node);
            by_parameter[*parameter] -= dot(&f, F) + dot(&n, N);
        }
    }
}
