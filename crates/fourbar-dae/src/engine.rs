//! One expansion: projection stages k < 0, then the linear stages k = 0..K, each giving one coefficient of every variable.
//!
//! Stage k solves the derivatives k + c_i of the equations for the derivatives k + d_j of the variables
//! [Pryce20, Eqs. (20)-(27)]. All stages share the system Jacobian; it is factored once, at stage 0. In the stages k < 0
//! fewer equations than unknowns remain; they move the carried values to the nearest point that satisfies them.

mod project;

use crate::Error;
use crate::plan::{Partial, Plan};
use crate::problem::Problem;
use crate::profile::{Part, Profile};
use crate::program::Span;
use crate::state::State;
use crate::taylor::{Target, Taylor};
use fourbar_math::elementary;
use fourbar_math::factor::{self, Factor};
use project::Projection;
use std::sync::Arc;

/// A tight row whose value is needed after its stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub number: u32,
    pub edges: Span,
    pub r: u32,
    pub to: Target,
}

/// Expansion machinery with all its storage.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    pub problem: Arc<Problem>,
    pub plan: Arc<Plan>,
    pub taylor: Taylor,
    /// Last stage, and the largest one for which there is storage.
    pub order: usize,
    pub max_order: usize,
    /// Carried values: Taylor coefficient s (not scaled) of variable j at `j * (d_max + 1) + s`, for s <= d_j.
    pub state: Vec<f64>,
    /// Size of each variable, the unit of its error.
    pub weight: Vec<f64>,
    /// Largest values of events and switching expressions so far.
    pub event_size: Vec<f64>,
    pub factor: Factor,
    pub partial: Vec<f64>,
    gradient: Vec<f64>,
    pub jacobian: Vec<f64>,
    /// Unknowns of a stage: derivative k + d_j of each variable over k!.
    unknown: Vec<f64>,
    change: Vec<f64>,
    pub spreads: Vec<Spread>,
    /// Source of every tight edge.
    pub sources: Vec<u32>,
    pub projections: Vec<Projection>,
    /// (k + r)!/k! at `(k + d_max) * (d_max + 1) + r`, without the division where k < 0.
    factorials: Vec<f64>,
    powers: Vec<f64>,
    /// Copies of the offsets, stored with the data they are used with.
    c: Vec<usize>,
    d: Vec<usize>,
    /// Row of each equation, and storage of each variable.
    pub equation_row: Vec<u32>,
    pub variable_target: Vec<Target>,
    /// `unit(k, r)` of the current stage.
    units: Vec<f64>,
    pub profile: Profile,
    /// Largest correction by projection in the last expansion: size, variable, order of the derivative.
    pub moved: (f64, usize, usize),
    /// Smallest pivot ratio of the last factorisation.
    pub pivot: f64,
}

/// Pattern and pairing of the system Jacobian.
fn jacobian_factor(problem: &Problem, plan: &Plan, dense_limit: usize) -> Factor {
    let n = problem.variables.len();
    Factor::new(n, &plan.jacobian, dense_limit, || {
        if factor::is_symmetric(&plan.jacobian) {
            return factor::symmetric_pairing(n, &plan.jacobian);
        }
        // Rows numbered by the variable paired with them; blocks solved last are eliminated first.
        let column_of = problem.structure.transversal();
        let block = problem.structure.block_of_equation();
        let mut row_of = vec![0u32; n];
        column_of.iter().enumerate().for_each(|(i, &j)| row_of[j] = i as u32);
        let within = |e: &&(u32, u32)| block[e.0 as usize] == block[row_of[e.1 as usize] as usize];
        let graph: Vec<(u32, u32)> = plan.jacobian.iter().filter(within).map(|&(i, j)| (column_of[i as usize] as u32, j)).collect();
        let mut columns = factor::minimum_degree(n, &graph, &vec![false; n]);
        columns.sort_by_key(|&j| std::cmp::Reverse(block[row_of[j as usize] as usize]));
        factor::Pairing { columns, row_of, prefer: factor::PREFER }
    })
}

