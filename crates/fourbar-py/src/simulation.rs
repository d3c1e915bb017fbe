//! Interactive simulation: inputs are set, the time is advanced, all quantities are read by name.

use crate::guard::{Listener, detached};
use crate::model::Core;
use crate::settings;
use crate::snapshot::{BodyState, DriveState, Energy, JointState};
use crate::state::{State, fitting};
use fourbar::simulation as engine;
use fourbar::trajectory::{Recorder, WantedColumns};
use fourbar::{Diagnostic, Error};
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Instant;

/// A simulation of a mechanism that is advanced step by step, created by `Model.simulation()`.
///
/// Concurrent calls of two threads on one simulation do not wait: the second one is rejected.
#[pyclass(frozen, module = "fourbar")]
pub struct Simulation {
    core: Py<Core>,
    /// Empty after `finish`.
    held: Mutex<Option<Held>>,
}

struct Held {
    simulation: engine::Simulation,
    /// Keeps the signs of quaternions continuous between rows.
    recorder: Recorder,
}

impl Held {
    /// Everything needed to continue from here: the saved state of the engine and the signs of the quaternions.
    fn save(&self) -> Result<String, serde_json::Error> {
        let mut text = self.simulation.save();
        text.truncate(text.trim_end().len().saturating_sub(1));
        let signs = serde_json::to_string(self.recorder.memory().as_flattened())?;
        Ok(format!("{text},\"quaternions\":{signs}}}"))
    }

    fn restore(&mut self, saved: &str) -> Result<(), Diagnostic> {
        self.simulation.restore(saved)?;
        // Checkpoints of Rust have no signs: the next row starts anew.
        let v: serde_json::Value = serde_json::from_str(saved).unwrap_or_default();
        let signs: Vec<f64> = serde_json::from_value(v["quaternions"].clone()).unwrap_or_default();
        if self.recorder.restore_from(&signs).is_none() {
            self.recorder = Recorder::new(self.simulation.model(), WantedColumns::ALL);
        }
        Ok(())
    }
}

/// Rejects a simulation that an event has ended.
fn refuse_ended(s: &engine::Simulation) -> Result<(), Diagnostic> {
    if !s.ended() {
        return Ok(());
    }
    let by = s.ended_by().map_or("an event".to_string(), |name| format!("event `{name}`"));
    let message = format!("the motion has ended at t = {} s: {by} stops it", fourbar::diagnostic::number(s.t()));
    let d = Diagnostic::new("U315", message).names(s.ended_by().map(String::from)).time(s.t());
    Err(d.help("check `sim.ended` first; `sim.restore(saved)` and `sim.state = ...` continue from another state"))
}

impl Simulation {
    fn lock(&self) -> PyResult<MutexGuard<'_, Option<Held>>> {
        match self.held.try_lock() {
            Ok(guard) => Ok(guard),
            // After a panic the state is unknown: the simulation is closed.
            Err(TryLockError::Poisoned(e)) => {
                let mut guard = e.into_inner();
                *guard = None;
                self.held.clear_poison();
                Ok(guard)
            }
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err("the simulation is in use by another thread")),
        }
    }

    fn with<T>(&self, f: impl FnOnce(&mut Held) -> PyResult<T>) -> PyResult<T> {
        let mut guard = self.lock()?;
        f(guard.as_mut().ok_or_else(|| PyValueError::new_err("the simulation is finished"))?)
    }

    /// A lengthy call, without the interpreter's lock.
    fn compute<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut engine::Simulation, &mut Listener) -> Result<T, Diagnostic> + Send,
    ) -> PyResult<T> {
        self.compute_held(py, |held, listener| f(&mut held.simulation, listener))
    }

    /// As above, with access to the recorder of rows.
    fn compute_held<T: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Held, &mut Listener) -> Result<T, Diagnostic> + Send,
    ) -> PyResult<T> {
        self.with(|held| {
            let mut listener = Listener::new(None);
            let done = detached(py, || f(held, &mut listener))?;
            listener.ended()?;
            done.map_err(|d| self.core.get().failed(py, d))
        })
    }

    fn read<T>(&self, py: Python<'_>, f: impl FnOnce(&engine::Simulation) -> Result<T, Diagnostic>) -> PyResult<T> {
        self.with(|held| f(&held.simulation).map_err(|d| self.core.get().failed(py, d)))
    }
}

/// Advances to a time. After Ctrl-C the simulation continues from the time reached; work is counted from there.
fn advanced(s: &mut engine::Simulation, t: f64, listener: &mut Listener) -> Result<(), Diagnostic> {
    if t > s.t() && t.is_finite() {
        refuse_ended(s)?;
    }
    if s.advance_while(t, &mut |now| listener.go_on(now, t))? {
        return Ok(());
    }
    let at = s.state();
    s.set_state(&at)
}

