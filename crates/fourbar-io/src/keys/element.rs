//! Tables of joints, constraints, drives and forces.

use super::{Expect, Key, LENGTH, LIMITS, PLAIN, Table, may, need};
use crate::reader::element as build;
use crate::reader::{Reader, Record};
use fourbar::expr::Dimension;
use fourbar::force::{ForceKey, Holds, KINDS, Kind, Words};
use fourbar::joint::{JointKind, Number, PairForm, PairKind};
use fourbar::spec::{ConstraintSpec, JointSpec};
use std::sync::{LazyLock, OnceLock};

/// A joint type: its table and its builder.
pub(crate) struct JointType {
    pub table: Table,
    pub build: Build,
}

/// Builds a joint from its values; the last argument is its type name in files.
type Build = fn(&mut Reader<'_>, &Record, &'static str) -> Option<JointSpec>;

const fn joint(kind: &'static str, title: &'static str, doc: &'static str, keys: &'static [Key], build: Build) -> JointType {
    JointType { table: Table { section: "joints", kind: Some(kind), title, doc, keys }, build }
}

const BODIES: Key = need("bodies", Expect::TwoNames("body"), "[base, moving]; the coordinate is the moving body relative to the base");
const AT: Key = may("at", Expect::Vector(LENGTH), "place in the world, as drawn at the start");
const AXIS: Key = may("axis", Expect::Axis, "axis in the world, as drawn at the start");
const FRAMES: Key =
    may("frames", Expect::Frames, "instead of `at` and `axis`: the joint frame on each body, exact even if the start is a guess");
const AXES: Key = may("axes", Expect::TwoAxes, "axis fixed in the base, axis fixed in the moving body; in the world, as drawn");
const LIMITED: Key = may("limits", Expect::Group(&LIMITS), "bounds that it may reach but not exceed");
const JOINT: Key = need("joint", Expect::Name("joint"), "the joint");

/// Joints by type: those of the engine, then couplings. A joint at a point of two bodies needs only its form and its numbers; others have
/// separate keys.
pub(crate) static JOINTS: LazyLock<Vec<JointType>> = LazyLock::new(|| {
    let joints = JointKind::WORDS.iter().filter_map(|(kind, words)| {
        let (keys, build) = match PairKind::form_of(kind) {
            Some(form) => (pair_keys(form, words.numbers), build::pair as Build),
            None => OWN.iter().find(|o| o.0 == *kind).map(|o| (o.1, o.2))?,
        };
        Some(joint(kind, words.title, words.doc, keys, build))
    });
    joints.chain(COUPLINGS).collect()
});

/// Keys of a joint at a point of two bodies, created once and kept.
fn pair_keys(form: PairForm, numbers: &[Number]) -> &'static [Key] {
    let mut keys = match form {
        PairForm::Axial => vec![BODIES, AT, AXIS, FRAMES],
        PairForm::Pointed => vec![BODIES, AT, FRAMES],
        PairForm::Crossed => vec![BODIES, AT, AXES, FRAMES],
    };
    if form == PairForm::Axial {
        keys.push(LIMITED);
    }
    keys.extend(numbers.iter().map(|n| need(n.key, Expect::Number(Some(n.dimension)), n.doc)));
    keys.leak()
}

/// Joints with additional keys.
const OWN: &[(&str, &[Key], Build)] = &[
    (
        "point-on-curve",
        &[
            BODIES,
            need("curve", Expect::Name("curve"), "the curve, in the frame of the base"),
            need("at", Expect::Place, "the point on the moving body; three numbers are in the world, as drawn"),
            may("radius", Expect::Number(LENGTH), "radius of a follower: the point keeps this distance from the curve; default: 0"),
            may(
                "side",
                Expect::Choice(&["left", "right"]),
                "side of the follower in the direction of the points, seen against the normal; default: as drawn",
            ),
        ],
        crate::reader::curve::point_on_curve,
    ),
    (
        "distance",
        &[
            may("bodies", Expect::TwoNames("body"), "[base, moving], if `from` and `to` do not define it"),
            need("from", Expect::Place, "place on the base; three numbers are in the world, as drawn"),
            need("to", Expect::Place, "place on the moving body"),
            may("length", Expect::Number(LENGTH), "default: as drawn"),
            LIMITED,
        ],
        build::distance,
    ),
    (
        "angle",
        &[
            BODIES,
            need(
                "axes",
                Expect::TwoDirections,
                "direction on the base, direction on the moving body; three numbers are in the frame of the body",
            ),
            may("angle", Expect::Number(PLAIN), "default: as drawn; 0 means parallel"),
        ],
        build::angle,
    ),
];