impl Engine {
    pub fn new(problem: Arc<Problem>, order: usize, dense_limit: usize, profiled: bool) -> Self {
        let structure = &problem.structure;
        let plan = Arc::new(Plan::new(&problem.program, structure.c(), structure.d()));
        let n = problem.variables.len();
        let d_max = plan.d_max;
        let taylor = Taylor::new(&problem.program, &plan, order + d_max + 1, problem.params, problem.kinks.len());
        let width = d_max + 1;
        let mut factorials = vec![1.0; (order + 1 + d_max) * width];
        for row in 0..order + 1 + d_max {
            let k = row as i64 - d_max as i64;
            for r in 0..width {
                factorials[row * width + r] = (k.max(0) + 1..=k + r as i64).map(|x| x as f64).product();
            }
        }
        // Variables have no edges and are treated separately.
        let kept = plan.tight.iter().enumerate().filter(|(_, t)| t.kept && t.edges.0 != t.edges.1);
        let spreads = kept.map(|(n, t)| Spread { number: n as u32, edges: t.edges, r: t.r, to: taylor.targets[t.row as usize] }).collect();
        let factor = jacobian_factor(&problem, &plan, dense_limit);
        let projections = Projection::all(&problem, &plan, dense_limit);
        Self {
            order,
            max_order: order,
            state: vec![0.0; n * width],
            weight: vec![1.0; n],
            event_size: vec![0.0; problem.events.len() + problem.kinks.len()],
            factor,
            partial: vec![0.0; plan.edges.len()],
            gradient: vec![0.0; plan.gradient_size],
            jacobian: vec![0.0; plan.jacobian.len()],
            unknown: vec![0.0; n],
            change: vec![0.0; plan.tight.len()],
            spreads,
            sources: plan.edges.iter().map(|e| e.source).collect(),
            projections,
            factorials,
            powers: vec![1.0; width],
            c: structure.c().to_vec(),
            d: structure.d().to_vec(),
            equation_row: problem.program.equations.clone(),
            variable_target: problem.program.variables.iter().map(|&v| taylor.targets[v as usize]).collect(),
            units: vec![1.0; width],
            profile: Profile::new(profiled),
            moved: (0.0, 0, 0),
            pivot: 1.0,
            taylor,
            plan,
            problem: Arc::clone(&problem),
        }
    }

    pub fn width(&self) -> usize {
        self.plan.d_max + 1
    }

    pub fn d(&self, j: usize) -> usize {
        self.d[j]
    }

    pub fn c(&self, i: usize) -> usize {
        self.c[i]
    }

    /// All factorisations: of the Jacobian, then of the projections.
    pub fn factors(&self) -> impl Iterator<Item = &Factor> {
        std::iter::once(&self.factor).chain(self.projections.iter().map(|p| &p.factor))
    }

    /// The same, mutable.
    pub fn factors_mut(&mut self) -> impl Iterator<Item = &mut Factor> {
        std::iter::once(&mut self.factor).chain(self.projections.iter_mut().map(|p| &mut p.factor))
    }

    /// Entries of the factorised Jacobian.
    pub fn fill(&self) -> usize {
        self.factor.fill()
    }

    /// Sets the carried values from a state.
    pub fn enter(&mut self, state: &State) {
        let width = self.width();
        for j in 0..self.weight.len() {
            let mut factorial = 1.0;
            for s in 0..=self.d(j) {
                factorial *= s.max(1) as f64;
                self.state[j * width + s] = state.get(j, s).unwrap_or(0.0) / factorial;
            }
        }
    }

    /// The carried values as a state.
    pub fn leave(&self, t: f64) -> State {
        let mut state = State::new(&self.problem, t);
        let width = self.width();
        for j in 0..self.weight.len() {
            let mut factorial = 1.0;
            for s in 0..=self.d(j) {
                factorial *= s.max(1) as f64;
                state.set(j, s, self.state[j * width + s] * factorial);
            }
        }
        state
    }

    /// Copies the leading derivatives of the current expansion into the carried values.
    pub fn take_leading(&mut self) {
        let width = self.width();
        for j in 0..self.weight.len() {
            let d = self.d(j);
            self.state[j * width + d] = self.series(j)[d] / self.powers[d];
        }
    }

