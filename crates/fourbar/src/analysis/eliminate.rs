//! Rank and free motions of large mechanisms, by eliminating one body after the other.
//!
//! The rows on a body are transformed by reflections until as many of them as determine its velocity are separate; the others no longer
//! contain it and are rows between its neighbours. Every rank decision is thus based on a few rows of unit length, whatever the size of the
//! mechanism, and nothing is squared. Bodies with the fewest neighbours go first: the cost per body of chains, trees, rings and ladders is
//! that of one link, and that of meshes depends on the number of bodies along a cut through them.
//!
//! Where all joints keep their bodies in parallel planes, motions in the plane and out of it have no row in common: each body is then
//! represented by two nodes of three columns each. Most nodes of the second kind are held by fixed ones, one after the other, and are
//! removed before the elimination.

use crate::constraint::ConstraintSet;
use crate::joint::Stand;
use crate::model::Model;
use crate::state::{Pose, Twist};
use nalgebra::{Matrix3, Vector3};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Remainders of columns or rows of unit length below this count as zero.
const NOTHING: f64 = 1e-8;
/// Rows that may be added to others before dependent ones are searched for: the first number, or all rows divided by the second if that is
/// more.
const FRESH: (usize, usize) = (12, 4);
/// Rows of unit length whose out-of-plane part is below this are in the plane.
const APART: f64 = 1e-11;
/// Rows hold a body by themselves if no pivot is smaller than this.
const HELD: f64 = 1e-4;
/// Columns of velocities in the plane, and out of it: translations, then rotations.
const PARTS: [[usize; 3]; 2] = [[0, 1, 5], [2, 3, 4]];

/// Result of the elimination.
#[derive(Clone, Debug)]
pub struct Eliminated {
    /// Numerical rank.
    pub rank: usize,
    /// The free motions, orthonormal in `(v, L omega)`, unless there are more than requested.
    pub motions: Option<Vec<Vec<Twist>>>,
    /// Numbers processed, as a measure of cost.
    pub work: usize,
}

/// Columns of a node: the velocity of a body, or its part in the plane or out of it.
#[derive(Clone, Copy, Debug)]
struct Nodes {
    /// World axes, the third one normal to the plane, if velocities separate.
    plane: Option<Matrix3<f64>>,
}

impl Nodes {
    /// Nodes of a body.
    fn parts(self) -> usize {
        if self.plane.is_some() { 2 } else { 1 }
    }

    /// Columns of a node.
    fn width(self) -> usize {
        6 / self.parts()
    }

    /// Velocity of a body from the columns of its nodes.
    fn velocity(self, q: &Pose, L: f64, column: impl Fn(usize, usize) -> f64) -> Twist {
        let Some(N) = self.plane else {
            return Twist { v: Vector3::from_fn(|l, _| column(0, l)), w: Vector3::from_fn(|l, _| column(0, 3 + l) / L) };
        };
        let mut x = [0.0; 6];
        for (part, list) in PARTS.iter().enumerate() {
            list.iter().enumerate().for_each(|(l, &to)| x[to] = column(part, l));
        }
        let [v, w] = [0, 3].map(|k| N.tr_mul(&Vector3::new(x[k], x[k + 1], x[k + 2])));
        Twist { v, w: q.A.tr_mul(&w) / L }
    }
}

/// World axes with the axis of the first hinge as third, if there is one.
fn plane(model: &Model, q: &[Pose]) -> Option<Matrix3<f64>> {
    let hinge = model.joints.iter().find(|j| !j.open && j.kind.in_plane().is_some_and(|p| p.axis == Stand::Along))?;
    let n = q[hinge.bodies[0].index()].A * hinge.F.axis(2);
    let mut x = Vector3::zeros();
    x[n.iamin()] = 1.0;
    let x = (x - n * n.dot(&x)).normalize();
    Some(Matrix3::from_rows(&[x.transpose(), n.cross(&x).transpose(), n.transpose()]))
}

/// Rows between some nodes: column by column, those of a node together.
struct Rows {
    nodes: SmallVec<[u32; 4]>,
    count: usize,
    values: Vec<f64>,
    /// Rows not yet examined for dependence.
    fresh: usize,
}

/// The velocity of an eliminated node as a function of those of its neighbours.
struct Step {
    node: usize,
    others: SmallVec<[u32; 4]>,
    /// Columns of the node in the order of their pivots, and the number of pivots.
    order: SmallVec<[usize; 6]>,
    rank: usize,
    /// The rows with pivots, column by column: the columns of the node, then those of the others.
    values: Vec<f64>,
}

