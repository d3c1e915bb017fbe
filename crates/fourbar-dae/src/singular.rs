//! Singular Jacobians: degree of singularity, and the equations and variables involved.
//!
//! Inverse iteration with the quasidefinite matrix [delta A; A^T -delta] finds the left and right singular vectors of the smallest singular
//! value of the scaled Jacobian A, whether or not A itself can be factorised.

use crate::Error;
use crate::problem::Problem;
use fourbar_math::elementary;
use fourbar_math::factor::{DENSE_LIMIT, Factor, quasidefinite_pairing};

/// Below this reciprocal condition (after scaling) a Jacobian counts as singular.
pub(crate) const SINGULAR: f64 = 1e-13;
const DELTA: f64 = 1e-8;

struct Scaled {
    n: usize,
    entries: Vec<(u32, u32)>,
    values: Vec<f64>,
    row: Vec<f64>,
    column: Vec<f64>,
    factor: Factor,
    /// Whether the factorisation succeeded; otherwise there are no vectors.
    factored: bool,
}

/// Row and column factors that bring the largest entries to one: two rounds, rows then columns.
pub(crate) fn scaling(pattern: &[(u32, u32)], jacobian: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut row, mut column) = (vec![1.0f64; n], vec![1.0f64; n]);
    for _ in 0..2 {
        let mut largest = vec![0.0f64; n];
        for (&(i, j), v) in pattern.iter().zip(jacobian) {
            let x = (v * row[i as usize] * column[j as usize]).abs();
            largest[i as usize] = largest[i as usize].max(x);
        }
        (0..n).filter(|&i| largest[i] > 0.0).for_each(|i| row[i] /= largest[i]);
        let mut largest = vec![0.0f64; n];
        for (&(i, j), v) in pattern.iter().zip(jacobian) {
            let x = (v * row[i as usize] * column[j as usize]).abs();
            largest[j as usize] = largest[j as usize].max(x);
        }
        (0..n).filter(|&j| largest[j] > 0.0).for_each(|j| column[j] /= largest[j]);
    }
    (row, column)
}

impl Scaled {
    fn new(pattern: &[(u32, u32)], jacobian: &[f64], n: usize) -> Self {
        let (row, column) = scaling(pattern, jacobian, n);
        let values: Vec<f64> = pattern.iter().zip(jacobian).map(|(&(i, j), v)| v * row[i as usize] * column[j as usize]).collect();
        let m = n as u32;
        let mut large: Vec<(u32, u32)> = (0..2 * m).map(|i| (i, i)).collect();
        let mut large_values: Vec<f64> = (0..2 * n).map(|i| if i < n { DELTA } else { -DELTA }).collect();
        for (&(i, j), &v) in pattern.iter().zip(&values) {
            large.extend([(i, m + j), (m + j, i)]);
            large_values.extend([v, v]);
        }
        let mut factor = Factor::new(2 * n, &large, DENSE_LIMIT, || quasidefinite_pairing(2 * n, &large));
        let factored = factor.factor(&large_values) > 0.0;
        Self { n, entries: pattern.to_vec(), values, row, column, factor, factored }
    }

    /// Inverse iteration on the left (equations) or right (variables) side.
    fn iterate(&mut self, left: bool, mut u: Vec<f64>) -> Vec<f64> {
        let n = self.n;
        if !self.factored {
            return vec![0.0; n];
        }
        for _ in 0..6 {
            let mut b = vec![0.0; 2 * n];
            let own = if left { 0..n } else { n..2 * n };
            b[own.clone()].copy_from_slice(&u);
            self.factor.solve(&mut b);
            u.copy_from_slice(&b[own]);
            let length = u.iter().map(|x| x * x).sum::<f64>().sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return vec![0.0; n];
            }
            u.iter_mut().for_each(|x| *x /= length);
        }
        u
    }

    fn times(&self, v: &[f64]) -> f64 {
        let mut w = vec![0.0; self.n];
        for (&(i, j), a) in self.entries.iter().zip(&self.values) {
            w[i as usize] += a * v[j as usize];
        }
        w.iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

/// A start vector without symmetry, so that no singular vector is missed.
fn uneven(n: usize) -> Vec<f64> {
    (0..n).map(|i| 1.0 + 0.5 * elementary::sin(1.7 * i as f64 + 0.3)).collect()
}

/// Left and right vectors in the user's units, and smallest over largest singular value of the scaled matrix.
pub(crate) fn null_vectors(pattern: &[(u32, u32)], jacobian: &[f64], n: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let mut s = Scaled::new(pattern, jacobian, n);
    let left = s.iterate(true, uneven(n));
    let right = s.iterate(false, uneven(n));
    let smallest = s.times(&right);
    let largest = s.values.iter().map(|v| v * v).sum::<f64>().sqrt();
    let rcond = if largest > 0.0 { smallest / largest } else { 0.0 };
    let left = left.iter().zip(&s.row).map(|(u, r)| u * r).collect();
    let right = right.iter().zip(&s.column).map(|(v, c)| v * c).collect();
    (left, right, rcond)
}

/// Left null vector among the rows marked.
pub(crate) fn left_null(pattern: &[(u32, u32)], jacobian: &[f64], n: usize, rows: &[bool]) -> Vec<f64> {
    let mut s = Scaled::new(pattern, jacobian, n);
    let start = uneven(n).iter().zip(rows).map(|(x, &on)| if on { *x } else { 0.0 }).collect();
    s.iterate(true, start)
}

/// The error with the names of the equations and variables in the null vectors.
pub(crate) fn describe(problem: &Problem, t: f64, left: &[f64], right: &[f64], rcond: f64) -> Error {
    let share = |v: &[f64]| -> Vec<usize> {
        let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let mut taking_part: Vec<usize> = (0..v.len()).filter(|&i| v[i].abs() > 1e-3 * largest).collect();
        taking_part.sort_by(|&a, &b| v[b].abs().total_cmp(&v[a].abs()));
        taking_part
    };
    let (rows, columns) = (share(left), share(right));
    let c = problem.structure.c();
    Error::SingularJacobian {
        t,
        redundant: !rows.is_empty() && rows.iter().all(|&i| c[i] > 0),
        equations: rows.iter().map(|&i| problem.equations[i].clone()).collect(),
        variables: columns.iter().map(|&j| problem.variables[j].clone()).collect(),
        rcond,
        isolated: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_vectors_of_a_rank_deficient_matrix_are_found() {
        // Rows 0 and 1 are equal up to a factor; column 2 is independent.
        let pattern = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)];
        let (left, right, rcond) = null_vectors(&pattern, &[1.0, -1.0, 2.0, -2.0, 5.0], 3);
        assert!(rcond < 1e-14, "{rcond:e}");
        assert!((left[0] + 2.0 * left[1]).abs() < 1e-9 * left[0].abs() && left[2].abs() < 1e-9);
        assert!((right[0] - right[1]).abs() < 1e-9 && right[2].abs() < 1e-9);
    }

    #[test]
    fn a_well_conditioned_matrix_is_not_called_singular() {
        let pattern = [(0, 0), (0, 1), (1, 1)];
        let (_, _, rcond) = null_vectors(&pattern, &[1e-8, 2e-8, 3e5], 2);
        assert!(rcond > 0.1, "{rcond:e}");
    }
}
