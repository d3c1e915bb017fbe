//! Dense output: the expansion itself, of full order, on the last step.

use crate::Error;
use crate::integrate::Integrator;

/// Derivative `p` of sum a_m tau^m, by Horner's rule.
fn derivative(a: &[f64], tau: f64, p: usize) -> f64 {
    let mut sum = 0.0;
    for m in (p..a.len()).rev() {
        let factor: f64 = (0..p).map(|l| (m - l) as f64).product();
        sum = sum * tau + factor * a[m];
    }
    sum
}

impl Integrator {
    /// Interval covered by dense output: the last step.
    pub fn interval(&self) -> (f64, f64) {
        (self.t() - self.last_step(), self.t())
    }

    fn tau(&self, t: f64) -> Result<f64, Error> {
        let (from, to) = (self.engine.taylor.t, self.t());
        let tau = (t - from) / self.engine.taylor.scale;
        let end = (to - from) / self.engine.taylor.scale;
        if self.last_step() == 0.0 || !(tau >= -1e-9 * end && tau <= end * (1.0 + 1e-9)) {
            return Err(Error::OutsideStep { t, from, to });
        }
        Ok(tau)
    }

    /// Derivative `p` of variable `j` at a time inside the last step.
    pub fn at(&self, t: f64, j: usize, p: usize) -> Result<f64, Error> {
        let tau = self.tau(t)?;
        self.check_variable(j)?;
        Ok(derivative(self.engine.series(j), tau, p) / self.engine.taylor.scale.powi(p as i32))
    }

    /// Derivative `p` of output `o` at a time inside the last step.
    pub fn output_at(&self, t: f64, o: usize, p: usize) -> Result<f64, Error> {
        let tau = self.tau(t)?;
        if o >= self.problem().outputs().len() {
            return Err(Error::UnknownName(format!("output number {o}")));
        }
        Ok(derivative(self.engine.extra(o), tau, p) / self.engine.taylor.scale.powi(p as i32))
    }

    /// Derivative `p` of a variable, or an output, by name, at the current time. Needs at least one step.
    pub fn value(&self, name: &str, p: usize) -> Result<f64, Error> {
        match self.problem().variable(name) {
            Ok(j) => self.at(self.t(), j, p),
            Err(_) => self.output_at(self.t(), self.problem().output(name)?, p),
        }
    }

    fn check_variable(&self, j: usize) -> Result<(), Error> {
        if j < self.problem().variables().len() { Ok(()) } else { Err(Error::UnknownName(format!("variable number {j}"))) }
    }

    /// Taylor coefficients of variable `j` about the start of the last step, in powers of `(t - start)/scale`,
    /// and that scale.
    pub fn coefficients(&self, j: usize) -> Result<(&[f64], f64), Error> {
        self.check_variable(j)?;
        Ok((self.engine.series(j), self.engine.taylor.scale))
    }

    /// The same for output `o`; its series may be shorter.
    pub fn output_coefficients(&self, o: usize) -> Result<(&[f64], f64), Error> {
        if o >= self.problem().outputs().len() {
            return Err(Error::UnknownName(format!("output number {o}")));
        }
        Ok((self.engine.extra(o), self.engine.taylor.scale))
    }
}
