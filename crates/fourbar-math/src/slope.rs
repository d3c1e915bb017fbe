//! First derivatives of elementary functions over any scalar: numbers, series, or expressions that are recorded.
//!
//! Each function takes the argument `x` or the value `y`, whichever is available at its call.

use crate::Scalar;

/// Derivative of the square root, from its value.
pub fn sqrt<S: Scalar>(y: S) -> S {
    S::of(0.5) / y
}

/// Derivative of the natural logarithm.
pub fn ln<S: Scalar>(x: S) -> S {
    S::one() / x
}

/// Derivative of the cosine; that of the sine is the cosine.
pub fn cos<S: Scalar>(x: S) -> S {
    -x.sin()
}

/// Derivative of the inverse sine; that of the inverse cosine is its negative.
pub fn asin<S: Scalar>(x: S) -> S {
    S::one() / (S::one() - x * x).sqrt()
}

/// Derivative of the inverse tangent.
pub fn atan<S: Scalar>(x: S) -> S {
    S::one() / (S::one() + x * x)
}

/// Derivatives of the angle of the point (`x`, `y`), by `y` and by `x`.
pub fn atan2<S: Scalar>(y: S, x: S) -> [S; 2] {
    let r = x * x + y * y;
    [x / r, -(y / r)]
}

/// Derivative of the hyperbolic tangent, from its value.
pub fn tanh<S: Scalar>(y: S) -> S {
    S::one() - y * y
}

/// Derivative of the constant power `x^c`.
pub fn powf<S: Scalar>(x: S, c: f64) -> S {
    x.powf(c - 1.0) * c
}

/// Derivatives of the quotient `y = a / b`, by `a` and by `b`.
pub fn div<S: Scalar>(y: S, b: S) -> [S; 2] {
    let inverse = S::one() / b;
    [inverse, -(y * inverse)]
}
