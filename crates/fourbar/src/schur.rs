//! The constraint equations reduced to the joints: `S = Phi_q W^-1 Phi_q^T + mu`, sparse, factored on a fixed pattern.
//!
//! Assembly, velocity projection, kinematics and index-1 dynamics all solve with it; `W` is the mass matrix with a floor under the
//! rotational inertia of particles and thin rods. `mu` permits redundant rows: the solution then has minimum norm to within `mu`.
//!
//! A body with very many constraints would couple all of them in S. Its term `G C C^T G^T`, with `C C^T` its inverse weight, is therefore
//! omitted from S, and the body becomes a separate node in addition to the constraints, coupled with them by `G C`.

use crate::constraint::ConstraintSet;
use crate::hubs::Hubs;
use crate::model::Model;
use crate::state::{Twist, Wrench};
use crate::topology::Groups;
use fourbar_math::{BlockPattern, BlockSolver};
use nalgebra::{Matrix3, SymmetricEigen, Vector3};

/// Inverse weight of a body: `1/m` and the inverse of its floored inertia.
#[derive(Clone, Copy, Debug)]
pub struct InverseMass {
    /// For translations.
    pub m: f64,
    /// For rotations, body axes.
    pub J: Matrix3<f64>,
}

impl InverseMass {
    /// `W^-1 x`.
    #[inline]
    pub fn apply(&self, x: &Wrench) -> Twist {
        Twist { v: x.F * self.m, w: self.J * x.T }
    }
}

/// Masses below this fraction of the heaviest connected body are raised to it if they only weight changes of a pose or a velocity: then the
/// closure of loops is not lost to rounding at any mass ratio, and the nearest state changes by this fraction.
const LIGHT: f64 = 1e-7;

/// Inverse masses of all bodies. The inertia of a body is raised to `floor` times `m L^2` where it is smaller.
pub fn inverse_masses(model: &Model, floor: f64) -> Vec<InverseMass> {
    inverse_of(model, floor, |b| model.bodies[b].mass)
}

/// Inverse weights for the distance between configurations: [`inverse_masses`] with a lower bound for masses that are negligible compared
/// with connected ones.
pub fn inverse_weights(model: &Model, floor: f64) -> Vec<InverseMass> {
    let extremes = lightest_and_heaviest(model);
    inverse_of(model, floor, |b| model.bodies[b].mass.max(LIGHT * model.bodies[extremes[b][1]].mass))
}

/// For each body, the lightest and the heaviest of the bodies connected with it by constraints, without ground.
pub fn lightest_and_heaviest(model: &Model) -> Vec<[usize; 2]> {
    let n = model.bodies.len();
    let mut parts = Groups::new(n);
    for c in model.all_constraints() {
        let mut moving = c.bodies.iter().map(|b| b.index()).filter(|b| *b != 0);
        if let Some(first) = moving.next() {
            moving.for_each(|b| {
                parts.join(first, b);
            });
        }
    }
    let mut extremes: Vec<[usize; 2]> = (0..n).map(|b| [b; 2]).collect();
    for b in 0..n {
        let part = parts.find(b);
        let [lightest, heaviest] = extremes[part];
        let mass = |b: usize| model.bodies[b].mass;
        extremes[part] = [if mass(b) < mass(lightest) { b } else { lightest }, if mass(b) > mass(heaviest) { b } else { heaviest }];
    }
    (0..n).map(|b| extremes[parts.find(b)]).collect()
}

fn inverse_of(model: &Model, floor: f64, mass: impl Fn(usize) -> f64) -> Vec<InverseMass> {
    let L2 = model.length * model.length;
    (0..model.bodies.len())
        .map(|b| {
            let body = &model.bodies[b];
            if body.mass == 0.0 {
                return InverseMass { m: 0.0, J: Matrix3::zeros() };
            }
            let m = mass(b);
            InverseMass { m: 1.0 / m, J: inverse_inertia(&(body.J_bar * (m / body.mass)), floor * m * L2) }
        })
        .collect()
}

/// Weights that count translations and L times rotations equally for every moving body.
pub fn unit_weights(model: &Model) -> Vec<InverseMass> {
    let L2 = model.length * model.length;
    model
        .bodies
        .iter()
        .enumerate()
        .map(|(b, _)| {
            let m = if b == 0 { 0.0 } else { 1.0 };
            InverseMass { m, J: Matrix3::identity() * (m / L2) }
        })
        .collect()
}

