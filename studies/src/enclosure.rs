//! Bounds, with outward rounding, of the truncation error of a Taylor step, for planar mechanisms in natural coordinates.
//!
//! Points are linear in the coordinates `q`, so that the mass matrix `M` is constant and rods satisfy `|u|^2 = L^2` with `u = P q + p`. The
//! coefficients of the series follow order by order from
//! ```text
//! [ M        2 P^T u_0 ] [ a_k      ]   [ F_k - 2 P^T sum_{i>=1} u_i lambda_{k-i}        ]
//! [ 2 u_0^T P    0     ] [ lambda_k ] = [ -(k+1)(k+2) sum_{i=1}^{k+1} u_i . u_{k+2-i}    ],   q_{k+2} = a_k / ((k+1)(k+2))
//! ```
//! The motion in a step is enclosed on parts of the step, each so short that its own truncation error is negligible: evaluated on intervals
//! that contain the motion in the part, the coefficient `q_{p+1}` times `s^{p+1}` bounds this error (Lagrange's remainder). Picard's
//! iteration shows that the intervals contain the motion: if `v_0 + [0, s] a(Q, V)` lies in `V` and `q_0 + [0, s] V` in `Q`, the motion
//! stays in `Q` and `V` for the time `s`. The truncation error of the whole step is the distance of its series from the enclosure at the
//! end.

use crate::interval::Interval;
use nalgebra::DMatrix;

/// A linear form of the coordinates: coefficients and a constant.
pub type Form = (Vec<f64>, f64);

/// A point of the plane, linear in the coordinates.
#[derive(Clone, Debug)]
pub struct Point {
    /// Coordinates as linear forms.
    pub xy: [Form; 2],
}

impl Point {
    /// A fixed point.
    pub fn fixed(n: usize, x: f64, y: f64) -> Self {
        Self { xy: [(vec![0.0; n], x), (vec![0.0; n], y)] }
    }

    /// The point given by two coordinates.
    pub fn moving(n: usize, first: usize) -> Self {
        let unit = |k: usize| {
            let mut f = vec![0.0; n];
            f[k] = 1.0;
            (f, 0.0)
        };
        Self { xy: [unit(first), unit(first + 1)] }
    }

    /// A linear combination of forms.
    fn sum(parts: &[(f64, &Form)]) -> Form {
        let mut out = (vec![0.0; parts[0].1.0.len()], 0.0);
        for (k, f) in parts {
            out.0.iter_mut().zip(&f.0).for_each(|(o, x)| *o += k * x);
            out.1 += k * f.1;
        }
        out
    }

    /// The vector from one point to another.
    pub fn to(&self, o: &Self) -> Self {
        Self { xy: [0, 1].map(|i| Self::sum(&[(1.0, &o.xy[i]), (-1.0, &self.xy[i])])) }
    }

    /// The point with coordinates `(a, b)` in the frame with origin `self` and x axis towards `o` at the distance `length`.
    pub fn beside(&self, o: &Self, length: f64, a: f64, b: f64) -> Self {
        let d = self.to(o);
        let (a, b) = (a / length, b / length);
        Self {
            xy: [
                Self::sum(&[(1.0, &self.xy[0]), (a, &d.xy[0]), (-b, &d.xy[1])]),
                Self::sum(&[(1.0, &self.xy[1]), (a, &d.xy[1]), (b, &d.xy[0])]),
            ],
        }
    }
}

/// A spring between a fixed point and another one: its vector, stiffness and unstressed length.
pub struct Spring {
    /// Vector from one end to the other.
    pub vector: Point,
    /// Stiffness, N/m.
    pub stiffness: f64,
    /// Unstressed length, m.
    pub rest: f64,
}

/// A planar mechanism.
pub struct Planar {
    /// Names of the coordinates.
    pub names: Vec<&'static str>,
    /// Constant mass matrix.
    pub mass: DMatrix<f64>,
    /// Vectors of fixed length, with the squares of the lengths.
    pub rods: Vec<(Point, f64)>,
    /// Constant forces.
    pub weight: Vec<f64>,
    /// Forces that are linear in the coordinates, by coordinate.
    pub linear: Vec<Form>,
    /// Springs.
    pub springs: Vec<Spring>,
}

impl Planar {
    /// A mechanism without parts.
    pub fn new(names: Vec<&'static str>) -> Self {
        let n = names.len();
        Self {
            mass: DMatrix::zeros(n, n),
            rods: Vec::new(),
            weight: vec![0.0; n],
            linear: vec![(vec![0.0; n], 0.0); n],
            springs: Vec::new(),
            names,
        }
    }

