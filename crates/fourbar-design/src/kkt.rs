//! The stiffness of a large mechanism with its constraints, in sparse blocks.
//!
//! `(K + s W) x + G^T mu = b`, `G x = c` is solved with the block factorisation of the engine's exact iteration matrices. `W` is a weight
//! of the bodies: their masses, or lengths. In the factorisation rows have a small compliance, which iterative refinement removes, so that
//! redundant rows are allowed. Springs across the rows (`G^T P G`) do not affect motions that satisfy them, and make the blocks of bodies
//! regular where neither weights nor forces do.

use crate::operator::plain;
use fourbar::Model;
use fourbar::absolute::equations::Equations;
use fourbar::absolute::linear::{At, Linear};
use fourbar::evaluate::{by_body, stacked};
use fourbar::force::eval::Plain;
use fourbar::state::{Configuration, Wrench};
use fourbar_math::{BlockLu, BlockPattern, BlockSolver};
use nalgebra::{DVector, Matrix3, Matrix6};

/// Maximum number of refinements of a solution, and the sufficient residual.
const REFINED: usize = 40;
const ENOUGH: f64 = 1e-13;
/// A pivot below this share of its diagonal is a rounding error.
const TINY: f64 = 1e-15;

/// Weights of the motion of a body: of its centre of mass, and of rotations in body axes.
#[derive(Clone, Copy, Debug)]
pub struct Weight {
    /// Of translations.
    pub m: f64,
    /// Of rotations.
    pub J: Matrix3<f64>,
    /// Added to the weight of rotations in the factorisation only.
    pub raised: f64,
}

/// Weights of all bodies, ground first, that measure motions as lengths.
pub fn lengths(model: &Model) -> Vec<Weight> {
    vec![Weight { m: 1.0, J: Matrix3::identity() * (model.length * model.length), raised: 0.0 }; model.bodies.len()]
}

/// The masses of all bodies, ground first.
pub fn masses(model: &Model) -> Vec<Weight> {
    model.bodies.iter().map(|b| Weight { m: b.mass, J: b.J_bar, raised: 0.0 }).collect()
}

/// Which part of the stiffness is factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// Its symmetric part.
    Symmetric,
}

/// The stiffness at a state, with the factorisation and workspace.
pub struct Kkt<'m> {
    /// The mechanism.
    pub model: &'m Model,
    /// Its equations, with the Jacobian of the state.
    pub equations: Equations<'m>,
    linear: Linear,
    /// Created with the first factorisation.
    lu: Option<BlockLu>,
    /// The blocks of bodies alone, to test whether they are positive definite.
    definite: Option<BlockSolver>,
    /// Weights of the motions.
    pub weights: Vec<Weight>,
    /// Compliance of the rows in the factor.
    pub eps: Vec<f64>,
    /// Springs across the rows; empty if there are none.
    pub springs: Vec<f64>,
    /// Factor by which they are stiffer in the test whether all motions that satisfy the rows have positive stiffness.
    pub firmer: f64,
    part: Part,
    shift: f64,
}

impl<'m> Kkt<'m> {
    /// Set up at a closed position.
    pub fn new(model: &'m Model, state: &Configuration, weights: Vec<Weight>) -> Self {
        let mut equations = Equations::new(model, state);
        equations.set.choose(state.t);
        let linear = Linear::new(&equations);
        let eps = vec![0.0; equations.set.rows()];
        let lu = None;
        Self { model, equations, linear, lu, definite: None, weights, eps, springs: Vec::new(), firmer: 1.0, part: Part::Whole, shift: 0.0 }
    }

    /// Forms the stiffness at a state with multipliers.
    pub fn form(&mut self, state: &Configuration, lambda: &[f64]) {
        let loads = vec![0.0; self.model.joints.len()];
        let plain = Plain { loads: &loads, ..plain(state) };
        self.equations.jacobian(&state.q);
        self.linear.form(&mut self.equations, &At { plain, lambda });
    }

    /// Largest entries of stiffness and damping.
    pub fn largest(&self) -> [f64; 2] {
        [&self.linear.K, &self.linear.D].map(|x| x.iter().fold(0.0_f64, |m, x| m.max(x.abs())))
    }

    /// Largest entry of the antisymmetric part of the stiffness.
    pub fn antisymmetric(&self) -> f64 {
        let blocks =
            self.linear.pairs.iter().map(|&(i, j, at)| (self.block(i, j, at, Part::Whole) - self.block(i, j, at, Part::Symmetric)).amax());
        blocks.fold(0.0, f64::max)
    }

