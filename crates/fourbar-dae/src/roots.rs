//! All zeros of a polynomial in an interval, by Bernstein coefficients and bisection.
//!
//! The number of sign changes of the Bernstein coefficients bounds the number of zeros and has the same parity: none means no zero, one
//! means exactly one. Intervals with more are halved. A pair that cannot be separated is reported as touching.

/// A zero of a polynomial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Root {
    pub tau: f64,
    /// 1 rising, -1 falling, 0 touching without a change of sign.
    pub direction: i8,
}

const DEPTH: usize = 52;

/// Finds zeros without allocating, up to the degree given at construction.
#[derive(Debug, Clone)]
pub(crate) struct RootFinder {
    degree: usize,
    stack: Vec<f64>,
    spans: Vec<(f64, f64)>,
    inverse_binomial: Vec<f64>,
    pub found: Vec<Root>,
}

/// Value by Horner's rule.
pub(crate) fn value(a: &[f64], tau: f64) -> f64 {
    a.iter().rev().fold(0.0, |s, c| s * tau + c)
}

fn slope(a: &[f64], tau: f64) -> f64 {
    a.iter().enumerate().skip(1).rev().fold(0.0, |s, (m, c)| s * tau + m as f64 * c)
}

impl RootFinder {
    pub fn new(degree: usize) -> Self {
        Self {
            degree,
            stack: vec![0.0; (DEPTH + 2) * (degree + 1)],
            spans: Vec::with_capacity(DEPTH + 2),
            inverse_binomial: vec![0.0; degree + 1],
            found: Vec::with_capacity(degree + 1),
        }
    }

    /// Zeros of sum a_m tau^m with 0 < tau <= end into `found`, in rising order.
    pub fn find(&mut self, a: &[f64], end: f64) {
        self.found.clear();
        let n = a.len().saturating_sub(1).min(self.degree);
        // Most steps have no zero, which this test shows at once.
        let mut rest = 0.0;
        let mut power = 1.0;
        for c in &a[1.min(a.len())..] {
            power *= end;
            rest += (c * power).abs();
        }
        if a.is_empty() || a[0].abs() > rest || !rest.is_finite() || rest + a[0].abs() == 0.0 {
            return;
        }
        let width = n + 1;
        self.set_bernstein(a, end, n);
        // Coefficients below this are rounding errors.
        let noise = 4.0 * f64::EPSILON * (a[0].abs() + rest);
        self.spans.clear();
        self.spans.push((0.0, 1.0));
        while let Some((lo, hi)) = self.spans.pop() {
            let at = self.spans.len() * width;
            let b = &self.stack[at..at + width];
            let changes = sign_changes(b, noise);
            if changes == 0 {
                continue;
            }
            let depth_left = hi - lo > 1e-14 && self.spans.len() < DEPTH;
            let opposite = b[0] * b[n] < 0.0 && b[0].abs() > noise && b[n].abs() > noise;
            if changes == 1 && (opposite || !depth_left) {
                let direction = if b[n] > b[0] { 1 } else { -1 };
                let tau = refine(a, lo * end, hi * end);
                self.report(Root { tau, direction }, end);
                continue;
            }
            // Too narrow to halve, or nothing but rounding left: examine the signs around it.
            if !depth_left || b.iter().all(|x| x.abs() <= noise) {
                let tau = 0.5 * (lo + hi) * end;
                let side = |x: f64| if x.abs() <= noise { 0.0 } else { x.signum() };
                let (before, behind) = (side(value(a, tau - 1e-9 * end)), side(value(a, tau + 1e-9 * end)));
                let direction = if before * behind < 0.0 { behind as i8 } else { 0 };
                self.report(Root { tau, direction }, end);
                continue;
            }
            // Halve; the right part goes below the left on the stack, so that zeros come in order.
            let middle = 0.5 * (lo + hi);
            self.halve(at, width);
            self.spans.push((middle, hi));
            self.spans.push((lo, middle));
        }
    }

    fn report(&mut self, root: Root, end: f64) {
        // Neighbouring intervals may report the same zero; two successive zeros cannot both rise.
        let close = |r: &Root| {
            let gap = (r.tau - root.tau).abs() / end.abs();
            gap < 1e-12 || (r.direction == root.direction && gap < if root.direction == 0 { 1e-6 } else { 1e-9 })
        };
        if root.tau > 0.0 && !self.found.last().is_some_and(close) && self.found.len() < self.found.capacity() {
            self.found.push(root);
        }
    }