fn inverse_inertia(J: &Matrix3<f64>, floor: f64) -> Matrix3<f64> {
    let e = SymmetricEigen::new(*J);
    if e.eigenvalues.min() > floor {
        // The general inverse keeps diagonal tensors exactly diagonal.
        if let Some(inverse) = J.try_inverse() {
            return inverse;
        }
    }
    let d = e.eigenvalues.map(|x| 1.0 / x.max(floor));
    e.eigenvectors * Matrix3::from_diagonal(&d) * e.eigenvectors.transpose()
}

/// One product `G_a W^-1 G_b^T` in a block of S.
#[derive(Clone, Copy, Debug)]
struct Product {
    /// Start of G_a (rows of the block), and its number of rows.
    a: (u32, u32),
    /// Start of `G_b W^-1` (columns of the block) among those of the body, and its number of rows.
    b: (u32, u32),
    /// Position of the block in storage.
    target: u32,
}

impl Product {
    #[inline]
    fn add(&self, S: &mut [f64], G: &[f64], Y: &[f64]) {
        let (ma, mb) = (self.a.1 as usize, self.b.1 as usize);
        let g = &G[self.a.0 as usize..self.a.0 as usize + 6 * ma];
        let y = &Y[self.b.0 as usize..self.b.0 as usize + 6 * mb];
        let out = &mut S[self.target as usize..self.target as usize + ma * mb];
        match mb {
            5 => add_product::<5>(out, g, y),
            3 => add_product::<3>(out, g, y),
            4 => add_product::<4>(out, g, y),
            1 => add_product::<1>(out, g, y),
            6 => add_product::<6>(out, g, y),
            2 => add_product::<2>(out, g, y),
            _ => {
                for (row, g) in out.chunks_exact_mut(mb).zip(g.chunks_exact(6)) {
                    for (o, y) in row.iter_mut().zip(y.chunks_exact(6)) {
                        *o += dot6(g, y);
                    }
                }
            }
        }
    }
}

/// The coupling of a constraint with a hub.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    /// The body.
    body: usize,
    /// Start of its block in `G`, its number of rows, and the first row.
    start: usize,
    rows: usize,
    row: usize,
    /// Position of the block in storage, and whether the constraint gives its rows.
    target: usize,
    rows_first: bool,
}

/// The factored constraint matrix. Its pattern is built when it is first formed: a mechanism that starts closed does not need it for its
/// assembly.
#[derive(Clone, Debug)]
pub struct Schur {
    built: Option<Built>,
    /// Rows of each constraint.
    sizes: Vec<usize>,
    bodies: usize,
    hubs: Hubs,
    /// Constraint and body of each Jacobian block, its start and length.
    blocks: Vec<(usize, usize, usize, usize)>,
    /// Jacobian of the factor; filled by the caller before [`Schur::factor`].
    pub G: Vec<f64>,
}

/// Pattern and order, with the matrix and its factor.
#[derive(Clone, Debug)]
struct Built {
    solver: BlockSolver,
    /// Blocks of each body that is not a hub, its products, and the ends of both.
    listed: Vec<(u32, u32)>,
    products: Vec<Product>,
    ends: Vec<(usize, u32, u32)>,
    /// `G W^-1` of the present body.
    Y: Vec<f64>,
    /// Couplings with hubs, and storage positions of the blocks of hubs.
    couplings: Vec<Coupling>,
    own: Vec<usize>,
    /// Contributions of hubs to the diagonal, by row; empty without hubs. Written by `form`.
    hidden: Vec<f64>,
    /// Right-hand side with the rows of hubs; empty without hubs.
    wide: Vec<f64>,
}

