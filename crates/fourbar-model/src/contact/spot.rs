//! Places where two bodies may touch: gap, normal and point for every pair of shapes, over any scalar with derivatives.
//!
//! | first | second | gap |
//! |---|---|---|
//! | ball or point | plane | `n.(c - o) - r` |
//! | ball or point | ball | `|c - o| - (R + r)`; in a hollow `R - r - |c - o|` |
//! | ball or point | curve | distance to the nearest point of the curve, on its free side, less `r` |
//! | ball or point | convex polygon | distance to its nearest edge or corner, negative inside, less `r` |
//! | rim of a disk | plane | height of its lowest point |
//! | curve | plane | height of its lowest point |
//! | curve | curve | distance at the deepest point of the first, where both have one normal |

use super::outline::Outline;
use crate::coordinate::{Follows, PoseOf};
use crate::curve::{Measure, Path};
use fourbar_math::Scalar;
use nalgebra::{Matrix3, Vector2, Vector3};

type V = Vector3<f64>;

/// The shape of the first body: rounded.
#[derive(Clone, Debug, PartialEq)]
pub enum First {
    /// A ball, or with radius zero a point.
    Ball {
        /// Centre relative to the centre of mass, body axes.
        s: V,
        /// Radius, m.
        radius: f64,
    },
    /// The rim of a thin disk.
    Rim {
        /// Centre.
        s: V,
        /// Axis, body axes, of unit length.
        e: V,
        /// Radius, m.
        radius: f64,
    },
    /// A planar curve.
    Curve(Box<Outline>),
}

/// The shape of the second body.
#[derive(Clone, Debug, PartialEq)]
pub enum Second {
    /// A plane.
    Plane {
        /// A point of it relative to the centre of mass, body axes.
        s: V,
        /// Normal away from the body, body axes, of unit length.
        n: V,
    },
    /// A ball.
    Ball {
        /// Centre.
        s: V,
        /// Radius, m.
        radius: f64,
        /// Whether the first body is inside it.
        hollow: bool,
    },
    /// A planar curve.
    Curve(Box<Outline>),
    /// A convex polygon.
    Polygon(Box<Polygon>),
}

/// A convex polygon in a plane of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Origin of the plane relative to the centre of mass, body axes.
    pub s: V,
    /// Axes of the plane and its normal as columns, body axes.
    pub R: Matrix3<f64>,
    /// Corners, counter-clockwise about the normal.
    pub points: Vec<Vector2<f64>>,
}

/// A place where two bodies may touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    /// The two bodies.
    pub bodies: [usize; 2],
    /// Shape of the first body.
    pub first: First,
    /// Shape of the second body.
    pub second: Second,
    /// Whether the bodies are in reverse order compared with the file.
    pub swapped: bool,
}

/// Relative position of two bodies at a spot.
#[derive(Clone, Copy, Debug)]
pub struct Touch<S: Scalar> {
    /// Distance of the surfaces, m, negative if they overlap.
    pub gap: S,
    /// Unit normal of the second body towards the first, world.
    pub n: Vector3<S>,
    /// Point half way between the surfaces, world.
    pub p: Vector3<S>,
}

/// Coordinates of a world point in a frame of a body with origin `s` and axes `R`.
pub(super) fn into_plane<S: Scalar>(q: &PoseOf<S>, s: &V, R: &Matrix3<f64>, p: &Vector3<S>) -> Vector3<S> {
    R.map(S::of).tr_mul(&(q.A.tr_mul(&(p - q.r)) - s.map(S::of)))
}

impl Spot {
    /// Whether a recording scalar can be used: not if the nearest part of a shape is searched for.
    pub fn is_one_piece(&self) -> bool {
        !matches!(self.first, First::Curve(_)) && matches!(self.second, Second::Plane { .. } | Second::Ball { .. })
    }

    /// How its gap depends on the poses: on curves and polygons it may jump at ends, or from one part to the next.
    pub fn follows(&self) -> Follows {
        if self.is_one_piece() { Follows::Surface } else { Follows::Jumps }
    }

