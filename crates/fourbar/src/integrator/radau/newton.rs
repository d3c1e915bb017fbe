//! The simplified Newton iteration of a step, and the size of the next one [Hairer96, IV.8].

use crate::integrator::index3::Trouble;
use fourbar_math::elementary;

/// Newton iterations, at most; before the third one nothing is given up: the first increment lacks the error of the multipliers.
const ITERATIONS: usize = 10;
const PATIENT: usize = 3;
/// The matrix is kept as long as it makes the stages converge this fast, and the step as long as it may grow by no more than `GROWTH`.
const KEPT: f64 = 0.1;
const GROWTH: f64 = 1.2;

/// What an increment says of an iteration.
pub enum Verdict {
    /// Another one is needed.
    Goes,
    /// It has converged.
    Done,
    /// It will not, because of this; the step should be smaller by this factor.
    Fails(Trouble, f64),
}

/// How an iteration converges. Sizes of increments are in terms of the tolerance.
#[derive(Clone, Debug)]
pub struct Convergence {
    /// Ratio of successive increments.
    pub theta: f64,
    /// Remaining error in terms of the last increment.
    pub remaining: f64,
    /// Iterations of the last step and of all.
    pub iterations: usize,
    pub all: usize,
    /// The error that the iteration may leave.
    kappa: f64,
    /// Increments below this may be rounding.
    noise: f64,
    last: f64,
    last_ratio: f64,
}

impl Convergence {
    /// For a tolerance; increments below `noise` may be rounding.
    pub fn new(tolerance: f64, noise: f64) -> Self {
        let kappa = (10.0 * f64::EPSILON / tolerance).max(tolerance.sqrt().min(0.03));
        Self { theta: 0.0, remaining: 1.0, iterations: 0, all: 0, kappa, noise, last: 0.0, last_ratio: 0.0 }
    }

    /// A step begins: the first increment is judged by the iteration of the last one.
    pub fn begin(&mut self) {
        self.remaining = elementary::powf(self.remaining.max(f64::EPSILON), 0.8);
        self.iterations = 0;
    }

    /// Judges an increment of this size.
    pub fn judge(&mut self, size: f64) -> Verdict {
        self.iterations += 1;
        self.all += 1;
        let k = self.iterations;
        if !size.is_finite() || size > 1e30 {
            return Verdict::Fails(Trouble::Diverges, 0.5);
        }
        if k > 1 {
            let ratio = size / self.last;
            // Increments that no longer fall are rounding.
            if ratio > 0.5 && size < self.noise {
                self.theta = self.theta.min(0.5);
                return Verdict::Done;
            }
            self.theta = if k == 2 { ratio } else { (ratio * self.last_ratio).sqrt() };
            self.last_ratio = ratio;
            if self.theta < 0.99 {
                self.remaining = self.theta / (1.0 - self.theta);
                let left = ITERATIONS.saturating_sub(k) as i32;
                let missed = self.remaining * size * self.theta.powi(left) / self.kappa;
                if k >= PATIENT && missed >= 1.0 && self.remaining * size > self.kappa {
                    return Verdict::Fails(Trouble::TooSlow, 0.8 * elementary::powf(missed.clamp(1e-4, 20.0), -1.0 / f64::from(4 + left)));
                }
            } else if k >= PATIENT {
                return Verdict::Fails(Trouble::Diverges, 0.5);
            } else {
                self.remaining = 1.0;
            }
        }
        self.last = size.max(f64::EPSILON);
        if self.remaining * size <= self.kappa {
            Verdict::Done
        } else if k == ITERATIONS {
            Verdict::Fails(Trouble::NoConvergence, 0.5)
        } else {
            Verdict::Goes
        }
    }

    /// Whether the matrix is good for another step.
    pub fn keeps_matrix(&self) -> bool {
        self.theta <= KEPT
    }
}

/// Sizes of steps from the errors of the last ones.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Size and error of the last accepted step.
    pub last: (f64, f64),
    /// Whether a step was rejected since.
    pub refused: bool,
}

impl Sizes {
    /// By how much the step is too large for an error in terms of the tolerance, after so many iterations.
    fn quotient(error: f64, iterations: usize) -> f64 {
        let (k, most) = (iterations as f64, ITERATIONS as f64);
        let safety = f64::min(0.9, 0.9 * (1.0 + 2.0 * most) / (k + 2.0 * most));
        (elementary::powf(error.max(1e-10), 0.25) / safety).clamp(0.125, 5.0)
    }

    /// The factor of the next try after an error that is too large; `first` for the first step of a run.
    pub fn after_refusal(&mut self, error: f64, iterations: usize, first: bool) -> f64 {
        self.refused = true;
        if first { 0.1 } else { (1.0 / Self::quotient(error, iterations)).min(0.9) }
    }

    /// The size of the step after one of size `h` that was taken, where `wished` was; as the change of the error from the last one to this
    /// foretells it. The same size again where that keeps a matrix that is good enough, `kept`.
    pub fn next(&mut self, h: f64, wished: f64, error: f64, iterations: usize, kept: bool) -> f64 {
        let error = error.max(1e-10);
        let mut quotient = Self::quotient(error, iterations);
        if self.last.0 > 0.0 {
            let foretold = self.last.0 / h * elementary::powf(error * error / self.last.1, 0.25) / 0.9;
            quotient = quotient.max(foretold.clamp(0.125, 5.0));
        }
        self.last = (h, error.max(1e-2));
        let mut next = h / quotient;
        if std::mem::take(&mut self.refused) {
            next = next.min(h);
        }
        // A step that was cut to land says nothing of the usual size.
        if h < wished {
            return next.max(wished);
        }
        if kept && (1.0..=GROWTH).contains(&(next / h)) { h } else { next }
    }
}

/// The tolerance of the estimate, which is of a lower order than the result: errors of the result are about `tol` then.
pub fn estimated(tol: f64) -> f64 {
    0.1 * elementary::powf(tol, 0.8)
}
