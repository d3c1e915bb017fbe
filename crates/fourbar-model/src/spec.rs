//! A mechanism as its author specifies it: plain names and numbers, not yet checked.
//!
//! Files are read into a [`ModelSpec`]; programs write one directly. [`ModelSpec::build`] checks it and returns the immutable
//! [`crate::Model`]. Numbers are SI and radians; points are in the body frame unless a variant specifies the world.

mod body;
mod event;
mod task;

pub use crate::event::EventSettings;
pub use body::{BodySpec, Inertia, Orientation, Shape};
pub use event::{ActionSpec, Direction, EventSpec, LimitOf, LimitSpec};
pub use task::{MotorSpec, PathSpec, Profile, ThroughSpec};

use crate::expr::{Dimension, Expr, Outside, Table};
pub use crate::joint::PairKind;
pub use crate::tableau::TableauSpec;
use fourbar_math::piecewise::{Beyond, Ends, Piecewise, SplineError};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Three components.
pub type V3 = [f64; 3];

/// A whole mechanism.
///
/// Its serde form is its own structure, not the file format, which `fourbar_io::write_model` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpec {
    /// Free text.
    pub title: String,
    /// Acceleration of gravity in the world; `None` means zero, and `check` reports this.
    pub gravity: Option<V3>,
    /// Bodies by name.
    pub bodies: Vec<(String, BodySpec)>,
    /// Joints between two bodies, and couplings between joints, by name.
    pub joints: Vec<(String, JointSpec)>,
    /// Bare constraints by name.
    pub constraints: Vec<(String, ConstraintSpec)>,
    /// Drives of joint coordinates by name.
    pub drives: Vec<(String, DriveSpec)>,
    /// Forces by name.
    pub forces: Vec<(String, ForceSpec)>,
    /// Contacts by name.
    pub contacts: Vec<(String, ContactSpec)>,
    /// Points to report and trace, by name.
    pub points: Vec<(String, Place)>,
    /// Numbers set from outside between steps, by name.
    pub inputs: Vec<(String, InputSpec)>,
    /// User-defined states that are integrated with the motion, by name.
    pub states: Vec<(String, StateSpec)>,
    /// Planar curves by name: tracks, slots, cams.
    pub curves: Vec<(String, CurveSpec)>,
    /// Names of joints or bodies that must not move in assembly.
    pub hold: Vec<String>,
    /// Conditions that assembly must satisfy at the start: coordinates of joints and points, or their rates, with their values.
    pub start: Vec<(StateVariable, f64)>,
    /// Whether the motion starts at a rest position instead of the drawn one.
    pub settle: bool,
    /// Names of points to trace in pictures.
    pub trace: Vec<String>,
    /// Columns of results to keep: names, names of elements, or patterns with `*`; empty: all.
    pub columns: Vec<String>,
    /// The first plots of pages; none: the page chooses.
    pub plots: Vec<PlotSpec>,
    /// The body that the camera of a page follows.
    pub follow: Option<String>,
    /// The default study.
    pub study: StudySpec,
    /// Functions given by points, which expressions call by name. The expressions contain the functions they call; this list stores the
    /// points.
    pub tables: Vec<(String, TableSpec)>,
    /// User-defined result columns, by name.
    pub outputs: Vec<(String, OutputSpec)>,
    /// Paths that points are to follow, by name: tasks of inverse dynamics, not part of the mechanism itself.
    pub paths: Vec<(String, PathSpec)>,
    /// Motors that drive the points along the paths, by name.
    pub motors: Vec<(String, MotorSpec)>,
    /// Limits of joints, by the name of the joint.
    pub limits: Vec<(String, LimitSpec)>,
    /// Events that change the mechanism during the run, by name.
    pub events: Vec<(String, EventSpec)>,
    /// Points and vectors that define bodies, in order, by the name of the body; natural coordinates use them on request.
    pub basis: Vec<(String, Vec<BasicSpec>)>,
}

/// A point or a vector of a body, in its frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BasicSpec {
    /// Name.
    pub name: String,
    /// Whether it is a vector.
    pub vector: bool,
    /// Its coordinates; a vector has unit length.
    pub at: V3,
}

/// A plot of a page: columns of the result over time, or over another column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlotSpec {
    /// Names of columns, or of elements with columns `.x`, `.y`, `.z`.
    pub y: Vec<String>,
    /// The column of the horizontal axis; omitted: time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
}

