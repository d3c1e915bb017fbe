//! Lanes in motion. Every lane has its own time and step size, fixed or controlled by its own error, so that it moves as in a separate run;
//! when one has finished, another case takes its place.

use crate::kernel::Kernel;
use crate::passes::{LANES, Row, ZERO};
use crate::prepare::{Case, Prepared, SMALLEST, Way};
use crate::waiting::Waiting;
use fourbar::integrator::first_order::{Estimate, Tableau, Weights, combined_error, largest_turn};
use fourbar::study::Observer;
use fourbar_math::elementary;

/// Weight of the relative error of work, as a share of the tolerance.
const WORK: f64 = 0.1;
/// Relative rounding error of powers, and its upper limit in tolerances.
const POWER: [f64; 2] = [1e-8, 30.0];
/// Interval for the first step, in characteristic times.
const SPAN: f64 = 50.0;
/// Largest rotation of a body in radians between two closures in kinematics, and in a step.
pub(super) const FOLLOWED: [f64; 2] = [0.5, 3.0];

/// A lane in use.
pub(super) struct Lane<'m, 'o> {
    pub(super) case: Case<'m>,
    pub(super) observer: &'o mut dyn Observer,
    /// Index of the case.
    number: usize,
    /// Step size to try next; step size tried (in kinematics, its end time); start and size of the last step.
    pub(super) h: f64,
    pub(super) tried: f64,
    pub(super) t_n: f64,
    pub(super) h_n: f64,
    /// Index of the next output time.
    pub(super) next: usize,
    last_error: f64,
    refused: bool,
    /// Whether the first stage belongs to the current state; whether the last stage of the last step becomes the first one.
    begun: bool,
    fresh: bool,
    pub(super) steps: usize,
    evaluations: usize,
    /// In kinematics: end of the step that is taken in parts; time and power at its start.
    pub(super) target: f64,
    pub(super) from: (f64, f64),
}

