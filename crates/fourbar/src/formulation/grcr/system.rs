//! The formulation as a first-order system: state, derivative, switching of dependents, singular positions, instants.
//!
//! The state holds all tree coordinates, all speeds and the work. Every evaluation closes the loops from the values that the integrator
//! predicts; the accelerations do not depend on the dependent set, so a switch between steps changes nothing in the derivative.

use super::closure::LOST;
use super::cut::Cut;
use super::mechanism::{Mechanism, WEAK};
use super::reaction;
use super::schedule::Role;
use super::select::Selection;
use crate::analysis::singular::{Detector, Singular, Watch};
use crate::constraint::ConstraintSet;
use crate::diagnostic::Diagnostic;
use crate::force::eval;
use crate::integrator::explicit::{Run, System, largest_turn};
use crate::integrator::tau;
use crate::model::Model;
use crate::motion::{Instant, Loads, Motion, Told, Wrench, numbers};
use crate::state::{Configuration, Velocity};
use crate::study::{Study, count};
use serde_json::{Value, json};

/// A better set, looked for where the weakest dependent is weak, is taken where its weakest sine is larger by this factor.
const BETTER: f64 = 3.0;
/// Offsets and weights of the interpolation at singular positions.
const BESIDE: [(f64, f64); 4] = [(1.0, 2.0 / 3.0), (-1.0, 2.0 / 3.0), (2.0, -1.0 / 6.0), (-2.0, -1.0 / 6.0)];
/// Switches told one by one.
const TOLD: usize = 20;

/// A mechanism in motion.
pub struct Grcr<'m> {
    m: Mechanism<'m>,
    cut: Option<Cut>,
    /// All constraints, for residuals, and the multipliers of the closings.
    set: ConstraintSet,
    G: Vec<f64>,
    rows: [Vec<f64>; 2],
    loads: Loads,
    detector: Detector,
    /// Last rates of speeds at a regular position.
    usual: Vec<f64>,
    /// Time and state whose closed values are in the mechanism; no time where there are none.
    last: (f64, Vec<f64>),
    /// Time and state at the end of the last accepted step, which is closed: it is never corrected again, so that neither outputs in
    /// between nor a resumed run change a digit.
    accepted: (f64, Vec<f64>),
    /// Sine below which the next search for a better set is worth its time.
    search_below: f64,
    /// The same inside the step.
    inside_below: f64,
    start: Vec<f64>,
    worked: bool,
    /// Columns that turn counted angles.
    counted: Vec<usize>,
    tau: f64,
    switches: Vec<(f64, String)>,
    switched: usize,
    /// Evaluations by interpolation, and output times with rank loss.
    interpolated: usize,
    flagged: usize,
    /// Workspace of interpolation.
    side: [Vec<f64>; 5],
}

/// Sets the formulation in motion.
pub fn start<'m>(
    model: &'m Model,
    study: &Study,
    integrator: &'static str,
    at: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let mut system = Grcr::new(model, at, study)?;
    system.tau = tau(study)?;
    Ok(Box::new(Run::new(system, model, study, integrator, at.t)?))
}

