//! The stage equations of a step and their simplified Newton iteration.
//!
//! Unknown per stage are the increment `psi` from the start of the step (exponential coordinates), the change `z` of the velocities, the
//! multipliers `lambda` of the independent rows, and the states:
//! ```text
//! R_psi = (1/h) sum E_ij psi_j - T^-1(psi_i) v_i
//! R_v   = (1/h) M sum E_ij z_j + gyroscopic - f + Phi_q^T lambda_i
//! R_c   = Phi_q v_i - nu
//! ```
//! All stages share one matrix, made where the step starts or earlier. Residuals and increments are written in axes that turn with the
//! mechanism: a stiff spring keeps its direction in them. With `s` an eigenvalue of E and `W` the spin of these axes,
//! ```text
//! [ s^2 M + s h (M W + D) + h^2 (D W + K)    U      ] [ dq            ]     [ h^2 R_v + h (s M + h D) R_psi ]
//! [ Phi_q                                   -eps/s  ] [ d(h^2 lambda) ] = - [ (h/s) (R_c + Phi_q R_psi)     ]
//! dv = (s/h + W) dq + R_psi
//! ```
//! Residuals are exact, so the result does not depend on the matrix.

use super::coefficients::Coefficients;
use crate::constraint::Rows;
use crate::force::eval::Plain;
use crate::formulation::absolute::equations::Equations;
use crate::formulation::absolute::linear::{At, Linear};
use crate::integrator::index3::Trouble;
use crate::schur::{InverseMass, unit_weights};
use crate::state::{Pose, Twist};
use crate::topology::Groups;
use fourbar_math::BlockLu;
use fourbar_math::factor::Factor;
use fourbar_math::so3::{self, tilde};
use nalgebra::{Complex, ComplexField, Matrix3, Vector3};

/// Newton iterations, at most; before the third one nothing is given up: the first increment lacks the error of the multipliers.
pub(super) const ITERATIONS: usize = 10;
const PATIENT: usize = 3;
/// Bodies turn by at most this angle in a step, radians: the exponential coordinates are regular up to a full turn.
const LARGEST_TURN: f64 = 2.4;
/// Increments below this share of lengths, angles and speeds may be rounding.
const ROUNDING: f64 = 1e-12;
/// Compliance of kept rows relative to that of the equations.
const RIGID: f64 = 1e-4;

/// Rows whose pivot, relative to their diagonal, is below this depend on those before them, with the diagonal shifted by so much.
const DEPENDENT: f64 = 1e-9;
const SHIFT: f64 = 1e-13;

/// The state at an end of a step.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub t: f64,
    pub q: Vec<Pose>,
    pub v: Vec<Twist>,
    pub lambda: Vec<f64>,
    pub turns: Vec<f64>,
    pub z: Vec<f64>,
}

impl Point {
    /// Takes over another one of the same mechanism.
    fn copy_from(&mut self, other: &Self) {
        self.t = other.t;
        self.q.copy_from_slice(&other.q);
        self.v.copy_from_slice(&other.v);
        self.lambda.copy_from_slice(&other.lambda);
        self.turns.copy_from_slice(&other.turns);
        self.z.copy_from_slice(&other.z);
    }
}

/// The three stages of a step.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    pub psi: [Vec<Twist>; 3],
    /// Changes of the velocities, and of inputs and states.
    pub dv: [Vec<Twist>; 3],
    pub dz: [Vec<f64>; 3],
    pub lambda: [Vec<f64>; 3],
}

impl Stages {
    pub fn new(bodies: usize, rows: usize, auxiliaries: usize) -> Self {
        let (t, l, z) = (vec![Twist::zero(); bodies], vec![0.0; rows], vec![0.0; auxiliaries]);
        Self {
            psi: [t.clone(), t.clone(), t.clone()],
            dv: [t.clone(), t.clone(), t],
            dz: [z.clone(), z.clone(), z],
            lambda: [l.clone(), l.clone(), l],
        }
    }

    /// Poses and velocities a share `x` of the step after its start `from`, before any correction.
    pub fn interpolate(&self, k: &Coefficients, from: &Point, x: f64, q: &mut [Pose], v: &mut [Twist]) {
        let w = k.through_start(x);
        let sum = |x: &[Vec<Twist>; 3], b: usize| x[0][b].scaled(w[0]).plus(&x[1][b].scaled(w[1])).plus(&x[2][b].scaled(w[2]));
        for b in 1..q.len() {
            q[b] = from.q[b].moved(&sum(&self.psi, b));
            v[b] = from.v[b].plus(&sum(&self.dv, b));
        }
    }
}

