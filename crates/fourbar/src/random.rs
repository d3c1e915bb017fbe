//! A small reproducible generator of random numbers, so that the same file gives bitwise the same results.

use crate::state::{Pose, Twist};
use nalgebra::Vector3;

/// The generator; its seed must not be zero.
pub struct Random(pub u64);

impl Random {
    /// Next number in (-1, 1).
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    /// A vector with entries in (-1, 1).
    pub fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.number(), self.number(), self.number())
    }
    /// Moves every free body by up to `distance` and `angle`.
    pub fn disturb(&mut self, q: &mut [Pose], held: &[bool], distance: f64, angle: f64) {
        for b in 1..q.len() {
            let d = Twist { v: self.vector() * distance, w: self.vector() * angle };
            if !held[b] {
                q[b] = q[b].moved(&d);
            }
        }
    }
}
