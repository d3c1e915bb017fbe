//! Planar curves through points, with arc length: tracks, slots and cams.
//!
//! A curve is a cubic spline through its points, twice continuously differentiable, cut into pieces whose tangent turns only slightly. Arc
//! length is summed over the pieces by Gauss quadrature; each piece is so short that halving it changes the result by rounding only. Beyond
//! its ends an open curve continues along its tangents. The nearest point of a curve is found through a tree of boxes, so that an
//! evaluation does not depend on earlier ones; therefore a curve must not cross itself.

mod check;
mod nearest;
mod spline;

pub use check::{CurveError, Undercut};

use fourbar_math::Scalar;
use fourbar_math::elementary;
use nalgebra::{Matrix2, Vector2};
use spline::Span;

type P = Vector2<f64>;

/// Nodes of the quadrature.
const NODES: usize = 10;
/// Largest turn of a piece in radians: nearest points of a piece are found by one search.
const TURN: f64 = 0.3;
/// Most halvings of a span.
const HALVINGS: usize = 30;

/// A part of a span whose tangent turns only slightly.
#[derive(Clone, Copy, Debug)]
struct Piece {
    span: usize,
    /// Its parameter interval.
    x: [f64; 2],
    /// Arc length at its start.
    s: f64,
    /// Angle by which the tangent has turned from the start of the curve to the start of the piece.
    theta: f64,
    /// Unit tangent at its start.
    t: P,
}

/// A planar curve in coordinates of its plane, metres.
#[derive(Clone, Debug)]
pub struct Curve {
    points: Vec<P>,
    closed: bool,
    spans: Vec<Span>,
    pieces: Vec<Piece>,
    /// Boxes of a binary tree over the pieces, as a heap: smallest and largest corner.
    boxes: Vec<[P; 2]>,
    length: f64,
    turn: f64,
    gauss: [(f64, f64); NODES],
}

impl PartialEq for Curve {
    /// Curves through the same points are the same.
    fn eq(&self, other: &Self) -> bool {
        self.closed == other.closed && self.points == other.points
    }
}

/// Projection of a point of the plane onto a curve: the nearest point of the curve and its properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// Arc length of the nearest point; below zero or above the length beyond the ends of an open curve.
    pub s: f64,
    /// Distance from the curve, positive on its left.
    pub d: f64,
    /// Unit tangent.
    pub t: P,
    /// Angle by which the tangent has turned from the start of the curve.
    pub theta: f64,
    /// Curvature, positive to the left.
    pub kappa: f64,
    /// Its derivative by arc length; it jumps at the points of the curve.
    pub kappa_s: f64,
}

impl Near {
    /// Unit normal, to the left.
    pub fn n(&self) -> P {
        Vector2::new(-self.t.y, self.t.x)
    }
}

/// Position on a curve by span and parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Foot {
    piece: usize,
    span: usize,
    x: f64,
}

/// A position on a curve by span and parameter of its cubic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    span: usize,
    /// The parameter.
    pub x: f64,
}

impl Curve {
    /// A curve through points of its plane.
    pub fn new(points: Vec<P>, closed: bool) -> Result<Self, CurveError> {
        check::points(&points, closed)?;
        let mut curve = Self {
            spans: spline::through(&points, closed),
            points,
            closed,
            pieces: Vec::new(),
            boxes: Vec::new(),
            length: 0.0,
            turn: 0.0,
            gauss: gauss(),
        };
        curve.cut()?;
        curve.grow_boxes();
        curve.crossing()?;
        Ok(curve)
    }

    /// Its points.
    pub fn points(&self) -> &[P] {
        &self.points
    }
    /// Whether it ends where it begins.
    pub fn closed(&self) -> bool {
        self.closed
    }
    /// Arc length from the first point to the last, or once round.
    pub fn length(&self) -> f64 {
        self.length
    }

