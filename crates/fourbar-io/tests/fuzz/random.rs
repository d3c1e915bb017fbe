//! A small repeatable random generator.

/// The state of the generator, and bytes that are used before it.
pub struct Random(u64, Vec<u8>);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed, Vec::new())
    }

    /// Choices from bytes, two for each; then from a seed, so that generators end.
    pub fn fed(bytes: &[u8]) -> Self {
        Self(bytes.len() as u64, bytes.iter().rev().copied().collect())
    }

    /// The next 64 bits (splitmix64, Steele, Lea and Flood 2014).
    pub fn bits(&mut self) -> u64 {
        if let Some(low) = self.1.pop() {
            // Mirrored, since numbers are taken from the upper bits.
            let x = u64::from(low) | u64::from(self.1.pop().unwrap_or(0)) << 8;
            return x | x.reverse_bits();
        }
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A whole number below `n`, or zero if `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.bits() % n as u64) as usize }
    }

    /// True once in `n` times.
    pub fn chance(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A number in (-1, 1).
    pub fn number(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
