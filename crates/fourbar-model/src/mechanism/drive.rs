//! Drives: joint coordinates as functions of time.

use super::last::{Drive, Nothing};
use super::{Mechanism, Written};
use crate::expr::Expr;
use crate::spec::*;

impl<L> Mechanism<L> {
    /// Prescribes a coordinate of a joint.
    pub fn drive(mut self, name: impl Into<String>, joint: impl Into<String>) -> Mechanism<Drive> {
        let name = name.into();
        self.state.begin("drives", &name, "a drive", &["angle, distance, speed or acceleration"]);
        let drive = DriveSpec { joint: joint.into(), quantity: DriveQuantity::Angle, value: Expr::constant(0.0), inputs: Vec::new() };
        self.state.spec.drives.push((name, drive));
        self.next()
    }
}

impl Mechanism<Drive> {
    fn quantity(mut self, quantity: DriveQuantity, key: &'static str, value: Written) -> Mechanism<Nothing> {
        self.state.given("angle, distance, speed or acceleration");
        let (value, inputs) = match quantity {
            DriveQuantity::Angle | DriveQuantity::Distance => (self.state.time(key, value), Vec::new()),
            DriveQuantity::Speed | DriveQuantity::Acceleration => self.state.time_and_inputs(key, value),
        };
        if let Some((_, drive)) = self.state.spec.drives.last_mut() {
            (drive.quantity, drive.value, drive.inputs) = (quantity, value, inputs);
        }
        self.next()
    }

    /// The joint's angle as a function of time, rad.
    pub fn angle(self, value: impl Into<Written>) -> Mechanism<Nothing> {
        self.quantity(DriveQuantity::Angle, "angle", value.into())
    }

    /// The joint's distance as a function of time, m.
    pub fn distance(self, value: impl Into<Written>) -> Mechanism<Nothing> {
        self.quantity(DriveQuantity::Distance, "distance", value.into())
    }

    /// The rate of its angle, or of its distance where it has no angle, as a function of time and inputs, rad/s or
    /// m/s.
    pub fn speed(self, value: impl Into<Written>) -> Mechanism<Nothing> {
        self.quantity(DriveQuantity::Speed, "speed", value.into())
    }

    /// The rate of the speed as a function of time and inputs, rad/s^2 or m/s^2.
    pub fn acceleration(self, value: impl Into<Written>) -> Mechanism<Nothing> {
        self.quantity(DriveQuantity::Acceleration, "acceleration", value.into())
    }
}
