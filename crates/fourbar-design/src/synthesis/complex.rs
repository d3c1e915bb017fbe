//! Points of the plane as complex numbers.

use std::ops::{Add, Mul, Neg, Sub};

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// Component along x.
    pub re: f64,
    /// Component along y.
    pub im: f64,
}

impl Complex {
    /// A number from its parts.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }
    /// A unit vector at an angle.
    pub fn at(angle: f64) -> Self {
        Self { re: angle.cos(), im: angle.sin() }
    }
    /// Length.
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }
    /// Square of the length.
    pub fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }
    /// Angle, -pi to pi.
    pub fn arg(self) -> f64 {
        self.im.atan2(self.re)
    }
    /// Mirror image in the x axis.
    pub fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    /// Product with a real number.
    pub fn scaled(self, s: f64) -> Self {
        Self { re: self.re * s, im: self.im * s }
    }
    /// Quotient with another complex number.
    pub fn over(self, d: Self) -> Self {
        (self * d.conj()).scaled(1.0 / d.square())
    }
    /// The z component of the cross product of two vectors.
    pub fn cross(self, other: Self) -> f64 {
        self.re * other.im - self.im * other.re
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        Self::new(self.re + b.re, self.im + b.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        Self::new(self.re - b.re, self.im - b.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        Self::new(self.re * b.re - self.im * b.im, self.re * b.im + self.im * b.re)
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}
