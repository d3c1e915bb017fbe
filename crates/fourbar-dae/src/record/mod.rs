//! Recording: expressions become nodes of a tape; equal nodes are merged and constants folded at entry.
//!
//! One tape is recorded at a time on each thread. A finished one can be evaluated with numbers of any kind, differentiated numerically, and
//! replayed onto another tape, such as that of a problem.

mod grad;
mod hash;
mod node;
mod play;

pub(crate) use grad::gradient;
pub use node::Node;

use fourbar_math::elementary;
use fourbar_math::{Dual, Piecewise};
use hash::Quick;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) type Id = u32;

/// One recorded operation. Arguments have smaller indices than the node itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    Const(f64),
    Time,
    Var(u32),
    /// Constant within a step, changed by kinks: coefficient of a table's current piece.
    Param(u32),
    Add(Id, Id),
    Scale(f64, Id),
    Mul(Id, Id),
    Div(Id, Id),
    Sqrt(Id),
    Pow(Id, f64),
    Exp(Id),
    Log(Id),
    Sin(Id),
    Cos(Id),
    Sinh(Id),
    Cosh(Id),
    Tanh(Id),
    /// Argument and the node 1 + argument^2.
    Atan(Id, Id),
    /// y, x and the node x^2 + y^2.
    Atan2(Id, Id, Id),
    Diff(Id, u32),
    /// Kink number, value if its switching node is not negative, value if it is.
    Switch(u32, Id, Id),
}

/// Key by which equal operations are found.
type Key = (u8, Id, Id, u64);

/// A place where the expression changes its form.
#[derive(Debug, Clone)]
pub(crate) enum Kink {
    /// Two branches, selected by the sign of a node.
    Sign { node: Id },
    /// Pieces of a table; five parameters from `param`: left end and four coefficients.
    Table { node: Id, table: Piecewise, param: u32 },
}

impl Kink {
    /// The node whose value selects the branch or piece.
    pub fn node(&self) -> Id {
        match self {
            Kink::Sign { node } | Kink::Table { node, .. } => *node,
        }
    }
}

/// A start around which a tape is recorded, so that every result has a value.
#[derive(Debug, Clone)]
struct Around {
    time: f64,
    /// Values and rates of the variables.
    variables: Vec<[f64; 2]>,
    /// Value and rate of every node.
    known: Vec<Dual>,
}

/// Recorded operations, each a node; [`Node`]s are its results.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    /// Distinguishes its nodes from those of other tapes.
    stamp: u32,
    pub(crate) ops: Vec<Op>,
    merged: Quick<Key, Id>,
    pub(crate) kinks: Vec<Kink>,
    /// Indices of the kinks that are tables, in order of their parameters.
    tables: Vec<u32>,
    around: Option<Around>,
    refused: Vec<&'static str>,
}

thread_local! {
    /// The current tape of this thread.
    static CURRENT: RefCell<Tape> = RefCell::default();
}

/// Parameters of a table: left end and four coefficients.
const PARAMETERS: u32 = 5;

/// Runs `f` on the current tape.
fn with<R>(f: impl FnOnce(&mut Tape) -> R) -> R {
    CURRENT.with_borrow_mut(f)
}

/// Time and `n` variables on the current tape.
pub(crate) fn leaves(n: usize) -> (Node, Vec<Node>) {
    (Node::time(), variables(0..n))
}

/// Variables of the current tape by index.
pub(crate) fn variables(numbers: std::ops::Range<usize>) -> Vec<Node> {
    with(|t| {
        let ids: Vec<Id> = numbers.map(|j| t.push(Op::Var(j as u32))).collect();
        ids.into_iter().map(|id| t.node(id)).collect()
    })
}

impl Tape {
    /// Runs `f` with a new tape and returns the tape with the result of `f`. Recordings may be nested; nodes belong to the tape on which
    /// they were recorded, and are NaN on any other.
    pub fn record<R>(f: impl FnOnce() -> R) -> (Self, R) {
        Self::default().recording(f)
    }

    /// The same around a start at `time`: results have values, and [`Node::variable`] creates variables with values and rates.
    pub fn record_around<R>(time: f64, f: impl FnOnce() -> R) -> (Self, R) {
        let around = Around { time, variables: Vec::new(), known: Vec::new() };
        Self { around: Some(around), ..Self::default() }.recording(f)
    }

