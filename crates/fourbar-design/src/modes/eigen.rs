//! Eigenvalues of a state matrix: zero ones counted by its structure, the others with vectors and conditions.
//!
//! Zero eigenvalues of mechanisms come in chains (a position and its rate) and would be computed as small numbers of any sign. They are
//! separated first: the null space of the matrix, then that of the remaining matrix, and so on, by orthogonal changes of basis.

use fourbar_math::dense;
use nalgebra::{Complex, DMatrix, DVector, Schur};

/// Singular values below this share of the magnitudes summed in rows and columns are zero.
const ZERO: f64 = 1e-11;
/// Components of directions below this are rounding errors.
const CLEAN: f64 = 1e-14;
/// Least magnitudes in the remaining matrix, as a share of the largest in row and column: times [`ZERO`] it is their rounding error.
const FLOOR: f64 = 1e-3;
/// Magnitudes below this share of the largest are rounding errors of zeros.
const NOTHING: f64 = 1e-18;
/// Largest scaling factor of a row or column relative to the smallest: it multiplies the rounding error of a direction.
const RANGE: f64 = 1e6;
/// Number of iterations that equilibrate rows and columns.
const ROUNDS: usize = 8;
/// Maximum number of balancing sweeps.
const BALANCE: usize = 50;
/// Maximum number of iterations of the Schur form; numbers added to the diagonal, as shares of the largest entry, if it does not converge.
const SCHUR: usize = 20_000;
const SHIFTS: [f64; 4] = [0.0, 0.37, 0.013, 1.7];
/// Above this condition the quotient of left and right vector is less accurate than the eigenvalue itself.
const DOUBTFUL: f64 = 1e6;

type C = Complex<f64>;

/// An eigenvalue.
#[derive(Clone, Debug)]
pub struct Root {
    /// Its value, 1/s.
    pub s: C,
    /// Factor by which errors of the matrix are magnified in it.
    pub condition: f64,
    /// Its eigenvector of states.
    pub vector: DVector<C>,
}

/// The eigenvalues of a matrix.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Zero eigenvalues.
    pub zeros: usize,
    /// The null space: states that do not change.
    pub still: DMatrix<f64>,
    /// The others.
    pub list: Vec<Root>,
}

