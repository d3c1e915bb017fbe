//! Tree joints as sequences of columns: relative pose from coordinates and back, motion columns, retract.
//!
//! A joint joins frame F on its base to frame M on its moving body. Its coordinates are those of the file (angle from x of F to
//! x of M about z, distance along z); spherical and free joints carry a unit quaternion, scalar first, of M against F, with speeds along
//! the axes of M. Columns come in groups; the bias of a joint is `V xm x` per group with `x` the group's motion, so no joint has a formula
//! of its own for it.

use super::spatial::Six;
use crate::joint::JointKind;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

type V = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Joints that can stand in the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A weld.
    Fixed,
    /// A hinge.
    Revolute,
    /// A slide.
    Prismatic,
    /// A screw, metres per radian.
    Screw(f64),
    /// Distance, then angle.
    Cylindrical,
    /// Turn about z of F, then about z of M.
    Universal,
    /// x, y, then angle.
    Planar,
    /// A ball.
    Spherical,
    /// No joint at all: position in F, then quaternion.
    Free,
}

/// z onto x: between the two turns of a universal joint.
fn quarter() -> M3 {
    M3::new(0.0, 0.0, 1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0)
}

fn about_z(angle: f64) -> M3 {
    let (s, c) = angle.sin_cos();
    M3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
}

/// Angle of a rotation about z, on the turn nearest to `last`.
fn z_angle(R: &M3, last: f64) -> f64 {
    let a = (R[(1, 0)] - R[(0, 1)]).atan2(R[(0, 0)] + R[(1, 1)]);
    a + 2.0 * PI * ((last - a) / (2.0 * PI)).round()
}

impl Kind {
    /// The tree form of a joint of a model; `None` for those that always close a loop.
    pub fn of(kind: &JointKind) -> Option<Self> {
        Some(match kind {
            JointKind::Revolute(_) => Kind::Revolute,
            JointKind::Prismatic(_) => Kind::Prismatic,
            JointKind::Cylindrical(_) => Kind::Cylindrical,
            JointKind::Screw(s) => Kind::Screw(s.lead / (2.0 * PI)),
            JointKind::Spherical(_) => Kind::Spherical,
            JointKind::Universal(_) => Kind::Universal,
            JointKind::Planar(_) => Kind::Planar,
            JointKind::Fixed(_) => Kind::Fixed,
            JointKind::Distance(_) | JointKind::PointOnLine(_) | JointKind::PointOnPlane(_) | JointKind::Angle(_) => return None,
        })
    }

    /// Number of speeds.
    pub fn speeds(self) -> usize {
        match self {
            Kind::Fixed => 0,
            Kind::Revolute | Kind::Prismatic | Kind::Screw(_) => 1,
            Kind::Cylindrical | Kind::Universal => 2,
            Kind::Planar | Kind::Spherical => 3,
            Kind::Free => 6,
        }
    }

    /// Number of stored coordinates.
    pub fn stored(self) -> usize {
        match self {
            Kind::Spherical => 4,
            Kind::Free => 7,
            _ => self.speeds(),
        }
    }