impl Built {
    fn new(sizes: &[usize], bodies: usize, blocks: &[(usize, usize, usize, usize)], hubs: &Hubs) -> Self {
        let n = sizes.len();
        let mut incident: Vec<Vec<(usize, usize)>> = vec![Vec::new(); bodies];
        for &(c, body, start, _) in blocks {
            incident[body].push((c, start));
        }
        let at_hubs: Vec<Vec<(usize, usize)>> = hubs.bodies.iter().map(|&b| std::mem::take(&mut incident[b])).collect();
        let mut neighbours = vec![Vec::new(); n + at_hubs.len()];
        for list in &incident {
            for &(a, _) in list {
                neighbours[a].extend(list.iter().filter(|(b, _)| *b != a).map(|(b, _)| *b as u32));
            }
        }
        let mut before = vec![Vec::new(); if at_hubs.is_empty() { 0 } else { n + at_hubs.len() }];
        for (h, list) in at_hubs.iter().enumerate() {
            for &(c, _) in list {
                neighbours[c].push((n + h) as u32);
                neighbours[n + h].push(c as u32);
                if hubs.first[c] { before[n + h].push(c as u32) } else { before[c].push((n + h) as u32) }
            }
        }
        neighbours.iter_mut().for_each(|l: &mut Vec<u32>| {
            l.sort_unstable();
            l.dedup();
        });
        let mut all = sizes.to_vec();
        all.resize(n + at_hubs.len(), 6);
        let pattern = BlockPattern::with_negative(&all, &neighbours, &before, at_hubs.len());
        let (mut listed, mut products, mut ends, mut widest) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (body, list) in incident.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let mut wide = 0;
            let places: Vec<(usize, u32, u32, u32)> = list
                .iter()
                .map(|&(c, start)| {
                    let at = wide;
                    wide += 6 * sizes[c] as u32;
                    (c, start as u32, at, sizes[c] as u32)
                })
                .collect();
            for (x, a) in places.iter().enumerate() {
                for b in &places[..=x] {
                    let (target, rows_first) = pattern.block(a.0, b.0);
                    let (a, b) = if rows_first { (a, b) } else { (b, a) };
                    products.push(Product { a: (a.1, a.3), b: (b.2, b.3), target: target as u32 });
                }
            }
            listed.extend(places.iter().map(|p| (p.1, 6 * p.3)));
            ends.push((body, listed.len() as u32, products.len() as u32));
            widest = widest.max(wide as usize);
        }
        let mut couplings = Vec::new();
        if !at_hubs.is_empty() {
            let mut row = vec![0; n];
            (1..n).for_each(|c| row[c] = row[c - 1] + sizes[c - 1]);
            for (h, (&body, list)) in hubs.bodies.iter().zip(&at_hubs).enumerate() {
                couplings.extend(list.iter().map(|&(c, start)| {
                    let (target, rows_first) = pattern.block(c, n + h);
                    Coupling { body, start, rows: sizes[c], row: row[c], target, rows_first }
                }));
            }
        }
        let own: Vec<usize> = (n..all.len()).map(|h| pattern.block(h, h).0).collect();
        let (rows, wide) = if own.is_empty() { (0, 0) } else { (pattern.rows() - 6 * own.len(), pattern.rows()) };
        let (Y, hidden, wide) = (vec![0.0; widest], vec![0.0; rows], vec![0.0; wide]);
        Self { solver: BlockSolver::new(pattern), listed, products, ends, Y, couplings, own, hidden, wide }
    }

    /// Writes the nodes of hubs and their couplings.
    fn couple(&mut self, inverse: &[InverseMass], scale: f64, G: &[f64]) {
        self.hidden.fill(0.0);
        let S = self.solver.values_mut();
        for at in &self.own {
            (0..6).for_each(|i| S[at + 7 * i] = -1.0);
        }
        let mut last = (usize::MAX, 0.0, Matrix3::zeros());
        for c in &self.couplings {
            if last.0 != c.body {
                let w = &inverse[c.body];
                last = (c.body, (w.m * scale).sqrt(), root(&(w.J * scale)));
            }
            let (_, m, J) = &last;
            for (r, g) in G[c.start..c.start + 6 * c.rows].chunks_exact(6).enumerate() {
                let turned = J.tr_mul(&Vector3::new(g[3], g[4], g[5]));
                let y = [m * g[0], m * g[1], m * g[2], turned[0], turned[1], turned[2]];
                for (j, y) in y.into_iter().enumerate() {
                    S[c.target + if c.rows_first { 6 * r + j } else { c.rows * j + r }] = y;
                    self.hidden[c.row + r] += y * y;
                }
            }
        }
    }
}

/// Lower triangular matrix whose product with its transpose is the given positive semidefinite matrix.
fn root(A: &Matrix3<f64>) -> Matrix3<f64> {
    let mut L = Matrix3::zeros();
    for j in 0..3 {
        let s = A[(j, j)] - (0..j).map(|c| L[(j, c)] * L[(j, c)]).sum::<f64>();
        if s > 0.0 {
            L[(j, j)] = s.sqrt();
            for i in j + 1..3 {
                L[(i, j)] = (A[(i, j)] - (0..j).map(|c| L[(i, c)] * L[(j, c)]).sum::<f64>()) / L[(j, j)];
            }
        }
    }
    L
}

impl Schur {
    /// For a set of constraints on `bodies` bodies.
    pub fn new(set: &ConstraintSet, bodies: usize) -> Self {
        let sizes: Vec<usize> = set.list.iter().map(|c| c.count()).collect();
        let mut blocks = Vec::with_capacity(set.blocks.len());
        for (c, size) in sizes.iter().enumerate() {
            blocks.extend(set.blocks_of(c).iter().map(|b| (c, b.body, b.start, 6 * size)));
        }
        Self { built: None, sizes, bodies, hubs: Hubs::new(set, bodies), blocks, G: vec![0.0; set.values] }
    }

