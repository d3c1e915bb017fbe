//! The stage equations of a step and their simplified Newton iteration.
//!
//! Unknown per stage are the increment `psi` from the start of the step (exponential coordinates), the change `z` of the velocities, the
//! multipliers `lambda` of the independent rows, and the states:
//! ```text
//! R_psi = (1/h) sum E_ij psi_j - T^-1(psi_i) v_i
//! R_v   = (1/h) M sum E_ij z_j + gyroscopic - f + Phi_q^T lambda_i
//! R_c   = Phi_q v_i - nu
//! ```
//! All stages share one matrix, made at the second of them as the last step foretells it, or earlier. Residuals and increments are written in axes that turn with the
//! mechanism: a stiff spring keeps its direction in them. With `s` an eigenvalue of E and `W` the spin of these axes,
//! ```text
//! [ s^2 M + s h (M W + D) + h^2 (D W + K)    U      ] [ dq            ]     [ h^2 R_v + h (s M + h D) R_psi ]
//! [ Phi_q                                   -eps/s  ] [ d(h^2 lambda) ] = - [ (h/s) (R_c + Phi_q R_psi)     ]
//! dv = (s/h + W) dq + R_psi
//! ```
//! Residuals are exact, so the result does not depend on the matrix.

use super::axes::Axes;
use super::coefficients::Coefficients;
use super::frame::Frames;
use super::matrix::{Form, System};
use super::newton::{Convergence, Verdict, estimated};
use crate::absolute::equations::Equations;
use crate::absolute::linear::{At, Linear};
use crate::absolute::states::rounding_of_rates;
use crate::force::eval::Plain;
use crate::integrator::index3::Trouble;
use crate::schur::{InverseMass, unit_weights};
use crate::state::{Configuration, Pose, Twist, Wrench};
use fourbar_math::factor::Factor;
use fourbar_math::so3::{self, tilde};
use nalgebra::{Complex, Matrix3, Vector3};

/// Bodies turn by at most this angle in a step, radians: the exponential coordinates are regular up to a full turn.
const LARGEST_TURN: f64 = 2.4;
/// Increments below this share of lengths, angles and speeds may be rounding.
const ROUNDING: f64 = 1e-12;

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
    pub fn copy_from(&mut self, other: &Self) {
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
    /// Axes of positions and velocities.
    pub frames: Frames,
}

impl Stages {
    pub fn new(bodies: usize, rows: usize, auxiliaries: usize, c: [f64; 3]) -> Self {
        let (t, l, z) = (vec![Twist::zero(); bodies], vec![0.0; rows], vec![0.0; auxiliaries]);
        Self {
            psi: [t.clone(), t.clone(), t.clone()],
            dv: [t.clone(), t.clone(), t],
            dz: [z.clone(), z.clone(), z],
            lambda: [l.clone(), l.clone(), l],
            frames: Frames::new(bodies, c),
        }
    }

    /// Pose and velocity of a body at a stage.
    pub fn at(&self, i: usize, group: &[usize], from: &Point, b: usize) -> (Pose, Twist) {
        let (mut q, mut v) = (from.q[b].moved(&self.psi[i][b]), from.v[b].plus(&self.dv[i][b]));
        if let Some(f) = self.frames.of(group[b]) {
            let turn = self.frames.turn(i, group[b]);
            q.r = f.position(turn, self.frames.until(i), &q.r);
            v.v = turn * v.v;
        }
        (q, v)
    }

    /// Acceleration of a body at a stage of a step of size `h`.
    pub fn acceleration(&self, E: &Matrix3<f64>, i: usize, group: &[usize], from: &Point, b: usize, h: f64) -> Twist {
        let mut a = derivative(E, &self.dv, i, b, h);
        if let Some(f) = self.frames.of(group[b]) {
            a.v = self.frames.turn(i, group[b]) * f.acceleration(&(from.v[b].v + self.dv[i][b].v), &a.v);
        }
        a
    }

