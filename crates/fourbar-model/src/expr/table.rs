//! Tables that expressions call by name: `lift(x)`.

use super::Dimension;
use fourbar_math::Piecewise;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A function given by points, with the name it is called by.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// The spline through its points.
    pub function: Arc<Piecewise>,
    /// Dimension of its argument, where the author gave one.
    pub x: Option<Dimension>,
    /// Dimension of its value, if known.
    pub y: Option<Dimension>,
    /// What holds beyond its points, where the author said so.
    pub outside: Option<Outside>,
}

/// What holds beyond the first and the last point of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// The tangent at the end continues.
    Linear,
    /// The value at the end holds.
    Hold,
    /// Nothing: a run that reads the table there stops. Trial steps, which may look further ahead, see the tangent.
    Error,
}
