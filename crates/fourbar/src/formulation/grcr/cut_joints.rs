//! The traditional treatment of loops, for comparison and as an independent check: joints are cut, the response of the tree to unit
//! wrenches is computed for every closing row, and the multipliers follow from one dense m x m matrix, O(n m + m^3).
//!
//! Positions and velocities are closed as in the recursive treatment; only the accelerations are computed differently.

use super::fronts::Fronts;
use super::loop_rows::Closings;
use super::mechanism::Mechanism;
use super::schedule::{Role, Schedule};
use super::spatial::Six;
use nalgebra::{DMatrix, DVector};

/// The tree without loops, and the dense matrix.
pub struct Cut {
    open: Closings,
    schedule: Schedule,
    fronts: Fronts,
    /// `-E a`, active rows by active rows.
    C: DMatrix<f64>,
    f: Vec<Six>,
    a: Vec<Six>,
    udot: Vec<f64>,
}

impl Cut {
    /// For the present choice of dependents.
    pub fn new(m: &Mechanism<'_>) -> Self {
        let roles = m.selection.roles.iter().map(|r| if *r == Role::Dependent { Role::Independent } else { *r }).collect();
        let mut open = m.closings.clone();
        open.list.clear();
        let schedule = Schedule::new(&m.tree, &open, roles);
        let n = m.tree.nodes.len();
        Self {
            fronts: Fronts::new(&m.tree, &schedule),
            C: DMatrix::zeros(m.closings.active, m.closings.active),
            f: vec![Six::default(); n],
            a: vec![Six::default(); n],
            udot: vec![0.0; m.tree.speeds],
            open,
            schedule,
        }
    }

    /// Accelerations at the closed state of the mechanism.
    pub fn accelerate(&mut self, m: &mut Mechanism<'_>, t: f64) {
        m.prepare(t);
        self.fronts.bodies.copy_from_slice(&m.fronts.bodies);
        self.fronts.inward(&m.tree, &self.open, &self.schedule);
        let rows = m.closings.active;
        let mut b = DVector::from_column_slice(&m.closings.g);
        self.f.iter_mut().zip(&m.fronts.bodies).for_each(|(f, b)| *f = b.f);
        self.answer(m);
        self.project(m, |row, x| b[row] -= x);
        for j in 0..rows {
            self.f.fill(Six::default());
            self.pull(m, j, 1.0);
            self.answer(m);
            let mut column = vec![0.0; rows];
            self.project(m, |row, x| column[row] += x);
            self.C.column_mut(j).iter_mut().zip(&column).for_each(|(c, x)| *c = -x);
        }
        // The wrench of a positive multiplier is -E': the matrix is negative definite.
        let lambda = match self.C.clone().cholesky() {
            Some(factor) => -factor.solve(&b),
            None => {
                let solved = fourbar_math::dense::svd(self.C.clone(), true, true).and_then(|svd| svd.solve(&b, 1e-12).ok());
                solved.map_or_else(|| DVector::zeros(rows), |x| -x)
            }
        };
        self.f.iter_mut().zip(&m.fronts.bodies).for_each(|(f, b)| *f = b.f);
        for j in 0..rows {
            self.pull(m, j, lambda[j]);
        }
        self.answer(m);
        m.lambda.copy_from_slice(lambda.as_slice());
        m.fronts.a_hat.copy_from_slice(&self.a);
        for c in 0..self.udot.len() {
            if self.schedule.roles[c] == Role::Prescribed {
                m.fronts.effort[c] = self.udot[c];
            } else {
                m.udot[c] = self.udot[c];
            }
        }
    }

    /// Adds the wrench of multiplier `value` in active row `j`.
    fn pull(&mut self, m: &Mechanism<'_>, j: usize, value: f64) {
        let list = &m.closings.list;
        let c = &list[list.partition_point(|c| c.at + c.active <= j)];
        for (b, &(node, _)) in c.nodes.iter().enumerate() {
            self.f[node] -= Six::of(&m.closings.E[c.e_at + 6 * (c.active * b + j - c.at)..]) * value;
        }
    }

    /// Accelerations of the tree under the forces in `f`; prescribed columns give an effort in place of a rate.
    fn answer(&mut self, m: &Mechanism<'_>) {
        let tree = &m.tree;
        for k in (1..tree.nodes.len()).rev() {
            let n = &tree.nodes[k];
            for c in (n.u..n.u + n.kind.speeds()).rev() {
                let (U, inverse) = self.fronts.column(c);
                let phi = tree.S[c].dot(&self.f[k]);
                self.udot[c] = phi;
                if self.schedule.roles[c] != Role::Prescribed {
                    let factor = phi * inverse;
                    self.f[k] -= *U * factor;
                }
            }
            let f = if n.shift { self.f[k].wrench_at(&-tree.offset(k)) } else { self.f[k] };
            self.f[n.parent] += f;
        }
        for k in 1..tree.nodes.len() {
            let n = &tree.nodes[k];
            let mut x = tree.from_parent(k, &self.a[n.parent]);
            for c in n.u..n.u + n.kind.speeds() {
                let (U, inverse) = self.fronts.column(c);
                let rest = self.udot[c] - x.dot(U);
                if self.schedule.roles[c] == Role::Prescribed {
                    self.udot[c] = -rest;
                } else {
                    self.udot[c] = rest * inverse;
                    x += tree.S[c] * self.udot[c];
                }
            }
            self.a[k] = x;
        }
    }

    /// Passes `E a` to `put` by active row.
    fn project(&self, m: &Mechanism<'_>, mut put: impl FnMut(usize, f64)) {
        for c in &m.closings.list {
            for (b, &(node, _)) in c.nodes.iter().enumerate() {
                for r in 0..c.active {
                    put(c.at + r, self.a[node].dot_slice(&m.closings.E[c.e_at + 6 * (c.active * b + r)..]));
                }
            }
        }
    }
}
