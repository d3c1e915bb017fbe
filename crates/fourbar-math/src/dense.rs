//! Rank-revealing dense algebra for diagnosis; never used inside a step.

use nalgebra::{DMatrix, DVector, Dyn, SVD};

/// Rank, null space and smallest kept singular value of a matrix.
#[derive(Clone, Debug)]
pub struct RankReport {
    /// Numerical rank.
    pub rank: usize,
    /// Smallest singular value above the tolerance, relative to the largest.
    pub smallest: f64,
    /// Largest singular value below the tolerance, relative to the largest (zero if there is none).
    pub largest_dropped: f64,
    /// Orthonormal basis of the null space, one column each.
    pub null: DMatrix<f64>,
}

/// Off-diagonal products of orthogonal vectors due to rounding, relative to the square of the largest singular value.
const ORTHOGONAL: f64 = 2e-15;
/// Largest number of sweeps of rotations.
const SWEEPS: usize = 60;

/// Singular values and vectors; `None` for a matrix with entries that are not finite, on which the iteration would never end.
///
/// If many singular values are equal, as in the rows of hinges, the iteration may return vectors that are wrong in the second digit. This
/// is checked, and such vectors are corrected by rotations of pairs of columns.
pub fn svd(A: DMatrix<f64>, left: bool, right: bool) -> Option<SVD<f64, Dyn, Dyn>> {
    if !A.iter().all(|x| x.is_finite()) {
        return None;
    }
    let found = A.clone().svd(left, right);
    if fits(&A, &found) { Some(found) } else { Some(rotated(&A, left, right)) }
}

/// Whether the vectors found are singular vectors of the matrix, which maps them to orthogonal vectors of the right lengths.
fn fits(A: &DMatrix<f64>, found: &SVD<f64, Dyn, Dyn>) -> bool {
    let s = &found.singular_values;
    let top = s.iter().fold(0.0_f64, |m, x| m.max(*x));
    let limit = ORTHOGONAL * A.nrows().max(A.ncols()) as f64 * top * top;
    let diagonal = |P: DMatrix<f64>| {
        (0..P.nrows()).all(|i| (0..P.ncols()).all(|j| (P[(i, j)] - if i == j { s[i] * s[i] } else { 0.0 }).abs() <= limit))
    };
    let right = found.v_t.as_ref().is_none_or(|v| {
        let W = A * v.transpose();
        diagonal(W.tr_mul(&W))
    });
    let left = found.u.as_ref().is_none_or(|u| {
        let W = u.tr_mul(A);
        diagonal(&W * W.transpose())
    });
    right && left
}

/// Singular values and vectors by rotations of pairs of columns (Hestenes), starting from the result of the iteration.
fn rotated(A: &DMatrix<f64>, left: bool, right: bool) -> SVD<f64, Dyn, Dyn> {
    let wide = A.nrows() < A.ncols();
    let near = A.clone().svd(wide, !wide);
    let tall = if wide { A.transpose() } else { A.clone() };
    let n = tall.ncols();
    let mut V = near.u.or(near.v_t.map(|v| v.transpose())).unwrap_or_else(|| DMatrix::identity(n, n));
    let mut W = tall * &V;
    for _ in 0..SWEEPS {
        let mut turned = false;
        for i in 0..n {
            for j in i + 1..n {
                let (a, b, c) = (W.column(i).norm_squared(), W.column(j).norm_squared(), W.column(i).dot(&W.column(j)));
                if c.abs() <= f64::EPSILON * (a * b).sqrt() || c == 0.0 {
                    continue;
                }
                turned = true;
                let zeta = (b - a) / (2.0 * c);
                let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let t = if zeta == 0.0 { 1.0 } else { t };
                let cos = 1.0 / (1.0 + t * t).sqrt();
                let sin = cos * t;
                for M in [&mut W, &mut V] {
                    for r in 0..M.nrows() {
                        let (x, y) = (M[(r, i)], M[(r, j)]);
                        M[(r, i)] = cos * x - sin * y;
                        M[(r, j)] = sin * x + cos * y;
                    }
                }
            }
        }
        if !turned {
            break;
        }
    }
    let sizes: Vec<f64> = W.column_iter().map(|c| c.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| sizes[j].total_cmp(&sizes[i]));
    let top = order.first().map_or(0.0, |&k| sizes[k]);
    // Columns of zero length are completed by unit vectors, made orthogonal to all others.
    let mut U = DMatrix::<f64>::zeros(W.nrows(), n);
    for (to, &k) in order.iter().enumerate() {
        if sizes[k] > f64::EPSILON * top && sizes[k] > 0.0 {
            U.set_column(to, &(W.column(k) / sizes[k]));
            continue;
        }
        let best = (0..W.nrows()).map(|e| {
            let mut x = DVector::<f64>::zeros(W.nrows());
            x[e] = 1.0;
            for _ in 0..2 {
                for c in 0..to {
                    let along = U.column(c).dot(&x);
                    x.axpy(-along, &U.column(c), 1.0);
                }
            }
            x
        });
        if let Some(x) = best.max_by(|a, b| a.norm().total_cmp(&b.norm())) {
            U.set_column(to, &(&x / x.norm().max(f64::MIN_POSITIVE)));
        }
    }
    let V = DMatrix::from_fn(n, n, |i, j| V[(i, order[j])]);
    let singular_values = DVector::from_iterator(n, order.iter().map(|&k| sizes[k]));
    let (u, v) = if wide { (V, U) } else { (U, V) };
    SVD { u: left.then_some(u), v_t: right.then(|| v.transpose()), singular_values }
}