/// A system for one eigenvalue: its factor, and the gathered residuals and increments.
struct System<T> {
    s: T,
    lu: BlockLu<T>,
    /// Residuals of positions, six per moving body, and right-hand side with solution.
    r: Vec<T>,
    x: Vec<T>,
    dv: Vec<T>,
}

impl<T: ComplexField<RealField = f64> + Copy> System<T> {
    fn new(linear: &Linear, rows: usize, s: T) -> Self {
        let n = 6 * linear.bodies;
        Self { s, lu: BlockLu::new(&linear.pattern), r: vec![T::zero(); n], x: vec![T::zero(); n + rows], dv: vec![T::zero(); n] }
    }
}

/// The stage equations with their matrix and workspace; nothing is allocated in a step.
pub(super) struct Solver {
    pub k: Coefficients,
    linear: Linear,
    real: System<f64>,
    complex: System<Complex<f64>>,
    /// Jacobian at the place of the matrix.
    G: Vec<f64>,
    /// Where the matrix was made, and for which step it is factored.
    pub made_at: Point,
    pub made: bool,
    pub factored: f64,
    /// Step for which the states were linearised with it.
    pub made_for: f64,
    /// Rows that are left out where the matrix was made, because they depend on others.
    pub dropped: Vec<bool>,
    unit: Vec<InverseMass>,
    shift: Vec<f64>,
    /// Groups of bodies with common axes: by body; rows that are triples in world axes with their group; spin and turn of each group.
    group: Vec<usize>,
    triples: Vec<(usize, usize)>,
    spin: Vec<Vector3<f64>>,
    mass: Vec<f64>,
    turn: Vec<Matrix3<f64>>,
    means: Vec<Vector3<f64>>,
    turns: [Vec<Matrix3<f64>>; 3],
    /// State at a stage.
    q: Vec<Pose>,
    v: Vec<Twist>,
    v_dot: Vec<Twist>,
    z: Vec<f64>,
    /// Residuals of a stage.
    r_psi: Vec<Twist>,
    r_v: Vec<Twist>,
    r_c: Vec<f64>,
    nu: Vec<f64>,
    /// Gathered residuals of velocities and rows.
    sum: Vec<f64>,
    sum_complex: Vec<Complex<f64>>,
    /// States in the stages: slopes of their rates, the factored matrix of all stages, residuals.
    first_state: usize,
    slopes: Vec<f64>,
    states: Option<Factor>,
    states_values: Vec<f64>,
    states_x: Vec<f64>,
    rates: Vec<f64>,
    /// Largest size of each state so far, or what it changes by in a characteristic time.
    pub state_sizes: Vec<f64>,
    /// The same with the stages that are tried.
    sizes_now: Vec<f64>,
    /// Sizes against which increments are measured: tolerance, length, speed, angular speed.
    pub weights: [f64; 4],
    pub kappa: f64,
    /// How fast the last iteration converged, its remaining error in terms of its last increment, and its length.
    pub theta: f64,
    pub remaining: f64,
    pub iterations: usize,
    pub all_iterations: usize,
    pub evaluations: usize,
    pub matrices: usize,
    pub factorisations: usize,
}

/// A step whose stages do not converge, and by how much smaller it should be.
pub(super) struct Unsolved {
    pub trouble: Trouble,
    pub factor: f64,
}

