//! The recording scalar: every operation on it is appended to the current tape.

use super::{Id, Op, Tape, with};
use fourbar_math::elementary;
use fourbar_math::{Piecewise, Scalar};
use num_traits::{One, Zero};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A plain number, or a result on a tape.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Node {
    /// A constant.
    Number(f64),
    /// The result of an operation.
    Result {
        /// Stamp of the tape.
        tape: u32,
        /// Number of the operation.
        id: u32,
    },
}

impl Node {
    /// Time.
    pub fn time() -> Self {
        with(|t| {
            let id = t.push(Op::Time);
            t.node(id)
        })
    }

    /// A new variable with its value and rate at the start; NaN if the tape is not recorded around a start.
    pub fn variable(value: f64, rate: f64) -> Self {
        with(|t| t.variable(value, rate))
    }

    /// Its rate at the start, as a number.
    pub fn start_rate(self) -> f64 {
        match self {
            Node::Number(_) => 0.0,
            Node::Result { .. } => with(|t| {
                let id = self.id_on(t);
                t.at_start(id).c[1]
            }),
        }
    }

    /// Number of variables of the current tape on which some results depend.
    pub fn reach(results: impl IntoIterator<Item = Node>) -> usize {
        with(|t| t.reach(results))
    }

    /// The number, if it is constant.
    pub fn constant(self) -> Option<f64> {
        match self {
            Node::Number(x) => Some(x),
            Node::Result { .. } => None,
        }
    }

    /// Its value in the list of values of all operations of its tape, as computed by [`Tape::eval`].
    pub fn among<S: Scalar>(self, known: &[S]) -> S {
        match self {
            Node::Number(x) => S::of(x),
            Node::Result { id, .. } => known[id as usize],
        }
    }

    /// Its index on a tape; results of other tapes become NaN.
    pub(crate) fn id_on(self, tape: &mut Tape) -> Id {
        match self {
            Node::Number(x) => tape.constant(x),
            Node::Result { tape: stamp, id } if stamp == tape.stamp => id,
            Node::Result { .. } => tape.constant(f64::NAN),
        }
    }

    fn on_tape(self, f: impl FnOnce(&mut Tape, Id) -> Id) -> Self {
        with(|t| {
            let a = self.id_on(t);
            let id = f(t, a);
            t.node(id)
        })
    }

    fn unary(self, value: fn(f64) -> f64, f: impl FnOnce(&mut Tape, Id) -> Id) -> Self {
        match self {
            Node::Number(x) => Node::Number(value(x)),
            Node::Result { .. } => self.on_tape(f),
        }
    }

    fn binary(self, b: Self, value: fn(f64, f64) -> f64, f: impl FnOnce(&mut Tape, Id, Id) -> Id) -> Self {
        match (self, b) {
            (Node::Number(x), Node::Number(y)) => Node::Number(value(x, y)),
            _ => with(|t| {
                let (x, y) = (self.id_on(t), b.id_on(t));
                let id = f(t, x, y);
                t.node(id)
            }),
        }
    }

    /// Whether it is a choice between the numbers zero and one, or composed of such choices.
    fn is_condition(self) -> bool {
        with(|t| {
            let id = self.id_on(t);
            t.is_condition(id)
        })
    }
}

impl Neg for Node {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(|x| -x, |t, a| t.scale(-1.0, a))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt, $assign:ident, $assigning:ident) => {
        impl $trait for Node {
            type Output = Self;
            fn $method(self, b: Self) -> Self {
                self.binary(b, |x, y| x $op y, Tape::$method)
            }
        }
        impl $trait<f64> for Node {
            type Output = Self;
            fn $method(self, b: f64) -> Self {
                $trait::$method(self, Node::Number(b))
            }
        }
        impl $trait<Node> for f64 {
            type Output = Node;
            fn $method(self, b: Node) -> Node {
                $trait::$method(Node::Number(self), b)
            }
        }
        impl $assign for Node {
            fn $assigning(&mut self, b: Self) {
                *self = *self $op b;
            }
        }
    };
}

operator!(Add, add, +, AddAssign, add_assign);
operator!(Sub, sub, -, SubAssign, sub_assign);
operator!(Mul, mul, *, MulAssign, mul_assign);
operator!(Div, div, /, DivAssign, div_assign);

impl Zero for Node {
    fn zero() -> Self {
        Node::Number(0.0)
    }
    fn is_zero(&self) -> bool {
        *self == Node::Number(0.0)
    }
}

impl One for Node {
    fn one() -> Self {
        Node::Number(1.0)
    }
}

