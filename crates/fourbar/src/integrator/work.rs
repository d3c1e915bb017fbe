//! Work of drives and of forces without a potential in the steps of an implicit method.
//!
//! After a disturbance, such as a singular position, the multipliers of generalized-alpha oscillate for many steps, and with them the power
//! of drives. This has little effect on the motion, since velocities follow a filtered acceleration. The power of drives is therefore
//! filtered in the same way, so that its work changes like the kinetic energy in the method. Forces that do not depend on multipliers are
//! known inside a step too: their work is integrated by Simpson's rule, since steps short enough for the motion may be too long for its
//! product with a force.

use serde_json::{Value, json};

/// Relative accuracy of powers, and its limit in tolerances: near singular positions rounding of the state is amplified many times in the
/// efforts of drives, and no step is small enough to prevent this.
const POWER: [f64; 2] = [1e-8, 30.0];

/// The error of work in a step that does at most `of_step`, minus the uncertainty of powers, relative to this, to the work `done` before it
/// and to an energy that counts as small; `tol` is the tolerance of the run.
pub(super) fn relative_error(error: f64, of_step: f64, done: f64, little: f64, tol: f64) -> f64 {
    let unknown = of_step * POWER[0].min(POWER[1] * tol);
    (error.abs() - unknown) / (of_step + done.abs() + little)
}

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

/// Work since the start, with the data to continue it.
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
    /// Power of forces known inside the step: at its start, middle and end, and at the start of the next step.
    inside: [f64; 3],
    next: f64,
}

/// Power at an instant, W.
#[derive(Clone, Copy, Debug, Default)]
pub struct Power {
    /// Of drives and of forces that depend on multipliers.
    pub by_multipliers: f64,
    /// Of forces that depend only on the motion.
    pub by_forces: f64,
}

impl Work {
    /// Begins a step with this power, without history.
    pub fn begin(&mut self, power: Power) {
        (self.power, self.filtered) = (power.by_multipliers, power.by_multipliers);
        self.next = power.by_forces;
    }

    /// Changes the power at the end of a step because of changed inputs.
    pub fn jump(&mut self, power: Power) {
        self.filtered += power.by_multipliers - self.power;
        self.power = power.by_multipliers;
        self.next = power.by_forces;
    }

    /// A step of size `h` that ends with this power; forces have the power `middle` in its middle.
    pub fn step(&mut self, h: f64, Power { by_multipliers: power, by_forces }: Power, middle: f64, c: Filter) {
        // Filtered values are ahead of the others by a fraction of the step.
        let ratio = if self.h > 0.0 { h / self.h } else { 1.0 };
        let before = self.power + ratio * (self.filtered - self.power);
        let after = ((1.0 - c.alpha_f) * power + c.alpha_f * self.power - c.alpha_m * before) / (1.0 - c.alpha_m);
        self.mean = (1.0 - c.gamma) * before + c.gamma * after;
        self.change = after - before;
        self.inside = [self.next, middle, by_forces];
        self.next = by_forces;
        self.done += h * (self.mean + self.share(1.0));
        (self.h, self.power, self.filtered) = (h, power, after);
    }

    /// Integral of the power of forces up to a fraction of the step, divided by the step.
    fn share(&self, s: f64) -> f64 {
        let [a, b, c] = self.inside;
        let third = 2.0 / 3.0 * s * s * s;
        a * (s - 1.5 * s * s + third) + b * 2.0 * (s * s - third) + c * (third - 0.5 * s * s)
    }

    /// Work at a given time before the end of the last step, not before its start.
    pub fn before_end(&self, left: f64) -> f64 {
        if self.h == 0.0 {
            return self.done - left * (self.power + self.next);
        }
        let forces = self.h * (self.share(1.0) - self.share(1.0 - left / self.h));
        self.done - left * (self.mean + 0.5 * self.change * (1.0 - left / self.h)) - forces
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        let [a, b, c] = self.inside;
        json!([self.done, self.power, self.filtered, self.h, self.mean, self.change, a, b, c, self.next])
    }

