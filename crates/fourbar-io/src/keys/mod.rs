//! The keywords of the mechanism file: one table drives reading, the check of dimensions, the schema, the manual and `list`.
//!
//! A [`Table`] lists the keys of one kind of group; a [`Key`] describes its value. A new joint, force, constraint or shape type is one
//! entry: its table beside the function that builds it.

mod auxiliary;
mod contact;
mod curve;
mod data;
mod element;
mod event;
mod geometry;
mod study;
mod task;

pub(crate) use auxiliary::*;
pub(crate) use contact::*;
pub(crate) use curve::*;
pub(crate) use data::*;
pub(crate) use element::*;
pub(crate) use event::*;
pub(crate) use geometry::*;
pub(crate) use study::*;
pub(crate) use task::*;

use fourbar::expr::Dimension;

/// The value that a key requires.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// A number, quantity or constant expression; `None` if the dimension depends on other things.
    Number(Option<Dimension>),
    /// Three numbers.
    Vector(Option<Dimension>),
    /// A direction in the frame that the key refers to: three numbers in any one unit.
    Axis,
    /// Four plain numbers.
    Four,
    /// Three rows of three plain numbers.
    Matrix,
    /// Three numbers of the first dimension, three of the second.
    Six(Dimension, Dimension),
    /// A list of points.
    PointList,
    /// Points of a curve: all of two numbers, or all of three.
    CurvePoints,
    /// The plane of a curve; the table `plane`.
    Plane,
    /// True or false.
    Flag,
    /// Inertia: 3 principal values, 6 tensor entries, or 0.
    Inertia,
    /// An expression that may use the time `t`.
    TimeFunction(Option<Dimension>),
    /// An expression that may use the time `t` and inputs.
    InputFunction(Option<Dimension>),
    /// Two numbers, the smaller first; their dimension depends on other things.
    Range,
    /// An expression of time and state.
    StateFunction(Option<Dimension>),
    /// Three expressions of time and state.
    StateVector(Dimension),
    /// Free text.
    Text,
    /// The number 1: the version of the format.
    Version,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A name of the given thing.
    Name(&'static str),
    /// Two names of the given thing.
    TwoNames(&'static str),
    /// Any number of names of the given thing.
    Names(&'static str),
    /// A file in the folder of the model.
    File,
    /// A place on a body; the table `place`.
    Place,
    /// Two places.
    TwoPlaces,
    /// One or more places.
    Places,
    /// A direction on a body: three numbers or `{at: ...}` in the frame of the body, or `{world: ...}` as drawn.
    Direction,
    /// Two directions.
    TwoDirections,
    /// Two directions in the world.
    TwoAxes,
    /// A frame in each of two bodies, by body; the table `frames`.
    Frames,
    /// One of the forms of the table `orientation`.
    Orientation,
    /// A list of shapes.
    Shapes,
    /// One or more solids with density.
    Solid,
    /// Any keys with single values.
    Options,
    /// A group with its own table.
    Group(&'static Table),
    /// Named elements of a section.
    Section(&'static str),
    /// Names with numbers, quantities or expressions.
    Parameters,
    /// Coordinates of joints and points with their values.
    Coordinates,
    /// Names with functions of time.
    Functions,
    /// A unit alone, such as `mm`.
    Unit,
    /// A column of a file: its number, counted from 1, or its heading.
    Column,
    /// A list of points `[x, y]`.
    Pairs,
    /// Two numbers of any dimension.
    TwoNumbers,
    /// A list of plots: each the name of a column, a list of names, or `{x: name, y: name or names}`.
    Plots,
    /// Actions of an event.
    Actions,
    /// A list of one or more points.
    Points,
    /// The two sides of a contact; the table `side`.
    Sides,
    /// The plane of a side of a contact; the table `contact plane`.
    SidePlane,
    /// Dry friction: a coefficient, or the table `contact friction`.
    Friction,
    /// The name of an integrator, or the table `study.integrator`.
    Integrator,
    /// Any number of plain numbers.
    NumberList,
    /// Rows of plain numbers, of any length.
    NumberRows,
}

impl Expect {
    /// The value in words.
    pub fn words(&self) -> String {
        let of = |d: &Option<Dimension>| match d {
            Some(d) if *d == Dimension::NONE => String::new(),
            Some(d) => format!(": {d}"),
            None => ": unit as needed".into(),
        };
        match self {
            Self::Number(d) => format!("number{}", of(d)),
            Self::Vector(d) => format!("3 numbers{}", of(d)),
            Self::Axis => "direction: 3 numbers".into(),
            Self::Four => "4 numbers".into(),
            Self::Matrix => "3 rows of 3 numbers".into(),
            Self::Six(a, b) => format!("6 numbers: three {a}, three {b}"),
            Self::PointList => "list of points: length".into(),
            Self::CurvePoints => "list of points of 2 or 3 numbers: length".into(),
            Self::Plane => "plane".into(),
            Self::Flag => "true | false".into(),
            Self::Inertia => "3 or 6 numbers, or 0: moment of inertia".into(),
            Self::TimeFunction(d) => format!("function of t{}", of(d)),
            Self::InputFunction(d) => format!("function of t and inputs{}", of(d)),
            Self::Range => "2 numbers".into(),
            Self::StateFunction(d) => format!("expression of the state{}", of(d)),
            Self::StateVector(d) => format!("3 expressions of the state: {d}"),
            Self::Text => "text".into(),
            Self::Version => "1".into(),
            Self::Choice(words) => words.join(" | "),
            Self::Name(what) => format!("name of {}", article(what)),
            Self::TwoNames(what) => format!("2 names of {}", article(what)),
            Self::Names(what) => format!("list of names of {}", article(what)),
            Self::File => "file name, relative".into(),
            Self::Place => "place".into(),
            Self::TwoPlaces => "2 places".into(),
            Self::Places => "list of places".into(),
            Self::Direction => "direction".into(),
            Self::TwoDirections => "2 directions".into(),
            Self::TwoAxes => "2 directions in the world".into(),
            Self::Frames => "a frame for each body".into(),
            Self::Orientation => "orientation".into(),
            Self::Shapes => "list of shapes".into(),
            Self::Solid => "solid, or list of solids".into(),
            Self::Options => "keys with values".into(),
            Self::Group(table) => format!("keys of {}", table.title),
            Self::Section(what) => format!("{what} by name"),
            Self::Parameters => "numbers by name".into(),
            Self::Coordinates => "numbers by coordinate".into(),
            Self::Functions => "functions of t by name".into(),
            Self::Unit => "unit".into(),
            Self::Column => "number or heading of a column".into(),
            Self::Pairs => "list of pairs [x, y]".into(),
            Self::TwoNumbers => "2 numbers".into(),
            Self::Plots => "list of plots".into(),
            Self::Actions => "list of actions".into(),
            Self::Points => "list of points: length".into(),
            Self::Sides => "2 sides".into(),
            Self::SidePlane => "plane of a body".into(),
            Self::Friction => "number, or keys of friction".into(),
            Self::Integrator => "name of an integrator, or its keys".into(),
            Self::NumberList => "list of numbers".into(),
            Self::NumberRows => "rows of numbers".into(),
        }
    }
}

/// A word with its article.
fn article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

/// A key of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Name in files.
    pub name: &'static str,
    /// The required value.
    pub expect: Expect,
    /// Whether it is required.
    pub required: bool,
    /// One-line description.
    pub doc: &'static str,
}

/// The keys of one kind of group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Table {
    /// The section of the file to which it belongs.
    pub section: &'static str,
    /// The value of `type`, if the group has one.
    pub kind: Option<&'static str>,
    /// Description for messages: "a revolute joint".
    pub title: &'static str,
    /// One-line description.
    pub doc: &'static str,
    /// The keys, except `type`.
    pub keys: &'static [Key],
}

pub(crate) const fn need(name: &'static str, expect: Expect, doc: &'static str) -> Key {
    Key { name, expect, required: true, doc }
}

pub(crate) const fn may(name: &'static str, expect: Expect, doc: &'static str) -> Key {
    Key { name, expect, required: false, doc }
}

const LENGTH: Option<Dimension> = Some(Dimension::LENGTH);
const TIME: Option<Dimension> = Some(Dimension::TIME);
const PLAIN: Option<Dimension> = Some(Dimension::NONE);

/// The top level of the file.
pub const TOP: Table = Table {
    section: "",
    kind: None,
    title: "the file",
    doc: "The sections of a mechanism file.",
    keys: &[
        need("fourbar", Expect::Version, "version of the format"),
        may("title", Expect::Text, "free text"),
        may("parameters", Expect::Parameters, "named numbers for use in expressions; `--set` changes them"),
        may("gravity", Expect::Vector(Some(Dimension::ACCELERATION)), "acceleration of gravity in the world; default: none"),
        need("bodies", Expect::Section("bodies"), "rigid bodies by name; `ground` always exists"),
        may("curves", Expect::Section("curves"), "planar curves by name, for joints that follow them"),
        may("joints", Expect::Section("joints"), "joints and couplings by name"),
        may("constraints", Expect::Section("constraints"), "bare constraints by name"),
        may("drives", Expect::Section("drives"), "joint coordinates prescribed as functions of time, by name"),
        may("forces", Expect::Section("forces"), "forces by name"),
        may("contacts", Expect::Section("contacts"), "contacts between bodies, by name"),
        may("points", Expect::Section("points"), "points to report and to trace, by name"),
        may(
            "functions",
            Expect::Functions,
            "functions of `t`, parameters, inputs, tables and each other, to be used by name in expressions",
        ),
        may("tables", Expect::Section("tables"), "functions given by points, called as `lift(x)` in expressions, by name"),
        may("outputs", Expect::Section("outputs"), "user-defined result columns, by name"),
        may("inputs", Expect::Section("inputs"), "numbers set externally between steps, by name"),
        may("states", Expect::Section("states"), "user-defined variables that are integrated with the motion, by name"),
        may("paths", Expect::Section("paths"), "prescribed paths of points, for `fourbar inverse`, by name"),
        may("motors", Expect::Section("motors"), "motors on joints, by name"),
        may("events", Expect::Section("events"), "events that change the mechanism during a run, by name"),
        may("hold", Expect::Names("joint or body"), "joints or bodies that assembly may not move"),
        may(
            "start",
            Expect::Coordinates,
            "conditions for assembly: `pin.angle`, `pin.speed`, `tip.x` or `tip.vx` with their values; `from: equilibrium` starts in equilibrium",
        ),
        may("study", Expect::Group(&STUDY), "settings of `run` and of the design studies"),
        may("tolerances", Expect::Section("tolerances"), "tolerances of parameters and clearances of joints, by name; for `tolerance`"),
        may("results", Expect::Group(&RESULTS), "columns written to results"),
        may("view", Expect::Group(&VIEW), "settings of pictures"),
    ],
};

/// Selection of result columns.
pub const RESULTS: Table = Table {
    section: "results",
    kind: None,
    title: "the results",
    doc: "The columns written to results; the time is always included.",
    keys: &[may(
        "columns",
        Expect::Names("column, element or pattern"),
        "such as `motor.effort`, `tip` for all columns of an element, or `'*.angle'`; default: all; `--columns` takes precedence",
    )],
};

/// Settings of pictures.
pub const VIEW: Table = Table {
    section: "view",
    kind: None,
    title: "the view",
    doc: "Settings of pictures.",
    keys: &[
        may("trace", Expect::Names("point or body"), "points or bodies whose paths are drawn"),
        may(
            "plots",
            Expect::Plots,
            "the first plots of pages: `[a.angle, b.angle]` over time, `{x: tip.x, y: tip.y}` over another column; `tip` alone means its x, y and z",
        ),
        may("follow", Expect::Name("body"), "the body that the camera of pages keeps in the middle"),
    ],
};

/// All tables, in the order of the manual.
pub fn keys() -> Vec<&'static Table> {
    let mut all = vec![&TOP, &BODY];
    all.extend(SOLIDS.iter().map(|s| &s.table));
    all.extend(SHAPES.iter().map(|s| &s.table));
    all.extend([&ORIENTATION, &PLACE, &FRAME]);
    all.extend([&CURVE, &PLANE]);
    all.extend(JOINTS.iter().map(|j| &j.table));
    all.extend(CONSTRAINTS.iter().map(|c| &c.table));
    all.push(&DRIVE);
    all.extend(forces().iter().map(|f| &f.table));
    all.extend([&CONTACT, &SIDE, &SIDE_PLANE, &CONTACT_FRICTION]);
    all.extend([&TABLE, &OUTPUT]);
    all.extend([&INPUT, &STATE]);
    all.extend([&LIMITS, &EVENT]);
    all.extend([&PATH, &MOTOR]);
    all.extend([&STUDY, &INTEGRATOR, &TABLEAU, &STUDY_EVENTS, &SWEEP, &OPTIMIZE, &TOLERANCE, &RESULTS, &VIEW]);
    all
}
