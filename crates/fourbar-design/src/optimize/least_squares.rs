//! Least squares with bounds: Levenberg-Marquardt on the variables that are free to move.
//!
//! Each variable has a scale. A variable on its bound with the descent direction pointing outwards is fixed for the step; steps are clipped
//! at the bounds. A trial point without residuals is rejected like one with larger residuals.

use nalgebra::{DMatrix, DVector};

/// Options: termination and differences.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum number of evaluations of the residuals, including those for derivatives.
    pub evaluations: usize,
    /// Relative decrease of the sum of squares that is too small to continue.
    pub fall: f64,
    /// Step, in scales, that is too small to continue.
    pub step: f64,
    /// Step of finite differences, in scales.
    pub difference: f64,
    /// Whether differences are central.
    pub central: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { evaluations: 2000, fall: 1e-14, step: 1e-12, difference: 6e-6, central: true }
    }
}

/// The result.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The variables.
    pub x: Vec<f64>,
    /// The residuals there.
    pub residuals: Vec<f64>,
    /// Their sum of squares.
    pub cost: f64,
    /// Evaluations used.
    pub evaluations: usize,
    /// Number of accepted steps.
    pub iterations: usize,
    /// Whether it converged before the evaluations were used up.
    pub converged: bool,
}

/// Variables with bounds and scales.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Lower bounds.
    pub lower: Vec<f64>,
    /// Upper bounds.
    pub upper: Vec<f64>,
    /// Scale of a significant change.
    pub scale: Vec<f64>,
}

/// Number of consecutive steps without residuals that indicate a barrier: the damping has then grown by 2^36.
const WALL: usize = 8;

fn squares(r: &[f64]) -> f64 {
    r.iter().map(|x| x * x).sum()
}

/// Derivatives of the residuals, a row for each and a column for each variable; `None` if finite differences are to be used.
pub type Slopes<'a> = dyn FnMut(&[f64]) -> Option<DMatrix<f64>> + 'a;

