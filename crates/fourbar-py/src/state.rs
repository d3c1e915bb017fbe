//! A state of a mechanism: poses, velocities, and quantities evaluated there.

use crate::arrays::{matrix, matrix_of, numbers, twists, vector};
use crate::guard::detached;
use crate::model::Core;
use crate::snapshot::{BodyState, DriveState, Energy, JointState};
use fourbar::simulation::{InMode, Snapshot};
use fourbar::state::{Configuration, Pose, Twist};
use fourbar::time::Integral;
use fourbar::{Diagnostic, Error, Evaluation, Model};
use fourbar_math::so3;
use nalgebra::Vector3;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::{Value, json};
use std::sync::Arc;

/// Poses and velocities of all bodies at a time, with inputs and states of the mechanism.
///
/// Arrays have one row for every moving body, in the order of `Model.bodies`. Six-vectors are (linear in world axes, angular in body axes),
/// as in all matrices given here. A state of a simulation includes the changes of the mechanism by events, limits and friction: removed
/// joints carry no load, and held ones are held.
#[pyclass(frozen, module = "fourbar")]
pub struct State {
    core: Py<Core>,
    /// The mechanism in its mode, with drives as at this state.
    mode: InMode,
    /// The state itself.
    pub c: Configuration,
}

impl State {
    /// A state of a mechanism in a mode; drives that continue from their current position keep their current values.
    pub fn new(py: Python<'_>, core: &Py<Core>, mode: &InMode, c: Configuration) -> Self {
        let mode = if kept_drives(mode.model()).next().is_some() { mode.with_own_drives() } else { mode.clone() };
        Self { core: core.clone_ref(py), mode, c }
    }

    /// A state of a mechanism as in its file.
    pub fn of_file(py: Python<'_>, core: &Py<Core>, model: &Arc<Model>, c: Configuration) -> Self {
        Self::new(py, core, &InMode::of_file(model), c)
    }

    /// The mode of the mechanism at this state.
    pub fn mode(&self) -> &InMode {
        &self.mode
    }

    fn model(&self) -> &Model {
        self.mode.file()
    }

    fn evaluated<T: Send>(&self, py: Python<'_>, f: impl FnOnce(&Evaluation<'_>) -> Result<T, Error> + Send) -> PyResult<T> {
        let (model, c) = (self.mode.model(), &self.c);
        detached(py, || f(&Evaluation::new(model, c)?))?.map_err(|e| self.core.get().failed(py, e))
    }

    /// Evaluates a snapshot, with names of the file.
    fn seen<T: Send>(&self, py: Python<'_>, f: impl FnOnce(&Snapshot<'_>) -> Result<T, Diagnostic> + Send) -> PyResult<T> {
        let mode = &self.mode;
        self.evaluated(py, |e| Ok(f(&mode.snapshot(e))?))
    }
}

/// Integrals of drives that are stored separately.
fn kept_drives(model: &Model) -> impl Iterator<Item = &Integral> {
    model.held_drives().map(|(_, i)| i).chain(model.placed_drives())
}

/// Restores a stored state.
#[pyfunction]
#[pyo3(name = "_restored_state")]
pub fn restored_state(py: Python<'_>, core: Py<Core>, text: &str) -> PyResult<State> {
    let bad = || PyValueError::new_err("this is not a stored state of this mechanism");
    let v: Value = serde_json::from_str(text).map_err(|_| bad())?;
    let model = Arc::clone(&core.get().model);
    let c = Configuration::restored(&model, &v["state"]).ok_or_else(bad)?;
    let state = State::new(py, &core, &InMode::restored(&model, &v["mode"]).ok_or_else(bad)?, c);
    let saved: Vec<Vec<f64>> = serde_json::from_value(v["drives"].clone()).map_err(|_| bad())?;
    for (i, s) in kept_drives(state.mode.model()).zip(&saved) {
        i.restore(s).ok_or_else(bad)?;
    }
    Ok(state)
}