    fn recording<R>(mut self, f: impl FnOnce() -> R) -> (Self, R) {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        self.stamp = NEXT.fetch_add(1, Ordering::Relaxed);
        let outer = CURRENT.replace(self);
        let result = f();
        (CURRENT.replace(outer), result)
    }

    /// Values and rates of the variables at the start around which the tape was recorded, by index.
    pub fn variables(&self) -> &[[f64; 2]] {
        self.around.as_ref().map_or(&[], |a| &a.variables)
    }

    /// Requested operations without a Taylor series.
    pub fn refused(&self) -> &[&'static str] {
        &self.refused
    }

    /// Number of parameters of all tables.
    pub(crate) fn params(&self) -> u32 {
        PARAMETERS * self.tables.len() as u32
    }

    fn variable(&mut self, value: f64, rate: f64) -> Node {
        let Some(around) = &mut self.around else { return Node::Number(f64::NAN) };
        around.variables.push([value, rate]);
        let number = around.variables.len() as u32 - 1;
        let id = self.push(Op::Var(number));
        self.node(id)
    }

    /// Value and rate of a node at the start; NaN without one.
    fn at_start(&self, id: Id) -> Dual {
        let known = self.around.as_ref().and_then(|a| a.known.get(id as usize));
        known.copied().unwrap_or(Dual { c: [f64::NAN; 2] })
    }

    fn node(&self, id: Id) -> Node {
        match self.as_const(id) {
            Some(value) => Node::Number(value),
            None => Node::Result { tape: self.stamp, id },
        }
    }

    fn key(op: &Op) -> Key {
        match *op {
            Op::Const(c) => (0, 0, 0, c.to_bits()),
            Op::Time => (1, 0, 0, 0),
            Op::Var(j) => (2, j, 0, 0),
            Op::Param(k) => (3, k, 0, 0),
            Op::Add(a, b) => (4, a, b, 0),
            Op::Scale(c, a) => (5, a, 0, c.to_bits()),
            Op::Mul(a, b) => (6, a, b, 0),
            Op::Div(a, b) => (7, a, b, 0),
            Op::Sqrt(a) => (8, a, 0, 0),
            Op::Pow(a, c) => (9, a, 0, c.to_bits()),
            Op::Exp(a) => (10, a, 0, 0),
            Op::Log(a) => (11, a, 0, 0),
            Op::Sin(a) => (12, a, 0, 0),
            Op::Cos(a) => (13, a, 0, 0),
            Op::Sinh(a) => (14, a, 0, 0),
            Op::Cosh(a) => (15, a, 0, 0),
            Op::Tanh(a) => (16, a, 0, 0),
            Op::Atan(a, _) => (17, a, 0, 0),
            Op::Atan2(y, x, _) => (18, y, x, 0),
            Op::Diff(a, p) => (19, a, p, 0),
            Op::Switch(k, a, b) => (20, a, b, u64::from(k)),
        }
    }

    pub(crate) fn push(&mut self, op: Op) -> Id {
        let next = self.ops.len() as Id;
        let id = *self.merged.entry(Self::key(&op)).or_insert(next);
        if id == next {
            if let Some(around) = &self.around {
                let start = self.value_at_start(&op, around);
                self.around.iter_mut().for_each(|a| a.known.push(start));
            }
            self.ops.push(op);
        }
        id
    }

    pub(crate) fn constant(&mut self, c: f64) -> Id {
        // A single zero, regardless of its sign.
        self.push(Op::Const(if c == 0.0 { 0.0 } else { c }))
    }

    pub(crate) fn as_const(&self, id: Id) -> Option<f64> {
        match self.ops[id as usize] {
            Op::Const(c) => Some(c),
            _ => None,
        }
    }

