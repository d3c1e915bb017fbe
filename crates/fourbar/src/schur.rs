//! The constraint equations reduced to the joints: `S = Phi_q W^-1 Phi_q^T + mu`, sparse, factored on a fixed pattern.
//!
//! Assembly, velocity projection, kinematics and index-1 dynamics all solve with it; `W` is the mass matrix with a floor
//! under the rotational inertia of particles and thin rods. `mu` makes redundant rows harmless: the solution is then the one of
//! minimum norm to within `mu`.

use crate::constraint::ConstraintSet;
use crate::model::Model;
use crate::state::Twist;
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
    pub fn apply(&self, x: &Twist) -> Twist {
        Twist { v: x.v * self.m, w: self.J * x.w }
    }
}

/// Masses below this share of the heaviest body they are connected with count as that share where they only weigh changes of a
/// pose or a velocity: what closes a loop is then lost to rounding at no mass ratio, and the nearest state changes by this share.
const LIGHT: f64 = 1e-7;

/// Inverse masses of all bodies. The inertia of a body is raised to `floor` times `m L^2` where it is smaller.
pub fn inverse_masses(model: &Model, floor: f64) -> Vec<InverseMass> {
    inverse_of(model, floor, |b| model.bodies[b].mass)
}

/// Inverse weights that measure how far a mechanism moves: [`inverse_masses`] with a floor under masses that are negligible beside
/// those they are connected with.
pub fn inverse_weights(model: &Model, floor: f64) -> Vec<InverseMass> {
    let extremes = lightest_and_heaviest(model);
    inverse_of(model, floor, |b| model.bodies[b].mass.max(LIGHT * model.bodies[extremes[b][1]].mass))
}

/// By body, the lightest and the heaviest of the bodies that constraints connect it with, ground aside.
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

/// Weights that count translations and L times rotations alike for every body that can move.
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
        // The plain inverse keeps diagonal tensors diagonal to the bit.
        if let Some(inverse) = J.try_inverse() {
            return inverse;
        }
    }
    let d = e.eigenvalues.map(|x| 1.0 / x.max(floor));
    e.eigenvectors * Matrix3::from_diagonal(&d) * e.eigenvectors.transpose()
}

/// One product `G_a W^-1 G_b^T` that goes into a block of S.
#[derive(Clone, Copy, Debug)]
struct Product {
    /// Start of G_a (rows of the block), and its number of rows.
    a: (u32, u32),
    /// Start of G_b (columns of the block), and its number of rows.
    b: (u32, u32),
    /// Where the block is stored.
    target: u32,
}

/// The factored constraint matrix. Its pattern is built when it is formed for the first time: around a body with very many joints it
/// is large, and a mechanism that starts closed never needs it for its assembly.
#[derive(Clone, Debug)]
pub struct Schur {
    built: Option<Built>,
    /// Rows of each constraint.
    sizes: Vec<usize>,
    bodies: usize,
    /// Constraint and body of each Jacobian block, its start and length.
    blocks: Vec<(usize, usize, usize, usize)>,
    /// Jacobian of the factor; filled by the caller before [`Schur::factor`].
    pub G: Vec<f64>,
    /// `G W^-1`, same layout; written by `factor`.
    Y: Vec<f64>,
}

/// Pattern and order, with what is factored.
#[derive(Clone, Debug)]
struct Built {
    solver: BlockSolver,
    products: Vec<Product>,
}

