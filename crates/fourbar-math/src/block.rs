//! Sparse Cholesky factorisation of a symmetric positive definite matrix of small dense blocks.
//!
//! Nodes are constraints with 1 to 6 rows (any size works). The pattern and the elimination order (minimum degree, weighted by block size)
//! are fixed once; factoring and solving allocate nothing. Pivots are stored relative to the original diagonal, so that the caller can
//! identify dependent rows.
//!
//! Some nodes may instead represent terms of the matrix: `S + B B^T` is factored as `[S, B; B^T, -1]` where `B B^T` would cause much fill.
//! Their pivots are negative definite; otherwise they are treated alike.

mod pattern;
mod substitution;
#[cfg(test)]
mod tests;

pub use pattern::BlockPattern;
use std::ops::Range;

/// A factorisation on a fixed pattern.
#[derive(Clone, Debug)]
pub struct BlockSolver {
    pattern: BlockPattern,
    /// Matrix before, factor after [`BlockSolver::factor`].
    a: Vec<f64>,
    /// Permuted right-hand side; written by `solve`.
    x: Vec<f64>,
    /// Diagonal before elimination, permuted; written by `factor`.
    reference: Vec<f64>,
    /// Reciprocal diagonal of the factor; written by `factor`.
    inverse_diagonal: Vec<f64>,
    /// Ratio of pivot to original diagonal, by caller's row; written by `factor`.
    pivots: Vec<f64>,
}

/// A pivot this small relative to its diagonal is rounding; the row is then omitted from the solution.
const TINY: f64 = 1e-15;

