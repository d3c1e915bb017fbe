//! The two methods for equilibria: descent, which finds stable ones, and Newton's method on the residual, which finds every kind.
//!
//! Descent uses trust-region steps (More and Sorensen) with the stiffness along the free motions. A step is judged by the work of the
//! forces along it, so that forces need no potential. If both fail, motion under damping so strong that inertia is negligible is tried.

use super::{Problem, Rest};
use crate::manifold::Manifold;
use crate::operator::{Along, Direction};
use fourbar::evaluate::by_body;
use fourbar::state::Configuration;
use fourbar::stop;
use fourbar_math::dense;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

/// Maximum number of steps.
pub const STEPS: usize = 300;
/// Residual of an equilibrium as a share of the largest load.
pub const AT_REST: f64 = 1e-13;
/// The same where rounding errors allow no less.
pub const ROUNDING: f64 = 1e-9;
/// Initial radius in characteristic lengths, and the largest rotation of a body in one step.
pub const RADIUS: f64 = 0.3;
pub const TURN: f64 = 1.0;
/// A step shorter than this share of the size of the mechanism is rounding.
pub const STILL: f64 = 1e-14;
/// A stiffness below minus this share of the largest is negative.
pub const DOWNHILL: f64 = 1e-9;
/// A matrix that is symmetric up to this share of its largest entry is symmetric up to rounding.
pub const SYMMETRIC: f64 = 1e-14;
/// A stiffness above this share of the largest is positive in spite of rounding.
const POSITIVE: f64 = 1e-14;
/// Number of degrees of freedom above which eigenvalues are slow to compute; residuals above the share `NEAR` of the load are far from an
/// equilibrium.
const MANY: usize = 100;
pub const NEAR: f64 = 1e-6;
/// Distance to which a fence is approached, in characteristic lengths.
const FENCE: f64 = 0.02;
/// A mechanism that moves beyond this many characteristic lengths is not held by anything.
pub const FAR: f64 = 1e5;

/// How a search ended.
pub enum Ending<R = Rest> {
    /// An equilibrium, with the number of iterations.
    Rest(Box<R>, usize),
    /// The mechanism moves away without end.
    Away(Box<R>),
    /// The joints block, at second order, motions that they allow at first order.
    Blocked(Box<R>),
    /// No convergence within the allowed steps; the last position reached.
    Lost(Box<R>),
}

/// The symmetric stiffness along the free motions, factorised.
enum Stiffness {
    /// Cholesky factor of the stiffness with a constant added to its diagonal, and that constant (slightly negative if the stiffness is
    /// positive definite by itself).
    Held(Cholesky<f64, Dyn>, f64),
    /// Eigenvalues and eigenvectors, which give the descent direction at a saddle point.
    Any(SymmetricEigen<f64, Dyn>),
}

impl Stiffness {
    /// Factorises a matrix. For a cable with a thousand degrees of freedom a Cholesky factor takes a fiftieth of the time of the
    /// eigenvalues; far from an equilibrium and with many degrees of freedom it suffices.
    fn new(H: &DMatrix<f64>, load: f64, far: bool) -> Self {
        let top = H.row_iter().map(|r| r.iter().map(|x| x.abs()).sum()).fold(load, f64::max);
        let raised = |mu: f64| {
            let mut A = H.clone();
            (0..A.nrows()).for_each(|k| A[(k, k)] += mu);
            Cholesky::new(A)
        };
        // If the stiffness remains definite when reduced by this much, the reduction changes a step only by rounding; one factor serves
        // both purposes.
        if let Some(c) = raised(-POSITIVE * top) {
            return Self::Held(c, -POSITIVE * top);
        }
        let mut mu = DOWNHILL * top;
        while far && H.nrows() > MANY && mu <= 10.0 * top {
            if let Some(c) = raised(mu) {
                return Self::Held(c, mu);
            }
            mu *= 10.0;
        }
        Self::Any(SymmetricEigen::new(H.clone()))
    }

    /// Whether the stiffness is negative along some motion.
    fn saddle(&self, load: f64) -> bool {
        match self {
            Self::Held(_, mu) => *mu > 0.0,
            Self::Any(e) => e.eigenvalues.iter().any(|x| *x < -DOWNHILL * e.eigenvalues.amax().max(load)),
        }
    }

    /// Trust-region step for a gradient.
    fn step(self, H: &DMatrix<f64>, g: &DVector<f64>, radius: f64) -> DVector<f64> {
        match self {
            Self::Held(c, mu) => held(H, c, mu, g, radius),
            Self::Any(e) => &e.eigenvectors * trusted(&e.eigenvalues, &e.eigenvectors.tr_mul(g), radius),
        }
    }
}

