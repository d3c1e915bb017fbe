//! Projection stages: the carried derivatives k + d_j move to the nearest point of the equations' derivatives k + c_i.
//!
//! Gauss-Newton: the correction dx of least weighted length with G dx = -f solves [W^-2 G^T; G 0]. It is solved for dx/W and with
//! rows R G W of length one, [a (RGW)^T; RGW 0]: a constraint that is eliminated after most of its variables then has a pivot
//! that is no smaller than its other entries, and none vanishes while the rows of G are independent.

use super::Engine;
use crate::Error;
use crate::plan::Plan;
use crate::problem::Problem;
use fourbar_math::factor::{Factor, PREFER, saddle_pairing};

/// The number a on the diagonal. A row whose component outside the span of those before it has small size s gives a pivot of s^2/a: a small
/// a allows positions closer to singular ones; but a must be large enough to be chosen as a pivot before the other entries of its column.
const DIAGONAL: f64 = 0.05;

/// Projection stages (k < 0) with the same equations and variables, which share one factorisation.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    pub stages: Vec<i32>,
    pub equations: Vec<u32>,
    pub variables: Vec<u32>,
    /// Entries of the system Jacobian used: (position, equation and variable in the local numbering).
    entries: Vec<(u32, u32, u32)>,
    pub factor: Factor,
    values: Vec<f64>,
    /// Units of the unknowns: W of the variables, R of the equations.
    pub scale: Vec<f64>,
    pub right: Vec<f64>,
}

impl Projection {
    pub fn all(problem: &Problem, plan: &Plan, dense_limit: usize) -> Vec<Projection> {
        let mut all: Vec<Projection> = Vec::new();
        for k in (1..=plan.d_max).rev() {
            let (equations, variables) = taking_part(problem, k);
            if equations.is_empty() {
                continue;
            }
            match all.iter_mut().find(|p| p.equations == equations && p.variables == variables) {
                Some(p) => p.stages.push(-(k as i32)),
                None => all.push(Projection::new(problem, plan, k, dense_limit, PREFER)),
            }
        }
        all
    }

    /// The projection of stage -k. A constraint is its own pivot if that is at least the share `prefer` of the largest one possible.
    pub fn new(problem: &Problem, plan: &Plan, k: usize, dense_limit: usize, prefer: f64) -> Projection {
        let (equations, variables) = taking_part(problem, k);
        let (nv, ne, n) = (variables.len(), equations.len(), problem.variables.len());
        let mut entries = Vec::new();
        let mut pattern: Vec<(u32, u32)> = (0..nv as u32).map(|j| (j, j)).collect();
        let mut variable_at = vec![u32::MAX; n];
        variables.iter().enumerate().for_each(|(a, &j)| variable_at[j as usize] = a as u32);
        let mut equation_at = vec![u32::MAX; n];
        equations.iter().enumerate().for_each(|(a, &i)| equation_at[i as usize] = a as u32);
        for (at, &(i, j)) in plan.jacobian.iter().enumerate() {
            let (a, b) = (equation_at[i as usize], variable_at[j as usize]);
            if a != u32::MAX && b != u32::MAX {
                entries.push((at as u32, a, b));
                pattern.push((nv as u32 + a, b));
                pattern.push((b, nv as u32 + a));
            }
        }
        Projection {
            stages: vec![-(k as i32)],
            equations,
            variables,
            factor: Factor::new(nv + ne, &pattern, dense_limit, || saddle_pairing(nv + ne, nv, &pattern, prefer)),
            values: vec![DIAGONAL; nv + 2 * entries.len()],
            entries,
            scale: vec![1.0; nv + ne],
            right: vec![0.0; nv + ne],
        }
    }

    /// Forms the matrix with the weights W in `scale` and factorises it; returns the pivot ratio, zero on failure.
    pub fn factor(&mut self, jacobian: &[f64]) -> f64 {
        let nv = self.variables.len();
        let (w, r) = self.scale.split_at_mut(nv);
        r.fill(0.0);
        for (value, &(at, a, b)) in self.values[nv..].chunks_exact_mut(2).zip(&self.entries) {
            value[0] = jacobian[at as usize] * w[b as usize];
            r[a as usize] += value[0] * value[0];
        }
        r.iter_mut().for_each(|r| *r = if *r > 0.0 { 1.0 / r.sqrt() } else { 1.0 });
        for (value, &(_, a, _)) in self.values[nv..].chunks_exact_mut(2).zip(&self.entries) {
            value.fill(value[0] * r[a as usize]);
        }
        self.factor.factor(&self.values)
    }
}

/// Equations and variables of stage -k.
fn taking_part(problem: &Problem, k: usize) -> (Vec<u32>, Vec<u32>) {
    let from = |offsets: &[usize]| (0..offsets.len() as u32).filter(|&i| offsets[i as usize] >= k).collect();
    (from(problem.structure.c()), from(problem.structure.d()))
}

