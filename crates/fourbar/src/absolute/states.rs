//! User-defined states in an implicit step: `s = base + k f(t, q, v, s)`, solved for `s` at given poses and velocities.
//!
//! It is solved in every Newton iterate of the motion, so that forces use states consistent with the poses and velocities of their
//! evaluation; the exact matrix includes the derivatives of that solution, as required for stiff circuits.

use crate::coordinate::PoseOf;
use crate::force::bodies_read;
use crate::force::eval::{Plain, States, VelocityOf};
use crate::model::Model;
use crate::random::Random;
use crate::state::Configuration;
use fourbar_math::{Dual, Taylor};
use nalgebra::Vector3;

/// Relative rounding error of a pose or velocity, including the errors from integration.
const NOISE: f64 = 1e-14;
/// Number of random directions in which slopes of the rates are sampled.
const DIRECTIONS: usize = 8;
/// Maximum number of iterations.
const ITERATIONS: usize = 25;
/// Convergence slower than this requires a fresh matrix.
const SLOW: f64 = 0.1;
/// Corrections below this fraction of a state are rounding.
const ROUNDING: f64 = 1e-15;
/// Corrections below this fraction count as rounding if they no longer decrease.
const SMALL: f64 = 1e-9;

/// The equations of the states with their workspace; nothing is allocated in a step.
#[derive(Clone, Debug)]
pub struct StateEquations {
    /// Place of the first state among the auxiliary variables, and the number of states.
    first: usize,
    count: usize,
    /// History term of each state, and the factor of the rates; set for each step.
    pub base: Vec<f64>,
    /// Step times the weight of the rates at its end, s.
    pub k: f64,
    /// Rates at the last solution, including those of inputs and slopes.
    pub rates: Vec<f64>,
    dual: Vec<Dual>,
    /// Factors of `1 - k df/ds` by rows, and the order of the rows.
    lu: Vec<f64>,
    order: Vec<usize>,
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The plain state with the slope of one auxiliary variable.
struct Sloped<'a> {
    plain: &'a Plain<'a>,
    /// The variable that varies.
    which: usize,
}

impl States<Dual> for Sloped<'_> {
    fn time(&self) -> f64 {
        self.plain.t
    }
    fn pose(&self, b: usize) -> PoseOf<Dual> {
        let q = self.plain.pose(b);
        PoseOf { r: q.r.map(|x| Taylor::with_slope(x, 0.0)), A: q.A.map(|x| Taylor::with_slope(x, 0.0)) }
    }
    fn velocity(&self, b: usize) -> VelocityOf<Dual> {
        let v = self.plain.velocity(b);
        VelocityOf { v: v.v.map(|x| Taylor::with_slope(x, 0.0)), w: v.w.map(|x| Taylor::with_slope(x, 0.0)) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.plain.turn(memory)
    }
    fn load(&self, joint: usize) -> Dual {
        Taylor::with_slope(self.plain.load(joint), 0.0)
    }
    fn auxiliary(&self, k: usize) -> Dual {
        Taylor::with_slope(self.plain.z[k], if k == self.which { 1.0 } else { 0.0 })
    }
}

/// The plain state, moved in a random direction by the size of the mechanism, with its velocities changed by that size per `tau`.
struct Shaken<'a> {
    plain: &'a Plain<'a>,
    length: f64,
    tau: f64,
    moves: &'a [[Vector3<f64>; 4]],
}

impl States<Dual> for Shaken<'_> {
    fn time(&self) -> f64 {
        self.plain.t
    }
    fn pose(&self, b: usize) -> PoseOf<Dual> {
        let (q, [r, turn, ..]) = (self.plain.pose(b), &self.moves[b]);
        let (dr, dA) = (r * self.length.max(q.r.norm()), q.A * turn.cross_matrix());
        PoseOf { r: q.r.zip_map(&dr, Taylor::with_slope), A: q.A.zip_map(&dA, Taylor::with_slope) }
    }
    fn velocity(&self, b: usize) -> VelocityOf<Dual> {
        let (v, [.., dv, dw]) = (self.plain.velocity(b), &self.moves[b]);
        let (dv, dw) = (dv * (self.length / self.tau).max(v.v.norm()), dw * (1.0 / self.tau).max(v.w.norm()));
        VelocityOf { v: v.v.zip_map(&dv, Taylor::with_slope), w: v.w.zip_map(&dw, Taylor::with_slope) }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.plain.turn(memory)
    }
    fn load(&self, joint: usize) -> Dual {
        Taylor::with_slope(self.plain.load(joint), 0.0)
    }
    fn auxiliary(&self, k: usize) -> Dual {
        Taylor::with_slope(self.plain.z[k], self.plain.z[k])
    }
}

/// Approximate upper bound of the effect of rounding of poses and velocities on the rates of inputs and states, 1/s times their unit: a
/// rate that is a difference of two equal quantities consists of rounding. Velocities are multiplied by `tau` to count as lengths.
pub fn rounding_of_rates(model: &Model, at: &Configuration, tau: f64) -> Vec<f64> {
    let mut most = vec![0.0; model.auxiliaries()];
    if model.states.is_empty() {
        return most;
    }
    let mut random = Random(0x0057_a7e5);
    let mut rates = vec![Taylor::with_slope(0.0, 0.0); most.len()];
    let plain = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &[], z: &at.z };
    for _ in 0..DIRECTIONS {
        let moves: Vec<_> = at.q.iter().map(|_| std::array::from_fn(|_| Vector3::from_fn(|_, _| random.number()))).collect();
        model.auxiliary_rates(&Shaken { plain: &plain, length: model.length, tau, moves: &moves }, &mut rates);
        for (most, rate) in most.iter_mut().zip(&rates) {
            let size = NOISE * rate.derivative(1).abs();
            // A law without a finite slope here gives no information.
            *most = if size.is_finite() { f64::max(*most, size) } else { *most };
        }
    }
    most
}