impl Solver {
    pub fn new(e: &Equations<'_>, start: Point, tol: f64, tau: f64) -> Self {
        let model = e.model;
        let (linear, k) = (Linear::new(e), Coefficients::new());
        let (n, rows, size) = (model.bodies.len(), e.set.rows(), model.auxiliaries());
        // Bodies that constraints or forces connect turn together.
        let mut parts = Groups::new(n);
        let constrained = e.set.list.iter().map(|c| c.bodies.iter().map(|b| b.index()).collect::<Vec<_>>());
        for bodies in constrained.chain(model.forces.iter().map(|(_, f)| f.bodies(model))) {
            let mut moving = bodies.into_iter().filter(|b| *b != 0);
            if let Some(first) = moving.next() {
                moving.for_each(|b| {
                    parts.join(first, b);
                });
            }
        }
        let group: Vec<usize> = (0..n).map(|b| parts.find(b)).collect();
        let mut triples = Vec::new();
        for (c, constraint) in e.set.list.iter().enumerate() {
            let mut row = e.set.row_start[c];
            let body = constraint.bodies.iter().map(|b| b.index()).find(|b| *b != 0);
            for r in &constraint.rows {
                if let (Rows::Point { .. } | Rows::Direction { .. }, Some(b)) = (r, body) {
                    triples.push((row, group[b]));
                }
                row += r.count();
            }
        }
        let mut mass = vec![0.0; n];
        (1..n).for_each(|b| mass[group[b]] += model.bodies[b].mass);
        let states = model.states.len();
        let all: Vec<(u32, u32)> = (0..9 * states * states).map(|k| ((k / (3 * states)) as u32, (k % (3 * states)) as u32)).collect();
        let tol1 = 0.1 * tol.powf(0.8);
        let twists = vec![Twist::zero(); n];
        Self {
            real: System::new(&linear, rows, k.real),
            complex: System::new(&linear, rows, k.complex),
            G: vec![0.0; e.G.len()],
            made_at: start.clone(),
            made: false,
            factored: 0.0,
            made_for: 0.0,
            dropped: e.permanent.clone(),
            unit: unit_weights(model),
            shift: vec![0.0; rows],
            group,
            triples,
            spin: vec![Vector3::zeros(); n],
            mass,
            turn: vec![Matrix3::identity(); n],
            means: vec![Vector3::zeros(); n],
            turns: std::array::from_fn(|_| vec![Matrix3::identity(); n]),
            q: start.q,
            v: twists.clone(),
            v_dot: twists.clone(),
            z: vec![0.0; size],
            r_psi: twists.clone(),
            r_v: twists,
            r_c: vec![0.0; rows],
            nu: vec![0.0; rows],
            sum: vec![0.0; 6 * linear.bodies + rows],
            sum_complex: vec![Complex::new(0.0, 0.0); 6 * linear.bodies + rows],
            first_state: model.first_state(),
            slopes: vec![0.0; states * states],
            states: (states > 0).then(|| Factor::new(3 * states, &all, usize::MAX, || unreachable!("small matrices are dense"))),
            states_values: vec![0.0; all.len()],
            states_x: vec![0.0; 3 * states],
            rates: vec![0.0; size],
            state_sizes: vec![0.0; states],
            sizes_now: vec![0.0; states],
            weights: [tol1, model.length, model.length / tau, 1.0 / tau],
            kappa: (10.0 * f64::EPSILON / tol1).max(tol1.sqrt().min(0.03)),
            theta: 0.0,
            remaining: 1.0,
            iterations: 0,
            all_iterations: 0,
            evaluations: 0,
            matrices: 0,
            factorisations: 0,
            linear,
            k,
        }
    }

    /// Makes the matrix at a state, with what it needs for a step of size `h`; `false` where it is singular.
    pub fn prepare(&mut self, e: &mut Equations<'_>, at: &Point, h: f64) -> bool {
        if !self.made {
            self.make(e, at, h);
        }
        if self.factored != h {
            self.factored = 0.0;
            if !(self.factor(e, h)) {
                return false;
            }
            self.factored = h;
        }
        true
    }

