//! Derivatives that are again tape nodes: reverse mode for gradients, forward mode for the total time derivative.

use super::{Id, Inner, Op};
use std::collections::HashMap;

impl Inner {
    /// Partial derivatives of node `id` with respect to its arguments, as nodes.
    fn partials(&mut self, id: Id) -> ([(Id, Id); 2], usize) {
        let one = |t: &mut Self| t.constant(1.0);
        let none = (0, 0);
        match self.ops[id as usize] {
            Op::Const(_) | Op::Time | Op::Var(_) | Op::Param(_) | Op::Diff(..) => ([none; 2], 0),
            Op::Add(a, b) => {
                let u = one(self);
                ([(a, u), (b, u)], 2)
            }
            Op::Scale(c, a) => {
                let k = self.constant(c);
                ([(a, k), none], 1)
            }
            Op::Mul(a, b) if a == b => {
                let d = self.scale(2.0, a);
                ([(a, d), none], 1)
            }
            Op::Mul(a, b) => ([(a, b), (b, a)], 2),
            Op::Div(a, b) => {
                let u = one(self);
                let inverse = self.div(u, b);
                let product = self.mul(id, inverse);
                let minus = self.scale(-1.0, product);
                ([(a, inverse), (b, minus)], 2)
            }
            Op::Sqrt(a) => {
                let half = self.constant(0.5);
                let d = self.div(half, id);
                ([(a, d), none], 1)
            }
            Op::Pow(a, c) => {
                let p = self.pow(a, c - 1.0);
                let d = self.scale(c, p);
                ([(a, d), none], 1)
            }
            Op::Exp(a) => ([(a, id), none], 1),
            Op::Log(a) => {
                let u = one(self);
                let d = self.div(u, a);
                ([(a, d), none], 1)
            }
            Op::Sin(a) => {
                let d = self.push(Op::Cos(a));
                ([(a, d), none], 1)
            }
            Op::Cos(a) => {
                let s = self.push(Op::Sin(a));
                let d = self.scale(-1.0, s);
                ([(a, d), none], 1)
            }
            Op::Sinh(a) => {
                let d = self.push(Op::Cosh(a));
                ([(a, d), none], 1)
            }
            Op::Cosh(a) => {
                let d = self.push(Op::Sinh(a));
                ([(a, d), none], 1)
            }
            Op::Tanh(a) => {
                let (u, square) = (one(self), self.mul(id, id));
                let d = self.sub(u, square);
                ([(a, d), none], 1)
            }
            Op::Atan(a, b) => {
                let u = one(self);
                let d = self.div(u, b);
                ([(a, d), none], 1)
            }
            Op::Atan2(y, x, r) => {
                let dy = self.div(x, r);
                let q = self.div(y, r);
                let dx = self.scale(-1.0, q);
                ([(y, dy), (x, dx)], 2)
            }
            Op::Switch(k, a, b) => {
                let (u, zero) = (one(self), self.constant(0.0));
                let (da, db) = (self.push(Op::Switch(k, u, zero)), self.push(Op::Switch(k, zero, u)));
                ([(a, da), (b, db)], 2)
            }
        }
    }

    /// Sum over the seeds of weight times the gradient of the seed with respect to the `leaves`, treated as
    /// independent: the sweep does not go below a leaf. `None` if a `diff` of something else is met.
    pub fn gradient(&mut self, seeds: &[(Id, Id)], leaves: &[Id]) -> Option<Vec<Id>> {
        let top = seeds.iter().map(|s| s.0 as usize + 1).max().unwrap_or(0);
        let zero = self.constant(0.0);
        // Nodes that depend on a leaf.
        let mut active = vec![false; top];
        let mut is_leaf = vec![false; top];
        for &leaf in leaves.iter().filter(|&&l| (l as usize) < top) {
            active[leaf as usize] = true;
            is_leaf[leaf as usize] = true;
        }
        for id in 0..top {
            let (args, n) = Self::args(&self.ops[id]);
            active[id] |= args[..n].iter().any(|&a| active[a as usize]);
        }
        let mut adjoint = vec![zero; top];
        for &(node, weight) in seeds {
            adjoint[node as usize] = self.add(adjoint[node as usize], weight);
        }
        for id in (0..top).rev() {
            let bar = adjoint[id];
            if !active[id] || is_leaf[id] || bar == zero {
                continue;
            }
            if matches!(self.ops[id], Op::Diff(..)) {
                return None;
            }
            let (partials, n) = self.partials(id as Id);
            for &(arg, partial) in &partials[..n] {
                if active[arg as usize] {
                    let share = self.mul(bar, partial);
                    adjoint[arg as usize] = self.add(adjoint[arg as usize], share);
                }
            }
        }
        Some(leaves.iter().map(|&l| adjoint.get(l as usize).copied().unwrap_or(zero)).collect())
    }

    /// Total time derivative, expanded by the chain rule; ends at derivatives of variables.
    pub fn rate(&mut self, node: Id) -> Id {
        let mut known: HashMap<Id, Id> = HashMap::new();
        let mut stack = vec![node];
        while let Some(&id) = stack.last() {
            if known.contains_key(&id) {
                stack.pop();
                continue;
            }
            let op = self.ops[id as usize];
            if matches!(op, Op::Var(_) | Op::Diff(..) | Op::Const(_) | Op::Time | Op::Param(_)) {
                let rate = self.diff(id, 1);
                known.insert(id, rate);
                continue;
            }
            let (args, n) = Self::args(&op);
            let missing: Vec<Id> = args[..n].iter().copied().filter(|a| !known.contains_key(a)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let rate = if let Op::Switch(k, a, b) = op {
                let (ra, rb) = (known[&a], known[&b]);
                if ra == rb { ra } else { self.push(Op::Switch(k, ra, rb)) }
            } else {
                let (partials, n) = self.partials(id);
                let mut sum = self.constant(0.0);
                for &(arg, partial) in &partials[..n] {
                    let term = self.mul(partial, known[&arg]);
                    sum = self.add(sum, term);
                }
                sum
            };
            known.insert(id, rate);
        }
        known[&node]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradient_of_a_product_is_the_other_factor() {
        let mut t = Inner::default();
        let (x, y) = (t.push(Op::Var(0)), t.push(Op::Var(1)));
        let f = t.mul(x, y);
        let one = t.constant(1.0);
        assert_eq!(t.gradient(&[(f, one)], &[x, y]), Some(vec![y, x]));
    }

    #[test]
    fn gradient_stops_at_velocities() {
        let mut t = Inner::default();
        let x = t.push(Op::Var(0));
        let v = t.diff(x, 1);
        let f = t.mul(x, v);
        let one = t.constant(1.0);
        assert_eq!(t.gradient(&[(f, one)], &[x, v]), Some(vec![v, x]));
        let a = t.diff(x, 2);
        assert_eq!(t.gradient(&[(a, one)], &[x]), None);
    }

    #[test]
    fn rate_of_a_square_is_twice_value_times_velocity() {
        let mut t = Inner::default();
        let x = t.push(Op::Var(0));
        let f = t.mul(x, x);
        let r = t.rate(f);
        let v = t.diff(x, 1);
        let p = t.mul(x, v);
        assert_eq!(r, t.scale(2.0, p));
    }
}
