//! Sparse Cholesky factorisation of a symmetric positive definite matrix of small dense blocks.
//!
//! Nodes are constraints with 1 to 6 rows (any size works). The pattern and the elimination order (minimum degree,
//! weighted by block size) are fixed once; factoring and solving allocate nothing. Pivots are kept relative to the
//! diagonal they started from, so that the caller can tell which rows depend on others.
//!
//! Some nodes may stand for terms of the matrix instead: `S + B B^T` is factored as `[S, B; B^T, -1]` where `B B^T` would fill it up. Their
//! pivots are negative definite, everything else is done alike.

use crate::order::eliminate;
use std::ops::Range;

/// Elimination order, fill and work lists of a block matrix.
#[derive(Clone, Debug)]
pub struct BlockPattern {
    /// Size of each node, in elimination order.
    size: Vec<usize>,
    /// Whether the pivot of each node is negative definite, in elimination order.
    negative: Vec<bool>,
    /// Position in the elimination order of each node.
    position: Vec<usize>,
    /// First row of each position in the permuted vector, and their number.
    row: Vec<usize>,
    /// Offset of the diagonal block of each column.
    diagonal: Vec<usize>,
    /// Start in `below` of each column, one more than columns.
    start: Vec<usize>,
    /// Row positions below the diagonal, ascending per column.
    below: Vec<u32>,
    /// Offset of the block of each entry of `below`.
    offset: Vec<usize>,
    /// For each entry `a` of `below`: where the offsets of the blocks (b, a) start in `places`, b from a on among the rows of its column.
    targets: Vec<u32>,
    /// Offsets of the diagonal block and of those below it, column by column; behind them what of a column its updates meet, where that is
    /// not the column from its top.
    places: Vec<u32>,
    /// Where each node's rows stand in the caller's vector.
    caller_row: Vec<usize>,
    values: usize,
    rows: usize,
}

impl BlockPattern {
    /// Pattern of a matrix with nodes of the given sizes, node `i` coupled with the nodes `neighbours[i]`
    /// (symmetric, self excluded, any order).
    pub fn new(sizes: &[usize], neighbours: &[Vec<u32>]) -> Self {
        Self::with_negative(sizes, neighbours, &[], 0)
    }

    /// The same with `negative` nodes at the end whose pivots are negative definite, where node `i` is eliminated after all of
    /// `before[i]`.
    pub fn with_negative(sizes: &[usize], neighbours: &[Vec<u32>], before: &[Vec<u32>], negative: usize) -> Self {
        let n = sizes.len();
        let (order, columns) = eliminate(sizes, neighbours, before);
        let negative = order.iter().map(|&i| i + negative >= n).collect();
        let mut position = vec![0; n];
        for (k, &node) in order.iter().enumerate() {
            position[node] = k;
        }
        let mut caller = vec![0; n];
        let mut total = 0;
        for i in 0..n {
            caller[i] = total;
            total += sizes[i];
        }
        let size: Vec<usize> = order.iter().map(|&i| sizes[i]).collect();
        let caller_row = order.iter().map(|&i| caller[i]).collect();
        let mut row = Vec::with_capacity(n + 1);
        let mut rows = 0;
        for &m in &size {
            row.push(rows);
            rows += m;
        }
        row.push(rows);
        let (mut diagonal, mut start, mut below, mut offset) = (Vec::with_capacity(n), vec![0], Vec::new(), Vec::new());
        let mut values = 0;
        for (k, column) in columns.iter().enumerate() {
            diagonal.push(values);
            values += size[k] * size[k];
            let mut later: Vec<u32> = column.iter().map(|&i| position[i as usize] as u32).collect();
            later.sort_unstable();
            for &i in &later {
                below.push(i);
                offset.push(values);
                values += size[i as usize] * size[k];
            }
            start.push(below.len());
        }
        let mut pattern = Self {
            size,
            negative,
            position,
            row,
            diagonal,
            start,
            below,
            offset,
            targets: Vec::new(),
            places: Vec::new(),
            caller_row,
            values,
            rows,
        };
        pattern.list_targets();
        pattern
    }

