//! Lanes whose motion is fully driven.

use crate::motion::{FOLLOWED, Lanes, State};
use crate::passes::{LANES, Row, at, take};

impl Lanes<'_, '_> {
    /// One step of kinematics in every lane: prediction, closure, and the resulting accelerations.
    pub(super) fn follow(&mut self) {
        let n = self.kernel.form.columns;
        let mut h = [0.0; LANES];
        for i in 0..LANES {
            let fastest = self.fastest(i);
            let Some(lane) = &mut self.lanes[i] else { continue };
            let t = self.t[i];
            if t >= lane.target {
                // A whole step starts: to the next requested time, or to where bodies have rotated by the limit.
                let Some(&next) = lane.case.times.get(lane.next) else { continue };
                let end = match lane.case.fixed {
                    Some(nominal) => {
                        let left = next - t;
                        let parts = (left / nominal - 1e-6).ceil().max(1.0);
                        if parts > 1.0 { t + left / parts } else { next }
                    }
                    None => next,
                };
                let turn = fastest * (end - t);
                lane.target = if turn > FOLLOWED[1] { t + (end - t) / turn.ceil() } else { end };
                lane.from = (t, self.k[0][2 * n][i]);
            }
            let left = lane.target - t;
            let parts = (fastest * left / FOLLOWED[0]).ceil().max(1.0);
            h[i] = left / parts;
            if parts == 1.0 {
                lane.tried = lane.target;
            } else {
                lane.tried = t + h[i];
            }
        }
        for c in 0..n {
            for i in 0..LANES {
                let (q, u, a) = (self.y[c][i], self.y[n + c][i], self.k[0][n + c][i]);
                self.trial[c][i] = q + h[i] * (u + 0.5 * h[i] * a);
                self.trial[n + c][i] = u + h[i] * a;
            }
        }
        let aside = self.k.len() - 1;
        let t: Row = std::array::from_fn(|i| self.lanes[i].as_ref().map_or(0.0, |l| l.tried));
        let failed = self.evaluate(&t, State::Trial, aside);
        self.lose(failed);
        let all = std::array::from_fn(|i| self.lanes[i].is_some());
        self.arrive(&all, Some(aside));
        for i in 0..LANES {
            let power = self.k[0][2 * n][i];
            let Some(lane) = &mut self.lanes[i] else { continue };
            // The correction of a step that left its branch is as large as the mechanism.
            self.lost[i] |= !(t[i] > self.t[i]) && lane.next < lane.case.times.len();
            self.t[i] = t[i];
            if t[i] >= lane.target {
                lane.steps += 1;
                self.y[2 * n][i] += 0.5 * (t[i] - lane.from.0) * (power + lane.from.1);
            }
        }
    }

    /// The largest angular velocity of a body.
    fn fastest(&self, lane: usize) -> f64 {
        let square = |node: &crate::passes::Moving| take::<3, 45>(node, at::V + 3, lane).iter().map(|x| x * x).sum::<f64>();
        self.kernel.at.iter().map(square).fold(0.0, f64::max).sqrt()
    }
}
