//! The state space: for each body a pose on SE(3) with its body-fixed twist, or on SO(3) x R3 with its hybrid velocity
//! [Mueller13, sections 2 and 3].
//!
//! A point stores per body `r`, `A` by columns, the velocity (linear, angular), and the rounding error of the velocity: fast bodies receive
//! small increments, and the lost digits would be the only drift of a body on SE(3). An increment has six numbers for the pose and six for
//! the velocity. On SE(3) the linear part is in body axes and increments are screws, `C exp(X)`; on SO(3) x R3 it is in world axes and adds
//! up. The last number of both is the work. The reference point is the centre of mass; on SE(3) the choice makes no difference, because
//! screws of another body-fixed frame differ by a constant linear map.

use crate::projector::largest;
use crate::state::{Pose, Twist};
use fourbar_math::{se3, so3};
use nalgebra::{Matrix3, Vector3};

/// Numbers that store a body.
const STORED: usize = 24;
/// Numbers of a body's increment.
const SIZE: usize = 12;

/// The group of each body; ground is number zero and is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Whether it is SE(3).
    pub screw: Vec<bool>,
}

fn three(x: &[f64]) -> Vector3<f64> {
    Vector3::new(x[0], x[1], x[2])
}

/// A sum and its rounding error.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

fn pose(y: &[f64]) -> Pose {
    Pose { r: three(y), A: Matrix3::from_column_slice(&y[3..12]) }
}

fn store(q: &Pose, y: &mut [f64]) {
    y[..3].copy_from_slice(q.r.as_slice());
    y[3..12].copy_from_slice(q.A.as_slice());
}

impl Space {
    /// Numbers that store a point.
    pub fn stored(&self) -> usize {
        STORED * (self.screw.len() - 1) + 1
    }

    /// Numbers of an increment.
    pub fn size(&self) -> usize {
        SIZE * (self.screw.len() - 1) + 1
    }