/// Rank of a set of constraints at a pose; also the free motions if there are at most `listed`.
pub fn eliminate(model: &Model, set: &ConstraintSet, q: &[Pose], listed: usize) -> Eliminated {
    let mut pool = Pool::new(model, set, q);
    let mut rank = pool.hold();
    let nodes = pool.of_node.len();
    let parts = pool.kind.parts();
    let mut queue: BinaryHeap<Reverse<(usize, u32)>> =
        (parts..nodes).filter(|&b| !pool.done[b]).map(|b| Reverse((pool.degree[b], b as u32))).collect();
    let mut free = 0;
    let mut steps = (listed > 0).then(Vec::new);
    while let Some(Reverse((degree, node))) = queue.pop() {
        let b = node as usize;
        if pool.done[b] || degree != pool.degree[b] {
            continue;
        }
        let step = pool.eliminate(b, steps.is_some());
        rank += step.rank;
        free += pool.kind.width() - step.rank;
        for &o in &step.others {
            queue.push(Reverse((pool.degree[o as usize], o)));
        }
        match &mut steps {
            Some(_) if free > listed => steps = None,
            Some(list) => list.push(step),
            None => {}
        }
    }
    let motions = steps.map(|list| motions(&list, pool.kind, free, q, model.length));
    Eliminated { rank, motions, work: pool.work }
}

/// All remaining rows, and their lists by node.
struct Pool {
    kind: Nodes,
    rows: Vec<Option<Rows>>,
    of_node: Vec<Vec<u32>>,
    /// Nodes that have been removed.
    done: Vec<bool>,
    /// Number of neighbours of a node, counted once for every group of rows.
    degree: Vec<usize>,
    /// Place of a node among those of the present rows.
    place: Vec<u32>,
    work: usize,
}

impl Pool {
    fn new(model: &Model, set: &ConstraintSet, q: &[Pose]) -> Self {
        let mut G = vec![0.0; set.values];
        set.jacobian(q, &mut G);
        let split = plane(model, q).and_then(|N| Self::filled(model, set, q, &G, Nodes { plane: Some(N) }));
        split.or_else(|| Self::filled(model, set, q, &G, Nodes { plane: None })).unwrap_or_else(|| Self::empty(0, Nodes { plane: None }))
    }

    fn empty(bodies: usize, kind: Nodes) -> Self {
        let n = bodies * kind.parts();
        Self { kind, rows: Vec::new(), of_node: vec![Vec::new(); n], done: vec![false; n], degree: vec![0; n], place: vec![0; n], work: 0 }
    }

    /// With the rows of all constraints; `None` if they do not separate.
    fn filled(model: &Model, set: &ConstraintSet, q: &[Pose], G: &[f64], kind: Nodes) -> Option<Self> {
        let mut pool = Self::empty(model.bodies.len(), kind);
        for c in 0..set.list.len() {
            let m = set.row_start[c + 1] - set.row_start[c];
            let blocks = set.blocks_of(c);
            let mut rows =
                Rows { nodes: blocks.iter().map(|b| b.body as u32).collect(), count: m, values: vec![0.0; 6 * m * blocks.len()], fresh: m };
            for (k, b) in blocks.iter().enumerate() {
                // Rotations are about world axes if the plane is used.
                let turned = kind.plane.map(|N| (N, N * q[b.body].A));
                for (i, row) in G[b.start..].chunks_exact(6).take(m).enumerate() {
                    let (mut v, mut w) = (Vector3::new(row[0], row[1], row[2]), Vector3::new(row[3], row[4], row[5]));
                    if let Some((N, NA)) = &turned {
                        (v, w) = (N * v, NA * w);
                    }
                    for l in 0..3 {
                        rows.values[(6 * k + l) * m + i] = v[l];
                        rows.values[(6 * k + 3 + l) * m + i] = w[l] / model.length;
                    }
                }
            }
            rows.normalise();
            match kind.plane {
                None => pool.add(rows),
                Some(_) => rows.apart()?.into_iter().for_each(|rows| pool.add(rows)),
            }
        }
        Some(pool)
    }

    fn add(&mut self, rows: Rows) {
        if rows.count == 0 || rows.nodes.is_empty() {
            return;
        }
        for &b in &rows.nodes {
            self.of_node[b as usize].push(self.rows.len() as u32);
            self.degree[b as usize] += rows.nodes.len() - 1;
        }
        self.rows.push(Some(rows));
    }