/// Searches for the smallest sum of squares from a start; `None` if the residuals cannot be computed there. `residuals` returns `None`
/// where they are undefined.
pub fn least_squares(
    start: &[f64],
    space: &Bounds,
    options: &Options,
    residuals: &mut dyn FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Option<Minimum> {
    with_slopes(start, space, options, residuals, &mut |_| None)
}

/// The same with derivatives of the residuals if available; each counts as an evaluation.
pub fn with_slopes(
    start: &[f64],
    space: &Bounds,
    options: &Options,
    residuals: &mut dyn FnMut(&[f64]) -> Option<Vec<f64>>,
    slopes: &mut Slopes<'_>,
) -> Option<Minimum> {
    let n = start.len();
    let mut x: Vec<f64> = (0..n).map(|k| start[k].clamp(space.lower[k], space.upper[k])).collect();
    let mut used = 1;
    let mut r = residuals(&x).filter(|r| r.iter().all(|v| v.is_finite()))?;
    let mut cost = squares(&r);
    let (mut damping, mut grow) = (-1.0, 2.0);
    let (mut iterations, mut converged) = (0, false);
    // A variable fixed for one step, because the last step was shortened by a barrier; number of consecutive steps without significant
    // decrease.
    let (mut rests, mut quiet) = (None, 0);
    'outer: while used < options.evaluations {
        let known = slopes(&x).filter(|J| J.shape() == (r.len(), n) && J.iter().all(|x| x.is_finite()));
        let found = match known {
            Some(mut J) => {
                used += 1;
                J.column_iter_mut().zip(&space.scale).for_each(|(mut c, s)| c *= *s);
                Some(J)
            }
            None => derivatives(&x, &r, space, options, residuals, &mut used),
        };
        let Some(J) = found else { break };
        let rest = DVector::from_column_slice(&r);
        let gradient = J.tr_mul(&rest);
        // Variables blocked by a barrier: they are fixed until the others have moved.
        let mut blocked: Vec<usize> = rests.take().into_iter().collect();
        'free: loop {
            // On a bound, with the descent direction outwards.
            let outwards = |k: usize| (x[k] <= space.lower[k] && gradient[k] > 0.0) || (x[k] >= space.upper[k] && gradient[k] < 0.0);
            let free: Vec<usize> = (0..n).filter(|&k| !outwards(k) && !blocked.contains(&k)).collect();
            let steepest = free.iter().map(|&k| gradient[k].abs()).fold(0.0, f64::max);
            if free.is_empty() || steepest <= 1e-15 * (cost + f64::MIN_POSITIVE).sqrt() * J.amax().max(1e-300) {
                quiet += 1;
                if blocked.is_empty() || quiet > 2 {
                    converged = true;
                    break 'outer;
                }
                break 'free;
            }
            let Jf = J.select_columns(&free);
            let normal = Jf.tr_mul(&Jf);
            let pull = DVector::from_iterator(free.len(), free.iter().map(|&k| -gradient[k]));
            if damping < 0.0 {
                damping = 1e-3 * normal.diagonal().amax().max(1e-300);
            }
            let (before, mut refused) = (damping, 0);
            loop {
                if used >= options.evaluations {
                    break 'outer;
                }
                let mut A = normal.clone();
                for k in 0..free.len() {
                    A[(k, k)] += damping;
                }
                let Some(step) = A.cholesky().map(|c| c.solve(&pull)) else {
                    (damping, grow) = (damping * grow, grow * 2.0);
                    if damping > 1e30 * normal.diagonal().amax() {
                        break 'outer;
                    }
                    continue;
                };
                let mut trial = x.clone();
                for (s, &k) in step.iter().zip(&free) {
                    trial[k] = (x[k] + s * space.scale[k]).clamp(space.lower[k], space.upper[k]);
                }
                let moved = DVector::from_iterator(free.len(), free.iter().map(|&k| (trial[k] - x[k]) / space.scale[k]));
                if moved.amax() <= options.step {
                    // If a variable is fixed, it is released for another attempt.
                    quiet += 1;
                    if blocked.is_empty() || quiet > 2 {
                        converged = true;
                        break 'outer;
                    }
                    break 'free;
                }
                used += 1;
                let tried = residuals(&trial).filter(|r| r.iter().all(|v| v.is_finite()));
                refused += usize::from(tried.is_none());
                // Decrease predicted by the linear model for the clipped step.
                let promised = cost - squares((&rest + &Jf * &moved).as_slice());
                if let Some(new) = tried {
                    let fall = cost - squares(&new);
                    if fall > 0.0 && promised > 0.0 {
                        let ratio = fall / promised;
                        damping *= (1.0 - (2.0 * ratio - 1.0).powi(3)).clamp(1.0 / 3.0, 2.0);
                        grow = 2.0;
                        let small = fall <= options.fall * cost;
                        (x, r) = (trial, new);
                        cost = squares(&r);
                        iterations += 1;
                        quiet = if small { quiet + 1 } else { 0 };
                        if quiet > usize::from(refused > 0 || !blocked.is_empty()) || cost < 1e-300 {
                            converged = true;
                            break 'outer;
                        }
                        if refused > 0 && free.len() > 1 {
                            let most = (0..free.len()).max_by(|&a, &b| moved[a].abs().total_cmp(&moved[b].abs()));
                            (rests, damping) = (most.map(|k| free[k]), before);
                        }
                        break 'free;
                    }
                } else if refused >= WALL && free.len() > 1 {
                    // However short, the step ends in the barrier: fix the variable that moves farthest towards it.
                    let most = (0..free.len()).max_by(|&a, &b| moved[a].abs().total_cmp(&moved[b].abs())).unwrap_or(0);
                    blocked.push(free[most]);
                    (damping, grow) = (before, 2.0);
                    continue 'free;
                }
                (damping, grow) = (damping * grow, (grow * 2.0).min(1e6));
                if !damping.is_finite() {
                    converged = true;
                    break 'outer;
                }
            }
        }
    }
    Some(Minimum { x, residuals: r, cost, evaluations: used, iterations, converged })
}