    /// Rewrites the increments of a stage from world axes into those of the step.
    pub fn enter(&mut self, i: usize, group: &[usize], from: &Point) {
        for b in 1..from.q.len() {
            let Some(f) = self.frames.of(group[b]) else { continue };
            let turn = self.frames.turn(i, group[b]);
            let (r, v) = (from.q[b].r + self.psi[i][b].v, from.v[b].v + self.dv[i][b].v);
            self.psi[i][b].v = f.inside(turn, self.frames.until(i), &r) - from.q[b].r;
            self.dv[i][b].v = turn.tr_mul(&v) - from.v[b].v;
        }
    }

    /// Poses and velocities a share `x` of the step after its start `from`, before any correction.
    pub fn interpolate(&self, k: &Coefficients, group: &[usize], from: &Point, x: f64, q: &mut [Pose], v: &mut [Twist]) {
        let w = k.through_start(x);
        let sum = |x: &[Vec<Twist>; 3], b: usize| x[0][b].scaled(w[0]).plus(&x[1][b].scaled(w[1])).plus(&x[2][b].scaled(w[2]));
        for b in 1..q.len() {
            q[b] = from.q[b].moved(&sum(&self.psi, b));
            v[b] = from.v[b].plus(&sum(&self.dv, b));
        }
        self.frames.bring(group, x, q, v);
    }
}

