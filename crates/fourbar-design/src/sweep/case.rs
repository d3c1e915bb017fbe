//! One case: the mechanism for given values, its study and its measures; or the reason for their absence.

use crate::equilibrium::start_settled;
use fourbar::expr::Dimension;
use fourbar::study::{Analysis, Failed, Observer, Study, run};
use fourbar::trajectory::{Column, WantedColumns};
use fourbar::{Diagnostic, Error, Model, Trajectory};
use fourbar_batch::Ended;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// The end of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Completed with its measures.
    Ok,
    /// The values of the case do not define a mechanism: a square root of a negative number, a mass below zero.
    NotBuilt,
    /// The mechanism cannot be assembled, at its start or during the motion.
    NotAssembled,
    /// The run failed, or a measure has no value.
    Failed,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Ok, Self::NotBuilt, Self::NotAssembled, Self::Failed];

    /// The word for it in tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotBuilt => "not-built",
            Self::NotAssembled => "not-assembled",
            Self::Failed => "failed",
        }
    }

    /// The status of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.word() == word)
    }

    /// The status for a failure of an analysis: joints that do not close, or something else.
    pub fn of_failure(d: &Diagnostic) -> Self {
        match d.code.0 {
            // Assembly, and drives or joints that cannot be followed any further.
            "S210" | "S211" | "S212" | "S220" => Self::NotAssembled,
            code if code.starts_with('M') => Self::NotBuilt,
            _ => Self::Failed,
        }
    }
}

/// The outcome of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its status.
    pub status: Status,
    /// The measures in order; NaN if there are none.
    pub measures: Vec<f64>,
    /// The reason for missing measures: code, message, names of joints, time.
    pub problem: Option<Diagnostic>,
}

impl Outcome {
    /// A failed case with so many measures.
    pub fn failure(d: Diagnostic, status: Status, measures: usize) -> Self {
        Self { status, measures: vec![f64::NAN; measures], problem: Some(d) }
    }
}

/// Names, SI values and dimensions of the parameters of a file.
pub type Parameters = Vec<(String, f64, Option<Dimension>)>;
/// Builds the mechanism for given values of the varied parameters, in SI units and in the order of the axes, with all resulting parameters.
pub type Build<'a> = dyn Fn(&[f64]) -> Result<(Model, Parameters), Error> + Sync + 'a;
/// The settings of a run of a mechanism.
pub type Settings<'a> = dyn Fn(&Model) -> Result<Study, Diagnostic> + Sync + 'a;
/// Measures of a run of a mechanism, in order, or the reason why one of them has no value.
pub type Take<'a> = dyn Fn(&Model, &Parameters, &Trajectory) -> Vec<Result<f64, Diagnostic>> + Sync + 'a;

/// Functions and settings for every case.
pub struct Sweep<'a> {
    /// Builds the mechanism of a case.
    pub build: &'a Build<'a>,
    /// Its study.
    pub settings: &'a Settings<'a>,
    /// Evaluates the measures.
    pub take: &'a Take<'a>,
    /// Number of measures.
    pub measures: usize,
    /// Columns that are kept, as indices among all columns of the mechanism, time first.
    pub columns: Vec<usize>,
    /// Quantities that these columns need.
    pub wanted: WantedColumns,
    /// Whether cases run together if possible: studies without a formulation then use joint coordinates.
    pub together: bool,
    /// Set from outside to end all cases.
    pub stop: &'a AtomicBool,
}

