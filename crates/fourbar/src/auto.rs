//! `auto`: which formulation and integrator a study gets when it names none, and why, in a line.
//!
//! An integrator that is named decides for a formulation that has it, a fixed step for the implicit one. Only stiff forces call for an
//! implicit method otherwise, friction among them; where they show while the mechanism moves, the method is changed then.
//!
//! All other mechanisms are decided by structure and by how far they move, by what was quickest at equal error on the shipped models and
//! on mechanisms drawn at random (`cargo xtask study auto`). Joint coordinates take what has no loops or few. Natural coordinates with
//! a Taylor series take few, long steps, but each of them and their set-up cost much: they pay where loops move far, sooner in the plane,
//! where coordinates are few, and at once for gears and racks. What moves less, floats or is large, and what natural coordinates
//! reject, goes to Lie groups, whose set-up costs least. No clock is read: the same study gets the same choice.

use crate::analysis::{rank, uniqueness};
use crate::constraint::{Constraint, ConstraintSet};
use crate::contact::Spots;
use crate::diagnostic::Diagnostic;
use crate::force::Force;
use crate::formulation::{Chosen, FORMULATIONS, FormulationInfo, formulation, named_integrator, natural};
use crate::model::Model;
use crate::settings::{DEFAULT_TOL, Study, least_tolerance};
use crate::state::Configuration;
use crate::topology::Topology;

/// Explicit steps are bound by the fastest rate: forces that are faster than this, over the time of the run, are stiff from the start. Those
/// that are slower, and those whose rate no model tells, show while the mechanism moves.
const STIFF: f64 = 1e5;
/// The same for friction, which damps: implicit steps need not follow it, while those of springs do.
const STICKING: f64 = 1e4;
/// Up to so many places of rigid contact impacts are events.
const FEW_SPOTS: usize = 32;
/// Loops of more bodies than this are for the formulation whose set-up costs least.
const LARGE: usize = 200;

/// Motions by this many radians are long: from here on eighth order takes less work than fifth.
const LONG: f64 = 10.0;
/// Tolerances below this are tight: eighth order takes less work however short a motion is.
const TIGHT: f64 = 1e-7;
/// Tolerances from here on are loose: joint coordinates are content with fifth order.
const LOOSE: f64 = 1e-5;
/// Motions by this many radians are long enough for a Taylor series to pay for its set-up: of loops in the plane and in space, each left
/// to themselves and driven.
const WORTH_A_SERIES: [[f64; 2]; 2] = [[3.0, 8.0], [12.0, 10.0]];
/// A structure that cannot move is worth joint coordinates where a mechanism of its size would move this many radians.
const AT_REST: f64 = 6.0;

/// Bodies that move, up to which joint coordinates are few.
const FEW: usize = 12;

/// A choice with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Formulation.
    pub formulation: &'static str,
    /// Integrator.
    pub integrator: &'static str,
    /// Why.
    pub why: String,
}

/// Fastest rate of linear springs, dampers and bushings against the lighter body they act on, 1/s.
pub fn fastest_rate(model: &Model) -> f64 {
    fastest(model, |bodies| {
        let masses = bodies.iter().filter(|b| **b > 0).map(|b| model.bodies[*b].mass);
        masses.fold(f64::INFINITY, f64::min)
    })
}

/// The same against any mass that the two bodies of a force are given.
fn fastest(model: &Model, mass: impl Fn([usize; 2]) -> f64) -> f64 {
    let rate = |k: f64, c: f64, m: f64| if m.is_finite() && m > 0.0 { (k.abs() / m).sqrt().max(c.abs() / m) } else { 0.0 };
    let of = |f: &Force| {
        let list = f.stiffness();
        let m = if list.is_empty() { 0.0 } else { mass(f.touches().ends()) };
        list.iter().fold(0.0_f64, |r, (k, c)| r.max(rate(*k, *c, m)))
    };
    model.forces.iter().map(|(_, f)| of(f)).fold(0.0, f64::max)
}

/// Fastest rate of friction that sticks, 1/s: the slope of its smoothed law acts as a damper under the weight of the body.
fn sticking_rate(model: &Model) -> f64 {
    let gravity = model.gravity.norm();
    model.forces.iter().map(|(_, f)| f.sticking_rate(gravity)).fold(0.0, f64::max)
}

