//! Consistent initial values: the nearest point to a guess that satisfies the equations and their hidden derivatives.
//!
//! Stage by stage, positions first. A stage is solved by Levenberg-Marquardt in the free unknowns (held ones leave the
//! column set); if that stalls, by undamped Gauss-Newton from the guess, then by restarts around the guess with growing
//! radius and a fixed seed. Neither of the first two suffices alone: damped steps stall in local minima that full steps
//! jump over, and full steps diverge where damped ones converge. Afterwards the point is moved along the solution
//! set to the nearest one. If held derivatives make a later stage insoluble, all stages are solved together.

use crate::Error;
use crate::engine::Engine;
use crate::kinks::Kinks;
use crate::problem::Problem;
use crate::state::State;
use fourbar_math::factor::{DENSE_LIMIT, Factor, PREFER, saddle_pairing};
use std::sync::Arc;

/// Guesses and held values for a consistent start.
#[derive(Debug, Clone)]
pub struct Start {
    problem: Arc<Problem>,
    t: f64,
    given: Vec<(usize, usize, f64, bool)>,
    weight: Vec<f64>,
    restarts: usize,
    error: Option<Error>,
}

impl Problem {
    /// Begins the description of a start at time `t`. Values that are not given are guessed as zero.
    pub fn start(self: &Arc<Self>, t: f64) -> Start {
        let weight = vec![1.0; self.variables.len()];
        Start { problem: Arc::clone(self), t, given: Vec::new(), weight, restarts: 12, error: None }
    }
}

impl Start {
    fn give(mut self, name: &str, p: usize, value: f64, held: bool) -> Self {
        match self.problem.variable(name) {
            Ok(j) if p <= self.problem.structure.d()[j] && value.is_finite() => self.given.push((j, p, value, held)),
            Ok(_) => self.error = Some(Error::UnknownName(format!("derivative {p} of {name}"))),
            Err(e) => self.error = Some(e),
        }
        self
    }
    /// Guesses derivative `p` of a variable; it may be changed.
    pub fn guess(self, name: &str, p: usize, value: f64) -> Self {
        self.give(name, p, value, false)
    }
    /// Fixes derivative `p` of a variable.
    pub fn hold(self, name: &str, p: usize, value: f64) -> Self {
        self.give(name, p, value, true)
    }
    /// Takes all values of a state as guesses.
    pub fn from_state(mut self, state: &State) -> Self {
        for j in 0..self.weight.len() {
            for p in 0..state.stored(j) {
                self.given.push((j, p, state.get(j, p).unwrap_or(0.0), false));
            }
        }
        self
    }
    /// Length scale of changes of a variable; a small one makes it move less. Default: one.
    pub fn weight(mut self, name: &str, weight: f64) -> Self {
        match self.problem.variable(name) {
            Ok(j) if weight > 0.0 && weight.is_finite() => self.weight[j] = weight,
            Ok(_) => self.error = Some(Error::BadOption { option: "weight", allowed: "positive and finite" }),
            Err(e) => self.error = Some(e),
        }
        self
    }
    /// Number of restarts before giving up.
    pub fn restarts(mut self, restarts: usize) -> Self {
        self.restarts = restarts;
        self
    }

    /// Finds the consistent point.
    pub fn solve(&self) -> Result<State, Error> {
        if let Some(e) = &self.error {
            return Err(e.clone());
        }
        let mut engine = Engine::new(Arc::clone(&self.problem), 1, DENSE_LIMIT, false);
        engine.weight.copy_from_slice(&self.weight);
        let mut guess = State::new(&self.problem, self.t);
        let mut held = vec![false; guess.values.len()];
        for &(j, p, value, fixed) in &self.given {
            guess.set(j, p, value);
            held[guess.start[j] + p] |= fixed;
        }
        engine.enter(&guess);
        engine.place(self.t, 1.0);
        let mut kinks = Kinks::new(&self.problem);
        // Kinks may change sides as the point moves.
        for _ in 0..8 {
            self.solve_smooth(&mut engine, &guess, &held)?;
            if kinks.is_empty() {
                break;
            }
            let _ = engine.expand(self.t, 1.0, false);
            if !kinks.settle(&mut engine) {
                break;
            }
            engine.enter(&guess);
            engine.place(self.t, 1.0);
        }
        if !engine.plan.nonlinear[0] {
            // Compute the leading derivatives; a singular Jacobian is ignored here, the integrator will report it.
            let values = engine.state.clone();
            if engine.expand(self.t, 1.0, false).is_ok() {
                engine.take_leading();
            } else {
                engine.state = values;
            }
        }
        Ok(engine.leave(self.t))
    }

