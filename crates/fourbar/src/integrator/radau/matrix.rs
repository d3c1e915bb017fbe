//! The two systems of an iteration, one for each eigenvalue: how they are formed, factored and solved.

use crate::absolute::equations::Equations;
use crate::absolute::linear::Linear;
use crate::state::{Twist, Wrench};
use fourbar_math::BlockLu;
use fourbar_math::so3::tilde;
use nalgebra::{ComplexField, Matrix6, Vector3};

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
                r[at] += w * T::from_real(r_psi[b].v[k]);
                r[at + 3] += w * T::from_real(r_psi[b].w[k]);
                sum[at] += w * T::from_real(r_v[b].F[k]);
                sum[at + 3] += w * T::from_real(r_v[b].T[k]);
            }
        }
        for (s, r) in sum[n..].iter_mut().zip(r_c) {
            *s += w * T::from_real(*r);
        }
    }

    /// Solves for the increments that the gathered residuals ask for.
    pub fn solve(&mut self, form: &Form<'_>) {
        let Self { s, lu, r, sum, x, dv } = self;
        let (n, e) = (r.len(), form.e);
        let (s, hh) = (*s, T::from_real(form.h));
        for b in 1..=form.linear.bodies {
            let (m, J, at) = (e.model.bodies[b].mass, &form.linear.J[b], 6 * (b - 1));
            for k in 0..3 {
                let turned = (0..3).fold(T::zero(), |t, c| t + T::from_real(J[(k, c)]) * r[at + 3 + c]);
                x[at + k] = -(hh * hh * sum[at + k] + hh * s * T::from_real(m) * r[at + k]);
                x[at + 3 + k] = -(hh * hh * sum[at + 3 + k] + hh * s * turned);
            }
        }
        for &(i, j, place) in &form.linear.pairs {
            for row in 0..6 {
                let d = (0..6).fold(T::zero(), |t, c| t + T::from_real(form.linear.D[place + 6 * row + c]) * r[6 * (j - 1) + c]);
                x[6 * (i - 1) + row] -= hh * hh * d;
            }
        }
        for c in 0..e.set.list.len() {
            for (k, row) in (e.set.row_start[c]..e.set.row_start[c + 1]).enumerate() {
                let mut g = sum[n + row];
                for block in e.set.blocks_of(c) {
                    let line = &form.G[block.start + 6 * k..block.start + 6 * k + 6];
                    g = line.iter().zip(&r[6 * (block.body - 1)..]).fold(g, |g, (l, r)| g + T::from_real(*l) * *r);
                }
                x[n + row] = if form.dropped[row] { T::zero() } else { -g * hh / s };
            }
        }
        lu.solve(x);
        for b in 1..=form.linear.bodies {
            let at = 6 * (b - 1);
            let (spin, own) = (form.spin)(b);
            for (first, w) in [(at, spin), (at + 3, own)] {
                for k in 0..3 {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    let turned = T::from_real(w[i]) * x[first + j] - T::from_real(w[j]) * x[first + i];
                    dv[first + k] = s / hh * x[first + k] + turned + r[first + k];
                }
            }
        }
    }

    /// Forms and factors the matrix; `false` where it is singular.
    pub fn factor(&mut self, form: &Form<'_>) -> bool {
        let (linear, e, h, n) = (form.linear, form.e, form.h, form.linear.bodies);
        let (s, sh, h2) = (self.s, self.s * T::from_real(h), T::from_real(h * h));
        let a = self.lu.clear();
        for &(i, j, at) in &linear.pairs {
            let D = Linear::block(&linear.D, at);
            let (spin, own) = (form.spin)(j);
            let mut W = Matrix6::zeros();
            W.fixed_view_mut::<3, 3>(0, 0).copy_from(&tilde(&spin));
            W.fixed_view_mut::<3, 3>(3, 3).copy_from(&tilde(&own));
            let mut M = Matrix6::zeros();
            if i == j {
                (0..3).for_each(|k| M[(k, k)] = e.model.bodies[i].mass);
                M.fixed_view_mut::<3, 3>(3, 3).copy_from(&linear.J[i]);
            }
            let (second, first, zeroth) = (M, M * W + D, D * W + Linear::block(&linear.K, at));
            for r in 0..6 {
                for c in 0..6 {
                    a[at + 6 * r + c] =
                        s * s * T::from_real(second[(r, c)]) + sh * T::from_real(first[(r, c)]) + h2 * T::from_real(zeroth[(r, c)]);
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
