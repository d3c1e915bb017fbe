//! Serde of what cannot derive it: codes by their pages, expressions as texts, poses and velocities as lists of numbers.

use crate::codes;
use crate::diagnostic::Code;
use crate::expr::{Expr, Symbol};
use crate::state::{Pose, Velocity};
use nalgebra::Matrix3;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Name of a variable in a text; what it reads is said beside the expression.
fn variable(k: u32) -> String {
    format!("x{k}")
}

/// As text with the variables `x0`, `x1` and so on, which reads back to the same program.
impl Serialize for Expr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text(variable))
    }
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = |name: &str| name.strip_prefix('x').and_then(|k| k.parse().ok()).filter(|k| variable(*k) == name);
        Expr::parse(&text, &mut |name| number(name).map(Symbol::Variable)).map_err(D::Error::custom)
    }
}

/// Only codes that have a page are read.
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let page = codes::pages().find(|p| p.code == text);
        page.map(|p| Code(p.code)).ok_or_else(|| D::Error::custom(format!("there is no code `{text}`")))
    }
}

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

impl Serialize for Velocity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Moving { v: self.v.into(), w: self.w.into() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Velocity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let m = Moving::deserialize(deserializer)?;
        Ok(Self { v: m.v.into(), w: m.w.into() })
    }
}