/// Error for a state that was taken in another mode.
fn of_another_mode(here: &engine::InMode, state: &State, d: Diagnostic) -> Diagnostic {
    let list = |names: Vec<&str>| names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
    let (more, less) = (here.acts_beside(state.mode()), state.mode().acts_beside(here));
    if more.is_empty() && less.is_empty() {
        return d;
    }
    let names: Vec<String> = more.iter().chain(&less).map(|n| n.to_string()).collect();
    let mut parts = Vec::new();
    if !more.is_empty() {
        parts.push(format!("{} does not act in the state, but does in this simulation", list(more)));
    }
    if !less.is_empty() {
        parts.push(format!("{} acts in the state, but no longer in this simulation", list(less)));
    }
    let t = fourbar::diagnostic::number(state.c.t);
    Diagnostic::new("U313", format!("the state at t = {t} s belongs to another mode of the mechanism: {}", parts.join("; ")))
        .names(names)
        .time(state.c.t)
        .help("`save` and `restore` include the effects of events; a state alone does not")
}

#[pymethods]
impl Core {
    /// Assembles the mechanism and returns a simulation at time zero.
    fn simulation(slf: Py<Self>, py: Python<'_>, settings: &Bound<'_, PyDict>) -> PyResult<Simulation> {
        let core = slf.get();
        let study = settings::study(&core.model, core.name(), settings)?;
        let made = detached(py, || engine::Simulation::new(&core.model, &study))?;
        let simulation = made.map_err(|d| core.failed(py, d))?;
        let recorder = Recorder::new(&core.model, WantedColumns::ALL);
        Ok(Simulation { held: Mutex::new(Some(Held { simulation, recorder })), core: slf })
    }
}

#[pymethods]
impl Simulation {
    /// Current time, s.
    #[getter]
    fn t(&self, py: Python<'_>) -> PyResult<f64> {
        self.read(py, |s| Ok(s.t()))
    }

    /// Inputs by name: `sim.inputs["torque"] = 2.0` applies from the current time.
    #[getter]
    fn inputs(slf: Py<Self>) -> Inputs {
        Inputs { simulation: slf }
    }

    /// Whether an event has ended the motion. The call in which that happens returns early; later ones raise a `FourbarError` (U315).
    #[getter]
    fn ended(&self, py: Python<'_>) -> PyResult<bool> {
        self.read(py, |s| Ok(s.ended()))
    }

    /// The name of the event that has ended the motion, or `None`.
    #[getter]
    fn ended_by(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.read(py, |s| Ok(s.ended_by().map(String::from)))
    }

