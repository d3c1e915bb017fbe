//! Impulses of all closed contacts of a step: sweeps over the contacts, and if a few of them converge slowly, Newton steps on all at once.
//!
//! Both end after a given number of rounds. The remaining error is the residual of the contact conditions, a velocity.

use super::active::Active;
use crate::state::Twist;
use fourbar_math::elementary;
use nalgebra::{DMatrix, DVector, Vector3};

/// Newton steps are tried for up to this many contacts.
const FEW: usize = 48;
/// Number of sweeps before the first Newton steps.
const FIRST: usize = 30;
/// For up to this many contacts Newton steps are tried again.
const HANDFUL: usize = 8;
/// Maximum number of Newton steps.
const NEWTON: usize = 12;
/// Pivots below this fraction of the largest entry count as zero: contacts depend on each other.
const DEPENDENT: f64 = 1e-12;

/// Result of a solve.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solved {
    /// Sweeps over all contacts.
    pub sweeps: usize,
    /// Largest remaining residual, m/s.
    pub residual: f64,
}

/// Changes impulses and velocities until the contact conditions are satisfied to `tol`, m/s.
pub fn solve(list: &mut [Active], v: &mut [Twist], tol: f64, most: usize) -> Solved {
    for a in list.iter_mut() {
        a.P = a.inside(&a.P);
        let P = a.P;
        a.add(&P, v);
    }
    let mut done = Solved::default();
    if list.is_empty() {
        return done;
    }
    let mut next = FIRST;
    while done.sweeps < most {
        let change = sweep(list, v);
        done.sweeps += 1;
        if change <= tol {
            break;
        }
        if done.sweeps >= next && list.len() <= FEW {
            // For a few contacts Newton steps are tried again after further sweeps.
            next = if list.len() <= HANDFUL { 4 * next } else { usize::MAX };
            newton(list, v, tol);
        }
    }
    done.residual = list.iter().map(|a| a.residual(&a.velocity(v))).fold(0.0, f64::max);
    done
}

/// One sweep over all contacts; returns the largest change as a velocity.
fn sweep(list: &mut [Active], v: &mut [Twist]) -> f64 {
    let mut most = 0.0_f64;
    for a in list.iter_mut() {
        let u = a.velocity(v);
        let next = a.projected(&u);
        let d = next - a.P;
        most = most.max(a.measure(&d));
        if d != Vector3::zeros() {
            a.add(&d, v);
            a.P = next;
        }
    }
    most
}

/// Newton steps on the projections of all contacts together; kept only if they reduce the residual.
fn newton(list: &mut [Active], v: &mut [Twist], tol: f64) {
    let n = list.len();
    // Relative velocities due to impulses.
    let mut G = DMatrix::<f64>::zeros(3 * n, 3 * n);
    for (j, b) in list.iter().enumerate() {
        for (body, columns) in &b.columns {
            for (i, a) in list.iter().enumerate() {
                for side in (0..2).filter(|s| a.bodies[*s] == *body) {
                    for r in 0..3 {
                        for k in 0..3 {
                            G[(3 * i + r, 3 * j + k)] += a.rows[side][r].power(&columns[k]);
                        }
                    }
                }
            }
        }
    }
    let start: DVector<f64> = stacked(list, |a| a.P);
    let free: DVector<f64> = stacked(list, |a| a.velocity(v)) - &G * &start;
    let residual = |list: &[Active], u: &DVector<f64>| list.iter().enumerate().map(|(i, a)| a.residual(&three(u, i))).fold(0.0, f64::max);
    let mut P = start.clone();
    let mut u = &free + &G * &P;
    let (mut best, mut best_at) = (residual(list, &u), P.clone());
    for _ in 0..NEWTON {
        if best <= tol {
            break;
        }
        let mut J = DMatrix::<f64>::zeros(3 * n, 3 * n);
        let mut F = DVector::<f64>::zeros(3 * n);
        for (i, a) in list.iter().enumerate() {
            equations(a, &three(&u, i), i, &G, &mut J, &mut F);
        }
        // Contacts may depend on each other: then the step of least norm is used.
        let top = J.amax();
        let lu = J.clone().lu();
        let regular = lu.u().diagonal().iter().all(|x| x.abs() > DEPENDENT * top);
        let step = if regular { lu.solve(&F) } else { J.svd(true, true).solve(&F, DEPENDENT * top).ok() };
        let Some(step) = step else { break };
        if !step.iter().all(|x| x.is_finite()) {
            break;
        }
        P -= step;
        for (i, a) in list.iter_mut().enumerate() {
            a.P = a.inside(&three(&P, i));
        }
        // The residual is evaluated at admissible impulses.
        P = stacked(list, |a| a.P);
        u = &free + &G * &P;
        let now = residual(list, &u);
        if now < best {
            (best, best_at) = (now, P.clone());
        }
    }
    for (i, a) in list.iter_mut().enumerate() {
        a.P = three(&best_at, i);
        let d = a.P - three(&start, i);
        a.add(&d, v);
    }
}

