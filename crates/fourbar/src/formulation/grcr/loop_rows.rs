//! Closing rows: all constraints that the tree does not satisfy identically, as rows on the twists of bodies.
//!
//! Closing joints, distances, angles, points on lines and planes, gears, racks, bare primitives, rolling and drives that the tree does not
//! prescribe all come from the same [`ConstraintSet`] as in absolute coordinates; a row `(Phi_r, Pi)` of a body becomes
//! `(Phi_r, Pi + r x Phi_r)` on its twist. Rows are scaled to the local twist `(v / ell, omega)`, point rows are turned into the axes of
//! the joint's base, and the active rows are `P` times these: `P` omits redundant combinations, so that their number is the rank.

use super::tree::Tree;
use crate::constraint::{Constraint, ConstraintSet, Owner, Rows};
use crate::model::Model;
use crate::motion::numbers;
use crate::state::{Pose, Twist};
use nalgebra::{DMatrix, Matrix3, Vector3};
use serde_json::{Value, json};

/// Active combinations by closing, rows by active rows; `None` if all rows are active unchanged.
pub type Kept = Vec<Option<DMatrix<f64>>>;

/// An element that closes loops.
#[derive(Clone, Debug)]
pub struct Closing {
    /// What it is.
    pub owner: Owner,
    /// Its rows, active or not.
    pub rows: usize,
    /// First row in the set.
    pub first: usize,
    /// Nodes of its bodies, the one eliminated first in front, with the first place of their blocks in the Jacobian of the needed rows.
    pub nodes: Vec<(usize, usize)>,
    /// Block of each node among those of the constraint.
    blocks: Vec<usize>,
    /// The needed rows, and the place of the first of them.
    rows_needed: Vec<usize>,
    needed_at: usize,
    /// Triples of point rows to transform: first row, base body, axes in it, and in the world at the last pose.
    turns: Vec<(usize, usize, Matrix3<f64>, Matrix3<f64>)>,
    /// Factor of each row.
    scale: Vec<f64>,
    /// Active combinations, rows by active rows; `None` if all rows are active unchanged.
    P: Option<DMatrix<f64>>,
    /// The same as a list: active row, row, coefficient.
    terms: Vec<(usize, usize, f64)>,
    /// Rows that appear in some active combination, including complete transformed triples, as bits.
    needed: u32,
    /// Number of active rows.
    pub active: usize,
    /// First active row.
    pub at: usize,
    /// First value in the active Jacobian: for each node, active rows x 6.
    pub e_at: usize,
}

/// All closing rows with their values.
#[derive(Clone, Debug)]
pub struct Closings {
    /// Constraints, in the order of the list.
    pub set: ConstraintSet,
    /// The closings.
    pub list: Vec<Closing>,
    /// The rows of these that evaluations need, without rows that appear only in redundant combinations.
    lean: ConstraintSet,
    /// Total number of active rows.
    pub active: usize,
    /// Jacobian of the needed rows at the last pose.
    G: Vec<f64>,
    /// Values by needed row.
    values: Vec<f64>,
    /// Active rows on twists. Written by `rows`.
    pub E: Vec<f64>,
    /// Right-hand sides by active row.
    pub g: Vec<f64>,
    /// Length that scales translations against rotations.
    pub ell: f64,
    /// Whether some right-hand sides depend on time.
    driven: bool,
}

impl Closings {
    /// The closings of a tree.
    pub fn new(model: &Model, tree: &Tree) -> Self {
        let mut in_tree = vec![false; model.joints.len()];
        for n in &tree.nodes {
            if let Some(j) = n.joint {
                in_tree[j] = true;
            }
        }
        let mut prescribed = vec![false; model.drives.len()];
        for p in &tree.prescribed {
            prescribed[p.drive] = true;
        }
        let closes = |c: &Constraint| match c.owner {
            Owner::Joint(k) => !in_tree[k],
            Owner::Drive(k) => !prescribed[k],
            _ => true,
        };
        let set = ConstraintSet::new(model.all_constraints().into_iter().filter(closes).collect(), |_| false);
        let mut list = Vec::with_capacity(set.list.len());
        for (c, constraint) in set.list.iter().enumerate() {
            let mut order: Vec<(usize, usize)> = set.blocks_of(c).iter().enumerate().map(|(i, b)| (tree.of_body[b.body], i)).collect();
            order.sort_unstable_by_key(|x| std::cmp::Reverse(x.0));
            let mut turns = Vec::new();
            let mut row = 0;
            for rows in &constraint.rows {
                if let (Rows::Point { ij, .. }, Owner::Joint(j)) = (rows, constraint.owner) {
                    let R = model.joints[j].F.R;
                    turns.push((row, constraint.bodies[ij[0]].index(), R, R));
                }
                row += rows.count();
            }
            list.push(Closing {
                owner: constraint.owner,
                rows: row,
                first: set.row_start[c],
                nodes: order.iter().map(|x| (x.0, 0)).collect(),
                blocks: order.iter().map(|x| x.1).collect(),
                rows_needed: Vec::new(),
                needed_at: 0,
                turns,
                scale: vec![1.0; row],
                P: None,
                terms: Vec::new(),
                needed: u32::MAX,
                active: row,
                at: 0,
                e_at: 0,
            });
        }
        let (rows, values) = (set.rows(), set.values);
        let driven = set.list.iter().flat_map(|c| &c.rows).any(|r| matches!(r, Rows::Sum { driven: Some(_), .. }));
        let mut closings = Self {
            lean: set.clone(),
            set,
            list,
            active: 0,
            G: vec![0.0; values],
            values: vec![0.0; rows],
            E: Vec::new(),
            g: Vec::new(),
            ell: loop_length(model),
            driven,
        };
        closings.trim();
        closings.lay_out();
        closings
    }

