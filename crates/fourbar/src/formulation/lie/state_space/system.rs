//! The state-space form as a first-order system: its state is the base, local coordinates and independent velocities, and the work.

use super::{Base, FAR, StateSpace, combined, dot, tangent_rate};
use crate::absolute::equations::Equations;
use crate::analysis::assembly::update_turns;
use crate::diagnostic::Diagnostic;
use crate::force::eval::Plain;
use crate::formulation::lie::{ILL_DEFINED, ill_defined, not_finite};
use crate::integrator::first_order::{System, largest_turn};
use crate::integrator::lists::{flat, poses, unflat, unflat_poses};
use crate::motion::{Instant, Outcome, numbers};
use fourbar_math::so3;
use serde_json::{Value, json};

impl System for StateSpace<'_> {
    fn stored(&self) -> usize {
        self.carried.len() + 1 + 2 * self.freedoms + 1
    }

    fn size(&self) -> usize {
        self.carried.len() + 2 * self.freedoms + 1
    }

    fn auxiliaries(&self) -> usize {
        self.carried.len()
    }

    fn start(&self, y: &mut [f64]) {
        let (z, y) = y.split_at_mut(self.carried.len());
        z.copy_from_slice(&self.start.z);
        y.fill(0.0);
        let f = self.freedoms;
        for (u, N) in y[1 + f..1 + 2 * f].iter_mut().zip(self.bases[0].N.chunks_exact(self.q.len())) {
            *u = dot(&self.metric, N, &self.start.v);
        }
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let n = self.carried.len();
        (0..n).for_each(|k| to[k] = from[k] + d[k]);
        to[n] = from[n];
        (n..d.len()).for_each(|k| to[k + 1] = from[k + 1] + d[k]);
    }

    fn increment(&self, from: &[f64], to: &[f64], d: &mut [f64]) {
        let n = self.carried.len();
        (0..n).for_each(|k| d[k] = to[k] - from[k]);
        (n..d.len()).for_each(|k| d[k] = to[k + 1] - from[k + 1]);
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        let base = self.unpack(t, y)?;
        let power = self.solve(t, false)?;
        let (rates, f) = f.split_at_mut(self.carried.len());
        let e = &self.equations;
        let x = Plain { t, q: &self.q, v: &self.v, turns: &self.turns, loads: &e.loads.by_joint, z: &e.z };
        if !self.carried.derivative(e.model, &x, rates) {
            return Err(not_finite(t));
        }
        let (n, count) = (self.q.len(), self.freedoms);
        f[..count].copy_from_slice(&y[self.carried.len() + 1 + count..][..count]);
        // The second derivative takes the place of the accelerations.
        for b in 1..n {
            let (psi, rate) = (&self.delta[b].w, &self.rate[b].w);
            self.a[b].w = so3::tangent_inv(psi) * (self.a[b].w - tangent_rate(psi, rate));
        }
        for (u, N) in f[count..2 * count].iter_mut().zip(self.bases[base].N.chunks_exact(n)) {
            *u = dot(&self.metric, N, &self.a);
        }
        f[2 * count] = power;
        Ok(())
    }

    fn fits(&self, d: &[f64]) -> bool {
        let d = &d[self.carried.len()..][..self.freedoms];
        let n = self.q.len();
        let most = largest_turn(self.equations.model);
        (1..n).all(|b| combined(&self.bases[0].N, n, b, d).w.norm_squared() < most * most)
    }

    fn error(&self, y: &[f64], d: &[f64]) -> f64 {
        let (z, d) = d.split_at(self.carried.len());
        let carried = self.equations.model.length * self.carried.error(y, z, self.tau);
        let (eta, u) = d[..2 * self.freedoms].split_at(self.freedoms);
        let (places, speeds) = (self.size_of(eta), self.tau * self.size_of(u));
        // Not max: NaN must be preserved.
        [speeds, carried].iter().fold(places, |most, x| if *x > most || x.is_nan() { *x } else { most })
    }

    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        self.carried.accept(y, self.tau);
        self.unpack(t, y)?;
        update_turns(self.equations.model, &self.q, &mut self.turns);
        let L = self.equations.model.length;
        let far = self.delta.iter().any(|d| d.v.amax() > FAR * L || d.w.amax() > FAR);
        if far {
            let lead = self.carried.len();
            self.rebase(&mut y[lead..]);
        }
        Ok(far)
    }

    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        self.unpack(t, y)?;
        self.equations.refined = out.loaded;
        self.solve(t, true)?;
        out.t = t;
        out.q.copy_from_slice(&self.q);
        out.v.copy_from_slice(&self.v);
        out.a.copy_from_slice(&self.a);
        out.turns.copy_from_slice(&self.turns);
        out.z.copy_from_slice(&self.equations.z);
        update_turns(self.equations.model, &self.q, &mut out.turns);
        let e = &mut self.equations;
        if e.regular_pivot.0 < ILL_DEFINED && self.detector.is_singular(e.model, &e.set, &self.q) {
            self.flagged += 1;
        }
        self.loads.fill(e.model, &e.set, &self.lambda, out);
        out.work = y[y.len() - 1];
        out.errors = e.errors(&self.q, &self.v, &self.a, &out.turns, t);
        Ok(())
    }

    fn report(&mut self, outcome: &mut Outcome) {
        outcome.work.push(("factorisations", self.equations.factorisations as f64));
        outcome.work.push(("bases", self.changes as f64));
        let many = self.freedoms;
        outcome.notes.push(format!("state space: {many} independent {}", if many == 1 { "velocity" } else { "velocities" }));
        outcome.warnings.extend(ill_defined(self.flagged));
        outcome.warnings.extend(self.equations.poorly.warning());
        outcome.singular.append(&mut self.passages.found);
    }

    fn parts(&self, d: &[f64]) -> usize {
        if !self.watched {
            return 1;
        }
        self.passages.parts(self.size_of(&d[self.carried.len()..][..self.freedoms]) / self.equations.model.length)
    }

    fn look(&mut self, t: f64, y: &[f64], accepted: bool) {
        if !self.watched || (!accepted && self.unpack(t, y).is_err()) {
            return;
        }
        self.measure.look(&mut self.passages, t, &self.q, &self.v);
    }

    fn save(&self) -> Value {
        let base = |b: &Base| json!({"number": b.number, "q": poses(&b.q), "N": flat(&b.N)});
        json!({
            "turns": self.turns,
            "carried": self.carried.save(),
            "counts": [self.equations.factorisations, self.changes, self.flagged],
            "passages": self.passages.save(),
            "poorly": self.equations.poorly.save(),
            "bases": [base(&self.bases[0]), base(&self.bases[1])],
            "guess": self.equations.saved_guess(&self.a),
        })
    }

    fn restore(&mut self, v: &Value) {
        let turns = numbers(&v["turns"]);
        if turns.len() == self.turns.len() {
            self.turns = turns;
        }
        self.carried.restore(&v["carried"]);
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        let n = &v["counts"];
        (self.equations.factorisations, self.changes, self.flagged) = (whole(&n[0]), whole(&n[1]), whole(&n[2]));
        self.passages.restore(&v["passages"]);
        self.equations.poorly.restore(&v["poorly"]);
        Equations::restore_guess(&numbers(&v["guess"]), &mut self.a);
        for (base, v) in self.bases.iter_mut().zip([&v["bases"][0], &v["bases"][1]]) {
            let whole = unflat_poses(&v["q"], &mut base.q).and_then(|()| unflat(&v["N"], &mut base.N));
            if let (Some(()), Some(number)) = (whole, v["number"].as_f64()) {
                base.number = number;
            }
        }
    }
}