/// A function given by points: the cubic spline through them, with continuous first and second derivatives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableSpec {
    /// Points `[x, y]` in SI units, x rising.
    pub points: Vec<[f64; 2]>,
    /// Boundary conditions at the first and the last point.
    pub ends: TableEnds,
    /// Continuation beyond them; omitted: the tangent, or the last value where the slope at the ends is zero, and a run that leaves the
    /// table reports this.
    pub outside: Option<Outside>,
    /// Dimension of x, if given: the argument of a call is checked against it.
    pub x_dimension: Option<Dimension>,
    /// Dimension of y, if given: the dimension of the value of a call.
    pub y_dimension: Option<Dimension>,
}

/// Boundary conditions of a table at its first and last point.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum TableEnds {
    /// The second derivative vanishes.
    #[default]
    Natural,
    /// The first derivative vanishes.
    Flat,
    /// The first derivative has these values.
    Slopes(f64, f64),
    /// It repeats: the last point is the first one again.
    Periodic,
}

impl TableSpec {
    /// A table of points `[x, y]`, with defaults for everything else.
    pub fn new(points: Vec<[f64; 2]>) -> Self {
        Self { points, ends: TableEnds::Natural, outside: None, x_dimension: None, y_dimension: None }
    }

    /// The spline through the points.
    pub fn function(&self) -> Result<Piecewise, SplineError> {
        let (x, y): (Vec<f64>, Vec<f64>) = self.points.iter().map(|p| (p[0], p[1])).unzip();
        let ends = match self.ends {
            TableEnds::Natural => Ends::Natural,
            TableEnds::Flat => Ends::Slopes(0.0, 0.0),
            TableEnds::Slopes(a, b) => Ends::Slopes(a, b),
            TableEnds::Periodic => Ends::Periodic,
        };
        let beyond = match (self.outside, self.ends) {
            (Some(Outside::Hold), _) | (None, TableEnds::Flat) => Beyond::Hold,
            _ => Beyond::Linear,
        };
        Piecewise::spline(&x, &y, ends, beyond)
    }

    /// The function that expressions call by the name `name`.
    pub fn table(&self, name: &str) -> Result<Table, SplineError> {
        let function = Arc::new(self.function()?);
        Ok(Table { name: name.into(), function, x: self.x_dimension, y: self.y_dimension, outside: self.outside })
    }
}

/// A user-defined result column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputSpec {
    /// Its value, an expression over the state in SI units.
    pub value: StateExpr,
    /// Unit of the column, and its size in SI units; `None` leaves the value unchanged, in SI.
    pub unit: Option<(String, f64)>,
}

/// A place on a body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The body.
    pub body: String,
    /// Where on it.
    pub at: At,
}

/// Coordinates of a place or a direction on a body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum At {
    /// In the body frame.
    Body(V3),
    /// In the world, as drawn at the start.
    World(V3),
}

/// Position and orientation of a joint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Placement {
    /// One point and axis (or two) in the world as drawn; the joint coordinate is zero there.
    World {
        /// The point.
        at: V3,
        /// The axis; for a universal joint the axis fixed in the base. Joints without an axis ignore it.
        axis: V3,
        /// The axis fixed in the moving body, where it differs (universal, angle).
        axis_moving: Option<V3>,
    },
    /// Frames in each body, for starts that are only an estimate.
    Frames {
        /// Frame on the base.
        base: FrameSpec,
        /// Frame on the moving body.
        moving: FrameSpec,
    },
}

/// A joint frame in body coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameSpec {
    /// Origin.
    pub at: V3,
    /// Axis (z of the joint frame).
    pub axis: V3,
    /// Reference direction of the angle (x of the joint frame); omitted: chosen so that the coordinate is zero as drawn.
    pub x: Option<V3>,
}

/// A joint, or a coupling between two joints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum JointSpec {
    /// A joint between two bodies.
    Pair {
        /// Its type.
        kind: PairKind,
        /// Base and moving body, by name.
        bodies: [String; 2],
        /// Its position and orientation.
        placement: Placement,
    },
    /// Keeps two points at a distance.
    Distance {
        /// Point on the base.
        from: Place,
        /// Point on the moving body.
        to: Place,
        /// Length; omitted: as drawn.
        length: Option<f64>,
    },
    /// Keeps the angle between two directions.
    Angle {
        /// Base and moving body.
        bodies: [String; 2],
        /// Direction on the base and on the moving body.
        axes: [At; 2],
        /// Angle; omitted: as drawn.
        angle: Option<f64>,
    },
    /// A point of the moving body follows a curve of the base.
    Curve {
        /// Base and moving body.
        bodies: [String; 2],
        /// The curve, by name; it lies in the frame of the base.
        curve: String,
        /// The point on the moving body.
        at: At,
        /// Radius of the follower: the point keeps this distance from the curve.
        radius: f64,
        /// The side of the curve on which the follower runs; omitted: as drawn.
        side: Option<Side>,
    },
    /// Coordinate of the second joint = ratio x coordinate of the first + as drawn.
    Gear {
        /// The two joints, by name.
        joints: [String; 2],
        /// The ratio.
        ratio: f64,
        /// Body relative to which the coordinates are measured, if it is not the base of both.
        carrier: Option<String>,
    },
    /// Distance of the prismatic joint = radius x angle of the revolute + as drawn.
    Rack {
        /// Revolute and prismatic joint, by name.
        joints: [String; 2],
        /// Pitch radius.
        radius: f64,
    },
}