    /// Adds a rigid part from `a` to `b` at the distance `length`: centre of mass in its frame, mass and moment of inertia, gravity along -y.
    pub fn part(&mut self, (a, b, length): (&Point, &Point, f64), (x, y): (f64, f64), mass: f64, inertia: f64, gravity: f64) {
        self.rods.push((a.to(b), length * length));
        let (c, d) = (a.beside(b, length, x, y), a.to(b));
        let n = self.names.len();
        for i in 0..n {
            for j in 0..n {
                for k in 0..2 {
                    self.mass[(i, j)] += mass * c.xy[k].0[i] * c.xy[k].0[j] + inertia / (length * length) * d.xy[k].0[i] * d.xy[k].0[j];
                }
            }
            self.weight[i] -= mass * gravity * c.xy[1].0[i];
        }
    }
}

fn dot(f: &[f64], x: &[Interval]) -> Interval {
    f.iter().zip(x).filter(|(f, _)| **f != 0.0).fold(Interval::ZERO, |s, (f, x)| s + *x * *f)
}

/// Coefficients of the coordinates up to an order.
type Series = Vec<Vec<Interval>>;

/// Series of a motion from intervals of positions and velocities; `None` if the matrix may be singular.
fn series(system: &Planar, q: &[Interval], v: &[Interval], order: usize) -> Option<Series> {
    let (n, m) = (q.len(), system.rods.len());
    let mut x: Series = vec![q.to_vec(), v.to_vec()];
    // Vectors of rods and springs by order.
    let place = |p: &Point, x: &[Interval], k: usize| -> [Interval; 2] {
        [0, 1].map(|i| dot(&p.xy[i].0, x) + if k == 0 { Interval::of(p.xy[i].1) } else { Interval::ZERO })
    };
    let mut u: Vec<Vec<[Interval; 2]>> = system.rods.iter().map(|(p, _)| vec![place(p, q, 0), place(p, v, 1)]).collect();
    let mut w: Vec<Vec<[Interval; 2]>> = system.springs.iter().map(|s| vec![place(&s.vector, q, 0), place(&s.vector, v, 1)]).collect();
    let (mut length, mut inverse): (Vec<Vec<Interval>>, Vec<Vec<Interval>>) = (vec![Vec::new(); w.len()], vec![Vec::new(); w.len()]);
    let mut lambda: Vec<Vec<Interval>> = vec![Vec::new(); m];
    // The matrix, with an approximate inverse of its midpoint: x = R b + E x with E = 1 - R A.
    let size = n + m;
    let mut a = vec![Interval::ZERO; size * size];
    for i in 0..n {
        for j in 0..n {
            a[i * size + j] = Interval::of(system.mass[(i, j)]);
        }
        for (j, (p, _)) in system.rods.iter().enumerate() {
            let g = (u[j][0][0] * p.xy[0].0[i] + u[j][0][1] * p.xy[1].0[i]) * 2.0;
            (a[i * size + n + j], a[(n + j) * size + i]) = (g, g);
        }
    }
    // Approximate inverse of the midpoint.
    let middle = DMatrix::from_fn(size, size, |i, j| a[i * size + j].middle());
    let near = middle.try_inverse()?;
    let mut rest = vec![Interval::ZERO; size * size];
    for i in 0..size {
        for j in 0..size {
            let sum = (0..size).fold(Interval::ZERO, |s, k| s + a[k * size + j] * near[(i, k)]);
            rest[i * size + j] = Interval::of(f64::from(u8::from(i == j))) - sum;
        }
    }
    let solve = |b: &[Interval]| -> Option<Vec<Interval>> {
        let y: Vec<Interval> = (0..size).map(|i| (0..size).fold(Interval::ZERO, |s, k| s + b[k] * near[(i, k)])).collect();
        // |x - y| <= |E| (|y| + |x - y|): any radius mapped into itself is a bound.
        let grown = |radius: &[f64]| -> Vec<f64> {
            let of = |i: usize| {
                (0..size)
                    .fold(Interval::ZERO, |s, k| {
                        s + Interval::of(rest[i * size + k].size()) * (Interval::of(y[k].size()) + Interval::of(radius[k]))
                    })
                    .high
            };
            (0..size).map(of).collect()
        };
        let mut radius = vec![0.0; size];
        for _ in 0..60 {
            let next = grown(&radius);
            if next.iter().zip(&radius).all(|(n, r)| n < r) {
                return Some(y.iter().zip(&radius).map(|(y, r)| *y + Interval::between(-r, *r)).collect());
            }
            radius = next.iter().map(|r| r * 1.1 + 1e-300).collect();
            if !radius.iter().sum::<f64>().is_finite() {
                return None;
            }
        }
        None
    };
    for k in 0..=order.saturating_sub(2) {
        let mut b = vec![Interval::ZERO; size];
        for i in 0..n {
            let (f, c) = &system.linear[i];
            b[i] = dot(f, &x[k]) + if k == 0 { Interval::of(*c) + Interval::of(system.weight[i]) } else { Interval::ZERO };
        }
        for (s, spring) in system.springs.iter().enumerate() {
            let square = (0..=k).fold(Interval::ZERO, |sum, i| sum + w[s][i][0] * w[s][k - i][0] + w[s][i][1] * w[s][k - i][1]);
            if k == 0 {
                length[s].push(square.sqrt());
                inverse[s].push(length[s][0].inverse());
            } else {
                let known = (1..k).fold(Interval::ZERO, |sum, i| sum + length[s][i] * length[s][k - i]);
                let l = (square - known) * (length[s][0] * 2.0).inverse();
                length[s].push(l);
                let sum = (1..=k).fold(Interval::ZERO, |sum, i| sum + length[s][i] * inverse[s][k - i]);
                let r = -(sum * length[s][0].inverse());
                inverse[s].push(r);
            }
            for c in 0..2 {
                let bent = (0..=k).fold(Interval::ZERO, |sum, i| sum + w[s][i][c] * inverse[s][k - i]);
                let pull = (w[s][k][c] - bent * spring.rest) * spring.stiffness;
                for i in 0..n {
                    b[i] = b[i] - pull * spring.vector.xy[c].0[i];
                }
            }
        }
        for (j, (p, _)) in system.rods.iter().enumerate() {
            for c in 0..2 {
                let sum = (1..=k).fold(Interval::ZERO, |sum, i| sum + u[j][i][c] * lambda[j][k - i]);
                for i in 0..n {
                    b[i] = b[i] - sum * (2.0 * p.xy[c].0[i]);
                }
            }
            let sum = (1..=k + 1).fold(Interval::ZERO, |sum, i| sum + u[j][i][0] * u[j][k + 2 - i][0] + u[j][i][1] * u[j][k + 2 - i][1]);
            b[n + j] = -(sum * ((k + 1) * (k + 2)) as f64);
        }
        let found = solve(&b)?;
        let divisor = Interval::of(((k + 1) * (k + 2)) as f64).inverse();
        let next: Vec<Interval> = found[..n].iter().map(|a| *a * divisor).collect();
        for (j, l) in lambda.iter_mut().enumerate() {
            l.push(found[n + j]);
        }
        for (j, (p, _)) in system.rods.iter().enumerate() {
            u[j].push(place(p, &next, k + 2));
        }
        for (s, spring) in system.springs.iter().enumerate() {
            w[s].push(place(&spring.vector, &next, k + 2));
        }
        x.push(next);
    }
    Some(x)
}