/// How fast a mechanism moves as drawn, rad/s: bodies and joints at the start, what gravity makes of it over its size, and its springs
/// against the mean mass, since a light body moves with its neighbours.
pub fn pace(model: &Model) -> f64 {
    let L = model.length;
    let bodies = model.bodies.iter().map(|b| b.omega.norm().max(b.v.norm() / L));
    let joints = model.start.iter().filter(|s| s.rate).map(|s| (s.value * s.scale / L).abs());
    let falling = (model.gravity.norm() / L).sqrt();
    let mean = model.bodies.iter().map(|b| b.mass).sum::<f64>() / model.moving().max(1) as f64;
    let springs = if mean > 0.0 { fastest(model, |_| mean) } else { 0.0 };
    bodies.chain(joints).fold(falling.max(springs), f64::max)
}

/// Chooses for a mechanism and a study.
pub fn choose(model: &Model, study: &Study) -> Choice {
    if let Some(wanted) = &study.integrator {
        for f in FORMULATIONS {
            if let Some(i) = f.integrators.iter().find(|i| i.eq_ignore_ascii_case(wanted)) {
                return Choice { formulation: f.name, integrator: i, why: format!("it goes with {i}") };
            }
        }
    }
    let pick = |formulation, integrator, why: &str| Choice { formulation, integrator, why: why.into() };
    if !model.contacts.is_empty() && !few_contacts(model) {
        return pick("ra", "moreau", "many rigid contacts, or contacts whose places change, need steps that include impacts");
    }
    if !model.contacts.is_empty() && study.step.is_some() {
        return pick("ra", "moreau", "rigid contacts in fixed steps need steps that include impacts");
    }
    if study.step.is_some() {
        return pick("ra", "gen-alpha", "a fixed step is for an implicit method, which is stable at any");
    }
    let tol = study.tol.unwrap_or(DEFAULT_TOL);
    if fastest_rate(model) * study.t_end > STIFF {
        return stiff(model, "implicit, because forces are stiff");
    }
    if sticking_rate(model) * study.t_end > STICKING {
        return stiff(model, "implicit, because friction sticks and is stiff");
    }
    let graph = Topology::new(model);
    let plane = graph.planar.is_some();
    let far = pace(model) * study.t_end;
    let explicit = if far >= LONG || tol < TIGHT { "dop853" } else { "dopri5" };
    // Bare constraints, couplings and rolling close loops too.
    let open = graph.loops.is_empty() && model.couplings.is_empty() && model.bare.is_empty() && model.rolling.is_empty();
    if open && graph.components.len() > 1 {
        return pick("so3xr3", "dop853", "bodies float, and nothing closes a loop");
    }
    let rows: usize = model.constraints(true).iter().map(Constraint::count).sum();
    if open && 2 * rows < 6 * model.moving() {
        return pick("lie", "dop853", "joints that leave most freedoms, so that joint coordinates save little");
    }
    if open && plane && tol >= TIGHT {
        return pick("grcr", "dopri5", "without loops, joint coordinates need no constraints; in the plane fifth order will do");
    }
    if open {
        let integrator = if tol >= LOOSE { "dopri5" } else { explicit };
        return pick("grcr", integrator, "without loops, joint coordinates need no constraints");
    }
    if !model.bare.is_empty() {
        return pick("lie", "dopri5", "bare constraints share nothing that natural coordinates could use");
    }
    let small = model.bodies.len() <= LARGE;
    let rubs = model.forces.iter().any(|(_, f)| f.touches().is_loaded());
    // As many rows as motions leave nothing, unless some of them are redundant.
    let balanced = !plane && model.drives.is_empty() && rows == 6 * model.moving();
    if small && balanced && (rubs || far >= AT_REST) && cannot_move(model) {
        let integrator = if tol < TIGHT { "dop853" } else { "dopri5" };
        return pick("grcr", integrator, "a structure that cannot move, whose loads joint coordinates find at once");
    }
    if let Err(refusal) = natural::applies(model) {
        if !model.rolling.is_empty() {
            return pick("lie", "dop853", "rolling constrains velocities, which natural coordinates do not take");
        }
        if small && !plane && rubs && uniqueness::friction_is_shared(model, &Configuration::start(model)) {
            let integrator = if tol < TIGHT { "dop853" } else { "dopri5" };
            return pick("dca", integrator, "friction follows loads that are not unique, which divide and conquer shares out at once");
        }
        let why = match refusal.names.first() {
            Some(name) => format!("natural coordinates do not take `{name}`"),
            None => "nothing is left that natural coordinates could move".to_string(),
        };
        return pick("lie", explicit, &why);
    }
    let mut looped = vec![false; model.bodies.len()];
    graph.loops.iter().flat_map(|l| &l.joints).for_each(|&j| model.joints[j].bodies.iter().for_each(|b| looped[b.index()] = true));
    if model.couplings.is_empty() && 2 * looped.iter().skip(1).filter(|l| **l).count() <= model.moving() {
        return pick("grcr", "dop853", "most bodies are in no loop, so joint coordinates need few constraints");
    }
    if !small {
        return pick("lie", explicit, "many bodies in loops, where natural coordinates take long to set up");
    }
    if graph.loops.is_empty() && !model.couplings.is_empty() {
        return pick("natural", "taylor", "gears and racks alone, which are short work in natural coordinates");
    }
    if !model.coils.is_empty() {
        return pick("natural", "taylor", "springs with mass, whose middles need no coordinates of their own there");
    }
    if far < WORTH_A_SERIES[usize::from(!plane)][usize::from(!model.drives.is_empty())] {
        let place = if plane { "the plane" } else { "space" };
        let why = format!("a short motion of loops in {place}, over before a Taylor series would pay for its set-up");
        return pick("lie", explicit, &why);
    }
    pick("natural", "taylor", "loops of few bodies that move far, where natural coordinates and a Taylor series need the fewest steps")
}