impl Engine {
    /// Projects stage `k`. `factored` records which projection was factorised in this expansion.
    pub fn project_stage(&mut self, k: i32, factored: &mut usize) -> Result<(), Error> {
        let Some(at) = self.projections.iter().position(|p| p.stages.contains(&k)) else {
            return Ok(());
        };
        // Moved out while the rest of the engine is borrowed.
        let mut projections = std::mem::take(&mut self.projections);
        let done = self.project(&mut projections[at], k, *factored == at);
        self.projections = projections;
        *factored = at;
        done
    }

    fn project(&mut self, p: &mut Projection, k: i32, factored: bool) -> Result<(), Error> {
        let nonlinear = self.plan.nonlinear.get((-k) as usize).copied().unwrap_or(false);
        for iteration in 0..4 {
            if !factored || iteration > 0 {
                self.linearise(k);
                for (w, &j) in p.scale.iter_mut().zip(&p.variables) {
                    *w = self.weight[j as usize] * self.unit(k, self.d(j as usize));
                }
                if p.factor(&self.jacobian) <= 0.0 {
                    return Err(self.unprojectable());
                }
            }
            let size = self.apply(p, k)?;
            self.taylor.stage(k);
            // The next correction would be of the order of the square of this one; in a linear stage, of its rounding error.
            if !nonlinear || size < 1e-7 {
                break;
            }
        }
        Ok(())
    }

    /// One correction; returns its largest size in units of the weights.
    fn apply(&mut self, p: &mut Projection, k: i32) -> Result<f64, Error> {
        let nv = p.variables.len();
        p.right[..nv].fill(0.0);
        for (a, &i) in p.equations.iter().enumerate() {
            p.right[nv + a] = -self.residual(i as usize, k) * p.scale[nv + a];
        }
        p.factor.solve(&mut p.right);
        let mut size = 0.0f64;
        for (a, &j) in p.variables.iter().enumerate() {
            let change = self.correct(j as usize, k, p.right[a] * p.scale[a]).abs() / self.weight[j as usize];
            size = if change <= size { size } else { change };
            if change > self.moved.0 {
                self.moved = (change, j as usize, (k + self.d(j as usize) as i32) as usize);
            }
        }
        if size.is_finite() {
            return Ok(size);
        }
        self.taylor.clear();
        Err(Error::NonFinite { t: self.taylor.t, place: self.problem.equations[p.equations[0] as usize].clone() })
    }

    /// The constraints cannot be solved: the Jacobian restricted to them has lost rank.
    fn unprojectable(&mut self) -> Error {
        if self.jacobian.iter().any(|x| !x.is_finite()) {
            self.taylor.clear();
            return Error::NonFinite { t: self.taylor.t, place: self.problem.equations[0].clone() };
        }
        let n = self.weight.len();
        let hidden: Vec<bool> = (0..n).map(|i| self.c(i) > 0).collect();
        let restricted: Vec<f64> =
            (self.plan.jacobian.iter().zip(&self.jacobian)).map(|(&(i, _), &v)| if hidden[i as usize] { v } else { 0.0 }).collect();
        let left = crate::singular::left_null(&self.plan.jacobian, &restricted, n, &hidden);
        crate::singular::describe(&self.problem, self.taylor.t, &left, &vec![0.0; n], 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Number of entries in the factors for a trunk, a weight on a rod, that carries chains of four rods each.
    fn fill(branches: usize) -> usize {
        const LINKS: usize = 4;
        let n = 1 + LINKS * branches;
        let names: Vec<String> = (0..n).flat_map(|i| [format!("x{i}"), format!("y{i}")]).collect();
        let before = |i: usize| if (i - 1).is_multiple_of(LINKS) { 0 } else { i - 1 };
        let problem = Problem::lagrangian(&names, |_, q, v, m| {
            for i in 0..n {
                m.lagrangian((v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]) * 0.5);
                let (mut dx, mut dy) = (q[2 * i], q[2 * i + 1]);
                if i > 0 {
                    (dx, dy) = (dx - q[2 * before(i)], dy - q[2 * before(i) + 1]);
                }
                m.constraint(format!("rod{i}"), dx * dx + dy * dy - 1.0);
            }
        });
        let problem = Arc::new(problem.unwrap());
        let mut engine = Engine::new(Arc::clone(&problem), 4, 0, false);
        let mut state = problem.zero_state(0.0);
        let mut at = vec![[0.0; 2]; n];
        for i in 0..n {
            let [x, y] = if i > 0 { at[before(i)] } else { [0.0; 2] };
            let angle = i as f64;
            at[i] = [x + angle.cos(), y + angle.sin()];
            (0..2).for_each(|k| assert!(state.set(2 * i + k, 0, at[i][k])));
            // Sizes as different as they are if some coordinates start at zero.
            (0..2).for_each(|k| engine.weight[2 * i + k] = at[i][k].abs().max(1e-3));
        }
        engine.enter(&state);
        engine.expand(0.0, 1.0, true).unwrap();
        engine.factors().map(Factor::fill).sum()
    }

    #[test]
    fn fill_grows_with_the_number_of_branches_on_a_trunk() {
        let (few, many) = (fill(25), fill(100));
        // The contribution of the trunk is less than a tenth.
        assert!(many < 4 * few + few / 10, "{few} with 25 branches, {many} with 100");
    }
}
