//! A piece of a run between two events: an engine on the mechanism in one mode.

use crate::analysis::assembly::Assembled;
use crate::diagnostic::Diagnostic;
use crate::engine::Engine;
use crate::event::Mode;
use crate::model::Model;
use crate::settings::{Analysis, Study};
use crate::state::Configuration;
use crate::structure::Structure;
use std::sync::Arc;

self_cell::self_cell!(
    /// An engine with the model that it borrows.
    pub struct Piece {
        owner: Arc<Model>,
        #[not_covariant]
        dependent: Engine,
    }
);

impl Piece {
    /// An engine for the mechanism in a mode, at a consistent state, without any computation yet.
    pub fn of_mode(base: &Model, mode: &Mode, study: &Study, analysis: Analysis, at: &Configuration) -> Result<Self, Diagnostic> {
        let model = Arc::new(base.in_mode(mode));
        let study = Study { analysis: Some(analysis), ..study.clone() };
        let mut candidates = study.candidates(&model)?;
        // Series are set up at every event, which takes far longer than a step: unless requested, other formulations are used.
        if study.is_auto() && candidates.iter().any(|c| c.formulation.name != "natural") {
            let chosen = candidates[0].formulation.name;
            candidates.retain(|c| c.formulation.name != "natural");
            if chosen == "natural" {
                candidates[0].why = Some("a Taylor series would have to be set up again at every event".into());
            }
        }
        for c in &candidates {
            (c.formulation.applies)(&model)?;
        }
        let assembled = Assembled::already(at);
        Ok(Self::new(model, |model| Engine::new(Structure::new(model, at), &study, candidates, &assembled)))
    }

    /// The mechanism in its mode.
    pub fn model(&self) -> &Arc<Model> {
        self.borrow_owner()
    }
}
