//! Bodies, key by key.

use crate::spec::*;

impl BodySpec {
    /// A body of one kilogram with unit inertia at the origin.
    pub fn new() -> Self {
        Self::default()
    }

    /// Mass, kg.
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = mass;
        self
    }

    /// Principal inertias about the centre of mass along the body axes, kg m^2.
    pub fn inertia(mut self, principal: V3) -> Self {
        self.inertia = Inertia::Principal(principal);
        self
    }

    /// Entries xx, yy, zz, xy, xz, yz of the inertia tensor about the centre of mass in body axes, kg m^2.
    pub fn inertia_tensor(mut self, entries: [f64; 6]) -> Self {
        self.inertia = Inertia::Tensor(entries);
        self
    }

    /// A point mass, without rotational inertia.
    pub fn point_mass(mut self) -> Self {
        self.inertia = Inertia::Point;
        self
    }

    /// Origin of the body frame in the world at the start, m.
    pub fn at(mut self, at: V3) -> Self {
        self.at = at;
        self
    }

    /// Orientation of the body frame in the world at the start.
    pub fn orientation(mut self, orientation: Orientation) -> Self {
        self.orientation = orientation;
        self
    }

    /// The body frame turned about an axis of the world, rad.
    pub fn turned(self, axis: V3, angle: f64) -> Self {
        self.orientation(Orientation::AxisAngle { axis, angle })
    }

    /// Centre of mass in the body frame, m.
    pub fn com(mut self, com: V3) -> Self {
        self.com = com;
        self
    }

    /// Velocity of the centre of mass in the world at the start, m/s.
    pub fn velocity(mut self, velocity: V3) -> Self {
        self.velocity = velocity;
        self
    }

    /// Angular velocity in world axes at the start, rad/s.
    pub fn omega(mut self, omega: V3) -> Self {
        self.omega = omega;
        self
    }

    /// One more shape to draw, in the body frame.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shapes.push(shape);
        self
    }
}
