//! Data of a joint for formulations and analyses in addition to its rows, defined in the file of each joint.

use super::JointKind;
use crate::expr::Dimension;
use crate::model::JointCoordinate;
use fourbar_math::elementary;
use fourbar_math::so3;
use nalgebra::{Matrix3, Vector2, Vector3};
use std::f64::consts::PI;

/// The words for a joint in files and messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Words {
    /// Its name in messages: "a revolute joint".
    pub title: &'static str,
    /// One line about it.
    pub doc: &'static str,
    /// Additional numbers in the file, for joints at a common point of two bodies.
    pub numbers: &'static [Number],
}

/// A numeric parameter of a joint in files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// Its key.
    pub key: &'static str,
    /// Its dimension.
    pub dimension: Dimension,
    /// One line about it.
    pub doc: &'static str,
}

/// How the position of a joint at a common point of two bodies is specified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairForm {
    /// By a point and an axis.
    Axial,
    /// By a point.
    Pointed,
    /// By a point and an axis on each body.
    Crossed,
}

/// A line that the moving origin follows in the plane x, y of the base frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Points along it, close enough to be joined by straight lines.
    pub points: Vec<Vector2<f64>>,
    /// Whether it continues from the last point to the first.
    pub closed: bool,
    /// Radius of the follower beside it.
    pub radius: f64,
}

/// Required direction of the axis of a joint relative to a normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stand {
    /// In any direction.
    Anyhow,
    /// Across the normal.
    Across,
    /// Along the normal.
    Along,
    /// In no direction.
    #[default]
    Never,
}

impl Stand {
    /// Whether a unit axis with this component along the normal satisfies the requirement.
    pub fn holds(self, along: f64) -> bool {
        match self {
            Stand::Anyhow => true,
            Stand::Across => along.abs() < 1e-9,
            Stand::Along => along.abs() > 1.0 - 1e-9,
            Stand::Never => false,
        }
    }
}

/// A joint in a planar mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InPlane {
    /// Direction of its axis relative to the normal of the plane.
    pub axis: Stand,
    /// Rows that act in the plane.
    pub rows: usize,
}

/// Whether natural coordinates treat the bodies of a joint as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Rigid {
    /// They are separate.
    #[default]
    No,
    /// They rotate together.
    Turning,
    /// They are one part.
    Welded,
}

/// Points that natural coordinates introduce for a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SharedPoints {
    /// None.
    #[default]
    None,
    /// One on both bodies.
    Joined,
    /// One on both bodies, and the axis of each.
    Crossed,
    /// One on each body, the second on the line of the first.
    Line,
    /// One on each body, the second on the plane of the first.
    Plane,
    /// One on each body.
    Apart,
}

/// An equation that shared points and vectors do not satisfy by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum SharedEquation {
    /// None.
    #[default]
    None,
    /// The dot product of the two axes.
    Dot {
        /// Name of the equation in reports.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// The distance of the two points, metres.
    Length(f64),
}

/// The description of a joint for natural coordinates: what its bodies share.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Shared {
    /// Whether the bodies are one.
    pub rigid: Rigid,
    /// Whether both bodies share the axis.
    pub axis: bool,
    /// Its points.
    pub points: SharedPoints,
    /// The remaining equation.
    pub equation: SharedEquation,
    /// Metres per radian, where the distance follows the angle.
    pub thread: Option<f64>,
    /// For base and moving body: whether it is free to rotate about its point in every direction.
    pub loose: [bool; 2],
    /// Required direction of its axis relative to a direction along which the moving body keeps its height above the base.
    pub level: Stand,
    /// The reason for which natural coordinates do not support it.
    pub refused: Option<&'static str>,
}

/// A possible replacement of a joint that removes redundancy.
#[derive(Clone, Debug)]
pub struct Looser {
    /// The type, or `None`.
    pub to: Option<JointKind>,
    /// Rows it loses.
    pub rows: usize,
    /// How unusual the replacement is; the smallest price is tried first.
    pub price: usize,
    /// Axis of the moving frame that becomes its z axis.
    pub z: usize,
}

impl Looser {
    /// Another type.
    pub fn to(kind: JointKind, rows: usize, price: usize) -> Self {
        Self { to: Some(kind), rows, price, z: 2 }
    }
    /// No joint at all.
    pub fn gone(rows: usize, price: usize) -> Self {
        Self { to: None, rows, price, z: 2 }
    }
}

/// Coordinates and speeds of a joint that is in a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeShape {
    /// Columns of the groups, in order from base to moving body.
    pub groups: &'static [usize],
    /// Names of the columns in reports.
    pub names: &'static [&'static str],
    /// How many columns are translations; they come first.
    pub slides: usize,
    /// Index of the quaternion in the coordinates and of its rates in the speeds, if there is one.
    pub quaternion: Option<(usize, usize)>,
    /// Whether it is only a rotation about z.
    pub hinge: bool,
    /// Whether its first column is a translation whose direction changes with the first coordinate.
    pub bends: bool,
}

