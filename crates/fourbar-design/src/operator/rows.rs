//! Exact derivatives of constraint rows with respect to poses and velocities.
//!
//! With `S_c = d(G_c^T)/dq`, the variation of row `c`, the row of `d(G x)/dq` is `x^T S_c`, and the acceleration right-hand side is
//! `gamma_c = f'' - v^T S_c v`, so that `d gamma_c/dv = -(v^T S_c + (S_c v)^T)`. The derivative of `gamma` with respect to poses is a third
//! derivative of the row. It comes from Taylor series along `q exp(s x) exp(s v)`: with `X` and `V` the derivatives along the two, the
//! coefficient of `s^3` is the sum of `X^i V^j / (i! j!)` over `i + j = 3`, and the difference of the coefficients for `x` and `-x`, less
//! that of `x` alone, is `X V V`.

use fourbar::constraint::{Constraint, ConstraintSet, Rows};
use fourbar::coordinate::{Coordinate, PoseOf};
use fourbar::rolling::Rolling;
use fourbar::state::{Configuration, Pose, Twist};
use fourbar_math::Taylor;
use fourbar_math::so3::tilde;
use nalgebra::{DMatrix, Matrix3, Vector3, Vector6};

/// Derivatives of a set of constraint rows: one matrix row for each, six columns for each moving body.
#[derive(Clone, Debug)]
pub struct RowDerivatives {
    /// `d(G v)/dq`.
    pub rates: DMatrix<f64>,
    /// `d(G a)/dq`.
    pub accelerations: DMatrix<f64>,
    /// `d gamma/dq`.
    pub gamma_q: DMatrix<f64>,
    /// `d gamma/dv`.
    pub gamma_v: DMatrix<f64>,
}

fn six(x: &Twist) -> Vector6<f64> {
    Vector6::new(x.v.x, x.v.y, x.v.z, x.w.x, x.w.y, x.w.z)
}

fn unit(k: usize, size: f64) -> Twist {
    let mut x = Twist::zero();
    if k < 3 {
        x.v[k] = size;
    } else {
        x.w[k - 3] = size;
    }
    x
}

/// A pose along `q exp(s x) exp(s v)` as a series in `s`.
fn along<const N: usize>(q: &Pose, x: &Twist, v: &Twist) -> PoseOf<Taylor<N>> {
    let powers = |w: &Vector3<f64>| {
        let W = tilde(w);
        let mut list = [Matrix3::<f64>::identity(); N];
        for k in 1..N {
            list[k] = list[k - 1] * W / k as f64;
        }
        list
    };
    let (X, V) = (powers(&x.w), powers(&v.w));
    let product: [Matrix3<f64>; N] = std::array::from_fn(|k| (0..=k).fold(Matrix3::<f64>::zeros(), |s, i| s + X[i] * V[k - i]));
    PoseOf {
        r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], x.v[i] + v.v[i])),
        A: Matrix3::from_fn(|i, j| Taylor { c: std::array::from_fn(|k| (q.A.row(i) * product[k].column(j))[(0, 0)]) }),
    }
}

/// Derivative of the second derivative of a coordinate along `v`, with respect to one component of one body.
fn third(y: &Coordinate, q: [&Pose; 2], v: [&Twist; 2], slot: usize, k: usize, size: f64) -> f64 {
    let coefficient = |sign: f64, moving: bool| {
        let poses: [PoseOf<Taylor<4>>; 2] = std::array::from_fn(|s| {
            let x = if s == slot { unit(k, sign * size) } else { Twist::zero() };
            along(q[s], &x, if moving { v[s] } else { &ZERO })
        });
        y.value_of(&poses[0], &poses[1]).c[3]
    };
    (coefficient(1.0, true) - coefficient(-1.0, true) - 2.0 * coefficient(1.0, false)) / size
}

const ZERO: Twist = Twist { v: Vector3::new(0.0, 0.0, 0.0), w: Vector3::new(0.0, 0.0, 0.0) };

/// Derivatives of `d(B v)/dt` of a rolling element at zero acceleration, by row.
fn rolling_bias(r: &Rolling, q: [&Pose; 2], v: [&Twist; 2], slot: usize, k: usize, size: f64) -> Vec<f64> {
    let coefficient = |sign: f64| -> Vec<f64> {
        let pose = |s: usize| -> PoseOf<Taylor<3>> { along(q[s], &if s == slot { unit(k, sign * size) } else { Twist::zero() }, v[s]) };
        let power = |s: usize, (a, b): &(Vector3<Taylor<3>>, Vector3<Taylor<3>>)| {
            (0..3).map(|i| a[i].c[2] * v[s].v[i] + b[i].c[2] * v[s].w[i]).sum::<f64>()
        };
        r.rows_of([&pose(0), &pose(1)]).iter().map(|row| power(0, &row[0]) + power(1, &row[1])).collect()
    };
    let (plus, minus) = (coefficient(1.0), coefficient(-1.0));
    plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * size)).collect()
}

