//! Adjoint of constraint rows: derivatives with respect to poses, velocities and the data of the rows.
//!
//! Rows are products, or sums of products, of vectors fixed to bodies: directions and points. With a virtual motion `x`, velocities `v` and
//! accelerations `a` of the bodies,
//! ```text
//! psi = phi Phi + lambda (G x) + mu (d^2 Phi/dt^2),      d^2 Phi/dt^2 = G a - gamma
//! ```
//! is a polynomial in these vectors and their rates, and so are its derivatives.

use fourbar::constraint::{ConstraintSet, Rows};
use fourbar::coordinate::Coordinate;
use fourbar::state::{Pose, Twist};
use nalgebra::Vector3;

type V = Vector3<f64>;

/// Covectors of a body: of its position, rotation in body axes, velocity in the world and angular velocity in body axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pull {
    pub r: V,
    pub turn: V,
    pub v: V,
    pub w: V,
}

impl Pull {
    /// From covectors of displacement, rotation, velocity and angular velocity, all in world axes; the rotation keeps the world components
    /// of the angular velocity.
    pub fn of_world(by: &[[f64; 3]; 4], q: &Pose, v: &Twist) -> Self {
        let [r, turn, u, w] = by.map(V::from);
        Self { r, turn: q.A.tr_mul(&(turn + (q.A * v.w).cross(&w))), v: u, w: q.A.tr_mul(&w) }
    }

    pub fn add(&mut self, o: &Self, factor: f64) {
        self.r += o.r * factor;
        self.turn += o.turn * factor;
        self.v += o.v * factor;
        self.w += o.w * factor;
    }

    /// The largest entry.
    pub fn size(&self) -> f64 {
        [self.r, self.turn, self.v, self.w].iter().fold(0.0, |m, x| x.amax().max(m))
    }

    pub fn is_finite(&self) -> bool {
        (self.r + self.turn + self.v + self.w).sum().is_finite()
    }
}

/// The bodies at a state: poses, velocities, accelerations, and a virtual motion.
#[derive(Clone, Copy)]
pub struct Moving<'a> {
    pub q: &'a [Pose],
    pub v: &'a [Twist],
    pub a: &'a [Twist],
    pub x: &'a [Twist],
}

/// Weights of the rows: of their values, of their rates along the virtual motion, and of their second rates. An empty list means zero.
#[derive(Clone, Copy, Default)]
pub struct Weights<'a> {
    pub value: &'a [f64],
    pub along: &'a [f64],
    pub second: &'a [f64],
}

/// A vector in the world, its rate, its second rate, and its rate along the virtual motion; or covectors of these.
#[derive(Clone, Copy, Default)]
struct Flow {
    x: V,
    rate: V,
    second: V,
    along: V,
}

impl Flow {
    fn less(&self, o: &Self) -> Self {
        Self { x: self.x - o.x, rate: self.rate - o.rate, second: self.second - o.second, along: self.along - o.along }
    }

    fn scaled(&self, k: f64) -> Self {
        Self { x: self.x * k, rate: self.rate * k, second: self.second * k, along: self.along * k }
    }

    /// A vector that does not move.
    fn fixed(c: &V) -> Self {
        Self { x: *c, ..Self::default() }
    }

    /// The weighted sum of the product with another vector, of its rate along the virtual motion and of its second rate.
    fn product(&self, o: &Self, [value, along, second]: [f64; 3]) -> f64 {
        value * self.x.dot(&o.x)
            + along * (self.along.dot(&o.x) + self.x.dot(&o.along))
            + second * (self.second.dot(&o.x) + 2.0 * self.rate.dot(&o.rate) + self.x.dot(&o.second))
    }

    /// The covector of the other factor of a product with this vector, with the weights of the product.
    fn factor(&self, [value, along, second]: [f64; 3]) -> Self {
        Self {
            x: self.x * value + self.along * along + self.second * second,
            rate: self.rate * (2.0 * second),
            second: self.x * second,
            along: self.x * along,
        }
    }
}

