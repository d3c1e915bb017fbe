//! The scalar coordinates of which every constraint row is a sum; each is evaluated in four ways.
//!
//! A row is `Phi = sum_k c_k y_k - f(t)`. The primitives DP1, DP2, D, CD of [Kissel21, section 2] and the counted angle about an axis are
//! the `y`. Evaluated are: the value; the row (`y' = sum_k row_k v_k` with `v = (r_dot, omega_bar)`); bias (second derivative at zero
//! acceleration); variation of the reaction `K = d(row^T lambda)/dq`. They replace Tables 2 to 6 and Eq. (18) of \[Kissel21\], whose
//! printed signs are not reliable.

use crate::contact::Spot;
use crate::curve::{Measure, Path};
use crate::rolling;
use crate::state::{Pose, Twist, Wrench};
use fourbar_math::elementary;
use fourbar_math::{Dual, Scalar, Taylor, so3::tilde};
use nalgebra::{Matrix3, Matrix6, Vector2, Vector3, Vector6};
use std::f64::consts::PI;
use std::sync::Arc;

type V = Vector3<f64>;

/// How smoothly a gap depends on the poses of its two bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follows {
    /// An angle between the bodies, rad.
    Turn,
    /// A length that is smooth in the poses of the bodies, m.
    Way,
    /// A distance between surfaces or several points, m: its rate is bounded by their speeds, but it may have kinks.
    Surface,
    /// It may jump, for example where the nearest part of a shape changes.
    Jumps,
}

/// A scalar function of the poses of two bodies; `i` and `j` are slots in the body list of its constraint.
#[derive(Clone, Debug, PartialEq)]
pub enum Coordinate {
    /// `a_i . a_j`, two directions.
    Dp1 {
        /// Slots of the two bodies.
        ij: [usize; 2],
        /// Direction on i, body axes.
        a_i: V,
        /// Direction on j, body axes.
        a_j: V,
    },
    /// `a_i . d_ij`, a direction on i and the vector between points.
    Dp2 {
        /// Slots of the two bodies.
        ij: [usize; 2],
        /// Direction on i, body axes.
        a_i: V,
        /// Point on i relative to the centre of mass, body axes.
        s_i: V,
        /// Point on j.
        s_j: V,
    },
    /// `d_ij . d_ij`.
    D {
        /// Slots of the two bodies.
        ij: [usize; 2],
        /// Point on i.
        s_i: V,
        /// Point on j.
        s_j: V,
    },
    /// `c . d_ij` with `c` fixed in the world.
    Cd {
        /// Slots of the two bodies.
        ij: [usize; 2],
        /// World direction.
        c: V,
        /// Point on i.
        s_i: V,
        /// Point on j.
        s_j: V,
    },
    /// Height of the lowest point of a disk on j over a plane of the world through the origin.
    Touch {
        /// Slots: the ground and the body.
        ij: [usize; 2],
        /// Normal of the plane, world.
        n: V,
        /// Centre of the disk on j.
        s_j: V,
        /// Axis of the disk on j, body axes.
        e_j: V,
        /// Radius.
        radius: f64,
    },
    /// Angle about the common z axis, from frame F on i to frame M on j, with turns counted.
    Angle(Angle),
    /// A measure of a point on j with respect to a path in the plane x, y of frame F on i.
    Curve(OnCurve),
    /// Distance between the surfaces of two bodies where they may touch.
    Gap(Gap),
}

/// The gap at a spot: the first body of the spot is j, the second i.
#[derive(Clone, Debug)]
pub struct Gap {
    /// Slots of the two bodies.
    pub ij: [usize; 2],
    /// The spot.
    pub spot: Arc<Spot>,
}

impl PartialEq for Gap {
    fn eq(&self, other: &Self) -> bool {
        self.ij == other.ij && Arc::ptr_eq(&self.spot, &other.spot)
    }
}

