//! Work that drives and forces without a potential do in the steps of an implicit method.
//!
//! After a disturbance, such as a singular position, the multipliers of generalized-alpha ring for many steps, and the power of drives with
//! them. The method itself feels little of that: velocities follow a filtered acceleration. Work follows the power filtered in the same way,
//! so it changes as the kinetic energy of the method does.

use serde_json::{Value, json};

/// Filter of a step: of old filtered values, of old values, and of the end of the step. Zero, zero and one half are the trapezoidal rule.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Weight of the filtered value at the start of a step in its equation.
    pub alpha_m: f64,
    /// Weight of the value at the start of a step.
    pub alpha_f: f64,
    /// Weight of the filtered value at the end of a step in the integral.
    pub gamma: f64,
}

/// Work since the start, with what continues it.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// At the end of the last step, J.
    done: f64,
    /// Power there, W, and filtered.
    power: f64,
    filtered: f64,
    /// Size of the last step, its mean power, and the change of the filtered power in it.
    h: f64,
    mean: f64,
    change: f64,
}

impl Work {
    /// A step begins from this power, with no memory of powers before.
    pub fn begin(&mut self, power: f64) {
        (self.power, self.filtered) = (power, power);
    }

    /// Power changes where a step ends, because an input does.
    pub fn jump(&mut self, power: f64) {
        self.filtered += power - self.power;
        self.power = power;
    }

    /// A step of size `h` that ends with this power.
    pub fn step(&mut self, h: f64, power: f64, c: Filter) {
        // Filtered values are ahead of the others by a share of the step.
        let ratio = if self.h > 0.0 { h / self.h } else { 1.0 };
        let before = self.power + ratio * (self.filtered - self.power);
        let after = ((1.0 - c.alpha_f) * power + c.alpha_f * self.power - c.alpha_m * before) / (1.0 - c.alpha_m);
        self.mean = (1.0 - c.gamma) * before + c.gamma * after;
        self.change = after - before;
        self.done += h * self.mean;
        (self.h, self.power, self.filtered) = (h, power, after);
    }

    /// Work some time before the end of the last step, not before its start.
    pub fn before_end(&self, left: f64) -> f64 {
        if self.h == 0.0 {
            return self.done - left * self.power;
        }
        self.done - left * (self.mean + 0.5 * self.change * (1.0 - left / self.h))
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        json!([self.done, self.power, self.filtered, self.h, self.mean, self.change])
    }

    /// Takes back what [`Work::save`] gave.
    pub fn restore(&mut self, saved: &Value) {
        let number = |k: usize| saved[k].as_f64().unwrap_or(f64::NAN);
        *self = Self { done: number(0), power: number(1), filtered: number(2), h: number(3), mean: number(4), change: number(5) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAPEZOID: Filter = Filter { alpha_m: 0.0, alpha_f: 0.0, gamma: 0.5 };
    /// Spectral radius 0.8.
    const ALPHA: Filter = Filter { alpha_m: 1.0 / 3.0, alpha_f: 4.0 / 9.0, gamma: 0.5 + 1.0 / 9.0 };

    /// Work of a power over one second in steps of changing size.
    fn total(n: usize, c: Filter, power: impl Fn(f64) -> f64) -> f64 {
        let mut w = Work::default();
        w.begin(power(0.0));
        let sizes: Vec<f64> = (0..n).map(|k| if k % 10 < 5 { 1.0 } else { 2.0 }).collect();
        let sum: f64 = sizes.iter().sum();
        let mut t = 0.0;
        for s in sizes {
            let h = s / sum;
            t += h;
            w.step(h, power(t), c);
        }
        w.done
    }

    #[test]
    fn smooth_powers_are_summed_with_second_order() {
        let exact = (3.0_f64).sin() / 3.0 + 0.5;
        for c in [TRAPEZOID, ALPHA] {
            let off = |n| (total(n, c, |t| (3.0 * t).cos() + t) - exact).abs();
            assert!(off(1000) < 0.02 * off(100) && off(100) < 1e-2, "{:.1e} {:.1e}", off(100), off(1000));
        }
    }

    #[test]
    fn outputs_inside_a_step_meet_its_ends() {
        for c in [TRAPEZOID, ALPHA] {
            let mut w = Work::default();
            w.begin(2.0);
            w.step(0.1, 3.0, c);
            let start = w.done;
            w.step(0.2, 5.0, c);
            assert!((w.before_end(0.2) - start).abs() < 1e-15 && w.before_end(0.0) == w.done);
            assert!(w.before_end(0.1) > start && w.before_end(0.1) < w.done);
        }
    }

    #[test]
    fn what_was_saved_goes_on_as_it_was() {
        let mut w = Work::default();
        w.begin(1.0);
        w.step(0.1, 4.0, ALPHA);
        let mut other = Work::default();
        other.restore(&w.save());
        w.step(0.3, -2.0, ALPHA);
        other.step(0.3, -2.0, ALPHA);
        assert_eq!((w.done, w.filtered), (other.done, other.filtered));
    }
}
