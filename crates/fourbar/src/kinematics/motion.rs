//! Kinematics over time, with the work of the drives and the detection of singular positions.

use super::states::{self, Along, SHORT, TURNED};
use super::{Kinematics, undefined_drive};
use crate::absolute::chart::{Chart, Ra};
use crate::absolute::reps::Reps;
use crate::absolute::rp::Rp;
use crate::analysis::rank;
use crate::diagnostic::Diagnostic;
use crate::formulation::FormulationInfo;
use crate::integrator::control::{self, Stepping, asked_every};
use crate::integrator::first_order::Explicit;
use crate::model::Model;
use crate::motion::{Instant, Motion, Outcome, bad_checkpoint, numbers};
use crate::settings::tau;
use crate::settings::{Study, count};
use crate::singular::massless::Massless;
use crate::singular::passages::Passages;
use crate::state::{Configuration, Twist};
use crate::structure::Structure;
use serde_json::{Value, json};

/// Kinematics in the three charts of rotations, in the form of formulations.
pub static KINEMATICS: &[FormulationInfo] =
    &[in_chart(Ra::NAME, start::<Ra>), in_chart(Rp::NAME, start::<Rp>), in_chart(Reps::NAME, start::<Reps>)];

const fn in_chart(name: &'static str, start: crate::formulation::Start) -> FormulationInfo {
    FormulationInfo { name, summary: "kinematics: the drives prescribe everything", integrators: &["newton"], options: &[], applies, start }
}

/// Refuses mechanisms with constraints on velocities only.
fn applies(model: &Model) -> Result<(), Diagnostic> {
    model.rolling.first().map_or(Ok(()), |r| {
        Err(Diagnostic::new("S222", format!("`{}` constrains velocities only, which kinematics cannot follow", r.name))
            .name(r.name.clone())
            .help("let dynamics move it: `study: {analysis: dynamics}` and `fourbar run`"))
    })
}

/// Travel in a step, in radians or characteristic lengths, above which the power is sampled inside the step as well.
const LONG: f64 = 0.1;
/// Travel between such samples: cams rise within a few tenths of a radian.
const SHORTER: f64 = 0.02;
/// Travel to the requested time above which sampling would take too long: the work of several turns is then an estimate, which the energy
/// balance checks.
const TOO_LONG: f64 = 25.0;

/// Steps below this fraction of the characteristic time are very short; the second value is the maximum number in succession. Near a pole
/// of a drive there would be no end.
const VERY_SHORT: f64 = 5e-8;
const MOST_SHORT: usize = 1000;

/// Kinematic motion of a driven mechanism.
struct Driven<'m, C: Chart> {
    model: &'m Model,
    k: Kinematics<'m, C>,
    passages: Passages,
    measure: Massless<'m>,
    /// Whether singular positions are possible at all.
    watched: bool,
    /// Largest step between requested times, and the last requested time.
    step: Option<f64>,
    asked_from: f64,
    /// The state before the last step.
    before: Configuration,
    before_a: Vec<Twist>,
    /// Inputs and states, if any.
    states: Option<Explicit<Along<'m>>>,
    /// Longest step with states, s.
    short: f64,
    /// Limit of very short steps, s, and their number in succession.
    very_short: f64,
    in_a_row: usize,
    study: Study,
    /// Work up to the end and the start of the last step; power at both.
    work: [f64; 2],
    power: [f64; 2],
}

fn start<'m, C: Chart>(
    structure: &Structure<'m>,
    study: &Study,
    _integrator: &'static str,
    start: &Configuration,
) -> Result<Box<dyn Motion + 'm>, Diagnostic> {
    let model = structure.model;
    applies(model)?;
    let free = &structure.driven().generic;
    if free.mobility() > 0 {
        return Err(left_free(model, start, free));
    }
    let mut k = Kinematics::<C>::of(model, structure.positions(), start)?;
    if !k.reactions() {
        return Err(locked(model, start.t));
    }
    let power = k.power();
    let (mut passages, mut measure) = (Passages::new(model.length, model.bodies.len()), Massless::new(structure));
    k.watch(&mut passages, &mut measure);
    let states = match model.auxiliaries() {
        0 => None,
        _ => Some(states::start(model, study, start, &k.a)?),
    };
    Ok(Box::new(Driven {
        model,
        passages,
        measure,
        watched: structure.looped,
        step: study.fixed_step(),
        asked_from: start.t,
        before: start.clone(),
        before_a: k.a.clone(),
        states,
        short: SHORT * tau(study)?,
        very_short: VERY_SHORT * tau(study)?,
        in_a_row: 0,
        study: study.clone(),
        work: [0.0; 2],
        power: [power; 2],
        k,
    }))
}

