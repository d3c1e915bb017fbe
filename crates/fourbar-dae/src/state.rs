//! Values at one time: the minimum needed to start or restart an integration.

use crate::Error;
use crate::problem::Problem;

/// Time and the derivatives 0 to d_j of every variable. The leading ones (order d_j) are initial values of Newton's method if the problem
/// is not quasilinear, and are otherwise recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Time.
    pub t: f64,
    pub(crate) start: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl State {
    pub(crate) fn new(problem: &Problem, t: f64) -> Self {
        let mut start = vec![0];
        for &d in problem.structure.d() {
            start.push(start[start.len() - 1] + d + 1);
        }
        Self { t, values: vec![0.0; start[start.len() - 1]], start }
    }

    /// Number of stored derivatives of variable `j`, the value itself included.
    pub fn stored(&self, j: usize) -> usize {
        if j + 1 < self.start.len() { self.start[j + 1] - self.start[j] } else { 0 }
    }

    /// Derivative of order `p` of variable `j`, if stored.
    pub fn get(&self, j: usize, p: usize) -> Option<f64> {
        (p < self.stored(j)).then(|| self.values[self.start[j] + p])
    }

    /// Sets a derivative; false if it is not among the stored ones.
    pub fn set(&mut self, j: usize, p: usize, value: f64) -> bool {
        let known = self.get(j, p).is_some();
        if known {
            self.values[self.start[j] + p] = value;
        }
        known
    }

    /// Derivative `p` of a variable by name.
    pub fn value(&self, problem: &Problem, name: &str, p: usize) -> Result<f64, Error> {
        let j = problem.variable(name)?;
        self.get(j, p).ok_or_else(|| Error::UnknownName(format!("derivative {p} of {name}")))
    }
}