    /// Restores the result of [`Work::save`].
    pub fn restore(&mut self, saved: &Value) {
        let number = |k: usize| saved[k].as_f64().unwrap_or(f64::NAN);
        let [done, power, filtered, h, mean, change, a, b, c, next] = std::array::from_fn(number);
        *self = Self { done, power, filtered, h, mean, change, inside: [a, b, c], next };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAPEZOID: Filter = Filter { alpha_m: 0.0, alpha_f: 0.0, gamma: 0.5 };
    /// Spectral radius 0.8.
    const ALPHA: Filter = Filter { alpha_m: 1.0 / 3.0, alpha_f: 4.0 / 9.0, gamma: 0.5 + 1.0 / 9.0 };

    fn drives(power: f64) -> Power {
        Power { by_multipliers: power, by_forces: 0.0 }
    }

    /// Work of a power over one second in steps of varying size: of drives, or of forces.
    fn total(n: usize, c: Option<Filter>, power: impl Fn(f64) -> f64) -> f64 {
        let mut w = Work::default();
        let at = |t: f64| if c.is_some() { drives(power(t)) } else { Power { by_multipliers: 0.0, by_forces: power(t) } };
        w.begin(at(0.0));
        let sizes: Vec<f64> = (0..n).map(|k| if k % 10 < 5 { 1.0 } else { 2.0 }).collect();
        let sum: f64 = sizes.iter().sum();
        let mut t = 0.0;
        for s in sizes {
            let h = s / sum;
            w.step(h, at(t + h), at(t + 0.5 * h).by_forces, c.unwrap_or(ALPHA));
            t += h;
        }
        w.done
    }

    #[test]
    fn smooth_powers_are_summed_with_second_order() {
        let exact = (3.0_f64).sin() / 3.0 + 0.5;
        for c in [TRAPEZOID, ALPHA] {
            let off = |n| (total(n, Some(c), |t| (3.0 * t).cos() + t) - exact).abs();
            assert!(off(1000) < 0.02 * off(100) && off(100) < 1e-2, "{:.1e} {:.1e}", off(100), off(1000));
        }
    }

    #[test]
    fn powers_of_forces_are_summed_with_fourth_order() {
        let cubic = total(3, None, |t| t * (1.0 - t) * (2.0 - t));
        assert!((cubic - 0.25).abs() < 1e-15, "{cubic}");
        let exact = (3.0_f64).sin() / 3.0;
        let off = |n| (total(n, None, |t| (3.0 * t).cos()) - exact).abs();
        assert!(off(100) < 2e-4 * off(10) && off(10) < 1e-3, "{:.1e} {:.1e}", off(10), off(100));
    }

    #[test]
    fn outputs_inside_a_step_meet_its_ends() {
        for c in [TRAPEZOID, ALPHA] {
            let both = |x: f64| Power { by_multipliers: x, by_forces: 2.0 * x };
            let mut w = Work::default();
            w.begin(both(2.0));
            w.step(0.1, both(3.0), 5.5, c);
            let start = w.done;
            w.step(0.2, both(5.0), 7.5, c);
            assert!((w.before_end(0.2) - start).abs() < 1e-15 && w.before_end(0.0) == w.done);
            assert!(w.before_end(0.1) > start && w.before_end(0.1) < w.done);
        }
    }

    #[test]
    fn what_was_saved_goes_on_as_it_was() {
        let mut w = Work::default();
        w.begin(drives(1.0));
        w.step(0.1, Power { by_multipliers: 4.0, by_forces: 3.0 }, 1.0, ALPHA);
        let mut other = Work::default();
        other.restore(&w.save());
        w.step(0.3, drives(-2.0), 0.5, ALPHA);
        other.step(0.3, drives(-2.0), 0.5, ALPHA);
        assert_eq!((w.done, w.filtered), (other.done, other.filtered));
    }
}
