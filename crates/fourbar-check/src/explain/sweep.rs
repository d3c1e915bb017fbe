//! Results along a motion: ranges of all joints, dead points of the drives, crossings of branches.
//!
//! Every driven coordinate is swept with the other ones held; without drives, coordinates that describe the free motions are swept instead.
//! At a dead point the swept coordinate cannot change although the mechanism can move: together with its drive the constraints lose rank.
//! At a bifurcation the constraints alone lose rank.

use super::curve::{Curve, End, Point};
use fourbar::analysis::independent::{Named, Swept, distance, held_rows};
use fourbar::analysis::rank::{self, Mobility, dense_jacobian};
use fourbar::constraint::ConstraintSet;
use fourbar::model::{BodyId, Model};
use fourbar::random::Random;
use fourbar::state::{Configuration, Pose};
use serde::Serialize;
use std::f64::consts::PI;

/// Share of the usual singular value below which one counts as zero at a located pose.
const VANISHED: f64 = 1e-4;

/// Range of a joint coordinate.
#[derive(Clone, Debug, Serialize)]
pub struct Range {
    /// The joint.
    pub joint: String,
    /// `angle` or `distance`.
    pub what: &'static str,
    /// Smallest value.
    pub from: f64,
    /// Largest value.
    pub to: f64,
    /// Whether it makes a full turn and closes.
    pub full_turn: bool,
}

/// Type of a singular pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The constraints with the drives lose rank.
    DeadPoint,
    /// The constraints alone lose rank.
    Bifurcation,
}

/// A singular pose.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its type.
    pub kind: Kind,
    /// Value of the swept coordinate.
    pub value: f64,
    /// Distance from the start in the swept coordinate, along the motion.
    pub away: f64,
    /// Length of the path from the start, metres.
    pub path: f64,
    /// Joints and drives whose rows depend on each other there.
    pub names: Vec<String>,
    /// Degrees of freedom of the joints alone at this pose.
    pub mobility: usize,
    /// The pose.
    pub q: Vec<Pose>,
    /// Joint coordinates there.
    pub turns: Vec<f64>,
}

/// A sweep and its singular poses.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The coordinate.
    pub coordinate: Named,
    /// Coordinates that were held.
    pub held: Vec<Named>,
    /// Value at the start.
    pub start: f64,
    /// Whether the motion returned to its start; otherwise it was followed in both directions.
    pub closed: bool,
    /// Whether a direction ended because no further pose was found.
    pub lost: bool,
    /// Ranges of all joints.
    pub ranges: Vec<Range>,
    /// Singular poses, nearest first.
    pub events: Vec<Event>,
    /// The smallest nonzero singular value: at the start, and its minimum along the motion with the value of the coordinate there.
    pub sigma: (f64, f64, f64),
    /// The poses, in order along the motion.
    pub points: Vec<Point>,
}

