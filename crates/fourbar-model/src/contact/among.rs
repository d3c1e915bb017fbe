//! Balls among each other: neighbouring pairs are found with a grid of cells.

use super::spot::{First, Second, Spot};
use crate::coordinate::PoseOf;
use nalgebra::Vector3;

/// A ball of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// The body.
    pub body: usize,
    /// Centre relative to the centre of mass, body axes.
    pub s: Vector3<f64>,
    /// Radius, m.
    pub radius: f64,
}

/// Balls that may touch each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Among {
    /// The balls, of different bodies.
    pub balls: Vec<Ball>,
    /// Pairs of bodies connected by a joint, sorted within and among pairs: these do not touch.
    joined: Vec<[usize; 2]>,
}

impl Among {
    /// Balls of different bodies; the pairs of bodies in `joined`, in order, do not touch.
    pub fn new(balls: Vec<Ball>, joined: Vec<[usize; 2]>) -> Self {
        Self { balls, joined }
    }

    /// The spot of two balls.
    pub fn spot(&self, i: usize, j: usize) -> Spot {
        let [a, b] = [i, j].map(|k| self.balls[k]);
        Spot {
            bodies: [a.body, b.body],
            first: First::Ball { s: a.s, radius: a.radius },
            second: Second::Ball { s: b.s, radius: b.radius, hollow: false },
            swapped: false,
        }
    }

    /// Calls `f` with the indices of every two balls whose gap may be smaller than `reach`, at given centres in the world. The balls are
    /// sorted into cells as large as the largest of them, so that the work grows linearly with their number.
    pub fn pairs(&self, reach: f64, centres: &[Vector3<f64>], f: &mut impl FnMut(usize, usize)) {
        let largest = self.balls.iter().fold(0.0_f64, |m, b| m.max(b.radius));
        let cell = 2.0 * largest + reach.max(0.0);
        if cell.is_nan() || cell <= 0.0 || !cell.is_finite() || centres.iter().any(|c| !c.iter().all(|x| x.is_finite())) {
            return;
        }
        let index = |x: f64| (x / cell).floor().clamp(-1e15, 1e15) as i64;
        let mut order: Vec<([i64; 3], usize)> =
            centres.iter().enumerate().map(|(k, c)| ([index(c.x), index(c.y), index(c.z)], k)).collect();
        order.sort_unstable();
        let start = |key: &[i64; 3]| order.partition_point(|(other, _)| other < key);
        let close = |i: usize, j: usize| {
            let reach = self.balls[i].radius + self.balls[j].radius + reach;
            let [a, b] = [self.balls[i].body, self.balls[j].body];
            (centres[i] - centres[j]).norm_squared() <= reach * reach && self.joined.binary_search(&[a.min(b), a.max(b)]).is_err()
        };
        for (place, (key, i)) in order.iter().enumerate() {
            // The rest of the ball's cell and the next cell along z follow directly in the order; of the other neighbours half are
            // examined.
            for (k, j) in order[place + 1..].iter().take_while(|(k, _)| k[0] == key[0] && k[1] == key[1] && k[2] <= key[2] + 1) {
                debug_assert!(k[2] >= key[2]);
                if close(*i, *j) {
                    f(*i.min(j), *i.max(j));
                }
            }
            for [dx, dy] in [[0, 1], [1, -1], [1, 0], [1, 1]] {
                let from = [key[0] + dx, key[1] + dy, key[2] - 1];
                for (_, j) in order[start(&from)..].iter().take_while(|(k, _)| k[0] == from[0] && k[1] == from[1] && k[2] <= key[2] + 1) {
                    if close(*i, *j) {
                        f(*i.min(j), *i.max(j));
                    }
                }
            }
        }
    }

    /// Calls `f` with the spots of balls that are near each other.
    pub(super) fn near(&self, reach: f64, pose: &impl Fn(usize) -> PoseOf<f64>, f: &mut impl FnMut(&Spot)) {
        let centres: Vec<Vector3<f64>> = self
            .balls
            .iter()
            .map(|b| {
                let q = pose(b.body);
                q.r + q.A * b.s
            })
            .collect();
        self.pairs(reach, &centres, &mut |i, j| f(&self.spot(i, j)));
    }
}
