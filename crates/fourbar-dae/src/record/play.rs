//! Operations on a finished tape: selecting the needed operations, evaluation with any kind of numbers, and replay.

use super::{Around, Id, Kink, Node, Op, PARAMETERS, Tape, with};
use fourbar_math::{Dual, Scalar};
use std::collections::HashMap;

impl Tape {
    /// The table to which parameter `k` belongs.
    fn table_of(&self, k: u32) -> &Kink {
        &self.kinks[self.tables[(k / PARAMETERS) as usize] as usize]
    }

    /// Calls `f` with every node on which the value of an operation depends.
    fn each_argument(&self, op: &Op, mut f: impl FnMut(Id)) {
        match *op {
            Op::Param(k) => f(self.table_of(k).node()),
            Op::Atan(a, _) => f(a),
            Op::Atan2(y, x, _) => {
                f(y);
                f(x);
            }
            _ => {
                if let Op::Switch(k, ..) = *op {
                    f(self.kinks[k as usize].node());
                }
                let (args, n) = Self::args(op);
                args[..n].iter().for_each(|&a| f(a));
            }
        }
    }

    /// Indices of results that are not constant.
    fn ids(results: impl IntoIterator<Item = Node>) -> impl Iterator<Item = Id> {
        results.into_iter().filter_map(|r| if let Node::Result { id, .. } = r { Some(id) } else { None })
    }

