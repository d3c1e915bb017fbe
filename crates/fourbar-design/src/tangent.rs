//! The tangent of a motion: evolution of small deviations of poses and velocities.
//!
//! A deviation `x = (dq, dv)` of all bodies satisfies `x' = A x + b`, with exact coefficients at every instant and a column of `b` for each
//! disturbance. It is integrated by the trapezoidal rule, which suits stiff forces, with steps of one, two, four and more parts of an
//! interval side by side: errors are even powers of the step size and are removed by extrapolation.

use crate::linear::{Accelerations, motion};
use crate::operator::{Operator, Space};
use fourbar::Error;
use fourbar::evaluate::stacked;
use fourbar::state::Configuration;
use fourbar_math::so3::tilde;
use nalgebra::{DMatrix, DVector};

/// The coefficients of the tangent at an instant: `x' = A x + b`, a column of `b` for each disturbance.
pub(crate) struct Coefficients {
    /// Matrix of the deviations.
    pub A: DMatrix<f64>,
    /// Columns of the disturbances.
    pub b: DMatrix<f64>,
}

/// Forces, and right-hand sides of the acceleration constraints, one column for each disturbance.
pub(crate) type Columns = (DMatrix<f64>, DMatrix<f64>);

/// Disturbances of a motion with given accelerations and multipliers.
pub(crate) type Disturbance<'a> = dyn Fn(&DVector<f64>, &DVector<f64>) -> Columns + 'a;

/// The coefficients at a state; the rows of the operator must be those of its time.
pub(crate) fn coefficients(
    op: &mut Operator<'_>,
    state: &Configuration,
    all: &Space,
    disturbed: &Disturbance<'_>,
) -> Result<Coefficients, Error> {
    let model = op.model;
    let n = 6 * model.moving();
    let M = op.mass();
    let (a, lambda) = motion(op, state, all, &M)?;
    let rows = op.row_derivatives(state, &a);
    let (K, D) = op.stiffness(state, &lambda);
    let solve = Accelerations::new(model, all, &M, &all.N);
    let mut A = DMatrix::zeros(2 * n, 2 * n);
    for (k, v) in state.v.iter().skip(1).enumerate() {
        A.fixed_view_mut::<3, 3>(6 * k + 3, 6 * k + 3).copy_from(&(-tilde(&v.w)));
    }
    A.view_mut((0, n), (n, n)).fill_with_identity();
    A.view_mut((n, 0), (n, n)).copy_from(&solve.of(&(-K), &(&rows.gamma_q - &rows.accelerations)));
    A.view_mut((n, n), (n, n)).copy_from(&solve.of(&(-D), &rows.gamma_v));
    let (forces, asked) = disturbed(&stacked(&a), &lambda);
    let mut b = DMatrix::zeros(2 * n, forces.ncols());
    b.rows_mut(n, n).copy_from(&solve.of(&forces, &asked));
    Ok(Coefficients { A, b })
}

/// One step of the trapezoidal rule for all columns.
pub(crate) fn step(x: &DMatrix<f64>, h: f64, from: &Coefficients, to: &Coefficients) -> Option<DMatrix<f64>> {
    let mut right = x + &from.A * x * (0.5 * h);
    if from.b.ncols() > 0 {
        right += (&from.b + &to.b) * (0.5 * h);
    }
    let left = DMatrix::identity(x.nrows(), x.nrows()) - &to.A * (0.5 * h);
    left.lu().solve(&right)
}

/// Maximum number of step sizes in the extrapolation: steps that are long compared with the fastest vibration spoil it.
const SIZES: usize = 5;
/// Share of the difference between results with and without the smallest step that is the least error estimate: vibrations too fast for the
/// steps do not show in the last extrapolation.
const UNRESOLVED: f64 = 1.0 / 64.0;

/// Deviations integrated with steps of one, two, four and more parts of an interval.
pub(crate) struct Passes(Vec<DMatrix<f64>>);

impl Passes {
    /// Starts from given deviations, for intervals of `parts` parts, a power of two.
    pub(crate) fn new(start: &DMatrix<f64>, parts: usize) -> Self {
        Self(vec![start.clone(); (parts.ilog2() as usize + 1).min(SIZES)])
    }

    /// Integrates over one interval; times and coefficients are those at the ends of its parts, one more than there are parts. `None` on
    /// failure.
    pub(crate) fn advance(&mut self, times: &[f64], window: &[Coefficients]) -> Option<()> {
        for (pass, x) in self.0.iter_mut().enumerate() {
            let stride = 1 << pass;
            for k in (0..times.len() - 1).step_by(stride) {
                *x = step(x, times[k + stride] - times[k], &window[k], &window[k + stride])?;
            }
        }
        Some(())
    }

    /// The extrapolated limit, and the same with less effort: the difference estimates the error.
    pub(crate) fn limit(&self) -> [DMatrix<f64>; 2] {
        let mut table = self.0.clone();
        // Without the last extrapolation, and without the smallest steps.
        let (mut before, mut coarse) = (table[0].clone(), None);
        for level in 1..table.len() {
            let factor = 4f64.powi(level as i32);
            if level + 1 == self.0.len() {
                coarse = Some(table[1].clone());
            }
            for k in 0..self.0.len() - level {
                let next = (&table[k] * factor - &table[k + 1]) / (factor - 1.0);
                let was = std::mem::replace(&mut table[k], next);
                if k == 0 {
                    before = was;
                }
            }
        }
        let best = table.swap_remove(0);
        if let Some(coarse) = coarse {
            before.iter_mut().zip(best.iter().zip(coarse.iter())).for_each(|(rough, (best, coarse))| {
                let least = UNRESOLVED * (coarse - best);
                if least.abs() > (*rough - best).abs() {
                    *rough = best + least;
                }
            });
        }
        [best, before]
    }
}
