//! Inputs of a simulation, set between steps.

use super::{Mover, Simulation};
use crate::auxiliary::Input;
use crate::diagnostic::Diagnostic;
use crate::inputs::{Change, Course, allowed, find, no_impact};
use crate::settings::Study;
use crate::state::Configuration;

/// An input of a simulation, by its place among [`Simulation::inputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputId(pub(super) usize);

impl Simulation {
    /// The inputs of the mechanism: names, units, defaults and ranges.
    pub fn inputs(&self) -> &[Input] {
        &self.model().inputs
    }

    /// An input by its name.
    pub fn input(&self, name: &str) -> Result<InputId, Diagnostic> {
        find(self.model(), name).map(InputId)
    }

    /// The current value of an input; NaN if the mechanism has no such input.
    pub fn input_value(&self, id: InputId) -> f64 {
        if id.0 < self.inputs().len() { self.now().z[id.0] } else { f64::NAN }
    }

    /// Sets an input from the current time on; it is held until it is set again.
    ///
    /// Current accelerations, reactions and efforts are unchanged; those of the next requested time follow the new value. An input of a
    /// drive by `speed:` can be set only at the start, at time zero: later it would be an impact.
    pub fn set_input(&mut self, id: InputId, value: f64) -> Result<(), Diagnostic> {
        let model = self.model();
        if id.0 >= model.inputs.len() {
            return Err(
                Diagnostic::new("U322", format!("there is no input number {}", id.0)).help("take it from `input` of this simulation")
            );
        }
        allowed(model, id.0, value)?;
        if value == self.input_value(id) {
            return Ok(());
        }
        if let Err(impact) = no_impact(model, id.0) {
            return if self.t() == 0.0 { self.start_again(id, value) } else { Err(impact) };
        }
        let change = Change { t: self.t(), input: id.0, held: [value, 0.0] };
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.set_inputs(&[change])),
            Mover::Eventful(e) => e.set_inputs(&[change]).map(drop),
        }
    }

    /// Assembles again at time zero, because another speed of a drive requires other velocities.
    fn start_again(&mut self, id: InputId, value: f64) -> Result<(), Diagnostic> {
        let value_of = |k: usize| if k == id.0 { value } else { self.now().z[k] };
        let inputs = self.inputs().iter().enumerate().map(|(k, i)| (i.name.clone(), Course::Value(value_of(k)))).collect();
        let study = Study { inputs, ..self.study.clone() };
        *self = Self::new(self.model(), &study)?;
        Ok(())
    }

    /// Refuses a state whose inputs are out of range, or would change the speed of a drive.
    pub(super) fn inputs_fit(&self, state: &Configuration) -> Result<(), Diagnostic> {
        let model = self.model();
        for k in 0..model.inputs.len() {
            allowed(model, k, state.z[k])?;
            if state.z[k] != self.now().z[k] {
                no_impact(model, k)?;
            }
        }
        Ok(())
    }
}