    /// (k + r)!/k! over scale^r: from a scaled coefficient k + r to the derivative over k!.
    pub fn unit(&self, k: i32, r: usize) -> f64 {
        self.factorials[(k + self.plan.d_max as i32) as usize * self.width() + r] / self.powers[r]
    }

    /// Sets the expansion point and the scale of time; a power of two keeps rescaling exact.
    pub fn place(&mut self, t: f64, scale: f64) {
        self.taylor.t = t;
        self.taylor.scale = scale;
        for s in 1..self.powers.len() {
            self.powers[s] = self.powers[s - 1] * scale;
        }
    }

    pub fn put_variable(&mut self, j: usize, m: usize, value: f64) {
        self.taylor.put(self.variable_target[j], m, value);
    }

    /// Copies the carried value of order k + d_j of every variable that has one into the series.
    pub fn load(&mut self, k: i32) {
        for j in 0..self.weight.len() {
            let s = k + self.d(j) as i32;
            if s >= 0 {
                let s = s as usize;
                let value = self.state[j * self.width() + s] * self.powers[s];
                self.put_variable(j, s, value);
            }
        }
    }

    /// Residual of equation `i` at stage `k`: its derivative k + c_i, over k!.
    pub fn residual(&self, i: usize, k: i32) -> f64 {
        self.taylor.current[self.equation_row[i] as usize] * self.unit(k, self.c[i])
    }

    /// Adds `y` (a derivative k + d_j over k!) to variable `j`, in the series and in the carried values.
    pub fn correct(&mut self, j: usize, k: i32, y: f64) -> f64 {
        let d = self.d(j);
        let s = (k + d as i32) as usize;
        let change = y / self.unit(k, d);
        let at = j * self.width() + s;
        self.state[at] += change / self.powers[s];
        let value = self.state[at] * self.powers[s];
        self.put_variable(j, s, value);
        change
    }

    /// Partial derivatives and the Jacobian over the tight rows of need at least `-k`.
    pub fn linearise(&mut self, k: i32) {
        let plan = Arc::clone(&self.plan);
        let t = &self.taylor;
        for tight in plan.tight.iter().filter(|x| x.r as i32 >= -k) {
            let own = tight.gradient.0 as usize..tight.gradient.1 as usize;
            if tight.edges.0 == tight.edges.1 {
                self.gradient[own].fill(1.0);
                continue;
            }
            self.gradient[own].fill(0.0);
            for e in tight.edges.0 as usize..tight.edges.1 as usize {
                let edge = &plan.edges[e];
                let p = match edge.partial {
                    Partial::Linear(c, span) => {
                        let terms = &plan.terms[span.0 as usize..span.1 as usize];
                        terms.iter().fold(c, |sum, &(c, f)| sum + c * t.stored(f, 0))
                    }
                    Partial::Inverse(a) => 1.0 / t.stored(a, 0),
                    Partial::MinusRatio(a, b) => -t.stored(a, 0) / t.stored(b, 0),
                    Partial::Ratio(a, b) => t.stored(a, 0) / t.stored(b, 0),
                    Partial::HalfInverse(a) => 0.5 / t.stored(a, 0),
                    Partial::Power(c, a, _) if c > 1.0 && t.stored(a, 0) == 0.0 => 0.0,
                    Partial::Power(c, a, w) => c * t.stored(w, 0) / t.stored(a, 0),
                    Partial::Row(c, a) => c * t.stored(a, 0),
                    Partial::MinusTwice(a, b) => -2.0 * t.stored(a, 0) * t.stored(b, 0),
                    Partial::Side(kink, side) => f64::from(t.side[kink as usize] == side),
                };
                self.partial[e] = p;
                // The branch not taken may contain any value, even NaN.
                if p == 0.0 {
                    continue;
                }
                let from = plan.tight[edge.source as usize].gradient;
                for (n, g) in (from.0 as usize..from.1 as usize).enumerate() {
                    self.gradient[plan.map[edge.map as usize + n] as usize] += p * self.gradient[g];
                }
            }
        }
        for (value, &at) in self.jacobian.iter_mut().zip(&plan.jacobian_at) {
            *value = self.gradient[at as usize];
        }
    }