    /// Bodies with their group and their parts of a point and of an increment.
    fn bodies<'a>(&'a self, y: &'a [f64], d: &'a [f64]) -> impl Iterator<Item = (bool, &'a [f64], &'a [f64])> {
        self.screw[1..].iter().zip(y.chunks_exact(STORED).zip(d.chunks_exact(SIZE))).map(|(s, (y, d))| (*s, y, d))
    }

    /// `to = from o exp(d)`.
    pub fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        for ((screw, y, d), to) in self.bodies(from, d).zip(to.chunks_exact_mut(STORED)) {
            store(&step(screw, &pose(y), &three(d), &three(&d[3..])), to);
            for k in 0..6 {
                (to[12 + k], to[18 + k]) = sum(y[12 + k], d[6 + k] + y[18 + k]);
            }
        }
        to[from.len() - 1] = from[from.len() - 1] + d[d.len() - 1];
    }

    /// The increment from one point to another, `to = from o exp(d)`, with rotations below half a turn.
    pub fn increment(&self, from: &[f64], to: &[f64], d: &mut [f64]) {
        let (last, end) = (from.len() - 1, d.len() - 1);
        let points = from.chunks_exact(STORED).zip(to.chunks_exact(STORED));
        for ((screw, (y, to)), d) in self.screw[1..].iter().zip(points).zip(d.chunks_exact_mut(SIZE)) {
            let (p, q) = (pose(y), pose(to));
            let w = so3::log(&p.A.tr_mul(&q.A));
            let v = q.r - p.r;
            // exp maps v to dexp_w v, whose inverse is that of the opposite rotation.
            let v = if *screw { se3::turn_inv(&-w, &p.A.tr_mul(&v)) } else { v };
            d[..3].copy_from_slice(v.as_slice());
            d[3..6].copy_from_slice(w.as_slice());
            for k in 0..6 {
                d[6 + k] = (to[12 + k] - y[12 + k]) + (to[18 + k] - y[18 + k]);
            }
        }
        d[end] = to[last] - from[last];
    }

    /// The derivative `f` at `from o exp(d)` as the derivative of `d`.
    pub fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        for ((screw, d), f) in self.screw[1..].iter().zip(d.chunks_exact(SIZE)).zip(f.chunks_exact_mut(SIZE)) {
            let (w, y) = (three(&d[3..]), three(&f[3..]));
            if *screw {
                let (u, y) = se3::dexp_inv(&three(d), &w, &three(f), &y);
                f[..3].copy_from_slice(u.as_slice());
                f[3..6].copy_from_slice(y.as_slice());
            } else {
                f[3..6].copy_from_slice(se3::turn_inv(&w, &y).as_slice());
            }
        }
    }

    /// Whether every rotation of an increment is below an angle.
    pub fn fits(&self, d: &[f64], largest: f64) -> bool {
        d.chunks_exact(SIZE).all(|d| three(&d[3..]).norm_squared() < largest * largest)
    }

    /// Largest part of an increment in metres: translations, rotations times `L`, and both for velocities times `tau`.
    pub fn largest(&self, d: &[f64], L: f64, tau: f64) -> f64 {
        let units = [1.0, L, tau, tau * L];
        let body = |d: &[f64]| d.chunks_exact(3).zip(units).fold(0.0_f64, |m, (x, unit)| m.max(unit * largest(x)));
        let most = d.chunks_exact(SIZE).fold(0.0_f64, |m, d| m.max(body(d)));
        // NaN must not be lost in a maximum.
        if d[..d.len() - 1].iter().sum::<f64>().is_nan() { f64::NAN } else { most }
    }

    /// Poses and velocities in global terms; ground is unchanged.
    pub fn unpack(&self, y: &[f64], q: &mut [Pose], v: &mut [Twist]) {
        for (b, y) in y.chunks_exact(STORED).enumerate() {
            let b = b + 1;
            q[b] = pose(y);
            let linear = three(&y[12..]);
            v[b] = Twist { v: if self.screw[b] { q[b].A * linear } else { linear }, w: three(&y[15..]) };
        }
    }

    /// The inverse; the work is unchanged.
    pub fn pack(&self, q: &[Pose], v: &[Twist], y: &mut [f64]) {
        for (b, y) in y.chunks_exact_mut(STORED).enumerate() {
            let (q, x, screw) = (&q[b + 1], &v[b + 1], self.screw[b + 1]);
            store(q, y);
            let linear = if screw { q.A.tr_mul(&x.v) } else { x.v };
            y[12..15].copy_from_slice(linear.as_slice());
            y[15..18].copy_from_slice(x.w.as_slice());
            y[18..].fill(0.0);
        }
    }

    /// Poses only; velocities are unchanged.
    pub fn pack_poses(&self, q: &[Pose], y: &mut [f64]) {
        for (q, y) in q[1..].iter().zip(y.chunks_exact_mut(STORED)) {
            store(q, y);
        }
    }

    /// The derivative at `y` for the accelerations `a` of the bodies.
    pub fn derivative(&self, y: &[f64], q: &[Pose], a: &[Twist], f: &mut [f64]) {
        for (b, (y, f)) in y.chunks_exact(STORED).zip(f.chunks_exact_mut(SIZE)).enumerate() {
            let b = b + 1;
            f[..6].copy_from_slice(&y[12..18]);
            // Because the body axes rotate, the rate of the body-fixed velocity is A^T a - w x v.
            let linear = if self.screw[b] { q[b].A.tr_mul(&a[b].v) - three(&y[15..]).cross(&three(&y[12..])) } else { a[b].v };
            f[6..9].copy_from_slice(linear.as_slice());
            f[9..12].copy_from_slice(a[b].w.as_slice());
        }
    }

    /// A body moved by a correction given in world axes (linear) and body axes (angular): on SE(3) as the screw `C exp(delta)`.
    pub fn corrected(&self, b: usize, q: &Pose, d: &Twist) -> Pose {
        if self.screw[b] { step(true, q, &q.A.tr_mul(&d.v), &d.w) } else { step(false, q, &d.v, &d.w) }
    }
}

