//! The exact iteration matrix of the implicit step, factored by block LU: the fallback for stiff forces, strong dampers
//! and fast spins.
//!
//! ```text
//! [ b_a M V' + h b_v D V + h^2 K     U   ] [ dq           ]     [ h^2 residual         ]
//! [  Phi_q                          -eps ] [ d(h^2 lambda)] = - [ Phi - eps h^2 lambda ]
//! ```
//! with the derivatives of [`Linear`] and the blocks `V`, `V'` of the chart, for rA both the inverse tangent operator of the step's
//! rotation.

use super::Memory;
use crate::absolute::chart::{Chart, Weights};
use crate::absolute::equations::Equations;
use crate::absolute::linear::{At, Linear};
use crate::force::eval::Plain;
use fourbar_math::BlockLu;
use nalgebra::Matrix3;

/// The exact matrix with its workspace.
pub struct Exact {
    linear: Linear,
    lu: BlockLu,
    /// Right-hand side and solution: six per moving body, then the rows.
    x: Vec<f64>,
    /// Blocks `V` and `V'` of every body; written before the matrix is formed.
    slopes: Vec<(Matrix3<f64>, Matrix3<f64>)>,
}

impl Exact {
    /// Pattern and order for the equations.
    pub fn new(e: &Equations<'_>) -> Self {
        let linear = Linear::new(e);
        Self {
            lu: BlockLu::new(&linear.pattern),
            x: vec![0.0; 6 * linear.bodies + e.set.rows()],
            slopes: vec![(Matrix3::identity(), Matrix3::identity()); linear.bodies + 1],
            linear,
        }
    }

    /// Forms and factors the matrix at the trial state; `false` where it is singular.
    pub fn factor<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) -> bool {
        self.form(e, x, w);
        self.lu.factor()
    }

    fn form<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) {
        for b in 1..=self.linear.bodies {
            self.slopes[b] = C::slopes(&x.x[b], &x.psi[b], &x.v[b], &x.v_dot[b], w);
        }
        let (loads, z) = (std::mem::take(&mut e.loads.by_joint), std::mem::take(&mut e.z));
        let plain = Plain { t: x.t, q: &x.q, v: x.velocities(), turns: &x.turns, loads: &loads, z: &z };
        self.linear.form(e, &At { plain, lambda: &x.lambda });
        (e.loads.by_joint, e.z) = (loads, z);
        self.combine(e, x, w);
    }

    fn combine<C: Chart>(&mut self, e: &Equations<'_>, x: &Memory<C>, Weights { h, b_a, b_v }: Weights) {
        let (linear, n) = (&self.linear, self.linear.bodies);
        let a = self.lu.clear();
        for &(i, j, at) in &linear.pairs {
            let mut B = Linear::block(&linear.D, at) * (h * b_v);
            // Angular columns for velocities go through the chart.
            let (V, V_dot) = &self.slopes[j];
            let right = B.fixed_view::<6, 3>(0, 3) * V;
            B.fixed_view_mut::<6, 3>(0, 3).copy_from(&right);
            if i == j {
                let body = &e.model.bodies[i];
                (0..3).for_each(|k| B[(k, k)] += b_a * body.mass);
                let turning = body.J_bar * V_dot * b_a + B.fixed_view::<3, 3>(3, 3);
                B.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
            }
            for r in 0..6 {
                for c in 0..6 {
                    a[at + 6 * r + c] = B[(r, c)] + h * h * linear.K[at + 6 * r + c];
                }
            }
        }
        for c in 0..e.set.list.len() {
            let m = e.set.row_start[c + 1] - e.set.row_start[c];
            for block in e.set.blocks_of(c) {
                let (up, down) = (linear.pattern.block(block.body - 1, n + c), linear.pattern.block(n + c, block.body - 1));
                a[up..up + 6 * m].copy_from_slice(&linear.U[up..up + 6 * m]);
                a[down..down + 6 * m].copy_from_slice(&e.G[block.start..block.start + 6 * m]);
            }
            for (_, row, r) in e.set.rolling().filter(|(k, ..)| *k == c) {
                // The rows act on velocities: B V + (h / b_v) d(B v)/dq.
                let bodies = [0, 1].map(|slot| e.set.list[c].bodies[slot].index());
                let (poses, v) = (bodies.map(|b| &x.q[b]), bodies.map(|b| &x.velocities()[b]));
                let rows = r.rows(poses);
                let (_, rates) = r.variation(poses, v, &[0.0; 2]);
                let first = row - e.set.row_start[c];
                for (slot, b) in bodies.into_iter().enumerate().filter(|(_, b)| *b != 0) {
                    let V = self.slopes[b].0;
                    let down = linear.pattern.block(n + c, b - 1);
                    for (k, line) in rows.iter().enumerate() {
                        let (line, rates) = (&line[slot], &rates[k][slot]);
                        let w = V.tr_mul(&line.T);
                        for d in 0..6 {
                            let g = if d < 3 { line.F[d] } else { w[d - 3] };
                            a[down + 6 * (first + k) + d] = g + h / b_v * rates[d];
                        }
                    }
                }
            }
            let at = linear.pattern.block(n + c, n + c);
            for r in 0..m {
                a[at + r * m + r] = -e.eps[e.set.row_start[c] + r];
            }
        }
    }

    /// Solves for `dq` and `d(h^2 lambda)`, stored in `dq` and `x` of the equations; their `r` and `x` are the residuals.
    pub fn solve(&mut self, e: &mut Equations<'_>, h2: f64) {
        let n = self.linear.bodies;
        for b in 1..=n {
            let r = &e.r[b];
            for k in 0..3 {
                self.x[6 * (b - 1) + k] = -h2 * r.F[k];
                self.x[6 * (b - 1) + 3 + k] = -h2 * r.T[k];
            }
        }
        for (x, r) in self.x[6 * n..].iter_mut().zip(&e.p.x) {
            *x = -r;
        }
        self.lu.solve(&mut self.x);
        for b in 1..=n {
            for k in 0..3 {
                e.p.dq[b].v[k] = self.x[6 * (b - 1) + k];
                e.p.dq[b].w[k] = self.x[6 * (b - 1) + 3 + k];
            }
        }
        e.p.x.copy_from_slice(&self.x[6 * n..]);
    }

    /// The matrix as formed, dense, for tests: rows and columns six per body, then the constraint rows.
    pub fn dense<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) -> Vec<Vec<f64>> {
        self.form(e, x, w);
        self.lu.dense()
    }
}
