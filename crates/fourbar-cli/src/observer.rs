//! Observes a run: writes its rows, shows the progress, collects data for the summary, stops it on Ctrl-C.

use crate::gather::Gather;
use crate::stop::INTERRUPTED;
use crate::telling::Preview;
use fourbar::Diagnostic;
use fourbar::study::Observer;
use fourbar::trajectory::{Column, WantedColumns};
use fourbar_io::results::{Checkpoint, Claim, CsvWriter, ResultFolder, Totals, Watched, write_checkpoint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time that an interrupted run may take until its next state.
const PATIENT: Duration = Duration::from_millis(300);
/// Longest time between checkpoints; it is shorter early in a run.
const EVERY: Duration = Duration::from_secs(5);
/// Shortest time between checkpoints.
const SOONEST: Duration = Duration::from_millis(200);
/// Checkpoints with a state take at most one part in `SHARE` of the time; before the first, the cost per column is assumed.
const SHARE: u32 = 20;
const PER_COLUMN: Duration = Duration::from_micros(3);
/// Shorter runs show no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Destination of rows and checkpoints.
#[derive(Debug)]
pub struct Output {
    /// The folder.
    pub folder: ResultFolder,
    /// Writer of the trajectory.
    pub writer: CsvWriter,
    /// The checkpoint without its state.
    pub template: Checkpoint,
    /// Whether the checkpoint on disk has a state to continue from.
    pub has_state: bool,
}

/// Destination of rows until the first one. Nothing is written before, so that a run that cannot start changes nothing.
#[derive(Debug)]
pub struct Planned<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// The request to write there.
    pub claim: Claim<'a>,
    /// All columns.
    pub columns: &'a [Column],
    /// Indices of the columns that are written.
    pub chosen: Vec<usize>,
    /// The checkpoint without its state.
    pub template: Checkpoint,
    /// Number of rows of the continued trajectory, and their length in bytes.
    pub continued: Option<(usize, u64)>,
}

impl Planned<'_> {
    /// Claims the folder and opens the trajectory.
    fn open(self) -> Result<Output, Diagnostic> {
        let mut folder = ResultFolder::open(self.folder, &self.claim)?;
        let writer = match self.continued {
            Some((rows, length)) => {
                folder.take_back()?;
                CsvWriter::resume(&folder.rows(), self.chosen, rows, length)
            }
            None => CsvWriter::create(&folder.rows(), self.columns, self.chosen).inspect_err(|_| folder.abandon()),
        };
        Ok(Output { writer: writer?, folder, template: self.template, has_state: self.continued.is_some() })
    }
}

/// The observer of the command line.
#[derive(Debug)]
pub struct Watcher<'a> {
    /// Destination before the first row.
    planned: Option<Planned<'a>>,
    /// Destination of rows, if any.
    pub output: Option<Output>,
    /// Totals for the summary.
    pub totals: Totals,
    /// Data for the picture.
    pub preview: Preview,
    /// All rows, if a page is requested.
    pub gather: Option<Gather>,
    /// Quantities needed for the chosen columns.
    pub wanted: WantedColumns,
    /// Error of writing.
    pub problem: Option<Diagnostic>,
    /// Rows up to this time are already written.
    pub skip: Option<f64>,
    /// All columns.
    columns: &'a [Column],
    /// Columns of energies and errors.
    watched: Watched,
    started: Instant,
    last_checkpoint: Instant,
    /// Duration of a checkpoint: that of the last one with a state, before it an estimate.
    cost: Duration,
    /// Whether the analysis provides states to continue from.
    offered: bool,
    /// Rows since the last stored state.
    since: usize,
    last_t: f64,
    /// Time of the interrupt.
    interrupted: Option<Instant>,
    bar: Option<ProgressBar>,
    show_bar: bool,
}

impl<'a> Watcher<'a> {
    /// An observer of rows with these columns.
    pub fn new(columns: &'a [Column], preview: Preview, planned: Option<Planned<'a>>, show_bar: bool) -> Self {
        let now = Instant::now();
        Self {
            planned,
            output: None,
            totals: Totals::default(),
            preview,
            gather: None,
            wanted: WantedColumns::ALL,
            problem: None,
            skip: None,
            columns,
            cost: PER_COLUMN * columns.len() as u32,
            watched: Watched::of(columns),
            started: now,
            last_checkpoint: now,
            offered: false,
            since: 0,
            last_t: f64::NEG_INFINITY,
            interrupted: None,
            bar: None,
            show_bar,
        }
    }

