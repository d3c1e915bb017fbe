//! Step-by-step simulation of an assembled mechanism.
//!
//! A [`Simulation`] owns its model and has no end time. It is at a current time; [`Simulation::advance`] moves it to a later one,
//! [`Simulation::snapshot`] returns its current positions and loads, [`Simulation::set_state`] sets another state, [`Simulation::save`]
//! stores it. Kinematics and every formulation use the same few calls, on which runs, pages and comparisons are built.

mod inputs;

pub use crate::events::InMode;
pub use crate::snapshot::{BodyState, DriveState, Energy, ForceState, JointState, Snapshot};
pub use inputs::InputId;

use crate::analysis::assembly::{self, assemble_from};
use crate::analysis::jumps;
use crate::diagnostic::{Diagnostic, number};
use crate::engine::Engine;
use crate::error::Error;
use crate::evaluate::Evaluation;
use crate::events::{Eventful, Happened};
use crate::formulation::Chosen;
use crate::inputs::{Course, Plan};
use crate::model::Model;
use crate::motion::{Instant, bad_checkpoint};
use crate::report::Report;
use crate::settings::{Analysis, Study};
use crate::state::Configuration;
use crate::structure::Structure;
use crate::study;
use std::borrow::Cow;
use std::sync::Arc;

/// Residuals of a consistent state, in characteristic lengths and characteristic lengths per second.
const CONSISTENT: f64 = 1e-6;

self_cell::self_cell!(
    /// An engine with the model that it borrows.
    struct Held {
        owner: Arc<Model>,
        #[not_covariant]
        dependent: Engine,
    }
);

/// A mechanism at a current time that can be advanced.
///
/// It uses formulation, integrator, step, tolerance and options of its study; the end of the study only gives the unit of time that scales
/// velocities. It may be sent to another thread.
pub struct Simulation {
    mover: Mover,
    study: Study,
}

/// Engine of a simulation.
enum Mover {
    /// One engine for the whole motion.
    Smooth(Held),
    /// Engines from event to event.
    Eventful(Box<Eventful>),
}

impl Mover {
    fn now(&self) -> &Instant {
        match self {
            Mover::Smooth(held) => held.with_dependent(|_, engine| engine.now()),
            Mover::Eventful(e) => e.now(),
        }
    }
}

impl Simulation {
    /// Assembles a mechanism and computes the first instant, at time zero.
    pub fn new(model: &Arc<Model>, study: &Study) -> Result<Self, Diagnostic> {
        let own = match Plan::new(model, &steady(study)?)?.prepared(model) {
            Cow::Owned(own) => Arc::new(own),
            Cow::Borrowed(_) => Arc::clone(model),
        };
        let model = &own;
        if study.is_eventful(model)? {
            study::check(study)?;
            let own = Arc::new(model.with_own_drives());
            let mut moving = Eventful::new(&own, study, &study.assemble(&own)?)?;
            moving.warn(jumps::check_where(&own, moving.analysis(), study.t_end, !moving.is_stepped())?);
            return Ok(Self { mover: Mover::Eventful(Box::new(moving)), study: study.clone() });
        }
        let candidates = study.candidates(model)?;
        study::check(study)?;
        let assembled = study.assemble(model)?;
        let mut held = Held::new(Arc::clone(model), |model| {
            Engine::new(Structure::new(model, &assembled.configuration), study, candidates, &assembled)
        });
        held.with_dependent_mut(|model, engine| {
            engine.warn(jumps::check_where(model, engine.analysis(), study.t_end, model.contacts.is_empty())?);
            engine.begin()
        })?;
        Ok(Self { mover: Mover::Smooth(held), study: study.clone() })
    }

    /// The mechanism.
    pub fn model(&self) -> &Arc<Model> {
        match &self.mover {
            Mover::Smooth(held) => held.borrow_owner(),
            Mover::Eventful(e) => e.model(),
        }
    }

    /// The settings of the simulation.
    pub fn study(&self) -> &Study {
        &self.study
    }

    /// The current time, in seconds.
    pub fn t(&self) -> f64 {
        self.now().t
    }

