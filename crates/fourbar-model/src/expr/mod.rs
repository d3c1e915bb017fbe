//! Expressions of parameters, time and state, as written in mechanism files.
//!
//! An [`Expr`] is a short postfix program. It evaluates over any [`Scalar`] without allocating, so exact derivatives
//! come from Taylor numbers and no symbolic differentiation is needed.
//!
//! ```
//! use fourbar_model::expr::Expr;
//! let angle = Expr::time("2*pi*t^2")?;
//! let [value, rate, acceleration] = angle.time_derivatives(0.5);
//! assert!((value - 0.5 * std::f64::consts::PI).abs() < 1e-15);
//! assert!((rate - 2.0 * std::f64::consts::PI).abs() < 1e-14);
//! assert!((acceleration - 4.0 * std::f64::consts::PI).abs() < 1e-14);
//! # Ok::<(), fourbar_model::expr::ExprError>(())
//! ```

mod dimension;
mod error;
mod function;
mod lexer;
mod local;
mod parser;
mod pieces;
mod print;
mod table;
#[cfg(test)]
mod tests;

pub use dimension::{Dimension, Kind};
pub use error::{ExprError, ExprErrorKind};
pub use function::{FUNCTIONS, FunctionInfo};
pub use pieces::{Guards, Pieces};
pub use print::number;
pub use table::{Outside, Table};

use fourbar_math::{Scalar, Taylor};
use function::Function;

/// Longest expression, in bytes.
pub const MAX_LENGTH: usize = 10_000;
/// Deepest nesting of parentheses, calls, signs and powers.
pub const MAX_NESTING: usize = 100;
/// Largest number of intermediate values at one time.
const MAX_STACK: usize = 64;
/// Enough for almost every expression; larger ones take the large stack.
const SMALL_STACK: usize = 8;

/// Largest number of operations of an expression after the functions it names are inserted.
pub const MAX_OPERATIONS: usize = 20_000;

/// The meaning of a name in an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Symbol {
    /// A number whose dimension is not known.
    Value(f64),
    /// A number with its dimension.
    Quantity(f64, Dimension),
    /// A variable, by its index in the list given to [`Expr::eval`].
    Variable(u32),
    /// Another expression with its dimension, if known; its variables are those of the calling expression.
    Function(Expr, Kind),
}

/// Resolves the names and units of an expression.
pub trait Names {
    /// The meaning of a name, which may contain dots and hyphens.
    fn symbol(&mut self, name: &str) -> Option<Symbol>;
    /// Factor to SI and dimension of a unit; without units, a name after a number is an error.
    fn unit(&mut self, _name: &str) -> Option<(f64, Dimension)> {
        None
    }
    /// The table that a call such as `lift(x)` names.
    fn table(&mut self, _name: &str) -> Option<Table> {
        None
    }
    /// Whether a word after `*` or `/` behind a unit continues the unit, as the `m` of `2 N*m`.
    fn further_unit(&mut self, name: &str) -> bool {
        self.unit(name).is_some()
    }
}

