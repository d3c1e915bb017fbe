//! Projection stages: the carried derivatives k + d_j move to the nearest point of the equations' derivatives k + c_i.
//!
//! Gauss-Newton: the correction dx of least weighted length with G dx = -f solves [W^-1 G^T; G 0]. With every
//! constraint eliminated after its variables no pivot vanishes while the rows of G are independent.

use crate::Error;
use crate::engine::Engine;
use crate::linalg::{Factor, saddle_pairing};
use crate::plan::Plan;
use crate::problem::Problem;

/// One stage below zero that has equations.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    pub stage: i32,
    pub equations: Vec<u32>,
    pub variables: Vec<u32>,
    /// Entries of the system Jacobian used: (position, equation and variable in the local numbering).
    pub entries: Vec<(u32, u32, u32)>,
    /// Stages with the same equations and variables share one factorisation, kept with the first of them.
    group: usize,
    pub factor: Option<Factor>,
    values: Vec<f64>,
    right: Vec<f64>,
}

impl Projection {
    pub fn all(problem: &Problem, plan: &Plan, dense_limit: usize) -> Vec<Projection> {
        let (c, d) = (problem.structure.c(), problem.structure.d());
        let mut all: Vec<Projection> = Vec::new();
        for k in (1..=plan.d_max).rev() {
            let equations: Vec<u32> = (0..c.len() as u32).filter(|&i| c[i as usize] >= k).collect();
            if equations.is_empty() {
                continue;
            }
            let variables: Vec<u32> = (0..d.len() as u32).filter(|&j| d[j as usize] >= k).collect();
            let group = all.iter().position(|p| p.equations == equations && p.variables == variables).unwrap_or(all.len());
            let (nv, ne) = (variables.len(), equations.len());
            let mut entries = Vec::new();
            let mut pattern: Vec<(u32, u32)> = (0..nv as u32).map(|j| (j, j)).collect();
            let mut variable_at = vec![u32::MAX; d.len()];
            variables.iter().enumerate().for_each(|(a, &j)| variable_at[j as usize] = a as u32);
            let mut equation_at = vec![u32::MAX; c.len()];
            equations.iter().enumerate().for_each(|(a, &i)| equation_at[i as usize] = a as u32);
            for (at, &(i, j)) in plan.jacobian.iter().enumerate() {
                let (a, b) = (equation_at[i as usize], variable_at[j as usize]);
                if a != u32::MAX && b != u32::MAX {
                    entries.push((at as u32, a, b));
                    pattern.push((nv as u32 + a, b));
                    pattern.push((b, nv as u32 + a));
                }
            }
            let n = nv + ne;
            let factor = (group == all.len()).then(|| Factor::new(n, &pattern, dense_limit, || saddle_pairing(n, nv, &pattern)));
            all.push(Projection {
                stage: -(k as i32),
                equations,
                variables,
                values: vec![0.0; nv + 2 * entries.len()],
                entries,
                group,
                factor,
                right: vec![0.0; n],
            });
        }
        all
    }
}

impl Engine {
    /// Projects stage `k`. `factored` remembers which group was factored in this expansion.
    pub fn project_stage(&mut self, k: i32, factored: &mut usize) -> Result<(), Error> {
        let Some(at) = self.projections.iter().position(|p| p.stage == k) else {
            return Ok(());
        };
        let nonlinear = self.plan.nonlinear.get((-k) as usize).copied().unwrap_or(false);
        let group = self.projections[at].group;
        for iteration in 0..4 {
            if *factored != group || iteration > 0 {
                self.linearise(k);
                let mut p = std::mem::replace(&mut self.projections[at], Projection::empty());
                self.set_values(&mut p, k);
                let f = if group == at { &mut p.factor } else { &mut self.projections[group].factor };
                let pivot = f.as_mut().map_or(0.0, |f| f.factor(&p.values));
                self.projections[at] = p;
                if pivot <= 0.0 {
                    return Err(self.unprojectable());
                }
                *factored = group;
            }
            let size = self.apply(at, group, k)?;
            self.taylor.stage(k);
            // The next correction would be of the square of this one, in a linear stage of its rounding.
            if !nonlinear || size < 1e-7 {
                return Ok(());
            }
        }
        Ok(())
    }

    fn set_values(&self, p: &mut Projection, k: i32) {
        let nv = p.variables.len();
        for (a, &j) in p.variables.iter().enumerate() {
            let w = self.weight[j as usize] * self.unit(k, self.d(j as usize));
            p.values[a] = 1.0 / (w * w);
        }
        // A common factor changes nothing but the balance of the two kinds of rows.
        let largest = p.values[..nv].iter().fold(0.0f64, |m, v| m.max(*v));
        if largest > 0.0 && largest.is_finite() {
            p.values[..nv].iter_mut().for_each(|v| *v /= largest);
        }
        for (n, &(at, _, _)) in p.entries.iter().enumerate() {
            p.values[nv + 2 * n] = self.jacobian[at as usize];
            p.values[nv + 2 * n + 1] = self.jacobian[at as usize];
        }
    }

    /// One correction; returns its largest size in units of the weights.
    fn apply(&mut self, at: usize, group: usize, k: i32) -> Result<f64, Error> {
        let mut p = std::mem::replace(&mut self.projections[at], Projection::empty());
        let nv = p.variables.len();
        p.right[..nv].fill(0.0);
        for (a, &i) in p.equations.iter().enumerate() {
            p.right[nv + a] = -self.residual(i as usize, k);
        }
        let f = if group == at { &mut p.factor } else { &mut self.projections[group].factor };
        if let Some(f) = f {
            f.solve(&mut p.right);
        }
        let mut size = 0.0f64;
        for (a, &j) in p.variables.iter().enumerate() {
            let change = self.correct(j as usize, k, p.right[a]).abs() / self.weight[j as usize];
            size = if change <= size { size } else { change };
            if change > self.moved.0 {
                self.moved = (change, j as usize, (k + self.d(j as usize) as i32) as usize);
            }
        }
        self.projections[at] = p;
        if size.is_finite() {
            return Ok(size);
        }
        let place = self.problem.equations[self.projections[at].equations[0] as usize].clone();
        self.taylor.clear();
        Err(Error::NonFinite { t: self.taylor.t, place })
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

impl Projection {
    /// Placeholder while the real one is borrowed; holds no storage.
    fn empty() -> Self {
        Projection {
            stage: 0,
            equations: Vec::new(),
            variables: Vec::new(),
            entries: Vec::new(),
            group: 0,
            factor: None,
            values: Vec::new(),
            right: Vec::new(),
        }
    }
}