/// The end of a lane.
pub enum Ended {
    /// Completed with all rows, after these numbers of steps and evaluations.
    Well([usize; 2]),
    /// The case has to be run separately.
    Alone(&'static str),
    /// The observer stopped it.
    Stopped,
}

/// Lanes with their states.
pub struct Lanes<'m, 'o> {
    pub(super) kernel: Kernel,
    pub(super) way: Way,
    /// Nodes of the stages, including those of the interpolant.
    pub(super) nodes: Vec<f64>,
    pub(super) lanes: [Option<Lane<'m, 'o>>; LANES],
    pub(super) lost: [bool; LANES],
    pub(super) t: Row,
    pub(super) y: Vec<Row>,
    pub(super) y_n: Vec<Row>,
    pub(super) trial: Vec<Row>,
    pub(super) step: Vec<Row>,
    /// Derivatives by stage, and one more set for auxiliary evaluations.
    pub(super) k: Vec<Vec<Row>>,
    pub(super) scratch: Vec<Row>,
    pub(super) waiting: Waiting,
    pub(super) row: Vec<f64>,
    pub(super) warnings: Vec<fourbar::Diagnostic>,
}

impl<'m, 'o> Lanes<'m, 'o> {
    /// Lanes for mechanisms with the same form and method.
    pub fn new(first: &Prepared<'m>) -> Self {
        let size = 2 * first.form.columns + 1;
        let mut nodes = vec![0.0];
        if let Way::Explicit(t) = first.way {
            let sum = |w: &Weights| w.iter().map(|(_, x)| x).sum::<f64>();
            nodes.extend(t.a.iter().chain(t.extra).map(sum));
        }
        let rows = || vec![ZERO; size];
        Self {
            kernel: Kernel::new(first.form.clone()),
            way: first.way,
            k: (0..=nodes.len()).map(|_| rows()).collect(),
            waiting: Waiting::new(size, nodes.len() + 1),
            nodes,
            lanes: std::array::from_fn(|_| None),
            lost: [false; LANES],
            t: ZERO,
            y: rows(),
            y_n: rows(),
            trial: rows(),
            step: rows(),
            scratch: rows(),
            row: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Whether a case fits into these lanes.
    pub fn fits(&self, x: &Prepared<'m>) -> bool {
        self.way == x.way && self.kernel.form == x.form
    }

    /// A free lane, if any.
    pub fn free(&self) -> Option<usize> {
        self.lanes.iter().position(Option::is_none)
    }

    /// Whether no lane is taken.
    pub fn idle(&self) -> bool {
        self.lanes.iter().all(Option::is_none)
    }

    /// Assigns a lane to a case.
    pub fn enter(&mut self, lane: usize, number: usize, x: Prepared<'m>, observer: &'o mut dyn Observer) {
        self.kernel.enter(lane, &x.numbers);
        let n = self.kernel.form.columns;
        for (k, value) in x.q.iter().chain(&x.u).enumerate() {
            self.y[k][lane] = *value;
        }
        self.y[2 * n][lane] = 0.0;
        self.t[lane] = x.t;
        self.lost[lane] = false;
        self.waiting.enter(lane, x.case.turns.len());
        observer.begin(&fourbar::trajectory::columns(x.case.model));
        self.lanes[lane] = Some(Lane {
            h: x.case.fixed.unwrap_or(0.0),
            case: x.case,
            observer,
            number,
            tried: 0.0,
            t_n: x.t,
            h_n: 0.0,
            next: 0,
            last_error: 1e-4,
            refused: false,
            begun: false,
            fresh: false,
            steps: 0,
            evaluations: 0,
            target: x.t,
            from: (x.t, 0.0),
        });
    }

    /// One step of every lane; `ended` is called for those that have finished, whose lanes become free.
    pub fn advance(&mut self, ended: &mut dyn FnMut(usize, Ended)) {
        self.begin();
        match self.way {
            Way::Kinematics => self.follow(),
            Way::Explicit(tableau) => self.explicit(tableau),
        }
        self.outputs();
        self.renew();
        self.leave(ended);
    }

    /// The last stage of a step becomes the first of the next one.
    fn renew(&mut self) {
        let Way::Explicit(tableau) = self.way else { return };
        let last = tableau.a.len();
        for i in 0..LANES {
            if self.lanes[i].as_mut().is_some_and(|l| std::mem::take(&mut l.fresh)) {
                for k in 0..self.y.len() {
                    self.k[0][k][i] = self.k[last][k][i];
                }
            }
        }
    }

    /// Frees the lanes that have finished or are lost.
    fn leave(&mut self, ended: &mut dyn FnMut(usize, Ended)) {
        for i in 0..LANES {
            let Some(lane) = &mut self.lanes[i] else { continue };
            let how = if self.lost[i] {
                Ended::Alone("its loops, steps or numbers need more care than a batch takes")
            } else if lane.next < lane.case.times.len() {
                if lane.observer.go_on(self.t[i], lane.case.times[lane.case.times.len() - 1]) {
                    continue;
                }
                Ended::Stopped
            } else if lane.case.judge.verdict(lane.steps as f64, &mut self.warnings).is_err() {
                Ended::Alone("its energy and work do not balance")
            } else {
                Ended::Well([lane.steps, lane.evaluations])
            };
            self.warnings.clear();
            ended(lane.number, how);
            self.lanes[i] = None;
        }
    }

    /// Evaluates derivatives at states, at the time of each lane, into a stage; returns the lanes in which this failed.
    pub(super) fn evaluate(&mut self, t: &Row, of: State, stage: usize) -> [bool; LANES] {
        let mut failed = [false; LANES];
        let state = match of {
            State::Now => &self.y,
            State::Trial => &self.trial,
        };
        let n = self.kernel.form.columns;
        self.kernel.q.copy_from_slice(&state[..n]);
        self.kernel.u.copy_from_slice(&state[n..2 * n]);
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            let Some(lane) = lane else { continue };
            lane.evaluations += 1;
            for &(drive, column) in &self.kernel.form.drives {
                let f = lane.case.model.drives[drive].value.at(t[i]);
                self.kernel.q[column][i] = f[0];
                self.kernel.u[column][i] = f[1];
                self.kernel.given[column][i] = f[2];
                failed[i] |= !(f[0] + f[1] + f[2]).is_finite();
            }
        }
        self.kernel.close(&mut failed);
        self.kernel.sweep();
        if self.kernel.form.loaded {
            for i in 0..LANES {
                if let Some(lane) = &mut self.lanes[i] {
                    lane.case.apply(&mut self.kernel, i, t[i]);
                }
            }
        }
        let out = &mut self.k[stage];
        let (dq, du) = out.split_at_mut(n);
        dq.copy_from_slice(&self.kernel.u);
        self.kernel.solve(&mut du[..n]);
        du[n] = ZERO;
        for &(_, column) in &self.kernel.form.drives {
            du[column] = self.kernel.given[column];
        }
        if self.kernel.form.worked {
            for i in 0..LANES {
                if let Some(lane) = &self.lanes[i] {
                    du[n][i] = lane.case.power(&self.kernel, i, t[i]);
                }
            }
        }
        failed
    }

    /// Marks failed lanes as lost.
    pub(super) fn lose(&mut self, failed: [bool; LANES]) {
        for i in 0..LANES {
            self.lost[i] |= failed[i];
        }
    }

    /// Evaluates the first stage of lanes without one, and chooses their first steps.
    fn begin(&mut self) {
        let new: [bool; LANES] = std::array::from_fn(|i| self.lanes[i].as_ref().is_some_and(|l| !l.begun));
        if !new.contains(&true) {
            return;
        }
        let aside = self.k.len() - 1;
        let t = self.t;
        let failed = self.evaluate(&t, State::Now, aside);
        self.lose(failed);
        self.arrive(&new, Some(aside));
        if let Way::Explicit(tableau) = self.way {
            self.first_steps(tableau, &new);
        }
        self.outputs();
    }

    /// Sets the states of some lanes to those evaluated last, which are closed; copies a stage to their first one.
    pub(super) fn arrive(&mut self, which: &[bool; LANES], stage: Option<usize>) {
        let n = self.kernel.form.columns;
        for i in (0..LANES).filter(|i| which[*i]) {
            for c in 0..n {
                self.y[c][i] = self.kernel.q[c][i];
                self.y[n + c][i] = self.kernel.u[c][i];
            }
            if let Some(stage) = stage {
                let mut sum = 0.0;
                for k in 0..=2 * n {
                    self.k[0][k][i] = self.k[stage][k][i];
                    sum += self.k[0][k][i] + self.y[k][i];
                }
                self.lost[i] |= !sum.is_finite();
            }
            if let Some(lane) = &mut self.lanes[i] {
                lane.begun = true;
                lane.case.count_turns(&self.kernel, i);
            }
        }
    }

    /// Emits rows at all output times that the lanes have passed: those at their current states, and those inside steps when they are due.
    fn outputs(&mut self) {
        self.pass();
        loop {
            let (mut due, mut done) = ([false; LANES], [false; LANES]);
            for i in 0..LANES {
                let Some(lane) = &self.lanes[i] else { continue };
                done[i] = lane.next == lane.case.times.len();
                let Some(&at) = lane.case.times.get(lane.next).filter(|_| !self.lost[i]) else { continue };
                // Rounding must not decide about a row.
                let reached = at <= self.t[i] + 1e-12 * self.t[i].abs().max(lane.h_n);
                // In kinematics the power of a step is computed at its end.
                let ready = self.way != Way::Kinematics || self.t[i] >= lane.target;
                due[i] = reached && ready;
            }
            // Rows are passed on in order.
            self.drain(&std::array::from_fn(|i| due[i] || done[i]));
            if !due.contains(&true) {
                return;
            }
            let aside = self.k.len() - 1;
            let t = self.t;
            let failed = self.evaluate(&t, State::Now, aside);
            self.lose(failed);
            // A state evaluated here needs no first stage later.
            let new = std::array::from_fn(|i| self.lanes[i].as_ref().is_some_and(|l| !l.begun));
            self.arrive(&new, Some(aside));
            for i in 0..LANES {
                if !due[i] || self.lost[i] {
                    continue;
                }
                let work = self.y[2 * self.kernel.form.columns][i];
                let Some(lane) = &mut self.lanes[i] else { continue };
                let at = lane.case.times[lane.next];
                lane.next += 1;
                let rows = (&mut self.row, &mut self.warnings);
                self.lost[i] |= !lane.case.record(&self.kernel, i, at, work, lane.observer, rows);
            }
        }
    }
}

/// The states to evaluate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Now,
    Trial,
}

/// Explicit methods, with the same error estimates and step size control as in separate runs.
impl Lanes<'_, '_> {
    /// Error norms of coordinates and speeds in metres, the largest in each lane.
    fn sizes(&self, d: &[Row]) -> Row {
        let n = self.kernel.form.columns;
        let (mut length, mut tau) = ([1.0; LANES], [1.0; LANES]);
        for (i, lane) in self.lanes.iter().enumerate() {
            if let Some(lane) = lane {
                (length[i], tau[i]) = (lane.case.model.length, lane.case.tau);
            }
        }
        let mut worst = ZERO;
        for c in 0..n {
            let slides = self.kernel.form.slides[c];
            for i in 0..LANES {
                let unit = if slides { 1.0 } else { length[i] };
                let (a, b) = (d[c][i].abs(), tau[i] * d[n + c][i].abs());
                let x = unit * if a >= b { a } else { b };
                // NaN must count.
                worst[i] = if x <= worst[i] { worst[i] } else { x };
            }
        }
        worst
    }