/// Intervals that contain positions and velocities for a time, from intervals at its start.
fn enclosed(system: &Planar, q: &[Interval], v: &[Interval], s: f64) -> Option<(Vec<Interval>, Vec<Interval>)> {
    let span = Interval { low: 0.0, high: s };
    let first = series(system, q, v, 2)?;
    let moved = |x: &[Interval], rate: &[Interval]| -> Vec<Interval> { x.iter().zip(rate).map(|(x, r)| *x + span * *r).collect() };
    // A rate near zero has a narrow interval, which it must not leave due to the widened intervals of others: all are widened.
    let room = |x: &[Interval]| x.iter().fold(0.0_f64, |m, x| m.max(0.1 * (x.high - x.low)).max(1e-12 * x.size()));
    let rate: Vec<Interval> = first[2].iter().map(|a| *a * 2.0).collect();
    let mut V = moved(v, &rate);
    let mut Q = moved(q, &V);
    for _ in 0..12 {
        let (dq, dv) = (room(&Q), room(&V));
        Q = Q.iter().map(|x| x.widened(0.2, dq)).collect();
        V = V.iter().map(|x| x.widened(0.2, dv)).collect();
        let a: Vec<Interval> = series(system, &Q, &V, 2)?[2].iter().map(|a| *a * 2.0).collect();
        let (newer, new) = (moved(v, &a), moved(q, &V));
        if newer.iter().chain(&new).any(|x| !x.is_finite()) {
            return None;
        }
        let fits = |a: &[Interval], b: &[Interval]| a.iter().zip(b).all(|(a, b)| a.inside(*b));
        if fits(&newer, &V) && fits(&new, &Q) {
            return Some((new, newer));
        }
        V = newer.iter().zip(&V).map(|(a, b)| a.hull(*b)).collect();
        Q = new.iter().zip(&Q).map(|(a, b)| a.hull(*b)).collect();
    }
    None
}

