//! The fixed plan for every stage of the expansion: needs, tight rows, storage, and the gradient sweep.
//!
//! Stage k computes coefficient k + r of every row, where the need r is the highest derivative of the row that the
//! differentiated equations contain: r = c_i for equation i, and r of an argument is at least r of its user, plus p for
//! a `Diff` of order p. For variable j this gives r = d_j. A row is *tight* if its coefficient of stage k depends on the
//! unknowns of stage k. All partial derivatives along tight rows are made of zeroth coefficients, the same for all k.

use crate::program::{PairKind, Program, Row, Span};

pub(crate) const NONE: u32 = u32::MAX;

/// Form of the partial derivative of a tight row with respect to a tight argument, from zeroth coefficients of stored rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Partial {
    /// Constant plus a sum over `terms` of coefficient times row.
    Linear(f64, Span),
    Inverse(u32),
    /// minus first over second
    MinusRatio(u32, u32),
    Ratio(u32, u32),
    /// half of the inverse
    HalfInverse(u32),
    /// c * second / first
    Power(f64, u32, u32),
    Row(f64, u32),
    /// -2 times product: derivative of 1 - tanh^2
    MinusTwice(u32, u32),
    /// 1 if the kink is on the side given
    Side(u32, bool),
}

/// A row that depends on the unknowns of its stage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tight {
    pub row: u32,
    pub r: u32,
    pub edges: Span,
    /// Its range in the gradient array.
    pub gradient: Span,
    /// Whether its value is needed after the stage.
    pub kept: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub source: u32,
    pub partial: Partial,
    /// Start in `Plan::map`: destination of each entry of the source's gradient.
    pub map: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub d_max: usize,
    /// Need of each row; for rows used only by outputs and events, the order to which they can be determined (may be negative).
    pub need: Vec<i32>,
    /// Rows evaluated at every stage, and rows evaluated after the last.
    pub staged: Vec<u32>,
    pub after: Vec<u32>,
    /// Storage of forward, reversed and derivative-weighted coefficients; `NONE` if not stored.
    pub forward: Vec<u32>,
    pub reversed: Vec<u32>,
    pub weighted: Vec<u32>,
    pub stored: [usize; 3],
    pub tight: Vec<Tight>,
    /// Index among the tight rows of each variable and equation.
    pub tight_variable: Vec<u32>,
    pub edges: Vec<Edge>,
    pub terms: Vec<(f64, u32)>,
    pub map: Vec<u32>,
    pub gradient_size: usize,
    /// Entries (equation, variable) of the system Jacobian and their place in the gradient array.
    pub jacobian: Vec<(u32, u32)>,
    pub jacobian_at: Vec<u32>,
    /// Stages 0, -1, -2, ... that need Newton's method.
    pub nonlinear: Vec<bool>,
}

/// Needs of the rows used by equations; -1 elsewhere.
fn needs(program: &Program, c: &[usize], reached: &[bool]) -> Vec<i32> {
    let mut need = vec![-1i32; program.rows.len()];
    for (&v, &ci) in program.equations.iter().zip(c) {
        need[v as usize] = need[v as usize].max(ci as i32);
    }
    for v in (0..program.rows.len()).rev() {
        if !reached[v] {
            continue;
        }
        if matches!(program.rows[v], Row::Pair(..)) {
            let both = need[v].max(need[v + 1]);
            need[v] = both;
            need[v + 1] = both;
        }
        let own = need[v];
        if own >= 0 {
            program.each_arg(v, |a, p| need[a] = need[a].max(own + p as i32));
        }
    }
    need
}

