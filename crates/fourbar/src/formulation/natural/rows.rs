//! Constraint rows and which of them are independent.
//!
//! Rows are taken in the order drives, rigidity, joints, closures, so that the omitted rows are loop closures. A row is kept if its
//! gradient does not vanish in the elimination with the preceding rows. The rank is determined at the start and at two positions nearby: if
//! it is larger there, the start is singular, and the choice made there is used.

use crate::random::Random;
use fourbar_dae::{Node, Tape};
use nalgebra::{DMatrix, DVector};
use std::collections::{BTreeMap, HashMap};

/// Purpose of a row; rows are kept in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A drive or another prescribed motion.
    Drive,
    /// Rigidity of a part.
    Rigid,
    /// A joint equation other than sharing.
    Joint,
    /// Closure of a loop by a quantity known twice.
    Closure,
}

/// The constraint `value = 0`.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name, unique.
    pub name: String,
    /// Its left-hand side.
    pub value: Node,
    /// Its purpose.
    pub class: Class,
    /// Minus the partial derivative by time, for rows that prescribe a motion.
    pub nu: Option<Node>,
    /// The drive of the row.
    pub drive: Option<usize>,
}

/// A row of length one counts as dependent if its largest entry after elimination is below this.
const DEPENDENT: f64 = 1e-8;
/// A row with a gradient below the first value, in squares of the largest weight, is empty up to rounding: no coordinate changes it. Rows
/// between directions contain no length, so that the limit is at least the second and at most the third value.
const NOISE: [f64; 3] = [1e-11, 1e-14, 1e-7];
/// A pivot is at least this fraction of the largest remaining entry of its row.
const PIVOT: f64 = 0.1;
/// A choice by pivoting replaces the one in order if its smallest pivot is larger by this factor.
const MUCH_BETTER: f64 = 10.0;
/// Up to this many rows the rank is determined at displaced positions too.
const DENSE: usize = 300;

/// Length of a gradient.
fn size(gradient: &[(usize, f64)]) -> f64 {
    gradient.iter().map(|(_, d)| d * d).sum::<f64>().sqrt()
}

/// The constraints of a mechanism as functions of its coordinates.
pub struct Rows<'a> {
    /// The tape on which they are recorded.
    pub tape: &'a Tape,
    /// The rows.
    pub rows: &'a [Row],
    /// Size relative to which changes of each variable are measured; zero for prescribed variables.
    pub weight: &'a [f64],
}

/// The independent rows, and whether the rank at the start is lower than nearby.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Rows that are kept.
    pub active: Vec<bool>,
    /// Whether the start is a singular position.
    pub singular: bool,
}

