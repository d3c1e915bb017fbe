//! Mechanisms built for neighbouring values of a parameter, from which derivatives are formed.
//!
//! The data of a mechanism are smooth in its parameters. Six mechanisms at equal steps, with the weights of the sixth-order central
//! difference, give derivatives of anything evaluated *at fixed states* to some thirteen digits: the step is so large that rounding is
//! negligible, and its sixth power so small that truncation is.

use super::Parameters;
use crate::operator::without_dry_friction;
use fourbar::{Diagnostic, Error, Model};

/// Positions in steps, and weights of the derivative.
pub(super) const PLACES: [(f64, f64); 6] =
    [(-3.0, -1.0 / 60.0), (-2.0, 9.0 / 60.0), (-1.0, -45.0 / 60.0), (1.0, 45.0 / 60.0), (2.0, -9.0 / 60.0), (3.0, 1.0 / 60.0)];
/// Weights of the fourth-order formula at the same positions; the difference estimates the error.
pub(super) const ROUGH: [f64; 6] = [0.0, 1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0, 0.0];
/// Steps as shares of a parameter: the largest possible one is used.
pub(super) const SHARES: [f64; 4] = [2e-3, 2e-4, 2e-5, 2e-6];

/// A mechanism at six values of one parameter around the actual one.
pub(crate) struct Around {
    /// Step of the parameter.
    pub h: f64,
    /// Mechanisms, without dry friction, in the order of the positions.
    pub models: Vec<Model>,
}

impl Around {
    /// Changes of the parameter, weights, and mechanisms.
    pub fn each(&self) -> impl Iterator<Item = (f64, f64, &Model)> {
        PLACES.iter().zip(&self.models).map(|((at, weight), m)| (at * self.h, weight / self.h, m))
    }

    /// The same for the four nearest mechanisms with the fourth-order formula, which is sufficient for smooth functions of the data: its
    /// error is some 1e-12.
    pub fn nearest(&self) -> impl Iterator<Item = (f64, f64, &Model)> {
        PLACES.iter().zip(ROUGH).zip(&self.models).map(|(((at, _), weight), m)| (at * self.h, weight / self.h, m)).skip(1).take(4)
    }
}

impl Parameters<'_> {
    /// The perturbed mechanisms with a step of a given share.
    pub(super) fn around_by(&self, k: usize, model: &Model, share: f64) -> Result<Around, Error> {
        let h = self.step(k, share);
        let refuse = |why: String| {
            let d = Diagnostic::new("S432", format!("`{}` cannot be varied: {why}", self.names[k])).name(&self.names[k]);
            Error::from(d.help("derivatives need a mechanism on both sides of the value; ask for other parameters with `--to`"))
        };
        let mut models = Vec::new();
        for (at, _) in PLACES {
            let m = self.varied(k, at * h).map_err(|e| refuse(e.cause().message.clone()))?;
            if !self.same_shape(&m, model) {
                return Err(refuse("the mechanism has other elements for other values of it".into()));
            }
            models.push(without_dry_friction(&m).0);
        }
        Ok(Around { h, models })
    }

    /// Whether two mechanisms have equal numbers of elements of every kind.
    pub(super) fn same_shape(&self, a: &Model, b: &Model) -> bool {
        let shape =
            |m: &Model| (m.bodies.len(), m.joints.len(), m.forces.len(), m.drives.len(), m.angles.len(), m.auxiliaries(), m.points.len());
        shape(a) == shape(b)
    }

    /// Perturbed mechanisms in which several parameters are varied at once, each by its step; weights are for a unit step.
    pub(super) fn around_several(&self, steps: &[(usize, f64)], model: &Model) -> Option<Around> {
        let models = PLACES.iter().map(|(at, _)| self.moved(steps, *at, model)).collect::<Option<Vec<Model>>>()?;
        Some(Around { h: 1.0, models })
    }

    /// The mechanism in which several parameters are varied at once, by `at` steps each, without dry friction.
    pub(super) fn moved(&self, steps: &[(usize, f64)], at: f64, model: &Model) -> Option<Model> {
        let mut values = self.values.clone();
        steps.iter().for_each(|(k, h)| values[*k] += at * h);
        let m = (self.build)(&values).ok().filter(|m| self.same_shape(m, model))?;
        Some(without_dry_friction(&m).0)
    }

    /// The perturbed mechanisms, with the largest step for which they can be built.
    pub(super) fn around(&self, k: usize, model: &Model) -> Result<Around, Error> {
        let mut last = None;
        for share in SHARES {
            match self.around_by(k, model, share) {
                Ok(found) => return Ok(found),
                Err(e) => last = Some(e),
            }
        }
        Err(last.unwrap_or_else(|| Diagnostic::new("S432", "the parameter cannot be varied").into()))
    }
}

/// The perturbed mechanisms for several parameters.
pub(super) fn around(parameters: &Parameters<'_>, model: &Model, which: &[usize]) -> Result<Vec<Around>, Error> {
    which.iter().map(|&k| parameters.around(k, model)).collect()
}
