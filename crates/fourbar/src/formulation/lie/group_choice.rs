//! The choice of group for each body, from the joints alone, which [Mueller13, section 6] leaves to future work.
//!
//! The joints on a path from the ground to a body span a set of screws; closed under the Lie bracket it is an algebra, and the body never
//! leaves the motion subgroup of that algebra, whatever the motion of the joints. On SE(3) the constraints of such a body are linear in its
//! body-fixed twist with constant coefficients, so every stage, sum of stages and exponential satisfies them: no drift. On SO(3) x R3 the
//! same holds for the hybrid velocity where turning does not carry the centre of mass along (slides, motion in a plane, turning about the
//! centre of mass itself). SE(3) is therefore worth its cost only for bodies in a proper subgroup that is not preserved on SO(3) x R3 as
//! well.

use super::space::Space;
use crate::model::{Body, Model};
use crate::state::Pose;
use nalgebra::{Vector3, Vector6};
use std::collections::VecDeque;

/// Components below this fraction of a unit screw are rounding.
const TOLERANCE: f64 = 1e-9;
/// Maximum number of names that are listed.
const NAMES: usize = 8;

type Twist = Vector6<f64>;

/// A set of screws closed under the bracket, as an orthonormal basis; lengths are in characteristic lengths, the point of
/// reference is the world's origin.
#[derive(Clone, Debug, Default)]
struct Algebra {
    basis: Vec<Twist>,
}

fn linear(x: &Twist) -> Vector3<f64> {
    x.fixed_rows::<3>(0).into()
}

fn angular(x: &Twist) -> Vector3<f64> {
    x.fixed_rows::<3>(3).into()
}

fn twist(v: Vector3<f64>, w: Vector3<f64>) -> Twist {
    Twist::new(v.x, v.y, v.z, w.x, w.y, w.z)
}

fn bracket(a: &Twist, b: &Twist) -> Twist {
    twist(angular(a).cross(&linear(b)) - angular(b).cross(&linear(a)), angular(a).cross(&angular(b)))
}

impl Algebra {
    /// All screws: a free body.
    fn full() -> Self {
        Self { basis: (0..6).map(|k| Twist::ith(k, 1.0)).collect() }
    }

    /// Component of a screw outside the span.
    fn outside(&self, x: &Twist) -> Twist {
        // Twice, so that rounding of the first pass is not taken for a direction.
        (0..2).fold(*x, |x, _| self.basis.iter().fold(x, |x, b| x - b * b.dot(&x)))
    }

    /// Adds a screw; returns whether it was new.
    fn add(&mut self, x: &Twist) -> bool {
        let rest = self.outside(x);
        let new = rest.norm() > TOLERANCE * x.norm().max(1.0);
        if new {
            self.basis.push(rest.normalize());
        }
        new
    }

    /// The smallest algebra that contains this one and more screws.
    fn with(&self, more: &[Twist]) -> Self {
        let mut out = self.clone();
        let mut grown = false;
        for x in more {
            grown |= out.add(x);
        }
        while grown {
            grown = false;
            for i in 0..out.basis.len() {
                for j in 0..i {
                    let b = bracket(&out.basis[i], &out.basis[j]);
                    grown |= out.add(&b);
                }
            }
        }
        out
    }

    /// The same screws relative to another point of reference.
    fn seen_from(&self, p: &Vector3<f64>) -> Self {
        let mut out = Self::default();
        for x in &self.basis {
            out.add(&twist(linear(x) + angular(x).cross(p), angular(x)));
        }
        out
    }

    /// Whether the hybrid velocities of a body (at its centre of mass) keep their span as it moves. Moving along `y` changes the velocity
    /// of `x` by `w_x x v_y` in the world and its angular part by `w_x x w_y` in the body.
    fn is_straight(&self) -> bool {
        self.basis.iter().all(|x| {
            self.basis.iter().all(|y| {
                let change = twist(angular(x).cross(&linear(y)), angular(x).cross(&angular(y)));
                self.outside(&change).norm() <= TOLERANCE
            })
        })
    }