/// Calls `f(argument)` for the arguments on which row `v` depends tightly.
fn tight_args(program: &Program, v: usize, need: &[i32], tight: &[bool], mut f: impl FnMut(usize)) {
    let mut check = |a: usize, p: i32| {
        if tight[a] && need[a] == need[v] + p {
            f(a);
        }
    };
    match program.rows[v] {
        // The second argument of atan and the third of atan2 repeat the others.
        Row::Atan(a, _) => check(a as usize, 0),
        Row::Atan2(y, x, _) => {
            check(y as usize, 0);
            check(x as usize, 0);
        }
        Row::Partner => {
            if let Row::Pair(a, _) = program.rows[v - 1] {
                check(a as usize, 0);
            }
        }
        _ => program.each_arg(v, |a, p| check(a, p as i32)),
    }
}

fn tight_rows(program: &Program, need: &[i32], reached: &[bool]) -> Vec<bool> {
    let mut tight = vec![false; program.rows.len()];
    for v in 0..program.rows.len() {
        if reached[v] && need[v] >= 0 {
            let mut any = matches!(program.rows[v], Row::Var(_));
            tight_args(program, v, need, &tight, |_| any = true);
            tight[v] = any;
        }
    }
    tight
}

/// Whether row `v` is nonlinear in its tight arguments.
fn nonlinear(program: &Program, v: usize, need: &[i32], tight: &[bool]) -> bool {
    let on = |a: u32| tight[a as usize] && need[a as usize] == need[v];
    match program.rows[v] {
        Row::Quad { prod, .. } => program.prod(prod).iter().any(|&(_, a, b)| on(a) && on(b)),
        Row::Div(_, b) => on(b),
        _ => tight[v] && !program.is_linear(v),
    }
}

/// First stage from which on all stages are linear.
pub(crate) fn linear_from_stage(program: &Program, c: &[usize]) -> i32 {
    let reached = program.reached_by_equations();
    let need = needs(program, c, &reached);
    let tight = tight_rows(program, &need, &reached);
    let rows = (0..program.rows.len()).filter(|&v| tight[v] && nonlinear(program, v, &need, &tight));
    rows.map(|v| 1 - need[v]).max().unwrap_or(i32::MIN / 2)
}

impl Plan {
    pub fn new(program: &Program, c: &[usize], d: &[usize]) -> Self {
        let n_rows = program.rows.len();
        let reached = program.reached_by_equations();
        let mut need = needs(program, c, &reached);
        let d_max = d.iter().copied().max().unwrap_or(0);
        let is_tight = tight_rows(program, &need, &reached);
        let mut nonlinear_stages = vec![false; d_max + 1];
        for v in (0..n_rows).filter(|&v| is_tight[v]) {
            if nonlinear(program, v, &need, &is_tight) {
                nonlinear_stages[(need[v] as usize).min(d_max)] = true;
            }
        }
        // Rows of outputs and events are determined as far as their arguments.
        for v in (0..n_rows).filter(|&v| !reached[v]) {
            let mut far = d_max as i32;
            program.each_arg(v, |a, p| far = far.min(need[a] - p as i32));
            need[v] = far;
        }
        let mut plan = Plan {
            d_max,
            staged: (0..n_rows as u32).filter(|&v| reached[v as usize] && need[v as usize] >= 0).collect(),
            after: (0..n_rows as u32).filter(|&v| !reached[v as usize]).collect(),
            forward: Vec::new(),
            reversed: Vec::new(),
            weighted: Vec::new(),
            stored: [0; 3],
            tight: Vec::new(),
            tight_variable: vec![NONE; d.len()],
            edges: Vec::new(),
            terms: Vec::new(),
            map: Vec::new(),
            gradient_size: 0,
            jacobian: Vec::new(),
            jacobian_at: Vec::new(),
            nonlinear: nonlinear_stages,
            need,
        };
        plan.choose_storage(program, &reached, &is_tight);
        plan.collect_tight(program, &is_tight);
        plan
    }

