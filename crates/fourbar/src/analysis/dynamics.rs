//! Dynamics.

use crate::analysis::assembly::Assembled;
use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::study::{Failed, Observer, Report, Study};

/// Runs dynamics.
pub fn run(_model: &Model, _study: &Study, _assembled: &Assembled, _checkpoint: Option<&str>, _observer: &mut dyn Observer) -> Result<Report, Failed> {
    Err(Diagnostic::new("S000", "dynamics").into())
}
