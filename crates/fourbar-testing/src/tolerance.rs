//! Errors of whole runs against the requested tolerance.
//!
//! A mechanism is run once as accurately as possible, and once from a disturbed start: the growth of the disturbance determines the allowed
//! error, since errors of a method grow alike. The error of a run is its largest difference from the accurate solution at all output times,
//! of positions over the characteristic length and of angles in radians; its ratio is that error over tolerance and growth.

use fourbar::analysis::assembly::assemble;
use fourbar::diagnostic::Diagnostic;
use fourbar::integrator::least_tolerance;
use fourbar::motion::Instant;
use fourbar::study::{FORMULATIONS, FormulationInfo, Study, formulation};
use fourbar::{Configuration, Model};
use fourbar_check::verify::{Ran, Twin, apart, sampled};
use std::time::Duration;

/// Output times of a run.
const OUTPUTS: f64 = 40.0;
/// Tolerance of the accurate solution, and of a second run that estimates its error.
const TRUE: f64 = 1e-12;
const SECOND: f64 = 1e-11;
/// Methods for the accurate solution, the most accurate first.
const ASKED: [(&str, &str); 3] = [("natural", "taylor"), ("grcr", "dop853"), ("lie", "dop853")];
/// Integrators without an error estimate.
const FIXED: [&str; 8] = ["euler", "rk4", "moreau", "cg3", "cg4", "cf3", "cf4", "tableau"];

/// A mechanism with an accurate solution of its motion.
pub struct Case {
    /// The mechanism.
    pub model: Model,
    /// The consistent start.
    pub start: Configuration,
    /// End and output times.
    pub study: Study,
    /// The accurate solution.
    pub truth: Vec<Instant>,
    /// Formulation that computed it.
    pub by: &'static str,
    /// Difference of a second run from it.
    pub doubt: f64,
    /// Growth factor of a disturbance of the start, at least one.
    pub growth: f64,
}

/// The measured result of a run.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Largest error.
    pub error: f64,
    /// The error divided by tolerance and growth.
    pub ratio: f64,
    /// Number of accepted steps.
    pub steps: f64,
    /// Wall time, s.
    pub seconds: f64,
}

impl Case {
    /// The case of a mechanism over the time of its study, or up to `t_end` if given. `patience` limits the time of each accurate run.
    pub fn new(model: Model, t_end: Option<f64>, patience: Duration) -> Result<Self, String> {
        let mut study = Study::of(&model);
        (study.formulation, study.integrator, study.step) = (None, None, None);
        study.options.clear();
        study.t_end = t_end.map_or(study.t_end, |t| t.min(study.t_end));
        study.output_step = study.t_end / OUTPUTS;
        let start = assemble(&model).map_err(|d| d.to_string())?.configuration;
        for (name, integrator) in ASKED {
            let info = formulation(name).map_err(|d| d.to_string())?;
            if (info.applies)(&model).is_err() {
                continue;
            }
            let at = |tol, from: &Configuration| {
                let study = Study { tol: Some(tol), ..study.clone() };
                sampled(patience, &model, &study, info, integrator, from).and_then(Ran::complete).map(|r| r.sample)
            };
            let (Ok(truth), Ok(second)) = (at(TRUE, &start), at(SECOND, &start)) else { continue };
            let doubt = apart(&model, &truth, &second);
            let growth = match Twin::of(&model, &start, &truth) {
                None => 1.0,
                Some(twin) => match at(TRUE, &twin.start) {
                    Ok(beside) => (apart(&model, &truth, &beside) / twin.size).max(1.0),
                    Err(_) => continue,
                },
            };
            return Ok(Self { model, start, study, truth, by: info.name, doubt, growth });
        }
        Err("no formulation computes its motion to 1e-12 in the time given".into())
    }

    /// A run at a tolerance.
    pub fn measure(&self, info: &FormulationInfo, integrator: &'static str, tol: f64, patience: Duration) -> Result<Measured, Diagnostic> {
        let study = Study { tol: Some(tol), ..self.study.clone() };
        let ran = sampled(patience, &self.model, &study, info, integrator, &self.start)?.complete()?;
        let error = apart(&self.model, &self.truth, &ran.sample);
        let steps = ran.outcome.work.iter().find(|w| w.0 == "steps").map_or(0.0, |w| w.1);
        Ok(Measured { error, ratio: error / (tol * self.growth), steps, seconds: ran.seconds })
    }
}

/// Formulations with their adaptive integrators, each with its smallest attainable tolerance.
pub fn methods() -> impl Iterator<Item = (&'static FormulationInfo, &'static str, f64)> {
    let with = |f: &'static FormulationInfo| f.integrators.iter().filter(|i| !FIXED.contains(*i)).map(move |i| (f, *i, least_tolerance(i)));
    FORMULATIONS.iter().flat_map(with)
}
