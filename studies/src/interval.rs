//! Intervals with outward rounding: results hold for every number inside, including rounding errors.

use std::ops::{Add, Mul, Neg, Sub};

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// The number zero.
    pub const ZERO: Self = Self { low: 0.0, high: 0.0 };

    /// A single number.
    pub fn of(x: f64) -> Self {
        Self { low: x, high: x }
    }

    /// The interval between two numbers.
    pub fn between(a: f64, b: f64) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    fn outward(low: f64, high: f64) -> Self {
        Self { low: low.next_down(), high: high.next_up() }
    }

    /// The largest absolute value.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// A number near the middle.
    pub fn middle(self) -> f64 {
        0.5 * self.low + 0.5 * self.high
    }

    /// Whether it is contained in another.
    pub fn inside(self, o: Self) -> bool {
        o.low <= self.low && self.high <= o.high
    }

    /// The smallest interval that contains both.
    pub fn hull(self, o: Self) -> Self {
        Self { low: self.low.min(o.low), high: self.high.max(o.high) }
    }

    /// Widened by a fraction of its width and by a length.
    pub fn widened(self, share: f64, length: f64) -> Self {
        let more = share * (self.high - self.low) + length;
        Self::outward(self.low - more, self.high + more)
    }

    /// Whether both ends are finite.
    pub fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The square root of the nonnegative part.
    pub fn sqrt(self) -> Self {
        Self::outward(self.low.max(0.0).sqrt(), self.high.sqrt())
    }

    /// The reciprocal; the whole line if the interval contains zero.
    pub fn inverse(self) -> Self {
        if self.low <= 0.0 && self.high >= 0.0 {
            return Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        Self::outward(1.0 / self.high, 1.0 / self.low)
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl Add for Interval {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::outward(self.low + o.low, self.high + o.high)
    }
}

impl Sub for Interval {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Mul for Interval {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        // Zero stays exactly zero, whatever it is multiplied with.
        if self == Self::ZERO || o == Self::ZERO {
            return Self::ZERO;
        }
        let p = [self.low * o.low, self.low * o.high, self.high * o.low, self.high * o.high];
        let low = p.iter().fold(f64::INFINITY, |m, x| if x.is_nan() { f64::NEG_INFINITY } else { m.min(*x) });
        let high = p.iter().fold(f64::NEG_INFINITY, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(*x) });
        Self::outward(low, high)
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    fn mul(self, x: f64) -> Self {
        self * Self::of(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_hold_every_result_of_numbers_inside() {
        let mut state = 12345u64;
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        for _ in 0..2000 {
            let (a, b) = (Interval::between(draw(), draw()), Interval::between(draw(), draw()));
            let at = |i: Interval, s: f64| (i.low + s * (i.high - i.low)).clamp(i.low, i.high);
            let (x, y) = (at(a, 0.5 + 0.5 * draw()), at(b, 0.5 + 0.5 * draw()));
            let holds = |i: Interval, x: f64| i.low <= x && x <= i.high;
            assert!(holds(a + b, x + y) && holds(a - b, x - y) && holds(a * b, x * y) && holds(-a, -x));
            assert!(holds((a * a).sqrt(), x.abs()) || a.low * a.high < 0.0);
            assert!(!(b.low > 0.0 || b.high < 0.0) || holds(b.inverse(), 1.0 / y));
            assert!(a.inside(a.hull(b)) && a.inside(a.widened(0.1, 0.0)));
        }
        // A third times three is not one in doubles, but the interval contains it.
        let third = Interval::of(3.0).inverse();
        assert!(third.low < third.high && (third * 3.0).low < 1.0 && (third * 3.0).high > 1.0);
    }
}