impl Moving<'_> {
    /// A direction fixed to a body.
    fn arrow(&self, b: usize, c: &V) -> Flow {
        let (A, w) = (&self.q[b].A, &self.v[b].w);
        let turned = w.cross(c);
        let second = self.a.get(b).map_or_else(V::zeros, |a| A * (a.w.cross(c) + w.cross(&turned)));
        Flow { x: A * c, rate: A * turned, second, along: self.x.get(b).map_or_else(V::zeros, |x| A * x.w.cross(c)) }
    }

    /// A point fixed to a body.
    fn spot(&self, b: usize, s: &V) -> Flow {
        let mut p = self.arrow(b, s);
        p.x += self.q[b].r;
        p.rate += self.v[b].v;
        p.second += self.a.get(b).map_or_else(V::zeros, |a| a.v);
        p.along += self.x.get(b).map_or_else(V::zeros, |x| x.v);
        p
    }

    /// Converts the covector of a direction to covectors of the body; returns that of the components in body axes.
    fn arrow_back(&self, b: usize, c: &V, g: &Flow, out: &mut Pull) -> V {
        let (A, w) = (&self.q[b].A, &self.v[b].w);
        let turned = w.cross(c);
        let (h, rate, second, along) = (A.tr_mul(&g.x), A.tr_mul(&g.rate), A.tr_mul(&g.second), A.tr_mul(&g.along));
        let mut by = h + rate.cross(w);
        out.turn += c.cross(&h) + turned.cross(&rate);
        out.w += c.cross(&rate);
        if let Some(a) = self.a.get(b) {
            out.turn += (a.w.cross(c) + w.cross(&turned)).cross(&second);
            out.w += turned.cross(&second) + c.cross(&second.cross(w));
            by += second.cross(&a.w) + second.cross(w).cross(w);
        }
        if let Some(x) = self.x.get(b) {
            out.turn += x.w.cross(c).cross(&along);
            by += along.cross(&x.w);
        }
        by
    }

    /// The same for a point.
    fn spot_back(&self, b: usize, s: &V, g: &Flow, out: &mut Pull) -> V {
        out.r += g.x;
        out.v += g.rate;
        self.arrow_back(b, s, g, out)
    }
}

/// Whether all rows of a set are made of points and directions that do not depend on time.
pub fn are_polynomial(set: &ConstraintSet) -> bool {
    set.list.iter().all(|c| {
        c.spare.is_none()
            && c.rows.iter().all(|r| match r {
                Rows::Point { .. } | Rows::Direction { .. } => true,
                Rows::Rolling(_) => false,
                Rows::Sum { terms, driven, .. } => driven.is_none() && terms.iter().all(|(_, y)| vectors(y).is_some()),
            })
    })
}

/// The vectors of a coordinate, in the order in which their components are listed, with their count.
fn vectors(y: &Coordinate) -> Option<([&V; 3], usize)> {
    match y {
        Coordinate::Dp1 { a_i, a_j, .. } => Some(([a_i, a_j, a_j], 2)),
        Coordinate::Dp2 { a_i, s_i, s_j, .. } => Some(([a_i, s_i, s_j], 3)),
        Coordinate::D { s_i, s_j, .. } => Some(([s_i, s_j, s_j], 2)),
        Coordinate::Cd { c, s_i, s_j, .. } => Some(([c, s_i, s_j], 3)),
        _ => None,
    }
}

/// The data of the rows of a set, in a fixed order.
pub fn numbers(set: &ConstraintSet) -> Vec<f64> {
    let mut out = Vec::new();
    for rows in set.list.iter().flat_map(|c| &c.rows) {
        match rows {
            Rows::Point { s_i: a, s_j: b, .. } | Rows::Direction { a_i: a, a_j: b, .. } => out.extend(a.iter().chain(b.iter())),
            Rows::Rolling(_) => {}
            Rows::Sum { terms, constant, .. } => {
                for (k, y) in terms {
                    out.push(*k);
                    if let Some((list, count)) = vectors(y) {
                        out.extend(list[..count].iter().flat_map(|x| x.iter()));
                    }
                }
                out.push(*constant);
            }
        }
    }
    out
}

/// Length of [`numbers`].
pub fn count(set: &ConstraintSet) -> usize {
    numbers(set).len()
}

/// The properties of rows not contained in [`numbers`]: kinds and lengths, which must be equal in perturbed mechanisms.
pub fn form(set: &ConstraintSet) -> Vec<(u8, f64)> {
    let mut out = Vec::new();
    for c in &set.list {
        out.push((c.rows.len() as u8, 0.0));
        for rows in &c.rows {
            match rows {
                Rows::Point { .. } => out.push((0, 0.0)),
                Rows::Direction { L, .. } => out.push((1, *L)),
                Rows::Rolling(_) => out.push((2, 0.0)),
                Rows::Sum { terms, .. } => {
                    out.push((3, terms.len() as f64));
                    for (_, y) in terms {
                        let kind = match y {
                            Coordinate::Dp1 { .. } => 4,
                            Coordinate::Dp2 { .. } => 5,
                            Coordinate::D { .. } => 6,
                            Coordinate::Cd { .. } => 7,
                            _ => 8,
                        };
                        out.push((kind, 0.0));
                    }
                }
            }
        }
    }
    out
}

