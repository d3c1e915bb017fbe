//! A tree in motion: explicit steps over any scalar, whose sizes are decided by values alone.

use super::Tree;
use super::kernel::{Kernel, cross};
use fourbar::Model;
use fourbar::coordinate::PoseOf;
use fourbar::force::eval::{States, VelocityOf};
use fourbar::integrator::first_order::{Estimate, Tableau, Weights};
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector3};

/// Steps, at most.
const MOST: usize = 10_000_000;

/// Adds what forces do to the bodies of a tree that is placed.
pub trait Force<T: Scalar> {
    /// At a time, with counted angles and their rates by column.
    fn load(&mut self, t: f64, q: &[T], u: &[T], tree: &Tree, kernel: &mut Kernel<T>);
}

/// The state of a tree as forces read it.
pub struct Seen<'a, T> {
    pub t: f64,
    pub tree: &'a Tree,
    pub kernel: &'a Kernel<T>,
    pub q: &'a [T],
    pub u: &'a [T],
}

impl<T: Scalar> States<T> for Seen<'_, T> {
    fn time(&self) -> f64 {
        self.t
    }
    fn pose(&self, b: usize) -> PoseOf<T> {
        let k = self.tree.of_body[b];
        if b == 0 {
            return PoseOf { r: Vector3::zeros(), A: Matrix3::identity() };
        }
        PoseOf { r: Vector3::from(self.kernel.at[k].c), A: Matrix3::from_row_slice(&self.kernel.axes(k)) }
    }
    fn velocity(&self, b: usize) -> VelocityOf<T> {
        if b == 0 {
            return VelocityOf { v: Vector3::zeros(), w: Vector3::zeros() };
        }
        let k = self.tree.of_body[b];
        let at = &self.kernel.at[k];
        let turned = cross(&at.V.a, &at.c);
        let v = Vector3::from_fn(|i, _| at.V.l[i] + turned[i]);
        VelocityOf { v, w: Matrix3::from_row_slice(&self.kernel.axes(k)).tr_mul(&Vector3::from(at.V.a)) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.q[self.tree.counted[memory]].value()
    }
    fn load(&self, _joint: usize) -> T {
        T::zero()
    }
    fn auxiliary(&self, _k: usize) -> T {
        T::zero()
    }
    fn counted(&self, memory: usize) -> Option<(T, T)> {
        let c = self.tree.counted[memory];
        Some((self.q[c], self.u[c]))
    }
}

impl<T: Scalar> Seen<'_, T> {
    /// Wrenches of the forces of a model: force at the centre of mass and torque, both in world axes, by body.
    pub fn wrenches(&self, model: &Model, add: &mut impl FnMut(usize, Vector3<T>, Vector3<T>)) {
        for (_, force) in &model.forces {
            force.wrench(model, self, &mut |b, F, torque| {
                if b != 0 {
                    add(b, F, self.pose(b).A * torque);
                }
            });
        }
    }
}

/// A tree with its state, moved by an explicit method.
pub struct Moved<'a, T: Scalar> {
    tree: &'a Tree,
    pub kernel: Kernel<T>,
    force: Box<dyn Force<T> + 'a>,
    tableau: &'static Tableau,
    /// Time, and coordinates and speeds.
    pub t: f64,
    pub y: Vec<T>,
    next: Vec<T>,
    stages: Vec<Vec<T>>,
    nodes: Vec<f64>,
    /// Lengths of the columns: one for slides, the size of the mechanism for hinges.
    sizes: Vec<f64>,
    h: f64,
    /// Whether the first stage is that of the state.
    begun: bool,
    /// Evaluations so far.
    pub evaluations: usize,
}

impl<'a, T: Scalar> Moved<'a, T> {
    /// From a start, with a method.
    pub fn new(
        tree: &'a Tree,
        numbers: &[T],
        start: &[T],
        force: Box<dyn Force<T> + 'a>,
        tableau: &'static Tableau,
        t: f64,
        length: f64,
    ) -> Self {
        let sum = |w: &Weights| w.iter().map(|(_, x)| x).sum::<f64>();
        let nodes: Vec<f64> = std::iter::once(0.0).chain(tableau.a.iter().map(sum)).collect();
        let mut sizes = vec![length; tree.size];
        for n in tree.nodes.iter().filter(|n| n.joint == super::kernel::Joint::Slide) {
            sizes[n.column] = 1.0;
        }
        Self {
            kernel: tree.kernel(numbers),
            force,
            stages: vec![vec![T::zero(); 2 * tree.size]; nodes.len()],
            nodes,
            next: start.to_vec(),
            y: start.to_vec(),
            h: 0.0,
            begun: false,
            sizes,
            tree,
            tableau,
            t,
            evaluations: 0,
        }
    }

