//! Direct dependence of measures on parameters: those named in their texts, and those on which the curves they read depend.

use super::around::{PLACES, ROUGH};
use super::{Derivative, Parameters};
use crate::measure::Measure;
use fourbar::trajectory::Column;
use fourbar::{Diagnostic, Error, Trajectory};

/// Step as a share of a parameter: large enough for rounding to be negligible, small enough that extrema rarely move to other rows.
const SHARE: f64 = 2e-4;

/// Parses measures for given result columns and values of all parameters: a measure may name parameters, or read curves that depend on
/// them.
pub type Measures<'a> = dyn Fn(&[Column], &[f64]) -> Result<Vec<Measure>, Error> + 'a;

/// Adds to the derivatives of measures their direct dependence on parameters, with the run unchanged.
pub(super) fn add_own(
    parameters: &Parameters<'_>,
    which: &[usize],
    run: &Trajectory,
    measures: &Measures<'_>,
    found: &mut [Derivative],
) -> Result<(), Error> {
    for (i, &k) in which.iter().enumerate() {
        let h = parameters.step(k, SHARE);
        let values = |at: f64| -> Result<Vec<f64>, Error> {
            let mut values = parameters.values.clone();
            values[k] += at * h;
            let list = measures(&run.columns, &values)?;
            Ok(list.iter().map(|m| Ok(m.of(run)?.value)).collect::<Result<Vec<f64>, Diagnostic>>()?)
        };
        let refused = |e: Error| {
            let name = &parameters.names[k];
            let d = Diagnostic::new("S432", format!("`{name}` cannot be varied: {}", e.cause().message)).name(name);
            Error::from(d.help("derivatives need a value on both sides; select other parameters with `--to`"))
        };
        // A measure whose value is identical at a distant parameter value does not depend on the parameter.
        let far = values(PLACES[0].0).map_err(refused)?;
        if far.iter().zip(&*found).all(|(x, d)| x.to_bits() == d.value.to_bits()) {
            continue;
        }
        let (mut fine, mut rough) = (vec![0.0; found.len()], vec![0.0; found.len()]);
        for ((at, weight), less) in PLACES.iter().zip(ROUGH) {
            let there = if *at == PLACES[0].0 { far.clone() } else { values(*at).map_err(refused)? };
            for (m, (x, d)) in there.iter().zip(&*found).enumerate() {
                // Differences to the unchanged value: identical values give exactly zero.
                fine[m] += weight / h * (x - d.value);
                rough[m] += less / h * (x - d.value);
            }
        }
        for (m, d) in found.iter_mut().enumerate() {
            d.slopes[i] += fine[m];
            d.errors[i] += (fine[m] - rough[m]).abs();
        }
    }
    Ok(())
}
