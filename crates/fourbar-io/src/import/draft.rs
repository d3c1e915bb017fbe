//! The common result of all importers: links with their poses as drawn, joints by two frames, efforts; independent of the format.
//!
//! A joint has a frame on each of its links. Its coordinate is that of the source: zero if the frames coincide, independent of the drawn
//! pose. The axis of a joint is z of its frames.

use super::reading::{Reading, Spot};
pub(crate) use crate::solid::Body;
use fourbar::spec::{PairKind, Shape, V3};
use nalgebra::{Matrix3, Vector3};
use std::borrow::Cow;
use std::collections::HashMap;

/// Position and orientation in some frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    /// Origin.
    pub p: Vector3<f64>,
    /// Axes as columns.
    pub R: Matrix3<f64>,
}

impl Pose {
    pub const IDENTITY: Self = Self { p: Vector3::new(0.0, 0.0, 0.0), R: Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0) };

    pub fn at(p: Vector3<f64>) -> Self {
        Self { p, ..Self::IDENTITY }
    }

    /// This pose followed by `inner` in its frame.
    pub fn then(&self, inner: &Pose) -> Self {
        Self { p: self.p + self.R * inner.p, R: self.R * inner.R }
    }

    /// The inverse pose.
    pub fn inverse(&self) -> Self {
        Self { p: -(self.R.tr_mul(&self.p)), R: self.R.transpose() }
    }

    /// A point given in this frame, in the outer frame.
    pub fn point(&self, x: &Vector3<f64>) -> Vector3<f64> {
        self.p + self.R * x
    }

    /// A frame at `p` with z along `axis`.
    pub fn with_axis(p: Vector3<f64>, axis: &Vector3<f64>) -> Self {
        // The coordinate axis that is farthest from z gives x.
        let k = axis.iamin();
        let x = (Vector3::ith(k, 1.0) - axis * axis[k]).normalize();
        Self { p, R: Matrix3::from_columns(&[x, axis.cross(&x), *axis]) }
    }
}

impl Body {
    /// The same body seen from a frame in which its frame is at `pose`.
    pub fn moved(&self, pose: &Pose) -> Self {
        Self { mass: self.mass, com: pose.point(&self.com), J: pose.R * self.J * pose.R.transpose() }
    }
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub name: String,
    /// Pose in the world as drawn.
    pub pose: Pose,
    pub body: Body,
    /// Shapes in the frame of the link.
    pub shapes: Vec<Shape>,
    /// Velocity of the origin, and angular velocity, in the world.
    pub velocity: [Vector3<f64>; 2],
    pub spot: Spot,
}

/// The kind of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// The links are one body.
    Welded,
    /// A joint between two links.
    Pair(PairKind),
    /// The second axis of a universal joint is z of the second frame.
    Universal,
    /// No constraint: the links move freely against each other.
    Free,
    /// The origins keep their distance; as drawn if none is given.
    Distance(Option<f64>),
    /// The axes keep their angle; as drawn if none is given.
    Angle(Option<f64>),
}

/// Forces in a joint that depend on its own coordinate only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Passive {
    /// Stiffness per radian or metre.
    pub stiffness: f64,
    /// Coordinate without spring force.
    pub rest: f64,
    /// Damping per radian or metre per second.
    pub damping: f64,
    /// Dry friction, N or N m.
    pub dry: f64,
    /// Inertia of a rotor, reflected to the joint.
    pub rotor: f64,
}

/// A joint.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub name: String,
    pub kind: Kind,
    /// Base link and moving link.
    pub links: [usize; 2],
    /// Frame on each link; the coordinate is zero if they coincide.
    pub frames: [Pose; 2],
    /// Smallest and largest coordinate.
    pub limits: Option<[f64; 2]>,
    /// Whether the limits of a joint that turns and slides apply to sliding.
    pub limits_slide: bool,
    pub passive: Passive,
    pub spot: Spot,
}

impl Joint {
    pub fn new(name: impl Into<String>, kind: Kind, links: [usize; 2], frames: [Pose; 2], spot: Spot) -> Self {
        Self { name: name.into(), kind, links, frames, limits: None, limits_slide: false, passive: Passive::default(), spot }
    }

    /// Displacement of the moving link by a change of the coordinate, in the frame on the base; `None` if there is no coordinate.
    pub fn step(&self, change: f64) -> Option<Pose> {
        Some(if self.turns()? {
            Pose { p: Vector3::zeros(), R: super::reading::about(&Vector3::z(), change) }
        } else {
            Pose::at(Vector3::z() * change)
        })
    }

    /// Whether the coordinate is an angle; `None` if there is no coordinate.
    pub fn turns(&self) -> Option<bool> {
        match self.kind {
            Kind::Pair(PairKind::Revolute | PairKind::Cylindrical | PairKind::Screw { .. } | PairKind::Planar) => Some(true),
            Kind::Pair(PairKind::Prismatic) => Some(false),
            _ => None,
        }
    }
}

/// Coordinate of the second joint = ratio x coordinate of the first + drawn offset.
#[derive(Clone, Debug)]
pub(crate) struct Coupling {
    pub name: String,
    pub joints: [usize; 2],
    pub ratio: f64,
    pub spot: Spot,
}

