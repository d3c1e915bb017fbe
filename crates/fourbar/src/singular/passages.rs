//! Detection of singular positions during a motion.
//!
//! Every formulation samples its mechanism about every tenth of a radian of travel and provides for each of its rows the part independent
//! of the preceding rows, from the pivots that a step computes anyway. On the way through a singular position one of these numbers is a
//! straight V in time. Each row is compared only with itself, so that a row that is always weak, for example at a thin rod with small axial
//! inertia, hides no other. Among redundant rows the V of one may be narrow, where another replaces it; that of their product is not.
//!
//! Three samples that may enclose such a V are a suspicion. It is verified by a [`Measure`] along a cubic through the poses and velocities
//! of the three samples: whether the measure vanishes, and when, depends on the motion and not on steps or output times.

use crate::motion::numbers;
use crate::singular::Singular;
use crate::state::{Pose, Twist};
use fourbar_math::elementary;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector3};
use serde_json::{Value, json};

/// Distance of samples near singular positions, in radians or characteristic lengths of travel. A singular position has an effect at
/// several times this distance, and the error of a cubic between two samples is `APART^4 / 384`, less than 1e-6.
pub const APART: f64 = 0.1;
/// Short steps are skipped until the travel reaches this fraction of the sample distance.
const NEAREST: f64 = 0.75;
/// If the distance from singular positions is at least the second of these fractions of the largest seen, the sample distance is multiplied
/// by `FURTHER`; between the two fractions the factor increases linearly from one.
const FAR: [f64; 2] = [0.3, 0.8];
const FURTHER: f64 = 2.5;
/// Maximum number of samples inside one step: bodies that are flung away would require any number.
pub const PARTS: usize = 40;
/// Initial reductions of the interval, each to two thirds or less, without linear interpolation.
const NARROWED: usize = 6;
/// After these a V has fallen below this fraction of both its ends.
const FALLEN: f64 = 0.5;
/// Then the time is found from values at these fractions of the interval on both sides, and at twice the distance.
const ROUNDS: [f64; 3] = [0.05, 0.005, 0.0005];
/// A V shrinks to a hundredth from the first of these to the last; values that stay above this fraction do not vanish.
const SHRUNK: f64 = 0.1;
/// A V falls at least with the first power of the distance from its minimum; a valley falls with a smaller power, or not at all near its
/// bottom.
const LEAST_POWER: f64 = 0.5;
/// At most this many positions are listed.
const MOST: usize = 200;

/// Distance of poses from singular positions, regardless of the masses.
pub trait Measure {
    /// The logarithm of a number that vanishes with the distance from a singular position.
    fn log_distance(&mut self, t: f64, q: &[Pose]) -> f64;
    /// Names of the joints and drives whose rows depend on each other, at the last evaluated pose; `far` is a regular pose.
    fn dependent(&mut self, t: f64, far: &[Pose]) -> Vec<String>;
}

/// A sample of the mechanism, with the independence of each of its rows.
#[derive(Clone, Debug, Default)]
struct Look {
    t: f64,
    q: Vec<Pose>,
    v: Vec<Twist>,
    parts: Vec<f64>,
    log: f64,
}

/// The detector of singular positions.
#[derive(Clone, Debug)]
pub struct Passages {
    /// Positions found.
    pub found: Vec<Singular>,
    length: f64,
    /// The last three samples, oldest first; only the last `filled` of them are valid.
    looks: [Look; 3],
    filled: usize,
    /// Whether the measure fell so steeply towards the last sample that it may vanish soon after: then it is evaluated again at the next
    /// sample.
    falling: bool,
    /// The largest logarithm of a sample.
    usual: f64,
    between: Vec<Pose>,
}

/// A pose at a fraction `s` of the interval between two samples: a cubic in the increment.
fn between(from: (&Pose, &Twist), to: (&Pose, &Twist), h: f64, s: f64) -> Pose {
    let d = from.0.increment_to(to.0);
    let last = Twist { v: to.1.v, w: so3::tangent_inv(&d.w) * to.1.w };
    let (s2, s3) = (s * s, s * s * s);
    from.0.moved(&d.scaled(3.0 * s2 - 2.0 * s3).plus(&from.1.scaled(h * (s - 2.0 * s2 + s3))).plus(&last.scaled(h * (s3 - s2))))
}

/// Whether three values at three times are closer to a V between the outer ones than to a straight line.
fn bends(t: [f64; 3], [a, b, c]: [f64; 3]) -> bool {
    let w = (t[1] - t[0]) / (t[2] - t[0]);
    let line = a + (c - a) * w;
    let v = ((a + c) * w - a).abs();
    2.0 * b <= v + line
}

