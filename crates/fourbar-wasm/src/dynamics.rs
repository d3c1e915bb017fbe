//! A mechanism that moves by itself, with a hand that may hold a point of it by a spring.

use crate::requests::Hand;
use fourbar::Diagnostic;
use fourbar::analysis::assembly::update_turns;
use fourbar::events::Happened;
use fourbar::mechanism::{Mechanism, on};
use fourbar::model::Model;
use fourbar::motion::Instant;
use fourbar::simulation::Simulation;
use fourbar::spec::{InputSpec, ModelSpec};
use fourbar::state::Configuration;
use fourbar::study::{Analysis, Study};
use std::sync::Arc;

/// Name of the point that the hand holds, and of its inputs.
const HAND: &str = "fourbar_hand";
const INPUTS: [&str; 3] = ["fourbar_hand_x", "fourbar_hand_y", "fourbar_hand_z"];
/// Circular frequency of the whole mass on the spring of the hand, rad/s, and its damping ratio.
const FREQUENCY: f64 = 16.0;
const DAMPING: f64 = 0.8;
/// Longest time of one call, s: a page that was hidden goes on where it was.
const LONGEST: f64 = 0.25;

/// The simulation, and what it was made from.
pub struct Dynamics {
    spec: ModelSpec,
    simulation: Simulation,
    /// Body and point that the hand holds.
    held: Option<(String, [f64; 3])>,
    inputs: Vec<(String, f64)>,
    /// Events that the page has been told of.
    told: usize,
}

impl Dynamics {
    /// Starts at a state of a model that has the same bodies, velocities included.
    pub fn new(spec: ModelSpec, model: &Model, at: &Configuration, inputs: &[(String, f64)]) -> Result<Self, Vec<Diagnostic>> {
        let simulation = simulation(&spec, None, model, at, inputs)?;
        Ok(Self { spec, simulation, held: None, inputs: inputs.to_vec(), told: 0 })
    }

    /// Time since the start, s.
    pub fn t(&self) -> f64 {
        self.simulation.t()
    }

    /// Formulation and integrator, or kinematics.
    pub fn how(&self) -> String {
        if self.simulation.analysis() == Analysis::Kinematics {
            return "kinematics".into();
        }
        let c = self.simulation.chosen();
        format!("{} with {}", c.formulation.name, c.integrator)
    }

    /// Moves on by some seconds, pulled by a hand where there is one.
    pub fn advance(&mut self, by: f64, hand: Option<&Hand>, model: &Model) -> Result<(), Vec<Diagnostic>> {
        let grip = hand.map(|h| (h.body.clone(), h.at));
        if grip != self.held {
            let at = self.instant(model).configuration();
            self.simulation = simulation(&self.spec, hand, model, &at, &self.inputs)?;
            self.held = grip;
            self.told = 0;
        }
        if let Some(h) = hand {
            for (name, x) in INPUTS.iter().zip(h.to) {
                self.set(name, x).map_err(|d| vec![d])?;
            }
        }
        let by = if by.is_finite() { by.clamp(0.0, LONGEST) } else { 0.0 };
        if by > 0.0 {
            self.simulation.advance(self.simulation.t() + by).map_err(|d| vec![d])?;
        }
        Ok(())
    }

    /// What has happened since the last question.
    pub fn happened(&mut self) -> Vec<Happened> {
        let all = self.simulation.events();
        let new = all.get(self.told..).unwrap_or_default().to_vec();
        self.told = all.len();
        new
    }

    /// Sets an input.
    pub fn set(&mut self, input: &str, value: f64) -> Result<(), Diagnostic> {
        let id = self.simulation.input(input)?;
        self.simulation.set_input(id, value)?;
        if let Some(slot) = self.inputs.iter_mut().find(|(n, _)| n == input) {
            slot.1 = value;
        }
        Ok(())
    }