    /// Largest row sum of the symmetric stiffness, with rotations converted to lengths by `length`.
    pub fn stiffest(&self, length: f64) -> f64 {
        let scale = |k: usize| if k < 3 { 1.0 } else { length };
        let mut sums = vec![0.0; 6 * self.linear.bodies];
        for &(i, j, at) in &self.linear.pairs {
            let B = self.block(i, j, at, Part::Symmetric);
            (0..6).for_each(|r| sums[6 * (i - 1) + r] += (0..6).map(|c| B[(r, c)].abs() / (scale(r) * scale(c))).sum::<f64>());
        }
        sums.into_iter().fold(0.0, f64::max)
    }

    /// The diagonal of `G W^-1 G^T`, by row: displacement of a row per unit force.
    pub fn mobility(&self) -> Vec<f64> {
        let set = &self.equations.set;
        let mut out = vec![0.0; set.rows()];
        for c in 0..set.list.len() {
            for block in set.blocks_of(c) {
                let w = &self.weights[block.body];
                let J = w.J.try_inverse().unwrap_or_else(Matrix3::zeros);
                for (r, row) in (set.row_start[c]..set.row_start[c + 1]).enumerate() {
                    let g = &self.equations.G[block.start + 6 * r..block.start + 6 * r + 6];
                    let turn = nalgebra::Vector3::new(g[3], g[4], g[5]);
                    out[row] += (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) / w.m + turn.dot(&(J * turn));
                }
            }
        }
        out
    }

    fn block(&self, i: usize, j: usize, at: usize, part: Part) -> Matrix6<f64> {
        let B = Linear::block(&self.linear.K, at);
        match part {
            Part::Whole => B,
            Part::Symmetric => (B + Linear::block(&self.linear.K, self.linear.pattern.block(j - 1, i - 1)).transpose()) * 0.5,
        }
    }

    /// Passes the blocks of `K + shift W + firm G^T P G`, including raised weights, to `add` one by one; the same block may occur
    /// repeatedly.
    fn blocks(&self, shift: f64, part: Part, firm: f64, mut add: impl FnMut(usize, usize, &Matrix6<f64>)) {
        for &(i, j, at) in &self.linear.pairs {
            let mut B = self.block(i, j, at, part);
            if i == j {
                let w = &self.weights[i];
                (0..3).for_each(|k| B[(k, k)] += shift * w.m);
                let turning = (w.J + Matrix3::identity() * w.raised) * shift + B.fixed_view::<3, 3>(3, 3);
                B.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
            }
            add(i, j, &B);
        }
        let (set, G) = (&self.equations.set, &self.equations.G);
        for c in 0..if self.springs.is_empty() { 0 } else { set.list.len() } {
            let rows = set.row_start[c]..set.row_start[c + 1];
            for a in set.blocks_of(c) {
                for b in set.blocks_of(c) {
                    let mut B = Matrix6::zeros();
                    for (r, p) in self.springs[rows.clone()].iter().enumerate() {
                        let of = |start: usize| nalgebra::Vector6::from_column_slice(&G[start + 6 * r..start + 6 * r + 6]);
                        B += of(a.start) * of(b.start).transpose() * (firm * p);
                    }
                    add(a.body, b.body, &B);
                }
            }
        }
    }

    /// Factorises with a multiple of the weights added; `false` if the matrix is singular.
    pub fn factor(&mut self, shift: f64, part: Part) -> bool {
        (self.shift, self.part) = (shift, part);
        let mut lu = self.lu.take().unwrap_or_else(|| BlockLu::new(&self.linear.pattern));
        let a = lu.clear();
        let (linear, e, n) = (&self.linear, &self.equations, self.linear.bodies);
        self.blocks(shift, part, 1.0, |i, j, B| {
            let at = linear.pattern.block(i - 1, j - 1);
            for r in 0..6 {
                (0..6).for_each(|c| a[at + 6 * r + c] += B[(r, c)]);
            }
        });
        for c in 0..e.set.list.len() {
            let m = e.set.row_start[c + 1] - e.set.row_start[c];
            for block in e.set.blocks_of(c) {
                let (up, down) = (linear.pattern.block(block.body - 1, n + c), linear.pattern.block(n + c, block.body - 1));
                a[up..up + 6 * m].copy_from_slice(&linear.U[up..up + 6 * m]);
                a[down..down + 6 * m].copy_from_slice(&e.G[block.start..block.start + 6 * m]);
            }
            let at = linear.pattern.block(n + c, n + c);
            (0..m).for_each(|r| a[at + r * m + r] = -self.eps[e.set.row_start[c] + r]);
        }
        let done = lu.factor();
        self.lu = Some(lu);
        done
    }