impl Scalar for Node {
    fn of(x: f64) -> Self {
        Node::Number(x)
    }
    /// The value at the start; NaN if the tape is not recorded around a start.
    fn value(self) -> f64 {
        match self {
            Node::Number(x) => x,
            Node::Result { .. } => with(|t| {
                let id = self.id_on(t);
                t.at_start(id).c[0]
            }),
        }
    }
    fn sqrt(self) -> Self {
        self.unary(f64::sqrt, |t, a| t.unary(a, f64::sqrt, Op::Sqrt))
    }
    fn exp(self) -> Self {
        self.unary(elementary::exp, |t, a| t.unary(a, elementary::exp, Op::Exp))
    }
    fn ln(self) -> Self {
        self.unary(elementary::ln, |t, a| t.unary(a, elementary::ln, Op::Log))
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.sin(), self.cos())
    }
    fn sin(self) -> Self {
        self.unary(elementary::sin, |t, a| t.unary(a, elementary::sin, Op::Sin))
    }
    fn cos(self) -> Self {
        self.unary(elementary::cos, |t, a| t.unary(a, elementary::cos, Op::Cos))
    }
    fn sinh(self) -> Self {
        self.unary(elementary::sinh, |t, a| t.unary(a, elementary::sinh, Op::Sinh))
    }
    fn cosh(self) -> Self {
        self.unary(elementary::cosh, |t, a| t.unary(a, elementary::cosh, Op::Cosh))
    }
    fn tanh(self) -> Self {
        self.unary(elementary::tanh, |t, a| t.unary(a, elementary::tanh, Op::Tanh))
    }
    fn atan(self) -> Self {
        self.unary(elementary::atan, Tape::atan)
    }
    fn atan2(self, x: Self) -> Self {
        self.binary(x, elementary::atan2, Tape::atan2)
    }
    fn powf(self, c: f64) -> Self {
        match self {
            Node::Number(x) => Node::Number(elementary::powf(x, c)),
            Node::Result { .. } => self.on_tape(|t, a| t.pow(a, c)),
        }
    }
    fn pow(self, exponent: Self) -> Self {
        match (self, exponent) {
            (Node::Number(x), Node::Number(c)) => Node::Number(elementary::powf(x, c)),
            (_, Node::Number(c)) if c.fract() == 0.0 && c.abs() < 1000.0 => self.powi(c as i32),
            (_, Node::Number(c)) => self.powf(c),
            _ => (exponent * self.ln()).exp(),
        }
    }
    fn diff(self, p: u32) -> Self {
        match self {
            Node::Number(x) => Node::Number(x.diff(p)),
            Node::Result { .. } => self.on_tape(|t, a| t.diff(a, p)),
        }
    }
    fn rate(self) -> Self {
        super::grad::rate(self)
    }
    /// On a tape this is a kink: integration restarts where `self` changes sign.
    fn select(self, a: Self, b: Self) -> Self {
        match self {
            Node::Number(x) if x >= 0.0 => a,
            Node::Number(_) => b,
            Node::Result { .. } => self.on_tape(|t, d| {
                let (x, y) = (a.id_on(t), b.id_on(t));
                t.switch(d, x, y)
            }),
        }
    }
    fn choose(self, a: Self, b: Self) -> Self {
        let Node::Result { .. } = self else {
            return if self.is_zero() { b } else { a };
        };
        let op = |x: Node| {
            with(|t| {
                let id = x.id_on(t);
                t.ops[id as usize]
            })
        };
        let node = |id: Id| with(|t| t.node(id));
        // A condition is a choice between constants, or a product (both) or sum (one of them) of such choices.
        match op(self) {
            Op::Switch(k, yes, no) => {
                let decides = with(|t| t.node(t.kinks[k as usize].node()));
                decides.select(node(yes).choose(a, b), node(no).choose(a, b))
            }
            Op::Scale(_, q) => node(q).choose(a, b),
            Op::Mul(p, q) => node(p).choose(node(q).choose(a, b), b),
            Op::Add(p, q) => {
                let (p, q) = (node(p), node(q));
                // 1 - condition.
                let opposite = |one: Node, minus: Node| match op(minus) {
                    Op::Scale(-1.0, q) if one == Node::Number(1.0) && node(q).is_condition() => Some(node(q)),
                    _ => None,
                };
                if p.is_condition() && q.is_condition() {
                    p.choose(a, q.choose(a, b))
                } else if let Some(condition) = opposite(p, q).or_else(|| opposite(q, p)) {
                    condition.choose(b, a)
                } else {
                    a
                }
            }
            // Anything else is non-zero except at isolated instants.
            _ => a,
        }
    }
    fn sign(self) -> Self {
        self.select(Node::Number(1.0), Node::Number(-1.0))
    }
    /// Every breakpoint is a kink.
    fn piecewise(self, f: &Piecewise) -> Self {
        match self {
            Node::Number(x) => Node::Number(f.eval(x)),
            Node::Result { .. } => self.on_tape(|t, a| t.table(a, f)),
        }
    }
    /// Jumps have no Taylor series: the tape records the refusal, and no problem can be built from it.
    fn floor(self) -> Self {
        self.unary(f64::floor, |t, a| {
            t.refused.push("floor, ceil or mod");
            a
        })
    }
}
