//! The compiled tape: only rows whose values are needed, with sums and products of one expression combined in one row.

use crate::record::{Id, Op, Tape};

/// Start and end in a flat array.
pub(crate) type Span = (u32, u32);

/// Two functions evaluated together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PairKind {
    SinCos,
    SinhCosh,
    /// tanh and 1 - tanh^2
    Tanh,
}

/// One compiled row. Row numbers of arguments are smaller than its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Row {
    Const(f64),
    Time,
    Var(u32),
    Param(u32),
    /// c0 + sum of coefficient times row + sum of coefficient times row times row.
    Quad {
        c0: f64,
        lin: Span,
        prod: Span,
    },
    Div(u32, u32),
    Sqrt(u32),
    Pow(u32, f64),
    Exp(u32),
    Log(u32),
    /// First of two rows; the next one is its `Partner`.
    Pair(u32, PairKind),
    Partner,
    Atan(u32, u32),
    Atan2(u32, u32, u32),
    Diff(u32, u32),
    Switch(u32, u32, u32),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Program {
    pub rows: Vec<Row>,
    pub lin: Vec<(f64, u32)>,
    pub prod: Vec<(f64, u32, u32)>,
    pub equations: Vec<u32>,
    pub variables: Vec<u32>,
    /// Outputs, then events, then switching expressions of the kinks.
    pub extras: Vec<u32>,
    /// Whether all series read by linear terms are stored: derivatives with respect to their coefficients need them.
    pub keep: bool,
}

impl Program {
    /// Compiles the part of the tape that `equations` and `extras` use.
    pub fn compile(tape: &mut Tape, equations: &[Id], extras: &[Id], n_variables: usize) -> Self {
        let variables: Vec<Id> = (0..n_variables).map(|j| tape.push(Op::Var(j as u32))).collect();
        let ops = &tape.ops;
        let roots = || equations.iter().chain(extras).chain(&variables);
        let mut pinned = vec![false; ops.len()];
        let mut uses = vec![0u32; ops.len()];
        for &r in roots() {
            pinned[r as usize] = true;
        }
        // Dead code: count uses from the roots only.
        for id in (0..ops.len()).rev() {
            if pinned[id] || uses[id] > 0 {
                let (args, n) = Tape::args(&ops[id]);
                for &a in &args[..n] {
                    uses[a as usize] += 1;
                }
            }
        }
        let additive = |id: usize| matches!(ops[id], Op::Add(..) | Op::Scale(..) | Op::Mul(..));
        // A sum or product that is used only once, by a sum, is absorbed into it.
        let mut absorbed = vec![false; ops.len()];
        for id in 0..ops.len() {
            if !(pinned[id] || uses[id] > 0) || !matches!(ops[id], Op::Add(..) | Op::Scale(..)) {
                continue;
            }
            let (args, n) = Tape::args(&ops[id]);
            for &a in &args[..n] {
                let a = a as usize;
                if additive(a) && uses[a] == 1 && !pinned[a] {
                    absorbed[a] = true;
                }
            }
        }
        let mut p = Program::default();
        let mut row_of = vec![u32::MAX; ops.len()];
        let mut pair_of: std::collections::HashMap<(Id, u8), u32> = Default::default();
        for id in 0..ops.len() {
            if absorbed[id] || !(pinned[id] || uses[id] > 0) {
                continue;
            }
            // A constant precedes the first row that reads it, wherever it was recorded: equations with other numbers, some of them zero,
            // keep their order of rows. Constants of sums have no row.
            if matches!(ops[id], Op::Const(_)) && !pinned[id] {
                continue;
            }
            if !matches!(ops[id], Op::Add(..) | Op::Scale(..) | Op::Mul(..)) {
                let (args, n) = Tape::args(&ops[id]);
                args[..n].iter().for_each(|&a| p.constant(ops, &mut row_of, a));
            }
            let at = |a: Id| row_of[a as usize];
            let mut pair = |p: &mut Program, a: Id, kind: PairKind, second: u32| {
                let first = *pair_of.entry((a, kind as u8)).or_insert_with(|| {
                    p.rows.push(Row::Pair(at(a), kind));
                    p.rows.push(Row::Partner);
                    p.rows.len() as u32 - 2
                });
                first + second
            };
            let row = match ops[id] {
                Op::Const(c) => Row::Const(c),
                Op::Time => Row::Time,
                Op::Var(j) => Row::Var(j),
                Op::Param(k) => Row::Param(k),
                Op::Add(..) | Op::Scale(..) | Op::Mul(..) => p.quad(ops, id as Id, &absorbed, &mut row_of),
                Op::Div(a, b) => Row::Div(at(a), at(b)),
                Op::Sqrt(a) => Row::Sqrt(at(a)),
                Op::Pow(a, c) => Row::Pow(at(a), c),
                Op::Exp(a) => Row::Exp(at(a)),
                Op::Log(a) => Row::Log(at(a)),
                Op::Atan(a, b) => Row::Atan(at(a), at(b)),
                Op::Atan2(y, x, r) => Row::Atan2(at(y), at(x), at(r)),
                Op::Diff(a, q) => Row::Diff(at(a), q),
                Op::Switch(k, a, b) => Row::Switch(k, at(a), at(b)),
                Op::Sin(a) => {
                    row_of[id] = pair(&mut p, a, PairKind::SinCos, 0);
                    continue;
                }
                Op::Cos(a) => {
                    row_of[id] = pair(&mut p, a, PairKind::SinCos, 1);
                    continue;
                }
                Op::Sinh(a) => {
                    row_of[id] = pair(&mut p, a, PairKind::SinhCosh, 0);
                    continue;
                }
                Op::Cosh(a) => {
                    row_of[id] = pair(&mut p, a, PairKind::SinhCosh, 1);
                    continue;
                }
                Op::Tanh(a) => {
                    row_of[id] = pair(&mut p, a, PairKind::Tanh, 0);
                    continue;
                }
            };
            row_of[id] = p.rows.len() as u32;
            p.rows.push(row);
        }
        let rows = |ids: &[Id]| ids.iter().map(|&i| row_of[i as usize]).collect();
        p.equations = rows(equations);
        p.extras = rows(extras);
        p.variables = rows(&variables);
        p
    }

