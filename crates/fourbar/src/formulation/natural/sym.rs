//! A scalar that writes down what is done to it, so that mechanics written once over [`Scalar`] can be recorded.
//!
//! The Taylor solver's own recording type borrows its tape, which the scalars of vectors and matrices may not. So points,
//! frames, forces and constraints are first written into a [`Script`], a list of operations private to the thread, and played
//! back from there: into the solver, or into numbers wherever poses, gradients or residuals are asked for.

use super::script::{Op, Script};
use fourbar_math::{Piecewise, Scalar};
use num_traits::{One, Zero};
use std::cell::RefCell;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// A plain number, or the result of an operation of the script being written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sym {
    /// A constant.
    Number(f64),
    /// Result of an operation, by its place.
    Node(u32),
}

thread_local! {
    static SCRIPT: RefCell<Script> = RefCell::new(Script::default());
}

/// Runs `f` with a fresh script of a start at `time` and hands the script over.
pub fn record<R>(time: f64, f: impl FnOnce() -> R) -> (Script, R) {
    let outer = SCRIPT.with_borrow_mut(|s| std::mem::replace(s, Script::at(time)));
    let result = f();
    let script = SCRIPT.with_borrow_mut(|s| std::mem::replace(s, outer));
    (script, result)
}

fn push(op: Op) -> Sym {
    SCRIPT.with_borrow_mut(|s| Sym::Node(s.push(op)))
}

impl Sym {
    /// Time.
    pub fn time() -> Self {
        push(Op::Time)
    }
    /// A new variable with its value and rate at the start.
    pub fn variable(value: f64, rate: f64) -> Self {
        SCRIPT.with_borrow_mut(|s| Sym::Node(s.variable(value, rate)))
    }
    /// Its rate along the motion.
    pub fn rate(self) -> Self {
        match self {
            Sym::Number(_) => Sym::Number(0.0),
            Sym::Node(a) => push(Op::Rate(a)),
        }
    }
    /// Its rate at the start, as a number.
    pub fn start_rate(self) -> f64 {
        match self {
            Sym::Number(_) => 0.0,
            Sym::Node(a) => SCRIPT.with_borrow(|s| s.start_rate(a)),
        }
    }
    /// How many variables some results depend on.
    pub fn reach(results: impl IntoIterator<Item = Sym>) -> usize {
        SCRIPT.with_borrow(|s| s.reach(results))
    }
    /// The number, if it is constant.
    pub fn constant(self) -> Option<f64> {
        match self {
            Sym::Number(x) => Some(x),
            Sym::Node(_) => None,
        }
    }
    fn unary(self, f: fn(f64) -> f64, op: fn(u32) -> Op) -> Self {
        match self {
            Sym::Number(x) => Sym::Number(f(x)),
            Sym::Node(a) => push(op(a)),
        }
    }
    /// An operation that has no Taylor series is noted, and refused when the script is finished.
    fn refuse(what: &'static str) {
        SCRIPT.with_borrow_mut(|s| s.refused.push(what));
    }
}

impl Neg for Sym {
    type Output = Self;
    fn neg(self) -> Self {
        match self {
            Sym::Number(x) => Sym::Number(-x),
            Sym::Node(_) => push(Op::Mul(Sym::Number(-1.0), self)),
        }
    }
}

impl Add for Sym {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        match (self, b) {
            (Sym::Number(x), Sym::Number(y)) => Sym::Number(x + y),
            (Sym::Number(0.0), _) => b,
            (_, Sym::Number(0.0)) => self,
            _ => push(Op::Add(self, b)),
        }
    }
}

impl Sub for Sym {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        match (self, b) {
            (Sym::Number(x), Sym::Number(y)) => Sym::Number(x - y),
            (_, Sym::Number(0.0)) => self,
            _ if self == b => Sym::Number(0.0),
            _ => push(Op::Sub(self, b)),
        }
    }
}

impl Mul for Sym {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        match (self, b) {
            (Sym::Number(x), Sym::Number(y)) => Sym::Number(x * y),
            (Sym::Number(0.0), _) | (_, Sym::Number(0.0)) => Sym::Number(0.0),
            (Sym::Number(1.0), _) => b,
            (_, Sym::Number(1.0)) => self,
            _ => push(Op::Mul(self, b)),
        }
    }
}

impl Div for Sym {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        match (self, b) {
            (Sym::Number(x), Sym::Number(y)) => Sym::Number(x / y),
            (Sym::Number(0.0), _) => self,
            (_, Sym::Number(1.0)) => self,
            _ => push(Op::Div(self, b)),
        }
    }
}

macro_rules! assigning {
    ($($trait:ident, $method:ident, $op:tt;)*) => {
        $(impl $trait for Sym {
            fn $method(&mut self, b: Self) {
                *self = *self $op b;
            }
        })*
    };
}

assigning! { AddAssign, add_assign, +; SubAssign, sub_assign, -; MulAssign, mul_assign, *; DivAssign, div_assign, /; }

