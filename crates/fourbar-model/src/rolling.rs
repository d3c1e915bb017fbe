//! Velocity constraints that cannot be integrated to positions (Pfaffian): rolling and the knife edge.
//!
//! Each element gives one or two rows `B(q) v = 0`. Rows are written once over any scalar, so that their rates and
//! variations come from Taylor numbers. Bodies roll on a plane fixed in the world.

use crate::coordinate::PoseOf;
use crate::state::{Pose, Twist};
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, Scalar, Taylor};
use nalgebra::{Matrix3, Matrix6, Vector3};
use smallvec::SmallVec;

/// What rolls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RollingKind {
    /// A blade: no velocity along the body-fixed direction across it.
    KnifeEdge {
        /// Direction across the blade, body axes.
        across: Vector3<f64>,
    },
    /// A ball: the material point at the contact rests.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A thin disk: the material point at the contact rests.
    Disk {
        /// Axis of the disk, body axes.
        axis: Vector3<f64>,
        /// Radius.
        radius: f64,
    },
}

/// A rolling element of one body on a plane of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rolling {
    /// Slot of the body in its constraint.
    pub slot: usize,
    /// Centre (or the blade's point) relative to the centre of mass, body axes.
    pub s: Vector3<f64>,
    /// Normal of the plane, world.
    pub n: Vector3<f64>,
    /// Two directions in the plane, world.
    pub t: [Vector3<f64>; 2],
    /// What rolls.
    pub kind: RollingKind,
}

/// A row with any scalar: linear and angular part.
type RowOf<S> = (Vector3<S>, Vector3<S>);

/// Vector from the centre of a disk to its lowest point.
fn to_contact<S: Scalar>(q: &PoseOf<S>, n: &Vector3<f64>, axis: &Vector3<f64>, radius: f64) -> Vector3<S> {
    let n = n.map(S::of);
    let e = q.A * axis.map(S::of);
    let m = n - e * n.dot(&e);
    m * (S::of(-radius) / m.dot(&m).sqrt())
}

impl Rolling {
    /// Number of rows.
    pub fn count(&self) -> usize {
        if matches!(self.kind, RollingKind::KnifeEdge { .. }) { 1 } else { 2 }
    }

    /// Its rows for any scalar.
    pub fn rows_of<S: Scalar>(&self, q: &PoseOf<S>) -> SmallVec<[RowOf<S>; 2]> {
        let s = self.s.map(S::of);
        let rho = match self.kind {
            RollingKind::KnifeEdge { across } => {
                let a = across.map(S::of);
                return SmallVec::from_iter([(q.A * a, s.cross(&a))]);
            }
            RollingKind::Sphere { radius } => self.n.map(|x| S::of(-radius * x)),
            RollingKind::Disk { axis, radius } => to_contact(q, &self.n, &axis, radius),
        };
        // t . (v + omega x rho) with v the velocity of the centre.
        self.t
            .iter()
            .map(|t| {
                let t = t.map(S::of);
                (t, s.cross(&q.A.tr_mul(&t)) + q.A.tr_mul(&rho.cross(&t)))
            })
            .collect()
    }

    /// Its rows.
    pub fn rows(&self, q: &Pose) -> SmallVec<[Twist; 2]> {
        self.rows_of(&PoseOf { r: q.r, A: q.A }).into_iter().map(|(v, w)| Twist { v, w }).collect()
    }

    /// Rate of `B v` at zero acceleration, by row.
    pub fn bias(&self, q: &Pose, v: &Twist) -> SmallVec<[f64; 2]> {
        let dA = q.A * tilde(&v.w);
        let moving = PoseOf::<Dual> {
            r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], v.v[i])),
            A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
        };
        self.rows_of(&moving).iter().map(|(a, b)| (0..3).map(|k| a[k].c[1] * v.v[k] + b[k].c[1] * v.w[k]).sum()).collect()
    }

    /// `d(B^T lambda)/dq` and, by row, `d(B v)/dq`.
    pub fn variation(&self, q: &Pose, v: &Twist, lambda: &[f64]) -> (Matrix6<f64>, SmallVec<[[f64; 6]; 2]>) {
        let mut K = Matrix6::zeros();
        let mut rates: SmallVec<[[f64; 6]; 2]> = SmallVec::from_iter((0..self.count()).map(|_| [0.0; 6]));
        for d in 3..6 {
            let mut e = Vector3::zeros();
            e[d - 3] = 1.0;
            let dA = q.A * tilde(&e);
            let varied = PoseOf::<Dual> { r: q.r.map(Taylor::of), A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])) };
            for (row, (a, b)) in self.rows_of(&varied).iter().enumerate() {
                for k in 0..3 {
                    K[(k, d)] += lambda[row] * a[k].c[1];
                    K[(3 + k, d)] += lambda[row] * b[k].c[1];
                    rates[row][d] += a[k].c[1] * v.v[k] + b[k].c[1] * v.w[k];
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