    /// Removes all nodes that are held by their rows to fixed nodes alone, one after the other; returns the rank of these rows.
    fn hold(&mut self) -> usize {
        let width = self.kind.width();
        let mut rank = 0;
        let mut alone: Vec<u32> = (0..self.rows.len() as u32).collect();
        while let Some(k) = alone.pop() {
            let Some(rows) = self.rows[k as usize].as_ref().filter(|r| r.nodes.len() == 1 && r.count >= width) else { continue };
            let mut A = Front { rows: rows.count, values: rows.values.clone(), work: 0 };
            let mut order: SmallVec<[usize; 6]> = (0..width).collect();
            let full = A.reflect(&mut order) == width && A.column(order[width - 1])[width - 1].abs() > HELD;
            self.work += A.work;
            if !full {
                continue;
            }
            let node = rows.nodes[0];
            rank += width;
            self.done[node as usize] = true;
            for g in std::mem::take(&mut self.of_node[node as usize]) {
                let Some(mut rows) = self.rows[g as usize].take() else { continue };
                rows.drop_node(node, width);
                rows.nodes.iter().for_each(|&b| self.degree[b as usize] -= 1);
                if !rows.nodes.is_empty() && rows.count > 0 {
                    self.rows[g as usize] = Some(rows);
                    alone.push(g);
                } else {
                    rows.nodes.iter().for_each(|&b| self.degree[b as usize] -= rows.nodes.len() - 1);
                }
            }
        }
        rank
    }

    /// Eliminates a node; its rows become rows that determine its velocity and rows between its neighbours.
    fn eliminate(&mut self, node: usize, keep: bool) -> Step {
        self.done[node] = true;
        let width = self.kind.width();
        let parts: Vec<Rows> = std::mem::take(&mut self.of_node[node]).into_iter().filter_map(|k| self.rows[k as usize].take()).collect();
        let mut others: SmallVec<[u32; 4]> = SmallVec::new();
        for part in &parts {
            for &b in &part.nodes {
                self.degree[b as usize] -= part.nodes.len() - 1;
                others.push(b);
            }
        }
        others.sort_unstable();
        others.dedup();
        others.retain(|b| *b as usize != node);
        self.place[node] = 0;
        for (k, &o) in others.iter().enumerate() {
            self.place[o as usize] = k as u32 + 1;
        }
        let count: usize = parts.iter().map(|p| p.count).sum();
        let columns = width * (1 + others.len());
        let mut A = Front { rows: count, values: vec![0.0; count * columns], work: 0 };
        let mut first = 0;
        for part in &parts {
            for (k, &b) in part.nodes.iter().enumerate() {
                for l in 0..width {
                    let from = &part.values[(width * k + l) * part.count..][..part.count];
                    A.column_mut(width * self.place[b as usize] as usize + l)[first..first + part.count].copy_from_slice(from);
                }
            }
            first += part.count;
        }
        let mut order: SmallVec<[usize; 6]> = (0..width).collect();
        let rank = A.reflect(&mut order);
        let mut values = Vec::new();
        if keep {
            values.reserve(rank * columns);
            (0..columns).for_each(|c| values.extend_from_slice(&A.column(c)[..rank]));
        }
        // Rows that no longer contain the node.
        let left = count - rank;
        if left > 0 && !others.is_empty() {
            let mut rows = Rows { nodes: others.clone(), count: left, values: Vec::with_capacity(left * (columns - width)), fresh: 0 };
            (width..columns).for_each(|c| rows.values.extend_from_slice(&A.column(c)[rank..]));
            rows.fresh = parts.iter().map(|p| p.fresh).sum();
            rows.drop_nothing();
            if rows.count > columns - width || rows.fresh > FRESH.0.max(rows.count / FRESH.1) {
                rows.reduce(&mut A.work);
            }
            rows.normalise();
            self.add(rows);
        }
        self.work += A.work;
        Step { node, others, order, rank, values }
    }
}

impl Rows {
    /// The rows in the plane and those out of it, with nodes in place of bodies; `None` if some rows are neither.
    fn apart(self) -> Option<[Rows; 2]> {
        let k = self.nodes.len();
        let m = self.count;
        let mut A = Front { rows: m, values: self.values, work: 0 };
        let columns = |part: usize| (0..k).flat_map(move |b| PARTS[part].map(|l| 6 * b + l));
        let mut order: SmallVec<[usize; 12]> = columns(0).collect();
        let inside = A.reflect(&mut order);
        if columns(1).any(|c| A.column(c)[..inside.min(m)].iter().any(|x| x.abs() > APART)) {
            return None;
        }
        Some([(0, 0..inside), (1, inside..m)].map(|(part, range)| {
            let mut rows = Rows {
                nodes: self.nodes.iter().map(|b| 2 * b + part as u32).collect(),
                count: range.len(),
                values: columns(part).flat_map(|c| A.column(c)[range.clone()].to_vec()).collect(),
                fresh: range.len(),
            };
            rows.normalise();
            rows
        }))
    }