/// Sweeps coordinate `k` of the list from an assembled configuration, for at most `most` poses.
pub fn sweep(model: &Model, at: &Configuration, free: &Mobility, list: &[Swept], k: usize, most: usize) -> Option<Sweep> {
    let others: Vec<&Swept> = list.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, s)| s).collect();
    let swept = &list[k];
    let held = held_rows(model, others.iter().copied(), at);
    let rank = free.generic.rank + held.len();
    let mut curve = Curve::new(model, held, rank);
    // The direction is not unique at a singular start: begin beside it.
    let beside = if free.singular_start {
        let q = rank::wander(model, at, &free.start.motions, &mut Random(0x51de_51de_51de_51de), false)?;
        Configuration { q, ..at.clone() }
    } else {
        at.clone()
    };
    let first = curve.start(&beside, &swept.y, swept.bodies);
    if super::curve::size(&first.tangent, model.length) == 0.0 {
        return None;
    }
    let (mut points, end) = curve.follow(&first, true, most);
    let mut lost = end == End::Lost;
    let closed = end == End::Closed;
    if !closed {
        let (back, end) = curve.follow(&first, false, most);
        lost |= end == End::Lost;
        let mut whole: Vec<Point> = back.into_iter().skip(1).rev().collect();
        whole.append(&mut points);
        points = whole;
    }
    let value = |p: &Point| swept.y.value(&p.q[swept.bodies[0].index()], &p.q[swept.bodies[1].index()], &p.turns);
    let start = value(&first);
    let mut events = find(model, &mut curve, swept, &points, &first);
    if closed {
        // The reverse path may be shorter.
        let last = &points[points.len() - 1];
        let round = if swept.named.what == "angle" { 2.0 * PI * ((value(last) - start) / (2.0 * PI)).round() } else { 0.0 };
        for e in events.iter_mut().filter(|e| e.path > 0.5 * last.s) {
            e.path -= last.s;
            e.value -= round;
            e.away -= round;
        }
    }
    if free.singular_start {
        let mobility = free.start.mobility();
        let names = dependent(model, &at.q, &first.q);
        let (q, turns) = (at.q.clone(), at.turns.clone());
        events.push(Event { kind: Kind::Bifurcation, value: start, away: 0.0, path: 0.0, names, mobility, q, turns });
        // The sweep reaches the start itself again.
        let near = |e: &Event| e.path != 0.0 && distance(model, &e.q, &at.q) < 1e-3 * model.length;
        events.retain(|e| !near(e));
    }
    // Nearest first, forwards before backwards at equal distance.
    let far = |e: &Event| (1e2 * e.path.abs() / model.length).round();
    events.sort_by(|a, b| far(a).total_cmp(&far(b)).then(b.path.total_cmp(&a.path)));
    let weakest = points.iter().min_by(|a, b| a.sigma.total_cmp(&b.sigma))?;
    let sigma = (first.sigma, weakest.sigma, value(weakest));
    let held = others.iter().map(|s| s.named.clone()).collect();
    let ranges = ranges(model, &points, closed);
    Some(Sweep { coordinate: swept.named.clone(), held, start, closed, lost, ranges, events, sigma, points })
}

/// Ranges of all joint coordinates along the points; extrema between points by cubic interpolation of values and rates.
fn ranges(model: &Model, points: &[Point], closed: bool) -> Vec<Range> {
    let mut list = Vec::new();
    for j in &model.joints {
        let [i, m] = j.bodies.map(BodyId::index);
        for (what, y) in j.coordinates() {
            let values: Vec<f64> = points.iter().map(|p| y.value(&p.q[i], &p.q[m], &p.turns)).collect();
            let rates: Vec<f64> = points
                .iter()
                .map(|p| {
                    let row = y.row(&p.q[i], &p.q[m]).parts;
                    row[0].power(&p.tangent[i]) + row[1].power(&p.tangent[m])
                })
                .collect();
            let (mut from, mut to) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
            for k in 0..points.len() - 1 {
                if rates[k] * rates[k + 1] < 0.0 {
                    let x = extreme([values[k], values[k + 1]], [rates[k], rates[k + 1]], points[k + 1].s - points[k].s);
                    (from, to) = (from.min(x), to.max(x));
                }
            }
            let whole = (values[values.len() - 1] - values[0]).abs();
            let full_turn = what == "angle" && closed && whole > 1.9 * PI;
            list.push(Range { joint: j.name.clone(), what, from, to, full_turn });
        }
    }
    list
}

/// The extreme value of the cubic with given values and slopes of opposite sign at both ends of an interval.
fn extreme(y: [f64; 2], slope: [f64; 2], h: f64) -> f64 {
    let (d0, d1, rise) = (slope[0] * h, slope[1] * h, y[1] - y[0]);
    // Derivative: d0 + 2 (3 rise - 2 d0 - d1) x + 3 (d0 + d1 - 2 rise) x^2.
    let (b, c) = (3.0 * rise - 2.0 * d0 - d1, d0 + d1 - 2.0 * rise);
    // The form of the root without cancellation; it lies in (0, 1) because the slopes have opposite signs.
    let root = (b * b - 3.0 * c * d0).max(0.0).sqrt();
    let x = -d0 / (b + if d0 < 0.0 { root } else { -root });
    let x = if (0.0..=1.0).contains(&x) { x } else { 0.5 };
    y[0] + x * (d0 + x * (b + x * c))
}