    /// First steps from the norms of the derivative and of its change.
    fn first_steps(&mut self, tableau: &Tableau, new: &[bool; LANES]) {
        let order = order_of(tableau);
        let chosen: [bool; LANES] = std::array::from_fn(|i| new[i] && self.lanes[i].as_ref().is_some_and(|l| l.h == 0.0));
        if !chosen.contains(&true) {
            return;
        }
        let aside = self.k.len() - 1;
        let d1 = self.sizes(&self.k[0]);
        let (mut h, mut t) = (ZERO, self.t);
        for i in (0..LANES).filter(|i| chosen[*i]) {
            let Some(lane) = &self.lanes[i] else { continue };
            let span = SPAN * lane.case.tau;
            h[i] = if d1[i] > 0.0 { (0.01 * lane.case.model.length / d1[i]).min(0.01 * span) } else { 1e-3 * span };
            t[i] += h[i];
        }
        for k in 0..self.y.len() {
            for i in 0..LANES {
                self.trial[k][i] = self.y[k][i] + h[i] * self.k[0][k][i];
            }
        }
        // A failed step is rejected when it is tried.
        let _ = self.evaluate(&t, State::Trial, aside);
        for k in 0..self.y.len() {
            for i in 0..LANES {
                self.scratch[k][i] = self.k[aside][k][i] - self.k[0][k][i];
            }
        }
        let change = self.sizes(&self.scratch);
        for i in (0..LANES).filter(|i| chosen[*i]) {
            let Some(lane) = &mut self.lanes[i] else { continue };
            let most = d1[i].max(change[i] / h[i]);
            let span = SPAN * lane.case.tau;
            let guess = if most > 0.0 { elementary::powf(0.01 * lane.case.tol / most, 1.0 / (order + 1.0)) } else { 1e-3 * span };
            lane.h = guess.min(100.0 * h[i]).min(0.1 * span).max(10.0 * SMALLEST * lane.case.tau);
        }
    }