impl Gap {
    /// The row for any scalar, by slot: linear and angular parts.
    fn row_of<S: Scalar>(&self, qi: &PoseOf<S>, qj: &PoseOf<S>) -> [(Vector3<S>, Vector3<S>); 2] {
        // The point lies on the common normal: the rate of the gap is the relative velocity there along the normal.
        let touch = self.spot.touch(qj, qi);
        let part = |q: &PoseOf<S>, n: Vector3<S>| (n, q.A.tr_mul(&(touch.p - q.r).cross(&n)));
        [part(qi, -touch.n), part(qj, touch.n)]
    }
}

/// A measure of a point on j with respect to a path fixed on i; rounds of closed curves are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct OnCurve {
    /// Slots of the two bodies.
    pub ij: [usize; 2],
    /// Directions x and y of the plane on i, body axes.
    pub a_i: [V; 2],
    /// Origin of the plane on i.
    pub s_i: V,
    /// The point on j.
    pub s_j: V,
    /// The path.
    pub path: Path,
    /// The measure.
    pub what: Measure,
    /// Index of the counted value that stores its last length, on closed curves.
    pub memory: usize,
}

impl OnCurve {
    /// The two coordinates of the point in the plane.
    fn flat(&self) -> [Coordinate; 2] {
        self.a_i.map(|a_i| Coordinate::Dp2 { ij: [0, 1], a_i, s_i: self.s_i, s_j: self.s_j })
    }

    fn plane(&self, qi: &Pose, qj: &Pose) -> Vector2<f64> {
        let d = qi.A.tr_mul(&(qj.point(&self.s_j) - qi.point(&self.s_i)));
        Vector2::new(self.a_i[0].dot(&d), self.a_i[1].dot(&d))
    }

    /// The measure; where rounds are counted, on the round nearest to `last`.
    pub fn value(&self, qi: &Pose, qj: &Pose, last: f64) -> f64 {
        self.counted(self.path.measure(self.what, &self.plane(qi, qj)).0, last)
    }

    /// Moves a value to the round nearest to `last`.
    fn counted(&self, value: f64, last: f64) -> f64 {
        if self.what == Measure::Length { self.path.counted(value, last) } else { value }
    }

    /// Value on the round nearest to `last`, and its gradient with respect to the world position of the point, for any scalar.
    pub fn motion_of<S: Scalar>(&self, qi: &PoseOf<S>, qj: &PoseOf<S>, last: f64) -> (S, Vector3<S>) {
        let d = qi.A.tr_mul(&((qj.r + qj.A * lift(&self.s_j)) - (qi.r + qi.A * lift(&self.s_i))));
        let p = Vector2::from_fn(|k, _| lift::<S>(&self.a_i[k]).dot(&d));
        let value = self.path.measure_of(self.what, &p);
        let counted = S::of(self.counted(value.value(), last) - value.value());
        let gradient = self.path.gradient_of(self.what, &p);
        let direction = lift::<S>(&self.a_i[0]) * gradient.x + lift::<S>(&self.a_i[1]) * gradient.y;
        (value + counted, qi.A * direction)
    }
}

/// The counted angle of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angle {
    /// Slots of the two bodies.
    pub ij: [usize; 2],
    /// Axes of the joint frame on i as columns, body axes.
    pub F: Matrix3<f64>,
    /// Axes of the joint frame on j.
    pub M: Matrix3<f64>,
    /// Index of the counted angle that stores its last value.
    pub memory: usize,
}

/// The row of a coordinate: linear and angular parts for the two bodies.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Slots.
    pub ij: [usize; 2],
    /// Parts for i and j.
    pub parts: [Wrench; 2],
}

/// Pose with any scalar, for derivatives.
#[derive(Clone, Copy, Debug)]
pub struct PoseOf<S: Scalar> {
    /// Centre of mass.
    pub r: Vector3<S>,
    /// Rotation matrix.
    pub A: Matrix3<S>,
}

fn lift<S: Scalar>(a: &V) -> Vector3<S> {
    a.map(S::of)
}

impl Angle {
    /// Angle in (-pi, pi] of frame M against frame F.
    pub fn principal(&self, qi: &Pose, qj: &Pose) -> f64 {
        let (F, M) = (qi.A * self.F, qj.A * self.M);
        let (x_f, y_f, x_m, y_m) = (F.column(0), F.column(1), M.column(0), M.column(1));
        elementary::atan2(y_f.dot(&x_m) - x_f.dot(&y_m), x_f.dot(&x_m) + y_f.dot(&y_m))
    }

