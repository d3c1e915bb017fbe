//! Forward and backward substitution, column by column.

use super::BlockSolver;

impl BlockSolver {
    /// Forward substitution of a column: `y = L^-1 y`, and its contribution to the rows below.
    pub(super) fn forward<const K: usize>(&mut self, k: usize) {
        let p = &self.pattern;
        let (d, r) = (p.diagonal[k], p.row[k]);
        let mut y = [0.0; K];
        y.copy_from_slice(&self.x[r..r + K]);
        let L = &self.a[d..d + K * K];
        for j in 0..K {
            let mut s = y[j];
            for c in 0..j {
                s -= L[j * K + c] * y[c];
            }
            y[j] = s * self.inverse_diagonal[r + j];
        }
        self.x[r..r + K].copy_from_slice(&y);
        // The blocks of a column are contiguous.
        let mut values = &self.a[d + K * K..];
        for &i in &p.below[p.start[k]..p.start[k + 1]] {
            let out = &mut self.x[p.row[i as usize]..p.row[i as usize + 1]];
            let (block, rest) = values.split_at(out.len() * K);
            values = rest;
            for (o, row) in out.iter_mut().zip(block.chunks_exact(K)) {
                let mut s = 0.0;
                for c in 0..K {
                    s += row[c] * y[c];
                }
                *o -= s;
            }
        }
    }

    /// Backward substitution of a column.
    pub(super) fn backward<const K: usize>(&mut self, k: usize) {
        let p = &self.pattern;
        let (d, r) = (p.diagonal[k], p.row[k]);
        let mut y = [0.0; K];
        y.copy_from_slice(&self.x[r..r + K]);
        let mut values = &self.a[d + K * K..];
        for &i in &p.below[p.start[k]..p.start[k + 1]] {
            let known = &self.x[p.row[i as usize]..p.row[i as usize + 1]];
            let (block, rest) = values.split_at(known.len() * K);
            values = rest;
            for (x, row) in known.iter().zip(block.chunks_exact(K)) {
                for c in 0..K {
                    y[c] -= row[c] * x;
                }
            }
        }
        let L = &self.a[d..d + K * K];
        for j in (0..K).rev() {
            let x = y[j] * self.inverse_diagonal[r + j];
            y[j] = x;
            for c in 0..j {
                y[c] -= L[j * K + c] * x;
            }
        }
        self.x[r..r + K].copy_from_slice(&y);
    }

    /// [`BlockSolver::forward`] for nodes of more than six rows.
    pub(super) fn forward_any(&mut self, k: usize, m: usize) {
        let p = &self.pattern;
        let (d, r) = (p.diagonal[k], p.row[k]);
        let (head, tail) = self.x.split_at_mut(r + m);
        let y = &mut head[r..];
        for j in 0..m {
            let mut s = y[j];
            for c in 0..j {
                s -= self.a[d + j * m + c] * y[c];
            }
            y[j] = s * self.inverse_diagonal[r + j];
        }
        for e in p.start[k]..p.start[k + 1] {
            let i = p.below[e] as usize;
            let block = &self.a[p.offset[e]..p.offset[e] + p.size[i] * m];
            let out = &mut tail[p.row[i] - r - m..p.row[i] - r - m + p.size[i]];
            for (o, row) in out.iter_mut().zip(block.chunks_exact(m)) {
                *o -= row.iter().zip(y.iter()).map(|(a, b)| a * b).sum::<f64>();
            }
        }
    }

    /// [`BlockSolver::backward`] for nodes of more than six rows.
    pub(super) fn backward_any(&mut self, k: usize, m: usize) {
        let p = &self.pattern;
        let (d, r) = (p.diagonal[k], p.row[k]);
        let (head, tail) = self.x.split_at_mut(r + m);
        let y = &mut head[r..];
        for e in p.start[k]..p.start[k + 1] {
            let i = p.below[e] as usize;
            let block = &self.a[p.offset[e]..p.offset[e] + p.size[i] * m];
            let z = &tail[p.row[i] - r - m..p.row[i] - r - m + p.size[i]];
            for (x, row) in z.iter().zip(block.chunks_exact(m)) {
                for (o, a) in y.iter_mut().zip(row) {
                    *o -= a * x;
                }
            }
        }
        for j in (0..m).rev() {
            let x = y[j] * self.inverse_diagonal[r + j];
            y[j] = x;
            for c in 0..j {
                y[c] -= self.a[d + j * m + c] * x;
            }
        }
    }
}
