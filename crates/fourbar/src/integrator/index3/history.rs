//! The history of an implicit method: its start, its adaptation to a change of the step size, its transformation when a body changes its
//! chart, and interpolation inside a step.

use super::super::Method;
use super::{Memory, Stepper, TOO_NEAR, Trouble, gen_alpha};
use crate::absolute::chart::{Chart, Rate};
use crate::absolute::equations::Equations;
use crate::absolute::reps::NEAR;
use crate::state::{Pose, Twist};
use fourbar_math::so3;

impl<C: Chart> Stepper<'_, C> {
    /// Accelerations and multipliers of the start, and a history with which the first step has full order.
    pub fn start(&mut self, h: f64) {
        let Self { equations: e, memory: m, trial, .. } = self;
        index1(e, m);
        m.v_dot_back.copy_from_slice(&m.v_dot);
        // Second derivative of the rates by central differences of the index-1 accelerations.
        let d = 0.05 * h;
        let rates: Vec<f64> = m.carried.rate.clone();
        let mut bend = vec![0.0; rates.len()];
        let [minus, mut plus] = [-d, d].map(|d| {
            trial.clone_from(m);
            trial.t = m.t + d;
            for b in 1..trial.q.len() {
                let (v, a) = (&m.v[b], &m.v_dot[b]);
                trial.psi[b] = v.scaled(d).plus(&a.scaled(0.5 * d * d));
                trial.v[b] = v.plus(&a.scaled(d));
                trial.place(b, m);
                trial.map(b);
            }
            for (z, rate) in trial.carried.z.iter_mut().zip(&rates) {
                *z += d * rate;
            }
            index1(e, trial);
            for (b, rate) in bend.iter_mut().zip(&trial.carried.rate) {
                *b += rate * d.signum();
            }
            trial.v_dot.clone()
        });
        for (p, m) in plus.iter_mut().zip(&minus) {
            *p = p.plus(&m.scaled(-1.0)).scaled(1.0 / (2.0 * d));
        }
        m.jerk.copy_from_slice(&plus);
        m.carried.bend.iter_mut().zip(&bend).for_each(|(b, x)| *b = x / (2.0 * d));
        e.jacobian(&m.q);
        e.factor(1.0);
        self.start_carried(h);
        let m = &mut self.memory;
        match self.method {
            Method::GenAlpha { rho } => {
                let c = gen_alpha(rho);
                let da = c.alpha_m - c.alpha_f;
                for b in 1..m.a.len() {
                    m.a[b] = m.v_dot[b].plus(&m.jerk[b].scaled(da * h));
                }
                m.h = h;
                if self.index2 {
                    return;
                }
                // The method tends to a normal velocity of order h^2; starting with it keeps multipliers second order.
                let c_q = c.beta + 0.5 * da - 1.0 / 6.0;
                self.offset(-h * h, |m, b| m.jerk[b].scaled(c_q).plus(&C::commutator(&m.v[b], &m.v_dot[b]).scaled(-1.0 / 12.0)));
            }
            Method::Bdf2 => {
                m.look_back(h);
            }
            Method::BackwardEuler => {}
        }
        self.memory.h = h;
    }

    /// Adds `scale` times the normal part of a field of rates to the velocities: the part that violates the constraints, including those of
    /// the chart. Needs the factor with `b_a = 1` at this pose.
    fn offset(&mut self, scale: f64, field: impl Fn(&Memory<C>, usize) -> C::Rate) {
        let (e, m) = (&mut self.equations, &mut self.memory);
        e.p.dq[0] = Twist::zero();
        for b in 1..m.v.len() {
            e.p.dq[b] = C::twist(&m.x[b], &field(m, b));
        }
        e.set.multiply(&e.G, &e.p.dq, &mut e.p.x);
        e.normal_part();
        for b in 1..m.v.len() {
            let own = C::across(&m.x[b], &field(m, b));
            m.v[b] = m.v[b].plus(&C::rate(&m.x[b], &e.p.dq[b]).plus(&own).scaled(scale));
            m.map(b);
        }
    }

    /// Restarts the method from the current positions, with velocities that satisfy their constraints.
    pub fn restart(&mut self, h: f64) {
        let (e, m) = (&mut self.equations, &mut self.memory);
        e.set.choose(m.t);
        e.jacobian(&m.q);
        e.factor(1.0);
        e.project_velocity(m.t, C::twists_mut(&mut m.v, &mut m.twist));
        if !C::DIRECT {
            for b in 1..m.v.len() {
                m.v[b] = C::rate(&m.x[b], &m.twist[b]);
            }
        }
        m.since_change = 0;
        self.start(h);
    }

    /// Prepares the history for a step of another size; the multipliers keep their order.
    pub fn change_step(&mut self, h2: f64) {
        let m = &mut self.memory;
        if m.h == 0.0 || h2 == m.h {
            return;
        }
        if let Method::GenAlpha { .. } = self.method {
            let ratio = h2 / m.h;
            for b in 1..m.a.len() {
                let (a, v) = (m.a[b], m.v_dot[b]);
                m.a[b] = v.plus(&a.plus(&v.scaled(-1.0)).scaled(ratio));
            }
            if !self.index2 {
                let e = &mut self.equations;
                e.set.choose(m.t);
                e.jacobian(&m.q);
                e.factor(1.0);
                e.normal_velocity(m.t, m.velocities());
                let k = -(1.0 - ratio * ratio);
                for b in 1..m.v.len() {
                    let own = C::across(&m.x[b], &m.v[b]);
                    m.v[b] = m.v[b].plus(&C::rate(&m.x[b], &e.p.dq[b]).plus(&own).scaled(k));
                    m.map(b);
                }
            }
            m.h = h2;
            m.since_change = 0;
            self.change_carried(ratio);
            return;
        }
        m.since_change = 0;
    }

    /// Cubic Hermite on the group between the ends of the last step.
    pub fn interpolate(&self, t: f64, q: &mut [Pose], v: &mut [Twist]) {
        let (m, p) = (&self.memory, self.previous());
        let h = m.t - p.t;
        let s = (t - p.t) / h;
        let (v_first, v_last) = (p.velocities(), m.velocities());
        for b in 1..m.q.len() {
            let psi = p.q[b].increment_to(&m.q[b]);
            let first = v_first[b].scaled(h);
            let last = Twist { v: v_last[b].v * h, w: so3::tangent_inv(&psi.w) * v_last[b].w * h };
            let (a, b1, b2) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
            let u = psi.scaled(a).plus(&first.scaled(b1)).plus(&last.scaled(b2));
            let (da, db1, db2) = (6.0 * s * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s), s * (3.0 * s - 2.0));
            let du = psi.scaled(da).plus(&first.scaled(db1)).plus(&last.scaled(db2)).scaled(1.0 / h);
            q[b] = p.q[b].moved(&u);
            v[b] = Twist { v: du.v, w: so3::tangent(&u.w) * du.w };
        }
    }

    /// Keeps the ordinary coordinates of every body permanently. Fails if one is at their singularity.
    pub fn keep_charts(&mut self) -> Result<(), Trouble> {
        self.recharting = false;
        let m = &mut self.memory;
        for b in 1..m.x.len() {
            let x = C::plain(&m.q[b].A);
            if C::distance(&x) < TOO_NEAR {
                return Err(Trouble::Chart(b));
            }
            let twist = C::twist(&m.x[b], &m.v[b]);
            m.x[b] = x;
            m.v[b] = C::rate(&x, &twist);
            m.map(b);
        }
        Ok(())
    }

    /// Changes the chart of bodies near its singularity and transforms the history. Positions, rates and their derivatives are transformed
    /// exactly; the algorithmic acceleration and the normal offset of the velocity, which depend on the third derivative, with the value of
    /// the last step.
    pub(super) fn rechart(&mut self, h: f64) {
        let m = &mut self.memory;
        let before = self.work.recharts;
        let c = self.coefficients;
        let alpha = matches!(self.method, Method::GenAlpha { .. });
        let (da, c_q) = if alpha { (c.alpha_m - c.alpha_f, c.beta + 0.5 * (c.alpha_m - c.alpha_f) - 1.0 / 6.0) } else { (0.0, 0.0) };
        for b in 1..m.x.len() {
            if C::distance(&m.x[b]) >= NEAR {
                continue;
            }
            let from = m.x[b];
            let to = C::escape(&m.q[b].A, &m.twist[b].w);
            let carry = |d: C::Rate, v, a, j| C::carry(&from, &to, &[d, v, a, j]);
            let [_, v, a, j] = carry(C::Rate::zero(), m.v[b], m.v_dot[b], m.jerk[b]);
            let [d, v_back, v_dot_back, _] = carry(m.psi[b].scaled(-1.0), m.v_back[b], m.v_dot_back[b], m.jerk[b]);
            // The remainder of the algorithmic acceleration beyond the third derivative is transformed as a tangent vector.
            let rest = m.a[b].plus(&m.v_dot[b].scaled(-1.0)).plus(&m.jerk[b].scaled(-da * h));
            m.a[b] = a.plus(&j.scaled(da * h)).plus(&C::rate(&to, &C::twist(&from, &rest)));
            // The normal offset for the new chart, relative to that for the old one.
            self.step_dq[b] = C::twist(&to, &j).plus(&C::twist(&from, &m.jerk[b]).scaled(-1.0)).scaled(c_q);
            (m.x[b], m.v[b], m.v_dot[b], m.jerk[b]) = (to, v, a, j);
            (m.psi[b], m.v_back[b], m.v_dot_back[b]) = (d.scaled(-1.0), v_back, v_dot_back);
            m.map(b);
            self.work.recharts += 1;
        }
        if self.work.recharts > before && alpha && !self.index2 {
            let mut fields = std::mem::take(&mut self.step_dq);
            self.equations.set.choose(self.memory.t);
            self.equations.jacobian(&self.memory.q);
            self.equations.factor(1.0);
            self.offset(-h * h, |m, b| C::rate(&m.x[b], &fields[b]));
            fields.fill(Twist::zero());
            self.step_dq = fields;
        }
    }
}

/// Index-1 accelerations and multipliers at the state of `m`.
pub fn index1<C: Chart>(e: &mut Equations<'_>, m: &mut Memory<C>) {
    e.set.choose(m.t);
    e.jacobian(&m.q);
    e.factor(1.0);
    let v = C::twists(&m.v, &m.twist);
    let v_dot = C::twists_mut(&mut m.v_dot, &mut m.twist_dot);
    v_dot[0] = Twist::zero();
    e.z.copy_from_slice(&m.carried.z);
    e.index1(&m.q, v, &m.turns, m.t, v_dot, &mut m.lambda);
    e.state_rates(&m.q, v, &m.turns, m.t, &mut m.carried.rate);
    if !C::DIRECT {
        for b in 1..m.q.len() {
            m.v_dot[b] = C::second(&m.x[b], &m.v[b], &m.twist_dot[b]);
        }
    }
}