impl<'m> Grcr<'m> {
    fn new(model: &'m Model, at: &Configuration, study: &Study) -> Result<Self, Diagnostic> {
        let options = super::Options::of(&study.options)?;
        let m = Mechanism::with_options(model, at, &options);
        let set = ConstraintSet::new(model.all_constraints(), |_| false);
        let mut start = m.q.clone();
        start.extend_from_slice(&m.u);
        start.push(0.0);
        let (rows, n) = (set.rows(), m.tree.speeds);
        Ok(Self {
            loads: Loads::new(model, &m.closings.set),
            detector: Detector::new(model, &set, at),
            G: vec![0.0; set.values],
            rows: [vec![0.0; rows], vec![0.0; rows]],
            usual: vec![0.0; n],
            last: (f64::NAN, vec![0.0; start.len()]),
            accepted: (f64::NAN, vec![0.0; start.len()]),
            search_below: WEAK,
            inside_below: 0.5 * WEAK,
            worked: model.has_work(),
            counted: if model.angles.is_empty() { Vec::new() } else { m.tree.hinged_columns().collect() },
            tau: 0.1,
            switches: Vec::new(),
            switched: 0,
            interpolated: 0,
            flagged: 0,
            side: [vec![0.0; m.tree.stored], vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; m.tree.stored]],
            cut: options.cut.then(|| Cut::new(&m)),
            start,
            set,
            m,
        })
    }

    /// Closes and accelerates at a state; power of drives and of forces without a potential.
    fn evaluate(&mut self, t: f64, q: &[f64], u: &[f64]) -> Result<f64, Box<Diagnostic>> {
        self.m.close(t, q, u)?;
        self.accelerate(t)
    }

    /// The same at the state that is closed already.
    fn accelerate(&mut self, t: f64) -> Result<f64, Box<Diagnostic>> {
        match &mut self.cut {
            Some(cut) => cut.accelerate(&mut self.m, t),
            None => self.m.accelerate(t),
        }
        if !self.m.udot.iter().sum::<f64>().is_finite() {
            return Err(not_finite(t));
        }
        Ok(if self.worked { self.power(t) } else { 0.0 })
    }

    fn power(&mut self, t: f64) -> f64 {
        let m = &mut self.m;
        let mut power: f64 = m.tree.prescribed.iter().map(|p| m.fronts.effort[p.column] * m.u[p.column]).sum();
        if !m.closings.is_empty() {
            power += m.closing_power(t);
        }
        let x = eval::Plain { t, q: &m.poses, v: &m.velocities, turns: &m.turns, loads: &m.loads };
        power + eval::power(m.model, &x)
    }

    fn lost(&self) -> bool {
        !self.m.closings.is_empty() && self.m.closure.smallest.0 < LOST
    }

    /// Where the rows lose rank the derivative is interpolated from four evaluations beside, each given to `take` with its weight.
    ///
    /// The motion itself is smooth there; only the equations that give its acceleration are not. Any smooth curve through the state that keeps
    /// the constraints will do for the interpolation, whose error is of fourth order in the offset.
    fn beside(&mut self, t: f64, mut take: impl FnMut(&mut Self, f64, f64)) -> Result<(), Box<Diagnostic>> {
        let n = self.m.tree.speeds;
        let [mut q0, mut u0, mut d, mut u, mut q] = std::mem::take(&mut self.side);
        q0.copy_from_slice(&self.m.q);
        u0.copy_from_slice(&self.m.u);
        let mut place = |s: &mut Self, h: f64, q: &mut [f64], u: &mut [f64]| {
            for c in 0..n {
                d[c] = h * u0[c] + 0.5 * h * h * s.usual[c];
                u[c] = u0[c] + h * s.usual[c];
            }
            s.m.retracted(&q0, &d, q);
        };
        let mut offset = 1e-5;
        let mut found = Err(not_finite(t));
        while offset < 0.02 {
            let fine = BESIDE.iter().map(|x| &x.0).all(|k| {
                place(self, k * offset, &mut q, &mut u);
                self.m.close(t + k * offset, &q, &u).is_ok() && !self.lost()
            });
            if fine {
                found = Ok(());
                break;
            }
            offset *= 1.5;
        }
        if found.is_ok() {
            for (k, weight) in BESIDE {
                place(self, k * offset, &mut q, &mut u);
                match self.evaluate(t + k * offset, &q, &u) {
                    Ok(power) => take(self, weight, power),
                    Err(e) => found = Err(e),
                }
            }
        }
        self.interpolated += 1;
        self.m.restore_state(&q0, &u0);
        self.side = [q0, u0, d, u, q];
        found
    }

    /// Looks for a better dependent set where the one in use has become weak; whether it was changed.
    fn switch(&mut self, t: f64) -> bool {
        let (sine, _) = self.m.closure.smallest;
        if sine > 2.0 * WEAK {
            self.search_below = WEAK;
        }
        if sine >= self.search_below {
            return false;
        }
        let s = self.m.choose();
        // Where no set is better, as in a singular position, there is nothing to be found for a while; else as soon as it would be taken.
        self.search_below = if s.smallest > 1.1 * sine { (s.smallest / BETTER).min(0.5 * sine) } else { 0.03 * sine };
        self.take_if_better(t, s)
    }

    /// The same inside a step, where the set in use comes to its dead point between accepted steps. All coordinates are in the state, so
    /// any set will do for an evaluation.
    fn switch_inside(&mut self, t: f64) -> bool {
        let (sine, _) = self.m.closure.smallest;
        if sine >= self.inside_below {
            return false;
        }
        let s = self.m.choose();
        self.inside_below = 0.3 * sine;
        self.take_if_better(t, s)
    }

    /// Where to search first inside the next step: what the search at its beginning did not find is not there, unless rank is lost altogether.
    fn below_inside(&self) -> f64 {
        (0.5 * WEAK).min(self.search_below.max(LOST))
    }

    fn take_if_better(&mut self, t: f64, s: Selection) -> bool {
        let (sine, _) = self.m.closure.smallest;
        if s.rank != self.m.selection.rank || s.smallest <= BETTER * sine {
            return false;
        }
        let (out, new) = self.changed_names(&s.roles);
        self.m.adopt(s);
        if let Some(cut) = &mut self.cut {
            *cut = Cut::new(&self.m);
        }
        self.search_below = WEAK;
        // Sines of different sets cannot be compared.
        self.detector.watch.filled = 0;
        self.switched += 1;
        if self.switches.len() < TOLD {
            self.switches.push((t, format!("{out} became independent, {new} dependent")));
        }
        true
    }

    fn changed_names(&self, roles: &[Role]) -> (String, String) {
        let name = |of: &dyn Fn(usize) -> bool| {
            let list: Vec<String> = (0..roles.len()).filter(|c| of(*c)).map(|c| self.m.column_name(c)).take(6).collect();
            if list.is_empty() { "nothing".to_string() } else { list.join(", ") }
        };
        let old = &self.m.selection.roles;
        let left = name(&|c| old[c] == Role::Dependent && roles[c] != Role::Dependent);
        let came = name(&|c| old[c] != Role::Dependent && roles[c] == Role::Dependent);
        (left, came)
    }

    fn errors(&mut self, out: &mut Instant) {
        let [x, y] = &mut self.rows;
        let largest = |x: &[f64], y: &[f64]| x.iter().zip(y).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
        self.set.choose(out.t);
        self.set.residual(&out.q, &out.turns, out.t, x);
        out.errors[0] = x.iter().fold(0.0, |m, x| m.max(x.abs()));
        self.set.jacobian(&out.q, &mut self.G);
        self.set.multiply(&self.G, &out.v, x);
        self.set.nu(out.t, y);
        out.errors[1] = largest(x, y);
        self.set.multiply(&self.G, &out.a, x);
        self.set.gamma(&out.q, &out.v, out.t, y);
        out.errors[2] = largest(x, y);
    }
}

