//! The systems of equations of Kissel21 as in the paper: kinematics with all coordinates as unknowns (6 or 7 per body), backward Euler with
//! accelerations and multipliers as unknowns (6 per body and the constraints, or 8 per body and the constraints with the multipliers of the
//! norms), both dense, both solved by Newton's method.

use super::gcon::{At, Gcon, Kind, Moving};
use super::lu::Lu;
use super::rotation::{M, Rotation, V, lift};
use fourbar_math::Scalar;
use nalgebra::{SMatrix, SVector};

/// Position, matrix, velocity, and angular velocity in body axes.
type Start = (V<f64>, M<f64>, V<f64>, V<f64>);

/// A mechanism in the terms of the paper.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Masses and inertias; the first body is ground.
    pub bodies: Vec<(f64, M<f64>)>,
    pub gravity: V<f64>,
    pub gcons: Vec<Gcon>,
    /// Initial poses and velocities: position, matrix, velocity, angular velocity in body axes.
    pub start: Vec<Start>,
}

/// Initial guess of Newton's method and update of its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newton {
    /// As in the programs of the paper: from the last pose, with the matrix of the first iteration. In dynamics the matrix is that of the
    /// last state, of masses and constraints, without the derivatives of reactions.
    Kept,
    /// From the last pose or the last accelerations, with a new matrix with all derivatives in every iteration.
    Full,
    /// From the guess of Eq. (11), with a new matrix in every iteration.
    Predicted,
}

/// Largest number of Newton iterations before a failure is reported.
pub const MOST: usize = 60;

/// Unknowns and their indices, the state, and a dense matrix.
pub struct System<'m, S: Scalar, R: Rotation<X>, const X: usize> {
    m: &'m Mechanism,
    pub t: f64,
    r: Vec<V<S>>,
    pub x: Vec<R::Point<S>>,
    v: Vec<V<S>>,
    rate: Vec<SVector<S, X>>,
    a: Vec<V<S>>,
    acceleration: Vec<SVector<S, X>>,
    lambda: Vec<S>,
    /// Multipliers of the norms.
    norm: Vec<S>,
    at: Vec<At<S, R, X>>,
    J: Vec<M<S>>,
    kinematics: Lu<S>,
    dynamics: Lu<S>,
    b: Vec<S>,
    pub iterations: usize,
}

impl<'m, S: Scalar, R: Rotation<X>, const X: usize> System<'m, S, R, X> {
    pub fn new(m: &'m Mechanism) -> Self {
        let n = m.bodies.len();
        let moving = n - 1;
        let extra = if R::NORM { moving } else { 0 };
        let x: Vec<R::Point<S>> = m.start.iter().map(|s| R::enter::<S>(&s.1)).collect();
        let zero = SVector::<S, X>::zeros();
        let rate = |s: &(V<f64>, M<f64>, V<f64>, V<f64>)| R::rate(&R::enter::<f64>(&s.1), &s.3).map(S::of);
        let r: Vec<V<S>> = m.start.iter().map(|s| s.0.map(S::of)).collect();
        let size = (3 + X) * moving + m.gcons.len() + extra;
        Self {
            m,
            t: 0.0,
            at: r.iter().zip(&x).map(|(r, x)| At { r: *r, frame: R::frame::<S>(x) }).collect(),
            r,
            x,
            v: m.start.iter().map(|s| s.2.map(S::of)).collect(),
            rate: m.start.iter().map(rate).collect(),
            a: vec![V::zeros(); n],
            acceleration: vec![zero; n],
            lambda: vec![S::zero(); m.gcons.len()],
            norm: vec![S::zero(); n],
            J: m.bodies.iter().map(|b| lift(&b.1)).collect(),
            kinematics: Lu::new((3 + X) * moving),
            dynamics: Lu::new(size),
            b: vec![S::zero(); size],
            iterations: 0,
        }
    }

