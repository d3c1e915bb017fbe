//! Sparse LU: column by column with threshold pivoting once, then refactored in the same pattern and pivot order.

use super::Pairing;

/// A refactorisation is abandoned and pivots are chosen again if a pivot falls below this fraction of its column.
const KEEP: f64 = 1e-5;

#[derive(Debug, Clone)]
pub(crate) struct Sparse {
    n: usize,
    /// Columns of the matrix: start, row, and the position of every given entry.
    column_start: Vec<u32>,
    row_index: Vec<u32>,
    entry_at: Vec<u32>,
    a: Vec<f64>,
    /// Column eliminated at each step and its preferred row.
    columns: Vec<u32>,
    row_of: Vec<u32>,
    prefer: f64,
    /// Pivot row of each step, and step at which each row was pivot.
    pivot_row: Vec<u32>,
    step_of: Vec<u32>,
    /// Strict lower factor by columns; rows are steps once the factorisation is complete.
    l_start: Vec<u32>,
    l_row: Vec<u32>,
    l: Vec<f64>,
    /// Strict upper factor by columns, in the order in which a refactorisation needs them.
    u_start: Vec<u32>,
    u_row: Vec<u32>,
    u: Vec<f64>,
    inverse_pivot: Vec<f64>,
    work: Vec<f64>,
    mark: Vec<u32>,
    reach: Vec<u32>,
    stack: Vec<(u32, u32)>,
    factored: bool,
    /// Pivot rows to be taken at the next factorisation.
    wanted: Vec<u32>,
}

impl Sparse {
    pub fn new(n: usize, pattern: &[(u32, u32)], pairing: Pairing) -> Self {
        let mut order: Vec<u32> = (0..pattern.len() as u32).collect();
        order.sort_unstable_by_key(|&e| (pattern[e as usize].1, pattern[e as usize].0));
        let (mut column_start, mut row_index) = (vec![0u32], Vec::with_capacity(pattern.len()));
        let mut entry_at = vec![0u32; pattern.len()];
        let mut last = None;
        for &e in &order {
            let (i, j) = pattern[e as usize];
            if last != Some((i, j)) {
                while column_start.len() <= j as usize {
                    column_start.push(row_index.len() as u32);
                }
                row_index.push(i);
                last = Some((i, j));
            }
            entry_at[e as usize] = row_index.len() as u32 - 1;
        }
        while column_start.len() <= n {
            column_start.push(row_index.len() as u32);
        }
        let entries = row_index.len();
        Self {
            n,
            a: vec![0.0; entries],
            column_start,
            row_index,
            entry_at,
            columns: pairing.columns,
            row_of: pairing.row_of,
            prefer: pairing.prefer,
            pivot_row: vec![0; n],
            step_of: vec![u32::MAX; n],
            l_start: Vec::with_capacity(n + 1),
            l_row: Vec::with_capacity(4 * entries),
            l: Vec::with_capacity(4 * entries),
            u_start: Vec::with_capacity(n + 1),
            u_row: Vec::with_capacity(4 * entries),
            u: Vec::with_capacity(4 * entries),
            inverse_pivot: vec![0.0; n],
            work: vec![0.0; n],
            mark: vec![u32::MAX; n],
            reach: Vec::with_capacity(n),
            stack: Vec::with_capacity(n),
            factored: false,
            wanted: Vec::new(),
        }
    }

    /// Pivot rows in use; none before the first factorisation.
    pub fn pivots(&self) -> &[u32] {
        if self.factored { &self.pivot_row } else { &[] }
    }

    /// Takes these pivot rows at the next factorisation. With them a continued run has the same bits as an uninterrupted one.
    pub fn set_pivots(&mut self, rows: Vec<u32>) {
        if rows.len() == self.n && rows.iter().all(|&r| (r as usize) < self.n) {
            self.factored = false;
            self.wanted = rows;
        }
    }

    pub fn fill(&self) -> usize {
        self.l.len() + self.u.len() + self.n
    }

