//! Dense LU with partial pivoting, row by row.

#[derive(Debug, Clone)]
pub(crate) struct Dense {
    n: usize,
    /// Position in `lu` of every entry.
    at: Vec<u32>,
    lu: Vec<f64>,
    /// The factors by columns: substitution then runs along them.
    columns: Vec<f64>,
    /// Original row of each pivot row.
    row: Vec<u32>,
    work: Vec<f64>,
}

impl Dense {
    pub fn new(n: usize, pattern: &[(u32, u32)]) -> Self {
        Self {
            n,
            at: pattern.iter().map(|&(i, j)| i * n as u32 + j).collect(),
            lu: vec![0.0; n * n],
            columns: vec![0.0; n * n],
            row: vec![0; n],
            work: vec![0.0; n],
        }
    }

    pub fn size(&self) -> usize {
        self.n
    }

    pub fn factor(&mut self, values: &[f64]) -> f64 {
        let n = self.n;
        self.lu.fill(0.0);
        for (&at, v) in self.at.iter().zip(values) {
            self.lu[at as usize] += v;
        }
        for i in 0..n {
            self.row[i] = i as u32;
            // Column maxima, to judge the pivots against.
            self.work[i] = (0..n).map(|k| self.lu[k * n + i].abs()).fold(0.0, f64::max);
        }
        let mut worst = 1.0f64;
        for k in 0..n {
            let (mut best, mut size) = (k, 0.0);
            for i in k..n {
                let a = self.lu[i * n + k].abs();
                if a > size {
                    (best, size) = (i, a);
                }
            }
            // Not finite or zero: singular. The comparison is false for NaN.
            if !(size > 0.0 && size.is_finite()) {
                return 0.0;
            }
            worst = worst.min(size / self.work[k]);
            if best != k {
                let (upper, lower) = self.lu.split_at_mut(best * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
                self.row.swap(k, best);
            }
            let (upper, lower) = self.lu.split_at_mut((k + 1) * n);
            let pivot = &upper[k * n..];
            let inverse = 1.0 / pivot[k];
            for r in lower.chunks_exact_mut(n) {
                if r[k] != 0.0 {
                    let l = r[k] * inverse;
                    r[k] = l;
                    for (x, p) in r[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                        *x -= l * p;
                    }
                }
            }
        }
        // Pivots are stored inverted: solving multiplies.
        for k in 0..n {
            self.lu[k * n + k] = 1.0 / self.lu[k * n + k];
            for i in 0..n {
                self.columns[k * n + i] = self.lu[i * n + k];
            }
        }
        worst
    }

    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            self.work[i] = b[self.row[i] as usize];
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate() {
            let x = self.work[k];
            for (w, l) in self.work[k + 1..].iter_mut().zip(&column[k + 1..]) {
                *w -= l * x;
            }
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate().rev() {
            let x = self.work[k] * column[k];
            self.work[k] = x;
            for (w, u) in self.work[..k].iter_mut().zip(&column[..k]) {
                *w -= u * x;
            }
        }
        b[..n].copy_from_slice(&self.work);
    }
}
