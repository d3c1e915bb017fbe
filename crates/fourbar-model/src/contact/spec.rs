//! Contacts as specified by the author.

use crate::spec::{Side, V3};
use serde::{Deserialize, Serialize};

/// A contact as specified: its partners and its law.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactSpec {
    /// The partners of a contact.
    pub partners: Partners,
    /// Ratio of the separation speed to the approach speed, 0 to 1.
    pub restitution: Option<f64>,
    /// Dry friction.
    pub friction: Option<FrictionSpec>,
    /// Stiffness of a compliant contact, N/m^exponent; omitted: the contact is rigid.
    pub stiffness: Option<f64>,
    /// Exponent of the penetration; omitted: 1.5.
    pub exponent: Option<f64>,
    /// How the damping follows from the restitution; omitted: exactly.
    pub law: Option<LawName>,
    /// Approach speed at which the restitution is attained, m/s.
    pub speed: Option<f64>,
}

impl ContactSpec {
    /// A rigid contact without friction and restitution.
    pub fn new(partners: Partners) -> Self {
        Self { partners, restitution: None, friction: None, stiffness: None, exponent: None, law: None, speed: None }
    }

    /// A contact between two sides.
    pub fn between(first: SideSpec, second: SideSpec) -> Self {
        Self::new(Partners::Between(Box::new([first, second])))
    }

    /// As above, with a stiffness, N/m^exponent: a compliant contact.
    pub fn stiffness(self, stiffness: f64) -> Self {
        Self { stiffness: Some(stiffness), ..self }
    }

    /// As above, with a restitution.
    pub fn restitution(self, e: f64) -> Self {
        Self { restitution: Some(e), ..self }
    }

    /// As above, with a coefficient of friction.
    pub fn friction(self, mu: f64) -> Self {
        Self { friction: Some(FrictionSpec { coulomb: mu, fixed: None, speed: None }), ..self }
    }
}

/// The partners of a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Partners {
    /// One side and another; sides with several bodies touch in all pairs.
    Between(Box<[SideSpec; 2]>),
    /// Balls among each other.
    Among {
        /// Bodies by name; `*` represents any letters.
        bodies: Vec<String>,
        /// Centre of the ball in each body's frame.
        at: V3,
        /// Radius of the balls, m.
        radius: f64,
    },
}

/// One side of a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SideSpec {
    /// Bodies by name; `*` represents any letters.
    pub bodies: Vec<String>,
    /// Its shape, in the frame of each body.
    pub form: SideForm,
}

impl SideSpec {
    /// A side of one body.
    pub fn new(body: impl Into<String>, form: SideForm) -> Self {
        Self { bodies: vec![body.into()], form }
    }
    /// A ball, or with radius zero a point.
    pub fn ball(body: impl Into<String>, at: V3, radius: f64) -> Self {
        Self::new(body, SideForm::Ball { at, radius, inside: false })
    }
    /// A plane; its normal points away from the body it belongs to.
    pub fn plane(body: impl Into<String>, at: V3, normal: V3) -> Self {
        Self::new(body, SideForm::Plane { at, normal })
    }
}

/// The shape of a side, in the frame of its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SideForm {
    /// A ball, or with radius zero a point; `inside` makes it a hollow sphere that contains the other side.
    Ball {
        /// Centre.
        at: V3,
        /// Radius, m.
        radius: f64,
        /// Whether it is hollow.
        inside: bool,
    },
    /// The rim of a thin disk.
    Rim {
        /// Centre.
        at: V3,
        /// Axis.
        axis: V3,
        /// Radius, m.
        radius: f64,
    },
    /// Corners, each its own ball.
    Corners {
        /// The corners.
        points: Vec<V3>,
        /// Radius with which they are rounded, m.
        radius: f64,
    },
    /// A box by its edge lengths, along the axes of the body; its corners touch, or `inside` its six walls.
    Box {
        /// Centre.
        at: V3,
        /// Edge lengths.
        size: V3,
        /// Whether the other side is inside.
        inside: bool,
    },
    /// A convex polygon in one plane.
    Polygon {
        /// Corners in order.
        points: Vec<V3>,
    },
    /// A plane; the other side is in front of it.
    Plane {
        /// A point of it.
        at: V3,
        /// Normal, away from the body.
        normal: V3,
    },
    /// A planar curve.
    Curve {
        /// Its name.
        curve: String,
        /// The side on which the other body is; omitted: as drawn.
        side: Option<Side>,
        /// Overlap beyond which the other body is regarded as not in contact, m.
        depth: Option<f64>,
    },
}

impl SideForm {
    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ball { inside: true, .. } => "a hollow ball",
            Self::Ball { radius, .. } if *radius == 0.0 => "a point",
            Self::Ball { .. } => "a ball",
            Self::Rim { .. } => "a rim",
            Self::Corners { .. } => "corners",
            Self::Box { inside: true, .. } => "a hollow box",
            Self::Box { .. } => "a box",
            Self::Polygon { .. } => "a polygon",
            Self::Plane { .. } => "a plane",
            Self::Curve { .. } => "a curve",
        }
    }
}

/// Dry friction as specified.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrictionSpec {
    /// Coefficient while sliding.
    pub coulomb: f64,
    /// Coefficient at rest; omitted: the same.
    pub fixed: Option<f64>,
    /// Speed below which the force of a compliant contact is smoothed, m/s; omitted: 1 mm/s.
    pub speed: Option<f64>,
}

/// How the damping of a compliant contact follows from its restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LawName {
    /// From the exact condition.
    #[default]
    Exact,
    /// `1.5 (1 - e)` over the speed.
    HuntCrossley,
    /// `8 (1 - e) / (5 e)` over the speed.
    Flores,
}

impl LawName {
    /// Words in files.
    pub const WORDS: &'static [&'static str] = &["exact", "hunt-crossley", "flores"];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::HuntCrossley => "hunt-crossley",
            Self::Flores => "flores",
        }
    }

    /// The law of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Exact, Self::HuntCrossley, Self::Flores].into_iter().find(|l| l.word() == word)
    }
}
