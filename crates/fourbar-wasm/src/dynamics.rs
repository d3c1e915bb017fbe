//! A simulated mechanism, with a hand that may hold one of its points by a spring.

use crate::requests::Hand;
use crate::{hand, motors};
use fourbar::Diagnostic;
use fourbar::analysis::assembly::update_turns;
use fourbar::events::{Happened, Kind};
use fourbar::mechanism::Mechanism;
use fourbar::model::Model;
use fourbar::motion::Instant;

use fourbar::simulation::Simulation;
use fourbar::spec::{ActionSpec, ModelSpec};
use fourbar::state::Configuration;
use fourbar::study::{Analysis, Study};
use std::sync::Arc;

/// Longest simulated time of one call, s: a page that was hidden continues where it stopped.
const LONGEST: f64 = 0.25;

/// The simulation and its inputs.
pub struct Dynamics {
    spec: ModelSpec,
    study: Study,
    /// Start state of the motors, at time zero; `None` if they continue with their functions of time.
    begin: Option<Configuration>,
    simulation: Simulation,
    /// Body and point held by the hand.
    held: Option<(String, [f64; 3])>,
    /// Bodies that have a hand in the simulation, by index.
    hands: Vec<usize>,
    inputs: Vec<(String, f64)>,
    /// Number of events that have been reported to the page.
    told: usize,
    /// Work and losses of previous simulations, J.
    before: [f64; 2],
}

