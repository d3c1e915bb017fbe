//! Six-vectors (linear, angular) in world axes about a reference point, and rigid-body inertia about it.
//!
//! A twist is the velocity of the body point at the reference point `O` and the angular velocity; a wrench is the force and the moment
//! about `O`. With one reference point every shift along a chain is the identity, so that no transformations between bodies are needed.

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

/// Matrix times vector, unrolled.
#[inline(always)]
pub fn times(E: &Matrix3<f64>, x: &V) -> V {
    V::new(E.m11 * x.x + E.m12 * x.y + E.m13 * x.z, E.m21 * x.x + E.m22 * x.y + E.m23 * x.z, E.m31 * x.x + E.m32 * x.y + E.m33 * x.z)
}

/// A symmetric 3 x 3 matrix: xx, xy, xz, yy, yz, zz.
#[derive(Clone, Copy, Debug, Default)]
pub struct Symmetric(pub [f64; 6]);

impl Symmetric {
    /// The upper triangle of a matrix.
    pub fn of(m: &Matrix3<f64>) -> Self {
        Self([m.m11, m.m12, m.m13, m.m22, m.m23, m.m33])
    }

    /// Its product with a vector.
    #[inline(always)]
    pub fn apply(&self, x: &V) -> V {
        let m = &self.0;
        V::new(m[0] * x.x + m[1] * x.y + m[2] * x.z, m[1] * x.x + m[3] * x.y + m[4] * x.z, m[2] * x.x + m[4] * x.y + m[5] * x.z)
    }

    /// `E self E^T`.
    #[inline(always)]
    pub fn turned(&self, E: &Matrix3<f64>) -> Self {
        let m = &self.0;
        let (x, y, z) = (times(E, &V::new(m[0], m[1], m[2])), times(E, &V::new(m[1], m[3], m[4])), times(E, &V::new(m[2], m[4], m[5])));
        Self([
            x.x * E.m11 + y.x * E.m12 + z.x * E.m13,
            x.x * E.m21 + y.x * E.m22 + z.x * E.m23,
            x.x * E.m31 + y.x * E.m32 + z.x * E.m33,
            x.y * E.m21 + y.y * E.m22 + z.y * E.m23,
            x.y * E.m31 + y.y * E.m32 + z.y * E.m33,
            x.z * E.m31 + y.z * E.m32 + z.z * E.m33,
        ])
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
    pub J: Symmetric,
}

impl Inertia {
    /// Inertia of mass `m` in a frame with axes `E` and origin `x` from the reference point, with centre of mass `c_bar` and central
    /// inertia `J_bar` in that frame. Also returns the centre of mass from the reference point and the central inertia in world axes.
    #[inline(always)]
    pub fn new(m: f64, x: &V, E: &Matrix3<f64>, c_bar: &V, J_bar: &Symmetric) -> (Self, V, Symmetric) {
        let c = x + times(E, c_bar);
        let h = c * m;
        let central = J_bar.turned(E);
        let hc = h.dot(&c);
        let k = &central.0;
        let J = [
            k[0] + (hc - h.x * c.x),
            k[1] - h.x * c.y,
            k[2] - h.x * c.z,
            k[3] + (hc - h.y * c.y),
            k[4] - h.y * c.z,
            k[5] + (hc - h.z * c.z),
        ];
        (Self { m, h, J: Symmetric(J) }, c, central)
    }

    /// Its product with a motion.
    #[inline(always)]
    pub fn apply(&self, a: &Six) -> Six {
        Six { l: a.l * self.m - self.h.cross(&a.a), a: self.h.cross(&a.l) + self.J.apply(&a.a) }
    }
}