impl Passages {
    /// A detector for a mechanism with a characteristic length and a number of bodies, ground included.
    pub fn new(length: f64, bodies: usize) -> Self {
        let look = Look { q: vec![Pose::identity(); bodies], v: vec![Twist::zero(); bodies], ..Look::default() };
        Self {
            found: Vec::new(),
            length,
            looks: [look.clone(), look.clone(), look],
            filled: 0,
            falling: false,
            usual: f64::NEG_INFINITY,
            between: vec![Pose::identity(); bodies],
        }
    }

    /// Speed of the mechanism, in radians or characteristic lengths per second.
    pub fn speed(&self, v: &[Twist]) -> f64 {
        v.iter().fold(0.0_f64, |m, v| m.max(v.v.norm() / self.length).max(v.w.norm()))
    }

    /// Travel from the last sample to the next one.
    fn apart(&self) -> f64 {
        let share = if self.filled == 0 { 0.0 } else { self.share(self.looks[2].log) };
        let far = ((share - FAR[0]) / (FAR[1] - FAR[0])).clamp(0.0, 1.0);
        // NaN counts as zero.
        APART * if far > 0.0 { 1.0 + (FURTHER - 1.0) * far } else { 1.0 }
    }

    /// Number of parts into which samples divide a step with the given travel.
    pub fn parts(&self, travel: f64) -> usize {
        // NaN becomes zero.
        ((travel / self.apart()).ceil() as usize).clamp(1, PARTS)
    }

    /// Whether a mechanism with this speed has moved far enough for another sample.
    pub fn due(&self, t: f64, speed: f64) -> bool {
        self.filled == 0 || speed * (t - self.looks[2].t) >= NEAREST * self.apart()
    }

    /// A distance, given by its logarithm, as a fraction of the largest one of all samples.
    pub fn share(&self, log: f64) -> f64 {
        elementary::exp(log - self.usual)
    }

    /// Called when rows were exchanged: the next samples cannot be compared with the previous ones, and the measure is evaluated instead.
    pub fn exchange(&mut self) {
        self.looks.iter_mut().for_each(|l| l.parts.clear());
    }

    /// Adds a sample, later than the last one. `rows` writes for each row its part independent of the preceding rows, and returns the
    /// logarithm of the product over all rows; it may evaluate the measure.
    pub fn look<M: Measure>(&mut self, t: f64, q: &[Pose], v: &[Twist], measure: &mut M, rows: impl FnOnce(&mut M, &mut Vec<f64>) -> f64) {
        self.looks.rotate_left(1);
        let now = &mut self.looks[2];
        now.t = t;
        now.q.copy_from_slice(q);
        now.v.copy_from_slice(v);
        now.parts.clear();
        now.log = rows(measure, &mut now.parts);
        self.usual = self.usual.max(now.log);
        if self.filled == 0 {
            // The first sample is at the start: no later allocations.
            let rows = self.looks[2].parts.len();
            self.looks.iter_mut().for_each(|l| l.parts.reserve(rows));
        }
        self.filled = (self.filled + 1).min(3);
        if self.filled < 3 || self.found.len() >= MOST {
            return;
        }
        let [a, b, c] = &self.looks;
        let times = [a.t, b.t, c.t];
        let comparable = a.parts.len() == c.parts.len() && b.parts.len() == c.parts.len();
        let dips = |[a, b, c]: [f64; 3]| b <= a && b < c && bends(times, [a, b, c]);
        let high = a.log.max(b.log).max(c.log);
        let mut rows = a.parts.iter().zip(&b.parts).zip(&c.parts);
        let suspicious = std::mem::take(&mut self.falling)
            || !comparable
            || dips([a.log, b.log, c.log].map(|x| elementary::exp(x - high)))
            || rows.any(|((a, b), c)| dips([*a, *b, *c]));
        if suspicious && let Some(found) = self.search(times, measure) {
            self.found.push(found);
            // The next position is beyond this sample.
            self.filled = 1;
        }
    }

    /// The measure at a time between the samples, relative to `log`.
    fn at(&mut self, t: f64, log: f64, measure: &mut impl Measure) -> f64 {
        let [a, b, c] = &self.looks;
        let (from, to) = if t < b.t { (a, b) } else { (b, c) };
        let h = to.t - from.t;
        for (k, q) in self.between.iter_mut().enumerate().skip(1) {
            *q = between((&from.q[k], &from.v[k]), (&to.q[k], &to.v[k]), h, (t - from.t) / h);
        }
        elementary::exp(measure.log_distance(t, &self.between) - log)
    }