impl Dynamics {
    /// Starts at a state of a model with the same bodies, velocities included. If the state does not agree with the functions of the
    /// motors, they begin there, at time zero.
    pub fn new(
        spec: ModelSpec,
        study: &Study,
        model: &Model,
        at: &Configuration,
        inputs: &[(String, f64)],
    ) -> Result<Self, Vec<Diagnostic>> {
        let begin = (!spec.drives.is_empty() && !motors::led(model, at)).then(|| Configuration { t: 0.0, ..at.clone() });
        let hands = hand::bodies(&spec, model, None);
        let from = begin.as_ref();
        let simulation = simulation((&spec, study), from, &hands, model, from.unwrap_or(at), inputs)?;
        Ok(Self { study: study.clone(), begin, simulation, held: None, hands, inputs: inputs.to_vec(), told: 0, before: [0.0; 2], spec })
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

    /// Advances by some seconds, pulled by a hand if there is one.
    pub fn advance(&mut self, by: f64, hand: Option<&Hand>, model: &Model) -> Result<(), Vec<Diagnostic>> {
        let grip = hand.map(|h| (h.body.clone(), h.at));
        if grip != self.held {
            self.let_go(model).map_err(|d| vec![d])?;
            let hands = hand::bodies(&self.spec, model, hand);
            if hands != self.hands {
                let now = self.instant(model);
                let begin = self.begin.as_ref();
                self.simulation = simulation((&self.spec, &self.study), begin, &hands, model, &now.configuration(), &self.inputs)?;
                self.before = [now.work, now.switched.as_ref().map_or(0.0, |x| x.lost)];
                self.hands = hands;
                self.told = 0;
            }
            self.held = grip;
        }
        if let Some(h) = hand {
            self.hold(model, h).map_err(|d| vec![d])?;
        }
        let by = if by.is_finite() { by.clamp(0.0, LONGEST) } else { 0.0 };
        if by > 0.0 {
            self.simulation.advance(self.simulation.t() + by).map_err(|d| vec![d])?;
        }
        Ok(())
    }

    /// Index of the body that the hand holds.
    fn held_body(&self, model: &Model) -> Option<usize> {
        let (name, _) = self.held.as_ref()?;
        self.hands.iter().copied().find(|b| model.bodies[*b].name == *name)
    }

    /// Makes the hand pull.
    fn hold(&mut self, model: &Model, hand: &Hand) -> Result<(), Diagnostic> {
        let Some(body) = self.held_body(model) else { return Ok(()) };
        hand::inputs(model, body, Some(hand)).iter().try_for_each(|(name, x)| self.set(name, *x))
    }

    /// Releases the hand.
    fn let_go(&mut self, model: &Model) -> Result<(), Diagnostic> {
        let Some(body) = self.held_body(model) else { return Ok(()) };
        hand::inputs(model, body, None).iter().try_for_each(|(name, x)| self.set(name, *x))
    }

    /// Events since the last call.
    pub fn happened(&mut self) -> Vec<Happened> {
        let all = self.simulation.events();
        let new = all.get(self.told..).unwrap_or_default().to_vec();
        self.told = all.len();
        new
    }

    /// The last event that changed the mechanism; a rebuilt mechanism would not include that change.
    pub fn changed_by(&self) -> Option<&str> {
        let changes = |a: &ActionSpec| !matches!(a, ActionSpec::Set(..) | ActionSpec::Stop);
        let event = |name: &str| self.spec.events.iter().any(|(n, e)| n == name && e.actions.iter().any(changes));
        self.simulation.events().iter().rev().find(|h| h.kind == Kind::Event && event(&h.name)).map(|h| h.name.as_str())
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

    /// The current instant for the model without hands: it has the same bodies, joints and forces first.
    pub fn instant(&self, model: &Model) -> Instant {
        let from = self.simulation.instant();
        let mut out = from.clone();
        out.z = auxiliaries(self.simulation.model(), model, &from.z);
        out.reactions.truncate(model.joints.len());
        if self.simulation.model().drives.len() != model.drives.len() {
            let state = Configuration { z: out.z, ..from.configuration() };
            let bare = Instant::new(model, &Configuration { turns: turns(model, &state), ..state });
            // Motors are absent; everything else is unchanged.
            out = Instant { turns: bare.turns, z: bare.z, efforts: bare.efforts, ..out };
        }
        out.work += self.before[0];
        if let Some(switched) = &mut out.switched {
            switched.lost += self.before[1];
        }
        out
    }
}

/// A simulation of a mechanism with hands, from a state of `model`; `begin` is the start state of its motors.
fn simulation(
    (spec, study): (&ModelSpec, &Study),
    begin: Option<&Configuration>,
    hands: &[usize],
    model: &Model,
    at: &Configuration,
    inputs: &[(String, f64)],
) -> Result<Simulation, Vec<Diagnostic>> {
    let made = hand::with_hands(Mechanism::new().with(|s| *s = spec.clone()), model, hands);
    let mut own = made.build().map_err(|e| e.into_diagnostics())?;
    if let Some(begin) = begin {
        let begin = Configuration { turns: turns(&own, begin), ..begin.clone() };
        motors::begin_at(&mut own, &begin);
    }
    let own = Arc::new(own);
    // The state already defines the assembly mode.
    let mut study = Study { mode: None, ..study.clone() };
    if own.drives.is_empty() {
        // Kinematics is not possible without motors.
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

/// Angles of another model with the same bodies: kept if their number is the same, otherwise computed from the poses.
fn turns(model: &Model, state: &Configuration) -> Vec<f64> {
    if state.turns.len() == model.angles.len() {
        return state.turns.clone();
    }
    let mut turns = Configuration::start(model).turns;
    update_turns(model, &state.q, &mut turns);
    turns
}

/// Inputs, their slopes and states of one model for another, by name.
fn auxiliaries(from: &Model, to: &Model, z: &[f64]) -> Vec<f64> {
    let mut out = to.start_auxiliaries();
    let mut carry = |place: usize, there: Option<usize>| {
        if let Some(x) = there.and_then(|k| z.get(k)) {
            out[place] = *x;
        }
    };
    for (k, input) in to.inputs.iter().enumerate() {
        let there = from.inputs.iter().position(|i| i.name == input.name);
        carry(k, there);
        carry(to.inputs.len() + k, there.map(|n| from.inputs.len() + n));
    }
    for (k, state) in to.states.iter().enumerate() {
        carry(to.first_state() + k, from.states.iter().position(|s| s.name == state.name).map(|n| from.first_state() + n));
    }
    out
}