    /// The formulation and integrator in use, and why they were chosen.
    pub fn chosen(&self) -> Chosen {
        match &self.mover {
            Mover::Smooth(held) => held.with_dependent(|_, engine| engine.chosen().clone()),
            Mover::Eventful(e) => e.chosen(),
        }
    }

    /// Whether the motion is computed by kinematics or dynamics.
    pub fn analysis(&self) -> Analysis {
        match &self.mover {
            Mover::Smooth(held) => held.with_dependent(|_, engine| engine.analysis()),
            Mover::Eventful(e) => e.analysis(),
        }
    }

    /// The current instant as numbers in the order of the elements, for a [`crate::trajectory::Recorder`].
    pub fn instant(&self) -> &Instant {
        self.now()
    }

    fn now(&self) -> &Instant {
        self.mover.now()
    }

    /// Events, limit contacts and sticking so far.
    pub fn events(&self) -> &[Happened] {
        match &self.mover {
            Mover::Smooth(_) => &[],
            Mover::Eventful(e) => e.happened(),
        }
    }

    /// Whether an event has ended the motion: the current time then no longer changes.
    pub fn ended(&self) -> bool {
        matches!(&self.mover, Mover::Eventful(e) if e.ended())
    }

    /// The name of the event that has ended the motion.
    pub fn ended_by(&self) -> Option<&str> {
        match &self.mover {
            Mover::Smooth(_) => None,
            Mover::Eventful(e) => e.ended_by(),
        }
    }

    /// The mechanism in the mode that results from events, limits and friction; without these, as in the file.
    pub fn in_mode(&self) -> InMode {
        match &self.mover {
            Mover::Smooth(held) => InMode::of_file(held.borrow_owner()),
            Mover::Eventful(e) => e.in_mode(),
        }
    }

    /// Advances to a time not before the current one; every requested time ends a step. If an event ends the motion the current time stays
    /// before the requested one, see [`Simulation::ended`].
    pub fn advance(&mut self, t: f64) -> Result<(), Diagnostic> {
        self.advance_while(t, &mut |_| true).map(|_| ())
    }