    /// Rates of coordinates and speeds at a state, into a stage.
    #[inline(always)]
    fn evaluate(&mut self, t: f64, stage: usize, of_next: bool) {
        self.evaluations += 1;
        let n = self.tree.size;
        let y = if of_next { &self.next } else { &self.y };
        let (q, u) = y.split_at(n);
        self.kernel.sweep(q, u);
        self.force.load(t, q, u, self.tree, &mut self.kernel);
        let (dq, du) = self.stages[stage].split_at_mut(n);
        dq.copy_from_slice(u);
        self.kernel.solve(du);
    }

    /// All stages of a step, and its end in `next`.
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

    /// The first stage of a step, taken from the last one where that had it.
    fn begin(&mut self) {
        if !self.begun {
            self.evaluate(self.t, 0, false);
            self.begun = true;
        }
    }

    /// Takes the end of a step for the state.
    fn accept(&mut self, t: f64) {
        std::mem::swap(&mut self.y, &mut self.next);
        self.t = t;
        self.begun = self.tableau.same_last;
        if self.begun {
            let last = self.stages.len() - 1;
            self.stages.swap(0, last);
        }
    }

    /// Steps of one size, so many.
    pub fn fixed(&mut self, h: f64, steps: usize) {
        for _ in 0..steps {
            self.begin();
            self.attempt(h);
            self.accept(self.t + h);
        }
    }

    /// Size of an error: lengths, and speeds by a time.
    fn size(&self, weights: Weights, h: f64) -> f64 {
        let n = self.tree.size;
        let fastest = (0..n).fold(1e-3_f64, |m, i| m.max(self.y[n + i].value().abs()));
        let error = |i: usize| weights.iter().map(|&(j, w)| w * self.stages[j][i].value()).sum::<f64>() * h;
        (0..n).fold(0.0_f64, |m, i| m.max((self.sizes[i] * error(i)).abs()).max((self.sizes[i] * error(n + i) / fastest).abs()))
    }

    /// Moves on to a time with errors of each step below a tolerance, in lengths; `false` where steps become too small or too many.
    pub fn to(&mut self, t: f64, tolerance: f64) -> bool {
        let mut count = 0;
        let order = self.tableau.order as f64;
        if self.h == 0.0 {
            self.h = 1e-3 * (t - self.t);
        }
        while self.t < t {
            self.begin();
            let left = t - self.t;
            // The last two steps share what is left.
            let h = if self.h >= left { left } else { self.h.min(0.5 * left.max(self.h)) };
            self.attempt(h);
            let error = match self.tableau.error {
                Estimate::None => 0.0,
                Estimate::One { e, .. } => self.size(e, h),
                Estimate::Two { e, coarse, .. } => {
                    let (fine, coarse) = (self.size(e, h), self.size(coarse, h));
                    if fine == 0.0 { 0.0 } else { fine * fine / (fine * fine + 0.01 * coarse * coarse).sqrt() }
                }
            };
            let factor = 0.9 * (tolerance / error.max(1e-300)).powf(1.0 / order);
            count += 1;
            if error <= tolerance {
                self.accept(if h == left { t } else { self.t + h });
                let grown = h * factor.clamp(0.2, 5.0);
                // A step cut short by its end says little of the next one.
                self.h = if h < self.h { self.h.max(grown) } else { grown };
            } else if error.is_finite() {
                self.h = h * factor.clamp(0.1, 0.9);
            } else {
                self.h = 0.1 * h;
            }
            if self.h < 1e-14 * t.abs().max(1e-9) || count > MOST {
                return false;
            }
        }
        true
    }

    /// Places the nodes at the state that is reached.
    pub fn place(&mut self) {
        let (q, u) = self.y.split_at(self.tree.size);
        self.kernel.sweep(q, u);
    }

    /// The state that is reached, as forces read it; places are those of the last evaluation.
    pub fn seen(&self) -> Seen<'_, T> {
        let (q, u) = self.y.split_at(self.tree.size);
        Seen { t: self.t, tree: self.tree, kernel: &self.kernel, q, u }
    }
}
