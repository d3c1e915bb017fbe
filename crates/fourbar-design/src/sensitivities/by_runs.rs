//! Derivatives as differences of whole runs.

use super::Parameters;
use super::run::{Method, OfRun};
use fourbar::study::{self, Study};
use fourbar::trajectory::Trajectory;
use fourbar::{Diagnostic, Error, Model};
use std::time::Instant;

/// Change of a parameter as a share of it where runs are compared.
const APART: f64 = 1e-4;

/// Derivatives as differences of runs, with two sizes of the change.
pub(super) fn differences(parameters: &Parameters<'_>, study: &Study, which: &[usize], warnings: Vec<Diagnostic>) -> Result<OfRun, Error> {
    let clock = Instant::now();
    let run_of = |m: &Model| -> Result<Trajectory, Error> {
        let mut out = Trajectory::default();
        study::run(m, study, &mut out)?;
        Ok(out)
    };
    let run = run_of(&parameters.model()?)?;
    let plain = clock.elapsed().as_secs_f64();
    let (mut slopes, mut rough) = (Vec::new(), Vec::new());
    for &k in which {
        let by = |share: f64| -> Result<Trajectory, Error> {
            let h = parameters.step(k, share);
            let run = |h: f64| {
                parameters.varied(k, h).and_then(|m| run_of(&m)).map_err(|e| {
                    let name = &parameters.names[k];
                    let message = format!("`{name}` cannot be varied: the run for a value near by fails: {}", e.cause().message);
                    Error::from(Diagnostic::new("S432", message).name(name).help("ask for other parameters with `--to`"))
                })
            };
            let (less, more) = (run(-h)?, run(h)?);
            let mut out = less.clone();
            for (c, column) in out.values.iter_mut().enumerate() {
                column.iter_mut().zip(&more.values[c]).for_each(|(a, b)| *a = (b - *a) / (2.0 * h));
            }
            Ok(out)
        };
        slopes.push(by(APART)?);
        rough.push(by(2.0 * APART)?);
    }
    let seconds = [plain, clock.elapsed().as_secs_f64()];
    Ok(OfRun { run, slopes, rough, sizes: parameters.values_of(which), method: Method::Differences, seconds, warnings })
}