    /// Whether the symmetric part of `K + shift W + G^T P G` is positive definite: then the stiffness with these weights is positive for
    /// every motion that satisfies the rows.
    pub fn holds(&mut self, shift: f64) -> bool {
        let mut solver = self.definite.take().unwrap_or_else(|| {
            let n = self.linear.bodies;
            let mut neighbours = vec![Vec::new(); n];
            let other = self.linear.pairs.iter().filter(|(i, j, _)| i != j);
            other.for_each(|&(i, j, _)| neighbours[i - 1].push(j as u32 - 1));
            BlockSolver::new(BlockPattern::new(&vec![6; n], &neighbours))
        });
        solver.clear();
        self.blocks(shift, Part::Symmetric, self.firmer, |i, j, B| {
            // Only one of the two symmetric off-diagonal blocks is stored.
            let (at, rows_first) = solver.pattern().block(i - 1, j - 1);
            if rows_first {
                let a = solver.values_mut();
                for r in 0..6 {
                    (0..6).for_each(|c| a[at + 6 * r + c] += B[(r, c)]);
                }
            }
        });
        let mut diagonal = vec![0.0; solver.pattern().rows()];
        solver.diagonal(&mut diagonal);
        let mut holds = diagonal.iter().all(|x| *x > 0.0);
        if holds {
            solver.factor();
            holds = solver.pivots().iter().all(|x| *x > TINY);
        }
        self.definite = Some(solver);
        holds
    }

    /// Largest entry of the stiffness of a body with respect to its own translations.
    pub fn own(&self, body: usize) -> f64 {
        let at = self.linear.pattern.block(body - 1, body - 1);
        Linear::block(&self.linear.K, at).fixed_view::<3, 3>(0, 0).amax()
    }

    /// Selects a part of the stiffness for products, without weights.
    pub fn plain(&mut self, part: Part) {
        (self.shift, self.part) = (0.0, part);
    }

    /// `W x`.
    pub fn weigh(&self, x: &DVector<f64>) -> DVector<f64> {
        let bodies = by_body(x).into_iter().zip(&self.weights);
        stacked(&bodies.map(|(x, w)| Wrench { F: x.v * w.m, T: w.J * x.w }).collect::<Vec<_>>())
    }

    /// `(K + s W) x` with part and shift of the last factorisation, or of [`Kkt::plain`].
    pub fn stiffness(&self, x: &DVector<f64>) -> DVector<f64> {
        let mut y = self.weigh(x) * self.shift;
        for &(i, j, at) in &self.linear.pairs {
            let part = self.block(i, j, at, self.part) * x.fixed_rows::<6>(6 * (j - 1));
            let mut rows = y.fixed_rows_mut::<6>(6 * (i - 1));
            rows += part;
        }
        y
    }

    /// The motion that satisfies the rows and solves the system for `b`.
    pub fn solve(&mut self, b: &DVector<f64>) -> DVector<f64> {
        let (n, rows) = (b.len(), self.eps.len());
        let (mut x, mut mu) = (DVector::zeros(n), vec![0.0; rows]);
        let mut work = vec![0.0; n + rows];
        let mut last = f64::INFINITY;
        for _ in 0..REFINED {
            let e = &self.equations;
            let mut gap = vec![0.0; rows];
            e.set.multiply(&e.G, &by_body(&x), &mut gap);
            let mut pull = vec![Wrench::zero(); self.model.bodies.len()];
            e.set.add_transposed(&e.G, &mu, 1.0, &mut pull);
            let mut left = b - self.stiffness(&x) - stacked(&pull);
            let size = left.amax() / b.amax().max(f64::MIN_POSITIVE)
                + gap.iter().fold(0.0_f64, |m, g| m.max(g.abs())) / x.amax().max(f64::MIN_POSITIVE);
            if size <= ENOUGH || size > 0.8 * last || size.is_nan() {
                break;
            }
            last = size;
            if !self.springs.is_empty() {
                let stretched: Vec<f64> = gap.iter().zip(&self.springs).map(|(g, p)| g * p).collect();
                pull.fill(Wrench::zero());
                e.set.add_transposed(&e.G, &stretched, 1.0, &mut pull);
                left -= stacked(&pull);
            }
            work[..n].copy_from_slice(left.as_slice());
            work[n..].iter_mut().zip(&gap).for_each(|(w, g)| *w = -g);
            let Some(lu) = &mut self.lu else { break };
            lu.solve(&mut work);
            x += DVector::from_column_slice(&work[..n]);
            mu.iter_mut().zip(&work[n..]).for_each(|(m, w)| *m += w);
        }
        x
    }
}