    /// The penetration path: the distance, m, that one body has to move from first contact until they separate again on the other side.
    /// Infinite if the second body has no other side.
    pub fn way_through(&self) -> f64 {
        let radius = if let First::Ball { radius, .. } = &self.first { *radius } else { 0.0 };
        match &self.second {
            Second::Ball { radius: other, hollow: false, .. } => 2.0 * (radius + other),
            Second::Curve(outline) => radius + outline.depth,
            Second::Polygon(p) => {
                let n = p.points.len();
                let width = |k: usize| {
                    let (a, b) = (p.points[k], p.points[(k + 1) % n]);
                    let along = (b - a).normalize();
                    p.points.iter().fold(0.0_f64, |most, x| most.max(along.perp(&(x - a)).abs()))
                };
                2.0 * radius + (0..n).map(width).fold(f64::INFINITY, f64::min)
            }
            Second::Plane { .. } | Second::Ball { .. } => f64::INFINITY,
        }
    }

    /// Whether its normal turns smoothly wherever the bodies touch: polygons have corners.
    pub fn is_smooth(&self) -> bool {
        !matches!(self.second, Second::Polygon(_))
    }

    /// Gap, normal and point at poses of the two bodies. Beyond the end of an open curve the gap is positive, which only means that there
    /// is no contact.
    pub fn touch<S: Scalar>(&self, qa: &PoseOf<S>, qb: &PoseOf<S>) -> Touch<S> {
        match (&self.first, &self.second) {
            (First::Ball { s, radius }, second) => ball(&(qa.r + qa.A * s.map(S::of)), *radius, second, qb),
            (First::Rim { s, e, radius }, Second::Plane { s: o, n }) => rim(qa, s, e, *radius, qb, o, n),
            (First::Curve(c), Second::Plane { s: o, n }) => c.on_plane(qa, qb, o, n),
            (First::Curve(c), Second::Curve(other)) => c.on_curve(qa, other, qb),
            // Unsupported pairs, which are never built.
            (First::Rim { .. } | First::Curve(_), _) => Touch { gap: S::of(f64::MAX), n: Vector3::zeros(), p: qa.r },
        }
    }
}

/// A ball with its centre in the world against the second shape.
fn ball<S: Scalar>(c: &Vector3<S>, radius: f64, second: &Second, q: &PoseOf<S>) -> Touch<S> {
    let (gap, n) = match second {
        Second::Plane { s, n } => {
            let n = q.A * n.map(S::of);
            (n.dot(&(c - q.r - q.A * s.map(S::of))), n)
        }
        Second::Ball { s, radius: R, hollow } => {
            let d = c - q.r - q.A * s.map(S::of);
            let square = d.dot(&d);
            if square.value() == 0.0 {
                // Concentric: no direction is nearer than another.
                let gap = S::of(if *hollow { *R } else { -R });
                return Touch { gap: gap - S::of(radius), n: Vector3::zeros(), p: *c };
            }
            let length = square.sqrt();
            match hollow {
                true => (S::of(*R) - length, d * (S::of(-1.0) / length)),
                false => (length - S::of(*R), d / length),
            }
        }
        Second::Curve(o) => return o.under_ball(c, radius, q),
        Second::Polygon(polygon) => {
            let y = into_plane(q, &polygon.s, &polygon.R, c);
            let (gap, n) = polygon.distance(&y.xy());
            (gap, q.A * (polygon.R.map(S::of) * Vector3::new(n.x, n.y, S::zero())))
        }
    };
    let gap = gap - S::of(radius);
    Touch { gap, n, p: c - n * (S::of(radius) + gap * S::of(0.5)) }
}