    /// The motion in words.
    fn words(&self) -> &'static str {
        let pitch = |x: &Twist| linear(x).dot(&angular(x)).abs() > TOLERANCE;
        match self.basis.as_slice() {
            [x] if pitch(x) => "screwing along a fixed axis",
            [_] => "turning about a fixed axis",
            [_, _] => "turning about and sliding along a fixed axis",
            [_, _, _] if !self.basis.iter().any(pitch) => "turning about a fixed point",
            _ => "in a motion subgroup",
        }
    }
}

/// Screws of a joint in the world, at the start.
fn freedoms(model: &Model, joint: usize, q: &[Pose]) -> Vec<Twist> {
    let j = &model.joints[joint];
    let [qi, qj] = j.bodies.map(|b| &q[b.index()]);
    let (F, M) = (qi.A * j.F.R, qj.A * j.M.R);
    let origin = qj.point(&j.M.s);
    let p = F.tr_mul(&(origin - qi.point(&j.F.s)));
    let screws = j.kind.freedoms(&p, &F.tr_mul(&M));
    let screw = |[v, w]: [Vector3<f64>; 2]| {
        let (v, w) = (F * v, F * w);
        twist((v - w.cross(&origin)) / model.length, w)
    };
    screws.into_iter().map(screw).collect()
}

/// The smallest algebra of each body over all paths from the ground. A body is examined again whenever its algebra has shrunk, which
/// happens at most six times, so that the cost is proportional to the number of joints.
fn algebras(model: &Model, q: &[Pose]) -> Vec<Algebra> {
    let mut incident: Vec<Vec<usize>> = vec![Vec::new(); model.bodies.len()];
    for (k, j) in model.joints.iter().enumerate().filter(|(_, j)| !j.open) {
        j.bodies.iter().for_each(|b| incident[b.index()].push(k));
    }
    let mut list = vec![Algebra::full(); model.bodies.len()];
    list[0] = Algebra::default();
    let mut queue = VecDeque::from([0]);
    while let Some(from) = queue.pop_front() {
        for &k in &incident[from] {
            let [i, j] = model.joints[k].bodies.map(|b| b.index());
            let to = if i == from { j } else { i };
            if list[from].basis.len() >= list[to].basis.len() {
                continue;
            }
            let candidate = list[from].with(&freedoms(model, k, q));
            if candidate.basis.len() < list[to].basis.len() {
                list[to] = candidate;
                queue.push_back(to);
            }
        }
    }
    list
}

/// Chooses the group of each body and states the reason.
pub fn tailored(model: &Model, q: &[Pose]) -> (Space, String) {
    let algebras = algebras(model, q);
    let mut screw = vec![false; model.bodies.len()];
    let mut reasons: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for (b, body) in model.bodies.iter().enumerate().skip(1) {
        let algebra = &algebras[b];
        screw[b] = algebra.basis.len() < 6 && !algebra.seen_from(&(q[b].r / model.length)).is_straight();
        if screw[b] {
            let words = algebra.words();
            match reasons.iter_mut().find(|(w, _)| *w == words) {
                Some((_, names)) => names.push(&body.name),
                None => reasons.push((words, vec![&body.name])),
            }
        }
    }
    let rest: Vec<&str> = model.bodies.iter().zip(&screw).skip(1).filter(|(_, s)| !**s).map(|(b, _): (&Body, _)| b.name.as_str()).collect();
    let mut parts: Vec<String> = reasons.iter().map(|(words, names)| format!("SE(3) for {} ({words})", named(names))).collect();
    if !rest.is_empty() {
        parts.push(format!("SO(3) x R3 for {}", named(&rest)));
    }
    (Space { screw }, format!("state space: {}", parts.join("; ")))
}

pub(super) fn named(names: &[&str]) -> String {
    let mut text = names.iter().take(NAMES).map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    if names.len() > NAMES {
        text.push_str(&format!(" and {} more", names.len() - NAMES));
    }
    text
}
