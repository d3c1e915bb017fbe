//! Requests of a page.

use serde::Deserialize;

/// A request; `do` is its name.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Reads a mechanism file and assembles it; `set` changes parameters, in the form of `--set`.
    Load {
        /// The file.
        text: String,
        /// Names and values.
        #[serde(default)]
        set: Vec<(String, String)>,
        /// Settings of the study that differ from those of the file, in the form of [`fourbar::study::Study`].
        #[serde(default)]
        study: serde_json::Map<String, serde_json::Value>,
    },
    /// Moves a point of a body towards the pointer, with joints closed and drives free.
    Drag {
        /// Name of the body.
        body: String,
        /// The point in the frame of the body, m.
        at: [f64; 3],
        /// Target position in the world, m.
        to: [f64; 3],
    },
    /// Takes over a pose shown by a page, closed to its rounding; the joints are closed from there.
    Pose {
        /// Time, s.
        t: f64,
        /// Origins of the body frames in the world, m.
        origins: Vec<[f64; 3]>,
        /// Unit quaternions, scalar part first, body to world.
        quaternions: Vec<[f64; 4]>,
        /// Velocities of bodies, angles of joints and states, by column name in SI units. Bodies without a velocity are at rest, other
        /// states have their start values.
        #[serde(default)]
        values: Vec<(String, f64)>,
    },
    /// Returns to the start.
    Reset {},
    /// Changes to an assembly mode, counted from 0 in the order of `check`.
    Mode {
        /// Number of the mode.
        number: usize,
    },
    /// Starts a simulation from the current state. Motors whose functions of time do not agree with it begin there, at time zero.
    Start {
        /// Whether gravity acts.
        gravity: bool,
        /// Whether the drives act.
        motors: bool,
    },
    /// Advances the simulation.
    Advance {
        /// Duration, s.
        by: f64,
        /// Target of the hand, if there is one.
        #[serde(default)]
        hand: Option<Hand>,
    },
    /// Sets an input.
    Set {
        /// Name.
        input: String,
        /// Value in SI units.
        value: f64,
    },
    /// Runs the study of the file and returns the data of its page.
    Run {},
    /// Runs the study of the file and returns its rows with all digits, at most the given number.
    Rows {
        /// Largest number of rows.
        most: usize,
    },
    /// Returns the data of a page that shows the current pose.
    Still {},
    /// The result of `fourbar check`.
    Check {},
}

/// A hand that holds a point of a body by a spring.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hand {
    /// Name of the body.
    pub body: String,
    /// The point in the frame of the body, m.
    pub at: [f64; 3],
    /// Position of the hand, m.
    pub to: [f64; 3],
}
