//! Work of drives and of forces without a potential, from the series of efforts, rates and power.
//!
//! Where drives prescribe a motion, its coordinates are given and would permit steps beyond the convergence of the series of the efforts.
//! The integral of the power therefore limits the step as well.

use fourbar_dae::{Integrator, Problem};
use fourbar_math::elementary;

/// Maximum number of coefficients: the highest order and those added by integration.
const MOST: usize = 64;

#[derive(Clone, Copy, Debug)]
enum Rate {
    Constant(f64),
    Output(usize),
}

/// Position of the power among the results of the solver.
#[derive(Debug)]
pub(super) struct Power {
    /// Rows that prescribe a motion: variable number of the multiplier, and output or constant of the rate.
    prescribed: Vec<(usize, Rate)>,
    /// Whether forces without a potential have an output.
    forces: bool,
    /// Error of the work in one step, as a fraction of the work done.
    pub(super) tol: f64,
    /// Work that counts as small, J.
    pub(super) little: f64,
}

impl Power {
    pub(super) fn new(tol: f64, little: f64) -> Self {
        Self { prescribed: Vec::new(), forces: false, tol, little }
    }

    /// Finds the multipliers and rates of the rows in use, given by name and constant rate.
    pub(super) fn layout<'a>(&mut self, problem: &Problem, rows: impl Iterator<Item = (&'a str, Option<f64>)>) {
        self.forces = problem.output("power").is_ok();
        self.prescribed.clear();
        for (name, constant) in rows {
            let Ok(j) = problem.variable(&format!("lambda({name})")) else { continue };
            let rate = match constant {
                Some(c) => Rate::Constant(c),
                None => problem.output(&format!("rate of {name}")).map_or(Rate::Constant(0.0), Rate::Output),
            };
            self.prescribed.push((j, rate));
        }
    }

    /// Coefficients of the power about the start of the last expansion, in powers of `(t - start)/scale`, how many of them are
    /// complete, and that scale.
    fn series(&self, integrator: &Integrator) -> ([f64; MOST], usize, f64) {
        let (mut c, mut known, mut unit) = ([0.0; MOST], MOST, 1.0);
        if self.forces
            && let Ok((a, scale)) = integrator.output_coefficients(0)
        {
            (known, unit) = (known.min(a.len()), scale);
            c.iter_mut().zip(a).for_each(|(c, a)| *c += a);
        }
        for (j, rate) in &self.prescribed {
            let Ok((lambda, scale)) = integrator.coefficients(*j) else { continue };
            (known, unit) = (known.min(lambda.len()), scale);
            match rate {
                Rate::Constant(rate) => c.iter_mut().zip(lambda).for_each(|(c, l)| *c -= rate * l),
                Rate::Output(o) => {
                    let Ok((nu, _)) = integrator.output_coefficients(*o) else { continue };
                    for (m, c) in c.iter_mut().enumerate().take(lambda.len()) {
                        let first = m.min(nu.len().saturating_sub(1));
                        *c -= (0..=first).map(|k| nu[k] * lambda[m - k]).sum::<f64>();
                    }
                }
            }
        }
        (c, known, unit)
    }

    /// Power of forces without a potential at a time of the last step, by the series.
    pub(super) fn of_forces(&self, integrator: &Integrator, t: f64) -> Option<f64> {
        if self.forces { integrator.output_at(t, 0, 0).ok() } else { None }
    }

    /// Work from the start of the last step to a time inside it.
    pub(super) fn work_to(&self, integrator: &Integrator, t: f64) -> f64 {
        let (c, known, scale) = self.series(integrator);
        let tau = (t - integrator.interval().0) / scale;
        c[..known].iter().enumerate().rev().fold(0.0, |sum, (m, c)| (sum + c / (m + 1) as f64) * tau) * scale
    }

    /// The longest step that resolves the integral of the power, estimated from the last two coefficients, after the given work.
    pub(super) fn longest(&self, integrator: &Integrator, work: f64) -> f64 {
        if self.prescribed.is_empty() && !self.forces {
            return f64::INFINITY;
        }
        let (c, known, scale) = self.series(integrator);
        if known < 4 {
            return f64::INFINITY;
        }
        let scale = scale.abs();
        let of = |size: f64| {
            let root = |m: usize| {
                let term = c[m].abs() * scale / (m + 1) as f64;
                if term > 0.0 { elementary::powf(self.tol * size / term, 1.0 / (m + 1) as f64) } else { f64::INFINITY }
            };
            root(known - 1).min(root(known - 2))
        };
        // The work of the step is included, estimated once its length is known.
        let first = of(work.abs() + self.little);
        scale * of(work.abs() + self.little + c[0].abs() * scale * first.min(1.0))
    }
}
