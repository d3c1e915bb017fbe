//! Effects of tolerances on measures: a linear stack-up from slopes at the nominal values, and samples.
//!
//! With slopes `J_i` of a measure and standard deviations `sigma_i` the measure has the standard deviation `sqrt(sum J_i^2 sigma_i^2)`, to
//! which parameter `i` contributes `J_i^2 sigma_i^2`; in the worst case it changes by `sum |J_i| t_i`. A hinge with clearance `c` may have
//! its pin off centre by `c` in any direction; with slopes `J` along two axes across the hinge this changes a measure by up to `c |J|`, the
//! bound of its support function, and several hinges by the sum. Samples are drawn by a scrambled Sobol sequence; those that cannot be
//! assembled are valid results and count against the yield.

pub mod grade;
mod statistics;

pub use statistics::{Summary, Yield, summary, wilson};

use crate::sweep::{Sobol, normal_quantile};
use fourbar::{Diagnostic, Model};
use nalgebra::Vector3;

/// Distribution of a parameter about its nominal value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal with this standard deviation.
    Normal(f64),
    /// Uniform, with this half-width.
    Uniform(f64),
}

impl Distribution {
    /// Standard deviation.
    pub fn sigma(&self) -> f64 {
        match self {
            Self::Normal(sigma) => *sigma,
            Self::Uniform(half) => half / 3f64.sqrt(),
        }
    }

    /// Half-width; for a normal distribution three standard deviations.
    pub fn reach(&self) -> f64 {
        match self {
            Self::Normal(sigma) => 3.0 * sigma,
            Self::Uniform(half) => *half,
        }
    }

    /// The quantile of the deviation for a probability.
    pub fn deviation(&self, share: f64) -> f64 {
        match self {
            Self::Normal(sigma) => sigma * normal_quantile(share),
            Self::Uniform(half) => half * (2.0 * share - 1.0),
        }
    }
}

/// A parameter with a tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Toleranced {
    /// Its name.
    pub name: String,
    /// Its nominal value, SI.
    pub nominal: f64,
    /// Its distribution.
    pub distribution: Distribution,
}

/// A joint with clearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Clearance {
    /// Its name.
    pub joint: String,
    /// Largest distance of the pin from the centre, metres.
    pub radius: f64,
}

/// Fraction of the half-width of a tolerance at which slopes are taken.
pub const DIFFERENCE: f64 = 1.0 / 12.0;

/// The cases, in this order: the nominal one, each parameter above and below its value, each clearance along two or three axes in both
/// directions, then the samples.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Parameters.
    pub parameters: Vec<Toleranced>,
    /// Joints with clearance, with the number of their directions.
    pub clearances: Vec<(Clearance, usize)>,
    /// Number of samples.
    pub samples: usize,
    sobol: Sobol,
}

/// A case of the plan: the values of the parameters, and the displaced pin with its axis and distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Values of the parameters, SI.
    pub values: Vec<f64>,
    /// A pin off centre: joint, axis, distance in metres.
    pub offset: Option<(String, usize, f64)>,
}

impl Plan {
    /// A plan for parameters and clearances of a model.
    pub fn new(
        parameters: Vec<Toleranced>,
        clearances: Vec<Clearance>,
        samples: usize,
        seed: u64,
        model: &Model,
    ) -> Result<Self, Diagnostic> {
        if parameters.is_empty() && clearances.is_empty() {
            return Err(Diagnostic::new("U437", "the file has no tolerances")
                .help("give them under `tolerances:`, as `crank_length: 0.1 mm`, or with `--tolerance crank_length=0.1mm`"));
        }
        for p in &parameters {
            if !(p.distribution.sigma() > 0.0 && p.distribution.sigma().is_finite() && p.nominal.is_finite()) {
                let message = format!("the tolerance of `{}` is not a positive number", p.name);
                return Err(Diagnostic::new("U437", message).name(&p.name).help("give how far it may be off, to either side"));
            }
        }
        let directions = |c: Clearance| {
            let refuse = |why: String| {
                Diagnostic::new("U437", why).name(&c.joint).help("clearance belongs to a revolute or spherical joint, in metres")
            };
            let joint =
                model.joints.iter().find(|j| j.name == c.joint).ok_or_else(|| refuse(format!("there is no joint `{}`", c.joint)))?;
            let n = match joint.kind.name() {
                "revolute" => 2,
                "spherical" => 3,
                _ => return Err(refuse(format!("joint `{}` has no pin", c.joint))),
            };
            if !(c.radius > 0.0 && c.radius.is_finite()) {
                return Err(refuse(format!("the clearance of `{}` is not a positive number", c.joint)));
            }
            Ok((c, n))
        };
        let clearances = clearances.into_iter().map(directions).collect::<Result<Vec<_>, _>>()?;
        let sobol = Sobol::new(parameters.len(), seed);
        Ok(Self { parameters, clearances, samples, sobol })
    }

