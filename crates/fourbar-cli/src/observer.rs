//! Observes a run: writes its rows, draws the progress, collects the data of the summary, stops it on Ctrl-C.

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

/// Time that an interrupted run may take for one more state.
const PATIENT: Duration = Duration::from_millis(300);
/// Longest time between checkpoints; young runs keep them sooner.
const EVERY: Duration = Duration::from_secs(5);
/// Shortest time between checkpoints.
const SOONEST: Duration = Duration::from_millis(200);
/// Checkpoints with a state may take this part of the time, and are assumed to take about this long per column until one has been timed.
const SHARE: u32 = 20;
const PER_COLUMN: Duration = Duration::from_micros(3);
/// Runs shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where rows and checkpoints go.
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

/// Where rows will go once there is one. Until then nothing is written, so that a run that cannot start changes nothing.
#[derive(Debug)]
pub struct Planned<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Who wants to write there.
    pub claim: Claim<'a>,
    /// All columns, and the places of those that are written.
    pub columns: &'a [Column],
    /// Places of the columns that are written.
    pub chosen: Vec<usize>,
    /// The checkpoint without its state.
    pub template: Checkpoint,
    /// Rows of the trajectory that is continued, and their length in bytes.
    pub continued: Option<(usize, u64)>,
}

impl Planned<'_> {
    /// Takes the folder and opens the trajectory.
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
    /// Where rows will go.
    planned: Option<Planned<'a>>,
    /// Where rows go, if anywhere.
    pub output: Option<Output>,
    /// What the summary says.
    pub totals: Totals,
    /// For the picture.
    pub preview: Preview,
    /// All rows, where a page is wanted.
    pub gather: Option<Gather>,
    /// What the columns chosen need.
    pub wanted: WantedColumns,
    /// Why writing failed.
    pub problem: Option<Diagnostic>,
    /// Rows up to this time are there already.
    pub skip: Option<f64>,
    /// All columns.
    columns: &'a [Column],
    /// Columns of energies and errors.
    watched: Watched,
    started: Instant,
    last_checkpoint: Instant,
    /// Time that a checkpoint takes: that of the last one with a state, before it a guess.
    cost: Duration,
    /// Whether the analysis offers states to continue from.
    offered: bool,
    /// Rows since the last state that was kept.
    since: usize,
    last_t: f64,
    /// When the interrupt was seen.
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

    /// Takes the folder of the results, where there is one that is not taken yet; what is needed to repeat the run goes there first.
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

    /// Writes what is left and takes the bar away.
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

    /// Keeps a state to continue from.
    pub fn keep(&mut self, state: Option<String>) {
        let elapsed = self.elapsed();
        let (totals, t) = (self.totals, self.last_t);
        let Some(o) = self.output.as_mut() else { return };
        let kept = o.writer.flush().and_then(|()| {
            let mut c = o.template.clone();
            c.rows = o.writer.rows();
            // Before the first row there is no time, which no number in a file can say.
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

    /// Whether it is time for another checkpoint.
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
        // Nothing that is not a number may pass for a result.
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
        // An analysis without saved states starts again from the beginning.
        if !self.offered && self.output.is_some() && self.due() {
            self.keep(None);
        }
        if self.problem.is_some() {
            return false;
        }
        if !INTERRUPTED.load(Ordering::Relaxed) {
            return true;
        }
        // One more state is worth waiting for, so that nothing is computed twice, but not for long.
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
