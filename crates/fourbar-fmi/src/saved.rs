//! States of instances that are saved, restored and serialised.

use crate::instance::{Instance, Phase, Refused};
use fourbar::diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// Everything needed to continue from a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// The unit it belongs to.
    token: String,
    phase: Phase,
    start: f64,
    tolerance: Option<f64>,
    parameters: Vec<f64>,
    inputs: Vec<f64>,
    motion: Option<Motion>,
}

/// A mechanism in motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Motion {
    /// Inputs at its creation.
    first: Vec<f64>,
    /// Saved state of the engine; `None` before the first step.
    engine: Option<String>,
    /// Last quaternions, for continuity of their signs.
    quaternions: Vec<f64>,
    row: Vec<f64>,
}

impl Saved {
    /// The state as bytes; numbers are preserved bit for bit.
    pub fn bytes(&self) -> Result<Vec<u8>, Diagnostic> {
        serde_json::to_vec(self).map_err(|e| broken(&e.to_string()))
    }

    /// From bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Diagnostic> {
        serde_json::from_slice(bytes).map_err(|e| broken(&e.to_string()))
    }
}

fn broken(why: &str) -> Diagnostic {
    Diagnostic::new("U507", format!("the state cannot be restored: {why}"))
        .help("restore a state that an instance of the same unit has saved")
}

impl Instance {
    /// Saves the state.
    pub fn save(&self) -> Saved {
        let motion = self.held.as_ref().map(|h| Motion {
            first: h.first.clone(),
            engine: (h.simulation.t() > 0.0).then(|| h.simulation.save()),
            quaternions: h.recorder.memory().as_flattened().to_vec(),
            row: h.row.clone(),
        });
        Saved {
            token: self.unit.source.token.clone(),
            phase: self.phase,
            start: self.start,
            tolerance: self.tolerance,
            parameters: self.parameters.clone(),
            inputs: self.inputs.clone(),
            motion,
        }
    }

    /// Restores a saved state. If that fails the instance cannot continue.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), Refused> {
        let sizes = saved.parameters.len() == self.parameters.len() && saved.inputs.len() == self.inputs.len();
        if saved.token != self.unit.source.token || !sizes {
            return Err(broken("it belongs to another unit").into());
        }
        let as_before = self.parameters == saved.parameters && self.tolerance == saved.tolerance;
        (self.phase, self.start, self.tolerance) = (saved.phase, saved.start, saved.tolerance);
        self.parameters.clone_from(&saved.parameters);
        self.inputs.clone_from(&saved.inputs);
        let Some(motion) = &saved.motion else {
            self.held = None;
            return Ok(());
        };
        // The same mechanism continues from the state; a different one, or one before its first step, is created again.
        let reusable = as_before && motion.engine.is_some() && self.held.as_ref().is_some_and(|h| h.first == motion.first);
        if !reusable {
            let (held, following) = self.made(&motion.first)?;
            (self.held, self.following) = (Some(held), following);
        }
        let Some(held) = &mut self.held else { return Err(broken("the mechanism is not in motion").into()) };
        match &motion.engine {
            Some(engine) => held.simulation.restore(engine)?,
            None => {
                for (k, x) in self.inputs.iter().enumerate() {
                    let id = held.simulation.input(&held.simulation.inputs()[k].name)?;
                    held.simulation.set_input(id, *x)?;
                }
            }
        }
        if motion.row.len() != held.row.len() || held.recorder.restore_from(&motion.quaternions).is_none() {
            return Err(broken("it belongs to another mechanism").into());
        }
        held.row.clone_from(&motion.row);
        held.told = held.simulation.events().len();
        Ok(())
    }
}
