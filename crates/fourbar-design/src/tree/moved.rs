//! Motion of a tree by explicit steps over any scalar; step sizes depend on values only, not on derivatives.

use super::Tree;
use fourbar::integrator::first_order::{Estimate, Tableau, Weights, combined_error};
use fourbar::stop;
use fourbar_math::Scalar;

/// Maximum number of steps.
const MOST: usize = 10_000_000;

/// Rates that drive a tree.
pub trait Rates<T> {
    /// Rates of the speeds at a time, from coordinates and speeds.
    fn rates(&mut self, t: f64, q: &[T], u: &[T], du: &mut [T]);
}

/// States stored for the backward pass: all of them, or every second, fourth and so on where they are many.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Start time and size of each step.
    pub steps: Vec<(f64, f64)>,
    /// Number of steps between stored states.
    pub every: usize,
    /// Length of a state, and maximum length of all stored states.
    size: usize,
    most: usize,
    states: Vec<f64>,
}

impl Kept {
    /// Empty storage for states of length `size`, with at most `most` numbers in all.
    pub fn new(size: usize, most: usize) -> Self {
        Self { steps: Vec::new(), every: 1, size, most: most.max(4 * size), states: Vec::new() }
    }

    /// A stored state.
    pub fn state(&self, place: usize) -> &[f64] {
        &self.states[place * self.size..(place + 1) * self.size]
    }

    /// Count of stored numbers.
    pub fn numbers(&self) -> usize {
        self.states.len()
    }

    /// Records a step from a state.
    pub fn step(&mut self, t: f64, h: f64, y: impl Iterator<Item = f64>) {
        if self.steps.len().is_multiple_of(self.every) {
            if self.states.len() + self.size > self.most {
                let half = (self.states.len() / self.size).div_ceil(2);
                for k in 0..half {
                    self.states.copy_within(2 * k * self.size..(2 * k + 1) * self.size, k * self.size);
                }
                self.states.truncate(half * self.size);
                self.every *= 2;
            }
            if self.steps.len().is_multiple_of(self.every) {
                self.states.extend(y);
            }
        }
        self.steps.push((t, h));
    }
}

/// A tree with its state, moved by an explicit method.
pub struct Moved<T: Scalar, R: Rates<T>> {
    pub rates: R,
    /// Number of coordinates.
    n: usize,
    tableau: &'static Tableau,
    /// Time; coordinates and speeds.
    pub t: f64,
    pub y: Vec<T>,
    next: Vec<T>,
    stages: Vec<Vec<T>>,
    nodes: Vec<f64>,
    /// Length scales of the columns: one for slides, the size of the mechanism for hinges.
    sizes: Vec<f64>,
    h: f64,
    /// Whether the first stage has been evaluated at the current state.
    begun: bool,
    /// Evaluations so far.
    pub evaluations: usize,
    /// States stored for the backward pass, if there is one.
    pub kept: Option<Kept>,
}

/// Nodes of the stages of a method, as fractions of a step.
pub fn places(tableau: &Tableau) -> Vec<f64> {
    let sum = |w: &Weights| w.iter().map(|(_, x)| x).sum::<f64>();
    std::iter::once(0.0).chain(tableau.a.iter().map(sum)).collect()
}

impl<T: Scalar, R: Rates<T>> Moved<T, R> {
    /// Starts from a state with a method.
    pub fn new(tree: &Tree, rates: R, start: &[T], tableau: &'static Tableau, t: f64, length: f64) -> Self {
        let nodes = places(tableau);
        let mut sizes = vec![length; tree.size];
        for n in tree.nodes.iter().filter(|n| n.joint == super::kernel::Joint::Slide) {
            sizes[n.column] = 1.0;
        }
        Self {
            rates,
            n: tree.size,
            stages: vec![vec![T::zero(); 2 * tree.size]; nodes.len()],
            nodes,
            next: start.to_vec(),
            y: start.to_vec(),
            h: 0.0,
            begun: false,
            sizes,
            tableau,
            t,
            evaluations: 0,
            kept: None,
        }
    }