/// Magnitude of the motion of a constraint's bodies, which scales directions to velocities in the series.
fn speed(c: &Constraint, v: &[Twist], length: f64) -> f64 {
    c.bodies.iter().fold(0.0_f64, |s, b| s.max(v[b.index()].v.norm() / length).max(v[b.index()].w.norm()))
}

impl RowDerivatives {
    /// At a state with accelerations `a`; `length` is the characteristic length of the mechanism.
    pub fn new(set: &ConstraintSet, state: &Configuration, a: &[Twist], length: f64) -> Self {
        let (rows, columns) = (set.rows(), 6 * (state.q.len() - 1));
        let zero = || DMatrix::zeros(rows, columns);
        let mut out = Self { rates: zero(), accelerations: zero(), gamma_q: zero(), gamma_v: zero() };
        for (k, c) in set.list.iter().enumerate() {
            out.variations(set.row_start[k], c, state, a);
            let size = speed(c, &state.v, length);
            if size > 0.0 {
                out.gamma_by_poses(set.row_start[k], c, state, size, length);
            }
        }
        out
    }

    /// Terms that follow from the variations of the rows.
    fn variations(&mut self, first: usize, c: &Constraint, state: &Configuration, a: &[Twist]) {
        let own = ConstraintSet::new(vec![c.clone()], |_| false);
        let mut lambda = vec![0.0; own.rows()];
        for k in 0..own.rows() {
            lambda.fill(0.0);
            lambda[k] = 1.0;
            let row = first + k;
            own.variation(&state.q, &lambda, |i, j, S| {
                let (vi, vj) = (six(&state.v[i]), six(&state.v[j]));
                let (left, right, pulled) = (S.tr_mul(&vi), S * vj, S.tr_mul(&six(&a[i])));
                for l in 0..6 {
                    if j > 0 {
                        let place = (row, 6 * (j - 1) + l);
                        self.rates[place] += left[l];
                        self.accelerations[place] += pulled[l];
                        self.gamma_v[place] -= left[l];
                    }
                    if i > 0 {
                        self.gamma_v[(row, 6 * (i - 1) + l)] -= right[l];
                    }
                }
            });
        }
    }

    fn gamma_by_poses(&mut self, first: usize, c: &Constraint, state: &Configuration, size: f64, length: f64) {
        let body = |slot: usize| c.bodies[slot].index();
        let mut row = first;
        for rows in &c.rows {
            match rows {
                Rows::Point { ij, s_i, s_j } => self.spun(row, [(body(ij[0]), s_i, 1.0), (body(ij[1]), s_j, -1.0)], state),
                Rows::Direction { ij, a_i, a_j, L } => self.spun(row, [(body(ij[0]), a_i, *L), (body(ij[1]), a_j, -L)], state),
                Rows::Rolling(r) => {
                    let bodies = [body(0), body(1)];
                    let (q, v) = (bodies.map(|b| &state.q[b]), bodies.map(|b| &state.v[b]));
                    for slot in (0..2).filter(|&s| bodies[s] > 0) {
                        for k in 0..6 {
                            let step = if k < 3 { size * length } else { size };
                            for (i, x) in rolling_bias(r, q, v, slot, k, step).into_iter().enumerate() {
                                self.gamma_q[(row + i, 6 * (bodies[slot] - 1) + k)] -= x;
                            }
                        }
                    }
                }
                Rows::Sum { terms, .. } => {
                    for (factor, y) in terms {
                        let bodies = y.slots().map(body);
                        let (q, v) = (bodies.map(|b| &state.q[b]), bodies.map(|b| &state.v[b]));
                        for slot in (0..2).filter(|&s| bodies[s] > 0) {
                            for k in 0..6 {
                                let step = if k < 3 { size * length } else { size };
                                self.gamma_q[(row, 6 * (bodies[slot] - 1) + k)] -= factor * third(y, q, v, slot, k, step);
                            }
                        }
                    }
                }
            }
            row += rows.count();
        }
    }

    /// Rows `sum sign A w x (w x s)`: vectors fixed to rotating bodies.
    fn spun(&mut self, row: usize, parts: [(usize, &Vector3<f64>, f64); 2], state: &Configuration) {
        for (b, s, sign) in parts.into_iter().filter(|p| p.0 > 0) {
            let w = &state.v[b].w;
            let D = -(state.q[b].A * tilde(&w.cross(&w.cross(s)))) * sign;
            for i in 0..3 {
                for k in 0..3 {
                    self.gamma_q[(row + i, 6 * (b - 1) + 3 + k)] += D[(i, k)];
                }
            }
        }
    }
}
