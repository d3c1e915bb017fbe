//! The four geometric constraints of [Kissel21, Eqs. (1)-(4)] between two bodies in any of its formulations: value, row, right-hand side of
//! the accelerations, and derivative of the reaction.

use super::rotation::{M, Rotation, V};
use fourbar::coordinate::Coordinate;
use fourbar::model::Model;
use fourbar::time::TimeFunction;
use fourbar_math::Scalar;
use nalgebra::{SMatrix, SVector};

/// Kind and data of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `a_i . a_j`.
    Dp1 { a_i: V<f64>, a_j: V<f64> },
    /// `a_i . d_ij`.
    Dp2 { a_i: V<f64>, s_i: V<f64>, s_j: V<f64> },
    /// `d_ij . d_ij`.
    D { s_i: V<f64>, s_j: V<f64> },
    /// `c . d_ij`.
    Cd { c: V<f64>, s_i: V<f64>, s_j: V<f64> },
}

impl Kind {
    fn of(c: &Coordinate) -> Option<Self> {
        Some(match *c {
            Coordinate::Dp1 { ij: [0, 1], a_i, a_j } => Self::Dp1 { a_i, a_j },
            Coordinate::Dp2 { ij: [0, 1], a_i, s_i, s_j } => Self::Dp2 { a_i, s_i, s_j },
            Coordinate::D { ij: [0, 1], s_i, s_j } => Self::D { s_i, s_j },
            Coordinate::Cd { ij: [0, 1], c, s_i, s_j } => Self::Cd { c, s_i, s_j },
            _ => return None,
        })
    }

    /// The same with the body-fixed vectors of i and j in other axes of these bodies.
    pub fn turned(self, R_i: &M<f64>, R_j: &M<f64>) -> Self {
        let (i, j) = (|v: V<f64>| R_i.tr_mul(&v), |v: V<f64>| R_j.tr_mul(&v));
        match self {
            Self::Dp1 { a_i, a_j } => Self::Dp1 { a_i: i(a_i), a_j: j(a_j) },
            Self::Dp2 { a_i, s_i, s_j } => Self::Dp2 { a_i: i(a_i), s_i: i(s_i), s_j: j(s_j) },
            Self::D { s_i, s_j } => Self::D { s_i: i(s_i), s_j: j(s_j) },
            Self::Cd { c, s_i, s_j } => Self::Cd { c, s_i: i(s_i), s_j: j(s_j) },
        }
    }
}

/// A constraint with its function of time, and the alternatives that are used if their function is closer to zero.
#[derive(Clone, Debug)]
pub struct Gcon {
    /// Bodies; zero is ground.
    pub bodies: [usize; 2],
    pub kinds: Vec<(Kind, TimeFunction)>,
}

impl Gcon {
    /// All constraints of a model in bare primitives.
    pub fn all(model: &Model) -> Result<Vec<Self>, String> {
        let kind = |c: &Coordinate, name: &str| Kind::of(c).ok_or(format!("{name} is none of DP1, DP2, D and CD"));
        model
            .bare
            .iter()
            .map(|b| {
                let mut kinds = vec![(kind(&b.coordinate, &b.name)?, b.value.clone())];
                if let Some((c, f)) = &b.other {
                    kinds.push((kind(c, &b.name)?, f.clone()));
                }
                Ok(Self { bodies: b.bodies.map(|b| b.index()), kinds })
            })
            .collect()
    }

    /// The kind in use at a time, with the value and derivatives of its function.
    pub fn at(&self, t: f64) -> (&Kind, [f64; 3]) {
        let mut best = (&self.kinds[0].0, self.kinds[0].1.at(t));
        for (kind, f) in &self.kinds[1..] {
            let f = f.at(t);
            if f[0].abs() < best.1[0].abs() {
                best = (kind, f);
            }
        }
        best
    }
}

/// Pose of a body as input of constraints.
#[derive(Clone, Copy)]
pub struct At<S: Scalar, R: Rotation<X>, const X: usize> {
    pub r: V<S>,
    pub frame: R::Frame<S>,
}

/// The same with its velocity.
#[derive(Clone, Copy)]
pub struct Moving<S: Scalar, R: Rotation<X>, const X: usize> {
    pub v: V<S>,
    pub rate: SVector<S, X>,
    pub spin: R::Spin<S>,
}