/// Powers of two that scale states so that rows and columns of the matrix have similar size.
fn balance(A: &DMatrix<f64>) -> DVector<f64> {
    let n = A.nrows();
    let mut d = DVector::from_element(n, 1.0);
    let mut B = A.clone();
    for _ in 0..BALANCE {
        let mut changed = false;
        for k in 0..n {
            let (mut row, mut column) = (0.0, 0.0);
            for j in (0..n).filter(|&j| j != k) {
                row += B[(k, j)].abs();
                column += B[(j, k)].abs();
            }
            if row == 0.0 || column == 0.0 {
                continue;
            }
            let f = 2f64.powi(((row / column).sqrt().log2()).round() as i32).clamp(1e-12, 1e12);
            if (row / f + column * f) < 0.95 * (row + column) && f != 1.0 {
                d[k] *= f;
                B.row_mut(k).unscale_mut(f);
                B.column_mut(k).scale_mut(f);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    d
}

/// Scaling factors that make the largest entry of every row and column of a non-negative matrix one. Zero rows and columns have no scale
/// and take the smallest factor: relative to the largest entries they are zero up to rounding.
fn equilibrated(S: &DMatrix<f64>) -> (DVector<f64>, DVector<f64>) {
    let (mut rows, mut columns) = (DVector::from_element(S.nrows(), 1.0), DVector::from_element(S.ncols(), 1.0));
    for _ in 0..ROUNDS {
        let scaled = |i: usize, j: usize, r: &DVector<f64>, c: &DVector<f64>| S[(i, j)] * r[i] * c[j];
        let largest = |list: &mut dyn Iterator<Item = f64>| Some(list.fold(0.0_f64, f64::max)).filter(|x| *x > 0.0).unwrap_or(1.0);
        let by_row = DVector::from_fn(S.nrows(), |i, _| largest(&mut (0..S.ncols()).map(|j| scaled(i, j, &rows, &columns))));
        let by_column = DVector::from_fn(S.ncols(), |j, _| largest(&mut (0..S.nrows()).map(|i| scaled(i, j, &rows, &columns))));
        rows.zip_apply(&by_row, |r, x| *r /= x.sqrt());
        columns.zip_apply(&by_column, |c, x| *c /= x.sqrt());
    }
    let (row, column) = (rows.min(), columns.min());
    rows.iter_mut().zip(S.row_iter()).for_each(|(r, line)| *r = if line.amax() == 0.0 { row } else { r.min(RANGE * row) });
    columns.iter_mut().zip(S.column_iter()).for_each(|(c, line)| *c = if line.amax() == 0.0 { column } else { c.min(RANGE * column) });
    (rows, columns)
}

/// Separates zero eigenvalues: the remaining matrix, the null space, and their number. Rows and columns are compared with the magnitudes of
/// the terms of their entries, each separately: a soft motion beside a very stiff one is not a free one.
fn without_zeros(A: &DMatrix<f64>, sizes: &DMatrix<f64>) -> Option<(DMatrix<f64>, DMatrix<f64>, usize)> {
    let n = A.nrows();
    let mut still = DMatrix::zeros(n, 0);
    let nothing = NOTHING * sizes.amax();
    let (mut left, mut sizes, mut zeros) = (A.clone(), sizes.map(|x| if x < nothing { 0.0 } else { x }), 0);
    for level in 0..n {
        if left.is_empty() {
            break;
        }
        let m = left.nrows();
        let (rows, columns) = equilibrated(&sizes);
        let svd = dense::svd(DMatrix::from_fn(m, m, |i, j| left[(i, j)] * rows[i] * columns[j]), false, true)?;
        let v_t = svd.v_t.as_ref()?;
        let null: Vec<DVector<f64>> = (0..m)
            .filter(|&k| svd.singular_values[k] <= ZERO)
            .map(|k| DVector::from_fn(m, |j, _| v_t[(k, j)] * columns[j]).normalize())
            .collect();
        if null.is_empty() {
            break;
        }
        let X = DMatrix::from_columns(&null).qr().q();
        if level == 0 {
            still = X.clone();
        }
        zeros += null.len();
        // In the basis of the kept directions and the null space, the columns of the latter vanish.
        let complement = (DMatrix::identity(m, m) - &X * X.transpose()).col_piv_qr().q();
        let kept = complement.columns(0, m - null.len()).map(|x| if x.abs() < CLEAN { 0.0 } else { x });
        left = kept.tr_mul(&(&left * &kept));
        // Directions are exact only to rounding. The resulting errors in zero rows must not be compared with themselves.
        let least = |i: usize, j: usize| FLOOR / (rows[i] * columns[j]);
        let sums = DMatrix::from_fn(m, m, |i, j| sizes[(i, j)].max(least(i, j)));
        sizes = kept.abs().tr_mul(&(sums * kept.abs()));
    }
    Some((left, still, zeros))
}

/// The eigenvalues of a matrix by its Schur form. The iteration may not converge if several eigenvalues have the same modulus, like the
/// four roots of a circulatory pair; adding a real number to the diagonal separates them.
fn values(A: &DMatrix<f64>) -> Option<Vec<C>> {
    if A.is_empty() {
        return Some(Vec::new());
    }
    SHIFTS.iter().find_map(|share| {
        let shift = share * A.amax();
        let moved = A + DMatrix::from_diagonal_element(A.nrows(), A.ncols(), shift);
        let schur = Schur::try_new(moved, f64::EPSILON, SCHUR)?;
        Some(schur.complex_eigenvalues().iter().map(|s| s - shift).collect())
    })
}

fn shifted(A: &DMatrix<f64>, s: C, transposed: bool) -> DMatrix<C> {
    let n = A.nrows();
    // A shift at rounding level keeps the matrix regular.
    let s = s + C::new(1.0, 1.0) * (4.0 * f64::EPSILON * A.amax().max(f64::MIN_POSITIVE));
    DMatrix::from_fn(n, n, |i, j| {
        let a = if transposed { A[(j, i)] } else { A[(i, j)] };
        C::new(a, 0.0) - if i == j { s } else { C::new(0.0, 0.0) }
    })
}

/// An eigenvector for `s` by inverse iteration, orthogonal to given vectors.
fn vector(A: &DMatrix<f64>, s: C, transposed: bool, apart: &[DVector<C>], seed: usize) -> Option<DVector<C>> {
    let lu = shifted(A, s, transposed).lu();
    let mut x = DVector::from_fn(A.nrows(), |k, _| C::new((1.0 + (k * 7 + seed * 13) as f64).sin(), 0.3 * (2.0 + (k + seed) as f64).cos()));
    for _ in 0..4 {
        for y in apart {
            let c = y.dotc(&x);
            x.axpy(-c, y, C::new(1.0, 0.0));
        }
        x = lu.solve(&x)?;
        let size = x.norm();
        if !size.is_finite() || size == 0.0 {
            return None;
        }
        x.unscale_mut(size);
    }
    Some(x)
}

/// The eigenvalues of a real matrix whose entries are sums of terms of given magnitudes; `None` if it contains non-finite numbers, or the
/// iteration does not converge.
pub fn roots(A: &DMatrix<f64>, sizes: &DMatrix<f64>) -> Option<Roots> {
    let n = A.nrows();
    if n == 0 {
        return Some(Roots { zeros: 0, still: DMatrix::zeros(0, 0), list: Vec::new() });
    }
    if !A.iter().chain(sizes).all(|x| x.is_finite()) {
        return None;
    }
    let d = balance(sizes);
    let scaled = |X: &DMatrix<f64>| DMatrix::from_fn(n, n, |i, j| X[(i, j)] * d[j] / d[i]);
    let B = scaled(A);
    let (left, mut still, zeros) = without_zeros(&B, &scaled(sizes))?;
    for (mut row, d) in still.row_iter_mut().zip(d.iter()) {
        row *= *d;
    }
    let values = values(&left)?;
    let mut list: Vec<Root> = Vec::new();
    let mut own: Vec<(C, DVector<C>)> = Vec::new();
    let mut full: Vec<(C, DVector<C>)> = Vec::new();
    let scale = values.iter().fold(0.0_f64, |m, s| m.max(s.norm()));
    for (k, &value) in values.iter().enumerate() {
        let near = |list: &[(C, DVector<C>)]| -> Vec<DVector<C>> {
            list.iter().filter(|(s, _)| (s - value).norm() < 1e-7 * scale).map(|x| x.1.clone()).collect()
        };
        let (mut s, mut condition) = (value, f64::INFINITY);
        for _ in 0..2 {
            let Some(x) = vector(&left, s, false, &near(&own), k) else { break };
            let Some(y) = vector(&left, s.conj(), true, &[], k).filter(|_| near(&own).is_empty()) else { break };
            // A y = conj(s) y for the transposed matrix: y^H A = s y^H.
            let product = y.dotc(&x);
            condition = 1.0 / product.norm().max(f64::MIN_POSITIVE);
            if condition > DOUBTFUL {
                break;
            }
            let Ax = left.map(|a| C::new(a, 0.0)) * &x;
            let mut better = y.dotc(&Ax) / product;
            if value.im == 0.0 {
                better.im = 0.0;
            }
            // Each member of a conjugate pair keeps its side, since only one of the two is reported.
            if better.im * value.im < 0.0 || (value.im != 0.0 && better.im == 0.0) {
                break;
            }
            s = better;
            own.push((value, x));
        }
        if let Some(x) = vector(&B, s, false, &near(&full), k) {
            full.push((value, x.clone()));
            let x = DVector::from_fn(n, |i, _| x[i] * d[i]);
            list.push(Root { s, condition: if condition.is_finite() { condition } else { 1.0 }, vector: x });
        } else {
            list.push(Root { s, condition: if condition.is_finite() { condition } else { 1.0 }, vector: DVector::zeros(n) });
        }
    }
    Some(Roots { zeros, still, list })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_of_zeros_are_counted_and_the_rest_is_exact() {
        // Two chains of length two and one root of each kind, hidden by a random change of basis.
        let mut J = DMatrix::zeros(8, 8);
        J[(0, 1)] = 1.0;
        J[(2, 3)] = 1.0;
        J[(4, 4)] = -0.25;
        J[(5, 6)] = 3.0;
        J[(6, 5)] = -3.0;
        J[(7, 7)] = 40.0;
        let T = DMatrix::from_fn(8, 8, |i, j| ((3 * i + 5 * j + i * j) as f64).sin() + if i == j { 2.0 } else { 0.0 });
        let A = &T * J * T.clone().try_inverse().expect("regular");
        let r = roots(&A, &A.abs()).expect("roots");
        assert_eq!((r.zeros, r.still.ncols(), r.list.len()), (4, 2, 4));
        for known in [C::new(-0.25, 0.0), C::new(0.0, 3.0), C::new(0.0, -3.0), C::new(40.0, 0.0)] {
            let found = r.list.iter().find(|x| (x.s - known).norm() < 1e-11).unwrap_or_else(|| panic!("{known} is missing"));
            let left = A.map(|a| C::new(a, 0.0)) * &found.vector - &found.vector * found.s;
            assert!(left.norm() < 1e-9 * found.vector.norm() * 40.0, "{known}: {}", left.norm());
        }
    }

    /// A damped oscillator beside free masses, whose zero rows contain only rounding errors once the positions are separated; the basis of
    /// states is rotated in small blocks, as eigenvectors of equal masses rotate it.
    #[test]
    fn rows_of_zeros_stay_zero_whatever_is_split_off() {
        for (n, k, c) in [(5, 50.0, 1.924), (6, 2.5e-15, 151.0), (4, 1e6, 0.3), (7, 1e-4, 1e-3)] {
            for turn in [0.0, 0.02, 0.7] {
                let mut A = DMatrix::zeros(2 * n, 2 * n);
                (0..n).for_each(|i| A[(i, n + i)] = 1.0);
                A[(2 * n - 1, n - 1)] = -k;
                A[(2 * n - 1, 2 * n - 1)] = -c;
                let (cos, sin) = (f64::cos(turn), f64::sin(turn));
                let mut T = DMatrix::identity(2 * n, 2 * n);
                for (i, j) in [(0, 1), (n, n + 1), (n - 2, n - 1), (2 * n - 2, 2 * n - 1)] {
                    let mut G = DMatrix::identity(2 * n, 2 * n);
                    (G[(i, i)], G[(j, j)], G[(i, j)], G[(j, i)]) = (cos, cos, -sin, sin);
                    T *= G;
                }
                let A = T.tr_mul(&(A * &T));
                let r = roots(&A, &A.abs()).expect("roots");
                let root = (C::new(0.25 * c * c - k, 0.0)).sqrt();
                for known in [C::new(-0.5 * c, 0.0) + root, C::new(-0.5 * c, 0.0) - root] {
                    let free = r.list.iter().any(|x| (x.s - known).norm() <= 1e-9 * root.norm().max(c));
                    // Motions that are soft at rounding level may count as free.
                    assert!(free || known.norm() < 1e-10, "{n} {k} {c} {turn}: {known} is missing in {:?}", r.list);
                }
                assert_eq!(r.zeros + r.list.len(), 2 * n);
                assert!(r.zeros >= 2 * n - 2, "{n} {k} {c} {turn}: {} zeros", r.zeros);
            }
        }
    }

    /// Two masses with circulatory coupling: four roots with the same modulus, for which a plain iteration does not converge.
    #[test]
    fn roots_of_one_modulus_are_found() {
        let mut A = DMatrix::zeros(4, 4);
        (A[(0, 2)], A[(1, 3)], A[(2, 1)], A[(3, 0)]) = (1.0, 1.0, 46.0, -46.0);
        let r = roots(&A, &A.abs()).expect("roots");
        assert_eq!((r.zeros, r.list.len()), (0, 4));
        let size = f64::sqrt(23.0);
        for known in [C::new(size, size), C::new(size, -size), C::new(-size, size), C::new(-size, -size)] {
            assert!(r.list.iter().any(|x| (x.s - known).norm() < 1e-12 * size), "{known}: {:?}", r.list);
        }
    }

    #[test]
    fn double_roots_have_two_vectors() {
        let A = DMatrix::from_row_slice(4, 4, &[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, -4.0, 0.0, 0.0, 0.0, 0.0, -4.0, 0.0, 0.0]);
        let r = roots(&A, &A.abs()).expect("roots");
        let up: Vec<&Root> = r.list.iter().filter(|x| x.s.im > 0.0).collect();
        assert_eq!(up.len(), 2);
        let c = up[0].vector.dotc(&up[1].vector).norm() / (up[0].vector.norm() * up[1].vector.norm());
        assert!(c < 0.9, "{c}");
    }
}
