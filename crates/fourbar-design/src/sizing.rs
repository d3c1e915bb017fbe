//! Loads of motors, drives, bearings and springs in a run, for sizing.

use fourbar::spec::MotorSpec;
use serde::Serialize;

/// Loads of a motor or drive over a run. Powers are positive when it drives, negative when it is driven.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sizing {
    /// Largest magnitude of the effort, N m or N.
    pub peak: f64,
    /// Its time, s.
    pub peak_time: f64,
    /// Root mean square of the effort.
    pub rms: f64,
    /// Largest root mean square over a time window, if requested.
    pub window_rms: Option<f64>,
    /// Largest magnitude of the speed, rad/s or m/s.
    pub peak_speed: f64,
    /// Mean magnitude of the speed.
    pub mean_speed: f64,
    /// Largest power, W.
    pub peak_power: f64,
    /// Smallest power; a negative one is the largest power fed back.
    pub least_power: f64,
    /// Energy supplied, J.
    pub energy_in: f64,
    /// Energy fed back, J.
    pub energy_back: f64,
    /// Loads of its rotor, if the motor is known.
    pub rotor: Option<Rotor>,
}

/// Quantities on the rotor side of the gear.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rotor {
    /// Inertia of the rotor reflected to the joint: kg m^2, or kg.
    pub reflected: f64,
    /// Largest torque of the rotor, including its inertia and the losses of its gear, N m.
    pub peak: f64,
    /// Root mean square of that torque.
    pub rms: f64,
    /// Largest speed of the rotor, rad/s.
    pub peak_speed: f64,
    /// The gear ratio with the least root mean square of the torque, without losses.
    pub best_ratio: Option<f64>,
    /// Root mean square over `rated`, both at the joint, if that is known.
    pub use_of_rated: Option<f64>,
    /// Largest effort over `limit`.
    pub use_of_limit: Option<f64>,
}

/// Time histories of a motor.
#[derive(Clone, Copy, Debug)]
pub struct Course<'a> {
    /// Times, s.
    pub t: &'a [f64],
    /// Speeds of the joint.
    pub speed: &'a [f64],
    /// Efforts at the joint.
    pub effort: &'a [f64],
}

/// Integral over time by the trapezoidal rule.
pub fn integral(t: &[f64], y: impl Fn(usize) -> f64) -> f64 {
    (1..t.len()).map(|k| 0.5 * (t[k] - t[k - 1]) * (y(k) + y(k - 1))).sum()
}

/// Root mean square over time; the magnitude itself if the duration is zero.
pub fn rms(t: &[f64], y: &[f64]) -> f64 {
    let whole = t.last().zip(t.first()).map_or(0.0, |(b, a)| b - a);
    if whole > 0.0 { (integral(t, |k| y[k] * y[k]) / whole).sqrt() } else { y.first().map_or(0.0, |y| y.abs()) }
}

/// Index of the largest magnitude.
pub fn peak(y: &[f64]) -> usize {
    (0..y.len()).max_by(|&a, &b| y[a].abs().total_cmp(&y[b].abs()).then(b.cmp(&a))).unwrap_or(0)
}

/// Largest root mean square over any window of a given length, which is limited to the run.
pub fn window_rms(t: &[f64], y: &[f64], window: f64) -> f64 {
    let whole = t.last().zip(t.first()).map_or(0.0, |(b, a)| b - a);
    if window.is_nan() || window >= whole {
        return rms(t, y);
    }
    // The integral from the start to each row, linear between rows.
    let mut sums = vec![0.0];
    for k in 1..t.len() {
        sums.push(sums[k - 1] + 0.5 * (t[k] - t[k - 1]) * (y[k] * y[k] + y[k - 1] * y[k - 1]));
    }
    let at = |x: f64| {
        let k = t.partition_point(|t| *t < x).clamp(1, t.len() - 1);
        let share = (x - t[k - 1]) / (t[k] - t[k - 1]).max(f64::MIN_POSITIVE);
        let (a, b) = (y[k - 1] * y[k - 1], y[k] * y[k]);
        sums[k - 1] + (t[k] - t[k - 1]) * share * (a + 0.5 * share * (b - a))
    };
    let starts = t.iter().copied().filter(|x| x + window <= t[t.len() - 1]).chain(t.iter().map(|x| x - window).filter(|x| *x >= t[0]));
    starts.map(|x| (at(x + window) - at(x)).max(0.0) / window).fold(0.0, f64::max).sqrt()
}