/// `(1/h) sum E_ij x_j`.
fn derivative(E: &Matrix3<f64>, x: &[Vec<Twist>; 3], i: usize, b: usize, h: f64) -> Twist {
    let w = [E[(i, 0)] / h, E[(i, 1)] / h, E[(i, 2)] / h];
    Twist { v: x[0][b].v * w[0] + x[1][b].v * w[1] + x[2][b].v * w[2], w: x[0][b].w * w[0] + x[1][b].w * w[1] + x[2][b].w * w[2] }
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
    /// Start of the step for which it was made.
    pub made_from: f64,
    pub factored: f64,
    /// Step for which the states were linearised with it.
    pub made_for: f64,
    /// Rows that are omitted where the matrix was made, because they depend on others.
    pub dropped: Vec<bool>,
    unit: Vec<InverseMass>,
    shift: Vec<f64>,
    pub axes: Axes,
    /// Turns of the axes at the stages.
    turns: [Vec<Matrix3<f64>>; 3],
    /// State at a stage.
    q: Vec<Pose>,
    v: Vec<Twist>,
    v_dot: Vec<Twist>,
    z: Vec<f64>,
    /// Residuals of a stage.
    r_psi: Vec<Twist>,
    r_v: Vec<Wrench>,
    r_c: Vec<f64>,
    nu: Vec<f64>,
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
    pub newton: Convergence,
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
    pub fn new(e: &Equations<'_>, at: &Configuration, start: Point, tol: f64, tau: f64) -> Self {
        let model = e.model;
        let (linear, k) = (Linear::new(e), Coefficients::new());
        let (n, rows, size) = (model.bodies.len(), e.set.rows(), model.auxiliaries());
        let states = model.states.len();
        let all: Vec<(u32, u32)> = (0..9 * states * states).map(|k| ((k / (3 * states)) as u32, (k % (3 * states)) as u32)).collect();
        let tol1 = estimated(tol);
        let noise = rounding_of_rates(model, at, tau);
        let twists = vec![Twist::zero(); n];
        Self {
            real: System::new(&linear, rows, k.real),
            complex: System::new(&linear, rows, k.complex),
            G: vec![0.0; e.G.len()],
            made_at: start.clone(),
            made: false,
            made_from: f64::NAN,
            factored: 0.0,
            made_for: 0.0,
            dropped: e.permanent.clone(),
            unit: unit_weights(model),
            shift: vec![0.0; rows],
            axes: Axes::new(e),
            turns: std::array::from_fn(|_| vec![Matrix3::identity(); n]),
            q: start.q,
            v: twists.clone(),
            v_dot: twists.clone(),
            z: vec![0.0; size],
            r_psi: twists,
            r_v: vec![Wrench::zero(); n],
            r_c: vec![0.0; rows],
            nu: vec![0.0; rows],
            first_state: model.first_state(),
            slopes: vec![0.0; states * states],
            states: (states > 0).then(|| Factor::new(3 * states, &all, usize::MAX, || unreachable!("small matrices are dense"))),
            states_values: vec![0.0; all.len()],
            states_x: vec![0.0; 3 * states],
            rates: vec![0.0; size],
            // Errors below rounding are none, however small a state is.
            state_sizes: noise[noise.len() - states..].iter().map(|n| n * tau / tol1).collect(),
            sizes_now: vec![0.0; states],
            weights: [tol1, model.length, model.length / tau, 1.0 / tau],
            newton: Convergence::new(tol1, ROUNDING / tol1),
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
        e.loads.update(&e.set, &at.q, &at.lambda);
        e.z.copy_from_slice(&at.z);
        let (loads, z) = (std::mem::take(&mut e.loads.by_joint), std::mem::take(&mut e.z));
        let plain = Plain { t: at.t, q: &at.q, v: &at.v, turns: &at.turns, loads: &loads, z: &z };
        if !self.slopes.is_empty() {
            e.states.k = h / self.k.real;
            e.states.slopes(e.model, &plain, &mut self.slopes);
        }
        self.linear.form(e, &At { plain, lambda: &at.lambda });
        (e.loads.by_joint, e.z) = (loads, z);
        self.axes.set_spins(e, at);
        let linear = &mut self.linear;
        for &(i, j, place) in &linear.pairs {
            if i == j {
                let W = tilde(&self.axes.spin_of(i)) * e.model.bodies[i].mass;
                for r in 0..3 {
                    for c in 0..3 {
                        linear.D[place + 6 * r + c] += W[(r, c)];
                    }
                }
            }
            // K becomes K + D W: rows times the cross products of the spins.
            let (spin, own) = self.axes.spins(j, &self.made_at);
            for at in (place..place + 36).step_by(6) {
                for (at, w) in [(at, spin), (at + 3, own)] {
                    let d = Vector3::from_column_slice(&linear.D[at..at + 3]).cross(&w);
                    (0..3).for_each(|c| linear.K[at + c] += d[c]);
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
        let form = Form { linear: &self.linear, e, G: &self.G, dropped: &self.dropped, h, spin: &|b| self.axes.spins(b, &self.made_at) };
        if !(self.real.factor(&form) && self.complex.factor(&form)) {
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
            (self.q[b], self.v[b]) = x.at(i, &self.axes.group, from, b);
        }
        for (z, (from, d)) in self.z.iter_mut().zip(from.z.iter().zip(&x.dz[i])) {
            *z = from + d;
        }
    }

    /// Residuals of stage `i`.
    fn residuals(&mut self, e: &mut Equations<'_>, from: &Point, x: &Stages, i: usize, h: f64) {
        self.place(from, x, i);
        let t = from.t + self.k.c[i] * h;
        for b in 1..self.q.len() {
            let d = derivative(&self.k.E, &x.psi, i, b, h);
            let moved = Twist { v: self.v[b].v, w: so3::tangent_inv(&x.psi[i][b].w) * self.v[b].w };
            self.r_psi[b] = d.plus(&moved.scaled(-1.0));
            if let Some(f) = x.frames.of(self.axes.group[b]) {
                let (r, y) = (from.q[b].r + x.psi[i][b].v, from.v[b].v + x.dv[i][b].v);
                self.r_psi[b].v = x.frames.turn(i, self.axes.group[b]) * (d.v - f.rate(&r, &y));
            }
            self.v_dot[b] = x.acceleration(&self.k.E, i, &self.axes.group, from, b, h);
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
        self.newton.begin();
        loop {
            self.real.clear();
            self.complex.clear();
            let mut of_states = 0.0;
            if self.states.is_some() {
                of_states = self.solve_states(e, from, x, h);
            }
            for i in 0..3 {
                self.residuals(e, from, x, i, h);
                self.axes.turn(e, &self.made_at.q, &self.q);
                self.turns[i].copy_from_slice(&self.axes.turn);
                self.axes.bring(&x.psi[i], (&mut self.r_psi, &mut self.r_v, &mut self.r_c));
                let all = (&self.r_psi[..], &self.r_v[..], &self.r_c[..]);
                self.real.gather(all, self.k.gather[i]);
                self.complex.gather(all, self.k.gather_complex[i]);
            }
            self.solve(e, h, true);
            let size = self.update(from, x, h).max(of_states);
            let verdict = self.newton.judge(size);
            if size.is_finite() && x.psi.iter().flatten().any(|p| p.w.norm() > LARGEST_TURN) {
                return Err(Unsolved { trouble: Trouble::Turn, factor: 0.5 });
            }
            match verdict {
                Verdict::Goes => {}
                Verdict::Done => return Ok(()),
                Verdict::Fails(trouble, factor) => return Err(Unsolved { trouble, factor }),
            }
        }
    }

    /// Solves the real system, and the complex one too.
    fn solve(&mut self, e: &Equations<'_>, h: f64, both: bool) {
        let form = Form { linear: &self.linear, e, G: &self.G, dropped: &self.dropped, h, spin: &|b| self.axes.spins(b, &self.made_at) };
        self.real.solve(&form);
        if both {
            self.complex.solve(&form);
        }
    }

    /// Hands the increments to the stages; gives their size.
    fn update(&mut self, from: &Point, x: &mut Stages, h: f64) -> f64 {
        let n = self.real.dv.len();
        let mut sum = 0.0;
        for i in 0..3 {
            let (a, z) = (self.k.spread[i], self.k.spread_complex[i] * 2.0);
            let at = |real: &[f64], complex: &[Complex<f64>], k: usize| a * real[k] + (z * complex[k]).re;
            let three = |real: &[f64], complex: &[Complex<f64>], k: usize| Vector3::from_fn(|r, _| at(real, complex, k + r));
            let mut most = 0.0_f64;
            for b in 1..from.q.len() {
                let (R, k) = (&self.turns[i][self.axes.group[b]], 6 * (b - 1));
                let dq = Twist { v: R * three(&self.real.x, &self.complex.x, k), w: three(&self.real.x, &self.complex.x, k + 3) };
                let mut dv = Twist { v: R * three(&self.real.dv, &self.complex.dv, k), w: three(&self.real.dv, &self.complex.dv, k + 3) };
                let group = self.axes.group[b];
                let psi = &mut x.psi[i][b];
                let mut dpsi = Twist { v: dq.v, w: so3::tangent_inv(&psi.w) * dq.w };
                if x.frames.of(group).is_some() {
                    let turn = x.frames.turn(i, group);
                    (dpsi.v, dv.v) = (turn.tr_mul(&dpsi.v), turn.tr_mul(&dv.v));
                }
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
            for &(row, g) in &self.axes.triples {
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
            e.loads.update(&e.set, &self.q, &x.lambda[i]);
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
        self.real.clear();
        let w = self.k.e.map(|e| e / h);
        let sum = |x: &[Vec<Twist>; 3], b: usize| x[0][b].scaled(w[0]).plus(&x[1][b].scaled(w[1])).plus(&x[2][b].scaled(w[2]));
        for b in 1..from.q.len() {
            let (mut v, mut a) = (from.v[b], a[b]);
            if let Some(f) = x.frames.of(self.axes.group[b]) {
                (v.v, a.v) = (f.rate(&from.q[b].r, &v.v), f.slope(&v.v, &a.v));
            }
            self.r_psi[b] = v.plus(&sum(&x.psi, b)).scaled(-1.0);
            let d = a.plus(&sum(&x.dv, b));
            self.r_v[b] = Wrench { F: d.v * -e.model.bodies[b].mass, T: -(e.model.bodies[b].J_bar * d.w) };
            self.q[b] = from.q[b];
        }
        self.r_c.fill(0.0);
        self.axes.turn(e, &self.made_at.q, &self.q);
        // The increments are those at the start of the step.
        self.v_dot.fill(Twist::zero());
        self.axes.bring(&self.v_dot, (&mut self.r_psi, &mut self.r_v, &mut self.r_c));
        self.real.gather((&self.r_psi, &self.r_v, &self.r_c), 1.0);
        self.solve(e, h, false);
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
