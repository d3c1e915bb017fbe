//! The functions an expression may call: one table gives name, number of arguments and meaning.

use fourbar_math::Scalar;

/// A function of the expression language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Ceil,
    Min,
    Max,
    Pow,
    Hypot,
    Mod,
    Step,
    Ramp,
    SmoothStep,
    SmootherStep,
    If,
}

/// How a function treats the dimensions of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    /// Arguments must be plain numbers or angles, and so is the value.
    Plain,
    /// All arguments and the value have the same dimension.
    Alike,
    /// All arguments have the same dimension, the value is a plain number.
    Ratio,
    /// The square root of the dimension of the argument.
    Root,
    /// A power.
    Power,
    /// A condition, then two values of the same dimension.
    Condition,
}

/// One line of the table of functions.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo {
    /// Its name.
    pub name: &'static str,
    /// Least and greatest number of arguments.
    pub arguments: (usize, usize),
    /// Its meaning.
    pub doc: &'static str,
    pub(super) function: Function,
    pub(super) units: Units,
}

const fn f(name: &'static str, function: Function, arguments: (usize, usize), units: Units, doc: &'static str) -> FunctionInfo {
    FunctionInfo { name, arguments, doc, function, units }
}

const MANY: usize = 16;

/// All functions, in the order of the manual.
pub const FUNCTIONS: &[FunctionInfo] = &[
    f("sin", Function::Sin, (1, 1), Units::Plain, "sine"),
    f("cos", Function::Cos, (1, 1), Units::Plain, "cosine"),
    f("tan", Function::Tan, (1, 1), Units::Plain, "tangent"),
    f("asin", Function::Asin, (1, 1), Units::Plain, "inverse sine"),
    f("acos", Function::Acos, (1, 1), Units::Plain, "inverse cosine"),
    f("atan", Function::Atan, (1, 1), Units::Plain, "inverse tangent"),
    f("atan2", Function::Atan2, (2, 2), Units::Ratio, "atan2(y, x): angle of the point (x, y)"),
    f("sinh", Function::Sinh, (1, 1), Units::Plain, "hyperbolic sine"),
    f("cosh", Function::Cosh, (1, 1), Units::Plain, "hyperbolic cosine"),
    f("tanh", Function::Tanh, (1, 1), Units::Plain, "hyperbolic tangent"),
    f("exp", Function::Exp, (1, 1), Units::Plain, "exponential"),
    f("ln", Function::Ln, (1, 1), Units::Plain, "natural logarithm"),
    f("log", Function::Ln, (1, 1), Units::Plain, "natural logarithm, the same as ln"),
    f("log10", Function::Log10, (1, 1), Units::Plain, "decimal logarithm"),
    f("sqrt", Function::Sqrt, (1, 1), Units::Root, "square root"),
    f("abs", Function::Abs, (1, 1), Units::Alike, "absolute value"),
    f("sign", Function::Sign, (1, 1), Units::Ratio, "-1, 0 or 1"),
    f("floor", Function::Floor, (1, 1), Units::Alike, "the largest integer not above x"),
    f("ceil", Function::Ceil, (1, 1), Units::Alike, "the smallest integer not below x"),
    f("min", Function::Min, (2, MANY), Units::Alike, "the smallest of the arguments"),
    f("max", Function::Max, (2, MANY), Units::Alike, "the largest of the arguments"),
    f("pow", Function::Pow, (2, 2), Units::Power, "pow(x, y): x^y"),
    f("hypot", Function::Hypot, (2, 2), Units::Alike, "sqrt(x^2 + y^2)"),
    f("mod", Function::Mod, (2, 2), Units::Alike, "mod(x, y): x - y*floor(x/y), with the sign of y"),
    f("step", Function::Step, (2, 2), Units::Ratio, "step(x, x0): 0 below x0, 1 from x0 on"),
    f("ramp", Function::Ramp, (3, 3), Units::Ratio, "ramp(x, x0, x1): 0 up to x0, a straight line to 1 at x1, then 1"),
    f(
        "smoothstep",
        Function::SmoothStep,
        (3, 3),
        Units::Ratio,
        "smoothstep(x, x0, x1): as ramp, with continuous first and second derivatives",
    ),
    f(
        "smootherstep",
        Function::SmootherStep,
        (3, 3),
        Units::Ratio,
        "smootherstep(x, x0, x1): as smoothstep, with a continuous third derivative as well",
    ),
    f("if", Function::If, (3, 3), Units::Condition, "if(condition, a, b): a if the condition is true, otherwise b"),
];

