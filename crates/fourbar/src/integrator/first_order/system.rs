//! First-order systems.

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::{Instant, Outcome};
use crate::state::Configuration;
use serde_json::Value;

/// Angle in radians by which a body or joint may rotate in a step. Counted angles must change by less than half a turn, even between two
/// bodies that rotate in opposite directions.
pub fn largest_turn(model: &Model) -> f64 {
    if model.angles.is_empty() { 3.0 } else { 1.5 }
}

/// A first-order system whose state may be in a group.
///
/// By convention the first components of a state and of an increment are the [`System::auxiliaries`] inputs and states of the mechanism,
/// and the last component of a state and of an increment is the work of drives and of forces without a potential; its derivative is their
/// power. It is not part of [`System::error`]; step control treats it separately.
pub trait System: Send {
    /// Numbers that store a state.
    fn stored(&self) -> usize;
    /// Numbers of an increment and of a derivative.
    fn size(&self) -> usize;
    /// Number of inputs (with their slopes) and states at the start of the state.
    fn auxiliaries(&self) -> usize {
        0
    }
    /// Called when the leading components of the last accepted state were replaced from outside, to adapt stored data.
    fn replaced(&mut self, y: &[f64]) {
        let _ = y;
    }
    /// Writes the state to start from.
    fn start(&self, y: &mut [f64]);
    /// `to = from o exp(d)`; plain addition in vector spaces.
    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]);
    /// The increment of a motion, `to = from o exp(d)`; plain subtraction in vector spaces.
    fn increment(&self, from: &[f64], to: &[f64], d: &mut [f64]) {
        d.iter_mut().zip(to.iter().zip(from)).for_each(|(d, (b, a))| *d = b - a);
    }
    /// Converts the derivative of the state at `from o exp(d)` into the derivative of `d`; no operation in vector spaces.
    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let _ = (d, f);
    }
    /// Derivative of the state; a failure requires a smaller step.
    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>>;
    /// Called before a step from the last accepted state, to change data that must stay the same throughout a step.
    fn begin(&mut self) {}
    /// After a failure of [`System::derivative`]: whether the step is to be repeated with other equations for the same motion.
    fn renewed(&mut self) -> bool {
        false
    }
    /// Whether an increment is small enough for [`System::moved`] and [`System::pull_back`].
    fn fits(&self, d: &[f64]) -> bool {
        let _ = d;
        true
    }
    /// Size of an error increment in metres: translations, rotations times the characteristic length, velocities times a
    /// characteristic time.
    fn error(&self, y: &[f64], d: &[f64]) -> f64;
    /// The same for an error of the state at the end of a step from `y`, where constraints may enlarge it. It is followed only by
    /// [`System::accept`] or a repeated step.
    fn error_at_end(&mut self, t: f64, end: &[f64], y: &[f64], d: &[f64]) -> f64 {
        let _ = (t, end);
        self.error(y, d)
    }
    /// Accepts a step and corrects `y` if it violates the constraints; `true` if `y` was changed.
    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>>;
    /// The state at an output time in global terms, projected, with accelerations, reactions, efforts, work and errors.
    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>>;
    /// The mechanism; `None` if there is none.
    fn model(&self) -> Option<&Model> {
        None
    }
    /// A state of the present step in global terms without corrections; `false` if that takes more than reading it.
    fn glance(&mut self, t: f64, y: &[f64], out: &mut Configuration) -> bool {
        let _ = (t, y, out);
        false
    }
    /// Adds results at the end of the run.
    fn report(&mut self, outcome: &mut Outcome);
    /// Number of parts into which a step with this increment is divided in searches for singular positions.
    fn parts(&self, d: &[f64]) -> usize {
        let _ = d;
        1
    }
    /// A search for singular positions: at the end of a step of one part, which has just been accepted, or at any state in time order.
    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        let _ = (t, y, accepted);
    }
    /// Data, in addition to the state, for continuing a run.
    fn save(&self) -> Value {
        Value::Null
    }
    /// Restores the result of [`System::save`].
    fn restore(&mut self, saved: &Value) {
        let _ = saved;
    }
}
