//! The tangent space of the constraints at a pose, redundant rows included: free motions, multipliers, corrections.
//!
//! Rotations count as lengths (`L theta`) and rows have unit length where the rank is decided, so that units and places do not matter.
//!
//! Singular vectors of equal singular values may come out of the iteration wrong in the fifth digit, and mechanisms have many of them. What is
//! solved with them is therefore corrected by its own residual, twice: each time the error is multiplied by that of the vectors. Near
//! singular positions, where corrections would not be small, nothing is corrected.

use fourbar::Model;
use fourbar::analysis::rank::TOLERANCE;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Corrections of what is solved with singular vectors.
const CORRECTIONS: usize = 2;

/// Corrections above this share are none.
const SMALL: f64 = 0.1;

/// Share of a self-stress below which a row has none: that of the singular vectors.
const UNIQUE: f64 = 1e-4;

/// A solution with its corrections, as long as they become smaller.
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
    /// The matrix that they belong to.
    A: DMatrix<f64>,
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

    /// Takes out of the free motions what the rows see of them, makes them orthonormal again, and gives them their units.
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

    /// `A^+ b` by the singular vectors as they are.
    fn across(&self, b: &DVector<f64>) -> DVector<f64> {
        &self.V * self.U.tr_mul(b).component_div(&self.S)
    }

    /// The same of the transposed matrix.
    fn along(&self, f: &DVector<f64>) -> DVector<f64> {
        &self.U * self.V.tr_mul(f).component_div(&self.S)
    }

    /// Free motions.
    pub fn freedom(&self) -> usize {
        self.N.ncols()
    }

    /// `N^T K N`.
    pub fn reduced(&self, K: &DMatrix<f64>) -> DMatrix<f64> {
        // Without rows the free motions are the coordinates. A product of a transposed matrix is formed element by element, which takes long.
        match self.rank {
            0 => DMatrix::from_fn(K.nrows(), K.ncols(), |i, j| self.column[i] * K[(i, j)] * self.column[j]),
            _ => self.N.transpose() * (K * &self.N),
        }
    }

    /// Rows that depend on others.
    pub fn redundant(&self) -> usize {
        self.rows - self.rank
    }

    /// Whether the multiplier of a row is unique: no self-stress changes it.
    pub fn is_unique(&self, row: usize) -> bool {
        1.0 - self.U.row(row).norm_squared() < UNIQUE * UNIQUE
    }

    /// The multipliers of least norm that come nearest to `G^T lambda = f`.
    pub fn multipliers(&self, f: &DVector<f64>) -> DVector<f64> {
        let f = f.component_mul(&self.column);
        corrected(self.along(&f), |y| self.along(&(&f - self.A.tr_mul(y)))).component_div(&self.row)
    }

    /// The smallest increment with `G dq = b`, of least error where there is none.
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