/// A side of a curve, looking along the order of its points and against the normal of its plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// A planar curve through points, twice continuously differentiable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveSpec {
    /// The points.
    pub points: CurvePoints,
    /// Whether it goes from the last point back to the first.
    pub closed: bool,
}

/// Points of a curve in the frame of the body it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CurvePoints {
    /// Two coordinates in a plane.
    Plane {
        /// The points.
        points: Vec<[f64; 2]>,
        /// Origin of the plane.
        at: V3,
        /// Its normal.
        normal: V3,
        /// Direction of the first coordinate; omitted: x of the frame, or y if the normal is close to x.
        x: Option<V3>,
    },
    /// Three coordinates; the points must lie in one plane.
    Space(Vec<V3>),
}

/// A bare constraint [Kissel21, section 2].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ConstraintSpec {
    /// Dot product of two directions = value(t).
    Dp1 {
        /// The directions.
        axes: [Place; 2],
        /// Right-hand side.
        value: Expr,
        /// Another direction on the first body with its right-hand side, used while its value is nearer zero.
        other: Option<(At, Expr)>,
    },
    /// Direction on the body of `from`, dotted with the vector from `from` to `to`, = value(t).
    Dp2 {
        /// Direction on the body of `from`.
        axis: At,
        /// First point.
        from: Place,
        /// Second point.
        to: Place,
        /// Right-hand side.
        value: Expr,
    },
    /// Squared distance of two points = value(t).
    D {
        /// First point.
        from: Place,
        /// Second point.
        to: Place,
        /// Right-hand side.
        value: Expr,
    },
    /// A blade that does not move sideways.
    KnifeEdge {
        /// Point of the blade.
        on: Place,
        /// Direction across the blade, on its body.
        across: At,
    },
    /// A ball that rolls on a plane of the world without slipping.
    RollingSphere {
        /// Its centre.
        on: Place,
        /// Radius.
        radius: f64,
        /// The plane.
        plane: PlaneSpec,
    },
    /// A thin disk that rolls on a plane of the world without slipping.
    RollingDisk {
        /// Its centre.
        on: Place,
        /// Its axis, on its body.
        axis: At,
        /// Radius.
        radius: f64,
        /// The plane.
        plane: PlaneSpec,
        /// Whether it is kept on the plane; a wheel whose carrier fixes its height needs no such row.
        contact: bool,
    },
    /// World direction dotted with the vector from `from` to `to` = value(t).
    Cd {
        /// World direction.
        axis: V3,
        /// First point.
        from: Place,
        /// Second point.
        to: Place,
        /// Right-hand side.
        value: Expr,
    },
}

/// A plane of the world.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaneSpec {
    /// A point of it.
    pub at: V3,
    /// Its normal, towards the rolling body.
    pub normal: V3,
}

/// A joint coordinate as a function of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DriveSpec {
    /// The joint, by name.
    pub joint: String,
    /// The quantity that is prescribed.
    pub quantity: DriveQuantity,
    /// The function of time (variable 0 of the expression) and of `inputs` (variables from 1 on).
    pub value: Expr,
    /// Inputs that a speed or an acceleration reads, by name.
    #[serde(default)]
    pub inputs: Vec<String>,
}

/// A number that is set from outside between steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InputSpec {
    /// SI unit, such as `N*m`; `1` for a plain number.
    pub unit: String,
    /// Default value.
    pub default: f64,
    /// Smallest and largest value; infinite if there is no bound.
    #[serde(with = "crate::serial::bounds")]
    pub range: [f64; 2],
}

impl Default for InputSpec {
    fn default() -> Self {
        Self { unit: "1".into(), default: 0.0, range: [f64::NEG_INFINITY, f64::INFINITY] }
    }
}

