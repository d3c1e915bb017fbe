//! Derivatives of recorded expressions. As nodes: reverse mode for gradients, forward mode for the total time derivative. As numbers:
//! reverse mode for gradients of single results.

use super::hash::Quick;
use super::{Id, Node, Op, Tape, with};
use fourbar_math::{Scalar, slope};
use num_traits::Zero;
use std::collections::BinaryHeap;

/// Partial derivatives of an operation with respect to its arguments, as numbers or as nodes. `own` is its value, `at` returns earlier
/// results and `decides` the value that selects the side of a kink. Time derivatives are leaves.
fn partials<S: Scalar>(op: &Op, own: S, at: impl Fn(Id) -> S, decides: impl Fn(u32) -> S) -> ([(Id, S); 2], usize) {
    let none = (0, S::zero());
    let one = |a: Id, d: S| ([(a, d), none], 1);
    match *op {
        Op::Const(_) | Op::Time | Op::Var(_) | Op::Param(_) | Op::Diff(..) => ([none; 2], 0),
        Op::Add(a, b) => ([(a, S::one()), (b, S::one())], 2),
        Op::Scale(c, a) => one(a, S::of(c)),
        Op::Mul(a, b) if a == b => one(a, at(a) * 2.0),
        Op::Mul(a, b) => ([(a, at(b)), (b, at(a))], 2),
        Op::Div(a, b) => {
            let [da, db] = slope::div(own, at(b));
            ([(a, da), (b, db)], 2)
        }
        Op::Sqrt(a) => one(a, slope::sqrt(own)),
        Op::Pow(a, c) => one(a, slope::powf(at(a), c)),
        Op::Exp(a) => one(a, own),
        Op::Log(a) => one(a, slope::ln(at(a))),
        Op::Sin(a) => one(a, at(a).cos()),
        Op::Cos(a) => one(a, slope::cos(at(a))),
        Op::Sinh(a) => one(a, at(a).cosh()),
        Op::Cosh(a) => one(a, at(a).sinh()),
        Op::Tanh(a) => one(a, slope::tanh(own)),
        Op::Atan(a, _) => one(a, slope::atan(at(a))),
        Op::Atan2(y, x, _) => {
            let [dy, dx] = slope::atan2(at(y), at(x));
            ([(y, dy), (x, dx)], 2)
        }
        Op::Switch(k, a, b) => {
            let side = decides(k);
            ([(a, side.select(S::one(), S::zero())), (b, side.select(S::zero(), S::one()))], 2)
        }
    }
}

/// Operation `id` of the current tape.
fn op(id: Id) -> Op {
    with(|t| t.ops[id as usize])
}

/// Node `id` of the current tape.
fn node(id: Id) -> Node {
    with(|t| t.node(id))
}

/// The node that selects the side of a kink of the current tape.
fn deciding(kink: u32) -> Node {
    with(|t| t.node(t.kinks[kink as usize].node()))
}

/// Index of a node on the current tape.
fn id_of(node: Node) -> Id {
    with(|t| node.id_on(t))
}

/// Sum over the seeds of weight times the gradient of the seed with respect to the `leaves`, treated as independent: the sweep stops at
/// leaves. `None` if a `diff` of anything else occurs.
pub(crate) fn gradient(seeds: &[(Node, Node)], leaves: &[Node]) -> Option<Vec<Node>> {
    let seeds: Vec<(usize, Node)> = seeds.iter().map(|s| (id_of(s.0) as usize, s.1)).collect();
    let leaves: Vec<usize> = leaves.iter().map(|l| id_of(*l) as usize).collect();
    let top = seeds.iter().map(|s| s.0 + 1).max().unwrap_or(0);
    // Nodes that depend on a leaf.
    let mut active = vec![false; top];
    let mut is_leaf = vec![false; top];
    for &leaf in leaves.iter().filter(|&&l| l < top) {
        active[leaf] = true;
        is_leaf[leaf] = true;
    }
    with(|t| {
        for id in 0..top {
            let (args, n) = Tape::args(&t.ops[id]);
            active[id] |= args[..n].iter().any(|&a| active[a as usize]);
        }
    });
    let mut adjoint = vec![Node::zero(); top];
    for (id, weight) in seeds {
        adjoint[id] += weight;
    }
    for id in (0..top).rev() {
        let bar = adjoint[id];
        if !active[id] || is_leaf[id] || bar.is_zero() {
            continue;
        }
        let op = op(id as Id);
        if matches!(op, Op::Diff(..)) {
            return None;
        }
        let (partials, n) = partials(&op, node(id as Id), node, deciding);
        for &(arg, partial) in &partials[..n] {
            if active[arg as usize] {
                adjoint[arg as usize] += bar * partial;
            }
        }
    }
    Some(leaves.iter().map(|&l| adjoint.get(l).copied().unwrap_or(Node::zero())).collect())
}

