//! Small motions of a mass matrix and a stiffness, where some motions may have no inertia.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Inertias below this share of the largest mass are zero.
pub const MASSLESS: f64 = 1e-12;

/// `H y = w M y` for a symmetric `H` and a mass matrix that may have massless motions: eigenvalues, vectors with `y^T M y = 1`, and the
/// number of motions without inertia and stiffness. Massless motions with stiffness are eliminated statically.
pub fn small_motions(H: &DMatrix<f64>, M: &DMatrix<f64>, mass: f64) -> (DVector<f64>, DMatrix<f64>, usize) {
    let n = H.nrows();
    if n == 0 {
        return (DVector::zeros(0), DMatrix::zeros(0, 0), 0);
    }
    let e = SymmetricEigen::new((M + M.transpose()) * 0.5);
    let heavy: Vec<usize> = (0..n).filter(|&k| e.eigenvalues[k] > MASSLESS * mass).collect();
    let light: Vec<usize> = (0..n).filter(|k| !heavy.contains(k)).collect();
    let pick = |list: &[usize]| DMatrix::from_fn(n, list.len(), |i, j| e.eigenvectors[(i, list[j])]);
    let (P, Q) = (pick(&heavy), pick(&light));
    let mut T = P.clone();
    let mut idle = 0;
    if !light.is_empty() {
        let stiff = SymmetricEigen::new(Q.tr_mul(&(H * &Q)));
        let top = stiff.eigenvalues.amax().max(1e-12 * H.amax());
        let mut back = Q.tr_mul(&(H * &P));
        back = stiff.eigenvectors.tr_mul(&back);
        for (k, mut row) in back.row_iter_mut().enumerate() {
            let s = stiff.eigenvalues[k];
            if s.abs() > 1e-9 * top {
                row /= s;
            } else {
                row.fill(0.0);
                idle += 1;
            }
        }
        T -= Q * (stiff.eigenvectors * back);
    }
    if heavy.is_empty() {
        return (DVector::zeros(0), DMatrix::zeros(n, 0), idle);
    }
    let M = T.tr_mul(&(M * &T));
    let H = T.tr_mul(&(H * &T));
    let Some(L) = ((&M + M.transpose()) * 0.5).cholesky().map(|c| c.l()) else {
        return (DVector::zeros(0), DMatrix::zeros(n, 0), idle);
    };
    let Some(Li) = L.clone().try_inverse() else { return (DVector::zeros(0), DMatrix::zeros(n, 0), idle) };
    let S = &Li * ((&H + H.transpose()) * 0.5) * Li.transpose();
    let e = SymmetricEigen::new((&S + S.transpose()) * 0.5);
    (e.eigenvalues.clone(), T * Li.transpose() * e.eigenvectors, idle)
}
