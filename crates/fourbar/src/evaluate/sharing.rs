//! Load sharing of redundant motors.

use super::matrices::least_squares;
use fourbar_math::dense;
use nalgebra::{DMatrix, DVector};

/// Preferences for the efforts of motors, by motor; empty lists give the defaults.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sharing<'a> {
    /// Positive weights: the sum of the squares of weight times effort is minimised. Empty: torques are weighted relative to forces by the
    /// characteristic length.
    pub weights: &'a [f64],
    /// Largest permitted efforts; infinite if unlimited.
    pub limits: &'a [f64],
}

/// The smallest vector with `|y + Z c| <= limit` in every component; `None` if there is none.
pub(super) fn within(y: &DVector<f64>, Z: &DMatrix<f64>, limits: &[f64]) -> Option<DVector<f64>> {
    let broken = |x: &DVector<f64>| (0..x.len()).any(|k| x[k].abs() > limits[k] * (1.0 + 1e-9));
    if !broken(y) {
        return Some(y.clone());
    }
    if Z.ncols() == 0 {
        return None;
    }
    // Both bounds of every component: G c >= h.
    let bounded: Vec<usize> = (0..y.len()).filter(|&k| limits[k].is_finite()).collect();
    let rows = 2 * bounded.len();
    let mut G = DMatrix::zeros(rows, Z.ncols());
    let mut h = DVector::zeros(rows);
    for (i, &k) in bounded.iter().enumerate() {
        for (row, sign) in [(2 * i, 1.0), (2 * i + 1, -1.0)] {
            G.set_row(row, &(Z.row(k) * sign));
            h[row] = -limits[k] - sign * y[k];
        }
    }
    let x = y + Z * least_distance(&G, &h)?;
    (!broken(&x)).then_some(x)
}

/// The smallest vector with `G x >= h`, by non-negative least squares [Lawson74, chapter 23].
fn least_distance(G: &DMatrix<f64>, h: &DVector<f64>) -> Option<DVector<f64>> {
    let (m, n) = G.shape();
    // Scaled so that the rows, of unit length, and their distances are of the same magnitude.
    let size = h.amax().max(f64::MIN_POSITIVE);
    let E = DMatrix::from_fn(n + 1, m, |i, j| if i < n { G[(j, i)] } else { h[j] / size });
    let mut f = DVector::zeros(n + 1);
    f[n] = 1.0;
    let u = non_negative(&E, &f)?;
    let r = &E * u - &f;
    if r.norm() < 1e-10 {
        return None;
    }
    Some(DVector::from_fn(n, |j, _| -r[j] / r[n] * size))
}

/// The non-negative vector that comes nearest to `E u = f`.
fn non_negative(E: &DMatrix<f64>, f: &DVector<f64>) -> Option<DVector<f64>> {
    let m = E.ncols();
    let mut u = DVector::zeros(m);
    let mut free = vec![false; m];
    let solve = |free: &[bool]| {
        let list: Vec<usize> = (0..m).filter(|&k| free[k]).collect();
        let part = DMatrix::from_fn(E.nrows(), list.len(), |i, j| E[(i, list[j])]);
        let x = least_squares(&part, f, 1e-12);
        let mut out = DVector::zeros(m);
        list.iter().zip(x.iter()).for_each(|(k, x)| out[*k] = *x);
        out
    };
    for _ in 0..10 * m + 10 {
        let w = E.tr_mul(&(f - E * &u));
        let next = (0..m).filter(|&k| !free[k] && w[k] > 1e-12).max_by(|&i, &j| w[i].total_cmp(&w[j]));
        let Some(next) = next else { return Some(u) };
        free[next] = true;
        for _ in 0..=m {
            let s = solve(&free);
            let bad: Vec<usize> = (0..m).filter(|&k| free[k] && s[k] <= 0.0).collect();
            if bad.is_empty() {
                u = s;
                break;
            }
            // As far towards the solution as all components stay non-negative.
            let share = bad.iter().map(|&k| u[k] / (u[k] - s[k]).max(f64::MIN_POSITIVE)).fold(1.0, f64::min);
            u += (s - &u) * share;
            for k in 0..m {
                if free[k] && u[k] <= 1e-14 {
                    u[k] = 0.0;
                    free[k] = false;
                }
            }
        }
    }
    None
}

/// The smallest efforts that satisfy `A x = b` as well as possible, within the limits if there are any. Also returns whether they are
/// within the limits, and the directions along which efforts oppose each other.
pub(super) fn share(A: &DMatrix<f64>, b: &DVector<f64>, limits: &[f64], tolerance: f64) -> (DVector<f64>, bool, DMatrix<f64>) {
    let x = least_squares(A, b, tolerance);
    let null = dense::rank(A, tolerance).null;
    if limits.is_empty() {
        return (x, true, null);
    }
    match within(&x, &null, limits) {
        Some(bounded) => (bounded, true, null),
        None => (x, false, null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Compared with the best of many points of the plane of solutions.
    #[test]
    fn bounded_sharing_is_the_nearest_to_zero() {
        let mut random = Random(7);
        let mut bounded = 0;
        for round in 0..300 {
            let A = DMatrix::from_fn(1, 3, |_, _| random.number());
            let b = DVector::from_element(1, random.number());
            let limits: Vec<f64> = (0..3).map(|_| 0.1 + 0.6 * random.number().abs()).collect();
            let (x, fits, Z) = share(&A, &b, &limits, 1e-10);
            let least = least_squares(&A, &b, 1e-10);
            let reach: f64 = (0..3).map(|k| A[(0, k)].abs() * limits[k]).sum();
            assert_eq!(fits, reach >= b[0].abs(), "round {round}");
            assert!((&A * &x - &b).amax() < 1e-9);
            if !fits {
                continue;
            }
            assert!((0..3).all(|k| x[k].abs() <= limits[k] * (1.0 + 1e-8)), "round {round}: {x} {limits:?}");
            bounded += usize::from((&x - &least).norm() > 1e-9);
            for _ in 0..2000 {
                let c = DVector::from_fn(Z.ncols(), |_, _| 2.0 * random.number());
                let other = &least + &Z * c;
                let allowed = (0..3).all(|k| other[k].abs() <= limits[k]);
                assert!(!allowed || other.norm() >= x.norm() - 1e-9, "round {round}: {} < {}", other.norm(), x.norm());
            }
        }
        assert!(bounded > 30, "{bounded}");
    }
}