/// Trust-region step with a positive definite stiffness: the Newton step, or one shortened to the radius by added stiffness.
fn held(H: &DMatrix<f64>, mut c: Cholesky<f64, Dyn>, mut mu: f64, g: &DVector<f64>, radius: f64) -> DVector<f64> {
    let mut y = -c.solve(g);
    for _ in 0..20 {
        let size = y.norm();
        if size <= 1.01 * radius {
            break;
        }
        // Newton's method for the inverse of the length, which converges from the side of longer steps.
        let Some(z) = c.l_dirty().solve_lower_triangular(&y) else { break };
        let much = size / z.norm();
        mu += much * much * (size - radius) / radius;
        let Some(next) = Cholesky::new(H + DMatrix::identity(H.nrows(), H.nrows()) * mu) else { break };
        c = next;
        y = -c.solve(g);
    }
    if y.norm() > radius { &y * (radius / y.norm()) } else { y }
}

/// Trust-region step: minimises `g y + y H y / 2` within a radius, from the eigenvalues `w` and the gradient in their basis.
fn trusted(w: &DVector<f64>, g: &DVector<f64>, radius: f64) -> DVector<f64> {
    let step = |mu: f64| DVector::from_fn(w.len(), |k, _| -g[k] / (w[k] + mu));
    let top = w.amax().max(g.norm() / radius).max(f64::MIN_POSITIVE);
    let (least, at) = w.iter().enumerate().fold((f64::INFINITY, 0), |(m, at), (k, x)| if *x < m { (*x, k) } else { (m, at) });
    let small = 1e-12 * top;
    if least > small && step(0.0).norm() <= radius {
        return step(0.0);
    }
    let mut low = (-least).max(0.0) + small;
    let y = step(low);
    if y.norm() < radius {
        // The gradient has too small a component along the softest direction: that direction is added, so that the search leaves a saddle
        // point.
        let mut y = y;
        if least < small {
            y[at] += (radius * radius - y.norm_squared()).max(0.0).sqrt() * if g[at] > 0.0 { -1.0 } else { 1.0 };
        }
        return y;
    }
    let mut high = low + g.norm() / radius + w.amax();
    for _ in 0..100 {
        let mu = 0.5 * (low + high);
        if step(mu).norm() > radius { low = mu } else { high = mu }
    }
    step(high)
}

