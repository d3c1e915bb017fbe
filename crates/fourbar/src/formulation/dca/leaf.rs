//! The single body: its mass, its right-hand side and its columns of the Jacobian, with six or seven coordinates.
//!
//! Six are the twist (linear in the world, angular in body axes). Seven are the position and Euler parameters of [Malczyk12, Eqs. (1)-(8)]:
//! `T = blkdiag(I, 2 G(p))`, mass `T^T M T`, rows `Phi_q T`, and one row `2 p^T p_ddot = -2 p_dot^T p_dot` per body with its own
//! multiplier. `[G; p^T]` is orthogonal, so that both lead to the same iterates; six are faster and the default, seven serve for comparison
//! with the paper.

use super::kernel::FrontMut;
use super::sweep::{Job, Load, Shared};
use crate::constraint::ConstraintSet;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::so3;
use nalgebra::{Matrix3, Matrix3x4, Vector3};

/// Mass and inertia of a body, stored in the order of the tree.
#[derive(Clone, Copy, Debug)]
pub struct Inertia {
    /// Mass.
    pub mass: f64,
    /// Inertia about the centre of mass, body axes.
    pub J_bar: Matrix3<f64>,
}

/// `2 G(p)`: `omega_bar = 2 G p_dot`.
fn twice_G(A: &Matrix3<f64>) -> Matrix3x4<f64> {
    let [p0, x, y, z] = so3::quaternion(A);
    Matrix3x4::new(-x, p0, z, -y, -y, -z, p0, x, -z, y, -x, p0) * 2.0
}

fn unit(A: &Matrix3<f64>) -> [f64; 4] {
    so3::quaternion(A)
}

/// A velocity, acceleration or increment in the coordinates of the leaf.
#[inline(always)]
pub fn from_velocity<const B: usize>(q: &Pose, v: &Twist) -> [f64; B] {
    let mut x = [0.0; B];
    x[..3].copy_from_slice(v.v.as_slice());
    if B == 6 {
        x[3..].copy_from_slice(v.w.as_slice());
    } else {
        // G G^T is the unit matrix; the factor here is for 2 G.
        x[3..].copy_from_slice((twice_G(&q.A).transpose() * v.w * 0.25).as_slice());
    }
    x
}

/// The same in terms of the twist.
#[inline(always)]
pub fn to_velocity<const B: usize>(q: &Pose, x: &[f64]) -> Twist {
    let v = Vector3::new(x[0], x[1], x[2]);
    if B == 6 {
        return Twist { v, w: Vector3::new(x[3], x[4], x[5]) };
    }
    Twist { v, w: twice_G(&q.A) * nalgebra::Vector4::new(x[3], x[4], x[5], x[6]) }
}

/// A generalized force (linear, angular) in the coordinates of the leaf: `T^T f`.
#[inline(always)]
fn from_force<const B: usize>(q: &Pose, f: &Wrench) -> [f64; B] {
    let mut x = [0.0; B];
    x[..3].copy_from_slice(f.F.as_slice());
    if B == 6 {
        x[3..].copy_from_slice(f.T.as_slice());
    } else {
        x[3..].copy_from_slice((twice_G(&q.A).transpose() * f.T).as_slice());
    }
    x
}

/// Jacobian of a range of constraints.
#[inline(always)]
pub fn jacobian<const B: usize>(set: &ConstraintSet, range: [usize; 2], q: &[Pose], G: &mut [f64]) {
    let [first, last] = range;
    if first == last {
        return;
    }
    if B == 6 {
        set.jacobian_in(first..last, set.value_start(first), q, G);
        return;
    }
    let mut to = 0;
    for c in first..last {
        let m = set.row_start[c + 1] - set.row_start[c];
        // Elements have at most six rows and four bodies.
        let mut six = [0.0; 6 * 6 * 4];
        set.jacobian_in(c..c + 1, set.value_start(c), q, &mut six);
        for (i, b) in set.blocks_of(c).iter().enumerate() {
            let T = twice_G(&q[b.body].A);
            for g in six[6 * m * i..6 * m * (i + 1)].chunks_exact(6) {
                let seven = Vector3::new(g[3], g[4], g[5]).transpose() * T;
                G[to..to + 3].copy_from_slice(&g[..3]);
                G[to + 3..to + 7].copy_from_slice(seven.as_slice());
                to += 7;
            }
        }
    }
}