    fn solve_smooth(&self, engine: &mut Engine, guess: &State, held: &[bool]) -> Result<(), Error> {
        let last = if engine.plan.nonlinear[0] { 0 } else { -1 };
        let first = -(engine.plan.d_max as i32);
        let mut failure = None;
        for k in first..=last {
            engine.load(k);
            engine.taylor.stage(k);
            let mut stage = Stages::new(engine, k..=k, guess, held);
            if let Err(e) = stage.solve(engine, self.restarts) {
                failure = Some(e);
                break;
            }
        }
        let Some(error) = failure else { return Ok(()) };
        // Held derivatives of a later stage may require other positions: solve all stages at once.
        engine.taylor.clear();
        engine.enter(guess);
        let mut all = Stages::new(engine, first..=last, guess, held);
        if all.unknowns.len() > 600 {
            return Err(error);
        }
        all.solve(engine, self.restarts).map_err(|_| error)
    }
}

/// Equations and free unknowns of one stage or of several together.
struct Stages {
    range: std::ops::RangeInclusive<i32>,
    equations: Vec<(usize, i32)>,
    unknowns: Vec<(usize, i32)>,
    /// Guess of each unknown, in derivative units.
    guess: Vec<f64>,
    weight: Vec<f64>,
    row_scale: Vec<f64>,
    pattern: Vec<(u32, u32)>,
    /// Position in the system Jacobian of each pattern entry; empty if several stages are joined.
    from: Vec<u32>,
    factor: Factor,
    nonlinear: bool,
}

impl Stages {
    fn new(engine: &Engine, range: std::ops::RangeInclusive<i32>, guess: &State, held: &[bool]) -> Self {
        let n = engine.weight.len();
        let (mut equations, mut unknowns) = (Vec::new(), Vec::new());
        for k in range.clone() {
            equations.extend((0..n).filter(|&i| engine.c(i) as i32 >= -k).map(|i| (i, k)));
            let free = |j: &usize| {
                let s = k + engine.d(*j) as i32;
                s >= 0 && !held[guess.start[*j] + s as usize]
            };
            unknowns.extend((0..n).filter(free).map(|j| (j, k)));
        }
        let joined = range.start() != range.end();
        let (mut pattern, mut from) = (Vec::new(), Vec::new());
        let nu = unknowns.len() as u32;
        if joined {
            pattern.extend((0..equations.len() as u32).flat_map(|a| (0..nu).map(move |b| (a, b))));
        } else {
            let mut at = vec![u32::MAX; n];
            unknowns.iter().enumerate().for_each(|(b, &(j, _))| at[j] = b as u32);
            let mut row = vec![u32::MAX; n];
            equations.iter().enumerate().for_each(|(a, &(i, _))| row[i] = a as u32);
            for (e, &(i, j)) in engine.plan.jacobian.iter().enumerate() {
                if row[i as usize] != u32::MAX && at[j as usize] != u32::MAX {
                    pattern.push((row[i as usize], at[j as usize]));
                    from.push(e as u32);
                }
            }
        }
        let size = unknowns.len() + equations.len();
        let mut large: Vec<(u32, u32)> = (0..size as u32).map(|i| (i, i)).collect();
        large.extend(pattern.iter().flat_map(|&(a, b)| [(nu + a, b), (b, nu + a)]));
        let factor = Factor::new(size, &large, DENSE_LIMIT, || saddle_pairing(size, nu as usize, &large, PREFER));
        let nonlinear = joined || engine.plan.nonlinear[(-*range.start()) as usize];
        let of = |&(j, k): &(usize, i32)| guess.get(j, (k + engine.d(j) as i32) as usize).unwrap_or(0.0);
        Self {
            guess: unknowns.iter().map(of).collect(),
            weight: unknowns.iter().map(|u| engine.weight[u.0]).collect(),
            row_scale: vec![1.0; equations.len()],
            range,
            equations,
            unknowns,
            pattern,
            from,
            factor,
            nonlinear,
        }
    }

    /// Puts values into the engine and returns the scaled residuals.
    fn residuals(&self, engine: &mut Engine, u: &[f64]) -> Vec<f64> {
        let width = engine.width();
        for (&(j, k), &value) in self.unknowns.iter().zip(u) {
            let s = (k + engine.d(j) as i32) as usize;
            let factorial: f64 = (1..=s).map(|x| x as f64).product();
            engine.state[j * width + s] = value / factorial;
        }
        let mut f = Vec::with_capacity(self.equations.len());
        for k in self.range.clone() {
            engine.load(k);
            engine.taylor.stage(k);
            let own = self.equations.iter().zip(&self.row_scale).filter(|e| e.0.1 == k);
            f.extend(own.map(|(&(i, _), scale)| engine.residual(i, k) * scale));
        }
        f
    }

