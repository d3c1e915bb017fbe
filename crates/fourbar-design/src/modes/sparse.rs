//! The lowest modes of large mechanisms at rest, without dense matrices.
//!
//! `(K + s M) x + G^T mu = M b`, `G x = 0` is solved with the block factor of the engine's exact iteration matrices, a small compliance of the
//! rows being taken back by refinement, so that redundant rows are welcome. Lanczos' method on this operator, in the inner product of the masses
//! and with full orthogonalisation, gives the frequencies nearest to zero: `theta = 1 / (omega^2 + s)`. Runs are repeated beside what was found
//! until nothing new comes, because one run sees only one of several equal frequencies.

use fourbar::Model;
use fourbar::absolute::equations::Equations;
use fourbar::absolute::linear::{At, Linear};
use fourbar::evaluate::{by_body, stacked};
use fourbar::state::{Configuration, Wrench};
use fourbar::stop;
use fourbar_math::BlockLu;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Compliance of rows that depend on others, as a share of what they give way by inertia.
const COMPLIANCE: f64 = 1e-9;
/// Inertia that directions without any have in the factor, as a share of what the joints of the body would give.
const RAISED: f64 = 1e-7;
/// Refinements of a solution, at most, and the residual that is enough.
const REFINED: usize = 40;
const ENOUGH: f64 = 1e-13;
/// Steps of one run of Lanczos' method for each wanted mode, beyond a few.
const STEPS: (usize, usize) = (4, 40);
/// Convergence of a frequency's square.
const CONVERGED: f64 = 1e-11;
/// Runs beside what was found, at most.
const RUNS: usize = 12;

/// A mode: square of the circular frequency, motion of all bodies with unit mass.
pub struct Lowest {
    /// Square of the circular frequency, (rad/s)^2.
    pub omega2: f64,
    /// Motion of all moving bodies.
    pub shape: DVector<f64>,
}

/// Why large matrices cannot be used.
pub enum Refused {
    /// A force is damped or has no potential.
    Unsymmetric,
    /// The matrix is singular.
    Singular,
}

/// A mechanism at rest with its factored stiffness.
struct Solver<'m> {
    model: &'m Model,
    equations: Equations<'m>,
    linear: Linear,
    lu: BlockLu,
    shift: f64,
    eps: Vec<f64>,
    /// Inertias that are added in the factor alone, by body.
    raised: Vec<f64>,
}

impl<'m> Solver<'m> {
    fn new(model: &'m Model, state: &Configuration, lambda: &[f64], shift: f64) -> Result<Self, Refused> {
        let mut equations = Equations::new(model, state);
        equations.set.choose(state.t);
        let mut linear = Linear::new(&equations);
        let loads = vec![0.0; model.joints.len()];
        let plain = fourbar::force::eval::Plain { loads: &loads, ..crate::operator::plain(state) };
        equations.jacobian(&state.q);
        linear.form(&mut equations, &At { plain, lambda });
        let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let (stiff, damped) = (largest(&linear.K), largest(&linear.D));
        let mass = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
        // Torques about bodies that are carried by joints are the only antisymmetric part of potentials, and it is not there at rest as a whole.
        if damped > 1e-12 * (stiff * mass).sqrt() {
            return Err(Refused::Unsymmetric);
        }
        let share = COMPLIANCE / (fourbar::absolute::equations::COMPLIANCE * shift);
        let eps = equations.eps.iter().zip(&equations.permanent).map(|(x, p)| if *p { x * share } else { 0.0 }).collect();
        let mut reach = vec![0.0_f64; model.bodies.len()];
        for j in &model.joints {
            for (b, f) in j.bodies.iter().zip([&j.F, &j.M]) {
                reach[b.index()] = reach[b.index()].max(f.s.norm());
            }
        }
        let raised = |(b, r): (&fourbar::model::Body, f64)| {
            let usual = b.mass * if r > 0.0 { r * r } else { model.length * model.length };
            if b.J_bar.symmetric_eigenvalues().min() < RAISED * usual { RAISED * usual } else { 0.0 }
        };
        let raised = model.bodies.iter().zip(reach).map(raised).collect();
        let mut s = Self { model, raised, lu: BlockLu::new(&linear.pattern), equations, linear, shift, eps };
        s.fill();
        if s.lu.factor() { Ok(s) } else { Err(Refused::Singular) }
    }

