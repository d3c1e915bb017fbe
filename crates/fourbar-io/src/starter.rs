//! The files that `fourbar new` writes: mechanisms to start from, each a commented sketch.

/// A mechanism to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starter {
    /// Name of the kind of mechanism.
    pub kind: &'static str,
    /// Description for use in a sentence.
    pub what: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// All of them, the default one first.
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
