//! Square linear systems of single entries on a fixed pattern: factored once per step, solved many times, without allocation.
//!
//! Rows are exchanged depending on the values. Matrices of small blocks with regular pivots are handled by
//! [`BlockSolver`](crate::BlockSolver) and [`BlockLu`](crate::BlockLu).

mod dense;
mod sparse;

pub use crate::order::minimum_degree;

pub use dense::DenseLu;
use sparse::Sparse;

/// Up to this size a dense factorisation is used unless the options specify otherwise.
pub const DENSE_LIMIT: usize = 16;

/// Default preference for the paired row.
pub const PREFER: f64 = 1e-2;

/// Preferred pivots of a sparse factorisation.
#[derive(Debug, Clone)]
pub struct Pairing {
    /// Order of elimination of the columns.
    pub columns: Vec<u32>,
    /// Preferred pivot row of each column.
    pub row_of: Vec<u32>,
    /// The preferred row is taken if it is at least this fraction of the largest candidate; zero: always, if it is usable.
    pub prefer: f64,
}

/// A factorised matrix; entries are given as values of a fixed list of positions.
#[derive(Debug, Clone)]
pub struct Factor(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Dense(DenseLu),
    Sparse(Box<Sparse>),
}

impl Factor {
    /// Prepares for matrices with entries at `pattern` (row, column); repeated positions are summed. Dense up to `limit`.
    pub fn new(n: usize, pattern: &[(u32, u32)], limit: usize, pairing: impl FnOnce() -> Pairing) -> Self {
        Self(if n <= limit { Kind::Dense(DenseLu::of(n, pattern)) } else { Kind::Sparse(Box::new(Sparse::new(n, pattern, pairing()))) })
    }

    /// Factors; returns the smallest ratio of a pivot to the largest entry of its column, 0 if singular.
    pub fn factor(&mut self, values: &[f64]) -> f64 {
        match &mut self.0 {
            Kind::Dense(d) => d.factor(values),
            Kind::Sparse(s) => s.factor(values),
        }
    }

    /// Replaces `b` by the solution.
    pub fn solve(&mut self, b: &mut [f64]) {
        match &mut self.0 {
            Kind::Dense(d) => d.solve(b),
            Kind::Sparse(s) => s.solve(b),
        }
    }

    /// Replaces several right-hand sides, side by side, by their solutions; `work` has one entry per row.
    #[inline(always)]
    pub fn solve_lanes<const N: usize>(&self, b: &mut [[f64; N]], work: &mut [[f64; N]]) {
        match &self.0 {
            Kind::Dense(d) => d.solve_lanes(b, work),
            Kind::Sparse(s) => s.solve_lanes(b, work),
        }
    }

    /// Pivot rows chosen by a sparse factorisation; a dense one chooses them anew each time.
    pub fn pivots(&self) -> &[u32] {
        match &self.0 {
            Kind::Dense(_) => &[],
            Kind::Sparse(s) => s.pivots(),
        }
    }

    /// Sets pivot rows returned by [`pivots`](Self::pivots).
    pub fn set_pivots(&mut self, rows: Vec<u32>) {
        if let Kind::Sparse(s) = &mut self.0 {
            s.set_pivots(rows);
        }
    }

    /// Entries of the factors (dense: all).
    pub fn fill(&self) -> usize {
        match &self.0 {
            Kind::Dense(d) => d.size() * d.size(),
            Kind::Sparse(s) => s.fill(),
        }
    }
}

/// Pairing for a symmetric pattern: equation i with variable i, rows without diagonal entry after all their neighbours.
/// With positive diagonal blocks and independent constraint rows no pivot can then vanish.
pub fn symmetric_pairing(n: usize, pattern: &[(u32, u32)]) -> Pairing {
    let mut diagonal = vec![false; n];
    pattern.iter().filter(|e| e.0 == e.1).for_each(|e| diagonal[e.0 as usize] = true);
    let late: Vec<bool> = diagonal.iter().map(|d| !d).collect();
    Pairing { columns: minimum_degree(n, pattern, &late), row_of: (0..n as u32).collect(), prefer: PREFER }
}