    /// Cuts the spans into pieces.
    fn cut(&mut self) -> Result<(), CurveError> {
        let scale: f64 = self.spans.iter().map(|s| s.end).sum();
        let (mut s, mut lost, mut theta) = (0.0, 0.0, 0.0);
        for k in 0..self.spans.len() {
            // Pieces yet to be examined, the first on top, with their depth.
            let mut stack = vec![([0.0, self.spans[k].end], 0)];
            while let Some((x, depth)) = stack.pop() {
                let middle = 0.5 * (x[0] + x[1]);
                let whole = self.integral(k, x[0], x[1]);
                let halves = self.integral(k, x[0], middle) + self.integral(k, middle, x[1]);
                let [v0, v1, v2] = [x[0], middle, x[1]].map(|x| self.spans[k].at(x)[1]);
                let slow = [v0, v1, v2].iter().any(|v| v.norm() < check::SLOWEST);
                let turn = angle(&v0, &v1).abs() + angle(&v1, &v2).abs();
                let fine = (whole - halves).abs() <= 4e-16 * scale && turn < TURN;
                if !fine && depth < HALVINGS && !slow {
                    stack.push(([middle, x[1]], depth + 1));
                    stack.push(([x[0], middle], depth + 1));
                    continue;
                }
                if slow || !fine {
                    return Err(CurveError::Cusp { point: k, at: self.spans[k].at(middle)[0] });
                }
                self.pieces.push(Piece { span: k, x, s: s + lost, theta, t: v0.normalize() });
                // Compensated summation.
                let sum = s + halves;
                lost += if s.abs() >= halves { (s - sum) + halves } else { (halves - sum) + s };
                s = sum;
                theta += angle(&v0, &v1) + angle(&v1, &v2);
            }
        }
        (self.length, self.turn) = (s + lost, theta);
        if !self.closed {
            // Straight continuations beyond the ends.
            let first = self.spans[0].at(0.0);
            let last = self.spans[self.spans.len() - 1];
            let end = last.at(last.end);
            let line = |p: P, v: P, end: f64| Span { a: [p, v.normalize(), P::zeros(), P::zeros()], end };
            self.spans.push(line(first[0], first[1], f64::NEG_INFINITY));
            self.spans.push(line(end[0], end[1], f64::INFINITY));
        }
        Ok(())
    }

    /// Arc length between two parameters of a span.
    fn integral(&self, span: usize, x0: f64, x1: f64) -> f64 {
        let (middle, half) = (0.5 * (x0 + x1), 0.5 * (x1 - x0));
        half * self.gauss.iter().map(|(x, w)| w * self.spans[span].at(middle + half * x)[1].norm()).sum::<f64>()
    }

    /// Arc length at a foot.
    fn arc(&self, foot: &Foot) -> f64 {
        match self.beyond(foot.span) {
            Some(false) => foot.x,
            Some(true) => self.length + foot.x,
            None => self.pieces[foot.piece].s + self.integral(foot.span, self.pieces[foot.piece].x[0], foot.x),
        }
    }

    /// Whether a span lies beyond the first (`false`) or the last (`true`) point of an open curve.
    fn beyond(&self, span: usize) -> Option<bool> {
        let end = self.spans[span].end;
        end.is_infinite().then_some(end > 0.0)
    }

    /// Rotation of the tangent up to the start of the piece of a foot, and the tangent there.
    fn turned(&self, foot: &Foot) -> (f64, P) {
        match self.beyond(foot.span) {
            Some(false) => (0.0, self.spans[foot.span].a[1]),
            Some(true) => (self.turn, self.spans[foot.span].a[1]),
            None => (self.pieces[foot.piece].theta, self.pieces[foot.piece].t),
        }
    }

    fn see(&self, foot: &Foot, p: &P) -> Near {
        let span = &self.spans[foot.span];
        let ([c, c1, c2], c3) = (span.at(foot.x), span.third());
        let speed = c1.norm();
        let t = c1 / speed;
        let n = P::new(-t.y, t.x);
        let kappa = c1.perp(&c2) / speed.powi(3);
        let kappa_s = (c1.perp(&c3) / speed.powi(3) - 3.0 * kappa * c1.dot(&c2) / (speed * speed)) / speed;
        let (theta, t0) = self.turned(foot);
        Near { s: self.arc(foot), d: n.dot(&(p - c)), t, theta: theta + angle(&t0, &t), kappa, kappa_s }
    }

    /// The nearest point of the curve.
    pub fn near(&self, p: &P) -> Near {
        self.see(&self.foot(p), p)
    }

    /// The position at an arc length; on a closed curve the length is taken modulo its total.
    pub fn at(&self, s: f64) -> (P, Near) {
        let s = if self.closed { s.rem_euclid(self.length) } else { s };
        let foot = self.foot_at(s);
        let p = self.spans[foot.span].at(foot.x)[0];
        (p, self.see(&foot, &p))
    }