/// Rate of the swept coordinate along the curve.
fn rate(s: &Swept, p: &Point) -> f64 {
    let [i, j] = s.bodies.map(BodyId::index);
    let row = s.y.row(&p.q[i], &p.q[j]).parts;
    row[0].power(&p.tangent[i]) + row[1].power(&p.tangent[j])
}

fn find(model: &Model, curve: &mut Curve<'_>, swept: &Swept, points: &[Point], first: &Point) -> Vec<Event> {
    let mut usual: Vec<f64> = points.iter().map(|p| p.sigma).collect();
    usual.sort_by(f64::total_cmp);
    let usual = usual[usual.len() / 2];
    let mut events: Vec<Event> = Vec::new();
    let value = |p: &Point| swept.y.value(&p.q[swept.bodies[0].index()], &p.q[swept.bodies[1].index()], &p.turns);
    let start = value(first);
    let mut add = |kind: Kind, p: &Point, regular: &Point| {
        let again = |e: &Event| e.kind == kind && distance(model, &e.q, &p.q) < 1e-4 * model.length;
        if events.iter().any(again) {
            return;
        }
        let alone = singular_values(model, &p.q);
        let n = 6 * model.moving();
        let zero = VANISHED * usual * alone.first().copied().unwrap_or(1.0);
        let mobility = n - alone.iter().filter(|s| **s > zero).count();
        let mut names = if kind == Kind::Bifurcation { dependent(model, &p.q, &regular.q) } else { vec![swept.named.joint.clone()] };
        if let (Kind::DeadPoint, Some(drive)) = (kind, &swept.named.drive) {
            names = vec![drive.clone(), swept.named.joint.clone()];
        }
        let v = value(p);
        events.push(Event { kind, value: v, away: v - start, path: p.s, names, mobility, q: p.q.clone(), turns: p.turns.clone() });
    };
    for k in 0..points.len().saturating_sub(1) {
        let (a, b) = (&points[k], &points[k + 1]);
        // The swept coordinate reverses.
        if swept.named.drive.is_some() && rate(swept, a) * rate(swept, b) < 0.0 {
            add(Kind::DeadPoint, &root(curve, a, b, |p| rate(swept, p)), a);
        }
        // A minimum of the singular value that may reach zero.
        let next = points.get(k + 2).unwrap_or(b);
        if b.sigma <= a.sigma
            && b.sigma <= next.sigma
            && b.sigma < 0.6 * usual
            && let Some(p) = lowest(curve, [a, b, next], VANISHED * usual)
        {
            let kind = if vanished(model, &p.q, a, usual) { Kind::Bifurcation } else { Kind::DeadPoint };
            add(kind, &p, a);
        }
    }
    // At a crossing of branches the swept coordinate may reverse too: that is one pose.
    let crossings: Vec<Event> = events.iter().filter(|e| e.kind == Kind::Bifurcation).cloned().collect();
    let near = |e: &Event, c: &Event| distance(model, &e.q, &c.q) < 2.0 * curve.step();
    events.retain(|e| e.kind == Kind::Bifurcation || !crossings.iter().any(|c| near(e, c)));
    events
}

/// Singular values of the joints alone, largest first.
fn singular_values(model: &Model, q: &[Pose]) -> Vec<f64> {
    let mut list = model.constraints(false);
    list.extend(model.velocity_constraints());
    let set = ConstraintSet::new(list, |_| false);
    let Some(svd) = fourbar_math::dense::svd(dense_jacobian(model, &set, q), false, false) else { return Vec::new() };
    let mut s: Vec<f64> = svd.singular_values.iter().copied().collect();
    s.sort_by(|a, b| b.total_cmp(a));
    s
}

/// Whether the joints alone lose rank compared with a regular pose.
fn vanished(model: &Model, q: &[Pose], regular: &Point, usual: f64) -> bool {
    let kept = |q: &[Pose]| {
        let s = singular_values(model, q);
        let top = s.first().copied().unwrap_or(1.0);
        s.iter().filter(|s| **s > VANISHED * usual * top).count()
    };
    kept(q) < kept(&regular.q)
}

