//! Rank and free motions of large mechanisms, by eliminating one body after the other.
//!
//! The rows on a body are turned by reflections until as many of them as its velocity needs stand alone; the others no longer
//! touch it and are rows between its neighbours. Every decision about rank is thus made on a few rows of unit length, whatever
//! the size of the mechanism, and nothing is squared. Bodies with the fewest neighbours go first: chains, trees, rings and
//! ladders cost as much per body as one link does, meshes as much as the bodies along a cut through them demand.

use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::state::{Pose, Velocity};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is left of a column or of a row of unit length below this counts as nothing.
const NOTHING: f64 = 1e-8;
/// Rows that may be added to others before dependent ones are looked for: at least so many, or this share of all.
const FRESH: (usize, usize) = (12, 4);

/// What elimination found.
#[derive(Clone, Debug)]
pub struct Eliminated {
    /// Numerical rank.
    pub rank: usize,
    /// The free motions, orthonormal in `(v, L omega)`, where there are no more than asked for.
    pub motions: Option<Vec<Vec<Velocity>>>,
    /// Numbers touched, for statements about cost.
    pub work: usize,
}

/// Rows between some bodies: column by column, six columns per body.
struct Rows {
    bodies: SmallVec<[u32; 4]>,
    count: usize,
    values: Vec<f64>,
    /// Rows that were not looked at for dependence yet.
    fresh: usize,
}

/// What the velocity of an eliminated body is, given those of its neighbours.
struct Step {
    body: usize,
    others: SmallVec<[u32; 4]>,
    /// Columns of the body in the order of their pivots, and how many of them have one.
    order: [usize; 6],
    rank: usize,
    /// The rows with pivots, column by column: six columns of the body, then those of the others.
    values: Vec<f64>,
}

/// Rank of a set of constraints at a pose; the free motions too where there are at most `listed`.
pub fn eliminate(model: &Model, set: &ConstraintSet, q: &[Pose], listed: usize) -> Eliminated {
    let n = model.bodies.len();
    let mut pool = Pool::new(model, set, q);
    let mut queue: BinaryHeap<Reverse<(usize, u32)>> = (1..n).map(|b| Reverse((pool.degree[b], b as u32))).collect();
    let mut done = vec![false; n];
    let (mut rank, mut free) = (0, 0);
    let mut steps = (listed > 0).then(Vec::new);
    while let Some(Reverse((degree, body))) = queue.pop() {
        let b = body as usize;
        if done[b] || degree != pool.degree[b] {
            continue;
        }
        done[b] = true;
        let step = pool.eliminate(b, steps.is_some());
        rank += step.rank;
        free += 6 - step.rank;
        for &o in &step.others {
            queue.push(Reverse((pool.degree[o as usize], o)));
        }
        match &mut steps {
            Some(_) if free > listed => steps = None,
            Some(list) => list.push(step),
            None => {}
        }
    }
    let motions = steps.map(|list| motions(&list, n, free, model.length));
    Eliminated { rank, motions, work: pool.work }
}

/// All rows that are left, and by body.
struct Pool {
    rows: Vec<Option<Rows>>,
    of_body: Vec<Vec<u32>>,
    /// Neighbours of a body, counted once for every group of rows.
    degree: Vec<usize>,
    /// Where a body stands among those of the rows at hand.
    place: Vec<u32>,
    work: usize,
}

