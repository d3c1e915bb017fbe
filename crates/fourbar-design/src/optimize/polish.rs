//! Refines the result of a sampling search: sequential quadratic programming with central differences, from the best sample.
//!
//! Sampling converges only slowly to an optimum on the boundary of a condition, because half of the neighbouring samples violate it. There
//! the goal and the conditions are usually smooth: a quadratic model of the Lagrangian with linear models of the conditions,
//! ```text
//! least  1/2 d^T B d + g^T d      where  m + J d >= 0,  0 <= u + d <= 1,  |d| <= reach
//! ```
//! gives a step, which is shortened until the merit function decreases: the goal plus the violations, each weighted by more than its
//! multiplier. At a kink the first step without improvement ends the refinement, and the best sample remains.

use super::{Goals, Problem};
use nalgebra::{DMatrix, DVector};

/// Maximum number of steps, and of halvings of a step.
const STEPS: usize = 60;
const HALVINGS: usize = 12;
/// Longest step, as a share of the range of a variable.
const REACH: f64 = 0.1;
/// A step below this has converged.
const ARRIVED: f64 = 1e-9;
/// Maximum number of sweeps over the conditions of a quadratic model, and the relative change of a multiplier at which they end.
const ROUNDS: usize = 2000;
const SETTLED: f64 = 1e-13;
/// Upper limit of the multipliers, in units of the gradient: contradictory conditions are violated as little as possible.
const CAP: f64 = 1e4;
/// Sufficient share of the predicted decrease.
const ENOUGH: f64 = 1e-4;
/// Factor of the multipliers in the weights of violations.
const OVER: f64 = 1.5;

/// The goal with its gradient, and margins with theirs, in the unit box.
struct Slopes {
    g: DVector<f64>,
    J: DMatrix<f64>,
}

/// Computes several cases at once; `None` for a case that fails, `None` for the list if the search was ended.
pub(super) type Cases<'a> = dyn FnMut(&[Vec<f64>]) -> Option<Vec<Option<Goals>>> + 'a;

/// An optimum.
pub(super) struct Arrived {
    /// Its position in the unit box.
    pub u: Vec<f64>,
    /// Largest gain from violating the conditions by their size.
    pub weight: f64,
}

/// Continues from a point of the unit box, with a maximum number of cases; all evaluations go through `cases`. `None` if it does not
/// converge: its evaluations may still be improvements.
pub(super) fn polish(problem: &Problem<'_>, from: &[f64], size: f64, most: usize, cases: &mut Cases<'_>) -> Option<Arrived> {
    let n = from.len();
    let mut left = most;
    let mut one = |u: &DVector<f64>, left: &mut usize| -> Option<Goals> {
        *left = left.checked_sub(1)?;
        cases(&[u.iter().copied().collect()])?.pop()?
    };
    let mut u = DVector::from_column_slice(from);
    let mut now = one(&u, &mut left)?;
    let mut slopes = differences(problem, &u, size, &mut left, &mut one)?;
    let scale = slopes.g.norm().max(1e-300);
    let mut B = DMatrix::identity(n, n) * scale;
    let mut weights = vec![0.0; now.margins.len()];
    for _ in 0..STEPS {
        let margins: DVector<f64> = DVector::from_iterator(now.margins.len(), now.margins.iter().map(|m| m / size));
        let (d, lambda) = model(&B, &slopes, &margins, &u, CAP * scale)?;
        for (w, l) in weights.iter_mut().zip(lambda.iter()) {
            *w = if *w < *l { OVER * l } else { 0.5 * (*w + OVER * l) };
        }
        let merit = |g: &Goals| problem.objective(g) + g.margins.iter().zip(&weights).map(|(m, w)| w * (-m / size).max(0.0)).sum::<f64>();
        let broken: f64 = margins.iter().zip(&weights).map(|(m, w)| w * (-m).max(0.0)).sum();
        let fall = broken - slopes.g.dot(&d);
        if d.amax() < ARRIVED {
            return Some(arrived(&u, &weights));
        }
        if fall.is_nan() || fall <= 0.0 {
            return None;
        }
        let before = merit(&now);
        let mut share = 1.0;
        let mut next = None;
        for _ in 0..HALVINGS {
            let tried = (&u + &d * share).map(|x| x.clamp(0.0, 1.0));
            if let Some(goals) = one(&tried, &mut left).filter(|g| merit(g) <= before - ENOUGH * share * fall) {
                next = Some((tried, goals));
                break;
            }
            if left == 0 {
                break;
            }
            share *= 0.5;
        }
        let (tried, goals) = next?;
        let step = &tried - &u;
        let old = &slopes.g - slopes.J.tr_mul(&lambda);
        (u, now) = (tried, goals);
        slopes = differences(problem, &u, size, &mut left, &mut one)?;
        curve(&mut B, &step, &(&slopes.g - slopes.J.tr_mul(&lambda) - old));
    }
    None
}

