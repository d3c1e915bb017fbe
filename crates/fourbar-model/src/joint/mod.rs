//! Joints: one file per type, each with three descriptions that the tests compare.
//!
//! (a) the residual, generic in its scalar, written from the geometry; (b) the rows, composed of the primitives of
//! [`crate::coordinate`] as in [Kissel21, Table 1]; (c) the motion subspace. (b) is the derivative of (a), (b) times (c)
//! is zero, and rows plus freedoms make six.
//!
//! A joint connects frame F on its base body (slot 0) with frame M on its moving body (slot 1); z is the axis.
//!
//! Further properties that formulations and analyses need (joint coordinates, shared points and vectors, looser joints, words and keys of
//! files) are in the same file; [`reading`] defines their types. A new joint needs a file and an entry in the list below.

mod angle;
mod cylindrical;
mod distance;
mod fixed;
mod planar;
mod point_on_curve;
mod point_on_line;
mod point_on_plane;
mod prismatic;
pub mod reading;
mod revolute;
mod screw;
mod spherical;
mod universal;

use crate::constraint::Rows;
use crate::coordinate::{Angle, Coordinate};
use crate::expr::Dimension;
use crate::model::JointCoordinate;
use crate::state::Pose;
use fourbar_math::{Scalar, so3};
use nalgebra::{Matrix3, Vector3};
pub use reading::*;

/// A joint frame on a body: origin relative to the centre of mass and axes as columns, in body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Origin.
    pub s: Vector3<f64>,
    /// Axes x, y, z as columns.
    pub R: Matrix3<f64>,
}

impl Frame {
    /// Axis `k` (0, 1, 2) in body axes.
    pub fn axis(&self, k: usize) -> Vector3<f64> {
        self.R.column(k).into()
    }
}

/// A joint frame in the world, for any scalar.
#[derive(Clone, Copy, Debug)]
pub struct FrameOf<S: Scalar> {
    /// Origin.
    pub p: Vector3<S>,
    /// Axes x, y, z.
    pub axes: [Vector3<S>; 3],
}

/// The two frames of a joint and further data of its rows.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Frame on the base.
    pub F: Frame,
    /// Frame on the moving body.
    pub M: Frame,
    /// Characteristic length: rotational rows are multiplied by it, so that every row is in metres.
    pub L: f64,
    /// Index of the counted angle, if the joint has one.
    pub memory: usize,
}

impl Pair {
    /// The points of F and M coincide: three CD rows in world axes.
    pub fn coincident(&self) -> Rows {
        Rows::Point { ij: [0, 1], s_i: self.F.s, s_j: self.M.s }
    }
    /// Axis `a` of F is perpendicular to axis `b` of M: a DP1 row.
    pub fn perpendicular(&self, a: usize, b: usize) -> Rows {
        Rows::one(self.L, Coordinate::Dp1 { ij: [0, 1], a_i: self.F.axis(a), a_j: self.M.axis(b) }, 0.0)
    }
    /// The origin of M has no component along axis `a` of F: a DP2 row.
    pub fn within(&self, a: usize) -> Rows {
        Rows::one(1.0, self.along(a), 0.0)
    }
    /// Component of the origin of M along axis `a` of F.
    pub fn along(&self, a: usize) -> Coordinate {
        Coordinate::Dp2 { ij: [0, 1], a_i: self.F.axis(a), s_i: self.F.s, s_j: self.M.s }
    }
    /// Keeps the angle between a direction of the base and one of the moving body as at two poses: a DP1 row.
    pub fn as_drawn(&self, a_i: Vector3<f64>, a_j: Vector3<f64>, [qi, qj]: [&Pose; 2]) -> Rows {
        let y = Coordinate::Dp1 { ij: [0, 1], a_i, a_j };
        let here = y.value(qi, qj, &[]);
        Rows::one(self.L, y, self.L * here)
    }
    /// The counted angle about z.
    pub fn turn(&self) -> Coordinate {
        Coordinate::Angle(Angle { ij: [0, 1], F: self.F.R, M: self.M.R, memory: self.memory })
    }
}

/// Relative motion of M against F, in F: linear velocity of the origin of M, angular velocity.
pub type Freedom = [Vector3<f64>; 2];