    /// Numbers of unknowns of the two systems.
    pub fn sizes(&self) -> [usize; 2] {
        [self.kinematics.n, self.dynamics.n]
    }

    fn moving(&self) -> usize {
        self.r.len() - 1
    }

    fn place_r(&self, b: usize) -> usize {
        3 * (b - 1)
    }

    fn place_x(&self, b: usize) -> usize {
        3 * self.moving() + X * (b - 1)
    }

    fn frames(&mut self) {
        for b in 1..self.r.len() {
            self.at[b] = At { r: self.r[b], frame: R::frame::<S>(&self.x[b]) };
        }
    }

    fn pair(&self, g: &Gcon) -> [&At<S, R, X>; 2] {
        g.bodies.map(|b| &self.at[b])
    }

    /// Writes residuals of all constraints, and of the norms, to `b` from index `from` on.
    fn residuals(&mut self, from: usize, norms: usize, scale: f64) {
        for (k, g) in self.m.gcons.iter().enumerate() {
            let (kind, f) = g.at(self.t);
            self.b[from + k] = (kind.value(self.pair(g)) - f[0]) * scale;
        }
        if R::NORM {
            for b in 1..self.r.len() {
                let p = R::values::<S>(&self.x[b]);
                self.b[norms + b - 1] = (p.dot(&p) - 1.0) * (0.5 * scale);
            }
        }
    }

    /// The Jacobian of constraints and norms, passed entry by entry: row, column, value.
    fn jacobian(&self, mut put: impl FnMut(usize, usize, S)) {
        for (k, g) in self.m.gcons.iter().enumerate() {
            let row = g.at(self.t).0.row(self.pair(g));
            for side in 0..2 {
                let b = g.bodies[side];
                if b == 0 {
                    continue;
                }
                for c in 0..3 {
                    put(k, self.place_r(b) + c, row.r[side][c]);
                }
                for c in 0..X {
                    put(k, self.place_x(b) + c, row.x[side][c]);
                }
            }
        }
        if R::NORM {
            for b in 1..self.r.len() {
                let p = R::values::<S>(&self.x[b]);
                for c in 0..X {
                    put(self.m.gcons.len() + b - 1, self.place_x(b) + c, p[c]);
                }
            }
        }
    }

    fn form_kinematics(&mut self) -> Result<(), String> {
        let mut lu = std::mem::replace(&mut self.kinematics, Lu::new(0));
        lu.clear();
        self.jacobian(|i, j, x| *lu.at(i, j) = x);
        let regular = lu.factor();
        self.kinematics = lu;
        if regular { Ok(()) } else { Err(format!("{}: the Jacobian is singular at t = {}", R::NAME, self.t)) }
    }

    fn moved(&mut self, b: usize, d: &[S], r: usize, x: usize) {
        self.r[b] += V::from_fn(|i, _| d[r + i]);
        self.x[b] = R::moved::<S>(&self.x[b], &SVector::from_fn(|i, _| d[x + i]));
    }

    /// Positions, velocities and accelerations of a driven mechanism at `t`; corrections end below `eps` in the 2-norm.
    pub fn drive_to(&mut self, t: f64, newton: Newton, eps: f64) -> Result<(), String> {
        let h = t - self.t;
        self.t = t;
        if newton == Newton::Predicted {
            for b in 1..self.r.len() {
                self.r[b] = self.r[b] + self.v[b] * S::of(h);
                self.x[b] = R::moved::<S>(&self.x[b], &(self.rate[b] * S::of(h)));
            }
        }
        let n = self.kinematics.n;
        let mut k = 0;
        loop {
            self.frames();
            if k == 0 || newton != Newton::Kept {
                self.form_kinematics()?;
            }
            let constraints = self.m.gcons.len();
            self.residuals(0, constraints, -1.0);
            let mut b = std::mem::take(&mut self.b);
            self.kinematics.solve(&mut b[..n]);
            for body in 1..self.r.len() {
                let (r, x) = (self.place_r(body), self.place_x(body));
                self.moved(body, &b, r, x);
            }
            let size = b[..n].iter().fold(S::zero(), |s, x| s + *x * *x).sqrt().value();
            self.b = b;
            k += 1;
            self.iterations += 1;
            if size < eps {
                break;
            }
            if k == MOST || !size.is_finite() {
                return Err(format!("{}: no convergence at t = {t}: {size:e}", R::NAME));
            }
        }
        self.frames();
        self.form_kinematics()?;
        for (k, g) in self.m.gcons.iter().enumerate() {
            self.b[k] = S::of(g.at(t).1[1]);
        }
        self.b[self.m.gcons.len()..n].fill(S::zero());
        self.take_rates(n);
        self.right_hand_side();
        self.take_accelerations(n);
        Ok(())
    }

