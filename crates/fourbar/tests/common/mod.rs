//! Shared by the tests: a repeatable source of states, and comparisons with a message.
#![allow(dead_code)]

use fourbar::state::{Pose, Twist};
use nalgebra::{Matrix3, Vector3};

/// A repeatable generator.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.number(), self.number(), self.number())
    }
    pub fn rotation(&mut self) -> Matrix3<f64> {
        fourbar_math::so3::exp(&(self.vector() * 2.0))
    }
    pub fn pose(&mut self) -> Pose {
        Pose { r: self.vector(), A: self.rotation() }
    }
    pub fn velocity(&mut self) -> Twist {
        Twist { v: self.vector(), w: self.vector() * 2.0 }
    }
}

/// Asserts equality to `tolerance`, relative for large numbers.
#[track_caller]
pub fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{what}: {a} against {b}, difference {:.3e}", a - b);
}