/// Which axes of F and M must point the same way, not only be parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alignment {
    /// No condition.
    None,
    /// z with z.
    Axis,
    /// z with z and x with x.
    Full,
}

/// What a joint type provides.
pub(crate) trait JointType {
    /// Its words in files and messages.
    const WORDS: Words;

    /// Rows composed of the primitives.
    fn rows(&self, pair: &Pair) -> Vec<Rows>;
    /// The same constraints from the geometry; rotational ones without the factor L.
    fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>);
    /// Free relative motions at a relative pose (`p`, `R` of M in F) that satisfies the constraints.
    fn freedoms(&self, p: &Vector3<f64>, R: &Matrix3<f64>) -> Vec<Freedom>;
    /// Axes that must not flip.
    fn alignment(&self) -> Alignment;
    /// Its distance coordinate, if it has one.
    fn distance(&self, pair: &Pair) -> Coordinate {
        pair.along(2)
    }
    /// The quantity bounded by a limit of the joint itself: the square of a distance, or a height.
    fn own_measure(&self, pair: &Pair) -> Coordinate {
        pair.along(2)
    }
    /// Range of the distance in which it is defined, if limited; beyond it a run stops.
    fn range(&self) -> Option<[f64; 2]> {
        None
    }
    /// The line it follows, for pictures.
    fn drawn(&self) -> Option<Drawn> {
        None
    }
    /// Points and vectors that its bodies share in natural coordinates.
    fn shared(&self) -> Shared;
    /// Its possible replacements if it is redundant.
    fn looser(&self) -> Vec<Looser>;
    /// Its properties in a planar mechanism; `None` if it is not planar.
    fn in_plane(&self) -> Option<InPlane> {
        None
    }
    /// Rows that, together with its coordinates, fix it at two poses.
    fn hold(&self, _pair: &Pair, _q: [&Pose; 2], _out: &mut Vec<Rows>) {}
    /// The residual without the row that ties the distance to the angle.
    fn without_thread<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
        self.residual(F, M, out);
    }
}