/// The row: blocks for `r_i`, `x_i`, `r_j`, `x_j`.
#[derive(Clone, Copy, Debug)]
pub struct Row<S: Scalar, const X: usize> {
    pub r: [V<S>; 2],
    pub x: [SVector<S, X>; 2],
}

/// Derivative of the reaction `row^T lambda`: blocks by (part, part), parts `r_i`, `r_j` and `x_i`, `x_j`. Position blocks by positions
/// occur in D only, as a multiple of the unit matrix.
#[derive(Clone, Copy, Debug)]
pub struct Variation<S: Scalar, const X: usize> {
    pub rr: [[S; 2]; 2],
    pub rx: [[SMatrix<S, 3, X>; 2]; 2],
    pub xr: [[SMatrix<S, X, 3>; 2]; 2],
    pub xx: [[SMatrix<S, X, X>; 2]; 2],
}

fn of<S: Scalar>(v: &V<f64>) -> V<S> {
    v.map(S::of)
}

impl Kind {
    fn between<S: Scalar, R: Rotation<X>, const X: usize>(s: [&V<f64>; 2], at: [&At<S, R, X>; 2]) -> V<S> {
        at[1].r + R::matrix::<S>(&at[1].frame) * of::<S>(s[1]) - at[0].r - R::matrix::<S>(&at[0].frame) * of::<S>(s[0])
    }

    /// `Phi + f`.
    pub fn value<S: Scalar, R: Rotation<X>, const X: usize>(&self, at: [&At<S, R, X>; 2]) -> S {
        let world = |k: usize, a: &V<f64>| R::matrix::<S>(&at[k].frame) * of::<S>(a);
        match self {
            Self::Dp1 { a_i, a_j } => world(0, a_i).dot(&world(1, a_j)),
            Self::Dp2 { a_i, s_i, s_j } => world(0, a_i).dot(&Self::between([s_i, s_j], at)),
            Self::D { s_i, s_j } => {
                let d = Self::between([s_i, s_j], at);
                d.dot(&d)
            }
            Self::Cd { c, s_i, s_j } => of::<S>(c).dot(&Self::between([s_i, s_j], at)),
        }
    }

    /// Table 2 and its counterparts.
    pub fn row<S: Scalar, R: Rotation<X>, const X: usize>(&self, at: [&At<S, R, X>; 2]) -> Row<S, X> {
        let world = |k: usize, a: &V<f64>| R::matrix::<S>(&at[k].frame) * of::<S>(a);
        let slope = |k: usize, a: &V<f64>| R::slope::<S>(&at[k].frame, &of::<S>(a));
        let points = |n: V<S>, s_i: &V<f64>, s_j: &V<f64>| Row { r: [-n, n], x: [-slope(0, s_i).tr_mul(&n), slope(1, s_j).tr_mul(&n)] };
        match self {
            Self::Dp1 { a_i, a_j } => {
                Row { r: [V::zeros(); 2], x: [slope(0, a_i).tr_mul(&world(1, a_j)), slope(1, a_j).tr_mul(&world(0, a_i))] }
            }
            Self::Dp2 { a_i, s_i, s_j } => {
                let mut row = points(world(0, a_i), s_i, s_j);
                row.x[0] += slope(0, a_i).tr_mul(&Self::between([s_i, s_j], at));
                row
            }
            Self::D { s_i, s_j } => points(Self::between([s_i, s_j], at) * S::of(2.0), s_i, s_j),
            Self::Cd { c, s_i, s_j } => points(of(c), s_i, s_j),
        }
    }