    /// Decides which rows store their coefficients, and in which form.
    fn choose_storage(&mut self, program: &Program, reached: &[bool], tight: &[bool]) {
        let n_rows = program.rows.len();
        let (mut f, mut r, mut w) = (vec![false; n_rows], vec![false; n_rows], vec![false; n_rows]);
        for &v in program.variables.iter().chain(&program.extras) {
            f[v as usize] = true;
        }
        for v in 0..n_rows {
            let need = &self.need;
            match program.rows[v] {
                Row::Const(_) | Row::Time | Row::Var(_) | Row::Param(_) | Row::Partner => {}
                Row::Quad { lin, prod, .. } => {
                    for &(_, a) in program.lin(lin) {
                        f[a as usize] |= program.keep || !reached[v] || need[a as usize] != need[v];
                    }
                    for &(_, a, b) in program.prod(prod) {
                        let (a, b) = (a as usize, b as usize);
                        f[a] = true;
                        f[b] = true;
                        // Reverse the factor that is already reversed, if any.
                        if !r[a] && !r[b] {
                            r[b] = true;
                        }
                    }
                }
                Row::Diff(a, p) => f[a as usize] |= !reached[v] || need[a as usize] != need[v] + p as i32,
                Row::Switch(_, a, b) => {
                    f[a as usize] |= !reached[v] || need[a as usize] != need[v];
                    f[b as usize] |= !reached[v] || need[b as usize] != need[v];
                }
                Row::Div(a, b) => {
                    f[v] = true;
                    f[a as usize] = true;
                    r[b as usize] = true;
                }
                Row::Sqrt(a) => {
                    r[v] = true;
                    f[a as usize] = true;
                }
                Row::Pow(a, _) => {
                    r[v] = true;
                    w[a as usize] = true;
                }
                Row::Exp(a) => {
                    r[v] = true;
                    w[a as usize] = true;
                }
                Row::Log(a) => {
                    w[v] = true;
                    r[a as usize] = true;
                }
                Row::Pair(a, _) => {
                    r[v] = true;
                    r[v + 1] = true;
                    w[a as usize] = true;
                }
                Row::Atan(a, b) => {
                    w[v] = true;
                    f[a as usize] = true;
                    r[b as usize] = true;
                }
                Row::Atan2(y, x, q) => {
                    w[v] = true;
                    for a in [y, x] {
                        w[a as usize] = true;
                        r[a as usize] = true;
                    }
                    r[q as usize] = true;
                }
            }
            // Partial derivatives read zeroth coefficients, for some functions those of the row itself.
            f[v] |= tight[v] && !program.is_linear(v) && !matches!(program.rows[v], Row::Quad { .. });
        }
        let mut slots = |wanted: &dyn Fn(usize) -> bool, which: usize| -> Vec<u32> {
            let mut next = 0u32;
            let slot = (0..n_rows)
                .map(|v| {
                    if !wanted(v) {
                        return NONE;
                    }
                    next += 1;
                    next - 1
                })
                .collect();
            self.stored[which] = next as usize;
            slot
        };
        let forward = slots(&|v| f[v] || r[v] || w[v], 0);
        let reversed = slots(&|v| r[v], 1);
        let weighted = slots(&|v| w[v], 2);
        (self.forward, self.reversed, self.weighted) = (forward, reversed, weighted);
    }