    pub fn factor(&mut self, values: &[f64]) -> f64 {
        self.a.fill(0.0);
        for (&at, v) in self.entry_at.iter().zip(values) {
            self.a[at as usize] += v;
        }
        let given = !self.wanted.is_empty();
        if self.factored || (given && self.choose_pivots()) {
            let worst = self.refactor(KEEP);
            self.wanted.clear();
            if worst > 0.0 {
                self.factored = true;
                return worst;
            }
        }
        self.wanted.clear();
        // Refactored in the pattern found, so that values do not depend on when it was found.
        let worst = if self.choose_pivots() { self.refactor(0.0) } else { 0.0 };
        self.factored = worst > 0.0;
        worst
    }

    fn column(&self, j: usize) -> std::ops::Range<usize> {
        self.column_start[j] as usize..self.column_start[j + 1] as usize
    }

    /// Rows reached from column `j` through the lower factor, in reverse topological order, into `reach`.
    fn find_reach(&mut self, j: usize, step: u32) {
        self.reach.clear();
        for e in self.column(j) {
            let root = self.row_index[e];
            if self.mark[root as usize] == step {
                continue;
            }
            self.mark[root as usize] = step;
            self.stack.push((root, 0));
            while let Some((i, at)) = self.stack.pop() {
                let k = self.step_of[i as usize];
                let span = if k == u32::MAX { 0..0 } else { self.l_start[k as usize]..self.l_start[k as usize + 1] };
                let mut at = span.start + at;
                let mut child = None;
                while at < span.end {
                    let r = self.l_row[at as usize];
                    at += 1;
                    if self.mark[r as usize] != step {
                        child = Some(r);
                        break;
                    }
                }
                match child {
                    Some(r) => {
                        self.stack.push((i, at - span.start));
                        self.mark[r as usize] = step;
                        self.stack.push((r, 0));
                    }
                    None => self.reach.push(i),
                }
            }
        }
    }

    /// Finds pivots and pattern; false if the matrix is singular.
    fn choose_pivots(&mut self) -> bool {
        let n = self.n;
        self.l_start.clear();
        self.l_row.clear();
        self.l.clear();
        self.u_start.clear();
        self.u_row.clear();
        self.u.clear();
        self.l_start.push(0);
        self.u_start.push(0);
        self.step_of.fill(u32::MAX);
        self.mark.fill(u32::MAX);
        self.work.fill(0.0);
        for step in 0..n {
            let j = self.columns[step] as usize;
            self.find_reach(j, step as u32);
            for e in self.column(j) {
                self.work[self.row_index[e] as usize] = self.a[e];
            }
            // Topological order: last reached first.
            for at in (0..self.reach.len()).rev() {
                let i = self.reach[at];
                let x = self.work[i as usize];
                let k = self.step_of[i as usize];
                if k == u32::MAX {
                    continue;
                }
                self.u_row.push(k);
                self.u.push(x);
                for e in self.l_start[k as usize] as usize..self.l_start[k as usize + 1] as usize {
                    self.work[self.l_row[e] as usize] -= self.l[e] * x;
                }
            }
            // Candidates are final only after all updates.
            let mut best = (0.0f64, u32::MAX);
            for &i in &self.reach {
                let x = self.work[i as usize].abs();
                if self.step_of[i as usize] == u32::MAX && x > best.0 {
                    best = (x, i);
                }
            }
            if !(best.0 > 0.0 && best.0.is_finite()) {
                return false;
            }
            let preferred = self.wanted.get(step).copied().unwrap_or(self.row_of[j]) as usize;
            let prefer = if self.wanted.is_empty() { self.prefer } else { 0.0 };
            let possible = self.mark[preferred] == step as u32 && self.step_of[preferred] == u32::MAX;
            if possible && self.work[preferred].abs() >= prefer * best.0 && self.work[preferred] != 0.0 {
                best.1 = preferred as u32;
            }
            let pivot = self.work[best.1 as usize];
            self.inverse_pivot[step] = 1.0 / pivot;
            self.pivot_row[step] = best.1;
            for at in 0..self.reach.len() {
                let i = self.reach[at];
                if self.step_of[i as usize] == u32::MAX && i != best.1 {
                    self.l_row.push(i);
                    self.l.push(self.work[i as usize] / pivot);
                }
                self.work[i as usize] = 0.0;
            }
            self.step_of[best.1 as usize] = step as u32;
            self.l_start.push(self.l_row.len() as u32);
            self.u_start.push(self.u_row.len() as u32);
        }
        for r in &mut self.l_row {
            *r = self.step_of[*r as usize];
        }
        true
    }

