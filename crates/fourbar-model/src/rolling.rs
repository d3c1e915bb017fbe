//! Velocity constraints that cannot be integrated to positions (Pfaffian): rolling and the knife edge.
//!
//! Each element gives one or two rows `B(q) v = 0`. Rows are written once over any scalar, so that their rates and variations come from
//! Taylor numbers. Elements of files roll on a plane fixed in the world; at a sticking contact spot, two bodies roll on each other.

use crate::contact::Spot;
use crate::coordinate::PoseOf;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, Scalar, Taylor};
use nalgebra::{Matrix3, Matrix6, Vector3};
use smallvec::SmallVec;
use std::sync::Arc;

/// The kind of rolling element.
#[derive(Clone, Debug)]
pub enum RollingKind {
    /// A blade: no velocity along the body-fixed direction across it.
    KnifeEdge {
        /// Direction across the blade, body axes.
        across: Vector3<f64>,
    },
    /// A ball: the material point at the contact is at rest.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A thin disk: the material point at the contact is at rest.
    Disk {
        /// Axis of the disk, body axes.
        axis: Vector3<f64>,
        /// Radius.
        radius: f64,
    },
    /// A spot where two bodies touch: their material points there have equal tangential velocities. The first body of the spot is in slot
    /// 1, the second in slot 0.
    Spot {
        /// The spot.
        spot: Arc<Spot>,
        /// A direction on the second body, body axes, from which the tangential directions are constructed; `None`: bodies slide.
        axis: Option<Vector3<f64>>,
    },
}

/// A rolling element of one body on a plane of the world, or of two bodies on each other.
#[derive(Clone, Debug)]
pub struct Rolling {
    /// Centre (or the blade's point) relative to the centre of mass, body axes.
    pub s: Vector3<f64>,
    /// Normal of the plane, world.
    pub n: Vector3<f64>,
    /// Two directions in the plane, world.
    pub t: [Vector3<f64>; 2],
    /// The kind of rolling element.
    pub kind: RollingKind,
}

/// A row with any scalar: linear and angular part for one body.
type RowOf<S> = (Vector3<S>, Vector3<S>);
/// The same for the bodies of slots 0 and 1.
pub type RowsOf<S> = SmallVec<[[RowOf<S>; 2]; 2]>;

/// Blocks of a matrix by slots.
pub type Blocks = [[Matrix6<f64>; 2]; 2];
/// Derivatives of rates, by row and slot.
pub type RatesBySlot = SmallVec<[[[f64; 6]; 2]; 2]>;

/// Vector from the centre of a disk to its lowest point.
fn to_contact<S: Scalar>(q: &PoseOf<S>, n: &Vector3<f64>, axis: &Vector3<f64>, radius: f64) -> Vector3<S> {
    let n = n.map(S::of);
    let e = q.A * axis.map(S::of);
    let m = n - e * n.dot(&e);
    m * (S::of(-radius) / m.dot(&m).sqrt())
}

/// Two unit directions along a surface with normal `n`, from a direction that is not along `n`.
pub fn along_surface<S: Scalar>(n: &Vector3<S>, axis: &Vector3<S>) -> [Vector3<S>; 2] {
    let t = axis.cross(n);
    let t = t / t.dot(&t).sqrt();
    [t, n.cross(&t)]
}

impl Rolling {
    /// Number of rows.
    pub fn count(&self) -> usize {
        match self.kind {
            RollingKind::KnifeEdge { .. } => 1,
            RollingKind::Spot { axis: None, .. } => 0,
            _ => 2,
        }
    }

    /// Its rows for any scalar, with the poses of the bodies in slots 0 and 1.
    pub fn rows_of<S: Scalar>(&self, [qi, q]: [&PoseOf<S>; 2]) -> RowsOf<S> {
        let s = self.s.map(S::of);
        let none = || (Vector3::zeros(), Vector3::zeros());
        let rho = match &self.kind {
            RollingKind::KnifeEdge { across } => {
                let a = across.map(S::of);
                return SmallVec::from_iter([[none(), (q.A * a, s.cross(&a))]]);
            }
            RollingKind::Spot { axis: None, .. } => return SmallVec::new(),
            RollingKind::Spot { spot, axis: Some(axis) } => {
                let touch = spot.touch(q, qi);
                let t = along_surface(&touch.n, &(qi.A * axis.map(S::of)));
                let row = |q: &PoseOf<S>, t: Vector3<S>| (t, q.A.tr_mul(&(touch.p - q.r).cross(&t)));
                return t.iter().map(|t| [row(qi, -t), row(q, *t)]).collect();
            }
            RollingKind::Sphere { radius } => self.n.map(|x| S::of(-radius * x)),
            RollingKind::Disk { axis, radius } => to_contact(q, &self.n, axis, *radius),
        };
        // t . (v + omega x rho) with v the velocity of the centre.
        self.t
            .iter()
            .map(|t| {
                let t = t.map(S::of);
                [none(), (t, s.cross(&q.A.tr_mul(&t)) + q.A.tr_mul(&rho.cross(&t)))]
            })
            .collect()
    }