impl Rows<'_> {
    /// Values and weighted gradients of all rows.
    fn evaluate(&self, t: f64, x: &[f64]) -> (Vec<f64>, Vec<Vec<(usize, f64)>>) {
        let list = self.tape.needed(self.rows.iter().map(|r| r.value));
        let mut known = vec![0.0; self.tape.len()];
        self.tape.eval(&list, t, x, &mut known);
        let mut adjoint = vec![0.0; self.tape.len()];
        let mut values = Vec::with_capacity(self.rows.len());
        let mut gradients = Vec::with_capacity(self.rows.len());
        for r in self.rows {
            values.push(r.value.among(&known));
            let mut g = self.tape.gradient(r.value, &known, &mut adjoint);
            g.iter_mut().for_each(|(j, d)| *d *= self.weight[*j]);
            g.retain(|(_, d)| *d != 0.0);
            gradients.push(g);
        }
        (values, gradients)
    }

    /// Gradients below this are rounding.
    fn noise(&self) -> f64 {
        let largest = self.weight.iter().fold(0.0_f64, |m, w| m.max(*w));
        (NOISE[0] * largest * largest).clamp(NOISE[1], NOISE[2])
    }

    /// Which rows depend on some coordinate at a position.
    fn moved(&self, t: f64, x: &[f64]) -> Vec<bool> {
        let noise = self.noise();
        self.evaluate(t, x).1.iter().map(|g| size(g) >= noise).collect()
    }

    /// Which of the `asked` rows are independent at a position.
    fn independent(&self, t: f64, x: &[f64], asked: &[bool]) -> Vec<bool> {
        let noise = self.noise();
        let (_, gradients) = self.evaluate(t, x);
        let mut order: Vec<usize> = (0..self.rows.len()).filter(|&k| asked[k]).collect();
        order.sort_by_key(|&k| (self.rows[k].class, k));
        // Columns that no later row contains make pivots that are never used again, which keeps the elimination short.
        let mut last_use = vec![0; self.weight.len()];
        order.iter().enumerate().for_each(|(at, &k)| gradients[k].iter().for_each(|(j, _)| last_use[*j] = at));
        let mut pivots: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
        let mut pivot_of: HashMap<usize, usize> = HashMap::new();
        let mut keep = vec![false; self.rows.len()];
        for k in order {
            let size = size(&gradients[k]);
            if size < noise {
                continue;
            }
            let mut row: BTreeMap<usize, f64> = gradients[k].iter().map(|(j, d)| (*j, d / size)).collect();
            // A pivot row contains no column of an earlier pivot, so that processing them in order terminates.
            let mut open: std::collections::BTreeSet<usize> = row.keys().filter_map(|j| pivot_of.get(j).copied()).collect();
            while let Some(p) = open.pop_first() {
                let (column, pivot) = &pivots[p];
                let Some(factor) = row.remove(column).filter(|f| *f != 0.0) else { continue };
                for (j, d) in pivot.iter().filter(|(j, _)| j != column) {
                    *row.entry(*j).or_insert(0.0) -= factor * d;
                    if let Some(q) = pivot_of.get(j) {
                        open.insert(*q);
                    }
                }
            }
            let largest = row.values().fold(0.0f64, |m, d| m.max(d.abs()));
            let fit = row.iter().filter(|(_, d)| d.abs() >= PIVOT * largest).min_by_key(|(j, _)| last_use[**j]);
            if let Some((&column, _)) = fit.filter(|_| largest > DEPENDENT) {
                let top = row[&column];
                pivot_of.insert(column, pivots.len());
                pivots.push((column, row.into_iter().filter(|(_, d)| d.abs() > 1e-16 * largest).map(|(j, d)| (j, d / top)).collect()));
                keep[k] = true;
            }
        }
        keep
    }

    /// Chooses independent rows at a start.
    pub fn choose(&self, t: f64, x: &[f64]) -> Chosen {
        let count = |keep: &[bool]| keep.iter().filter(|k| **k).count();
        // A row that no coordinate changes at the start cannot be used there. At positions nearby, which in the singular case satisfy the
        // rows with reduced accuracy, rounding would be taken for its gradient.
        let moved = self.moved(t, x);
        let mut active = self.independent(t, x, &moved);
        let mut singular = false;
        if count(&active) < self.rows.len() && self.rows.len() <= DENSE {
            let mut random = Random(7);
            for _ in 0..2 {
                let Some(near) = self.displaced(t, x, &mut random) else { continue };
                let other = self.independent(t, &near, &moved);
                if count(&other) > count(&active) {
                    active = other;
                    singular = true;
                }
            }
        }
        // Rows in order are easier to name, but a much better conditioned choice is preferred.
        if count(&active) < self.rows.len()
            && !singular
            && let Some((better, gain)) = self.better(t, x, &active)
            && gain > MUCH_BETTER
        {
            active = better;
        }
        Chosen { active, singular }
    }

    /// The best conditioned choice of as many rows as in `active`, by pivoting, and the factor by which its smallest pivot exceeds that of
    /// `active`. `None` for large mechanisms.
    pub fn better(&self, t: f64, x: &[f64], active: &[bool]) -> Option<(Vec<bool>, f64)> {
        if self.rows.len() > DENSE {
            return None;
        }
        let (_, gradients) = self.evaluate(t, x);
        let (n, noise) = (x.len(), self.noise());
        let rank = active.iter().filter(|a| **a).count();
        let pivoted = |allowed: &dyn Fn(usize) -> bool| {
            let mut g: Vec<Vec<f64>> = vec![vec![0.0; n]; self.rows.len()];
            for (row, list) in g.iter_mut().zip(&gradients) {
                let size = size(list);
                if size >= noise {
                    list.iter().for_each(|(j, d)| row[*j] = d / size);
                }
            }
            let mut keep = vec![false; self.rows.len()];
            let mut least = 1.0f64;
            for _ in 0..rank {
                // Rows of drives are always kept.
                let left = |k: &usize| !keep[*k] && allowed(*k);
                let size = |k: usize| g[k].iter().map(|d| d * d).sum::<f64>();
                let drive = (0..g.len()).filter(left).find(|&k| self.rows[k].class == Class::Drive);
                let Some(k) = drive.or_else(|| (0..g.len()).filter(left).max_by(|&a, &b| size(a).total_cmp(&size(b)))) else { break };
                let length = size(k).sqrt();
                keep[k] = true;
                least = least.min(length);
                if length > 0.0 {
                    let e: Vec<f64> = g[k].iter().map(|d| d / length).collect();
                    for row in &mut g {
                        let p: f64 = row.iter().zip(&e).map(|(a, b)| a * b).sum();
                        row.iter_mut().zip(&e).for_each(|(a, b)| *a -= p * b);
                    }
                }
            }
            (keep, least)
        };
        let (_, now) = pivoted(&|k| active[k]);
        let (keep, best) = pivoted(&|_| true);
        Some((keep, best / now.max(f64::MIN_POSITIVE)))
    }

    /// A position nearby that satisfies all rows except those of drives.
    fn displaced(&self, t: f64, x: &[f64], random: &mut Random) -> Option<Vec<f64>> {
        let held: Vec<usize> = (0..self.rows.len()).filter(|&k| self.rows[k].class != Class::Drive).collect();
        let n = x.len();
        let system = |x: &[f64]| {
            let (values, gradients) = self.evaluate(t, x);
            let mut G = DMatrix::zeros(held.len(), n);
            for (i, &k) in held.iter().enumerate() {
                gradients[k].iter().for_each(|(j, d)| G[(i, *j)] = *d);
            }
            (DVector::from_iterator(held.len(), held.iter().map(|&k| values[k])), G)
        };
        // Least change that compensates `f`; a small damping permits redundant rows.
        let answer = |G: &DMatrix<f64>, f: &DVector<f64>| {
            let mut S = G * G.transpose();
            let damping = 1e-12 * S.trace().max(f64::MIN_POSITIVE);
            (0..S.nrows()).for_each(|i| S[(i, i)] += damping);
            S.cholesky().map(|c| G.transpose() * c.solve(f))
        };
        let (_, G) = system(x);
        let d = DVector::from_iterator(n, (0..n).map(|_| random.number()));
        let d = &d - answer(&G, &(&G * &d))?;
        let size = d.amax();
        if size < 1e-6 {
            return None;
        }
        let mut near: Vec<f64> = (0..n).map(|j| x[j] + 0.05 * self.weight[j] * d[j] / size).collect();
        for _ in 0..30 {
            let (f, G) = system(&near);
            if f.amax() < 1e-13 * f.len() as f64 {
                break;
            }
            let y = answer(&G, &f)?;
            (0..n).for_each(|j| near[j] -= self.weight[j] * y[j]);
        }
        let (f, _) = system(&near);
        (f.amax() < 1e-10).then_some(near)
    }
}
