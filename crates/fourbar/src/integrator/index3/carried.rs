//! Inputs and states in an implicit method: integrated together with the velocities by its formula for rates.

use super::super::Method;
use super::{Memory, Stepper};
use crate::absolute::chart::{Chart, Rate};
use crate::absolute::states::rounding_of_rates;
use crate::model::Model;
use crate::state::Configuration;

/// Unit of time for rounding errors of velocities and of rates, s.
const TIME: f64 = 0.1;
/// The smallest tolerance of these methods.
const SECOND_ORDER: f64 = 1e-7;

/// Inputs and states with their history.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Values.
    pub z: Vec<f64>,
    /// Rates.
    pub rate: Vec<f64>,
    /// Algorithmic rates of generalized-alpha.
    pub a: Vec<f64>,
    /// Values one step earlier.
    pub back: Vec<f64>,
    /// Second derivatives, from the last step.
    pub bend: Vec<f64>,
    /// Rates at the end of the last step, before values were replaced there.
    pub left: Vec<f64>,
    /// The largest size of each so far: its value, or its change in a characteristic time.
    pub size: Vec<f64>,
}

impl Carried {
    /// At the start. Sizes begin where an error of the smallest tolerance equals rounding of the quantities in the rates.
    pub fn new(model: &Model, at: &Configuration) -> Self {
        let zero = vec![0.0; at.z.len()];
        let size = rounding_of_rates(model, at, TIME).iter().map(|n| n * TIME / SECOND_ORDER).collect();
        Self { z: at.z.clone(), rate: zero.clone(), a: zero.clone(), back: at.z.clone(), bend: zero.clone(), left: zero, size }
    }