impl BlockSolver {
    /// A solver with all values zero.
    pub fn new(pattern: BlockPattern) -> Self {
        let (values, rows) = (pattern.values, pattern.rows);
        Self {
            pattern,
            a: vec![0.0; values],
            x: vec![0.0; rows],
            reference: vec![0.0; rows],
            inverse_diagonal: vec![0.0; rows],
            pivots: vec![0.0; rows],
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    /// Sets all values to zero and returns them for filling, addressed through [`BlockPattern::block`]. Of diagonal blocks only the lower
    /// triangle is read.
    pub fn clear(&mut self) -> &mut [f64] {
        self.a.fill(0.0);
        &mut self.a
    }

    /// The values, addressed through [`BlockPattern::block`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Adds `mu` to the whole diagonal, nodes with negative pivots omitted.
    pub fn shift(&mut self, mu: f64) {
        for k in (0..self.pattern.size.len()).filter(|&k| !self.pattern.negative[k]) {
            let (m, d) = (self.pattern.size[k], self.pattern.diagonal[k]);
            for i in 0..m {
                self.a[d + i * m + i] += mu;
            }
        }
    }

    /// Adds `scale` times `mu[row]` to the diagonal, nodes with negative pivots omitted.
    pub fn shift_rows(&mut self, mu: &[f64], scale: f64) {
        let p = &self.pattern;
        for k in (0..p.size.len()).filter(|&k| !p.negative[k]) {
            let (m, d) = (p.size[k], p.diagonal[k]);
            for i in 0..m {
                self.a[d + i * m + i] += scale * mu[p.caller_row[k] + i];
            }
        }
    }

    /// Diagonal entries in the caller's row order, nodes with negative pivots omitted.
    pub fn diagonal(&self, out: &mut [f64]) {
        let p = &self.pattern;
        for k in (0..p.size.len()).filter(|&k| !p.negative[k]) {
            for i in 0..p.size[k] {
                out[p.caller_row[k] + i] = self.a[p.diagonal[k] + i * p.size[k] + i];
            }
        }
    }

    /// Pivots of the last factorisation relative to the diagonal, by caller's row: small means dependent on earlier rows.
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    fn columns(&mut self) {
        for k in 0..self.pattern.size.len() {
            match self.pattern.size[k] {
                _ if self.pattern.negative[k] => self.column_negative(k),
                1 => self.column::<1>(k),
                2 => self.column::<2>(k),
                3 => self.column::<3>(k),
                4 => self.column::<4>(k),
                5 => self.column::<5>(k),
                6 => self.column::<6>(k),
                _ => self.column_any(k),
            }
        }
    }

    /// Eliminates a column of `K` scalar columns.
    fn column<const K: usize>(&mut self, k: usize) {
        let p = &self.pattern;
        let d = p.diagonal[k];
        let mut L = [[0.0; K]; K];
        for i in 0..K {
            for j in 0..=i {
                L[i][j] = self.a[d + i * K + j];
            }
        }
        let mut inverse = [0.0; K];
        for j in 0..K {
            let mut s = L[j][j];
            for c in 0..j {
                s -= L[j][c] * L[j][c];
            }
            let reference = self.reference[p.row[k] + j];
            self.pivots[p.caller_row[k] + j] = s / reference;
            if s > TINY * reference {
                let root = s.sqrt();
                L[j][j] = root;
                inverse[j] = 1.0 / root;
            } else {
                L[j][j] = f64::INFINITY;
                inverse[j] = 0.0;
            }
            for i in j + 1..K {
                let mut s = L[i][j];
                for c in 0..j {
                    s -= L[i][c] * L[j][c];
                }
                L[i][j] = s * inverse[j];
            }
        }
        for i in 0..K {
            for j in 0..=i {
                self.a[d + i * K + j] = L[i][j];
            }
            self.inverse_diagonal[p.row[k] + i] = inverse[i];
        }
        // Rows below: X L^T = B.
        let range = p.start[k]..p.start[k + 1];
        for b in range.clone() {
            let m = p.size[p.below[b] as usize];
            let block = &mut self.a[p.offset[b]..p.offset[b] + m * K];
            for row in block.chunks_exact_mut(K) {
                for j in 0..K {
                    let mut s = row[j];
                    for c in 0..j {
                        s -= row[c] * L[j][c];
                    }
                    row[j] = s * inverse[j];
                }
            }
        }
        // X_b X_a^T is subtracted from the trailing blocks (b, a). Column k is stored before all of them.
        let end = if range.is_empty() { d } else { p.offset[range.end - 1] + p.size[p.below[range.end - 1] as usize] * K };
        let (left, right) = self.a.split_at_mut(end);
        for a in range.clone() {
            let ma = p.size[p.below[a] as usize];
            let Xa = &left[p.offset[a]..p.offset[a] + ma * K];
            let blocks = p.changed(a, range.end).iter().zip(a..range.end).map(|(t, b)| {
                let mb = p.size[p.below[b] as usize];
                let t = *t as usize - end;
                (t..t + mb * ma, &left[p.offset[b]..p.offset[b] + mb * K])
            });
            match ma {
                5 => update::<K, 5>(right, blocks, Xa),
                3 => update::<K, 3>(right, blocks, Xa),
                1 => update::<K, 1>(right, blocks, Xa),
                _ => blocks.for_each(|(t, Xb)| update_any(&mut right[t], Xb, Xa, ma, K)),
            }
        }
    }

    /// The same for nodes of more than six rows.
    fn column_any(&mut self, k: usize) {
        self.triangle(k);
        self.trailing(k, update_any);
    }

    /// The same for nodes with negative pivots: the column is factored with its sign changed, and then added to the blocks after it.
    fn column_negative(&mut self, k: usize) {
        let p = &self.pattern;
        let last = p.start[k + 1];
        let end = if p.start[k] == last {
            p.diagonal[k] + p.size[k] * p.size[k]
        } else {
            p.offset[last - 1] + p.size[p.below[last - 1] as usize] * p.size[k]
        };
        self.a[p.diagonal[k]..end].iter_mut().for_each(|x| *x = -*x);
        self.triangle(k);
        self.trailing(k, add_any);
    }

    /// Factor of a diagonal block, and the blocks below it.
    fn triangle(&mut self, k: usize) {
        let p = &self.pattern;
        let (d, m) = (p.diagonal[k], p.size[k]);
        for j in 0..m {
            let mut s = self.a[d + j * m + j];
            for c in 0..j {
                s -= self.a[d + j * m + c] * self.a[d + j * m + c];
            }
            let reference = self.reference[p.row[k] + j];
            self.pivots[p.caller_row[k] + j] = s / reference;
            let inverse = if s > TINY * reference { 1.0 / s.sqrt() } else { 0.0 };
            self.a[d + j * m + j] = if inverse > 0.0 { s.sqrt() } else { f64::INFINITY };
            self.inverse_diagonal[p.row[k] + j] = inverse;
            for i in j + 1..m {
                let mut s = self.a[d + i * m + j];
                for c in 0..j {
                    s -= self.a[d + i * m + c] * self.a[d + j * m + c];
                }
                self.a[d + i * m + j] = s * inverse;
            }
        }
        let range = p.start[k]..p.start[k + 1];
        for b in range.clone() {
            let rows = p.size[p.below[b] as usize];
            for r in 0..rows {
                let o = p.offset[b] + r * m;
                for j in 0..m {
                    let mut s = self.a[o + j];
                    for c in 0..j {
                        s -= self.a[o + c] * self.a[d + j * m + c];
                    }
                    self.a[o + j] = s * self.inverse_diagonal[p.row[k] + j];
                }
            }
        }
    }

    /// Updates the blocks after a column, `change(T, X_b, X_a, rows of X_a, columns of both)`.
    fn trailing(&mut self, k: usize, change: fn(&mut [f64], &[f64], &[f64], usize, usize)) {
        let p = &self.pattern;
        let (d, m) = (p.diagonal[k], p.size[k]);
        let range = p.start[k]..p.start[k + 1];
        let end = if range.is_empty() { d } else { p.offset[range.end - 1] + p.size[p.below[range.end - 1] as usize] * m };
        let (left, right) = self.a.split_at_mut(end);
        for a in range.clone() {
            let ma = p.size[p.below[a] as usize];
            for (b, t) in (a..range.end).zip(p.changed(a, range.end)) {
                let mb = p.size[p.below[b] as usize];
                let t = *t as usize - end;
                let (Xa, Xb) = (&left[p.offset[a]..p.offset[a] + ma * m], &left[p.offset[b]..p.offset[b] + mb * m]);
                change(&mut right[t..t + mb * ma], Xb, Xa, ma, m);
            }
        }
    }

    /// Factors in place. Call after filling and shifting.
    pub fn factor(&mut self) {
        self.factor_beside(&[]);
    }

    /// The same if nodes with negative pivots represent a part of the matrix; `diagonal` is the diagonal of that part, by caller's row, and
    /// pivots are relative to the whole diagonal.
    pub fn factor_beside(&mut self, diagonal: &[f64]) {
        let p = &self.pattern;
        for k in 0..p.size.len() {
            let m = p.size[k];
            for i in 0..m {
                let own = self.a[p.diagonal[k] + i * m + i];
                let own = if p.negative[k] { -own } else { own };
                self.reference[p.row[k] + i] = own + diagonal.get(p.caller_row[k] + i).copied().unwrap_or(0.0);
            }
        }
        self.columns();
    }

    /// Solves in place; `b` is in the caller's row order.
    pub fn solve(&mut self, b: &mut [f64]) {
        let p = &self.pattern;
        let n = p.size.len();
        for k in 0..n {
            self.x[p.row[k]..p.row[k] + p.size[k]].copy_from_slice(&b[p.caller_row[k]..p.caller_row[k] + p.size[k]]);
        }
        for k in 0..n {
            match self.pattern.size[k] {
                1 => self.forward::<1>(k),
                2 => self.forward::<2>(k),
                3 => self.forward::<3>(k),
                4 => self.forward::<4>(k),
                5 => self.forward::<5>(k),
                6 => self.forward::<6>(k),
                m => self.forward_any(k, m),
            }
        }
        let p = &self.pattern;
        for k in (0..n).filter(|&k| p.negative[k]) {
            self.x[p.row[k]..p.row[k] + p.size[k]].iter_mut().for_each(|x| *x = -*x);
        }
        for k in (0..n).rev() {
            match self.pattern.size[k] {
                1 => self.backward::<1>(k),
                2 => self.backward::<2>(k),
                3 => self.backward::<3>(k),
                4 => self.backward::<4>(k),
                5 => self.backward::<5>(k),
                6 => self.backward::<6>(k),
                m => self.backward_any(k, m),
            }
        }
        let p = &self.pattern;
        for k in 0..n {
            b[p.caller_row[k]..p.caller_row[k] + p.size[k]].copy_from_slice(&self.x[p.row[k]..p.row[k] + p.size[k]]);
        }
    }
}

#[inline]
fn update<'a, const K: usize, const A: usize>(values: &mut [f64], blocks: impl Iterator<Item = (Range<usize>, &'a [f64])>, xa: &[f64]) {
    let mut transposed = [[0.0; A]; K];
    for (j, row) in xa.chunks_exact(K).enumerate() {
        for c in 0..K {
            transposed[c][j] = row[c];
        }
    }
    for (t, xb) in blocks {
        for (out, row) in values[t].chunks_exact_mut(A).zip(xb.chunks_exact(K)) {
            let mut sum = [0.0; A];
            for c in 0..K {
                for j in 0..A {
                    sum[j] += row[c] * transposed[c][j];
                }
            }
            for j in 0..A {
                out[j] -= sum[j];
            }
        }
    }
}

fn update_any(t: &mut [f64], xb: &[f64], xa: &[f64], ma: usize, k: usize) {
    for (out, row) in t.chunks_exact_mut(ma).zip(xb.chunks_exact(k)) {
        for (o, other) in out.iter_mut().zip(xa.chunks_exact(k)) {
            *o -= row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}

/// `T += X_b X_a^T`.
fn add_any(t: &mut [f64], xb: &[f64], xa: &[f64], ma: usize, k: usize) {
    for (out, row) in t.chunks_exact_mut(ma).zip(xb.chunks_exact(k)) {
        for (o, other) in out.iter_mut().zip(xa.chunks_exact(k)) {
            *o += row.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        }
    }
}
