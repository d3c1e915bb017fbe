//! Derivatives of a motion with respect to numbers in its equations and to its start, along the steps of the motion itself.
//!
//! The equations of every stage are differentiated: the series of the derivatives satisfy linear systems with the matrix of the motion, so
//! that one factorisation serves all. Up to eight derivatives are stored side by side, for the lanes of vector registers.
//! ```text
//! w = a b         dw_m = sum a_i db_(m-i) + da_i b_(m-i)          w = a/b       dw b = da - w db
//! w = sqrt(a)     2 w dw = da                                     w = a^c       a dw = c w da
//! w = exp(a)      dw = w da                                       w = ln(a)     a dw = da
//! ```

use crate::engine::Engine;
use crate::integrate::Integrator;
use crate::plan::NONE;
use crate::program::PairKind;
use crate::step::binomials;
use crate::taylor::{Instruction, Kind, Read, Target, Taylor};

/// One number for each derivative.
type Lanes<const N: usize> = [f64; N];

/// Changes of the numbers of an instruction.
#[derive(Debug, Clone)]
struct Change<const N: usize> {
    /// The constant.
    constant: Lanes<N>,
    /// Terms that change: the coefficient, and the slot of the series it multiplies.
    terms: Vec<(Lanes<N>, u32)>,
    /// Products that change: the coefficient, and the slots of both factors.
    products: Vec<(Lanes<N>, u32, u32)>,
}

/// Derivatives of a motion, `N` of them side by side.
#[derive(Debug, Clone)]
pub struct Tangents<const N: usize> {
    /// Derivatives of all stored series, slot by slot.
    series: Vec<Lanes<N>>,
    /// Derivatives of the coefficient of the current stage of every row.
    current: Vec<Lanes<N>>,
    /// Changes by instruction; `None` if it has none.
    changes: Vec<Option<Box<Change<N>>>>,
    /// Forward slot of the series stored reversed in a slot.
    forward_of: Vec<u32>,
    /// Derivatives of the carried values, in the layout of the engine.
    state: Vec<Lanes<N>>,
    /// Right-hand sides and workspace.
    unknown: Vec<Lanes<N>>,
    work: Vec<Lanes<N>>,
    right: Vec<Lanes<N>>,
    change: Vec<Lanes<N>>,
    powers: Vec<f64>,
    binomials: Vec<f64>,
    /// Time, scale and order of the current series; `None` before the first step.
    at: Option<(f64, f64, usize)>,
    size: usize,
}

/// `sum += a x` in every lane.
#[inline(always)]
fn add<const N: usize>(sum: &mut Lanes<N>, a: f64, x: &Lanes<N>) {
    for l in 0..N {
        sum[l] += a * x[l];
    }
}

/// Sum of `a_i x_(m-i)` over the entries of `a`; `x` contains entries 0 to `m`.
#[inline(always)]
fn folded<const N: usize>(sum: &mut Lanes<N>, a: &[f64], x: &[Lanes<N>]) {
    // Two sums: consecutive products need not wait for each other.
    let (mut one, mut two) = ([0.0; N], [0.0; N]);
    let (pairs, rest) = a.as_chunks::<2>();
    let mut back = x.iter().rev();
    for [a, b] in pairs {
        let (Some(x), Some(y)) = (back.next(), back.next()) else { break };
        add(&mut one, *a, x);
        add(&mut two, *b, y);
    }
    if let ([a], Some(x)) = (rest, back.next()) {
        add(&mut one, *a, x);
    }
    for l in 0..N {
        sum[l] += one[l] + two[l];
    }
}