impl Sweep<'_> {
    /// Runs a case; `None` if it was stopped before its end. The rows contain the kept columns, up to a failure.
    pub fn run(&self, values: &[f64]) -> Option<(Outcome, Trajectory)> {
        // An internal error in one case must not end the others.
        let fault = |_| {
            let d = Diagnostic::new("S449", "the program had an internal error in this case")
                .help("the other cases are good; please report this one with its values");
            Some((Outcome::failure(d, Status::Failed, self.measures), Trajectory::default()))
        };
        catch_unwind(AssertUnwindSafe(|| self.attempt(values))).unwrap_or_else(fault)
    }

    fn attempt(&self, values: &[f64]) -> Option<(Outcome, Trajectory)> {
        match self.make(values) {
            Ok((model, parameters, study)) => self.alone(&model, &parameters, &study),
            Err(outcome) => Some((*outcome, Trajectory::default())),
        }
    }

    /// The mechanism of a case with its parameters and its study, or the reason for failure.
    fn make(&self, values: &[f64]) -> Result<(Model, Parameters, Study), Box<Outcome>> {
        let lost = |d: &Diagnostic, status| Box::new(Outcome::failure(d.clone(), status, self.measures));
        let built = (self.build)(values).and_then(|(m, p)| Ok((start_settled(m)?.0, p)));
        let (model, parameters) = built.map_err(|e| lost(e.cause(), Status::of_failure(e.cause())))?;
        let study = (self.settings)(&model).map_err(|d| lost(&d, Status::Failed))?;
        let study = if self.together { in_joint_coordinates(&model, study) } else { study };
        Ok((model, parameters, study))
    }

    fn rows(&self) -> Rows<'_> {
        Rows { chosen: &self.columns, wanted: self.wanted, stop: self.stop, kept: Trajectory::default(), row: Vec::new() }
    }

    /// Runs a mechanism separately.
    fn alone(&self, model: &Model, parameters: &Parameters, study: &Study) -> Option<(Outcome, Trajectory)> {
        let mut rows = self.rows();
        match run(model, study, &mut rows) {
            Err(Failed { diagnostic, .. }) => {
                let status = Status::of_failure(&diagnostic);
                Some((Outcome::failure(*diagnostic, status, self.measures), rows.kept))
            }
            Ok(report) if report.stopped => None,
            Ok(_) => Some(self.measured(model, parameters, rows.kept)),
        }
    }

    fn measured(&self, model: &Model, parameters: &Parameters, kept: Trajectory) -> (Outcome, Trajectory) {
        let taken = (self.take)(model, parameters, &kept);
        // A measure without a value does not affect the others.
        let problem = taken.iter().find_map(|m| m.as_ref().err().cloned());
        let status = if problem.is_some() { Status::Failed } else { Status::Ok };
        let measures = taken.into_iter().map(|m| m.unwrap_or(f64::NAN)).collect();
        (Outcome { status, measures, problem }, kept)
    }

    /// Runs cases together in the vector lanes of the processor (see the crate `fourbar-batch`), and separately those that cannot share a
    /// batch or drop out of it, with the reason. The result of a case does not depend on the others.
    pub fn run_together(&self, list: &[Vec<f64>]) -> Vec<Shared> {
        let shared = catch_unwind(AssertUnwindSafe(|| self.share(list)));
        // Run separately, a case with an internal error does not affect the others.
        let why = || Some("the batch had an internal error".to_string());
        shared.unwrap_or_else(|_| list.iter().map(|values| Shared { result: self.run(values), alone: why() }).collect())
    }

    fn share(&self, list: &[Vec<f64>]) -> Vec<Shared> {
        let made: Vec<_> = list.iter().map(|values| self.make(values)).collect();
        let cases: Vec<(&Model, &Study)> = made.iter().flatten().map(|(model, _, study)| (model, study)).collect();
        let mut rows: Vec<Rows<'_>> = cases.iter().map(|_| self.rows()).collect();
        let ended = fourbar_batch::run(&cases, &mut rows);
        drop(cases);
        let mut moved = ended.into_iter().zip(rows);
        let mut shared = Vec::with_capacity(list.len());
        for (made, values) in made.into_iter().zip(list) {
            let (model, parameters, study) = match made {
                Err(outcome) => {
                    shared.push(Shared { result: Some((*outcome, Trajectory::default())), alone: None });
                    continue;
                }
                Ok(made) => made,
            };
            shared.push(match moved.next() {
                Some((Ended::Well { .. }, rows)) => Shared { result: Some(self.measured(&model, &parameters, rows.kept)), alone: None },
                Some((Ended::Stopped, _)) => Shared { result: None, alone: None },
                Some((Ended::Alone(why), _)) => {
                    // A lane does not change its model: only drives have memory, and each case has its own.
                    let result = catch_unwind(AssertUnwindSafe(|| self.alone(&model, &parameters, &study)));
                    Shared { result: result.unwrap_or_else(|_| self.run(values)), alone: Some(why) }
                }
                None => Shared { result: self.run(values), alone: None },
            });
        }
        shared
    }
}

/// The result of a case run together with others.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The result, as from [`Sweep::run`].
    pub result: Option<(Outcome, Trajectory)>,
    /// The reason why it was run separately, if it was.
    pub alone: Option<String>,
}

/// The study with the default method of batches unless another is chosen: joint coordinates and an explicit method.
fn in_joint_coordinates(model: &Model, study: Study) -> Study {
    let explicit = |i: &str| ["dopri5", "dop853", "rk4"].iter().any(|e| e.eq_ignore_ascii_case(i));
    if !study.is_auto() || study.analysis == Some(Analysis::Kinematics) || study.integrator.as_deref().is_some_and(|i| !explicit(i)) {
        return study;
    }
    let chosen = study.chosen(model).ok().filter(|c| c.formulation.name == "grcr" && explicit(c.integrator)).map(|c| c.integrator);
    let usual = if study.step.is_some() { "rk4" } else { "dopri5" };
    let integrator = study.integrator.clone().unwrap_or_else(|| chosen.unwrap_or(usual).into());
    Study { formulation: Some("grcr".into()), integrator: Some(integrator), ..study }
}

/// Keeps some columns of a run.
struct Rows<'a> {
    chosen: &'a [usize],
    wanted: WantedColumns,
    stop: &'a AtomicBool,
    kept: Trajectory,
    row: Vec<f64>,
}

impl Observer for Rows<'_> {
    fn begin(&mut self, columns: &[Column]) {
        self.kept = Trajectory::new(self.chosen.iter().filter_map(|&k| columns.get(k).cloned()).collect());
    }
    fn wants(&self) -> WantedColumns {
        self.wanted
    }
    fn row(&mut self, row: &[f64]) {
        self.row.clear();
        self.row.extend(self.chosen.iter().filter_map(|&k| row.get(k)));
        self.kept.push(&self.row);
    }
    fn go_on(&mut self, _t: f64, _t_end: f64) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}