impl TreeShape {
    /// No coordinate at all.
    pub const NONE: TreeShape = TreeShape { groups: &[], names: &[], slides: 0, quaternion: None, hinge: false, bends: false };

    /// Number of speeds.
    pub fn speeds(&self) -> usize {
        self.groups.iter().sum()
    }
}

/// A column of a tree joint, world axes; turns are about lines through the origin of M.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Along a unit vector.
    Slide(Vector3<f64>),
    /// About a unit vector.
    Turn(Vector3<f64>),
    /// About a unit vector and along it, metres per radian.
    Helix(Vector3<f64>, f64),
}

/// The description of a joint in joint coordinates: relative pose from coordinates and back, speeds, columns. Coordinates are those of the
/// file (angle from x of F to x of M about z, distance along z).
pub(crate) trait TreeJoint {
    /// Its coordinates; `None` for joints that always close a loop.
    const SHAPE: Option<&'static TreeShape> = None;

    /// Rotation and origin of M in F.
    fn relative(&self, _q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (Matrix3::identity(), Vector3::zeros())
    }
    /// Coordinates of a relative pose; a counted angle on the turn nearest to `angle`.
    fn coordinates(&self, _R: &Matrix3<f64>, _p: &Vector3<f64>, _angle: f64, _q: &mut [f64]) {}
    /// Speeds of a relative motion in world axes: velocity `v` of the origin of M against F, angular velocity `w`, at coordinates `q`.
    fn speeds(&self, _q: &[f64], _F: &Matrix3<f64>, _M: &Matrix3<f64>, _v: &Vector3<f64>, _w: &Vector3<f64>, _u: &mut [f64]) {}
    /// Columns by number, from the axes of F and M in the world.
    fn columns(&self, _q: &[f64], _F: &Matrix3<f64>, _M: &Matrix3<f64>, _put: &mut impl FnMut(usize, Motion)) {}
    /// Second derivative of the origin of M in F by the first coordinate, if that column is curved.
    fn bend(&self, _q: &[f64]) -> Vector3<f64> {
        Vector3::zeros()
    }
    /// The column of a coordinate, and the factor from the coordinate to the column.
    fn driven(&self, _which: JointCoordinate) -> Option<(usize, f64)> {
        None
    }
}

pub(crate) fn about_z(angle: f64) -> Matrix3<f64> {
    let (s, c) = elementary::sin_cos(angle);
    Matrix3::new(c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0)
}

/// Angle of a rotation about z, on the turn nearest to `last`.
pub(crate) fn z_angle(R: &Matrix3<f64>, last: f64) -> f64 {
    let a = elementary::atan2(R[(1, 0)] - R[(0, 1)], R[(0, 0)] + R[(1, 1)]);
    a + 2.0 * PI * ((last - a) / (2.0 * PI)).round()
}

/// The absence of a joint: position in F, then a unit quaternion of M against F.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Free;

impl Free {
    /// Its coordinates.
    pub const SHAPE: TreeShape = TreeShape {
        groups: &[3, 3],
        names: &["x", "y", "z", "turn x", "turn y", "turn z"],
        slides: 3,
        quaternion: Some((3, 3)),
        hinge: false,
        bends: false,
    };

    /// Rotation and origin of M in F.
    #[inline]
    pub fn relative(q: &[f64]) -> (Matrix3<f64>, Vector3<f64>) {
        (so3::from_quaternion(&[q[3], q[4], q[5], q[6]]), Vector3::new(q[0], q[1], q[2]))
    }
    /// Coordinates of a relative pose.
    pub fn coordinates(R: &Matrix3<f64>, p: &Vector3<f64>, q: &mut [f64]) {
        q[..3].copy_from_slice(p.as_slice());
        q[3..7].copy_from_slice(&so3::quaternion(R));
    }
    /// Speeds of a relative motion in world axes.
    pub fn speeds(F: &Matrix3<f64>, M: &Matrix3<f64>, v: &Vector3<f64>, w: &Vector3<f64>, u: &mut [f64]) {
        u[..3].copy_from_slice(F.tr_mul(v).as_slice());
        u[3..6].copy_from_slice(M.tr_mul(w).as_slice());
    }
    /// Columns by number.
    #[inline]
    pub fn columns(F: &Matrix3<f64>, M: &Matrix3<f64>, put: &mut impl FnMut(usize, Motion)) {
        for k in 0..3 {
            put(k, Motion::Slide(F.column(k).into()));
            put(3 + k, Motion::Turn(M.column(k).into()));
        }
    }
}