    /// Expands about (t, carried values) with the given time scale. With `project` the carried values are first moved onto the constraints;
    /// otherwise they are used unchanged.
    pub fn expand(&mut self, t: f64, scale: f64, project: bool) -> Result<(), Error> {
        self.place(t, scale);
        self.moved = (0.0, 0, 0);
        let clock = self.profile.start();
        let mut factored = usize::MAX;
        for k in -(self.plan.d_max as i32)..0 {
            self.load(k);
            self.taylor.stage(k);
            if project {
                self.project_stage(k, &mut factored)?;
            }
        }
        let clock = self.profile.stop(Part::Projection, clock);
        if self.plan.nonlinear[0] {
            self.newton(12)?;
        } else {
            self.clear_leading(0);
            self.taylor.stage(0);
            let inner = self.profile.stop(Part::Coefficients, clock);
            self.factor_jacobian()?;
            self.profile.stop(Part::LinearAlgebra, inner);
            let inner = self.profile.start();
            self.solve_stage(0);
            self.profile.stop(Part::LinearAlgebra, inner);
        }
        for k in 1..=self.order {
            let clock = self.profile.start();
            self.clear_leading(k);
            self.taylor.stage(k as i32);
            let clock = self.profile.stop(Part::Coefficients, clock);
            self.solve_stage(k);
            self.profile.stop(Part::LinearAlgebra, clock);
        }
        let clock = self.profile.start();
        self.taylor.outputs(self.order);
        self.profile.stop(Part::Coefficients, clock);
        self.check_finite()
    }

    fn clear_leading(&mut self, k: usize) {
        for (&to, d) in self.variable_target.iter().zip(&self.d) {
            self.taylor.put(to, k + d, 0.0);
        }
    }

    pub fn factor_jacobian(&mut self) -> Result<(), Error> {
        self.linearise(0);
        self.pivot = self.factor.factor(&self.jacobian);
        if self.pivot > 0.0 { Ok(()) } else { Err(self.singular()) }
    }

    /// Solves one stage with zero leading coefficients, and completes all rows that depend on them.
    fn solve_stage(&mut self, k: usize) {
        for r in 0..self.units.len() {
            self.units[r] = self.unit(k as i32, r);
        }
        let current = &self.taylor.current;
        for ((x, &row), &c) in self.unknown.iter_mut().zip(&self.equation_row).zip(&self.c) {
            *x = -current[row as usize] * self.units[c];
        }
        self.factor.solve(&mut self.unknown);
        self.spread(k);
    }

    /// Adds the unknowns of stage `k` to all coefficients that depend on them: one multiplication per tight edge.
    fn spread(&mut self, k: usize) {
        for (j, &t) in self.plan.tight_variable.iter().enumerate() {
            let y = self.unknown[j];
            self.change[t as usize] = y;
            // Division: a rounded reciprocal would bias every coefficient of this order in the same way at every step.
            self.taylor.put(self.variable_target[j], k + self.d[j], y / self.units[self.d[j]]);
        }
        for row in &self.spreads {
            let mut y = 0.0;
            for e in row.edges.0 as usize..row.edges.1 as usize {
                let p = self.partial[e];
                // The branch not taken may contain any value, even NaN.
                if p != 0.0 {
                    y += p * self.change[self.sources[e] as usize];
                }
            }
            self.change[row.number as usize] = y;
            let r = row.r as usize;
            self.taylor.add(row.to, k + r, y / self.units[r]);
        }
    }