/// The rim of a disk against a plane: its lowest point.
fn rim<S: Scalar>(qa: &PoseOf<S>, s: &V, e: &V, radius: f64, qb: &PoseOf<S>, o: &V, n: &V) -> Touch<S> {
    let (c, axis, n) = (qa.r + qa.A * s.map(S::of), qa.A * e.map(S::of), qb.A * n.map(S::of));
    let height = n.dot(&(c - qb.r - qb.A * o.map(S::of)));
    let up = n - axis * axis.dot(&n);
    let square = up.dot(&up);
    // A disk that lies flat touches along its whole rim, which is represented by its centre.
    if square.value() < 1e-24 {
        return Touch { gap: height, n, p: c - n * (height * S::of(0.5)) };
    }
    let tilt = square.sqrt();
    let gap = height - tilt * S::of(radius);
    Touch { gap, n, p: c - up * (S::of(radius) / tilt) - n * (gap * S::of(0.5)) }
}

impl Polygon {
    /// Distance of a point of the plane, negative inside, and its direction away from the polygon.
    pub fn distance<S: Scalar>(&self, y: &Vector2<S>) -> (S, Vector2<S>) {
        let here = y.map(Scalar::value);
        let count = self.points.len();
        let edge = |k: usize| {
            let (a, b) = (self.points[k], self.points[(k + 1) % count]);
            let t = (b - a).normalize();
            (a, b, t, Vector2::new(t.y, -t.x))
        };
        let heights = (0..count).map(|k| {
            let (a, _, _, n) = edge(k);
            (k, n.dot(&(here - a)))
        });
        let (highest, height) = heights.fold((0, f64::NEG_INFINITY), |m, x| if x.1 > m.1 { x } else { m });
        let (a, b, t, n) = edge(highest);
        let lift = |p: Vector2<f64>| p.map(S::of);
        let to_edge = |a: Vector2<f64>, n: Vector2<f64>| (lift(n).dot(&(y - lift(a))), lift(n));
        if height <= 0.0 || (t.dot(&(here - a)) >= 0.0 && t.dot(&(here - b)) <= 0.0) {
            return to_edge(a, n);
        }
        // Outside: the nearest edge, or else a corner.
        let mut nearest = (f64::INFINITY, None, a);
        for k in 0..count {
            let (a, b, t, n) = edge(k);
            let along = t.dot(&(here - a));
            let (distance, inner, corner) = match along {
                x if x <= 0.0 => ((here - a).norm(), None, a),
                _ if t.dot(&(here - b)) >= 0.0 => ((here - b).norm(), None, b),
                _ => (n.dot(&(here - a)).abs(), Some(n), a),
            };
            if distance < nearest.0 {
                nearest = (distance, inner, corner);
            }
        }
        match nearest {
            (_, Some(n), a) => to_edge(a, n),
            (_, None, corner) => {
                let d = y - lift(corner);
                let length = d.dot(&d).sqrt();
                (length, d / length)
            }
        }
    }
}

/// Gap, normal and point between a ball and a curve.
impl Outline {
    fn under_ball<S: Scalar>(&self, c: &Vector3<S>, radius: f64, q: &PoseOf<S>) -> Touch<S> {
        let y = into_plane(q, &self.s, &self.R, c);
        let (flat, near) = (y.xy(), self.curve.near(&y.xy().map(Scalar::value)));
        let path = Path { curve: self.curve.clone(), offset: 0.0 };
        let n = path.gradient_of(Measure::Offset, &flat) * S::of(self.sign);
        let n = q.A * (self.R.map(S::of) * Vector3::new(n.x, n.y, S::zero()));
        let gap = path.measure_of(Measure::Offset, &flat) * S::of(self.sign) - S::of(radius);
        let elsewhere = !self.curve.closed() && (near.s < 0.0 || near.s > self.curve.length());
        if elsewhere || gap.value() < -self.depth {
            return Touch { gap: S::of(near.d.abs() + radius + self.curve.length() * 1e-3), n, p: *c };
        }
        Touch { gap, n, p: c - n * (S::of(radius) + gap * S::of(0.5)) }
    }
}
