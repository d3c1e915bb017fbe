//! Times of single fronts, from which the time on more processors than available can be estimated.

use super::solver::{Solver, State};
use super::sweep::{Job, Load};
use std::time::Instant;

/// Times of a front, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrontTime {
    /// Up, with its rows, assembly and factorisation.
    pub factor: f64,
    /// Up, with another right-hand side.
    pub up: f64,
    /// Down.
    pub down: f64,
}

impl<const B: usize> Solver<'_, B> {
    /// Times of all fronts in an acceleration, the shortest of `runs`, minus the overhead of the clock.
    pub fn front_times(&mut self, s: &State<'_>, runs: usize) -> Vec<FrontTime> {
        let clock = (0..1000).map(|_| Instant::now().elapsed().as_secs_f64()).fold(f64::INFINITY, f64::min);
        let fronts = self.layout.fronts.len();
        let mut best = vec![FrontTime { factor: f64::INFINITY, up: f64::INFINITY, down: f64::INFINITY }; fronts];
        let note = |best: &mut f64, started: Instant| *best = best.min((started.elapsed().as_secs_f64() - clock).max(0.0));
        let first = Job { jacobian: true, factor: true, load: Load::Acceleration, reset: true, rows_only: false };
        // Discards the factors of another pose.
        let mut none = vec![crate::state::Twist::zero(); s.q.len()];
        self.accelerate(s, false, &mut none);
        let (shared, mut work) = self.parts(s);
        for _ in 0..runs {
            for job in [&first, &Self::AGAIN] {
                for (k, best) in best.iter_mut().enumerate() {
                    let started = Instant::now();
                    shared.rise::<B>(k, &mut work, job);
                    note(if job.factor { &mut best.factor } else { &mut best.up }, started);
                }
                for (k, best) in best.iter_mut().enumerate().rev() {
                    let started = Instant::now();
                    shared.sink::<B>(k, &mut work, None, false);
                    note(&mut best.down, started);
                }
            }
        }
        best
    }
}
