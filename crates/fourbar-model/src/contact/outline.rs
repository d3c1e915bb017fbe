//! A planar curve of a body as one side of a contact: against planes and against other curves.

use super::spot::{Touch, into_plane};
use crate::coordinate::PoseOf;
use crate::curve::Curve;
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector2, Vector3};
use std::sync::Arc;

type P = Vector2<f64>;

/// Largest number of steps of a search along a curve.
const STEPS: usize = 60;
/// Newton steps that extend a value to a scalar with derivatives: each doubles the number of correct derivatives.
const REFINEMENTS: usize = 4;

/// A planar curve on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The curve.
    pub curve: Arc<Curve>,
    /// Origin of its plane relative to the centre of mass, body axes.
    pub s: Vector3<f64>,
    /// Axes of the plane and its normal as columns, body axes.
    pub R: Matrix3<f64>,
    /// 1 where the other body is on the left of the curve, -1 on the right.
    pub sign: f64,
    /// Overlap beyond which the other body is regarded as not in contact, m.
    pub depth: f64,
    /// Starting points of searches: arc lengths and points.
    pub seeds: Vec<(f64, P)>,
}

impl Outline {
    /// A curve on a body.
    pub fn new(curve: Arc<Curve>, s: Vector3<f64>, R: Matrix3<f64>, sign: f64, depth: f64) -> Self {
        let n = (8 * curve.points().len()).clamp(64, 1000);
        let last = if curve.closed() { n } else { n - 1 };
        let seeds = (0..n).map(|k| curve.length() * k as f64 / last as f64).map(|s| (s, curve.at(s).0)).collect();
        Self { curve, s, R, sign, depth, seeds }
    }

    /// A point of the plane in the world.
    fn world<S: Scalar>(&self, q: &PoseOf<S>, p: &Vector2<S>) -> Vector3<S> {
        q.r + q.A * (self.s.map(S::of) + self.R.map(S::of) * Vector3::new(p.x, p.y, S::zero()))
    }

    /// The arc length at which a measure along the curve is smallest, near seed `k`: `slope` returns its first and second derivative by arc
    /// length.
    fn least(&self, k: usize, slope: impl Fn(f64) -> [f64; 2]) -> f64 {
        let (closed, length) = (self.curve.closed(), self.curve.length());
        let apart = length / (self.seeds.len() - usize::from(!closed)) as f64;
        let middle = self.seeds[k].0;
        let [mut low, mut high] = [middle - apart, middle + apart];
        if !closed {
            (low, high) = (low.max(0.0), high.min(length));
        }
        let mut s = middle;
        for _ in 0..STEPS {
            let [first, second] = slope(s);
            if first > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let step = s - first / second;
            let next = if second > 0.0 && step > low && step < high { step } else { 0.5 * (low + high) };
            let done = (next - s).abs() <= 4e-16 * length;
            s = next;
            if done {
                break;
            }
        }
        s
    }

    /// Its deepest point against a plane of another body.
    pub(super) fn on_plane<S: Scalar>(&self, qa: &PoseOf<S>, qb: &PoseOf<S>, o: &Vector3<f64>, n: &Vector3<f64>) -> Touch<S> {
        let n = qb.A * n.map(S::of);
        let down = self.R.map(S::of).tr_mul(&qa.A.tr_mul(&n)).xy();
        let here = down.map(Scalar::value);
        let lowest = (0..self.seeds.len()).min_by(|a, b| here.dot(&self.seeds[*a].1).total_cmp(&here.dot(&self.seeds[*b].1))).unwrap_or(0);
        let s = self.least(lowest, |s| {
            let near = self.curve.at(s).1;
            [near.t.dot(&here), near.kappa * near.n().dot(&here)]
        });
        let mark = self.curve.mark(s);
        let mut x = S::of(mark.x);
        let at_end = !self.curve.closed() && (s <= 0.0 || s >= self.curve.length());
        if !at_end {
            for _ in 0..REFINEMENTS {
                let [_, c1, c2] = self.curve.on(&mark, x);
                x -= c1.dot(&down) / c2.dot(&down);
            }
        }
        let p = self.world(qa, &self.curve.on(&mark, x)[0]);
        let gap = n.dot(&(p - qb.r - qb.A * o.map(S::of)));
        Touch { gap, n, p: p - n * (gap * S::of(0.5)) }
    }

