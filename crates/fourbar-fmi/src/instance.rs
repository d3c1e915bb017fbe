//! An instance of a unit: modes of the standard, values by reference, steps.

use crate::unit::{Causality, Unit};
use fourbar::diagnostic::{Diagnostic, number};
use fourbar::inputs::allowed;
use fourbar::simulation::Simulation;
use fourbar::trajectory::{Recorder, WantedColumns};
use std::sync::Arc;

/// Tolerance of a communication point, relative to the time: rounding errors of importers that add up steps.
const ROUNDING: f64 = 1e-9;

/// Phase of an instance; names of the standard in brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Phase {
    /// Created, not yet initialised (Instantiated).
    Made,
    /// Start values are being set (Initialization Mode).
    Starting,
    /// Advancing between communication points (Step Mode).
    Stepping,
    /// Between two steps, after an event (Event Mode).
    Event,
    /// Ended (Terminated).
    Ended,
}

impl Phase {
    fn name(self) -> &'static str {
        match self {
            Self::Made => "instantiated",
            Self::Starting => "in initialization mode",
            Self::Stepping => "in step mode",
            Self::Event => "in event mode",
            Self::Ended => "terminated",
        }
    }
}

/// Severity of a message, in terms of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An event, for information.
    Event,
    /// A warning.
    Warning,
    /// The call had no effect.
    Discard,
    /// The instance can only be reset or freed.
    Error,
}

/// A message for the importer.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Severity.
    pub level: Level,
    /// Text.
    pub text: String,
}

/// Reason why a call failed.
#[derive(Clone, Debug)]
pub enum Refused {
    /// No effect; the instance is unchanged.
    Discard(Diagnostic),
    /// The instance must be reset or freed.
    Error(Diagnostic),
}

impl Refused {
    /// The diagnostic.
    pub fn diagnostic(&self) -> &Diagnostic {
        match self {
            Self::Discard(d) | Self::Error(d) => d,
        }
    }
}

impl From<Diagnostic> for Refused {
    fn from(d: Diagnostic) -> Self {
        Self::Error(d)
    }
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepped {
    /// Events happened during the step.
    pub events: bool,
    /// An event has ended the motion.
    pub terminate: bool,
    /// Current time of the instance, in the time of the importer.
    pub t: f64,
}

/// A mechanism in motion.
pub(crate) struct Held {
    pub simulation: Simulation,
    pub recorder: Recorder,
    /// Current values of all columns.
    pub row: Vec<f64>,
    /// Values of the inputs at its creation.
    pub first: Vec<f64>,
    /// Number of events that have been reported.
    pub told: usize,
}

impl Held {
    fn read(&mut self) {
        self.row.clear();
        self.recorder.row(self.simulation.model(), self.simulation.instant(), &mut self.row);
    }
}

/// An instance for an importer: a mechanism that is set, advanced and read by value reference.
pub struct Instance {
    pub(crate) unit: Arc<Unit>,
    pub(crate) phase: Phase,
    /// The importer's time at time zero of the mechanism.
    pub(crate) start: f64,
    pub(crate) tolerance: Option<f64>,
    /// Parameters in SI, as set.
    pub(crate) parameters: Vec<f64>,
    /// The same including dependent parameters, once the mechanism is built.
    pub(crate) following: Vec<f64>,
    pub(crate) inputs: Vec<f64>,
    pub(crate) held: Option<Held>,
    messages: Vec<Message>,
}

impl Instance {
    /// An instance with the start values of its unit.
    pub fn new(unit: Arc<Unit>) -> Self {
        let (parameters, inputs) = (unit.parameters(), unit.inputs());
        Self {
            unit,
            phase: Phase::Made,
            start: 0.0,
            tolerance: None,
            following: parameters.clone(),
            parameters,
            inputs,
            held: None,
            messages: Vec::new(),
        }
    }

    /// The unit.
    pub fn unit(&self) -> &Unit {
        &self.unit
    }

    /// Messages since the last call.
    pub fn messages(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.messages)
    }

    pub(crate) fn tell(&mut self, level: Level, text: String) {
        self.messages.push(Message { level, text });
    }