/// Bodies on which the rates of all states depend, without ground.
pub fn bodies_of_states(model: &Model) -> Vec<usize> {
    bodies_read(model, model.states.iter().map(|s| &s.rate))
}

impl StateEquations {
    /// For the states of a model.
    pub fn new(model: &Model) -> Self {
        let n = model.states.len();
        Self {
            first: model.first_state(),
            count: n,
            base: vec![0.0; n],
            k: 0.0,
            rates: vec![0.0; model.auxiliaries()],
            dual: vec![Taylor::with_slope(0.0, 0.0); model.auxiliaries()],
            lu: vec![0.0; n * n],
            order: (0..n).collect(),
            x: vec![0.0; n],
            y: vec![0.0; n],
        }
    }

    /// Rates at a state into `rates`.
    pub fn evaluate(&mut self, model: &Model, x: &Plain<'_>) {
        model.auxiliary_rates(x, &mut self.rates);
    }

    /// Solves for the states in `z`, from the values there; the rest of `z` is given. `false` if the iteration does not converge. `rates`
    /// are those of the solution.
    pub fn solve(&mut self, model: &Model, plain: &Plain<'_>, z: &mut [f64]) -> bool {
        if self.count == 0 {
            if !z.is_empty() {
                self.evaluate(model, &Plain { z, ..*plain });
            }
            return true;
        }
        let (mut last, mut renew, mut settled) = (f64::INFINITY, true, false);
        for _ in 0..ITERATIONS {
            if renew && !self.factor(model, &Plain { z, ..*plain }) {
                return false;
            }
            self.evaluate(model, &Plain { z, ..*plain });
            for i in 0..self.count {
                self.x[i] = self.base[i] + self.k * self.rates[self.first + i] - z[self.first + i];
            }
            self.back_substitute();
            let mut size = 0.0_f64;
            for (i, z) in z[self.first..].iter_mut().enumerate() {
                let scale = z.abs().max(self.base[i].abs()).max((self.k * self.rates[self.first + i]).abs());
                let share = if self.x[i] == 0.0 { 0.0 } else { self.x[i].abs() / scale };
                if share.is_nan() {
                    return false;
                }
                size = size.max(share);
                *z += self.x[i];
            }
            // Corrections that no longer decrease are rounding.
            settled = size <= ROUNDING || (size <= SMALL && size >= 0.5 * last);
            if settled {
                break;
            }
            renew = size > SLOW * last;
            last = size;
        }
        if !settled {
            return false;
        }
        self.evaluate(model, &Plain { z, ..*plain });
        true
    }

    /// Slopes of the rates of states by states, by rows, into `out`, and the factors of `1 - k df/ds`; `false` if the matrix is singular.
    pub fn slopes(&mut self, model: &Model, x: &Plain<'_>, out: &mut [f64]) -> bool {
        let n = self.count;
        for j in 0..n {
            model.auxiliary_rates(&Sloped { plain: x, which: self.first + j }, &mut self.dual);
            for i in 0..n {
                out[i * n + j] = self.dual[self.first + i].c[1];
            }
        }
        self.factor(model, x)
    }

    /// Factors `1 - k df/ds`; `false` if it is singular.
    fn factor(&mut self, model: &Model, x: &Plain<'_>) -> bool {
        let n = self.count;
        for j in 0..n {
            model.auxiliary_rates(&Sloped { plain: x, which: self.first + j }, &mut self.dual);
            for i in 0..n {
                self.lu[i * n + j] = f64::from(u8::from(i == j)) - self.k * self.dual[self.first + i].c[1];
            }
        }
        self.order.iter_mut().enumerate().for_each(|(k, o)| *o = k);
        for c in 0..n {
            let pivot = (c..n).max_by(|&a, &b| self.lu[a * n + c].abs().total_cmp(&self.lu[b * n + c].abs())).unwrap_or(c);
            if pivot != c {
                (0..n).for_each(|k| self.lu.swap(c * n + k, pivot * n + k));
                self.order.swap(c, pivot);
            }
            let d = self.lu[c * n + c];
            if d == 0.0 || !d.is_finite() {
                return false;
            }
            for r in c + 1..n {
                let f = self.lu[r * n + c] / d;
                self.lu[r * n + c] = f;
                (c + 1..n).for_each(|k| self.lu[r * n + k] -= f * self.lu[c * n + k]);
            }
        }
        true
    }

    /// Solves with the factors for the right-hand side in `x`.
    fn back_substitute(&mut self) {
        let n = self.count;
        for r in 0..n {
            let sum: f64 = (0..r).map(|c| self.lu[r * n + c] * self.y[c]).sum();
            self.y[r] = self.x[self.order[r]] - sum;
        }
        for r in (0..n).rev() {
            let sum: f64 = (r + 1..n).map(|c| self.lu[r * n + c] * self.x[c]).sum();
            self.x[r] = (self.y[r] - sum) / self.lu[r * n + r];
        }
    }

    /// Change of the solution for a variation of the poses and velocities, along which `x` has its slopes: the slopes of the states into
    /// `out`, which has as many entries as there are auxiliary variables.
    pub fn follow(&mut self, model: &Model, x: &impl States<Dual>, out: &mut [f64]) {
        model.auxiliary_rates(x, &mut self.dual);
        for i in 0..self.count {
            self.x[i] = self.k * self.dual[self.first + i].c[1];
        }
        self.back_substitute();
        out.fill(0.0);
        out[self.first..].copy_from_slice(&self.x);
    }
}