    fn take_rates(&mut self, n: usize) {
        let mut b = std::mem::take(&mut self.b);
        self.kinematics.solve(&mut b[..n]);
        for body in 1..self.r.len() {
            let (r, x) = (self.place_r(body), self.place_x(body));
            self.v[body] = V::from_fn(|i, _| b[r + i]);
            self.rate[body] = SVector::from_fn(|i, _| b[x + i]);
        }
        self.b = b;
    }

    /// Writes `gamma` of all constraints and norms to the first entries of `b`.
    fn right_hand_side(&mut self) {
        let m: Vec<Moving<S, R, X>> = (0..self.r.len())
            .map(|b| Moving { v: self.v[b], rate: self.rate[b], spin: R::spin::<S>(&self.at[b].frame, &self.rate[b]) })
            .collect();
        for (k, g) in self.m.gcons.iter().enumerate() {
            let (kind, f) = g.at(self.t);
            self.b[k] = kind.gamma(self.pair(g), g.bodies.map(|b| &m[b])) + f[2];
        }
        if R::NORM {
            for b in 1..self.r.len() {
                self.b[self.m.gcons.len() + b - 1] = -self.rate[b].dot(&self.rate[b]);
            }
        }
    }

    fn take_accelerations(&mut self, n: usize) {
        let mut b = std::mem::take(&mut self.b);
        self.kinematics.solve(&mut b[..n]);
        for body in 1..self.r.len() {
            let (r, x) = (self.place_r(body), self.place_x(body));
            self.a[body] = V::from_fn(|i, _| b[r + i]);
            self.acceleration[body] = SVector::from_fn(|i, _| b[x + i]);
        }
        self.b = b;
    }

    /// Residuals of Eqs. (34), (41), (44) at the current state.
    fn motion(&mut self, h: f64) {
        let moving = self.moving();
        let first = (3 + X) * moving;
        self.b.fill(S::zero());
        for b in 1..self.r.len() {
            let (mass, _) = self.m.bodies[b];
            let (r, x) = (self.place_r(b), self.place_x(b));
            let turning = R::turning::<S>(&self.at[b].frame, &self.rate[b], &self.acceleration[b], &self.J[b]).residual;
            for i in 0..3 {
                self.b[r + i] = (self.a[b][i] - self.m.gravity[i]) * mass;
            }
            for i in 0..X {
                self.b[x + i] = turning[i];
            }
            if R::NORM {
                let p = R::values::<S>(&self.x[b]);
                for i in 0..X {
                    self.b[x + i] += p[i] * self.norm[b];
                }
            }
        }
        for (k, g) in self.m.gcons.iter().enumerate() {
            let row = g.at(self.t).0.row(self.pair(g));
            for side in 0..2 {
                let body = g.bodies[side];
                if body == 0 {
                    continue;
                }
                let (r, x) = (self.place_r(body), self.place_x(body));
                for i in 0..3 {
                    self.b[r + i] += row.r[side][i] * self.lambda[k];
                }
                for i in 0..X {
                    self.b[x + i] += row.x[side][i] * self.lambda[k];
                }
            }
        }
        let constraints = self.m.gcons.len();
        self.residuals(first, first + constraints, 1.0 / (h * h));
    }