    /// Removes a fixed node.
    fn drop_node(&mut self, node: u32, width: usize) {
        if let Some(k) = self.nodes.iter().position(|&b| b == node) {
            self.nodes.remove(k);
            self.values.drain(k * width * self.count..(k + 1) * width * self.count);
            self.normalise();
        }
    }

    /// Keeps the rows listed in `kept`, in their order.
    fn keep(&mut self, kept: &[usize]) {
        let columns = self.values.len() / self.count.max(1);
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

    /// Removes rows that vanish.
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

    /// Replaces the rows by a maximal independent set.
    fn reduce(&mut self, work: &mut usize) {
        let mut A = Front { rows: self.count, values: std::mem::take(&mut self.values), work: 0 };
        let mut order: Vec<usize> = (0..A.values.len() / A.rows.max(1)).collect();
        let rank = A.reflect(&mut order);
        self.values = A.values;
        self.keep(&(0..rank).collect::<Vec<_>>());
        self.fresh = 0;
        *work += A.work;
    }
}

/// Inner product in eight parallel sums, for vector instructions.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, rest_a) = a.as_chunks::<8>();
    let (b, rest_b) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
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

    /// Reflects rows until the columns of `order` have pivots below each other, the largest first; returns the number of pivots. All
    /// columns take part in the reflections, and `order` is sorted in the order of the pivots.
    fn reflect(&mut self, order: &mut [usize]) -> usize {
        let m = self.rows;
        // A body without rows.
        if m == 0 {
            return 0;
        }
        let columns = self.values.len() / m;
        let mut norms = vec![0.0_f64; columns];
        for &c in order.iter() {
            norms[c] = dot(self.column(c), self.column(c));
        }
        let mut passed = vec![false; columns];
        let mut u = vec![0.0; m];
        let mut rank = 0;
        while rank < order.len() && rank < m {
            let top = rank;
            let Some(best) = (rank..order.len()).max_by(|&a, &b| norms[order[a]].total_cmp(&norms[order[b]])) else { break };
            let c = order[best];
            // Norms are updated by subtraction, which loses digits: the norm of the pivot column is recomputed.
            let exact = dot(&self.column(c)[top..], &self.column(c)[top..]);
            if exact < 0.5 * norms[c] {
                norms[c] = exact;
                continue;
            }
            let size = exact.sqrt();
            if size <= NOTHING {
                // Other norms may be too small.
                let again: Vec<usize> = order[rank..].to_vec();
                let mut largest = 0.0_f64;
                for c in again {
                    norms[c] = dot(&self.column(c)[top..], &self.column(c)[top..]);
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
            let scale = 2.0 / dot(&u[top..], &u[top..]);
            for k in 0..columns {
                // Columns with pivots are zero in these rows.
                if passed[k] && k != c {
                    continue;
                }
                let column = &mut self.values[k * m + top..(k + 1) * m];
                if k == c {
                    column.fill(0.0);
                    column[0] = alpha;
                    continue;
                }
                let s = scale * dot(column, &u[top..]);
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

/// The free motions: in each, one column without a pivot moves, and the nodes eliminated before follow.
fn motions(steps: &[Step], kind: Nodes, free: usize, q: &[Pose], L: f64) -> Vec<Vec<Twist>> {
    let (width, parts) = (kind.width(), kind.parts());
    // Columns of all motions for every node: x[width node + column][motion].
    let mut x = vec![0.0; 6 * q.len() * free];
    let at = |node: usize, l: usize| (width * node + l) * free;
    let mut next = 0;
    let mut sum = vec![0.0; free];
    for step in steps.iter().rev() {
        for &l in &step.order[step.rank..] {
            x[at(step.node, l) + next] = 1.0;
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
                take(step.values[l * step.rank + i], at(step.node, l), &x);
            }
            for (k, &o) in step.others.iter().enumerate() {
                for l in 0..width {
                    take(step.values[(width * (k + 1) + l) * step.rank + i], at(o as usize, l), &x);
                }
            }
            let pivot = step.values[step.order[i] * step.rank + i];
            let to = at(step.node, step.order[i]);
            x[to..to + free].iter_mut().zip(&sum).for_each(|(x, s)| *x = -s / pivot);
        }
    }
    orthonormal(&mut x, free);
    let motion = |k: usize| q.iter().enumerate().map(move |(b, q)| (b, q, k));
    (0..free).map(|k| motion(k).map(|(b, q, k)| kind.velocity(q, L, |part, l| x[at(parts * b + part, l) + k])).collect()).collect()
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
