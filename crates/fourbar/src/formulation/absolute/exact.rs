//! The exact iteration matrix of the implicit step, factored by block LU: the fallback for stiff forces, strong dampers
//! and fast spins.
//!
//! ```text
//! [ b_a M V' + h b_v D V + h^2 (K - f_q)     Phi_q^T ] [ dq           ]     [ h^2 residual         ]
//! [  Phi_q                                    -eps   ] [ d(h^2 lambda)] = - [ Phi - eps h^2 lambda ]
//! ```
//! with `D = d(gyroscopic - f)/dv`, `K = d(Phi_q^T lambda)/dq` and the blocks `V`, `V'` of the chart, for rA both the inverse
//! tangent operator of the step's rotation.
//! Forces are differentiated by dual numbers.

use super::chart::{Chart, Weights};
use super::equations::Equations;
use super::states::bodies_of_states;
use crate::coordinate::PoseOf;
use crate::force::eval::{Plain, States, VelocityOf};
use crate::hubs::Hubs;
use crate::integrator::index3::Memory;
use crate::state::Twist;
use fourbar_math::so3::tilde;
use fourbar_math::{BlockLu, Dual, Taylor};
use nalgebra::{Matrix3, Matrix6, Vector3};
use smallvec::SmallVec;

/// The exact matrix with its workspace.
pub struct Exact {
    lu: BlockLu,
    /// Bodies that each force element reads or pushes, ground left out.
    force_bodies: Vec<Vec<usize>>,
    /// Right-hand side and solution: six per moving body, then the rows.
    x: Vec<f64>,
    /// Blocks `V` and `V'` of every body; written before the matrix is formed.
    slopes: Vec<(Matrix3<f64>, Matrix3<f64>)>,
    bodies: usize,
    /// Bodies that the rates of states read, and how the states of the step follow them: for each of these bodies and each of its twelve
    /// directions the slopes of all numbers carried along. Written before the matrix is formed.
    state_bodies: Vec<usize>,
    state_slopes: Vec<f64>,
}

/// A trial state in global terms.
struct State<'a> {
    plain: Plain<'a>,
    lambda: &'a [f64],
}

/// The state with one component of one body varied.
struct Varied<'a> {
    m: &'a Plain<'a>,
    body: usize,
    /// 0 to 2 translation, 3 to 5 rotation, 6 to 8 velocity, 9 to 11 angular velocity.
    direction: usize,
    /// Slopes of the numbers carried along; empty where there are none.
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
            let mut e = Vector3::zeros();
            e[self.direction - 3] = 1.0;
            dA = q.A * tilde(&e);
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
fn friction_per_load(e: &Equations<'_>, x: &Plain<'_>, element: usize) -> SmallVec<[(usize, Twist); 2]> {
    let mut out: SmallVec<[(usize, Twist); 2]> = SmallVec::new();
    for (load, sign) in [(1.0, 1.0), (0.0, -1.0)] {
        let state = Loaded { plain: Plain { t: x.t, q: x.q, v: x.v, turns: x.turns, loads: &[], z: x.z }, load };
        e.model.forces[element].1.wrench(e.model, &state, &mut |b, F, T| {
            let w = Twist { v: F, w: T }.scaled(sign);
            match out.iter_mut().find(|(k, _)| *k == b) {
                Some((_, sum)) => *sum = sum.plus(&w),
                None => out.push((b, w)),
            }
        });
    }
    out
}

/// The plain state with a given load in every joint.
struct Loaded<'a> {
    plain: Plain<'a>,
    load: f64,
}

impl States<f64> for Loaded<'_> {
    fn time(&self) -> f64 {
        self.plain.t
    }
    fn pose(&self, b: usize) -> PoseOf<f64> {
        self.plain.pose(b)
    }
    fn velocity(&self, b: usize) -> VelocityOf<f64> {
        self.plain.velocity(b)
    }
    fn turn(&self, memory: usize) -> f64 {
        self.plain.turn(memory)
    }
    fn load(&self, _joint: usize) -> f64 {
        self.load
    }
    fn auxiliary(&self, k: usize) -> f64 {
        self.plain.auxiliary(k)
    }
}

