//! Motion of a mechanism with loops in absolute coordinates: explicit Runge-Kutta-Munthe-Kaas steps on rotations, with a projection after
//! each step.
//!
//! ```text
//! Y_j = y exp(D_j),  D_j = h sum a_ji k_i,  k_j = (v, T^-1(D_j) omega, a) at Y_j,      y' = closed(y exp(h sum b_i k_i))
//! ```
//! Every stage has a separate set of equations, so that the factorisations of a whole step are available to the backward pass.

use super::rows::Pull;
use crate::tree::places;
use fourbar::Model;
use fourbar::absolute::equations::Equations;
use fourbar::analysis::assembly::update_turns;
use fourbar::constraint::ConstraintSet;
use fourbar::formulation::lie::Yielding;
use fourbar::integrator::first_order::{Estimate, Tableau, Weights, combined_error};
use fourbar::projector::largest;
use fourbar::state::{Configuration, Pose, Twist};
use fourbar_math::so3;
use nalgebra::Vector3;
use std::ops::Range;

type V = Vector3<f64>;

/// Residuals below this share of the extent, or of the speed, are rounding errors.
const CLOSED: f64 = 1e-13;
/// Maximum number of corrections after a step.
const CORRECTIONS: usize = 12;
/// Largest residual after a step, as a share of the characteristic length.
const FARTHEST: f64 = 0.1;
/// Time scale that converts velocities to lengths in the error of a step.
const TAU: f64 = 0.1;
/// Maximum number of steps.
const MOST: usize = 10_000_000;
/// Largest rotation of a body in a step, rad.
const TURN: f64 = 1.5;
/// Count of numbers that store a body.
const STORED: usize = 18;

/// An increment of a body: position, rotation, velocity and angular velocity.
pub type Increment = Pull;

/// Poses and velocities, ground first, and counted angles.
#[derive(Clone, Default)]
pub struct State {
    pub q: Vec<Pose>,
    pub v: Vec<Twist>,
    pub turns: Vec<f64>,
}

impl State {
    pub fn of(c: &Configuration) -> Self {
        Self { q: c.q.clone(), v: c.v.clone(), turns: c.turns.clone() }
    }

    pub fn configuration(&self, t: f64, like: &Configuration) -> Configuration {
        Configuration { t, q: self.q.clone(), v: self.v.clone(), turns: self.turns.clone(), z: like.z.clone() }
    }

    /// Count of numbers that store a state.
    pub fn stored(&self) -> usize {
        STORED * (self.q.len() - 1) + self.turns.len()
    }

    pub fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        let bodies = self.q.iter().zip(&self.v).skip(1);
        let numbers = bodies.flat_map(|(q, v)| q.r.iter().chain(q.A.iter()).chain(v.v.iter()).chain(v.w.iter()));
        numbers.chain(&self.turns).copied()
    }

    pub fn read(&mut self, x: &[f64]) {
        for (x, (q, v)) in x.chunks_exact(STORED).zip(self.q.iter_mut().zip(&mut self.v).skip(1)) {
            q.r.copy_from_slice(&x[..3]);
            q.A.copy_from_slice(&x[3..12]);
            v.v.copy_from_slice(&x[12..15]);
            v.w.copy_from_slice(&x[15..]);
        }
        let turns = x.len() - self.turns.len();
        self.turns.copy_from_slice(&x[turns..]);
    }

    pub fn copy(&mut self, from: &Self) {
        self.q.copy_from_slice(&from.q);
        self.v.copy_from_slice(&from.v);
        self.turns.copy_from_slice(&from.turns);
    }
}

/// A stage of a step.
pub struct Stage<'m> {
    /// Its equations, factorised.
    pub e: Equations<'m>,
    pub t: f64,
    pub q: Vec<Pose>,
    pub v: Vec<Twist>,
    pub a: Vec<Twist>,
    pub lambda: Vec<f64>,
    /// Increment from the start of the step.
    pub d: Vec<Increment>,
    /// Its rates.
    k: Vec<Increment>,
}