    /// The same, with regular calls of `go_on`. If this returns `false`, so does the function, and the current state is unchanged.
    pub fn advance_while(&mut self, t: f64, go_on: &mut dyn FnMut(f64) -> bool) -> Result<bool, Diagnostic> {
        if !t.is_finite() {
            let message = format!("the time to move to is {}; it must be a finite number", number(t));
            return Err(Diagnostic::new("U303", message).help("times are in seconds"));
        }
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| {
                let on = engine.advance(t, go_on)?;
                if !on {
                    engine.return_to_present()?;
                }
                Ok(on)
            }),
            Mover::Eventful(e) => e.pass(t, go_on),
        }
    }

    /// One step of the integrator, as large as its tolerance or the fixed step allows; returns its size.
    pub fn step(&mut self) -> Result<f64, Diagnostic> {
        let from = self.t();
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.step(&mut |_| true))?,
            Mover::Eventful(e) => e.step(&mut |_| true)?,
        };
        Ok(self.t() - from)
    }

    /// Permits steps to pass requested times, up to a time before which there will be no changes: instants in between are interpolated,
    /// which is faster if they are close together.
    pub fn run_ahead(&mut self, until: f64) {
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.run_ahead(until)),
            Mover::Eventful(e) => e.run_ahead(until),
        }
    }

    /// Current positions, velocities and joint loads.
    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::new(self.model(), Cow::Borrowed(self.now()))
    }

    /// The same at a time inside the last step.
    pub fn snapshot_at(&mut self, t: f64) -> Result<Snapshot<'_>, Diagnostic> {
        let mut at = self.now().clone();
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.instant_at(t, &mut at))?,
            Mover::Eventful(e) => e.instant_at(t, &mut at)?,
        }
        Ok(Snapshot::new(self.model(), Cow::Owned(at)))
    }

    /// The current state, in the same form for every formulation.
    pub fn state(&self) -> Configuration {
        self.now().configuration()
    }

    /// Continues from another state, at any time. It must be consistent: its joints closed, its velocities compatible.
    pub fn set_state(&mut self, state: &Configuration) -> Result<(), Diagnostic> {
        assembly::fits(self.model(), state)?;
        self.inputs_fit(state)?;
        self.put(state)
    }

    /// Continues from the consistent state nearest to another one, at any time.
    pub fn assemble_state(&mut self, state: &Configuration) -> Result<(), Diagnostic> {
        assembly::fits(self.model(), state)?;
        self.inputs_fit(state)?;
        // Requirements of the file for the start only do not apply here.
        let mut model = Model::clone(self.model());
        model.hold.clear();
        model.start.clear();
        let near = assemble_from(&model, state, assembly::Options::default())?.configuration;
        self.put(&near)
    }

    fn put(&mut self, state: &Configuration) -> Result<(), Diagnostic> {
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.set_state(state, CONSISTENT)),
            Mover::Eventful(e) => e.set_state(state),
        }
    }

    /// All data needed to continue from here, as text; numbers are preserved exactly.
    pub fn save(&self) -> String {
        match &self.mover {
            Mover::Smooth(held) => held.with_dependent(|_, engine| engine.save()).to_string(),
            Mover::Eventful(e) => e.save().to_string(),
        }
    }

    /// Restores the result of [`Simulation::save`], for the same mechanism and study.
    pub fn restore(&mut self, saved: &str) -> Result<(), Diagnostic> {
        let v = serde_json::from_str(saved).map_err(|_| bad_checkpoint("it is not complete"))?;
        match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.restore(&v)),
            Mover::Eventful(e) => e.restore(&v),
        }
    }

    /// Ends the simulation: returns the report of the motion, and the verdict on its energy.
    pub fn finish(mut self) -> Result<Report, study::Failed> {
        let (report, failure) = match &mut self.mover {
            Mover::Smooth(held) => held.with_dependent_mut(|_, engine| engine.finish(false, None)),
            Mover::Eventful(e) => e.finish(false, None),
        };
        match failure {
            None => Ok(report),
            Some(d) => Err(study::Failed { diagnostic: Box::new(d), report: Some(Box::new(report)) }),
        }
    }
}

/// The inputs of a study, none of which may be a table: changes during a simulation are set by the caller.
fn steady(study: &Study) -> Result<Vec<(String, Course)>, Diagnostic> {
    match study.inputs.iter().find(|(_, c)| matches!(c, Course::Table { .. })) {
        None => Ok(study.inputs.clone()),
        Some((name, _)) => Err(Diagnostic::new("U324", format!("the study has a table over time for input `{name}`"))
            .name(name)
            .help("a simulation has no plan: change inputs with `set_input`, or run the study")),
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Simulation of `{}` at t = {} s", self.model().title, number(self.t()))
    }
}

impl Simulation {
    /// Evaluates the mechanism at the current state: matrices, free motions, inverse dynamics. Elements removed by events are absent, and
    /// coordinates held by a lock, a limit or friction have drives after those of the file; [`Simulation::in_mode`] converts to the names
    /// of the file.
    ///
    /// ```
    /// use fourbar::simulation::Simulation;
    /// use fourbar::study::Study;
    /// # use std::sync::Arc;
    /// let model = Arc::new(fourbar_io::load("ra_double_pendulum")?);
    /// let mut pendulum = Simulation::new(&model, &Study::of(&model))?;
    /// pendulum.advance(0.1)?;
    /// let now = pendulum.evaluate()?;
    /// let free = now.free_motions()?;
    /// assert_eq!(free.shape(), (12, 2));
    /// assert!((now.jacobian()? * free).amax() < 1e-12);
    /// # Ok::<(), fourbar::Error>(())
    /// ```
    pub fn evaluate(&self) -> Result<Evaluation<'_>, Error> {
        let model = match &self.mover {
            Mover::Smooth(held) => held.borrow_owner(),
            Mover::Eventful(e) => e.acting(),
        };
        Evaluation::new(model, &self.state())
    }
}
