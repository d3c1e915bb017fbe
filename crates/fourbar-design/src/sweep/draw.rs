//! Random numbers as functions of seed, case and axis. No case needs those before it.

/// A source of random numbers with a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    seed: u64,
}

/// Mixes 64 bits so that neighbouring arguments give unrelated results (the finaliser of SplitMix64).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Draw {
    /// A source for a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed) }
    }

    /// 64 random bits for a case and an axis.
    pub fn bits(&self, case: u64, axis: u64) -> u64 {
        mix(mix(self.seed ^ mix(case)) ^ axis.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    /// A random number in the open interval (0, 1).
    pub fn unit(&self, case: u64, axis: u64) -> f64 {
        open_unit(self.bits(case, axis))
    }

    /// A random number with standard normal distribution.
    pub fn normal(&self, case: u64, axis: u64) -> f64 {
        normal_quantile(self.unit(case, axis))
    }

    /// A random permutation of the numbers below `n`.
    pub fn order(&self, n: usize, axis: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for k in (1..n).rev() {
            // The share of the range that is not a multiple of k + 1 is below 2^-32.
            let j = self.bits(k as u64, axis) % (k as u64 + 1);
            order.swap(k, j as usize);
        }
        order
    }
}

/// A number in (0, 1) from the upper bits, excluding both ends.
pub(super) fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// The quantile of the standard normal distribution for a probability `p` in (0, 1): an initial rational approximation of the tail, refined
/// to rounding by two steps of Halley's method on the distribution function.
pub fn normal_quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    let t = (-2.0 * tail.ln()).sqrt();
    // Hastings' approximation of the upper tail, to 4.5e-4 [AbramowitzStegun, 26.2.23].
    let start = t - (2.515_517 + t * (0.802_853 + t * 0.010_328)) / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    let mut x = start;
    for _ in 0..3 {
        let density = (-0.5 * x * x).exp() / (std::f64::consts::TAU).sqrt();
        if density < 1e-300 {
            break;
        }
        // Solves for the tail above x.
        let u = (upper_tail(x) - tail) / density;
        x += u / (1.0 - 0.5 * u * x).max(0.5);
    }
    if p < 0.5 { -x } else { x }
}

/// Probability that a standard normal variable lies above `x >= 0`.
pub fn upper_tail(x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - upper_tail(-x);
    }
    let density = (-0.5 * x * x).exp() / (std::f64::consts::TAU).sqrt();
    if x < 3.0 {
        // The series of the distribution function: 1/2 + density (x + x^3/3 + x^5/15 + ...), all terms of one sign.
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term.abs() > 1e-17 * sum.abs() && k < 400.0 {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    // The continued fraction of the tail, evaluated from its end.
    let mut f = 0.0;
    for k in (1..200).rev() {
        f = k as f64 / (x + f);
    }
    density / (x + f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        // Tabulated values of the distribution function.
        for (p, x) in [(0.5, 0.0), (0.975, 1.959_963_984_540_054), (0.001_349_898_031_630_095, -3.0), (0.841_344_746_068_542_9, 1.0)] {
            assert!((normal_quantile(p) - x).abs() < 1e-9, "{p}: {}", normal_quantile(p));
        }
        for k in 1..200 {
            let x = -6.0 + 0.06 * k as f64;
            let p = 1.0 - upper_tail(x);
            if x < 4.0 {
                assert!((normal_quantile(p) - x).abs() < 1e-7, "{x}: {}", normal_quantile(p));
            }
        }
    }

    #[test]
    fn draws_are_even_and_independent_of_each_other() {
        let draw = Draw::new(7);
        let n = 20_000;
        let (mut mean, mut square, mut product) = (0.0, 0.0, 0.0);
        for k in 0..n {
            let (a, b) = (draw.normal(k, 0), draw.normal(k, 1));
            mean += a / n as f64;
            square += a * a / n as f64;
            product += a * b / n as f64;
        }
        // Four standard errors each.
        let e = 4.0 / (n as f64).sqrt();
        assert!(mean.abs() < e && (square - 1.0).abs() < 1.5 * e && product.abs() < e, "{mean} {square} {product}");
        let mut order = draw.order(1000, 3);
        assert_ne!(order, draw.order(1000, 4));
        order.sort_unstable();
        assert!(order.iter().enumerate().all(|(k, x)| k as u32 == *x));
    }
}