    /// The singular position between the three samples, if there is one.
    fn search(&mut self, times: [f64; 3], measure: &mut impl Measure) -> Option<Singular> {
        let [mut a, mut m, mut b] = times;
        let width = b - a;
        let logs = self.looks.each_ref().map(|l| measure.log_distance(l.t, &l.q));
        let log = logs.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x));
        let values = logs.map(|x| elementary::exp(x - log));
        // Mass weights, and the pose of a factor, may show a V one sample too early.
        self.falling = values[2] < 2.0 * (values[1] - values[2]);
        if !bends(times, values) {
            return None;
        }
        let mut low = values[1];
        for _ in 0..NARROWED {
            // A point in the longer of the two parts.
            let right = b - m > m - a;
            let x = m + 0.4 * if right { b - m } else { a - m };
            let y = self.at(x, log, measure);
            match (y < low, right) {
                (true, true) => a = m,
                (true, false) => b = m,
                (false, true) => b = x,
                (false, false) => a = x,
            }
            if y < low {
                (m, low) = (x, y);
            }
        }
        if low > FALLEN * values[0].min(values[2]) {
            return None;
        }
        let (mut time, mut first, mut last) = (m, 0.0, 0.0);
        for share in ROUNDS {
            let d = share * width;
            let [far_left, left, right, far_right] =
                [-2.0, -1.0, 1.0, 2.0].map(|k| self.at(time + k * d, log, measure).max(f64::MIN_POSITIVE));
            // Near its zero the measure is a power of the distance: one for each row that becomes dependent at the same time.
            let power = elementary::ln(far_left * far_right / (left * right)) / elementary::ln(4.0);
            last = left + right;
            if share == ROUNDS[0] {
                first = last;
            }
            if power.is_nan() || power < LEAST_POWER {
                // Very near the minimum only the shift of the measure remains.
                if share == ROUNDS[0] {
                    return None;
                }
                break;
            }
            let ratio = elementary::powf(left / right, 1.0 / power);
            time += d * (ratio - 1.0) / (ratio + 1.0);
        }
        if !(last < SHRUNK * first && time > times[0] && time < times[2]) {
            return None;
        }
        // Names are determined next to the position: the equations cannot be solved at it.
        self.at(time + ROUNDS[1] * width, log, measure);
        let far = if time - times[0] > times[2] - time { &self.looks[0] } else { &self.looks[2] };
        Some(Singular { time, pivot: 0.25 * last * last, joints: measure.dependent(far.t, &far.q) })
    }

    /// For a checkpoint.
    pub fn save(&self) -> Value {
        let look = |l: &Look| {
            let q: Vec<f64> = l.q.iter().flat_map(|q| q.r.iter().chain(q.A.iter()).copied()).collect();
            let v: Vec<f64> = l.v.iter().flat_map(|v| v.v.iter().chain(v.w.iter()).copied()).collect();
            json!({ "t": l.t, "q": q, "v": v, "parts": l.parts, "log": l.log })
        };
        let looks: Vec<Value> = self.looks[3 - self.filled..].iter().map(look).collect();
        json!({ "looks": looks, "falling": self.falling, "usual": self.usual, "found": self.found })
    }

    /// Restores the result of [`Passages::save`]; samples that do not fit are omitted.
    pub fn restore(&mut self, saved: &Value) {
        self.found = Singular::restored(&saved["found"]);
        self.filled = 0;
        self.falling = saved["falling"].as_bool().unwrap_or(false);
        self.usual = saved["usual"].as_f64().unwrap_or(f64::NEG_INFINITY);
        let three = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
        for look in saved["looks"].as_array().into_iter().flatten() {
            let (t, q, v) = (look["t"].as_f64(), numbers(&look["q"]), numbers(&look["v"]));
            self.looks.rotate_left(1);
            let to = &mut self.looks[2];
            let Some(t) = t.filter(|_| q.len() == 12 * to.q.len() && v.len() == 6 * to.v.len()) else {
                self.filled = 0;
                continue;
            };
            to.t = t;
            for (to, q) in to.q.iter_mut().zip(q.chunks_exact(12)) {
                *to = Pose { r: three(q), A: Matrix3::from_column_slice(&q[3..]) };
            }
            for (to, v) in to.v.iter_mut().zip(v.chunks_exact(6)) {
                *to = Twist { v: three(v), w: three(&v[3..]) };
            }
            to.parts = numbers(&look["parts"]);
            to.log = look["log"].as_f64().unwrap_or(f64::NAN);
            self.filled = (self.filled + 1).min(3);
        }
    }
}
