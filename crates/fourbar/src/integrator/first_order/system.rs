//! First-order systems.

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::motion::{Instant, Outcome};
use crate::state::Configuration;
use serde_json::Value;

/// Angle in radians by which a body or joint may turn in a step. Counted angles must stay below half a turn, even between two bodies
/// that turn against each other.
pub fn largest_turn(model: &Model) -> f64 {
    if model.angles.is_empty() { 3.0 } else { 1.5 }
}

/// A first-order system whose state may live on a group.
///
/// By convention the first components of a state and of an increment are the inputs and states of the mechanism, as many as
/// [`System::auxiliaries`] says, and the last component of a state and of an increment is the work of drives and of forces without a potential;
/// its derivative is their power, and it has no part in [`System::error`]; steps are small enough for it all the same.
pub trait System: Send {
    /// Numbers that store a state.
    fn stored(&self) -> usize;
    /// Numbers of an increment and of a derivative.
    fn size(&self) -> usize;
    /// How many inputs (with their slopes) and states lead the state.
    fn auxiliaries(&self) -> usize {
        0
    }
    /// The leading components of the last accepted state were replaced, from without: what is remembered of it has to follow.
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
    /// Turns the derivative of the state at `from o exp(d)` into the derivative of `d`; nothing to do in vector spaces.
    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        let _ = (d, f);
    }
    /// Derivative of the state; a failure requires a smaller step.
    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>>;
    /// A step is about to be tried from the last accepted state: time to change what must stay the same throughout a step.
    fn begin(&mut self) {}
    /// After a failure of [`System::derivative`]: whether the same will be tried with other equations for the same motion.
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
    /// The same for an error of the state at the end of a step from `y`, where constraints may enlarge it. Only [`System::accept`] or a
    /// step that is tried anew follows.
    fn error_at_end(&mut self, t: f64, end: &[f64], y: &[f64], d: &[f64]) -> f64 {
        let _ = (t, end);
        self.error(y, d)
    }
    /// Takes note of an accepted step and corrects `y` where it left the constraints; `true` where `y` was changed.
    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>>;
    /// The state at an output time in global terms, projected, with accelerations, reactions, efforts, work and errors.
    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>>;
    /// The mechanism that moves; `None` where there is none.
    fn model(&self) -> Option<&Model> {
        None
    }
    /// A state of the present step in global terms as it is; `false` where that takes more than reading it.
    fn glance(&mut self, t: f64, y: &[f64], out: &mut Configuration) -> bool {
        let _ = (t, y, out);
        false
    }
    /// What there is to say at the end.
    fn report(&mut self, outcome: &mut Outcome);
    /// Into how many parts a step with this increment is divided by searches for singular positions.
    fn parts(&self, d: &[f64]) -> usize {
        let _ = d;
        1
    }
    /// A search for singular positions: at the end of a step of one part, which has just been accepted, or at any state in time order.
    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        let _ = (t, y, accepted);
    }
    /// What must be remembered beside the state to continue a run.
    fn save(&self) -> Value {
        Value::Null
    }
    /// Takes back what [`System::save`] gave.
    fn restore(&mut self, saved: &Value) {
        let _ = saved;
    }
}