/// Whether rigid contacts are few and smooth, so that each of their impacts can be an event.
fn few_contacts(model: &Model) -> bool {
    let spots = model.contacts.iter().map(|c| match &c.spots {
        Spots::Listed(list) if list.iter().all(|s| s.is_smooth()) => list.len(),
        _ => usize::MAX,
    });
    spots.fold(0_usize, usize::saturating_add) <= FEW_SPOTS
}

/// Whether constraints leave no freedom as drawn.
fn cannot_move(model: &Model) -> bool {
    let set = ConstraintSet::new(model.all_constraints(), |_| false);
    rank::rank(model, &set, &Configuration::start(model).q).mobility() == 0
}

/// What is tried after a choice that cannot continue: one of each other family, those first that hold constraints best where a position is
/// singular. A named integrator stays, and so does a fixed step.
pub fn others(model: &Model, study: &Study, (chosen, integrator): (&str, &str)) -> Vec<Choice> {
    let mut list = Vec::new();
    for name in ["lie", "grcr", "dca", "ra", "natural"] {
        let Some(f) = FORMULATIONS.iter().find(|f| f.name == name && f.name != chosen) else { continue };
        let has = |name: &str| f.integrators.iter().find(|i| i.eq_ignore_ascii_case(name));
        let wanted = match &study.integrator {
            Some(wanted) => has(wanted),
            // Orders above four are wasted on fixed steps of unknown size.
            None if study.step.is_some() => has("rk4").or(has("gen-alpha")),
            None => has("dop853").or(f.integrators.first()),
        };
        if let Some(&integrator) = wanted.filter(|_| (f.applies)(model).is_ok()) {
            list.push(Choice { formulation: f.name, integrator, why: "the first choice failed".into() });
        }
    }
    // The last one is for forces that turn out to be stiff.
    if study.integrator.is_none() && study.step.is_none() {
        let stiff = stiff(model, "forces turned out to be stiff");
        list.retain(|c| (c.formulation, c.integrator) != (stiff.formulation, stiff.integrator));
        if (chosen, integrator) != (stiff.formulation, stiff.integrator) {
            list.push(stiff);
        }
    }
    list
}

/// The method for stiff forces: in joint coordinates where these are few, since a dense matrix of few rows costs least.
fn stiff(model: &Model, why: &str) -> Choice {
    let formulation = if model.moving() <= FEW { "grcr" } else { "ra" };
    Choice { formulation, integrator: "radau", why: why.into() }
}

impl Study {
    /// Formulation and integrator by name, checked against the list, or chosen.
    pub fn method(&self, model: &Model) -> Result<(&'static FormulationInfo, &'static str), Diagnostic> {
        self.chosen(model).map(|c| (c.formulation, c.integrator))
    }

    /// The same with the reason of a choice.
    pub fn chosen(&self, model: &Model) -> Result<Chosen, Diagnostic> {
        let Some(named) = self.formulation.as_deref().filter(|_| !self.is_auto()) else {
            if let Some(integrator) = &self.integrator {
                named_integrator(integrator)?;
            }
            let choice = choose(model, self);
            return self.of_choice(choice);
        };
        let f = formulation(named)?;
        let wanted = self.integrator.as_deref().unwrap_or_else(|| self.fitting(f, f.integrators[0]));
        match f.integrators.iter().find(|i| i.eq_ignore_ascii_case(wanted)) {
            Some(i) => Ok(Chosen { formulation: f, integrator: i, why: None }),
            None => Err(Diagnostic::new("U302", format!("formulation `{}` has no integrator `{wanted}`", f.name))
                .help(format!("it goes with {}", f.integrators.join(", ")))),
        }
    }