/// Derivatives by differences, in scales; a side without residuals is omitted.
fn derivatives(
    x: &[f64],
    r: &[f64],
    space: &Bounds,
    options: &Options,
    residuals: &mut dyn FnMut(&[f64]) -> Option<Vec<f64>>,
    used: &mut usize,
) -> Option<DMatrix<f64>> {
    let mut J = DMatrix::zeros(r.len(), x.len());
    for k in 0..x.len() {
        let h = options.difference * space.scale[k];
        let mut at = |sign: f64| {
            let mut y = x.to_vec();
            y[k] = x[k] + sign * h;
            if y[k] < space.lower[k] || y[k] > space.upper[k] {
                return None;
            }
            *used += 1;
            residuals(&y).filter(|r| r.iter().all(|v| v.is_finite())).map(|r| (r, (y[k] - x[k]) / space.scale[k]))
        };
        let above = at(1.0);
        let below = if options.central || above.is_none() { at(-1.0) } else { None };
        let zero = (r.to_vec(), 0.0);
        let ((a, ha), (b, hb)) = match (above, below) {
            (Some(a), Some(b)) => (a, b),
            (Some(a), None) => (a, zero),
            (None, Some(b)) => (zero, b),
            (None, None) => return None,
        };
        for i in 0..r.len() {
            J[(i, k)] = (a[i] - b[i]) / (ha - hb);
        }
    }
    Some(J)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(lower: &[f64], upper: &[f64]) -> Bounds {
        Bounds { lower: lower.into(), upper: upper.into(), scale: vec![1.0; lower.len()] }
    }

    #[test]
    fn the_curved_valley_is_followed_to_its_end() {
        // Rosenbrock's function: its minimum is (1, 1).
        let mut f = |x: &[f64]| Some(vec![10.0 * (x[1] - x[0] * x[0]), 1.0 - x[0]]);
        let m = least_squares(&[-1.2, 1.0], &space(&[-5.0; 2], &[5.0; 2]), &Options::default(), &mut f).expect("found");
        assert!(m.cost < 1e-20 && (m.x[0] - 1.0).abs() < 1e-9 && m.converged, "{m:?}");
        // With x below 0.5 the best y is x^2 on the bound: the cost is 1/4.
        let m = least_squares(&[-1.2, 1.0], &space(&[-5.0; 2], &[0.5, 5.0]), &Options::default(), &mut f).expect("found");
        assert!((m.cost - 0.25).abs() < 1e-12 && m.x[0] == 0.5 && (m.x[1] - 0.25).abs() < 1e-6, "{m:?}");
    }

    #[test]
    fn a_region_without_residuals_is_a_wall() {
        // The root of x = 2 cannot be reached: there is nothing beyond 1.
        let mut f = |x: &[f64]| (x[0] <= 1.0).then(|| vec![x[0] - 2.0, 0.1 * x[1]]);
        let m = least_squares(&[0.0, 3.0], &space(&[-5.0; 2], &[5.0; 2]), &Options::default(), &mut f).expect("found");
        // It ends at the barrier, at the best point along it.
        assert!(m.x[0] <= 1.0 && m.x[0] > 0.999 && m.cost < 1.001, "{m:?}");
        assert!(least_squares(&[2.0, 0.0], &space(&[-5.0; 2], &[5.0; 2]), &Options::default(), &mut f).is_none());
    }

    #[test]
    fn linear_problems_are_solved_at_once() {
        let mut f = |x: &[f64]| Some(vec![x[0] + x[1] - 3.0, x[0] - x[1] - 1.0, 2.0 * x[0] - 4.1]);
        let m = least_squares(&[50.0, -70.0], &space(&[-1e3; 2], &[1e3; 2]), &Options::default(), &mut f).expect("found");
        // Normal equations by hand: 6 x = 12.2, 2 y = 2.
        assert!((m.x[0] - 12.2 / 6.0).abs() < 1e-8 && (m.x[1] - 1.0).abs() < 1e-8, "{m:?}");
    }
}
