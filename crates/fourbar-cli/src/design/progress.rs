//! Progress bar for many cases.

use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// A bar that appears if the work takes long.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    wanted: bool,
    started: Instant,
    /// Number of cases in total, and finished so far.
    total: u64,
    done: u64,
}

impl Progress {
    /// A bar for the given number of cases.
    pub fn new(screen: &Screen, total: usize) -> Self {
        let wanted = !screen.json && !screen.quiet && std::io::stderr().is_terminal();
        Self { bar: None, wanted, started: Instant::now(), total: total as u64, done: 0 }
    }

    /// Counts a finished case; `what` is shown next to the bar.
    pub fn step(&mut self, what: impl FnOnce() -> String) {
        self.done += 1;
        if !self.wanted || self.started.elapsed() < PATIENCE {
            return;
        }
        let total = self.total;
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of {len}  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_position(self.done);
        bar.set_message(what());
    }

    /// Removes the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}