impl<F: FnMut(&str) -> Option<Symbol> + ?Sized> Names for &mut F {
    fn symbol(&mut self, name: &str) -> Option<Symbol> {
        self(name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Constant(f64),
    Variable(u32),
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    /// A constant integer power, which accepts any base.
    Power(i32),
    Compare(Comparison),
    Call(Function),
    /// A table, by its index in the list of the expression.
    Table(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Comparison {
    /// One if the comparison is true, otherwise zero.
    fn apply<S: Scalar>(self, a: S, b: S) -> S {
        let (yes, no) = (S::one(), S::zero());
        match self {
            Self::Less => (a - b).select(no, yes),
            Self::LessEqual => (b - a).select(yes, no),
            Self::Greater => (b - a).select(no, yes),
            Self::GreaterEqual => (a - b).select(yes, no),
            Self::Equal => (a - b).choose(no, yes),
            Self::NotEqual => (a - b).choose(yes, no),
        }
    }
}

impl Op {
    /// The value for arguments `a`, variables `x` and the tables of the expression.
    #[inline(always)]
    fn apply<S: Scalar>(self, a: &[S], x: &[S], tables: &[Table]) -> S {
        match self {
            Op::Constant(c) => S::of(c),
            Op::Variable(k) => x.get(k as usize).copied().unwrap_or(S::of(f64::NAN)),
            Op::Neg => -a[0],
            Op::Add => a[0] + a[1],
            Op::Sub => a[0] - a[1],
            Op::Mul => a[0] * a[1],
            Op::Div => a[0] / a[1],
            Op::Power(k) => a[0].powi(k),
            Op::Compare(c) => c.apply(a[0], a[1]),
            Op::Call(f) => f.apply(a),
            Op::Table(k) => tables.get(k as usize).map_or(S::of(f64::NAN), |t| a[0].piecewise(&t.function)),
        }
    }

    /// The piece of its function that is valid for arguments `a`; `None` if there is only one.
    fn piece(self, a: &[f64], tables: &[Table]) -> Option<i64> {
        match self {
            Op::Compare(c) => Some(c.apply(a[0], a[1]) as i64),
            Op::Call(f) => f.piece(a),
            // Inside a table, derivatives up to the second are continuous.
            Op::Table(k) => tables.get(k as usize).and_then(|t| t.function.part(a[0])),
            _ => None,
        }
    }

    /// Number of values taken from the stack; each operation leaves one.
    fn takes(self) -> usize {
        match self {
            Op::Constant(_) | Op::Variable(_) => 0,
            Op::Neg | Op::Power(_) | Op::Table(_) => 1,
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Compare(_) => 2,
            Op::Call(f) => f.arity(),
        }
    }
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    ops: Box<[Op]>,
    /// The tables it calls.
    tables: Box<[Table]>,
    /// Greatest number of values on the stack, at most [`MAX_STACK`].
    depth: usize,
}

impl Expr {
    /// The constant `x`.
    pub fn constant(x: f64) -> Self {
        Self { ops: Box::new([Op::Constant(x)]), tables: Box::new([]), depth: 1 }
    }

    /// `a + b t`, the time being variable 0.
    pub fn line(a: f64, b: f64) -> Self {
        if b == 0.0 {
            return Self::constant(a);
        }
        let ops = [Op::Constant(a), Op::Constant(b), Op::Variable(0), Op::Mul, Op::Add];
        Self { ops: Box::new(ops), tables: Box::new([]), depth: 3 }
    }

    /// Parses a text; `resolve` returns the meaning of names (`pi` and `e` are defined unless it overrides them).
    pub fn parse(text: &str, mut resolve: &mut dyn FnMut(&str) -> Option<Symbol>) -> Result<Self, ExprError> {
        parser::parse(text, &mut resolve).map(|(expr, _)| expr)
    }

    /// Parses a text with units, and returns the dimension of its value.
    pub fn parse_quantity(text: &str, names: &mut dyn Names) -> Result<(Self, Kind), ExprError> {
        parser::parse(text, names)
    }

    /// Parses a function of time: `t` is variable 0, and only `pi` and `e` are known in addition.
    pub fn time(text: &str) -> Result<Self, ExprError> {
        Self::parse(text, &mut |name| (name == "t").then_some(Symbol::Variable(0)))
    }

    /// Wraps a finished program; `None` if it needs too many intermediate values. Tables that are not called are omitted.
    fn from_ops(mut ops: Vec<Op>, tables: Vec<Table>) -> Option<Self> {
        let mut called: Vec<Table> = Vec::new();
        for op in &mut ops {
            let Op::Table(k) = op else { continue };
            let table = tables.get(*k as usize)?;
            let place = called.iter().position(|t| t.name == table.name).unwrap_or_else(|| {
                called.push(table.clone());
                called.len() - 1
            });
            *k = place as u32;
        }
        let (mut height, mut depth) = (0usize, 0);
        for op in &ops {
            height = height - op.takes() + 1;
            depth = depth.max(height);
        }
        (depth <= MAX_STACK).then(|| Self { ops: ops.into(), tables: called.into(), depth })
    }

    /// The value with variable `k` at `x[k]`; a variable beyond the list is NaN. Nothing is allocated.
    pub fn eval<S: Scalar>(&self, x: &[S]) -> S {
        match *self.ops {
            [Op::Constant(c)] => S::of(c),
            _ if self.depth <= SMALL_STACK => run::<S, SMALL_STACK>(&self.ops, x, &self.tables),
            _ => run::<S, MAX_STACK>(&self.ops, x, &self.tables),
        }
    }

    /// Whether no variable appears.
    pub fn is_constant(&self) -> bool {
        !self.ops.iter().any(|op| matches!(op, Op::Variable(_)))
    }

    /// The value, if it is constant.
    pub fn constant_value(&self) -> Option<f64> {
        self.is_constant().then(|| self.eval::<f64>(&[]))
    }

    /// Whether variable `k` appears.
    pub fn uses(&self, k: u32) -> bool {
        self.ops.contains(&Op::Variable(k))
    }

    /// Whether it consists of pieces that may not join smoothly: conditions, steps, absolute values and similar.
    pub fn has_pieces(&self) -> bool {
        self.ops.iter().any(|op| op.piece(&[0.0; 3], &self.tables).is_some())
    }

    /// A number that identifies the pieces valid at variables `x`: it changes where one of them does.
    pub fn pieces_at(&self, x: &[f64]) -> u64 {
        let mut stack = [0.0; MAX_STACK];
        let (mut n, mut seen) = (0, 0xcbf2_9ce4_8422_2325_u64);
        for op in &self.ops {
            n -= op.takes();
            if let Some(k) = op.piece(&stack[n..], &self.tables) {
                seen = (seen ^ k as u64).wrapping_mul(0x0000_0100_0000_01b3);
            }
            stack[n] = op.apply(&stack[n..], x, &self.tables);
            n += 1;
        }
        seen
    }

    /// As above, with variable `k` renamed to `name(k)`.
    pub fn renumbered(&self, mut name: impl FnMut(u32) -> u32) -> Self {
        let ops = self.ops.iter().map(|op| if let Op::Variable(k) = op { Op::Variable(name(*k)) } else { *op }).collect();
        Self { ops, tables: self.tables.clone(), depth: self.depth }
    }

    /// The tables it calls.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Every call of a table: the table, and its argument as an expression of the same variables.
    pub fn table_calls(&self) -> Vec<(Table, Expr)> {
        let mut starts: Vec<usize> = Vec::new();
        let mut list = Vec::new();
        for (k, op) in self.ops.iter().enumerate() {
            let first = starts.len() - op.takes();
            let start = if op.takes() == 0 { k } else { starts[first] };
            starts.truncate(first);
            starts.push(start);
            if let Op::Table(table) = op
                && let Some(table) = self.tables.get(*table as usize)
                && let Some(argument) = Expr::from_ops(self.ops[start..k].to_vec(), self.tables.to_vec())
            {
                list.push((table.clone(), argument));
            }
        }
        list
    }

    /// Times at which smooth steps begin and end: `smoothstep(t, a, b)` and similar, whose first argument is linear in the variable `time`
    /// and whose ends are numbers.
    pub fn smooth_ends(&self, time: usize) -> Vec<f64> {
        use Function::{SmoothStep, SmootherStep};
        // Value at time zero and rate of expressions linear in time.
        let mut stack: Vec<Option<[f64; 2]>> = Vec::new();
        let mut list = Vec::new();
        for op in &self.ops {
            let args = stack.split_off(stack.len() - op.takes());
            if let (Op::Call(SmoothStep | SmootherStep), [Some([at, rate]), Some([low, 0.0]), Some([high, 0.0])]) = (op, args.as_slice())
                && *rate != 0.0
            {
                list.extend([low, high].map(|x| (x - at) / rate));
            }
            stack.push(match (op, args.as_slice()) {
                (Op::Constant(x), _) => Some([*x, 0.0]),
                (Op::Variable(k), _) => (*k as usize == time).then_some([0.0, 1.0]),
                (Op::Neg, [Some([x, v])]) => Some([-x, -v]),
                (Op::Add, [Some([x, v]), Some([y, w])]) => Some([x + y, v + w]),
                (Op::Sub, [Some([x, v]), Some([y, w])]) => Some([x - y, v - w]),
                (Op::Mul, [Some([x, v]), Some([y, 0.0])] | [Some([y, 0.0]), Some([x, v])]) => Some([x * y, v * y]),
                (Op::Div, [Some([x, v]), Some([y, 0.0])]) => Some([x / y, v / y]),
                _ => {
                    let fixed: Option<Vec<f64>> = args.iter().map(|a| a.filter(|[_, v]| *v == 0.0).map(|[x, _]| x)).collect();
                    fixed.map(|a| [op.apply::<f64>(&a, &[], &self.tables), 0.0])
                }
            });
        }
        list.retain(|t| t.is_finite());
        list
    }

    /// All numbers in it: literals, constants computed from them, and the ends of its tables.
    pub fn constants(&self) -> Vec<f64> {
        let mut stack: Vec<Option<f64>> = Vec::new();
        let mut list = Vec::new();
        for op in &self.ops {
            let args: Option<Vec<f64>> = stack.split_off(stack.len() - op.takes()).into_iter().collect();
            let value = args.filter(|_| !matches!(op, Op::Variable(_))).map(|a| op.apply::<f64>(&a, &[], &self.tables));
            list.extend(value);
            if let Op::Table(k) = op {
                list.extend(self.tables.get(*k as usize).map(|t| t.function.range()).into_iter().flatten());
            }
            stack.push(value);
        }
        list
    }

    /// Value, first and second derivative at `t`, where variable 0 is time.
    pub fn time_derivatives(&self, t: f64) -> [f64; 3] {
        let y = self.eval(&[Taylor::<3>::variable(t)]);
        [y.c[0], y.c[1], 2.0 * y.c[2]]
    }
}

/// Runs a program whose stack needs at most `N` places.
fn run<S: Scalar, const N: usize>(ops: &[Op], x: &[S], tables: &[Table]) -> S {
    let mut stack = [S::zero(); N];
    let mut n = 0;
    for op in ops {
        n -= op.takes();
        stack[n] = op.apply(&stack[n..], x, tables);
        n += 1;
    }
    stack[0]
}