    /// The mark at an arc length; on a closed curve the length is taken modulo its total.
    pub fn mark(&self, s: f64) -> Mark {
        let foot = self.foot_at(if self.closed { s.rem_euclid(self.length) } else { s });
        Mark { span: foot.span, x: foot.x }
    }

    /// Position, first and second derivative by the parameter, on the cubic of a mark, for any scalar.
    pub fn on<S: Scalar>(&self, mark: &Mark, x: S) -> [Vector2<S>; 3] {
        self.spans[mark.span].at(x)
    }

    fn foot_at(&self, s: f64) -> Foot {
        let spans = self.spans.len();
        if !self.closed && s < 0.0 {
            return Foot { piece: 0, span: spans - 2, x: s };
        }
        if !self.closed && s > self.length {
            return Foot { piece: self.pieces.len() - 1, span: spans - 1, x: s - self.length };
        }
        let piece = self.pieces.partition_point(|p| p.s <= s).max(1) - 1;
        let Piece { span, x: [lo, hi], s: start, .. } = self.pieces[piece];
        // Newton's method on a function whose slope hardly changes over a piece.
        let mut x = lo;
        for _ in 0..20 {
            let step = (s - start - self.integral(span, lo, x)) / self.spans[span].at(x)[1].norm();
            x = (x + step).clamp(lo, hi);
            if step.abs() <= 1e-16 * self.length {
                break;
            }
        }
        Foot { piece, span, x }
    }

    /// A polyline through evenly spaced points, for pictures: at least `least` of them.
    pub fn polyline(&self, least: usize) -> Vec<P> {
        let n = least.max(8 * self.points.len()).min(4000);
        let last = if self.closed { n } else { n - 1 };
        (0..n).map(|k| self.at(self.length * k as f64 / last as f64).0).collect()
    }
}

/// A curve followed at a distance: the path of the centre of a roller. At distance zero it is the curve itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The curve.
    pub curve: std::sync::Arc<Curve>,
    /// Distance from it, positive on its left.
    pub offset: f64,
}

/// A measure of a point of the plane with respect to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Distance from the path, positive on its left.
    Offset,
    /// Length along the path up to its nearest point.
    Length,
}

impl Path {
    /// Length from end to end, or once round.
    pub fn length(&self) -> f64 {
        self.curve.length - self.offset * self.curve.turn
    }

    /// The period of the length: that of one round on closed curves.
    pub fn period(&self) -> Option<f64> {
        self.curve.closed.then(|| self.length())
    }

    /// Value, gradient and second derivatives of a measure at a point of the plane. With the length of the curve `s`, the distance `d`
    /// from it, tangent `t`, normal `n`, curvature `kappa`: `grad d = n`, `grad s = t / (1 - kappa d)`; the path is shorter than the
    /// curve by the offset times the angle by which the tangent has turned, so that its length is smooth where curvature is not.
    pub fn measure(&self, what: Measure, p: &P) -> (f64, P, Matrix2<f64>) {
        let near = self.curve.near(p);
        let (t, n, kappa) = (near.t, near.n(), near.kappa);
        let (w, e) = (1.0 - kappa * near.d, 1.0 - kappa * self.offset);
        let tt = t * t.transpose();
        match what {
            Measure::Offset => (near.d - self.offset, n, tt * (-kappa / w)),
            Measure::Length => {
                let tn = t * n.transpose();
                let bend = (tn + tn.transpose()) * (kappa * e / (w * w)) + tt * (near.kappa_s * (near.d - self.offset) / (w * w * w));
                (near.s - self.offset * near.theta, t * (e / w), bend)
            }
        }
    }

    /// The measure for any scalar with derivatives at its present value.
    pub fn measure_of<S: Scalar>(&self, what: Measure, p: &Vector2<S>) -> S {
        let curve = &*self.curve;
        let here = p.map(Scalar::value);
        let foot = curve.foot(&here);
        let span = &curve.spans[foot.span];
        let x = parameter_of(span, foot.x, p);
        let [c, c1, _] = span.at(x);
        let t = c1 / c1.dot(&c1).sqrt();
        match what {
            Measure::Offset => (p - c).dot(&Vector2::new(-t.y, t.x)) - S::of(self.offset),
            Measure::Length => {
                let (theta, t0) = curve.turned(&foot);
                let (along, across) = (t.x * S::of(t0.x) + t.y * S::of(t0.y), t.y * S::of(t0.x) - t.x * S::of(t0.y));
                let theta = across.atan2(along) + S::of(theta);
                // From the value to the scalar: the difference has the value zero, so a few nodes are exact.
                let half = (x - S::of(foot.x)) * S::of(0.5);
                let middle = S::of(foot.x) + half;
                let speed = |f: f64| {
                    let v = span.at(middle + half * S::of(f))[1];
                    v.dot(&v).sqrt()
                };
                let third = (0.6_f64).sqrt();
                let rest = half * ((speed(-third) + speed(third)) * S::of(5.0 / 9.0) + speed(0.0) * S::of(8.0 / 9.0));
                S::of(curve.arc(&foot)) + rest - theta * S::of(self.offset)
            }
        }
    }