    /// Its deepest point against another curve in the same plane.
    pub(super) fn on_curve<S: Scalar>(&self, qa: &PoseOf<S>, other: &Outline, qb: &PoseOf<S>) -> Touch<S> {
        // A point of this curve in the plane of the other: a rotation and a shift.
        let turn = other.R.map(S::of).transpose() * qb.A.transpose() * qa.A * self.R.map(S::of);
        let shift = into_plane(qb, &other.s, &other.R, &self.world(qa, &Vector2::zeros())).xy();
        let turned = |v: &Vector2<S>| Vector2::new(turn[(0, 0)] * v.x + turn[(0, 1)] * v.y, turn[(1, 0)] * v.x + turn[(1, 1)] * v.y);
        let (T, d) = (turn.map(Scalar::value).fixed_view::<2, 2>(0, 0).into_owned(), shift.map(Scalar::value));
        let depth = |p: &P| {
            let near = other.curve.near(&(T * p + d));
            let beyond = !other.curve.closed() && (near.s < 0.0 || near.s > other.curve.length());
            let gap = near.d * other.sign;
            if beyond || gap < -other.depth { f64::INFINITY } else { gap }
        };
        let (mut deepest, mut least) = (0, f64::INFINITY);
        for (k, (_, p)) in self.seeds.iter().enumerate() {
            let gap = depth(p);
            if gap < least {
                (deepest, least) = (k, gap);
            }
        }
        let s = self.least(deepest, |s| {
            let (p, near) = self.curve.at(s);
            let foot = other.curve.near(&(T * p + d));
            let (t, n) = (T * near.t, T * near.n());
            let bend = -foot.kappa / (1.0 - foot.kappa * foot.d) * t.dot(&foot.t).powi(2) + near.kappa * n.dot(&foot.n());
            [other.sign * t.dot(&foot.n()), other.sign * bend]
        });
        let (p, _) = self.curve.at(s);
        let foot = other.curve.near(&(T * p + d));
        let far = |gap: f64| {
            let q = self.world(qa, &p.map(S::of));
            Touch { gap: S::of(gap), n: Vector3::zeros(), p: q }
        };
        if !least.is_finite() || depth(&p).is_infinite() {
            return far(foot.d.abs() + other.curve.length() * 1e-3);
        }
        let (mine, its) = (self.curve.mark(s), other.curve.mark(foot.s));
        let (mut x, mut y) = (S::of(mine.x), S::of(its.x));
        let cross = |a: &Vector2<S>, b: &Vector2<S>| a.x * b.y - a.y * b.x;
        let at_end = !self.curve.closed() && (s <= 0.0 || s >= self.curve.length());
        for _ in 0..REFINEMENTS {
            let [c, c1, c2] = self.curve.on(&mine, x);
            let (c, c1, c2) = (turned(&c) + shift, turned(&c1), turned(&c2));
            let [e, e1, e2] = other.curve.on(&its, y);
            let r = c - e;
            // Conditions: the foot is the nearest point, and both tangents are parallel, except at an end of the curve.
            let (f, g) = (r.dot(&e1), cross(&c1, &e1));
            let (f_x, f_y) = (c1.dot(&e1), r.dot(&e2) - e1.dot(&e1));
            if at_end {
                y -= f / f_y;
                continue;
            }
            let (g_x, g_y) = (cross(&c2, &e1), cross(&c1, &e2));
            let det = f_x * g_y - f_y * g_x;
            if det.value() == 0.0 {
                break;
            }
            (x, y) = (x - (f * g_y - g * f_y) / det, y - (g * f_x - f * g_x) / det);
        }
        let c = turned(&self.curve.on(&mine, x)[0]) + shift;
        let [e, e1, _] = other.curve.on(&its, y);
        let length = e1.dot(&e1).sqrt();
        let n2 = Vector2::new(-e1.y, e1.x) * (S::of(other.sign) / length);
        let gap = n2.dot(&(c - e));
        let n = qb.A * (other.R.map(S::of) * Vector3::new(n2.x, n2.y, S::zero()));
        let p = self.world(qa, &self.curve.on(&mine, x)[0]);
        Touch { gap, n, p: p - n * (gap * S::of(0.5)) }
    }
}