/// Total time derivative, expanded by the chain rule; ends at derivatives of variables.
pub(super) fn rate(of: Node) -> Node {
    let Node::Result { .. } = of else { return Node::zero() };
    let top = id_of(of);
    let mut known: Quick<Id, Node> = Quick::default();
    let mut stack = vec![top];
    while let Some(&id) = stack.last() {
        if known.contains_key(&id) {
            stack.pop();
            continue;
        }
        let op = op(id);
        if matches!(op, Op::Var(_) | Op::Diff(..) | Op::Const(_) | Op::Time | Op::Param(_)) {
            known.insert(id, node(id).diff(1));
            continue;
        }
        let (args, n) = Tape::args(&op);
        let missing: Vec<Id> = args[..n].iter().copied().filter(|a| !known.contains_key(a)).collect();
        if !missing.is_empty() {
            stack.extend(missing);
            continue;
        }
        let rate = if let Op::Switch(k, a, b) = op {
            deciding(k).select(known[&a], known[&b])
        } else {
            let (partials, n) = partials(&op, node(id), node, deciding);
            partials[..n].iter().fold(Node::zero(), |sum, (arg, partial)| sum + *partial * known[arg])
        };
        known.insert(id, rate);
    }
    known[&top]
}

impl Tape {
    /// Gradient of a result with respect to the variables, at known values: pairs of variable and derivative, in order of variables.
    /// `adjoint` must contain zeros for all operations, which are restored.
    pub fn gradient(&self, result: Node, known: &[f64], adjoint: &mut [f64]) -> Vec<(usize, f64)> {
        let Node::Result { id: top, .. } = result else { return Vec::new() };
        let mut heap = BinaryHeap::from([top]);
        adjoint[top as usize] = 1.0;
        let mut out: Vec<(usize, f64)> = Vec::new();
        let mut last = Id::MAX;
        let at = |a: Id| known[a as usize];
        while let Some(a) = heap.pop() {
            if a == last {
                continue;
            }
            last = a;
            let bar = std::mem::take(&mut adjoint[a as usize]);
            let op = &self.ops[a as usize];
            if let Op::Var(j) = *op {
                out.push((j as usize, bar));
            }
            let (partials, n) = partials(op, at(a), at, |k| at(self.kinks[k as usize].node()));
            // The branch not taken need not have a derivative.
            for &(b, p) in partials[..n].iter().filter(|(_, p)| *p != 0.0) {
                adjoint[b as usize] += bar * p;
                heap.push(b);
            }
        }
        out.sort_unstable_by_key(|(j, _)| *j);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::leaves;
    use super::*;

    #[test]
    fn gradient_of_a_product_is_the_other_factor() {
        Tape::record(|| {
            let (_, x) = leaves(2);
            assert_eq!(gradient(&[(x[0] * x[1], Node::of(1.0))], &x), Some(vec![x[1], x[0]]));
        });
    }

    #[test]
    fn gradient_stops_at_velocities() {
        Tape::record(|| {
            let (_, x) = leaves(1);
            let v = x[0].diff(1);
            let one = Node::of(1.0);
            assert_eq!(gradient(&[(x[0] * v, one)], &[x[0], v]), Some(vec![v, x[0]]));
            assert_eq!(gradient(&[(x[0].diff(2), one)], &x), None);
        });
    }

    #[test]
    fn rate_of_a_square_is_twice_value_times_velocity() {
        Tape::record(|| {
            let (_, x) = leaves(1);
            assert_eq!((x[0] * x[0]).rate(), x[0] * x[0].diff(1) * 2.0);
        });
    }

    #[test]
    fn gradients_at_numbers_agree_with_differences() {
        let f = |x: Node, y: Node| {
            let smooth = (x * y + x.sin()) / (y * y + 2.0).sqrt() + y.atan2(x) + (x * 0.3).acos() + y.powf(1.3) + (y * 3.0).atan();
            // The branch not taken has no derivative here.
            smooth - (x - y).select(x.powi(3), (y - x).sqrt()).tanh() + x.sinh() * y.cosh() + (x.exp() + y.ln()).cos()
        };
        let (tape, result) = Tape::record_around(0.0, || f(Node::variable(0.7, 0.0), Node::variable(0.4, 0.0)));
        let list = tape.needed([result]);
        let known = |x: f64, y: f64| {
            let mut known = vec![0.0; tape.len()];
            tape.eval(&list, 0.0, &[x, y], &mut known);
            known
        };
        let value = |x: f64, y: f64| result.among(&known(x, y));
        let g = tape.gradient(result, &known(0.7, 0.4), &mut vec![0.0; tape.len()]);
        let h = 1e-6;
        let exact = [(value(0.7 + h, 0.4) - value(0.7 - h, 0.4)) / (2.0 * h), (value(0.7, 0.4 + h) - value(0.7, 0.4 - h)) / (2.0 * h)];
        assert_eq!(g.len(), 2);
        for (j, d) in g {
            // Error of central differences: the square of the step, and rounding divided by it.
            assert!((d - exact[j]).abs() < 1e-8, "{j}: {d} {}", exact[j]);
        }
    }
}
