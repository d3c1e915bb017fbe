//! Bodies, joints, drives and energies at one time, as small objects.

use crate::arrays::{matrix_of, three};
use fourbar::simulation;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

/// A body at one time; all vectors in world axes, SI units.
#[pyclass(frozen, module = "fourbar")]
pub struct BodyState(pub simulation::BodyState);

#[pymethods]
impl BodyState {
    /// Centre of mass, m.
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.position)
    }

    /// Rotation from body to world axes, (3, 3).
    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        matrix_of(py, self.0.rotation.transpose().as_slice().to_vec(), [3, 3])
    }

    /// Velocity of the centre of mass, m/s.
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.velocity)
    }

    /// Angular velocity, rad/s.
    #[getter]
    fn omega<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.omega)
    }

    /// Acceleration of the centre of mass, m/s^2.
    #[getter]
    fn acceleration<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.acceleration)
    }

    /// Angular acceleration, rad/s^2.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.alpha)
    }

    fn __repr__(&self) -> String {
        let p = &self.0.position;
        format!("<fourbar.BodyState at ({:.6}, {:.6}, {:.6}) m>", p.x, p.y, p.z)
    }
}

/// A joint at one time.
#[pyclass(frozen, module = "fourbar")]
pub struct JointState(pub simulation::JointState);

#[pymethods]
impl JointState {
    /// Angle of the moving body about the axis, counting turns, rad; zero if the joint has none.
    #[getter]
    fn angle(&self) -> f64 {
        self.0.angle
    }

    /// Distance along the axis, m; zero if the joint has none.
    #[getter]
    fn distance(&self) -> f64 {
        self.0.distance
    }

    /// Rate of the angle, rad/s, or of the distance if there is no angle, m/s.
    #[getter]
    fn speed(&self) -> f64 {
        self.0.speed
    }

    /// Rate of the speed.
    #[getter]
    fn acceleration(&self) -> f64 {
        self.0.acceleration
    }

    /// Reaction force on the moving body at its joint frame, world axes, N.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.force)
    }

    /// Reaction torque on the moving body, world axes, N m.
    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        three(py, &self.0.torque)
    }

    fn __repr__(&self) -> String {
        let s = &self.0;
        format!("<fourbar.JointState: angle {:.6} rad, distance {:.6} m, speed {:.6}>", s.angle, s.distance, s.speed)
    }
}

/// A drive at one time.
#[pyclass(frozen, module = "fourbar")]
pub struct DriveState(pub simulation::DriveState);

#[pymethods]
impl DriveState {
    /// Torque or force of the drive, N m or N.
    #[getter]
    fn effort(&self) -> f64 {
        self.0.effort
    }

    /// Rate of the prescribed coordinate, rad/s or m/s.
    #[getter]
    fn speed(&self) -> f64 {
        self.0.speed
    }

    /// Power supplied to the mechanism, W.
    #[getter]
    fn power(&self) -> f64 {
        self.0.power
    }

    fn __repr__(&self) -> String {
        format!("<fourbar.DriveState: effort {:.6}, speed {:.6}>", self.0.effort, self.0.speed)
    }
}

/// Energies and work, J.
#[pyclass(frozen, module = "fourbar")]
pub struct Energy(pub simulation::Energy);

#[pymethods]
impl Energy {
    /// Kinetic energy.
    #[getter]
    fn kinetic(&self) -> f64 {
        self.0.kinetic
    }

    /// Potential energy of gravity, linear springs and bushings.
    #[getter]
    fn potential(&self) -> f64 {
        self.0.potential
    }

    /// Kinetic and potential energy.
    #[getter]
    fn total(&self) -> f64 {
        self.0.kinetic + self.0.potential
    }

    /// Work done since the start by drives and by forces without a potential.
    #[getter]
    fn work(&self) -> f64 {
        self.0.work
    }

    fn __repr__(&self) -> String {
        format!("<fourbar.Energy: kinetic {:.6} J, potential {:.6} J, work {:.6} J>", self.0.kinetic, self.0.potential, self.0.work)
    }
}