    /// Number of directions of all clearances.
    fn directions(&self) -> usize {
        self.clearances.iter().map(|(_, n)| n).sum()
    }

    /// Number of the first sample.
    pub fn first_sample(&self) -> usize {
        1 + 2 * (self.parameters.len() + self.directions())
    }

    /// Number of cases; without parameters there are no samples.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.first_sample() + if self.parameters.is_empty() { 0 } else { self.samples }
    }

    /// A case by its number.
    pub fn case(&self, number: usize) -> Case {
        let mut values: Vec<f64> = self.parameters.iter().map(|p| p.nominal).collect();
        let mut offset = None;
        if number >= self.first_sample() {
            let k = (number - self.first_sample()) as u64;
            for (i, (x, p)) in values.iter_mut().zip(&self.parameters).enumerate() {
                *x += p.distribution.deviation(self.sobol.coordinate(k, i));
            }
        } else if number > 0 {
            let (k, sign) = ((number - 1) / 2, if number % 2 == 1 { 1.0 } else { -1.0 });
            match self.parameters.get(k) {
                Some(p) => values[k] += sign * DIFFERENCE * p.distribution.reach(),
                None => {
                    let mut axis = k - self.parameters.len();
                    for (c, n) in &self.clearances {
                        if axis < *n {
                            offset = Some((c.joint.clone(), axis, sign * c.radius));
                            break;
                        }
                        axis -= n;
                    }
                }
            }
        }
        Case { values, offset }
    }
}

/// Moves the pin of a joint off centre, along an axis of its frame on the base: the first two are perpendicular to the axis of a hinge.
pub fn off_centre(model: &mut Model, joint: &str, axis: usize, distance: f64) {
    if let Some(j) = model.joints.iter_mut().find(|j| j.name == joint) {
        // The third axis of the frame is that of the hinge.
        let direction: Vector3<f64> = j.F.axis(axis);
        j.F.s += distance * direction;
    }
}

/// The linear stack-up of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Nominal value.
    pub nominal: f64,
    /// Slopes by parameter.
    pub slopes: Vec<f64>,
    /// Largest relative difference of one-sided slopes, and its parameter.
    pub kink: Option<(usize, f64)>,
    /// Standard deviation.
    pub sigma: f64,
    /// Share of each parameter in the variance.
    pub shares: Vec<f64>,
    /// Largest change if every parameter deviates by its half-width in the worst direction.
    pub worst: f64,
    /// Largest change due to each clearance.
    pub clearances: Vec<f64>,
    /// Largest change due to all clearances.
    pub clearance: f64,
}

/// The linear stack-up of a measure from its values for the first cases of a plan, by their numbers; `None` if one of these failed. Slopes
/// are differences of these cases, unless exact ones are given.
pub fn linear(plan: &Plan, values: &dyn Fn(usize) -> Option<f64>, exact: Option<&[f64]>) -> Option<Linear> {
    let nominal = values(0)?;
    let (mut slopes, mut kink) = (Vec::new(), None::<(usize, f64)>);
    for (k, p) in plan.parameters.iter().enumerate() {
        let h = DIFFERENCE * p.distribution.reach();
        let (above, below) = (values(1 + 2 * k)?, values(2 + 2 * k)?);
        let between = (above - below) / (2.0 * h);
        slopes.push(exact.and_then(|e| e.get(k)).copied().filter(|e| e.is_finite()).unwrap_or(between));
        let (up, down) = ((above - nominal) / h, (nominal - below) / h);
        let bend = (up - down).abs() / up.abs().max(down.abs()).max(1e-300);
        if kink.is_none_or(|(_, b)| bend > b) {
            kink = Some((k, bend));
        }
    }
    let variance = |k: usize| (slopes[k] * plan.parameters[k].distribution.sigma()).powi(2);
    // An empty sum of floating-point numbers would be minus zero.
    let total: f64 = (0..slopes.len()).map(variance).fold(0.0, |s, x| s + x);
    let shares = (0..slopes.len()).map(|k| if total > 0.0 { variance(k) / total } else { 0.0 }).collect();
    let worst = plan.parameters.iter().zip(&slopes).map(|(p, s)| s.abs() * p.distribution.reach()).fold(0.0, |s, x| s + x);
    let (mut clearances, mut at) = (Vec::new(), 1 + 2 * slopes.len());
    for (_, n) in &plan.clearances {
        let mut square = 0.0;
        for _ in 0..*n {
            // The pin was displaced by the whole clearance in both directions.
            square += (0.5 * (values(at)? - values(at + 1)?)).powi(2);
            at += 2;
        }
        clearances.push(f64::sqrt(square));
    }
    let clearance = clearances.iter().fold(0.0, |s, x| s + x);
    Some(Linear { nominal, slopes, kink, sigma: total.sqrt(), shares, worst, clearances, clearance })
}