    /// Whether there are no closings.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Removes elements of which no row is needed.
    fn trim(&mut self) {
        let mut list = self.set.list.clone();
        for (c, constraint) in self.list.iter_mut().zip(&mut list) {
            c.rows_needed.clear();
            let mut row = 0;
            constraint.rows.retain(|rows| {
                let all = row..row + rows.count();
                row = all.end;
                let stays = all.clone().any(|r| c.needed & (1 << r) != 0);
                if stays {
                    c.rows_needed.extend(all);
                }
                stays
            });
            if constraint.rows.is_empty() {
                constraint.spare = None;
            }
        }
        self.lean = ConstraintSet::new(list, |_| false);
        for (k, c) in self.list.iter_mut().enumerate() {
            c.needed_at = self.lean.row_start[k];
            for (node, b) in c.nodes.iter_mut().zip(&c.blocks) {
                node.1 = self.lean.blocks_of(k)[*b].start;
            }
        }
    }

    fn lay_out(&mut self) {
        let (mut at, mut e_at) = (0, 0);
        for c in &mut self.list {
            c.terms.clear();
            match &c.P {
                None => c.terms.extend((0..c.rows).map(|r| (r, r, 1.0))),
                Some(P) => {
                    let all = (0..P.ncols()).flat_map(|k| (0..P.nrows()).map(move |r| (k, r, P[(r, k)])));
                    c.terms.extend(all.filter(|x| x.2 != 0.0));
                }
            }
            (c.at, c.e_at) = (at, e_at);
            at += c.active;
            e_at += 6 * c.active * c.nodes.len();
        }
        self.active = at;
        self.E.clear();
        self.E.resize(e_at, 0.0);
        self.g.clear();
        self.g.resize(at, 0.0);
    }

    /// Activates all rows and scales them for the pose: a pure force row by `ell`, a couple by one.
    pub fn open_all(&mut self, tree: &Tree, q: &[Pose]) {
        for c in &mut self.list {
            c.P = None;
            c.needed = u32::MAX;
            c.active = c.rows;
            c.scale.fill(1.0);
        }
        self.trim();
        self.lay_out();
        self.turn_axes(q);
        self.rows(tree, q);
        let Self { list, E, ell, .. } = self;
        for c in list.iter_mut() {
            for r in 0..c.rows {
                let mut largest = 0.0_f64;
                for b in 0..c.nodes.len() {
                    let e = &E[c.e_at + 6 * (b * c.rows + r)..][..6];
                    let (f, n) = (Vector3::new(e[0], e[1], e[2]), Vector3::new(e[3], e[4], e[5]));
                    // The smallest remaining couple, at a point on the line of action.
                    let size = f.norm();
                    let left = if size > 1e-9 * n.norm() { n.dot(&f).abs() / size } else { n.norm() };
                    largest = largest.max(*ell * size).max(left);
                }
                c.scale[r] = if largest > 0.0 { 1.0 / largest } else { 1.0 };
            }
        }
        self.rows(tree, q);
    }

