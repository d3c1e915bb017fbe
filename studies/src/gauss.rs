//! Gauss's collocation methods with fixed steps, for numbers of any precision: for references more accurate than double precision.
//!
//! With `S` stages the order is `2 S`. Nodes are found by Newton's method, and coefficients are sums of Legendre polynomials without
//! cancellation: both are accurate to the precision of the numbers.

use crate::double_double::Number;

/// Largest number of iterations of a step.
const MOST: usize = 1000;

/// The method of `S` stages.
pub struct Gauss<N, const S: usize> {
    /// Coefficients of the stages.
    a: [[N; S]; S],
    /// Weights.
    b: [N; S],
}

/// Legendre polynomials up to degree `s` at `x`.
fn legendre<N: Number>(s: usize, x: N) -> Vec<N> {
    let mut p = vec![N::from(1.0), x];
    for k in 1..s {
        let n = k as f64;
        p.push((N::from(2.0 * n + 1.0) * x * p[k] - N::from(n) * p[k - 1]) / N::from(n + 1.0));
    }
    p
}

impl<N: Number, const S: usize> Gauss<N, S> {
    /// Computes nodes and coefficients.
    pub fn new() -> Self {
        let of = N::from;
        let (one, half) = (of(1.0), of(0.5));
        // At each zero of the last polynomial: the values of all polynomials, and the weight.
        let nodes: [(Vec<N>, N); S] = std::array::from_fn(|i| {
            let mut x = of((std::f64::consts::PI * (i as f64 + 0.75) / (S as f64 + 0.5)).cos());
            let slope = |p: &[N], x: N| of(S as f64) * (x * p[S] - p[S - 1]) / (x * x - one);
            // Each iteration doubles the number of correct digits.
            for _ in 0..8 {
                let p = legendre(S, x);
                x = x - p[S] / slope(&p, x);
            }
            let p = legendre(S, x);
            let d = slope(&p, x);
            (p, one / ((one - x * x) * d * d))
        });
        let b: [N; S] = std::array::from_fn(|i| nodes[i].1);
        // The integral of P_k up to x is (P_{k+1} - P_{k-1}) / (2 k + 1), its squared norm 2 / (2 k + 1).
        let a = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let (p, q) = (&nodes[i].0, &nodes[j].0);
                let sum = (1..S).map(|k| q[k] * (p[k + 1] - p[k - 1])).fold(one + p[1], |sum, x| sum + x);
                b[j] * half * sum
            })
        });
        Self { a, b }
    }

    /// `y` after a step of `h`. `slopes` are those of the stages, initially a guess, such as those of the previous step.
    pub fn step<const M: usize>(&self, y: &[N; M], h: N, slopes: &mut [[N; M]; S], rate: impl Fn(&[N; M]) -> [N; M]) -> [N; M] {
        let moved = |weights: &[N; S], slopes: &[[N; M]; S]| -> [N; M] {
            std::array::from_fn(|i| {
                let sum = weights.iter().zip(slopes).map(|(w, f)| *w * f[i]).fold(N::from(0.0), |sum, x| sum + x);
                y[i] + h * sum
            })
        };
        // Iterates until changes are rounding errors.
        for _ in 0..MOST {
            let next: [[N; M]; S] = std::array::from_fn(|i| rate(&moved(&self.a[i], slopes)));
            let largest = next.iter().flatten().map(|f| f.value().abs()).fold(1.0, f64::max);
            let change = next.iter().flatten().zip(slopes.iter().flatten()).map(|(a, b)| (*a - *b).value().abs()).fold(0.0, f64::max);
            *slopes = next;
            if change <= 16.0 * N::ROUNDING * largest {
                break;
            }
        }
        moved(&self.b, slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::double_double::Dd;

    #[test]
    fn a_harmonic_oscillator_is_right_to_ninety_bits() {
        let method = Gauss::<Dd, 10>::new();
        let mut y = [1.0, 0.0].map(Dd::from);
        let rate = |y: &[Dd; 2]| [y[1], -y[0]];
        let mut slopes = [rate(&y); 10];
        for _ in 0..8 {
            y = method.step(&y, Dd::from(0.25), &mut slopes, rate);
        }
        let (s, c) = Dd::from(2.0).sin_cos();
        assert!((y[0] - c).value().abs() < 1e-28 && (y[1] + s).value().abs() < 1e-28, "{y:?}");
    }

    #[test]
    fn halving_the_step_divides_the_error_by_the_power_of_the_order() {
        let error = |n: u32| {
            let method = Gauss::<Dd, 4>::new();
            let mut y = [Dd::from(1.0)];
            let rate = |y: &[Dd; 1]| [-y[0] * y[0] * y[0]];
            let mut slopes = [rate(&y); 4];
            for _ in 0..n {
                y = method.step(&y, Dd::from(1.5 / f64::from(n)), &mut slopes, rate);
            }
            // 1 / sqrt(1 + 2 t) at t = 1.5.
            (y[0] - Dd::from(0.5)).value().abs()
        };
        let order = (error(16) / error(32)).log2();
        assert!((order - 8.0).abs() < 0.1, "{order}");
    }
}
