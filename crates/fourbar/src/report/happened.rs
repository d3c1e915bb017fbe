//! Events of a run: one record for each, with time, kind, impulse and energy lost.

use serde::{Deserialize, Serialize};

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An event of the file.
    Event,
    /// A limit was hit.
    Impact,
    /// A series of impacts has ended, and the limit stays closed.
    Rest,
    /// A limit is reached without an impact and stays closed.
    Touch,
    /// A limit opens, because its force has fallen to zero.
    Lift,
    /// A one-way limit holds.
    Engage,
    /// A one-way limit releases its joint.
    Release,
    /// A joint with dry friction has come to rest.
    Stick,
    /// A joint with dry friction slides again.
    Slide,
    /// Sliding has reversed without rest.
    Reverse,
    /// The acceleration of a drive, a force, or the rate of a state has jumped.
    Jump,
}

impl Kind {
    /// As a single word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Event => "event",
            Kind::Impact => "impact",
            Kind::Rest => "rest",
            Kind::Touch => "touch",
            Kind::Lift => "lift",
            Kind::Engage => "engage",
            Kind::Release => "release",
            Kind::Stick => "stick",
            Kind::Slide => "slide",
            Kind::Reverse => "reverse",
            Kind::Jump => "jump",
        }
    }
}

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Happened {
    /// Time, s.
    pub t: f64,
    /// Name: an event of the file, a limit such as `knee.min`, or a friction element.
    pub name: String,
    /// Kind.
    pub kind: Kind,
    /// Impulse along the coordinate of a limit, N s or N m s; zero where there is none.
    pub impulse: f64,
    /// Energy that all events of this instant have taken away, J; on the first of them.
    pub lost: f64,
    /// Rate of the coordinate before and after, m/s or rad/s; zero where there is none.
    pub speed: [f64; 2],
}