    /// Events so far, including those of limits and friction, as `Result.report["events"]`: dictionaries with time, name and kind.
    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = self.read(py, |s| Ok(serde_json::to_string(s.events())))?;
        let text = text.map_err(|e| PyValueError::new_err(e.to_string()))?;
        py.import("json")?.call_method1("loads", (text,))
    }

    /// Advances to a time not before the current one, s; returns the time reached, which is earlier if an event ends the motion.
    fn advance(&self, py: Python<'_>, t: f64) -> PyResult<f64> {
        self.compute(py, |s, listener| advanced(s, t, listener).map(|()| s.t()))
    }

    /// Advances by `dt` seconds, by default by one step of the integrator. Returns the time advanced.
    #[pyo3(signature = (dt=None))]
    fn step(&self, py: Python<'_>, dt: Option<f64>) -> PyResult<f64> {
        self.compute(py, |s, listener| match dt {
            None => refuse_ended(s).and_then(|()| s.step()),
            Some(dt) => {
                let from = s.t();
                advanced(s, from + dt, listener).map(|()| s.t() - from)
            }
        })
    }

    /// Permits integrator steps beyond requested times, up to a time before which inputs and state will not be changed: results in between
    /// are interpolated, which is faster for closely spaced times.
    fn run_ahead(&self, until: f64) -> PyResult<()> {
        if until.is_nan() || until == f64::INFINITY {
            return Err(PyValueError::new_err(format!("until must be a finite time, not {until}")));
        }
        self.with(|held| {
            held.simulation.run_ahead(until);
            Ok(())
        })
    }

    /// The current state, including the changes of the mechanism by events, limits and friction. Setting it continues from another
    /// consistent state, at any time; past events remain in effect, only `restore` undoes them.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<State> {
        self.with(|held| Ok(State::new(py, &self.core, &held.simulation.in_mode(), held.simulation.state())))
    }

    #[setter]
    fn set_state(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        let c = fitting(py, self.core.get(), state)?;
        self.compute(py, |s, _| {
            let here = s.in_mode();
            s.set_state(c).map_err(|d| of_another_mode(&here, state, d))
        })
    }

    /// Continues from the consistent state nearest to the given one.
    fn assemble(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        let c = fitting(py, self.core.get(), state)?;
        self.compute(py, |s, _| s.assemble_state(c))
    }

    /// Current values of all columns of the results, in the order of `Model.columns`.
    fn row<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.with(|held| {
            let Held { simulation, recorder } = held;
            let mut row = Vec::new();
            recorder.row(simulation.model(), simulation.snapshot().instant(), &mut row);
            Ok(row.into_pyarray(py))
        })
    }

    /// Current value of one column of the results, such as `sim["P.y"]`.
    fn __getitem__(&self, name: &str) -> PyResult<f64> {
        let columns = &self.core.get().columns;
        let k = columns.iter().position(|c| c.name == name).ok_or_else(|| PyKeyError::new_err(name.to_string()))?;
        self.with(|held| {
            let mut row = Vec::new();
            held.recorder.row(held.simulation.model(), held.simulation.snapshot().instant(), &mut row);
            Ok(row[k])
        })
    }

    /// Current state of a body by name.
    fn body(&self, py: Python<'_>, name: &str) -> PyResult<BodyState> {
        self.read(py, |s| s.snapshot().body(name).map(BodyState))
    }

    /// Current state of a joint by name.
    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<JointState> {
        self.read(py, |s| s.snapshot().joint(name).map(JointState))
    }

    /// Current state of a drive by name.
    fn drive(&self, py: Python<'_>, name: &str) -> PyResult<DriveState> {
        self.read(py, |s| s.snapshot().drive(name).map(DriveState))
    }

    /// Current quantities of a force element: a dictionary.
    fn force<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let f = self.read(py, |s| s.snapshot().force(name))?;
        let d = PyDict::new(py);
        f.iter().try_for_each(|(k, x)| d.set_item(k, x))?;
        Ok(d)
    }

    /// Current position and velocity of a point, world axes: (2, 3).
    fn point<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [r, v] = self.read(py, |s| s.snapshot().point(name))?;
        crate::arrays::matrix_of(py, vec![r.x, r.y, r.z, v.x, v.y, v.z], [2, 3])
    }

    /// Current energies and work, J.
    #[getter]
    fn energy(&self, py: Python<'_>) -> PyResult<Energy> {
        self.read(py, |s| Ok(Energy(s.snapshot().energy())))
    }

    /// Formulation and integrator.
    #[getter]
    fn chosen(&self, py: Python<'_>) -> PyResult<(&'static str, &'static str)> {
        self.read(py, |s| {
            let c = s.chosen();
            Ok((c.formulation.name, c.integrator))
        })
    }

    /// Everything needed to continue from here, as text; numbers are preserved bit for bit.
    fn save(&self) -> PyResult<String> {
        self.with(|held| held.save().map_err(|e| PyValueError::new_err(e.to_string())))
    }

    /// Restores the result of `save`, for the same mechanism and settings.
    fn restore(&self, py: Python<'_>, saved: &str) -> PyResult<()> {
        self.compute_held(py, |held, _| held.restore(saved))
    }

    /// Ends the simulation and returns the report, like `Result.report`; `None` if it was finished before.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(held) = self.lock()?.take() else { return Ok(None) };
        let core = self.core.get();
        let report = detached(py, || held.simulation.finish())?.map_err(|f| core.failed(py, Error::from(f)))?;
        let text = serde_json::to_string(&report).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let finished = py.import("fourbar._errors")?.getattr("_finished")?;
        finished.call1((text, core.notes(py, &report.warnings)?)).map(Some)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, s) = (slf.py(), slf.get());
        let (study, saved) = s.with(|held| Ok((held.simulation.study().clone(), held.save())))?;
        let saved = saved.map_err(|e| PyValueError::new_err(e.to_string()))?;
        let study = serde_json::to_string(&study).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok((py.import("fourbar._fourbar")?.getattr("_restored_simulation")?, (&s.core, study, saved).into_pyobject(py)?))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __exit__(&self, _kind: &Bound<'_, PyAny>, _value: &Bound<'_, PyAny>, _trace: &Bound<'_, PyAny>) -> PyResult<()> {
        self.lock()?.take();
        Ok(())
    }

    fn __repr__(&self) -> PyResult<String> {
        let guard = self.lock()?;
        Ok(match guard.as_ref() {
            Some(h) => format!("<fourbar.{:?}>", h.simulation),
            None => "<fourbar.Simulation, finished>".into(),
        })
    }
}