impl Problem<'_> {
    /// Descent to an equilibrium in which the mechanism comes to rest by itself.
    pub fn descend(&mut self, start: &Configuration) -> Ending {
        let L = self.model.length;
        self.fenced = false;
        let mut rest = self.rest(start);
        let (mut radius, mut blocked) = (RADIUS * L, 0);
        let mut best = (f64::INFINITY, 0);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            let K = self.stiffness(&rest);
            let N = rest.space.N.clone();
            if N.ncols() == 0 {
                return Ending::Rest(Box::new(rest), count);
            }
            let full = rest.space.reduced(&K);
            let H = (&full + full.transpose()) * 0.5;
            let circulatory = (&full - &H).amax() > SYMMETRIC * H.amax();
            let stiffness = Stiffness::new(&H, rest.load / L, rest.g.norm() > NEAR * rest.load);
            let saddle = stiffness.saddle(rest.load / L);
            let size = rest.g.norm();
            // Saddle points do not count: the search leaves them.
            if saddle || size < 0.5 * best.0 {
                best = (if saddle { f64::INFINITY } else { size }, count);
            }
            let done = size <= AT_REST * rest.load || (size <= ROUNDING * rest.load && count > best.1 + 3) || radius < 1e-14 * L;
            if done && !saddle && size <= ROUNDING * rest.load.max(f64::MIN_POSITIVE) {
                return Ending::Rest(Box::new(rest), count);
            }
            let mut y = stiffness.step(&H, &rest.g, radius);
            // Near an equilibrium the full stiffness converges faster than its symmetric part.
            let newton = match circulatory {
                _ if saddle => None,
                true => full.lu().solve(&-&rest.g),
                // A step that is not shortened by the radius is a Newton step.
                false => Some(y.clone()).filter(|y| y.norm() < 0.99 * radius),
            };
            if let Some(newton) = newton
                && newton.norm() <= radius
            {
                // Where all springs are slack, rounding errors of positions cause forces that are large relative to the loads.
                if newton.norm() <= STILL * L {
                    return Ending::Rest(Box::new(rest), count);
                }
                y = newton;
            }
            y = self.turned(&N, y);
            let predicted = -(rest.g.dot(&y) + 0.5 * y.dot(&(&H * &y)));
            let moved = self.manifold.moved(&rest.state, &rest.space, &(&N * &y));
            let Some(next) = moved.map(|c| self.rest(&c)) else {
                radius *= 0.3;
                continue;
            };
            let d = Manifold::between(&rest.state, &next.state);
            let along = rest.space.components(&d).dot(&y) / y.norm_squared().max(f64::MIN_POSITIVE);
            // Degrees of freedom lost in a step existed at first order only.
            if along < 0.3 || next.space.freedom() < rest.space.freedom() {
                blocked += 1;
                if blocked > 12 {
                    return Ending::Blocked(Box::new(rest));
                }
                radius *= 0.3;
                continue;
            }
            blocked = 0;
            let work = 0.5 * (rest.tangential.dot(&d) + next.tangential.dot(&d));
            if work >= 0.1 * predicted || (!saddle && next.g.norm() <= 0.5 * size) {
                if self.fence.as_ref().is_some_and(|beyond| beyond(&next.state)) {
                    if y.norm() <= FENCE * L {
                        self.fenced = true;
                        return Ending::Lost(Box::new(rest));
                    }
                    radius = 0.3 * y.norm();
                    continue;
                }
                if work > 0.75 * predicted && y.norm() > 0.9 * radius {
                    radius *= 2.0;
                }
                rest = next;
            } else {
                radius = 0.3 * y.norm().min(radius);
            }
            if rest.state.q.iter().any(|q| q.r.norm() > FAR * L) {
                return Ending::Away(Box::new(rest));
            }
        }
        if rest.g.norm() <= ROUNDING * rest.load { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Distance of a closed position from the equilibrium predicted by a Newton step, m; `None` without a prediction.
    pub fn way(&mut self, rest: &Rest) -> Option<f64> {
        let K = self.stiffness(rest);
        let N = &rest.space.N;
        if rest.rolling.is_some() || N.ncols() == 0 {
            return None;
        }
        rest.space.reduced(&K).lu().solve(&rest.g).map(|y| y.norm())
    }

    /// Shortens a step along free motions so that no body turns too far.
    fn turned(&self, N: &DMatrix<f64>, y: DVector<f64>) -> DVector<f64> {
        let turn = by_body(&(N * &y)).iter().fold(0.0_f64, |s, d| s.max(d.w.norm()));
        if turn > TURN { y * (TURN / turn) } else { y }
    }

    /// Motion under strong damping: implicit steps of `W q' = f`, longer as the residual falls.
    pub fn relax(&mut self, start: &Configuration) -> Ending {
        let L = self.model.length;
        let mut rest = self.rest(start);
        let first = rest.g.norm();
        let mut h = RADIUS * L / first.max(f64::MIN_POSITIVE);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            if rest.g.norm() <= AT_REST * rest.load {
                return Ending::Rest(Box::new(rest), count);
            }
            let K = self.stiffness(&rest);
            let N = rest.space.N.clone();
            let n = N.ncols();
            let A = rest.space.reduced(&K) + DMatrix::identity(n, n) / h;
            let y = A.lu().solve(&-&rest.g).map(|y| self.turned(&N, y));
            let next = y.and_then(|y| self.manifold.moved(&rest.state, &rest.space, &(&N * &y))).map(|c| self.rest(&c));
            match next.filter(|x| x.g.norm().is_finite()) {
                Some(x) => {
                    h *= (rest.g.norm() / x.g.norm().max(f64::MIN_POSITIVE)).clamp(0.3, 4.0);
                    rest = x;
                }
                None => h *= 0.2,
            }
            if rest.state.q.iter().any(|q| q.r.norm() > FAR * L) {
                return Ending::Away(Box::new(rest));
            }
        }
        if rest.g.norm() <= ROUNDING * rest.load { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Newton's method on the forces and on the rates of states, which are unknowns too: finds equilibria of any kind.
    pub fn newton(&mut self, start: &Configuration) -> Ending {
        let (L, first) = (self.model.length, self.model.first_state());
        let states = self.model.states.len();
        let mut rest = self.rest(start);
        let mut scales: Option<(DVector<f64>, DVector<f64>)> = None;
        let mut mu = 0.0;
        let mut best = (f64::INFINITY, 0);
        for count in 0..STEPS {
            if stop::told() {
                break;
            }
            let J = self.newton_matrix(&rest);
            let (rows, columns) = scales.get_or_insert_with(|| scaling(&J, rest.space.freedom(), rest.load, L)).clone();
            let R = rest.residual().component_mul(&rows);
            let size = R.norm();
            if size < 0.5 * best.0 {
                best = (size, count);
            }
            if size <= AT_REST || (size <= ROUNDING && count > best.1 + 3) {
                return Ending::Rest(Box::new(rest), count);
            }
            let A = DMatrix::from_fn(J.nrows(), J.ncols(), |i, j| J[(i, j)] * rows[i] * columns[j]);
            let Some(svd) = dense::svd(A, true, true) else { break };
            let (Some(U), Some(V_t)) = (&svd.u, &svd.v_t) else { break };
            let s = &svd.singular_values;
            let top = s.amax().max(f64::MIN_POSITIVE);
            let b = U.tr_mul(&R);
            let x = V_t.tr_mul(&DVector::from_fn(s.len(), |k, _| {
                if mu == 0.0 && s[k] < 1e-12 * top { 0.0 } else { -b[k] * s[k] / (s[k] * s[k] + mu * top * top) }
            }));
            let x = x.component_mul(&columns);
            let n = rest.space.freedom();
            // The step must reduce the linearised residual, not leave a part that it cannot affect.
            let taken = (&J * &x).component_mul(&rows) + &R;
            if mu == 0.0 && states == 0 && x.norm() <= STILL * L && taken.norm() <= 1e-3 * size {
                return Ending::Rest(Box::new(rest), count);
            }
            let N = rest.space.N.clone();
            let y = x.rows(0, n).into_owned();
            let short = self.turned(&N, y.clone());
            let factor = if y.norm() > 0.0 { short.norm() / y.norm() } else { 1.0 };
            let mut from = rest.state.clone();
            for k in 0..states {
                from.z[first + k] += factor * x[n + k];
            }
            let next = self.manifold.moved(&from, &rest.space, &(&N * &short)).map(|c| self.rest(&c));
            // Positions with other degrees of freedom are singular and are avoided.
            let fits = |x: &Rest| x.residual().len() == rows.len() && x.space.freedom() == n;
            match next.filter(|x| fits(x) && x.residual().component_mul(&rows).norm() < size) {
                Some(x) => {
                    rest = x;
                    mu = if mu < 1e-14 { 0.0 } else { mu * 0.1 };
                }
                None => mu = if mu == 0.0 { 1e-8 } else { 10.0 * mu },
            }
            if mu > 1e8 {
                break;
            }
            if rest.state.q.iter().any(|q| q.r.norm() > FAR * L) {
                return Ending::Away(Box::new(rest));
            }
        }
        let ok = scales.is_some_and(|(rows, _)| rest.residual().component_mul(&rows).norm() <= ROUNDING);
        if ok { Ending::Rest(Box::new(rest), STEPS) } else { Ending::Lost(Box::new(rest)) }
    }

    /// Derivatives of the residual with respect to free motions and states.
    fn newton_matrix(&mut self, rest: &Rest) -> DMatrix<f64> {
        let (first, states) = (self.model.first_state(), self.model.states.len());
        let K = self.stiffness(rest);
        let (N, T) = (&rest.space.N, rest.test());
        let (n, m) = (N.ncols(), T.ncols());
        let mut J = DMatrix::zeros(m + states, n + states);
        J.view_mut((0, 0), (m, n)).copy_from(&-T.tr_mul(&(K * N)));
        if states == 0 {
            return J;
        }
        let F = self.op.forces_by_auxiliaries(&rest.state);
        J.view_mut((0, n), (m, states)).copy_from(&T.tr_mul(&F.columns(first, states)));
        for k in 0..n {
            let q = by_body(&N.column(k).into_owned());
            let d = Along { state: &rest.state, direction: Direction { q: &q, ..Direction::default() } }.rates(self.model);
            J.view_mut((m, k), (states, 1)).copy_from(&d.rows(first, states));
        }
        let mut z = vec![0.0; self.model.auxiliaries()];
        for k in 0..states {
            z.fill(0.0);
            z[first + k] = 1.0;
            let d = Along { state: &rest.state, direction: Direction { z: &z, ..Direction::default() } }.rates(self.model);
            J.view_mut((m, n + k), (states, 1)).copy_from(&d.rows(first, states));
        }
        J
    }
}

/// Row and column scaling: forces relative to the load, motions relative to the size, and rates of states comparable.
fn scaling(J: &DMatrix<f64>, n: usize, load: f64, length: f64) -> (DVector<f64>, DVector<f64>) {
    let load = if load > 0.0 { load } else { 1.0 };
    let states = J.ncols() - n;
    let m = J.nrows() - states;
    let columns = DVector::from_fn(J.ncols(), |j, _| match j {
        j if j < n => length,
        j => {
            let size = J.view((0, j), (m, 1)).norm();
            if size > 0.0 { load / size } else { 1.0 }
        }
    });
    let rows = DVector::from_fn(J.nrows(), |i, _| match i {
        i if i < m => 1.0 / load,
        i => {
            let size = J.row(i).transpose().component_mul(&columns).norm();
            if size > 0.0 { 1.0 / size } else { 1.0 }
        }
    });
    (rows, columns)
}
