//! Forces: what acts on the bodies besides the constraints.

pub mod eval;
pub mod load;

use crate::expr::Expr;
use crate::model::{BodyId, PointOn};
use crate::spec::ForceFrame;
use nalgebra::Matrix3;

/// A force element with its references resolved.
#[derive(Clone, Debug)]
pub enum Force {
    /// Along the line of two points; positive tension pulls them together.
    Spring {
        /// The points.
        between: [PointOn; 2],
        /// Tension.
        law: Law,
    },
    /// On the angle of a joint; positive torque resists.
    Torsion {
        /// The joint.
        joint: usize,
        /// Resisting torque.
        law: Law,
    },
    /// At a point.
    Point {
        /// Where.
        on: PointOn,
        /// Components.
        force: [StateLaw; 3],
        /// Frame of the components.
        frame: ForceFrame,
    },
    /// On a body.
    Torque {
        /// The body.
        body: BodyId,
        /// Components.
        torque: [StateLaw; 3],
        /// Frame of the components.
        frame: ForceFrame,
    },
    /// Along a joint coordinate.
    Actuator {
        /// The joint.
        joint: usize,
        /// Effort on the moving body.
        effort: StateLaw,
    },
    /// Six-dimensional elastic connection.
    Bushing {
        /// The places; the second at rest coincides with the first.
        between: [PointOn; 2],
        /// Bushing axes in the first body, as columns.
        R_i: Matrix3<f64>,
        /// Bushing axes in the second body, parallel to the first as drawn.
        R_j: Matrix3<f64>,
        /// Stiffness, linear then angular.
        stiffness: [f64; 6],
        /// Damping, linear then angular.
        damping: [f64; 6],
    },
    /// Friction in a joint.
    Friction {
        /// The joint.
        joint: usize,
        /// Coulomb coefficient.
        coulomb: f64,
        /// Viscous coefficient.
        viscous: f64,
        /// Radius at which the normal force acts.
        radius: f64,
        /// Speed of regularisation.
        speed: f64,
    },
}

/// A spring law.
#[derive(Clone, Debug)]
pub enum Law {
    /// `stiffness (x - rest) + damping x'`.
    Linear {
        /// Stiffness.
        stiffness: f64,
        /// Coordinate at rest.
        rest: f64,
        /// Damping.
        damping: f64,
    },
    /// An expression.
    Expression(StateLaw),
}

/// An expression over the state.
#[derive(Clone, Debug)]
pub struct StateLaw {
    /// The expression.
    pub expr: Expr,
    /// What its variables read.
    pub variables: Vec<Variable>,
}

/// What a variable of an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// Time.
    Time,
    /// The spring's own length or angle.
    Length,
    /// Its rate.
    Rate,
    /// A joint's angle.
    JointAngle(usize),
    /// A joint's distance.
    JointDistance(usize),
    /// Rate of a joint's angle, or of its distance where it has no angle.
    JointSpeed(usize),
    /// Component of a named point's position.
    PointPosition(usize, usize),
    /// Component of a named point's velocity.
    PointVelocity(usize, usize),
    /// An input or a state, by its place among the numbers that are carried along.
    Auxiliary(usize),
}
