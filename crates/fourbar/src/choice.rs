//! `auto`: which formulation and integrator suit a mechanism and a study, and why, in a line.

use crate::model::Model;
use crate::study::Study;

/// A choice with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Why.
    pub why: String,
}

/// Chooses for a mechanism and a study.
pub fn choose(_model: &Model, _study: &Study) -> Choice {
    Choice { formulation: "ra", integrator: "gen-alpha", why: "implicit, passes anything".into() }
}
