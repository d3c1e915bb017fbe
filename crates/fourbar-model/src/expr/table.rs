//! Tables that expressions call by name: `lift(x)`.

use super::Dimension;
use fourbar_math::Piecewise;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A function given by points, with its name in expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: Arc<str>,
    /// The spline through its points.
    pub function: Arc<Piecewise>,
    /// Dimension of its argument, if specified.
    pub x: Option<Dimension>,
    /// Dimension of its value, if known.
    pub y: Option<Dimension>,
    /// Continuation beyond its points, if specified.
    pub outside: Option<Outside>,
}

/// Continuation beyond the first and the last point of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outside {
    /// The tangent at the end continues.
    Linear,
    /// The value at the end is kept.
    Hold,
    /// None: a run that reads the table there stops. Trial steps, which may reach further, use the tangent.
    Error,
}
