//! Watches a run: writes its rows, draws the progress, keeps what the summary needs, stops it on Ctrl-C.

use crate::gather::Gather;
use crate::telling::Preview;
use fourbar::Diagnostic;
use fourbar::study::Observer;
use fourbar::trajectory::Column;
use fourbar_io::results::{Checkpoint, CsvWriter, write_checkpoint};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Set by Ctrl-C.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Time between checkpoints.
const EVERY: Duration = Duration::from_secs(5);
/// Runs shorter than this show no progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the summary says about the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Rows so far.
    pub rows: usize,
    /// Largest constraint errors: position, velocity, acceleration.
    pub errors: [f64; 3],
    /// Total energy at the first row.
    pub energy_first: f64,
    /// Total energy at the last row.
    pub energy_last: f64,
    /// Smallest total energy.
    pub energy_min: f64,
    /// Largest total energy.
    pub energy_max: f64,
    /// Work at the last row, and the largest amount of work of any row.
    #[serde(default)]
    pub work: [f64; 2],
    /// Largest change of energy minus work since the first row.
    #[serde(default)]
    pub imbalance: f64,
}

/// Where rows and checkpoints go.
#[derive(Debug)]
pub struct Output {
    /// The folder.
    pub folder: PathBuf,
    /// Writer of the trajectory.
    pub writer: CsvWriter,
    /// The checkpoint without its state.
    pub template: Checkpoint,
}

/// The observer of the command line.
#[derive(Debug)]
pub struct Watcher {
    /// Where rows go, if anywhere.
    pub output: Option<Output>,
    /// What the summary says.
    pub totals: Totals,
    /// For the picture.
    pub preview: Preview,
    /// All rows, where a page is wanted.
    pub gather: Option<Gather>,
    /// Why writing failed.
    pub problem: Option<Diagnostic>,
    /// Rows up to this time are there already.
    pub skip: Option<f64>,
    /// Names of all columns.
    names: Vec<String>,
    /// Columns of the total energy, of the work and of the first error.
    energy: usize,
    work: usize,
    error: usize,
    started: Instant,
    last_checkpoint: Instant,
    /// Whether the analysis offers states to continue from.
    offered: bool,
    /// Rows since the last state that was kept.
    since: usize,
    last_t: f64,
    bar: Option<ProgressBar>,
    show_bar: bool,
}

impl Watcher {
    /// An observer of rows with these columns.
    pub fn new(columns: &[Column], preview: Preview, output: Option<Output>, show_bar: bool) -> Self {
        let now = Instant::now();
        let find = |name: &str| columns.iter().position(|c| c.name == name).unwrap_or(0);
        Self {
            output,
            totals: Totals::default(),
            preview,
            gather: None,
            problem: None,
            skip: None,
            names: columns.iter().map(|c| c.name.clone()).collect(),
            energy: find("energy.total"),
            work: find("energy.work"),
            error: find("error.position"),
            started: now,
            last_checkpoint: now,
            offered: false,
            since: 0,
            last_t: f64::NEG_INFINITY,
            bar: None,
            show_bar,
        }
    }

    /// Computing time of this part of the run.
    pub fn elapsed(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
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
            c.t = t;
            c.wall_time += elapsed;
            c.totals = serde_json::to_value(totals).unwrap_or_default();
            c.state = state;
            write_checkpoint(&o.folder, &c)
        });
        self.note(kept);
        self.last_checkpoint = Instant::now();
        self.since = 0;
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

impl Observer for Watcher {
    fn begin(&mut self, _columns: &[Column]) {}

    fn row(&mut self, row: &[f64]) {
        if self.skip.is_some_and(|t| row[0] <= t) {
            return;
        }
        // Nothing that is not a number may pass for a result.
        if let Some(k) = row.iter().position(|x| !x.is_finite()) {
            let column = self.names.get(k).map_or("a column", String::as_str);
            let d = Diagnostic::new("S250", format!("at t = {:.6} s `{column}` is not a finite number", row[0])).time(row[0]);
            self.note(Err(d.help("the rows before are good; try a smaller step or tolerance, and tell us about the mechanism")));
            return;
        }
        let e = row[self.energy];
        let n = &mut self.totals;
        if n.rows == 0 {
            (n.energy_first, n.energy_min, n.energy_max) = (e, e, e);
        }
        (n.energy_last, n.energy_min, n.energy_max) = (e, n.energy_min.min(e), n.energy_max.max(e));
        let work = row[self.work];
        n.work = [work, n.work[1].max(work.abs())];
        n.imbalance = n.imbalance.max((e - work - n.energy_first).abs());
        for k in 0..3 {
            n.errors[k] = n.errors[k].max(row[self.error + k]);
        }
        n.rows += 1;
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
        // An analysis without states of its own starts again from the beginning.
        if !self.offered && self.output.is_some() && self.last_checkpoint.elapsed() >= EVERY {
            self.keep(None);
        }
        if self.problem.is_some() {
            return false;
        }
        if !INTERRUPTED.load(Ordering::Relaxed) {
            return true;
        }
        // One more state is worth waiting for, so that nothing is computed twice.
        self.output.is_some() && self.offered && self.since > 0
    }

    fn checkpoint(&mut self, state: &dyn Fn() -> String) {
        self.offered = true;
        if self.output.is_some() && (INTERRUPTED.load(Ordering::Relaxed) || self.last_checkpoint.elapsed() >= EVERY) {
            self.keep(Some(state()));
        }
    }
}
