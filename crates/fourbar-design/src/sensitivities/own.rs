//! What measures owe to parameters by themselves: those that their texts name, and those that the curves they read depend on.

use super::Parameters;
use super::around::{PLACES, ROUGH};
use crate::measure::Measure;
use fourbar::{Diagnostic, Error, Trajectory};

/// Step as a share of a parameter: rounding does not count, and extremes hardly move to other rows.
const SHARE: f64 = 2e-4;

/// Derivatives of a measure by parameters while the run stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnSlopes {
    /// Derivatives.
    pub slopes: Vec<f64>,
    /// Estimates of their errors.
    pub errors: Vec<f64>,
}

/// How a measure depends on parameters beside the run: `read` reads it for other values of all parameters.
pub fn own_slopes(
    parameters: &Parameters<'_>,
    which: &[usize],
    run: &Trajectory,
    read: &dyn Fn(&[f64]) -> Result<Measure, Error>,
) -> Result<OwnSlopes, Error> {
    let mut own = OwnSlopes { slopes: Vec::new(), errors: Vec::new() };
    for &k in which {
        let h = parameters.step(k, SHARE);
        let (mut fine, mut rough) = (0.0, 0.0);
        for ((at, weight), less) in PLACES.iter().zip(ROUGH) {
            let mut values = parameters.values.clone();
            values[k] += at * h;
            let value = read(&values).and_then(|m| Ok(m.of(run)?.value)).map_err(|e| {
                let name = &parameters.names[k];
                let d = Diagnostic::new("S432", format!("`{name}` cannot be varied: {}", e.cause().message)).name(name);
                Error::from(d.help("derivatives need a value on both sides; ask for other parameters with `--to`"))
            })?;
            fine += weight / h * value;
            rough += less / h * value;
        }
        own.slopes.push(fine);
        own.errors.push((fine - rough).abs());
    }
    Ok(own)
}