    /// Sizes of the next steps; zero for empty lanes.
    fn next_steps(&mut self) -> Row {
        let mut h = ZERO;
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            let Some(lane) = lane else { continue };
            let (t, times) = (self.t[i], &lane.case.times);
            h[i] = match lane.case.fixed {
                // Fixed steps land on output times.
                Some(nominal) => {
                    let left = times.get(lane.next).map_or(nominal, |next| next - t);
                    left / (left / nominal - 1e-6).ceil().max(1.0)
                }
                None => {
                    let left = lane.case.end(t) - t;
                    if lane.h >= left * (1.0 - 1e-9) { left } else { lane.h }
                }
            };
            lane.tried = h[i];
        }
        h
    }

    /// Tries one step in every lane.
    fn explicit(&mut self, tableau: &'static Tableau) {
        let h = self.next_steps();
        let rows = tableau.a.len();
        let mut failed = [false; LANES];
        for (row, weights) in tableau.a.iter().enumerate() {
            self.kernel.combine(&self.k, weights, &h, &mut self.scratch);
            for ((x, y), d) in self.trial.iter_mut().zip(&self.y).zip(&self.scratch) {
                for i in 0..LANES {
                    x[i] = y[i] + d[i];
                }
            }
            if row + 1 < rows || tableau.same_last {
                let t = std::array::from_fn(|i| self.t[i] + self.nodes[row + 1] * h[i]);
                let now = self.evaluate(&t, State::Trial, row + 1);
                (0..LANES).for_each(|i| failed[i] |= now[i]);
            }
        }
        // `scratch` contains the increment of the step.
        std::mem::swap(&mut self.step, &mut self.scratch);
        let errors = self.errors(tableau, &h);
        let (n, order) = (self.kernel.form.columns, order_of(tableau));
        let mut taken = [false; LANES];
        for i in 0..LANES {
            let Some(lane) = &mut self.lanes[i] else { continue };
            if self.lost[i] {
                continue;
            }
            let turned = (0..n).filter(|c| !self.kernel.form.slides[*c]).fold(0.0_f64, |m, c| m.max(self.step[c][i].abs()));
            let moved = (0..=2 * n).map(|k| self.step[k][i]).sum::<f64>();
            if lane.case.fixed.is_some() {
                // A failing fixed step can be subdivided only in a separate run.
                self.lost[i] = failed[i] || !moved.is_finite() || turned >= largest_turn(lane.case.model);
                taken[i] = !self.lost[i];
                continue;
            }
            let error = if failed[i] { f64::INFINITY } else { errors[i] };
            if !(error <= 1.0) || turned >= largest_turn(lane.case.model) {
                let factor = match error {
                    e if e > 1.0 && e.is_finite() => (0.9 * elementary::powf(e, -1.0 / (order + 1.0))).clamp(0.1, 0.9),
                    e if e.is_finite() => 0.5,
                    _ if failed[i] => 0.5,
                    _ => 0.25,
                };
                lane.h = factor * h[i];
                lane.refused = true;
                self.lost[i] = lane.h < lane.case.least(self.t[i]);
                continue;
            }
            taken[i] = true;
            let beta = if order > 6.0 { 0.0 } else { 0.04 };
            let error = error.max(1e-10);
            let grown = elementary::powf(error, -(1.0 / (order + 1.0) - 0.75 * beta)) * elementary::powf(lane.last_error, beta);
            let factor = (0.9 * grown).clamp(0.2, 6.0);
            lane.last_error = error.max(1e-4);
            let factor = if lane.refused { factor.min(1.0) } else { factor };
            lane.refused = false;
            // A step shortened to reach a given time tells nothing about the usual size.
            if h[i] >= lane.h {
                lane.h = h[i] * factor;
            }
        }
        self.take(tableau, &h, &taken);
    }

