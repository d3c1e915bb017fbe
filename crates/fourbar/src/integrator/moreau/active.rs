//! Closed contacts in a step: their directions, the effect of an impulse along these on all bodies, and their conditions on velocities.

use super::joints::{Of, of};
use crate::absolute::equations::Equations;
use crate::contact::{Spot, Spots, Touch};
use crate::coordinate::PoseOf;
use crate::model::Model;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::elementary;
use nalgebra::{Matrix3, Vector3};
use std::collections::HashMap;

/// Identifies a spot of a contact.
pub type Key = (u32, u32, u32);

/// Data of a closed spot that are kept from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// Impulse along the normal, N s, and along the surface, world.
    pub normal: f64,
    pub along: Vector3<f64>,
    /// Whether it stuck.
    pub stuck: bool,
}

/// A closed spot.
#[derive(Clone, Debug)]
pub struct Active {
    /// Its identifier.
    pub key: Key,
    /// Its two bodies.
    pub bodies: [usize; 2],
    /// Whether the file names the bodies in the other order.
    pub swapped: bool,
    /// Gap in the middle of the step, m.
    pub gap: f64,
    /// Normal and two directions along the surface, as columns, world.
    pub frame: Matrix3<f64>,
    /// Rows of the relative velocity along the three directions, by body.
    pub rows: [[Wrench; 3]; 2],
    /// Changes of velocities by a unit impulse along each direction.
    pub columns: Vec<(usize, [Twist; 3])>,
    /// Change of the relative velocity by unit impulses.
    pub G: Matrix3<f64>,
    /// Size of a step towards sticking that is safe in every direction along the surface, kg.
    pub step: f64,
    /// Relative velocity before the step.
    pub before: Vector3<f64>,
    /// Relative velocity that the contact requires: at least this along the normal, exactly this along the surface if it sticks.
    pub target: Vector3<f64>,
    /// Ratio of the friction bound to the normal impulse.
    pub mu: f64,
    /// Prescribed direction of sliding along the surface, so that friction is `mu` times the normal impulse in the opposite direction;
    /// `None` if it follows from the velocities.
    pub slides: Option<[f64; 2]>,
    /// The smallest normal impulse.
    pub least: f64,
    /// Bound of the impulse in both directions, for impulses that pull as well as push: friction in a joint.
    pub within: Option<f64>,
    /// Impulse.
    pub P: Vector3<f64>,
}

impl Active {
    /// A closed spot with its directions: the normal and two along the surface, as columns, world.
    pub fn at(key: Key, spot: &Spot, touch: &Touch<f64>, frame: Matrix3<f64>, q: &[Pose]) -> Self {
        let rows = [0, 1].map(|side| {
            let q = &q[spot.bodies[side]];
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let arm = touch.p - q.r;
            [0, 1, 2].map(|k| {
                let d: Vector3<f64> = frame.column(k) * sign;
                Wrench { F: d, T: q.A.tr_mul(&arm.cross(&d)) }
            })
        });
        Self { swapped: spot.swapped, gap: touch.gap, frame, ..Self::along(key, spot.bodies, rows) }
    }

    /// An impulse along rows of two bodies, the first of which is its normal.
    pub fn along(key: Key, bodies: [usize; 2], rows: [[Wrench; 3]; 2]) -> Self {
        Self {
            key,
            bodies,
            swapped: false,
            gap: 0.0,
            frame: Matrix3::identity(),
            rows,
            columns: Vec::new(),
            G: Matrix3::zeros(),
            step: 0.0,
            before: Vector3::zeros(),
            target: Vector3::zeros(),
            mu: 0.0,
            slides: None,
            least: 0.0,
            within: None,
            P: Vector3::zeros(),
        }
    }

    /// Sets the effect of unit impulses on velocities.
    pub fn set_columns(&mut self, columns: Vec<(usize, [Twist; 3])>) {
        self.columns = columns;
        self.G = Matrix3::zeros();
        for (body, columns) in &self.columns {
            for side in (0..2).filter(|s| self.bodies[*s] == *body) {
                self.G += Matrix3::from_fn(|i, j| self.rows[side][i].power(&columns[j]));
            }
        }
        self.step = safe_step(&self.G);
    }

