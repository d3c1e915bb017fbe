//! Step size from the last terms of the series, and choice of the order for a tolerance.
//!
//! E_m measures term m of all carried variables in units of their weights: in scaled time the error of the carried
//! coefficient s from term m is binomial(m, s) |x_m|. Two rules follow.
//! - S0, the classic one: theta = min over the last two terms of (tol/E_m)^(1/m) (Jorba and Zou 2005, without their
//!   safety factor).
//! - S1: the tail is summed as a geometric series. Its ratio is the root of E_P/E_(P-2), two apart because many
//!   series are even or odd; the sum of all terms after the last is set to half the tolerance, and theta stays below
//!   0.8 of the radius.
//!
//! S1 is used; only if it falls below half the previous step the larger of both is taken, since rounding noise near a singular
//! configuration gives the series a spurious radius of convergence that S1 could not pass.

use crate::engine::Engine;
use fourbar_math::elementary;

/// binomial(m, s) for s < width, m <= last, at `s * (last + 1) + m`.
pub(crate) fn binomials(width: usize, last: usize) -> Vec<f64> {
    let mut table = vec![0.0; width * (last + 1)];
    for m in 0..=last {
        let mut b = 1.0;
        for s in 0..width.min(m + 1) {
            table[s * (last + 1) + m] = b;
            b = b * (m - s) as f64 / (s + 1) as f64;
        }
    }
    table
}

/// Default order for a tolerance: the cost of a step grows about linearly with the order for small problems, which puts the optimum near
/// -ln(tol); measured optima are 10, 14, 18, 22, 24, 28 for 1e-4 to 1e-14, and flat.
pub(crate) fn default_order(tolerance: f64) -> usize {
    ((-0.75 * elementary::ln(tolerance)).round() as i64 + 2).clamp(8, 40) as usize
}

/// Largest step at which the geometric tail after term `p` of size `a` stays below half the tolerance.
fn tail_step(a: f64, inverse: f64, p: f64, first: f64, tolerance: f64) -> f64 {
    let mut theta = first;
    for _ in 0..6 {
        let x = (theta * inverse).clamp(1e-3, 0.8);
        theta = elementary::powf(0.5 * tolerance * (1.0 - x) / (x * a), 1.0 / p);
    }
    theta.min(0.8 / inverse)
}

/// Proposed step sizes, and data for the choice of the order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Proposal {
    /// Step in scaled time by rule S1 and by rule S0.
    pub s1: f64,
    pub s0: f64,
    /// Variable with the largest last term.
    pub limited_by: usize,
    /// Size of the last term and inverse radius of convergence, if they can be determined.
    pub fit: Option<(f64, f64)>,
}

impl Engine {
    fn term(&self, m: usize, binomials: &[f64], all: bool) -> (f64, usize) {
        let last = self.max_order + self.plan.d_max;
        let mut largest = (0.0f64, 0);
        for j in 0..self.weight.len() {
            let d = self.d(j);
            if (d == 0 && !all) || m + d < self.plan.d_max {
                continue;
            }
            let own = m + d - self.plan.d_max;
            let x = self.series(j)[own] * binomials[d.saturating_sub(1) * (last + 1) + own] / self.weight[j];
            if x.abs() > largest.0 {
                largest = (x.abs(), j);
            }
        }
        // Events and kinks must be resolved too: their expressions may vary faster than the variables.
        for (n, &seen) in self.event_size.iter().enumerate() {
            let a = self.extra(self.problem.outputs.len() + n);
            let need = self.plan.need[self.problem.program.extras[self.problem.outputs.len() + n] as usize];
            let own = m as i32 - self.plan.d_max as i32 + need;
            if own < 3 || own as usize >= a.len() {
                continue;
            }
            let size = seen.max(a[1].abs()).max(a[2].abs());
            if size > 0.0 && a[own as usize].abs() / size > largest.0 {
                largest.0 = a[own as usize].abs() / size;
            }
        }
        largest
    }