    /// b_j = sum over l <= j of binomial(j, l)/binomial(n, l) a_l end^l.
    fn set_bernstein(&mut self, a: &[f64], end: f64, n: usize) {
        let mut b = 1.0;
        for l in 0..=n {
            self.inverse_binomial[l] = 1.0 / b;
            b = b * (n - l) as f64 / (l + 1) as f64;
        }
        for j in 0..=n {
            let (mut sum, mut power, mut binomial) = (0.0, 1.0, 1.0);
            for l in 0..=j {
                sum += binomial * self.inverse_binomial[l] * a[l] * power;
                power *= end;
                binomial = binomial * (j - l) as f64 / (l + 1) as f64;
            }
            self.stack[j] = sum;
        }
    }

    /// De Casteljau at one half: the right part stays at `at`, the left part goes after it.
    fn halve(&mut self, at: usize, width: usize) {
        let (right, rest) = self.stack[at..].split_at_mut(width);
        let left = &mut rest[..width];
        for r in 0..width {
            left[r] = right[0];
            for i in 0..width - 1 - r {
                right[i] = 0.5 * (right[i] + right[i + 1]);
            }
        }
    }
}

fn sign_changes(b: &[f64], noise: f64) -> usize {
    let mut changes = 0;
    let mut last = 0.0;
    for &x in b {
        if x.abs() <= noise {
            continue;
        }
        if last * x < 0.0 {
            changes += 1;
        }
        last = x;
    }
    // Coefficients within the noise may hide a zero.
    if changes == 0 && b.iter().any(|x| x.abs() <= noise) { 2 } else { changes }
}

/// Newton's method, safeguarded by a bracket.
fn refine(a: &[f64], mut lo: f64, mut hi: f64) -> f64 {
    let low = value(a, lo);
    let mut tau = 0.5 * (lo + hi);
    for _ in 0..80 {
        let f = value(a, tau);
        if f == 0.0 {
            return tau;
        }
        if (f < 0.0) == (low < 0.0) {
            lo = tau
        } else {
            hi = tau
        }
        let newton = tau - f / slope(a, tau);
        let next = if newton > lo && newton < hi { newton } else { 0.5 * (lo + hi) };
        if (next - tau).abs() <= f64::EPSILON * tau.abs() {
            return next;
        }
        tau = next;
    }
    tau
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coefficients of the product of (tau - r).
    fn with_roots(roots: &[f64]) -> Vec<f64> {
        roots.iter().fold(vec![1.0], |p, r| {
            let mut q = vec![0.0; p.len() + 1];
            for (m, c) in p.iter().enumerate() {
                q[m + 1] += c;
                q[m] -= r * c;
            }
            q
        })
    }

    #[test]
    fn all_roots_inside_are_found_in_order_with_direction() {
        let a = with_roots(&[0.1, 0.35, 0.350001, 0.9, 1.4, -0.2]);
        let mut finder = RootFinder::new(8);
        finder.find(&a, 1.0);
        let taus: Vec<f64> = finder.found.iter().map(|r| r.tau).collect();
        assert_eq!(taus.len(), 4, "{taus:?}");
        for (tau, exact) in taus.iter().zip([0.1, 0.35, 0.350001, 0.9]) {
            assert!((tau - exact).abs() < 1e-9, "{tau} {exact}");
        }
        for pair in finder.found.windows(2) {
            assert_eq!(pair[0].direction, -pair[1].direction);
        }
    }

    #[test]
    fn a_double_root_is_touching() {
        let mut finder = RootFinder::new(4);
        finder.find(&with_roots(&[0.4, 0.4]), 1.0);
        assert!(finder.found.iter().any(|r| r.direction == 0 && (r.tau - 0.4).abs() < 1e-6), "{:?}", finder.found);
        assert!(finder.found.iter().all(|r| r.direction == 0));
    }

    #[test]
    fn a_polynomial_without_zero_gives_none() {
        let mut finder = RootFinder::new(4);
        finder.find(&[1.0, -1.0, 1.0], 2.0);
        assert!(finder.found.is_empty());
    }
}