/// Adds derivatives with respect to vectors at an offset.
fn add(by: &mut [f64], place: &mut usize, list: &[V]) {
    by[*place..].iter_mut().zip(list.iter().flat_map(|x| x.iter())).for_each(|(b, x)| *b += x);
    *place += 3 * list.len();
}

/// Adds `factor` times the derivatives of `psi` to those of bodies, including the ground, and of the data of the rows.
pub fn back(set: &ConstraintSet, at: &Moving<'_>, weights: Weights<'_>, factor: f64, pulls: &mut [Pull], by: &mut [f64]) {
    let (mut row, mut place) = (0, 0);
    for c in &set.list {
        let body = |slot: usize| c.bodies[slot].index();
        for rows in &c.rows {
            let weight = |k: usize| {
                let of = |list: &[f64]| list.get(row + k).map_or(0.0, |w| w * factor);
                [of(weights.value), of(weights.along), of(weights.second)]
            };
            match rows {
                Rows::Point { ij, s_i, s_j } => {
                    let w = [weight(0), weight(1), weight(2)];
                    let part = |i: usize| V::new(w[0][i], w[1][i], w[2][i]);
                    let g = Flow { x: part(0), rate: V::zeros(), second: part(2), along: part(1) };
                    let (i, j) = (body(ij[0]), body(ij[1]));
                    let first = at.spot_back(i, s_i, &g.scaled(-1.0), &mut pulls[i]);
                    add(by, &mut place, &[first, at.spot_back(j, s_j, &g, &mut pulls[j])]);
                }
                Rows::Direction { ij, a_i, a_j, L } => {
                    let w = [weight(0), weight(1), weight(2)];
                    let part = |i: usize| V::new(w[0][i], w[1][i], w[2][i]) * *L;
                    let g = Flow { x: part(0), rate: V::zeros(), second: part(2), along: part(1) };
                    let (i, j) = (body(ij[0]), body(ij[1]));
                    let first = at.arrow_back(i, a_i, &g.scaled(-1.0), &mut pulls[i]);
                    add(by, &mut place, &[first, at.arrow_back(j, a_j, &g, &mut pulls[j])]);
                }
                Rows::Rolling(_) => {}
                Rows::Sum { terms, .. } => {
                    let all = weight(0);
                    for (k, y) in terms {
                        let own = all.map(|w| w * k);
                        let [i, j] = y.slots().map(body);
                        // The two factors of the product, and the covectors of the vectors they are made of.
                        let difference = |s_i: &V, s_j: &V| at.spot(j, s_j).less(&at.spot(i, s_i));
                        let (P, Q) = match y {
                            Coordinate::Dp1 { a_i, a_j, .. } => (at.arrow(i, a_i), at.arrow(j, a_j)),
                            Coordinate::Dp2 { a_i, s_i, s_j, .. } => (at.arrow(i, a_i), difference(s_i, s_j)),
                            Coordinate::D { s_i, s_j, .. } => (difference(s_i, s_j), difference(s_i, s_j)),
                            Coordinate::Cd { c, s_i, s_j, .. } => (Flow::fixed(c), difference(s_i, s_j)),
                            _ => continue,
                        };
                        by[place] += P.product(&Q, all);
                        place += 1;
                        let points = |g: &Flow, s_i: &V, s_j: &V, pulls: &mut [Pull]| {
                            [at.spot_back(i, s_i, &g.scaled(-1.0), &mut pulls[i]), at.spot_back(j, s_j, g, &mut pulls[j])]
                        };
                        match y {
                            Coordinate::Dp1 { a_i, a_j, .. } => {
                                let first = at.arrow_back(i, a_i, &Q.factor(own), &mut pulls[i]);
                                add(by, &mut place, &[first, at.arrow_back(j, a_j, &P.factor(own), &mut pulls[j])]);
                            }
                            Coordinate::Dp2 { a_i, s_i, s_j, .. } => {
                                add(by, &mut place, &[at.arrow_back(i, a_i, &Q.factor(own), &mut pulls[i])]);
                                add(by, &mut place, &points(&P.factor(own), s_i, s_j, pulls));
                            }
                            Coordinate::D { s_i, s_j, .. } => {
                                add(by, &mut place, &points(&P.factor(own).scaled(2.0), s_i, s_j, pulls));
                            }
                            Coordinate::Cd { s_i, s_j, .. } => {
                                add(by, &mut place, &[Q.factor(own).x]);
                                add(by, &mut place, &points(&P.factor(own), s_i, s_j, pulls));
                            }
                            _ => {}
                        }
                    }
                    by[place] -= all[0];
                    place += 1;
                }
            }
            row += rows.count();
        }
    }
}
