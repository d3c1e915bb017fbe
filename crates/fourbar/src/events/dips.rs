//! Functions that pass through zero and back between two samples.

use crate::diagnostic::Diagnostic;

/// Maximum number of successive divisions of an interval at the minimum of its cubic.
const DEPTH: usize = 6;
/// Number of evaluations of the polynomial through even samples, in each interval.
const FINE: usize = 12;

/// Maximum number of values in an interpolating polynomial.
const WINDOW: usize = 6;
/// A function is resolved by its samples if polynomials through them deviate from it by less than this fraction of its range.
const TOLD: f64 = 0.02;
/// A fraction of a part that no even division meets.
const BESIDE: f64 = 0.381_966;
/// Approximate maximum number of parts of an interval.
const MOST: usize = 4_000;

/// Time, value and rate.
type Place = (f64, f64, f64);

/// Searches for a point between two on the same side of zero at which a function with known rates is on the other side: at the minimum of
/// the cubic through both ends, then in the intervals on both sides of it.
pub fn search(ends: [Place; 2], at: &mut dyn FnMut(f64) -> Result<Place, Diagnostic>) -> Result<Option<(f64, f64)>, Diagnostic> {
    let side = if ends[1].1 != 0.0 { ends[1].1.signum() } else { ends[0].1.signum() };
    divide(ends, side, at, DEPTH)
}

fn divide(
    ends: [Place; 2],
    side: f64,
    at: &mut dyn FnMut(f64) -> Result<Place, Diagnostic>,
    depth: usize,
) -> Result<Option<(f64, f64)>, Diagnostic> {
    let [(t0, f0, r0), (t1, f1, r1)] = ends;
    let h = t1 - t0;
    let Some(u) = least([side * f0, side * f1], [side * h * r0, side * h * r1]) else { return Ok(None) };
    let t = t0 + u * h;
    if t <= t0 || t >= t1 {
        return Ok(None);
    }
    let middle = at(t)?;
    if side * middle.1 < 0.0 {
        return Ok(Some((t, middle.1)));
    }
    if depth == 0 {
        return Ok(None);
    }
    if let Some(found) = divide([ends[0], middle], side, at, depth - 1)? {
        return Ok(Some(found));
    }
    divide([middle, ends[1]], side, at, depth - 1)
}

/// Searches for a point between two outside a body at which the gap to it is negative, if the gap changes at the rate `speed`: intervals
/// are divided while a touch inside them is possible at this speed and their length is more than `step`.
pub fn pass(
    ends: [(f64, f64); 2],
    speed: f64,
    step: f64,
    at: &mut dyn FnMut(f64) -> Result<f64, Diagnostic>,
) -> Result<Option<(f64, f64)>, Diagnostic> {
    let [(t0, f0), (t1, f1)] = ends;
    let way = speed * (t1 - t0);
    let t = 0.5 * (t0 + t1);
    if f0 + f1 >= way || way <= step || t <= t0 || t >= t1 {
        return Ok(None);
    }
    let f = at(t)?;
    if f < 0.0 {
        return Ok(Some((t, f)));
    }
    match pass([ends[0], (t, f)], speed, step, at)? {
        None => pass([(t, f), ends[1]], speed, step, at),
        found => Ok(found),
    }
}

/// Position of the minimum of a cubic with positive ends in an interval of length one, if it may be negative according to the cubic's
/// control points, which bound it.
fn least([a, b]: [f64; 2], [ra, rb]: [f64; 2]) -> Option<f64> {
    let control = [a + ra / 3.0, b - rb / 3.0];
    if control[0] > 0.0 && control[1] > 0.0 {
        return None;
    }
    // The cubic is a + ra u + c2 u^2 + c3 u^3.
    let (c2, c3) = (3.0 * (b - a) - 2.0 * ra - rb, 2.0 * (a - b) + ra + rb);
    // Its slope is zero and increasing: the root with the positive square root of the discriminant.
    let root = (c2 * c2 - 3.0 * c3 * ra).max(0.0).sqrt();
    let u = if c2 > 0.0 { -ra / (c2 + root) } else { (root - c2) / (3.0 * c3) };
    (u > 0.0 && u < 1.0).then_some(u)
}

/// The interpolating polynomial through the values nearest to an interval, for values at 0, 1, 2 and so on; `k` is the end of the interval.
fn near(values: &[f64], k: usize) -> impl Fn(f64) -> f64 {
    let count = values.len().min(WINDOW);
    let first = k.saturating_sub(WINDOW / 2).min(values.len() - count);
    // Newton's form: divided differences, then nested products.
    let mut c = [0.0; WINDOW];
    c[..count].copy_from_slice(&values[first..first + count]);
    for order in 1..count {
        for k in (order..count).rev() {
            c[k] = (c[k] - c[k - 1]) / order as f64;
        }
    }
    move |u| (0..count).rev().fold(0.0, |sum, k| sum * (u - (first + k) as f64) + c[k])
}

/// Points at which the polynomial through values at 0, 1, 2 and so on has the opposite sign to both neighbouring values.
pub fn between_even(values: &[f64]) -> Vec<f64> {
    let mut list = Vec::new();
    if values.len() < 3 || values.iter().any(|x| !x.is_finite()) {
        return list;
    }
    for k in 1..values.len() {
        if values[k - 1] * values[k] <= 0.0 {
            continue;
        }
        let p = near(values, k);
        let side = values[k].signum();
        let place = |n: usize| (k - 1) as f64 + n as f64 / FINE as f64;
        let lowest = (1..FINE).min_by(|a, b| (side * p(place(*a))).total_cmp(&(side * p(place(*b)))));
        let Some(n) = lowest else { continue };
        // The minimum of the parabola through the lowest point and its neighbours.
        let [x, y, z] = [n - 1, n, n + 1].map(|n| side * p(place(n)));
        let bend = x - 2.0 * y + z;
        let shift = if bend > 0.0 { (0.5 * (x - z) / bend).clamp(-1.0, 1.0) } else { 0.0 };
        let u = place(n) + shift / FINE as f64;
        if side * p(u) < 0.0 {
            list.push(u);
        } else if y < 0.0 {
            list.push(place(n));
        }
    }
    list
}

