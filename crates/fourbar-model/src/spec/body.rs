//! Bodies as specified by the author: mass, inertia, position and appearance.

use super::V3;
use serde::{Deserialize, Serialize};

/// A rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BodySpec {
    /// Mass.
    pub mass: f64,
    /// Inertia about the centre of mass, in body axes.
    pub inertia: Inertia,
    /// Origin of the body frame in the world at the start.
    pub at: V3,
    /// Orientation of the body frame in the world at the start.
    pub orientation: Orientation,
    /// Centre of mass in the body frame.
    pub com: V3,
    /// Velocity of the centre of mass, world.
    pub velocity: V3,
    /// Angular velocity, world.
    pub omega: V3,
    /// Shapes to draw; empty means made from the joints.
    pub shapes: Vec<Shape>,
}

impl Default for BodySpec {
    fn default() -> Self {
        Self {
            mass: 1.0,
            inertia: Inertia::Principal([1.0; 3]),
            at: [0.0; 3],
            orientation: Orientation::World,
            com: [0.0; 3],
            velocity: [0.0; 3],
            omega: [0.0; 3],
            shapes: Vec::new(),
        }
    }
}

/// Rotational inertia about the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Inertia {
    /// Principal values along the body axes.
    Principal(V3),
    /// Tensor entries xx, yy, zz, xy, xz, yz (the entries of the matrix, not the positive products).
    Tensor([f64; 6]),
    /// A point mass.
    Point,
}

/// Orientation of a frame relative to another one.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize, Deserialize)]
pub enum Orientation {
    /// Parallel to the world.
    #[default]
    World,
    /// A turn about an axis.
    AxisAngle {
        /// Axis of the turn, any length but zero.
        axis: V3,
        /// Angle in radians.
        angle: f64,
    },
    /// Quaternion w, x, y, z, any length but zero.
    Quaternion([f64; 4]),
    /// Rotation matrix, rows.
    Matrix([V3; 3]),
    /// World directions of the body's x and (about) y axes.
    Axes {
        /// Direction of x.
        x: V3,
        /// A direction in the half-plane of y.
        y: V3,
    },
    /// Euler angles: about z, the new x, the new z.
    Zxz(V3),
}

/// A shape to draw, in the body frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Shape {
    /// A box by its full size.
    Box {
        /// Edge lengths.
        size: V3,
        /// Centre.
        at: V3,
    },
    /// A cylinder between two points.
    Cylinder {
        /// Centre of one end.
        from: V3,
        /// Centre of the other.
        to: V3,
        /// Radius.
        radius: f64,
    },
    /// A ball.
    Sphere {
        /// Centre.
        at: V3,
        /// Radius.
        radius: f64,
    },
    /// A rod with round ends.
    Rod {
        /// One end.
        from: V3,
        /// The other.
        to: V3,
        /// Radius.
        radius: f64,
    },
    /// A flat plate spanned by points.
    Plate {
        /// Corners in order.
        points: Vec<V3>,
        /// Thickness.
        thickness: f64,
    },
    /// A mesh file beside the model.
    Mesh {
        /// Path relative to the model's folder.
        file: String,
        /// Factor from file units to metres.
        scale: f64,
        /// Origin of the mesh in the body frame.
        #[serde(default)]
        at: V3,
        /// Orientation of the mesh in the body frame.
        #[serde(default)]
        orientation: Orientation,
    },
}
