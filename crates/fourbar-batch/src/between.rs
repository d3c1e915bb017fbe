//! Rows between the ends of steps. Lanes pass output times at different steps, and every evaluation covers all lanes: so rows wait until
//! most lanes have one, and are evaluated together. A row does not depend on how long it waits.

use crate::motion::{Lanes, State};
use crate::passes::{LANES, Row, ZERO};
use crate::prepare::Way;
use crate::waiting::{DEPTH, Passed};

impl Lanes<'_, '_> {
    /// Registers the output times inside the accepted steps.
    pub(super) fn pass(&mut self) {
        let Way::Explicit(tableau) = self.way else { return };
        if tableau.extra.is_empty() {
            loop {
                let (mut t, mut due) = (self.t, [false; LANES]);
                for i in 0..LANES {
                    if let Some(at) = self.inside(i) {
                        (t[i], due[i]) = (at, true);
                    }
                }
                if !due.contains(&true) {
                    return;
                }
                self.make_room(&due);
                let (mut from, mut h) = (ZERO, ZERO);
                for (i, lane) in self.lanes.iter_mut().enumerate() {
                    if let Some(lane) = lane.as_mut().filter(|_| due[i]) {
                        (from[i], h[i]) = (lane.t_n, lane.h_n);
                        lane.next += 1;
                    }
                }
                self.interpolate(&t, &due, [&from, &h]);
                self.queue(&t, &due, false);
            }
        }
        for i in 0..LANES {
            if self.inside(i).is_none() {
                continue;
            }
            if self.waiting.passed[i].count > 0 {
                self.complete();
            }
            let mut passed = Passed::default();
            while self.inside(i).is_some() {
                let Some(lane) = &mut self.lanes[i] else { break };
                if passed.count == 0 {
                    passed = Passed { first: lane.next, count: 0, from: lane.t_n, h: lane.h_n };
                }
                passed.count += 1;
                lane.next += 1;
            }
            let w = &mut self.waiting;
            w.passed[i] = passed;
            let last = tableau.a.len();
            for c in 0..self.y.len() {
                (w.y_n[c][i], w.step[c][i]) = (self.y_n[c][i], self.step[c][i]);
                for s in 0..=last {
                    w.k[s][c][i] = self.k[s][c][i];
                }
            }
            if let Some(lane) = &self.lanes[i] {
                w.turned[i].copy_from_slice(&lane.case.turns);
            }
        }
    }

    /// The next output time of a lane, if it lies inside the last step and not at its end.
    fn inside(&self, i: usize) -> Option<f64> {
        let lane = self.lanes[i].as_ref().filter(|_| !self.lost[i])?;
        let at = *lane.case.times.get(lane.next)?;
        // Rounding must not decide about a row.
        let near = 1e-12 * self.t[i].abs().max(lane.h_n);
        (at <= self.t[i] + near && (self.t[i] - at).abs() > near).then_some(at)
    }

    /// Evaluates the additional stages of all waiting steps, and the states at their output times.
    fn complete(&mut self) {
        let Way::Explicit(tableau) = self.way else { return };
        self.exchange();
        let passed = self.waiting.passed;
        let active: [bool; LANES] = std::array::from_fn(|i| passed[i].count > 0 && !self.lost[i]);
        let (from, h) = (passed.map(|p| p.from), passed.map(|p| p.h));
        self.turn_back(&active);
        let last = tableau.a.len();
        for (e, weights) in tableau.extra.iter().enumerate() {
            self.kernel.combine(&self.k, weights, &h, &mut self.scratch);
            for k in 0..self.y.len() {
                for i in 0..LANES {
                    self.trial[k][i] = if active[i] { self.y_n[k][i] + self.scratch[k][i] } else { self.y[k][i] };
                }
            }
            let node = self.nodes[last + 1 + e];
            let t: Row = std::array::from_fn(|i| if active[i] { from[i] + node * h[i] } else { self.t[i] });
            let failed = self.evaluate(&t, State::Trial, last + 1 + e);
            self.lose(std::array::from_fn(|i| active[i] && failed[i]));
        }
        self.turn_back(&active);
        for round in 0.. {
            let due: [bool; LANES] = std::array::from_fn(|i| active[i] && round < passed[i].count && !self.lost[i]);
            if !due.contains(&true) {
                break;
            }
            self.make_room(&due);
            let mut t = self.t;
            for (i, lane) in self.lanes.iter().enumerate() {
                if let Some(lane) = lane.as_ref().filter(|_| due[i]) {
                    t[i] = lane.case.times[passed[i].first + round];
                }
            }
            self.interpolate(&t, &due, [&from, &h]);
            self.queue(&t, &due, true);
        }
        self.waiting.passed = [Passed::default(); LANES];
        self.exchange();
    }

    /// Exchanges the waiting steps with the last ones.
    fn exchange(&mut self) {
        std::mem::swap(&mut self.y_n, &mut self.waiting.y_n);
        std::mem::swap(&mut self.step, &mut self.waiting.step);
        std::mem::swap(&mut self.k, &mut self.waiting.k);
    }

