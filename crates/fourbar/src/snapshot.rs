//! Values of a mechanism at one time, accessed by name.

use crate::diagnostic::{Diagnostic, nearest};
use crate::force::{Quantities, Values};
use crate::model::Model;
use crate::motion::{Instant, Reaction};
use crate::trajectory::{drive_speed, energies, force_value, rates};
use nalgebra::{Matrix3, Vector3};
use std::borrow::Cow;

/// One instant of a mechanism: poses, velocities, accelerations, reactions, efforts and energies, by name.
#[derive(Clone, Debug)]
pub struct Snapshot<'a> {
    model: &'a Model,
    instant: Cow<'a, Instant>,
}

/// A body at one time; all vectors in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass, m.
    pub position: Vector3<f64>,
    /// Rotation from body to world axes.
    pub rotation: Matrix3<f64>,
    /// Velocity of the centre of mass, m/s.
    pub velocity: Vector3<f64>,
    /// Angular velocity, rad/s.
    pub omega: Vector3<f64>,
    /// Acceleration of the centre of mass, m/s^2.
    pub acceleration: Vector3<f64>,
    /// Angular acceleration, rad/s^2.
    pub alpha: Vector3<f64>,
}

/// A joint at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointState {
    /// Angle of the moving body about the axis, with counted turns, rad; zero if the joint has none.
    pub angle: f64,
    /// Distance along the axis, m; zero if the joint has none.
    pub distance: f64,
    /// Rate of the angle, or of the distance if there is no angle.
    pub speed: f64,
    /// Rate of the speed.
    pub acceleration: f64,
    /// Reaction on the moving body at its joint frame, world axes: force, N, and torque, N m.
    pub force: Vector3<f64>,
    /// Torque of the reaction, N m.
    pub torque: Vector3<f64>,
}

/// A drive at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveState {
    /// Torque or force of the drive, N m or N.
    pub effort: f64,
    /// Rate of the prescribed coordinate, rad/s or m/s.
    pub speed: f64,
    /// Power supplied to the mechanism, W.
    pub power: f64,
}

/// A force element at one time: its reported quantities, with the names of its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceState {
    quantities: Quantities,
    values: Values,
}

impl ForceState {
    /// Names and values, such as `tension`, `force.x` and `power`, in SI units.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.quantities.iter().map(|q| q.0).zip(self.values.iter().copied())
    }
    /// A value by its name; `None` if the element has no such quantity.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter().find(|(key, _)| *key == name).map(|(_, x)| x)
    }
    /// Power supplied to the bodies on which it acts, W.
    pub fn power(&self) -> f64 {
        self.get("power").unwrap_or(0.0)
    }
}

/// Energies and work, J.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Energy of motion.
    pub kinetic: f64,
    /// Energy of gravity, linear springs and bushings.
    pub potential: f64,
    /// Work since the start by drives and by forces without a potential.
    pub work: f64,
}

impl<'a> Snapshot<'a> {
    pub(crate) fn new(model: &'a Model, instant: Cow<'a, Instant>) -> Self {
        Self { model, instant }
    }

    /// Time, s.
    pub fn t(&self) -> f64 {
        self.instant.t
    }

    /// All results by number instead of by name.
    pub fn instant(&self) -> &Instant {
        &self.instant
    }

    /// A body.
    pub fn body(&self, name: &str) -> Result<BodyState, Diagnostic> {
        let b = place("body", name, self.model.bodies.iter().map(|b| b.name.as_str()))?;
        let s = &self.instant;
        let (q, v, a) = (&s.q[b], &s.v[b], &s.a[b]);
        Ok(BodyState { position: q.r, rotation: q.A, velocity: v.v, omega: q.A * v.w, acceleration: a.v, alpha: q.A * a.w })
    }

    /// A joint.
    pub fn joint(&self, name: &str) -> Result<JointState, Diagnostic> {
        let k = place("joint", name, self.model.joints.iter().map(|j| j.name.as_str()))?;
        let s = &self.instant;
        let j = &self.model.joints[k];
        let [qi, qj] = j.bodies.map(|b| &s.q[b.index()]);
        let value = |key: &str| j.coordinates().find(|(k, _)| *k == key).map_or(0.0, |(_, y)| y.value(qi, qj, &s.turns));
        let [speed, acceleration] = j.coordinates().next().map_or([0.0; 2], |(_, y)| rates(j, &y, s));
        let w = s.reactions[k];
        Ok(JointState { angle: value("angle"), distance: value("distance"), speed, acceleration, force: w.force, torque: w.torque })
    }

    /// A drive.
    pub fn drive(&self, name: &str) -> Result<DriveState, Diagnostic> {
        let k = place("drive", name, self.model.drives.iter().map(|d| d.name.as_str()))?;
        let effort = self.instant.efforts[k];
        let speed = drive_speed(self.model, &self.model.drives[k], &self.instant);
        Ok(DriveState { effort, speed, power: effort * speed })
    }

    /// A force element.
    pub fn force(&self, name: &str) -> Result<ForceState, Diagnostic> {
        let k = place("force", name, self.model.forces.iter().map(|f| f.0.as_str()))?;
        let mut loads = vec![0.0; self.model.joints.len()];
        self.instant.loads(self.model, &mut loads);
        let values = force_value(self.model, &self.instant, &self.instant.plain(&loads), k);
        Ok(ForceState { quantities: self.model.forces[k].1.quantities(self.model), values })
    }

    /// Reaction of a bare constraint on the body of its second place, at that place, or of a rolling element on its body, at the
    /// contact; world axes, N and N m.
    pub fn constraint(&self, name: &str) -> Result<Reaction, Diagnostic> {
        let bare = self.model.bare.iter().map(|b| b.name.as_str());
        let k = place("constraint", name, bare.chain(self.model.rolling.iter().map(|r| r.name.as_str())))?;
        Ok(self.instant.constraints[k])
    }

    /// Position and velocity of a named point, world axes.
    pub fn point(&self, name: &str) -> Result<[Vector3<f64>; 2], Diagnostic> {
        let k = place("point", name, self.model.points.iter().map(|p| p.0.as_str()))?;
        let p = &self.model.points[k].1;
        let (q, v) = (&self.instant.q[p.body.index()], &self.instant.v[p.body.index()]);
        Ok([q.point(&p.s), v.of_point(q, &p.s)])
    }

    /// The value of an input.
    pub fn input(&self, name: &str) -> Result<f64, Diagnostic> {
        Ok(self.instant.z[crate::inputs::find(self.model, name)?])
    }

    /// The value of a user-defined state.
    pub fn state(&self, name: &str) -> Result<f64, Diagnostic> {
        let k = place("state", name, self.model.states.iter().map(|s| s.name.as_str()))?;
        Ok(self.instant.z[self.model.first_state() + k])
    }

    /// Energies and work.
    pub fn energy(&self) -> Energy {
        let (kinetic, potential) = energies(self.model, &self.instant);
        Energy { kinetic, potential, work: self.instant.work }
    }
}

/// The number of a named element.
pub(crate) fn place<'n>(kind: &str, name: &str, mut all: impl Iterator<Item = &'n str> + Clone) -> Result<usize, Diagnostic> {
    let names = all.clone();
    all.position(|n| n == name).ok_or_else(|| {
        let help = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("names are those of the mechanism file; `model()` lists every {kind}"),
        };
        Diagnostic::new("U314", format!("there is no {kind} `{name}`")).name(name).help(help)
    })
}
