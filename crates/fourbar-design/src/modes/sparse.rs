//! The lowest modes of large mechanisms at rest, without dense matrices.
//!
//! `(K + s M) x + G^T mu = M b`, `G x = 0` is solved in blocks ([`Kkt`]). Lanczos' method on this operator, in the mass inner product and
//! with full orthogonalisation, gives the frequencies nearest to zero: `theta = 1 / (omega^2 + s)`. Runs are repeated orthogonally to the
//! modes found until no new one appears, because one run finds only one of several equal frequencies.

use crate::kkt::{self, Kkt, Part};
use fourbar::Model;
use fourbar::state::Configuration;
use fourbar::stop;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// Compliance of redundant rows, as a share of their mobility due to inertia.
const COMPLIANCE: f64 = 1e-9;
/// Inertia of massless directions in the factorisation, as a share of that expected from the joints of the body.
const RAISED: f64 = 1e-7;
/// Lanczos steps of one run: for each requested mode, and in addition.
const STEPS: (usize, usize) = (4, 40);
/// Convergence tolerance of a squared frequency.
const CONVERGED: f64 = 1e-11;
/// Maximum number of runs.
const RUNS: usize = 12;

/// A mode with unit modal mass.
pub struct Lowest {
    /// Square of the circular frequency, (rad/s)^2.
    pub omega2: f64,
    /// Motion of all moving bodies.
    pub shape: DVector<f64>,
}

/// Reasons why the sparse method cannot be used.
pub enum Refused {
    /// A force is damped or has no potential.
    Unsymmetric,
    /// The matrix is singular.
    Singular,
}

/// A mechanism at rest with its factorised stiffness.
struct Solver<'m> {
    kkt: Kkt<'m>,
    shift: f64,
}

impl<'m> Solver<'m> {
    fn new(mut kkt: Kkt<'m>, shift: f64) -> Result<Self, Refused> {
        let e = &kkt.equations;
        let share = COMPLIANCE / (fourbar::absolute::equations::COMPLIANCE * shift);
        kkt.eps = e.eps.iter().zip(&e.permanent).map(|(x, p)| if *p { x * share } else { 0.0 }).collect();
        if kkt.factor(shift, Part::Whole) { Ok(Self { kkt, shift }) } else { Err(Refused::Singular) }
    }

    fn mass(&self, x: &DVector<f64>) -> DVector<f64> {
        self.kkt.weigh(x)
    }

    /// The motion that satisfies the constraints and solves the system for `b`.
    fn solve(&mut self, b: &DVector<f64>) -> DVector<f64> {
        self.kkt.solve(b)
    }
}

/// The stiffness of a mechanism at rest with masses as weights. Massless directions have some inertia in the factorisation, which
/// refinement removes.
pub fn formed<'m>(model: &'m Model, state: &Configuration, lambda: &[f64]) -> Kkt<'m> {
    let mut weights = kkt::masses(model);
    let mut reach = vec![0.0_f64; model.bodies.len()];
    for j in &model.joints {
        for (b, f) in j.bodies.iter().zip([&j.F, &j.M]) {
            reach[b.index()] = reach[b.index()].max(f.s.norm());
        }
    }
    for ((w, b), r) in weights.iter_mut().zip(&model.bodies).zip(reach) {
        let usual = b.mass * if r > 0.0 { r * r } else { model.length * model.length };
        if b.J_bar.symmetric_eigenvalues().min() < RAISED * usual {
            w.raised = RAISED * usual;
        }
    }
    let mut kkt = Kkt::new(model, state, weights);
    kkt.form(state, lambda);
    kkt
}

/// A motion of unit mass, and its product with the mass matrix.
type Locked = (DVector<f64>, DVector<f64>);

/// Removes components along given motions of unit mass, twice because of rounding.
fn apart(x: &mut DVector<f64>, list: &[Locked]) {
    for _ in 0..2 {
        for (v, mv) in list {
            let c = mv.dot(x);
            x.axpy(-c, v, 1.0);
        }
    }
}

/// A shift of the order of the slowest pendulum frequency, squared, for a mechanism of this size under gravity.
pub fn first_shift(model: &Model, state: &Configuration) -> f64 {
    let reach = state.q.iter().skip(1).fold(model.length, |s, q| s.max((q.r - state.q[1].r).norm()));
    model.gravity.norm().max(1e-3) / reach
}

/// The modes with frequencies nearest to zero, lowest first.
pub fn lowest(model: &Model, state: &Configuration, lambda: &[f64], count: usize) -> Result<Vec<Lowest>, Refused> {
    let shift = first_shift(model, state);
    let kkt = formed(model, state, lambda);
    let [stiff, damped] = kkt.largest();
    let mass = model.bodies.iter().map(|b| b.mass).fold(0.0, f64::max);
    // Torques about bodies that are carried by joints are the only antisymmetric part of potentials, and it is not there at rest as a whole.
    if damped > 1e-12 * (stiff * mass).sqrt() {
        return Err(Refused::Unsymmetric);
    }
    near(kkt, shift, count)
}

/// The modes with eigenvalues nearest to `-shift`, lowest first.
pub fn near(kkt: Kkt<'_>, shift: f64, count: usize) -> Result<Vec<Lowest>, Refused> {
    let mut solver = Solver::new(kkt, shift)?;
    let mut found = run(&mut solver, count, &[], 1);
    // If all modes found are far stiffer, the shift is raised to them.
    if let Some(least) = found.first().map(|f: &Lowest| f.omega2.abs())
        && least > 1e3 * shift
    {
        solver = Solver::new(solver.kkt, least)?;
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

/// A Lanczos vector of unit mass, its product with the mass matrix, and the solution for it.
struct Step {
    x: DVector<f64>,
    mx: DVector<f64>,
    y: DVector<f64>,
}

/// One run of Lanczos' method orthogonal to locked motions: the converged modes nearest to the shift.
fn run(s: &mut Solver<'_>, count: usize, locked: &[Locked], seed: usize) -> Vec<Lowest> {
    let n = 6 * s.kkt.model.moving();
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
        // Only rounding remains of the solution: the space is exhausted.
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

/// The converged modes in the space searched, up to the first one that has not converged.
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
        // The error of an eigenvalue is of second order in the residual.
        let error = left.dot(&s.mass(&left)).max(0.0);
        if theta == 0.0 || error > CONVERGED * theta * theta {
            break;
        }
        out.push(Lowest { omega2: 1.0 / theta - s.shift, shape });
    }
    out.sort_by(|a, b| a.omega2.total_cmp(&b.omega2));
    out
}