/// Number of even parts, at least `least`, into which an interval of length one has to be divided so that samples at their ends resolve a
/// function.
pub fn parts(least: usize, f: &dyn Fn(f64) -> f64) -> usize {
    let mut n = least;
    let mut values: Vec<f64> = (0..=n).map(|k| f(k as f64 / n as f64)).collect();
    while n < MOST {
        let between: Vec<f64> = (0..n).map(|k| f((k as f64 + 0.5) / n as f64)).collect();
        let all = || values.iter().chain(&between);
        let range = all().fold(f64::NEG_INFINITY, |m, x| m.max(*x)) - all().fold(f64::INFINITY, |m, x| m.min(*x));
        // Also compared away from the middle: waves that fit into the parts look the same at all even points.
        let told = |(k, x): (usize, &f64)| {
            let p = near(&values, k + 1);
            let beside = k as f64 + BESIDE;
            (p(k as f64 + 0.5) - x).abs() <= TOLD * range && (p(beside) - f(beside / n as f64)).abs() <= TOLD * range
        };
        if !range.is_finite() || between.iter().enumerate().all(told) {
            break;
        }
        values = (0..=2 * n).map(|k| if k % 2 == 0 { values[k / 2] } else { between[k / 2] }).collect();
        n *= 2;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A body passes through another one that is far thinner than its path in a step.
    #[test]
    fn ways_through_thin_bodies_are_found() {
        for (thick, place, speed) in [(0.1, 1.7, 3.0), (0.01, 0.3331, 1.0), (1e-3, 2.61, 10.0)] {
            let mut count = 0;
            let mut gap = |t: f64| -> Result<f64, Diagnostic> {
                count += 1;
                Ok((speed * (t - place)).abs() - 0.5 * thick)
            };
            let ends = [(0.0, gap(0.0).expect("a gap")), (3.0, gap(3.0).expect("a gap"))];
            let found = pass(ends, speed, 0.25 * thick, &mut gap).expect("no failure").expect("a place");
            assert!(found.1 < 0.0 && (found.0 - place).abs() < thick / speed, "{found:?}");
            assert!(count < 60, "{count} looks");
            // Bodies that pass by do not touch.
            let mut beside = |t: f64| -> Result<f64, Diagnostic> { Ok((speed * (t - place)).hypot(thick) - 0.5 * thick) };
            let ends = [(0.0, beside(0.0).expect("a gap")), (3.0, beside(3.0).expect("a gap"))];
            assert_eq!(pass(ends, speed, 0.25 * thick, &mut beside).expect("no failure"), None);
        }
    }

    /// Parabolas and waves that become negative anywhere between two samples, however near to one of them.
    #[test]
    fn dips_of_any_width_are_found() {
        let mut r = Random(4711);
        let mut found = [0, 0];
        for _ in 0..2_000 {
            let mut draw = |low: f64, high: f64| low + (high - low) * 0.5 * (1.0 + r.number());
            let (at, width, bend) = (draw(0.0, 1.0), 10_f64.powf(draw(-6.0, -1.0)), draw(0.1, 5.0));
            let deep = draw(-1.0, 1.0) * width * width * bend;
            let f = |t: f64| (t, bend * (t - at).powi(2) * (1.0 + 0.3 * (t - at)) + deep, bend * (t - at) * (2.0 + 0.9 * (t - at)));
            let (a, b) = (f(0.0), f(1.0));
            if a.1 <= 0.0 || b.1 <= 0.0 {
                continue;
            }
            let dip = search([a, b], &mut |t| Ok(f(t))).expect("no failure");
            assert_eq!(dip.is_some(), deep < 0.0, "at {at}, {width} wide, {deep} deep");
            found[usize::from(dip.is_some())] += 1;
        }
        assert!(found[0] > 300 && found[1] > 300, "{found:?}");
    }

    #[test]
    fn the_polynomial_through_even_values_sees_what_they_do_not() {
        // (u - 2.3)(u - 2.6) is negative between two samples.
        let values: Vec<f64> = (0..6).map(|k| (k as f64 - 2.3) * (k as f64 - 2.6)).collect();
        let list = between_even(&values);
        assert!(list.len() == 1 && (list[0] - 2.45).abs() < 1e-9, "{list:?}");
        assert!(between_even(&values.iter().map(|x| x + 0.03).collect::<Vec<_>>()).is_empty());
        assert!(between_even(&[1.0, -1.0, 1.0]).is_empty());
    }

    #[test]
    fn waves_are_divided_until_they_are_told() {
        assert_eq!(parts(5, &|x| 3.0 * x - 1.0), 5);
        assert_eq!(parts(5, &|x| (2.0 * x).sin()), 5);
        for waves in [3.0, 17.0, 20.0, 40.0, 160.0] {
            let n = parts(5, &|x| (waves * std::f64::consts::TAU * (x + 0.013)).sin()) as f64;
            assert!(n > 3.0 * waves && n < 40.0 * waves, "{n} for {waves}");
        }
    }
}