#[pymethods]
impl State {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, s) = (slf.py(), slf.get());
        let drives: Vec<Vec<f64>> = kept_drives(s.mode.model()).map(|i| i.save()).collect();
        let text = json!({"state": s.c.save(), "drives": drives, "mode": s.mode.save()}).to_string();
        Ok((py.import("fourbar._fourbar")?.getattr("_restored_state")?, (&s.core, text).into_pyobject(py)?))
    }

    /// Time, s.
    #[getter]
    fn t(&self) -> f64 {
        self.c.t
    }

    /// Poses, (bodies, 7): centre of mass in the world, m, and quaternion (w, x, y, z) from body to world axes.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let body = |q: &Pose| {
            let p = so3::quaternion(&q.A);
            [q.r.x, q.r.y, q.r.z, p[0], p[1], p[2], p[3]]
        };
        matrix_of(py, self.c.q.iter().skip(1).flat_map(body).collect(), [self.model().moving(), 7])
    }

    /// Velocities, (bodies, 6): of the centre of mass in the world, m/s, and angular velocity in body axes, rad/s.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        twists(py, &self.c.v)
    }

    /// Values of the inputs by name.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let d = PyDict::new(py);
        self.model().inputs.iter().zip(&self.c.z).try_for_each(|(i, z)| d.set_item(&i.name, z))?;
        Ok(d)
    }

    /// Values of user-defined states by name.
    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let d = PyDict::new(py);
        self.model().states.iter().zip(&self.c.z[self.model().first_state()..]).try_for_each(|(s, z)| d.set_item(&s.name, z))?;
        Ok(d)
    }

    /// A copy with other poses, velocities or time. Joints are not closed: `Model.assemble(state)` gives the nearest consistent state.
    #[pyo3(signature = (q=None, v=None, t=None))]
    fn replace(&self, py: Python<'_>, q: Option<&Bound<'_, PyAny>>, v: Option<&Bound<'_, PyAny>>, t: Option<f64>) -> PyResult<Self> {
        let n = self.model().moving();
        let mut c = self.c.clone();
        if let Some(q) = q {
            for (b, x) in numbers("q", q, &[n, 7])?.chunks_exact(7).enumerate() {
                let p = [x[3], x[4], x[5], x[6]];
                // Scaled first, since squares of very large or small numbers overflow or underflow.
                let most = p.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                if most < 1e-9 {
                    return Err(PyValueError::new_err(format!("the quaternion of body {b} is zero")));
                }
                let p = p.map(|x| x / most);
                let size = p.iter().map(|x| x * x).sum::<f64>().sqrt();
                c.q[b + 1] = Pose { r: Vector3::new(x[0], x[1], x[2]), A: so3::from_quaternion(&p.map(|x| x / size)) };
            }
        }
        if let Some(v) = v {
            for (b, x) in numbers("v", v, &[n, 6])?.chunks_exact(6).enumerate() {
                c.v[b + 1] = Twist { v: Vector3::new(x[0], x[1], x[2]), w: Vector3::new(x[3], x[4], x[5]) };
            }
        }
        if let Some(t) = t {
            if !t.is_finite() {
                return Err(PyValueError::new_err(format!("t cannot be {t}")));
            }
            c.t = t;
        }
        Ok(Self::new(py, &self.core, &self.mode, c))
    }

    /// Accelerations, (bodies, 6): of the centre of mass in the world, m/s^2, and angular in body axes, rad/s^2.
    fn acceleration<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let a = self.evaluated(py, |e| Ok(e.accelerations().to_vec()))?;
        twists(py, &a)
    }

    /// Mass matrix of all moving bodies, (6 n, 6 n): `0.5 v M v` is the kinetic energy.
    fn mass_matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.evaluated(py, |e| e.mass_matrix())?)
    }

    /// Jacobian of all constraints and drives, (rows, 6 n): `J v` equals `velocity_terms()`.
    fn jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.evaluated(py, |e| e.jacobian())?)
    }

    /// Element and number of every row of the Jacobian.
    fn rows(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.evaluated(py, |e| Ok(e.rows().iter().map(ToString::to_string).collect()))
    }

    /// Right-hand side of the velocity constraints: nonzero if constraints move with time.
    fn velocity_terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, &self.evaluated(py, |e| Ok(e.velocity_terms()))?))
    }

    /// Right-hand side of the acceleration constraints: `J a` equals it.
    fn acceleration_terms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, &self.evaluated(py, |e| Ok(e.acceleration_terms()))?))
    }

    /// Lagrange multipliers of the rows of the Jacobian: constraint forces are `-J.T @ multipliers`.
    fn multipliers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let list = self.evaluated(py, |e| Ok(e.multipliers().to_vec()))?;
        Ok(PyArray1::from_vec(py, list))
    }

    /// Gyroscopic forces `h` of `M a + h = Q - J.T @ multipliers`.
    fn bias<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, &self.evaluated(py, |e| Ok(e.bias()))?))
    }

    /// Applied forces `Q` of `M a + h = Q - J.T @ multipliers`: gravity, springs, actuators and friction.
    fn applied<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(vector(py, &self.evaluated(py, |e| Ok(e.applied()))?))
    }

    /// Free motions, (6 n, freedoms): an orthonormal basis of the null space of the Jacobian, with rotations scaled to lengths.
    fn free_motions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix(py, &self.evaluated(py, |e| e.free_motions())?)
    }

    /// Independent coordinates by name, such as `pin.angle`: as many as free motions.
    fn independent(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.evaluated(py, |e| e.independent())
    }

    /// Equations of motion in independent coordinates: mass matrix, bias forces and generalised forces of `mass u' + bias = force`.
    #[pyo3(signature = (coordinates=None))]
    fn equations<'py>(&self, py: Python<'py>, coordinates: Option<Vec<String>>) -> PyResult<Bound<'py, PyTuple>> {
        let r = self.evaluated(py, |e| {
            let names = coordinates.map_or_else(|| e.independent(), Ok)?;
            e.reduced_in(&names)
        })?;
        (matrix(py, &r.mass)?, vector(py, &r.bias), vector(py, &r.force), r.names).into_pyobject(py)
    }

    /// Efforts of drives, actuators or coordinates by name that cause given accelerations of coordinates; a dictionary.
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        accelerations: &Bound<'py, PyDict>,
        motors: Vec<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let given = crate::settings::numbers_by_name("acceleration of", accelerations)?;
        let efforts = self.evaluated(py, |e| {
            let a = e.accelerations_with(&given)?;
            e.inverse_dynamics(&a, &motors)
        })?;
        let d = PyDict::new(py);
        efforts.names.iter().zip(&efforts.values).try_for_each(|(k, x)| d.set_item(k, x))?;
        Ok(d)
    }

    /// Reactions of all joints on their moving bodies, world axes: dictionary of arrays of six, force in N, torque in N m.
    fn reactions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let list = self.evaluated(py, |e| Ok(e.reactions().map(|(name, w)| (name.to_string(), w)).collect::<Vec<_>>()))?;
        let d = PyDict::new(py);
        for (name, w) in list {
            let six = [w.force.x, w.force.y, w.force.z, w.torque.x, w.torque.y, w.torque.z];
            d.set_item(name, PyArray1::from_slice(py, &six))?;
        }
        Ok(d)
    }

    /// Kinetic and potential energy, J.
    #[getter]
    fn energy(&self, py: Python<'_>) -> PyResult<Energy> {
        self.evaluated(py, |e| Ok(Energy(e.energy())))
    }

    /// Power of drives, of constraints that depend on time and of forces without a potential, W.
    #[getter]
    fn power(&self, py: Python<'_>) -> PyResult<f64> {
        self.evaluated(py, |e| Ok(e.power()))
    }

    /// A body by name.
    fn body(&self, py: Python<'_>, name: &str) -> PyResult<BodyState> {
        self.seen(py, |s| s.body(name).map(BodyState))
    }

    /// A joint by name.
    fn joint(&self, py: Python<'_>, name: &str) -> PyResult<JointState> {
        self.seen(py, |s| s.joint(name).map(JointState))
    }

    /// A drive by name.
    fn drive(&self, py: Python<'_>, name: &str) -> PyResult<DriveState> {
        self.seen(py, |s| s.drive(name).map(DriveState))
    }

    /// Quantities of a force element by name: a dictionary.
    fn force<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyDict>> {
        let f = self.seen(py, |s| s.force(name))?;
        let d = PyDict::new(py);
        f.iter().try_for_each(|(k, x)| d.set_item(k, x))?;
        Ok(d)
    }

    /// Position and velocity of a point, world axes: (2, 3).
    fn point<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let [r, v] = self.seen(py, |s| s.point(name))?;
        matrix_of(py, vec![r.x, r.y, r.z, v.x, v.y, v.z], [2, 3])
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.c == other.c && self.mode.save() == other.mode.save()
    }

    fn __repr__(&self) -> String {
        let (n, t) = (self.model().moving(), fourbar::diagnostic::number(self.c.t));
        format!("<fourbar.State at t = {t} s: {n} {}>", if n == 1 { "body" } else { "bodies" })
    }
}

/// Rejects a state of a mechanism with other sizes.
pub fn fitting<'a>(py: Python<'_>, core: &Core, state: &'a State) -> PyResult<&'a Configuration> {
    let (c, m) = (&state.c, &core.model);
    if c.q.len() == m.bodies.len() && c.turns.len() == m.angles.len() && c.z.len() == m.auxiliaries() {
        return Ok(c);
    }
    let message = format!("the state has {} bodies with ground, the mechanism {}", c.q.len(), m.bodies.len());
    Err(core.failed(py, Diagnostic::new("U312", message).help("take it from the same mechanism")))
}