    /// Keeps only the given combinations of each closing (rows by active rows) active.
    pub fn keep(&mut self, mut kept: Kept) {
        for (c, mut P) in self.list.iter_mut().zip(kept.drain(..)) {
            // Columns have unit length: entries of rounding size would only keep rows in use.
            P.iter_mut().flat_map(|P| P.iter_mut()).filter(|x| x.abs() < 1e-13).for_each(|x| *x = 0.0);
            c.active = P.as_ref().map_or(c.rows, |P| P.ncols());
            c.needed = match &P {
                None => u32::MAX,
                Some(P) => {
                    let used: u32 = (0..c.rows).filter(|r| (0..P.ncols()).any(|k| P[(*r, k)] != 0.0)).map(|r| 1 << r).sum();
                    c.turns.iter().map(|t| 0b111 << t.0).filter(|triple| used & triple != 0).fold(used, |u, triple| u | triple)
                }
            };
            c.P = P;
        }
        self.trim();
        self.lay_out();
    }

    /// Components of the active rows: active row, closing, row of it, and its factor.
    pub fn parts(&self) -> impl Iterator<Item = (usize, usize, usize, f64)> + '_ {
        let of = |(n, c): (usize, &Closing)| c.terms.iter().map(|&(k, r, p)| (c.at + k, n, r, p * c.scale[r])).collect::<Vec<_>>();
        self.list.iter().enumerate().flat_map(of)
    }

    /// Scales and active combinations, bitwise.
    pub fn save(&self) -> Value {
        let one = |c: &Closing| json!({"scale": c.scale, "active": c.active, "P": c.P.as_ref().map(|P| P.as_slice().to_vec())});
        Value::Array(self.list.iter().map(one).collect())
    }

    /// Active combinations and scales from [`Closings::save`], if they fit.
    pub fn saved(&self, v: &Value) -> Option<(Kept, Vec<Vec<f64>>)> {
        let list = v.as_array().filter(|l| l.len() == self.list.len())?;
        let (mut kept, mut scales) = (Vec::new(), Vec::new());
        for (c, v) in self.list.iter().zip(list) {
            let (scale, P) = (numbers(&v["scale"]), numbers(&v["P"]));
            let active = v["active"].as_u64()? as usize;
            if scale.len() != c.rows || (!v["P"].is_null() && P.len() != c.rows * active) {
                return None;
            }
            kept.push((!v["P"].is_null()).then(|| DMatrix::from_column_slice(c.rows, active, &P)));
            scales.push(scale);
        }
        Some((kept, scales))
    }

    /// Restores saved scales.
    pub fn set_scales(&mut self, scales: Vec<Vec<f64>>) {
        for (c, s) in self.list.iter_mut().zip(scales) {
            c.scale = s;
        }
    }

    /// Updates the axes of transformed rows for a pose.
    fn turn_axes(&mut self, q: &[Pose]) {
        for c in &mut self.list {
            for (_, base, R, axes) in &mut c.turns {
                *axes = q[*base].A * *R;
            }
        }
    }

    /// Active rows on the twists of their bodies, at the pose of the last residuals.
    pub fn rows(&mut self, tree: &Tree, q: &[Pose]) {
        self.lean.jacobian(q, &mut self.G);
        let mut block = [[0.0; 6]; 8];
        for c in &self.list {
            for (b, &(node, start)) in c.nodes.iter().enumerate() {
                let n = &tree.nodes[node];
                let pose = &q[n.body];
                let rho = pose.r - tree.O[n.patch];
                for (i, &r) in c.rows_needed.iter().enumerate() {
                    let g = &self.G[start + 6 * i..start + 6 * i + 6];
                    let f = Vector3::new(g[0], g[1], g[2]);
                    let m = pose.A * Vector3::new(g[3], g[4], g[5]) + rho.cross(&f);
                    block[r] = [f.x, f.y, f.z, m.x, m.y, m.z];
                }
                for (first, _, _, axes) in &c.turns {
                    let old = [block[*first], block[first + 1], block[first + 2]];
                    for k in 0..3 {
                        for i in 0..6 {
                            block[first + k][i] = axes[(0, k)] * old[0][i] + axes[(1, k)] * old[1][i] + axes[(2, k)] * old[2][i];
                        }
                    }
                }
                for &r in &c.rows_needed {
                    block[r].iter_mut().for_each(|x| *x *= c.scale[r]);
                }
                let out = &mut self.E[c.e_at + 6 * c.active * b..c.e_at + 6 * c.active * (b + 1)];
                out.fill(0.0);
                for &(k, r, p) in &c.terms {
                    out[6 * k..6 * k + 6].iter_mut().zip(&block[r]).for_each(|(o, x)| *o += p * x);
                }
            }
        }
    }

    /// Combines values by row of the set into those of active rows, in `g`.
    fn fold(&mut self) {
        for c in &self.list {
            let mut x = [0.0; 8];
            for (&r, value) in c.rows_needed.iter().zip(&self.values[c.needed_at..]) {
                x[r] = *value;
            }
            for (first, _, _, axes) in &c.turns {
                let turned = axes.tr_mul(&Vector3::new(x[*first], x[first + 1], x[first + 2]));
                x[*first..first + 3].copy_from_slice(turned.as_slice());
            }
            x.iter_mut().zip(&c.scale).for_each(|(x, s)| *x *= s);
            let out = &mut self.g[c.at..c.at + c.active];
            out.fill(0.0);
            for &(k, r, p) in &c.terms {
                out[k] += p * x[r];
            }
        }
    }

    /// Multipliers of the set from those of the active rows.
    pub fn unfold(&self, q: &[Pose], lambda: &[f64], out: &mut [f64]) {
        for c in &self.list {
            let y = &lambda[c.at..c.at + c.active];
            let x = &mut out[c.first..c.first + c.rows];
            x.fill(0.0);
            for &(k, r, p) in &c.terms {
                x[r] += p * y[k];
            }
            self.unfold_rows(c, q, x);
        }
    }

    /// Multipliers of the set from values on all scaled rows of one closing, in place.
    pub fn unfold_rows(&self, c: &Closing, q: &[Pose], x: &mut [f64]) {
        for (x, s) in x.iter_mut().zip(&c.scale) {
            *x *= s;
        }
        for (first, base, R, _) in &c.turns {
            let world = q[*base].A * R * Vector3::new(x[*first], x[first + 1], x[first + 2]);
            x[*first..first + 3].copy_from_slice(world.as_slice());
        }
    }

    /// `g = -Phi`, and the largest residual among active rows. It is evaluated first at each time, and chooses the rows for that time.
    pub fn positions(&mut self, q: &[Pose], turns: &[f64], t: f64) -> f64 {
        self.set.choose(t);
        self.lean.choose(t);
        self.lean.residual(q, turns, t, &mut self.values);
        self.turn_axes(q);
        self.fold();
        self.g.iter_mut().for_each(|g| *g = -*g);
        self.g.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// `g = nu - E V`; the rows are those of the pose.
    pub fn velocities(&mut self, tree: &Tree, t: f64) {
        if self.driven {
            self.lean.nu(t, &mut self.values);
            self.fold();
        } else {
            self.g.fill(0.0);
        }
        self.subtract(|k| tree.at[k].V);
    }

    /// `g = gamma - E a_t`, with the rows of the pose.
    pub fn accelerations(&mut self, tree: &Tree, q: &[Pose], v: &[Twist], t: f64) {
        let mut values = std::mem::take(&mut self.values);
        self.lean.gamma(q, v, t, &mut values);
        // From the acceleration of the centre of mass to the linear part of the six-vector: omega x v.
        for c in &self.list {
            for &(node, start) in &c.nodes {
                let body = tree.nodes[node].body;
                let (q, v) = (&q[body], &v[body]);
                let swing = (q.A * v.w).cross(&v.v);
                for (g, value) in self.G[start..].chunks_exact(6).zip(&mut values[c.needed_at..c.needed_at + c.rows_needed.len()]) {
                    *value -= g[0] * swing.x + g[1] * swing.y + g[2] * swing.z;
                }
            }
        }
        self.values = values;
        self.fold();
        self.subtract(|k| tree.at[k].a_t);
    }

    /// `g -= E x`, with one motion per node.
    fn subtract(&mut self, x: impl Fn(usize) -> super::spatial::Six) {
        for c in &self.list {
            for (b, &(node, _)) in c.nodes.iter().enumerate() {
                let x = x(node);
                let E = &self.E[c.e_at + 6 * c.active * b..c.e_at + 6 * c.active * (b + 1)];
                for (g, e) in self.g[c.at..].iter_mut().zip(E.chunks_exact(6)) {
                    *g -= x.dot_slice(e);
                }
            }
        }
    }
}

/// Median distance of joint points on one body: a typical link length, not the size of the mechanism.
fn loop_length(model: &Model) -> f64 {
    let mut points: Vec<Vec<Vector3<f64>>> = vec![Vec::new(); model.bodies.len()];
    for j in model.joints.iter().filter(|j| !j.open) {
        points[j.bodies[0].index()].push(j.F.s);
        points[j.bodies[1].index()].push(j.M.s);
    }
    let mut lengths: Vec<f64> = points
        .iter()
        .skip(1)
        .flat_map(|p| p.windows(2).map(|w| (w[1] - w[0]).norm()).collect::<Vec<_>>())
        .filter(|l| *l > 1e-6 * model.length)
        .collect();
    lengths.sort_by(f64::total_cmp);
    lengths.get(lengths.len() / 2).copied().unwrap_or(model.length)
}