    /// The present for the model without a hand: the same bodies, joints and forces come first.
    pub fn instant(&self, model: &Model) -> Instant {
        let from = self.simulation.instant();
        let mut out = from.clone();
        out.z = auxiliaries(self.simulation.model(), model, &from.z);
        out.reactions.truncate(model.joints.len());
        if self.simulation.model().drives.len() != model.drives.len() {
            let state = Configuration { z: out.z.clone(), ..from.configuration() };
            let mut bare = Instant::new(model, &Configuration { turns: turns(model, &state), ..state });
            bare.a.clone_from(&from.a);
            bare.reactions.clone_from(&out.reactions);
            return bare;
        }
        out
    }
}

/// A simulation of a mechanism, with a hand where there is one, from a state of `model`.
fn simulation(
    spec: &ModelSpec,
    hand: Option<&Hand>,
    model: &Model,
    at: &Configuration,
    inputs: &[(String, f64)],
) -> Result<Simulation, Vec<Diagnostic>> {
    let list = |e: fourbar::Error| e.into_diagnostics();
    let mass: f64 = model.bodies.iter().skip(1).map(|b| b.mass).sum();
    let mut made = Mechanism::new().with(|s| *s = spec.clone());
    if let Some(h) = hand {
        let (k, c) = (mass * FREQUENCY * FREQUENCY, 2.0 * DAMPING * mass * FREQUENCY);
        let law = |n: usize| format!("{k:?}*({} - {HAND}.{axis}) - {c:?}*{HAND}.v{axis}", INPUTS[n], axis = ["x", "y", "z"][n]);
        let laws: [String; 3] = std::array::from_fn(law);
        made = made
            .with(|s| {
                s.inputs.extend(INPUTS.iter().zip(h.to).map(|(n, x)| ((*n).to_string(), InputSpec { default: x, ..InputSpec::default() })))
            })
            .point(HAND, on(&h.body, h.at))
            .force("fourbar_hand_spring", on(&h.body, h.at), laws)
            .end();
    }
    let own = Arc::new(made.build().map_err(list)?);
    let mut study = Study::of(&own);
    if own.drives.is_empty() {
        // A study of kinematics has nothing to follow without its motors.
        study.analysis = Some(Analysis::Dynamics);
    }
    study.inputs = inputs.iter().map(|(n, x)| (n.clone(), fourbar::inputs::Course::Value(*x))).collect();
    let mut simulation = Simulation::new(&own, &study).map_err(|d| vec![d])?;
    let mut state = Configuration { z: auxiliaries(model, &own, &at.z), ..at.clone() };
    for (k, i) in own.inputs.iter().enumerate() {
        if let Some((_, x)) = inputs.iter().find(|(n, _)| *n == i.name) {
            state.z[k] = *x;
        }
    }
    state.turns = turns(&own, &state);
    simulation.set_state(&state).or_else(|_| simulation.assemble_state(&state)).map_err(|d| vec![d])?;
    Ok(simulation)
}

/// Counted angles of another model with the same bodies: kept where there are as many, else counted anew.
fn turns(model: &Model, state: &Configuration) -> Vec<f64> {
    if state.turns.len() == model.angles.len() {
        return state.turns.clone();
    }
    let mut turns = Configuration::start(model).turns;
    update_turns(model, &state.q, &mut turns);
    turns
}

/// Inputs and states of one model for another, by name.
fn auxiliaries(from: &Model, to: &Model, z: &[f64]) -> Vec<f64> {
    let names = |m: &Model| m.inputs.iter().map(|i| i.name.clone()).chain(m.states.iter().map(|s| s.name.clone())).collect::<Vec<_>>();
    let (there, mut out) = (names(from), to.start_auxiliaries());
    for (x, name) in out.iter_mut().zip(names(to)) {
        if let Some(k) = there.iter().position(|n| *n == name) {
            *x = z.get(k).copied().unwrap_or(*x);
        }
    }
    out
}
