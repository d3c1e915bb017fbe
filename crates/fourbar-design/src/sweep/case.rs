//! One case: the mechanism for some values, its study, its measures; or why there are none.

use crate::equilibrium::start_settled;
use fourbar::expr::Dimension;
use fourbar::study::{Failed, Observer, Study, run};
use fourbar::trajectory::{Column, WantedColumns};
use fourbar::{Diagnostic, Error, Model, Trajectory};
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
/// Measures of a run, in their order.
pub type Take<'a> = dyn Fn(&Parameters, &Trajectory) -> Result<Vec<f64>, Diagnostic> + Sync + 'a;

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
    /// Set from outside to end everything.
    pub stop: &'a AtomicBool,
}

impl Sweep<'_> {
    /// Runs a case; `None` where it was stopped before its end. The rows are those of the columns that are kept, up to a failure.
    pub fn run(&self, values: &[f64]) -> Option<(Outcome, Trajectory)> {
        // One case that ends in a fault of the program must not take the others with it.
        let fault = |_| {
            let d = Diagnostic::new("S449", "the program met a fault of its own in this case")
                .help("the other cases are good; tell us about this one");
            Some((Outcome::failure(d, Status::Failed, self.measures), Trajectory::default()))
        };
        catch_unwind(AssertUnwindSafe(|| self.attempt(values))).unwrap_or_else(fault)
    }

    fn attempt(&self, values: &[f64]) -> Option<(Outcome, Trajectory)> {
        let lost = |d: Diagnostic, status: Status, rows: Trajectory| Some((Outcome::failure(d, status, self.measures), rows));
        let built = (self.build)(values).and_then(|(m, p)| Ok((start_settled(m)?.0, p)));
        let (model, parameters) = match built {
            Ok(built) => built,
            Err(e) => return lost(e.cause().clone(), Status::of_failure(e.cause()), Trajectory::default()),
        };
        let study = match (self.settings)(&model) {
            Ok(study) => study,
            Err(d) => return lost(d, Status::Failed, Trajectory::default()),
        };
        let mut rows = Rows { chosen: &self.columns, wanted: self.wanted, stop: self.stop, kept: Trajectory::default(), row: Vec::new() };
        let report = run(&model, &study, &mut rows);
        let kept = rows.kept;
        match report {
            Err(Failed { diagnostic, .. }) => {
                let status = Status::of_failure(&diagnostic);
                lost(*diagnostic, status, kept)
            }
            Ok(report) if report.stopped => None,
            Ok(_) => match (self.take)(&parameters, &kept) {
                Err(d) => lost(d, Status::Failed, kept),
                Ok(measures) => Some((Outcome { status: Status::Ok, measures, problem: None }, kept)),
            },
        }
    }
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