impl<const N: usize> Tangents<N> {
    /// Derivatives along a motion that has not started, with respect to changes of the numbers of its equations
    /// ([`constants`](crate::Problem::constants)); `None` if equations have branches or tables, or exponents change.
    pub fn new(of: &Integrator, changes: &[Vec<f64>]) -> Option<Self> {
        let (engine, problem) = (&of.engine, of.problem());
        if !problem.kinks.is_empty() || changes.len() > N || changes.iter().any(|c| c.len() != problem.constants().len()) {
            return None;
        }
        let t = &engine.taylor;
        let mut forward_of = vec![NONE; engine.plan.stored[1]];
        for to in t.targets.iter().filter(|to| to.rev != NONE) {
            forward_of[to.rev as usize] = to.fwd;
        }
        // The same instructions with the changes in place of the numbers.
        let changed: Vec<Taylor> =
            changes.iter().map(|c| Taylor::new(&problem.program.with_numbers(c), &engine.plan, t.size, problem.params, 0)).collect();
        let lanes = |f: &dyn Fn(&Taylor) -> f64| -> Lanes<N> { std::array::from_fn(|l| changed.get(l).map_or(0.0, f)) };
        let any = |x: &Lanes<N>| x.iter().any(|x| *x != 0.0);
        let mut list = Vec::new();
        for (n, i) in t.staged.iter().enumerate() {
            let mut change = Change { constant: [0.0; N], terms: Vec::new(), products: Vec::new() };
            match i.kind {
                Kind::Const(_) | Kind::Pow { .. } => {
                    change.constant = lanes(&|c| match c.staged[n].kind {
                        Kind::Const(x) | Kind::Pow { c: x, .. } => x,
                        _ => 0.0,
                    });
                }
                Kind::Quad { current, stored, prod, .. } => {
                    change.constant = lanes(&|c| if let Kind::Quad { c0, .. } = c.staged[n].kind { c0 } else { 0.0 });
                    for k in current.0 as usize..current.1 as usize {
                        change.terms.push((lanes(&|c| c.current_terms[k].0), t.targets[t.current_terms[k].1 as usize].fwd));
                    }
                    for k in stored.0 as usize..stored.1 as usize {
                        change.terms.push((lanes(&|c| c.stored_terms[k].0), t.stored_terms[k].1));
                    }
                    for k in prod.0 as usize..prod.1 as usize {
                        change.products.push((lanes(&|c| c.prod[k].0), t.prod[k].1, t.prod[k].2));
                    }
                    change.terms.retain(|x| any(&x.0));
                    change.products.retain(|x| any(&x.0));
                }
                _ => {}
            }
            if change.terms.iter().any(|x| x.1 == NONE) {
                return None;
            }
            let some = any(&change.constant) || !change.terms.is_empty() || !change.products.is_empty();
            if some && matches!(i.kind, Kind::Pow { .. }) {
                return None;
            }
            list.push(some.then(|| Box::new(change)));
        }
        let n = engine.weight.len();
        let right = engine.projections.iter().map(|p| p.right.len()).max().unwrap_or(0);
        let zero = [0.0; N];
        Some(Self {
            series: vec![zero; engine.plan.stored[0] * t.size],
            current: vec![zero; t.current.len()],
            changes: list,
            forward_of,
            state: vec![zero; engine.state.len()],
            unknown: vec![zero; n],
            work: vec![zero; n.max(right)],
            right: vec![zero; right],
            change: vec![zero; engine.plan.tight.len()],
            powers: vec![1.0; engine.width()],
            binomials: binomials(engine.width(), t.size),
            at: None,
            size: t.size,
        })
    }

    /// Sets the derivatives of variable `j`, or of its rate, at the start.
    pub fn set(&mut self, of: &Integrator, j: usize, rate: bool, lane: usize, value: f64) {
        let s = usize::from(rate);
        if s < of.engine.d(j) {
            self.state[j * of.engine.width() + s][lane] = value;
        }
    }