    fn built(&mut self) -> &mut Built {
        let Self { built, sizes, bodies, blocks, hubs, .. } = self;
        built.get_or_insert_with(|| Built::new(sizes, *bodies, blocks, hubs))
    }

    /// Forms `scale Phi_q W^-1 Phi_q^T` from the Jacobian in `G`, shifts it by `mu` and factors it.
    pub fn factor(&mut self, inverse: &[InverseMass], scale: f64, mu: f64) {
        self.form(inverse, scale);
        self.built().solver.shift(mu);
        self.factor_formed();
    }

    /// Adds `scale` times the entries of `eps` to the diagonal, between [`Schur::form`] and [`Schur::factor_formed`].
    pub fn shift_rows(&mut self, eps: &[f64], scale: f64) {
        self.built().solver.shift_rows(eps, scale);
    }

    /// Diagonal of the formed matrix, by row.
    pub fn diagonal(&mut self, out: &mut [f64]) {
        let Built { solver, hidden, .. } = self.built();
        solver.diagonal(out);
        out.iter_mut().zip(hidden).for_each(|(x, y)| *x += *y);
    }

    /// Factors the matrix formed by [`Schur::form`].
    pub fn factor_formed(&mut self) {
        let Built { solver, hidden, .. } = self.built();
        solver.factor_beside(hidden);
    }

    /// Forms `scale Phi_q W^-1 Phi_q^T` from the Jacobian in `G`.
    pub fn form(&mut self, inverse: &[InverseMass], scale: f64) {
        self.built();
        let Self { built: Some(built), G, .. } = self else { return };
        let Built { solver, listed, products, ends, Y, .. } = &mut *built;
        let S = solver.clear();
        let (mut from, mut first) = (0, 0);
        for &(body, to, last) in ends.iter() {
            let w = &inverse[body];
            let (m, J) = (w.m * scale, w.J * scale);
            let mut rows = Y.chunks_exact_mut(6);
            for &(start, length) in &listed[from..to as usize] {
                let g = G[start as usize..(start + length) as usize].chunks_exact(6);
                // In this order: if the first iterator ends, no element of the second is consumed.
                for (g, y) in g.zip(&mut rows) {
                    y[0] = m * g[0];
                    y[1] = m * g[1];
                    y[2] = m * g[2];
                    let r = J * Vector3::new(g[3], g[4], g[5]);
                    y[3] = r[0];
                    y[4] = r[1];
                    y[5] = r[2];
                }
            }
            products[first..last as usize].iter().for_each(|p| p.add(S, G, Y));
            (from, first) = (to as usize, last as usize);
        }
        if !built.own.is_empty() {
            built.couple(inverse, scale, G);
        }
    }

    /// Solves `(S) x = b` in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        let Built { solver, wide, .. } = self.built();
        if wide.is_empty() {
            return solver.solve(b);
        }
        wide[..b.len()].copy_from_slice(b);
        wide[b.len()..].fill(0.0);
        solver.solve(wide);
        b.copy_from_slice(&wide[..b.len()]);
    }

    /// Pivots relative to the diagonal, by row; near zero for dependent rows.
    pub fn pivots(&self) -> &[f64] {
        self.built.as_ref().map_or(&[], |b| &b.solver.pivots()[..b.solver.pattern().rows() - 6 * b.own.len()])
    }

    /// Multiplications of one factorisation, without forming the matrix.
    pub fn factor_flops(&mut self) -> usize {
        self.built().solver.pattern().factor_flops()
    }
}

#[inline]
fn dot6(a: &[f64], b: &[f64]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]
}

/// `out += G Y^T` with `B` rows in Y.
#[inline]
fn add_product<const B: usize>(out: &mut [f64], g: &[f64], y: &[f64]) {
    let mut transposed = [[0.0; B]; 6];
    for (j, row) in y.chunks_exact(6).enumerate() {
        for c in 0..6 {
            transposed[c][j] = row[c];
        }
    }
    for (out, row) in out.chunks_exact_mut(B).zip(g.chunks_exact(6)) {
        let mut sum = [0.0; B];
        for c in 0..6 {
            for j in 0..B {
                sum[j] += row[c] * transposed[c][j];
            }
        }
        for j in 0..B {
            out[j] += sum[j];
        }
    }
}
