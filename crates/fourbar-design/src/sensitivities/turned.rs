//! Exact derivatives of the equations of motion along a tangent of the state, with accelerations and multipliers fixed.
//!
//! ```text
//! r = M a + h - f + G^T lambda        s = G a - gamma = d^2 Phi/dt^2
//! ```
//! Most rows are products of vectors fixed to bodies, `Phi = P . Q`, or sums of such products. For a vector `c` of a body with `A`, `w`,
//! `a` and tangent `theta`, `w'`, the vector, its rates and their changes are
//! ```text
//! P = A c            dP = A (theta x c)                                   t = w x c
//! P' = A t           dP' = A (theta x t + w' x c)
//! P'' = A u          dP'' = A (theta x u + w' x t + w x (w' x c))         u = a x c + w x t
//! ```
//! so that the second rate of a product and its change are again sums of products. Forces are evaluated with dual numbers.

use super::direct::Moving;
use super::state::Tangent;
use crate::operator::{Along, Direction};
use fourbar::Model;
use fourbar::constraint::{ConstraintSet, Rows};
use fourbar::coordinate::Coordinate;
use fourbar::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::{Matrix6, Vector3, Vector6};

type V = Vector3<f64>;

/// The parts of the equations of motion common to all tangents at a state.
#[derive(Default)]
pub(super) struct Turned {
    /// `d(G^T lambda)/dq`, by pairs of bodies.
    blocks: Vec<(usize, usize, Matrix6<f64>)>,
    /// A tangent by body, the ground first.
    q: Vec<Twist>,
    v: Vec<Twist>,
}

/// A vector in the world with its rates, and their changes along the tangent.
#[derive(Clone, Copy)]
struct Flow {
    x: V,
    rate: V,
    second: V,
    dx: V,
    drate: V,
    dsecond: V,
}

impl Flow {
    fn less(&self, o: &Self) -> Self {
        Self {
            x: self.x - o.x,
            rate: self.rate - o.rate,
            second: self.second - o.second,
            dx: self.dx - o.dx,
            drate: self.drate - o.drate,
            dsecond: self.dsecond - o.dsecond,
        }
    }

    /// A vector that does not move.
    fn fixed(c: &V) -> Self {
        let none = V::zeros();
        Self { x: *c, rate: none, second: none, dx: none, drate: none, dsecond: none }
    }

    /// Change of the second rate of the product with another vector.
    fn product(&self, o: &Self) -> f64 {
        self.dsecond.dot(&o.x)
            + self.second.dot(&o.dx)
            + 2.0 * (self.drate.dot(&o.rate) + self.rate.dot(&o.drate))
            + self.dx.dot(&o.second)
            + self.x.dot(&o.dsecond)
    }
}

/// The bodies with their tangents.
struct Bodies<'a> {
    q: &'a [Pose],
    v: &'a [Twist],
    a: &'a [Twist],
    dq: &'a [Twist],
    dv: &'a [Twist],
}

impl Bodies<'_> {
    /// A direction fixed to a body.
    fn arrow(&self, b: usize, c: &V) -> Flow {
        let (A, w, theta, dw) = (&self.q[b].A, &self.v[b].w, &self.dq[b].w, &self.dv[b].w);
        let turned = w.cross(c);
        let second = self.a[b].w.cross(c) + w.cross(&turned);
        let own = dw.cross(c);
        Flow {
            x: A * c,
            rate: A * turned,
            second: A * second,
            dx: A * theta.cross(c),
            drate: A * (theta.cross(&turned) + own),
            dsecond: A * (theta.cross(&second) + dw.cross(&turned) + w.cross(&own)),
        }
    }

    /// A point fixed to a body.
    fn spot(&self, b: usize, s: &V) -> Flow {
        let mut p = self.arrow(b, s);
        p.x += self.q[b].r;
        p.rate += self.v[b].v;
        p.second += self.a[b].v;
        p.dx += self.dq[b].v;
        p.drate += self.dv[b].v;
        p
    }
}

