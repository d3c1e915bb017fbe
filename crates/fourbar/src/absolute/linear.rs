//! Derivatives of the equations of motion by poses, velocities and multipliers at a state: the blocks of every exact iteration matrix.
//!
//! ```text
//! K = d(Phi_q^T lambda - f)/dq,   D = d(gyroscopic - f)/dv,   U = Phi_q^T - df/dlambda
//! ```
//! Forces are differentiated by dual numbers. The values are stored on the pattern of the block matrix of bodies and constraints; each
//! method combines them with its weights before factoring.

use super::equations::{Equations, FLOOR, NO_INERTIA};
use super::states::bodies_of_states;
use crate::coordinate::PoseOf;
use crate::force::eval::{Given, Plain, States, VelocityOf};
use crate::hubs::Hubs;
use crate::model::Body;
use crate::state::{Twist, Wrench};
use fourbar_math::so3::tilde;
use fourbar_math::{Dual, LuPattern, Taylor};
use nalgebra::{Matrix3, Matrix6, Vector3};
use smallvec::SmallVec;
use std::sync::Arc;

/// Inertia of coils about their axes in the matrix, as a share of their mass times the square of the characteristic length: much more than
/// gaps and rounding could turn.
const COIL: f64 = 1e4;

/// The derivatives at a state, with their workspace; nothing is allocated when they are formed.
pub struct Linear {
    /// Nodes: moving bodies with six unknowns each, then constraints with their rows.
    pub pattern: Arc<LuPattern>,
    /// Moving bodies.
    pub bodies: usize,
    /// Pairs of bodies that may be coupled, by number from one, and where their block is stored.
    pub pairs: Vec<(usize, usize, usize)>,
    /// Derivatives by positions, at the places of `pairs`.
    pub K: Vec<f64>,
    /// Derivatives by velocities.
    pub D: Vec<f64>,
    /// Derivatives by multipliers: the transposed Jacobian with contributions of friction, at the places of the blocks (body, constraint).
    pub U: Vec<f64>,
    /// Inertias of the matrix: directions without inertia have a small one.
    pub J: Vec<Matrix3<f64>>,
    /// Bodies that each force element depends on or acts on, without ground.
    force_bodies: Vec<Vec<usize>>,
    /// Bodies on which the rates of states depend, and the dependence of the states of the step on them: for each of these bodies and each
    /// of its twelve directions the slopes of all auxiliary variables.
    state_bodies: Vec<usize>,
    state_slopes: Vec<f64>,
}

/// A state in global terms with its multipliers.
pub struct At<'a> {
    /// Time, poses, velocities and other variables of the forces.
    pub plain: Plain<'a>,
    /// Multipliers of all rows.
    pub lambda: &'a [f64],
}

/// The state with one component of one body varied.
struct Varied<'a> {
    m: &'a Plain<'a>,
    body: usize,
    /// 0 to 2 translation, 3 to 5 rotation, 6 to 8 velocity, 9 to 11 angular velocity.
    direction: usize,
    /// Slopes of the auxiliary variables; empty if there are none.
    slopes: &'a [f64],
}

impl States<Dual> for Varied<'_> {
    fn time(&self) -> f64 {
        self.m.t
    }
    fn pose(&self, b: usize) -> PoseOf<Dual> {
        let q = &self.m.q[b];
        let (mut dr, mut dA) = (Vector3::zeros(), Matrix3::zeros());
        if b == self.body && self.direction < 3 {
            dr[self.direction] = 1.0;
        } else if b == self.body && self.direction < 6 {
            // A tilde(e) for a unit vector e: two columns of A are exchanged.
            let [i, j] = [(self.direction + 1) % 3, (self.direction + 2) % 3];
            dA.set_column(i, &q.A.column(j));
            dA.set_column(j, &-q.A.column(i));
        }
        PoseOf {
            r: Vector3::from_fn(|i, _| Taylor::with_slope(q.r[i], dr[i])),
            A: Matrix3::from_fn(|i, j| Taylor::with_slope(q.A[(i, j)], dA[(i, j)])),
        }
    }
    fn velocity(&self, b: usize) -> VelocityOf<Dual> {
        let v = &self.m.v[b];
        let slope = |k: usize| if b == self.body && self.direction == k { 1.0 } else { 0.0 };
        VelocityOf {
            v: Vector3::from_fn(|i, _| Taylor::with_slope(v.v[i], slope(6 + i))),
            w: Vector3::from_fn(|i, _| Taylor::with_slope(v.w[i], slope(9 + i))),
        }
    }
    fn turn(&self, memory: usize) -> f64 {
        self.m.turns[memory]
    }
    fn load(&self, joint: usize) -> Dual {
        Taylor::with_slope(self.m.loads[joint], 0.0)
    }
    fn auxiliary(&self, k: usize) -> Dual {
        Taylor::with_slope(self.m.z[k], self.slopes.get(k).copied().unwrap_or(0.0))
    }
}

