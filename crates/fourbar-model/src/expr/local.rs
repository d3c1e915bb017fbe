//! Terms of an expression that can be narrow: nearly zero almost everywhere, and large where a variable is close to some value.

use super::function::Function;
use super::{Expr, Op};

/// Integer powers above this turn broad peaks into narrow ones.
const HIGH_POWER: i32 = 8;

impl Op {
    /// Whether it can produce a narrow peak from broad arguments.
    fn narrows(self) -> bool {
        use Function::*;
        match self {
            Op::Div | Op::Table(_) => true,
            Op::Power(n) => !(0..=HIGH_POWER).contains(&n),
            Op::Call(f) => matches!(f, Tan | Asin | Acos | Atan | Atan2 | Sinh | Cosh | Tanh | Exp | Pow | SmoothStep | SmootherStep),
            _ => false,
        }
    }
}

impl Expr {
    /// The terms of the sum that can be narrow, each as an expression of the same variables. Polynomials have none.
    pub fn narrow_terms(&self) -> Vec<Expr> {
        let mut list = Vec::new();
        self.collect_terms(self.ops.len(), &mut list);
        list
    }

    /// Start of the subexpression that ends before `end`.
    fn start_of(&self, end: usize) -> usize {
        let (mut start, mut open) = (end, 1);
        while open > 0 && start > 0 {
            start -= 1;
            open = open + self.ops[start].takes() - 1;
        }
        start
    }

    fn collect_terms(&self, end: usize, list: &mut Vec<Expr>) {
        let Some(top) = end.checked_sub(1) else { return };
        match self.ops[top] {
            Op::Neg => self.collect_terms(top, list),
            Op::Add | Op::Sub => {
                self.collect_terms(self.start_of(top), list);
                self.collect_terms(top, list);
            }
            _ => {
                let start = self.start_of(end);
                if (start..end).any(|k| self.ops[k].narrows() && self.varies(k)) {
                    list.extend(Expr::from_ops(self.ops[start..end].to_vec(), self.tables.to_vec()));
                }
            }
        }
    }

    /// Whether the operand that makes an operation narrow is variable; for a quotient, the divisor.
    fn varies(&self, op: usize) -> bool {
        let from = match self.ops[op] {
            Op::Div => self.start_of(op),
            _ => self.start_of(op + 1),
        };
        self.ops[from..op].iter().any(|op| matches!(op, Op::Variable(_)))
    }
}
