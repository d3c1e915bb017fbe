//! The two methods for equilibria: descent, which finds stable ones, and Newton's method on the residual, which finds every kind.
//!
//! Downhill steps are those of a trust region (More and Sorensen) with the stiffness along the free motions. Whether a step was good is
//! measured by the work that the forces do on it, so that forces need no potential. What neither reaches is tried by motion under such
//! strong damping that inertia does not count.

use super::{Problem, Rest};
use crate::manifold::Manifold;
use crate::operator::{Along, Direction};
use fourbar::evaluate::by_body;
use fourbar::state::Configuration;
use fourbar::stop;
use fourbar_math::dense;
use nalgebra::{Cholesky, DMatrix, DVector, Dyn, SymmetricEigen};

/// Steps, at most.
pub const STEPS: usize = 300;
/// Residual of a rest as a share of the largest load.
pub const AT_REST: f64 = 1e-13;
/// And where rounding allows no better.
pub const ROUNDING: f64 = 1e-9;
/// First radius in characteristic lengths, and the largest turn of a body in one step.
pub const RADIUS: f64 = 0.3;
pub const TURN: f64 = 1.0;
/// A step of less than this share of the size of the mechanism is none.
pub const STILL: f64 = 1e-14;
/// Stiffness below minus this share of the largest is downhill.
pub const DOWNHILL: f64 = 1e-9;
/// What is symmetric but for this share of its largest entry is so but for rounding.
pub const SYMMETRIC: f64 = 1e-14;
/// Stiffness above this share of the largest is positive whatever rounding does.
const POSITIVE: f64 = 1e-14;
/// Above so many freedoms eigenvalues take long; residuals above this share of the load are far from a rest.
const MANY: usize = 100;
pub const NEAR: f64 = 1e-6;
/// A fence is approached to this many characteristic lengths.
const FENCE: f64 = 0.02;
/// Beyond this many characteristic lengths nothing holds the mechanism.
pub const FAR: f64 = 1e5;

/// How a search ended.
pub enum Ending<R = Rest> {
    /// At rest.
    Rest(Box<R>, usize),
    /// It continues for ever.
    Away(Box<R>),
    /// The joints forbid at second order what they allow at first.
    Blocked(Box<R>),
    /// Not in the steps allowed; the best place reached.
    Lost(Box<R>),
}

/// The stiffness along the free motions, symmetric, taken apart.
enum Stiffness {
    /// It holds every motion once springs of equal stiffness are added to all (rather less than none where it does so by itself): a factor, and
    /// that stiffness.
    Held(Cholesky<f64, Dyn>, f64),
    /// By its eigenvalues, which tell the way down from where the forces vanish.
    Any(SymmetricEigen<f64, Dyn>),
}

impl Stiffness {
    /// Of a matrix. The factor of a cable of a thousand freedoms takes a fiftieth of the time of its eigenvalues; where the mechanism is far
    /// from a rest and has many freedoms, it will do.
    fn new(H: &DMatrix<f64>, load: f64, far: bool) -> Self {
        let top = H.row_iter().map(|r| r.iter().map(|x| x.abs()).sum()).fold(load, f64::max);
        let raised = |mu: f64| {
            let mut A = H.clone();
            (0..A.nrows()).for_each(|k| A[(k, k)] += mu);
            Cholesky::new(A)
        };
        // What holds with so much less changes a step by rounding; one factor tells both.
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

    /// Whether some motion goes downhill.
    fn saddle(&self, load: f64) -> bool {
        match self {
            Self::Held(_, mu) => *mu > 0.0,
            Self::Any(e) => e.eigenvalues.iter().any(|x| *x < -DOWNHILL * e.eigenvalues.amax().max(load)),
        }
    }

    /// The step of a trust region against a gradient.
    fn step(self, H: &DMatrix<f64>, g: &DVector<f64>, radius: f64) -> DVector<f64> {
        match self {
            Self::Held(c, mu) => held(H, c, mu, g, radius),
            Self::Any(e) => &e.eigenvectors * trusted(&e.eigenvalues, &e.eigenvectors.tr_mul(g), radius),
        }
    }
}

/// Step of a trust region with a stiffness that holds every motion: Newton's step, or one that stiffer springs bring onto the radius.
fn held(H: &DMatrix<f64>, mut c: Cholesky<f64, Dyn>, mut mu: f64, g: &DVector<f64>, radius: f64) -> DVector<f64> {
    let mut y = -c.solve(g);
    for _ in 0..20 {
        let size = y.norm();
        if size <= 1.01 * radius {
            break;
        }
        // Newton's method for the inverse of the length, which approaches from the side of longer steps.
        let Some(z) = c.l_dirty().solve_lower_triangular(&y) else { break };
        let much = size / z.norm();
        mu += much * much * (size - radius) / radius;
        let Some(next) = Cholesky::new(H + DMatrix::identity(H.nrows(), H.nrows()) * mu) else { break };
        c = next;
        y = -c.solve(g);
    }
    if y.norm() > radius { &y * (radius / y.norm()) } else { y }
}

/// Step of a trust region: least `g y + y H y / 2` within a radius, from the eigenvalues `w` and the gradient in their basis.
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
        // The gradient says nothing about the softest direction: it is added, so that a saddle is left.
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
    /// Goes downhill to where the mechanism comes to rest by itself.
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
            // Saddles, which are left, do not count.
            if saddle || size < 0.5 * best.0 {
                best = (if saddle { f64::INFINITY } else { size }, count);
            }
            let done = size <= AT_REST * rest.load || (size <= ROUNDING * rest.load && count > best.1 + 3) || radius < 1e-14 * L;
            if done && !saddle && size <= ROUNDING * rest.load.max(f64::MIN_POSITIVE) {
                return Ending::Rest(Box::new(rest), count);
            }
            let mut y = stiffness.step(&H, &rest.g, radius);
            // Near a rest the whole stiffness converges faster than its symmetric part.
            let newton = match circulatory {
                _ if saddle => None,
                true => full.lu().solve(&-&rest.g),
                // A step that the radius does not shorten is Newton's.
                false => Some(y.clone()).filter(|y| y.norm() < 0.99 * radius),
            };
            if let Some(newton) = newton
                && newton.norm() <= radius
            {
                // Where all springs are slack, positions to rounding leave forces that are large beside their loads.
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
            // Freedoms that a step loses were there at first order only.
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

    /// How far a closed position is from the rest that Newton's method expects, m; `None` where it expects none.
    pub fn way(&mut self, rest: &Rest) -> Option<f64> {
        let K = self.stiffness(rest);
        let N = &rest.space.N;
        if rest.rolling.is_some() || N.ncols() == 0 {
            return None;
        }
        rest.space.reduced(&K).lu().solve(&rest.g).map(|y| y.norm())
    }

    /// A step along free motions, shortened so that no body turns too far.
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

    /// Newton's method on the residual of the forces and of the rates of states, which are unknowns too: any kind of rest.
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
            // The step must take the residual away, not leave it where nothing can be done.
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
            // Positions with other freedoms are singular; the way goes round them.
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

    /// How the residual follows free motions and states.
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

/// Factors of rows and columns that make forces shares of the load, motions shares of the size, and rates of states comparable.
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