fn three(x: &DVector<f64>, i: usize) -> Vector3<f64> {
    Vector3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2])
}

fn stacked(list: &[Active], f: impl Fn(&Active) -> Vector3<f64>) -> DVector<f64> {
    let mut x = DVector::zeros(3 * list.len());
    for (i, a) in list.iter().enumerate() {
        x.fixed_rows_mut::<3>(3 * i).copy_from(&f(a));
    }
    x
}

/// Equations of one contact and their derivatives with respect to all impulses: open, sticking or sliding, according to its projection.
fn equations(a: &Active, u: &Vector3<f64>, i: usize, G: &DMatrix<f64>, J: &mut DMatrix<f64>, F: &mut DVector<f64>) {
    let row = 3 * i;
    let normal = a.P.x - (u.x - a.target.x) / a.push().max(f64::MIN_POSITIVE);
    if let Some(bound) = a.within {
        for k in 1..3 {
            J[(row + k, row + k)] = 1.0;
            F[row + k] = a.P[k];
        }
        if normal.abs() <= bound && a.push() > 0.0 {
            (0..J.ncols()).for_each(|c| J[(row, c)] = G[(row, c)]);
            F[row] = u.x - a.target.x;
        } else {
            J[(row, row)] = 1.0;
            F[row] = a.P.x - if a.push() > 0.0 { bound.copysign(normal) } else { 0.0 };
        }
        return;
    }
    if normal <= 0.0 && a.least == 0.0 {
        for k in 0..3 {
            J[(row + k, row + k)] = 1.0;
            F[row + k] = a.P[k];
        }
        return;
    }
    let columns = J.ncols();
    if normal <= a.least {
        J[(row, row)] = 1.0;
        F[row] = a.P.x - a.least;
    } else {
        (0..columns).for_each(|c| J[(row, c)] = G[(row, c)]);
        F[row] = u.x - a.target.x;
    }
    if let Some(d) = a.slides {
        for k in 0..2 {
            J[(row + 1 + k, row + 1 + k)] = 1.0;
            J[(row + 1 + k, row)] = a.mu * d[k];
            F[row + 1 + k] = a.P[1 + k] + a.mu * d[k] * a.P.x;
        }
        return;
    }
    if a.mu == 0.0 {
        for k in 1..3 {
            J[(row + k, row + k)] = 1.0;
            F[row + k] = a.P[k];
        }
        return;
    }
    let step = 2.0 / (a.G[(1, 1)] + a.G[(2, 2)]).max(f64::MIN_POSITIVE);
    let slip = [u.y - a.target.y, u.z - a.target.z];
    let y = [a.P.y - step * slip[0], a.P.z - step * slip[1]];
    let (length, bound) = (elementary::hypot(y[0], y[1]), a.mu * a.P.x.max(0.0));
    if length <= bound {
        for k in 0..2 {
            (0..columns).for_each(|c| J[(row + 1 + k, c)] = G[(row + 1 + k, c)]);
            F[row + 1 + k] = slip[k];
        }
        return;
    }
    // Sliding: P_T = bound y/|y|.
    let e = [y[0] / length, y[1] / length];
    for k in 0..2 {
        F[row + 1 + k] = a.P[1 + k] - bound * e[k];
        J[(row + 1 + k, row)] -= a.mu * e[k];
        J[(row + 1 + k, row + 1 + k)] += 1.0;
        for m in 0..2 {
            let turn = bound / length * (f64::from(u8::from(k == m)) - e[k] * e[m]);
            J[(row + 1 + k, row + 1 + m)] -= turn;
            (0..columns).for_each(|c| J[(row + 1 + k, c)] += turn * step * G[(row + 1 + m, c)]);
        }
    }
}
