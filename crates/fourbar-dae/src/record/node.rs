//! The scalar that records: every operation on it appends to the tape.

use super::{Id, Inner, Op, Recorder};
use crate::scalar::{Scalar, Table};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A value on a tape, or a plain constant that has not met a tape yet.
#[derive(Debug, Clone, Copy)]
pub struct Node<'t> {
    recorder: Option<&'t Recorder>,
    id: Id,
    value: f64,
}

impl<'t> Node<'t> {
    pub(crate) fn number(value: f64) -> Self {
        Self { recorder: None, id: 0, value }
    }

    pub(crate) fn at(recorder: &'t Recorder, id: Id) -> Self {
        Self { recorder: Some(recorder), id, value: 0.0 }
    }

    pub(crate) fn id_on(self, tape: &mut Inner) -> Id {
        match self.recorder {
            Some(_) => self.id,
            None => tape.constant(self.value),
        }
    }

    fn unary(self, value: fn(f64) -> f64, f: impl FnOnce(&mut Inner, Id) -> Id) -> Self {
        match self.recorder {
            None => Self::number(value(self.value)),
            Some(r) => {
                let id = r.with(|t| f(t, self.id));
                r.node(id)
            }
        }
    }

    fn binary(self, b: Self, value: fn(f64, f64) -> f64, f: impl FnOnce(&mut Inner, Id, Id) -> Id) -> Self {
        match self.recorder.or(b.recorder) {
            None => Self::number(value(self.value, b.value)),
            Some(r) => {
                let id = r.with(|t| {
                    let (x, y) = (self.id_on(t), b.id_on(t));
                    f(t, x, y)
                });
                r.node(id)
            }
        }
    }
}

impl Neg for Node<'_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(|x| -x, |t, a| t.scale(-1.0, a))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt, $tape:ident) => {
        impl $trait for Node<'_> {
            type Output = Self;
            fn $method(self, b: Self) -> Self {
                self.binary(b, |x, y| x $op y, Inner::$tape)
            }
        }
        impl $trait<f64> for Node<'_> {
            type Output = Self;
            fn $method(self, b: f64) -> Self {
                $trait::$method(self, Self::number(b))
            }
        }
        impl<'t> $trait<Node<'t>> for f64 {
            type Output = Node<'t>;
            fn $method(self, b: Node<'t>) -> Node<'t> {
                $trait::$method(Node::number(self), b)
            }
        }
    };
}

operator!(Add, add, +, add);
operator!(Sub, sub, -, sub);
operator!(Mul, mul, *, mul);
operator!(Div, div, /, div);

impl Scalar for Node<'_> {
    fn constant(value: f64) -> Self {
        Self::number(value)
    }
    fn sqrt(self) -> Self {
        self.unary(f64::sqrt, |t, a| t.unary(a, f64::sqrt, Op::Sqrt))
    }
    fn exp(self) -> Self {
        self.unary(f64::exp, |t, a| t.unary(a, f64::exp, Op::Exp))
    }
    fn ln(self) -> Self {
        self.unary(f64::ln, |t, a| t.unary(a, f64::ln, Op::Log))
    }
    fn sin(self) -> Self {
        self.unary(f64::sin, |t, a| t.unary(a, f64::sin, Op::Sin))
    }
    fn cos(self) -> Self {
        self.unary(f64::cos, |t, a| t.unary(a, f64::cos, Op::Cos))
    }
    fn sinh(self) -> Self {
        self.unary(f64::sinh, |t, a| t.unary(a, f64::sinh, Op::Sinh))
    }
    fn cosh(self) -> Self {
        self.unary(f64::cosh, |t, a| t.unary(a, f64::cosh, Op::Cosh))
    }
    fn tanh(self) -> Self {
        self.unary(f64::tanh, |t, a| t.unary(a, f64::tanh, Op::Tanh))
    }
    fn atan(self) -> Self {
        self.unary(f64::atan, Inner::atan)
    }
    fn atan2(self, x: Self) -> Self {
        self.binary(x, f64::atan2, Inner::atan2)
    }
    fn powf(self, c: f64) -> Self {
        match self.recorder {
            None => Self::number(self.value.powf(c)),
            Some(_) => self.unary(|_| 0.0, |t, a| t.pow(a, c)),
        }
    }
    fn diff(self, p: u32) -> Self {
        match self.recorder {
            None => Self::number(self.value.diff(p)),
            Some(_) => self.unary(|_| 0.0, |t, a| t.diff(a, p)),
        }
    }
    fn rate(self) -> Self {
        self.unary(|_| 0.0, Inner::rate)
    }
    fn switch(self, a: Self, b: Self) -> Self {
        match self.recorder {
            None if self.value >= 0.0 => a,
            None => b,
            Some(r) => {
                let id = r.with(|t| {
                    let (x, y) = (a.id_on(t), b.id_on(t));
                    t.switch(self.id, x, y)
                });
                r.node(id)
            }
        }
    }
    fn table(self, table: &Table) -> Self {
        match self.recorder {
            None => Self::number(self.value.table(table)),
            Some(_) => self.unary(|_| 0.0, |t, a| t.table(a, table)),
        }
    }
}