/// A drive: coordinate (or speed) of a joint as a formula of `t`.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    pub name: String,
    pub joint: usize,
    pub quantity: fourbar::spec::DriveQuantity,
    pub formula: String,
    pub spot: Spot,
}

/// Quantity of a geometric constraint; directions and points in the axes of their links.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GconKind {
    /// Dot product of two directions.
    Dp1 { a_i: V3, a_j: V3 },
    /// Dot product of a direction on the first link with the vector between two points.
    Dp2 { a_i: V3, s_i: V3, s_j: V3 },
    /// The squared distance of two points.
    D { s_i: V3, s_j: V3 },
    /// Dot product of a fixed direction in the world with the vector between two points.
    Cd { c: V3, s_i: V3, s_j: V3 },
}

/// A geometric constraint: a quantity as a function of time.
#[derive(Clone, Debug)]
pub(crate) struct Gcon {
    pub name: String,
    pub kind: GconKind,
    pub links: [usize; 2],
    pub value: fourbar::expr::Expr,
    pub spot: Spot,
}

/// An input.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub name: String,
    pub unit: &'static str,
    pub default: f64,
    pub range: Option<[f64; 2]>,
    pub spot: Spot,
}

/// A state that is integrated with the motion.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub name: String,
    pub unit: &'static str,
    /// See [`Effort`].
    pub rate: String,
    pub spot: Spot,
}

/// Where a force acts.
#[derive(Clone, Debug)]
pub(crate) enum Acts {
    /// Along the coordinate of a joint.
    Joint(usize, String),
    /// Force at a point of a link and torque on it, components in its axes.
    Link(usize, V3, [String; 3], [String; 3]),
    /// Along the line between two points of links: tension as a formula of `length` and `rate`.
    Spring([usize; 2], [V3; 2], String),
}

/// A force. In formulas `q3` is the coordinate of joint 3, `v3` its rate, `i2` input 2, `s1` state 1.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    pub name: String,
    pub acts: Acts,
    pub spot: Spot,
}

/// A reported point of a link.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub name: String,
    pub link: usize,
    pub at: Vector3<f64>,
    pub spot: Spot,
}

/// A whole mechanism.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub title: String,
    pub gravity: Option<V3>,
    /// The first is the ground.
    pub links: Vec<Link>,
    pub joints: Vec<Joint>,
    pub couplings: Vec<Coupling>,
    pub drives: Vec<Drive>,
    pub gcons: Vec<Gcon>,
    pub inputs: Vec<Input>,
    pub states: Vec<State>,
    pub efforts: Vec<Effort>,
    pub points: Vec<Point>,
    /// End time of the run and output interval, if the file has them.
    pub times: Option<[f64; 2]>,
}

impl Draft {
    /// A mechanism with the ground only.
    pub fn new(title: impl Into<String>) -> Self {
        let ground = Link {
            name: "ground".into(),
            pose: Pose::IDENTITY,
            body: Body::NONE,
            shapes: Vec::new(),
            velocity: [Vector3::zeros(); 2],
            spot: Spot::START,
        };
        Self {
            title: title.into(),
            gravity: None,
            links: vec![ground],
            joints: Vec::new(),
            couplings: Vec::new(),
            drives: Vec::new(),
            gcons: Vec::new(),
            inputs: Vec::new(),
            states: Vec::new(),
            efforts: Vec::new(),
            points: Vec::new(),
            times: None,
        }
    }

    /// The two joint frames in the world as drawn.
    pub fn drawn(&self, j: &Joint) -> (Pose, Pose) {
        let [f, m] = [0, 1].map(|k| self.links[j.links[k]].pose.then(&j.frames[k]));
        (f, m)
    }

    /// Moves everything beyond the joints of a tree by their steps, see [`Joint::step`]. Every joint must come after the joint that carries
    /// its base.
    pub fn displace(&mut self, tree: impl Iterator<Item = usize>, steps: &HashMap<usize, Pose>) {
        // Former poses of links that have moved.
        let mut before: HashMap<usize, Pose> = HashMap::new();
        for k in tree {
            let Joint { links: [a, b], frames: [frame, _], .. } = self.joints[k];
            let step = steps.get(&k);
            if step.is_none() && !before.contains_key(&a) {
                continue;
            }
            let now = self.links[a].pose;
            let held = before.get(&a).unwrap_or(&now).inverse().then(&self.links[b].pose);
            before.insert(b, self.links[b].pose);
            let carried = step.map_or(now, |s| now.then(&frame).then(s).then(&frame.inverse()));
            self.links[b].pose = carried.then(&held);
        }
    }
}

/// Unique names of one kind of element in a file.
#[derive(Debug, Default)]
pub(crate) struct Names<'t>(HashMap<Cow<'t, str>, usize>);

impl<'t> Names<'t> {
    /// Adds a name; a duplicate is reported as a problem.
    pub fn add(&mut self, reading: &Reading<'_>, what: &str, name: impl Into<Cow<'t, str>>, index: usize, spot: Spot) {
        let name = name.into();
        if self.0.contains_key(&name) {
            let d = fourbar::Diagnostic::new("M656", format!("two {what} are named `{name}`")).name(&*name);
            reading.problem(d.help("rename one of them"), spot);
        }
        self.0.insert(name, index);
    }

    /// The index of a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// All names.
    pub fn words(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.keys().map(|k| &**k)
    }
}
