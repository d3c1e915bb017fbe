//! Elementary functions of plain numbers, from one library on every target.
//!
//! The functions of the standard library come from the system, so their last digits differ between systems and in browsers. These functions
//! are the same code everywhere: results are identical to the bit on every platform. Square roots, absolute values and rounding are exact
//! in the standard library and are used from there. The crates of the engine use no other functions; a lint enforces this.

/// Sine.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Sine and cosine together.
pub fn sin_cos(x: f64) -> (f64, f64) {
    libm::sincos(x)
}

/// Inverse sine.
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}

/// Inverse cosine.
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// Inverse tangent.
pub fn atan(x: f64) -> f64 {
    libm::atan(x)
}

/// Angle of the point (`x`, `y`).
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

/// Exponential.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Power of two.
pub fn exp2(x: f64) -> f64 {
    libm::exp2(x)
}

/// Exponential minus 1, accurate where it is small.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Natural logarithm of `1 + x`, accurate where it is small.
pub fn ln_1p(x: f64) -> f64 {
    libm::log1p(x)
}

/// Logarithm to the base 2.
pub fn log2(x: f64) -> f64 {
    libm::log2(x)
}

/// Logarithm to the base 10.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// Power.
pub fn powf(x: f64, exponent: f64) -> f64 {
    libm::pow(x, exponent)
}

/// Hyperbolic sine.
pub fn sinh(x: f64) -> f64 {
    libm::sinh(x)
}

/// Hyperbolic cosine.
pub fn cosh(x: f64) -> f64 {
    libm::cosh(x)
}

/// Hyperbolic tangent.
pub fn tanh(x: f64) -> f64 {
    libm::tanh(x)
}

/// Length of the vector (`x`, `y`), without intermediate overflow.
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}