    /// Scaled Jacobian at `u`. One stage: exact, from the tape. Several: central differences, since later equations also depend on earlier
    /// unknowns; the accuracy of the result is determined by the residuals, not by this matrix.
    fn jacobian(&self, engine: &mut Engine, u: &[f64]) -> Vec<f64> {
        if !self.from.is_empty() || self.range.start() == self.range.end() {
            engine.linearise(*self.range.start());
            let scaled = |(e, p): (&u32, &(u32, u32))| engine.jacobian[*e as usize] * self.row_scale[p.0 as usize];
            return self.from.iter().zip(&self.pattern).map(scaled).collect();
        }
        let (ne, nu) = (self.equations.len(), u.len());
        let mut g = vec![0.0; ne * nu];
        let mut v = u.to_vec();
        for b in 0..nu {
            let h = 6e-6 * u[b].abs().max(self.weight[b]);
            v[b] = u[b] + h;
            let high = self.residuals(engine, &v);
            v[b] = u[b] - h;
            let low = self.residuals(engine, &v);
            v[b] = u[b];
            (0..ne).for_each(|a| g[a * nu + b] = (high[a] - low[a]) / (2.0 * h));
        }
        self.residuals(engine, u);
        g
    }

    /// Step of least weighted length that solves G step = -f, damped by `mu`; `pull` draws towards the guess.
    fn step(&mut self, g: &[f64], f: &[f64], mu: f64, pull: Option<&[f64]>) -> Option<Vec<f64>> {
        let nu = self.unknowns.len();
        let mut values: Vec<f64> = self.weight.iter().map(|w| 1.0 / (w * w)).collect();
        values.resize(nu + f.len(), -mu);
        g.iter().for_each(|&x| values.extend([x, x]));
        if self.factor.factor(&values) <= 0.0 {
            return None;
        }
        let mut right = match pull {
            Some(p) => p.iter().zip(&self.weight).map(|(p, w)| p / (w * w)).collect(),
            None => vec![0.0; nu],
        };
        right.extend(f.iter().map(|x| -x));
        self.factor.solve(&mut right);
        right.truncate(nu);
        right.iter().all(|x| x.is_finite()).then_some(right)
    }

    /// Largest value in units of the weights.
    fn length(&self, u: &[f64]) -> f64 {
        u.iter().zip(&self.weight).map(|(x, w)| (x / w).abs()).fold(0.0, f64::max)
    }

    /// Residuals in units of length: rows divided by the length of their gradients.
    fn scale_rows(&mut self, engine: &mut Engine, u: &[f64]) {
        self.row_scale.fill(1.0);
        self.residuals(engine, u);
        let g = self.jacobian(engine, u);
        let mut length = vec![0.0f64; self.equations.len()];
        for (&(a, b), x) in self.pattern.iter().zip(&g) {
            length[a as usize] += (x * self.weight[b as usize]).powi(2);
        }
        for (scale, l) in self.row_scale.iter_mut().zip(&length) {
            *scale = if *l > 0.0 && l.is_finite() { 1.0 / l.sqrt() } else { 1.0 };
        }
    }