    fn fill(&mut self) {
        let (linear, e, n) = (&self.linear, &self.equations, self.linear.bodies);
        let a = self.lu.clear();
        for &(i, j, at) in &linear.pairs {
            let mut B = Linear::block(&linear.K, at);
            if i == j {
                let body = &e.model.bodies[i];
                (0..3).for_each(|k| B[(k, k)] += self.shift * body.mass);
                // Directions without inertia have some here, which refinement takes back.
                let turning = (body.J_bar + nalgebra::Matrix3::identity() * self.raised[i]) * self.shift + B.fixed_view::<3, 3>(3, 3);
                B.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
            }
            for r in 0..6 {
                (0..6).for_each(|c| a[at + 6 * r + c] = B[(r, c)]);
            }
        }
        for c in 0..e.set.list.len() {
            let m = e.set.row_start[c + 1] - e.set.row_start[c];
            for block in e.set.blocks_of(c) {
                let (up, down) = (linear.pattern.block(block.body - 1, n + c), linear.pattern.block(n + c, block.body - 1));
                a[up..up + 6 * m].copy_from_slice(&linear.U[up..up + 6 * m]);
                a[down..down + 6 * m].copy_from_slice(&e.G[block.start..block.start + 6 * m]);
            }
            let at = linear.pattern.block(n + c, n + c);
            (0..m).for_each(|r| a[at + r * m + r] = -self.eps[e.set.row_start[c] + r]);
        }
    }

    fn mass(&self, x: &DVector<f64>) -> DVector<f64> {
        let bodies = by_body(x).into_iter().zip(&self.model.bodies);
        stacked(&bodies.map(|(x, b)| Wrench { F: x.v * b.mass, T: b.J_bar * x.w }).collect::<Vec<_>>())
    }

    /// `(K + s M) x`.
    fn stiffness(&self, x: &DVector<f64>) -> DVector<f64> {
        let mut y = self.mass(x) * self.shift;
        for &(i, j, at) in &self.linear.pairs {
            let part = Linear::block(&self.linear.K, at) * x.fixed_rows::<6>(6 * (j - 1));
            let mut rows = y.fixed_rows_mut::<6>(6 * (i - 1));
            rows += part;
        }
        y
    }

    /// The motion that obeys the constraints and answers to `b`.
    fn solve(&mut self, b: &DVector<f64>) -> DVector<f64> {
        let (n, rows) = (b.len(), self.eps.len());
        let (mut x, mut mu) = (DVector::zeros(n), vec![0.0; rows]);
        let mut work = vec![0.0; n + rows];
        let mut last = f64::INFINITY;
        for _ in 0..REFINED {
            let e = &self.equations;
            let mut pull = vec![Wrench::zero(); self.model.bodies.len()];
            e.set.add_transposed(&e.G, &mu, 1.0, &mut pull);
            let left = b - self.stiffness(&x) - stacked(&pull);
            let mut gap = vec![0.0; rows];
            e.set.multiply(&e.G, &by_body(&x), &mut gap);
            let size = left.amax() / b.amax().max(f64::MIN_POSITIVE)
                + gap.iter().fold(0.0_f64, |m, g| m.max(g.abs())) / x.amax().max(f64::MIN_POSITIVE);
            if size <= ENOUGH || size > 0.8 * last {
                break;
            }
            last = size;
            work[..n].copy_from_slice(left.as_slice());
            work[n..].iter_mut().zip(&gap).for_each(|(w, g)| *w = -g);
            self.lu.solve(&mut work);
            x += DVector::from_column_slice(&work[..n]);
            mu.iter_mut().zip(&work[n..]).for_each(|(m, w)| *m += w);
        }
        x
    }
}

/// A motion of unit mass, and the same times the masses.
type Locked = (DVector<f64>, DVector<f64>);

/// Components along given motions of unit mass taken out, twice against rounding.
fn apart(x: &mut DVector<f64>, list: &[Locked]) {
    for _ in 0..2 {
        for (v, mv) in list {
            let c = mv.dot(x);
            x.axpy(-c, v, 1.0);
        }
    }
}

