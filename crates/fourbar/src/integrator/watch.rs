//! Detection of singular positions in an implicit method.

use crate::singular::massless::Massless;
use crate::singular::passages::{Measure, Passages};
use crate::state::{Configuration, Pose, Twist};
use crate::structure::Structure;

/// Searches for singular positions after every step, and inside long ones.
pub(super) struct Watch<'m> {
    pub passages: Passages,
    measure: Massless<'m>,
    /// Whether singular positions are possible at all.
    looped: bool,
    /// State for searches inside a step.
    inside: (Vec<Pose>, Vec<Twist>),
}

impl<'m> Watch<'m> {
    /// From a consistent start, which is also examined.
    pub fn new(structure: &Structure<'m>, start: &Configuration) -> Self {
        let model = structure.model;
        let mut w = Self {
            passages: Passages::new(model.length, model.bodies.len()),
            measure: Massless::new(structure),
            looped: structure.looped,
            inside: (start.q.clone(), start.v.clone()),
        };
        w.measure.look(&mut w.passages, start.t, &start.q, &start.v);
        w
    }

    /// Searches for singular positions in a step of size `h` that ends at `t` with these poses and velocities; `interpolate` gives
    /// intermediate ones.
    pub fn step(&mut self, (t, h): (f64, f64), (q, v): (&[Pose], &[Twist]), interpolate: impl Fn(f64, &mut [Pose], &mut [Twist])) {
        if !self.looped {
            return;
        }
        let Self { passages, measure, inside, .. } = self;
        let parts = passages.parts(passages.speed(v) * h);
        for k in 1..parts {
            let t = t - h * (parts - k) as f64 / parts as f64;
            interpolate(t, &mut inside.0, &mut inside.1);
            measure.look(passages, t, &inside.0, &inside.1);
        }
        measure.look(passages, t, q, v);
    }

    /// The distance from singular positions as a fraction of the largest seen; `None` if there are no loops.
    pub fn share(&mut self, t: f64, q: &[Pose]) -> Option<f64> {
        self.looped.then(|| self.passages.share(self.measure.log_distance(t, q)))
    }
}