    /// Number of variables on which the given results depend.
    pub fn reach(&self, results: impl IntoIterator<Item = Node>) -> usize {
        let mut open: Vec<Id> = Self::ids(results).collect();
        let mut seen = std::collections::HashSet::new();
        let mut variables = 0;
        while let Some(a) = open.pop() {
            if let Some(op) = self.ops.get(a as usize).filter(|_| seen.insert(a)) {
                variables += usize::from(matches!(op, Op::Var(_)));
                self.each_argument(op, |b| open.push(b));
            }
        }
        variables
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The operations on which the given results depend, in order.
    pub fn needed(&self, results: impl IntoIterator<Item = Node>) -> Vec<u32> {
        let mut wanted = vec![false; self.ops.len()];
        for a in Self::ids(results) {
            wanted.iter_mut().skip(a as usize).take(1).for_each(|w| *w = true);
        }
        for a in (0..self.ops.len()).rev() {
            if wanted[a] {
                self.each_argument(&self.ops[a], |b| wanted[b as usize] = true);
            }
        }
        (0..self.ops.len() as Id).filter(|&a| wanted[a as usize]).collect()
    }

    /// The value of an operation; `x` returns variables, `known` contains earlier results, and `diff` returns derivatives.
    #[inline]
    fn value<S: Scalar>(&self, op: &Op, t: S, x: impl Fn(u32) -> S, known: &[S], diff: impl Fn(Id, u32) -> S) -> S {
        let at = |a: Id| known[a as usize];
        match *op {
            Op::Const(c) => S::of(c),
            Op::Time => t,
            Op::Var(j) => x(j),
            Op::Param(k) => S::of(self.parameter(k, |node| at(node).value())),
            Op::Add(a, b) => at(a) + at(b),
            Op::Scale(c, a) => at(a) * c,
            Op::Mul(a, b) => at(a) * at(b),
            Op::Div(a, b) => at(a) / at(b),
            Op::Sqrt(a) => at(a).sqrt(),
            Op::Pow(a, c) => at(a).powf(c),
            Op::Exp(a) => at(a).exp(),
            Op::Log(a) => at(a).ln(),
            Op::Sin(a) => at(a).sin(),
            Op::Cos(a) => at(a).cos(),
            Op::Sinh(a) => at(a).sinh(),
            Op::Cosh(a) => at(a).cosh(),
            Op::Tanh(a) => at(a).tanh(),
            Op::Atan(a, _) => at(a).atan(),
            Op::Atan2(y, x, _) => at(y).atan2(at(x)),
            Op::Diff(a, p) => diff(a, p),
            Op::Switch(k, a, b) => at(self.kinks[k as usize].node()).select(at(a), at(b)),
        }
    }

    /// A parameter of a table at the value of its argument.
    fn parameter(&self, k: u32, value: impl Fn(Id) -> f64) -> f64 {
        let Kink::Table { node, table, .. } = self.table_of(k) else { return f64::NAN };
        let (from, coefficients) = table.of_piece(table.piece(value(*node)));
        match k % PARAMETERS {
            0 => from,
            n => coefficients[n as usize - 1],
        }
    }

    /// Value and rate of a new operation at the start. Rates of rates are unknown there.
    pub(super) fn value_at_start(&self, op: &Op, around: &Around) -> Dual {
        let rate = |a: Id, p: u32| match self.ops[a as usize] {
            Op::Var(j) if p == 1 => around.variables.get(j as usize).map_or(f64::NAN, |v| v[1]),
            _ => f64::NAN,
        };
        let variable = |j: u32| Dual { c: around.variables.get(j as usize).copied().unwrap_or([f64::NAN; 2]) };
        self.value(op, Dual::variable(around.time), variable, &around.known, |a, p| Dual { c: [rate(a, p), f64::NAN] })
    }

    /// Evaluates the operations of `list` at a state, without derivatives; `known` has room for all operations.
    pub fn eval<S: Scalar>(&self, list: &[u32], t: S, x: &[S], known: &mut [S]) {
        for &a in list {
            known[a as usize] = self.value(&self.ops[a as usize], t, |j| x[j as usize], known, |_, _| S::of(f64::NAN));
        }
    }

    /// Replays the operations of `list` on the current tape, with other nodes for time and variables. [`Node::among`] finds the nodes of
    /// results in the returned list.
    pub fn replay(&self, list: &[u32], time: Node, x: &[Node]) -> Vec<Node> {
        let mut nodes = vec![Node::Number(f64::NAN); self.ops.len()];
        let mut parameters: HashMap<u32, [Node; PARAMETERS as usize]> = HashMap::new();
        for &a in list {
            let op = &self.ops[a as usize];
            nodes[a as usize] = match *op {
                Op::Param(k) => {
                    let all = parameters.entry(k / PARAMETERS).or_insert_with(|| self.replay_table(k, &nodes));
                    all[(k % PARAMETERS) as usize]
                }
                _ => self.value(op, time, |j| x[j as usize], &nodes, |a, p| nodes[a as usize].diff(p)),
            };
        }
        nodes
    }

    /// The parameters of the table to which parameter `k` belongs, on the current tape.
    fn replay_table(&self, k: u32, nodes: &[Node]) -> [Node; PARAMETERS as usize] {
        let Kink::Table { node, table, .. } = self.table_of(k) else { return [Node::Number(f64::NAN); PARAMETERS as usize] };
        match nodes[*node as usize] {
            Node::Number(x) => {
                let (from, &[a, b, c, d]) = table.of_piece(table.piece(x));
                [from, a, b, c, d].map(Node::Number)
            }
            argument => with(|t| {
                let id = argument.id_on(t);
                t.parameters(id, table).map(|p| t.node(p))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourbar_math::Piecewise;

    fn mixed(x: Node, y: Node) -> Node {
        let table = Piecewise::cubic(&[-1.0, 0.0, 0.5, 2.0], &[1.0, 0.0, 2.0, 1.5]).unwrap();
        let smooth = (x * y + x.sin()) / (y * y + 2.0).sqrt() + y.atan2(x) + (x * 0.3).asin() + y.powf(1.3) + (y * 3.0).atan();
        smooth - (x - y).select(x.powi(3), y.exp()).tanh() + x.piecewise(&table) * y
    }

    #[test]
    fn a_tape_played_back_is_the_same_function() {
        let (tape, result) = Tape::record_around(0.0, || mixed(Node::variable(0.7, 0.5), Node::variable(0.4, -0.2)));
        let list = tape.needed([result]);
        let value = |tape: &Tape, list: &[u32], result: Node, x: [f64; 2]| {
            let mut known = vec![0.0; tape.len()];
            tape.eval(list, 0.0, &x, &mut known);
            result.among(&known)
        };
        let (copy, played) = Tape::record_around(0.0, || {
            let _unused = Node::time().sin();
            let x = [Node::variable(0.7, 0.5), Node::variable(0.4, -0.2)];
            assert_eq!(Node::reach([result]), 0, "nothing that is recorded here");
            result.among(&tape.replay(&list, Node::time(), &x))
        });
        let other = copy.needed([played]);
        for x in [[0.7, 0.4], [-0.3, 1.7], [0.2, 0.9]] {
            assert_eq!(value(&tape, &list, result, x), value(&copy, &other, played, x));
        }
    }

    #[test]
    fn values_and_rates_at_the_start_are_those_of_dual_numbers() {
        let (_, ()) = Tape::record_around(2.0, || {
            let (x, y) = (Node::variable(0.7, 0.5), Node::variable(0.4, -0.2));
            let z = x * y + Node::time().sin();
            assert!((z.value() - (0.28 + 2f64.sin())).abs() < 1e-15);
            assert!((z.start_rate() - (0.2 - 0.14 + 2f64.cos())).abs() < 1e-15);
            assert!((z.rate().value() - z.start_rate()).abs() < 1e-15);
            assert!(z.rate().rate().value().is_nan());
            assert_eq!(Node::reach([z, x]), 2);
        });
    }

    #[test]
    fn conditions_choose_their_branch_and_combine() {
        let (_, ()) = Tape::record_around(0.0, || {
            let (x, y) = (Node::variable(1.0, 0.0), Node::variable(-2.0, 0.0));
            let (one, zero) = (Node::of(1.0), Node::of(0.0));
            let positive = |s: Node| s.select(one, zero);
            let both = positive(x) * positive(y);
            let either = positive(x) + positive(y);
            let chosen = |s: Node| s.choose(Node::of(5.0), Node::of(7.0)).value();
            assert_eq!(chosen(both), 7.0);
            assert_eq!(chosen(either), 5.0);
            assert_eq!(chosen(one - positive(x)), 7.0);
            assert_eq!(chosen(one - positive(y)), 5.0);
            assert_eq!(chosen(positive(y) + positive(y)), 7.0);
            assert_eq!(chosen(positive(x) * 3.0), 5.0);
        });
    }

    #[test]
    fn what_belongs_to_another_tape_is_not_a_number() {
        let (_, stray) = Tape::record_around(0.0, || Node::variable(1.0, 0.0) * 2.0);
        let (tape, sum) = Tape::record_around(0.0, || stray + Node::variable(1.0, 0.0));
        assert!(sum.value().is_nan() && tape.refused().is_empty());
    }
}
