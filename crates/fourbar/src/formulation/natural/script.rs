//! A list of operations and what can be done with it: numbers at any state, gradients of single results, and playing it back
//! into the Taylor solver.

use super::sym::Sym;
use fourbar_dae::{Node, Scalar as Recording, Table};
use fourbar_math::{Dual, Piecewise, Scalar, Taylor};
use std::collections::HashSet;

/// One operation; arguments have smaller numbers than the operation itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Time.
    Time,
    /// Variable, by its number.
    Var(u32),
    /// Sum.
    Add(Sym, Sym),
    /// Difference.
    Sub(Sym, Sym),
    /// Product.
    Mul(Sym, Sym),
    /// Quotient.
    Div(Sym, Sym),
    /// Square root.
    Sqrt(u32),
    /// Exponential.
    Exp(u32),
    /// Natural logarithm.
    Ln(u32),
    /// Sine.
    Sin(u32),
    /// Cosine.
    Cos(u32),
    /// Inverse sine.
    Asin(u32),
    /// Inverse cosine.
    Acos(u32),
    /// Inverse tangent.
    Atan(u32),
    /// Angle of the point (x, y), y first.
    Atan2(Sym, Sym),
    /// Hyperbolic sine.
    Sinh(u32),
    /// Hyperbolic cosine.
    Cosh(u32),
    /// Hyperbolic tangent.
    Tanh(u32),
    /// Whole power.
    Powi(u32, i32),
    /// Constant power.
    Powf(u32, f64),
    /// Second where the first is not negative, else third.
    Select(u32, Sym, Sym),
    /// A function given piece by piece, by its place in the script's list.
    Piecewise(u32, u32),
    /// Rate along the motion.
    Rate(u32),
}

/// Operations in order, with their values and rates at the start.
#[derive(Clone, Debug, Default)]
pub struct Script {
    ops: Vec<Op>,
    start: Vec<Dual>,
    /// Time of the start.
    time: f64,
    /// Values and rates of the variables at the start.
    pub variables: Vec<[f64; 2]>,
    /// Functions given piece by piece, as the solver takes them and for everything else.
    tables: Vec<(Piecewise, Table)>,
    /// Functions met that have no Taylor series.
    pub refused: Vec<&'static str>,
}

impl Op {
    /// Calls `f` with every argument that is an operation.
    fn each_argument(&self, mut f: impl FnMut(u32)) {
        let mut sym = |s: &Sym| {
            if let Sym::Node(a) = s {
                f(*a);
            }
        };
        match self {
            Op::Time | Op::Var(_) => {}
            Op::Add(a, b) | Op::Sub(a, b) | Op::Mul(a, b) | Op::Div(a, b) | Op::Atan2(a, b) => {
                sym(a);
                sym(b);
            }
            Op::Select(x, a, b) => {
                sym(&Sym::Node(*x));
                sym(a);
                sym(b);
            }
            Op::Sqrt(a)
            | Op::Exp(a)
            | Op::Ln(a)
            | Op::Sin(a)
            | Op::Cos(a)
            | Op::Asin(a)
            | Op::Acos(a)
            | Op::Atan(a)
            | Op::Sinh(a)
            | Op::Cosh(a)
            | Op::Tanh(a)
            | Op::Powi(a, _)
            | Op::Powf(a, _)
            | Op::Piecewise(a, _)
            | Op::Rate(a) => sym(&Sym::Node(*a)),
        }
    }

