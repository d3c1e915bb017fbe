//! Plain fronts, six accelerations and no rows: the articulated inertia in 21 numbers, and the kernels for consecutive hinges.

use super::hinge::Body;
use super::spatial::{Inertia, Six, Symmetric};
use nalgebra::Vector3;

/// A column whose inertia is below this fraction of the front's counts as massless.
pub const NO_INERTIA: f64 = 1e-14;

/// A symmetric 6 x 6 matrix in blocks (linear, angular).
#[derive(Clone, Copy, Debug, Default)]
pub struct Articulated {
    /// Linear block.
    ll: Symmetric,
    /// Linear rows, angular columns.
    la: [f64; 9],
    /// Angular block.
    aa: Symmetric,
}

/// Data of a column for the outward pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    /// `I s`.
    pub U: Six,
    /// Inverse of `s . U`; zero for a column without inertia.
    pub inverse: f64,
    /// `s . f`.
    pub phi: f64,
}

impl Articulated {
    /// Adds a rigid body.
    #[inline(always)]
    pub fn add_rigid(&mut self, I: &Inertia) {
        let (m, h, la) = (I.m, &I.h, &mut self.la);
        for i in [0, 3, 5] {
            self.ll.0[i] += m;
        }
        la[1] += h.z;
        la[2] -= h.y;
        la[3] -= h.z;
        la[5] += h.x;
        la[6] += h.y;
        la[7] -= h.x;
        for i in 0..6 {
            self.aa.0[i] += I.J.0[i];
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
        Six { l: self.ll.apply(l) + across, a: down + self.aa.apply(a) }
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
            self.ll.0[i] -= ll[i];
            self.aa.0[i] -= aa[i];
        }
        for i in 0..9 {
            self.la[i] -= la[i];
        }
    }

    /// Sum.
    #[inline(always)]
    pub fn add(&mut self, o: &Self) {
        for i in 0..6 {
            self.ll.0[i] += o.ll.0[i];
            self.aa.0[i] += o.aa.0[i];
        }
        for i in 0..9 {
            self.la[i] += o.la[i];
        }
    }

    /// Adds itself to the first block of a full matrix of width `w`.
    pub fn add_to(&self, H: &mut [f64], w: usize, at: usize) {
        let sym = |m: &Symmetric, i: usize, j: usize| m.0[[[0, 1, 2], [1, 3, 4], [2, 4, 5]][i][j]];
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
                self.ll.0[k] += H[i * w + j];
                self.aa.0[k] += H[(3 + i) * w + 3 + j];
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
        (self.ll.0[0] + self.ll.0[3] + self.ll.0[5], self.aa.0[0] + self.aa.0[3] + self.aa.0[5])
    }
}

/// Inward over consecutive hinges, each attached to the preceding one: adds the bodies and eliminates the columns, outermost first. On
/// entry `I` and `f` hold the contribution to the last hinge, on return that of the first one to its parent. Returns a column without
/// inertia, if any.
#[inline(never)]
pub fn inward(I: &mut Articulated, f: &mut Six, bodies: &[Body], S: &[Six], out: &mut [Column]) -> Option<usize> {
    let (mut A, mut b) = (*I, *f);
    let mut weightless = None;
    for (i, ((body, s), out)) in bodies.iter().zip(S).zip(out).enumerate().rev() {
        A.add_rigid(&body.I);
        b += body.f;
        let U = A.apply(s);
        let (D, phi) = (s.dot(&U), s.dot(&b));
        let (linear, angular) = A.traces();
        let mut inverse = 1.0 / D;
        // The axis has unit length.
        if D <= NO_INERTIA * (s.l.norm_squared() * linear + angular) {
            weightless = Some(i);
            inverse = 0.0;
        }
        *out = Column { U, inverse, phi };
        A.subtract_square(&U, inverse);
        b -= U * (phi * inverse);
    }
    (*I, *f) = (A, b);
    weightless
}

/// Outward over consecutive hinges: rates and accelerations, from the acceleration `x` of the first one's parent.
#[inline(never)]
pub fn outward(mut x: Six, columns: &[Column], S: &[Six], udot: &mut [f64], a_hat: &mut [Six]) {
    for ((column, s), (udot, a)) in columns.iter().zip(S).zip(udot.iter_mut().zip(a_hat)) {
        *udot = (column.phi - column.U.dot(&x)) * column.inverse;
        x += *s * *udot;
        *a = x;
    }
}