    /// Its rows, by slot.
    pub fn rows(&self, q: [&Pose; 2]) -> SmallVec<[[Wrench; 2]; 2]> {
        let [i, j] = q.map(|q| PoseOf { r: q.r, A: q.A });
        self.rows_of([&i, &j]).into_iter().map(|r| r.map(|(F, T)| Wrench { F, T })).collect()
    }

    /// Rate of `B v` at zero acceleration, by row.
    pub fn bias(&self, q: [&Pose; 2], v: [&Twist; 2]) -> SmallVec<[f64; 2]> {
        let moving = |k: usize| {
            let (q, v) = (q[k], v[k]);
            let dA = q.A * tilde(&v.w);
            PoseOf::<Dual> {
                r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], v.v[i])),
                A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
            }
        };
        let power = |k: usize, (a, b): &RowOf<Dual>| (0..3).map(|i| a[i].c[1] * v[k].v[i] + b[i].c[1] * v[k].w[i]).sum::<f64>();
        self.rows_of([&moving(0), &moving(1)]).iter().map(|r| power(0, &r[0]) + power(1, &r[1])).collect()
    }

    /// `d(B^T lambda)/dq` by slots and, by row and slot, `d(B v)/dq`.
    pub fn variation(&self, q: [&Pose; 2], v: [&Twist; 2], lambda: &[f64]) -> (Blocks, RatesBySlot) {
        let mut K = [[Matrix6::zeros(); 2]; 2];
        let mut rates: RatesBySlot = SmallVec::from_iter((0..self.count()).map(|_| [[0.0; 6]; 2]));
        let two = matches!(self.kind, RollingKind::Spot { .. });
        let still = q.map(|q| PoseOf::<Dual> { r: q.r.map(Taylor::of), A: q.A.map(Taylor::of) });
        for l in if two { 0..2 } else { 1..2 } {
            // Rows of a single body do not depend on its position.
            for d in if two { 0..6 } else { 3..6 } {
                let mut e = Twist::zero();
                if d < 3 {
                    e.v[d] = 1.0
                } else {
                    e.w[d - 3] = 1.0
                }
                let dA = q[l].A * tilde(&e.w);
                let mut varied = still;
                varied[l] = PoseOf {
                    r: Vector3::from_fn(|i, _| Taylor::with_slope(q[l].r[i], e.v[i])),
                    A: Matrix3::from_fn(|i, j| Taylor::with_slope(q[l].A[(i, j)], dA[(i, j)])),
                };
                for (row, parts) in self.rows_of([&varied[0], &varied[1]]).iter().enumerate() {
                    for (slot, (a, b)) in parts.iter().enumerate() {
                        for k in 0..3 {
                            K[slot][l][(k, d)] += lambda[row] * a[k].c[1];
                            K[slot][l][(3 + k, d)] += lambda[row] * b[k].c[1];
                            rates[row][l][d] += a[k].c[1] * v[slot].v[k] + b[k].c[1] * v[slot].w[k];
                        }
                    }
                }
            }
        }
        (K, rates)
    }
}

/// Height of the lowest point of a disk above the origin's plane, `n . c - R sqrt(1 - (n . e)^2)`, for any scalar.
pub fn height<S: Scalar>(q: &PoseOf<S>, n: &Vector3<f64>, s: &Vector3<f64>, axis: &Vector3<f64>, radius: f64) -> S {
    let n = n.map(S::of);
    let z = n.dot(&(q.A * axis.map(S::of)));
    n.dot(&(q.r + q.A * s.map(S::of))) - S::of(radius) * (S::one() - z * z).sqrt()
}

/// Row of [`height`], for any scalar.
pub fn height_row<S: Scalar>(q: &PoseOf<S>, n: &Vector3<f64>, s: &Vector3<f64>, axis: &Vector3<f64>, radius: f64) -> RowOf<S> {
    let n = n.map(S::of);
    let e = q.A * axis.map(S::of);
    let z = n.dot(&e);
    let tilt = S::of(radius) * z / (S::one() - z * z).sqrt();
    (n, s.map(S::of).cross(&q.A.tr_mul(&n)) + q.A.tr_mul(&e.cross(&n)) * tilt)
}