    /// Propagates the derivatives along the last step of the motion. To be called after every step.
    ///
    /// It is inlined with everything it calls, so that a caller compiled for wide registers applies them throughout.
    #[inline(always)]
    pub fn follow(&mut self, of: &Integrator) {
        let engine = &of.engine;
        let (t, scale) = (engine.taylor.t, engine.taylor.scale);
        if let Some((from, unit, order)) = self.at {
            self.carry(engine, (t - from) / unit, unit, order);
        }
        self.at = Some((t, scale, engine.order));
        for s in 1..self.powers.len() {
            self.powers[s] = self.powers[s - 1] * scale;
        }
        let mut k = -(engine.plan.d_max as i32);
        let mut projected = false;
        while k <= engine.order as i32 {
            if k < 0 {
                self.load(engine, k);
            } else {
                for j in 0..engine.weight.len() {
                    self.put(engine.variable_target[j], k as usize + engine.d(j), [0.0; N]);
                }
            }
            self.stage(&engine.taylor, k);
            if k >= 0 {
                self.solve(engine, k as usize);
            } else if !projected {
                // Corrected values are loaded, and the stage is repeated.
                projected = self.project(engine, k);
                if projected {
                    continue;
                }
            }
            projected = false;
            k += 1;
        }
    }

    /// Derivatives of a variable and of its rate at a time of the last step.
    pub fn at(&self, of: &Integrator, j: usize, t: f64) -> [Lanes<N>; 2] {
        let Some((from, scale, order)) = self.at else { return [[f64::NAN; N]; 2] };
        let tau = (t - from) / scale;
        let (mut value, mut rate) = ([0.0; N], [0.0; N]);
        for x in self.of_variable(&of.engine, j, order).iter().rev() {
            for l in 0..N {
                rate[l] = rate[l] * tau + value[l];
                value[l] = value[l] * tau + x[l];
            }
        }
        [value, rate.map(|r| r / scale)]
    }

    #[inline(always)]
    fn of_variable(&self, engine: &Engine, j: usize, order: usize) -> &[Lanes<N>] {
        let at = engine.variable_target[j].fwd as usize * self.size;
        &self.series[at..=at + order + engine.d(j)]
    }