/// Couplings of joints.
const COUPLINGS: [JointType; 3] = [
    joint(
        "gear",
        "a gear",
        "Couples two joint coordinates: that of the second is ratio times that of the first, plus a constant as drawn.",
        &[
            need("joints", Expect::TwoNames("joint"), "the two joints"),
            need("ratio", Expect::Number(None), "coordinate of the second over that of the first"),
            may("carrier", Expect::Name("body"), "body relative to which the coordinates are measured, if it is not the base of both"),
        ],
        build::gear,
    ),
    joint(
        "belt",
        "a belt",
        "Couples two wheels by a belt or a chain that does not slip: the angle of the second is that of the first times radius over radius, plus a constant as drawn. `convert` writes it as a `gear`.",
        &[
            need("joints", Expect::TwoNames("joint"), "the joints of the two wheels"),
            need("radii", Expect::TwoNumbers, "radii of the two wheels, in metres unless a unit is given"),
            may("crossed", Expect::Flag, "whether the belt is crossed, so that the wheels turn in opposite directions; default: no"),
            may("carrier", Expect::Name("body"), "body relative to which the angles are measured, if it is not the base of both"),
        ],
        build::belt,
    ),
    joint(
        "rack",
        "a rack and pinion",
        "Couples a revolute and a prismatic joint: distance is radius times angle, plus a constant as drawn.",
        &[need("joints", Expect::TwoNames("joint"), "[revolute, prismatic]"), need("radius", Expect::Number(LENGTH), "pitch radius")],
        build::rack,
    ),
];

