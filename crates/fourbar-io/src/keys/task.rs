//! Keys of tasks: paths and motors.

use super::{Expect, LENGTH, PLAIN, TIME, Table, may, need};
use fourbar::expr::Dimension;

/// A path of a point.
pub const PATH: Table = Table {
    section: "paths",
    kind: None,
    title: "a path",
    doc: "World coordinates of a point over time, for `fourbar inverse`: functions of `t`, or points to pass through.",
    keys: &[
        need("point", Expect::Name("point"), "the point"),
        may("x", Expect::TimeFunction(LENGTH), "its coordinate x in the world; default: free"),
        may("y", Expect::TimeFunction(LENGTH), "its coordinate y; default: free"),
        may("z", Expect::TimeFunction(LENGTH), "its coordinate z; default: free"),
        may("through", Expect::PointList, "instead of functions: at least three points in the world, joined by a smooth curve"),
        may("closed", Expect::Flag, "whether the curve continues from the last point to the first; default: false"),
        may(
            "profile",
            Expect::Choice(&["minimum-jerk", "trapezoid", "cycloid"]),
            "rest-to-rest motion profile along the curve; default: minimum-jerk",
        ),
        may("start", Expect::Number(TIME), "start of the motion through the points; default: 0"),
        may("duration", Expect::Number(TIME), "duration; default: until the end of the study"),
        may(
            "keep",
            Expect::Names("joint"),
            "joints that keep their position, if the mechanism has more degrees of freedom than the path prescribes",
        ),
    ],
};

/// A motor.
pub const MOTOR: Table = Table {
    section: "motors",
    kind: None,
    title: "a motor",
    doc: "A motor on a joint, for `fourbar inverse` and `fourbar report`.",
    keys: &[
        need("joint", Expect::Name("joint"), "the driven joint"),
        may("rated", Expect::Number(None), "continuous effort at the joint: torque or force"),
        may("limit", Expect::Number(None), "largest effort at the joint"),
        may("inertia", Expect::Number(Some(Dimension::INERTIA)), "inertia of its rotor about its own axis; default: 0"),
        may("ratio", Expect::Number(None), "angle of the rotor over the coordinate of the joint; default: 1"),
        may("efficiency", Expect::Number(PLAIN), "fraction of the power that the gear transmits; default: 1"),
        may(
            "weight",
            Expect::Number(None),
            "if motors share a load, the sum of the squares of weight times effort is minimised; default: one over `rated`, or 1",
        ),
    ],
};