    /// Carried values at a scaled time in the last step.
    #[inline(always)]
    fn carry(&mut self, engine: &Engine, theta: f64, scale: f64, order: usize) {
        let width = engine.width();
        for j in 0..engine.weight.len() {
            let mut power = 1.0;
            for s in 0..engine.d(j) {
                let b = &self.binomials[s * (self.size + 1)..];
                let mut sum = [0.0; N];
                for (m, x) in self.of_variable(engine, j, order).iter().enumerate().skip(s).rev() {
                    for l in 0..N {
                        sum[l] = sum[l] * theta + b[m] * x[l];
                    }
                }
                self.state[j * width + s] = sum.map(|x| x / power);
                power *= scale;
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, to: Target, m: usize, value: Lanes<N>) {
        self.current[to.row as usize] = value;
        if to.fwd != NONE {
            self.series[to.fwd as usize * self.size + m] = value;
        }
    }

    #[inline(always)]
    fn load(&mut self, engine: &Engine, k: i32) {
        for j in 0..engine.weight.len() {
            let s = k + engine.d(j) as i32;
            if s >= 0 {
                let s = s as usize;
                let value = self.state[j * engine.width() + s].map(|x| x * self.powers[s]);
                self.put(engine.variable_target[j], s, value);
            }
        }
    }

    /// Moves the carried derivatives of a stage to the nearest ones that satisfy its equations; `false` if it has none.
    #[inline(always)]
    fn project(&mut self, engine: &Engine, k: i32) -> bool {
        let Some(p) = engine.projections.iter().find(|p| p.stages.contains(&k)) else { return false };
        let nv = p.variables.len();
        let mut right = std::mem::take(&mut self.right);
        right[..nv].fill([0.0; N]);
        for (a, &i) in p.equations.iter().enumerate() {
            let i = i as usize;
            let unit = -engine.unit(k, engine.c(i)) * p.scale[nv + a];
            right[nv + a] = self.current[engine.equation_row[i] as usize].map(|x| x * unit);
        }
        p.factor.solve_lanes(&mut right[..nv + p.equations.len()], &mut self.work);
        for (a, &j) in p.variables.iter().enumerate() {
            let (j, d) = (j as usize, engine.d(j as usize));
            let s = (k + d as i32) as usize;
            let unit = p.scale[a] / (engine.unit(k, d) * self.powers[s]);
            let at = j * engine.width() + s;
            add(&mut self.state[at], unit, &right[a]);
        }
        self.right = right;
        true
    }

    /// Solves one stage, and completes all rows that depend on its unknowns.
    #[inline(always)]
    fn solve(&mut self, engine: &Engine, k: usize) {
        for ((x, &row), i) in self.unknown.iter_mut().zip(&engine.equation_row).zip(0..) {
            let unit = -engine.unit(k as i32, engine.c(i));
            *x = self.current[row as usize].map(|x| x * unit);
        }
        engine.factor.solve_lanes(&mut self.unknown, &mut self.work);
        for (j, &t) in engine.plan.tight_variable.iter().enumerate() {
            let (y, d) = (self.unknown[j], engine.d(j));
            self.change[t as usize] = y;
            let unit = engine.unit(k as i32, d);
            self.put(engine.variable_target[j], k + d, y.map(|y| y / unit));
        }
        for row in &engine.spreads {
            let mut y = [0.0; N];
            for e in row.edges.0 as usize..row.edges.1 as usize {
                add(&mut y, engine.partial[e], &self.change[engine.sources[e] as usize]);
            }
            self.change[row.number as usize] = y;
            if row.to.fwd != NONE {
                let unit = 1.0 / engine.unit(k as i32, row.r as usize);
                let at = row.to.fwd as usize * self.size + k + row.r as usize;
                add(&mut self.series[at], unit, &y);
                self.current[row.to.row as usize] = self.series[at];
            }
        }
    }

    /// The derivatives of coefficient `stage + need` of every row.
    #[inline(always)]
    fn stage(&mut self, of: &Taylor, stage: i32) {
        for (n, i) in of.staged.iter().enumerate() {
            let m = stage + i.need;
            if m >= 0 {
                self.execute(of, n, i, m as usize);
            }
        }
    }

    /// Derivatives of a stored series up to coefficient `m`.
    #[inline(always)]
    fn up_to(&self, place: u32, m: usize) -> &[Lanes<N>] {
        let at = place as usize * self.size;
        &self.series[at..=at + m]
    }

    /// Sum of the products of a stored series with the derivatives of another.
    #[inline(always)]
    fn product(&self, of: &Taylor, sum: &mut Lanes<N>, a: u32, da: u32, m: usize) {
        folded(sum, &of.up_to(a, m)[..=m], self.up_to(da, m));
    }

    /// The same without the last derivative, which is the unknown.
    #[inline(always)]
    fn earlier(&self, of: &Taylor, sum: &mut Lanes<N>, a: u32, da: u32, m: usize) {
        if m > 0 {
            folded(sum, &of.up_to(a, m)[1..=m], self.up_to(da, m - 1));
        }
    }

    #[inline(always)]
    fn execute(&mut self, of: &Taylor, n: usize, i: &Instruction, m: usize) {
        let to = i.to;
        let mut sum = [0.0; N];
        match i.kind {
            Kind::Quad { current, stored, prod, .. } => {
                for &(c, row) in &of.current_terms[current.0 as usize..current.1 as usize] {
                    add(&mut sum, c, &self.current[row as usize]);
                }
                for &(c, slot) in &of.stored_terms[stored.0 as usize..stored.1 as usize] {
                    add(&mut sum, c, &self.series[slot as usize * self.size + m]);
                }
                for &(c, a, b_rev) in &of.prod[prod.0 as usize..prod.1 as usize] {
                    let b = self.forward_of[b_rev as usize];
                    let mut own = [0.0; N];
                    self.product(of, &mut own, a, b, m);
                    if a == b {
                        add(&mut sum, 2.0 * c, &own);
                    } else {
                        self.product(of, &mut own, b, a, m);
                        add(&mut sum, c, &own);
                    }
                }
            }
            Kind::Diff { a, p } => {
                let mut factor = 1.0;
                for l in 1..=p as usize {
                    factor *= (m + l) as f64 / of.scale;
                }
                let x = match a {
                    Read::Current(row) => self.current[row as usize],
                    Read::Stored(slot) => self.series[slot as usize * self.size + m + p as usize],
                };
                add(&mut sum, factor, &x);
            }
            Kind::Const(_) => {}
            // Branches and tables are excluded; time does not vary.
            Kind::Time | Kind::Param(_) | Kind::Switch { .. } => {}
            _ => return self.function(of, i, m),
        }
        if let Some(change) = &self.changes[n] {
            if m == 0 {
                add(&mut sum, 1.0, &change.constant);
            }
            for (c, place) in &change.terms {
                add(&mut sum, of.stored(*place, m), c);
            }
            for (c, a, b_rev) in &change.products {
                add(&mut sum, of.product(*a, *b_rev, m), c);
            }
        }
        self.put(to, m, sum);
    }

    #[inline(always)]
    fn function(&mut self, of: &Taylor, i: &Instruction, m: usize) {
        let to = i.to;
        let (mut sum, mut less) = ([0.0; N], [0.0; N]);
        let over = |sum: &Lanes<N>, less: &Lanes<N>, x: f64| -> Lanes<N> { std::array::from_fn(|l| (sum[l] - less[l]) / x) };
        let value = match i.kind {
            Kind::Div { a, b, .. } => {
                sum = self.up_to(a, m)[m];
                self.product(of, &mut less, to.fwd, b, m);
                self.earlier(of, &mut less, b, to.fwd, m);
                over(&sum, &less, of.stored(b, 0))
            }
            Kind::Sqrt { a } => {
                sum = self.up_to(a, m)[m];
                self.earlier(of, &mut less, to.fwd, to.fwd, m);
                less = less.map(|x| 2.0 * x);
                over(&sum, &less, 2.0 * of.stored(to.fwd, 0))
            }
            Kind::Pow { a, c, .. } => {
                self.product(of, &mut sum, to.fwd, a, m);
                sum = sum.map(|x| c * x);
                self.earlier(of, &mut less, a, to.fwd, m);
                over(&sum, &less, of.stored(a, 0))
            }
            Kind::Exp { a, .. } => {
                self.product(of, &mut sum, to.fwd, a, m);
                sum
            }
            Kind::Log { a, .. } => {
                sum = self.up_to(a, m)[m];
                self.earlier(of, &mut less, a, to.fwd, m);
                over(&sum, &less, of.stored(a, 0))
            }
            Kind::Pair { a, kind, partner, .. } => {
                self.product(of, &mut sum, partner.fwd, a, m);
                match kind {
                    PairKind::SinCos | PairKind::SinhCosh => {
                        self.product(of, &mut less, to.fwd, a, m);
                        let sign = if kind == PairKind::SinCos { -1.0 } else { 1.0 };
                        self.put(partner, m, less.map(|x| sign * x));
                    }
                    PairKind::Tanh => {
                        self.put(to, m, sum);
                        self.product(of, &mut less, to.fwd, to.fwd, m);
                        self.put(partner, m, less.map(|x| -2.0 * x));
                    }
                }
                sum
            }
            Kind::Atan { a, b, .. } => {
                sum = self.up_to(a, m)[m];
                self.earlier(of, &mut less, b, to.fwd, m);
                over(&sum, &less, of.stored(b, 0))
            }
            Kind::Atan2 { y, x, q, .. } => {
                self.product(of, &mut sum, x.fwd, y.fwd, m);
                self.product(of, &mut less, y.fwd, x.fwd, m);
                self.earlier(of, &mut less, q, to.fwd, m);
                over(&sum, &less, of.stored(q, 0))
            }
            _ => return,
        };
        self.put(to, m, value);
    }
}
