//! A fast hash for keys of a few small internal numbers; keys never come from outside, so that deliberate collisions are impossible.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map used for lookup only, never iterated.
pub(super) type Quick<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// Multiplies by an odd number and rotates the bits after each part of the key.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mixer(u64);

impl Mixer {
    #[inline]
    fn mix(&mut self, x: u64) {
        // 2^64 over the golden ratio: neighbouring numbers are mapped far apart.
        self.0 = (self.0.rotate_left(23) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.mix(u64::from(b)));
    }
    #[inline]
    fn write_u8(&mut self, x: u8) {
        self.mix(u64::from(x));
    }
    #[inline]
    fn write_u32(&mut self, x: u32) {
        self.mix(u64::from(x));
    }
    #[inline]
    fn write_u64(&mut self, x: u64) {
        self.mix(x);
    }
    #[inline]
    fn finish(&self) -> u64 {
        // Hash maps use the lowest bits, which multiplication mixes least.
        self.0 ^ (self.0 >> 32)
    }
}
