//! Errors of expressions, with their position in the text.

use super::{Dimension, MAX_LENGTH, MAX_NESTING, MAX_OPERATIONS};
use std::fmt;
use std::ops::Range;

/// An error in the text of an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprError {
    /// The kind of error.
    pub kind: ExprErrorKind,
    /// The bytes of the text concerned.
    pub range: Range<usize>,
}

/// Kinds of errors in expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprErrorKind {
    /// The text is empty.
    Empty,
    /// Something else was expected here.
    Syntax {
        /// The expected element.
        expected: &'static str,
        /// The text found; empty at the end.
        found: String,
    },
    /// A name without meaning.
    UnknownName(String),
    /// A function that does not exist.
    UnknownFunction(String),
    /// A function with the wrong number of arguments.
    Arguments {
        /// The function.
        function: String,
        /// Least and greatest number.
        needed: (usize, usize),
        /// Number given.
        given: usize,
    },
    /// A division by a constant zero.
    DivisionByZero,
    /// A constant part that is infinite or not a number.
    NotFinite,
    /// Nested too deeply.
    TooDeep,
    /// Too long.
    TooLong,
    /// Too many operations after the functions it names are inserted.
    TooMany,
    /// A name after a number that is not a unit.
    UnknownUnit(String),
    /// Two quantities that cannot be added or compared.
    Mismatch(Dimension, Dimension),
    /// A function of plain numbers was given a quantity.
    NotPlain(&'static str, Dimension),
    /// The argument of a table has the wrong dimension.
    WrongArgument(String, Dimension, Dimension),
}

impl fmt::Display for ExprErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the expression is empty"),
            Self::Syntax { expected, found } if found.is_empty() => write!(f, "the expression ends where {expected} is expected"),
            Self::Syntax { expected, found } => write!(f, "found `{found}` where {expected} is expected"),
            Self::UnknownName(name) => write!(f, "unknown name `{name}`"),
            Self::UnknownFunction(name) => write!(f, "unknown function `{name}`"),
            Self::Arguments { function, needed: (a, b), given } => {
                let plural = if *b == 1 { "" } else { "s" };
                match a == b {
                    true => write!(f, "`{function}` takes {a} argument{plural}, {given} given"),
                    false => write!(f, "`{function}` takes {a} to {b} arguments, {given} given"),
                }
            }
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::NotFinite => write!(f, "the value is infinite or not a number"),
            Self::TooDeep => write!(f, "the expression is nested more than {MAX_NESTING} deep"),
            Self::TooMany => write!(f, "with the functions it uses written out, the expression has more than {MAX_OPERATIONS} operations"),
            Self::TooLong => write!(f, "the expression is longer than {MAX_LENGTH} bytes"),
            Self::UnknownUnit(name) => write!(f, "unknown unit `{name}`"),
            Self::Mismatch(a, b) => write!(f, "{} and {} cannot be added or compared", a.a(), b.a()),
            Self::WrongArgument(table, wanted, given) => write!(f, "the table `{table}` is read at {}, not at {}", wanted.a(), given.a()),
            Self::NotPlain(function, d) => write!(f, "`{function}` needs a number or an angle, not {}", d.a()),
        }
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.range.start)
    }
}

impl std::error::Error for ExprError {}
