//! Rows and steps waiting in the lanes to be evaluated together; see [`crate::between`].

use crate::passes::{LANES, Row, ZERO};

/// Maximum number of waiting rows in a lane.
pub(super) const DEPTH: usize = 4;

/// A step whose interpolant needs further stages.
#[derive(Clone, Copy, Default)]
pub(super) struct Passed {
    /// Its output times: index of the first, and their number.
    pub first: usize,
    pub count: usize,
    pub from: f64,
    pub h: f64,
}

/// Queues of all lanes.
pub(super) struct Waiting {
    /// States at output times, by position in the queue and component.
    pub states: [Vec<Row>; DEPTH],
    pub times: [Row; DEPTH],
    /// Counted angles at the ends of the steps, by position in the queue and lane.
    pub turns: [[Vec<f64>; LANES]; DEPTH],
    pub first: [usize; LANES],
    pub count: [usize; LANES],
    /// Passed steps, with their initial states, increments and stages.
    pub passed: [Passed; LANES],
    pub y_n: Vec<Row>,
    pub step: Vec<Row>,
    pub k: Vec<Vec<Row>>,
    pub turned: [Vec<f64>; LANES],
    pub sum: Vec<Row>,
}

impl Waiting {
    /// Empty queues for states of a size and a number of stages.
    pub fn new(size: usize, stages: usize) -> Self {
        let rows = || vec![ZERO; size];
        Self {
            states: std::array::from_fn(|_| rows()),
            times: [ZERO; DEPTH],
            turns: std::array::from_fn(|_| std::array::from_fn(|_| Vec::new())),
            first: [0; LANES],
            count: [0; LANES],
            passed: [Passed::default(); LANES],
            y_n: rows(),
            step: rows(),
            k: (0..stages).map(|_| rows()).collect(),
            turned: std::array::from_fn(|_| Vec::new()),
            sum: rows(),
        }
    }

    /// Resets a lane for a new case, with the given number of counted angles.
    pub fn enter(&mut self, lane: usize, turns: usize) {
        (self.count[lane], self.passed[lane]) = (0, Passed::default());
        for list in &mut self.turns {
            list[lane].resize(turns, 0.0);
        }
        self.turned[lane].resize(turns, 0.0);
    }
}