/// Smallest number of parts of a step: short enough that the widths of the remainder intervals are negligible.
const PARTS: f64 = 64.0;

/// Bound of the truncation error of a series of order `p` in a step of size `h` from a state, for the worst coordinate; with the number of
/// parts used. `None` if more than `most` parts are needed.
pub fn left_out(system: &Planar, q: &[f64], v: &[f64], h: f64, p: usize, most: usize) -> Option<(f64, usize)> {
    let thin = |x: &[f64]| -> Vec<Interval> { x.iter().map(|x| Interval::of(*x)).collect() };
    let (mut q, mut v) = (thin(q), thin(v));
    // The series of the whole step, evaluated at its end.
    let whole = series(system, &q, &v, p)?;
    let end: Vec<Interval> =
        (0..q.len()).map(|c| (0..=p).rev().fold(Interval::ZERO, |sum, k| sum * Interval::of(h) + whole[k][c])).collect();
    let (mut t, mut s, mut parts) = (0.0_f64, h / PARTS, 0);
    while t < h {
        let until = if t + s >= h * (1.0 - 1e-12) { h } else { t + s };
        // Slightly more than the time itself, to include its rounding error.
        let time = (until - t).next_up();
        let Some((Q, V)) = enclosed(system, &q, &v, time) else {
            s *= 0.5;
            if s < h / most as f64 {
                return None;
            }
            continue;
        };
        let (Some(inside), Some(begin)) = (series(system, &Q, &V, p + 1), series(system, &q, &v, p)) else {
            s *= 0.5;
            if s < h / most as f64 {
                return None;
            }
            continue;
        };
        parts += 1;
        if parts > most {
            return None;
        }
        // The state at the end of the part: its own series with its remainder.
        let x = Interval::between((until - t).next_down(), time);
        let n = q.len();
        let (mut q_new, mut v_new) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for c in 0..n {
            let (mut a, mut b) = (inside[p + 1][c], inside[p + 1][c] * (p + 1) as f64);
            for k in (0..=p).rev() {
                a = a * x + begin[k][c];
                if k > 0 {
                    b = b * x + begin[k][c] * k as f64;
                }
            }
            q_new.push(a);
            v_new.push(b);
        }
        (q, v) = (q_new, v_new);
        t = until;
        s = (1.3 * s).min(h / PARTS);
    }
    Some((end.iter().zip(&q).fold(0.0, |m, (a, b)| m.max((*a - *b).size())), parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_what_is_left_out_and_little_more() {
        // A point mass on a rod, in twelve states, including turning points of its coordinates.
        let mut s = Planar::new(vec!["x", "y"]);
        let (o, a) = (Point::fixed(2, 0.0, 0.0), Point::moving(2, 0));
        s.part((&o, &a, 1.0), (1.0, 0.0), 1.0, 0.0, 9.81);
        for k in 0..12 {
            let (angle, speed) = (0.5 * f64::from(k), 0.6 * f64::from(k % 5) - 1.2);
            let (q, v) = ([angle.cos(), angle.sin()], [-speed * angle.sin(), speed * angle.cos()]);
            let thin = |x: [f64; 2]| x.map(Interval::of);
            for (p, h) in [(8, 0.1), (14, 0.15)] {
                let (bound, parts) = left_out(&s, &q, &v, h, p, 4000).expect("a bound");
                // The truncated terms of the step, by a series of much higher order.
                let long = series(&s, &thin(q), &thin(v), p + 30).expect("a series");
                let rest = |c: usize| (p + 1..=p + 30).map(|k| long[k][c].middle() * h.powi(k as i32)).sum::<f64>().abs();
                let truth = rest(0).max(rest(1));
                assert!(truth > 0.0 && bound >= truth * (1.0 - 1e-9), "{k}, order {p}: {bound:e} is less than {truth:e}");
                assert!(bound <= 1.01 * truth + 1e-12 && parts >= 64, "{k}, order {p}: {bound:e} against {truth:e} by {parts} parts");
            }
        }
    }
}