    /// Creates the row of a constant, unless it exists.
    fn constant(&mut self, ops: &[Op], row_of: &mut [u32], id: Id) {
        if let (Op::Const(c), u32::MAX) = (ops[id as usize], row_of[id as usize]) {
            row_of[id as usize] = self.rows.len() as u32;
            self.rows.push(Row::Const(c));
        }
    }

    /// Expands a sum with everything it absorbs. An explicit stack, since sums may be very long.
    fn quad(&mut self, ops: &[Op], root: Id, absorbed: &[bool], row_of: &mut [u32]) -> Row {
        let (lin0, prod0) = (self.lin.len() as u32, self.prod.len() as u32);
        let mut c0 = 0.0;
        let mut stack = vec![(1.0, root)];
        while let Some((c, id)) = stack.pop() {
            let open = id == root || absorbed[id as usize];
            match ops[id as usize] {
                Op::Const(x) => c0 += c * x,
                Op::Add(a, b) if open => {
                    stack.push((c, b));
                    stack.push((c, a));
                }
                Op::Scale(d, a) if open => stack.push((c * d, a)),
                Op::Mul(a, b) if open => {
                    [a, b].into_iter().for_each(|k| self.constant(ops, row_of, k));
                    self.prod.push((c, row_of[a as usize], row_of[b as usize]));
                }
                _ => self.lin.push((c, row_of[id as usize])),
            }
        }
        Row::Quad { c0, lin: (lin0, self.lin.len() as u32), prod: (prod0, self.prod.len() as u32) }
    }

    /// Calls `f` with every number, always in the same order.
    pub fn each_number(&mut self, mut f: impl FnMut(&mut f64)) {
        for row in &mut self.rows {
            if let Row::Const(c) | Row::Quad { c0: c, .. } | Row::Pow(_, c) = row {
                f(c);
            }
        }
        self.lin.iter_mut().for_each(|x| f(&mut x.0));
        self.prod.iter_mut().for_each(|x| f(&mut x.0));
    }

    /// A copy with other numbers.
    pub fn with_numbers(&self, numbers: &[f64]) -> Self {
        let (mut out, mut next) = (self.clone(), numbers.iter());
        out.each_number(|x| *x = next.next().copied().unwrap_or(*x));
        out
    }

    /// Whether two programs differ only in their numbers.
    pub fn is_like(&self, other: &Self) -> bool {
        let bare = |p: &Self| {
            let mut p = p.clone();
            p.each_number(|x| *x = 0.0);
            p
        };
        bare(self) == bare(other)
    }

    pub fn lin(&self, s: Span) -> &[(f64, u32)] {
        &self.lin[s.0 as usize..s.1 as usize]
    }

    pub fn prod(&self, s: Span) -> &[(f64, u32, u32)] {
        &self.prod[s.0 as usize..s.1 as usize]
    }

    /// Calls `f(argument, order of differentiation)` for every argument of row `v`.
    pub fn each_arg(&self, v: usize, mut f: impl FnMut(usize, u32)) {
        match self.rows[v] {
            Row::Const(_) | Row::Time | Row::Var(_) | Row::Param(_) => {}
            Row::Quad { lin, prod, .. } => {
                for &(_, a) in self.lin(lin) {
                    f(a as usize, 0);
                }
                for &(_, a, b) in self.prod(prod) {
                    f(a as usize, 0);
                    f(b as usize, 0);
                }
            }
            Row::Sqrt(a) | Row::Pow(a, _) | Row::Exp(a) | Row::Log(a) | Row::Pair(a, _) => f(a as usize, 0),
            Row::Partner => f(v - 1, 0),
            Row::Div(a, b) | Row::Atan(a, b) | Row::Switch(_, a, b) => {
                f(a as usize, 0);
                f(b as usize, 0);
            }
            Row::Atan2(y, x, r) => {
                f(y as usize, 0);
                f(x as usize, 0);
                f(r as usize, 0);
            }
            Row::Diff(a, p) => f(a as usize, p),
        }
    }

    /// Whether the row's value is a linear function of its arguments (assuming that all of them vary).
    pub fn is_linear(&self, v: usize) -> bool {
        match self.rows[v] {
            Row::Quad { prod, .. } => prod.0 == prod.1,
            Row::Const(_) | Row::Time | Row::Var(_) | Row::Param(_) | Row::Diff(..) | Row::Switch(..) => true,
            _ => false,
        }
    }

    /// Rows used by equations, as opposed to outputs and events only.
    pub fn reached_by_equations(&self) -> Vec<bool> {
        let mut reached = vec![false; self.rows.len()];
        for &v in self.equations.iter().chain(&self.variables) {
            reached[v as usize] = true;
        }
        for v in (0..self.rows.len()).rev() {
            if reached[v] {
                self.each_arg(v, |a, _| reached[a] = true);
            }
        }
        // A pair is computed as a whole.
        for v in 0..self.rows.len() {
            if matches!(self.rows[v], Row::Pair(..)) {
                let both = reached[v] || reached[v + 1];
                reached[v] = both;
                reached[v + 1] = both;
            }
        }
        reached
    }
}
