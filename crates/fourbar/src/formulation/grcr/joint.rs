//! Tree joints: relative pose from coordinates and back, motion columns, retract.
//!
//! A joint joins frame F on its base to frame M on its moving body. The properties of each type are in a separate file
//! ([`crate::joint::reading`]); spherical and free joints carry a unit quaternion, scalar first, of M against F, with speeds along the axes
//! of M. Columns come in groups; the bias of a joint is `V xm x` per group with `x` the group's motion, so that no joint needs a special
//! formula for it.

use super::spatial::Six;
use crate::joint::{Fixed, Free, JointKind, Motion, TreeShape};
use crate::model::JointCoordinate;
use fourbar_math::elementary;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use std::f64::consts::PI;

type V = Vector3<f64>;
type M3 = Matrix3<f64>;

/// A joint of the tree, or the absence of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// The joint; `None` for a free body.
    joint: Option<JointKind>,
    shape: &'static TreeShape,
    speeds: u32,
    stored: u32,
}

impl Kind {
    fn new(joint: Option<JointKind>, shape: &'static TreeShape) -> Self {
        let speeds = shape.speeds() as u32;
        Self { joint, shape, speeds, stored: speeds + u32::from(shape.quaternion.is_some()) }
    }

    /// The tree form of a joint of a model; `None` for joints that always close a loop.
    pub fn of(kind: &JointKind) -> Option<Self> {
        kind.tree_shape().map(|shape| Self::new(Some(kind.clone()), shape))
    }

    /// A weld.
    pub fn fixed() -> Self {
        Self::new(Some(JointKind::Fixed(Fixed)), &TreeShape::NONE)
    }

    /// No joint: position in F, then quaternion.
    pub fn free() -> Self {
        Self::new(None, &Free::SHAPE)
    }

    /// Whether it is only a rotation about z.
    #[inline]
    pub fn is_hinge(&self) -> bool {
        self.shape.hinge
    }

    /// Number of speeds.
    #[inline]
    pub fn speeds(&self) -> usize {
        self.speeds as usize
    }

    /// Number of stored coordinates.
    #[inline]
    pub fn stored(&self) -> usize {
        self.stored as usize
    }