/// The modes whose frequencies are nearest to zero, the lowest first.
pub fn lowest(model: &Model, state: &Configuration, lambda: &[f64], count: usize) -> Result<Vec<Lowest>, Refused> {
    // A shift of the order of the slowest swing that gravity gives a mechanism of this size, or that springs give it.
    let reach = state.q.iter().skip(1).fold(model.length, |s, q| s.max((q.r - state.q[1].r).norm()));
    let mut shift = model.gravity.norm().max(1e-3) / reach;
    let mut solver = Solver::new(model, state, lambda, shift)?;
    let mut found = run(&mut solver, count, &[], 1);
    // Where everything found is far stiffer, the shift goes there.
    if let Some(least) = found.first().map(|f: &Lowest| f.omega2.abs())
        && least > 1e3 * shift
    {
        shift = least;
        solver = Solver::new(model, state, lambda, shift)?;
        found = run(&mut solver, count, &[], 1);
    }
    for k in 2..RUNS {
        found.sort_by(|a, b| a.omega2.total_cmp(&b.omega2));
        found.truncate(count);
        let locked: Vec<Locked> = found.iter().map(|f| (f.shape.clone(), solver.mass(&f.shape))).collect();
        let more = run(&mut solver, count, &locked, k);
        let limit = if found.len() < count { f64::INFINITY } else { found.last().map_or(f64::INFINITY, |f| f.omega2) };
        let new: Vec<Lowest> = more.into_iter().filter(|m| m.omega2 < limit * (1.0 - 1e-9)).collect();
        if new.is_empty() {
            break;
        }
        found.extend(new);
    }
    found.sort_by(|a, b| a.omega2.total_cmp(&b.omega2));
    found.truncate(count);
    Ok(found)
}

/// A direction of the search: of unit mass, times the masses, and its answer.
struct Step {
    x: DVector<f64>,
    mx: DVector<f64>,
    y: DVector<f64>,
}

/// One run of Lanczos' method beside locked motions: the converged modes of the largest answers.
fn run(s: &mut Solver<'_>, count: usize, locked: &[Locked], seed: usize) -> Vec<Lowest> {
    let n = 6 * s.model.moving();
    let most = (STEPS.0 * count + STEPS.1).min(n);
    let start = DVector::from_fn(n, |k, _| (1.0 + (k * (2 * seed + 1)) as f64).sin());
    let mut x = s.solve(&s.mass(&start));
    let mut steps: Vec<Step> = Vec::new();
    let mut known: Vec<Locked> = locked.to_vec();
    let mut top = 0.0_f64;
    loop {
        let before = x.dot(&s.mass(&x)).max(0.0).sqrt();
        apart(&mut x, &known);
        let mx = s.mass(&x);
        let size = x.dot(&mx).max(0.0).sqrt();
        // Nothing is left of the answer but rounding: every motion was seen.
        let seen = size <= 1e-10 * before.max(top) || !size.is_finite();
        if seen || steps.len() >= most || stop::told() {
            return converged(s, &steps, locked, count);
        }
        let (x0, mx0) = (x / size, mx / size);
        let y = s.solve(&mx0);
        top = top.max(y.dot(&s.mass(&y)).max(0.0).sqrt());
        known.push((x0.clone(), mx0.clone()));
        x = y.clone();
        steps.push(Step { x: x0, mx: mx0, y });
        if steps.len().is_multiple_of(20) {
            let done = converged(s, &steps, locked, count);
            if done.len() >= count {
                return done;
            }
        }
    }
}

/// The modes of the space searched that have converged, up to the first that has not.
fn converged(s: &Solver<'_>, steps: &[Step], locked: &[Locked], count: usize) -> Vec<Lowest> {
    let m = steps.len();
    if m == 0 {
        return Vec::new();
    }
    let H = DMatrix::from_fn(m, m, |i, j| 0.5 * (steps[i].mx.dot(&steps[j].y) + steps[j].mx.dot(&steps[i].y)));
    let e = SymmetricEigen::new(H);
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| e.eigenvalues[b].abs().total_cmp(&e.eigenvalues[a].abs()));
    let mut out = Vec::new();
    for &k in order.iter().take(count) {
        let (theta, c) = (e.eigenvalues[k], e.eigenvectors.column(k));
        let n = steps[0].x.len();
        let (mut shape, mut left) = (DVector::zeros(n), DVector::zeros(n));
        for (c, step) in c.iter().zip(steps) {
            shape.axpy(*c, &step.x, 1.0);
            left.axpy(*c, &step.y, 1.0);
        }
        left.axpy(-theta, &shape, 1.0);
        apart(&mut left, locked);
        // The error of an eigenvalue is of second order in what is left.
        let error = left.dot(&s.mass(&left)).max(0.0);
        if theta == 0.0 || error > CONVERGED * theta * theta {
            break;
        }
        out.push(Lowest { omega2: 1.0 / theta - s.shift, shape });
    }
    out.sort_by(|a, b| a.omega2.total_cmp(&b.omega2));
    out
}
