//! Poses and velocities as JSON.

use super::{Pose, Twist};
use nalgebra::Matrix3;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Numbers of a pose: position, rotation matrix by rows.
#[derive(Serialize, Deserialize)]
struct Placed {
    r: [f64; 3],
    #[serde(rename = "A")]
    a: [[f64; 3]; 3],
}

impl Serialize for Pose {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Placed { r: self.r.into(), a: self.A.transpose().into() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Pose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let p = Placed::deserialize(deserializer)?;
        Ok(Self { r: p.r.into(), A: Matrix3::from(p.a).transpose() })
    }
}

/// Numbers of a velocity: linear in world axes, angular in body axes.
#[derive(Serialize, Deserialize)]
struct Moving {
    v: [f64; 3],
    w: [f64; 3],
}

impl Serialize for Twist {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Moving { v: self.v.into(), w: self.w.into() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Twist {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let m = Moving::deserialize(deserializer)?;
        Ok(Self { v: m.v.into(), w: m.w.into() })
    }
}