impl Pool {
    fn new(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Self {
        let n = model.bodies.len();
        let mut G = vec![0.0; set.values];
        set.jacobian(q, &mut G);
        let mut pool = Self { rows: Vec::new(), of_body: vec![Vec::new(); n], degree: vec![0; n], place: vec![0; n], work: 0 };
        for c in 0..set.list.len() {
            let m = set.row_start[c + 1] - set.row_start[c];
            let blocks = set.blocks_of(c);
            let mut rows = Rows {
                bodies: blocks.iter().map(|b| b.body as u32).collect(),
                count: m,
                values: vec![0.0; 6 * m * blocks.len()],
                fresh: m,
            };
            for (k, b) in blocks.iter().enumerate() {
                for (i, row) in G[b.start..].chunks_exact(6).take(m).enumerate() {
                    for (l, x) in row.iter().enumerate() {
                        rows.values[(6 * k + l) * m + i] = if l < 3 { *x } else { x / model.length };
                    }
                }
            }
            rows.normalise();
            pool.add(rows);
        }
        pool
    }

    fn add(&mut self, rows: Rows) {
        if rows.count == 0 || rows.bodies.is_empty() {
            return;
        }
        for &b in &rows.bodies {
            self.of_body[b as usize].push(self.rows.len() as u32);
            self.degree[b as usize] += rows.bodies.len() - 1;
        }
        self.rows.push(Some(rows));
    }

    /// Takes a body out; its rows become some that give its velocity, and some between its neighbours.
    fn eliminate(&mut self, body: usize, keep: bool) -> Step {
        let parts: Vec<Rows> = std::mem::take(&mut self.of_body[body]).into_iter().filter_map(|k| self.rows[k as usize].take()).collect();
        let mut others: SmallVec<[u32; 4]> = SmallVec::new();
        for part in &parts {
            for &b in &part.bodies {
                self.degree[b as usize] -= part.bodies.len() - 1;
                others.push(b);
            }
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|b| *b as usize != body);
        self.place[body] = 0;
        for (k, &o) in others.iter().enumerate() {
            self.place[o as usize] = k as u32 + 1;
        }
        let count: usize = parts.iter().map(|p| p.count).sum();
        let columns = 6 * (1 + others.len());
        let mut A = Front { rows: count, values: vec![0.0; count * columns], work: 0 };
        let mut first = 0;
        for part in &parts {
            for (k, &b) in part.bodies.iter().enumerate() {
                for l in 0..6 {
                    let from = &part.values[(6 * k + l) * part.count..][..part.count];
                    A.column_mut(6 * self.place[b as usize] as usize + l)[first..first + part.count].copy_from_slice(from);
                }
            }
            first += part.count;
        }
        let mut order: [usize; 6] = std::array::from_fn(|k| k);
        let rank = A.reflect(&mut order);
        let mut values = Vec::new();
        if keep {
            values.reserve(rank * columns);
            (0..columns).for_each(|c| values.extend_from_slice(&A.column(c)[..rank]));
        }
        // What does not touch the body any more.
        let left = count - rank;
        if left > 0 && !others.is_empty() {
            let mut rows = Rows { bodies: others.clone(), count: left, values: Vec::with_capacity(left * (columns - 6)), fresh: 0 };
            (6..columns).for_each(|c| rows.values.extend_from_slice(&A.column(c)[rank..]));
            rows.fresh = parts.iter().map(|p| p.fresh).sum();
            rows.drop_nothing();
            if rows.count > columns - 6 || rows.fresh > FRESH.0.max(rows.count / FRESH.1) {
                rows.reduce(&mut A.work);
            }
            rows.normalise();
            self.add(rows);
        }
        self.work += A.work;
        Step { body, others, order, rank, values }
    }
}

impl Rows {
    /// Keeps the rows that `kept` lists, in their order.
    fn keep(&mut self, kept: &[usize]) {
        let columns = 6 * self.bodies.len();
        let mut values = Vec::with_capacity(kept.len() * columns);
        for c in 0..columns {
            values.extend(kept.iter().map(|&i| self.values[c * self.count + i]));
        }
        (self.values, self.count) = (values, kept.len());
    }

    fn norms(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.count];
        for column in self.values.chunks_exact(self.count.max(1)) {
            norms.iter_mut().zip(column).for_each(|(n, x)| *n += x * x);
        }
        norms.iter_mut().for_each(|n| *n = n.sqrt());
        norms
    }

    /// Drops rows that say nothing.
    fn drop_nothing(&mut self) {
        let kept: Vec<usize> = self.norms().iter().enumerate().filter(|(_, n)| **n > NOTHING).map(|(i, _)| i).collect();
        if kept.len() < self.count {
            self.keep(&kept);
        }
    }

    /// Makes all rows of unit length.
    fn normalise(&mut self) {
        self.drop_nothing();
        let norms = self.norms();
        for column in self.values.chunks_exact_mut(self.count.max(1)) {
            column.iter_mut().zip(&norms).for_each(|(x, n)| *x /= n);
        }
    }

    /// Replaces the rows by as many as are independent.
    fn reduce(&mut self, work: &mut usize) {
        let mut A = Front { rows: self.count, values: std::mem::take(&mut self.values), work: 0 };
        let mut order: Vec<usize> = (0..6 * self.bodies.len()).collect();
        let rank = A.reflect(&mut order);
        self.values = A.values;
        self.keep(&(0..rank).collect::<Vec<_>>());
        self.fresh = 0;
        *work += A.work;
    }
}

/// A dense matrix, column by column.
struct Front {
    rows: usize,
    values: Vec<f64>,
    work: usize,
}

impl Front {
    fn column(&self, c: usize) -> &[f64] {
        &self.values[c * self.rows..(c + 1) * self.rows]
    }

    fn column_mut(&mut self, c: usize) -> &mut [f64] {
        &mut self.values[c * self.rows..(c + 1) * self.rows]
    }