/// A mechanism in motion.
pub struct Mover<'m> {
    pub model: &'m Model,
    pub tableau: &'static Tableau,
    nodes: Vec<f64>,
    pub stages: Vec<Stage<'m>>,
    /// Equations at the ends of steps.
    pub closing: Equations<'m>,
    pub t: f64,
    pub y: State,
    next: State,
    d: Vec<Increment>,
    h: f64,
}

/// Adds weighted increments.
fn combine<'a>(weights: Weights, h: f64, of: impl Fn(usize) -> &'a [Increment], out: &mut [Increment]) {
    out.fill(Increment::default());
    for &(i, w) in weights {
        out.iter_mut().zip(of(i)).for_each(|(d, k)| d.add(k, h * w));
    }
}

impl<'m> Mover<'m> {
    /// Starts from a consistent state.
    pub fn new(model: &'m Model, set: &ConstraintSet, start: &Configuration, tableau: &'static Tableau) -> Self {
        let n = model.bodies.len();
        let count = tableau.a.len() + usize::from(tableau.same_last);
        let equations = || Equations::of(model, set.clone(), start);
        let stage = |_: usize| {
            let mut e = equations();
            // Off the constraint manifold redundant rows are slightly inconsistent.
            let yielding = Yielding::new(&mut e, None);
            yielding.write(&mut e.eps);
            Stage {
                t: start.t,
                q: start.q.clone(),
                v: start.v.clone(),
                a: vec![Twist::zero(); n],
                lambda: vec![0.0; e.set.rows()],
                d: vec![Increment::default(); n],
                k: vec![Increment::default(); n],
                e,
            }
        };
        Self {
            model,
            tableau,
            nodes: places(tableau),
            stages: (0..count).map(stage).collect(),
            closing: equations(),
            t: start.t,
            y: State::of(start),
            next: State::of(start),
            d: vec![Increment::default(); n],
            h: 0.0,
        }
    }

    /// Whether massless directions were given a small inertia, so that accelerations need iteration.
    pub fn is_floored(&self) -> bool {
        self.closing.floored
    }

    /// Evaluates some stages of a step from a state; the stages before them must be known.
    pub fn evaluate(&mut self, t: f64, h: f64, y: &State, which: Range<usize>) -> bool {
        for j in which {
            let (before, rest) = self.stages.split_at_mut(j);
            let Stage { e, t: at, q, v, a, lambda, d, k } = &mut rest[0];
            if j > 0 {
                combine(self.tableau.a[j - 1], h, |i| &before[i].k, d);
            } else {
                d.fill(Increment::default());
            }
            if !d.iter().all(|d| d.turn.norm_squared() < TURN * TURN) {
                return false;
            }
            *at = t + self.nodes[j] * h;
            for b in 1..q.len() {
                moved(&y.q[b], &y.v[b], &d[b], &mut q[b], &mut v[b]);
            }
            e.accelerate((q, v, &y.turns, *at), None, false, a, lambda);
            for b in 1..q.len() {
                k[b] = Increment { r: v[b].v, turn: so3::tangent_inv(&d[b].turn) * v[b].w, v: a[b].v, w: a[b].w };
            }
        }
        true
    }

    /// Computes the projected end of a step whose stages are known; `false` on failure.
    pub fn end(&mut self, t: f64, h: f64, y: &State, out: &mut State) -> bool {
        let Some(result) = self.tableau.a.last() else { return false };
        let stages = &self.stages;
        combine(result, h, |i| &stages[i].k, &mut self.d);
        if !self.d.iter().all(|d| d.turn.norm_squared() < TURN * TURN && d.size().is_finite()) {
            return false;
        }
        for b in 1..y.q.len() {
            moved(&y.q[b], &y.v[b], &self.d[b], &mut out.q[b], &mut out.v[b]);
        }
        out.turns.copy_from_slice(&y.turns);
        self.close(t + h, out)
    }

