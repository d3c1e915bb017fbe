//! The tangent space of the constraints at a pose, redundant rows included: free motions, multipliers, corrections.
//!
//! For the decision about the rank, rotations are converted to lengths (`L theta`) and rows have unit length, so that units and positions
//! do not matter.
//!
//! Singular vectors of equal singular values, which are frequent in mechanisms, may be accurate to only four digits. Solutions obtained
//! with them are therefore corrected twice by their residuals: each correction multiplies the error by that of the vectors. Near singular
//! positions, where corrections would not be small, none is made.

use fourbar::Model;
use fourbar::analysis::rank::TOLERANCE;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Number of corrections of solutions obtained with singular vectors.
const CORRECTIONS: usize = 2;

/// Corrections above this share are rejected.
const SMALL: f64 = 0.1;

/// Components of self-stresses below this share are zero: the accuracy of the singular vectors.
const UNIQUE: f64 = 1e-4;

/// Applies corrections to a solution as long as they decrease.
fn corrected(mut x: DVector<f64>, correction: impl Fn(&DVector<f64>) -> DVector<f64>) -> DVector<f64> {
    let mut most = SMALL * x.norm();
    for _ in 0..CORRECTIONS {
        let d = correction(&x);
        let size = d.norm();
        if size > most {
            break;
        }
        most = SMALL * size;
        x += d;
    }
    x
}

/// Free motions of a Jacobian and least-squares solutions with it.
#[derive(Clone, Debug)]
pub struct Space {
    /// Free motions, one column each; orthonormal with rotations converted to lengths.
    pub N: DMatrix<f64>,
    /// Number of independent rows.
    pub rank: usize,
    /// Number of rows.
    pub rows: usize,
    /// Smallest nonzero singular value, as a share of the largest.
    pub smallest: f64,
    /// Left and right singular vectors of the nonzero singular values, and these values.
    U: DMatrix<f64>,
    V: DMatrix<f64>,
    S: DVector<f64>,
    /// The scaled matrix that they belong to.
    A: DMatrix<f64>,
    /// Divisors of rows and factors of columns.
    row: DVector<f64>,
    column: DVector<f64>,
}

/// Weight that converts a component of an increment to a length: one, or the characteristic length.
pub fn lengths(model: &Model) -> DVector<f64> {
    DVector::from_fn(6 * model.moving(), |c, _| if c % 6 < 3 { 1.0 } else { model.length })
}

impl Space {
    /// The space of a Jacobian with respect to the velocities of all moving bodies.
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
        if rows == 0 {
            return Self::free(n, A, none, row, column);
        }
        let tall = if rows < n { A.clone().resize(n, n, 0.0) } else { A.clone() };
        let Some(svd) = dense::svd(tall, true, true) else {
            return Self::free(n, A, none, row, column);
        };
        let s = &svd.singular_values;
        let mut order: Vec<usize> = (0..s.len()).collect();
        order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
        let top = s.iter().fold(0.0_f64, |m, x| m.max(*x)).max(f64::MIN_POSITIVE);
        let rank = order.iter().filter(|&&i| s[i] > TOLERANCE * top).count();
        let (Some(u), Some(v_t)) = (&svd.u, &svd.v_t) else { return Self::free(n, A, none, row, column) };
        let free = DMatrix::from_fn(n, n - rank, |i, j| v_t[(order[rank + j], i)]);
        let mut out = Self {
            N: free,
            rank,
            rows,
            smallest: if rank > 0 { s[order[rank - 1]] / top } else { 1.0 },
            U: DMatrix::from_fn(rows, rank, |i, j| u[(i, order[j])]),
            V: DMatrix::from_fn(n, rank, |i, j| v_t[(order[j], i)]),
            S: DVector::from_fn(rank, |j, _| s[order[j]]),
            A,
            row,
            column,
        };
        out.correct_free_motions();
        out
    }

    fn free(n: usize, A: DMatrix<f64>, U: DMatrix<f64>, row: DVector<f64>, column: DVector<f64>) -> Self {
        let N = DMatrix::from_diagonal(&column);
        Self { N, rank: 0, rows: A.nrows(), smallest: 1.0, U, V: DMatrix::zeros(n, 0), S: DVector::zeros(0), A, row, column }
    }

    /// Removes from the free motions the components that violate the rows, orthonormalises them, and restores their units.
    fn correct_free_motions(&mut self) {
        if self.rank > 0 && self.N.ncols() > 0 {
            let mut most = SMALL;
            for _ in 0..=CORRECTIONS {
                let seen = &self.A * &self.N;
                let mut x = self.U.tr_mul(&seen);
                x.row_iter_mut().zip(self.S.iter()).for_each(|(mut r, s)| r /= *s);
                if x.amax() > most {
                    break;
                }
                most = x.amax();
                self.N -= &self.V * x;
            }
            self.N = self.N.clone().qr().q();
        }
        self.N.row_iter_mut().zip(self.column.iter()).for_each(|(mut r, x)| r *= *x);
    }

    /// `A^+ b` with the singular vectors, uncorrected.
    fn across(&self, b: &DVector<f64>) -> DVector<f64> {
        &self.V * self.U.tr_mul(b).component_div(&self.S)
    }

    /// The same for the transposed matrix.
    fn along(&self, f: &DVector<f64>) -> DVector<f64> {
        &self.U * self.V.tr_mul(f).component_div(&self.S)
    }

    /// Number of free motions.
    pub fn freedom(&self) -> usize {
        self.N.ncols()
    }

    /// `N^T K N`.
    pub fn reduced(&self, K: &DMatrix<f64>) -> DMatrix<f64> {
        // Without rows the free motions are the coordinates. The product with a transposed matrix would be slow, since it is formed element
        // by element.
        match self.rank {
            0 => DMatrix::from_fn(K.nrows(), K.ncols(), |i, j| self.column[i] * K[(i, j)] * self.column[j]),
            _ => self.N.transpose() * (K * &self.N),
        }
    }

    /// Number of rows that depend on others.
    pub fn redundant(&self) -> usize {
        self.rows - self.rank
    }

    /// Whether the multiplier of a row is unique, that is, not changed by any self-stress.
    pub fn is_unique(&self, row: usize) -> bool {
        1.0 - self.U.row(row).norm_squared() < UNIQUE * UNIQUE
    }

    /// The multipliers of least norm that minimise the residual of `G^T lambda = f`.
    pub fn multipliers(&self, f: &DVector<f64>) -> DVector<f64> {
        let f = f.component_mul(&self.column);
        corrected(self.along(&f), |y| self.along(&(&f - self.A.tr_mul(y)))).component_div(&self.row)
    }

    /// The smallest increment that minimises the residual of `G dq = b`.
    pub fn increment(&self, b: &DVector<f64>) -> DVector<f64> {
        let b = b.component_div(&self.row);
        corrected(self.across(&b), |x| self.across(&(&b - &self.A * x))).component_mul(&self.column)
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