    /// Finds the blocks that every column changes. Columns of a clique change the same ones, which are listed once: the lists of a dense
    /// part would otherwise grow with the third power of its size.
    fn list_targets(&mut self) {
        let n = self.size.len();
        let Self { diagonal, start, below, offset, places, targets, .. } = self;
        places.reserve(n + below.len());
        for k in 0..n {
            places.push(diagonal[k] as u32);
            places.extend(offset[start[k]..start[k + 1]].iter().map(|o| *o as u32));
        }
        targets.resize(below.len(), 0);
        for k in (0..n).rev() {
            let range = start[k]..start[k + 1];
            // Fill is closed under elimination: the next column has all rows of this one, and none besides if there are no more of them.
            let alike = below.get(range.start).is_some_and(|&i| !range.is_empty() && i as usize == k + 1)
                && start[k + 2] - start[k + 1] + 1 == range.len();
            for a in range.clone() {
                if alike && a > range.start {
                    targets[a] = targets[start[k + 1] + a - range.start - 1];
                    continue;
                }
                let column = below[a] as usize;
                let (rest, own) = (&below[a + 1..range.end], start[column]);
                if below[own..start[column + 1]].starts_with(rest) {
                    targets[a] = (own + column) as u32;
                    continue;
                }
                targets[a] = places.len() as u32;
                places.push(diagonal[column] as u32);
                // Rows below come in the same order in both columns, and none is missing.
                let mut e = own;
                for row in rest {
                    while below[e] != *row {
                        e += 1;
                    }
                    places.push(offset[e] as u32);
                }
            }
        }
        places.shrink_to_fit();
    }

    /// Offsets of the blocks (b, a) that a column changes, b from the entry `a` of `below` on to the last one of the column, at `end`.
    #[inline]
    fn changed(&self, a: usize, end: usize) -> &[u32] {
        let first = self.targets[a] as usize;
        &self.places[first..first + end - a]
    }

    /// Offset of block (row position `i` >= column position `j`).
    fn locate(&self, i: usize, j: usize) -> usize {
        if i == j {
            return self.diagonal[j];
        }
        let range = self.start[j]..self.start[j + 1];
        match self.below[range.clone()].binary_search(&(i as u32)) {
            Ok(k) => self.offset[range.start + k],
            Err(_) => unreachable!("fill is closed under elimination"),
        }
    }

    /// Where the block of two coupled nodes is stored, row-major: offset, and whether node `a` gives the rows.
    pub fn block(&self, a: usize, b: usize) -> (usize, bool) {
        let (i, j) = (self.position[a], self.position[b]);
        if i >= j { (self.locate(i, j), true) } else { (self.locate(j, i), false) }
    }

    /// Number of scalar rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of stored values.
    pub fn values(&self) -> usize {
        self.values
    }

    /// Entries of the lists of blocks that a factorisation goes through, for statements about memory.
    pub fn listed(&self) -> usize {
        self.places.len() + self.targets.len()
    }

    /// Multiplications of one factorisation.
    pub fn factor_flops(&self) -> usize {
        (0..self.size.len())
            .map(|k| {
                let m = self.size[k];
                let under: usize = self.below[self.start[k]..self.start[k + 1]].iter().map(|&i| self.size[i as usize]).sum();
                m * m * m / 3 + under * m * m + under * under * m
            })
            .sum()
    }
}

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
    /// Pivot over original diagonal, by caller's row; written by `factor`.
    pivots: Vec<f64>,
}

/// A pivot this small against its diagonal is rounding; the row is then left out of the solution.
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

    /// Sets all values to zero and gives them for filling, addressed through [`BlockPattern::block`].
    /// Of diagonal blocks only the lower triangle is read.
    pub fn clear(&mut self) -> &mut [f64] {
        self.a.fill(0.0);
        &mut self.a
    }

    /// The values, addressed through [`BlockPattern::block`].
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Adds `mu` to the whole diagonal, nodes with negative pivots left out.
    pub fn shift(&mut self, mu: f64) {
        for k in (0..self.pattern.size.len()).filter(|&k| !self.pattern.negative[k]) {
            let (m, d) = (self.pattern.size[k], self.pattern.diagonal[k]);
            for i in 0..m {
                self.a[d + i * m + i] += mu;
            }
        }
    }

    /// Adds `scale` times `mu[row]` to the diagonal, nodes with negative pivots left out.
    pub fn shift_rows(&mut self, mu: &[f64], scale: f64) {
        let p = &self.pattern;
        for k in (0..p.size.len()).filter(|&k| !p.negative[k]) {
            let (m, d) = (p.size[k], p.diagonal[k]);
            for i in 0..m {
                self.a[d + i * m + i] += scale * mu[p.caller_row[k] + i];
            }
        }
    }

    /// Diagonal entries in the caller's row order, nodes with negative pivots left out.
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
        // Trailing blocks (b, a) lose X_b X_a^T. Column k lies before all of them in storage.
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

    /// The same for nodes with negative pivots: those of the column with its sign changed, which then adds to the blocks behind it.
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

    /// What a column does to the blocks behind it, `change(T, X_b, X_a, rows of X_a, columns of both)`.
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

    /// The same where nodes with negative pivots stand for a part of the matrix, with the diagonal of that part, by caller's row: pivots
    /// are relative to the whole diagonal.
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

