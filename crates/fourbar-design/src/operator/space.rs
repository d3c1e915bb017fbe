//! The tangent space of the constraints at a pose, redundant rows included: free motions, multipliers, corrections.
//!
//! Rotations count as lengths (`L theta`) and rows have unit length where the rank is decided, so that units and places do not matter.

use fourbar::Model;
use fourbar::analysis::rank::TOLERANCE;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Free motions of a Jacobian and least-squares solutions with it.
#[derive(Clone, Debug)]
pub struct Space {
    /// Free motions, one column each; orthonormal with rotations measured as lengths.
    pub N: DMatrix<f64>,
    /// Independent rows.
    pub rank: usize,
    /// Rows.
    pub rows: usize,
    /// Smallest singular value that counts, as a share of the largest.
    pub smallest: f64,
    /// Left and right singular vectors of what counts, and the singular values.
    U: DMatrix<f64>,
    V: DMatrix<f64>,
    S: DVector<f64>,
    /// What rows were divided by, and columns multiplied with.
    row: DVector<f64>,
    column: DVector<f64>,
}

/// Weight of a component of an increment that makes it a length: one, or the characteristic length.
pub fn lengths(model: &Model) -> DVector<f64> {
    DVector::from_fn(6 * model.moving(), |c, _| if c % 6 < 3 { 1.0 } else { model.length })
}

impl Space {
    /// Of a Jacobian in terms of the velocities of all moving bodies.
    pub fn new(model: &Model, G: &DMatrix<f64>) -> Self {
        let n = 6 * model.moving();
        let column = lengths(model).map(|x| 1.0 / x);
        let mut A = DMatrix::from_fn(G.nrows(), n, |i, j| G[(i, j)] * column[j]);
        let mut row = DVector::from_element(G.nrows(), 1.0);
        for (mut r, size) in A.row_iter_mut().zip(row.iter_mut()) {
            let norm = r.norm();
            if norm > 0.0 {
                *size = norm;
                r /= norm;
            }
        }
        let (rows, none) = (G.nrows(), DMatrix::zeros(G.nrows(), 0));
        let tall = if rows < n { A.resize(n, n, 0.0) } else { A };
        let Some(svd) = dense::svd(tall, true, true) else {
            return Self::free(n, rows, none, row, column);
        };
        let s = &svd.singular_values;
        let mut order: Vec<usize> = (0..s.len()).collect();
        order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
        let top = s.iter().fold(0.0_f64, |m, x| m.max(*x)).max(f64::MIN_POSITIVE);
        let rank = order.iter().filter(|&&i| s[i] > TOLERANCE * top).count();
        let (Some(u), Some(v_t)) = (&svd.u, &svd.v_t) else { return Self::free(n, rows, none, row, column) };
        Self {
            N: DMatrix::from_fn(n, n - rank, |i, j| v_t[(order[rank + j], i)] * column[i]),
            rank,
            rows,
            smallest: if rank > 0 { s[order[rank - 1]] / top } else { 1.0 },
            U: DMatrix::from_fn(rows, rank, |i, j| u[(i, order[j])]),
            V: DMatrix::from_fn(n, rank, |i, j| v_t[(order[j], i)]),
            S: DVector::from_fn(rank, |j, _| s[order[j]]),
            row,
            column,
        }
    }

    fn free(n: usize, rows: usize, U: DMatrix<f64>, row: DVector<f64>, column: DVector<f64>) -> Self {
        let N = DMatrix::from_diagonal(&column);
        Self { N, rank: 0, rows, smallest: 1.0, U, V: DMatrix::zeros(n, 0), S: DVector::zeros(0), row, column }
    }

    /// Free motions.
    pub fn freedom(&self) -> usize {
        self.N.ncols()
    }

    /// Rows that depend on others.
    pub fn redundant(&self) -> usize {
        self.rows - self.rank
    }

    /// The multipliers of least norm that come nearest to `G^T lambda = f`.
    pub fn multipliers(&self, f: &DVector<f64>) -> DVector<f64> {
        let x = self.V.tr_mul(&f.component_mul(&self.column)).component_div(&self.S);
        (&self.U * x).component_div(&self.row)
    }

    /// The smallest increment with `G dq = b`, of least error where there is none.
    pub fn increment(&self, b: &DVector<f64>) -> DVector<f64> {
        let x = self.U.tr_mul(&b.component_div(&self.row)).component_div(&self.S);
        (&self.V * x).component_mul(&self.column)
    }

    /// The same for several right-hand sides.
    pub fn increments(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(self.N.nrows(), b.ncols());
        for (k, c) in b.column_iter().enumerate() {
            out.set_column(k, &self.increment(&c.into_owned()));
        }
        out
    }

    /// Components of an increment along the free motions.
    pub fn components(&self, dq: &DVector<f64>) -> DVector<f64> {
        let weight = self.column.map(|x| 1.0 / (x * x));
        self.N.tr_mul(&dq.component_mul(&weight))
    }

    /// `N^T W`, whose product with an increment gives its components along the free motions.
    pub fn reader(&self) -> DMatrix<f64> {
        let mut R = self.N.transpose();
        for (mut c, x) in R.column_iter_mut().zip(self.column.iter()) {
            c /= x * x;
        }
        R
    }
}
