//! Outward kernels: consecutive hinges that reuse the motion of the preceding one, and the terms of a body for the recursion.
//!
//! Most joints of most mechanisms are hinges. Their node frames have z along the axis, in the direction of the column, so that a hinge
//! rotates only two columns of the frame; runs of hinges, each attached to the preceding one, are processed in one loop.

use super::spatial::{Inertia, Six, times};
use super::tree::{Moving, Shape, Tree};
use fourbar_math::trig;
use nalgebra::{Matrix3, Vector3};
use std::ops::Range;

type V = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Contribution of a body to the recursion.
#[derive(Clone, Copy, Debug, Default)]
pub struct Body {
    /// Inertia about its reference point.
    pub I: Inertia,
    /// Wrench on it, minus the inertia forces of the known motion.
    pub f: Six,
}

impl Body {
    /// For a body in motion: `-I (a_t - g) - V xf (I V)`, computed at the centre of mass, which takes fewer operations.
    #[inline(always)]
    pub fn moving(shape: &Shape, at: &Moving, O: &V, g: &V) -> Self {
        let (I, c, J) = Inertia::new(shape.mass, &(at.x - O), &at.E, &shape.c, &shape.J);
        let (w, a) = (&at.V.a, &at.a_t);
        let v = at.V.l + w.cross(&c);
        let F = (a.l - g + a.a.cross(&c) + w.cross(&v)) * -shape.mass;
        let T = J.apply(&a.a) + w.cross(&J.apply(w));
        Self { I, f: Six { l: F, a: c.cross(&F) - T } }
    }
}

/// Frame of the next node: the near frame of its joint turned about z.
#[inline(always)]
fn turned(E: &M3, shape: &Shape, [s, c]: [f64; 2]) -> M3 {
    let R = &shape.R;
    let x = times(E, &V::new(R.m11, R.m21, R.m31));
    let y = times(E, &V::new(R.m12, R.m22, R.m32));
    let z = times(E, &V::new(R.m13, R.m23, R.m33));
    let (x, y) = (x * c + y * s, y * c - x * s);
    M3::new(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z)
}

#[inline(always)]
fn axis(E: &M3) -> V {
    V::new(E.m13, E.m23, E.m33)
}

impl Tree {
    /// Places consecutive hinges; the parent of the first one is already placed.
    pub(super) fn place_hinges(&mut self, nodes: Range<usize>, q: &[f64]) {
        let mut p = self.begin(&nodes, q);
        let first = &self.nodes[nodes.start];
        let (u, O) = (first.u..first.u + nodes.len(), self.O[first.patch]);
        let shapes = self.shapes[nodes.clone()].iter();
        let columns = self.S[u.clone()].iter_mut().zip(&self.turned[u]);
        for ((shape, at), (S, turn)) in shapes.zip(&mut self.at[nodes]).zip(columns) {
            p.1 += times(&p.0, &shape.s);
            p.0 = turned(&p.0, shape, *turn);
            (at.E, at.x) = p;
            *S = Six::turn(axis(&p.0), &(p.1 - O));
        }
    }

    /// Computes sines and cosines, and the reference point if the first node begins a patch; returns the initial frame.
    fn begin(&mut self, nodes: &Range<usize>, q: &[f64]) -> (M3, V) {
        let first = &self.nodes[nodes.start];
        let n = nodes.len();
        trig::sin_cos(&q[first.q..first.q + n], &mut self.turned[first.u..first.u + n]);
        let p = &self.at[first.parent];
        if first.shift {
            self.O[first.patch] = p.x + times(&p.E, &self.shapes[nodes.start].s);
        }
        (p.E, p.x)
    }

    /// Twists, biases and bodies of consecutive hinges; places them first if `PLACE`.
    pub(super) fn sweep_hinges<const PLACE: bool>(&mut self, nodes: Range<usize>, q: &[f64], u: &[f64], bodies: &mut [Body]) {
        if PLACE {
            self.begin(&nodes, q);
        }
        let first = &self.nodes[nodes.start];
        let (columns, O, g) = (first.u..first.u + nodes.len(), self.O[first.patch], self.gravity);
        let mut p = self.at[first.parent];
        (p.V, p.a_t) = (self.from_parent(nodes.start, &p.V), self.from_parent(nodes.start, &p.a_t));
        let given = self.turned[columns.clone()].iter().zip(&u[columns.clone()]);
        let here = self.shapes[nodes.clone()].iter().zip(&mut self.at[nodes.clone()]);
        let out = self.S[columns].iter_mut().zip(&mut bodies[nodes]);
        for (((turn, u), (shape, at)), (S, body)) in given.zip(here).zip(out) {
            if PLACE {
                p.x += times(&p.E, &shape.s);
                p.E = turned(&p.E, shape, *turn);
                *S = Six::turn(axis(&p.E), &(p.x - O));
            } else {
                (p.E, p.x) = (at.E, at.x);
            }
            let x = *S * *u;
            p.a_t += p.V.cross_motion(&x);
            p.V += x;
            // Field by field: copying the whole struct would compile to a call.
            (at.E, at.x) = (p.E, p.x);
            (at.V, at.a_t) = (p.V, p.a_t);
            let Body { I, f } = Body::moving(shape, &p, &O, &g);
            body.I = I;
            body.f = f;
        }
    }
}