    /// The matrix of Eqs. (38), (42), (45); or the part of it used by the programs of the paper.
    fn form_dynamics(&mut self, h: f64, newton: Newton) -> Result<(), String> {
        let exact = newton != Newton::Kept;
        let mut lu = std::mem::replace(&mut self.dynamics, Lu::new(0));
        lu.clear();
        let (first, h2) = ((3 + X) * self.moving(), h * h);
        for b in 1..self.r.len() {
            let (mass, _) = self.m.bodies[b];
            let (r, x) = (self.place_r(b), self.place_x(b));
            let t = R::turning::<S>(&self.at[b].frame, &self.rate[b], &self.acceleration[b], &self.J[b]);
            let mut block = t.by_acceleration;
            if exact || R::GYROSCOPIC {
                block += t.by_rate * S::of(h);
            }
            if exact {
                block += t.by_x * S::of(h2);
            }
            for i in 0..3 {
                *lu.at(r + i, r + i) += S::of(mass);
            }
            add(&mut lu, x, x, &block);
            if R::NORM && exact {
                for i in 0..X {
                    *lu.at(x + i, x + i) += self.norm[b] * h2;
                }
            }
        }
        let bends: Vec<R::Bend<S>> = if exact { self.at.iter().map(|a| R::bend::<S>(&a.frame)).collect() } else { Vec::new() };
        for (k, g) in self.m.gcons.iter().enumerate().take(if exact { usize::MAX } else { 0 }) {
            let v = g.at(self.t).0.variation(self.pair(g), g.bodies.map(|b| &bends[b]), self.lambda[k] * h2);
            for (i, &a) in g.bodies.iter().enumerate().filter(|(_, b)| **b != 0) {
                for (j, &b) in g.bodies.iter().enumerate().filter(|(_, b)| **b != 0) {
                    let (ra, rb, xa, xb) = (self.place_r(a), self.place_r(b), self.place_x(a), self.place_x(b));
                    for c in 0..3 {
                        *lu.at(ra + c, rb + c) += v.rr[i][j];
                    }
                    add(&mut lu, ra, xb, &v.rx[i][j]);
                    add(&mut lu, xa, rb, &v.xr[i][j]);
                    add(&mut lu, xa, xb, &v.xx[i][j]);
                }
            }
        }
        self.jacobian(|i, j, x| {
            *lu.at(first + i, j) = x;
            *lu.at(j, first + i) = x;
        });
        let regular = lu.factor();
        self.dynamics = lu;
        if regular { Ok(()) } else { Err(format!("{}: the matrix is singular at t = {}", R::NAME, self.t)) }
    }