    fn only(&self, phases: &[Phase], what: &str) -> Result<(), Refused> {
        if phases.contains(&self.phase) {
            return Ok(());
        }
        let d = Diagnostic::new("U504", format!("{what} is not allowed while the instance is {}", self.phase.name()));
        Err(d.help("call the functions in the order of the standard").into())
    }

    /// Begins initialisation, at a time that is zero for the mechanism.
    pub fn enter_initialization(&mut self, tolerance: Option<f64>, start: f64) -> Result<(), Refused> {
        self.only(&[Phase::Made], "entering initialization mode")?;
        if !start.is_finite() {
            return Err(Diagnostic::new("U504", "the start time is not a finite number").into());
        }
        (self.tolerance, self.start, self.phase) = (tolerance, start, Phase::Starting);
        self.held = None;
        Ok(())
    }

    /// Ends initialisation: the mechanism is assembled.
    pub fn exit_initialization(&mut self, events: bool) -> Result<(), Refused> {
        self.only(&[Phase::Starting], "leaving initialization mode")?;
        self.held()?;
        self.phase = if events { Phase::Event } else { Phase::Stepping };
        Ok(())
    }

    /// Enters event mode, in which inputs may change.
    pub fn enter_event_mode(&mut self) -> Result<(), Refused> {
        self.only(&[Phase::Stepping], "entering event mode")?;
        self.phase = Phase::Event;
        Ok(())
    }

    /// Whether the motion has ended. The mechanism has already handled its events.
    pub fn update_discrete_states(&mut self) -> Result<bool, Refused> {
        self.only(&[Phase::Event], "updating discrete states")?;
        Ok(self.held.as_ref().is_some_and(|h| h.simulation.ended()))
    }

    /// Returns to step mode.
    pub fn enter_step_mode(&mut self) -> Result<(), Refused> {
        self.only(&[Phase::Event], "entering step mode")?;
        self.phase = Phase::Stepping;
        Ok(())
    }

    /// Ends the instance; values may still be read.
    pub fn terminate(&mut self) -> Result<(), Refused> {
        self.only(&[Phase::Stepping, Phase::Event, Phase::Starting], "terminating")?;
        self.phase = Phase::Ended;
        Ok(())
    }

    /// Resets the instance to its initial state.
    pub fn reset(&mut self) {
        let messages = self.messages();
        *self = Self { messages, ..Self::new(Arc::clone(&self.unit)) };
    }

    /// After an error the instance cannot continue.
    pub(crate) fn give_up(&mut self) {
        self.phase = Phase::Ended;
    }

    /// The mechanism in motion, created if necessary.
    fn held(&mut self) -> Result<&mut Held, Diagnostic> {
        if self.held.is_none() {
            let (held, following) = self.made(&self.inputs)?;
            self.following = following;
            self.held = Some(held);
        }
        match &mut self.held {
            Some(held) => Ok(held),
            None => Err(Diagnostic::new("U504", "the mechanism is not in motion")),
        }
    }

    /// The mechanism at its start with these inputs, and all its parameters.
    pub(crate) fn made(&self, inputs: &[f64]) -> Result<(Held, Vec<f64>), Diagnostic> {
        let (model, following) = self.unit.model(&self.parameters)?;
        let study = self.unit.study(inputs, self.tolerance, &model);
        let simulation = Simulation::new(&Arc::new(model), &study)?;
        let recorder = Recorder::new(simulation.model(), WantedColumns::ALL);
        let told = simulation.events().len();
        let mut held = Held { simulation, recorder, row: Vec::new(), first: inputs.to_vec(), told };
        held.read();
        Ok((held, following))
    }

