//! Points that fill a box evenly: Sobol's sequence, scrambled by a seed.
//!
//! Direction numbers of the first dimensions are those of [JoeKuo]; further ones take the next primitive polynomials, found by search, with
//! initial numbers from a hash. Points are scrambled digit by digit by Owen's method, with hashes: every seed gives a different sequence
//! that fills the box equally well, and no point lies on its boundary.

use super::draw::{mix, open_unit};

/// Number of bits of a coordinate.
const BITS: usize = 32;

/// Polynomials (degree, inner coefficients) with their initial direction numbers [JoeKuo], from the second dimension on.
const KNOWN: &[(u32, u32, &[u32])] = &[
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
];

/// A scrambled sequence in a number of dimensions.
#[derive(Clone, Debug)]
pub struct Sobol {
    /// Direction numbers of each dimension, the first bit first.
    directions: Vec<[u32; BITS]>,
    seed: u64,
}

impl Sobol {
    /// The sequence for a seed.
    pub fn new(dimensions: usize, seed: u64) -> Self {
        let mut directions = Vec::with_capacity(dimensions);
        let mut search = Polynomials { degree: 6, next: 26 };
        for d in 0..dimensions {
            directions.push(match d {
                0 => std::array::from_fn(|k| 1 << (BITS - 1 - k)),
                _ => match KNOWN.get(d - 1) {
                    Some((degree, inner, first)) => directions_of(*degree, *inner, first),
                    None => {
                        let (degree, inner) = search.next();
                        let first: Vec<u32> =
                            (0..degree).map(|k| (mix((d as u64) << 8 | u64::from(k)) as u32 % (1 << (k + 1))) | 1).collect();
                        directions_of(degree, inner, &first)
                    }
                },
            });
        }
        Self { directions, seed: mix(seed) }
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.directions.len()
    }

    /// A coordinate of a point, in (0, 1). Sequences have 2^32 points.
    pub fn coordinate(&self, point: u64, dimension: usize) -> f64 {
        let mut x = 0u32;
        let mut rest = point as u32;
        for v in &self.directions[dimension] {
            if rest == 0 {
                break;
            }
            if rest & 1 == 1 {
                x ^= v;
            }
            rest >>= 1;
        }
        let key = mix(self.seed ^ mix(dimension as u64));
        // Digits below those of the sequence are random.
        let low = mix(key ^ mix(point ^ 0x5bd1_e995)) >> 32;
        open_unit((u64::from(scrambled(x, key)) << 32) | low)
    }
}

/// Flips every digit or not according to a hash of the digits before it.
fn scrambled(x: u32, key: u64) -> u32 {
    let mut out = 0;
    for k in 0..BITS {
        let before = if k == 0 { 0 } else { x >> (BITS - k) };
        let turn = (mix(key ^ mix((k as u64) << 32 | u64::from(before))) >> 40) as u32 & 1;
        out |= (((x >> (BITS - 1 - k)) & 1) ^ turn) << (BITS - 1 - k);
    }
    out
}

fn directions_of(degree: u32, inner: u32, first: &[u32]) -> [u32; BITS] {
    let s = degree as usize;
    let mut v = [0u32; BITS];
    for k in 0..BITS {
        v[k] = if k < s {
            first[k] << (BITS - 1 - k)
        } else {
            let mut x = v[k - s] ^ (v[k - s] >> s);
            for i in 1..s {
                if (inner >> (s - 1 - i)) & 1 == 1 {
                    x ^= v[k - i];
                }
            }
            x
        };
    }
    v
}

/// Primitive polynomials over the field of two elements, by degree and then by their inner coefficients.
struct Polynomials {
    degree: u32,
    next: u32,
}

impl Polynomials {
    fn next(&mut self) -> (u32, u32) {
        loop {
            if self.next >= 1 << (self.degree - 1) {
                (self.degree, self.next) = (self.degree + 1, 0);
            }
            let inner = self.next;
            self.next += 1;
            if primitive(self.degree, inner) {
                return (self.degree, inner);
            }
        }
    }
}

/// Whether x generates all non-zero residues modulo the polynomial.
fn primitive(degree: u32, inner: u32) -> bool {
    let polynomial = (1 << degree) | (inner << 1) | 1;
    let order = (1u32 << degree) - 1;
    let (mut x, mut k) = (2u32, 1);
    if degree == 1 {
        return true;
    }
    while x != 1 && k <= order {
        x <<= 1;
        if x >> degree == 1 {
            x ^= polynomial;
        }
        k += 1;
    }
    x == 1 && k == order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabulated_polynomials_are_the_first_primitive_ones() {
        let mut search = Polynomials { degree: 1, next: 0 };
        for (degree, inner, first) in KNOWN {
            assert_eq!(search.next(), (*degree, *inner));
            assert!(first.iter().enumerate().all(|(k, m)| m % 2 == 1 && *m < 2 << k));
        }
        assert!(primitive(7, 1));
    }

    #[test]
    fn every_coordinate_fills_its_strips_evenly() {
        // The first 2^m points have one coordinate in each of 2^m strips, in every dimension and for every seed.
        for seed in [0, 1, 99] {
            let sobol = Sobol::new(60, seed);
            for m in [1, 5, 8] {
                for d in 0..60 {
                    let mut seen = vec![false; 1 << m];
                    for k in 0..1u64 << m {
                        let x = sobol.coordinate(k, d);
                        assert!(x > 0.0 && x < 1.0);
                        seen[(x * (1u32 << m) as f64) as usize] = true;
                    }
                    assert!(seen.iter().all(|s| *s), "dimension {d}, {m} bits, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn an_integral_converges_faster_than_by_chance() {
        // The integral of the product of (1 + (x - 1/2)/2) over six axes is one.
        let n = 4096;
        let sobol = Sobol::new(6, 3);
        let sum: f64 = (0..n).map(|k| (0..6).map(|d| 1.0 + (sobol.coordinate(k, d) - 0.5) / 2.0).product::<f64>()).sum();
        // By chance the error is about 0.37/64 = 6e-3.
        assert!((sum / n as f64 - 1.0).abs() < 5e-4, "{}", sum / n as f64);
    }
}