/// Rank and null space by singular values, those below `tolerance` times the largest counted as zero. A matrix with entries that are
/// not finite has rank zero.
pub fn rank(A: &DMatrix<f64>, tolerance: f64) -> RankReport {
    let n = A.ncols();
    if A.nrows() == 0 || n == 0 {
        return RankReport { rank: 0, smallest: 1.0, largest_dropped: 0.0, null: DMatrix::identity(n, n) };
    }
    // Only square or tall matrices yield all right singular vectors.
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

/// The rank as in [`rank`], without a null space.
pub fn rank_alone(A: &DMatrix<f64>, tolerance: f64) -> usize {
    if A.is_empty() || !A.iter().all(|x| x.is_finite()) {
        return 0;
    }
    // Singular values take fewer operations if there are fewer columns.
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

    /// Rows of the hinges of a closed planar loop in space, each of unit length: many singular values are equal.
    fn loop_of_hinges(angles: &[f64], lengths: &[f64]) -> DMatrix<f64> {
        let n = angles.len();
        let mut A = DMatrix::zeros((5 * (n + 1)).max(6 * n), 6 * n);
        for joint in 0..=n {
            let ends = [(joint.wrapping_sub(1), 1.0), (joint, -1.0)];
            for (b, sign) in ends.into_iter().filter(|(b, _)| *b < n) {
                let (s, c) = angles[b].sin_cos();
                let reach = sign * lengths[b] / 0.3;
                let (row, column) = (5 * joint, 6 * b);
                (0..3).for_each(|k| A[(row + k, column + k)] = sign);
                (A[(row, column + 4)], A[(row + 2, column + 4)]) = (-sign * reach * s, sign * reach * c);
                A[(row + 1, column + 5)] = sign * reach;
                (A[(row + 3, column + 3)], A[(row + 3, column + 5)]) = (sign * c, sign * s);
                (A[(row + 4, column + 3)], A[(row + 4, column + 5)]) = (-sign * s, sign * c);
            }
        }
        for mut r in A.row_iter_mut() {
            let size = r.norm();
            if size > 0.0 {
                r /= size;
            }
        }
        A
    }

    #[test]
    fn vectors_of_equal_singular_values_are_right() {
        let mut worst = 0.0_f64;
        for case in 0..300 {
            let x = |k: usize| ((case * 7 + k * 13) as f64 * 0.731).sin();
            let n = 3 + case % 3;
            let A =
                loop_of_hinges(&(0..n).map(|k| 3.0 * x(k)).collect::<Vec<_>>(), &(0..n).map(|k| 0.2 + 0.1 * x(k + 9)).collect::<Vec<_>>());
            for A in [A.clone(), A.transpose()] {
                worst = worst.max((A.clone().svd(true, true).recompose().unwrap_or_default() - &A).amax());
                let f = svd(A.clone(), true, true).expect("finite");
                let (u, v) = (f.u.clone().expect("left"), f.v_t.clone().expect("right"));
                assert!((&u * DMatrix::from_diagonal(&f.singular_values) * &v - &A).amax() < 1e-12, "{case}");
                assert!((u.tr_mul(&u) - DMatrix::identity(u.ncols(), u.ncols())).amax() < 1e-12, "{case}");
                assert!((&v * v.transpose() - DMatrix::identity(v.nrows(), v.nrows())).amax() < 1e-12, "{case}");
            }
            let r = rank(&A, 1e-8);
            assert!((&A * &r.null).amax() < 1e-12, "{case}");
        }
        // The error that the rotations correct: if this assertion fails one day, they can be removed.
        assert!(worst > 1e-6, "{worst:e}");
    }

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