/// Whether all rows of a set are made of products of vectors.
pub(super) fn are_products(set: &ConstraintSet) -> bool {
    let product =
        |y: &Coordinate| matches!(y, Coordinate::Dp1 { .. } | Coordinate::Dp2 { .. } | Coordinate::D { .. } | Coordinate::Cd { .. });
    let rows = |r: &Rows| match r {
        Rows::Point { .. } | Rows::Direction { .. } => true,
        Rows::Rolling(_) => false,
        Rows::Sum { terms, .. } => terms.iter().all(|(_, y)| product(y)),
    };
    set.list.iter().all(|c| c.spare.is_none() && c.rows.iter().all(rows))
}

impl Turned {
    /// Prepares a state with its multipliers.
    pub fn at(&mut self, set: &ConstraintSet, state: &Configuration, lambda: &[f64]) {
        self.blocks.clear();
        let blocks = &mut self.blocks;
        set.variation(&state.q, lambda, |i, j, S| {
            if i > 0 && j > 0 {
                match blocks.iter_mut().find(|b| (b.0, b.1) == (i, j)) {
                    Some(b) => b.2 += S,
                    None => blocks.push((i, j, *S)),
                }
            }
        });
    }

    /// Stores a tangent, split by body.
    pub fn take(&mut self, x: &Tangent) {
        let twists = |x: &[f64], out: &mut Vec<Twist>| {
            out.clear();
            out.push(Twist::zero());
            out.extend(x.chunks_exact(6).map(|d| Twist { v: V::new(d[0], d[1], d[2]), w: V::new(d[3], d[4], d[5]) }));
        };
        twists(x.q.as_slice(), &mut self.q);
        twists(x.v.as_slice(), &mut self.v);
    }

    /// Pose increments of the stored tangent, by body.
    pub fn poses(&self) -> &[Twist] {
        &self.q
    }

