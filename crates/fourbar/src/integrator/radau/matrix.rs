//! The two systems of an iteration, one for each eigenvalue: how they are formed, factored and solved.

use crate::absolute::equations::Equations;
use crate::absolute::linear::Linear;
use crate::state::{Twist, Wrench};
use fourbar_math::BlockLu;
use fourbar_math::so3::tilde;
use nalgebra::{ComplexField, Vector3};

/// Compliance of kept rows relative to that of the equations.
const RIGID: f64 = 1e-4;

/// A system for one eigenvalue: its factor, and the gathered residuals and increments.
pub(super) struct System<T> {
    s: T,
    lu: BlockLu<T>,
    /// Gathered residuals: of positions, six per moving body, and of velocities and rows.
    r: Vec<T>,
    sum: Vec<T>,
    /// Increments of positions and multipliers, times the square of the step, and of velocities.
    pub x: Vec<T>,
    pub dv: Vec<T>,
}

impl<T: ComplexField<RealField = f64> + Copy> System<T> {
    pub fn new(linear: &Linear, rows: usize, s: T) -> Self {
        let (n, zero) = (6 * linear.bodies, T::zero());
        Self {
            s,
            lu: BlockLu::new(&linear.pattern),
            r: vec![zero; n],
            sum: vec![zero; n + rows],
            x: vec![zero; n + rows],
            dv: vec![zero; n],
        }
    }

    /// Forgets the residuals.
    pub fn clear(&mut self) {
        self.r.fill(T::zero());
        self.sum.fill(T::zero());
    }

    /// Adds the residuals with a weight.
    pub fn gather(&mut self, (r_psi, r_v, r_c): (&[Twist], &[Wrench], &[f64]), w: T) {
        let Self { r, sum, .. } = self;
        let n = r.len();
        for b in 1..r_psi.len() {
            for k in 0..3 {
                let at = 6 * (b - 1) + k;
                r[at] += w.scale(r_psi[b].v[k]);
                r[at + 3] += w.scale(r_psi[b].w[k]);
                sum[at] += w.scale(r_v[b].F[k]);
                sum[at + 3] += w.scale(r_v[b].T[k]);
            }
        }
        for (s, r) in sum[n..].iter_mut().zip(r_c) {
            *s += w.scale(*r);
        }
    }

    /// Solves for the increments that the gathered residuals ask for.
    pub fn solve(&mut self, form: &Form<'_>) {
        let Self { s, lu, r, sum, x, dv } = self;
        let (n, e) = (r.len(), form.e);
        let (s, h) = (*s, form.h);
        let (into, over) = (T::from_real(h) / s, s / T::from_real(h));
        for b in 1..=form.linear.bodies {
            let (m, J, at) = (e.model.bodies[b].mass, &form.linear.J[b], 6 * (b - 1));
            for k in 0..3 {
                let turned = (0..3).fold(T::zero(), |t, c| t + r[at + 3 + c].scale(J[(k, c)]));
                x[at + k] = -(sum[at + k].scale(h * h) + s * r[at + k].scale(h * m));
                x[at + 3 + k] = -(sum[at + 3 + k].scale(h * h) + s * turned.scale(h));
            }
        }
        for &(i, j, place) in &form.linear.pairs {
            let (D, r) = (&form.linear.D[place..place + 36], &r[6 * (j - 1)..6 * j]);
            for (x, line) in x[6 * (i - 1)..6 * i].iter_mut().zip(D.as_chunks::<6>().0) {
                *x -= (0..6).fold(T::zero(), |t, c| t + r[c].scale(line[c])).scale(h * h);
            }
        }
        for c in 0..e.set.list.len() {
            for (k, row) in (e.set.row_start[c]..e.set.row_start[c + 1]).enumerate() {
                let mut g = sum[n + row];
                for block in e.set.blocks_of(c) {
                    let line = &form.G[block.start + 6 * k..block.start + 6 * k + 6];
                    g = line.iter().zip(&r[6 * (block.body - 1)..]).fold(g, |g, (l, r)| g + r.scale(*l));
                }
                x[n + row] = if form.dropped[row] { T::zero() } else { -g * into };
            }
        }
        lu.solve(x);
        for b in 1..=form.linear.bodies {
            let at = 6 * (b - 1);
            let (spin, own) = (form.spin)(b);
            for (first, w) in [(at, spin), (at + 3, own)] {
                for k in 0..3 {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    let turned = x[first + j].scale(w[i]) - x[first + i].scale(w[j]);
                    dv[first + k] = over * x[first + k] + turned + r[first + k];
                }
            }
        }
    }

    /// Forms and factors the matrix; `false` where it is singular.
    pub fn factor(&mut self, form: &Form<'_>) -> bool {
        let (linear, e, h, n) = (form.linear, form.e, form.h, form.linear.bodies);
        let (s, sh, s2, h2) = (self.s, self.s.scale(h), self.s * self.s, h * h);
        let a = self.lu.clear();
        for &(i, j, at) in &linear.pairs {
            let (D, K) = (&linear.D[at..at + 36], &linear.K[at..at + 36]);
            for (a, (d, k)) in a[at..at + 36].iter_mut().zip(D.iter().zip(K)) {
                *a = sh.scale(*d) + T::from_real(h2 * k);
            }
            if i != j {
                continue;
            }
            // Inertia, and what the spin of the axes makes of it.
            let (spin, own) = (form.spin)(i);
            let (m, J) = (e.model.bodies[i].mass, &linear.J[i]);
            let (moved, turned) = (tilde(&spin) * m, J * tilde(&own));
            for r in 0..3 {
                a[at + 7 * r] += s2.scale(m);
                for c in 0..3 {
                    a[at + 6 * r + c] += sh.scale(moved[(r, c)]);
                    a[at + 6 * (3 + r) + 3 + c] += s2.scale(J[(r, c)]) + sh.scale(turned[(r, c)]);
                }
            }
        }
        for c in 0..e.set.list.len() {
            let rows = e.set.row_start[c]..e.set.row_start[c + 1];
            let m = rows.len();
            for block in e.set.blocks_of(c) {
                let (up, down) = (linear.pattern.block(block.body - 1, n + c), linear.pattern.block(n + c, block.body - 1));
                for (r, _) in rows.clone().enumerate().filter(|(_, row)| !form.dropped[*row]) {
                    for k in 0..6 {
                        a[up + k * m + r] = T::from_real(linear.U[up + k * m + r]);
                        a[down + 6 * r + k] = T::from_real(form.G[block.start + 6 * r + k]);
                    }
                }
            }
            let at = linear.pattern.block(n + c, n + c);
            for (r, row) in rows.enumerate() {
                a[at + r * m + r] = if form.dropped[row] { T::one() } else { -T::from_real(RIGID * e.eps[row]) / s };
            }
        }
        self.lu.factor()
    }
}

/// What the matrix of a step is made of.
pub(super) struct Form<'a> {
    pub linear: &'a Linear,
    pub e: &'a Equations<'a>,
    pub G: &'a [f64],
    pub dropped: &'a [bool],
    pub h: f64,
    /// Spin of the axes of a body's translations, and of its own.
    pub spin: &'a dyn Fn(usize) -> (Vector3<f64>, Vector3<f64>),
}