    /// Derivatives at a state.
    pub fn make(&mut self, e: &mut Equations<'_>, at: &Point, h: f64) {
        self.made_at.copy_from(at);
        e.set.jacobian(&at.q, &mut e.G);
        self.G.copy_from_slice(&e.G);
        self.choose_rows(e);
        e.loads.update(e.model, &e.set, &at.q, &at.lambda);
        e.z.copy_from_slice(&at.z);
        let (loads, z) = (std::mem::take(&mut e.loads.by_joint), std::mem::take(&mut e.z));
        let plain = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &loads, z: &z };
        if !self.slopes.is_empty() {
            e.states.k = h / self.k.real;
            e.states.slopes(e.model, &plain, &mut self.slopes);
        }
        self.linear.form(e, &At { plain, lambda: &at.lambda });
        (e.loads.by_joint, e.z) = (loads, z);
        self.spin.fill(Vector3::zeros());
        for b in 1..at.q.len() {
            let g = self.group[b];
            self.spin[g] += at.q[b].A * at.v[b].w * (e.model.bodies[b].mass / self.mass[g]);
        }
        for &(i, j, place) in &self.linear.pairs {
            if i == j {
                let W = tilde(&self.spin[self.group[i]]) * e.model.bodies[i].mass;
                for r in 0..3 {
                    for c in 0..3 {
                        self.linear.D[place + 6 * r + c] += W[(r, c)];
                    }
                }
            }
        }
        self.matrices += 1;
        self.made_for = h;
        (self.made, self.factored) = (true, 0.0);
    }

    /// Leaves out rows that depend on those before them. Which ones changes with the pose: rows of points have world axes.
    fn choose_rows(&mut self, e: &mut Equations<'_>) {
        let schur = &mut e.p.schur;
        if !e.permanent.contains(&true) {
            return;
        }
        schur.G.copy_from_slice(&e.G);
        schur.form(&self.unit, 1.0);
        schur.diagonal(&mut self.shift);
        schur.shift_rows(&self.shift, SHIFT);
        schur.factor_formed();
        for (dropped, pivot) in self.dropped.iter_mut().zip(schur.pivots()) {
            *dropped = *pivot < DEPENDENT;
        }
    }

    fn factor(&mut self, e: &Equations<'_>, h: f64) -> bool {
        self.factorisations += 1;
        let (at, spin, group) = (&self.made_at, &self.spin, &self.group);
        let form = Form { linear: &self.linear, e, G: &self.G, dropped: &self.dropped, h, spin: &|b| (spin[group[b]], at.v[b].w) };
        if !(form.factor(&mut self.real) && form.factor(&mut self.complex)) {
            return false;
        }
        let Some(states) = &mut self.states else { return true };
        let n = e.model.states.len();
        for i in 0..3 {
            for j in 0..3 {
                for a in 0..n {
                    for b in 0..n {
                        let own = if a == b { self.k.E[(i, j)] / h } else { 0.0 };
                        let slope = if i == j { self.slopes[a * n + b] } else { 0.0 };
                        self.states_values[(i * n + a) * 3 * n + j * n + b] = own - slope;
                    }
                }
            }
        }
        states.factor(&self.states_values) > 0.0
    }

    /// State at stage `i` from the start of the step.
    fn place(&mut self, from: &Point, x: &Stages, i: usize) {
        for b in 1..from.q.len() {
            self.q[b] = from.q[b].moved(&x.psi[i][b]);
            self.v[b] = from.v[b].plus(&x.dv[i][b]);
        }
        for (z, (from, d)) in self.z.iter_mut().zip(from.z.iter().zip(&x.dz[i])) {
            *z = from + d;
        }
    }

    /// `(1/h) sum E_ij x_j`.
    fn derivative(E: &Matrix3<f64>, x: &[Vec<Twist>; 3], i: usize, b: usize, h: f64) -> Twist {
        let w = [E[(i, 0)] / h, E[(i, 1)] / h, E[(i, 2)] / h];
        Twist { v: x[0][b].v * w[0] + x[1][b].v * w[1] + x[2][b].v * w[2], w: x[0][b].w * w[0] + x[1][b].w * w[1] + x[2][b].w * w[2] }
    }

    /// Residuals of stage `i`.
    fn residuals(&mut self, e: &mut Equations<'_>, from: &Point, x: &Stages, i: usize, h: f64) {
        self.place(from, x, i);
        let t = from.t + self.k.c[i] * h;
        for b in 1..self.q.len() {
            let d = Self::derivative(&self.k.E, &x.psi, i, b, h);
            let moved = Twist { v: self.v[b].v, w: so3::tangent_inv(&x.psi[i][b].w) * self.v[b].w };
            self.r_psi[b] = d.plus(&moved.scaled(-1.0));
            self.v_dot[b] = Self::derivative(&self.k.E, &x.dv, i, b, h);
        }
        e.set.jacobian(&self.q, &mut e.G);
        e.z.copy_from_slice(&self.z);
        e.motion(&self.q, &self.v, &self.v_dot, &x.lambda[i], &from.turns, t);
        self.r_v.copy_from_slice(&e.r);
        e.set.nu(t, &mut self.nu);
        e.set.multiply(&e.G, &self.v, &mut self.r_c);
        for (r, nu) in self.r_c.iter_mut().zip(&self.nu) {
            *r -= nu;
        }
        self.evaluations += 1;
    }

    /// Turn of every group at the poses in `q` from where the matrix was made.
    fn turn_axes(&mut self, e: &Equations<'_>) {
        self.means.fill(Vector3::zeros());
        for b in 1..self.q.len() {
            let g = self.group[b];
            self.means[g] += so3::log(&(self.q[b].A * self.made_at.q[b].A.transpose())) * (e.model.bodies[b].mass / self.mass[g]);
        }
        for (turn, mean) in self.turn.iter_mut().zip(&self.means) {
            *turn = so3::exp(mean);
        }
    }

    /// How far bodies have turned since the matrix was made, where they were looked at last.
    pub fn turned(&self) -> f64 {
        self.means.iter().fold(0.0, |m, x| m.max(x.norm()))
    }

    /// Writes the residuals in the turned axes; `psi` are the increments at which they were evaluated.
    fn turn_residuals(&mut self, psi: &[Twist]) {
        for b in 1..self.r_psi.len() {
            let R = &self.turn[self.group[b]];
            self.r_psi[b] = Twist { v: R.tr_mul(&self.r_psi[b].v), w: so3::tangent(&psi[b].w) * self.r_psi[b].w };
            self.r_v[b].v = R.tr_mul(&self.r_v[b].v);
        }
        for &(row, g) in &self.triples {
            let x = self.turn[g].tr_mul(&Vector3::from_column_slice(&self.r_c[row..row + 3]));
            self.r_c[row..row + 3].copy_from_slice(x.as_slice());
        }
    }

    /// Adds the residuals with the weights of a system.
    fn gather<T: ComplexField<RealField = f64> + Copy>((r_psi, r_v, r_c): (&[Twist], &[Twist], &[f64]), w: T, r: &mut [T], sum: &mut [T]) {
        let n = r.len();
        for b in 1..r_psi.len() {
            for k in 0..3 {
                let at = 6 * (b - 1) + k;
                r[at] += w * T::from_real(r_psi[b].v[k]);
                r[at + 3] += w * T::from_real(r_psi[b].w[k]);
                sum[at] += w * T::from_real(r_v[b].v[k]);
                sum[at + 3] += w * T::from_real(r_v[b].w[k]);
            }
        }
        for (s, r) in sum[n..].iter_mut().zip(r_c) {
            *s += w * T::from_real(*r);
        }
    }

    /// Solves a system for the increments, with the residuals gathered in `r` and `sum`.
    fn solve<T: ComplexField<RealField = f64> + Copy>(form: &Form<'_>, system: &mut System<T>, sum: &[T]) {
        let System { s, lu, r, x, dv } = system;
        let (n, e) = (r.len(), form.e);
        let (s, hh) = (*s, T::from_real(form.h));
        for b in 1..=form.linear.bodies {
            let (m, J, at) = (e.model.bodies[b].mass, &form.linear.J[b], 6 * (b - 1));
            for k in 0..3 {
                let turned = (0..3).fold(T::zero(), |t, c| t + T::from_real(J[(k, c)]) * r[at + 3 + c]);
                x[at + k] = -(hh * hh * sum[at + k] + hh * s * T::from_real(m) * r[at + k]);
                x[at + 3 + k] = -(hh * hh * sum[at + 3 + k] + hh * s * turned);
            }
        }
        for &(i, j, place) in &form.linear.pairs {
            for row in 0..6 {
                let d = (0..6).fold(T::zero(), |t, c| t + T::from_real(form.linear.D[place + 6 * row + c]) * r[6 * (j - 1) + c]);
                x[6 * (i - 1) + row] -= hh * hh * d;
            }
        }
        for c in 0..e.set.list.len() {
            for (k, row) in (e.set.row_start[c]..e.set.row_start[c + 1]).enumerate() {
                let mut g = sum[n + row];
                for block in e.set.blocks_of(c) {
                    let line = &form.G[block.start + 6 * k..block.start + 6 * k + 6];
                    g = line.iter().zip(&r[6 * (block.body - 1)..]).fold(g, |g, (l, r)| g + T::from_real(*l) * *r);
                }
                x[n + row] = if form.dropped[row] { T::zero() } else { -g * hh / s };
            }
        }
        lu.solve(x);
        for b in 1..=form.linear.bodies {
            let at = 6 * (b - 1);
            let (spin, own) = (form.spin)(b);
            for (first, w) in [(at, spin), (at + 3, own)] {
                for k in 0..3 {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    let turned = T::from_real(w[i]) * x[first + j] - T::from_real(w[j]) * x[first + i];
                    dv[first + k] = s / hh * x[first + k] + turned + r[first + k];
                }
            }
        }
    }

    /// Size of increments of a body against the tolerance.
    fn size(&self, at: &Point, b: usize, psi: &Twist, dv: &Twist) -> f64 {
        let [tol, L, V, W] = self.weights;
        let square = |x: &Vector3<f64>, scale: f64| x.norm_squared() / (scale * scale);
        let (q, v) = (&at.q[b], &at.v[b]);
        let sum = square(&psi.v, L + q.r.norm()) + square(&psi.w, 1.0) + square(&dv.v, V + v.v.norm()) + square(&dv.w, W + v.w.norm());
        (sum / 12.0).sqrt() / tol
    }

    /// Solves the stage equations of a step of size `h` from the prediction in `x`.
    pub fn newton(&mut self, e: &mut Equations<'_>, from: &Point, x: &mut Stages, h: f64) -> Result<(), Unsolved> {
        let (mut last, mut last_ratio) = (0.0_f64, 0.0_f64);
        self.remaining = self.remaining.max(f64::EPSILON).powf(0.8);
        let unsolved = |trouble, factor| Err(Unsolved { trouble, factor });
        for k in 1..=ITERATIONS {
            self.iterations = k;
            self.all_iterations += 1;
            self.clear();
            let mut of_states = 0.0;
            if self.states.is_some() {
                of_states = self.solve_states(e, from, x, h);
            }
            for i in 0..3 {
                self.residuals(e, from, x, i, h);
                self.turn_axes(e);
                self.turns[i].copy_from_slice(&self.turn);
                self.turn_residuals(&x.psi[i]);
                let all = (&self.r_psi[..], &self.r_v[..], &self.r_c[..]);
                Self::gather(all, self.k.gather[i], &mut self.real.r, &mut self.sum);
                Self::gather(all, self.k.gather_complex[i], &mut self.complex.r, &mut self.sum_complex);
            }
            self.solve_both(e, h);
            let size = self.update(from, x, h).max(of_states);
            if !size.is_finite() || size > 1e30 {
                return unsolved(Trouble::Diverges, 0.5);
            }
            if x.psi.iter().flatten().any(|p| p.w.norm() > LARGEST_TURN) {
                return unsolved(Trouble::Turn, 0.5);
            }
            if k > 1 {
                let ratio = size / last;
                // Increments that no longer fall are rounding.
                if ratio > 0.5 && size * self.weights[0] < ROUNDING {
                    self.theta = self.theta.min(0.5);
                    return Ok(());
                }
                self.theta = if k == 2 { ratio } else { (ratio * last_ratio).sqrt() };
                last_ratio = ratio;
                if self.theta < 0.99 {
                    self.remaining = self.theta / (1.0 - self.theta);
                    let left = (ITERATIONS - k) as i32;
                    let missed = self.remaining * size * self.theta.powi(left) / self.kappa;
                    if k >= PATIENT && missed >= 1.0 && self.remaining * size > self.kappa {
                        let factor = 0.8 * missed.clamp(1e-4, 20.0).powf(-1.0 / f64::from(4 + left));
                        return unsolved(Trouble::TooSlow, factor);
                    }
                } else if k >= PATIENT {
                    return unsolved(Trouble::Diverges, 0.5);
                } else {
                    self.remaining = 1.0;
                }
            }
            last = size.max(f64::EPSILON);
            if self.remaining * size <= self.kappa {
                return Ok(());
            }
        }
        unsolved(Trouble::NoConvergence, 0.5)
    }

    fn clear(&mut self) {
        self.real.r.fill(0.0);
        self.sum.fill(0.0);
        self.complex.r.fill(Complex::ZERO);
        self.sum_complex.fill(Complex::ZERO);
    }

    fn solve_both(&mut self, e: &Equations<'_>, h: f64) {
        let (at, spin, group) = (&self.made_at, &self.spin, &self.group);
        let form = Form { linear: &self.linear, e, G: &self.G, dropped: &self.dropped, h, spin: &|b| (spin[group[b]], at.v[b].w) };
        Self::solve(&form, &mut self.real, &self.sum);
        Self::solve(&form, &mut self.complex, &self.sum_complex);
    }

    /// Hands the increments to the stages; gives their size.
    fn update(&mut self, from: &Point, x: &mut Stages, h: f64) -> f64 {
        let n = self.real.r.len();
        let mut sum = 0.0;
        for i in 0..3 {
            let (a, z) = (self.k.spread[i], self.k.spread_complex[i] * 2.0);
            let at = |real: &[f64], complex: &[Complex<f64>], k: usize| a * real[k] + (z * complex[k]).re;
            let three = |real: &[f64], complex: &[Complex<f64>], k: usize| Vector3::from_fn(|r, _| at(real, complex, k + r));
            let mut most = 0.0_f64;
            for b in 1..from.q.len() {
                let (R, k) = (&self.turns[i][self.group[b]], 6 * (b - 1));
                let dq = Twist { v: R * three(&self.real.x, &self.complex.x, k), w: three(&self.real.x, &self.complex.x, k + 3) };
                let dv = Twist { v: R * three(&self.real.dv, &self.complex.dv, k), w: three(&self.real.dv, &self.complex.dv, k + 3) };
                let psi = &mut x.psi[i][b];
                let dpsi = Twist { v: dq.v, w: so3::tangent_inv(&psi.w) * dq.w };
                *psi = psi.plus(&dpsi);
                x.dv[i][b] = x.dv[i][b].plus(&dv);
                most = most.max(self.size(from, b, &dpsi, &dv));
                if most.is_nan() {
                    return f64::NAN;
                }
            }
            for (row, r) in self.r_c.iter_mut().enumerate() {
                *r = at(&self.real.x, &self.complex.x, n + row) / (h * h);
            }
            for &(row, g) in &self.triples {
                let turned = self.turns[i][g] * Vector3::from_column_slice(&self.r_c[row..row + 3]);
                self.r_c[row..row + 3].copy_from_slice(turned.as_slice());
            }
            for (l, r) in x.lambda[i].iter_mut().zip(&self.r_c) {
                *l += r;
            }
            sum += most * most;
        }
        (sum / 3.0).sqrt()
    }

    /// One iteration of the states in all stages; gives the size of its increments.
    fn solve_states(&mut self, e: &mut Equations<'_>, from: &Point, x: &mut Stages, h: f64) -> f64 {
        let (n, first) = (e.model.states.len(), self.first_state);
        self.sizes_now.copy_from_slice(&self.state_sizes);
        for i in 0..3 {
            self.place(from, x, i);
            e.z.copy_from_slice(&self.z);
            // Friction loads are those of the multipliers.
            e.set.jacobian(&self.q, &mut e.G);
            e.loads.update(e.model, &e.set, &self.q, &x.lambda[i]);
            e.state_rates(&self.q, &self.v, &from.turns, from.t + self.k.c[i] * h, &mut self.rates);
            for a in 0..n {
                let d: f64 = (0..3).map(|j| self.k.E[(i, j)] * x.dz[j][first + a]).sum::<f64>() / h;
                self.states_x[i * n + a] = self.rates[first + a] - d;
                let size = self.z[first + a].abs().max(self.rates[first + a].abs() / self.weights[3]);
                self.sizes_now[a] = self.sizes_now[a].max(size);
            }
        }
        if let Some(states) = &mut self.states {
            states.solve(&mut self.states_x);
        }
        let mut most = 0.0_f64;
        for i in 0..3 {
            for a in 0..n {
                let d = self.states_x[i * n + a];
                x.dz[i][first + a] += d;
                let scale = self.weights[0] * self.sizes_now[a];
                most = most.max(if d == 0.0 { 0.0 } else { (d / scale).abs() });
                if d.is_nan() {
                    return f64::NAN;
                }
            }
        }
        most
    }

    /// Error of a step against the tolerance: an embedded formula of third order, filtered by the real matrix, with the accelerations `a` and
    /// rates of states at the start of the step.
    pub fn error(&mut self, e: &mut Equations<'_>, from: &Point, a: &[Twist], rates: &[f64], x: &Stages, h: f64) -> f64 {
        self.clear();
        let w = self.k.e.map(|e| e / h);
        let sum = |x: &[Vec<Twist>; 3], b: usize| x[0][b].scaled(w[0]).plus(&x[1][b].scaled(w[1])).plus(&x[2][b].scaled(w[2]));
        for b in 1..from.q.len() {
            self.r_psi[b] = from.v[b].plus(&sum(&x.psi, b)).scaled(-1.0);
            let d = a[b].plus(&sum(&x.dv, b));
            self.r_v[b] = Twist { v: d.v * -e.model.bodies[b].mass, w: -(e.model.bodies[b].J_bar * d.w) };
            self.q[b] = from.q[b];
        }
        self.r_c.fill(0.0);
        self.turn_axes(e);
        // The increments are those at the start of the step.
        self.v_dot.fill(Twist::zero());
        let zero = std::mem::take(&mut self.v_dot);
        self.turn_residuals(&zero);
        self.v_dot = zero;
        Self::gather((&self.r_psi, &self.r_v, &self.r_c), 1.0, &mut self.real.r, &mut self.sum);
        {
            let (at, spin, group) = (&self.made_at, &self.spin, &self.group);
            let form = Form { linear: &self.linear, e, G: &self.G, dropped: &self.dropped, h, spin: &|b| (spin[group[b]], at.v[b].w) };
            Self::solve(&form, &mut self.real, &self.sum);
        }
        let mut most = 0.0_f64;
        for b in 1..from.q.len() {
            let k = 6 * (b - 1);
            let twist = |x: &[f64]| Twist { v: Vector3::from_column_slice(&x[k..k + 3]), w: Vector3::from_column_slice(&x[k + 3..k + 6]) };
            let size = self.size(from, b, &twist(&self.real.x), &twist(&self.real.dv));
            if size.is_nan() {
                return f64::INFINITY;
            }
            most = most.max(size);
        }
        most.max(self.error_of_states(e, rates, x, h))
    }

    fn error_of_states(&mut self, e: &Equations<'_>, rates: &[f64], x: &Stages, h: f64) -> f64 {
        let (n, first) = (e.model.states.len(), self.first_state);
        let Some(states) = &mut self.states else { return 0.0 };
        // The matrix of the stages solves for one stage where the others have no error: a filter of the same kind.
        self.states_x.fill(0.0);
        for a in 0..n {
            let sum: f64 = (0..3).map(|i| self.k.e[i] * x.dz[i][first + a]).sum::<f64>() / h;
            self.states_x[2 * n + a] = rates[first + a] + sum;
        }
        states.solve(&mut self.states_x);
        (0..n).fold(0.0_f64, |m, a| m.max((self.states_x[2 * n + a] / (self.weights[0] * self.sizes_now[a].max(f64::MIN_POSITIVE))).abs()))
    }

    /// Work of drives and forces in a step: powers at its stages.
    pub fn powers(&mut self, e: &mut Equations<'_>, from: &Point, x: &Stages, h: f64) -> [f64; 3] {
        std::array::from_fn(|i| {
            self.place(from, x, i);
            e.z.copy_from_slice(&self.z);
            let t = from.t + self.k.c[i] * h;
            e.power(&self.q, &self.v, &x.lambda[i], &from.turns, t)
        })
    }
}