    /// `gamma` of Eqs. (18), (24), (29) without the second derivative of the function.
    pub fn gamma<S: Scalar, R: Rotation<X>, const X: usize>(&self, at: [&At<S, R, X>; 2], m: [&Moving<S, R, X>; 2]) -> S {
        let world = |k: usize, a: &V<f64>| R::matrix::<S>(&at[k].frame) * of::<S>(a);
        let speed = |k: usize, a: &V<f64>| R::slope::<S>(&at[k].frame, &of::<S>(a)) * m[k].rate;
        let curl = |k: usize, a: &V<f64>| R::quadratic::<S>(&m[k].spin, &of::<S>(a));
        let d_dot = |s_i: &V<f64>, s_j: &V<f64>| m[1].v + speed(1, s_j) - m[0].v - speed(0, s_i);
        let bent = |s_i: &V<f64>, s_j: &V<f64>| curl(1, s_j) - curl(0, s_i);
        -match self {
            Self::Dp1 { a_i, a_j } => {
                world(1, a_j).dot(&curl(0, a_i)) + world(0, a_i).dot(&curl(1, a_j)) + speed(0, a_i).dot(&speed(1, a_j)) * 2.0
            }
            Self::Dp2 { a_i, s_i, s_j } => {
                let d = Self::between([s_i, s_j], at);
                curl(0, a_i).dot(&d) + speed(0, a_i).dot(&d_dot(s_i, s_j)) * 2.0 + world(0, a_i).dot(&bent(s_i, s_j))
            }
            Self::D { s_i, s_j } => {
                let v = d_dot(s_i, s_j);
                (v.dot(&v) + Self::between([s_i, s_j], at).dot(&bent(s_i, s_j))) * 2.0
            }
            Self::Cd { c, s_i, s_j } => of::<S>(c).dot(&bent(s_i, s_j)),
        }
    }

    /// Tables 3 to 6 and their counterparts.
    pub fn variation<S: Scalar, R: Rotation<X>, const X: usize>(
        &self,
        at: [&At<S, R, X>; 2],
        bend: [&R::Bend<S>; 2],
        lambda: S,
    ) -> Variation<S, X> {
        let world = |k: usize, a: &V<f64>| R::matrix::<S>(&at[k].frame) * of::<S>(a);
        let slope = |k: usize, a: &V<f64>| R::slope::<S>(&at[k].frame, &of::<S>(a));
        let curve = |k: usize, a: &V<f64>, w: &V<S>| R::curvature::<S>(&at[k].frame, bend[k], &of::<S>(a), w);
        let mut v = Variation {
            rr: [[S::zero(); 2]; 2],
            rx: [[SMatrix::zeros(); 2]; 2],
            xr: [[SMatrix::zeros(); 2]; 2],
            xx: [[SMatrix::zeros(); 2]; 2],
        };
        match self {
            Self::Dp1 { a_i, a_j } => {
                let (P_i, P_j) = (slope(0, a_i), slope(1, a_j));
                v.xx[0][0] = curve(0, a_i, &(world(1, a_j) * lambda));
                v.xx[1][1] = curve(1, a_j, &(world(0, a_i) * lambda));
                v.xx[0][1] = P_i.tr_mul(&P_j) * lambda;
                v.xx[1][0] = v.xx[0][1].transpose();
            }
            Self::Dp2 { a_i, s_i, s_j } => {
                let (a, d) = (world(0, a_i) * lambda, Self::between([s_i, s_j], at) * lambda);
                let (P_a, P_i, P_j) = (slope(0, a_i) * lambda, slope(0, s_i), slope(1, s_j));
                (v.rx[0][0], v.rx[1][0]) = (-P_a, P_a);
                (v.xr[0][0], v.xr[0][1]) = (-P_a.transpose(), P_a.transpose());
                let cross = P_a.tr_mul(&P_i);
                v.xx[0][0] = curve(0, a_i, &d) - cross - cross.transpose() - curve(0, s_i, &a);
                v.xx[0][1] = P_a.tr_mul(&P_j);
                v.xx[1][0] = v.xx[0][1].transpose();
                v.xx[1][1] = curve(1, s_j, &a);
            }
            Self::D { s_i, s_j } => {
                let two = lambda * 2.0;
                let d = Self::between([s_i, s_j], at) * two;
                let (P_i, P_j) = (slope(0, s_i), slope(1, s_j));
                v.rr = [[two, -two], [-two, two]];
                v.rx = [[P_i * two, P_j * -two], [P_i * -two, P_j * two]];
                v.xr = [[v.rx[0][0].transpose(), v.rx[1][0].transpose()], [v.rx[0][1].transpose(), v.rx[1][1].transpose()]];
                v.xx[0][0] = P_i.tr_mul(&P_i) * two - curve(0, s_i, &d);
                v.xx[1][1] = P_j.tr_mul(&P_j) * two + curve(1, s_j, &d);
                v.xx[0][1] = P_i.tr_mul(&P_j) * -two;
                v.xx[1][0] = v.xx[0][1].transpose();
            }
            Self::Cd { c, s_i, s_j } => {
                let c = of::<S>(c) * lambda;
                v.xx[0][0] = -curve(0, s_i, &c);
                v.xx[1][1] = curve(1, s_j, &c);
            }
        }
        v
    }
}