/// Derivative of a column by second-order differences.
fn slopes(t: &[f64], y: &[f64]) -> Vec<f64> {
    let n = t.len();
    (0..n)
        .map(|k| {
            let (a, b) = (k.saturating_sub(1), (k + 1).min(n - 1));
            let h = t[b] - t[a];
            if h > 0.0 { (y[b] - y[a]) / h } else { 0.0 }
        })
        .collect()
}

/// Loads of a motor over a run; `window` in seconds.
pub fn sizing(c: &Course<'_>, motor: Option<&MotorSpec>, acceleration: Option<&[f64]>, window: Option<f64>) -> Sizing {
    let Course { t, speed, effort } = *c;
    if t.is_empty() {
        return Sizing::default();
    }
    let power: Vec<f64> = speed.iter().zip(effort).map(|(v, u)| u * v).collect();
    let whole = (t[t.len() - 1] - t[0]).max(f64::MIN_POSITIVE);
    let top = peak(effort);
    let rotor = motor.map(|m| {
        let own;
        let a = match acceleration {
            Some(a) => a,
            None => {
                own = slopes(t, speed);
                &own
            }
        };
        // Losses of the gear are carried by the rotor when it drives, and by the load when it is driven.
        let torque: Vec<f64> = (0..t.len())
            .map(|k| {
                let load = effort[k] / m.ratio;
                let load = if power[k] >= 0.0 { load / m.efficiency } else { load * m.efficiency };
                load + m.inertia * m.ratio * a[k]
            })
            .collect();
        let (load, quick) = (rms(t, effort), rms(t, a));
        Rotor {
            reflected: m.reflected(),
            peak: torque[peak(&torque)].abs(),
            rms: rms(t, &torque),
            peak_speed: (speed[peak(speed)] * m.ratio).abs(),
            best_ratio: (m.inertia > 0.0 && quick > 0.0).then(|| (load / (m.inertia * quick)).sqrt()),
            use_of_rated: m.rated.map(|r| load / r),
            use_of_limit: m.limit.map(|l| effort[top].abs() / l),
        }
    });
    Sizing {
        peak: effort[top].abs(),
        peak_time: t[top],
        rms: rms(t, effort),
        window_rms: window.map(|w| window_rms(t, effort, w)),
        peak_speed: speed[peak(speed)].abs(),
        mean_speed: integral(t, |k| speed[k].abs()) / whole,
        peak_power: power.iter().copied().fold(0.0, f64::max),
        least_power: power.iter().copied().fold(0.0, f64::min),
        energy_in: integral(t, |k| power[k].max(0.0)),
        energy_back: -integral(t, |k| power[k].min(0.0)),
        rotor,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(rows: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let t: Vec<f64> = (0..rows).map(|k| k as f64 / (rows - 1) as f64 * std::f64::consts::TAU).collect();
        (t.clone(), t.iter().map(|t| 3.0 * t.sin()).collect(), t.iter().map(|t| 2.0 * t.cos()).collect())
    }

    #[test]
    fn a_harmonic_motion_has_its_closed_forms() {
        let (t, speed, effort) = wave(4001);
        let s = sizing(&Course { t: &t, speed: &speed, effort: &effort }, None, None, Some(0.5));
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-5 * (1.0 + y.abs()), "{x} instead of {y}");
        near(s.peak, 2.0);
        near(s.rms, 2.0 / 2.0_f64.sqrt());
        near(s.peak_speed, 3.0);
        near(s.mean_speed, 6.0 / std::f64::consts::PI);
        near(s.peak_power, 3.0);
        near(s.least_power, -3.0);
        near(s.energy_in, 6.0);
        near(s.energy_back, 6.0);
        // The window around a peak: 4 cos^2 over half a second.
        near(s.window_rms.unwrap_or(0.0), (2.0 + 2.0 * 0.5_f64.sin() / 0.5).sqrt());
    }

    #[test]
    fn the_best_ratio_is_the_best() {
        let (t, speed, effort) = wave(2001);
        let rms_of = |ratio: f64| {
            let m = MotorSpec { ratio, inertia: 1e-3, ..MotorSpec::new("pin") };
            let a: Vec<f64> = t.iter().map(|t| 3.0 * t.cos()).collect();
            sizing(&Course { t: &t, speed: &speed, effort: &effort }, Some(&m), Some(&a), None).rotor.map(|r| (r.rms, r.best_ratio))
        };
        let (_, best) = rms_of(1.0).expect("a rotor");
        let best = best.expect("an inertia");
        assert!((best - (2.0_f64 / 3e-3).sqrt()).abs() < 1e-3, "{best}");
        let least = rms_of(best).expect("a rotor").0;
        for ratio in [0.5 * best, 0.9 * best, 1.1 * best, 2.0 * best] {
            assert!(rms_of(ratio).expect("a rotor").0 > least);
        }
    }
}
