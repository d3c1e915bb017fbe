//! A study of the file with changed settings.

use super::{Analysis, Study};
use crate::model::Model;

/// Settings that replace those of the file; omitted ones are unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Analysis.
    pub analysis: Option<Analysis>,
    /// Formulation; it also removes the integrator of the file, which belongs to the formulation of the file.
    pub formulation: Option<String>,
    /// Integrator.
    pub integrator: Option<String>,
    /// End of the run, s.
    pub t_end: Option<f64>,
    /// Distance of output times, s.
    pub output_step: Option<f64>,
    /// Fixed step, s.
    pub step: Option<f64>,
    /// Tolerance.
    pub tol: Option<f64>,
    /// Options, in addition to those of the file.
    pub options: Vec<(String, String)>,
    /// Assembly mode to start in.
    pub mode: Option<u16>,
}

impl Study {
    /// The study of a model's file with other settings.
    pub fn with(model: &Model, changes: &Changes) -> Self {
        let mut study = Self::of(model);
        study.analysis = changes.analysis.or(study.analysis);
        study.integrator = changes.integrator.clone().or(if changes.formulation.is_some() { None } else { study.integrator });
        study.formulation = changes.formulation.clone().or(study.formulation);
        study.step = changes.step.or(study.step);
        study.tol = changes.tol.or(study.tol);
        if let Some(t_end) = changes.t_end {
            study.t_end = t_end;
            // A file without an output step gets the usual number of rows.
            if model.study.output_step.is_none() {
                study.output_step = t_end / 200.0;
            }
        }
        study.output_step = changes.output_step.unwrap_or(study.output_step);
        study.mode = changes.mode;
        for (key, value) in &changes.options {
            match study.options.iter_mut().find(|(k, _)| k == key) {
                Some((_, v)) => v.clone_from(value),
                None => study.options.push((key.clone(), value.clone())),
            }
        }
        study
    }
}