fn arrived(u: &DVector<f64>, weights: &[f64]) -> Arrived {
    Arrived { u: u.iter().copied().collect(), weight: weights.iter().sum() }
}

/// Central differences, one-sided at the edge of the box.
fn differences(
    problem: &Problem<'_>,
    u: &DVector<f64>,
    size: f64,
    left: &mut usize,
    one: &mut impl FnMut(&DVector<f64>, &mut usize) -> Option<Goals>,
) -> Option<Slopes> {
    let n = u.len();
    let mut g = DVector::zeros(n);
    let mut columns = Vec::new();
    for k in 0..n {
        let mut at = |by: f64| {
            let mut x = u.clone();
            x[k] = (x[k] + by).clamp(0.0, 1.0);
            one(&x, left).map(|goals| (x[k], goals))
        };
        let ((a, low), (b, high)) = (at(-problem.difference)?, at(problem.difference)?);
        g[k] = (problem.objective(&high) - problem.objective(&low)) / (b - a);
        columns
            .push(DVector::from_iterator(low.margins.len(), high.margins.iter().zip(&low.margins).map(|(h, l)| (h - l) / (b - a) / size)));
    }
    Some(Slopes { g, J: DMatrix::from_columns(&columns) })
}

/// The step of a quadratic model, with the multipliers of its conditions, by successive projection onto the conditions (Hildreth).
fn model(B: &DMatrix<f64>, slopes: &Slopes, margins: &DVector<f64>, u: &DVector<f64>, cap: f64) -> Option<(DVector<f64>, DVector<f64>)> {
    let n = u.len();
    let factor = B.clone().cholesky()?;
    // Rows `a d >= b`: conditions, then the box and the step limit.
    let mut rows: Vec<(DVector<f64>, f64, f64)> =
        (0..margins.len()).map(|j| (slopes.J.row(j).transpose(), -margins[j], cap / slopes.J.row(j).norm().max(1e-300))).collect();
    for k in 0..n {
        let unit = |sign: f64| DVector::from_fn(n, |i, _| if i == k { sign } else { 0.0 });
        rows.push((unit(1.0), (-u[k]).max(-REACH), f64::INFINITY));
        rows.push((unit(-1.0), (u[k] - 1.0).max(-REACH), f64::INFINITY));
    }
    let solved: Vec<DVector<f64>> = rows.iter().map(|r| factor.solve(&r.0)).collect();
    let mut d = -factor.solve(&slopes.g);
    let mut lambda = DVector::<f64>::zeros(rows.len());
    for _ in 0..ROUNDS {
        let mut moved = 0.0_f64;
        for (k, ((a, b, most), x)) in rows.iter().zip(&solved).enumerate() {
            let stiff = a.dot(x);
            if stiff.is_nan() || stiff <= 0.0 {
                continue;
            }
            let new = (lambda[k] + (b - a.dot(&d)) / stiff).clamp(0.0, *most);
            let change = new - lambda[k];
            if change != 0.0 {
                d.axpy(change, x, 1.0);
                lambda[k] = new;
                moved = moved.max(change.abs());
            }
        }
        if moved <= SETTLED * lambda.amax() {
            break;
        }
    }
    d.iter().all(|x| x.is_finite()).then(|| (d, lambda.rows(0, margins.len()).into_owned()))
}

/// Updates the curvature along a step, damped so that it stays positive (Powell's BFGS).
fn curve(B: &mut DMatrix<f64>, s: &DVector<f64>, y: &DVector<f64>) {
    let Bs = &*B * s;
    let sBs = s.dot(&Bs);
    if sBs.is_nan() || sBs <= 0.0 {
        return;
    }
    let sy = s.dot(y);
    let share = if sy >= 0.2 * sBs { 1.0 } else { 0.8 * sBs / (sBs - sy) };
    let y = y * share + &Bs * (1.0 - share);
    let sy = s.dot(&y);
    if sy > 0.0 && y.iter().all(|x| x.is_finite()) {
        *B += &y * y.transpose() / sy - &Bs * Bs.transpose() / sBs;
    }
}