/// A constraint type.
pub(crate) struct ConstraintType {
    pub table: Table,
    pub build: fn(&mut Reader<'_>, &Record) -> Option<ConstraintSpec>,
}

const fn constraint(
    kind: &'static str,
    title: &'static str,
    doc: &'static str,
    keys: &'static [Key],
    build: fn(&mut Reader<'_>, &Record) -> Option<ConstraintSpec>,
) -> ConstraintType {
    ConstraintType { table: Table { section: "constraints", kind: Some(kind), title, doc, keys }, build }
}

const PFROM: Key = need("from", Expect::Place, "first place");
const PTO: Key = need("to", Expect::Place, "second place");

const ROLL_ON: Key = may("on", Expect::Place, "required, or `place`: the centre, or the point of the blade");
const PLACE_ALIAS: Key =
    may("place", Expect::Place, "a synonym for `on`, which YAML 1.1 parsers (PyYAML) read as a truth value unless it is quoted");
const DISK_AXIS: Key = need("axis", Expect::Direction, "axis of the disk, on its body; three numbers are in the frame of the body");
const RADIUS_OF_ROLLING: Key = need("radius", Expect::Number(LENGTH), "radius");
const PLANE_AT: Key = may("at", Expect::Vector(LENGTH), "a point of the plane, in the world; default: the origin");
const PLANE_NORMAL: Key = may("normal", Expect::Axis, "normal of the plane, in the world; default: z");

/// Bare constraints by type.
pub(crate) const CONSTRAINTS: &[ConstraintType] = &[
    constraint(
        "dp1",
        "a dp1 constraint",
        "The dot product of two directions is a function of time.",
        &[
            need("axes", Expect::TwoPlaces, "two directions, `{body, at}` in the body or `{body, world}` as drawn"),
            need("value", Expect::TimeFunction(PLAIN), "the dot product"),
            may(
                "other_axis",
                Expect::Direction,
                "another direction on the first body, in its frame, perpendicular to the first, that states the same constraint; of the two, the one whose value is closer to zero is used, because the dot product of nearly parallel directions hardly changes with the angle",
            ),
            may("other_value", Expect::TimeFunction(PLAIN), "the dot product with that other direction"),
        ],
        build::dp1,
    ),
    constraint(
        "dp2",
        "a dp2 constraint",
        "A direction on the body of `from`, dotted with the vector from `from` to `to`, is a function of time.",
        &[
            need("axis", Expect::Direction, "direction on the body of `from`; three numbers are in its frame"),
            PFROM,
            PTO,
            need("value", Expect::TimeFunction(LENGTH), "the dot product"),
        ],
        build::dp2,
    ),
    constraint(
        "d",
        "a d constraint",
        "The squared distance of two points is a function of time.",
        &[PFROM, PTO, need("value", Expect::TimeFunction(Some(Dimension::AREA)), "the squared distance")],
        build::d,
    ),
    constraint(
        "knife-edge",
        "a knife edge",
        "A blade that slides along itself but not sideways: a velocity constraint.",
        &[
            ROLL_ON,
            PLACE_ALIAS,
            need("across", Expect::Direction, "direction across the blade, on its body; three numbers are in the frame of the body"),
        ],
        build::knife_edge,
    ),
    constraint(
        "rolling-sphere",
        "a rolling sphere",
        "A ball that stays on a plane of the world and rolls there without slipping.",
        &[ROLL_ON, PLACE_ALIAS, RADIUS_OF_ROLLING, PLANE_AT, PLANE_NORMAL],
        build::rolling_sphere,
    ),
    constraint(
        "rolling-disk",
        "a rolling disk",
        "A thin disk that stays on a plane of the world and rolls there without slipping, free to lean.",
        &[ROLL_ON, PLACE_ALIAS, DISK_AXIS, RADIUS_OF_ROLLING, PLANE_AT, PLANE_NORMAL],
        build::rolling_disk,
    ),
    constraint(
        "wheel",
        "a wheel",
        "A disk that rolls on a plane of the world without slipping; the body that carries it keeps it at its height.",
        &[ROLL_ON, PLACE_ALIAS, DISK_AXIS, RADIUS_OF_ROLLING, PLANE_AT, PLANE_NORMAL],
        build::wheel,
    ),
    constraint(
        "cd",
        "a cd constraint",
        "A world direction, dotted with the vector from `from` to `to`, is a function of time.",
        &[need("axis", Expect::Axis, "direction in the world"), PFROM, PTO, need("value", Expect::TimeFunction(LENGTH), "the dot product")],
        build::cd,
    ),
];

/// A drive.
pub const DRIVE: Table = Table {
    section: "drives",
    kind: None,
    title: "a drive",
    doc: "Prescribes a joint coordinate: one of `angle`, `distance`, `speed`, `acceleration`.",
    keys: &[
        JOINT,
        may("angle", Expect::TimeFunction(PLAIN), "the joint's angle"),
        may("distance", Expect::TimeFunction(LENGTH), "the joint's distance"),
        may("speed", Expect::InputFunction(None), "the rate of the angle, or of the distance if there is no angle"),
        may("acceleration", Expect::InputFunction(None), "the rate of the speed; the speed starts at zero or at the value in `start`"),
    ],
};

/// A force type, described by the element itself.
pub(crate) struct ForceType {
    pub table: Table,
    pub kind: &'static Kind,
}

/// Forces by type.
pub(crate) fn forces() -> &'static [ForceType] {
    static LIST: OnceLock<Vec<ForceType>> = OnceLock::new();
    LIST.get_or_init(|| {
        let key = |k: &ForceKey| Key { name: k.name, expect: expected(k.holds), required: k.required, doc: k.doc };
        let table = |w: &'static Words| {
            let keys = w.keys.iter().map(key).collect::<Vec<_>>().leak();
            Table { section: "forces", kind: Some(w.kind), title: w.title, doc: w.doc, keys }
        };
        KINDS.iter().map(|kind| ForceType { table: table(&kind.words), kind }).collect()
    })
}

fn expected(holds: Holds) -> Expect {
    match holds {
        Holds::Number(d) => Expect::Number(d),
        Holds::Six(a, b) => Expect::Six(a, b),
        Holds::Expression(d) => Expect::StateFunction(d),
        Holds::Expressions(d) => Expect::StateVector(d),
        Holds::Joint => Expect::Name("joint"),
        Holds::Body => Expect::Name("body"),
        Holds::Place => Expect::Place,
        Holds::Places => Expect::TwoPlaces,
        Holds::Path => Expect::Places,
        Holds::Orientation => Expect::Orientation,
        Holds::Frame => Expect::Choice(&["world", "body"]),
        Holds::Flag => Expect::Flag,
    }
}