    /// Columns of the groups, in order from base to moving body.
    pub fn groups(self) -> &'static [usize] {
        match self {
            Kind::Fixed => &[],
            Kind::Revolute | Kind::Prismatic | Kind::Screw(_) => &[1],
            Kind::Cylindrical | Kind::Universal => &[1, 1],
            Kind::Planar => &[1, 1, 1],
            Kind::Spherical => &[3],
            Kind::Free => &[3, 3],
        }
    }

    /// Whether column `k` is a translation.
    pub fn slides(self, k: usize) -> bool {
        match self {
            Kind::Prismatic => true,
            Kind::Cylindrical => k == 0,
            Kind::Planar => k < 2,
            Kind::Free => k < 3,
            _ => false,
        }
    }

    /// What column `k` is called in reports.
    pub fn column_name(self, k: usize) -> &'static str {
        match self {
            Kind::Revolute | Kind::Screw(_) => "angle",
            Kind::Prismatic => "distance",
            Kind::Cylindrical => ["distance", "angle"][k.min(1)],
            Kind::Universal => ["first turn", "second turn"][k.min(1)],
            Kind::Planar => ["x", "y", "angle"][k.min(2)],
            Kind::Spherical => ["turn x", "turn y", "turn z"][k.min(2)],
            Kind::Free => ["x", "y", "z", "turn x", "turn y", "turn z"][k.min(5)],
            Kind::Fixed => "",
        }
    }

    /// Rotation and origin of M in F.
    pub fn relative(self, q: &[f64]) -> (M3, V) {
        match self {
            Kind::Fixed => (M3::identity(), V::zeros()),
            Kind::Revolute => (about_z(q[0]), V::zeros()),
            Kind::Prismatic => (M3::identity(), V::z() * q[0]),
            Kind::Screw(h) => (about_z(q[0]), V::z() * (h * q[0])),
            Kind::Cylindrical => (about_z(q[1]), V::z() * q[0]),
            Kind::Universal => (about_z(q[0]) * quarter() * about_z(q[1]), V::zeros()),
            Kind::Planar => (about_z(q[2]), V::new(q[0], q[1], 0.0)),
            Kind::Spherical => (so3::from_quaternion(&[q[0], q[1], q[2], q[3]]), V::zeros()),
            Kind::Free => (so3::from_quaternion(&[q[3], q[4], q[5], q[6]]), V::new(q[0], q[1], q[2])),
        }
    }

    /// Coordinates of a relative pose; counted angles on the turn nearest to `angle`.
    pub fn coordinates(self, R: &M3, p: &V, angle: f64, q: &mut [f64]) {
        match self {
            Kind::Fixed => {}
            Kind::Revolute | Kind::Screw(_) => q[0] = z_angle(R, angle),
            Kind::Prismatic => q[0] = p.z,
            Kind::Cylindrical => (q[0], q[1]) = (p.z, z_angle(R, angle)),
            Kind::Universal => {
                q[0] = R[(1, 2)].atan2(R[(0, 2)]);
                q[1] = z_angle(&(quarter().transpose() * about_z(-q[0]) * R), 0.0);
            }
            Kind::Planar => (q[0], q[1], q[2]) = (p.x, p.y, z_angle(R, angle)),
            Kind::Spherical => q[..4].copy_from_slice(&so3::quaternion(R)),
            Kind::Free => {
                q[..3].copy_from_slice(p.as_slice());
                q[3..7].copy_from_slice(&so3::quaternion(R));
            }
        }
    }

    /// Speeds of a relative motion in world axes: velocity `v` of the origin of M against F, angular velocity `w`.
    pub fn speeds_of(self, F: &M3, M: &M3, v: &V, w: &V, u: &mut [f64]) {
        let (z, z_m) = (F.column(2), M.column(2));
        match self {
            Kind::Fixed => {}
            Kind::Revolute | Kind::Screw(_) => u[0] = z.dot(w),
            Kind::Prismatic => u[0] = z.dot(v),
            Kind::Cylindrical => (u[0], u[1]) = (z.dot(v), z.dot(w)),
            Kind::Universal => (u[0], u[1]) = (z.dot(w), z_m.dot(w)),
            Kind::Planar => (u[0], u[1], u[2]) = (F.column(0).dot(v), F.column(1).dot(v), z.dot(w)),
            Kind::Spherical => u[..3].copy_from_slice(M.tr_mul(w).as_slice()),
            Kind::Free => {
                u[..3].copy_from_slice(F.tr_mul(v).as_slice());
                u[3..6].copy_from_slice(M.tr_mul(w).as_slice());
            }
        }
    }

    /// Columns in the world: axes of F and M, origin of M from the reference point.
    #[inline]
    pub fn columns(self, F: &M3, M: &M3, p: &V, out: &mut [Six]) {
        let axis = |A: &M3, k: usize| -> V { A.column(k).into() };
        match self {
            Kind::Fixed => {}
            Kind::Revolute => out[0] = Six::turn(axis(F, 2), p),
            Kind::Prismatic => out[0] = Six::slide(axis(F, 2)),
            Kind::Screw(h) => {
                let a = axis(F, 2);
                out[0] = Six { l: p.cross(&a) + a * h, a };
            }
            Kind::Cylindrical => (out[0], out[1]) = (Six::slide(axis(F, 2)), Six::turn(axis(F, 2), p)),
            Kind::Universal => (out[0], out[1]) = (Six::turn(axis(F, 2), p), Six::turn(axis(M, 2), p)),
            Kind::Planar => {
                out[0] = Six::slide(axis(F, 0));
                out[1] = Six::slide(axis(F, 1));
                out[2] = Six::turn(axis(F, 2), p);
            }
            Kind::Spherical => {
                for (k, o) in out.iter_mut().enumerate().take(3) {
                    *o = Six::turn(axis(M, k), p);
                }
            }
            Kind::Free => {
                for k in 0..3 {
                    out[k] = Six::slide(axis(F, k));
                    out[3 + k] = Six::turn(axis(M, k), p);
                }
            }
        }
    }

    /// Place of the quaternion in the coordinates and of its rates in the speeds, where there is one.
    pub fn quaternion(self) -> Option<(usize, usize)> {
        match self {
            Kind::Spherical => Some((0, 0)),
            Kind::Free => Some((3, 3)),
            _ => None,
        }
    }

    /// `to = from o exp(d)`.
    pub fn retract(self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let plain = self.quaternion().map_or(self.speeds(), |x| x.1);
        for k in 0..plain {
            to[k] = from[k] + d[k];
        }
        if let Some((at, rates)) = self.quaternion() {
            let d = V::new(d[rates], d[rates + 1], d[rates + 2]);
            let half = 0.5 * d.norm();
            // sin(x)/x by its series where the quotient loses digits.
            let k = if half < 1e-4 { 0.5 * (1.0 - half * half / 6.0) } else { 0.5 * half.sin() / half };
            let (c, v) = (half.cos(), d * k);
            let (s, p) = (from[at], V::new(from[at + 1], from[at + 2], from[at + 3]));
            let scalar = s * c - p.dot(&v);
            let vector = v * s + p * c + p.cross(&v);
            let norm = (scalar * scalar + vector.norm_squared()).sqrt();
            to[at] = scalar / norm;
            for i in 0..3 {
                to[at + 1 + i] = vector[i] / norm;
            }
        }
    }

    /// Turns a rate at `from o exp(d)` into the rate of `d`.
    pub fn pull_back(self, d: &[f64], f: &mut [f64]) {
        if let Some((_, k)) = self.quaternion() {
            let psi = V::new(d[k], d[k + 1], d[k + 2]);
            let w = so3::tangent_inv(&psi) * V::new(f[k], f[k + 1], f[k + 2]);
            f[k..k + 3].copy_from_slice(w.as_slice());
        }
    }

    /// Whether an increment keeps its rotation below half a turn.
    pub fn fits(self, d: &[f64]) -> bool {
        self.quaternion().is_none_or(|(_, k)| d[k] * d[k] + d[k + 1] * d[k + 1] + d[k + 2] * d[k + 2] < PI * PI)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 9] = [
        Kind::Fixed,
        Kind::Revolute,
        Kind::Prismatic,
        Kind::Screw(0.03),
        Kind::Cylindrical,
        Kind::Universal,
        Kind::Planar,
        Kind::Spherical,
        Kind::Free,
    ];

    fn sample(kind: Kind) -> Vec<f64> {
        let mut q: Vec<f64> = (0..kind.stored()).map(|k| 0.3 - 0.17 * k as f64).collect();
        if let Some((at, _)) = kind.quaternion() {
            let n = q[at..at + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
            q[at..at + 4].iter_mut().for_each(|x| *x /= n);
        }
        q
    }

    #[test]
    fn coordinates_undo_the_relative_pose() {
        for kind in KINDS {
            let q = sample(kind);
            let (R, p) = kind.relative(&q);
            let mut back = vec![0.0; kind.stored()];
            kind.coordinates(&R, &p, 0.3, &mut back);
            let (R2, p2) = kind.relative(&back);
            assert!((R - R2).norm() < 1e-14 && (p - p2).norm() < 1e-14, "{kind:?}");
        }
    }

    /// The columns are the derivative of the relative pose along the retract, and speeds are read back from that motion.
    #[test]
    fn columns_are_the_derivative_of_the_pose() {
        let h = 1e-6;
        for kind in KINDS {
            let (q, n) = (sample(kind), kind.speeds());
            let (F, O) = (so3::exp(&V::new(0.2, -0.7, 0.4)), V::new(0.1, 0.2, -0.3));
            let (R, p) = kind.relative(&q);
            let M = F * R;
            let mut S = [Six::default(); 6];
            kind.columns(&F, &M, &(O + F * p), &mut S);
            for k in 0..n {
                let pose = |sign: f64| {
                    let mut d = vec![0.0; n];
                    d[k] = sign * h;
                    let mut moved = q.clone();
                    kind.retract(&q, &d, &mut moved);
                    let (R, p) = kind.relative(&moved);
                    (F * R, O + F * p)
                };
                let ((A1, p1), (A0, p0)) = (pose(1.0), pose(-1.0));
                let w = so3::log(&(A1 * A0.transpose())) / (2.0 * h);
                let v = (p1 - p0) / (2.0 * h);
                let here = S[k].motion_at(&(O + F * p));
                // Central differences: h^2 and rounding 1e-16/h.
                assert!((here.l - v).norm() < 1e-9 && (here.a - w).norm() < 1e-9, "{kind:?} column {k}");
                let mut u = vec![0.0; n];
                kind.speeds_of(&F, &M, &v, &w, &mut u);
                assert!((0..n).all(|i| (u[i] - f64::from(i == k)).abs() < 1e-9), "{kind:?} {u:?}");
            }
        }
    }
}