    /// Change of the rate of the gap by a unit normal impulse with the associated friction.
    pub fn push(&self) -> f64 {
        let d = self.slides.unwrap_or([0.0; 2]);
        self.G[(0, 0)] - self.mu * (self.G[(0, 1)] * d[0] + self.G[(0, 2)] * d[1])
    }

    /// Projects an impulse onto the admissible impulses of the contact.
    pub fn inside(&self, P: &Vector3<f64>) -> Vector3<f64> {
        if let Some(bound) = self.within {
            return Vector3::new(P.x.clamp(-bound, bound), 0.0, 0.0);
        }
        let normal = P.x.max(self.least);
        if let Some(d) = self.slides {
            return Vector3::new(normal, -self.mu * d[0] * normal, -self.mu * d[1] * normal);
        }
        let length = elementary::hypot(P.y, P.z);
        let factor = if length > self.mu * normal { self.mu * normal / length.max(f64::MIN_POSITIVE) } else { 1.0 };
        Vector3::new(normal, P.y * factor, P.z * factor)
    }

    /// Relative velocity along the three directions.
    pub fn velocity(&self, v: &[Twist]) -> Vector3<f64> {
        let part = |side: usize, k: usize| self.rows[side][k].power(&v[self.bodies[side]]);
        Vector3::from_fn(|k, _| part(0, k) + part(1, k))
    }

    /// Adds an impulse to velocities.
    pub fn add(&self, dP: &Vector3<f64>, v: &mut [Twist]) {
        for (body, columns) in &self.columns {
            let v = &mut v[*body];
            for k in 0..3 {
                v.v += columns[k].v * dP[k];
                v.w += columns[k].w * dP[k];
            }
        }
    }

    /// The impulse after one projection with relative velocity `u`: onto pushing impulses, and onto the friction disk.
    pub fn projected(&self, u: &Vector3<f64>) -> Vector3<f64> {
        let push = self.push();
        if push <= 0.0 {
            return Vector3::zeros();
        }
        let normal = self.P.x - (u.x - self.target.x) / push;
        if self.within.is_some() {
            return self.inside(&Vector3::new(normal, 0.0, 0.0));
        }
        let normal = normal.max(self.least);
        if self.slides.is_some() {
            return self.inside(&Vector3::new(normal, 0.0, 0.0));
        }
        if self.mu == 0.0 {
            return Vector3::new(normal, 0.0, 0.0);
        }
        // The effect of the change of the normal impulse along the surface is included first.
        let change = normal - self.P.x;
        let along = |k: usize| self.P[k] - self.step * (u[k] + self.G[(k, 0)] * change - self.target[k]);
        let (x, y, bound) = (along(1), along(2), self.mu * normal);
        let length = elementary::hypot(x, y);
        let factor = if length > bound { bound / length } else { 1.0 };
        Vector3::new(normal, x * factor, y * factor)
    }

    /// A change of the impulse, expressed as a velocity, m/s.
    pub fn measure(&self, d: &Vector3<f64>) -> f64 {
        let along = if self.step > 0.0 { elementary::hypot(d.y, d.z) / self.step } else { 0.0 };
        (d.x * self.G[(0, 0)]).abs().max(along)
    }

    /// Deviation of the impulse from the contact conditions, as a velocity, m/s.
    pub fn residual(&self, u: &Vector3<f64>) -> f64 {
        self.measure(&(self.projected(u) - self.P))
    }
}

/// Finds closed spots.
pub struct Finder {
    /// Bodies with constraints.
    held: Vec<bool>,
    /// Gaps up to this are closed, m.
    pub slack: f64,
}

impl Finder {
    pub fn new(model: &Model) -> Self {
        let mut held = vec![false; model.bodies.len()];
        model.all_constraints().iter().flat_map(|c| c.bodies.iter()).for_each(|b| held[b.index()] = true);
        // The ground does not move.
        held[0] = false;
        Self { held, slack: 1e-9 * model.length }
    }