    /// The angle on the turn nearest to `last`.
    pub fn value(&self, qi: &Pose, qj: &Pose, last: f64) -> f64 {
        let a = self.principal(qi, qj);
        a + 2.0 * PI * ((last - a) / (2.0 * PI)).round()
    }

    /// Mean axis `e` in the world and `sigma = 1 + z_F . z_M`; near zero the joint is nearly flipped.
    fn axis(&self, qi: &Pose, qj: &Pose) -> (V, f64, V, V) {
        let z_f = qi.A * self.F.column(2);
        let z_m = qj.A * self.M.column(2);
        let sigma = 1.0 + z_f.dot(&z_m);
        ((z_f + z_m) / sigma, sigma, z_f, z_m)
    }
}

impl Coordinate {
    /// The slots of its two bodies.
    pub fn slots(&self) -> [usize; 2] {
        match self {
            Coordinate::Dp1 { ij, .. }
            | Coordinate::Dp2 { ij, .. }
            | Coordinate::D { ij, .. }
            | Coordinate::Cd { ij, .. }
            | Coordinate::Touch { ij, .. } => *ij,
            Coordinate::Angle(a) => a.ij,
            Coordinate::Curve(c) => c.ij,
            Coordinate::Gap(g) => g.ij,
        }
    }

    /// Slot of the second body and the point on it where a force along the coordinate acts, relative to its centre of mass, body
    /// axes; the centre of mass where only directions are read.
    pub fn second_place(&self) -> (usize, V) {
        let s = match self {
            Coordinate::Dp2 { s_j, .. } | Coordinate::D { s_j, .. } | Coordinate::Cd { s_j, .. } | Coordinate::Touch { s_j, .. } => *s_j,
            Coordinate::Curve(c) => c.s_j,
            Coordinate::Dp1 { .. } | Coordinate::Angle(_) | Coordinate::Gap(_) => V::zeros(),
        };
        (self.slots()[1], s)
    }

    /// The same coordinate with its bodies in other slots.
    pub fn at_slots(mut self, slots: [usize; 2]) -> Self {
        match &mut self {
            Coordinate::Dp1 { ij, .. }
            | Coordinate::Dp2 { ij, .. }
            | Coordinate::D { ij, .. }
            | Coordinate::Cd { ij, .. }
            | Coordinate::Touch { ij, .. } => *ij = slots,
            Coordinate::Angle(a) => a.ij = slots,
            Coordinate::Curve(c) => c.ij = slots,
            Coordinate::Gap(g) => g.ij = slots,
        }
        self
    }

    /// Its period, if any: a full turn, or the length of a closed curve.
    pub fn period(&self) -> Option<f64> {
        match self {
            Coordinate::Angle(_) => Some(2.0 * PI),
            Coordinate::Curve(OnCurve { path, what: Measure::Length, .. }) => path.period(),
            _ => None,
        }
    }

    /// Whether it is an angle or a dot product of directions, so that its value contains no length.
    pub fn is_rotation(&self) -> bool {
        matches!(self, Coordinate::Dp1 { .. } | Coordinate::Angle(_))
    }

