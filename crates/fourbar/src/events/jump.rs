//! Jumps of velocities and the choice of closed limits, in absolute coordinates, for every formulation: mass-weighted projection onto
//! the constraints, and one small complementarity problem over the limits that touch.

use crate::absolute::equations::Equations;
use crate::event::Limit;
use crate::model::Model;
use crate::motion::{Instant, LeastLoads};
use crate::state::{Configuration, Pose, Twist, Wrench};
use nalgebra::{DMatrix, DVector};

/// Rounds of a projection: what redundant rows take from one is given back by the next.
const ROUNDS: usize = 4;

/// The constraints that hold whatever the limits do, factored at a pose.
pub struct Jump<'m> {
    equations: Equations<'m>,
    t: f64,
}

impl<'m> Jump<'m> {
    /// For a mechanism at a state.
    pub fn new(model: &'m Model, at: &Configuration) -> Self {
        let mut equations = Equations::new(model, at);
        equations.set.choose(at.t);
        equations.jacobian(&at.q);
        equations.factor(1.0);
        Self { equations, t: at.t }
    }

    /// The nearest velocities that obey the constraints.
    pub fn project(&mut self, v: &mut [Twist]) {
        for _ in 0..ROUNDS {
            self.equations.project_velocity(self.t, v);
        }
    }

    /// How velocities change under a unit impulse along a row.
    pub fn response(&mut self, row: &[(usize, Wrench); 2]) -> Vec<Twist> {
        let e = &mut self.equations;
        let mut v = vec![Twist::zero(); e.p.inverse.len()];
        for (b, x) in row.iter().filter(|(b, _)| *b != 0) {
            let y = e.p.inverse[*b].apply(x);
            v[*b] = v[*b].plus(&y);
        }
        for _ in 0..2 * ROUNDS {
            e.set.multiply(&e.G, &v, &mut e.p.x);
            e.normal_part();
            for (v, d) in v.iter_mut().zip(&e.p.dq) {
                v.v -= d.v;
                v.w -= d.w;
            }
        }
        v
    }

    /// Multipliers with which the constraints alone balance forces along some rows, and the share of the forces that they leave unbalanced.
    pub fn answer(&mut self, rows: &[[(usize, Wrench); 2]]) -> (Vec<f64>, f64) {
        let e = &mut self.equations;
        let length = e.model.length;
        let size = |v: &Twist| v.v.norm().max(length * v.w.norm());
        let mut v = vec![Twist::zero(); e.p.inverse.len()];
        let mut largest = 0.0_f64;
        for (b, x) in rows.iter().flatten().filter(|(b, _)| *b != 0) {
            let alone = e.p.inverse[*b].apply(x);
            largest = largest.max(size(&alone));
            v[*b] = v[*b].plus(&alone);
        }
        let mut lambda = vec![0.0; e.p.x.len()];
        for _ in 0..2 * ROUNDS {
            e.set.multiply(&e.G, &v, &mut e.p.x);
            e.normal_part();
            let scale = e.p.scale;
            lambda.iter_mut().zip(&e.p.x).for_each(|(l, x)| *l += scale * x);
            for (v, d) in v.iter_mut().zip(&e.p.dq).skip(1) {
                v.v -= d.v;
                v.w -= d.w;
            }
        }
        let left = v.iter().map(size).fold(0.0, f64::max);
        (lambda, if largest > 0.0 { left / largest } else { 0.0 })
    }

    /// Reactions and efforts of multipliers at the state of the constraints, the smallest where they are not unique.
    pub fn loads(&self, lambda: &[f64], at: &Configuration) -> Instant {
        let (model, set) = (self.equations.model, &self.equations.set);
        let mut out = Instant::new(model, at);
        LeastLoads::new(model, set, &at.q).fill(model, set, lambda, &mut out);
        out
    }

    /// What a unit impulse along a row would do to its rate through one body, were the body free.
    pub fn free(&self, body: usize, row: &Wrench) -> f64 {
        if body == 0 { 0.0 } else { row.power(&self.equations.p.inverse[body].apply(row)) }
    }

