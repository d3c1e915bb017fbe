//! One case: the mechanism for some values, its study, its measures; or why there are none.

use crate::equilibrium::start_settled;
use fourbar::expr::Dimension;
use fourbar::study::{Analysis, Failed, Observer, Study, run};
use fourbar::trajectory::{Column, WantedColumns};
use fourbar::{Diagnostic, Error, Model, Trajectory};
use fourbar_batch::Ended;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With its measures.
    Ok,
    /// The numbers of the case make no mechanism: a square root of a negative number, a mass below zero.
    NotBuilt,
    /// The mechanism cannot be closed, at its start or on its way.
    NotAssembled,
    /// It failed on its way, or a measure could not be taken.
    Failed,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ok, Self::NotBuilt, Self::NotAssembled, Self::Failed];

    /// Its word in tables.
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

    /// What a failure of an analysis means: joints that do not close, or something else.
    pub fn of_failure(d: &Diagnostic) -> Self {
        match d.code.0 {
            // Assembly, and drives or joints that cannot be followed further.
            "S210" | "S211" | "S212" | "S220" => Self::NotAssembled,
            code if code.starts_with('M') => Self::NotBuilt,
            _ => Self::Failed,
        }
    }
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// The measures in their order; not a number where there are none.
    pub measures: Vec<f64>,
    /// Why there are none: code, message, names of joints, time.
    pub problem: Option<Diagnostic>,
}

impl Outcome {
    /// A case that failed, of so many measures.
    pub fn failure(d: Diagnostic, status: Status, measures: usize) -> Self {
        Self { status, measures: vec![f64::NAN; measures], problem: Some(d) }
    }
}

/// Names, SI values and dimensions of the parameters of a file.
pub type Parameters = Vec<(String, f64, Option<Dimension>)>;
/// The mechanism of given values of the varied parameters, in SI and in the order of the axes, and all parameters as they are then.
pub type Build<'a> = dyn Fn(&[f64]) -> Result<(Model, Parameters), Error> + Sync + 'a;
/// The settings of a run of a mechanism.
pub type Settings<'a> = dyn Fn(&Model) -> Result<Study, Diagnostic> + Sync + 'a;
/// Measures of a run of a mechanism, in their order, or why one of them has no value.
pub type Take<'a> = dyn Fn(&Model, &Parameters, &Trajectory) -> Vec<Result<f64, Diagnostic>> + Sync + 'a;

/// What is done for every case.
pub struct Sweep<'a> {
    /// Makes the mechanism of a case.
    pub build: &'a Build<'a>,
    /// Its study.
    pub settings: &'a Settings<'a>,
    /// Takes the measures.
    pub take: &'a Take<'a>,
    /// How many measures there are.
    pub measures: usize,
    /// Columns that are kept, by their places among all columns of the mechanism, the time first.
    pub columns: Vec<usize>,
    /// What these columns need.
    pub wanted: WantedColumns,
    /// Whether cases run together where they can: studies that name no formulation then move in joint coordinates.
    pub together: bool,
    /// Set from outside to end everything.
    pub stop: &'a AtomicBool,
}

impl Sweep<'_> {
    /// Runs a case; `None` where it was stopped before its end. The rows are those of the columns that are kept, up to a failure.
    pub fn run(&self, values: &[f64]) -> Option<(Outcome, Trajectory)> {
        // One case that ends in a fault of the program must not take the others with it.
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

    /// The mechanism of a case with its parameters and its study, or why there is none.
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

    /// Runs a mechanism by itself.
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
        // A measure without a value leaves the others theirs.
        let problem = taken.iter().find_map(|m| m.as_ref().err().cloned());
        let status = if problem.is_some() { Status::Failed } else { Status::Ok };
        let measures = taken.into_iter().map(|m| m.unwrap_or(f64::NAN)).collect();
        (Outcome { status, measures, problem }, kept)
    }

    /// Runs cases together in the lanes of the processor (see the crate `fourbar-batch`), and those alone that cannot share a batch or fall out
    /// of it; why is told for each. What a case gives does not depend on the others.
    pub fn run_together(&self, list: &[Vec<f64>]) -> Vec<Shared> {
        let shared = catch_unwind(AssertUnwindSafe(|| self.share(list)));
        // Alone, a case that ends in a fault of the program does not take the others with it.
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
                    // A model that a lane has moved is as it was: only drives remember, and each case has its own.
                    let result = catch_unwind(AssertUnwindSafe(|| self.alone(&model, &parameters, &study)));
                    Shared { result: result.unwrap_or_else(|_| self.run(values)), alone: Some(why) }
                }
                None => Shared { result: self.run(values), alone: None },
            });
        }
        shared
    }
}

/// A case of several that ran together.
#[derive(Clone, Debug)]
pub struct Shared {
    /// What [`Sweep::run`] gives.
    pub result: Option<(Outcome, Trajectory)>,
    /// Why it was run alone, where it was.
    pub alone: Option<String>,
}

/// The study with the method of batches where nobody chose another: joint coordinates and an explicit method.
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