    /// Columns of the groups, in order from base to moving body.
    #[inline]
    pub fn groups(&self) -> &'static [usize] {
        self.shape.groups
    }

    /// Whether column `k` is a translation.
    pub fn slides(&self, k: usize) -> bool {
        k < self.shape.slides
    }

    /// Name of column `k` in reports.
    pub fn column_name(&self, k: usize) -> &'static str {
        self.shape.names.get(k).copied().unwrap_or_default()
    }

    /// The column that corresponds to a coordinate, and the factor from the coordinate to the column.
    pub fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
        self.joint.as_ref()?.driven(which)
    }

    /// Rotation and origin of M in F.
    #[inline]
    pub fn relative(&self, q: &[f64]) -> (M3, V) {
        match &self.joint {
            Some(j) => j.relative(q),
            None => Free::relative(q),
        }
    }

    /// Coordinates of a relative pose; counted angles are chosen nearest to `angle`.
    pub fn coordinates(&self, R: &M3, p: &V, angle: f64, q: &mut [f64]) {
        match &self.joint {
            Some(j) => j.coordinates(R, p, angle, q),
            None => Free::coordinates(R, p, q),
        }
    }

    /// Speeds of a relative motion in world axes: velocity `v` of the origin of M against F, angular velocity `w`.
    pub fn speeds_of(&self, q: &[f64], F: &M3, M: &M3, v: &V, w: &V, u: &mut [f64]) {
        match &self.joint {
            Some(j) => j.speeds(q, F, M, v, w, u),
            None => Free::speeds(F, M, v, w, u),
        }
    }

    /// Columns in the world: axes of F and M, origin of M from the reference point.
    #[inline]
    pub fn columns(&self, q: &[f64], F: &M3, M: &M3, p: &V, out: &mut [Six]) {
        let mut put = |k: usize, motion: Motion| {
            out[k] = match motion {
                Motion::Slide(a) => Six::slide(a),
                Motion::Turn(a) => Six::turn(a, p),
                Motion::Helix(a, h) => Six { l: p.cross(&a) + a * h, a },
            }
        };
        match &self.joint {
            Some(j) => j.columns(q, F, M, &mut put),
            None => Free::columns(F, M, &mut put),
        }
    }

    /// Second derivative of the origin of M in F by the first coordinate, for joints whose first column bends.
    pub fn bend(&self, q: &[f64]) -> Option<V> {
        if self.shape.bends { self.joint.as_ref().map(|j| j.bend(q)) } else { None }
    }

    /// Whether its first column bends.
    pub fn bends(&self) -> bool {
        self.shape.bends
    }

    /// Place of the quaternion in the coordinates and of its rates in the speeds, if there is one.
    #[inline]
    pub fn quaternion(&self) -> Option<(usize, usize)> {
        self.shape.quaternion
    }

    /// `to = from o exp(d)`.
    pub fn retract(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let plain = self.quaternion().map_or(self.speeds(), |x| x.1);
        for k in 0..plain {
            to[k] = from[k] + d[k];
        }
        if let Some((at, rates)) = self.quaternion() {
            let d = V::new(d[rates], d[rates + 1], d[rates + 2]);
            let half = 0.5 * d.norm();
            // Series of sin(x)/x where the quotient loses digits.
            let k = if half < 1e-4 { 0.5 * (1.0 - half * half / 6.0) } else { 0.5 * elementary::sin(half) / half };
            let (c, v) = (elementary::cos(half), d * k);
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

    /// Converts a rate at `from o exp(d)` into the rate of `d`.
    pub fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        if let Some((_, k)) = self.quaternion() {
            let psi = V::new(d[k], d[k + 1], d[k + 2]);
            let w = so3::tangent_inv(&psi) * V::new(f[k], f[k + 1], f[k + 2]);
            f[k..k + 3].copy_from_slice(w.as_slice());
        }
    }

    /// Whether an increment keeps its rotation below half a turn.
    pub fn fits(&self, d: &[f64]) -> bool {
        self.quaternion().is_none_or(|(_, k)| d[k] * d[k] + d[k + 1] * d[k + 1] + d[k + 2] * d[k + 2] < PI * PI)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> crate::curve::Path {
        let points = [(0.6, 0.0), (0.1, 0.5), (-0.5, 0.1), (0.0, -0.4)].map(|(x, y)| nalgebra::Vector2::new(x, y));
        crate::curve::Path { curve: std::sync::Arc::new(crate::curve::Curve::new(points.to_vec(), true).unwrap()), offset: -0.1 }
    }

    fn kinds() -> Vec<Kind> {
        use crate::joint::*;
        let joints = [
            JointKind::Fixed(Fixed),
            JointKind::Revolute(Revolute),
            JointKind::Prismatic(Prismatic),
            JointKind::Screw(Screw { lead: 0.2 }),
            JointKind::Cylindrical(Cylindrical),
            JointKind::Universal(Universal),
            JointKind::Planar(Planar),
            JointKind::Spherical(Spherical),
            JointKind::PointOnCurve(PointOnCurve { path: path() }),
        ];
        joints.iter().filter_map(Kind::of).chain([Kind::free()]).collect()
    }

    #[test]
    fn a_shape_names_every_column_and_its_groups_hold_them_all() {
        assert_eq!(kinds().len(), 10);
        for kind in kinds() {
            assert_eq!(kind.shape.names.len(), kind.speeds(), "{kind:?}");
            assert!(kind.shape.slides <= kind.speeds());
        }
    }

    fn sample(kind: &Kind) -> Vec<f64> {
        let mut q: Vec<f64> = (0..kind.stored()).map(|k| 0.3 - 0.17 * k as f64).collect();
        if let Some((at, _)) = kind.quaternion() {
            let n = q[at..at + 4].iter().map(|x| x * x).sum::<f64>().sqrt();
            q[at..at + 4].iter_mut().for_each(|x| *x /= n);
        }
        q
    }

    #[test]
    fn coordinates_undo_the_relative_pose() {
        for kind in kinds() {
            let q = sample(&kind);
            let (R, p) = kind.relative(&q);
            let mut back = vec![0.0; kind.stored()];
            kind.coordinates(&R, &p, 0.3, &mut back);
            let (R2, p2) = kind.relative(&back);
            assert!((R - R2).norm() < 1e-14 && (p - p2).norm() < 1e-14, "{kind:?}");
        }
    }

    /// The columns are the derivative of the relative pose along the retract, and speeds are recovered from that motion.
    #[test]
    fn columns_are_the_derivative_of_the_pose() {
        let h = 1e-6;
        for kind in kinds() {
            let (q, n) = (sample(&kind), kind.speeds());
            let (F, O) = (so3::exp(&V::new(0.2, -0.7, 0.4)), V::new(0.1, 0.2, -0.3));
            let (R, p) = kind.relative(&q);
            let M = F * R;
            let mut S = [Six::default(); 6];
            kind.columns(&q, &F, &M, &(O + F * p), &mut S);
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
                kind.speeds_of(&q, &F, &M, &v, &w, &mut u);
                assert!((0..n).all(|i| (u[i] - f64::from(i == k)).abs() < 1e-9), "{kind:?} {u:?}");
            }
        }
    }
}