    /// Splits a node into a constant factor and the rest.
    fn scaled(&self, id: Id) -> (f64, Id) {
        match self.ops[id as usize] {
            Op::Scale(c, a) => (c, a),
            _ => (1.0, id),
        }
    }

    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), Some(y)) => return self.constant(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        // c a + d a = (c + d) a, which also turns a - a into 0.
        let ((c, x), (d, y)) = (self.scaled(a), self.scaled(b));
        if x == y {
            return self.scale(c + d, x);
        }
        self.push(Op::Add(a.min(b), a.max(b)))
    }

    pub(crate) fn scale(&mut self, c: f64, a: Id) -> Id {
        if let Some(x) = self.as_const(a) {
            return self.constant(c * x);
        }
        let (d, x) = self.scaled(a);
        match c * d {
            0.0 => self.constant(0.0),
            1.0 => x,
            e => self.push(Op::Scale(e, x)),
        }
    }

    pub(crate) fn sub(&mut self, a: Id, b: Id) -> Id {
        let minus = self.scale(-1.0, b);
        self.add(a, minus)
    }

    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        match (self.as_const(a), self.as_const(b)) {
            (Some(x), _) => return self.scale(x, b),
            (_, Some(y)) => return self.scale(y, a),
            _ => {}
        }
        let ((c, x), (d, y)) = (self.scaled(a), self.scaled(b));
        let product = self.push(Op::Mul(x.min(y), x.max(y)));
        self.scale(c * d, product)
    }

    pub(crate) fn div(&mut self, a: Id, b: Id) -> Id {
        if let Some(y) = self.as_const(b) {
            return match self.as_const(a) {
                Some(x) => self.constant(x / y),
                None if y == 0.0 => self.constant(f64::NAN),
                None => self.divide_by(a, y),
            };
        }
        let ((c, x), (d, y)) = (self.scaled(a), self.scaled(b));
        if x == y {
            return self.constant(c / d);
        }
        if self.as_const(x) == Some(0.0) {
            return x;
        }
        // The factor of a constant numerator stays inside, so that 2/x is one node.
        let quotient = self.push(Op::Div(x, y));
        self.scale(c / d, quotient)
    }

    fn divide_by(&mut self, a: Id, y: f64) -> Id {
        let (c, x) = self.scaled(a);
        let e = c / y;
        if e == 1.0 { x } else { self.push(Op::Scale(e, x)) }
    }

    /// A function of one argument, evaluated immediately if the argument is a constant.
    pub(crate) fn unary(&mut self, a: Id, value: fn(f64) -> f64, op: fn(Id) -> Op) -> Id {
        match self.as_const(a) {
            Some(x) => self.constant(value(x)),
            None => self.push(op(a)),
        }
    }

    pub(crate) fn pow(&mut self, a: Id, c: f64) -> Id {
        if let Some(x) = self.as_const(a) {
            return self.constant(elementary::powf(x, c));
        }
        match c {
            0.0 => self.constant(1.0),
            1.0 => a,
            2.0 => self.mul(a, a),
            0.5 => self.push(Op::Sqrt(a)),
            _ => self.push(Op::Pow(a, c)),
        }
    }

    pub(crate) fn atan(&mut self, a: Id) -> Id {
        if let Some(x) = self.as_const(a) {
            return self.constant(elementary::atan(x));
        }
        let one = self.constant(1.0);
        let square = self.mul(a, a);
        let b = self.add(one, square);
        self.push(Op::Atan(a, b))
    }

    pub(crate) fn atan2(&mut self, y: Id, x: Id) -> Id {
        if let (Some(y), Some(x)) = (self.as_const(y), self.as_const(x)) {
            return self.constant(elementary::atan2(y, x));
        }
        let (yy, xx) = (self.mul(y, y), self.mul(x, x));
        let r = self.add(xx, yy);
        self.push(Op::Atan2(y, x, r))
    }

    pub(crate) fn diff(&mut self, a: Id, p: u32) -> Id {
        if p == 0 {
            return a;
        }
        match self.ops[a as usize] {
            Op::Const(_) | Op::Param(_) => self.constant(0.0),
            Op::Time => self.constant(if p == 1 { 1.0 } else { 0.0 }),
            Op::Scale(c, x) => {
                let rate = self.diff(x, p);
                self.scale(c, rate)
            }
            Op::Diff(x, q) => self.push(Op::Diff(x, p + q)),
            Op::Add(..) => match self.linear_terms(a) {
                Some(terms) => {
                    let mut sum = self.constant(0.0);
                    for (c, x) in terms {
                        let rate = self.diff(x, p);
                        let term = self.scale(c, rate);
                        sum = self.add(sum, term);
                    }
                    sum
                }
                None => self.push(Op::Diff(a, p)),
            },
            _ => self.push(Op::Diff(a, p)),
        }
    }

    /// The terms of a short sum of variables, their derivatives and constants; `None` for anything else. Differentiating such a sum term by
    /// term saves the rows of the sum, for example for momenta with constant masses.
    fn linear_terms(&self, sum: Id) -> Option<Vec<(f64, Id)>> {
        let mut terms = Vec::new();
        let mut open = vec![(1.0, sum)];
        while let Some((c, id)) = open.pop() {
            match self.ops[id as usize] {
                Op::Add(a, b) => open.extend([(c, b), (c, a)]),
                Op::Scale(d, a) => open.push((c * d, a)),
                Op::Var(_) | Op::Diff(..) | Op::Const(_) | Op::Time | Op::Param(_) => terms.push((c, id)),
                _ => return None,
            }
            if terms.len() + open.len() > 32 {
                return None;
            }
        }
        Some(terms)
    }

    pub(crate) fn switch(&mut self, node: Id, a: Id, b: Id) -> Id {
        if let Some(x) = self.as_const(node) {
            return if x >= 0.0 { a } else { b };
        }
        if a == b {
            return a;
        }
        let same = self.kinks.iter().position(|k| matches!(k, Kink::Sign { node: n } if *n == node));
        let k = same.unwrap_or_else(|| {
            self.kinks.push(Kink::Sign { node });
            self.kinks.len() - 1
        });
        self.push(Op::Switch(k as u32, a, b))
    }

    /// A new table at a node, and its parameters.
    fn parameters(&mut self, node: Id, table: &Piecewise) -> [Id; PARAMETERS as usize] {
        let param = self.params();
        self.tables.push(self.kinks.len() as u32);
        self.kinks.push(Kink::Table { node, table: table.clone(), param });
        std::array::from_fn(|k| self.push(Op::Param(param + k as u32)))
    }

    pub(crate) fn table(&mut self, node: Id, table: &Piecewise) -> Id {
        if let Some(x) = self.as_const(node) {
            return self.constant(table.eval(x));
        }
        let p = self.parameters(node, table);
        let z = self.sub(node, p[0]);
        let mut w = p[4];
        for k in (1..4).rev() {
            w = self.mul(w, z);
            w = self.add(w, p[k]);
        }
        w
    }

    /// Whether a node is a choice between the numbers zero and one, or composed of such choices.
    fn is_condition(&self, id: Id) -> bool {
        let bit = |a: Id| matches!(self.as_const(a), Some(0.0 | 1.0));
        match self.ops[id as usize] {
            Op::Const(_) => bit(id),
            Op::Switch(_, a, b) => bit(a) && bit(b),
            Op::Scale(c, a) => c > 0.0 && self.is_condition(a),
            Op::Mul(p, q) | Op::Add(p, q) => self.is_condition(p) && self.is_condition(q),
            _ => false,
        }
    }

    /// The arguments of a node.
    pub(crate) fn args(op: &Op) -> ([Id; 3], usize) {
        match *op {
            Op::Const(_) | Op::Time | Op::Var(_) | Op::Param(_) => ([0; 3], 0),
            Op::Scale(_, a)
            | Op::Sqrt(a)
            | Op::Pow(a, _)
            | Op::Exp(a)
            | Op::Log(a)
            | Op::Sin(a)
            | Op::Cos(a)
            | Op::Sinh(a)
            | Op::Cosh(a)
            | Op::Tanh(a)
            | Op::Diff(a, _) => ([a, 0, 0], 1),
            Op::Add(a, b) | Op::Mul(a, b) | Op::Div(a, b) | Op::Atan(a, b) | Op::Switch(_, a, b) => ([a, b, 0], 2),
            Op::Atan2(y, x, r) => ([y, x, r], 3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh() -> (Tape, Id, Id) {
        let mut t = Tape::default();
        let (x, y) = (t.push(Op::Var(0)), t.push(Op::Var(1)));
        (t, x, y)
    }

    #[test]
    fn equal_expressions_become_one_node() {
        let (mut t, x, y) = fresh();
        let a = t.mul(x, y);
        let b = t.mul(y, x);
        assert_eq!(a, b);
        let (s, c) = (t.add(a, x), t.add(x, b));
        assert_eq!(s, c);
    }

    #[test]
    fn constants_fold_and_differences_vanish() {
        let (mut t, x, _) = fresh();
        let zero = t.sub(x, x);
        assert_eq!(t.as_const(zero), Some(0.0));
        let three = t.constant(3.0);
        let d = t.diff(three, 1);
        assert_eq!(t.as_const(d), Some(0.0));
        let two_x = t.add(x, x);
        assert_eq!(t.ops[two_x as usize], Op::Scale(2.0, x));
    }

    #[test]
    fn derivatives_of_derivatives_merge() {
        let (mut t, x, _) = fresh();
        let a = t.diff(x, 1);
        let b = t.diff(a, 2);
        assert_eq!(t.ops[b as usize], Op::Diff(x, 3));
    }
}
