//! The report of a run.

mod happened;

pub use happened::{Happened, Kind};

use crate::diagnostic::Diagnostic;
use crate::formulation::{FORMULATIONS, formulation};
use crate::kinematics::KINEMATICS;
use crate::motion::Singular;
use crate::settings::Analysis;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A name from one of the lists of the program. The type alias prevents serde from treating it as borrowed text.
pub type ListedName = &'static str;

/// Results of a run besides its rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was done.
    pub analysis: Analysis,
    /// Formulation used.
    #[serde(deserialize_with = "known_formulation")]
    pub formulation: ListedName,
    /// Integrator used.
    #[serde(deserialize_with = "known_integrator")]
    pub integrator: ListedName,
    /// Last time reached.
    pub t: f64,
    /// Whether the observer stopped it.
    pub stopped: bool,
    /// Work counts by name.
    pub work: Vec<(Cow<'static, str>, f64)>,
    /// Rows of constraints, and how many of them are redundant.
    pub rows: usize,
    /// Redundant rows at the start.
    pub redundant: usize,
    /// Reaction components that are not unique: joint, then `force.x` and so on.
    pub not_unique: Vec<(String, Vec<String>)>,
    /// Singular positions encountered.
    pub singular: Vec<Singular>,
    /// Choices and events, as text.
    pub notes: Vec<String>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Characteristic length, which scales torques in minimum-norm reactions.
    pub length: f64,
    /// Events of the run.
    #[serde(default)]
    pub events: Vec<Happened>,
}

/// A formulation by its name in a stored report.
fn known_formulation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    formulation(&name).map(|f| f.name).map_err(serde::de::Error::custom)
}

/// An integrator by its name in a stored report.
fn known_integrator<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(deserializer)?;
    let mut all = FORMULATIONS.iter().chain(KINEMATICS).flat_map(|f| f.integrators.iter().copied());
    all.find(|i| *i == name).ok_or_else(|| serde::de::Error::custom(format!("there is no integrator `{name}`")))
}