/// What the matrix of a step is made of.
struct Form<'a> {
    linear: &'a Linear,
    e: &'a Equations<'a>,
    G: &'a [f64],
    dropped: &'a [bool],
    h: f64,
    /// Spin of the axes of a body's translations, and of its own.
    spin: &'a dyn Fn(usize) -> (Vector3<f64>, Vector3<f64>),
}

impl Form<'_> {
    /// Forms and factors the matrix of one eigenvalue; `false` where it is singular.
    fn factor<T: ComplexField<RealField = f64> + Copy>(&self, system: &mut System<T>) -> bool {
        let (linear, e, h, n) = (self.linear, self.e, self.h, self.linear.bodies);
        let (s, sh, h2) = (system.s, system.s * T::from_real(h), T::from_real(h * h));
        let a = system.lu.clear();
        for &(i, j, at) in &linear.pairs {
            let D = Linear::block(&linear.D, at);
            let (spin, own) = (self.spin)(j);
            let mut W = nalgebra::Matrix6::zeros();
            W.fixed_view_mut::<3, 3>(0, 0).copy_from(&tilde(&spin));
            W.fixed_view_mut::<3, 3>(3, 3).copy_from(&tilde(&own));
            let mut M = nalgebra::Matrix6::zeros();
            if i == j {
                (0..3).for_each(|k| M[(k, k)] = e.model.bodies[i].mass);
                M.fixed_view_mut::<3, 3>(3, 3).copy_from(&linear.J[i]);
            }
            let (second, first, zeroth) = (M, M * W + D, D * W + Linear::block(&linear.K, at));
            for r in 0..6 {
                for c in 0..6 {
                    a[at + 6 * r + c] =
                        s * s * T::from_real(second[(r, c)]) + sh * T::from_real(first[(r, c)]) + h2 * T::from_real(zeroth[(r, c)]);
                }
            }
        }
        for c in 0..e.set.list.len() {
            let rows = e.set.row_start[c]..e.set.row_start[c + 1];
            let m = rows.len();
            for block in e.set.blocks_of(c) {
                let (up, down) = (linear.pattern.block(block.body - 1, n + c), linear.pattern.block(n + c, block.body - 1));
                for (r, _) in rows.clone().enumerate().filter(|(_, row)| !self.dropped[*row]) {
                    for k in 0..6 {
                        a[up + k * m + r] = T::from_real(linear.U[up + k * m + r]);
                        a[down + 6 * r + k] = T::from_real(self.G[block.start + 6 * r + k]);
                    }
                }
            }
            let at = linear.pattern.block(n + c, n + c);
            for (r, row) in rows.enumerate() {
                a[at + r * m + r] = if self.dropped[row] { T::one() } else { -T::from_real(RIGID * e.eps[row]) / s };
            }
        }
        system.lu.factor()
    }
}