impl Built {
    fn new(sizes: &[usize], bodies: usize, blocks: &[(usize, usize, usize, usize)]) -> Self {
        let n = sizes.len();
        let mut incident: Vec<Vec<(usize, usize)>> = vec![Vec::new(); bodies];
        for &(c, body, start, _) in blocks {
            incident[body].push((c, start));
        }
        let mut neighbours = vec![Vec::new(); n];
        for list in &incident {
            for &(a, _) in list {
                neighbours[a].extend(list.iter().filter(|(b, _)| *b != a).map(|(b, _)| *b as u32));
            }
        }
        neighbours.iter_mut().for_each(|l: &mut Vec<u32>| {
            l.sort_unstable();
            l.dedup();
        });
        let pattern = BlockPattern::new(sizes, &neighbours);
        let mut products = Vec::new();
        for list in &incident {
            for (x, &(ca, sa)) in list.iter().enumerate() {
                for &(cb, sb) in &list[..=x] {
                    let (target, rows_first) = pattern.block(ca, cb);
                    let (a, b) = ((sa as u32, sizes[ca] as u32), (sb as u32, sizes[cb] as u32));
                    let (a, b) = if rows_first { (a, b) } else { (b, a) };
                    products.push(Product { a, b, target: target as u32 });
                }
            }
        }
        Self { solver: BlockSolver::new(pattern), products }
    }
}

impl Schur {
    /// For a set of constraints on `bodies` bodies.
    pub fn new(set: &ConstraintSet, bodies: usize) -> Self {
        let sizes: Vec<usize> = set.list.iter().map(|c| c.count()).collect();
        let mut blocks = Vec::with_capacity(set.blocks.len());
        for (c, size) in sizes.iter().enumerate() {
            blocks.extend(set.blocks_of(c).iter().map(|b| (c, b.body, b.start, 6 * size)));
        }
        Self { built: None, sizes, bodies, blocks, G: vec![0.0; set.values], Y: vec![0.0; set.values] }
    }

    fn built(&mut self) -> &mut Built {
        let Self { built, sizes, bodies, blocks, .. } = self;
        built.get_or_insert_with(|| Built::new(sizes, *bodies, blocks))
    }

    /// Forms `scale Phi_q W^-1 Phi_q^T` from the Jacobian in `G`, shifts it by `mu` and factors it.
    pub fn factor(&mut self, inverse: &[InverseMass], scale: f64, mu: f64) {
        self.form(inverse, scale);
        let solver = &mut self.built().solver;
        solver.shift(mu);
        solver.factor();
    }

    /// Adds `scale` times the entries of `eps` to the diagonal, between [`Schur::form`] and [`Schur::factor_formed`].
    pub fn shift_rows(&mut self, eps: &[f64], scale: f64) {
        self.built().solver.shift_rows(eps, scale);
    }

    /// Diagonal of the formed matrix, by row.
    pub fn diagonal(&mut self, out: &mut [f64]) {
        self.built().solver.diagonal(out);
    }

    /// Factors what [`Schur::form`] left.
    pub fn factor_formed(&mut self) {
        self.built().solver.factor();
    }

    /// Forms `scale Phi_q W^-1 Phi_q^T` from the Jacobian in `G`.
    pub fn form(&mut self, inverse: &[InverseMass], scale: f64) {
        self.built();
        let Self { built: Some(Built { solver, products }), blocks, G, Y, .. } = self else { return };
        for &(_, body, start, len) in blocks.iter() {
            let w = &inverse[body];
            let (m, J) = (w.m * scale, w.J * scale);
            let g = G[start..start + len].chunks_exact(6);
            for (y, g) in Y[start..start + len].chunks_exact_mut(6).zip(g) {
                y[0] = m * g[0];
                y[1] = m * g[1];
                y[2] = m * g[2];
                let r = J * Vector3::new(g[3], g[4], g[5]);
                y[3] = r[0];
                y[4] = r[1];
                y[5] = r[2];
            }
        }
        let S = solver.clear();
        for p in products.iter() {
            let (ma, mb) = (p.a.1 as usize, p.b.1 as usize);
            let g = &G[p.a.0 as usize..p.a.0 as usize + 6 * ma];
            let y = &Y[p.b.0 as usize..p.b.0 as usize + 6 * mb];
            let out = &mut S[p.target as usize..p.target as usize + ma * mb];
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

    /// Solves `(S) x = b` in place.
    pub fn solve(&mut self, b: &mut [f64]) {
        self.built().solver.solve(b);
    }

    /// Pivots relative to the diagonal, by row; near zero for rows that depend on others.
    pub fn pivots(&self) -> &[f64] {
        self.built.as_ref().map_or(&[], |b| b.solver.pivots())
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
