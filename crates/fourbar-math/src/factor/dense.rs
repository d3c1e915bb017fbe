//! Dense LU with partial pivoting, row by row.

use nalgebra::ComplexField;

/// A dense matrix and its factors, real or complex; nothing is allocated after construction.
#[derive(Debug, Clone)]
pub struct DenseLu<T = f64> {
    n: usize,
    /// Position in `lu` of every entry; empty if values are given as the whole matrix by rows.
    at: Vec<u32>,
    lu: Vec<T>,
    /// The factors by columns: substitution then runs along them.
    columns: Vec<T>,
    /// Original row of each pivot row.
    row: Vec<u32>,
    /// Largest entry of each column.
    largest: Vec<f64>,
    work: Vec<T>,
}

impl<T: ComplexField<RealField = f64> + Copy> DenseLu<T> {
    /// For full matrices, given by rows.
    pub fn new(n: usize) -> Self {
        Self::of(n, &[])
    }

    /// For matrices with entries at `pattern`; repeated positions are summed.
    pub(crate) fn of(n: usize, pattern: &[(u32, u32)]) -> Self {
        let zero = T::zero();
        Self {
            n,
            at: pattern.iter().map(|&(i, j)| i * n as u32 + j).collect(),
            lu: vec![zero; n * n],
            columns: vec![zero; n * n],
            row: vec![0; n],
            largest: vec![0.0; n],
            work: vec![zero; n],
        }
    }

    /// Rows.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Factors the entries of the pattern.
    pub(crate) fn factor(&mut self, values: &[T]) -> f64 {
        self.lu.fill(T::zero());
        for (&at, v) in self.at.iter().zip(values) {
            self.lu[at as usize] += *v;
        }
        self.eliminate()
    }

    /// Factors the matrix whose entry in a row and a column is returned by `entry`; returns the smallest ratio of a pivot to the largest
    /// entry of its column, 0 if singular.
    pub fn factor_whole(&mut self, entry: impl Fn(usize, usize) -> T) -> f64 {
        let n = self.n;
        for (k, x) in self.lu.iter_mut().enumerate() {
            *x = entry(k / n, k % n);
        }
        self.eliminate()
    }

    fn eliminate(&mut self) -> f64 {
        let n = self.n;
        for i in 0..n {
            self.row[i] = i as u32;
            // Reference for the pivots. The size of a complex number is the sum of the absolute parts: `hypot` differs between systems,
            // which could change the choice between equal pivots.
            self.largest[i] = (0..n).map(|k| self.lu[k * n + i].norm1()).fold(0.0, f64::max);
        }
        let mut worst = 1.0f64;
        for k in 0..n {
            let (mut best, mut size) = (k, 0.0);
            for i in k..n {
                let a = self.lu[i * n + k].norm1();
                if a > size {
                    (best, size) = (i, a);
                }
            }
            // Not finite or zero: singular. The comparison is false for NaN.
            if !(size > 0.0 && size.is_finite()) {
                return 0.0;
            }
            worst = worst.min(size / self.largest[k]);
            if best != k {
                let (upper, lower) = self.lu.split_at_mut(best * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
                self.row.swap(k, best);
            }
            let (upper, lower) = self.lu.split_at_mut((k + 1) * n);
            let pivot = &upper[k * n..];
            let inverse = T::one() / pivot[k];
            for r in lower.chunks_exact_mut(n) {
                if !r[k].is_zero() {
                    let l = r[k] * inverse;
                    r[k] = l;
                    for (x, p) in r[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                        *x -= l * *p;
                    }
                }
            }
        }
        // Pivots are stored inverted: solving multiplies.
        for k in 0..n {
            self.lu[k * n + k] = T::one() / self.lu[k * n + k];
            for i in 0..n {
                self.columns[k * n + i] = self.lu[i * n + k];
            }
        }
        worst
    }

    /// Replaces `b` by the solution.
    pub fn solve(&mut self, b: &mut [T]) {
        let n = self.n;
        for i in 0..n {
            self.work[i] = b[self.row[i] as usize];
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate() {
            let x = self.work[k];
            for (w, l) in self.work[k + 1..].iter_mut().zip(&column[k + 1..]) {
                *w -= *l * x;
            }
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate().rev() {
            let x = self.work[k] * column[k];
            self.work[k] = x;
            for (w, u) in self.work[..k].iter_mut().zip(&column[..k]) {
                *w -= *u * x;
            }
        }
        b[..n].copy_from_slice(&self.work);
    }
}

impl DenseLu<f64> {
    /// Replaces several right-hand sides, side by side, by their solutions.
    #[inline(always)]
    pub fn solve_lanes<const N: usize>(&self, b: &mut [[f64; N]], work: &mut [[f64; N]]) {
        let n = self.n;
        let work = &mut work[..n];
        for (w, &row) in work.iter_mut().zip(&self.row) {
            *w = b[row as usize];
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate() {
            let x = work[k];
            for (w, l) in work[k + 1..].iter_mut().zip(&column[k + 1..]) {
                for i in 0..N {
                    w[i] -= *l * x[i];
                }
            }
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate().rev() {
            let x = work[k].map(|x| x * column[k]);
            work[k] = x;
            for (w, u) in work[..k].iter_mut().zip(&column[..k]) {
                for i in 0..N {
                    w[i] -= *u * x[i];
                }
            }
        }
        b[..n].copy_from_slice(work);
    }
}