    /// Evaluates the rates of coordinates and speeds at a state into a stage.
    #[inline(always)]
    fn evaluate(&mut self, t: f64, stage: usize, of_next: bool) {
        self.evaluations += 1;
        let y = if of_next { &self.next } else { &self.y };
        let (q, u) = y.split_at(self.n);
        let (dq, du) = self.stages[stage].split_at_mut(self.n);
        dq.copy_from_slice(u);
        self.rates.rates(t, q, u, du);
    }

    /// Evaluates all stages of a step; its end is in `next`.
    fn attempt(&mut self, h: f64) {
        let Tableau { a, .. } = *self.tableau;
        for (s, weights) in a.iter().enumerate() {
            for i in 0..self.y.len() {
                let mut x = self.y[i];
                for &(j, w) in *weights {
                    x += self.stages[j][i] * (w * h);
                }
                self.next[i] = x;
            }
            if s + 1 < a.len() || self.tableau.same_last {
                self.evaluate(self.t + self.nodes[s + 1] * h, s + 1, true);
            }
        }
    }

    /// Evaluates the first stage of a step unless the last stage of the previous step provides it.
    fn begin(&mut self) {
        if !self.begun {
            self.evaluate(self.t, 0, false);
            self.begun = true;
        }
    }

    /// Makes the end of a step the current state.
    fn accept(&mut self, t: f64, h: f64) {
        if let Some(kept) = &mut self.kept {
            kept.step(self.t, h, self.y.iter().map(|y| y.value()));
        }
        std::mem::swap(&mut self.y, &mut self.next);
        self.t = t;
        self.begun = self.tableau.same_last;
        if self.begun {
            let last = self.stages.len() - 1;
            self.stages.swap(0, last);
        }
    }

    /// Takes a number of steps of fixed size.
    pub fn fixed(&mut self, h: f64, steps: usize) {
        for _ in 0..steps {
            self.begin();
            self.attempt(h);
            self.accept(self.t + h, h);
        }
    }

    /// Norm of an error estimate: lengths, with speeds multiplied by a time scale.
    fn size(&self, weights: Weights, h: f64) -> f64 {
        let n = self.n;
        let fastest = (0..n).fold(1e-3_f64, |m, i| m.max(self.y[n + i].value().abs()));
        let error = |i: usize| weights.iter().map(|&(j, w)| w * self.stages[j][i].value()).sum::<f64>() * h;
        (0..n).fold(0.0_f64, |m, i| m.max((self.sizes[i] * error(i)).abs()).max((self.sizes[i] * error(n + i) / fastest).abs()))
    }

    /// Integrates to a time with the error of each step below a tolerance, in lengths; `false` if steps become too small or too many.
    pub fn to(&mut self, t: f64, tolerance: f64) -> bool {
        let mut count = 0;
        let order = self.tableau.order as f64;
        if self.h == 0.0 {
            self.h = 1e-3 * (t - self.t);
        }
        while self.t < t {
            self.begin();
            let left = t - self.t;
            // The last two steps share the remaining interval.
            let h = if self.h >= left { left } else { self.h.min(0.5 * left.max(self.h)) };
            self.attempt(h);
            let error = match self.tableau.error {
                Estimate::None => 0.0,
                Estimate::One { e, .. } => self.size(e, h),
                Estimate::Two { e, coarse, .. } => combined_error(self.size(e, h), self.size(coarse, h)),
            };
            let factor = 0.9 * (tolerance / error.max(1e-300)).powf(1.0 / order);
            count += 1;
            if error <= tolerance {
                self.accept(if h == left { t } else { self.t + h }, h);
                let grown = h * factor.clamp(0.2, 5.0);
                // A step cut short by the end of the interval tells little about the next step size.
                self.h = if h < self.h { self.h.max(grown) } else { grown };
            } else if error.is_finite() {
                self.h = h * factor.clamp(0.1, 0.9);
            } else {
                self.h = 0.1 * h;
            }
            if self.h < 1e-14 * t.abs().max(1e-9) || count > MOST || stop::told() {
                return false;
            }
        }
        true
    }
}
