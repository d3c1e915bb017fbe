//! States along a motion prescribed by drives: integrated from step to step, with interpolated poses and velocities.

use crate::absolute::states::bodies_of_states;
use crate::diagnostic::Diagnostic;
use crate::force::eval::Plain;
use crate::integrator::first_order::{Carried, Explicit, System};
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome};
use crate::settings::Study;
use crate::settings::tau;
use crate::state::{Configuration, Pose, Twist};
use fourbar_math::so3;
use nalgebra::Vector3;

/// Default tolerance.
const TOLERANCE: f64 = 1e-10;
/// Steps of the motion in which bodies rotate by more than this angle, radians, are divided: the interpolation error is of the sixth power
/// of it.
pub const TURNED: f64 = 0.1;
/// Steps are also limited to this fraction of the characteristic time: drives may change while bodies hardly rotate.
pub const SHORT: f64 = 0.25;

/// One end of a step.
#[derive(Clone, Debug)]
struct End {
    t: f64,
    q: Vec<Pose>,
    v: Vec<Twist>,
    a: Vec<Twist>,
}

/// Inputs and states of a mechanism whose motion is known at the ends of a step.
pub struct Along<'m> {
    model: &'m Model,
    carried: Carried,
    ends: [End; 2],
    /// Counted angles at the first end.
    turns: Vec<f64>,
    /// Bodies on which the rates depend, and their interpolated poses and velocities.
    bodies: Vec<usize>,
    q: Vec<Pose>,
    v: Vec<Twist>,
    start: Vec<f64>,
    tau: f64,
}

/// Starts the states of a mechanism in motion.
pub fn start<'m>(model: &'m Model, study: &Study, at: &Configuration, a: &[Twist]) -> Result<Explicit<Along<'m>>, Diagnostic> {
    let end = End { t: at.t, q: at.q.clone(), v: at.v.clone(), a: a.to_vec() };
    let system = Along {
        model,
        carried: Carried::new(model, at),
        ends: [end.clone(), end],
        turns: at.turns.clone(),
        bodies: bodies_of_states(model),
        q: at.q.clone(),
        v: at.v.clone(),
        start: at.z.clone(),
        tau: tau(study)?,
    };
    let study = Study { step: None, tol: Some(study.tol.unwrap_or(TOLERANCE)), ..study.clone() };
    let mut run = Explicit::new(system, model, &study, "dopri5", at.t)?;
    run.run_ahead(f64::NEG_INFINITY);
    Ok(run)
}

impl Along<'_> {
    /// Continues the motion to `to`, from its last end.
    pub fn between(&mut self, from: (&Configuration, &[Twist]), to: (&Configuration, &[Twist])) {
        self.turns.copy_from_slice(&from.0.turns);
        for (end, (c, a)) in self.ends.iter_mut().zip([from, to]) {
            end.t = c.t;
            end.q.copy_from_slice(&c.q);
            end.v.copy_from_slice(&c.v);
            end.a.copy_from_slice(a);
        }
    }

    /// Poses and velocities at a time between the ends: polynomials of fifth degree, on the group of rotations.
    fn place(&mut self, t: f64) {
        let [first, last] = &self.ends;
        let h = last.t - first.t;
        let s = if h > 0.0 { (t - first.t) / h } else { 0.0 };
        for &b in &self.bodies {
            let (q0, v0, a0) = (&first.q[b], &first.v[b], &first.a[b]);
            let (v1, a1) = (&last.v[b], &last.a[b]);
            let psi = q0.increment_to(&last.q[b]);
            let (r, r_dot) = quintic(s, h, [&psi.v, &v0.v, &v1.v, &a0.v, &a1.v]);
            // Rates of the rotation vector at the far end: w = T u', and its derivative.
            let inverse = so3::tangent_inv(&psi.w);
            let rate = inverse * v1.w;
            let little = 1e-5 / rate.norm().max(1e-300);
            let turning = (so3::tangent(&(psi.w + rate * little)) - so3::tangent(&(psi.w - rate * little))) / (2.0 * little);
            let second = inverse * (a1.w - turning * rate);
            let (u, u_dot) = quintic(s, h, [&psi.w, &v0.w, &rate, &a0.w, &second]);
            self.q[b] = q0.moved(&Twist { v: r, w: u });
            self.v[b] = Twist { v: r_dot, w: so3::tangent(&u) * u_dot };
        }
    }
}

/// Value and rate at a fraction `s` of a step `h`, from zero to `end`, with rates and second derivatives at both ends.
fn quintic(s: f64, h: f64, [end, v0, v1, a0, a1]: [&Vector3<f64>; 5]) -> (Vector3<f64>, Vector3<f64>) {
    let (s2, s3) = (s * s, s * s * s);
    let e = s3 * (10.0 - 15.0 * s + 6.0 * s2);
    let (b0, b1) = (s - s3 * (6.0 - 8.0 * s + 3.0 * s2), s3 * (-4.0 + 7.0 * s - 3.0 * s2));
    let (c0, c1) = (0.5 * s2 - s3 * (1.5 - 1.5 * s + 0.5 * s2), s3 * (0.5 - s + 0.5 * s2));
    let value = end * e + (v0 * b0 + v1 * b1) * h + (a0 * c0 + a1 * c1) * (h * h);
    let e = 30.0 * s2 * (1.0 - 2.0 * s + s2);
    let (b0, b1) = (1.0 - s2 * (18.0 - 32.0 * s + 15.0 * s2), s2 * (-12.0 + 28.0 * s - 15.0 * s2));
    let (c0, c1) = (s - s2 * (4.5 - 6.0 * s + 2.5 * s2), s2 * (1.5 - 4.0 * s + 2.5 * s2));
    let over = if h > 0.0 { 1.0 / h } else { 0.0 };
    (value, end * (e * over) + v0 * b0 + v1 * b1 + (a0 * c0 + a1 * c1) * h)
}

impl System for Along<'_> {
    fn stored(&self) -> usize {
        self.carried.len() + 1
    }

    fn size(&self) -> usize {
        self.carried.len() + 1
    }

    fn auxiliaries(&self) -> usize {
        self.carried.len()
    }

    fn start(&self, y: &mut [f64]) {
        y[..self.start.len()].copy_from_slice(&self.start);
        y[self.start.len()] = 0.0;
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        to.iter_mut().zip(from.iter().zip(d)).for_each(|(to, (from, d))| *to = from + d);
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        self.place(t);
        let n = self.carried.len();
        let x = Plain { t, q: &self.q, v: &self.v, turns: &self.turns, loads: &[], z: &y[..n] };
        f[n] = 0.0;
        match self.carried.derivative(self.model, &x, &mut f[..n]) {
            true => Ok(()),
            false => Err(Box::new(
                Diagnostic::new("S253", format!("the rates of `states` are not finite at t = {t:.6} s"))
                    .time(t)
                    .help("check the expressions under `states:` near this time"),
            )),
        }
    }

    fn error(&self, y: &[f64], d: &[f64]) -> f64 {
        self.model.length * self.carried.error(y, &d[..self.carried.len()], self.tau)
    }

    fn accept(&mut self, _t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        self.carried.accept(y, self.tau);
        Ok(false)
    }

    fn instant(&mut self, _t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        out.z.copy_from_slice(&y[..self.carried.len()]);
        Ok(())
    }

    fn report(&mut self, _told: &mut Outcome) {}

    fn save(&self) -> serde_json::Value {
        self.carried.save()
    }

    fn restore(&mut self, saved: &serde_json::Value) {
        self.carried.restore(saved);
    }
}