    /// Value for any scalar; the angle is its principal value.
    pub fn value_of<S: Scalar>(&self, qi: &PoseOf<S>, qj: &PoseOf<S>) -> S {
        let d = |s_i: &V, s_j: &V| (qj.r + qj.A * lift(s_j)) - (qi.r + qi.A * lift(s_i));
        match self {
            Coordinate::Dp1 { a_i, a_j, .. } => (qi.A * lift(a_i)).dot(&(qj.A * lift(a_j))),
            Coordinate::Dp2 { a_i, s_i, s_j, .. } => (qi.A * lift(a_i)).dot(&d(s_i, s_j)),
            Coordinate::D { s_i, s_j, .. } => d(s_i, s_j).dot(&d(s_i, s_j)),
            Coordinate::Cd { c, s_i, s_j, .. } => lift::<S>(c).dot(&d(s_i, s_j)),
            Coordinate::Touch { n, s_j, e_j, radius, .. } => rolling::height(qj, n, s_j, e_j, *radius),
            Coordinate::Angle(a) => {
                let (F, M) = (qi.A * a.F.map(S::of), qj.A * a.M.map(S::of));
                let (x_f, y_f, x_m, y_m) = (F.column(0), F.column(1), M.column(0), M.column(1));
                (y_f.dot(&x_m) - x_f.dot(&y_m)).atan2(x_f.dot(&x_m) + y_f.dot(&y_m))
            }
            Coordinate::Curve(c) => {
                let p = c.a_i.map(|a| (qi.A * lift(&a)).dot(&d(&c.s_i, &c.s_j)));
                c.path.measure_of(c.what, &Vector2::new(p[0], p[1]))
            }
            Coordinate::Gap(g) => g.spot.touch(qj, qi).gap,
        }
    }

    /// Value; `turns` contains the last accepted values of counted angles, which determine the turn of an angle.
    #[inline]
    pub fn value(&self, qi: &Pose, qj: &Pose, turns: &[f64]) -> f64 {
        let d = |s_i: &V, s_j: &V| qj.point(s_j) - qi.point(s_i);
        match self {
            Coordinate::Dp1 { a_i, a_j, .. } => (qi.A * a_i).dot(&(qj.A * a_j)),
            Coordinate::Dp2 { a_i, s_i, s_j, .. } => (qi.A * a_i).dot(&d(s_i, s_j)),
            Coordinate::D { s_i, s_j, .. } => d(s_i, s_j).norm_squared(),
            Coordinate::Cd { c, s_i, s_j, .. } => c.dot(&d(s_i, s_j)),
            Coordinate::Touch { n, s_j, e_j, radius, .. } => rolling::height(&PoseOf { r: qj.r, A: qj.A }, n, s_j, e_j, *radius),
            Coordinate::Angle(a) => a.value(qi, qj, turns.get(a.memory).copied().unwrap_or(0.0)),
            Coordinate::Curve(c) => c.value(qi, qj, turns.get(c.memory).copied().unwrap_or(0.0)),
            Coordinate::Gap(_) => self.value_of(&PoseOf { r: qi.r, A: qi.A }, &PoseOf { r: qj.r, A: qj.A }),
        }
    }

    /// The row: its product with the velocities is the rate of the coordinate.
    #[inline]
    pub fn row(&self, qi: &Pose, qj: &Pose) -> Row {
        // Rows of a point s on a body, dotted with the world vector y: (y, s x A^T y).
        let point = |q: &Pose, s: &V, y: &V| Wrench { F: *y, T: s.cross(&q.A.tr_mul(y)) };
        let parts = match self {
            Coordinate::Dp1 { a_i, a_j, .. } => {
                let c = (qi.A * a_i).cross(&(qj.A * a_j));
                [Wrench { F: V::zeros(), T: qi.A.tr_mul(&c) }, Wrench { F: V::zeros(), T: -qj.A.tr_mul(&c) }]
            }
            Coordinate::Dp2 { a_i, s_i, s_j, .. } => {
                let a = qi.A * a_i;
                let d = qj.point(s_j) - qi.point(s_i);
                let w_i = a_i.cross(&(qi.A.tr_mul(&d))) - s_i.cross(a_i);
                [Wrench { F: -a, T: w_i }, point(qj, s_j, &a)]
            }
            Coordinate::D { s_i, s_j, .. } => {
                let d = (qj.point(s_j) - qi.point(s_i)) * 2.0;
                [point(qi, s_i, &d).scaled(-1.0), point(qj, s_j, &d)]
            }
            Coordinate::Cd { c, s_i, s_j, .. } => [point(qi, s_i, c).scaled(-1.0), point(qj, s_j, c)],
            Coordinate::Touch { n, s_j, e_j, radius, .. } => {
                let (v, w) = rolling::height_row(&PoseOf { r: qj.r, A: qj.A }, n, s_j, e_j, *radius);
                [Wrench::zero(), Wrench { F: v, T: w }]
            }
            Coordinate::Angle(a) => {
                let (e, ..) = a.axis(qi, qj);
                [Wrench { F: V::zeros(), T: -qi.A.tr_mul(&e) }, Wrench { F: V::zeros(), T: qj.A.tr_mul(&e) }]
            }
            Coordinate::Curve(c) => {
                let (_, gradient, _) = c.path.measure(c.what, &c.plane(qi, qj));
                let [x, y] = c.flat().map(|y| y.row(qi, qj).parts);
                [0, 1].map(|k| x[k].scaled(gradient.x).plus(&y[k].scaled(gradient.y)))
            }
            Coordinate::Gap(g) => g.row_of(&PoseOf { r: qi.r, A: qi.A }, &PoseOf { r: qj.r, A: qj.A }).map(|(F, T)| Wrench { F, T }),
        };
        Row { ij: self.slots(), parts }
    }

