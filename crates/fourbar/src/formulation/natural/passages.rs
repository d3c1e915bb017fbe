//! Singular positions in flight. The smallest pivot of the constraints in absolute form is looked at several times in every step;
//! where it passes through zero, the time is found on the series of the step.

use super::run::Run;
use crate::analysis::singular::dependent_names;
use crate::model::{BodyId, Model};

/// Angle in radians by which bodies turn between two looks, with and without loops to be watched.
pub(super) const APART: [f64; 2] = [0.3, 0.5];
/// The time is found in rounds, from values at these shares of the first interval on both sides.
const ROUNDS: [f64; 3] = [0.2, 0.02, 0.002];
/// Beside a zero the singular value follows its slope; one that exceeds it by this factor has not vanished.
const STRAIGHT: f64 = 3.0;

/// Whether constraints close a loop: without one they never become dependent.
pub(super) fn has_loops(model: &Model) -> bool {
    let mut root: Vec<usize> = (0..model.bodies.len()).collect();
    let mut joins = |bodies: [BodyId; 2]| {
        let [a, b] = bodies.map(|b| {
            let mut b = b.index();
            while root[b] != b {
                root[b] = root[root[b]];
                b = root[b];
            }
            b
        });
        root[a] = b;
        a != b
    };
    let bare = model.bare.iter().map(|b| b.bodies).collect::<Vec<_>>();
    !model.couplings.is_empty() || model.joints.iter().map(|j| j.bodies).chain(bare).any(|b| !joins(b))
}

impl Run<'_> {
    /// Square root of the smallest pivot at a time of the last step, or a little before it.
    fn smallest_at(&mut self, t: f64) -> f64 {
        self.bodies_at(t);
        self.smallest_now(t)
    }

    fn smallest_now(&mut self, t: f64) -> f64 {
        self.equations.set.choose(t);
        self.equations.jacobian(&self.now.q);
        self.equations.factor(1.0);
        self.equations.regular_pivot.0.max(0.0).sqrt()
    }

    /// Looks at the constraints at time `t`, for which the poses hold, and notes a singular position passed since the last look.
    pub(super) fn look_for_passage(&mut self, t: f64) {
        let watch = &self.detector.watch;
        if !self.loops || (watch.filled > 0 && t <= watch.last[2].0) {
            return;
        }
        let pivot = self.smallest_now(t).powi(2);
        let Some(near) = self.detector.watch.observe(t, pivot) else { return };
        let [(t1, s1), _, (t3, s3)] = self.detector.watch.last;
        // The series holds on both sides of the point it was made at, not beyond the step.
        let (from, to) = self.integrator.interval();
        let within = near > from - 0.5 * (to - from);
        let mut time = near;
        let mut d = 0.0;
        if within {
            let mut low = 0.0;
            for share in ROUNDS {
                d = share * (t3 - t1);
                let (a, b) = (self.smallest_at(time - d), self.smallest_at(time + d));
                time += d * (a - b) / (a + b).max(f64::MIN_POSITIVE);
                low = 0.5 * (a + b);
            }
            if !(low < STRAIGHT * d * (s1 + s3) / (t3 - t1) + 1e-7 * self.detector.watch.usual) {
                self.bodies_at(t);
                return;
            }
            self.bodies_at(time);
        }
        let e = &mut self.equations;
        if !within || self.detector.is_singular(self.model, &e.set, &self.now.q) {
            // Names are told beside the position: on it nothing can be solved.
            let pivot = if within { self.smallest_at(time + d).powi(2) } else { pivot };
            let e = &mut self.equations;
            let (row, permanent) = (e.regular_pivot.1, &e.permanent);
            let joints = dependent_names(&e.set, &mut e.schur, permanent, row, &mut e.x);
            self.detector.note(time, pivot, joints);
        }
        self.bodies_at(t);
    }
}
