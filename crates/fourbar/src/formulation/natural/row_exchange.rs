//! Monitoring of the omitted rows and of those in use during the motion: steps that violate the former are rejected, and when the latter
//! become ill-conditioned other rows are chosen.

use super::run::{Moving, Run, diagnosis_of};
use super::system::LOCAL;
use crate::diagnostic::Diagnostic;
use fourbar_dae::{Integrator, Options};
use std::sync::Arc;

/// A row that was omitted may be violated by this fraction of the characteristic length, or by the tolerance if that is larger.
const VIOLATED: f64 = 1e-7;
/// The choice of rows is examined when the smallest pivot falls below this fraction of the largest pivot seen.
const WEAK: f64 = 0.1;
/// The choice is changed if another one is better conditioned by this factor.
const GAIN: f64 = 3.0;

impl Run<'_> {
    /// A step up to `end` after which the omitted rows are still satisfied, if necessary with other rows omitted.
    pub(super) fn step_with_rows_kept(&mut self, end: f64) -> Result<(), Diagnostic> {
        let before = self.integrator.t();
        let mut again = false;
        loop {
            let Self { integrator, power, work, .. } = self;
            integrator.step_within(end, |i| power.longest(i, *work)).map_err(diagnosis_of)?;
            self.now_at = f64::NAN;
            let (from, to) = self.integrator.interval();
            let (violated, row) = self.worst_left_out(to);
            if violated <= VIOLATED.max(self.options.rel / LOCAL) * self.model.length {
                self.keep_what_agrees();
                // Where part of the preceding step was taken back, its work had been counted to its end.
                if from < before {
                    self.work -= self.power.work_to(&self.integrator, before);
                }
                return Ok(());
            }
            self.coordinates_at(from);
            let x: Vec<f64> = self.x.iter().map(|x| x.c[0]).collect();
            match self.system.view().better(from, &x, &self.system.active) {
                Some((active, _)) if active != self.system.active && !again => self.change_rows(from, active)?,
                _ => return Err(self.violation(from, violated, row)),
            }
            again = true;
        }
    }

    fn violation(&self, from: f64, violated: f64, row: usize) -> Diagnostic {
        let name = &self.system.rows[row].name;
        let (what, help) = if from == self.start.t {
            (
                "the start is a singular position, where independent constraints become dependent",
                "a chain pulled straight, for example, cannot move at all; start slightly away from it",
            )
        } else {
            ("the mechanism has reached a position where its constraints change their rank", "use formulation `ra`, or stop before")
        };
        let message = format!("{what}: the row `{name}`, omitted because the others implied it, would be violated by {violated:.1e}");
        Diagnostic::new("S285", message).time(from).help(help)
    }

    /// Monitors the independence of the rows in use and chooses again where they become dependent.
    pub(super) fn watch_rows(&mut self, t: f64) -> Result<(), Diagnostic> {
        if self.system.active.iter().all(|a| *a) || self.integrator.pivot_ratio() >= WEAK * self.best_pivot {
            return Ok(());
        }
        let x: Vec<f64> = self.x.iter().map(|x| x.c[0]).collect();
        match self.system.view().better(t, &x, &self.system.active) {
            Some((active, gain)) if active != self.system.active && gain >= GAIN => self.change_rows(t, active),
            _ => Ok(()),
        }
    }

    /// The largest violation of an omitted row at a time of the last step, and its row.
    fn worst_left_out(&mut self, t: f64) -> (f64, usize) {
        if self.row_list.is_empty() {
            return (0.0, 0);
        }
        self.coordinates_at(t);
        let time = Moving { c: [t, 1.0, 0.0] };
        self.system.tape.eval(&self.row_list, time, &self.x, &mut self.known);
        let mut worst = (0.0, 0);
        for (k, r) in self.system.rows.iter().enumerate().filter(|(k, _)| !self.system.active[*k]) {
            let value = self.result(r.value).c[0].abs();
            if value > worst.0 || value.is_nan() {
                worst = (value, k);
            }
        }
        worst
    }

    /// Continues with other rows from the present state.
    fn change_rows(&mut self, t: f64, active: Vec<bool>) -> Result<(), Diagnostic> {
        let before: Vec<String> = self.system.dropped().map(String::from).collect();
        self.system.active = active;
        let after: Vec<String> = self.system.dropped().map(String::from).collect();
        self.notes.push(format!("at t = {t:.6} s other rows were omitted: {} instead of {}", after.join(", "), before.join(", ")));
        self.rechosen += 1;
        let problem = Arc::new(self.system.record().map_err(diagnosis_of)?);
        let w = self.integrator.work();
        for (sum, n) in self.steps_before.iter_mut().zip([w.steps, w.expansions, w.retries]) {
            *sum += n;
        }
        let state = self.system.state(&problem, t, self.x.iter().map(|x| [x.c[0], x.c[1]]));
        let options = Options { first_step: Some(self.integrator.last_step()), ..self.options.clone() };
        self.integrator = Integrator::new(&problem, &state, options).map_err(diagnosis_of)?;
        self.made_for = self.options.rel;
        self.best_pivot = 0.0;
        self.layout_rows(&problem);
        Ok(())
    }
}