impl<C: Chart> Driven<'_, C> {
    /// A time up to `t` until which bodies rotate little and drives change little.
    fn near(&self, t: f64) -> f64 {
        let (s, a) = (&self.k.state, &self.k.a);
        let fastest = s.v.iter().fold(0.0_f64, |m, v| m.max(v.w.norm()));
        let change = a.iter().fold(0.0_f64, |m, a| m.max(a.w.norm()));
        // The time for a rotation by an angle from this speed at this acceleration.
        let most = 2.0 * TURNED / (fastest + (fastest * fastest + 2.0 * change * TURNED).sqrt());
        let most = most.min(self.short);
        let left = t - s.t;
        if left > most { s.t + left / (left / most).ceil() } else { t }
    }

    /// One step towards a time, and the work of the drives in it: by Simpson's rule for long steps without prescribed size, otherwise by
    /// the trapezoidal rule.
    fn part_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        self.before.clone_from(&self.k.state);
        self.before_a.copy_from_slice(&self.k.a);
        let t = if self.model.states.is_empty() { t } else { self.near(t) };
        let (from, target) = (self.before.t, self.k.followed(t)?);
        let h = target - from;
        self.in_a_row = if h < self.very_short && target < t { self.in_a_row + 1 } else { 0 };
        if self.in_a_row > MOST_SHORT {
            return Err(without_bound(self.model, from));
        }
        // A long step is divided in the search for singular positions.
        let travel = h * (self.passages.speed(&self.k.state.v) + 0.5 * h * self.passages.speed(&self.k.a));
        let looks = if self.watched { self.passages.parts(travel) } else { 1 };
        let asked = (t - self.asked_from) * self.passages.speed(&self.k.state.v);
        let long = self.step.is_none() && self.states.is_none() && travel > LONG && asked < TOO_LONG;
        let parts = if long { looks.max((travel / SHORTER).ceil() as usize).next_multiple_of(2) } else { looks };
        let mut between = 0.0;
        for part in 1..=parts {
            self.k.advance(if part == parts { target } else { from + h * part as f64 / parts as f64 }, 0)?;
            if self.watched {
                self.k.watch(&mut self.passages, &mut self.measure);
            }
            if long && part < parts {
                if !self.k.reactions() {
                    return Err(locked(self.model, self.k.state.t));
                }
                between += if part % 2 == 1 { 4.0 } else { 2.0 } * self.k.power();
            }
        }
        self.k.work.steps += 1;
        if let Some(run) = &mut self.states {
            run.system_mut().between((&self.before, &self.before_a), (&self.k.state, &self.k.a));
            run.advance(self.k.state.t, &mut |_| true)?;
            self.k.state.z.copy_from_slice(&run.now().1[..self.before.z.len()]);
        }
        if !self.k.reactions() {
            return Err(locked(self.model, self.k.state.t));
        }
        let h = self.k.state.t - self.before.t;
        self.power = [self.k.power(), self.power[0]];
        let ends = self.power[0] + self.power[1];
        let work = if long { h / (3.0 * parts as f64) * (ends + between) } else { 0.5 * h * ends };
        self.work = [self.work[0] + work, self.work[0]];
        Ok(())
    }
}

impl<C: Chart> Stepping for Driven<'_, C> {
    fn time(&self) -> f64 {
        self.k.state.t
    }

    /// Advances to the next of the times that divide the interval up to `t` into equal parts of about the fixed step.
    fn step_towards(&mut self, t: f64) -> Result<(), Diagnostic> {
        let (from, now) = (self.asked_from, self.k.state.t);
        let parts = self.step.map_or(1.0, |h| ((t - from) / h - 1e-6).ceil().max(1.0));
        let end_of = |part: f64| if part >= parts { t } else { from + (t - from) * part / parts };
        let mut part = ((now - from) / (t - from) * parts).floor().max(1.0);
        while end_of(part) <= now && part < parts {
            part += 1.0;
        }
        self.part_towards(end_of(part))
    }

    fn asks(&self) -> bool {
        self.k.work.steps.is_multiple_of(asked_every(self.k.set.rows()))
    }
}