macro_rules! joint_kinds {
    ($($(#[$doc:meta])* $variant:ident ( $module:ident :: $type:ident ) = $name:literal, angle $angle:literal, distance $distance:literal
        $(, pair $form:ident $({ $($field:ident),* })?)?;)*) => {
        /// The type of a joint with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum JointKind { $($(#[$doc])* $variant($module::$type),)* }

        impl JointKind {
            /// Name in files, whether it has an angle, whether it has a distance; in the order of the documentation.
            pub const ALL: &'static [(&'static str, bool, bool)] = &[$(($name, $angle, $distance),)*];
            /// Name and words of files, in the order of the documentation.
            pub const WORDS: &'static [(&'static str, Words)] = &[$(($name, <$module::$type as JointType>::WORDS),)*];
            /// Its name in files.
            pub fn name(&self) -> &'static str {
                match self { $(JointKind::$variant(_) => $name,)* }
            }
            /// Whether it has an angle coordinate.
            pub fn has_angle(&self) -> bool {
                match self { $(JointKind::$variant(_) => $angle,)* }
            }
            /// Whether it has a distance coordinate.
            pub fn has_distance(&self) -> bool {
                match self { $(JointKind::$variant(_) => $distance,)* }
            }
            /// Constraint rows.
            pub fn rows(&self, pair: &Pair) -> Vec<Rows> {
                match self { $(JointKind::$variant(j) => j.rows(pair),)* }
            }
            /// Residual for any scalar, rotational entries without the characteristic length.
            pub fn residual<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
                match self { $(JointKind::$variant(j) => j.residual(F, M, out),)* }
            }
            /// Free relative motions at a relative pose that satisfies the constraints.
            pub fn freedoms(&self, p: &Vector3<f64>, R: &Matrix3<f64>) -> Vec<Freedom> {
                match self { $(JointKind::$variant(j) => j.freedoms(p, R),)* }
            }
            /// Axes that must not flip.
            pub fn alignment(&self) -> Alignment {
                match self { $(JointKind::$variant(j) => j.alignment(),)* }
            }
            /// Its distance coordinate, if it has one.
            pub fn distance(&self, pair: &Pair) -> Coordinate {
                match self { $(JointKind::$variant(j) => j.distance(pair),)* }
            }
            /// The quantity bounded by a limit of the joint itself: the square of a distance, or a height.
            pub fn own_measure(&self, pair: &Pair) -> Coordinate {
                match self { $(JointKind::$variant(j) => j.own_measure(pair),)* }
            }
            /// Range of the distance in which it is defined, if limited; beyond it a run stops.
            pub fn range(&self) -> Option<[f64; 2]> {
                match self { $(JointKind::$variant(j) => j.range(),)* }
            }
            /// The line it follows, for pictures.
            pub fn drawn(&self) -> Option<Drawn> {
                match self { $(JointKind::$variant(j) => j.drawn(),)* }
            }
            /// Points and vectors that its bodies share in natural coordinates.
            pub fn shared(&self) -> Shared {
                match self { $(JointKind::$variant(j) => j.shared(),)* }
            }
            /// Its possible replacements if it is redundant.
            pub fn looser(&self) -> Vec<Looser> {
                match self { $(JointKind::$variant(j) => j.looser(),)* }
            }
            /// Its properties in a planar mechanism; `None` if it is not planar.
            pub fn in_plane(&self) -> Option<InPlane> {
                match self { $(JointKind::$variant(j) => j.in_plane(),)* }
            }
            /// Rows that, together with its coordinates, fix it at two poses.
            pub fn hold(&self, pair: &Pair, q: [&Pose; 2], out: &mut Vec<Rows>) {
                match self { $(JointKind::$variant(j) => j.hold(pair, q, out),)* }
            }
            /// The residual without the row that ties the distance to the angle.
            pub fn without_thread<S: Scalar>(&self, F: &FrameOf<S>, M: &FrameOf<S>, out: &mut Vec<S>) {
                match self { $(JointKind::$variant(j) => j.without_thread(F, M, out),)* }
            }
        }

        /// Joint types at a common point of two bodies, as specified by the author.
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub enum PairKind {
            $($(
                #[doc = concat!("`", $name, "`, placed by form `", stringify!($form), "`.")]
                #[allow(missing_docs)]
                $variant $({ $($field: f64),* })?,
            )?)*
        }

        impl PairKind {
            /// Its name in files.
            pub fn name(&self) -> &'static str {
                match self { $($(PairKind::$variant { .. } => { let _ = PairForm::$form; $name })?)* }
            }
            /// How its position is specified.
            pub fn form(&self) -> PairForm {
                match self { $($(PairKind::$variant { .. } => PairForm::$form,)?)* }
            }
            /// How the position of a type is specified, by its name in files.
            pub fn form_of(name: &str) -> Option<PairForm> {
                match name {
                    $($($name => Some(PairForm::$form),)?)*
                    _ => None,
                }
            }
            /// A type by its name in files, with its parameters by their names.
            pub fn read(name: &str, number: impl Fn(&str) -> Option<f64>) -> Option<Self> {
                let _ = &number;
                match name {
                    $($($name => {
                        let _ = PairForm::$form;
                        Some(PairKind::$variant $({ $($field: number(stringify!($field))?),* })?)
                    })?)*
                    _ => None,
                }
            }
            /// Its parameters with their names in files.
            pub fn numbers(&self) -> Vec<(&'static str, f64)> {
                match *self {
                    $($(PairKind::$variant $({ $($field),* })? => {
                        let _ = PairForm::$form;
                        vec![$($((stringify!($field), $field)),*)?]
                    })?)*
                }
            }
        }

        impl From<PairKind> for JointKind {
            fn from(kind: PairKind) -> Self {
                match kind {
                    $($(PairKind::$variant $({ $($field),* })? => {
                        let _ = PairForm::$form;
                        JointKind::$variant($module::$type $({ $($field),* })?)
                    })?)*
                }
            }
        }

        /// Joint coordinates, for joints that are in a tree.
        impl JointKind {
            /// Its coordinates and speeds; `None` for joints that always close a loop.
            pub fn tree_shape(&self) -> Option<&'static TreeShape> {
                match self { $(JointKind::$variant(_) => <$module::$type as TreeJoint>::SHAPE,)* }
            }
            /// Rotation and origin of M in F.
            #[inline]
            pub fn relative(&self, q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
                match self { $(JointKind::$variant(j) => j.relative(q),)* }
            }
            /// Coordinates of a relative pose; a counted angle on the turn nearest to `angle`.
            pub fn coordinates(&self, R: &Matrix3<f64>, p: &Vector3<f64>, angle: f64, q: &mut [f64]) {
                match self { $(JointKind::$variant(j) => j.coordinates(R, p, angle, q),)* }
            }
            /// Speeds of a relative motion in world axes: velocity `v` of the origin of M against F, angular velocity `w`.
            pub fn speeds(&self, q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
                match self { $(JointKind::$variant(j) => j.speeds(q, F, M, v, w, u),)* }
            }
            /// Columns by number, from the axes of F and M in the world.
            #[inline]
            pub fn columns(&self, q: &[f64], F: &Matrix3<f64>, M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
                match self { $(JointKind::$variant(j) => j.columns(q, F, M, put),)* }
            }
            /// Second derivative of the origin of M in F by the first coordinate, for joints whose first column changes direction.
            pub fn bend(&self, q: &[f64]) -> Vector3<f64> {
                match self { $(JointKind::$variant(j) => j.bend(q),)* }
            }
            /// The column of a coordinate, and the factor from the coordinate to the column.
            pub fn driven(&self, which: JointCoordinate) -> Option<(usize, f64)> {
                match self { $(JointKind::$variant(j) => j.driven(which),)* }
            }
        }
    };
}