fn step(screw: bool, q: &Pose, v: &Vector3<f64>, w: &Vector3<f64>) -> Pose {
    if screw {
        let (R, p) = se3::exp(v, w);
        Pose { r: q.r + q.A * p, A: q.A * R }
    } else {
        Pose { r: q.r + v, A: q.A * so3::exp(w) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, seed: f64) -> Vec<f64> {
        (0..n).map(|k| ((k as f64 + 1.0) * 12.9898 * seed).sin() * 0.7).collect()
    }

    /// A point of two bodies, one in each group, and its space.
    fn point() -> (Space, Vec<f64>) {
        let space = Space { screw: vec![false, true, false] };
        let mut y = vec![0.0; space.stored()];
        let q: Vec<Pose> =
            (0..3).map(|k| Pose { r: Vector3::new(k as f64, 0.3, -0.2), A: so3::exp(&Vector3::new(0.4 * k as f64, 1.0, -0.5)) }).collect();
        let v = [Twist::zero(), Twist { v: Vector3::x(), w: Vector3::y() }, Twist { v: Vector3::z(), w: Vector3::x() }];
        space.pack(&q, &v, &mut y);
        (space, y)
    }

    #[test]
    fn packing_and_unpacking_give_the_same_back() {
        let (space, y) = point();
        let (mut q, mut v) = (vec![Pose::identity(); 3], vec![Twist::zero(); 3]);
        space.unpack(&y, &mut q, &mut v);
        assert!((v[1].v - Vector3::x()).norm() < 1e-15 && (v[2].v - Vector3::z()).norm() == 0.0);
        let mut again = y.clone();
        space.pack(&q, &v, &mut again);
        assert!(y.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn an_increment_is_what_led_to_a_point() {
        let (space, y) = point();
        let d = sample(space.size(), 3.0);
        let (mut to, mut back) = (y.clone(), vec![0.0; space.size()]);
        space.moved(&y, &d, &mut to);
        space.increment(&y, &to, &mut back);
        assert!(d.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-14), "{d:?} {back:?}");
    }

    #[test]
    fn pulling_back_inverts_the_derivative_of_moving() {
        let (space, y) = point();
        let (d, rate) = (sample(space.size(), 1.0), sample(space.size(), 2.0));
        // Move by d + h rate and by d - h rate; pull_back maps the velocity of the point, in its own coordinates, to rate.
        let h = 1e-6;
        let at = |s: f64| {
            let x: Vec<f64> = d.iter().zip(&rate).map(|(d, r)| d + s * r).collect();
            let mut to = y.clone();
            space.moved(&y, &x, &mut to);
            to
        };
        let (plus, minus, middle) = (at(h), at(-h), at(0.0));
        let mut f = vec![0.0; space.size()];
        for b in 0..2 {
            let (p, m, c) = (pose(&plus[STORED * b..]), pose(&minus[STORED * b..]), pose(&middle[STORED * b..]));
            let r_dot = (p.r - m.r) / (2.0 * h);
            let omega = (so3::log(&c.A.tr_mul(&p.A)) - so3::log(&c.A.tr_mul(&m.A))) / (2.0 * h);
            let linear = if space.screw[b + 1] { c.A.tr_mul(&r_dot) } else { r_dot };
            f[12 * b..12 * b + 3].copy_from_slice(linear.as_slice());
            f[12 * b + 3..12 * b + 6].copy_from_slice(omega.as_slice());
            for k in 6..12 {
                f[12 * b + k] = rate[12 * b + k];
            }
        }
        f[24] = rate[24];
        space.pull_back(&d, &mut f);
        // Central differences: h^2 and rounding over h.
        assert!(f.iter().zip(&rate).all(|(a, b)| (a - b).abs() < 1e-9), "{f:?} {rate:?}");
    }

    #[test]
    fn turns_of_every_body_are_limited() {
        let (space, _) = point();
        let mut d = vec![0.0; space.size()];
        d[3] = 2.9;
        assert!(space.fits(&d, 3.0));
        d[16] = 3.1;
        assert!(!space.fits(&d, 3.0));
        d[0] = f64::NAN;
        assert!(space.largest(&d, 1.0, 1.0).is_nan());
    }
}