    /// The lists, for checkpoints.
    pub fn lists(&self) -> [(&'static str, &Vec<f64>); 7] {
        let Self { z, rate, a, back, bend, left, size } = self;
        [("z", z), ("z_rate", rate), ("z_a", a), ("z_back", back), ("z_bend", bend), ("z_left", left), ("z_size", size)]
    }

    /// The same, mutable.
    pub fn lists_mut(&mut self) -> [(&'static str, &mut Vec<f64>); 7] {
        let Self { z, rate, a, back, bend, left, size } = self;
        [("z", z), ("z_rate", rate), ("z_a", a), ("z_back", back), ("z_bend", bend), ("z_left", left), ("z_size", size)]
    }
}

impl<C: Chart> Stepper<'_, C> {
    /// History terms of the states, and a first guess of all auxiliary variables at the end of a step.
    pub(super) fn predict_carried(&mut self, h: f64) {
        let (m, x, c) = (&self.memory.carried, &mut self.trial.carried, self.coefficients);
        let inputs = self.equations.model.inputs.len();
        for k in 0..m.z.len() {
            x.z[k] = m.z[k] + h * m.rate[k];
        }
        let e = &mut self.equations.states;
        for (i, base) in e.base.iter_mut().enumerate() {
            let k = 2 * inputs + i;
            let (z, f, w) = (m.z[k], m.rate[k], m.a[k]);
            (*base, e.k) = match self.method {
                Method::GenAlpha { .. } => {
                    let weight = h * c.gamma / (1.0 - c.alpha_m);
                    (z + h * (1.0 - c.gamma) * w + weight * (c.alpha_f * f - c.alpha_m * w), weight * (1.0 - c.alpha_f))
                }
                Method::Bdf2 => {
                    let r = c.beta;
                    (((1.0 + r) * z - r * r / (1.0 + r) * m.back[k]) / c.b_v, h / c.b_v)
                }
                Method::BackwardEuler => (z, h),
            };
        }
    }

    /// States at the trial poses and velocities; `false` if they cannot be solved for.
    pub(super) fn solve_carried(&mut self) -> bool {
        let (e, x) = (&mut self.equations, &mut self.trial);
        if x.carried.z.is_empty() {
            return true;
        }
        let mut z = std::mem::take(&mut x.carried.z);
        let done = e.solve_states(&x.q, x.velocities(), &x.turns, x.t, &mut z);
        x.carried.z = z;
        done
    }

    /// Rates at the end of the trial step, and the error of its states relative to their sizes.
    pub(super) fn estimate_carried(&mut self, h: f64, weight: f64) -> f64 {
        let c = self.coefficients;
        let (m, x) = (&self.memory.carried, &mut self.trial.carried);
        let first = self.equations.model.first_state();
        let mut most = 0.0_f64;
        for k in 0..x.z.len() {
            let rate = self.equations.states.rates[k];
            x.rate[k] = rate;
            x.a[k] = ((1.0 - c.alpha_f) * rate + c.alpha_f * m.rate[k] - c.alpha_m * m.a[k]) / (1.0 - c.alpha_m);
            let alpha = matches!(self.method, Method::GenAlpha { .. });
            x.bend[k] = if alpha { x.a[k] - m.a[k] } else { rate - m.rate[k] } / h;
            // A state that starts at zero is scaled by its expected size.
            x.size[k] = m.size[k].max(x.z[k].abs()).max(self.tau * rate.abs()).max(0.5 * self.tau * self.tau * x.bend[k].abs());
            let error = match self.method {
                _ if k < first => 0.0,
                Method::BackwardEuler => 0.5 * h * h * x.bend[k].abs(),
                _ => weight * h * h * (x.bend[k] - m.bend[k]).abs(),
            };
            most = most.max(if error == 0.0 { 0.0 } else { error / x.size[k] });
        }
        most
    }

    /// Adapts the algorithmic rates to a change of the step size.
    pub(super) fn change_carried(&mut self, ratio: f64) {
        let m = &mut self.memory.carried;
        for (a, rate) in m.a.iter_mut().zip(&m.rate) {
            *a = rate + ratio * (*a - rate);
        }
    }

    /// A history for a step of size `h` of full order, from rates and second derivatives.
    pub(super) fn start_carried(&mut self, h: f64) {
        let method = self.method;
        let m = &mut self.memory.carried;
        for k in 0..m.z.len() {
            let (z, rate, bend) = (m.z[k], m.rate[k], m.bend[k]);
            m.size[k] = m.size[k].max(z.abs()).max(self.tau * rate.abs());
            m.back[k] = z - h * rate + 0.5 * h * h * bend;
            m.a[k] = match method {
                Method::GenAlpha { rho } => {
                    let c = super::gen_alpha(rho);
                    rate + (c.alpha_m - c.alpha_f) * h * bend
                }
                _ => rate,
            };
        }
    }

    /// Continues with other inputs, slopes and states from the present positions and velocities: accelerations and rates jump, the history
    /// is adapted, and third derivatives are kept until the next step.
    pub fn replace_carried(&mut self, z: &[f64]) {
        let Self { equations: e, memory: m, .. } = self;
        m.carried.z.copy_from_slice(z);
        self.step_rates.copy_from_slice(&m.v_dot);
        super::history::index1(e, m);
        m.since_change = 0;
        for b in 1..m.v.len() {
            let change = m.v_dot[b].plus(&self.step_rates[b].scaled(-1.0));
            m.a[b] = m.a[b].plus(&change);
            m.v_dot_back[b] = m.v_dot[b];
        }
        if self.method == Method::Bdf2 && m.h > 0.0 {
            m.look_back(m.h);
        }
        let h = m.h;
        self.start_carried(h);
    }

    /// Inputs and states at a time inside the last step.
    pub fn interpolate_carried(&self, t: f64, out: &mut [f64]) {
        let (m, p) = (&self.memory, self.previous());
        let (first, n) = (self.equations.model.first_state(), self.equations.model.inputs.len());
        let h = m.t - p.t;
        let s = (t - p.t) / h;
        for (k, out) in out.iter_mut().enumerate() {
            let (from, to) = (p.carried.z[k], m.carried.z[k]);
            *out = match k {
                // Inputs may have been replaced at the end.
                k if k < n => from + (t - p.t) * p.carried.z[n + k],
                k if k < first => from,
                _ => {
                    let (a, b1, b2) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
                    from + a * (to - from) + h * (b1 * p.carried.rate[k] + b2 * m.carried.left[k])
                }
            };
        }
    }
}

impl<C: Chart> Memory<C> {
    /// Rates and increment of a preceding step of size `h`, from the accelerations and third derivatives.
    pub(super) fn look_back(&mut self, h: f64) {
        for b in 1..self.v.len() {
            let (v, a, j) = (self.v[b], self.v_dot[b], self.jerk[b]);
            self.v_back[b] = v.plus(&a.scaled(-h)).plus(&j.scaled(0.5 * h * h));
            self.psi[b] = v
                .scaled(h)
                .plus(&a.scaled(-0.5 * h * h))
                .plus(&j.scaled(h * h * h / 6.0))
                .plus(&C::commutator(&v, &a).scaled(h * h * h / 12.0));
        }
    }
}