joint_kinds! {
    /// A hinge.
    Revolute(revolute::Revolute) = "revolute", angle true, distance false, pair Axial;
    /// A slide without rotation.
    Prismatic(prismatic::Prismatic) = "prismatic", angle false, distance true, pair Axial;
    /// Slides along and turns about one axis.
    Cylindrical(cylindrical::Cylindrical) = "cylindrical", angle true, distance true, pair Axial;
    /// Two surfaces on each other.
    Planar(planar::Planar) = "planar", angle true, distance false, pair Axial;
    /// A pin in a slot.
    PointOnLine(point_on_line::PointOnLine) = "point-on-line", angle false, distance true, pair Axial;
    /// A point on a table.
    PointOnPlane(point_on_plane::PointOnPlane) = "point-on-plane", angle false, distance false, pair Axial;
    /// Slides in proportion to its turn.
    Screw(screw::Screw) = "screw", angle true, distance true, pair Axial { lead };
    /// A ball.
    Spherical(spherical::Spherical) = "spherical", angle false, distance false, pair Pointed;
    /// A weld.
    Fixed(fixed::Fixed) = "fixed", angle false, distance false, pair Pointed;
    /// A cross of two axes.
    Universal(universal::Universal) = "universal", angle false, distance false, pair Crossed;
    /// A point that follows a curve.
    PointOnCurve(point_on_curve::PointOnCurve) = "point-on-curve", angle false, distance true;
    /// A massless rod between two points.
    Distance(distance::Distance) = "distance", angle false, distance false;
    /// Two directions at a constant angle.
    Angle(angle::ConstantAngle) = "angle", angle false, distance false;
}

pub use angle::ConstantAngle;
pub use cylindrical::Cylindrical;
pub use distance::Distance;
pub use fixed::Fixed;
pub use planar::Planar;
pub use point_on_curve::PointOnCurve;
pub use point_on_line::PointOnLine;
pub use point_on_plane::PointOnPlane;
pub use prismatic::Prismatic;
pub use revolute::Revolute;
pub use screw::Screw;
pub use spherical::Spherical;
pub use universal::Universal;

/// Pure translation along `d`.
pub(crate) fn slide(d: Vector3<f64>) -> Freedom {
    [d, Vector3::zeros()]
}

/// Pure rotation about `e` through the origin of M.
pub(crate) fn turn(e: Vector3<f64>) -> Freedom {
    [Vector3::zeros(), e]
}

/// Rotations about all three axes.
pub(crate) fn turns() -> [Freedom; 3] {
    [turn(Vector3::x()), turn(Vector3::y()), turn(Vector3::z())]
}