    /// Adds `r'` and `s'` along the stored tangent.
    pub fn add(&self, model: &Model, set: &ConstraintSet, state: &Configuration, moving: Moving<'_>, r: &mut [Wrench], s: &mut [f64]) {
        for (i, j, S) in &self.blocks {
            let d = &self.q[*j];
            let f = S * Vector6::new(d.v.x, d.v.y, d.v.z, d.w.x, d.w.y, d.w.z);
            r[*i].F += f.fixed_rows::<3>(0);
            r[*i].T += f.fixed_rows::<3>(3);
        }
        for (b, body) in model.bodies.iter().enumerate().skip(1) {
            let (w, dw) = (&state.v[b].w, &self.v[b].w);
            r[b].T += dw.cross(&(body.J_bar * w)) + w.cross(&(body.J_bar * dw));
        }
        let along = Along { state, direction: Direction { q: &self.q, v: &self.v, z: &[] } };
        for (_, force) in &model.forces {
            force.wrench(model, &along, &mut |b, F, T| {
                for k in 0..3 {
                    r[b].F[k] -= F[k].c[1];
                    r[b].T[k] -= T[k].c[1];
                }
            });
        }
        r[0] = Wrench::zero();
        let bodies = Bodies { q: &state.q, v: &state.v, a: moving.a, dq: &self.q, dv: &self.v };
        let mut row = 0;
        for c in &set.list {
            let body = |slot: usize| c.bodies[slot].index();
            for rows in &c.rows {
                match rows {
                    Rows::Point { ij, s_i, s_j } => {
                        let d = bodies.spot(body(ij[1]), s_j).dsecond - bodies.spot(body(ij[0]), s_i).dsecond;
                        (0..3).for_each(|k| s[row + k] += d[k]);
                    }
                    Rows::Direction { ij, a_i, a_j, L } => {
                        let d = bodies.arrow(body(ij[1]), a_j).dsecond - bodies.arrow(body(ij[0]), a_i).dsecond;
                        (0..3).for_each(|k| s[row + k] += L * d[k]);
                    }
                    Rows::Rolling(_) => {}
                    Rows::Sum { terms, .. } => {
                        for (factor, y) in terms {
                            let [i, j] = y.slots().map(body);
                            let between = |s_i: &V, s_j: &V| bodies.spot(j, s_j).less(&bodies.spot(i, s_i));
                            let second = match y {
                                Coordinate::Dp1 { a_i, a_j, .. } => bodies.arrow(i, a_i).product(&bodies.arrow(j, a_j)),
                                Coordinate::Dp2 { a_i, s_i, s_j, .. } => bodies.arrow(i, a_i).product(&between(s_i, s_j)),
                                Coordinate::D { s_i, s_j, .. } => {
                                    let d = between(s_i, s_j);
                                    d.product(&d)
                                }
                                Coordinate::Cd { c, s_i, s_j, .. } => Flow::fixed(c).product(&between(s_i, s_j)),
                                _ => 0.0,
                            };
                            s[row] += factor * second;
                        }
                    }
                }
                row += rows.count();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{plain, without_dry_friction};
    use crate::sensitivities::direct::{Residual, changed, moved, rows_of};
    use fourbar::analysis::assembly::assemble;
    use fourbar::force::eval::Plain;
    use fourbar::random::Random;
    use nalgebra::DVector;

    /// Along random tangents at random velocities, accelerations and multipliers, compared with sixth-order differences.
    #[test]
    fn changes_along_tangents_are_those_of_differences() {
        let mut compared = 0;
        for name in [
            "double_wishbone",
            "nc_rscr",
            "a05_flyball_governor",
            "sarrus",
            "stewart_platform",
            "watt_governor",
            "stiff_engine_mounts",
            "a04_bricard",
            "grcr_five_bar",
            "ra_four_link",
            "nc_closed_chain_robot",
            "universal_joint_shaft",
        ] {
            let text = fourbar_io::examples::example(name).expect("a shipped model").text;
            let loaded = fourbar_io::read_model(text, &fourbar_io::ReadOptions::default()).expect("a model");
            let model = without_dry_friction(&loaded.spec.build().expect("a mechanism")).0;
            let set = rows_of(&model);
            if !are_products(&set) {
                continue;
            }
            compared += 1;
            let mut random = Random(7);
            let mut state = assemble(&model).expect("a start").configuration;
            let n = model.bodies.len();
            let mut twists = |size: f64| -> Vec<Twist> {
                let mut three = || V::from_fn(|_, _| size * random.number());
                (0..n).map(|b| if b == 0 { Twist::zero() } else { Twist { v: three(), w: three() } }).collect()
            };
            state.v = twists(1.0);
            let a = twists(2.0);
            let flat = |x: Vec<Twist>| {
                DVector::from_iterator(
                    6 * (n - 1),
                    x.iter().skip(1).flat_map(|x| x.v.iter().chain(x.w.iter()).copied().collect::<Vec<_>>()),
                )
            };
            let x = Tangent { q: flat(twists(1.0)), v: flat(twists(1.0)) };
            let lambda: Vec<f64> = (0..set.rows()).map(|_| random.number()).collect();
            let moving = Moving { a: &a, lambda: &lambda };
            let mut turned = Turned::default();
            turned.at(&set, &state, &lambda);
            turned.take(&x);
            let (mut r, mut s) = (vec![Wrench::zero(); n], vec![0.0; set.rows()]);
            turned.add(&model, &set, &state, moving, &mut r, &mut s);
            let (mut residual, mut near) = (Residual::new(&model, &set), state.clone());
            let (mut dr, mut ds) = (vec![Wrench::zero(); n], vec![0.0; set.rows()]);
            let step = 1e-3;
            for (at, weight) in crate::sensitivities::around::PLACES {
                moved(&state.q, x.q.as_slice(), at * step, &mut near.q);
                changed(&state.v, x.v.as_slice(), at * step, &mut near.v);
                residual.form(&model, &set, &Plain { q: &near.q, v: &near.v, ..plain(&state) }, moving);
                for (sum, own) in dr.iter_mut().zip(&residual.r) {
                    sum.F += own.F * (weight / step);
                    sum.T += own.T * (weight / step);
                }
                ds.iter_mut().zip(&residual.s).for_each(|(sum, own)| *sum += weight / step * own);
            }
            let size = dr.iter().fold(1.0_f64, |m, x| m.max(x.F.amax()).max(x.T.amax()));
            for (b, (one, other)) in r.iter().zip(&dr).enumerate() {
                let apart = (one.F - other.F).amax().max((one.T - other.T).amax());
                assert!(apart <= 1e-9 * size, "{name}, body {b}: {apart:e} of {size:e}");
            }
            let size = ds.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
            for (k, (one, other)) in s.iter().zip(&ds).enumerate() {
                assert!((one - other).abs() <= 1e-9 * size, "{name}, row {k}: {one} against {other}");
            }
        }
        assert!(compared >= 4, "{compared}");
    }
}