    /// Computing time of this part of the run.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Claims the folder of the results, unless there is none or this is done; the files needed to repeat the run are written first.
    pub fn open(&mut self) {
        let Some(planned) = self.planned.take() else { return };
        let fresh = planned.continued.is_none();
        match planned.open() {
            Ok(output) => {
                self.output = Some(output);
                if fresh {
                    self.keep(None);
                }
            }
            Err(d) => self.note(Err(d)),
        }
    }

    /// Writes the remaining rows and removes the progress bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
        let flushed = self.output.as_mut().map_or(Ok(()), |o| o.writer.flush());
        self.note(flushed);
    }

    fn note(&mut self, outcome: Result<(), Diagnostic>) {
        if let Err(d) = outcome {
            self.problem.get_or_insert(d);
        }
    }

    /// Stores a checkpoint with a state to continue from.
    pub fn keep(&mut self, state: Option<String>) {
        let elapsed = self.elapsed();
        let (totals, t) = (self.totals, self.last_t);
        let Some(o) = self.output.as_mut() else { return };
        let kept = o.writer.flush().and_then(|()| {
            let mut c = o.template.clone();
            c.rows = o.writer.rows();
            // Before the first row the time is not finite, which JSON cannot express.
            c.t = if t.is_finite() { t } else { 0.0 };
            c.wall_time += elapsed;
            c.totals = serde_json::to_value(totals).unwrap_or_default();
            o.has_state |= state.is_some();
            c.state = state;
            write_checkpoint(o.folder.path(), &c)
        });
        self.note(kept);
        self.last_checkpoint = Instant::now();
        self.since = 0;
    }

    /// Whether the next checkpoint is due.
    fn due(&self) -> bool {
        self.last_checkpoint.elapsed() >= (self.started.elapsed() / 4).clamp(SOONEST, EVERY).max(SHARE * self.cost)
    }

    fn progress(&mut self, t: f64, t_end: f64) {
        if !self.show_bar || self.started.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position((1000.0 * t / t_end).clamp(0.0, 1000.0) as u64);
        bar.set_message(format!("t = {t:.4} of {t_end} s"));
    }
}

impl Observer for Watcher<'_> {
    fn begin(&mut self, _columns: &[Column]) {}

    fn wants(&self) -> WantedColumns {
        if self.gather.is_some() { WantedColumns::ALL } else { self.wanted }
    }

    fn row(&mut self, row: &[f64]) {
        if self.skip.is_some_and(|t| row[0] <= t) {
            return;
        }
        // A row that is not finite must not be stored as a result.
        if let Some(k) = row.iter().position(|x| !x.is_finite()) {
            let column = self.columns.get(k).map_or("a column", |c| c.name.as_str());
            let d = Diagnostic::new("S250", format!("at t = {:.6} s `{column}` is not a finite number", row[0])).time(row[0]);
            self.note(Err(d.help("the rows before are good; try a smaller step or tolerance, and please report the mechanism")));
            return;
        }
        self.open();
        self.totals.add(&self.watched, row);
        self.since += 1;
        self.last_t = row[0];
        self.preview.row(row);
        if let Some(g) = &mut self.gather {
            g.row(row);
        }
        let written = self.output.as_mut().map_or(Ok(()), |o| o.writer.row(row));
        self.note(written);
    }

    fn go_on(&mut self, t: f64, t_end: f64) -> bool {
        self.progress(t, t_end);
        let flushed = self.output.as_mut().map_or(Ok(()), |o| o.writer.flush_if_due());
        self.note(flushed);
        // An analysis without states is repeated from the beginning when continued.
        if !self.offered && self.output.is_some() && self.due() {
            self.keep(None);
        }
        if self.problem.is_some() {
            return false;
        }
        if !INTERRUPTED.load(Ordering::Relaxed) {
            return true;
        }
        // Waits for one more state, so that nothing is computed twice, but not for long.
        let since = *self.interrupted.get_or_insert_with(Instant::now);
        self.output.is_some() && self.offered && self.since > 0 && since.elapsed() < PATIENT
    }

    fn checkpoint(&mut self, state: &dyn Fn() -> String) {
        self.offered = true;
        if self.output.is_some() && (INTERRUPTED.load(Ordering::Relaxed) || self.due()) {
            let begun = Instant::now();
            self.keep(Some(state()));
            self.cost = begun.elapsed();
        }
    }
}