    /// Responses to unit impulses along the gaps of some limits, and the matrix of what they do to the rates of the gaps.
    pub fn responses(&mut self, model: &Model, q: &[Pose], limits: &[&Limit]) -> (Vec<Vec<Twist>>, DMatrix<f64>) {
        let rows: Vec<_> = limits.iter().map(|l| l.row(model, q)).collect();
        let responses: Vec<Vec<Twist>> = rows.iter().map(|r| self.response(r)).collect();
        let along = |r: &[(usize, Wrench); 2], v: &[Twist]| r.iter().map(|(b, x)| x.power(&v[*b])).sum::<f64>();
        let n = limits.len();
        let mut G = DMatrix::from_fn(n, n, |i, j| along(&rows[i], &responses[j]));
        // What is left of a row that the constraints hold is rounding.
        for i in 0..n {
            let free: f64 = rows[i].iter().filter(|(b, _)| *b != 0).map(|(b, x)| x.power(&self.equations.p.inverse[*b].apply(x))).sum();
            if G[(i, i)] < 1e-11 * free {
                G.row_mut(i).fill(0.0);
                G.column_mut(i).fill(0.0);
            }
        }
        (responses, G)
    }
}

/// Solves `0 <= x` with `G x + b >= 0` and `x (G x + b) = 0` for a symmetric positive semidefinite `G` by an active set; `None` where
/// there is no solution, with the row that cannot be met.
pub fn complementary(G: &DMatrix<f64>, b: &DVector<f64>) -> Result<DVector<f64>, usize> {
    let n = b.len();
    let size = b.amax().max(f64::MIN_POSITIVE);
    let slack = 1e-12 * size;
    let mut active: Vec<usize> = Vec::new();
    let mut x = DVector::zeros(n);
    for _ in 0..4 * n + 8 {
        let r = G * &x + b;
        // The most violated row joins.
        let next = (0..n).filter(|i| !active.contains(i) && r[*i] < -slack).min_by(|i, j| r[*i].total_cmp(&r[*j]));
        let Some(next) = next else { return Ok(x) };
        if G[(next, next)] <= 0.0 {
            return Err(next);
        }
        active.push(next);
        loop {
            let sub = DMatrix::from_fn(active.len(), active.len(), |i, j| G[(active[i], active[j])]);
            let rhs = DVector::from_fn(active.len(), |i, _| -b[active[i]]);
            let top = sub.amax();
            let Ok(y) = sub.svd(true, true).solve(&rhs, 1e-11 * top) else { return Err(next) };
            if y.iter().all(|y| *y >= 0.0) {
                x.fill(0.0);
                active.iter().zip(y.iter()).for_each(|(i, y)| x[*i] = *y);
                break;
            }
            // As far towards the solution as all stay positive; who reaches zero leaves.
            let mut step = 1.0_f64;
            for (k, i) in active.iter().enumerate() {
                if y[k] < 0.0 {
                    step = step.min(x[*i] / (x[*i] - y[k]));
                }
            }
            for (k, i) in active.iter().enumerate() {
                x[*i] += step * (y[k] - x[*i]);
            }
            let least = active.iter().enumerate().filter(|(k, _)| y[*k] < 0.0).min_by(|a, b| x[*a.1].total_cmp(&x[*b.1])).map(|(k, _)| k);
            let Some(k) = least else { return Err(next) };
            x[active[k]] = 0.0;
            active.remove(k);
            if active.is_empty() {
                break;
            }
        }
    }
    Ok(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complementarity_problems_are_solved() {
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        for n in 1..7 {
            for rank in 1..=n {
                for _ in 0..200 {
                    let A = DMatrix::from_fn(n, rank, |_, _| random());
                    let G = &A * A.transpose();
                    // A right-hand side that some velocities give has a solution.
                    let b = &A * DVector::from_fn(rank, |_, _| random());
                    let Ok(x) = complementary(&G, &b) else { panic!("{n} {rank}") };
                    let r = &G * &x + &b;
                    assert!(
                        x.iter().all(|x| *x >= 0.0) && r.iter().all(|r| *r > -1e-9) && x.dot(&r).abs() < 1e-9 * (1.0 + x.norm()),
                        "{n} {rank}: {x} {r}"
                    );
                }
            }
        }
        // A row that nothing moves and that has to move has none.
        assert_eq!(complementary(&DMatrix::zeros(1, 1), &DVector::from_vec(vec![-1.0])), Err(0));
    }
}
