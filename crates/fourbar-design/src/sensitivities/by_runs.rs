//! Derivatives as differences of whole runs.
//!
//! A measure is evaluated for each of the runs, because times of events depend on a parameter, and derivatives of columns do not include
//! that effect.

use super::Parameters;
use super::run::{Method, OfRun};
use fourbar::study::{self, Study};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error, Model};
use std::time::Instant;

/// Change of a parameter, as a share of it, between the runs compared.
const APART: f64 = 1e-4;

/// Runs with a parameter decreased and increased by a step, and by two steps.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Name of the parameter.
    pub parameter: String,
    /// The step.
    pub step: f64,
    /// The runs with the parameter decreased and increased by one step.
    pub near: [Trajectory; 2],
    /// The same for two steps.
    pub far: [Trajectory; 2],
}

impl Beside {
    /// The derivative of a quantity computed from a run, with one step and with two.
    pub(super) fn slopes<E>(&self, value: impl Fn(&Trajectory) -> Result<f64, E>) -> Result<[f64; 2], E> {
        let by = |[less, more]: &[Trajectory; 2], h: f64| Ok((value(more)? - value(less)?) / (2.0 * h));
        Ok([by(&self.near, self.step)?, by(&self.far, 2.0 * self.step)?])
    }

    /// The one-sided derivatives, with one step and with two. For a smooth function half the step halves their difference.
    pub(super) fn sides<E>(&self, here: f64, value: impl Fn(&Trajectory) -> Result<f64, E>) -> Result<[[f64; 2]; 2], E> {
        let by = |[less, more]: &[Trajectory; 2], h: f64| Ok([(here - value(less)?) / h, (value(more)? - here) / h]);
        Ok([by(&self.near, self.step)?, by(&self.far, 2.0 * self.step)?])
    }
}

/// The derivatives of columns, row by row: NaN if the runs have different numbers of rows, as happens if an event moves across an output
/// time or occurs in only some of them.
fn by_rows(run: &Trajectory, [less, more]: &[Trajectory; 2], h: f64) -> Trajectory {
    let mut out = run.clone();
    for (c, column) in out.values.iter_mut().enumerate() {
        if run.len() != less.len() || run.len() != more.len() {
            column.fill(f64::NAN);
            continue;
        }
        column.iter_mut().zip(less.values[c].iter().zip(&more.values[c])).for_each(|(x, (a, b))| *x = (b - a) / (2.0 * h));
    }
    out
}

/// Derivatives as differences of runs, with two step sizes.
pub(super) fn differences(parameters: &Parameters<'_>, study: &Study, which: &[usize], warnings: Vec<Diagnostic>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let run_of = |m: &Model| -> Result<Trajectory, Error> {
        let mut out = Trajectory::default();
        study::run(m, study, &mut out)?;
        Ok(out)
    };
    let run = run_of(&parameters.model()?)?;
    let plain = clock.elapsed().as_secs_f64();
    let (mut slopes, mut rough, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    for &k in which {
        let step = parameters.step(k, APART);
        let runs = |h: f64| -> Result<[Trajectory; 2], Error> {
            let run = |h: f64| {
                parameters.varied(k, h).and_then(|m| run_of(&m)).map_err(|e| {
                    let name = &parameters.names[k];
                    let message = format!("`{name}` cannot be varied: the run for a value near by fails: {}", e.cause().message);
                    Error::from(Diagnostic::new("S432", message).name(name).help("ask for other parameters with `--to`"))
                })
            };
            Ok([run(-h)?, run(h)?])
        };
        let all = Beside { parameter: parameters.names[k].clone(), step, near: runs(step)?, far: runs(2.0 * step)? };
        slopes.push(by_rows(&run, &all.near, step));
        rough.push(by_rows(&run, &all.far, 2.0 * step));
        beside.push(all);
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun { run, slopes, rough, beside, sizes: parameters.values_of(which), method: Method::Differences, seconds, warnings })
}