    /// Closed spots at poses, with directions and gaps.
    pub fn find(&self, model: &Model, q: &[Pose], out: &mut Vec<Active>) {
        out.clear();
        let pose = |b: usize| PoseOf { r: q[b].r, A: q[b].A };
        for (c, contact) in model.contacts.iter().enumerate() {
            let mut look = |spot: &Spot, i: usize, j: usize| {
                let touch = spot.touch(&pose(spot.bodies[0]), &pose(spot.bodies[1]));
                if touch.gap > self.slack || touch.n == Vector3::zeros() {
                    return;
                }
                out.push(Active::at((c as u32, i as u32, j as u32), spot, &touch, frame_of(&touch.n), q));
            };
            match &contact.spots {
                Spots::Listed(list) => list.iter().enumerate().for_each(|(i, s)| look(s, i, 0)),
                Spots::Among(among) => {
                    let centres: Vec<Vector3<f64>> = among.balls.iter().map(|b| q[b.body].point(&b.s)).collect();
                    let mut pairs = Vec::new();
                    among.pairs(self.slack, &centres, &mut |i, j| pairs.push((i, j)));
                    pairs.sort_unstable();
                    pairs.into_iter().for_each(|(i, j)| look(&among.spot(i, j), i, j));
                }
            }
        }
    }

    /// The effect of unit impulses, with the constraints factored in `e`; and the contact conditions, from velocities before the step.
    pub fn prepare(&self, model: &Model, e: &mut Equations<'_>, v: &[Twist], kept: &HashMap<Key, Kept>, list: &mut [Active]) {
        for a in list.iter_mut() {
            self.columns(e, a);
            a.before = a.velocity(v);
            let Of::Contact(contact) = of(model, &a.key) else { continue };
            let contact = &model.contacts[contact];
            let u = a.before.x;
            // A contact that opens already may return with the same velocity: then it does no work.
            a.target = Vector3::new(if u < 0.0 { -contact.restitution * u } else { -u }, 0.0, 0.0);
            let f = &contact.friction;
            let memory = kept.get(&a.key);
            let stuck = memory.map_or(elementary::hypot(a.before.y, a.before.z) < 1e-6, |k| k.stuck);
            a.mu = if stuck { f.fixed } else { f.mu };
            if let Some(k) = memory {
                a.P = Vector3::new(k.normal, a.frame.column(1).dot(&k.along), a.frame.column(2).dot(&k.along));
            }
        }
    }

    fn columns(&self, e: &mut Equations<'_>, a: &mut Active) {
        let own = [0, 1].map(|side| {
            let w = &e.p.inverse[a.bodies[side]];
            a.rows[side].map(|r| w.apply(&r))
        });
        let mut list = std::mem::take(&mut a.columns);
        list.clear();
        if !a.bodies.iter().any(|b| self.held[*b]) {
            list.extend([0, 1].map(|side| (a.bodies[side], own[side])).into_iter().filter(|(b, _)| *b != 0));
        } else {
            let n = e.p.inverse.len();
            let mut columns = vec![[Twist::zero(); 3]; n];
            let mut free = vec![Twist::zero(); n];
            for k in 0..3 {
                free.fill(Twist::zero());
                (0..2).for_each(|side| free[a.bodies[side]] = own[side][k]);
                free[0] = Twist::zero();
                // Twice: the second pass removes the error from the compliance of the rows.
                for _ in 0..2 {
                    e.p.rates(&e.set, &free);
                    e.p.normal_part(&e.set);
                    free.iter_mut().zip(&e.p.dq).for_each(|(f, d)| *f = f.plus(&d.scaled(-1.0)));
                    free[0] = Twist::zero();
                }
                columns.iter_mut().zip(&free).for_each(|(c, f)| c[k] = *f);
            }
            let moved = |c: &[Twist; 3]| c.iter().any(|t| *t != Twist::zero());
            list.extend(columns.into_iter().enumerate().filter(|(_, c)| moved(c)));
        }
        a.set_columns(list);
    }
}

/// The inverse of the largest change of slip by a unit impulse along the surface.
fn safe_step(G: &Matrix3<f64>) -> f64 {
    let (a, b, c) = (G[(1, 1)], G[(2, 2)], 0.5 * (G[(1, 2)] + G[(2, 1)]));
    let largest = 0.5 * (a + b) + (0.25 * (a - b) * (a - b) + c * c).sqrt();
    if largest > 0.0 { 1.0 / largest } else { 0.0 }
}

/// A normal with two directions along the surface, as columns.
fn frame_of(n: &Vector3<f64>) -> Matrix3<f64> {
    let other = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let t = (other - n * n.dot(&other)).normalize();
    Matrix3::from_columns(&[*n, t, n.cross(&t)])
}
