//! Tables of curves.

use super::{Expect, LENGTH, Table, may, need};

/// A planar curve.
pub const CURVE: Table = Table {
    section: "curves",
    kind: None,
    title: "a curve",
    doc: "A planar curve through points, with continuous curvature: a track, a slot, a cam. It lies in the frame of the base of the joint that uses it.",
    keys: &[
        need(
            "points",
            Expect::CurvePoints,
            "points of two numbers in the `plane`, or of three numbers that lie in one plane; at least three",
        ),
        may("closed", Expect::Flag, "whether the last point is joined to the first; default: no"),
        may("plane", Expect::Plane, "the plane of points of two numbers; default: x and y of the body frame"),
    ],
};

/// The plane of a curve.
pub const PLANE: Table = Table {
    section: "plane",
    kind: None,
    title: "a plane",
    doc: "The plane of a curve, in the frame of its body.",
    keys: &[
        may("at", Expect::Vector(LENGTH), "its origin; default: that of the frame"),
        may("normal", Expect::Axis, "its normal; default: z"),
        may("x", Expect::Axis, "direction of the first number; default: x of the frame, or y if the normal is close to x"),
    ],
};