/// Pairing for [D G^T; G -mu]: the first `early` unknowns have reliable diagonal entries, the others are eliminated later.
pub fn saddle_pairing(n: usize, early: usize, pattern: &[(u32, u32)], prefer: f64) -> Pairing {
    let late: Vec<bool> = (0..n).map(|i| i >= early).collect();
    Pairing { columns: minimum_degree(n, pattern, &late), row_of: (0..n as u32).collect(), prefer }
}

/// Pairing for a quasidefinite matrix: any order is possible, and pivots stay on the diagonal however small.
pub fn quasidefinite_pairing(n: usize, pattern: &[(u32, u32)]) -> Pairing {
    let columns = minimum_degree(n, pattern, &vec![false; n]);
    Pairing { columns, row_of: (0..n as u32).collect(), prefer: 0.0 }
}

/// Whether the pattern is symmetric.
pub fn is_symmetric(pattern: &[(u32, u32)]) -> bool {
    let mut direct = pattern.to_vec();
    let mut swapped: Vec<(u32, u32)> = pattern.iter().map(|&(i, j)| (j, i)).collect();
    direct.sort_unstable();
    direct.dedup();
    swapped.sort_unstable();
    swapped.dedup();
    direct == swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Random(u64);
    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        }
    }

    fn residual(n: usize, pattern: &[(u32, u32)], values: &[f64], x: &[f64], b: &[f64]) -> f64 {
        let mut r = b.to_vec();
        for (&(i, j), v) in pattern.iter().zip(values) {
            r[i as usize] -= v * x[j as usize];
        }
        (0..n).map(|i| r[i].abs()).fold(0.0, f64::max)
    }

    /// Saddle-point matrices with arrow, chain and random couplings, dense and sparse, twice with changed values.
    #[test]
    fn both_factorisations_solve_saddle_point_systems() {
        let mut random = Random(7);
        for n_bodies in [3usize, 8, 40] {
            let (nq, nc) = (2 * n_bodies, n_bodies);
            let n = nq + nc;
            let mut pattern: Vec<(u32, u32)> = (0..nq as u32).map(|i| (i, i)).collect();
            for b in 0..n_bodies as u32 {
                for q in [2 * b, 2 * b + 1].into_iter().chain((b > 0).then(|| 2 * b - 1)) {
                    pattern.push((nq as u32 + b, q));
                    pattern.push((q, nq as u32 + b));
                }
            }
            for limit in [0, 1000] {
                let mut f = Factor::new(n, &pattern, limit, || symmetric_pairing(n, &pattern));
                for round in 0..3 {
                    let mut values: Vec<f64> = pattern.iter().map(|_| random.next()).collect();
                    (0..nq).for_each(|i| values[i] = if round == 1 { 1e-9 } else { 1.5 + random.next() });
                    assert!(f.factor(&values) > 0.0);
                    let b: Vec<f64> = (0..n).map(|_| random.next()).collect();
                    let mut x = b.clone();
                    f.solve(&mut x);
                    let scale = x.iter().fold(1.0f64, |m, v| m.max(v.abs()));
                    let r = residual(n, &pattern, &values, &x, &b);
                    assert!(r < 1e-12 * scale, "{n} {limit} {round}: {r:e} of {scale:e}");
                    // Several right-hand sides give the same results to the bit.
                    let mut lanes: Vec<[f64; 2]> = b.iter().map(|b| [*b, -2.0 * b]).collect();
                    f.solve_lanes(&mut lanes, &mut vec![[0.0; 2]; n]);
                    assert!(lanes.iter().zip(&x).all(|(l, x)| *l == [*x, -2.0 * x]), "{n} {limit} {round}");
                }
            }
        }
    }

    #[test]
    fn singular_matrices_are_noticed() {
        let pattern = [(0, 0), (0, 1), (1, 0), (1, 1)];
        for limit in [0, 10] {
            let mut f = Factor::new(2, &pattern, limit, || symmetric_pairing(2, &pattern));
            assert_eq!(f.factor(&[1.0, 2.0, 2.0, 4.0]), 0.0);
        }
    }
}