impl Function {
    /// Number of values one application takes from the stack.
    pub(super) fn arity(self) -> usize {
        use Function::*;
        match self {
            Atan2 | Min | Max | Pow | Hypot | Mod | Step => 2,
            Ramp | SmoothStep | SmootherStep | If => 3,
            _ => 1,
        }
    }

    /// The piece of the function that is valid for arguments `a`; `None` if it has only one.
    pub(super) fn piece(self, a: &[f64]) -> Option<i64> {
        use Function::*;
        let x = a[0];
        Some(match self {
            Abs => i64::from(x >= 0.0),
            Sign => i64::from(x > 0.0) - i64::from(x < 0.0),
            Floor => x.floor() as i64,
            Ceil => x.ceil() as i64,
            Min => i64::from(a[1] >= x),
            Max | Step => i64::from(x >= a[1]),
            Mod => (x / a[1]).floor() as i64,
            Ramp | SmoothStep | SmootherStep if x <= a[1] => 0,
            Ramp | SmoothStep | SmootherStep => 1 + i64::from(x >= a[2]),
            If => i64::from(x != 0.0),
            // The angle jumps by a full turn at the negative x axis.
            Atan2 if a[1] < 0.0 => i64::from(x >= 0.0),
            Atan2 => 2,
            _ => return None,
        })
    }

    /// The value of the function; arguments are never missing, since programs are checked when they are built.
    pub(super) fn apply<S: Scalar>(self, a: &[S]) -> S {
        use Function::*;
        let x = a[0];
        match self {
            Sin => x.sin(),
            Cos => x.cos(),
            Tan => x.tan(),
            Asin => x.asin(),
            Acos => x.acos(),
            Atan => x.atan(),
            Atan2 => x.atan2(a[1]),
            Sinh => x.sinh(),
            Cosh => x.cosh(),
            Tanh => x.tanh(),
            Exp => x.exp(),
            Ln => x.ln(),
            Log10 => x.ln() / S::of(std::f64::consts::LN_10),
            Sqrt => x.sqrt(),
            Abs => x.abs(),
            Sign => x.sign(),
            Floor => x.floor(),
            Ceil => -(-x).floor(),
            Min => (a[1] - x).select(x, a[1]),
            Max => (x - a[1]).select(x, a[1]),
            Pow => x.pow(a[1]),
            Hypot => (x * x + a[1] * a[1]).sqrt(),
            Mod => x - a[1] * (x / a[1]).floor(),
            Step => (x - a[1]).select(S::one(), S::zero()),
            Ramp => clamped(x, a[1], a[2]),
            SmoothStep => {
                // The polynomial of degree five whose first and second derivatives vanish at both ends.
                let s = clamped(x, a[1], a[2]);
                s * s * s * (S::of(10.0) + s * (S::of(-15.0) + s * S::of(6.0)))
            }
            SmootherStep => {
                // The polynomial of degree seven whose first three derivatives vanish at both ends.
                let s = clamped(x, a[1], a[2]);
                s.powi(4) * (S::of(35.0) + s * (S::of(-84.0) + s * (S::of(70.0) + s * S::of(-20.0))))
            }
            If => x.choose(a[1], a[2]),
        }
    }
}

/// `(x - x0) / (x1 - x0)` cut off at 0 and 1.
fn clamped<S: Scalar>(x: S, x0: S, x1: S) -> S {
    let inside = (x - x0) / (x1 - x0);
    (x0 - x).select(S::zero(), (x - x1).select(S::one(), inside))
}