/// Names of the elements whose rows become dependent at `q` but are independent at `regular`.
fn dependent(model: &Model, q: &[Pose], regular: &[Pose]) -> Vec<String> {
    let mut list = model.constraints(false);
    list.extend(model.velocity_constraints());
    let set = ConstraintSet::new(list, |_| false);
    let left = |q: &[Pose], tolerance: f64| fourbar_math::dense::rank(&dense_jacobian(model, &set, q).transpose(), tolerance).null;
    let (here, always) = (left(q, 1e-4), left(regular, 1e-8));
    let fresh = &here - &always * always.tr_mul(&here);
    let mut names = Vec::new();
    for (c, constraint) in set.list.iter().enumerate() {
        let rows = fresh.rows(set.row_start[c], set.row_start[c + 1] - set.row_start[c]);
        if rows.amax() > 0.05 && !names.contains(&constraint.name) {
            names.push(constraint.name.clone());
        }
    }
    names
}

/// The zero of a quantity between two points, by the Illinois rule. If the curve is too sharply bent to be followed between them, the end
/// nearer to the zero.
fn root(curve: &mut Curve<'_>, a: &Point, b: &Point, f: impl Fn(&Point) -> f64) -> Point {
    let (mut low, mut high) = (0.0, b.s - a.s);
    let (mut f_low, mut f_high) = (f(a), f(b));
    let scale = f_low.abs().max(f_high.abs());
    let mut best = if f_low.abs() < f_high.abs() { a.clone() } else { b.clone() };
    for _ in 0..40 {
        let h = (low * f_high - high * f_low) / (f_high - f_low);
        let Some(p) = curve.ahead(a, h) else { break };
        let x = f(&p);
        best = p;
        if x.abs() < 1e-12 * scale || (high - low).abs() < 1e-13 * curve.step() {
            break;
        }
        if x * f_high < 0.0 {
            (low, f_low) = (high, f_high);
        } else {
            f_low *= 0.5;
        }
        (high, f_high) = (h, x);
    }
    best
}

/// The point among three where the singular value has its minimum, if that is below `zero`. Golden section.
fn lowest(curve: &mut Curve<'_>, [a, b, c]: [&Point; 3], zero: f64) -> Option<Point> {
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let middle = b.s - a.s;
    let (mut low, mut high) = (0.0, c.s - a.s);
    let mut best = b.clone();
    let mut at = |h: f64| {
        let p = if h.abs() < middle.abs() { curve.ahead(a, h) } else { curve.ahead(b, h - middle) };
        let sigma = p.as_ref().map_or(f64::INFINITY, |p| p.sigma);
        if let Some(p) = p.filter(|p| p.sigma < best.sigma) {
            best = p;
        }
        (sigma, best.sigma)
    };
    let (mut x1, mut x2) = (high - SHARE * (high - low), low + SHARE * (high - low));
    let (mut s1, mut s2) = (at(x1).0, at(x2).0);
    for k in 0..42 {
        let least;
        if s1 < s2 {
            (high, x2, s2) = (x2, x1, s1);
            x1 = high - SHARE * (high - low);
            (s1, least) = at(x1);
        } else {
            (low, x1, s1) = (x1, x2, s2);
            x2 = low + SHARE * (high - low);
            (s2, least) = at(x2);
        }
        // A smooth minimum converges long before a vanishing one.
        if k == 14 && least > 40.0 * zero + 0.02 * a.sigma {
            return None;
        }
    }
    (best.sigma < zero).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extreme_of_a_cubic_is_exact() {
        // y = x^3 - 3 x on [0, 2] has its least value -2 at 1.
        assert!((extreme([0.0, 2.0], [-3.0, 9.0], 2.0) + 2.0).abs() < 1e-15);
        // A parabola: y = 1 - (x - 0.25)^2 on [0, 1].
        assert!((extreme([0.9375, 0.4375], [0.5, -1.5], 1.0) - 1.0).abs() < 1e-15);
    }
}