    /// Exchanges counted angles with those at the ends of the waiting steps.
    fn turn_back(&mut self, which: &[bool; LANES]) {
        for i in (0..LANES).filter(|i| which[*i]) {
            if let Some(lane) = &mut self.lanes[i] {
                std::mem::swap(&mut lane.case.turns, &mut self.waiting.turned[i]);
            }
        }
    }

    /// Puts the states in `trial` into the queues of some lanes, which must have room.
    fn queue(&mut self, t: &Row, which: &[bool; LANES], waited: bool) {
        let w = &mut self.waiting;
        for i in (0..LANES).filter(|i| which[*i]) {
            let Some(lane) = &self.lanes[i] else { continue };
            let at = (w.first[i] + w.count[i]) % DEPTH;
            for (to, from) in w.states[at].iter_mut().zip(&self.trial) {
                to[i] = from[i];
            }
            w.times[at][i] = t[i];
            w.turns[at][i].copy_from_slice(if waited { &w.turned[i] } else { &lane.case.turns });
            w.count[i] += 1;
        }
    }

    /// Evaluates rows until some lanes have room for another.
    fn make_room(&mut self, which: &[bool; LANES]) {
        while (0..LANES).any(|i| which[i] && self.waiting.count[i] == DEPTH) {
            self.show();
        }
    }

    /// Evaluates everything waiting in some lanes, and rows waiting in others along with it.
    pub(super) fn drain(&mut self, which: &[bool; LANES]) {
        if (0..LANES).any(|i| which[i] && self.waiting.passed[i].count > 0) {
            self.complete();
        }
        while (0..LANES).any(|i| which[i] && self.waiting.count[i] > 0) {
            self.show();
        }
    }

    /// Evaluates the first waiting row of every lane and passes it on.
    fn show(&mut self) {
        let n = self.kernel.form.columns;
        let w = &mut self.waiting;
        let active = w.count.map(|c| c > 0);
        let mut t = self.t;
        for i in 0..LANES {
            let at = w.first[i];
            for ((to, state), own) in self.trial.iter_mut().zip(&w.states[at]).zip(&self.y) {
                to[i] = if active[i] { state[i] } else { own[i] };
            }
            if let Some(lane) = self.lanes[i].as_mut().filter(|_| active[i]) {
                t[i] = w.times[at][i];
                std::mem::swap(&mut lane.case.turns, &mut w.turns[at][i]);
            }
        }
        let aside = self.k.len() - 1;
        let failed = self.evaluate(&t, State::Trial, aside);
        for i in (0..LANES).filter(|i| active[*i]) {
            let w = &mut self.waiting;
            let at = w.first[i];
            w.first[i] = (at + 1) % DEPTH;
            w.count[i] -= 1;
            let Some(lane) = &mut self.lanes[i] else { continue };
            self.lost[i] |= failed[i];
            if !self.lost[i] {
                let rows = (&mut self.row, &mut self.warnings);
                self.lost[i] |= !lane.case.record(&self.kernel, i, t[i], self.trial[2 * n][i], lane.observer, rows);
            }
            std::mem::swap(&mut lane.case.turns, &mut w.turns[at][i]);
        }
    }

    /// States at times inside steps, by interpolation from their starts, into `trial`, for some lanes.
    fn interpolate(&mut self, t: &Row, due: &[bool; LANES], [from, h]: [&Row; 2]) {
        let Way::Explicit(tableau) = self.way else { return };
        let last = tableau.a.len();
        let s: Row = std::array::from_fn(|i| if due[i] { (t[i] - from[i]) / h[i] } else { 0.0 });
        // d = s (r1 + u (r2 + s (r3 + u (r4 + ...)))), where r1 is the whole increment and r2 and r3 follow from the derivatives at the
        // ends.
        let mut sum = std::mem::take(&mut self.waiting.sum);
        sum.fill(ZERO);
        for (j, weights) in tableau.dense.iter().enumerate().rev() {
            let innermost = j + 1 == tableau.dense.len();
            self.kernel.combine(&self.k, weights, h, &mut self.scratch);
            for (x, d) in sum.iter_mut().zip(&self.scratch) {
                for i in 0..LANES {
                    let factor = if j % 2 == 0 { s[i] } else { 1.0 - s[i] };
                    x[i] = if innermost { d[i] } else { d[i] + factor * x[i] };
                }
            }
        }
        for k in 0..self.y.len() {
            for i in 0..LANES {
                let (r1, first, end) = (self.step[k][i], h[i] * self.k[0][k][i], h[i] * self.k[last][k][i]);
                let r2 = first - r1;
                let r3 = r1 - end - r2;
                let u = 1.0 - s[i];
                let d = s[i] * (r1 + u * (r2 + s[i] * (r3 + u * sum[k][i])));
                self.trial[k][i] = if due[i] { self.y_n[k][i] + d } else { self.y[k][i] };
            }
        }
        self.waiting.sum = sum;
    }
}