/// A user-defined state that is integrated with the motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateSpec {
    /// SI unit, such as `rad*s`; `1` for a plain number.
    pub unit: String,
    /// Its rate, per second.
    pub rate: StateExpr,
    /// Its value at the start.
    pub start: f64,
}

/// The quantity that a drive prescribes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriveQuantity {
    /// The joint's angle.
    Angle,
    /// The joint's distance.
    Distance,
    /// The rate of its angle, or of its distance where it has no angle.
    Speed,
    /// The rate of the speed.
    Acceleration,
}

pub use crate::contact::{ContactSpec, FrictionSpec as ContactFriction, LawName, Partners, SideForm, SideSpec};
pub use crate::force::{
    ActuatorSpec, BushingSpec, ForceSpec, FrictionSpec, PointForceSpec, RopeSpec, SpringSpec, StopSpec, TorqueSpec, TorsionSpec,
};

/// Law of a spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SpringLaw {
    /// `stiffness (x - rest) + damping x'`.
    Linear {
        /// Stiffness.
        stiffness: f64,
        /// Length or angle at rest.
        rest: f64,
        /// Damping.
        damping: f64,
    },
    /// An expression; [`StateVariable::Length`] and [`StateVariable::Rate`] are the element's own coordinate and rate.
    Expression(StateExpr),
}

/// Frame of a force's components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ForceFrame {
    /// World axes.
    #[default]
    World,
    /// Axes of the body it acts on.
    Body,
}

/// An expression over the state: variable `k` of `expr` is `variables[k]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StateExpr {
    /// The expression.
    pub expr: Expr,
    /// The meaning of its variables.
    pub variables: Vec<StateVariable>,
}

impl StateExpr {
    /// A constant.
    pub fn constant(x: f64) -> Self {
        Self { expr: Expr::constant(x), variables: Vec::new() }
    }
}

/// The quantity read by a variable of a [`StateExpr`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StateVariable {
    /// Time, written `t`.
    Time,
    /// The spring's own length or angle, written `length` or `angle`.
    Length,
    /// Its rate, written `rate`.
    Rate,
    /// A joint's angle, written `NAME.angle`.
    JointAngle(String),
    /// A joint's distance, written `NAME.distance`.
    JointDistance(String),
    /// The rate of a joint's angle (of its distance where it has no angle), written `NAME.speed`.
    JointSpeed(String),
    /// A component of a named point's position, written `NAME.x`.
    PointPosition(String, usize),
    /// A component of a named point's velocity, written `NAME.vx`.
    PointVelocity(String, usize),
    /// An input or a state, by its name.
    Auxiliary(String),
}

impl std::fmt::Display for StateVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let axis = |k: &usize| ["x", "y", "z"].get(*k).copied().unwrap_or("x");
        match self {
            StateVariable::Time => f.write_str("t"),
            StateVariable::Length => f.write_str("length"),
            StateVariable::Rate => f.write_str("rate"),
            StateVariable::JointAngle(n) => write!(f, "{n}.angle"),
            StateVariable::JointDistance(n) => write!(f, "{n}.distance"),
            StateVariable::JointSpeed(n) => write!(f, "{n}.speed"),
            StateVariable::PointPosition(n, k) => write!(f, "{n}.{}", axis(k)),
            StateVariable::PointVelocity(n, k) => write!(f, "{n}.v{}", axis(k)),
            StateVariable::Auxiliary(n) => f.write_str(n),
        }
    }
}

/// The settings of `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StudySpec {
    /// `kinematics` or `dynamics`; omitted: dynamics, or kinematics if the drives leave no degrees of freedom.
    pub analysis: Option<String>,
    /// Formulation by name; `auto` chooses.
    pub formulation: Option<String>,
    /// Integrator by name; `tableau` for the method below.
    pub integrator: Option<String>,
    /// A user-defined Runge-Kutta method.
    pub tableau: Option<TableauSpec>,
    /// End of the run.
    pub t_end: f64,
    /// Interval between output times.
    pub output_step: Option<f64>,
    /// Fixed step size, if wanted.
    pub step: Option<f64>,
    /// Tolerance of adaptive runs.
    pub tol: Option<f64>,
    /// Options of formulation and integrator, `key=value`.
    pub options: Vec<(String, String)>,
    /// How events are handled.
    pub events: EventSettings,
}

impl Default for StudySpec {
    fn default() -> Self {
        Self {
            analysis: None,
            formulation: None,
            integrator: None,
            tableau: None,
            t_end: 1.0,
            output_step: None,
            step: None,
            tol: None,
            options: Vec::new(),
            events: EventSettings::default(),
        }
    }
}