    /// Same pivots, new values; returns the smallest ratio of a pivot to the largest entry of its column, 0 if the pivots are not
    /// acceptable.
    fn refactor(&mut self, keep: f64) -> f64 {
        let mut worst = 1.0f64;
        self.work.fill(0.0);
        for step in 0..self.n {
            let j = self.columns[step] as usize;
            for e in self.column(j) {
                self.work[self.step_of[self.row_index[e] as usize] as usize] = self.a[e];
            }
            let mut column_max = 0.0f64;
            for e in self.u_start[step] as usize..self.u_start[step + 1] as usize {
                let k = self.u_row[e] as usize;
                let x = self.work[k];
                column_max = column_max.max(x.abs());
                self.u[e] = x;
                self.work[k] = 0.0;
                let span = self.l_start[k] as usize..self.l_start[k + 1] as usize;
                for (&r, l) in self.l_row[span.clone()].iter().zip(&self.l[span]) {
                    self.work[r as usize] -= l * x;
                }
            }
            let pivot = self.work[step];
            self.work[step] = 0.0;
            let inverse = 1.0 / pivot;
            self.inverse_pivot[step] = inverse;
            let mut below = pivot.abs();
            for e in self.l_start[step] as usize..self.l_start[step + 1] as usize {
                let r = self.l_row[e] as usize;
                below = below.max(self.work[r].abs());
                self.l[e] = self.work[r] * inverse;
                self.work[r] = 0.0;
            }
            // Written so that a NaN counts as a failure.
            if !(pivot.abs() >= keep * below && pivot != 0.0 && inverse.is_finite()) {
                return 0.0;
            }
            worst = worst.min(pivot.abs() / column_max.max(below));
        }
        worst
    }

    pub fn solve(&mut self, b: &mut [f64]) {
        for k in 0..self.n {
            self.work[k] = b[self.pivot_row[k] as usize];
        }
        for k in 0..self.n {
            let x = self.work[k];
            let span = self.l_start[k] as usize..self.l_start[k + 1] as usize;
            for (&r, l) in self.l_row[span.clone()].iter().zip(&self.l[span]) {
                self.work[r as usize] -= l * x;
            }
        }
        for k in (0..self.n).rev() {
            let x = self.work[k] * self.inverse_pivot[k];
            b[self.columns[k] as usize] = x;
            let span = self.u_start[k] as usize..self.u_start[k + 1] as usize;
            for (&r, u) in self.u_row[span.clone()].iter().zip(&self.u[span]) {
                self.work[r as usize] -= u * x;
            }
        }
    }

    #[inline(always)]
    pub fn solve_lanes<const N: usize>(&self, b: &mut [[f64; N]], work: &mut [[f64; N]]) {
        for (w, &row) in work.iter_mut().zip(&self.pivot_row[..self.n]) {
            *w = b[row as usize];
        }
        for k in 0..self.n {
            let x = work[k];
            let span = self.l_start[k] as usize..self.l_start[k + 1] as usize;
            for (&r, l) in self.l_row[span.clone()].iter().zip(&self.l[span]) {
                let w = &mut work[r as usize];
                for i in 0..N {
                    w[i] -= *l * x[i];
                }
            }
        }
        for k in (0..self.n).rev() {
            let x = work[k].map(|x| x * self.inverse_pivot[k]);
            b[self.columns[k] as usize] = x;
            let span = self.u_start[k] as usize..self.u_start[k + 1] as usize;
            for (&r, u) in self.u_row[span.clone()].iter().zip(&self.u[span]) {
                let w = &mut work[r as usize];
                for i in 0..N {
                    w[i] -= *u * x[i];
                }
            }
        }
    }
}
