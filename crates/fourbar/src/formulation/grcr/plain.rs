//! Articulated inertia of plain fronts, six accelerations and no rows: 21 numbers that stay in registers along a chain.

use super::spatial::{Inertia, Six};
use nalgebra::Vector3;

/// A symmetric 6 x 6 matrix in blocks (linear, angular).
#[derive(Clone, Copy, Debug, Default)]
pub struct Articulated {
    /// Linear block: xx, xy, xz, yy, yz, zz.
    ll: [f64; 6],
    /// Linear rows, angular columns.
    la: [f64; 9],
    /// Angular block.
    aa: [f64; 6],
}

#[inline(always)]
fn symmetric(m: &[f64; 6], x: &Vector3<f64>) -> Vector3<f64> {
    Vector3::new(m[0] * x.x + m[1] * x.y + m[2] * x.z, m[1] * x.x + m[3] * x.y + m[4] * x.z, m[2] * x.x + m[4] * x.y + m[5] * x.z)
}

impl Articulated {
    /// Of a rigid body.
    #[inline(always)]
    pub fn rigid(I: &Inertia) -> Self {
        let (m, h, J) = (I.m, &I.h, &I.J);
        Self {
            ll: [m, 0.0, 0.0, m, 0.0, m],
            la: [0.0, h.z, -h.y, -h.z, 0.0, h.x, h.y, -h.x, 0.0],
            aa: [J[(0, 0)], J[(0, 1)], J[(0, 2)], J[(1, 1)], J[(1, 2)], J[(2, 2)]],
        }
    }

    /// Its product with a motion.
    #[inline(always)]
    pub fn apply(&self, s: &Six) -> Six {
        let b = &self.la;
        let (l, a) = (&s.l, &s.a);
        let across =
            Vector3::new(b[0] * a.x + b[1] * a.y + b[2] * a.z, b[3] * a.x + b[4] * a.y + b[5] * a.z, b[6] * a.x + b[7] * a.y + b[8] * a.z);
        let down =
            Vector3::new(b[0] * l.x + b[3] * l.y + b[6] * l.z, b[1] * l.x + b[4] * l.y + b[7] * l.z, b[2] * l.x + b[5] * l.y + b[8] * l.z);
        Six { l: symmetric(&self.ll, l) + across, a: down + symmetric(&self.aa, a) }
    }

    /// `self -= k U U'`.
    #[inline(always)]
    pub fn subtract_square(&mut self, U: &Six, k: f64) {
        let (l, a) = (&U.l, &U.a);
        let (kl, ka) = (l * k, a * k);
        let ll = [kl.x * l.x, kl.x * l.y, kl.x * l.z, kl.y * l.y, kl.y * l.z, kl.z * l.z];
        let aa = [ka.x * a.x, ka.x * a.y, ka.x * a.z, ka.y * a.y, ka.y * a.z, ka.z * a.z];
        let la = [kl.x * a.x, kl.x * a.y, kl.x * a.z, kl.y * a.x, kl.y * a.y, kl.y * a.z, kl.z * a.x, kl.z * a.y, kl.z * a.z];
        for i in 0..6 {
            self.ll[i] -= ll[i];
            self.aa[i] -= aa[i];
        }
        for i in 0..9 {
            self.la[i] -= la[i];
        }
    }

    /// Sum.
    #[inline(always)]
    pub fn add(&mut self, o: &Self) {
        for i in 0..6 {
            self.ll[i] += o.ll[i];
            self.aa[i] += o.aa[i];
        }
        for i in 0..9 {
            self.la[i] += o.la[i];
        }
    }

    /// Adds itself to the first block of a full matrix of width `w`.
    pub fn add_to(&self, H: &mut [f64], w: usize, at: usize) {
        let sym = |m: &[f64; 6], i: usize, j: usize| m[[[0, 1, 2], [1, 3, 4], [2, 4, 5]][i][j]];
        for i in 0..3 {
            for j in 0..3 {
                H[(at + i) * w + at + j] += sym(&self.ll, i, j);
                H[(at + 3 + i) * w + at + 3 + j] += sym(&self.aa, i, j);
                H[(at + i) * w + at + 3 + j] += self.la[3 * i + j];
                H[(at + 3 + j) * w + at + i] += self.la[3 * i + j];
            }
        }
    }

    /// Adds the first block of a full matrix of width `w`.
    pub fn add_from(&mut self, H: &[f64], w: usize) {
        let mut k = 0;
        for i in 0..3 {
            for j in i..3 {
                self.ll[k] += H[i * w + j];
                self.aa[k] += H[(3 + i) * w + 3 + j];
                k += 1;
            }
            for j in 0..3 {
                self.la[3 * i + j] += H[i * w + 3 + j];
            }
        }
    }

    /// The same about a reference point moved by `-d`: `X^T I X` with `X = [1, -tilde(d); 0, 1]`.
    pub fn shifted(&self, d: &Vector3<f64>) -> Self {
        let mut H = [0.0; 36];
        self.add_to(&mut H, 6, 0);
        let back = -d;
        for c in 0..6 {
            let column: [f64; 6] = std::array::from_fn(|y| H[6 * y + c]);
            let mut moved = [0.0; 6];
            Six::of(&column).wrench_at(&back).put(&mut moved);
            for y in 0..6 {
                H[6 * y + c] = moved[y];
            }
        }
        for r in 0..6 {
            let h = &mut H[6 * r..6 * r + 6];
            Six::of(h).wrench_at(&back).put(h);
        }
        let mut out = Self::default();
        out.add_from(&H, 6);
        out
    }

    /// Sizes of the linear and angular blocks, by their traces.
    #[inline(always)]
    pub fn traces(&self) -> (f64, f64) {
        (self.ll[0] + self.ll[3] + self.ll[5], self.aa[0] + self.aa[3] + self.aa[5])
    }
}