impl<C: Chart> Motion for Driven<'_, C> {
    fn t(&self) -> f64 {
        self.k.state.t
    }

    /// Every requested time ends a step.
    fn run_ahead(&mut self, _until: f64) {}

    fn advance(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        self.asked_from = self.k.state.t;
        control::advance(self, t, go_on)
    }

    fn instant(&mut self, t: f64, out: &mut Instant) -> Result<(), Diagnostic> {
        if t == self.k.state.t {
            self.k.instant(self.work[0], out);
            return Ok(());
        }
        // Inside the last step: computed from its start, in a separate workspace.
        let mut k = Kinematics::<C>::of(self.model, self.k.set.clone(), &self.before)?;
        if let Some(c) = k.set.undefined(t) {
            return Err(undefined_drive(&c.name, t));
        }
        k.step_to(t)?;
        if self.states.is_some() {
            let mut run = states::start(self.model, &self.study, &self.before, &self.before_a)?;
            run.system_mut().between((&self.before, &self.before_a), (&k.state, &k.a));
            run.advance(t, &mut |_| true)?;
            k.state.z.copy_from_slice(&run.now().1[..self.before.z.len()]);
        }
        if !k.reactions() {
            return Err(locked(self.model, t));
        }
        let work = self.work[1] + 0.5 * (t - self.before.t) * (self.power[1] + k.power());
        k.instant(work, out);
        Ok(())
    }

    fn set_auxiliaries(&mut self, t: f64, z: &[f64]) -> Result<bool, Diagnostic> {
        if t != self.k.state.t {
            return Ok(false);
        }
        self.k.state.z.copy_from_slice(z);
        if let Some(run) = &mut self.states {
            run.set_auxiliaries(t, z)?;
        }
        // Drives by acceleration have another acceleration from now on.
        self.k.finish(t)?;
        if !self.k.reactions() {
            return Err(locked(self.model, t));
        }
        self.power[0] = self.k.power();
        Ok(true)
    }

    fn report(&mut self, outcome: &mut Outcome) {
        let w = self.k.work;
        outcome.work.extend([
            ("steps", w.steps as f64),
            ("newton_iterations", w.iterations as f64),
            ("mean_newton_iterations", w.iterations as f64 / w.steps.max(1) as f64),
            ("factorisations", w.factorisations as f64),
            ("halved_steps", w.halvings as f64),
        ]);
        outcome.singular.append(&mut self.passages.found);
    }

    fn save(&self) -> Value {
        json!({
            "kinematics": self.k.save(),
            "before": self.before.save(),
            "work": [self.work, self.power],
            "passages": self.passages.save(),
            "states": self.states.as_ref().map(|s| s.save()),
        })
    }

    fn restore(&mut self, saved: &Value) -> Result<(), Diagnostic> {
        let misfit = || bad_checkpoint("its sizes do not match");
        self.k.restore(&saved["kinematics"]).ok_or_else(misfit)?;
        self.before = Configuration::restored(self.model, &saved["before"]).ok_or_else(misfit)?;
        let [work, power] = [0, 1].map(|k| numbers(&saved["work"][k]));
        if work.len() != 2 || power.len() != 2 {
            return Err(misfit());
        }
        (self.work, self.power) = ([work[0], work[1]], [power[0], power[1]]);
        self.passages.restore(&saved["passages"]);
        if let Some(run) = self.states.as_mut().filter(|_| !saved["states"].is_null()) {
            run.restore(&saved["states"])?;
        }
        Ok(())
    }
}

/// Error for drives whose speed grows without bound; names the fastest one.
fn without_bound(model: &Model, t: f64) -> Diagnostic {
    let speed = |k: &usize| model.drives[*k].value.at(t)[1].abs();
    let fastest = (0..model.drives.len()).max_by(|a, b| speed(a).total_cmp(&speed(b)));
    let name = fastest.map_or("a drive", |k| &model.drives[k].name).to_string();
    Diagnostic::new("S224", format!("the speed that `{name}` prescribes grows without bound towards t = {t:.6} s"))
        .name(name)
        .time(t)
        .help("its function of time has a pole there: write it so that it goes on, or let the run end before (`t_end`)")
}

/// Error for motions that no drive prescribes.
fn left_free(model: &Model, start: &Configuration, free: &rank::Rank) -> Diagnostic {
    let motions = rank::describe(model, &start.q, &free.motions);
    let words: Vec<String> = motions.iter().map(|m| format!("`{}` ({})", m.name, m.what)).collect();
    // For a large mechanism the motions are not listed if there are many.
    let list = if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
    Diagnostic::new("S221", format!("the drives leave {} free{list}", count(free.mobility(), "motion")))
        .names(motions.into_iter().map(|m| m.name))
        .help("drive these too, or let dynamics move it (`analysis: dynamics`)")
}

/// Error for dry friction without a finite load.
fn locked(model: &Model, t: f64) -> Diagnostic {
    let names: Vec<String> = model.forces.iter().filter(|(_, f)| f.touches().load).map(|(name, _)| name.clone()).collect();
    let listed = names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    Diagnostic::new("S223", format!("at t = {t:.6} s friction locks the mechanism: {listed} and the loads it acts on drive each other up"))
        .names(names)
        .time(t)
        .help("make `coulomb` or its radius smaller, or drive the mechanism where it does not wedge")
}
