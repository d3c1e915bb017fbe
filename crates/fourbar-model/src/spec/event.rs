//! Changes of a mechanism during a run as its author specifies them: joint limits, and events with their actions.

use super::StateExpr;
use serde::{Deserialize, Serialize};

/// Bounds that a joint may reach but not pass.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitSpec {
    /// The bounded coordinate where the joint has two; omitted: its angle.
    pub of: Option<LimitOf>,
    /// Least value, m or rad.
    pub min: Option<f64>,
    /// Largest value, m or rad.
    pub max: Option<f64>,
    /// Least speed, m/s or rad/s.
    pub speed_min: Option<f64>,
    /// Largest speed, m/s or rad/s.
    pub speed_max: Option<f64>,
    /// Coefficient of restitution; omitted: 0.
    pub restitution: Option<f64>,
    /// If given, the limit is a spring that acts beyond the bound, N/m^exponent or N m/rad^exponent.
    pub stiffness: Option<f64>,
    /// Its damping: effort per depth^exponent and speed; omitted: from `restitution` and `speed`, or none.
    pub damping: Option<f64>,
    /// Exponent of the depth; omitted: 1.5.
    pub exponent: Option<f64>,
    /// Impact speed at which a spring attains exactly this `restitution`.
    pub speed: Option<f64>,
}

/// A coordinate that a limit bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitOf {
    /// The angle.
    Angle,
    /// The distance.
    Distance,
}

/// An expression whose zero changes something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSpec {
    /// The expression, over the state.
    pub when: StateExpr,
    /// Which of its zeros count.
    pub direction: Direction,
    /// Whether it happens only once; omitted: yes if it changes the structure of the mechanism.
    pub once: Option<bool>,
    /// How far the expression must return before the event can happen again; omitted: 0.
    pub rearm: Option<f64>,
    /// The event that must have happened before.
    pub after: Option<String>,
    /// Its actions, in order.
    pub actions: Vec<ActionSpec>,
}

/// Which zeros of an expression count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Direction {
    /// All.
    #[default]
    Any,
    /// Those through which it rises.
    Rising,
    /// Those through which it falls.
    Falling,
}

/// An action of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ActionSpec {
    /// A joint, drive or force acts again.
    Enable(String),
    /// A joint, drive or force stops acting until it is enabled.
    Disable(String),
    /// A joint is locked in its current position.
    Lock(String),
    /// A locked joint is free again.
    Release(String),
    /// A joint, drive or force is removed permanently.
    Remove(String),
    /// An input or a state takes a value.
    Set(String, StateExpr),
    /// The run ends.
    Stop,
}
