//! Six-vectors (linear, angular) in world axes about a reference point, and rigid-body inertia about it.
//!
//! A twist is the velocity of the body point at the reference point `O` and the angular velocity; a wrench is the force and the
//! moment about `O`. With one reference point every shift along a chain is the identity, so nothing is transformed between bodies.

use nalgebra::{Matrix3, Vector3};
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

type V = Vector3<f64>;

/// A twist, acceleration or wrench.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Six {
    /// Linear part.
    pub l: V,
    /// Angular part.
    pub a: V,
}

impl Six {
    /// From its parts.
    #[inline(always)]
    pub fn new(l: V, a: V) -> Self {
        Self { l, a }
    }
    /// A translation along `a`.
    #[inline(always)]
    pub fn slide(a: V) -> Self {
        Self { l: a, a: V::zeros() }
    }
    /// A rotation about the line through `p` (from `O`) along `a`.
    #[inline(always)]
    pub fn turn(a: V, p: &V) -> Self {
        Self { l: p.cross(&a), a }
    }
    /// Inner product of a twist and a wrench.
    #[inline(always)]
    pub fn dot(&self, o: &Self) -> f64 {
        self.l.dot(&o.l) + self.a.dot(&o.a)
    }
    /// Inner product with six numbers.
    #[inline(always)]
    pub fn dot_slice(&self, x: &[f64]) -> f64 {
        self.l.x * x[0] + self.l.y * x[1] + self.l.z * x[2] + self.a.x * x[3] + self.a.y * x[4] + self.a.z * x[5]
    }
    /// From six numbers.
    #[inline(always)]
    pub fn of(x: &[f64]) -> Self {
        Self { l: V::new(x[0], x[1], x[2]), a: V::new(x[3], x[4], x[5]) }
    }
    /// Into six numbers.
    #[inline(always)]
    pub fn put(&self, x: &mut [f64]) {
        x[..3].copy_from_slice(self.l.as_slice());
        x[3..6].copy_from_slice(self.a.as_slice());
    }
    /// `V xm U`: rate of the motion `U` carried along by the twist `self`.
    #[inline(always)]
    pub fn cross_motion(&self, u: &Self) -> Self {
        Self { l: self.a.cross(&u.l) + self.l.cross(&u.a), a: self.a.cross(&u.a) }
    }
    /// `V xf F`: rate of the wrench `F` carried along by the twist `self`.
    #[inline(always)]
    pub fn cross_force(&self, f: &Self) -> Self {
        Self { l: self.a.cross(&f.l), a: self.l.cross(&f.l) + self.a.cross(&f.a) }
    }
    /// The same motion about a reference point moved by `d`.
    #[inline(always)]
    pub fn motion_at(&self, d: &V) -> Self {
        Self { l: self.l + self.a.cross(d), a: self.a }
    }
    /// The same wrench about a reference point moved by `d`.
    #[inline(always)]
    pub fn wrench_at(&self, d: &V) -> Self {
        Self { l: self.l, a: self.a - d.cross(&self.l) }
    }
}

impl Add for Six {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self { l: self.l + o.l, a: self.a + o.a }
    }
}
impl Sub for Six {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self { l: self.l - o.l, a: self.a - o.a }
    }
}
impl Neg for Six {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { l: -self.l, a: -self.a }
    }
}
impl Mul<f64> for Six {
    type Output = Self;
    #[inline(always)]
    fn mul(self, k: f64) -> Self {
        Self { l: self.l * k, a: self.a * k }
    }
}
impl AddAssign for Six {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        self.l += o.l;
        self.a += o.a;
    }
}
impl SubAssign for Six {
    #[inline(always)]
    fn sub_assign(&mut self, o: Self) {
        self.l -= o.l;
        self.a -= o.a;
    }
}

/// Inertia of a rigid body about the reference point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inertia {
    /// Mass.
    pub m: f64,
    /// First moment `m c`.
    pub h: V,
    /// Second moment about the reference point.
    pub J: Matrix3<f64>,
}

impl Inertia {
    /// Of mass `m` at `c` from the reference point, with central inertia `J_bar` in axes `E`.
    #[inline(always)]
    pub fn new(m: f64, c: &V, E: &Matrix3<f64>, J_bar: &Matrix3<f64>) -> Self {
        let h = c * m;
        let mut J = congruence(E, J_bar);
        let hc = h.dot(c);
        J[(0, 0)] += hc - h.x * c.x;
        J[(1, 1)] += hc - h.y * c.y;
        J[(2, 2)] += hc - h.z * c.z;
        let (xy, xz, yz) = (h.x * c.y, h.x * c.z, h.y * c.z);
        J[(0, 1)] -= xy;
        J[(1, 0)] -= xy;
        J[(0, 2)] -= xz;
        J[(2, 0)] -= xz;
        J[(1, 2)] -= yz;
        J[(2, 1)] -= yz;
        Self { m, h, J }
    }

    /// Its product with a motion.
    #[inline(always)]
    pub fn apply(&self, a: &Six) -> Six {
        Six { l: a.l * self.m - self.h.cross(&a.a), a: self.h.cross(&a.l) + self.J * a.a }
    }
}

/// `E J E^T` for symmetric `J`, exactly symmetric.
#[inline(always)]
fn congruence(E: &Matrix3<f64>, J: &Matrix3<f64>) -> Matrix3<f64> {
    let T = E * J;
    let entry = |i: usize, j: usize| T[(i, 0)] * E[(j, 0)] + T[(i, 1)] * E[(j, 1)] + T[(i, 2)] * E[(j, 2)];
    let (xx, yy, zz, xy, xz, yz) = (entry(0, 0), entry(1, 1), entry(2, 2), entry(1, 0), entry(2, 0), entry(2, 1));
    Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
}
