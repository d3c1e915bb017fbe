//! Elementary functions of plain numbers, from one library on every target.
//!
//! The functions of the standard library come from the system, so that they differ in last digits from one system to the next and in
//! browsers. These are the same code everywhere: a mechanism moves by the same bits on a desk and in a page. Square roots, absolute
//! values and rounding are exact in the standard library and stay there. The crates of the engine use nothing else; a lint holds them to it.

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

/// Exponential less 1, exact where it is small.
pub fn exp_m1(x: f64) -> f64 {
    libm::expm1(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// Natural logarithm of `1 + x`, exact where it is small.
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

/// Length of the vector (`x`, `y`), without overflow on the way.
pub fn hypot(x: f64, y: f64) -> f64 {
    libm::hypot(x, y)
}