    /// One step of backward Euler; corrections end below `theta` in the 2-norm.
    pub fn step(&mut self, h: f64, theta: f64, newton: Newton) -> Result<(), String> {
        let (r0, x0, v0, rate0) = (self.r.clone(), self.x.clone(), self.v.clone(), self.rate.clone());
        self.t += h;
        let first = (3 + X) * self.moving();
        let constraints = self.m.gcons.len();
        if newton == Newton::Kept {
            self.frames();
            self.form_dynamics(h, newton)?;
        }
        let mut k = 0;
        loop {
            for b in 1..self.r.len() {
                self.v[b] = v0[b] + self.a[b] * S::of(h);
                self.rate[b] = rate0[b] + self.acceleration[b] * S::of(h);
                self.r[b] = r0[b] + self.v[b] * S::of(h);
                self.x[b] = R::moved::<S>(&x0[b], &(self.rate[b] * S::of(h)));
            }
            self.frames();
            if newton != Newton::Kept {
                self.form_dynamics(h, newton)?;
            }
            self.motion(h);
            let mut d = std::mem::take(&mut self.b);
            d.iter_mut().for_each(|x| *x = -*x);
            self.dynamics.solve(&mut d);
            for b in 1..self.r.len() {
                let (r, x) = (self.place_r(b), self.place_x(b));
                self.a[b] += V::from_fn(|i, _| d[r + i]);
                self.acceleration[b] += SVector::from_fn(|i, _| d[x + i]);
                if R::NORM {
                    self.norm[b] += d[first + constraints + b - 1];
                }
            }
            for (l, d) in self.lambda.iter_mut().zip(&d[first..]) {
                *l += *d;
            }
            let size = d.iter().fold(S::zero(), |s, x| s + *x * *x).sqrt().value();
            self.b = d;
            k += 1;
            self.iterations += 1;
            if size < theta {
                break;
            }
            if k == MOST || !size.is_finite() {
                return Err(format!("{}: no convergence at t = {}: {size:e}", R::NAME, self.t));
            }
        }
        for b in 1..self.r.len() {
            self.v[b] = v0[b] + self.a[b] * S::of(h);
            self.rate[b] = rate0[b] + self.acceleration[b] * S::of(h);
            self.r[b] = r0[b] + self.v[b] * S::of(h);
            self.x[b] = R::moved::<S>(&x0[b], &(self.rate[b] * S::of(h)));
        }
        Ok(())
    }

    /// Initial accelerations and multipliers: the equations of motion with the acceleration constraints.
    pub fn begin(&mut self) -> Result<(), String> {
        self.frames();
        let first = (3 + X) * self.moving();
        self.a.fill(V::zeros());
        self.acceleration.fill(SVector::zeros());
        // Matrix and residual for a step of zero length: masses and the Jacobian remain.
        self.form_dynamics(0.0, Newton::Full)?;
        self.right_hand_side();
        let gamma: Vec<S> = self.b[..self.dynamics.n - first].to_vec();
        self.motion(1.0);
        let mut d = std::mem::take(&mut self.b);
        d[..first].iter_mut().for_each(|x| *x = -*x);
        d[first..].copy_from_slice(&gamma);
        self.dynamics.solve(&mut d);
        for b in 1..self.r.len() {
            let (r, x) = (self.place_r(b), self.place_x(b));
            self.a[b] = V::from_fn(|i, _| d[r + i]);
            self.acceleration[b] = SVector::from_fn(|i, _| d[x + i]);
            if R::NORM {
                self.norm[b] = d[first + self.m.gcons.len() + b - 1];
            }
        }
        for (l, d) in self.lambda.iter_mut().zip(&d[first..]) {
            *l = *d;
        }
        self.b = d;
        Ok(())
    }

    /// Position of a body.
    #[cfg(test)]
    pub fn place(&self, b: usize) -> V<f64> {
        self.r[b].map(S::value)
    }

    /// Velocity and acceleration of a body.
    #[cfg(test)]
    pub fn motion_of(&self, b: usize) -> [V<f64>; 2] {
        [self.v[b].map(S::value), self.a[b].map(S::value)]
    }

    /// The rotation matrix of a body.
    pub fn matrix(&self, b: usize) -> M<f64> {
        R::matrix::<S>(&R::frame::<S>(&self.x[b])).map(S::value)
    }
}

fn add<S: Scalar, const A: usize, const C: usize>(lu: &mut Lu<S>, i: usize, j: usize, block: &SMatrix<S, A, C>) {
    for r in 0..A {
        for c in 0..C {
            *lu.at(i + r, j + c) += block[(r, c)];
        }
    }
}

/// The kind of a constraint, for counts.
pub fn counts(m: &Mechanism) -> [usize; 4] {
    let mut n = [0; 4];
    for g in &m.gcons {
        n[match g.kinds[0].0 {
            Kind::Cd { .. } => 0,
            Kind::Dp1 { .. } => 1,
            Kind::Dp2 { .. } => 2,
            Kind::D { .. } => 3,
        }] += 1;
    }
    n
}
