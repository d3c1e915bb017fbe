//! The files that `fourbar new` writes: mechanisms to start from, each a commented sketch.

/// A mechanism to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starter {
    /// What it is called.
    pub kind: &'static str,
    /// What it is, for a sentence.
    pub what: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

/// All of them, the usual one first.
pub const STARTERS: &[Starter] = &[
    Starter { kind: "four-bar", what: "a four-bar linkage", text: include_str!("starters/four-bar.yaml") },
    Starter { kind: "slider-crank", what: "a slider-crank with a spring", text: include_str!("starters/slider-crank.yaml") },
    Starter { kind: "pendulum", what: "a pendulum", text: include_str!("starters/pendulum.yaml") },
    Starter { kind: "gripper", what: "a gripper that closes on an object", text: include_str!("starters/gripper.yaml") },
    Starter { kind: "suspension", what: "a wheel suspension", text: include_str!("starters/suspension.yaml") },
    Starter { kind: "robot", what: "a robot arm with three motors", text: include_str!("starters/robot.yaml") },
];

/// A commented four-bar linkage that reads without errors.
pub fn starter() -> &'static str {
    STARTERS[0].text
}