    /// Its value; `x` gives the variables and `known` earlier results.
    fn eval<S: Scalar>(&self, t: S, x: &[S], known: &[S], tables: &[(Piecewise, Table)], rate: impl Fn(S) -> S) -> S {
        let at = |a: u32| known[a as usize];
        let of = |s: Sym| match s {
            Sym::Number(c) => S::of(c),
            Sym::Node(a) => at(a),
        };
        match *self {
            Op::Time => t,
            Op::Var(j) => x[j as usize],
            Op::Add(a, b) => of(a) + of(b),
            Op::Sub(a, b) => of(a) - of(b),
            Op::Mul(a, b) => of(a) * of(b),
            Op::Div(a, b) => of(a) / of(b),
            Op::Sqrt(a) => at(a).sqrt(),
            Op::Exp(a) => at(a).exp(),
            Op::Ln(a) => at(a).ln(),
            Op::Sin(a) => at(a).sin(),
            Op::Cos(a) => at(a).cos(),
            Op::Asin(a) => at(a).asin(),
            Op::Acos(a) => at(a).acos(),
            Op::Atan(a) => at(a).atan(),
            Op::Atan2(y, x) => of(y).atan2(of(x)),
            Op::Sinh(a) => at(a).sinh(),
            Op::Cosh(a) => at(a).cosh(),
            Op::Tanh(a) => at(a).tanh(),
            Op::Powi(a, n) => at(a).powi(n),
            Op::Powf(a, c) => at(a).pow(S::of(c)),
            Op::Select(d, a, b) => at(d).select(of(a), of(b)),
            Op::Piecewise(a, k) => at(a).piecewise(&tables[k as usize].0),
            Op::Rate(a) => rate(at(a)),
        }
    }
}

impl Script {
    /// An empty script of a start at a time.
    pub(super) fn at(time: f64) -> Self {
        Self { time, ..Self::default() }
    }

    pub(super) fn push(&mut self, op: Op) -> u32 {
        // The rate of a rate is not known at the start, and nothing asks for it.
        let value = match op {
            Op::Var(j) => Taylor { c: self.variables[j as usize] },
            _ => op.eval(Dual::variable(self.time), &[], &self.start, &self.tables, |a| Dual::of(a.c[1])),
        };
        self.ops.push(op);
        self.start.push(value);
        self.ops.len() as u32 - 1
    }

    pub(super) fn variable(&mut self, value: f64, rate: f64) -> u32 {
        self.variables.push([value, rate]);
        self.push(Op::Var(self.variables.len() as u32 - 1))
    }

    /// The place of a function given piece by piece; `None` where the solver does not take it.
    pub(super) fn table(&mut self, f: &Piecewise) -> Option<u32> {
        if let Some(k) = self.tables.iter().position(|(known, _)| known == f) {
            return Some(k as u32);
        }
        let table = Table::pieces(f.breakpoints(), f.pieces(), f.period().is_some()).ok()?;
        self.tables.push((f.clone(), table));
        Some(self.tables.len() as u32 - 1)
    }

    pub(super) fn op(&self, a: u32) -> Op {
        self.ops[a as usize]
    }

    /// Value at the start.
    pub fn start_value(&self, a: u32) -> f64 {
        self.start[a as usize].c[0]
    }

    /// Rate at the start.
    pub fn start_rate(&self, a: u32) -> f64 {
        self.start[a as usize].c[1]
    }