    /// Reflects rows until the columns of `order` have pivots below each other, the largest first; gives the number of pivots. All columns take part in the reflections, and `order` is put into the order of the pivots.
    fn reflect(&mut self, order: &mut [usize]) -> usize {
        let m = self.rows;
        // A body that nothing holds any more.
        if m == 0 {
            return 0;
        }
        let columns = self.values.len() / m;
        let mut norms = vec![0.0_f64; columns];
        for &c in order.iter() {
            norms[c] = self.column(c).iter().map(|x| x * x).sum();
        }
        let mut passed = vec![false; columns];
        let mut u = vec![0.0; m];
        let mut rank = 0;
        while rank < order.len() && rank < m {
            let top = rank;
            let Some(best) = (rank..order.len()).max_by(|&a, &b| norms[order[a]].total_cmp(&norms[order[b]])) else { break };
            let c = order[best];
            // Norms are carried along by subtraction, which loses digits: the pivot itself is measured.
            let exact: f64 = self.column(c)[top..].iter().map(|x| x * x).sum();
            if exact < 0.5 * norms[c] {
                norms[c] = exact;
                continue;
            }
            let size = exact.sqrt();
            if size <= NOTHING {
                // Others may have been underrated.
                let again: Vec<usize> = order[rank..].to_vec();
                let mut largest = 0.0_f64;
                for c in again {
                    norms[c] = self.column(c)[top..].iter().map(|x| x * x).sum();
                    largest = largest.max(norms[c]);
                }
                if largest.sqrt() <= NOTHING {
                    break;
                }
                continue;
            }
            order.swap(rank, best);
            passed[c] = true;
            u[top..].copy_from_slice(&self.values[c * m + top..(c + 1) * m]);
            let alpha = if u[top] > 0.0 { -size } else { size };
            u[top] -= alpha;
            let scale = 2.0 / u[top..].iter().map(|x| x * x).sum::<f64>();
            for k in 0..columns {
                // Columns that have their pivots are zero down here.
                if passed[k] && k != c {
                    continue;
                }
                let column = &mut self.values[k * m + top..(k + 1) * m];
                if k == c {
                    column.fill(0.0);
                    column[0] = alpha;
                    continue;
                }
                let s = scale * column.iter().zip(&u[top..]).map(|(x, u)| x * u).sum::<f64>();
                if s != 0.0 {
                    column.iter_mut().zip(&u[top..]).for_each(|(x, u)| *x -= s * u);
                }
                norms[k] = (norms[k] - column[0] * column[0]).max(0.0);
            }
            self.work += 2 * columns * (m - top);
            rank += 1;
        }
        rank
    }
}

/// The free motions: each lets one column without a pivot move, and the bodies before follow.
fn motions(steps: &[Step], bodies: usize, free: usize, L: f64) -> Vec<Vec<Velocity>> {
    // Columns of all motions for every body: x[6 b + column][motion].
    let mut x = vec![0.0; 6 * bodies * free];
    let mut next = 0;
    let mut sum = vec![0.0; free];
    for step in steps.iter().rev() {
        let at = |b: usize, l: usize| (6 * b + l) * free;
        for &l in &step.order[step.rank..] {
            x[at(step.body, l) + next] = 1.0;
            next += 1;
        }
        for i in (0..step.rank).rev() {
            sum.fill(0.0);
            let mut take = |coefficient: f64, from: usize, x: &[f64]| {
                if coefficient != 0.0 {
                    sum.iter_mut().zip(&x[from..from + free]).for_each(|(s, x)| *s += coefficient * x);
                }
            };
            for &l in &step.order[i + 1..] {
                take(step.values[l * step.rank + i], at(step.body, l), &x);
            }
            for (k, &o) in step.others.iter().enumerate() {
                for l in 0..6 {
                    take(step.values[(6 * (k + 1) + l) * step.rank + i], at(o as usize, l), &x);
                }
            }
            let pivot = step.values[step.order[i] * step.rank + i];
            let to = at(step.body, step.order[i]);
            x[to..to + free].iter_mut().zip(&sum).for_each(|(x, s)| *x = -s / pivot);
        }
    }
    orthonormal(&mut x, free);
    (0..free)
        .map(|k| {
            let part = |b: usize, l: usize| x[(6 * b + l) * free + k];
            (0..bodies)
                .map(|b| Velocity {
                    v: nalgebra::Vector3::from_fn(|l, _| part(b, l)),
                    w: nalgebra::Vector3::from_fn(|l, _| part(b, 3 + l) / L),
                })
                .collect()
        })
        .collect()
}

/// Makes the columns of `x`, stored row by row, orthonormal.
fn orthonormal(x: &mut [f64], columns: usize) {
    for k in 0..columns {
        for _ in 0..2 {
            for e in 0..k {
                let s: f64 = x.chunks_exact(columns).map(|row| row[k] * row[e]).sum();
                x.chunks_exact_mut(columns).for_each(|row| row[k] -= s * row[e]);
            }
        }
        let size = x.chunks_exact(columns).map(|row| row[k] * row[k]).sum::<f64>().sqrt();
        if size > 0.0 {
            x.chunks_exact_mut(columns).for_each(|row| row[k] /= size);
        }
    }
}