impl BlockSolver {
    /// Forward substitution of a column: `y = L^-1 y`, and its part of the rows below.
    fn forward<const K: usize>(&mut self, k: usize) {
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
        // Blocks of a column lie one behind the other.
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
    fn backward<const K: usize>(&mut self, k: usize) {
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
    fn forward_any(&mut self, k: usize, m: usize) {
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
    fn backward_any(&mut self, k: usize, m: usize) {
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

/// `T -= X_b X_a^T` for some blocks, each with its place in `values`, with `A` rows in `X_a`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    /// A repeatable stream of numbers in (-1, 1).
    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut s = seed;
        move || {
            s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (s >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    fn graph(n: usize, kind: usize) -> Vec<Vec<u32>> {
        let mut g = vec![Vec::new(); n];
        let mut edge = |a: usize, b: usize| {
            if a != b && b < n && !g[a].contains(&(b as u32)) {
                g[a].push(b as u32);
                g[b].push(a as u32);
            }
        };
        for i in 0..n {
            match kind {
                0 => edge(i, i + 1),
                1 => edge(0, i),
                _ => {
                    edge(i, i + 1);
                    edge(i, i + 4);
                    edge(i, (i * 7 + 3) % n);
                }
            }
        }
        g
    }

    /// Rows and columns of a grid.
    fn grid(side: usize) -> Vec<Vec<u32>> {
        let mut g = vec![Vec::new(); side * side];
        for i in 0..side * side {
            let right = (i % side + 1 < side).then_some(i + 1);
            let down = (i + side < side * side).then_some(i + side);
            for j in right.into_iter().chain(down) {
                g[i].push(j as u32);
                g[j].push(i as u32);
            }
        }
        g
    }

    #[test]
    fn lists_of_blocks_grow_no_faster_than_the_factor() {
        // A clique has as many pairs of rows as the third power of its size.
        for n in [50, 400] {
            let clique: Vec<Vec<u32>> = (0..n).map(|i| (0..n as u32).filter(|&j| j != i as u32).collect()).collect();
            let pattern = BlockPattern::new(&vec![1; n], &clique);
            assert!(pattern.listed() <= 2 * pattern.values(), "{n}: {} of {}", pattern.listed(), pattern.values());
        }
        for side in [20, 60] {
            let pattern = BlockPattern::new(&vec![1; side * side], &grid(side));
            assert!(pattern.listed() <= 5 * pattern.values(), "{side}: {} of {}", pattern.listed(), pattern.values());
        }
    }

    #[test]
    fn what_a_node_takes_up_stands_right_before_it() {
        // Distances in memory from a column to the first one that it changes: a few columns for most of them, whatever the size.
        for side in [20, 60] {
            let pattern = BlockPattern::new(&vec![1; side * side], &grid(side));
            let n = side * side;
            let jumps = |k: &usize| pattern.start[*k] < pattern.start[k + 1] && pattern.below[pattern.start[*k]] as usize > k + 8;
            let far = (0..n).filter(jumps).count();
            assert!(far * 4 < n, "{side}: {far} of {n}");
        }
    }

    #[test]
    fn it_solves_like_a_dense_cholesky_on_chains_stars_and_meshes() {
        let mut random = numbers(7);
        for kind in 0..3 {
            let sizes: Vec<usize> = (0..17).map(|i| [5, 3, 1, 6, 2, 4, 8][(i * 3 + kind) % 7]).collect();
            let g = graph(sizes.len(), kind);
            let total: usize = sizes.iter().sum();
            let starts: Vec<usize> = sizes
                .iter()
                .scan(0, |s, m| {
                    let r = *s;
                    *s += m;
                    Some(r)
                })
                .collect();
            let mut A = DMatrix::<f64>::zeros(total, total);
            for i in 0..sizes.len() {
                for &j in g[i].iter().filter(|&&j| (j as usize) < i) {
                    for a in 0..sizes[i] {
                        for b in 0..sizes[j as usize] {
                            let x = random();
                            A[(starts[i] + a, starts[j as usize] + b)] = x;
                            A[(starts[j as usize] + b, starts[i] + a)] = x;
                        }
                    }
                }
            }
            for i in 0..total {
                A[(i, i)] = 1.0 + A.row(i).iter().map(|x| x.abs()).sum::<f64>();
            }
            let mut solver = BlockSolver::new(BlockPattern::new(&sizes, &g));
            let mut places = Vec::new();
            for i in 0..sizes.len() {
                for j in g[i].iter().map(|&j| j as usize).chain([i]).filter(|&j| j <= i) {
                    places.push((i, j, solver.pattern().block(i, j)));
                }
            }
            let a = solver.clear();
            for (i, j, (at, rows_first)) in places {
                for p in 0..sizes[i] {
                    for q in 0..sizes[j] {
                        let k = if rows_first { p * sizes[j] + q } else { q * sizes[i] + p };
                        a[at + k] = A[(starts[i] + p, starts[j] + q)];
                    }
                }
            }
            solver.factor();
            let b = DVector::from_fn(total, |_, _| random());
            let mut x = b.as_slice().to_vec();
            solver.solve(&mut x);
            let exact = A.cholesky().expect("diagonally dominant").solve(&b);
            assert!((DVector::from_vec(x) - exact).amax() < 1e-13, "kind {kind}");
            assert!(solver.pivots().iter().all(|&p| p > 0.0 && p <= 1.0));
        }
    }

    #[test]
    fn a_dependent_row_shows_as_a_vanishing_pivot() {
        // Two nodes: the second repeats the first.
        let mut solver = BlockSolver::new(BlockPattern::new(&[2, 2], &[vec![1], vec![0]]));
        let S = [[2.0, 0.5], [0.5, 1.0]];
        let places = [(0, 0), (0, 1), (1, 1)].map(|(i, j)| solver.pattern().block(i, j).0);
        let a = solver.clear();
        for at in places {
            for p in 0..2 {
                for q in 0..2 {
                    a[at + 2 * p + q] = S[p][q];
                }
            }
        }
        solver.shift(1e-10);
        solver.factor();
        assert_eq!(solver.pivots().iter().filter(|&&p| p < 1e-8).count(), 2);
    }

    #[test]
    fn a_node_with_a_negative_pivot_stands_for_a_full_term() {
        // Forty nodes of three rows, all of them joined by `B B^T` with two columns; the last one has nothing else on its diagonal and
        // waits for that term.
        let (n, m, wide) = (40, 3, 2);
        let mut random = numbers(11);
        let mut sizes = vec![m; n];
        sizes.push(wide);
        let mut neighbours = vec![vec![n as u32]; n];
        neighbours.push((0..n as u32).collect());
        let mut before = vec![Vec::new(); n + 1];
        before[n] = (0..n as u32 - 1).collect();
        before[n - 1] = vec![n as u32];
        let mut solver = BlockSolver::new(BlockPattern::with_negative(&sizes, &neighbours, &before, 1));
        assert_eq!(solver.pattern().values(), n * m * (m + wide) + wide * wide);
        let B = DMatrix::from_fn(n * m, wide, |_, _| random());
        let mu = 1e-3;
        let mut S = &B * B.transpose();
        let places: Vec<_> = (0..n).map(|i| (solver.pattern().block(i, i).0, solver.pattern().block(i, n))).collect();
        let own = solver.pattern().block(n, n).0;
        let a = solver.clear();
        (0..wide).for_each(|j| a[own + j * wide + j] = -1.0);
        for (i, (at, (coupling, rows_first))) in places.into_iter().enumerate() {
            for p in 0..m {
                if i + 1 < n {
                    let x = 1.0 + random().abs();
                    a[at + p * m + p] = x;
                    S[(i * m + p, i * m + p)] += x;
                }
                for j in 0..wide {
                    a[coupling + if rows_first { p * wide + j } else { j * m + p }] = B[(i * m + p, j)];
                }
                S[(i * m + p, i * m + p)] += mu;
            }
        }
        let hidden: Vec<f64> = (0..n * m).map(|r| B.row(r).norm_squared()).collect();
        solver.shift(mu);
        solver.factor_beside(&hidden);
        assert!(solver.pivots().iter().all(|&p| p > 0.0));
        assert!(solver.pivots()[..n * m].iter().all(|&p| p <= 1.0));
        let b = DVector::from_fn(n * m, |_, _| random());
        let mut x = b.as_slice().to_vec();
        x.extend([0.0; 2]);
        solver.solve(&mut x);
        let exact = S.cholesky().expect("positive definite").solve(&b);
        let error = (DVector::from_column_slice(&x[..n * m]) - &exact).amax();
        assert!(error < 1e-11 * exact.amax(), "{error:e}");
    }

    #[test]
    fn the_fill_of_a_chain_stays_linear() {
        let n = 1000;
        let pattern = BlockPattern::new(&vec![5; n], &graph(n, 0));
        assert_eq!(pattern.values(), 25 * (2 * n - 1));
    }
}
