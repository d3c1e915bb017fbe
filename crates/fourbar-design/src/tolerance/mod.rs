//! Effects of tolerances on measures: a linear stack-up from slopes at the nominal values, and samples.
//!
//! With slopes `J_i` of a measure and standard deviations `sigma_i` the measure has the standard deviation `sqrt(sum J_i^2 sigma_i^2)`, of
//! which parameter `i` has the share `J_i^2 sigma_i^2`; at worst it moves by `sum |J_i| t_i`. A hinge with clearance `c` may have its pin off
//! centre by `c` in any direction; with slopes `J` along two axes across the hinge it moves a measure by up to `c |J|`, the bound of its
//! support function, and several hinges by the sum. Samples are drawn by a scrambled Sobol sequence; those that cannot be assembled are a
//! result like any other and count against the yield.

pub mod grade;
mod statistics;

pub use statistics::{Summary, Yield, summary, wilson};

use crate::sweep::{Sobol, normal_quantile};
use fourbar::{Diagnostic, Model};
use nalgebra::Vector3;

/// How a parameter is distributed about its nominal value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Normal with this standard deviation.
    Normal(f64),
    /// Evenly up to this much to either side.
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

    /// How far it reaches: three standard deviations of a normal distribution.
    pub fn reach(&self) -> f64 {
        match self {
            Self::Normal(sigma) => 3.0 * sigma,
            Self::Uniform(half) => *half,
        }
    }

    /// The deviation below which a share of all lies.
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
    /// How it is distributed.
    pub distribution: Distribution,
}

/// A joint with clearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Clearance {
    /// Its name.
    pub joint: String,
    /// How far the pin may lie off the centre, metres.
    pub radius: f64,
}

/// Share of the reach of a tolerance at which slopes are taken.
pub const DIFFERENCE: f64 = 1.0 / 12.0;

/// What is computed, in this order: the nominal case, each parameter above and below its value, each clearance along two or three axes above
/// and below, then the samples.
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

/// A case of the plan: the values of the parameters, and the joint whose pin is moved by how much along which of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Values of the parameters, SI.
    pub values: Vec<f64>,
    /// A pin off its centre: joint, axis, distance in metres.
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

    /// Directions of all clearances.
    fn directions(&self) -> usize {
        self.clearances.iter().map(|(_, n)| n).sum()
    }

    /// The first sample.
    pub fn first_sample(&self) -> usize {
        1 + 2 * (self.parameters.len() + self.directions())
    }

    /// Number of cases; without parameters there is nothing to sample.
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

/// Moves the pin of a joint off its centre, along an axis of its frame on the base: the first two lie across a hinge.
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
    /// Slopes above and below differ by this share of the larger one, at worst, and for which parameter.
    pub kink: Option<(usize, f64)>,
    /// Standard deviation.
    pub sigma: f64,
    /// Share of each parameter in the variance.
    pub shares: Vec<f64>,
    /// Largest change where every parameter is off by its reach in the worst direction.
    pub worst: f64,
    /// Largest change by each clearance, and by all of them.
    pub clearances: Vec<f64>,
    /// By all clearances.
    pub clearance: f64,
}

/// The stack-up of a measure from its values for the first cases of a plan, by their numbers; `None` where one of these failed. Slopes are
/// differences of these cases, unless exact ones are given.
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
    // An empty sum of floating-point numbers is minus zero.
    let total: f64 = (0..slopes.len()).map(variance).fold(0.0, |s, x| s + x);
    let shares = (0..slopes.len()).map(|k| if total > 0.0 { variance(k) / total } else { 0.0 }).collect();
    let worst = plan.parameters.iter().zip(&slopes).map(|(p, s)| s.abs() * p.distribution.reach()).fold(0.0, |s, x| s + x);
    let (mut clearances, mut at) = (Vec::new(), 1 + 2 * slopes.len());
    for (_, n) in &plan.clearances {
        let mut square = 0.0;
        for _ in 0..*n {
            // The pin was moved by the whole clearance to either side.
            square += (0.5 * (values(at)? - values(at + 1)?)).powi(2);
            at += 2;
        }
        clearances.push(f64::sqrt(square));
    }
    let clearance = clearances.iter().fold(0.0, |s, x| s + x);
    Some(Linear { nominal, slopes, kink, sigma: total.sqrt(), shares, worst, clearances, clearance })
}