    /// Second derivative at zero acceleration.
    #[inline]
    pub fn bias(&self, qi: &Pose, qj: &Pose, vi: &Twist, vj: &Twist) -> f64 {
        let spun = |q: &Pose, v: &Twist, s: &V| q.A * v.w.cross(s);
        let twice = |q: &Pose, v: &Twist, s: &V| q.A * v.w.cross(&v.w.cross(s));
        let d_dot = |s_i: &V, s_j: &V| vj.of_point(qj, s_j) - vi.of_point(qi, s_i);
        let d_bias = |s_i: &V, s_j: &V| twice(qj, vj, s_j) - twice(qi, vi, s_i);
        match self {
            Coordinate::Dp1 { a_i, a_j, .. } => {
                // The rate of x . y is (w_i - w_j) . (x cross y); without acceleration both w are constant in the world.
                let (x, y) = (qi.A * a_i, qj.A * a_j);
                let (w_i, w_j) = (qi.A * vi.w, qj.A * vj.w);
                (w_i - w_j).dot(&(w_i.cross(&x).cross(&y) + x.cross(&w_j.cross(&y))))
            }
            Coordinate::Dp2 { a_i, s_i, s_j, .. } => {
                let d = qj.point(s_j) - qi.point(s_i);
                twice(qi, vi, a_i).dot(&d) + (qi.A * a_i).dot(&d_bias(s_i, s_j)) + 2.0 * spun(qi, vi, a_i).dot(&d_dot(s_i, s_j))
            }
            Coordinate::D { s_i, s_j, .. } => {
                let d = qj.point(s_j) - qi.point(s_i);
                2.0 * (d.dot(&d_bias(s_i, s_j)) + d_dot(s_i, s_j).norm_squared())
            }
            Coordinate::Cd { c, s_i, s_j, .. } => c.dot(&d_bias(s_i, s_j)),
            Coordinate::Touch { .. } => {
                // Along the motion without acceleration: A, A W, A W W / 2.
                let W = tilde(&vj.w);
                let (A1, A2) = (qj.A * W, qj.A * W * W * 0.5);
                let moving = PoseOf::<Taylor<3>> {
                    r: Vector3::from_fn(|k, _| Taylor { c: [qj.r[k], vj.v[k], 0.0] }),
                    A: Matrix3::from_fn(|i, j| Taylor { c: [qj.A[(i, j)], A1[(i, j)], A2[(i, j)]] }),
                };
                2.0 * self.value_of(&moving, &moving).c[2]
            }
            Coordinate::Gap(g) => {
                // The rate of the row along the motion.
                let moving = |q: &Pose, v: &Twist| {
                    let dA = q.A * tilde(&v.w);
                    PoseOf::<Dual> {
                        r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], v.v[i])),
                        A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
                    }
                };
                let rows = g.row_of(&moving(qi, vi), &moving(qj, vj));
                let power = |(a, b): &(Vector3<Dual>, Vector3<Dual>), v: &Twist| {
                    (0..3).map(|k| a[k].c[1] * v.v[k] + b[k].c[1] * v.w[k]).sum::<f64>()
                };
                power(&rows[0], vi) + power(&rows[1], vj)
            }
            Coordinate::Angle(a) => {
                let (e, sigma, z_f, z_m) = a.axis(qi, qj);
                let (w_i, w_j) = (qi.A * vi.w, qj.A * vj.w);
                let (zf_dot, zm_dot) = (w_i.cross(&z_f), w_j.cross(&z_m));
                let sigma_dot = zf_dot.dot(&z_m) + z_f.dot(&zm_dot);
                let e_dot = (zf_dot + zm_dot - e * sigma_dot) / sigma;
                e_dot.dot(&(w_j - w_i))
            }
            Coordinate::Curve(c) => {
                let (_, gradient, bend) = c.path.measure(c.what, &c.plane(qi, qj));
                let flat = c.flat().map(|y| {
                    let [i, j] = y.row(qi, qj).parts;
                    (i.power(vi) + j.power(vj), y.bias(qi, qj, vi, vj))
                });
                let v = Vector2::new(flat[0].0, flat[1].0);
                gradient.x * flat[0].1 + gradient.y * flat[1].1 + v.dot(&(bend * v))
            }
        }
    }

    /// Adds `lambda` times the variation of the row to the four body blocks `K[k][l] = d(row_k^T lambda)/dq_l`.
    pub fn variation(&self, qi: &Pose, qj: &Pose, lambda: f64, K: &mut [[Matrix6<f64>; 2]; 2]) {
        match self {
            Coordinate::Dp1 { a_i, a_j, .. } => {
                let x = [(0, qi, a_i, 1.0, 0.0)];
                let y = [(1, qj, a_j, 1.0, 0.0)];
                dot_variation(&x, &y, lambda, K);
            }
            Coordinate::Dp2 { a_i, s_i, s_j, .. } => {
                let x = [(0, qi, a_i, 1.0, 0.0)];
                let y = [(0, qi, s_i, -1.0, 1.0), (1, qj, s_j, 1.0, 1.0)];
                dot_variation(&x, &y, lambda, K);
            }
            Coordinate::D { s_i, s_j, .. } => {
                let x = [(0, qi, s_i, -1.0, 1.0), (1, qj, s_j, 1.0, 1.0)];
                dot_variation(&x, &x, lambda, K);
            }
            Coordinate::Cd { c, s_i, s_j, .. } => {
                for (k, q, s, sign) in [(0, qi, s_i, -1.0), (1, qj, s_j, 1.0)] {
                    let block = tilde(s) * tilde(&q.A.tr_mul(c)) * (lambda * sign);
                    add(&mut K[k][k], 3, 3, &block);
                }
            }
            Coordinate::Touch { n, s_j, e_j, radius, .. } => {
                for d in 0..3 {
                    let mut e = V::zeros();
                    e[d] = 1.0;
                    let dA = qj.A * tilde(&e);
                    let varied = PoseOf::<Dual> {
                        r: qj.r.map(Taylor::of),
                        A: Matrix3::from_fn(|i, j| Taylor::with_slope(qj.A[(i, j)], dA[(i, j)])),
                    };
                    let (v, w) = rolling::height_row(&varied, n, s_j, e_j, *radius);
                    for k in 0..3 {
                        K[1][1][(k, 3 + d)] += lambda * v[k].c[1];
                        K[1][1][(3 + k, 3 + d)] += lambda * w[k].c[1];
                    }
                }
            }
            Coordinate::Angle(a) => {
                let (e, sigma, z_f, z_m) = a.axis(qi, qj);
                let z = [z_f, z_m];
                let q = [qi, qj];
                for l in 0..2 {
                    let dz = -tilde(&z[l]) * q[l].A;
                    let D = (dz - e * (z[1 - l].transpose() * dz)) / sigma;
                    for k in 0..2 {
                        let sign = if k == 0 { -lambda } else { lambda };
                        let mut block = q[k].A.tr_mul(&D) * sign;
                        if k == l {
                            block += tilde(&q[k].A.tr_mul(&e)) * sign;
                        }
                        add(&mut K[k][l], 3, 3, &block);
                    }
                }
            }
            Coordinate::Gap(g) => {
                let still = [qi, qj].map(|q| PoseOf::<Dual> { r: q.r.map(Taylor::of), A: q.A.map(Taylor::of) });
                for (l, q) in [qi, qj].into_iter().enumerate() {
                    for d in 0..6 {
                        let mut e = Twist::zero();
                        if d < 3 {
                            e.v[d] = 1.0
                        } else {
                            e.w[d - 3] = 1.0
                        }
                        let dA = q.A * tilde(&e.w);
                        let mut varied = still;
                        varied[l] = PoseOf {
                            r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], e.v[i])),
                            A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
                        };
                        for (k, (v, w)) in g.row_of(&varied[0], &varied[1]).iter().enumerate() {
                            for i in 0..3 {
                                K[k][l][(i, d)] += lambda * v[i].c[1];
                                K[k][l][(3 + i, d)] += lambda * w[i].c[1];
                            }
                        }
                    }
                }
            }
            Coordinate::Curve(c) => {
                let (_, gradient, bend) = c.path.measure(c.what, &c.plane(qi, qj));
                let flat = c.flat();
                flat.iter().zip(gradient.iter()).for_each(|(y, g)| y.variation(qi, qj, lambda * g, K));
                let rows = flat.map(|y| y.row(qi, qj).parts.map(|p| Vector6::new(p.F.x, p.F.y, p.F.z, p.T.x, p.T.y, p.T.z)));
                for a in 0..2 {
                    for b in 0..2 {
                        for k in 0..2 {
                            for l in 0..2 {
                                K[k][l] += rows[a][k] * rows[b][l].transpose() * (lambda * bend[(a, b)]);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A term `sign (delta r + A s_bar)` of a vector: slot, pose, `s_bar`, sign, delta.
type Term<'a> = (usize, &'a Pose, &'a V, f64, f64);

fn add(K: &mut Matrix6<f64>, i: usize, j: usize, block: &Matrix3<f64>) {
    let mut view = K.fixed_view_mut::<3, 3>(i, j);
    view += block;
}

/// Variation of `lambda d(x . y)`: `X_k^T Y_l + Y_k^T X_l`, and on the diagonal `tilde(s) tilde(A^T y)`.
fn dot_variation(x: &[Term<'_>], y: &[Term<'_>], lambda: f64, K: &mut [[Matrix6<f64>; 2]; 2]) {
    let sum = |terms: &[Term<'_>]| terms.iter().fold(V::zeros(), |v, (_, q, s, sign, delta)| v + (q.r * *delta + q.A * **s) * *sign);
    let (vx, vy) = (sum(x), sum(y));
    let angular = |t: &Term<'_>| -(t.1.A * tilde(t.2)) * t.3;
    for a in x {
        for b in y {
            let (Xa, Yb) = (angular(a), angular(b));
            let (da, db) = (a.3 * a.4, b.3 * b.4);
            let (k, l) = (a.0, b.0);
            // X_k^T Y_l and its transpose Y_l^T X_k, each 6 x 6 with linear parts delta I.
            add(&mut K[k][l], 0, 0, &(Matrix3::identity() * (lambda * da * db)));
            add(&mut K[k][l], 0, 3, &(Yb * (lambda * da)));
            add(&mut K[k][l], 3, 0, &(Xa.transpose() * (lambda * db)));
            add(&mut K[k][l], 3, 3, &(Xa.tr_mul(&Yb) * lambda));
            add(&mut K[l][k], 0, 0, &(Matrix3::identity() * (lambda * da * db)));
            add(&mut K[l][k], 0, 3, &(Xa * (lambda * db)));
            add(&mut K[l][k], 3, 0, &(Yb.transpose() * (lambda * da)));
            add(&mut K[l][k], 3, 3, &(Yb.tr_mul(&Xa) * lambda));
        }
    }
    for (terms, other) in [(x, vy), (y, vx)] {
        for (k, q, s, sign, _) in terms {
            add(&mut K[*k][*k], 3, 3, &(tilde(*s) * tilde(&q.A.tr_mul(&other)) * (lambda * sign)));
        }
    }
}
