//! Tables of bodies and of the geometry on them: solids, shapes, orientations, places, frames.

use super::{Expect, LENGTH, PLAIN, Table, may, need};
use crate::reader::geometry::{self, Mass};
use crate::reader::{Path, Reader, Record};
use fourbar::expr::Dimension;
use fourbar::spec::Shape;

/// A rigid body.
pub const BODY: Table = Table {
    section: "bodies",
    kind: None,
    title: "a body",
    doc: "A rigid body. It needs `mass` and `inertia`, or a `solid`.",
    keys: &[
        may("mass", Expect::Number(Some(Dimension::MASS)), "mass"),
        may(
            "inertia",
            Expect::Inertia,
            "about the centre of mass, in body axes: principal values, or [xx, yy, zz, xy, xz, yz], or 0 for a point mass; xy, xz and yz are entries of the tensor: xy is minus the integral of x*y dm",
        ),
        may("solid", Expect::Solid, "solids with density that define mass, centre of mass and inertia; drawn if `shape` is omitted"),
        may("at", Expect::Vector(LENGTH), "origin of the body frame in the world, at the start; default: the world's origin"),
        may("orientation", Expect::Orientation, "orientation of the body frame in the world, at the start; default: that of the world"),
        may("com", Expect::Vector(LENGTH), "centre of mass in the body frame; default: its origin"),
        may("velocity", Expect::Vector(Some(Dimension::SPEED)), "velocity of the centre of mass, in the world; default: zero"),
        may("omega", Expect::Vector(Some(Dimension::RATE)), "angular velocity, in the world; default: zero"),
        may("shape", Expect::Shapes, "shapes to draw; default: derived from the joints"),
    ],
};

/// A solid with density.
pub(crate) struct SolidType {
    pub table: Table,
    pub build: fn(&mut Reader<'_>, &Record, &Path<'_>) -> Option<Mass>,
}

const fn solid(
    kind: &'static str,
    title: &'static str,
    doc: &'static str,
    keys: &'static [super::Key],
    build: fn(&mut Reader<'_>, &Record, &Path<'_>) -> Option<Mass>,
) -> SolidType {
    SolidType { table: Table { section: "solid", kind: Some(kind), title, doc, keys }, build }
}

const DENSITY: super::Key = need("density", Expect::Number(Some(Dimension::DENSITY)), "mass per volume");
const FROM: super::Key = need("from", Expect::Vector(LENGTH), "centre of one end, in the body frame");
const TO: super::Key = need("to", Expect::Vector(LENGTH), "centre of the other end");
const RADIUS: super::Key = need("radius", Expect::Number(LENGTH), "radius");
const CENTRE: super::Key = may("at", Expect::Vector(LENGTH), "centre, in the body frame; default: its origin");
const SIZE: super::Key = need("size", Expect::Vector(LENGTH), "full edge lengths along the body axes");

/// Solids by type.
pub(crate) const SOLIDS: &[SolidType] = &[
    solid("box", "a solid box", "A box along the body axes.", &[SIZE, CENTRE, DENSITY], |_, r, _| geometry::box_mass(r)),
    solid("cylinder", "a solid cylinder", "A cylinder between two points.", &[FROM, TO, RADIUS, DENSITY], |_, r, _| {
        geometry::cylinder_mass(r)
    }),
    solid("sphere", "a solid ball", "A ball.", &[CENTRE, RADIUS, DENSITY], |_, r, _| geometry::sphere_mass(r)),
    solid(
        "rod",
        "a solid rod",
        "A cylinder with hemispherical ends; its end points are the centres of the hemispheres.",
        &[FROM, TO, RADIUS, DENSITY],
        |_, r, _| geometry::rod_mass(r),
    ),
    solid(
        "mesh",
        "a solid bounded by a mesh",
        "The solid enclosed by a mesh, from an STL, OBJ or glTF file in the folder of the model or below it.",
        &[
            need("file", Expect::File, "path relative to the model's folder"),
            need("scale", Expect::Number(PLAIN), "metres per unit of the file: 0.001 if it is in millimetres"),
            may("at", Expect::Vector(LENGTH), "origin of the mesh in the body frame; default: that of the body"),
            may("orientation", Expect::Orientation, "orientation of the mesh in the body frame; default: that of the body"),
            DENSITY,
        ],
        |reader, r, path| reader.mesh_mass(r, path),
    ),
];