    /// Advances from a communication point.
    pub fn step(&mut self, from: f64, by: f64) -> Result<Stepped, Refused> {
        self.only(&[Phase::Stepping], "a step")?;
        let start = self.start;
        let held = self.held()?;
        let now = held.simulation.t() + start;
        if held.simulation.ended() {
            return Ok(Stepped { events: false, terminate: true, t: now });
        }
        let near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * (1.0 + a.abs().max(b.abs()));
        if !near(from, now) {
            let message = format!("a step begins at {} s, but the mechanism is at {} s", number(from), number(now));
            return Err(Diagnostic::new("U505", message).help("continue from the end of the last step, or restore a state first").into());
        }
        if !(by > 0.0 && by.is_finite()) {
            return Err(Diagnostic::new("U505", format!("a step by {} s is not possible", number(by)))
                .help("steps must be positive")
                .into());
        }
        let to = (from + by) - start;
        if to > held.simulation.t() {
            held.simulation.advance(to)?;
        }
        held.read();
        let events = &held.simulation.events()[held.told.min(held.simulation.events().len())..];
        let told: Vec<String> = events.iter().map(|e| format!("{} at {} s", e.name, number(e.t + start))).collect();
        held.told = held.simulation.events().len();
        // Events may set inputs.
        let n = held.simulation.inputs().len();
        let inputs = held.simulation.instant().z[..n].to_vec();
        let stepped = Stepped { events: !told.is_empty(), terminate: held.simulation.ended(), t: held.simulation.t() + start };
        self.inputs = inputs;
        told.into_iter().for_each(|text| self.tell(Level::Event, text));
        Ok(stepped)
    }

    /// The value of a variable.
    pub fn get(&mut self, reference: u32) -> Result<f64, Refused> {
        let causality = self.causality(reference)?;
        Ok(match causality {
            Causality::Independent => self.held.as_ref().map_or(0.0, |h| h.simulation.t()) + self.start,
            Causality::Parameter(k) if self.held.is_some() => self.following[k],
            Causality::Parameter(k) => self.parameters[k],
            Causality::Fixed(k) | Causality::Input(k) => self.inputs[k],
            Causality::Output(k) => {
                if self.held.is_none() {
                    self.only(&[Phase::Starting], "reading outputs")?;
                }
                self.held()?.row[k]
            }
        })
    }

    /// Sets the value of a variable; if it is invalid, nothing changes.
    pub fn set(&mut self, reference: u32, value: f64) -> Result<(), Refused> {
        let causality = self.causality(reference)?;
        let before = matches!(self.phase, Phase::Made | Phase::Starting);
        let name = || self.unit.variables[reference as usize].name.clone();
        let refuse = |why: &str| {
            let d = Diagnostic::new("U506", format!("`{}` cannot be set: {why}", name())).name(name());
            Err(Refused::Discard(d.help("the description of the unit says which variables can be set, and when")))
        };
        if self.phase == Phase::Ended {
            return refuse("the instance is terminated");
        }
        match causality {
            Causality::Independent | Causality::Output(_) => refuse("it is computed"),
            Causality::Parameter(_) | Causality::Fixed(_) if !before => refuse("it is fixed once the motion has begun"),
            Causality::Parameter(k) => {
                if !value.is_finite() {
                    return refuse("it must be a finite number");
                }
                if self.parameters[k].to_bits() != value.to_bits() {
                    self.parameters[k] = value;
                    self.held = None;
                }
                Ok(())
            }
            Causality::Fixed(k) | Causality::Input(k) => {
                let range = self.unit.variables[reference as usize].range;
                if !(value.is_finite() && value >= range[0] && value <= range[1]) {
                    let message = format!(
                        "input `{}` cannot be {}: its range is {} to {}",
                        name(),
                        number(value),
                        number(range[0]),
                        number(range[1])
                    );
                    return Err(Refused::Discard(Diagnostic::new("U320", message).name(name()).help("give a value inside its range")));
                }
                if before {
                    if self.inputs[k].to_bits() != value.to_bits() {
                        self.inputs[k] = value;
                        self.held = None;
                    }
                    return Ok(());
                }
                let held = self.held()?;
                allowed(held.simulation.model(), k, value).map_err(Refused::Discard)?;
                let id = held.simulation.input(&held.simulation.inputs()[k].name)?;
                held.simulation.set_input(id, value)?;
                self.inputs[k] = value;
                Ok(())
            }
        }
    }

    fn causality(&self, reference: u32) -> Result<Causality, Refused> {
        let found = usize::try_from(reference).ok().and_then(|k| self.unit.variables.get(k));
        found.map(|v| v.causality).ok_or_else(|| {
            let d = Diagnostic::new("U506", format!("there is no variable with the value reference {reference}"));
            Refused::Discard(d.help("value references are those of the description of the unit"))
        })
    }
}