    /// Accepts the steps of some lanes.
    fn take(&mut self, tableau: &Tableau, h: &Row, taken: &[bool; LANES]) {
        for k in 0..self.y.len() {
            for i in 0..LANES {
                if taken[i] {
                    self.y_n[k][i] = self.y[k][i];
                    self.y[k][i] = self.trial[k][i];
                }
            }
        }
        for i in (0..LANES).filter(|i| taken[*i]) {
            let Some(lane) = &mut self.lanes[i] else { continue };
            (lane.t_n, lane.h_n) = (self.t[i], h[i]);
            lane.steps += 1;
            lane.begun = false;
            let reached = self.t[i] + h[i];
            // Given times are reached exactly.
            let end = match lane.case.fixed {
                Some(_) => lane.case.times.get(lane.next).copied(),
                None => Some(lane.case.end(self.t[i])),
            };
            let nominal = lane.case.fixed.unwrap_or(h[i]);
            self.t[i] = end.filter(|end| (end - reached).abs() <= 1e-9 * nominal).unwrap_or(reached);
        }
        if tableau.same_last {
            // The ends of the steps were evaluated last.
            self.arrive(taken, None);
            for i in (0..LANES).filter(|i| taken[*i]) {
                if let Some(lane) = &mut self.lanes[i] {
                    lane.fresh = true;
                }
            }
        }
    }

    /// Errors of the steps relative to the tolerances.
    fn errors(&mut self, tableau: &Tableau, h: &Row) -> Row {
        let mut sizes = |weights: Weights| {
            self.kernel.combine(&self.k, weights, h, &mut self.scratch);
            self.sizes_with_work(tableau, h)
        };
        let mut out = match tableau.error {
            Estimate::None => ZERO,
            Estimate::One { e, .. } => sizes(e),
            Estimate::Two { e, coarse, .. } => {
                let (fine, coarse) = (sizes(e), sizes(coarse));
                std::array::from_fn(|i| combined_error(fine[i], coarse[i]))
            }
        };
        for (i, x) in out.iter_mut().enumerate() {
            let tol = self.lanes[i].as_ref().map_or(1.0, |l| l.case.tol);
            *x = if x.is_finite() { tableau.caution * *x / tol } else { f64::INFINITY };
        }
        out
    }

    /// Norms of the errors in `scratch`, including that of work with its weight.
    fn sizes_with_work(&self, tableau: &Tableau, h: &Row) -> Row {
        let mut out = self.sizes(&self.scratch);
        if !self.kernel.form.worked {
            return out;
        }
        let last = self.y.len() - 1;
        for (i, lane) in self.lanes.iter().enumerate() {
            let Some(lane) = lane else { continue };
            let of_step = (0..tableau.a.len()).fold(0.0_f64, |m, s| m.max(self.k[s][last][i].abs())) * h[i];
            let work = of_step + self.y[last][i].abs() + lane.case.little;
            let length = lane.case.model.length;
            let unknown = of_step * POWER[0].min(POWER[1] * lane.case.tol / length);
            let of_work = WORK * length * (self.scratch[last][i].abs() - unknown) / work;
            if of_work > out[i] {
                out[i] = of_work;
            }
        }
        out
    }
}

/// The order used in step size control.
fn order_of(tableau: &Tableau) -> f64 {
    match tableau.error {
        Estimate::One { order, .. } | Estimate::Two { order, .. } => order as f64,
        Estimate::None => tableau.order as f64,
    }
}