    /// Stage 0 of a problem that is not quasilinear: Newton's method for the leading derivatives.
    pub fn newton(&mut self, limit: usize) -> Result<(), Error> {
        self.load(0);
        let n = self.unknown.len();
        let mut previous = f64::INFINITY;
        for iteration in 0..limit {
            self.taylor.stage(0);
            self.factor_jacobian()?;
            for i in 0..n {
                self.unknown[i] = -self.residual(i, 0);
            }
            let mut right = std::mem::take(&mut self.unknown);
            self.factor.solve(&mut right);
            let mut size = 0.0f64;
            for j in 0..n {
                let change = self.correct(j, 0, right[j]);
                let value = self.state[j * self.width() + self.d(j)] * self.powers[self.d(j)];
                let relative = change.abs() / self.weight[j].max(value.abs());
                // Written so that a NaN is propagated.
                size = if relative <= size { size } else { relative };
            }
            self.unknown = right;
            let stalled = size < 1e-9 && size >= 0.25 * previous;
            if size < 1e-15 || stalled || (size < 1e-8 && iteration > 0) {
                self.taylor.stage(0);
                return self.factor_jacobian();
            }
            if !size.is_finite() {
                break;
            }
            previous = size;
        }
        self.taylor.stage(0);
        let worst = (0..n).map(|i| (self.residual(i, 0).abs(), i)).fold((0.0, 0), |m, x| if x.0 <= m.0 { m } else { x });
        Err(Error::NoConvergence { t: self.taylor.t, equation: self.problem.equations[worst.1].clone(), residual: worst.0 })
    }

    /// Finite last coefficients mean finite coefficients throughout.
    fn check_finite(&mut self) -> Result<(), Error> {
        for j in 0..self.weight.len() {
            let row = self.problem.program.variables[j] as usize;
            let last = self.order + self.d(j);
            if !self.taylor.coefficients(row)[last].is_finite() {
                let error = Error::NonFinite { t: self.taylor.t, place: self.problem.variables[j].clone() };
                self.taylor.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Coefficients of variable `j` in scaled time.
    pub fn series(&self, j: usize) -> &[f64] {
        let row = self.problem.program.variables[j] as usize;
        &self.taylor.coefficients(row)[..=self.order + self.d(j)]
    }

    /// Coefficients of output, event or switching expression `e`; empty if none is determined.
    pub fn extra(&self, e: usize) -> &[f64] {
        let row = self.problem.program.extras[e] as usize;
        let known = (self.order as i32 + self.plan.need[row] + 1).max(0) as usize;
        let all = self.taylor.coefficients(row);
        &all[..known.min(all.len())]
    }

    /// Estimate of the reciprocal condition of the scaled Jacobian from solutions with a few irregular right-hand sides.
    pub fn condition(&mut self) -> f64 {
        let (row, column) = crate::singular::scaling(&self.plan.jacobian, &self.jacobian, self.weight.len());
        let n = row.len();
        let mut growth = 0.0f64;
        for seed in 1..=3 {
            let b: Vec<f64> = (0..n).map(|i| elementary::sin(0.7 + seed as f64 * (1.0 + i as f64))).collect();
            let mut x: Vec<f64> = b.iter().zip(&row).map(|(b, r)| b / r).collect();
            self.factor.solve(&mut x);
            let length = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
            let size = length(&mut x.iter().zip(&column).map(|(x, c)| x / c));
            growth = growth.max(size / length(&mut b.iter().copied()));
        }
        1.0 / (growth * (n as f64).sqrt())
    }

    /// Left and right vectors that the Jacobian nearly annihilates, by inverse iteration, and the reciprocal condition.
    pub fn null_vectors(&mut self) -> (Vec<f64>, Vec<f64>, f64) {
        crate::singular::null_vectors(&self.plan.jacobian, &self.jacobian, self.weight.len())
    }

    fn singular(&mut self) -> Error {
        if self.jacobian.iter().any(|x| !x.is_finite()) {
            let at = self.jacobian.iter().position(|x| !x.is_finite()).unwrap_or(0);
            let place = self.problem.equations[self.plan.jacobian[at].0 as usize].clone();
            let t = self.taylor.t;
            self.taylor.clear();
            return Error::NonFinite { t, place };
        }
        self.singular_error()
    }

    pub fn singular_error(&mut self) -> Error {
        let (left, right, rcond) = self.null_vectors();
        crate::singular::describe(&self.problem, self.taylor.t, &left, &right, rcond)
    }
}