impl Exact {
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
        let slopes = vec![(Matrix3::identity(), Matrix3::identity()); n + 1];
        let state_bodies = bodies_of_states(model);
        Self {
            lu: BlockLu::new(&sizes, &neighbours, &before),
            force_bodies,
            x: vec![0.0; 6 * n + e.set.rows()],
            slopes,
            bodies: n,
            state_slopes: vec![0.0; 12 * state_bodies.len() * model.auxiliaries()],
            state_bodies,
        }
    }

    /// Forms and factors the matrix at the trial state; `false` where it is singular.
    pub fn factor<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) -> bool {
        self.form_in(e, x, w);
        self.lu.factor()
    }

    fn form_in<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) {
        for b in 1..=self.bodies {
            self.slopes[b] = C::slopes(&x.x[b], &x.psi[b], &x.v[b], &x.v_dot[b], w);
        }
        let (model, size) = (e.model, e.z.len());
        let plain = Plain { t: x.t, q: &x.q, v: x.velocities(), turns: &x.turns, loads: &e.loads.by_joint, z: &e.z };
        for (k, &body) in self.state_bodies.iter().enumerate() {
            for direction in 0..12 {
                let at = (12 * k + direction) * size;
                e.states.follow(model, &Varied { m: &plain, body, direction, slopes: &[] }, &mut self.state_slopes[at..at + size]);
            }
        }
        self.form(e, &State { plain, lambda: &x.lambda }, w);
    }

    fn form(&mut self, e: &Equations<'_>, state: &State<'_>, Weights { h, b_a, b_v }: Weights) {
        let (model, x, lambda) = (e.model, &state.plain, state.lambda);
        let slopes = &self.slopes;
        let n = self.bodies;
        self.lu.clear();
        let add = |lu: &mut BlockLu, i: usize, j: usize, B: &Matrix6<f64>| {
            if i == 0 || j == 0 {
                return;
            }
            let at = lu.block(i - 1, j - 1);
            let a = lu.values_mut();
            for r in 0..6 {
                for c in 0..6 {
                    a[at + 6 * r + c] += B[(r, c)];
                }
            }
        };
        // Angular columns for velocities go through the chart.
        let turned = |B: Matrix6<f64>, b: usize| {
            let mut B = B;
            let right = B.fixed_view::<6, 3>(0, 3) * slopes[b].0;
            B.fixed_view_mut::<6, 3>(0, 3).copy_from(&right);
            B
        };
        for b in 1..=n {
            let body = &model.bodies[b];
            let w = &x.v[b].w;
            let mut B = Matrix6::zeros();
            B.fixed_view_mut::<3, 3>(0, 0).copy_from(&(Matrix3::identity() * (b_a * body.mass)));
            let gyro = tilde(w) * body.J_bar - tilde(&(body.J_bar * w));
            let (V, V_dot) = &slopes[b];
            B.fixed_view_mut::<3, 3>(3, 3).copy_from(&(body.J_bar * V_dot * b_a + gyro * V * (h * b_v)));
            add(&mut self.lu, b, b, &B);
        }
        e.set.variation(x.q, lambda, |i, j, K| add(&mut self.lu, i, j, &(K * (h * h))));
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
                    add(&mut self.lu, b, l, &(position[i] * (h * h)));
                    add(&mut self.lu, b, l, &turned(velocity[i] * (h * b_v), l));
                }
            }
        }
        self.friction_positions(e, state, h);
        for c in 0..e.set.list.len() {
            let m = e.set.row_start[c + 1] - e.set.row_start[c];
            for block in e.set.blocks_of(c) {
                let (up, down) = (self.lu.block(block.body - 1, n + c), self.lu.block(n + c, block.body - 1));
                let a = self.lu.values_mut();
                for r in 0..m {
                    for k in 0..6 {
                        let g = e.G[block.start + 6 * r + k];
                        a[up + k * m + r] = g;
                        a[down + 6 * r + k] = g;
                    }
                }
            }
            for (_, row, r) in e.set.rolling().filter(|(k, ..)| *k == c) {
                // The rows act on velocities: B V + (h / b_v) d(B v)/dq.
                let b = e.set.list[c].bodies[r.slot].index();
                let rows = r.rows(&x.q[b]);
                let (_, rates) = r.variation(&x.q[b], &x.v[b], &[0.0; 2]);
                let V = self.slopes[b].0;
                let down = self.lu.block(n + c, b - 1);
                let first = row - e.set.row_start[c];
                let a = self.lu.values_mut();
                for (k, line) in rows.iter().enumerate() {
                    let w = V.tr_mul(&line.w);
                    for d in 0..6 {
                        let g = if d < 3 { line.v[d] } else { w[d - 3] };
                        a[down + 6 * (first + k) + d] = g + h / b_v * rates[k][d];
                    }
                }
            }
            let at = self.lu.block(n + c, n + c);
            let a = self.lu.values_mut();
            for r in 0..m {
                a[at + r * m + r] = -e.eps[e.set.row_start[c] + r];
            }
        }
        self.friction_multipliers(e, state);
    }

    /// Load-dependent friction: the load follows the poses of the joint's bodies.
    fn friction_positions(&mut self, e: &Equations<'_>, state: &State<'_>, h: f64) {
        let x = &state.plain;
        for r in &e.loads.rubbing {
            let push = friction_per_load(e, x, r.element);
            let own = &state.lambda[e.set.row_start[r.constraint]..e.set.row_start[r.constraint + 1]];
            let bodies = e.model.joints[r.joint].bodies.map(|b| b.index());
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
                        r.load(e.model, &e.set, &moved, own)
                    };
                    let slope = (load(1.0) - load(-1.0)) / (2.0 * step);
                    for (b, w) in &push {
                        if *b != 0 {
                            let at = self.lu.block(b - 1, l - 1);
                            let a = self.lu.values_mut();
                            for k in 0..3 {
                                a[at + 6 * k + d] -= h * h * slope * w.v[k];
                                a[at + 6 * (3 + k) + d] -= h * h * slope * w.w[k];
                            }
                        }
                    }
                }
            }
        }
    }

    /// Load-dependent friction: the load follows the multipliers of the joint.
    fn friction_multipliers(&mut self, e: &Equations<'_>, state: &State<'_>) {
        let x = &state.plain;
        let n = self.bodies;
        for r in &e.loads.rubbing {
            let push = friction_per_load(e, x, r.element);
            let (c, own) = (r.constraint, &state.lambda[e.set.row_start[r.constraint]..e.set.row_start[r.constraint + 1]]);
            let m = own.len();
            let poses = e.model.joints[r.joint].bodies.map(|b| x.q[b.index()]);
            let slopes = r.slopes(e.model, &e.set, &poses, own);
            for (b, w) in push.iter().filter(|(b, _)| *b != 0) {
                let up = self.lu.block(b - 1, n + c);
                let a = self.lu.values_mut();
                for r in 0..m {
                    for k in 0..3 {
                        a[up + k * m + r] -= slopes[r] * w.v[k];
                        a[up + (3 + k) * m + r] -= slopes[r] * w.w[k];
                    }
                }
            }
        }
    }

    /// Solves for `dq` and `d(h^2 lambda)`, which go to `dq` and `x` of the equations; their `r` and `x` are the residuals.
    pub fn solve(&mut self, e: &mut Equations<'_>, h2: f64) {
        let n = self.bodies;
        for b in 1..=n {
            let r = &e.r[b];
            for k in 0..3 {
                self.x[6 * (b - 1) + k] = -h2 * r.v[k];
                self.x[6 * (b - 1) + 3 + k] = -h2 * r.w[k];
            }
        }
        for (x, r) in self.x[6 * n..].iter_mut().zip(&e.p.x) {
            *x = -r;
        }
        self.lu.solve(&mut self.x);
        for b in 1..=n {
            for k in 0..3 {
                e.p.dq[b].v[k] = self.x[6 * (b - 1) + k];
                e.p.dq[b].w[k] = self.x[6 * (b - 1) + 3 + k];
            }
        }
        e.p.x.copy_from_slice(&self.x[6 * n..]);
    }

    /// The matrix as formed, dense, for tests: rows and columns six per body, then the constraint rows.
    pub fn dense<C: Chart>(&mut self, e: &mut Equations<'_>, x: &Memory<C>, w: Weights) -> Vec<Vec<f64>> {
        self.form_in(e, x, w);
        self.lu.dense()
    }
}