/// Restores a stored simulation.
#[pyfunction]
#[pyo3(name = "_restored_simulation")]
pub fn restored_simulation(py: Python<'_>, core: Py<Core>, study: &str, saved: &str) -> PyResult<Simulation> {
    let bad = |e: serde_json::Error| PyValueError::new_err(format!("this is not a stored simulation: {e}"));
    let study = serde_json::from_str(study).map_err(bad)?;
    let own = core.get();
    let made = detached(py, || {
        let simulation = engine::Simulation::new(&own.model, &study)?;
        let mut held = Held { simulation, recorder: Recorder::new(&own.model, WantedColumns::ALL) };
        held.restore(saved)?;
        Ok::<_, Diagnostic>(held)
    })?;
    let held = made.map_err(|d| own.failed(py, d))?;
    Ok(Simulation { held: Mutex::new(Some(held)), core })
}

/// Inputs of a simulation by name.
#[pyclass(frozen, mapping, module = "fourbar")]
pub struct Inputs {
    simulation: Py<Simulation>,
}

#[pymethods]
impl Inputs {
    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        self.simulation.get().read(py, |s| Ok(s.input_value(s.input(name)?)))
    }

    fn __setitem__(&self, py: Python<'_>, name: &str, value: f64) -> PyResult<()> {
        self.simulation.get().compute(py, |s, _| {
            let id = s.input(name)?;
            s.set_input(id, value)
        })
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        let Ok(name) = name.extract::<String>() else { return false };
        self.simulation.get().core.get().model.inputs.iter().any(|i| i.name == name)
    }

    /// The value of an input, or `default` if there is no such input.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.__contains__(name) {
            true => Ok(Some(self.__getitem__(py, name.extract()?)?.into_pyobject(py)?.into_any())),
            false => Ok(default),
        }
    }

    /// Values of the inputs, in the order of their names.
    fn values(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.keys().iter().map(|k| self.__getitem__(py, k)).collect()
    }

    /// Names with values.
    fn items(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        self.keys().into_iter().map(|k| self.__getitem__(py, &k).map(|x| (k, x))).collect()
    }

    fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> PyResult<bool> {
        let own = PyDict::new(py);
        self.items(py)?.into_iter().try_for_each(|(k, x)| own.set_item(k, x))?;
        match other.cast::<Self>() {
            Ok(other) => own.eq(PyDict::from_sequence(&other.get().items(py)?.into_pyobject(py)?)?),
            Err(_) => own.eq(other),
        }
    }

    fn __len__(&self) -> usize {
        self.simulation.get().core.get().model.inputs.len()
    }

    /// Names of the inputs.
    fn keys(&self) -> Vec<String> {
        self.simulation.get().core.get().model.inputs.iter().map(|i| i.name.clone()).collect()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.keys())?.try_iter()?.into_any())
    }

    /// Sets several inputs at once, from a mapping and from keywords.
    #[pyo3(signature = (values=None, /, **more))]
    fn update(&self, py: Python<'_>, values: Option<&Bound<'_, PyAny>>, more: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let all = PyDict::new(py);
        if let Some(values) = values {
            all.call_method1("update", (values,))?;
        }
        if let Some(more) = more {
            all.call_method1("update", (more,))?;
        }
        all.iter().try_for_each(|(k, v)| self.__setitem__(py, k.extract()?, v.extract()?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let list = self.keys().iter().map(|k| Ok(format!("{k:?}: {}", self.__getitem__(py, k)?))).collect::<PyResult<Vec<_>>>()?;
        Ok(format!("{{{}}}", list.join(", ")))
    }
}

/// Advances a simulation `count` times by `dt` in a Rust loop, with an input that changes and a joint that is read, and returns the
/// seconds, for comparison with a Python loop.
#[pyfunction]
#[pyo3(name = "_loop_of_steps")]
pub fn loop_of_steps(py: Python<'_>, simulation: &Simulation, input: &str, joint: &str, dt: f64, count: usize) -> PyResult<f64> {
    let started = Instant::now();
    simulation.compute(py, |s, _| {
        let mut angle = 0.0;
        for k in 0..count {
            let id = s.input(input)?;
            s.set_input(id, 1e-3 * (k % 7) as f64)?;
            s.advance(s.t() + dt)?;
            angle += s.snapshot().joint(joint)?.angle;
        }
        std::hint::black_box(angle);
        Ok(())
    })?;
    Ok(started.elapsed().as_secs_f64())
}