    /// Increment of a step whose stages are known.
    pub fn increment(&mut self, h: f64) -> &[Increment] {
        let stages = &self.stages;
        if let Some(result) = self.tableau.a.last() {
            combine(result, h, |i| &stages[i].k, &mut self.d);
        }
        &self.d
    }

    /// Corrects poses, then velocities, by the smallest changes in the mass metric.
    fn close(&mut self, t: f64, y: &mut State) -> bool {
        let (e, L) = (&mut self.closing, self.model.length);
        let extent = y.q[1..].iter().fold(L, |m, q| m.max(q.r.amax()));
        e.jacobian(&y.q);
        e.factor(1.0);
        let mut last = f64::INFINITY;
        for n in 0..=CORRECTIONS {
            e.constraints(&y.q, &y.turns, t);
            let error = largest(&e.Phi);
            if error <= CLOSED * extent || (n > 1 && error > 0.5 * last && error <= 1e3 * CLOSED * extent) {
                break;
            }
            if n == CORRECTIONS || !error.is_finite() || error > FARTHEST * L {
                return false;
            }
            last = error;
            e.p.x.copy_from_slice(&e.Phi);
            e.normal_part();
            y.q.iter_mut().zip(&e.p.dq).skip(1).for_each(|(q, d)| *q = q.moved(&d.scaled(-1.0)));
        }
        y.q[1..].iter_mut().for_each(|q| q.A = so3::orthonormalise(&q.A));
        e.jacobian(&y.q);
        let speed = y.v.iter().fold(1e-3 * L / TAU, |m, v| m.max(v.v.amax()).max(L * v.w.amax()));
        let mut last = f64::INFINITY;
        for n in 0..CORRECTIONS {
            let error = e.velocity_residual(t, &y.v);
            if error <= CLOSED * speed || (n > 1 && error > 0.5 * last) || !error.is_finite() {
                break;
            }
            last = error;
            e.normal_part();
            y.v.iter_mut().zip(&e.p.dq).skip(1).for_each(|(v, d)| *v = v.plus(&d.scaled(-1.0)));
        }
        update_turns(self.model, &y.q, &mut y.turns);
        true
    }

    /// Norm of an error estimate of the current step, in lengths.
    fn size(&mut self, weights: Weights, h: f64) -> f64 {
        let (stages, L) = (&self.stages, self.model.length);
        combine(weights, h, |i| &stages[i].k, &mut self.d);
        let one = |d: &Increment| d.r.amax().max(L * d.turn.amax()).max(TAU * d.v.amax()).max(TAU * L * d.w.amax());
        let most = self.d.iter().fold(0.0_f64, |m, d| m.max(one(d)));
        if self.d.iter().all(Pull::is_finite) { most } else { f64::INFINITY }
    }

    /// Takes one step and reports it through `kept` before the state changes. Returns success and the error over the tolerance.
    fn step(&mut self, h: f64, end: f64, kept: &mut dyn FnMut(f64, f64, &State), tolerance: Option<f64>) -> (bool, f64) {
        let (y, mut next) = (std::mem::take(&mut self.y), std::mem::take(&mut self.next));
        let rows = self.tableau.a.len();
        let mut ok = self.evaluate(self.t, h, &y, 0..rows);
        let mut error = 0.0;
        if ok && tolerance.is_some() && self.tableau.same_last {
            ok = self.evaluate(self.t, h, &y, rows..rows + 1);
        }
        if let Some(tolerance) = tolerance.filter(|_| ok) {
            error = match self.tableau.error {
                Estimate::None => 0.0,
                Estimate::One { e, .. } => self.size(e, h),
                Estimate::Two { e, coarse, .. } => combined_error(self.size(e, h), self.size(coarse, h)),
            } / tolerance;
            ok = error <= 1.0;
        } else if !ok {
            error = f64::INFINITY;
        }
        if ok && !self.end(self.t, h, &y, &mut next) {
            (ok, error) = (false, f64::INFINITY);
        }
        if ok {
            kept(self.t, h, &y);
            self.t = end;
            (self.y, self.next) = (next, y);
        } else {
            (self.y, self.next) = (y, next);
        }
        (ok, error)
    }