    fn solve(&mut self, engine: &mut Engine, restarts: usize) -> Result<(), Error> {
        if self.equations.is_empty() {
            return Ok(());
        }
        let guess = self.guess.clone();
        // The size of the guess sets the scale; without a guess it is one.
        let size = match self.length(&guess) {
            0.0 => 1.0,
            s => s,
        };
        let enough = 1e-13 * size;
        let mut seed = 0x9e3779b97f4a7c15u64;
        let mut best: Option<(f64, Vec<f64>)> = None;
        let attempts = if self.nonlinear { 2 + restarts } else { 1 };
        for attempt in 0..attempts {
            let mut u = guess.clone();
            if attempt >= 2 {
                let radius = 0.1 * size * 1.5f64.powi(attempt as i32 - 2);
                for (x, w) in u.iter_mut().zip(&self.weight) {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    *x += radius * w * ((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
                }
            }
            self.scale_rows(engine, &u);
            let (norm, point) = if attempt == 1 { self.full_steps(engine, u, enough) } else { self.damped(engine, u, enough) };
            if norm <= 1e-10 * size.max(self.length(&point)) {
                if self.nonlinear {
                    self.nearest(engine, point, enough);
                } else {
                    self.residuals(engine, &point);
                }
                return Ok(());
            }
            if best.as_ref().is_none_or(|b| norm < b.0) {
                best = Some((norm, point));
            }
        }
        let mut resisting = Vec::new();
        if let Some((_, point)) = best {
            self.row_scale.fill(1.0);
            let f = self.residuals(engine, &point);
            let largest = f.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let mut order: Vec<usize> = (0..f.len()).filter(|&a| f[a].is_nan() || f[a].abs() >= 1e-3 * largest).collect();
            order.sort_by(|&a, &b| f[b].abs().total_cmp(&f[a].abs()));
            for a in order {
                let (i, k) = self.equations[a];
                let times = (k + engine.c(i) as i32) as usize;
                resisting.push((engine.problem.equations[i].clone(), times, f[a]));
            }
        }
        engine.taylor.clear();
        Err(Error::Inconsistent { resisting, attempts })
    }

    /// Levenberg-Marquardt: damping follows the gain ratio. All rows are kept, redundant ones included.
    fn damped(&mut self, engine: &mut Engine, mut u: Vec<f64>, enough: f64) -> (f64, Vec<f64>) {
        let mut f = self.residuals(engine, &u);
        let mut merit = sum_of_squares(&f);
        let mut mu = 1e-3;
        let mut small = 0;
        for _ in 0..200 {
            if !merit.is_finite() {
                break;
            }
            let g = self.jacobian(engine, &u);
            let Some(step) = self.step(&g, &f, mu, None) else { break };
            let trial: Vec<f64> = u.iter().zip(&step).map(|(x, s)| x + s).collect();
            let new = self.residuals(engine, &trial);
            let new_merit = sum_of_squares(&new);
            let mut linear = f.clone();
            for (&(a, b), x) in self.pattern.iter().zip(&g) {
                linear[a as usize] += x * step[b as usize];
            }
            let predicted = merit - sum_of_squares(&linear);
            let gain = (merit - new_merit) / predicted.max(f64::MIN_POSITIVE);
            if new_merit < merit && gain > 1e-3 {
                let slow = new_merit > 0.9999 * merit;
                (u, f, merit) = (trial, new, new_merit);
                mu = if gain > 0.75 {
                    mu * 0.1
                } else if gain < 0.25 {
                    mu * 4.0
                } else {
                    mu
                };
                mu = mu.max(1e-15);
                small = if slow { small + 1 } else { 0 };
            } else {
                self.residuals(engine, &u);
                if max_abs(&f) <= enough {
                    break;
                }
                mu = (mu * 8.0).max(1e-12);
                small += 1;
            }
            if max_abs(&f) <= 0.01 * enough || small > 25 || mu > 1e12 {
                break;
            }
        }
        (if merit.is_finite() { max_abs(&f) } else { f64::INFINITY }, u)
    }

    /// Undamped Gauss-Newton.
    fn full_steps(&mut self, engine: &mut Engine, mut u: Vec<f64>, enough: f64) -> (f64, Vec<f64>) {
        let mut f = self.residuals(engine, &u);
        for _ in 0..20 {
            if max_abs(&f) <= 0.01 * enough {
                break;
            }
            let g = self.jacobian(engine, &u);
            let Some(step) = self.step(&g, &f, 1e-14, None) else { break };
            u.iter_mut().zip(&step).for_each(|(x, s)| *x += s);
            f = self.residuals(engine, &u);
            if !max_abs(&f).is_finite() {
                return (f64::INFINITY, u);
            }
        }
        (max_abs(&f), u)
    }

    /// Moves along the solution set towards the guess: minimises the distance under the linearised equations, and accepts a move only if it
    /// shortens the distance and the equations can be satisfied again.
    fn nearest(&mut self, engine: &mut Engine, mut u: Vec<f64>, enough: f64) {
        let distance = |s: &Self, u: &[f64]| -> f64 { (0..u.len()).map(|b| ((u[b] - s.guess[b]) / s.weight[b]).powi(2)).sum::<f64>() };
        let mut length = distance(self, &u);
        let mut part = 1.0;
        for _ in 0..40 {
            let f = self.residuals(engine, &u);
            let g = self.jacobian(engine, &u);
            let pull: Vec<f64> = self.guess.iter().zip(&u).map(|(g, x)| part * (g - x)).collect();
            let Some(step) = self.step(&g, &f, 1e-14, Some(&pull)) else { break };
            let moved = step.iter().zip(&self.weight).map(|(s, w)| (s / w).abs()).fold(0.0, f64::max);
            let trial: Vec<f64> = u.iter().zip(&step).map(|(x, s)| x + s).collect();
            let (norm, trial) = self.full_steps(engine, trial, enough);
            let new = distance(self, &trial);
            if norm <= 1e-10 * self.length(&trial).max(1e3 * enough) && new <= length {
                let done = moved < 1e-14 || length - new < 1e-15 * length;
                (u, length) = (trial, new);
                if done {
                    break;
                }
                part = (2.0 * part).min(1.0);
            } else {
                part *= 0.25;
                if part < 1e-3 {
                    break;
                }
            }
        }
        self.residuals(engine, &u);
    }
}

fn sum_of_squares(f: &[f64]) -> f64 {
    f.iter().map(|x| x * x).sum()
}

/// Largest absolute value; NaN if any entry is NaN.
fn max_abs(f: &[f64]) -> f64 {
    f.iter().fold(0.0, |m, x| if x.abs() <= m { m } else { x.abs() })
}