/// Right-hand sides of own bodies: applied forces and the gyroscopic torque for accelerations, else zero.
#[inline(always)]
pub fn load<const B: usize>(s: &Shared<'_>, first: usize, Q: &mut [f64], norm: &mut [[f64; 2]], job: &Job) {
    if job.load == Load::Keep {
        return;
    }
    for (i, Q) in Q.chunks_exact_mut(B).enumerate() {
        let k = s.order[first + i];
        if job.load == Load::Acceleration {
            let (body, v) = (&s.inertia[first + i], &s.v[k]);
            let mut f = match s.forces.get(k) {
                Some(f) => *f,
                None => Wrench { F: s.gravity * body.mass, T: Vector3::zeros() },
            };
            f.T -= v.w.cross(&(body.J_bar * v.w));
            Q.copy_from_slice(&from_force::<B>(&s.q[k], &f));
            if B == 7 {
                // -2 p_dot^T p_dot with p_dot = G^T omega_bar / 2.
                norm[i] = [-0.5 * v.w.norm_squared(), if job.reset { 0.0 } else { norm[i][1] }];
            }
        } else {
            Q.fill(0.0);
            if B == 7 {
                norm[i] = [0.0, if job.reset { 0.0 } else { norm[i][1] }];
            }
        }
    }
}

/// `Q - M x`, and the normalisation row, into the first places of a front's right-hand side.
#[inline(always)]
pub fn residual<const B: usize>(s: &Shared<'_>, first: usize, Q: &[f64], x: &[f64], norm: &[[f64; 2]], f: &mut [f64]) {
    for (i, ((Q, x), f)) in Q.chunks_exact(B).zip(x.chunks_exact(B)).zip(f.chunks_exact_mut(B)).enumerate() {
        let k = s.order[first + i];
        let body = &s.inertia[first + i];
        let q = &s.q[k];
        let a = to_velocity::<B>(q, x);
        let y = from_force::<B>(q, &Wrench { F: a.v * body.mass, T: body.J_bar * a.w });
        for r in 0..B {
            f[r] += Q[r] - y[r];
        }
        if B == 7 {
            let p = unit(&q.A);
            let z = s.alpha_norm[first + i] * norm[i][0] - norm[i][1];
            for r in 0..4 {
                f[3 + r] += 2.0 * p[r] * z;
            }
        }
    }
}

/// Residual and multiplier of the normalisation after an increment.
pub fn normalise<const B: usize>(s: &Shared<'_>, first: usize, f: &[f64], norm: &mut [[f64; 2]]) {
    for (i, d) in f.chunks_exact(B).enumerate() {
        let p = unit(&s.q[s.order[first + i]].A);
        norm[i][0] -= 2.0 * (0..4).map(|r| p[r] * d[3 + r]).sum::<f64>();
        norm[i][1] -= s.alpha_norm[first + i] * norm[i][0];
    }
}

/// Adds the masses of own bodies to their diagonal blocks.
#[inline(always)]
pub fn mass<const B: usize>(s: &Shared<'_>, first: usize, e: usize, front: &mut FrontMut<'_>, scale: &mut [[f64; 2]]) {
    for i in 0..e {
        let k = s.order[first + i];
        let body = &s.inertia[first + i];
        let mut M = [[0.0; B]; B];
        for c in 0..3 {
            M[c][c] = body.mass;
        }
        if B == 6 {
            for c in 0..3 {
                for r in 0..3 {
                    M[3 + c][3 + r] = body.J_bar[(r, c)];
                }
            }
        } else {
            let (T, p) = (twice_G(&s.q[k].A), unit(&s.q[k].A));
            let block = T.transpose() * body.J_bar * T;
            for c in 0..4 {
                for r in 0..4 {
                    M[3 + c][3 + r] = block[(r, c)] + 4.0 * s.alpha_norm[first + i] * p[r] * p[c];
                }
            }
        }
        scale[i][0] += 3.0 * body.mass;
        scale[i][1] += (3..B).map(|c| M[c][c]).sum::<f64>();
        front.add_block::<B>(i, i, &M);
    }
}