    /// The gradient of a measure for any scalar with derivatives at its present value.
    pub fn gradient_of<S: Scalar>(&self, what: Measure, p: &Vector2<S>) -> Vector2<S> {
        let foot = self.curve.foot(&p.map(Scalar::value));
        let span = &self.curve.spans[foot.span];
        let [c, c1, c2] = span.at(parameter_of(span, foot.x, p));
        let square = c1.dot(&c1);
        let speed = square.sqrt();
        let t = c1 / speed;
        let n = Vector2::new(-t.y, t.x);
        match what {
            Measure::Offset => n,
            Measure::Length => {
                let kappa = (c1.x * c2.y - c1.y * c2.x) / (square * speed);
                let d = n.dot(&(p - c));
                t * ((S::one() - kappa * S::of(self.offset)) / (S::one() - kappa * d))
            }
        }
    }

    /// Moves a length to the round nearest to `last` if the curve is closed.
    pub fn counted(&self, length: f64, last: f64) -> f64 {
        self.period().map_or(length, |period| length + period * ((last - length) / period).round())
    }

    /// Position and unit tangent at a length of the path.
    pub fn at(&self, length: f64) -> (P, P) {
        let (p, near) = self.find(length);
        (p + near.n() * self.offset, near.t)
    }

    /// Second derivative of the position by the length of the path: curvature times normal.
    pub fn bend(&self, length: f64) -> P {
        let near = self.find(length).1;
        near.n() * (near.kappa / (1.0 - near.kappa * self.offset))
    }

    /// The position on the curve that belongs to a length of the path.
    fn find(&self, length: f64) -> (P, Near) {
        let on = |near: &Near| near.s - self.offset * near.theta;
        let length = self.period().map_or(length, |period| length.rem_euclid(period));
        // The length of the path grows with that of the curve at the rate 1 - kappa offset.
        let mut s = length * self.curve.length / self.length();
        let (mut lo, mut hi) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut p, mut near) = self.curve.at(s);
        for _ in 0..60 {
            let miss = length - on(&near);
            if miss.abs() <= 4e-16 * self.curve.length {
                break;
            }
            if miss > 0.0 {
                lo = s
            } else {
                hi = s
            }
            let step = s + miss / (1.0 - near.kappa * self.offset);
            s = if step > lo && step < hi { step } else { 0.5 * (lo + hi) };
            if self.curve.closed {
                s = s.clamp(0.0, self.curve.length * (1.0 - f64::EPSILON));
            }
            (p, near) = self.curve.at(s);
        }
        (p, near)
    }
}

/// The parameter of the foot of a point, from its value: every step doubles the number of correct derivatives.
fn parameter_of<S: Scalar>(span: &Span, foot: f64, p: &Vector2<S>) -> S {
    let mut x = S::of(foot);
    for _ in 0..4 {
        let [c, c1, c2] = span.at(x);
        let r = c - p;
        x -= r.dot(&c1) / (c1.dot(&c1) + r.dot(&c2));
    }
    x
}

/// Angle from one direction to another, in (-pi, pi].
fn angle(a: &P, b: &P) -> f64 {
    elementary::atan2(a.perp(b), a.dot(b))
}

/// Nodes and weights of Gauss quadrature on [-1, 1], by Newton's method on the Legendre polynomial.
fn gauss() -> [(f64, f64); NODES] {
    let n = NODES as f64;
    std::array::from_fn(|k| {
        let mut x = elementary::cos(std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5));
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut p0, mut p1) = (1.0, x);
            for j in 2..=NODES {
                let j = j as f64;
                (p0, p1) = (p1, ((2.0 * j - 1.0) * x * p1 - (j - 1.0) * p0) / j);
            }
            slope = n * (x * p1 - p0) / (x * x - 1.0);
            x -= p1 / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests;