    /// Whether contacts, and what is made of pieces, are stepped through in fixed steps, instead of met as events.
    pub fn steps_through(&self, model: &Model) -> Result<bool, Diagnostic> {
        // Without rigid contacts nobody chooses it but the author.
        let named = self.integrator.as_deref() == Some("moreau");
        Ok(named || (!model.contacts.is_empty() && self.chosen(model)?.integrator == "moreau"))
    }

    /// Whether events are searched for: where anything may change a mechanism on its way and steps do not pass through it.
    pub fn is_eventful(&self, model: &Model) -> Result<bool, Diagnostic> {
        let by_author = || !model.events.is_empty() || !model.limits.is_empty() || model.forces.iter().any(|(_, f)| f.sticks().is_some());
        Ok(if self.steps_through(model)? { by_author() } else { model.has_modes() })
    }

    fn of_choice(&self, choice: Choice) -> Result<Chosen, Diagnostic> {
        let f = formulation(choice.formulation)?;
        let integrator = if self.integrator.is_some() { choice.integrator } else { self.fitting(f, choice.integrator) };
        Ok(Chosen { formulation: f, integrator, why: Some(choice.why) })
    }

    /// An integrator that nobody named, or, where it cannot keep the tolerance, the first one of the formulation that can.
    fn fitting(&self, f: &'static FormulationInfo, integrator: &'static str) -> &'static str {
        let keeps = |i: &str| self.step.is_some() || self.tol.is_none_or(|tol| tol >= least_tolerance(i));
        if keeps(integrator) { integrator } else { f.integrators.iter().copied().find(|i| keeps(i)).unwrap_or(integrator) }
    }

    /// What a run may move with: the formulation that is named, or the choice and after it what is tried where that cannot continue.
    pub fn candidates(&self, model: &Model) -> Result<Vec<Chosen>, Diagnostic> {
        let first = self.chosen(model)?;
        let mut list = vec![first];
        // Many rigid contacts have one method.
        if self.is_auto() && list[0].integrator != "moreau" {
            for choice in others(model, self, (list[0].formulation.name, list[0].integrator)) {
                let next = self.of_choice(choice)?;
                let known = |c: &Chosen| (c.formulation.name, c.integrator) == (next.formulation.name, next.integrator);
                if !list.iter().any(known) {
                    list.push(next);
                }
            }
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{At, BodySpec, ForceSpec, ModelSpec, Place, SpringLaw, SpringSpec};

    fn study(integrator: Option<&str>, tol: Option<f64>) -> Study {
        Study {
            analysis: None,
            formulation: None,
            integrator: integrator.map(String::from),
            t_end: 10.0,
            output_step: 0.1,
            step: None,
            tol,
            options: Vec::new(),
            inputs: Vec::new(),
            mode: None,
        }
    }

    fn model(stiffness: f64) -> Model {
        let bodies = vec![("ball".into(), BodySpec { at: [0.0, 0.0, 1.0], ..BodySpec::default() })];
        let mut spec = ModelSpec { bodies, ..ModelSpec::default() };
        let place = |body: &str| Place { body: body.into(), at: At::Body([0.0; 3]) };
        let law = SpringLaw::Linear { stiffness, rest: 1.0, damping: 0.0 };
        spec.forces = vec![("spring".into(), ForceSpec::Spring(SpringSpec { between: [place("ground"), place("ball")], law, mass: 0.0 }))];
        spec.study.t_end = 10.0;
        spec.build().unwrap_or_else(|d| panic!("{}", d[0].message))
    }

    #[test]
    fn integrator_step_and_stiffness_decide() {
        let (soft, hard) = (model(10.0), model(1e12));
        assert_eq!(choose(&soft, &study(None, None)).formulation, "so3xr3");
        assert_eq!(choose(&soft, &Study { step: Some(0.01), ..study(None, None) }).formulation, "ra");
        let stiff = choose(&hard, &study(None, Some(1e-3)));
        assert_eq!((stiff.formulation, stiff.integrator), ("grcr", "radau"));
        // What is less stiff shows while it moves: the last of those that continue then is the implicit one.
        assert_eq!(choose(&model(1e6), &study(None, None)).formulation, "so3xr3");
        let last = others(&soft, &study(None, None), ("so3xr3", "dop853")).pop().map(|c| (c.formulation, c.integrator));
        assert_eq!(last, Some(("grcr", "radau")));
        assert!(others(&hard, &study(None, None), ("grcr", "radau")).iter().all(|c| c.integrator != "radau"));
        assert_eq!(choose(&soft, &study(Some("bdf2"), Some(1e-9))).integrator, "bdf2");
        assert_eq!(choose(&soft, &study(Some("Taylor"), None)).formulation, "natural");
        let rate = fastest_rate(&model(400.0));
        assert!((rate - 20.0).abs() < 1e-12, "{rate}");
    }
}
