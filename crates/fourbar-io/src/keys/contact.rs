//! Tables of contacts.

use super::{Expect, LENGTH, PLAIN, Table, may};
use fourbar::expr::Dimension;
use fourbar::spec::LawName;

const SPEED: Option<Dimension> = Some(Dimension::SPEED);

/// A contact.
pub const CONTACT: Table = Table {
    section: "contacts",
    kind: None,
    title: "a contact",
    doc: "Bodies that may touch: rigid, or with `stiffness` compliant. Needs `between` or `among`.",
    keys: &[
        may("between", Expect::Sides, "the two sides; sides with several bodies touch in all pairs"),
        may("among", Expect::Names("body"), "balls that touch each other: names of bodies, in which `*` matches any characters"),
        may("at", Expect::Vector(LENGTH), "with `among`: centre of the ball in each body; default: the origin of its frame"),
        may("radius", Expect::Number(LENGTH), "with `among`: radius of the balls"),
        may(
            "restitution",
            Expect::Number(PLAIN),
            "ratio of the separation speed to the approach speed, 0 to 1; default: 0 if rigid, 0.3 if compliant",
        ),
        may("friction", Expect::Friction, "dry friction: its coefficient, or `{coulomb, static, speed}`; default: none"),
        may("stiffness", Expect::Number(None), "makes it compliant: force at an overlap of 1 m, N/m^exponent"),
        may("exponent", Expect::Number(PLAIN), "exponent of the overlap; default: 1.5"),
        may("law", Expect::Choice(LawName::WORDS), "how damping follows from restitution; default: exact"),
        may(
            "speed",
            Expect::Number(SPEED),
            "approach speed at which the restitution applies; default: that of a free fall through the drawn gap, or 1 m/s",
        ),
    ],
};

/// One side of a contact.
pub const SIDE: Table = Table {
    section: "side",
    kind: None,
    title: "a side of a contact",
    doc: "The shape with which a body takes part in a contact, in its own frame: a ball or point (`at`, `radius`), a rim (`axis`, `radius`), `corners`, a `box`, a convex `polygon`, a `plane` or a `curve`.",
    keys: &[
        may("body", Expect::Name("body"), "the body; `*` in its name matches any characters; default with `plane`: ground"),
        may("bodies", Expect::Names("body"), "several bodies instead"),
        may("at", Expect::Vector(LENGTH), "centre of ball, rim or box; default: the origin of the frame"),
        may("radius", Expect::Number(LENGTH), "radius of ball or rim, or of round corners; default: 0, a point"),
        may("axis", Expect::Axis, "axis of a thin disk, whose rim touches"),
        may("corners", Expect::Points, "corners that may touch"),
        may("box", Expect::Vector(LENGTH), "edge lengths of a box, whose corners touch"),
        may("polygon", Expect::PointList, "corners of a convex polygon in one plane, in order"),
        may("plane", Expect::SidePlane, "a plane with the other body in front of it"),
        may("curve", Expect::Name("curve"), "a curve in the frame of the body"),
        may("side", Expect::Choice(&["left", "right"]), "side of the curve on which the other body is; default: as drawn"),
        may(
            "depth",
            Expect::Number(LENGTH),
            "overlap with the curve beyond which the other body is considered to be elsewhere; default: none if closed, a small part of its length if open",
        ),
        may("inside", Expect::Flag, "whether the other body is inside the ball or box; default: no"),
    ],
};

/// The plane of a side.
pub const SIDE_PLANE: Table = Table {
    section: "contact plane",
    kind: None,
    title: "the plane of a contact",
    doc: "A plane on a body.",
    keys: &[
        may("body", Expect::Name("body"), "its body; default: ground"),
        may("at", Expect::Vector(LENGTH), "a point of it; default: the origin of the frame"),
        may("normal", Expect::Axis, "its normal, away from the body; default: z"),
    ],
};

/// Dry friction of a contact.
pub const CONTACT_FRICTION: Table = Table {
    section: "contact friction",
    kind: None,
    title: "friction of a contact",
    doc: "Dry friction of a contact.",
    keys: &[
        may("coulomb", Expect::Number(PLAIN), "coefficient while sliding; default: 0"),
        may("static", Expect::Number(PLAIN), "static coefficient; default: the same"),
        may("speed", Expect::Number(SPEED), "speed below which the force of a compliant contact is smoothed; default: 1 mm/s"),
    ],
};