    /// Takes a number of equal steps to a time.
    pub fn fixed(&mut self, t: f64, steps: usize, kept: &mut dyn FnMut(f64, f64, &State)) -> bool {
        let h = (t - self.t) / steps as f64;
        (1..=steps).all(|k| {
            let end = if k == steps { t } else { self.t + h };
            self.step(h, end, kept, None).0
        })
    }

    /// Integrates to a time with the error of each step below a tolerance, in lengths.
    pub fn to(&mut self, t: f64, tolerance: f64, kept: &mut dyn FnMut(f64, f64, &State)) -> bool {
        let order = match self.tableau.error {
            Estimate::None => return false,
            Estimate::One { order, .. } | Estimate::Two { order, .. } => order as f64,
        };
        if self.h == 0.0 {
            self.h = 1e-3 * (t - self.t);
        }
        let mut count = 0;
        while self.t < t {
            let left = t - self.t;
            // The last two steps share the remaining interval.
            let h = if self.h >= left { left } else { self.h.min(0.5 * left.max(self.h)) };
            let (ok, error) = self.step(h, if h == left { t } else { self.t + h }, kept, Some(tolerance));
            let factor = 0.9 * error.max(1e-300).powf(-1.0 / (order + 1.0));
            if ok {
                let grown = h * factor.clamp(0.2, 5.0);
                // A step cut short by the end of the interval tells little about the next step size.
                self.h = if h < self.h { self.h.max(grown) } else { grown };
            } else {
                self.h = h * if error.is_finite() { factor.clamp(0.1, 0.9) } else { 0.25 };
            }
            count += 1;
            if self.h < 1e-14 * t.abs().max(1e-9) || count > MOST || fourbar::stop::told() {
                return false;
            }
        }
        true
    }
}

/// A body moved by an increment.
fn moved(q: &Pose, v: &Twist, d: &Increment, to: &mut Pose, speed: &mut Twist) {
    *to = q.moved(&Twist { v: d.r, w: d.turn });
    *speed = Twist { v: v.v + d.v, w: v.w + d.w };
}

/// From the covector of a rotation at the end of an increment: the covectors of the increment and of the rotation at its start.
pub fn turn_back(D: &V, turn: &V) -> (V, V) {
    (so3::tangent(D).tr_mul(turn), so3::exp(D) * turn)
}

/// The derivatives of `g . T^-1(D) w` with respect to `D` and `w`.
pub fn pulled_back_by(D: &V, w: &V, g: &V) -> (V, V) {
    let s = D.norm_squared();
    // T^-1 = 1 + 1/2 D~ + c D~ D~.
    let (c, slope) = coefficient(s);
    let bent = D.cross(w);
    let by = w.cross(g) * 0.5 + (bent.cross(g) + w.cross(&g.cross(D))) * c + D * (2.0 * slope * g.dot(&D.cross(&bent)));
    (by, so3::tangent_inv(D).tr_mul(g))
}

/// The coefficient of the square in `T^-1` and its derivative with respect to the square of the angle.
fn coefficient(s: f64) -> (f64, f64) {
    if s < 0.05 {
        // Bernoulli numbers over factorials.
        const C: [f64; 6] = [1.0 / 12.0, 1.0 / 720.0, 1.0 / 30_240.0, 1.0 / 1_209_600.0, 1.0 / 47_900_160.0, 691.0 / 1_307_674_368_000.0];
        let (mut c, mut slope) = (0.0, 0.0);
        for x in C.iter().rev() {
            slope = slope * s + c;
            c = c * s + x;
        }
        return (c, slope);
    }
    let angle = s.sqrt();
    let (sin, cos) = fourbar_math::elementary::sin_cos(0.5 * angle);
    let cot = cos / sin;
    (1.0 / s - cot / (2.0 * angle), -1.0 / (s * s) + (cot / angle + 0.5 / (sin * sin)) / (4.0 * s))
}