/// A shape to draw.
pub(crate) struct ShapeType {
    pub table: Table,
    pub build: fn(&mut Reader<'_>, &Record) -> Option<Shape>,
}

const fn shape(
    kind: &'static str,
    title: &'static str,
    doc: &'static str,
    keys: &'static [super::Key],
    build: fn(&mut Reader<'_>, &Record) -> Option<Shape>,
) -> ShapeType {
    ShapeType { table: Table { section: "shape", kind: Some(kind), title, doc, keys }, build }
}

/// Shapes by type.
pub(crate) const SHAPES: &[ShapeType] = &[
    shape("box", "a box", "A box along the body axes.", &[SIZE, CENTRE], |_, r| {
        Some(Shape::Box { size: r.vector("size")?, at: r.vector("at").unwrap_or_default() })
    }),
    shape("cylinder", "a cylinder", "A cylinder between two points.", &[FROM, TO, RADIUS], |_, r| {
        Some(Shape::Cylinder { from: r.vector("from")?, to: r.vector("to")?, radius: r.number("radius")? })
    }),
    shape("sphere", "a ball", "A ball.", &[CENTRE, RADIUS], |_, r| {
        Some(Shape::Sphere { at: r.vector("at").unwrap_or_default(), radius: r.number("radius")? })
    }),
    shape("rod", "a rod", "A rod with round ends.", &[FROM, TO, RADIUS], |_, r| {
        Some(Shape::Rod { from: r.vector("from")?, to: r.vector("to")?, radius: r.number("radius")? })
    }),
    shape(
        "plate",
        "a plate",
        "A flat plate spanned by points.",
        &[
            need("points", Expect::PointList, "corners in order, in the body frame; at least three"),
            need("thickness", Expect::Number(LENGTH), "thickness"),
        ],
        |_, r| Some(Shape::Plate { points: r.points("points")?, thickness: r.number("thickness")? }),
    ),
    shape(
        "mesh",
        "a mesh",
        "A mesh file in the folder of the model or below it.",
        &[
            need("file", Expect::File, "path relative to the model's folder"),
            may("scale", Expect::Number(PLAIN), "metres per unit of the file; default: 1"),
            may("at", Expect::Vector(LENGTH), "origin of the mesh in the body frame; default: that of the body"),
            may("orientation", Expect::Orientation, "orientation of the mesh in the body frame; default: that of the body"),
        ],
        |_, r| {
            Some(Shape::Mesh {
                file: r.text("file")?.to_string(),
                scale: r.number("scale").unwrap_or(1.0),
                at: r.vector("at").unwrap_or_default(),
                orientation: r.orientation("orientation").unwrap_or_default(),
            })
        },
    ),
];

/// Ways to specify the orientation of a frame.
pub const ORIENTATION: Table = Table {
    section: "orientation",
    kind: None,
    title: "an orientation",
    doc: "Orientation of a frame in another: one of `axis` with `angle`, `quaternion`, `matrix`, `x` with `y`, or `zxz`.",
    keys: &[
        may("axis", Expect::Axis, "axis of rotation, of any nonzero length; with `angle`"),
        may("angle", Expect::Number(PLAIN), "angle of rotation, right-handed"),
        may("quaternion", Expect::Four, "w, x, y, z: scalar first, of any nonzero length"),
        may("matrix", Expect::Matrix, "rotation matrix, by rows"),
        may("x", Expect::Axis, "direction of the x axis; with `y`"),
        may("y", Expect::Axis, "a direction in the half-plane of the y axis"),
        may("zxz", Expect::Vector(PLAIN), "Euler angles: about z, the new x, the new z"),
    ],
};

/// A place on a body.
pub const PLACE: Table = Table {
    section: "place",
    kind: None,
    title: "a place",
    doc: "A place on a body. With neither `at` nor `world` it is the origin of the body frame.",
    keys: &[
        may("body", Expect::Name("body"), "the body; optional if `bodies` defines it"),
        may("at", Expect::Vector(LENGTH), "in the body frame"),
        may("world", Expect::Vector(LENGTH), "in the world, as drawn at the start"),
    ],
};

/// A joint frame in body coordinates.
pub const FRAME: Table = Table {
    section: "frames",
    kind: None,
    title: "a joint frame",
    doc: "A joint frame on one of the joint's bodies, in the body frame.",
    keys: &[
        need("at", Expect::Vector(LENGTH), "origin"),
        may("axis", Expect::Axis, "axis of the joint, z of the frame; joints without an axis need none"),
        may("x", Expect::Axis, "direction from which the angle is measured; default: the angle is zero as drawn"),
    ],
};
