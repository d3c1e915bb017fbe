//! Rank-revealing dense algebra for diagnosis; never used inside a step.

use nalgebra::{DMatrix, DVector, Dyn, SVD};

/// Rank, null space and smallest kept singular value of a matrix.
#[derive(Clone, Debug)]
pub struct RankReport {
    /// Numerical rank.
    pub rank: usize,
    /// Smallest singular value above the tolerance, relative to the largest.
    pub smallest: f64,
    /// Largest singular value below the tolerance, relative to the largest (zero where there is none).
    pub largest_dropped: f64,
    /// Orthonormal basis of the null space, one column each.
    pub null: DMatrix<f64>,
}

/// Singular values and vectors; `None` for a matrix with entries that are not finite, on which the iteration would never end.
pub fn svd(A: DMatrix<f64>, left: bool, right: bool) -> Option<SVD<f64, Dyn, Dyn>> {
    A.iter().all(|x| x.is_finite()).then(|| A.svd(left, right))
}

/// Rank and null space by singular values, those below `tolerance` times the largest counted as zero. A matrix with entries that are
/// not finite has rank zero.
pub fn rank(A: &DMatrix<f64>, tolerance: f64) -> RankReport {
    let n = A.ncols();
    if A.nrows() == 0 || n == 0 {
        return RankReport { rank: 0, smallest: 1.0, largest_dropped: 0.0, null: DMatrix::identity(n, n) };
    }
    // Square or tall matrices give all right singular vectors.
    let tall = if A.nrows() < n { A.clone().resize(n, n, 0.0) } else { A.clone() };
    let Some(svd) = svd(tall, false, true) else {
        return RankReport { rank: 0, smallest: 1.0, largest_dropped: 0.0, null: DMatrix::identity(n, n) };
    };
    let s = &svd.singular_values;
    let top = s.max().max(f64::MIN_POSITIVE);
    let mut order: Vec<usize> = (0..s.len()).collect();
    order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
    let rank = order.iter().filter(|&&i| s[i] > tolerance * top).count();
    let v_t = svd.v_t.unwrap_or_else(|| DMatrix::identity(n, n));
    let null = DMatrix::from_fn(n, n - rank, |i, j| v_t[(order[rank + j], i)]);
    RankReport {
        rank,
        smallest: if rank > 0 { s[order[rank - 1]] / top } else { 1.0 },
        largest_dropped: order.get(rank).map_or(0.0, |&i| s[i] / top),
        null,
    }
}

/// Rank alone, as [`rank`] counts it, without a null space.
pub fn rank_alone(A: &DMatrix<f64>, tolerance: f64) -> usize {
    if A.is_empty() || !A.iter().all(|x| x.is_finite()) {
        return 0;
    }
    // Singular values are found in fewer operations where there are fewer columns.
    let s = if A.nrows() < A.ncols() { A.transpose().singular_values() } else { A.singular_values() };
    let top = s.max().max(f64::MIN_POSITIVE);
    s.iter().filter(|s| **s > tolerance * top).count()
}

/// Columns that span the column space, chosen by pivoting: the most independent first.
pub fn independent_columns(A: &DMatrix<f64>, tolerance: f64) -> Vec<usize> {
    let mut A = A.clone();
    let top = (0..A.ncols()).map(|j| A.column(j).norm()).fold(0.0, f64::max);
    let mut chosen = Vec::new();
    while chosen.len() < A.nrows().min(A.ncols()) {
        let Some((j, norm)) = (0..A.ncols()).map(|j| (j, A.column(j).norm())).max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        if norm <= tolerance * top || norm == 0.0 {
            break;
        }
        let e: DVector<f64> = A.column(j) / norm;
        let projections = A.tr_mul(&e);
        A -= &e * projections.transpose();
        A.column_mut(j).fill(0.0);
        chosen.push(j);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_and_null_space_of_a_matrix_with_a_repeated_row() {
        let A = DMatrix::from_row_slice(3, 4, &[1.0, 2.0, 3.0, 4.0, 0.0, 1.0, 0.0, 1.0, 1.0, 3.0, 3.0, 5.0]);
        let r = rank(&A, 1e-10);
        assert_eq!((r.rank, r.null.ncols()), (2, 2));
        assert!((A * &r.null).amax() < 1e-14);
    }

    #[test]
    fn numbers_that_are_none_end_the_search_at_once() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut A = DMatrix::<f64>::identity(6, 4);
            A[(2, 1)] = bad;
            assert_eq!((rank(&A, 1e-10).rank, rank(&A.transpose(), 1e-10).null.ncols()), (0, 6));
            assert!(svd(A, true, true).is_none());
        }
    }

    #[test]
    fn independent_columns_skip_the_dependent_one() {
        let A = DMatrix::from_row_slice(2, 3, &[2.0, 4.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(independent_columns(&A, 1e-10), vec![1, 2]);
    }
}