fn not_finite(t: f64) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::new("S232", format!("the accelerations at t = {t:.6} s are not finite"))
            .time(t)
            .help("a smaller step or tolerance may help; a singular position may be near"),
    )
}

impl System for Grcr<'_> {
    fn stored(&self) -> usize {
        self.m.tree.stored + self.m.tree.speeds + 1
    }

    fn size(&self) -> usize {
        2 * self.m.tree.speeds + 1
    }

    fn start(&self, y: &mut [f64]) {
        y.copy_from_slice(&self.start);
    }

    fn moved(&self, from: &[f64], d: &[f64], to: &mut [f64]) {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        self.m.retracted(from, d, &mut to[..stored]);
        for k in 0..=n {
            to[stored + k] = from[stored + k] + d[n + k];
        }
    }

    fn pull_back(&self, d: &[f64], f: &mut [f64]) {
        for n in &self.m.tree.turning {
            let n = &self.m.tree.nodes[*n];
            n.kind.pull_back(&d[n.u..], &mut f[n.u..]);
        }
    }

    fn fits(&self, d: &[f64]) -> bool {
        let turning = |n: &usize| {
            let n = &self.m.tree.nodes[*n];
            n.kind.fits(&d[n.u..])
        };
        let largest = largest_turn(self.m.model);
        self.m.tree.turning.iter().all(turning) && self.counted.iter().all(|c| d[*c].abs() < largest)
    }

    fn derivative(&mut self, t: f64, y: &[f64], f: &mut [f64]) -> Result<(), Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        let at_hand = std::mem::replace(&mut self.last.0, f64::NAN) == t && self.last.1 == y;
        let (q, u) = (&y[..stored], &y[stored..stored + n]);
        let mut power = if self.accepted.0 != t || self.accepted.1 != y {
            self.evaluate(t, q, u)?
        } else {
            if at_hand {
                self.m.drive(t);
            } else {
                self.m.take(t, q, u);
            }
            self.accelerate(t)?
        };
        if !self.m.closings.is_empty() && self.switch_inside(t) {
            power = self.evaluate(t, q, u)?;
        }
        f[..n].copy_from_slice(&self.m.u);
        if !self.lost() {
            f[n..2 * n].copy_from_slice(&self.m.udot);
            self.usual.copy_from_slice(&self.m.udot);
            f[2 * n] = power;
            self.last.0 = t;
            self.last.1.copy_from_slice(y);
            return Ok(());
        }
        f[n..].fill(0.0);
        self.beside(t, |s, weight, power| {
            f[n..2 * n].iter_mut().zip(&s.m.udot).for_each(|(f, a)| *f += weight * a);
            f[2 * n] += weight * power;
        })
    }

    fn error(&self, _y: &[f64], d: &[f64]) -> f64 {
        let n = self.m.tree.speeds;
        let L = self.m.model.length;
        let mut worst = 0.0_f64;
        for c in 0..n {
            let unit = if self.m.tree.slides[c] { 1.0 } else { L };
            // Not max: what is not a number must count.
            let x = unit * d[c].abs().max(self.tau * d[n + c].abs());
            if x.is_nan() {
                return f64::NAN;
            }
            worst = worst.max(x);
        }
        worst
    }

    fn accept(&mut self, t: f64, y: &mut [f64]) -> Result<bool, Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        if self.last.0 != t || self.last.1 != y {
            self.m.close(t, &y[..stored], &y[stored..stored + n])?;
        }
        self.last.0 = f64::NAN;
        // The derivative of the corrected state is the same, because every evaluation corrects.
        y[..stored].copy_from_slice(&self.m.q);
        y[stored..stored + n].copy_from_slice(&self.m.u);
        self.m.count_turns();
        self.accepted.0 = t;
        self.accepted.1.copy_from_slice(y);
        let mut at_hand = true;
        if !self.m.closings.is_empty() {
            at_hand = !self.switch(t);
            self.inside_below = self.below_inside();
            let Self { m, detector, set, .. } = self;
            let (sine, _) = m.closure.smallest;
            detector.observe(m.model, set, &m.poses, t, sine * sine, || m.weak_names());
        }
        if at_hand {
            self.last.0 = t;
            self.last.1.copy_from_slice(y);
        }
        Ok(false)
    }

    fn instant(&mut self, t: f64, y: &[f64], out: &mut Instant) -> Result<(), Box<Diagnostic>> {
        let (stored, n) = (self.m.tree.stored, self.m.tree.speeds);
        self.last.0 = f64::NAN;
        let (q, u) = (&y[..stored], &y[stored..stored + n]);
        self.evaluate(t, q, u)?;
        self.m.globals();
        out.t = t;
        out.q.copy_from_slice(&self.m.poses);
        out.v.copy_from_slice(&self.m.velocities);
        for (k, a) in self.m.model.angles.iter().enumerate() {
            let [i, j] = a.bodies.map(|b| &self.m.poses[b.index()]);
            out.turns[k] = a.angle.value(i, j, self.m.turns[k]);
        }
        out.work = y[stored + n];
        self.m.body_accelerations(&mut out.a);
        if self.lost() {
            // The interpolation stands for what the position itself does not define.
            self.flagged += 1;
            let mut sum = out.clone();
            sum.a.fill(Velocity::zero());
            sum.reactions.fill(Wrench::default());
            sum.efforts.fill(0.0);
            self.beside(t, |s, weight, _| {
                s.m.globals();
                s.m.body_accelerations(&mut out.a);
                reaction::fill(&s.m, &s.loads, out);
                for (s, o) in sum.a.iter_mut().zip(&out.a) {
                    *s = s.plus(&o.scaled(weight));
                }
                for (s, o) in sum.reactions.iter_mut().zip(&out.reactions) {
                    s.force += o.force * weight;
                    s.torque += o.torque * weight;
                }
                for (s, o) in sum.efforts.iter_mut().zip(&out.efforts) {
                    *s += o * weight;
                }
            })?;
            out.a = sum.a;
            out.reactions = sum.reactions;
            out.efforts = sum.efforts;
        } else {
            reaction::fill(&self.m, &self.loads, out);
        }
        self.errors(out);
        Ok(())
    }

    fn tell(&mut self, told: &mut Told) {
        told.work.push(("accelerations", self.m.counts[0] as f64));
        told.work.push(("position_corrections", self.m.counts[1] as f64));
        told.work.push(("switches_of_dependents", self.switched as f64));
        told.notes.push(super::describe::summary(&self.m));
        if self.cut.is_some() {
            told.notes.push("loops are cut: the multipliers are solved from one dense matrix".into());
        }
        for (t, what) in &self.switches {
            told.notes.push(format!("t = {t:.5} s: {what}"));
        }
        if self.switched > self.switches.len() {
            told.notes.push(format!("and {} more", count(self.switched - self.switches.len(), "switch of dependents")));
        }
        if self.interpolated > 0 {
            told.notes.push(format!(
                "{} at singular positions interpolated from their surroundings; small errors grow there",
                count(self.interpolated, "evaluation")
            ));
        }
        if self.m.fronts.weightless.is_some() {
            let name = self.m.fronts.weightless.map(|c| self.m.column_name(c)).unwrap_or_default();
            told.notes.push(format!("{name} has no inertia and is held at its speed"));
        }
        if self.flagged > 0 {
            let many = count(self.flagged, "output time");
            told.warnings.push(
                Diagnostic::new(
                    "W231",
                    format!("at {many} the reactions are not well defined, because the mechanism is at a singular position"),
                )
                .help("read reactions near singular positions with care"),
            );
        }
        told.singular.append(&mut self.detector.found);
    }

    fn save(&self) -> Value {
        json!({
            "turns": self.m.turns,
            "selection": self.m.save_selection(),
            "usual": self.usual,
            "accepted_at": self.accepted.0,
            "accepted": self.accepted.1,
            "search_below": self.search_below,
            "watch": self.detector.watch.last.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<f64>>(),
            "watch_filled": self.detector.watch.filled,
            "watch_usual": self.detector.watch.usual,
            "counts": [self.m.counts[0], self.m.counts[1], self.switched, self.interpolated, self.flagged],
            "switches": self.switches,
            "singular": serde_json::to_value(&self.detector.found).unwrap_or(Value::Null),
        })
    }

    fn restore(&mut self, v: &Value) {
        let turns = numbers(&v["turns"]);
        if turns.len() == self.m.turns.len() {
            self.m.turns = turns;
        }
        let usual = numbers(&v["usual"]);
        if usual.len() == self.usual.len() {
            self.usual = usual;
        }
        let accepted = numbers(&v["accepted"]);
        if accepted.len() == self.accepted.1.len() {
            self.accepted = (v["accepted_at"].as_f64().unwrap_or(f64::NAN), accepted);
        }
        self.last.0 = f64::NAN;
        self.m.restore_selection(&v["selection"]);
        if let Some(cut) = &mut self.cut {
            *cut = Cut::new(&self.m);
        }
        self.search_below = v["search_below"].as_f64().unwrap_or(WEAK);
        self.inside_below = self.below_inside();
        let whole = |v: &Value| v.as_u64().unwrap_or(0) as usize;
        if let [a, b, c, d, e, f] = numbers(&v["watch"])[..] {
            let usual = v["watch_usual"].as_f64().unwrap_or(0.0);
            self.detector.watch = Watch { last: [(a, b), (c, d), (e, f)], filled: whole(&v["watch_filled"]), usual };
        }
        let n = &v["counts"];
        self.m.counts = [whole(&n[0]), whole(&n[1])];
        (self.switched, self.interpolated, self.flagged) = (whole(&n[2]), whole(&n[3]), whole(&n[4]));
        self.switches = serde_json::from_value(v["switches"].clone()).unwrap_or_default();
        self.detector.found = Singular::restored(&v["singular"]);
    }
}