/// Wrench of a friction element per newton of load: the element is linear in its load.
fn friction_per_load(e: &Equations<'_>, x: &Plain<'_>, element: usize) -> SmallVec<[(usize, Wrench); 2]> {
    let mut out: SmallVec<[(usize, Wrench); 2]> = SmallVec::new();
    for (load, sign) in [(1.0, 1.0), (0.0, -1.0)] {
        let state = Given { plain: *x, load: Some(load), counted: None };
        e.model.forces[element].1.wrench(e.model, &state, &mut |b, F, T| {
            let w = Wrench { F, T }.scaled(sign);
            match out.iter_mut().find(|(k, _)| *k == b) {
                Some((_, sum)) => *sum = sum.plus(&w),
                None => out.push((b, w)),
            }
        });
    }
    out
}

impl Linear {
    /// Pattern and order for the equations.
    pub fn new(e: &Equations<'_>) -> Self {
        let model = e.model;
        let (n, c) = (model.moving(), e.set.list.len());
        let mut sizes = vec![6; n];
        sizes.extend(e.set.list.iter().map(|c| c.count()));
        let mut neighbours = vec![Vec::new(); n + c];
        let mut before = vec![Vec::new(); n + c];
        let hubs = Hubs::new(&e.set, model.bodies.len());
        let join = |list: &mut Vec<Vec<u32>>, bodies: &[usize]| {
            for &a in bodies {
                list[a - 1].extend(bodies.iter().filter(|&&b| b != a).map(|&b| b as u32 - 1));
            }
        };
        for k in 0..c {
            let bodies: Vec<usize> = e.set.blocks_of(k).iter().map(|b| b.body).collect();
            for &b in &bodies {
                neighbours[b - 1].push((n + k) as u32);
                neighbours[n + k].push(b as u32 - 1);
                if hubs.first[k] && hubs.place(b).is_some() {
                    before[b - 1].push((n + k) as u32);
                } else {
                    before[n + k].push(b as u32 - 1);
                }
            }
            join(&mut neighbours, &bodies);
        }
        let force_bodies: Vec<Vec<usize>> = model.forces.iter().map(|(_, f)| f.bodies(model)).collect();
        for bodies in &force_bodies {
            join(&mut neighbours, bodies);
        }
        let pattern = Arc::new(LuPattern::new(&sizes, &neighbours, &before));
        let mut pairs = Vec::new();
        for (b, list) in neighbours[..n].iter().enumerate() {
            let mut list: Vec<usize> = list.iter().map(|&l| l as usize).filter(|&l| l < n).collect();
            list.push(b);
            list.sort_unstable();
            list.dedup();
            pairs.extend(list.into_iter().map(|l| (b + 1, l + 1, pattern.block(b, l))));
        }
        let least = |mass: f64| NO_INERTIA * mass * model.length * model.length;
        let raised = |mass: f64| FLOOR * mass * model.length * model.length;
        let raised_inertia = |b: &Body| {
            let e = b.J_bar.symmetric_eigen();
            if e.eigenvalues.min() >= least(b.mass) {
                return b.J_bar;
            }
            let d = e.eigenvalues.map(|x| if x < least(b.mass) { raised(b.mass) } else { x });
            e.eigenvectors * Matrix3::from_diagonal(&d) * e.eigenvectors.transpose()
        };
        let mut J: Vec<Matrix3<f64>> = model.bodies.iter().map(raised_inertia).collect();
        // Coils do not spin, as in `Equations::of`.
        for c in model.coils.iter().filter(|c| c.spins) {
            let k = c.body.index();
            J[k] += c.axis * c.axis.transpose() * (COIL * model.bodies[k].mass * model.length * model.length);
        }
        let state_bodies = bodies_of_states(model);
        let zero = vec![0.0; pattern.values()];
        Self {
            J,
            K: zero.clone(),
            D: zero.clone(),
            U: zero,
            pattern,
            bodies: n,
            pairs,
            force_bodies,
            state_slopes: vec![0.0; 12 * state_bodies.len() * model.auxiliaries()],
            state_bodies,
        }
    }

    /// Forms the derivatives at a state, with the Jacobian of its poses in `e`. The dependence of states on poses and velocities uses the
    /// last factors of the equations of the states.
    pub fn form(&mut self, e: &mut Equations<'_>, at: &At<'_>) {
        let (model, size) = (e.model, at.plain.z.len());
        for (k, &body) in self.state_bodies.iter().enumerate() {
            for direction in 0..12 {
                let place = (12 * k + direction) * size;
                let varied = Varied { m: &at.plain, body, direction, slopes: &[] };
                e.states.follow(model, &varied, &mut self.state_slopes[place..place + size]);
            }
        }
        for &(b, l, place) in &self.pairs {
            self.K[place..place + 36].fill(0.0);
            self.D[place..place + 36].fill(0.0);
            if b == l {
                let (w, J) = (&at.plain.v[b].w, &model.bodies[b].J_bar);
                let gyro = tilde(w) * J - tilde(&(J * w));
                for r in 0..3 {
                    for c in 0..3 {
                        self.D[place + 6 * (3 + r) + 3 + c] = gyro[(r, c)];
                    }
                }
            }
        }
        let (pattern, K) = (&self.pattern, &mut self.K);
        e.set.variation(at.plain.q, at.lambda, |i, j, B| add(pattern, K, i, j, B));
        self.forces(e, &at.plain);
        self.friction_positions(e, at);
        self.multipliers(e, at);
    }