impl Zero for Sym {
    fn zero() -> Self {
        Sym::Number(0.0)
    }
    fn is_zero(&self) -> bool {
        *self == Sym::Number(0.0)
    }
}

impl One for Sym {
    fn one() -> Self {
        Sym::Number(1.0)
    }
}

impl Scalar for Sym {
    fn of(x: f64) -> Self {
        Sym::Number(x)
    }
    /// The value at the start.
    fn value(self) -> f64 {
        match self {
            Sym::Number(x) => x,
            Sym::Node(a) => SCRIPT.with_borrow(|s| s.start_value(a)),
        }
    }
    fn sqrt(self) -> Self {
        self.unary(f64::sqrt, Op::Sqrt)
    }
    fn exp(self) -> Self {
        self.unary(f64::exp, Op::Exp)
    }
    fn ln(self) -> Self {
        self.unary(f64::ln, Op::Ln)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.unary(f64::sin, Op::Sin), self.unary(f64::cos, Op::Cos))
    }
    fn sin(self) -> Self {
        self.unary(f64::sin, Op::Sin)
    }
    fn cos(self) -> Self {
        self.unary(f64::cos, Op::Cos)
    }
    fn asin(self) -> Self {
        self.unary(f64::asin, Op::Asin)
    }
    fn acos(self) -> Self {
        self.unary(f64::acos, Op::Acos)
    }
    fn atan(self) -> Self {
        self.unary(f64::atan, Op::Atan)
    }
    fn atan2(self, x: Self) -> Self {
        match (self, x) {
            (Sym::Number(y), Sym::Number(x)) => Sym::Number(y.atan2(x)),
            _ => push(Op::Atan2(self, x)),
        }
    }
    fn sinh(self) -> Self {
        self.unary(f64::sinh, Op::Sinh)
    }
    fn cosh(self) -> Self {
        self.unary(f64::cosh, Op::Cosh)
    }
    fn tanh(self) -> Self {
        self.unary(f64::tanh, Op::Tanh)
    }
    fn powi(self, n: i32) -> Self {
        match self {
            Sym::Number(x) => Sym::Number(x.powi(n)),
            Sym::Node(a) => push(Op::Powi(a, n)),
        }
    }
    fn pow(self, exponent: Self) -> Self {
        match (self, exponent) {
            (Sym::Number(x), Sym::Number(c)) => Sym::Number(x.powf(c)),
            (_, Sym::Number(c)) if c.fract() == 0.0 && c.abs() < 1000.0 => self.powi(c as i32),
            (Sym::Node(a), Sym::Number(c)) => push(Op::Powf(a, c)),
            _ => (exponent * self.ln()).exp(),
        }
    }
    fn select(self, a: Self, b: Self) -> Self {
        match self {
            Sym::Number(x) => {
                if x >= 0.0 {
                    a
                } else {
                    b
                }
            }
            Sym::Node(_) if a == b => a,
            Sym::Node(x) => push(Op::Select(x, a, b)),
        }
    }
    fn choose(self, a: Self, b: Self) -> Self {
        let Sym::Node(x) = self else {
            return if self == Sym::Number(0.0) { b } else { a };
        };
        // A condition is a choice between constants, or a product (both) or sum (one of them) of such choices.
        match SCRIPT.with_borrow(|s| s.op(x)) {
            Op::Select(d, yes, no) => Sym::Node(d).select(yes.choose(a, b), no.choose(a, b)),
            Op::Mul(p, q) => p.choose(q.choose(a, b), b),
            Op::Add(p, q) if p.is_condition() && q.is_condition() => p.choose(a, q.choose(a, b)),
            // 1 - condition.
            Op::Sub(Sym::Number(1.0), q) if q.is_condition() => q.choose(b, a),
            // Anything else is different from zero but at single instants.
            _ => a,
        }
    }
    fn sign(self) -> Self {
        self.select(Sym::Number(1.0), Sym::Number(-1.0))
    }
    fn piecewise(self, f: &Piecewise) -> Self {
        let Sym::Node(a) = self else { return Sym::Number(f.eval(self.value())) };
        match SCRIPT.with_borrow_mut(|s| s.table(f)) {
            Some(k) => push(Op::Piecewise(a, k)),
            None => {
                Self::refuse("a table whose points lie too close together");
                self
            }
        }
    }
    fn floor(self) -> Self {
        match self {
            Sym::Number(x) => Sym::Number(x.floor()),
            Sym::Node(_) => {
                Self::refuse("floor, ceil or mod");
                self
            }
        }
    }
}

impl Sym {
    /// Whether it is a choice between the numbers zero and one, or made of such.
    fn is_condition(self) -> bool {
        let bit = |s: Sym| s == Sym::Number(0.0) || s == Sym::Number(1.0);
        match self {
            Sym::Number(_) => bit(self),
            Sym::Node(x) => match SCRIPT.with_borrow(|s| s.op(x)) {
                Op::Select(_, a, b) => bit(a) && bit(b),
                Op::Mul(p, q) | Op::Add(p, q) => p.is_condition() && q.is_condition(),
                _ => false,
            },
        }
    }
}