    /// Records the largest magnitudes of events and switching expressions so far.
    pub fn measure_events(&mut self) {
        for n in 0..self.event_size.len() {
            let value = self.extra(self.problem.outputs.len() + n).first().map_or(0.0, |x| x.abs());
            self.event_size[n] = self.event_size[n].max(value);
        }
    }

    /// Step proposal at an order up to the current one, for a local error `tolerance` in units of the weights.
    pub fn propose(&self, order: usize, tolerance: f64, binomials: &[f64], all: bool) -> Proposal {
        let p = order + self.plan.d_max;
        let e: [(f64, usize); 4] = std::array::from_fn(|n| self.term(p - n, binomials, all));
        let (last, before) = (e[0].0, e[1].0);
        if last == 0.0 && before == 0.0 {
            return Proposal { s1: f64::INFINITY, s0: f64::INFINITY, limited_by: 0, fit: None };
        }
        let pf = p as f64;
        let root = |e: f64, m: f64| if e > 0.0 { elementary::powf(tolerance / e, 1.0 / m) } else { f64::INFINITY };
        let s0 = root(last, pf).min(root(before, pf - 1.0));
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let inverse = ratio(e[0].0, e[2].0).max(ratio(e[1].0, e[3].0)).sqrt();
        // No ratio is available (a series that ends or starts late): use the classic rule.
        if !(inverse > 0.0 && inverse.is_finite()) {
            return Proposal { s1: s0, s0, limited_by: e[0].1, fit: None };
        }
        let a = last.max(before * inverse);
        Proposal { s1: tail_step(a, inverse, pf, s0, tolerance), s0, limited_by: e[0].1, fit: Some((a, inverse)) }
    }

    /// At tolerances near rounding: the largest step at which no term exceeds `bound` times the weight, so that the
    /// rounding of large terms that cancel stays below the tolerance.
    pub fn without_cancellation(&self, mut theta: f64, bound: f64) -> f64 {
        for j in (0..self.weight.len()).filter(|&j| self.d(j) > 0) {
            let limit = bound * self.weight[j];
            loop {
                let mut power = 1.0;
                let large = self.series(j).iter().skip(1).any(|x| {
                    power *= theta;
                    x.abs() * power > limit
                });
                if !large || theta < 1e-3 {
                    break;
                }
                theta *= 0.9;
            }
        }
        theta
    }

    /// Cost of a step of order `k` in counted operations: convolutions grow with the square of the order; rows, edges and triangular
    /// solutions linearly; Jacobian and factorisation are needed once.
    fn cost(&self, k: usize) -> f64 {
        let terms = (k + self.plan.d_max + 1) as f64;
        let products = self.problem.program.prod.len() as f64 + self.plan.stored[2] as f64;
        let rows = (self.plan.staged.len() + self.plan.edges.len()) as f64;
        let fill = self.fill() as f64;
        4.0 * fill + terms * (8.0 * rows + 2.0 * fill) + 0.5 * products * terms * terms
    }

    /// The cheapest order per unit of time, at most two away from the current one, from the size and radius of the current series. Counting
    /// operations instead of measuring time keeps runs reproducible.
    pub fn better_order(&self, tolerance: f64, proposal: &Proposal) -> usize {
        let now = self.order;
        let Some((a, inverse)) = proposal.fit else { return now };
        let p = (now + self.plan.d_max) as f64;
        let rate = |k: usize| {
            let shift = k as f64 - now as f64;
            tail_step(a * elementary::powf(inverse, shift), inverse, p + shift, proposal.s0, tolerance) / self.cost(k)
        };
        let lowest = now.saturating_sub(2).max(6);
        let highest = (now + 2).min(self.max_order);
        (lowest..=highest).max_by(|&x, &y| rate(x).total_cmp(&rate(y))).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_are_pascals() {
        let b = binomials(3, 6);
        assert_eq!(b[2 * 7 + 6], 15.0);
        assert_eq!(b[7 + 5], 5.0);
        assert_eq!(b[4], 1.0);
    }

    #[test]
    fn order_grows_with_accuracy() {
        assert!(default_order(1e-6) < default_order(1e-12));
        assert_eq!(default_order(1e-300), 40);
    }
}