    fn forces(&mut self, e: &Equations<'_>, x: &Plain<'_>) {
        let model = e.model;
        for (k, (_, force)) in model.forces.iter().enumerate() {
            for &l in &self.force_bodies[k] {
                let mut position = [Matrix6::zeros(); 8];
                let mut velocity = [Matrix6::zeros(); 8];
                let list = &self.force_bodies[k];
                for direction in 0..12 {
                    let place = self.state_bodies.iter().position(|b| *b == l).map(|k| (12 * k + direction) * x.z.len());
                    let slopes = place.map_or(&[][..], |at| &self.state_slopes[at..at + x.z.len()]);
                    let state = Varied { m: x, body: l, direction, slopes };
                    force.wrench(model, &state, &mut |b, F, T| {
                        if let Some(i) = list.iter().position(|&x| x == b).filter(|&i| i < 8) {
                            let (B, c) = if direction < 6 { (&mut position[i], direction) } else { (&mut velocity[i], direction - 6) };
                            for r in 0..3 {
                                B[(r, c)] -= F[r].c[1];
                                B[(3 + r, c)] -= T[r].c[1];
                            }
                        }
                    });
                }
                for (i, &b) in list.iter().enumerate().take(8) {
                    add(&self.pattern, &mut self.K, b, l, &position[i]);
                    add(&self.pattern, &mut self.D, b, l, &velocity[i]);
                }
            }
        }
    }

    /// Load-dependent friction: the load depends on the poses of the joint's bodies.
    fn friction_positions(&mut self, e: &Equations<'_>, at: &At<'_>) {
        let x = &at.plain;
        for r in &e.loads.rubbing {
            let push = friction_per_load(e, x, r.element);
            let own = &at.lambda[e.set.row_start[r.constraint]..e.set.row_start[r.constraint + 1]];
            let bodies = r.bodies;
            for l in bodies.into_iter().filter(|&l| l != 0) {
                // Central differences: the load is a smooth function of two poses.
                for d in 0..6 {
                    let step = 1e-6;
                    let load = |sign: f64| {
                        let mut dq = Twist::zero();
                        if d < 3 {
                            dq.v[d] = sign * step
                        } else {
                            dq.w[d - 3] = sign * step
                        }
                        let moved = bodies.map(|b| if b == l { x.q[b].moved(&dq) } else { x.q[b] });
                        r.load(&e.set, &moved, own)
                    };
                    let slope = (load(1.0) - load(-1.0)) / (2.0 * step);
                    for (b, w) in push.iter().filter(|(b, _)| *b != 0) {
                        let place = self.pattern.block(b - 1, l - 1);
                        for k in 0..3 {
                            self.K[place + 6 * k + d] -= slope * w.F[k];
                            self.K[place + 6 * (3 + k) + d] -= slope * w.T[k];
                        }
                    }
                }
            }
        }
    }

    /// The transposed Jacobian, and load-dependent friction, whose load depends on the multipliers of the joint.
    fn multipliers(&mut self, e: &Equations<'_>, at: &At<'_>) {
        let (x, n) = (&at.plain, self.bodies);
        for c in 0..e.set.list.len() {
            let m = e.set.row_start[c + 1] - e.set.row_start[c];
            for block in e.set.blocks_of(c) {
                let up = self.pattern.block(block.body - 1, n + c);
                for r in 0..m {
                    for k in 0..6 {
                        self.U[up + k * m + r] = e.G[block.start + 6 * r + k];
                    }
                }
            }
        }
        for r in &e.loads.rubbing {
            let push = friction_per_load(e, x, r.element);
            let (c, own) = (r.constraint, &at.lambda[e.set.row_start[r.constraint]..e.set.row_start[r.constraint + 1]]);
            let m = own.len();
            let poses = r.bodies.map(|b| x.q[b]);
            let slopes = r.slopes(&e.set, &poses, own);
            for (b, w) in push.iter().filter(|(b, _)| *b != 0) {
                let up = self.pattern.block(b - 1, n + c);
                for r in 0..m {
                    for k in 0..3 {
                        self.U[up + k * m + r] -= slopes[r] * w.F[k];
                        self.U[up + (3 + k) * m + r] -= slopes[r] * w.T[k];
                    }
                }
            }
        }
    }

    /// A block of [`Linear::K`] or [`Linear::D`].
    pub fn block(values: &[f64], place: usize) -> Matrix6<f64> {
        Matrix6::from_row_slice(&values[place..place + 36])
    }
}

/// Adds to the block of two bodies; ground has none.
fn add(pattern: &LuPattern, values: &mut [f64], i: usize, j: usize, B: &Matrix6<f64>) {
    if i == 0 || j == 0 {
        return;
    }
    let place = pattern.block(i - 1, j - 1);
    for r in 0..6 {
        for c in 0..6 {
            values[place + 6 * r + c] += B[(r, c)];
        }
    }
}