    /// How many variables the given results depend on.
    pub fn reach(&self, results: impl IntoIterator<Item = Sym>) -> usize {
        let mut open: Vec<u32> = results.into_iter().filter_map(|s| if let Sym::Node(a) = s { Some(a) } else { None }).collect();
        let mut seen: HashSet<u32> = HashSet::new();
        let mut variables = 0;
        while let Some(a) = open.pop() {
            if seen.insert(a) {
                variables += usize::from(matches!(self.ops[a as usize], Op::Var(_)));
                self.ops[a as usize].each_argument(|b| open.push(b));
            }
        }
        variables
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The operations that the given results depend on, in order.
    pub fn needed(&self, results: impl IntoIterator<Item = Sym>) -> Vec<u32> {
        let mut wanted = vec![false; self.ops.len()];
        for r in results {
            if let Sym::Node(a) = r {
                wanted[a as usize] = true;
            }
        }
        for a in (0..self.ops.len()).rev() {
            if wanted[a] {
                self.ops[a].each_argument(|b| wanted[b as usize] = true);
            }
        }
        (0..self.ops.len() as u32).filter(|&a| wanted[a as usize]).collect()
    }

    /// Evaluates the operations of `list` at a state, without rates; `known` has room for all operations.
    pub fn eval<S: Scalar>(&self, list: &[u32], t: S, x: &[S], known: &mut [S]) {
        for &a in list {
            known[a as usize] = self.ops[a as usize].eval(t, x, known, &self.tables, |_| S::of(f64::NAN));
        }
    }

    /// Partial derivatives of an operation by its arguments, at known values.
    fn partials(&self, a: u32, known: &[f64], mut f: impl FnMut(Sym, f64)) {
        let at = |a: u32| known[a as usize];
        let of = |s: Sym| match s {
            Sym::Number(c) => c,
            Sym::Node(a) => at(a),
        };
        let own = at(a);
        let node = Sym::Node;
        match self.ops[a as usize] {
            Op::Time | Op::Var(_) | Op::Rate(_) => {}
            Op::Add(x, y) => {
                f(x, 1.0);
                f(y, 1.0);
            }
            Op::Sub(x, y) => {
                f(x, 1.0);
                f(y, -1.0);
            }
            Op::Mul(x, y) => {
                f(x, of(y));
                f(y, of(x));
            }
            Op::Div(x, y) => {
                f(x, 1.0 / of(y));
                f(y, -own / of(y));
            }
            Op::Sqrt(x) => f(node(x), 0.5 / own),
            Op::Exp(x) => f(node(x), own),
            Op::Ln(x) => f(node(x), 1.0 / at(x)),
            Op::Sin(x) => f(node(x), at(x).cos()),
            Op::Cos(x) => f(node(x), -at(x).sin()),
            Op::Asin(x) => f(node(x), 1.0 / (1.0 - at(x) * at(x)).sqrt()),
            Op::Acos(x) => f(node(x), -1.0 / (1.0 - at(x) * at(x)).sqrt()),
            Op::Atan(x) => f(node(x), 1.0 / (1.0 + at(x) * at(x))),
            Op::Atan2(y, x) => {
                let r2 = of(x) * of(x) + of(y) * of(y);
                f(y, of(x) / r2);
                f(x, -of(y) / r2);
            }
            Op::Sinh(x) => f(node(x), at(x).cosh()),
            Op::Cosh(x) => f(node(x), at(x).sinh()),
            Op::Tanh(x) => f(node(x), 1.0 - own * own),
            Op::Powi(x, n) => f(node(x), f64::from(n) * at(x).powi(n - 1)),
            Op::Powf(x, c) => f(node(x), c * at(x).powf(c - 1.0)),
            Op::Piecewise(x, k) => f(node(x), self.tables[k as usize].0.slope(at(x))),
            Op::Select(d, x, y) => f(if at(d) >= 0.0 { x } else { y }, 1.0),
        }
    }

    /// Gradient of a result by the variables, at known values: pairs of variable and derivative, in order of variables.
    /// `adjoint` holds zeros for all operations and is left so.
    pub fn gradient(&self, result: Sym, known: &[f64], adjoint: &mut [f64]) -> Vec<(usize, f64)> {
        let Sym::Node(top) = result else { return Vec::new() };
        let mut heap = std::collections::BinaryHeap::from([top]);
        adjoint[top as usize] = 1.0;
        let mut out: Vec<(usize, f64)> = Vec::new();
        let mut last = u32::MAX;
        while let Some(a) = heap.pop() {
            if a == last {
                continue;
            }
            last = a;
            let bar = std::mem::take(&mut adjoint[a as usize]);
            if let Op::Var(j) = self.ops[a as usize] {
                out.push((j as usize, bar));
            }
            self.partials(a, known, |s, p| {
                if let Sym::Node(b) = s {
                    adjoint[b as usize] += bar * p;
                    heap.push(b);
                }
            });
        }
        out.sort_unstable_by_key(|(j, _)| *j);
        out
    }

    /// Plays the operations of `list` back on the solver's tape.
    pub fn replay<'t>(&self, list: &[u32], time: Node<'t>, x: &[Node<'t>]) -> Replayed<'t> {
        let mut nodes: Vec<Node<'t>> = vec![Node::constant(f64::NAN); self.ops.len()];
        for &a in list {
            let at = |a: u32| nodes[a as usize];
            let of = |s: Sym| match s {
                Sym::Number(c) => Node::constant(c),
                Sym::Node(a) => at(a),
            };
            nodes[a as usize] = match self.ops[a as usize] {
                Op::Time => time,
                Op::Var(j) => x[j as usize],
                Op::Add(a, b) => of(a) + of(b),
                Op::Sub(a, b) => of(a) - of(b),
                Op::Mul(a, b) => of(a) * of(b),
                Op::Div(a, b) => of(a) / of(b),
                Op::Sqrt(a) => at(a).sqrt(),
                Op::Exp(a) => at(a).exp(),
                Op::Ln(a) => at(a).ln(),
                Op::Sin(a) => at(a).sin(),
                Op::Cos(a) => at(a).cos(),
                Op::Asin(a) => at(a).asin(),
                Op::Acos(a) => at(a).acos(),
                Op::Atan(a) => at(a).atan(),
                Op::Atan2(y, x) => of(y).atan2(of(x)),
                Op::Sinh(a) => at(a).sinh(),
                Op::Cosh(a) => at(a).cosh(),
                Op::Tanh(a) => at(a).tanh(),
                Op::Powi(a, n) => at(a).powi(n),
                Op::Powf(a, c) => at(a).powf(c),
                Op::Select(d, a, b) => at(d).switch(of(a), of(b)),
                Op::Piecewise(a, k) => at(a).table(&self.tables[k as usize].1),
                Op::Rate(a) => at(a).rate(),
            };
        }
        Replayed { nodes }
    }
}

/// Results of a script as nodes of the solver's tape.
pub struct Replayed<'t> {
    nodes: Vec<Node<'t>>,
}

impl<'t> Replayed<'t> {
    /// The node of a result that was on the list.
    pub fn of(&self, s: Sym) -> Node<'t> {
        match s {
            Sym::Number(c) => Node::constant(c),
            Sym::Node(a) => self.nodes[a as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sym::record;
    use super::*;

    fn mixed(x: Sym, y: Sym) -> Sym {
        (x * y + x.sin()) / (y * y + Sym::of(2.0)).sqrt() + y.atan2(x) - (x - y).select(x.powi(3), y.exp()).tanh()
    }

    #[test]
    fn gradients_agree_with_differences() {
        let (script, result) = record(0.0, || mixed(Sym::variable(0.7, 0.0), Sym::variable(0.4, 0.0)));
        let list = script.needed([result]);
        let Sym::Node(top) = result else { panic!("a constant") };
        let value = |x: f64, y: f64| {
            let mut known = vec![0.0; script.len()];
            script.eval(&list, 0.0, &[x, y], &mut known);
            (known[top as usize], known)
        };
        let (_, known) = value(0.7, 0.4);
        let g = script.gradient(result, &known, &mut vec![0.0; script.len()]);
        let h = 1e-6;
        let exact =
            [(value(0.7 + h, 0.4).0 - value(0.7 - h, 0.4).0) / (2.0 * h), (value(0.7, 0.4 + h).0 - value(0.7, 0.4 - h).0) / (2.0 * h)];
        for (j, d) in g {
            // Central differences: the square of the step, and rounding over it.
            assert!((d - exact[j]).abs() < 1e-9, "{j}: {d} {}", exact[j]);
        }
    }

    #[test]
    fn conditions_choose_their_branch_and_combine() {
        let (_, ()) = record(0.0, || {
            let (x, y) = (Sym::variable(1.0, 0.0), Sym::variable(-2.0, 0.0));
            let (one, zero) = (Sym::of(1.0), Sym::of(0.0));
            let positive = |s: Sym| s.select(one, zero);
            let both = positive(x) * positive(y);
            let either = positive(x) + positive(y);
            assert_eq!(both.choose(Sym::of(5.0), Sym::of(7.0)).value(), 7.0);
            assert_eq!(either.choose(Sym::of(5.0), Sym::of(7.0)).value(), 5.0);
            assert_eq!((one - positive(x)).choose(Sym::of(5.0), Sym::of(7.0)).value(), 7.0);
        });
    }
}