    fn collect_tight(&mut self, program: &Program, is_tight: &[bool]) {
        let n_rows = program.rows.len();
        // Kept: stored itself, or used by a kept row.
        let mut kept: Vec<bool> = (0..n_rows).map(|v| is_tight[v] && self.forward[v] != NONE).collect();
        for v in (0..n_rows).rev().filter(|&v| is_tight[v]) {
            if kept[v] {
                tight_args(program, v, &self.need, is_tight, |a| kept[a] = true);
            }
        }
        let mut number = vec![NONE; n_rows];
        let mut columns: Vec<Vec<u32>> = Vec::new();
        let mut sources: Vec<usize> = Vec::new();
        for v in (0..n_rows).filter(|&v| is_tight[v]) {
            sources.clear();
            tight_args(program, v, &self.need, is_tight, |a| sources.push(a));
            sources.sort_unstable();
            sources.dedup();
            let mut own: Vec<u32> = match program.rows[v] {
                Row::Var(j) => vec![j],
                _ => sources.iter().flat_map(|&a| columns[number[a] as usize].iter().copied()).collect(),
            };
            own.sort_unstable();
            own.dedup();
            let first_edge = self.edges.len() as u32;
            let gradient = self.gradient_size as u32;
            for &a in &sources {
                let map = self.map.len() as u32;
                let from = &columns[number[a] as usize];
                // Both lists are sorted and every source column occurs in `own`.
                let mut at = 0;
                for j in from {
                    while own[at] != *j {
                        at += 1;
                    }
                    self.map.push(gradient + at as u32);
                }
                let partial = self.partial(program, v, a);
                self.edges.push(Edge { source: number[a], partial, map });
            }
            number[v] = self.tight.len() as u32;
            if let Row::Var(j) = program.rows[v] {
                self.tight_variable[j as usize] = number[v];
            }
            self.gradient_size += own.len();
            self.tight.push(Tight {
                row: v as u32,
                r: self.need[v] as u32,
                edges: (first_edge, self.edges.len() as u32),
                gradient: (gradient, self.gradient_size as u32),
                kept: kept[v],
            });
            columns.push(own);
        }
        for (i, &v) in program.equations.iter().enumerate() {
            if number[v as usize] == NONE {
                continue;
            }
            let t = number[v as usize] as usize;
            for (at, &j) in columns[t].iter().enumerate() {
                self.jacobian.push((i as u32, j));
                self.jacobian_at.push(self.tight[t].gradient.0 + at as u32);
            }
        }
    }

    /// The partial derivative of row `v` with respect to its argument `a`.
    fn partial(&mut self, program: &Program, v: usize, a: usize) -> Partial {
        let at = |row: u32| self.forward[row as usize];
        let (own, au) = (self.forward[v], a as u32);
        match program.rows[v] {
            Row::Quad { lin, prod, .. } => {
                let constant = program.lin(lin).iter().filter(|e| e.1 == au).map(|e| e.0).sum();
                let first = self.terms.len() as u32;
                for &(c, x, y) in program.prod(prod) {
                    if x == au {
                        self.terms.push((c, self.forward[y as usize]));
                    }
                    if y == au {
                        self.terms.push((c, self.forward[x as usize]));
                    }
                }
                Partial::Linear(constant, (first, self.terms.len() as u32))
            }
            // A quotient of two equal nodes is folded at recording, so the roles are distinct.
            Row::Div(x, y) if x == au => Partial::Inverse(at(y)),
            Row::Div(_, y) => Partial::MinusRatio(own, at(y)),
            Row::Sqrt(_) => Partial::HalfInverse(own),
            Row::Pow(x, c) => Partial::Power(c, at(x), own),
            Row::Exp(_) => Partial::Row(1.0, own),
            Row::Log(x) => Partial::Inverse(at(x)),
            Row::Pair(..) => Partial::Row(1.0, self.forward[v + 1]),
            Row::Partner => match program.rows[v - 1] {
                Row::Pair(_, PairKind::SinCos) => Partial::Row(-1.0, self.forward[v - 1]),
                Row::Pair(_, PairKind::SinhCosh) => Partial::Row(1.0, self.forward[v - 1]),
                _ => Partial::MinusTwice(self.forward[v - 1], own),
            },
            Row::Atan(_, b) => Partial::Inverse(at(b)),
            Row::Atan2(y, x, _) if y == x => Partial::Linear(0.0, (0, 0)),
            Row::Atan2(y, x, q) if y == au => Partial::Ratio(at(x), at(q)),
            Row::Atan2(y, _, q) => Partial::MinusRatio(at(y), at(q)),
            Row::Switch(k, x, _) => Partial::Side(k, x == au),
            Row::Const(_) | Row::Time | Row::Var(_) | Row::Param(_) | Row::Diff(..) => Partial::Linear(1.0, (0, 0)),
        }
    }
}
