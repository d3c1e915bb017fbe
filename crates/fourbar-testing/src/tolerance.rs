//! Errors of whole runs against the tolerance they were requested.
//!
//! A mechanism is run once as accurately as it can be, and once from a start beside its own: by how much the disturbance has grown states what
//! any method must be allowed, since its errors grow alike. The error of a run is its largest distance from the truth at all output times,
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
/// Tolerance of the truth, and of a second run that states how far it can be trusted.
const TRUE: f64 = 1e-12;
const SECOND: f64 = 1e-11;
/// Who is requested the truth, the most accurate first.
const ASKED: [(&str, &str); 3] = [("natural", "taylor"), ("grcr", "dop853"), ("lie", "dop853")];
/// Integrators without an error estimate.
const FIXED: [&str; 8] = ["euler", "rk4", "moreau", "cg3", "cg4", "cf3", "cf4", "tableau"];

/// A mechanism with its motion as accurately as it is known.
pub struct Case {
    /// The mechanism.
    pub model: Model,
    /// The consistent start.
    pub start: Configuration,
    /// End and output times.
    pub study: Study,
    /// The motion.
    pub truth: Vec<Instant>,
    /// Formulation that computed it.
    pub by: &'static str,
    /// How far a second run is from it.
    pub doubt: f64,
    /// How many times larger a disturbance of the start has become, at least one.
    pub growth: f64,
}

/// A run that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Largest error.
    pub error: f64,
    /// The same over tolerance and growth.
    pub ratio: f64,
    /// Steps that were accepted.
    pub steps: f64,
    /// How long it took, s.
    pub seconds: f64,
}

impl Case {
    /// The case of a mechanism over its own time, or less where the end is given. Each accurate run may take so long.
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

/// Formulations with the integrators that keep a tolerance, each with the least one it can reach.
pub fn methods() -> impl Iterator<Item = (&'static FormulationInfo, &'static str, f64)> {
    let with = |f: &'static FormulationInfo| f.integrators.iter().filter(|i| !FIXED.contains(*i)).map(move |i| (f, *i, least_tolerance(i)));
    FORMULATIONS.iter().flat_map(with)
}
