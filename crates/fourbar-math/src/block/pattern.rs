//! Elimination order, fill and storage of blocks.

use crate::order::eliminate;

/// Elimination order, fill and work lists of a block matrix.
#[derive(Clone, Debug)]
pub struct BlockPattern {
    /// Size of each node, in elimination order.
    pub(super) size: Vec<usize>,
    /// Whether the pivot of each node is negative definite, in elimination order.
    pub(super) negative: Vec<bool>,
    /// Position in the elimination order of each node.
    pub(super) position: Vec<usize>,
    /// First row of each position in the permuted vector, and their number.
    pub(super) row: Vec<usize>,
    /// Offset of the diagonal block of each column.
    pub(super) diagonal: Vec<usize>,
    /// Start in `below` of each column, one more than columns.
    pub(super) start: Vec<usize>,
    /// Row positions below the diagonal, ascending per column.
    pub(super) below: Vec<u32>,
    /// Offset of the block of each entry of `below`.
    pub(super) offset: Vec<usize>,
    /// For each entry `a` of `below`: start in `places` of the offsets of the blocks (b, a), for b from a on among the rows of its column.
    pub(super) targets: Vec<u32>,
    /// Offsets of the diagonal block and of those below it, column by column; then the blocks updated by a column, where these are not
    /// contiguous from the top of the updated column.
    pub(super) places: Vec<u32>,
    /// Positions of each node's rows in the caller's vector.
    pub(super) caller_row: Vec<usize>,
    pub(super) values: usize,
    pub(super) rows: usize,
}

impl BlockPattern {
    /// Pattern of a matrix with nodes of the given sizes, node `i` coupled with the nodes `neighbours[i]`
    /// (symmetric, self excluded, any order).
    pub fn new(sizes: &[usize], neighbours: &[Vec<u32>]) -> Self {
        Self::with_negative(sizes, neighbours, &[], 0)
    }

    /// As above, with `negative` nodes at the end whose pivots are negative definite, where node `i` is eliminated after all of
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

    /// Finds the blocks that every column changes. Columns of a clique change the same blocks, which are listed once: otherwise the lists
    /// of a dense part would grow with the cube of its size.
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
            // Fill is closed under elimination: the next column has all rows of this one, and exactly these if their numbers are equal.
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
                // The rows below have the same order in both columns, and none is missing.
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
    pub(super) fn changed(&self, a: usize, end: usize) -> &[u32] {
        let first = self.targets[a] as usize;
        &self.places[first..first + end - a]
    }

    /// Offset of block (row position `i` >= column position `j`).
    pub(super) fn locate(&self, i: usize, j: usize) -> usize {
        if i == j {
            return self.diagonal[j];
        }
        let range = self.start[j]..self.start[j + 1];
        match self.below[range.clone()].binary_search(&(i as u32)) {
            Ok(k) => self.offset[range.start + k],
            Err(_) => unreachable!("fill is closed under elimination"),
        }
    }

    /// Storage of the block of two coupled nodes, row-major: offset, and whether its rows are those of node `a`.
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

    /// Number of entries of the block lists of a factorisation, for estimates of memory.
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
